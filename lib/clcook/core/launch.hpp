// Launch geometry and kernels.
//
//   const clcook::Source source("twice.cl",
//                               "__kernel void twice(__global float* x, int n) {\n"
//                               "  if ((int)get_global_id(0) < n) x[get_global_id(0)] *= 2.0f;\n"
//                               "}\n");
//   const cl::Program program = runtime.build(source, clcook::Defines(), "twice");
//   const cl::Buffer x = clcook::create_buffer(runtime, 1000 * sizeof(float));
//   clcook::Kernel twice(runtime, program, "twice");
//   const clcook::Launch launch = clcook::Launch::cover({1000, 1, 1}, {64, 1, 1});  // 16 groups
//   cl::Event done = twice(launch, {uploaded}, x, cl_int{1000});
#pragma once

#include <array>
#include <clcook/core/error.hpp>
#include <clcook/core/inline.hpp>
#include <clcook/core/quirks.hpp>
#include <clcook/core/runtime.hpp>
#include <cstddef>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace clcook {

// Global and local work size. The global size is always a multiple of the local size: kernels guard
// the excess themselves, because non-uniform work-groups fail on OpenCL 1.2 and on PoCL.
struct Launch {
  cl_uint dims = 1;
  std::array<std::size_t, 3> global{1, 1, 1};
  std::array<std::size_t, 3> local{1, 1, 1};

  using Sizes = std::array<std::size_t, 3>;

  // As many groups as given in each dimension.
  static Launch groups(const Sizes& counts, const Sizes& local_size);

  // Enough groups to cover the given number of work-items in each dimension.
  static Launch cover(const Sizes& items, const Sizes& local_size);

  // The same in one dimension.
  static Launch cover(std::size_t items, int group);

  std::size_t group_size() const { return local[0] * local[1] * local[2]; }
};

// A __local kernel argument of this many bytes.
struct LocalBytes {
  std::size_t bytes;
};

// Throws Error(invalid_argument) if an event is null or of another context: not every
// implementation notices that. `where` names the operation.
CLCOOK_INLINE void check_wait(const Runtime& runtime, const std::vector<cl::Event>& wait,
                              const std::string& where);

// Flushes the event's queue and waits until its command has ended. Throws Error(opencl) with the
// command's own code where it failed, Error(invalid_argument) for a null event. On a CPU the thread asks
// for 200 us before it sleeps: to be woken takes as long there as a small picture. Thread-safe.
CLCOOK_INLINE void wait_for(const cl::Event& event);

// An argument of a launch, as clSetKernelArg() takes it.
struct LaunchArgument {
  enum class Kind { value, memory, sampler, local };
  Kind kind = Kind::value;
  std::size_t bytes = 0;
  const void* value = nullptr;  // memory: of a cl_mem; local: null
};

// A kernel with its launch checks. Make one per call and thread: argument setting is not
// thread-safe, and creating a kernel costs less than a microsecond.
class Kernel {
 public:
  Kernel(Runtime runtime, const cl::Program& program, std::string name);

  const Runtime& runtime() const { return runtime_; }
  const std::string& name() const { return name_; }
  const cl::Kernel& handle() const { return kernel_; }

  // The largest work-group that this kernel can have on the device.
  std::size_t max_group() const { return group_info<std::size_t>(CL_KERNEL_WORK_GROUP_SIZE); }
  // Bytes of local memory that the kernel's own variables take.
  std::size_t static_local() const { return static_local_; }

  // Checks the launch against the limits of kernel and device. Throws Error(unsupported) that names
  // limit and value.
  void check_launch(const Launch& launch, std::size_t dynamic_local_bytes = 0) const;

  // Sets the arguments and enqueues. Arguments: cl::Buffer, cl::Image..., LocalBytes, or trivially
  // copyable values of the very type that the kernel declares (cl_int, cl_ulong, cl_float4, ...).
  // Returns the kernel's event.
  template <class... Args>
  cl::Event operator()(const Launch& launch, const std::vector<cl::Event>& wait,
                       const Args&... args) {
    const Argument arguments[] = {argument(args)..., Argument{}};
    return enqueue(launch, wait, arguments, sizeof...(Args));
  }

 private:
  using Argument = LaunchArgument;

  template <class T>
  T group_info(cl_kernel_work_group_info what) const {
    T value{};
    check(clGetKernelWorkGroupInfo(kernel_(), runtime_.device()(), what, sizeof value, &value,
                                   nullptr),
          "clGetKernelWorkGroupInfo");
    return value;
  }

  template <class T>
  static Argument argument(const T& value) {
    if constexpr (std::is_same_v<T, LocalBytes>) {
      return {Argument::Kind::local, value.bytes, nullptr};
    } else if constexpr (std::is_base_of_v<cl::Memory, T>) {
      return {Argument::Kind::memory, sizeof(cl_mem), &value()};
    } else if constexpr (std::is_same_v<T, cl::Sampler>) {
      return {Argument::Kind::sampler, sizeof(cl_sampler), &value()};
    } else {
      static_assert(std::is_trivially_copyable_v<T>,
                    "a kernel argument must be trivially copyable");
      return {Argument::Kind::value, sizeof value, &value};
    }
  }

  cl::Event enqueue(const Launch& launch, const std::vector<cl::Event>& wait,
                    const Argument* arguments, std::size_t count);

  Runtime runtime_;
  std::string name_;
  cl::Kernel kernel_;
  std::size_t static_local_ = 0;
};

}  // namespace clcook

#if CLCOOK_DEFINITIONS
#include <clcook/core/impl/launch.hpp>
#endif
