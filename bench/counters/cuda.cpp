#include "counters/cuda.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
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
    load(launch, "cuLaunchKernel");
  }
  Cuda(const Cuda&) = delete;
  Cuda& operator=(const Cuda&) = delete;
  // The library stays: drivers do not like to be unloaded.
  ~Cuda() = default;

  void check(Result result, const std::string& where) const {
    if (result == 0) return;
    const char* name = nullptr;
    if (error_name(result, &name) != 0 || name == nullptr) name = "an unknown error";
    fail(Errc::unsupported, where, text(name, " (", result, ")"));
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

// One replayed recording. What it allocates ends with the process.
class Replay {
 public:
  explicit Replay(const std::filesystem::path& folder)
      : folder_(folder), recording_(read_recording(folder)) {
    cuda_.check(cuda_.init(0), "cuInit");
    Device device = 0;
    if (recording_.device.empty() ||
        cuda_.device_by_address(&device, recording_.device.c_str()) != 0) {
      int count = 0;
      cuda_.check(cuda_.device_count(&count), "cuDeviceGetCount");
      if (count != 1)
        fail(Errc::unsupported, "CUDA",
             text("has ", count, " devices, none of which has the address '", recording_.device,
                  "'"));
      cuda_.check(cuda_.device_get(&device, 0), "cuDeviceGet");
    }
    Context* context = nullptr;
    cuda_.check(cuda_.retain_context(&context, device), "cuDevicePrimaryCtxRetain");
    cuda_.check(cuda_.set_context(context), "cuCtxSetCurrent");
    for (const std::size_t bytes : recording_.buffers) {
      cuda_.check(cuda_.allocate(&buffers_.emplace_back(), std::max<std::size_t>(bytes, 1)),
                  text("cuMemAlloc of ", bytes, " bytes"));
    }
    held_.resize(buffers_.size());
  }

  // What differs; empty: nothing.
  std::string run() {
    for (std::size_t i = 0; i < recording_.launches.size(); ++i) {
      const RecordedLaunch& one = recording_.launches[i];
      const std::string where = text("launch ", i + 1, " (", one.kernel, ")");
      std::string problem;
      try {
        problem = run(one);
      } catch (const Error& error) {
        problem = error.what();
      }
      if (!problem.empty()) return where + ": " + problem;
    }
    return {};
  }

 private:
  std::string run(const RecordedLaunch& one) {
    for (const Content& content : one.contents) {
      if (held_[content.buffer] == content.before) continue;
      const std::vector<unsigned char> bytes = read_bytes(folder_ / content.before);
      cuda_.check(cuda_.to_device(buffers_[content.buffer], bytes.data(), bytes.size()),
                  "cuMemcpyHtoD");
    }
    launch(one);
    for (const Content& content : one.contents) {
      const std::vector<unsigned char> wanted = read_bytes(folder_ / content.after);
      std::vector<unsigned char> found(wanted.size());
      cuda_.check(cuda_.to_host(found.data(), buffers_[content.buffer], found.size()),
                  "cuMemcpyDtoH");
      if (wanted != found) return difference(one, content.buffer, wanted, found);
      held_[content.buffer] = content.after;
    }
    return {};
  }

  void launch(const RecordedLaunch& one) {
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
    const std::vector<unsigned char> binary = read_bytes(folder_ / one.program);
    const CudaKernel kernel =
        cuda_kernel(std::string(binary.begin(), binary.end()), one.kernel, needs);
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
    cuda_.check(
        cuda_.launch(function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                     static_cast<unsigned>(kernel.shared_bytes), nullptr, pointers.data(), nullptr),
        "cuLaunchKernel");
    cuda_.check(cuda_.synchronize(), "the kernel");
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
        const Pointer pointer = buffers_[argument.buffer] + argument.offset;
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

  std::string difference(const RecordedLaunch& one, std::size_t buffer,
                         const std::vector<unsigned char>& wanted,
                         const std::vector<unsigned char>& found) const {
    std::size_t first = wanted.size();
    std::size_t count = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i] == found[i]) continue;
      first = std::min(first, i);
      ++count;
    }
    std::size_t argument = 0;
    while (argument < one.arguments.size() &&
           (one.arguments[argument].kind != Argument::Kind::buffer ||
            one.arguments[argument].buffer != buffer))
      ++argument;
    return text("leaves another result than under OpenCL: ", count, " of ", wanted.size(),
                " bytes of argument ", argument, ", the first is byte ", first, ", ", found[first],
                " instead of ", wanted[first]);
  }

  std::filesystem::path folder_;
  Recording recording_;
  Cuda cuda_;
  std::vector<Pointer> buffers_;
  std::vector<std::string> held_;  // the file with what each buffer holds, empty: something else
  std::map<std::string, Module*> modules_;
};

}  // namespace

std::string replay(const std::filesystem::path& folder) {
  try {
    return Replay(folder).run();
  } catch (const Error& error) {
    return error.what();
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
