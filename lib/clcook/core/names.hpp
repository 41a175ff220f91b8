// Names of enumerated values, for the parse functions of operations.
#pragma once

#include <clcook/core/error.hpp>
#include <initializer_list>
#include <string>
#include <string_view>

namespace clcook {

// The value of that name: of `first`, then of `values`. `name_of` names one; `what` says what they
// are, such as "variant". Throws Error(invalid_argument) that lists the names.
template <class Enum, class Values, class NameOf>
Enum parse_name(const char* where, const char* what, std::string_view name, const Values& values,
                const NameOf& name_of, std::initializer_list<Enum> first = {}) {
  std::string known;
  const auto is = [&](Enum value) {
    known += (known.empty() ? "" : ", ") + std::string(name_of(value));
    return name == name_of(value);
  };
  for (const Enum value : first) {
    if (is(value)) return value;
  }
  for (const Enum value : values) {
    if (is(value)) return value;
  }
  fail(Errc::invalid_argument, where,
       text("there is no ", what, " '", name, "'; known are ", known));
}

}  // namespace clcook
