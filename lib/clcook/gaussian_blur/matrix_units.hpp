// Whether a device has the matrix units that the methods tensor, tensor_split and tensor_bytes use.
#pragma once

#include <clcook/core/error.hpp>
#include <clcook/core/quirks.hpp>
#include <clcook/core/runtime.hpp>
#include <cstdlib>
#include <string>

namespace clcook::gaussian {

// Tests on other devices set CLCOOK_TENSOR_EMULATE: the products are then made of ordinary
// arithmetic, by the same kernels.
inline bool emulates_matrix_units() {
  const char* value = std::getenv("CLCOOK_TENSOR_EMULATE");
  return value != nullptr && *value != '\0';
}

// What a device lacks for mma.sync in inline PTX; empty for nothing.
inline std::string lacks_matrix_units(const Runtime& runtime) {
  if (emulates_matrix_units()) return {};
  if (!quirks::is_nvidia(runtime.info()))
    return text("needs an NVIDIA GPU, the platform is ", runtime.info().platform);
  constexpr cl_device_info kMajor = 0x4000;  // CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV
  cl_uint major = 0;
  if (clGetDeviceInfo(runtime.device()(), kMajor, sizeof major, &major, nullptr) != CL_SUCCESS)
    major = 0;
  if (major >= 8) return {};
  return text("needs the compute capability 8.0, the device has ", major, ".x");
}

}  // namespace clcook::gaussian
