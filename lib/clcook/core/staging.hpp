// Rows in host memory for plans on buffers: up and down at the speed of the bus, or in place.
//
//   const std::vector<float> src(640 * 480, 0.5f);
//   std::vector<float> dst(src.size());
//   const clcook::HostRows from{src.data(), 640 * 4, 640 * 4, 480};
//   const clcook::HostRowsToWrite to{dst.data(), 640 * 4, 640 * 4, 480};
//   clcook::Staging staging(runtime);  // kept for the next picture, as the two buffers are
//   cl::Buffer memory[2];
//   const clcook::Staged read = staging.up(from, memory[0]);
//   const clcook::Staged made = staging.place(to, memory[1], &from);
//   const clcook::WaitHandles waits(read.wait);
//   cl_event done = nullptr;  // or of a plan: plan(read.view, made.view, read.wait)
//   clcook::check(clEnqueueCopyBuffer(runtime.queue()(), read.view.buffer(), made.view.buffer(), 0, 0,
//                                     src.size() * 4, waits.count(), waits.data(), &done),
//                 "clEnqueueCopyBuffer");
//   staging.down(made, to, cl::Event(done));  // blocks until dst is written
#pragma once

#include <clcook/core/error.hpp>
#include <clcook/core/inline.hpp>
#include <clcook/core/runtime.hpp>
#include <clcook/core/view.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace clcook {

// Rows in the memory of the host, to write to.
struct HostRowsToWrite {
  void* begin = nullptr;
  std::size_t pitch = 0;  // bytes
  std::size_t row_bytes = 0;
  std::size_t rows = 0;
};

// How rows get from the host's memory to the device's and back.
enum class StripWay {
  automatic,  // mapped for CPUs, staged for all others
  staged,     // several threads copy through pinned buffers, which are mapped once and kept
  direct,     // OpenCL reads and writes the user's memory
  // Several threads fill and empty the kernels' buffers. That copies nothing more where these lie in
  // the host's memory, as on CPUs. NVIDIA's OpenCL keeps them on the device and moves them at each
  // map and unmap.
  mapped,
};

CLCOOK_INLINE const char* to_string(StripWay way);
// The way of that name. Throws Error(invalid_argument) that lists the names.
CLCOOK_INLINE StripWay parse_strip_way(std::string_view name);

struct StripOptions {
  int copy_threads =
      0;  // that copy between the user's and pinned memory; 0: up to 8 for each device
  StripWay way = StripWay::automatic;
};

// Rows of the host as a device sees them.
struct Staged {
  BufferView view;
  std::vector<cl::Event> wait;  // for commands that read them; empty: the queue's order is enough
  bool in_place = false;        // the view is of the host's own memory
};

// Called in several threads at once, for each of the bytes of rows, counted without gaps, `begin` to
// `end`, once, while they are in the caches. Each `begin` is a multiple of 12288, and so of the bytes
// of any pixel. Must not throw.
using StagedBytes = std::function<void(std::size_t begin, std::size_t end)>;

// Threads and pinned memory, kept from one call to the next. Of pinned memory it has 3 MiB at most
// for each thread. A staging is used by one thread at a time.
//
// With the way `automatic` kernels work on the user's memory on CPUs, where it is aligned to 16 bytes;
// else OpenCL copies up to 64 KiB by itself. For each half a megabyte one thread more copies. Results
// of 32 MiB and more go past the host's caches, unless somebody looks at them. On a CPU the thread
// that calls down() asks for its end for 200 us, and lets others run in between, before it sleeps; so
// do the threads that copy, on a GPU.
//
// Throws Error: invalid_argument, with nothing enqueued, where rows are null, empty or closer than
// they are long; out_of_resources, or opencl, as the commands end. Before an exception leaves, what
// was enqueued has ended.
class Staging {
 public:
  // Throws Error(invalid_argument) where the options are out of range.
  explicit Staging(Runtime runtime, StripOptions options = {});
  ~Staging();
  Staging(Staging&&) noexcept;
  Staging& operator=(Staging&&) noexcept;

  // The rows for kernels to read: in place, or `kept` filled with them without gaps, which is made
  // where it is too small. They must stay as they are until down() returns. `seen` is called before
  // that, and before down() writes.
  Staged up(const HostRows& src, cl::Buffer& kept, const StagedBytes& seen = {});

  // Memory for kernels to write rows to that down() brings to dst: in place, or `kept`, which is made
  // where it is too small. In place only where dst has no gaps and shares no byte with `src`.
  Staged place(const HostRowsToWrite& dst, cl::Buffer& kept, const HostRows* src);

  // Brings rows to dst once `made` is complete, an event of the runtime's queue, and blocks until
  // all are there. `each` is called after rows have come.
  void down(const Staged& from, const HostRowsToWrite& dst, const cl::Event& made,
            const StagedBytes& each = {});

  // Has work(begin, end) called in several threads for the bytes 0 to `bytes`.
  void each(std::size_t bytes, const StagedBytes& work);

  // The way that rows go; with the reason where it is not the wanted one: "direct (no pinned
  // memory: ...)".
  std::string describe() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace clcook

#if CLCOOK_DEFINITIONS
#include <clcook/core/impl/staging.hpp>
#endif
