// Scalar reference of the neighbourhood filters: dilation, erosion, median and clamp, with all border modes.
//
// The filters only compare, so results are exact. A NaN among the neighbours counts as -infinity in
// a maximum, as +infinity in a minimum and in the median. A clamp without any number among the
// neighbours leaves the history as it is, NaN included; a history of NaN becomes the minimum.
#pragma once

#include <algorithm>
#include <array>
#include <clcook/reference/border.hpp>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace clcook::reference::halo_tile {

using reference::Border;
using reference::border_index;

// Pixels of `channels` floats in rows without gaps; a picture has a depth of 1.
struct Volume {
  int width = 0;
  int height = 0;
  int depth = 1;
  int channels = 1;
  std::vector<float> values;
};

// Rows of all pictures in the order of memory, from `begin` to before `end` or to the last one: what
// a caller with several threads gives to each of them.
struct Rows {
  std::size_t begin = 0;
  std::size_t end = std::numeric_limits<std::size_t>::max();
};

// Returns of(index, neighbours) for each value of `rows`, in the order of memory; neighbours are
// the values of the same channel within `radius`, row by row. A picture has no neighbours in z.
template <class Of>
std::vector<float> of_neighbourhoods(const Volume& in, int radius, Border border,
                                     const std::array<float, 4>& outside, Rows rows, const Of& of) {
  const int radius_z = in.depth > 1 ? radius : 0;
  const auto side = static_cast<std::size_t>(2 * radius + 1);
  // Column x + k - radius of each x, so that the loop over the neighbours only looks it up.
  std::vector<int> columns(static_cast<std::size_t>(in.width) * side);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    columns[i] = border_index(static_cast<int>(i / side) + static_cast<int>(i % side) - radius,
                              in.width, border);
  }
  const auto width = static_cast<std::size_t>(in.width);
  const auto height = static_cast<std::size_t>(in.height);
  const auto channels = static_cast<std::size_t>(in.channels);
  const std::size_t end = std::min(rows.end, height * static_cast<std::size_t>(in.depth));
  std::vector<float> out;
  out.reserve((end - rows.begin) * width * channels);
  std::vector<float> neighbours;
  for (std::size_t line = rows.begin; line < end; ++line) {
    const int y = static_cast<int>(line % height);
    const int z = static_cast<int>(line / height);
    for (std::size_t i = 0; i < width * channels; ++i) {
      const std::size_t x = i / channels;
      const std::size_t c = i % channels;
      neighbours.clear();
      for (int dz = -radius_z; dz <= radius_z; ++dz) {
        const int layer = border_index(z + dz, in.depth, border);
        for (int dy = -radius; dy <= radius; ++dy) {
          const int row = border_index(y + dy, in.height, border);
          for (std::size_t k = 0; k < side; ++k) {
            const int column = columns[x * side + k];
            if (layer < 0 || row < 0 || column < 0) {
              neighbours.push_back(outside[c]);
            } else {
              const std::size_t pixel =
                  (static_cast<std::size_t>(layer) * height + static_cast<std::size_t>(row)) *
                      width +
                  static_cast<std::size_t>(column);
              neighbours.push_back(in.values[pixel * channels + c]);
            }
          }
        }
      }
      out.push_back(of(line * width * channels + i, neighbours));
    }
  }
  return out;
}

inline float largest(const std::vector<float>& values) {
  float out = -std::numeric_limits<float>::infinity();
  for (const float value : values) {
    if (value > out) out = value;  // false for NaN
  }
  return out;
}

inline float smallest(const std::vector<float>& values) {
  float out = std::numeric_limits<float>::infinity();
  for (const float value : values) {
    if (value < out) out = value;
  }
  return out;
}

inline float middle(std::vector<float> values) {
  for (float& value : values) {
    if (std::isnan(value)) value = std::numeric_limits<float>::infinity();
  }
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

inline float clamped(float history, const std::vector<float>& values) {
  const float low = smallest(values);
  const float high = largest(values);
  if (low > high) return history;
  if (!(history > low)) return low;  // NaN too
  return history < high ? history : high;
}

inline std::vector<float> dilation(const Volume& in, int radius, Border border,
                                   const std::array<float, 4>& outside, Rows rows = {}) {
  return of_neighbourhoods(
      in, radius, border, outside, rows,
      [](std::size_t, const std::vector<float>& neighbours) { return largest(neighbours); });
}

inline std::vector<float> erosion(const Volume& in, int radius, Border border,
                                  const std::array<float, 4>& outside, Rows rows = {}) {
  return of_neighbourhoods(
      in, radius, border, outside, rows,
      [](std::size_t, const std::vector<float>& neighbours) { return smallest(neighbours); });
}

inline std::vector<float> median(const Volume& in, int radius, Border border,
                                 const std::array<float, 4>& outside, Rows rows = {}) {
  return of_neighbourhoods(
      in, radius, border, outside, rows,
      [](std::size_t, const std::vector<float>& neighbours) { return middle(neighbours); });
}

// The history brought into the range of the neighbours in `in`.
inline std::vector<float> clamp(const Volume& in, const std::vector<float>& history, int radius,
                                Border border, const std::array<float, 4>& outside,
                                Rows rows = {}) {
  return of_neighbourhoods(in, radius, border, outside, rows,
                           [&](std::size_t i, const std::vector<float>& neighbours) {
                             return clamped(history[i], neighbours);
                           });
}

}  // namespace clcook::reference::halo_tile
