// Named values: the shape of a problem, or the tuning of a variant.
#pragma once

#include <algorithm>
#include <charconv>
#include <clcook/core/inline.hpp>
#include <clcook/core/math.hpp>
#include <clcook/error.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace clcook {

// An integer, a real number or a word.
using Value = std::variant<std::int64_t, double, std::string>;

CLCOOK_INLINE std::string to_string(const Value& value);

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
  Params(std::initializer_list<std::pair<const char*, Value>> entries);

  // Reads "width=3 height=5 sigma=0.5 pixel=rgba8". Throws Error(invalid_argument).
  static Params parse(std::string_view in);
  static Value parse_value(std::string_view in);

  Params& set(const std::string& name, Value value);

  const Value* find(const std::string& name) const;

  // The value of that name. Throws Error(invalid_argument) when it is missing or of another kind.
  const Value& at(const std::string& name) const;
  std::int64_t integer(const std::string& name) const;
  double real(const std::string& name) const;
  const std::string& word(const std::string& name) const;
  // The same with a default for a name that is not there.
  std::int64_t integer(const std::string& name, std::int64_t missing) const;
  double real(const std::string& name, double missing) const;
  std::string word(const std::string& name, const std::string& missing) const;
  // An integer as a type that holds it: integers of a Recipe's shapes are within their ranges.
  template <class T>
  T as(const std::string& name) const {
    return static_cast<T>(integer(name));
  }

  const std::vector<Entry>& entries() const { return entries_; }
  bool empty() const { return entries_.empty(); }

  // "width=3 height=5"
  std::string str() const;

  friend bool operator==(const Params& a, const Params& b) { return a.entries_ == b.entries_; }
  friend bool operator!=(const Params& a, const Params& b) { return !(a == b); }

 private:
  [[noreturn]] void wrong_kind(const std::string& name, const char* kind) const;

  std::vector<Entry> entries_;
};

// Params::parse() of each text.
CLCOOK_INLINE std::vector<Params> parse_all(std::initializer_list<std::string_view> texts);

// What a name of a shape may be: a number of a range, one of some words, or either.
struct Parameter {
  std::string name;
  std::string meaning;  // with its unit
  std::string
      missing;  // the value that holds where it is not given, or what does; empty: it must be
  std::vector<std::string> words;  // the words that it may be
  double least = 1;                // of a number; least > most: it is no number
  double most = 0;
  bool whole = true;  // of a number: an integer

  static Parameter integer(const char* name, const char* meaning, double least, double most,
                           const char* missing = "");
  static Parameter real(const char* name, const char* meaning, double least, double most,
                        const char* missing = "");
  static Parameter word(const char* name, const char* meaning, std::vector<std::string> words,
                        const char* missing = "");

  // "clamp, mirror or wrap", "1 to 64", "a number from 0 to 500"
  std::string range() const;

  bool takes(const Value& value) const;
  // The value that `missing` says, if it does.
  std::optional<Value> default_value() const;

 private:
  static std::string number(double value);
};

// The shape with defaults for what it leaves open. It must have every parameter without a default,
// no unknown name, and only values within their ranges. Otherwise throws Error(invalid_argument)
// that lists the names, or names the value and its range.
CLCOOK_INLINE Params check_parameters(const std::string& where,
                                      const std::vector<Parameter>& parameters,
                                      const Params& shape);

// One thing that can be tuned, with the values worth trying, the default first.
struct TuneAxis {
  std::string name;
  std::vector<Value> values;
};

// Every combination of the axes' values, the defaults first. No axes give one empty combination.
CLCOOK_INLINE std::vector<Params> combinations(const std::vector<TuneAxis>& axes);

}  // namespace clcook

#if CLCOOK_DEFINITIONS
#include <clcook/core/impl/params.hpp>
#endif
