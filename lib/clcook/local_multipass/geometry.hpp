// How the constraints of an island lie on the work-items of a group.
#pragma once

#include <algorithm>
#include <array>
#include <clcook/local_multipass/island.hpp>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace clcook::local_multipass {

// How a variant cuts the work.
struct Geometry {
  int packed = 1;               // islands per group; 0: a group knows no islands
  int lanes = 0;                // work-items per island
  int each = 0;                 // constraints per item and colour
  std::size_t local_bytes = 0;  // per group
};

// As many islands in a group of `group` work-items as it can serve with one constraint of a colour
// per item, and as fit `local_mem` bytes; at least one. An island takes `island_bytes`, above 0.
inline Geometry pack(const Island& island, std::uint32_t islands, int group,
                     std::size_t island_bytes, std::size_t local_mem) {
  const std::size_t largest = island.largest_colour();
  const auto size = static_cast<std::size_t>(group);
  const std::size_t most =
      std::max<std::size_t>(1, std::min<std::size_t>(local_mem / island_bytes, islands));
  const std::size_t packed = std::clamp<std::size_t>(size / largest, 1, most);
  const std::size_t lanes = size / packed;
  return {static_cast<int>(packed), static_cast<int>(lanes),
          static_cast<int>((largest + lanes - 1) / lanes), packed * island_bytes};
}

// Places the constraints of each colour on the work-items of resident, and exchanges ends, so
// that the items of one warp read different banks where that is possible. Neither changes a bit
// of the result: the constraints of a colour share no particle, and the arithmetic is symmetric.
// Colours get room for `lanes` * `each` constraints; a constraint of equal ends is none.
inline Island spread_over_banks(const Island& island, int lanes, int each) {
  constexpr std::size_t kBanks = 32;  // of 4 bytes, and the items that read together
  const auto width = static_cast<std::size_t>(lanes);
  const std::size_t room = width * static_cast<std::size_t>(each);
  struct Warp {
    std::size_t first;  // place in the colour
    std::size_t size;
    std::vector<Constraint> held;
    std::array<int, kBanks> a{};  // how many read each bank
    std::array<int, kBanks> b{};
    // By how much more reads collide with this constraint.
    int cost(const Constraint& one) const { return a[one.a % kBanks] + b[one.b % kBanks]; }
    void add(const Constraint& one, int count) {
      a[one.a % kBanks] += count;
      b[one.b % kBanks] += count;
    }
  };
  Island out;
  out.particles = island.particles;
  out.colour_begin.push_back(0);
  for (std::size_t colour = 0; colour + 1 < island.colour_begin.size(); ++colour) {
    std::vector<Warp> warps;
    for (std::size_t first = 0; first < room;) {
      const std::size_t size = std::min(kBanks, width - first % width);
      warps.push_back({first, size, {}, {}, {}});
      first += size;
    }
    // The place with the fewest collisions; the emptiest of equals.
    const auto place = [&](Constraint one) {
      Warp* best = nullptr;
      bool swapped = false;
      for (Warp& warp : warps) {
        if (warp.held.size() == warp.size) continue;
        for (const bool swap : {false, true}) {
          const Constraint turned{swap ? one.b : one.a, swap ? one.a : one.b, 0, 1};
          const Constraint there{swapped ? one.b : one.a, swapped ? one.a : one.b, 0, 1};
          if (best != nullptr &&
              (warp.cost(turned) > best->cost(there) ||
               (warp.cost(turned) == best->cost(there) && warp.held.size() >= best->held.size())))
            continue;
          best = &warp;
          swapped = swap;
        }
      }
      if (swapped) std::swap(one.a, one.b);
      best->held.push_back(one);
      best->add(one, 1);
    };
    for (std::uint32_t i = island.colour_begin[colour]; i < island.colour_begin[colour + 1]; ++i)
      place(island.constraints[i]);
    // Then each is taken out and placed again, which mends most of the collisions left.
    for (int round = 0; round < 16; ++round) {
      for (Warp& warp : warps) {
        for (std::size_t i = 0; i < warp.held.size(); ++i) {
          const Constraint one = warp.held.front();
          warp.held.erase(warp.held.begin());
          warp.add(one, -1);
          place(one);
        }
      }
    }
    const std::size_t begin = out.constraints.size();
    out.constraints.resize(begin + room);
    for (const Warp& warp : warps) {
      std::copy(warp.held.begin(), warp.held.end(),
                out.constraints.begin() + static_cast<std::ptrdiff_t>(begin + warp.first));
    }
    out.colour_begin.push_back(static_cast<std::uint32_t>(out.constraints.size()));
  }
  return out;
}

}  // namespace clcook::local_multipass
