// The definitions of clcook/separable_filter.hpp.
#pragma once

#include <algorithm>
#include <clcook/core/math.hpp>
#include <clcook/gaussian_blur/calls.hpp>
#include <clcook/gaussian_blur/cpu_fused.hpp>
#include <clcook/gaussian_blur/fused.hpp>
#include <clcook/gaussian_blur/naive.hpp>
#include <clcook/gaussian_blur/separable.hpp>
#include <clcook/separable_filter.hpp>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

namespace clcook::separable_filter {

// What a sum of such taps makes of values within 1, at most.
inline double gain_of(const std::vector<float>& taps) {
  double gain = 0;
  for (const float tap : taps) gain += std::abs(static_cast<double>(tap));
  return gain;
}

inline gaussian::FilterAxis axis_of(const std::vector<float>& taps, double times) {
  gaussian::FilterAxis out;
  out.radius = static_cast<int>(taps.size() / 2);
  const auto tap = [&](int k) {
    return times * static_cast<double>(taps[static_cast<std::size_t>(out.radius + k)]);
  };
  for (int k = 0; k <= out.radius; ++k) out.weights.push_back(tap(k));
  for (int k = 1; k <= out.radius; ++k) out.before.push_back(tap(-k));
  if (std::equal(out.before.begin(), out.before.end(), out.weights.begin() + 1)) out.before.clear();
  out.sum = 0;
  for (int k = -out.radius; k <= out.radius; ++k) out.sum += out.at(k);
  return out;
}

// One tap along the rows becomes a factor of the columns: methods leave out a pass of one tap, which
// is 1 in a Gaussian.
inline gaussian::Axes axes_of(const Problem& p) {
  const bool one = p.taps_x.size() == 1;
  gaussian::Axes out;
  out.x = one ? gaussian::make_axis(0, 1) : axis_of(p.taps_x, 1);
  out.y = axis_of(p.taps_y, one ? static_cast<double>(p.taps_x[0]) : 1);
  out.z = gaussian::make_axis(0, 1);
  return out;
}

inline gaussian::Problem blur_problem(const Problem& p) {
  gaussian::Problem out;
  out.width = p.width;
  out.height = p.height;
  out.pixel = p.pixel;
  out.border = p.border;
  out.outside = p.outside;
  out.in_place = p.in_place;
  return out;
}

CLCOOK_INLINE Filtered::Filtered(const Problem& p)
    : Problem(p),
      blur(blur_problem(p), axes_of(p)),
      gain(gain_of(p.taps_x) * gain_of(p.taps_y)),
      gain_y(gain_of(p.taps_y)) {}

template <class M>
Spec::Row method_row(const char* name, const char* summary) {
  return Spec::Row(name, summary, {gaussian::offer_of<M>, M::units});
}

CLCOOK_INLINE const std::vector<Spec::Row>& Spec::variants() {
  static const std::vector<Row> all{
      method_row<gaussian::Naive<true>>(
          "per_pixel", "two passes, every tap from global memory, a pixel per work-item")
          .baseline()
          .by_name(),
      method_row<gaussian::Separable>("separable", "two passes through local memory")
          .against("per_pixel", "tiles in local memory, 12 sums of an item in registers"),
      Row("fused", "both passes in one launch, symmetric taps, radii up to 10",
          {[](const Runtime& runtime, const gaussian::Filtered& p) {
             if (!p.axes->x.before.empty() || !p.axes->y.before.empty()) {
               return Offer::no(Lacks::problem,
                                "has one weight for the taps on both sides of the centre");
             }
             return gaussian::offer_of<gaussian::Fused>(runtime, p);
           },
           gaussian::Fused::units})
          .against("separable", "both passes in one launch"),
      method_row<gaussian::CpuFused>("cpu_fused",
                                     "for CPUs: one pass, a work-item per tile, a ring of lines")
          .against("fused", "a tile per work-item, a ring of lines in its cache")
          .for_cpus_only(),
  };
  return all;
}

CLCOOK_INLINE void Spec::check(const Problem& p) {
  pixel_type_name(p.pixel, kName);
  border_name(p.border, kName);
  check_range(kName, "width", p.width, 1, kMaxSize);
  check_range(kName, "height", p.height, 1, kMaxSize);
  const auto check_taps = [](const std::vector<float>& taps, const char* name) {
    if (taps.size() % 2 == 0 || taps.size() > kMaxTaps) {
      fail(Errc::invalid_argument, kName,
           text(name, " must be an odd number of taps, 1 to ", kMaxTaps, ", got ", taps.size()));
    }
    for (const float tap : taps) {
      if (!math::isfinite(tap))
        fail(Errc::invalid_argument, kName, text(name, " must be finite, got ", tap));
    }
  };
  check_taps(p.taps_x, "taps_x");
  check_taps(p.taps_y, "taps_y");
  auto largest = static_cast<double>(top_of(channel_of(p.pixel)));
  for (const float value : p.outside) {
    if (math::isfinite(value)) {
      if (is_constant(p.border)) largest = std::max(largest, std::abs(static_cast<double>(value)));
    } else if (is_integer(channel_of(p.pixel))) {
      fail(Errc::invalid_argument, kName,
           text("outside must be finite for ", pixel_type_name(p.pixel, kName), ", got ", value));
    }
  }
  // Those of rows, of columns, and of both.
  const double x = gain_of(p.taps_x);
  const double y = gain_of(p.taps_y);
  const double sums = largest * std::max({x, y, x * y});
  if (sums > static_cast<double>(std::numeric_limits<float>::max())) {
    fail(Errc::invalid_argument, kName,
         text("the sums must fit a float: the taps make up to ", three_digits(sums),
              " of values up to ", three_digits(largest)));
  }
}

CLCOOK_INLINE Offer Spec::offer(const Runtime& runtime, const Setup<Spec>& s) {
  const Filtered& p = s.problem;
  Offer out = s.row.traits.offer(runtime, p.blur);
  if (!out.can()) return out;
  if (p.in_place && !out.in_place) return Offer::no(Lacks::problem, "does not work in place");
  // The methods speak of weights whose sizes have the sum 1. Devices may take products below 2^-126 as 0.
  const double tiny =
      (p.gain_y * static_cast<double>(p.taps_x.size()) + static_cast<double>(p.taps_y.size()) + 1) *
      0x1p-126;
  out.max_error = out.max_error * p.gain + tiny / gaussian::peak_of(p.blur);
  out.psnr = gaussian::psnr_of(out.max_error);
  return out;
}

CLCOOK_INLINE std::vector<CompileUnit> Spec::units(const Setup<Spec>& s) {
  return s.row.traits.units(s.problem.blur, *s.problem.blur.axes, s.device);
}

CLCOOK_INLINE Spec::Resources Spec::allocate(const Runtime& runtime, const Setup<Spec>& s,
                                             const std::vector<cl::Program>& programs) {
  return {s.design->make(runtime, programs)};
}

}  // namespace clcook::separable_filter

namespace clcook {

CLCOOK_INLINE std::vector<float> SeparableFilter::box(int radius) {
  check_range("SeparableFilter::box", "radius", radius, 0, separable_filter::kMaxRadius);
  const int count = 2 * radius + 1;
  return std::vector<float>(static_cast<std::size_t>(count), 1 / static_cast<float>(count));
}

CLCOOK_INLINE double SeparableFilter::max_error() const {
  return offer().max_error * static_cast<double>(top_of(channel_of(problem().pixel)));
}

CLCOOK_INLINE double SeparableFilter::max_distance() const {
  const auto& p = static_cast<const separable_filter::Filtered&>(problem());
  const double rounding = gaussian::rounding_of(p.blur);
  return max_error() + (is_integer(p.blur.pixel) ? rounding : rounding * std::max(1.0, p.gain));
}

CLCOOK_INLINE gaussian::PlanCall SeparableFilter::call() const {
  const auto& p = static_cast<const separable_filter::Filtered&>(problem());
  return {runtime(),          p.blur,     *resources().method, *memory_, in_place(),
          row().name.c_str(), Spec::kName};
}

}  // namespace clcook
