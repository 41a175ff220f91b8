// Checks of numbers that callers give.
#pragma once

#include <clcook/core/error.hpp>
#include <clcook/core/math.hpp>
#include <string>
#include <type_traits>
#include <vector>

namespace clcook {

// Throws Error(invalid_argument) that names the value and the range. NaN lies in none, and the ranges
// are of finite numbers.
template <class T>
void check_range(const char* where, const char* name, T value, std::common_type_t<T> least,
                 std::common_type_t<T> most) {
  bool is_number = true;
  if constexpr (std::is_floating_point_v<T>) is_number = math::isfinite(value);
  if (is_number && value >= least && value <= most) return;
  fail(Errc::invalid_argument, where,
       text(name, " must be ", least, " to ", most, ", got ", value));
}

// Throws Error(invalid_argument) that names the value and the list.
inline void check_one_of(const char* where, const std::string& name, int value,
                         const std::vector<int>& values) {
  std::string list;
  for (const int& one : values) {
    if (value == one) return;
    const bool last = &one == &values.back();
    list += (list.empty() ? "" : last ? " or " : ", ") + std::to_string(one);
  }
  fail(Errc::invalid_argument, where, text(name, " must be ", list, ", got ", value));
}

}  // namespace clcook
