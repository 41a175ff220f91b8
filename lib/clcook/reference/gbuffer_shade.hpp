// Scalar reference of gbuffer_shade: exact integers, and the same in fractions.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace clcook::reference::gbuffer_shade {

// A texel as it lies in memory, and readable.
struct Texel {
  std::array<int, 3> normal;  // -128 to 127
  int ambient;                // 0 to 255
  std::array<int, 3> albedo;  // 0 to 255
  float depth;                // its sign bit means unlit
  std::uint32_t shadow;       // bit l: light l does not reach
};

struct Light {
  std::array<int, 3> direction;
  std::array<int, 3> colour;  // 0 to 255
};

// The four words of a texel.
inline std::array<std::uint32_t, 4> pack(const Texel& t) {
  const auto byte = [](int value) { return static_cast<std::uint32_t>(value) & 0xFFu; };
  std::uint32_t depth = 0;
  std::memcpy(&depth, &t.depth, sizeof depth);
  return {
      byte(t.normal[0]) | byte(t.normal[1]) << 8 | byte(t.normal[2]) << 16 | byte(t.ambient) << 24,
      byte(t.albedo[0]) | byte(t.albedo[1]) << 8 | byte(t.albedo[2]) << 16, depth, t.shadow};
}

// The packed colour of a texel.
inline std::uint32_t shade(const Texel& t, const std::vector<Light>& lights,
                           const std::array<int, 3>& fog_colour) {
  std::array<int, 3> sum{t.ambient, t.ambient, t.ambient};
  for (std::size_t l = 0; l < lights.size(); ++l) {
    if ((t.shadow >> l & 1u) != 0) continue;
    int dot = 0;
    for (std::size_t c = 0; c < 3; ++c) dot += t.normal[c] * lights[l].direction[c];
    const int d = std::max(0, dot) / 128;
    for (std::size_t c = 0; c < 3; ++c) sum[c] += d * lights[l].colour[c] / 32;
  }
  const float depth = std::abs(t.depth);
  const int fog = depth < 1 ? static_cast<int>(depth * 256) : 256;  // NaN is not below 1
  std::uint32_t out = 0xFF000000u;
  for (std::size_t c = 0; c < 3; ++c) {
    const int lit =
        std::signbit(t.depth) ? t.albedo[c] : std::min(255, t.albedo[c] * sum[c] / 1024);
    const int value = (lit * (256 - fog) + fog_colour[c] * fog) / 256;
    out |= static_cast<std::uint32_t>(value) << (8 * c);
  }
  return out;
}

// A colour in fractions.
struct Fractions {
  std::array<double, 3> colour{};  // 0 to 255
  std::array<double, 3> error{};   // how far a kernel's may be off
};

// The same formula in fractions: nothing but the fog is rounded down. `unit` is the relative error of
// one rounding of the numbers that a kernel computes in, 2^-11 of halves.
//
// Such a kernel reads its inputs without rounding, and none of its numbers is too large or subnormal.
// Three roundings of at most m = (|nx x| + |ny y| + |nz z|) / 128 make d, so d is 3 unit m off. One
// rounding of the new sum adds d colour / 32 to it. What the sum is off counts albedo / 1024 times in
// lit. The factor 1 + 4 unit is for products of errors. The sum, lit and the colour are then each
// rounded down, by less than 1.
inline Fractions shade_in_fractions(const Texel& t, const std::vector<Light>& lights,
                                    const std::array<int, 3>& fog_colour, double unit = 0) {
  const double depth = std::abs(static_cast<double>(t.depth));
  const double fog = depth < 1 ? std::floor(depth * 256) : 256;
  Fractions out;
  for (std::size_t c = 0; c < 3; ++c) {
    double sum = t.ambient;
    double error = 0;
    for (std::size_t l = 0; l < lights.size(); ++l) {
      if ((t.shadow >> l & 1u) != 0) continue;
      double dot = 0;
      double sizes = 0;
      for (std::size_t i = 0; i < 3; ++i) {
        const double product = t.normal[i] * lights[l].direction[i] / 128.0;
        dot += product;
        sizes += std::abs(product);
      }
      const double colour = lights[l].colour[c] / 32.0;
      error += 3 * unit * sizes * colour;
      sum += std::max(0.0, dot) * colour;
      error += unit * (sum + error);
    }
    const bool unlit = std::signbit(t.depth);
    const double lit = unlit ? t.albedo[c] : std::min(255.0, t.albedo[c] * sum / 1024);
    const double lit_error = unlit ? 0 : 1 + t.albedo[c] * (1 + error * (1 + 4 * unit)) / 1024;
    out.colour[c] = (lit * (256 - fog) + fog_colour[c] * fog) / 256;
    out.error[c] = 1 + lit_error * (256 - fog) / 256;
  }
  return out;
}

}  // namespace clcook::reference::gbuffer_shade
