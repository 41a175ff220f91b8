// A host program with a bug must fail the check, as a kernel with one must (planted_bugs.cpp): what a
// plan gets wrong it also promises wrongly. This program alone is compiled with the change.
//
// planted: clcook/gaussian_blur/pyramid.hpp
// replace: weight /= total * s.cell
// with: weight /= 0.98 * total * s.cell
#undef CLCOOK_COMPILED  // those that are compiled already have the right ones
#include <string>

#include <clcook/cookbook/gaussian_blur.hpp>
#include <clcook/gaussian_blur/pyramid.hpp>
#include <clcook/registry/conformance.hpp>

#include "support/grid.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;

LONG_TEST_CASE("gaussian_blur: a pyramid with weights that are 2 % off fails on every shape", 16) {
  const gaussian::FilterAxis axis = gaussian::make_axis(20, 4);
  const std::vector<double> g = gaussian::spline::fit(axis, gaussian::spline::get(4));
  double sum = -g[0];
  for (const double one : g) sum += 2 * one;
  CHECK(sum * 16 == doctest::Approx(1 / 0.98));  // the bug is there
  ConformanceOptions options;
  options.variant = "pyramid";
  options.out_of_order = false;
  int ran = 0;
  run_conformance({cookbook::gaussian_blur()}, runtime(), options, [&](const ConformanceRow& row) {
    CAPTURE(row.name());
    CHECK(row.outcome != Outcome::passed);
    if (row.outcome == Outcome::skipped) return;
    ++ran;
    CHECK(row.diff.mismatches() > 0);
  });
  CHECK(ran >= 5);
}
