// The definitions of clcook/core/launch.hpp.
#pragma once

#include <clcook/core/impl/wait.hpp>
#include <clcook/core/launch.hpp>

namespace clcook {

CLCOOK_INLINE Launch Launch::groups(const Sizes& counts, const Sizes& local_size) {
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

CLCOOK_INLINE Launch Launch::cover(const Sizes& items, const Sizes& local_size) {
  Sizes counts{};
  for (std::size_t d = 0; d < 3; ++d) {
    counts[d] =
        local_size[d] == 0 ? 0 : items[d] / local_size[d] + (items[d] % local_size[d] != 0 ? 1 : 0);
  }
  return groups(counts, local_size);
}

CLCOOK_INLINE Launch Launch::cover(std::size_t items, int group) {
  return cover({items, 1, 1}, {static_cast<std::size_t>(group), 1, 1});
}

CLCOOK_INLINE void check_wait(const Runtime& runtime, const std::vector<cl::Event>& wait,
                              const std::string& where) {
  for (std::size_t i = 0; i < wait.size(); ++i) {
    if (wait[i]() == nullptr)
      fail(Errc::invalid_argument, where, text("entry ", i, " of the wait list is a null event"));
    cl_context context = nullptr;
    check(clGetEventInfo(wait[i](), CL_EVENT_CONTEXT, sizeof context, &context, nullptr),
          "clGetEventInfo");
    if (context != runtime.context()()) {
      fail(Errc::invalid_argument, where,
           text("entry ", i, " of the wait list is an event of another context"));
    }
  }
}

CLCOOK_INLINE void wait_for(const cl::Event& event) {
  const cl_event handle = event();
  if (handle == nullptr) fail(Errc::invalid_argument, "wait_for", "the event is null");
  cl_command_queue queue = nullptr;
  check(clGetEventInfo(handle, CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue, nullptr),
        "clGetEventInfo");
  if (queue != nullptr) {  // a user's event has none
    check(clFlush(queue), "clFlush");
    cl_device_id device = nullptr;
    cl_device_type type = 0;
    check(clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, nullptr),
          "clGetCommandQueueInfo");
    check(clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, nullptr), "clGetDeviceInfo");
    if ((type & CL_DEVICE_TYPE_CPU) != 0) {
      detail::stay_awake([&] {
        cl_int status = CL_QUEUED;
        check(clGetEventInfo(handle, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status,
                             nullptr),
              "clGetEventInfo");
        return status <= CL_COMPLETE;
      });
    }
  }
  detail::wait_asleep(event);
}

CLCOOK_INLINE Kernel::Kernel(Runtime runtime, const cl::Program& program, std::string name)
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

CLCOOK_INLINE void Kernel::check_launch(const Launch& launch,
                                        std::size_t dynamic_local_bytes) const {
  const DeviceInfo& info = runtime_.info();
  for (std::size_t d = 0; d < 3; ++d) {
    if (launch.local[d] > info.max_items[d]) {
      unsupported(Lacks::work_group, name_,
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
      unsupported(
          Lacks::work_group, name_,
          text("a work-group of ", launch.group_size(),
               " work-items exceeds the device's limit of ", info.max_group, " on ", info.name));
    }
  } else if (const std::size_t limit = max_group(); launch.group_size() > limit) {
    unsupported(Lacks::kernel_limit, name_,
                text("a work-group of ", launch.group_size(),
                     " work-items exceeds the kernel's limit of ", limit, " on ", info.name));
  }
  const bool arrays_alone = dynamic_local_bytes == 0 && quirks::has_large_arrays(info);
  if (!arrays_alone &&
      (static_local_ > info.local_mem || dynamic_local_bytes > info.local_mem - static_local_)) {
    unsupported(Lacks::kernel_limit, name_,
                text(static_local_, " + ", dynamic_local_bytes,
                     " bytes of local memory exceed the device's limit of ", info.local_mem,
                     " bytes on ", info.name));
  }
}

CLCOOK_INLINE cl::Event Kernel::enqueue(const Launch& launch, const std::vector<cl::Event>& wait,
                                        const Argument* arguments, std::size_t count) {
  cl_uint declared = 0;
  check(clGetKernelInfo(kernel_(), CL_KERNEL_NUM_ARGS, sizeof declared, &declared, nullptr),
        "clGetKernelInfo");
  if (declared != count) {
    fail(Errc::invalid_argument, name_,
         text("the kernel takes ", declared, " arguments, got ", count));
  }
  std::size_t local_bytes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (arguments[i].value != nullptr) continue;
    const std::size_t left = std::numeric_limits<std::size_t>::max() - local_bytes;
    local_bytes += arguments[i].bytes < left ? arguments[i].bytes : left;
  }
  check_launch(launch, local_bytes);
  for (std::size_t i = 0; i < count; ++i) {
    const cl_int status =
        clSetKernelArg(kernel_(), static_cast<cl_uint>(i), arguments[i].bytes, arguments[i].value);
    if (status != CL_SUCCESS) check(status, text("clSetKernelArg of ", name_, ", argument ", i));
  }
  check_wait(runtime_, wait, name_);
  LaunchHook* const hook = runtime_.hook();
  if (hook != nullptr) hook->before(*this, launch, arguments, count);
  const WaitHandles waits(wait);
  cl_event done = nullptr;
  const cl_int status = clEnqueueNDRangeKernel(runtime_.queue()(), kernel_(), launch.dims, nullptr,
                                               launch.global.data(), launch.local.data(),
                                               waits.count(), waits.data(), &done);
  if (status == CL_INVALID_WORK_GROUP_SIZE || status == CL_OUT_OF_RESOURCES) {
    unsupported(Lacks::kernel_limit, name_,
                text(status_name(status), ": the device cannot run a work-group of ",
                     launch.group_size(), " work-items of this kernel"),
                status);
  }
  if (status != CL_SUCCESS) {
    check(status, text("clEnqueueNDRangeKernel of ", name_, " with global size ", launch.global[0],
                       " x ", launch.global[1], " x ", launch.global[2], " and local size ",
                       launch.local[0], " x ", launch.local[1], " x ", launch.local[2]));
  }
  cl::Event event(done);
  if (hook != nullptr) hook->after(name_, event);
  return event;
}

}  // namespace clcook
