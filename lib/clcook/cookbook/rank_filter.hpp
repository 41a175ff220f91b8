// The card of the recipe rank_filter.
//
// Problem: the median, or another rank, of the (2r + 1)^2 neighbours of each pixel: 9 at radius 1,
// 3969 at radius 31. Why select is slow: it reads and counts all of them for each bit of the
// result, and throws away what it learnt when it goes on to the next pixel. What each variant
// changes: see its summary, and docs/rank_filter.md. When it does not help: a network grows faster
// than the number of neighbours and needs registers for all of them; a histogram costs memory and,
// per work-item, a chain of updates that wait for each other; values of more than 8 bits are
// counted again for the bits below.
#pragma once

#include <algorithm>
#include <array>
#include <clcook/rank_filter.hpp>
#include <clcook/reference/rank_filter.hpp>
#include <clcook/registry/in_parallel.hpp>
#include <clcook/registry/pixels.hpp>
#include <clcook/registry/plan_case.hpp>
#include <clcook/registry/random.hpp>
#include <clcook/registry/recipe.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace clcook::cookbook {
namespace rank_filter_card {

// The problem of a shape; recipe.parameters names its values.
inline RankFilter::Problem problem(const Params& shape) {
  RankFilter::Problem out;
  out.width = shape.as<int>("width");
  out.height = shape.as<int>("height");
  out.radius = shape.as<int>("radius");
  out.rank = shape.real("rank");
  out.pixel = RankFilter::parse_pixel(shape.word("pixel"));
  out.border = RankFilter::parse_border(shape.word("border"));
  out.outside = {0.25f, -0.0f, std::numeric_limits<float>::quiet_NaN(), 3.0f};
  // Between two values, and beyond the largest.
  if (is_integer(channel_of(out.pixel))) {
    out.outside[0] = 100.5f;
    out.outside[3] = 1e6f;
  }
  return out;
}

class RankCase : public PlanCase<RankFilter> {
 public:
  RankCase(const Runtime& runtime, const Params& shape, std::uint64_t seed)
      : PlanCase(runtime, problem(shape)) {
    const auto rows = static_cast<std::size_t>(problem_.height);
    make_rows(src_, shape, rows, 1, 0xFF);  // the largest key
    make_rows(dst_, shape, rows, 0, 0xCD);
    in_.width = problem_.width;
    in_.height = problem_.height;
    in_.channels = channels_of(problem_.pixel);
    Random random(seed);
    in_.values = data(random, src_->row_bytes() / channel_bytes(channel()) * rows,
                      shape.integer("specials") != 0);
    stored_ = store_channels(channel(), in_.values);
  }

  // Results are values of the picture: no bound, and the sign of a zero counts.
  Diff check(const std::vector<cl::Event>& wait) override {
    Diff diff;
    const std::vector<unsigned char> got = dst_->read(wait, diff, "dst");
    const std::vector<float>& expected = reference();
    for (std::size_t e = 0; e < expected.size(); ++e) {
      const std::size_t i = compared_[e / row()] * row() + e % row();
      const auto wanted = static_cast<double>(expected[e]);
      const double value = load_channel(channel(), got.data(), i);
      const auto where = [&] { return place_of(i, in_.width, in_.channels); };
      diff.compare(where, wanted, value, 0);
      if (wanted == 0 && value == 0 && std::signbit(wanted) != std::signbit(value))
        diff.broken(text("at ", where(), ": a zero of the other sign"));
    }
    return diff;
  }

 private:
  const void* input() override { return stored_.data(); }
  Channel channel() const { return channel_of(problem_.pixel); }

  // Values of the whole range; with specials, half of them close together, so that there are ties and
  // values that differ in the last bits only, and NaN, infinities, zeros and denormals.
  std::vector<float> data(Random& random, std::size_t count, bool specials) const {
    const float inf = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float kinds[] = {nan, -nan, inf, -inf, -0.0f, 0.0f, 1e-41f, -1e-41f, 1e-7f, -1e-7f};
    const bool integers = is_integer(channel());
    const float most = top_of(channel());
    std::vector<float> out(count);
    for (float& value : out) {
      if (specials && random.below(2) == 0) {
        const auto step = static_cast<float>(random.below(64));
        value = !integers ? 0.5f + step * (channel() == Channel::f16 ? 0x1p-11f : 0x1p-23f)
                : channel() == Channel::u8 ? 90.0f + step / 4
                                           : 23456.0f + step;
      } else if (integers) {
        value = static_cast<float>(random.below(static_cast<std::uint32_t>(most) + 1));
      } else {
        value = random.uniform(-1.0f, 1.0f);
      }
      if (specials && random.below(12) == 0) value = integers ? 0.0f : kinds[random.below(10)];
      value = stored_value(channel(), value);
    }
    return out;
  }

  const std::vector<float>& reference() {
    if (!expected_.empty()) return expected_;
    std::array<float, 4> outside{};
    for (std::size_t c = 0; c < 4; ++c) outside[c] = stored_value(channel(), problem_.outside[c]);
    const auto border = reference::border_named(border_name(problem_.border, "rank_filter"));
    const double window = std::pow(2 * problem_.radius + 1, 2);
    compared_ = compared_rows(static_cast<std::size_t>(in_.height),
                              static_cast<double>(row()) * window, is_sampled_);
    expected_ = rows_in_parallel(compared_, row(), [&](std::size_t begin, std::size_t end) {
      return reference::rank_filter::filtered(in_, problem_.radius, problem_.rank, border, outside,
                                              {static_cast<int>(begin), static_cast<int>(end)});
    });
    return expected_;
  }
  std::size_t row() const { return in_.values.size() / static_cast<std::size_t>(in_.height); }

  reference::rank_filter::Picture in_;
  std::vector<unsigned char> stored_;
  std::vector<std::size_t> compared_;  // rows
  std::vector<float> expected_;        // of these
};

inline Params shape(int width, int height, int radius, double rank, const char* pixel,
                    const char* border = "clamp") {
  return {{"width", std::int64_t{width}},   {"height", std::int64_t{height}},
          {"radius", std::int64_t{radius}}, {"rank", rank},
          {"pixel", std::string(pixel)},    {"border", std::string(border)}};
}

}  // namespace rank_filter_card

inline Recipe rank_filter() {
  using card_shapes::test;
  using rank_filter_card::shape;
  Recipe recipe;
  recipe.title = "Median and other ranks";
  recipe.question = "Sort, search, or slide a histogram?";
  recipe.written_first = {"network", "sliding_histogram"};
  recipe.family = "memory locality";
  recipe.headline_pair = {"sliding_histogram", "select"};
  recipe.summary =
      "The median, or any other rank, of radius 1 to 32: neighbours counted bit by bit from global "
      "and local memory, networks of comparisons that share their work, histograms that slide; the "
      "minimum and maximum in columns and lines.";
  recipe.parameters = {
      Parameter::integer("width", "pixels", 1, RankFilter::kMaxSize),
      Parameter::integer("height", "pixels", 1, RankFilter::kMaxSize),
      Parameter::integer("radius", "of the neighbourhood, pixels", 1, RankFilter::kMaxRadius, "1"),
      Parameter::real("rank", "0 the minimum, 0.5 the median, 1 the maximum", 0, 1, "0.5"),
      Parameter::word("pixel", "type of a pixel", names_of(kPixelTypes), "r8"),
      Parameter::word("border", "what lies outside", names_of(kBorders), "clamp"),
      Parameter::integer("offset", "pixels, of 3 channels channels, before the first row", 0,
                         1 << 20, "0"),
      Parameter::integer("pad", "the same behind each row", 0, 1 << 20, "0"),
      Parameter::integer("specials", "1: ties, NaN, infinities, zeros and denormals in the data", 0,
                         1, "0"),
  };
  describe<RankFilter, rank_filter_card::RankCase>(recipe, rank_filter_card::problem);
  recipe.test_shapes = {
      test(shape(1, 1, 1, 0.5, "r8"), 0, 0, true),
      test(shape(9, 5, 1, 0.5, "r32f", "mirror"), 3, 2, true),
      test(shape(5, 4, 2, 0.3, "rgba8", "constant"), 1, 5, true),
      test(shape(6, 3, 3, 0.5, "r16f", "wrap"), 2, 1, true),
      test(shape(7, 3, 4, 0.75, "r16", "clamp"), 2, 3, true),
      test(shape(131, 67, 1, 0.5, "r32f", "constant"), 7, 9),
      test(shape(65, 33, 1, 0.8, "rgba32f", "wrap"), 1, 1),
      test(shape(33, 97, 1, 0, "r16", "mirror"), 1, 1),
      test(shape(97, 35, 2, 0.5, "r8"), 4, 3),
      test(shape(64, 17, 2, 1, "r16f", "mirror")),
      test(shape(67, 19, 2, 0.1, "rgba16", "wrap"), 2, 3),
      test(shape(71, 37, 3, 0.5, "rgba8"), 3, 1),
      test(shape(35, 21, 3, 0.25, "r32f", "constant")),
      test(shape(1, 97, 3, 0.6, "rgba16f", "wrap")),
      test(shape(97, 1, 4, 0.5, "r8", "mirror"), 5, 7),
      test(shape(45, 131, 5, 0.5, "r8"), 1, 3),
      test(shape(37, 29, 5, 0.9, "rgba32f", "clamp"), 1, 1),
      test(shape(53, 41, 7, 0.5, "r16"), 3, 5),
      test(shape(29, 71, 8, 0.02, "r8", "constant"), 1, 2),
      test(shape(21, 67, 9, 1, "r8", "wrap")),
      test(shape(1, 1, 2, 0.5, "r8", "reflect_101")),
      test(shape(37, 9, 1, 0.5, "rg8", "constant"), 1, 3, true),
      test(shape(67, 33, 3, 0.5, "rg16", "mirror"), 3, 1),
      test(shape(53, 21, 5, 0.3, "rg16f", "constant"), 1, 2),
      test(shape(41, 37, 2, 0.5, "rg32f", "wrap"), 2, 1),
      test(shape(70, 41, 9, 0.6, "rg8", "clamp"), 3, 1),
      test(shape(37, 9, 1, 0.5, "rgba8", "reflect_101"), 1, 3, true),
      test(shape(3, 2, 5, 0.4, "r16f", "reflect_101"), 1, 2),
      test(shape(70, 41, 3, 0.5, "r32f", "reflect_101"), 2, 1),
      test(shape(41, 33, 12, 0.6, "r8", "reflect_101"), 3, 1),
      // The smallest and the largest.
      test(shape(19, 7, 2, 1, "r32f", "mirror"), 1, 2, true),
      test(shape(18, 6, 3, 0, "rgb8", "constant"), 2, 1, true),
      test(shape(131, 67, 5, 0, "r32f", "constant"), 7, 9),
      test(shape(97, 75, 15, 1, "r8"), 4, 3),
      test(shape(65, 33, 4, 1, "rgba16f", "wrap"), 1, 1),
      test(shape(70, 41, 7, 0, "rgb16", "reflect_101"), 2, 1),
      test(shape(335, 37, 31, 1, "r32f", "mirror"), 3, 1),
      test(shape(35, 21, 1, 0, "r16f", "constant"), 1, 2),
      test(shape(3, 2, 9, 1, "rgba32f", "wrap"), 1, 1),
      test(shape(133, 95, 24, 1, "rgb16f", "constant"), 2, 1),
      test(shape(37, 9, 1, 0.5, "rgb8", "constant"), 1, 2, true),
      test(shape(67, 33, 2, 0.5, "rgb8", "mirror"), 2, 1),
      test(shape(53, 21, 3, 0.3, "rgb16", "constant"), 1, 2),
      test(shape(41, 37, 2, 0.5, "rgb32f", "wrap"), 2, 1),
      test(shape(401, 21, 5, 0.4, "rgb16f", "constant"), 1, 1),
      test(shape(231, 141, 7, 0.5, "rgb8"), 4, 2),
      test(shape(70, 41, 9, 0.6, "rgb8", "reflect_101"), 2, 1),
      test(shape(3, 2, 15, 0.5, "r32f", "mirror"), 1, 2),
      test(shape(17, 9, 16, 0.5, "rgba16f", "constant"), 2, 1),
      test(shape(33, 37, 31, 0.5, "r8")),
      test(shape(9, 7, 32, 0.4, "rgba32f", "wrap"), 1, 1),
      test(shape(11, 13, 32, 0, "r16", "clamp")),
  };
  // The first is one that every variant takes: radius 3, 8 bits.
  recipe.bench_shapes = {
      shape(3840, 2160, 2, 0.5, "r8"),    shape(3840, 2160, 1, 0.5, "r8"),
      shape(3840, 2160, 3, 0.5, "r8"),    shape(3840, 2160, 5, 0.5, "r8"),
      shape(3840, 2160, 7, 0.5, "r8"),    shape(3840, 2160, 15, 0.5, "r8"),
      shape(3840, 2160, 31, 0.5, "r8"),   shape(3840, 2160, 2, 0.5, "rgba8"),
      shape(3840, 2160, 7, 0.5, "rgba8"), shape(3840, 2160, 2, 0.5, "r16"),
      shape(3840, 2160, 7, 0.5, "r16"),   shape(3840, 2160, 1, 0.5, "r32f"),
      shape(3840, 2160, 2, 0.5, "r32f"),  shape(3840, 2160, 3, 0.5, "r32f"),
      shape(3840, 2160, 7, 0.5, "r32f"),  shape(3840, 2160, 15, 0.5, "r32f"),
      shape(3840, 2160, 4, 1, "r8"),      shape(3840, 2160, 15, 1, "r32f"),
  };
  // A maximum: a loop of max(), as in halo_tile.
  recipe.without_first.assign(recipe.bench_shapes.end() - 2, recipe.bench_shapes.end());
  recipe.quick_shape = shape(320, 180, 2, 0.5, "r8");
  // What a radius costs.
  Sweep radii;
  radii.shape = shape(1920, 1080, 1, 0.5, "r8");
  radii.families = {{"pixel", {std::string("r8"), std::string("r32f")}}};
  radii.smoke = {{"width", std::int64_t{67}}, {"height", std::int64_t{35}}};
  radii.along.name = "radius";
  for (const std::int64_t radius : {1, 2, 3, 4, 5, 7, 11, 15, 23, 31})
    radii.along.values.emplace_back(radius);
  radii.label = "radius, pixels";
  radii.model_name = "neighbours";
  radii.model = [](const std::string&, const Params& at, std::uint64_t) {
    const double side = 2 * static_cast<double>(at.integer("radius", 1)) + 1;
    return side * side;
  };
  recipe.sweeps = {radii};
  recipe.shows = {
      {24,
       "network against network_packed: two values of 16 bits in a comparison",
       {Experiment::pair("network", "network_packed")}},
      {25,
       "select against local_tile: the cache against local memory, for reads that repeat",
       {Experiment::pair("select", "local_tile")}},
  };
  return recipe;
}

}  // namespace clcook::cookbook
