// Robust statistics of timing samples.
#pragma once

#include <algorithm>
#include <clcook/registry/random.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

namespace clcook::tool {

// Median of a list; NaN for an empty one.
inline double median(std::vector<double> values) {
  if (values.empty()) return std::nan("");
  const std::size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle),
                   values.end());
  const double upper = values[middle];
  if (values.size() % 2 == 1) return upper;
  return (*std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle)) +
          upper) /
         2;
}

// Median absolute deviation from the median.
inline double median_deviation(const std::vector<double>& values) {
  const double centre = median(values);
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) distances.push_back(std::abs(value - centre));
  return median(std::move(distances));
}

// A ratio with its 95 % interval.
struct Ratio {
  double value = 0;
  double low = 0;
  double high = 0;

  bool tie() const { return low <= 1 && high >= 1; }
};

// median(above) / median(below) with a percentile-bootstrap interval: both lists are resampled with
// replacement, always with the same pseudo-random numbers, so that equal samples give equal
// intervals.
inline Ratio bootstrap_ratio(const std::vector<double>& above, const std::vector<double>& below,
                             int rounds = 2000) {
  Ratio ratio;
  ratio.value = median(above) / median(below);
  Random random(20);
  std::vector<double> ratios;
  std::vector<double> a(above.size());
  std::vector<double> b(below.size());
  for (int round = 0; round < rounds; ++round) {
    for (double& one : a) one = above[random.below(above.size())];
    for (double& one : b) one = below[random.below(below.size())];
    ratios.push_back(median(a) / median(b));
  }
  std::sort(ratios.begin(), ratios.end());
  const auto at = [&](double share) {
    return ratios[static_cast<std::size_t>(share * static_cast<double>(ratios.size() - 1))];
  };
  ratio.low = at(0.025);
  ratio.high = at(0.975);
  return ratio;
}

}  // namespace clcook::tool
