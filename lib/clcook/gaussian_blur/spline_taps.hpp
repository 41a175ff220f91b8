// A long filter as a sum of splines: half the taps, and still exact. The methods separable and
// cpu_fused compute it so.
#pragma once

#include <clcook/core/math.hpp>
#include <clcook/gaussian_blur/method.hpp>
#include <cstddef>
#include <cstdlib>
#include <vector>

namespace clcook::gaussian {

// The taps of an axis as methods compute them: all of them, or most of them as B-splines that
// are `every` pixels apart, from the first tap on. Lines are filtered with the spline, and every so
// many values of that are summed, or the other way round. The taps at the ends that no whole set of
// splines covers get what is missing one by one.
struct SplineTaps {
  int every = 1;
  std::vector<double> spline;
  std::vector<double> coarse;
  std::vector<double> left;   // what the first taps miss
  std::vector<double> right;  // and the last
  double error = 0;           // sum of the absolute differences to the exact weights

  SplineTaps() = default;
  explicit SplineTaps(const FilterAxis& axis) {
    for (int k = -axis.radius; k <= axis.radius; ++k) coarse.push_back(axis.at(k));
  }

  // Cubic splines; the filter must be longer than one of them, 4 distance - 3.
  SplineTaps(const FilterAxis& axis, int distance) : SplineTaps(axis) {
    std::vector<double> missing;
    missing.swap(coarse);
    every = distance;
    spline = {1.0};
    for (int box = 0; box < 4; ++box) {
      std::vector<double> wider(spline.size() + static_cast<std::size_t>(every) - 1);
      for (std::size_t j = 0; j < wider.size(); ++j) {
        for (std::size_t k = 0; k < static_cast<std::size_t>(every); ++k)
          if (j >= k && j - k < spline.size()) wider[j] += spline[j - k] / every;
      }
      spline = wider;
    }
    const auto length = static_cast<int>(spline.size());
    const int count = (axis.taps() - length) / every + 1;
    // Splines whose sum is the Gaussian, not cut off, in the middle of each: by iteration, which
    // goes wrong by one more at the ends each time.
    const int middle = length / 2;
    std::vector<double> wanted;
    for (int m = -kRounds; m < count + kRounds; ++m) {
      const double d = (m * every + middle - axis.radius) / axis.sigma;
      wanted.push_back(axis.weights[0] * math::exp(-d * d / 2));
    }
    const auto tap = [&](int at) {
      return at >= 0 && at < length ? spline[static_cast<std::size_t>(at)] : 0;
    };
    const double own = tap(middle);
    const double beside = tap(middle + every);
    std::vector<double> heights = wanted;
    for (double& height : heights) height *= every;
    for (int round = 0; round < kRounds; ++round) {
      const std::vector<double> old = heights;
      for (std::size_t m = 1; m + 1 < old.size(); ++m)
        heights[m] += every * (wanted[m] - own * old[m] - beside * (old[m - 1] + old[m + 1]));
    }
    coarse.assign(heights.begin() + kRounds, heights.end() - kRounds);
    for (std::size_t m = 0; m < coarse.size(); ++m) {
      double* at = missing.data() + static_cast<int>(m) * every;
      for (int j = 0; j < length; ++j) at[j] -= coarse[m] * spline[static_cast<std::size_t>(j)];
    }
    const int begin = length - every;
    const int end = count * every;
    left.assign(missing.begin(), missing.begin() + begin);
    right.assign(missing.begin() + end, missing.end());
    for (int k = begin; k < end; ++k) error += std::abs(missing[static_cast<std::size_t>(k)]);
  }

  int taps() const {
    return static_cast<int>(spline.size() + coarse.size() + left.size() + right.size());
  }

  // Splines from `fewest` taps on, as they take three more filters, where values are finite and no
  // result changes by more than rounding does.
  static SplineTaps best(const Problem& p, const FilterAxis& axis, int fewest) {
    for (const int distance : {4, 2}) {
      if (may_be_anything(p) || axis.taps() < fewest) break;
      SplineTaps splines(axis, distance);
      if (splines.error < axis.taps() * 0x1p-24) return splines;
    }
    return SplineTaps(axis);
  }

 private:
  static constexpr int kRounds = 8;
};

}  // namespace clcook::gaussian
