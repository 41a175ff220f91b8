#include "stub.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "kernels.hpp"

#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif

namespace stub {
namespace {

enum Kind : std::uint32_t {  // unlikely numbers
  kDead = 0xDEADC1u,
  kPlatform = 0x57B0001u,
  kDevice,
  kContext,
  kQueue,
  kMemory,
  kProgram,
  kKernel,
  kEvent,
};

std::atomic<long> counts[kEvent - kPlatform + 1];
std::atomic<long> bytes_alive{0};
std::atomic<bool> keeps_released{false};

}  // namespace

struct Object {
  explicit Object(std::uint32_t of) : kind(of) {
    counts[of - kPlatform].fetch_add(1, std::memory_order_relaxed);
  }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  ~Object() { counts[kind.load() - kPlatform].fetch_sub(1, std::memory_order_relaxed); }

  std::atomic<std::uint32_t> kind;
  std::atomic<cl_uint> references{1};
};

}  // namespace stub

struct _cl_platform_id : stub::Object {
  explicit _cl_platform_id(const stub::Device& of) : Object(stub::kPlatform), device(of) {}
  const stub::Device device;
};

struct _cl_device_id : stub::Object {
  explicit _cl_device_id(const stub::Device& of) : Object(stub::kDevice), platform(of), is(of) {}
  _cl_platform_id platform;
  const stub::Device is;
};

struct _cl_context : stub::Object {
  explicit _cl_context(cl_device_id of) : Object(stub::kContext), device(of) {}
  const cl_device_id device;
};

namespace stub {
namespace {

template <class T>
bool is_live(T* object, std::uint32_t kind) {
  return object != nullptr && object->kind.load() == kind;
}

template <class T>
T* retained(T* object) {
  object->references.fetch_add(1, std::memory_order_relaxed);
  return object;
}

template <class T>
void release(T* object) {
  if (object == nullptr || object->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (keeps_released.load(std::memory_order_relaxed)) {
    object->~T();
    object->kind.store(kDead);  // the memory stays
  } else {
    delete object;
  }
}

// A reference of its own.
template <class T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T* object) : object_(object == nullptr ? nullptr : retained(object)) {}
  Ref(const Ref& other) : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { release(object_); }
  T* get() const { return object_; }
  T* operator->() const { return object_; }

 private:
  T* object_ = nullptr;
};

using KernelTexts = std::map<std::string, KernelText>;

}  // namespace
}  // namespace stub

struct _cl_command_queue : stub::Object {
  _cl_command_queue(cl_context in, cl_command_queue_properties with)
      : Object(stub::kQueue), context(in), properties(with) {}
  const stub::Ref<_cl_context> context;
  const cl_command_queue_properties properties;
  std::atomic<long> deferred{0};  // commands that wait
  std::mutex running;             // of an in-order queue: one command after the other

  bool in_order() const { return (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0; }
};

struct _cl_mem : stub::Object {
  _cl_mem(cl_context in, cl_mem_object_type of, cl_mem_flags with, std::size_t size)
      : Object(stub::kMemory), context(in), type(of), flags(with), bytes(size) {}
  ~_cl_mem() {
    if (owned == nullptr) return;
    std::free(owned);
    stub::bytes_alive.fetch_sub(static_cast<long>(bytes), std::memory_order_relaxed);
  }
  const stub::Ref<_cl_context> context;
  const cl_mem_object_type type;
  const cl_mem_flags flags;
  const std::size_t bytes;
  unsigned char* data = nullptr;
  void* owned = nullptr;
  void* host = nullptr;
  stub::Ref<_cl_mem> parent;
  std::size_t origin = 0;  // in the parent
  std::atomic<long> maps{0};
  cl_image_format format{};
  std::size_t width = 0;
  std::size_t height = 0;
  std::size_t texel = 0;
};

struct _cl_program : stub::Object {
  explicit _cl_program(cl_context in) : Object(stub::kProgram), context(in) {}
  const stub::Ref<_cl_context> context;
  std::string source;
  bool is_binary = false;
  std::string options;
  std::string log;
  cl_build_status status = CL_BUILD_NONE;
  std::shared_ptr<const stub::KernelTexts> kernels;
};

struct _cl_kernel : stub::Object {
  _cl_kernel(cl_program of, std::string called, const stub::KernelText& with)
      : Object(stub::kKernel),
        program(of),
        name(std::move(called)),
        text(with),
        arguments(with.parameters.size()) {}
  struct Argument {
    bool is_set = false;
    std::vector<unsigned char> value;
    cl_mem memory = nullptr;  // no reference, as OpenCL has it
    std::size_t local_bytes = 0;
  };
  const stub::Ref<_cl_program> program;
  const std::string name;
  const stub::KernelText& text;  // of the program, which stays
  std::vector<Argument> arguments;
};

struct _cl_event : stub::Object {
  _cl_event(cl_context in, cl_command_queue on, cl_command_type of)
      : Object(stub::kEvent),
        context(in),
        queue(on),
        type(of),
        status(of == CL_COMMAND_USER ? CL_SUBMITTED : CL_QUEUED) {}
  const stub::Ref<_cl_context> context;
  const stub::Ref<_cl_command_queue> queue;
  const cl_command_type type;
  std::atomic<cl_int> status;
  std::atomic<bool> is_set{false};  // of a user event
  cl_ulong queued = 0;              // nanoseconds; written before `status`
  cl_ulong start = 0;
  cl_ulong end = 0;

  bool is_over() const { return status.load() <= CL_COMPLETE; }
};

namespace stub {
namespace {

// ---- Faults ----------------------------------------------------------------------------------

std::atomic<long> call_count{0};
std::atomic<long> failing_call{0};  // of call_count; 0: none
std::atomic<cl_int> failing_code{0};
std::atomic<bool> by_name{false};  // calls are counted by function, or one of a function fails
std::mutex name_mutex;
std::map<std::string, long> name_counts;
std::string failing_name;
long failing_of_name = 0;
cl_int failing_name_code = 0;
std::string failed_name;
bool counts_functions = false;
std::atomic<long> commands_left{0};
std::atomic<cl_int> command_code{0};

// The code that the call is to fail with; CL_SUCCESS: none.
cl_int enter(const char* function, bool counted = true) {
  if (counted) {
    const long number = call_count.fetch_add(1, std::memory_order_relaxed) + 1;
    if (number == failing_call.load(std::memory_order_relaxed)) {
      const std::lock_guard<std::mutex> lock(name_mutex);
      failed_name = function;
      return failing_code.load(std::memory_order_relaxed);
    }
  }
  if (!by_name.load(std::memory_order_relaxed)) return CL_SUCCESS;
  const std::lock_guard<std::mutex> lock(name_mutex);
  if (counts_functions) ++name_counts[function];
  if (failing_of_name > 0 && failing_name == function && --failing_of_name == 0) {
    failed_name = function;
    return failing_name_code;
  }
  return CL_SUCCESS;
}

// At the beginning of the calls that return a status, and of those that return an object.
#define STUB_CALL(function) \
  if (const cl_int stub_code = enter(#function); stub_code != CL_SUCCESS) return stub_code
#define STUB_CREATE(function)                                             \
  if (const cl_int stub_code = enter(#function); stub_code != CL_SUCCESS) \
  return refused(status, stub_code)
#define STUB_NAMED(function) \
  if (const cl_int stub_code = enter(#function, false); stub_code != CL_SUCCESS) return stub_code

// The same of a call that is enqueued, and what every one asks: a queue, memory objects of the right kind,
// `fits`, and that they are of its context.
#define STUB_ENQUEUE(function, fits, ...)                                              \
  STUB_CALL(function);                                                                 \
  if (!is_live(queue, kQueue)) return CL_INVALID_COMMAND_QUEUE;                        \
  if (!(fits)) return CL_INVALID_MEM_OBJECT;                                           \
  for (const cl_mem stub_memory : {__VA_ARGS__}) {                                     \
    if (stub_memory->context.get() != queue->context.get()) return CL_INVALID_CONTEXT; \
  }

std::nullptr_t refused(cl_int* status, cl_int code) {
  if (status != nullptr) *status = code;
  return nullptr;
}
template <class T>
T* made(cl_int* status, T* object) {
  if (status != nullptr) *status = CL_SUCCESS;
  return object;
}

// ---- Answers of queries ----------------------------------------------------------------------

struct Answer {
  std::size_t room;
  void* value;
  std::size_t* size;

  cl_int bytes(const void* data, std::size_t count) const {
    if (value != nullptr) {
      if (room < count) return CL_INVALID_VALUE;
      if (count > 0) std::memcpy(value, data, count);
    }
    if (size != nullptr) *size = count;
    return CL_SUCCESS;
  }
  template <class T>
  cl_int of(const T& data) const {
    return bytes(&data, sizeof data);
  }
  cl_int text(const std::string& data) const { return bytes(data.c_str(), data.size() + 1); }
};

// ---- The device ------------------------------------------------------------------------------

std::atomic<cl_device_id> current_device{nullptr};

cl_device_id current() {
  static const cl_device_id first = [] {
    cl_device_id device = current_device.load();
    if (device == nullptr) {
      device = new _cl_device_id(Device{});
      current_device.store(device);
    }
    return device;
  }();
  static_cast<void>(first);
  return current_device.load();
}

// ---- Commands --------------------------------------------------------------------------------

struct Command {
  Ref<_cl_event> event;
  std::vector<Ref<_cl_event>> waits;
  std::function<void()> work;  // owns what it works on
  bool touches_memory = true;
  cl_ulong duration = 0;
  bool is_running = false;
};
struct Callback {
  Ref<_cl_event> event;
  cl_int at;
  void(CL_CALLBACK* call)(cl_event, cl_int, void*);
  void* user;
};

// What waits. `watchers` is not 0 while a command, callback or thread waits: those that end an event
// look at it after they set the status, those that wait at the status after they counted themselves.
std::atomic<long> watchers{0};
std::mutex waiting_mutex;
std::condition_variable ended;
std::list<Command> deferred_commands;
std::list<Callback> callbacks;
std::atomic<cl_ulong> device_time{1000};

void end_event(cl_event event, cl_int status);

void run(Command& command) {
  _cl_event& event = *command.event.get();
  cl_int status = CL_COMPLETE;
  for (const Ref<_cl_event>& wait : command.waits) {
    if (wait->status.load() < CL_COMPLETE) status = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  }
  if (status == CL_COMPLETE && commands_left.load(std::memory_order_relaxed) > 0 &&
      commands_left.fetch_sub(1, std::memory_order_relaxed) == 1) {
    status = command_code.load();
  }
  event.start = device_time.fetch_add(command.duration, std::memory_order_relaxed);
  event.end = event.start + command.duration;
  if (status == CL_COMPLETE && command.work) {
    std::unique_lock<std::mutex> lock(event.queue->running, std::defer_lock);
    if (event.queue->in_order() && command.touches_memory) lock.lock();
    command.work();
  }
  command.work = {};
  command.waits.clear();
  end_event(&event, status);
}

bool is_ready(const Command& command) {
  bool all_over = true;
  bool any_failed = false;
  for (const Ref<_cl_event>& wait : command.waits) {
    all_over = all_over && wait->is_over();
    any_failed = any_failed || wait->status.load() < CL_COMPLETE;
  }
  return all_over || any_failed;
}

// Runs what has become ready. Holds no lock while it runs something.
void settle() {
  std::unique_lock<std::mutex> lock(waiting_mutex);
  for (bool progress = true; progress;) {
    progress = false;
    for (auto at = deferred_commands.begin(); at != deferred_commands.end(); ++at) {
      const cl_command_queue queue = at->event->queue.get();
      const auto same_queue = [&](const Command& other) {
        return other.event->queue.get() == queue;
      };
      if (at->is_running || !is_ready(*at)) continue;
      if (queue->in_order() && std::any_of(deferred_commands.begin(), at, same_queue)) continue;
      at->is_running = true;
      lock.unlock();
      run(*at);
      lock.lock();
      queue->deferred.fetch_sub(1);
      watchers.fetch_sub(1);
      deferred_commands.erase(at);  // may end the queue, after the lines above
      progress = true;
      break;
    }
    for (auto at = callbacks.begin(); at != callbacks.end(); ++at) {
      if (at->event->status.load() > at->at) continue;
      const Callback one = std::move(*at);
      callbacks.erase(at);
      watchers.fetch_sub(1);
      lock.unlock();
      one.call(one.event.get(), std::min(one.at, one.event->status.load()), one.user);
      lock.lock();
      progress = true;
      break;
    }
  }
  ended.notify_all();
}

thread_local bool settling = false;

void settle_once() {
  if (settling) return;  // run() within settle(), which goes on
  settling = true;
  settle();
  settling = false;
}

void end_event(cl_event event, cl_int status) {
  event->status.store(status);
  if (watchers.load() == 0) return;
  if (settling) {
    const std::lock_guard<std::mutex> lock(waiting_mutex);
    ended.notify_all();
  }
  settle_once();
}

template <class Over>
void wait_until(const Over& over) {
  if (over()) return;
  watchers.fetch_add(1);
  {
    std::unique_lock<std::mutex> lock(waiting_mutex);
    if (!ended.wait_for(lock, std::chrono::seconds(30), over)) {
      std::fputs("stub: a wait has no end: nobody sets the status of a user event\n", stderr);
      std::abort();
    }
  }
  watchers.fetch_sub(1);
}

// Enqueues what `work` does. `done` gets the event unless it is null.
cl_int enqueue(cl_command_queue queue, cl_command_type type, cl_uint count, const cl_event* waits,
               cl_event* done, bool blocking, cl_ulong duration, std::function<void()> work,
               bool touches_memory = true) {
  if ((count == 0) != (waits == nullptr)) return CL_INVALID_EVENT_WAIT_LIST;
  Command command;
  for (cl_uint i = 0; i < count; ++i) {
    if (!is_live(waits[i], kEvent)) return CL_INVALID_EVENT_WAIT_LIST;
    if (waits[i]->context.get() != queue->context.get()) return CL_INVALID_CONTEXT;
    command.waits.emplace_back(waits[i]);
  }
  auto* event = new _cl_event(queue->context.get(), queue, type);
  command.event = Ref<_cl_event>(event);
  release(event);
  event->queued = device_time.load(std::memory_order_relaxed);
  command.work = std::move(work);
  command.touches_memory = touches_memory;
  command.duration = duration;
  const Ref<_cl_event> kept = command.event;
  const bool ready = is_ready(command) && (!queue->in_order() || queue->deferred.load() == 0);
  if (ready) {
    run(command);
  } else {
    watchers.fetch_add(1);
    queue->deferred.fetch_add(1);
    {
      const std::lock_guard<std::mutex> lock(waiting_mutex);
      deferred_commands.push_back(std::move(command));
    }
    settle_once();
  }
  if (blocking) {
    wait_until([&] { return event->is_over(); });
    if (event->status.load() < CL_COMPLETE) return event->status.load();
  }
  if (done != nullptr) *done = retained(event);
  return CL_SUCCESS;
}

// ---- Memory ----------------------------------------------------------------------------------

cl_ulong copy_time(std::size_t bytes) { return 500 + bytes / 100; }

struct Box {
  std::size_t origin;  // bytes
  std::size_t row;     // bytes from one row to the next
  std::size_t slice;
};

void copy_box(const unsigned char* from, const Box& from_box, unsigned char* to, const Box& to_box,
              const std::array<std::size_t, 3>& size) {
  for (std::size_t z = 0; z < size[2]; ++z) {
    for (std::size_t y = 0; y < size[1]; ++y) {
      std::memcpy(to + to_box.origin + z * to_box.slice + y * to_box.row,
                  from + from_box.origin + z * from_box.slice + y * from_box.row, size[0]);
    }
  }
}

// The pitches and the first byte of a rectangle; false where a pitch is too small.
bool make_box(const std::size_t* origin, const std::size_t* region, std::size_t row,
              std::size_t slice, Box& out) {
  out.row = row == 0 ? region[0] : row;
  out.slice = slice == 0 ? region[1] * out.row : slice;
  if (out.row < region[0] || out.slice < region[1] * out.row) return false;
  out.origin = origin[2] * out.slice + origin[1] * out.row + origin[0];
  return true;
}

bool fits(const _cl_mem& buffer, const Box& box, const std::size_t* region) {
  return box.origin + (region[2] - 1) * box.slice + (region[1] - 1) * box.row + region[0] <=
         buffer.bytes;
}

bool is_image(cl_mem memory) {
  return is_live(memory, kMemory) && memory->type == CL_MEM_OBJECT_IMAGE2D;
}
bool is_buffer_image(cl_mem memory) {
  return is_live(memory, kMemory) && memory->type == CL_MEM_OBJECT_IMAGE1D_BUFFER;
}
bool is_buffer(cl_mem memory) {
  return is_live(memory, kMemory) && memory->type == CL_MEM_OBJECT_BUFFER;
}

constexpr std::size_t kImageMaxBuffer = 65536;  // texels

std::size_t texel_bytes(const cl_image_format& format) {
  std::size_t channels = 0;
  if (format.image_channel_order == CL_R) channels = 1;
  if (format.image_channel_order == CL_RG) channels = 2;
  if (format.image_channel_order == CL_RGBA) channels = 4;
  switch (format.image_channel_data_type) {
    case CL_UNORM_INT8:
    case CL_UNSIGNED_INT8:
      return channels;
    case CL_UNORM_INT16:
    case CL_UNSIGNED_INT16:
    case CL_HALF_FLOAT:
      return 2 * channels;
    case CL_FLOAT:
    case CL_UNSIGNED_INT32:
      return 4 * channels;
    default:
      return 0;
  }
}

bool inside(const _cl_mem& image, const std::size_t* origin, const std::size_t* region) {
  return origin[2] == 0 && region[2] == 1 && region[0] > 0 && region[1] > 0 &&
         origin[0] + region[0] <= image.width && origin[1] + region[1] <= image.height;
}
Box texels(const _cl_mem& image, const std::size_t* origin) {
  const std::size_t row = image.width * image.texel;
  return {origin[1] * row + origin[0] * image.texel, row, 0};
}

// Gives a new object its memory.
cl_int allocate(_cl_mem& memory, void* host) {
  const Device& device = memory.context->device->is;
  const bool wants_host = (memory.flags & (CL_MEM_COPY_HOST_PTR | CL_MEM_USE_HOST_PTR)) != 0;
  if (wants_host != (host != nullptr)) return CL_INVALID_HOST_PTR;
  if (bytes_alive.load(std::memory_order_relaxed) + static_cast<long>(memory.bytes) >
      static_cast<long>(device.global_memory)) {
    return CL_MEM_OBJECT_ALLOCATION_FAILURE;
  }
  if ((memory.flags & CL_MEM_USE_HOST_PTR) != 0) {
    memory.host = host;
    memory.data = static_cast<unsigned char*>(host);
    return CL_SUCCESS;
  }
  memory.owned = std::calloc(memory.bytes, 1);
  if (memory.owned == nullptr) return CL_MEM_OBJECT_ALLOCATION_FAILURE;
  bytes_alive.fetch_add(static_cast<long>(memory.bytes), std::memory_order_relaxed);
  memory.data = static_cast<unsigned char*>(memory.owned);
  if (host != nullptr) std::memcpy(memory.data, host, memory.bytes);
  return CL_SUCCESS;
}

bool are_flags(cl_mem_flags flags) {
  const cl_mem_flags access = flags & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY);
  if ((access & (access - 1)) != 0) return false;
  return (flags & CL_MEM_USE_HOST_PTR) == 0 ||
         (flags & (CL_MEM_COPY_HOST_PTR | CL_MEM_ALLOC_HOST_PTR)) == 0;
}

// ---- Programs and kernels --------------------------------------------------------------------

constexpr const char* kBinaryMagic = "stub binary\n";

// What find_kernels() says, remembered: the same programs are built again and again.
std::shared_ptr<const KernelTexts> kernels_of(const std::string& source,
                                              const std::string& options) {
  static std::shared_mutex mutex;
  static std::map<std::string, std::shared_ptr<const KernelTexts>>& known =
      *new std::map<std::string, std::shared_ptr<const KernelTexts>>;
  const std::string key = options + "\n" + source;
  {
    const std::shared_lock<std::shared_mutex> lock(mutex);
    const auto found = known.find(key);
    if (found != known.end()) return found->second;
  }
  auto made = std::make_shared<const KernelTexts>(find_kernels(source, options));
  const std::unique_lock<std::shared_mutex> lock(mutex);
  return known.emplace(key, std::move(made)).first->second;
}

using KernelFunction = std::function<void(const Launch&)>;

std::shared_mutex functions_mutex;
std::map<std::string, std::shared_ptr<const KernelFunction>>& functions() {
  static auto& all = *new std::map<std::string, std::shared_ptr<const KernelFunction>>{
      {"clcook_probe", std::make_shared<const KernelFunction>([](const Launch& launch) {
         auto* out = launch.memory<cl_int>(0);
         for (std::size_t i = 0; i < launch.global[0]; ++i)
           out[i] = static_cast<cl_int>(i * i) + launch.value<cl_int>(1);
       })}};
  return all;
}

// What limit_kernel() said.
struct KernelLimit {
  std::size_t max_group = 0;  // 0: the device's
  std::size_t local_bytes = 0;
};

std::shared_mutex limits_mutex;
std::map<std::string, KernelLimit> limits;

KernelLimit limit_of(const std::string& kernel) {
  const std::shared_lock<std::shared_mutex> lock(limits_mutex);
  const auto found = limits.find(kernel);
  return found == limits.end() ? KernelLimit() : found->second;
}

std::size_t max_group_of(cl_kernel kernel) {
  const std::size_t own = limit_of(kernel->name).max_group;
  const std::size_t device = kernel->program->context->device->is.max_group;
  return own != 0 && own < device ? own : device;
}

}  // namespace

// ---- The interface for tests -----------------------------------------------------------------

cl_device_id set_device(const Device& device) {
  auto* made = new _cl_device_id(device);
  current();
  current_device.store(made);
  return made;
}

std::string Counts::str() const {
  const auto part = [](long count, const char* what) { return std::to_string(count) + what; };
  return part(contexts, " contexts, ") + part(queues, " queues, ") +
         part(memories, " memory objects, ") + part(programs, " programs, ") +
         part(kernels, " kernels, ") + part(events, " events, ") + part(bytes, " bytes");
}

bool operator==(const Counts& a, const Counts& b) { return a.str() == b.str(); }

Counts alive() {
  const auto count = [](Kind kind) { return counts[kind - kPlatform].load(); };
  return {count(kContext), count(kQueue), count(kMemory),    count(kProgram),
          count(kKernel),  count(kEvent), bytes_alive.load()};
}

void fail_call(long n, cl_int code) {
  const std::lock_guard<std::mutex> lock(name_mutex);
  failed_name.clear();
  failing_code.store(code);
  failing_call.store(n <= 0 ? 0 : call_count.load() + n);
}

void fail_call(const std::string& function, long n, cl_int code) {
  const std::lock_guard<std::mutex> lock(name_mutex);
  failed_name.clear();
  failing_name = function;
  failing_of_name = n;
  failing_name_code = code;
  by_name.store(counts_functions || n > 0);
}

std::string failed_call() {
  const std::lock_guard<std::mutex> lock(name_mutex);
  return failed_name;
}

void fail_command(long n, cl_int code) {
  command_code.store(code);
  commands_left.store(n);
}

long calls() { return call_count.load(); }

long calls(const std::string& function) {
  const std::lock_guard<std::mutex> lock(name_mutex);
  return name_counts[function];
}

void count_functions(bool on) {
  const std::lock_guard<std::mutex> lock(name_mutex);
  counts_functions = on;
  by_name.store(on || failing_of_name > 0);
}

void on_kernel(const std::string& name, std::function<void(const Launch&)> function) {
  const std::unique_lock<std::shared_mutex> lock(functions_mutex);
  if (function) {
    functions()[name] = std::make_shared<const KernelFunction>(std::move(function));
  } else {
    functions().erase(name);
  }
}

void limit_kernel(const std::string& name, std::size_t max_group, std::size_t local_bytes) {
  const std::unique_lock<std::shared_mutex> lock(limits_mutex);
  limits[name] = {max_group, local_bytes};
}

void keep_released(bool on) { keeps_released.store(on); }

}  // namespace stub

// ---- OpenCL ----------------------------------------------------------------------------------

using namespace stub;

extern "C" {

cl_int CL_API_CALL clGetPlatformIDs(cl_uint room, cl_platform_id* platforms, cl_uint* count) {
  STUB_CALL(clGetPlatformIDs);
  if ((room == 0) != (platforms == nullptr) || (platforms == nullptr && count == nullptr))
    return CL_INVALID_VALUE;
  if (platforms != nullptr) platforms[0] = &current()->platform;
  if (count != nullptr) *count = 1;
  return CL_SUCCESS;
}

cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform, cl_platform_info name,
                                     std::size_t room, void* value, std::size_t* size) {
  // Classes of CLHPP ask this and CL_DEVICE_PLATFORM when a cl::Device is copied, and end the process
  // where there is no answer.
  if (const cl_int code = enter("clGetPlatformInfo", name != CL_PLATFORM_VERSION);
      code != CL_SUCCESS) {
    return code;
  }
  if (!is_live(platform, kPlatform)) return CL_INVALID_PLATFORM;
  const Answer answer{room, value, size};
  const Device& device = platform->device;
  switch (name) {
    case CL_PLATFORM_NAME:
      return answer.text(device.platform);
    case CL_PLATFORM_VERSION:
      return answer.text(device.platform_version);
    case CL_PLATFORM_VENDOR:
      return answer.text(device.vendor);
    case CL_PLATFORM_PROFILE:
      return answer.text("FULL_PROFILE");
    case CL_PLATFORM_EXTENSIONS:
      return answer.text("");
    default:
      return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint room,
                                  cl_device_id* devices, cl_uint* count) {
  STUB_CALL(clGetDeviceIDs);
  if (!is_live(platform, kPlatform)) return CL_INVALID_PLATFORM;
  if ((room == 0) != (devices == nullptr) || (devices == nullptr && count == nullptr))
    return CL_INVALID_VALUE;
  const cl_device_id device = current();
  if ((type & (device->is.type | CL_DEVICE_TYPE_DEFAULT)) == 0) return CL_DEVICE_NOT_FOUND;
  if (devices != nullptr) devices[0] = device;
  if (count != nullptr) *count = 1;
  return CL_SUCCESS;
}

cl_int CL_API_CALL clGetDeviceInfo(cl_device_id device, cl_device_info name, std::size_t room,
                                   void* value, std::size_t* size) {
  if (const cl_int code = enter("clGetDeviceInfo", name != CL_DEVICE_PLATFORM); code != CL_SUCCESS)
    return code;
  if (!is_live(device, kDevice)) return CL_INVALID_DEVICE;
  const Answer answer{room, value, size};
  const Device& is = device->is;
  const bool is_3 = is.version.compare(0, 8, "OpenCL 3") == 0;
  const auto boolean = [&](bool on) {
    return answer.of(static_cast<cl_bool>(on ? CL_TRUE : CL_FALSE));
  };
  switch (name) {
    case CL_DEVICE_PLATFORM:
      return answer.of(cl_platform_id{&device->platform});
    case CL_DEVICE_NAME:
      return answer.text(is.name);
    case CL_DEVICE_VENDOR:
      return answer.text(is.vendor);
    case CL_DEVICE_VERSION:
      return answer.text(is.version);
    case CL_DEVICE_OPENCL_C_VERSION:
      return answer.text("OpenCL C 1.2 stub");
    case CL_DEVICE_OPENCL_C_ALL_VERSIONS: {
      if (!is_3) return CL_INVALID_VALUE;
      cl_name_version all[2] = {{1u << 22 | 2u << 12, "OpenCL C"}, {3u << 22, "OpenCL C"}};
      return answer.bytes(all, sizeof all);
    }
    case 0x105C:  // CL_DEVICE_MAX_NUM_SUB_GROUPS
      return answer.of(cl_uint{is.sub_group_sizes.empty() ? 0U : 32U});
    case 0x4108:  // CL_DEVICE_SUB_GROUP_SIZES_INTEL
      return answer.bytes(is.sub_group_sizes.data(),
                          is.sub_group_sizes.size() * sizeof(std::size_t));
    case CL_DRIVER_VERSION:
      return answer.text(is.driver);
    case CL_DEVICE_EXTENSIONS:
      return answer.text(is.extensions);
    case CL_DEVICE_PROFILE:
      return answer.text(is.profile);
    case CL_DEVICE_TYPE:
      return answer.of(is.type);
    case CL_DEVICE_AVAILABLE:
      return boolean(true);
    case CL_DEVICE_COMPILER_AVAILABLE:
      return boolean(is.compiler);
    case CL_DEVICE_IMAGE_SUPPORT:
      return boolean(is.images);
    case CL_DEVICE_MAX_COMPUTE_UNITS:
      return answer.of(is.compute_units);
    case CL_DEVICE_MAX_CLOCK_FREQUENCY:
      return answer.of(is.clock_mhz);
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
      return answer.of(is.max_group);
    case CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS:
      return answer.of(cl_uint{3});
    case CL_DEVICE_MAX_WORK_ITEM_SIZES:
      return answer.of(is.max_items);
    case CL_DEVICE_LOCAL_MEM_SIZE:
      return answer.of(is.local_memory);
    case CL_DEVICE_LOCAL_MEM_TYPE:
      return answer.of(cl_device_local_mem_type{
          static_cast<cl_device_local_mem_type>(is.local_memory_dedicated ? CL_LOCAL : CL_GLOBAL)});
    case CL_DEVICE_GLOBAL_MEM_SIZE:
      return answer.of(is.global_memory);
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
      return answer.of(is.max_allocation);
    case CL_DEVICE_GLOBAL_MEM_CACHE_SIZE:
      return answer.of(cl_ulong{4 << 20});
    case CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE:
      return answer.of(cl_ulong{64 << 10});
    case CL_DEVICE_MEM_BASE_ADDR_ALIGN:
      return answer.of(cl_uint{is.base_alignment * 8});
    case CL_DEVICE_IMAGE2D_MAX_WIDTH:
    case CL_DEVICE_IMAGE2D_MAX_HEIGHT:
      return answer.of(is.images ? is.image_size : std::size_t{0});
    case CL_DEVICE_IMAGE_MAX_BUFFER_SIZE:
      return answer.of(is.images ? kImageMaxBuffer : std::size_t{0});
    case CL_DEVICE_QUEUE_PROPERTIES:
      return answer.of(static_cast<cl_command_queue_properties>(
          CL_QUEUE_PROFILING_ENABLE |
          (is.out_of_order ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0)));
    case CL_DEVICE_REFERENCE_COUNT:
      return answer.of(cl_uint{1});
    case 0x4000:  // CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV
    case 0x4001:  // CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV
      if (is.compute_capability == 0) return CL_INVALID_VALUE;
      return answer.of(
          cl_uint{name == 0x4000 ? is.compute_capability / 10 : is.compute_capability % 10});
    default:
      return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL clRetainDevice(cl_device_id device) {
  STUB_NAMED(clRetainDevice);
  return is_live(device, kDevice) ? CL_SUCCESS : CL_INVALID_DEVICE;
}
cl_int CL_API_CALL clReleaseDevice(cl_device_id device) {
  STUB_NAMED(clReleaseDevice);
  return is_live(device, kDevice) ? CL_SUCCESS : CL_INVALID_DEVICE;
}

#define STUB_REFERENCES(Name, handle, kind, error)    \
  cl_int CL_API_CALL clRetain##Name(handle object) {  \
    STUB_NAMED(clRetain##Name);                       \
    if (!is_live(object, kind)) return error;         \
    retained(object);                                 \
    return CL_SUCCESS;                                \
  }                                                   \
  cl_int CL_API_CALL clRelease##Name(handle object) { \
    STUB_NAMED(clRelease##Name);                      \
    if (!is_live(object, kind)) return error;         \
    release(object);                                  \
    return CL_SUCCESS;                                \
  }
STUB_REFERENCES(Context, cl_context, kContext, CL_INVALID_CONTEXT)
STUB_REFERENCES(CommandQueue, cl_command_queue, kQueue, CL_INVALID_COMMAND_QUEUE)
STUB_REFERENCES(MemObject, cl_mem, kMemory, CL_INVALID_MEM_OBJECT)
STUB_REFERENCES(Program, cl_program, kProgram, CL_INVALID_PROGRAM)
STUB_REFERENCES(Kernel, cl_kernel, kKernel, CL_INVALID_KERNEL)
STUB_REFERENCES(Event, cl_event, kEvent, CL_INVALID_EVENT)

// There are no samplers.
cl_int CL_API_CALL clRetainSampler(cl_sampler) { return CL_INVALID_SAMPLER; }
cl_int CL_API_CALL clReleaseSampler(cl_sampler) { return CL_INVALID_SAMPLER; }

cl_context CL_API_CALL clCreateContext(
    const cl_context_properties*, cl_uint count, const cl_device_id* devices,
    void(CL_CALLBACK*)(const char*, const void*, std::size_t, void*), void*, cl_int* status) {
  STUB_CREATE(clCreateContext);
  if (count != 1 || devices == nullptr) return refused(status, CL_INVALID_VALUE);
  if (!is_live(devices[0], kDevice)) return refused(status, CL_INVALID_DEVICE);
  return made(status, new _cl_context(devices[0]));
}

cl_int CL_API_CALL clGetContextInfo(cl_context context, cl_context_info name, std::size_t room,
                                    void* value, std::size_t* size) {
  STUB_CALL(clGetContextInfo);
  if (!is_live(context, kContext)) return CL_INVALID_CONTEXT;
  const Answer answer{room, value, size};
  switch (name) {
    case CL_CONTEXT_NUM_DEVICES:
      return answer.of(cl_uint{1});
    case CL_CONTEXT_DEVICES:
      return answer.of(context->device);
    case CL_CONTEXT_REFERENCE_COUNT:
      return answer.of(context->references.load());
    default:
      return CL_INVALID_VALUE;
  }
}

cl_command_queue CL_API_CALL clCreateCommandQueue(cl_context context, cl_device_id device,
                                                  cl_command_queue_properties properties,
                                                  cl_int* status) {
  STUB_CREATE(clCreateCommandQueue);
  if (!is_live(context, kContext)) return refused(status, CL_INVALID_CONTEXT);
  if (!is_live(device, kDevice) || device != context->device)
    return refused(status, CL_INVALID_DEVICE);
  if ((properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0 && !device->is.out_of_order)
    return refused(status, CL_INVALID_QUEUE_PROPERTIES);
  return made(status, new _cl_command_queue(context, properties));
}

cl_int CL_API_CALL clGetCommandQueueInfo(cl_command_queue queue, cl_command_queue_info name,
                                         std::size_t room, void* value, std::size_t* size) {
  STUB_CALL(clGetCommandQueueInfo);
  if (!is_live(queue, kQueue)) return CL_INVALID_COMMAND_QUEUE;
  const Answer answer{room, value, size};
  switch (name) {
    case CL_QUEUE_CONTEXT:
      return answer.of(queue->context.get());
    case CL_QUEUE_DEVICE:
      return answer.of(queue->context->device);
    case CL_QUEUE_PROPERTIES:
      return answer.of(queue->properties);
    case CL_QUEUE_REFERENCE_COUNT:
      return answer.of(queue->references.load());
    default:
      return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL clFlush(cl_command_queue queue) {
  STUB_CALL(clFlush);
  return is_live(queue, kQueue) ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE;
}

cl_int CL_API_CALL clFinish(cl_command_queue queue) {
  STUB_CALL(clFinish);
  if (!is_live(queue, kQueue)) return CL_INVALID_COMMAND_QUEUE;
  wait_until([&] { return queue->deferred.load() == 0; });
  return CL_SUCCESS;
}

// ---- Events ----

cl_event CL_API_CALL clCreateUserEvent(cl_context context, cl_int* status) {
  STUB_CREATE(clCreateUserEvent);
  if (!is_live(context, kContext)) return refused(status, CL_INVALID_CONTEXT);
  return made(status, new _cl_event(context, nullptr, CL_COMMAND_USER));
}

cl_int CL_API_CALL clSetUserEventStatus(cl_event event, cl_int status) {
  STUB_CALL(clSetUserEventStatus);
  if (!is_live(event, kEvent) || event->type != CL_COMMAND_USER) return CL_INVALID_EVENT;
  if (status > CL_COMPLETE) return CL_INVALID_VALUE;
  if (event->is_set.exchange(true)) return CL_INVALID_OPERATION;
  const Ref<_cl_event> kept(event);
  end_event(event, status);
  return CL_SUCCESS;
}

cl_int CL_API_CALL clSetEventCallback(cl_event event, cl_int at,
                                      void(CL_CALLBACK* call)(cl_event, cl_int, void*),
                                      void* user) {
  STUB_CALL(clSetEventCallback);
  if (!is_live(event, kEvent)) return CL_INVALID_EVENT;
  if (call == nullptr || at < CL_COMPLETE || at > CL_SUBMITTED) return CL_INVALID_VALUE;
  watchers.fetch_add(1);
  {
    const std::lock_guard<std::mutex> lock(waiting_mutex);
    callbacks.push_back({Ref<_cl_event>(event), at, call, user});
  }
  settle_once();
  return CL_SUCCESS;
}

cl_int CL_API_CALL clWaitForEvents(cl_uint count, const cl_event* events) {
  STUB_CALL(clWaitForEvents);
  if (count == 0 || events == nullptr) return CL_INVALID_VALUE;
  for (cl_uint i = 0; i < count; ++i) {
    if (!is_live(events[i], kEvent)) return CL_INVALID_EVENT;
    if (events[i]->context.get() != events[0]->context.get()) return CL_INVALID_CONTEXT;
  }
  wait_until([&] {
    return std::all_of(events, events + count, [](cl_event event) { return event->is_over(); });
  });
  const bool failed = std::any_of(
      events, events + count, [](cl_event event) { return event->status.load() < CL_COMPLETE; });
  return failed ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_SUCCESS;
}

cl_int CL_API_CALL clGetEventInfo(cl_event event, cl_event_info name, std::size_t room, void* value,
                                  std::size_t* size) {
  STUB_CALL(clGetEventInfo);
  if (!is_live(event, kEvent)) return CL_INVALID_EVENT;
  const Answer answer{room, value, size};
  switch (name) {
    case CL_EVENT_COMMAND_QUEUE:
      return answer.of(event->queue.get());
    case CL_EVENT_CONTEXT:
      return answer.of(event->context.get());
    case CL_EVENT_COMMAND_TYPE:
      return answer.of(event->type);
    case CL_EVENT_COMMAND_EXECUTION_STATUS:
      return answer.of(event->status.load());
    case CL_EVENT_REFERENCE_COUNT:
      return answer.of(event->references.load());
    default:
      return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL clGetEventProfilingInfo(cl_event event, cl_profiling_info name, std::size_t room,
                                           void* value, std::size_t* size) {
  STUB_CALL(clGetEventProfilingInfo);
  if (!is_live(event, kEvent)) return CL_INVALID_EVENT;
  if (event->queue.get() == nullptr || event->status.load() != CL_COMPLETE ||
      (event->queue->properties & CL_QUEUE_PROFILING_ENABLE) == 0) {
    return CL_PROFILING_INFO_NOT_AVAILABLE;
  }
  const Answer answer{room, value, size};
  switch (name) {
    case CL_PROFILING_COMMAND_QUEUED:
    case CL_PROFILING_COMMAND_SUBMIT:
      return answer.of(event->queued);
    case CL_PROFILING_COMMAND_START:
      return answer.of(event->start);
    case CL_PROFILING_COMMAND_END:
    case CL_PROFILING_COMMAND_COMPLETE:
      return answer.of(event->end);
    default:
      return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint count,
                                               const cl_event* waits, cl_event* done) {
  STUB_CALL(clEnqueueMarkerWithWaitList);
  if (!is_live(queue, kQueue)) return CL_INVALID_COMMAND_QUEUE;
  return enqueue(queue, CL_COMMAND_MARKER, count, waits, done, false, 1, {});
}

// ---- Memory ----

cl_mem CL_API_CALL clCreateBuffer(cl_context context, cl_mem_flags flags, std::size_t bytes,
                                  void* host, cl_int* status) {
  STUB_CREATE(clCreateBuffer);
  if (!is_live(context, kContext)) return refused(status, CL_INVALID_CONTEXT);
  if (!are_flags(flags)) return refused(status, CL_INVALID_VALUE);
  if (bytes == 0 || bytes > context->device->is.max_allocation)
    return refused(status, CL_INVALID_BUFFER_SIZE);
  auto* out = new _cl_mem(context, CL_MEM_OBJECT_BUFFER, flags, bytes);
  if (const cl_int code = allocate(*out, host); code != CL_SUCCESS) {
    release(out);
    return refused(status, code);
  }
  return made(status, out);
}

cl_mem CL_API_CALL clCreateSubBuffer(cl_mem parent, cl_mem_flags flags, cl_buffer_create_type type,
                                     const void* info, cl_int* status) {
  STUB_CREATE(clCreateSubBuffer);
  if (!is_buffer(parent) || parent->parent.get() != nullptr)
    return refused(status, CL_INVALID_MEM_OBJECT);
  if (type != CL_BUFFER_CREATE_TYPE_REGION || info == nullptr || !are_flags(flags))
    return refused(status, CL_INVALID_VALUE);
  const auto& region = *static_cast<const cl_buffer_region*>(info);
  if (region.size == 0) return refused(status, CL_INVALID_BUFFER_SIZE);
  if (region.origin > parent->bytes || region.size > parent->bytes - region.origin)
    return refused(status, CL_INVALID_VALUE);
  if (region.origin % parent->context->device->is.base_alignment != 0)
    return refused(status, CL_MISALIGNED_SUB_BUFFER_OFFSET);
  const cl_mem_flags access = CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY;
  auto* out =
      new _cl_mem(parent->context.get(), CL_MEM_OBJECT_BUFFER,
                  (flags & access) != 0 ? flags : flags | (parent->flags & access), region.size);
  out->parent = Ref<_cl_mem>(parent);
  out->origin = region.origin;
  out->data = parent->data + region.origin;
  return made(status, out);
}

// An image over a whole buffer: as PoCL, no sub-buffer.
static cl_mem image_over_buffer(cl_context context, cl_mem_flags flags,
                                const cl_image_format& format, const cl_image_desc& desc,
                                const void* host, cl_int* status) {
  if (!is_buffer(desc.buffer) || desc.buffer->parent.get() != nullptr || desc.image_width == 0)
    return refused(status, CL_INVALID_IMAGE_DESCRIPTOR);
  if (desc.buffer->context.get() != context) return refused(status, CL_INVALID_CONTEXT);
  if (host != nullptr) return refused(status, CL_INVALID_HOST_PTR);
  const std::size_t texel = texel_bytes(format);
  if (texel == 0) return refused(status, CL_IMAGE_FORMAT_NOT_SUPPORTED);
  if (desc.image_width > kImageMaxBuffer || desc.image_width * texel > desc.buffer->bytes)
    return refused(status, CL_INVALID_IMAGE_SIZE);
  auto* out = new _cl_mem(context, CL_MEM_OBJECT_IMAGE1D_BUFFER, flags, desc.image_width * texel);
  out->parent = Ref<_cl_mem>(desc.buffer);
  out->data = desc.buffer->data;
  out->format = format;
  out->width = desc.image_width;
  out->height = 1;
  out->texel = texel;
  return made(status, out);
}

cl_mem CL_API_CALL clCreateImage(cl_context context, cl_mem_flags flags,
                                 const cl_image_format* format, const cl_image_desc* desc,
                                 void* host, cl_int* status) {
  STUB_CREATE(clCreateImage);
  if (!is_live(context, kContext)) return refused(status, CL_INVALID_CONTEXT);
  const Device& device = context->device->is;
  if (!device.images) return refused(status, CL_INVALID_OPERATION);
  if (!are_flags(flags)) return refused(status, CL_INVALID_VALUE);
  if (format == nullptr) return refused(status, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
  if (desc != nullptr && desc->image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER)
    return image_over_buffer(context, flags, *format, *desc, host, status);
  if (desc == nullptr || desc->image_type != CL_MEM_OBJECT_IMAGE2D || desc->image_width == 0 ||
      desc->image_height == 0 || desc->image_row_pitch != 0)
    return refused(status, CL_INVALID_IMAGE_DESCRIPTOR);
  if (desc->image_width > device.image_size || desc->image_height > device.image_size)
    return refused(status, CL_INVALID_IMAGE_SIZE);
  const std::size_t texel = texel_bytes(*format);
  if (texel == 0) return refused(status, CL_IMAGE_FORMAT_NOT_SUPPORTED);
  auto* out = new _cl_mem(context, CL_MEM_OBJECT_IMAGE2D, flags,
                          desc->image_width * desc->image_height * texel);
  out->format = *format;
  out->width = desc->image_width;
  out->height = desc->image_height;
  out->texel = texel;
  if (const cl_int code = allocate(*out, host); code != CL_SUCCESS) {
    release(out);
    return refused(status, code);
  }
  return made(status, out);
}

cl_int CL_API_CALL clGetSupportedImageFormats(cl_context context, cl_mem_flags,
                                              cl_mem_object_type type, cl_uint room,
                                              cl_image_format* formats, cl_uint* count) {
  STUB_CALL(clGetSupportedImageFormats);
  if (!is_live(context, kContext)) return CL_INVALID_CONTEXT;
  std::vector<cl_image_format> all;
  if (context->device->is.images && type == CL_MEM_OBJECT_IMAGE2D) {
    for (const int order : {CL_R, CL_RG, CL_RGBA}) {
      for (const int channel : {CL_UNORM_INT8, CL_UNSIGNED_INT8, CL_UNORM_INT16, CL_UNSIGNED_INT16,
                                CL_HALF_FLOAT, CL_FLOAT}) {
        all.push_back(
            {static_cast<cl_channel_order>(order), static_cast<cl_channel_type>(channel)});
      }
    }
  }
  if (formats != nullptr)
    std::copy_n(all.begin(), std::min<std::size_t>(room, all.size()), formats);
  if (count != nullptr) *count = static_cast<cl_uint>(all.size());
  return CL_SUCCESS;
}

cl_int CL_API_CALL clGetMemObjectInfo(cl_mem memory, cl_mem_info name, std::size_t room,
                                      void* value, std::size_t* size) {
  STUB_CALL(clGetMemObjectInfo);
  if (!is_live(memory, kMemory)) return CL_INVALID_MEM_OBJECT;
  const Answer answer{room, value, size};
  switch (name) {
    case CL_MEM_TYPE:
      return answer.of(memory->type);
    case CL_MEM_FLAGS:
      return answer.of(memory->flags);
    case CL_MEM_SIZE:
      return answer.of(memory->bytes);
    case CL_MEM_HOST_PTR:
      return answer.of(memory->host);
    case CL_MEM_CONTEXT:
      return answer.of(memory->context.get());
    case CL_MEM_ASSOCIATED_MEMOBJECT:
      return answer.of(memory->parent.get());
    case CL_MEM_OFFSET:
      return answer.of(memory->origin);
    case CL_MEM_REFERENCE_COUNT:
      return answer.of(memory->references.load());
    default:
      return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL clGetImageInfo(cl_mem image, cl_image_info name, std::size_t room, void* value,
                                  std::size_t* size) {
  STUB_CALL(clGetImageInfo);
  if (!is_image(image)) return CL_INVALID_MEM_OBJECT;
  const Answer answer{room, value, size};
  switch (name) {
    case CL_IMAGE_FORMAT:
      return answer.of(image->format);
    case CL_IMAGE_ELEMENT_SIZE:
      return answer.of(image->texel);
    case CL_IMAGE_ROW_PITCH:
      return answer.of(image->width * image->texel);
    case CL_IMAGE_WIDTH:
      return answer.of(image->width);
    case CL_IMAGE_HEIGHT:
      return answer.of(image->height);
    case CL_IMAGE_DEPTH:
    case CL_IMAGE_SLICE_PITCH:
      return answer.of(std::size_t{0});
    default:
      return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                       std::size_t offset, std::size_t bytes, void* host,
                                       cl_uint count, const cl_event* waits, cl_event* done) {
  STUB_ENQUEUE(clEnqueueReadBuffer, is_buffer(buffer), buffer);
  if (host == nullptr || offset > buffer->bytes || bytes > buffer->bytes - offset)
    return CL_INVALID_VALUE;
  return enqueue(
      queue, CL_COMMAND_READ_BUFFER, count, waits, done, blocking != CL_FALSE, copy_time(bytes),
      [=, from = Ref<_cl_mem>(buffer)] { std::memcpy(host, from->data + offset, bytes); });
}

cl_int CL_API_CALL clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                        std::size_t offset, std::size_t bytes, const void* host,
                                        cl_uint count, const cl_event* waits, cl_event* done) {
  STUB_ENQUEUE(clEnqueueWriteBuffer, is_buffer(buffer), buffer);
  if (host == nullptr || offset > buffer->bytes || bytes > buffer->bytes - offset)
    return CL_INVALID_VALUE;
  return enqueue(queue, CL_COMMAND_WRITE_BUFFER, count, waits, done, blocking != CL_FALSE,
                 copy_time(bytes),
                 [=, to = Ref<_cl_mem>(buffer)] { std::memcpy(to->data + offset, host, bytes); });
}

cl_int CL_API_CALL clEnqueueReadBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                           const std::size_t* origin,
                                           const std::size_t* host_origin,
                                           const std::size_t* region, std::size_t row,
                                           std::size_t slice, std::size_t host_row,
                                           std::size_t host_slice, void* host, cl_uint count,
                                           const cl_event* waits, cl_event* done) {
  STUB_ENQUEUE(clEnqueueReadBufferRect, is_buffer(buffer), buffer);
  Box here{};
  Box there{};
  if (host == nullptr || region[0] * region[1] * region[2] == 0 ||
      !make_box(origin, region, row, slice, here) ||
      !make_box(host_origin, region, host_row, host_slice, there) || !fits(*buffer, here, region))
    return CL_INVALID_VALUE;
  const std::array<std::size_t, 3> box{region[0], region[1], region[2]};
  return enqueue(queue, CL_COMMAND_READ_BUFFER_RECT, count, waits, done, blocking != CL_FALSE,
                 copy_time(box[0] * box[1] * box[2]), [=, from = Ref<_cl_mem>(buffer)] {
                   copy_box(from->data, here, static_cast<unsigned char*>(host), there, box);
                 });
}

cl_int CL_API_CALL clEnqueueWriteBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                            const std::size_t* origin,
                                            const std::size_t* host_origin,
                                            const std::size_t* region, std::size_t row,
                                            std::size_t slice, std::size_t host_row,
                                            std::size_t host_slice, const void* host, cl_uint count,
                                            const cl_event* waits, cl_event* done) {
  STUB_ENQUEUE(clEnqueueWriteBufferRect, is_buffer(buffer), buffer);
  Box here{};
  Box there{};
  if (host == nullptr || region[0] * region[1] * region[2] == 0 ||
      !make_box(origin, region, row, slice, here) ||
      !make_box(host_origin, region, host_row, host_slice, there) || !fits(*buffer, here, region))
    return CL_INVALID_VALUE;
  const std::array<std::size_t, 3> box{region[0], region[1], region[2]};
  return enqueue(queue, CL_COMMAND_WRITE_BUFFER_RECT, count, waits, done, blocking != CL_FALSE,
                 copy_time(box[0] * box[1] * box[2]), [=, to = Ref<_cl_mem>(buffer)] {
                   copy_box(static_cast<const unsigned char*>(host), there, to->data, here, box);
                 });
}

cl_int CL_API_CALL clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer, const void* pattern,
                                       std::size_t pattern_bytes, std::size_t offset,
                                       std::size_t bytes, cl_uint count, const cl_event* waits,
                                       cl_event* done) {
  STUB_ENQUEUE(clEnqueueFillBuffer, is_buffer(buffer), buffer);
  if (pattern == nullptr || pattern_bytes == 0 || offset % pattern_bytes != 0 ||
      bytes % pattern_bytes != 0 || offset > buffer->bytes || bytes > buffer->bytes - offset)
    return CL_INVALID_VALUE;
  const auto* first = static_cast<const unsigned char*>(pattern);
  return enqueue(queue, CL_COMMAND_FILL_BUFFER, count, waits, done, false, copy_time(bytes),
                 [=, to = Ref<_cl_mem>(buffer),
                  one = std::vector<unsigned char>(first, first + pattern_bytes)] {
                   for (std::size_t i = 0; i < bytes; i += one.size())
                     std::memcpy(to->data + offset + i, one.data(), one.size());
                 });
}

cl_int CL_API_CALL clEnqueueCopyBuffer(cl_command_queue queue, cl_mem src, cl_mem dst,
                                       std::size_t src_offset, std::size_t dst_offset,
                                       std::size_t bytes, cl_uint count, const cl_event* waits,
                                       cl_event* done) {
  STUB_ENQUEUE(clEnqueueCopyBuffer, is_buffer(src) && is_buffer(dst), src, dst);
  if (src_offset > src->bytes || bytes > src->bytes - src_offset || dst_offset > dst->bytes ||
      bytes > dst->bytes - dst_offset)
    return CL_INVALID_VALUE;
  const unsigned char* a = src->data + src_offset;
  const unsigned char* b = dst->data + dst_offset;
  if (a < b + bytes && b < a + bytes) return CL_MEM_COPY_OVERLAP;
  return enqueue(queue, CL_COMMAND_COPY_BUFFER, count, waits, done, false, copy_time(bytes),
                 [=, from = Ref<_cl_mem>(src), to = Ref<_cl_mem>(dst)] {
                   std::memcpy(to->data + dst_offset, from->data + src_offset, bytes);
                 });
}

cl_int CL_API_CALL clEnqueueCopyBufferRect(cl_command_queue queue, cl_mem src, cl_mem dst,
                                           const std::size_t* src_origin,
                                           const std::size_t* dst_origin, const std::size_t* region,
                                           std::size_t src_row, std::size_t src_slice,
                                           std::size_t dst_row, std::size_t dst_slice,
                                           cl_uint count, const cl_event* waits, cl_event* done) {
  // PoCL 3.1 ends the process where one is a part of a buffer.
  STUB_ENQUEUE(clEnqueueCopyBufferRect,
               is_buffer(src) && is_buffer(dst) && src->parent.get() == nullptr &&
                   dst->parent.get() == nullptr,
               src, dst);
  Box here{};
  Box there{};
  if (src == dst || region[0] * region[1] * region[2] == 0 ||
      !make_box(src_origin, region, src_row, src_slice, here) ||
      !make_box(dst_origin, region, dst_row, dst_slice, there) || !fits(*src, here, region) ||
      !fits(*dst, there, region))
    return CL_INVALID_VALUE;
  const std::array<std::size_t, 3> box{region[0], region[1], region[2]};
  return enqueue(queue, CL_COMMAND_COPY_BUFFER_RECT, count, waits, done, false,
                 copy_time(box[0] * box[1] * box[2]),
                 [=, from = Ref<_cl_mem>(src), to = Ref<_cl_mem>(dst)] {
                   copy_box(from->data, here, to->data, there, box);
                 });
}

void* CL_API_CALL clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                     cl_map_flags flags, std::size_t offset, std::size_t bytes,
                                     cl_uint count, const cl_event* waits, cl_event* done,
                                     cl_int* status) {
  STUB_CREATE(clEnqueueMapBuffer);
  if (!is_live(queue, kQueue)) return refused(status, CL_INVALID_COMMAND_QUEUE);
  if (!is_buffer(buffer)) return refused(status, CL_INVALID_MEM_OBJECT);
  if (buffer->context.get() != queue->context.get()) return refused(status, CL_INVALID_CONTEXT);
  if (flags == 0 || bytes == 0 || offset > buffer->bytes || bytes > buffer->bytes - offset)
    return refused(status, CL_INVALID_VALUE);
  const cl_int code =
      enqueue(queue, CL_COMMAND_MAP_BUFFER, count, waits, done, blocking != CL_FALSE, 1, [] {});
  if (code != CL_SUCCESS) return refused(status, code);
  buffer->maps.fetch_add(1);
  return made(status, static_cast<void*>(buffer->data + offset));
}

cl_int CL_API_CALL clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem memory, void* mapped,
                                           cl_uint count, const cl_event* waits, cl_event* done) {
  STUB_ENQUEUE(clEnqueueUnmapMemObject, is_buffer(memory), memory);
  auto* const at = static_cast<unsigned char*>(mapped);
  if (memory->maps.load() == 0 || at < memory->data || at >= memory->data + memory->bytes)
    return CL_INVALID_VALUE;
  const cl_int code = enqueue(queue, CL_COMMAND_UNMAP_MEM_OBJECT, count, waits, done, false, 1,
                              [held = Ref<_cl_mem>(memory)] {});
  if (code == CL_SUCCESS) memory->maps.fetch_sub(1);
  return code;
}

cl_int CL_API_CALL clEnqueueCopyImageToBuffer(cl_command_queue queue, cl_mem src, cl_mem dst,
                                              const std::size_t* origin, const std::size_t* region,
                                              std::size_t offset, cl_uint count,
                                              const cl_event* waits, cl_event* done) {
  STUB_ENQUEUE(clEnqueueCopyImageToBuffer, is_image(src) && is_buffer(dst), src, dst);
  const std::array<std::size_t, 3> box{region[0] * src->texel, region[1], 1};
  const std::size_t bytes = box[0] * box[1];
  if (!inside(*src, origin, region) || offset > dst->bytes || bytes > dst->bytes - offset)
    return CL_INVALID_VALUE;
  const Box here = texels(*src, origin);
  return enqueue(queue, CL_COMMAND_COPY_IMAGE_TO_BUFFER, count, waits, done, false,
                 copy_time(bytes), [=, from = Ref<_cl_mem>(src), to = Ref<_cl_mem>(dst)] {
                   copy_box(from->data, here, to->data, {offset, box[0], 0}, box);
                 });
}

cl_int CL_API_CALL clEnqueueCopyBufferToImage(cl_command_queue queue, cl_mem src, cl_mem dst,
                                              std::size_t offset, const std::size_t* origin,
                                              const std::size_t* region, cl_uint count,
                                              const cl_event* waits, cl_event* done) {
  STUB_ENQUEUE(clEnqueueCopyBufferToImage, is_buffer(src) && is_image(dst), src, dst);
  const std::array<std::size_t, 3> box{region[0] * dst->texel, region[1], 1};
  const std::size_t bytes = box[0] * box[1];
  if (!inside(*dst, origin, region) || offset > src->bytes || bytes > src->bytes - offset)
    return CL_INVALID_VALUE;
  const Box there = texels(*dst, origin);
  return enqueue(queue, CL_COMMAND_COPY_BUFFER_TO_IMAGE, count, waits, done, false,
                 copy_time(bytes), [=, from = Ref<_cl_mem>(src), to = Ref<_cl_mem>(dst)] {
                   copy_box(from->data, {offset, box[0], 0}, to->data, there, box);
                 });
}

cl_int CL_API_CALL clEnqueueReadImage(cl_command_queue queue, cl_mem image, cl_bool blocking,
                                      const std::size_t* origin, const std::size_t* region,
                                      std::size_t row, std::size_t, void* host, cl_uint count,
                                      const cl_event* waits, cl_event* done) {
  STUB_ENQUEUE(clEnqueueReadImage, is_image(image), image);
  const std::array<std::size_t, 3> box{region[0] * image->texel, region[1], 1};
  if (host == nullptr || !inside(*image, origin, region) || (row != 0 && row < box[0]))
    return CL_INVALID_VALUE;
  const Box here = texels(*image, origin);
  const Box there{0, row == 0 ? box[0] : row, 0};
  return enqueue(queue, CL_COMMAND_READ_IMAGE, count, waits, done, blocking != CL_FALSE,
                 copy_time(box[0] * box[1]), [=, from = Ref<_cl_mem>(image)] {
                   copy_box(from->data, here, static_cast<unsigned char*>(host), there, box);
                 });
}

cl_int CL_API_CALL clEnqueueWriteImage(cl_command_queue queue, cl_mem image, cl_bool blocking,
                                       const std::size_t* origin, const std::size_t* region,
                                       std::size_t row, std::size_t, const void* host,
                                       cl_uint count, const cl_event* waits, cl_event* done) {
  STUB_ENQUEUE(clEnqueueWriteImage, is_image(image), image);
  const std::array<std::size_t, 3> box{region[0] * image->texel, region[1], 1};
  if (host == nullptr || !inside(*image, origin, region) || (row != 0 && row < box[0]))
    return CL_INVALID_VALUE;
  const Box there = texels(*image, origin);
  const Box here{0, row == 0 ? box[0] : row, 0};
  return enqueue(queue, CL_COMMAND_WRITE_IMAGE, count, waits, done, blocking != CL_FALSE,
                 copy_time(box[0] * box[1]), [=, to = Ref<_cl_mem>(image)] {
                   copy_box(static_cast<const unsigned char*>(host), here, to->data, there, box);
                 });
}

// ---- Programs and kernels ----

cl_program CL_API_CALL clCreateProgramWithSource(cl_context context, cl_uint count,
                                                 const char** texts, const std::size_t* sizes,
                                                 cl_int* status) {
  STUB_CREATE(clCreateProgramWithSource);
  if (!is_live(context, kContext)) return refused(status, CL_INVALID_CONTEXT);
  if (count == 0 || texts == nullptr) return refused(status, CL_INVALID_VALUE);
  auto* out = new _cl_program(context);
  for (cl_uint i = 0; i < count; ++i) {
    if (sizes == nullptr || sizes[i] == 0) {
      out->source += texts[i];
    } else {
      out->source.append(texts[i], sizes[i]);
    }
  }
  return made(status, out);
}

cl_program CL_API_CALL clCreateProgramWithBinary(cl_context context, cl_uint count,
                                                 const cl_device_id* devices,
                                                 const std::size_t* sizes,
                                                 const unsigned char** binaries, cl_int* loaded,
                                                 cl_int* status) {
  STUB_CREATE(clCreateProgramWithBinary);
  if (!is_live(context, kContext)) return refused(status, CL_INVALID_CONTEXT);
  if (count != 1 || devices == nullptr || sizes == nullptr || binaries == nullptr)
    return refused(status, CL_INVALID_VALUE);
  if (devices[0] != context->device) return refused(status, CL_INVALID_DEVICE);
  const std::string binary(reinterpret_cast<const char*>(binaries[0]), sizes[0]);
  const std::string magic = kBinaryMagic;
  const std::size_t end = binary.find('\n', magic.size());
  if (binary.compare(0, magic.size(), magic) != 0 || end == std::string::npos) {
    if (loaded != nullptr) *loaded = CL_INVALID_BINARY;
    return refused(status, CL_INVALID_BINARY);
  }
  if (loaded != nullptr) *loaded = CL_SUCCESS;
  auto* out = new _cl_program(context);
  out->is_binary = true;
  out->options = binary.substr(magic.size(), end - magic.size());
  out->source = binary.substr(end + 1);
  return made(status, out);
}

cl_int CL_API_CALL clBuildProgram(cl_program program, cl_uint, const cl_device_id*,
                                  const char* options, void(CL_CALLBACK*)(cl_program, void*),
                                  void*) {
  STUB_CALL(clBuildProgram);
  if (!is_live(program, kProgram)) return CL_INVALID_PROGRAM;
  if (!program->is_binary) program->options = options == nullptr ? "" : options;
  if (!program->context->device->is.compiler && !program->is_binary)
    return CL_COMPILER_NOT_AVAILABLE;
  try {
    program->kernels = kernels_of(program->source, program->options);
    program->log.clear();
    program->status = CL_BUILD_SUCCESS;
    return CL_SUCCESS;
  } catch (const BuildError& error) {
    program->log = error.what();
    program->status = CL_BUILD_ERROR;
    return CL_BUILD_PROGRAM_FAILURE;
  }
}

cl_int CL_API_CALL clGetProgramInfo(cl_program program, cl_program_info name, std::size_t room,
                                    void* value, std::size_t* size) {
  STUB_CALL(clGetProgramInfo);
  if (!is_live(program, kProgram)) return CL_INVALID_PROGRAM;
  const Answer answer{room, value, size};
  const std::string binary = program->status == CL_BUILD_SUCCESS
                                 ? kBinaryMagic + program->options + "\n" + program->source
                                 : std::string();
  switch (name) {
    case CL_PROGRAM_NUM_DEVICES:
      return answer.of(cl_uint{1});
    case CL_PROGRAM_DEVICES:
      return answer.of(program->context->device);
    case CL_PROGRAM_CONTEXT:
      return answer.of(program->context.get());
    case CL_PROGRAM_SOURCE:
      return answer.text(program->is_binary ? "" : program->source);
    case CL_PROGRAM_BINARY_SIZES:
      return answer.of(binary.size());
    case CL_PROGRAM_BINARIES:
      if (value != nullptr && *static_cast<unsigned char**>(value) != nullptr)
        std::memcpy(*static_cast<unsigned char**>(value), binary.data(), binary.size());
      if (size != nullptr) *size = sizeof(unsigned char*);
      return CL_SUCCESS;
    case CL_PROGRAM_REFERENCE_COUNT:
      return answer.of(program->references.load());
    default:
      return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL clGetProgramBuildInfo(cl_program program, cl_device_id device,
                                         cl_program_build_info name, std::size_t room, void* value,
                                         std::size_t* size) {
  STUB_CALL(clGetProgramBuildInfo);
  if (!is_live(program, kProgram)) return CL_INVALID_PROGRAM;
  if (device != program->context->device) return CL_INVALID_DEVICE;
  const Answer answer{room, value, size};
  switch (name) {
    case CL_PROGRAM_BUILD_LOG:
      return answer.text(program->log);
    case CL_PROGRAM_BUILD_STATUS:
      return answer.of(program->status);
    case CL_PROGRAM_BUILD_OPTIONS:
      return answer.text(program->options);
    default:
      return CL_INVALID_VALUE;
  }
}

cl_kernel CL_API_CALL clCreateKernel(cl_program program, const char* name, cl_int* status) {
  STUB_CREATE(clCreateKernel);
  if (!is_live(program, kProgram)) return refused(status, CL_INVALID_PROGRAM);
  if (program->kernels == nullptr) return refused(status, CL_INVALID_PROGRAM_EXECUTABLE);
  if (name == nullptr) return refused(status, CL_INVALID_VALUE);
  const auto found = program->kernels->find(name);
  if (found == program->kernels->end()) return refused(status, CL_INVALID_KERNEL_NAME);
  return made(status, new _cl_kernel(program, name, found->second));
}

cl_int CL_API_CALL clGetKernelInfo(cl_kernel kernel, cl_kernel_info name, std::size_t room,
                                   void* value, std::size_t* size) {
  STUB_CALL(clGetKernelInfo);
  if (!is_live(kernel, kKernel)) return CL_INVALID_KERNEL;
  const Answer answer{room, value, size};
  switch (name) {
    case CL_KERNEL_FUNCTION_NAME:
      return answer.text(kernel->name);
    case CL_KERNEL_NUM_ARGS:
      return answer.of(static_cast<cl_uint>(kernel->arguments.size()));
    case CL_KERNEL_REFERENCE_COUNT:
      return answer.of(kernel->references.load());
    case CL_KERNEL_PROGRAM:
      return answer.of(kernel->program.get());
    case CL_KERNEL_CONTEXT:
      return answer.of(kernel->program->context.get());
    default:
      return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device,
                                            cl_kernel_work_group_info name, std::size_t room,
                                            void* value, std::size_t* size) {
  STUB_CALL(clGetKernelWorkGroupInfo);
  if (!is_live(kernel, kKernel)) return CL_INVALID_KERNEL;
  if (device != nullptr && device != kernel->program->context->device) return CL_INVALID_DEVICE;
  const Answer answer{room, value, size};
  switch (name) {
    case CL_KERNEL_WORK_GROUP_SIZE:
      return answer.of(max_group_of(kernel));
    case CL_KERNEL_COMPILE_WORK_GROUP_SIZE:
      return answer.of(kernel->text.required);
    case CL_KERNEL_LOCAL_MEM_SIZE:
      return answer.of(cl_ulong{limit_of(kernel->name).local_bytes});
    case CL_KERNEL_PRIVATE_MEM_SIZE:
      return answer.of(cl_ulong{0});
    case CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
      return answer.of(std::size_t{32});
    default:
      return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL clSetKernelArg(cl_kernel kernel, cl_uint index, std::size_t bytes,
                                  const void* value) {
  STUB_CALL(clSetKernelArg);
  if (!is_live(kernel, kKernel)) return CL_INVALID_KERNEL;
  if (index >= kernel->arguments.size()) return CL_INVALID_ARG_INDEX;
  const Parameter& parameter = kernel->text.parameters[index];
  _cl_kernel::Argument& argument = kernel->arguments[index];
  switch (parameter.kind) {
    case Parameter::Kind::local:
      if (value != nullptr) return CL_INVALID_ARG_VALUE;
      if (bytes == 0) return CL_INVALID_ARG_SIZE;
      argument = {true, {}, nullptr, bytes};
      return CL_SUCCESS;
    case Parameter::Kind::memory:
    case Parameter::Kind::image:
    case Parameter::Kind::buffer_image: {
      if (bytes != sizeof(cl_mem)) return CL_INVALID_ARG_SIZE;
      const cl_mem memory = value == nullptr ? nullptr : *static_cast<const cl_mem*>(value);
      const bool fits = parameter.kind == Parameter::Kind::image ? is_image(memory)
                        : parameter.kind == Parameter::Kind::buffer_image
                            ? is_buffer_image(memory)
                            : memory == nullptr || is_buffer(memory);
      if (!fits) return CL_INVALID_MEM_OBJECT;
      argument = {true, {}, memory, 0};
      return CL_SUCCESS;
    }
    case Parameter::Kind::value:
      break;
  }
  if (value == nullptr) return CL_INVALID_ARG_VALUE;
  if (bytes == 0 || (parameter.bytes != 0 && bytes != parameter.bytes)) return CL_INVALID_ARG_SIZE;
  const auto* first = static_cast<const unsigned char*>(value);
  argument = {true, std::vector<unsigned char>(first, first + bytes), nullptr, 0};
  return CL_SUCCESS;
}

cl_int CL_API_CALL clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dims,
                                          const std::size_t*, const std::size_t* global,
                                          const std::size_t* local, cl_uint count,
                                          const cl_event* waits, cl_event* done) {
  STUB_CALL(clEnqueueNDRangeKernel);
  if (!is_live(queue, kQueue)) return CL_INVALID_COMMAND_QUEUE;
  if (!is_live(kernel, kKernel)) return CL_INVALID_KERNEL;
  if (kernel->program->context.get() != queue->context.get()) return CL_INVALID_CONTEXT;
  if (dims < 1 || dims > 3) return CL_INVALID_WORK_DIMENSION;
  if (global == nullptr) return CL_INVALID_GLOBAL_WORK_SIZE;
  const Device& device = queue->context->device->is;
  Launch launch;
  std::size_t items = 1;
  std::size_t group = 1;
  for (std::size_t d = 0; d < dims; ++d) {
    launch.global[d] = global[d];
    if (local != nullptr) launch.local[d] = local[d];
    if (launch.global[d] == 0) return CL_INVALID_GLOBAL_WORK_SIZE;
    if (launch.local[d] == 0 || launch.global[d] % launch.local[d] != 0)
      return CL_INVALID_WORK_GROUP_SIZE;
    if (launch.local[d] > device.max_items[d]) return CL_INVALID_WORK_ITEM_SIZE;
    items *= launch.global[d];
    group *= launch.local[d];
  }
  if (group > max_group_of(kernel)) return CL_INVALID_WORK_GROUP_SIZE;
  const auto& required = kernel->text.required;
  if (required[0] != 0 && launch.local != required) return CL_INVALID_WORK_GROUP_SIZE;
  std::vector<Ref<_cl_mem>> used;  // a command keeps what it uses
  std::size_t local_bytes = limit_of(kernel->name).local_bytes;
  for (const _cl_kernel::Argument& one : kernel->arguments) {
    if (!one.is_set) return CL_INVALID_KERNEL_ARGS;
    Launch::Argument argument;
    argument.value = one.value;
    argument.bytes = one.local_bytes;
    local_bytes += one.local_bytes;
    if (one.memory != nullptr) {
      if (!is_live(one.memory, kMemory)) return CL_INVALID_KERNEL_ARGS;
      if (one.memory->context.get() != queue->context.get()) return CL_INVALID_CONTEXT;
      used.emplace_back(one.memory);
      argument.memory = one.memory->data;
      argument.bytes = one.memory->bytes;
    }
    launch.arguments.push_back(std::move(argument));
  }
  if (local_bytes > device.local_memory) return CL_OUT_OF_RESOURCES;
  std::shared_ptr<const KernelFunction> function;
  {
    const std::shared_lock<std::shared_mutex> lock(functions_mutex);
    const auto found = functions().find(kernel->name);
    if (found != functions().end()) function = found->second;
  }
  return enqueue(
      queue, CL_COMMAND_NDRANGE_KERNEL, count, waits, done, false, 2000 + items / 64,
      [launch = std::move(launch), used = std::move(used), function] {
        if (function != nullptr) (*function)(launch);
      },
      function != nullptr);
}

}  // extern "C"
