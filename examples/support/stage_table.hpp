// A table of the steps of an optimisation: printed, and as a result that clcook report reads.
#pragma once

#include <clcook/core/device_info.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "stages.hpp"

namespace clcook::example {

// One row: a variant at one work-group size.
struct Stage {
  std::string variant;
  int group = 0;         // 0 for variants without that choice
  std::string previous;  // the label() of the row that its ratio is taken to, empty for the first
  DeviceTimer::Call call{};       // none where it was not run
  std::string skipped{};          // why
  std::vector<double> seconds{};  // one for each round
  double error = 0;               // largest difference to the scalar reference of the same taps
  double off_full = 0;            // largest difference to the blur with all taps

  // "coalesced@64"
  std::string label() const { return variant + (group == 0 ? "" : "@" + std::to_string(group)); }
};

// Times the stages that have a call, in turn in every round.
void time_stages(std::vector<Stage>& stages, DeviceTimer& timer, int rounds);

void print_stages(const std::vector<Stage>& stages);

// Writes a result of kind "stages"; `shape` is an object of named values. Throws clcook::Error(io).
void write_stages(const std::string& path, const std::string& recipe, const DeviceInfo& device,
                  const nlohmann::ordered_json& shape, int rounds,
                  const std::vector<Stage>& stages);

}  // namespace clcook::example
