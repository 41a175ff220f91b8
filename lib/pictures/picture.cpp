#include <pictures/formats.hpp>

#include <png.h>
#include <turbojpeg.h>

#include <clcook/core/error.hpp>
#include <clcook/core/source.hpp>
#include <clcook/io/whole_file.hpp>
#include <cstring>
#include <filesystem>
#include <memory>

namespace clcook::pictures {

namespace {

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

void check_promise(const std::string& where, std::size_t bytes, std::uint64_t most,
                   std::uint64_t width, std::uint64_t height) {
  check_size(where, width, height);
  if (width * height > most) {
    fail(Errc::io, where,
         text("broken: a file of ", bytes, " bytes cannot hold ", width, " x ", height, " pixels"));
  }
}

Picture read_picture(const std::string& path) {
  return parse_picture("picture " + path, read_text_file(path));
}

Picture parse_picture(const std::string& where, const std::string& bytes) {
  if (bytes.compare(0, 8, "\x89PNG\r\n\x1a\n") == 0) return read_png(where, bytes);
  if (bytes.compare(0, 2, "\xff\xd8") == 0) return read_jpeg(where, bytes);
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
