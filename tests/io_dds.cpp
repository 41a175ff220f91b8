// The DDS reader against files of every kind and against files that lie, and the writers of PFM and
// EXR.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <clcook/io/dds.hpp>
#include <clcook/io/exr.hpp>
#include <clcook/io/pfm.hpp>
#include <clcook/registry/random.hpp>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "support/data.hpp"
#include "support/grid.hpp"
#include "support/sha256.hpp"
#include "support/testing.hpp"

namespace {

namespace io = clcook::io;
using clcook::Errc;
using clcook::Error;
using clcook::testing::contains;
using io::Dds;
using io::DdsDescription;
using io::DdsFormat;
using io::DdsTrailing;
using io::FormatError;

// Data in which every block is another.
std::string data_for(const DdsDescription& what) {
  std::string data(static_cast<std::size_t>(io::dds_layout(what).data_bytes), '\0');
  for (std::size_t i = 0; i < data.size(); ++i) {
    data[i] = static_cast<char>(static_cast<unsigned char>((i / 16 >> (i % 4 * 8)) ^ i % 16));
  }
  return data;
}

std::string file_for(const DdsDescription& what) { return io::write_dds(what, data_for(what)); }

// Parses a copy whose end is the end of its memory, so that AddressSanitizer sees a read beyond.
Dds parse_tight(const std::string& file, DdsTrailing trailing = DdsTrailing::refuse) {
  const std::unique_ptr<char[]> copy(new char[file.size()]);
  std::copy(file.begin(), file.end(), copy.get());
  return io::parse_dds(copy.get(), file.size(), trailing);
}

// The message of the Error, or nothing when there is none.
template <class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    CHECK(error.code == Errc::io);
    return error.what();
  }
  return "";
}

std::string message_of(const std::string& file) {
  return message_of([&] { parse_tight(file); });
}

std::uint32_t word_at(const std::string& file, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 4; i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(file[at + i]);
  }
  return value;
}

std::string with_word(std::string file, std::size_t at, std::uint32_t value) {
  for (std::size_t i = 0; i < 4; ++i) {
    file[at + i] = static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
  }
  return file;
}

// Whether all that a layout says agrees with itself and lies within the file: every mip of every
// slice follows the one before, without gap or overlap. Written without the reader's own sums.
bool consistent(const Dds& dds, std::uint64_t file_bytes) {
  if (dds.width == 0 || dds.height == 0 || dds.mips.empty() || dds.array_size == 0) return false;
  if (dds.format != DdsFormat::bc6h_uf16 && dds.format != DdsFormat::bc6h_sf16) return false;
  if (dds.slices != dds.array_size * (dds.cube ? 6ull : 1ull)) return false;
  if (dds.cube && dds.width != dds.height) return false;
  if (dds.slices > file_bytes) return false;  // each has a block
  std::uint64_t at = dds.legacy ? 128 : 148;
  if (dds.data_offset != at) return false;
  // What a writer put behind each slice for the mips that it counted too many.
  std::uint64_t gap = dds.slice_bytes;
  for (const io::DdsLevel& mip : dds.mips) gap -= mip.bytes;
  if (gap % 16 != 0 || gap > 16 * 31 || (gap != 0 && dds.warnings.empty())) return false;
  for (std::uint64_t slice = 0; slice < dds.slices; ++slice) {
    std::uint32_t width = dds.width;
    std::uint32_t height = dds.height;
    for (std::size_t mip = 0; mip < dds.mips.size(); ++mip) {
      const io::DdsLevel level = dds.level(slice, mip);
      const std::uint64_t wide = width / 4 + (width % 4 != 0 ? 1 : 0);
      const std::uint64_t high = height / 4 + (height % 4 != 0 ? 1 : 0);
      if (mip > 0 && dds.mips[mip - 1].width == 1 && dds.mips[mip - 1].height == 1) return false;
      if (level.width != width || level.height != height) return false;
      if (level.blocks_wide != wide || level.blocks_high != high) return false;
      if (level.offset != at || level.bytes != wide * high * 16) return false;
      if (level.row_bytes() != wide * 16) return false;
      at += level.bytes;
      if (at > file_bytes) return false;
      width = width > 1 ? width / 2 : 1;
      height = height > 1 ? height / 2 : 1;
    }
    at += gap;
  }
  return at + dds.trailing_bytes == file_bytes && at == dds.data_offset + dds.data_bytes;
}

// Layouts of every kind.
std::vector<DdsDescription> some() {
  return {{DdsFormat::bc6h_uf16, 1, 1, 1, 1, false},   {DdsFormat::bc6h_sf16, 4, 4, 3, 1, false},
          {DdsFormat::bc6h_sf16, 13, 7, 4, 1, false},  {DdsFormat::bc6h_uf16, 13, 7, 4, 5, false},
          {DdsFormat::bc6h_uf16, 16, 16, 5, 1, true},  {DdsFormat::bc6h_sf16, 9, 9, 2, 3, true},
          {DdsFormat::bc6h_uf16, 1, 300, 9, 2, false}, {DdsFormat::bc6h_sf16, 257, 1, 9, 1, false},
          {DdsFormat::bc6h_sf16, 33, 31, 1, 1, false}};
}

}  // namespace

// ---- Whole files -------------------------------------------------------------------------------

TEST_CASE("what is written is read again: sizes, mips, arrays, cubes") {
  int files = 0;
  for (const std::uint32_t width : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 13u, 16u, 33u}) {
    for (const std::uint32_t height : {1u, 2u, 4u, 5u, 8u, 13u, 31u, 32u}) {
      const std::uint32_t most = io::dds_max_mips(width, height);
      for (std::uint32_t mips = 1; mips <= most; ++mips) {
        for (const std::uint32_t array : {1u, 3u}) {
          for (const bool cube : {false, true}) {
            const DdsDescription what{files % 2 == 0 ? DdsFormat::bc6h_uf16 : DdsFormat::bc6h_sf16,
                                      width,
                                      height,
                                      mips,
                                      array,
                                      cube};
            if (cube && width != height) {
              CHECK(contains(message_of([&] { io::dds_layout(what); }), "square"));
              continue;
            }
            const std::string data = data_for(what);
            const std::string file = io::write_dds(what, data);
            const Dds dds = parse_tight(file);
            CHECK(consistent(dds, file.size()));
            CHECK(dds.format == what.format);
            CHECK(dds.width == width);
            CHECK(dds.height == height);
            CHECK(dds.mips.size() == mips);
            CHECK(dds.array_size == array);
            CHECK(dds.cube == cube);
            CHECK_FALSE(dds.legacy);
            CHECK(file.substr(148) == data);
            ++files;
          }
        }
      }
    }
  }
  MESSAGE(files << " files");
  CHECK(files > 700);
}

TEST_CASE("the header that is written, word by word") {
  const std::string plain = io::dds_header({DdsFormat::bc6h_sf16, 20, 10, 1, 1, false});
  REQUIRE(plain.size() == 148);
  CHECK(plain.substr(0, 4) == "DDS ");
  CHECK(plain.substr(84, 4) == "DX10");
  const std::vector<std::array<std::uint32_t, 2>> words = {
      {4, 124},  {8, 0x81007}, {12, 10}, {16, 20}, {20, 240},     {24, 0},
      {28, 1},   {76, 32},     {80, 4},  {88, 0},  {108, 0x1000}, {112, 0},
      {128, 96}, {132, 3},     {136, 0}, {140, 1}, {144, 3}};
  for (const auto& word : words) {
    CAPTURE(word[0]);
    CHECK(word_at(plain, word[0]) == word[1]);
  }
  const std::string cube = io::dds_header({DdsFormat::bc6h_uf16, 8, 8, 4, 2, true});
  CHECK(word_at(cube, 8) == 0xA1007);
  CHECK(word_at(cube, 28) == 4);
  CHECK(word_at(cube, 108) == 0x401008);
  CHECK(word_at(cube, 112) == 0xFE00);
  CHECK(word_at(cube, 128) == 95);
  CHECK(word_at(cube, 136) == 4);
  CHECK(word_at(cube, 140) == 2);
}

TEST_CASE("where a mip of a cube map in an array lies") {
  // 10 x 10: 9 blocks, 5 x 5: 4 blocks, 2 x 2: 1 block, so 14 blocks for each face.
  const Dds dds = io::dds_layout({DdsFormat::bc6h_uf16, 10, 10, 3, 2, true});
  CHECK(dds.slices == 12);
  CHECK(dds.slice_bytes == 14 * 16);
  CHECK(dds.data_bytes == 12 * 14 * 16);
  CHECK(dds.level(0, 0).offset == 148);
  CHECK(dds.level(0, 2).offset == 148 + 13 * 16);
  CHECK(dds.level(11, 1).offset == 148 + (11 * 14 + 9) * 16);
  CHECK(dds.level(11, 1).width == 5);
  CHECK(dds.level(11, 1).bytes == 64);
  CHECK(contains(message_of([&] { dds.level(12, 0); }), "slice 12, mip 0"));
  CHECK(contains(message_of([&] { dds.level(0, 3); }), "12 slices of 3 mips"));
}

TEST_CASE("a mip count of 0 means one mip, and a wrong linear size, flags or caps do not matter") {
  const std::string file = file_for({DdsFormat::bc6h_uf16, 12, 8, 1, 1, false});
  for (const auto& word : std::vector<std::array<std::uint32_t, 2>>{
           {28, 0}, {20, 0xFFFFFFFF}, {20, 0}, {8, 0}, {24, 1}, {68, 0x3354564E}, {144, 7}}) {
    CAPTURE(word[0]);
    const Dds dds = parse_tight(with_word(file, word[0], word[1]));
    CHECK(consistent(dds, file.size()));
    CHECK(dds.mips.size() == 1);
  }
}

TEST_CASE("the legacy FourCC") {
  const DdsDescription what{DdsFormat::bc6h_uf16, 12, 8, 4, 1, false};
  const auto legacy = [](const std::string& file) {
    return with_word(file.substr(0, 128), 84, 0x48364342) + file.substr(148);
  };
  const std::string file = legacy(file_for(what));
  const Dds dds = parse_tight(file);
  CHECK(dds.legacy);
  CHECK(dds.format == DdsFormat::bc6h_uf16);
  CHECK(dds.level(0, 0).offset == 128);
  CHECK(consistent(dds, file.size()));
  // The shortest file of all ends before a DX10 header would.
  const std::string tiny = legacy(file_for({}));
  CHECK(tiny.size() == 144);
  CHECK(consistent(parse_tight(tiny), tiny.size()));

  const std::string cube = legacy(file_for({DdsFormat::bc6h_uf16, 8, 8, 2, 1, true}));
  CHECK(parse_tight(cube).slices == 6);
  CHECK(consistent(parse_tight(cube), cube.size()));
  CHECK(contains(message_of(with_word(cube, 112, 0x0E00)), "all six faces"));
  CHECK(contains(message_of(with_word(cube, 112, 0xFC00)), "all six faces"));
}

namespace {

// A texture that NVIDIA's tools wrote.
void check_texture(const std::filesystem::path& path, std::uint32_t width, std::uint32_t height) {
  const std::string file = clcook::testing::read_bytes(path);
  const Dds dds = parse_tight(file);
  CHECK(consistent(dds, file.size()));
  CHECK(dds.width == width);
  CHECK(dds.height == height);
  CHECK(dds.format == DdsFormat::bc6h_sf16);
  // Ours differs only in what the other writer put into the reserved words, depth and the like.
  const std::string ours = io::write_dds({DdsFormat::bc6h_sf16, width, height, 1, 1, false},
                                         std::string_view(file).substr(148));
  CHECK(ours.size() == file.size());
  for (std::size_t at = 0; at < 148; at += 4) {
    CAPTURE(at);
    if (at == 24 || (at >= 32 && at < 76)) continue;
    CHECK(word_at(ours, at) == word_at(file, at));
  }
}

}  // namespace

TEST_CASE("textures of another writer") {
  check_texture(clcook::testing::small_data("bc6h/lythwood_room.dds"), 64, 64);
  if (const auto path = clcook::testing::test_data("lythwood_room_1k_bc6h_signed.dds"))
    check_texture(*path, 1024, 512);
}

TEST_CASE("a file too large for memory is read from its head") {
  const DdsDescription what{DdsFormat::bc6h_uf16, 1u << 18, (1u << 18) - 4, 19, 3, false};
  const Dds layout = io::dds_layout(what);
  CHECK(layout.level(0, 0).bytes == 65536ull * 65535 * 16);
  const std::string head = io::dds_header(what);
  CHECK(word_at(head, 20) == 0xFFFFFFFF);
  const std::uint64_t size = 148 + layout.data_bytes;
  const Dds dds = io::parse_dds(head, size);
  CHECK(consistent(dds, size));
  CHECK(contains(message_of([&] { io::parse_dds(head, size - 1); }), "cut off"));
  CHECK(contains(message_of([&] { io::parse_dds(head, size + 1, DdsTrailing::refuse); }),
                 "left over"));
  CHECK(io::parse_dds(head, size + 1).trailing_bytes == 1);
  CHECK(contains(message_of([&] { io::parse_dds(head.substr(0, 147), size); }),
                 "147 bytes are too few"));
  CHECK(contains(message_of([&] { io::parse_dds(head, 140); }), "140 bytes are too few"));
}

// ---- Files that lie ----------------------------------------------------------------------------

TEST_CASE("each rule has its message") {
  const std::string file = file_for({DdsFormat::bc6h_uf16, 16, 8, 2, 2, false});
  struct Lie {
    std::size_t at;
    std::uint32_t value;
    const char* part;
  };
  const Lie lies[] = {
      {0, 0x47504A89, "magic number is \".JPG\" (0x47504A89)"},
      {4, 120, "size of the header is 120; must be 124"},
      {12, 0, "width x height is 16 x 0; each must be 1 .. 1048576"},
      {16, 0, "width x height is 0 x 8"},
      {12, 0xFFFFFFFF, "width x height is 16 x 4294967295; each must be"},
      {16, (1u << 20) + 1, "width x height is 1048577 x 8"},
      {16, 20, "cut off: 2 slices of 2 mips of 20 x 8 texels end at byte"},
      {12, 4, "left over"},
      {24, 2, "depth is 2"},
      {28, 6, "cut off"},
      {28, 37, "mipMapCount is 37; 16 x 8 texels have 1 .. 5"},
      {28, 0xFFFFFFFF, "mipMapCount is 4294967295"},
      {28, 1, "left over"},
      {28, 3, "cut off"},
      {76, 24, "size of ddspf is 24; must be 32"},
      {80, 0x40, "flags of ddspf are 0x00000040"},
      {84, 0x31545844, "fourCC is \"DXT1\" (0x31545844)"},
      {112, 0x200000, "volume"},
      {128, 94, "dxgiFormat is 94 (BC6H_TYPELESS"},
      {128, 98, "dxgiFormat is 98; only 95 (BC6H_UF16) and 96 (BC6H_SF16)"},
      {128, 0, "dxgiFormat is 0;"},
      {132, 2, "resourceDimension is 2"},
      {132, 4, "resourceDimension is 4"},
      {136, 4, "cube map are square"},
      {140, 0, "left over"},
      {140, 1, "left over"},
      {140, 0xFFFFFFFF, "4294967295 slices of 2 mips"},
  };
  for (const Lie& lie : lies) {
    const std::string message = message_of(with_word(file, lie.at, lie.value));
    CAPTURE(message);
    CAPTURE(lie.part);
    CHECK(contains(message, "DDS: "));
    CHECK(contains(message, lie.part));
  }
  CHECK(message_of(file).empty());
}

TEST_CASE("sums beyond 32 and 64 bits are refused before anything is computed with them") {
  // 2^18 x 2^18 texels are exactly 2^32 blocks.
  CHECK(contains(message_of([] {
                   io::dds_layout({DdsFormat::bc6h_uf16, 1u << 18, 1u << 18, 1, 1, false});
                 }),
                 "4294967296 blocks"));
  CHECK(contains(message_of([] {
                   io::dds_layout({DdsFormat::bc6h_uf16, 1u << 20, 1u << 20, 1, 1, false});
                 }),
                 "68719476736 blocks"));
  const DdsDescription large{DdsFormat::bc6h_uf16, 1u << 18, (1u << 18) - 4, 1, 0xFFFFFFFF, false};
  CHECK(contains(message_of([&] { io::dds_layout(large); }), "2^63"));
  DdsDescription cubes = large;
  cubes.height = cubes.width = (1u << 18) - 4;
  cubes.cube = true;
  cubes.array_size = 22369621;
  CHECK(io::dds_layout(cubes).data_bytes == 6ull * 22369621 * 65535 * 65535 * 16);
  cubes.array_size = 22370305;
  CHECK(contains(message_of([&] { io::dds_layout(cubes); }), "2^63"));
  CHECK(contains(message_of([] {
                   io::dds_layout({static_cast<DdsFormat>(71), 4, 4, 1, 1, false});
                 }),
                 "dxgiFormat is 71"));
  CHECK(contains(message_of([] { io::write_dds({}, std::string(15, 'x')); }), "15 bytes given"));
}

TEST_CASE("bytes after the last mip") {
  const std::string file = file_for({DdsFormat::bc6h_uf16, 5, 5, 3, 1, false});
  CHECK(contains(message_of(file + "x"), "left over"));
  const Dds dds = parse_tight(file + "xyz", DdsTrailing::allow);
  CHECK(dds.trailing_bytes == 3);
  CHECK(consistent(dds, file.size() + 3));
  CHECK(dds.warnings.size() == 1);
  CHECK(contains(dds.warnings.at(0), "bytes are left over: 1 slices of 3 mips"));
  // By default they are no error.
  CHECK(io::parse_dds(file + "xyz").trailing_bytes == 3);
  CHECK(io::parse_dds(file).warnings.empty());
  // Of several slices the length must not say that there are other mips.
  const std::string slices = file_for({DdsFormat::bc6h_uf16, 16, 8, 3, 2, false});
  CHECK(parse_tight(slices + "x", DdsTrailing::allow).trailing_bytes == 1);
  for (std::uint32_t mips = 1; mips < 3; ++mips) {
    const std::string fewer = with_word(slices, 28, mips);
    CHECK(contains(message_of([&] { parse_tight(fewer, DdsTrailing::allow); }),
                   "as if mipMapCount were 3"));
  }
}

TEST_CASE("files cut off at every byte: of one slice the whole mips are taken") {
  for (const DdsDescription& what : some()) {
    const std::string file = file_for(what);
    const Dds whole = io::dds_layout(what);
    for (std::size_t size = 0; size < file.size(); ++size) {
      CAPTURE(size);
      const std::string cut = file.substr(0, size);
      std::size_t mips = 0;
      std::uint64_t end = 148;
      while (whole.slices == 1 && mips < whole.mips.size() && end + whole.mips[mips].bytes <= size)
        end += whole.mips[mips++].bytes;
      if (mips == 0) {
        const std::string message = message_of(cut);
        if (!contains(message, size < 148 ? "too few" : "cut off")) FAIL_CHECK(message);
        CHECK_THROWS_AS(parse_tight(cut, DdsTrailing::allow), FormatError);
        continue;
      }
      const Dds dds = parse_tight(cut, DdsTrailing::allow);
      CHECK(dds.mips.size() == mips);
      CHECK(dds.trailing_bytes == size - end);
      CHECK(consistent(dds, size));
      CHECK(dds.warnings.size() == 1);
      CHECK(contains(dds.warnings.at(0), "small mips are missing"));
      CHECK(contains(message_of([&] { dds.level(0, mips); }), "asked for"));
      CHECK(message_of(cut).empty() == (size == end));
    }
  }
}

namespace {

// The file is taken with one warning and has this layout.
void taken_with(const std::string& file, const std::string& warning, const DdsDescription& what) {
  CAPTURE(warning);
  const Dds dds = parse_tight(file);
  CHECK(consistent(dds, file.size()));
  CHECK(dds.array_size == what.array_size);
  CHECK(dds.cube == what.cube);
  CHECK(dds.mips.size() == what.mips);
  CHECK(dds.trailing_bytes == 0);
  CHECK(dds.warnings.size() == 1);
  for (const std::string& one : dds.warnings) CHECK(contains(one, warning));
}

}  // namespace

TEST_CASE("slips of writers are taken with a warning where the length leaves one reading") {
  for (const std::uint32_t cubes : {1u, 2u, 5u}) {
    for (const std::uint32_t mips : {1u, 4u}) {
      const DdsDescription what{DdsFormat::bc6h_uf16, 8, 8, mips, cubes, true};
      const std::string file = file_for(what);
      taken_with(with_word(file, 140, 6 * cubes),
                 "arraySize is " + std::to_string(6 * cubes) + " and counts the faces", what);
      // One byte more or less, and nobody knows.
      CHECK(contains(message_of(with_word(file, 140, 6 * cubes) + "x"), "cut off"));
      CHECK(contains(message_of(with_word(file, 140, 6 * cubes).substr(0, file.size() - 1)),
                     "cut off"));
      CHECK(contains(message_of(with_word(file, 140, 6 * cubes + 1)), "cut off"));
    }
  }
  // Six cubes that are there are six cubes.
  const DdsDescription six{DdsFormat::bc6h_uf16, 8, 8, 4, 6, true};
  CHECK(parse_tight(file_for(six)).slices == 36);
  CHECK(parse_tight(file_for(six)).warnings.empty());

  for (const DdsDescription& what : some()) {
    const std::string file = file_for(what);
    taken_with(with_word(file, 132, 0), "resourceDimension is 0", what);
    if (what.array_size == 1) taken_with(with_word(file, 140, 0), "arraySize is 0", what);
    // More mips than there are, with and without a block for each.
    DdsDescription all = what;
    all.mips = io::dds_max_mips(what.width, what.height);
    const std::string chain = file_for(all);
    const Dds layout = io::dds_layout(all);
    for (const std::uint32_t surplus : {1u, 2u, 31u}) {
      const std::string message = "mipMapCount is " + std::to_string(all.mips + surplus);
      taken_with(with_word(chain, 28, all.mips + surplus), message, all);
      std::string spread = chain.substr(0, 148);
      for (std::uint64_t slice = 0; slice < layout.slices; ++slice) {
        spread += chain.substr(static_cast<std::size_t>(148 + slice * layout.slice_bytes),
                               static_cast<std::size_t>(layout.slice_bytes));
        spread.append(16 * std::size_t{surplus}, '\xEE');
      }
      taken_with(with_word(spread, 28, all.mips + surplus), message, all);
      const Dds dds = parse_tight(with_word(spread, 28, all.mips + surplus));
      for (std::uint64_t slice = 0; slice < layout.slices; ++slice) {
        const auto from = static_cast<std::size_t>(dds.level(slice, 0).offset);
        const auto was = static_cast<std::size_t>(layout.level(slice, 0).offset);
        const auto bytes = static_cast<std::size_t>(layout.slice_bytes);
        CHECK(spread.compare(from, bytes, chain, was, bytes) == 0);
      }
    }
    CHECK(contains(message_of(with_word(chain, 28, all.mips + 32)), "mipMapCount is"));
    CHECK(contains(message_of(with_word(chain, 28, 0xFFFFFFFF)), "mipMapCount is 4294967295"));
  }
  // The older form has no array, and the same mips.
  const std::string modern = file_for({DdsFormat::bc6h_uf16, 12, 8, 4, 1, false});
  const std::string older = with_word(modern.substr(0, 128), 84, 0x48364342) + modern.substr(148);
  const Dds dds = parse_tight(with_word(older, 28, 5));
  CHECK(dds.legacy);
  CHECK(dds.mips.size() == 4);
  CHECK(dds.warnings.size() == 1);
}

LONG_TEST_CASE("every value of every header byte gives an error or a layout that fits the file",
               16) {
  int refused = 0;
  int taken = 0;
  for (const DdsDescription& what : some()) {
    const std::string file = file_for(what);
    for (std::size_t at = 0; at < 148; ++at) {
      for (int value = 0; value < 256; ++value) {
        std::string changed = file;
        changed[at] = static_cast<char>(static_cast<unsigned char>(value));
        for (const DdsTrailing trailing : {DdsTrailing::refuse, DdsTrailing::allow}) {
          try {
            const Dds dds = parse_tight(changed, trailing);
            ++taken;
            if (!consistent(dds, changed.size())) FAIL_CHECK("byte " << at << " = " << value);
          } catch (const FormatError&) {
            ++refused;
          }
        }
      }
    }
  }
  MESSAGE(refused << " refused, " << taken << " taken");
  CHECK(refused > 100000);
  CHECK(taken > 100000);
}

LONG_TEST_CASE("200000 files with random damage", 16) {
  clcook::Random random(7);
  std::vector<std::string> files;
  for (const DdsDescription& what : some()) files.push_back(file_for(what));
  constexpr std::size_t kFields[] = {0,  4,  8,   12,  16,  20,  24,  28,  76,
                                     80, 84, 108, 112, 128, 132, 136, 140, 144};
  constexpr std::uint32_t kValues[] = {0,          1,          2,          3,          4,
                                       5,          6,          16,         32,         95,
                                       96,         124,        0x10000,    0x40000,    0x100000,
                                       0x100001,   0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x20534444,
                                       0x30315844, 0x48364342, 0xFE00,     0x3FFFFFFF, 0x10000000};
  int taken = 0;
  std::string changed;
  for (int i = 0; i < 200000; ++i) {
    const std::string& file = files[random.below(files.size())];
    changed = file;
    for (std::uint64_t n = 1 + random.below(4); n > 0; --n) {
      switch (random.below(6)) {
        case 0:  // one bit
          if (!changed.empty()) {
            const std::size_t at = random.below(std::min<std::size_t>(changed.size(), 148));
            changed[at] = static_cast<char>(changed[at] ^ (1 << random.below(8)));
          }
          break;
        case 1:
        case 2: {  // one field
          const std::size_t at = kFields[random.below(std::size(kFields))];
          const std::uint32_t value =
              random.below(4) == 0 ? random.bits32() : kValues[random.below(std::size(kValues))];
          if (at + 4 <= changed.size()) changed = with_word(std::move(changed), at, value);
          break;
        }
        case 3:  // a cut
          changed.resize(random.below(changed.size() + 1));
          break;
        case 4:  // more bytes
          changed.append(random.below(64), static_cast<char>(random.below(128)));
          break;
        default: {  // a size that may fit, so that more files are taken
          constexpr std::size_t kSizes[] = {12, 16, 28, 140};
          const std::size_t at = kSizes[random.below(4)];
          if (at + 4 <= changed.size()) {
            changed =
                with_word(std::move(changed), at, static_cast<std::uint32_t>(random.below(20)));
          }
        }
      }
    }
    const DdsTrailing trailing = random.below(2) == 0 ? DdsTrailing::refuse : DdsTrailing::allow;
    try {
      const Dds dds = parse_tight(changed, trailing);
      ++taken;
      if (!consistent(dds, changed.size())) FAIL_CHECK("file " << i);
      if (trailing == DdsTrailing::refuse && dds.trailing_bytes != 0) FAIL_CHECK("file " << i);
    } catch (const FormatError& error) {
      if (!contains(error.what(), "DDS: ")) FAIL_CHECK("file " << i << ": " << error.what());
    }
  }
  MESSAGE(taken << " taken");
  CHECK(taken > 1000);
}

// ---- PFM ---------------------------------------------------------------------------------------

TEST_CASE("a PFM picture, byte by byte") {
  const std::vector<float> rgb = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, -12};
  std::ostringstream out;
  io::write_pfm(out, rgb.data(), 2, 2);
  const std::string header = "PF\n2 2\n-1.0\n";
  const std::string file = out.str();
  REQUIRE(file.size() == header.size() + 48);
  CHECK(file.substr(0, header.size()) == header);
  const float rows[] = {7, 8, 9, 10, 11, -12, 1, 2, 3, 4, 5, 6};  // the lowest first
  for (std::size_t i = 0; i < 12; ++i) {
    const std::uint32_t bits = word_at(file, header.size() + 4 * i);
    float value = 0;
    std::memcpy(&value, &bits, 4);
    CHECK(value == rows[i]);
  }
  CHECK(file.substr(file.size() - 24, 4) == std::string("\x00\x00\x80\x3f", 4));

  const std::vector<float> rgba = {1, 2, 3, 9, 4, 5, 6, 9, 7, 8, 9, 9, 10, 11, -12, 9};
  std::ostringstream again;
  io::write_pfm(again, rgba.data(), 2, 2, 4);
  CHECK(again.str() == file);
}

TEST_CASE("PFM pictures that cannot be written") {
  const float texel[4] = {};
  std::ostringstream out;
  CHECK(contains(message_of([&] { io::write_pfm(out, texel, 0, 1); }), "0 x 1"));
  CHECK(contains(message_of([&] { io::write_pfm(out, texel, 1, 1, 2); }), "2 channels"));
  CHECK(out.str().empty());
  out.setstate(std::ios::badbit);
  CHECK(contains(message_of([&] { io::write_pfm(out, texel, 1, 1); }), "the stream"));
}

TEST_CASE("a PFM picture in strips is the picture") {
  std::vector<float> rgb(7 * 11 * 3);
  for (std::size_t i = 0; i < rgb.size(); ++i) rgb[i] = static_cast<float>(i);
  std::ostringstream whole;
  io::write_pfm(whole, rgb.data(), 7, 11);
  std::ostringstream strips;
  strips << io::pfm_header(7, 11);
  for (const std::size_t first : {std::size_t{8}, std::size_t{4}, std::size_t{0}}) {
    io::write_pfm_rows(strips, rgb.data() + first * 21, 7, std::min<std::size_t>(4, 11 - first));
  }
  CHECK(strips.str() == whole.str());
}

// ---- EXR ---------------------------------------------------------------------------------------

namespace {

// An EXR file of uncompressed scan lines, taken apart by the format's description.
struct Exr {
  std::map<std::string, std::string> types;
  std::map<std::string, std::string> attributes;
  std::vector<std::uint64_t> places;
};

Exr take_apart(const std::string& file, std::size_t lines) {
  Exr exr;
  REQUIRE(file.size() > 8);
  CHECK(word_at(file, 0) == 0x01312F76);
  CHECK(word_at(file, 4) == 2);
  std::size_t at = 8;
  const auto name = [&] {
    const std::size_t end = file.find('\0', at);
    REQUIRE(end != std::string::npos);
    const std::string out = file.substr(at, end - at);
    at = end + 1;
    return out;
  };
  for (std::string key = name(); !key.empty(); key = name()) {
    exr.types[key] = name();
    const std::size_t size = word_at(file, at);
    REQUIRE(at + 4 + size < file.size());
    exr.attributes[key] = file.substr(at + 4, size);
    at += 4 + size;
  }
  REQUIRE(at + lines * 8 <= file.size());
  for (std::size_t y = 0; y < lines; ++y, at += 8) {
    exr.places.push_back(word_at(file, at) | std::uint64_t{word_at(file, at + 4)} << 32);
  }
  CHECK(exr.places[0] == at);
  return exr;
}

}  // namespace

TEST_CASE("an EXR picture, by the format's description") {
  std::vector<std::uint16_t> rgba;
  for (int i = 0; i < 5 * 3 * 4; ++i) rgba.push_back(static_cast<std::uint16_t>(0x3C00 + 257 * i));
  std::ostringstream out;
  io::write_exr(out, rgba.data(), 5, 3, io::ExrTexel::rgba16f);
  const std::string file = out.str();
  const Exr exr = take_apart(file, 3);
  // The attributes that every file must have, with their types.
  const std::map<std::string, std::string> types = {
      {"channels", "chlist"},        {"compression", "compression"}, {"dataWindow", "box2i"},
      {"displayWindow", "box2i"},    {"lineOrder", "lineOrder"},     {"pixelAspectRatio", "float"},
      {"screenWindowCenter", "v2f"}, {"screenWindowWidth", "float"}};
  CHECK(exr.types == types);
  const std::string& window = exr.attributes.at("dataWindow");
  REQUIRE(window.size() == 16);
  CHECK(word_at(window, 8) == 4);
  CHECK(word_at(window, 12) == 2);
  CHECK(exr.attributes.at("displayWindow") == window);
  CHECK(exr.attributes.at("compression") == std::string(1, '\0'));
  const std::string& channels = exr.attributes.at("channels");
  REQUIRE(channels.size() == 4 * 18 + 1);
  for (std::size_t c = 0; c < 4; ++c) {
    CHECK(channels.substr(18 * c, 2) == std::string{"ABGR"[c], '\0'});
    CHECK(word_at(channels, 18 * c + 2) == 1);
    CHECK(word_at(channels, 18 * c + 10) == 1);
    CHECK(word_at(channels, 18 * c + 14) == 1);
  }
  const std::size_t line = 8 + 5 * 8;
  CHECK(file.size() == exr.places[0] + 3 * line);
  for (std::size_t y = 0; y < 3; ++y) {
    const std::size_t at = exr.places[0] + y * line;
    CHECK(exr.places[y] == at);
    CHECK(word_at(file, at) == y);
    CHECK(word_at(file, at + 4) == 40);
    for (std::size_t c = 0; c < 4; ++c) {
      for (std::size_t x = 0; x < 5; ++x) {
        std::uint16_t half = 0;
        std::memcpy(&half, file.data() + at + 8 + (c * 5 + x) * 2, 2);
        CHECK(half == rgba[(y * 5 + x) * 4 + 3 - c]);
      }
    }
  }

  // In strips, and as floats.
  std::ostringstream strips;
  strips << io::exr_header(5, 3, io::ExrTexel::rgba16f);
  io::write_exr_lines(strips, rgba.data(), 5, 0, 2, io::ExrTexel::rgba16f);
  io::write_exr_lines(strips, rgba.data() + 40, 5, 2, 1, io::ExrTexel::rgba16f);
  CHECK(strips.str() == file);
  const float floats[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  std::ostringstream wide;
  io::write_exr(wide, floats, 2, 1, io::ExrTexel::rgba32f);
  const std::string values = wide.str().substr(wide.str().size() - 32);
  const float lines[8] = {4, 8, 3, 7, 2, 6, 1, 5};
  CHECK(std::memcmp(values.data(), lines, 32) == 0);
}

TEST_CASE("an independent reader takes our EXR pictures") {
  const std::string kReader = "/usr/bin/exrmakepreview";
  if (!std::filesystem::exists(kReader)) {
    MESSAGE("SKIPPED: there is no ", kReader, " (Debian package openexr)");
    return;
  }
  const clcook::testing::TempFolder folder;
  for (const io::ExrTexel texel : {io::ExrTexel::rgba16f, io::ExrTexel::rgba32f}) {
    const std::vector<unsigned char> texels(19 * 7 * 16, 0x3C);
    std::ostringstream out;
    io::write_exr(out, texels.data(), 19, 7, texel);
    const std::string in = (folder / "in.exr").string();
    clcook::testing::write_bytes(in, out.str());
    const auto ran = clcook::testing::run_program({kReader, in, (folder / "preview.exr").string()});
    CHECK_MESSAGE(ran.code == 0, ran.err);
    CHECK(std::filesystem::exists(folder / "preview.exr"));
  }
}

TEST_CASE("EXR pictures that cannot be written") {
  const std::uint16_t texel[4] = {};
  std::ostringstream out;
  CHECK(contains(message_of([&] { io::write_exr(out, texel, 0, 1, io::ExrTexel::rgba16f); }),
                 "width x height is 0 x 1; each must be 1 .. 67108863"));
  CHECK(contains(message_of([&] { io::exr_header(1, 1u << 26, io::ExrTexel::rgba16f); }),
                 "1 x 67108864"));
  CHECK(out.str().empty());
  out.setstate(std::ios::badbit);
  CHECK(contains(message_of([&] { io::write_exr(out, texel, 1, 1, io::ExrTexel::rgba16f); }),
                 "the stream"));
}

TEST_CASE("SHA-256 of the standard's examples") {
  using clcook::testing::sha256;
  CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}
