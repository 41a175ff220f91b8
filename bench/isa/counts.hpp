// The figures of a kernel's machine code, as plain values. std only.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <string>

namespace clcook::isa {

// What an instruction occupies. One instruction belongs to one class.
enum class Kind {
  vector_alu,  // arithmetic for every work-item; on PTX all arithmetic
  scalar_alu,  // arithmetic once per wave (AMD scalar unit, NVIDIA uniform datapath); x86: general
               // registers
  branch,      // jumps and calls; on machines with masks also the jumps around masked code
  vector_memory,  // global, image and scratch memory through the vector path; x86: moves of vector
                  // registers
  scalar_memory,  // loads once per wave: arguments and constants; x86: moves of general registers
  local_memory,   // local memory (LDS, shared memory)
  wait,           // waits, barriers, cache maintenance, convergence: nothing is computed
  other,          // the program's end, hints, and what no table knows
};
constexpr std::size_t kKinds = 8;

constexpr std::array<const char*, kKinds> kKindNames = {
    "vector_alu",    "scalar_alu",   "branch", "vector_memory",
    "scalar_memory", "local_memory", "wait",   "other"};

struct Counts {
  std::array<unsigned, kKinds> by_kind{};
  unsigned total = 0;
  unsigned loops = 0;           // loop headers in the control-flow graph
  std::set<std::string> calls;  // functions that were left as calls: the counts are then worthless
  std::set<std::string> unknown;                 // mnemonics that no table has
  std::map<std::string, unsigned> unclassified;  // the same, and how often they stand there
  unsigned vector_registers = 0;                 // x86 only: distinct xmm/ymm/zmm registers named
  unsigned spill_bytes = 0;                      // x86 only: bytes that spill stores write
  unsigned frame_bytes = 0;  // x86 only: the stack frame below the saved registers

  unsigned of(Kind kind) const { return by_kind[static_cast<std::size_t>(kind)]; }
  unsigned branches() const { return of(Kind::branch); }
};

// What compilers say beside: -1 where it is not known for this target.
struct Resources {
  long registers = -1;         // vector registers per work-item (AMD: VGPRs with AGPRs)
  long scalar_registers = -1;  // AMD: SGPRs
  long local_bytes = -1;  // local memory that the kernel declares; arguments come on top at launch
  long spills = -1;       // AMD: registers spilled; NVIDIA and x86: bytes that spill stores write
  long scratch = -1;      // bytes of private memory per work-item: the stack frame
  long occupancy = -1;    // AMD: waves per SIMD that registers and declared local memory allow
  long bytes = -1;        // machine code
};

}  // namespace clcook::isa
