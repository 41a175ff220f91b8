// The definitions of clcook/core/attempt.hpp.
#pragma once

#include <clcook/core/attempt.hpp>
#include <clcook/core/error.hpp>
#include <clcook/core/file.hpp>

#if defined(__unix__) || defined(__APPLE__)
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#define CLCOOK_ATTEMPT_FILES 1
#else
#define CLCOOK_ATTEMPT_FILES 0
#endif

namespace clcook::detail {

CLCOOK_INLINE Attempt::Attempt(const DiskCache& cache, const std::string& what, bool again) {
#if CLCOOK_ATTEMPT_FILES
  if (!cache.enabled() || !trust_of(cache.folder(), true).trusted) return;
  file_ = joined(cache.folder(), text("attempt-", fnv1a(what), ".txt"));
  handle_ = open(file_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
  if (handle_ < 0) return;
  const bool alone = is_trusted(handle_) && flock(handle_, LOCK_EX | LOCK_NB) == 0;
  ended_before_ = alone && !again && lseek(handle_, 0, SEEK_END) > 0;
  const std::string note = "A program began this and did not come back:\n" + what + "\n";
  if (!alone || ended_before_ || ftruncate(handle_, 0) != 0 ||
      pwrite(handle_, note.data(), note.size(), 0) != static_cast<ssize_t>(note.size())) {
    close(handle_);
    handle_ = -1;
  }
#else
  (void)cache;
  (void)what;
  (void)again;
#endif
}

CLCOOK_INLINE Attempt::~Attempt() {
#if CLCOOK_ATTEMPT_FILES
  if (handle_ < 0) return;
  // Emptied first: another process may have opened the file, and wait to lock it.
  if (ftruncate(handle_, 0) == 0) unlink(file_.c_str());
  close(handle_);
#endif
}

}  // namespace clcook::detail
