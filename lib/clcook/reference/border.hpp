// Border modes, for the references of neighbourhood filters.
#pragma once

#include <algorithm>

namespace clcook::reference {

// What lies outside of a picture.
enum class Border {
  clamp,     // aaa|abcd|ddd
  mirror,    // cba|abcd|dcb
  wrap,      // bcd|abcd|abc
  constant,  // a value of its own
};

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
    case Border::constant:
      break;
  }
  return -1;
}

}  // namespace clcook::reference
