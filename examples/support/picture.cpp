#include "picture.hpp"

#include <png.h>
#include <turbojpeg.h>

#include <cerrno>
#include <chrono>
#include <clcook/core/error.hpp>
#include <clcook/core/source.hpp>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>

namespace clcook::example {

namespace {

constexpr std::uint64_t kMaxPixels = std::uint64_t{1} << 29;  // 2 GiB of RGBA

void check_size(const std::string& where, std::uint64_t width, std::uint64_t height) {
  if (width == 0 || height == 0 || width > 1U << 30 || height > 1U << 30 ||
      width * height > kMaxPixels) {
    fail(Errc::io, where,
         text("a picture of ", width, " x ", height, " pixels; at least 1 x 1 and at most ",
              kMaxPixels, " pixels are read"));
  }
}

Picture read_png(const std::string& where, const std::string& bytes) {
  png_image image;
  std::memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()) == 0) {
    fail(Errc::io, where, std::string("broken PNG: ") + image.message);
  }
  struct Free {
    png_image* image;
    ~Free() { png_image_free(image); }
  } guard{&image};
  check_size(where, image.width, image.height);
  image.format = PNG_FORMAT_RGBA;
  Picture picture;
  picture.width = static_cast<int>(image.width);
  picture.height = static_cast<int>(image.height);
  picture.rgba.resize(PNG_IMAGE_SIZE(image));
  if (png_image_finish_read(&image, nullptr, picture.rgba.data(), 0, nullptr) == 0) {
    fail(Errc::io, where, std::string("broken PNG: ") + image.message);
  }
  return picture;
}

Picture read_jpeg(const std::string& where, const std::string& bytes) {
  const std::unique_ptr<void, int (*)(tjhandle)> decoder(tjInitDecompress(), tjDestroy);
  if (!decoder) fail(Errc::io, where, "cannot start the JPEG decoder");
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  int width = 0;
  int height = 0;
  int subsampling = 0;
  int colorspace = 0;
  if (tjDecompressHeader3(decoder.get(), data, static_cast<unsigned long>(bytes.size()), &width,
                          &height, &subsampling, &colorspace) != 0) {
    fail(Errc::io, where, std::string("broken JPEG: ") + tjGetErrorStr2(decoder.get()));
  }
  check_size(where, static_cast<std::uint64_t>(std::max(width, 0)),
             static_cast<std::uint64_t>(std::max(height, 0)));
  Picture picture;
  picture.width = width;
  picture.height = height;
  picture.rgba.resize(picture.pixels() * 4);
  // A warning (a truncated file, say) counts as broken: no half pictures.
  if (tjDecompress2(decoder.get(), data, static_cast<unsigned long>(bytes.size()),
                    picture.rgba.data(), width, 0, height, TJPF_RGBA, TJFLAG_STOPONWARNING) != 0) {
    fail(Errc::io, where, std::string("broken JPEG: ") + tjGetErrorStr2(decoder.get()));
  }
  return picture;
}

// The ending of the name, in lower case.
std::string ending(const std::string& path) {
  std::string out = std::filesystem::path(path).extension().string();
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

bool is_png(const std::string& path) { return ending(path) == ".png"; }
bool is_jpeg(const std::string& path) { return ending(path) == ".jpg" || ending(path) == ".jpeg"; }

std::string jpeg_bytes(const std::string& where, const Picture& picture) {
  const std::unique_ptr<void, int (*)(tjhandle)> encoder(tjInitCompress(), tjDestroy);
  unsigned char* data = nullptr;
  unsigned long size = 0;
  const int status =
      encoder ? tjCompress2(encoder.get(), picture.rgba.data(), picture.width, 0, picture.height,
                            TJPF_RGBX, &data, &size, TJSAMP_444, 92, TJFLAG_ACCURATEDCT)
              : -1;
  const std::unique_ptr<unsigned char, void (*)(unsigned char*)> owner(data, tjFree);
  if (status != 0) {
    fail(Errc::io, where,
         text("cannot write a JPEG of ", picture.width, " x ", picture.height,
              " pixels: ", tjGetErrorStr2(encoder.get())));
  }
  return std::string(reinterpret_cast<const char*>(data), size);
}

}  // namespace

Picture read_picture(const std::string& path) {
  const std::string where = "picture " + path;
  const std::string bytes = read_text_file(path);
  if (bytes.compare(0, 8, "\x89PNG\r\n\x1a\n") == 0) return read_png(where, bytes);
  if (bytes.compare(0, 3, "\xff\xd8\xff") == 0) return read_jpeg(where, bytes);
  fail(Errc::io, where, bytes.empty() ? "the file is empty" : "the file is neither PNG nor JPEG");
}

std::string png_bytes(const std::string& where, const Picture& picture) {
  png_image image;
  std::memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(picture.width);
  image.height = static_cast<png_uint_32>(picture.height);
  image.format = PNG_FORMAT_RGBA;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string out(size, '\0');
  if (png_image_write_to_memory(&image, out.data(), &size, 0, picture.rgba.data(), 0, nullptr) ==
      0) {
    fail(Errc::io, where, std::string("cannot write: ") + image.message);
  }
  out.resize(size);
  return out;
}

void check_picture_path(const std::string& path, const char* more) {
  if (!is_png(path) && !is_jpeg(path)) {
    fail(Errc::invalid_argument, "picture " + path,
         text("the name must end in ", more, ".png, .jpg or .jpeg"));
  }
}

void write_picture(const std::string& path, const Picture& picture) {
  check_picture_path(path);
  const std::string where = "picture " + path;
  const std::string bytes = is_jpeg(path) ? jpeg_bytes(where, picture) : png_bytes(where, picture);
  std::error_code error;
  const std::filesystem::path target(path);
  if (target.has_parent_path()) std::filesystem::create_directories(target.parent_path(), error);
  const std::string temporary =
      path + text(".tmp-", std::chrono::steady_clock::now().time_since_epoch().count());
  std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) {
    const std::string reason = std::strerror(errno);
    std::filesystem::remove(temporary, error);
    fail(Errc::io, where, "cannot write: " + reason);
  }
  std::filesystem::rename(temporary, target, error);
  if (error) {
    const std::string reason = error.message();
    std::filesystem::remove(temporary, error);
    fail(Errc::io, where, "cannot write: " + reason);
  }
}

Picture render_scene(int width, int height) {
  check_size("scene", static_cast<std::uint64_t>(std::max(width, 0)),
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

Picture open_picture(const std::string& source) {
  if (source == "scene") return render_scene(1920, 1080);
  if (source.rfind("scene:", 0) == 0) {
    int width = 0;
    int height = 0;
    char rest = 0;
    if (std::sscanf(source.c_str() + 6, "%dx%d%c", &width, &height, &rest) != 2) {
      fail(Errc::invalid_argument, source, "expected scene:WIDTHxHEIGHT, such as scene:640x360");
    }
    return render_scene(width, height);
  }
  return read_picture(source);
}

}  // namespace clcook::example
