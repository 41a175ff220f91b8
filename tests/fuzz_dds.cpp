// Fuzzing of the DDS reader. As a test program it runs a fixed number of files with random damage,
// the same ones every time; the sanitizer lane runs it under AddressSanitizer. Compiled with
// -fsanitize=fuzzer -DCLCOOK_LIBFUZZER it is a target of libFuzzer:
//
//   clang++ -std=c++17 -fsanitize=fuzzer,address -DCLCOOK_LIBFUZZER -Ilib -Itests
//       tests/fuzz_dds.cpp
#include <clcook/io/dds.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/fuzz.hpp"

namespace {

using clcook::io::Dds;
using clcook::io::DdsLevel;
using clcook::io::DdsTrailing;

// Reads one file. A reader may refuse it with a FormatError; what it takes must lie within the
// file.
clcook::testing::FuzzOutcome fuzz_one(const unsigned char* data, std::size_t size) {
  bool taken = false;
  for (const DdsTrailing trailing : {DdsTrailing::refuse, DdsTrailing::allow}) {
    try {
      const Dds dds = clcook::io::parse_dds(data, size, trailing);
      taken = true;
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
      clcook::testing::keep(sum);
    } catch (const clcook::io::FormatError&) {
    }
  }
  return taken ? clcook::testing::FuzzOutcome::taken : clcook::testing::FuzzOutcome::refused;
}

// Files to start from.
std::vector<std::string> seeds() {
  using clcook::io::DdsDescription;
  using clcook::io::DdsFormat;
  std::vector<std::string> out;
  for (const DdsDescription& what :
       std::vector<DdsDescription>{{DdsFormat::bc6h_uf16, 1, 1, 1, 1, false},
                                   {DdsFormat::bc6h_sf16, 13, 7, 4, 3, false},
                                   {DdsFormat::bc6h_uf16, 16, 16, 5, 2, true},
                                   {DdsFormat::bc6h_sf16, 300, 2, 9, 1, false}}) {
    const auto bytes = static_cast<std::size_t>(clcook::io::dds_layout(what).data_bytes);
    out.push_back(clcook::io::write_dds(what, std::string(bytes, 'b')));
    std::string legacy = out.back().substr(0, 128) + out.back().substr(148);
    legacy.replace(84, 4, "BC6H");
    out.push_back(legacy);
  }
  return out;
}

// Words that a field of the header may hold and that a random change would not find.
const std::vector<std::string> kWords = {std::string("\x00\x00\x00\x00", 4),
                                         std::string("\x01\x00\x00\x00", 4),
                                         std::string("\x5F\x00\x00\x00", 4),
                                         std::string("\x60\x00\x00\x00", 4),
                                         std::string("\x00\x00\x10\x00", 4),
                                         std::string("\x01\x00\x10\x00", 4),
                                         std::string("\xFF\xFF\xFF\xFF", 4),
                                         std::string("\xFF\xFF\xFF\x7F", 4),
                                         std::string("\x00\x00\x00\x80", 4),
                                         std::string("\x00\xFE\x00\x00", 4),
                                         std::string("\x04\x00\x00\x00", 4),
                                         "DX10",
                                         "BC6H",
                                         "DDS ",
                                         "DXT1"};

}  // namespace

CLCOOK_FUZZ_MAIN("the DDS reader", fuzz_one, seeds, kWords, 20000)
