// Pictures as kernels take them: 4 channels, bytes as they are or floats from 0 to 1.
#pragma once

#include <clcook/core/pixel.hpp>
#include <pictures/picture.hpp>
#include <vector>

namespace clcook::example {

std::vector<unsigned char> stored(const pictures::Picture& picture, bool as_floats);

// What the alpha of a picture from a file is: straight, as a PNG has it. Of an opaque picture none, with
// the same result and by more methods.
Alpha alpha_of(const pictures::Picture& picture);

// The values of stored pixels: 0 to 255, or 0 to 1. Of straight alpha colours times alpha, which is
// what can be compared.
std::vector<float> values_of(const std::vector<unsigned char>& pixels, bool as_floats,
                             Alpha alpha = Alpha::none);

// Rounds floats to the nearest byte and cuts them at 0 and 255.
pictures::Picture picture_of(const std::vector<unsigned char>& pixels, bool as_floats, int width,
                             int height);

}  // namespace clcook::example
