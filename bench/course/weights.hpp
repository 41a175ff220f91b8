// How often each instruction of a listing runs, from how often the regions of its source ran. std
// only.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "course/regions.hpp"
#include "isa/listing.hpp"

namespace clcook::tool::course {

// How often the regions of a source ran, over all launches of a call.
struct RegionCounts {
  // By region: the sum over waves of the most that one work-item of the wave ran it. A wave of
  // lanes in lock-step runs what any of them needs.
  std::vector<double> of;
  double wave = 1;  // work-items per wave
  double outputs = 1;
};

// What the remarks of -Rpass=loop-unroll and loop-vectorize say, by the line of the loop.
struct LoopRemark {
  double factor = 1;      // iterations of the source that one of the machine does
  bool complete = false;  // no loop is left
};

inline std::map<unsigned, LoopRemark> read_loop_remarks(std::string_view log) {
  std::map<unsigned, LoopRemark> out;
  while (!log.empty()) {
    const std::string_view line = isa::detail::take_line(log);
    const std::size_t mark = line.find(": remark: ");
    if (mark == std::string_view::npos) continue;
    // FILE:LINE:COLUMN
    const std::size_t column = line.rfind(':', mark - 1);
    if (column == std::string_view::npos) continue;
    const std::size_t number = line.rfind(':', column - 1);
    if (number == std::string_view::npos) continue;
    const unsigned at = isa::detail::to_unsigned(line.substr(number + 1));
    const auto after = [&](std::string_view key) -> double {
      const std::size_t found = line.find(key, mark);
      return found == std::string_view::npos
                 ? 0.0
                 : isa::detail::to_unsigned(line.substr(found + key.size()));
    };
    const bool known = out.count(at) > 0;
    LoopRemark& one = out[at];
    if (line.find("completely unrolled", mark) != std::string_view::npos) {
      // A loop of a function has a copy for each place that calls it.
      if (!known) one.complete = true;
    } else if (const double by = after("by a factor of "); by > 0) {
      one = {std::max(one.factor, by), false};
    } else if (const double width = after("vectorization width: "); width > 0) {
      one = {std::max(one.factor, width * std::max(1.0, after("interleaved count: "))), false};
    }
  }
  return out;
}

// Instructions that are issued, per output.
struct Weighted {
  std::array<double, isa::kKinds> by_kind{};
  double total = 0;
  double guessed = 0;  // the share of total in loops that nothing is known of: taken as run once

  double of(isa::Kind kind) const { return by_kind[static_cast<std::size_t>(kind)]; }
};

namespace detail {

class Weigher {
 public:
  Weigher(isa::Dialect dialect, const isa::Listing& listing, const Regions& regions,
          const RegionCounts& counts, const std::map<unsigned, LoopRemark>& remarks,
          const std::string& kernel)
      : lines_(listing.lines),
        regions_(regions),
        counts_(counts),
        remarks_(remarks),
        kernel_(regions.function(kernel)),
        graph_(isa::detail::graph_of(dialect, listing.lines)) {}

  Weighted weigh() {
    Weighted out;
    if (kernel_ < 0 || ran(kernel_) <= 0) return out;
    std::vector<double> frequency(graph_.blocks.size(), 1.0);
    std::vector<bool> guess(graph_.blocks.size(), false);
    double last = 1;
    for (std::size_t b = 0; b < frequency.size(); ++b) {
      // A block without a line of the source belongs to what stands before it.
      const double own = share_of(graph_.blocks[b]);
      frequency[b] = own < 0 ? last : own;
      last = frequency[b];
    }
    const std::vector<Trips> trips = trips_of(isa::detail::natural_loops(graph_));
    for (const Trips& one : trips) {
      for (const std::size_t b : one.blocks) {
        frequency[b] *= one.count;
        guess[b] = guess[b] || !one.known;
      }
    }
    const double scale = ran(kernel_) * counts_.wave / counts_.outputs;
    for (std::size_t b = 0; b < frequency.size(); ++b) {
      for (const std::size_t i : graph_.blocks[b].lines) {
        const double often = frequency[b] * scale;
        out.by_kind[static_cast<std::size_t>(lines_[i].kind)] += often;
        out.total += often;
        if (guess[b]) out.guessed += often;
      }
    }
    if (out.total > 0) out.guessed /= out.total;
    return out;
  }

 private:
  struct Trips {
    std::set<std::size_t> blocks;
    double count = 1;
    bool known = false;
    int region = -1;  // the source's loop
    double factor = 1;
    std::size_t size = 0;  // instructions
  };

  double ran(int region) const { return counts_.of.at(static_cast<std::size_t>(region)); }
  const Region& at(int region) const { return regions_.all[static_cast<std::size_t>(region)]; }

  // How much of what the kernel runs reaches the region, loops left aside.
  double share(int region, int depth = 0) const {
    const Region& one = at(region);
    if (one.kind == Region::Kind::function) {
      if (region == kernel_ || depth > 64) return 1;
      const auto sites = regions_.calls.find(one.name);
      double most = 0;
      if (sites != regions_.calls.end()) {
        // Kernels of the same text that are not this one never ran in it.
        for (const int site : sites->second) most = std::max(most, share(site, depth + 1));
      }
      return most;
    }
    const double outer = share(one.parent, depth + 1);
    if (one.kind == Region::Kind::loop || ran(one.parent) <= 0) return outer;
    return outer * std::min(1.0, ran(region) / ran(one.parent));
  }

  // The kernel's own text alone: an included prelude has lines of the same numbers.
  int region_of(const isa::Line& line) const {
    const std::string_view file = line.file;
    const std::string_view prelude = "prelude.h";
    if (file.size() >= prelude.size() && file.substr(file.size() - prelude.size()) == prelude)
      return -1;
    return regions_.at_line(line.line);
  }

  // The middle one of a block's instructions; -1: none has a line of the source.
  double share_of(const isa::detail::FlowBlock& block) const {
    std::vector<double> all;
    for (const std::size_t i : block.lines) {
      const int region = region_of(lines_[i]);
      if (region >= 0) all.push_back(share(region));
    }
    if (all.empty()) return -1;
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
  }

  LoopRemark remark(int loop) const {
    for (std::size_t i = 0; i < regions_.of_line.size(); ++i) {
      if (!regions_.header[i] || regions_.of_line[i] != loop) continue;
      const auto found = remarks_.find(static_cast<unsigned>(i + 1));
      if (found != remarks_.end()) return found->second;
    }
    return {};
  }

  double source_trips(int loop) const {
    const double outer = ran(at(loop).parent);
    return outer <= 0 ? 0 : ran(loop) / outer;
  }

  // The loop of the source that a loop of the machine comes from, among those that `taken` does not
  // hold; -1: none.
  int source_loop(const isa::detail::NaturalLoop& loop, const std::set<std::size_t>& inner,
                  const std::set<int>& taken) const {
    const auto open = [&](int region) {
      return region >= 0 && at(region).kind == Region::Kind::loop && taken.count(region) == 0 &&
             !remark(region).complete;
    };
    // The jump back has the line of the loop's header.
    for (const std::size_t latch : loop.latches) {
      const std::vector<std::size_t>& own = graph_.blocks[latch].lines;
      if (own.empty()) continue;
      const unsigned line = lines_[own.back()].line;
      const int region = region_of(lines_[own.back()]);
      if (region >= 0 && regions_.header[line - 1] && open(region)) return region;
    }
    // Else the loop of most instructions, those of inner loops left aside.
    std::map<int, std::size_t> votes;
    for (const std::size_t b : loop.blocks) {
      if (inner.count(b) > 0) continue;
      for (const std::size_t i : graph_.blocks[b].lines) {
        const unsigned line = lines_[i].line;
        for (int r = region_of(lines_[i]); r >= 0; r = at(r).parent) {
          if (!open(r)) continue;
          votes[r] += regions_.header[line - 1] ? 3U : 1U;
          break;
        }
      }
    }
    int best = -1;
    for (const auto& [region, count] : votes) {
      if (best < 0 || count > votes[best]) best = region;
    }
    return best;
  }

  std::vector<Trips> trips_of(std::vector<isa::detail::NaturalLoop> loops) const {
    std::stable_sort(loops.begin(), loops.end(),
                     [](const isa::detail::NaturalLoop& a, const isa::detail::NaturalLoop& b) {
                       return a.blocks.size() > b.blocks.size();
                     });
    std::vector<Trips> out;
    for (std::size_t i = 0; i < loops.size(); ++i) {
      Trips one;
      one.blocks = loops[i].blocks;
      std::set<int> taken;  // by the loops around this one
      for (const Trips& other : out) {
        if (other.blocks.count(loops[i].header) > 0 && other.region >= 0)
          taken.insert(other.region);
      }
      std::set<std::size_t> inner;
      for (std::size_t k = i + 1; k < loops.size(); ++k) {
        if (one.blocks.count(loops[k].header) > 0)
          inner.insert(loops[k].blocks.begin(), loops[k].blocks.end());
      }
      for (const std::size_t b : one.blocks) one.size += graph_.blocks[b].lines.size();
      one.region = source_loop(loops[i], inner, taken);
      if (one.region >= 0) {
        one.known = true;
        one.factor = remark(one.region).factor;
        const double trips = source_trips(one.region);
        one.count = one.factor > 1 && trips >= one.factor ? trips / one.factor : trips;
        if (one.factor > 1) one.count = std::floor(one.count);
      }
      out.push_back(std::move(one));
    }
    // What an unrolled loop leaves over runs in a smaller copy of it.
    for (Trips& one : out) {
      if (one.factor <= 1) continue;
      std::size_t largest = 0;
      for (const Trips& other : out) {
        if (other.region == one.region) largest = std::max(largest, other.size);
      }
      if (2 * one.size >= largest + 1) continue;
      const double trips = source_trips(one.region);
      one.count = trips - one.factor * std::floor(trips / one.factor);
    }
    return out;
  }

  const std::vector<isa::Line>& lines_;
  const Regions& regions_;
  const RegionCounts& counts_;
  const std::map<unsigned, LoopRemark>& remarks_;
  int kernel_;
  isa::detail::FlowGraph graph_;
};

}  // namespace detail

// Weighs the instructions of a kernel that was compiled from regions.plain: each by how often its
// block runs. That is the product of the trip counts of the machine's loops around it, found by the
// lines of their headers and divided by what the compiler unrolled, and of the shares of the
// branches of the source that its instructions come from. All zero: the kernel never ran.
inline Weighted weighted(isa::Dialect dialect, const isa::Listing& listing, const Regions& regions,
                         const RegionCounts& counts, const std::map<unsigned, LoopRemark>& remarks,
                         const std::string& kernel) {
  return detail::Weigher(dialect, listing, regions, counts, remarks, kernel).weigh();
}

}  // namespace clcook::tool::course
