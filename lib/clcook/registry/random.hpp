// Reproducible pseudo-random test data.
#pragma once

#include <cstdint>

namespace clcook {

// SplitMix64 (Steele, Lea, Flood 2014): the same numbers on every machine and with every standard
// library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }

  std::uint32_t bits32() { return static_cast<std::uint32_t>(bits() >> 32); }

  // In [0, 1), a multiple of 2^-24.
  float uniform() { return static_cast<float>(bits() >> 40) * 0x1p-24f; }

  // In [low, high).
  float uniform(float low, float high) { return low + (high - low) * uniform(); }

  // In [0, count), for count at least 1.
  std::uint64_t below(std::uint64_t count) { return bits() % count; }

 private:
  std::uint64_t state_;
};

}  // namespace clcook
