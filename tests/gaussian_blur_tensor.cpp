// The methods tensor, tensor_split and tensor_bytes: where the matrices have their elements, and on
// devices without matrix units everything else of the kernel, with products made by ordinary
// arithmetic.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include <clcook/cookbook/gaussian_blur.hpp>
#include <clcook/gaussian_blur.hpp>
#include <clcook/gaussian_blur/tensor.hpp>
#include <clcook/gaussian_blur/tensor_bytes.hpp>
#include <clcook/gaussian_blur/tensor_passes.hpp>
#include <clcook/reference/gaussian_blur.hpp>

#include "support/borders.hpp"
#include "support/grid.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;

namespace {

namespace ref = reference::gaussian_blur;
using gaussian::BytesStore;
using gaussian::ByteWeights;
using gaussian::Half;
using gaussian::HalfWeights;
using gaussian::Problem;

// A matrix of 16 x 16 from the registers of a warp, by the layout of mma.sync.m16n8k16.
std::vector<double> matrix(const std::uint32_t* words) {
  std::vector<double> out(256, -1);
  for (std::size_t lane = 0; lane < 32; ++lane) {
    for (std::size_t i = 0; i < 8; ++i) {
      const std::size_t row = lane / 4 + (i / 2 % 2) * 8;
      const std::size_t column = lane % 4 * 2 + i % 2 + i / 4 * 8;
      const std::uint32_t word = words[4 * lane + i / 2];
      out[row * 16 + column] = ref::from_half((word >> (i % 2 * 16)) & 0xFFFF);
    }
  }
  return out;
}

}  // namespace

TEST_CASE("gaussian_blur tensor: halves are the nearest ones") {
  Random random(1);
  for (int i = 0; i < 100000; ++i) {
    const double value = std::ldexp(static_cast<double>(random.uniform()) - 0.5,
                                    static_cast<int>(random.below(44)) - 28);
    const Half half = Half::of(value);
    REQUIRE(half.bits == ref::to_half(value));
    REQUIRE(half.value == ref::from_half(half.bits));
  }
  CHECK(Half::of(0).bits == 0);
  CHECK(Half::of(1).bits == 0x3C00);
}

TEST_CASE("gaussian_blur tensor: the matrices hold the band of the weights") {
  for (const auto& [sigma, chunks] : {std::pair(2.0, 3), std::pair(1.0, 4), std::pair(8.0, 6)}) {
    const HalfWeights weights(gaussian::make_axis(sigma, 2), false, 0);
    const int pad = 4 * (chunks - 2);
    for (const bool columns : {false, true}) {
      const auto words = gaussian::Tensor<false>::fragments(weights.high, chunks, columns);
      REQUIRE(words.size() == static_cast<std::size_t>((chunks + 1) / 2 * 128));
      // The order of the pixels, as in the kernel: slot 2t + j + 8i is PLACE(j, t) + 8i.
      const auto pixel = [&](int slot) {
        const int t = slot % 8 / 2;
        const int j = slot % 2;
        return columns ? slot : 4 * j + t + slot / 8 * 8;
      };
      for (int piece = 0; piece < (chunks + 1) / 2; ++piece) {
        const std::vector<double> a = matrix(words.data() + 128 * piece);
        for (int row = 0; row < 16; ++row) {
          for (int column = 0; column < 16; ++column) {
            const int tap = std::abs(16 * piece + pixel(column) - pad - pixel(row));
            const double expected = static_cast<std::size_t>(tap) < weights.high.size()
                                        ? weights.high[static_cast<std::size_t>(tap)].value
                                        : 0;
            REQUIRE(a[static_cast<std::size_t>(row * 16 + column)] == expected);
          }
        }
      }
    }
  }
}

TEST_CASE("gaussian_blur tensor: chunks of blurred rows stand for the rows that the columns need") {
  Random random(4);
  int left_out = 0;
  for (int i = 0; i < 20000; ++i) {
    Problem p;
    p.height = 1 + static_cast<int>(random.below(100));
    p.border = kBorders[random.below(std::size(kBorders))].value;
    const int y = static_cast<int>(random.below(static_cast<std::uint32_t>(p.height)));
    const int rows = 16 * (1 + static_cast<int>(random.below(10)));
    const int pad = 8 * (2 + static_cast<int>(random.below(10)));
    const auto chunks = gaussian::TensorPasses::chunks(p, y, rows, pad);
    REQUIRE(chunks.count >= 1);
    left_out += (rows + 2 * pad) / 8 - chunks.count;
    for (int row = 0; row < rows + 2 * pad; ++row) {
      // As in the kernel of the columns, and as in that of the rows.
      const int chunk = std::clamp(row / 8 - chunks.skipped, 0, chunks.count - 1);
      const int made = chunks.first + 8 * chunk + row % 8;
      const auto source = [&](int at) {
        return repeats_picture(p.border)
                   ? at
                   : clcook::reference::border_index(at, p.height, reference_border(p.border));
      };
      REQUIRE(source(made) == source(y - pad + row));
    }
  }
  CHECK(left_out > 100000);
}

TEST_CASE("gaussian_blur tensor_bytes: weights are whole numbers of a sum of a power of two") {
  for (const double sigma : {0.0, 0.1, 0.3, 0.5, 1.0, 2.0, 5.0, 8.0, 16.0, 31.7, 100.0}) {
    for (const double truncate : {0.5, 2.0, 4.0, 8.0}) {
      CAPTURE(sigma);
      CAPTURE(truncate);
      const gaussian::FilterAxis axis = gaussian::make_axis(sigma, truncate);
      for (const auto store : {BytesStore::coarse, BytesStore::fine, BytesStore::carry}) {
        const ByteWeights weights(axis, store);
        int sum = 0;
        double off = 0;
        for (std::size_t k = 0; k < weights.taps.size(); ++k) {
          const double exact = std::ldexp(axis.weights[k], weights.shift);
          REQUIRE(std::abs(weights.taps[k] - exact) <= 1);
          off += (k == 0 ? 1 : 2) * std::abs(weights.taps[k] - exact);
          sum += (k == 0 ? 1 : 2) * weights.taps[k];
        }
        CHECK(weights.off == doctest::Approx(std::ldexp(off, -weights.shift)));
        CHECK(weights.taps[0] <= (store == BytesStore::coarse ? 255 : 65535));
        if (store == BytesStore::fine) {
          CHECK(weights.shift == 16);
          CHECK(sum == (axis.weights[0] * 65536 > 65535.5 ? 65535 : 65536));
        } else {
          CHECK(sum == 1 << weights.shift);
          if (store == BytesStore::coarse) CHECK(weights.taps[0] >= 126);
          if (store == BytesStore::carry) {
            CHECK(weights.shift <= 22);
            CHECK((weights.shift == 22 || weights.taps[0] >= 32766));
          }
        }
        CHECK(weights.missing == 1 - std::ldexp(sum, -weights.shift));
      }
    }
  }
}

TEST_CASE("gaussian_blur tensor_bytes: the matrices hold the band of the weights") {
  for (const auto& [sigma, pieces] : {std::pair(4.0, 2), std::pair(8.0, 3), std::pair(32.0, 9)}) {
    for (const auto store : {BytesStore::coarse, BytesStore::fine, BytesStore::carry}) {
      const ByteWeights weights(gaussian::make_axis(sigma, 2), store);
      const bool fine = store != BytesStore::coarse;
      const int pad = 8 * (pieces - 1);
      const auto size = static_cast<std::size_t>(64 * pieces);
      for (const bool columns : {false, true}) {
        const auto words = gaussian::TensorBytes::fragments(weights, pieces, columns);
        REQUIRE(words.size() == size * (fine ? 2 : 1));
        // The element (row, column) of A is a byte of the lane 4 (row % 8) + column / 4.
        const auto byte = [&](std::size_t part, int piece, int row, int column) {
          const int lane = row % 8 * 4 + column / 4;
          const auto at = static_cast<std::size_t>(64 * piece + 2 * lane + row / 8);
          return static_cast<int>(words[part * size + at] >> (8 * (column % 4)) & 255);
        };
        for (int piece = 0; piece < pieces; ++piece) {
          for (int i = 0; i < 2; ++i) {
            for (int t = 0; t < 4; ++t) {
              for (int j = 0; j < 2; ++j) {
                for (int slot = 0; slot < 16; ++slot) {
                  // Results of the rows are 4t + j + 2i for 2t + j + 8i; inputs of the columns
                  // are 2t + j for the slot 4t + j and 8 + 2t + j for 4t + 2 + j.
                  const int m = 2 * t + j + 8 * i;
                  const int result = columns ? m : 4 * t + j + 2 * i;
                  const int input =
                      columns ? slot / 4 * 2 + slot % 2 + (slot % 4 >= 2 ? 8 : 0) : slot;
                  const int tap = std::abs(16 * piece + input - pad - result);
                  const int expected = static_cast<std::size_t>(tap) < weights.taps.size()
                                           ? weights.taps[static_cast<std::size_t>(tap)]
                                           : 0;
                  const int stored = fine ? 256 * byte(0, piece, m, slot) + byte(1, piece, m, slot)
                                          : byte(0, piece, m, slot);
                  REQUIRE(stored == expected);
                }
              }
            }
          }
        }
      }
    }
  }
}

TEST_CASE("gaussian_blur tensor: without matrix units the variant is refused, with the need") {
  Problem p;
  p.width = p.height = 16;
  p.sigma_x = p.sigma_y = 2;
  p.peak = 1;
  if (runtime().info().platform.find("NVIDIA") == std::string::npos) {
    const Error error = error_of([&] { GaussianBlur(runtime(), p, "tensor"); });
    CHECK(error.code == Errc::unsupported);
    CHECK(contains(error.what(), "needs an NVIDIA GPU"));
  }
  const ScopedVariable emulation("CLCOOK_TENSOR_EMULATE", "1");
  const auto refused = [&](const auto& change, const char* part) {
    Problem q = p;
    change(q);
    const Error error = error_of([&] { GaussianBlur(runtime(), q, "tensor"); });
    CHECK(error.code == Errc::unsupported);
    CAPTURE(error.what());
    CHECK(contains(error.what(), part));
  };
  refused([](Problem& q) { q.peak = 0; }, "needs Problem::peak");
  refused([](Problem& q) { q.pixel = PixelType::rgb32f; }, "needs 4 channels, got 3");
  refused([](Problem& q) { q.pixel = PixelType::rgba16; }, "takes float and byte pixels only");
  refused([](Problem& q) { q.sigma_y = 300; }, "radius of 1200");
  refused([](Problem& q) { q.peak = 1e38; }, "peak of 1e-30 to 1e30");
  refused(
      [](Problem& q) {
        q.border = GaussianBlur::Border::constant;
        q.outside = {2, 0, 0, 0};
      },
      "within the peak, got 2");
  // And tensor_bytes.
  const auto refused_bytes = [&](const auto& change, const char* part) {
    Problem q = p;
    q.pixel = PixelType::rgba8;
    change(q);
    const Error error = error_of([&] { GaussianBlur(runtime(), q, "tensor_bytes"); });
    CHECK(error.code == Errc::unsupported);
    CAPTURE(error.what());
    CHECK(contains(error.what(), part));
  };
  refused_bytes([](Problem& q) { q.pixel = PixelType::rgba16; }, "takes byte pixels only");
  refused_bytes([](Problem& q) { q.pixel = PixelType::rgb8; }, "needs 4 channels, got 3");
  refused_bytes([](Problem& q) { q.sigma_y = 30; }, "radius of 120");
  refused_bytes(
      [](Problem& q) {
        q.border = GaussianBlur::Border::constant;
        q.outside = {2, 0.5f, 0, 0};
      },
      "whole levels, got 0.5");
  refused(
      [](Problem& q) {
        q.pixel = PixelType::rgba8;
        q.border = GaussianBlur::Border::constant;
        q.outside = {2, 0, 0.5f, 0};
      },
      "whole levels, got 0.5");
}

LONG_TEST_CASE("gaussian_blur tensor: pictures within the promised error", 16) {
  const ScopedVariable emulation("CLCOOK_TENSOR_EMULATE", "1");
  std::size_t number = 0;
  for (const char* line :
       {"tensor width=83 height=41 sigma=2 truncate=2 peak=1 border=mirror offset=3 pad=1",
        "tensor width=40 height=33 sigma_x=0.5 sigma_y=2 truncate=2 peak=3 x=7 y=3 "
        "region_width=21 region_height=19 batch=2",
        "tensor width=75 height=20 sigma=2 truncate=2 peak=1 border=constant",
        "tensor width=75 height=50 sigma_x=8 sigma_y=7 truncate=2 peak=1 border=wrap",
        "tensor_split width=83 height=41 sigma=2 truncate=2 peak=1 border=mirror offset=1",
        "tensor_split width=70 height=33 sigma_x=8 sigma_y=3 truncate=2 peak=1 border=wrap",
        // Two launches.
        "tensor width=300 height=45 sigma_x=16 sigma_y=9 truncate=2 peak=1 border=mirror offset=3 "
        "pad=1",
        "tensor width=83 height=150 sigma_x=0.5 sigma_y=9 truncate=2 peak=3 x=7 y=3 "
        "region_width=61 region_height=139 batch=2",
        "tensor width=75 height=20 sigma_x=9 sigma_y=1 truncate=4 peak=1 border=constant",
        "tensor width=30 height=50 sigma_x=32 sigma_y=33 truncate=2 peak=1 border=wrap",
        "tensor_split width=221 height=60 sigma_x=10 sigma_y=17 truncate=2 peak=1 border=constant "
        "x=11 y=50 region_width=201 region_height=10",
        "tensor_split width=50 height=70 sigma=9 truncate=2 peak=1 border=mirror batch=2 pad=1",
        "tensor width=75 height=60 sigma_x=33 sigma_y=20 truncate=2 pixel=u8 border=mirror "
        "offset=3 "
        "pad=1",
        "tensor width=131 height=50 sigma_x=1 sigma_y=9 pixel=u8 border=wrap x=7 y=3 "
        "region_width=101 region_height=39 batch=2",
        // One class after the other; aligned pixels and not, edges of all kinds.
        "tensor_bytes width=67 height=35 sigma=2 truncate=2 pixel=u8 pad=1 offset=1",
        "tensor_bytes width=76 height=35 sigma=1 truncate=3 pixel=u8 border=mirror",
        "tensor_bytes width=128 height=50 sigma_x=0 sigma_y=2 pixel=u8 border=wrap",
        "tensor_bytes width=92 height=50 sigma_x=2 sigma_y=1 pixel=u8 border=mirror",
        "tensor_bytes width=132 height=60 sigma_x=2 sigma_y=0 pixel=u8 x=12 y=5 region_width=68 "
        "region_height=33 batch=2",
        "tensor_bytes width=72 height=64 sigma_x=3 sigma_y=1 truncate=4 pixel=u8 quality=50",
        "tensor_bytes width=80 height=40 sigma_x=4 sigma_y=2 truncate=4 pixel=u8 quality=60",
        "tensor_bytes width=84 height=40 sigma=10 truncate=3 pixel=u8 pad=2 border=mirror",
        "tensor_bytes width=84 height=20 sigma_x=7 sigma_y=1 pixel=u8 quality=60",
        "tensor_bytes width=97 height=83 sigma_x=32 sigma_y=20 truncate=2 pixel=u8",
        "tensor_bytes width=97 height=83 sigma_x=32 sigma_y=20 truncate=2 pixel=u8 quality=60 "
        "border=wrap x=9 y=3 region_width=80 region_height=70 batch=2"}) {
    if (left_out(number++, 4)) continue;
    const std::string text = line;
    CAPTURE(text);
    const std::size_t blank = text.find(' ');
    const auto shape = cookbook::gaussian_blur().check_shape(Params::parse(text.substr(blank + 1)));
    cookbook::gaussian_blur_card::BlurCase one(runtime(), shape, 1);
    one.prepare(text.substr(0, blank), {});
    one.poison();
    const Diff diff = one.check({one.run({one.upload({})})});
    CHECK_MESSAGE(diff.ok(), diff.first());
  }
}

// The arithmetic of tensor_bytes, number by number, of a whole picture. Rows are numbered as in the
// picture, and go on beyond it.
LONG_TEST_CASE("gaussian_blur tensor_bytes: the device makes the model's bytes", 16) {
  const ScopedVariable emulation("CLCOOK_TENSOR_EMULATE", "1");
  struct Blur {
    double sigma_x, sigma_y, truncate, quality;
    int pieces;
    BytesStore store;
  };
  constexpr BytesStore kCoarse = BytesStore::coarse;
  constexpr BytesStore kFine = BytesStore::fine;
  constexpr BytesStore kCarry = BytesStore::carry;
  std::size_t number = 0;
  for (const Blur& one :
       {Blur{2, 2, 2, 0, 2, kFine}, Blur{8, 4, 2, 0, 3, kCoarse}, Blur{4, 8, 2, 60, 3, kFine},
        Blur{5, 0, 4, 0, 5, kCoarse}, Blur{10, 16, 2, 0, 5, kCoarse}, Blur{9, 10, 3, 60, 5, kFine},
        Blur{16, 12, 4, 0, 9, kCoarse}, Blur{16, 16, 4, 60, 9, kCarry},
        Blur{12, 30, 2, 60, 9, kCarry}, Blur{12, 0, 4, 90, 9, kCarry}}) {
    if (left_out(number++, 3)) continue;
    Problem p;
    p.width = 70;
    p.height = 150;
    p.sigma_x = one.sigma_x;
    p.sigma_y = one.sigma_y;
    p.truncate = one.truncate;
    p.quality = one.quality;
    p.pixel = PixelType::rgba8;
    p.border = kBorders[number % std::size(kBorders)].value;
    p.outside = {191, 32, 0, 255};
    const auto design = gaussian::TensorBytes::design(p, gaussian::make_axes(p));
    REQUIRE(design);
    CAPTURE(one.sigma_x);
    CAPTURE(one.sigma_y);
    REQUIRE(design->shape->pieces == one.pieces);
    REQUIRE(design->shape->store == one.store);
    const std::vector<int>& x = design->x.taps;
    const std::vector<int>& y = design->y.taps;
    const int radius_x = static_cast<int>(x.size()) - 1;
    const int radius_y = static_cast<int>(y.size()) - 1;
    const auto border = reference_border(p.border);
    const auto tap = [](const std::vector<int>& taps, int k) {
      return taps[static_cast<std::size_t>(std::abs(k))];
    };
    const int segment = gaussian::TensorBytes::segment_rows(runtime().info(), p, *design->shape,
                                                            {0, 0, p.width, p.height});
    const int pad = 8 * (one.pieces - 1);
    Random random(number);
    std::vector<unsigned char> picture;
    for (int i = 0; i < p.width * p.height * 4; ++i) {
      // Blocks, smooth parts and noise.
      const int at = i / 4;
      const int value = at / p.width < 50    ? at % p.width + at / p.width
                        : at / p.width < 100 ? static_cast<int>(random.below(256))
                                             : (at % p.width / 9 + at / p.width / 7) % 2 * 255;
      picture.push_back(static_cast<unsigned char>(value));
    }
    std::vector<unsigned char> expected(picture.size());
    for (int column = 0; column < p.width; ++column) {
      for (int c = 0; c < 4; ++c) {
        const auto source = [&](int row, int k) {
          const auto at = ref::border_index(row, p.height, border);
          const auto i = ref::border_index(column + k, p.width, border);
          if (at < 0 || i < 0) return static_cast<int>(p.outside[static_cast<std::size_t>(c)]);
          return static_cast<int>(picture[static_cast<std::size_t>((at * p.width + i) * 4 + c)]);
        };
        for (int begin = 0; begin < p.height; begin += segment) {
          // Blurred along the row: row begin - pad first.
          std::vector<int> rows;
          std::array<int, 4> carry{};
          const int unit = 1 << design->x.shift;
          carry.fill(unit / 2);
          const int end = std::min(begin + segment, p.height);
          for (int row = begin - pad; row < end + pad; ++row) {
            int sum = 0;
            for (int k = -radius_x; k <= radius_x; ++k) sum += tap(x, k) * source(row, k);
            if (one.store == kFine) {
              sum = (sum + 128) >> 8;
            } else if (radius_y == 0) {
              sum = (sum + unit / 2) >> design->x.shift;
            } else if (one.store == kCoarse) {
              int order = 0;  // the four lowest bits of the row, turned around
              for (int bit = 0; bit < 4; ++bit) order |= (row >> bit & 1) << (3 - bit);
              sum = (sum + (unit * (2 * order + 1) >> 5)) >> design->x.shift;
            } else {
              int& left = carry[static_cast<std::size_t>((row - begin + pad) % 8 / 2)];
              left += sum;
              sum = left / unit;
              left %= unit;
            }
            rows.push_back(sum);
          }
          double low = 0;  // of the weights
          for (int k = -radius_y; k <= radius_y; ++k) low += tap(y, k) & 255;
          for (int row = begin; row < end; ++row) {
            std::int64_t sum = 0;
            for (int k = -radius_y; k <= radius_y; ++k) {
              const int weight = tap(y, k);
              const int value = rows[static_cast<std::size_t>(row - begin + pad + k)];
              sum += one.store == kFine ? (weight * value - (weight & 255) * (value & 255)) / 256
                                        : weight * value;
            }
            sum += one.store == kFine ? 0x8000 + static_cast<int>(low * 127.5 / 256 + 0.5)
                                      : std::int64_t{1} << design->y.shift >> 1;
            expected[static_cast<std::size_t>((row * p.width + column) * 4 + c)] =
                static_cast<unsigned char>(sum >> design->y.shift);
          }
        }
      }
    }
    const cl::Buffer src =
        create_buffer(runtime(), picture.size(), CL_MEM_READ_ONLY, picture.data());
    const cl::Buffer dst = create_buffer(runtime(), picture.size());
    const GaussianBlur blur(runtime(), p, "tensor_bytes");
    const auto got = read_buffer<unsigned char>(runtime(), dst, picture.size(), {blur(src, dst)});
    CHECK(got == expected);
  }
}
