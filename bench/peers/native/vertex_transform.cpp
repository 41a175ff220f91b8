// vertex_transform as plain loops over instances and vertices. Vectors of 3 or 4 floats, matrices of
// 3 or 4 rows, as the variant has them that clcook chose. shape: vertices, instances, bones.
#include <algorithm>
#include <cstdint>

#include "parallel.hpp"

extern "C" void compute(const void* const* in, const std::size_t* bytes, void* const* out,
                        const double* shape, int threads) {
  const auto vertices = static_cast<std::size_t>(shape[0]);
  const auto instances = static_cast<std::size_t>(shape[1]);
  const auto bones = static_cast<std::size_t>(shape[2]);
  const auto* mesh = static_cast<const float*>(in[0]);
  const auto* skin = static_cast<const std::uint8_t*>(in[1]);
  const auto* world = static_cast<const float*>(in[2]);
  const auto* poses = static_cast<const float*>(in[3]);
  auto* result = static_cast<float*>(out[0]);
  const std::size_t width = bytes[0] / vertices / 8;  // floats of a vector
  const std::size_t matrix = bytes[2] / instances / 4;
  parallel(threads, instances, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t i = begin; i < end; ++i) {
      const float* w = world + i * matrix;
      for (std::size_t v = 0; v < vertices; ++v) {
        const std::uint8_t* s = skin + v * 8;
        float m[12] = {};
        for (std::size_t k = 0; k < 4; ++k) {
          const std::size_t joint = std::min<std::size_t>(s[k], bones - 1);
          const float weight = s[4 + k] * (1 / 255.0f);
          const float* bone = poses + (i * bones + joint) * matrix;
          for (std::size_t e = 0; e < 12; ++e) m[e] += weight * bone[e];
        }
        const float* from = mesh + v * 2 * width;
        float* to = result + (i * vertices + v) * 2 * width;
        for (std::size_t half = 0; half < 2; ++half) {
          const float* p = from + half * width;
          const float one = half == 0 ? 1.0f : 0.0f;
          float q[3];
          for (std::size_t r = 0; r < 3; ++r)
            q[r] = m[4 * r] * p[0] + m[4 * r + 1] * p[1] + m[4 * r + 2] * p[2] + m[4 * r + 3] * one;
          for (std::size_t r = 0; r < 3; ++r) {
            to[half * width + r] =
                w[4 * r] * q[0] + w[4 * r + 1] * q[1] + w[4 * r + 2] * q[2] + w[4 * r + 3] * one;
          }
          if (width == 4) to[half * width + 3] = one;
        }
      }
    }
  });
}
