// The counters of a CPU's cores, from the operating system.
#pragma once

#include <functional>

#include "results.hpp"

namespace clcook::counters {

// What all threads of this process that are there now do during `call`, in user mode: instructions,
// cycles, branches, branch_misses, cache_misses. Those that the machine lacks are NaN; where a
// counter ran part of the time only, it is scaled up. Throws Error(unsupported) that says why where
// the system gives none of them.
tool::CountersRow::Counters count_threads(const std::function<void()>& call);

}  // namespace clcook::counters
