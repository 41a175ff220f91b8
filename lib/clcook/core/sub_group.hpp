// What a device offers for <clcook/sub_group.clh>, and the definitions that choose it.
//
//   const clcook::SubGroups groups = clcook::sub_groups(runtime);
//   const clcook::Defines defines = clcook::sub_group_defines(groups, groups.sizes.back());
//   clcook::check_sub_group_launch(groups.sizes.back(),
//                                  clcook::Launch::cover({1024, 1, 1}, {64, 1, 1}), "MyOperation");
#pragma once

#include <algorithm>
#include <clcook/core/defines.hpp>
#include <clcook/core/error.hpp>
#include <clcook/core/inline.hpp>
#include <clcook/core/launch.hpp>
#include <clcook/core/quirks.hpp>
#include <clcook/core/runtime.hpp>
#include <clcook/core/source.hpp>
#include <cstddef>
#include <string>
#include <vector>

namespace clcook {

enum class SubGroupKind {
  local,   // local memory and barriers of the group: every device
  native,  // the functions of OpenCL C
  ptx      // shfl.sync, vote.sync and redux.sync in NVIDIA's inline PTX
};

CLCOOK_INLINE const char* to_string(SubGroupKind kind);

// One implementation of the header, with the sizes that a kernel can be built for.
struct SubGroups {
  SubGroupKind kind = SubGroupKind::local;
  std::vector<std::size_t> sizes;  // lanes, rising: powers of two up to 64
  std::string lacks;               // local: what the device lacks; else empty
  bool ballot = false;             // native: cl_khr_subgroup_ballot
  bool required = false;           // native: the kernel must say its size
  unsigned capability = 0;         // ptx: ten times the compute capability
};

// The text in VariantInfo::needs of a variant that does not pay with local memory.
inline constexpr const char* kNeedsSubGroups = "sub-groups";

// Local memory, which every device has, also the ones that have more.
CLCOOK_INLINE SubGroups local_sub_groups(std::string lacks = {});

// Sub-groups of an NVIDIA GPU; local if its compute capability is below 7.0 or unknown.
CLCOOK_INLINE SubGroups ptx_sub_groups(const DeviceInfo& info);

// The definitions for kernels that include <clcook/sub_group.clh>. Throws Error(invalid_argument)
// unless `size` is one of `groups.sizes`.
CLCOOK_INLINE Defines sub_group_defines(const SubGroups& groups, std::size_t size);

// Throws Error(invalid_argument) unless every sub-group of the launch is full, which the header
// demands: work-groups a multiple of `size` wide along x. `where` names the operation.
CLCOOK_INLINE void check_sub_group_launch(std::size_t size, const Launch& launch,
                                          const std::string& where);

namespace detail {

// Uses every function of the header: a device that builds it has all of them.
CLCOOK_INLINE const char* sub_group_probe();

// Why the probe does not build; empty where it does.
CLCOOK_INLINE std::string sub_group_build_problem(const Runtime& runtime, const SubGroups& groups);

}  // namespace detail

// The best that the device has. If a device reports sub-groups, or is an NVIDIA GPU, a probe kernel
// must build to confirm it. The probe takes as long as a small kernel the first time and comes from
// the runtime's cache after that. Nothing is enqueued. Thread-safe.
CLCOOK_INLINE SubGroups sub_groups(const Runtime& runtime);

// For variants that declare the need: throws Error(unsupported) that says what the device lacks.
CLCOOK_INLINE SubGroups needed_sub_groups(const Runtime& runtime, const std::string& where);

// One line for people: "native, 4 8 16 32 64 lanes".
CLCOOK_INLINE std::string describe(const SubGroups& groups);

}  // namespace clcook

#if CLCOOK_DEFINITIONS
#include <clcook/core/impl/sub_group.hpp>
#endif
