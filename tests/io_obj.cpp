// Quad meshes from OBJ files, and the patches that are made of them.
#include <doctest/doctest.h>

#include <array>
#include <clcook/io/obj.hpp>
#include <clcook/io/quad_patches.hpp>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "support/testing.hpp"

namespace {

using clcook::io::FormatError;
using clcook::io::make_patches;
using clcook::io::parse_obj;
using clcook::io::PatchList;
using clcook::io::QuadMesh;
using clcook::testing::contains;

template <class Call>
void refused(const Call& call, const std::string& part) {
  try {
    call();
  } catch (const FormatError& error) {
    INFO(error.what());
    CHECK(contains(error.what(), part));
    return;
  }
  FAIL_CHECK("nothing was refused, expected: " << part);
}

void bad_obj(const std::string& text, const std::string& part) {
  CAPTURE(text);
  refused([&] { parse_obj(text); }, part);
}

void bad_mesh(const QuadMesh& mesh, const std::string& part) {
  refused([&] { make_patches(mesh); }, part);
}

const std::string kFour = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";

// A grid of columns x rows quads over (columns + 1) x (rows + 1) vertices, row by row.
QuadMesh grid(std::uint32_t columns, std::uint32_t rows) {
  QuadMesh mesh;
  for (std::uint32_t y = 0; y <= rows; ++y) {
    for (std::uint32_t x = 0; x <= columns; ++x) {
      mesh.vertices.push_back({static_cast<float>(x), static_cast<float>(y), 0});
    }
  }
  const std::uint32_t up = columns + 1;
  for (std::uint32_t y = 0; y < rows; ++y) {
    for (std::uint32_t x = 0; x < columns; ++x) {
      const std::uint32_t at = y * up + x;
      mesh.quads.push_back({at, at + 1, at + up + 1, at + up});
    }
  }
  return mesh;
}

// A cube whose corners are (0 or 1, 0 or 1, 0 or 1), x fastest; faces seen from outside.
QuadMesh cube() {
  QuadMesh mesh;
  for (int i = 0; i < 8; ++i) {
    mesh.vertices.push_back(
        {static_cast<float>(i & 1), static_cast<float>(i >> 1 & 1), static_cast<float>(i >> 2)});
  }
  mesh.quads = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
  return mesh;
}

// Two poles of valence n.
QuadMesh double_pole(std::uint32_t n) {
  QuadMesh mesh;
  mesh.vertices.resize(2 * n + 2);
  for (std::uint32_t i = 0; i < n; ++i) {
    const auto at = [&](std::uint32_t j) { return (2 * i + j) % (2 * n); };
    mesh.quads.push_back({2 * n, at(0), at(1), at(2)});
    mesh.quads.push_back({2 * n + 1, at(3), at(2), at(1)});
  }
  return mesh;
}

}  // namespace

TEST_CASE("an OBJ file with everything that may stand in it") {
  const QuadMesh mesh = parse_obj(
      "# a comment\r\n\r\nmtllib a.mtl\no thing\n"
      "v 0 0 0 # trailing\nv\t1.5e0 -.25 +3\r\nv 1 1 0 1.0\nv 0 1 0\nvt 0 0\nvn 0 0 1\n"
      "g part\nusemtl m\ns off\nf 1 2 3 4\nf 1/1 2/2 3/3 4/4\nf 1//1 2//1 3//1 4//1\n"
      "f -4/1/1 -3/1/1 -2/1/1 -1/1/1");
  REQUIRE(mesh.vertices.size() == 4);
  CHECK(mesh.vertices[1] == std::array<float, 3>{1.5f, -0.25f, 3});
  REQUIRE(mesh.quads.size() == 4);
  for (const auto& quad : mesh.quads) CHECK(quad == std::array<std::uint32_t, 4>{0, 1, 2, 3});
  // Negative indices count from the vertices so far.
  const QuadMesh more = parse_obj(kFour + "v 0 0 1\nf -5 -4 -3 -1\nv 9 9 9\nf -1 -2 -3 -4\n");
  CHECK(more.quads[0] == std::array<std::uint32_t, 4>{0, 1, 2, 4});
  CHECK(more.quads[1] == std::array<std::uint32_t, 4>{5, 4, 3, 2});
}

TEST_CASE("broken OBJ files are refused") {
  bad_obj("", "no vertex");
  bad_obj("# nothing\n", "no vertex");
  bad_obj(kFour, "no face");
  bad_obj("v 1 2\n", "line 1: the vertex has 2 coordinates, needs 3");
  bad_obj("v 1 2 x\n", "line 1: z 'x' is no finite number");
  bad_obj("v 1 nan 3\n", "line 1: y 'nan' is no finite number");
  bad_obj("v inf 1 3\n", "x 'inf' is no finite number");
  bad_obj("v +-1 1 3\n", "x '+-1'");
  bad_obj("v 1 1e39 3\n", "y '1e39' does not fit a float");
  bad_obj("v 1 2 -1e999\n", "z '-1e999' does not fit a float");
  bad_obj("v 1.0.0 2 3\n", "'1.0.0' is no finite number");
  bad_obj(kFour + "f 1 2 3\n", "line 5: the face has 3 corners; only quads are taken");
  bad_obj(kFour + "f 1 2 3 4 1\n", "line 5: the face has 5 corners");
  bad_obj(kFour + "f\n", "line 5: the face has 0 corners");
  bad_obj(kFour + "f 1 2 3 5\n", "line 5: the vertex index 5 dangles: there are 4 vertices");
  bad_obj(kFour + "f 1 2 3 -5\n", "the vertex index -5 dangles");
  bad_obj(kFour + "f 0 1 2 3\n", "the vertex index is 0");
  bad_obj(kFour + "f 1 2 3 99999999999999999999\n", "overflows");
  bad_obj(kFour + "f 1 2 3 4294967297\n", "the vertex index 4294967297 dangles");
  bad_obj(kFour + "f 1 2 3 x\n", "'x' does not begin with a vertex index");
  bad_obj(kFour + "f 1 2 3 /4\n", "'/4' does not begin with a vertex index");
  bad_obj(kFour + "f 1 2 3 3\n", "the face uses vertex 3 twice");
  bad_obj(kFour + "l 1 2\n", "line 5: the element 'l'");
  bad_obj(kFour + "surf 0 1 0 1 1 2 3 4\n", "the element 'surf'");
  bad_obj("v 1 2 \x01\xff" + std::string(100, 'y') + "\n", "'??yyy");
  // Too small to be told from 0 is 0.
  CHECK(parse_obj(kFour + "v 1e-50 -1e-60 1\nf 1 2 3 4").vertices[4] ==
        std::array<float, 3>{0, 0, 1});
}

TEST_CASE("a byte order mark does not belong to the first line") {
  const std::string mark = "\xEF\xBB\xBF";
  const QuadMesh mesh = parse_obj(mark + kFour + "f 1 2 3 4\n");
  CHECK(mesh.vertices == parse_obj(kFour + "f 1 2 3 4\n").vertices);
  std::istringstream file(mark + kFour + "f 1 2 3 4\n");
  CHECK(clcook::io::read_obj(file).vertices.size() == 4);
  bad_obj(mark + "v 1 2\n", "line 1: the vertex has 2 coordinates");
  bad_obj(mark, "no vertex");
  // One that comes later is a word like any other.
  bad_obj(mark + mark + kFour + "f 1 2 3 4\n", "the vertex index 4 dangles");
}

TEST_CASE("a line that ends with a backslash goes on in the next") {
  const QuadMesh plain = parse_obj(kFour + "f 1 2 3 4\nf 2 3 4 1\n");
  // Every blank of the file in turn becomes the end of a line, and all of them at once.
  const std::string text = kFour + "f 1/1/1 2/2/2 3/3/3 4/4/4\nf -3 -2 -1 -4\n";
  for (const char* blank :
       {"\\\n", "\\\r\n", " \\\n ", "\\ \t\r\n\t", "\\\n\\\n", " \\\r\n\\\r\n"}) {
    const std::string end = blank;
    CAPTURE(end);
    std::string all;
    for (std::size_t at = 0; at < text.size(); ++at) {
      all += text[at] == ' ' ? end : text.substr(at, 1);
      if (text[at] != ' ') continue;
      const QuadMesh one = parse_obj(text.substr(0, at) + end + text.substr(at + 1));
      CHECK(one.vertices == plain.vertices);
      CHECK(one.quads == plain.quads);
    }
    const QuadMesh mesh = parse_obj(all);
    CHECK(mesh.vertices == plain.vertices);
    CHECK(mesh.quads == plain.quads);
  }
  // What is passed over goes on, too; a comment does not.
  CHECK(parse_obj("g one \\\nv 9 9 9\n" + kFour + "f 1 2 3 4\n").vertices.size() == 4);
  CHECK(parse_obj("# C:\\folder\\\n" + kFour + "f 1 2 3 4\n").vertices.size() == 4);
  CHECK(parse_obj(kFour + "f 1 2 3 4 # \\\nv 9 9 9\n").vertices.size() == 5);
  CHECK(parse_obj(kFour + "f 1 2 3 4\\").quads.size() == 1);
  CHECK(parse_obj(kFour + "f 1 2 3 4\\\n").quads.size() == 1);
  // Messages name the line with which it begins.
  bad_obj(kFour + "f 1 \\\n2 \\\n3 5\n", "line 5: the vertex index 5 dangles");
  bad_obj("v 1 \\\n 2 \\\n\nv 1 2 3\n", "line 1: the vertex has 2 coordinates");
  bad_obj("v 1 \\\n 2 3\nv 1 x 3\n", "line 3: y 'x'");
  bad_obj(kFour + "f 1 2 3\\4\n", "'3\\4' does not begin with a vertex index");
}

TEST_CASE("a written mesh reads back the same") {
  QuadMesh mesh = cube();
  mesh.vertices[3] = {0.1f, -1e-30f, 123456.789f};
  std::stringstream file;
  clcook::io::write_obj(file, mesh);
  const QuadMesh back = clcook::io::read_obj(file);
  CHECK(back.vertices == mesh.vertices);
  CHECK(back.quads == mesh.quads);
  std::ostringstream broken;
  broken.setstate(std::ios::badbit);
  refused([&] { clcook::io::write_obj(broken, mesh); }, "not all of the mesh");
  std::istringstream unread;
  unread.setstate(std::ios::badbit);
  refused([&] { clcook::io::read_obj(unread); }, "cannot be read");
}

TEST_CASE("the middle of a grid is one patch in the order of the diagram") {
  const QuadMesh mesh = grid(3, 3);
  const PatchList patches = make_patches(mesh);
  CHECK(patches.border_faces == 8);
  REQUIRE(patches.valences.size() == 1);
  CHECK(patches.valences[0] == std::array<std::uint8_t, 4>{4, 4, 4, 4});
  CHECK(patches.faces == std::vector<std::uint32_t>{4});
  // 14 13 12 11 / 15 3 2 10 / 4 0 1 9 / 5 6 7 8, y up; four vertices per row.
  const std::vector<std::uint32_t> wanted{5, 6, 10, 9, 4, 0, 1, 2, 3, 7, 11, 15, 14, 13, 12, 8};
  CHECK(patches.indices == wanted);
}

TEST_CASE("a cube has six patches of valence 3 with the opposite face as ring") {
  const QuadMesh mesh = cube();
  const PatchList patches = make_patches(mesh);
  CHECK(patches.border_faces == 0);
  REQUIRE(patches.valences.size() == 6);
  CHECK(patches.indices.size() == 6 * 8);
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(patches.valences[i] == std::array<std::uint8_t, 4>{3, 3, 3, 3});
    for (std::size_t k = 0; k < 4; ++k) {
      const std::uint32_t corner = patches.indices[8 * i + k];
      CHECK(corner == mesh.quads[i][k]);
      // The ring point of corner k is its third neighbour: one bit away, and on no face with k.
      const std::uint32_t across = patches.indices[8 * i + 4 + k] ^ corner;
      CHECK((across == 1 || across == 2 || across == 4));
    }
  }
}

TEST_CASE("valences of 3 to 8 make patches, others are refused") {
  for (std::uint32_t n = 3; n <= 8; ++n) {
    CAPTURE(n);
    const PatchList patches = make_patches(double_pole(n));
    CHECK(patches.valences.size() == 2 * n);
    for (const auto& valences : patches.valences) {
      CHECK(valences == std::array<std::uint8_t, 4>{static_cast<std::uint8_t>(n), 3, 3, 3});
    }
  }
  bad_mesh(double_pole(9), "has the valence 9; it must be 3 to 8");
  bad_mesh(double_pole(2), "has the valence 2; it must be 3 to 8");
  // On the border a vertex may have any valence: its faces make no patch.
  CHECK(make_patches(grid(1, 1)).border_faces == 1);
  CHECK(make_patches(grid(2, 7)).border_faces == 14);
}

TEST_CASE("meshes that are no surface are refused") {
  QuadMesh mesh = cube();
  mesh.quads[2][1] = 8;
  bad_mesh(mesh, "face 3 uses vertex 9 of 8");
  mesh = cube();
  mesh.quads[1][3] = mesh.quads[1][0];
  bad_mesh(mesh, "face 2 uses vertex 5 twice");
  mesh = cube();
  mesh.quads.push_back(mesh.quads[0]);
  bad_mesh(mesh, "the faces 1 and 7 both run from vertex");
  // One face the other way round.
  mesh = cube();
  std::swap(mesh.quads[0][1], mesh.quads[0][3]);
  bad_mesh(mesh, "they face different ways");
  // Two quads that touch in a vertex only, and two cubes that do.
  mesh = grid(1, 1);
  mesh.vertices.resize(7);
  mesh.quads.push_back({3, 4, 5, 6});
  bad_mesh(mesh, "vertex 4 has 2 borders");
  mesh = cube();
  const QuadMesh other = cube();
  mesh.vertices.resize(15);
  for (auto quad : other.quads) {
    for (auto& index : quad) index = index == 0 ? 7 : index + 7;
    mesh.quads.push_back(quad);
  }
  bad_mesh(mesh, "vertex 8 has 6 faces, but only 3 of them hang together");
  // A closed part and an open one in one vertex.
  mesh = cube();
  mesh.vertices.resize(11);
  mesh.quads.push_back({0, 8, 9, 10});
  bad_mesh(mesh, "vertex 1 has 4 faces, but only 1 of them hang together");
}

TEST_CASE("vertices without faces do no harm, and a mesh of nothing has no patches") {
  QuadMesh mesh = cube();
  mesh.vertices.resize(20);
  CHECK(make_patches(mesh).valences.size() == 6);
  CHECK(make_patches(QuadMesh{}).valences.empty());
}

TEST_CASE("many faces around one vertex take no quadratic time") {
  // On the border, so that its valence of 40000 is allowed.
  QuadMesh mesh;
  constexpr std::uint32_t kFaces = 40000;
  mesh.vertices.resize(2 * kFaces + 2);
  for (std::uint32_t i = 0; i < kFaces; ++i) {
    mesh.quads.push_back({0, 2 * i + 1, 2 * i + 2, 2 * i + 3});
  }
  CHECK(make_patches(mesh).border_faces == kFaces);
}

TEST_CASE("patches as BezierView text") {
  std::vector<float> points(2 * 64);
  for (std::size_t i = 0; i < points.size(); ++i) points[i] = static_cast<float>(i) / 4;
  std::ostringstream out;
  clcook::io::write_bv(out, points.data(), 2);
  const std::string text = out.str();
  CHECK(text.substr(0, 22) == "5 3 3\n0 0.25 0.5\n1 1.2");
  CHECK(clcook::testing::count_of(text, "5 3 3\n") == 2);
  CHECK(clcook::testing::count_of(text, "\n") == 2 * 17);
  out.setstate(std::ios::badbit);
  refused([&] { clcook::io::write_bv(out, points.data(), 2); }, "not all of the patches");
}
