// Named values: the shape of a problem, or the tuning of a variant.
#pragma once

#include <algorithm>
#include <charconv>
#include <clcook/error.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace clcook {

// An integer, a real number or a word.
using Value = std::variant<std::int64_t, double, std::string>;

inline std::string to_string(const Value& value) {
  if (const auto* word = std::get_if<std::string>(&value)) return *word;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  char digits[32];
  const auto result = std::to_chars(digits, digits + sizeof digits,
                                    std::get<double>(value));  // the shortest that reads back
  return std::string(digits, result.ptr);
}

// Values with names, in the order in which they were given.
class Params {
 public:
  struct Entry {
    std::string name;
    Value value;
    friend bool operator==(const Entry& a, const Entry& b) {
      return a.name == b.name && a.value == b.value;
    }
  };

  Params() = default;
  Params(std::initializer_list<std::pair<const char*, Value>> entries) {
    for (const auto& [name, value] : entries) set(name, value);
  }

  // Reads "width=3 height=5 sigma=0.5 pixel=rgba8". Throws Error(invalid_argument).
  static Params parse(std::string_view in) {
    Params out;
    for (std::size_t begin = in.find_first_not_of(' '); begin != std::string_view::npos;
         begin = in.find_first_not_of(' ', begin)) {
      const std::size_t end = std::min(in.find(' ', begin), in.size());
      const std::string_view one = in.substr(begin, end - begin);
      const std::size_t equals = one.find('=');
      if (equals == 0 || equals == std::string_view::npos || equals + 1 == one.size()) {
        fail(Errc::invalid_argument, "parameters",
             "expected name=value, got '" + std::string(one) + "'");
      }
      out.set(std::string(one.substr(0, equals)), parse_value(one.substr(equals + 1)));
      begin = end;
    }
    return out;
  }

  Params& set(const std::string& name, Value value) {
    for (Entry& entry : entries_) {
      if (entry.name == name) {
        entry.value = std::move(value);
        return *this;
      }
    }
    entries_.push_back({name, std::move(value)});
    return *this;
  }

  const Value* find(const std::string& name) const {
    for (const Entry& entry : entries_) {
      if (entry.name == name) return &entry.value;
    }
    return nullptr;
  }

  // The value of that name. Throws Error(invalid_argument) when it is missing or of another kind.
  std::int64_t integer(const std::string& name) const {
    if (const auto* value = std::get_if<std::int64_t>(&at(name))) return *value;
    wrong_kind(name, "an integer");
  }
  double real(const std::string& name) const {
    const Value& value = at(name);
    if (const auto* number = std::get_if<double>(&value)) return *number;
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
    wrong_kind(name, "a number");
  }
  const std::string& word(const std::string& name) const {
    if (const auto* value = std::get_if<std::string>(&at(name))) return *value;
    wrong_kind(name, "a word");
  }
  // The same with a default for a name that is not there.
  std::int64_t integer(const std::string& name, std::int64_t missing) const {
    return find(name) ? integer(name) : missing;
  }
  double real(const std::string& name, double missing) const {
    return find(name) ? real(name) : missing;
  }
  std::string word(const std::string& name, const std::string& missing) const {
    return find(name) ? word(name) : missing;
  }

  const std::vector<Entry>& entries() const { return entries_; }
  bool empty() const { return entries_.empty(); }

  // "width=3 height=5"
  std::string str() const {
    std::string out;
    for (const Entry& entry : entries_) {
      out += (out.empty() ? "" : " ") + entry.name + "=" + to_string(entry.value);
    }
    return out;
  }

  friend bool operator==(const Params& a, const Params& b) { return a.entries_ == b.entries_; }
  friend bool operator!=(const Params& a, const Params& b) { return !(a == b); }

 private:
  static Value parse_value(std::string_view in) {
    const char* end = in.data() + in.size();
    std::int64_t integer = 0;
    auto result = std::from_chars(in.data(), end, integer);
    if (result.ec == std::errc() && result.ptr == end) return integer;
    double number = 0;
    result = std::from_chars(in.data(), end, number);
    if (result.ec == std::errc() && result.ptr == end) return number;
    return std::string(in);
  }

  const Value& at(const std::string& name) const {
    if (const Value* value = find(name)) return *value;
    fail(Errc::invalid_argument, "parameters", "'" + name + "' is missing in '" + str() + "'");
  }

  [[noreturn]] void wrong_kind(const std::string& name, const char* kind) const {
    fail(Errc::invalid_argument, "parameters",
         "'" + name + "' must be " + kind + ", got '" + to_string(at(name)) + "'");
  }

  std::vector<Entry> entries_;
};

// What a name of a shape may be: a number of a range, one of some words, or either.
struct Parameter {
  std::string name;
  std::string meaning;             // with its unit
  std::string missing;             // what holds where it is not given; empty: it must be given
  std::vector<std::string> words;  // the words that it may be
  double least = 1;                // of a number; least > most: it is no number
  double most = 0;
  bool whole = true;  // of a number: an integer

  static Parameter integer(const char* name, const char* meaning, double least, double most,
                           const char* missing = "") {
    return {name, meaning, missing, {}, least, most, true};
  }
  static Parameter real(const char* name, const char* meaning, double least, double most,
                        const char* missing = "") {
    return {name, meaning, missing, {}, least, most, false};
  }
  static Parameter word(const char* name, const char* meaning, std::vector<std::string> words,
                        const char* missing = "") {
    return {name, meaning, missing, std::move(words)};
  }

  // "clamp, mirror or wrap", "1 to 64", "a number from 0 to 500"
  std::string range() const {
    std::string out;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const bool last = i + 1 == words.size() && least > most;
      out += (i == 0 ? "" : last ? " or " : ", ") + words[i];
    }
    if (least > most) return out;
    return out + (out.empty() ? "" : " or ") + (whole ? "" : "a number from ") + number(least) +
           " to " + number(most);
  }

  bool takes(const Value& value) const {
    if (const auto* word = std::get_if<std::string>(&value))
      return std::find(words.begin(), words.end(), *word) != words.end();
    const auto* integer = std::get_if<std::int64_t>(&value);
    if (integer == nullptr && whole) return false;
    const double number = integer ? static_cast<double>(*integer) : std::get<double>(value);
    return number >= least && number <= most;
  }

 private:
  static std::string number(double value) {
    const bool integer = std::abs(value) < 0x1p53 && std::floor(value) == value;
    return to_string(integer ? Value(static_cast<std::int64_t>(value)) : Value(value));
  }
};

// The shape has every parameter that must be given, no other name, and values within their ranges.
// Throws Error(invalid_argument) that lists the names, or names the value and its range.
inline void check_parameters(const std::string& where, const std::vector<Parameter>& parameters,
                             const Params& shape) {
  for (const Params::Entry& entry : shape.entries()) {
    const auto found = std::find_if(parameters.begin(), parameters.end(),
                                    [&](const Parameter& one) { return one.name == entry.name; });
    if (found == parameters.end()) {
      std::string known;
      for (const Parameter& one : parameters)
        known += (known.empty() ? "" : "; ") + one.name + " (" + one.range() + ")";
      fail(Errc::invalid_argument, where, "a shape has no '" + entry.name + "'; it has " + known);
    }
    if (!found->takes(entry.value)) {
      fail(Errc::invalid_argument, where,
           entry.name + " must be " + found->range() + ", got '" + to_string(entry.value) + "'");
    }
  }
  for (const Parameter& one : parameters) {
    if (one.missing.empty() && shape.find(one.name) == nullptr) {
      fail(Errc::invalid_argument, where,
           "'" + one.name + "' (" + one.meaning + ", " + one.range() + ") is missing in '" +
               shape.str() + "'");
    }
  }
}

}  // namespace clcook
