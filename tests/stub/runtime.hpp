// Runtimes on the stub, for tests.
#pragma once

#include <clcook/core/runtime.hpp>

#include <cstddef>
#include <cstdlib>
#include <vector>

#include "stub/stub.hpp"

namespace stub {

// One on the device that set_device() made, with programs of its own, without a disk cache and
// without what the environment says of one.
inline clcook::Runtime make_runtime(bool out_of_order = false,
                                    const clcook::DiskCache& disk = clcook::DiskCache()) {
  static const int set = setenv("CLCOOK_CACHE", "0", 1);
  clcook::check(set, "setenv");
  clcook::PickOptions options;
  options.out_of_order = out_of_order;
  options.runtime.disk_cache = disk;
  return clcook::Runtime::pick("any", options);
}

// A user event, which holds commands back until it is set.
class Gate {
 public:
  explicit Gate(const clcook::Runtime& runtime) {
    cl_int status = CL_SUCCESS;
    event_ = cl::Event(clCreateUserEvent(runtime.context()(), &status));
    clcook::check(status, "clCreateUserEvent");
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  ~Gate() { set(CL_COMPLETE); }

  const cl::Event& event() const { return event_; }
  // CL_COMPLETE, or a negative number: the commands behind fail.
  void set(cl_int status) {
    if (!is_set_) clSetUserEventStatus(event_(), status);
    is_set_ = true;
  }

 private:
  cl::Event event_;
  bool is_set_ = false;
};

inline cl_int status_of(const cl::Event& event) {
  cl_int status = CL_QUEUED;
  clcook::check(
      clGetEventInfo(event(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr),
      "clGetEventInfo");
  return status;
}

inline cl::Image2D make_image(const clcook::Runtime& runtime, std::size_t width, std::size_t height,
                              cl_image_format format) {
  cl_image_desc desc{};
  desc.image_type = CL_MEM_OBJECT_IMAGE2D;
  desc.image_width = width;
  desc.image_height = height;
  cl_int status = CL_SUCCESS;
  cl::Image2D out(
      clCreateImage(runtime.context()(), CL_MEM_READ_WRITE, &format, &desc, nullptr, &status));
  clcook::check(status, "clCreateImage");
  return out;
}

}  // namespace stub
