// bug: ignores #line in the messages of its compiler
// workaround: tests/argument_swap.cpp: the test ignores the place of a message there
// build log: their_file.cl:77
// fails: NVIDIA 580.; Oclgrind 21.10
#line 77 "their_file.cl"
__kernel void reproduce(__global int* out) { out[0] = not_declared; }
