// Runtime: one command queue, and what clcook needs around it.
#pragma once

#include <clcook/core/cache.hpp>
#include <clcook/core/defines.hpp>
#include <clcook/core/device.hpp>
#include <clcook/core/error.hpp>
#include <clcook/core/program.hpp>
#include <clcook/core/quirks.hpp>
#include <clcook/core/source.hpp>
#include <clcook/core/tuning.hpp>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clcook {

// Called after each kernel launch of an operation with the kernel's name and event, in the thread
// that enqueued it.
using LaunchObserver = std::function<void(const std::string& kernel, const cl::Event& event)>;

struct RuntimeOptions {
  DiskCache disk_cache = DiskCache::standard();
  LaunchObserver on_launch;  // for timing: an operation returns only its last event
};

struct PickOptions {
  bool profiling = false;     // event timestamps
  bool out_of_order = false;  // Error(unsupported) where the device has no such queue
  RuntimeOptions runtime;
};

// A command queue with its context, device and program cache: the handle that operations are made
// from.
//
// Cheap to copy: copies share one state. All const member functions may be called from several
// threads. Nothing in clcook finishes or flushes the queue, or changes the defaults of CLHPP.
class Runtime {
 public:
  // Wraps an existing queue, in-order or out-of-order.
  explicit Runtime(cl::CommandQueue queue, RuntimeOptions options = {}) {
    auto state = std::make_shared<State>(make_state(std::move(queue)));
    state->tuning =
        std::make_shared<Tuning>(Tuning::standard(Tuning::user_file(options.disk_cache.folder())));
    state->cache = std::make_shared<ProgramCache>(state->context, std::move(options.disk_cache));
    state->on_launch = std::move(options.on_launch);
    state_ = std::move(state);
  }

  // Chooses a device as pick_device() does and makes a context and a queue for it.
  static Runtime pick(std::string_view spec = {}, PickOptions options = {}) {
    const cl::Device device = pick_device(spec);
    const cl_device_id id = device();
    cl_int status = CL_SUCCESS;
    const cl::Context context(clCreateContext(nullptr, 1, &id, nullptr, nullptr, &status));
    check(status, "clCreateContext");
    cl_command_queue_properties properties = 0;
    if (options.profiling) properties |= CL_QUEUE_PROFILING_ENABLE;
    if (options.out_of_order) properties |= CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    cl::CommandQueue queue(detail::create_queue(context(), id, properties, &status));
    if (status == CL_INVALID_QUEUE_PROPERTIES) {
      fail(Errc::unsupported, "Runtime::pick", "the device has no out-of-order queue", status);
    }
    check(status, "clCreateCommandQueue");
    return Runtime(std::move(queue), std::move(options.runtime));
  }

  // The same program cache and observer with another queue of the same context.
  Runtime with_queue(cl::CommandQueue queue) const {
    auto state = std::make_shared<State>(make_state(std::move(queue)));
    if (state->context() != context()()) {
      fail(Errc::invalid_argument, "Runtime::with_queue", "the queue belongs to another context");
    }
    state->cache = state_->cache;
    state->tuning = state_->tuning;
    state->on_launch = state_->on_launch;
    return Runtime(std::shared_ptr<const State>(std::move(state)));
  }

  // The same queue and cache with another observer.
  Runtime with_observer(LaunchObserver observer) const {
    auto state = std::make_shared<State>(*state_);
    state->on_launch = std::move(observer);
    return Runtime(std::shared_ptr<const State>(std::move(state)));
  }

  const cl::CommandQueue& queue() const { return state_->queue; }
  const cl::Context& context() const { return state_->context; }
  const cl::Device& device() const { return state_->device; }
  const DeviceInfo& info() const { return state_->info; }
  const ProgramCache& cache() const { return *state_->cache; }
  const Tuning& tuning() const { return *state_->tuning; }

  // Builds a program or takes it from the cache. `what` names it in errors, such as
  // "line_blur/naive". The options are those of build_options() for the device.
  cl::Program build(const Source& source, const Defines& defines, const std::string& what,
                    const std::string& extra_options = {}) const {
    return state_->cache->get(device(), info(), source.flatten(),
                              build_options(info(), defines, extra_options), what);
  }

  // The option string that build() passes to the compiler of a device: its language level, unless
  // `extra_options` hold a -cl-std of their own, of which compilers take the first or the last; the
  // builtins that it knows; the definitions; and `extra_options`.
  static std::string build_options(const DeviceInfo& info, const Defines& defines,
                                   const std::string& extra_options = {}) {
    std::string options;
    const auto add = [&](const std::string& more) {
      if (!more.empty()) options += (options.empty() ? "" : " ") + more;
    };
    if ((" " + extra_options).find(" -cl-std=") == std::string::npos)
      add("-cl-std=" + info.language);
    if (quirks::knows_prefetch(info)) add("-DCLCOOK_BUILTIN_PREFETCH");
    add(defines.options());
    add(extra_options);
    return options;
  }

  void observe(const std::string& kernel, const cl::Event& event) const {
    if (state_->on_launch) state_->on_launch(kernel, event);
  }

 private:
  struct State {
    cl::CommandQueue queue;
    cl::Context context;
    cl::Device device;
    DeviceInfo info;
    std::shared_ptr<ProgramCache> cache;
    std::shared_ptr<const Tuning> tuning;
    LaunchObserver on_launch;
  };

  explicit Runtime(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  static State make_state(cl::CommandQueue queue) {
    if (queue() == nullptr) fail(Errc::invalid_argument, "Runtime", "the command queue is null");
    State state;
    cl_context context = nullptr;
    cl_device_id device = nullptr;
    check(clGetCommandQueueInfo(queue(), CL_QUEUE_CONTEXT, sizeof context, &context, nullptr),
          "clGetCommandQueueInfo");
    check(clGetCommandQueueInfo(queue(), CL_QUEUE_DEVICE, sizeof device, &device, nullptr),
          "clGetCommandQueueInfo");
    state.queue = std::move(queue);
    state.context = cl::Context(context, true);
    state.device = cl::Device(device, true);
    state.info = device_info(state.device);
    return state;
  }

  std::shared_ptr<const State> state_;
};

// Creates a buffer. Throws Error(out_of_resources) that names the size.
inline cl::Buffer create_buffer(const Runtime& runtime, std::size_t bytes,
                                cl_mem_flags flags = CL_MEM_READ_WRITE,
                                const void* host = nullptr) {
  cl_int status = CL_SUCCESS;
  cl::Buffer buffer(clCreateBuffer(runtime.context()(),
                                   flags | (host != nullptr ? CL_MEM_COPY_HOST_PTR : 0), bytes,
                                   const_cast<void*>(host), &status));
  if (status == CL_INVALID_BUFFER_SIZE || status == CL_MEM_OBJECT_ALLOCATION_FAILURE ||
      status == CL_OUT_OF_RESOURCES) {
    fail(Errc::out_of_resources, "clCreateBuffer",
         text(status_name(status), ": cannot allocate ", bytes,
              " bytes; the device's largest allocation is ", runtime.info().max_allocation,
              " bytes"),
         status);
  }
  check(status, "clCreateBuffer");
  return buffer;
}

}  // namespace clcook
