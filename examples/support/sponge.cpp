#include "sponge.hpp"

#include <array>
#include <clcook/core/error.hpp>
#include <clcook/io/obj.hpp>
#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace clcook::example {

namespace {

// The surface of a cube with three tunnels, every side of its 20 blocks cut into 3 x 3 quads and
// the whole relaxed: valences 3 to 6 where the blocks have their corners, 4 elsewhere.
io::QuadMesh sponge() {
  constexpr int kCuts = 3;
  const auto solid = [](const std::array<int, 3>& at) {
    int middle = 0;
    for (const int i : at) {
      if (i < 0 || i >= 3 * kCuts) return false;
      middle += i / kCuts == 1;
    }
    return middle < 2;
  };
  io::QuadMesh mesh;
  std::map<std::array<int, 3>, std::uint32_t> numbers;
  const auto vertex = [&](const std::array<int, 3>& at) {
    const auto [found, is_new] =
        numbers.emplace(at, static_cast<std::uint32_t>(mesh.vertices.size()));
    if (is_new) {
      mesh.vertices.push_back(
          {static_cast<float>(at[0]), static_cast<float>(at[1]), static_cast<float>(at[2])});
    }
    return found->second;
  };
  constexpr int kSize = 3 * kCuts;
  for (int cell = 0; cell < kSize * kSize * kSize; ++cell) {
    const std::array<int, 3> at{cell % kSize, cell / kSize % kSize, cell / kSize / kSize};
    if (!solid(at)) continue;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      for (const int side : {0, 1}) {
        std::array<int, 3> next = at;
        next[axis] += side == 1 ? 1 : -1;
        if (solid(next)) continue;
        // Counter-clockwise seen from outside.
        const std::size_t u = (axis + (side == 1 ? 1 : 2)) % 3;
        const std::size_t v = (axis + (side == 1 ? 2 : 1)) % 3;
        std::array<std::uint32_t, 4> quad{};
        for (std::size_t k = 0; k < 4; ++k) {
          std::array<int, 3> corner = at;
          corner[axis] += side;
          corner[u] += k == 1 || k == 2;
          corner[v] += k >= 2;
          quad[k] = vertex(corner);
        }
        mesh.quads.push_back(quad);
      }
    }
  }
  // Every vertex to the mean of its neighbours, a few times.
  for (int round = 0; round < 5; ++round) {
    std::vector<std::array<float, 4>> sums(mesh.vertices.size());
    for (const auto& quad : mesh.quads) {
      for (std::size_t k = 0; k < 4; ++k) {
        const auto& next = mesh.vertices[quad[(k + 1) % 4]];
        for (std::size_t c = 0; c < 3; ++c) sums[quad[k]][c] += next[c];
        sums[quad[k]][3] += 1;
      }
    }
    for (std::size_t i = 0; i < sums.size(); ++i) {
      for (std::size_t c = 0; c < 3; ++c) mesh.vertices[i][c] = sums[i][c] / sums[i][3];
    }
  }
  return mesh;
}

}  // namespace

io::QuadMesh open_mesh(const std::string& source) {
  if (source == "sponge") return sponge();
  std::ifstream file(source, std::ios::binary);
  if (!file) fail(Errc::io, "read " + source, "cannot open the file");
  return io::read_obj(file);
}

}  // namespace clcook::example
