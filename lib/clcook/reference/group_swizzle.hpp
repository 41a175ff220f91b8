// The two uses of the recipe group_swizzle, pixel by pixel, in double.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace clcook::reference::group_swizzle {

using Pixel = std::array<double, 4>;

// Rows of RGBA floats from top to bottom, without gaps.
struct Picture {
  const float* rgba;
  int width;
  int height;

  Pixel at(int x, int y) const {
    const std::size_t first = (static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                               static_cast<std::size_t>(x)) *
                              4;
    return {static_cast<double>(rgba[first]), static_cast<double>(rgba[first + 1]),
            static_cast<double>(rgba[first + 2]), static_cast<double>(rgba[first + 3])};
  }
};

// matrix * the pixel; the matrix is 4 rows of 4.
inline Pixel filter(const Picture& picture, int x, int y, const std::array<float, 16>& matrix) {
  const Pixel p = picture.at(x, y);
  Pixel out{};
  for (std::size_t row = 0; row < 4; ++row) {
    for (std::size_t column = 0; column < 4; ++column)
      out[row] += static_cast<double>(matrix[row * 4 + column]) * p[column];
  }
  return out;
}

// Pseudo-random offsets of the samples of a pixel: a linear congruential sequence that begins at a
// hash of the pixel's place.
class Offsets {
 public:
  Offsets(int x, int y) {
    state_ =
        static_cast<std::uint32_t>(x) * 0x9E3779B1U + static_cast<std::uint32_t>(y) * 0x85EBCA77U;
    state_ = (state_ ^ (state_ >> 15)) * 0x2C1B3C6DU;
    state_ ^= state_ >> 12;
  }

  // From -radius to radius, all about equally likely.
  int next(int radius) {
    state_ = state_ * 1664525U + 1013904223U;
    const std::uint32_t values = 2 * static_cast<std::uint32_t>(radius) + 1;
    return static_cast<int>(((state_ >> 16) * values) >> 16) - radius;
  }

 private:
  std::uint32_t state_ = 0;
};

// The mean of `taps` pixels at most `radius` away in x and y, the border repeated.
inline Pixel gather(const Picture& picture, int x, int y, int taps, int radius) {
  Offsets offsets(x, y);
  Pixel sum{};
  for (int k = 0; k < taps; ++k) {
    const int column = std::clamp(x + offsets.next(radius), 0, picture.width - 1);
    const int row = std::clamp(y + offsets.next(radius), 0, picture.height - 1);
    const Pixel p = picture.at(column, row);
    for (std::size_t channel = 0; channel < 4; ++channel) sum[channel] += p[channel];
  }
  for (double& channel : sum) channel /= taps;
  return sum;
}

}  // namespace clcook::reference::group_swizzle
