// What the generic conformance test cannot know about argument_swap: physics, special values, the
// caller's own function, the data generator, and the refusals.
#include <doctest/doctest.h>

#include <algorithm>
#include <clcook/argument_swap.hpp>
#include <clcook/cookbook/argument_swap.hpp>
#include <clcook/reference/argument_swap.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "support/grid.hpp"
#include "support/testing.hpp"

namespace {

namespace ref = clcook::reference::argument_swap;
namespace card = clcook::cookbook::argument_swap_card;
using namespace clcook;
using namespace clcook::testing;
using ref::Medium;
using Variant = ArgumentSwap::Variant;

// Stored as floats, as the kernels see them.
const Medium kAir{1, 0};
const Medium kGlass{static_cast<double>(1.5046f), static_cast<double>(0.0042f)};
const Medium kFlint{static_cast<double>(1.728f), static_cast<double>(0.01342f)};

struct Ray {
  Medium outside;
  Medium inside;
  float x;
};

std::vector<float> run(const std::vector<Ray>& rays, Variant variant,
                       ArgumentSwap::Problem problem = {}) {
  std::vector<float> a, b, x;
  for (const Ray& ray : rays) {
    a.insert(a.end(), {static_cast<float>(ray.outside.a), static_cast<float>(ray.outside.b)});
    b.insert(b.end(), {static_cast<float>(ray.inside.a), static_cast<float>(ray.inside.b)});
    x.push_back(ray.x);
  }
  problem.count = rays.size();
  const cl::Buffer y = clcook::create_buffer(runtime(), rays.size() * sizeof(float));
  const ArgumentSwap swap(runtime(), problem, variant);
  const cl::Event done = swap(upload(a), upload(b), upload(x), y);
  return read_buffer<float>(runtime(), y, rays.size(), {done});
}

double expected(const Ray& ray, const ArgumentSwap::Problem& p = {}) {
  return ref::ray(ray.outside, ray.inside, static_cast<double>(ray.x),
                  static_cast<double>(p.parameters[0]), static_cast<double>(p.parameters[1]),
                  p.cost);
}

double bound(const Ray& ray, const ArgumentSwap::Problem& p = {}) {
  const bool leaves = std::signbit(ray.x);
  return card::bound(leaves ? ray.inside : ray.outside, leaves ? ray.outside : ray.inside,
                     std::abs(static_cast<double>(ray.x)), static_cast<double>(p.parameters[0]),
                     static_cast<double>(p.parameters[1]), p.cost);
}

// Those that the device has for a problem.
std::vector<Variant> variants(ArgumentSwap::Problem problem = {}) {
  problem.count = 1;
  std::vector<Variant> out;
  for (const ArgumentSwap::Row& row : ArgumentSwap::variants()) {
    if (ArgumentSwap::Posed(problem).offer(runtime(), row).can()) out.emplace_back(row);
  }
  return out;
}

ArgumentSwap::Function own(std::string text) { return {"brdf/mine.clh", std::move(text)}; }

}  // namespace

// ---- The reference is physics -------------------------------------------------------------------

TEST_CASE("reference: at normal incidence ((n1 - n2) / (n1 + n2))^2 is reflected") {
  for (const auto& [n1, n2] : {std::pair{1.0, 1.5}, {1.5, 1.0}, {1.33, 1.728}, {2.4, 1.0}}) {
    const double r = (n1 - n2) / (n1 + n2);
    CHECK(ref::transmittance(n1, n2, 1.0) == doctest::Approx(1 - r * r).epsilon(1e-14));
  }
  CHECK(ref::transmittance(1.0, 1.5, 1.0) == doctest::Approx(0.96).epsilon(1e-14));
}

TEST_CASE("reference: beyond the critical angle nothing passes, before it something does") {
  const double critical = std::sqrt(1 - 1 / (1.5 * 1.5));
  CHECK(ref::transmittance(1.5, 1.0, critical * (1 - 1e-9)) == 0);
  CHECK(ref::transmittance(1.5, 1.0, 0.01) == 0);
  CHECK(ref::transmittance(1.5, 1.0, critical * (1 + 1e-9)) > 0);
  CHECK(ref::transmittance(1.0, 1.5, 0.01) > 0);  // never from the thin side
}

TEST_CASE("reference: the way back through a boundary lets the same share pass") {
  for (double cosine = 0.01; cosine <= 1; cosine += 0.01) {
    const double back = std::sqrt(1 - (1 - cosine * cosine) / (1.5 * 1.5));
    CHECK(ref::transmittance(1.0, 1.5, cosine) ==
          doctest::Approx(ref::transmittance(1.5, 1.0, back)).epsilon(1e-12));
  }
}

TEST_CASE("reference: at Brewster's angle all light of one polarisation passes") {
  // Then the mean of 1 and T_s = 1 - r^2 with r = (1 - n^2) / (1 + n^2).
  const double n = 1.5;
  const double cosine = 1 / std::sqrt(1 + n * n);
  const double r = (1 - n * n) / (1 + n * n);
  CHECK(ref::transmittance(1.0, n, cosine) == doctest::Approx(1 - r * r / 2).epsilon(1e-12));
}

TEST_CASE("reference: shares lie in 0 to 1, nothing at grazing incidence, all without a boundary") {
  for (const double n2 : {1.0, 1.3, 1.5, 2.4}) {
    for (double cosine = 0x1p-20; cosine <= 1; cosine *= 1.1) {
      for (const double t :
           {ref::transmittance(1.2, n2, cosine), ref::transmittance(n2, 1.2, cosine)}) {
        CHECK(t >= 0);
        CHECK(t <= 1);
      }
    }
  }
  CHECK(ref::transmittance(kAir, kGlass, 0.0, 1.5, 2.5, 8) < 1e-15);
  CHECK(ref::transmittance(kGlass, kGlass, 0.3, 1.5, 2.5, 8) == doctest::Approx(1));
  CHECK(ref::transmittance(kGlass, kGlass, 0.0, 1.5, 2.5, 8) == doctest::Approx(1));
}

TEST_CASE("reference: more points change little, and the band matters near the critical angle") {
  const auto at = [](double cosine, double first, double last, int points) {
    return ref::transmittance(kFlint, kAir, cosine, first, last, points);
  };
  CHECK(at(0.9, 1.43, 2.5, 40) == doctest::Approx(at(0.9, 1.43, 2.5, 4000)).epsilon(1e-5));
  // Red light still leaves where blue is already reflected.
  const double cosine = std::sqrt(1 - 1 / std::pow(kFlint.index(2.0), 2));
  CHECK(at(cosine, 1.45, 1.5, 20) > 0.2);
  CHECK(at(cosine, 2.4, 2.5, 20) == 0);
}

// ---- The kernels on special values --------------------------------------------------------------

LONG_TEST_CASE("special cosines: signed zeros, 1, denormals, NaN, at and around the critical angle",
               16) {
  std::vector<Ray> rays;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const auto& [outside, inside] :
       {std::pair{kAir, kGlass}, {kAir, kFlint}, {kGlass, kFlint}, {kGlass, kGlass}}) {
    const double n = inside.index(2.0) / outside.index(2.0);
    const auto critical = static_cast<float>(std::sqrt(std::max(0.0, 1 - 1 / (n * n))));
    for (const float x : {0.0f, 1.0f, 0x1p-149f, 0x1p-100f, 0x1p-60f, 0x1p-24f, nan, critical,
                          std::nextafter(critical, 0.0f), std::nextafter(critical, 1.0f),
                          critical * 0.999f, critical * 1.001f, 0.5f}) {
      rays.push_back({outside, inside, x});
      rays.push_back({outside, inside, -x});
    }
  }
  for (const int cost : {1, 3, 40}) {
    ArgumentSwap::Problem problem;
    problem.cost = cost;
    // A single wavelength: all points at the critical angle at once, the worst case.
    for (const bool single : {false, true}) {
      if (single) problem.parameters[0] = problem.parameters[1] = 2.0f;
      for (const Variant& v : variants()) {
        const std::vector<float> got = run(rays, v, problem);
        for (std::size_t i = 0; i < rays.size(); ++i) {
          CAPTURE(v.name());
          CAPTURE(cost);
          CAPTURE(i);
          CAPTURE(rays[i].x);
          if (std::isnan(rays[i].x)) {
            CHECK(std::isnan(got[i]));
            continue;
          }
          CHECK(std::abs(static_cast<double>(got[i]) - expected(rays[i], problem)) <=
                bound(rays[i], problem));
          CHECK(got[i] >= 0.0f);
          CHECK(got[i] <= 1.00001f);
        }
      }
    }
  }
}

TEST_CASE("the bound is tight away from the critical angle and honest at it") {
  CHECK(bound({kAir, kGlass, 0.7f}) < 2e-5);
  CHECK(bound({kAir, kGlass, -0.95f}) < 2e-5);
  // Total reflection is exact: no other value than 0 will do.
  CHECK(bound({kAir, kGlass, -0.3f}) == 0);
  CHECK(bound({kGlass, kFlint, -0.1f}) == 0);
  ArgumentSwap::Problem single;
  single.cost = 1;
  single.parameters[0] = single.parameters[1] = 2.0f;
  const double n = kGlass.index(2.0);
  const double critical = std::sqrt(1 - 1 / (n * n));
  CHECK(bound({kAir, kGlass, static_cast<float>(-critical)}, single) > 1e-4);
}

TEST_CASE("the variants agree bit by bit") {
  std::vector<Ray> rays;
  for (int i = 1; i <= 1000; ++i) {
    rays.push_back({kAir, i % 2 != 0 ? kGlass : kFlint,
                    static_cast<float>(i) * (i % 3 == 0 ? -1e-3f : 1e-3f)});
  }
  const std::vector<float> baseline = run(rays, "two_calls");
  CHECK(run(rays, "swap_in_place") == run(rays, "select"));
  const std::vector<float> select = run(rays, "select");
  // Compilers may contract the two calls differently.
  for (std::size_t i = 0; i < rays.size(); ++i) {
    CHECK(std::abs(static_cast<double>(baseline[i] - select[i])) <= 2 * bound(rays[i]));
  }
}

// ---- In a loop ----------------------------------------------------------------------------------

namespace {

// x of the items for each step in turn.
std::vector<float> run_steps(const std::vector<Ray>& items, const std::vector<float>& x,
                             Variant variant, ArgumentSwap::Problem problem) {
  std::vector<float> a, b;
  for (const Ray& item : items) {
    a.insert(a.end(), {static_cast<float>(item.outside.a), static_cast<float>(item.outside.b)});
    b.insert(b.end(), {static_cast<float>(item.inside.a), static_cast<float>(item.inside.b)});
  }
  problem.count = items.size();
  problem.steps = static_cast<int>(x.size() / items.size());
  const cl::Buffer y = clcook::create_buffer(runtime(), items.size() * sizeof(float));
  const ArgumentSwap swap(runtime(), problem, variant);
  return read_buffer<float>(runtime(), y, items.size(), {swap(upload(a), upload(b), upload(x), y)});
}

}  // namespace

TEST_CASE("in a loop each step decides for itself, whatever the one before has exchanged") {
  // All sequences of four directions, two items more than whole vectors.
  std::vector<Ray> items(18, {kAir, kFlint, 0});
  std::vector<float> x;
  for (std::size_t step = 0; step < 4; ++step) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      const float cosine = 0.2f + 0.2f * static_cast<float>(step);
      x.push_back((i >> step & 1) != 0 ? -cosine : cosine);
    }
  }
  ArgumentSwap::Problem problem;
  problem.cost = 3;
  for (const Variant& v : variants(problem)) {
    CAPTURE(v.name());
    const std::vector<float> got = run_steps(items, x, v, problem);
    for (std::size_t i = 0; i < items.size(); ++i) {
      CAPTURE(i);
      double sum = 0;
      double error = 0;
      for (std::size_t step = 0; step < 4; ++step) {
        const Ray ray{kAir, kFlint, x[step * items.size() + i]};
        sum += expected(ray, problem);
        error += bound(ray, problem);
      }
      CHECK(std::abs(static_cast<double>(got[i]) - sum) <= error + 3 * 0x1p-24 * 4);
    }
  }
}

TEST_CASE(
    "in a loop zeros have a sign in each step, and a NaN in one of them spoils its item alone") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<Ray> items(3, {kAir, kGlass, 0});
  const std::vector<float> x{-0.0f, 0.5f, 0.0f,  //
                             0.0f,  nan,  -0.0f};
  for (const Variant& v : variants()) {
    CAPTURE(v.name());
    const std::vector<float> got = run_steps(items, x, v, {});
    CHECK(got[0] == got[2]);
    CHECK(std::abs(static_cast<double>(got[0])) < 1e-12);
    CHECK(std::isnan(got[1]));
  }
}

TEST_CASE("in a loop a function of the caller's is summed up, in every variant") {
  ArgumentSwap::Problem problem;
  problem.function = own(
      "static inline float clcook_swap_function(float2 a, float2 b, float x, float2 p, int c) {\n"
      "  return a.x - 2.0f * b.x + 4.0f * a.y - 8.0f * b.y + x; }\n");
  const std::vector<Ray> items{{{1, 2}, {3, 4}, 0}, {{-7, 5}, {2, 6}, 0}};
  const std::vector<float> x{1, -2, -3, -4, 5, 0.5f};
  // f(a, b) and f(b, a), without |x|: -29 and 1; -39 and 0.
  const std::vector<float> want{-29 + 1 - 29 + 9, 0 + 0 - 39 + 6.5f};
  for (const Variant& v : variants(problem)) {
    CAPTURE(v.name());
    CHECK(run_steps(items, x, v, problem) == want);
  }
  problem.count = 2;
  problem.steps = 3;
  problem.function.name = "argument_swap/steps.cl";
  check_refused([&] { ArgumentSwap(runtime(), problem); }, "argument_swap/steps.cl");
}

TEST_CASE("the model of a loop pays for both calls in each step, and for long loops as for 31") {
  const auto cost = [](const char* variant, const char* shape, std::size_t width) {
    return clcook::model::lane_mask_cost(card::lanes(variant, Params::parse(shape), 1), width);
  };
  const char* const eight = "count=65536 share=50 run=1 cost=40 offset=0 steps=8";
  CHECK(cost("two_calls", eight, 1) == cost("select", eight, 1));
  CHECK(cost("two_calls", eight, 32) / cost("select", eight, 32) > 1.99);
  CHECK(cost("two_calls", eight, 32) / cost("select", eight, 32) <= 2);
  const char* const one = "count=4096 share=50 run=1 cost=40 offset=0 steps=1";
  const char* const many = "count=4096 share=50 run=1 cost=40 offset=0 steps=62";
  CHECK(cost("select", many, 32) / cost("select", one, 32) == doctest::Approx(62).epsilon(0.02));
}

// ---- The caller's own function ------------------------------------------------------------------

LONG_TEST_CASE("a function of the caller's takes the place of ours, in every variant", 16) {
  ArgumentSwap::Problem problem;
  problem.cost = 5;
  problem.parameters[0] = 0.25f;
  problem.parameters[1] = -3;  // not a band: ours alone has rules
  problem.function = own(R"(#include <clcook/select.clh>
static inline float clcook_swap_function(float2 a, float2 b, float x, float2 parameters, int cost) {
  float sum = 0.0f;
  for (int k = 0; k < cost; ++k) sum += a.x - 2.0f * b.x;
  return sum + 16.0f * a.y - 32.0f * b.y + clcook_select_float(x > 1.0f, 0.5f, x) +
         parameters.x * parameters.y;
})");
  const std::vector<Ray> rays = {{{1, 2}, {3, 4}, 0.5f},
                                 {{1, 2}, {3, 4}, -0.5f},
                                 {{7, -1}, {-2, 5}, 8.0f},
                                 {{7, -1}, {-2, 5}, -8.0f},
                                 {{7, -1}, {-2, 5}, -0.0f}};
  // All of it is exact in float.
  const std::vector<float> want = {-25 - 96 + 0.5f - 0.75f, 5 + 0 + 0.5f - 0.75f,
                                   55 - 176 + 0.5f - 0.75f, -80 + 112 + 0.5f - 0.75f,
                                   -80 + 112 + 0.0f - 0.75f};
  for (const Variant& v : variants(problem)) {
    CAPTURE(v.name());
    CHECK(run(rays, v, problem) == want);
  }
  const Error error = error_of([&] { run(rays, "cpu_lanes", problem); });
  CHECK(error.code == Errc::unsupported);
  CHECK(contains(error.what(), "our function alone"));
  problem.count = 7;
  CHECK(ArgumentSwap(runtime(), problem).variant() != "cpu_lanes");
  // Another cost is no other program.
  const auto before = runtime().cache().stats();
  problem.cost = 6;
  problem.count = 77;
  const ArgumentSwap other(runtime(), problem, "select");
  CHECK(runtime().cache().stats().from_source == before.from_source);
}

TEST_CASE("mistakes in the caller's function are shown with its name and line") {
  // NVIDIA's compiler ignores #line: it says <kernel> and counts the lines of the whole text.
  const bool follows_line = !contains(runtime().info().platform, "NVIDIA");
  const auto refused = [&](const std::string& text, const std::string& place,
                           const std::string& what) {
    ArgumentSwap::Problem problem;
    problem.count = 4;
    problem.function = own(text);
    const Error error = error_of([&] { ArgumentSwap(runtime(), problem, "select"); });
    CHECK(error.code == Errc::build_failed);
    CAPTURE(error.build_log);
    CHECK(contains(error.build_log, what));
    if (follows_line) CHECK(contains(error.build_log, place));
  };
  refused(
      "\n\nstatic inline float clcook_swap_function(float2 a, float2 b, float x, float2 p, int c) "
      "{\n"
      "  return no_such_name;\n}\n",
      "brdf/mine.clh:4", "no_such_name");
  refused("// nothing in it\n", "argument_swap.cl:", "clcook_swap_function");
  refused("static inline float clcook_swap_function(float2 a) { return a.x; }\n",
          "argument_swap.cl:", "argument");
}

TEST_CASE("names of functions that cannot stand in an #include are refused") {
  const auto refuse = [](const char* name, const char* text, const char* part) {
    ArgumentSwap::Problem problem;
    problem.count = 4;
    problem.function = {name, text};
    check_refused([&] { ArgumentSwap(runtime(), problem); }, part);
  };
  const char* const body = "float f;";
  refuse("", body, "got ''");
  refuse("a\"b", body, "a\"b");
  refuse("a\nb", body, "line ends");
  refuse("clcook/select.clh", body, "clcook/select.clh");
  refuse("argument_swap.cl", body, "argument_swap.cl");
  refuse("mine.clh", "", "'mine.clh' has no text");
}

// ---- The data generator -------------------------------------------------------------------------

LONG_TEST_CASE(
    "outcomes come in blocks of exactly the run's length, and the share is exact on average", 16) {
  for (const std::size_t length : {std::size_t{1}, std::size_t{8}, std::size_t{64}}) {
    for (const double share : {0.0, 1.0, 20.0, 50.0, 99.0, 100.0}) {
      CAPTURE(length);
      CAPTURE(share);
      const card::Shape shape{64 * 150, share, length, 1, 0};
      double sum = 0;
      for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const std::vector<bool> taken = card::outcomes(shape, seed);
        std::size_t count = 0;
        std::size_t broken = 0;  // blocks with two outcomes
        for (std::size_t i = 0; i < taken.size(); ++i) {
          if (i % length != 0 && taken[i] != taken[i - 1]) ++broken;
          count += taken[i] ? 1u : 0u;
        }
        REQUIRE(broken == 0);
        // Never further off than a block.
        const double wanted = share / 100 * static_cast<double>(taken.size());
        REQUIRE(std::abs(static_cast<double>(count) - wanted) < static_cast<double>(length));
        sum += static_cast<double>(count) / static_cast<double>(taken.size());
      }
      // Rounded at random to a whole block: at most half a block of deviation per seed, and four
      // deviations of the mean of 200.
      const double blocks = 64 * 150.0 / static_cast<double>(length);
      CHECK(std::abs(sum / 200 * 100 - share) <= 100 * 4 * 0.5 / blocks / std::sqrt(200.0));
    }
  }
}

TEST_CASE("the places of the outcomes are random") {
  const card::Shape shape{100000, 50, 1, 1, 0};
  const std::vector<bool> taken = card::outcomes(shape, 1);
  CHECK(taken != card::outcomes(shape, 2));
  CHECK(taken == card::outcomes(shape, 1));
  std::size_t changes = 0;
  for (std::size_t i = 1; i < taken.size(); ++i) changes += taken[i] != taken[i - 1] ? 1u : 0u;
  CHECK(static_cast<double>(changes) / 1e5 == doctest::Approx(0.5).epsilon(0.02));
  // So a warp of 32 that agrees is rare; in runs of 4096 nearly all do.
  const Params random = Params::parse("count=65536 share=50 run=1 cost=40 offset=0 steps=1");
  const Params coherent = Params::parse("count=65536 share=50 run=4096 cost=40 offset=0 steps=1");
  const auto gain = [](const Params& params, std::size_t width) {
    return clcook::model::lane_mask_cost(card::lanes("two_calls", params, 1), width) /
           clcook::model::lane_mask_cost(card::lanes("select", params, 1), width);
  };
  CHECK(gain(random, 1) == 1);
  CHECK(gain(random, 32) > 1.95);
  CHECK(gain(random, 32) <= 2);
  CHECK(gain(coherent, 32) == 1);
}

// ---- Plans --------------------------------------------------------------------------------------

TEST_CASE("what automatic runs") {
  const ArgumentSwap swap(runtime(), {100});
  CHECK_FALSE(swap.variant().is_automatic());
  CHECK(swap.tune().group >= 1);
  if (Variant("cpu_lanes") == variants().back()) CHECK(swap.variant() == "cpu_lanes");
  CHECK(swap.problem().count == 100);
}

TEST_CASE("problems out of range are refused with their values") {
  constexpr PlanRefused<ArgumentSwap> refused;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  refused({std::numeric_limits<std::size_t>::max()}, "count must be 1 to");
  refused({4, 4, {0, 1}}, "got 0 to 1");
  refused({4, 4, {2, 1}}, "rising order, got 2 to 1");
  refused({4, 4, {nan, 1}}, "got nan");
  refused({4, 4, {1, inf}}, "to inf");
  refused({4, 4, {1, nan}}, "to nan");
  ArgumentSwap::Problem loop{4};
  loop.steps = 0;
  refused(loop, "steps must be 1 to");
  loop.steps = 3;
  loop.count = std::numeric_limits<std::size_t>::max() / 16;  // its x would not fit
  refused(loop, "count must be 1 to");
  refused({4}, "select", {1 << 30}, "1073741824", Errc::unsupported);
  refused({4}, "cpu_lanes", {64}, "group of cpu_lanes must be 1, got 64");
}

TEST_CASE("a and b may be one, and x of a loop has an element more for each further call") {
  const cl::Buffer pair = clcook::create_buffer(runtime(), 64);
  const cl::Buffer x = clcook::create_buffer(runtime(), 32);
  const cl::Buffer large = clcook::create_buffer(runtime(), 256);
  ArgumentSwap(runtime(), {8})(pair, pair, x, large).wait();
  ArgumentSwap::Problem loop{8};
  loop.steps = 3;
  check_refused(
      [&] {
        ArgumentSwap(runtime(), loop)(pair, pair, {large, 164}, x);
      },
      "x has 256 bytes, needs 260");
}
