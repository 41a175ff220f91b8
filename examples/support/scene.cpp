#include "scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <clcook/core/error.hpp>
#include <cmath>
#include <cstdint>
#include <cstdio>

namespace clcook::example {

Picture render_scene(int width, int height) {
  pictures::check_size("scene", static_cast<std::uint64_t>(std::max(width, 0)),
                       static_cast<std::uint64_t>(std::max(height, 0)));
  Picture picture;
  picture.width = width;
  picture.height = height;
  picture.rgba.resize(picture.pixels() * 4);
  struct Disc {
    double x, y, r;
    int red, green, blue;
  };
  static constexpr Disc kDiscs[] = {{0.20, 0.30, 0.16, 250, 200, 60},
                                    {0.27, 0.42, 0.10, 220, 60, 50},
                                    {0.62, 0.22, 0.07, 255, 255, 255},
                                    {0.12, 0.60, 0.05, 20, 20, 30}};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const double u = (x + 0.5) / width;
      const double v = (y + 0.5) / height;
      const double aspect = static_cast<double>(width) / height;
      int red = static_cast<int>(30 + 120 * v);
      int green = static_cast<int>(70 + 110 * v);
      int blue = static_cast<int>(150 + 60 * v);
      for (const Disc& disc : kDiscs) {
        const double dx = (u - disc.x) * aspect;
        const double dy = v - disc.y;
        if (dx * dx + dy * dy < disc.r * disc.r) {
          red = disc.red;
          green = disc.green;
          blue = disc.blue;
        }
      }
      // A star of 72 rays.
      const double sx = (u - 0.78) * aspect;
      const double sy = v - 0.34;
      if (sx * sx + sy * sy < 0.26 * 0.26) {
        const bool ray = static_cast<int>(std::floor((std::atan2(sy, sx) + 3.14159265358979) * 36 /
                                                     3.14159265358979)) %
                             2 ==
                         0;
        red = green = blue = ray ? 245 : 15;
      }
      if (v > 0.72) {
        if (u < 0.5) {
          // Stripes of 1 to 8 pixels, one width per eighth.
          const int stripe = 1 + static_cast<int>(u * 16);
          const bool on = (x / stripe) % 2 == 0;
          red = on ? 240 : 20;
          green = on ? 240 : 30;
          blue = on ? 230 : 60;
        } else if (u < 0.75) {
          const bool on = ((x / 24) + (y / 24)) % 2 == 0;
          red = on ? 30 : 235;
          green = on ? 160 : 235;
          blue = on ? 90 : 225;
        } else {
          std::uint32_t hash = static_cast<std::uint32_t>(x) * 374761393U +
                               static_cast<std::uint32_t>(y) * 668265263U;
          hash = (hash ^ (hash >> 13)) * 1274126177U;
          red = static_cast<int>(hash & 255U);
          green = static_cast<int>((hash >> 8) & 255U);
          blue = static_cast<int>((hash >> 16) & 255U);
        }
      }
      std::uint8_t* out =
          picture.rgba.data() + 4 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                                     static_cast<std::size_t>(x));
      out[0] = static_cast<std::uint8_t>(red);
      out[1] = static_cast<std::uint8_t>(green);
      out[2] = static_cast<std::uint8_t>(blue);
      out[3] = 255;
    }
  }
  return picture;
}

bool is_scene(const std::string& source) {
  return source == "scene" || source.rfind("scene:", 0) == 0;
}

Picture open_picture(const std::string& source) {
  if (source == "scene") return render_scene(1920, 1080);
  if (is_scene(source)) {
    int width = 0;
    int height = 0;
    char rest = 0;
    if (std::sscanf(source.c_str() + 6, "%dx%d%c", &width, &height, &rest) != 2) {
      fail(Errc::invalid_argument, source, "expected scene:WIDTHxHEIGHT, such as scene:640x360");
    }
    return render_scene(width, height);
  }
  Picture picture = pictures::read_picture(source);
  for (const std::string& one : picture.warnings)
    fmt::print(stderr, "warning: {}: {}\n", source, one);
  return picture;
}

void add_noise(Picture& picture) {
  std::uint32_t state = 1;
  for (std::size_t i = 0; i < picture.pixels(); ++i) {
    state = state * 1664525 + 1013904223;
    if (state >> 16 & 1 || (state >> 17) % 10 != 0) continue;
    std::fill_n(picture.rgba.begin() + static_cast<std::ptrdiff_t>(4 * i), 3,
                static_cast<std::uint8_t>(state >> 31 != 0 ? 255 : 0));
  }
}

Picture moved(const Picture& picture) {
  Picture out = picture;
  const int step = std::min(8, picture.width - 1);
  for (int y = 0; y < picture.height; ++y) {
    const auto row = picture.rgba.begin() + static_cast<std::ptrdiff_t>(4) * y * picture.width;
    std::copy(row, row + 4 * (picture.width - step),
              out.rgba.begin() + static_cast<std::ptrdiff_t>(4) * (y * picture.width + step));
  }
  return out;
}

}  // namespace clcook::example
