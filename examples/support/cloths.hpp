// Cloths that fall onto spheres: all of it but the constraints between their particles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <pictures/picture.hpp>
#include <vector>

#include "scene3d.hpp"

namespace clcook::example {

class Cloths {
 public:
  static constexpr int kStepsPerSecond = 240;

  // `count` square cloths of side x side particles above their spheres, each turned and tilted
  // differently.
  Cloths(std::uint32_t count, std::uint32_t side);

  // A float4 per particle, cloth after cloth and row by row: position in metres and inverse mass.
  std::vector<float> particles;

  // The distance of neighbours along a row of a cloth at rest.
  static float spacing(std::uint32_t side) { return kSize / static_cast<float>(side - 1); }

  // The first part of a step, gravity and air: where the particles would go without constraints.
  void predict();
  // The last part: pushes particles out of spheres and floor. What touches them loses most of its
  // sliding.
  void collide();

  Picture picture(int width, int height) const;

 private:
  static constexpr float kSize = 1.7f;    // metres
  static constexpr float kRadius = 0.5f;  // of the spheres
  static constexpr float kThick = 0.02f;  // distance that a cloth keeps from what it lies on
  static constexpr float kStep = 1.0f / kStepsPerSecond;

  static Vec3 at(const std::vector<float>& from, std::size_t i) {
    return {from[4 * i], from[4 * i + 1], from[4 * i + 2]};
  }
  static void put(std::vector<float>& to, std::size_t i, Vec3 p) {
    to[4 * i] = p.x;
    to[4 * i + 1] = p.y;
    to[4 * i + 2] = p.z;
  }
  // Where the sphere of a cloth stands.
  Vec3 place(std::size_t cloth) const;

  std::uint32_t count_;
  std::uint32_t side_;
  std::vector<float> before_;  // the particles at the step before
};

}  // namespace clcook::example
