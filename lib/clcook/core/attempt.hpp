// Remembering what ended a process, so that the next one does without.
#pragma once

#include <clcook/core/cache.hpp>
#include <filesystem>
#include <string>
#include <system_error>

#if defined(__unix__) || defined(__APPLE__)
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#define CLCOOK_ATTEMPT_FILES 1
#else
#define CLCOOK_ATTEMPT_FILES 0
#endif

namespace clcook::detail {

// A step into a driver that may end the process: a crash, or an exit() of its compiler. A file in
// a disk cache's folder says that it was begun and goes away with this object; one that is left by
// a process that is no more tells that the step ended it.
//
// The file is locked while its process lives, so that programs that take the same step at the same
// time do not suspect each other. Where no file can be written, or on systems without flock(),
// nothing is remembered. Throws nothing but bad_alloc. Safe from several threads and processes.
class Attempt {
 public:
  // `what` names the step and all that can change its end, such as the driver's version. With
  // `again` an attempt that did not come back is forgotten, and made again.
  Attempt(const DiskCache& cache, const std::string& what, bool again) {
#if CLCOOK_ATTEMPT_FILES
    if (!cache.enabled()) return;
    const std::filesystem::path& folder = cache.folder();
    file_ = folder / ("attempt-" + std::to_string(fnv1a(what)) + ".txt");
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    handle_ = open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644);
    if (handle_ < 0) return;
    const bool alone = flock(handle_, LOCK_EX | LOCK_NB) == 0;
    ended_before_ = alone && !again && lseek(handle_, 0, SEEK_END) > 0;
    const std::string text = "A program began this and did not come back:\n" + what + "\n";
    if (!alone || ended_before_ || ftruncate(handle_, 0) != 0 ||
        pwrite(handle_, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
      close(handle_);
      handle_ = -1;
    }
#else
    (void)cache;
    (void)what;
    (void)again;
#endif
  }

  ~Attempt() {
#if CLCOOK_ATTEMPT_FILES
    if (handle_ < 0) return;
    // Emptied first: another process may have opened the file, and wait to lock it.
    if (ftruncate(handle_, 0) == 0) unlink(file_.c_str());
    close(handle_);
#endif
  }

  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  // Whether the step ended a process before; it should not be taken then.
  bool ended_before() const { return ended_before_; }
  const std::filesystem::path& file() const { return file_; }

 private:
  std::filesystem::path file_;
  int handle_ = -1;
  bool ended_before_ = false;
};

}  // namespace clcook::detail
