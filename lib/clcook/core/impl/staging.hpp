// The definitions of clcook/core/staging.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <clcook/core/impl/wait.hpp>
#include <clcook/core/launch.hpp>
#include <clcook/core/names.hpp>
#include <clcook/core/staging.hpp>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace clcook::detail {

inline constexpr const char* kStripName = "StripPipeline";
inline constexpr std::size_t kStripCopyBytes = std::size_t{256} << 10;  // least for a thread
inline constexpr std::size_t kStagingStep =
    12288;  // where rows are cut: between pixels of all types
inline constexpr std::size_t kStagingPiece = 21 * kStagingStep;      // or up to 6 times as large
inline constexpr std::size_t kStagingShare = 42 * kStagingStep;      // for which a thread is woken
inline constexpr std::size_t kStagingSmall = std::size_t{64} << 10;  // what OpenCL copies by itself
inline constexpr std::size_t kStagingSlots = 2;                      // pieces of a worker
inline constexpr std::size_t kPastCaches = std::size_t{32} << 20;    // results that no cache holds

inline constexpr Named<StripWay> kStripWays[] = {{StripWay::automatic, "automatic"},
                                                 {StripWay::staged, "staged"},
                                                 {StripWay::direct, "direct"},
                                                 {StripWay::mapped, "mapped"}};

// Threads that help others. Started when there is something to share. Who helped last is asked first,
// so that few of them are awake.
class CopyThreads {
 public:
  // `awake`: they ask for a while before they sleep. Not where kernels run on the same cores.
  CopyThreads(std::size_t helpers, bool awake) : wanted_(helpers), awake_(awake) {}
  CopyThreads(const CopyThreads&) = delete;
  CopyThreads& operator=(const CopyThreads&) = delete;
  ~CopyThreads() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stop_ = true;
      for (const auto& one : helpers_) call(*one);
    }
    for (const auto& one : helpers_) one->thread.join();
  }

  // Has copy(begin, end) called for parts of the bytes 0 to `bytes`, here and in other threads, and
  // returns when all are copied. `copy` does not throw. May be called by several threads.
  void run(std::size_t bytes, const std::function<void(std::size_t, std::size_t)>& copy) {
    const std::size_t parts = std::min(wanted_ + 1, bytes / kStripCopyBytes);
    if (parts < 2) {
      copy(0, bytes);
      return;
    }
    const std::size_t each = (bytes / parts / kStagingStep + 1) * kStagingStep;
    for_each((bytes + each - 1) / each,
             [&](std::size_t part) { copy(part * each, std::min((part + 1) * each, bytes)); });
  }

  // The same for work(0) to work(count - 1), in this order, the first in the calling thread.
  void for_each(std::size_t count, const std::function<void(std::size_t)>& work) {
    Job job{&work, count};
    std::unique_lock<std::mutex> lock(mutex_);
    if (count > 1) {
      start();
      jobs_.push_back(&job);
    }
    while (job.next < job.count) help_with(job, lock);
    const auto is_over = [&] { return job.running == 0; };
    if (is_over()) return;
    lock.unlock();
    stay_awake(is_over);
    lock.lock();
    ended_.wait(lock, is_over);
  }

  // Has work(worker, take) called in so many threads at most, where take(begin, end) says which of the
  // bytes 0 to `total` come next, a piece at a time. Throws what one of them has thrown when all have
  // ended.
  template <class Work>
  void share(std::size_t workers, std::size_t total, std::size_t piece, const Work& work) {
    std::atomic<std::size_t> next{0};
    std::mutex of_failure;
    std::exception_ptr failure;
    const auto take = [&](std::size_t& begin, std::size_t& end) {
      begin = next.fetch_add(piece);
      end = std::min(begin + piece, total);
      return begin < total;
    };
    for_each(std::min(workers, (total + piece - 1) / piece), [&](std::size_t worker) {
      try {
        work(worker, take);
      } catch (...) {
        next = total;
        const std::lock_guard<std::mutex> lock(of_failure);
        if (!failure) failure = std::current_exception();
      }
    });
    if (failure) std::rethrow_exception(failure);
  }

 private:
  struct Job {
    const std::function<void(std::size_t)>* work;
    std::size_t count;
    std::size_t next = 0;
    std::atomic<std::size_t> running{0};
  };
  struct Helper {
    std::atomic<bool> called{false};
    std::condition_variable calling;
    std::thread thread;
  };

  // As many as the system gives.
  void start() {
    while (helpers_.size() < wanted_) {
      helpers_.push_back(std::make_unique<Helper>());
      try {
        helpers_.back()->thread = std::thread([this, &one = *helpers_.back()] { help(one); });
      } catch (const std::system_error&) {
        helpers_.pop_back();
        wanted_ = helpers_.size();
      }
    }
  }

  // With the lock held.
  static void call(Helper& one) {
    one.called = true;
    one.calling.notify_one();
  }

  void help(Helper& own) {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!stop_) {
      if (!jobs_.empty()) {
        help_with(*jobs_.front(), lock);
        continue;
      }
      idle_.push_back(&own);
      const auto is_called = [&] { return own.called.load(); };
      if (awake_) {
        lock.unlock();
        stay_awake(is_called);
        lock.lock();
      }
      own.calling.wait(lock, is_called);
      own.called = false;
    }
  }

  // Does the job's next part; the lock is held before and after. Calls two others before, which call
  // two more each: to wake all takes one thread as long as to copy a megabyte.
  void help_with(Job& job, std::unique_lock<std::mutex>& lock) {
    const std::size_t part = job.next++;
    const std::size_t left = job.count - job.next;
    ++job.running;
    if (left == 0 && job.count > 1) jobs_.erase(std::find(jobs_.begin(), jobs_.end(), &job));
    for (std::size_t i = 0; i < std::min<std::size_t>(left, 2) && !idle_.empty(); ++i) {
      call(*idle_.back());
      idle_.pop_back();
    }
    lock.unlock();
    (*job.work)(part);
    lock.lock();
    if (--job.running == 0 && job.next == job.count) ended_.notify_all();
  }

  std::size_t wanted_;
  const bool awake_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::deque<Job*> jobs_;  // with parts that nobody has begun
  bool stop_ = false;
  std::vector<std::unique_ptr<Helper>> helpers_;
  std::vector<Helper*> idle_;  // the last was busy last
};

// Of rows without gaps that begin with row `first` of the host's, the bytes `begin` to `end`: calls
// copy(offset in the host's memory, offset from `begin`, bytes) for pieces that lie together.
template <class Copy>
void for_each_run(std::size_t pitch, std::size_t row_bytes, std::size_t rows, std::int64_t first,
                  std::size_t begin, std::size_t end, const Copy& copy) {
  const auto count = static_cast<std::int64_t>(rows);
  const std::size_t origin = static_cast<std::size_t>((first % count + count) % count);
  for (std::size_t at = begin; at < end;) {
    const std::size_t row = (origin + at / row_bytes) % rows;
    const std::size_t inside = at % row_bytes;
    const std::size_t together = pitch == row_bytes ? (rows - row) * row_bytes : row_bytes;
    const std::size_t bytes = std::min(end - at, together - inside);
    copy(row * pitch + inside, at - begin, bytes);
    at += bytes;
  }
}

// Copies into memory that nobody reads soon: past the caches, which would read it first.
inline void copy_past_caches(unsigned char* to, const unsigned char* from, std::size_t bytes) {
#ifdef __SSE2__
  constexpr std::size_t kLine = 64;
  const std::size_t head = (kLine - reinterpret_cast<std::uintptr_t>(to) % kLine) % kLine;
  if (bytes >= head + 16 * kLine) {
    std::memcpy(to, from, head);
    std::size_t at = head;
    for (; at + kLine <= bytes; at += kLine) {
      for (std::size_t i = 0; i < kLine; i += 16) {
        const __m128i value = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at + i));
        _mm_stream_si128(reinterpret_cast<__m128i*>(to + at + i), value);
      }
    }
    _mm_sfence();
    to += at;
    from += at;
    bytes -= at;
  }
#endif
  std::memcpy(to, from, bytes);
}

// Copies a piece of a result of so many bytes; `read` says whether somebody looks at it at once.
inline void copy_result(unsigned char* to, const unsigned char* from, std::size_t bytes,
                        std::size_t total, bool read) {
  if (total >= kPastCaches && !read) {
    copy_past_caches(to, from, bytes);
  } else {
    std::memcpy(to, from, bytes);
  }
}

inline void flush_strip(cl_command_queue queue) { check(clFlush(queue), "clFlush"); }

// Maps a buffer, behind an event or nothing. Waits until it is mapped, but with a place for the event.
inline unsigned char* map_strip(cl_command_queue queue, const cl::Buffer& buffer,
                                cl_map_flags flags, std::size_t bytes, const cl::Event& behind,
                                cl::Event* mapping = nullptr) {
  const cl_event wait = behind();
  cl_int status = CL_SUCCESS;
  cl_event event = nullptr;
  void* mapped =
      clEnqueueMapBuffer(queue, buffer(), mapping == nullptr ? CL_TRUE : CL_FALSE, flags, 0, bytes,
                         wait == nullptr ? 0 : 1, wait == nullptr ? nullptr : &wait,
                         mapping == nullptr ? nullptr : &event, &status);
  check(status, "clEnqueueMapBuffer");
  if (mapping != nullptr) *mapping = cl::Event(event);
  return static_cast<unsigned char*>(mapped);
}

// Pinned memory of a device, in pieces, mapped for as long as it lives.
class PinnedPieces {
 public:
  explicit PinnedPieces(std::size_t count) : events_(count) {}
  PinnedPieces(const PinnedPieces&) = delete;
  PinnedPieces& operator=(const PinnedPieces&) = delete;
  ~PinnedPieces() { release(); }

  // Makes the pieces this large at least, in few steps, since to pin memory takes milliseconds. Nothing
  // may be under way but on that queue.
  void reserve(const Runtime& runtime, const cl::CommandQueue& queue, std::size_t bytes) {
    if (bytes <= bytes_) return;
    release();
    bytes = (bytes + kStagingPiece - 1) / kStagingPiece * kStagingPiece;
    queue_ = queue;
    const std::size_t all = bytes * events_.size();
    cl::Buffer memory = create_buffer(runtime, all, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR);
    mapped_ = map_strip(queue_(), memory, CL_MAP_READ | CL_MAP_WRITE, all, {});
    memory_ = memory;
    bytes_ = bytes;
  }
  // Waits for what is under way, whatever becomes of it.
  void drain() {
    for (const cl::Event& one : events_) {
      const cl_event handle = one();
      if (handle != nullptr) clWaitForEvents(1, &handle);
    }
    begin();
  }
  // Forgets what was under way.
  void begin() {
    for (cl::Event& one : events_) one = cl::Event();
    next_ = 0;
  }

  std::size_t bytes() const { return bytes_; }
  std::size_t count() const { return events_.size(); }
  // The first of so many pieces in turn, which are those that have been idle for longest. Numbers of
  // pieces go on beyond the last.
  std::size_t take(std::size_t pieces) { return std::exchange(next_, (next_ + pieces) % count()); }
  unsigned char* at(std::size_t piece) const { return mapped_ + piece % count() * bytes_; }
  // What uses a piece; to be waited for before it is used again.
  cl::Event& event(std::size_t piece) { return events_[piece % count()]; }
  // Of all pieces, those that there are.
  std::vector<cl::Event> events() const {
    std::vector<cl::Event> out;
    for (const cl::Event& one : events_) {
      if (one() != nullptr) out.push_back(one);
    }
    return out;
  }
  // Waits for it; `where` as of wait_asleep().
  void wait(std::size_t piece, const char* where = nullptr) {
    if (event(piece)() == nullptr) return;
    const cl::Event ended = std::exchange(event(piece), cl::Event());
    wait_asleep(ended, where);
  }
  void wait_all() {
    for (std::size_t piece = 0; piece < events_.size(); ++piece) wait(piece);
  }

 private:
  void release() {
    begin();
    if (memory_() != nullptr) {
      if (clEnqueueUnmapMemObject(queue_(), memory_(), mapped_, 0, nullptr, nullptr) == CL_SUCCESS)
        clFinish(queue_());
    }
    memory_ = cl::Buffer();
    bytes_ = 0;
  }

  cl::CommandQueue queue_;
  cl::Buffer memory_;
  unsigned char* mapped_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t next_ = 0;
  std::vector<cl::Event> events_;
};

// How rows go through pinned pieces. Up to some 30 MB one thread has the queue, since drivers keep
// others waiting, and all copy. Of more each thread has two pieces of its own, which its caches hold,
// and has them read and written itself.
struct PieceWork {
  CopyThreads& threads;
  std::size_t workers;
  PinnedPieces& pieces;
  std::size_t piece;  // bytes, as many as a piece has or fewer
  bool own_pieces;
  cl_command_queue queue;
  const char* where;  // as of wait_asleep()

  // Half of them.
  std::size_t ahead() const { return (pieces.count() + 1) / 2; }
};

// Writes the bytes `begin` to `end` of a buffer from a piece; to be flushed.
inline void write_piece(const PieceWork& by, const cl::Buffer& to, std::size_t begin,
                        std::size_t end, std::size_t piece) {
  cl_event event = nullptr;
  check(clEnqueueWriteBuffer(by.queue, to(), CL_FALSE, begin, end - begin, by.pieces.at(piece), 0,
                             nullptr, &event),
        "clEnqueueWriteBuffer");
  by.pieces.event(piece) = cl::Event(event);
}
// Reads them into a piece, behind an event, when that is free.
inline void read_piece(const PieceWork& by, const cl::Buffer& from, std::size_t begin,
                       std::size_t end, std::size_t piece, const cl::Event& made) {
  by.pieces.wait(piece, by.where);
  const cl_event wait = made();
  cl_event event = nullptr;
  check(clEnqueueReadBuffer(by.queue, from(), CL_FALSE, begin, end - begin, by.pieces.at(piece), 1,
                            &wait, &event),
        "clEnqueueReadBuffer");
  by.pieces.event(piece) = cl::Event(event);
  flush_strip(by.queue);
}

template <class Copy>
void write_own_pieces(const PieceWork& by, const cl::Buffer& to, std::size_t total,
                      const Copy& copy) {
  by.threads.share(by.workers, total, by.piece, [&](std::size_t worker, const auto& take) {
    std::size_t begin = 0;
    std::size_t end = 0;
    for (std::size_t turn = 0; take(begin, end); ++turn) {
      const std::size_t slot = worker * kStagingSlots + turn % kStagingSlots;
      by.pieces.wait(slot, by.where);
      copy(begin, end, by.pieces.at(slot));
      write_piece(by, to, begin, end, slot);
      flush_strip(by.queue);
    }
  });
}

template <class Copy>
void read_own_pieces(const PieceWork& by, const cl::Buffer& from, std::size_t total,
                     const cl::Event& made, const Copy& copy) {
  constexpr std::size_t kSlots = kStagingSlots;
  by.threads.share(by.workers, total, by.piece, [&](std::size_t worker, const auto& take) {
    std::array<std::pair<std::size_t, std::size_t>, kSlots> bytes;
    std::size_t begun = 0;
    for (std::size_t ended = 0;; ++ended) {
      while (begun < ended + kSlots &&
             take(bytes[begun % kSlots].first, bytes[begun % kSlots].second)) {
        const auto [begin, end] = bytes[begun % kSlots];
        read_piece(by, from, begin, end, worker * kSlots + begun % kSlots, made);
        ++begun;
      }
      if (ended == begun) return;
      const auto [begin, end] = bytes[ended % kSlots];
      const std::size_t slot = worker * kSlots + ended % kSlots;
      by.pieces.wait(slot, by.where);
      copy(begin, end, by.pieces.at(slot));
    }
  });
}

// Pieces that one thread drives, in their order, and that it and others copy.
class PieceFlow {
 public:
  explicit PieceFlow(std::size_t count) : count_(count), copied_(count) {}

  // Of the thread that drives: pieces before `end` may be copied.
  void open(std::size_t end) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      open_ = std::min(end, count_);
    }
    changed_.notify_all();
  }
  // Copies others until piece i is copied.
  template <class Copy>
  void need(std::size_t i, const Copy& copy) {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!copied_[i]) {
      if (next_ < open_) {
        copy_next(copy, lock);
      } else {
        sleep(lock, [&] { return copied_[i].load(); });
      }
    }
  }
  void stop() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
  }

  // Of any thread: copies until none is left.
  template <class Copy>
  void help(const Copy& copy) {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!is_over()) {
      if (next_ < open_) {
        copy_next(copy, lock);
      } else {
        sleep(lock, [&] { return next_ < open_ || is_over(); });
      }
    }
  }

 private:
  bool is_over() const { return stop_ || next_ == count_; }

  // The lock is held before and after.
  template <class Copy>
  void copy_next(const Copy& copy, std::unique_lock<std::mutex>& lock) {
    const std::size_t i = next_++;
    lock.unlock();
    copy(i);
    lock.lock();
    copied_[i] = true;
    changed_.notify_all();
  }
  template <class IsOver>
  void sleep(std::unique_lock<std::mutex>& lock, const IsOver& is_over) {
    lock.unlock();
    stay_awake(is_over);
    lock.lock();
    changed_.wait(lock, is_over);
  }

  const std::size_t count_;
  std::mutex mutex_;  // of all that changes; the others are read without it, too
  std::condition_variable changed_;
  std::atomic<std::size_t> next_{0};
  std::atomic<std::size_t> open_{0};
  std::atomic<bool> stop_{false};
  std::vector<std::atomic<bool>> copied_;
};

// Rows in pieces: piece i of `count` has the bytes begin(i) to end(i), and lies in the pinned piece
// `first` + i.
struct PieceCut {
  PieceCut(const PieceWork& by, std::size_t of_bytes)
      : each(by.piece),
        total(of_bytes),
        count((total + each - 1) / each),
        first(by.pieces.take(count)) {}
  std::size_t begin(std::size_t i) const { return i * each; }
  std::size_t end(std::size_t i) const { return std::min(begin(i) + each, total); }

  std::size_t each;
  std::size_t total;
  std::size_t count;
  std::size_t first;
};

// Calls drive(flow, copy_piece) in this thread, and has copy_piece(i) called in several, which is
// copy(begin, end, memory). Throws what drive() throws, when all have ended.
template <class Copy, class Drive>
void flow_pieces(const PieceWork& by, const PieceCut& cut, const Copy& copy, const Drive& drive) {
  PieceFlow flow(cut.count);
  const auto copy_piece = [&](std::size_t i) {
    copy(cut.begin(i), cut.end(i), by.pieces.at(cut.first + i));
  };
  std::exception_ptr failure;
  by.threads.for_each(std::min(by.workers, cut.count), [&](std::size_t part) {
    if (part == 0) {
      try {
        drive(flow, copy_piece);
      } catch (...) {
        failure = std::current_exception();
        flow.stop();
      }
    }
    flow.help(copy_piece);
  });
  if (failure) std::rethrow_exception(failure);
}

// The bytes of a piece, so that each worker has some, and the last piece is no crumb.
inline std::size_t piece_bytes(std::size_t total, std::size_t workers) {
  constexpr std::size_t kMost = 6 * kStagingPiece;
  const std::size_t wanted = std::clamp(total / (workers * kStagingSlots), kStagingPiece, kMost);
  const std::size_t count = std::max<std::size_t>(1, (total + wanted * 3 / 4) / wanted);
  return std::min((total / count / kStagingStep + 1) * kStagingStep, kMost);
}

// Writes the bytes 0 to `total` of a buffer; copy(begin, end, memory) has filled each piece before.
template <class Copy>
void write_pieces(const PieceWork& by, const cl::Buffer& to, std::size_t total, const Copy& copy) {
  if (by.own_pieces) return write_own_pieces(by, to, total, copy);
  const PieceCut cut(by, total);
  flow_pieces(by, cut, copy, [&](PieceFlow& flow, const auto& fill) {
    // A half of the memory is filled, the other half is on its way.
    std::size_t open = 0;
    for (std::size_t i = 0; i < cut.count; ++i) {
      for (; open < std::min(i + by.ahead(), cut.count); flow.open(++open))
        by.pieces.wait(cut.first + open, by.where);
      flow.need(i, fill);
      write_piece(by, to, cut.begin(i), cut.end(i), cut.first + i);
      if (cut.count > 1) flush_strip(by.queue);
    }
  });
}

// Reads the bytes 0 to `total` of a buffer, behind an event; copy(begin, end, memory) empties each
// piece.
template <class Copy>
void read_pieces(const PieceWork& by, const cl::Buffer& from, std::size_t total,
                 const cl::Event& made, const Copy& copy) {
  if (by.own_pieces) return read_own_pieces(by, from, total, made, copy);
  const PieceCut cut(by, total);
  flow_pieces(by, cut, copy, [&](PieceFlow& flow, const auto& empty) {
    std::size_t begun = 0;
    for (std::size_t i = 0; i < cut.count; ++i) {
      for (; begun < std::min(i + by.ahead(), cut.count); ++begun) {
        if (begun >= by.pieces.count()) flow.need(begun - by.pieces.count(), empty);
        read_piece(by, from, cut.begin(begun), cut.end(begun), cut.first + begun, made);
      }
      by.pieces.wait(cut.first + i, by.where);
      flow.open(i + 1);
    }
  });
}

inline void check_rows(const std::string& where, const char* name, const void* begin,
                       std::size_t pitch, std::size_t row_bytes, std::size_t rows) {
  const auto refuse = [&](const std::string& what) { fail(Errc::invalid_argument, where, what); };
  if (begin == nullptr) refuse(text(name, " is null"));
  if (row_bytes == 0 || rows == 0) {
    refuse(text(name, " has ", rows, " rows of ", row_bytes, " bytes; both must be at least 1"));
  }
  if (pitch < row_bytes) {
    refuse(
        text(name, ": the pitch of ", pitch, " bytes is less than a row of ", row_bytes, " bytes"));
  }
  if (pitch > std::numeric_limits<std::size_t>::max() / 2 / rows) {
    refuse(
        text(name, ": ", rows, " rows at a pitch of ", pitch, " bytes overflow the address range"));
  }
}

// How many threads copy, from the options.
inline std::size_t copy_threads(const StripOptions& options, std::size_t devices,
                                const char* where) {
  if (options.copy_threads < 0 || options.copy_threads > 1024) {
    fail(Errc::invalid_argument, where,
         text("copy_threads must be 0 to 1024, got ", options.copy_threads));
  }
  to_string(options.way);
  if (options.copy_threads > 0) return static_cast<std::size_t>(options.copy_threads);
  return std::min<std::size_t>(std::max(1U, std::thread::hardware_concurrency()), 8 * devices);
}

}  // namespace clcook::detail

namespace clcook {

struct Staging::State {
  State(Runtime of, const StripOptions& options)
      : runtime(std::move(of)),
        way(options.way),
        is_automatic(way == StripWay::automatic),
        workers(detail::copy_threads(options, 1, "Staging")),
        threads(workers - 1, !runtime.info().cpu),
        pieces(workers * detail::kStagingSlots) {
    is_in_place = is_automatic && runtime.info().cpu;
    if (is_automatic) way = runtime.info().cpu ? StripWay::mapped : StripWay::staged;
  }

  // ---- memory ----

  // Whether all else takes longer than OpenCL's own copy.
  bool goes_direct(std::size_t total) const {
    return way == StripWay::direct || (is_automatic && total <= detail::kStagingSmall);
  }

  // Whether kernels can work on the user's own.
  bool takes(const void* begin, std::size_t pitch, std::size_t row_bytes) const {
    constexpr std::uintptr_t kAlignment = 16;
    return is_in_place && reinterpret_cast<std::uintptr_t>(begin) % kAlignment == 0 &&
           (pitch == row_bytes || pitch % kAlignment == 0);
  }

  void grow(cl::Buffer& kept, std::size_t bytes) const {
    if (kept() != nullptr && detail::mem_value<std::size_t>(kept(), CL_MEM_SIZE) >= bytes) return;
    kept = cl::Buffer();
    kept = create_buffer(runtime, bytes,
                         CL_MEM_READ_WRITE | (way == StripWay::mapped ? CL_MEM_ALLOC_HOST_PTR : 0));
  }

  // Pinned memory for so many bytes. Looks at what is under way before it makes larger pieces.
  void prepare(std::size_t total) {
    if (way != StripWay::staged || goes_direct(total)) return;
    copying = std::clamp<std::size_t>(total / detail::kStagingShare, 1, workers);
    piece = detail::piece_bytes(total, copying);
    if (piece > pieces.bytes()) pieces.wait_all();
    try {
      pieces.reserve(runtime, runtime.queue(), piece);
    } catch (const Error& error) {
      way = StripWay::direct;
      reason = text("no pinned memory: ", error.what());
    }
  }

  // ---- up ----

  static void copy_in(const HostRows& src, std::size_t begin, std::size_t end,
                      unsigned char* memory) {
    const auto* const host = static_cast<const unsigned char*>(src.begin);
    detail::for_each_run(src.pitch, src.row_bytes, src.rows, 0, begin, end,
                         [&](std::size_t at, std::size_t offset, std::size_t bytes) {
                           std::memcpy(memory + offset, host + at, bytes);
                         });
  }

  // Through pinned memory.
  void up_staged(const HostRows& src, const cl::Buffer& to, const StagedBytes& seen) {
    pieces.drain();
    const std::size_t total = src.row_bytes * src.rows;
    detail::write_pieces(by_pieces(total), to, total,
                         [&](std::size_t begin, std::size_t end, unsigned char* memory) {
                           if (seen) seen(begin, end);
                           copy_in(src, begin, end, memory);
                         });
  }

  detail::PieceWork by_pieces(std::size_t total) {
    return {threads,           copying, pieces, piece, total >= detail::kPastCaches,
            runtime.queue()(), nullptr};
  }

  cl::Event up_mapped(const HostRows& src, const cl::Buffer& to, const StagedBytes& seen) {
    const std::size_t total = src.row_bytes * src.rows;
    const cl_command_queue queue = runtime.queue()();
    unsigned char* const mapped =
        detail::map_strip(queue, to, CL_MAP_WRITE_INVALIDATE_REGION, total, {});
    threads.run(total, [&](std::size_t begin, std::size_t end) {
      if (seen) seen(begin, end);
      copy_in(src, begin, end, mapped + begin);
    });
    cl_event event = nullptr;
    check(clEnqueueUnmapMemObject(queue, to(), mapped, 0, nullptr, &event),
          "clEnqueueUnmapMemObject");
    return cl::Event(event);
  }

  cl::Event up_direct(const HostRows& src, const cl::Buffer& to, const StagedBytes& seen) {
    const cl_command_queue queue = runtime.queue()();
    const std::size_t none[3] = {0, 0, 0};
    const std::size_t all[3] = {src.row_bytes, src.rows, 1};
    cl_event event = nullptr;
    if (src.pitch == src.row_bytes || src.rows == 1) {
      check(clEnqueueWriteBuffer(queue, to(), CL_FALSE, 0, src.row_bytes * src.rows, src.begin, 0,
                                 nullptr, &event),
            "clEnqueueWriteBuffer");
    } else {
      check(clEnqueueWriteBufferRect(queue, to(), CL_FALSE, none, none, all, src.row_bytes, 0,
                                     src.pitch, 0, src.begin, 0, nullptr, &event),
            "clEnqueueWriteBufferRect");
    }
    const cl::Event written(event);
    if (seen) threads.run(src.row_bytes * src.rows, seen);
    return written;
  }

  // ---- down ----

  // `read`: somebody looks at it at once.
  static void copy_out(const HostRowsToWrite& dst, std::size_t begin, std::size_t end,
                       const unsigned char* memory, bool read) {
    auto* const host = static_cast<unsigned char*>(dst.begin);
    detail::for_each_run(dst.pitch, dst.row_bytes, dst.rows, 0, begin, end,
                         [&](std::size_t at, std::size_t offset, std::size_t bytes) {
                           detail::copy_result(host + at, memory + offset, bytes,
                                               dst.row_bytes * dst.rows, read);
                         });
  }

  void down_staged(const cl::Buffer& from, const HostRowsToWrite& dst, const cl::Event& made,
                   const StagedBytes& each) {
    const std::size_t total = dst.row_bytes * dst.rows;
    const cl_event wait = made();
    if (total <= piece) {
      const std::size_t slot = pieces.take(1);
      pieces.wait(slot);
      check(clEnqueueReadBuffer(runtime.queue()(), from(), CL_TRUE, 0, total, pieces.at(slot), 1,
                                &wait, nullptr),
            "clEnqueueReadBuffer");
      pieces.wait_all();  // whether the rows came up
      copy_out(dst, 0, total, pieces.at(slot), each != nullptr);
      if (each) each(0, total);
      return;
    }
    detail::flush_strip(runtime.queue()());
    detail::read_pieces(by_pieces(total), from, total, made,
                        [&](std::size_t begin, std::size_t end, const unsigned char* memory) {
                          copy_out(dst, begin, end, memory, each != nullptr);
                          if (each) each(begin, end);
                        });
    pieces.wait_all();  // of pieces that were not read to: whether the rows came up
  }

  using Work = std::function<void(const unsigned char*, std::size_t, std::size_t)>;

  // Maps memory, works on it in several threads, and unmaps it. Without work nothing waits in between:
  // to wait costs a thread of the driver and this one a switch each.
  void with_mapped(const cl::Buffer& memory, std::size_t total, const cl::Event& made,
                   const Work& work) {
    const cl_command_queue queue = runtime.queue()();
    cl::Event mapping;
    unsigned char* const mapped =
        detail::map_strip(queue, memory, CL_MAP_READ, total, made, &mapping);
    if (work) {
      clcook::wait_for(mapping);
      threads.run(total, [&](std::size_t begin, std::size_t end) { work(mapped, begin, end); });
    }
    const cl_event behind = mapping();
    cl_event event = nullptr;
    check(clEnqueueUnmapMemObject(queue, memory(), mapped, 1, &behind, &event),
          "clEnqueueUnmapMemObject");
    clcook::wait_for(cl::Event(event));
  }

  void down_direct(const cl::Buffer& from, const HostRowsToWrite& dst, const cl::Event& made,
                   const StagedBytes& each) {
    const cl_command_queue queue = runtime.queue()();
    const cl_event wait = made();
    const std::size_t none[3] = {0, 0, 0};
    const std::size_t all[3] = {dst.row_bytes, dst.rows, 1};
    // A driver of a GPU waits better by itself.
    const cl_bool blocks = runtime.info().cpu ? CL_FALSE : CL_TRUE;
    cl_event event = nullptr;
    if (dst.pitch == dst.row_bytes || dst.rows == 1) {
      check(clEnqueueReadBuffer(queue, from(), blocks, 0, dst.row_bytes * dst.rows, dst.begin, 1,
                                &wait, &event),
            "clEnqueueReadBuffer");
    } else {
      check(clEnqueueReadBufferRect(queue, from(), blocks, none, none, all, dst.row_bytes, 0,
                                    dst.pitch, 0, dst.begin, 1, &wait, &event),
            "clEnqueueReadBufferRect");
    }
    const cl::Event read(event);
    if (blocks == CL_FALSE) clcook::wait_for(read);
    if (each) threads.run(dst.row_bytes * dst.rows, each);
  }

  // Calls work(); before an exception leaves, what was enqueued has ended.
  template <class Work>
  void guarded(const Work& work) {
    try {
      work();
    } catch (...) {
      clFinish(runtime.queue()());
      pieces.begin();
      throw;
    }
  }

  Runtime runtime;
  StripWay way;
  bool is_automatic;
  bool is_in_place = false;
  std::string reason;  // why it is not the wanted way
  std::size_t workers;
  std::size_t copying = 1;  // of them, for the rows that go now
  std::size_t piece = 0;    // bytes
  detail::CopyThreads threads;
  detail::PinnedPieces pieces;
};

CLCOOK_INLINE Staging::Staging(Runtime runtime, StripOptions options)
    : state_(std::make_unique<State>(std::move(runtime), options)) {}
CLCOOK_INLINE Staging::~Staging() = default;
CLCOOK_INLINE Staging::Staging(Staging&&) noexcept = default;
CLCOOK_INLINE Staging& Staging::operator=(Staging&&) noexcept = default;

CLCOOK_INLINE Staged Staging::up(const HostRows& src, cl::Buffer& kept, const StagedBytes& seen) {
  State& my = *state_;
  detail::check_rows("Staging", "src", src.begin, src.pitch, src.row_bytes, src.rows);
  const std::size_t total = src.row_bytes * src.rows;
  if (my.takes(src.begin, src.pitch, src.row_bytes)) {
    if (seen) my.threads.run(total, seen);
    const std::size_t all = (src.rows - 1) * src.pitch + src.row_bytes;
    // One row has no pitch: whoever reads it may take it for several.
    return {BufferView(
                create_buffer(my.runtime, all, CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR, src.begin),
                0, src.rows == 1 ? 0 : src.pitch),
            {},
            true};
  }
  my.grow(kept, total);
  std::vector<cl::Event> wait;
  my.guarded([&] {
    my.prepare(total);
    if (my.goes_direct(total)) {
      wait = {my.up_direct(src, kept, seen)};
    } else if (my.way == StripWay::staged) {
      my.up_staged(src, kept, seen);
      if (my.runtime.out_of_order()) wait = my.pieces.events();  // else down() sees to them
    } else {
      wait = {my.up_mapped(src, kept, seen)};
    }
  });
  return {BufferView(kept), wait, false};
}

CLCOOK_INLINE Staged Staging::place(const HostRowsToWrite& dst, cl::Buffer& kept,
                                    const HostRows* src) {
  State& my = *state_;
  detail::check_rows("Staging", "dst", dst.begin, dst.pitch, dst.row_bytes, dst.rows);
  const std::size_t total = dst.row_bytes * dst.rows;
  const auto begin_of = [](const void* at) { return reinterpret_cast<std::uintptr_t>(at); };
  const bool apart =
      src == nullptr || begin_of(dst.begin) + total <= begin_of(src->begin) ||
      begin_of(src->begin) + (src->rows - 1) * src->pitch + src->row_bytes <= begin_of(dst.begin);
  if (apart && (dst.pitch == dst.row_bytes || dst.rows == 1) &&
      my.takes(dst.begin, dst.row_bytes, dst.row_bytes)) {
    return {BufferView(create_buffer(my.runtime, total, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                                     dst.begin)),
            {},
            true};
  }
  my.grow(kept, total);
  return {BufferView(kept), {}, false};
}

CLCOOK_INLINE void Staging::down(const Staged& from, const HostRowsToWrite& dst,
                                 const cl::Event& made, const StagedBytes& each) {
  State& my = *state_;
  detail::check_rows("Staging", "dst", dst.begin, dst.pitch, dst.row_bytes, dst.rows);
  const std::size_t total = dst.row_bytes * dst.rows;
  const cl::Buffer& memory = from.view.buffer;
  my.guarded([&] {
    if (!from.in_place) my.prepare(total);
    if (from.in_place) {
      my.with_mapped(memory, total, made, {});
      if (each) my.threads.run(total, each);
    } else if (my.goes_direct(total)) {
      my.down_direct(memory, dst, made, each);
    } else if (my.way == StripWay::staged) {
      my.down_staged(memory, dst, made, each);
    } else {
      my.with_mapped(memory, total, made,
                     [&](const unsigned char* mapped, std::size_t begin, std::size_t end) {
                       State::copy_out(dst, begin, end, mapped + begin, each != nullptr);
                       if (each) each(begin, end);
                     });
    }
  });
}

CLCOOK_INLINE void Staging::each(std::size_t bytes, const StagedBytes& work) {
  state_->threads.run(bytes, work);
}

CLCOOK_INLINE std::string Staging::describe() const {
  const std::string way = state_->is_in_place ? "in place" : to_string(state_->way);
  return state_->reason.empty() ? way : text(way, " (", state_->reason, ")");
}

CLCOOK_INLINE const char* to_string(StripWay way) {
  return name_of(detail::kStripWays, way, detail::kStripName, "way");
}
CLCOOK_INLINE StripWay parse_strip_way(std::string_view name) {
  return value_of(detail::kStripWays, name, detail::kStripName, "way");
}

}  // namespace clcook
