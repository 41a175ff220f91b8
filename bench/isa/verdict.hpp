// Baseline against variant, on one machine: what changed in the code, and what may be said about
// it. std only.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "isa/listing.hpp"
#include "isa/resources.hpp"

namespace clcook::isa {

// What a verdict looks at. All kernels of one variant together, see total().
struct Shape {
  long instructions = 0;
  long branches = 0;
  long memory = 0;  // vector, scalar and local memory instructions
  unsigned loops = 0;
  bool calls = false;  // built-ins left as calls
  bool ptx = false;    // instructions, branches and memory are PTX, not machine code
  Resources resources;
};

enum class Finding { same, pays, costs, mixed, shape_only, none };

inline const char* to_string(Finding finding) {
  switch (finding) {
    case Finding::same:
      return "same";
    case Finding::pays:
      return "pays";
    case Finding::costs:
      return "costs";
    case Finding::mixed:
      return "mixed";
    case Finding::shape_only:
      return "shape_only";
    case Finding::none:
      return "none";
  }
  return "none";
}

struct Verdict {
  Finding finding = Finding::none;
  std::string text;
};

// Differences of up to 3 %, and of two instructions in any case, are what register allocation and
// scheduling make of equal code.
inline long noise(long count) { return std::max(2L, (3 * count + 50) / 100); }

inline Shape shape_of(const Counts& counts, const Resources& resources, bool ptx) {
  Shape out;
  out.instructions = counts.total;
  out.branches = counts.branches();
  out.memory = counts.memory();
  out.loops = counts.loops;
  out.calls = !counts.calls.empty();
  out.ptx = ptx;
  out.resources = resources;
  return out;
}

// Several kernels that do one variant's work together: counts add up, the worst occupancy and the
// most registers hold.
inline Shape total(const std::vector<Shape>& parts) {
  Shape out = parts.at(0);
  const auto add = [](long& to, long value) { to = to < 0 || value < 0 ? -1 : to + value; };
  const auto most = [](long& to, long value) {
    to = to < 0 || value < 0 ? -1 : std::max(to, value);
  };
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const Shape& one = parts[i];
    out.instructions += one.instructions;
    out.branches += one.branches;
    out.memory += one.memory;
    out.loops += one.loops;
    out.calls = out.calls || one.calls;
    out.ptx = out.ptx || one.ptx;
    add(out.resources.bytes, one.resources.bytes);
    add(out.resources.spills, one.resources.spills);
    most(out.resources.registers, one.resources.registers);
    most(out.resources.scalar_registers, one.resources.scalar_registers);
    most(out.resources.local_bytes, one.resources.local_bytes);
    most(out.resources.scratch, one.resources.scratch);
    if (one.resources.occupancy >= 0 && out.resources.occupancy >= 0) {
      out.resources.occupancy = std::min(out.resources.occupancy, one.resources.occupancy);
    }
  }
  return out;
}

// The rule, in this order:
//  1. calls in either: no verdict, the numbers would mean nothing;
//  2. a loop in either: 'shape only', because a static count says nothing of trip counts;
//  3. otherwise five figures are compared: instructions and memory instructions beyond the noise,
//     branches, spills and occupancy exactly. On PTX, code bytes stand in for the instructions where
//     ptxas gave them, because PTX is not yet machine code. None differs: 'compiler does it'. All
//     that differ are better: 'recipe pays'. All are worse: 'costs'. Otherwise 'mixed'.
// Registers are mentioned when they change, and decide nothing: only an occupancy step or a spill
// has a price.
inline Verdict compare(const Shape& baseline, const Shape& variant) {
  if (baseline.calls || variant.calls) {
    return {Finding::none, std::string("no verdict: built-ins were left as calls in the ") +
                               (baseline.calls ? "baseline" : "variant")};
  }
  const Resources& a = baseline.resources;
  const Resources& b = variant.resources;
  bool better = false;
  bool worse = false;
  std::vector<std::string> changes;
  const auto mention = [&](long from, long to, const std::string& name) {
    changes.push_back(std::to_string(from) + " -> " + std::to_string(to) + " " + name);
  };
  // `sign` is +1 where less is better.
  const auto look = [&](long from, long to, long slack, int sign, const std::string& name) {
    if (from < 0 || to < 0 || std::abs(to - from) <= slack) return;
    ((to < from) == (sign > 0) ? better : worse) = true;
    mention(from, to, name);
  };
  const bool by_bytes = baseline.ptx && a.bytes > 0 && b.bytes > 0;
  if (by_bytes) {
    // Sizes are padded to 128 bytes.
    look(a.bytes, b.bytes, std::max(128L, noise(a.bytes)), 1, "bytes of machine code");
  } else {
    look(baseline.instructions, variant.instructions, noise(baseline.instructions), 1,
         baseline.ptx ? "PTX instructions" : "instructions");
  }
  look(baseline.branches, variant.branches, 0, 1, baseline.ptx ? "PTX branches" : "branches");
  look(baseline.memory, variant.memory, noise(baseline.memory), 1, "memory instructions");
  look(a.spills, b.spills, 0, 1, "spills");
  look(a.occupancy, b.occupancy, 0, -1, "waves per SIMD");
  const bool decided = better || worse;
  const auto tell = [&](long from, long to, const std::string& name) {
    if (from >= 0 && to >= 0 && from != to) mention(from, to, name);
  };
  if (decided) {
    tell(a.registers, b.registers, "registers");
    tell(a.local_bytes, b.local_bytes, "bytes of local memory");
  }

  std::string list;
  for (const std::string& one : changes) list += (list.empty() ? "" : ", ") + one;
  if (baseline.loops + variant.loops > 0) {
    return {Finding::shape_only,
            "shape only (loops): " +
                (list.empty() ? std::string("no difference beyond the noise") : list)};
  }
  if (!decided) {
    return {Finding::same, "compiler does it: " + std::to_string(variant.instructions) +
                               (baseline.ptx ? " PTX instructions" : " instructions") +
                               ", the same shape"};
  }
  if (better && worse) return {Finding::mixed, "mixed: " + list};
  return better ? Verdict{Finding::pays, "recipe pays: " + list}
                : Verdict{Finding::costs, "costs: " + list};
}

}  // namespace clcook::isa
