// What the generic conformance test cannot know about bc6h_mode: all codes and all low halves of
// headers on every variant, a real texture, the article's table, the refusals, and the device
// header table.clh in a kernel that is not ours.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <clcook/bc6h_mode.hpp>
#include <clcook/cookbook/bc6h_mode.hpp>
#include <clcook/io/dds.hpp>
#include <clcook/reference/bc6h_decode.hpp>
#include <clcook/reference/bc6h_encode.hpp>
#include <clcook/reference/bc6h_mode.hpp>
#include <clcook/registry/random.hpp>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "support/data.hpp"
#include "support/grid.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;
namespace reference_mode = clcook::reference::bc6h_mode;

namespace {

std::vector<unsigned char> run(const std::vector<std::uint32_t>& words, int stride,
                               Bc6hMode::Variant variant, Bc6hMode::Tune tune) {
  const std::size_t count = words.size() / static_cast<std::size_t>(stride);
  const cl::Buffer in = create_buffer(runtime(), words.size() * 4, CL_MEM_READ_ONLY, words.data());
  const cl::Buffer out = create_buffer(runtime(), count);
  const Bc6hMode mode(runtime(), {count, stride}, variant, tune);
  return read_buffer<unsigned char>(runtime(), out, count, {mode(in, out)});
}

// Entry `code` of the truth table: R = 15.
constexpr std::array<unsigned char, 32> kTruth = {0,  1,  2, 10, 0,  1,  3, 11, 0,  1, 4,
                                                  12, 0,  1, 5,  13, 0,  1, 6,  15, 0, 1,
                                                  7,  15, 0, 1,  8,  15, 0, 1,  9,  15};

}  // namespace

TEST_CASE("bc6h_mode: both references agree with the truth table") {
  for (std::uint32_t word = 0; word < 1u << 16; ++word) {
    REQUIRE(reference_mode::mode_index(word) == kTruth[word & 31]);
    REQUIRE(reference::bc6h::mode_index(word) == kTruth[word & 31]);
  }
  CHECK(Bc6hMode::kReserved == reference_mode::kReserved);
  CHECK(int{Bc6hMode::kReserved} == reference::bc6h::kReservedMode);
}

LONG_TEST_CASE("bc6h_mode: all 32 codes and all 2^13 headers on every variant", 16) {
  // Every pattern of the low 13 bits, under random high bits; the low five are the code.
  Random random(13);
  std::vector<std::uint32_t> words(1 << 13);
  std::vector<std::uint32_t> blocks(4 * words.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = random.bits32() << 13 | static_cast<std::uint32_t>(i);
    for (std::size_t j = 0; j < 4; ++j) blocks[4 * i + j] = j == 0 ? words[i] : random.bits32();
  }
  for (const Bc6hMode::Variant variant : Bc6hMode::variants()) {
    const bool cpu = variant == "cpu_strip";
    for (const int per_item : {16, 1}) {
      if (cpu && per_item == 1) continue;
      const Bc6hMode::Tune tune{0, cpu ? 0 : per_item};
      for (const int stride : {1, 4}) {
        INFO(variant.name() << " per_item " << per_item << " stride " << stride);
        const std::vector<unsigned char> got =
            run(stride == 1 ? words : blocks, stride, variant, tune);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < words.size(); ++i) {
          wrong += got[i] != kTruth[i & 31];
          wrong += got[i] != reference_mode::mode_index(words[i]);
          wrong += int{got[i]} != reference::bc6h::mode_index(words[i]);
        }
        CHECK(wrong == 0);
      }
    }
  }
}

TEST_CASE("bc6h_mode: the article's lookup decodes two modes of fourteen") {
  // The article reads entry `code` of a table that has the codes in the order of their index,
  // rotated by two: the opposite of what is needed, and 14 entries for 32 codes.
  constexpr std::array<unsigned char, 14> kArticle = {0x02, 0x06, 0x0A, 0x0E, 0x12, 0x16, 0x1A,
                                                      0x1E, 0x03, 0x07, 0x0B, 0x0F, 0x00, 0x01};
  // Codes of modes 0 and 1 are looked up by their two bits, in the last two entries.
  const auto article = [&](std::uint32_t code) -> int {
    const std::size_t entry = (code & 3) < 2 ? 12 + (code & 3) : code;
    return entry < kArticle.size() ? kArticle[entry] : -1;
  };
  int right = 0;
  int wrong = 0;
  int outside = 0;
  std::vector<int> modes_right;
  for (std::uint32_t code = 0; code < 32; ++code) {
    const int got = article(code);
    if (got < 0) {
      ++outside;
    } else if (got == int{kTruth[code]}) {
      ++right;
      modes_right.push_back(got);
    } else {
      ++wrong;
    }
  }
  CHECK(right == 16);
  CHECK(wrong == 6);
  CHECK(outside == 10);
  std::sort(modes_right.begin(), modes_right.end());
  modes_right.erase(std::unique(modes_right.begin(), modes_right.end()), modes_right.end());
  CHECK(modes_right == std::vector<int>{0, 1});
  CHECK(article(0x02) == 10);
  CHECK(article(0x03) == 14);
  CHECK(article(0x06) == 26);
  CHECK(article(0x07) == 30);
  CHECK(article(0x0A) == 11);
  CHECK(article(0x0B) == 15);
}

TEST_CASE("bc6h_mode: the modes of a real texture") {
  // Counted by a program of a few lines that shares nothing with ours.
  const std::array<std::uint64_t, 16> expected{15, 5, 98, 7,  33, 13, 17, 3,
                                               2,  0, 1,  21, 41, 0,  0,  0};
  const std::string file = read_bytes(small_data("bc6h/lythwood_room.dds"));
  std::vector<std::uint32_t> words(1024);
  REQUIRE(file.size() == 148 + 4 * words.size());
  std::memcpy(words.data(), file.data() + 148, 4 * words.size());
  for (const VariantInfo& variant : cookbook::bc6h_mode().variants) {
    CAPTURE(variant.name);
    std::array<std::uint64_t, 16> histogram{};
    for (const unsigned char mode : run(words, 4, variant.name, {})) ++histogram[mode];
    CHECK(histogram == expected);
  }
}

TEST_CASE("bc6h_mode: the distribution `texture` is that of a real texture") {
  namespace card = cookbook::bc6h_mode_card;
  CHECK(std::accumulate(std::begin(card::kTexture), std::end(card::kTexture), std::uint64_t{0}) ==
        card::kTextureBlocks);
  const auto path = clcook::testing::test_data("lythwood_room_1k_bc6h_signed.dds");
  if (!path) return;
  const std::string file = read_bytes(*path);
  const io::Dds dds = io::parse_dds(file);
  const io::DdsLevel level = dds.level(0, 0);
  std::vector<std::uint32_t> words(level.bytes / 4);
  std::memcpy(words.data(), file.data() + level.offset, level.bytes);
  std::array<std::uint64_t, 16> histogram{};
  for (const unsigned char mode : run(words, 4, "automatic", {})) {
    ++histogram[mode];
  }
  for (std::size_t i = 0; i < 14; ++i) CHECK(histogram[i] == card::kTexture[i]);
  CHECK(histogram[Bc6hMode::kReserved] == 0);
}

TEST_CASE("bc6h_mode: blocks of our encoder have the mode that they were encoded as") {
  namespace bc6h = reference::bc6h;
  Random random(6);
  bc6h::Texels texels;
  for (auto& half : texels) half = static_cast<std::uint16_t>(0x3800 + random.below(0x400));
  std::vector<std::uint32_t> words;
  std::vector<unsigned char> expected;
  for (int mode = 0; mode < bc6h::kModes; ++mode) {
    const auto block = bc6h::encode_block_as(texels, bc6h::Format::uf16, mode);
    if (!block) continue;
    std::uint32_t four[4];
    std::memcpy(four, block->data(), sizeof four);
    words.insert(words.end(), four, four + 4);
    expected.push_back(static_cast<unsigned char>(mode));
  }
  CHECK(expected.size() > 2);
  CHECK(run(words, 4, "automatic", {}) == expected);
}

TEST_CASE("bc6h_mode: the distributions of the card") {
  namespace card = cookbook::bc6h_mode_card;
  const Recipe recipe = cookbook::bc6h_mode();
  const auto modes_of = [&](const Params& shape) {
    return reference_mode::mode_indices(card::headers(recipe.check_shape(shape), 1), 1);
  };
  const auto count_of_mode = [](const std::vector<unsigned char>& modes, int mode) {
    return std::count(modes.begin(), modes.end(), static_cast<unsigned char>(mode));
  };
  CHECK(count_of_mode(modes_of(card::shape(1000, "one")), 2) == 1000);
  const auto uniform = modes_of(card::shape(14000, "uniform"));
  for (int mode = 0; mode < 14; ++mode) {
    CHECK(count_of_mode(uniform, mode) > 850);
    CHECK(count_of_mode(uniform, mode) < 1150);
  }
  CHECK(count_of_mode(modes_of(card::shape(8000, "reserved")), 15) > 850);
  Params share = card::shape(10000, "share");
  CHECK(count_of_mode(modes_of(share), 2) == 10000);
  share.set("share", std::int64_t{50});
  const auto half = count_of_mode(modes_of(share), 2);  // 50 % + 50 % / 14 = 53.6 %
  CHECK(half > 5150);
  CHECK(half < 5550);

  // The lane-mask model: one mode costs what it takes alone, many modes approach all comparisons.
  const Sweep& sweep = recipe.sweeps.at(0);
  Params one = recipe.check_shape(sweep.shape);
  one.set("count", std::int64_t{6400}).set("share", std::int64_t{0});
  const auto cost = [&](const Params& shape, std::size_t width) {
    return model::lane_mask_cost(sweep.lanes("cascade", shape, 1), width) / 6400;
  };
  CHECK(cost(one, 32) == doctest::Approx(3));
  CHECK(model::lane_mask_cost(sweep.lanes("arithmetic", one, 1), 32) == doctest::Approx(6400));
  Params all = one;
  all.set("share", std::int64_t{100});
  CHECK(cost(all, 1) == doctest::Approx(7.5).epsilon(0.02));  // the mean of 1 to 14
  CHECK(cost(all, 32) > 13);
  CHECK(cost(all, 64) > cost(all, 32));
}

TEST_CASE("bc6h_mode: wrong calls are refused with value and rule") {
  const Runtime& rt = runtime();
  constexpr PlanRefused<Bc6hMode> refused;
  for (const int stride : {-1, 2, 3}) refused({1, stride}, "stride must be 1 or 4 words, got ");
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  for (const std::size_t count : {kMost, kMost / 4, kMost / 32 + 1})
    refused({count, 4}, "overflows");
  // A number of blocks beyond 32 bits is no error in itself; the buffer is too small for it.
  const Bc6hMode wide(rt, {(std::size_t{1} << 32) + 1, 4}, "arithmetic");
  const cl::Buffer in = create_buffer(rt, 64);
  const cl::Buffer out = create_buffer(rt, 16);
  check_refused([&] { wide(in, out); }, "needs 68719476752");
  refused({1, 1}, "cascade", {-1, 0}, "group must not be negative, got -1");
  refused({1, 1}, "cascade", {1 << 30, 0}, "1073741824", Errc::unsupported);
  for (const int n : {-1, 2, 3, 64})
    refused({1, 1}, "cascade", {0, n}, "per_item must be 1, 4, 8, 16 or 32, got ");
  refused({1, 1}, "cpu_strip", {2, 0}, "group of cpu_strip must be 1, got 2");
  refused({1, 1}, "cpu_strip", {0, 16}, "per_item of cpu_strip must be 0, got 16");
  const Bc6hMode mode(rt, {16, 1});
  check_refused([&] { mode(create_buffer(rt, 63), out); }, "headers has 63 bytes, needs 64");
  CHECK_FALSE(mode.variant().is_automatic());
}

TEST_CASE("table.clh: all tables of a kernel that is not ours, at every index") {
  // Tables with an entry of its own at every place, and indices beyond their ends.
  const Source source("mine.cl", R"(
#include <clcook/table.clh>
__kernel void mine(__global uint* out) {
  const uint i = (uint)get_global_id(0);
  const uint n0 = CLCOOK_NIBBLES8(3, 14, 1, 5, 9, 2, 6, 15);
  const uint n1 = CLCOOK_NIBBLES8(0, 8, 7, 13, 4, 11, 10, 12);
  const uint n2 = CLCOOK_NIBBLES8(15, 0, 14, 1, 13, 2, 12, 3);
  const uint n3 = CLCOOK_NIBBLES8(11, 4, 10, 5, 9, 6, 8, 7);
  out[6 * i] = clcook_nibble8(n0, i);
  out[6 * i + 1] = clcook_nibble16((uint2)(n0, n1), i);
  out[6 * i + 2] = clcook_nibble32((uint4)(n0, n1, n2, n3), i);
#define ROW(a) CLCOOK_BYTES4(a, a + 7, 255 - a, a + 1)
  const uint4 bytes = (uint4)(ROW(0), ROW(16), ROW(32), ROW(48));
  const uint8 more = (uint8)(bytes, (uint4)(ROW(64), ROW(80), ROW(96), ROW(112)));
  const uint16 most = (uint16)(more, (uint8)((uint4)(ROW(2), ROW(18), ROW(34), ROW(50)),
                                             (uint4)(ROW(66), ROW(82), ROW(98), ROW(114))));
  out[6 * i + 3] = clcook_byte16(bytes, i);
  out[6 * i + 4] = clcook_byte32(more, i);
  out[6 * i + 5] = clcook_byte64(most, i) | clcook_byte4(ROW(5), i) << 8;
}
)");
  const cl::Program program = runtime().build(source, {}, "mine");
  constexpr std::size_t kIndices = 256;
  const cl::Buffer out = create_buffer(runtime(), kIndices * 6 * 4);
  Kernel kernel(runtime(), program, "mine");
  const cl::Event done = kernel(Launch::cover({kIndices, 1, 1}, {64, 1, 1}), {}, out);
  const auto got = read_buffer<std::uint32_t>(runtime(), out, kIndices * 6, {done});
  constexpr std::uint32_t kNibbles[32] = {3,  14, 1,  5,  9,  2,  6, 15, 0, 8,  7,
                                          13, 4,  11, 10, 12, 15, 0, 14, 1, 13, 2,
                                          12, 3,  11, 4,  10, 5,  9, 6,  8, 7};
  const auto byte = [](std::size_t i) {
    const auto start = static_cast<std::uint32_t>(16 * (i / 4 % 8) + (i / 32 % 2) * 2);
    const std::uint32_t row[4] = {start, start + 7, 255 - start, start + 1};
    return row[i % 4];
  };
  const std::uint32_t five[4] = {5, 12, 250, 6};
  for (std::size_t i = 0; i < kIndices; ++i) {
    INFO("index " << i);
    CHECK(got[6 * i] == kNibbles[i % 8]);
    CHECK(got[6 * i + 1] == kNibbles[i % 16]);
    CHECK(got[6 * i + 2] == kNibbles[i % 32]);
    CHECK(got[6 * i + 3] == byte(i % 16));
    CHECK(got[6 * i + 4] == byte(i % 32));
    CHECK(got[6 * i + 5] == (byte(i % 64) | five[i % 4] << 8));
  }
}
