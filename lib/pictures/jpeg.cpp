#include <turbojpeg.h>

#include <clcook/core/error.hpp>
#include <memory>
#include <pictures/formats.hpp>

namespace clcook::pictures {

namespace {

// What the markers of a JPEG say.
struct JpegMarkers {
  bool frame = false;  // there is a frame header
  unsigned width = 0;
  unsigned height = 0;
  unsigned components = 0;
  bool end = false;       // there is an end marker
  std::string_view exif;  // behind "Exif\0\0"
};

// A marker is a byte that is neither 0 nor 255 behind one or more of 255. Between two there may be
// the data of a scan, or bytes that belong to nothing.
JpegMarkers markers_of(std::string_view file) {
  JpegMarkers out;
  const auto byte = [&](std::size_t at) { return unsigned{static_cast<unsigned char>(file[at])}; };
  std::size_t at = 2;  // behind the start marker
  while (true) {
    at = file.find('\xff', at);
    if (at == std::string_view::npos) return out;
    at = file.find_first_not_of('\xff', at);
    if (at == std::string_view::npos) return out;
    const unsigned marker = byte(at++);
    if (marker == 0xD9) {
      out.end = true;
      return out;
    }
    if (marker <= 1 || (marker >= 0xD0 && marker <= 0xD8)) continue;  // without a segment
    if (file.size() - at < 2) return out;
    const std::size_t length = byte(at) << 8 | byte(at + 1);
    if (length < 2 || length > file.size() - at) return out;
    const std::string_view segment = file.substr(at + 2, length - 2);
    // C4, C8 and CC between the frame headers are none.
    const bool is_frame = marker >= 0xC0 && marker <= 0xCF && marker % 4 != 0;
    if ((is_frame || marker == 0xC0) && !out.frame && segment.size() >= 6) {
      out.frame = true;
      out.height = byte(at + 3) << 8 | byte(at + 4);
      out.width = byte(at + 5) << 8 | byte(at + 6);
      out.components = byte(at + 7);
    }
    constexpr std::string_view kExif("Exif\0\0", 6);
    if (marker == 0xE1 && out.exif.empty() && segment.substr(0, kExif.size()) == kExif)
      out.exif = segment.substr(kExif.size());
    at += length;
  }
}

// Readers take every JPEG of four components as Adobe's programs write it: 255 is no ink.
void cmyk_to_rgba(std::vector<std::uint8_t>& pixels) {
  for (std::size_t i = 0; i < pixels.size(); i += 4) {
    const unsigned black = pixels[i + 3];
    for (std::size_t c = 0; c < 3; ++c)
      pixels[i + c] = static_cast<std::uint8_t>((pixels[i + c] * black + 127) / 255);
    pixels[i + 3] = 255;
  }
}

}  // namespace

Picture read_jpeg(const std::string& where, const std::string& bytes) {
  const JpegMarkers markers = markers_of(bytes);
  // Each block of 8 x 8 pixels has at least one bit, or less where it is coded arithmetically: 2048
  // pixels for a byte are more than a real picture has.
  if (markers.frame) {
    check_promise(where, bytes.size(), bytes.size() * std::uint64_t{2048}, markers.width,
                  markers.height);
  }
  // No half pictures, and TurboJPEG keeps the first warning alone, which may be another.
  if (!markers.end) fail(Errc::io, where, "the JPEG is cut off: it has no end marker");
  if (!markers.frame) fail(Errc::io, where, "broken JPEG: it has no frame header");
  const std::unique_ptr<void, int (*)(tjhandle)> decoder(tjInitDecompress(), tjDestroy);
  if (!decoder) fail(Errc::io, where, "cannot start the JPEG decoder");
  Picture picture;
  picture.width = static_cast<int>(markers.width);
  picture.height = static_cast<int>(markers.height);
  picture.rgba.resize(picture.pixels() * 4);
  const bool cmyk = markers.components == 4;
  if (tjDecompress2(decoder.get(), reinterpret_cast<const unsigned char*>(bytes.data()),
                    static_cast<unsigned long>(bytes.size()), picture.rgba.data(), picture.width, 0,
                    picture.height, cmyk ? TJPF_CMYK : TJPF_RGBA, TJFLAG_LIMITSCANS) != 0) {
    const std::string message = tjGetErrorStr2(decoder.get());
    if (tjGetErrorCode(decoder.get()) != TJERR_WARNING)
      fail(Errc::io, where, "cannot decode the JPEG: " + message);
    picture.warnings.push_back("JPEG: " + message);
  }
  if (cmyk) cmyk_to_rgba(picture.rgba);
  return upright(std::move(picture), exif_orientation(markers.exif));
}

}  // namespace clcook::pictures
