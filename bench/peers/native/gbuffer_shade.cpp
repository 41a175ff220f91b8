// gbuffer_shade as plain loops: 32 texels are unpacked, then the lights one after the other with the
// texels inside, which compilers make vectors of.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "parallel.hpp"

struct Light {
  std::int32_t x, y, z;
  std::uint32_t colour;
};

extern "C" void compute(const void* const* in, const std::size_t* bytes, void* const* out,
                        const double*, int threads) {
  const auto* words = static_cast<const std::uint32_t*>(in[0]);
  const auto* lights = static_cast<const Light*>(in[1]);
  const std::size_t count = bytes[1] / sizeof(Light);
  std::uint32_t fog_colour = 0;
  std::memcpy(&fog_colour, in[2], 4);
  auto* colours = static_cast<std::uint32_t*>(out[0]);
  constexpr std::size_t kBlock = 32;
  const std::size_t texels = bytes[0] / 16;
  parallel(threads, (texels + kBlock - 1) / kBlock, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t block = begin; block < end; ++block) {
      const std::size_t first = block * kBlock;
      const std::size_t size = std::min(kBlock, texels - first);
      std::int32_t x[kBlock] = {}, y[kBlock] = {}, z[kBlock] = {}, shadow[kBlock] = {};
      std::int32_t sum[3][kBlock] = {};
      for (std::size_t j = 0; j < size; ++j) {
        const std::uint32_t* w = words + (first + j) * 4;
        x[j] = static_cast<std::int8_t>(w[0]);
        y[j] = static_cast<std::int8_t>(w[0] >> 8);
        z[j] = static_cast<std::int8_t>(w[0] >> 16);
        sum[0][j] = sum[1][j] = sum[2][j] = static_cast<std::int32_t>(w[0] >> 24);
        shadow[j] = static_cast<std::int32_t>(w[3]);
      }
      for (std::size_t l = 0; l < count; ++l) {
        const Light light = lights[l];
        const std::int32_t r = light.colour & 255, g = light.colour >> 8 & 255,
                           b = light.colour >> 16 & 255;
        for (std::size_t j = 0; j < kBlock; ++j) {
          const std::int32_t dot = x[j] * light.x + y[j] * light.y + z[j] * light.z;
          const std::int32_t reached = (shadow[j] >> l & 1) - 1;
          const std::int32_t d = std::max(0, dot) / 128 & reached;
          sum[0][j] += (d * r) >> 5;
          sum[1][j] += (d * g) >> 5;
          sum[2][j] += (d * b) >> 5;
        }
      }
      for (std::size_t j = 0; j < size; ++j) {
        const std::uint32_t* w = words + (first + j) * 4;
        float depth = 0;
        std::memcpy(&depth, w + 2, 4);
        const float far = std::fabs(depth);
        const std::int32_t fog = far < 1 ? static_cast<std::int32_t>(far * 256) : 256;
        std::uint32_t packed = 0xFF000000u;
        for (int c = 0; c < 3; ++c) {
          const std::int32_t albedo = w[1] >> (8 * c) & 255;
          const std::int32_t lit =
              std::signbit(depth) ? albedo : std::min(255, albedo * sum[c][j] / 1024);
          const std::int32_t mist = fog_colour >> (8 * c) & 255;
          packed |= static_cast<std::uint32_t>((lit * (256 - fog) + mist * fog) / 256) << (8 * c);
        }
        colours[first + j] = packed;
      }
    }
  });
}
