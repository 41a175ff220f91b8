// A table of the steps of an optimisation: printed, and as a result that clcook report reads.
#pragma once

#include <clcook/core/device_info.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace clcook::example {

// One row: a variant at one work-group size.
struct Stage {
  std::string variant;
  int group = 0;                // 0 for variants without that choice
  int previous = -1;            // the row that its ratio is taken to, -1 for the first
  std::vector<double> seconds;  // one for each round
  double error = 0;             // largest difference to the scalar reference of the same taps
  double off_full = 0;          // largest difference to the blur with all taps
  std::string skipped;          // why it was not run
};

void print_stages(const std::vector<Stage>& stages);

// Writes a result of kind "stages"; `shape` is an object of named values. Throws clcook::Error(io).
void write_stages(const std::string& path, const std::string& recipe, const DeviceInfo& device,
                  const nlohmann::ordered_json& shape, int rounds,
                  const std::vector<Stage>& stages);

}  // namespace clcook::example
