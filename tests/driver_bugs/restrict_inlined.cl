// bug: does not know the intrinsic that a restrict pointer of an inlined function becomes
// workaround: kernels/line_blur.cl, line_blur_pairs: no restrict; cmake/lanes/oclgrind.sh
// oclgrind: --data-races
// expect: 0 1 2 3
// fails: Oclgrind 21.10
static void copy(__global const int* restrict from, __global int* restrict to, int count) {
  for (int i = 0; i < count; ++i) to[i] = from[i];
}
__kernel void reproduce(__global int* out) {
  for (int i = 0; i < out[3]; ++i) copy(out + 16 * i, out + 16 * i + 64, out[4]);
}
