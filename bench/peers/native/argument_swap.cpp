// argument_swap as a plain loop: blocks of rays, their media exchanged first, then the points of the
// quadrature with the rays inside, which compilers make vectors of. shape: points.
#include <cmath>
#include <cstddef>

#include "parallel.hpp"

extern "C" void compute(const void* const* in, const std::size_t* bytes, void* const* out,
                        const double* shape, int threads) {
  const auto* a = static_cast<const float*>(in[0]);
  const auto* b = static_cast<const float*>(in[1]);
  const auto* x = static_cast<const float*>(in[2]);
  auto* y = static_cast<float*>(out[0]);
  const int points = static_cast<int>(shape[0]);
  const float first = 1 / 0.7f;
  const float width = (1 / 0.4f - first) / static_cast<float>(points);
  constexpr std::size_t kBlock = 32;
  parallel(threads, bytes[2] / 4, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t i = begin; i < end; i += kBlock) {
      float a1[kBlock] = {}, b1[kBlock] = {}, a2[kBlock] = {}, b2[kBlock] = {}, c[kBlock] = {};
      float sum[kBlock] = {};
      const std::size_t size = end - i < kBlock ? end - i : kBlock;
      for (std::size_t j = 0; j < size; ++j) {
        const bool leaves = std::signbit(x[i + j]);
        const float* from = (leaves ? b : a) + 2 * (i + j);
        const float* to = (leaves ? a : b) + 2 * (i + j);
        a1[j] = from[0];
        b1[j] = from[1];
        a2[j] = to[0];
        b2[j] = to[1];
        const float cosine = std::fabs(x[i + j]);
        c[j] = cosine < 0x1p-60f ? 0x1p-60f : cosine;
      }
      for (int k = 0; k < points; ++k) {
        const float s = (static_cast<float>(k) + 0.5f) * width + first;
        const float s2 = s * s;
        for (std::size_t j = 0; j < kBlock; ++j) {
          const float n1 = b1[j] * s2 + a1[j];
          const float n2 = b2[j] * s2 + a2[j];
          const float e1 = n1 * n1, e2 = n2 * n2;
          const float q1 = n1 * c[j];
          const float square = q1 * q1 + (n2 - n1) * (n2 + n1);
          const float q2 = std::sqrt(square < 0.0f ? 0.0f : square);
          const float u = q1 + q2, v = e2 * q1 + e1 * q2, q = q1 * q2;
          sum[j] += q / (u * u) + (e1 * e2) * q / (v * v);
        }
      }
      for (std::size_t j = 0; j < size; ++j) y[i + j] = 2.0f * sum[j] / static_cast<float>(points);
    }
  });
}
