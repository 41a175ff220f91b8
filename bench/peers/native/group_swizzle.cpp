// group_swizzle as plain loops over the pixels. shape: width, height, taps, radius, 1 for gather.
#include <algorithm>
#include <cstdint>

#include "parallel.hpp"

extern "C" void compute(const void* const* in, const std::size_t*, void* const* out,
                        const double* shape, int threads) {
  const auto* src = static_cast<const float*>(in[0]);
  const auto* m = static_cast<const float*>(in[1]);
  auto* dst = static_cast<float*>(out[0]);
  const int width = static_cast<int>(shape[0]), height = static_cast<int>(shape[1]);
  const int taps = static_cast<int>(shape[2]), radius = static_cast<int>(shape[3]);
  const auto row = static_cast<std::size_t>(width);
  parallel(threads, static_cast<std::size_t>(height), [&](std::size_t begin, std::size_t end, int) {
    if (shape[4] == 0) {
      for (std::size_t i = begin * row; i < end * row; ++i) {
        const float* p = src + 4 * i;
        for (int c = 0; c < 4; ++c) {
          dst[4 * i + static_cast<std::size_t>(c)] =
              m[4 * c] * p[0] + m[4 * c + 1] * p[1] + m[4 * c + 2] * p[2] + m[4 * c + 3] * p[3];
        }
      }
      return;
    }
    const std::uint32_t values = 2 * static_cast<std::uint32_t>(radius) + 1;
    for (std::size_t y = begin; y < end; ++y) {
      for (int x = 0; x < width; ++x) {
        std::uint32_t state = static_cast<std::uint32_t>(x) * 0x9E3779B1U +
                              static_cast<std::uint32_t>(y) * 0x85EBCA77U;
        state = (state ^ (state >> 15)) * 0x2C1B3C6DU;
        state ^= state >> 12;
        const auto next = [&] {
          state = state * 1664525U + 1013904223U;
          return static_cast<int>(((state >> 16) * values) >> 16) - radius;
        };
        float sum[4] = {};
        for (int k = 0; k < taps; ++k) {
          const int column = std::clamp(x + next(), 0, width - 1);
          const int line = std::clamp(static_cast<int>(y) + next(), 0, height - 1);
          const float* p =
              src + 4 * (static_cast<std::size_t>(line) * row + static_cast<std::size_t>(column));
          for (int c = 0; c < 4; ++c) sum[c] += p[c];
        }
        float* to = dst + 4 * (y * row + static_cast<std::size_t>(x));
        for (int c = 0; c < 4; ++c) to[c] = sum[c] / static_cast<float>(taps);
      }
    }
  });
}
