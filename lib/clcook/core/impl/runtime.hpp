// The definitions of clcook/core/runtime.hpp.
#pragma once

#include <algorithm>
#include <clcook/core/runtime.hpp>

namespace clcook {

CLCOOK_INLINE Runtime::Runtime(cl::CommandQueue queue, RuntimeOptions options) {
  auto state = std::make_shared<State>(make_state(std::move(queue)));
  state->tuning = std::make_shared<Tuning>(Tuning::standard(
      Tuning::user_file(options.disk_cache.value_or(DiskCache::standard()).folder())));
  state->cache = std::make_shared<ProgramCache>(
      state->context, detail::cache_of_programs(options.disk_cache, state->info));
  state->observer = make_hook(std::move(options.on_launch));
  hook_ = state->observer.get();
  state_ = std::move(state);
}

CLCOOK_INLINE Runtime Runtime::pick(std::string_view spec, PickOptions options) {
  const cl::Device device = pick_device(spec, options.runtime.disk_cache);
  const cl_device_id id = device();
  cl_int status = CL_SUCCESS;
  const cl::Context context(clCreateContext(nullptr, 1, &id, nullptr, nullptr, &status));
  if (status != CL_SUCCESS) {
    const DeviceInfo info = device_info(device);
    check(status, "clCreateContext for " + info.platform + ", " + info.name);
  }
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

CLCOOK_INLINE std::vector<Runtime> Runtime::with_others(const PickOptions& options) const {
  std::vector<Runtime> out{*this};
  for (const DeviceCandidate& one : find_devices()) {
    if (one.usable && one.device() != device()() && one.info.platform == info().platform &&
        one.info.gpu == info().gpu && one.info.cpu == info().cpu)
      out.push_back(pick(one.spec, options));
  }
  return out;
}

CLCOOK_INLINE cl::CommandQueue Runtime::retained(cl_command_queue queue) {
  if (queue != nullptr) check(clRetainCommandQueue(queue), "clRetainCommandQueue");
  return cl::CommandQueue(queue);
}

CLCOOK_INLINE Runtime Runtime::with_queue(cl::CommandQueue queue) const {
  auto state = std::make_shared<State>(make_state(std::move(queue)));
  if (state->context() != context()()) {
    fail(Errc::invalid_argument, "Runtime::with_queue", "the queue belongs to another context");
  }
  state->cache = state_->cache;
  state->tuning = state_->tuning;
  state->observer = state_->observer;
  return Runtime(std::move(state), hook_);
}

CLCOOK_INLINE Runtime Runtime::with_observer(LaunchObserver observer) const {
  auto state = std::make_shared<State>(*state_);
  state->observer = make_hook(std::move(observer));
  LaunchHook* const hook = state->observer.get();
  return Runtime(std::move(state), hook);
}

CLCOOK_INLINE cl::Program Runtime::build(const Source& source, const Defines& defines,
                                         const std::string& what,
                                         const std::string& extra_options) const {
  const std::string options = build_options(info(), defines, extra_options);
  // No kernel of ours asks for the time, and -i stands for -include and its like, -I for folders.
  const bool is_plain = (" " + options).find(" -i") == std::string::npos;
  if (is_plain && options.find("-I") == std::string::npos) {
    if (const std::string* text = source.known_text())
      return state_->cache->get(device(), info(), *text, options, what);
  }
  const Source known = source.with_options(options);
  std::string closed;
  try {
    closed = known.self_contained();
    // Neither what -include and its like bring is in a key, nor the time.
    const bool is_kept = is_plain && closed.find("__DATE__") == std::string::npos &&
                         closed.find("__TIME") == std::string::npos;
    return is_kept ? state_->cache->get(device(), info(), closed, options, what)
                   : state_->cache->build(device(), info(), closed, options, what);
  } catch (const Error& error) {
    if (error.code != Errc::build_failed) throw;
    // An include that only the compiler may find, and whose header is in no key of the cache.
    const std::string open = known.flatten();
    if (open == closed) throw;
    return state_->cache->build(device(), info(), open, options, what);
  }
}

CLCOOK_INLINE std::string Runtime::build_options(const DeviceInfo& info, const Defines& defines,
                                                 const std::string& extra_options) {
  std::string options;
  const auto add = [&](const std::string& more) {
    if (!more.empty()) options += (options.empty() ? "" : " ") + more;
  };
  if ((" " + extra_options).find(" -cl-std=") == std::string::npos) add("-cl-std=" + info.language);
  if (quirks::knows_prefetch(info)) add("-DCLCOOK_BUILTIN_PREFETCH");
  add(defines.options());
  add(extra_options);
  return options;
}

CLCOOK_INLINE std::shared_ptr<LaunchHook> Runtime::make_hook(LaunchObserver observer) {
  class Observer : public LaunchHook {
   public:
    explicit Observer(LaunchObserver tell) : tell_(std::move(tell)) {}
    void before(const Kernel&, const Launch&, const LaunchArgument*, std::size_t) override {}
    void after(const std::string& kernel, const cl::Event& event) override { tell_(kernel, event); }

   private:
    LaunchObserver tell_;
  };
  if (!observer) return nullptr;
  return std::make_shared<Observer>(std::move(observer));
}

CLCOOK_INLINE Runtime::State Runtime::make_state(cl::CommandQueue queue) {
  if (queue() == nullptr) fail(Errc::invalid_argument, "Runtime", "the command queue is null");
  State state;
  cl_context context = nullptr;
  cl_device_id device = nullptr;
  check(clGetCommandQueueInfo(queue(), CL_QUEUE_CONTEXT, sizeof context, &context, nullptr),
        "clGetCommandQueueInfo");
  check(clGetCommandQueueInfo(queue(), CL_QUEUE_DEVICE, sizeof device, &device, nullptr),
        "clGetCommandQueueInfo");
  cl_command_queue_properties properties = 0;
  check(
      clGetCommandQueueInfo(queue(), CL_QUEUE_PROPERTIES, sizeof properties, &properties, nullptr),
      "clGetCommandQueueInfo");
  state.out_of_order = (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
  state.queue = std::move(queue);
  state.context = cl::Context(context, true);
  state.device = cl::Device(device, true);
  state.info = device_info(state.device);
  return state;
}

CLCOOK_INLINE cl::Buffer create_buffer(const Runtime& runtime, std::size_t bytes,
                                       cl_mem_flags flags, const void* host) {
  cl_int status = CL_SUCCESS;
  if (host != nullptr && (flags & CL_MEM_USE_HOST_PTR) == 0) flags |= CL_MEM_COPY_HOST_PTR;
  cl::Buffer buffer(
      clCreateBuffer(runtime.context()(), flags, bytes, const_cast<void*>(host), &status));
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

namespace detail {

inline std::vector<cl_image_format> image_formats(const Runtime& runtime, cl_mem_object_type type,
                                                  cl_mem_flags flags) {
  cl_uint count = 0;
  check(clGetSupportedImageFormats(runtime.context()(), flags, type, 0, nullptr, &count),
        "clGetSupportedImageFormats");
  std::vector<cl_image_format> out(count);
  check(clGetSupportedImageFormats(runtime.context()(), flags, type, count, out.data(), nullptr),
        "clGetSupportedImageFormats");
  return out;
}

inline bool has_format(const std::vector<cl_image_format>& formats, const cl_image_format& format) {
  return std::any_of(formats.begin(), formats.end(), [&](const cl_image_format& one) {
    return one.image_channel_order == format.image_channel_order &&
           one.image_channel_data_type == format.image_channel_data_type;
  });
}

}  // namespace detail

CLCOOK_INLINE bool has_image_format(const Runtime& runtime, cl_mem_object_type type,
                                    const cl_image_format& format, cl_mem_flags flags) {
  return detail::has_format(detail::image_formats(runtime, type, flags), format);
}

CLCOOK_INLINE cl_mem create_image(const Runtime& runtime, const cl_image_format& format,
                                  const cl_image_desc& desc, cl_mem_flags flags,
                                  const std::string& where) {
  const auto lacks = [&](const std::string& what, cl_int status) {
    unsupported(Lacks::feature, where,
                "the device has no such image: " + what + " (" + status_name(status) + ")", status);
  };
  const DeviceInfo& info = runtime.info();
  if (!info.images) lacks("it has none", CL_INVALID_OPERATION);
  // Asked before: NVIDIA makes an image of some formats that it lacks, which cannot be written. An empty
  // list says nothing of images of that type.
  const auto formats = detail::image_formats(runtime, desc.image_type, flags);
  if (!formats.empty() && !detail::has_format(formats, format))
    lacks(image_format_name(format) + " is not among its formats", CL_IMAGE_FORMAT_NOT_SUPPORTED);
  cl_int status = CL_SUCCESS;
  const cl_mem image = clCreateImage(runtime.context()(), flags, &format, &desc, nullptr, &status);
  if (status == CL_SUCCESS) return image;
  if (desc.image_type == CL_MEM_OBJECT_IMAGE2D &&
      (desc.image_width > info.image_width || desc.image_height > info.image_height)) {
    lacks(text(desc.image_width, " x ", desc.image_height, " texels exceed its limit of ",
               info.image_width, " x ", info.image_height),
          status);
  }
  if (status == CL_INVALID_IMAGE_SIZE) {
    lacks(text(desc.image_width, " x ", desc.image_height, " x ", desc.image_depth,
               " texels are too many"),
          status);
  }
  check(status, where);
  return image;
}

CLCOOK_INLINE cl::Image2D create_image(const Runtime& runtime, std::size_t width,
                                       std::size_t height, const cl_image_format& format,
                                       cl_mem_flags flags) {
  cl_image_desc desc{};
  desc.image_type = CL_MEM_OBJECT_IMAGE2D;
  desc.image_width = width;
  desc.image_height = height;
  return cl::Image2D(create_image(runtime, format, desc, flags));
}

}  // namespace clcook
