// The grid of quadratic B-splines that the methods pyramid and cpu_pyramid blur: the splines, the
// cells that pixels have to do with, and how far what a pixel gets is from the filter.
//
// Along an axis, a cell is D pixels wide. Cell m is the sum of the pixels with the weights of a
// spline whose middle is that of the pixels m D .. m D + D - 1; the cells are blurred with weights
// g; a pixel is the sum of the cells with the weights of the spline again. The methods differ in
// the D that they allow and in how they choose g.
#pragma once

#include <algorithm>
#include <clcook/core/math.hpp>
#include <clcook/gaussian_blur/method.hpp>
#include <cstddef>
#include <cstdlib>
#include <vector>

namespace clcook::gaussian::spline {

struct Spline {
  int cell = 0;  // D
  // Of each pixel of a cell: its weights in the cell before, its own, and the next. The three have
  // the sum 1.
  std::vector<double> weights;

  explicit Spline(int pixels) : cell(pixels) {
    for (int p = 0; p < cell; ++p) {
      const double u = (p + 0.5) / cell - 0.5;
      weights.push_back((0.5 - u) * (0.5 - u) / 2);
      weights.push_back(0.75 - u * u);
      weights.push_back((0.5 + u) * (0.5 + u) / 2);
    }
  }

  const double* of_phase(int phase) const { return &weights[static_cast<std::size_t>(3 * phase)]; }
};

// The cells that the pixels begin .. begin + size - 1, of which the first is not negative, have to
// do with.
struct Cells {
  int first;
  int count;

  Cells(int cell, int begin, int size)
      : first(begin / cell - 1), count((begin + size - 1) / cell - begin / cell + 3) {}
};

// What the pixel `phase` (of D) of a cell gets, compared with the filter: the sum of the absolute
// differences of the weights of all pixels. No picture within [-1, 1] can have a larger error
// there, and one has it; of pictures within [0, 1] half of it. g: the weights of the distances 0 ..
// g.size() - 1, of cells of D.
inline double error_of_phase(const FilterAxis& axis, const Spline& s, const std::vector<double>& g,
                             int phase) {
  const int reach = static_cast<int>(g.size()) - 1;
  // Weights of the cells -reach - 1 .. reach + 1, and two zeros at each end.
  std::vector<double> cells(static_cast<std::size_t>(2 * reach + 7));
  const double* own = s.of_phase(phase);
  for (int m = -1; m <= 1; ++m) {
    for (int k = -reach; k <= reach; ++k) {
      cells[static_cast<std::size_t>(m + k + reach + 3)] +=
          own[m + 1] * g[static_cast<std::size_t>(std::abs(k))];
    }
  }
  double sum = 0;
  double seen = 0;  // of the filter
  // Block by block: cells[i + 1] is the cell in the middle of block i - reach - 2.
  for (std::size_t i = 0; i + 2 < cells.size(); ++i) {
    const int left = (static_cast<int>(i) - reach - 2) * s.cell - phase;
    for (int r = 0; r < s.cell; ++r) {
      const double* at = s.of_phase(r);
      const double weight = cells[i] * at[0] + cells[i + 1] * at[1] + cells[i + 2] * at[2];
      const int n = std::abs(left + r);
      const double exact = n <= axis.radius ? axis.weights[static_cast<std::size_t>(n)] : 0;
      seen += exact;
      sum += std::abs(weight - exact);
    }
  }
  return sum + std::max(0.0, 1 - seen);
}

// The largest of error_of_phase() of all phases.
inline double worst_phase(const FilterAxis& axis, const Spline& s, const std::vector<double>& g) {
  double worst = 0;
  // The other half mirrors these.
  for (int phase = 0; phase < s.cell / 2; ++phase)
    worst = std::max(worst, error_of_phase(axis, s, g, phase));
  return worst;
}

}  // namespace clcook::gaussian::spline
