// The definitions of clcook/core/strips.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <clcook/core/impl/staging.hpp>
#include <clcook/core/names.hpp>
#include <clcook/core/strips.hpp>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace clcook::detail {

inline constexpr std::size_t kStripSlots = 4;  // strips of a device on their way

inline void wait_for_strip(const cl::Event& event) { wait_asleep(event, kStripName); }

// What a device has for as long as the pipeline lives.
struct StripLane {
  struct Slot {
    cl::Buffer from;
    cl::Buffer to;
    std::size_t from_bytes = 0;
    std::size_t to_bytes = 0;
    StripWay way = StripWay::automatic;  // how its buffers are used
    bool busy = false;
  };

  StripLane(Runtime of, StripWay wanted, std::size_t copying)
      : runtime(std::move(of)),
        way(wanted),
        workers(copying),
        up_pieces(copying * kStagingSlots),
        down_pieces(copying * kStagingSlots) {
    if (way == StripWay::automatic) way = runtime.info().cpu ? StripWay::mapped : StripWay::staged;
  }

  cl::CommandQueue make_queue() const {
    cl_int status = CL_SUCCESS;
    cl::CommandQueue queue(create_queue(runtime.context()(), runtime.device()(), 0, &status));
    check(status, "clCreateCommandQueue");
    return queue;
  }

  // Queues and memory for strips of this size.
  void prepare(std::size_t from_bytes, std::size_t to_bytes) {
    if (up() == nullptr) {
      cl::CommandQueue first = make_queue();
      down = make_queue();
      up = first;
    }
    if (way == StripWay::staged) {
      try {
        up_pieces.reserve(runtime, up, piece_bytes(from_bytes, workers));
        down_pieces.reserve(runtime, down, piece_bytes(to_bytes, workers));
      } catch (const Error& error) {
        way = StripWay::direct;
        reason = text("no pinned memory: ", error.what());
        for (Slot& slot : ring) slot = Slot();
      }
    }
    up_pieces.begin();
    down_pieces.begin();
    for (Slot& slot : ring) slot.busy = false;
  }

  // The buffers of a slot that is free.
  void reserve(Slot& slot, std::size_t from_bytes, std::size_t to_bytes) {
    if (slot.from_bytes >= from_bytes && slot.to_bytes >= to_bytes) return;
    slot.from_bytes = slot.to_bytes = 0;
    slot.from = slot.to = cl::Buffer();
    slot.way = way;
    if (way == StripWay::mapped) {
      constexpr cl_mem_flags kFlags = CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR;
      try {
        slot.from = create_buffer(runtime, from_bytes, kFlags);
        slot.to = create_buffer(runtime, to_bytes, kFlags);
      } catch (const Error& error) {
        way = slot.way = StripWay::direct;
        reason = text("no buffer in host memory: ", error.what());
      }
    }
    if (slot.way != StripWay::mapped) {
      slot.from = create_buffer(runtime, from_bytes);
      slot.to = create_buffer(runtime, to_bytes);
    }
    slot.from_bytes = from_bytes;
    slot.to_bytes = to_bytes;
  }

  // Waits for everything, whatever became of it.
  void finish() {
    const cl_command_queue queues[] = {up(), runtime.queue()(), down()};
    for (const cl_command_queue queue : queues) {
      if (queue != nullptr) clFlush(queue);
    }
    for (const cl_command_queue queue : queues) {
      if (queue != nullptr) clFinish(queue);
    }
  }

  Runtime runtime;
  StripWay way;
  std::string reason;   // why it is not the wanted one
  std::size_t workers;  // that copy in one direction
  cl::CommandQueue up;
  cl::CommandQueue down;
  PinnedPieces up_pieces;
  PinnedPieces down_pieces;
  std::array<Slot, kStripSlots> ring;
};

// What the threads of a call share. `mutex` guards all but what never changes.
struct StripRun {
  StripRun(const StripWork& of, const StripProgress& to_tell, std::size_t lanes)
      : work(of), progress(to_tell), done(of.strips.size(), false), lanes_left(lanes) {
    again.reserve(done.size());
  }

  // Rows from the first on that are written.
  std::size_t rows_done() const {
    return leading == 0 ? 0 : work.strips[leading - 1].to + work.strips[leading - 1].to_rows;
  }
  bool is_over() const { return stop || done_count == work.strips.size(); }

  // In the calling thread: tells what is new. The lock is held before and after.
  bool tell(std::unique_lock<std::mutex>& lock) {
    const std::size_t rows = rows_done();
    if (rows == told || stop) return false;
    told = rows;
    if (!progress) return false;
    lock.unlock();
    std::exception_ptr thrown;
    try {
      progress(rows);
    } catch (...) {
      thrown = std::current_exception();
    }
    lock.lock();
    if (thrown) {
      from_progress = thrown;
      stop = true;
      changed.notify_all();
    }
    return true;
  }

  const StripWork& work;
  const StripProgress& progress;
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t next = 0;            // strip that nobody has taken yet
  std::vector<std::size_t> again;  // strips that a device left behind
  std::vector<bool> done;
  std::size_t done_count = 0;
  std::size_t leading = 0;  // strips from the first on that are done
  std::size_t told = 0;     // rows
  bool stop = false;
  std::size_t lanes_left;            // that have not failed
  std::exception_ptr first_failure;  // of a device
  std::exception_ptr from_progress;
};

// A device during a call: a thread that takes strips, brings them up and has them computed, and a
// thread that brings results down.
class StripWorker {
 public:
  StripWorker(StripLane& lane, StripRun& run, CopyThreads& copies, bool in_calling_thread)
      : lane_(lane), run_(run), copies_(copies), in_calling_thread_(in_calling_thread) {}

  // Returns when all strips are done, or this device or the call has failed; nothing of it is under
  // way then.
  void work() {
    std::thread drainer;
    try {
      prepare();
      drainer = std::thread([this] { guarded([this] { drain(); }); });
    } catch (...) {
      failed();
    }
    guarded([this] { feed(); });
    if (drainer.joinable()) drainer.join();
    end();
  }

  std::size_t made() const { return made_; }
  double bytes_up() const { return bytes_up_; }
  double bytes_down() const { return bytes_down_; }
  const std::exception_ptr& failure() const { return failure_; }

 private:
  struct Item {
    std::size_t strip = 0;
    StripLane::Slot* slot = nullptr;
    cl::Event computed;
  };
  struct Read {
    Item item;
    cl::Event event;
  };

  void prepare() {
    std::size_t from = 0;
    std::size_t to = 0;
    for (const Strip& strip : run_.work.strips) {
      from = std::max(from, strip.from_rows * run_.work.src.row_bytes);
      to = std::max(to, strip.to_rows * run_.work.dst.row_bytes);
    }
    lane_.prepare(from, to);
  }

  template <class Work>
  void guarded(const Work& work) {
    try {
      work();
    } catch (...) {
      failed();
    }
  }

  // Called where an exception is caught.
  void failed() {
    const std::lock_guard<std::mutex> lock(run_.mutex);
    if (!failure_) failure_ = std::current_exception();
    run_.changed.notify_all();
  }

  // Whether this device has nothing more to do.
  bool is_over() const { return failure_ != nullptr || run_.is_over(); }

  void end() {
    bool waits = false;
    {
      const std::lock_guard<std::mutex> lock(run_.mutex);
      waits = failure_ != nullptr || run_.stop;
    }
    if (waits) lane_.finish();
    const std::lock_guard<std::mutex> lock(run_.mutex);
    if (failure_) {
      if (!run_.first_failure) run_.first_failure = failure_;
      run_.again.insert(run_.again.end(), taken_.begin(), taken_.end());
      if (--run_.lanes_left == 0) run_.stop = true;
    }
    run_.changed.notify_all();
  }

  void feed() {
    {
      const std::lock_guard<std::mutex> lock(run_.mutex);
      if (is_over()) return;
    }
    const StripFunction enqueue = run_.work.make(lane_.runtime);
    for (;;) {
      Item item;
      {
        std::unique_lock<std::mutex> lock(run_.mutex);
        for (;;) {
          if (in_calling_thread_ && run_.tell(lock)) continue;
          if (is_over()) return;
          if (!run_.again.empty() || run_.next < run_.work.strips.size()) {
            const auto free = std::find_if(lane_.ring.begin(), lane_.ring.end(),
                                           [](const StripLane::Slot& one) { return !one.busy; });
            if (free != lane_.ring.end()) {
              item.slot = &*free;
              break;
            }
          }
          run_.changed.wait(lock);
        }
        taken_.reserve(taken_.size() + 1);
        if (run_.again.empty()) {
          item.strip = run_.next++;
        } else {
          item.strip = run_.again.back();
          run_.again.pop_back();
        }
        taken_.push_back(item.strip);
        item.slot->busy = true;
      }
      const Strip& strip = run_.work.strips[item.strip];
      lane_.reserve(*item.slot, strip.from_rows * run_.work.src.row_bytes,
                    strip.to_rows * run_.work.dst.row_bytes);
      const std::vector<cl::Event> uploaded = upload(strip, *item.slot);
      flush_strip(lane_.up());
      item.computed = enqueue(strip, item.slot->from, item.slot->to, uploaded);
      flush_strip(lane_.runtime.queue()());
      const std::lock_guard<std::mutex> lock(run_.mutex);
      computed_.push_back(item);
      run_.changed.notify_all();
    }
  }

  // Enqueues what brings a strip's rows up, and returns the events that a kernel is to wait for: all,
  // as a command that fails does not keep a later one of the queue from running.
  std::vector<cl::Event> upload(const Strip& strip, const StripLane::Slot& slot) {
    const cl::Buffer& to = slot.from;
    const HostRows& src = run_.work.src;
    const auto* const host = static_cast<const unsigned char*>(src.begin);
    const std::size_t total = strip.from_rows * src.row_bytes;
    const cl_command_queue queue = lane_.up();
    bytes_up_ += static_cast<double>(total);
    const auto fill = [&](std::size_t begin, std::size_t end, unsigned char* memory) {
      for_each_run(src.pitch, src.row_bytes, src.rows, strip.from, begin, end,
                   [&](std::size_t at, std::size_t offset, std::size_t bytes) {
                     std::memcpy(memory + offset, host + at, bytes);
                   });
    };
    cl_event last = nullptr;
    if (slot.way == StripWay::mapped) {
      unsigned char* const mapped = map_strip(queue, to, CL_MAP_WRITE_INVALIDATE_REGION, total, {});
      copies_.run(total,
                  [&](std::size_t begin, std::size_t end) { fill(begin, end, mapped + begin); });
      check(clEnqueueUnmapMemObject(queue, to(), mapped, 0, nullptr, &last),
            "clEnqueueUnmapMemObject");
      return {cl::Event(last)};
    }
    if (slot.way == StripWay::staged) {
      PinnedPieces& pieces = lane_.up_pieces;
      write_pieces({copies_, lane_.workers, pieces, pieces.bytes(), true, queue, kStripName}, to,
                   total, fill);
      return pieces.events();
    }
    std::vector<cl::Event> done;
    for (std::size_t row = 0; row < strip.from_rows;) {
      const auto rows = static_cast<std::int64_t>(src.rows);
      const std::int64_t from = strip.from + static_cast<std::int64_t>(row);
      const auto first = static_cast<std::size_t>((from % rows + rows) % rows);
      const std::size_t count = std::min(strip.from_rows - row, src.rows - first);
      const std::size_t here[3] = {0, row, 0};
      const std::size_t there[3] = {0, first, 0};
      const std::size_t size[3] = {src.row_bytes, count, 1};
      check(clEnqueueWriteBufferRect(queue, to(), CL_FALSE, here, there, size, src.row_bytes, 0,
                                     src.pitch, 0, host, 0, nullptr, &last),
            "clEnqueueWriteBufferRect");
      done.emplace_back(last);
      row += count;
    }
    return done;
  }

  void drain() {
    std::deque<Read> reads;  // that OpenCL does by itself
    for (;;) {
      Item item;
      if (reads.size() < kStripSlots) {
        std::unique_lock<std::mutex> lock(run_.mutex);
        if (reads.empty()) run_.changed.wait(lock, [&] { return is_over() || !computed_.empty(); });
        if (is_over()) return;
        if (!computed_.empty()) {
          item = computed_.front();
          computed_.pop_front();
        }
      }
      if (item.slot != nullptr && item.slot->way == StripWay::direct) {
        reads.push_back(read(item));
        continue;
      }
      if (item.slot != nullptr) {
        if (item.slot->way == StripWay::mapped) {
          empty_mapped(item);
        } else {
          empty_staged(item);
        }
      } else {
        item = reads.front().item;
        wait_for_strip(reads.front().event);
        reads.pop_front();
        if (run_.work.each)
          copies_.run(bytes_of(item),
                      [&](std::size_t begin, std::size_t end) { have_come(item, begin, end); });
      }
      free(*item.slot);
      is_done(item);
    }
  }

  std::size_t bytes_of(const Item& item) const {
    return run_.work.strips[item.strip].to_rows * run_.work.dst.row_bytes;
  }

  // Enqueues what brings a result down without memory of ours.
  Read read(const Item& item) {
    const HostRowsToWrite& dst = run_.work.dst;
    const Strip& strip = run_.work.strips[item.strip];
    const cl_event wait = item.computed();
    cl_event event = nullptr;
    const std::size_t here[3] = {0, 0, 0};
    const std::size_t there[3] = {0, strip.to, 0};
    const std::size_t size[3] = {dst.row_bytes, strip.to_rows, 1};
    check(clEnqueueReadBufferRect(lane_.down(), item.slot->to(), CL_FALSE, here, there, size,
                                  dst.row_bytes, 0, dst.pitch, 0, dst.begin, 1, &wait, &event),
          "clEnqueueReadBufferRect");
    const cl::Event done(event);
    flush_strip(lane_.down());
    return {item, done};
  }

  void empty_staged(const Item& item) {
    PinnedPieces& pieces = lane_.down_pieces;
    read_pieces({copies_, lane_.workers, pieces, pieces.bytes(), true, lane_.down(), kStripName},
                item.slot->to, bytes_of(item), item.computed,
                [&](std::size_t begin, std::size_t end, const unsigned char* memory) {
                  empty(memory, item, begin, end);
                });
  }

  void empty_mapped(const Item& item) {
    const std::size_t bytes = bytes_of(item);
    unsigned char* const mapped =
        map_strip(lane_.down(), item.slot->to, CL_MAP_READ, bytes, item.computed);
    copies_.run(bytes, [&](std::size_t begin, std::size_t end) {
      empty(mapped + begin, item, begin, end);
    });
    cl_event unmapped = nullptr;
    check(clEnqueueUnmapMemObject(lane_.down(), item.slot->to(), mapped, 0, nullptr, &unmapped),
          "clEnqueueUnmapMemObject");
    wait_for_strip(cl::Event(unmapped));
  }

  // Copies the result's bytes `begin` to `end` out of memory of ours.
  void empty(const unsigned char* memory, const Item& item, std::size_t begin,
             std::size_t end) const {
    const HostRowsToWrite& dst = run_.work.dst;
    auto* const host = static_cast<unsigned char*>(dst.begin);
    const auto first = static_cast<std::int64_t>(run_.work.strips[item.strip].to);
    for_each_run(dst.pitch, dst.row_bytes, dst.rows, first, begin, end,
                 [&](std::size_t at, std::size_t offset, std::size_t bytes) {
                   copy_result(host + at, memory + offset, bytes, dst.row_bytes * dst.rows,
                               run_.work.each != nullptr);
                 });
    if (run_.work.each) have_come(item, begin, end);
  }

  // Of the result's bytes.
  void have_come(const Item& item, std::size_t begin, std::size_t end) const {
    const std::size_t at = run_.work.strips[item.strip].to * run_.work.dst.row_bytes;
    run_.work.each(at + begin, at + end);
  }

  void free(StripLane::Slot& slot) {
    const std::lock_guard<std::mutex> lock(run_.mutex);
    slot.busy = false;
    run_.changed.notify_all();
  }

  void is_done(const Item& item) {
    const std::lock_guard<std::mutex> lock(run_.mutex);
    bytes_down_ += static_cast<double>(bytes_of(item));
    ++made_;
    taken_.erase(std::find(taken_.begin(), taken_.end(), item.strip));
    run_.done[item.strip] = true;
    ++run_.done_count;
    while (run_.leading < run_.done.size() && run_.done[run_.leading]) ++run_.leading;
    run_.changed.notify_all();
  }

  StripLane& lane_;
  StripRun& run_;
  CopyThreads& copies_;
  const bool in_calling_thread_;
  // Guarded by the run's mutex.
  std::deque<Item> computed_;
  std::vector<std::size_t> taken_;  // strips that are not done
  std::size_t made_ = 0;
  std::exception_ptr failure_;
  double bytes_down_ = 0;
  double bytes_up_ = 0;  // of the thread that feeds
};

// What an exception says.
inline std::string message_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception of unknown type";
  }
}

// Throws a failure again; an Error says what was done by then.
[[noreturn]] inline void rethrow_strip_failure(const std::exception_ptr& failure,
                                               const StripRun& run) {
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    std::string message = std::string(error.what()).substr(error.where.size() + 2);
    if (!error.build_log.empty()) message.resize(message.size() - error.build_log.size() - 1);
    throw Error(error.code, error.where,
                text(message, "; of ", run.work.dst.rows, " rows the first ", run.rows_done(),
                     " are written"),
                error.status, error.build_log, error.lacks);
  }
}

inline void check_strips(const StripWork& work) {
  const auto refuse = [&](const std::string& what) {
    fail(Errc::invalid_argument, work.where, what);
  };
  check_rows(work.where, "src", work.src.begin, work.src.pitch, work.src.row_bytes, work.src.rows);
  check_rows(work.where, "dst", work.dst.begin, work.dst.pitch, work.dst.row_bytes, work.dst.rows);
  check_disjoint(work.src,
                 HostRows{work.dst.begin, work.dst.pitch, work.dst.row_bytes, work.dst.rows},
                 work.where, "src", "dst");
  std::size_t end = 0;
  for (std::size_t i = 0; i < work.strips.size(); ++i) {
    const Strip& strip = work.strips[i];
    if (strip.from_rows == 0 || strip.to_rows == 0 || strip.to < end || strip.to >= work.dst.rows ||
        strip.to_rows > work.dst.rows - strip.to) {
      refuse(text("strip ", i, " reads ", strip.from_rows, " rows and makes the rows ", strip.to,
                  " to ", strip.to + strip.to_rows, " of ", work.dst.rows,
                  "; it must read and make one at least, behind those of the strip before"));
    }
    end = strip.to + strip.to_rows;
  }
  if (!work.make) refuse("there is no function that makes strips");
}

}  // namespace clcook::detail

namespace clcook {

struct StripPipeline::State {
  State(std::vector<Runtime> of, StripOptions with)
      : runtimes(std::move(of)),
        copies(static_cast<std::size_t>(with.copy_threads) - 1, !runtimes.front().info().cpu) {
    const std::size_t each = std::max<std::size_t>(
        1, static_cast<std::size_t>(with.copy_threads) / (2 * runtimes.size()));
    for (const Runtime& runtime : runtimes)
      lanes.push_back(std::make_unique<detail::StripLane>(runtime, with.way, each));
  }

  std::vector<Runtime> runtimes;
  std::vector<std::unique_ptr<detail::StripLane>> lanes;
  detail::CopyThreads copies;
};

CLCOOK_INLINE StripPipeline::StripPipeline(std::vector<Runtime> runtimes, StripOptions options) {
  if (runtimes.empty())
    fail(Errc::invalid_argument, detail::kStripName, "there must be one runtime at least");
  options.copy_threads =
      static_cast<int>(detail::copy_threads(options, runtimes.size(), detail::kStripName));
  state_ = std::make_unique<State>(std::move(runtimes), options);
}

CLCOOK_INLINE StripPipeline::~StripPipeline() = default;
CLCOOK_INLINE StripPipeline::StripPipeline(StripPipeline&&) noexcept = default;
CLCOOK_INLINE StripPipeline& StripPipeline::operator=(StripPipeline&&) noexcept = default;

CLCOOK_INLINE const std::vector<Runtime>& StripPipeline::runtimes() const {
  return state_->runtimes;
}

CLCOOK_INLINE StripReport StripPipeline::run(const StripWork& work, const StripProgress& progress) {
  detail::check_strips(work);
  const auto begin = std::chrono::steady_clock::now();
  detail::StripRun run(work, progress, state_->lanes.size());
  std::vector<std::unique_ptr<detail::StripWorker>> workers;
  for (const auto& lane : state_->lanes) {
    workers.push_back(std::make_unique<detail::StripWorker>(*lane, run, state_->copies,
                                                            lane == state_->lanes.front()));
  }
  // The first device is this thread's, each of the others has one of its own.
  std::vector<std::thread> threads;
  threads.reserve(workers.size());
  try {
    for (std::size_t i = 1; i < workers.size(); ++i)
      threads.emplace_back([&one = *workers[i]] { one.work(); });
  } catch (const std::system_error&) {  // no more threads: fewer devices
    const std::lock_guard<std::mutex> lock(run.mutex);
    run.lanes_left -= workers.size() - 1 - threads.size();
  }
  workers[0]->work();
  {
    std::unique_lock<std::mutex> lock(run.mutex);
    for (;;) {
      if (run.tell(lock)) continue;
      if (run.is_over()) break;
      run.changed.wait(lock);
    }
  }
  for (std::thread& one : threads) one.join();
  if (run.from_progress) std::rethrow_exception(run.from_progress);
  if (run.done_count < work.strips.size()) detail::rethrow_strip_failure(run.first_failure, run);
  StripReport report;
  report.strips = work.strips.size();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  for (std::size_t i = 0; i < workers.size(); ++i) {
    const detail::StripLane& lane = *state_->lanes[i];
    const detail::StripWorker& worker = *workers[i];
    report.bytes_up += worker.bytes_up();
    report.bytes_down += worker.bytes_down();
    std::string way = to_string(lane.way);
    if (!lane.reason.empty()) way += text(" (", lane.reason, ")");
    report.devices.push_back({lane.runtime.info().name, way, worker.made(),
                              worker.failure() ? detail::message_of(worker.failure()) : ""});
  }
  return report;
}

CLCOOK_INLINE std::string StripReport::describe() const {
  std::string out =
      text(strips, " strips, ", three_digits(1e-9 * bytes_up), " GB up and ",
           three_digits(1e-9 * bytes_down), " GB down in ", three_digits(seconds), " s");
  for (const Device& one : devices) {
    out += text("\n", one.name, ": ", one.strips, " strips, ", one.way);
    if (!one.failure.empty()) out += "; it failed, and the others made the rest: " + one.failure;
  }
  return out;
}

CLCOOK_INLINE std::size_t strip_rows_for(const std::vector<Runtime>& runtimes, std::size_t rows,
                                         std::size_t reach, std::size_t row_bytes,
                                         std::size_t scratch_bytes, std::size_t step) {
  constexpr double kStripBytes = 64 << 20;
  double wanted =
      std::max(kStripBytes / static_cast<double>(row_bytes), 32 * static_cast<double>(reach));
  wanted =
      std::min(wanted, static_cast<double>(rows) /
                           (4 * static_cast<double>(std::max<std::size_t>(runtimes.size(), 1))));
  for (const Runtime& runtime : runtimes) {
    // Half of the memory for all slots and the scratch of one call, and no buffer too large.
    const double of_slots =
        static_cast<double>(detail::kStripSlots * row_bytes) + static_cast<double>(scratch_bytes);
    const double most = std::min(static_cast<double>(runtime.info().global_mem) / 2 / of_slots,
                                 static_cast<double>(runtime.info().max_allocation) /
                                     static_cast<double>(std::max(row_bytes, scratch_bytes)));
    wanted = std::min(wanted, most - 2 * static_cast<double>(reach));
  }
  const double steps = wanted / static_cast<double>(step);
  const std::size_t whole = (steps < 1 ? 1 : static_cast<std::size_t>(steps)) * step;
  return std::max<std::size_t>(1, std::min(whole, rows));
}

}  // namespace clcook
