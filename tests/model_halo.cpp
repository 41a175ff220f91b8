// The border of tiles, against the figures recomputed from the article and against counting.
#include <clcook/model/halo.hpp>

#include <cmath>
#include <limits>
#include <string>

#include "support/testing.hpp"

using namespace clcook::model;
using clcook::testing::contains;

namespace {

static_assert(halo_2d(8, 8, 1).border == 36);
static_assert(halo_3d(4, 4, 4, 1).border == 152);

bool is(double value, double percent, double digit) {
  return std::abs(100 * value - percent) <= digit / 2 + 1e-9;
}

}  // namespace

TEST_CASE("tiles with a border of one") {
  struct Row {
    Extent tile;
    std::uint64_t payload, total, border;
    double per_payload, per_total, digit;
  };
  const Row rows[] = {
      {{8, 8, 1}, 64, 100, 36, 56.25, 36.00, 0.01},
      {{16, 16, 1}, 256, 324, 68, 26.56, 20.99, 0.01},
      {{32, 32, 1}, 1024, 1156, 132, 12.89, 11.42, 0.01},
      {{4, 4, 4}, 64, 216, 152, 237.5, 70.37, 0.01},
      {{8, 8, 8}, 512, 1000, 488, 95.31, 48.80, 0.01},
      {{16, 32, 1}, 512, 612, 100, 19.53, 16.34, 0.01},
      {{16, 8, 8}, 1024, 1800, 776, 75.78, 43.11, 0.01},
      {{256, 1, 1}, 256, 774, 518, 202.3, 66.9, 0.1},
  };
  for (const Row& row : rows) {
    CAPTURE(row.payload);
    const Halo got = row.tile.z == 1 ? halo_2d(row.tile.x, row.tile.y, 1)
                                     : halo_3d(row.tile.x, row.tile.y, row.tile.z, 1);
    CHECK(got.payload == row.payload);
    CHECK(got.total == row.total);
    CHECK(got.border == row.border);
    CHECK(is(got.border_per_payload(), row.per_payload, row.digit));
    CHECK(is(got.border_per_total(), row.per_total, row.digit));
  }
  // X x X with a border of one: 4 X + 4 cells around.
  for (std::uint64_t x = 1; x < 100; ++x) CHECK(halo_2d(x, x, 1).border == 4 * x + 4);
}

TEST_CASE("what the article says of 3-D, on one denominator") {
  // "A hollow cube of 6 x 6 x 6 needs 216 loads": that is the whole cube, the hollow one has 152.
  CHECK(halo_3d(4, 4, 4, 1).total == 216);
  CHECK(halo_3d(4, 4, 4, 1).border == 152);
  // Its 70 % and 48 % are of the total, its 2-D percentages of the payload; and the second is 49.
  CHECK(std::lround(100 * halo_3d(4, 4, 4, 1).border_per_total()) == 70);
  CHECK(std::lround(100 * halo_3d(8, 8, 8, 1).border_per_total()) == 49);
  CHECK(std::lround(100 * halo_2d(8, 8, 1).border_per_payload()) == 56);
  CHECK(std::lround(100 * halo_2d(16, 16, 1).border_per_payload()) == 27);
  CHECK(std::lround(100 * halo_2d(32, 32, 1).border_per_payload()) == 13);
  // So 3-D tiles have more border at the same number of items, not less.
  CHECK(halo_3d(4, 4, 4, 1).border_per_payload() > 4 * halo_2d(8, 8, 1).border_per_payload());
  CHECK(halo_3d(8, 8, 8, 1).border_per_payload() > 4 * halo_2d(16, 32, 1).border_per_payload());
  // What is larger is the saving over direct reads.
  CHECK(halo_3d(4, 4, 4, 1).direct_loads() == 27);
  CHECK(halo_3d(4, 4, 4, 1).tile_loads() == 3.375);
  CHECK(halo_3d(4, 4, 4, 1).saving() == 8);
  CHECK(halo_3d(8, 8, 8, 1).tile_loads() == 1.953125);
  CHECK(halo_3d(8, 8, 8, 1).saving() == doctest::Approx(13.824));
  CHECK(halo_2d(8, 8, 1).direct_loads() == 9);
  CHECK(halo_2d(8, 8, 1).tile_loads() == 1.5625);
  CHECK(halo_2d(8, 8, 1).saving() == doctest::Approx(5.76));
  CHECK(halo_2d(16, 16, 1).saving() == doctest::Approx(7.111).epsilon(0.001));
  CHECK(halo_2d(32, 32, 1).saving() == doctest::Approx(7.972).epsilon(0.001));
}

TEST_CASE("any tile and radius, counted") {
  for (std::uint64_t x = 1; x <= 5; ++x) {
    for (std::uint64_t y = 1; y <= 4; ++y) {
      for (std::uint64_t z = 1; z <= 3; ++z) {
        for (std::uint64_t r = 0; r <= 3; ++r) {
          const Halo got = halo({x, y, z}, {r, 2, r + 1});
          std::uint64_t cells = 0;
          std::uint64_t inside = 0;
          for (std::uint64_t c = 0; c < z + 2 * (r + 1); ++c) {
            for (std::uint64_t b = 0; b < y + 4; ++b) {
              for (std::uint64_t a = 0; a < x + 2 * r; ++a) {
                ++cells;
                inside += a >= r && a < r + x && b >= 2 && b < 2 + y && c > r && c < r + 1 + z;
              }
            }
          }
          CHECK(got.total == cells);
          CHECK(got.payload == inside);
          CHECK(got.border == cells - inside);
          CHECK(got.neighbourhood == (2 * r + 1) * 5 * (2 * r + 3));
        }
      }
    }
  }
  CHECK(halo_2d(8, 8, 0).border == 0);
  CHECK(halo_2d(8, 8, 0).saving() == 1);
}

TEST_CASE("counts beyond what a float holds are divided exactly") {
  Halo h;
  h.payload = (1u << 24) + 1;
  h.border = (1u << 24) + 3;
  h.total = h.payload + h.border + 1;
  CHECK(h.border_per_payload() == 16777219.0 / 16777217.0);
  CHECK(h.border_per_total() == 16777219.0 / 33554437.0);
  CHECK(h.tile_loads() == 33554437.0 / 16777217.0);
}

TEST_CASE("bad tiles") {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  CHECK_THROWS_WITH(halo_2d(0, 8, 1), "halo: every side of a tile must be at least 1, got 0");
  CHECK_THROWS_AS(halo_3d(8, 8, 0, 1), std::invalid_argument);
  CHECK_THROWS_AS(halo_2d(most, most, 0), std::invalid_argument);
  CHECK_THROWS_AS(halo_2d(8, 8, most), std::invalid_argument);
  CHECK_THROWS_AS(halo_2d(most, 1, 1), std::invalid_argument);
  CHECK(halo_2d(most, 1, 0).payload == most);
}
