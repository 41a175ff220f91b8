// The card of the recipe folded_switch.
//
// Problem: a switch with sixteen arms that call three functions; here the sixteen control points of
// a Bezier patch, one per work-item. Why switch16 is slow: sixteen neighbours take sixteen arms,
// and lanes in lock-step execute all of them one after the other. What each variant changes: see
// its summary, and docs/folded_switch.md. When it does not help: folding the switch leaves thirteen
// of sixteen paths, because the functions switch over their argument again; and where neighbours
// take the same arm (tuning `run`) there is nothing to fold.
#pragma once

#include <algorithm>
#include <array>
#include <clcook/folded_switch.hpp>
#include <clcook/reference/folded_switch.hpp>
#include <clcook/registry/guarded_buffer.hpp>
#include <clcook/registry/in_parallel.hpp>
#include <clcook/registry/plan_case.hpp>
#include <clcook/registry/random.hpp>
#include <clcook/registry/recipe.hpp>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
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
  const bool grid = shape.word("order") == "grid";
  std::uint64_t columns = 1;
  while (columns * columns < count) ++columns;
  const std::uint64_t rows = (count + columns - 1) / columns;
  FoldedSwitch::Problem out;
  out.tangents = shape.integer("tangents") != 0;
  out.vertices = static_cast<std::size_t>(grid ? columns * rows : 61 + count);
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
      if (!grid) {
        index = random.below(out.vertices);
      } else {
        const std::size_t slot = j < 16 ? j : 4 + (j - 4) % 12;
        const auto shifted = [](std::uint64_t at, int step, std::uint64_t size) {
          const auto moved = static_cast<std::int64_t>(at + size) + step;
          return static_cast<std::uint64_t>(moved) % size;
        };
        const std::uint64_t x = shifted(i % columns, kX[slot], columns);
        const std::uint64_t y = shifted(i / columns, kY[slot], rows);
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

// The same for a vector of the tangent patches; p is bound(valence).
//
// Difference of control points: at most 2, off by 2 p and a rounding, 2 u; three times that is off by
// 6 p + 12 u.
// Tangent at a corner: a sum over 2 n neighbours, whose weights have magnitudes of at most
// 1 + (1 + cos(pi / n)) / sqrt(4 + cos(pi / n)^2) < 2 in sum. Of these 2 it is off by n u for the
// sums, u for the cosines, 15 u for the factors (a root 6, a quotient 5, the rest 4) and 2 u in the end.
// fused_tangents multiplies by the factors at once: n + 1 roundings for products and sums, none in the end.
// Across a border: a difference and (2 c m - c' t) / 3, m a difference, t a tangent, |c| and |c'| < 1. As
// the weights 1, 2 / 3 and 1 / 3 say, it inherits at most twice the larger error. It is at most
// 6 + (2 * 6 + 2) / 3 < 11, and rounded six times: both c, two products, the third and the sum.
inline double tangent_bound(int valence, double p) {
  constexpr double u = 0x1p-24;
  const double difference = 6 * p + 12 * u;
  const double tangent = 2 * (valence + 18.0) * u;
  return 2 * std::max(difference, tangent) + 6 * 11 * u;
}

// The 16 control points and perhaps 24 tangents as sums of few points: the weights that are not 0.
struct Sparse {
  struct Term {
    std::size_t point;
    double weight;
  };
  std::vector<std::vector<Term>> terms;
};

inline Sparse sparse(const reference::folded_switch::Valences& valences, bool tangents) {
  Sparse out;
  const auto add = [&](const std::vector<double>& weights) {
    out.terms.emplace_back();
    for (std::size_t j = 0; j < weights.size(); ++j) {
      if (weights[j] != 0) out.terms.back().push_back({j, weights[j]});
    }
  };
  for (std::size_t i = 0; i < 16; ++i) add(reference::folded_switch::weights(valences, i));
  if (!tangents) return out;
  for (const auto& weights : reference::folded_switch::tangent_weights(valences)) add(weights);
  return out;
}

// A shape may say how many neighbours make one control point.
inline FoldedSwitch::Tune tune_of(const FoldedSwitch::Row& row, const Params& tune,
                                  const Params& shape) {
  FoldedSwitch::Tune out = FoldedSwitch::Posed::parse_tune(tune);
  const auto run = static_cast<int>(shape.integer("run", 0));
  if (run != 0 && row.traits.has_runs()) out.run = run;
  return out;
}

class PatchCase : public PlanCase<FoldedSwitch> {
 public:
  PatchCase(const Runtime& runtime, const Params& shape, std::uint64_t seed)
      : PlanCase(runtime, problem(shape, seed), "positions", "control_points") {
    const std::size_t offset = shape.as<std::size_t>("offset") * clcook::folded_switch::kPointBytes;
    // 0xFF in the poison makes every float a NaN. The positions start one point later than the
    // results, so that an exchange of the two offsets shows.
    const std::size_t in_offset = offset == 0 ? 0 : offset + clcook::folded_switch::kPointBytes;
    src_.emplace(runtime, problem_.vertices * clcook::folded_switch::kPointBytes, 1, in_offset, 0,
                 static_cast<unsigned char>(0xFF));
    dst_.emplace(runtime, result_bytes(), 1, offset, 0, static_cast<unsigned char>(0xCD));
    Random random(seed);
    positions_.resize(problem_.vertices * 4);
    for (float& value : positions_) value = random.uniform(-1.0f, 1.0f);
  }

  Diff check(const std::vector<cl::Event>& wait) override {
    Diff diff;
    const std::vector<unsigned char> got = dst_->read(wait, diff, "control points");
    std::vector<const Sparse*> weights_of;
    std::vector<std::size_t> first_of;  // of its indices
    std::size_t indices = 0;
    for (const auto& n : problem_.valences) {
      const auto found = weights_.find(n);
      weights_of.push_back(found != weights_.end()
                               ? &found->second
                               : &weights_.emplace(n, sparse(n, problem_.tangents)).first->second);
      first_of.push_back(indices);
      indices += clcook::folded_switch::point_count(n);
    }
    compare_in_parallel(diff, problem_.valences.size(), [&](Diff& part, std::size_t i) {
      const auto& n = problem_.valences[i];
      const Sparse& weights = *weights_of[i];
      const int most = *std::max_element(n.begin(), n.end());
      const double point_limit = bound(most);
      const double tangent_limit = tangent_bound(most, point_limit);
      for (std::size_t j = 0; j < weights.terms.size(); ++j) {
        std::array<double, 4> expected{};
        for (const Sparse::Term& term : weights.terms[j]) {
          const float* point =
              positions_.data() + std::size_t{problem_.indices[first_of[i] + term.point]} * 4;
          for (std::size_t c = 0; c < 4; ++c) {
            expected[c] += term.weight * static_cast<double>(point[c]);
          }
        }
        for (std::size_t c = 0; c < 4; ++c) {
          const bool is_point = j < 16;
          const std::size_t at =
              is_point ? i * 16 + j : problem_.valences.size() * 16 + i * 24 + j - 16;
          float value = 0;
          std::memcpy(&value, got.data() + (at * 4 + c) * sizeof value, sizeof value);
          const auto where = [&] {
            return text("patch ", i, is_point ? ", control point " : ", tangent ",
                        is_point ? j : j - 16, ", component ", c);
          };
          part.compare(where, expected[c], static_cast<double>(value),
                       is_point ? point_limit : tangent_limit);
        }
      }
    });
    return diff;
  }

  Work work() const override {
    Work work;
    work.bytes_read = static_cast<double>(problem_.vertices * clcook::folded_switch::kPointBytes +
                                          plan().topology_bytes());
    work.bytes_written = static_cast<double>(result_bytes());
    for (const auto& n : problem_.valences) {
      double terms = 8 * 6 + 4 * 4;
      for (const int one : n) terms += 2 * one + 1;
      if (problem_.tangents) {
        // Two tangents at each corner; differences; what is added across the borders.
        for (const int one : n) terms += 2 * 2 * one;
        terms += 16 * 2 + 8 * 2;
      }
      work.operations += terms * 4 * 2;
    }
    return work;
  }

 private:
  const void* input() override { return positions_.data(); }
  std::size_t result_bytes() const {
    return problem_.valences.size() * clcook::folded_switch::Spec::results(problem_) *
           clcook::folded_switch::kPointBytes;
  }

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
  // Made once, when the first asks. No seed changes what is asked of it.
  const ProblemOf& whole() const {
    std::call_once(asked_, [this] { whole_.emplace(folded_switch_card::problem(shape_, 1)); });
    return *whole_;
  }

  Params shape_;
  mutable std::once_flag asked_;
  mutable std::optional<ProblemOf> whole_;
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
                    std::int64_t offset = 0, bool tiny = false, bool tangents = false) {
  Params out{{"patches", patches}};
  if (valence[1] == '\0') {
    out.set("valence", std::int64_t{valence[0] - '0'});
  } else {
    out.set("valence", std::string(valence));
  }
  out.set("order", std::string(order));
  if (offset != 0) out.set("offset", offset);
  if (tangents) out.set("tangents", std::int64_t{1});
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
  recipe.headline_pair = {"folded3", "switch16", "run=1"};
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
      Parameter::integer("tangents", "1: the tangent patches too", 0, 1, "0"),
  };
  describe<FoldedSwitch, folded_switch_card::PatchCase, folded_switch_card::Mesh>(
      recipe, [](const Params& shape) { return shape; }, folded_switch_card::tune_of);
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
      shape(3, "5", "random", 2, true, true),
      shape(2, "regular", "random", 0, true, true),
      shape(33, "3", "random", 0, false, true),
      shape(65, "8", "random", 3, false, true),
      shape(64, "regular", "grid", 1, false, true),
      shape(509, "mixed", "random", 0, false, true),
  };
  recipe.bench_shapes = {
      shape(1 << 20, "regular", "grid"),
      shape(1 << 20, "mixed", "grid"),
      shape(1 << 14, "mixed", "grid"),
      shape(1 << 18, "mixed", "grid", 0, false, true),
      // The natural order, in which every lane takes another arm.
      shape(1 << 20, "regular", "grid").set("run", std::int64_t{1}),
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
