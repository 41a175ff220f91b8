// Gradients of pictures, and colours for their directions.
#pragma once

#include <array>
#include <cstdint>
#include <pictures/picture.hpp>
#include <vector>

namespace clcook::example {

struct Gradient {
  float x = 0;
  float y = 0;
};

// Sobel's gradients of the luma, in grey levels per pixel; border pixels repeat.
std::vector<Gradient> gradients_of(const pictures::Picture& picture);

// The colour wheel at `turn` of 0 to 1.
std::array<std::uint8_t, 3> wheel_colour(double turn);

}  // namespace clcook::example
