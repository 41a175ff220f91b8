// Border modes of the library as the references know them.
#pragma once

#include <clcook/core/border.hpp>
#include <clcook/reference/border.hpp>

namespace clcook::testing {

inline reference::Border reference_border(Border border) {
  return reference::border_named(border_name(border, "test"));
}

}  // namespace clcook::testing
