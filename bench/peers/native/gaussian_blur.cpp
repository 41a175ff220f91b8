// gaussian_blur as plain loops on RGBA, borders repeated: rows into a float picture, then lines.
// Blocks of 64 values are summed up in a small array over all taps, which compilers keep in
// registers. shape: width, height, 1 for bytes, number of taps, the taps.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "parallel.hpp"

namespace {

constexpr std::size_t kBlock = 64;

float value(float from) { return from; }
float value(std::uint8_t from) { return from; }
void put(float& to, float sum) { to = sum; }
void put(std::uint8_t& to, float sum) {
  to = static_cast<std::uint8_t>(std::min(255.0f, std::max(0.0f, sum)) + 0.5f);
}

template <class Pixel>
void blur(const Pixel* src, Pixel* dst, int width, int height, const std::vector<float>& w,
          int threads) {
  const auto row = static_cast<std::size_t>(width) * 4;
  const auto rows = static_cast<std::size_t>(height);
  const int radius = static_cast<int>(w.size()) / 2;
  static std::vector<float> between;
  between.resize(row * rows);
  parallel(threads, rows, [&](std::size_t begin, std::size_t end, int) {
    const auto pad = static_cast<std::size_t>(radius) * 4;
    std::vector<float> line(row + 2 * pad + kBlock);
    for (std::size_t y = begin; y < end; ++y) {
      const Pixel* from = src + y * row;
      for (std::size_t i = 0; i < pad; ++i) {
        line[i] = value(from[i % 4]);
        line[pad + row + i] = value(from[row - 4 + i % 4]);
      }
      for (std::size_t i = 0; i < row; ++i) line[pad + i] = value(from[i]);
      for (std::size_t i = 0; i < row; i += kBlock) {
        float sum[kBlock] = {};
        for (std::size_t k = 0; k < w.size(); ++k) {
          const float* at = line.data() + i + 4 * k;
          for (std::size_t j = 0; j < kBlock; ++j) sum[j] += w[k] * at[j];
        }
        std::memcpy(between.data() + y * row + i, sum, std::min(kBlock, row - i) * sizeof *sum);
      }
    }
  });
  parallel(threads, rows, [&](std::size_t begin, std::size_t end, int) {
    std::vector<const float*> lines(w.size());
    for (std::size_t i = 0; i < row; i += kBlock) {
      const std::size_t size = std::min(kBlock, row - i);
      for (std::size_t y = begin; y < end; ++y) {
        float sum[kBlock] = {};
        for (std::size_t k = 0; k < w.size(); ++k) {
          const int from = std::clamp(static_cast<int>(y + k) - radius, 0, height - 1);
          const float* at = between.data() + static_cast<std::size_t>(from) * row + i;
          if (size == kBlock) {
            for (std::size_t j = 0; j < kBlock; ++j) sum[j] += w[k] * at[j];
          } else {
            for (std::size_t j = 0; j < size; ++j) sum[j] += w[k] * at[j];
          }
        }
        for (std::size_t j = 0; j < size; ++j) put(dst[y * row + i + j], sum[j]);
      }
    }
  });
}

}  // namespace

extern "C" void compute(const void* const* in, const std::size_t*, void* const* out,
                        const double* shape, int threads) {
  const int width = static_cast<int>(shape[0]), height = static_cast<int>(shape[1]);
  std::vector<float> w(static_cast<std::size_t>(shape[3]));
  for (std::size_t k = 0; k < w.size(); ++k) w[k] = static_cast<float>(shape[4 + k]);
  if (shape[2] != 0) {
    blur(static_cast<const std::uint8_t*>(in[0]), static_cast<std::uint8_t*>(out[0]), width, height,
         w, threads);
  } else {
    blur(static_cast<const float*>(in[0]), static_cast<float*>(out[0]), width, height, w, threads);
  }
}
