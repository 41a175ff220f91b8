#include "cloths.hpp"

#include <cmath>
#include <utility>

namespace clcook::example {

Cloths::Cloths(std::uint32_t count, std::uint32_t side) : count_(count), side_(side) {
  for (std::uint32_t c = 0; c < count; ++c) {
    const Vec3 centre = place(c) + Vec3{0.08f * std::sin(2.1f * static_cast<float>(c)), 0.75f,
                                        0.08f * std::cos(1.3f * static_cast<float>(c))};
    const float turn = 0.7f * static_cast<float>(c) + 0.3f;
    const float tilt = 0.25f * std::sin(1.7f * static_cast<float>(c));
    for (std::uint32_t y = 0; y < side; ++y) {
      for (std::uint32_t x = 0; x < side; ++x) {
        const float u = static_cast<float>(x) * spacing(side) - kSize / 2;
        const float v = static_cast<float>(y) * spacing(side) - kSize / 2;
        const Vec3 p = centre + Vec3{u * std::cos(turn) - v * std::sin(turn),
                                     u * tilt + 0.01f * std::sin(9 * u + 7 * v),
                                     u * std::sin(turn) + v * std::cos(turn)};
        particles.insert(particles.end(), {p.x, p.y, p.z, 1.0f});
      }
    }
  }
  before_ = particles;
}

Vec3 Cloths::place(std::size_t cloth) const {
  const std::size_t columns = (count_ + 1) / 2;
  const auto column = static_cast<float>(cloth % columns);
  const auto row = static_cast<float>(cloth / columns);
  return {1.95f * (column - 0.5f * static_cast<float>(columns - 1)) + 0.35f * row, kRadius,
          -1.95f * row};
}

void Cloths::predict() {
  for (std::size_t i = 0; i < particles.size() / 4; ++i) {
    const Vec3 p = at(particles, i);
    const Vec3 velocity = (p - at(before_, i)) * (1 / kStep);
    const Vec3 v = velocity * (1 - 0.8f * kStep) + Vec3{0, -9.81f, 0} * kStep;
    put(before_, i, p);
    put(particles, i, p + v * kStep);
  }
}

void Cloths::collide() {
  const std::size_t each = std::size_t{side_} * side_;
  for (std::size_t i = 0; i < particles.size() / 4; ++i) {
    Vec3 p = at(particles, i);
    Vec3 normal;
    const Vec3 centre = place(i / each);
    const Vec3 off = p - centre;
    const float distance = std::sqrt(dot(off, off));
    if (distance < kRadius + kThick && distance > 0) {
      normal = off * (1 / distance);
      p = centre + normal * (kRadius + kThick);
    } else if (p.y < kThick) {
      normal = {0, 1, 0};
      p.y = kThick;
    } else {
      continue;
    }
    const Vec3 moved = p - at(before_, i);
    const Vec3 slide = moved - normal * dot(moved, normal);
    put(particles, i, p - slide * 0.35f);
  }
}

Picture Cloths::picture(int width, int height) const {
  const Vec3 colours[] = {{0.80f, 0.10f, 0.12f}, {0.90f, 0.52f, 0.06f}, {0.10f, 0.45f, 0.22f},
                          {0.09f, 0.26f, 0.65f}, {0.46f, 0.13f, 0.52f}, {0.06f, 0.50f, 0.55f}};
  Scene3d scene({{0.3f, 2.9f, 4.6f}, {0.17f, 0.38f, -0.75f}, 3.0f});
  const std::size_t each = std::size_t{side_} * side_;
  for (std::size_t c = 0; c < count_; ++c) {
    scene.add(sphere(place(c), kRadius, {0.75f, 0.75f, 0.72f}));
    const Vec3 colour = colours[c % 6];
    Grid grid{side_, side_, {}, colour, colour * 0.8f, 0.08f, 4};
    for (std::size_t i = 0; i < each; ++i) grid.vertices.push_back(at(particles, c * each + i));
    scene.add(std::move(grid));
  }
  return scene.render(width, height);
}

}  // namespace clcook::example
