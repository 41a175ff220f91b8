// Scalar reference of the recipe local_multipass. Std only.
//
// The arithmetic is part of what is right here: float additions, multiplications and fused
// multiply-adds in a stated order, which IEEE devices round alike. So the result is exact, and so
// is the check. A projection with a division and a square root in double stands beside it, to show
// how near this arithmetic comes to the mathematics.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace clcook::reference::local_multipass {

struct Constraint {
  std::uint32_t a;
  std::uint32_t b;
  float rest;
  float stiffness;
};

// About 1 / sqrt(x) for a normal x above 0: a guess from the bits of x, a Newton step, and one of
// third order.
inline float reciprocal_root(float x) {
  std::int32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  bits = static_cast<std::int32_t>(0x5F3759DFu - static_cast<std::uint32_t>(bits >> 1));
  float q = 0;
  std::memcpy(&q, &bits, sizeof q);
  q = q * std::fma(x * -0.5f, q * q, 1.5f);
  const float e = std::fma(x * -q, q, 1.0f);
  return std::fma(q * e, std::fma(e, 0.375f, 0.5f), q);
}

// Moves the particles a and b (x, y, z, inverse mass) towards the rest length, each by its share of
// the inverse masses.
inline void project(float* a, float* b, float rest, float stiffness) {
  const float d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
  const float w = a[3] + b[3];
  const float dd = std::fma(d[2], d[2], std::fma(d[1], d[1], d[0] * d[0]));
  const float x = dd * (w * w);
  const float q = reciprocal_root(x);  // 1 / (|d| w)
  const float pull = stiffness * rest;
  // Both held, or at one place: q is large and finite, and the products below are 0.
  const float c = q * std::fma(dd * (stiffness * w), q, -pull);
  for (int e = 0; e < 3; ++e) {
    a[e] = std::fma(-(a[3] * c), d[e], a[e]);
    b[e] = std::fma(b[3] * c, d[e], b[e]);
  }
}

// All iterations on one island: 4 floats per particle, the constraints in the order in which they
// are solved, which is by colour.
inline void solve(float* island, const std::vector<Constraint>& constraints,
                  std::uint32_t iterations) {
  for (std::uint32_t iteration = 0; iteration < iterations; ++iteration) {
    for (const Constraint& one : constraints) {
      project(island + std::size_t{4} * one.a, island + std::size_t{4} * one.b, one.rest,
              one.stiffness);
    }
  }
}

// The same in double, as the textbook has it.
namespace textbook {

inline void project(double* a, double* b, double rest, double stiffness) {
  const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
  const double length = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
  const double w = a[3] + b[3];
  if (w == 0 || length == 0) return;
  const double move = stiffness * (length - rest) / (length * w);
  for (int e = 0; e < 3; ++e) {
    a[e] -= a[3] * move * d[e];
    b[e] += b[3] * move * d[e];
  }
}

inline void solve(double* island, const std::vector<Constraint>& constraints,
                  std::uint32_t iterations) {
  for (std::uint32_t iteration = 0; iteration < iterations; ++iteration) {
    for (const Constraint& one : constraints) {
      project(island + std::size_t{4} * one.a, island + std::size_t{4} * one.b,
              static_cast<double>(one.rest), static_cast<double>(one.stiffness));
    }
  }
}

}  // namespace textbook

}  // namespace clcook::reference::local_multipass
