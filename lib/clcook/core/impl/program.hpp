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
    : context_(std::move(context)), disk_(std::move(disk)), note_(disk_.note()) {
  mark_thread();
}

CLCOOK_INLINE ProgramCache::~ProgramCache() {
  for (Unstored& one : unstored_) {
    if (one.have_ended()) store(one);
  }
}

CLCOOK_INLINE bool& ProgramCache::thread_goes_on() {
  static thread_local bool goes_on = false;
  return goes_on;
}

CLCOOK_INLINE void ProgramCache::mark_thread() {
  static thread_local const struct Mark {
    Mark() { thread_goes_on() = true; }
    ~Mark() { thread_goes_on() = false; }
  } mark;
}

CLCOOK_INLINE bool ProgramCache::Unstored::have_ended() {
  const auto has_ended = [](const cl::Event& one) {
    cl_int status = CL_COMPLETE;
    return clGetEventInfo(one(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status,
                          nullptr) != CL_SUCCESS ||
           status <= CL_COMPLETE;
  };
  while (!running.empty() && has_ended(running.front())) running.pop_front();
  return running.empty();
}

CLCOOK_INLINE void ProgramCache::Launching::begin(const ProgramCache& cache,
                                                  const cl::Kernel& kernel, const std::string& name,
                                                  const std::array<std::size_t, 3>& group) {
  cl_program program = nullptr;
  if (clGetKernelInfo(kernel(), CL_KERNEL_PROGRAM, sizeof program, &program, nullptr) != CL_SUCCESS)
    return;
  try {
    mark_thread();
    std::unique_lock<std::mutex> lock(cache.unstored_mutex_);
    auto& all = cache.unstored_;
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const Unstored& one) { return one.program() == program; });
    if (found == all.end()) return;
    const std::pair launch(name, group);
    if (std::find(found->launched.begin(), found->launched.end(), launch) ==
        found->launched.end()) {
      found->launched.push_back(launch);
    } else if (found->have_ended()) {
      cache.store(*found);
      all.erase(found);
      cache.has_unstored_ = !all.empty();
      return;
    }
    lock_ = std::move(lock);
    of_ = &*found;
  } catch (...) {  // no memory for the list: the next process builds from source
  }
}

CLCOOK_INLINE void ProgramCache::Launching::end(const cl::Event& event) {
  try {
    of_->running.push_back(event);
  } catch (...) {
    of_->key.clear();  // is not known to have ended, so it is never stored
  }
  lock_.unlock();
}

CLCOOK_INLINE void ProgramCache::store_ended() const {
  if (!has_unstored_.load(std::memory_order_relaxed)) return;
  try {
    mark_thread();
    const std::lock_guard<std::mutex> lock(unstored_mutex_);
    const auto ended = std::stable_partition(unstored_.begin(), unstored_.end(), [](Unstored& one) {
      return one.launched.empty() || !one.have_ended();
    });
    for (auto one = ended; one != unstored_.end(); ++one) store(*one);
    unstored_.erase(ended, unstored_.end());
    has_unstored_ = !unstored_.empty();
  } catch (...) {
  }
}

CLCOOK_INLINE void ProgramCache::store(const Unstored& one) const {
  // In a fork a driver's locks may be held for ever.
  if (one.key.empty() || one.launched.empty() || !detail::is_process(process_) || !thread_goes_on())
    return;
  try {
    const char* text = one.source.c_str();
    const std::size_t size = one.source.size();
    const cl_device_id device = one.device();
    cl_int status = CL_SUCCESS;
    const cl::Program again(clCreateProgramWithSource(context_(), 1, &text, &size, &status));
    if (status != CL_SUCCESS ||
        clBuildProgram(again(), 1, &device, one.options.c_str(), nullptr, nullptr) != CL_SUCCESS)
      return;
    const std::string binary = program_binary(again, one.device);
    if (!binary.empty()) disk_.store(one.key, binary);
  } catch (...) {  // no memory: the next process builds from source
  }
}

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
    // Asked before the first launch on PoCL too: its answer makes work-groups of any size, which must
    // not happen while a kernel of this text runs anywhere in the process.
    const std::string binary = program_binary(program, device);
    if (!binary.empty()) disk_.store(key, binary);
    if (quirks::freezes_binaries(info)) {
      const std::lock_guard<std::mutex> lock(unstored_mutex_);
      unstored_.push_back({program, device, source, options, key, {}, {}});
      has_unstored_ = true;
    }
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
