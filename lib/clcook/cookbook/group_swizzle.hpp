// The card of the recipe group_swizzle.
//
// Problem: the order in which work-groups cover a picture. Why the naive order is slow: a device
// starts groups row by row, so those that run at the same time form a thin strip as wide as the
// picture. When groups read far beyond their own pixels, what two of them share in y has left the
// cache by the time that the next rows come. What each variant changes: the place that a group
// takes, so that groups with neighbouring ids lie together in x and y. When it does not help: where
// nothing is read twice (the work `filter`), where all that is shared fits in the cache anyway,
// where a kernel does not wait for memory, and where a device does not start groups in the order of
// their ids.
#pragma once

#include <algorithm>
#include <array>
#include <clcook/group_swizzle.hpp>
#include <clcook/model/swizzle.hpp>
#include <clcook/reference/group_swizzle.hpp>
#include <clcook/registry/in_parallel.hpp>
#include <clcook/registry/pixels.hpp>
#include <clcook/registry/plan_case.hpp>
#include <clcook/registry/random.hpp>
#include <clcook/registry/recipe.hpp>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace clcook::cookbook {
namespace group_swizzle_card {

namespace ref = reference::group_swizzle;

// The problem of a shape; recipe.parameters names its values. Sources start one pixel later than
// results, so that an exchange of the two offsets shows.
inline GroupSwizzle::Problem problem(const Params& shape) {
  GroupSwizzle::Problem out;
  out.work = group_swizzle::parse_work(shape.word("work"));
  out.width = shape.as<int>("width");
  out.height = shape.as<int>("height");
  out.taps = shape.as<int>("taps");
  out.radius = shape.as<int>("radius");
  // No symmetry that could hide a wrong element.
  for (std::size_t i = 0; i < 16; ++i)
    out.matrix[i] = 0.5f - static_cast<float>((i * 7) % 16) * 0.0625f;
  return out;
}

// What a variant runs with: the tuning, changed by what the shape says.
inline GroupSwizzle::Tune tune_of(const GroupSwizzle::Row&, const Params& tune,
                                  const Params& shape) {
  GroupSwizzle::Tune out = GroupSwizzle::Posed::parse_tune(tune);
  if (const auto strip = shape.as<int>("strip"); strip != 0) out.strip = strip;
  return out;
}

// How far a result may lie from the exact one, for values of magnitude at most 1. u = 2^-24, the
// relative error of one rounding.
//   filter  A product and three fused multiply-adds in a row: 4 u times the sum of |m| |p|, and u
//           for second-order terms.
//   gather  taps - 1 additions, each at most u of the sum of magnitudes so far; the division is
//           good to 2.5 ulp (5 u). Together taps + 4, and 2 for second-order terms; all times the
//           mean magnitude, at most 1.
inline double bound(const GroupSwizzle::Problem& p, std::size_t channel) {
  if (p.work == GroupSwizzle::Work::gather) return (p.taps + 6) * 0x1p-24;
  double sum = 0;
  for (std::size_t i = 0; i < 4; ++i)
    sum += std::abs(static_cast<double>(p.matrix[channel * 4 + i]));
  return 5 * 0x1p-24 * sum;
}

class SwizzleCase : public PlanCase<GroupSwizzle> {
 public:
  SwizzleCase(const Runtime& runtime, const Params& shape, std::uint64_t seed)
      : PlanCase(runtime, problem(shape)) {
    const auto offset = shape.as<std::size_t>("offset");
    const auto pad = shape.as<std::size_t>("pad");
    const std::size_t row = static_cast<std::size_t>(problem_.width) * kPixelBytes;
    const auto rows = static_cast<std::size_t>(problem_.height);
    const std::size_t pitch = row + pad * kPixelBytes;
    // 0xFF in the poison makes every float a NaN.
    src_.emplace(runtime, row, rows, (offset == 0 ? 0 : offset + 1) * kPixelBytes, pitch,
                 static_cast<unsigned char>(0xFF));
    dst_.emplace(runtime, row, rows, offset * kPixelBytes, pitch, static_cast<unsigned char>(0xCD));
    // Each row from its own number, so that large pictures can be filled by several threads.
    values_.resize(static_cast<std::size_t>(problem_.width) * rows * 4);
    for_rows([&](std::size_t y) {
      Random random(seed ^ (y * 0xD1342543DE82EF95ULL));
      const std::size_t count = static_cast<std::size_t>(problem_.width) * 4;
      for (std::size_t i = 0; i < count; ++i) values_[y * count + i] = random.uniform(-1.0f, 1.0f);
    });
  }

  Diff check(const std::vector<cl::Event>& wait) override {
    Diff diff;
    const std::vector<float> got = dst_->read_as<float>(wait, diff, "dst");
    expect();
    compare_in_parallel(diff, expected_.size(), [&](Diff& part, std::size_t i) {
      const auto where = [&] { return place_of(i, problem_.width, 4); };
      part.compare(where, expected_[i], static_cast<double>(got[i]), bound(problem_, i % 4));
    });
    return diff;
  }

  Work work() const override {
    const double pixels = static_cast<double>(problem_.width) * problem_.height;
    Work work;
    work.bytes_read = pixels * kPixelBytes;
    work.bytes_written = pixels * kPixelBytes;
    work.operations =
        pixels * 4 * (problem_.work == GroupSwizzle::Work::gather ? problem_.taps : 7);
    return work;
  }

 private:
  static constexpr std::size_t kPixelBytes = 16;

  const void* input() override { return values_.data(); }
  // Calls `row(y)` for every row, by several threads where the picture is large.
  template <class Row>
  void for_rows(const Row& row) const {
    const auto rows = static_cast<std::size_t>(problem_.height);
    const std::size_t least = 65536 / static_cast<std::size_t>(problem_.width) + 1;
    in_parallel(rows, least, [&](std::size_t begin, std::size_t end) {
      for (std::size_t y = begin; y < end; ++y) row(y);
    });
  }

  // The reference of all pixels, once per case.
  void expect() {
    if (!expected_.empty()) return;
    expected_.resize(values_.size());
    const ref::Picture picture{values_.data(), problem_.width, problem_.height};
    for_rows([&](std::size_t row) {
      const int y = static_cast<int>(row);
      double* out = expected_.data() + row * static_cast<std::size_t>(problem_.width) * 4;
      for (int x = 0; x < problem_.width; ++x, out += 4) {
        const ref::Pixel pixel = problem_.work == GroupSwizzle::Work::gather
                                     ? ref::gather(picture, x, y, problem_.taps, problem_.radius)
                                     : ref::filter(picture, x, y, problem_.matrix);
        std::copy(pixel.begin(), pixel.end(), out);
      }
    });
  }

  std::vector<float> values_;
  std::vector<double> expected_;
};

// The device of the prediction: NVIDIA's H200 as its data sheet has it, with 8 groups of 256 items
// on each of 132 compute units.
constexpr model::CacheShape kModelCache{60ULL << 20, 16, 4096};
constexpr std::uint32_t kModelResident = 8 * 132;
// What a read costs that misses the cache, in reads that hit. An assumption: the memory moves 64
// bytes for the 32 that are asked for, at half of the cache's rate.
constexpr double kModelMiss = 4;

// What the cache model says of a gather with groups of 16 x 16: the mean cost of a read, in reads
// that hit. Of each group's samples the first ones of a few pixels stand for all, as many as make
// the share of first reads come out right (a pixel is half of a 32-byte sector); what the cache
// holds are the squares of 16 x 16 pixels, 4096 bytes, that these samples lie in.
inline double predicted_cost(const std::string& variant, const Params& shape, std::uint64_t) {
  const GroupSwizzle::Problem p = problem(shape);
  const GroupSwizzle::Row& row = *GroupSwizzle::Variant(variant).row();
  const GroupSwizzle::Tune tune = GroupSwizzle::Posed(p).closed(
      row, GroupSwizzle::Posed::format_tune(tune_of(row, {}, shape)), {});
  const model::GroupGrid grid = GroupSwizzle::Spec::grid(p, 16);
  const model::SwizzleOrder order = GroupSwizzle::Spec::order(row, tune);
  const auto steps = static_cast<std::uint32_t>(std::min(2 * p.taps, 256));
  const auto address = [&](const model::GroupPlace& at, std::uint32_t step) {
    const int x = std::min(static_cast<int>(at.x * 16 + step % 16), p.width - 1);
    const int y = std::min(static_cast<int>(at.y * 16 + step / 16), p.height - 1);
    ref::Offsets offsets(x, y);
    const int column = std::clamp(x + offsets.next(p.radius), 0, p.width - 1) / 16;
    const int line = std::clamp(y + offsets.next(p.radius), 0, p.height - 1) / 16;
    return (std::int64_t{line} * grid.x + column) * std::int64_t{kModelCache.line};
  };
  const model::CachePrediction seen =
      model::predict_cache(kModelCache, order, grid, kModelResident, steps, address);
  return 1 + (1 - seen.hit_rate()) * (kModelMiss - 1);
}

inline Params shape(const char* work, int width, int height, int taps = 0, int radius = 0,
                    int offset = 0, int pad = 0, bool tiny = false) {
  Params out{{"work", std::string(work)},
             {"width", std::int64_t{width}},
             {"height", std::int64_t{height}}};
  if (taps != 0) out.set("taps", std::int64_t{taps}).set("radius", std::int64_t{radius});
  if (offset != 0) out.set("offset", std::int64_t{offset});
  if (pad != 0) out.set("pad", std::int64_t{pad});
  if (tiny) out.set("tiny", std::int64_t{1});
  return out;
}

}  // namespace group_swizzle_card

inline Recipe group_swizzle() {
  using group_swizzle_card::shape;
  Recipe recipe;
  recipe.title = "The order of work-groups";
  recipe.question = "Which order of work-groups keeps the cache warm?";
  recipe.for_gpus = "column_tiles";
  recipe.for_cpus = "cpu_tiles";
  recipe.family = "memory locality";
  recipe.headline_pair = {"column_tiles", "row_major"};
  recipe.summary =
      "Work-groups that run at the same time cover a compact part of the picture, so that they "
      "share what they read in the cache: a wide scattered gather, and a pixel filter that gains "
      "nothing.";
  recipe.parameters = {
      Parameter::word("work", "what an item does", {"filter", "gather"}),
      Parameter::integer("width", "pixels", 1, group_swizzle::kMaxSize),
      Parameter::integer("height", "pixels", 1, group_swizzle::kMaxSize),
      Parameter::integer("taps", "of gather", 1, group_swizzle::kMaxTaps, "16"),
      Parameter::integer("radius", "of gather, pixels", 0, group_swizzle::kMaxRadius, "256"),
      Parameter::integer("strip", "width of the strips, work-groups; 0: the tuning's", 0,
                         group_swizzle::kMaxStrip, "0"),
      Parameter::integer("offset", "pixels before the first row", 0, 1 << 20, "0"),
      Parameter::integer("pad", "pixels behind each row", 0, 1 << 20, "0"),
  };
  describe<GroupSwizzle, group_swizzle_card::SwizzleCase>(recipe, group_swizzle_card::problem,
                                                          group_swizzle_card::tune_of);
  recipe.test_shapes = {
      shape("filter", 1, 1, 0, 0, 0, 0, true),
      shape("gather", 9, 19, 3, 5, 2, 3, true),
      shape("gather", 1, 1, 1, 300),
      shape("filter", 1, 131, 0, 0, 5, 1),
      shape("gather", 97, 1, 4, 30),
      shape("filter", 15, 16),
      shape("gather", 16, 16, 2, 0),
      shape("filter", 17, 31, 0, 0, 3, 7),
      shape("gather", 127, 61, 5, 40, 1, 2),
      shape("filter", 613, 37),
      shape("gather", 37, 613, 3, 64),
      shape("gather", 23, 29, 7, 32767),
      // Of cpu_tiles: whole vectors and a rest, more taps than wait at a time.
      shape("gather", 51, 23, 19, 9),
      // More than 2^16 work-groups, and tiles of cpu_tiles.
      shape("filter", 1, 1048600),
      // Of cpu_tiles: stored past the cache.
      shape("filter", 4099, 67, 0, 0, 3, 2),
  };
  recipe.bench_shapes = {
      shape("gather", 32768, 1024, 16, 256), shape("gather", 8192, 4096, 16, 256),
      shape("gather", 3840, 2160, 16, 256),  shape("gather", 2560, 1440, 16, 256),
      shape("gather", 1024, 1024, 16, 256),  shape("filter", 8192, 8192),
  };
  recipe.quick_shape = shape("gather", 512, 512, 16, 256);
  Sweep sweep;
  // Large both ways: narrow strips miss the cache as whole rows do.
  sweep.shape = shape("gather", 8192, 4096, 16, 256);
  sweep.smoke = {{"width", std::int64_t{320}}, {"height", std::int64_t{96}}};
  sweep.along = {"strip", {1, 2, 4, 8, 16, 32, 64, 128}};
  sweep.label = "width of the strips, work-groups";
  sweep.model = group_swizzle_card::predicted_cost;
  sweep.model_name = "cache";
  recipe.sweeps = {sweep};
  return recipe;
}

}  // namespace clcook::cookbook
