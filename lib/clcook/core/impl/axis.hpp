// The definitions of clcook/core/axis.hpp.
#pragma once

#include <clcook/core/axis.hpp>
#include <cstdint>
#include <variant>

namespace clcook {

CLCOOK_INLINE int tune_number(const char* name, const Value& value) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  if (integer == nullptr || *integer != static_cast<int>(*integer)) {
    fail(Errc::invalid_argument, "tune",
         text(name, " must be a whole number of at least 0, got '", to_string(value), "'"));
  }
  return static_cast<int>(*integer);
}

}  // namespace clcook
