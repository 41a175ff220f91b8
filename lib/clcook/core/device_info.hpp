// What a device reports about itself.
#pragma once

#include <clcook/core/inline.hpp>
#include <clcook/core/opencl.hpp>
#include <cstddef>
#include <string>
#include <string_view>

namespace clcook {

// What a device reports. Sizes in bytes.
struct DeviceInfo {
  // Here and not in every function that has one: less to compile.
  DeviceInfo();
  DeviceInfo(const DeviceInfo&);
  DeviceInfo(DeviceInfo&&) noexcept;
  DeviceInfo& operator=(const DeviceInfo&);
  DeviceInfo& operator=(DeviceInfo&&) noexcept;
  ~DeviceInfo();

  std::string platform;          // platform name, such as "NVIDIA CUDA"
  std::string platform_version;  // "OpenCL 3.0 ..."
  std::string name;
  std::string vendor;
  std::string version;
  std::string c_version;
  std::string driver;
  std::string extensions;
  std::string language = "CL1.2";  // what kernels are compiled as: "CL1.2" or "CL3.0"
  bool cpu = false;
  bool gpu = false;
  bool accelerator = false;
  bool compiler = false;
  bool images = false;
  bool embedded_profile = false;  // of OpenCL, in place of the full one
  cl_uint compute_units = 0;
  cl_uint clock_mhz = 0;
  std::size_t max_group = 0;  // work-items per work-group
  std::size_t max_items[3] = {0, 0, 0};
  cl_ulong local_mem = 0;            // what a kernel of one group can have
  bool local_mem_dedicated = false;  // false where "local" memory is ordinary memory, as on CPUs
  cl_ulong global_mem = 0;
  cl_ulong max_allocation = 0;
  cl_ulong global_cache = 0;  // as reported; not always the last-level cache
  cl_ulong constant_buffer = 0;
  cl_uint base_alignment = 0;
  std::size_t image_width = 0;
  std::size_t image_height = 0;
  unsigned nvidia_capability = 0;  // ten times the compute capability; 0: not known, or not NVIDIA

  bool has_extension(std::string_view extension) const {
    const std::string padded = " " + extensions + " ";
    return padded.find(" " + std::string(extension) + " ") != std::string::npos;
  }
};

}  // namespace clcook

#if CLCOOK_DEFINITIONS
#include <clcook/core/impl/device_info.hpp>
#endif
