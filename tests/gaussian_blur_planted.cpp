// A host program with a bug must fail the check, as a kernel with one must (planted_bugs.cpp): what a
// plan gets wrong it also promises wrongly. This program alone is compiled with the changes below, of
// which each test switches its own on.
//
// planted: clcook/gaussian_blur/pyramid.hpp
// replace: weight /= total * s.cell
// with: weight /= (testing::bug == testing::Bug::weights ? 0.98 : 1.0) * total * s.cell
//
// planted: clcook/gaussian_blur/method.hpp
// replace: return is_straight(p) ? weighted_by_alpha(p.outside, p.pixel, channels_of(p)) : p.outside
// with: return is_straight(p) && testing::bug != testing::Bug::rim ? weighted_by_alpha(p.outside, p.pixel, channels_of(p)) : p.outside
#undef CLCOOK_COMPILED  // those that are compiled already are right
#include <string>

namespace clcook::testing {
enum class Bug { none, weights, rim };
static Bug bug = Bug::none;
}  // namespace clcook::testing

#include <clcook/cookbook/gaussian_blur.hpp>
#include <clcook/gaussian_blur/pyramid.hpp>
#include <clcook/registry/conformance.hpp>

#include "support/grid.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;

namespace {

// How many rows of the check ran; with the bug each of them must fail.
int failed_rows(Bug planted, const ConformanceOptions& options) {
  bug = planted;
  int ran = 0;
  run_conformance({cookbook::gaussian_blur()}, runtime(), options, [&](const ConformanceRow& row) {
    CAPTURE(row.name());
    CHECK(row.outcome != Outcome::passed);
    if (row.outcome == Outcome::skipped) return;
    ++ran;
    CHECK(row.diff.mismatches() > 0);
  });
  bug = Bug::none;
  return ran;
}

}  // namespace

LONG_TEST_CASE("gaussian_blur: a pyramid with weights that are 2 % off fails on every shape", 16) {
  ConformanceOptions options;
  options.variant = "pyramid";
  options.out_of_order = false;
  CHECK(failed_rows(Bug::weights, options) >= 5);
}

LONG_TEST_CASE("straight alpha: a constant border that is not weighted fails", 16) {
  ConformanceOptions options;
  options.out_of_order = false;
  for (const Params& shape : cookbook::gaussian_blur().test_shapes) {
    if (shape.word("alpha", "none") == "straight" && shape.word("border", "clamp") == "constant")
      options.shapes.push_back(shape);
  }
  CHECK(options.shapes.size() >= 2);
  for (const char* variant : {"per_pixel", "cpu_fused"}) {
    options.variant = variant;
    CHECK(failed_rows(Bug::rim, options) == static_cast<int>(options.shapes.size()));
  }
}
