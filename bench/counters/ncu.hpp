// NVIDIA's profiler: which metrics are asked for, running it, and reading what it writes.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "counters/recording.hpp"
#include "results.hpp"

namespace clcook::counters {

using Counters = tool::CountersRow::Counters;

// A counter of ours, the profiler's metric that it is read from, and how those of several launches
// become one.
struct Metric {
  enum class Combine { sum, most, mean };
  const char* key;
  const char* name;
  Combine combine;
  const char* weight;  // of a mean: the key of what its launches weigh
  const char* about;
};
const std::vector<Metric>& metrics();

// Comma-separated values as RFC 4180 has them: fields may be quoted, a quote in them is doubled.
std::vector<std::vector<std::string>> parse_csv(const std::string& text);

// One profiled launch.
struct Profiled {
  std::string kernel;
  Counters counters;  // one for each of metrics(), in their order; NaN where there is none
  double times = 1;   // of how many equal launches it stands for
};

// What the profiler wrote with --csv --page raw: messages, which begin with "==", a row of names, a
// row of units, and a row for each launch. Throws Error(io) that says what is wrong with it.
std::vector<Profiled> read_profile(const std::string& log);

// The profiler's first complaint, without its "==ERROR==": empty where there is none.
std::string complaint_of(const std::string& log);

// The counters of a call from those of its launches. A metric that one launch lacks is NaN.
Counters combine(const std::vector<Profiled>& launches);

// A recorded call and what became of it.
struct Call {
  std::string name;  // of its recording
  std::vector<Chosen> chosen;
  std::string reason;  // why it has no counters; empty: it has
  std::vector<Profiled> launches;
};

// What a recipe may take, and the reason of its calls that were not counted until then.
constexpr int kRecipeSeconds = 120;
std::string time_spent();

// NVIDIA Nsight Compute, from PATH, from the folders of CUDA, or from CLCOOK_NCU.
class Ncu {
 public:
  // Throws Error(unsupported) that says what is missing.
  Ncu();

  // "ncu 2025.3.1.0"
  const std::string& version() const { return version_; }

  using Clock = std::chrono::steady_clock;

  // Runs the recorded calls of the folder under the profiler, in one process if that goes well, and
  // fills in what became of them. Those that are not done by `deadline`, or when `stop` says so, have
  // that as their reason. Throws Error(unsupported) where nothing can be counted here.
  void profile(const std::filesystem::path& folder, std::vector<Call>& calls,
               Clock::time_point deadline, const std::function<bool()>& stop);

 private:
  using Calls = std::vector<Call*>;

  std::vector<std::string> command_of(const std::filesystem::path& folder,
                                      const std::filesystem::path& log_file, double seconds) const;
  // One process, which ends after so many seconds. Returns the calls that have to run once more, each
  // list in one process: the others have their counters or their reason.
  std::vector<Calls> profile_together(const std::filesystem::path& folder, const Calls& calls,
                                      double seconds, const std::function<bool()>& stop);

  std::string program_;
  std::string version_;
  std::vector<std::string> unknown_;  // metrics that the profiler does not have
};

}  // namespace clcook::counters
