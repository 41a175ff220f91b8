// bug: takes the first of two -cl-std, or half of each, which does not build
// workaround: lib/clcook/core/runtime.hpp, build_options: one alone
// needs: CL3.0
// options: -cl-std=CL1.2 -cl-std=CL3.0
// expect: 300
// fails: PoCL 3.1; PoCL 5.0; PoCL 6.0; PoCL 7.1; Oclgrind 21.10
__kernel void reproduce(__global int* out) { out[0] = __OPENCL_C_VERSION__; }
