// The card of the recipe gaussian_blur.
//
// Problem: a Gaussian blur that applications call, with any sigma, pixel type and border. Why the
// naive kernel is slow: every tap is a load from global memory, and the sums of neighbours share
// nothing. What each method changes: see its summary and its header in lib/clcook/gaussian_blur/.
// When it does not help: each method has its range of sigma, types and devices, and says what it
// promises; docs/gaussian_blur.md has the plot over sigma.
#pragma once

#include <algorithm>
#include <array>
#include <clcook/gaussian_blur.hpp>
#include <clcook/reference/alpha.hpp>
#include <clcook/reference/gaussian_blur.hpp>
#include <clcook/reference/gaussian_spline.hpp>
#include <clcook/registry/guarded_buffer.hpp>
#include <clcook/registry/pixels.hpp>
#include <clcook/registry/plan_case.hpp>
#include <clcook/registry/random.hpp>
#include <clcook/registry/recipe.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace clcook::cookbook {
namespace gaussian_blur_card {

namespace ref = reference::gaussian_blur;

// The problem of a shape; recipe.parameters names its values. The source starts one pixel later
// than the result. quality 0 holds each method to its own promise; some do better when they must.
inline GaussianBlur::Problem problem(const Params& shape) {
  GaussianBlur::Problem out;
  out.width = shape.as<int>("width");
  out.height = shape.as<int>("height");
  out.sigma_x = shape.real("sigma_x", shape.real("sigma"));
  out.sigma_y = shape.real("sigma_y", shape.real("sigma"));
  out.pixel = pixel_type(GaussianBlur::parse_pixel(shape.word("pixel")), shape.as<int>("channels"));
  out.border = GaussianBlur::parse_border(shape.word("border"));
  out.truncate = shape.real("truncate");
  out.peak = shape.real("peak");
  out.batch = shape.as<int>("batch");
  out.depth = shape.as<int>("depth");
  out.sigma_z = shape.real("sigma_z");
  out.in_place = shape.integer("in_place") != 0;
  out.alpha = parse_alpha(shape.word("alpha"), "gaussian_blur");
  out.quality = shape.real("quality");
  const double top = gaussian::is_integer(out.pixel) ? gaussian::peak_of(out) : 1;
  out.outside = {static_cast<float>(0.75 * top), static_cast<float>(0.125 * top),
                 static_cast<float>(0.5 * top), static_cast<float>(top)};
  if (gaussian::is_straight(out)) out.outside[3] = static_cast<float>(0.625 * top);
  // Of bytes whole, as cpu_bytes takes them; those of 16 bits are between two values.
  if (channel_bytes(out.pixel) == 1)
    for (float& value : out.outside) value = std::floor(value);
  return out;
}

inline GaussianBlur::Region region(const Params& shape, const GaussianBlur::Problem& p) {
  const auto integer = [&](const char* name, int missing) {
    return static_cast<int>(shape.integer(name, missing));
  };
  return {integer("x", 0),
          integer("y", 0),
          integer("region_width", p.width - integer("x", 0)),
          integer("region_height", p.height - integer("y", 0)),
          integer("z", 0),
          integer("region_depth", p.depth - integer("z", 0))};
}

// Blocks of 64 and of 7 pixels and noise, in [0, 1]: of white noise alone every blur is nearly
// flat, which flatters approximations.
inline std::vector<double> picture(Random& random, std::size_t width, std::size_t height,
                                   std::size_t channels) {
  const auto blocks = [&](std::size_t side) {
    std::vector<float> out(((width + side - 1) / side) * ((height + side - 1) / side) * channels);
    for (float& value : out) value = random.uniform();
    return out;
  };
  const std::vector<float> large = blocks(64);
  const std::vector<float> small = blocks(7);
  std::vector<double> out(width * height * channels);
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      const std::size_t a = (y / 64 * ((width + 63) / 64) + x / 64) * channels;
      const std::size_t b = (y / 7 * ((width + 6) / 7) + x / 7) * channels;
      for (std::size_t c = 0; c < channels; ++c) {
        out[(y * width + x) * channels + c] = static_cast<double>(
            0.5f * large[a + c] + 0.3f * small[b + c] + 0.2f * random.uniform());
      }
    }
  }
  return out;
}

// Values in [0, 1] as they are stored, and what they then are.
inline std::vector<unsigned char> store(GaussianBlur::Pixel pixel, std::vector<double>& values) {
  if (gaussian::is_integer(pixel)) {
    for (double& value : values) value *= static_cast<double>(top_of(pixel));
  }
  std::vector<unsigned char> out = store_channels(pixel, values);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = load_channel(pixel, out.data(), i);
  return out;
}

// The largest rounding of a value of this size to the pixel type.
inline double rounding(GaussianBlur::Pixel pixel, double value) {
  const double size = std::abs(value);
  if (gaussian::is_integer(pixel)) return 0.5;
  if (pixel == GaussianBlur::Pixel::f16) return std::max(size * 0x1p-11, 0x1p-25);
  return size * 0x1p-24;
}

// How wrong a method may be: from the problem and from what the method is, apart from the plan. A
// plan whose weights are wrong would promise less, and be held to that. In units of the largest
// value; u = 2^-24 is the relative error of a rounding.
struct Bound {
  // No plan may promise less than this for pictures of values from -1 to 1, or of integers from 0.
  double promise = 0;
  // No result may be further from the exact filter, before it is rounded to the pixel type, of a
  // picture of values from 0 to 1.
  double picture = 0;
};

// One axis of the exact filter.
struct ExactAxis {
  double sigma;
  std::vector<double> weights;  // of all taps

  int taps() const { return static_cast<int>(weights.size()); }
  int radius() const { return taps() / 2; }
  double middle() const { return weights[weights.size() / 2]; }
};

// Methods that compute the filter itself, in float. Along each axis every weight is rounded, by at
// most u of it, and so is every sum, which is at most 1: (taps + 1) u. Filters that are cut (into
// launches of separable, or taps that it and cpu_fused make of splines) add their parts, a rounding
// each; and the splines may miss u for each tap.
inline Bound float_bound(const ExactAxis& x, const ExactAxis& y) {
  const double both = (2.0 * (x.taps() + y.taps()) + 16) * 0x1p-24;
  return {both, both};
}

// tensor: values as halves of 11 bits are off by 2^-12, the rows between the passes by 2^-11 of
// themselves; weights are off by 2^-11 of themselves, or by 2^-25 of the largest where they are
// small, and divided by their sum, which is off by as much again. Those errors have the sum 0: of
// values from 0 to 1 half of them counts. An addition of 16 products is off by four units in the
// last place of a float, and scales by a rounding each.
// Bytes are halves, and from 0 to 255.
// tensor_split: two halves of each together have 22 bits; a product of two second halves is left
// out, 2^-24 for each axis, and three products are added for each one.
inline Bound tensor_bound(const ExactAxis& x, const ExactAxis& y, bool split, bool bytes) {
  const double steps = (x.radius() + y.radius()) / 8.0 + 4;
  const double taps = x.taps() + y.taps();
  if (split) {
    const double weights = 4 * 0x1p-22 + 2 * taps * 0x1p-36;
    const double others = 8 * 0x1p-24 + 3 * steps * 0x1p-21;
    return {weights + others, weights / 2 + others};
  }
  const double weights = 4 * 0x1p-11 + 2 * taps * 0x1p-25;
  const double others = (bytes ? 0 : 0x1p-12) + 0x1p-11 + 4 * 0x1p-24 + steps * 0x1p-21;
  return {(bytes ? weights / 2 : weights) + others, weights / 2 + others};
}

// tensor_bytes: weights are whole numbers of the sum 2^shift, those with the largest remainders
// rounded up. Of m taps whose remainders add up to l, the l largest are rounded up: the sum of the
// errors is at most 2 l (m - l) / m, which is m / 2, and 2 for what the middle one gets to make
// pairs. They have the sum 0, and values are from 0 to 255. Up to a radius of 8 weights have 16
// bits, rows are rounded to 2^-8 levels, and of the products the lowest bytes are left out, which
// are within 127.5 times 255 times 2^-24 levels of their mean for each tap. Larger filters have
// weights of bytes, and rows in whole levels, rounded in steps of a sixteenth: less than 31/32 off.
// Those that carry what their rounding leaves are nearer; they are taken for a quality.
inline Bound bytes_bound(const ExactAxis& x, const ExactAxis& y) {
  const bool fine = std::max(x.radius(), y.radius()) <= 8;
  const auto weights = [&](const ExactAxis& axis) {
    const int shift = fine ? 16 : static_cast<int>(std::floor(std::log2(254.99 / axis.middle())));
    return 127.5 * (axis.taps() / 2.0 + 2) * std::ldexp(1.0, -shift);
  };
  const double levels =
      weights(x) + weights(y) + (fine ? 0x1p-9 + 127.5 * 255 * 0x1p-24 * y.taps() : 31.0 / 32);
  return {levels / 255, levels / 255};
}

// cpu_bytes: weights are rounded to 2^-16, pairs of them counting twice and the middle one taking what is
// left: with the sum 0, for values from 0 to 255. A product of a pass is rounded down to a step of 2^-7
// levels, and half a step is added for each.
inline Bound short_sums_bound(const ExactAxis& x, const ExactAxis& y) {
  const double taps = x.radius() + y.radius();
  const double levels = 255 * taps * 0x1p-16 + ((taps + 2) / 2 + 1) / 128;
  return {levels / 255, levels / 255};
}

// pyramid: cells of the largest power of two that sigma reaches, 8 to 64 pixels, as far as 72 of
// them on each side are enough. A plan that promises a quality may take smaller ones, which are
// nearer to the filter.
inline ref::SplineGrid pyramid_grid(const ExactAxis& axis) {
  int cell = 64;
  const auto reach = [&] { return (axis.radius() + cell - 1) / cell + 2; };
  while (cell > 8 && (axis.sigma < cell || reach() > 72)) cell /= 2;
  return {axis.weights, cell, ref::best_cells(axis.weights, cell, reach())};
}

// cpu_pyramid: cells of 4 floor(sigma / 16) pixels, and of two reaches the better one.
inline ref::SplineGrid cpu_pyramid_grid(const ExactAxis& axis) {
  const int cell = static_cast<int>(axis.sigma / 16) * 4;
  const auto around = static_cast<int>(std::lround(static_cast<double>(axis.radius()) / cell));
  const auto grid = [&](int reach) {
    return ref::SplineGrid(axis.weights, cell,
                           ref::gaussian_cells(axis.weights, cell, std::max(reach, 1)));
  };
  ref::SplineGrid one = grid(around);
  ref::SplineGrid other = grid(around - 1);
  return one.worst() < other.worst() ? one : other;
}

// Both. Along each axis no picture of values up to 1 in size is further off than
// SplineGrid::worst(), and of weights that are all at once e_x e_y in place of t_x t_y,
//   |e_x e_y - t_x t_y| <= |e_x - t_x| |t_y| + |e_x| |e_y - t_y| <= x + y + x y.
// Both have the sum 1: of values from 0 to 1, such as integers, half of it. A promise may be a
// tenth larger: plans choose their weights as they like.
//
// Real pictures are far from that worst one, which alternates as the cells do: so `picture`, how
// far this grid is from the exact filter for the very picture, is measured by the case. Plans
// choose their weights as they like, by an error that hardly depends on it where they are as good:
// a quarter more.
//
// Roundings: each pass rounds as often as it adds products, and so do the weights. Of pyramid the
// filter's weights change sign, and their sizes add up to less than 1.8 along each axis.
inline Bound spline_bound(const ref::SplineGrid& x, const ref::SplineGrid& y,
                          const ExactAxis& exact_x, const ExactAxis& exact_y, double picture,
                          bool from_zero) {
  const double both = x.worst() + y.worst() + x.worst() * y.worst();
  const double cells = exact_x.radius() / x.cell() + exact_y.radius() / y.cell() + 6;
  const double roundings = 3.3 * (3 * (x.cell() + y.cell()) + 2 * cells + 20) * 0x1p-24;
  return {1.1 * (from_zero ? both / 2 : both) + roundings, 1.25 * picture + roundings};
}

class BlurCase : public PlanCase<GaussianBlur> {
 public:
  BlurCase(const Runtime& runtime, const Params& shape, std::uint64_t seed)
      : PlanCase(runtime, problem(shape)), region_(region(shape, problem_)) {
    GaussianBlur::Spec::check(problem_);
    const std::size_t bytes = gaussian::pixel_bytes(problem_);
    const auto width = static_cast<std::size_t>(problem_.width);
    const auto height = static_cast<std::size_t>(problem_.height);
    const auto batch =
        static_cast<std::size_t>(problem_.batch) * static_cast<std::size_t>(problem_.depth);
    const auto channels = static_cast<std::size_t>(gaussian::channels_of(problem_));
    const auto offset = shape.as<std::size_t>("offset");
    const std::size_t pad = shape.as<std::size_t>("pad") * bytes;
    const auto later = [&](std::size_t more) { return (offset == 0 ? 0 : offset + more) * bytes; };
    src_.emplace(runtime, width * bytes, height * batch, later(1), width * bytes + pad,
                 static_cast<unsigned char>(0xFF));
    if (!problem_.in_place) {
      const std::size_t row = static_cast<std::size_t>(region_.width) * bytes;
      const std::size_t slices =
          static_cast<std::size_t>(problem_.batch) * static_cast<std::size_t>(region_.depth);
      dst_.emplace(runtime, row, static_cast<std::size_t>(region_.height) * slices, later(0),
                   row + pad, static_cast<unsigned char>(0xCD));
    }
    Random random(seed);
    const bool specials = shape.integer("specials") != 0;
    for (std::size_t i = 0; i < batch; ++i) {
      ref::Picture one{width, height, channels, picture(random, width, height, channels)};
      if (specials) {
        const double kinds[] = {std::nan(""), std::numeric_limits<double>::infinity(),
                                -std::numeric_limits<double>::infinity()};
        for (const double kind : kinds) one.values[random.below(one.values.size())] = kind;
      }
      if (gaussian::is_straight(problem_)) {  // a quarter is transparent, a quarter opaque
        for (std::size_t at = channels - 1; at < one.values.size(); at += channels)
          one.values[at] = std::clamp(2 * one.values[at] - 0.5, 0.0, 1.0);
      }
      const std::vector<unsigned char> stored = store(problem_.pixel, one.values);
      stored_.insert(stored_.end(), stored.begin(), stored.end());
      if (gaussian::is_straight(problem_)) reference::weight_by_alpha(one.values, channels, top());
      pictures_.push_back(std::move(one));
    }
  }

  cl::Event call(const std::vector<BufferView>& views,
                 const std::vector<cl::Event>& wait) override {
    return plan()(views[0], views[1], region_, wait);
  }

  // All rows, or of large pictures the first and last ones and some between.
  Diff check(const std::vector<cl::Event>& wait) override {
    Diff diff;
    const std::vector<unsigned char> got = result().read(wait, diff, "dst");
    expect();
    const Bound& bound = bound_of(plan().variant().name());
    if (!(plan().offer().max_error <= bound.promise)) {
      diff.broken(text("the plan promises an error of at most ", plan().offer().max_error,
                       " of the largest value; of this method ", bound.promise,
                       " is to be expected at most"));
    }
    const double allowed = bound.picture * top();
    double squares = 0;
    double most = 0;
    const auto channels = static_cast<std::size_t>(gaussian::channels_of(problem_));
    const std::size_t line = static_cast<std::size_t>(region_.width) * channels;
    for (const Row& row : expected_) {
      const std::size_t first =
          (row.picture * static_cast<std::size_t>(region_.height) + row.y) * line;
      for (std::size_t e = 0; e < line; ++e) {
        double value = load_channel(problem_.pixel, got.data(), first + e);
        double stored = rounding(problem_.pixel, row.values[e]);
        if (gaussian::is_straight(problem_)) {  // colours times alpha, each of which is rounded
          const std::size_t last = (first + e) / channels * channels + channels - 1;
          if (first + e != last) value *= load_channel(problem_.pixel, got.data(), last) / top();
          stored = 2 * rounding(problem_.pixel, top());
        }
        const auto where = [&] {
          return text("picture ", row.picture, ", x ", e / channels, ", y ", row.y, ", channel ",
                      e % channels);
        };
        diff.compare(where, row.values[e], value, allowed + stored);
        if (!std::isfinite(row.values[e])) continue;
        const double off = std::abs(value - row.values[e]);
        most = std::max(most, off);
        // At least, before it was rounded to the pixel type.
        const double before = std::max(off - stored, 0.0);
        squares += before * before;
      }
    }
    if (!(most <= plan().max_distance())) {
      diff.broken(text("a result is ", most, " from the exact filter, where the plan promises ",
                       plan().max_distance(), " at most"));
    }
    // The PSNR that the problem asks for counts before the rounding, see psnr_of().
    const double peak = gaussian::peak_of(problem_);
    const double count = static_cast<double>(expected_.size() * line);
    if (problem_.quality > 0 &&
        !(10 * std::log10(peak * peak * count / squares) >= problem_.quality)) {
      diff.broken(text("the PSNR is ", 10 * std::log10(peak * peak * count / squares),
                       " dB, where the problem asks for ", problem_.quality));
    }
    return diff;
  }

  Work work() const override {
    Work work;
    const double pixels =
        static_cast<double>(region_.width) * region_.height * region_.depth * problem_.batch;
    work.bytes_read = pixels * static_cast<double>(gaussian::pixel_bytes(problem_));
    work.bytes_written = work.bytes_read;
    return work;
  }

 protected:
  const void* input() override { return stored_.data(); }

 private:
  struct Row {
    std::size_t picture;
    std::size_t y;
    std::vector<double> values;
  };

  // The largest value of the pictures and of what is outside, in units of the pixel type; alpha where
  // nothing is transparent.
  double top() const {
    return gaussian::is_integer(problem_.pixel) ? gaussian::peak_of(problem_) : 1;
  }

  const Bound& bound_of(const std::string& variant) {
    for (const auto& [known, bound] : bounds_) {
      if (known == variant) return bound;
    }
    // What a volume is along z counts once more. Of volume and straight_alpha, which have other methods
    // for their parts, only the floor that was asked for is known.
    const auto exact = [&] {
      Bound out = float_bound(x_, y_);
      if (gaussian::is_volume(problem_)) {
        out.promise += (2.0 * z_.taps() + 24) * 0x1p-24;
        out.picture = out.promise;
      }
      return out;
    };
    const auto spline = [&](const auto& grid) {
      const ref::SplineGrid x = grid(x_);
      const ref::SplineGrid y = problem_.sigma_x == problem_.sigma_y ? x : grid(y_);
      return spline_bound(x, y, x_, y_, how_far(x, y), gaussian::is_integer(problem_.pixel));
    };
    Bound bound = variant == "pyramid"       ? spline(pyramid_grid)
                  : variant == "cpu_pyramid" ? spline(cpu_pyramid_grid)
                  : variant == "tensor"
                      ? tensor_bound(x_, y_, false, gaussian::is_integer(problem_.pixel))
                  : variant == "tensor_split" ? tensor_bound(x_, y_, true, false)
                  : variant == "tensor_bytes" ? bytes_bound(x_, y_)
                  : variant == "cpu_bytes"    ? short_sums_bound(x_, y_)
                  : variant == "volume" || variant == "straight_alpha" ? Bound{1, 1}
                                                                       : exact();
    // Straight alpha. Weighting rounds 1 / top, the factor and the product, and 8 u less 3 are enough
    // for dividing: a divisor off by 2.5 units in the last place, and a product.
    if (gaussian::is_straight(problem_)) {
      bound.promise += 8 * 0x1p-24;
      bound.picture += 8 * 0x1p-24;
    }
    // Who asks for a quality is promised no larger error than that of it.
    const double floor = std::pow(10, -problem_.quality / 20);
    bound = {std::min(bound.promise, floor), std::min(bound.picture, floor)};
    bounds_.emplace_back(variant, bound);
    return bounds_.back().second;
  }

  // How far a blur of these grids is from the exact one at most, in units of the largest value.
  double how_far(const ref::SplineGrid& x, const ref::SplineGrid& y) const {
    const std::size_t channels = pictures_[0].channels;
    double worst = 0;
    for (const Row& row : expected_) {
      const std::vector<double> all = ref::blur_row_by(
          pictures_[row.picture], [&](std::size_t at) -> const auto& { return x.of(at); },
          [&](std::size_t at) -> const auto& { return y.of(at); }, border(), outside(),
          row.y + static_cast<std::size_t>(region_.y));
      for (std::size_t e = 0; e < row.values.size(); ++e) {
        const std::size_t at = static_cast<std::size_t>(region_.x) * channels + e;
        worst = std::max(worst, std::abs(all[at] - row.values[e]));
      }
    }
    return worst / top();
  }

  ref::Border border() const {
    return reference::border_named(GaussianBlur::to_string(problem_.border));
  }
  std::array<double, 4> outside() const {
    std::array<double, 4> out{};
    std::vector<double> values(problem_.outside.begin(),
                               problem_.outside.begin() + gaussian::channels_of(problem_));
    if (gaussian::is_straight(problem_)) reference::weight_by_alpha(values, values.size(), top());
    std::copy(values.begin(), values.end(), out.begin());
    return out;
  }

  void expect() {
    if (!expected_.empty()) return;
    const std::size_t channels = pictures_[0].channels;
    // Slices' rows are computed once, unless few of them are compared.
    const auto depth = static_cast<std::size_t>(problem_.depth);
    const double cost = static_cast<double>(pictures_[0].width * channels) *
                        static_cast<double>(x_.taps() + y_.taps()) *
                        (depth > 1 ? static_cast<double>(z_.taps()) : 1);
    const auto height = static_cast<std::size_t>(region_.height);
    const auto slices = static_cast<std::size_t>(region_.depth);
    const std::size_t count = static_cast<std::size_t>(problem_.batch) * slices;
    const auto rows =
        static_cast<std::size_t>(std::clamp((is_sampled_ ? 3e8 : 1.5e9) / cost, 8.0, 1e9)) /
            (depth > 1 ? depth : 1) +
        1;
    Random random(7);
    std::map<std::size_t, std::vector<double>> known;  // rows of blurred slices
    // Of large volumes a few slices, the first and last ones too.
    const std::size_t every = depth > 64 ? depth / 8 - 1 : 1;
    for (std::size_t picture = 0; picture < count; ++picture) {
      const std::size_t slice = picture % slices;
      if (slice % every != 0 && slice + 1 != slices) continue;
      known.clear();
      for (std::size_t i = 0; i < std::min(rows, height); ++i) {
        std::size_t at = i;
        if (rows < height) {
          at = i < rows / 4 ? i : i < rows / 2 ? height - 1 - (i - rows / 4) : random.below(height);
        }
        const std::size_t y = at + static_cast<std::size_t>(region_.y);
        const auto blurred = [&](std::size_t z) -> const std::vector<double>& {
          const std::size_t index = picture / slices * depth + z;
          const auto entry =
              known.try_emplace(index * pictures_[0].height + y, std::vector<double>());
          if (entry.second) {
            entry.first->second =
                ref::blur_row(pictures_[index], x_.weights, y_.weights, border(), outside(), y);
          }
          return entry.first->second;
        };
        const std::vector<double> all = ref::blur_row_along_z(
            blurred, depth, z_.weights, border(), outside(), channels,
            pictures_[0].width * channels, slice + static_cast<std::size_t>(region_.z));
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(
                                             static_cast<std::size_t>(region_.x) * channels);
        const std::vector<double> values(
            begin, begin + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(region_.width) *
                                                       channels));
        expected_.push_back({picture, at, values});
      }
    }
  }

  GaussianBlur::Region region_;
  std::vector<ref::Picture> pictures_;
  std::vector<unsigned char> stored_;
  std::vector<Row> expected_;
  ExactAxis x_{problem_.sigma_x, ref::weights(problem_.sigma_x, problem_.truncate)};
  ExactAxis y_{problem_.sigma_y, ref::weights(problem_.sigma_y, problem_.truncate)};
  ExactAxis z_{problem_.sigma_z, ref::weights(problem_.sigma_z, problem_.truncate)};
  std::vector<std::pair<std::string, Bound>> bounds_;  // of the variants so far
};

}  // namespace gaussian_blur_card

inline Recipe gaussian_blur() {
  using P = Params;
  Recipe recipe;
  recipe.title = "Gaussian blur for use";
  recipe.question = "Which blur for which sigma, type and device?";
  recipe.for_gpus = "separable";
  recipe.family = "memory locality";
  recipe.headline_pair = {"separable", "per_pixel"};
  recipe.summary =
      "One plan for any sigma without recompilation: the method is chosen from sigma, type, size "
      "and device, within a stated error.";
  const auto shapes = [&](std::initializer_list<const char*> texts) {
    std::vector<P> out;
    for (const char* one : texts) out.push_back(P::parse(one));
    return out;
  };
  constexpr double kMost = std::numeric_limits<int>::max();
  recipe.parameters = {
      Parameter::integer("width", "pixels", 1, GaussianBlur::kMaxSize),
      Parameter::integer("height", "pixels", 1, GaussianBlur::kMaxSize),
      Parameter::real("sigma", "standard deviation both ways, pixels", 0, GaussianBlur::kMaxSigma,
                      "0"),
      Parameter::real("sigma_x", "along rows", 0, GaussianBlur::kMaxSigma, "sigma"),
      Parameter::real("sigma_y", "along columns", 0, GaussianBlur::kMaxSigma, "sigma"),
      Parameter::word("pixel", "type of a channel", names_of(kChannels), "f32"),
      Parameter::integer("channels", "of a pixel", 1, 4, "4"),
      Parameter::word("border", "what lies outside", names_of(kBorders), "clamp"),
      Parameter::real("truncate", "radius of the filter, sigmas", 0.5, 8, "4"),
      Parameter::real("peak", "largest magnitude of a float, 0: any", 0,
                      static_cast<double>(std::numeric_limits<float>::max()), "0"),
      Parameter::integer("batch", "pictures, one below the other", 1, kMost, "1"),
      Parameter::integer("depth", "slices of a volume", 1, GaussianBlur::kMaxSize, "1"),
      Parameter::real("sigma_z", "along z", 0, GaussianBlur::kMaxSigma, "0"),
      Parameter::integer("x", "first column of the region", 0, kMost, "0"),
      Parameter::integer("y", "first row of the region", 0, kMost, "0"),
      Parameter::integer("region_width", "pixels", 1, kMost, "to the picture's end"),
      Parameter::integer("region_height", "pixels", 1, kMost, "to the picture's end"),
      Parameter::integer("z", "first slice of the region", 0, kMost, "0"),
      Parameter::integer("region_depth", "slices", 1, kMost, "to the volume's end"),
      Parameter::integer("offset", "pixels before the first of the result", 0, 1 << 20, "0"),
      Parameter::integer("pad", "pixels behind each row", 0, 1 << 20, "0"),
      Parameter::integer("specials", "1: NaN and infinities in the picture", 0, 1, "0"),
      Parameter::integer("in_place", "1: the result replaces the source", 0, 1, "0"),
      Parameter::word("alpha", "what the last of 2 or 4 channels is", names_of(kAlphas), "none"),
      Parameter::real("quality", "dB that the method must promise, 0: its own promise", 0, 1000,
                      "0"),
  };
  describe<GaussianBlur, gaussian_blur_card::BlurCase>(recipe, gaussian_blur_card::problem);
  recipe.test_shapes = shapes({
      "width=1 height=1 sigma=2 tiny=1",
      "width=13 height=7 sigma_x=1.5 sigma_y=0.5 pixel=u8 channels=3 offset=2 pad=1 tiny=1",
      "width=67 height=37 sigma_x=2 sigma_y=3 truncate=2 border=mirror offset=1 pad=3",
      "width=61 height=53 sigma_x=9 sigma_y=0 pixel=u16 channels=2 border=wrap",
      "width=40 height=31 sigma=2.5 pixel=f16 channels=1 border=constant batch=2 pad=5",
      "width=130 height=70 sigma_x=1 sigma_y=2 specials=1",
      "width=210 height=205 sigma_x=1 sigma_y=10 specials=1",
      "width=41 height=23 sigma=1.5 pixel=f16 channels=2 border=wrap",
      "width=35 height=29 sigma=2 pixel=f16 channels=3 offset=1 pad=3",
      "width=29 height=33 sigma_x=1 sigma_y=2 pixel=f16 border=mirror specials=1",
      // Rows of whole cache lines, which methods for CPUs store around the cache.
      "width=256 height=64 sigma=2 pixel=u8",
      "width=256 height=64 sigma=20 peak=1",
      // Splines of cpu_fused that begin behind the first tap, and cells of pyramid that repeat.
      "width=160 height=160 sigma_x=32.5 sigma_y=32 truncate=2 peak=1",
      "width=40 height=64 sigma=20 peak=1 border=wrap",
      "width=150 height=90 sigma_x=2 sigma_y=4 x=31 y=17 region_width=83 region_height=41",
      "width=70 height=64 sigma=33 pixel=u8 border=mirror",
      "width=33 height=129 sigma_x=0 sigma_y=5 in_place=1 channels=2",
      "width=257 height=65 sigma=16 peak=1 border=wrap",
      "width=45 height=38 sigma_x=17 sigma_y=40 pixel=u16 channels=3 border=constant x=5 y=9 "
      "region_width=33 region_height=20 offset=1 pad=2 batch=2",
      "width=30 height=3 sigma_x=0 sigma_y=500 channels=1 batch=40",
      "width=1001 height=331 sigma=1 pixel=u8 border=mirror pad=3",
      // Of every method: the smallest pictures, filters that are wider, and pictures of whole blocks.
      "width=1 height=1 sigma=3 pixel=u8 border=reflect_101",
      "width=2 height=1 sigma=9 channels=1 border=reflect_101 tiny=1",
      "width=3 height=2 sigma_x=1 sigma_y=2 pixel=u16 channels=2 border=reflect_101 offset=1 pad=3",
      "width=67 height=37 sigma=2 truncate=2 peak=1 border=reflect_101 offset=1 pad=3",
      "width=96 height=64 sigma=17 peak=1 quality=40 border=reflect_101",
      "width=45 height=30 sigma=33 pixel=u8 border=reflect_101 quality=40 pad=1",
      "width=132 height=60 sigma=8 truncate=2 pixel=u8 border=reflect_101",
      "width=21 height=13 depth=7 sigma=2 pixel=f16 channels=1 peak=1 border=reflect_101",
      "width=37 height=21 sigma=17 peak=1 quality=40 border=constant offset=2 pad=1",
      "width=19 height=11 sigma=17 channels=1 peak=1 quality=40 border=constant offset=2 pad=1 "
      "tiny=1",
      "width=150 height=90 sigma_x=40 sigma_y=66 pixel=f16 channels=3 peak=1 quality=45 truncate=3 "
      "batch=2 x=31 y=17 region_width=83 region_height=41 offset=1 pad=1",
      "width=190 height=141 sigma=34 peak=1 quality=60 border=mirror in_place=1",
      "width=5 height=9 sigma=17 truncate=2 peak=1 channels=1 tiny=1",
      "width=1600 height=260 sigma_x=20 sigma_y=32 truncate=2 peak=1 border=wrap",
      "width=83 height=41 sigma=2 truncate=2 peak=1 border=mirror offset=3 pad=1",
      // Rows that are whole cache lines and begin at none: no streaming stores.
      "width=256 height=64 sigma=20 peak=1 offset=1",
      "width=256 height=64 sigma=2 pixel=u8 offset=1",
      "width=140 height=70 sigma_x=8 sigma_y=3 truncate=2 peak=3 x=9 y=13 region_width=77 "
      "region_height=50 batch=2",
      "width=76 height=50 sigma=2 truncate=2 peak=1 border=constant",
      // cpu_bytes: tiles beside each other, strips, and a column of the other side.
      "width=1100 height=90 sigma_x=2 sigma_y=1 pixel=u8 channels=1 border=wrap",
      "width=347 height=45 sigma_x=4 sigma_y=3 pixel=u8 channels=3 border=wrap batch=2 pad=1",
      "width=59 height=33 sigma_x=1 sigma_y=5 pixel=u8 channels=2 border=constant x=0 y=5 "
      "region_width=7 region_height=20 offset=1 pad=2",
      "width=8 height=70 sigma_x=6 sigma_y=0 pixel=u8 channels=2 border=mirror",
      // Two launches of tensor, and the warps of tensor_bytes that share their pixels.
      "width=20 height=60 sigma_x=1 sigma_y=10 truncate=2 peak=1 y=2 region_height=30",
      "width=90 height=12 sigma=9 truncate=2 peak=1 border=constant",
      "width=20 height=40 sigma=10 truncate=2 pixel=u8",
      "width=131 height=60 sigma=2 truncate=2 pixel=u8 pad=1 offset=1",
      "width=132 height=60 sigma=8 truncate=2 pixel=u8 border=wrap",
      "width=132 height=21 sigma=4 truncate=2 pixel=u8",
      "width=68 height=40 sigma=18 truncate=2 pixel=u8 quality=60 pad=1",
      // Volumes.
      "width=7 height=5 depth=3 sigma=1 sigma_z=1.5 pixel=u16 channels=1 quality=90 tiny=1",
      "width=31 height=19 depth=17 sigma_x=2 sigma_y=1 sigma_z=3 channels=1 border=mirror "
      "quality=90 offset=1 pad=3",
      "width=20 height=11 depth=9 sigma_z=2 pixel=u16 channels=2 border=wrap quality=80 pad=1",
      "width=20 height=11 depth=9 sigma_z=2 border=wrap quality=90",
      "width=24 height=15 depth=7 sigma=2 pixel=f16 channels=1 peak=1 quality=60 border=constant",
      "width=9 height=8 depth=1 sigma=1 sigma_z=2 channels=3 border=constant quality=90",
      "width=17 height=12 depth=33 sigma=1 sigma_z=6 pixel=u8 channels=3 border=constant "
      "quality=60 batch=2",
      "width=16 height=10 depth=21 sigma_x=1 sigma_y=2 sigma_z=1 z=5 region_depth=9 batch=2 "
      "border=wrap quality=90 offset=2",
      "width=16 height=10 depth=11 sigma_x=1 z=2 region_depth=4 batch=2 quality=90 pad=2",
      "width=23 height=11 depth=12 sigma=1 sigma_z=2 channels=1 specials=1 quality=90",
      "width=18 height=9 depth=8 sigma=1 sigma_z=1 channels=1 in_place=1 quality=90",
      "width=18 height=9 depth=8 sigma_z=1 channels=2 in_place=1 quality=90",
      "width=20 height=18 depth=30 sigma=17 sigma_z=20 channels=1 peak=1 quality=50",
      "width=6 height=4 depth=5 sigma_z=0 channels=1 pad=1 quality=90",
      // Straight alpha. The tiny one is not for `fused`, whose results Oclgrind takes for uninitialised.
      "width=9 height=5 sigma_x=1.5 sigma_y=3 alpha=straight pixel=u8 offset=1 pad=1 quality=60 "
      "tiny=1",
      "width=67 height=37 sigma_x=2 sigma_y=3 alpha=straight border=constant offset=1 pad=3 "
      "quality=90",
      "width=40 height=31 sigma=2.5 alpha=straight pixel=u16 channels=2 border=constant batch=2 "
      "x=3 y=5 region_width=30 region_height=20 quality=80",
      "width=33 height=29 sigma=20 alpha=straight pixel=f16 peak=1 border=mirror quality=50 "
      "in_place=1",
      "width=200 height=130 sigma=0 alpha=straight channels=2 quality=110",
      "width=18 height=9 depth=8 sigma=1 sigma_z=1 alpha=straight channels=2 z=2 region_depth=4 "
      "quality=80",
      // More than the widest tile of cpu_bytes, which few cores have one of in narrower pictures.
      "width=4200 height=9 sigma_x=2 sigma_y=1 pixel=u8 channels=1 border=wrap",
  });
  recipe.bench_shapes = shapes({
      "width=3840 height=2160 sigma=2 truncate=2 peak=1",
      "width=3840 height=2160 sigma=8 truncate=2 peak=1",
      "width=3840 height=2160 sigma=32 truncate=2 peak=1",
      "width=3840 height=2160 sigma=32 peak=1",
      "width=3840 height=2160 sigma=200 peak=1",
      "width=3840 height=2160 sigma=2 truncate=2 pixel=u8",
      "width=3840 height=2160 sigma=8 truncate=2 pixel=u8",
      "width=3840 height=2160 sigma=32 truncate=2 pixel=u8",
      "width=3840 height=2160 sigma=32 pixel=u8",
      "width=3840 height=2160 sigma=2 truncate=2 pixel=u8 alpha=straight",
      "width=3840 height=2160 sigma=8 truncate=2 pixel=u8 alpha=straight",
      "width=3840 height=2160 sigma=32 truncate=2 pixel=u8 alpha=straight",
      "width=3840 height=2160 sigma=200 pixel=u8 alpha=straight",
      "width=512 height=512 depth=512 sigma=1 sigma_z=1 truncate=3 channels=1 pixel=u16 quality=60",
      "width=512 height=512 depth=512 sigma=1 sigma_z=1 truncate=3 channels=1 peak=1 quality=60",
      "width=512 height=512 depth=512 sigma=20 sigma_z=20 channels=1 pixel=u16 quality=60",
      "width=512 height=512 depth=512 sigma=20 sigma_z=20 channels=1 peak=1 quality=60",
  });
  recipe.quick_shape = P::parse("width=640 height=360 sigma=8 truncate=2 peak=1");
  Sweep sigma;
  sigma.shape = P::parse("width=3840 height=2160 peak=1");
  sigma.smoke = P::parse("width=64 height=48");
  sigma.along = {"sigma", {}};
  for (const double value : {0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 250.0, 500.0})
    sigma.along.values.emplace_back(value);
  sigma.label = "sigma, pixels";
  Sweep size = sigma;
  size.shape = P::parse("sigma=8 truncate=2 peak=1");
  size.along = {"width", {}};
  for (const std::int64_t value : {256, 512, 1024, 2048, 4096, 8192})
    size.along.values.emplace_back(value);
  size.shape.set("height", std::int64_t{2160});
  size.label = "width of a picture 2160 high, pixels";
  recipe.sweeps = {std::move(sigma), std::move(size)};
  return recipe;
}

}  // namespace clcook::cookbook
