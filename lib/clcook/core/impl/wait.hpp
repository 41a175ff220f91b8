// How threads wait: for commands, and for one another.
#pragma once

#include <chrono>
#include <clcook/core/error.hpp>
#include <thread>

namespace clcook::detail {

// How long a thread asks before it sleeps: to be woken takes as long as to copy half a megabyte.
inline constexpr std::chrono::microseconds kAwake{200};

// Calls is_over() until it is true, or for kAwake, and lets others run in between.
template <class IsOver>
void stay_awake(const IsOver& is_over) {
  const auto end = std::chrono::steady_clock::now() + kAwake;
  while (!is_over() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
}

// Waits asleep until a command has ended. Throws Error with the command's own code where it failed;
// `where`, if there is one, names who asks.
inline void wait_asleep(const cl::Event& event, const char* where = nullptr) {
  const cl_event handle = event();
  cl_int status = clWaitForEvents(1, &handle);
  if (status == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) {
    cl_int own = CL_SUCCESS;
    const cl_int asked =
        clGetEventInfo(handle, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof own, &own, nullptr);
    if (asked == CL_SUCCESS && own < CL_SUCCESS) status = own;
    if (where != nullptr)
      fail(Errc::opencl, where, text("a command ended with ", status_name(status)), status);
  }
  check(status, "clWaitForEvents");
}

}  // namespace clcook::detail
