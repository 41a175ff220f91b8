// What a grid of splines says of itself, which bounds the methods pyramid and cpu_pyramid.
#include <doctest/doctest.h>

#include <algorithm>
#include <clcook/reference/gaussian_spline.hpp>
#include <cmath>
#include <cstddef>
#include <vector>

namespace {

namespace ref = clcook::reference::gaussian_blur;

// The weights of pixel n in all of `side` around it, 0 where there is none.
double at(const std::vector<double>& weights, int n) {
  const int i = n + static_cast<int>(weights.size() / 2);
  return i < 0 || i >= static_cast<int>(weights.size()) ? 0 : weights[static_cast<std::size_t>(i)];
}

// Symmetric, of the sum 1, and as large at the ends as in the middle: none is too small to count.
std::vector<double> box(int radius) {
  const auto taps = static_cast<std::size_t>(2 * radius + 1);
  return std::vector<double>(taps, 1.0 / static_cast<double>(taps));
}

}  // namespace

TEST_CASE("the worst error of a grid is the sum over all distances to the exact weights") {
  // Filters narrower than the grid's, as wide, and wider: with two cells on a side and 4 pixels
  // each, it has weights up to 20 pixels away.
  for (const int radius : {0, 1, 7, 15, 19, 20, 21, 40}) {
    CAPTURE(radius);
    const std::vector<double> exact = box(radius);
    const ref::SplineGrid grid(exact, 4, {1.0, 0.5, 0.25});
    double worst = 0;
    for (std::size_t pixel = 0; pixel < 4; ++pixel) {
      double sum = 0;
      double off = 0;
      for (int n = -60; n <= 60; ++n) {
        sum += at(grid.of(pixel), n);
        off += std::abs(at(grid.of(pixel), n) - at(exact, n));
      }
      CHECK(sum == doctest::Approx(1).epsilon(1e-12));  // a flat picture stays flat
      worst = std::max(worst, off);
    }
    CHECK(grid.worst() == doctest::Approx(worst).epsilon(1e-12));
  }
}

TEST_CASE("the weights of a grid are the pixels that a spike reaches") {
  constexpr int kCell = 3;
  const std::vector<double> g{1.0, 0.4};
  const ref::SplineGrid grid(box(5), kCell, g);
  CHECK(grid.cell() == kCell);
  // By the definition: cells of the spike, filtered, and pixels of the cells.
  for (int pixel = 0; pixel < 2 * kCell; ++pixel) {
    for (int n = -15; n <= 15; ++n) {
      double all = 0;
      for (int m = -9; m <= 9; ++m) {
        for (int k = -9; k <= 9; ++k) {
          const auto away = static_cast<std::size_t>(std::abs(m - k));
          if (away < g.size()) {
            all += ref::spline(pixel - k * kCell, kCell) * g[away] *
                   ref::spline(pixel + n - m * kCell, kCell);
          }
        }
      }
      all /= (g[0] + 2 * g[1]) * kCell;
      CAPTURE(pixel);
      CAPTURE(n);
      CHECK(at(grid.of(static_cast<std::size_t>(pixel)), n) == doctest::Approx(all).epsilon(1e-12));
    }
  }
}
