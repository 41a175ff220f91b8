// Scalar reference of the line blur, in double, and the article's own arithmetic with its errors.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace clcook::reference::line_blur {

// One tap: the pixel at this offset counts with this weight.
struct Tap {
  int offset;
  double weight;
};

// Distance of the taps of the subsampled variants: at most 32 on each side, the whole radius
// covered.
inline int subsampling_step(double radius) {
  return std::max(1, (static_cast<int>(std::floor(radius)) + 31) / 32);
}

// The normalised taps k = s step, |k| <= radius, in ascending order. Weight of k:
// exp(-(k / radius)^2 / (2 sigma^2)). A radius below 1 or a sigma of 0 leaves the centre alone.
inline std::vector<Tap> taps(double radius, double sigma, int step = 1) {
  const int side = static_cast<int>(std::floor(radius)) / step;
  std::vector<Tap> out;
  double sum = 0;
  for (int s = -side; s <= side; ++s) {
    const double d = s == 0 ? 0 : s * static_cast<double>(step) / radius / sigma;
    const double weight = std::exp(-d * d / 2);
    if (sigma == 0 && s != 0) continue;
    out.push_back({s * step, weight});
    sum += weight;
  }
  for (Tap& tap : out) tap.weight /= sum;
  return out;
}

// Applies taps to a line; positions outside take the first or last value.
inline std::vector<double> filter(const std::vector<double>& line, const std::vector<Tap>& taps) {
  const std::ptrdiff_t last = static_cast<std::ptrdiff_t>(line.size()) - 1;
  std::vector<double> out(line.size());
  for (std::ptrdiff_t i = 0; i <= last; ++i) {
    double sum = 0;
    for (const Tap& tap : taps) {
      sum += tap.weight *
             line[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(i + tap.offset, 0, last))];
    }
    out[static_cast<std::size_t>(i)] = sum;
  }
  return out;
}

// Blurs a picture of width x height pixels along its rows, then along its columns.
// The source is float or unsigned char; 8-bit values count as 0..255. Nothing is rounded.
template <class T>
std::vector<double> blur(const T* source, std::size_t width, std::size_t height,
                         const std::vector<Tap>& taps, std::size_t channels = 4) {
  std::vector<double> picture(source, source + width * height * channels);
  std::vector<double> line;
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t c = 0; c < channels; ++c) {
      line.resize(width);
      for (std::size_t x = 0; x < width; ++x) line[x] = picture[(y * width + x) * channels + c];
      line = filter(line, taps);
      for (std::size_t x = 0; x < width; ++x) picture[(y * width + x) * channels + c] = line[x];
    }
  }
  for (std::size_t x = 0; x < width; ++x) {
    for (std::size_t c = 0; c < channels; ++c) {
      line.resize(height);
      for (std::size_t y = 0; y < height; ++y) line[y] = picture[(y * width + x) * channels + c];
      line = filter(line, taps);
      for (std::size_t y = 0; y < height; ++y) picture[(y * width + x) * channels + c] = line[y];
    }
  }
  return picture;
}

// The taps that a linear filter sees which keeps `places` places between two texels, where each read
// takes two taps of one side, the nearest first. With an odd number of taps a side, the centre counts
// half on either side.
inline std::vector<Tap> linear_pairs(const std::vector<Tap>& taps, double places) {
  const int side = taps.back().offset;
  std::vector<Tap> out = taps;  // with the weights of what is read
  const auto at = [&](int k) -> double& { return out[static_cast<std::size_t>(k + side)].weight; };
  const bool shares_centre = side % 2 != 0;
  for (Tap& tap : out) tap.weight = !shares_centre && tap.offset == 0 ? tap.weight : 0;
  for (int k = 1 - side % 2; k < side; k += 2) {
    const double first = taps[static_cast<std::size_t>(k + side)].weight / (k == 0 ? 2 : 1);
    const double second = taps[static_cast<std::size_t>(k + 1 + side)].weight;
    const double share =
        first + second > 0 ? std::nearbyint(places * second / (first + second)) / places : 0;
    for (const int sign : {-1, 1}) {
      at(sign * k) += (1 - share) * (first + second);
      at(sign * (k + 1)) += share * (first + second);
    }
  }
  return out;
}

// Mean offset of the taps in pixels: 0 for a kernel that does not move the picture.
inline double centroid(const std::vector<Tap>& taps) {
  double sum = 0;
  double norm = 0;
  for (const Tap& tap : taps) {
    sum += tap.weight * tap.offset;
    norm += tap.weight;
  }
  return sum / norm;
}

// Attenuation of a stripe pattern of this many periods per pixel: 1 passes it unchanged.
inline double response(const std::vector<Tap>& taps, double frequency) {
  double re = 0;
  double im = 0;
  double norm = 0;
  for (const Tap& tap : taps) {
    const double angle = 2 * 3.14159265358979323846 * frequency * tap.offset;
    re += tap.weight * std::cos(angle);
    im += tap.weight * std::sin(angle);
    norm += tap.weight;
  }
  return std::hypot(re, im) / norm;
}

// Taps with a weight.
inline std::size_t tap_count(const std::vector<Tap>& taps) {
  return static_cast<std::size_t>(
      std::count_if(taps.begin(), taps.end(), [](const Tap& tap) { return tap.weight > 0; }));
}

// Where a 0-to-1 edge in the middle of a long line crosses one half after the blur, relative to
// where it was, in pixels.
inline double edge_shift(const std::vector<Tap>& taps) {
  int reach = 1;
  for (const Tap& tap : taps) reach = std::max(reach, std::abs(tap.offset));
  // The values at 0 .. before - 1 are 0; the edge lies at before - 0.5.
  const int before = 2 * reach;
  std::vector<double> line(static_cast<std::size_t>(4 * reach), 1.0);
  std::fill_n(line.begin(), before, 0.0);
  line = filter(line, taps);
  std::size_t i = 1;
  while (line[i] < 0.5) ++i;
  const double crossing =
      static_cast<double>(i) - 1 + (0.5 - line[i - 1]) / (line[i] - line[i - 1]);
  return crossing - (before - 0.5);
}

// The arithmetic of the article (a Unity compute shader), stage by stage, with what is wrong in it:
//   0 naive, 1 local memory   k = int(-R) .. < R: for a whole R the tap at +R is missing
//   2 subsampled              s = -31 .. 31, k = s step, step = floor(R) / 32 + 1: one too large
//                             whenever floor(R) is a multiple of 32
//   3 symmetric               s = 1 .. 31 in pairs, the centre once
// Stage 4 changes the work-group size only. Taps beyond R are executed with weight 0.
namespace article {

inline int step(double radius) { return static_cast<int>(std::floor(radius)) / 32 + 1; }

// The taps that the loop of a stage executes, idle ones included, normalised as the shader does.
inline std::vector<Tap> taps(double radius, double sigma, int stage) {
  const double s0 = 1 / (2.5066283 * sigma);
  const double s1 = 2 * sigma * sigma;
  const double inverse = radius > 0 ? 1 / radius : 0;
  const auto weight = [&](int k) {
    const double d = std::abs(k) * inverse;
    return d <= 1 ? s0 * std::exp(-d * d / s1) : 0;
  };
  std::vector<Tap> out;
  if (stage <= 1) {
    for (int k = static_cast<int>(-radius); k < radius; ++k) out.push_back({k, weight(k)});
  } else {
    const int distance = step(radius);
    for (int s = -31; s <= 31; ++s) out.push_back({s * distance, weight(s * distance)});
  }
  double sum = 0;
  for (const Tap& tap : out) sum += tap.weight;
  for (Tap& tap : out) tap.weight /= sum;
  return out;
}

// One line as a stage computes it.
inline std::vector<double> line(const std::vector<double>& in, double radius, double sigma,
                                int stage) {
  if (stage <= 2) return filter(in, taps(radius, sigma, stage));
  const double s0 = 1 / (2.5066283 * sigma);
  const double s1 = 2 * sigma * sigma;
  const double inverse = radius > 0 ? 1 / radius : 0;
  const int distance = step(radius);
  const std::ptrdiff_t last = static_cast<std::ptrdiff_t>(in.size()) - 1;
  const auto at = [&](std::ptrdiff_t i) {
    return in[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(i, 0, last))];
  };
  std::vector<double> out(in.size());
  for (std::ptrdiff_t i = 0; i <= last; ++i) {
    double sum = s0 * at(i);
    double half = s0 / 2;
    for (int s = 1; s <= 31; ++s) {
      const int k = s * distance;
      const double d = k * inverse;
      const double w = d <= 1 ? s0 * std::exp(-d * d / s1) : 0;
      sum += w * (at(i + k) + at(i - k));
      half += w;
    }
    out[static_cast<std::size_t>(i)] = sum / (2 * half);
  }
  return out;
}

// Iterations of the tap loop of a stage, and those among them whose weight is 0.
struct Iterations {
  int total;
  int idle;
};

inline Iterations iterations(double radius, double sigma, int stage) {
  Iterations out{0, 0};
  for (const Tap& tap : taps(radius, sigma, stage)) {
    if (stage == 3 && tap.offset <= 0) continue;  // a pair is one iteration
    ++out.total;
    if (tap.weight == 0) ++out.idle;
  }
  return out;
}

// Slots of lanes that both passes over a picture take: each line rounded up to whole rounds of the
// group, since the shader clamps the excess lanes instead of switching them off.
inline long long lane_slots(long long width, long long height, long long group) {
  const auto rounded = [&](long long length) { return (length + group - 1) / group * group; };
  return height * rounded(width) + width * rounded(height);
}

// The index of the shader's clamp, `clamp(int2(index - s), 0, length - 1)` with an unsigned index:
// the difference wraps and is right only because it becomes signed again before the clamp.
inline int clamp_as_signed(unsigned index, unsigned s, int length) {
  return std::clamp(static_cast<int>(index - s), 0, length - 1);
}

// The same with the clamp in unsigned numbers: the wrong end of the line.
inline int clamp_as_unsigned(unsigned index, unsigned s, int length) {
  return static_cast<int>(std::clamp(index - s, 0u, static_cast<unsigned>(length) - 1));
}

}  // namespace article
}  // namespace clcook::reference::line_blur
