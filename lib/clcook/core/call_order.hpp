// Calls of a plan that use the same memory on the device, one after the other.
//
//   struct Resources { cl::Buffer scratch; std::shared_ptr<clcook::CallOrder> call_order; };
//
//   clcook::CallScope scope(runtime, *call_order);  // waits for the calls of other threads
//   first(launch, scope.wait_list(wait), scratch);  // waits for the call before, if it must
//   return scope.end();                             // the event of the last launch
#pragma once

#include <clcook/core/error.hpp>
#include <clcook/core/inline.hpp>
#include <clcook/core/runtime.hpp>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

namespace clcook {

// What calls leave for those behind them. In an in-order queue that is nothing: the queue keeps the
// order, and a call whose wait events fail takes no other with it. In an out-of-order queue a call
// waits for the event of the one before: where that one fails before it is known to have failed, the
// call fails too, and the calls after that do not.
struct CallOrder {
  std::mutex mutex;
  std::deque<cl::Event> running;  // the last events of calls, those that may be running
};

// One call: holds the lock while its commands are enqueued, and keeps their launches from the
// observer until they are.
class CallScope {
 public:
  CallScope(const Runtime& runtime, CallOrder& order);
  // What was enqueued is waited for by the next call, also where an exception ends this one.
  ~CallScope();

  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  // What the first command waits for: the events of `wait`, and the call before.
  std::vector<cl::Event> wait_list(std::vector<cl::Event> wait);
  // The event of a command that is no launch of a Kernel; for those this is called by itself.
  void enqueued(const cl::Event& event) { last_ = event; }
  // Ends the call, tells the observer of the launches, and returns the event of the last command.
  cl::Event end();

  // The one of this thread, or null.
  static CallScope*& current();
  void launched(const Runtime& runtime, const std::string& kernel, const cl::Event& event);

 private:
  struct Launched {
    Runtime runtime;
    std::string kernel;
    cl::Event event;
  };

  void release();

  CallOrder& order_;
  bool out_of_order_;
  std::unique_lock<std::mutex> lock_;
  CallScope* outer_;
  cl::Event last_;
  std::vector<Launched> launches_;
};

}  // namespace clcook

#if CLCOOK_DEFINITIONS
#include <clcook/core/impl/call_order.hpp>
#endif
