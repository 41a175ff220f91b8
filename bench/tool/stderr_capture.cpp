#include "tool/stderr_capture.hpp"

#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>

namespace clcook::tool {

namespace {

// For the handlers, which may call only what is safe in a signal.
int real_error = -1;
int kept_error = -1;
constexpr std::array kFatal{SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV};

void spill() {
  if (kept_error < 0) return;
  std::array<char, 4096> part{};
  off_t at = 0;
  for (ssize_t count = 0; (count = pread(kept_error, part.data(), part.size(), at)) > 0;
       at += count) {
    if (write(real_error, part.data(), static_cast<std::size_t>(count)) < 0) break;
  }
  kept_error = -1;
}

void on_fatal(int number) {
  spill();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

}  // namespace

StderrCapture::StderrCapture() {
  std::FILE* file = std::tmpfile();
  const int copy = dup(STDERR_FILENO);
  terminal_ = copy < 0 ? nullptr : fdopen(copy, "w");
  if (file == nullptr || terminal_ == nullptr) {  // no room: then it talks between our lines
    if (file != nullptr) std::fclose(file);
    return;
  }
  std::fflush(stderr);
  kept_error = dup(fileno(file));
  real_error = copy;
  std::fclose(file);
  dup2(kept_error, STDERR_FILENO);
  static const bool once = std::atexit(spill) == 0;
  static_cast<void>(once);
  for (const int number : kFatal) std::signal(number, on_fatal);
}

StderrCapture::~StderrCapture() {
  if (kept_error >= 0) {
    std::fflush(stderr);
    dup2(real_error, STDERR_FILENO);
    close(kept_error);
    kept_error = -1;
    for (const int number : kFatal) std::signal(number, SIG_DFL);
  }
  if (terminal_ != nullptr) std::fclose(terminal_);
}

std::string StderrCapture::take() {
  std::string out;
  if (kept_error < 0) return out;
  std::fflush(stderr);
  std::array<char, 4096> part{};
  for (ssize_t count = 0;
       (count = pread(kept_error, part.data(), part.size(), static_cast<off_t>(taken_))) > 0;
       taken_ += static_cast<std::size_t>(count)) {
    out.append(part.data(), static_cast<std::size_t>(count));
  }
  return out;
}

}  // namespace clcook::tool
