// rank_filter as plain loops, borders repeated. Bytes: a histogram that slides along each row (Huang
// 1979). Other types: the neighbours of a pixel are gathered, and std::nth_element() finds the rank.
// shape: 0 uint8, 1 uint16, 2 float; width, height, radius, number of the rank, channels.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "parallel.hpp"

namespace {

struct Size {
  int width, height, radius, rank, channels;
  std::size_t at(int x, int y, int c) const {
    return (static_cast<std::size_t>(std::clamp(y, 0, height - 1)) *
                static_cast<std::size_t>(width) +
            static_cast<std::size_t>(std::clamp(x, 0, width - 1))) *
               static_cast<std::size_t>(channels) +
           static_cast<std::size_t>(c);
  }
};

void slide(const std::uint8_t* src, std::uint8_t* dst, const Size& s, int y, int c) {
  int bins[256] = {};
  const auto column = [&](int x, int by) {
    for (int dy = -s.radius; dy <= s.radius; ++dy) bins[src[s.at(x, y + dy, c)]] += by;
  };
  for (int x = -s.radius; x < s.radius; ++x) column(x, 1);
  int bin = 0, below = 0;
  for (int x = 0; x < s.width; ++x) {
    for (int dy = -s.radius; dy <= s.radius; ++dy) {
      const int more = src[s.at(x + s.radius, y + dy, c)];
      ++bins[more];
      below += more < bin;
      if (x == 0) continue;
      const int less = src[s.at(x - s.radius - 1, y + dy, c)];
      --bins[less];
      below -= less < bin;
    }
    while (below > s.rank) below -= bins[--bin];
    while (below + bins[bin] <= s.rank) below += bins[bin++];
    dst[s.at(x, y, c)] = static_cast<std::uint8_t>(bin);
  }
}

template <class T>
void gather(const T* src, T* dst, const Size& s, int y, int c, std::vector<T>& near) {
  for (int x = 0; x < s.width; ++x) {
    near.clear();
    for (int dy = -s.radius; dy <= s.radius; ++dy)
      for (int dx = -s.radius; dx <= s.radius; ++dx) near.push_back(src[s.at(x + dx, y + dy, c)]);
    std::nth_element(near.begin(), near.begin() + s.rank, near.end());
    dst[s.at(x, y, c)] = near[static_cast<std::size_t>(s.rank)];
  }
}

template <class T>
void gather(const void* src, void* dst, const Size& s, int threads) {
  parallel(threads, static_cast<std::size_t>(s.height),
           [&](std::size_t begin, std::size_t end, int) {
             std::vector<T> near;
             for (std::size_t y = begin; y < end; ++y)
               for (int c = 0; c < s.channels; ++c)
                 gather(static_cast<const T*>(src), static_cast<T*>(dst), s, static_cast<int>(y), c,
                        near);
           });
}

}  // namespace

extern "C" void compute(const void* const* in, const std::size_t*, void* const* out,
                        const double* shape, int threads) {
  const auto number = [&](int i) { return static_cast<int>(shape[i]); };
  const Size size{number(1), number(2), number(3), number(4), number(5)};
  if (number(0) == 1) return gather<std::uint16_t>(in[0], out[0], size, threads);
  if (number(0) == 2) return gather<float>(in[0], out[0], size, threads);
  parallel(threads, static_cast<std::size_t>(size.height),
           [&](std::size_t begin, std::size_t end, int) {
             for (std::size_t y = begin; y < end; ++y)
               for (int c = 0; c < size.channels; ++c)
                 slide(static_cast<const std::uint8_t*>(in[0]), static_cast<std::uint8_t*>(out[0]),
                       size, static_cast<int>(y), c);
           });
}
