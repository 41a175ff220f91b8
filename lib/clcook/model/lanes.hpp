// The lane-mask model of branch divergence. Std only.
//
// A device runs `width` work-items in lock-step (a warp, a wave, a vector of a CPU). A segment of
// code that one of them takes costs its time for all of them, so a set of lanes costs the sum over
// the segments that any of its lanes takes. Width 1 is a device without divergence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace clcook::model {

// Which segments of a kernel each work-item takes, and what a segment costs.
struct LaneMasks {
  std::vector<std::uint64_t> taken;  // per work-item in the order of their ids: bit s for segment s
  std::vector<double> cost;          // per segment, in any unit; at most 64 segments
};

// The cost of all work-items together where `width` neighbours run in lock-step. A last, partly
// filled set of lanes counts like a full one. Throws std::invalid_argument for a width of 0, more
// than 64 segments, or a work-item that takes a segment without a cost. Thread-safe.
inline double lane_mask_cost(const LaneMasks& masks, std::size_t width) {
  if (width == 0) throw std::invalid_argument("lane_mask_cost: width must be at least 1, got 0");
  if (masks.cost.size() > 64) {
    throw std::invalid_argument("lane_mask_cost: at most 64 segments, got " +
                                std::to_string(masks.cost.size()));
  }
  double total = 0;
  for (std::size_t first = 0; first < masks.taken.size(); first += width) {
    std::uint64_t any = 0;
    for (std::size_t i = first; i < masks.taken.size() && i - first < width; ++i) {
      any |= masks.taken[i];
    }
    for (std::size_t s = 0; any != 0; ++s, any >>= 1) {
      if ((any & 1) == 0) continue;
      if (s >= masks.cost.size()) {
        throw std::invalid_argument("lane_mask_cost: segment " + std::to_string(s) + " of " +
                                    std::to_string(masks.cost.size()) + " is taken");
      }
      total += masks.cost[s];
    }
  }
  // Per work-item, so that widths can be compared: a set costs its time for all its lanes.
  return total * static_cast<double>(width);
}

}  // namespace clcook::model
