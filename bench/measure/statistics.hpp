// Robust statistics of timing samples.
#pragma once

#include <cstddef>
#include <vector>

namespace clcook::tool {

// Median of a list; NaN for an empty one.
double median(std::vector<double> values);

// Median absolute deviation from the median.
double median_deviation(const std::vector<double>& values);

// The standard error of the mean of some values, as a share of the mean; NaN for less than two.
double relative_error(const std::vector<double>& values);

// A ratio with its 95 % interval.
struct Ratio {
  double value = 0;
  double low = 0;
  double high = 0;

  bool tie() const { return low <= 1 && high >= 1; }
};

// Samples of one subject, taken in blocks: the memory is allocated anew for each, or a process of its
// own takes it, so that the spread between blocks holds what the place in memory and the state of the
// device do to a whole block.
using Blocks = std::vector<std::vector<double>>;

// Samples that were taken in `count` equal blocks, one after the other; at least one, at most one
// for each sample.
Blocks split(const std::vector<double>& samples, std::size_t count);

std::vector<double> flat(const Blocks& blocks);

// median(above) / median(below) with a percentile-bootstrap interval: blocks are resampled with
// replacement, and the samples within each, always with the same pseudo-random numbers, so that
// equal samples give equal intervals. For the few blocks that there are it is widened as Student's
// distribution is wider than the normal one. NaN where the samples are such that a ratio is none, 0 / 0.
Ratio bootstrap_ratio(const Blocks& above, const Blocks& below);

}  // namespace clcook::tool
