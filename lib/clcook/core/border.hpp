// What lies outside of a picture.
#pragma once

#include <clcook/core/error.hpp>
#include <clcook/core/names.hpp>
#include <iterator>
#include <string_view>

namespace clcook {

// The numbers of clcook/halo.clh.
enum class Border {
  clamp,        // the nearest pixel inside             aaa|abcd|ddd
  mirror,       // mirrored, the border pixel twice     cba|abcd|dcb
  wrap,         // periodic                             bcd|abcd|abc
  constant,     // a value that the problem holds
  reflect_101,  // mirrored, the border pixel once      dcb|abcd|cba
};

// What follows from a mode. The other places that know one are halo.clh and, for tests,
// reference/border.hpp.
struct BorderRow {
  using Value = Border;
  Border value;
  const char* name;
  int pictures;  // of which a period consists, every other one reversed; 0: there is no period
  int shared;    // pixels that each of them has in common with the next
};

inline constexpr BorderRow kBorders[] = {{Border::clamp, "clamp", 0, 0},
                                         {Border::mirror, "mirror", 2, 0},
                                         {Border::reflect_101, "reflect_101", 2, 1},
                                         {Border::wrap, "wrap", 1, 0},
                                         {Border::constant, "constant", 0, 0}};

// clcook_border() in halo.clh tells the modes apart by their numbers, with a shift among them: to compare
// costs instructions. It mirrors any other number.
static_assert(std::size(kBorders) == 5, "teach clcook_border() in halo.clh the new mode first");

// These throw Error(invalid_argument) for an unknown value; `where` names the operation.
inline const char* border_name(Border border, const char* where) {
  return name_of(kBorders, border, where, "border mode");
}
inline Border parse_border(std::string_view name, const char* where) {
  return value_of(kBorders, name, where, "border mode");
}

// Whether what lies outside is a value of the problem, no pixel of the picture.
constexpr bool is_constant(Border border) { return border == Border::constant; }
// Whether the picture goes on outside; otherwise all is the same along a line that leaves it.
constexpr bool repeats_picture(Border border) { return row_of(kBorders, border).pictures > 0; }
// Whether all beyond an edge is the pixel at that edge.
constexpr bool repeats_edge(Border border) {
  return !repeats_picture(border) && !is_constant(border);
}
// Whether pixels just outside of one edge are those at the opposite one.
constexpr bool repeats_far_side(Border border) { return row_of(kBorders, border).pictures == 1; }
// Whether a picture of whole blocks of any size goes on in whole blocks, some of them reversed.
constexpr bool repeats_blocks(Border border) {
  return repeats_picture(border) && row_of(kBorders, border).shared == 0;
}

}  // namespace clcook
