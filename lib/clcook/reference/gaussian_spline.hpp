// What a blur of a coarse grid of splines comes to, by its definition, in double: the methods
// pyramid and cpu_pyramid of the Gaussian blur are held against it.
//
// Cell m of a grid has the pixels m D .. m D + D - 1. Its value is the sum of the pixels with the
// weights of a quadratic B-spline around its middle; the cells are filtered with the weights g; and
// a pixel is the sum of the filtered cells with the weights of the spline again. So each pixel of a
// cell has a filter of its own, which lies around the Gaussian that was asked for.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <utility>
#include <vector>

namespace clcook::reference::gaussian_blur {

// The weight of pixel n in cell 0.
inline double spline(int n, int cell) {
  const double u = std::abs((n + 0.5) / cell - 0.5);
  return u < 0.5 ? 0.75 - u * u : u < 1.5 ? 0.5 * (1.5 - u) * (1.5 - u) : 0.0;
}

class SplineGrid {
 public:
  // Of the filter with the weights `exact`, whose middle one is its centre: cells of `cell` pixels,
  // and the weights g of the cells at the distances 0, 1, .., in any unit.
  SplineGrid(const std::vector<double>& exact, int cell, std::vector<double> g) : cell_(cell) {
    const auto reach = static_cast<int>(g.size()) - 1;
    double sum = -g[0];
    for (const double one : g) sum += 2 * one;
    // Of a flat picture of 1 a cell is D, and pixels are to be 1.
    for (double& one : g) one /= sum * cell;
    const int side = (reach + 3) * cell;
    const auto radius = static_cast<int>(exact.size() / 2);
    for (int phase = 0; phase < cell; ++phase) {
      std::vector<double> row(static_cast<std::size_t>(2 * side + 1));
      for (int m = -reach - 1; m <= reach + 1; ++m) {
        double weight = 0;  // of cell m in this pixel
        for (int next = -1; next <= 1; ++next) {
          const auto away = static_cast<std::size_t>(std::abs(m - next));
          if (away < g.size()) weight += spline(phase - next * cell, cell) * g[away];
        }
        for (int n = (m - 1) * cell; n < (m + 2) * cell; ++n)
          row[static_cast<std::size_t>(n - phase + side)] += weight * spline(n - m * cell, cell);
      }
      double off = 0;
      for (int n = -side; n <= side; ++n) {
        const double wanted =
            std::abs(n) <= radius ? exact[static_cast<std::size_t>(n + radius)] : 0.0;
        off += std::abs(row[static_cast<std::size_t>(n + side)] - wanted);
      }
      for (int n = side + 1; n <= radius; ++n)
        off += 2 * exact[static_cast<std::size_t>(n + radius)];
      worst_ = std::max(worst_, off);
      rows_.push_back(std::move(row));
    }
  }

  int cell() const { return cell_; }
  // The weights around a pixel; as many on both sides of it for every one.
  const std::vector<double>& of(std::size_t pixel) const {
    return rows_[pixel % static_cast<std::size_t>(cell_)];
  }
  // The largest sum over the weights of a pixel of their distance to the exact ones: no picture of
  // values from -1 to 1 has a larger error along this axis, and one has it.
  double worst() const { return worst_; }

 private:
  int cell_;
  std::vector<std::vector<double>> rows_;
  double worst_ = 0;
};

// The best g of a given reach: with it the mean over all pixels of a cell of their filters,
// sum_k g_k q(n - k D) with the autocorrelation q of the spline, is nearest to the exact one in least
// squares. By the normal equations, whole.
inline std::vector<double> best_cells(const std::vector<double>& exact, int cell, int reach) {
  const auto radius = static_cast<int>(exact.size() / 2);
  const int side = std::max(radius, (reach + 3) * cell);
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  std::vector<double> q(at(3 * cell));
  for (int n = 0; n < 3 * cell; ++n) {
    for (int p = -cell; p < 2 * cell; ++p) q[at(n)] += spline(p, cell) * spline(p + n, cell);
  }
  // A column for each distance, both sides together, and the right side.
  const int count = reach + 1;
  std::vector<std::vector<double>> columns;
  for (int k = 0; k < count; ++k) {
    std::vector<double> column(at(2 * side + 1));
    for (int n = -side; n <= side; ++n) {
      for (const int middle : {k * cell, -k * cell}) {
        if (std::abs(n - middle) < 3 * cell) column[at(n + side)] += q[at(std::abs(n - middle))];
        if (k == 0) break;
      }
    }
    columns.push_back(std::move(column));
  }
  std::vector<double> wanted(at(2 * side + 1));
  for (int n = -radius; n <= radius; ++n) wanted[at(n + side)] = exact[at(n + radius)];
  columns.push_back(std::move(wanted));
  std::vector<std::vector<double>> rows(at(count), std::vector<double>(at(count + 1)));
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j <= count; ++j) {
      for (int n = 0; n <= 2 * side; ++n)
        rows[at(i)][at(j)] += columns[at(i)][at(n)] * columns[at(j)][at(n)];
    }
  }
  for (int i = 0; i < count; ++i) {
    for (int below = i + 1; below < count; ++below) {
      const double factor = rows[at(below)][at(i)] / rows[at(i)][at(i)];
      for (int j = i; j <= count; ++j) rows[at(below)][at(j)] -= factor * rows[at(i)][at(j)];
    }
  }
  std::vector<double> g(at(count));
  for (int i = count - 1; i >= 0; --i) {
    double sum = rows[at(i)][at(count)];
    for (int j = i + 1; j < count; ++j) sum -= rows[at(i)][at(j)] * g[at(j)];
    g[at(i)] = sum / rows[at(i)][at(i)];
  }
  return g;
}

// A sampled Gaussian as g: with the two splines, whose variances are a quarter of a cell's square
// each, the whole has the variance of the exact filter, as far as so many cells let it.
inline std::vector<double> gaussian_cells(const std::vector<double>& exact, int cell, int reach) {
  const auto radius = static_cast<int>(exact.size() / 2);
  double variance = 0;
  for (int n = -radius; n <= radius; ++n)
    variance += exact[static_cast<std::size_t>(n + radius)] * n * n;
  const double wanted = variance / (static_cast<double>(cell) * cell) - 0.5;
  const auto sampled = [reach](double v) {
    std::vector<double> g;
    for (int k = 0; k <= reach; ++k) g.push_back(std::exp(-k * k / (2 * v)));
    return g;
  };
  double low = 1e-3;
  double high = 1e6;
  for (int round = 0; round < 200; ++round) {
    const double middle = std::sqrt(low * high);
    const std::vector<double> g = sampled(middle);
    double sum = -g[0];
    double spread = 0;
    for (std::size_t k = 0; k < g.size(); ++k) {
      sum += 2 * g[k];
      spread += 2 * g[k] * static_cast<double>(k * k);
    }
    (spread < wanted * sum ? low : high) = middle;
  }
  return sampled(high);
}

}  // namespace clcook::reference::gaussian_blur
