// halo_tile as plain loops on floats, borders repeated: maxima and minima of rows, then of lines and
// pictures, whose last ones stay in the cache; the median by a network of exchanges. Rows are the
// inner loops, which compilers make vectors of.
// shape: 0 dilation, 1 median, 2 clamp, 3 erosion; width, height, depth, radius, channels.
#include <algorithm>
#include <cstring>

#include "parallel.hpp"

namespace {

struct Max {
  static float of(float a, float b) { return a > b ? a : b; }
};
struct Min {
  static float of(float a, float b) { return a < b ? a : b; }
};

struct Size {
  int width, height, depth, radius, channels;
  std::size_t row() const { return static_cast<std::size_t>(width * channels); }
  std::size_t picture() const { return row() * static_cast<std::size_t>(height); }
};

template <class Op>
void merge(float* to, const float* from, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] = Op::of(to[i], from[i]);
}

// A row with `radius` pixels more on both sides.
void padded(const float* from, float* to, const Size& s) {
  const auto c = static_cast<std::size_t>(s.channels);
  const std::size_t pad = static_cast<std::size_t>(s.radius) * c;
  std::memcpy(to + pad, from, s.row() * sizeof *from);
  for (std::size_t i = 0; i < pad; ++i) {
    to[i] = from[i % c];
    to[pad + s.row() + i] = from[s.row() - c + i % c];
  }
}

template <class Op, int R>
void along_row(const float* from, float* to, std::size_t count, std::size_t channels) {
  for (std::size_t i = 0; i < count; ++i) {
    float value = from[i];
    for (std::size_t k = 1; k <= 2 * R; ++k) value = Op::of(value, from[i + k * channels]);
    to[i] = value;
  }
}

template <class Op>
void along_row(const float* from, float* to, const Size& s) {
  const auto c = static_cast<std::size_t>(s.channels);
  if (s.radius == 1) return along_row<Op, 1>(from, to, s.row(), c);
  if (s.radius == 4) return along_row<Op, 4>(from, to, s.row(), c);
  std::memcpy(to, from, s.row() * sizeof *from);
  for (std::size_t k = 1; k <= 2 * static_cast<std::size_t>(s.radius); ++k)
    merge<Op>(to, from + k * c, s.row());
}

template <class Op, int R>
void down_lines(const float* const* lines, float* to, std::size_t count) {
  const float* at[2 * R + 1];
  for (int k = 0; k <= 2 * R; ++k) at[k] = lines[k];
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) {
    float value = at[0][i];
    for (int k = 1; k <= 2 * R; ++k) value = Op::of(value, at[k][i]);
    to[i] = value;
  }
}

// The extremes of 2 radius + 1 lines.
template <class Op>
void down_lines(const std::vector<const float*>& lines, float* to, std::size_t count) {
  if (lines.size() == 3) return down_lines<Op, 1>(lines.data(), to, count);
  if (lines.size() == 9) return down_lines<Op, 4>(lines.data(), to, count);
  std::memcpy(to, lines[0], count * sizeof *to);
  for (std::size_t k = 1; k < lines.size(); ++k) merge<Op>(to, lines[k], count);
}

// Rows begin to end of a picture, the extremes of their neighbourhoods.
template <class Op>
void extremes(const float* src, float* dst, const Size& s, int begin, int end) {
  const int ring = 2 * s.radius + 1;
  std::vector<float> lines(static_cast<std::size_t>(ring) * s.row());
  std::vector<float> wide(s.row() + 2 * static_cast<std::size_t>(s.radius * s.channels));
  const auto line = [&](int y) {
    return lines.data() + static_cast<std::size_t>((y + ring) % ring) * s.row();
  };
  const auto make = [&](int y) {
    const int from = std::clamp(y, 0, s.height - 1);
    padded(src + static_cast<std::size_t>(from) * s.row(), wide.data(), s);
    along_row<Op>(wide.data(), line(y), s);
  };
  std::vector<const float*> near(static_cast<std::size_t>(ring));
  for (int y = begin - s.radius; y < begin + s.radius; ++y) make(y);
  for (int y = begin; y < end; ++y) {
    make(y + s.radius);
    for (int k = 0; k < ring; ++k) near[static_cast<std::size_t>(k)] = line(y + k - s.radius);
    down_lines<Op>(near, dst + static_cast<std::size_t>(y) * s.row(), s.row());
  }
}

template <class Op>
void extremes_of_all(const float* src, float* dst, const Size& s, int threads) {
  if (s.depth == 1) {
    parallel(threads, static_cast<std::size_t>(s.height),
             [&](std::size_t begin, std::size_t end, int) {
               extremes<Op>(src, dst, s, static_cast<int>(begin), static_cast<int>(end));
             });
    return;
  }
  const int ring = 2 * s.radius + 1;
  parallel(threads, static_cast<std::size_t>(s.depth),
           [&](std::size_t first, std::size_t last, int) {
             const int begin = static_cast<int>(first), end = static_cast<int>(last);
             std::vector<float> pictures(static_cast<std::size_t>(ring) * s.picture());
             const auto picture = [&](int z) {
               return pictures.data() + static_cast<std::size_t>((z + ring) % ring) * s.picture();
             };
             const auto make = [&](int z) {
               const int from = std::clamp(z, 0, s.depth - 1);
               extremes<Op>(src + static_cast<std::size_t>(from) * s.picture(), picture(z), s, 0,
                            s.height);
             };
             std::vector<const float*> near(static_cast<std::size_t>(ring));
             for (int z = begin - s.radius; z < begin + s.radius; ++z) make(z);
             for (int z = begin; z < end; ++z) {
               make(z + s.radius);
               for (int k = 0; k < ring; ++k)
                 near[static_cast<std::size_t>(k)] = picture(z + k - s.radius);
               down_lines<Op>(near, dst + static_cast<std::size_t>(z) * s.picture(), s.picture());
             }
           });
}

void clamp(const float* src, const float* history, float* dst, const Size& s, int threads) {
  const std::size_t kRows = 16;  // at a time, so that the extremes stay in the cache
  const auto height = static_cast<std::size_t>(s.height);
  parallel(threads, (height + kRows - 1) / kRows, [&](std::size_t begin, std::size_t end, int) {
    std::vector<float> low(kRows * s.row());
    for (std::size_t block = begin; block < end; ++block) {
      const std::size_t first = block * kRows, last = std::min(height, first + kRows);
      const auto rows = [&](float* of) { return of - first * s.row(); };
      extremes<Max>(src, dst, s, static_cast<int>(first), static_cast<int>(last));
      extremes<Min>(src, rows(low.data()), s, static_cast<int>(first), static_cast<int>(last));
      float* to = dst + first * s.row();
      const float* past = history + first * s.row();
      for (std::size_t i = 0; i < (last - first) * s.row(); ++i)
        to[i] = Max::of(low[i], Min::of(to[i], past[i]));
    }
  });
}

// The middle of nine by Paeth's network (Graphics Gems, 1990).
void median(const float* src, float* dst, const Size& s, int threads) {
  const auto c = static_cast<std::size_t>(s.channels);
  parallel(threads, static_cast<std::size_t>(s.height),
           [&](std::size_t begin, std::size_t end, int) {
             std::vector<float> lines[3];
             for (auto& line : lines) line.resize(s.row() + 2 * c);
             for (std::size_t y = begin; y < end; ++y) {
               for (int k = 0; k < 3; ++k) {
                 const int from = std::clamp(static_cast<int>(y) + k - 1, 0, s.height - 1);
                 padded(src + static_cast<std::size_t>(from) * s.row(), lines[k].data(), s);
               }
               const float *a = lines[0].data(), *b = lines[1].data(), *d = lines[2].data();
               float* to = dst + y * s.row();
               for (std::size_t i = 0; i < s.row(); ++i) {
                 float p[9] = {a[i],         a[i + c], a[i + 2 * c], b[i],        b[i + c],
                               b[i + 2 * c], d[i],     d[i + c],     d[i + 2 * c]};
                 const auto order = [&](int low, int high) {
                   const float least = Min::of(p[low], p[high]), most = Max::of(p[low], p[high]);
                   p[low] = least;
                   p[high] = most;
                 };
                 order(1, 2), order(4, 5), order(7, 8), order(0, 1), order(3, 4), order(6, 7);
                 order(1, 2), order(4, 5), order(7, 8), order(0, 3), order(5, 8), order(4, 7);
                 order(3, 6), order(1, 4), order(2, 5), order(4, 7), order(4, 2), order(6, 4);
                 order(4, 2);
                 to[i] = p[4];
               }
             }
           });
}

}  // namespace

extern "C" void compute(const void* const* in, const std::size_t*, void* const* out,
                        const double* shape, int threads) {
  const auto* src = static_cast<const float*>(in[0]);
  auto* dst = static_cast<float*>(out[0]);
  const auto number = [&](int i) { return static_cast<int>(shape[i]); };
  const Size size{number(1), number(2), number(3), number(4), number(5)};
  if (number(0) == 0) extremes_of_all<Max>(src, dst, size, threads);
  if (number(0) == 1) median(src, dst, size, threads);
  if (number(0) == 2) clamp(src, static_cast<const float*>(in[1]), dst, size, threads);
  if (number(0) == 3) extremes_of_all<Min>(src, dst, size, threads);
}
