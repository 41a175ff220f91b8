// What a kernel of an exercise issues for each result: its machine code, each instruction as often as
// it runs on a problem.
#pragma once

#include <cstdint>
#include <string>

#include <clcook/core/cache.hpp>

#include "isa/tools.hpp"
#include "try/description.hpp"

namespace clcook::tool::course {

struct Weighed {
  double slots = 0;   // issue slots per result
  double memory = 0;  // instructions on global memory per result
  long registers = 0;
};

// Throws Error(unsupported): why a shape cannot be weighed.
[[noreturn]] void unweighable(const std::string& why);

// Compiles the kernel for gfx1100 and runs it once on PoCL, on the description's bench shape with data
// from `seed`, with a counter in each of its loops and branches. A wave of 32 runs what any of its
// work-items needs. Throws Error: build_failed where it does not compile, unsupported with the reason
// where its instructions cannot be weighed.
Weighed weigh(const described::Description& about, const std::string& kernel, std::uint64_t seed,
              const isa::Toolchain& tools, const DiskCache& cache);

}  // namespace clcook::tool::course
