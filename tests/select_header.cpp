// <clcook/select.clh> in a kernel that is not ours.
#include <doctest/doctest.h>

#include <clcook/core/launch.hpp>
#include <clcook/core/runtime.hpp>
#include <clcook/core/source.hpp>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "support/testing.hpp"

namespace {

using clcook::testing::read_buffer;
using clcook::testing::runtime;

const char* const kKernels = R"(
#include <clcook/select.clh>

typedef struct {
  float weight;
  int tags[3];
  uchar flag;
} record;
CLCOOK_DEFINE_SELECT(record, record)

// Bits in, bits out: in[2 i] and in[2 i + 1] of item i, exchanged where flags[i] is not 0.
__kernel void swap_bits(__global const uint* in, __global const int* flags, __global uint* macro,
                        __global uint* function, __global uint* chosen, int count) {
  const int i = (int)get_global_id(0);
  if (i >= count) return;
  float a = as_float(in[2 * i]);
  float b = as_float(in[2 * i + 1]);
  CLCOOK_SWAP_IF(float, flags[i], a, b);
  macro[2 * i] = as_uint(a);
  macro[2 * i + 1] = as_uint(b);
  float4 c = (float4)(as_float(in[2 * i]));
  float4 d = (float4)(as_float(in[2 * i + 1]));
  clcook_swap_if_float4(flags[i], &c, &d);
  function[2 * i] = as_uint(c.w);
  function[2 * i + 1] = as_uint(d.x);
  const float yes = as_float(in[2 * i]);
  const float no = as_float(in[2 * i + 1]);
  chosen[2 * i] = as_uint(clcook_select_float(flags[i], yes, no));
  chosen[2 * i + 1] = as_uint(clcook_select_float(flags[i], no, yes));
}

// The sum of f(a, b) = 10 a + b over four conditions, f(b, a) where one holds: by an exchange in
// place, which the next turn finds, by one that is undone, and by choosing.
__kernel void loops(__global const int* flags, __global int* out) {
  if (get_global_id(0) != 0) return;
  int a = 1, b = 2, c = 1, d = 2;
  const int e = 1, f = 2;
  int sums[3] = {0, 0, 0};
  for (int j = 0; j < 4; ++j) {
    CLCOOK_SWAP_IF(int, flags[j], a, b);
    sums[0] += 10 * a + b;
    CLCOOK_SWAP_IF(int, flags[j], c, d);
    sums[1] += 10 * c + d;
    CLCOOK_SWAP_IF(int, flags[j], c, d);
    sums[2] += 10 * clcook_select_int(flags[j], f, e) + clcook_select_int(flags[j], e, f);
  }
  for (int k = 0; k < 3; ++k) out[k] = sums[k];
}

// One item: how often each argument is evaluated, and where the values end up.
__kernel void side_effects(__global int* out, int flag) {
  if (get_global_id(0) != 0) return;
  int values[4] = {10, 20, 30, 40};
  int i = 0;
  int j = 2;
  int asked = 0;
  CLCOOK_SWAP_IF(int, (++asked, flag), values[i++], values[j++]);
  for (int k = 0; k < 4; ++k) out[k] = values[k];
  out[4] = i;
  out[5] = j;
  out[6] = asked;
  // As one statement, in an if without braces.
  if (flag == 12345)
    CLCOOK_SWAP_IF(int, 1, values[0], values[1]);
  else
    out[7] = clcook_select_int(flag++, i++, j++);
  out[8] = i;
  out[9] = j;
  out[10] = flag;
}

// Every kind of memory, vectors and structures.
__kernel void kinds(__global int4* rows, __global int* out, int flag) {
  __local long parts[2];
  if (get_local_id(0) == 0) {
    parts[0] = 5;
    parts[1] = -6;
    CLCOOK_SWAP_IF_IN(__local, long, flag, parts[0], parts[1]);
    out[0] = (int)parts[0];
    out[1] = (int)parts[1];
    CLCOOK_SWAP_IF_IN(__global, int4, flag, rows[0], rows[1]);
    record one = {1.5f, {1, 2, 3}, 7};
    record two = {-2.5f, {4, 5, 6}, 9};
    clcook_swap_if_record(flag, &one, &two);
    out[2] = one.tags[2];
    out[3] = two.tags[0];
    out[4] = (int)(one.weight * 2.0f);
    out[5] = two.flag;
    CLCOOK_SWAP_IF(record, flag, one, two);
    out[6] = one.tags[2];
    out[7] = clcook_select_record(flag, one, two).flag;
    const uchar3 small = clcook_select_uchar3(flag, (uchar3)(1, 2, 3), (uchar3)(4, 5, 6));
    out[8] = small.z;
    const ulong16 large = clcook_select_ulong16(flag, (ulong16)(1), (ulong16)(2));
    out[9] = (int)large.sf;
    short8 same = (short8)(3);
    CLCOOK_SWAP_IF(short8, flag, same, same);  // an object with itself
    out[10] = same.s7;
  }
}
)";

cl::Program program() {
  return runtime().build(clcook::Source("their_kernels.cl", kKernels), {}, "their kernels");
}

template <class T>
cl::Buffer buffer(const std::vector<T>& data) {
  return clcook::create_buffer(runtime(), data.size() * sizeof(T), CL_MEM_READ_WRITE, data.data());
}

}  // namespace

TEST_CASE("select.clh keeps payloads of NaN, signs of zero and every other bit") {
  // Quiet NaN with payloads, signed zeros, infinities, denormals, ordinary numbers.
  const std::vector<std::uint32_t> special = {0x7FC00001u, 0xFFD23456u, 0x00000000u, 0x80000000u,
                                              0x7F800000u, 0xFF800000u, 0x00000001u, 0x807FFFFFu,
                                              0x3F800000u, 0xC2F6E979u};
  std::vector<std::uint32_t> in;
  std::vector<std::int32_t> flags;
  for (const std::uint32_t a : special) {
    for (const std::uint32_t b : special) {
      for (const std::int32_t flag : {0, 1, -1, 2, std::numeric_limits<std::int32_t>::min()}) {
        in.insert(in.end(), {a, b});
        flags.push_back(flag);
      }
    }
  }
  const cl::Buffer source = buffer(in);
  const cl::Buffer condition = buffer(flags);
  const std::vector<std::uint32_t> blank(in.size(), 0xCDCDCDCDu);
  const cl::Buffer out[3] = {buffer(blank), buffer(blank), buffer(blank)};
  clcook::Kernel kernel(runtime(), program(), "swap_bits");
  const cl::Event done =
      kernel(clcook::Launch::cover({flags.size(), 1, 1}, {64, 1, 1}), {}, source, condition, out[0],
             out[1], out[2], static_cast<cl_int>(flags.size()));
  for (std::size_t way = 0; way < 3; ++way) {
    const auto got = read_buffer<std::uint32_t>(runtime(), out[way], in.size(), {done});
    for (std::size_t i = 0; i < flags.size(); ++i) {
      CAPTURE(way);
      CAPTURE(flags[i]);
      // The third way chooses its first value where the condition holds: the opposite of a swap.
      const bool exchanged = (flags[i] != 0) != (way == 2);
      REQUIRE(got[2 * i] == in[2 * i + (exchanged ? 1 : 0)]);
      REQUIRE(got[2 * i + 1] == in[2 * i + (exchanged ? 0 : 1)]);
    }
  }
}

TEST_CASE("select.clh evaluates every argument once") {
  for (const cl_int flag : {0, 1, 2, -5}) {
    CAPTURE(flag);
    const cl::Buffer out = buffer(std::vector<cl_int>(11, -1));
    clcook::Kernel kernel(runtime(), program(), "side_effects");
    const cl::Event done = kernel(clcook::Launch::groups({1, 1, 1}, {1, 1, 1}), {}, out, flag);
    const auto got = read_buffer<cl_int>(runtime(), out, 11, {done});
    const bool swapped = flag != 0;
    CHECK(got[0] == (swapped ? 30 : 10));
    CHECK(got[1] == 20);
    CHECK(got[2] == (swapped ? 10 : 30));
    CHECK(got[3] == 40);
    CHECK(got[4] == 1);
    CHECK(got[5] == 3);
    CHECK(got[6] == 1);
    CHECK(got[7] == (swapped ? 1 : 3));
    CHECK(got[8] == 2);
    CHECK(got[9] == 4);
    CHECK(got[10] == flag + 1);
  }
}

TEST_CASE("select.clh takes structures, vectors, local and global memory") {
  for (const cl_int flag : {0, 3}) {
    CAPTURE(flag);
    const bool swapped = flag != 0;
    const cl::Buffer rows = buffer(std::vector<cl_int>{1, 2, 3, 4, 5, 6, 7, 8});
    const cl::Buffer out = buffer(std::vector<cl_int>(11, -1));
    clcook::Kernel kernel(runtime(), program(), "kinds");
    const cl::Event done =
        kernel(clcook::Launch::groups({1, 1, 1}, {4, 1, 1}), {}, rows, out, flag);
    const auto table = read_buffer<cl_int>(runtime(), rows, 8, {done});
    CHECK(table == (swapped ? std::vector<cl_int>{5, 6, 7, 8, 1, 2, 3, 4}
                            : std::vector<cl_int>{1, 2, 3, 4, 5, 6, 7, 8}));
    const auto got = read_buffer<cl_int>(runtime(), out, 11, {done});
    CHECK(got == (swapped ? std::vector<cl_int>{-6, 5, 6, 1, -5, 7, 3, 7, 3, 1, 3}
                          : std::vector<cl_int>{5, -6, 3, 4, 3, 9, 3, 9, 6, 2, 3}));
  }
}

TEST_CASE("an exchange in place is still there in the next turn of a loop") {
  const cl::Buffer flags = buffer(std::vector<cl_int>{1, 1, 0, 1});
  const cl::Buffer out = buffer(std::vector<cl_int>(3, -1));
  clcook::Kernel kernel(runtime(), program(), "loops");
  const cl::Event done = kernel(clcook::Launch::groups({1, 1, 1}, {1, 1, 1}), {}, flags, out);
  const auto got = read_buffer<cl_int>(runtime(), out, 3, {done});
  CHECK(got[1] == 21 + 21 + 12 + 21);
  CHECK(got[2] == got[1]);
  CHECK(got[0] == 21 + 12 + 12 + 21);  // where an exchange was, the next one undoes it
}
