// What gaussian_blur promises of any picture within the peak, against pictures that are made to
// break it: rings, single pixels, ramps, results that lie at a half everywhere, waves, edges and
// noise, and the picture that is the worst one for the weights that a method turns out to have; in
// pictures down to a pixel and a line. Every method that the device has or the tests emulate.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <clcook/cookbook/gaussian_blur.hpp>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/borders.hpp"
#include "support/grid.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;
namespace ref = clcook::reference::gaussian_blur;

namespace {

using Pixel = GaussianBlur::Pixel;
using Problem = GaussianBlur::Problem;

// Values of one picture, in units of the pixel type.
using Values = std::vector<double>;

// A picture from the value, 0 to 1, of channel c of pixel (x, y). Odd channels have its negative:
// 1 - value.
template <class Value>
Values draw(const Problem& p, const Value& value) {
  Values out;
  for (int y = 0; y < p.height; ++y) {
    for (int x = 0; x < p.width; ++x) {
      for (int c = 0; c < gaussian::channels_of(p); ++c) {
        const double one = value(x, y);
        out.push_back(gaussian::peak_of(p) * (c % 2 == 0 ? one : 1 - one));
      }
    }
  }
  return out;
}

// The pictures that every method is to take.
std::vector<Values> hard_pictures(const Problem& p, std::uint64_t seed) {
  const double peak = gaussian::peak_of(p);
  std::vector<Values> out;
  const auto add = [&](const auto& value) { out.push_back(draw(p, value)); };
  add([](int x, int y) { return 0.5 + 0.5 * std::sin(x * x + y * y); });
  add([&](int x, int y) { return x == p.width / 2 && y == p.height / 2 ? 1.0 : 0.0; });
  add([&](int x, int y) { return (x + 0.5 * y) / (p.width + 0.5 * p.height); });
  // Results near a half, of integers.
  const double step = gaussian::is_integer(p.pixel) ? 1 / peak : 0x1p-10;
  const double level = std::floor(peak / 2) / peak;
  add([&](int x, int) { return level + x % 2 * step; });
  add([&](int, int y) { return level + y % 2 * step; });
  add([&](int x, int y) { return level + (x / 8 + y / 8) % 2 * step; });
  add([](int, int) { return 0.5; });
  // Waves, some of them as long as cells of splines and blocks of matrices.
  for (const int half : {4, 8, 16}) {
    add([&](int x, int) { return x / half % 2; });
    add([&](int, int y) { return (y + 3) / half % 2; });
  }
  add([&](int x, int) { return x < p.width / 2 ? 0.0 : 1.0; });
  Random random(seed);
  add([&](int, int) { return static_cast<double>(random.below(2)); });
  add([&](int, int) { return static_cast<double>(random.uniform()); });
  return out;
}

std::array<double, 4> outside_of(const Problem& p) {
  std::array<double, 4> out{};
  for (std::size_t c = 0; c < 4; ++c) out[c] = static_cast<double>(p.outside[c]);
  return out;
}

Values exact(const Problem& p, const Values& values) {
  const ref::Picture in{static_cast<std::size_t>(p.width), static_cast<std::size_t>(p.height),
                        static_cast<std::size_t>(gaussian::channels_of(p)), values};
  return ref::blur(in, ref::weights(p.sigma_x, p.truncate), ref::weights(p.sigma_y, p.truncate),
                   reference_border(p.border), outside_of(p))
      .values;
}

// Pictures as they are stored, one below the other, and what they then are.
std::vector<unsigned char> store(Pixel pixel, std::vector<Values>& pictures) {
  std::vector<unsigned char> out;
  for (Values& one : pictures) {
    const std::vector<unsigned char> bytes = store_channels(pixel, one);
    for (std::size_t i = 0; i < one.size(); ++i) one[i] = load_channel(pixel, bytes.data(), i);
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
  return out;
}

// Results of a plan whose batch are these pictures.
std::vector<Values> run(const GaussianBlur& blur, const std::vector<unsigned char>& stored) {
  const cl::Buffer src = create_buffer(runtime(), stored.size(), CL_MEM_READ_ONLY, stored.data());
  const cl::Buffer dst = create_buffer(runtime(), stored.size());
  const auto bytes = read_buffer<unsigned char>(runtime(), dst, stored.size(), {blur(src, dst)});
  const Problem& p = blur.problem();
  std::vector<Values> out(static_cast<std::size_t>(p.batch));
  const std::size_t each = stored.size() / out.size() / gaussian::channel_bytes(p.pixel);
  for (std::size_t i = 0; i < out.size() * each; ++i)
    out[i / each].push_back(load_channel(p.pixel, bytes.data(), i));
  return out;
}

// How much of what is promised was used: the largest error before the rounding to the pixel type,
// at least, in units of max_error().
struct Used {
  double most = 0;
  int flips = 0;  // integers that are not the rounded exact result
};

Used check(const GaussianBlur& blur, const std::vector<Values>& expected,
           const std::vector<Values>& got) {
  const Problem& p = blur.problem();
  const double rounding = blur.max_distance() - blur.max_error();
  Used out;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    double worst = 0;
    double squares = 0;
    for (std::size_t i = 0; i < expected[k].size(); ++i) {
      const double off = std::abs(got[k][i] - expected[k][i]);
      worst = std::max(worst, off);
      const double before = std::max(off - rounding, 0.0);
      squares += before * before;
      out.flips += std::nearbyint(expected[k][i]) != got[k][i];
    }
    CAPTURE(k);
    CHECK(worst <= blur.max_distance());
    const double peak = gaussian::peak_of(p);
    const double mean = squares / static_cast<double>(expected[k].size());
    CHECK(-10 * std::log10(std::max(mean / (peak * peak), 1e-30)) >= blur.psnr());
    out.most = std::max(out.most, (worst - rounding) / blur.max_error());
  }
  return out;
}

std::vector<GaussianBlur::Variant> able(const Problem& p) {
  std::vector<GaussianBlur::Variant> out;
  for (const GaussianBlur::Row& row : GaussianBlur::variants()) {
    if (GaussianBlur::Posed(p).offer(runtime(), row).can()) out.emplace_back(row);
  }
  return out;
}

std::string name_of(const Problem& p) {
  return text(GaussianBlur::to_string(p.pixel), " ", p.width, " x ", p.height, ", sigma ",
              p.sigma_x, " x ", p.sigma_y, ", truncate ", p.truncate, ", ",
              GaussianBlur::to_string(p.border), ", quality ", p.quality);
}

struct Filter {
  double sigma_x, sigma_y, truncate;
};

// Classes of every method: radii, both axes alike and not, filters cut early.
const std::vector<Filter>& filters() {
  static const std::vector<Filter> all{
      {0, 0, 4},       {0.4, 0.4, 2}, {1, 1, 4},     {2, 2, 2},       {4, 4, 4},    {8, 8, 2},
      {8.56, 8.56, 3}, {8, 0, 4},     {0, 8, 4},     {13, 1.5, 3},    {16, 16, 2},  {16, 16, 4},
      {32, 32, 2},     {9, 17, 3.5},  {8.3, 8.3, 4}, {34.6, 34.6, 4}, {40, 20, 1.5}};
  return all;
}

}  // namespace

LONG_TEST_CASE("gaussian_blur promise: no picture breaks it, of any method, size and type", 32) {
  const ScopedVariable emulation("CLCOOK_TENSOR_EMULATE", "1");
  std::map<std::string, double> used;
  const std::pair<int, int> sizes[] = {{1, 1}, {53, 37}, {1, 61}, {70, 1}};
  std::size_t number = 0;
  for (const auto pixel : {Pixel::u8, Pixel::f32, Pixel::u16, Pixel::f16}) {
    for (const Filter& filter : filters()) {
      // Halfs and shorts use the code of the others.
      const bool seldom = pixel == Pixel::u16 || pixel == Pixel::f16;
      ++number;
      if (left_out(number, 12) || (seldom && number % 4 != 0)) continue;
      const auto& [width, height] = sizes[pixel == Pixel::f32 ? number % 3 + 1 : number % 4];
      Problem p{width, height, filter.sigma_x, filter.sigma_y};
      p.truncate = filter.truncate;
      p.pixel = pixel_type(pixel, 4);
      p.peak = gaussian::is_integer(pixel) ? 0 : 1;
      p.border = kBorders[number / 4 % std::size(kBorders)].value;
      const auto top = static_cast<float>(gaussian::peak_of(p));
      p.outside = {top, 0, top, 0};
      std::vector<Values> pictures = hard_pictures(p, number);
      p.batch = static_cast<int>(pictures.size());
      const std::vector<unsigned char> stored = store(pixel, pictures);
      std::vector<Values> expected;
      for (const Values& one : pictures) expected.push_back(exact(p, one));
      std::map<std::string, double> promised;  // that was looked at
      for (const double quality : {0.0, 60.0, GaussianBlur::best_quality(runtime(), p)}) {
        p.quality = quality;
        for (const auto variant : able(p)) {
          const std::string name = std::string(variant.name()) + ": " + name_of(p);
          CAPTURE(name);
          const GaussianBlur blur(runtime(), p, variant);
          const auto known = promised.find(variant.name());
          if (known != promised.end() && known->second == blur.max_error()) continue;
          promised[variant.name()] = blur.max_error();
          double& most = used[variant.name()];
          most = std::max(most, check(blur, expected, run(blur, stored)).most);
        }
      }
    }
  }
  for (const auto& [name, most] : used) MESSAGE(name << " used " << most << " of its promise");
}

// The worst picture for a pixel has the sign of what its weights are off: they are what the pixel
// becomes in pictures of a single pixel. Those are too many for an emulation.
LONG_TEST_CASE("gaussian_blur promise: the picture that is worst for the weights", 16) {
  std::map<std::string, double> used;
  std::size_t number = 0;
  for (const Filter& filter : {Filter{8, 8, 2}, Filter{9, 12, 4}, Filter{2, 5, 2}}) {
    for (const std::pair<int, int>& size : {std::pair(80, 1), std::pair(1, 64)}) {
      if (left_out(number++, 4)) continue;
      const int width = size.first, height = size.second;
      Problem p{width, height, filter.sigma_x, filter.sigma_y};
      p.truncate = filter.truncate;
      p.peak = 1;
      p.border = number % 2 == 0 ? GaussianBlur::Border::clamp : GaussianBlur::Border::wrap;
      const int pixels = width * height;
      p.batch = pixels;
      std::vector<Values> impulses;
      for (int i = 0; i < pixels; ++i)
        impulses.push_back(draw(p, [&](int x, int y) { return y * width + x == i ? 1.0 : 0.0; }));
      for (Values& one : impulses) {  // each channel alike
        for (std::size_t i = 0; i < one.size(); ++i) one[i] = one[i / 4 * 4];
      }
      const std::vector<unsigned char> stored = store(p.pixel, impulses);
      std::vector<Values> wanted;
      for (const Values& one : impulses) wanted.push_back(exact(p, one));
      for (const auto variant : able([&] {
             Problem q = p;
             q.quality = 0;
             return q;
           }())) {
        p.quality = 0;
        p.pixel = PixelType::rgba32f;
        p.batch = pixels;
        const std::string name = std::string(variant.name()) + ": " + name_of(p);
        CAPTURE(name);
        const GaussianBlur blur(runtime(), p, variant);
        const std::vector<Values> got = run(blur, stored);
        // The worst one of some pixels, each of its pictures in the 4 channels: with all values of
        // full size, and those of them that are 0.
        std::vector<Values> drawn;
        Random random(number);
        for (int k = 0; k < 12; ++k) {
          const std::size_t at = random.below(static_cast<std::uint32_t>(pixels));
          Values one;
          for (int i = 0; i < pixels; ++i) {
            const auto n = static_cast<std::size_t>(i);
            const double off = got[n][4 * at] - wanted[n][4 * at];
            const double sign = off > 0 ? 1 : -1;
            for (const double value : {sign, -sign, 0.5 + sign / 2, 0.5 - sign / 2})
              one.push_back(value);
          }
          drawn.push_back(one);
        }
        p.batch = static_cast<int>(drawn.size());
        const auto check_as = [&](Pixel pixel) {
          p.pixel = pixel_type(pixel, 4);
          std::vector<Values> pictures = drawn;
          for (Values& one : pictures) {
            for (std::size_t i = 0; gaussian::is_integer(pixel) && i < one.size(); ++i)
              one[i] = one[i / 4 * 4 + 2 + i % 2] * gaussian::peak_of(p);
          }
          const std::vector<unsigned char> bytes = store(pixel, pictures);
          std::vector<Values> expected;
          for (const Values& one : pictures) expected.push_back(exact(p, one));
          const GaussianBlur again(runtime(), p, variant);
          return check(again, expected, run(again, bytes)).most;
        };
        double& most = used[variant.name()];
        most = std::max(most, check_as(Pixel::f32));
        Problem bytes_of_it = p;
        bytes_of_it.pixel = PixelType::rgba8;
        if (GaussianBlur::Posed(bytes_of_it).offer(runtime(), *variant.row()).can())
          check_as(Pixel::u8);
      }
    }
  }
  for (const auto& [name, most] : used) MESSAGE(name << " used " << most << " of its promise");
  if (!short_grid()) {
    CHECK(used["pyramid"] > 0.7);
  }
}

// Two problems whose results missed what was promised against the exact result rounded.
LONG_TEST_CASE("gaussian_blur promise: bytes that lie at a half everywhere are rounded either way",
               32) {
  Problem p{859, 734, 34.6, 34.6};
  p.pixel = PixelType::r8;
  p.quality = 80;
  std::vector<Values> rings{
      draw(p, [](int x, int y) { return 0.5 + 0.5 * std::sin(x * x + y * y); })};
  const std::vector<unsigned char> stored = store(p.pixel, rings);
  const std::vector<Values> expected{exact(p, rings[0])};
  const GaussianBlur blur(runtime(), p, "separable");
  CHECK(blur.psnr() >= 80);
  CHECK(blur.max_distance() < 0.51);
  const Used used = check(blur, expected, run(blur, stored));
  CHECK(used.flips > 0);
}

LONG_TEST_CASE("gaussian_blur promise: one bright pixel in a thin picture", 16) {
  const ScopedVariable emulation("CLCOOK_TENSOR_EMULATE", "1");
  Problem p{15, 213, 8.56, 8.56};
  p.pixel = PixelType::rgba8;
  p.truncate = 3;
  p.quality = 70;
  const Error error = error_of([&] { GaussianBlur(runtime(), p, "tensor_bytes"); });
  CHECK(error.lacks == Lacks::quality);
  CHECK(contains(error.what(), "dB for a floor of 70"));
  p.quality = 60;
  const GaussianBlur blur(runtime(), p, "tensor_bytes");
  CHECK(blur.max_distance() < 0.76);
  p.batch = 2 * 15;
  std::vector<Values> pictures;
  for (int k = 0; k < p.batch; ++k) {
    pictures.push_back(draw(p, [&](int x, int y) {
      return x == k % 15 && y == 107 - k ? (k < 15 ? 1.0 : 200.0 / 255) : 0.0;
    }));
  }
  const std::vector<unsigned char> stored = store(p.pixel, pictures);
  std::vector<Values> expected;
  for (const Values& one : pictures) expected.push_back(exact(p, one));
  const GaussianBlur all(runtime(), p, "tensor_bytes");
  check(all, expected, run(all, stored));
}

TEST_CASE("gaussian_blur promise: what cannot be had is refused with the best that can") {
  for (const auto pixel : {Pixel::u8, Pixel::u16, Pixel::f16, Pixel::f32}) {
    for (const double sigma : {0.0, 3.0, 20.0, 500.0}) {
      Problem p{64, 64, sigma, sigma};
      p.pixel = pixel_type(pixel, 4);
      const double best = GaussianBlur::best_quality(runtime(), p);
      CHECK(best >= 60);
      CHECK(best < 150);
      CAPTURE(best);
      p.quality = best;
      CHECK(GaussianBlur(runtime(), p).psnr() == best);
      p.quality = best + 0.01;
      const Error error = error_of([&] { GaussianBlur(runtime(), p); });
      CHECK(error.code == Errc::unsupported);
      CHECK(error.lacks == Lacks::quality);
      CHECK(
          contains(error.what(), text("the best that can be had is ", three_digits(best), " dB")));
    }
  }
  Problem p{64, 64, 1, 1};
  p.batch = 0;
  CHECK(error_of([&] { GaussianBlur::best_quality(runtime(), p); }).code == Errc::invalid_argument);
  // Of methods that work in place, where that is asked for.
  p.batch = 1;
  p.in_place = true;
  p.quality = GaussianBlur::best_quality(runtime(), p);
  CHECK(GaussianBlur(runtime(), p).in_place());
}

TEST_CASE("gaussian_blur promise: the default of 60 dB has the matrix units for bytes") {
  const ScopedVariable emulation("CLCOOK_TENSOR_EMULATE", "1");
  const auto can = [](const char* variant, double sigma, double truncate) {
    Problem p{64, 64, sigma, sigma};
    p.truncate = truncate;
    p.pixel = PixelType::rgba8;
    return GaussianBlur::Posed(p).offer(runtime(), *GaussianBlur::Variant(variant).row()).can();
  };
  for (const double truncate : {2.0, 3.0, 4.0}) {
    for (int radius = 1; radius <= 1024; radius += radius < 70 ? 1 : 37) {
      const double sigma = radius / truncate;
      if (sigma > GaussianBlur::kMaxSigma) break;
      CAPTURE(radius);
      CAPTURE(truncate);
      CHECK(can("tensor_bytes", sigma, truncate) == (radius <= 64));
      CHECK(can("tensor", sigma, truncate));
    }
  }
}
