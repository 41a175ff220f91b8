// BC6H textures of DDS files, and one for machines without a texture at hand.
#pragma once

#include <clcook/io/dds.hpp>
#include <cstddef>
#include <cstdint>
#include <pictures/picture.hpp>
#include <string>

namespace clcook::example {

// One level of a texture.
struct Texture {
  io::Dds dds;  // the whole file
  io::DdsLevel level;
  std::string blocks;  // level.bytes, row by row

  bool is_signed() const { return dds.format == io::DdsFormat::bc6h_sf16; }
};

// Reads a level of a DDS file and no more of it; or of "scene" or "scene:WIDTHxHEIGHT", a sunset of
// 768 x 432 texels by default, which is made, `is_signed` or not. Throws clcook::Error: io for a
// file that cannot be read or is none, invalid_argument for a size out of range.
Texture open_texture(const std::string& source, std::uint64_t slice, std::size_t mip,
                     bool is_signed);

// RGBA floats as a picture of 8 bits, 2^exposure times as bright: cut at 1, with the sRGB curve.
pictures::Picture tone_map(const float* texels, int width, int height, double exposure);

}  // namespace clcook::example
