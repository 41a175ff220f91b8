// Where implementations behave differently from what they report, and what clcook does about it.
// Only this header knows how to tell implementations apart; docs/driver_bugs.md says more.
#pragma once

#include <clcook/core/device_info.hpp>
#include <cstdlib>
#include <string>

namespace clcook::quirks {

inline bool is_pocl(const DeviceInfo& info) {
  return info.platform == "Portable Computing Language";
}

// Of any version that starts like this: "7.", "5.0".
inline bool is_pocl(const DeviceInfo& info, const char* version) {
  return is_pocl(info) &&
         info.platform_version.find(std::string("PoCL ") + version) != std::string::npos;
}

inline bool is_intel_cpu(const DeviceInfo& info) {
  return info.cpu && info.platform == "Intel(R) OpenCL";
}

inline bool is_rusticl(const DeviceInfo& info) { return info.platform == "rusticl"; }

inline bool is_nvidia(const DeviceInfo& info) { return info.platform == "NVIDIA CUDA"; }

// Tests on other devices set CLCOOK_TENSOR_EMULATE: what kernels do with NVIDIA's instructions is
// then made of ordinary arithmetic, by the same kernels (clcook/tensor.clh).
inline bool emulates_nvidia() {
  const char* value = std::getenv("CLCOOK_TENSOR_EMULATE");
  return value != nullptr && *value != '\0';
}

// What each kernel takes of the local memory that the device reports. NVIDIA's driver counts a byte
// more than a kernel has, rounded up to 4. A kernel that uses all of the reported memory fails when
// it runs.
inline cl_ulong own_local_bytes(const DeviceInfo& info) { return is_nvidia(info) ? 4 : 0; }

// PoCL 6.0 reports 0 bytes for every kernel, whatever its own arrays take, and ends the process at the
// launch of one whose arrays do not fit. Only what arguments take is known there.
inline bool hides_arrays(const DeviceInfo& info) { return is_pocl(info, "6."); }

// NVIDIA's compiler gives the arrays of a kernel more local memory than the device reports, which is
// what arguments can have.
inline bool has_large_arrays(const DeviceInfo& info) { return is_nvidia(info); }

// Kernels see clang's __builtin_prefetch only where it is known to work, as the definition
// CLCOOK_BUILTIN_PREFETCH. Rusticl of Mesa 22.3 to 26.2 ends the process at it: its translation to
// SPIR-V does not know llvm.prefetch. __has_builtin() is 1 there, and neither __SPIR__ nor
// __SPIRV__ is defined.
inline bool knows_prefetch(const DeviceInfo& info) {
  return info.cpu && (is_pocl(info) || is_intel_cpu(info));
}

// Devices of OpenCL C 3.0 whose kernels are better compiled as OpenCL C 1.2. NVIDIA's 3.0 has none
// of the optional features that kernels could use, and all that was measured there is 1.2. Others
// need 3.0: PoCL 7.1 has no image functions under 1.2, and sub-groups are nowhere without it.
inline bool better_as_c12(const DeviceInfo& info) { return is_nvidia(info); }

// Kernels for CPUs are few long work-items in vectors of 16, which the compiler keeps in registers.
// Rusticl's llvmpipe puts work-items into the lanes, as GPUs do, and takes such vectors apart: of
// Mesa 25.0 gaussian_blur's cpu_fused takes more than a minute to compile, and then longer than
// naive; halo_tile's cpu_rows of bytes takes 38 s, and rank_filter's networks minutes.
inline bool takes_cpu_kernels(const DeviceInfo& info) { return info.cpu && !is_rusticl(info); }

// Why another device does not.
inline std::string not_for_cpu_kernels(const DeviceInfo& info) {
  return info.cpu ? "few long work-items: " + info.platform +
                        " takes minutes to compile them, and is slow with them"
                  : "few long work-items: for CPUs only";
}

// The PoCL that pip installs with pyopencl[pocl] passes vectors of 16 floats to its own fma() in another
// way than that takes them: results are wrong, or its compiler ends the process. Kernels for CPUs are
// of such vectors.
inline bool breaks_cpu_kernels(const DeviceInfo& info) { return is_pocl(info, "3.0-rc"); }

// The elements of a vector in kernels that are written for any number. That PoCL also ends the process
// over 16 doubles, and takes minutes over 8.
inline unsigned vector_elements(const DeviceInfo& info) {
  if (!info.cpu) return 1;
  return breaks_cpu_kernels(info) ? 4 : 16;
}

// And it links kernels with ld, and ends the process where there is none, as in containers with Python
// alone.
inline bool runs_ld(const DeviceInfo& info) { return is_pocl(info, "3.0-rc"); }

// Implementations that keep compiled programs on disk themselves, and whose binary costs more than it
// saves: asked for it, PoCL compiles all kernels of the program once more, for work-groups of any size.
// For PoCL a value of the variable that does not begin with 1 is off.
inline bool keeps_programs(const DeviceInfo& info) {
  const char* cache = std::getenv("POCL_KERNEL_CACHE");
  return is_pocl(info) && (cache == nullptr || cache[0] == '1');
}

// Vectors of more than 16 elements are clang's and no OpenCL C. PoCL, Oclgrind and NVIDIA's compiler have
// them. SPIR-V has none, and rusticl, which compiles through it, ends the process over them; they were
// not tried with Intel's compiler.
inline bool has_long_vectors(const DeviceInfo& info) {
  return !is_intel_cpu(info) && !is_rusticl(info);
}

// PoCL 6.0 with LLVM 18 ends the process over kernels of halo_tile: "LLVM ERROR: Instruction
// Combining did not reach a fixpoint after 1 iterations". They are direct_multi's medians with 2
// outputs per item, of single floats and of integers, and some kernels of slices and of
// columns_first. More turn up with each search, so neither is offered there.
inline bool breaks_shared_rows(const DeviceInfo& info) { return is_pocl(info, "6."); }

// Intel's compiler for CPUs, 2026.2, ends the process over most networks of radius 2 and 3 of
// rank_filter: its pass "Machine InstCombiner" follows a register that nothing sets. Two results in a
// word are right, and so are vectors of 16 channels.
inline bool breaks_networks(const DeviceInfo& info) { return is_intel_cpu(info); }

// PoCL offers images of CL_R with CL_HALF_FLOAT; 3.1 to 6.0 read zeros from them, and 7.1 ends the
// process. CL_RGBA is right.
inline bool misreads_r16f_images(const DeviceInfo& info) { return is_pocl(info); }

// PoCL 5.0 starts a loop over the items of line_blur's coalesced at index 0 for all of them, see
// docs/driver_bugs.md.
inline bool breaks_item_loops(const DeviceInfo& info) { return is_pocl(info, "5."); }

// PoCL 7.1 loses flags of stream_compaction's variants with sub-groups in local memory; with
// POCL_WORK_GROUP_METHOD=cbs they are right. Each part of the kernels alone is right too, so that no
// short kernel shows it.
inline bool loses_flags(const DeviceInfo& info) { return is_pocl(info, "7."); }

}  // namespace clcook::quirks
