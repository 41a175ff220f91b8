// bug: lists OpenCL C 3.0 and does not compile it
// workaround: lib/clcook/core/device.hpp, offers_c30: only a device of OpenCL 3.0 is asked
// needs: CL3.0
// options: -cl-std=CL3.0
// expect: 1
// fails: Oclgrind 21.10
__kernel void reproduce(__global int* out) { out[0] = 1; }
