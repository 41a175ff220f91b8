// The orders of work-groups: bijections on every grid; the cache model; the footprints.
#include <clcook/model/swizzle.hpp>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "support/grid.hpp"
#include "support/testing.hpp"

using namespace clcook::model;
using clcook::testing::contains;

namespace {

constexpr std::uint32_t kWidths[] = {1, 2, 4, 8, 16, 32};

std::vector<SwizzleOrder> orders() {
  std::vector<SwizzleOrder> out;
  for (const SwizzleRow& row : kSwizzles) {
    if (!row.has_width) out.push_back({row.kind, 1, 1});
  }
  out.push_back({SwizzleKind::row_major, 1, 8});
  out.push_back({SwizzleKind::columns, 8, 6});
  for (const std::uint32_t width : kWidths) out.push_back({SwizzleKind::columns, width, 1});
  return out;
}

// Ids that do not come back from their place. None: as many places as ids, so a bijection.
long losses(const SwizzleOrder& order, const GroupGrid& grid) {
  long out = 0;
  for (std::uint32_t id = 0; id < grid.count(); ++id) {
    const GroupPlace at = swizzle(order, id, grid);
    out += at.x >= grid.x || at.y >= grid.y || unswizzle(order, at, grid) != id;
  }
  return out;
}

// The order as it was published for HLSL: lossy where the grid is narrower than the strips.
GroupPlace published(std::uint32_t id, const GroupGrid& grid, std::uint32_t width) {
  const std::uint32_t per_tile = width * grid.y;
  const std::uint32_t full = grid.x / width;
  const std::uint32_t last = full * width * grid.y - 1;
  const std::uint32_t tile = id / per_tile;
  const std::uint32_t local = id % per_tile;
  std::uint32_t y = local / width;
  std::uint32_t x = local % width;
  if (last < id) {
    const std::uint32_t rest = grid.x % width;
    if (rest > 0) {
      y = local / rest;
      x = local % rest;
    }
  }
  const std::uint32_t flat = tile * width + y * grid.x + x;
  return {flat % grid.x, flat / grid.x};
}

// Compile-time use.
static_assert(swizzle_columns(16, {10, 4}, 4) == GroupPlace{4, 0});
static_assert(swizzle_morton(3, {4, 4}) == GroupPlace{1, 1});
static_assert(unswizzle_hilbert(swizzle_hilbert(17, {9, 7}), {9, 7}) == 17);

}  // namespace

LONG_TEST_CASE("every order is a bijection on every grid up to 64 x 64", 32) {
  for (const SwizzleOrder& order : orders()) {
    CAPTURE(to_string(order));
    long lost = 0;
    for (std::uint32_t x = 1; x <= 64; ++x) {
      for (std::uint32_t y = 1; y <= 64; ++y) lost += losses(order, {x, y});
    }
    CHECK(lost == 0);
  }
}

TEST_CASE("long, prime and large grids") {
  const GroupGrid grids[] = {{1, 4093},  {4093, 1},  {2, 2039},  {1021, 3},
                             {127, 131}, {320, 180}, {255, 257}, {65, 63}};
  for (SwizzleOrder order : orders()) {
    for (const std::uint32_t chiplets : {1U, 3U, 8U, 5000U}) {
      order.chiplets = chiplets;
      CAPTURE(to_string(order));
      for (const GroupGrid& grid : grids) CHECK(losses(order, grid) == 0);
    }
    order.chiplets = 7;
    order.width = 4294967295U;
    for (const GroupGrid& grid : {GroupGrid{4294967295U, 1}, GroupGrid{1, 4294967295U},
                                  GroupGrid{65537, 65535}, GroupGrid{2147483647, 2}}) {
      for (std::uint32_t i = 0; i < 2000; ++i) {
        const std::uint32_t id =
            i < 1000 ? i * 4294967U : grid.count() - 1 - (i - 1000) * (i - 1000);
        if (id >= grid.count()) continue;
        const GroupPlace at = swizzle(order, id, grid);
        REQUIRE(at.x < grid.x);
        REQUIRE(at.y < grid.y);
        REQUIRE(unswizzle(order, at, grid) == id);
      }
    }
  }
}

TEST_CASE("strips: the order itself") {
  const std::uint32_t expected[4][10] = {{0, 1, 2, 3, 16, 17, 18, 19, 32, 33},
                                         {4, 5, 6, 7, 20, 21, 22, 23, 34, 35},
                                         {8, 9, 10, 11, 24, 25, 26, 27, 36, 37},
                                         {12, 13, 14, 15, 28, 29, 30, 31, 38, 39}};
  for (std::uint32_t y = 0; y < 4; ++y) {
    for (std::uint32_t x = 0; x < 10; ++x)
      CHECK(unswizzle_columns({x, y}, {10, 4}, 4) == expected[y][x]);
  }
  // Width 1 is column by column; the grid's width or more is row by row.
  for (std::uint32_t id = 0; id < 35; ++id) {
    CHECK(swizzle_columns(id, {7, 5}, 1) == GroupPlace{id / 5, id % 5});
    CHECK(swizzle_columns(id, {7, 5}, 7) == swizzle_row_major(id, {7, 5}));
    CHECK(swizzle_columns(id, {7, 5}, 99) == swizzle_row_major(id, {7, 5}));
  }
}

LONG_TEST_CASE("strips as published lose groups exactly where the grid is narrower than a strip",
               16) {
  struct Row {
    std::uint32_t width;
    int grids;
    long lost;
    long most;
    GroupGrid worst;
  };
  const Row rows[] = {{1, 0, 0, 0, {0, 0}},           {2, 62, 992, 31, {1, 63}},
                      {4, 185, 4899, 62, {2, 63}},    {8, 429, 20413, 124, {4, 63}},
                      {16, 911, 82274, 248, {8, 63}}, {32, 1866, 329461, 496, {16, 63}}};
  for (const Row& row : rows) {
    int failing = 0;
    int unexpected = 0;
    int different = 0;
    long lost = 0;
    long most = 0;
    GroupGrid worst{0, 0};
    for (std::uint32_t x = 1; x <= 64; ++x) {
      for (std::uint32_t y = 1; y <= 64; ++y) {
        std::vector<char> seen(std::size_t{x} * y, 0);
        bool equal = true;
        for (std::uint32_t id = 0; id < x * y; ++id) {
          const GroupPlace at = published(id, {x, y}, row.width);
          if (at.x < x && at.y < y) seen[std::size_t{at.y} * x + at.x] = 1;
          equal = equal && at == swizzle_columns(id, {x, y}, row.width);
        }
        long missing = 0;
        for (const char one : seen) missing += one == 0;
        const bool narrow = x < row.width && x * y > row.width;
        failing += missing > 0;
        unexpected += (missing > 0) != narrow;
        different += !equal && missing == 0;
        lost += missing;
        if (missing > most) {
          most = missing;
          worst = {x, y};
        }
      }
    }
    CAPTURE(row.width);
    CHECK(failing == row.grids);
    CHECK(unexpected == 0);
    CHECK(different == 0);  // where it is right, it is the same order
    CHECK(lost == row.lost);
    CHECK(most == row.most);
    CHECK(worst.x == row.worst.x);
    CHECK(worst.y == row.worst.y);
  }
  // The smallest picture of it.
  CHECK(published(3, {3, 4}, 4) == published(4, {3, 4}, 4));
  CHECK(published(7, {3, 4}, 4) == published(8, {3, 4}, 4));
}

TEST_CASE("Morton is Z order on squares of powers of two") {
  for (const std::uint32_t side : {1U, 2U, 8U, 32U}) {
    for (std::uint32_t id = 0; id < side * side; ++id) {
      GroupPlace at;
      for (unsigned bit = 0; bit < 16; ++bit) {
        at.x |= (id >> (2 * bit) & 1U) << bit;
        at.y |= (id >> (2 * bit + 1) & 1U) << bit;
      }
      CHECK(swizzle_morton(id, {side, side}) == at);
    }
  }
  // Elsewhere the same order with the places outside left out.
  std::uint32_t id = 0;
  for (std::uint32_t all = 0; all < 256; ++all) {
    const GroupPlace at = swizzle_morton(all, {16, 16});
    if (at.x < 11 && at.y < 5) CHECK(swizzle_morton(id++, {11, 5}) == at);
  }
  CHECK(id == 55);
}

TEST_CASE("Hilbert goes from neighbour to neighbour") {
  int diagonals = 0;
  for (std::uint32_t x = 1; x <= 64; ++x) {
    for (std::uint32_t y = 1; y <= 64; ++y) {
      GroupPlace last = swizzle_hilbert(0, {x, y});
      REQUIRE(last == GroupPlace{0, 0});
      int here = 0;
      for (std::uint32_t id = 1; id < x * y; ++id) {
        const GroupPlace at = swizzle_hilbert(id, {x, y});
        const auto step = [](std::uint32_t a, std::uint32_t b) {
          return std::abs(static_cast<int>(a) - static_cast<int>(b));
        };
        const int dx = step(at.x, last.x);
        const int dy = step(at.y, last.y);
        if (dx > 1 || dy > 1) FAIL("a jump in ", x, " x ", y, " at ", id);
        here += dx + dy == 2;
        last = at;
      }
      const bool odd_by_even = std::max(x, y) % 2 == 1 && std::min(x, y) % 2 == 0;
      if (here > (odd_by_even ? 1 : 0)) FAIL("diagonal steps in ", x, " x ", y);
      diagonals += here;
    }
  }
  CHECK(diagonals > 0);
}

TEST_CASE("chiplets get contiguous runs") {
  for (const std::uint32_t count : {1U, 7U, 64U, 65U, 1000U}) {
    for (const std::uint32_t chiplets : {1U, 2U, 6U, 8U}) {
      for (std::uint32_t id = 0; id + chiplets < count; ++id) {
        // The next group of the same chiplet is the next of its run.
        CHECK(swizzle_chiplets(id + chiplets, count, chiplets) ==
              swizzle_chiplets(id, count, chiplets) + 1);
      }
    }
  }
  CHECK(swizzle_chiplets(1, 10, 4) == 3);  // runs of 3, 3, 2, 2
  CHECK(swizzle_chiplets(3, 10, 4) == 8);
}

TEST_CASE("groups that run together touch fewer tiles") {
  // Tiles touched by W consecutive groups with a border of h, mean over a grid of 320 x 180.
  struct Row {
    std::uint32_t halo, resident;
    double row_major, by_width[4];  // 32, 16, 8, 4
  };
  const Row rows[] = {{1, 128, 388, {203, 180, 180, 204}},
                      {1, 512, 1147, {609, 610, 657, 777}},
                      {2, 512, 1778, {713, 714, 810, 1049}},
                      {4, 512, 3035, {941, 945, 1138, 1617}},
                      {4, 1056, 3586, {1609, 1752, 2221, 2514}}};
  const std::uint32_t widths[] = {32, 16, 8, 4};
  for (const Row& row : rows) {
    CAPTURE(row.halo);
    CAPTURE(row.resident);
    const auto mean = [&](const SwizzleOrder& order) {
      return mean_footprint(order, {320, 180}, row.resident, row.halo);
    };
    // The table's means are over other windows: 1 % apart.
    CHECK(mean({}) == doctest::Approx(row.row_major).epsilon(0.01));
    for (int i = 0; i < 4; ++i) {
      CAPTURE(widths[i]);
      CHECK(mean({SwizzleKind::columns, widths[i], 1}) ==
            doctest::Approx(row.by_width[i]).epsilon(0.01));
    }
    CHECK(mean({SwizzleKind::morton, 1, 1}) < mean({}));
    CHECK(mean({SwizzleKind::hilbert, 1, 1}) < mean({}));
  }
  CHECK(mean_footprint({}, {4, 4}, 1, 0) == 1);
  CHECK(mean_footprint({}, {4, 4}, 100, 0) == 16);
  CHECK(mean_footprint({}, {4, 4}, 1, 100) == 16);
}

TEST_CASE("the cache: sets, ways and age") {
  LruCache cache({4 * 64, 2, 64});  // 2 sets of 2 lines
  CHECK_FALSE(cache.read(0));
  CHECK(cache.read(63));
  CHECK_FALSE(cache.read(64));   // the other set
  CHECK_FALSE(cache.read(128));  // set 0, second way
  CHECK(cache.read(1));
  CHECK_FALSE(cache.read(256));  // set 0: pushes 128 out, the older
  CHECK(cache.read(2));
  CHECK_FALSE(cache.read(130));
  CHECK(cache.read(65));
  CHECK(cache.hits() == 4);
  CHECK(cache.misses() == 5);
  // Sets need be no power of two; a cycle of one line more than fits never hits, one that fits
  // does.
  for (const std::uint64_t lines : {11U, 12U, 13U}) {
    LruCache full({12 * 32, 12, 32});
    for (int round = 0; round < 3; ++round) {
      for (std::uint64_t line = 0; line < lines; ++line) full.read(line * 32);
    }
    CHECK(full.hits() == (lines <= 12 ? 2 * lines : 0));
  }
  for (const CacheShape& bad : {CacheShape{0, 2, 64}, CacheShape{100, 2, 64},
                                CacheShape{128, 0, 64}, CacheShape{128, 2, 0}}) {
    CHECK_THROWS_AS(LruCache{bad}, std::invalid_argument);
  }
}

TEST_CASE("the predicted hit rate") {
  // Each group reads its own line and those of its neighbours in a cross.
  const GroupGrid grid{64, 64};
  const auto cross = [&](const GroupPlace& at, std::uint32_t step) -> std::int64_t {
    const int x = static_cast<int>(at.x) + (step == 1 ? -1 : step == 2 ? 1 : 0);
    const int y = static_cast<int>(at.y) + (step == 3 ? -1 : step == 4 ? 1 : 0);
    return x < 0 || y < 0 || x > 63 || y > 63 ? -1 : 128 * (64 * std::int64_t{y} + x);
  };
  const auto rate = [&](std::uint64_t lines, const SwizzleOrder& order, std::uint32_t resident,
                        std::uint32_t chiplets = 1) {
    return predict_cache({lines * 128, 8, 128}, order, grid, resident, 5, cross, chiplets);
  };
  // Every line misses once when all fit; then the order is indifferent.
  const SwizzleOrder strips{SwizzleKind::columns, 8, 1};
  CHECK(rate(4096, {}, 32).misses == 4096);
  CHECK(rate(4096, strips, 32).misses == 4096);
  CHECK(rate(4096, {}, 32).hits + 4096 == 5 * 4096 - 4 * 64);
  // A cache that holds less than two rows of the grid: strips win.
  CHECK(rate(96, strips, 32).hit_rate() > rate(96, {}, 32).hit_rate() + 0.1);
  CHECK(rate(96, {SwizzleKind::hilbert, 1, 1}, 32).hit_rate() > rate(96, {}, 32).hit_rate() + 0.1);
  // Of no use for groups that share nothing.
  const auto own = [&](const GroupPlace& at, std::uint32_t) -> std::int64_t {
    return 128 * (64 * std::int64_t{at.y} + at.x);
  };
  for (const SwizzleOrder& order : orders())
    CHECK(predict_cache({64 * 128, 8, 128}, order, grid, 32, 1, own).hits == 0);
  // Chiplets: in turn, each cache sees every line of its neighbours; in runs it does not.
  SwizzleOrder runs = strips;
  runs.chiplets = 8;
  CHECK(rate(256, runs, 128, 8).hit_rate() > rate(256, strips, 128, 8).hit_rate() + 0.2);
  CHECK(CachePrediction{}.hit_rate() == 0);
}

TEST_CASE("bad grids, ids and widths") {
  const auto message = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  for (const SwizzleOrder& order : orders()) {
    CAPTURE(to_string(order));
    CHECK(contains(message([&] { swizzle(order, 0, {0, 5}); }), "got 0 x 5"));
    CHECK(contains(message([&] { swizzle(order, 0, {5, 0}); }), "got 5 x 0"));
    CHECK(contains(message([&] { swizzle(order, 0, {65536, 65536}); }), "got 65536 x 65536"));
    CHECK(contains(message([&] { swizzle(order, 15, {3, 5}); }), "less than 15, got 15"));
    CHECK(contains(message([&] { unswizzle(order, {3, 0}, {3, 5}); }), "(3, 0) is outside"));
    CHECK(contains(message([&] { unswizzle(order, {0, 5}, {3, 5}); }), "(0, 5) is outside"));
    CHECK(contains(message([&] { unswizzle(order, {0, 0}, {0, 0}); }), "got 0 x 0"));
    CHECK(contains(message([&] { mean_footprint(order, {0, 1}, 1, 0); }), "got 0 x 1"));
    CHECK(contains(message([&] { mean_footprint(order, {1, 1}, 0, 0); }), "at least 1, got 0"));
  }
  CHECK(contains(message([&] { swizzle_columns(0, {3, 5}, 0); }), "width"));
  CHECK(contains(message([&] { swizzle_chiplets(0, 3, 0); }), "chiplets"));
  CHECK(contains(message([&] { swizzle_chiplets(3, 3, 2); }), "got 3"));
}
