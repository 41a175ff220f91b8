// DDS textures: what is taken lies within the file, and the writer gives it back.
#include <clcook/io/dds.hpp>

#include "fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace clcook::io;
  const std::string_view file = clcook::fuzz::view(data, size);
  bool taken[2] = {false, false};
  for (const DdsTrailing trailing : {DdsTrailing::refuse, DdsTrailing::allow}) {
    try {
      const Dds dds = parse_dds(file, trailing);
      taken[trailing == DdsTrailing::allow] = true;
      unsigned sum = 0;
      for (const std::uint64_t slice : {std::uint64_t{0}, dds.slices - 1}) {
        for (std::size_t mip = 0; mip < dds.mips.size(); ++mip) {
          const DdsLevel level = dds.level(slice, mip);
          CLCOOK_FUZZ_CHECK(level.bytes == level.row_bytes() * level.blocks_high);
          CLCOOK_FUZZ_CHECK(level.offset <= size && level.bytes <= size - level.offset);
          // First and last byte: AddressSanitizer sees where they are not.
          sum += data[level.offset];
          sum += data[level.offset + level.bytes - 1];
        }
      }
      clcook::fuzz::keep(sum);
      const DdsDescription what{dds.format,     dds.width,
                                dds.height,     static_cast<std::uint32_t>(dds.mips.size()),
                                dds.array_size, dds.cube};
      const auto begin = static_cast<std::size_t>(dds.data_offset);
      const auto bytes = static_cast<std::size_t>(dds.data_bytes);
      const Dds again = parse_dds(write_dds(what, file.substr(begin, bytes)));
      CLCOOK_FUZZ_CHECK(again.data_bytes == dds.data_bytes && again.slices == dds.slices);
    } catch (const FormatError&) {
    }
  }
  CLCOOK_FUZZ_CHECK(taken[1] || !taken[0]);
  // The beginning alone, of a file whose length the input gives.
  std::string_view rest = file;
  const auto length = clcook::fuzz::take<std::uint64_t>(rest);
  try {
    const Dds dds = parse_dds(rest, length, DdsTrailing::allow);
    CLCOOK_FUZZ_CHECK(dds.data_offset + dds.data_bytes + dds.trailing_bytes == length);
  } catch (const FormatError&) {
  }
  return 0;
}
