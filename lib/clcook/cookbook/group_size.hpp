// The card of the recipe group_size.
//
// Problem: how many work-items a group should have. Why a wrong size is slow: a group takes its
// registers and local memory when it starts and gives them back when its last wave ends, and all of
// its waves wait at a barrier together. What each variant changes: see its summary. When it does
// not help: where work-items diverge little and memory is not the limit. A CPU runs the work-items
// of a group one after the other, so a small group only costs it more starts; it gains from
// work-items that do much work in vectors.
#pragma once

#include <algorithm>
#include <clcook/group_size.hpp>
#include <clcook/model/occupancy.hpp>
#include <clcook/reference/group_size.hpp>
#include <clcook/registry/in_parallel.hpp>
#include <clcook/registry/plan_case.hpp>
#include <clcook/registry/random.hpp>
#include <clcook/registry/recipe.hpp>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace clcook::cookbook {
namespace group_size_card {

namespace ref = reference::group_size;

// A shape; recipe.parameters names its values. Sources start one element later than results.
// occupancy is the percentage of the places for waves on an sm_90 to which the resident groups are
// limited by local memory that nobody uses.
struct Shape {
  GroupSize::Problem problem;
  std::size_t offset = 0;
  int group = 0;  // 0: the tuning's
  double occupancy = 0;
};

inline Shape read(const Params& shape) {
  Shape out;
  GroupSize::Problem& p = out.problem;
  p.work = group_size::parse_work(shape.word("work"));
  if (p.work == GroupSize::Work::divergent_loop) {
    p.width = shape.as<int>("width");
    p.height = shape.as<int>("height");
    p.spheres = shape.as<int>("spheres");
  } else {
    p.count = shape.as<std::size_t>("count");
    p.factor = 1.75f;
    p.summand = -0.3f;
    p.together = shape.integer("together") != 0;
  }
  p.max_steps = shape.as<int>("steps");
  out.offset = shape.as<std::size_t>("offset");
  out.group = shape.as<int>("group");
  out.occupancy = shape.real("occupancy", 0);
  return out;
}

// The least local memory, besides `own` bytes, with which no more groups of that size are resident
// on the architecture than make up that occupancy; at least one group.
inline std::size_t padding_for(const model::GpuArch& arch, double percent, std::size_t group,
                               std::size_t own) {
  model::KernelNeeds needs;
  needs.group_size = static_cast<int>(group);
  needs.local_bytes = static_cast<std::int64_t>(own);
  const model::Occupancy free = model::occupancy(arch, needs);
  const int wanted =
      std::max(1, static_cast<int>(percent / 100 * free.max_waves / free.waves_per_group + 1e-9));
  while (needs.local_bytes + 128 <= arch.max_local &&
         model::occupancy(arch, needs).groups > wanted) {
    needs.local_bytes += 128;
  }
  return static_cast<std::size_t>(needs.local_bytes) - own;
}

inline GroupSize::Problem problem(const Params& shape) { return read(shape).problem; }

// What a variant runs with: the tuning, changed by what the shape says.
inline GroupSize::Tune tune_of(const GroupSize::Row& row, const Params& tune,
                               const Params& params) {
  const Shape shape = read(params);
  GroupSize::Tune out = GroupSize::Posed::parse_tune(tune);
  if (shape.group != 0) out.group = shape.group;
  if (shape.occupancy > 0) {
    const model::GpuArch& arch = model::gpu_arch("sm_90");
    out = GroupSize::Posed(shape.problem).closed(row, GroupSize::Posed::format_tune(out), {});
    if (out.group > arch.max_group_size) {
      unsupported(
          Lacks::work_group, "group_size",
          text("occupancy is for groups of 1 to ", arch.max_group_size, ", got ", out.group));
    }
    out.local_padding =
        static_cast<int>(padding_for(arch, shape.occupancy, static_cast<std::size_t>(out.group),
                                     GroupSize::Spec::local_bytes(row, shape.problem.work)));
  }
  return out;
}

// With the kernels of all works, whatever the problem's.
class AllWorks : public GroupSize::Posed {
 public:
  using ProblemOf::ProblemOf;

  std::vector<CompileUnit> units(const VariantInfo& variant, const Params& tune,
                                 const DeviceInfo& device) const override {
    std::vector<CompileUnit> out;
    for (const auto& work : clcook::group_size::kWorks) {
      if (!GroupSize::Spec::does(static_cast<const Row&>(variant), work.value)) continue;
      GroupSize::Problem any{work.value, 1};
      any.width = any.height = 1;
      out.push_back(ProblemOf(any).units(variant, tune, device).front());
    }
    return out;
  }
};

// Spheres of all sizes over and in the plane.
inline std::vector<ref::Sphere> scene(int count, std::uint64_t seed) {
  Random random(seed);
  std::vector<ref::Sphere> out;
  for (int k = 0; k < count; ++k) {
    ref::Sphere one{};
    one.radius = random.uniform(0.2f, 1.5f);
    one.x = random.uniform(-6.0f, 6.0f);
    one.y = random.uniform(0.0f, 2.5f);
    one.z = random.uniform(-4.0f, 8.0f);
    out.push_back(one);
  }
  return out;
}

class GroupSizeCase : public PlanCase<GroupSize> {
 public:
  GroupSizeCase(const Runtime& runtime, const Params& params, std::uint64_t seed)
      : PlanCase(runtime, problem(params)) {
    const GroupSize::Problem& p = problem_;
    const std::size_t offset = read(params).offset;
    if (traces()) {
      spheres_ = scene(p.spheres, seed);
      count_ = static_cast<std::size_t>(p.width) * static_cast<std::size_t>(p.height);
    } else {
      count_ = p.count;
      Random random(seed);
      if (p.work == GroupSize::Work::streaming) {
        floats_.resize(count_);
        for (float& value : floats_) value = random.uniform(-1.0f, 1.0f);
      } else {
        integers_.resize(count_);
        for (std::uint32_t& value : integers_) value = random.bits32();
      }
    }
    const std::size_t in = traces() ? sizeof(ref::Sphere) : 4;
    const std::size_t out = traces() ? sizeof(GroupSize::Hit) : 4;
    const std::size_t sources =
        traces() ? static_cast<std::size_t>(std::max(1, p.spheres)) : count_;
    // 0xFF in the poison makes every float a NaN.
    src_.emplace(runtime, sources * in, 1, (offset == 0 ? 0 : offset + 1) * in, 0,
                 static_cast<unsigned char>(0xFF));
    dst_.emplace(runtime, count_ * out, 1, offset * out, 0, static_cast<unsigned char>(0xCD));
  }

  // Everything is exact: integers, one fma, and sphere tracing by operations rounded to nearest.
  Diff check(const std::vector<cl::Event>& wait) override {
    Diff diff;
    const auto words = dst_->read_as<std::uint32_t>(wait, diff, "dst");
    expect();
    for (std::size_t i = 0; i < expected_.size(); ++i) {
      const std::uint32_t got = words[i];
      if (!integers_.empty() || (traces() && i % 2 == 1)) {
        diff.match(i, expected_[i], got);
        continue;
      }
      float value = 0;
      float wanted = 0;
      std::memcpy(&value, &got, sizeof value);
      std::memcpy(&wanted, &expected_[i], sizeof wanted);
      diff.compare(i, static_cast<double>(wanted), static_cast<double>(value), 0);
    }
    return diff;
  }

  Work work() const override {
    const double count = static_cast<double>(count_);
    Work work;
    if (traces()) {
      // The operations depend on the steps, and those on the scene.
      work.bytes_read = 16.0 * static_cast<double>(spheres_.size());
      work.bytes_written = 8 * count;
      return work;
    }
    work.bytes_read = 4 * count;
    work.bytes_written = 4 * count;
    // A slow item and 15 others; 4 operations a trip.
    const double trips = (1.0 + 15.0 / 16) / 16 * problem_.max_steps;
    work.operations = count * (problem_.work == GroupSize::Work::streaming   ? 2
                               : problem_.work == GroupSize::Work::slow_wave ? 4 * trips
                                                                             : 10);
    return work;
  }

 private:
  const void* input() override {
    static const ref::Sphere kNone{};
    if (!floats_.empty()) return floats_.data();
    if (!integers_.empty()) return integers_.data();
    return spheres_.empty() ? &kNone : spheres_.data();
  }
  bool traces() const { return problem_.work == GroupSize::Work::divergent_loop; }

  // The reference, once per case, as the 32-bit words of the result.
  void expect() {
    if (!expected_.empty()) return;
    const GroupSize::Problem& p = problem_;
    if (p.work == GroupSize::Work::barriers) {
      expected_ = ref::prefix_sums(integers_);
      return;
    }
    expected_.resize(traces() ? 2 * count_ : count_);
    const auto some = [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        float value = 0;
        if (traces()) {
          const ref::Hit hit = ref::trace(spheres_, static_cast<std::uint32_t>(p.width),
                                          static_cast<std::uint32_t>(p.height),
                                          static_cast<std::uint32_t>(i), p.max_steps);
          value = hit.distance;
          expected_[2 * i + 1] = static_cast<std::uint32_t>(hit.steps);
        } else if (p.work == GroupSize::Work::slow_wave) {
          expected_[i] = ref::slow(integers_[i], i, count_, static_cast<std::uint32_t>(p.max_steps),
                                   p.together);
          continue;
        } else {
          value = ref::line(p.factor, floats_[i], p.summand);
        }
        std::memcpy(&expected_[traces() ? 2 * i : i], &value, sizeof value);
      }
    };
    in_parallel(count_, 65536, some);
  }

  std::size_t count_ = 0;
  std::vector<float> floats_;
  std::vector<std::uint32_t> integers_;
  std::vector<ref::Sphere> spheres_;
  std::vector<std::uint32_t> expected_;
};

inline Params values(const char* work, std::int64_t count, std::int64_t offset = 0,
                     bool tiny = false) {
  Params out{{"work", std::string(work)}, {"count", count}};
  if (offset != 0) out.set("offset", offset);
  if (tiny) out.set("tiny", std::int64_t{1});
  return out;
}

inline Params picture(std::int64_t width, std::int64_t height, std::int64_t spheres,
                      std::int64_t offset = 0, bool tiny = false) {
  Params out{{"work", std::string("divergent_loop")},
             {"width", width},
             {"height", height},
             {"spheres", spheres}};
  if (offset != 0) out.set("offset", offset);
  if (tiny) out.set("tiny", std::int64_t{1});
  return out;
}

}  // namespace group_size_card

inline Recipe group_size() {
  using group_size_card::picture;
  using group_size_card::values;
  Recipe recipe;
  recipe.title = "The size of a work-group";
  recipe.question = "How many work-items in a work-group?";
  recipe.family = "occupancy";
  recipe.summary =
      "Streaming, a prefix sum full of barriers, and sphere tracing, whose loop differs from item "
      "to "
      "item, with 32 to 1024 work-items per group and fewer or more resident groups.";
  recipe.parameters = {
      Parameter::word("work", "what an item does",
                      {"streaming", "barriers", "divergent_loop", "slow_wave"}, "streaming"),
      Parameter::integer("count", "elements of streaming, barriers and slow_wave", 1, 0x1p40,
                         "none, for divergent_loop"),
      Parameter::integer("width", "pixels of divergent_loop", 1, group_size::kMaxSide,
                         "none, for the others"),
      Parameter::integer("height", "pixels of divergent_loop", 1, group_size::kMaxSide,
                         "none, for the others"),
      Parameter::integer("spheres", "in the picture of divergent_loop", 0, group_size::kMaxSpheres,
                         "8"),
      Parameter::integer("steps", "most steps of a ray, or trips of a slow item of slow_wave", 1,
                         group_size::kMaxSteps, "256"),
      Parameter::integer("together", "1: the slow items of slow_wave in front of all others", 0, 1,
                         "0"),
      Parameter::integer("offset", "elements before the first of the result", 0, 1 << 20, "0"),
      Parameter::integer("group", "work-items per group; 0: the tuning's", 0, 1 << 20, "0"),
      Parameter::real("occupancy", "of an sm_90, held down by unused local memory, %", 0, 100,
                      "not held down"),
  };
  describe<GroupSize, group_size_card::GroupSizeCase, group_size_card::AllWorks>(
      recipe, group_size_card::problem, group_size_card::tune_of);
  recipe.test_shapes = {
      values("streaming", 1, 0, true),
      // The last quad has one value, two, or all.
      values("barriers", 5, 0, true),
      values("barriers", 6, 0, true),
      values("barriers", 8, 0, true),
      picture(1, 1, 3, 0, true),
      values("streaming", 300, 5, true),
      values("barriers", 2051, 3, true),
      picture(13, 23, 5, 2, true),
      values("streaming", 255),
      values("streaming", 256),
      values("streaming", 257, 1),
      values("streaming", 100003, 7),
      // Past the cache, with runs that begin within a line.
      values("streaming", (1 << 20) + 37, 5),
      values("streaming", 1 << 20),
      values("barriers", 1),
      values("barriers", 1023),
      values("barriers", 1024, 2),
      values("barriers", 1025),
      values("barriers", 50021, 1),
      // The result, or the source, begins at a multiple of four values.
      values("barriers", 3074, 4),
      values("barriers", 4095),
      picture(64, 1, 1),
      picture(13, 23, 1, 2),
      picture(1, 65, 0, 1),
      picture(127, 61, group_size::kMaxSpheres, 3),
      picture(41, 29, 7).set("steps", std::int64_t{5}),
      values("slow_wave", 1100, 3, true).set("steps", std::int64_t{40}),
      values("slow_wave", 4099, 1).set("steps", std::int64_t{33}).set("together", std::int64_t{1}),
      // The slow ones, and all, end with the 63rd of 64 that cpu_runs would take together.
      values("slow_wave", 5119).set("steps", std::int64_t{33}).set("together", std::int64_t{1}),
      values("barriers", 5000).set("occupancy", std::int64_t{25}),
      values("barriers", 5000).set("occupancy", std::int64_t{50}).set("group", std::int64_t{1024}),
  };
  recipe.bench_shapes = {
      picture(3840, 2160, 8),
      values("streaming", 8192 * 8192),
      values("barriers", std::int64_t{1} << 26),
      values("slow_wave", std::int64_t{1} << 24).set("steps", std::int64_t{1024}),
      values("slow_wave", std::int64_t{1} << 24)
          .set("steps", std::int64_t{1024})
          .set("together", std::int64_t{1}),
  };
  recipe.quick_shape = picture(160, 90, 8);
  Sweep sizes;
  sizes.shape = {{"count", std::int64_t{1} << 26},
                 {"width", std::int64_t{3840}},
                 {"height", std::int64_t{2160}}};
  sizes.families = {{"work", {}}};
  for (const char* work : {"streaming", "barriers", "divergent_loop"})
    sizes.families[0].values.emplace_back(std::string(work));
  sizes.smoke = {
      {"count", std::int64_t{4096}}, {"width", std::int64_t{64}}, {"height", std::int64_t{48}}};
  Sweep resident = sizes;
  sizes.along.name = "group";
  sizes.label = "work-items per group";
  for (const std::int64_t size : {32, 64, 128, 256, 512, 1024})
    sizes.along.values.emplace_back(size);
  resident.shape.set("group", std::int64_t{64});
  resident.along.name = "occupancy";
  resident.label = "modelled occupancy of sm_90 at 64 items per group, limited by local memory, %";
  for (const double percent : {12.5, 25.0, 37.5, 50.0, 62.5, 75.0, 100.0})
    resident.along.values.emplace_back(percent);
  // One and two groups of 1024 items in a unit.
  Sweep large = resident;
  large.families = {{"work", {std::string("barriers")}}};
  large.shape.set("group", std::int64_t{1024});
  large.label = "modelled occupancy of sm_90 at 1024 items per group, limited by local memory, %";
  large.along.values = {50.0, 100.0};
  // A slow wave in each 1024 items, or all slow waves together.
  Sweep slow = sizes;
  slow.shape = {{"work", std::string("slow_wave")},
                {"count", std::int64_t{1} << 24},
                {"steps", std::int64_t{1024}}};
  slow.smoke = {{"count", std::int64_t{4096}}};
  slow.families = {{"together", {std::int64_t{0}, std::int64_t{1}}}};
  recipe.sweeps = {std::move(sizes), std::move(resident), std::move(large), std::move(slow)};
  recipe.shows = {
      {1,
       "sweep along group, streaming",
       {Experiment::sweep("direct@32", "direct@256", "work=streaming along=group",
                          "streaming, one element per work-item, groups of 32 to groups of 256")}},
      {2,
       "sweep along group, divergent_loop",
       {Experiment::sweep("direct@256", "direct@32", "work=divergent_loop along=group",
                          "sphere tracing, groups of 256 to groups of 32")}},
      {3,
       "variant single_wave beside direct at 32 items",
       {Experiment::sweep("direct@32", "single_wave@32", "work=barriers along=group",
                          "groups of 32, the group's barrier to that of a wave")}},
      {4,
       "sweep along group: streaming shares nothing, barriers shares a segment",
       {Experiment::sweep("direct@1024", "direct@256", "work=streaming along=group",
                          "streaming, which shares nothing, groups of 1024 to groups of 256")}},
      {5,
       "static_local: one group of 1024 items per unit against two, sweep along occupancy",
       {Experiment::sweep("static_local@50", "static_local@100",
                          "work=barriers along=occupancy group=1024",
                          "prefix sums, one group of 1024 per unit to two")}},
      {8,
       "sweep along group, barriers: 2 x 1024, 4 x 512, 8 x 256, 16 x 128 resident items",
       {Experiment::sweep("direct@1024", "direct@128", "work=barriers along=group",
                          "prefix sums, as many waves resident, groups of 1024 to groups of 128")}},
      {9,
       "sweep along group, slow_wave: a slow wave in each 1024 items, or all of them together",
       {Experiment::shapes("direct", "work=slow_wave together=1", "work=slow_wave",
                           "slow work-items in each 1024 to all of them together")}},
      {25,
       "variant local_table",
       {Experiment::baseline("direct", "local_table", "work=divergent_loop")}},
      {27,
       "sweep along occupancy",
       {Experiment::sweep("grid_stride@12.5", "grid_stride@100",
                          "work=streaming along=occupancy group=64",
                          "streaming, an eighth of the waves to all")}},
  };
  return recipe;
}

}  // namespace clcook::cookbook
