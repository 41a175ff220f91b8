// Devices: what they report, and choosing one.
//
//   const cl::Device device = clcook::pick_device();  // CLCOOK_DEVICE decides; pick_device("gpu")
//   for (const clcook::DeviceCandidate& one : clcook::find_devices())
//     std::printf("%s: %s\n", one.info.name.c_str(), one.verdict.c_str());
#pragma once

#include <clcook/core/cache.hpp>
#include <clcook/core/device_info.hpp>
#include <clcook/core/error.hpp>
#include <clcook/core/inline.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clcook {

// Reads a string property through an OpenCL query such as clGetDeviceInfo.
template <class Handle, class Query>
std::string query_string(Query query, Handle handle, cl_uint name, const char* where) {
  std::size_t size = 0;
  check(query(handle, name, 0, nullptr, &size), where);
  std::string value(size, '\0');
  if (size > 0) check(query(handle, name, size, value.data(), nullptr), where);
  while (!value.empty() && value.back() == '\0') value.pop_back();
  return value;
}

namespace detail {

template <class T>
T device_value(cl_device_id device, cl_device_info name) {
  T value{};
  check(clGetDeviceInfo(device, name, sizeof value, &value, nullptr), "clGetDeviceInfo");
  return value;
}

// Whether the device compiles OpenCL C 3.0. Only a device of OpenCL 3.0 is asked: Oclgrind 21.10,
// of OpenCL 1.2, lists the language and does not know it.
CLCOOK_INLINE bool offers_c30(cl_device_id device, const DeviceInfo& info);

}  // namespace detail

// Queries a device. Thread-safe.
CLCOOK_INLINE DeviceInfo device_info(const cl::Device& handle);

// One device seen while choosing: where it is and why it was taken or not.
struct DeviceCandidate {
  cl::Device device;
  DeviceInfo info;
  std::string spec;     // an exact specification of this device, "PLATFORM-INDEX:DEVICE-INDEX"
  std::string verdict;  // "chosen", "usable", or the reason for rejecting it
  bool usable = false;
};

namespace detail {

CLCOOK_INLINE std::string lower(std::string_view in);

// Whether a device specification without its index matches.
CLCOOK_INLINE bool matches_name(const DeviceInfo& info, const std::string& wanted);

// clCreateCommandQueue is deprecated but the only call that every platform from 1.0 to 3.0 serves.
CLCOOK_INLINE cl_command_queue create_queue(cl_context context, cl_device_id device,
                                            cl_command_queue_properties properties, cl_int* status);

CLCOOK_INLINE bool is_on_path(const std::string& program);

// What the implementation runs to make kernels and cannot find; an empty string if nothing.
CLCOOK_INLINE std::string missing_program(const DeviceInfo& info);

// Builds and runs a small kernel on a device. Returns an empty string if the result is right,
// otherwise what failed. The kernel comes from the cache if it is there.
CLCOOK_INLINE std::string probe(const cl::Device& device, const DeviceInfo& info,
                                const DiskCache& disk);

// `asked`, else the standard folder, or none where the implementation keeps programs itself.
CLCOOK_INLINE DiskCache cache_of_programs(const std::optional<DiskCache>& asked,
                                          const DeviceInfo& info);

// Which matches of a specification must build and run a kernel to be usable.
enum class Probe {
  none,
  all,
  until_one_is_chosen,  // the best first, if there is another one to fall back on
};

// Lists devices as find_devices() does.
CLCOOK_INLINE std::vector<DeviceCandidate> list_devices(std::string_view spec, Probe which,
                                                        const std::optional<DiskCache>& disk);

// Where the loader looks for implementations, and what the files there name: for a message.
CLCOOK_INLINE std::string vendor_files();

// The implementations that are there and offer no device, each in a line that begins with a line
// feed.
CLCOOK_INLINE std::string empty_platforms();

// Why there is no device at all, and what to do.
CLCOOK_INLINE std::string why_no_device();

}  // namespace detail

// Lists the devices of all platforms in the order of the ICD loader, each with the verdict for
// `spec`.
//
// A specification is one string: "" or "any"; a type, "gpu", "cpu" or "accelerator"; part of a
// platform, device or vendor name, such as "nvidia", "amd", "intel", "pocl", "rusticl"; one of
// these with an index among its matches, "pocl:0"; or "PLATFORM-INDEX:DEVICE-INDEX", such as "0:0".
// Case does not matter. Of the usable matches a GPU goes before an accelerator before a CPU. With
// `run_probe` each match must build and run a kernel to be usable. Throws Error(invalid_argument)
// for a malformed index. No platform at all gives an empty list.
//
// If a driver ends the process, name another device in CLCOOK_DEVICE.
CLCOOK_INLINE std::vector<DeviceCandidate> find_devices(std::string_view spec = {},
                                                        bool run_probe = true);

// Chooses a device. An empty specification means the environment variable CLCOOK_DEVICE, else any
// device. Where several match, the best must build and run a small kernel, else the next is tried;
// what is wrong with an only match shows when it is used. Throws Error(no_device) that says for
// every device why it was not taken. The kernel of the probe goes through the cache of programs:
// RuntimeOptions::disk_cache.
CLCOOK_INLINE cl::Device pick_device(std::string_view spec = {},
                                     const std::optional<DiskCache>& disk = {});

}  // namespace clcook

#if CLCOOK_DEFINITIONS
#include <clcook/core/impl/device.hpp>
#endif
