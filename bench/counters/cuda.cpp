#include "counters/cuda.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <clcook/io/whole_file.hpp>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "counters/ptx.hpp"
#include "counters/recording.hpp"

namespace clcook::counters {

namespace {

// The few declarations of cuda.h that are needed, so that nobody needs that header to build.
using Result = int;
using Device = int;
using Pointer = unsigned long long;
struct Context;
struct Module;
struct Function;
struct Stream;

enum JitOption : int { kErrorLog = 5, kErrorLogBytes = 6 };
constexpr int kMaxDynamicShared = 8;  // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
constexpr std::size_t kUsualShared = 48 << 10;

// The functions of libcuda.so.1.
class Cuda {
 public:
  Cuda() {
    library_ = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) {
      const char* why = dlerror();
      fail(Errc::unsupported, "CUDA", why == nullptr ? "libcuda.so.1 is not there" : why);
    }
    load(init, "cuInit");
    load(error_name, "cuGetErrorName");
    load(device_get, "cuDeviceGet");
    load(device_by_address, "cuDeviceGetByPCIBusId");
    load(device_count, "cuDeviceGetCount");
    load(retain_context, "cuDevicePrimaryCtxRetain");
    load(set_context, "cuCtxSetCurrent");
    load(synchronize, "cuCtxSynchronize");
    load(load_module, "cuModuleLoadDataEx");
    load(unload_module, "cuModuleUnload");
    load(get_function, "cuModuleGetFunction");
    load(get_global, "cuModuleGetGlobal_v2");
    load(set_attribute, "cuFuncSetAttribute");
    load(allocate, "cuMemAlloc_v2");
    load(to_device, "cuMemcpyHtoD_v2");
    load(to_host, "cuMemcpyDtoH_v2");
    load(set_bytes, "cuMemsetD8_v2");
    load(launch, "cuLaunchKernel");
    load(start_profiler, "cuProfilerStart");
    load(stop_profiler, "cuProfilerStop");
  }
  Cuda(const Cuda&) = delete;
  Cuda& operator=(const Cuda&) = delete;
  // The library stays: drivers do not like to be unloaded.
  ~Cuda() = default;

  std::string name_of(Result result) const {
    const char* name = nullptr;
    if (error_name(result, &name) != 0 || name == nullptr) name = "an unknown error";
    return text(name, " (", result, ")");
  }
  void check(Result result, const std::string& where) const {
    if (result != 0) fail(Errc::unsupported, where, name_of(result));
  }

  Result (*init)(unsigned) = nullptr;
  Result (*error_name)(Result, const char**) = nullptr;
  Result (*device_get)(Device*, int) = nullptr;
  Result (*device_by_address)(Device*, const char*) = nullptr;
  Result (*device_count)(int*) = nullptr;
  Result (*retain_context)(Context**, Device) = nullptr;
  Result (*set_context)(Context*) = nullptr;
  Result (*synchronize)() = nullptr;
  Result (*load_module)(Module**, const void*, unsigned, int*, void**) = nullptr;
  Result (*unload_module)(Module*) = nullptr;
  Result (*get_function)(Function**, Module*, const char*) = nullptr;
  Result (*get_global)(Pointer*, std::size_t*, Module*, const char*) = nullptr;
  Result (*set_attribute)(Function*, int, int) = nullptr;
  Result (*allocate)(Pointer*, std::size_t) = nullptr;
  Result (*to_device)(Pointer, const void*, std::size_t) = nullptr;
  Result (*to_host)(void*, Pointer, std::size_t) = nullptr;
  Result (*set_bytes)(Pointer, unsigned char, std::size_t) = nullptr;
  Result (*start_profiler)() = nullptr;
  Result (*stop_profiler)() = nullptr;
  Result (*launch)(Function*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   Stream*, void**, void**) = nullptr;

 private:
  template <class Call>
  void load(Call& call, const char* name) {
    call = reinterpret_cast<Call>(dlsym(library_, name));
    if (call == nullptr)
      fail(Errc::unsupported, "CUDA", std::string("libcuda.so.1 has no ") + name);
  }

  void* library_ = nullptr;
};

// A kernel that the driver ended: nothing runs after it.
struct Ended : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The calls of one folder. What it allocates ends with the process.
class Replay {
 public:
  explicit Replay(const std::filesystem::path& folder) : folder_(folder) {}

  // What differs; empty: nothing. Throws Error for what cannot be run, Ended.
  std::string run(const Recording& recording) {
    open(recording.device);
    buffers_.clear();
    for (Allocation& one : allocations_) one.taken = false;
    for (const RecordedBuffer& one : recording.buffers) buffers_.push_back(holding(one));
    std::size_t next = 0;
    const std::vector<Chosen> chosen = worth_profiling(recording);
    for (std::size_t i = 0; i < recording.launches.size(); ++i) {
      const bool shown = next < chosen.size() && chosen[next].launch == i;
      if (shown) ++next;
      launch(recording.launches[i], shown);
    }
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      const RecordedBuffer& one = recording.buffers[i];
      Allocation& allocation = allocations_[buffers_[i]];
      if (found_.size() < one.bytes) found_.resize(one.bytes);
      cuda_.check(cuda_.to_host(found_.data(), allocation.pointer, one.bytes), "cuMemcpyDtoH");
      const std::string different = difference(i, one);
      if (!different.empty()) return different;
      allocation.content = one.after;
    }
    return {};
  }

 private:
  // Device memory, which later calls use again.
  struct Allocation {
    Pointer pointer = 0;
    std::size_t bytes = 0;
    std::string content;  // empty: anything
    bool taken = false;
  };

  void open(const std::string& address) {
    if (context_ != nullptr) return;
    cuda_.check(cuda_.init(0), "cuInit");
    Device device = 0;
    if (address.empty() || cuda_.device_by_address(&device, address.c_str()) != 0) {
      int count = 0;
      cuda_.check(cuda_.device_count(&count), "cuDeviceGetCount");
      if (count != 1)
        fail(Errc::unsupported, "CUDA",
             text("has ", count, " devices, none of which has the address '", address, "'"));
      cuda_.check(cuda_.device_get(&device, 0), "cuDeviceGet");
    }
    cuda_.check(cuda_.retain_context(&context_, device), "cuDevicePrimaryCtxRetain");
    cuda_.check(cuda_.set_context(context_), "cuCtxSetCurrent");
  }

  // Memory with the content that a buffer has before the call. Returns its place in allocations_.
  std::size_t holding(const RecordedBuffer& one) {
    std::size_t at = allocations_.size();
    for (std::size_t i = 0; i < allocations_.size(); ++i) {
      const Allocation& other = allocations_[i];
      if (other.taken || other.bytes != one.bytes) continue;
      if (at == allocations_.size() || other.content == one.before) at = i;
    }
    if (at == allocations_.size()) {
      Allocation fresh;
      fresh.bytes = one.bytes;
      cuda_.check(cuda_.allocate(&fresh.pointer, one.bytes),
                  text("cuMemAlloc of ", one.bytes, " bytes"));
      allocations_.push_back(fresh);
    }
    Allocation& mine = allocations_[at];
    mine.taken = true;
    if (mine.content != one.before) {
      const int fill = fill_of(one.before);
      if (fill >= 0) {
        cuda_.check(cuda_.set_bytes(mine.pointer, static_cast<unsigned char>(fill), one.bytes),
                    "cuMemsetD8");
      } else {
        const Mapped content(folder_ / one.before);
        if (content.size() != one.bytes)
          fail(Errc::io, one.before, text("has ", content.size(), " bytes, not ", one.bytes));
        cuda_.check(cuda_.to_device(mine.pointer, content.data(), one.bytes), "cuMemcpyHtoD");
      }
    }
    mine.content.clear();  // kernels write to it
    return at;
  }

  // `shown`: to the profiler.
  void launch(const RecordedLaunch& one, bool shown) {
    constexpr std::size_t kMostGroups[] = {0x7fffffff, 65535, 65535};
    unsigned grid[3];
    unsigned block[3];
    for (std::size_t d = 0; d < 3; ++d) {
      const std::size_t groups = one.launch.global[d] / one.launch.local[d];
      if (groups > kMostGroups[d])
        fail(Errc::unsupported, "CUDA",
             text("launches at most ", kMostGroups[d], " groups in dimension ", d, ", not ",
                  groups));
      grid[d] = static_cast<unsigned>(groups);
      block[d] = static_cast<unsigned>(one.launch.local[d]);
    }
    std::vector<PtxNeed> needs;
    for (const Argument& argument : one.arguments) {
      const bool local = argument.kind == Argument::Kind::local;
      needs.push_back({local ? argument.local : argument.bytes, local});
    }
    const CudaKernel& kernel = kernel_of(one, needs);
    Module* const program = module_of(kernel.text);
    Function* function = nullptr;
    cuda_.check(cuda_.get_function(&function, program, one.kernel.c_str()), "cuModuleGetFunction");
    if (kernel.shared_bytes > kUsualShared)
      cuda_.check(
          cuda_.set_attribute(function, kMaxDynamicShared, static_cast<int>(kernel.shared_bytes)),
          text("cuFuncSetAttribute to ", kernel.shared_bytes, " bytes of shared memory"));
    std::vector<std::vector<unsigned char>> values;
    for (std::size_t i = 0; i < one.arguments.size(); ++i)
      values.push_back(value_of(one.arguments[i], kernel, i, program));
    std::vector<void*> pointers;
    for (std::vector<unsigned char>& value : values) pointers.push_back(value.data());
    cuda_.check(cuda_.synchronize(), "cuCtxSynchronize");
    if (shown) cuda_.check(cuda_.start_profiler(), "cuProfilerStart");
    cuda_.check(
        cuda_.launch(function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                     static_cast<unsigned>(kernel.shared_bytes), nullptr, pointers.data(), nullptr),
        "cuLaunchKernel of " + one.kernel);
    const Result ended = cuda_.synchronize();
    if (ended != 0) throw Ended("the driver ended " + one.kernel + ": " + cuda_.name_of(ended));
    if (shown) cuda_.check(cuda_.stop_profiler(), "cuProfilerStop");
  }

  // The changed text, which launches with equal needs share.
  const CudaKernel& kernel_of(const RecordedLaunch& one, const std::vector<PtxNeed>& needs) {
    std::string key = one.program + " " + one.kernel;
    for (const PtxNeed& need : needs) key += text(" ", need.bytes, need.local ? " local" : "");
    const auto found = kernels_.find(key);
    if (found != kernels_.end()) return found->second;
    const Mapped binary(folder_ / one.program);
    const std::string ptx(reinterpret_cast<const char*>(binary.data()), binary.size());
    return kernels_.emplace(key, cuda_kernel(ptx, one.kernel, needs)).first->second;
  }

  // The bytes of a parameter.
  std::vector<unsigned char> value_of(const Argument& argument, const CudaKernel& kernel,
                                      std::size_t i, Module* program) {
    const PtxParameter& parameter = kernel.parameters[i];
    const auto wrong = [&](const char* what) {
      fail(Errc::unsupported, "CUDA",
           text("argument ", i, " is ", what, ", its parameter is one of ", parameter.bytes,
                " bytes", parameter.space.empty() ? "" : " to " + parameter.space, " memory"));
    };
    std::vector<unsigned char> value(parameter.bytes, 0);
    switch (argument.kind) {
      case Argument::Kind::value:
        if (!parameter.space.empty() || argument.value.size() != parameter.bytes) wrong("a value");
        value = argument.value;
        break;
      case Argument::Kind::local:
        break;
      case Argument::Kind::buffer: {
        const Pointer pointer = allocations_[buffers_[argument.buffer]].pointer + argument.offset;
        if (parameter.space == "const") {
          Pointer constants = 0;
          std::size_t bytes = 0;
          cuda_.check(cuda_.get_global(&constants, &bytes, program, kConstants),
                      "cuModuleGetGlobal");
          std::vector<unsigned char> content(argument.bytes);
          cuda_.check(cuda_.to_host(content.data(), pointer, content.size()), "cuMemcpyDtoH");
          cuda_.check(
              cuda_.to_device(constants + kernel.constants[i], content.data(), content.size()),
              "cuMemcpyHtoD");
        } else if (parameter.bytes != sizeof pointer || parameter.space == "shared") {
          wrong("a buffer");
        } else {
          std::memcpy(value.data(), &pointer, sizeof pointer);
        }
        break;
      }
    }
    return value;
  }

  // Launches of equal text share a module.
  Module* module_of(const std::string& ptx) {
    Module*& loaded = modules_[ptx];
    if (loaded != nullptr) return loaded;
    std::vector<char> log(8192, '\0');
    int options[] = {kErrorLog, kErrorLogBytes};
    void* values[] = {log.data(), reinterpret_cast<void*>(static_cast<std::uintptr_t>(log.size()))};
    const Result result = cuda_.load_module(&loaded, ptx.c_str(), 2, options, values);
    std::string said = log.data();
    std::replace(said.begin(), said.end(), '\n', ' ');
    cuda_.check(result, "its PTX does not load: " + said + "cuModuleLoadDataEx");
    return loaded;
  }

  // How what was found in a buffer after the call differs from what it held under OpenCL.
  std::string difference(std::size_t buffer, const RecordedBuffer& one) const {
    const int fill = fill_of(one.after);
    const std::unique_ptr<Mapped> content =
        fill < 0 ? std::make_unique<Mapped>(folder_ / one.after) : nullptr;
    if (content && content->size() != one.bytes)
      fail(Errc::io, one.after, text("has ", content->size(), " bytes, not ", one.bytes));
    if (content && std::memcmp(content->data(), found_.data(), one.bytes) == 0) return {};
    const auto wanted = [&](std::size_t i) {
      return content ? content->data()[i] : static_cast<unsigned char>(fill);
    };
    std::size_t first = one.bytes;
    std::size_t count = 0;
    for (std::size_t i = 0; i < one.bytes; ++i) {
      if (wanted(i) == found_[i]) continue;
      first = std::min(first, i);
      ++count;
    }
    if (count == 0) return {};
    return text("another result than under OpenCL: ", count, " of ", one.bytes, " bytes of buffer ",
                buffer, ", the first is byte ", first, ", ", found_[first], " instead of ",
                wanted(first));
  }

  std::filesystem::path folder_;
  Cuda cuda_;
  Context* context_ = nullptr;
  std::vector<Allocation> allocations_;
  std::vector<std::size_t> buffers_;  // of the call, places in allocations_
  std::vector<unsigned char> found_;  // what was read back last
  std::map<std::string, CudaKernel> kernels_;
  std::map<std::string, Module*> modules_;
};

}  // namespace

void replay(const std::filesystem::path& folder, const std::vector<std::string>& names) {
  const auto leave = [&](const std::string& name, const std::string& verdict) {
    io::write_file(folder / (name + ".verdict"), verdict);
  };
  std::unique_ptr<Replay> all;
  for (const std::string& name : names) {
    try {
      if (!all) all = std::make_unique<Replay>(folder);
      leave(name, all->run(read_recording(folder, name)));
    } catch (const Ended& ended) {
      leave(name, ended.what());
      return;
    } catch (const Error& error) {
      leave(name, error.what());
    }
  }
}

std::string lack_of_cuda() {
  try {
    const Cuda cuda;
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace clcook::counters
