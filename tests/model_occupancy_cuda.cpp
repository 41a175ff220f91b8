// The occupancy model against NVIDIA's own cuda_occupancy.h, where the CUDA toolkit is installed.
#include <clcook/model/occupancy.hpp>

#include <algorithm>
#include <climits>
#include <set>
#include <string>

#include "clcook_places.hpp"
#include "support/testing.hpp"

#ifdef CLCOOK_CUDA_OCCUPANCY
#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wpedantic"
#endif
#include CLCOOK_CUDA_OCCUPANCY
#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif
#endif

using namespace clcook::model;

#ifndef CLCOOK_CUDA_OCCUPANCY

TEST_CASE("cuda_occupancy.h") {
  MESSAGE("SKIPPED: the CUDA toolkit's cuda_occupancy.h was not found when this was configured");
}

#else

namespace {

// What a driver reports for the device, by compute capability.
struct Device {
  const char* arch;
  int major, minor, threads, shared_kib, block_kib;
};
constexpr Device kDevices[] = {
    {"sm_70", 7, 0, 2048, 96, 96},     {"sm_72", 7, 2, 2048, 96, 96},
    {"sm_75", 7, 5, 1024, 64, 64},     {"sm_80", 8, 0, 2048, 164, 163},
    {"sm_86", 8, 6, 1536, 100, 99},    {"sm_87", 8, 7, 1536, 164, 163},
    {"sm_89", 8, 9, 1536, 100, 99},    {"sm_90", 9, 0, 2048, 228, 227},
    {"sm_100", 10, 0, 2048, 228, 227}, {"sm_103", 10, 3, 2048, 228, 227},
    {"sm_120", 12, 0, 1536, 100, 99},  {"sm_121", 12, 1, 1536, 100, 99},
};

}  // namespace

TEST_CASE("every limit as cuda_occupancy.h computes it") {
  std::set<std::string> tested;
  for (const Device& device : kDevices) {
    cudaOccDeviceProp properties{};
    properties.computeMajor = device.major;
    properties.computeMinor = device.minor;
    properties.maxThreadsPerBlock = 1024;
    properties.maxThreadsPerMultiprocessor = device.threads;
    properties.regsPerBlock = 65536;
    properties.regsPerMultiprocessor = 65536;
    properties.warpSize = 32;
    properties.sharedMemPerBlock = 48 * 1024;
    properties.sharedMemPerMultiprocessor = static_cast<std::size_t>(device.shared_kib) * 1024;
    properties.numSms = 1;
    properties.sharedMemPerBlockOptin = static_cast<std::size_t>(device.block_kib) * 1024;
    properties.reservedSharedMemPerBlock = device.major >= 8 ? 1024 : 0;
    cudaOccDeviceState state{};
    state.carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT;
    const GpuArch& arch = gpu_arch(device.arch);
    tested.insert(device.arch);
    long wrong = 0;
    for (int registers = 1; registers <= 255; registers += registers < 40 ? 1 : 3) {
      for (int group = 1; group <= 1024; group += 31 - (group % 31 == 1 ? 0 : 1)) {
        for (int shared = 0; shared <= device.block_kib * 1024; shared += 4096 - 37) {
          cudaOccFuncAttributes attributes{};
          attributes.maxThreadsPerBlock = 1024;
          attributes.numRegs = registers;
          attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
          attributes.maxDynamicSharedSizeBytes = static_cast<std::size_t>(shared);
          attributes.numBlockBarriers = 1;
          cudaOccResult theirs{};
          const cudaOccError status = cudaOccMaxActiveBlocksPerMultiprocessor(
              &theirs, &properties, &attributes, &state, group, static_cast<std::size_t>(shared));
          KernelNeeds needs;
          needs.registers = registers;
          needs.local_bytes = shared;
          needs.group_size = group;
          const Occupancy ours = occupancy(arch, needs);
          const auto by = [&](Limiter one) { return ours.by[static_cast<int>(one)]; };
          const int warps = theirs.blockLimitWarps;
          const bool same =
              status == CUDA_OCC_SUCCESS && ours.groups == theirs.activeBlocksPerMultiprocessor &&
              by(Limiter::registers) == std::min(warps, theirs.blockLimitRegs) &&
              by(Limiter::local_memory) == std::min(warps, theirs.blockLimitSharedMem) &&
              by(Limiter::groups) == std::min(warps, theirs.blockLimitBlocks) &&
              by(Limiter::waves) == warps &&
              ours.allocated_local ==
                  static_cast<std::int64_t>(theirs.allocatedSharedMemPerBlock) &&
              ours.allocated_registers * 32 * ours.waves_per_group ==
                  theirs.allocatedRegistersPerBlock;
          if (same) continue;
          if (++wrong > 3) continue;
          CAPTURE(device.arch);
          CAPTURE(registers);
          CAPTURE(group);
          CAPTURE(shared);
          CAPTURE(theirs.activeBlocksPerMultiprocessor);
          CHECK(ours.groups == theirs.activeBlocksPerMultiprocessor);
          CHECK(same);
        }
      }
    }
    CHECK(wrong == 0);
  }
  for (const GpuArch* arch = gpu_archs_begin(); arch != gpu_archs_end(); ++arch) {
    CAPTURE(arch->name);
    CHECK((arch->vendor != GpuVendor::nvidia || tested.count(std::string(arch->name)) == 1));
  }
}

#endif
