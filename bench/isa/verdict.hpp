// Baseline against variant, on one machine: what changed in the code, and what may be said about
// it. std only.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <vector>

#include "isa/listing.hpp"
#include "isa/resources.hpp"
#include "isa/weights.hpp"

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
  Weighted issued;      // per output
  std::string unknown;  // why `issued` is not known; empty: it is
};

enum class Finding { pays, costs, same, compiler, none };

inline const char* to_string(Finding finding) {
  switch (finding) {
    case Finding::pays:
      return "pays";
    case Finding::costs:
      return "costs";
    case Finding::same:
      return "same";
    case Finding::compiler:
      return "compiler";
    case Finding::none:
      return "none";
  }
  return "none";
}

struct Verdict {
  Finding finding = Finding::none;
  std::string text;
  double slots = 0;              // of the other for one of this; 0: not known
  std::array<double, 2> from{};  // instructions and memory instructions per output
  std::array<double, 2> to{};
};

// Issue slots of an instruction. A memory instruction of a whole wave holds its path for four
// cycles where arithmetic takes one; local memory for two; a scalar unit runs beside the vector
// unit.
inline double slots_of(Kind kind, bool x86) {
  switch (kind) {
    case Kind::vector_alu:
    case Kind::branch:
    case Kind::scalar_memory:
      return 1;
    case Kind::scalar_alu:
      return x86 ? 1 : 0.5;
    case Kind::vector_memory:
      return x86 ? 1 : 4;
    case Kind::local_memory:
      return 2;
    case Kind::wait:
    case Kind::other:
      return 0;
  }
  return 0;
}

inline double slots(const Weighted& issued, bool x86) {
  double out = 0;
  for (std::size_t i = 0; i < kKinds; ++i)
    out += issued.by_kind[i] * slots_of(static_cast<Kind>(i), x86);
  return out;
}

inline Shape shape_of(const Counts& counts, const Resources& resources, bool ptx) {
  Shape out;
  out.instructions = counts.total;
  out.branches = counts.branches();
  out.memory = counts.memory();
  out.loops = counts.loops;
  out.calls = !counts.calls.empty();
  out.ptx = ptx;
  out.resources = resources;
  if (out.loops > 0) {
    out.unknown = "it has loops, and nobody counted how often they run";
    return out;
  }
  // Straight code is its own count.
  for (std::size_t i = 0; i < kKinds; ++i) out.issued.by_kind[i] = counts.by_kind[i];
  out.issued.total = counts.total;
  out.issued.memory = counts.memory();
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
    const double guessed =
        out.issued.guessed * out.issued.total + one.issued.guessed * one.issued.total;
    for (std::size_t k = 0; k < kKinds; ++k) out.issued.by_kind[k] += one.issued.by_kind[k];
    out.issued.total += one.issued.total;
    out.issued.memory += one.issued.memory;
    out.issued.guessed = out.issued.total > 0 ? guessed / out.issued.total : 0;
    if (out.unknown.empty()) out.unknown = one.unknown;
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

// Issue slots that differ by less are no finding: scheduling and register allocation do as much.
constexpr double kSlack = 0.05;
// More than this share of the instructions in loops that nothing is known of: no finding.
constexpr double kGuessed = 0.1;

inline std::string digits(double value) {
  char out[32];
  const bool few = value < 100;
  const auto format = few ? std::chars_format::general : std::chars_format::fixed;
  return std::string(out, std::to_chars(out, out + sizeof out, value, format, few ? 3 : 0).ptr);
}

// The rule, in this order:
//  1. calls in either, or no counts, or more than a tenth in loops that nothing is known of:
//     'cannot tell', with the reason;
//  2. instructions and memory instructions per output, and the code's branches, spills and
//     occupancy are equal: 'compiler does it';
//  3. the issue slots per output differ by more than 5 %: 'pays' or 'costs';
//  4. more or fewer spills, else waves, decide; else 'same'.
inline Verdict compare(const Shape& a, const Shape& b, bool x86 = false) {
  const auto cannot = [](const std::string& why) {
    Verdict out;
    out.text = "cannot tell: " + why;
    return out;
  };
  for (const Shape* one : {&a, &b}) {
    const std::string whose = one == &a ? " (of what it is compared with)" : "";
    if (one->calls) return cannot("built-ins were left as calls" + whose);
    if (!one->unknown.empty()) return cannot(one->unknown + whose);
    if (one->issued.total <= 0) return cannot("nothing of it ran when it was counted" + whose);
    if (one->issued.guessed > kGuessed) {
      return cannot(digits(100 * one->issued.guessed) +
                    " % of the instructions are in loops of unknown trip counts" + whose);
    }
  }
  const std::string figures = digits(a.issued.total) + " -> " + digits(b.issued.total) +
                              (a.ptx ? " PTX instructions, " : " instructions, ") +
                              digits(a.issued.memory) + " -> " + digits(b.issued.memory) +
                              " of memory, per output";
  const double before = slots(a.issued, x86);
  const double after = slots(b.issued, x86);
  const double ratio = after > 0 ? before / after : 0;
  const auto close = [](double one, double two) {
    return std::abs(one - two) <= 0.005 * std::max(one, two);
  };
  const Resources& r = a.resources;
  const Resources& s = b.resources;
  std::string more;
  const auto mention = [&](long one, long two, const char* name) {
    if (one >= 0 && two >= 0 && one != two)
      more += "; " + std::to_string(one) + " -> " + std::to_string(two) + " " + name;
  };
  mention(r.spills, s.spills, "spilled");
  mention(r.occupancy, s.occupancy, "waves per SIMD");
  const bool as_code = close(a.issued.total, b.issued.total) &&
                       close(a.issued.memory, b.issued.memory) && a.branches == b.branches &&
                       more.empty();
  const auto found = [&](Finding finding, const char* name) {
    return Verdict{finding,
                   name + (": " + figures) + more,
                   ratio,
                   {a.issued.total, a.issued.memory},
                   {b.issued.total, b.issued.memory}};
  };
  if (as_code) return found(Finding::compiler, "compiler does it");
  mention(r.registers, s.registers, "registers");
  if (ratio > 1 + kSlack) return found(Finding::pays, "pays");
  if (ratio < 1 - kSlack) return found(Finding::costs, "costs");
  const auto step = [](long one, long two) {
    return one < 0 || two < 0 || one == two ? 0 : two > one ? 1 : -1;
  };
  const int spills = step(r.spills, s.spills);
  const int waves = step(r.occupancy, s.occupancy);
  const int better = spills != 0 ? -spills : waves;
  if (better > 0) return found(Finding::pays, "pays");
  if (better < 0) return found(Finding::costs, "costs");
  return found(Finding::same, "same");
}

}  // namespace clcook::isa
