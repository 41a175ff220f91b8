// How far something long has come, told on standard error.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>

namespace clcook::tool {

// "checking 12 of 340, about 40 s left"; without a total "checking 12". The time left comes in as
// soon as something is done and a second has passed.
inline std::string progress_text(const std::string& doing, std::size_t done, std::size_t total,
                                 double seconds) {
  if (total == 0) return fmt::format("{} {}", doing, done);
  std::string out = fmt::format("{} {} of {}", doing, done, total);
  if (done == 0 || done >= total || seconds < 1) return out;
  const double left = seconds / static_cast<double>(done) * static_cast<double>(total - done);
  out += left < 100 ? fmt::format(", about {:.0f} s left", left)
                    : fmt::format(", about {:.0f} min left", left / 60);
  return out;
}

// On a terminal one line that is written over; elsewhere plain lines, few, so that a log stays short.
// Writes to what standard error is when it is made, whatever becomes of it later (see
// StderrCapture). Not thread-safe.
class Progress {
 public:
  // `total` is 0 where nobody knows it. A `quiet` one says nothing. Where there is no terminal, lines
  // are at least `pause` seconds apart.
  Progress(std::string doing, std::size_t total, bool quiet = false, double pause = 30);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  // One more is done; `what` is where it stands.
  void step(const std::string& what);
  // Takes the line off the terminal, for other text.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  std::string doing_;
  std::size_t total_;
  std::size_t done_ = 0;
  std::FILE* out_ = nullptr;
  bool terminal_ = false;
  double pause_;
  bool shown_ = false;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point told_ = begin_;
};

}  // namespace clcook::tool
