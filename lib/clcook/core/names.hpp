// Names of enumerated values, for the parse functions of operations.
#pragma once

#include <clcook/core/error.hpp>
#include <cstddef>
#include <string>
#include <string_view>

namespace clcook {

// ASCII letters in upper case, for the names of definitions.
inline std::string upper_case(std::string_view name) {
  std::string out(name);
  for (char& c : out) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return out;
}

// An enumerated value and its name; a table of them is the one place that names an enumeration.
template <class Enum>
struct Named {
  Enum value;
  const char* name;
};

// The name of a value. `what` says what it is, such as "pixel type". Throws Error(invalid_argument)
// for a value that is not in the table; `where` names the operation.
template <class Enum, std::size_t count>
const char* name_of(const Named<Enum> (&all)[count], Enum value, const char* where,
                    const char* what) {
  for (const Named<Enum>& one : all) {
    if (one.value == value) return one.name;
  }
  fail(Errc::invalid_argument, where,
       text("there is no ", what, " of the value ", static_cast<int>(value)));
}

// The value of that name. Throws Error(invalid_argument) that lists the names.
template <class Enum, std::size_t count>
Enum value_of(const Named<Enum> (&all)[count], std::string_view name, const char* where,
              const char* what) {
  std::string known;
  for (const Named<Enum>& one : all) {
    if (one.name == name) return one.value;
    known += (known.empty() ? "" : ", ") + std::string(one.name);
  }
  fail(Errc::invalid_argument, where,
       text("there is no ", what, " '", name, "'; known are ", known));
}

}  // namespace clcook
