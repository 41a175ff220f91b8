// bug: reports a CL_KERNEL_LOCAL_MEM_SIZE other than 0 for a kernel without local variables
// workaround: lib/clcook/core/launch.hpp, Kernel: 1 byte counts as none; lib/clcook/core/quirks.hpp, own_local_bytes
// local bytes: 0
// expect: 1
// fails: NVIDIA 580.
__kernel void reproduce(__global int* out) { out[0] = 1; }
