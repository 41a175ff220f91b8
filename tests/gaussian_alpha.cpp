// Straight alpha: no colour of what is transparent comes out, opaque pictures are blurred as others, and
// what is refused. The card's shapes are compared with the reference by the conformance tests.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <clcook/gaussian_blur.hpp>
#include <clcook/registry/random.hpp>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "support/grid.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;

namespace {

using Problem = GaussianBlur::Problem;
using Bytes = std::vector<unsigned char>;

Bytes blurred(const GaussianBlur& blur, const Bytes& src) {
  const cl::Buffer from = create_buffer(runtime(), src.size(), CL_MEM_READ_WRITE, src.data());
  const cl::Buffer to = create_buffer(runtime(), src.size());
  const cl::Event done = blur(from, to);
  return read_buffer<unsigned char>(runtime(), to, src.size(), {done});
}

constexpr int kWidth = 40;
constexpr int kHeight = 24;

Problem problem(double sigma) {
  Problem p{kWidth, kHeight, sigma, sigma, GaussianBlur::Pixel::u8, 4};
  p.straight_alpha = true;
  return p;
}

// The left half is opaque and green, the right half transparent and red.
Bytes half_transparent() {
  Bytes out;
  for (int i = 0; i < kWidth * kHeight; ++i) {
    const bool is_left = i % kWidth < kWidth / 2;
    const std::array<unsigned char, 4> left{0, 200, 0, 255};
    const std::array<unsigned char, 4> right{255, 0, 0, 0};
    const auto& pixel = is_left ? left : right;
    out.insert(out.end(), pixel.begin(), pixel.end());
  }
  return out;
}

}  // namespace

LONG_TEST_CASE("straight alpha: the colour of what is transparent does not come out", 8) {
  const Bytes src = half_transparent();
  for (const double sigma : {1.0, 3.0, 17.0}) {
    CAPTURE(sigma);
    Problem p = problem(sigma);
    const Bytes out = blurred(GaussianBlur(runtime(), p), src);
    p.straight_alpha = false;
    const Bytes as_it_is = blurred(GaussianBlur(runtime(), p), src);
    int partly = 0;
    bool red_comes_out = false;
    for (std::size_t i = 0; i < out.size(); i += 4) {
      CAPTURE(i / 4);
      CHECK(std::abs(out[i + 3] - as_it_is[i + 3]) <= 1);  // alpha is blurred either way
      red_comes_out = red_comes_out || as_it_is[i] > 50;
      if (out[i + 3] < 4) continue;  // few levels of alpha say little about a colour
      partly += out[i + 3] < 250 ? 1 : 0;
      const int off = sigma > 16 ? 4 : 1;  // of methods that approximate, within the promise
      CHECK(out[i] <= off);
      CHECK(std::abs(out[i + 1] - 200) <= off * 255 / out[i + 3] + 1);
    }
    CHECK(partly > 0);
    CHECK(red_comes_out);
  }
}

TEST_CASE("straight alpha: an opaque picture is blurred as any other") {
  Random random(5);
  Bytes src(kWidth * kHeight * 4);
  for (unsigned char& value : src) value = static_cast<unsigned char>(random.below(256));
  for (std::size_t i = 3; i < src.size(); i += 4) src[i] = 255;
  Problem p = problem(2);
  const Bytes out = blurred(GaussianBlur(runtime(), p), src);
  p.straight_alpha = false;
  const Bytes expected = blurred(GaussianBlur(runtime(), p), src);
  int most = 0;
  for (std::size_t i = 0; i < out.size(); ++i)
    most = std::max(most, std::abs(out[i] - expected[i]));
  CHECK(most <= 1);
}

TEST_CASE("straight alpha: nothing is compiled for another sigma") {
  const Bytes src = half_transparent();
  GaussianBlur blur(runtime(), problem(2));
  CHECK(blur.variant().name() == "straight_alpha");
  CHECK(blur.in_place());
  CHECK(blur.describe().find("divided by alpha") != std::string::npos);
  const std::string before = blur.describe();
  CHECK_NOTHROW(blur.set_sigma(2.5, 2.5));
  CHECK(blurred(blur, src) == blurred(GaussianBlur(runtime(), problem(2.5)), src));
  // Another method's programs: built on demand only.
  blur.build_for(40, 40);
  CHECK_NOTHROW(blur.set_sigma(40, 40));
  CHECK(blurred(blur, src) == blurred(GaussianBlur(runtime(), problem(40)), src));
}

TEST_CASE("straight alpha: what is refused") {
  for (const int channels : {1, 3}) {
    Problem p = problem(1);
    p.channels = channels;
    try {
      const GaussianBlur blur(runtime(), p);
      FAIL_CHECK("a plan was made");
    } catch (const Error& error) {
      CHECK(error.code == Errc::invalid_argument);
      CHECK_MESSAGE(std::string(error.what()).find(text("got ", channels)) != std::string::npos,
                    error.what());
    }
  }
  Problem p = problem(1);
  CHECK_THROWS_AS(GaussianBlur(runtime(), p, "separable"), Error);
  p.straight_alpha = false;
  CHECK_THROWS_AS(GaussianBlur(runtime(), p, "straight_alpha"), Error);
  p.straight_alpha = true;
  p.pixel = GaussianBlur::Pixel::f32;
  p.quality = 140;
  CHECK_THROWS_AS(GaussianBlur(runtime(), p), Error);  // products are rounded
  // The best that can be had can be had.
  const double best = GaussianBlur::best_quality(runtime(), p);
  CHECK(best > 110);
  p.quality = best - 0.1;
  CHECK_NOTHROW(GaussianBlur(runtime(), p));
}
