// Straight alpha: every method on the card's shapes, colours under alpha 0, opaque pictures, flat
// colours, rims, and what is refused.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <clcook/cookbook/gaussian_blur.hpp>
#include <clcook/registry/conformance.hpp>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "support/grid.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;

namespace {

using Alpha = GaussianBlur::Alpha;
using Border = GaussianBlur::Border;
using Pixel = GaussianBlur::Pixel;
using Problem = GaussianBlur::Problem;
using Bytes = std::vector<unsigned char>;

Bytes blurred(const GaussianBlur& blur, const Bytes& src) {
  const cl::Buffer from = create_buffer(runtime(), src.size(), CL_MEM_READ_WRITE, src.data());
  const cl::Buffer to = create_buffer(runtime(), src.size());
  const cl::Event done = blur(from, to);
  return read_buffer<unsigned char>(runtime(), to, src.size(), {done});
}
Bytes blurred(const Problem& p, const Bytes& src, GaussianBlur::Variant variant = {}) {
  return blurred(GaussianBlur(runtime(), p, variant), src);
}

Problem straight(int width, int height, double sigma, Pixel pixel = Pixel::u8, int channels = 4) {
  Problem p{width, height, sigma, sigma, pixel_type(pixel, channels)};
  p.alpha = Alpha::straight;
  p.peak = 1;
  return p;
}

// The methods that weight what they read, with a sigma that they take: all that automatic takes here
// and on GPUs without matrix units.
struct Direct {
  const char* name;
  double sigma;
};
constexpr Direct kDirect[] = {{"per_pixel", 1}, {"separable", 1}, {"fused", 1},
                              {"pyramid", 17},  {"cpu_fused", 1}, {"cpu_pyramid", 17}};

// The left half is opaque and green, the right half clear and red.
Bytes half_clear(int width, int height) {
  Bytes out;
  for (int i = 0; i < width * height; ++i) {
    const bool is_left = i % width < width / 2;
    const std::array<unsigned char, 4> left{0, 200, 0, 255};
    const std::array<unsigned char, 4> right{255, 0, 0, 0};
    const auto& pixel = is_left ? left : right;
    out.insert(out.end(), pixel.begin(), pixel.end());
  }
  return out;
}

}  // namespace

LONG_TEST_CASE("straight alpha: every method keeps its promise on the card's shapes", 32) {
  ConformanceOptions options;
  options.out_of_order = false;
  for (const Params& shape : cookbook::gaussian_blur().test_shapes) {
    if (shape.word("alpha", "none") == "straight") options.shapes.push_back(shape);
  }
  CHECK(options.shapes.size() >= 6);
  std::vector<std::string> ran;
  run_conformance({cookbook::gaussian_blur()}, runtime(), options, [&](const ConformanceRow& row) {
    CAPTURE(row.name());
    CAPTURE(row.reason);
    CHECK(row.outcome != Outcome::failed);
    if (row.outcome == Outcome::passed) ran.push_back(row.variant);
  });
  for (const Direct& method : kDirect) {
    CAPTURE(method.name);
    CHECK(std::count(ran.begin(), ran.end(), method.name) > 0);
  }
  CHECK(std::count(ran.begin(), ran.end(), "straight_alpha") > 0);
  CHECK(std::count(ran.begin(), ran.end(), "volume") > 0);
  CHECK(std::count(ran.begin(), ran.end(), "naive") == 0);
}

TEST_CASE("straight alpha: white beside clear red stays white") {
  Bytes src;
  for (const int alpha : {255, 255, 255, 255, 0, 0, 0, 0}) {
    const unsigned char rest = alpha == 0 ? 0 : 255;
    src.insert(src.end(), {255, rest, rest, static_cast<unsigned char>(alpha)});
  }
  Problem p = straight(8, 1, 1);
  const auto pixel = [&](const Bytes& out, std::size_t x) {
    return Bytes(out.begin() + static_cast<std::ptrdiff_t>(4 * x),
                 out.begin() + static_cast<std::ptrdiff_t>(4 * x) + 4);
  };
  CHECK(pixel(blurred(p, src, "per_pixel"), 3) == Bytes{255, 255, 255, 178});
  p.alpha = Alpha::none;
  CHECK(pixel(blurred(p, src, "per_pixel"), 3) == Bytes{255, 178, 178, 178});
}

LONG_TEST_CASE("straight alpha: automatic takes a method that weights what it reads", 16) {
  for (const double sigma : {0.5, 2.0, 60.0}) {
    for (const Pixel pixel : {Pixel::u8, Pixel::f32}) {
      CAPTURE(sigma);
      const GaussianBlur blur(runtime(), straight(512, 512, sigma, pixel));
      CAPTURE(blur.describe());
      bool is_direct = false;
      for (const Direct& method : kDirect)
        is_direct = is_direct || blur.variant().name() == method.name;
      CHECK(is_direct);
    }
  }
}

// All pictures of 3 x 2 pixels that are clear here and there, as a batch: one of them has other colours
// under alpha 0.
LONG_TEST_CASE("straight alpha: no colour under alpha 0 matters, whatever it is", 32) {
  for (const Direct& method : kDirect) {
    if (method.sigma > 2) continue;  // the splines read no other way than here, see below
    for (const Pixel pixel : {Pixel::u8, Pixel::u16, Pixel::f16, Pixel::f32}) {
      for (const int channels : {2, 4}) {
        // Every type in vectors, and elsewhere those that differ most.
        const bool is_wide = std::string(method.name) == "cpu_fused";
        if (!is_wide && pixel != (channels == 2 ? Pixel::u8 : Pixel::f32)) continue;
        CAPTURE(method.name);
        CAPTURE(static_cast<int>(pixel));
        CAPTURE(channels);
        Problem p = straight(3, 2, method.sigma, pixel, channels);
        p.peak = 0;
        p.batch = 64;
        Random random(11);
        const auto count = static_cast<std::size_t>(3 * 2 * 64 * channels);
        std::vector<double> one(count);
        std::vector<double> other;
        for (double& value : one) value = 0.25 + 0.75 * static_cast<double>(random.uniform());
        const auto each = static_cast<std::size_t>(channels);
        for (std::size_t i = 0; i < count / each; ++i) {
          if ((i / 6 >> i % 6 & 1) != 0) one[i * each + each - 1] = 0;
        }
        other = one;
        const double kinds[] = {0, 1, std::nan(""), std::numeric_limits<double>::infinity()};
        for (std::size_t i = 0; i < count; ++i) {
          if (i % each + 1 < each && other[i / each * each + each - 1] == 0)
            other[i] = kinds[random.below(is_integer(pixel) ? 2 : 4)];
        }
        const Bytes first = cookbook::gaussian_blur_card::store(pixel, one);
        const Bytes second = cookbook::gaussian_blur_card::store(pixel, other);
        CHECK(first != second);
        for (const auto& border : kBorders) {
          p.border = border.value;
          p.outside = {std::numeric_limits<float>::infinity(), 7, 9, 0};
          if (channels == 2) p.outside[1] = 0;
          const GaussianBlur blur(runtime(), p, method.name);
          CHECK(blurred(blur, first) == blurred(blur, second));
        }
      }
    }
  }
}

TEST_CASE("straight alpha: the colour of what is clear does not come out of splines") {
  for (const char* name : {"pyramid", "cpu_pyramid"}) {
    CAPTURE(name);
    Bytes src = half_clear(40, 24);
    Problem p = straight(40, 24, 17);
    p.quality = 0;
    const GaussianBlur blur(runtime(), p, name);
    const Bytes out = blurred(blur, src);
    for (std::size_t i = 0; i < src.size(); ++i) {
      if (i % 4 != 3 && src[i / 4 * 4 + 3] == 0) src[i] = 77;
    }
    CHECK(blurred(blur, src) == out);
  }
}

LONG_TEST_CASE("straight alpha: opaque pictures are blurred as others", 32) {
  for (const Direct& method : kDirect) {
    for (const Pixel pixel : {Pixel::u8, Pixel::f32}) {
      CAPTURE(method.name);
      CAPTURE(static_cast<int>(pixel));
      if (pixel == Pixel::u8 && method.name[0] != 'c') continue;
      Problem p = straight(45, 27, method.sigma, pixel);
      p.quality = 0;
      Random random(5);
      std::vector<double> values(45 * 27 * 4);
      for (double& value : values) value = static_cast<double>(random.uniform());
      for (std::size_t i = 3; i < values.size(); i += 4) values[i] = 1;
      const Bytes src = cookbook::gaussian_blur_card::store(pixel, values);
      const GaussianBlur blur(runtime(), p, method.name);
      p.alpha = Alpha::none;
      const GaussianBlur plain(runtime(), p, method.name);
      const Bytes got = blurred(blur, src);
      const Bytes expected = blurred(plain, src);
      // Both are that far from one exact result, but for sums that round beside one half.
      const double allowed =
          (is_integer(pixel) ? 1 : 0) + 1e-6 * static_cast<double>(clcook::top_of(pixel));
      double most = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        most = std::max(most, std::abs(load_channel(pixel, got.data(), i) -
                                       load_channel(pixel, expected.data(), i)));
      }
      CHECK(most <= allowed);
    }
  }
}

// Every colour of a byte, each a third of a picture of a batch, under any alpha.
LONG_TEST_CASE("straight alpha: a flat colour keeps its colour under any alpha", 32) {
  constexpr int kSide = 24;
  constexpr int kPictures = 86;
  Random random(9);
  Bytes src;
  const auto colour = [](std::size_t picture, std::size_t c) {
    return static_cast<unsigned char>(std::min<std::size_t>(3 * picture + c, 255));
  };
  for (std::size_t picture = 0; picture < kPictures; ++picture) {
    for (int i = 0; i < kSide * kSide; ++i) {
      for (std::size_t c = 0; c < 3; ++c) src.push_back(colour(picture, c));
      src.push_back(static_cast<unsigned char>(random.below(4) == 0 ? 0 : random.below(256)));
    }
  }
  for (const Direct& method : kDirect) {
    for (const Border border : {Border::clamp, Border::constant}) {
      CAPTURE(method.name);
      Problem p = straight(kSide, kSide, method.sigma);
      p.batch = kPictures;
      p.border = border;  // `outside` is transparent
      p.quality = 0;
      const Bytes out = blurred(p, src, method.name);
      std::size_t visible = 0;
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < out.size(); i += 4) {
        // Splines round more often, and what little alpha they leave says nothing.
        if (out[i + 3] < (method.sigma > 2 ? 8 : 1)) continue;
        ++visible;
        for (std::size_t c = 0; c < 3; ++c)
          wrong += out[i + c] != colour(i / (4 * kSide * kSide), c) ? 1 : 0;
      }
      CHECK(visible > out.size() / 8);
      CHECK(wrong == 0);
    }
  }
}

LONG_TEST_CASE("straight alpha: a constant border is a straight colour with its alpha", 16) {
  const Bytes white(9 * 9 * 4, 255);
  Problem p = straight(9, 9, 1);
  p.border = Border::constant;
  const auto at = [](const Bytes& out, std::size_t c) { return static_cast<int>(out[c]); };
  // Transparent: colours keep, alpha falls.
  const Bytes clear = blurred(p, white);
  CHECK(at(clear, 0) == 255);
  CHECK(at(clear, 3) < 150);
  // The colour of a transparent border does not count.
  p.outside = {9, 8, 7, 0};
  CHECK(blurred(p, white) == clear);
  // An opaque one: as without alpha.
  p.outside = {30, 60, 90, 255};
  const Bytes opaque = blurred(p, white);
  CHECK(at(opaque, 3) == 255);
  p.alpha = Alpha::none;
  const Bytes plain = blurred(p, white);
  for (std::size_t i = 0; i < plain.size(); ++i) CHECK(std::abs(at(plain, i) - at(opaque, i)) <= 1);
  // Half of it: between the two.
  p.alpha = Alpha::straight;
  p.outside = {30, 60, 90, 127.5f};
  const Bytes half = blurred(p, white);
  CHECK(at(half, 0) > at(opaque, 0));
  CHECK(at(half, 0) < 255);
  CHECK(at(half, 3) > at(clear, 3));
  // The corner by hand, from the weights of the taps.
  const gaussian::FilterAxis axis = gaussian::make_axis(1, 4);
  double inner = axis.weights[0];
  for (std::size_t k = 1; k < axis.weights.size(); ++k) inner += axis.weights[k];
  const double inside = inner * inner;  // the share of the picture
  const double alpha = inside * 255 + (1 - inside) * 127.5;
  const double red = (inside * 255 * 255 + (1 - inside) * 30 * 127.5) / alpha;
  CHECK(std::abs(at(half, 3) - alpha) <= 0.51);
  CHECK(std::abs(at(half, 0) - red) <= 0.51);
  // Without alpha, and premultiplied, the transparent border makes a grey rim, of which the latter is
  // right: its colours are times alpha.
  p.outside = {};
  p.alpha = Alpha::none;
  const Bytes grey = blurred(p, white);
  CHECK(at(grey, 0) < 150);
  p.alpha = Alpha::premultiplied;
  CHECK(blurred(p, white) == grey);
}

LONG_TEST_CASE("straight alpha: pictures of little alpha, and of none", 16) {
  for (const Direct& method : kDirect) {
    CAPTURE(method.name);
    Problem p = straight(19, 11, method.sigma, Pixel::f32);
    p.quality = 0;
    std::vector<float> src(19 * 11 * 4, 0.5f);
    const auto run = [&](float alpha) {
      for (std::size_t i = 3; i < src.size(); i += 4) src[i] = alpha;
      const auto* bytes = reinterpret_cast<const unsigned char*>(src.data());
      const Bytes out = blurred(p, Bytes(bytes, bytes + src.size() * sizeof(float)), method.name);
      std::vector<float> floats(src.size());
      std::copy(out.begin(), out.end(), reinterpret_cast<unsigned char*>(floats.data()));
      return floats;
    };
    for (const float one : run(0)) CHECK(one == 0.0f);
    for (const float alpha : {1e-3f, 1e-20f, 1e-30f, 3.0f}) {
      CAPTURE(alpha);
      const std::vector<float> out = run(alpha);
      double most = 0;
      for (std::size_t i = 0; i < out.size(); ++i) {
        const double wanted = i % 4 == 3 ? static_cast<double>(alpha) : 0.5;
        most = std::max(most, std::abs(static_cast<double>(out[i]) / wanted - 1));
      }
      CHECK(most < 1e-4);
    }
    for (const float one : run(1e-42f)) CHECK(std::isfinite(one));
  }
}

TEST_CASE("straight alpha: nothing is compiled for another sigma") {
  const Bytes src = half_clear(40, 24);
  GaussianBlur blur(runtime(), straight(40, 24, 2));
  CHECK_NOTHROW(blur.set_sigma(2.5, 2.5));
  CHECK(blurred(blur, src) == blurred(straight(40, 24, 2.5), src));
  // Another method's programs: built on demand only.
  blur.build_for(40, 40);
  CHECK_NOTHROW(blur.set_sigma(40, 40));
  CHECK(blurred(blur, src) == blurred(straight(40, 24, 40), src));
}

TEST_CASE("straight_alpha: for methods without, and in place") {
  Problem p = straight(40, 24, 2);
  const GaussianBlur blur(runtime(), p, "straight_alpha");
  CHECK(blur.in_place());
  CHECK(blur.describe().find("divided by alpha") != std::string::npos);
  const Bytes src = half_clear(40, 24);
  const Bytes direct = blurred(p, src);
  const Bytes composed = blurred(blur, src);
  for (std::size_t i = 0; i < src.size(); ++i) CHECK(std::abs(direct[i] - composed[i]) <= 1);
  p.in_place = true;
  CHECK(GaussianBlur(runtime(), p).in_place());
}

TEST_CASE("alpha: what is refused") {
  const auto message = [](const Problem& p, GaussianBlur::Variant variant, Errc code) {
    try {
      const GaussianBlur blur(runtime(), p, variant);
    } catch (const Error& error) {
      CHECK(error.code == code);
      return std::string(error.what());
    }
    FAIL_CHECK("a plan was made");
    return std::string();
  };
  for (const Alpha alpha : {Alpha::straight, Alpha::premultiplied}) {
    for (const int channels : {1, 3}) {
      Problem p = straight(40, 24, 1);
      p.alpha = alpha;
      p.pixel = pixel_type(Channel::u8, channels);
      const std::string what = message(p, {}, Errc::invalid_argument);
      CHECK_MESSAGE(what.find(text("got ", channels)) != std::string::npos, what);
      CHECK_MESSAGE(what.find(alpha_name(alpha, "")) != std::string::npos, what);
    }
  }
  Problem p = straight(40, 24, 1);
  p.alpha = static_cast<Alpha>(3);
  message(p, {}, Errc::invalid_argument);
  CHECK_THROWS_AS(parse_alpha("Straight", "test"), Error);
  CHECK(parse_alpha("premultiplied", "test") == Alpha::premultiplied);
  // A method that has none says why.
  p.alpha = Alpha::straight;
  CHECK(message(p, "naive", Errc::unsupported).find("one channel") != std::string::npos);
  CHECK(GaussianBlur(runtime(), p).describe().find("one channel") != std::string::npos);
  p.alpha = Alpha::none;
  CHECK_THROWS_AS(GaussianBlur(runtime(), p, "straight_alpha"), Error);
  p.alpha = Alpha::straight;
  p.pixel = PixelType::rgba32f;
  p.peak = 0;
  p.quality = 140;
  CHECK_THROWS_AS(GaussianBlur(runtime(), p), Error);  // products are rounded
  // The best that can be had can be had.
  const double best = GaussianBlur::best_quality(runtime(), p);
  CHECK(best > 110);
  p.quality = best - 0.1;
  CHECK_NOTHROW(GaussianBlur(runtime(), p));
}
