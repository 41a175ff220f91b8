// A hall of spheres to look at by rays.
#pragma once

#include <array>

namespace clcook::example {

using Vector = std::array<double, 3>;

// The point at a distance along a direction.
Vector along(const Vector& from, const Vector& direction, double distance);
Vector unit(const Vector& v);

struct Hit {
  double distance = 1e9;
  Vector normal{0, 0, 0};
  std::array<unsigned, 3> albedo{};
  bool unlit = false;
  int object = 0;  // the floor, or a sphere from 1 on
};

// What a ray hits first of spheres in rows on a chequered floor, of which every ninth glows and is not
// lit; a distance of 1e9 is nothing.
Hit trace(const Vector& from, const Vector& direction);

}  // namespace clcook::example
