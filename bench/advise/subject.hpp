// What is known of one kernel, gathered from compilers and from results.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <clcook/core/cache.hpp>

#include "advise/rules.hpp"
#include "isa/jobs.hpp"
#include "isa/tools.hpp"

namespace clcook::advise {

// The machines whose registers are asked for, beside the PTX of sm_90 that the facts are read from.
inline const std::vector<std::string>& residency_targets() {
  static const std::vector<std::string> names = {"gfx1100", "gfx942"};
  return names;
}

// One kernel, compiled for sm_90 and for each of residency_targets(), in this order. Throws
// Error(build_failed) where it does not compile for sm_90; where it does not for another, that one's
// registers are missing.
Subject subject_of(const std::vector<isa::Job>& jobs, const isa::Toolchain& tools,
                   const DiskCache& cache);

// What result files say of a variant.
struct Results {
  std::map<std::string, double> counters;  // the first row that was counted
  std::string limit;                       // of the first row that was measured: "dram"
  double share = -1;                       // of what that limit allows
};

// Throws Error(io) for a file that cannot be read, Error(invalid_argument) for one that
// `clcook bench` or `clcook counters` did not write.
std::map<std::pair<std::string, std::string>, Results> read_results(
    const std::vector<std::string>& files);

}  // namespace clcook::advise
