// threshold_count as plain loops: few thresholds are all compared with blocks of values, which
// compilers make vectors of; many are searched by halves. shape: bytes of a slot.
#include <algorithm>
#include <cstdint>

#include "parallel.hpp"

template <class Slot>
static void slots(const float* x, Slot* out, std::size_t begin, std::size_t end, const float* t,
                  std::size_t n) {
  constexpr std::size_t kBlock = 256;
  if (n <= 48) {
    for (std::size_t i = begin; i < end; i += kBlock) {
      const std::size_t size = std::min(kBlock, end - i);
      std::int32_t count[kBlock] = {};
      for (std::size_t k = 0; k < n; ++k) {
        for (std::size_t j = 0; j < size; ++j) count[j] += !(x[i + j] >= t[k]);
      }
      for (std::size_t j = 0; j < size; ++j) out[i + j] = static_cast<Slot>(count[j]);
    }
    return;
  }
  for (std::size_t i = begin; i < end; ++i) {
    const float* first = t;
    for (std::size_t left = n; left > 1; left -= left / 2)
      first += x[i] >= first[left / 2 - 1] ? 0 : left / 2;
    out[i] = static_cast<Slot>(first - t + !(x[i] >= *first));
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
