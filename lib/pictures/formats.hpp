// What the readers of PNG and JPEG share. For lib/pictures alone.
#pragma once

#include <cstdint>
#include <pictures/picture.hpp>
#include <string>
#include <string_view>

namespace clcook::pictures {

// Throws Error(io) for a file that promises more pixels than its `bytes` can hold, which are `most`,
// so that no memory is taken for them.
void check_promise(const std::string& where, std::size_t bytes, std::uint64_t most,
                   std::uint64_t width, std::uint64_t height);

// The orientation, 1 to 8, that the first directory of Exif data has (what follows "Exif\0\0" in a
// JPEG, the chunk eXIf of a PNG); 1 where it has none, or where the data are broken.
int exif_orientation(std::string_view exif);

// The picture upright: its rows as a viewer shows them that obeys the orientation.
Picture upright(Picture picture, int orientation);

// Both throw Error(io) that begins with `where`.
Picture read_png(const std::string& where, const std::string& bytes);
Picture read_jpeg(const std::string& where, const std::string& bytes);

}  // namespace clcook::pictures
