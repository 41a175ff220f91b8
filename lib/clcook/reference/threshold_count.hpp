// Scalar reference of threshold_count: one comparison after the other. std only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace clcook::reference::threshold_count {

// The first k with x >= thresholds[k], else their number: the slot of NaN too.
inline std::uint32_t slot(float x, const std::vector<float>& thresholds) {
  for (std::size_t k = 0; k < thresholds.size(); ++k) {
    if (x >= thresholds[k]) return static_cast<std::uint32_t>(k);
  }
  return static_cast<std::uint32_t>(thresholds.size());
}

}  // namespace clcook::reference::threshold_count
