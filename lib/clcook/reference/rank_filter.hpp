// Scalar reference of the rank filters, with all border modes.
//
// Of the n values around a pixel in ascending order, number round(rank (n - 1)), counted from 0; halves
// away from zero. -0 comes before +0, a NaN of either sign behind +infinity. Results are exact.
#pragma once

#include <algorithm>
#include <array>
#include <clcook/reference/border.hpp>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace clcook::reference::rank_filter {

using reference::Border;
using reference::border_index;

// Pixels of `channels` floats in rows without gaps.
struct Picture {
  int width = 0;
  int height = 0;
  int channels = 1;
  std::vector<float> values;
};

inline bool before(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return !std::isnan(a) && std::isnan(b);
  if (a < b || b < a) return a < b;
  return std::signbit(a) && !std::signbit(b);  // of zeros
}

inline std::size_t number(double rank, std::size_t count) {
  return static_cast<std::size_t>(std::round(rank * static_cast<double>(count - 1)));
}

inline float of_rank(std::vector<float> values, double rank) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(number(rank, values.size()));
  std::nth_element(values.begin(), at, values.end(), before);
  return *at;
}

// Rows from `begin` to before `end` or to the last one: what a caller with several threads gives to
// each of them.
struct Rows {
  int begin = 0;
  int end = std::numeric_limits<int>::max();
};

inline std::vector<float> filtered(const Picture& in, int radius, double rank, Border border,
                                   const std::array<float, 4>& outside, Rows rows = {}) {
  const int end = std::min(rows.end, in.height);
  std::vector<float> out;
  out.reserve(static_cast<std::size_t>(end - rows.begin) * static_cast<std::size_t>(in.width) *
              static_cast<std::size_t>(in.channels));
  std::vector<float> neighbours;
  for (int y = rows.begin; y < end; ++y) {
    for (int x = 0; x < in.width; ++x) {
      for (int c = 0; c < in.channels; ++c) {
        neighbours.clear();
        for (int dy = -radius; dy <= radius; ++dy) {
          const int row = border_index(y + dy, in.height, border);
          for (int dx = -radius; dx <= radius; ++dx) {
            const int column = border_index(x + dx, in.width, border);
            if (row < 0 || column < 0) {
              neighbours.push_back(outside[static_cast<std::size_t>(c)]);
              continue;
            }
            const std::size_t pixel =
                static_cast<std::size_t>(row) * static_cast<std::size_t>(in.width) +
                static_cast<std::size_t>(column);
            neighbours.push_back(in.values[pixel * static_cast<std::size_t>(in.channels) +
                                           static_cast<std::size_t>(c)]);
          }
        }
        out.push_back(of_rank(neighbours, rank));
      }
    }
  }
  return out;
}

}  // namespace clcook::reference::rank_filter
