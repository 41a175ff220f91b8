// <clcook/table.clh> in a kernel that is not ours: every table at every index, and beyond its end.
#include <doctest/doctest.h>

#include <array>
#include <clcook/core/launch.hpp>
#include <clcook/core/runtime.hpp>
#include <clcook/core/source.hpp>
#include <cstdint>
#include <vector>

#include "support/testing.hpp"

namespace {

using namespace clcook;
using clcook::testing::read_buffer;
using clcook::testing::runtime;

// out[8 i + t]: what table t holds at index i; the words are those of `words`, 16 of them.
const char* const kKernel = R"(
#include <clcook/table.clh>

__kernel void look_up(__global const uint* words, __global uint* out, uint count) {
  const uint i = (uint)get_global_id(0);
  if (i >= count) return;
  out += 8 * i;
  out[0] = clcook_nibble8(words[0], i);
  out[1] = clcook_nibble16(vload2(0, words), i);
  out[2] = clcook_nibble32(vload4(0, words), i);
  out[3] = clcook_byte4(words[0], i);
  out[4] = clcook_byte16(vload4(0, words), i);
  out[5] = clcook_byte32(vload8(0, words), i);
  out[6] = clcook_byte64(vload16(0, words), i);
  // The macros, entry 0 lowest.
  out[7] = i % 2 == 0 ? CLCOOK_NIBBLES8(1, 2, 3, 4, 5, 6, 7, 8) : CLCOOK_BYTES4(11, 22, 33, 244);
}
)";

}  // namespace

TEST_CASE("tables in registers hold what they were given, at indices modulo their entries") {
  std::array<std::uint32_t, 16> words{};
  std::uint32_t state = 1;
  for (std::uint32_t& word : words) word = state = state * 1664525U + 1013904223U;
  constexpr std::uint32_t kCount = 130;
  const cl::Program program =
      runtime().build(Source("table_user.cl", kKernel), {}, "test/table_header");
  const cl::Buffer in = create_buffer(runtime(), sizeof words, CL_MEM_READ_ONLY, words.data());
  const cl::Buffer out = create_buffer(runtime(), 8 * kCount * sizeof(std::uint32_t));
  Kernel kernel(runtime(), program, "look_up");
  const cl::Event done = kernel(Launch::cover({kCount, 1, 1}, {1, 1, 1}), {}, in, out, kCount);
  const auto got = read_buffer<std::uint32_t>(runtime(), out, 8 * kCount, {done});
  const auto entry = [&](std::uint32_t index, std::uint32_t entries, std::uint32_t bits) {
    const std::uint32_t at = index % entries * bits;
    return words[at / 32] >> (at % 32) & ((1U << bits) - 1);
  };
  for (std::uint32_t i = 0; i < kCount; ++i) {
    CAPTURE(i);
    const std::uint32_t* row = got.data() + std::size_t{8} * i;
    CHECK(row[0] == entry(i, 8, 4));
    CHECK(row[1] == entry(i, 16, 4));
    CHECK(row[2] == entry(i, 32, 4));
    CHECK(row[3] == entry(i, 4, 8));
    CHECK(row[4] == entry(i, 16, 8));
    CHECK(row[5] == entry(i, 32, 8));
    CHECK(row[6] == entry(i, 64, 8));
    CHECK(row[7] == (i % 2 == 0 ? 0x87654321U : 0xF421160BU));
  }
}
