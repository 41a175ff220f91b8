// What a device can do at best, measured on it: the lines that a kernel's time is held against.
#pragma once

#include <clcook/core/runtime.hpp>

#include "command.hpp"

namespace clcook::tool {

// Medians over several runs. All bandwidths count bytes read plus bytes written.
struct Ceilings {
  double copy_gbs = 0;         // copy kernel over buffers several times the last-level cache
  double cached_copy_gbs = 0;  // the same over 8 MiB, run again and again
  double fma_gops = 0;   // independent chains of float fused multiply-adds, two operations each
  double launch_us = 0;  // event time of an empty kernel
};

// `runtime` has a profiling queue. `quick` uses small buffers and few runs, for tests: its figures
// mean little.
Ceilings measure_ceilings(const Runtime& runtime, bool quick);

Json to_json(const Ceilings& ceilings);
Ceilings ceilings_of(const Json& json);

}  // namespace clcook::tool
