// Calls of a plan that use the same memory on the device, one after the other.
//
//   struct Resources { cl::Buffer scratch; std::shared_ptr<clcook::CallOrder> call_order; };
//
//   clcook::CallScope scope(runtime, *call_order);     // waits for the calls of other threads
//   Kernel first(scope.runtime(), program, "first");   // its launches are the call's
//   first(launch, scope.wait_list(wait), scratch);     // waits for the call before, if it must
//   return scope.end();                                // the event of the last launch
#pragma once

#include <clcook/core/error.hpp>
#include <clcook/core/inline.hpp>
#include <clcook/core/runtime.hpp>
#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace clcook {

// What calls leave for the calls behind them. In an in-order queue that is nothing: the queue keeps
// the order, and a call whose wait events fail does not make others fail. In an out-of-order queue
// a call waits for the event of the call before. If that call fails and nobody knows it yet, this
// call fails too; later calls do not.
struct CallOrder {
  std::mutex mutex;
  std::deque<cl::Event> running;  // the last events of calls, those that may be running
};

// One call: holds the lock while its commands are enqueued, and keeps their launches from the
// runtime's observer until they are.
class CallScope : private LaunchHook {
 public:
  CallScope(const Runtime& runtime, CallOrder& order);
  // The next call waits for what was enqueued, even if an exception ends this call.
  ~CallScope() override;

  // What the call's kernels are made with; for as long as the scope lives.
  const Runtime& runtime() const { return runtime_; }
  // What the first command waits for: the events of `wait`, and the call before.
  std::vector<cl::Event> wait_list(std::vector<cl::Event> wait);
  // Adds the event of a command that is no launch of a Kernel.
  void enqueued(const cl::Event& event) { last_ = event; }
  // Ends the call, tells the observer of the launches, and returns the event of the last command.
  cl::Event end();

 private:
  void before(const Kernel& kernel, const Launch& launch, const LaunchArgument* arguments,
              std::size_t count) override;
  void after(const std::string& kernel, const cl::Event& event) override;
  void release();

  LaunchHook* hook_;  // of the runtime that the call was made on
  Runtime runtime_;
  CallOrder& order_;
  std::unique_lock<std::mutex> lock_;
  cl::Event last_;
  std::vector<std::pair<std::string, cl::Event>> launches_;  // that the hook is not told of yet
};

}  // namespace clcook

#if CLCOOK_DEFINITIONS
#include <clcook/core/impl/call_order.hpp>
#endif
