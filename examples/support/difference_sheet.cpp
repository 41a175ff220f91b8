#include "difference_sheet.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace clcook::example {

namespace {

constexpr int kWidth = 96;  // pixels of the part
constexpr int kHeight = 64;
constexpr int kZoom = 3;
constexpr int kGain = 2;
constexpr int kGap = 8;  // between the panels

const std::uint8_t* at(const pictures::Picture& picture, int x, int y) {
  return &picture.rgba[(static_cast<std::size_t>(y) * static_cast<std::size_t>(picture.width) +
                        static_cast<std::size_t>(x)) *
                       4];
}

}  // namespace

pictures::Picture difference_sheet(const pictures::Picture& a, const pictures::Picture& b) {
  const int width = std::min(a.width, kWidth);
  const int height = std::min(a.height, kHeight);
  int left = 0;
  int top = 0;
  long most = -1;
  for (int y0 = 0; y0 + height <= a.height; y0 += 8) {
    for (int x0 = 0; x0 + width <= a.width; x0 += 8) {
      long sum = 0;
      for (int y = y0; y < y0 + height; ++y) {
        for (int x = x0; x < x0 + width; ++x) sum += std::abs(*at(a, x, y) - *at(b, x, y));
      }
      if (sum <= most) continue;
      most = sum;
      left = x0;
      top = y0;
    }
  }

  pictures::Picture out;
  out.width = 3 * kZoom * width + 2 * kGap;
  out.height = kZoom * height;
  out.rgba.assign(out.pixels() * 4, 255);
  for (int y = 0; y < out.height; ++y) {
    for (int i = 0; i < 3 * kZoom * width; ++i) {
      const int panel = i / (kZoom * width);
      const std::uint8_t* one = at(a, left + i / kZoom % width, top + y / kZoom);
      const std::uint8_t* other = at(b, left + i / kZoom % width, top + y / kZoom);
      const std::size_t to = (static_cast<std::size_t>(y) * static_cast<std::size_t>(out.width) +
                              static_cast<std::size_t>(i + panel * kGap)) *
                             4;
      for (std::size_t c = 0; c < 3; ++c) {
        const int value = panel == 0   ? one[c]
                          : panel == 1 ? other[c]
                                       : 128 + kGain * (other[c] - one[c]);
        out.rgba[to + c] = static_cast<std::uint8_t>(std::clamp(value, 0, 255));
      }
    }
  }
  return out;
}

}  // namespace clcook::example
