// Islands of LocalMultipass: graphs of distance constraints, sorted by colour.
#pragma once

#include <algorithm>
#include <clcook/core/error.hpp>
#include <clcook/core/math.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace clcook::local_multipass {

inline constexpr const char* kName = "LocalMultipass";
inline constexpr std::uint32_t kMaxCount = 0x7FFFFFFF;  // particles or constraints of all islands

// Keeps the particles a and b at the distance `rest`.
struct Constraint {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  float rest = 0;       // finite, not negative
  float stiffness = 1;  // the part of the error that one projection removes, above 0, at most 1
};

// Throws Error(invalid_argument) for an end that is no particle, and for two ends at one.
inline void check_ends(const Constraint& one, std::size_t index, std::uint32_t particles) {
  for (const std::uint32_t end : {one.a, one.b}) {
    if (end >= particles) {
      fail(Errc::invalid_argument, kName,
           text("constraint ", index, " is at particle ", end, ", the island has ", particles,
                " particles"));
    }
  }
  if (one.a == one.b) {
    fail(Errc::invalid_argument, kName,
         text("both ends of constraint ", index, " are particle ", one.a));
  }
}

// What all islands of a plan have in common.
struct Island {
  std::uint32_t particles = 0;
  std::vector<Constraint> constraints;  // sorted by colour
  // Colour c is constraints[colour_begin[c]] up to before constraints[colour_begin[c + 1]]. No
  // two constraints of a colour share a particle. The last entry is the number of constraints.
  std::vector<std::uint32_t> colour_begin;

  std::uint32_t colours() const {
    return colour_begin.empty() ? 0 : static_cast<std::uint32_t>(colour_begin.size() - 1);
  }
  // The number of constraints of the largest colour.
  std::uint32_t largest_colour() const {
    std::uint32_t out = 0;
    for (std::size_t c = 0; c + 1 < colour_begin.size(); ++c)
      out = std::max(out, colour_begin[c + 1] - colour_begin[c]);
    return out;
  }

  // A rope: a chain of particles at a distance. Two colours.
  static Island rope(std::uint32_t particles, float spacing, float stiffness = 1) {
    return cloth(particles, 1, spacing, stiffness);
  }

  // A cloth: particle y * width + x with its neighbours to the right, below and on both diagonals,
  // and, where `bend` is above 0, with the second neighbours in the row and the column, which have
  // that stiffness. Throws Error(invalid_argument) for fewer than two particles.
  static Island cloth(std::uint32_t width, std::uint32_t height, float spacing, float stiffness = 1,
                      float bend = 0) {
    if (width < 1 || height < 1 || std::uint64_t{width} * height < 2 ||
        std::uint64_t{width} * height > kMaxCount) {
      fail(Errc::invalid_argument, kName,
           text("a cloth has 2 to ", kMaxCount, " particles, got ", width, " x ", height));
    }
    std::vector<Constraint> all;
    const auto add = [&](int dx, std::uint32_t dy, float factor, float how_stiff) {
      for (std::uint32_t y = 0; y + dy < height; ++y) {
        for (std::uint32_t x = 0; x < width; ++x) {
          const std::int64_t other = std::int64_t{x} + dx;
          if (other < 0 || other >= width) continue;
          all.push_back({y * width + x, (y + dy) * width + static_cast<std::uint32_t>(other),
                         factor * spacing, how_stiff});
        }
      }
    };
    add(1, 0, 1, stiffness);
    add(0, 1, 1, stiffness);
    add(1, 1, 1.41421356f, stiffness);
    add(-1, 1, 1.41421356f, stiffness);
    if (bend > 0) {
      add(2, 0, 2, bend);
      add(0, 2, 2, bend);
    }
    return coloured(width * height, all);
  }

  // An island of any constraints: gives each the first colour that is free at both its ends, and
  // sorts by colour, otherwise keeping the order. Throws Error(invalid_argument) for an end that is
  // no particle.
  static Island coloured(std::uint32_t particles, const std::vector<Constraint>& constraints) {
    Island out;
    out.particles = particles;
    std::vector<std::vector<bool>> taken(particles);  // per particle and colour
    std::vector<std::vector<Constraint>> sorted;
    for (std::size_t i = 0; i < constraints.size(); ++i) {
      const Constraint& one = constraints[i];
      check_ends(one, i, particles);
      std::vector<bool>& a = taken[one.a];
      std::vector<bool>& b = taken[one.b];
      std::size_t colour = 0;
      while ((colour < a.size() && a[colour]) || (colour < b.size() && b[colour])) ++colour;
      for (std::vector<bool>* end : {&a, &b}) {
        if (end->size() <= colour) end->resize(colour + 1);
        (*end)[colour] = true;
      }
      if (sorted.size() <= colour) sorted.resize(colour + 1);
      sorted[colour].push_back(one);
    }
    out.colour_begin.push_back(0);
    for (const std::vector<Constraint>& colour : sorted) {
      out.constraints.insert(out.constraints.end(), colour.begin(), colour.end());
      out.colour_begin.push_back(static_cast<std::uint32_t>(out.constraints.size()));
    }
    return out;
  }
};

// Throws Error(invalid_argument) that names the first rule that an island, or as many of them, breaks.
inline void check_island(const Island& island, std::uint32_t islands) {
  if (island.particles < 1)
    fail(Errc::invalid_argument, kName, "particles must be at least 1, got 0");
  if (island.constraints.empty())
    fail(Errc::invalid_argument, kName, "the island has no constraints");
  if (island.constraints.size() > kMaxCount) {
    fail(Errc::invalid_argument, kName,
         text(island.constraints.size(), " constraints exceed the limit of ", kMaxCount));
  }
  const auto count = [&](const char* what, std::uint64_t value) {
    if (value * islands > kMaxCount) {
      fail(Errc::invalid_argument, kName,
           text(islands, " islands of ", value, " ", what, " exceed the limit of ", kMaxCount, " ",
                what));
    }
  };
  count("particles", island.particles);
  count("constraints", island.constraints.size());
  const std::vector<std::uint32_t>& begin = island.colour_begin;
  if (begin.empty() || begin.front() != 0 || begin.back() != island.constraints.size()) {
    fail(Errc::invalid_argument, kName,
         text("colour_begin must go from 0 to the number of constraints, ",
              island.constraints.size(), ", got ",
              begin.empty() ? std::string("no entries")
                            : text(begin.front(), " to ", begin.back())));
  }
  std::vector<std::uint32_t> user(island.particles, ~std::uint32_t{0});
  for (std::size_t colour = 0; colour + 1 < begin.size(); ++colour) {
    if (begin[colour] >= begin[colour + 1]) {
      fail(Errc::invalid_argument, kName,
           text("colour_begin must rise, but colour ", colour, " goes from ", begin[colour], " to ",
                begin[colour + 1]));
    }
  }
  for (std::size_t colour = 0; colour + 1 < begin.size(); ++colour) {
    for (std::uint32_t i = begin[colour]; i < begin[colour + 1]; ++i) {
      const Constraint& one = island.constraints[i];
      check_ends(one, i, island.particles);
      if (!math::isfinite(one.rest) || one.rest < 0) {
        fail(Errc::invalid_argument, kName,
             text("the rest length of constraint ", i, " must be finite and not negative, got ",
                  one.rest));
      }
      if (!(math::isfinite(one.stiffness) && one.stiffness > 0 && one.stiffness <= 1)) {
        fail(Errc::invalid_argument, kName,
             text("the stiffness of constraint ", i, " must be above 0 and at most 1, got ",
                  one.stiffness));
      }
      for (const std::uint32_t end : {one.a, one.b}) {
        if (user[end] == colour) {
          fail(Errc::invalid_argument, kName,
               text("colour ", colour, " uses particle ", end, " twice, the second time in ",
                    "constraint ", i));
        }
        user[end] = static_cast<std::uint32_t>(colour);
      }
    }
  }
}

// Throws Error(invalid_argument) that names the first of `count` float4 particles on the host
// whose position is not finite or whose inverse mass is negative or not finite.
inline void check_particles(const float* particles, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t e = 0; e < 4; ++e) {
      const float value = particles[4 * i + e];
      if (!math::isfinite(value)) {
        fail(Errc::invalid_argument, kName,
             text(e == 3 ? "the inverse mass" : "a coordinate", " of particle ", i,
                  " must be finite, got ", value));
      }
      if (e == 3 && value < 0) {
        fail(Errc::invalid_argument, kName,
             text("the inverse mass of particle ", i, " must not be negative, got ", value));
      }
    }
  }
}

}  // namespace clcook::local_multipass
