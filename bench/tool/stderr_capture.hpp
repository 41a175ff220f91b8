// What an OpenCL implementation prints to standard error while it compiles.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

namespace clcook::tool {

// While one exists, standard error is a file of its own: what PoCL says of kernels ("1 warning
// generated.") does not get between our lines. Should the process end meanwhile, by exit() or by a
// fatal signal, what was kept goes to the real standard error: an implementation that ends the
// process says why just before. At most one at a time. Not thread-safe.
class StderrCapture {
 public:
  StderrCapture();
  StderrCapture(const StderrCapture&) = delete;
  StderrCapture& operator=(const StderrCapture&) = delete;
  ~StderrCapture();

  // What was printed since the last call.
  std::string take();
  // The real standard error, for our own lines.
  std::FILE* terminal() const { return terminal_ != nullptr ? terminal_ : stderr; }

 private:
  std::FILE* terminal_ = nullptr;
  std::size_t taken_ = 0;
};

}  // namespace clcook::tool
