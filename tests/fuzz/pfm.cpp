// The writer of PFM pictures: a picture of the size, channels and bits that the input gives, whole
// and in strips.
#include <clcook/io/pfm.hpp>
#include <sstream>
#include <vector>

#include "fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace clcook::io;
  std::string_view in = clcook::fuzz::view(data, size);
  const std::size_t width = clcook::fuzz::take<std::uint8_t>(in) % 33;
  const std::size_t height = clcook::fuzz::take<std::uint8_t>(in) % 33;
  const std::size_t channels = clcook::fuzz::take<std::uint8_t>(in) % 6;
  const std::size_t lowest = clcook::fuzz::take<std::uint8_t>(in) % (height + 1);
  std::vector<float> texels(width * height * channels);
  for (float& one : texels) one = clcook::fuzz::take<float>(in);
  std::ostringstream file;
  try {
    write_pfm(file, texels.data(), width, height, channels);
  } catch (const FormatError&) {
    CLCOOK_FUZZ_CHECK(width == 0 || height == 0 || (channels != 3 && channels != 4));
    return 0;
  }
  const std::string header = pfm_header(width, height);
  const std::string written = file.str();
  std::ostringstream strips;
  strips << header;
  write_pfm_rows(strips, texels.data() + (height - lowest) * width * channels, width, lowest,
                 channels);
  write_pfm_rows(strips, texels.data(), width, height - lowest, channels);
  CLCOOK_FUZZ_CHECK(strips.str() == written);
  CLCOOK_FUZZ_CHECK(written.size() == header.size() + width * height * 12);
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t i = 0; i < width * 3; ++i) {
      const float* texel = &texels[((height - 1 - y) * width + i / 3) * channels + i % 3];
      CLCOOK_FUZZ_CHECK(written.compare(header.size() + (y * width * 3 + i) * 4, 4,
                                        reinterpret_cast<const char*>(texel), 4) == 0);
    }
  }
  return 0;
}
