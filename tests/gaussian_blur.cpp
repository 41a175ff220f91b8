// What the generic conformance test cannot know about gaussian_blur: the definition of the filter,
// the choice of the method, refusals, regions, strips, images, sigma without compilation, and what
// NaN does.
#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <clcook/cookbook/gaussian_blur.hpp>
#include <clcook/gaussian_blur/cpu_bytes.hpp>
#include <clcook/gaussian_blur_strips.hpp>
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

using Problem = GaussianBlur::Problem;
using Posed = GaussianBlur::Posed;

Problem problem_of(int width, int height, double sigma) { return {width, height, sigma, sigma}; }

ref::Picture picture_of(const Problem& p, const std::vector<float>& values) {
  ref::Picture out{static_cast<std::size_t>(p.width),
                   static_cast<std::size_t>(p.height),
                   static_cast<std::size_t>(gaussian::channels_of(p)),
                   {}};
  out.values.assign(values.begin(), values.end());
  return out;
}

std::vector<double> exact(const Problem& p, const std::vector<float>& values) {
  return ref::blur(picture_of(p, values), ref::weights(p.sigma_x, p.truncate),
                   ref::weights(p.sigma_y, p.truncate), reference_border(p.border),
                   {static_cast<double>(p.outside[0]), static_cast<double>(p.outside[1]),
                    static_cast<double>(p.outside[2]), static_cast<double>(p.outside[3])})
      .values;
}

std::vector<GaussianBlur::Variant> able(const Problem& p) {
  std::vector<GaussianBlur::Variant> out;
  for (const GaussianBlur::Row& row : GaussianBlur::variants()) {
    if (GaussianBlur::Posed(p).offer(runtime(), row).can()) out.emplace_back(row);
  }
  return out;
}

}  // namespace

TEST_CASE("gaussian_blur: the weights are the definition's") {
  CHECK(ref::radius(2, 2) == 4);
  CHECK(ref::radius(0.1, 4) == 0);
  CHECK(ref::radius(0.125, 4) == 1);
  for (const double sigma : {0.0, 0.3, 2.0, 17.5, 500.0}) {
    const std::vector<double> w = ref::weights(sigma, 4);
    const gaussian::FilterAxis axis = gaussian::make_axis(sigma, 4);
    REQUIRE(w.size() == static_cast<std::size_t>(axis.taps()));
    double sum = 0;
    double variance = 0;
    for (int k = -axis.radius; k <= axis.radius; ++k) {
      const double weight = w[static_cast<std::size_t>(k + axis.radius)];
      CHECK(weight == doctest::Approx(axis.weights[static_cast<std::size_t>(std::abs(k))]));
      sum += weight;
      variance += weight * k * k;
    }
    CHECK(sum == doctest::Approx(1).epsilon(1e-13));
    if (sigma >= 2) CHECK(std::sqrt(variance) == doctest::Approx(sigma).epsilon(0.002));
  }
}

TEST_CASE("gaussian_blur: the reference's weights are Gaussian") {
  // What makes a Gaussian one: the ratio of neighbouring ratios is exp(-1 / sigma^2) everywhere.
  for (const double sigma : {0.7, 2.0, 17.5}) {
    const std::vector<double> w = ref::weights(sigma, 4);
    for (std::size_t k = 1; k + 1 < w.size(); ++k) {
      CHECK(w[k - 1] * w[k + 1] / (w[k] * w[k]) ==
            doctest::Approx(std::exp(-1 / (sigma * sigma))).epsilon(1e-12));
      CHECK(w[k] == w[w.size() - 1 - k]);
    }
  }
  // exp(-1/2), 1 and exp(-1/2) in decimals.
  const std::vector<double> three = ref::weights(1, 1);
  REQUIRE(three.size() == 3);
  CHECK(three[0] == doctest::Approx(0.6065306597126334 / 2.2130613194252668).epsilon(1e-15));
}

TEST_CASE("gaussian_blur: the reference is the sum over both axes at once, on a laid-out border") {
  // Whole numbers: every order of the sums gives the same bits. The border is written out as a
  // larger picture, copy by copy.
  const std::vector<double> x{1, 2, 5, 3, 1};
  const std::vector<double> y{2, 1, 4, 1, 2, 0, 3};
  constexpr std::ptrdiff_t kWidth = 4;
  constexpr std::ptrdiff_t kHeight = 2;  // less than the filter: the border repeats
  Random random(8);
  ref::Picture in{kWidth, kHeight, 2, {}};
  for (int i = 0; i < kWidth * kHeight * 2; ++i)
    in.values.push_back(static_cast<double>(random.below(1000)));
  const auto beyond = [](std::ptrdiff_t i, std::ptrdiff_t count, ref::Border border) {
    while (i < 0 || i >= count) {  // a step at a time, until it is inside
      if (border == ref::Border::constant) return std::ptrdiff_t{-1};
      if (border == ref::Border::clamp) i += i < 0 ? 1 : -1;
      if (border == ref::Border::wrap) i += i < 0 ? count : -count;
      if (border == ref::Border::mirror) i = i < 0 ? -1 - i : 2 * count - 1 - i;
      if (border == ref::Border::reflect_101) i = i < 0 ? -i : 2 * (count - 1) - i;
    }
    return i;
  };
  const std::array<double, 4> outside{7, 11, 0, 0};
  for (const reference::BorderName& mode : reference::kBorders) {
    const reference::Border border = mode.value;
    CAPTURE(mode.name);
    const ref::Picture got = ref::blur(in, x, y, border, outside);
    for (std::ptrdiff_t row = 0; row < kHeight; ++row) {
      for (std::ptrdiff_t column = 0; column < kWidth; ++column) {
        for (std::size_t c = 0; c < 2; ++c) {
          double sum = 0;
          for (std::ptrdiff_t j = 0; j < 7; ++j) {
            for (std::ptrdiff_t i = 0; i < 5; ++i) {
              const std::ptrdiff_t r = beyond(row + j - 3, kHeight, border);
              const std::ptrdiff_t k = beyond(column + i - 2, kWidth, border);
              // Rows outside count as rows of the constant, which the pass along them leaves alone
              // but for the sum of its weights.
              const double value =
                  r < 0   ? outside[c] * (i == 2 ? 1 : 0)
                  : k < 0 ? outside[c] * x[static_cast<std::size_t>(i)]
                          : in.values[static_cast<std::size_t>((r * kWidth + k) * 2) + c] *
                                x[static_cast<std::size_t>(i)];
              sum += y[static_cast<std::size_t>(j)] * value;
            }
          }
          CHECK(got.values[static_cast<std::size_t>((row * kWidth + column) * 2) + c] == sum);
        }
      }
    }
  }
}

TEST_CASE("gaussian_blur: a row of the reference is the row of the whole") {
  Problem p = problem_of(23, 19, 4);
  p.sigma_y = 7;
  p.outside = {1, 2, 3, 4};
  const std::vector<float> values = noise(23 * 19 * 4, 1, 0);
  for (const reference::BorderName& mode : reference::kBorders) {
    const reference::Border border = mode.value;
    p.border = GaussianBlur::parse_border(mode.name);
    const std::vector<double> whole = exact(p, values);
    for (std::size_t y = 0; y < 19; ++y) {
      const std::vector<double> row = ref::blur_row(picture_of(p, values), ref::weights(4, 4),
                                                    ref::weights(7, 4), border, {1, 2, 3, 4}, y);
      for (std::size_t e = 0; e < row.size(); ++e)
        CHECK(row[e] == doctest::Approx(whole[y * 92 + e]).epsilon(1e-13));
    }
  }
}

TEST_CASE("gaussian_blur: halfs there and back") {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const double value = ref::from_half(bits);
    if (std::isnan(value)) continue;
    REQUIRE(ref::to_half(value) == bits);
  }
  CHECK(ref::to_half(65519.99) == 0x7BFF);
  CHECK(ref::to_half(65520) == 0x7C00);
  CHECK(ref::to_half(std::ldexp(1, -25)) == 0);
  CHECK(ref::to_half(std::ldexp(1.01, -25)) == 1);
  CHECK(ref::to_half(2049) == ref::to_half(2048));
}

TEST_CASE("gaussian_blur: a pattern that repeats is blurred alike wherever it is") {
  // Its sizes share no factor with those of tiles, runs and rings, so each part of it comes to lie at
  // every place of them. Sums are in the same order everywhere, but for grids and matrix units.
  constexpr int kWide = 5;
  constexpr int kHigh = 7;
  std::size_t number = 0;
  for (const double sigma : {2.0, 9.0, 12.0, 17.0, 18.0, 40.0}) {
    if (left_out(number++, 3)) continue;
    Problem p{kWide * 29, kHigh * 43, sigma, sigma, PixelType::r32f};
    p.border = GaussianBlur::Border::wrap;
    p.peak = 1;
    std::vector<float> src(static_cast<std::size_t>(p.width * p.height));
    for (int y = 0; y < p.height; ++y) {
      for (int x = 0; x < p.width; ++x) {
        Random random(static_cast<std::uint64_t>(y % kHigh * kWide + x % kWide));
        src[static_cast<std::size_t>(y * p.width + x)] = random.uniform();
      }
    }
    const cl::Buffer from = upload(src);
    const cl::Buffer to = create_buffer(runtime(), src.size() * sizeof(float));
    for (const auto variant : able(p)) {
      const GaussianBlur blur(runtime(), p, variant);
      const std::string name = variant.name();
      if (name == "pyramid" || name == "cpu_pyramid" || name.compare(0, 6, "tensor") == 0) continue;
      CAPTURE(sigma);
      CAPTURE(name);
      const std::vector<float> dst =
          read_buffer<float>(runtime(), to, src.size(), {blur(from, to)});
      int different = 0;
      for (int y = 0; y < p.height; ++y) {
        for (int x = 0; x < p.width; ++x) {
          different += dst[static_cast<std::size_t>(y * p.width + x)] !=
                       dst[static_cast<std::size_t>(y % kHigh * p.width + x % kWide)];
        }
      }
      CHECK(different == 0);
    }
  }
}

LONG_TEST_CASE("gaussian_blur: a flat picture stays flat, and sums are kept", 16) {
  const Problem p = problem_of(50, 40, 6);
  const std::vector<float> flat(50 * 40 * 4, 0.625f);
  const cl::Buffer src = upload(flat);
  const cl::Buffer dst = create_buffer(runtime(), flat.size() * sizeof(float));
  for (const auto variant : able(p)) {
    const GaussianBlur blur(runtime(), p, variant);
    for (const float value : read_buffer<float>(runtime(), dst, flat.size(), {blur(src, dst)}))
      CHECK(std::abs(value - 0.625f) <= 1e-5f);
  }
  Problem around = p;
  around.border = GaussianBlur::Border::wrap;
  const std::vector<float> values = noise(50 * 40 * 4, 1, 0);
  const cl::Buffer in = upload(values);
  double before = 0;
  for (const float value : values) before += static_cast<double>(value);
  for (const auto variant : able(around)) {
    const GaussianBlur blur(runtime(), around, variant);
    double after = 0;
    for (const float value : read_buffer<float>(runtime(), dst, values.size(), {blur(in, dst)}))
      after += static_cast<double>(value);
    CHECK(after == doctest::Approx(before).epsilon(1e-5));
  }
}

LONG_TEST_CASE("gaussian_blur: every method keeps its promise of quality", 32) {
  std::size_t number = 0;
  for (const auto pixel : {GaussianBlur::Pixel::f32, GaussianBlur::Pixel::u8,
                           GaussianBlur::Pixel::f16, GaussianBlur::Pixel::u16}) {
    for (const double sigma : {1.0, 7.0, 31.0}) {
      if (left_out(number++, 4)) continue;
      Problem p = problem_of(192, 160, sigma);
      p.pixel = pixel_type(pixel, 4);
      p.peak = gaussian::is_integer(pixel) ? 0 : 1;
      Random random(3);
      ref::Picture in{192, 160, 4, cookbook::gaussian_blur_card::picture(random, 192, 160, 4)};
      const std::vector<unsigned char> stored =
          cookbook::gaussian_blur_card::store(pixel, in.values);
      const std::vector<double> w = ref::weights(sigma, p.truncate);
      const std::vector<double> expected = ref::blur(in, w, w, ref::Border::clamp).values;
      const cl::Buffer src =
          create_buffer(runtime(), stored.size(), CL_MEM_READ_ONLY, stored.data());
      const cl::Buffer dst = create_buffer(runtime(), stored.size());
      p.quality = 0;
      for (const auto variant : able(p)) {
        const GaussianBlur blur(runtime(), p, variant);
        const std::vector<unsigned char> bytes =
            read_buffer<unsigned char>(runtime(), dst, stored.size(), {blur(src, dst)});
        double worst = 0;
        for (std::size_t i = 0; i < expected.size(); ++i)
          worst = std::max(worst, std::abs(load_channel(pixel, bytes.data(), i) - expected[i]));
        CAPTURE(variant.name());
        CAPTURE(GaussianBlur::to_string(pixel));
        CAPTURE(sigma);
        CHECK(worst <= blur.max_distance());
        CHECK(blur.psnr() ==
              doctest::Approx(20 * std::log10(gaussian::peak_of(p) / blur.max_error())));
      }
    }
  }
}

TEST_CASE("gaussian_blur: NaN and infinity spread as far as the filter reaches") {
  const Problem p = problem_of(40, 30, 2);
  std::vector<float> values = noise(40 * 30 * 4, 1, 0);
  values[(11 * 40 + 20) * 4 + 1] = std::numeric_limits<float>::quiet_NaN();
  values[(20 * 40 + 5) * 4 + 2] = std::numeric_limits<float>::infinity();
  const cl::Buffer src = upload(values);
  const cl::Buffer dst = create_buffer(runtime(), values.size() * sizeof(float));
  for (const auto variant : able(p)) {
    CAPTURE(variant.name());
    const GaussianBlur blur(runtime(), p, variant);
    const std::vector<float> got =
        read_buffer<float>(runtime(), dst, values.size(), {blur(src, dst)});
    int wrong = 0;
    for (int y = 0; y < 30; ++y) {
      for (int x = 0; x < 40; ++x) {
        const bool nan = std::abs(x - 20) <= 8 && std::abs(y - 11) <= 8;
        const bool inf = std::abs(x - 5) <= 8 && std::abs(y - 20) <= 8;
        const std::size_t at = static_cast<std::size_t>((y * 40 + x) * 4);
        wrong += std::isnan(got[at + 1]) != nan;
        wrong += std::isinf(got[at + 2]) != inf;
        wrong += !std::isfinite(got[at]) + !std::isfinite(got[at + 3]);
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("gaussian_blur: what is not finite outside of bytes reaches as far as the filter") {
  std::size_t able_to = 0;
  for (const double sigma : {0.5, 2.2, 9.0}) {
    for (const float outside : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
      Problem p = problem_of(90, 80, sigma);
      p.pixel = PixelType::rg8;
      p.border = Border::constant;
      p.outside[0] = outside;  // of the first channel alone
      p.outside[1] = 100;
      p.quality = 0;
      const std::vector<unsigned char> bytes(90 * 80 * 2, 100);
      const cl::Buffer src = upload(bytes);
      const cl::Buffer dst = create_buffer(runtime(), bytes.size());
      const int reach = gaussian::filter_radius(sigma, p.truncate);
      for (const auto variant : able(p)) {
        CAPTURE(variant.name());
        CAPTURE(sigma);
        const auto got = read_buffer<unsigned char>(
            runtime(), dst, bytes.size(), {GaussianBlur(runtime(), p, variant)(src, dst)});
        int wrong = 0;
        for (int i = 0; i < 90 * 80; ++i) {
          const int x = i % 90;
          const int y = i / 90;
          const bool far = std::min({x, y, 89 - x, 79 - y}) >= reach;
          const int value = got[static_cast<std::size_t>(2 * i)];
          wrong += far ? std::abs(value - 100) > 1 : value != (std::isnan(outside) ? 0 : 255);
          wrong += std::abs(got[static_cast<std::size_t>(2 * i + 1)] - 100) > 1;
        }
        CHECK(wrong == 0);
        ++able_to;
      }
    }
  }
  CHECK(able_to >= 12);
}

TEST_CASE(
    "gaussian_blur: bytes and few taps are summed in 16 bits on CPUs, as far as that serves") {
  CHECK(contains(embedded::gaussian_blur_cpu_fused.text(),
                 text("#define MOST ", gaussian::CpuBytes::kMost, " ")));
  const bool is_here = clcook::quirks::takes_cpu_kernels(runtime().info());
  const auto taken = [&](const Problem& p) { return GaussianBlur(runtime(), p).variant().name(); };
  Problem p = problem_of(641, 480, 1);
  CHECK(taken(p) != "cpu_bytes");
  p.pixel = PixelType::rgba8;
  CHECK((taken(p) == "cpu_bytes") == is_here);
  if (!is_here) return;
  Problem exact = p;
  exact.quality = 90;
  CHECK(taken(exact) == "cpu_fused");
  Problem large = p;
  large.sigma_y = 30;
  CHECK(taken(large) != "cpu_bytes");
  const auto refused = [&](Problem q) {
    return std::string(error_of([&] { GaussianBlur(runtime(), q, "cpu_bytes"); }).what());
  };
  CHECK(contains(refused(large), "reaches 120 pixels; sums of 16 bits serve at most 24"));
  Problem narrow = p;
  narrow.width = 3;
  CHECK(contains(refused(narrow), "rows of 16 channels or more, got 12"));
  Problem half = p;
  half.border = clcook::Border::constant;
  half.outside = {7, 7, 0.5F, 7};
  CHECK(contains(refused(half), "whole numbers from 0 to 255 outside of the picture, got 0.5"));
  half.outside = {0, 0, 0, 256};
  CHECK(contains(refused(half), "got 256"));
  half.outside = {255, 0, 0, 255};
  CHECK(taken(half) == "cpu_bytes");
  // Its plans have the program for larger sigma, and those with that have it for smaller ones.
  GaussianBlur blur(runtime(), p);
  blur.set_sigma(30, 30);
  CHECK(blur.variant() == "cpu_fused");
  GaussianBlur other(runtime(), large);
  other.set_sigma(1, 1);
  CHECK(other.variant() == "cpu_bytes");
}

TEST_CASE("gaussian_blur: another sigma compiles nothing and is quick") {
  Problem p = problem_of(200, 120, 3);
  GaussianBlur blur(runtime(), p);
  const std::vector<float> values = noise(200 * 120 * 4, 1, 0);
  const cl::Buffer src = upload(values);
  const cl::Buffer dst = create_buffer(runtime(), values.size() * sizeof(float));
  blur.build_for(9, 1);
  const auto builds = runtime().cache().stats();
  for (const auto& [x, y] : {std::pair(9.0, 1.0), std::pair(0.0, 4.0), std::pair(3.0, 3.0)}) {
    blur.set_sigma(x, y);
    p.sigma_x = x;
    p.sigma_y = y;
    const std::vector<float> got =
        read_buffer<float>(runtime(), dst, values.size(), {blur(src, dst)});
    const std::vector<double> expected = exact(p, values);
    double worst = 0;
    for (std::size_t i = 0; i < got.size(); ++i)
      worst = std::max(worst, std::abs(static_cast<double>(got[i]) - expected[i]));
    CHECK(worst <= blur.max_error());
  }
  CHECK(runtime().cache().stats().from_source == builds.from_source);
  const std::string before = blur.describe();
  CHECK_THROWS_AS(blur.set_sigma(501, 1), Error);
  CHECK_THROWS_AS(blur.set_sigma(1, std::nan("")), Error);
  CHECK(blur.describe() == before);
}

TEST_CASE("gaussian_blur: a plan says what its calls have taken") {
  Problem p = problem_of(20, 10, 2);
  p.depth = 6;
  p.sigma_z = 2;
  const GaussianBlur blur(runtime(), p);
  const std::vector<float> values = noise(20 * 10 * 6 * 4, 1, 0);
  const cl::Buffer src = upload(values);
  const cl::Buffer dst = create_buffer(runtime(), values.size() * sizeof(float));
  CHECK(blur.scratch_bytes() == 0);
  blur(src, dst).wait();
  CHECK(blur.scratch_bytes() >= values.size() * sizeof(float));  // between slices and depth
}

TEST_CASE("gaussian_blur: strips give what the whole picture gives") {
  Problem p = problem_of(90, 70, 3);
  p.outside = {0.25f, 0.5f, 0.75f, 1};
  const std::vector<float> values = noise(90 * 70 * 4, 1, 0);
  for (const BorderRow& border : kBorders) {
    p.border = border.value;
    const std::vector<double> expected = exact(p, values);
    for (const int rows : {1000, 33, 7}) {
      std::vector<float> got(values.size(), -1);
      int last = 0;
      GaussianBlur::by_strips(runtime(), p, values.data(), 0, got.data(), 0, rows, [&](int done) {
        CHECK(done > last);
        last = done;
      });
      CHECK(last == 70);
      double worst = 0;
      for (std::size_t i = 0; i < got.size(); ++i)
        worst = std::max(worst, std::abs(static_cast<double>(got[i]) - expected[i]));
      CAPTURE(border.name);
      CAPTURE(rows);
      CHECK(worst <= 1e-5);
    }
  }
}

TEST_CASE("gaussian_blur: images") {
  if (!runtime().info().images) {
    MESSAGE("SKIPPED: the device has no images");
    return;
  }
  const Problem p = problem_of(37, 21, 2);
  const std::vector<float> values = noise(37 * 21 * 4, 1, 0);
  const cl_image_format format{CL_RGBA, CL_FLOAT};
  const cl::Image2D src = make_image(37, 21, format, values.data());
  const cl::Image2D dst = make_image(37, 21, format, values.data());
  const GaussianBlur blur(runtime(), p);
  const cl::Event done = blur(ImageView(src), ImageView(dst));
  std::vector<float> got(values.size());
  read_image(dst, 0, 0, 37, 21, got.data(), done);
  const std::vector<double> expected = exact(p, values);
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(got[i]) - expected[i]));
  CHECK(worst <= blur.max_error());
  Problem bytes = p;
  bytes.pixel = PixelType::rgba8;
  check_refused([&] { GaussianBlur(runtime(), bytes)(ImageView(src), ImageView(dst)); }, "image");
}

TEST_CASE("gaussian_blur: wrong values are refused with value and rule") {
  const auto refused = [](Problem p, const char* part) {
    check_refused([&] { GaussianBlur(runtime(), p); }, part);
  };
  Problem p = problem_of(16, 16, 1);
  const auto with = [&](const auto& change) {
    Problem out = p;
    change(out);
    return out;
  };
  refused(with([](Problem& q) { q.sigma_x = std::nan(""); }), "sigma_x must be 0 to 500 pixels");
  refused(with([](Problem& q) { q.sigma_x = HUGE_VAL; }), "inf");
  refused(with([](Problem& q) { q.quality = std::nan(""); }), "quality");
  refused(with([](Problem& q) { q.width = q.height = q.batch = 1 << 28; }), "overflow");
  refused(with([](Problem& q) { q.border = static_cast<GaussianBlur::Border>(9); }), "9");

  p.quality = 900;
  const Error floor = error_of([&] { GaussianBlur(runtime(), p); });
  CHECK(floor.code == Errc::unsupported);
  CHECK(floor.lacks == Lacks::quality);
  CHECK(contains(floor.what(), "no variant can serve this problem"));
  CHECK(contains(floor.what(), "dB for a floor of 900"));
  CHECK(contains(floor.what(), "; the best that can be had is 116 dB; "));

  p.quality = 60;
  p.sigma_x = 2;
  const GaussianBlur blur(runtime(), p);
  const cl::Buffer a = create_buffer(runtime(), 16 * 16 * 16);
  const cl::Buffer b = create_buffer(runtime(), 16 * 16 * 16);
  check_refused([&] { blur(BufferView(a, 0, 255), b); }, "pitch");
  check_refused([&] { blur(BufferView(a, 8), b); }, "multiples of 16");
  check_refused([&] { blur(a, b, GaussianBlur::Region{1, 0, 16, 16}); }, "must lie within");
  check_refused([&] { blur(a, b, GaussianBlur::Region{0, 0, 0, 4}); }, "region of 0 x 4");
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
TEST_CASE(
    "gaussian_blur: a Channel and a number of channels are the type of pixels, for a version "
    "more") {
  using Pixel = GaussianBlur::Pixel;
  const Problem positional{16, 8, 2, 1, Pixel::u8, 3};
  Problem by_name{16, 8, 2, 1};
  by_name.pixel = Pixel::u8;
  by_name.channels = 3;
  const Problem now{16, 8, 2, 1, PixelType::rgb8};
  for (const Problem& p : {positional, by_name, now}) {
    CHECK(gaussian::type_of(p) == PixelType::rgb8);
    CHECK(p.pixel == Pixel::u8);
    const GaussianBlur blur(runtime(), p);
    CHECK(blur.problem().channels == 3);
    CHECK(blur.problem().pixel == Pixel::u8);
    CHECK(Posed(p).bytes() == 2 * 16 * 8 * 3);
    const cl::Buffer exact = create_buffer(runtime(), 16 * 8 * 3);
    const cl::Buffer short_of_it = create_buffer(runtime(), 16 * 8 * 3 - 1);
    CHECK_NOTHROW(blur(exact, create_buffer(runtime(), 16 * 8 * 3)).wait());
    check_refused([&] { blur(short_of_it, exact); }, "needs 384");
  }
  Problem grey{16, 8, 2, 1};
  CHECK(gaussian::type_of(grey) == PixelType::rgba32f);
  grey.channels = 1;
  CHECK(gaussian::type_of(grey) == PixelType::r32f);
  for (const int channels : {0, 5}) {
    by_name.channels = channels;
    check_refused([&] { GaussianBlur(runtime(), by_name); },
                  text("channels must be 1 to 4, got ", channels));
  }
  Problem both = now;
  both.channels = 2;
  check_refused([&] { GaussianBlur(runtime(), both); }, "leave channels alone, got rgb8 and 2");
  check_refused([] { GaussianBlur(runtime(), {16, 8, 2, 1, static_cast<PixelType>(77)}); }, "77");
  check_refused([] { GaussianBlur(runtime(), {16, 8, 2, 1, static_cast<Pixel>(9)}); }, "9");
}
#pragma GCC diagnostic pop

TEST_CASE("gaussian_blur: describe names the method, its promise and the others") {
  const Problem p = problem_of(300, 200, 4);
  const GaussianBlur blur(runtime(), p);
  const std::string text = blur.describe();
  CHECK(contains(text, blur.variant().name()));
  CHECK(contains(text, "dB"));
  for (const GaussianBlur::Row& row : GaussianBlur::variants()) CHECK(contains(text, row.name));
}
