// Drawing Bezier patches.
#pragma once

#include <clcook/io/quad_patches.hpp>
#include <pictures/picture.hpp>
#include <vector>

namespace clcook::example {

// A shaded picture of bicubic patches: `control` holds 16 points x y z w for each. Regular patches
// are blue, those with a vertex of another valence than 4 orange, with a thin line along their
// borders.
pictures::Picture draw_patches(const std::vector<float>& control, const io::PatchList& patches,
                               int width, int height);

}  // namespace clcook::example
