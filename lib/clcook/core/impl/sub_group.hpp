// The definitions of clcook/core/sub_group.hpp.
#pragma once

#include <algorithm>
#include <clcook/core/sub_group.hpp>

namespace clcook {

CLCOOK_INLINE const char* to_string(SubGroupKind kind) {
  return kind == SubGroupKind::native ? "native" : kind == SubGroupKind::ptx ? "ptx" : "local";
}

CLCOOK_INLINE SubGroups local_sub_groups(std::string lacks) {
  SubGroups out;
  out.sizes = {1, 2, 4, 8, 16, 32, 64};
  out.lacks = std::move(lacks);
  return out;
}

CLCOOK_INLINE SubGroups ptx_sub_groups(const DeviceInfo& info) {
  const unsigned capability = info.nvidia_capability;
  if (capability < 70) {
    return local_sub_groups(text("shfl.sync needs the compute capability 7.0, the device has ",
                                 capability / 10, ".", capability % 10));
  }
  SubGroups out;
  out.kind = SubGroupKind::ptx;
  out.sizes = {32};
  out.capability = capability;
  return out;
}

CLCOOK_INLINE Defines sub_group_defines(const SubGroups& groups, std::size_t size) {
  if (std::find(groups.sizes.begin(), groups.sizes.end(), size) == groups.sizes.end()) {
    std::string known;
    for (const std::size_t one : groups.sizes) known += " " + std::to_string(one);
    fail(Errc::invalid_argument, "sub_group_defines",
         text("there are no ", to_string(groups.kind), " sub-groups of ", size,
              " lanes; the sizes are", known));
  }
  Defines out;
  out.set("CLCOOK_SUB_GROUP_SIZE", static_cast<int>(size));
  if (groups.kind == SubGroupKind::native) out.flag("CLCOOK_SUB_GROUP_NATIVE");
  if (groups.kind == SubGroupKind::ptx)
    out.set("CLCOOK_SUB_GROUP_PTX", static_cast<int>(groups.capability));
  if (groups.ballot) out.flag("CLCOOK_SUB_GROUP_BALLOT");
  if (groups.required) out.flag("CLCOOK_SUB_GROUP_REQUIRED");
  return out;
}

CLCOOK_INLINE void check_sub_group_launch(std::size_t size, const Launch& launch,
                                          const std::string& where) {
  if (size == 0 || launch.local[0] % size != 0) {
    fail(Errc::invalid_argument, where,
         text("work-groups must be a multiple of the sub-group's ", size,
              " lanes wide along x, got ", launch.local[0]));
  }
}

}  // namespace clcook

namespace clcook::detail {

CLCOOK_INLINE const char* sub_group_probe() {
  return R"(
#include <clcook/sub_group.clh>
#define USE(T)                                        \
  {                                                   \
    T x = (T)out[i];                                  \
    x = clcook_sub_group_broadcast_##T(sg, x, 0);     \
    x = clcook_sub_group_shuffle_##T(sg, x, sg.lane); \
    x = clcook_sub_group_shuffle_xor_##T(sg, x, 0);   \
    x = clcook_sub_group_shuffle_up_##T(sg, x, 0);    \
    x = clcook_sub_group_shuffle_down_##T(sg, x, 0);  \
    x += clcook_sub_group_reduce_add_##T(sg, x);      \
    x += clcook_sub_group_reduce_min_##T(sg, x);      \
    x += clcook_sub_group_reduce_max_##T(sg, x);      \
    x += clcook_sub_group_scan_inclusive_add_##T(sg, x); \
    x += clcook_sub_group_scan_exclusive_add_##T(sg, x); \
    out[i] = (uint)x;                                 \
  }
__kernel CLCOOK_SUB_GROUP_KERNEL void clcook_sub_group_probe(__global uint* out) {
  CLCOOK_SUB_GROUP(sg, 256);
  const size_t i = get_global_id(0);
  USE(int)
  USE(uint)
  USE(float)
  out[i] += clcook_lanes_below(sg, clcook_sub_group_ballot(sg, out[i] > 1u));
  out[i] += clcook_sub_group_all(sg, out[i] > 2u) + clcook_sub_group_any(sg, out[i] > 3u);
}
)";
}

CLCOOK_INLINE std::string sub_group_build_problem(const Runtime& runtime, const SubGroups& groups) {
  try {
    runtime.build(Source("sub_group_probe.cl", sub_group_probe()),
                  sub_group_defines(groups, groups.sizes.back()), "sub-groups");
  } catch (const Error& error) {
    // A compiler that runs out of memory says nothing of the functions.
    const bool exhausted =
        error.status == CL_OUT_OF_RESOURCES || error.status == CL_OUT_OF_HOST_MEMORY;
    if (error.code != Errc::build_failed || exhausted) throw;
    return text("the ", to_string(groups.kind), " functions do not build");
  }
  return {};
}

}  // namespace clcook::detail

namespace clcook {

CLCOOK_INLINE SubGroups sub_groups(const Runtime& runtime) {
  const DeviceInfo& info = runtime.info();
  const cl_device_id device = runtime.device()();
  SubGroups out;
  if (quirks::is_nvidia(info)) {
    out = ptx_sub_groups(info);
    if (out.kind == SubGroupKind::local) return out;
  } else {
    constexpr cl_device_info kMaxSubGroups = 0x105C;  // CL_DEVICE_MAX_NUM_SUB_GROUPS
    cl_uint most = 0;
    if (clGetDeviceInfo(device, kMaxSubGroups, sizeof most, &most, nullptr) != CL_SUCCESS ||
        most == 0) {
      return local_sub_groups("the device has no sub-groups");
    }
    if (!info.has_extension("cl_khr_subgroup_shuffle"))
      return local_sub_groups("the device has no cl_khr_subgroup_shuffle");
    out.kind = SubGroupKind::native;
    out.ballot = info.has_extension("cl_khr_subgroup_ballot");
    out.required = info.has_extension("cl_intel_required_subgroup_size");
    constexpr cl_device_info kSizes = 0x4108;  // CL_DEVICE_SUB_GROUP_SIZES_INTEL
    std::vector<std::size_t> sizes(64);
    std::size_t bytes = 0;
    if (clGetDeviceInfo(device, kSizes, sizes.size() * sizeof(std::size_t), sizes.data(), &bytes) !=
        CL_SUCCESS) {
      bytes = 0;
    }
    sizes.resize(bytes / sizeof(std::size_t));
    // A kernel has to know its size: either it says it, or the device has one alone.
    if (!out.required && sizes.size() != 1)
      return local_sub_groups("the device does not say what size a kernel's sub-groups have");
    for (const std::size_t size : sizes) {
      // Not 1 and 2: PoCL 6.0 ends the process where a work-group is as small.
      if (size >= 4 && size <= 64 && (size & (size - 1)) == 0) out.sizes.push_back(size);
    }
    std::sort(out.sizes.begin(), out.sizes.end());
    if (out.sizes.empty())
      return local_sub_groups("no size of the device's sub-groups is a power of two from 4 to 64");
  }
  const std::string problem = detail::sub_group_build_problem(runtime, out);
  return problem.empty() ? out : local_sub_groups(problem);
}

CLCOOK_INLINE SubGroups needed_sub_groups(const Runtime& runtime, const std::string& where) {
  SubGroups out = sub_groups(runtime);
  if (out.kind == SubGroupKind::local)
    fail(Errc::unsupported, where, text("needs sub-groups: ", out.lacks));
  return out;
}

CLCOOK_INLINE std::string describe(const SubGroups& groups) {
  if (groups.kind == SubGroupKind::local)
    return groups.lacks.empty() ? "local memory" : "none (" + groups.lacks + "); local memory";
  std::string out = std::string(to_string(groups.kind)) + ",";
  for (const std::size_t size : groups.sizes) out += " " + std::to_string(size);
  return out + " lanes";
}

}  // namespace clcook
