// bug: ends the process when it looks for uninitialised values in a vector made of smaller ones
// workaround: kernels/bc6h_decode.cl, WORDS and JOIN: vectors are made of numbers
// oclgrind: --uninitialized --build-options -cl-opt-disable
// expect: 1 2 1 2
// fails: Oclgrind 21.10
__kernel void reproduce(__global int* out) {
  const int2 half_of_it = (int2)(out[1], out[2]);
  vstore4((int4)(half_of_it, half_of_it), 0, out);
}
