// What the generic conformance test cannot know about local_multipass: the refusals. The check of
// every variant is repeated here, so that this program is enough while the recipe is written.
#include <doctest/doctest.h>
#include <clcook/cookbook/local_multipass.hpp>
#include <clcook/registry/conformance.hpp>

#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;

TEST_CASE("local_multipass: every variant agrees with the reference") {
  const ConformanceSummary summary =
      run_conformance({cookbook::local_multipass()}, runtime(), {}, [](const ConformanceRow& row) {
        INFO(row.name() << ": " << row.reason);
        CHECK(row.outcome != Outcome::failed);
      });
  CHECK(summary.ok());
  CHECK(summary.launches >= summary.passed);
}

TEST_CASE("local_multipass: wrong calls are refused") {
  const auto code = [](const auto& body) {
    try {
      body();
    } catch (const Error& error) {
      return error.code;
    }
    FAIL("no error");
    return Errc::opencl;
  };
  CHECK(code([] { LocalMultipass(runtime(), {0}); }) == Errc::invalid_argument);
  CHECK(code([] {
          LocalMultipass(runtime(), {1}, LocalMultipass::Variant::naive, LocalMultipass::Tune{0});
        }) == Errc::invalid_argument);
  CHECK(code([] {
          LocalMultipass(runtime(), {1}, LocalMultipass::Variant::naive,
                         LocalMultipass::Tune{1 << 30});
        }) == Errc::unsupported);
  CHECK(code([] { LocalMultipass::parse_variant("fastest"); }) == Errc::invalid_argument);
  const LocalMultipass scale{runtime(), {8}};
  const cl::Buffer x = create_buffer(runtime(), 8 * sizeof(float));
  const cl::Buffer small = create_buffer(runtime(), 7 * sizeof(float));
  CHECK(code([&] { scale(x, small, 2.0f); }) == Errc::invalid_argument);
  CHECK(code([&] { scale(x, x, 2.0f); }) == Errc::invalid_argument);
}
