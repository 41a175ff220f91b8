// Straight alpha in the scalar references, in double.
#pragma once

#include <cstddef>
#include <vector>

namespace clcook::reference {

// Interleaved pixels whose last channel is alpha, `top` where nothing is transparent: their colours
// are multiplied by it. A colour under alpha 0 becomes 0, even one that is no number.
inline void weight_by_alpha(std::vector<double>& values, std::size_t channels, double top) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if ((i + 1) % channels == 0) continue;
    const double alpha = values[i / channels * channels + channels - 1];
    values[i] = alpha == 0 ? 0 : values[i] * alpha / top;
  }
}

// The inverse.
inline void divide_by_alpha(std::vector<double>& values, std::size_t channels, double top) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if ((i + 1) % channels == 0) continue;
    const double alpha = values[i / channels * channels + channels - 1];
    values[i] = alpha == 0 ? 0 : values[i] / alpha * top;
  }
}

}  // namespace clcook::reference
