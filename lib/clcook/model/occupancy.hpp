// How many work-groups, and waves of work-items, are resident at once: the occupancy of a GPU. Std
// only.
//
// A compute unit runs several work-groups at a time if their registers, local memory and places for
// waves fit together; while one waits for memory or at a barrier, another computes. A group gets
// all it needs when it starts and gives it back when its last wave ends. So occupancy moves in
// steps: one register too many can cost a whole group. This header counts the steps from the limits
// of the hardware. It knows nothing of time: more waves help only if latency is the problem.
//
// "Unit" below is the block of hardware whose groups share local memory: AMD's compute unit (RDNA:
// the work-group processor of two, or one unit in CU mode), NVIDIA's multiprocessor, Intel's
// Xe-core. "Wave" is AMD's wave, NVIDIA's warp, Intel's hardware thread.
//
// Sources of the tables:
//   AMD     The register, wave, barrier and local-memory limits in LLVM's AMDGPU back end (its
//           "AMDGPU usage" page and what clang 19 prints, which a test compares); the granule in
//           which local memory is really given out from Mesa's radeonsi; GCN3 as in AMD's GPUOpen
//           articles.
//   NVIDIA  The table "Technical specifications per compute capability" of the CUDA programming
//           guide; allocation rules as in NVIDIA's cuda_occupancy.h, with which a test compares.
//   Intel   Threads, registers and local memory per Xe-core from the oneAPI GPU optimization guide;
//           the sizes in which local memory is given out from Intel's compute runtime. The limit
//           on groups with barriers is not public and not modelled.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace clcook::model {

enum class GpuVendor { amd, nvidia, intel };

// The limits of one architecture. Registers count per work-item of a wave of wave_size; Intel's per
// hardware thread.
struct GpuArch {
  std::string_view name;
  std::string_view label;
  GpuVendor vendor = GpuVendor::amd;
  std::string_view unit;       // what one unit is called
  int simds = 4;               // register files per unit
  int waves_per_simd = 10;     // places for waves
  int wave_size = 64;          // the usual one
  int other_wave_sizes[2]{};   // what a kernel may be compiled for instead; 0: none
  int registers_per_simd = 0;  // size of a register file, in registers of a wave
  int register_granule = 0;    // a wave gets a multiple of this
  int max_registers = 0;       // that a kernel can use
  int scalars_per_simd = 0;    // AMD up to gfx9: SGPRs; 0: every wave has its own full set
  int scalar_granule = 0;
  int max_scalars = 0;            // 0: there are none
  int local_bytes = 0;            // local memory of the unit
  int local_granule = 0;          // 0: Intel's list of sizes
  int local_reserved = 0;         // the driver's own part of each group's local memory
  int max_local = 0;              // of one group
  int max_groups = 0;             // per unit; 0: no limit but the waves
  bool single_wave_free = false;  // groups of one wave need no barrier and do not count for it
  int max_group_size = 1024;
};

// What a kernel needs, and how it is launched.
struct KernelNeeds {
  int registers = 0;             // vector registers per work-item (Intel: per thread)
  int scalar_registers = 0;      // AMD: SGPRs, those that the hardware adds included
  std::int64_t local_bytes = 0;  // per group: declared and passed as arguments
  int group_size = 0;            // work-items
  int wave_size = 0;             // 0: the usual one of the architecture
  bool cu_mode = false;          // RDNA: groups stay in one of the two compute units
};

enum class Limiter { registers, scalar_registers, local_memory, waves, groups };

constexpr std::string_view to_string(Limiter limiter) {
  switch (limiter) {
    case Limiter::registers:
      return "registers";
    case Limiter::scalar_registers:
      return "scalar registers";
    case Limiter::local_memory:
      return "local memory";
    case Limiter::waves:
      return "places for waves";
    case Limiter::groups:
      return "work-groups per unit";
  }
  return "";
}

constexpr int kLimiters = 5;

// What is resident in one unit.
struct Occupancy {
  int groups = 0;  // 0: not even one group fits
  int waves_per_group = 0;
  int waves = 0;
  int max_waves = 0;  // places for waves in the unit
  int simds = 0;
  int by[kLimiters]{};  // groups that each limit alone would allow, in the order of Limiter
  Limiter limiter = Limiter::waves;  // the first of those that allow the fewest
  int allocated_registers = 0;       // after rounding
  int allocated_scalars = 0;
  std::int64_t allocated_local = 0;

  constexpr double occupancy() const { return static_cast<double>(waves) / max_waves; }
  constexpr bool limited_by(Limiter one) const { return by[static_cast<int>(one)] == groups; }
};

namespace detail {

constexpr int kKiB = 1024;

// vector registers of a file, granule, most; waves; local memory granule
constexpr GpuArch amd(std::string_view name, std::string_view label, int waves, int file,
                      int granule, int max_registers, int local_granule) {
  GpuArch out;
  out.name = name;
  out.label = label;
  out.vendor = GpuVendor::amd;
  out.unit = "compute unit";
  out.waves_per_simd = waves;
  out.registers_per_simd = file;
  out.register_granule = granule;
  out.max_registers = max_registers;
  out.local_granule = local_granule;
  out.local_bytes = 64 * kKiB;
  out.max_local = 64 * kKiB;
  out.max_groups = 16;
  out.single_wave_free = true;
  return out;
}

constexpr GpuArch gcn(std::string_view name, std::string_view label, int waves = 10, int file = 256,
                      int granule = 4) {
  GpuArch out = amd(name, label, waves, file, granule, file, 512);
  out.scalars_per_simd = 800;
  out.scalar_granule = 16;
  out.max_scalars = 108;  // with VCC, flat scratch and the XNACK mask
  return out;
}

// In work-group processor mode: two compute units with two SIMDs each.
constexpr GpuArch rdna(std::string_view name, std::string_view label, int waves, int file,
                       int granule, int local_granule) {
  GpuArch out = amd(name, label, waves, file, granule, 256, local_granule);
  out.unit = "work-group processor";
  out.wave_size = 32;
  out.other_wave_sizes[0] = 64;
  out.max_scalars = 108;  // with VCC
  out.local_bytes = 128 * kKiB;
  out.max_groups = 32;
  return out;
}

constexpr GpuArch nvidia(std::string_view name, std::string_view label, int warps, int blocks,
                         int shared_kib, int block_shared_kib, bool reserves) {
  GpuArch out;
  out.name = name;
  out.label = label;
  out.vendor = GpuVendor::nvidia;
  out.unit = "multiprocessor";
  out.waves_per_simd = warps / 4;
  out.wave_size = 32;
  out.registers_per_simd = 512;  // 65536 registers: 4 files of 512 for each of 32 lanes
  out.register_granule = 8;      // 256 registers per warp
  out.max_registers = 255;
  out.local_bytes = shared_kib * kKiB;
  out.max_local = block_shared_kib * kKiB;
  out.local_granule = reserves ? 128 : 256;
  out.local_reserved = reserves ? kKiB : 0;
  out.max_groups = blocks;
  return out;
}

constexpr GpuArch xe(std::string_view name, std::string_view label, int engines, int threads,
                     int simd, int other, int another, int max_registers, int max_local_kib,
                     int max_group_size) {
  GpuArch out;
  out.name = name;
  out.label = label;
  out.vendor = GpuVendor::intel;
  out.unit = "Xe-core";
  out.simds = engines;
  out.waves_per_simd = threads;
  out.wave_size = simd;
  out.other_wave_sizes[0] = other;
  out.other_wave_sizes[1] = another;
  // A thread has 128 registers. With a compiler option it has 256, and half as many threads run.
  out.registers_per_simd = 128 * threads;
  out.register_granule = 128;
  out.max_registers = max_registers;
  out.local_bytes = 128 * kKiB;
  out.max_local = max_local_kib * kKiB;
  out.max_group_size = max_group_size;
  return out;
}

constexpr GpuArch kArchs[] = {
    // GCN: one file of 256 VGPRs per SIMD. Polaris, also gfx803, has places for 8 waves, not 10.
    gcn("gfx801", "AMD GCN 3"),
    gcn("gfx802", "AMD GCN 3"),
    gcn("gfx803", "AMD GCN 3"),
    gcn("gfx805", "AMD GCN 3"),
    gcn("gfx810", "AMD GCN 3"),
    gcn("gfx900", "AMD GCN 5 (Vega)"),
    gcn("gfx902", "AMD GCN 5 (Vega)"),
    gcn("gfx904", "AMD GCN 5 (Vega)"),
    gcn("gfx906", "AMD GCN 5 (Vega)"),
    gcn("gfx909", "AMD GCN 5 (Vega)"),
    gcn("gfx90c", "AMD GCN 5 (Vega)"),
    // CDNA 1 has a second file of 256 for AGPRs: its need is the larger of VGPRs and AGPRs. From
    // CDNA 2 on both come from one file of 512.
    gcn("gfx908", "AMD CDNA"),
    gcn("gfx90a", "AMD CDNA 2", 8, 512, 8),
    gcn("gfx940", "AMD CDNA 3", 8, 512, 8),
    gcn("gfx941", "AMD CDNA 3", 8, 512, 8),
    gcn("gfx942", "AMD CDNA 3", 8, 512, 8),
    // RDNA, for waves of 32; waves of 64 have half the file and half the granule.
    rdna("gfx1010", "AMD RDNA", 20, 1024, 8, 512),
    rdna("gfx1011", "AMD RDNA", 20, 1024, 8, 512),
    rdna("gfx1012", "AMD RDNA", 20, 1024, 8, 512),
    rdna("gfx1013", "AMD RDNA", 20, 1024, 8, 512),
    rdna("gfx1030", "AMD RDNA 2", 16, 1024, 16, 1024),
    rdna("gfx1031", "AMD RDNA 2", 16, 1024, 16, 1024),
    rdna("gfx1032", "AMD RDNA 2", 16, 1024, 16, 1024),
    rdna("gfx1033", "AMD RDNA 2", 16, 1024, 16, 1024),
    rdna("gfx1034", "AMD RDNA 2", 16, 1024, 16, 1024),
    rdna("gfx1035", "AMD RDNA 2", 16, 1024, 16, 1024),
    rdna("gfx1036", "AMD RDNA 2", 16, 1024, 16, 1024),
    // The larger chips have files half as large again.
    rdna("gfx1100", "AMD RDNA 3", 16, 1536, 24, 1024),
    rdna("gfx1101", "AMD RDNA 3", 16, 1536, 24, 1024),
    rdna("gfx1102", "AMD RDNA 3", 16, 1024, 16, 1024),
    rdna("gfx1103", "AMD RDNA 3", 16, 1024, 16, 1024),
    rdna("gfx1150", "AMD RDNA 3.5", 16, 1024, 16, 1024),
    rdna("gfx1151", "AMD RDNA 3.5", 16, 1536, 24, 1024),
    rdna("gfx1152", "AMD RDNA 3.5", 16, 1024, 16, 1024),
    rdna("gfx1200", "AMD RDNA 4", 16, 1536, 24, 1024),
    rdna("gfx1201", "AMD RDNA 4", 16, 1536, 24, 1024),
    nvidia("sm_70", "NVIDIA Volta", 64, 32, 96, 96, false),
    nvidia("sm_72", "NVIDIA Volta (Xavier)", 64, 32, 96, 96, false),
    nvidia("sm_75", "NVIDIA Turing", 32, 16, 64, 64, false),
    nvidia("sm_80", "NVIDIA Ampere", 64, 32, 164, 163, true),
    nvidia("sm_86", "NVIDIA Ampere", 48, 16, 100, 99, true),
    nvidia("sm_87", "NVIDIA Ampere (Orin)", 48, 16, 164, 163, true),
    nvidia("sm_89", "NVIDIA Ada", 48, 24, 100, 99, true),
    nvidia("sm_90", "NVIDIA Hopper", 64, 32, 228, 227, true),
    nvidia("sm_100", "NVIDIA Blackwell", 64, 32, 228, 227, true),
    nvidia("sm_103", "NVIDIA Blackwell", 64, 32, 228, 227, true),
    nvidia("sm_120", "NVIDIA Blackwell", 48, 24, 100, 99, true),
    nvidia("sm_121", "NVIDIA Blackwell", 48, 24, 100, 99, true),
    xe("xe_lp", "Intel Xe-LP", 16, 7, 16, 8, 32, 128, 64, 512),
    xe("xe_hpg", "Intel Xe-HPG (Arc)", 16, 8, 16, 8, 32, 256, 64, 1024),
    xe("xe_hpc", "Intel Xe-HPC (Max)", 8, 8, 32, 16, 0, 256, 128, 1024),
};

// Intel gives local memory in these sizes, Xe-LP and Xe-HPG only in those that are powers of two.
constexpr int kXeLocalKiB[] = {1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128};

[[noreturn]] inline void bad_occupancy(const std::string& what) {
  throw std::invalid_argument("occupancy: " + what);
}

inline std::string known_archs() {
  std::string out;
  for (const GpuArch& arch : kArchs) out += " " + std::string(arch.name);
  return out;
}

[[noreturn]] inline void bad_wave_size(const GpuArch& arch, int wave_size) {
  std::string sizes = std::to_string(arch.wave_size);
  for (const int other : arch.other_wave_sizes) {
    if (other != 0) sizes += " or " + std::to_string(other);
  }
  bad_occupancy("the wave size of " + std::string(arch.name) + " is " + sizes + ", got " +
                std::to_string(wave_size));
}

constexpr std::int64_t round_up(std::int64_t value, std::int64_t granule) {
  return (value + granule - 1) / granule * granule;
}

constexpr int waves_by_file(int file, int allocated, int most) {
  return allocated == 0 ? most : std::min(most, file / allocated);
}

constexpr std::int64_t allocated_local(const GpuArch& arch, std::int64_t bytes) {
  if (arch.vendor == GpuVendor::intel) {
    if (bytes == 0) return 0;
    for (const int kib : kXeLocalKiB) {
      if (arch.max_local <= 64 * kKiB && (kib & (kib - 1)) != 0) continue;
      if (std::int64_t{kib} * kKiB >= bytes) return std::int64_t{kib} * kKiB;
    }
  }
  return bytes + arch.local_reserved == 0
             ? 0
             : round_up(bytes + arch.local_reserved, std::max(arch.local_granule, 1));
}

}  // namespace detail

// The architecture of that name: gfx900, sm_90, xe_hpg, ... Throws std::invalid_argument that lists
// the known ones. Thread-safe, as all of this header.
constexpr const GpuArch& gpu_arch(std::string_view name) {
  for (const GpuArch& arch : detail::kArchs) {
    if (arch.name == name) return arch;
  }
  detail::bad_occupancy("there is no architecture '" + std::string(name) + "'; known are" +
                        detail::known_archs());
}

// All architectures.
constexpr const GpuArch* gpu_archs_begin() { return std::begin(detail::kArchs); }
constexpr const GpuArch* gpu_archs_end() { return std::end(detail::kArchs); }

// The architecture as a kernel with that wave size and mode sees it. Throws std::invalid_argument
// for a wave size or mode that it does not have.
constexpr GpuArch configured(const GpuArch& arch, int wave_size, bool cu_mode) {
  GpuArch out = arch;
  if (wave_size != 0 && wave_size != arch.wave_size) {
    if (wave_size < 0 ||
        (wave_size != arch.other_wave_sizes[0] && wave_size != arch.other_wave_sizes[1])) {
      detail::bad_wave_size(arch, wave_size);
    }
    out.wave_size = wave_size;
    if (arch.vendor == GpuVendor::amd) {
      out.registers_per_simd = arch.registers_per_simd / 2;
      out.register_granule = arch.register_granule / 2;
    }
  }
  if (cu_mode) {
    if (arch.vendor != GpuVendor::amd || arch.other_wave_sizes[0] == 0) {
      detail::bad_occupancy(std::string(arch.name) +
                            " has no CU mode; the RDNA architectures (gfx10 and later) do");
    }
    out.unit = "compute unit (CU mode)";
    out.simds = arch.simds / 2;
    out.local_bytes = arch.local_bytes / 2;
    out.max_groups = arch.max_groups / 2;
  }
  return out;
}

// What is resident in one unit of the architecture. Throws std::invalid_argument that names limit
// and value for a group size of 0 or above the limit, and registers or local memory above what one
// kernel can have. Needs within these limits whose sum does not fit give 0 groups.
constexpr Occupancy occupancy(const GpuArch& base, const KernelNeeds& needs) {
  const GpuArch arch = configured(base, needs.wave_size, needs.cu_mode);
  const auto range = [&](const char* what, std::int64_t value, std::int64_t low,
                         std::int64_t high) {
    if (value >= low && value <= high) return;
    detail::bad_occupancy(std::string(what) + " on " + std::string(arch.name) + " must be " +
                          std::to_string(low) + " to " + std::to_string(high) + ", got " +
                          std::to_string(value));
  };
  range("the group size", needs.group_size, 1, arch.max_group_size);
  range("registers", needs.registers, 0, arch.max_registers);
  range("scalar registers", needs.scalar_registers, 0, arch.max_scalars);
  range("bytes of local memory per group", needs.local_bytes, 0, arch.max_local);

  Occupancy out;
  out.simds = arch.simds;
  out.max_waves = arch.simds * arch.waves_per_simd;
  out.waves_per_group = (needs.group_size + arch.wave_size - 1) / arch.wave_size;
  // A wave has at least one granule.
  out.allocated_registers =
      static_cast<int>(detail::round_up(std::max(needs.registers, 1), arch.register_granule));
  out.allocated_local = detail::allocated_local(arch, needs.local_bytes);
  const auto groups = [&](int waves_per_simd) {
    return waves_per_simd * arch.simds / out.waves_per_group;
  };
  // No limit is more than the waves allow.
  const int most = out.max_waves / out.waves_per_group;
  for (int& one : out.by) one = most;
  out.by[static_cast<int>(Limiter::registers)] = groups(
      detail::waves_by_file(arch.registers_per_simd, out.allocated_registers, arch.waves_per_simd));
  if (arch.scalars_per_simd != 0) {
    out.allocated_scalars = static_cast<int>(
        detail::round_up(std::max(needs.scalar_registers, 1), arch.scalar_granule));
    out.by[static_cast<int>(Limiter::scalar_registers)] = groups(
        detail::waves_by_file(arch.scalars_per_simd, out.allocated_scalars, arch.waves_per_simd));
  }
  if (out.allocated_local > 0) {
    out.by[static_cast<int>(Limiter::local_memory)] =
        static_cast<int>(std::min<std::int64_t>(most, arch.local_bytes / out.allocated_local));
  }
  if (arch.max_groups != 0 && !(arch.single_wave_free && out.waves_per_group == 1))
    out.by[static_cast<int>(Limiter::groups)] = std::min(most, arch.max_groups);
  // Where several allow equally few, waves come last: full occupancy is limited by nothing else.
  out.groups = most;
  for (int i = 0; i < kLimiters; ++i) {
    if (out.by[i] < out.groups) {
      out.groups = out.by[i];
      out.limiter = static_cast<Limiter>(i);
    }
  }
  out.waves = out.groups * out.waves_per_group;
  return out;
}

constexpr Occupancy occupancy(std::string_view arch, const KernelNeeds& needs) {
  return occupancy(gpu_arch(arch), needs);
}

// The change that lets more in.
struct OccupancyStep {
  bool possible = false;
  KernelNeeds needs;  // as now, but for what has to change
  Occupancy after;
};

// The smallest saving of registers, scalar registers and local memory, at this group size, that
// lets another group fit. It must save everything that limits now at once. Not possible when the
// places for waves or groups are the limit.
constexpr OccupancyStep next_step(const GpuArch& base, const KernelNeeds& needs) {
  OccupancyStep out;
  out.needs = needs;
  const Occupancy now = occupancy(base, needs);
  const auto reaches = [&](Limiter one) {
    return occupancy(base, out.needs).by[static_cast<int>(one)] > now.groups;
  };
  while (out.needs.registers > 0 && !reaches(Limiter::registers)) --out.needs.registers;
  while (out.needs.scalar_registers > 0 && !reaches(Limiter::scalar_registers))
    --out.needs.scalar_registers;
  // Local memory is given out in granules of no less than 128 bytes.
  const std::int64_t reserved = configured(base, needs.wave_size, needs.cu_mode).local_reserved;
  while (out.needs.local_bytes > 0 && !reaches(Limiter::local_memory)) {
    out.needs.local_bytes =
        std::max<std::int64_t>(0, (out.needs.local_bytes + reserved - 1) / 128 * 128 - reserved);
  }
  out.after = occupancy(base, out.needs);
  out.possible = out.after.groups > now.groups;
  if (!out.possible) out.needs = needs;
  return out;
}

// The largest smaller group of whole waves that makes more waves resident, with the same registers
// and local memory per group. If a kernel's local memory shrinks with the group, it does better.
constexpr OccupancyStep smaller_group(const GpuArch& base, const KernelNeeds& needs) {
  OccupancyStep out;
  out.needs = needs;
  const Occupancy now = occupancy(base, needs);
  const int wave = configured(base, needs.wave_size, needs.cu_mode).wave_size;
  for (int group = (now.waves_per_group - 1) * wave; group >= wave; group -= wave) {
    out.needs.group_size = group;
    out.after = occupancy(base, out.needs);
    if (out.after.waves > now.waves) {
      out.possible = true;
      return out;
    }
  }
  out.needs = needs;
  out.after = now;
  return out;
}

// The answer of next_step() as a sentence, such as "8 registers fewer (32): 2 groups instead of 1".
inline std::string describe(const KernelNeeds& needs, const Occupancy& now,
                            const OccupancyStep& step) {
  if (!step.possible) return "";
  std::string out;
  const auto part = [&](std::int64_t from, std::int64_t to, const char* one, const char* many,
                        const char* how) {
    if (from == to) return;
    if (!out.empty()) out += " and ";
    out += std::to_string(from - to) + " " + (from - to == 1 ? one : many) + " " + how + " (" +
           std::to_string(to) + ")";
  };
  part(needs.registers, step.needs.registers, "register", "registers", "fewer");
  part(needs.scalar_registers, step.needs.scalar_registers, "scalar register", "scalar registers",
       "fewer");
  part(needs.local_bytes, step.needs.local_bytes, "byte of local memory", "bytes of local memory",
       "less");
  part(needs.group_size, step.needs.group_size, "work-item per group", "work-items per group",
       "fewer");
  out += ": " + std::to_string(step.after.groups) +
         (step.after.groups == 1 ? " group" : " groups") + " instead of " +
         std::to_string(now.groups);
  if (needs.group_size != step.needs.group_size) {
    out +=
        ", " + std::to_string(step.after.waves) + " waves instead of " + std::to_string(now.waves);
  }
  return out;
}

}  // namespace clcook::model
