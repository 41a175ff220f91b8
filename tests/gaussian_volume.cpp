// Volumes: the card's shapes by every method, slices and columns against pictures, regions, slabs from
// host memory, and what is refused.
#include <doctest/doctest.h>

#include <algorithm>
#include <clcook/cookbook/gaussian_blur.hpp>
#include <clcook/core/strips.hpp>
#include <clcook/gaussian_blur_strips.hpp>
#include <clcook/registry/conformance.hpp>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "support/grid.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;

namespace {

using Problem = GaussianBlur::Problem;
using Bytes = std::vector<unsigned char>;

std::size_t slice_bytes(const Problem& p) {
  return gaussian::pixel_bytes(p) * static_cast<std::size_t>(p.width) *
         static_cast<std::size_t>(p.height);
}
std::size_t volume_bytes(const Problem& p) {
  return slice_bytes(p) * static_cast<std::size_t>(p.depth * p.batch);
}

Bytes noise(const Problem& p, std::uint64_t seed = 3) {
  Random random(seed);
  std::vector<double> values(volume_bytes(p) / channel_bytes(p.pixel));
  for (double& value : values) value = static_cast<double>(random.uniform());
  return cookbook::gaussian_blur_card::store(p.pixel, values);
}

Bytes blurred(const Problem& p, const Bytes& src, GaussianBlur::Variant variant = {},
              GaussianBlur::Region region = {}) {
  if (region.width == 0) region = {0, 0, p.width, p.height, 0, p.depth};
  const GaussianBlur blur(runtime(), p, variant);
  const std::size_t bytes = slice_bytes(p) * static_cast<std::size_t>(region.depth * p.batch);
  const cl::Buffer from = create_buffer(runtime(), src.size(), CL_MEM_READ_WRITE, src.data());
  const cl::Buffer to = create_buffer(runtime(), bytes);
  const cl::Event done = blur(from, to, region);
  return read_buffer<unsigned char>(runtime(), to, bytes, {done});
}

}  // namespace

LONG_TEST_CASE("volumes: the card's shapes, by every method that can", 32) {
  Recipe recipe = cookbook::gaussian_blur();
  std::vector<Params> volumes;
  for (const Params& shape : recipe.test_shapes) {
    if (shape.integer("depth", 0) > 0) volumes.push_back(shape);
  }
  REQUIRE(volumes.size() >= 10);
  recipe.test_shapes = volumes;
  ConformanceOptions options;
  options.out_of_order = false;
  int passed = 0;
  int by_volume = 0;
  run_conformance({recipe}, runtime(), options, [&](const ConformanceRow& row) {
    CAPTURE(row.name());
    CAPTURE(row.reason);
    CHECK(row.outcome != Outcome::failed);
    if (row.outcome != Outcome::passed) return;
    ++passed;
    by_volume += row.variant == "volume" ? 1 : 0;
  });
  CHECK(passed >= 50);
  CHECK(by_volume >= 10);
}

LONG_TEST_CASE("volumes: without sigma_z a volume is a batch, and depth 1 a picture", 16) {
  Problem volume{33, 21, 2, 1, PixelType::r16};
  volume.depth = 6;
  Problem batch = volume;
  batch.depth = 1;
  batch.batch = 6;
  const Bytes src = noise(volume);
  for (const char* variant : {"separable", "naive"})
    CHECK(blurred(volume, src, variant) == blurred(batch, src, variant));
  Problem flat{33, 126, 2, 1, PixelType::r16};
  flat.sigma_z = 3;  // the one slice repeats beyond the border
  const Bytes one = blurred(flat, src, "separable");
  flat.sigma_z = 0;
  const Bytes other = blurred(flat, src, "separable");
  for (std::size_t i = 0; i < one.size() / 2; ++i) {
    const double off =
        load_channel(flat.pixel, one.data(), i) - load_channel(flat.pixel, other.data(), i);
    CHECK(std::abs(off) <= 1);
  }
}

TEST_CASE("volumes: along z alone a volume is a picture of slices") {
  Problem volume{7, 11, 0, 0, PixelType::rg32f};
  volume.depth = 40;
  volume.sigma_z = 3;
  Problem picture{77, 40, 0, 3, PixelType::rg32f};
  const Bytes src = noise(volume);
  for (const char* variant : {"separable", "naive"})
    CHECK(blurred(volume, src, variant) == blurred(picture, src, variant));
}

TEST_CASE("volumes: x, y and z are the same to a cube") {
  Problem p{24, 24, 1, 2, PixelType::r32f};
  p.depth = 24;
  p.sigma_z = 3;
  p.border = GaussianBlur::Border::mirror;
  const Bytes src = noise(p);
  // The cube with its axes turned, x to y to z to x.
  const auto turned = [](const Bytes& in) {
    Bytes out(in.size());
    for (std::size_t z = 0; z < 24; ++z)
      for (std::size_t y = 0; y < 24; ++y)
        for (std::size_t x = 0; x < 24; ++x)
          std::memcpy(&out[4 * ((y * 24 + x) * 24 + z)], &in[4 * ((z * 24 + y) * 24 + x)], 4);
    return out;
  };
  Problem q = p;
  q.sigma_x = 3;
  q.sigma_y = 1;
  q.sigma_z = 2;
  const Bytes expected = turned(blurred(p, src));
  const Bytes got = blurred(q, turned(src));
  double worst = 0;
  for (std::size_t i = 0; i < got.size() / 4; ++i) {
    worst = std::max(worst, std::abs(load_channel(p.pixel, got.data(), i) -
                                     load_channel(p.pixel, expected.data(), i)));
  }
  CHECK(worst <= 2e-6);
}

TEST_CASE("volumes: a region is those slices of the whole") {
  Problem p{19, 13, 1, 1.5, PixelType::r32f};
  p.depth = 15;
  p.sigma_z = 2;
  p.batch = 2;
  p.border = GaussianBlur::Border::wrap;
  const Bytes src = noise(p);
  for (const char* variant : {"separable", "naive", "volume"}) {
    const Bytes whole = blurred(p, src, variant);
    const Bytes part = blurred(p, src, variant, {0, 0, 19, 13, 4, 7});
    const std::size_t slice = slice_bytes(p);
    for (std::size_t b = 0; b < 2; ++b) {
      CHECK(std::memcmp(&part[b * 7 * slice], &whole[(b * 15 + 4) * slice], 7 * slice) == 0);
    }
  }
}

TEST_CASE("volumes: slabs from host memory give the whole volume, bit for bit") {
  Problem p{29, 9, 1, 2, PixelType::r16};
  p.depth = 41;
  StripPipeline pipeline({runtime(), runtime()}, {1, StripWay::automatic});
  const auto check = [&](const char* variant) {
    const Bytes src = noise(p);
    const Bytes expected = blurred(p, src, variant);
    for (const int rows : {0, 9, 28, 10000}) {
      Bytes got(src.size());
      const StripReport report =
          GaussianBlur::by_strips(pipeline, p, src.data(), 0, got.data(), 0, rows, {}, variant);
      CAPTURE(variant);
      CAPTURE(rows);
      CHECK(got == expected);
      if (rows == 28) CHECK(report.strips == 11);  // slabs of four slices
    }
  };
  for (const BorderRow& border : kBorders) {
    p.border = border.value;
    for (const double sigma_z : {1.5, 0.0}) {
      p.sigma_z = sigma_z;
      check("separable");
      check("volume");
    }
  }
}

TEST_CASE("volumes: the promise adds up, and bytes go through floats") {
  Problem p{40, 30, 20, 20, PixelType::r32f};
  p.depth = 30;
  p.sigma_z = 2;
  p.peak = 1;
  const GaussianBlur blur(runtime(), p);
  CHECK(blur.psnr() >= 60);
  CHECK(blur.variant().name() == "volume");
  CHECK(blur.describe().find("along z: ") != std::string::npos);
  p.pixel = PixelType::r8;
  const GaussianBlur bytes(runtime(), p);
  CHECK(bytes.variant().name() != "volume");  // two roundings to bytes are 54 dB
  CHECK(bytes.psnr() >= 60);
}

namespace {

// The blurred value in double, of channel values and one outside of the volume.
double mean_of(const Problem& p, const std::vector<double>& in, int x, int y, int z) {
  constexpr int kReach = 4;  // of sigma 1, as `truncate` says
  const auto weight = [](double sigma, int k) { return std::exp(-k * k / (2 * sigma * sigma)); };
  double sum = 0;
  double weights = 0;
  for (int k = -kReach; k <= kReach; ++k) {
    for (int j = -kReach; j <= kReach; ++j) {
      for (int i = -kReach; i <= kReach; ++i) {
        const double w = weight(p.sigma_z, k) * weight(p.sigma_y, j) * weight(p.sigma_x, i);
        const bool inside = x + i >= 0 && x + i < p.width && y + j >= 0 && y + j < p.height &&
                            z + k >= 0 && z + k < p.depth;
        const auto at = static_cast<std::size_t>(((z + k) * p.height + y + j) * p.width + x + i);
        sum += w * (inside ? in[at] : static_cast<double>(p.outside[0]));
        weights += w;
      }
    }
  }
  return sum / weights;
}

}  // namespace

TEST_CASE("volumes: what is promised holds with values outside that the pixel type has not") {
  for (const float outside : {-65535.0F, -3.0F, 300.0F, 98302.5F}) {
    for (const PixelType pixel : {PixelType::r8, PixelType::r16}) {
      Problem p{9, 6, 1, 1};
      p.depth = 11;
      p.sigma_z = 1;
      p.pixel = pixel;
      p.border = Border::constant;
      p.outside = {outside, outside, outside, outside};
      CAPTURE(outside);
      const std::size_t bytes_each = pixel == PixelType::r16 ? 2 : 1;
      CAPTURE(bytes_each);
      const Bytes src = noise(p);
      const auto values_of = [&](const Bytes& bytes) {
        std::vector<double> out;
        for (std::size_t i = 0; i < bytes.size(); i += bytes_each) {
          unsigned value = bytes[i];
          if (bytes_each == 2) value |= static_cast<unsigned>(bytes[i + 1]) << 8;
          out.push_back(value);
        }
        return out;
      };
      const std::vector<double> in = values_of(src);
      const std::vector<double> out = values_of(blurred(p, src));
      const double top = pixel == PixelType::r8 ? 255 : 65535;
      double most = 0;
      for (int z = 0; z < p.depth; ++z) {
        for (int y = 0; y < p.height; ++y) {
          for (int x = 0; x < p.width; ++x) {
            const double value = std::clamp(mean_of(p, in, x, y, z), 0.0, top);
            const auto at = static_cast<std::size_t>((z * p.height + y) * p.width + x);
            most = std::max(most, std::abs(out[at] - value));
          }
        }
      }
      CHECK(most <= GaussianBlur(runtime(), p).max_distance());
    }
  }
  Problem half{9, 6, 1, 1};
  half.depth = 11;
  half.sigma_z = 1;
  half.pixel = PixelType::r16f;
  half.border = Border::constant;
  half.outside = {1e5F, 0, 0, 0};
  CHECK_THROWS_WITH_AS(GaussianBlur(runtime(), half, "volume"),
                       doctest::Contains("lies beyond that"), Error);
  CHECK_NOTHROW(GaussianBlur(runtime(), half));
  half.outside = {6e4F, 0, 0, 0};
  CHECK_NOTHROW(GaussianBlur(runtime(), half, "volume"));
}

TEST_CASE("volumes: what is refused") {
  Problem p{16, 16, 1, 1};
  p.depth = 4;
  p.width = p.height = 1 << 15;
  check_refused([&] { GaussianBlur(runtime(), p); }, "a slice of a volume has at most");
  p = {16, 16, 1, 1};
  p.depth = 4;
  const GaussianBlur blur(runtime(), p);
  const cl::Buffer buffer = create_buffer(runtime(), 16 * 16 * 16 * 4);
  const cl::Buffer other = create_buffer(runtime(), 16 * 16 * 16 * 4);
  using Region = GaussianBlur::Region;
  CHECK_THROWS_AS(blur(buffer, other, Region{0, 0, 16, 16, 2, 3}), Error);
  CHECK_THROWS_AS(blur(buffer, other, Region{0, 0, 16, 16, -1, 3}), Error);
  CHECK_THROWS_AS(blur(buffer, other, Region{0, 0, 15, 16, 0, 4}), Error);
  CHECK_NOTHROW(blur(buffer, other, Region{0, 0, 16, 16, 1, 3}));
  check(clFinish(runtime().queue()()), "clFinish");
  const Problem flat{16, 16, 1, 1};
  CHECK_THROWS_AS(GaussianBlur(runtime(), flat, "volume"), Error);
  CHECK_THROWS_AS(GaussianBlur(runtime(), p, "fused"), Error);
}
