#include "counters/perf.hpp"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <clcook/core/error.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace clcook::counters {

namespace {

struct Event {
  const char* key;
  std::uint64_t config;
};
constexpr Event kEvents[] = {{"instructions", PERF_COUNT_HW_INSTRUCTIONS},
                             {"cycles", PERF_COUNT_HW_CPU_CYCLES},
                             {"branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
                             {"branch_misses", PERF_COUNT_HW_BRANCH_MISSES},
                             {"cache_misses", PERF_COUNT_HW_CACHE_MISSES}};

// One event of one thread.
class PerfCounter {
 public:
  // `error` is errno where there is no such counter.
  PerfCounter(std::uint64_t config, pid_t thread, int& error) {
    perf_event_attr about{};
    about.size = sizeof about;
    about.type = PERF_TYPE_HARDWARE;
    about.config = config;
    about.disabled = 1;
    about.exclude_kernel = 1;
    about.exclude_hv = 1;
    about.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    file_ = static_cast<int>(syscall(SYS_perf_event_open, &about, thread, -1, -1, 0UL));
    error = file_ < 0 ? errno : 0;
  }
  PerfCounter(PerfCounter&& other) noexcept : file_(other.file_) { other.file_ = -1; }
  PerfCounter(const PerfCounter&) = delete;
  PerfCounter& operator=(const PerfCounter&) = delete;
  PerfCounter& operator=(PerfCounter&&) = delete;
  ~PerfCounter() {
    if (file_ >= 0) close(file_);
  }

  void start() const { ioctl(file_, PERF_EVENT_IOC_ENABLE, 0); }
  void stop() const { ioctl(file_, PERF_EVENT_IOC_DISABLE, 0); }
  // NaN where it never ran although the thread did.
  double value() const {
    std::uint64_t fields[3] = {};  // the count, nanoseconds enabled, nanoseconds running
    if (read(file_, fields, sizeof fields) != sizeof fields) return std::nan("");
    if (fields[1] == 0) return 0;
    return static_cast<double>(fields[0]) * static_cast<double>(fields[1]) /
           static_cast<double>(fields[2]);
  }

 private:
  int file_ = -1;
};

std::vector<pid_t> threads_of_this_process() {
  std::vector<pid_t> out;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", error))
    out.push_back(static_cast<pid_t>(std::stol(entry.path().filename().string())));
  return out;
}

std::string paranoia() {
  std::ifstream in("/proc/sys/kernel/perf_event_paranoid");
  std::string value;
  in >> value;
  return value.empty() ? "" : "; kernel.perf_event_paranoid is " + value;
}

}  // namespace

tool::CountersRow::Counters count_threads(const std::function<void()>& call) {
  struct Counted {
    std::size_t event;
    PerfCounter counter;
  };
  std::vector<Counted> counters;
  int first_error = 0;
  for (const pid_t thread : threads_of_this_process()) {
    for (std::size_t i = 0; i < std::size(kEvents); ++i) {
      int error = 0;
      PerfCounter one(kEvents[i].config, thread, error);
      if (error == ESRCH) continue;  // the thread has ended
      if (error == 0) {
        counters.push_back({i, std::move(one)});
      } else if (first_error == 0) {
        first_error = error;
      }
    }
  }
  if (counters.empty()) {
    fail(Errc::unsupported, "clcook counters",
         text("the system gives no counters of the CPU: perf_event_open: ",
              std::strerror(first_error), paranoia()));
  }
  for (const Counted& one : counters) one.counter.start();
  call();
  for (const Counted& one : counters) one.counter.stop();
  tool::CountersRow::Counters out;
  for (std::size_t i = 0; i < std::size(kEvents); ++i) {
    double sum = 0;
    bool any = false;
    for (const Counted& one : counters) {
      if (one.event != i) continue;
      any = true;
      sum += one.counter.value();
    }
    out.emplace_back(kEvents[i].key, any ? sum : std::nan(""));
  }
  return out;
}

}  // namespace clcook::counters
