// The writer of OpenEXR pictures: headers of any size, and pictures of the bits that the input gives,
// whole and in strips. Each line lies where the table says.
#include <clcook/io/exr.hpp>
#include <sstream>

#include "fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace clcook::io;
  std::string_view in = clcook::fuzz::view(data, size);
  const auto wide = clcook::fuzz::take<std::uint32_t>(in);
  const auto tall = clcook::fuzz::take<std::uint32_t>(in);
  const auto flags = clcook::fuzz::take<std::uint8_t>(in);
  // Most are small, so that there are many: a sixteenth are up to 4095 lines and 33 texels wide.
  const bool large = (flags & 0xF0) == 0xF0;
  const std::uint32_t high = tall % (large ? 4096 : 64);
  const ExrTexel texel = (flags & 1) != 0 ? ExrTexel::rgba32f : ExrTexel::rgba16f;
  try {
    const std::string header = exr_header(wide, high, texel);
    CLCOOK_FUZZ_CHECK(wide > 0 && wide <= kExrMaxSide && high > 0);
    // The place of the first line is the end of the header.
    std::string_view place = std::string_view(header).substr(header.size() - std::size_t{high} * 8);
    CLCOOK_FUZZ_CHECK(clcook::fuzz::take<std::uint64_t>(place) == header.size());
  } catch (const FormatError&) {
    CLCOOK_FUZZ_CHECK(wide == 0 || wide > kExrMaxSide || high == 0);
  }
  const std::uint32_t width = wide % (large ? 33 : 6) + 1;
  const std::uint32_t height = high % (large ? 33 : 6) + 1;
  const std::size_t bytes = texel == ExrTexel::rgba32f ? 4 : 2;
  std::string texels(std::size_t{4} * width * height * bytes, '\0');
  in.copy(texels.data(), texels.size());
  std::ostringstream out;
  write_exr(out, texels.data(), width, height, texel);
  const std::string file = out.str();
  const std::string header = exr_header(width, height, texel);
  const std::size_t line = 8 + std::size_t{4} * width * bytes;
  CLCOOK_FUZZ_CHECK(file.size() == header.size() + height * line);
  const std::uint32_t cut = (flags >> 1) % (height + 1);
  std::ostringstream strips;
  strips << header;
  write_exr_lines(strips, texels.data(), width, 0, cut, texel);
  write_exr_lines(strips, texels.data() + std::size_t{4} * width * cut * bytes, width, cut,
                  height - cut, texel);
  CLCOOK_FUZZ_CHECK(strips.str() == file);
  std::string_view table = std::string_view(header).substr(header.size() - std::size_t{height} * 8);
  for (std::uint32_t y = 0; y < height; ++y) {
    const auto place = clcook::fuzz::take<std::uint64_t>(table);
    CLCOOK_FUZZ_CHECK(place == header.size() + y * line);
    for (std::size_t x = 0; x < width; ++x) {
      for (std::size_t channel = 0; channel < 4; ++channel) {
        const std::size_t from = ((y * width + x) * 4 + channel) * bytes;
        const std::size_t to =
            static_cast<std::size_t>(place) + 8 + ((3 - channel) * width + x) * bytes;
        CLCOOK_FUZZ_CHECK(file.compare(to, bytes, texels, from, bytes) == 0);
      }
    }
  }
  return 0;
}
