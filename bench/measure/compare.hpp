// Comparing two results of the bench.
#pragma once

#include "results.hpp"

namespace clcook::tool {

// Throws Error(invalid_argument) when the devices differ in name or platform.
void check_same_device(const Device& one, const Device& other);

// The samples of a row in the blocks in which they were taken.
Blocks blocks_of(const BenchRow& row);
// The time of one over that of the other.
Ratio ratio_of(const BenchRow& above, const BenchRow& below);

// Prints what became slower or faster beyond the noise: where the 95 % interval of the ratio of
// medians is more than 2 % from 1. Returns 1 when something became slower, else 0. Throws
// Error(invalid_argument) when the devices differ or no row has the same recipe, variant, tuning
// and shape.
int compare_results(const Device& device_before, const std::vector<BenchRow>& before,
                    const Device& device_after, const std::vector<BenchRow>& after);

}  // namespace clcook::tool
