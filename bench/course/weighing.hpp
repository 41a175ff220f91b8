// What the work-items of a kernel do for each result: counted while it runs on a problem.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include <clcook/core/cache.hpp>

#include "course/regions.hpp"
#include "isa/tools.hpp"
#include "try/description.hpp"

namespace clcook::tool::course {

struct Weighed {
  // Where a figure comes from most: a line of the file; 0: it is none of the file's.
  struct Figure {
    double value = 0;
    unsigned line = 0;
  };
  Figure steps;   // operations per result that a wave, or a group that has barriers, goes through
  Figure memory;  // accesses of global memory per result
  Figure loads;   // bytes between what neighbours load, the middle one
  Figure stores;  // and store
};

// Throws Error(unsupported): why a shape cannot be weighed.
[[noreturn]] void unweighable(const std::string& why);

// By which regions work-items came, one behind the other, and what they accessed there.
struct Trace {
  struct Event {
    int region = 0;
    std::uint64_t address = 0;
  };
  std::vector<std::vector<Event>> items;  // group by group
  std::size_t group = 1;
  double results = 1;
};

// Work-items run in step: what any of a wave needs, the wave goes through, each turn of a loop and each
// call apart; with barriers the whole group does.
Weighed weighed(const Regions& regions, const Trace& trace);

// Runs the kernel once on PoCL, on the description's bench shape with data from `seed`. Throws Error:
// build_failed where it does not compile, unsupported with the reason where it cannot be counted.
Weighed weigh(const described::Description& about, const std::string& kernel, std::uint64_t seed,
              const isa::Toolchain& tools, const DiskCache& cache);

// Vector registers that it has on gfx1100. Throws Error(build_failed).
long registers_of(const described::Description& about, const std::string& kernel,
                  const isa::Toolchain& tools, const DiskCache& cache);

}  // namespace clcook::tool::course
