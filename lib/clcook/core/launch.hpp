// Launch geometry and kernels.
#pragma once

#include <array>
#include <clcook/core/error.hpp>
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
  static Launch groups(const Sizes& counts, const Sizes& local_size) {
    Launch launch;
    for (std::size_t d = 0; d < 3; ++d) {
      if (counts[d] == 0 || local_size[d] == 0) {
        fail(Errc::invalid_argument, "Launch",
             text("dimension ", d, " has ", counts[d], " work-groups of ", local_size[d],
                  " work-items; both must be at least 1"));
      }
      if (counts[d] > std::numeric_limits<std::size_t>::max() / local_size[d]) {
        fail(Errc::invalid_argument, "Launch",
             text("dimension ", d, ": ", counts[d], " work-groups of ", local_size[d],
                  " work-items overflow the global size"));
      }
      launch.global[d] = counts[d] * local_size[d];
      launch.local[d] = local_size[d];
      if (launch.global[d] > 1) launch.dims = static_cast<cl_uint>(d + 1);
    }
    return launch;
  }

  // Enough groups to cover the given number of work-items in each dimension.
  static Launch cover(const Sizes& items, const Sizes& local_size) {
    Sizes counts{};
    for (std::size_t d = 0; d < 3; ++d) {
      counts[d] = local_size[d] == 0
                      ? 0
                      : items[d] / local_size[d] + (items[d] % local_size[d] != 0 ? 1 : 0);
    }
    return groups(counts, local_size);
  }

  std::size_t group_size() const { return local[0] * local[1] * local[2]; }
};

// A __local kernel argument of this many bytes.
struct LocalBytes {
  std::size_t bytes;
};

// Throws Error(invalid_argument) where an event is null; `where` names the operation.
inline void check_wait(const std::vector<cl::Event>& wait, const std::string& where) {
  for (std::size_t i = 0; i < wait.size(); ++i) {
    if (wait[i]() == nullptr)
      fail(Errc::invalid_argument, where, text("entry ", i, " of the wait list is a null event"));
  }
}

// The events of `wait`, and `last` unless it is null or over: for plans whose commands share
// memory.
inline std::vector<cl::Event> chained(std::vector<cl::Event> wait, const cl::Event& last) {
  if (last() == nullptr) return wait;
  cl_int status = CL_COMPLETE;
  check(clGetEventInfo(last(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr),
        "clGetEventInfo");
  if (status > CL_COMPLETE) wait.push_back(last);
  return wait;
}

// A kernel with its launch checks. Make one per call and thread: argument setting is not
// thread-safe, and creating a kernel costs less than a microsecond.
class Kernel {
 public:
  Kernel(Runtime runtime, const cl::Program& program, std::string name)
      : runtime_(std::move(runtime)), name_(std::move(name)) {
    cl_int status = CL_SUCCESS;
    kernel_ = cl::Kernel(clCreateKernel(program(), name_.c_str(), &status));
    if (status == CL_INVALID_KERNEL_NAME)
      fail(Errc::invalid_argument, "Kernel", "the program has no kernel '" + name_ + "'", status);
    check(status, "clCreateKernel");
    // Read while no argument is set: some implementations add __local arguments to it.
    static_local_ = static_cast<std::size_t>(group_info<cl_ulong>(CL_KERNEL_LOCAL_MEM_SIZE));
    // NVIDIA's driver says 1 for a kernel without local variables.
    if (static_local_ == 1) static_local_ = 0;
  }

  const std::string& name() const { return name_; }
  const cl::Kernel& handle() const { return kernel_; }

  // The largest work-group that this kernel can have on the device.
  std::size_t max_group() const { return group_info<std::size_t>(CL_KERNEL_WORK_GROUP_SIZE); }
  // Bytes of local memory that the kernel's own variables take.
  std::size_t static_local() const { return static_local_; }

  // Checks the launch against the limits of kernel and device. Throws Error(unsupported) that names
  // limit and value.
  void check_launch(const Launch& launch, std::size_t dynamic_local_bytes = 0) const {
    const DeviceInfo& info = runtime_.info();
    for (std::size_t d = 0; d < 3; ++d) {
      if (launch.local[d] > info.max_items[d]) {
        fail(Errc::unsupported, name_,
             text("work-group dimension ", d, " of ", launch.local[d],
                  " exceeds the device's limit of ", info.max_items[d]));
      }
    }
    const auto required = group_info<Launch::Sizes>(CL_KERNEL_COMPILE_WORK_GROUP_SIZE);
    if (required[0] != 0) {
      if (required != launch.local) {
        fail(Errc::invalid_argument, name_,
             text("the kernel was compiled for work-groups of ", required[0], " x ", required[1],
                  " x ", required[2], " work-items, got ", launch.local[0], " x ", launch.local[1],
                  " x ", launch.local[2]));
      }
      // The compiler has made it fit. NVIDIA's driver reports a limit of 256 even for kernels that
      // were compiled for 1024 and run with 1024, so only the device's own limit counts here.
      if (launch.group_size() > info.max_group) {
        fail(Errc::unsupported, name_,
             text("a work-group of ", launch.group_size(),
                  " work-items exceeds the device's limit of ", info.max_group, " on ", info.name));
      }
    } else if (const std::size_t limit = max_group(); launch.group_size() > limit) {
      fail(Errc::unsupported, name_,
           text("a work-group of ", launch.group_size(),
                " work-items exceeds the kernel's limit of ", limit, " on ", info.name));
    }
    if (static_local_ > info.local_mem || dynamic_local_bytes > info.local_mem - static_local_) {
      fail(Errc::unsupported, name_,
           text(static_local_, " + ", dynamic_local_bytes,
                " bytes of local memory exceed the device's limit of ", info.local_mem,
                " bytes on ", info.name));
    }
  }

  // Sets the arguments and enqueues. Arguments: cl::Buffer, cl::Image..., LocalBytes, or trivially
  // copyable values of the very type that the kernel declares (cl_int, cl_ulong, cl_float4, ...).
  // Returns the kernel's event.
  template <class... Args>
  cl::Event operator()(const Launch& launch, const std::vector<cl::Event>& wait,
                       const Args&... args) {
    cl_uint declared = 0;
    check(clGetKernelInfo(kernel_(), CL_KERNEL_NUM_ARGS, sizeof declared, &declared, nullptr),
          "clGetKernelInfo");
    if (declared != sizeof...(Args)) {
      fail(Errc::invalid_argument, name_,
           text("the kernel takes ", declared, " arguments, got ", sizeof...(Args)));
    }
    std::size_t local_bytes = 0;
    ((local_bytes = add_saturated(local_bytes, local_bytes_of(args))), ...);
    check_launch(launch, local_bytes);
    cl_uint index = 0;
    (set(index++, args), ...);
    check_wait(wait, name_);
    std::vector<cl_event> waits;
    for (const cl::Event& event : wait) waits.push_back(event());
    cl_event done = nullptr;
    const cl_int status = clEnqueueNDRangeKernel(runtime_.queue()(), kernel_(), launch.dims,
                                                 nullptr, launch.global.data(), launch.local.data(),
                                                 static_cast<cl_uint>(waits.size()),
                                                 waits.empty() ? nullptr : waits.data(), &done);
    if (status == CL_INVALID_WORK_GROUP_SIZE || status == CL_OUT_OF_RESOURCES) {
      fail(Errc::unsupported, name_,
           text(status_name(status), ": the device cannot run a work-group of ",
                launch.group_size(), " work-items of this kernel"),
           status);
    }
    check(status, text("clEnqueueNDRangeKernel of ", name_, " with global size ", launch.global[0],
                       " x ", launch.global[1], " x ", launch.global[2], " and local size ",
                       launch.local[0], " x ", launch.local[1], " x ", launch.local[2]));
    cl::Event event(done);
    runtime_.observe(name_, event);
    return event;
  }

 private:
  template <class T>
  T group_info(cl_kernel_work_group_info what) const {
    T value{};
    check(clGetKernelWorkGroupInfo(kernel_(), runtime_.device()(), what, sizeof value, &value,
                                   nullptr),
          "clGetKernelWorkGroupInfo");
    return value;
  }

  template <class T>
  static std::size_t local_bytes_of(const T& value) {
    if constexpr (std::is_same_v<T, LocalBytes>) return value.bytes;
    return 0;
  }

  static std::size_t add_saturated(std::size_t a, std::size_t b) {
    return a > std::numeric_limits<std::size_t>::max() - b ? std::numeric_limits<std::size_t>::max()
                                                           : a + b;
  }

  template <class T>
  void set(cl_uint index, const T& value) {
    cl_int status = CL_SUCCESS;
    if constexpr (std::is_same_v<T, LocalBytes>) {
      status = clSetKernelArg(kernel_(), index, value.bytes, nullptr);
    } else if constexpr (std::is_base_of_v<cl::Memory, T>) {
      const cl_mem memory = value();
      status = clSetKernelArg(kernel_(), index, sizeof memory, &memory);
    } else if constexpr (std::is_same_v<T, cl::Sampler>) {
      const cl_sampler sampler = value();
      status = clSetKernelArg(kernel_(), index, sizeof sampler, &sampler);
    } else {
      static_assert(std::is_trivially_copyable_v<T>,
                    "a kernel argument must be trivially copyable");
      status = clSetKernelArg(kernel_(), index, sizeof value, &value);
    }
    if (status != CL_SUCCESS)
      check(status, text("clSetKernelArg of ", name_, ", argument ", index));
  }

  Runtime runtime_;
  std::string name_;
  cl::Kernel kernel_;
  std::size_t static_local_ = 0;
};

}  // namespace clcook
