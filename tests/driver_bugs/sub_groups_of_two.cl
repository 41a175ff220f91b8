// bug: ends the process when sub-group functions run in a work-group of 1 or 2 items
// workaround: lib/clcook/core/sub_group.hpp, sub_groups: no sizes below 4
// needs: sub-groups
// options: -cl-std=CL3.0
// items: 2
// expect: 1 0
// fails: PoCL 5.0; PoCL 6.0
__attribute__((intel_reqd_sub_group_size(2))) __kernel void reproduce(__global int* out) {
  const int i = (int)get_local_id(0);
  out[i] = sub_group_shuffle(i, (uint)(1 - i));
}
