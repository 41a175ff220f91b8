#include <pictures/formats.hpp>
#include <utility>

namespace clcook::pictures {

int exif_orientation(std::string_view exif) {
  // TIFF: a byte order, 42, the place of the first directory; there a count, then entries of 12
  // bytes: tag, type, count, value.
  const bool little = exif.substr(0, 4) == std::string_view("II*\0", 4);
  if (!little && exif.substr(0, 4) != std::string_view("MM\0*", 4)) return 1;
  const auto number = [&](std::uint64_t at, std::uint64_t bytes) -> std::uint64_t {
    if (at + bytes > exif.size()) return 0;
    std::uint64_t value = 0;
    for (std::uint64_t i = 0; i < bytes; ++i) {
      const std::uint64_t place = at + (little ? bytes - 1 - i : i);
      value = value << 8 | static_cast<unsigned char>(exif[static_cast<std::size_t>(place)]);
    }
    return value;
  };
  constexpr std::uint64_t kOrientation = 0x0112;
  constexpr std::uint64_t kShort = 3;
  constexpr std::uint64_t kLong = 4;
  const std::uint64_t directory = number(4, 4);
  const std::uint64_t entries = number(directory, 2);
  for (std::uint64_t i = 0; i < entries; ++i) {
    const std::uint64_t at = directory + 2 + 12 * i;
    if (number(at, 2) != kOrientation) continue;
    const std::uint64_t type = number(at + 2, 2);
    const std::uint64_t value = type == kShort  ? number(at + 8, 2)
                                : type == kLong ? number(at + 8, 4)
                                                : 0;
    return value >= 1 && value <= 8 && number(at + 4, 4) == 1 ? static_cast<int>(value) : 1;
  }
  return 1;
}

Picture upright(Picture picture, int orientation) {
  if (orientation <= 1 || orientation > 8) return picture;
  const bool swapped = orientation >= 5;
  const bool from_right =
      orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool from_bottom =
      orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  Picture out = {swapped ? picture.height : picture.width,
                 swapped ? picture.width : picture.height,
                 {},
                 std::move(picture.warnings)};
  out.rgba.resize(picture.rgba.size());
  std::size_t to = 0;
  for (int y = 0; y < out.height; ++y) {
    for (int x = 0; x < out.width; ++x, to += 4) {
      int column = swapped ? y : x;
      int row = swapped ? x : y;
      if (from_right) column = picture.width - 1 - column;
      if (from_bottom) row = picture.height - 1 - row;
      const std::size_t from =
          4 * (static_cast<std::size_t>(row) * static_cast<std::size_t>(picture.width) +
               static_cast<std::size_t>(column));
      for (std::size_t c = 0; c < 4; ++c) out.rgba[to + c] = picture.rgba[from + c];
    }
  }
  return out;
}

}  // namespace clcook::pictures
