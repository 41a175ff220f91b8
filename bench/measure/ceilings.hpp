// What a device can do at best, measured on it: the lines that a kernel's time is held against.
#pragma once

#include <clcook/core/runtime.hpp>

#include "results.hpp"

namespace clcook::tool {

// `runtime` has a profiling queue. `quick` uses small buffers and few runs, for tests: its figures
// mean little.
Ceilings measure_ceilings(const Runtime& runtime, bool quick);

}  // namespace clcook::tool
