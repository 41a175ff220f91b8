// What the methods tensor, tensor_split and tensor_bytes share: whether a device has the matrix
// units that they use, and how far the weights that they store are from those of the filter.
#pragma once

#include <clcook/core/error.hpp>
#include <clcook/core/math.hpp>
#include <clcook/core/quirks.hpp>
#include <clcook/core/runtime.hpp>
#include <clcook/gaussian_blur/method.hpp>
#include <cstdlib>
#include <string>
#include <vector>

namespace clcook::gaussian {

// What a device lacks for mma.sync in inline PTX; empty for nothing.
inline std::string lacks_matrix_units(const Runtime& runtime) {
  if (quirks::emulates_nvidia()) return {};
  if (!quirks::is_nvidia(runtime.info()))
    return text("needs an NVIDIA GPU, the platform is ", runtime.info().platform);
  const unsigned capability = runtime.info().nvidia_capability;
  if (capability == 0) return "needs a device that tells its compute capability";
  if (capability >= 80) return {};
  return text("needs the compute capability 8.0, the device has ", capability / 10, ".x");
}

// The errors of stored weights, of the taps of the whole filter.
struct WeightErrors {
  double off = 0;  // sum of their sizes

  // stored: of the taps 0 .. radius, in units in which the filter has the sum 1.
  void compare(const FilterAxis& axis, const std::vector<double>& stored) {
    for (std::size_t k = 0; k < stored.size(); ++k) {
      off += (k == 0 ? 1 : 2) * std::abs(stored[k] - axis.weights[k]);
    }
  }
};

}  // namespace clcook::gaussian
