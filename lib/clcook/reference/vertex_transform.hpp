// Scalar reference of vertex_transform, in double.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace clcook::reference::vertex_transform {

using Vector = std::array<double, 4>;
using Matrix = std::array<double, 16>;  // rows

struct Mesh {
  std::vector<float> vertices;     // six per vertex: position, normal
  std::vector<std::uint8_t> skin;  // eight per vertex: 4 joints, 4 weights of 1/255
  std::vector<float> world;        // 16 per instance
  std::vector<float> bones;        // 16 per bone and instance
  std::size_t bone_count = 0;      // per instance
};

// Position and normal with their fourth components.
struct Result {
  Vector position;
  Vector normal;
};

inline Vector product(const Matrix& m, const Vector& v) {
  Vector out{};
  for (std::size_t r = 0; r < 4; ++r) {
    for (std::size_t c = 0; c < 4; ++c) out[r] += m[r * 4 + c] * v[c];
  }
  return out;
}

inline Matrix matrix(const std::vector<float>& from, std::size_t index, bool magnitudes) {
  Matrix out{};
  for (std::size_t i = 0; i < 16; ++i) {
    const auto value = static_cast<double>(from[index * 16 + i]);
    out[i] = magnitudes ? std::abs(value) : value;
  }
  return out;
}

// The result of one vertex of one instance. With `magnitudes`, every number is replaced by its
// absolute value, and `added` is added to that of the vertex: what rounding errors are measured in.
inline Result transform(const Mesh& mesh, std::size_t instance, std::size_t vertex,
                        bool magnitudes = false, double added = 0) {
  Matrix blended{};
  for (std::size_t k = 0; k < 4; ++k) {
    const std::size_t joint = std::min<std::size_t>(mesh.skin[vertex * 8 + k], mesh.bone_count - 1);
    const double weight = mesh.skin[vertex * 8 + 4 + k] / 255.0;
    const Matrix bone = matrix(mesh.bones, instance * mesh.bone_count + joint, magnitudes);
    for (std::size_t i = 0; i < 16; ++i) blended[i] += weight * bone[i];
  }
  const Matrix world = matrix(mesh.world, instance, magnitudes);
  const auto vector = [&](std::size_t first, double w) {
    Vector v{0, 0, 0, w};
    for (std::size_t c = 0; c < 3; ++c) {
      const auto value = static_cast<double>(mesh.vertices[vertex * 6 + first + c]);
      v[c] = magnitudes ? std::abs(value) + added : value;
    }
    return product(world, product(blended, v));
  };
  return {vector(0, 1), vector(3, 0)};
}

}  // namespace clcook::reference::vertex_transform
