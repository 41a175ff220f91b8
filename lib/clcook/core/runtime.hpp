// Runtime: one command queue, and what clcook needs around it.
//
//   const clcook::Runtime picked = clcook::Runtime::pick();  // or pick("gpu")
//   const clcook::Runtime yours{picked.queue()};             // of a queue that you have:
//   const clcook::Runtime also{picked.queue()()};            // cl::CommandQueue, cl_command_queue
//   const cl::Buffer floats = clcook::create_buffer(yours, 1024 * sizeof(float));
#pragma once

#include <clcook/core/cache.hpp>
#include <clcook/core/defines.hpp>
#include <clcook/core/device.hpp>
#include <clcook/core/error.hpp>
#include <clcook/core/inline.hpp>
#include <clcook/core/program.hpp>
#include <clcook/core/quirks.hpp>
#include <clcook/core/source.hpp>
#include <clcook/core/tuning.hpp>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clcook {

// Called for each kernel launch of an operation with the kernel's name and event, in the thread
// that enqueued it, in the order of the launches. The call comes after the launch; if launches of
// an operation's call share memory, after the last of them. It may use operations, even the same
// plan. What it throws goes to the caller of the operation, whose event is then lost; what is
// enqueued stays enqueued.
using LaunchObserver = std::function<void(const std::string& kernel, const cl::Event& event)>;

class Kernel;
struct Launch;
struct LaunchArgument;

// Sees the launches of all kernels made with one runtime, in the threads that enqueue them: see
// Runtime::with_hook(). What it throws goes to the caller of the operation.
class LaunchHook {
 public:
  LaunchHook() = default;
  LaunchHook(const LaunchHook&) = delete;
  LaunchHook& operator=(const LaunchHook&) = delete;
  virtual ~LaunchHook() = default;

  // Just before a launch is enqueued, with its `count` arguments. A local size of 0 is left to the
  // device. No launch if it throws.
  virtual void before(const Kernel& kernel, const Launch& launch, const LaunchArgument* arguments,
                      std::size_t count) = 0;
  // When a LaunchObserver is called.
  virtual void after(const std::string& kernel, const cl::Event& event) = 0;
};

struct RuntimeOptions {
  // Default: DiskCache::standard(), and none where the implementation keeps programs itself, as PoCL.
  std::optional<DiskCache> disk_cache;
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
  explicit Runtime(cl::CommandQueue queue, RuntimeOptions options = {});

  // The same for a handle of the C API. It stays the caller's: the runtime retains its own
  // reference.
  explicit Runtime(cl_command_queue queue, RuntimeOptions options = {})
      : Runtime(retained(queue), std::move(options)) {}

  // A move is a copy, which leaves no runtime without a queue.
  Runtime(const Runtime&) = default;
  Runtime& operator=(const Runtime&) = default;

  // Chooses a device as pick_device() does and makes a context and a queue for it.
  static Runtime pick(std::string_view spec = {}, PickOptions options = {});

  // This one, and then one for every other usable device of its platform and kind, each with a
  // context of its own: for a StripPipeline.
  std::vector<Runtime> with_others(const PickOptions& options = {}) const;

  // The same program cache and observer with another queue of the same context.
  Runtime with_queue(cl::CommandQueue queue) const;
  Runtime with_queue(cl_command_queue queue) const { return with_queue(retained(queue)); }

  // The same queue and cache with another observer.
  Runtime with_observer(LaunchObserver observer) const;
  // The same with a hook instead of the observer. It must outlive all that is made with the runtime.
  // Costs as much as a copy.
  Runtime with_hook(LaunchHook& hook) const { return Runtime(state_, &hook); }

  const cl::CommandQueue& queue() const { return state_->queue; }
  const cl::Context& context() const { return state_->context; }
  const cl::Device& device() const { return state_->device; }
  const DeviceInfo& info() const { return state_->info; }
  // Whether the queue may run commands in another order than they were enqueued in.
  bool out_of_order() const { return state_->out_of_order; }
  const ProgramCache& cache() const { return *state_->cache; }
  const Tuning& tuning() const { return *state_->tuning; }

  // Builds a program or takes it from the cache. `what` names it in errors, such as
  // "line_blur/naive". The options are those of build_options() for the device.
  cl::Program build(const Source& source, const Defines& defines, const std::string& what,
                    const std::string& extra_options = {}) const;

  // The option string that build() passes to the compiler of a device: the builtins that it knows,
  // the definitions and `extra_options`. Before them comes the language level, unless
  // `extra_options` hold a -cl-std: of two, compilers take the first or the last.
  static std::string build_options(const DeviceInfo& info, const Defines& defines,
                                   const std::string& extra_options = {});

  // What sees the launches: the observer or another hook; null: nothing does.
  LaunchHook* hook() const { return hook_; }

 private:
  struct State {
    cl::CommandQueue queue;
    cl::Context context;
    cl::Device device;
    DeviceInfo info;
    bool out_of_order = false;
    std::shared_ptr<ProgramCache> cache;
    std::shared_ptr<const Tuning> tuning;
    std::shared_ptr<LaunchHook> observer;
  };

  Runtime(std::shared_ptr<const State> state, LaunchHook* hook)
      : state_(std::move(state)), hook_(hook) {}

  static cl::CommandQueue retained(cl_command_queue queue);
  static State make_state(cl::CommandQueue queue);
  static std::shared_ptr<LaunchHook> make_hook(LaunchObserver observer);

  std::shared_ptr<const State> state_;
  LaunchHook* hook_ = nullptr;
};

// Creates a buffer, with a copy of `host` or, with CL_MEM_USE_HOST_PTR, on it. Throws
// Error(out_of_resources) that names the size.
CLCOOK_INLINE cl::Buffer create_buffer(const Runtime& runtime, std::size_t bytes,
                                       cl_mem_flags flags = CL_MEM_READ_WRITE,
                                       const void* host = nullptr);

// Whether the device has images of that type, format and flags.
CLCOOK_INLINE bool has_image_format(const Runtime& runtime, cl_mem_object_type type,
                                    const cl_image_format& format, cl_mem_flags flags);

// Creates an image of any type, for one of CLHPP's classes to hold. Throws Error(unsupported) where
// the device has no such image, Error(out_of_resources) where its memory is lacking; `where` names
// the image.
CLCOOK_INLINE cl_mem create_image(const Runtime& runtime, const cl_image_format& format,
                                  const cl_image_desc& desc, cl_mem_flags flags,
                                  const std::string& where = "clCreateImage");
// A 2-D one.
CLCOOK_INLINE cl::Image2D create_image(const Runtime& runtime, std::size_t width,
                                       std::size_t height, const cl_image_format& format,
                                       cl_mem_flags flags = CL_MEM_READ_WRITE);

// The events of a wait list as OpenCL's C functions take them. They must stay alive elsewhere.
class WaitHandles {
 public:
  explicit WaitHandles(const std::vector<cl::Event>& wait) {
    for (const cl::Event& event : wait) handles_.push_back(event());
  }
  cl_uint count() const { return static_cast<cl_uint>(handles_.size()); }
  const cl_event* data() const { return handles_.empty() ? nullptr : handles_.data(); }

 private:
  std::vector<cl_event> handles_;
};

}  // namespace clcook

#if CLCOOK_DEFINITIONS
#include <clcook/core/impl/runtime.hpp>
#endif
