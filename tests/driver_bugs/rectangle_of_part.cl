// bug: ends the process in clEnqueueCopyBufferRect from a sub-buffer
// workaround: lib/clcook/gaussian_blur/volume.hpp, whole_buffer
// rectangle copied: from a sub-buffer
// expect: 2048 2049 2050 2051 2064
// fails: PoCL 3.1
__kernel void reproduce(__global int* out) { out[4] = out[16]; }
