// Scalar reference of bc6h_mode: looks a header up in the list of the fourteen mode codes. std
// only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace clcook::reference::bc6h_mode {

constexpr int kModes = 14;
constexpr unsigned char kReserved = 15;

struct Code {
  std::uint32_t value;
  int bits;
};

// In the order of the mode index.
constexpr Code kCode[kModes] = {
    {0x00, 2}, {0x01, 2}, {0x02, 5}, {0x06, 5}, {0x0A, 5}, {0x0E, 5}, {0x12, 5},
    {0x16, 5}, {0x1A, 5}, {0x1E, 5}, {0x03, 5}, {0x07, 5}, {0x0B, 5}, {0x0F, 5},
};

constexpr unsigned char mode_index(std::uint32_t word) {
  for (int i = 0; i < kModes; ++i) {
    const std::uint32_t mask = (std::uint32_t{1} << kCode[i].bits) - 1;
    if ((word & mask) == kCode[i].value) return static_cast<unsigned char>(i);
  }
  return kReserved;
}

// The mode index of every `stride`-th word.
inline std::vector<unsigned char> mode_indices(const std::vector<std::uint32_t>& words,
                                               std::size_t stride) {
  std::vector<unsigned char> out(words.size() / stride);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = mode_index(words[i * stride]);
  return out;
}

}  // namespace clcook::reference::bc6h_mode
