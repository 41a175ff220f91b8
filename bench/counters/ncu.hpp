// NVIDIA's profiler, through the scripts beside this file: ncu.py runs it, cuda.py is what it watches.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "results.hpp"
#include "tool/scratch_folder.hpp"

namespace clcook::counters {

// A recorded call and what became of it.
struct Call {
  std::string name;    // of its recording
  std::string status;  // of its row: "counted", "refused", "skipped"
  std::string reason;  // of all but the first
  std::uint64_t profiled = 0;
  tool::CountersRow::Counters counters;
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
  // fills in what became of them. Those that are not done by `deadline` are skipped; when `stop` says
  // so, all are left as they are. Throws Error(unsupported) where nothing can be counted here.
  void profile(const std::filesystem::path& folder, std::vector<Call>& calls,
               Clock::time_point deadline, const std::function<bool()>& stop);

 private:
  // What the scripts print; empty where `stop` ended them.
  std::string ask(const std::vector<std::string>& words, const std::function<bool()>& stop) const;

  tool::ScratchFolder scripts_;
  std::string version_;
  std::string unknown_;  // metrics that the profiler does not have
};

}  // namespace clcook::counters
