// How often each region of a recipe's kernels runs: counted by running them on a CPU, and the file
// that keeps the counts.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <clcook/registry/recipe.hpp>

#include "isa/jobs.hpp"
#include "isa/regions.hpp"
#include "isa/tools.hpp"
#include "isa/weights.hpp"

namespace clcook::isa {

// The counts of one kernel of a variant at its default tuning.
struct KernelCounts {
  std::string source;     // a hash of the text that was counted
  std::string signature;  // a hash of Regions::signature()
  double outputs = 0;
  std::map<unsigned, std::vector<double>> by_wave;  // work-items per wave: RegionCounts::of
};

struct CountsFile {
  std::map<std::string, KernelCounts> kernels;  // by Job::name()
  // The shape on which a variant was counted, by "recipe/variant", where that is not the recipe's
  // first bench shape: it does not serve that one. The baseline was counted on it too.
  std::map<std::string, std::string> shapes;
  std::map<std::string, std::string> uncounted;  // why a kernel has no counts
};

std::string write_counts(const CountsFile& counts);

// Throws Error(io) that names the file for anything that is not such a file.
CountsFile read_counts(const std::string& content, const std::string& path);

// The text of a job without macros, as regions. Throws Error(build_failed).
Regions regions_of_job(const Job& job, const Toolchain& tools, const DiskCache& cache);

std::string source_hash(const Regions& regions);
std::string signature_hash(const Regions& regions);

// Runs the variant on the first bench shape that it serves, made small, on a device that runs OpenCL
// in this process (PoCL), with counters in its kernels. Adds what was found to `out`. `device`: as
// counting_runtime() takes it.
void count_variant(const std::string& device, const Recipe& recipe, const VariantInfo& variant,
                   const Toolchain& tools, const DiskCache& cache, CountsFile& out);

// The jobs of `variant` for the shape on which the variant `of` was counted; none where that is the
// recipe's first one.
std::vector<Job> jobs_elsewhere(const Recipe& recipe, const VariantInfo& variant,
                                const std::string& of, const CountsFile& counts,
                                const Target& target);

// A device that count_variant() can use. Throws Error(unsupported).
Runtime counting_runtime(const std::string& device);

// Whether there are counts, but of another text of the kernel.
bool is_stale(const Job& job, const CountsFile& counts, const Toolchain& tools,
              const DiskCache& cache);

// The weighted instructions of a job; `why` says it where they cannot be known.
struct Weighing {
  Weighted weighted;
  std::string why;
};
Weighing weigh_job(const Job& job, const Measured& measured, const CountsFile& counts,
                   const Toolchain& tools, const DiskCache& cache);

}  // namespace clcook::isa
