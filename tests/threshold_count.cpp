// What the generic conformance test cannot know about threshold_count: every exponent and the
// neighbours of every threshold on every variant, all 2^32 floats on demand, the article's
// rewritten cascade, the refusals, and the device header threshold.clh in a kernel that is not
// ours.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <clcook/cookbook/threshold_count.hpp>
#include <clcook/reference/threshold_count.hpp>
#include <clcook/registry/random.hpp>
#include <clcook/threshold_count.hpp>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "support/grid.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;
using cookbook::threshold_count_card::bits_of;
using cookbook::threshold_count_card::float_of;
using Slot = ThresholdCount::Slot;
using Variant = ThresholdCount::Variant;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kMax = std::numeric_limits<float>::max();

// Zeros, denormals, both ends of every exponent, infinities and NaN of either sign, and each
// threshold with four neighbours on both sides.
std::vector<float> awkward_values(const std::vector<float>& thresholds) {
  std::vector<float> out;
  for (std::uint32_t exponent = 0; exponent < 512; ++exponent) {
    for (const std::uint32_t fraction : {0u, 1u, 0x400000u, 0x400001u, 0x7FFFFEu, 0x7FFFFFu}) {
      out.push_back(float_of(exponent << 23 | fraction));
    }
  }
  for (const float t : thresholds) {
    for (std::uint32_t step = 0; step < 9; ++step) {
      out.push_back(float_of(bits_of(t) + step - 4));
      out.push_back(float_of((bits_of(t) ^ 0x80000000) + step - 4));
    }
  }
  return out;
}

std::vector<std::uint32_t> run(const std::vector<float>& values,
                               const std::vector<float>& thresholds, Variant variant, Slot slot,
                               int per_item = 0) {
  const std::size_t count = values.size();
  const cl::Buffer in = create_buffer(runtime(), count * 4, CL_MEM_READ_ONLY, values.data());
  const cl::Buffer out = create_buffer(runtime(), count * threshold_count::slot_bytes(slot));
  const ThresholdCount plan(runtime(), {count, thresholds, slot}, variant, {0, per_item});
  const cl::Event done = plan(in, out);
  if (slot == Slot::u32) return read_buffer<std::uint32_t>(runtime(), out, count, {done});
  const auto bytes = read_buffer<unsigned char>(runtime(), out, count, {done});
  return {bytes.begin(), bytes.end()};
}

// Whether the variant takes them.
bool takes(Variant variant, const std::vector<float>& thresholds) {
  try {
    ThresholdCount(runtime(), {1, thresholds, Slot::u32}, variant);
  } catch (const Error& error) {
    if (error.code != Errc::unsupported) throw;
    CHECK(contains(error.what(), "variant fine_table"));
    return false;
  }
  return true;
}

std::size_t differences(const std::vector<float>& values, const std::vector<float>& thresholds,
                        const std::vector<std::uint32_t>& got) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (got[i] == reference::threshold_count::slot(values[i], thresholds)) continue;
    if (wrong++ == 0) {
      MESSAGE("bits " << bits_of(values[i]) << " has slot " << got[i]);
    }
  }
  return wrong;
}

// What the article's rewrite of its cascade returns: three of its ifs became one chain, of which at
// most one branch happens, so that it never gets beyond 3.
int article(float x, const std::vector<float>& t) {
  int slot = 0;
  if (x < t[0]) ++slot;
  if (x < t[2]) {
    if (x >= t[3]) return slot;
    ++slot;
    if (x < t[4]) ++slot;
  }
  return slot;
}

}  // namespace

LONG_TEST_CASE("threshold_count: awkward values of every kind on every variant", 32) {
  struct Set {
    const char* name;
    std::vector<float> thresholds;
    Slot slot;
  };
  std::vector<float> hundred;
  for (int i = 0; i < 100; ++i) hundred.push_back(std::sinh(static_cast<float>(50 - i)));
  const std::vector<Set> sets = {
      {"sectors", ThresholdCount::sector_cosines(), Slot::u8},
      {"one at minus zero", {-0.0f}, Slot::u8},
      {"neighbours in cells of their own", {1.0f, 0.00031f, 0.00025f, 0.0001f, 0.0f}, Slot::u8},
      {"close at both ends", {2e36f, 1.999e36f, 0.0f, -1.999e36f, -2e36f}, Slot::u8},
      {"small, around denormals", {2e-30f, 1e-30f, 1e-33f, -1e-30f}, Slot::u32},
      {"infinities, repeats and denormals",
       {kInfinity, kInfinity, 3e38f, 1e-44f, 0.0f, -0.0f, 0.0f, -1e-44f, -kInfinity},
       Slot::u8},
      {"a hundred far apart", hundred, Slot::u32},
  };
  for (const Set& set : sets) {
    const std::vector<float> values = awkward_values(set.thresholds);
    for (const Variant variant : ThresholdCount::variants()) {
      INFO(set.name << ", " << variant.name());
      if (!takes(variant, set.thresholds)) continue;
      CHECK(differences(values, set.thresholds, run(values, set.thresholds, variant, set.slot)) ==
            0);
    }
  }
}

TEST_CASE("threshold_count: the reference against integers that are in the order of floats") {
  // Bits of a float as a whole number that is larger where the float is: no comparison of floats.
  // Only zero has two.
  const auto order = [](float x) {
    const auto bits = static_cast<std::int64_t>(bits_of(x) & 0x7FFFFFFFu);
    return std::signbit(x) ? -bits : bits;
  };
  const std::vector<float> thresholds{kInfinity, 3e38f, 2.5f,    2.5f, 1e-44f,
                                      0.0f,      -0.0f, -1e-44f, -7,   -kInfinity};
  std::size_t wrong = 0;
  for (const float x : awkward_values(thresholds)) {
    std::uint32_t expected = 0;
    const bool is_nan = (bits_of(x) & 0x7FFFFFFFu) > 0x7F800000u;
    while (expected < thresholds.size() && (is_nan || order(x) < order(thresholds[expected])))
      ++expected;
    wrong += reference::threshold_count::slot(x, thresholds) != expected;
  }
  CHECK(wrong == 0);
}

TEST_CASE("threshold_count: the largest numbers of thresholds that a slot type can hold") {
  const auto thresholds_of = [](std::size_t n) {
    std::vector<float> out;
    for (std::size_t k = 0; k < n; ++k) out.push_back(1.0f - static_cast<float>(k) / 256);
    return out;
  };
  const std::vector<float> values = {kNan, -1, kInfinity, 1, 0.5f, 1.0f / 512};
  CHECK(run(values, thresholds_of(255), "automatic", Slot::u8) ==
        std::vector<std::uint32_t>{255, 255, 0, 0, 128, 255});
  CHECK(run(values, thresholds_of(256), "automatic", Slot::u32) ==
        std::vector<std::uint32_t>{256, 256, 0, 0, 128, 256});
}

TEST_CASE("threshold_count: fine_table takes thresholds that equal cells tell apart") {
  const float third = 1.0f / 3;
  CHECK(takes("fine_table", {7.0f}));
  CHECK(takes("fine_table", {kMax}));
  CHECK(takes("fine_table", {1.0f, third, 0.0f}));
  CHECK(takes("fine_table", {1.0f, 1.0f / 16384, 0.0f}));
  CHECK(takes("fine_table", {5e36f, -5e36f}));
  CHECK_FALSE(takes("fine_table", {1.0f, 1.0f / 65536, 0.0f}));
  CHECK_FALSE(takes("fine_table", {1.0f, third, third, 0.0f}));
  CHECK_FALSE(takes("fine_table", {2.0f, 2.0f}));
  CHECK_FALSE(takes("fine_table", {kInfinity, 1.0f}));
  CHECK_FALSE(takes("fine_table", {1.0f, -kInfinity}));
  CHECK_FALSE(takes("fine_table", {kInfinity}));
  CHECK_FALSE(takes("fine_table", {6e36f, -6e36f}));
  CHECK_FALSE(takes("fine_table", {5e-31f, 0.0f}));
}

TEST_CASE("threshold_count: the default depends on the number of thresholds") {
  const Runtime& rt = runtime();
  const auto check_default = [&](std::size_t n, const char* expected) {
    const ThresholdCount::Problem problem{1 << 24, std::vector<float>(n, 1.0f)};
    const ThresholdCount::Posed posed(problem);
    const TuningChoice measured =
        rt.tuning().choose(rt.info(), posed.tuning_names().front(), posed.bytes(), "");
    if (measured.match != TuningChoice::Match::none) return;
    CHECK(ThresholdCount::choice(rt, problem).variant->name == expected);
  };
  const DeviceInfo& info = rt.info();
  check_default(5, info.cpu ? "cpu_strip" : "compare_sum");
  check_default(16, info.cpu ? "cpu_strip" : "binary_search");
  check_default(128, info.cpu ? "cpu_blocks" : "table");
  check_default(129, info.cpu ? "cpu_blocks" : "table");
}

TEST_CASE("threshold_count: the article's rewritten cascade on awkward values") {
  const std::vector<float> t = ThresholdCount::sector_cosines();
  const std::vector<float> values = awkward_values(t);
  std::size_t wrong_above = 0;
  std::size_t right_below = 0;
  for (const float x : values) {
    const bool right = article(x, t) == static_cast<int>(reference::threshold_count::slot(x, t));
    if (x >= t[1]) {
      wrong_above += right ? 0 : 1;
    } else {
      right_below += right ? 1 : 0;
    }
  }
  CHECK(wrong_above == 0);
  CHECK(right_below == 0);
  CHECK(article(kNan, t) == 0);
  CHECK(article(0.75f, t) == 1);
  CHECK(article(0.6f, t) == 1);
  CHECK(article(0.3f, t) == 2);
  CHECK(article(0.0f, t) == 3);
  CHECK(article(-kInfinity, t) == 3);
}

// Set CLCOOK_EXHAUSTIVE=1 to run it: 2^32 values on every variant, some minutes on two cores.
TEST_CASE("threshold_count: all 2^32 floats") {
  if (std::getenv("CLCOOK_EXHAUSTIVE") == nullptr) {
    MESSAGE("skipped: CLCOOK_EXHAUSTIVE is not set");
    return;
  }
  const std::vector<float> t = ThresholdCount::sector_cosines();
  constexpr std::size_t kChunk = std::size_t{1} << 24;
  const cl::Buffer in = create_buffer(runtime(), kChunk * 4);
  const cl::Buffer out = create_buffer(runtime(), kChunk);
  std::vector<ThresholdCount> plans;
  for (const Variant variant : ThresholdCount::variants()) {
    plans.emplace_back(runtime(), ThresholdCount::Problem{kChunk, t, Slot::u8}, variant);
  }
  std::vector<float> values(kChunk);
  std::vector<unsigned char> expected(kChunk);
  std::array<std::uint64_t, 7> patterns{};  // per slot, NaN apart
  std::array<std::uint64_t, 7> article_right{};
  std::vector<std::uint64_t> wrong(plans.size());
  for (std::uint64_t begin = 0; begin < std::uint64_t{1} << 32; begin += kChunk) {
    for (std::size_t i = 0; i < kChunk; ++i) {
      values[i] = float_of(static_cast<std::uint32_t>(begin + i));
      expected[i] = static_cast<unsigned char>(reference::threshold_count::slot(values[i], t));
      const std::size_t row = std::isnan(values[i]) ? 6 : expected[i];
      ++patterns[row];
      article_right[row] += article(values[i], t) == int{expected[i]} ? 1u : 0u;
    }
    check(clEnqueueWriteBuffer(runtime().queue()(), in(), CL_TRUE, 0, kChunk * 4, values.data(), 0,
                               nullptr, nullptr),
          "clEnqueueWriteBuffer");
    for (std::size_t p = 0; p < plans.size(); ++p) {
      const auto got = read_buffer<unsigned char>(runtime(), out, kChunk, {plans[p](in, out)});
      if (got == expected) continue;
      for (std::size_t i = 0; i < kChunk; ++i) wrong[p] += got[i] != expected[i];
    }
  }
  for (std::size_t p = 0; p < plans.size(); ++p) {
    INFO(plans[p].variant().name());
    CHECK(wrong[p] == 0);
  }
  CHECK(patterns == std::array<std::uint64_t, 7>{1074313492, 1676061, 2666201, 3474679, 8092691,
                                                 3187966958, 16777214});
  CHECK(article_right == std::array<std::uint64_t, 7>{1074313492, 1676061, 0, 0, 0, 0, 0});
}

TEST_CASE("threshold_count: wrong calls are refused with value and rule") {
  constexpr PlanRefused<ThresholdCount> refused;
  const Runtime& rt = runtime();
  const std::vector<float> five = ThresholdCount::sector_cosines();
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  for (const std::size_t count : {kMost, kMost / 4, kMost / 8 + 1})
    refused({count, five}, "overflows");
  refused({1, std::vector<float>(257, 1.0f), Slot::u32}, "1 to 256 thresholds, got 257");
  refused({1, std::vector<float>(256, 1.0f), Slot::u8}, "do not fit u8; use u32");
  refused({1, {3, 2, kNan}}, "threshold 2 is NaN");
  refused({1, {kNan}}, "threshold 0 is NaN");
  refused({1, {3, 1, 2}}, "threshold 2 is 2 after 1");
  refused({1, {1, kInfinity}}, "threshold 1 is inf after 1");
  refused({1, five, static_cast<Slot>(7)}, "the value 7");
  refused({1, five}, "table", {-1, 0}, "group must not be negative, got -1");
  refused({1, five}, "table", {1 << 30, 0}, "1073741824", Errc::unsupported);
  refused({1, five}, "table", {0, 5}, "per_item must be 1, 4, 8, 16 or 32, got 5");
  refused({1, five}, "cpu_strip", {2, 0}, "group of cpu_strip must be 1, got 2");

  const ThresholdCount plan(rt, {16, five});
  const cl::Buffer in = create_buffer(rt, 64);
  const cl::Buffer out = create_buffer(rt, 16);
  check_refused([&] { plan(create_buffer(rt, 63), out); }, "values has 63 bytes, needs 64");
  const ThresholdCount words(rt, {4, five, Slot::u32});
  check_refused([&] { words(in, BufferView(create_buffer(rt, 32), 2)); }, "multiples of 4");
  // More values than 32 bits can count are no error in themselves; the buffer is too small.
  const ThresholdCount wide(rt, {(std::size_t{1} << 32) + 1, five}, "compare_sum");
  check_refused([&] { wide(in, out); }, "needs 17179869188");
}

TEST_CASE("threshold_count: the lane-mask model of the chain") {
  const Recipe recipe = cookbook::threshold_count();
  const Sweep& sweep = recipe.sweeps.at(0);
  Params shape = recipe.check_shape(sweep.shape);
  shape.set("count", std::int64_t{6400});
  const auto cost = [&](const char* variant, std::int64_t n, std::size_t width) {
    shape.set("n", n);
    return model::lane_mask_cost(sweep.lanes(variant, shape, 1), width) / 6400;
  };
  CHECK(cost("else_if_chain", 1, 1) == doctest::Approx(1));
  // The mean over six sectors of 1 2 3 4 5 5 comparisons, and of 32 lanes nearly always all.
  CHECK(cost("else_if_chain", 5, 1) == doctest::Approx(20.0 / 6).epsilon(0.03));
  CHECK(cost("else_if_chain", 5, 32) > 4.99);
  CHECK(cost("else_if_chain", 256, 1) == doctest::Approx(130).epsilon(0.05));
  CHECK(cost("else_if_chain", 256, 32) > 230);
  CHECK(cost("else_if_chain", 256, 64) <= 256);
  CHECK(cost("compare_sum", 64, 32) == doctest::Approx(64));
  CHECK(cost("binary_search", 256, 32) == doctest::Approx(9));
}

TEST_CASE("threshold.clh: all forms in a kernel that is not ours") {
  const Source source("mine.cl", R"(
#include <clcook/threshold.clh>
#define FORMS 16
__constant float fixed[5] = {2.5f, 1.0f, 0.0f, -1.0f, -7.25f};
__kernel void mine(__global const float* x, __global const float* t, __global int* out) {
  const size_t i = get_global_id(0);
  __local float shared[5];
  float own[5];
  for (int k = 0; k < 5; ++k) own[k] = t[k];
  if (get_local_id(0) == 0) {
    for (int k = 0; k < 5; ++k) shared[k] = t[k];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const float v = x[i];
  __global int* o = out + i * FORMS;
  const float8 eight = (float8)(t[0], t[1], t[2], t[3], t[4], nan(0u), nan(0u), nan(0u));
  o[0] = clcook_slot_chain_global(v, t, 5);
  o[1] = clcook_slot_chain_constant(v, fixed, 5);
  o[2] = clcook_slot_chain_local(v, shared, 5);
  o[3] = clcook_slot_chain_private(v, own, 5);
  o[4] = clcook_slot_sum_global(v, t, 5);
  o[5] = clcook_slot_sum_constant(v, fixed, 5);
  o[6] = clcook_slot_search_global(v, t, 5);
  o[7] = clcook_slot_search_local(v, shared, 5);
  o[8] = clcook_slot_sum_private(v, own, 5);
  o[9] = clcook_slot_search_private(v, own, 5);
  o[10] = 5 - clcook_reached8(v, eight);
  o[11] = 5 - clcook_reached16(v, (float16)(eight, (float8)(nan(0u))));
  o[12] = 5 - clcook_reached4(v, eight.lo) - clcook_reached2(v, eight.hi.lo);
  o[13] = clcook_slot_sum4_local((float4)(v), shared, 5).z;
  o[14] = clcook_slot_sum16_constant((float16)(v), fixed, 5).sd;
  o[15] = clcook_slot_search_constant(v, fixed, 1) + 4;
}
)");
  const std::vector<float> t = {2.5f, 1.0f, 0.0f, -1.0f, -7.25f};
  std::vector<float> values = awkward_values(t);
  values.resize(values.size() / 64 * 64 + 64, kNan);
  const cl::Program program = runtime().build(source, {}, "mine");
  const cl::Buffer in =
      create_buffer(runtime(), values.size() * 4, CL_MEM_READ_ONLY, values.data());
  const cl::Buffer thresholds = create_buffer(runtime(), t.size() * 4, CL_MEM_READ_ONLY, t.data());
  const cl::Buffer out = create_buffer(runtime(), values.size() * 16 * 4);
  Kernel kernel(runtime(), program, "mine");
  const cl::Event done =
      kernel(Launch::cover({values.size(), 1, 1}, {64, 1, 1}), {}, in, thresholds, out);
  const auto got = read_buffer<std::int32_t>(runtime(), out, values.size() * 16, {done});
  for (std::size_t form = 0; form < 16; ++form) {
    INFO("form " << form);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto expected = form < 15 ? reference::threshold_count::slot(values[i], t)
                                      : reference::threshold_count::slot(values[i], {t[0]}) + 4;
      wrong += got[16 * i + form] != static_cast<std::int32_t>(expected);
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("threshold.clh: the search at every number of thresholds") {
  const Source source("mine.cl", R"(
#include <clcook/threshold.clh>
__kernel void mine(__global const float* t, int most, __global int* wrong) {
  const int n = (int)get_global_id(0) + 1;
  if (n > most) return;
  int bad = 0;
  for (int twice = -2; twice <= 2 * n + 2; ++twice) {
    const float x = 1000.0f - 0.5f * (float)twice;  // on the thresholds and between them
    bad += clcook_slot_search_global(x, t, n) != clcook_slot_chain_global(x, t, n);
    bad += clcook_slot_sum_global(x, t, n) != clcook_slot_chain_global(x, t, n);
  }
  bad += clcook_slot_search_global(nan(0u), t, n) != n;
  wrong[n - 1] = bad;
}
)");
  std::vector<float> t;
  for (int k = 0; k < 256; ++k) t.push_back(1000.0f - static_cast<float>(k));
  const cl::Program program = runtime().build(source, {}, "mine");
  const cl::Buffer in = create_buffer(runtime(), t.size() * 4, CL_MEM_READ_ONLY, t.data());
  const cl::Buffer out = create_buffer(runtime(), t.size() * 4);
  Kernel kernel(runtime(), program, "mine");
  const cl::Event done = kernel(Launch::cover({256, 1, 1}, {64, 1, 1}), {}, in, cl_int{256}, out);
  for (const std::int32_t wrong : read_buffer<std::int32_t>(runtime(), out, t.size(), {done})) {
    CHECK(wrong == 0);
  }
}

TEST_CASE("threshold_count: the gaps of padded_search spread its reads over the banks") {
  // How many passes through 32 banks of local memory the reads of a warp of 32 random directions take.
  const auto passes = [](std::size_t n, bool padded) {
    const std::vector<float> t =
        cookbook::threshold_count_card::problem(Params{{"count", std::int64_t{1}},
                                                       {"n", static_cast<std::int64_t>(n)},
                                                       {"slot", std::string("u32")},
                                                       {"spread", std::string("sectors")}})
            .thresholds;
    const auto bank = [&](std::size_t k) { return (padded ? k + k / 32 : k) % 32; };
    Random random(3);
    constexpr int kWarps = 400;
    std::size_t sum = 0;
    for (int warp = 0; warp < kWarps; ++warp) {
      std::array<float, 32> x{};
      std::array<std::size_t, 32> first{};
      for (float& value : x) value = std::cos(random.uniform() * 1.57079633f);
      const auto step = [&](std::size_t ahead) {
        std::array<std::set<std::size_t>, 32> reads;
        for (const std::size_t at : first) reads[bank(at + ahead)].insert(at + ahead);
        std::size_t most = 0;
        for (const auto& one : reads) most = std::max(most, one.size());
        sum += most;
      };
      for (std::size_t left = n; left > 1; left -= left / 2) {
        step(left / 2 - 1);
        for (std::size_t lane = 0; lane < 32; ++lane) {
          if (!(x[lane] >= t[first[lane] + left / 2 - 1])) first[lane] += left / 2;
        }
      }
      step(0);
    }
    return static_cast<double>(sum) / kWarps;
  };
  CHECK(passes(5, false) == doctest::Approx(4));
  CHECK(passes(5, true) == doctest::Approx(4));
  CHECK(passes(16, false) == doctest::Approx(5));
  CHECK(passes(16, true) == doctest::Approx(5));
  CHECK(passes(64, false) == doctest::Approx(13.0).epsilon(0.02));
  CHECK(passes(64, true) == doctest::Approx(8.0).epsilon(0.02));
  CHECK(passes(256, false) == doctest::Approx(41.2).epsilon(0.02));
  CHECK(passes(256, true) == doctest::Approx(13.9).epsilon(0.02));
}
