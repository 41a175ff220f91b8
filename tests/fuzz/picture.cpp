// PNG and JPEG pictures, told apart by their first bytes.
#include <clcook/core/error.hpp>
#include <pictures/picture.hpp>

#include "fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace clcook::pictures;
  Picture picture;
  try {
    picture = parse_picture("picture", std::string(clcook::fuzz::view(data, size)));
  } catch (const clcook::Error& error) {
    CLCOOK_FUZZ_CHECK(error.code == clcook::Errc::io);
    return 0;
  }
  CLCOOK_FUZZ_CHECK(picture.width > 0 && picture.height > 0);
  CLCOOK_FUZZ_CHECK(picture.rgba.size() == picture.pixels() * 4);
  if (picture.pixels() > 256) return 0;
  const Picture again = parse_picture("picture", png_bytes("picture", picture));
  CLCOOK_FUZZ_CHECK(again.width == picture.width && again.rgba == picture.rgba);
  return 0;
}
