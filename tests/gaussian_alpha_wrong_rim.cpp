// As gaussian_blur_wrong_weights.cpp: a border constant whose colours are not weighted by its alpha must
// fail the check.
//
// planted: clcook/gaussian_blur/method.hpp
// replace: return is_straight(p) ? weighted_by_alpha(p.outside, p.pixel, p.channels) : p.outside
// with: return p.outside
#undef CLCOOK_COMPILED  // those that are compiled already weight it
#include <string>

#include <clcook/cookbook/gaussian_blur.hpp>
#include <clcook/registry/conformance.hpp>

#include "support/grid.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;

LONG_TEST_CASE("straight alpha: a constant border that is not weighted fails", 4) {
  ConformanceOptions options;
  options.out_of_order = false;
  for (const Params& shape : cookbook::gaussian_blur().test_shapes) {
    if (shape.word("alpha", "none") == "straight" && shape.word("border", "clamp") == "constant")
      options.shapes.push_back(shape);
  }
  CHECK(options.shapes.size() >= 2);
  for (const char* variant : {"per_pixel", "cpu_fused"}) {
    options.variant = variant;
    int ran = 0;
    run_conformance({cookbook::gaussian_blur()}, runtime(), options,
                    [&](const ConformanceRow& row) {
                      CAPTURE(row.name());
                      ++ran;
                      CHECK(row.outcome == Outcome::failed);
                      CHECK(row.diff.mismatches() > 0);
                    });
    CHECK(ran == static_cast<int>(options.shapes.size()));
  }
}
