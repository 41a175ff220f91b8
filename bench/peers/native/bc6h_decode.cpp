// bc6h_decode as a plain loop: block after block, fields by shifts of the block's two words, then its
// texels. shape: width, height, 1 for the signed format, 1 for floats.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "parallel.hpp"

namespace {

constexpr int kFields = 12;
constexpr std::uint64_t kAlpha = std::uint64_t{0x3C00} << 48;  // 1

// Endpoint fields, 3 x endpoint + channel. w and x are the ends of region 0, y and z of region 1.
enum Field : unsigned char { rw, gw, bw, rx, gx, bx, ry, gy, by, rz, gz, bz };

// The low bits of a field start at the same bit in every mode; those of bz are scattered.
constexpr int kFieldStart[kFields] = {5, 15, 25, 35, 45, 55, 65, 41, 61, 71, 51, 0};

struct Mode {
  unsigned char code, code_bits;
  unsigned char regions;
  bool transformed;         // x, y, z are stored as differences from w
  unsigned char precision;  // bits of every endpoint once it is reconstructed
  unsigned char delta[3];   // stored bits of x, y, z, for R, G, B
  unsigned char length[kFields];
  unsigned char scattered;
  struct {
    unsigned char field, bit, at;  // bit `bit` of field `field` is bit `at` of the block
  } bits[18];
};

// clang-format off
constexpr Mode kMode[14] = {
    {0x00, 2, 2, true, 10, {5, 5, 5}, {10, 10, 10, 5, 5, 5, 5, 4, 4, 5, 4, 0}, 8,
     {{gy, 4, 2}, {by, 4, 3}, {bz, 4, 4}, {gz, 4, 40}, {bz, 0, 50}, {bz, 1, 60}, {bz, 2, 70},
      {bz, 3, 76}}},
    {0x01, 2, 2, true, 7, {6, 6, 6}, {7, 7, 7, 6, 6, 6, 6, 4, 4, 6, 4, 0}, 12,
     {{gy, 5, 2}, {gz, 4, 3}, {gz, 5, 4}, {bz, 0, 12}, {bz, 1, 13}, {by, 4, 14}, {by, 5, 22},
      {bz, 2, 23}, {gy, 4, 24}, {bz, 3, 32}, {bz, 5, 33}, {bz, 4, 34}}},
    {0x02, 5, 2, true, 11, {5, 4, 4}, {10, 10, 10, 5, 4, 4, 5, 4, 4, 5, 4, 0}, 7,
     {{rw, 10, 40}, {gw, 10, 49}, {bz, 0, 50}, {bw, 10, 59}, {bz, 1, 60}, {bz, 2, 70},
      {bz, 3, 76}}},
    {0x06, 5, 2, true, 11, {4, 5, 4}, {10, 10, 10, 4, 5, 4, 4, 4, 4, 4, 4, 0}, 9,
     {{rw, 10, 39}, {gz, 4, 40}, {gw, 10, 50}, {bw, 10, 59}, {bz, 1, 60}, {bz, 0, 69},
      {bz, 2, 70}, {gy, 4, 75}, {bz, 3, 76}}},
    {0x0A, 5, 2, true, 11, {4, 4, 5}, {10, 10, 10, 4, 4, 5, 4, 4, 4, 4, 4, 0}, 9,
     {{rw, 10, 39}, {by, 4, 40}, {gw, 10, 49}, {bz, 0, 50}, {bw, 10, 60}, {bz, 1, 69},
      {bz, 2, 70}, {bz, 4, 75}, {bz, 3, 76}}},
    {0x0E, 5, 2, true, 9, {5, 5, 5}, {9, 9, 9, 5, 5, 5, 5, 4, 4, 5, 4, 0}, 8,
     {{by, 4, 14}, {gy, 4, 24}, {bz, 4, 34}, {gz, 4, 40}, {bz, 0, 50}, {bz, 1, 60}, {bz, 2, 70},
      {bz, 3, 76}}},
    {0x12, 5, 2, true, 8, {6, 5, 5}, {8, 8, 8, 6, 5, 5, 6, 4, 4, 6, 4, 0}, 8,
     {{gz, 4, 13}, {by, 4, 14}, {bz, 2, 23}, {gy, 4, 24}, {bz, 3, 33}, {bz, 4, 34}, {bz, 0, 50},
      {bz, 1, 60}}},
    {0x16, 5, 2, true, 8, {5, 6, 5}, {8, 8, 8, 5, 6, 5, 5, 4, 4, 5, 4, 0}, 10,
     {{bz, 0, 13}, {by, 4, 14}, {gy, 5, 23}, {gy, 4, 24}, {gz, 5, 33}, {bz, 4, 34}, {gz, 4, 40},
      {bz, 1, 60}, {bz, 2, 70}, {bz, 3, 76}}},
    {0x1A, 5, 2, true, 8, {5, 5, 6}, {8, 8, 8, 5, 5, 6, 5, 4, 4, 5, 4, 0}, 10,
     {{bz, 1, 13}, {by, 4, 14}, {by, 5, 23}, {gy, 4, 24}, {bz, 5, 33}, {bz, 4, 34}, {gz, 4, 40},
      {bz, 0, 50}, {bz, 2, 70}, {bz, 3, 76}}},
    {0x1E, 5, 2, false, 6, {6, 6, 6}, {6, 6, 6, 6, 6, 6, 6, 4, 4, 6, 4, 0}, 12,
     {{gz, 4, 11}, {bz, 0, 12}, {bz, 1, 13}, {by, 4, 14}, {gy, 5, 21}, {by, 5, 22}, {bz, 2, 23},
      {gy, 4, 24}, {gz, 5, 31}, {bz, 3, 32}, {bz, 5, 33}, {bz, 4, 34}}},
    {0x03, 5, 1, false, 10, {10, 10, 10}, {10, 10, 10, 10, 10, 10, 0, 0, 0, 0, 0, 0}, 0,
     {}},
    {0x07, 5, 1, true, 11, {9, 9, 9}, {10, 10, 10, 9, 9, 9, 0, 0, 0, 0, 0, 0}, 3,
     {{rw, 10, 44}, {gw, 10, 54}, {bw, 10, 64}}},
    {0x0B, 5, 1, true, 12, {8, 8, 8}, {10, 10, 10, 8, 8, 8, 0, 0, 0, 0, 0, 0}, 6,
     {{rw, 11, 43}, {rw, 10, 44}, {gw, 11, 53}, {gw, 10, 54}, {bw, 11, 63}, {bw, 10, 64}}},
    {0x0F, 5, 1, true, 16, {4, 4, 4}, {10, 10, 10, 4, 4, 4, 0, 0, 0, 0, 0, 0}, 18,
     {{rw, 15, 39}, {rw, 14, 40}, {rw, 13, 41}, {rw, 12, 42}, {rw, 11, 43}, {rw, 10, 44},
      {gw, 15, 49}, {gw, 14, 50}, {gw, 13, 51}, {gw, 12, 52}, {gw, 11, 53}, {gw, 10, 54},
      {bw, 15, 59}, {bw, 14, 60}, {bw, 13, 61}, {bw, 12, 62}, {bw, 11, 63}, {bw, 10, 64}}},
};
// clang-format on

// Bit i of a mask is the region of texel i.
constexpr std::uint16_t kPartition[32] = {
    0xCCCC, 0x8888, 0xEEEE, 0xECC8, 0xC880, 0xFEEC, 0xFEC8, 0xEC80, 0xC800, 0xFFEC, 0xFE80,
    0xE800, 0xFFE8, 0xFF00, 0xFFF0, 0xF000, 0xF710, 0x008E, 0x7100, 0x08CE, 0x008C, 0x7310,
    0x3100, 0x8CCE, 0x088C, 0x3110, 0x6666, 0x366C, 0x17E8, 0x0FF0, 0x718E, 0x399C};

// The texel of region 1 whose index is stored without its highest bit. For region 0 it is texel 0.
constexpr unsigned char kAnchor[32] = {15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,
                                       15, 15, 15, 15, 15, 15, 2,  8,  2,  2,  8,
                                       8,  15, 2,  8,  2,  2,  8,  8,  2,  2};

constexpr unsigned char kWeight3[8] = {0, 9, 18, 27, 37, 46, 55, 64};
constexpr unsigned char kWeight4[16] = {0,  4,  9,  13, 17, 21, 26, 30,
                                        34, 38, 43, 47, 51, 55, 60, 64};

struct Words {
  std::uint64_t low, high;

  int bits(int at, int count) const {
    const std::uint64_t from = at == 0    ? low
                               : at >= 64 ? high >> (at - 64)
                                          : low >> at | high << (64 - at);
    return static_cast<int>(from & ((std::uint64_t{1} << count) - 1));
  }
};

// The mode of a block; -1 for a reserved code.
int mode_of(int word) {
  if ((word & 3) < 2) return word & 3;
  if ((word & 3) == 2) return 2 + (word >> 2 & 7);
  return (word & 16) != 0 ? -1 : 10 + (word >> 2 & 3);
}

int sign_extend(int value, int bits) {
  const int top = 1 << (bits - 1);
  return ((value & (2 * top - 1)) ^ top) - top;
}

// An endpoint of p bits stretched to 0 .. 65535 or -32767 .. 32767.
template <bool Signed>
int unquantise(int e, int p) {
  if (!Signed) {
    if (p >= 15 || e == 0) return e;
    return e == (1 << p) - 1 ? 0xFFFF : ((e << 16) + 0x8000) >> p;
  }
  if (p >= 16 || e == 0) return e;
  const int m = e < 0 ? -e : e;
  const int to = m >= (1 << (p - 1)) - 1 ? 0x7FFF : ((m << 15) + 0x4000) >> (p - 1);
  return e < 0 ? -to : to;
}

// The half of an interpolated value; -0 becomes +0.
template <bool Signed>
std::uint16_t half_of(int v) {
  if (!Signed) return static_cast<std::uint16_t>(v * 31 >> 6);
  const int m = (v < 0 ? -v : v) * 31 >> 5;
  return static_cast<std::uint16_t>(v < 0 && m != 0 ? m | 0x8000 : m);
}

float float_of(std::uint64_t half) {
  const auto sign = static_cast<std::uint32_t>(half & 0x8000) << 16;
  const auto rest = static_cast<std::uint32_t>(half & 0x7FFF);
  float out = 0;
  if (rest >= 0x7C00) {
    const std::uint32_t bits = 0x7F800000u | (rest & 0x3FF) << 13;
    std::memcpy(&out, &bits, sizeof out);
  } else {
    // As a float the exponent is 112 too small; the product is exact, for subnormals too.
    const std::uint32_t bits = rest << 13;
    std::memcpy(&out, &bits, sizeof out);
    out *= 0x1p112f;
  }
  std::uint32_t bits = 0;
  std::memcpy(&bits, &out, sizeof bits);
  bits |= sign;
  std::memcpy(&out, &bits, sizeof out);
  return out;
}

// The 16 texels of a block of mode M, each RGB and an alpha of 1.
template <bool Signed, int M>
void decode(Words words, std::uint64_t* texels) {
  constexpr const Mode& mode = kMode[M];
  constexpr bool two = mode.regions == 2;
  int ends[kFields];
  for (int f = 0; f < kFields; ++f) ends[f] = words.bits(kFieldStart[f], mode.length[f]);
  for (int i = 0; i < mode.scattered; ++i)
    ends[mode.bits[i].field] |= words.bits(mode.bits[i].at, 1) << mode.bits[i].bit;
  constexpr int p = mode.precision;
  for (int f = 0; f < 6 * mode.regions; ++f) {
    if (f >= 3 && (Signed || mode.transformed)) ends[f] = sign_extend(ends[f], mode.delta[f % 3]);
    if (f >= 3 && mode.transformed) ends[f] = (ends[f] + ends[f % 3]) & ((1 << p) - 1);
    if (Signed && (f < 3 || mode.transformed)) ends[f] = sign_extend(ends[f], p);
  }
  for (int& e : ends) e = unquantise<Signed>(e, p);
  const int partition = two ? words.bits(77, 5) : 0;
  const std::uint32_t regions = two ? kPartition[partition] : 0;
  const int anchor = two ? kAnchor[partition] : 0, width = two ? 3 : 4;
  const unsigned char* weights = two ? kWeight3 : kWeight4;
  // The highest bits of the anchors' indices, which are not stored, come in as zeros.
  std::uint64_t indices = two ? words.high >> 18 : words.high >> 1;
  for (const int texel : {0, anchor}) {
    const int top = width * texel + width - 1;
    const std::uint64_t below = (std::uint64_t{1} << top) - 1;
    indices = (indices & ~below) << 1 | (indices & below);
    if (anchor == 0) break;
  }
  // The texels are the inner loops, which compilers make vectors of.
  std::int32_t weight[16], region[16];
  for (int i = 0; i < 16; ++i) {
    weight[i] = weights[indices >> width * i & ((1u << width) - 1)];
    region[i] = static_cast<std::int32_t>(regions >> i & 1);
  }
  std::uint16_t halfs[3][16];
  for (int c = 0; c < 3; ++c) {
    for (int i = 0; i < 16; ++i) {
      const int from = region[i] != 0 ? ends[6 + c] : ends[c];
      const int to = region[i] != 0 ? ends[9 + c] : ends[3 + c];
      halfs[c][i] = half_of<Signed>((from * (64 - weight[i]) + to * weight[i] + 32) >> 6);
    }
  }
  for (int i = 0; i < 16; ++i) {
    texels[i] =
        kAlpha | std::uint64_t{halfs[2][i]} << 32 | std::uint64_t{halfs[1][i]} << 16 | halfs[0][i];
  }
}

template <bool Signed, int... M>
void decode(const unsigned char* block, std::uint64_t* texels, std::integer_sequence<int, M...>) {
  static constexpr void (*kDecode[])(Words, std::uint64_t*) = {decode<Signed, M>...};
  const int mode = mode_of(block[0]);
  if (mode < 0) {  // black
    std::fill_n(texels, 16, kAlpha);
    return;
  }
  Words words;
  std::memcpy(&words, block, sizeof words);
  kDecode[mode](words, texels);
}

template <bool Signed>
void decode(const unsigned char* blocks, char* out, int width, int height, bool floats,
            int threads) {
  const std::size_t wide = static_cast<std::size_t>(width + 3) / 4;
  const auto row = static_cast<std::size_t>(width);
  parallel(threads, static_cast<std::size_t>(height + 3) / 4,
           [&](std::size_t begin, std::size_t end, int) {
             for (std::size_t by = begin; by < end; ++by) {
               for (std::size_t bx = 0; bx < wide; ++bx) {
                 std::uint64_t texels[16];
                 decode<Signed>(blocks + (by * wide + bx) * 16, texels,
                                std::make_integer_sequence<int, 14>());
                 const std::size_t most = std::min<std::size_t>(4, row - 4 * bx);
                 for (std::size_t y = 0; y < 4 && 4 * by + y < static_cast<std::size_t>(height);
                      ++y) {
                   const std::size_t at = (4 * by + y) * row + 4 * bx;
                   if (!floats) {
                     std::memcpy(out + 8 * at, texels + 4 * y, 8 * most);
                     continue;
                   }
                   float values[16];
                   for (std::size_t i = 0; i < 4 * most; ++i) {
                     values[i] = float_of(texels[4 * y + i / 4] >> 16 * (i % 4) & 0xFFFF);
                   }
                   std::memcpy(out + 16 * at, values, 16 * most);
                 }
               }
             }
           });
}

}  // namespace

extern "C" void compute(const void* const* in, const std::size_t*, void* const* out,
                        const double* shape, int threads) {
  const auto* blocks = static_cast<const unsigned char*>(in[0]);
  auto* texels = static_cast<char*>(out[0]);
  const int width = static_cast<int>(shape[0]), height = static_cast<int>(shape[1]);
  if (shape[2] != 0)
    decode<true>(blocks, texels, width, height, shape[3] != 0, threads);
  else
    decode<false>(blocks, texels, width, height, shape[3] != 0, threads);
}
