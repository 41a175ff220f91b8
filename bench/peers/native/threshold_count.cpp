// threshold_count as plain loops over blocks of values, which compilers make vectors of: few
// thresholds are all compared, many are searched by halves. shape: bytes of a slot.
#include <algorithm>
#include <cstdint>

#include "parallel.hpp"

template <class Slot>
static void slots(const float* x, Slot* out, std::size_t begin, std::size_t end, const float* t,
                  std::size_t n) {
  constexpr std::size_t kBlock = 256;
  for (std::size_t i = begin; i < end; i += kBlock) {
    const std::size_t size = std::min(kBlock, end - i);
    const float* block = x + i;
    std::int32_t count[kBlock] = {};
    if (n <= 48) {
      for (std::size_t k = 0; k < n; ++k) {
        for (std::size_t j = 0; j < size; ++j) count[j] += !(block[j] >= t[k]);
      }
    } else {
      auto left = static_cast<std::int32_t>(n);
      for (; left > 1; left -= left / 2) {
        const std::int32_t half = left / 2;
        for (std::size_t j = 0; j < size; ++j)
          count[j] += half * !(block[j] >= t[count[j] + half - 1]);
      }
      for (std::size_t j = 0; j < size; ++j) count[j] += !(block[j] >= t[count[j]]);
    }
    for (std::size_t j = 0; j < size; ++j) out[i + j] = static_cast<Slot>(count[j]);
  }
}

extern "C" void compute(const void* const* in, const std::size_t* bytes, void* const* out,
                        const double* shape, int threads) {
  const auto* x = static_cast<const float*>(in[0]);
  const auto* t = static_cast<const float*>(in[1]);
  parallel(threads, bytes[0] / 4, [&](std::size_t begin, std::size_t end, int) {
    if (shape[0] == 1)
      slots(x, static_cast<std::uint8_t*>(out[0]), begin, end, t, bytes[1] / 4);
    else
      slots(x, static_cast<std::uint32_t*>(out[0]), begin, end, t, bytes[1] / 4);
  });
}
