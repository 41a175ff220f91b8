// The definitions of clcook/core/call_order.hpp.
#pragma once

#include <clcook/core/call_order.hpp>
#include <utility>

namespace clcook {

CLCOOK_INLINE CallScope::CallScope(const Runtime& runtime, CallOrder& order)
    : hook_(runtime.hook()),
      runtime_(runtime.with_hook(*this)),
      order_(order),
      lock_(order.mutex) {}

CLCOOK_INLINE CallScope::~CallScope() {
  try {
    release();
  } catch (...) {  // without memory for the list the next call does not wait for this one
  }
}

CLCOOK_INLINE std::vector<cl::Event> CallScope::wait_list(std::vector<cl::Event> wait) {
  if (!runtime_.out_of_order()) return wait;
  std::deque<cl::Event>& running = order_.running;
  const auto status_of = [](const cl::Event& event) {
    cl_int status = CL_COMPLETE;
    check(
        clGetEventInfo(event(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr),
        "clGetEventInfo");
    return status;
  };
  while (!running.empty()) {
    const cl_int status = status_of(running.back());
    if (status > CL_COMPLETE) {
      wait.push_back(running.back());
      break;
    }
    // One that is complete had waited for those before it; one that failed need not have.
    if (status == CL_COMPLETE) {
      running.clear();
    } else {
      running.pop_back();
    }
  }
  while (running.size() > 1 && status_of(running.front()) <= CL_COMPLETE) running.pop_front();
  return wait;
}

CLCOOK_INLINE cl::Event CallScope::end() {
  const cl::Event last = last_;
  release();
  for (const auto& [kernel, event] : launches_) hook_->after(kernel, event);
  return last;
}

CLCOOK_INLINE void CallScope::before(const Kernel& kernel, const Launch& launch,
                                     const LaunchArgument* arguments, std::size_t count) {
  if (hook_ != nullptr) hook_->before(kernel, launch, arguments, count);
}

CLCOOK_INLINE void CallScope::after(const std::string& kernel, const cl::Event& event) {
  last_ = event;
  if (hook_ != nullptr) launches_.emplace_back(kernel, event);
}

CLCOOK_INLINE void CallScope::release() {
  if (!lock_.owns_lock()) return;
  const std::unique_lock<std::mutex> lock = std::move(lock_);
  if (runtime_.out_of_order() && last_() != nullptr)
    order_.running.push_back(std::exchange(last_, {}));
}

}  // namespace clcook
