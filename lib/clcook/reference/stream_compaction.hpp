// Scalar reference of stream_compaction: exact integers, or floats in one order.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace clcook::reference::stream_compaction {

// Brightness of a pixel of bytes r, g, b, a, lowest first, in units of 1/256.
inline std::uint32_t brightness(std::uint32_t pixel) {
  return 54 * (pixel & 0xFF) + 183 * (pixel >> 8 & 0xFF) + 19 * (pixel >> 16 & 0xFF);
}

// What the first three channels of a pixel weigh.
using Weights = std::array<int, 3>;

// Of a pixel of other types, in units of 1/256 of the channels' units.
inline float brightness(float r, float g, float b, const Weights& weights = {54, 183, 19}) {
  const auto weight = [&](std::size_t c) { return static_cast<float>(weights[c]); };
  return std::fma(weight(0), r, std::fma(weight(1), g, weight(2) * b));
}

// The indices of the pixels that are at least this bright, ascending.
inline std::vector<std::uint32_t> bright(const std::vector<std::uint32_t>& pixels,
                                         std::uint32_t threshold) {
  std::vector<std::uint32_t> out;
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    if (brightness(pixels[i]) >= threshold) out.push_back(static_cast<std::uint32_t>(i));
  }
  return out;
}

}  // namespace clcook::reference::stream_compaction
