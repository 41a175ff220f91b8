// bug: waits in clFlush, for ever, for commands that wait for a user event
// workaround: lib/clcook/registry/conformance.hpp: no clFlush there
// gated: the kernel waits for a user event that is set after clFlush
// expect: 1
// fails: Oclgrind 21.10
__kernel void reproduce(__global int* out) { out[0] = 1; }
