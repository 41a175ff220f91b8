// What the generic conformance test cannot know about group_size: geometry, that every group size
// gives the same bits, the padding, and the refusals.
#include <doctest/doctest.h>

#include <algorithm>
#include <clcook/cookbook/group_size.hpp>
#include <clcook/group_size.hpp>
#include <clcook/model/occupancy.hpp>
#include <clcook/reference/group_size.hpp>
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

namespace ref = clcook::reference::group_size;
namespace card = clcook::cookbook::group_size_card;
using clcook::BufferView;
using clcook::Errc;
using clcook::Error;
using clcook::GroupSize;
using clcook::Lacks;
using clcook::Params;
using clcook::Runtime;
using namespace clcook::testing;
using Variant = GroupSize::Variant;
using Work = GroupSize::Work;

GroupSize::Problem values(Work work, std::size_t count) {
  GroupSize::Problem out;
  out.work = work;
  out.count = count;
  return out;
}

GroupSize::Problem picture(int width, int height, int spheres, int max_steps = 256) {
  GroupSize::Problem out;
  out.work = Work::divergent_loop;
  out.width = width;
  out.height = height;
  out.spheres = spheres;
  out.max_steps = max_steps;
  return out;
}

// What a ray of the camera hits, by solving the equations in double.
double analytic(const std::vector<ref::Sphere>& spheres, int width, int height, int pixel) {
  const double scale = 8.0 / height;
  const double u = (pixel % width - 0.5 * (width - 1)) * scale;
  const double v = (0.5 * (height - 1) - pixel / width) * scale;
  const double from[3] = {u, 4.36 + 0.96 * v, -11.52 + 0.28 * v};
  const double along[3] = {0, -0.28, 0.96};
  double nearest = from[1] / 0.28;
  for (const ref::Sphere& s : spheres) {
    const double q[3] = {from[0] - static_cast<double>(s.x), from[1] - static_cast<double>(s.y),
                         from[2] - static_cast<double>(s.z)};
    const double b = q[1] * along[1] + q[2] * along[2];
    const double r = static_cast<double>(s.radius);
    const double root = b * b - (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] - r * r);
    if (root >= 0) nearest = std::min(nearest, -b - std::sqrt(root));
  }
  return nearest;
}

}  // namespace

// ---- The reference is geometry ------------------------------------------------------------------

TEST_CASE("reference: traced rays end at the first surface, by the equations of plane and sphere") {
  const std::vector<ref::Sphere> spheres = card::scene(6, 7);
  constexpr int kWidth = 80;
  constexpr int kHeight = 60;
  int on_spheres = 0;
  int grazing = 0;
  for (int pixel = 0; pixel < kWidth * kHeight; ++pixel) {
    const ref::Hit hit =
        ref::trace(spheres, kWidth, kHeight, static_cast<std::uint32_t>(pixel), 256);
    const double wanted = analytic(spheres, kWidth, kHeight, pixel);
    CHECK(hit.steps < 256);
    const double early = wanted - static_cast<double>(hit.distance);
    // It stops at 1/1024 from a surface, which along a grazing ray is well before the surface, or
    // where it passes a sphere at less than that.
    CHECK(early > -1e-4);
    if (early > 0.01) ++grazing;
    if (wanted < analytic({}, kWidth, kHeight, pixel)) ++on_spheres;
  }
  CHECK(on_spheres > 200);
  CHECK(grazing < 30);
}

TEST_CASE("reference: prefix sums begin anew every 1024 values and wrap") {
  const std::vector<std::uint32_t> sums =
      ref::prefix_sums(std::vector<std::uint32_t>(2000, 0xC0000000u));
  CHECK(sums[0] == 0xC0000000u);
  CHECK(sums[1] == 0x80000000u);
  CHECK(sums[3] == 0);
  CHECK(sums[1023] == 0);
  CHECK(sums[1024] == 0xC0000000u);
}

TEST_CASE("reference: prefix sums are what one adds up by hand, and lines are exact") {
  clcook::Random random(2);
  std::vector<std::uint32_t> in(3 * 1024 + 77);
  for (std::uint32_t& value : in) value = random.bits32();
  const std::vector<std::uint32_t> sums = ref::prefix_sums(in);
  for (const std::size_t i :
       std::vector<std::size_t>{0, 1, 511, 1023, 1024, 1025, 2047, 2048, 3000, 3148}) {
    std::uint64_t sum = 0;  // no sum of 1024 values of 32 bits overflows it
    for (std::size_t k = i / 1024 * 1024; k <= i; ++k) sum += in[k];
    CHECK(sums[i] == static_cast<std::uint32_t>(sum & 0xFFFFFFFFu));
  }
  // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24: less 1 + 2^-11, only what a product alone would round away
  // is left.
  CHECK(ref::line(1 + 0x1p-12f, 1 + 0x1p-12f, -1 - 0x1p-11f) == 0x1p-24f);
  CHECK(ref::line(3, 5, 7) == 22);
}

// ---- Kernels ------------------------------------------------------------------------------------

TEST_CASE("the trip counts differ from item to item, and the step limit holds") {
  const auto steps_of = [](int most) {
    const GroupSize plan(runtime(), picture(64, 48, 4, most), "direct");
    const cl::Buffer spheres = upload(card::scene(4, 3));
    const cl::Buffer out = clcook::create_buffer(runtime(), 64 * 48 * sizeof(GroupSize::Hit));
    const cl::Event done = plan(spheres, out);
    return read_buffer<GroupSize::Hit>(runtime(), out, 64 * 48, {done});
  };
  const auto free = steps_of(256);
  const auto compare = [](const GroupSize::Hit& a, const GroupSize::Hit& b) {
    return a.steps < b.steps;
  };
  const auto [least, largest] = std::minmax_element(free.begin(), free.end(), compare);
  CHECK(least->steps > 0);
  CHECK(largest->steps > 2 * least->steps);
  CHECK(largest->steps < 256);
  const auto limited = steps_of(9);
  for (std::size_t i = 0; i < free.size(); ++i) {
    CHECK(limited[i].steps == std::min(free[i].steps, 9));
  }
}

TEST_CASE("spheres that the vectors of cpu_runs pass over change no bit") {
  if (!runtime().info().cpu) return;
  clcook::Random random(3);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (int scene = 0; scene < 6; ++scene) {
    std::vector<ref::Sphere> spheres = card::scene(40, 5 + static_cast<std::uint64_t>(scene));
    // As far as others to a bit or two, of no radius or less than none, and what is nowhere near.
    for (std::size_t k = 0; k < 20; ++k) {
      ref::Sphere& one = spheres[k];
      if (k < 12) one = spheres[20 + k];
      if (k < 8) one.radius = std::nextafter(one.radius, k % 2 == 0 ? 0.0f : 9.0f);
      if (k >= 12 && k < 16) one.radius = k % 2 == 0 ? 0.0f : -0.25f * random.uniform();
      if (k == 16) one.x = 1e30f;
      if (k == 17) one.radius = nan;
      if (k == 18) one.radius = -1e30f;
      if (k == 19) one = {0, -1e4f, 0, 1e4f + 0.5f};
    }
    const GroupSize plan(runtime(), picture(67, 41, 40), "cpu_runs");
    const cl::Buffer out = clcook::create_buffer(runtime(), 67 * 41 * sizeof(GroupSize::Hit));
    const cl::Event done = plan(upload(spheres), out);
    const auto got = read_buffer<GroupSize::Hit>(runtime(), out, 67 * 41, {done});
    int wrong = 0;
    for (std::uint32_t pixel = 0; pixel < 67 * 41; ++pixel) {
      const ref::Hit wanted = ref::trace(spheres, 67, 41, pixel, 256);
      if (got[pixel].steps != wanted.steps || got[pixel].distance != wanted.distance) ++wrong;
    }
    CHECK(wrong == 0);
  }
}

LONG_TEST_CASE("a group size that divides nothing, padding, and a wave give the same sums", 16) {
  std::vector<std::uint32_t> in(3500);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::uint32_t>(i * 2654435761u);
  const std::vector<std::uint32_t> expected = ref::prefix_sums(in);
  const cl::Buffer from = upload(in);
  struct Run {
    Variant variant;
    GroupSize::Tune tune;
  };
  for (const Run& run :
       {Run{"direct", {1, 0}}, Run{"direct", {33, 0}}, Run{"direct", {64, 3}},
        Run{"direct", {64, 16384}}, Run{"grid_stride", {64, 1000}}, Run{"single_wave", {}},
        Run{"registers", {32, 0}}, Run{"registers", {64, 3}}, Run{"registers", {256, 1000}}}) {
    const GroupSize plan(runtime(), values(Work::barriers, in.size()), run.variant, run.tune);
    const cl::Buffer to = clcook::create_buffer(runtime(), in.size() * 4);
    const cl::Event done = plan(from, to);
    CHECK(read_buffer<std::uint32_t>(runtime(), to, in.size(), {done}) == expected);
  }
}

TEST_CASE("streaming: special values") {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> in = {0.0f, -0.0f, inf, -inf, nan, 1.0f, 3e38f};
  GroupSize::Problem problem = values(Work::streaming, in.size());
  problem.factor = 2;
  problem.summand = 0.5f;
  const GroupSize plan(runtime(), problem);
  const cl::Buffer to = clcook::create_buffer(runtime(), in.size() * 4);
  const cl::Event done = plan(upload(in), to);
  const auto got = read_buffer<float>(runtime(), to, in.size(), {done});
  for (std::size_t i = 0; i < in.size(); ++i) {
    CAPTURE(i);
    const float wanted = ref::line(2, in[i], 0.5f);
    CHECK((std::isnan(wanted) ? std::isnan(got[i]) : got[i] == wanted));
  }
}

// ---- Padding ------------------------------------------------------------------------------------

TEST_CASE("the padding leaves exactly the wanted occupancy on the model's sm_90") {
  const auto& arch = clcook::model::gpu_arch("sm_90");
  const auto resident = [&](double percent, int group, int own) {
    clcook::model::KernelNeeds needs;
    needs.group_size = group;
    needs.local_bytes =
        own + static_cast<int>(card::padding_for(arch, percent, static_cast<std::size_t>(group),
                                                 static_cast<std::size_t>(own)));
    return clcook::model::occupancy(arch, needs).groups;
  };
  CHECK(resident(100, 64, 0) == 32);
  CHECK(resident(50, 64, 0) == 16);
  CHECK(resident(25, 64, 0) == 8);
  CHECK(resident(12.5, 64, 0) == 4);
  CHECK(resident(12.5, 64, 8192) == 4);
  CHECK(resident(50, 256, 0) == 4);
  CHECK(resident(50, 1024, 0) == 1);
  CHECK(resident(1, 1024, 0) == 1);
  CHECK(resident(100, 64, 8192) == 25);  // its own memory limits it before
  CHECK(card::padding_for(arch, 100, 64, 0) == 0);
  // What the page says of barriers.
  CHECK(resident(100, 1024, 8192) == 2);
  CHECK(resident(100, 512, 8192) == 4);
  CHECK(resident(100, 256, 8192) == 8);
  CHECK(resident(100, 128, 8192) == 16);
  CHECK(resident(100, 32, 8192) == 25);
  // What NVIDIA's OpenCL lets a group have is enough for the sweep.
  CHECK(card::padding_for(arch, 12.5, 64, 0) <= 48 * 1024);
}

// ---- Plans --------------------------------------------------------------------------------------

TEST_CASE("names, and what automatic runs") {
  namespace ops = clcook::group_size;
  for (const auto& one : ops::kWorks) CHECK(ops::parse_work(one.name) == one.value);
  CHECK(contains(error_of([] { Variant("best"); }).what(), "grid_stride"));
  CHECK(contains(error_of([] { ops::parse_work("sorting"); }).what(), "divergent_loop"));
  const GroupSize plan(runtime(), values(Work::barriers, 100));
  CHECK_FALSE(plan.variant().is_automatic());
  CHECK(GroupSize::Spec::does(*plan.variant().row(), Work::barriers));
  CHECK(plan.tune().group >= 1);
  CHECK_FALSE(plan.wave_barriers());
  // Only where the platform guarantees what a barrier does for a wave.
  const GroupSize wave(runtime(), values(Work::barriers, 100), "single_wave");
  CHECK(wave.wave_barriers() == (runtime().info().platform == "NVIDIA CUDA"));
  CHECK(wave.tune().group == 32);
}

TEST_CASE("problems out of range are refused with their values") {
  constexpr PlanRefused<GroupSize> refused;
  refused(values(Work::barriers, std::numeric_limits<std::size_t>::max()), "count must be 1 to");
  refused(values(static_cast<Work>(7), 5), "no work of the value 7");
  GroupSize::Problem line = values(Work::streaming, 5);
  line.factor = std::numeric_limits<float>::quiet_NaN();
  refused(line, "must be finite, got nan");
  const auto five = values(Work::barriers, 5);
  refused(five, "direct", {-1, 0}, "group must not be negative, got -1");
  refused(five, "direct", {0, -4}, "local_padding must not be negative, got -4");
  const auto lacks = [&](const GroupSize::Problem& problem, const char* part, Lacks what,
                         Variant variant, GroupSize::Tune tune = {}) {
    const Error error = error_of([&] { GroupSize(runtime(), problem, variant, tune); });
    INFO(error.what());
    CHECK(contains(error.what(), part));
    CHECK(error.code == Errc::unsupported);
    CHECK(error.lacks == what);
  };
  lacks(five, "a work-group of 1073741824 work-items exceeds the device's limit of",
        Lacks::work_group, "direct", {1 << 30, 0});
  lacks(five, "8192 + 1073741824 bytes of local memory exceed the device's limit of",
        Lacks::local_memory, "direct", {64, 1 << 30});
  lacks(five, "bytes of local memory exceed", Lacks::local_memory, "direct",
        {64, std::numeric_limits<int>::max()});
  lacks(five, "single_wave: it has groups of 32 work-items, got 64", Lacks::problem, "single_wave",
        {64, 0});
  for (const int group : {16, 96, 512}) {
    lacks(five, "registers: it has groups of 32, 64, 128 or 256 work-items, got", Lacks::problem,
          "registers", {group, 0});
  }
  lacks(five, "local_table: it has no kernel for the work barriers", Lacks::problem, "local_table");
  lacks(values(Work::streaming, 5), "single_wave: it has no kernel for the work streaming",
        Lacks::problem, "single_wave");
  // Automatic passes over them: the caller's group goes before a winner's.
  CHECK(GroupSize(runtime(), five, {}, {64, 0}).tune().group == 64);
}

TEST_CASE("a shape's group and occupancy change the tune, and the offer knows") {
  const clcook::Recipe recipe = clcook::cookbook::group_size();
  const auto offer = [&](const char* variant, const char* shape) {
    return recipe.offer(runtime(), variant, {}, Params::parse(shape));
  };
  CHECK(offer("single_wave", "work=barriers count=5").can());
  CHECK(offer("single_wave", "work=barriers count=5 group=64").lacks == Lacks::problem);
  CHECK(offer("direct", "count=5 group=1000000").lacks == Lacks::work_group);
  const auto& row = *Variant("direct").row();
  const auto tune = [&](const Params& tuning, const char* shape) {
    return card::tune_of(row, tuning, recipe.check_shape(Params::parse(shape)));
  };
  CHECK(tune(Params::parse("group=64"), "count=5").group == 64);
  CHECK(tune(Params::parse("group=64"), "count=5 group=32").group == 32);
  const auto half = tune({}, "count=5 occupancy=50");
  CHECK(half.local_padding ==
        static_cast<int>(card::padding_for(clcook::model::gpu_arch("sm_90"), 50, 256, 0)));
  CHECK(half.local_padding > 0);
  // The kernels of all works, as the machine-code tables have them.
  CHECK(recipe.units("direct", {}, Params::parse("count=5"), {}).size() == 4);
  CHECK(recipe.units("single_wave", {}, Params::parse("count=5"), {}).size() == 1);
  CHECK(recipe.units("cpu_runs", {}, Params::parse("count=5"), {}).size() == 4);
}

TEST_CASE("traced rays need two words each, and spheres four") {
  const GroupSize trace(runtime(), picture(4, 2, 2));
  const cl::Buffer eight = clcook::create_buffer(runtime(), 32);
  const cl::Buffer large = clcook::create_buffer(runtime(), 256);
  check_refused([&] { trace(large, eight); }, "dst has 32 bytes, needs 64");
  check_refused([&] { trace({large, 8}, large); }, "multiples of 16");
  check_refused([&] { trace(eight, {large, 4}); }, "multiples of 8");
}
