// The occupancy model against published tables, and against what clang says about AMD kernels.
#include <clcook/model/occupancy.hpp>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "bench/isa/resources.hpp"
#include "clcook_places.hpp"
#include "support/grid.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::model;
using namespace clcook::testing;

namespace {

KernelNeeds needs(int registers, std::int64_t local, int group) {
  KernelNeeds out;
  out.registers = registers;
  out.local_bytes = local;
  out.group_size = group;
  return out;
}

int groups(std::string_view arch, int registers, std::int64_t local, int group) {
  return occupancy(arch, needs(registers, local, group)).groups;
}

// The message of the error that a call throws.
template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

std::string next(std::string_view arch, const KernelNeeds& now) {
  const GpuArch& one = gpu_arch(arch);
  return describe(now, occupancy(one, now), next_step(one, now));
}

// Compile-time use.
constexpr KernelNeeds kArticle{40, 0, 32768, 1024, 0, false};
static_assert(occupancy("gfx900", kArticle).groups == 1);
static_assert(occupancy("gfx900", kArticle).limiter == Limiter::registers);
static_assert(next_step(gpu_arch("gfx900"), kArticle).needs.registers == 32);

// Waves per SIMD as clang counts them: each resource alone, rounded up, and its own steps for
// scalar registers.
int waves_as_clang_counts(const GpuArch& arch, const char* name, const isa::Resources& said,
                          int group, int wave, bool cu) {
  KernelNeeds one = needs(static_cast<int>(said.registers), said.local_bytes, group);
  one.wave_size = wave;
  one.cu_mode = cu;
  const Occupancy whole = occupancy(gpu_arch(name), one);
  // Each resource alone.
  one.local_bytes = 0;
  one.group_size = wave;
  const int by_registers =
      occupancy(gpu_arch(name), one).by[static_cast<int>(Limiter::registers)] / arch.simds;
  int by_scalars = arch.waves_per_simd;
  if (arch.scalars_per_simd != 0) {
    const int steps[][2] = {{80, 10}, {88, 9}, {100, 8}, {108, 7}};
    for (const auto& step : steps) {
      if (said.scalar_registers > step[0]) continue;
      by_scalars = std::min(step[1], arch.waves_per_simd);
      break;
    }
    // Where granules of 8 and 16 agree, the model agrees.
    one.scalar_registers = static_cast<int>(said.scalar_registers);
    const int model =
        occupancy(gpu_arch(name), one).by[static_cast<int>(Limiter::scalar_registers)] / arch.simds;
    const bool differ = (one.scalar_registers > 80 && one.scalar_registers <= 88) ||
                        (one.scalar_registers > 96 && one.scalar_registers <= 100);
    REQUIRE(model <= by_scalars);
    if (!differ) REQUIRE(model == by_scalars);
  }
  // Without the granules in which local memory is given out.
  const int groups_with_local = said.local_bytes == 0
                                    ? whole.by[static_cast<int>(Limiter::local_memory)]
                                    : static_cast<int>(arch.local_bytes / said.local_bytes);
  const int with_local = std::min({groups_with_local, whole.by[static_cast<int>(Limiter::groups)],
                                   whole.by[static_cast<int>(Limiter::waves)]}) *
                         whole.waves_per_group;
  const int by_local =
      said.local_bytes == 0 && whole.waves_per_group == 1
          ? arch.waves_per_simd
          : std::min(arch.waves_per_simd, (with_local + arch.simds - 1) / arch.simds);
  return std::min({by_registers, by_scalars, by_local});
}

}  // namespace

TEST_CASE("GCN: waves by registers") {
  // Vector registers a wave may have for so many waves per SIMD.
  const int table[][2] = {{24, 10}, {28, 9}, {32, 8}, {36, 7},  {40, 6},
                          {48, 5},  {64, 4}, {84, 3}, {128, 2}, {256, 1}};
  int from = 1;
  for (const auto& row : table) {
    for (int registers = from; registers <= row[0]; ++registers) {
      CAPTURE(registers);
      for (const char* arch : {"gfx803", "gfx900", "gfx906", "gfx908"}) {
        const Occupancy got = occupancy(arch, needs(registers, 0, 64));
        CHECK(got.waves == 4 * row[1]);
        CHECK(got.max_waves == 40);
      }
    }
    from = row[0] + 1;
  }
}

TEST_CASE("GCN: resident groups by size and registers") {
  const int registers[] = {24, 28, 32, 36, 40, 48, 64};
  struct Row {
    int group;
    int groups[7];
    int percent[7];
  };
  const Row rows[] = {{64, {40, 36, 32, 28, 24, 20, 16}, {100, 90, 80, 70, 60, 50, 40}},
                      {256, {10, 9, 8, 7, 6, 5, 4}, {100, 90, 80, 70, 60, 50, 40}},
                      {512, {5, 4, 4, 3, 3, 2, 2}, {100, 80, 80, 60, 60, 40, 40}},
                      {1024, {2, 2, 2, 1, 1, 1, 1}, {80, 80, 80, 40, 40, 40, 40}}};
  for (const Row& row : rows) {
    for (int i = 0; i < 7; ++i) {
      CAPTURE(row.group);
      CAPTURE(registers[i]);
      const Occupancy got = occupancy("gfx900", needs(registers[i], 0, row.group));
      CHECK(got.groups == row.groups[i]);
      CHECK(std::lround(100 * got.occupancy()) == row.percent[i]);
    }
  }
}

TEST_CASE("GCN: the article's cases") {
  // 40 registers leave a group of 1024 alone; with 32 there are two, which is 80 %, not all.
  CHECK(groups("gfx900", 40, 32768, 1024) == 1);
  CHECK(groups("gfx900", 32, 32768, 1024) == 2);
  CHECK(groups("gfx900", 32, 32769, 1024) == 1);
  CHECK(occupancy("gfx900", needs(32, 0, 1024)).limited_by(Limiter::waves));
  // Five groups of 512 need 24 registers and at most 13107 bytes, which the granule makes 12800.
  CHECK(groups("gfx900", 24, 12800, 512) == 5);
  CHECK(groups("gfx900", 24, 12801, 512) == 4);
  CHECK(groups("gfx900", 25, 0, 512) == 4);
  CHECK(groups("gfx900", 32, 0, 512) == 4);
  // More than one wave needs a barrier, and there are 16.
  CHECK(groups("gfx900", 24, 0, 64) == 40);
  CHECK(groups("gfx900", 24, 0, 128) == 16);
  CHECK(occupancy("gfx900", needs(24, 0, 128)).limiter == Limiter::groups);
  CHECK(groups("gfx900", 24, 0, 65) == 16);
  // Registers that the group as a whole cannot have.
  const Occupancy none = occupancy("gfx900", needs(65, 0, 1024));
  CHECK(none.groups == 0);
  CHECK(none.waves == 0);
  CHECK(next("gfx900", needs(65, 0, 1024)) == "1 register fewer (64): 1 group instead of 0");
  // Polaris shares its name with Fiji, so the model has Fiji's 10 waves.
  CHECK(occupancy("gfx803", needs(1, 0, 64)).max_waves == 40);
}

TEST_CASE("GCN: scalar registers") {
  KernelNeeds one = needs(24, 0, 256);
  const int table[][2] = {{80, 10}, {81, 8}, {96, 8}, {97, 7}, {102, 7}};
  for (const auto& row : table) {
    one.scalar_registers = row[0];
    CAPTURE(row[0]);
    CHECK(occupancy("gfx900", one).groups == row[1]);
  }
  CHECK(occupancy("gfx900", one).limiter == Limiter::scalar_registers);
  CHECK(next("gfx900", one) == "6 scalar registers fewer (96): 8 groups instead of 7");
  // From RDNA on every wave has a full set.
  one.scalar_registers = 106;
  CHECK(occupancy("gfx1030", one).occupancy() == 1.0);
}

TEST_CASE("CDNA 2 and 3: one file of 512 registers, 8 waves, granule 8") {
  for (const char* arch : {"gfx90a", "gfx942"}) {
    const int table[][2] = {{64, 8},  {65, 7},  {72, 7},  {73, 6}, {128, 4},
                            {129, 3}, {256, 2}, {257, 1}, {512, 1}};
    for (const auto& row : table) {
      CAPTURE(row[0]);
      CHECK(occupancy(arch, needs(row[0], 0, 64)).waves == 4 * row[1]);
    }
  }
}

TEST_CASE("RDNA: wave size, mode and granule") {
  // 1024 registers of 32 lanes; RDNA 1 has 20 places for waves, later ones 16.
  CHECK(occupancy("gfx1010", needs(48, 0, 32)).waves == 4 * 20);
  CHECK(occupancy("gfx1010", needs(49, 0, 32)).waves == 4 * 18);
  CHECK(occupancy("gfx1030", needs(64, 0, 32)).waves == 4 * 16);
  CHECK(occupancy("gfx1030", needs(65, 0, 32)).waves == 4 * 12);
  CHECK(occupancy("gfx1100", needs(96, 0, 32)).waves == 4 * 16);
  CHECK(occupancy("gfx1100", needs(97, 0, 32)).waves == 4 * 12);
  CHECK(occupancy("gfx1102", needs(97, 0, 32)).waves == 4 * 9);
  CHECK(occupancy("gfx1201", needs(240, 0, 32)).waves == 4 * 6);
  KernelNeeds wide = needs(64, 0, 64);
  wide.wave_size = 64;
  CHECK(occupancy("gfx1030", wide).waves == 4 * 8);
  wide.registers = 33;
  CHECK(occupancy("gfx1030", wide).waves == 4 * 12);
  wide.registers = 37;
  CHECK(occupancy("gfx1100", wide).waves == 4 * 16);
  // A group may use 64 KiB; the pair of compute units has 128, one alone 64.
  CHECK(groups("gfx1030", 32, 65536, 1024) == 2);
  KernelNeeds alone = needs(32, 65536, 1024);
  alone.cu_mode = true;
  const Occupancy cu = occupancy("gfx1030", alone);
  CHECK(cu.groups == 1);
  CHECK(cu.simds == 2);
  CHECK(cu.max_waves == 32);
  // Local memory comes in 1 KiB from RDNA 2 on, in 512 bytes before.
  CHECK(occupancy("gfx1030", needs(8, 1025, 64)).allocated_local == 2048);
  CHECK(occupancy("gfx1010", needs(8, 1025, 64)).allocated_local == 1536);
}

TEST_CASE("NVIDIA: Turing as in the blur article") {
  // At 64 registers 1 x 1024 and 2 x 512 both fill the multiprocessor: 32 warps.
  CHECK(occupancy("sm_75", needs(64, 0, 1024)).waves == 32);
  CHECK(occupancy("sm_75", needs(64, 0, 512)).waves == 32);
  CHECK(groups("sm_75", 64, 0, 512) == 2);
  CHECK(groups("sm_75", 32, 0, 32) == 16);  // not 32: that is the limit on warps
  CHECK(occupancy("sm_75", needs(32, 0, 32)).limiter == Limiter::groups);
  CHECK(groups("sm_75", 32, 32768, 64) == 2);
  CHECK(groups("sm_75", 65, 0, 1024) == 0);
}

TEST_CASE("NVIDIA: groups that were counted at once on an H200") {
  // bench/results/conventions.json, NVIDIA-groups; the driver adds 4 bytes of local memory.
  struct Seen {
    int registers, local, group, groups;
  };
  const Seen all[] = {
      {22, 4, 256, 8},     {31, 4, 256, 8},    {37, 4, 256, 6},    {44, 4, 256, 5},
      {56, 4, 256, 4},     {62, 4, 256, 4},    {76, 4, 256, 3},    {99, 4, 256, 2},
      {122, 4, 256, 2},    {128, 4, 256, 2},   {158, 4, 256, 1},   {190, 4, 256, 1},
      {222, 4, 256, 1},    {22, 4, 1024, 2},   {31, 4, 1024, 2},   {45, 4, 1024, 1},
      {62, 4, 1024, 1},    {22, 4096, 64, 32}, {22, 6144, 64, 32}, {22, 8192, 64, 24},
      {22, 16384, 64, 13}, {22, 24576, 64, 9}, {22, 32768, 64, 6}, {22, 49148, 64, 4}};
  for (const Seen& one : all) {
    CAPTURE(one.registers);
    CAPTURE(one.local);
    CHECK(groups("sm_90", one.registers, one.local + 4, one.group) == one.groups);
  }
}

TEST_CASE("NVIDIA: the driver's part of shared memory") {
  CHECK(groups("sm_90", 32, 0, 1024) == 2);
  CHECK(groups("sm_90", 32, 227 * 1024, 256) == 1);
  CHECK(groups("sm_90", 32, 113 * 1024, 256) == 2);  // 2 x (113 + 1) KiB
  CHECK(groups("sm_90", 32, 113 * 1024 + 1, 256) == 1);
  CHECK(occupancy("sm_90", needs(32, 1, 256)).allocated_local == 1152);
  CHECK(occupancy("sm_70", needs(32, 1, 256)).allocated_local == 256);
  CHECK(occupancy("sm_70", needs(32, 0, 256)).allocated_local == 0);
  CHECK(next("sm_90", needs(32, 113 * 1024 + 1, 256)) ==
        "1 byte of local memory less (115712): 2 groups instead of 1");
}

TEST_CASE("Intel: threads, register modes and sizes of local memory") {
  KernelNeeds one = needs(128, 0, 256);
  CHECK(occupancy("xe_hpg", one).waves == 128);  // 16 engines x 8 threads
  CHECK(occupancy("xe_hpg", one).groups == 8);   // of 16 threads of 16
  one.registers = 129;                           // the large mode: half as many
  CHECK(occupancy("xe_hpg", one).waves == 64);
  CHECK(occupancy("xe_hpg", one).occupancy() == 0.5);
  CHECK(occupancy("xe_lp", needs(128, 0, 112)).max_waves == 112);
  CHECK(occupancy("xe_hpc", needs(128, 0, 32)).waves == 64);
  CHECK(occupancy("xe_hpc", needs(256, 0, 32)).waves == 32);
  one = needs(128, 0, 256);
  one.wave_size = 8;
  CHECK(occupancy("xe_hpg", one).waves_per_group == 32);
  CHECK(occupancy("xe_hpg", needs(64, 33 * 1024, 16)).allocated_local == 64 * 1024);
  CHECK(occupancy("xe_hpc", needs(64, 33 * 1024, 32)).allocated_local == 48 * 1024);
  CHECK(groups("xe_hpg", 64, 33 * 1024, 16) == 2);
  CHECK(next("xe_hpg", needs(64, 33 * 1024, 16)) ==
        "1024 bytes of local memory less (32768): 4 groups instead of 2");
}

TEST_CASE("the next step") {
  CHECK(next("gfx900", needs(40, 32768, 1024)) == "8 registers fewer (32): 2 groups instead of 1");
  CHECK(next("gfx900", needs(34, 32768, 1024)) == "2 registers fewer (32): 2 groups instead of 1");
  CHECK(next("gfx900", needs(40, 40000, 1024)) ==
        "8 registers fewer (32) and 7232 bytes of local memory less (32768): 2 groups instead of "
        "1");
  CHECK(next("gfx900", needs(24, 0, 256)).empty());  // full
  const GpuArch& arch = gpu_arch("gfx900");
  // Full but for the group's size: 2.5 groups of 16 waves.
  const KernelNeeds large = needs(24, 0, 1024);
  CHECK_FALSE(next_step(arch, large).possible);
  const OccupancyStep smaller = smaller_group(arch, large);
  REQUIRE(smaller.possible);
  CHECK(smaller.needs.group_size == 832);  // 13 waves, three times
  CHECK(smaller.after.waves == 39);
  CHECK(describe(large, occupancy(arch, large), smaller) ==
        "192 work-items per group fewer (832): 3 groups instead of 2, 39 waves instead of 32");
  CHECK_FALSE(smaller_group(arch, needs(24, 0, 64)).possible);

  // Whatever the needs are: the step is real, and one register more than it says is too many.
  for (const GpuArch* one = gpu_archs_begin(); one != gpu_archs_end(); ++one) {
    for (int registers = 1; registers <= one->max_registers; registers += 13) {
      for (std::int64_t local = 0; local <= one->max_local; local += 13000) {
        for (const int group : {1, 64, 100, 256, 512}) {
          const KernelNeeds now = needs(registers, local, group);
          const Occupancy before = occupancy(*one, now);
          const OccupancyStep step = next_step(*one, now);
          CAPTURE(one->name);
          CAPTURE(registers);
          CAPTURE(local);
          CAPTURE(group);
          if (!step.possible) {
            KernelNeeds least = now;
            least.registers = 0;
            least.local_bytes = 0;
            REQUIRE(occupancy(*one, least).groups == before.groups);
            continue;
          }
          REQUIRE(step.after.groups > before.groups);
          if (step.needs.registers < registers) {
            KernelNeeds more = step.needs;
            ++more.registers;
            REQUIRE(occupancy(*one, more).groups <= before.groups);
          }
          if (step.needs.local_bytes < local) {
            KernelNeeds more = step.needs;
            ++more.local_bytes;
            REQUIRE(occupancy(*one, more).groups <= before.groups);
          }
        }
      }
    }
  }
}

TEST_CASE("never more than there is") {
  for (const GpuArch* arch = gpu_archs_begin(); arch != gpu_archs_end(); ++arch) {
    CAPTURE(arch->name);
    for (int registers = 0; registers <= arch->max_registers; ++registers) {
      for (int group = 1; group <= arch->max_group_size; group += 61) {
        const Occupancy got = occupancy(*arch, needs(registers, 3000, group));
        REQUIRE(got.waves <= got.max_waves);
        REQUIRE(got.groups * got.allocated_local <= arch->local_bytes);
        REQUIRE(got.waves * got.allocated_registers <= arch->simds * arch->registers_per_simd);
        REQUIRE(got.limited_by(got.limiter));
        REQUIRE(got.allocated_registers >= registers);
      }
    }
  }
}

TEST_CASE("bad input names limit and value") {
  const auto refused = [](std::string_view arch, const KernelNeeds& bad) {
    return refusal([&] { occupancy(arch, bad); });
  };
  CHECK(contains(refused("gfx000", needs(1, 0, 64)), "'gfx000'"));
  CHECK(contains(refused("gfx000", needs(1, 0, 64)), "gfx1030"));
  CHECK(contains(refused("", needs(1, 0, 64)), "known are"));
  CHECK(contains(refused("gfx900", needs(1, 0, 0)), "must be 1 to 1024, got 0"));
  CHECK(contains(refused("gfx900", needs(1, 0, -5)), "got -5"));
  CHECK(contains(refused("sm_90", needs(1, 0, 1025)), "must be 1 to 1024, got 1025"));
  CHECK(contains(refused("xe_lp", needs(1, 0, 513)), "must be 1 to 512, got 513"));
  CHECK(contains(refused("gfx900", needs(257, 0, 64)), "must be 0 to 256, got 257"));
  CHECK(contains(refused("gfx90a", needs(513, 0, 64)), "must be 0 to 512, got 513"));
  CHECK(contains(refused("sm_90", needs(256, 0, 64)), "must be 0 to 255, got 256"));
  CHECK(contains(refused("sm_90", needs(-1, 0, 64)), "got -1"));
  CHECK(contains(refused("gfx900", needs(1, 65537, 64)), "must be 0 to 65536, got 65537"));
  CHECK(contains(refused("gfx1030", needs(1, 65537, 64)), "must be 0 to 65536, got 65537"));
  CHECK(contains(refused("sm_75", needs(1, 65537, 64)), "got 65537"));
  CHECK(contains(refused("sm_90", needs(1, 227 * 1024 + 1, 64)), "must be 0 to 232448"));
  CHECK(contains(refused("sm_90", needs(1, -1, 64)), "got -1"));
  KernelNeeds bad = needs(1, 0, 64);
  bad.scalar_registers = 109;
  CHECK(contains(refused("gfx900", bad), "scalar registers on gfx900 must be 0 to 108, got 109"));
  bad.scalar_registers = 1;
  CHECK(contains(refused("sm_90", bad), "must be 0 to 0, got 1"));
  bad.scalar_registers = 0;
  bad.wave_size = 32;
  CHECK(contains(refused("gfx900", bad), "the wave size of gfx900 is 64, got 32"));
  bad.wave_size = 16;
  CHECK(contains(refused("gfx1030", bad), "is 32 or 64, got 16"));
  bad.wave_size = -1;
  CHECK(contains(refused("gfx1030", bad), "got -1"));
  bad.wave_size = 0;
  bad.cu_mode = true;
  CHECK(contains(refused("gfx900", bad), "no CU mode"));
  CHECK(contains(refused("sm_90", bad), "no CU mode"));
}

// Kernels that use a given number of registers and bytes, compiled by clang for AMD: its count of
// waves per SIMD against the model's. Three differences are known and allowed for here. clang looks
// at each resource alone and at no whole groups; it does not round local memory to the granule (the
// sizes here are whole granules); and its steps for scalar registers before RDNA are those of a
// granule of 8 that ends at 100.
LONG_TEST_CASE("waves per SIMD as clang prints them", 16) {
  std::string clang;
  for (const char* path : {"/usr/bin/clang-19", "/usr/local/bin/clang-19"}) {
    if (std::filesystem::exists(path)) clang = path;
  }
  if (clang.empty()) {
    MESSAGE("SKIPPED: there is no clang-19");
    return;
  }
  struct Variant {
    std::string name, needs;
    int group;
  };
  std::string source;
  std::vector<Variant> kernels;
  const auto add = [&](const std::string& reg, int count, int local, int group) {
    const std::string name = "k" + std::to_string(kernels.size());
    source += "__kernel __attribute__((reqd_work_group_size(" + std::to_string(group) +
              ", 1, 1))) void " + name + "(__global int* out) {\n";
    if (local > 0) {
      source += "  __local volatile char a[" + std::to_string(local) + "];\n  a[*out] = 1;\n";
    }
    if (count > 0) {
      source += "  __asm__ volatile(\"\" ::: \"" + reg + std::to_string(count - 1) + "\");\n";
    }
    source += "  *out = 1;\n}\n";
    kernels.push_back({name, reg + std::to_string(count) + ", " + std::to_string(local), group});
  };
  // Both sides of the steps: every granule is a multiple of 4.
  for (int registers = 24; registers <= 256; registers += registers < 96 ? 4 : 12) {
    add("v", registers, 0, 64);
    if (registers % 8 == 0) add("v", registers + 1 < 256 ? registers + 1 : 256, 0, 256);
  }
  for (int scalars = 70; scalars <= 96; scalars += 2) add("s", scalars, 0, 256);
  for (const int kib : {1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 17, 21, 22, 32, 33, 43, 64}) {
    for (const int group : {64, 256, 1024}) add("v", 16, kib * 1024, group);
  }
  const TempFolder folder;
  const std::string file = (folder / "k.cl").string();
  write_bytes(file, source);
  struct Target {
    std::string arch;
    std::vector<std::string> options;
    int wave;
    bool cu;
  };
  const Target targets[] = {
      {"gfx803", {}, 64, false},           {"gfx900", {}, 64, false},
      {"gfx908", {}, 64, false},           {"gfx90a", {}, 64, false},
      {"gfx942", {}, 64, false},           {"gfx1010", {}, 32, false},
      {"gfx1030", {"-mcumode"}, 32, true}, {"gfx1030", {"-mwavefrontsize64"}, 64, false},
      {"gfx1100", {}, 32, false},          {"gfx1100", {"-mcumode", "-mwavefrontsize64"}, 64, true},
      {"gfx1102", {}, 32, false},          {"gfx1150", {}, 32, false},
      {"gfx1201", {}, 32, false},
  };
  for (const Target& target : targets) {
    const std::string out = (folder / "k.s").string();
    std::vector<std::string> command = {clang,       "-x",      "cl",       "-cl-std=CL1.2",
                                        "-O1",       "-target", "amdgcn--", "-mcpu=" + target.arch,
                                        "-nogpulib", "-S",      file,       "-o",
                                        out};
    command.insert(command.end(), target.options.begin(), target.options.end());
    const Ran ran = run_program(command);
    CAPTURE(target.arch);
    CAPTURE(ran.err);
    REQUIRE(ran.code == 0);
    const std::string assembly = read_bytes(out);
    const GpuArch arch = configured(gpu_arch(target.arch), target.wave, target.cu);
    for (const Variant& kernel : kernels) {
      isa::Resources said;
      isa::read_amd_comments(assembly, kernel.name, said);
      CAPTURE(kernel.needs);
      CAPTURE(kernel.group);
      CAPTURE(said.registers);
      CAPTURE(said.scalar_registers);
      REQUIRE(said.occupancy > 0);
      REQUIRE(said.local_bytes >= 0);
      REQUIRE(waves_as_clang_counts(arch, target.arch.c_str(), said, kernel.group, target.wave,
                                    target.cu) == said.occupancy);
    }
  }
}

TEST_CASE(
    "every variant of every recipe: what clang said of its registers, in the committed results") {
  using Json = nlohmann::ordered_json;
  const Json result = Json::parse(read_bytes(CLCOOK_SOURCE_DIR "/bench/results/isa.json"));
  int compared = 0;
  std::set<std::string> recipes;
  for (const Json& kernel : result["kernels"]) {
    const std::string target = kernel["target"].get<std::string>();
    const Json& resources = kernel["resources"];
    if (target.rfind("gfx", 0) != 0 || !kernel["problem"].get<std::string>().empty()) continue;
    CAPTURE(target);
    CAPTURE(kernel["kernel"].get<std::string>());
    isa::Resources said;
    said.registers = resources["registers"].get<int>();
    said.scalar_registers = resources["scalar_registers"].get<int>();
    said.occupancy = resources["occupancy"].get<int>();
    said.local_bytes = resources["local_bytes"].get<long>();
    const GpuArch base = gpu_arch(target);
    const GpuArch arch = configured(base, base.wave_size, false);
    // The results do not hold the group that a kernel requires: one of these it is.
    bool agrees = false;
    std::string model;
    for (int group = 32; group <= 1024; group += 32) {
      const int waves =
          waves_as_clang_counts(arch, target.c_str(), said, group, base.wave_size, false);
      agrees = agrees || waves == said.occupancy;
      model += " " + std::to_string(waves);
    }
    CAPTURE(model);
    CAPTURE(said.occupancy);
    CHECK(agrees);
    ++compared;
    recipes.insert(kernel["recipe"].get<std::string>());
  }
  CHECK(compared >= 18);
  CHECK(!recipes.empty());
}
