// bc6h_decode as a plain loop: block after block, fields by shifts of the block's two words, then its
// texels. shape: width, height, 1 for the signed format, 1 for floats.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "../../../lib/clcook/reference/bc6h_decode.hpp"
#include "parallel.hpp"

namespace {

using namespace clcook::reference::bc6h;  // the tables of the format

constexpr std::uint64_t kAlpha = std::uint64_t{0x3C00} << 48;  // 1

struct Words {
  std::uint64_t low, high;

  int bits(int at, int count) const {
    const std::uint64_t from = at == 0    ? low
                               : at >= 64 ? high >> (at - 64)
                                          : low >> at | high << (64 - at);
    return static_cast<int>(from & ((std::uint64_t{1} << count) - 1));
  }
};

int sign_extend(int value, int bits) {
  const int top = 1 << (bits - 1);
  return ((value & (2 * top - 1)) ^ top) - top;
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
  constexpr Format kFormat = Signed ? Format::sf16 : Format::uf16;
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
  for (int& e : ends) e = unquantise(e, p, kFormat);
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
      halfs[c][i] = finish(interpolate(from, to, weight[i]), kFormat);
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
  const int mode = mode_index(block[0]);
  if (mode == kReservedMode) {  // black
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
