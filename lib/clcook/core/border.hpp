// What lies outside of a picture.
#pragma once

#include <clcook/core/error.hpp>
#include <clcook/core/names.hpp>
#include <string_view>

namespace clcook {

// The numbers of clcook/halo.clh.
enum class Border {
  clamp,     // the nearest pixel inside             aaa|abcd|ddd
  mirror,    // mirrored, the border pixel twice     cba|abcd|dcb
  wrap,      // periodic                             bcd|abcd|abc
  constant,  // a value that the problem holds
};

// Throws Error(invalid_argument) for a value that is none; `where` names the operation.
inline const char* border_name(Border border, const char* where) {
  switch (border) {
    case Border::clamp:
      return "clamp";
    case Border::mirror:
      return "mirror";
    case Border::wrap:
      return "wrap";
    case Border::constant:
      return "constant";
  }
  fail(Errc::invalid_argument, where,
       text("there is no border mode of the value ", static_cast<int>(border)));
}

inline Border parse_border(std::string_view name, const char* where) {
  constexpr Border kAll[] = {Border::clamp, Border::mirror, Border::wrap, Border::constant};
  return parse_name<Border>(where, "border mode", name, kAll,
                            [&](Border border) { return border_name(border, where); });
}

}  // namespace clcook
