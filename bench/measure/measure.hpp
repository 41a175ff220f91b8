// Timing the variants of one case against each other.
#pragma once

#include <clcook/core/runtime.hpp>
#include <clcook/registry/recipe.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>
#include "measure/statistics.hpp"

namespace clcook::tool {

// When a command of a profiling queue ran, in nanoseconds.
struct Stamps {
  cl_ulong start = 0;
  cl_ulong end = 0;
};
Stamps stamps_of(const cl::Event& event);

// Collects the kernels of a call and reads their times.
class EventTimer {
 public:
  struct Time {
    double sum = 0;   // seconds in kernels
    double span = 0;  // seconds from the first kernel's start to the last one's end
    std::size_t launches = 0;
  };

  LaunchObserver observer() {
    return [this](const std::string& kernel, const cl::Event& event) {
      kernels_.push_back(kernel);
      events_.push_back(event);
    };
  }

  // Runs a call, waits for its last event, and adds up the times of its kernels.
  Time time(const std::function<cl::Event()>& call);

  // The kernels of the last call.
  const std::vector<std::string>& kernels() const { return kernels_; }

 private:
  std::vector<std::string> kernels_;
  std::vector<cl::Event> events_;
};

// One thing to be timed.
struct Subject {
  std::string variant;
  Params tune;
  // The caches are written over before every run; else the run before has warmed them.
  bool cold = false;

  // What its validation said; only subjects without a problem are timed.
  std::string problem;
  bool skipped = false;  // the problem is that the device or the shape cannot serve it
  double max_error = 0;
  double bound = 0;
  Work work;

  // One entry per run, in seconds, in the blocks in which they were taken.
  Blocks blocks;
  // In the same blocks, from the first kernel's start to the last one's end, and the clock probe's
  // behind each of these runs.
  Blocks spans;
  Blocks probes;
  std::vector<double> samples() const { return flat(blocks); }
  std::size_t launches = 0;
  std::size_t set_aside = 0;  // blocks that were taken again, see set_aside_slow()

  std::string name() const {
    return variant + (tune.empty() ? "" : " " + tune.str()) + (cold ? " cold" : "");
  }
};

struct MeasureOptions {
  int samples = 20;       // of each block
  int blocks = 1;         // at least; the case, with all its memory, is made anew for each
  int most_blocks = 0;    // what noise asks for stops here; less than `blocks`: it is not asked
  double probe_s = 0;     // what the clock probe takes when all is well; 0: nobody knows
  bool validates = true;  // or another process of this build has, on this device
  bool progress = false;  // a progress line on standard error
  // When so much processor time is spent, or four times that on the clock, nothing more is
  // validated and no block after the second begins; 0: no limit.
  double seconds = 0;
};

// The clock probe may take so much longer than beside the ceilings, as a share.
constexpr double kDrift = 0.05;

// Whether a subject is to get another block: it has less than the least, or its noise, the standard
// error of the medians of its blocks, is more than a half per cent, still falls, and time is left.
bool wants_block(const Subject& subject, const MeasureOptions& options, bool in_time);

// Takes the newest block of a subject out again when it was taken while the clock was low: the probe
// took longer than it may. Not more of them than the least number of blocks. Returns whether it did.
bool set_aside_slow(Subject& subject, const MeasureOptions& options);

// One work-item that computes a long chain of multiply-adds: it takes longer where the clock is lower
// or the device does something else as well. Needs a profiling queue.
class ClockProbe {
 public:
  explicit ClockProbe(const Runtime& runtime);
  ClockProbe(const ClockProbe&) = delete;
  ClockProbe& operator=(const ClockProbe&) = delete;
  double seconds();  // of one run

 private:
  EventTimer timer_;
  Runtime runtime_;
  cl::Program program_;
  cl::Buffer buffer_;
};

// What is measured together, and so resumed together, since ratios are taken within it: the variants of
// a recipe, or one with the baseline, each with all its tunes or the first, and cold or not.
std::vector<Subject> subjects_of(const Recipe& recipe, const std::string& variant, bool all_tunes,
                                 const std::vector<bool>& cold = {false});

// A device to measure on, through Google Benchmark with manual time: its flags, such as
// --benchmark_filter, apply.
class Meter {
 public:
  explicit Meter(const std::string& device, std::vector<std::string> flags = {});
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;

  // With a profiling queue.
  const Runtime& runtime() const { return runtime_; }

  // Validates every subject of a problem and times those that pass, interleaved in random order. Behind
  // each timed run comes the clock probe.
  void measure(const Recipe& recipe, const Params& shape, std::uint64_t seed,
               std::vector<Subject>& subjects, const MeasureOptions& options);

 private:
  std::vector<std::string> flags_;  // Google Benchmark keeps pointers to them
  EventTimer timer_;
  Runtime runtime_;
};

}  // namespace clcook::tool
