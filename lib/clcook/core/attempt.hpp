// Remembering what ended a process, so that the next one does without.
#pragma once

#include <clcook/core/cache.hpp>
#include <clcook/core/inline.hpp>
#include <string>

namespace clcook::detail {

// A step into a driver that may end the process: a crash, or an exit() of its compiler. A file in
// a disk cache's folder says that it was begun and goes away with this object; one that is left by
// a process that is no more tells that the step ended it.
//
// The file is locked while its process lives, so that programs that take the same step at the same
// time do not suspect each other. Where no file can be written, in a folder that is not trusted
// (DiskCache::refusal()), or on systems without flock(), nothing is remembered. Throws nothing but
// bad_alloc. Safe from several threads and processes.
class Attempt {
 public:
  // `what` names the step and all that can change its end, such as the driver's version. With
  // `again` an attempt that did not come back is forgotten, and made again.
  Attempt(const DiskCache& cache, const std::string& what, bool again);

  ~Attempt();

  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  // Whether the step ended a process before; it should not be taken then.
  bool ended_before() const { return ended_before_; }
  const std::string& file() const { return file_; }

 private:
  std::string file_;
  int handle_ = -1;
  bool ended_before_ = false;
};

}  // namespace clcook::detail

#if CLCOOK_DEFINITIONS
#include <clcook/core/impl/attempt.hpp>
#endif
