// Scalar reference of the conversion of Catmull-Clark patches to bicubic Bezier patches, in double:
// every control point as a list of weights, straight from the formulas (Loop and Schaefer 2008),
// and for regular patches the exact change of basis.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace clcook::reference::folded_switch {

// Of the corners 0 to 3 of the quad, each 3 or more.
using Valences = std::array<std::uint8_t, 4>;

// Pref_k: the index just behind the ring points that belong to corner k.
inline std::array<int, 4> prefixes(const Valences& valences) {
  std::array<int, 4> out{};
  int end = 4;
  for (std::size_t k = 0; k < 4; ++k) out[k] = end += 2 * valences[k] - 5;
  return out;
}

// Points of a patch: the quad and its ring.
inline std::size_t point_count(const Valences& valences) {
  return static_cast<std::size_t>(prefixes(valences)[3]);
}

// What makes a control point: one of three functions with an argument.
enum class Function { interior, corner, edge };
struct Call {
  Function function;
  int argument;
};

// The sixteen cases, the control points row by row.
constexpr std::array<Call, 16> kCases{{
    {Function::corner, 0},
    {Function::edge, 0},
    {Function::edge, 1},
    {Function::corner, 1},
    {Function::edge, 4},
    {Function::interior, 0},
    {Function::interior, 1},
    {Function::edge, 6},
    {Function::edge, 5},
    {Function::interior, 3},
    {Function::interior, 2},
    {Function::edge, 7},
    {Function::corner, 3},
    {Function::edge, 2},
    {Function::edge, 3},
    {Function::corner, 2},
}};

// The weights of the patch's points in a control point, for ring points that end at `prefix`; the
// article's wrong diagram is asked about with prefixes of its own.
inline std::vector<double> weights(const Valences& valences, const std::array<int, 4>& prefix,
                                   std::size_t control_point) {
  const auto points = static_cast<std::size_t>(prefix[3]);
  std::vector<double> out(points, 0.0);
  const auto add = [&](int i, double weight) { out[static_cast<std::size_t>(i)] += weight; };
  const auto wrapped = [&](int i) {
    return i < 4 ? i + prefix[3] - 4 : i >= prefix[3] ? i - prefix[3] + 4 : i;
  };
  const Call call = kCases[control_point];
  const int k = call.argument;
  double divisor = 1;
  if (call.function == Function::interior) {
    const int n = valences[static_cast<std::size_t>(k)];
    add(k, n);
    add((k + 1) % 4, 2);
    add((k + 2) % 4, 1);
    add((k + 3) % 4, 2);
    divisor = n + 5;
  } else if (call.function == Function::corner) {
    const int n = valences[static_cast<std::size_t>(k)];
    const int first = k == 0 ? 4 : prefix[static_cast<std::size_t>(k - 1)];
    add(k, n * n);
    add((k + 1) % 4, 4);
    add((k + 3) % 4, 4);
    add((k + 2) % 4, 1);
    add(wrapped(first - 1), 1);
    for (int i = first; i <= prefix[static_cast<std::size_t>(k)]; i += 2) {
      add(wrapped(i), 4);
      add(wrapped(i + 1), 1);
    }
    divisor = n * (n + 5);
  } else {
    // a: the corner it belongs to, b: the other end, c: the diagonal of a, d: the fourth, p and q:
    // beyond the edge next to a and to b.
    struct Edge {
      int a, b, c, d, p, q;
    };
    const Edge edges[8] = {
        {0, 1, 2, 3, prefix[0] - 1, prefix[0]}, {1, 0, 3, 2, prefix[0], prefix[0] - 1},
        {3, 2, 1, 0, prefix[2], prefix[2] - 1}, {2, 3, 0, 1, prefix[2] - 1, prefix[2]},
        {0, 3, 2, 1, 4, prefix[3] - 1},         {3, 0, 1, 2, prefix[3] - 1, 4},
        {1, 2, 3, 0, prefix[1] - 1, prefix[1]}, {2, 1, 0, 3, prefix[1], prefix[1] - 1},
    };
    const Edge& e = edges[k];
    const int n = valences[static_cast<std::size_t>(e.a)];
    add(e.a, 2 * n);
    add(e.b, 4);
    add(e.c, 1);
    add(e.d, 2);
    add(e.p, 2);
    add(e.q, 1);
    divisor = 2 * n + 10;
  }
  for (double& weight : out) weight /= divisor;
  return out;
}

inline std::vector<double> weights(const Valences& valences, std::size_t control_point) {
  return weights(valences, prefixes(valences), control_point);
}

// The tangent of the limit surface at corner k towards the neighbour in the quad that comes next, or
// the one before: a left eigenvector of subdivision.
inline std::vector<double> corner_tangent(const Valences& valences, int k, bool to_next) {
  constexpr double kPi = 3.14159265358979323846;
  const std::array<int, 4> prefix = prefixes(valences);
  const int n = valences[static_cast<std::size_t>(k)];
  const int before = k == 0 ? 4 : prefix[static_cast<std::size_t>(k - 1)];
  // Counter-clockwise around the corner: neighbours along edges, and those across the faces behind.
  std::vector<int> edges{(k + 1) % 4, (k + 3) % 4};
  std::vector<int> diagonals{(k + 2) % 4, before == 4 ? prefix[3] - 1 : before - 1};
  for (int i = before; i < prefix[static_cast<std::size_t>(k)]; i += 2) {
    edges.push_back(i);
    diagonals.push_back(i + 1 == prefix[3] ? 4 : i + 1);
  }
  const double root = n * std::sqrt(4 + std::pow(std::cos(kPi / n), 2));
  std::vector<double> out(static_cast<std::size_t>(prefix[3]), 0.0);
  for (int i = 0; i < n; ++i) {
    const int turned = to_next ? i : i - 1;
    out[static_cast<std::size_t>(edges[static_cast<std::size_t>(i)])] +=
        (1.0 / n + std::cos(kPi / n) / root) * std::cos(2 * kPi * turned / n);
    out[static_cast<std::size_t>(diagonals[static_cast<std::size_t>(i)])] +=
        std::cos((2 * turned + 1) * kPi / n) / root;
  }
  return out;
}

// The weights of the patch's points in the vectors of the two tangent patches: 0 to 11 along u, u_ij
// at 3 j + i, 12 to 23 along v, v_ij at 12 + 4 j + i. In the corners the tangents of the limit surface,
// inside and along the borders differences of control points. The vectors that point across a border
// add what makes the normals of both sides agree (Loop and Schaefer 2008, section 4).
inline std::array<std::vector<double>, 24> tangent_weights(const Valences& valences) {
  constexpr double kPi = 3.14159265358979323846;
  using Weights = std::vector<double>;
  const auto sum = [](double a, const Weights& x, double b, const Weights& y) {
    Weights out(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) out[i] = a * x[i] + b * y[i];
    return out;
  };
  std::array<Weights, 16> b;
  for (std::size_t i = 0; i < 16; ++i) b[i] = weights(valences, i);
  double c[4];
  for (std::size_t k = 0; k < 4; ++k) c[k] = std::cos(2 * kPi / valences[k]);
  Weights u[3][4];
  Weights v[4][3];
  const auto corner = [&](int k, bool to_next, double sign) {
    const Weights one = corner_tangent(valences, k, to_next);
    return sum(sign, one, 0, one);
  };
  u[0][0] = corner(0, true, 1);
  u[2][0] = corner(1, false, -1);
  u[2][3] = corner(2, true, -1);
  u[0][3] = corner(3, false, 1);
  v[0][0] = corner(0, false, 1);
  v[3][0] = corner(1, true, 1);
  v[3][2] = corner(2, false, -1);
  v[0][2] = corner(3, true, -1);
  for (std::size_t i = 0; i < 4; ++i) {
    u[1][i] = sum(3, b[4 * i + 2], -3, b[4 * i + 1]);
    v[i][1] = sum(3, b[8 + i], -3, b[4 + i]);
  }
  const auto cross = [&](const Weights& to, const Weights& from, double f, const Weights& first,
                         double g, const Weights& second) {
    return sum(1, sum(3, to, -3, from), 1.0 / 3, sum(f, first, g, second));
  };
  // Upwards from the lower border, whose ends are the corners 0 and 1; up to the upper one, 3 and 2.
  v[1][0] = cross(b[5], b[1], 2 * c[0], u[1][0], -c[1], u[0][0]);
  v[2][0] = cross(b[6], b[2], c[0], u[2][0], -2 * c[1], u[1][0]);
  v[1][2] = cross(b[13], b[9], -2 * c[3], u[1][3], c[2], u[0][3]);
  v[2][2] = cross(b[14], b[10], -c[3], u[2][3], 2 * c[2], u[1][3]);
  // To the right from the left border, 0 and 3; to the right one, 1 and 2.
  u[0][1] = cross(b[5], b[4], 2 * c[0], v[0][1], -c[3], v[0][0]);
  u[0][2] = cross(b[9], b[8], c[0], v[0][2], -2 * c[3], v[0][1]);
  u[2][1] = cross(b[7], b[6], -2 * c[1], v[3][1], c[2], v[3][0]);
  u[2][2] = cross(b[11], b[10], -c[1], v[3][2], 2 * c[2], v[3][1]);
  std::array<Weights, 24> out;
  for (std::size_t j = 0; j < 4; ++j) {
    for (std::size_t i = 0; i < 3; ++i) {
      out[3 * j + i] = u[i][j];
      out[12 + 4 * i + j] = v[j][i];
    }
  }
  return out;
}

// One coordinate of the 16 control points from that of the patch's points. A point of weight 0 is
// not touched: its NaN stays away.
inline std::array<double, 16> bezier(const Valences& valences, const std::vector<double>& points) {
  std::array<double, 16> out{};
  for (std::size_t i = 0; i < 16; ++i) {
    const std::vector<double> weight = weights(valences, i);
    for (std::size_t j = 0; j < weight.size(); ++j) {
      if (weight[j] != 0) out[i] += weight[j] * points[j];
    }
  }
  return out;
}

// The points of a regular patch as a 4 x 4 grid, row by row from the lowest.
constexpr std::array<int, 16> kGrid{5, 6, 7, 8, 4, 0, 1, 9, 15, 3, 2, 10, 14, 13, 12, 11};

// The exact change from the uniform bicubic B-spline to Bezier: M P M^T.
inline std::array<double, 16> regular_bezier(const std::vector<double>& points) {
  const double m[4][4] = {{1, 4, 1, 0}, {0, 4, 2, 0}, {0, 2, 4, 0}, {0, 1, 4, 1}};
  std::array<double, 16> out{};
  for (std::size_t y = 0; y < 4; ++y) {
    for (std::size_t x = 0; x < 4; ++x) {
      for (std::size_t v = 0; v < 4; ++v) {
        for (std::size_t u = 0; u < 4; ++u) {
          out[4 * y + x] +=
              m[y][v] * m[x][u] / 36 * points[static_cast<std::size_t>(kGrid[4 * v + u])];
        }
      }
    }
  }
  return out;
}

// A point of a Bezier patch, 0 <= u, v <= 1, u along the rows.
inline double evaluate(const std::array<double, 16>& control, double u, double v) {
  const auto bernstein = [](double t) {
    const double s = 1 - t;
    return std::array<double, 4>{s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t};
  };
  const auto bu = bernstein(u);
  const auto bv = bernstein(v);
  double sum = 0;
  for (std::size_t y = 0; y < 4; ++y) {
    for (std::size_t x = 0; x < 4; ++x) sum += bv[y] * bu[x] * control[4 * y + x];
  }
  return sum;
}

namespace article {

// The example in the comment at the top of the article's source: its valences, and the prefixes
// that it states for them. The third one is wrong.
constexpr Valences kValences{5, 4, 5, 3};
constexpr std::array<int, 4> kPrefixes{9, 12, 16, 18};

// Paths that a group of work-items with all sixteen cases takes: one per arm. The folded switch has
// one arm for the corners, and two functions that switch over their argument.
constexpr int kPathsOfSwitch = 16;
constexpr int kPathsOfFoldedSwitch = 1 + 4 + 8;

}  // namespace article
}  // namespace clcook::reference::folded_switch
