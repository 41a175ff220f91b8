#include "stage_table.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <clcook/core/commit.hpp>
#include <clcook/io/whole_file.hpp>
#include <cstddef>
#include <ctime>

namespace clcook::example {

namespace {

// The row that a stage is compared with; null where that has no times.
const Stage* previous_of(const Stage& stage, const std::vector<Stage>& stages) {
  for (const Stage& one : stages) {
    if (one.label() == stage.previous) return one.seconds.empty() ? nullptr : &one;
  }
  return nullptr;
}

double total_ratio(const Stage& stage, const std::vector<Stage>& stages) {
  return stages[0].seconds.empty() ? 0 : median(stages[0].seconds) / median(stage.seconds);
}

}  // namespace

void time_stages(std::vector<Stage>& stages, DeviceTimer& timer, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    for (Stage& stage : stages) {
      if (stage.call) stage.seconds.push_back(timer.time(stage.call));
    }
  }
}

void print_stages(const std::vector<Stage>& stages) {
  fmt::print("\n{:<16}{:>6}{:>13}{:>10}{:>10}  {:<22}{:>10}{:>12}\n", "stage", "group", "time, us",
             "+-", "total", "step", "error", "off full");
  for (const Stage& stage : stages) {
    if (!stage.skipped.empty()) {
      fmt::print("{:<16}{:>6}  skipped: {}\n", stage.variant, stage.group, stage.skipped);
      continue;
    }
    const double time = median(stage.seconds);
    const auto [low, high] = std::minmax_element(stage.seconds.begin(), stage.seconds.end());
    const Stage* previous = previous_of(stage, stages);
    const std::string step =
        previous == nullptr
            ? "-"
            : fmt::format("{:.2f}x {}", median(previous->seconds) / time, previous->label());
    fmt::print("{:<16}{:>6}{:>13.1f}{:>10.1f}{:>9.2f}x  {:<22}{:>10.2g}{:>12.2g}\n", stage.variant,
               stage.group, time * 1e6, (*high - *low) * 5e5, total_ratio(stage, stages), step,
               stage.error, stage.off_full);
  }
}

void write_stages(const std::string& path, const std::string& recipe, const DeviceInfo& device,
                  const nlohmann::ordered_json& shape, int rounds,
                  const std::vector<Stage>& stages) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Stage& stage : stages) {
    nlohmann::ordered_json row{{"stage", stage.variant}, {"group", stage.group}};
    if (stage.skipped.empty()) {
      if (const Stage* previous = previous_of(stage, stages)) {
        row["previous"] = previous->label();
        row["ratio_to_previous"] = median(previous->seconds) / median(stage.seconds);
      }
      row["seconds"] = stage.seconds;
      row["median_us"] = median(stage.seconds) * 1e6;
      row["total_ratio"] = total_ratio(stage, stages);
      row["max_error"] = stage.error;
      row["max_error_to_full"] = stage.off_full;
    } else {
      row["skipped"] = stage.skipped;
    }
    rows.push_back(std::move(row));
  }
  const nlohmann::ordered_json document{
      {"format", 1},
      {"kind", "stages"},
      {"recipe", recipe},
      {"commit", commit},
      {"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
      {"device",
       {{"name", device.name},
        {"platform", device.platform},
        {"version", device.version},
        {"driver", device.driver},
        {"compute_units", device.compute_units}}},
      {"shape", shape},
      {"rounds", rounds},
      {"rows", rows}};
  io::write_file(path, document.dump(1) + "\n");
}

}  // namespace clcook::example
