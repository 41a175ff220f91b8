// Pictures for the examples: PNG and JPEG in and out, and a test scene for machines without a
// picture at hand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace clcook::example {

// 8-bit RGBA pixels in rows from top to bottom, without gaps.
struct Picture {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgba;

  std::size_t pixels() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  }
};

// Reads a PNG or JPEG file, told apart by its first bytes. Throws clcook::Error(io) that names the
// file and the problem.
Picture read_picture(const std::string& path);

// The picture as a PNG file. Throws clcook::Error(io) that begins with `where`.
std::string png_bytes(const std::string& where, const Picture& picture);

// Throws clcook::Error(invalid_argument) where write_picture() does not know the ending, so that a
// program can say so before it does its work. `more` are other endings that the program knows.
void check_picture_path(const std::string& path, const char* more = "");

// Writes a PNG or JPEG file whole or not at all, as the name ends: .png, or .jpg and .jpeg with
// quality 92, full chroma and without alpha. Throws clcook::Error: invalid_argument for another
// ending, io.
void write_picture(const std::string& path, const Picture& picture);

// Renders the test scene: a sky gradient, discs with hard edges, a star of thin rays, stripes of
// one to eight pixels, a checkerboard and reproducible noise. The same pixels on every machine for
// one size.
Picture render_scene(int width, int height);

// Reads `source`: a file, or "scene" or "scene:WIDTHxHEIGHT" for the test scene (1920 x 1080 by
// default).
Picture open_picture(const std::string& source);

}  // namespace clcook::example
