// The lane-mask model of divergence.
#include <clcook/model/lanes.hpp>
#include <clcook/registry/random.hpp>

#include "support/testing.hpp"

using namespace clcook;
using model::lane_mask_cost;
using model::LaneMasks;

TEST_CASE("work-items in lock-step pay for every segment that one of them takes") {
  // Segment 0 costs 1 and is taken by all; 1 and 2 are the sides of a branch.
  const LaneMasks masks{{0b011, 0b011, 0b101, 0b011}, {1, 10, 100}};
  CHECK(lane_mask_cost(masks, 1) == 11 + 11 + 101 + 11);
  CHECK(lane_mask_cost(masks, 2) == 2 * (11 + 111));
  CHECK(lane_mask_cost(masks, 4) == 4 * 111);
  CHECK(lane_mask_cost(masks, 64) == 64 * 111);
  CHECK(lane_mask_cost(masks, 3) == 3 * (111 + 11));
  CHECK(lane_mask_cost({{}, {1}}, 32) == 0);
}

TEST_CASE("a wider lock-step never costs less, and nothing where the paths agree") {
  Random random(7);
  for (int round = 0; round < 50; ++round) {
    LaneMasks masks;
    masks.cost = {1, 2, 3, 5};
    const bool coherent = round % 5 == 0;
    for (int i = 0; i < 256; ++i)
      masks.taken.push_back(coherent ? 0b1010 : static_cast<std::uint64_t>(random.below(16)));
    double last = lane_mask_cost(masks, 1);
    if (coherent) CHECK(last == 256 * 7);
    for (std::size_t width = 2; width <= 256; width *= 2) {
      const double cost = lane_mask_cost(masks, width);
      CHECK(cost >= last);
      if (coherent) CHECK(cost == last);
      last = cost;
    }
  }
}

TEST_CASE("what the model cannot take is refused with the value") {
  CHECK_THROWS_WITH(lane_mask_cost({{1}, {1}}, 0),
                    "lane_mask_cost: width must be at least 1, got 0");
  CHECK_THROWS_WITH(lane_mask_cost({{1}, std::vector<double>(65, 1)}, 32),
                    "lane_mask_cost: at most 64 segments, got 65");
  CHECK_THROWS_WITH(lane_mask_cost({{0b100}, {1, 1}}, 1),
                    "lane_mask_cost: segment 2 of 2 is taken");
}
