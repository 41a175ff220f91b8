// The definitions of clcook/core/device.hpp.
#pragma once

#include <algorithm>
#include <clcook/core/device.hpp>
#include <clcook/core/file.hpp>
#include <clcook/core/program.hpp>
#include <clcook/core/quirks.hpp>
#include <cstdlib>
#include <utility>

namespace clcook::detail {

CLCOOK_INLINE bool offers_c30(cl_device_id device, const DeviceInfo& info) {
  const std::string prefix = "OpenCL ";
  if (info.version.compare(0, prefix.size(), prefix) != 0 ||
      std::atoi(info.version.c_str() + prefix.size()) < 3)
    return false;
  struct NameVersion {  // cl_name_version, which headers of OpenCL 1.2 do not have
    cl_uint version;
    char name[64];
  };
  constexpr cl_device_info all_versions = 0x1066;  // CL_DEVICE_OPENCL_C_ALL_VERSIONS
  std::size_t size = 0;
  if (clGetDeviceInfo(device, all_versions, 0, nullptr, &size) != CL_SUCCESS) return false;
  std::vector<NameVersion> found(size / sizeof(NameVersion));
  if (found.empty() || clGetDeviceInfo(device, all_versions, found.size() * sizeof(NameVersion),
                                       found.data(), nullptr) != CL_SUCCESS)
    return false;
  return std::any_of(found.begin(), found.end(), [](const NameVersion& one) {
    return one.version >> 12 == 3U << 10;  // major 3, minor 0
  });
}

}  // namespace clcook::detail

namespace clcook {

CLCOOK_INLINE DeviceInfo device_info(const cl::Device& handle) {
  const cl_device_id device = handle();
  const auto string = [&](cl_device_info name) {
    return query_string(clGetDeviceInfo, device, name, "clGetDeviceInfo");
  };
  const auto platform = detail::device_value<cl_platform_id>(device, CL_DEVICE_PLATFORM);
  const auto platform_string = [&](cl_platform_info name) {
    return query_string(clGetPlatformInfo, platform, name, "clGetPlatformInfo");
  };
  DeviceInfo info;
  info.platform = platform_string(CL_PLATFORM_NAME);
  info.platform_version = platform_string(CL_PLATFORM_VERSION);
  info.name = string(CL_DEVICE_NAME);
  info.vendor = string(CL_DEVICE_VENDOR);
  info.version = string(CL_DEVICE_VERSION);
  info.c_version = string(CL_DEVICE_OPENCL_C_VERSION);
  info.driver = string(CL_DRIVER_VERSION);
  info.extensions = string(CL_DEVICE_EXTENSIONS);
  info.embedded_profile = string(CL_DEVICE_PROFILE) == "EMBEDDED_PROFILE";
  const auto type = detail::device_value<cl_device_type>(device, CL_DEVICE_TYPE);
  info.cpu = (type & CL_DEVICE_TYPE_CPU) != 0;
  info.gpu = (type & CL_DEVICE_TYPE_GPU) != 0;
  info.accelerator = (type & CL_DEVICE_TYPE_ACCELERATOR) != 0;
  info.compiler = detail::device_value<cl_bool>(device, CL_DEVICE_COMPILER_AVAILABLE) != CL_FALSE;
  info.images = detail::device_value<cl_bool>(device, CL_DEVICE_IMAGE_SUPPORT) != CL_FALSE;
  info.compute_units = detail::device_value<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS);
  info.clock_mhz = detail::device_value<cl_uint>(device, CL_DEVICE_MAX_CLOCK_FREQUENCY);
  info.max_group = detail::device_value<std::size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  const auto dims = detail::device_value<cl_uint>(device, CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS);
  std::vector<std::size_t> items(std::max<cl_uint>(dims, 3), 1);
  check(clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_ITEM_SIZES, items.size() * sizeof(std::size_t),
                        items.data(), nullptr),
        "clGetDeviceInfo");
  std::copy_n(items.begin(), 3, info.max_items);
  info.local_mem = detail::device_value<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE);
  info.local_mem -= std::min(info.local_mem, quirks::own_local_bytes(info));
  info.local_mem_dedicated =
      detail::device_value<cl_device_local_mem_type>(device, CL_DEVICE_LOCAL_MEM_TYPE) == CL_LOCAL;
  info.global_mem = detail::device_value<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE);
  info.max_allocation = detail::device_value<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  info.global_cache = detail::device_value<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
  info.constant_buffer = detail::device_value<cl_ulong>(device, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE);
  info.base_alignment = detail::device_value<cl_uint>(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
  if (detail::offers_c30(device, info) && !quirks::better_as_c12(info)) info.language = "CL3.0";
  if (info.images) {
    info.image_width = detail::device_value<std::size_t>(device, CL_DEVICE_IMAGE2D_MAX_WIDTH);
    info.image_height = detail::device_value<std::size_t>(device, CL_DEVICE_IMAGE2D_MAX_HEIGHT);
  }
  if (quirks::is_nvidia(info)) {
    constexpr cl_device_info kMajor = 0x4000;  // CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV
    cl_uint major = 0;
    const cl_int status = clGetDeviceInfo(device, kMajor, sizeof major, &major, nullptr);
    if (status != CL_INVALID_VALUE) {
      check(status, "clGetDeviceInfo");
      info.nvidia_capability = 10 * major + detail::device_value<cl_uint>(device, kMajor + 1);
    }
  }
  return info;
}

}  // namespace clcook

namespace clcook::detail {

CLCOOK_INLINE std::string lower(std::string_view in) {
  std::string out(in);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

CLCOOK_INLINE bool matches_name(const DeviceInfo& info, const std::string& wanted) {
  if (wanted.empty() || wanted == "any") return true;
  if (wanted == "gpu") return info.gpu;
  if (wanted == "cpu") return info.cpu;
  if (wanted == "accelerator") return info.accelerator;
  std::string names = lower(info.platform + "\n" + info.name + "\n" + info.vendor);
  if (wanted == "pocl") return names.find("portable computing language") != std::string::npos;
  if (wanted == "amd") {
    // Not the CPU that calls itself "AMD EPYC" below another vendor's platform.
    return !info.cpu && (names.find("advanced micro devices") != std::string::npos ||
                         names.find("amd") != std::string::npos);
  }
  return names.find(wanted) != std::string::npos;
}

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif
CLCOOK_INLINE cl_command_queue create_queue(cl_context context, cl_device_id device,
                                            cl_command_queue_properties properties,
                                            cl_int* status) {
  return clCreateCommandQueue(context, device, properties, status);
}
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

CLCOOK_INLINE bool is_on_path(const std::string& program) {
  const char* variable = std::getenv("PATH");
  std::string rest = variable == nullptr ? "" : variable;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (exists(joined(rest.substr(0, end), program))) return true;
    rest.erase(0, end + 1);
  }
  return false;
}

CLCOOK_INLINE std::string missing_program(const DeviceInfo& info) {
  if (!quirks::runs_ld(info) || is_on_path("ld")) return {};
  return info.platform_version +
         " links kernels with ld, and PATH has none: install gcc and libc6-dev";
}

CLCOOK_INLINE std::string probe(const cl::Device& device, const DeviceInfo& info,
                                const DiskCache& disk) {
  const cl_device_id id = device();
  cl_int status = CL_SUCCESS;
  const auto broken = [&](const char* step) {
    return std::string(step) + " failed with " + status_name(status);
  };
  const cl::Context context(clCreateContext(nullptr, 1, &id, nullptr, nullptr, &status));
  if (status != CL_SUCCESS) return broken("clCreateContext");
  const cl::CommandQueue queue(create_queue(context(), id, 0, &status));
  if (status != CL_SUCCESS) return broken("clCreateCommandQueue");
  const char* source =
      "__kernel void clcook_probe(__global int* out, int add) {"
      "  size_t i = get_global_id(0); out[i] = (int)(i * i) + add; }";
  ProgramCache programs(context, disk);
  cl::Program program;
  try {
    program = programs.get(device, info, source, "-cl-std=" + info.language, "a probe kernel");
  } catch (const Error& error) {
    status = error.status;
    return broken("building a probe kernel");
  }
  const cl::Kernel kernel(clCreateKernel(program(), "clcook_probe", &status));
  if (status != CL_SUCCESS) return broken("clCreateKernel");
  constexpr std::size_t kItems = 16;
  const cl::Buffer buffer(
      clCreateBuffer(context(), CL_MEM_READ_WRITE, kItems * sizeof(cl_int), nullptr, &status));
  if (status != CL_SUCCESS) return broken("clCreateBuffer");
  const cl_mem memory = buffer();
  const cl_int add = 7;
  status = clSetKernelArg(kernel(), 0, sizeof memory, &memory);
  if (status == CL_SUCCESS) status = clSetKernelArg(kernel(), 1, sizeof add, &add);
  if (status != CL_SUCCESS) return broken("clSetKernelArg");
  status =
      clEnqueueNDRangeKernel(queue(), kernel(), 1, nullptr, &kItems, nullptr, 0, nullptr, nullptr);
  if (status != CL_SUCCESS) return broken("running a probe kernel");
  cl_int result[kItems] = {};
  status =
      clEnqueueReadBuffer(queue(), memory, CL_TRUE, 0, sizeof result, result, 0, nullptr, nullptr);
  if (status != CL_SUCCESS) return broken("reading the probe's result");
  for (std::size_t i = 0; i < kItems; ++i) {
    if (result[i] != static_cast<cl_int>(i * i) + add) return "a probe kernel gave a wrong result";
  }
  return {};
}

CLCOOK_INLINE DiskCache cache_of_programs(const std::optional<DiskCache>& asked,
                                          const DeviceInfo& info) {
  if (asked) return *asked;
  return quirks::keeps_programs(info) ? DiskCache() : DiskCache::standard();
}

CLCOOK_INLINE std::vector<DeviceCandidate> list_devices(std::string_view spec, Probe which,
                                                        const std::optional<DiskCache>& disk) {
  std::string wanted = lower(spec);
  long index = -1;
  long platform_index = -1;
  const std::size_t colon = wanted.rfind(':');
  if (colon != std::string::npos) {
    const auto number = [&](const std::string& digits) {
      if (digits.empty() || digits.size() > 6 ||
          digits.find_first_not_of("0123456789") != std::string::npos) {
        fail(Errc::invalid_argument, "device specification '" + std::string(spec) + "'",
             "the part after ':' must be an index such as 0, got '" + digits + "'");
      }
      return std::stol(digits);
    };
    index = number(wanted.substr(colon + 1));
    wanted.resize(colon);
    if (!wanted.empty() && wanted.find_first_not_of("0123456789") == std::string::npos) {
      platform_index = number(wanted);
      wanted.clear();
    }
  }

  std::vector<DeviceCandidate> found;
  cl_uint platform_count = 0;
  constexpr cl_int kNoPlatform = -1001;  // CL_PLATFORM_NOT_FOUND_KHR
  const cl_int asked = clGetPlatformIDs(0, nullptr, &platform_count);
  if (asked != kNoPlatform) check(asked, "clGetPlatformIDs");
  if (asked == kNoPlatform || platform_count == 0) return found;
  std::vector<cl_platform_id> platforms(platform_count);
  check(clGetPlatformIDs(platform_count, platforms.data(), nullptr), "clGetPlatformIDs");
  long match = 0;
  for (cl_uint p = 0; p < platform_count; ++p) {
    cl_uint device_count = 0;
    if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 0, nullptr, &device_count) != CL_SUCCESS)
      continue;
    std::vector<cl_device_id> devices(device_count);
    if (device_count == 0 || clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, device_count,
                                            devices.data(), nullptr) != CL_SUCCESS) {
      continue;
    }
    for (cl_uint d = 0; d < device_count; ++d) {
      DeviceCandidate candidate;
      candidate.device = cl::Device(devices[d], true);
      candidate.spec = std::to_string(p) + ":" + std::to_string(d);
      try {
        candidate.info = device_info(candidate.device);
      } catch (const Error& error) {  // one broken driver must not hide the other devices
        candidate.verdict = std::string("rejected: ") + error.what();
        found.push_back(std::move(candidate));
        continue;
      }
      bool matched = matches_name(candidate.info, wanted);
      if (platform_index >= 0) {
        matched = platform_index == static_cast<long>(p) && index == static_cast<long>(d);
      } else if (matched && index >= 0) {
        matched = match++ == index;
      }
      candidate.usable = matched && candidate.info.compiler;
      candidate.verdict = candidate.usable ? "usable"
                          : matched        ? "rejected: it has no OpenCL C compiler"
                                           : "does not match '" + std::string(spec) + "'";
      found.push_back(std::move(candidate));
    }
  }

  const auto rank = [](const DeviceInfo& info) {
    return info.gpu ? 0 : info.accelerator ? 1 : info.cpu ? 2 : 3;
  };
  std::vector<DeviceCandidate*> best_first;
  for (DeviceCandidate& candidate : found) {
    if (!candidate.usable) continue;
    const auto place = std::upper_bound(best_first.begin(), best_first.end(), &candidate,
                                        [&](const DeviceCandidate* a, const DeviceCandidate* b) {
                                          return rank(a->info) < rank(b->info);
                                        });
    best_first.insert(place, &candidate);
  }
  bool chosen = false;
  for (DeviceCandidate* candidate : best_first) {
    if (which == Probe::all || (which == Probe::until_one_is_chosen && !chosen)) {
      std::string problem = missing_program(candidate->info);
      if (problem.empty() && (which == Probe::all || best_first.size() > 1))
        problem =
            probe(candidate->device, candidate->info, cache_of_programs(disk, candidate->info));
      candidate->usable = problem.empty();
      candidate->verdict = problem.empty() ? "usable" : "rejected: " + problem;
    }
    if (candidate->usable && !chosen) {
      chosen = true;
      candidate->verdict = "chosen";
    }
  }
  return found;
}

CLCOOK_INLINE std::string vendor_files() {
  const char* variable = std::getenv("OCL_ICD_VENDORS");
  if (variable == nullptr || *variable == '\0') variable = std::getenv("OPENCL_VENDOR_PATH");
  const bool given = variable != nullptr && *variable != '\0';
  const std::string place = given ? variable : "/etc/OpenCL/vendors";
  std::vector<std::string> files;
  if (is_folder(place)) {
    for (const std::string& name : names_in(place)) {
      if (name.size() > 4 && name.compare(name.size() - 4, 4, ".icd") == 0)
        files.push_back(joined(place, name));
    }
  } else if (exists(place)) {
    files.push_back(place);
  }
  std::string out = "\n  implementations are looked for in " + place +
                    (given ? ", as a variable of the environment says" : "");
  if (files.empty()) return out + ", where none is";
  for (const std::string& file : files) {
    std::string library;
    const OpenFile in(file, "rb");
    if (in.get() != nullptr) read_rest(in.get(), library);
    out += "\n  " + file + " names '" + library.substr(0, library.find('\n')) + "'";
  }
  return out + "\n  see that these libraries are there and load, for example with ldd";
}

CLCOOK_INLINE std::string empty_platforms() {
  cl_uint count = 0;
  if (clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS) return "";
  std::vector<cl_platform_id> platforms(count);
  if (count == 0 || clGetPlatformIDs(count, platforms.data(), nullptr) != CL_SUCCESS) return "";
  std::string out;
  for (const cl_platform_id one : platforms) {
    cl_uint devices = 0;
    if (clGetDeviceIDs(one, CL_DEVICE_TYPE_ALL, 0, nullptr, &devices) == CL_SUCCESS && devices > 0)
      continue;
    DeviceInfo info;
    try {
      info.platform = query_string(clGetPlatformInfo, one, CL_PLATFORM_NAME, "clGetPlatformInfo");
    } catch (const Error&) {
      info.platform = "an implementation without a name";
    }
    out += "\n  " + info.platform + " is there and offers no device";
    if (quirks::is_pocl(info)) {
      out +=
          ", as PoCL does where it cannot write its cache folder: set POCL_CACHE_DIR to a folder "
          "that you may write to";
    }
  }
  return out;
}

CLCOOK_INLINE std::string why_no_device() {
  const std::string empty = empty_platforms();
  if (!empty.empty()) return "there is no OpenCL device on this machine" + empty;
  return "there is no OpenCL device on this machine; install a driver, or PoCL for the CPU "
         "(Debian: pocl-opencl-icd)" +
         vendor_files();
}

}  // namespace clcook::detail

namespace clcook {

CLCOOK_INLINE std::vector<DeviceCandidate> find_devices(std::string_view spec, bool run_probe) {
  return detail::list_devices(spec, run_probe ? detail::Probe::all : detail::Probe::none,
                              DiskCache());
}

CLCOOK_INLINE cl::Device pick_device(std::string_view spec, const std::optional<DiskCache>& disk) {
  std::string wanted(spec);
  const char* variable = std::getenv("CLCOOK_DEVICE");
  if (wanted.empty() && variable != nullptr) wanted = variable;
  const std::vector<DeviceCandidate> found =
      detail::list_devices(wanted, detail::Probe::until_one_is_chosen, disk);
  std::string reasons;
  for (const DeviceCandidate& candidate : found) {
    if (candidate.verdict == "chosen") return candidate.device;
    reasons += "\n  " + candidate.spec + " " + candidate.info.platform + ", " +
               candidate.info.name + ": " + candidate.verdict;
  }
  const std::string place = "device specification '" + wanted + "'";
  if (found.empty()) fail(Errc::no_device, place, detail::why_no_device());
  fail(Errc::no_device, place,
       "no usable device; these were seen:" + reasons + detail::empty_platforms());
}

}  // namespace clcook
