// Scalar reference of the Gaussian blur, in double. Nothing is rounded.
#pragma once

#include <algorithm>
#include <array>
#include <clcook/reference/border.hpp>
#include <cmath>
#include <cstddef>
#include <vector>

namespace clcook::reference::gaussian_blur {

using reference::Border;
using reference::border_index;

// Taps on each side of the centre: floor(truncate sigma + 1/2).
inline int radius(double sigma, double truncate) {
  return static_cast<int>(std::floor(truncate * sigma + 0.5));
}

// The weights of the taps -radius .. radius, exp(-k^2 / (2 sigma^2)) with sum 1. Sigma 0 leaves the
// centre alone.
inline std::vector<double> weights(double sigma, double truncate) {
  const int side = radius(sigma, truncate);
  std::vector<double> out;
  double sum = 0;
  for (int k = -side; k <= side; ++k) {
    const double d = side == 0 ? 0 : k / sigma;
    out.push_back(std::exp(-d * d / 2));
    sum += out.back();
  }
  for (double& weight : out) weight /= sum;
  return out;
}

struct Picture {
  std::size_t width = 0;
  std::size_t height = 0;
  std::size_t channels = 0;
  std::vector<double> values;  // row by row, channels interleaved
};

// The blur of a picture: its rows with the weights `x`, then its columns with `y`; a weight vector
// has an odd length and its centre in the middle. `outside` is the constant of each channel.
inline Picture blur(const Picture& in, const std::vector<double>& x, const std::vector<double>& y,
                    Border border, const std::array<double, 4>& outside = {}) {
  const auto width = static_cast<std::ptrdiff_t>(in.width);
  const auto height = static_cast<std::ptrdiff_t>(in.height);
  const auto at = [&](std::ptrdiff_t column, std::ptrdiff_t row, std::size_t c) {
    return (static_cast<std::size_t>(row) * in.width + static_cast<std::size_t>(column)) *
               in.channels +
           c;
  };
  const auto pass = [&](const std::vector<double>& from, const std::vector<double>& taps,
                        bool along_rows) {
    std::vector<double> to(from.size());
    const auto side = static_cast<std::ptrdiff_t>(taps.size() / 2);
    for (std::ptrdiff_t row = 0; row < height; ++row) {
      for (std::ptrdiff_t column = 0; column < width; ++column) {
        for (std::size_t c = 0; c < in.channels; ++c) {
          double sum = 0;
          for (std::ptrdiff_t k = -side; k <= side; ++k) {
            const std::ptrdiff_t i =
                border_index((along_rows ? column : row) + k, along_rows ? width : height, border);
            const double value = i < 0        ? outside[c]
                                 : along_rows ? from[at(i, row, c)]
                                              : from[at(column, i, c)];
            sum += taps[static_cast<std::size_t>(k + side)] * value;
          }
          to[at(column, row, c)] = sum;
        }
      }
    }
    return to;
  };
  Picture out{in.width, in.height, in.channels, {}};
  out.values = pass(pass(in.values, x, true), y, false);
  return out;
}

// A separable filter by its definition: the sum over both axes at once, of a plane that goes on beyond
// the picture. Weights may have any sign and sum.
inline Picture filtered(const Picture& in, const std::vector<double>& x,
                        const std::vector<double>& y, Border border,
                        const std::array<double, 4>& outside = {}) {
  const auto width = static_cast<std::ptrdiff_t>(in.width);
  const auto height = static_cast<std::ptrdiff_t>(in.height);
  const auto side_x = static_cast<std::ptrdiff_t>(x.size() / 2);
  const auto side_y = static_cast<std::ptrdiff_t>(y.size() / 2);
  Picture out{in.width, in.height, in.channels, std::vector<double>(in.values.size())};
  for (std::size_t i = 0; i < out.values.size(); ++i) {
    const std::size_t c = i % in.channels;
    const auto pixel = static_cast<std::ptrdiff_t>(i / in.channels);
    for (std::ptrdiff_t j = -side_y; j <= side_y; ++j) {
      const std::ptrdiff_t row = border_index(pixel / width + j, height, border);
      for (std::ptrdiff_t k = -side_x; k <= side_x; ++k) {
        const std::ptrdiff_t column = border_index(pixel % width + k, width, border);
        const double value =
            row < 0 || column < 0
                ? outside[c]
                : in.values[static_cast<std::size_t>(row * width + column) * in.channels + c];
        out.values[i] += y[static_cast<std::size_t>(j + side_y)] *
                         x[static_cast<std::size_t>(k + side_x)] * value;
      }
    }
  }
  return out;
}

// One row of a blur whose filter depends on the place: x(column) and y(row) are the weights there,
// as many for every column, and for every row.
template <class X, class Y>
std::vector<double> blur_row_by(const Picture& in, const X& x, const Y& y, Border border,
                                const std::array<double, 4>& outside, std::size_t row) {
  const auto width = static_cast<std::ptrdiff_t>(in.width);
  const std::vector<double>& of_row = y(row);
  const auto side_x = static_cast<std::ptrdiff_t>(x(std::size_t{0}).size() / 2);
  const auto side_y = static_cast<std::ptrdiff_t>(of_row.size() / 2);
  const std::size_t line = in.width * in.channels;
  std::vector<double> column(line);
  for (std::ptrdiff_t k = -side_y; k <= side_y; ++k) {
    const std::ptrdiff_t i = border_index(static_cast<std::ptrdiff_t>(row) + k,
                                          static_cast<std::ptrdiff_t>(in.height), border);
    const double weight = of_row[static_cast<std::size_t>(k + side_y)];
    for (std::size_t e = 0; e < line; ++e) {
      column[e] += weight * (i < 0 ? outside[e % in.channels]
                                   : in.values[static_cast<std::size_t>(i) * line + e]);
    }
  }
  std::vector<double> out(line);
  for (std::ptrdiff_t at = 0; at < width; ++at) {
    const std::vector<double>& of_column = x(static_cast<std::size_t>(at));
    for (std::ptrdiff_t k = -side_x; k <= side_x; ++k) {
      const std::ptrdiff_t i = border_index(at + k, width, border);
      const double weight = of_column[static_cast<std::size_t>(k + side_x)];
      for (std::size_t c = 0; c < in.channels; ++c) {
        out[static_cast<std::size_t>(at) * in.channels + c] +=
            weight * (i < 0 ? outside[c] : column[static_cast<std::size_t>(i) * in.channels + c]);
      }
    }
  }
  return out;
}

// One row of blur(): its columns first, which changes nothing but the rounding of doubles. For
// pictures that are too large to blur whole.
inline std::vector<double> blur_row(const Picture& in, const std::vector<double>& x,
                                    const std::vector<double>& y, Border border,
                                    const std::array<double, 4>& outside, std::size_t row) {
  const auto of = [](const std::vector<double>& weights) {
    return [&weights](std::size_t) -> const std::vector<double>& { return weights; };
  };
  return blur_row_by(in, of(x), of(y), border, outside, row);
}

// One row of the blur of a volume, whose slices are pictures of one size: row `row` of slice `slice`
// of what blur_row() makes of the slices, then along z with the weights `z`. blurred(i) is that row of
// slice i, blurred.
template <class Blurred>
std::vector<double> blur_row_along_z(const Blurred& blurred, std::size_t depth,
                                     const std::vector<double>& z, Border border,
                                     const std::array<double, 4>& outside, std::size_t channels,
                                     std::size_t values, std::size_t slice) {
  const auto side = static_cast<std::ptrdiff_t>(z.size() / 2);
  std::vector<double> out(values);
  for (std::ptrdiff_t k = -side; k <= side; ++k) {
    const std::ptrdiff_t i = border_index(static_cast<std::ptrdiff_t>(slice) + k,
                                          static_cast<std::ptrdiff_t>(depth), border);
    const double weight = z[static_cast<std::size_t>(k + side)];
    if (i < 0) {
      for (std::size_t e = 0; e < values; ++e) out[e] += weight * outside[e % channels];
      continue;
    }
    const std::vector<double>& row = blurred(static_cast<std::size_t>(i));
    for (std::size_t e = 0; e < values; ++e) out[e] += weight * row[e];
  }
  return out;
}

// PSNR in dB of values against the expected ones, for values up to `peak`; infinite when equal.
inline double psnr(const std::vector<double>& expected, const std::vector<double>& got,
                   double peak) {
  double sum = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    sum += (expected[i] - got[i]) * (expected[i] - got[i]);
  }
  return 10 * std::log10(peak * peak * static_cast<double>(expected.size()) / sum);
}

// An IEEE 754 half as a double, and the half nearest to a double, ties to even.
inline double from_half(unsigned bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const double fraction = static_cast<double>(bits & 1023);
  const double size = exponent == 31  ? (fraction == 0 ? HUGE_VAL : std::nan(""))
                      : exponent == 0 ? std::ldexp(fraction, -24)
                                      : std::ldexp(fraction + 1024, exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}
inline unsigned to_half(double value) {
  const unsigned sign = std::signbit(value) ? 0x8000 : 0;
  const double size = std::abs(value);
  if (std::isnan(value)) return sign | 0x7E00;
  if (size >= 65520) return sign | 0x7C00;
  if (size == 0) return sign;
  int exponent = 0;
  std::frexp(size, &exponent);
  const int step = std::max(exponent - 11, -24);
  const auto steps = static_cast<unsigned>(std::nearbyint(std::ldexp(size, -step)));
  // 2048 steps are 1024 of the next exponent, which the addition carries into.
  return sign | (static_cast<unsigned>(step + 24) * 1024 + steps);
}

}  // namespace clcook::reference::gaussian_blur
