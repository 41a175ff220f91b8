// Scalar BC6H encoder: right, not optimal. Every block it writes is valid in both decoders. std
// only.
//
// The ends of a region are the extreme texels along the principal axis of its colours; a block
// takes the mode with the least squared error among all 14, the two-region modes with one partition
// chosen beforehand. Distances are measured between half bit patterns, which is about logarithmic.
#pragma once

#include <algorithm>
#include <array>
#include <clcook/reference/bc6h_decode.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace clcook::reference::bc6h {

// Writes the low `count` bits of a value from block bit `at` on. The bits must be 0 before.
inline void put_bits(Block& block, int at, int count, int value) {
  for (int i = 0; i < count; ++i) {
    const std::size_t byte = static_cast<std::size_t>((at + i) / 8);
    block[byte] = static_cast<unsigned char>(block[byte] | (value >> i & 1) << ((at + i) % 8));
  }
}

// The inverse of unpack. Bits that a field has no room for are dropped; the highest index bit of an
// anchor too. Throws std::invalid_argument for a mode that is none of 0..13.
inline Block pack(const Parts& parts) {
  if (parts.mode < 0 || parts.mode >= kModes) {
    throw std::invalid_argument("bc6h::pack: mode " + std::to_string(parts.mode) +
                                " is none of 0..13");
  }
  const Mode& mode = kMode[parts.mode];
  const int partition = mode.regions == 2 ? parts.partition & 31 : 0;
  Block block = {};
  put_bits(block, 0, mode.code_bits, mode.code);
  for (std::size_t f = 0; f < kFields; ++f) {
    put_bits(block, kFieldStart[f], mode.length[f], parts.fields[f]);
  }
  for (int i = 0; i < mode.scattered; ++i) {
    const ScatteredBit& s = mode.bits[i];
    put_bits(block, s.at, 1, parts.fields[s.field] >> s.bit);
  }
  if (mode.regions == 2) put_bits(block, 77, 5, partition);
  for (int i = 0; i < 16; ++i) {
    put_bits(block, index_start(mode, partition, i), index_width(mode, partition, i),
             parts.indices[static_cast<std::size_t>(i)]);
  }
  return block;
}

// The half nearest to a float, ties to even; what is beyond 65504 becomes infinite.
inline std::uint16_t half_from_float(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  const std::uint32_t sign = bits >> 16 & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
  std::uint32_t half = 0;
  if (magnitude > 0x7F800000u) {
    half = 0x7E00;
  } else if (magnitude >= 0x477FF000u) {  // 65520
    half = 0x7C00;
  } else if (magnitude >= 0x38800000u) {  // 2^-14: normal
    half = (magnitude - 0x38000000u + 0xFFFu + (magnitude >> 13 & 1u)) >> 13;
  } else {
    half = static_cast<std::uint32_t>(std::nearbyint(std::fabs(value) * 0x1p24f));
  }
  return static_cast<std::uint16_t>(sign | half);
}

// The number whose `finish` is this half. NaN becomes 0, infinities 65504; UF16 has no numbers
// below 0.
constexpr int unfinish(std::uint16_t half, Format format) {
  const int magnitude = half & 0x7FFF;
  if (magnitude > 0x7C00) return 0;
  const int finite = magnitude < 0x7BFF ? magnitude : 0x7BFF;
  const bool negative = (half & 0x8000) != 0;
  if (format == Format::uf16) return negative ? 0 : (finite * 64 + 30) / 31;
  const int v = (finite * 32 + 30) / 31;
  return negative ? -v : v;
}

// The endpoint of p bits whose unquantised value lies nearest to v.
inline int quantise(int v, int p, Format format) {
  const bool is_signed = format == Format::sf16;
  const int m = v < 0 ? -v : v;
  const int bits = is_signed ? p - 1 : p;
  const int most = (1 << bits) - 1;
  const int guess =
      static_cast<int>((static_cast<std::int64_t>(m) << bits) >> (is_signed ? 15 : 16));
  int best = 0;
  int least = std::numeric_limits<int>::max();
  for (int e = std::max(0, guess - 1); e <= std::min(most, guess + 1); ++e) {
    const int off = std::abs(unquantise(e, p, format) - m);
    if (off < least) {
      least = off;
      best = e;
    }
  }
  return v < 0 ? -best : best;
}

using Numbers = std::array<int, 48>;  // the texels before `finish`

namespace encoder {

// The two ends of the texels of a mask: {R G B, R G B}.
inline std::array<int, 6> ends_of(const Numbers& v, unsigned mask) {
  double mean[3] = {0, 0, 0};
  int count = 0;
  for (unsigned i = 0; i < 16; ++i) {
    if ((mask >> i & 1) == 0) continue;
    ++count;
    for (unsigned c = 0; c < 3; ++c) mean[c] += v[3 * i + c];
  }
  for (double& m : mean) m /= count;
  double covariance[3][3] = {};
  for (unsigned i = 0; i < 16; ++i) {
    if ((mask >> i & 1) == 0) continue;
    for (unsigned a = 0; a < 3; ++a) {
      for (unsigned b = 0; b < 3; ++b) {
        covariance[a][b] += (v[3 * i + a] - mean[a]) * (v[3 * i + b] - mean[b]);
      }
    }
  }
  // Power iteration, from the channel that varies most.
  unsigned most = 0;
  for (unsigned c = 1; c < 3; ++c) {
    if (covariance[c][c] > covariance[most][most]) most = c;
  }
  double axis[3] = {covariance[most][0], covariance[most][1], covariance[most][2]};
  for (int round = 0; round < 8; ++round) {
    double next[3];
    double length = 0;
    for (unsigned a = 0; a < 3; ++a) {
      next[a] =
          covariance[a][0] * axis[0] + covariance[a][1] * axis[1] + covariance[a][2] * axis[2];
      length = std::max(length, std::fabs(next[a]));
    }
    if (length == 0) break;
    for (unsigned a = 0; a < 3; ++a) axis[a] = next[a] / length;
  }
  unsigned low = 16;
  unsigned high = 16;
  double lowest = 0;
  double highest = 0;
  for (unsigned i = 0; i < 16; ++i) {
    if ((mask >> i & 1) == 0) continue;
    const double along = v[3 * i] * axis[0] + v[3 * i + 1] * axis[1] + v[3 * i + 2] * axis[2];
    if (low == 16 || along < lowest) {
      low = i;
      lowest = along;
    }
    if (high == 16 || along > highest) {
      high = i;
      highest = along;
    }
  }
  return {v[3 * low],  v[3 * low + 1],  v[3 * low + 2],
          v[3 * high], v[3 * high + 1], v[3 * high + 2]};
}

// A cheap measure of how badly one line fits the texels of a mask: squared distances from the line
// through the two ends.
inline double misfit(const Numbers& v, unsigned mask) {
  const std::array<int, 6> ends = ends_of(v, mask);
  double direction[3];
  double length = 0;
  for (unsigned c = 0; c < 3; ++c) {
    direction[c] = static_cast<double>(ends[3 + c]) - ends[c];
    length += direction[c] * direction[c];
  }
  double sum = 0;
  for (unsigned i = 0; i < 16; ++i) {
    if ((mask >> i & 1) == 0) continue;
    double squared = 0;
    double along = 0;
    for (unsigned c = 0; c < 3; ++c) {
      const double d = static_cast<double>(v[3 * i + c]) - ends[c];
      squared += d * d;
      along += d * direction[c];
    }
    sum += squared - (length > 0 ? along * along / length : 0);
  }
  return sum;
}

}  // namespace encoder

// Encodes as one mode and, for two regions, one partition. Nothing when the differences between the
// endpoints do not fit the mode; modes 9 and 10 fit always. Throws std::invalid_argument for a mode
// outside 0..13 or a partition outside 0..31.
inline std::optional<Block> encode_block_as(const Texels& texels, Format format, int mode_number,
                                            int partition = 0) {
  if (mode_number < 0 || mode_number >= kModes || partition < 0 || partition > 31) {
    throw std::invalid_argument("bc6h::encode_block_as: mode " + std::to_string(mode_number) +
                                " of 0..13, partition " + std::to_string(partition) + " of 0..31");
  }
  const Mode& mode = kMode[mode_number];
  const int p = mode.precision;
  Numbers v = {};
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = unfinish(texels[i], format);
  Parts parts;
  parts.mode = mode_number;
  parts.partition = mode.regions == 2 ? partition : 0;

  std::array<int, kFields> ends = {};
  const int last = (1 << index_bits(mode)) - 1;
  for (int region = 0; region < mode.regions; ++region) {
    unsigned mask = 0;
    for (int i = 0; i < 16; ++i) {
      if (region_of(mode, parts.partition, i) == region) mask |= 1u << i;
    }
    const std::array<int, 6> exact = encoder::ends_of(v, mask);
    int* const a = &ends[6 * static_cast<std::size_t>(region)];
    int* const b = a + 3;
    for (std::size_t c = 0; c < 6; ++c) a[c] = quantise(exact[c], p, format);
    for (std::size_t i = 0; i < 16; ++i) {
      if ((mask >> i & 1) == 0) continue;
      std::int64_t least = std::numeric_limits<std::int64_t>::max();
      for (int index = 0; index <= last; ++index) {
        std::int64_t sum = 0;
        for (std::size_t c = 0; c < 3; ++c) {
          const std::int64_t off =
              interpolate(unquantise(a[c], p, format), unquantise(b[c], p, format),
                          weight_of(mode, index)) -
              v[3 * i + c];
          sum += off * off;
        }
        if (sum < least) {
          least = sum;
          parts.indices[i] = index;
        }
      }
    }
    // The anchor's highest index bit is not stored and must be 0: else exchange the ends. The
    // weights are symmetric, so nothing else changes.
    const int anchor = region == 0 ? 0 : second_anchor(mode, parts.partition);
    if (parts.indices[static_cast<std::size_t>(anchor)] > last / 2) {
      std::swap_ranges(a, b, b);
      for (std::size_t i = 0; i < 16; ++i) {
        if ((mask >> i & 1) != 0) parts.indices[i] = last - parts.indices[i];
      }
    }
  }

  for (std::size_t f = 0; f < 6u * mode.regions; ++f) {
    int stored = ends[f];
    int bits = p;
    if (f >= 3 && mode.transformed) {
      bits = mode.delta[f % 3];
      stored -= ends[f % 3];
      if (stored < -(1 << (bits - 1)) || stored >= 1 << (bits - 1)) return std::nullopt;
    }
    parts.fields[f] = stored & ((1 << bits) - 1);
  }
  return pack(parts);
}

// The sum of squared differences between a decoded block and the texels, before `finish`.
inline double block_error(const Texels& texels, const Block& block, Format format) {
  const Texels decoded = decode_block(block.data(), format);
  double sum = 0;
  for (std::size_t i = 0; i < texels.size(); ++i) {
    const double off =
        static_cast<double>(unfinish(texels[i], format)) - unfinish(decoded[i], format);
    sum += off * off;
  }
  return sum;
}

// Encodes 16 texels of any half values. NaN becomes 0, infinities +-65504; for UF16 negative
// numbers become 0.
inline Block encode_block(const Texels& texels, Format format) {
  Numbers v = {};
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = unfinish(texels[i], format);
  int partition = 0;
  double least = std::numeric_limits<double>::infinity();
  for (int k = 0; k < 32; ++k) {
    const unsigned mask = kPartition[k];
    const double bad = encoder::misfit(v, mask) + encoder::misfit(v, ~mask & 0xFFFFu);
    if (bad < least) {
      least = bad;
      partition = k;
    }
  }
  Block best = {};
  least = std::numeric_limits<double>::infinity();
  for (int mode = 0; mode < kModes; ++mode) {
    const std::optional<Block> block = encode_block_as(texels, format, mode, partition);
    if (!block) continue;
    const double error = block_error(texels, *block, format);
    if (error < least) {
      least = error;
      best = *block;
    }
  }
  return best;
}

// Encodes width x height texels of 3 halfs each, row by row, to the blocks of the image. Edge
// blocks repeat the last texel. Throws std::invalid_argument when a side is 0 or the sizes do not
// agree.
inline std::vector<unsigned char> encode_image(const std::vector<std::uint16_t>& rgb,
                                               std::size_t width, std::size_t height,
                                               Format format) {
  if (width == 0 || height == 0 || rgb.size() % 3 != 0 || rgb.size() / 3 % width != 0 ||
      rgb.size() / 3 / width != height) {
    throw std::invalid_argument("bc6h::encode_image: " + std::to_string(rgb.size()) +
                                " halfs are not " + std::to_string(width) + " x " +
                                std::to_string(height) + " texels of 3");
  }
  std::vector<unsigned char> out;
  out.reserve(blocks_across(width) * blocks_across(height) * kBlockBytes);
  for (std::size_t row = 0; row < blocks_across(height); ++row) {
    for (std::size_t column = 0; column < blocks_across(width); ++column) {
      Texels texels = {};
      for (std::size_t i = 0; i < 16; ++i) {
        const std::size_t x = std::min(column * 4 + i % 4, width - 1);
        const std::size_t y = std::min(row * 4 + i / 4, height - 1);
        for (std::size_t c = 0; c < 3; ++c) texels[3 * i + c] = rgb[(y * width + x) * 3 + c];
      }
      const Block block = encode_block(texels, format);
      out.insert(out.end(), block.begin(), block.end());
    }
  }
  return out;
}

}  // namespace clcook::reference::bc6h
