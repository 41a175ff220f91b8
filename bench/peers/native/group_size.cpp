// group_size as plain loops. in: the source, then the factor and the summand.
// shape: 0 streaming, 1 barriers, 2 divergent_loop, 3 slow_wave; most steps; width, height, spheres;
// 1 where the slow items are together.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "parallel.hpp"

namespace {

void prefix_sums(const std::uint32_t* in, std::uint32_t* out, std::size_t count, int threads) {
  constexpr std::size_t kSegment = 1024;
  parallel(threads, (count + kSegment - 1) / kSegment,
           [&](std::size_t begin, std::size_t end, int) {
             for (std::size_t first = begin * kSegment; first < std::min(count, end * kSegment);
                  first += kSegment) {
               std::uint32_t sum = 0;
               for (std::size_t i = first; i < std::min(count, first + kSegment); ++i)
                 out[i] = sum += in[i];
             }
           });
}

// Blocks of items, the trips outside and the items inside, which compilers make vectors of.
void slow_wave(const std::uint32_t* in, std::uint32_t* out, std::size_t count, std::uint32_t steps,
               bool together, int threads) {
  constexpr std::size_t kBlock = 64;
  parallel(threads, (count + kBlock - 1) / kBlock, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t block = begin; block < end; ++block) {
      const std::size_t first = block * kBlock, size = std::min(kBlock, count - first);
      // Blocks are slow as a whole, but for the one where the slow end.
      std::uint32_t x[kBlock] = {}, most[kBlock] = {}, trips = 0;
      bool same = true;
      for (std::size_t j = 0; j < size; ++j) {
        const std::size_t i = first + j;
        x[j] = in[i];
        most[j] = (together ? i < count / 16 : i % 1024 < 64) ? steps : steps / 16;
        trips = std::max(trips, most[j]);
        same = same && most[j] == most[0];
      }
      for (std::uint32_t k = 0; k < trips; ++k) {
        if (same) {
          for (std::size_t j = 0; j < kBlock; ++j) x[j] = (x[j] ^ x[j] >> 15) * 0x2C1B3C6Du + k;
        } else {
          for (std::size_t j = 0; j < kBlock; ++j)
            x[j] = k < most[j] ? (x[j] ^ x[j] >> 15) * 0x2C1B3C6Du + k : x[j];
        }
      }
      std::copy_n(x, size, out + first);
    }
  });
}

struct Sphere {
  float x, y, z, radius;
};

struct Hit {
  float distance;
  std::int32_t steps;
};

// Rays of 16 neighbours step together, which compilers make vectors of.
void trace(const Sphere* spheres, int count, int width, int height, int most, Hit* hits,
           int threads) {
  constexpr int kLanes = 16;
  const float scale = 8.0f / static_cast<float>(height);
  const float left = -0.5f * scale * static_cast<float>(width - 1);
  const float top = 0.5f * scale * static_cast<float>(height - 1);
  parallel(threads, static_cast<std::size_t>(height), [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t row = begin; row < end; ++row) {
      const float v = std::fma(static_cast<float>(row), -scale, top);
      const float origin_y = std::fma(v, 0.96f, 4.36f), origin_z = std::fma(v, 0.28f, -11.52f);
      for (int column = 0; column < width; column += kLanes) {
        float u[kLanes], distance[kLanes] = {};
        std::int32_t steps[kLanes] = {}, active[kLanes];
        for (int j = 0; j < kLanes; ++j) {
          u[j] = std::fma(static_cast<float>(column + j), scale, left);
          active[j] = 1;
        }
        for (int step = 0; step < most; ++step) {
          float nearest[kLanes];
          for (int j = 0; j < kLanes; ++j) nearest[j] = std::fma(distance[j], -0.28f, origin_y);
          for (int s = 0; s < count; ++s) {
            const Sphere sphere = spheres[s];
            for (int j = 0; j < kLanes; ++j) {
              const float dx = u[j] - sphere.x;
              const float dy = std::fma(distance[j], -0.28f, origin_y) - sphere.y;
              const float dz = std::fma(distance[j], 0.96f, origin_z) - sphere.z;
              const float square = std::fma(dx, dx, std::fma(dy, dy, dz * dz));
              const float to = std::sqrt(square) - sphere.radius;
              nearest[j] = to < nearest[j] ? to : nearest[j];
            }
          }
          std::int32_t any = 0;
          for (int j = 0; j < kLanes; ++j) {
            active[j] = active[j] && !(nearest[j] < 0x1p-10f);
            distance[j] += active[j] ? nearest[j] : 0.0f;
            steps[j] += active[j];
            any |= active[j];
          }
          if (any == 0) break;
        }
        for (int j = 0; j < std::min(kLanes, width - column); ++j)
          hits[row * static_cast<std::size_t>(width) + static_cast<std::size_t>(column + j)] = {
              distance[j], steps[j]};
      }
    }
  });
}

}  // namespace

extern "C" void compute(const void* const* in, const std::size_t* bytes, void* const* out,
                        const double* shape, int threads) {
  const std::size_t count = bytes[0] / 4;
  const auto* words = static_cast<const std::uint32_t*>(in[0]);
  auto* results = static_cast<std::uint32_t*>(out[0]);
  const auto number = [&](int i) { return static_cast<int>(shape[i]); };
  if (number(0) == 0) {
    const auto* x = static_cast<const float*>(in[0]);
    const auto* line = static_cast<const float*>(in[1]);
    const float factor = line[0], summand = line[1];
    auto* y = static_cast<float*>(out[0]);
    parallel(threads, count, [&](std::size_t begin, std::size_t end, int) {
      for (std::size_t i = begin; i < end; ++i) y[i] = std::fma(factor, x[i], summand);
    });
  } else if (number(0) == 1) {
    prefix_sums(words, results, count, threads);
  } else if (number(0) == 2) {
    trace(static_cast<const Sphere*>(in[0]), number(4), number(2), number(3), number(1),
          static_cast<Hit*>(out[0]), threads);
  } else {
    slow_wave(words, results, count, static_cast<std::uint32_t>(number(1)), shape[5] != 0, threads);
  }
}
