// Two pictures of the same thing, and where they differ.
#pragma once

#include <pictures/picture.hpp>

namespace clcook::example {

// From left to right `a`, `b`, and grey plus twice b - a: of the part of 96 x 64 pixels where the
// two differ most, each pixel enlarged to 3 x 3. Both are of one size; of smaller ones all is shown.
pictures::Picture difference_sheet(const pictures::Picture& a, const pictures::Picture& b);

}  // namespace clcook::example
