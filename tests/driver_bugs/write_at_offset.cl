// bug: takes values for uninitialised that clEnqueueWriteBuffer has written at an offset
// workaround: lib/clcook/registry/guarded_buffer.hpp, plain
// oclgrind: --uninitialized --build-options -cl-opt-disable
// written at: 64
// expect: 7
// fails: Oclgrind 21.10
// Which values it takes for that depends on what the memory held before, so all are looked at.
__kernel void reproduce(__global int* out) {
  int same = 0;
  for (int i = 16; i < 4096; ++i) {
    if (out[i] == i) ++same;
  }
  if (same == 4080) out[0] = 7;
}
