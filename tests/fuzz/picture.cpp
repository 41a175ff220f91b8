// PNG and JPEG pictures, told apart by their first bytes. A PNG is read again with the checksums of
// its chunks made right: else hardly any change of one would get past them.
#include <clcook/core/error.hpp>
#include <pictures/picture.hpp>

#include "fuzz/fuzz.hpp"

namespace {

using namespace clcook;
using namespace clcook::pictures;

void read(const std::string& bytes) {
  Picture picture;
  try {
    picture = parse_picture("picture", bytes);
  } catch (const Error& error) {
    CLCOOK_FUZZ_CHECK(error.code == Errc::io);
    return;
  }
  CLCOOK_FUZZ_CHECK(picture.width > 0 && picture.height > 0);
  CLCOOK_FUZZ_CHECK(picture.rgba.size() == picture.pixels() * 4);
  if (picture.pixels() > 256) return;
  const Picture again = parse_picture("picture", png_bytes("picture", picture));
  CLCOOK_FUZZ_CHECK(again.width == picture.width && again.rgba == picture.rgba);
}

// Numbers of a PNG are big-endian.
std::uint32_t word(const std::string& bytes, std::size_t at) {
  std::uint32_t out = 0;
  for (std::size_t i = 0; i < 4; ++i) out = out << 8 | static_cast<unsigned char>(bytes[at + i]);
  return out;
}

std::uint32_t checksum(const std::string& bytes, std::size_t at, std::size_t count) {
  std::uint32_t out = ~std::uint32_t{0};
  for (; count > 0; --count, ++at) {
    out ^= static_cast<unsigned char>(bytes[at]);
    for (int bit = 0; bit < 8; ++bit) out = (out >> 1) ^ ((out & 1) != 0 ? 0xEDB88320 : 0);
  }
  return ~out;
}

// A chunk: the length, four letters, that many bytes, the checksum of letters and bytes.
std::string mended(std::string bytes) {
  for (std::size_t at = 8; at + 12 <= bytes.size();) {
    const std::size_t length = word(bytes, at);
    if (length > bytes.size() - at - 12) break;
    const std::uint32_t sum = checksum(bytes, at + 4, length + 4);
    at += 8 + length;
    for (unsigned i = 0; i < 4; ++i, ++at)
      bytes[at] = static_cast<char>(static_cast<unsigned char>(sum >> (24 - 8 * i)));
  }
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(fuzz::view(data, size));
  read(bytes);
  if (size == 0 || data[0] != 0x89) return 0;
  const std::string other = mended(bytes);
  if (other != bytes) read(other);
  return 0;
}
