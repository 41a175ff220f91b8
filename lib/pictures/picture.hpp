// Pictures as files, PNG and JPEG, for our own programs: not in the installed library, which
// needs no library for pictures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace clcook::pictures {

// 8-bit RGBA pixels in rows from top to bottom, without gaps.
struct Picture {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgba;
  // What is wrong with the file that was read, though its pixels are there: a line each.
  std::vector<std::string> warnings = {};

  std::size_t pixels() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  }
};

// The most pixels of a picture here: 2 GiB of RGBA.
constexpr std::uint64_t kMaxPixels = std::uint64_t{1} << 29;

// Throws Error(io) that begins with `where` for a picture without pixels or of more than
// kMaxPixels.
void check_size(const std::string& where, std::uint64_t width, std::uint64_t height);

// Reads a PNG or JPEG file, told apart by its first bytes. Throws clcook::Error(io) that names the
// file and the problem.
//
// The numbers of the file are the pixels: no colour profile and no gamma changes them. 16 bits are
// rounded to 8, the nearest of v * 255 / 65535; 1, 2 and 4 bits of grey become 0 to 255 in equal
// steps. CMYK and YCCK, of which 255 is no ink, become RGB: c * k / 255, rounded. The pixels are
// turned as the Exif orientation of the file says. A file that is cut off is refused; other damage
// that leaves all pixels decodable is a warning in `warnings`.
Picture read_picture(const std::string& path);

// The same from the bytes of a file; `where` begins messages.
Picture parse_picture(const std::string& where, const std::string& bytes);

// The picture as a PNG file. Throws clcook::Error(io) that begins with `where`.
std::string png_bytes(const std::string& where, const Picture& picture);

// Throws clcook::Error(invalid_argument) where write_picture() does not know the ending, so that a
// program can say so before it does its work. `more` are other endings that the program knows.
void check_picture_path(const std::string& path, const char* more = "");

// Writes a PNG or JPEG file whole or not at all, as the name ends: .png, or .jpg and .jpeg with
// quality 92, full chroma and without alpha. Throws clcook::Error: invalid_argument for another
// ending, io.
void write_picture(const std::string& path, const Picture& picture);

}  // namespace clcook::pictures
