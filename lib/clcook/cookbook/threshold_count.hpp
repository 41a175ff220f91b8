// The card of the recipe threshold_count.
//
// Problem: which of N sorted thresholds a value falls below, as a chain of `else if`. Why that is
// slow: neighbouring values leave the chain at different places, so a group of lanes walks on until
// its last value has left. What each variant changes: see its summary, and docs/threshold_count.md.
// All of them read and write in the same way, so that a difference comes from the counting alone;
// per_item=1 is the plain kernel with one value per work-item. When it does not help: with a few
// thresholds memory is nearly the limit already, and where all values are alike no lane waits.
#pragma once

#include <algorithm>
#include <clcook/reference/threshold_count.hpp>
#include <clcook/registry/guarded_buffer.hpp>
#include <clcook/registry/in_parallel.hpp>
#include <clcook/registry/plan_case.hpp>
#include <clcook/registry/random.hpp>
#include <clcook/registry/recipe.hpp>
#include <clcook/threshold_count.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace clcook::cookbook {
namespace threshold_count_card {

// The problem of a shape; recipe.parameters names its values. spread, how the thresholds lie:
//   sectors   cosines of n equal parts of a right angle; for n = 5 with the article's six decimals
//   uneven    powers of two of either sign from 2^120 down, some of them repeated, and an infinity
// values, what is looked up:
//   cosine    cosines of random directions in a right angle, equally often in each sector
//   late      seven of eight reach no threshold, the others as cosine
//   one       all in the middle of the thresholds
//   special   random bit patterns, NaN, infinities, zeros, denormals, and the thresholds with their
//             neighbours
// Sources start one value later than results, so that an exchange of the two offsets shows.
inline ThresholdCount::Problem problem(const Params& shape) {
  ThresholdCount::Problem out;
  out.count = shape.as<std::size_t>("count");
  const auto n = shape.as<std::size_t>("n");
  const std::string slot = shape.word("slot", n < 256 ? "u8" : "u32");
  out.slot = slot == "u8" ? ThresholdCount::Slot::u8 : ThresholdCount::Slot::u32;
  if (shape.word("spread") == "sectors") {
    out.thresholds = ThresholdCount::sector_cosines();
    if (n != out.thresholds.size()) {
      out.thresholds.clear();
      for (std::size_t k = 1; k <= n; ++k) {
        const double part = static_cast<double>(k) / static_cast<double>(n + 1);
        out.thresholds.push_back(static_cast<float>(std::cos(part * 1.5707963267948966)));
      }
    }
  } else {
    for (std::size_t k = 0; k < n; ++k) {
      const int exponent = 120 - 2 * static_cast<int>(k % 128 / 2 * 2);
      const auto power = static_cast<float>(std::ldexp(1.0, k < 128 ? exponent : -12 - exponent));
      out.thresholds.push_back(k == 0    ? std::numeric_limits<float>::infinity()
                               : k < 128 ? power
                                         : -power);
    }
  }
  return out;
}

inline std::uint32_t bits_of(float x) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

inline float float_of(std::uint32_t bits) {
  float x = 0;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

inline std::vector<float> values(const Params& shape, const std::vector<float>& thresholds,
                                 std::uint64_t seed) {
  const std::string kind = shape.word("values");
  std::vector<float> out(shape.as<std::size_t>("count"));
  Random random(seed);
  if (kind == "cosine") {
    for (float& value : out) value = std::cos(random.uniform() * 1.57079633f);
  } else if (kind == "late") {
    const float below = std::nextafter(thresholds.back(), -std::numeric_limits<float>::infinity());
    for (float& value : out)
      value = random.below(8) != 0 ? below : std::cos(random.uniform() * 1.57079633f);
  } else if (kind == "one") {
    for (float& value : out) value = thresholds[thresholds.size() / 2];
  } else {
    constexpr std::uint32_t kPatterns[] = {0x00000000, 0x80000000, 0x00000001, 0x80000001,
                                           0x007FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000,
                                           0xFFC00000, 0x7F800001, 0x7F7FFFFF, 0xFF7FFFFF};
    for (float& value : out) {
      const std::uint64_t what = random.below(4);
      if (what == 0) {
        value = float_of(random.bits32());
      } else if (what == 1) {
        value = float_of(kPatterns[random.below(sizeof kPatterns / sizeof *kPatterns)]);
      } else {
        const float one = thresholds[random.below(thresholds.size())];
        value = float_of(bits_of(one) + static_cast<std::uint32_t>(random.below(9)) - 4);
      }
    }
  }
  return out;
}

class ThresholdCase : public PlanCase<ThresholdCount> {
 public:
  ThresholdCase(const Runtime& runtime, const Params& shape, std::uint64_t seed)
      : PlanCase(runtime, problem(shape), "values", "slots"),
        values_(values(shape, problem_.thresholds, seed)) {
    const auto offset = shape.as<std::size_t>("offset");
    const std::size_t bytes = clcook::threshold_count::slot_bytes(problem_.slot);
    const std::size_t before = offset == 0 ? 0 : offset + 1;
    src_.emplace(runtime, values_.size() * sizeof(float), 1, before * sizeof(float), 0,
                 static_cast<unsigned char>(0xFF));
    dst_.emplace(runtime, values_.size() * bytes, 1, offset * bytes, 0,
                 static_cast<unsigned char>(0xCD));
  }

  Diff check(const std::vector<cl::Event>& wait) override {
    Diff diff;
    const std::vector<unsigned char> got = dst_->read(wait, diff, "slots");
    if (expected_.empty()) {
      expected_.resize(values_.size());
      in_parallel(values_.size(), 65536, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
          expected_[i] = reference::threshold_count::slot(values_[i], problem_.thresholds);
      });
    }
    compare_in_parallel(diff, expected_.size(), [&](Diff& part, std::size_t i) {
      std::uint32_t slot = 0;
      if (problem_.slot == ThresholdCount::Slot::u8) {
        slot = got[i];
      } else {
        std::memcpy(&slot, got.data() + i * sizeof slot, sizeof slot);
      }
      part.match(i, expected_[i], slot);
    });
    return diff;
  }

  // The thresholds are small and read from a cache; they do not count.
  Work work() const override {
    Work work;
    const auto count = static_cast<double>(problem_.count);
    work.bytes_read = count * sizeof(float);
    work.bytes_written =
        count * static_cast<double>(clcook::threshold_count::slot_bytes(problem_.slot));
    return work;
  }

 private:
  const void* input() override { return values_.data(); }

  std::vector<float> values_;
  std::vector<std::uint32_t> expected_;
};

// The comparisons that each value goes through, in the unit of one comparison. The chain has up to
// 64 segments of neighbouring comparisons, and a value takes those up to the one in which it
// leaves; so has frequent_first, from the other end. The other variants have one path for all; the
// table's is the lookup and three comparisons.
inline model::LaneMasks lanes(const std::string& variant, const Params& shape, std::uint64_t seed) {
  model::LaneMasks out;
  const ThresholdCount::Problem p = problem(shape);
  const std::size_t n = p.thresholds.size();
  const ThresholdCount::Row& row = *ThresholdCount::Variant(variant).row();
  const bool from_last = row.name == "frequent_first";
  if (!row.is_baseline && !from_last) {
    out.cost = {std::ceil(row.traits.comparisons(static_cast<double>(n)))};
    out.taken.assign(p.count, 1);
    return out;
  }
  const std::size_t each = (n + 63) / 64;
  for (std::size_t first = 0; first < n; first += each) {
    out.cost.push_back(static_cast<double>(std::min(each, n - first)));
  }
  for (const float x : values(shape, p.thresholds, seed)) {
    const std::size_t slot = reference::threshold_count::slot(x, p.thresholds);
    const std::size_t last = std::min(from_last ? n - slot : slot, n - 1) / each;
    out.taken.push_back(last == 63 ? ~std::uint64_t{0} : (std::uint64_t{2} << last) - 1);
  }
  return out;
}

inline Params shape(std::int64_t count, std::int64_t n, const char* values, std::int64_t offset = 0,
                    bool tiny = false) {
  Params out{{"count", count}, {"n", n}, {"values", std::string(values)}};
  if (offset != 0) out.set("offset", offset);
  if (tiny) out.set("tiny", std::int64_t{1});
  return out;
}

}  // namespace threshold_count_card

inline Recipe threshold_count() {
  using threshold_count_card::shape;
  Recipe recipe;
  recipe.title = "Counting thresholds";
  recipe.question = "A chain of ifs, a search, or a table?";
  recipe.for_cpus = "cpu_strip";
  recipe.written_first = {"binary_search"};
  recipe.family = "branch divergence";
  recipe.headline_pair = {"independent_ifs", "else_if_chain"};
  recipe.summary =
      "A chain of comparisons with sorted thresholds becomes a sum of comparisons, a search "
      "without "
      "branches, or a table with a correction.";
  // Few numbers of thresholds: each is a program of its own.
  recipe.parameters = {
      Parameter::integer("count", "values", 1, 0x1p36),
      Parameter::integer("n", "thresholds", 1, clcook::threshold_count::kMaxThresholds, "5"),
      Parameter::word("slot", "type of a result", {"u8", "u32"}, "u8 where n is below 256"),
      Parameter::word("spread", "how the thresholds lie", {"sectors", "uneven"}, "sectors"),
      Parameter::word("values", "what is looked up", {"cosine", "late", "one", "special"},
                      "cosine"),
      Parameter::integer("offset", "values before the first", 0, 1 << 20, "0"),
  };
  describe<ThresholdCount, threshold_count_card::ThresholdCase>(recipe,
                                                                threshold_count_card::problem);
  recipe.test_shapes = {
      shape(1, 5, "special", 0, true), shape(67, 5, "special", 3, true),
      shape(255, 5, "cosine"),         shape(256, 5, "one"),
      shape(257, 5, "special", 1),     shape(4096, 5, "special", 12),
      shape(40009, 5, "special", 7),   shape(4099, 1, "special", 4),
      shape(8192, 256, "special"),     shape(4097, 256, "cosine", 4),
      shape(4099, 33, "special", 1),   shape(2051, 32, "late", 5),
  };
  Params uneven = shape(8191, 255, "special");
  uneven.set("spread", std::string("uneven"));
  recipe.test_shapes.push_back(uneven);
  recipe.test_shapes.push_back(shape(131, 33, "special", 1, true));
  const std::int64_t large = std::int64_t{1} << 26;
  recipe.bench_shapes = {
      shape(large, 5, "cosine"),   shape(large, 5, "one"),
      shape(large, 16, "cosine"),  shape(large, 64, "cosine"),
      shape(large, 256, "cosine"), shape(std::int64_t{1} << 20, 5, "cosine"),
      shape(large, 16, "late"),
  };
  recipe.quick_shape = shape(std::int64_t{1} << 20, 5, "cosine");
  Sweep sweep;
  sweep.shape = Params{{"count", std::int64_t{1} << 24},
                       {"values", std::string("cosine")},
                       {"slot", std::string("u32")}};
  sweep.smoke = Params{{"count", std::int64_t{4099}}};
  sweep.along = {"n", {}};
  for (const std::int64_t n : {1, 2, 3, 5, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256}) {
    sweep.along.values.emplace_back(n);
  }
  sweep.label = "thresholds";
  sweep.lanes = threshold_count_card::lanes;
  recipe.sweeps = {sweep};
  recipe.shows = {
      {21,
       "compare_sum against first_bit: comparisons as bits of a word, the first that is set",
       {Experiment::pair("compare_sum", "first_bit")}},
      {25,
       "global_table against table: what all items read, in global and in local memory",
       {Experiment::pair("global_table", "table")}},
  };
  return recipe;
}

}  // namespace clcook::cookbook
