// The definitions of clcook/core/program.hpp.
#pragma once

#include <algorithm>
#include <clcook/core/program.hpp>
#include <clcook/core/quirks.hpp>
#include <iterator>

namespace clcook {

CLCOOK_INLINE std::string build_log(const cl::Program& program, const cl::Device& device) {
  std::size_t size = 0;
  if (clGetProgramBuildInfo(program(), device(), CL_PROGRAM_BUILD_LOG, 0, nullptr, &size) !=
      CL_SUCCESS)
    return {};
  std::string log(size, '\0');
  if (size > 0 && clGetProgramBuildInfo(program(), device(), CL_PROGRAM_BUILD_LOG, size, log.data(),
                                        nullptr) != CL_SUCCESS) {
    return {};
  }
  while (!log.empty() && (log.back() == '\0' || log.back() == '\n' || log.back() == ' '))
    log.pop_back();
  return log;
}

CLCOOK_INLINE std::string program_binary(const cl::Program& program, const cl::Device& device) {
  cl_uint count = 0;
  if (clGetProgramInfo(program(), CL_PROGRAM_NUM_DEVICES, sizeof count, &count, nullptr) !=
      CL_SUCCESS)
    return {};
  std::vector<cl_device_id> devices(count);
  std::vector<std::size_t> sizes(count);
  if (clGetProgramInfo(program(), CL_PROGRAM_DEVICES, count * sizeof(cl_device_id), devices.data(),
                       nullptr) != CL_SUCCESS ||
      clGetProgramInfo(program(), CL_PROGRAM_BINARY_SIZES, count * sizeof(std::size_t),
                       sizes.data(), nullptr) != CL_SUCCESS) {
    return {};
  }
  std::vector<std::string> binaries(count);
  std::vector<unsigned char*> pointers(count);
  for (cl_uint i = 0; i < count; ++i) {
    binaries[i].resize(sizes[i]);
    pointers[i] = sizes[i] == 0 ? nullptr : reinterpret_cast<unsigned char*>(binaries[i].data());
  }
  if (clGetProgramInfo(program(), CL_PROGRAM_BINARIES, count * sizeof(unsigned char*),
                       pointers.data(), nullptr) != CL_SUCCESS) {
    return {};
  }
  for (cl_uint i = 0; i < count; ++i) {
    if (devices[i] == device()) return std::move(binaries[i]);
  }
  return {};
}

CLCOOK_INLINE cl::Program ProgramCache::get(const cl::Device& device, const DeviceInfo& info,
                                            const std::string& source, const std::string& options,
                                            const std::string& what) {
  const Views wanted(device(), options, source);
  std::shared_ptr<Entry> entry;
  const auto find = [&] {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = programs_.find(wanted);
    if (found == programs_.end()) return false;
    entry = found->second;
    ++stats_.from_memory;
    return true;
  };
  std::unique_lock<std::mutex> building;
  while (!find()) {
    // Locked before other threads can see it, and never under mutex_, which builds lock.
    const auto mine = std::make_shared<Entry>();
    building = std::unique_lock<std::mutex>(mine->building);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (programs_.emplace(wanted, mine).second) {
      entry = mine;
      break;
    }
    building.unlock();
  }
  if (building.owns_lock()) {
    try {
      entry->program = load_or_build(device, info, source, options, what);
    } catch (...) {
      entry->error = std::current_exception();
      const std::lock_guard<std::mutex> lock(mutex_);
      programs_.erase(programs_.find(wanted));  // a later request tries again
    }
    building.unlock();
  }
  const std::lock_guard<std::mutex> done(entry->building);
  if (entry->error != nullptr) std::rethrow_exception(entry->error);
  return entry->program;
}

CLCOOK_INLINE ProgramCache::ProgramCache(cl::Context context, DiskCache disk)
    : context_(std::move(context)), disk_(std::move(disk)), note_(disk_.note()) {}

CLCOOK_INLINE cl::Program ProgramCache::build(const cl::Device& device, const DeviceInfo& info,
                                              const std::string& source, const std::string& options,
                                              const std::string& what) {
  cl::Program program = from_source(device, info, source, options, what);
  count(&Stats::from_source);
  return program;
}

CLCOOK_INLINE ProgramCache::Stats ProgramCache::stats() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return stats_;
}

CLCOOK_INLINE std::string ProgramCache::make_key(const DeviceInfo& info, const std::string& source,
                                                 const std::string& options) {
  std::string key;
  for (const std::string* part : {&info.platform, &info.platform_version, &info.name, &info.vendor,
                                  &info.version, &info.driver, &options, &source}) {
    key += std::to_string(part->size()) + ":" + *part + "\n";
  }
  return key;
}

CLCOOK_INLINE cl::Program ProgramCache::load_or_build(const cl::Device& device,
                                                      const DeviceInfo& info,
                                                      const std::string& source,
                                                      const std::string& options,
                                                      const std::string& what) {
  const std::string key = make_key(info, source, options);
  if (const auto binary = disk_.load(key)) {
    if (auto program = from_binary(device, *binary, options)) {
      count(&Stats::from_disk);
      return *program;
    }
  }
  cl::Program program = from_source(device, info, source, options, what);
  count(&Stats::from_source);
  if (disk_.enabled()) {
    const std::string binary = program_binary(program, device);
    if (!binary.empty()) disk_.store(key, binary);
  }
  return program;
}

CLCOOK_INLINE std::optional<cl::Program> ProgramCache::from_binary(const cl::Device& device,
                                                                   const std::string& binary,
                                                                   const std::string& options) {
  const cl_device_id id = device();
  const std::size_t size = binary.size();
  const auto* data = reinterpret_cast<const unsigned char*>(binary.data());
  cl_int loaded = CL_SUCCESS;
  cl_int status = CL_SUCCESS;
  cl::Program program(
      clCreateProgramWithBinary(context_(), 1, &id, &size, &data, &loaded, &status));
  if (status != CL_SUCCESS || loaded != CL_SUCCESS) return std::nullopt;
  if (clBuildProgram(program(), 1, &id, options.c_str(), nullptr, nullptr) != CL_SUCCESS)
    return std::nullopt;
  return program;
}

CLCOOK_INLINE cl::Program ProgramCache::from_source(const cl::Device& device,
                                                    const DeviceInfo& info,
                                                    const std::string& source,
                                                    const std::string& options,
                                                    const std::string& what) {
  const cl_device_id id = device();
  const char* data = source.data();
  const std::size_t size = source.size();
  cl_int status = CL_SUCCESS;
  cl::Program program(clCreateProgramWithSource(context_(), 1, &data, &size, &status));
  check(status, "clCreateProgramWithSource");
  status = clBuildProgram(program(), 1, &id, options.c_str(), nullptr, nullptr);
  if (status == CL_SUCCESS) return program;
  fail(Errc::build_failed, what,
       "the kernel does not build on " + info.platform + ", " + info.name + " (" +
           status_name(status) + ") with options '" + options + "'",
       status, build_log(program, device));
}

CLCOOK_INLINE void ProgramCache::count(std::uint64_t Stats::*counter) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++(stats_.*counter);
}

}  // namespace clcook
