// What a kernel's PTX says about its memory, its branches and its loops, each with the line that it
// comes from. std only.
#pragma once

#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "advise/flow.hpp"

namespace clcook::advise {

struct Place {
  std::string file;
  unsigned line = 0;  // 0: the compiler does not say

  bool operator<(const Place& other) const {
    return file != other.file ? file < other.file : line < other.line;
  }
};

// "a.cl: line 3", "a.cl: lines 3, 5 and 8", "a.cl: lines 3 to 40", one file after the other.
inline std::string describe(const std::set<Place>& places) {
  std::map<std::string, std::vector<unsigned>> by_file;
  for (const Place& one : places) {
    if (one.line > 0) by_file[one.file].push_back(one.line);
  }
  std::string out;
  for (const auto& [file, lines] : by_file) {
    out += (out.empty() ? "" : "; ") + file + ": line" + (lines.size() > 1 ? "s " : " ");
    constexpr std::size_t kSingly = 4;
    if (lines.size() > kSingly) {
      out += std::to_string(lines.front()) + " to " + std::to_string(lines.back());
      continue;
    }
    for (std::size_t i = 0; i < lines.size(); ++i) {
      out += (i == 0 ? "" : i + 1 == lines.size() ? " and " : ", ") + std::to_string(lines[i]);
    }
  }
  return out;
}

// A load, a store or an atomic operation on global or local memory.
struct Access {
  bool is_local = false;  // shared by a group
  bool reads = false;
  bool writes = false;
  bool is_atomic = false;
  long bytes = 0;         // of one work-item
  Value items;            // the address, from one work-item to the next
  Value trips;            // the same from trip to trip of the innermost loop; none: no loop
  std::size_t terms = 0;  // of the address: see Value::terms
  long offset = 0;        // the number on top
  unsigned depth = 0;     // loops around it
  std::size_t block = 0;
  bool to_local = false;  // a load that goes to local memory as it is
  bool by_few = false;    // behind a branch that picks work-items by their number
  Place place;
};

// A branch that parts neighbouring work-items.
struct Parting {
  Fork fork;
  Value predicate;
  bool is_border = false;  // a position against a size: only the last wave is parted
  double work = 0;         // of what hangs on it
  double alike = 0;        // how much of the larger side the other does too, 0 to 1
  double smaller = 0;      // work of the smaller side
  Place place;
};

// Branches that compare one value with numbers, or with values that all work-items share.
struct Chain {
  std::size_t comparisons = 0;
  bool is_real = false;  // compares floating-point numbers by order
  double work = 0;       // of what hangs on them
  std::set<Place> places;
};

// A loop that works with parts of packed words which were unpacked before it.
struct Unpacked {
  std::size_t values = 0;  // registers
  std::size_t words = 0;   // that they come from
  std::set<Place> places;
};

struct Facts {
  double work = 0;  // instructions, those of a loop eight times
  std::vector<Access> accesses;
  std::vector<Parting> partings;
  std::vector<Chain> chains;
  std::vector<Unpacked> unpacked;  // by loop
  unsigned barriers = 0;
  // Steps with which a group's number alone is taken apart into bits: an order of groups is made.
  unsigned group_order = 0;
  // In loops: arithmetic on floating-point numbers that comes out the same for all work-items, and
  // all of the loops that have it.
  double shared_work = 0;
  double shared_of = 0;
  std::set<Place> shared_places;
};

namespace detail {

// What a loop is taken to run: the code rarely says.
constexpr double kTrips = 8;

inline double work_of(const Flow& flow, std::size_t block) {
  return static_cast<double>(flow.graph.blocks[block].lines.size()) *
         std::pow(kTrips, flow.depths[block]);
}

inline Place place_of(const isa::Listing& listing, const Operation& one) {
  return {listing.lines[one.line].file, listing.lines[one.line].line};
}

// Bytes of ".v4.f32".
inline long bytes_of(const std::string& modifiers) {
  long factor = 1;
  if (modifiers.find(".v2") != std::string::npos) factor = 2;
  if (modifiers.find(".v4") != std::string::npos) factor = 4;
  const std::size_t dot = modifiers.rfind('.');
  std::size_t digits = dot;
  while (digits < modifiers.size() && !isa::detail::is_digit(modifiers[digits])) ++digits;
  return factor *
         static_cast<long>(isa::detail::to_unsigned(std::string_view(modifiers).substr(digits))) /
         8;
}

// The register that this one is a part of: through masks, shifts and conversions.
inline std::string whole_of(const Flow& flow, std::string name) {
  static const std::set<std::string> parts = {"and", "shr", "shl",  "bfe", "cvt",
                                              "mov", "xor", "prmt", "or"};
  for (int hops = 0; hops < 8; ++hops) {
    const auto found = flow.writers.find(name);
    if (found == flow.writers.end() || found->second.size() != 1) return name;
    const Operation& one = flow.operations[found->second[0]];
    if (parts.count(one.name) == 0 || one.to.size() != 1) return name;
    std::string source;
    for (const std::string& operand : one.from) {
      if (operand.front() != '%') continue;
      if (!source.empty() && source != operand) return name;
      source = operand;
    }
    if (source.empty() || flow.writers.count(source) == 0) return name;
    name = source;
  }
  return name;
}

inline void read_accesses(const isa::Listing& listing, const Flow& flow, const Values& items,
                          Facts& out) {
  std::map<const isa::detail::NaturalLoop*, Values> trips;
  std::set<std::string> to_local;
  for (const Operation& one : flow.operations) {
    if (one.name == "st" && one.modifiers.find(".shared") != std::string::npos)
      to_local.insert(one.from.begin(), one.from.end());
  }
  for (const Operation& one : flow.operations) {
    const bool load = one.name == "ld" || one.name == "ldu";
    const bool atomic = one.name == "atom" || one.name == "red";
    if (!load && one.name != "st" && !atomic) continue;
    const auto has = [&](const char* space) {
      return one.modifiers.find(space) != std::string::npos;
    };
    if (!has(".global") && !has(".shared")) continue;
    Access access;
    access.is_local = has(".shared");
    access.reads = !atomic && load;
    access.writes = one.name == "st";
    access.is_atomic = atomic;
    access.bytes = bytes_of(one.modifiers);
    access.items = value_of(one.address, items);
    access.terms =
        access.items.terms != 0 ? access.items.terms : std::hash<std::string>()(one.address);
    access.offset = plus(access.items.shift, one.offset);
    access.to_local = load && std::any_of(one.to.begin(), one.to.end(), [&](const auto& name) {
                        return to_local.count(name) > 0;
                      });
    access.block = one.block;
    access.depth = flow.depths[one.block];
    access.place = place_of(listing, one);
    if (const auto* loop = flow.innermost(one.block); loop != nullptr) {
      auto found = trips.find(loop);
      if (found == trips.end()) found = trips.emplace(loop, over_trips(flow, *loop, items)).first;
      access.trips = value_of(one.address, found->second);
    }
    out.accesses.push_back(std::move(access));
  }
}

// How much of the larger of two sides the other does too: instructions of the same kind.
inline double alike(const isa::Listing& listing, const Flow& flow, const Fork& fork,
                    double& smaller) {
  std::map<std::string, std::array<long, 2>> kinds;
  long sizes[2] = {0, 0};
  for (int side = 0; side < 2; ++side) {
    for (std::size_t b = 0; b < flow.graph.blocks.size(); ++b) {
      if (!fork.sides[side][b]) continue;
      for (const std::size_t line : flow.graph.blocks[b].lines) {
        if (listing.lines[line].kind == isa::Kind::branch) continue;
        ++kinds[listing.lines[line].mnemonic][static_cast<std::size_t>(side)];
        ++sizes[side];
      }
    }
  }
  long both = 0;
  for (const auto& [name, count] : kinds) both += std::min(count[0], count[1]);
  smaller = static_cast<double>(std::min(sizes[0], sizes[1]));
  return std::max(sizes[0], sizes[1]) == 0
             ? 0
             : static_cast<double>(both) / static_cast<double>(std::max(sizes[0], sizes[1]));
}

inline void read_partings(const isa::Listing& listing, const Flow& flow,
                          const std::vector<Fork>& forks, const Values& items, Facts& out) {
  struct Subject {
    Chain chain;
    std::set<std::size_t> blocks;
  };
  std::map<std::pair<std::string, bool>, Subject> subjects;
  for (const Fork& fork : forks) {
    const Operation& branch = flow.operations[fork.operation];
    Parting one;
    one.fork = fork;
    one.predicate = value_of(branch.guard, items);
    if (one.predicate.is_uniform()) continue;
    one.is_border = one.predicate.is_border;
    one.place = place_of(listing, branch);
    std::set<std::size_t> blocks;
    for (std::size_t b = 0; b < flow.graph.blocks.size(); ++b) {
      if (!fork.sides[0][b] && !fork.sides[1][b]) continue;
      one.work += work_of(flow, b);
      blocks.insert(b);
    }
    one.alike = alike(listing, flow, fork, one.smaller);
    // The comparison behind it.
    const auto found = flow.writers.find(branch.guard);
    const Operation* compare = nullptr;
    if (found != flow.writers.end() && found->second.size() == 1)
      compare = &flow.operations[found->second[0]];
    if (compare != nullptr && compare->name == "setp" && compare->from.size() == 2) {
      const Value a = value_of(compare->from[0], items);
      const Value b = value_of(compare->from[1], items);
      const std::size_t which = a.is_uniform() ? 1 : 0;
      const bool real = compare->modifiers.find(".f") != std::string::npos;
      const bool shared = (which == 1 ? a : b).is_uniform();
      const std::string& against = compare->from[1 - which];
      const bool equal = compare->modifiers.find(".eq") == 0 || compare->modifiers.find(".ne") == 0;
      if (shared && compare->from[which].front() == '%' && (real ? !equal : is_number(against)) &&
          !one.is_border) {
        const std::string subject =
            real ? compare->from[which] : whole_of(flow, compare->from[which]);
        Subject& to = subjects[{subject, real}];
        to.chain.is_real = real;
        ++to.chain.comparisons;
        to.chain.places.insert(one.place);
        to.blocks.insert(blocks.begin(), blocks.end());
      }
    }
    out.partings.push_back(std::move(one));
  }
  for (auto& [key, subject] : subjects) {
    for (const std::size_t b : subject.blocks) subject.chain.work += work_of(flow, b);
    out.chains.push_back(std::move(subject.chain));
  }
}

inline void read_loops(const isa::Listing& listing, const Flow& flow, const Values& items,
                       Facts& out) {
  for (const isa::detail::NaturalLoop& loop : flow.loops) {
    const auto inside = [&](std::size_t block) { return loop.blocks.count(block) > 0; };
    // Parts of packed words, made before the loop and read in it.
    Unpacked unpacked;
    std::set<std::string> seen, words;
    bool innermost = true;
    double shared = 0;
    double all = 0;
    std::set<Place> places;
    for (const Operation& one : flow.operations) {
      if (!inside(one.block)) continue;
      innermost = innermost && flow.innermost(one.block) == &loop;
      all += 1;
      const bool real = one.modifiers.find(".f32") != std::string::npos ||
                        one.modifiers.find(".f64") != std::string::npos ||
                        one.modifiers.find(".f16") != std::string::npos;
      if (real && one.to.size() == 1 && one.name != "mov" && one.name != "ld") {
        const Value value = value_of(one.to[0], items);
        if (value.spread == Spread::uniform && (value.from & from_memory) == 0) {
          shared += 1;
          places.insert(place_of(listing, one));
        }
      }
      for (const std::string& name : one.from) {
        const auto found = flow.writers.find(name);
        if (found == flow.writers.end() || found->second.size() != 1) continue;
        const Operation& made = flow.operations[found->second[0]];
        if (inside(made.block) || !seen.insert(name).second) continue;
        const std::string whole = whole_of(flow, name);
        if (whole == name) continue;
        const Value value = value_of(name, items);
        const Value word = value_of(whole, items);
        const auto origin = flow.writers.find(whole);
        const bool loaded = origin != flow.writers.end() && origin->second.size() == 1 &&
                            flow.operations[origin->second[0]].name == "ld";
        if (!loaded || word.is_uniform() || value.is_uniform()) continue;
        ++unpacked.values;
        words.insert(whole);
        unpacked.places.insert(place_of(listing, made));
      }
    }
    unpacked.words = words.size();
    if (unpacked.values > unpacked.words) out.unpacked.push_back(std::move(unpacked));
    if (innermost && shared > 0) {
      out.shared_work += shared;
      out.shared_of += all;
      out.shared_places.insert(places.begin(), places.end());
    }
  }
}

}  // namespace detail

// Of the PTX of one kernel.
inline Facts facts_of(const isa::Listing& listing) {
  Facts out;
  const Flow flow = flow_of(listing);
  const std::vector<Fork> forks = forks_of(flow);
  const Values items = over_items(flow, forks);
  for (std::size_t b = 0; b < flow.graph.blocks.size(); ++b) out.work += detail::work_of(flow, b);
  for (const detail::Operation& one : flow.operations) out.barriers += one.name == "bar" ? 1U : 0U;
  for (const detail::Operation& one : flow.operations) {
    static const std::set<std::string> bits = {"and", "or",  "xor",  "shr", "shl",
                                               "bfe", "bfi", "lop3", "selp"};
    if (bits.count(one.name) == 0 || one.to.size() != 1) continue;
    constexpr unsigned groups = from_group_x | from_group_y | from_group_z;
    const Value value = detail::value_of(one.to[0], items);
    const bool of_groups = (value.from & groups) != 0 && (value.from & ~(groups | from_size)) == 0;
    out.group_order += value.is_uniform() && of_groups ? 1U : 0U;
  }
  detail::read_accesses(listing, flow, items, out);
  detail::read_partings(listing, flow, forks, items, out);
  detail::read_loops(listing, flow, items, out);
  for (Access& access : out.accesses) {
    access.by_few = std::any_of(out.partings.begin(), out.partings.end(), [&](const Parting& one) {
      return !one.is_border && (one.predicate.from & from_memory) == 0 &&
             (one.fork.sides[0][access.block] || one.fork.sides[1][access.block]);
    });
  }
  return out;
}

}  // namespace clcook::advise
