// The multi-pass solver: what the generic conformance test cannot know.
#include <doctest/doctest.h>

#include <algorithm>
#include <clcook/local_multipass.hpp>
#include <clcook/reference/local_multipass.hpp>
#include <clcook/registry/conformance.hpp>
#include <clcook/registry/random.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "support/grid.hpp"
#include "support/testing.hpp"

namespace {

namespace ref = clcook::reference::local_multipass;
using namespace clcook;
using namespace clcook::testing;
using clcook::local_multipass::check_particles;
using Constraint = LocalMultipass::Constraint;
using Island = LocalMultipass::Island;
using Problem = LocalMultipass::Problem;
using Variant = LocalMultipass::Variant;

// Rumpled islands: particles 0.1 apart along x in rows of `width`, one in eight held.
std::vector<float> particles(const Problem& p, std::uint32_t width, std::uint64_t seed = 1) {
  clcook::Random random(seed);
  std::vector<float> out(std::size_t{4} * p.islands * p.island.particles);
  for (std::size_t i = 0; i < out.size() / 4; ++i) {
    const std::size_t at = i % p.island.particles;
    out[4 * i] = 0.1f * (static_cast<float>(at % width) + random.uniform(-0.3f, 0.3f));
    out[4 * i + 1] = 0.1f * random.uniform(-0.3f, 0.3f);
    out[4 * i + 2] = 0.1f * (static_cast<float>(at / width) + random.uniform(-0.3f, 0.3f));
    out[4 * i + 3] = random.below(8) == 0 ? 0.0f : random.uniform(0.5f, 2.0f);
  }
  return out;
}

std::vector<ref::Constraint> constraints(const Island& island) {
  std::vector<ref::Constraint> out;
  for (const Constraint& one : island.constraints)
    out.push_back({one.a, one.b, one.rest, one.stiffness});
  return out;
}

std::vector<float> solved(const Problem& p, std::vector<float> values) {
  const auto list = constraints(p.island);
  for (std::uint32_t i = 0; i < p.islands; ++i)
    ref::solve(values.data() + std::size_t{4} * i * p.island.particles, list, p.iterations);
  return values;
}

// Equal bits; one not-a-number is like another.
bool same(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    if (std::memcmp(&a[i], &b[i], sizeof(float)) != 0) return false;
  }
  return true;
}

double length(const float* a, const float* b) {
  double sum = 0;
  for (int e = 0; e < 3; ++e) {
    const double d = static_cast<double>(a[e]) - static_cast<double>(b[e]);
    sum += d * d;
  }
  return std::sqrt(sum);
}

bool fits(const Problem& problem, Variant variant) {
  try {
    LocalMultipass(runtime(), problem, variant);
  } catch (const Error& error) {
    CHECK(error.code == Errc::unsupported);
    return false;
  }
  return true;
}

constexpr PlanRefused<LocalMultipass> refused;

}  // namespace

// ---- The arithmetic ----------------------------------------------------------------------------

TEST_CASE("the reciprocal root is good to about a unit in the last place") {
  double worst = 0;
  for (std::uint32_t bits = 0x3F800000; bits < 0x40800000; bits += 3) {  // 1 to 4: all mantissas
    float x = 0;
    std::memcpy(&x, &bits, sizeof x);
    const double exact = 1 / std::sqrt(static_cast<double>(x));
    worst = std::max(worst, std::abs(static_cast<double>(ref::reciprocal_root(x)) / exact - 1));
  }
  MESSAGE("largest relative error 2^", std::log2(worst));
  CHECK(worst < 0x1p-22);
  // Powers of four scale exactly, so that was every normal number.
  CHECK(ref::reciprocal_root(0x1p-126f) == 0x1p63f * ref::reciprocal_root(1.0f));
  CHECK(ref::reciprocal_root(0x1p126f) == 0x1p-63f * ref::reciprocal_root(1.0f));
}

TEST_CASE("a projection with full stiffness restores the length and keeps the centre of mass") {
  clcook::Random random(3);
  for (int round = 0; round < 1000; ++round) {
    float p[8];
    for (float& value : p) value = random.uniform(-1.0f, 1.0f);
    p[3] = random.uniform(0.1f, 3.0f);
    p[7] = random.uniform(0.1f, 3.0f);
    const float rest = random.uniform(0.1f, 2.0f);
    double before[3];
    for (int e = 0; e < 3; ++e) {
      before[e] = static_cast<double>(p[e]) / static_cast<double>(p[3]) +
                  static_cast<double>(p[4 + e]) / static_cast<double>(p[7]);
    }
    if (length(p, p + 4) < 0.01) continue;
    ref::project(p, p + 4, rest, 1);
    CHECK(length(p, p + 4) == doctest::Approx(static_cast<double>(rest)).epsilon(2e-6));
    for (int e = 0; e < 3; ++e) {
      const double after = static_cast<double>(p[e]) / static_cast<double>(p[3]) +
                           static_cast<double>(p[4 + e]) / static_cast<double>(p[7]);
      CHECK(std::abs(after - before[e]) < 2e-5);
    }
  }
}

TEST_CASE("held particles and particles at one place do not move") {
  float held[8] = {0, 0, 0, 0, 3, 0, 0, 0};
  ref::project(held, held + 4, 1, 1);
  CHECK(held[0] == 0);
  CHECK(held[4] == 3);
  float one[8] = {1, 2, 3, 1, 1, 2, 3, 1};
  ref::project(one, one + 4, 1, 1);
  CHECK(one[0] == 1);
  CHECK(one[6] == 3);
  float half[8] = {0, 0, 0, 0, 4, 0, 0, 1};
  ref::project(half, half + 4, 1, 1);
  CHECK(half[0] == 0);
  CHECK(half[4] == doctest::Approx(1));
}

TEST_CASE("exchanged ends and another order within a colour change no bit") {
  Problem p{3, 7, Island::cloth(9, 7, 0.08f, 0.9f, 0.3f)};
  const auto values = particles(p, 9);
  const auto want = solved(p, values);
  clcook::Random random(5);
  for (std::size_t c = 0; c + 1 < p.island.colour_begin.size(); ++c) {
    for (std::uint32_t i = p.island.colour_begin[c]; i + 1 < p.island.colour_begin[c + 1]; ++i) {
      const std::uint64_t left = p.island.colour_begin[c + 1] - i;
      std::swap(p.island.constraints[i], p.island.constraints[i + random.below(left)]);
      if (random.below(2) == 0) std::swap(p.island.constraints[i].a, p.island.constraints[i].b);
    }
  }
  CHECK(same(solved(p, values), want));
}

TEST_CASE("the float solver stays near the textbook's in double") {
  for (const std::uint32_t iterations : {1u, 10u, 100u}) {
    const Problem p{1, iterations, Island::cloth(12, 12, 0.08f)};
    const auto values = particles(p, 12);
    std::vector<double> exact(values.begin(), values.end());
    ref::textbook::solve(exact.data(), constraints(p.island), iterations);
    const auto got = solved(p, values);
    double worst = 0;
    for (std::size_t i = 0; i < got.size(); ++i)
      worst = std::max(worst, std::abs(exact[i] - static_cast<double>(got[i])));
    MESSAGE(iterations, " iterations: largest difference ", worst);
    CHECK(worst < 2e-6 * std::sqrt(static_cast<double>(iterations)));
  }
}

TEST_CASE("a rope that is held at one end comes to its length") {
  Problem p{1, 2000, Island::rope(16, 0.1f)};
  std::vector<float> values(16 * 4);
  for (std::size_t i = 0; i < 16; ++i) {
    values[4 * i] = 0.17f * static_cast<float>(i);
    values[4 * i + 3] = i == 0 ? 0.0f : 1.0f;
  }
  const auto got = solved(p, values);
  CHECK(got[0] == 0);
  CHECK(got[15 * 4] == doctest::Approx(1.5).epsilon(1e-4));
}

// ---- Islands -----------------------------------------------------------------------------------

TEST_CASE("coloured islands are valid and keep the order within a colour") {
  CHECK(Island::rope(2, 1).colours() == 1);
  CHECK(Island::rope(33, 1).colours() == 2);
  const Island cloth = Island::cloth(16, 16, 1);
  CHECK(cloth.particles == 256);
  CHECK(cloth.constraints.size() == 2 * 15 * 16 + 2 * 15 * 15);
  CHECK(cloth.colours() == 8);
  const Island stiff = Island::cloth(16, 16, 1, 1, 0.2f);
  CHECK(stiff.constraints.size() == 2 * 15 * 16 + 2 * 15 * 15 + 2 * 14 * 16);
  CHECK(stiff.colours() == 12);

  Island star;  // more colours than 16 bits hold: as many as constraints of one particle
  star.colour_begin.resize((1u << 16) + 2);
  CHECK(star.colours() == (1u << 16) + 1);
  star.colour_begin.back() = 1u << 17;
  CHECK(star.largest_colour() == 1u << 17);
  CHECK(Island().colours() == 0);
  CHECK(Island().largest_colour() == 0);

  clcook::Random random(7);
  std::vector<Constraint> all;
  for (std::uint32_t i = 0; i < 400; ++i) {
    const auto a = static_cast<std::uint32_t>(random.below(50));
    const auto b = (a + 1 + static_cast<std::uint32_t>(random.below(49))) % 50;
    all.push_back({a, b, static_cast<float>(i), 1});  // its length tells its place in the list
  }
  const Island island = Island::coloured(50, all);
  REQUIRE(island.constraints.size() == all.size());
  REQUIRE(island.colour_begin.back() == all.size());
  std::set<float> seen;
  for (std::size_t c = 0; c + 1 < island.colour_begin.size(); ++c) {
    std::set<std::uint32_t> used;
    for (std::uint32_t i = island.colour_begin[c]; i < island.colour_begin[c + 1]; ++i) {
      const Constraint& one = island.constraints[i];
      CHECK(used.insert(one.a).second);
      CHECK(used.insert(one.b).second);
      CHECK(seen.insert(one.rest).second);
      if (i > island.colour_begin[c]) CHECK(one.rest > island.constraints[i - 1].rest);
    }
  }
  CHECK(seen.size() == all.size());
}

TEST_CASE("a group packs as many islands as it serves, and as fit") {
  using clcook::local_multipass::pack;
  const Island cloth = Island::cloth(16, 16, 0.1f);  // colours of up to 120
  const Island rope = Island::rope(33, 0.1f);        // two colours of 16
  const std::size_t bytes = 33 * 16;
  CHECK(pack(cloth, 4096, 128, 4096, 1 << 20).packed == 1);
  CHECK(pack(rope, 4096, 128, bytes, 1 << 20).packed == 8);
  CHECK(pack(rope, 3, 128, bytes, 1 << 20).packed == 3);
  CHECK(pack(rope, 4096, 128, bytes, 5 * bytes + 1).packed == 5);
  CHECK(pack(rope, 4096, 128, bytes, 5 * bytes + 1).local_bytes == 5 * bytes);
  CHECK(pack(rope, 4096, 128, bytes, bytes - 1).packed == 1);  // its offer is refused
  CHECK(pack(rope, 4096, 8, bytes, 1 << 20).each == 2);
  for (const int group : {1, 7, 8, 64, 128, 1024}) {
    const auto cut = pack(rope, 4096, group, bytes, 1 << 20);
    CHECK(cut.packed * cut.lanes <= group);
    CHECK(cut.lanes * cut.each >= 16);
    CHECK(cut.lanes * (cut.each - 1) < 16);
  }
}

TEST_CASE("spreading over the banks keeps every constraint, once, in its colour") {
  Island island = Island::cloth(9, 7, 0.1f, 1, 0.2f);
  for (std::size_t i = 0; i < island.constraints.size(); ++i)
    island.constraints[i].rest = static_cast<float>(i);  // tells them apart
  for (const int lanes : {32, 33, 64, 7}) {
    CAPTURE(lanes);
    const int each = (static_cast<int>(island.largest_colour()) + lanes - 1) / lanes;
    const Island out = clcook::local_multipass::spread_over_banks(island, lanes, each);
    REQUIRE(out.colours() == island.colours());
    for (std::size_t c = 0; c < island.colours(); ++c) {
      REQUIRE(out.colour_begin[c + 1] - out.colour_begin[c] ==
              static_cast<std::uint32_t>(lanes * each));
      std::set<float> seen;
      for (std::uint32_t i = out.colour_begin[c]; i < out.colour_begin[c + 1]; ++i) {
        const Constraint& one = out.constraints[i];
        if (one.a == one.b) continue;
        const Constraint& given = island.constraints[static_cast<std::size_t>(one.rest)];
        CHECK(std::minmax(one.a, one.b) == std::minmax(given.a, given.b));
        CHECK(seen.insert(one.rest).second);
        CHECK(static_cast<std::size_t>(one.rest) >= island.colour_begin[c]);
        CHECK(static_cast<std::size_t>(one.rest) < island.colour_begin[c + 1]);
      }
      CHECK(seen.size() == island.colour_begin[c + 1] - island.colour_begin[c]);
    }
  }
}

TEST_CASE("a cloth or a graph that cannot be is refused") {
  check_refused([] { Island::cloth(1, 1, 1); }, "got 1 x 1");
  check_refused([] { Island::cloth(1u << 31, 1u << 31, 1); }, "2147483647");
  check_refused([] { Island::rope(1, 1); }, "got 1 x 1");
  const auto coloured = [](const std::vector<Constraint>& all) {
    return [all] { Island::coloured(4, all); };
  };
  check_refused(coloured({{0, 1, 1, 1}, {2, 4, 1, 1}}),
                "constraint 1 is at particle 4, the island has 4");
  check_refused(coloured({{3, 3, 1, 1}}), "both ends of constraint 0 are particle 3");
}

TEST_CASE("particles on the host can be checked") {
  const float inf = std::numeric_limits<float>::infinity();
  std::vector<float> values{0, 0, 0, 1, 1, 0, 0, 0};
  check_particles(values.data(), 2);
  values[7] = -0.5f;
  const Error negative = error_of([&] { check_particles(values.data(), 2); });
  CHECK(negative.code == Errc::invalid_argument);
  CHECK(contains(negative.what(), "inverse mass of particle 1 must not be negative, got -0.5"));
  values[7] = inf;
  CHECK(contains(error_of([&] { check_particles(values.data(), 2); }).what(),
                 "inverse mass of particle 1 must be finite"));
  values[7] = 1;
  values[2] = std::nanf("");
  CHECK(contains(error_of([&] { check_particles(values.data(), 2); }).what(),
                 "coordinate of particle 0 must be finite, got nan"));
}

TEST_CASE("a problem that breaks a rule is refused with rule and value") {
  const Island rope = Island::rope(5, 0.1f);  // colours 0-1 2-3, 1-2 3-4
  const auto with = [&](const auto& change) {
    Problem p{3, 2, rope};
    change(p);
    return p;
  };
  const float nan = std::nanf("");
  const float inf = std::numeric_limits<float>::infinity();
  refused(with([](Problem& p) { p.island.particles = 0; }), "particles must be at least 1, got 0");
  refused(with([](Problem& p) { p.island = {5, {}, {0}}; }), "no constraints");
  refused(with([](Problem& p) { p.islands = 1 << 30; }), "exceed the limit of 2147483647");
  refused(with([](Problem& p) { p.island.constraints[2].a = 5; }),
          "constraint 2 is at particle 5, the island has 5 particles");
  refused(with([](Problem& p) { p.island.constraints[1].b = 0xFFFFFFFF; }), "4294967295");
  refused(with([](Problem& p) { p.island.constraints[3].b = p.island.constraints[3].a; }),
          "both ends of constraint 3 are particle 3");
  refused(with([](Problem& p) {
            p.island.constraints[1] = {1, 4, 1, 1};
          }),
          "colour 0 uses particle 1 twice, the second time in constraint 1");
  refused(with([](Problem& p) {
            p.island.colour_begin = {0, 4};
          }),
          "colour 0 uses particle 1 twice");
  refused(with([&](Problem& p) { p.island.constraints[0].rest = nan; }),
          "rest length of constraint 0 must be finite and not negative, got nan");
  refused(with([&](Problem& p) { p.island.constraints[3].rest = inf; }), "got inf");
  refused(with([](Problem& p) { p.island.constraints[3].rest = -1; }), "got -1");
  refused(with([](Problem& p) { p.island.constraints[2].stiffness = 0; }),
          "stiffness of constraint 2 must be above 0 and at most 1, got 0");
  refused(with([](Problem& p) { p.island.constraints[2].stiffness = 1.5f; }), "got 1.5");
  refused(with([&](Problem& p) { p.island.constraints[2].stiffness = nan; }), "got nan");
  refused(with([](Problem& p) { p.island.colour_begin = {}; }), "got no entries");
  refused(with([](Problem& p) { p.island.colour_begin = {0, 2}; }), "got 0 to 2");
  refused(with([](Problem& p) { p.island.colour_begin = {1, 4}; }), "got 1 to 4");
  refused(with([](Problem& p) {
            p.island.colour_begin = {0, 2, 2, 4};
          }),
          "colour 1 goes from 2 to 2");
  refused(with([](Problem& p) {
            p.island.colour_begin = {0, 9, 2, 4};
          }),
          "colour 1 goes from 9 to 2");
  refused({3, 2, rope}, "all_local", {-1}, "got -1");
  refused({3, 2, rope}, "cpu_lanes", {64}, "got 64");
  refused({3, 2, rope}, "per_iteration", {1 << 20}, "1048576", Errc::unsupported);
}

// ---- Plans -------------------------------------------------------------------------------------

TEST_CASE("an island that does not fit local memory is refused, and automatic steps back") {
  const std::size_t local = static_cast<std::size_t>(runtime().info().local_mem);
  const auto count = static_cast<std::uint32_t>(local / 12 + 1);
  const Problem p{2, 1, Island::rope(count, 0.1f)};
  for (const Variant v : {"all_local", "packed_islands", "resident"}) {
    const std::size_t bytes =
        v == "resident" ? (std::size_t{count} * 3 | 1) * 4 : std::size_t{count} * 16;
    refused(p, v, {},
            std::to_string(bytes) + " bytes of local memory for an island of " +
                std::to_string(count) + " particles, the device has " + std::to_string(local),
            Errc::unsupported);
  }
  refused(p, "cpu_lanes", {}, std::to_string(std::size_t{count} * 256) + " bytes of local memory",
          Errc::unsupported);
  const LocalMultipass solve(runtime(), p);
  CHECK(solve.variant() == "per_iteration");
  const auto values = particles(p, count);
  const cl::Buffer buffer = upload(values);
  const cl::Event done = solve(buffer, buffer);
  CHECK(same(read_buffer<float>(runtime(), buffer, values.size(), {done}), solved(p, values)));
}

TEST_CASE("resident refuses more constraints than fit in registers") {
  const Problem p{2, 1, Island::cloth(40, 12, 0.1f)};
  refused(p, "resident", {64}, "8 colours of up to 240 constraints", Errc::unsupported);
  CHECK(LocalMultipass(runtime(), p).variant() != "resident");
}

TEST_CASE("automatic names a variant that runs, and every variant gives the same bits") {
  const Problem p{21, 4, Island::cloth(6, 5, 0.08f, 0.75f)};
  const auto values = particles(p, 6);
  const auto want = solved(p, values);
  const cl::Buffer src = upload(values);
  for (const Variant v : {"automatic", "per_colour", "per_iteration", "all_local", "packed_islands",
                          "resident", "cpu_lanes"}) {
    CAPTURE(v.name());
    const LocalMultipass solve(runtime(), p, v);
    CHECK_FALSE(solve.variant().is_automatic());
    CHECK(solve.tune().group >= 1);
    const cl::Buffer dst = upload(std::vector<float>(values.size(), -1.0f));
    const cl::Event done = solve(src, dst);
    CHECK(same(read_buffer<float>(runtime(), dst, values.size(), {done}), want));
    CHECK(same(read_buffer<float>(runtime(), src, values.size()), values));
  }
  CHECK(LocalMultipass(runtime(), p, "packed_islands").packed() == 8);  // 15 per colour
}

TEST_CASE("two calls of one iteration are one call of two, in place and chained by events") {
  const auto other_queue = out_of_order_runtime(runtime());
  if (!other_queue) {
    MESSAGE("skipped: the device has no out-of-order queue");
    return;
  }
  const Runtime& rt = *other_queue;
  Problem p{40, 1, Island::cloth(8, 8, 0.08f)};
  const auto values = particles(p, 8);
  for (const Variant v : LocalMultipass::variants()) {
    CAPTURE(v.name());
    p.iterations = 3;
    const LocalMultipass three(rt, p, v);
    p.iterations = 4;
    const LocalMultipass four(rt, p, v);
    p.iterations = 7;
    const cl::Buffer buffer = upload(values);
    const cl::Event first = three(buffer, buffer);
    const cl::Event second = four(buffer, buffer, {first});
    CHECK(same(read_buffer<float>(rt, buffer, values.size(), {second}), solved(p, values)));
  }
}

TEST_CASE("offers: each variant moves less than the one before it") {
  const Problem p{64, 20, Island::rope(9, 0.1f)};
  double before = std::numeric_limits<double>::infinity();
  for (const char* name :
       {"per_colour", "per_iteration", "all_local", "packed_islands", "resident"}) {
    CAPTURE(name);
    const clcook::Offer offer = LocalMultipass::Posed(p).offer(runtime(), *Variant(name).row());
    REQUIRE(offer.can());
    CHECK(offer.in_place);
    CHECK(offer.work.operations == 40.0 * 64 * 20 * 8);
    const double bytes = offer.work.bytes_read + offer.work.bytes_written;
    CHECK(bytes < before);
    CHECK(bytes >= 2.0 * 64 * 9 * 16);
    before = bytes;
  }
}

LONG_TEST_CASE("offers: the bytes of 2^24 + 1 constraints, which is no float", 16) {
  Problem p{1, 1, {}};
  p.island.particles = 2;
  p.island.constraints.assign(16777217, {0, 1, 1, 1});
  p.island.colour_begin.resize(16777218);  // a colour for each
  std::iota(p.island.colour_begin.begin(), p.island.colour_begin.end(), 0u);
  const clcook::Offer offer =
      LocalMultipass::Posed(p).offer(runtime(), *Variant("per_iteration").row());
  CHECK(offer.work.bytes_written == 2.0 * 16);
  CHECK(offer.work.bytes_read == 2.0 * 16 + 16.0 * 16777217);
}

TEST_CASE("the number of launches is what each variant says") {
  const Problem p{5, 6, Island::cloth(4, 4, 0.1f)};
  const std::size_t colours = p.island.colours();
  std::size_t launches = 0;
  const Runtime observed =
      runtime().with_observer([&](const std::string&, const cl::Event&) { ++launches; });
  const auto values = particles(p, 4);
  const cl::Buffer src = upload(values);
  const cl::Buffer dst = upload(values);
  const auto count = [&](Variant v, const cl::Buffer& from, const cl::Buffer& to) {
    launches = 0;
    LocalMultipass(observed, p, v)(from, to).wait();
    return launches;
  };
  const auto promised = [&](const char* name) {
    return LocalMultipass(observed, p, name).offer().work.launches;
  };
  CHECK(promised("per_colour") == 6.0 * static_cast<double>(colours));
  CHECK(promised("per_iteration") == 6);
  CHECK(promised("resident") == 1);
  CHECK(count("per_colour", src, dst) == 6 * colours + 1);
  CHECK(count("per_colour", dst, dst) == 6 * colours);
  CHECK(count("per_iteration", src, dst) == 6);
  for (const Variant v : {"all_local", "packed_islands", "resident", "cpu_lanes"})
    CHECK(count(v, src, dst) == 1);
}

TEST_CASE("not-a-number stays in its island and spreads there as in the reference") {
  const Problem p{20, 2, Island::cloth(5, 4, 0.08f)};
  auto values = particles(p, 5);
  values[(7 * 20 + 11) * 4 + 1] = std::nanf("");
  values[(9 * 20 + 3) * 4] = std::numeric_limits<float>::infinity();
  const auto want = solved(p, values);
  const cl::Buffer src = upload(values);
  const cl::Buffer dst = upload(values);
  for (const Variant v : LocalMultipass::variants()) {
    CAPTURE(v.name());
    const cl::Event done = LocalMultipass(runtime(), p, v)(src, dst);
    const auto got = read_buffer<float>(runtime(), dst, values.size(), {done});
    CHECK(same(got, want));
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (i / 80 != 7 && i / 80 != 9) REQUIRE(std::isfinite(got[i]));
    }
  }
}

TEST_CASE("islands side by side in one buffer") {
  const Problem p{9, 3, Island::rope(7, 0.08f)};
  const auto values = particles(p, 7);
  const auto want = solved(p, values);
  // Rows of 7 + 7 particles: sources left, results right.
  std::vector<float> both(2 * values.size(), -1.0f);
  for (std::size_t i = 0; i < 9; ++i)
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(i * 28), 28,
                both.begin() + static_cast<std::ptrdiff_t>(i * 56));
  for (const Variant v : LocalMultipass::variants()) {
    CAPTURE(v.name());
    const cl::Buffer buffer = upload(both);
    const cl::Event done = LocalMultipass(runtime(), p, v)({buffer, 0, 224}, {buffer, 112, 224});
    const auto got = read_buffer<float>(runtime(), buffer, both.size(), {done});
    std::vector<float> left;
    std::vector<float> right;
    for (std::size_t i = 0; i < 9; ++i) {
      const auto row = got.begin() + static_cast<std::ptrdiff_t>(i * 56);
      left.insert(left.end(), row, row + 28);
      right.insert(right.end(), row + 28, row + 56);
    }
    CHECK(same(left, values));
    CHECK(same(right, want));
  }
}

TEST_CASE("the planned variants fit a cloth of 16 x 16 on this device") {
  const Problem p{3, 2, Island::cloth(16, 16, 0.1f)};
  for (const Variant v : {"per_colour", "per_iteration", "all_local", "packed_islands", "resident"})
    CHECK(fits(p, v));
}
