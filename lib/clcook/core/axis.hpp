// The axes of an operation's tune.
#pragma once

#include <clcook/core/error.hpp>
#include <clcook/core/inline.hpp>
#include <clcook/core/params.hpp>
#include <clcook/core/range.hpp>
#include <clcook/core/variant.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace clcook {

// A tune's whole number. Throws Error(invalid_argument) that names it for another value.
CLCOOK_INLINE int tune_number(const char* name, const Value& value);

// A member of an operation's Tune: its name, what it is worth trying, and what it may be. A number
// of 0 is open: the plan closes it.
//
//   axis("texels", &Tune::texels, {8, 2, 4}).only({2, 4, 8, 16}).on_cpus(64).defined()
template <class Tune>
struct Axis : TuneAxis {
  using Get = Value (*)(const Tune&);
  using Set = void (*)(Tune&, const Value&);
  using IsOpen = bool (*)(const Tune&);

  int Tune::*number = nullptr;
  Get get_other = nullptr;  // where it is no number
  Set set_other = nullptr;
  IsOpen is_open_other = nullptr;  // in part, too
  std::vector<int> taken;          // the numbers that it may be; empty: all
  std::optional<int> for_cpus;     // all that variants for CPUs take
  bool is_defined = false;         // kernels get it, as CLCOOK_<RECIPE>_<NAME>

  Axis& only(std::vector<int> numbers) { return taken = std::move(numbers), *this; }
  Axis& on_cpus(int value) { return for_cpus = value, *this; }
  Axis& defined() { return is_defined = true, *this; }

  Value get(const Tune& tune) const {
    return number != nullptr ? Value(std::int64_t{tune.*number}) : get_other(tune);
  }
  // Throws Error(invalid_argument) for a value of another kind.
  void set(Tune& tune, const Value& value) const {
    number != nullptr ? void(tune.*number = tune_number(name.c_str(), value))
                      : set_other(tune, value);
  }
  bool is_open(const Tune& tune) const {
    return number != nullptr ? tune.*number == 0 : is_open_other(tune);
  }
  // Whether nothing of it is set.
  bool is_unset(const Tune& tune) const { return get(tune) == get(Tune{}); }
  // What a variant has by default: the first of its own values, or of all; open where there are none.
  void close(Tune& tune, const VariantInfo& variant) const {
    if (!is_open(tune)) return;
    if (variant.is_for_cpus && for_cpus) return set(tune, std::int64_t{*for_cpus});
    const TuneAxis* own = this;
    for (const TuneAxis& one : variant.axes)
      if (one.name == name) own = &one;
    if (!own->values.empty()) set(tune, own->values.front());
  }
  // Throws Error(invalid_argument) for a number that a variant does not take.
  void check(const char* where, const Tune& tune, const VariantInfo& variant) const {
    if (number == nullptr) return;
    const int value = tune.*number;
    if (variant.is_for_cpus && for_cpus)
      return check_one_of(where, text(name, " of ", variant.name), value, {*for_cpus});
    if (!taken.empty()) check_one_of(where, name, value, taken);
  }
  // The same for a negative one.
  void check_sign(const char* where, const Tune& tune) const {
    if (number != nullptr && tune.*number < 0)
      fail(Errc::invalid_argument, where, text(name, " must not be negative, got ", tune.*number));
  }
};
template <class Tune>
Axis<Tune> axis(const char* name, int Tune::*member, std::vector<Value> values = {}) {
  Axis<Tune> out;
  out.name = name;
  out.values = std::move(values);
  out.number = member;
  return out;
}
template <class Tune>
Axis<Tune> axis(const char* name, typename Axis<Tune>::Get get, typename Axis<Tune>::Set set,
                typename Axis<Tune>::IsOpen is_open) {
  Axis<Tune> out;
  out.name = name;
  out.get_other = get;
  out.set_other = set;
  out.is_open_other = is_open;
  return out;
}

}  // namespace clcook

#if CLCOOK_DEFINITIONS
#include <clcook/core/impl/axis.hpp>
#endif
