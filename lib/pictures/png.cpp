#include <png.h>

#include <algorithm>
#include <clcook/core/error.hpp>
#include <csetjmp>
#include <cstring>
#include <pictures/formats.hpp>

namespace clcook::pictures {

namespace {

// A file that libpng reads. libpng reports an error by a longjmp to attempt(), which passes over no
// object with a destructor: the steps below have none.
struct PngFile {
  explicit PngFile(const std::string& file) : bytes(file.data()), left(file.size()) {
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning);
    if (png != nullptr) info = png_create_info_struct(png);
  }
  PngFile(const PngFile&) = delete;
  PngFile& operator=(const PngFile&) = delete;
  ~PngFile() { png_destroy_read_struct(&png, &info, nullptr); }

  static PngFile& of(png_structp png) { return *static_cast<PngFile*>(png_get_error_ptr(png)); }

  [[noreturn]] static void on_error(png_structp png, png_const_charp message) {
    std::strncpy(of(png).error, message, sizeof error - 1);
    png_longjmp(png, 1);
  }

  static void on_warning(png_structp png, png_const_charp message) {
    if (of(png).warning[0] == '\0') std::strncpy(of(png).warning, message, sizeof warning - 1);
  }

  static void on_read(png_structp png, png_bytep to, png_size_t count) {
    PngFile& file = of(png);
    if (count > file.left) png_error(png, "the file is cut off");
    std::memcpy(to, file.bytes, count);
    file.bytes += count;
    file.left -= count;
  }

  png_structp png = nullptr;
  png_infop info = nullptr;
  const char* bytes = nullptr;
  std::size_t left = 0;
  std::uint8_t* rgba = nullptr;
  char error[160] = "no memory";
  char warning[160] = "";  // the first one
};

constexpr png_byte kExif[] = "eXIf";

// Whether a step came to its end. Else file.error says why.
bool attempt(PngFile& file, void (*step)(PngFile&)) {
  if (setjmp(png_jmpbuf(file.png)) != 0) return false;
  step(file);
  return true;
}

void read_header(PngFile& file) {
  png_set_read_fn(file.png, &file, PngFile::on_read);
  png_set_user_limits(file.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // ours come later
  png_set_chunk_malloc_max(file.png, file.left);                    // a longer chunk is cut off
  png_set_benign_errors(file.png, 1);
  // No chunk is read but those that say what the pixels are, and the orientation: nothing about
  // colours may change them.
  png_set_keep_unknown_chunks(file.png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  // The orientation as raw bytes: so it is kept within the limit above.
  png_set_keep_unknown_chunks(file.png, PNG_HANDLE_CHUNK_ALWAYS, kExif, 1);
  png_read_info(file.png, file.info);
}

void read_pixels(PngFile& file) {
  const png_uint_32 height = png_get_image_height(file.png, file.info);
  const std::size_t row = std::size_t{4} * png_get_image_width(file.png, file.info);
  png_set_expand(file.png);    // palettes, few bits, and transparent colours
  png_set_scale_16(file.png);  // rounded
  png_set_gray_to_rgb(file.png);
  png_set_add_alpha(file.png, 255, PNG_FILLER_AFTER);
  const int passes = png_set_interlace_handling(file.png);
  png_read_update_info(file.png, file.info);
  if (png_get_rowbytes(file.png, file.info) != row) png_error(file.png, "no rows of RGBA");
  for (int pass = 0; pass < passes; ++pass) {
    for (png_uint_32 y = 0; y < height; ++y) png_read_row(file.png, file.rgba + y * row, nullptr);
  }
}

void read_rest(PngFile& file) { png_read_end(file.png, file.info); }

int orientation(const PngFile& file) {
  png_unknown_chunkp chunks = nullptr;
  const int count = png_get_unknown_chunks(file.png, file.info, &chunks);
  for (const png_unknown_chunk* one = chunks; one != chunks + count; ++one) {
    if (std::memcmp(one->name, kExif, sizeof kExif) != 0) continue;
    return exif_orientation({reinterpret_cast<const char*>(one->data), one->size});
  }
  return 1;
}

}  // namespace

Picture read_png(const std::string& where, const std::string& bytes) {
  PngFile file(bytes);
  if (file.info == nullptr || !attempt(file, read_header))
    fail(Errc::io, where, std::string("broken PNG: ") + file.error);
  const png_uint_32 width = png_get_image_width(file.png, file.info);
  const png_uint_32 height = png_get_image_height(file.png, file.info);
  const unsigned bits =
      unsigned{png_get_channels(file.png, file.info)} * png_get_bit_depth(file.png, file.info);
  // deflate makes 1032 bytes of one at most.
  check_promise(where, bytes.size(), bytes.size() * std::uint64_t{1032} * 8 / std::max(1u, bits),
                width, height);
  Picture picture;
  picture.width = static_cast<int>(width);
  picture.height = static_cast<int>(height);
  picture.rgba.resize(picture.pixels() * 4);
  file.rgba = picture.rgba.data();
  if (!attempt(file, read_pixels)) fail(Errc::io, where, std::string("broken PNG: ") + file.error);
  // All pixels are there.
  if (!attempt(file, read_rest)) PngFile::on_warning(file.png, file.error);
  if (file.warning[0] != '\0') picture.warnings.emplace_back(std::string("PNG: ") + file.warning);
  return upright(std::move(picture), orientation(file));
}

}  // namespace clcook::pictures
