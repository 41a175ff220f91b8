// What the generic conformance test cannot know about regroup: the list for a user's kernels, the
// caller's own function, the data generator, and what is refused.
#include <doctest/doctest.h>

#include <algorithm>
#include <clcook/cookbook/regroup.hpp>
#include <clcook/reference/regroup.hpp>
#include <clcook/regroup.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "support/grid.hpp"
#include "support/testing.hpp"

namespace {

namespace card = clcook::cookbook::regroup_card;
namespace ref = clcook::reference::regroup;
using namespace clcook;
using namespace clcook::testing;

constexpr std::uint32_t kUntouched = 0xCDCDCDCDu;

// As far as defaults ask.
DeviceInfo h200() {
  DeviceInfo out;
  out.gpu = true;
  out.compute_units = 132;
  return out;
}

Regroup::Problem problem_of(std::size_t items, int paths) {
  Regroup::Problem out;
  out.items = items;
  out.paths = paths;
  return out;
}

struct Listed {
  std::vector<std::uint32_t> order;  // as many as there are items
  std::vector<std::uint32_t> offsets;
};

// `first`: elements before each view.
Listed list(const std::vector<std::uint32_t>& keys, int paths, int key_bytes, int group = 0,
            std::size_t first = 0) {
  const RegroupOrder sort{runtime(), {keys.size(), paths, key_bytes}, {}, {group}};
  std::vector<unsigned char> stored(first * static_cast<std::size_t>(key_bytes));
  for (const std::uint32_t key : keys) {
    for (int b = 0; b < key_bytes; ++b) stored.push_back(static_cast<unsigned char>(key >> 8 * b));
  }
  const auto count = static_cast<std::size_t>(paths) + 1;
  const cl::Buffer from = upload(stored);
  const cl::Buffer order = upload(std::vector<std::uint32_t>(keys.size() + first, kUntouched));
  const cl::Buffer offsets = upload(std::vector<std::uint32_t>(count + first, kUntouched));
  const cl::Event done = sort(BufferView(from, first * static_cast<std::size_t>(key_bytes)),
                              BufferView(order, first * 4), BufferView(offsets, first * 4));
  Listed out{read_buffer<std::uint32_t>(runtime(), order, keys.size() + first, {done}),
             read_buffer<std::uint32_t>(runtime(), offsets, count + first, {done})};
  for (auto* one : {&out.order, &out.offsets}) {
    for (std::size_t i = 0; i < first; ++i) CHECK((*one)[i] == kUntouched);
    one->erase(one->begin(), one->begin() + static_cast<std::ptrdiff_t>(first));
  }
  return out;
}

void check_list(const std::vector<std::uint32_t>& keys, int paths, const Listed& got) {
  const auto number = static_cast<std::uint32_t>(paths);
  const std::vector<std::uint32_t> expected = ref::order(keys, number);
  REQUIRE(got.order.size() == keys.size());
  CHECK(std::equal(expected.begin(), expected.end(), got.order.begin()));
  CHECK(std::all_of(got.order.begin() + static_cast<std::ptrdiff_t>(expected.size()),
                    got.order.end(), [](std::uint32_t one) { return one == kUntouched; }));
  std::uint32_t begin = 0;
  for (std::uint32_t path = 0; path <= number; ++path) {
    CHECK(got.offsets[path] == begin);
    if (path < number)
      begin += static_cast<std::uint32_t>(std::count(keys.begin(), keys.end(), path));
  }
}

std::vector<std::uint32_t> keys_of(const std::string& shape, std::uint64_t seed = 1) {
  return card::keys(card::read(cookbook::regroup().check_shape(Params::parse(shape))), seed);
}

}  // namespace

LONG_TEST_CASE("order: every item once, by key, those of one key in their order", 32) {
  for (const int group : {0, 32, 128, 256}) {
    for (const int paths : {2, 3, 8, 31, 32}) {
      for (const std::size_t items :
           std::initializer_list<std::size_t>{1, 15, 16, 17, 511, 512, 513, 4096, 70001}) {
        CAPTURE(group);
        CAPTURE(paths);
        CAPTURE(items);
        if (group != 0 && items > 600) continue;
        const auto keys = keys_of(clcook::text("items=", items, " paths=", paths, " random=100"));
        check_list(keys, paths, list(keys, paths, 1, group));
      }
    }
  }
}

LONG_TEST_CASE("order: keys that are no path are left out, whatever they are", 16) {
  for (const int key_bytes : {1, 4}) {
    for (const int stray : {1, 50, 100}) {
      for (const std::size_t first : std::initializer_list<std::size_t>{0, 1, 16}) {
        CAPTURE(key_bytes);
        CAPTURE(stray);
        CAPTURE(first);
        const auto keys = keys_of(clcook::text("items=2077 paths=5 random=60 run=9 stray=", stray,
                                               " key_bytes=", key_bytes));
        check_list(keys, 5, list(keys, 5, key_bytes, 0, first));
      }
    }
  }
}

LONG_TEST_CASE("order: one path has all items, or every second", 16) {
  const std::vector<std::uint32_t> last(5000, 31);
  check_list(last, 32, list(last, 32, 1));
  std::vector<std::uint32_t> second(5000);
  for (std::size_t i = 0; i < second.size(); ++i) second[i] = i % 2 == 0 ? 0 : 31;
  check_list(second, 32, list(second, 32, 4));
}

LONG_TEST_CASE("order: calls of one plan do not disturb each other", 16) {
  const auto keys = keys_of("items=9001 paths=12 random=100");
  const RegroupOrder sort{runtime(), {keys.size(), 12}};
  std::vector<unsigned char> stored(keys.begin(), keys.end());
  const cl::Buffer from = upload(stored);
  std::vector<cl::Buffer> orders, offsets;
  std::vector<cl::Event> done;
  for (int i = 0; i < 3; ++i) {
    orders.push_back(upload(std::vector<std::uint32_t>(keys.size(), kUntouched)));
    offsets.push_back(upload(std::vector<std::uint32_t>(13, kUntouched)));
    done.push_back(sort(from, orders.back(), offsets.back()));
  }
  for (std::size_t i = 0; i < 3; ++i) {
    check_list(keys, 12,
               {read_buffer<std::uint32_t>(runtime(), orders[i], keys.size(), {done[i]}),
                read_buffer<std::uint32_t>(runtime(), offsets[i], 13, {done[i]})});
  }
}

LONG_TEST_CASE("a user's function runs in every variant that takes one", 16) {
  // Exact, with a path for each key that the others would show.
  const char* const text =
      "static inline float4 clcook_path_function(int path, uint4 item, float4 parameters) {\n"
      "  const float x = (float)item.x;\n"
      "  switch (path) {\n"
      "    case 0: return (float4)(x, 0, 0, parameters.w);\n"
      "    case 1: return (float4)(0, x + 1, 0, parameters.w);\n"
      "    case 2: return (float4)(0, 0, 2 * x, parameters.w);\n"
      "  }\n"
      "  return (float4)(-1.0f);\n"
      "}\n";
  const std::size_t count = 1111;
  std::vector<std::uint8_t> keys(count);
  std::vector<std::uint32_t> items(4 * count);
  for (std::size_t i = 0; i < count; ++i) {
    keys[i] = static_cast<std::uint8_t>(i * 7 % 5);  // 3 and 4 are no paths
    items[4 * i] = static_cast<std::uint32_t>(i);
  }
  Regroup::Problem problem;
  problem.items = count;
  problem.paths = 3;
  problem.parameters[3] = 8.5f;
  problem.function = {"mine/paths.clh", text};
  int ran = 0;
  for (const Regroup::Row& row : Regroup::variants()) {
    CAPTURE(row.name);
    if (!Regroup::Posed(problem).offer(runtime(), row).can()) continue;
    ++ran;
    const cl::Buffer results = upload(std::vector<float>(4 * count, -7));
    const Regroup shade{runtime(), problem, row};
    const auto got = read_buffer<float>(runtime(), results, 4 * count,
                                        {shade(upload(keys), upload(items), results)});
    for (std::size_t i = 0; i < count; ++i) {
      const auto x = static_cast<float>(i);
      const float all[5][4] = {{x, 0, 0, 8.5f},
                               {0, x + 1, 0, 8.5f},
                               {0, 0, 2 * x, 8.5f},
                               {-7, -7, -7, -7},
                               {-7, -7, -7, -7}};
      for (std::size_t c = 0; c < 4; ++c) REQUIRE(got[4 * i + c] == all[keys[i]][c]);
    }
  }
  CHECK(ran == 6);
  CHECK(Regroup{runtime(), problem}.variant() != Regroup::Variant("cpu_lanes"));
  const auto lanes = [&] { Regroup(runtime(), problem, "cpu_lanes"); };
  CHECK(error_of(lanes).code == Errc::unsupported);
}

TEST_CASE("own functions that do not compile, and names that are none, are refused") {
  Regroup::Problem problem;
  problem.items = 8;
  problem.paths = 2;
  problem.function = {"bad.clh", "static inline float4 clcook_path_function(int path) {"};
  const auto make = [&] { Regroup(runtime(), problem, "branchy"); };
  CHECK(error_of(make).code == Errc::build_failed);
  CHECK(contains(error_of(make).build_log, "bad.clh"));
  for (const char* name : {"", "a\"b", "clcook/bin.clh", "regroup.cl"}) {
    CAPTURE(name);
    problem.function.name = name;
    CHECK(error_of(make).code == Errc::invalid_argument);
  }
  problem.function = {"name.clh", ""};
  CHECK(error_of(make).code == Errc::invalid_argument);
}

TEST_CASE("values out of range are refused, with value and rule") {
  const auto refused = [](Regroup::Problem problem, const std::string& value) {
    check_refused([&] { Regroup(runtime(), problem); }, value);
  };
  Regroup::Problem good;
  good.items = 8;
  good.paths = 2;
  for (const int paths : {1, 33})
    check_refused([&] { RegroupOrder(runtime(), {8, paths}); }, "paths must be 2 to 32, got ");
  Regroup::Problem bad = good;
  bad.key_bytes = 2;
  refused(bad, "2");
  bad = good;
  bad.parameters[1] = std::numeric_limits<float>::quiet_NaN();
  refused(bad, "nan");
  bad = good;
  bad.parameters[0] = 2;
  refused(bad, "unit vector");
  for (const int group : {1, 33, 512}) {
    const auto make = [&] { Regroup(runtime(), good, "branchy", {group}); };
    CHECK(error_of(make).code == Errc::invalid_argument);
    const auto order = [&] { RegroupOrder(runtime(), {8, 2}, {}, {group}); };
    CHECK(error_of(order).code == Errc::invalid_argument);
  }
}

TEST_CASE("all paths for every item is offered for few paths only") {
  Regroup::Problem problem;
  problem.items = 8;
  problem.paths = clcook::regroup::kMaxFreePaths;
  const Regroup::Row& row = *Regroup::Variant("branch_free").row();
  CHECK(Regroup::Posed(problem).offer(runtime(), row).can());
  ++problem.paths;
  const clcook::Offer offer = Regroup::Posed(problem).offer(runtime(), row);
  CHECK(offer.lacks == Lacks::problem);
  CHECK(contains(offer.why, "9"));
}

TEST_CASE(
    "a number of items to sort is refused that no kernel takes, or by a variant that sorts none") {
  const auto refused = [](const char* variant, int per_item, const std::string& value) {
    check_refused([&] { Regroup(runtime(), problem_of(8, 2), variant, {64, per_item}); }, value);
  };
  refused("sorted_groups", 3, "got 3");
  refused("sorted_groups", 32, "got 32");
  refused("sorted_groups", -2, "got -2");
  refused("branchy", 4, "per_item of branchy must be 0, got 4");
  CHECK(Regroup(runtime(), problem_of(8, 2), "sorted_groups", {64, 4}).tune().per_item == 4);
}

TEST_CASE("an order's views that are too small or overlap are refused") {
  const cl::Buffer keys = upload(std::vector<std::uint8_t>(64));
  const RegroupOrder sort{runtime(), {64, 4}};
  const cl::Buffer order = upload(std::vector<std::uint32_t>(64));
  const cl::Buffer offsets = upload(std::vector<std::uint32_t>(5));
  const cl::Buffer few = upload(std::vector<std::uint32_t>(4));
  CHECK(error_of([&] { sort(keys, order, few); }).code == Errc::invalid_argument);
  CHECK(error_of([&] { sort(keys, order, order); }).code == Errc::invalid_argument);
  CHECK(error_of([&] { sort(order, order, offsets); }).code == Errc::invalid_argument);
  CHECK(error_of([&] { sort(keys, offsets, order); }).code == Errc::invalid_argument);
}

TEST_CASE("data: the share of random paths, and runs without them") {
  const auto runs = keys_of("items=10000 paths=32 run=100");
  std::size_t changes = 0;
  for (std::size_t i = 1; i < runs.size(); ++i) {
    changes += runs[i] != runs[i - 1];
    if (i % 100 != 0) CHECK(runs[i] == runs[i - 1]);
  }
  CHECK(changes > 80);
  const auto some = keys_of("items=100000 paths=32 random=10 run=100000");
  const auto others = std::count_if(some.begin(), some.end(),
                                    [&](std::uint32_t one) { return one != some[50000]; });
  CHECK(others > 8700);
  CHECK(others < 11000);
}

TEST_CASE("few items of few paths are not sorted, but on CPUs") {
  DeviceInfo device = h200();
  std::string function;
  const auto problem = [&](std::size_t items, int paths) {
    Regroup::Problem p = problem_of(items, paths);
    p.function.text = function;
    return p;
  };
  const auto is_short = [&](std::size_t items, int paths) {
    return Regroup::Spec::is_short(problem(items, paths), device);
  };
  const auto is_tiny = [&](std::size_t items, int paths) {
    return Regroup::Spec::is_tiny(problem(items, paths), device);
  };
  CHECK(is_short(1, 2));
  CHECK(is_short(17455, 3));
  CHECK(is_short(222750, 2));
  CHECK_FALSE(is_short(222751, 2));
  CHECK_FALSE(is_short(159406, 3));
  CHECK(is_short(13921, 8));
  CHECK_FALSE(is_short(103032, 4));
  CHECK_FALSE(is_short(1422, 12));
  CHECK_FALSE(is_short(2291854, 14));
  CHECK(is_tiny(15840, 2));
  CHECK_FALSE(is_tiny(15841, 2));
  CHECK_FALSE(is_tiny(14000, 8));
  SUBCASE("the paths of others may be longer") {
    function = "float4 regroup_function(uint path, float4 item, float4 parameters);";
    CHECK(is_short(29700, 2));
    CHECK_FALSE(is_short(29701, 2));
    CHECK_FALSE(is_short(19900, 3));
    CHECK_FALSE(is_tiny(1, 2));
  }
  SUBCASE("on CPUs") {
    device.cpu = true;
    CHECK_FALSE(is_short(17455, 3));
    CHECK_FALSE(is_tiny(1, 2));
  }
}

TEST_CASE("a group sorts some 64 items of each path, and fewer where compute units would be idle") {
  DeviceInfo device = h200();
  const auto window = [&](std::size_t items, int paths) {
    const Regroup::Tune tune = Regroup::Spec::sorting(problem_of(items, paths), device);
    return std::pair(tune.group, tune.per_item);
  };
  const std::size_t many = 4194304;
  CHECK(window(many, 2) == std::pair(128, 4));
  CHECK(window(many, 8) == std::pair(128, 4));
  CHECK(window(many, 9) == std::pair(128, 8));
  CHECK(window(many, 16) == std::pair(128, 8));
  CHECK(window(many, 17) == std::pair(256, 8));
  CHECK(window(many, 32) == std::pair(256, 8));
  CHECK(window(200000, 32) == std::pair(256, 4));
  CHECK(window(100000, 32) == std::pair(256, 4));
  CHECK(window(33792, 17) == std::pair(256, 4));
  CHECK(window(33791, 17) == std::pair(256, 2));
  CHECK(window(8448, 17) == std::pair(256, 2));
  CHECK(window(8447, 17) == std::pair(128, 2));
  CHECK(window(60000, 16) == std::pair(128, 2));
  CHECK(window(1, 2) == std::pair(128, 2));
  device.cpu = true;
  CHECK(window(1, 2) == std::pair(64, 16));
}

TEST_CASE("model: regrouping costs what its paths cost, a branch up to all of them") {
  const auto cost = [](const char* variant, const char* shape, std::size_t width) {
    return clcook::model::lane_mask_cost(
        card::lanes(variant, cookbook::regroup().check_shape(Params::parse(shape)), 1), width);
  };
  const char* const coherent = "items=65536 paths=8 random=0";
  const char* const random = "items=65536 paths=8 random=100";
  CHECK(cost("branchy", random, 32) > 4 * cost("binned", random, 32));
  CHECK(cost("branchy", random, 32) > 3 * cost("sorted_groups", random, 32));
  CHECK(cost("branchy", coherent, 32) < cost("sorted_groups", coherent, 32));
  CHECK(cost("branchy", random, 1) < cost("binned", random, 1));
  CHECK(cost("branch_free", coherent, 32) == cost("branch_free", random, 32));
  CHECK(cost("branch_free", random, 32) >= cost("branchy", random, 32));
}

TEST_CASE("reference: patterns lie in 0 to 1, and materials differ") {
  for (int material = 0; material < 32; ++material) {
    CAPTURE(material);
    CHECK(card::pattern_bound(material) < 3e-6);
    double other = 0;
    for (std::uint32_t i = 0; i < 200; ++i) {
      const double one = ref::pattern(material, i * 977 % 65536, i * 3911 % 65536, 5);
      CHECK(one >= 0);
      CHECK(one <= 1);
      other +=
          std::abs(one - ref::pattern((material + 8) % 32, i * 977 % 65536, i * 3911 % 65536, 5));
    }
    CHECK(other > 1);
  }
}

TEST_CASE("reference: the noise meets at the borders of cells") {
  for (std::uint32_t v = 0; v < 65536; v += 1031) {
    CHECK(ref::noise(4095, v, 9) == doctest::Approx(ref::noise(4096, v, 9)).epsilon(1e-5));
    CHECK(ref::noise(v, 8191, 9) == doctest::Approx(ref::noise(v, 8192, 9)).epsilon(1e-5));
  }
}
