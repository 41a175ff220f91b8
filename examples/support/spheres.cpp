#include "spheres.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace clcook::example {

using pictures::Picture;

namespace {

// The light on a pixel: from the point that the ray hits to the surface's normal there.
float shade(float u, float v, float t) {
  const float p[3] = {u, 4.36f + 0.96f * v - 0.28f * t, -11.52f + 0.28f * v + 0.96f * t};
  float nearest = p[1];
  float normal[3] = {0, 1, 0};
  for (const auto& s : kSpheres) {
    const float q[3] = {p[0] - s[0], p[1] - s[1], p[2] - s[2]};
    const float length = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
    if (length - s[3] >= nearest) continue;
    nearest = length - s[3];
    for (int k = 0; k < 3; ++k) normal[k] = q[k] / length;
  }
  const float light = 0.36f * normal[0] + 0.8f * normal[1] - 0.48f * normal[2];
  const bool odd =
      (static_cast<int>(std::floor(p[0])) + static_cast<int>(std::floor(p[2]))) % 2 != 0;
  const float colour = normal[1] == 1.0f ? (odd ? 0.35f : 0.55f) : 0.9f;
  return colour * (0.15f + 0.85f * std::max(0.0f, light));
}

}  // namespace

Picture draw_spheres(const std::vector<Traced>& pixels, int width, int height) {
  Picture out;
  out.width = 2 * width;
  out.height = height;
  out.rgba.assign(pixels.size() * 8, 255);
  int most = 1;
  for (const Traced& one : pixels) most = std::max(most, one.steps);
  const float scale = 8.0f / static_cast<float>(height);
  const auto byte = [](float value) {
    return static_cast<std::uint8_t>(std::clamp(value, 0.0f, 1.0f) * 255 + 0.5f);
  };
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const Traced& one = pixels[static_cast<std::size_t>(y * width + x)];
      const float u = (static_cast<float>(x) - 0.5f * static_cast<float>(width - 1)) * scale;
      const float v = (0.5f * static_cast<float>(height - 1) - static_cast<float>(y)) * scale;
      std::uint8_t* left = &out.rgba[static_cast<std::size_t>(y * 2 * width + x) * 4];
      std::uint8_t* right = left + 4 * width;
      const float light = std::pow(shade(u, v, one.distance), 1 / 2.2f);
      for (int k = 0; k < 3; ++k) left[k] = byte(light);
      const float share =
          std::log(1 + static_cast<float>(one.steps)) / std::log(1 + static_cast<float>(most));
      right[0] = byte(2 * share);
      right[1] = byte(2 - 2 * std::max(share, 1 - share));
      right[2] = byte(2 - 2 * share);
    }
  }
  return out;
}

}  // namespace clcook::example
