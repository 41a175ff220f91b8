// Border modes, for the references of neighbourhood filters.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>

namespace clcook::reference {

// What lies outside of a picture.
enum class Border {
  clamp,        // aaa|abcd|ddd
  mirror,       // cba|abcd|dcb
  reflect_101,  // dcb|abcd|cba
  wrap,         // bcd|abcd|abc
  constant,     // a value of its own
};

struct BorderName {
  Border value;
  const char* name;
};

// The library and the references share the names of the modes, and nothing else.
inline constexpr BorderName kBorders[] = {{Border::clamp, "clamp"},
                                          {Border::mirror, "mirror"},
                                          {Border::reflect_101, "reflect_101"},
                                          {Border::wrap, "wrap"},
                                          {Border::constant, "constant"}};

// The mode that clcook::border_name() calls so. Throws std::invalid_argument for another name.
inline Border border_named(std::string_view name) {
  for (const BorderName& one : kBorders) {
    if (one.name == name) return one.value;
  }
  throw std::invalid_argument("the references know no border '" + std::string(name) + "'");
}

// The index inside of 0 .. count - 1 that stands for index i, -1 for the constant.
template <class Int>
Int border_index(Int i, Int count, Border border) {
  if (i >= 0 && i < count) return i;
  switch (border) {
    case Border::clamp:
      return std::clamp(i, Int{0}, count - 1);
    case Border::wrap:
      return (i % count + count) % count;
    case Border::mirror: {
      const Int at = (i % (2 * count) + 2 * count) % (2 * count);
      return at < count ? at : 2 * count - 1 - at;
    }
    case Border::reflect_101: {
      if (count == 1) return 0;
      const Int period = 2 * (count - 1);
      const Int at = (i % period + period) % period;
      return at < count ? at : period - at;
    }
    case Border::constant:
      break;
  }
  return -1;
}

}  // namespace clcook::reference
