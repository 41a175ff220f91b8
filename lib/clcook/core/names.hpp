// Names of enumerated values, for the parse functions of operations.
#pragma once

#include <clcook/core/error.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace clcook {

// ASCII letters in upper case, for the names of definitions.
inline std::string upper_case(std::string_view name) {
  std::string out(name);
  for (char& c : out) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return out;
}

// An enumerated value and its name; a table of them is the one place that names an enumeration. A
// table may have rows of another type, with more columns: the functions below need `value` and
// `name`.
template <class Enum>
struct Named {
  using Value = Enum;
  Enum value;
  const char* name;
};

// The row of a value, the first one for a value that is not in the table.
template <class Row, std::size_t count>
constexpr const Row& row_of(const Row (&all)[count], typename Row::Value value) {
  for (const Row& one : all) {
    if (one.value == value) return one;
  }
  return all[0];
}

// All names, in the order of the table.
template <class Row, std::size_t count>
std::vector<std::string> names_of(const Row (&all)[count]) {
  std::vector<std::string> out;
  for (const Row& one : all) out.emplace_back(one.name);
  return out;
}

// The name of a value. `what` says what it is, such as "pixel type". Throws Error(invalid_argument)
// for a value that is not in the table; `where` names the operation.
template <class Row, std::size_t count>
const char* name_of(const Row (&all)[count], typename Row::Value value, const char* where,
                    const char* what) {
  for (const Row& one : all) {
    if (one.value == value) return one.name;
  }
  fail(Errc::invalid_argument, where,
       text("there is no ", what, " of the value ", static_cast<int>(value)));
}

// The value of that name. Throws Error(invalid_argument) that lists the names.
template <class Row, std::size_t count>
typename Row::Value value_of(const Row (&all)[count], std::string_view name, const char* where,
                             const char* what) {
  std::string known;
  for (const Row& one : all) {
    if (one.name == name) return one.value;
    known += (known.empty() ? "" : ", ") + std::string(one.name);
  }
  fail(Errc::invalid_argument, where,
       text("there is no ", what, " '", name, "'; known are ", known));
}

}  // namespace clcook
