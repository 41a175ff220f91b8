// BC6H on the device: golden vectors, a real texture, every mode and partition, the edges,
// refusals, and the example program with files that lie.
#include <doctest/doctest.h>

#include <algorithm>
#include <clcook/bc6h_decode.hpp>
#include <clcook/cookbook/bc6h_decode.hpp>
#include <clcook/io/dds.hpp>
#include <clcook/reference/bc6h_decode.hpp>
#include <clcook/reference/bc6h_encode.hpp>
#include <clcook/registry/random.hpp>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "support/data.hpp"
#include "support/grid.hpp"
#include "support/images.hpp"
#include "support/sha256.hpp"
#include "support/testing.hpp"

namespace {

namespace ref = clcook::reference::bc6h;
using namespace clcook;
using namespace clcook::testing;
using Format = Bc6hDecode::Format;
using Problem = Bc6hDecode::Problem;
using Texel = Bc6hDecode::Texel;
using Variant = Bc6hDecode::Variant;

constexpr Format kFormats[] = {Format::unsigned_float, Format::signed_float};

ref::Format reference_format(Format format) {
  return format == Format::signed_float ? ref::Format::sf16 : ref::Format::uf16;
}

// The halfs RGBA, or the bits of the floats, that a variant decodes to.
template <class T>
std::vector<T> decode(const std::vector<unsigned char>& blocks, const Problem& problem,
                      Variant variant) {
  const Bc6hDecode plan(runtime(), problem, variant);
  const std::size_t bytes = Bc6hDecode::texture_bytes(problem);
  const std::vector<unsigned char> poison(bytes, 0xCD);
  const cl::Buffer texels =
      clcook::create_buffer(runtime(), bytes, CL_MEM_READ_WRITE, poison.data());
  const cl::Event done = plan(upload(blocks), texels);
  return read_buffer<T>(runtime(), texels, bytes / sizeof(T), {done});
}

std::vector<std::uint16_t> halfs(const std::vector<unsigned char>& blocks, Problem problem,
                                 Variant variant) {
  problem.texel = Texel::rgba16f;
  return decode<std::uint16_t>(blocks, problem, variant);
}

std::vector<std::uint16_t> expected(const std::vector<unsigned char>& blocks,
                                    const Problem& problem) {
  return ref::to_rgba(ref::decode_image(
      blocks.data(), blocks.size(), static_cast<std::size_t>(problem.width),
      static_cast<std::size_t>(problem.height), reference_format(problem.format)));
}

void append(std::vector<unsigned char>& blocks, const ref::Block& block) {
  blocks.insert(blocks.end(), block.begin(), block.end());
}

// Blocks side by side in one row of blocks, decoded by every variant as both formats.
void check_blocks(const std::vector<unsigned char>& blocks) {
  for (const Format format : kFormats) {
    const Problem problem{static_cast<int>(blocks.size() / 16 * 4), 4, format, Texel::rgba16f};
    const std::vector<std::uint16_t> want = expected(blocks, problem);
    for (const Variant variant : Bc6hDecode::variants()) {
      CAPTURE(variant.name());
      CAPTURE(static_cast<int>(format));
      const std::vector<std::uint16_t> got = halfs(blocks, problem, variant);
      const auto bad = std::mismatch(want.begin(), want.end(), got.begin());
      if (bad.first == want.end()) continue;
      const auto at = static_cast<std::size_t>(bad.first - want.begin());
      const std::size_t texel = at / 4 % static_cast<std::size_t>(problem.width);
      FAIL_CHECK("block " << texel / 4 << " of mode "
                          << ref::mode_of(blocks.data() + texel / 4 * 16) << ": expected "
                          << *bad.first << ", got " << *bad.second);
    }
  }
}

std::string small_file(const char* name) { return read_bytes(small_data(name)); }

// The content of a larger file of real inputs, which need not be there.
std::optional<std::string> data_file(const char* name) {
  const auto path = test_data(name);
  if (!path) return std::nullopt;
  return read_bytes(*path);
}

ref::Block random_block(clcook::Random& random, int code, int code_bits) {
  ref::Block block = {};
  for (unsigned char& byte : block) byte = static_cast<unsigned char>(random.below(256));
  block[0] = static_cast<unsigned char>((block[0] & ~((1 << code_bits) - 1)) | code);
  return block;
}

constexpr PlanRefused<Bc6hDecode> refused;

}  // namespace

// ---- Right -------------------------------------------------------------------------------------

namespace {

void check_golden_blocks(const std::string& text, std::size_t number) {
  std::istringstream lines(text);
  std::string line;
  std::vector<unsigned char> blocks[2];
  std::vector<std::uint16_t> want[2];
  const auto nibble = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  while (std::getline(lines, line)) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream cells(line);
    std::string tag;
    std::string format;
    std::string block;
    std::string texels;
    cells >> tag >> format >> block >> texels;
    REQUIRE((block.size() == 32 && texels.size() == 192));
    const std::size_t one = format == "S" ? 1 : 0;
    for (std::size_t i = 0; i < 32; i += 2) {
      blocks[one].push_back(
          static_cast<unsigned char>(nibble(block[i]) << 4 | nibble(block[i + 1])));
    }
    for (std::size_t i = 0; i < 192; i += 4) {
      want[one].push_back(static_cast<std::uint16_t>(std::stoi(texels.substr(i, 4), nullptr, 16)));
    }
  }
  CHECK(blocks[0].size() + blocks[1].size() == number * 16);
  for (const Format format : kFormats) {
    const std::size_t one = format == Format::signed_float ? 1 : 0;
    const std::size_t count = blocks[one].size() / 16;
    // One above the other: block n has the texels 16 n to 16 n + 15 of the result.
    const Problem problem{4, static_cast<int>(4 * count), format, Texel::rgba16f};
    for (const Variant variant : Bc6hDecode::variants()) {
      CAPTURE(variant.name());
      CHECK(halfs(blocks[one], problem, variant) == ref::to_rgba(want[one]));
    }
  }
}

void check_texture(const std::string& file, const char* digest) {
  const clcook::io::Dds dds = clcook::io::parse_dds(file);
  const clcook::io::DdsLevel level = dds.level(0, 0);
  const auto begin = file.begin() + static_cast<std::ptrdiff_t>(level.offset);
  const std::vector<unsigned char> blocks(begin, begin + static_cast<std::ptrdiff_t>(level.bytes));
  const Problem problem{static_cast<int>(dds.width), static_cast<int>(dds.height),
                        Format::signed_float, Texel::rgba16f};
  for (const Variant variant : Bc6hDecode::variants()) {
    CAPTURE(variant.name());
    const std::vector<std::uint16_t> rgba = halfs(blocks, problem, variant);
    std::string rgb;
    std::size_t opaque = 0;
    for (std::size_t i = 0; i < rgba.size(); ++i) {
      if (i % 4 == 3) {
        if (rgba[i] == ref::kHalfOne) ++opaque;
        continue;
      }
      rgb += static_cast<char>(static_cast<unsigned char>(rgba[i] & 255));
      rgb += static_cast<char>(static_cast<unsigned char>(rgba[i] >> 8));
    }
    CHECK(sha256(rgb) == digest);
    CHECK(opaque == dds.width * dds.height);

    Problem as_float = problem;
    as_float.texel = Texel::rgba32f;
    const std::vector<float> floats = decode<float>(blocks, as_float, variant);
    CHECK(floats == ref::to_float(rgba));
  }
}

}  // namespace

LONG_TEST_CASE("golden blocks of every mode and partition, on every variant", 16) {
  check_golden_blocks(small_file("bc6h/blocks.txt"), 114);
}

LONG_TEST_CASE("all golden blocks on every variant", 16) {
  if (const auto file = data_file("bc6h_vectors.txt")) check_golden_blocks(*file, 220);
}

LONG_TEST_CASE("a piece of a real texture on every variant, as half and as float", 16) {
  check_texture(small_file("bc6h/lythwood_room.dds"),
                "06d9ea43f73b652c2fbc9efb20cc792697a612fe032d2e3d89abeff801c27a46");
}

LONG_TEST_CASE("the real texture on every variant, as half and as float", 16) {
  if (const auto file = data_file("lythwood_room_1k_bc6h_signed.dds"))
    check_texture(*file, "ead6c402eb4ccf8c8d0f7ad65e4881925240a9345f5ab145d530fc8a596285e1");
}

TEST_CASE("every mode with every partition, signed and unsigned, and all reserved codes") {
  clcook::Random random(3);
  std::vector<unsigned char> blocks;
  for (const ref::Mode& mode : ref::kMode) {
    for (int partition = 0; partition < 32; ++partition) {
      for (int i = 0; i < 4; ++i) {
        ref::Block block = random_block(random, mode.code, mode.code_bits);
        block[9] = static_cast<unsigned char>((block[9] & 0x1F) | (partition << 5 & 0xE0));
        block[10] = static_cast<unsigned char>((block[10] & 0xFC) | partition >> 3);
        append(blocks, block);
      }
    }
  }
  for (const int code : {0x13, 0x17, 0x1B, 0x1F}) {
    for (int i = 0; i < 5; ++i) append(blocks, random_block(random, code, 5));
  }
  // Modes 0 and 1 whatever the three bits above their code are.
  for (int code = 0; code < 32; ++code) append(blocks, random_block(random, code, 5));
  check_blocks(blocks);
}

TEST_CASE("endpoints at their limits: all ones, only the sign, alternating bits, nothing") {
  std::vector<unsigned char> blocks;
  clcook::Random random(4);
  for (const ref::Mode& mode : ref::kMode) {
    for (int pattern = 0; pattern < 64; ++pattern) {
      ref::Parts parts;
      parts.mode = static_cast<int>(&mode - ref::kMode);
      parts.partition = static_cast<int>(random.below(32));
      for (std::size_t f = 0; f < ref::kFields; ++f) {
        const int width = f < 3 ? mode.precision : mode.delta[f % 3];
        const int ones = (1 << width) - 1;
        const int choices[] = {0,
                               1,
                               ones,
                               ones >> 1,
                               1 << (width - 1),
                               (1 << (width - 1)) + 1,
                               0x5555 & ones,
                               0xAAAA & ones};
        parts.fields[f] = choices[random.below(8)];
      }
      for (int& index : parts.indices) {
        index = random.below(2) == 0 ? 0 : (1 << ref::index_bits(mode)) - 1;
      }
      append(blocks, ref::pack(parts));
    }
  }
  // One bit set, and all but one.
  for (std::size_t bit = 0; bit < 128; ++bit) {
    ref::Block block = {};
    block[bit / 8] = static_cast<unsigned char>(1 << bit % 8);
    append(blocks, block);
    for (unsigned char& byte : block) byte = static_cast<unsigned char>(~byte);
    append(blocks, block);
  }
  check_blocks(blocks);
}

LONG_TEST_CASE("-Inf is possible, in half and in float", 16) {
  // Mode 13, every endpoint -32768: only bit 15 of rw, gw and bw is set, at 39, 49 and 59.
  ref::Parts parts;
  parts.mode = 13;
  parts.fields[ref::rw] = parts.fields[ref::gw] = parts.fields[ref::bw] = 0x8000;
  const ref::Block block = ref::pack(parts);
  const std::vector<unsigned char> blocks(block.begin(), block.end());
  for (const Variant variant : Bc6hDecode::variants()) {
    CAPTURE(variant.name());
    Problem problem{4, 4, Format::signed_float, Texel::rgba16f};
    const std::vector<std::uint16_t> want = expected(blocks, problem);
    CHECK(want[0] == 0xFC00);
    CHECK(halfs(blocks, problem, variant) == want);
    problem.texel = Texel::rgba32f;
    CHECK(decode<float>(blocks, problem, variant) == ref::to_float(want));
    problem.format = Format::unsigned_float;
    CHECK(decode<float>(blocks, problem, variant) == ref::to_float(expected(blocks, problem)));
  }
}

LONG_TEST_CASE("every half that a texture can hold becomes its float", 16) {
  // Mode 13 without differences stores any 16 bits.
  std::vector<unsigned char> blocks;
  for (int value = 0; value < 1 << 16; value += 4) {
    ref::Parts parts;
    parts.mode = 13;
    parts.fields[ref::rw] = value;
    parts.fields[ref::gw] = value + 1;
    parts.fields[ref::bw] = value + 2;
    append(blocks, ref::pack(parts));
  }
  for (const Format format : kFormats) {
    const Problem problem{4 * 128, 4 * 128, format, Texel::rgba32f};
    const std::vector<float> want = ref::to_float(expected(blocks, problem));
    for (const Variant variant : Bc6hDecode::variants()) {
      CAPTURE(variant.name());
      CHECK(decode<float>(blocks, problem, variant) == want);
    }
  }
}

TEST_CASE("a texture in strips is the texture") {
  clcook::Random random(5);
  const Problem whole{101, 75, Format::unsigned_float, Texel::rgba16f};
  std::vector<unsigned char> blocks;
  for (int i = 0; i < 26 * 19; ++i) {
    append(blocks, random_block(random, ref::kMode[random.below(14)].code, 5));
  }
  const std::vector<std::uint16_t> want = expected(blocks, whole);
  const cl::Buffer src = upload(blocks);
  const std::size_t row = 101 * 8;
  const cl::Buffer dst = clcook::create_buffer(runtime(), 75 * row);
  std::vector<cl::Event> done;
  for (int y = 0; y < 75; y += 20) {
    Problem strip = whole;
    strip.height = std::min(20, 75 - y);
    const Bc6hDecode plan(runtime(), strip);
    const auto top = static_cast<std::size_t>(y);
    done.push_back(plan(BufferView(src, top / 4 * Bc6hDecode::blocks_wide(101) * 16),
                        BufferView(dst, top * row)));
  }
  CHECK(read_buffer<std::uint16_t>(runtime(), dst, want.size(), done) == want);
}

TEST_CASE("by_strips decodes a texture in host memory, whatever the strips and pitches") {
  clcook::Random random(15);
  for (const Texel texel : {Texel::rgba16f, Texel::rgba32f}) {
    const Problem whole{53, 39, Format::signed_float, texel};
    std::vector<unsigned char> blocks;
    for (int i = 0; i < 14 * 10; ++i) {
      append(blocks, random_block(random, ref::kMode[random.below(14)].code, 5));
    }
    const std::vector<std::uint16_t> halfs_wanted = expected(blocks, whole);
    const std::vector<float> floats_wanted = ref::to_float(halfs_wanted);
    const bool half = texel == Texel::rgba16f;
    const auto* want = half ? reinterpret_cast<const unsigned char*>(halfs_wanted.data())
                            : reinterpret_cast<const unsigned char*>(floats_wanted.data());
    const std::size_t block_row = 14 * 16;
    const std::size_t texel_row = 53 * Bc6hDecode::texel_bytes(texel);
    for (const Variant variant : {Variant("automatic"), Variant("branchy")}) {
      for (const int rows : {0, 4, 8, 20, 36, 40, 4096}) {
        for (const std::size_t gap : {std::size_t{0}, std::size_t{3}}) {
          CAPTURE(rows);
          CAPTURE(gap);
          std::vector<unsigned char> from(10 * (block_row + gap), 0xEE);
          for (std::size_t y = 0; y < 10; ++y) {
            std::copy_n(blocks.begin() + static_cast<std::ptrdiff_t>(y * block_row), block_row,
                        from.begin() + static_cast<std::ptrdiff_t>(y * (block_row + gap)));
          }
          std::vector<unsigned char> all(39 * (texel_row + gap), 0xCD);
          std::vector<unsigned char> got = all;
          for (std::size_t y = 0; y < 39; ++y) {
            std::copy_n(want + y * texel_row, texel_row,
                        all.begin() + static_cast<std::ptrdiff_t>(y * (texel_row + gap)));
          }
          std::vector<int> told;
          const Variant ran = Bc6hDecode::by_strips(
              runtime(), whole, from.data(), gap == 0 ? 0 : block_row + gap, got.data(),
              gap == 0 ? 0 : texel_row + gap, rows, [&](int done) { told.push_back(done); },
              variant);
          CHECK(got == all);
          CHECK(ran != "automatic");
          CHECK((variant == "automatic" || ran == variant));
          CHECK(told.back() == 39);
          CHECK(std::is_sorted(told.begin(), told.end()));
          const std::size_t strips =
              rows == 0 ? 1 : static_cast<std::size_t>((39 + rows - 1) / rows);
          CHECK(told.size() == strips);
        }
      }
    }
  }
}

TEST_CASE("by_strips refuses what it cannot do, and writes nothing") {
  const std::vector<unsigned char> blocks(4 * 16, 0);
  std::vector<unsigned char> texels(64 * 8, 0xCD);
  const auto refuse = [&](const Problem& p, const void* from, std::size_t from_pitch, void* to,
                          std::size_t to_pitch, int rows) {
    const Error error = error_of(
        [&] { Bc6hDecode::by_strips(runtime(), p, from, from_pitch, to, to_pitch, rows); });
    CHECK(error.code == Errc::invalid_argument);
  };
  const Problem good{8, 8};
  refuse(good, nullptr, 0, texels.data(), 0, 0);
  refuse(good, blocks.data(), 0, nullptr, 0, 0);
  refuse(good, blocks.data(), 31, texels.data(), 0, 0);
  refuse(good, blocks.data(), 0, texels.data(), 63, 0);
  for (const int rows : {-4, -1, 1, 2, 3, 5, 7})
    refuse(good, blocks.data(), 0, texels.data(), 0, rows);
  refuse({0, 8}, blocks.data(), 0, texels.data(), 0, 4);
  refuse({8, 8, Format::signed_float, static_cast<Texel>(99)}, blocks.data(), 0, texels.data(), 0,
         4);
  CHECK(texels == std::vector<unsigned char>(64 * 8, 0xCD));
  Bc6hDecode::by_strips(runtime(), good, blocks.data(), 0, texels.data(), 0);
  CHECK(texels != std::vector<unsigned char>(64 * 8, 0xCD));
}

TEST_CASE("results at addresses that are not those of a whole vector") {
  clcook::Random random(6);
  const Problem problem{67, 9, Format::signed_float, Texel::rgba16f};
  std::vector<unsigned char> blocks;
  for (int i = 0; i < 17 * 3; ++i) append(blocks, random_block(random, 0x03, 5));
  const std::vector<std::uint16_t> want = expected(blocks, problem);
  const cl::Buffer src = upload(blocks);
  for (const Variant variant : Bc6hDecode::variants()) {
    CAPTURE(variant.name());
    const Bc6hDecode plan(runtime(), problem, variant);
    for (std::size_t offset = 0; offset < 10; ++offset) {
      const std::size_t pitch = 72 + offset;
      const std::vector<std::uint16_t> poison(4 * (offset + 9 * pitch), 0xCDCD);
      const cl::Buffer dst =
          clcook::create_buffer(runtime(), poison.size() * 2, CL_MEM_READ_WRITE, poison.data());
      const cl::Event done = plan(src, BufferView(dst, offset * 8, pitch * 8));
      const auto got = read_buffer<std::uint16_t>(runtime(), dst, poison.size(), {done});
      std::vector<std::uint16_t> all = poison;
      for (std::size_t y = 0; y < 9; ++y) {
        std::copy_n(want.begin() + static_cast<std::ptrdiff_t>(y * 67 * 4), 67 * 4,
                    all.begin() + static_cast<std::ptrdiff_t>(4 * (offset + y * pitch)));
      }
      CAPTURE(offset);
      CHECK(got == all);
    }
  }
}

TEST_CASE("automatic takes the variant for the kind of device") {
  const Bc6hDecode plan(runtime(), {64, 64});
  if (runtime().info().cpu) CHECK(plan.variant() == "cpu_lanes");
  if (runtime().info().gpu) CHECK(plan.variant() == "local_headers");
  CHECK(plan.tune().group > 0);
}

TEST_CASE("a case of 2^24 + 1 blocks says all bytes that it moves") {
  // A row of them, which nobody fills: floats do not have these numbers.
  const auto one = clcook::cookbook::bc6h_decode().make(
      runtime(), clcook::Params::parse("width=67108868 height=1"), 1);
  CHECK(one->work().bytes_read == 16.0 * 16777217);
  CHECK(one->work().bytes_written == 8.0 * 67108868);
}

// ---- Refused -----------------------------------------------------------------------------------

TEST_CASE("problems that are none") {
  // 2^18 x 2^18 texels are exactly 2^32 blocks.
  refused({1 << 18, 1 << 18}, "4294967296 blocks, more than 4294967295; decode strips");
  refused({1 << 30, 1 << 30}, "blocks, more than 4294967295");
  refused({4, 4, static_cast<Format>(7)},
          "format must be unsigned_float or signed_float, got the "
          "value 7");
  refused({4, 4, Format::signed_float, static_cast<Texel>(99)}, "no pixel type of the value 99");
  refused({4, 4}, "branchy", {-3}, "group must not be negative, got -3");
  refused({4, 4}, "cpu_lanes", {64}, "group of cpu_lanes must be 1, got 64");
  refused({4, 4}, "branchy", {1 << 30}, "exceeds", Errc::unsupported);
  refused({4, 4}, "local_headers", {96}, "local_headers takes a group of 64, got 96");
  CHECK_THROWS_AS(Bc6hDecode::texture_bytes({1 << 18, 1 << 18}), Error);
  CHECK(Bc6hDecode::block_bytes({(1 << 18) - 1, 1 << 17}) == std::size_t{1} << 35);
}

TEST_CASE("decoding into an image gives the bits of the buffer, and nothing beside them") {
  if (!runtime().info().images) return;
  clcook::Random random(21);
  for (const Texel texel : {Texel::rgba16f, Texel::rgba32f}) {
    for (const Format format : kFormats) {
      const Problem problem{37, 26, format, texel};
      std::vector<unsigned char> blocks(std::size_t{10} * 7 * 16);
      for (unsigned char& byte : blocks) byte = static_cast<unsigned char>(random.bits());
      const Bc6hDecode plan(runtime(), problem);
      const std::size_t bytes = Bc6hDecode::texel_bytes(texel);
      const cl::Buffer src = upload(blocks);
      const cl::Buffer flat = clcook::create_buffer(runtime(), 37 * 26 * bytes);
      // Texels (5, 3) to (41, 28) of 45 x 33.
      const std::vector<unsigned char> before(45 * 33 * bytes, 0x3C);
      std::vector<unsigned char> want = before;
      const cl::Event decoded = plan(src, flat);
      const auto rows = read_buffer<unsigned char>(runtime(), flat, 37 * 26 * bytes, {decoded});
      for (std::size_t y = 0; y < 26; ++y) {
        std::copy_n(&rows[y * 37 * bytes], 37 * bytes, &want[((y + 3) * 45 + 5) * bytes]);
      }
      const cl::Image2D image = make_image(45, 33, clcook::image_format(texel), before.data());
      for (int call = 0; call < 2; ++call) {
        const cl::Event done = plan(src, clcook::ImageView(image, 5, 3));
        std::vector<unsigned char> got(want.size());
        read_image(image, 0, 0, 45, 33, got.data(), done);
        CHECK(got == want);
      }
      check_refused([&] { plan(src, clcook::ImageView{image, 9, 3}); }, "image");
      check_refused([&] { plan(src, clcook::ImageView{image, 5, 8}); }, "image");
      check_refused([&] { plan(src, clcook::ImageView(cl::Image2D())); }, "image is null");
      Problem other = problem;
      other.texel = texel == Texel::rgba16f ? Texel::rgba32f : Texel::rgba16f;
      const Error error =
          error_of([&] { Bc6hDecode(runtime(), other)(src, clcook::ImageView(image)); });
      CHECK(contains(error.what(), "format"));
    }
  }
}

// ---- The example -------------------------------------------------------------------------------

TEST_CASE("the example decodes mips and slices of a file, and refuses files that lie") {
  if (not_built("bc6h_decode")) return;
  const TempFolder folder;
  const std::string program = built_program("bc6h_decode");
  clcook::io::DdsDescription what;
  what.format = clcook::io::DdsFormat::bc6h_sf16;
  what.width = 30;
  what.height = 22;
  what.mips = 3;
  what.array_size = 2;
  clcook::Random random(8);
  std::string data(static_cast<std::size_t>(clcook::io::dds_layout(what).data_bytes), ' ');
  for (char& byte : data) byte = static_cast<char>(random.below(256));
  const std::string file = clcook::io::write_dds(what, data);
  const std::string in = (folder / "in.dds").string();
  const std::string out = (folder / "out.pfm").string();
  write_bytes(in, file);
  const auto ran = run_program({program, in, out, "--slice", "1", "--mip", "1", "--strip", "4"});
  CHECK_MESSAGE(ran.code == 0, ran.err);
  CHECK(contains(ran.out, "15 x 11 texels, BC6H signed, slice 1 of 2, mip 1 of 3"));
  const clcook::io::Dds dds = clcook::io::parse_dds(file);
  const clcook::io::DdsLevel level = dds.level(1, 1);
  const std::vector<float> want = ref::to_float(
      ref::decode_image(reinterpret_cast<const unsigned char*>(file.data()) + level.offset,
                        static_cast<std::size_t>(level.bytes), 15, 11, ref::Format::sf16));
  const std::string pfm = read_bytes(out);
  const std::string header = "PF\n15 11\n-1.0\n";
  REQUIRE(pfm.size() == header.size() + want.size() * 4);
  for (std::size_t y = 0; y < 11; ++y) {
    CHECK(std::memcmp(pfm.data() + header.size() + (10 - y) * 15 * 12, want.data() + y * 45, 180) ==
          0);
  }

  const std::string nothing = (folder / "nothing.exr").string();
  const auto fails = [&](const std::string& content, std::vector<std::string> more,
                         const char* part) {
    const std::string bad = (folder / "bad.dds").string();
    write_bytes(bad, content);
    std::vector<std::string> command{program, bad, nothing};
    command.insert(command.end(), more.begin(), more.end());
    const auto failed = run_program(command);
    INFO(failed.err);
    CHECK(failed.code == 2);
    CHECK(contains(failed.err, part));
  };
  const auto with_word = [&](std::size_t at, std::uint32_t value) {
    std::string changed = file;
    for (std::size_t i = 0; i < 4; ++i) {
      changed[at + i] = static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
    }
    return changed;
  };
  fails(file.substr(0, file.size() - 1), {}, "cut off");
  fails(file.substr(0, 100), {}, "100 bytes are too few");
  fails("", {}, "0 bytes are too few");
  fails(with_word(12, 0), {}, "30 x 0");
  fails(with_word(16, 0xFFFFFFFF), {}, "4294967295 x 22");
  fails(with_word(28, 6), {}, "cut off: 2 slices of 5 mips of 30 x 22");
  fails(with_word(28, 64), {}, "mipMapCount is 64");
  fails(with_word(128, 98), {}, "dxgiFormat is 98");
  fails(file, {"--slice", "2"}, "slice 2, mip 0 asked for; there are 2 slices of 3 mips");
  fails(file, {"--mip", "3"}, "slice 0, mip 3 asked for");
  CHECK(run_program({program, (folder / "none.dds").string(), nothing}).code == 2);
  CHECK(run_program({program, in, (folder / "x.gif").string()}).code == 2);
  CHECK(run_program({program, in}).code == 2);
  // Nothing was written, not even a part of it.
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    INFO(entry.path().string());
    ++files;
  }
  CHECK(files == 3);  // in.dds, out.pfm, bad.dds
}
