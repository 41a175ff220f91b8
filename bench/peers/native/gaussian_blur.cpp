// gaussian_blur as plain loops, borders repeated: rows into a float picture, then lines.
// Blocks of 64 values are summed up over all taps in vectors, a type of g++ and clang++. shape: width,
// height, 0 for floats, 1 for bytes or 2 for 16 bits, number of taps, channels, the taps.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "parallel.hpp"

namespace {

constexpr std::size_t kBlock = 64;
// As long as a register: g++ 12 takes longer ones apart, and then as if they were aligned as a whole.
#if defined(__AVX512F__)
constexpr std::size_t kBytes = 64;
#elif defined(__AVX__)
constexpr std::size_t kBytes = 32;
#else
constexpr std::size_t kBytes = 16;
#endif
typedef float Vector __attribute__((vector_size(kBytes), aligned(4), may_alias));
constexpr std::size_t kVectors = kBlock * sizeof(float) / kBytes;

// The sum over the taps of 64 values, which lie at at(k) for tap k.
template <class At>
void weighted(const std::vector<float>& w, const At& at, float* to) {
  Vector sums[kVectors] = {};
  for (std::size_t k = 0; k < w.size(); ++k) {
    const auto* from = reinterpret_cast<const Vector*>(at(k));
    for (std::size_t v = 0; v < kVectors; ++v) sums[v] += w[k] * from[v];
  }
  auto* out = reinterpret_cast<Vector*>(to);
  for (std::size_t v = 0; v < kVectors; ++v) out[v] = sums[v];
}

void put(float& to, float sum) { to = sum; }
template <class Integer>
void put(Integer& to, float sum) {
  constexpr float kMost = std::numeric_limits<Integer>::max();
  to = static_cast<Integer>(std::min(kMost, std::max(0.0f, sum)) + 0.5f);
}

template <class Pixel>
void blur(const Pixel* src, Pixel* dst, int width, int height, const std::vector<float>& w,
          std::size_t channels, int threads) {
  const auto row = static_cast<std::size_t>(width) * channels;
  const auto rows = static_cast<std::size_t>(height);
  const int radius = static_cast<int>(w.size()) / 2;
  static std::vector<float> between;
  between.resize(row * rows + kBlock);
  parallel(threads, rows, [&](std::size_t begin, std::size_t end, int) {
    const auto pad = static_cast<std::size_t>(radius) * channels;
    std::vector<float> line(row + 2 * pad + kBlock);
    for (std::size_t y = begin; y < end; ++y) {
      const Pixel* from = src + y * row;
      for (std::size_t i = 0; i < pad; ++i) {
        line[i] = static_cast<float>(from[i % channels]);
        line[pad + row + i] = static_cast<float>(from[row - channels + i % channels]);
      }
      for (std::size_t i = 0; i < row; ++i) line[pad + i] = static_cast<float>(from[i]);
      for (std::size_t i = 0; i < row; i += kBlock) {
        float sum[kBlock];
        weighted(
            w, [&](std::size_t k) { return line.data() + i + channels * k; }, sum);
        std::memcpy(between.data() + y * row + i, sum, std::min(kBlock, row - i) * sizeof *sum);
      }
    }
  });
  // In strips, so that the lines of a filter stay in the cache.
  constexpr std::size_t kStrip = 16 * kBlock;
  parallel(threads, rows, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t strip = 0; strip < row; strip += kStrip) {
      const std::size_t last = std::min(row, strip + kStrip);
      for (std::size_t y = begin; y < end; ++y) {
        for (std::size_t i = strip; i < last; i += kBlock) {
          const std::size_t size = std::min(kBlock, last - i);
          float sum[kBlock];
          const auto line = [&](std::size_t k) {
            const int from = std::clamp(static_cast<int>(y + k) - radius, 0, height - 1);
            return between.data() + static_cast<std::size_t>(from) * row + i;
          };
          weighted(w, line, sum);
          for (std::size_t j = 0; j < size; ++j) put(dst[y * row + i + j], sum[j]);
        }
      }
    }
  });
}

}  // namespace

extern "C" void compute(const void* const* in, const std::size_t*, void* const* out,
                        const double* shape, int threads) {
  const int width = static_cast<int>(shape[0]), height = static_cast<int>(shape[1]);
  std::vector<float> w(static_cast<std::size_t>(shape[3]));
  for (std::size_t k = 0; k < w.size(); ++k) w[k] = static_cast<float>(shape[5 + k]);
  const auto channels = static_cast<std::size_t>(shape[4]);
  const auto run = [&](auto pixel) {
    using Pixel = decltype(pixel);
    blur(static_cast<const Pixel*>(in[0]), static_cast<Pixel*>(out[0]), width, height, w, channels,
         threads);
  };
  if (shape[2] == 0) run(float());
  if (shape[2] == 1) run(std::uint8_t());
  if (shape[2] == 2) run(std::uint16_t());
}
