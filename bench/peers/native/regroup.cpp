// regroup as a plain loop: runs of items sorted by path through their numbers, then blocks of one
// path, whose octaves are the outer loop and items the inner one, which compilers make vectors of.
// in: keys, items; shape: paths. Keys are bytes; the light is that of the problem's defaults.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "parallel.hpp"

namespace {

constexpr std::size_t kBlock = 32;
constexpr std::size_t kRun = 4096;
constexpr int kOctaves[32] = {2, 6,  3, 9, 4, 2, 1, 5, 12, 3, 7,  2, 10, 4, 6, 1,
                              5, 14, 1, 6, 8, 3, 2, 4, 3,  8, 16, 4, 1,  7, 5, 2};

inline float corner(std::uint32_t x, std::uint32_t y) {
  std::uint32_t h = (x * 0x9E3779B1u) ^ (y * 0x85EBCA77u);
  h ^= h >> 15;
  h *= 0x2C1B3C6Du;
  h ^= h >> 13;
  return static_cast<float>(static_cast<std::int32_t>(h >> 8)) * 0x1p-24f;
}

inline float noise(std::uint32_t u, std::uint32_t v, std::uint32_t seed) {
  const std::uint32_t x = (u >> 12) + seed;
  const std::uint32_t y = (v >> 12) + (seed >> 16);
  const float s = static_cast<float>(static_cast<std::int32_t>(u & 4095)) * 0x1p-12f;
  const float t = static_cast<float>(static_cast<std::int32_t>(v & 4095)) * 0x1p-12f;
  const float smooth_s = s * s * (3 - 2 * s);
  const float smooth_t = t * t * (3 - 2 * t);
  const float a = corner(x, y), b = corner(x + 1, y);
  const float c = corner(x, y + 1), d = corner(x + 1, y + 1);
  const float top = a + smooth_s * (b - a);
  const float bottom = c + smooth_s * (d - c);
  return top + smooth_t * (bottom - top);
}

// The patterns of a block, of formula `Kind`.
template <int Kind>
void patterns(std::uint32_t material, const std::uint32_t* place, const std::uint32_t* seeds,
              float* sum) {
  std::uint32_t u[kBlock], v[kBlock];
  for (std::size_t j = 0; j < kBlock; ++j) {
    u[j] = place[j] & 0xFFFF;
    v[j] = place[j] >> 16;
    sum[j] = 0;
  }
  float amplitude = 0.5f;
  for (int octave = 0; octave < kOctaves[material]; ++octave) {
    for (std::size_t j = 0; j < kBlock; ++j) {
      float n = noise(u[j], v[j], seeds[j] + material);
      const float m = Kind < 5 ? 0 : noise(v[j], u[j], seeds[j] + material + 32);
      if (Kind == 0) sum[j] += amplitude * n;
      if (Kind == 1) sum[j] += amplitude * std::fabs(2 * n - 1);
      if (Kind == 2) {
        n = 1 - std::fabs(2 * n - 1);
        sum[j] += amplitude * n * n;
      }
      if (Kind == 3) {
        // The nearest whole number of what is not negative: the next lower one of half more.
        n *= 4;
        sum[j] += amplitude * std::fabs(n - static_cast<float>(static_cast<int>(n + 0.5f)));
      }
      if (Kind == 4) {
        const float more = sum[j] + amplitude * n * n;
        sum[j] = more < n / 2 ? n / 2 : more;
      }
      if (Kind == 5) sum[j] += amplitude * n * m;
      if (Kind == 6) sum[j] += amplitude * (n < m ? n : m);
      if (Kind == 7) sum[j] += amplitude * std::fabs(n - m);
      u[j] <<= 1;
      v[j] <<= 1;
    }
    amplitude /= 2;
  }
}

inline float byte(std::uint32_t word, int shift) {
  return static_cast<float>(static_cast<std::int32_t>(word >> shift & 255)) * 0x1p-8f;
}

inline float normal(std::uint32_t word, int shift) {
  return static_cast<float>(static_cast<std::int8_t>(word >> shift & 255)) * 0x1p-7f;
}

}  // namespace

extern "C" void compute(const void* const* in, const std::size_t* bytes, void* const* out,
                        const double* shape, int threads) {
  const auto* keys = static_cast<const std::uint8_t*>(in[0]);
  const auto* items = static_cast<const std::uint32_t*>(in[1]);
  auto* results = static_cast<float*>(out[0]);
  const auto paths = static_cast<std::size_t>(shape[0]);
  parallel(threads, bytes[0], [&](std::size_t begin, std::size_t end, int) {
    std::vector<std::uint32_t> list(kRun);
    for (std::size_t first = begin; first < end; first += kRun) {
      const std::size_t some = std::min(kRun, end - first);
      std::size_t place[34] = {};  // where each path begins, one further on
      for (std::size_t i = 0; i < some; ++i)
        ++place[std::min<std::size_t>(keys[first + i], paths) + 1];
      for (std::size_t p = 0; p < paths; ++p) place[p + 1] += place[p];
      for (std::size_t i = 0; i < some; ++i) {
        list[place[std::min<std::size_t>(keys[first + i], paths)]++] =
            static_cast<std::uint32_t>(first + i);
      }
      // Now each is where its path ends.
      std::size_t at = 0;
      for (std::size_t p = 0; p < paths; at = place[p++]) {
        for (; at < place[p]; at += kBlock) {
          const std::size_t size = std::min(kBlock, place[p] - at);
          std::uint32_t where[kBlock], seeds[kBlock];
          for (std::size_t j = 0; j < kBlock; ++j) {
            const std::uint32_t* item = items + 4 * std::size_t{list[at + std::min(j, size - 1)]};
            where[j] = item[2];
            seeds[j] = item[3];
          }
          float pattern[kBlock];
          const auto material = static_cast<std::uint32_t>(p);
          switch (p % 8) {
            case 0:
              patterns<0>(material, where, seeds, pattern);
              break;
            case 1:
              patterns<1>(material, where, seeds, pattern);
              break;
            case 2:
              patterns<2>(material, where, seeds, pattern);
              break;
            case 3:
              patterns<3>(material, where, seeds, pattern);
              break;
            case 4:
              patterns<4>(material, where, seeds, pattern);
              break;
            case 5:
              patterns<5>(material, where, seeds, pattern);
              break;
            case 6:
              patterns<6>(material, where, seeds, pattern);
              break;
            case 7:
              patterns<7>(material, where, seeds, pattern);
              break;
          }
          for (std::size_t j = 0; j < size; ++j) {
            const std::uint32_t* item = items + 4 * std::size_t{list[at + j]};
            const float cosine = normal(item[0], 0) * 0.48f + normal(item[0], 8) * 0.6f +
                                 normal(item[0], 16) * 0.64f;
            const float lit = pattern[j] * ((cosine > 0 ? cosine : 0) * 0.75f + byte(item[0], 24));
            float* result = results + 4 * std::size_t{list[at + j]};
            for (int c = 0; c < 3; ++c) result[c] = byte(item[1], 8 * c) * lit;
            result[3] = 1;
          }
        }
      }
    }
  });
}
