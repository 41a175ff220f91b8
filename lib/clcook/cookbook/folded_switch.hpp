// The card of the recipe folded_switch.
//
// Problem: a switch with sixteen arms that call three functions; here the sixteen control points of
// a Bezier patch, one per work-item. Why switch16 is slow: sixteen neighbours take sixteen arms,
// and lanes in lock-step execute all of them one after the other. What each variant changes: see
// its summary, and docs/folded_switch.md. When it does not help: folding the switch alone gains
// little, because the functions switch over their argument again; and where neighbours take the
// same arm (tuning `run`) there is nothing to fold.
#pragma once

#include <algorithm>
#include <array>
#include <clcook/folded_switch.hpp>
#include <clcook/reference/folded_switch.hpp>
#include <clcook/registry/guarded_buffer.hpp>
#include <clcook/registry/plan_case.hpp>
#include <clcook/registry/random.hpp>
#include <clcook/registry/recipe.hpp>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace clcook::cookbook {
namespace folded_switch_card {

// The problem of a shape; recipe.parameters names its values. valence: 3 to 8 is that of all
// corners, regular is 4; mixed: 90 of 100 corners 4, the others 3, 5, 6, 7, 8. order of the
// indices: grid is a mesh of rows, as neighbours in a real mesh lie; random, any vertex anywhere.
inline FoldedSwitch::Problem problem(const Params& shape, std::uint64_t seed) {
  const auto count = shape.as<std::uint64_t>("patches");
  const std::string which = to_string(shape.at("valence"));
  const bool mixed = which == "mixed";
  const bool fixed = which.size() == 1;
  const std::string order = shape.word("order");
  std::uint64_t columns = 1;
  while (columns * columns < count) ++columns;
  const std::uint64_t rows = (count + columns - 1) / columns;
  FoldedSwitch::Problem out;
  out.vertices = static_cast<std::size_t>(order == "grid" ? columns * rows : 61 + count);
  out.valences.resize(static_cast<std::size_t>(count));
  Random random(seed ^ 0x746F706FULL);
  for (std::uint64_t i = 0; i < count; ++i) {
    auto& n = out.valences[static_cast<std::size_t>(i)];
    for (auto& one : n) {
      one = fixed ? static_cast<std::uint8_t>(which[0] - '0') : std::uint8_t{4};
      if (mixed) {
        const std::uint64_t lot = random.below(100);
        one = static_cast<std::uint8_t>(lot < 90   ? 4
                                        : lot < 94 ? 3
                                        : lot < 97 ? 5
                                        : lot < 98 ? 6
                                        : lot < 99 ? 7
                                                   : 8);
      }
    }
    // The grid around the quad, as offsets of its points 0 to 15.
    constexpr int kX[16] = {0, 1, 1, 0, -1, -1, 0, 1, 2, 2, 2, 2, 1, 0, -1, -1};
    constexpr int kY[16] = {0, 0, 1, 1, 0, -1, -1, -1, -1, 0, 1, 2, 2, 2, 2, 1};
    for (std::size_t j = 0; j < clcook::folded_switch::point_count(n); ++j) {
      std::uint64_t index = 0;
      if (order == "random") {
        index = random.below(out.vertices);
      } else {
        const std::size_t slot = j < 16 ? j : 4 + (j - 4) % 12;
        const auto near = [](std::uint64_t at, int step, std::uint64_t size) {
          const auto moved = static_cast<std::int64_t>(at + size) + step;
          return static_cast<std::uint64_t>(moved) % size;
        };
        const std::uint64_t x = near(i % columns, kX[slot], columns);
        const std::uint64_t y = near(i / columns, kY[slot], rows);
        index = y * columns + x;
      }
      out.indices.push_back(static_cast<std::uint32_t>(index));
    }
  }
  return out;
}

// How far a component of a control point may lie from the exact one, for points of magnitude at
// most 1 and a corner of valence n. u = 2^-24, the relative error of one rounding. The weights are
// whole numbers, exact and positive, so every rounding of the sum costs at most u times the sum of
// the magnitudes, which after the division is at most 1. A sum has at most 2 n + 1 terms and as
// many roundings. The reciprocal of the divisor is good to 2.5 ulp (5 u), its product with n and
// that with the sum to u each. Three more for the second-order terms. The matrix has 4 roundings in
// its two passes and 2 in the factor 1 / 36, which is less.
inline double bound(int valence) { return (2.0 * valence + 1 + 7 + 3) * 0x1p-24; }

// The 16 control points as sums of few points: the weights that are not 0.
struct Sparse {
  struct Term {
    std::size_t point;
    double weight;
  };
  std::array<std::vector<Term>, 16> terms;
};

inline Sparse sparse(const reference::folded_switch::Valences& valences) {
  Sparse out;
  for (std::size_t i = 0; i < 16; ++i) {
    const std::vector<double> weights = reference::folded_switch::weights(valences, i);
    for (std::size_t j = 0; j < weights.size(); ++j) {
      if (weights[j] != 0) out.terms[i].push_back({j, weights[j]});
    }
  }
  return out;
}

class PatchCase : public PlanCase<FoldedSwitch> {
 public:
  PatchCase(const Runtime& runtime, const Params& shape, std::uint64_t seed)
      : PlanCase(runtime, problem(shape, seed), "positions", "control_points"),
        run_(static_cast<int>(shape.integer("run", 0))) {
    const std::size_t offset = shape.as<std::size_t>("offset") * clcook::folded_switch::kPointBytes;
    // 0xFF in the poison makes every float a NaN. The positions start one point later than the
    // results, so that an exchange of the two offsets shows.
    const std::size_t in_offset = offset == 0 ? 0 : offset + clcook::folded_switch::kPointBytes;
    src_.emplace(runtime, problem_.vertices * clcook::folded_switch::kPointBytes, 1, in_offset, 0,
                 static_cast<unsigned char>(0xFF));
    dst_.emplace(runtime, problem_.valences.size() * 16 * clcook::folded_switch::kPointBytes, 1,
                 offset, 0, static_cast<unsigned char>(0xCD));
    Random random(seed);
    positions_.resize(problem_.vertices * 4);
    for (float& value : positions_) value = random.uniform(-1.0f, 1.0f);
  }

  Diff check(const std::vector<cl::Event>& wait) override {
    Diff diff;
    const std::vector<unsigned char> got = dst_->read(wait, diff, "control points");
    std::size_t first = 0;
    for (std::size_t i = 0; i < problem_.valences.size(); ++i) {
      const auto& n = problem_.valences[i];
      const auto found = weights_.find(n);
      const Sparse& weights =
          found != weights_.end() ? found->second : weights_.emplace(n, sparse(n)).first->second;
      const double limit = bound(*std::max_element(n.begin(), n.end()));
      for (std::size_t j = 0; j < 16; ++j) {
        std::array<double, 4> expected{};
        for (const Sparse::Term& term : weights.terms[j]) {
          const float* point =
              positions_.data() + std::size_t{problem_.indices[first + term.point]} * 4;
          for (std::size_t c = 0; c < 4; ++c) {
            expected[c] += term.weight * static_cast<double>(point[c]);
          }
        }
        for (std::size_t c = 0; c < 4; ++c) {
          float value = 0;
          std::memcpy(&value, got.data() + ((i * 16 + j) * 4 + c) * sizeof value, sizeof value);
          const auto where = [&] {
            return text("patch ", i, ", control point ", j, ", component ", c);
          };
          diff.compare(where, expected[c], static_cast<double>(value), limit);
        }
      }
      first += clcook::folded_switch::point_count(n);
    }
    return diff;
  }

  Work work() const override {
    Work work;
    work.bytes_read = static_cast<double>(problem_.vertices * clcook::folded_switch::kPointBytes +
                                          plan().topology_bytes());
    work.bytes_written =
        static_cast<double>(problem_.valences.size() * 16 * clcook::folded_switch::kPointBytes);
    for (const auto& n : problem_.valences) {
      double terms = 8 * 6 + 4 * 4;
      for (const int one : n) terms += 2 * one + 1;
      work.operations += terms * 4 * 2;
    }
    return work;
  }

 private:
  const void* input() override { return positions_.data(); }
  FoldedSwitch::Tune tune_of(const FoldedSwitch::Row& row, const Params& tune) const override {
    FoldedSwitch::Tune out = FoldedSwitch::Posed::parse_tune(tune);
    if (run_ != 0 && row.traits.has_runs()) out.run = run_;
    return out;
  }

  int run_;
  std::vector<float> positions_;
  std::map<reference::folded_switch::Valences, Sparse> weights_;
};

// A large mesh takes long to make, and neither tunes nor kernels depend on its size.
class Mesh : public FoldedSwitch::Posed {
 public:
  explicit Mesh(const Params& shape)
      : ProblemOf(folded_switch_card::problem(small(shape), 1)), shape_(shape) {}

  double bytes() const override { return whole().bytes(); }
  std::vector<std::string> tuning_names() const override { return whole().tuning_names(); }
  Offer offer(const Runtime& runtime, const VariantInfo& variant,
              const Params& tune) const override {
    return whole().offer(runtime, variant, tune);
  }

 private:
  static Params small(Params shape) {
    if (shape.integer("patches") > 16) shape.set("patches", std::int64_t{16});
    return shape;
  }
  // No seed changes what is asked of it.
  ProblemOf whole() const { return ProblemOf(folded_switch_card::problem(shape_, 1)); }

  Params shape_;
};

// The paths of the work-items: an arm per control point (switch16), an arm of the inner switches
// (folded3), the turns of a loop (index_tables), else one path. A path costs the points it reads.
inline model::LaneMasks lanes(const std::string& variant, const Params& shape, std::uint64_t seed) {
  namespace ref = reference::folded_switch;
  using Paths = clcook::folded_switch::Spec::Paths;
  const FoldedSwitch::Problem p = problem(shape, seed);
  const auto& traits = FoldedSwitch::Variant(variant).row()->traits;
  model::LaneMasks masks;
  if (traits.paths == Paths::one) {
    masks.cost = {traits.points};
    masks.taken.assign(p.valences.size() * static_cast<std::size_t>(traits.items), 1);
    return masks;
  }
  const auto run = static_cast<std::size_t>(std::max<std::int64_t>(1, shape.integer("run", 1)));
  // Segments 0 to 15: an arm each; or the loop of index_tables: the quad, then pairs of the ring.
  masks.cost.assign(16, 0.0);
  for (std::size_t block = 0; block < p.valences.size(); block += run) {
    for (std::size_t i = 0; i < 16 * run; ++i) {
      const std::size_t patch = block + i % run;
      if (patch >= p.valences.size()) {
        masks.taken.push_back(0);
        continue;
      }
      const ref::Call call = ref::kCases[i / run];
      const bool corner = call.function == ref::Function::corner;
      const int n = corner ? p.valences[patch][static_cast<std::size_t>(call.argument)] : 0;
      const int ring = corner ? 2 * n - 3 : call.function == ref::Function::edge ? 2 : 0;
      if (traits.paths == Paths::turns) {
        masks.cost[0] = 4;
        for (std::size_t s = 1; s < 16; ++s) masks.cost[s] = 1;
        masks.taken.push_back((std::uint64_t{2} << ring) - 1);
        continue;
      }
      std::size_t segment = i / run;
      if (traits.paths == Paths::inner_arms) {
        const auto argument = static_cast<std::size_t>(call.argument);
        segment = corner                                     ? 0
                  : call.function == ref::Function::interior ? 1 + argument
                                                             : 5 + argument;
      }
      masks.cost[segment] = std::max(masks.cost[segment], 4.0 + ring);
      masks.taken.push_back(std::uint64_t{1} << segment);
    }
  }
  return masks;
}

inline Params shape(std::int64_t patches, const char* valence, const char* order = "random",
                    std::int64_t offset = 0, bool tiny = false) {
  Params out{{"patches", patches}};
  if (valence[1] == '\0') {
    out.set("valence", std::int64_t{valence[0] - '0'});
  } else {
    out.set("valence", std::string(valence));
  }
  out.set("order", std::string(order));
  if (offset != 0) out.set("offset", offset);
  if (tiny) out.set("tiny", std::int64_t{1});
  return out;
}

}  // namespace folded_switch_card

inline Recipe folded_switch() {
  using folded_switch_card::shape;
  Recipe recipe;
  recipe.title = "Folded switch: Catmull-Clark patches to Bezier patches";
  recipe.question = "Sixteen arms of a switch, three, or none?";
  recipe.for_cpus = "cpu_patch";
  recipe.family = "branch divergence";
  recipe.headline_pair = {"folded3", "switch16"};
  recipe.summary =
      "Sixteen cases that call three functions, from a switch to one formula with tables, and to "
      "work-items that have no case at all.";
  recipe.parameters = {
      Parameter::integer("patches", "patches of the mesh", 1, 1 << 28),
      {"valence", "of the corners", "regular", {"regular", "mixed"}, 3, 8},
      Parameter::word("order", "of the vertices in memory", {"grid", "random"}, "grid"),
      Parameter::integer("offset", "points before the first", 0, 1 << 20, "0"),
      Parameter::integer(
          "run", "instead of the tuning, a power of two: neighbours that make one control point", 0,
          1024, "the tuning's"),
  };
  describe<FoldedSwitch, folded_switch_card::PatchCase, folded_switch_card::Mesh>(
      recipe, [](const Params& shape) { return shape; });
  recipe.test_shapes = {
      shape(1, "regular", "random", 0, true),
      shape(5, "mixed", "random", 3, true),
      shape(3, "8", "random", 2, true),
      shape(31, "regular", "random", 1),
      shape(32, "3"),
      shape(33, "5", "random", 7),
      shape(64, "regular", "grid"),
      shape(127, "mixed"),
      shape(65, "8", "random", 5),
      shape(509, "mixed", "grid", 2),
      shape(1021, "regular", "random", 9),
  };
  recipe.bench_shapes = {
      shape(1 << 20, "regular", "grid"),
      shape(1 << 20, "mixed", "grid"),
      shape(1 << 14, "mixed", "grid"),
  };
  recipe.quick_shape = shape(1 << 14, "regular", "grid");
  Sweep sweep;
  sweep.shape = shape(1 << 18, "regular", "grid");
  sweep.smoke = {{"patches", std::int64_t{100}}};
  sweep.along = TuneAxis{"run",
                         {std::int64_t{1}, std::int64_t{2}, std::int64_t{4}, std::int64_t{8},
                          std::int64_t{16}, std::int64_t{32}, std::int64_t{64}}};
  sweep.label = "neighbouring work-items that make the same control point";
  sweep.lanes = folded_switch_card::lanes;
  recipe.sweeps = {sweep};
  return recipe;
}

}  // namespace clcook::cookbook
