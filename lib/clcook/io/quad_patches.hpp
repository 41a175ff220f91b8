// From a quad mesh to Catmull-Clark patches, and Bezier patches to a file. Std only.
//
//   const clcook::io::QuadMesh mesh = clcook::io::parse_obj(
//       "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n"
//       "f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n");  // a cube
//   const clcook::io::PatchList patches = clcook::io::make_patches(mesh);  // for FoldedSwitch
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <clcook/io/format_error.hpp>
#include <clcook/io/obj.hpp>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clcook::io {

// The patches of a mesh: a face with the ring of vertices around it.
//
// The points of a patch, one patch after the other in `indices`: the quad's four vertices,
// counter-clockwise, then the ring, counter-clockwise, from the neighbour of vertex 0 beyond the
// edge 0-3. A patch with the valences n0 to n3 has 2 (n0 + n1 + n2 + n3) - 16 points; in a small
// mesh a vertex may be there several times.
struct PatchList {
  static constexpr unsigned kMinValence = 3;
  static constexpr unsigned kMaxValence = 8;

  std::vector<std::array<std::uint8_t, 4>> valences;  // per patch, of the quad's vertices
  std::vector<std::uint32_t> indices;
  std::vector<std::uint32_t> faces;  // per patch, the face of the mesh
  // Faces with a vertex on the border of the mesh have no whole ring and make no patch.
  std::size_t border_faces = 0;
};

namespace detail {

constexpr std::uint32_t kNoTwin = 0xFFFFFFFFu;

// Half-edge 4 f + k runs from corner k of face f to the next corner. Of each the one that runs back,
// kNoTwin at a border. Throws FormatError.
inline std::vector<std::uint32_t> twins_of(const QuadMesh& mesh) {
  const std::size_t faces = mesh.quads.size();
  const auto name = [](std::size_t i) { return std::to_string(i + 1); };  // as OBJ counts
  if (faces >= std::size_t{1} << 30) {
    throw FormatError("mesh", std::to_string(faces) + " faces; there may be 2^30 - 1");
  }
  struct Edge {
    std::uint64_t key;
    std::uint32_t half;
  };
  std::vector<Edge> edges;
  edges.reserve(4 * faces);
  for (std::size_t f = 0; f < faces; ++f) {
    const auto& quad = mesh.quads[f];
    for (std::size_t k = 0; k < 4; ++k) {
      if (quad[k] >= mesh.vertices.size()) {
        throw FormatError("mesh", "face " + name(f) + " uses vertex " + name(quad[k]) + " of " +
                                      std::to_string(mesh.vertices.size()));
      }
      if (std::count(quad.begin(), quad.end(), quad[k]) != 1) {
        throw FormatError("mesh", "face " + name(f) + " uses vertex " + name(quad[k]) + " twice");
      }
      edges.push_back({std::uint64_t{quad[k]} << 32 | quad[(k + 1) % 4],
                       static_cast<std::uint32_t>(4 * f + k)});
    }
  }
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    return a.key != b.key ? a.key < b.key : a.half < b.half;
  });
  for (std::size_t i = 1; i < edges.size(); ++i) {
    if (edges[i].key != edges[i - 1].key) continue;
    throw FormatError("mesh", "the faces " + name(edges[i - 1].half / 4) + " and " +
                                  name(edges[i].half / 4) + " both run from vertex " +
                                  name(edges[i].key >> 32) + " to vertex " +
                                  name(edges[i].key & 0xFFFFFFFFu) +
                                  ": the edge has too many faces or they face different ways");
  }
  std::vector<std::uint32_t> twin(4 * faces, kNoTwin);
  for (const Edge& edge : edges) {
    const std::uint64_t back = edge.key << 32 | edge.key >> 32;
    const auto found =
        std::lower_bound(edges.begin(), edges.end(), back,
                         [](const Edge& one, std::uint64_t key) { return one.key < key; });
    if (found != edges.end() && found->key == back) twin[edge.half] = found->half;
  }
  return twin;
}

}  // namespace detail

// Makes a patch of each face whose vertices are all inside of the mesh. Throws FormatError for a
// dangling index, a face that uses a vertex twice, an edge of more than two faces or of two faces
// that run along it in the same direction, a vertex where two parts of the mesh touch, and an inner
// vertex of a valence outside of 3 to 8.
inline PatchList make_patches(const QuadMesh& mesh) {
  constexpr std::uint32_t kNone = detail::kNoTwin;
  const std::vector<std::uint32_t> twin = detail::twins_of(mesh);
  const std::size_t faces = mesh.quads.size();
  const auto name = [](std::size_t i) { return std::to_string(i + 1); };  // as OBJ counts
  const auto vertex_of = [&](std::size_t half) { return mesh.quads[half / 4][half % 4]; };
  const auto after = [](std::size_t half, std::size_t steps) {
    return half / 4 * 4 + (half + steps) % 4;
  };
  // Around each vertex: its faces, and the borders that leave it.
  std::vector<std::uint32_t> incident(mesh.vertices.size(), 0);
  std::vector<std::uint32_t> borders(mesh.vertices.size(), 0);
  for (std::size_t half = 0; half < 4 * faces; ++half) {
    ++incident[vertex_of(half)];
    if (twin[half] == kNone) ++borders[vertex_of(half)];
  }
  std::vector<bool> walked(mesh.vertices.size(), false);
  for (std::size_t half = 0; half < 4 * faces; ++half) {
    const std::size_t v = vertex_of(half);
    if (borders[v] > 1) {
      throw FormatError("mesh", "vertex " + name(v) + " has " + std::to_string(borders[v]) +
                                    " borders; parts of the mesh touch there in a point");
    }
    // Once per vertex, at the border from its beginning.
    if (walked[v] || (borders[v] == 1 && twin[half] != kNone)) continue;
    walked[v] = true;
    // The fan from this half-edge on, counter-clockwise, must be all faces of the vertex.
    std::uint32_t fan = 0;
    std::size_t at = half;
    do {
      ++fan;
      at = twin[after(at, 3)];
    } while (at != kNone && at != half);
    if (fan != incident[v]) {
      throw FormatError("mesh", "vertex " + name(v) + " has " + std::to_string(incident[v]) +
                                    " faces, but only " + std::to_string(fan) +
                                    " of them hang together");
    }
    if (borders[v] == 0 && (fan < PatchList::kMinValence || fan > PatchList::kMaxValence)) {
      throw FormatError("mesh", "vertex " + name(v) + " has the valence " + std::to_string(fan) +
                                    "; it must be 3 to 8");
    }
  }

  PatchList out;
  for (std::size_t f = 0; f < faces; ++f) {
    const auto& quad = mesh.quads[f];
    if (std::any_of(quad.begin(), quad.end(), [&](std::uint32_t v) { return borders[v] != 0; })) {
      ++out.border_faces;
      continue;
    }
    std::array<std::uint8_t, 4> valences{};
    out.indices.insert(out.indices.end(), quad.begin(), quad.end());
    for (std::size_t k = 0; k < 4; ++k) {
      const std::uint32_t valence = incident[quad[k]];
      valences[k] = static_cast<std::uint8_t>(valence);
      // From face to face around the corner: in each, half-edge `at` starts at the corner, and the
      // vertices opposite and before it are the next two of the ring.
      std::size_t at = twin[after(4 * f + k, 3)];
      for (std::uint32_t j = 0; j + 2 < valence; ++j) {
        if (j > 0) out.indices.push_back(vertex_of(after(at, 2)));
        out.indices.push_back(vertex_of(after(at, 3)));
        at = twin[after(at, 3)];
      }
    }
    out.valences.push_back(valences);
    out.faces.push_back(static_cast<std::uint32_t>(f));
  }
  return out;
}

// Writes bicubic Bezier patches in the text format of BezierView (.bv): per patch a line `5 3 3`
// (tensor product of the degrees 3 and 3), then 16 lines `x y z`, row by row. `points` holds 16
// points of 4 floats per patch; the fourth is left out. Throws FormatError when the stream fails.
inline void write_bv(std::ostream& out, const float* points, std::size_t patches) {
  std::string text;
  char digits[64];
  for (std::size_t i = 0; i < patches; ++i) {
    text = "5 3 3\n";
    for (std::size_t j = 0; j < 16; ++j) {
      for (std::size_t c = 0; c < 3; ++c) {
        const auto result =
            std::to_chars(digits, digits + sizeof digits, points[(16 * i + j) * 4 + c]);
        text.append(digits, static_cast<std::size_t>(result.ptr - digits));
        text += c < 2 ? ' ' : '\n';
      }
    }
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
  }
  if (!out.flush()) throw FormatError("BezierView", "the stream took not all of the patches");
}

}  // namespace clcook::io
