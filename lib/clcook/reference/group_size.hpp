// Scalar reference of group_size: a line, a prefix sum by segments, sphere tracing,
// and a hash.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace clcook::reference::group_size {

// y = factor * x + summand, rounded once.
inline float line(float factor, float x, float summand) { return std::fma(factor, x, summand); }

constexpr std::size_t kSegment = 1024;

// Every value with those before it in its segment of kSegment values added, modulo 2^32.
inline std::vector<std::uint32_t> prefix_sums(const std::vector<std::uint32_t>& in) {
  std::vector<std::uint32_t> out(in.size());
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (i % kSegment == 0) sum = 0;
    sum += in[i];
    out[i] = sum;
  }
  return out;
}

// Number i of `count` values, hashed `trips` times where it is slow, else a sixteenth of that. The
// slow ones are the first 64 in each 1024, or with `together` the first sixteenth of all.
inline std::uint32_t slow(std::uint32_t x, std::size_t i, std::size_t count, std::uint32_t trips,
                          bool together) {
  const bool is_slow = together ? i < count / 16 : i % 1024 < 64;
  const std::uint32_t most = is_slow ? trips : trips / 16;
  for (std::uint32_t k = 0; k < most; ++k) x = (x ^ x >> 15) * 0x2C1B3C6Du + k;
  return x;
}

struct Sphere {
  float x, y, z, radius;
};

struct Hit {
  float distance;  // along the ray from the camera's plane
  int steps;
};

// The distance to the plane y = 0 or the first sphere along the ray of a pixel, by steps as long as
// the distance to the nearest surface, until that is below 1/1024 or there were `most` of them.
//
// The camera is parallel. Its plane lies 12 units before the point (0, 1, 0); it looks along (0,
// -0.28, 0.96), and 8 units fit into the height of the picture. In float, operation by operation,
// because the number of steps depends on every bit: std::fma and std::sqrt are rounded to nearest.
inline Hit trace(const std::vector<Sphere>& spheres, std::uint32_t width, std::uint32_t height,
                 std::uint32_t pixel, int most) {
  const float scale = 8.0f / static_cast<float>(height);
  const float left = -0.5f * scale * static_cast<float>(width - 1);
  const float top = 0.5f * scale * static_cast<float>(height - 1);
  const float u = std::fma(static_cast<float>(pixel % width), scale, left);
  const float v = std::fma(static_cast<float>(pixel / width), -scale, top);
  const float origin_y = std::fma(v, 0.96f, 4.36f);
  const float origin_z = std::fma(v, 0.28f, -11.52f);
  Hit hit{0, 0};
  for (; hit.steps < most; ++hit.steps) {
    const float y = std::fma(hit.distance, -0.28f, origin_y);
    const float z = std::fma(hit.distance, 0.96f, origin_z);
    float nearest = y;
    for (const Sphere& sphere : spheres) {
      const float dx = u - sphere.x;
      const float dy = y - sphere.y;
      const float dz = z - sphere.z;
      const float square = std::fma(dx, dx, std::fma(dy, dy, dz * dz));
      nearest = std::fmin(nearest, std::sqrt(square) - sphere.radius);
    }
    if (nearest < 0x1p-10f) break;
    hit.distance += nearest;
  }
  return hit;
}

}  // namespace clcook::reference::group_size
