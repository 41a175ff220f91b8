#include "meadow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <clcook/io/whole_file.hpp>
#include <cmath>
#include <ostream>

namespace clcook::example {

using pictures::Picture;

namespace {

constexpr int kRings = 25;  // of kSides vertices
constexpr int kSides = 6;

struct Point {
  double x, y, depth, light;
};

void draw_triangle(Picture& picture, std::vector<double>& nearest, const Point& a, const Point& b,
                   const Point& c) {
  const double area = (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y);
  if (area == 0) return;
  const auto first = [](double v) { return std::max(0, static_cast<int>(std::floor(v))); };
  const int x1 = std::min(picture.width - 1, static_cast<int>(std::max({a.x, b.x, c.x})));
  const int y1 = std::min(picture.height - 1, static_cast<int>(std::max({a.y, b.y, c.y})));
  for (int y = first(std::min({a.y, b.y, c.y})); y <= y1; ++y) {
    for (int x = first(std::min({a.x, b.x, c.x})); x <= x1; ++x) {
      const double u = ((x + 0.5 - a.x) * (c.y - a.y) - (c.x - a.x) * (y + 0.5 - a.y)) / area;
      const double v = ((b.x - a.x) * (y + 0.5 - a.y) - (x + 0.5 - a.x) * (b.y - a.y)) / area;
      if (u < 0 || v < 0 || u + v > 1) continue;
      const double depth = a.depth + u * (b.depth - a.depth) + v * (c.depth - a.depth);
      const auto at = static_cast<std::size_t>(y * picture.width + x);
      if (depth >= nearest[at]) continue;
      nearest[at] = depth;
      const double light = a.light + u * (b.light - a.light) + v * (c.light - a.light);
      picture.rgba[at * 4] = static_cast<std::uint8_t>(30 + 110 * light);
      picture.rgba[at * 4 + 1] = static_cast<std::uint8_t>(60 + 180 * light);
      picture.rgba[at * 4 + 2] = static_cast<std::uint8_t>(25 + 60 * light);
    }
  }
}

}  // namespace

Meadow::Meadow(int blades) {
  for (int ring = 0; ring < kRings; ++ring) {
    const float height = static_cast<float>(ring) / (kRings - 1);
    for (int side = 0; side < kSides; ++side) {
      const float angle = 6.2831853f * static_cast<float>(side) / kSides;
      const float radius = 0.06f * (1 - height * height);
      for (const float value : {radius * std::cos(angle), height, radius * std::sin(angle),
                                std::cos(angle), 0.2f, std::sin(angle)}) {
        mesh.push_back(value);
      }
      const float place = height * (kBones - 1);
      const int bone = std::min(static_cast<int>(place), kBones - 2);
      const int upper = static_cast<int>(std::lround((place - static_cast<float>(bone)) * 255));
      for (const int byte : {bone, bone + 1, 0, 0, 255 - upper, upper, 0, 0})
        skin.push_back(static_cast<std::uint8_t>(byte));
      if (ring + 1 == kRings) continue;
      const int a = ring * kSides + side;
      const int b = ring * kSides + (side + 1) % kSides;
      triangles.push_back({a, a + kSides, b});
      triangles.push_back({b, a + kSides, b + kSides});
    }
  }
  grow(blades);
}

// Where the blades stand, and how the wind bends each: bone by bone a little further.
void Meadow::grow(int blades) {
  for (int i = 0; i < blades; ++i) {
    const float angle = 2.39996323f * static_cast<float>(i);  // a sunflower's spiral
    const float distance =
        3.2f * std::sqrt((static_cast<float>(i) + 0.5f) / static_cast<float>(blades));
    const float x = distance * std::cos(angle);
    const float z = distance * std::sin(angle);
    const float size = 0.7f + 0.5f * std::fabs(std::sin(static_cast<float>(i) * 12.9898f));
    for (const float value : {size, 0.0f, 0.0f, x, 0.0f, size, 0.0f, 0.0f, 0.0f, 0.0f, size, z,
                              0.0f, 0.0f, 0.0f, 1.0f}) {
      world.push_back(value);
    }
    const float wind = 0.16f + 0.1f * std::sin(1.7f * x + 0.9f * z);
    float bend = 0;
    float joint_x = 0;
    float joint_y = 0;
    for (int bone = 0; bone < kBones; ++bone) {
      // Turns about the bone's own joint, which the bones below have moved.
      const float rest = static_cast<float>(bone) / (kBones - 1);
      const float c = std::cos(bend);
      const float s = std::sin(bend);
      for (const float value : {c, s, 0.0f, joint_x - s * rest, -s, c, 0.0f, joint_y - c * rest,
                                0.0f, 0.0f, 1.0f, 0.0f, 0.0f, 0.0f, 0.0f, 1.0f}) {
        bones.push_back(value);
      }
      joint_x += s / (kBones - 1);
      joint_y += c / (kBones - 1);
      bend += wind;
    }
  }
}

Picture Meadow::picture(const std::vector<float>& posed, std::size_t step, int width,
                        int height) const {
  Picture picture;
  picture.width = width;
  picture.height = height;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (const int value : {150 + 60 * y / height, 190 + 40 * y / height, 235, 255})
        picture.rgba.push_back(static_cast<std::uint8_t>(value));
    }
  }
  std::vector<Point> points;
  for (std::size_t i = 0; i < posed.size() / step; ++i) {
    const float* p = &posed[i * step];
    const float* n = p + step / 2;
    const double length = std::sqrt(static_cast<double>(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]));
    const double light = static_cast<double>(-0.5f * n[0] + 0.7f * n[1] - 0.5f * n[2]) / length;
    const double depth = 6.5 + static_cast<double>(p[2]);
    points.push_back({width / 2.0 + static_cast<double>(p[0]) / depth * height * 1.15,
                      height * 0.45 - (static_cast<double>(p[1]) - 1.3) / depth * height * 1.15,
                      depth, 0.25 + 0.75 * std::max(0.0, light)});
  }
  std::vector<double> nearest(picture.pixels(), 1e9);
  const auto each = static_cast<std::size_t>(vertices());
  for (std::size_t first = 0; first < points.size(); first += each) {
    for (const auto& t : triangles) {
      const auto at = [&](int corner) { return points[first + static_cast<std::size_t>(corner)]; };
      draw_triangle(picture, nearest, at(t[0]), at(t[1]), at(t[2]));
    }
  }
  return picture;
}

void Meadow::write_obj(const std::string& path, const std::vector<float>& posed,
                       std::size_t step) const {
  io::WholeFile whole(path);
  std::ostream& file = whole.stream();
  for (std::size_t i = 0; i < posed.size(); i += step)
    file << fmt::format("v {} {} {}\n", posed[i], posed[i + 1], posed[i + 2]);
  const auto count = static_cast<int>(posed.size() / step);
  for (int base = 1; base <= count; base += vertices()) {
    for (const auto& t : triangles)
      file << fmt::format("f {} {} {}\n", base + t[0], base + t[1], base + t[2]);
  }
  whole.finish();
}

}  // namespace clcook::example
