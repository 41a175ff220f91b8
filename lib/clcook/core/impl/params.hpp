// The definitions of clcook/core/params.hpp.
#pragma once

#include <algorithm>
#include <charconv>
#include <clcook/core/math.hpp>
#include <clcook/core/params.hpp>

namespace clcook {

CLCOOK_INLINE std::string to_string(const Value& value) {
  if (const auto* word = std::get_if<std::string>(&value)) return *word;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  char digits[32];
  const auto result = std::to_chars(digits, digits + sizeof digits,
                                    std::get<double>(value));  // the shortest that reads back
  return std::string(digits, result.ptr);
}

CLCOOK_INLINE Params::Params(std::initializer_list<std::pair<const char*, Value>> entries) {
  for (const auto& [name, value] : entries) set(name, value);
}

CLCOOK_INLINE Params Params::parse(std::string_view in) {
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

CLCOOK_INLINE Params& Params::set(const std::string& name, Value value) {
  for (Entry& entry : entries_) {
    if (entry.name == name) {
      entry.value = std::move(value);
      return *this;
    }
  }
  entries_.push_back({name, std::move(value)});
  return *this;
}

CLCOOK_INLINE const Value* Params::find(const std::string& name) const {
  for (const Entry& entry : entries_) {
    if (entry.name == name) return &entry.value;
  }
  return nullptr;
}

CLCOOK_INLINE std::int64_t Params::integer(const std::string& name) const {
  if (const auto* value = std::get_if<std::int64_t>(&at(name))) return *value;
  wrong_kind(name, "an integer");
}

CLCOOK_INLINE double Params::real(const std::string& name) const {
  const Value& value = at(name);
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  wrong_kind(name, "a number");
}

CLCOOK_INLINE const std::string& Params::word(const std::string& name) const {
  if (const auto* value = std::get_if<std::string>(&at(name))) return *value;
  wrong_kind(name, "a word");
}

CLCOOK_INLINE std::int64_t Params::integer(const std::string& name, std::int64_t missing) const {
  return find(name) ? integer(name) : missing;
}

CLCOOK_INLINE double Params::real(const std::string& name, double missing) const {
  return find(name) ? real(name) : missing;
}

CLCOOK_INLINE std::string Params::word(const std::string& name, const std::string& missing) const {
  return find(name) ? word(name) : missing;
}

CLCOOK_INLINE std::string Params::str() const {
  std::string out;
  for (const Entry& entry : entries_) {
    out += (out.empty() ? "" : " ") + entry.name + "=" + to_string(entry.value);
  }
  return out;
}

CLCOOK_INLINE Value Params::parse_value(std::string_view in) {
  const char* end = in.data() + in.size();
  std::int64_t integer = 0;
  auto result = std::from_chars(in.data(), end, integer);
  // -0 is no integer: as one it would lose its sign, and be another text when it is written again.
  const bool minus_zero = integer == 0 && in[0] == '-';
  if (result.ec == std::errc() && result.ptr == end && !minus_zero) return integer;
  double number = 0;
  result = std::from_chars(in.data(), end, number);
  if (result.ec == std::errc() && result.ptr == end) return number;
  return std::string(in);
}

CLCOOK_INLINE const Value& Params::at(const std::string& name) const {
  if (const Value* value = find(name)) return *value;
  fail(Errc::invalid_argument, "parameters", "'" + name + "' is missing in '" + str() + "'");
}

CLCOOK_INLINE void Params::wrong_kind(const std::string& name, const char* kind) const {
  fail(Errc::invalid_argument, "parameters",
       "'" + name + "' must be " + kind + ", got '" + to_string(at(name)) + "'");
}

CLCOOK_INLINE std::vector<Params> parse_all(std::initializer_list<std::string_view> texts) {
  std::vector<Params> out;
  for (const std::string_view one : texts) out.push_back(Params::parse(one));
  return out;
}

CLCOOK_INLINE Parameter Parameter::integer(const char* name, const char* meaning, double least,
                                           double most, const char* missing) {
  return {name, meaning, missing, {}, least, most, true};
}

CLCOOK_INLINE Parameter Parameter::real(const char* name, const char* meaning, double least,
                                        double most, const char* missing) {
  return {name, meaning, missing, {}, least, most, false};
}

CLCOOK_INLINE Parameter Parameter::word(const char* name, const char* meaning,
                                        std::vector<std::string> words, const char* missing) {
  return {name, meaning, missing, std::move(words)};
}

CLCOOK_INLINE std::string Parameter::range() const {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool last = i + 1 == words.size() && least > most;
    out += (i == 0 ? "" : last ? " or " : ", ") + words[i];
  }
  if (least > most) return out;
  return out + (out.empty() ? "" : " or ") + (whole ? "" : "a number from ") + number(least) +
         " to " + number(most);
}

CLCOOK_INLINE bool Parameter::takes(const Value& value) const {
  if (const auto* word = std::get_if<std::string>(&value))
    return std::find(words.begin(), words.end(), *word) != words.end();
  const auto* integer = std::get_if<std::int64_t>(&value);
  if (integer == nullptr && whole) return false;
  const double number = integer ? static_cast<double>(*integer) : std::get<double>(value);
  return number >= least && number <= most;
}

CLCOOK_INLINE std::optional<Value> Parameter::default_value() const {
  if (missing.empty()) return std::nullopt;
  Value value = Params::parse_value(missing);
  return takes(value) ? std::optional<Value>(std::move(value)) : std::nullopt;
}

CLCOOK_INLINE std::string Parameter::number(double value) {
  const bool integer = std::abs(value) < 0x1p53 && math::floor(value) == value;
  if (integer) return std::to_string(static_cast<std::int64_t>(value));
  return to_string(Value(value));
}

CLCOOK_INLINE Params check_parameters(const std::string& where,
                                      const std::vector<Parameter>& parameters,
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
  Params out = shape;
  for (const Parameter& one : parameters) {
    if (shape.find(one.name) != nullptr) continue;
    if (one.missing.empty()) {
      fail(Errc::invalid_argument, where,
           "'" + one.name + "' (" + one.meaning + ", " + one.range() + ") is missing in '" +
               shape.str() + "'");
    }
    if (const std::optional<Value> value = one.default_value()) out.set(one.name, *value);
  }
  return out;
}

CLCOOK_INLINE std::vector<Params> combinations(const std::vector<TuneAxis>& axes) {
  std::vector<Params> out{Params{}};
  for (const TuneAxis& axis : axes) {
    std::vector<Params> next;
    for (const Params& partial : out) {
      for (const Value& value : axis.values) {
        Params one = partial;
        one.set(axis.name, value);
        next.push_back(std::move(one));
      }
    }
    out = std::move(next);
  }
  return out;
}

}  // namespace clcook
