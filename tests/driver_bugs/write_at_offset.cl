// bug: takes for uninitialised what clEnqueueWriteBuffer writes at an offset
// workaround: lib/clcook/registry/guarded_buffer.hpp, plain
// oclgrind: --uninitialized --build-options -cl-opt-disable
// written at: 64
// expect: 7
// fails: Oclgrind 21.10
__kernel void reproduce(__global int* out) {
  if (out[16] == 16) out[0] = 7;
}
