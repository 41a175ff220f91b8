// folded_switch as plain loops: patch after patch, the points in a small array, corner after corner.
#include <cstdint>
#include <cstring>

#include "parallel.hpp"

struct Point {
  float v[4];
};

static inline void add(Point& to, const Point& p, float weight) {
  for (int c = 0; c < 4; ++c) to.v[c] += p.v[c] * weight;
}

// What corner k gives: its corner, its interior point, and its two ends of edges.
static void corner(const Point* p, const std::uint8_t* valence, const int* prefix, int k,
                   Point* to) {
  static const int kCorner[4] = {0, 3, 15, 12}, kInterior[4] = {5, 6, 10, 9};
  static const int kNext[4] = {1, 7, 14, 8}, kBefore[4] = {4, 2, 11, 13};
  const int last = prefix[3];
  const auto wrapped = [&](int i) { return i < 4 ? i + last - 4 : i >= last ? i - last + 4 : i; };
  const int n = valence[k], next = (k + 1) % 4, across = (k + 2) % 4, before = (k + 3) % 4;
  const int first = k == 0 ? 4 : prefix[k - 1];
  const auto put = [&](int at, Point& sum, float divisor) {
    const float scale = 1 / divisor;
    for (int c = 0; c < 4; ++c) to[at].v[c] = sum.v[c] * scale;
  };
  const auto fn = static_cast<float>(n);
  Point inside{};
  add(inside, p[k], fn);
  add(inside, p[next], 2);
  add(inside, p[across], 1);
  add(inside, p[before], 2);
  put(kInterior[k], inside, fn + 5);
  Point end{};
  add(end, p[k], fn * fn);
  add(end, p[next], 4);
  add(end, p[before], 4);
  add(end, p[across], 1);
  add(end, p[wrapped(first - 1)], 1);
  for (int i = first; i <= prefix[k]; i += 2) {
    add(end, p[wrapped(i)], 4);
    add(end, p[wrapped(i + 1)], 1);
  }
  put(kCorner[k], end, fn * (fn + 5));
  const auto edge = [&](int at, int other, int fourth, int near, int far) {
    Point sum{};
    add(sum, p[k], 2 * fn);
    add(sum, p[other], 4);
    add(sum, p[across], 1);
    add(sum, p[fourth], 2);
    add(sum, p[near], 2);
    add(sum, p[far], 1);
    put(at, sum, 2 * fn + 10);
  };
  // The ring beyond the edge to the next corner begins where this one's points end.
  edge(kNext[k], next, before, wrapped(prefix[k] - 1), wrapped(prefix[k]));
  edge(kBefore[k], before, next, first, wrapped(first - 1));
}

extern "C" void compute(const void* const* in, const std::size_t* bytes, void* const* out,
                        const double*, int threads) {
  const auto* positions = static_cast<const Point*>(in[0]);
  const auto* valences = static_cast<const std::uint8_t*>(in[1]);
  const auto* indices = static_cast<const std::uint32_t*>(in[2]);
  const std::size_t patches = bytes[1] / 4;
  parallel(threads, patches, [&](std::size_t begin, std::size_t end, int) {
    std::size_t start = 0;
    for (std::size_t i = 0; i < 4 * begin; ++i) start += valences[i];
    start = 2 * start - 16 * begin;
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint8_t* n = valences + 4 * i;
      int prefix[4], sum = 4;
      for (int k = 0; k < 4; ++k) prefix[k] = sum += 2 * n[k] - 5;
      Point points[48];
      for (int j = 0; j < sum; ++j)
        points[j] = positions[indices[start + static_cast<std::size_t>(j)]];
      start += static_cast<std::size_t>(sum);
      Point patch[16];
      for (int k = 0; k < 4; ++k) corner(points, n, prefix, k, patch);
      std::memcpy(static_cast<char*>(out[0]) + i * sizeof patch, patch, sizeof patch);
    }
  });
}
