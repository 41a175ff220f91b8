// The card of the recipe regroup.
//
// Problem: an expensive function with many paths of unequal length, one for each item: the shading of
// a G-buffer with up to 32 materials. Why branchy is slow: work-items in lock-step run the paths of
// all of them, one after the other, each with most of them idle. What each variant changes: see its
// summary. When it does not help: where neighbours agree already; where the paths are so short, or so
// few, that sorting costs more than it saves; where a device does not run work-items in lock-step.
// CPUs gain from vectors, whose lanes are such work-items again: cpu_lanes.
#pragma once

#include <algorithm>
#include <array>
#include <clcook/reference/regroup.hpp>
#include <clcook/registry/guarded_buffer.hpp>
#include <clcook/registry/in_parallel.hpp>
#include <clcook/registry/plan_case.hpp>
#include <clcook/registry/random.hpp>
#include <clcook/registry/recipe.hpp>
#include <clcook/regroup.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace clcook::cookbook {
namespace regroup_card {

// A shape; recipe.parameters names its values. Items start one element later than keys, results two,
// so that an exchange of offsets shows.
struct Shape {
  Regroup::Problem problem;
  double random;
  std::size_t run;
  double stray;
  std::size_t offset;
  int group;     // 0: the tuning's
  int per_item;  // of what sorts in groups; 0: the tuning's
};

inline Shape read(const Params& shape) {
  Shape out{};
  out.problem.items = shape.as<std::size_t>("items");
  out.problem.paths = shape.as<int>("paths");
  out.problem.key_bytes = shape.as<int>("key_bytes");
  out.random = shape.real("random");
  out.run = shape.as<std::size_t>("run");
  out.stray = shape.real("stray");
  out.offset = shape.as<std::size_t>("offset");
  out.group = shape.as<int>("group");
  out.per_item = shape.as<int>("per_item");
  return out;
}

// What a variant runs with: the tuning, or what the shape says.
inline Regroup::Tune tune_of(const Regroup::Row& row, const Params& tune, const Params& shape) {
  Regroup::Tune out = Regroup::Posed::parse_tune(tune);
  const Shape own = read(shape);
  if (own.group != 0 && !row.is_for_cpus) out.group = own.group;
  if (own.per_item != 0 && row.traits.sorts) out.per_item = own.per_item;
  return out;
}

// The keys. Runs of `run` items have one path; of the items, `random` percent have a path of their
// own, each path as likely as the others, and `stray` percent none: a key that is not below `paths`.
inline std::vector<std::uint32_t> keys(const Shape& shape, std::uint64_t seed) {
  Random random(seed ^ 0xB145ULL);
  const auto paths = static_cast<std::uint32_t>(shape.problem.paths);
  const auto any = [&] { return static_cast<std::uint32_t>(random.below(paths)); };
  const auto hits = [&](double percent) {
    return percent > 0 && static_cast<double>(random.below(1 << 20)) < percent / 100 * (1 << 20);
  };
  std::vector<std::uint32_t> out(shape.problem.items);
  std::uint32_t path = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (i % shape.run == 0) path = any();
    out[i] = hits(shape.random) ? any() : path;
    if (!hits(shape.stray)) continue;
    // The first one that is too large, the largest byte, and what only a uint holds: bytes of them
    // are paths.
    const std::uint64_t which = random.below(shape.problem.key_bytes == 4 ? 4 : 2);
    out[i] = which == 0 ? paths : which == 1 ? 255 : which == 2 ? 256 + path : 0xFFFFFF00u | path;
  }
  return out;
}

// How far a pattern may lie from the exact one: the octaves' steps in their order, each with the
// largest error that it inherits and the one that it adds. u = 2^-24 is the relative error of a
// rounding. Products of errors are left out; the factor at the end of bound() covers them.
//
// The noise: fractions of 12 bits, their squares and 3 - 2 t are exact, so that a smooth step has one
// rounding, u. Corners have 24 bits and lie in 0 to 1, so that their difference is exact; top and
// bottom have u from the smooth step and u of their own. Between them lie their errors, 2 u, the
// other smooth step's, u, that of the difference, u, and the last rounding, u: 5 u.
inline double pattern_bound(int material) {
  namespace ref = reference::regroup;
  constexpr double u = 0x1p-24;
  constexpr double n = 5 * u;
  double error = 0;
  double amplitude = 0.5;
  for (int octave = 0; octave < ref::kOctaves.at(static_cast<std::size_t>(material)); ++octave) {
    // What is added, without its amplitude: 0 to 1. Then a fused sum below 1, u.
    double added = 0;
    switch (ref::formula_of(material)) {
      case ref::Formula::clouds:
      case ref::Formula::cells:  // the smaller of two is no further off than the worse
        added = n;
        break;
      case ref::Formula::marble:  // 2 n - 1 is one operation
      case ref::Formula::weave:   // so is n - m, with two errors
        added = 2 * n + u;
        break;
      case ref::Formula::ridges:  // as marble, a subtraction, and twice in a product
        added = 2 * (2 * n + u + u) + u;
        break;
      case ref::Formula::wood:  // 4 n and the distance to the nearest whole number are exact
        added = 4 * n;
        break;
      case ref::Formula::rust:   // the other value, n / 2, is not as far off as the sum
      case ref::Formula::water:  // a product
        added = 2 * n + u;
        break;
    }
    error += amplitude * added + u;
    if (ref::formula_of(material) == ref::Formula::rust) error = std::max(error, n / 2);
    amplitude /= 2;
  }
  return error;
}

// How far a channel of a colour may lie from the exact one.
inline double bound(int material, const Regroup::Problem& p) {
  constexpr double u = 0x1p-24;
  // Components of the normal are at most 1, exact. Three products and two sums, in three roundings
  // of at most the sum of all.
  double most = 0;
  for (int i = 0; i < 3; ++i) most += std::abs(static_cast<double>(p.parameters[i]));
  const double brightness = std::abs(static_cast<double>(p.parameters[3]));
  const double light = most * brightness + 1;
  const double light_error = 3 * u * most * brightness + u * light;
  // A pattern is below 1: its product with the light, and that with the albedo.
  const double strength = pattern_bound(material) * light + light_error + u * light;
  return (strength + u * light) * (1 + 0x1p-8) + 0x1p-140;
}

// Operations of an item with this path: a value of the noise has about 56, an octave 6 around it;
// 40 for the light and the colour.
inline double cost(int path) {
  namespace ref = reference::regroup;
  return ref::kOctaves.at(static_cast<std::size_t>(path)) *
             (56.0 * ref::values_per_octave(path) + 6) +
         40;
}

class RegroupCase : public PlanCase<Regroup> {
 public:
  static constexpr unsigned char kPoison = 0xCD;

  RegroupCase(const Runtime& runtime, const Params& params, std::uint64_t seed)
      : PlanCase(runtime, read(params).problem), shape_(read(params)), keys_(keys(shape_, seed)) {
    const std::size_t items = problem_.items;
    const auto key = static_cast<std::size_t>(problem_.key_bytes);
    const std::size_t first = shape_.offset;
    const auto skip = [&](std::size_t more) { return first == 0 ? 0 : first + more; };
    // Keys around the buffer are paths.
    keys_buffer_.emplace(runtime, items * key, 1, skip(0) * key, 0, static_cast<unsigned char>(0));
    src_.emplace(runtime, items * 16, 1, skip(1) * 16, 0, static_cast<unsigned char>(0x5A));
    dst_.emplace(runtime, items * 16, 1, skip(2) * 16, 0, kPoison);
    stored_keys_.resize(items * key);
    for (std::size_t i = 0; i < items; ++i) {
      // Little-endian, as devices are.
      for (std::size_t b = 0; b < key; ++b)
        stored_keys_[i * key + b] = static_cast<unsigned char>(keys_[i] >> 8 * b & 0xFFu);
    }
    Random random(seed);
    const auto range = [&](int low, int high) {
      return low + static_cast<int>(random.below(static_cast<std::uint64_t>(high - low + 1)));
    };
    texels_.resize(items);
    words_.reserve(items * 4);
    for (auto& t : texels_) {
      t.normal = {range(-128, 127), range(-128, 127), range(-128, 127)};
      t.ambient = range(0, 255);
      t.albedo = {range(0, 255), range(0, 255), range(0, 255)};
      const std::uint32_t place = random.bits32();
      t.u = place & 0xFFFFu;
      t.v = place >> 16;
      t.seed = random.bits32();
      for (const std::uint32_t word : reference::regroup::pack(t)) words_.push_back(word);
      words_[words_.size() - 3] |= place & 0xFF000000u;  // the byte that nobody reads
    }
  }

  cl::Event upload(const std::vector<cl::Event>& wait) override {
    return src_->upload(words_.data(), {keys_buffer_->upload(stored_keys_.data(), wait)});
  }

  std::vector<Operand> operands() override {
    return {{"keys", &*keys_buffer_, Access::read},
            {"items", &*src_, Access::read},
            {"results", &*dst_, Access::write}};
  }

  cl::Event call(const std::vector<BufferView>& views,
                 const std::vector<cl::Event>& wait) override {
    return plan()(views[0], views[1], views[2], wait);
  }

  // Results of items without a path still hold the poison.
  Diff check(const std::vector<cl::Event>& wait) override {
    Diff diff;
    const auto got = dst_->read_as<std::uint32_t>(wait, diff, "results");
    expect();
    std::uint32_t untouched = 0;
    std::memset(&untouched, kPoison, sizeof untouched);
    std::vector<double> bounds;
    for (int path = 0; path < problem_.paths; ++path) bounds.push_back(bound(path, problem_));
    compare_in_parallel(diff, problem_.items, [&](Diff& part, std::size_t i) {
      const bool shaded = keys_[i] < bounds.size();
      for (std::size_t c = 0; c < 4; ++c) {
        const std::uint32_t bits = got[4 * i + c];
        const auto where = [&] { return text("item ", i, " path ", keys_[i], " channel ", c); };
        if (!shaded) {
          part.match(where(), untouched, bits);
          continue;
        }
        float value = 0;
        std::memcpy(&value, &bits, sizeof value);
        part.compare(4 * i + c, c == 3 ? 1.0 : expected_[3 * i + c], static_cast<double>(value),
                     c == 3 ? 0.0 : bounds[keys_[i]]);
      }
    });
    return diff;
  }

  // As much as the paths need, in every variant.
  Work work() const override {
    Work work = plan().offer().work;
    for (const std::uint32_t key : keys_) {
      if (key < static_cast<std::uint32_t>(problem_.paths))
        work.operations += cost(static_cast<int>(key));
    }
    return work;
  }

 protected:
 private:
  // The reference of all items, once per case.
  void expect() {
    if (!expected_.empty()) return;
    expected_.resize(3 * problem_.items);
    std::array<double, 4> light{};
    for (std::size_t c = 0; c < 4; ++c) light[c] = static_cast<double>(problem_.parameters[c]);
    const auto some = [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        if (keys_[i] >= static_cast<std::uint32_t>(problem_.paths)) continue;
        const auto colour =
            reference::regroup::shade(static_cast<int>(keys_[i]), texels_[i], light);
        std::copy(colour.begin(), colour.end(),
                  expected_.begin() + static_cast<std::ptrdiff_t>(3 * i));
      }
    };
    in_parallel(problem_.items, 4096, some);
  }

  Shape shape_;
  std::vector<std::uint32_t> keys_;
  std::vector<unsigned char> stored_keys_;
  std::vector<reference::regroup::Texel> texels_;
  std::vector<std::uint32_t> words_;  // as they are stored
  std::optional<GuardedBuffer> keys_buffer_;
  std::vector<double> expected_;  // three per item
};

// The segments: the paths, and what every item costs on top of them: an item of a sort in local
// memory is counted and placed, about 16 operations, and its share of adding up the counters of a
// work-item, 6 operations a path. A list of all items takes two such sorts, of 16 for a work-item.
inline model::LaneMasks lanes(const std::string& variant, const Params& params,
                              std::uint64_t seed) {
  const Shape shape = read(params);
  const std::vector<std::uint32_t> all = keys(shape, seed);
  const Regroup::Row& row = *Regroup::Variant(variant).row();
  const auto& traits = row.traits;
  const auto paths = static_cast<std::uint32_t>(shape.problem.paths);
  Regroup::Tune tune{128, clcook::regroup::listing::kItems};
  if (traits.sorts) {  // where there are many
    DeviceInfo gpu;
    gpu.gpu = true;
    tune = Regroup::Spec::sorting(shape.problem, gpu);
  }
  const double sort = 16 + 6.0 * paths / tune.per_item;
  const bool sorts = traits.sorts || row.is_for_cpus;
  model::LaneMasks out;
  for (std::uint32_t path = 0; path < paths; ++path)
    out.cost.push_back(cost(static_cast<int>(path)));
  out.cost.push_back(traits.lists ? 2 * sort : sorts ? sort : 0);
  const std::uint64_t common = std::uint64_t{1} << paths;
  const auto add = [&](std::uint32_t key) {
    const std::uint64_t own = key < paths ? std::uint64_t{1} << key : 0;
    out.taken.push_back((traits.free ? common - 1 : own) | common);
  };
  if (!sorts && !traits.lists) {
    for (const std::uint32_t key : all) add(key);
    return out;
  }
  // The keys of each window in order; where groups take one path, each path is whole groups.
  const auto group = static_cast<std::size_t>(tune.group);
  const std::size_t window =
      traits.lists ? all.size() : group * static_cast<std::size_t>(tune.per_item);
  for (std::size_t first = 0; first < all.size(); first += window) {
    std::vector<std::size_t> counts(paths);
    for (std::size_t i = first; i < std::min(all.size(), first + window); ++i) {
      if (all[i] < paths) ++counts[all[i]];
    }
    for (std::uint32_t path = 0; path < paths; ++path) {
      for (std::size_t i = 0; i < counts[path]; ++i) add(path);
      while (traits.stays && out.taken.size() % group != 0) out.taken.push_back(0);
    }
  }
  return out;
}

}  // namespace regroup_card

inline Recipe regroup() {
  Recipe recipe;
  recipe.title = "Regroup divergent work";
  recipe.question = "Sort work by path first?";
  recipe.for_gpus = "sorted_groups";
  recipe.for_cpus = "cpu_lanes";
  recipe.family = "branch divergence";
  recipe.headline_pair = {"sorted_groups", "branchy"};
  recipe.summary =
      "A G-buffer shaded with up to 32 materials of unequal cost: a branch, all paths, items "
      "sorted "
      "by path in groups or as a whole, a launch or a queue for each path.";
  recipe.parameters = {
      Parameter::integer("items", "texels", 1, static_cast<double>(clcook::regroup::kMaxItems)),
      Parameter::integer("paths", "materials", clcook::regroup::kMinPaths,
                         clcook::regroup::kMaxPaths),
      Parameter::real("random", "items with a random path, %; the others come in runs", 0, 100,
                      "0"),
      Parameter::integer("run", "length of the runs of one path", 1, 1 << 20, "256"),
      Parameter::real("stray", "items whose key is no path, %", 0, 100, "0"),
      Parameter::integer("key_bytes", "1: a key is a byte; 4: a uint", 1, 4, "1"),
      Parameter::integer("offset", "keys before the first", 0, 1 << 20, "0"),
      Parameter::integer("group", "work-items of a group; 0: the tuning's", 0, 256, "0"),
      Parameter::integer("per_item", "items that one of sorted_groups sorts; 0: the tuning's", 0,
                         16, "0"),
  };
  describe<Regroup, regroup_card::RegroupCase>(
      recipe, [](const Params& shape) { return regroup_card::read(shape).problem; },
      regroup_card::tune_of);
  // Few numbers of paths: each is a program, and of launch_per_path one for each path.
  recipe.test_shapes = parse_all({
      "items=1 paths=2 tiny=1",
      "items=67 paths=5 random=100 stray=10 offset=3 tiny=1",
      "items=1100 paths=5 random=50 run=8 offset=16 tiny=1",
      "items=131 paths=32 random=100 key_bytes=4 stray=20 offset=1",
      "items=1023 paths=8 random=100 offset=1",
      "items=1025 paths=2 random=100 stray=100",
      "items=2048 paths=8 run=1",
      "items=4097 paths=5 random=100 stray=5 offset=5",
      "items=20011 paths=32 random=100 stray=1 offset=2",
      // Of sorted_groups, fewer items for each.
      "items=4099 paths=8 random=100 stray=5 offset=1 per_item=2",
      "items=1031 paths=32 random=100 key_bytes=4 stray=5 per_item=4",
      "items=3001 paths=5 random=50 run=32 per_item=8",
      "items=70001 paths=32 random=10 run=512",
      "items=100003 paths=8 random=100 key_bytes=4 stray=30 offset=7",
      // The scan takes three turns: 587 groups, 256 in a turn.
      "items=300007 paths=2 random=50 run=64 group=32",
  });
  recipe.bench_shapes = parse_all({
      "items=4194304 paths=8 random=100",
      "items=4194304 paths=32 random=100",
      "items=4194304 paths=32 random=10",
      "items=4194304 paths=32 random=0",
      "items=4194304 paths=2 random=100",
  });
  recipe.quick_shape = Params::parse("items=65536 paths=8 random=100");
  // A figure for each number of paths: the lines of one are the variants.
  for (const std::int64_t paths : {8, 2, 32}) {
    Sweep sweep;
    sweep.shape = Params::parse("items=4194304").set("paths", paths);
    sweep.smoke = Params::parse("items=8192");
    sweep.label = text("items with a random path of ", paths, ", %");
    sweep.along.name = "random";
    for (const std::int64_t random : {0, 1, 2, 5, 10, 20, 35, 50, 75, 100})
      sweep.along.values.emplace_back(random);
    sweep.lanes = regroup_card::lanes;
    recipe.sweeps.push_back(std::move(sweep));
  }
  // The kernels that list the items are the same for all, so binned alone has them; those of paths
  // differ in the path alone.
  recipe.shown = [](const VariantInfo& variant, std::vector<CompileUnit> units) {
    if (units.size() > 3 && variant.name != "binned") units = {units[3]};
    return units;
  };
  return recipe;
}

}  // namespace clcook::cookbook
