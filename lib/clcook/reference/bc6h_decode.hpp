// Scalar BC6H decoder, unsigned and signed, all 14 modes, bit-exact with Microsoft's rule. std
// only.
//
// A block is 16 bytes for 4 x 4 texels: header (mode, endpoints, partition), then indices. Bit k of
// a block is bit k % 8 of byte k / 8. Texel i is x + 4 y. A colour is three half bit patterns.
// Blocks of an image lie row by row; edge blocks are stored whole and cropped.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace clcook::reference::bc6h {

enum class Format { uf16, sf16 };

constexpr int kModes = 14;
constexpr int kReservedMode = 15;  // the mode index of the reserved codes 0x13, 0x17, 0x1B, 0x1F
constexpr std::size_t kBlockBytes = 16;

using Block = std::array<unsigned char, kBlockBytes>;
using Texels = std::array<std::uint16_t, 48>;  // R G B of texel 0, R G B of texel 1, ...

// Endpoint fields, 3 x endpoint + channel. w and x are the ends of region 0, y and z of region 1.
enum Field : unsigned char { rw, gw, bw, rx, gx, bx, ry, gy, by, rz, gz, bz };
constexpr std::size_t kFields = 12;

// The low bits of each field start at the same block bit in every mode that has the field; how many
// there are depends on the mode. All bits of bz are scattered.
constexpr int kFieldStart[kFields] = {5, 15, 25, 35, 45, 55, 65, 41, 61, 71, 51, 0};

struct ScatteredBit {
  unsigned char field, bit, at;  // bit `bit` of field `field` is block bit `at`
};

struct Mode {
  unsigned char code, code_bits;
  unsigned char regions;
  bool transformed;         // x, y, z are stored as differences from w
  unsigned char precision;  // bits of every endpoint once it is reconstructed
  unsigned char delta[3];   // stored bits of x, y, z, for R, G, B
  unsigned char length[kFields];
  unsigned char scattered;
  ScatteredBit bits[18];
};

// In the order of the mode index.
// clang-format off
constexpr Mode kMode[kModes] = {
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

// The mode index 0..13 of a block's first bits, or kReservedMode.
constexpr int mode_index(std::uint32_t word) {
  switch (word & 3) {
    case 0:
      return 0;
    case 1:
      return 1;
    case 2:
      return 2 + static_cast<int>(word >> 2 & 7);
    default:
      return (word & 16) != 0 ? kReservedMode : 10 + static_cast<int>(word >> 2 & 3);
  }
}

// `count` block bits from bit `at` on, the first one lowest.
inline int block_bits(const unsigned char* block, int at, int count) {
  int value = 0;
  for (int i = 0; i < count; ++i) {
    value |= (block[(at + i) / 8] >> ((at + i) % 8) & 1) << i;
  }
  return value;
}

inline int mode_of(const unsigned char* block) { return mode_index(block[0]); }

// The anchor of region 1; past the last texel in one-region modes.
inline int second_anchor(const Mode& mode, int partition) {
  return mode.regions == 2 ? kAnchor[partition] : 16;
}

constexpr int index_bits(const Mode& mode) { return mode.regions == 2 ? 3 : 4; }

// Bits stored of a texel's index: one less for an anchor.
inline int index_width(const Mode& mode, int partition, int texel) {
  return index_bits(mode) - (texel == 0 || texel == second_anchor(mode, partition) ? 1 : 0);
}

// The block bit at which a texel's index starts.
inline int index_start(const Mode& mode, int partition, int texel) {
  return (mode.regions == 2 ? 82 : 65) + index_bits(mode) * texel - (texel > 0 ? 1 : 0) -
         (texel > second_anchor(mode, partition) ? 1 : 0);
}

inline int region_of(const Mode& mode, int partition, int texel) {
  return mode.regions == 2 ? kPartition[partition] >> texel & 1 : 0;
}

// What a block stores, taken apart. Of a reserved block only the mode is set.
struct Parts {
  int mode = kReservedMode;
  int partition = 0;                     // 0 in one-region modes
  std::array<int, kFields> fields = {};  // as stored: not negative; 0 where the mode has none
  std::array<int, 16> indices = {};
};

inline Parts unpack(const unsigned char* block) {
  Parts parts;
  parts.mode = mode_of(block);
  if (parts.mode == kReservedMode) return parts;
  const Mode& mode = kMode[parts.mode];
  for (std::size_t f = 0; f < kFields; ++f) {
    parts.fields[f] = block_bits(block, kFieldStart[f], mode.length[f]);
  }
  for (int i = 0; i < mode.scattered; ++i) {
    const ScatteredBit& s = mode.bits[i];
    parts.fields[s.field] |= block_bits(block, s.at, 1) << s.bit;
  }
  if (mode.regions == 2) parts.partition = block_bits(block, 77, 5);
  for (int i = 0; i < 16; ++i) {
    parts.indices[static_cast<std::size_t>(i)] = block_bits(
        block, index_start(mode, parts.partition, i), index_width(mode, parts.partition, i));
  }
  return parts;
}

// The number that the low `bits` bits are in two's complement.
constexpr int sign_extend(int value, int bits) {
  const int low = value & ((1 << bits) - 1);
  return (low >> (bits - 1) & 1) != 0 ? low - (1 << bits) : low;
}

// Endpoints of `precision` bits, in the order of Field.
inline std::array<int, kFields> endpoints(const Parts& parts, Format format) {
  const Mode& mode = kMode[parts.mode];
  const bool is_signed = format == Format::sf16;
  const int p = mode.precision;
  std::array<int, kFields> e = parts.fields;
  for (std::size_t f = 0; f < 6u * mode.regions; ++f) {
    const std::size_t channel = f % 3;
    if (f < 3) {
      if (is_signed) e[f] = sign_extend(e[f], p);
      continue;
    }
    if (is_signed || mode.transformed) e[f] = sign_extend(e[f], mode.delta[channel]);
    if (mode.transformed) {
      e[f] = (e[f] + e[channel]) & ((1 << p) - 1);  // wraps around on purpose
      if (is_signed) e[f] = sign_extend(e[f], p);
    }
  }
  return e;
}

// An endpoint of p bits stretched to 0 .. 65535 or -32767 .. 32767. Signed endpoints of 16 bits
// pass as they are, -32768 too.
constexpr int unquantise(int e, int p, Format format) {
  if (format == Format::uf16) {
    if (p >= 15 || e == 0) return e;
    if (e == (1 << p) - 1) return 0xFFFF;
    return ((e << 16) + 0x8000) >> p;
  }
  if (p >= 16 || e == 0) return e;
  const int m = e < 0 ? -e : e;
  const int stretched = m >= (1 << (p - 1)) - 1 ? 0x7FFF : ((m << 15) + 0x4000) >> (p - 1);
  return e < 0 ? -stretched : stretched;
}

// Between the unquantised endpoints a (weight 0) and b (weight 64), rounded; >> of a negative
// number is the arithmetic shift.
constexpr int interpolate(int a, int b, int weight) {
  return (a * (64 - weight) + b * weight + 32) >> 6;
}

// The half of an interpolated value. A negative value whose half is 0 gives +0. Only -32768 gives
// an infinity, and nothing gives a NaN.
constexpr std::uint16_t finish(int v, Format format) {
  if (format == Format::uf16) return static_cast<std::uint16_t>(v * 31 >> 6);
  const int magnitude = (v < 0 ? -v : v) * 31 >> 5;
  return static_cast<std::uint16_t>(v < 0 && magnitude != 0 ? magnitude | 0x8000 : magnitude);
}

// The weight of endpoint b for an index.
constexpr int weight_of(const Mode& mode, int index) {
  return mode.regions == 2 ? kWeight3[index] : kWeight4[index];
}

// Decodes one block. Reserved blocks are black: all bits 0.
inline Texels decode_block(const unsigned char* block, Format format) {
  Texels out = {};
  const Parts parts = unpack(block);
  if (parts.mode == kReservedMode) return out;
  const Mode& mode = kMode[parts.mode];
  std::array<int, kFields> ends = endpoints(parts, format);
  for (int& e : ends) e = unquantise(e, mode.precision, format);
  for (std::size_t i = 0; i < 16; ++i) {
    const std::size_t first =
        6 * static_cast<std::size_t>(region_of(mode, parts.partition, static_cast<int>(i)));
    const int weight = weight_of(mode, parts.indices[i]);
    for (std::size_t c = 0; c < 3; ++c) {
      out[3 * i + c] = finish(interpolate(ends[first + c], ends[first + 3 + c], weight), format);
    }
  }
  return out;
}

// Blocks across a side of this many texels.
constexpr std::size_t blocks_across(std::size_t texels) { return texels / 4 + (texels % 4 != 0); }

// Decodes width x height texels to 3 halfs each, row by row. Throws std::invalid_argument when a
// side is 0 or `bytes` is not the size of the blocks.
inline std::vector<std::uint16_t> decode_image(const unsigned char* blocks, std::size_t bytes,
                                               std::size_t width, std::size_t height,
                                               Format format) {
  const std::size_t wide = blocks_across(width);
  const std::size_t high = blocks_across(height);
  const std::size_t count = bytes / kBlockBytes;
  if (width == 0 || height == 0 || bytes % kBlockBytes != 0 || count / wide != high ||
      count % wide != 0) {
    throw std::invalid_argument("bc6h::decode_image: " + std::to_string(bytes) +
                                " bytes are not the blocks of " + std::to_string(width) + " x " +
                                std::to_string(height) + " texels");
  }
  std::vector<std::uint16_t> out(width * height * 3);
  for (std::size_t row = 0; row < high; ++row) {
    for (std::size_t column = 0; column < wide; ++column) {
      const Texels texels = decode_block(blocks + (row * wide + column) * kBlockBytes, format);
      for (std::size_t i = 0; i < 16; ++i) {
        const std::size_t x = column * 4 + i % 4;
        const std::size_t y = row * 4 + i / 4;
        if (x >= width || y >= height) continue;
        for (std::size_t c = 0; c < 3; ++c) out[(y * width + x) * 3 + c] = texels[3 * i + c];
      }
    }
  }
  return out;
}

constexpr std::uint16_t kHalfOne = 0x3C00;

// RGB halfs with an alpha of 1.
inline std::vector<std::uint16_t> to_rgba(const std::vector<std::uint16_t>& rgb) {
  std::vector<std::uint16_t> out;
  out.reserve(rgb.size() / 3 * 4);
  for (std::size_t i = 0; i + 2 < rgb.size(); i += 3) {
    out.insert(out.end(), {rgb[i], rgb[i + 1], rgb[i + 2], kHalfOne});
  }
  return out;
}

// The float of a half bit pattern: exact, subnormals, infinities and NaN payloads included.
inline float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  const std::uint32_t exponent = half >> 10 & 31u;
  const std::uint32_t fraction = half & 0x3FFu;
  std::uint32_t bits = 0;
  if (exponent == 31) {
    bits = sign | 0x7F800000u | fraction << 13;
  } else if (exponent != 0) {
    bits = sign | (exponent + 112) << 23 | fraction << 13;
  } else {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;  // zero or subnormal
    std::memcpy(&bits, &magnitude, sizeof bits);
    bits |= sign;
  }
  float out = 0;
  std::memcpy(&out, &bits, sizeof out);
  return out;
}

// The floats of a row of halfs.
inline std::vector<float> to_float(const std::vector<std::uint16_t>& halfs) {
  std::vector<float> out;
  out.reserve(halfs.size());
  for (const std::uint16_t half : halfs) out.push_back(half_to_float(half));
  return out;
}

}  // namespace clcook::reference::bc6h
