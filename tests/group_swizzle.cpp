// What the generic conformance test cannot know about group_swizzle: that no order loses a group,
// that the order changes no bit, the matrix and the window themselves, plans, bad input.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <clcook/cookbook/group_swizzle.hpp>
#include <clcook/group_swizzle.hpp>
#include <clcook/reference/group_swizzle.hpp>
#include <clcook/registry/random.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "support/grid.hpp"
#include "support/testing.hpp"

namespace {

namespace card = clcook::cookbook::group_swizzle_card;
namespace ref = clcook::reference::group_swizzle;
using clcook::BufferView;
using clcook::Errc;
using clcook::Error;
using clcook::GroupSwizzle;
using clcook::Params;
using clcook::Runtime;
using namespace clcook::testing;
using Variant = GroupSwizzle::Variant;
using Work = GroupSwizzle::Work;

GroupSwizzle::Problem problem(int width, int height, Work work) {
  GroupSwizzle::Problem out;
  out.width = width;
  out.height = height;
  out.work = work;
  out.taps = 3;
  out.radius = 21;
  return out;
}

std::size_t values_of(const GroupSwizzle::Problem& p) {
  return static_cast<std::size_t>(p.width) * static_cast<std::size_t>(p.height) * 4;
}

// The variants that the device can run.
std::vector<Variant> variants() {
  std::vector<Variant> out;
  for (const GroupSwizzle::Row& row : GroupSwizzle::variants()) {
    if (GroupSwizzle::Posed(problem(1, 1, Work::filter)).offer(runtime(), row).can())
      out.emplace_back(row);
  }
  return out;
}

// The result of a plan on `in`; what the plan does not write is 12345.
std::vector<float> run(const GroupSwizzle& plan, const std::vector<float>& in) {
  const cl::Buffer src = upload(in);
  const cl::Buffer dst = upload(std::vector<float>(in.size(), 12345.0f));
  const cl::Event done = plan(src, dst);
  return read_buffer<float>(runtime(), dst, in.size(), {done});
}

constexpr PlanRefused<GroupSwizzle> refused;

}  // namespace

// As many groups are started as the grid has; where every pixel is written and right, no group ran
// at a place twice and none at no place.
LONG_TEST_CASE("every order covers every grid, and changes no bit", 16) {
  struct Grid {
    int x, y;  // work-groups of 8 x 8
  };
  // With strips of 16, the published form of column_tiles loses groups of 2 x 63, 8 x 63 and 3
  // x 17.
  const Grid grids[] = {{1, 1}, {1, 40}, {40, 1}, {2, 63}, {8, 63}, {3, 17}, {13, 17}, {33, 5}};
  for (const Work work : {Work::filter, Work::gather}) {
    for (const Grid& grid : grids) {
      // The last column and row of groups are cut.
      const auto p = problem(grid.x * 8 - 3, grid.y * 8 - 5, work);
      CAPTURE(to_string(work));
      CAPTURE(grid.x);
      CAPTURE(grid.y);
      const std::vector<float> in = noise(values_of(p), 7);
      const std::vector<float> expected =
          run(GroupSwizzle(runtime(), p, "row_major", {8, 0, 0}), in);
      for (const float value : expected) REQUIRE(value != 12345.0f);
      for (const Variant& variant : variants()) {
        CAPTURE(variant.name());
        const bool tiles = variant == "cpu_tiles";
        // Groups in a row of a tile: of a gather 256 pixels, of a filter 4096.
        const int wide = p.work == GroupSwizzle::Work::gather ? 32 : 512;
        const bool strips = tiles || variant == "column_tiles" || variant == "xcd";
        for (const int strip : strips ? std::vector<int>{1, 4, 16, 65536} : std::vector<int>{0}) {
          CAPTURE(strip);
          const GroupSwizzle plan(runtime(), p, variant,
                                  {tiles ? 1 : 8, strip, strip == 1 ? 1024 : 3});
          CHECK(plan.grid().x ==
                static_cast<std::uint32_t>(tiles ? (grid.x + wide - 1) / wide : grid.x));
          CHECK(plan.grid().y == static_cast<std::uint32_t>(tiles ? (grid.y + 1) / 2 : grid.y));
          const std::vector<float> got = run(plan, in);
          CHECK(std::memcmp(got.data(), expected.data(), got.size() * sizeof(float)) == 0);
        }
      }
    }
  }
}

TEST_CASE("the filter is a matrix times the pixel") {
  auto p = problem(2, 1, Work::filter);
  for (std::size_t i = 0; i < 16; ++i) p.matrix[i] = static_cast<float>(i);
  const std::vector<float> in = {1, 0, 0, 0, 1, 2, 4, 8};
  const std::vector<float> got = run(GroupSwizzle(runtime(), p), in);
  CHECK(got == std::vector<float>{0, 4, 8, 12, 34, 94, 154, 214});

  p.matrix = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  CHECK(run(GroupSwizzle(runtime(), p), in) == in);
}

TEST_CASE("the default of the filter is sepia, which keeps alpha") {
  const auto p = problem(1, 1, Work::filter);
  const std::vector<float> got = run(GroupSwizzle(runtime(), p), {1, 1, 1, 0.25f});
  CHECK(got[0] == doctest::Approx(1.351));
  CHECK(got[1] == doctest::Approx(1.203));
  CHECK(got[2] == doctest::Approx(0.937));
  CHECK(got[3] == 0.25f);
}

TEST_CASE("the gather reaches its radius and no further") {
  // A bright pixel in the dark: only pixels at most `radius` away see it.
  auto p = problem(101, 101, Work::gather);
  p.radius = 20;
  p.taps = 512;
  std::vector<float> in(values_of(p), 0.0f);
  in[(50 * 101 + 50) * 4] = 512;
  const std::vector<float> got = run(GroupSwizzle(runtime(), p), in);
  int seen = 0;
  float most = 0;
  for (int y = 0; y < 101; ++y) {
    for (int x = 0; x < 101; ++x) {
      const float value = got[static_cast<std::size_t>(y * 101 + x) * 4];
      const bool inside = std::abs(x - 50) <= 20 && std::abs(y - 50) <= 20;
      CHECK_FALSE((value != 0 && !inside));
      seen += value != 0;
      most = std::max(most, value);
    }
  }
  // 512 samples of 1681 places: 26 % of the pixels see it.
  CHECK(seen > 300);
  CHECK(seen < 600);
  CHECK(most < 10);
}

TEST_CASE("the offsets of the first pixel are the published numbers of the generator") {
  // The upper halves of the first numbers of the generator 1664525 x + 1013904223 from 0, after the
  // table in Numerical Recipes in C, 2nd edition, page 284. The hash of (0, 0) is 0.
  ref::Offsets offsets(0, 0);
  for (const int upper :
       {0x3C6E, 0x4750, 0xD1CC, 0xAAF9, 0x6252, 0x9F2E, 0x57FE, 0xA3D9, 0x81FD, 0x94F0, 0xCBF6}) {
    // A radius of 32767 has 65535 values: upper * 65535 / 65536, cut off, is upper - 1.
    CHECK(offsets.next(32767) == upper - 1 - 32767);
  }
}

TEST_CASE("the reference's gather is a mean: of a constant, of a sum, and within the window") {
  constexpr int kWidth = 24;
  constexpr int kHeight = 17;
  const std::vector<float> flat(kWidth * kHeight * 4, 3.0f);
  const std::vector<float> a = noise(kWidth * kHeight * 4, 7);
  std::vector<float> b(a.rbegin(), a.rend());
  std::vector<float> sum(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    b[i] = std::nearbyint(b[i] * 1024);  // whole, so that float sums are exact
    sum[i] = b[i] + 2 * flat[i];
  }
  const auto of = [&](const std::vector<float>& values) {
    return ref::Picture{values.data(), kWidth, kHeight};
  };
  std::array<float, 16> order{};  // exchanges red and blue
  order[2] = order[5] = order[8] = order[15] = 1;
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const ref::Pixel one = ref::gather(of(b), x, y, 16, 3);
      const ref::Pixel both = ref::gather(of(sum), x, y, 16, 3);
      double least = 1e30;
      double most = -1e30;
      for (int v = std::max(0, y - 3); v <= std::min(kHeight - 1, y + 3); ++v) {
        for (int u = std::max(0, x - 3); u <= std::min(kWidth - 1, x + 3); ++u) {
          least = std::min(least, of(b).at(u, v)[1]);
          most = std::max(most, of(b).at(u, v)[1]);
        }
      }
      CHECK(one[1] >= least);
      CHECK(one[1] <= most);
      for (std::size_t c = 0; c < 4; ++c) {
        CHECK(ref::gather(of(flat), x, y, 16, 3)[c] == 3);
        CHECK(both[c] == one[c] + 6);  // sixteenths of whole numbers
      }
      const ref::Pixel p = of(b).at(x, y);
      CHECK(ref::filter(of(b), x, y, order) == ref::Pixel{p[2], p[1], p[0], p[3]});
    }
  }
}

TEST_CASE("the offsets are spread evenly over the window") {
  int count[7] = {};
  double product = 0;
  for (int y = 0; y < 100; ++y) {
    for (int x = 0; x < 100; ++x) {
      ref::Offsets offsets(x, y);
      for (int k = 0; k < 4; ++k) {
        const int dx = offsets.next(3);
        const int dy = offsets.next(3);
        REQUIRE(std::abs(dx) <= 3);
        ++count[dx + 3];
        product += dx * dy;
      }
    }
  }
  for (const int one : count) CHECK(std::abs(one - 40000 / 7) < 300);
  CHECK(std::abs(product / 40000) < 0.1);  // dx and dy are independent
}

TEST_CASE("special values: not-a-number reaches the pixels that read it, radius 0 is a copy") {
  auto p = problem(40, 30, Work::gather);
  p.radius = 0;
  p.taps = 4;
  std::vector<float> in = noise(values_of(p), 7);
  in[44] = std::numeric_limits<float>::quiet_NaN();
  in[45] = std::numeric_limits<float>::infinity();
  const std::vector<float> got = run(GroupSwizzle(runtime(), p), in);
  CHECK(std::isnan(got[44]));
  CHECK(std::isinf(got[45]));
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (i != 44) REQUIRE(got[i] == in[i]);
  }
}

// ---- The prediction ----------------------------------------------------------------------------

LONG_TEST_CASE("the cache model: strips beat rows where the rows' window exceeds the cache", 16) {
  const Params wide{{"work", std::string("gather")}, {"width", std::int64_t{16384}},
                    {"height", std::int64_t{1024}},  {"taps", std::int64_t{16}},
                    {"radius", std::int64_t{256}},   {"strip", std::int64_t{16}}};
  const double rows = card::predicted_cost("row_major", wide, 1);
  const double strips = card::predicted_cost("column_tiles", wide, 1);
  CHECK(rows / strips > 1.5);
  // A strip as wide as the picture is row by row.
  CHECK(card::predicted_cost("column_tiles", Params(wide).set("strip", std::int64_t{1024}), 1) ==
        rows);
  // Where everything fits in the cache, the order is nothing.
  const Params small = Params(wide).set("width", std::int64_t{1024});
  CHECK(card::predicted_cost("row_major", small, 1) ==
        doctest::Approx(card::predicted_cost("column_tiles", small, 1)));
}

// ---- Plans -------------------------------------------------------------------------------------

TEST_CASE("automatic: tiles on CPUs, else row by row for the filter; the plan says what runs") {
  const GroupSwizzle filter(runtime(), problem(33, 17, Work::filter));
  const bool cpu = clcook::quirks::takes_cpu_kernels(runtime().info());
  // Both read and write long rows: what a tuning file says.
  CHECK((filter.variant() == "row_major" || (cpu && filter.variant() == "cpu_tiles")));
  const GroupSwizzle gather(runtime(), problem(33, 17, Work::gather));
  CHECK(!gather.variant().is_automatic());
  if (cpu) CHECK(gather.variant() == "cpu_tiles");
  CHECK((gather.tune().group == 8 || gather.tune().group == 16 || cpu));
  CHECK(gather.tune().strip >= 1);
  CHECK(gather.tune().chiplets >= 1);
  CHECK(gather.problem().width == 33);
  const GroupSwizzle given(runtime(), problem(33, 17, Work::gather), "xcd", {8, 3, 2});
  CHECK(given.tune().group == 8);
  CHECK(given.tune().strip == 3);
  CHECK(given.tune().chiplets == 2);
}

TEST_CASE("names of variants and works") {
  CHECK(clcook::group_swizzle::parse_work("filter") == Work::filter);
  const Error variant = error_of([] { Variant("spiral"); });
  CHECK(variant.code == Errc::invalid_argument);
  CHECK(contains(variant.what(), "'spiral'"));
  CHECK(contains(variant.what(), "column_tiles"));
  CHECK(contains(error_of([] { clcook::group_swizzle::parse_work("sort"); }).what(), "'sort'"));
}

TEST_CASE("a problem out of range is refused with its value") {
  const int most = clcook::group_swizzle::kMaxSize;
  // Grids whose ids overflow 32 bits.
  refused(problem(most, most, Work::gather), "row_major", {16, 0, 0},
          "4503599627370496 work-groups");
  refused(problem(most, most, Work::gather), "cpu_tiles", {}, "281474976710656 work-groups");
  refused(problem(1 << 20, 1 << 20, Work::filter), "morton", {16, 0, 0},
          "are 4294967296 work-groups; at most 4294967295 have an id");
  auto p = problem(5, 5, Work::filter);
  p.matrix[6] = std::numeric_limits<float>::quiet_NaN();
  refused(p, "got nan in row 1, column 2");
  p = problem(5, 5, static_cast<Work>(9));
  refused(p, "no work of the value 9");
}

TEST_CASE("a tuning out of range is refused with its value") {
  const auto p = problem(5, 5, Work::gather);
  for (const int group : {-16, 1, 7, 17, 32})
    refused(p, "row_major", {group, 0, 0}, "must be 8 or 16, got " + std::to_string(group));
  refused(p, "cpu_tiles", {16, 0, 0}, "group of cpu_tiles must be 1, got 16");
  refused(p, "column_tiles", {0, -1, 0}, "strip must be 1 to 65536, got -1");
  refused(p, "column_tiles", {0, 65537, 0}, "strip must be 1 to 65536, got 65537");
  refused(p, "xcd", {0, 0, -3}, "chiplets must be 1 to 1024, got -3");
  refused(p, "xcd", {0, 0, 1025}, "chiplets must be 1 to 1024, got 1025");
}
