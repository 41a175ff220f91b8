// The headers under -ffast-math, as others may compile them: what is no number is refused all the same.
// Compilers then take every number for finite, so that only bits tell.
//
// options: -O1 -ffast-math
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <clcook/argument_swap.hpp>
#include <clcook/core/half.hpp>
#include <clcook/gaussian_blur.hpp>
#include <clcook/group_size.hpp>
#include <clcook/group_swizzle.hpp>
#include <clcook/io/obj.hpp>
#include <clcook/line_blur.hpp>
#include <clcook/local_multipass.hpp>
#include <clcook/rank_filter.hpp>
#include <clcook/regroup.hpp>
#include <clcook/stream_compaction.hpp>
#include <clcook/threshold_count.hpp>

#include <doctest/doctest.h>

#include "stub/runtime.hpp"

using namespace clcook;

namespace {

template <class To, class From>
To from_bits(From bits) {
  volatile From hidden = bits;
  const From seen = hidden;
  To out{};
  std::memcpy(&out, &seen, sizeof out);
  return out;
}
// NaN, infinity and minus infinity.
std::vector<double> doubles() {
  return {from_bits<double>(std::uint64_t{0x7FF8} << 48),
          from_bits<double>(std::uint64_t{0x7FF0} << 48),
          from_bits<double>(std::uint64_t{0xFFF0} << 48)};
}
std::vector<float> floats() {
  return {from_bits<float>(0x7FC00000U), from_bits<float>(0x7F800000U),
          from_bits<float>(0xFF800000U)};
}

// Whether it throws Error(invalid_argument).
bool is_refused(const std::function<void()>& use) {
  try {
    use();
  } catch (const Error& error) {
    return error.code == Errc::invalid_argument;
  }
  return false;
}
// Whether an operation refuses the problem.
template <class Operation>
bool refuses(const typename Operation::Problem& problem) {
  return is_refused([&] { typename Operation::Posed posed(problem); });
}

}  // namespace

TEST_CASE("this file is compiled as it says") {
#if !defined(__FINITE_MATH_ONLY__) || !__FINITE_MATH_ONLY__
  FAIL("without -ffast-math");
#endif
}

TEST_CASE("bits tell what is a number") {
  for (const double one : doubles()) CHECK_FALSE(math::isfinite(one));
  for (const float one : floats()) CHECK_FALSE(math::isfinite(one));
  CHECK(math::isnan(doubles()[0]));
  CHECK(math::isnan(floats()[0]));
  CHECK_FALSE(math::isnan(doubles()[1]));
  CHECK_FALSE(math::isnan(floats()[2]));
  for (const double one : {0.0, -0.0, 1e308, -1e308, 5e-324}) CHECK(math::isfinite(one));
  for (const float one : {0.0f, -0.0f, 3e38f, -3e38f}) CHECK(math::isfinite(one));
  CHECK(to_half(doubles()[0]) == 0x7E00);
  CHECK(is_refused([] { Defines().set("VALUE", doubles()[0]); }));
}

TEST_CASE("every number of a problem that must be finite") {
  for (const double none : doubles()) {
    using Blur = GaussianBlur::Problem;
    const auto blur = [&](double Blur::*member) {
      Blur problem{16, 16, 2, 2};
      problem.*member = none;
      return refuses<GaussianBlur>(problem);
    };
    for (double Blur::*member : {&Blur::sigma_x, &Blur::sigma_y, &Blur::sigma_z, &Blur::truncate,
                                 &Blur::quality, &Blur::peak})
      CHECK(blur(member));
    CHECK(refuses<LineBlur>({16, 16, none, LineBlur::RadiusFraction(0.5)}));
    CHECK(refuses<LineBlur>({16, 16, 2, LineBlur::RadiusFraction(none)}));
    RankFilter::Problem rank{16, 16};
    rank.rank = none;
    CHECK(refuses<RankFilter>(rank));
  }
  for (const float none : floats()) {
    GroupSize::Problem streaming;
    streaming.count = 64;
    CHECK_FALSE(refuses<GroupSize>(streaming));
    streaming.factor = none;
    CHECK(refuses<GroupSize>(streaming));
    streaming.factor = 1;
    streaming.summand = none;
    CHECK(refuses<GroupSize>(streaming));
    ArgumentSwap::Problem swap;
    swap.count = 64;
    CHECK_FALSE(refuses<ArgumentSwap>(swap));
    swap.parameters[1] = none;
    CHECK(refuses<ArgumentSwap>(swap));
    Regroup::Problem regroup;
    regroup.items = 64;
    regroup.paths = 8;
    CHECK_FALSE(refuses<Regroup>(regroup));
    regroup.parameters[2] = none;
    CHECK(refuses<Regroup>(regroup));
    GroupSwizzle::Problem filter{16, 16};
    filter.work = GroupSwizzle::Work::filter;
    CHECK_FALSE(refuses<GroupSwizzle>(filter));
    filter.matrix[5] = none;
    CHECK(refuses<GroupSwizzle>(filter));
    LocalMultipass::Problem islands;
    islands.islands = 1;
    islands.iterations = 1;
    islands.island.particles = 2;
    islands.island.constraints = {{0, 1, 1, 1}};
    islands.island.colour_begin = {0, 1};
    CHECK_FALSE(refuses<LocalMultipass>(islands));
    islands.island.constraints[0].rest = none;
    CHECK(refuses<LocalMultipass>(islands));
    islands.island.constraints[0] = {0, 1, 1, none};
    CHECK(refuses<LocalMultipass>(islands));
  }
  ThresholdCount::Problem thresholds;
  thresholds.count = 64;
  thresholds.thresholds = {2, floats()[0], 1};
  CHECK(refuses<ThresholdCount>(thresholds));
}

TEST_CASE("a threshold of a call, a sigma of a plan, a number in a file") {
  stub::set_device(stub::gpu());
  const Runtime runtime = stub::make_runtime();
  const double nan = doubles()[0];
  const StreamCompaction compact{runtime, {16, 1}};
  const cl::Buffer some = create_buffer(runtime, 4096);
  const cl::Buffer other = create_buffer(runtime, 4096);
  const cl::Buffer count = create_buffer(runtime, 4);
  CHECK(is_refused([&] { compact(some, other, count, nan); }));
  GaussianBlur blur{runtime, {16, 16, 2, 2}};
  CHECK(is_refused([&] { blur.set_sigma(nan, 1); }));
  for (const char* word : {"nan", "inf", "-inf", "infinity", "NAN"})
    CHECK_THROWS(io::detail::obj_number(word, 1, "a coordinate"));
  CHECK(io::detail::obj_number("-1.5e3", 1, "a coordinate") == -1500.0f);
}
