// What several examples do beside their kernels: files, sizes, a bar.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <clcook/core/error.hpp>
#include <cstdint>
#include <cstdio>
#include <pictures/picture.hpp>
#include <string>
#include <vector>

#include "support/command_line.hpp"

namespace clcook::example {

// Throws Error(invalid_argument) unless `files` are input and output, or none.
inline void both_or_none(const std::vector<std::string>& files) {
  if (files.size() != 1) return;
  fail(Errc::invalid_argument, "files",
       "give both or none of input and output; got only '" + files[0] + "'");
}

struct PictureFiles {
  std::string in;
  std::string out;
};

// Those files; without any, the test scene and `own_out`. Throws Error(invalid_argument) for one
// alone and for an ending that write_picture() does not know.
inline PictureFiles picture_files(const std::vector<std::string>& files,
                                  const std::string& own_out) {
  both_or_none(files);
  const PictureFiles out =
      files.empty() ? PictureFiles{"scene", own_out} : PictureFiles{files[0], files[1]};
  pictures::check_picture_path(out.out);
  return out;
}

struct Size {
  int width = 0;
  int height = 0;
};

// Reads the value of --size. Throws Error(invalid_argument).
inline Size parse_size(const std::string& text) {
  Size out;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%dx%d%c", &out.width, &out.height, &rest) != 2 || out.width < 1 ||
      out.height < 1 || out.width > 8192 || out.height > 8192) {
    fail(Errc::invalid_argument, "--size",
         "must be WIDTHxHEIGHT, 1 to 8192 each, got '" + text + "'");
  }
  return out;
}

// A bar on standard error while something takes long; nothing where that is no terminal.
class ProgressBar {
 public:
  explicit ProgressBar(std::uint64_t total) : total_(total) {}
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar() {
    if (shown_) fmt::print(stderr, "\r{:>60}\r", "");
  }

  void at(std::uint64_t done) {
    const auto now = std::chrono::steady_clock::now();
    if (!terminal_ || now - last_ < std::chrono::milliseconds(shown_ ? 100 : 1000)) return;
    last_ = now;
    shown_ = true;
    const auto part =
        static_cast<std::size_t>(40.0 * static_cast<double>(done) / static_cast<double>(total_));
    fmt::print(stderr, "\r[{:<40}] {:3.0f} %", std::string(part, '#'),
               100.0 * static_cast<double>(done) / static_cast<double>(total_));
    std::fflush(stderr);
  }

 private:
  std::uint64_t total_;
  bool terminal_ = isatty(STDERR_FILENO) != 0;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace clcook::example
