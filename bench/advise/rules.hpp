// What is advised for a kernel: a table of rules over facts. std only.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "advise/facts.hpp"

namespace clcook::advise {

// How many groups of a kernel a machine holds.
struct Residency {
  std::string target;  // "gfx1100"
  int fewer = 0;       // registers, with which another group fits; 0: they are not the limit
  int waves = 0;
  int max_waves = 0;
  long spills = 0;
  std::string step;  // in words
};

// What is known of a kernel.
struct Subject {
  Facts facts;
  std::vector<Residency> residency;        // by target
  std::map<std::string, double> counters;  // of a GPU, by name, as `clcook counters` writes them
};

struct Finding {
  double share = 0;  // of the kernel's work that it concerns, 0 to 1: the order of advice
  std::string evidence;
};

// A rule sees one thing in a kernel that a recipe of the cookbook is about.
struct Rule {
  const char* name;
  const char* advice;
  std::vector<const char*> recipes;
  std::optional<Finding> (*find)(const Subject&);
};

namespace detail {

inline std::string percent(double share) {
  char text[16];
  std::snprintf(text, sizeof text, "%.0f %%", 100 * std::min(1.0, std::max(0.0, share)));
  return text;
}

inline std::string at(const std::set<Place>& places) {
  const std::string text = describe(places);
  return text.empty() ? "" : " (" + text + ")";
}

inline double weight(const Access& one) { return std::pow(kTrips, one.depth); }

// Of all accesses to global memory.
inline double traffic(const Facts& facts) {
  double out = 0;
  for (const Access& one : facts.accesses) out += one.is_local ? 0 : weight(one);
  return std::max(out, 1.0);
}

// A finding about accesses to global memory that weigh so much together; none where there are none.
inline std::optional<Finding> of_traffic(const Subject& subject, double weights,
                                         const std::string& what, const std::set<Place>& places) {
  if (places.empty()) return std::nullopt;
  const double share = weights / traffic(subject.facts);
  return Finding{share,
                 what + ": " + percent(share) + " of the accesses to global memory" + at(places)};
}

inline std::optional<Finding> same_on_both_sides(const Subject& subject) {
  constexpr double kAlike = 0.8;
  constexpr double kInstructions = 10;
  const Parting* best = nullptr;
  for (const Parting& one : subject.facts.partings) {
    if (one.is_border || (one.predicate.from & from_memory) == 0 || one.alike < kAlike ||
        one.smaller < kInstructions)
      continue;
    if (best == nullptr || one.work > best->work) best = &one;
  }
  if (best == nullptr) return std::nullopt;
  return Finding{best->work / subject.facts.work,
                 "both sides of a branch on data do the same: " + percent(best->alike) +
                     " of the instructions of the larger side stand in the other too" +
                     at({best->place})};
}

// Chains of comparisons of one value; `heavy`: with much work behind each.
inline std::optional<Finding> chains(const Subject& subject, bool real, bool heavy) {
  constexpr std::size_t kComparisons = 4;
  constexpr double kHeavy = 12;  // instructions for each comparison
  constexpr double kLeast = 0.1;
  Finding out;
  std::size_t longest = 0;
  std::size_t count = 0;
  std::set<Place> places;
  for (const Chain& one : subject.facts.chains) {
    const std::size_t n = one.comparisons;
    if (one.is_real != real || n < kComparisons) continue;
    if (!real && (one.work / static_cast<double>(n) >= kHeavy) != heavy) continue;
    longest = std::max(longest, n);
    ++count;
    out.share += one.work / subject.facts.work;
    places.insert(one.places.begin(), one.places.end());
  }
  if (count == 0 || out.share < kLeast) return std::nullopt;
  out.share = std::min(out.share, 1.0);
  out.evidence = std::to_string(longest) + " branches compare one value with " +
                 (real ? "thresholds" : "numbers") +
                 (count > 1 ? ", and so in " + std::to_string(count) + " places" : "") + "; " +
                 percent(out.share) + " of the instructions hang on them" + at(places);
  return out;
}
inline std::optional<Finding> light_chain(const Subject& subject) {
  return chains(subject, false, false);
}
inline std::optional<Finding> heavy_chain(const Subject& subject) {
  return chains(subject, false, true);
}
inline std::optional<Finding> threshold_chain(const Subject& subject) {
  return chains(subject, true, false);
}

inline std::optional<Finding> two_ways(const Subject& subject) {
  constexpr double kLeast = 0.25;
  constexpr double kInstructions = 8;
  const Parting* best = nullptr;
  for (const Parting& one : subject.facts.partings) {
    if (one.is_border || (one.predicate.from & from_memory) == 0 || one.fork.leaves_loop ||
        one.smaller < kInstructions)
      continue;
    if (best == nullptr || one.work > best->work) best = &one;
  }
  if (best == nullptr || best->work < kLeast * subject.facts.work) return std::nullopt;
  return Finding{0.5 * best->work / subject.facts.work,
                 percent(best->work / subject.facts.work) +
                     " of the instructions stand on one of two sides of a branch on data" +
                     at({best->place})};
}

inline std::optional<Finding> own_trips(const Subject& subject) {
  std::set<Place> places;
  for (const Parting& one : subject.facts.partings) {
    if (!one.fork.leaves_loop || one.is_border || (one.predicate.from & from_memory) == 0) continue;
    places.insert(one.place);
  }
  if (places.empty()) return std::nullopt;
  return Finding{0.25, "how often a loop runs depends on the data of each work-item" + at(places)};
}

inline std::optional<Finding> neighbours(const Subject& subject) {
  constexpr long kNear = 8;  // neighbours that a trip moves on by, at most
  double share = 0;
  std::set<Place> places;
  std::string how;
  std::map<std::pair<std::size_t, std::size_t>, std::set<long>> together;
  for (const Access& one : subject.facts.accesses) {
    if (one.is_local || !one.reads || one.to_local || !one.items.is_position()) continue;
    const long apart = magnitude(one.items.stride);
    if (one.items.spread == Spread::linear && apart > 0)
      together[{one.terms, one.block}].insert(one.offset);
    const bool along = one.trips.spread == Spread::linear && apart > 0 && one.trips.stride != 0 &&
                       one.trips.stride % apart == 0 &&
                       magnitude(one.trips.stride) / apart <= kNear;
    constexpr unsigned other = from_item_y | from_item_z | from_group_y | from_group_z;
    const bool across = one.trips.spread == Spread::scaled && (one.trips.from & from_size) == 0 &&
                        (one.items.from & other) != 0;
    if (!along && !across) continue;
    share += weight(one);
    places.insert(one.place);
    how = along ? "a loop reads on by " + std::to_string(magnitude(one.trips.stride)) +
                      " bytes a trip where neighbours are " + std::to_string(apart) + " bytes apart"
                : "a loop reads down the rows that the work-items of other rows read too";
  }
  for (const Access& one : subject.facts.accesses) {
    if (one.is_local || !one.reads || one.to_local) continue;
    const auto found = together.find({one.terms, one.block});
    if (found == together.end()) continue;
    const long apart = magnitude(one.items.stride);
    long most = 0;
    for (const long offset : found->second) {
      const long by = magnitude(plus(offset, times(-1, one.offset)));
      if (by > 0 && apart > 0 && by % apart == 0 && by / apart <= kNear) most = std::max(most, by);
    }
    if (most == 0) continue;
    share += weight(one);
    places.insert(one.place);
    if (how.empty())
      how = "a work-item reads what its neighbours read, up to " + std::to_string(most / apart) +
            " of them away";
  }
  return of_traffic(subject, share, how, places);
}

inline std::optional<Finding> same_for_all(const Subject& subject) {
  constexpr double kInstructions = 10;
  constexpr double kLeast = 0.3;
  const Facts& facts = subject.facts;
  if (facts.shared_work < kInstructions || facts.shared_work < kLeast * facts.shared_of)
    return std::nullopt;
  const double share = facts.shared_work / facts.shared_of;
  char text[96];
  std::snprintf(text, sizeof text,
                "%.0f of the %.0f instructions of a loop compute the same for all work-items",
                facts.shared_work, facts.shared_of);
  return Finding{share, text + at(facts.shared_places)};
}

inline std::optional<Finding> scattered(const Subject& subject) {
  constexpr unsigned kOrder = 8;
  constexpr unsigned other = from_item_y | from_group_y;
  if (subject.facts.group_order >= kOrder) return std::nullopt;  // has an order of its own
  std::set<Place> places;
  double share = 0;
  for (const Access& one : subject.facts.accesses) {
    const bool from_two = (one.items.from & from_item_x) != 0 && (one.items.from & other) != 0;
    if (one.is_local || !one.reads || one.depth == 0 || !from_two ||
        one.items.spread != Spread::irregular || (one.items.from & from_memory) != 0)
      continue;
    places.insert(one.place);
    share += weight(one);
  }
  if (places.empty()) return std::nullopt;
  share /= traffic(subject.facts);
  return Finding{share,
                 "a loop reads at places around each work-item's own, in two dimensions: "
                 "groups next to each other share what they read" +
                     at(places)};
}

inline std::optional<Finding> product(const Subject& subject) {
  constexpr unsigned rows = from_item_y | from_group_y;
  constexpr unsigned columns = from_item_x | from_group_x;
  for (const Access& a : subject.facts.accesses) {
    if (a.is_local || !a.reads || !a.items.is_uniform() || (a.items.from & rows) == 0 ||
        a.trips.spread != Spread::linear)
      continue;
    for (const Access& b : subject.facts.accesses) {
      if (b.is_local || !b.reads || b.block != a.block || !b.items.is_position() ||
          (b.items.from & columns) == 0 || (b.items.from & rows) != 0 ||
          b.trips.spread != Spread::scaled)
        continue;
      return Finding{0.9,
                     "a loop goes along a row that the work-items of a row of groups share, "
                     "and down a column that those of a column share" +
                         at({a.place, b.place})};
    }
  }
  return std::nullopt;
}

inline std::optional<Finding> apart(const Subject& subject) {
  double share = 0;
  std::set<Place> places;
  std::string how;
  std::map<std::pair<std::size_t, std::size_t>, long> covered;
  for (const Access& one : subject.facts.accesses) {
    if (!one.is_local) covered[{one.terms, one.block}] += one.bytes;
  }
  for (const Access& one : subject.facts.accesses) {
    if (one.is_local || one.by_few) continue;
    const long stride = magnitude(one.items.stride);
    const bool pitch = one.items.spread == Spread::scaled;
    // A load's line is likely to be there still when its other parts are read; a store's parts go
    // out one by one.
    const bool wide =
        one.items.spread == Spread::linear &&
        (one.writes ? stride >= 4 * one.bytes : stride > 2 * covered[{one.terms, one.block}]);
    if (!pitch && !wide) continue;
    share += weight(one);
    places.insert(one.place);
    how = pitch ? "neighbours are a row apart"
                : std::string(one.writes ? "stores" : "loads") + " of " +
                      std::to_string(one.bytes) + " bytes are " + std::to_string(stride) +
                      " bytes apart from one work-item to the next";
  }
  return of_traffic(subject, share, how, places);
}

inline std::optional<Finding> shared_block(const Subject& subject) {
  constexpr long kBytes = 48;
  std::map<std::pair<std::size_t, std::size_t>, std::pair<long, std::set<Place>>> blocks;
  for (const Access& one : subject.facts.accesses) {
    if (one.is_local || !one.reads || one.items.is_uniform() || !one.items.is_mostly_uniform() ||
        (one.items.from & from_memory) != 0)
      continue;
    auto& [bytes, places] = blocks[{one.terms, one.block}];
    bytes += one.bytes;
    places.insert(one.place);
  }
  for (const auto& [key, block] : blocks) {
    if (block.first < kBytes) continue;
    return Finding{0.6, "each work-item reads " + std::to_string(block.first) +
                            " bytes at an address that nearly all neighbours have too" +
                            at(block.second)};
  }
  return std::nullopt;
}

inline std::optional<Finding> unpacked(const Subject& subject) {
  constexpr std::size_t kValues = 8;
  const Unpacked* best = nullptr;
  for (const Unpacked& one : subject.facts.unpacked) {
    if (one.values < kValues || one.values < 2 * one.words) continue;
    if (best == nullptr || one.values > best->values) best = &one;
  }
  if (best == nullptr) return std::nullopt;
  return Finding{0.5, std::to_string(best->values) + " parts of " + std::to_string(best->words) +
                          " packed words are held in registers across a loop" + at(best->places)};
}

inline std::optional<Finding> scan(const Subject& subject) {
  constexpr std::size_t kSteps = 4;
  std::map<std::size_t, std::set<long>> distances;
  std::map<std::size_t, std::set<Place>> places;
  for (const Access& one : subject.facts.accesses) {
    if (!one.is_local || !one.reads || one.items.stride == 0 || one.offset == 0) continue;
    const long by = magnitude(one.offset) / magnitude(one.items.stride);
    if (by == 0 || (by & (by - 1)) != 0 || magnitude(one.offset) % magnitude(one.items.stride) != 0)
      continue;
    distances[one.terms].insert(by);
    places[one.terms].insert(one.place);
  }
  for (const auto& [terms, steps] : distances) {
    if (steps.size() < kSteps || subject.facts.barriers < steps.size()) continue;
    return Finding{0.7, std::to_string(subject.facts.barriers) +
                            " barriers: a scan in local memory, with distances that double from " +
                            std::to_string(*steps.begin()) + " to " +
                            std::to_string(*steps.rbegin()) + at(places[terms])};
  }
  return std::nullopt;
}

inline std::optional<Finding> one_counter(const Subject& subject) {
  std::set<Place> places;
  for (const Access& one : subject.facts.accesses) {
    if (!one.is_atomic || one.is_local || !one.items.is_uniform() || one.by_few) continue;
    places.insert(one.place);
  }
  if (places.empty()) return std::nullopt;
  return Finding{0.8, "every work-item adds to the same word of global memory" + at(places)};
}

inline std::optional<Finding> in_place(const Subject& subject) {
  std::set<Place> places;
  double share = 0;
  for (const Access& store : subject.facts.accesses) {
    if (store.is_local || !store.writes || store.items.spread != Spread::irregular ||
        (store.items.from & from_memory) == 0)
      continue;
    for (const Access& load : subject.facts.accesses) {
      if (load.is_local || !load.reads || load.terms != store.terms || load.offset != store.offset)
        continue;
      places.insert(store.place);
      share += 2 * weight(store);
    }
  }
  return of_traffic(subject, share,
                    "elements are updated in place at positions that were read from memory",
                    places);
}

inline std::optional<Finding> registers(const Subject& subject) {
  constexpr int kFewer = 4;
  for (const Residency& one : subject.residency) {
    if (one.spills > 0) {
      return Finding{0.9, std::to_string(one.spills) + " registers are spilled on " + one.target};
    }
  }
  for (const Residency& one : subject.residency) {
    if (one.fewer == 0 || one.fewer > kFewer || 2 * one.waves > one.max_waves) continue;
    return Finding{0.3, one.target + ": " + std::to_string(one.waves) + " of " +
                            std::to_string(one.max_waves) + " waves; " + one.step};
  }
  return std::nullopt;
}

// What a GPU counted; no value where it did not.
inline std::optional<double> counter(const Subject& subject, const char* name) {
  const auto found = subject.counters.find(name);
  return found == subject.counters.end() ? std::nullopt : std::optional<double>(found->second);
}

inline std::string rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

inline std::optional<Finding> idle_lanes(const Subject& subject) {
  constexpr double kLanes = 32;
  constexpr double kMost = 24;
  const auto lanes = counter(subject, "lanes");
  if (!lanes || *lanes > kMost) return std::nullopt;
  return Finding{1 - *lanes / kLanes,
                 "counted: " + rounded(*lanes) + " of 32 lanes are active in an instruction"};
}

inline std::optional<Finding> many_sectors(const Subject& subject) {
  constexpr double kWhole = 16;  // a wave's accesses of 16 bytes next to each other
  for (const char* name : {"store_sectors", "load_sectors"}) {
    const auto sectors = counter(subject, name);
    if (!sectors || *sectors <= 1.05 * kWhole) continue;
    return Finding{1 - kWhole / *sectors, "counted: a " + std::string(name).substr(0, 5) +
                                              " of a wave reaches " + rounded(*sectors) +
                                              " sectors of 32 bytes, where 16 hold it all"};
  }
  return std::nullopt;
}

inline std::optional<Finding> few_waves(const Subject& subject) {
  constexpr double kWaves = 35;
  constexpr double kIssue = 50;
  const auto waves = counter(subject, "warps_pct");
  const auto issue = counter(subject, "issue_pct");
  if (!waves || !issue || *waves > kWaves || *issue > kIssue) return std::nullopt;
  return Finding{0.4, "counted: " + rounded(*waves) + " % of the places for waves are taken, and " +
                          rounded(*issue) + " % of the cycles issue an instruction"};
}

inline std::optional<Finding> banks(const Subject& subject) {
  constexpr double kLeast = 0.25;
  const auto conflicts = counter(subject, "bank_conflicts");
  const auto all = counter(subject, "local_wavefronts");
  if (!conflicts || !all || *all <= 0 || *conflicts < kLeast * *all) return std::nullopt;
  return Finding{*conflicts / *all, "counted: " + percent(*conflicts / *all) +
                                        " of the accesses to local memory wait for a bank"};
}

}  // namespace detail

// In the order of their chapters; advice comes in the order of its share.
inline const std::vector<Rule>& rules() {
  static const std::vector<Rule> all = {
      {"same_on_both_sides",
       "exchange the arguments in the branch and do the work once, behind it",
       {"argument_swap"},
       detail::same_on_both_sides},
      {"light_chain",
       "look the answer up in a table of registers or words, or compute it without a branch",
       {"bc6h_mode"},
       detail::light_chain},
      {"threshold_chain",
       "count the thresholds without branches, or search them",
       {"threshold_count"},
       detail::threshold_chain},
      {"heavy_chain",
       "fold the cases into one formula with tables",
       {"folded_switch", "bc6h_decode"},
       detail::heavy_chain},
      {"two_ways",
       "let the branch choose operands, or give work-items of one kind to one wave",
       {"argument_swap", "folded_switch", "regroup"},
       detail::two_ways},
      {"own_trips",
       "try smaller groups, which wait for fewer slow work-items",
       {"group_size"},
       detail::own_trips},
      {"neighbours",
       "read each element once, into local memory or registers",
       {"line_blur", "gaussian_blur", "halo_tile"},
       detail::neighbours},
      {"same_for_all", "make it a table, once", {"line_blur"}, detail::same_for_all},
      {"scattered",
       "give the groups another order, so that those which run together are neighbours both ways",
       {"group_swizzle"},
       detail::scattered},
      {"product",
       "order the groups in strips, and read tiles through local memory",
       {"group_swizzle", "halo_tile"},
       detail::product},
      {"apart",
       "pass the data through local memory, so that neighbours read and write next to each other",
       {"line_blur", "bc6h_decode"},
       detail::apart},
      {"shared_block",
       "let a group handle one such block, so that its address is the same for all",
       {"vertex_transform"},
       detail::shared_block},
      {"unpacked",
       "keep the words packed and take them apart where they are used",
       {"gbuffer_shade"},
       detail::unpacked},
      {"scan",
       "scan within sub-groups first, or in one pass with look-back",
       {"stream_compaction"},
       detail::scan},
      {"one_counter",
       "add up within a group, then once for the group",
       {"stream_compaction"},
       detail::one_counter},
      {"in_place",
       "keep the elements of a part in local memory for all passes",
       {"local_multipass"},
       detail::in_place},
      {"registers",
       "load later, recompute or pack what is held for long",
       {"vertex_transform", "gbuffer_shade"},
       detail::registers},
      {"idle_lanes",
       "take the branches on data away, or let a wave's work-items go the same way",
       {"argument_swap", "bc6h_mode", "threshold_count", "folded_switch", "regroup"},
       detail::idle_lanes},
      {"many_sectors",
       "let neighbours read and write next to each other",
       {"line_blur", "bc6h_decode"},
       detail::many_sectors},
      {"few_waves",
       "let more waves in: fewer registers, less local memory, another size of the group",
       {"group_size", "vertex_transform"},
       detail::few_waves},
      {"banks", "pad the rows in local memory", {"line_blur", "halo_tile"}, detail::banks},
  };
  return all;
}

// What concerns less of a kernel is not worth a change.
constexpr double kLeastShare = 0.2;

struct Advice {
  const Rule* rule = nullptr;
  Finding finding;
};

// What applies, that which concerns most of the work first.
inline std::vector<Advice> advise(const Subject& subject) {
  std::vector<Advice> out;
  for (const Rule& rule : rules()) {
    const std::optional<Finding> found = rule.find(subject);
    if (found && found->share >= kLeastShare) out.push_back({&rule, *found});
  }
  std::stable_sort(out.begin(), out.end(), [](const Advice& a, const Advice& b) {
    return a.finding.share > b.finding.share;
  });
  return out;
}

}  // namespace clcook::advise
