#include "counters/show.hpp"

#include <clcook/core/error.hpp>
#include <cmath>

namespace clcook::counters {

const std::vector<Shown>& shown() {
  static const std::vector<Shown> all = {
      {"time_ns", "us", "Time under the profiler, µs", 1e-3},
      {"lanes", "lanes", "Lanes active of 32", 1},
      {"instructions", "M instr", "Instructions, millions", 1e-6},
      {"cycles", "M cycles", "Cycles, millions", 1e-6},
      {"branches", "M branches", "Branches, millions", 1e-6},
      {"branch_misses", "M missed", "Branches predicted wrongly, millions", 1e-6},
      {"cache_misses", "M misses", "Misses of the last cache, millions", 1e-6},
      {"divergent", "M diverge", "Divergent branches, millions", 1e-6},
      {"bank_conflicts", "M conflict", "Bank conflicts, millions", 1e-6},
      {"local_wavefronts", "M local", "Passes through local memory, millions", 1e-6},
      {"l1_wavefronts", "M passes", "Passes through L1, millions", 1e-6},
      {"loads", "M loads", "Loads of warps, millions", 1e-6},
      {"load_sectors", "sect/load", "Sectors per load", 1},
      {"stores", "M stores", "Stores of warps, millions", 1e-6},
      {"store_sectors", "sect/store", "Sectors per store", 1},
      {"l1_sectors", "M L1", "Sectors of L1, millions", 1e-6},
      {"l1_hit_pct", "L1 hit %", "Hits in L1, %", 1},
      {"l2_sectors", "M L2", "Sectors of L2, millions", 1e-6},
      {"l2_hit_pct", "L2 hit %", "Hits in L2, %", 1},
      {"dram_read_bytes", "MB read", "Read from DRAM, MB", 1e-6},
      {"dram_write_bytes", "MB written", "Written to DRAM, MB", 1e-6},
      {"constant_requests", "M const", "Requests to the constant cache, millions", 1e-6},
      {"constant_hits", "M c. hits", "Hits in the constant cache, millions", 1e-6},
      {"issue_pct", "issue %", "Cycles that issue, %", 1},
      {"warps_pct", "warps %", "Warps resident, %", 1},
      {"registers", "registers", "Registers", 1},
      {"stall_barrier", "barrier", "Waits at barriers", 1},
      {"stall_branch", "branch", "Waits for a branch's target", 1},
      {"stall_constant", "constant", "Waits for the constant cache", 1},
      {"stall_dispatch", "dispatch", "Waits for the dispatcher", 1},
      {"stall_drain", "drain", "Waits for its stores at the end", 1},
      {"stall_fetch", "fetch", "Waits for instructions", 1},
      {"stall_global", "global", "Waits for global memory", 1},
      {"stall_global_queue", "glob. queue", "Waits for a place to ask global memory", 1},
      {"stall_local", "local", "Waits for local memory and special functions", 1},
      {"stall_local_queue", "loc. queue", "Waits for a place to ask local memory", 1},
      {"stall_math", "math", "Waits for an arithmetic unit", 1},
      {"stall_fence", "fence", "Waits at memory fences", 1},
      {"stall_not_chosen", "not chosen", "Could issue, another warp did", 1},
      {"stall_fixed", "fixed", "Waits for the instruction before", 1},
  };
  return all;
}

const Shown& shown(const std::string& key) {
  std::string known;
  for (const Shown& one : shown()) {
    if (key == one.key) return one;
    known += std::string(" ") + one.key;
  }
  fail(Errc::invalid_argument, "counters", "there is no counter '" + key + "'; known are" + known);
}

double value_of(const tool::CountersRow& row, const Shown& one) {
  for (const auto& [name, value] : row.counters) {
    if (name == one.key) return value * one.factor;
  }
  return std::nan("");
}

}  // namespace clcook::counters
