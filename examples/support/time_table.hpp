// A printed table of what variants take on a device.
#pragma once

#include <clcook/core/error.hpp>
#include <string>
#include <vector>

#include "stages.hpp"

namespace clcook::example {

class TimeTable {
 public:
  explicit TimeTable(DeviceTimer& timer) : timer_(timer) {}

  // Adds a row. `make` makes the plan and returns the call that is timed; where it throws
  // Error(unsupported), the row says why.
  template <class Make>
  void add(const std::string& name, const Make& make) {
    Row row{name, {}, {}};
    try {
      row.call = make();
      timer_.time(row.call);  // the first launch, which takes longer
    } catch (const Error& error) {
      if (error.code != Errc::unsupported) throw;
      row.call = nullptr;
      row.skipped = error.what();
    }
    rows_.push_back(row);
  }

  // Times the rows, in turn in every round, and prints the median of each and how many times as
  // fast as the first it is.
  void print(int rounds);

 private:
  struct Row {
    std::string name;
    DeviceTimer::Call call;
    std::string skipped;
  };

  DeviceTimer& timer_;
  std::vector<Row> rows_;
};

}  // namespace clcook::example
