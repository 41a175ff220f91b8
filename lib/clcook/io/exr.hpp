// Writes OpenEXR pictures: RGBA halfs or floats in scan lines, uncompressed. std only.
//
//   const float texels[8] = {0, 0, 0, 1, 1, 1, 1, 1};  // 2 x 1 texels
//   std::ostringstream file;
//   clcook::io::write_exr(file, texels, 2, 1, clcook::io::ExrTexel::rgba32f);
//
// What this writer needs of the format: a header of named attributes; a table with the place of
// every line; then the lines from the top. Each line has its number, its size and its values, first
// all of channel A, then B, G, R. All numbers are little-endian. Nothing is compressed, so every
// place is known beforehand and a picture can be written in strips.
#pragma once

#include <clcook/io/format_error.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <ostream>
#include <string>
#include <string_view>

namespace clcook::io {

enum class ExrTexel { rgba16f, rgba32f };

constexpr std::uint32_t kExrMaxSide = (1u << 26) - 1;  // a line of floats has less than 2^31 bytes

namespace detail {

inline void exr_put(std::string& out, std::uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i) {
    out += static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
  }
}

inline void exr_attribute(std::string& out, std::string_view name, std::string_view type,
                          std::string_view value) {
  out.append(name).append(1, '\0').append(type).append(1, '\0');
  exr_put(out, value.size(), 4);
  out.append(value);
}

constexpr std::size_t exr_value_bytes(ExrTexel texel) { return texel == ExrTexel::rgba16f ? 2 : 4; }

}  // namespace detail

// The beginning of a file, up to the first line. Throws FormatError when a side is 0 or above
// kExrMaxSide.
inline std::string exr_header(std::uint32_t width, std::uint32_t height, ExrTexel texel) {
  using detail::exr_attribute;
  using detail::exr_put;
  if (width == 0 || height == 0 || width > kExrMaxSide || height > kExrMaxSide) {
    throw FormatError("EXR", "width x height is " + std::to_string(width) + " x " +
                                 std::to_string(height) + "; each must be 1 .. " +
                                 std::to_string(kExrMaxSide));
  }
  const auto words = [](std::initializer_list<std::uint32_t> values) {
    std::string out;
    for (const std::uint32_t value : values) exr_put(out, value, 4);
    return out;
  };
  constexpr std::uint32_t kOne = 0x3F800000;  // 1.0f
  std::string channels;
  for (const char name : {'A', 'B', 'G', 'R'}) {
    // Name, type (1 half, 2 float), not linear by intent, every texel has a value.
    channels += std::string{name, '\0'};
    channels += words({texel == ExrTexel::rgba16f ? 1u : 2u, 0, 1, 1});
  }
  channels += '\0';
  const std::string window = words({0, 0, width - 1, height - 1});
  std::string out = words({20000630, 2});  // the magic number, version 2 of single-part scan lines
  exr_attribute(out, "channels", "chlist", channels);
  exr_attribute(out, "compression", "compression", std::string(1, '\0'));
  exr_attribute(out, "dataWindow", "box2i", window);
  exr_attribute(out, "displayWindow", "box2i", window);
  exr_attribute(out, "lineOrder", "lineOrder", std::string(1, '\0'));
  exr_attribute(out, "pixelAspectRatio", "float", words({kOne}));
  exr_attribute(out, "screenWindowCenter", "v2f", words({0, 0}));
  exr_attribute(out, "screenWindowWidth", "float", words({kOne}));
  out += '\0';
  const std::uint64_t first = out.size() + std::uint64_t{height} * 8;
  const std::uint64_t line = 8 + std::uint64_t{width} * 4 * detail::exr_value_bytes(texel);
  for (std::uint32_t y = 0; y < height; ++y) exr_put(out, first + y * line, 8);
  return out;
}

// Writes lines first_line .. first_line + lines - 1 behind exr_header() and the lines before.
// `texels` is RGBA row by row: half bit patterns as std::uint16_t, or floats, in the order of bytes
// of this machine. Throws FormatError when the stream fails.
inline void write_exr_lines(std::ostream& out, const void* texels, std::uint32_t width,
                            std::uint32_t first_line, std::uint32_t lines, ExrTexel texel) {
  const std::size_t bytes = detail::exr_value_bytes(texel);
  const std::size_t row = std::size_t{width} * 4 * bytes;
  std::string line;
  for (std::uint32_t y = 0; y < lines && out; ++y) {
    const char* from = static_cast<const char*>(texels) + y * row;
    line.clear();
    detail::exr_put(line, first_line + y, 4);
    detail::exr_put(line, row, 4);
    line.resize(8 + row);
    char* to = line.data() + 8;
    for (std::size_t channel = 4; channel-- > 0;) {
      for (std::size_t x = 0; x < width; ++x) {
        std::uint32_t value = 0;
        if (bytes == 2) {
          std::uint16_t half = 0;
          std::memcpy(&half, from + (4 * x + channel) * 2, 2);
          value = half;
        } else {
          std::memcpy(&value, from + (4 * x + channel) * 4, 4);
        }
        for (std::size_t i = 0; i < bytes; ++i) {
          *to++ = static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
        }
      }
    }
    out.write(line.data(), static_cast<std::streamsize>(line.size()));
  }
  if (!out) throw FormatError("EXR", "the stream took not all of the picture");
}

// Writes a whole picture. Throws FormatError as the two above.
inline void write_exr(std::ostream& out, const void* texels, std::uint32_t width,
                      std::uint32_t height, ExrTexel texel) {
  const std::string header = exr_header(width, height, texel);
  out.write(header.data(), static_cast<std::streamsize>(header.size()));
  write_exr_lines(out, texels, width, 0, height, texel);
  out.flush();
  if (!out) throw FormatError("EXR", "the stream took not all of the picture");
}

}  // namespace clcook::io
