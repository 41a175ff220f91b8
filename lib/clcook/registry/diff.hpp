// Comparing a device's result with the reference.
#pragma once

#include <algorithm>
#include <clcook/core/error.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>

namespace clcook {

// Distance of two finite floats in units in the last place.
inline std::int64_t ulp_distance(float a, float b) {
  const auto ordered = [](float value) {
    std::int32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return bits < 0 ? std::int64_t{std::numeric_limits<std::int32_t>::min()} - bits
                    : std::int64_t{bits};
  };
  return std::abs(ordered(a) - ordered(b));
}

// The outcome of a comparison.
//
// compare() takes one element: equal within its bound, NaN only where NaN is expected, infinities
// only where they are expected. match() takes integers and bit patterns, which must be exact.
class Diff {
 public:
  // `index` is a number that says which element, or a function that returns a text, which is called
  // for the first mismatch alone.
  template <class Index>
  void compare(const Index& index, double expected, double got, double bound) {
    ++compared_;
    bound_ = std::max(bound_, bound);
    bool good = false;
    double error = 0;
    if (std::isnan(expected) || std::isnan(got)) {
      good = std::isnan(expected) && std::isnan(got);
      error = good ? 0 : std::numeric_limits<double>::infinity();
    } else if (std::isinf(expected) || std::isinf(got)) {
      good = expected == got;
      error = good ? 0 : std::numeric_limits<double>::infinity();
    } else {
      error = std::abs(expected - got);
      good = error <= bound;
    }
    max_error_ = std::max(max_error_, error);
    if (good) return;
    if (mismatches_++ == 0) {
      first_ = text("at ", said(index), ": expected ", expected, ", got ", got, ", error ", error,
                    " > bound ", bound);
      if (std::isfinite(expected) && std::isfinite(got)) {
        // Of values that have nothing to do with each other it says nothing.
        const std::int64_t ulp =
            ulp_distance(static_cast<float>(expected), static_cast<float>(got));
        if (ulp < 1000) first_ += text(", ", ulp, " ulp");
      }
    }
  }

  template <class Index, class T>
  void match(const Index& index, T expected, T got) {
    static_assert(std::is_integral_v<T>, "match() is for integers and bit patterns");
    ++compared_;
    if (expected == got) return;
    const double error = std::abs(static_cast<double>(expected) - static_cast<double>(got));
    max_error_ = std::max(max_error_, error);
    if (mismatches_++ == 0)
      first_ = text("at ", said(index), ": expected ", +expected, ", got ", +got);
  }

  // Something that no single element shows is wrong.
  void broken(const std::string& what) {
    ++mismatches_;
    if (first_.empty()) first_ = what;
  }

  // A byte outside the output was changed.
  void damaged(const std::string& where) {
    guards_ok_ = false;
    if (first_.empty()) first_ = where;
  }

  // What another one compared, behind the elements of this.
  void add(const Diff& other) {
    if (first_.empty()) first_ = other.first_;
    compared_ += other.compared_;
    mismatches_ += other.mismatches_;
    max_error_ = std::max(max_error_, other.max_error_);
    bound_ = std::max(bound_, other.bound_);
    guards_ok_ = guards_ok_ && other.guards_ok_;
  }

  bool ok() const { return mismatches_ == 0 && guards_ok_ && compared_ > 0; }
  std::uint64_t compared() const { return compared_; }
  std::uint64_t mismatches() const { return mismatches_; }
  double max_error() const { return max_error_; }
  double bound() const { return bound_; }
  bool guards_ok() const { return guards_ok_; }

  // The first thing that was wrong, empty when nothing was.
  std::string first() const {
    return compared_ == 0 && first_.empty() ? "nothing was compared" : first_;
  }

 private:
  template <class Index>
  static auto said(const Index& index) {
    if constexpr (std::is_invocable_v<Index>) {
      return index();
    } else {
      return text(index);
    }
  }

  std::uint64_t compared_ = 0;
  std::uint64_t mismatches_ = 0;
  double max_error_ = 0;
  double bound_ = 0;
  bool guards_ok_ = true;
  std::string first_;
};

}  // namespace clcook
