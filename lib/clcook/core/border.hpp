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

inline constexpr Named<Border> kBorders[] = {{Border::clamp, "clamp"},
                                             {Border::mirror, "mirror"},
                                             {Border::wrap, "wrap"},
                                             {Border::constant, "constant"}};

// These throw Error(invalid_argument) for an unknown value; `where` names the operation.
inline const char* border_name(Border border, const char* where) {
  return name_of(kBorders, border, where, "border mode");
}
inline Border parse_border(std::string_view name, const char* where) {
  return value_of(kBorders, name, where, "border mode");
}

}  // namespace clcook
