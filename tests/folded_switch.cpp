// Catmull-Clark patches to Bezier patches: what the generic conformance test cannot know.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <clcook/folded_switch.hpp>
#include <clcook/io/quad_patches.hpp>
#include <clcook/model/lanes.hpp>
#include <clcook/reference/folded_switch.hpp>
#include <clcook/registry/random.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "support/testing.hpp"

namespace {

namespace ref = clcook::reference::folded_switch;
using namespace clcook;
using namespace clcook::testing;
using Problem = FoldedSwitch::Problem;
using Tune = FoldedSwitch::Tune;
using Valences = ref::Valences;
using Variant = FoldedSwitch::Variant;

constexpr Valences kRegular{4, 4, 4, 4};
// Those that take every regular topology.
std::vector<Variant> all(bool tangents = false) {
  std::vector<Variant> out;
  for (const FoldedSwitch::Row& row : FoldedSwitch::variants()) {
    if (tangents || !row.traits.fused) out.push_back(row);
  }
  return out;
}
// Those that take every topology.
std::vector<Variant> general(bool tangents = false) {
  std::vector<Variant> out;
  for (const Variant& v : all(tangents)) {
    if (!v.row()->traits.regular_only) out.push_back(v);
  }
  CHECK(out.size() == (tangents ? 7 : 6));
  return out;
}

// The conformance test derives exact bounds; here a wrong result is off by far more than this.
constexpr double kClose = 2e-6;

std::vector<Valences> all_valences() {
  std::vector<Valences> out;
  for (int i = 0; i < 6 * 6 * 6 * 6; ++i) {
    out.push_back({static_cast<std::uint8_t>(3 + i % 6), static_cast<std::uint8_t>(3 + i / 6 % 6),
                   static_cast<std::uint8_t>(3 + i / 36 % 6),
                   static_cast<std::uint8_t>(3 + i / 216)});
  }
  return out;
}

// Every patch with points of its own.
Problem separate(const std::vector<Valences>& valences) {
  Problem p;
  p.valences = valences;
  for (const Valences& n : valences) p.vertices += clcook::folded_switch::point_count(n);
  p.indices.resize(p.vertices);
  std::iota(p.indices.begin(), p.indices.end(), 0u);
  return p;
}

std::vector<float> convert(const Problem& p, const std::vector<float>& positions, Variant variant,
                           Tune tune = {}) {
  const cl::Buffer in = upload(positions);
  const std::size_t values = p.valences.size() * 4 * clcook::folded_switch::Spec::results(p);
  const cl::Buffer out = upload(std::vector<float>(values, -99.0f));
  const FoldedSwitch plan(runtime(), p, variant, tune);
  const cl::Event done = plan(in, out);
  return read_buffer<float>(runtime(), out, values, {done});
}

std::vector<double> expected(const Problem& p, const std::vector<float>& positions) {
  std::vector<double> out(p.valences.size() * 64);
  std::size_t first = 0;
  for (std::size_t i = 0; i < p.valences.size(); ++i) {
    const std::size_t points = clcook::folded_switch::point_count(p.valences[i]);
    for (std::size_t c = 0; c < 4; ++c) {
      std::vector<double> one(points);
      for (std::size_t j = 0; j < points; ++j) {
        one[j] = static_cast<double>(positions[std::size_t{p.indices[first + j]} * 4 + c]);
      }
      const auto control = ref::bezier(p.valences[i], one);
      for (std::size_t j = 0; j < 16; ++j) out[(i * 16 + j) * 4 + c] = control[j];
    }
    first += points;
  }
  return out;
}

template <class A, class B>
double difference(const std::vector<A>& a, const std::vector<B>& b) {
  REQUIRE(a.size() == b.size());
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double one = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    worst = one <= worst ? worst : one;  // NaN wins
  }
  return worst;
}

// A closed mesh with two poles of valence n and 2 n vertices of valence 3 between them.
clcook::io::QuadMesh double_pole(int n, std::uint64_t seed = 1) {
  clcook::io::QuadMesh mesh;
  const auto count = static_cast<std::uint32_t>(n);
  clcook::Random random(seed);
  for (std::uint32_t i = 0; i < 2 * count + 2; ++i) {
    mesh.vertices.push_back({random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)});
  }
  const std::uint32_t top = 2 * count;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto at = [&](std::uint32_t j) { return (2 * i + j) % (2 * count); };
    mesh.quads.push_back({top, at(0), at(1), at(2)});
    mesh.quads.push_back({top + 1, at(3), at(2), at(1)});
  }
  return mesh;
}

// The limit of one coordinate of a vertex under Catmull-Clark subdivision, by iterating it: the
// faces around a vertex after a step depend on nothing but those before.
double limit_of(const clcook::io::QuadMesh& mesh, std::uint32_t v, std::size_t coordinate) {
  struct Face {
    std::size_t next, previous;  // neighbours of v
    double diagonal;
  };
  std::map<std::uint32_t, std::size_t> number;
  std::vector<double> edges;
  std::vector<Face> faces;
  const auto value = [&](std::uint32_t i) {
    return static_cast<double>(mesh.vertices[i][coordinate]);
  };
  const auto neighbour = [&](std::uint32_t i) {
    const auto [at, is_new] = number.emplace(i, edges.size());
    if (is_new) edges.push_back(value(i));
    return at->second;
  };
  for (const auto& quad : mesh.quads) {
    for (std::size_t k = 0; k < 4; ++k) {
      if (quad[k] != v) continue;
      faces.push_back(
          {neighbour(quad[(k + 1) % 4]), neighbour(quad[(k + 3) % 4]), value(quad[(k + 2) % 4])});
    }
  }
  const double n = static_cast<double>(faces.size());
  REQUIRE(edges.size() == faces.size());
  double centre = value(v);
  for (int step = 0; step < 200; ++step) {
    std::vector<double> new_edges(edges.size());
    double face_sum = 0;
    double middle_sum = 0;
    for (std::size_t i = 0; i < edges.size(); ++i) {
      new_edges[i] = (centre + edges[i]) / 4;
      middle_sum += (centre + edges[i]) / 2;
    }
    for (Face& face : faces) {
      face.diagonal = (centre + edges[face.next] + edges[face.previous] + face.diagonal) / 4;
      new_edges[face.next] += face.diagonal / 4;
      new_edges[face.previous] += face.diagonal / 4;
      face_sum += face.diagonal;
    }
    centre = face_sum / n / n + 2 * middle_sum / n / n + (n - 3) * centre / n;
    edges = new_edges;
  }
  return centre;
}

std::array<double, 16> bezier_of(const clcook::io::QuadMesh& mesh,
                                 const clcook::io::PatchList& patches, std::size_t patch,
                                 std::size_t first, std::size_t coordinate) {
  const Valences& n = patches.valences[patch];
  std::vector<double> points(ref::point_count(n));
  for (std::size_t j = 0; j < points.size(); ++j) {
    points[j] = static_cast<double>(mesh.vertices[patches.indices[first + j]][coordinate]);
  }
  return ref::bezier(n, points);
}

constexpr PlanRefused<FoldedSwitch> refused;

}  // namespace

// ---- The formulas ------------------------------------------------------------------------------

TEST_CASE("the weights of every control point sum to 1 for all valences 3 to 8") {
  for (const Valences& n : all_valences()) {
    CHECK(ref::point_count(n) == clcook::folded_switch::point_count(n));
    for (std::size_t i = 0; i < 16; ++i) {
      const std::vector<double> weights = ref::weights(n, i);
      REQUIRE(std::accumulate(weights.begin(), weights.end(), 0.0) == doctest::Approx(1.0));
      REQUIRE(*std::min_element(weights.begin(), weights.end()) >= 0);
    }
  }
}

TEST_CASE("at valence 4 the formulas are the exact change of basis") {
  std::vector<double> points;
  for (const float value : noise(16)) points.push_back(static_cast<double>(value));
  const auto general = ref::bezier(kRegular, points);
  const auto exact = ref::regular_bezier(points);
  for (std::size_t i = 0; i < 16; ++i) CHECK(std::abs(general[i] - exact[i]) < 1e-15);
}

TEST_CASE("the diagram of the article's source says 16 where it must say 17") {
  const auto right = ref::prefixes(ref::article::kValences);
  CHECK(right == std::array<int, 4>{9, 12, 17, 18});
  CHECK(ref::article::kPrefixes == std::array<int, 4>{9, 12, 16, 18});
  // With its number the weights of the corner 3 no longer sum to 1.
  const auto sum = [](const std::array<int, 4>& prefixes) {
    const auto weights = ref::weights(ref::article::kValences, prefixes, 12);
    return std::accumulate(weights.begin(), weights.end(), 0.0);
  };
  CHECK(sum(right) == doctest::Approx(1.0));
  CHECK(sum(ref::article::kPrefixes) == doctest::Approx(29.0 / 24));
}

TEST_CASE("the article's folded switch still has 13 of 16 paths") {
  std::map<ref::Function, std::map<int, int>> arms;
  for (const ref::Call& call : ref::kCases) ++arms[call.function][call.argument];
  CHECK(arms[ref::Function::interior].size() == 4);
  CHECK(arms[ref::Function::edge].size() == 8);
  CHECK(arms[ref::Function::corner].size() == 4);  // one path: the function has no switch
  CHECK(ref::article::kPathsOfFoldedSwitch == 13);
  CHECK(ref::article::kPathsOfSwitch == 16);
}

TEST_CASE("corners lie on the limit of Catmull-Clark subdivision") {
  for (int n = 3; n <= 8; ++n) {
    CAPTURE(n);
    const auto mesh = double_pole(n, static_cast<std::uint64_t>(n));
    const auto patches = clcook::io::make_patches(mesh);
    CHECK(patches.border_faces == 0);
    REQUIRE(patches.valences.size() == mesh.quads.size());
    std::size_t first = 0;
    for (std::size_t i = 0; i < patches.valences.size(); ++i) {
      for (std::size_t c = 0; c < 3; ++c) {
        const auto control = bezier_of(mesh, patches, i, first, c);
        const std::size_t corners[4] = {0, 3, 15, 12};
        for (std::size_t k = 0; k < 4; ++k) {
          const double limit = limit_of(mesh, mesh.quads[patches.faces[i]][k], c);
          CHECK(control[corners[k]] == doctest::Approx(limit).epsilon(1e-9));
        }
      }
      first += ref::point_count(patches.valences[i]);
    }
  }
}

TEST_CASE("neighbouring patches share the control points of their border") {
  const std::size_t sides[4][4] = {{0, 1, 2, 3}, {3, 7, 11, 15}, {15, 14, 13, 12}, {12, 8, 4, 0}};
  for (int n = 3; n <= 8; ++n) {
    CAPTURE(n);
    const auto mesh = double_pole(n);
    const auto patches = clcook::io::make_patches(mesh);
    // By the edge in the direction of the face: the four control points along it.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::array<double, 4>> border;
    std::size_t first = 0;
    for (std::size_t i = 0; i < patches.valences.size(); ++i) {
      const auto& quad = mesh.quads[patches.faces[i]];
      const auto control = bezier_of(mesh, patches, i, first, 1);
      for (std::size_t k = 0; k < 4; ++k) {
        auto& four = border[{quad[k], quad[(k + 1) % 4]}];
        for (std::size_t j = 0; j < 4; ++j) four[j] = control[sides[k][j]];
      }
      first += ref::point_count(patches.valences[i]);
    }
    CHECK(border.size() == 4 * mesh.quads.size());
    for (const auto& [edge, four] : border) {
      const auto& back = border.at({edge.second, edge.first});
      for (std::size_t j = 0; j < 4; ++j) CHECK(std::abs(four[j] - back[3 - j]) < 1e-14);
    }
  }
}

// ---- Tangent patches: the formulas ---------------------------------------------------------------

TEST_CASE("tangents: the weights of every vector sum to 0, and at valence 4 it is a derivative") {
  for (const Valences& n : all_valences()) {
    for (const std::vector<double>& weights : ref::tangent_weights(n))
      REQUIRE(std::abs(std::accumulate(weights.begin(), weights.end(), 0.0)) < 1e-14);
  }
  const auto vectors = ref::tangent_weights(kRegular);
  const auto difference_of = [](std::size_t to, std::size_t from) {
    std::vector<double> out = ref::weights(kRegular, to);
    const std::vector<double> less = ref::weights(kRegular, from);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = 3 * (out[i] - less[i]);
    return out;
  };
  for (std::size_t j = 0; j < 4; ++j) {
    for (std::size_t i = 0; i < 3; ++i) {
      CAPTURE(i);
      CAPTURE(j);
      CHECK(difference(vectors[3 * j + i], difference_of(4 * j + i + 1, 4 * j + i)) < 1e-15);
      CHECK(difference(vectors[12 + 4 * i + j], difference_of(4 * i + 4 + j, 4 * i + j)) < 1e-15);
    }
  }
}

TEST_CASE("tangents: subdivision shortens those at a corner, and does not turn them") {
  const double pi = std::acos(-1.0);
  for (int n = 3; n <= 8; ++n) {
    CAPTURE(n);
    const auto count = static_cast<std::size_t>(n);
    const Valences valences{static_cast<std::uint8_t>(n), 4, 4, 4};
    const std::size_t total = ref::point_count(valences);
    // Around corner 0: neighbours along edges and across faces.
    std::vector<std::size_t> edges{1, 3};
    std::vector<std::size_t> faces{2, total - 1};
    for (std::size_t i = 2; i < count; ++i) {
      edges.push_back(2 * i);
      faces.push_back(2 * i + 1);
    }
    const double c = std::cos(2 * pi / n);
    const double shorter = (5 + c + std::cos(pi / n) * std::sqrt(18 + 2 * c)) / 16;
    const std::vector<float> random = noise(total, static_cast<std::uint64_t>(n));
    std::vector<double> old(random.begin(), random.end());
    std::vector<double> next(total);
    for (std::size_t i = 0; i < count; ++i) {
      next[faces[i]] = (old[0] + old[edges[i]] + old[edges[(i + 1) % count]] + old[faces[i]]) / 4;
    }
    for (std::size_t i = 0; i < count; ++i) {
      next[edges[i]] =
          (old[0] + old[edges[i]] + next[faces[i]] + next[faces[(i + count - 1) % count]]) / 4;
    }
    for (const bool to_next : {true, false}) {
      const auto weights = ref::corner_tangent(valences, 0, to_next);
      const auto tangent = [&](const std::vector<double>& points) {
        return std::inner_product(points.begin(), points.end(), weights.begin(), 0.0);
      };
      CHECK(tangent(next) == doctest::Approx(shorter * tangent(old)).epsilon(1e-12));
    }
  }
}

TEST_CASE("tangents: neighbouring patches have the same normals along their border") {
  using Vector = std::array<double, 3>;
  const auto cross = [](const Vector& a, const Vector& b) {
    return Vector{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
  };
  const auto length = [](const Vector& a) {
    return std::sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
  };
  // The vectors along side k and those into the patch, from corner k on, and their sign.
  const std::size_t along[4][3] = {{0, 1, 2}, {15, 19, 23}, {11, 10, 9}, {20, 16, 12}};
  const std::size_t into[4][4] = {{12, 13, 14, 15}, {2, 5, 8, 11}, {23, 22, 21, 20}, {9, 6, 3, 0}};
  struct Side {
    std::array<Vector, 3> along;
    std::array<Vector, 4> into;
  };
  for (int n = 3; n <= 8; ++n) {
    CAPTURE(n);
    const auto mesh = double_pole(n);
    const auto patches = clcook::io::make_patches(mesh);
    std::map<std::pair<std::uint32_t, std::uint32_t>, Side> sides;
    std::size_t first = 0;
    for (std::size_t i = 0; i < patches.valences.size(); ++i) {
      const auto weights = ref::tangent_weights(patches.valences[i]);
      std::array<Vector, 24> vectors{};
      for (std::size_t j = 0; j < 24; ++j) {
        for (std::size_t p = 0; p < weights[j].size(); ++p) {
          for (std::size_t c = 0; c < 3; ++c) {
            vectors[j][c] +=
                weights[j][p] * static_cast<double>(mesh.vertices[patches.indices[first + p]][c]);
          }
        }
      }
      const auto& quad = mesh.quads[patches.faces[i]];
      for (std::size_t k = 0; k < 4; ++k) {
        Side& side = sides[{quad[k], quad[(k + 1) % 4]}];
        for (std::size_t c = 0; c < 3; ++c) {
          for (std::size_t j = 0; j < 3; ++j)
            side.along[j][c] = (k < 2 ? 1 : -1) * vectors[along[k][j]][c];
          for (std::size_t j = 0; j < 4; ++j)
            side.into[j][c] = (k == 0 || k == 3 ? 1 : -1) * vectors[into[k][j]][c];
        }
      }
      first += weights[0].size();
    }
    const auto normal = [&](const Side& side, double t) {
      const double s = 1 - t;
      Vector a{};
      Vector b{};
      for (std::size_t c = 0; c < 3; ++c) {
        a[c] = s * s * side.along[0][c] + 2 * s * t * side.along[1][c] + t * t * side.along[2][c];
        b[c] = s * s * s * side.into[0][c] + 3 * s * s * t * side.into[1][c] +
               3 * s * t * t * side.into[2][c] + t * t * t * side.into[3][c];
      }
      return cross(a, b);
    };
    for (const auto& [edge, side] : sides) {
      const Side& back = sides.at({edge.second, edge.first});
      for (const double t : {0.0, 0.125, 0.4, 0.5, 0.75, 1.0}) {
        CAPTURE(t);
        const Vector here = normal(side, t);
        const Vector there = normal(back, 1 - t);
        CHECK(length(cross(here, there)) < 1e-10 * length(here) * length(there));
      }
    }
  }
}

// ---- The lists by corner ---------------------------------------------------------------------------

TEST_CASE("the lists by corner hold each point of a patch, at the corner that owns it") {
  const Problem p = separate(all_valences());
  const auto lists = clcook::folded_switch::corner_lists(p);
  REQUIRE(lists.corners.size() == 16 * p.valences.size());
  REQUIRE(lists.heads.size() == 2 * p.valences.size());
  std::uint32_t first = 0;
  std::size_t more = 0;
  for (std::size_t i = 0; i < p.valences.size(); ++i) {
    const Valences& n = p.valences[i];
    CHECK(lists.heads[2 * i] == more);
    const std::uint32_t word = lists.heads[2 * i + 1];
    std::uint32_t ring = first + 4;
    for (std::size_t k = 0; k < 4; ++k) {
      REQUIRE((word >> (4 * k) & 15) == n[k]);
      REQUIRE(lists.heads[2 * i] + 2 * (word >> (16 + 4 * k) & 15) == more);
      const std::uint32_t own = 2u * n[k] - 5;
      std::vector<std::uint32_t> ring_points{lists.corners[16 * i + 4 * k + 1]};
      if (n[k] > 3) ring_points.push_back(lists.corners[16 * i + 4 * k + 2]);
      for (unsigned j = 4; j < n[k]; ++j) {
        ring_points.push_back(lists.more[more++]);
        ring_points.push_back(lists.more[more++]);
      }
      if (n[k] > 3) ring_points.push_back(lists.corners[16 * i + 4 * k + 3]);
      std::vector<std::uint32_t> expected_points(own);
      std::iota(expected_points.begin(), expected_points.end(), ring);
      REQUIRE(ring_points == expected_points);
      REQUIRE(lists.corners[16 * i + 4 * k] == first + k);
      ring += own;
    }
    first = ring;
  }
  CHECK(more == lists.more.size());
}

// ---- Every variant -----------------------------------------------------------------------------

TEST_CASE("all 1296 combinations of valences, on every variant in one launch") {
  const Problem p = separate(all_valences());
  const std::vector<float> positions = noise(p.vertices * 4, 7);
  const std::vector<double> wanted = expected(p, positions);
  for (const Variant v : general()) {
    CAPTURE(v.name());
    CHECK(difference(wanted, convert(p, positions, v)) < kClose);
  }
}

TEST_CASE("regular patches: every variant against the exact change of basis") {
  const Problem p = separate(std::vector<Valences>(37, kRegular));
  const std::vector<float> positions = noise(p.vertices * 4, 3);
  std::vector<double> wanted(37 * 64);
  for (std::size_t i = 0; i < 37 * 4; ++i) {
    std::vector<double> one(16);
    for (std::size_t j = 0; j < 16; ++j) {
      one[j] = static_cast<double>(positions[(i / 4 * 16 + j) * 4 + i % 4]);
    }
    const auto control = ref::regular_bezier(one);
    for (std::size_t j = 0; j < 16; ++j) wanted[(i / 4 * 16 + j) * 4 + i % 4] = control[j];
  }
  for (const Variant v : all()) {
    CAPTURE(v.name());
    CHECK(difference(wanted, convert(p, positions, v)) < kClose);
  }
}

TEST_CASE(
    "tangents: all combinations of valences on every variant, the control points as without") {
  for (const bool regular : {false, true}) {
    CAPTURE(regular);
    Problem p = separate(regular ? std::vector<Valences>(37, kRegular) : all_valences());
    const std::vector<float> positions = noise(p.vertices * 4, 13);
    const std::size_t count = p.valences.size();
    std::vector<double> wanted;
    std::size_t first = 0;
    std::map<Valences, std::array<std::vector<double>, 24>> known;
    for (const Valences& n : p.valences) {
      const auto found = known.find(n);
      const auto& weights = found != known.end()
                                ? found->second
                                : known.emplace(n, ref::tangent_weights(n)).first->second;
      for (const std::vector<double>& one : weights) {
        for (std::size_t c = 0; c < 4; ++c) {
          double sum = 0;
          for (std::size_t j = 0; j < one.size(); ++j)
            sum += one[j] * static_cast<double>(positions[(first + j) * 4 + c]);
          wanted.push_back(sum);
        }
      }
      first += weights[0].size();
    }
    for (const Variant v : regular ? all(true) : general(true)) {
      CAPTURE(v.name());
      p.tangents = true;
      std::vector<float> got = convert(p, positions, v);
      const std::vector<float> tangents(got.begin() + static_cast<std::ptrdiff_t>(count * 64),
                                        got.end());
      CHECK(difference(wanted, tangents) < 8 * kClose);
      got.resize(count * 64);
      p.tangents = false;
      if (v.row()->traits.fused)
        CHECK(difference(expected(p, positions), got) < kClose);
      else
        CHECK(got == convert(p, positions, v));
    }
  }
}

TEST_CASE("runs of any length give the same control points, bit for bit") {
  std::vector<Valences> valences = all_valences();
  valences.resize(77);
  const Problem p = separate(valences);
  const std::vector<float> positions = noise(p.vertices * 4);
  for (const Variant v : {"switch16", "folded3", "index_tables"}) {
    CAPTURE(v.name());
    const std::vector<float> natural = convert(p, positions, v, Tune{0, 1});
    for (const int run : {2, 64, 1024}) {
      CAPTURE(run);
      CHECK(natural == convert(p, positions, v, Tune{0, run}));
    }
  }
}

TEST_CASE("a constant stays constant, and a plane stays a plane") {
  Problem p = separate(all_valences());
  std::vector<float> positions(p.vertices * 4);
  const std::vector<float> random = noise(p.vertices * 2, 5);
  for (std::size_t i = 0; i < p.vertices; ++i) {
    const float x = random[2 * i];
    const float y = random[2 * i + 1];
    const float four[4] = {x, y, 0.25f * x - 0.5f * y + 0.125f, 1.0f};
    std::copy_n(four, 4, positions.begin() + static_cast<std::ptrdiff_t>(4 * i));
  }
  for (const Variant v : general()) {
    CAPTURE(v.name());
    const std::vector<float> got = convert(p, positions, v);
    double off_plane = 0;
    double off_one = 0;
    for (std::size_t i = 0; i < got.size(); i += 4) {
      const double plane =
          0.25 * static_cast<double>(got[i]) - 0.5 * static_cast<double>(got[i + 1]) + 0.125;
      off_plane = std::max(off_plane, std::abs(plane - static_cast<double>(got[i + 2])));
      off_one = std::max(off_one, std::abs(1.0 - static_cast<double>(got[i + 3])));
    }
    CHECK(off_plane < kClose);
    CHECK(off_one < kClose);
  }
}

TEST_CASE("a turned quad gives the turned control points") {
  const std::vector<Valences> valences = all_valences();
  const Problem p = separate(valences);
  Problem turned = p;
  std::size_t first = 0;
  for (std::size_t i = 0; i < valences.size(); ++i) {
    const Valences& n = valences[i];
    turned.valences[i] = {n[1], n[2], n[3], n[0]};
    const auto end0 = static_cast<std::size_t>(ref::prefixes(n)[0]);
    const std::size_t points = ref::point_count(n);
    for (std::size_t j = 0; j < points; ++j) {
      const std::size_t from = j < 4                   ? (j + 1) % 4
                               : j - 4 + end0 < points ? j - 4 + end0
                                                       : j - points + end0;
      turned.indices[first + j] = p.indices[first + from];
    }
    first += points;
  }
  const std::vector<float> positions = noise(p.vertices * 4, 11);
  for (const Variant v : general()) {
    CAPTURE(v.name());
    const std::vector<float> before = convert(p, positions, v);
    const std::vector<float> after = convert(turned, positions, v);
    std::vector<float> back(after.size());
    for (std::size_t i = 0; i < valences.size(); ++i) {
      for (std::size_t y = 0; y < 4; ++y) {
        for (std::size_t x = 0; x < 4; ++x) {
          for (std::size_t c = 0; c < 4; ++c) {
            back[(i * 16 + x * 4 + 3 - y) * 4 + c] = after[(i * 16 + y * 4 + x) * 4 + c];
          }
        }
      }
    }
    CHECK(difference(before, back) < kClose);
  }
}

TEST_CASE("not-a-number reaches exactly the control points that have a weight for it") {
  std::vector<Valences> valences{kRegular, {3, 5, 8, 4}, {8, 3, 3, 6}};
  for (const Variant v : all()) {
    CAPTURE(v.name());
    for (const Valences& n : valences) {
      if (v.row()->traits.regular_only && n != kRegular) continue;
      // As many patches as points; in each another point is none.
      const std::size_t points = ref::point_count(n);
      const Problem p = separate(std::vector<Valences>(points, n));
      std::vector<float> positions = noise(p.vertices * 4);
      for (std::size_t i = 0; i < points; ++i) {
        positions[(i * points + i) * 4] = std::numeric_limits<float>::quiet_NaN();
      }
      const std::vector<float> got = convert(p, positions, v);
      for (std::size_t i = 0; i < points; ++i) {
        for (std::size_t j = 0; j < 16; ++j) {
          CAPTURE(i);
          CAPTURE(j);
          REQUIRE(std::isnan(got[(i * 16 + j) * 4]) == (ref::weights(n, j)[i] != 0));
          REQUIRE(!std::isnan(got[(i * 16 + j) * 4 + 1]));
        }
      }
    }
  }
}

TEST_CASE("automatic runs what the topology allows") {
  const FoldedSwitch regular(runtime(), separate({kRegular}));
  CHECK_FALSE(regular.variant().is_automatic());
  CHECK(regular.problem().vertices == 16);
  const FoldedSwitch mixed(runtime(), separate({kRegular, {3, 4, 5, 4}}));
  CHECK_FALSE(mixed.variant().row()->traits.regular_only);
  CHECK_FALSE(mixed.variant().is_automatic());
}

// ---- Refusals ----------------------------------------------------------------------------------

TEST_CASE("a broken topology is refused") {
  const Problem good = separate({kRegular, {3, 4, 5, 8}});
  CHECK(good.vertices == 16 + 24);
  Problem p = good;
  p.vertices = 0;
  refused(p, "vertices must be 1 to 4294967295, got 0");
  p = good;
  p.vertices = std::size_t{1} << 32;
  refused(p, "got 4294967296");
  p = good;
  p.valences.clear();
  refused(p, "the patches must be 1 to 1073741824, got 0");
  for (const int bad : {0, 2, 9, 255}) {
    p = good;
    p.valences[1][2] = static_cast<std::uint8_t>(bad);
    refused(p,
            "corner 2 of patch 1 has the valence " + std::to_string(bad) + "; it must be 3 to 8");
  }
  p = good;
  p.indices.pop_back();
  refused(p, "2 patches ask for 40 indices, got 39");
  p = good;
  p.valences[0][0] = 5;
  refused(p, "ask for 42 indices, got 40");
  p = good;
  p.indices[17] = 40;
  refused(p, "index 17 is 40; there are 40 vertices");
}

TEST_CASE("a variant that cannot run the topology says so") {
  const Problem p = separate({kRegular, {4, 4, 4, 5}});
  refused(p, "weight_matrix", {}, "weight_matrix: needs patches with four valences of 4",
          Errc::unsupported);
  refused(separate({kRegular}), "fused_tangents", {}, "the problem asks for none",
          Errc::unsupported);
}

TEST_CASE("wrong tunings are refused") {
  const Problem p = separate({kRegular});
  refused(p, "per_corner", {6, 0}, "multiple of 4 up to 1024, got 6");
  refused(p, "switch16", {-4, 0}, "got -4");
  refused(p, "switch16", {2048, 0}, "got 2048");
  refused(p, "cpu_patch", {64, 0}, "cpu_patch takes a group of 1 work-item, got 64");
  for (const int run : {-1, 3, 2048}) {
    refused(p, "folded3", {0, run},
            "run must be a power of two from 1 to 1024, got " + std::to_string(run));
  }
  refused(p, "per_corner", {0, 2}, "per_corner has no runs, got 2");
}

TEST_CASE("tangents need room for 40 points of a patch") {
  const cl::Buffer in = upload(std::vector<float>(16 * 4));
  Problem p = separate({kRegular});
  p.tangents = true;
  const FoldedSwitch more(runtime(), p);
  check_refused([&] { more(in, upload(std::vector<float>(39 * 4))); },
                "control_points has 624 bytes, needs 640");
}
