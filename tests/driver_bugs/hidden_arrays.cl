// bug: reports 0 bytes as CL_KERNEL_LOCAL_MEM_SIZE of a kernel that has an array in local memory
// workaround: lib/clcook/core/quirks.hpp, hides_arrays: only what arguments take is checked
// local bytes: 256
// items: 64
// expect: 64 63 62
// fails: PoCL 6.0
__kernel void reproduce(__global int* out) {
  __local int held[64];
  const int i = (int)get_local_id(0);
  held[i] = i + 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[i] = held[63 - i];
}
