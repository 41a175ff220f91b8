// Timing a chain of stages on a device, for the examples that print a table of them.
#pragma once

#include <algorithm>
#include <clcook/core/runtime.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace clcook::example {

// Median of a non-empty list.
inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// Adds up the device time of all kernels of a call. Runtime::pick() takes its options(); a runtime of
// another queue, which has profiling on, its observer(). It must outlive that runtime.
class DeviceTimer {
 public:
  using Call = std::function<cl::Event()>;

  PickOptions options() {
    PickOptions out;
    out.profiling = true;
    out.runtime.on_launch = observer();
    return out;
  }
  LaunchObserver observer() {
    return [this](const std::string&, const cl::Event& event) { events_.push_back(event); };
  }

  // Runs one call, waits for it, and returns the sum of its kernels' times in seconds.
  double time(const Call& call) {
    events_.clear();
    wait_for(call());
    return seconds();
  }

  // The median time of each call in seconds; all run in turn in every round. The first launch of a
  // kernel takes longer: run each before.
  std::vector<double> medians(const std::vector<Call>& calls, int rounds) {
    std::vector<std::vector<double>> seconds(calls.size());
    for (int round = 0; round < rounds; ++round) {
      for (std::size_t i = 0; i < calls.size(); ++i) seconds[i].push_back(time(calls[i]));
    }
    std::vector<double> out;
    for (const std::vector<double>& one : seconds) out.push_back(example::median(one));
    return out;
  }

  // The median time of one call, which also runs once before.
  double median(const Call& call, int rounds) {
    time(call);
    return medians({call}, rounds)[0];
  }

  // The sum of the times of all kernels since then, in seconds; they must have finished.
  double seconds() const {
    double sum = 0;
    for (const cl::Event& event : events_) {
      cl_ulong begin = 0;
      cl_ulong end = 0;
      check(clGetEventProfilingInfo(event(), CL_PROFILING_COMMAND_START, sizeof begin, &begin,
                                    nullptr),
            "clGetEventProfilingInfo");
      check(clGetEventProfilingInfo(event(), CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr),
            "clGetEventProfilingInfo");
      sum += static_cast<double>(end - begin) * 1e-9;
    }
    return sum;
  }

 private:
  std::vector<cl::Event> events_;
};

}  // namespace clcook::example
