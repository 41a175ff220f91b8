// The separable filter with taps of the caller: against the definition in double, for every type of
// pixels, border and method. It has no card: its kernels are those of the Gaussian blur. The changes
// below are bugs that the same check must find; this program alone is compiled with them.
//
// planted: clcook/gaussian_blur/method.hpp
// replace: value = static_cast<float>(static_cast<double>(value) * outside_times)
// with: value = static_cast<float>(static_cast<double>(value) * (testing::bug == testing::Bug::rim ? 1.0 : outside_times))
//
// planted: clcook/gaussian_blur/spline_taps.hpp
// replace: coarse.push_back(axis.at(k))
// with: coarse.push_back(axis.at(testing::bug == testing::Bug::turned ? -k : k))
//
// planted: clcook/gaussian_blur/cpu_fused.hpp
// replace: axes.x.sigma == axes.y.sigma && axes.x.sigma > 0 ? x
// with: axes.x.sigma == axes.y.sigma && (testing::bug == testing::Bug::shared || axes.x.sigma > 0) ? x
//
// planted: clcook/gaussian_blur/impl_taps.hpp
// replace: one ? static_cast<double>(p.taps_x[0]) : 1
// with: one && testing::bug != testing::Bug::factor ? static_cast<double>(p.taps_x[0]) : 1
#undef CLCOOK_COMPILED  // those that are compiled already are right
namespace clcook::testing {
enum class Bug { none, rim, turned, shared, factor };
static Bug bug = Bug::none;
}  // namespace clcook::testing

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <clcook/reference/gaussian_blur.hpp>
#include <clcook/registry/pixels.hpp>
#include <clcook/separable_filter.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "support/borders.hpp"
#include "support/grid.hpp"
#include "support/images.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;
namespace ref = clcook::reference::gaussian_blur;

namespace {

using Problem = SeparableFilter::Problem;
using Taps = std::vector<float>;

Problem problem_of(int width, int height, Taps x, Taps y, PixelType pixel = PixelType::r32f) {
  Problem p;
  p.width = width;
  p.height = height;
  p.taps_x = std::move(x);
  p.taps_y = std::move(y);
  p.pixel = pixel;
  return p;
}

// Values of the whole range of the type; of floats from -1 to 1.
ref::Picture picture_of(const Problem& p) {
  const Channel channel = channel_of(p.pixel);
  ref::Picture out{static_cast<std::size_t>(p.width),
                   static_cast<std::size_t>(p.height),
                   static_cast<std::size_t>(channels_of(p.pixel)),
                   {}};
  for (const float value : noise(out.width * out.height * out.channels)) {
    const float wide = is_integer(channel) ? (value + 1) / 2 * top_of(channel) : value;
    out.values.push_back(static_cast<double>(stored_value(channel, wide)));
  }
  return out;
}

std::vector<double> doubles(const Taps& taps) { return {taps.begin(), taps.end()}; }

// The exact filter, brought within the range of an integer type.
std::vector<double> exact(const Problem& p, const ref::Picture& in) {
  std::array<double, 4> outside{};
  std::copy(p.outside.begin(), p.outside.end(), outside.begin());
  std::vector<double> out =
      ref::filtered(in, doubles(p.taps_x), doubles(p.taps_y), reference_border(p.border), outside)
          .values;
  const auto top = static_cast<double>(top_of(channel_of(p.pixel)));
  if (is_integer(channel_of(p.pixel)))
    for (double& value : out) value = std::clamp(value, 0.0, top);
  return out;
}

std::vector<double> filtered(const SeparableFilter& filter, const ref::Picture& in) {
  const Channel channel = channel_of(filter.problem().pixel);
  const cl::Buffer src = upload(store_channels(channel, in.values));
  const std::size_t bytes = in.values.size() * channel_bytes(channel);
  const cl::Buffer dst = create_buffer(runtime(), bytes);
  const std::vector<unsigned char> stored =
      read_buffer<unsigned char>(runtime(), dst, bytes, {filter(src, dst)});
  std::vector<double> out;
  for (std::size_t i = 0; i < in.values.size(); ++i)
    out.push_back(load_channel(channel, stored.data(), i));
  return out;
}

// How many values are further off than the method promises; -1 where it cannot.
int wrong(const Problem& p, const SeparableFilter::Variant& variant) {
  if (!SeparableFilter::Posed(p).offer(runtime(), *variant.row()).can()) return -1;
  const SeparableFilter filter(runtime(), p, variant);
  const ref::Picture in = picture_of(p);
  const std::vector<double> expected = exact(p, in);
  const std::vector<double> got = filtered(filter, in);
  int count = 0;
  for (std::size_t i = 0; i < got.size(); ++i)
    count += !(std::abs(got[i] - expected[i]) <= filter.max_distance());
  return count;
}

// Pairs of taps: symmetric, of derivatives, of one axis, longer than the picture, of any sum.
std::vector<std::pair<Taps, Taps>> filters() {
  Taps odd;
  for (int k = 0; k < 23; ++k) odd.push_back(static_cast<float>(k * k % 7) - 2.5f);
  return {{{-1, 0, 1}, {1, 2, 1}},
          {{1, 2, 1}, {-1, 0, 1}},
          {SeparableFilter::box(1), SeparableFilter::box(3)},
          {{1}, {1, 0, -0.5f, 3, 0.25f}},
          {{0.5f}, {1}},
          {{0.25f, 2, -1}, {1}},
          {odd, {3, -4, 0.5f, -4, 3}},
          {{-1, 5, -1}, SeparableFilter::box(9)}};
}

}  // namespace

TEST_CASE("separable_filter: the definition, for every type, border and method") {
  const std::array<std::array<int, 2>, 3> sizes{{{37, 19}, {5, 3}, {1, 70}}};
  std::size_t number = 0;
  int ran = 0;
  for (const PixelRow& type : kPixelTypes) {
    for (const SeparableFilter::Row& row : SeparableFilter::variants()) {
      if (left_out(number++, 13))
        continue;  // of no common factor with the methods: each has its turn
      std::size_t turn = number;
      for (const auto& [x, y] : filters()) {
        for (const BorderRow& border : kBorders) {
          const auto& [width, height] = sizes[++turn % sizes.size()];
          Problem p = problem_of(width, height, x, y, type.value);
          p.border = border.value;
          const float top = top_of(type.channel);
          p.outside = {top, top / 4, -top, top * 2};
          CAPTURE(type.name);
          CAPTURE(row.name);
          CAPTURE(border.name);
          CAPTURE(turn);
          const int bad = wrong(p, row);
          ran += bad >= 0;
          CHECK(bad <= 0);
        }
      }
    }
  }
  CHECK(ran > 100);
}

TEST_CASE("separable_filter: the check finds planted bugs") {
  const auto found = [](Bug planted, const Problem& p, const char* variant) {
    CAPTURE(variant);
    CHECK(wrong(p, std::string(variant)) == 0);
    bug = planted;
    CHECK(wrong(p, std::string(variant)) > 0);
    bug = Bug::none;
  };
  Problem p = problem_of(20, 10, {1, 2, 1}, {-1, 0, 1});
  found(Bug::turned, p, "separable");
  found(Bug::factor, problem_of(20, 10, {0.5f}, {1, 2, 1}), "per_pixel");
  p.border = Border::constant;
  p.outside = {1, 0, 0, 0};
  found(Bug::rim, p, "per_pixel");
  found(Bug::rim, p, "separable");
  if (runtime().info().cpu) {
    found(Bug::turned, p, "cpu_fused");
    found(Bug::shared, p, "cpu_fused");
  }
}

TEST_CASE("separable_filter: as long as the blur's longest filter") {
  Taps ramp;
  for (int k = 0; k < SeparableFilter::kMaxTaps; ++k)
    ramp.push_back(static_cast<float>(k % 100) / 100 - 0.4f);
  for (const SeparableFilter::Row& row : SeparableFilter::variants()) {
    CAPTURE(row.name);
    CHECK(wrong(problem_of(23, 4, ramp, {1}), row) <= 0);
    CHECK(wrong(problem_of(4, 23, {1}, ramp), row) <= 0);
  }
}

TEST_CASE(
    "separable_filter: NaN spreads as far as the taps reach, to the side that they reach to") {
  const Problem p = problem_of(30, 20, {0, 0, 0, 1, 1}, {1, 1, 1});
  ref::Picture in = picture_of(p);
  in.values[10 * 30 + 15] = std::nan("");
  for (const SeparableFilter::Row& row : SeparableFilter::variants()) {
    if (!SeparableFilter::Posed(p).offer(runtime(), row).can()) continue;
    CAPTURE(row.name);
    const std::vector<double> got = filtered(SeparableFilter(runtime(), p, row), in);
    int bad = 0;
    for (int i = 0; i < 30 * 20; ++i) {
      const bool near = std::abs(i % 30 - 15) <= 2 && std::abs(i / 30 - 10) <= 1;
      bad += std::isnan(got[static_cast<std::size_t>(i)]) != near;
    }
    CHECK(bad == 0);
  }
}

TEST_CASE("separable_filter: values by hand") {
  // A step of 10 between columns 1 and 2.
  Problem p = problem_of(4, 1, {-1, 0, 1}, {1});
  const ref::Picture step{4, 1, 1, {0, 0, 10, 10}};
  CHECK(filtered(SeparableFilter(runtime(), p), step) == std::vector<double>{0, 10, 10, 0});
  p.taps_x = {1, 0, -1};
  CHECK(filtered(SeparableFilter(runtime(), p), step) == std::vector<double>{0, -10, -10, 0});
  p.pixel = PixelType::r8;  // has no negative values
  CHECK(filtered(SeparableFilter(runtime(), p), step) == std::vector<double>{0, 0, 0, 0});
  p.taps_x = {100, 100, 100};
  CHECK(filtered(SeparableFilter(runtime(), p), step) == std::vector<double>{0, 255, 255, 255});
  p.taps_x = SeparableFilter::box(1);
  CHECK(filtered(SeparableFilter(runtime(), p), step) == std::vector<double>{0, 3, 7, 10});
}

TEST_CASE("separable_filter: regions, in place, images") {
  Problem p = problem_of(40, 30, {-1, 0, 2, 0.5f, 0.25f}, {3, 1, -1}, PixelType::rgba32f);
  p.in_place = true;
  const SeparableFilter filter(runtime(), p);
  const ref::Picture in = picture_of(p);
  const std::vector<double> expected = exact(p, in);
  const std::vector<float> values(in.values.begin(), in.values.end());
  const auto far = [&](double got, std::size_t x, std::size_t y, std::size_t c) {
    return !(std::abs(got - expected[(y * 40 + x) * 4 + c]) <= filter.max_error());
  };

  const SeparableFilter::Region region{7, 3, 11, 20};
  const cl::Buffer src = upload(values);
  const cl::Buffer part = create_buffer(runtime(), 11 * 20 * 16);
  const std::vector<float> some =
      read_buffer<float>(runtime(), part, 11 * 20 * 4, {filter(src, part, region)});
  int bad = 0;
  for (std::size_t i = 0; i < some.size(); ++i)
    bad += far(static_cast<double>(some[i]), 7 + i / 4 % 11, 3 + i / 44, i % 4);
  CHECK(bad == 0);
  check_refused(
      [&] {
        filter(src, part, SeparableFilter::Region{30, 0, 11, 20});
      },
      "must lie within the picture of 40 x 30");

  const std::vector<float> over =
      read_buffer<float>(runtime(), src, values.size(), {filter(src, src, {})});
  for (std::size_t i = 0; i < over.size(); ++i)
    bad += far(static_cast<double>(over[i]), i / 4 % 40, i / 160, i % 4);
  CHECK(bad == 0);
  p.in_place = false;
  if (runtime().info().cpu) {
    const SeparableFilter not_in_place(runtime(), p, "cpu_fused");
    CHECK(!not_in_place.in_place());
    check_refused([&] { not_in_place(src, src); }, "overlap in one buffer");
  }

  if (!runtime().info().images) {
    MESSAGE("SKIPPED: the device has no images");
    return;
  }
  const cl_image_format format{CL_RGBA, CL_FLOAT};
  const cl::Image2D from = make_image(40, 30, format, values.data());
  const cl::Image2D to = make_image(40, 30, format, values.data());
  std::vector<float> got(values.size());
  read_image(to, 0, 0, 40, 30, got.data(), filter(ImageView(from), ImageView(to)));
  for (std::size_t i = 0; i < got.size(); ++i)
    bad += far(static_cast<double>(got[i]), i / 4 % 40, i / 160, i % 4);
  CHECK(bad == 0);
}

TEST_CASE("separable_filter: what is refused, with value and rule") {
  constexpr auto refused = [](const Problem& p, const char* says) {
    check_refused([&] { SeparableFilter(runtime(), p); }, says);
  };
  const float huge = std::numeric_limits<float>::max();
  refused(problem_of(8, 8, {1, 2}, {1}), "taps_x must be an odd number of taps, 1 to 8001, got 2");
  refused(problem_of(8, 8, {1}, {}), "taps_y must be an odd number of taps, 1 to 8001, got 0");
  refused(problem_of(8, 8, {1}, Taps(8003)), "got 8003");
  refused(problem_of(8, 8, {std::nanf("")}, {1}), "taps_x must be finite, got nan");
  refused(problem_of(8, 8, {huge}, {1, 1, 1}), "the sums must fit a float");
  refused(problem_of(8, 8, {1}, {huge}, PixelType::r8), "of values up to 255");
  refused(problem_of(0, 8, {1}, {1}), "width");
  refused(problem_of(8, 8, {1}, {1}, static_cast<PixelType>(99)), "99");
  Problem p = problem_of(8, 8, {1, 1, 1}, {1}, PixelType::rgb8);
  p.outside[2] = std::nanf("");
  refused(p, "outside must be finite for rgb8, got nan");
  p.outside[2] = huge;
  CHECK_NOTHROW(SeparableFilter(runtime(), p));
  p.border = Border::constant;
  refused(p, "the sums must fit a float");
  check_refused([] { SeparableFilter::box(-1); }, "radius");
  check_refused([] { SeparableFilter::box(4001); }, "4001");
  check_refused(
      [] {
        SeparableFilter(runtime(), problem_of(8, 8, {1, 2, 3}, {1}), "fused");
      },
      "on both sides", Errc::unsupported);
}

TEST_CASE("separable_filter: the promise follows from the taps") {
  const SeparableFilter one(runtime(), problem_of(8, 8, {1, 2, 1}, {1}), "per_pixel");
  const SeparableFilter four(runtime(), problem_of(8, 8, {4, -8, 4}, {1}), "per_pixel");
  CHECK(four.max_error() == doctest::Approx(4 * one.max_error()));
  CHECK(one.max_error() == doctest::Approx(4 * (3 + 1 + 8) * 0x1p-24));
  const SeparableFilter bytes(runtime(), problem_of(8, 8, {1, 2, 1}, {1}, PixelType::r8),
                              "per_pixel");
  CHECK(bytes.max_distance() == doctest::Approx(0.5 + 255 * one.max_error()));
}
