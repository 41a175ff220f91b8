// Writes PFM pictures: RGB floats behind a line of text. std only.
//
//   const float texels[6] = {0, 0, 0, 1, 1, 1};  // 2 x 1 texels
//   std::ostringstream file;
//   clcook::io::write_pfm(file, texels, 2, 1);
#pragma once

#include <clcook/io/format_error.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <string>

namespace clcook::io {

// The line of text before the texels. Throws FormatError when a side is 0.
inline std::string pfm_header(std::size_t width, std::size_t height) {
  if (width == 0 || height == 0) {
    throw FormatError("PFM", "width x height is " + std::to_string(width) + " x " +
                                 std::to_string(height) + "; each must be 1 or more");
  }
  return "PF\n" + std::to_string(width) + " " + std::to_string(height) + "\n-1.0\n";
}

// Writes rows of `channels` floats for each texel, the last row of `texels` first: the format
// starts with the lowest row, so a picture in strips is written from its lowest strip on. 3
// channels are RGB, a fourth one is left out. Throws FormatError when the channels are neither 3
// nor 4, or the stream fails.
inline void write_pfm_rows(std::ostream& out, const float* texels, std::size_t width,
                           std::size_t rows, std::size_t channels = 3) {
  if (channels != 3 && channels != 4) {
    throw FormatError("PFM", std::to_string(channels) + " channels; must be 3 or 4");
  }
  std::string row(width * 12, '\0');
  for (std::size_t y = rows; y-- > 0 && out;) {
    for (std::size_t i = 0; i < width * 3; ++i) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, &texels[(y * width + i / 3) * channels + i % 3], sizeof bits);
      for (std::size_t b = 0; b < 4; ++b) {
        row[4 * i + b] = static_cast<char>(static_cast<unsigned char>(bits >> (8 * b)));
      }
    }
    out.write(row.data(), static_cast<std::streamsize>(row.size()));
  }
  if (!out) throw FormatError("PFM", "the stream took not all of the picture");
}

// Writes width x height texels of `channels` floats each, row by row from the top; 3 channels are
// RGB, a fourth one is left out. The file is little-endian. Throws FormatError when a side is 0,
// the channels are neither 3 nor 4, or the stream fails.
inline void write_pfm(std::ostream& out, const float* texels, std::size_t width, std::size_t height,
                      std::size_t channels = 3) {
  const std::string header = pfm_header(width, height);
  if (channels != 3 && channels != 4) {
    throw FormatError("PFM", std::to_string(channels) + " channels; must be 3 or 4");
  }
  out.write(header.data(), static_cast<std::streamsize>(header.size()));
  write_pfm_rows(out, texels, width, height, channels);
  out.flush();
  if (!out) throw FormatError("PFM", "the stream took not all of the picture");
}

}  // namespace clcook::io
