#include "tool/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

namespace clcook::tool {

Progress::Progress(std::string doing, std::size_t total, bool quiet, double pause)
    : doing_(std::move(doing)), total_(total), pause_(pause) {
  if (quiet) return;
  const int copy = dup(STDERR_FILENO);
  if (copy < 0) return;
  terminal_ = isatty(copy) != 0;
  out_ = fdopen(copy, "w");
  if (out_ == nullptr) close(copy);
}

Progress::~Progress() {
  clear();
  if (out_ != nullptr) std::fclose(out_);
}

void Progress::step(const std::string& what) {
  ++done_;
  if (out_ == nullptr) return;
  const Clock::time_point now = Clock::now();
  // A terminal need not be told more than ten times a second.
  const double pause = terminal_ ? 0.1 : pause_;
  if (shown_ || !terminal_) {
    if (std::chrono::duration<double>(now - told_).count() < pause) return;
  }
  told_ = now;
  const std::string text =
      progress_text(doing_, done_, total_, std::chrono::duration<double>(now - begin_).count());
  if (terminal_) {
    // Longer than a line it could not be written over.
    fmt::print(out_, "\r\033[K{}", (text + ": " + what).substr(0, 79));
    shown_ = true;
  } else {
    fmt::print(out_, "clcook: {}: {}\n", text, what);
  }
  std::fflush(out_);
}

void Progress::clear() {
  if (!shown_) return;
  fmt::print(out_, "\r\033[K");
  std::fflush(out_);
  shown_ = false;
}

}  // namespace clcook::tool
