// bug: reports a CL_KERNEL_WORK_GROUP_SIZE below the size that the kernel was compiled for
// workaround: lib/clcook/core/launch.hpp, Kernel::check_launch
// items: 1024
// group limit: 1024
// expect: 1024 1024
// fails: NVIDIA 580.
__kernel __attribute__((reqd_work_group_size(1024, 1, 1))) void reproduce(__global int* out) {
  out[get_global_id(0)] = (int)get_local_size(0);
}
