#include "measure/compare.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "measure/statistics.hpp"

namespace clcook::tool {

namespace {

// A device may drift by as much from one run to the next, which neither of them shows.
constexpr double kBetweenRuns = 0.02;

bool is_same(const Ratio& ratio) {
  return ratio.low <= 1 + kBetweenRuns && ratio.high >= 1 / (1 + kBetweenRuns);
}

}  // namespace

Blocks blocks_of(const BenchRow& row) { return split(row.samples_us, row.blocks); }

Ratio ratio_of(const BenchRow& above, const BenchRow& below) {
  return bootstrap_ratio(blocks_of(above), blocks_of(below));
}

void check_same_device(const Device& one, const Device& other) {
  if (one.name == other.name && one.platform == other.platform) return;
  fail(Errc::invalid_argument, "compare",
       fmt::format("the results are of different devices: '{}, {}' and '{}, {}'; only results "
                   "of one device can be compared",
                   one.platform, one.name, other.platform, other.name));
}

int compare_results(const Device& device_before, const std::vector<BenchRow>& before,
                    const Device& device_after, const std::vector<BenchRow>& after) {
  check_same_device(device_before, device_after);
  if (device_before.driver != device_after.driver) {
    fmt::print("note: another driver, {} before and {} after\n", device_before.driver,
               device_after.driver);
  }
  std::map<std::string, const BenchRow*> old_rows;
  for (const BenchRow& row : before) {
    if (row.measured()) old_rows[row.name()] = &row;
  }
  int slower = 0;
  int faster = 0;
  int compared = 0;
  int unmatched = 0;
  for (const BenchRow& row : after) {
    if (!row.measured()) continue;
    const auto found = old_rows.find(row.name());
    if (found == old_rows.end()) {
      ++unmatched;
      continue;
    }
    ++compared;
    const BenchRow& old = *found->second;
    const Ratio ratio = ratio_of(row, old);
    if (is_same(ratio) || std::isnan(ratio.value)) continue;
    (ratio.value > 1 ? slower : faster) += 1;
    fmt::print("{} {}: {:.1f} -> {:.1f} us, {:.3f}x [{:.3f}, {:.3f}]\n",
               ratio.value > 1 ? "SLOWER" : "faster", row.name(), old.median_us, row.median_us,
               ratio.value, ratio.low, ratio.high);
  }
  if (compared == 0) {
    fail(Errc::invalid_argument, "compare",
         "no row of the two results has the same recipe, variant, tuning, shape and mode");
  }
  fmt::print(
      "{} rows compared: {} the same within the noise ({:.1f} %), {} slower, {} faster; {} rows "
      "only in the newer result\n",
      compared, compared - slower - faster, 100.0 * (compared - slower - faster) / compared, slower,
      faster, unmatched);
  return slower > 0 ? 1 : 0;
}

}  // namespace clcook::tool
