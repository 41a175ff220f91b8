// stream_compaction: what the generic conformance test cannot know.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <clcook/reference/stream_compaction.hpp>
#include <clcook/registry/conformance.hpp>
#include <clcook/registry/random.hpp>
#include <clcook/stream_compaction.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "support/grid.hpp"
#include "support/testing.hpp"

namespace {

namespace ref = clcook::reference::stream_compaction;
using namespace clcook;
using namespace clcook::testing;
using Variant = StreamCompaction::Variant;

std::vector<std::uint32_t> random_pixels(std::size_t pixels, std::uint64_t seed = 1) {
  clcook::Random random(seed);
  std::vector<std::uint32_t> out(pixels);
  for (std::uint32_t& pixel : out) pixel = random.bits32();
  return out;
}

// The same, in any order where the variant makes such lists.
StreamCompaction::Problem problem_for(const Variant& variant, std::size_t width,
                                      std::size_t height = 1) {
  StreamCompaction::Problem out{width, height};
  out.ordered = variant.row()->traits.ordered;
  return out;
}

// The list that a plan makes, ascending.
std::vector<std::uint32_t> run(const StreamCompaction& compact, const cl::Buffer& src,
                               std::size_t pixels, std::uint32_t threshold) {
  const cl::Buffer dst = clcook::create_buffer(runtime(), pixels * 4);
  const cl::Buffer kept = clcook::create_buffer(runtime(), 4);
  const cl::Event done = compact(src, dst, kept, threshold);
  const auto count = read_buffer<std::uint32_t>(runtime(), kept, 1, {done})[0];
  REQUIRE(count <= pixels);
  if (count == 0) return {};
  auto out = read_buffer<std::uint32_t>(runtime(), dst, count, {done});
  if (!compact.problem().ordered) std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

LONG_TEST_CASE("stream_compaction: brightness and the list that can be worked out by hand", 16) {
  CHECK(ref::brightness(0xFF000000u) == 0);
  CHECK(ref::brightness(0x00FFFFFFu) == 255 * 256);
  CHECK(ref::brightness(0x00000001u) == 54);
  CHECK(ref::brightness(0x00000100u) == 183);
  CHECK(ref::brightness(0x00010000u) == 19);
  const std::vector<std::uint32_t> pixels{0, 0xFFFFFFu, 0xFF00u, 0xFFu, 0xFF0000u};
  for (const Variant variant : StreamCompaction::variants()) {
    CAPTURE(variant.name());
    const StreamCompaction compact(runtime(), problem_for(variant, 5), variant);
    const cl::Buffer src = upload(pixels);
    CHECK(run(compact, src, 5, 0) == std::vector<std::uint32_t>{0, 1, 2, 3, 4});
    CHECK(run(compact, src, 5, 255 * 54) == std::vector<std::uint32_t>{1, 2, 3});
    CHECK(run(compact, src, 5, 255 * 54 + 1) == std::vector<std::uint32_t>{1, 2});
    CHECK(run(compact, src, 5, 255 * 256) == std::vector<std::uint32_t>{1});
    CHECK(run(compact, src, 5, 255 * 256 + 1).empty());
    CHECK(run(compact, src, 5, 0xFFFFFFFFu).empty());
  }
}

TEST_CASE("stream_compaction: both brightnesses of the reference are one formula") {
  // The integer and the float form, which share nothing, agree where both are exact; the weights
  // sum to 256, so that gray is as bright as its channels.
  clcook::Random random(6);
  for (int round = 0; round < 5000; ++round) {
    const std::uint32_t pixel = random.bits32();
    const auto channel = [&](int shift) { return static_cast<float>(pixel >> shift & 0xFFu); };
    CHECK(static_cast<float>(ref::brightness(pixel)) ==
          ref::brightness(channel(0), channel(8), channel(16)));
    const float gray = static_cast<float>(pixel >> 12) / 4096;
    CHECK(ref::brightness(gray, gray, gray) ==
          doctest::Approx(256.0 * static_cast<double>(gray)).epsilon(1e-6));
  }
  // What is bright at a threshold, and what is not, are all pixels; more of it at a lower one.
  const std::vector<std::uint32_t> in = random_pixels(3000, 3);
  std::size_t before = in.size();
  for (const std::uint32_t threshold : {0u, 1000u, 30000u, 65280u, 65281u}) {
    const std::vector<std::uint32_t> kept = ref::bright(in, threshold);
    CHECK(kept.size() <= before);
    before = kept.size();
    std::vector<bool> is_kept(in.size());
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (i > 0) CHECK(kept[i] > kept[i - 1]);
      is_kept[kept[i]] = true;
    }
    for (std::size_t i = 0; i < in.size(); ++i) {
      const double exact =
          54.0 * (in[i] & 255) + 183.0 * (in[i] >> 8 & 255) + 19.0 * (in[i] >> 16 & 255);
      CHECK(is_kept[i] == (exact >= threshold));
    }
  }
}

LONG_TEST_CASE("stream_compaction: a region of a larger picture, at an odd pitch", 32) {
  // 37 x 29 pixels at (3, 2) of 53 x 40.
  const std::size_t pitch = 53;
  const std::vector<std::uint32_t> in = random_pixels(pitch * 40, 9);
  std::vector<std::uint32_t> region;
  for (std::size_t y = 2; y < 31; ++y) {
    for (std::size_t x = 3; x < 40; ++x) region.push_back(in[y * pitch + x]);
  }
  const cl::Buffer src = upload(in);
  const cl::Buffer dst = clcook::create_buffer(runtime(), region.size() * 4);
  const cl::Buffer kept = clcook::create_buffer(runtime(), 4);
  const BufferView view(src, (2 * pitch + 3) * 4, pitch * 4);
  for (const Variant variant : StreamCompaction::variants()) {
    CAPTURE(variant.name());
    const StreamCompaction compact(runtime(), problem_for(variant, 37, 29), variant);
    const cl::Event done = compact(view, dst, kept, 33000);
    const auto want = ref::bright(region, 33000);
    REQUIRE(read_buffer<std::uint32_t>(runtime(), kept, 1, {done})[0] == want.size());
    auto got = read_buffer<std::uint32_t>(runtime(), dst, want.size(), {done});
    if (!compact.problem().ordered) std::sort(got.begin(), got.end());
    CHECK(got == want);
  }
  const StreamCompaction compact(runtime(), {37, 29});
  const auto message = [&](const BufferView& from) {
    return std::string(error_of([&] { compact(from, dst, kept, 5); }).what());
  };
  CHECK(contains(message({src, 0, 36 * 4}), "pitch of 144"));
  CHECK(contains(message({src, 0, 53 * 4 + 2}), "multiples of 4"));
  CHECK(contains(message({src, 11 * pitch * 4 + 17 * 4, pitch * 4}), "src has"));
}

TEST_CASE("stream_compaction: the scan of the counts takes several turns") {
  // 32 x 32 pixels per group, 32 x 16 counts per turn: 3 turns, the last with one count.
  const std::size_t pixels = 2 * 512 * 1024 + 1;
  const std::vector<std::uint32_t> in = random_pixels(pixels);
  const StreamCompaction compact(runtime(), {pixels}, "bit_words", {32});
  CHECK(compact.tune().group == 32);
  CHECK(run(compact, upload(in), pixels, 30000) == ref::bright(in, 30000));
}

// For Oclgrind, which the pictures that take several turns are too large for.
TEST_CASE("oclgrind: stream_compaction: the scan of the counts alone, three turns of it") {
  constexpr cl_uint kGroups = 2 * 512 + 1;
  clcook::Defines defines;
  defines.flag("CLCOOK_STREAM_COMPACTION_SCAN").set("CLCOOK_STREAM_COMPACTION_GROUP", 32);
  const cl::Program program = runtime().build(clcook::Source(clcook::embedded::stream_compaction),
                                              defines, "stream_compaction/scan");
  clcook::Random random(5);
  std::vector<std::uint32_t> counts(kGroups);
  for (std::uint32_t& count : counts) count = static_cast<std::uint32_t>(random.below(1025));
  std::vector<std::uint32_t> expected;
  std::uint32_t sum = 0;
  for (const std::uint32_t count : counts) {
    expected.push_back(sum);
    sum += count;
  }
  const cl::Buffer buffer = upload(counts);
  const cl::Buffer kept = clcook::create_buffer(runtime(), 4);
  clcook::Kernel kernel(runtime(), program, "stream_compaction_scan");
  const cl::Event done =
      kernel(clcook::Launch::groups({1, 1, 1}, {32, 1, 1}), {}, buffer, kGroups, kept, cl_ulong{0});
  CHECK(read_buffer<std::uint32_t>(runtime(), kept, 1, {done})[0] == sum);
  CHECK(read_buffer<std::uint32_t>(runtime(), buffer, kGroups) == expected);
}

LONG_TEST_CASE("stream_compaction: one pass, again and again, of any size, beside another kernel",
               16) {
  // The state between calls, the walk over other groups, and groups that are counted by those that
  // wait. Another queue keeps the device busy, so that groups come and go in no order of ours.
  std::size_t runs = short_grid() ? 60 : 600;
  if (const char* wanted = std::getenv("CLCOOK_TEST_RUNS")) runs = std::stoul(wanted);
  const std::size_t most = runtime().info().cpu ? 60000 : 1000000;
  cl_int status = CL_SUCCESS;
  const Runtime beside = runtime().with_queue(cl::CommandQueue(
      clcook::detail::create_queue(runtime().context()(), runtime().device()(), 0, &status)));
  REQUIRE(status == CL_SUCCESS);
  const cl::Program busy_program = runtime().build(
      clcook::Source("busy.cl",
                     "__kernel void busy(__global uint* x, uint turns) {\n"
                     "  uint v = (uint)get_global_id(0);\n"
                     "  for (uint i = 0; i < turns; ++i) v = v * 1664525u + 1013904223u;\n"
                     "  x[get_global_id(0)] = v;\n"
                     "}\n"),
      {}, "busy");
  clcook::Kernel busy(beside, busy_program, "busy");
  const cl::Buffer scratch = clcook::create_buffer(runtime(), 4 * 65536);
  const std::vector<std::uint32_t> in = random_pixels(most, 11);
  const cl::Buffer src = upload(in);
  clcook::Random random(12);
  std::vector<StreamCompaction> plans;
  for (std::size_t run_number = 0; run_number < runs; ++run_number) {
    // Half of the calls are of plans that were called before.
    if (plans.empty() || random.below(2) == 0) {
      const bool ordered = random.below(4) != 0;
      StreamCompaction::Problem problem{1 + random.below(random.below(2) == 0 ? most : most / 50)};
      problem.ordered = ordered;
      StreamCompaction::Tune tune;
      tune.group = ordered && random.below(2) == 0 ? 64 : 32;
      tune.patience = tune.group == 64 ? 256 : 1;
      plans.emplace_back(runtime(), problem, ordered ? "look_back" : "unordered", tune);
      if (plans.size() > 8) plans.erase(plans.begin());
    }
    const StreamCompaction& one = plans[random.below(plans.size())];
    const std::size_t pixels = one.problem().pixels();
    if (run_number % 4 == 0) {
      busy(clcook::Launch::cover({65536, 1, 1}, {64, 1, 1}), {}, scratch,
           static_cast<cl_uint>(random.below(runtime().info().cpu ? 100 : 20000)));
      beside.queue().flush();
    }
    const auto threshold = static_cast<std::uint32_t>(random.below(65000));
    CAPTURE(run_number);
    CAPTURE(pixels);
    CAPTURE(threshold);
    const std::vector<std::uint32_t> part(in.begin(),
                                          in.begin() + static_cast<std::ptrdiff_t>(pixels));
    REQUIRE(run(one, src, pixels, threshold) == ref::bright(part, threshold));
  }
  beside.queue().finish();
}

TEST_CASE("stream_compaction: what one pass cannot is refused, and not taken by itself") {
  check_refused([] { StreamCompaction(runtime(), {10}, "unordered"); }, "any order",
                Errc::unsupported);
  check_refused([] { StreamCompaction(runtime(), {1u << 30}, "look_back"); },
                "at most 1073741823 pixels, got 1073741824", Errc::unsupported);
  const Error group = error_of([] { StreamCompaction(runtime(), {10}, "look_back", {1024}); });
  CHECK(group.code == Errc::unsupported);
  for (const int patience : {-1, 65537}) {
    const StreamCompaction::Tune tune{32, 16, patience};
    check_refused([&] { StreamCompaction(runtime(), {10}, "look_back", tune); },
                  "got " + std::to_string(patience));
  }
}

TEST_CASE("stream_compaction: calls of one plan on an out-of-order queue follow one another") {
  const auto other_queue = out_of_order_runtime(runtime());
  if (!other_queue) {
    MESSAGE("skipped: the device has no out-of-order queue");
    return;
  }
  const Runtime& rt = *other_queue;
  const std::size_t pixels = 30000;
  const auto a = random_pixels(pixels, 2);
  const auto b = random_pixels(pixels, 3);
  const cl::Buffer from_a = upload(a);
  const cl::Buffer from_b = upload(b);
  for (const Variant variant : {"int_flags", "bit_words", "look_back"}) {
    CAPTURE(variant.name());
    const StreamCompaction compact(rt, {pixels}, variant);
    const cl::Buffer dst_a = clcook::create_buffer(rt, pixels * 4);
    const cl::Buffer dst_b = clcook::create_buffer(rt, pixels * 4);
    const cl::Buffer kept = clcook::create_buffer(rt, 8);
    // Independent for the caller, but they share the plan's scratch memory.
    const cl::Event first = compact(from_a, dst_a, {kept, 0}, 33000);
    const cl::Event second = compact(from_b, dst_b, {kept, 4}, 20000);
    const auto want_a = ref::bright(a, 33000);
    const auto want_b = ref::bright(b, 20000);
    const auto counts = read_buffer<std::uint32_t>(rt, kept, 2, {first, second});
    CHECK(counts[0] == want_a.size());
    CHECK(counts[1] == want_b.size());
    CHECK(read_buffer<std::uint32_t>(rt, dst_a, want_a.size(), {first}) == want_a);
    CHECK(read_buffer<std::uint32_t>(rt, dst_b, want_b.size(), {second}) == want_b);
  }
}

TEST_CASE("stream_compaction: a problem or group out of range is refused with its value") {
  check_refused([] { StreamCompaction(runtime(), {65536, 65536}); }, "got 65536 x 65536");
  for (const int group : {-64, 1, 33, 96, 2048}) {
    check_refused([&] { StreamCompaction(runtime(), {10}, "bit_flags", {group}); },
                  "got " + std::to_string(group));
  }
}

TEST_CASE("stream_compaction: weights are whole numbers of which each sum is exact") {
  StreamCompaction::Problem p{10};
  const auto refused = [&](std::array<int, 3> weights, const char* what) {
    p.weights = weights;
    check_refused([&] { StreamCompaction(runtime(), p); }, what);
  };
  refused({-1, 200, 20}, "weights must be 0 to 255, got -1");
  refused({256, 0, 0}, "got 256");
  refused({100, 100, 57}, "the sum of the weights must be 1 to 256, got 257");
  refused({0, 0, 0}, "got 0");
  p.pixel = PixelType::r8;
  refused({19, 183, 54}, "takes no weights, got 19, 183, 54");
}
