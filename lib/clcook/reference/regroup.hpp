// Scalar reference of regroup: 32 procedural materials, in double.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace clcook::reference::regroup {

enum class Formula { clouds, marble, ridges, wood, rust, water, cells, weave };

// Material m adds up its octaves with formula m % 8.
inline constexpr std::array<int, 32> kOctaves{2, 6,  3, 9, 4, 2, 1, 5, 12, 3, 7,  2, 10, 4, 6, 1,
                                              5, 14, 1, 6, 8, 3, 2, 4, 3,  8, 16, 4, 1,  7, 5, 2};

inline Formula formula_of(int material) { return static_cast<Formula>(material % 8); }

// The formulas from water on take two values of the noise per octave.
inline int values_per_octave(int material) {
  return formula_of(material) >= Formula::water ? 2 : 1;
}

// The value at a corner of the lattice: 24 bits of a hash, 0 to 1.
inline double corner(std::uint32_t x, std::uint32_t y) {
  std::uint32_t h = (x * 0x9E3779B1u) ^ (y * 0x85EBCA77u);
  h ^= h >> 15;
  h *= 0x2C1B3C6Du;
  h ^= h >> 13;
  return static_cast<double>(h >> 8) / 16777216;
}

// Between the corners, 4096 units apart.
inline double noise(std::uint32_t u, std::uint32_t v, std::uint32_t seed) {
  const std::uint32_t x = u / 4096 + seed;
  const std::uint32_t y = v / 4096 + seed / 65536;
  const auto smooth = [](double t) { return t * t * (3 - 2 * t); };
  const double s = smooth(static_cast<double>(u % 4096) / 4096);
  const double t = smooth(static_cast<double>(v % 4096) / 4096);
  const double top = corner(x, y) * (1 - s) + corner(x + 1, y) * s;
  const double bottom = corner(x, y + 1) * (1 - s) + corner(x + 1, y + 1) * s;
  return top * (1 - t) + bottom * t;
}

// 0 to 1.
inline double pattern(int material, std::uint32_t u, std::uint32_t v, std::uint32_t seed) {
  const auto number = static_cast<std::uint32_t>(material);
  double sum = 0;
  double amplitude = 0.5;
  for (int octave = 0; octave < kOctaves.at(number); ++octave) {
    const double n = noise(u, v, seed + number);
    const double m = noise(v, u, seed + number + 32);
    switch (formula_of(material)) {
      case Formula::clouds:
        sum += amplitude * n;
        break;
      case Formula::marble:
        sum += amplitude * std::abs(2 * n - 1);
        break;
      case Formula::ridges:
        sum += amplitude * std::pow(1 - std::abs(2 * n - 1), 2);
        break;
      case Formula::wood:
        sum += amplitude * std::abs(4 * n - std::rint(4 * n));
        break;
      case Formula::rust:
        sum = std::max(sum + amplitude * n * n, n / 2);
        break;
      case Formula::water:
        sum += amplitude * n * m;
        break;
      case Formula::cells:
        sum += amplitude * std::min(n, m);
        break;
      case Formula::weave:
        sum += amplitude * std::abs(n - m);
        break;
    }
    u *= 2;
    v *= 2;
    amplitude /= 2;
  }
  return sum;
}

struct Texel {
  std::array<int, 3> normal;  // -128 to 127
  int ambient;                // 0 to 255
  std::array<int, 3> albedo;  // 0 to 255
  std::uint32_t u;            // 0 to 65535
  std::uint32_t v;
  std::uint32_t seed;
};

// The four words of a texel.
inline std::array<std::uint32_t, 4> pack(const Texel& t) {
  const auto byte = [](int value) { return static_cast<std::uint32_t>(value) & 0xFFu; };
  return {
      byte(t.normal[0]) | byte(t.normal[1]) << 8 | byte(t.normal[2]) << 16 | byte(t.ambient) << 24,
      byte(t.albedo[0]) | byte(t.albedo[1]) << 8 | byte(t.albedo[2]) << 16, t.u | t.v << 16,
      t.seed};
}

// The colour r, g, b. light: the direction towards it, and its brightness.
inline std::array<double, 3> shade(int material, const Texel& t,
                                   const std::array<double, 4>& light) {
  double cosine = 0;
  for (std::size_t c = 0; c < 3; ++c) cosine += t.normal[c] / 128.0 * light[c];
  const double lit = std::max(cosine, 0.0) * light[3] + t.ambient / 256.0;
  const double strength = pattern(material, t.u, t.v, t.seed) * lit;
  return {t.albedo[0] / 256.0 * strength, t.albedo[1] / 256.0 * strength,
          t.albedo[2] / 256.0 * strength};
}

// The items by key: those with key 0 first, those with equal keys in their order; items whose key
// is not below `paths` are left out.
inline std::vector<std::uint32_t> order(const std::vector<std::uint32_t>& keys,
                                        std::uint32_t paths) {
  std::vector<std::uint32_t> out;
  for (std::uint32_t path = 0; path < paths; ++path) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (keys[i] == path) out.push_back(static_cast<std::uint32_t>(i));
    }
  }
  return out;
}

}  // namespace clcook::reference::regroup
