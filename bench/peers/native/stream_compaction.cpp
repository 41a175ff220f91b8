// stream_compaction as a plain loop: each thread appends to a list of its own without a branch, then
// the lists are put together. shape: threshold.
#include <cstdint>
#include <cstring>
#include <memory>

#include "parallel.hpp"

extern "C" void compute(const void* const* in, const std::size_t* bytes, void* const* out,
                        const double* shape, int threads) {
  const auto* pixels = static_cast<const std::uint32_t*>(in[0]);
  const std::size_t count = bytes[0] / 4;
  const auto threshold = static_cast<std::uint32_t>(shape[0]);
  auto* dst = static_cast<std::uint32_t*>(out[0]);
  static std::unique_ptr<std::uint32_t[]> lists;
  static std::size_t room = 0;
  if (room < count + 1) {
    lists.reset(new std::uint32_t[count + 64]);
    room = count + 1;
  }
  std::vector<std::size_t> first(static_cast<std::size_t>(threads));
  std::vector<std::size_t> found(static_cast<std::size_t>(threads));
  parallel(threads, count, [&](std::size_t begin, std::size_t end, int thread) {
    std::uint32_t* list = lists.get() + begin;
    std::size_t n = 0;
    for (std::size_t i = begin; i + 1 < end; ++i) {
      const std::uint32_t p = pixels[i];
      list[n] = static_cast<std::uint32_t>(i);
      n += 54 * (p & 0xFF) + 183 * (p >> 8 & 0xFF) + 19 * (p >> 16 & 0xFF) >= threshold;
    }
    const std::uint32_t p = pixels[end - 1];
    if (54 * (p & 0xFF) + 183 * (p >> 8 & 0xFF) + 19 * (p >> 16 & 0xFF) >= threshold)
      list[n++] = static_cast<std::uint32_t>(end - 1);
    first[static_cast<std::size_t>(thread)] = begin;
    found[static_cast<std::size_t>(thread)] = n;
  });
  std::vector<std::size_t> to(found.size() + 1);
  for (std::size_t i = 0; i < found.size(); ++i) to[i + 1] = to[i] + found[i];
  parallel(threads, found.size(), [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t i = begin; i < end; ++i)
      std::memcpy(dst + to[i], lists.get() + first[i], found[i] * 4);
  });
  const auto kept = static_cast<std::uint32_t>(to.back());
  std::memcpy(out[1], &kept, 4);
}
