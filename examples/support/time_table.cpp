#include "time_table.hpp"

#include <fmt/format.h>

#include <cstddef>

namespace clcook::example {

void TimeTable::print(int rounds) {
  std::vector<DeviceTimer::Call> calls;
  for (const Row& row : rows_) {
    if (row.call) calls.push_back(row.call);
  }
  const std::vector<double> seconds = timer_.medians(calls, rounds);
  std::size_t next = 0;
  for (const Row& row : rows_) {
    if (row.call) {
      const double one = seconds[next++];
      fmt::print("{:<22}{:>12.2f} us{:>8.2f}x\n", row.name, one * 1e6, seconds[0] / one);
    } else {
      fmt::print("{:<22} skipped: {}\n", row.name, row.skipped);
    }
  }
}

}  // namespace clcook::example
