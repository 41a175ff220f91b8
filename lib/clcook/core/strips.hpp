// Pictures, volumes and textures in host memory that go over one or several devices strip by strip:
// up, computed and down at the same time.
//
//   const std::vector<float> src(64 * 48, 1.0f);
//   std::vector<float> dst(64 * 48);
//   clcook::StripWork work;
//   work.src = {src.data(), 64 * 4, 64 * 4, 48};     // 48 rows of 64 floats
//   work.dst = {dst.data(), 64 * 4, 64 * 4, 48};
//   for (std::size_t y = 0; y < 48; y += 16)
//     work.strips.push_back({static_cast<std::int64_t>(y), 16, y, 16});  // reads what it makes
//   work.make = [](const clcook::Runtime& runtime) {  // once for each device
//     return [runtime](const clcook::Strip&, const cl::Buffer& from, const cl::Buffer& to,
//                      const std::vector<cl::Event>& wait) {
//       cl::Event done;
//       clcook::check(runtime.queue().enqueueCopyBuffer(from, to, 0, 0, 16 * 64 * 4, &wait, &done),
//                     "enqueueCopyBuffer");
//       return done;
//     };
//   };
//   clcook::StripPipeline pipeline({clcook::Runtime::pick()});
//   const clcook::StripReport report = pipeline.run(work);  // blocks until dst is written
//   std::puts(report.describe().c_str());
#pragma once

#include <clcook/core/error.hpp>
#include <clcook/core/inline.hpp>
#include <clcook/core/runtime.hpp>
#include <clcook/core/staging.hpp>
#include <clcook/core/view.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace clcook {

// A strip: the rows of the source that it reads, and the rows of the result that it makes.
struct Strip {
  std::int64_t from = 0;  // rows of the source are counted modulo their number: a periodic picture
                          // goes on before its first row and behind its last
  std::size_t from_rows = 0;
  std::size_t to = 0;
  std::size_t to_rows = 0;
};

// Computes a strip: enqueues the commands behind the events of `wait`, on the queue of the runtime
// that it was made for, and returns the last event. `from` holds the rows that the strip reads;
// `to` receives those that it makes. Both have no gaps and begin at byte 0. Called by one thread at
// a time.
using StripFunction =
    std::function<cl::Event(const Strip& strip, const cl::Buffer& from, const cl::Buffer& to,
                            const std::vector<cl::Event>& wait)>;

// What a pipeline does.
struct StripWork {
  HostRows src{nullptr, 0, 0, 0};
  HostRowsToWrite dst;
  std::vector<Strip> strips;  // their results do not overlap; in the order of the rows
  // Makes the function for a runtime: the runtime of each device is given in a thread of its own.
  std::function<StripFunction(const Runtime& runtime)> make;
  // Called in several threads for the bytes of the result, counted without gaps, that have come; where
  // a device fails more than once for some. Cut between strips or as for StagedBytes. Must not throw.
  std::function<void(std::size_t begin, std::size_t end)> each;
  std::string where = "StripPipeline";  // names the operation in errors
};

// What a call of a pipeline did.
struct StripReport {
  struct Device {
    std::string name;
    std::string way;      // how rows got there: "staged", and the reason where it is not the wanted
    std::size_t strips;   // that it made
    std::string failure;  // why the others made the rest; empty: it did not fail
  };
  std::vector<Device> devices;  // in the order of the runtimes
  std::size_t strips = 0;
  double seconds = 0;
  double bytes_up = 0;  // what strips read of each other's rows counts each time
  double bytes_down = 0;

  // A line, and a line for each device.
  std::string describe() const;
};

// Called with the number of rows from the first on that are written, which grows.
using StripProgress = std::function<void(std::size_t rows_done)>;

// Keeps queues, threads, and buffers in host memory and on the devices from one call to the next.
// For a stream, make one pipeline and call it for each frame.
//
// Every device has a queue for uploads and one for downloads, apart from that of its runtime.
// Devices take strips as they get ready. If a device fails, the others make its strips, and
// describe() says why; if all have failed, the error of the first is thrown. Runtimes may share a
// device, a context or a queue. A pipeline is used by one thread at a time.
class StripPipeline {
 public:
  // Throws Error: invalid_argument where there is no runtime or the options are out of range.
  explicit StripPipeline(std::vector<Runtime> runtimes, StripOptions options = {});
  ~StripPipeline();
  StripPipeline(StripPipeline&&) noexcept;
  StripPipeline& operator=(StripPipeline&&) noexcept;

  const std::vector<Runtime>& runtimes() const;

  // Makes all strips. Blocks until dst is written. `progress` is called in the calling thread; what
  // it throws ends the call and goes to the caller.
  //
  // Throws Error(invalid_argument), with nothing enqueued, where a strip, a pitch or a size is out
  // of range, or src and dst overlap. Before any exception leaves, all that was enqueued has ended;
  // the message says how many rows from the first on are written; others may be written too.
  StripReport run(const StripWork& work, const StripProgress& progress = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The number of rows per strip that keeps both the bus and the devices busy, for `rows` rows whose
// strips read `reach` more rows above and below. A row is `row_bytes` of source and result
// together, and needs `scratch_bytes` more on the device. A strip of a large picture is 64 MiB or
// 32 times the reach, or what fits a device; a small picture has at least four strips per device.
// The result is a multiple of `step`, unless there are fewer rows.
CLCOOK_INLINE std::size_t strip_rows_for(const std::vector<Runtime>& runtimes, std::size_t rows,
                                         std::size_t reach, std::size_t row_bytes,
                                         std::size_t scratch_bytes, std::size_t step = 1);

}  // namespace clcook

#if CLCOOK_DEFINITIONS
#include <clcook/core/impl/strips.hpp>
#endif
