#include <pictures/picture.hpp>

#include <png.h>
#include <turbojpeg.h>

#include <algorithm>
#include <clcook/core/error.hpp>
#include <clcook/core/source.hpp>
#include <clcook/io/whole_file.hpp>
#include <cstring>
#include <filesystem>
#include <memory>

namespace clcook::pictures {

namespace {

// A file that promises more pixels than its bytes can hold is refused before memory is taken for
// them.
void check_promise(const std::string& where, std::size_t bytes, std::uint64_t most,
                   std::uint64_t width, std::uint64_t height) {
  check_size(where, width, height);
  if (width * height > most) {
    fail(Errc::io, where,
         text("broken: a file of ", bytes, " bytes cannot hold ", width, " x ", height, " pixels"));
  }
}

// The most pixels in a PNG of that many bytes: deflate makes 1032 bytes of one at most.
std::uint64_t png_pixels(const std::string& bytes) {
  const auto depth = static_cast<unsigned char>(bytes[24]);
  const auto type = static_cast<unsigned char>(bytes[25]);
  const unsigned channels = type == 2 ? 3 : type == 4 ? 2 : type == 6 ? 4 : 1;
  return bytes.size() * std::uint64_t{1032} * 8 / std::max(1u, channels * depth);
}

// In a JPEG each block of 8 x 8 pixels has at least one bit, or less where it is coded
// arithmetically: 2048 pixels for a byte are more than a real picture has.
std::uint64_t jpeg_pixels(const std::string& bytes) { return bytes.size() * std::uint64_t{2048}; }

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
  check_promise(where, bytes.size(), png_pixels(bytes), image.width, image.height);
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
  check_promise(where, bytes.size(), jpeg_pixels(bytes),
                static_cast<std::uint64_t>(std::max(width, 0)),
                static_cast<std::uint64_t>(std::max(height, 0)));
  Picture picture;
  picture.width = width;
  picture.height = height;
  picture.rgba.resize(picture.pixels() * 4);
  // A warning (a truncated file, say) counts as broken: no half pictures.
  if (tjDecompress2(decoder.get(), data, static_cast<unsigned long>(bytes.size()),
                    picture.rgba.data(), width, 0, height, TJPF_RGBA,
                    TJFLAG_STOPONWARNING | TJFLAG_LIMITSCANS) != 0) {
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

void check_size(const std::string& where, std::uint64_t width, std::uint64_t height) {
  if (width == 0 || height == 0 || width > 1U << 30 || height > 1U << 30 ||
      width * height > kMaxPixels) {
    fail(Errc::io, where,
         text("a picture of ", width, " x ", height, " pixels; at least 1 x 1 and at most ",
              kMaxPixels, " pixels are taken"));
  }
}

Picture read_picture(const std::string& path) {
  return parse_picture("picture " + path, read_text_file(path));
}

Picture parse_picture(const std::string& where, const std::string& bytes) {
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
  io::write_file(path, bytes);
}

}  // namespace clcook::pictures
