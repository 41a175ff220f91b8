// What a device does per microsecond, and the costs that come of it.
#include <doctest/doctest.h>

#include <clcook/core/rates.hpp>
#include <string>

#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;

TEST_CASE("rates: every device has some, plausible and always the same") {
  const Rates rates = device_rates(runtime());
  CAPTURE(to_params(rates).str());
  // From a slow single core to ten times the fastest card of 2026.
  CHECK(rates.bytes > 1);
  CHECK(rates.bytes < 1e8);
  CHECK(rates.operations > 1);
  CHECK(rates.operations < 1e9);
  CHECK(rates.launch > 0.01);
  CHECK(rates.launch < 1e6);
  CHECK(to_params(device_rates(runtime())).str() == to_params(rates).str());
}

TEST_CASE("rates: as text, and what cannot be a rate") {
  const auto back = rates_of(to_params({3.5e6, 5e7, 2.25}).str());
  REQUIRE(back);
  CHECK(back->bytes == doctest::Approx(3.5e6));
  CHECK(back->operations == doctest::Approx(5e7));
  CHECK(back->launch == doctest::Approx(2.25));
  for (const char* wrong : {"", "bytes=1 operations=2", "bytes=0 operations=1 launch=1",
                            "bytes=x operations=1 launch=1", "bytes=-1 operations=1 launch=1",
                            "bytes=inf operations=1 launch=1", "bytes", "bytes=1e999"}) {
    CAPTURE(wrong);
    CHECK_FALSE(rates_of(wrong));
  }
}

TEST_CASE("rates: the time of work is that of its parts, one after the other") {
  const Rates rates{1000, 100, 5};
  CHECK(microseconds(rates, {500, 500, 0, 0}) == doctest::Approx(1));
  CHECK(microseconds(rates, {0, 0, 300, 0}) == doctest::Approx(3));
  CHECK(microseconds(rates, {1000, 0, 100, 2}) == doctest::Approx(12));
}
