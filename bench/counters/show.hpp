// What counters are called where people read them.
#pragma once

#include <string>
#include <vector>

#include "results.hpp"

namespace clcook::counters {

struct Shown {
  const char* key;    // in result files
  const char* brief;  // over a narrow column
  const char* title;
  double factor;  // from the file's unit to that of brief and title
};

// Every counter that there is, those of GPUs and those of CPUs, in the order in which they are
// shown.
const std::vector<Shown>& shown();
// Throws Error(invalid_argument) that lists the keys.
const Shown& shown(const std::string& key);

// In the unit of the counter's title; NaN where the row does not have it.
double value_of(const tool::CountersRow& row, const Shown& one);

}  // namespace clcook::counters
