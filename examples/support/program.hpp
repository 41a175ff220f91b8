// What the main() of every example does.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <clcook/core/error.hpp>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

namespace clcook::example {

// Throws Error(invalid_argument) unless `files` are input and output, or none.
inline void both_or_none(const std::vector<std::string>& files) {
  if (files.size() != 1) return;
  fail(Errc::invalid_argument, "files",
       "give both or none of input and output; got only '" + files[0] + "'");
}

// Adds --device to the options of a program.
inline void add_device(CLI::App& app, std::string& device) {
  app.add_option("--device", device, "Device specification; default CLCOOK_DEVICE, else any");
}

// Reads the command line, then runs the program. Returns its exit code; 2 for an error, which is
// printed behind the program's name.
template <class Run>
int run_main(CLI::App& app, int argc, char** argv, const Run& run) {
  CLI11_PARSE(app, argc, argv);
  try {
    run();
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", std::filesystem::path(argv[0]).filename().string(),
               error.what());
    return 2;
  }
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
