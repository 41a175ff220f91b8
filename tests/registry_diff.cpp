// Diff: what counts as equal, and what must not. And which of a list the short grid compares.
#include <clcook/registry/diff.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <string>

#include "support/grid.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

Diff one(double expected, double got, double bound) {
  Diff diff;
  diff.compare(0, expected, got, bound);
  return diff;
}

}  // namespace

TEST_CASE("nothing compared is not ok") {
  const Diff diff;
  CHECK_FALSE(diff.ok());
  CHECK(diff.first() == "nothing was compared");
  CHECK(diff.compared() == 0);
}

TEST_CASE("the bound itself is within the bound, anything more is not") {
  CHECK(one(1.0, 1.0, 0.0).ok());
  CHECK(one(1.0, 1.5, 0.5).ok());
  CHECK(one(1.5, 1.0, 0.5).ok());
  CHECK_FALSE(one(1.0, std::nextafter(1.5, 2.0), 0.5).ok());
  CHECK_FALSE(one(1.0, std::nextafter(1.0, 2.0), 0.0).ok());
  CHECK(one(0.0, -0.0, 0.0).ok());
  CHECK_FALSE(one(1.0, 1.0 + 1e-3, -1.0).ok());  // a negative bound allows nothing
  CHECK_FALSE(one(1.0, 1.0, kNan).ok());         // nor does one that is not a number
}

TEST_CASE("NaN only where NaN is expected") {
  CHECK(one(kNan, kNan, 0.0).ok());
  CHECK(one(kNan, -kNan, 0.0).ok());
  CHECK_FALSE(one(1.0, kNan, 1e300).ok());
  CHECK_FALSE(one(kNan, 1.0, 1e300).ok());
  CHECK_FALSE(one(kNan, kInf, kInf).ok());
  CHECK_FALSE(one(kInf, kNan, kInf).ok());
  CHECK(one(1.0, kNan, 1.0).max_error() == kInf);
}

TEST_CASE("infinities only where they are expected, with their sign") {
  CHECK(one(kInf, kInf, 0.0).ok());
  CHECK(one(-kInf, -kInf, 0.0).ok());
  CHECK_FALSE(one(kInf, -kInf, kInf).ok());
  CHECK_FALSE(one(kInf, std::numeric_limits<double>::max(), 1e308).ok());
  CHECK_FALSE(one(0.0, kInf, 1e308).ok());
  CHECK_FALSE(one(0.0, -kInf, 1e308).ok());
}

TEST_CASE("the first mismatch is kept, with index, values and distance") {
  Diff diff;
  diff.compare(10, 1.0, 1.0, 0.25);
  diff.compare(text("row ", 3), 1.0, 2.0, 0.25);
  diff.compare(12, 1.0, 9.0, 0.5);
  CHECK_FALSE(diff.ok());
  CHECK(diff.compared() == 3);
  CHECK(diff.mismatches() == 2);
  CHECK(diff.max_error() == 8.0);
  CHECK(diff.bound() == 0.5);
  CHECK(contains(diff.first(), "at row 3: expected 1, got 2, error 1 > bound 0.25"));
  CHECK_FALSE(contains(diff.first(), "ulp"));  // 8388608 of them help nobody
  CHECK(contains(one(1.0, 1.0 + 0x1p-22, 0.0).first(), "2 ulp"));
  CHECK_FALSE(contains(one(1.0, kNan, 0.0).first(), "ulp"));
  CHECK_FALSE(contains(one(kInf, 1.0, 0.0).first(), "ulp"));
}

TEST_CASE("a later match does not heal a mismatch") {
  Diff diff;
  diff.compare(0, 1.0, 2.0, 0.0);
  diff.compare(1, 1.0, 1.0, 0.0);
  diff.match(2, 5, 5);
  CHECK_FALSE(diff.ok());
  CHECK(diff.mismatches() == 1);
}

TEST_CASE("integers and bit patterns are exact") {
  Diff diff;
  diff.match(0, std::uint8_t{255}, std::uint8_t{255});
  diff.match(1, -1, -1);
  CHECK(diff.ok());
  diff.match(2, std::uint8_t{7}, std::uint8_t{8});
  CHECK_FALSE(diff.ok());
  CHECK(diff.max_error() == 1.0);
  CHECK(diff.first() == "at 2: expected 7, got 8");  // numbers, not characters
  Diff wide;
  wide.match(0, (std::uint64_t{1} << 60) + 1, std::uint64_t{1} << 60);  // equal as doubles
  CHECK_FALSE(wide.ok());
  CHECK(wide.mismatches() == 1);
  wide.match(1, std::int32_t{(1 << 24) + 1}, 0);  // no float
  CHECK(wide.max_error() == (1 << 24) + 1);
}

TEST_CASE("a damaged guard is never ok") {
  Diff diff;
  diff.compare(0, 1.0, 1.0, 0.0);
  diff.damaged("dst: the byte at -1");
  CHECK_FALSE(diff.ok());
  CHECK_FALSE(diff.guards_ok());
  CHECK(diff.mismatches() == 0);
  CHECK(diff.first() == "dst: the byte at -1");
  Diff later;
  later.compare(0, 1.0, 2.0, 0.0);
  later.damaged("dst");
  CHECK(contains(later.first(), "at 0"));  // the first of the two
}

TEST_CASE("ulp distances") {
  CHECK(ulp_distance(1.0f, 1.0f) == 0);
  CHECK(ulp_distance(0.0f, -0.0f) == 0);
  CHECK(ulp_distance(1.0f, std::nextafter(1.0f, 2.0f)) == 1);
  CHECK(ulp_distance(std::nextafter(1.0f, 2.0f), 1.0f) == 1);
  CHECK(ulp_distance(1.0f, 2.0f) == 1 << 23);
  const float tiny = std::numeric_limits<float>::denorm_min();
  CHECK(ulp_distance(tiny, -tiny) == 2);
  CHECK(ulp_distance(-1.0f, std::nextafter(-1.0f, 0.0f)) == 1);
  const float most = std::numeric_limits<float>::max();
  CHECK(ulp_distance(most, -most) == 2 * std::int64_t{0x7F7FFFFF});
  CHECK(ulp_distance(-1.0f, 1.0f) == 2 * std::int64_t{0x3F800000});
}

TEST_CASE("each part of a list has its turn, also in a test that takes turns itself") {
  const ScopedVariable grid("CLCOOK_TEST_GRID", "short");
  for (const std::size_t n : {16u, 32u}) {
    for (const std::size_t parts : {3u, 4u, 8u, 12u, 16u, 20u}) {
      CAPTURE(n);
      CAPTURE(parts);
      std::set<std::size_t> had;
      for (std::size_t slice = 0; slice < 8000; ++slice) {
        const ScopedVariable tree("CLCOOK_TEST_SLICE", std::to_string(slice * 7919));
        if (has_no_turn("a long test", n)) continue;
        for (std::size_t part = 0; part < parts; ++part)
          if (!left_out(part, parts)) had.insert(part);
      }
      CHECK(had.size() == parts);
    }
  }
}
