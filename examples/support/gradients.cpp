#include "gradients.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace clcook::example {

using pictures::Picture;

std::vector<Gradient> gradients_of(const Picture& picture) {
  std::vector<float> luma(picture.pixels());
  for (std::size_t i = 0; i < luma.size(); ++i) {
    const std::uint8_t* p = &picture.rgba[4 * i];
    luma[i] = 0.2126f * static_cast<float>(p[0]) + 0.7152f * static_cast<float>(p[1]) +
              0.0722f * static_cast<float>(p[2]);
  }
  const auto at = [&](int x, int y) {
    x = std::clamp(x, 0, picture.width - 1);
    y = std::clamp(y, 0, picture.height - 1);
    return luma[static_cast<std::size_t>(y) * static_cast<std::size_t>(picture.width) +
                static_cast<std::size_t>(x)];
  };
  std::vector<Gradient> out;
  out.reserve(picture.pixels());
  for (int y = 0; y < picture.height; ++y) {
    for (int x = 0; x < picture.width; ++x) {
      const float right = at(x + 1, y - 1) + 2 * at(x + 1, y) + at(x + 1, y + 1);
      const float left = at(x - 1, y - 1) + 2 * at(x - 1, y) + at(x - 1, y + 1);
      const float below = at(x - 1, y + 1) + 2 * at(x, y + 1) + at(x + 1, y + 1);
      const float above = at(x - 1, y - 1) + 2 * at(x, y - 1) + at(x + 1, y - 1);
      out.push_back({(right - left) / 8, (below - above) / 8});
    }
  }
  return out;
}

std::array<std::uint8_t, 3> wheel_colour(double turn) {
  std::array<std::uint8_t, 3> out{};
  for (std::size_t c = 0; c < 3; ++c) {
    const double wave =
        std::cos(2 * 3.14159265358979 * (turn - static_cast<double>(c) / 3.0)) * 0.5 + 0.5;
    out[c] = static_cast<std::uint8_t>(std::lround(40 + 215 * wave));
  }
  return out;
}

}  // namespace clcook::example
