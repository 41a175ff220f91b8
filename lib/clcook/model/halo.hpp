// What the border of a tile costs: a work-group that filters with a neighbourhood has to read more
// than it writes. Std only.
//
// Two figures for the same border are in use and easily mixed up: border per payload and border per
// total. Compare tiles by the same figure. Either way a 3-D tile has more border than a 2-D tile of
// as many items.
#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

namespace clcook::model {

// A box of cells, or the reach of a neighbourhood in each dimension.
struct Extent {
  std::uint64_t x = 1;
  std::uint64_t y = 1;
  std::uint64_t z = 1;
};

// Cells of a tile, of its border, and what is read of them.
struct Halo {
  std::uint64_t payload = 0;        // cells that the group computes
  std::uint64_t total = 0;          // cells that it reads
  std::uint64_t border = 0;         // total - payload
  std::uint64_t neighbourhood = 0;  // cells that one result depends on

  constexpr double border_per_payload() const {
    return static_cast<double>(border) / static_cast<double>(payload);
  }
  constexpr double border_per_total() const {
    return static_cast<double>(border) / static_cast<double>(total);
  }
  // Reads of memory per result where each result reads its whole neighbourhood.
  constexpr double direct_loads() const { return static_cast<double>(neighbourhood); }
  // The same where the group reads its tile once and shares it.
  constexpr double tile_loads() const {
    return static_cast<double>(total) / static_cast<double>(payload);
  }
  constexpr double saving() const { return direct_loads() / tile_loads(); }
};

namespace detail {

constexpr std::uint64_t halo_product(std::uint64_t a, std::uint64_t b) {
  if (a != 0 && b > std::numeric_limits<std::uint64_t>::max() / a) {
    throw std::invalid_argument("halo: " + std::to_string(a) + " x " + std::to_string(b) +
                                " cells exceed 64 bits");
  }
  return a * b;
}

constexpr std::uint64_t halo_side(std::uint64_t cells, std::uint64_t radius) {
  if (cells == 0)
    throw std::invalid_argument("halo: every side of a tile must be at least 1, got 0");
  if (radius > (std::numeric_limits<std::uint64_t>::max() - cells) / 2) {
    throw std::invalid_argument("halo: a side of " + std::to_string(cells) + " with radius " +
                                std::to_string(radius) + " exceeds 64 bits");
  }
  return cells + 2 * radius;
}

}  // namespace detail

// The border of a tile whose results reach `radius` cells in each direction, corners included. A
// tile in 2-D has z = 1 and radius z = 0. Throws std::invalid_argument for an empty tile or counts
// beyond 64 bits. Thread-safe.
constexpr Halo halo(const Extent& tile, const Extent& radius) {
  using detail::halo_product;
  using detail::halo_side;
  Halo out;
  out.total = halo_product(halo_product(halo_side(tile.x, radius.x), halo_side(tile.y, radius.y)),
                           halo_side(tile.z, radius.z));
  out.payload = halo_product(halo_product(tile.x, tile.y), tile.z);
  out.border = out.total - out.payload;
  out.neighbourhood = halo_product(halo_product(halo_side(1, radius.x), halo_side(1, radius.y)),
                                   halo_side(1, radius.z));
  return out;
}

constexpr Halo halo_2d(std::uint64_t width, std::uint64_t height, std::uint64_t radius) {
  return halo({width, height, 1}, {radius, radius, 0});
}

constexpr Halo halo_3d(std::uint64_t width, std::uint64_t height, std::uint64_t depth,
                       std::uint64_t radius) {
  return halo({width, height, depth}, {radius, radius, radius});
}

}  // namespace clcook::model
