// bc6h_mode as a plain loop over a table. shape: words from header to header.
#include <cstdint>

#include "parallel.hpp"

static const std::uint8_t kMode[32] = {0, 1, 2, 10, 0, 1, 3, 11, 0, 1, 4, 12, 0, 1, 5, 13,
                                       0, 1, 6, 15, 0, 1, 7, 15, 0, 1, 8, 15, 0, 1, 9, 15};

extern "C" void compute(const void* const* in, const std::size_t* bytes, void* const* out,
                        const double* shape, int threads) {
  const auto* headers = static_cast<const std::uint32_t*>(in[0]);
  auto* modes = static_cast<std::uint8_t*>(out[0]);
  const auto stride = static_cast<std::size_t>(shape[0]);
  parallel(threads, bytes[0] / 4 / stride, [&](std::size_t begin, std::size_t end, int) {
    if (stride == 1) {
      for (std::size_t i = begin; i < end; ++i) modes[i] = kMode[headers[i] & 31];
    } else {
      for (std::size_t i = begin; i < end; ++i) modes[i] = kMode[headers[i * stride] & 31];
    }
  });
}
