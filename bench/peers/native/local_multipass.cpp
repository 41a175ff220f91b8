// local_multipass as plain loops: the islands one after the other, each with all its iterations while
// it is in the cache. shape: particles of an island, iterations.
#include <cmath>
#include <cstdint>
#include <cstring>

#include "parallel.hpp"

struct Constraint {
  std::uint32_t a, b;
  float rest, stiffness;
};

// The rounding of each step is part of what is right.
static inline float reciprocal_root(float x) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &x, 4);
  bits = 0x5F3759DFu - (bits >> 1);
  float q = 0;
  std::memcpy(&q, &bits, 4);
  q = q * std::fma(x * -0.5f, q * q, 1.5f);
  const float e = std::fma(x * -q, q, 1.0f);
  return std::fma(q * e, std::fma(e, 0.375f, 0.5f), q);
}

extern "C" void compute(const void* const* in, const std::size_t* bytes, void* const* out,
                        const double* shape, int threads) {
  const auto* constraints = static_cast<const Constraint*>(in[1]);
  const std::size_t count = bytes[1] / sizeof(Constraint);
  const std::size_t floats = static_cast<std::size_t>(shape[0]) * 4;
  const int iterations = static_cast<int>(shape[1]);
  parallel(threads, bytes[0] / 4 / floats, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t i = begin; i < end; ++i) {
      float* island = static_cast<float*>(out[0]) + i * floats;
      std::memcpy(island, static_cast<const float*>(in[0]) + i * floats, floats * 4);
      for (int turn = 0; turn < iterations; ++turn) {
        for (std::size_t k = 0; k < count; ++k) {
          const Constraint& one = constraints[k];
          float* a = island + std::size_t{4} * one.a;
          float* b = island + std::size_t{4} * one.b;
          const float d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
          const float w = a[3] + b[3];
          const float dd = std::fma(d[2], d[2], std::fma(d[1], d[1], d[0] * d[0]));
          const float q = reciprocal_root(dd * (w * w));
          const float pull = one.stiffness * one.rest;
          const float c = q * std::fma(dd * (one.stiffness * w), q, -pull);
          const float left = -(a[3] * c), right = b[3] * c;
          for (int e = 0; e < 3; ++e) {
            a[e] = std::fma(left, d[e], a[e]);
            b[e] = std::fma(right, d[e], b[e]);
          }
        }
      }
    }
  });
}
