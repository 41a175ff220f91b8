#include "hall.hpp"

#include <cmath>

namespace clcook::example {

namespace {

double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

}  // namespace

Vector along(const Vector& from, const Vector& direction, double distance) {
  return {from[0] + distance * direction[0], from[1] + distance * direction[1],
          from[2] + distance * direction[2]};
}

Vector unit(const Vector& v) {
  const double length = std::sqrt(dot(v, v));
  return {v[0] / length, v[1] / length, v[2] / length};
}

Hit trace(const Vector& from, const Vector& direction) {
  Hit hit;
  if (direction[1] < 0) {
    hit.distance = -from[1] / direction[1];
    hit.normal = {0, 1, 0};
    const Vector at = along(from, direction, hit.distance);
    const bool dark =
        (static_cast<long>(std::floor(at[0])) + static_cast<long>(std::floor(at[2]))) % 2 != 0;
    hit.albedo =
        dark ? std::array<unsigned, 3>{90, 90, 100} : std::array<unsigned, 3>{190, 185, 175};
  }
  for (int i = 0; i < 36; ++i) {
    const Vector centre{(i % 6 - 2.5) * 2.2, 0.8, 3.0 + i / 6 * 2.2};
    const Vector to{from[0] - centre[0], from[1] - centre[1], from[2] - centre[2]};
    const double b = dot(to, direction);
    const double root = b * b - dot(to, to) + 0.64;
    if (root < 0) continue;
    const double distance = -b - std::sqrt(root);
    if (distance < 1e-4 || distance >= hit.distance) continue;
    hit.distance = distance;
    const Vector at = along(from, direction, distance);
    hit.normal = unit({at[0] - centre[0], at[1] - centre[1], at[2] - centre[2]});
    hit.unlit = i % 9 == 4;
    hit.object = i + 1;
    hit.albedo = {static_cast<unsigned>(120 + i * 67 % 136),
                  static_cast<unsigned>(120 + i * 31 % 136),
                  static_cast<unsigned>(120 + i * 101 % 136)};
  }
  return hit;
}

}  // namespace clcook::example
