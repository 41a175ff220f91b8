// The line blur: what the generic conformance test cannot know.
#include <doctest/doctest.h>

#include <algorithm>
#include <clcook/gaussian_blur.hpp>
#include <clcook/line_blur.hpp>
#include <clcook/reference/line_blur.hpp>
#include <clcook/registry/conformance.hpp>
#include <clcook/registry/pixels.hpp>
#include <clcook/registry/random.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/grid.hpp"
#include "support/images.hpp"
#include "support/testing.hpp"

namespace {

namespace ref = clcook::reference::line_blur;
using namespace clcook;
using namespace clcook::testing;
using Pixel = LineBlur::Pixel;
using Variant = LineBlur::Variant;

constexpr double kSigma = 0.5;  // the article's
using Sigma = LineBlur::RadiusFraction;
constexpr Sigma kHalf(kSigma);

std::vector<float> noise_of(const LineBlur::Problem& p, std::uint64_t seed = 1) {
  return noise(static_cast<std::size_t>(p.width) * static_cast<std::size_t>(p.height) * 4, seed, 0);
}

std::vector<double> expected(const LineBlur::Problem& p, const std::vector<float>& in,
                             int step = 1) {
  return ref::blur(in.data(), static_cast<std::size_t>(p.width), static_cast<std::size_t>(p.height),
                   ref::taps(p.radius, p.relative_sigma.value, step));
}

template <class T>
double difference(const std::vector<double>& a, const std::vector<T>& b) {
  REQUIRE(a.size() == b.size());
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double one = std::abs(a[i] - static_cast<double>(b[i]));
    worst = one <= worst ? worst : one;  // NaN wins
  }
  return worst;
}

// The conformance test derives exact bounds; here a wrong result is off by far more than this.
constexpr double kClose = 1e-5;

std::vector<double> stripes(std::size_t length, std::size_t period) {
  std::vector<double> out(length);
  for (std::size_t i = 0; i < length; i += period) out[i] = 1;
  return out;
}

double spread(const std::vector<double>& line, std::size_t margin) {
  const auto range = std::minmax_element(line.begin() + static_cast<std::ptrdiff_t>(margin),
                                         line.end() - static_cast<std::ptrdiff_t>(margin));
  return *range.second - *range.first;
}

constexpr PlanRefused<LineBlur> refused;

bool reads_image(const Variant& v) { return v.row()->traits.is_image; }

// Whether the device has it.
bool is_here(const Variant& v) {
  const DeviceInfo& info = runtime().info();
  if (v.row()->is_for_cpus_only) return quirks::takes_cpu_kernels(info);
  return !reads_image(v) || info.images;
}
std::vector<Variant> variants() {
  std::vector<Variant> out;
  for (const Variant v : LineBlur::variants()) {
    if (is_here(v)) out.push_back(v);
  }
  return out;
}
std::vector<Variant> buffer_variants() {
  std::vector<Variant> out;
  for (const Variant v : variants()) {
    if (!reads_image(v)) out.push_back(v);
  }
  return out;
}

// Whether a variant serves such a radius; fused serves few.
bool can(const Variant& v, const LineBlur::Problem& p) {
  return LineBlur::Posed(p).offer(runtime(), *v.row()).can();
}

// The distance of a variant's taps.
int step_of(const Variant& v, const LineBlur::Problem& p) {
  return v.row()->traits.is_subsampled ? ref::subsampling_step(p.radius) : 1;
}

// How far off a result up to 1 may be.
double close(const Variant& v) { return v.row()->traits.is_linear ? 0x1p-7 + kClose : kClose; }

// Blurs a picture into a buffer, through an image where the plan reads one.
template <class T>
cl::Event blur_from(const LineBlur& plan, const std::vector<T>& in, const cl::Buffer& dst) {
  if (!reads_image(plan.variant())) return plan(upload(in), dst);
  const LineBlur::Problem& p = plan.problem();
  return plan(make_image(static_cast<std::size_t>(p.width), static_cast<std::size_t>(p.height),
                         clcook::float_image_format(p.pixel), in.data()),
              dst);
}

}  // namespace

// ---- The article's arithmetic ------------------------------------------------------------------

TEST_CASE("the article's loop has 128 taps and moves the picture by -0.113 pixels") {
  const auto taps = ref::article::taps(64, kSigma, 0);
  CHECK(ref::tap_count(taps) == 128);  // the text says 129
  CHECK(taps.front().offset == -64);
  CHECK(taps.back().offset == 63);
  CHECK(ref::centroid(taps) == doctest::Approx(-0.1131).epsilon(0.001));
  CHECK(std::abs(ref::edge_shift(taps)) == doctest::Approx(0.068).epsilon(0.01));
  // For any large whole radius; a fractional one truncates towards zero and is symmetric.
  CHECK(ref::centroid(ref::article::taps(200, kSigma, 0)) == doctest::Approx(-0.113).epsilon(0.01));
  CHECK(ref::tap_count(ref::article::taps(42.67, kSigma, 0)) == 85);
  CHECK(ref::tap_count(ref::article::taps(85.33, kSigma, 0)) == 171);
  CHECK(std::abs(ref::centroid(ref::article::taps(42.67, kSigma, 0))) < 1e-12);

  const auto ours = ref::taps(64, kSigma);
  CHECK(ref::tap_count(ours) == 129);
  CHECK(std::abs(ref::centroid(ours)) < 1e-12);
  CHECK(std::abs(ref::edge_shift(ours)) < 1e-12);
}

TEST_CASE("the weight that the article's loop leaves out is no trifle") {
  const auto taps = ref::taps(64, kSigma);
  CHECK(taps.front().weight / taps[64].weight == doctest::Approx(std::exp(-2.0)));
  CHECK(taps.back().weight == doctest::Approx(0.00177).epsilon(0.01));
}

TEST_CASE("the article's step is one too large where the radius is a multiple of 32") {
  CHECK(ref::article::step(64) == 3);  // the text says every other pixel
  CHECK(ref::subsampling_step(64) == 2);
  const auto pairs = ref::article::iterations(64, kSigma, 3);
  CHECK(pairs.total == 31);
  CHECK(pairs.idle == 10);
  const auto singles = ref::article::iterations(64, kSigma, 2);
  CHECK(singles.total == 63);
  CHECK(singles.idle == 20);
  CHECK(ref::tap_count(ref::article::taps(64, kSigma, 2)) == 43);
  CHECK(ref::article::iterations(32, kSigma, 2).idle == 30);
  CHECK(ref::article::iterations(63, kSigma, 2).idle == 0);
  CHECK(ref::article::iterations(16, kSigma, 2).idle == 30);
}

TEST_CASE("our step covers the whole radius with at most 65 taps") {
  for (double radius : {1.0, 31.0, 31.5, 32.0, 33.0, 63.0, 64.0, 65.0, 100.0, 1000.0}) {
    CAPTURE(radius);
    const int step = ref::subsampling_step(radius);
    CHECK(step == LineBlur::subsampling_step(radius));
    const auto taps = ref::taps(radius, kSigma, step);
    CHECK(taps.size() <= 65);
    CHECK(ref::tap_count(taps) == taps.size());  // no tap is idle
    CHECK(taps.back().offset <= radius);
    CHECK(taps.back().offset + step > radius);
    CHECK(std::abs(ref::centroid(taps)) < 1e-12);
  }
}

TEST_CASE("subsampling lets stripes pass whose period is the step") {
  const auto article = ref::article::taps(64, kSigma, 2);
  CHECK(ref::response(article, 1.0 / 3) == doctest::Approx(1.0));
  CHECK(ref::response(ref::taps(64, kSigma), 1.0 / 3) < 0.01);
  // As a picture: 1, 0, 0, 1, 0, 0 stays between 0 and 1 instead of settling at a third.
  const auto in = stripes(601, 3);
  CHECK(spread(ref::article::line(in, 64, kSigma, 2), 100) == doctest::Approx(1.0));
  CHECK(spread(ref::article::line(in, 64, kSigma, 0), 100) < 0.01);
  // Ours has the same weakness at its own step of 2; no choice of the step cures it.
  const auto ours = ref::taps(64, kSigma, ref::subsampling_step(64));
  CHECK(ref::response(ours, 1.0 / 3) < 0.01);
  CHECK(ref::response(ours, 1.0 / 2) == doctest::Approx(1.0));
}

TEST_CASE("the article's stages 0 and 1, and 2 and 3, compute the same") {
  std::vector<double> in;
  for (const float value : noise(300, 1, 0)) in.push_back(static_cast<double>(value));
  CHECK(difference(ref::article::line(in, 64, kSigma, 0), ref::article::line(in, 64, kSigma, 1)) ==
        0);
  CHECK(difference(ref::article::line(in, 64, kSigma, 2), ref::article::line(in, 64, kSigma, 3)) <
        2e-15);
  // And subsampling is far from the full kernel.
  CHECK(difference(ref::article::line(in, 64, kSigma, 2), ref::article::line(in, 64, kSigma, 0)) >
        0.02);
}

TEST_CASE("the article's clamp is right only because it happens in signed numbers") {
  CHECK(ref::article::clamp_as_signed(5, 9, 100) == 0);
  CHECK(ref::article::clamp_as_unsigned(5, 9, 100) == 99);  // the wrong end of the line
}

TEST_CASE("the article's groups of 1024 have more lanes past the ends of lines than those of 512") {
  CHECK(ref::article::lane_slots(1920, 1080, 1024) == 6144000);
  CHECK(ref::article::lane_slots(1920, 1080, 512) == 5160960);
  CHECK(ref::article::lane_slots(1920, 1080, 1) == 2 * 1920 * 1080);
}

TEST_CASE("the article's kernel at sigma 0 is NaN, ours is a copy") {
  CHECK(std::isnan(ref::article::taps(8, 0, 0).front().weight));
  const auto taps = ref::taps(8, 0);
  REQUIRE(taps.size() == 1);
  CHECK(taps[0].offset == 0);
  CHECK(taps[0].weight == 1);
}

// ---- The reference -----------------------------------------------------------------------------

TEST_CASE("the reference's weights are Gaussian, and its blur the sum over both axes at once") {
  const auto taps = ref::taps(6, kSigma);
  for (std::size_t k = 1; k + 1 < taps.size(); ++k) {
    // The ratio of neighbouring ratios, which makes a Gaussian one: here sigma is 3 pixels.
    CHECK(taps[k - 1].weight * taps[k + 1].weight / (taps[k].weight * taps[k].weight) ==
          doctest::Approx(std::exp(-1.0 / 9)).epsilon(1e-12));
    CHECK(taps[k].offset == static_cast<int>(k) - 6);
  }
  // Whole weights and values: every order of the sums gives the same bits.
  const std::vector<ref::Tap> whole{{-2, 3}, {-1, 1}, {0, 4}, {1, 5}, {3, 2}};
  constexpr int kWidth = 5;
  constexpr int kHeight = 3;
  clcook::Random random(2);
  std::vector<float> in(kWidth * kHeight * 4);
  for (float& value : in) value = static_cast<float>(random.below(1000));
  const std::vector<double> got = ref::blur(in.data(), kWidth, kHeight, whole);
  const auto inside = [](int i, int count) { return i < 0 ? 0 : i < count ? i : count - 1; };
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      for (int c = 0; c < 4; ++c) {
        double sum = 0;
        for (const ref::Tap& down : whole) {
          for (const ref::Tap& along : whole) {
            const int at =
                (inside(y + down.offset, kHeight) * kWidth + inside(x + along.offset, kWidth)) * 4;
            sum += down.weight * along.weight *
                   static_cast<double>(in[static_cast<std::size_t>(at + c)]);
          }
        }
        CHECK(got[static_cast<std::size_t>((y * kWidth + x) * 4 + c)] == sum);
      }
    }
  }
}

// ---- The kernels against the article's defects -------------------------------------------------

TEST_CASE("no full-quality variant moves an edge") {
  const LineBlur::Problem p{301, 2, 64, kHalf, Pixel::rgba32f};
  std::vector<float> in(301 * 2 * 4);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = (i / 4) % 301 >= 151 ? 1.0f : 0.0f;
  const cl::Buffer dst = upload(in);
  for (const Variant& v : variants()) {
    if (v.row()->traits.is_subsampled || !can(v, p)) continue;
    CAPTURE(v.name());
    const cl::Event done = blur_from(LineBlur(runtime(), p, v), in, dst);
    const auto got = read_buffer<float>(runtime(), dst, in.size(), {done});
    // The edge lies between pixels 150 and 151: they are symmetric about one half.
    CHECK(std::abs(got[150 * 4] + got[151 * 4] - 1.0f) < kClose);
    CHECK(got[150 * 4] < 0.5f);
    CHECK(got[151 * 4] > 0.5f);
  }
}

TEST_CASE("stripes of period 3 are blurred away by every variant") {
  const LineBlur::Problem p{401, 1, 64, kHalf, Pixel::rgba32f};
  std::vector<float> in(401 * 4);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = (i / 4) % 3 == 0 ? 1.0f : 0.0f;
  const cl::Buffer dst = upload(in);
  for (const Variant& v : variants()) {
    if (!can(v, p)) continue;
    CAPTURE(v.name());
    const cl::Event done = blur_from(LineBlur(runtime(), p, v), in, dst);
    const auto got = read_buffer<float>(runtime(), dst, in.size(), {done});
    for (std::size_t x = 64; x < 401 - 64; ++x) REQUIRE(std::abs(got[x * 4] - 1.0f / 3) < 0.01f);
  }
}

TEST_CASE("not-a-number reaches exactly the pixels whose taps see it") {
  const LineBlur::Problem p{200, 40, 5, kHalf, Pixel::rgba32f};
  std::vector<float> in = noise_of(p);
  in[(20 * 200 + 100) * 4] = std::numeric_limits<float>::quiet_NaN();
  const cl::Buffer dst = upload(in);
  for (const Variant& v : variants()) {
    if (!can(v, p)) continue;
    CAPTURE(v.name());
    const cl::Event done = blur_from(LineBlur(runtime(), p, v), in, dst);
    const auto got = read_buffer<float>(runtime(), dst, in.size(), {done});
    for (int y = 0; y < 40; ++y) {
      for (int x = 0; x < 200; ++x) {
        const bool seen = std::abs(x - 100) <= 5 && std::abs(y - 20) <= 5;
        const std::size_t at = static_cast<std::size_t>(y * 200 + x) * 4;
        // A linear filter reads the next line too, with a weight of 0.
        const bool beside =
            v.row()->traits.is_linear && std::abs(x - 100) <= 6 && std::abs(y - 20) <= 6 && !seen;
        if (!beside) REQUIRE(std::isnan(got[at]) == seen);
        REQUIRE(!std::isnan(got[at + 1]));
      }
    }
  }
}

TEST_CASE("nothing of an earlier picture is left in the scratch memory") {
  for (const int width : {1, 7, 12, 13, 130}) {
    const LineBlur::Problem p{width, 19, 2.5, kHalf, Pixel::rgba32f};
    const auto in = noise_of(p);
    const std::vector<float> bad(in.size(), std::numeric_limits<float>::quiet_NaN());
    const cl::Buffer dst = upload(bad);
    for (const Variant& v : variants()) {
      if (!can(v, p)) continue;
      CAPTURE(v.name());
      CAPTURE(width);
      const LineBlur blur(runtime(), p, v);
      blur_from(blur, bad, dst);
      const cl::Event done = blur_from(blur, in, dst);
      const auto got = read_buffer<float>(runtime(), dst, in.size(), {done});
      CHECK(difference(expected(p, in, step_of(v, p)), got) < close(v));
    }
  }
}

// ---- Plans ------------------------------------------------------------------------------------

TEST_CASE("what variants promise: nothing is lost in a copy, more taps lose more") {
  const auto promise = [](const char* variant, double radius) {
    return LineBlur(runtime(), {40, 30, radius, kHalf}, variant).offer();
  };
  CHECK(promise("naive", 0.5).max_error == 0);
  CHECK(promise("naive", 0.5).work.operations == 0);
  CHECK(promise("weights_table", 9).max_error == 2 * (19 + 3) * 0x1p-24);
  CHECK(promise("naive", 9).max_error == 2 * (2 * 19 + 44) * 0x1p-24);
  CHECK(promise("subsampled", 64).max_error == 2 * (2 * 65 + 44) * 0x1p-24);
  // A place between two texels is off by up to a 512th, and values by up to 2.
  if (runtime().info().images) {
    CHECK(promise("image_line", 9).max_error == promise("naive", 9).max_error + 4 * 0x1p-24);
    CHECK(promise("image_table", 9).max_error ==
          promise("weights_table", 9).max_error + 4 * 0x1p-24);
    CHECK(promise("linear_pairs", 9).max_error ==
          doctest::Approx(promise("image_table", 9).max_error + 0x1p-7 + 4 * 0x1p-24));
    CHECK(promise("linear_pairs", 9).work.bytes_read == promise("naive", 9).work.bytes_read);
  }
  CHECK(promise("naive", 9).work.launches == 2);
  CHECK(promise("fused", 0.5).max_error == 0);
  CHECK(promise("fused", 9).max_error == (2 * 19 + 8) * 0x1p-24);
  CHECK(promise("fused", 9).work.launches == 1);
  CHECK(promise("fused", 9).work.bytes_read == 40 * 30 * 16);
  if (is_here("cpu_fused")) {
    CHECK(promise("cpu_fused", 0.5).max_error == 0);
    CHECK(promise("cpu_fused", 9).max_error == (2 * 19 + 8) * 0x1p-24);
    CHECK(promise("cpu_fused", 9).work.launches == 1);
    CHECK(promise("cpu_fused", 9).work.bytes_read == 40 * 30 * 16);
  }
  CHECK(promise("naive", 9).work.bytes_read == 2 * 40 * 30 * 16);
  // Straight alpha rounds a little more, and takes no launch more.
  LineBlur::Problem straight{40, 30, 9, kHalf};
  straight.alpha = LineBlur::Alpha::straight;
  for (const char* variant : {"naive", "fused", "cpu_fused"}) {
    if (!is_here(variant)) continue;
    const clcook::Offer offer = LineBlur(runtime(), straight, variant).offer();
    CHECK(offer.max_error == promise(variant, 9).max_error + 8 * 0x1p-24);
    CHECK(offer.work.launches == promise(variant, 9).work.launches);
  }
}

TEST_CASE("bytes on a CPU: small radii in sums of 16 bits, the others in floats") {
  if (!is_here("cpu_bytes")) return;
  const auto taken = [](double radius, Pixel pixel) {
    return LineBlur(runtime(), {640, 480, radius, kHalf, pixel}).variant().name();
  };
  for (const Pixel pixel : {Pixel::rg8, Pixel::rgb8, Pixel::rgba8}) {
    for (const double radius : {1.0, 2.5, 4.0, 8.0}) CHECK(taken(radius, pixel) == "cpu_bytes");
    CHECK(taken(40, pixel) == "cpu_fused");
  }
  CHECK(taken(2, Pixel::rgba16) == "cpu_fused");
  // Weights are off by up to 2^-17 each, a product of each pass by half of 2^-7 levels.
  const clcook::Offer offer =
      LineBlur(runtime(), {640, 480, 4, kHalf, Pixel::rgb8}, "cpu_bytes").offer();
  CHECK(offer.work.launches == 1);
  CHECK(offer.max_error < 0.1 / 255);
  CHECK(offer.max_error > 0.04 / 255);
  refused({640, 480, 25, kHalf, Pixel::rgb8}, "cpu_bytes", {}, "reaches 25 pixels",
          Errc::unsupported);
  refused({640, 480, 2, kHalf, Pixel::rgb16}, "cpu_bytes", {}, "is for bytes", Errc::unsupported);
  refused({5, 480, 2, kHalf, Pixel::rgb8}, "cpu_bytes", {}, "got 15", Errc::unsupported);
  LineBlur::Problem straight{640, 480, 2, kHalf, Pixel::rgba8};
  straight.alpha = LineBlur::Alpha::straight;
  refused(straight, "cpu_bytes", {}, "colours times alpha", Errc::unsupported);
}

TEST_CASE("names of pixel types") {
  CHECK(LineBlur::parse_pixel("rgba8") == Pixel::rgba8);
  CHECK(LineBlur::parse_pixel("rgba32f") == Pixel::rgba32f);
  const Error pixel = error_of([] { LineBlur::parse_pixel("rgb"); });
  CHECK(contains(pixel.what(), "'rgb'"));
  CHECK(contains(pixel.what(), "rgba32f"));
}

// A sigma in pixels and one in units of the radius are never taken for each other: what is in the
// braces of one problem makes no problem of the other blur.
template <class Problem, class... Args>
auto takes_braces(int) -> decltype(Problem{std::declval<Args>()...}, std::true_type());
template <class Problem, class... Args>
std::false_type takes_braces(...);
template <class... Args>
constexpr bool kLine = decltype(takes_braces<LineBlur::Problem, Args...>(0))::value;
template <class... Args>
constexpr bool kGaussian = decltype(takes_braces<clcook::GaussianBlur::Problem, Args...>(0))::value;
static_assert(kLine<int, int, double, Sigma> && !kGaussian<int, int, double, Sigma>);
static_assert(!kLine<int, int, double, double> && kGaussian<int, int, double, double>);
static_assert(!kLine<int, int, double, float> && kGaussian<int, int, double, float>);
static_assert(kLine<int, int, double, Sigma, Pixel>);
static_assert(!std::is_convertible_v<double, Sigma> && !std::is_convertible_v<Sigma, double>);

TEST_CASE("a problem out of range is refused with its value") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  const int most = LineBlur::kMaxSize;
  refused({most, most, 3, kHalf}, "overflows");
  refused({5, 5, nan, kHalf}, "got nan");
  refused({5, 5, inf, kHalf}, "radius must be");
  refused({5, 5, 3, Sigma(nan)}, "relative_sigma must be finite");
  refused({5, 5, 3, Sigma(inf)}, "relative_sigma must be finite");
  refused({5, 5, 3, kHalf, static_cast<Pixel>(99)}, "no pixel type of the value 99");
  refused({5, 5, 3, kHalf, Pixel::rgba8, static_cast<LineBlur::Alpha>(3)},
          "no alpha of the value 3");
}

TEST_CASE("a picture that no device can hold is out of resources, not a crash") {
  const Error error = error_of([] {
    LineBlur(runtime(), {LineBlur::kMaxSize, 1 << 20, 3, kHalf}, "naive");
  });
  CHECK(error.code == Errc::out_of_resources);
}

TEST_CASE("a work-group that cannot run is refused before anything is enqueued") {
  const LineBlur::Problem p{5, 5, 3, kHalf};
  refused(p, "naive", {-1}, "must not be negative, got -1");
  refused(p, "naive", {1 << 20}, "1048576", Errc::unsupported);
  refused(p, "local_line", {1 << 20}, "1048576", Errc::unsupported);
  refused(p, "coalesced", {96}, "got 96");
  refused(p, "fused", {64}, "got 64");
  refused(p, "cpu_fused", {64}, "got 64");
  // Pairs of taps in several tiles need two windows of a group each.
  refused({5, 5, 5000, kHalf}, "symmetric", {2000}, "2000", Errc::unsupported);
}

TEST_CASE("the user's buffer may hold source and result side by side, and sub-buffers") {
  const LineBlur::Problem p{24, 10, 4.5, kHalf, Pixel::rgba32f};
  const auto in = noise_of(p);
  const auto want = expected(p, in);
  const std::size_t row = 24 * 16;
  const cl::Buffer both = clcook::create_buffer(runtime(), 2 * row * 10);
  const std::size_t origin[3] = {0, 0, 0};
  const std::size_t region[3] = {row, 10, 1};
  clcook::check(
      clEnqueueWriteBufferRect(runtime().queue()(), both(), CL_TRUE, origin, origin, region,
                               2 * row, 0, row, 0, in.data(), 0, nullptr, nullptr),
      "clEnqueueWriteBufferRect");
  // Left half into right half: the same rows of memory, no common byte.
  const LineBlur blur(runtime(), p);
  const cl::Event done = blur({both, 0, 2 * row}, {both, row, 2 * row});
  const auto all = read_buffer<float>(runtime(), both, 2 * in.size(), {done});
  std::vector<float> right;
  for (std::size_t y = 0; y < 10; ++y) {
    right.insert(right.end(), all.begin() + static_cast<std::ptrdiff_t>((2 * y + 1) * 96),
                 all.begin() + static_cast<std::ptrdiff_t>((2 * y + 2) * 96));
  }
  CHECK(difference(want, right) < kClose);

  const std::size_t bytes = in.size() * sizeof(float);
  const std::size_t part = (bytes + 4095) / 4096 * 4096;  // sub-buffers begin at aligned bytes
  const cl::Buffer parent = clcook::create_buffer(runtime(), 2 * part);
  const auto sub = [&](std::size_t begin) {
    const cl_buffer_region where{begin, bytes};
    cl_int status = CL_SUCCESS;
    cl::Buffer out(clCreateSubBuffer(parent(), CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION,
                                     &where, &status));
    clcook::check(status, "clCreateSubBuffer");
    return out;
  };
  const cl::Buffer first = sub(0);
  const cl::Buffer second = sub(part);
  const cl::Buffer twin = sub(0);
  clcook::check(clEnqueueWriteBuffer(runtime().queue()(), first(), CL_TRUE, 0, bytes, in.data(), 0,
                                     nullptr, nullptr),
                "write");
  const cl::Event sub_done = blur(first, second);
  CHECK(difference(want, read_buffer<float>(runtime(), second, in.size(), {sub_done})) < kClose);
  CHECK(contains(error_of([&] { blur(first, twin); }).what(), "overlap"));
  CHECK(contains(error_of([&] { blur(first, parent); }).what(), "overlap"));
}

TEST_CASE("calls of one plan on an out-of-order queue follow one another") {
  const auto other_queue = out_of_order_runtime(runtime());
  if (!other_queue) {
    MESSAGE("skipped: the device has no out-of-order queue");
    return;
  }
  const Runtime& rt = *other_queue;
  const LineBlur::Problem p{150, 60, 20, kHalf, Pixel::rgba32f};
  const auto in = noise_of(p, 3);
  const auto other = noise_of(p, 4);
  for (const Variant v : {"naive", "coalesced", "cpu_fused"}) {
    if (!is_here(v)) continue;
    CAPTURE(v.name());
    const LineBlur blur(rt, p, v);
    const std::size_t bytes = in.size() * sizeof(float);
    const cl::Buffer a = upload(in);
    const cl::Buffer b = upload(other);
    const cl::Buffer out_a = clcook::create_buffer(rt, bytes);
    const cl::Buffer out_b = clcook::create_buffer(rt, bytes);
    const cl::Buffer twice = clcook::create_buffer(rt, bytes);
    // Two independent calls share the plan's scratch memory; the third waits by its event.
    const cl::Event first = blur(a, out_a);
    const cl::Event second = blur(b, out_b);
    const cl::Event third = blur(out_a, twice, {first});
    const auto want = expected(p, in);
    std::vector<float> once(want.begin(), want.end());
    CHECK(difference(want, read_buffer<float>(rt, out_a, in.size(), {first})) < kClose);
    CHECK(difference(expected(p, other), read_buffer<float>(rt, out_b, in.size(), {second})) <
          kClose);
    CHECK(difference(expected(p, once), read_buffer<float>(rt, twice, in.size(), {third})) <
          kClose);
  }
}

TEST_CASE("a call behind a failed event fails alone; the plan works on") {
  const LineBlur::Problem p{20, 20, 3, kHalf, Pixel::rgba32f};
  const auto in = noise_of(p);
  const LineBlur blur(runtime(), p);
  const cl::Buffer src = upload(in);
  const cl::Buffer dst = upload(in);
  cl_int status = CL_SUCCESS;
  const cl::Event never(clCreateUserEvent(runtime().context()(), &status));
  clcook::check(status, "clCreateUserEvent");
  // Its own queue: a failed command may block an in-order queue for good.
  const auto other_queue = out_of_order_runtime(runtime());
  if (!other_queue) {
    MESSAGE("skipped: the device has no out-of-order queue");
    return;
  }
  const Runtime& rt = *other_queue;
  const LineBlur plan(rt, p);
  const cl::Event failed = plan(src, dst, {never});
  clcook::check(clSetUserEventStatus(never(), -1), "clSetUserEventStatus");
  const cl_event handle = failed();
  CHECK(clWaitForEvents(1, &handle) != CL_SUCCESS);
  const cl::Event done = plan(src, dst);
  CHECK(difference(expected(p, in), read_buffer<float>(rt, dst, in.size(), {done})) < kClose);
}

TEST_CASE("the plan may go before its work is done") {
  const LineBlur::Problem p{64, 64, 10, kHalf, Pixel::rgba32f};
  const auto in = noise_of(p);
  const cl::Buffer src = upload(in);
  const cl::Buffer dst = upload(in);
  cl::Event done;
  for (const Variant v : {"coalesced", "fused", "cpu_fused"}) {
    if (!is_here(v)) continue;
    done = LineBlur(runtime(), p, v)(src, dst);
    CHECK(difference(expected(p, in), read_buffer<float>(runtime(), dst, in.size(), {done})) <
          kClose);
  }
}

// ---- Values ------------------------------------------------------------------------------------

LONG_TEST_CASE("a constant picture stays what it is", 16) {
  std::size_t number = 0;
  for (const Variant& v : variants()) {
    CAPTURE(v.name());
    for (const auto& [pixel, value] :
         {std::pair(Pixel::rgba8, 255.0), std::pair(Pixel::rgba16, 65535.0),
          std::pair(Pixel::rgba16f, 65504.0), std::pair(Pixel::rgba16f, 0x1p-24)}) {
      if (left_out(number++, 7)) continue;
      const LineBlur::Problem p{75, 33, 21.5, Sigma(0.6), pixel};
      if (!can(v, p)) continue;
      const auto in = clcook::store_channels(clcook::channel_of(pixel),
                                             std::vector<double>(75 * 33 * 4, value));
      const cl::Buffer dst = clcook::create_buffer(runtime(), in.size());
      const cl::Event done = blur_from(LineBlur(runtime(), p, v), in, dst);
      CHECK(read_buffer<unsigned char>(runtime(), dst, in.size(), {done}) == in);
    }
  }
}

TEST_CASE("copies are exact: radius 0, radius below 1, sigma 0") {
  const std::vector<LineBlur::Problem> copies = {{19, 7, 0, kHalf, Pixel::rgba32f},
                                                 {19, 7, 0.99, kHalf, Pixel::rgba32f},
                                                 {19, 7, 12, Sigma(0), Pixel::rgba32f}};
  for (const LineBlur::Problem& p : copies) {
    CHECK(LineBlur::is_copy(p));
    auto in = noise_of(p);
    in[5] = std::numeric_limits<float>::infinity();
    in[6] = -0.0f;
    for (const Variant& v : buffer_variants()) {
      const cl::Buffer dst = clcook::create_buffer(runtime(), in.size() * 4);
      const cl::Event done = LineBlur(runtime(), p, v)(upload(in), dst);
      const auto got = read_buffer<float>(runtime(), dst, in.size(), {done});
      CHECK(std::memcmp(got.data(), in.data(), in.size() * 4) == 0);
    }
  }
  CHECK_FALSE(LineBlur::is_copy({19, 7, 1, kHalf}));
}

TEST_CASE("a sigma that underflows is a copy in effect, one that overflows a box") {
  const LineBlur::Problem tiny{40, 9, 6, Sigma(1e-30), Pixel::rgba32f};
  const LineBlur::Problem huge{40, 9, 6, Sigma(1e30), Pixel::rgba32f};
  const auto in = noise_of(tiny);
  for (const Variant& v : variants()) {
    if (!can(v, tiny)) continue;
    CAPTURE(v.name());
    for (const LineBlur::Problem& p : {tiny, huge}) {
      const cl::Buffer dst = clcook::create_buffer(runtime(), in.size() * 4);
      const cl::Event done = blur_from(LineBlur(runtime(), p, v), in, dst);
      // Nothing is lost by shares of 0 and a half.
      CHECK(difference(expected(p, in), read_buffer<float>(runtime(), dst, in.size(), {done})) <
            kClose);
    }
  }
}

TEST_CASE("values beyond 0..1 survive: float pictures are not cut") {
  const LineBlur::Problem p{50, 20, 5, kHalf, Pixel::rgba32f};
  auto in = noise_of(p);
  for (float& value : in) value = value * 2000.0f - 1000.0f;
  const cl::Buffer dst = clcook::create_buffer(runtime(), in.size() * 4);
  const cl::Event done = LineBlur(runtime(), p)(upload(in), dst);
  CHECK(difference(expected(p, in), read_buffer<float>(runtime(), dst, in.size(), {done})) <
        1000 * kClose);
}

// ---- Straight alpha ------------------------------------------------------------------------------

namespace {

using Bytes = std::vector<unsigned char>;

Bytes blurred(const LineBlur::Problem& p, const Bytes& src, Variant variant = "automatic") {
  const cl::Buffer dst = clcook::create_buffer(runtime(), src.size());
  const cl::Event done = LineBlur(runtime(), p, variant)(upload(src), dst);
  return read_buffer<unsigned char>(runtime(), dst, src.size(), {done});
}

}  // namespace

TEST_CASE("straight alpha: white beside clear red stays white") {
  Bytes src;
  for (const int alpha : {255, 255, 255, 255, 0, 0, 0, 0}) {
    const unsigned char rest = alpha == 0 ? 0 : 255;
    src.insert(src.end(), {255, rest, rest, static_cast<unsigned char>(alpha)});
  }
  LineBlur::Problem p{8, 1, 4, Sigma(0.25), Pixel::rgba8, LineBlur::Alpha::straight};
  const auto fourth = [](const Bytes& out) { return Bytes(out.begin() + 12, out.begin() + 16); };
  CHECK(fourth(blurred(p, src)) == Bytes{255, 255, 255, 178});
  p.alpha = LineBlur::Alpha::none;
  const Bytes plain = blurred(p, src);
  CHECK(fourth(plain) == Bytes{255, 178, 178, 178});
  p.alpha = LineBlur::Alpha::premultiplied;
  CHECK(blurred(p, src) == plain);
  // A copy is one, clear red and all.
  p.alpha = LineBlur::Alpha::straight;
  p.radius = 0.5;
  CHECK(blurred(p, src) == src);
}

LONG_TEST_CASE("two channels are the first and the last of four, bit by bit", 16) {
  constexpr int kWidth = 45;
  constexpr int kHeight = 23;
  std::size_t number = 0;
  for (const Variant& v : buffer_variants()) {
    // It filters channels as they lie, and adds the taps of two channels in another order than of four.
    if (v.row()->traits.is_method) continue;
    for (const Pixel pixel : LineBlur::Spec::pixel_types()) {
      const clcook::PixelRow& two = clcook::row_of(clcook::kPixelTypes, pixel);
      if (two.channels != 2 || left_out(number++, 4)) continue;
      const clcook::Channel channel = two.channel;
      Pixel four = pixel;
      for (const auto& row : clcook::kPixelTypes) {
        if (row.channel == channel && row.channels == 4) four = row.value;
      }
      clcook::Random random(11);
      const double top = static_cast<double>(clcook::top_of(channel));
      std::vector<double> small;
      std::vector<double> large;
      for (int i = 0; i < kWidth * kHeight; ++i) {
        const double first = top * static_cast<double>(random.uniform());
        const double last = random.below(5) == 0 ? 0 : top * static_cast<double>(random.uniform());
        small.insert(small.end(), {first, last});
        large.insert(large.end(), {first, first, first, last});
      }
      const Bytes of_two = clcook::store_channels(channel, small);
      const Bytes of_four = clcook::store_channels(channel, large);
      for (const auto alpha : {LineBlur::Alpha::none, LineBlur::Alpha::straight}) {
        for (const double radius : {0.5, 7.0}) {
          CAPTURE(v.name());
          CAPTURE(two.name);
          CAPTURE(radius);
          const Bytes got = blurred({kWidth, kHeight, radius, kHalf, pixel, alpha}, of_two, v);
          const Bytes wanted = blurred({kWidth, kHeight, radius, kHalf, four, alpha}, of_four, v);
          REQUIRE(got.size() * 2 == wanted.size());
          const std::size_t bytes = clcook::channel_bytes(channel);
          std::size_t wrong = 0;
          for (std::size_t i = 0; i < got.size(); ++i) {
            const std::size_t value = i / bytes;
            const std::size_t at = value / 2 * 4 + (value % 2 == 0 ? 0 : 3);
            wrong += got[i] != wanted[at * bytes + i % bytes] ? 1 : 0;
          }
          CHECK(wrong == 0);
        }
      }
    }
  }
}

LONG_TEST_CASE("straight alpha: flat colours stay, and no colour under alpha 0 matters", 16) {
  constexpr int kWidth = 37;
  constexpr int kHeight = 19;
  std::size_t number = 0;
  for (const Variant& v : buffer_variants()) {
    for (const Pixel pixel : {Pixel::rgba8, Pixel::rgba16, Pixel::rgba16f, Pixel::rgba32f}) {
      const bool is_chosen = v.name() == "coalesced" || v.row()->traits.is_method;
      if (pixel != Pixel::rgba8 && !is_chosen) continue;
      if (v.name() == "cpu_bytes") continue;  // refuses straight alpha
      if (left_out(number++, 4)) continue;
      CAPTURE(v.name());
      CAPTURE(std::string(clcook::pixel_type_name(pixel, "")));
      const clcook::Channel channel = clcook::channel_of(pixel);
      const double top = static_cast<double>(clcook::top_of(channel));
      LineBlur::Problem p{kWidth, kHeight, 6, kHalf, pixel, LineBlur::Alpha::straight};
      clcook::Random random(3);
      std::vector<double> values;
      for (int i = 0; i < kWidth * kHeight; ++i) {
        const double alpha = random.below(3) == 0 ? 0 : static_cast<double>(random.uniform());
        values.insert(values.end(), {0.25 * top, 0.5 * top, 0.75 * top, alpha * top});
      }
      const Bytes flat = clcook::store_channels(channel, values);
      const double kinds[] = {0, top, std::numeric_limits<double>::quiet_NaN(),
                              std::numeric_limits<double>::infinity()};
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (i % 4 != 3 && clcook::load_channel(channel, flat.data(), i / 4 * 4 + 3) == 0)
          values[i] = kinds[random.below(clcook::is_integer(channel) ? 2 : 4)];
      }
      const Bytes other = clcook::store_channels(channel, values);
      const Bytes out = blurred(p, flat, v);
      CHECK(blurred(p, other, v) == out);
      double worst = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (i % 4 == 3 || clcook::load_channel(channel, out.data(), i / 4 * 4 + 3) == 0) continue;
        const double wanted = clcook::load_channel(channel, flat.data(), i % 4);
        worst =
            std::max(worst, std::abs(clcook::load_channel(channel, out.data(), i) - wanted) / top);
      }
      CHECK(worst <= (pixel == Pixel::rgba32f ? kClose : 0));
    }
  }
}

// ---- Images ------------------------------------------------------------------------------------

LONG_TEST_CASE("images are blurred as buffers are", 16) {
  if (!runtime().info().images) {
    MESSAGE("skipped: the device has no images");
    return;
  }
  const LineBlur::Problem p{30, 12, 4, kHalf, Pixel::rgba32f};
  const auto in = noise_of(p);
  const auto want = expected(p, in);
  const LineBlur blur(runtime(), p);
  std::vector<float> canvas(40 * 20 * 4, -1.0f);
  const cl::Image2D src = make_image(30, 12, {CL_RGBA, CL_FLOAT}, in.data());
  const cl::Image2D dst = make_image(40, 20, {CL_RGBA, CL_FLOAT}, canvas.data());
  const cl::Event done = blur(ImageView(src), ImageView(dst, 7, 5));
  std::vector<float> got(in.size());
  read_image(dst, 7, 5, 30, 12, got.data(), done);
  CHECK(difference(want, got) < kClose);
  std::vector<float> corner(6 * 4 * 4);
  read_image(dst, 0, 0, 6, 4, corner.data(), done);
  CHECK(corner == std::vector<float>(corner.size(), -1.0f));
  // In place: the pixels go through buffers of the plan.
  const cl::Event in_place = blur(ImageView(src), ImageView(src), {done});
  read_image(src, 0, 0, 30, 12, got.data(), in_place);
  CHECK(difference(want, got) < kClose);

  const LineBlur::Problem bytes{30, 12, 4, kHalf, Pixel::rgba8};
  std::vector<unsigned char> in8(30 * 12 * 4);
  clcook::Random random(9);
  for (unsigned char& value : in8) value = static_cast<unsigned char>(random.below(256));
  const LineBlur blur8(runtime(), bytes);
  for (const cl_channel_type type :
       {cl_channel_type{CL_UNORM_INT8}, cl_channel_type{CL_UNSIGNED_INT8}}) {
    const cl::Image2D image = make_image(30, 12, {CL_RGBA, type}, in8.data());
    const cl::Event done8 = blur8(ImageView(image), ImageView(image));
    std::vector<unsigned char> got8(in8.size());
    read_image(image, 0, 0, 30, 12, got8.data(), done8);
    CHECK(difference(ref::blur(in8.data(), 30, 12, ref::taps(4, kSigma)), got8) <=
          0.5 + 255 * (kClose + blur8.offer().max_error));
  }

  const std::pair<Pixel, cl_channel_type> wide[] = {{Pixel::rgba16, CL_UNORM_INT16},
                                                    {Pixel::rgba16, CL_UNSIGNED_INT16},
                                                    {Pixel::rgba16f, CL_HALF_FLOAT}};
  for (const auto& [pixel, type] : wide) {
    const clcook::Channel channel = clcook::channel_of(pixel);
    std::vector<double> values(30 * 12 * 4);
    for (double& value : values) value = static_cast<double>(random.below(2049));  // exact halfs
    const std::vector<unsigned char> stored = clcook::store_channels(channel, values);
    const cl::Image2D image = make_image(30, 12, {CL_RGBA, type}, stored.data());
    const cl::Event done16 =
        LineBlur(runtime(), {30, 12, 4, kHalf, pixel})(ImageView(image), ImageView(image));
    std::vector<unsigned char> got16(stored.size());
    read_image(image, 0, 0, 30, 12, got16.data(), done16);
    const std::vector<double> exact = ref::blur(values.data(), 30, 12, ref::taps(4, kSigma));
    double most = 0;
    for (std::size_t i = 0; i < exact.size(); ++i)
      most = std::max(most, std::abs(exact[i] - clcook::load_channel(channel, got16.data(), i)));
    CHECK(most <= 0.5 + 2048 * kClose);  // halfs up to 2048 lie at most 1 apart
  }

  check_refused([&] { blur8(ImageView(src), ImageView(src)); }, "image format");
  check_refused([&] { blur(ImageView(src, 1, 0), ImageView(dst)); }, "do not fit");
  check_refused([&] { blur(ImageView(cl::Image2D()), ImageView(dst)); }, "src is null");
}

TEST_CASE("linear pairs: the reference moves weight between the two taps of a read alone") {
  for (const double radius : {1.0, 2.0, 5.0, 8.5, 31.0, 64.0}) {
    CAPTURE(radius);
    const auto taps = ref::taps(radius, kSigma);
    const int side = taps.back().offset;
    const auto exact = ref::linear_pairs(taps, 0x1p40);
    const auto coarse = ref::linear_pairs(taps, 256);
    REQUIRE(exact.size() == taps.size());
    double moved = 0;
    for (std::size_t i = 0; i < taps.size(); ++i) {
      CHECK(exact[i].weight == doctest::Approx(taps[i].weight).epsilon(1e-9));
      CHECK(coarse[i].weight == coarse[taps.size() - 1 - i].weight);
      moved += std::abs(coarse[i].weight - taps[i].weight);
    }
    CHECK(moved > 0);
    CHECK(moved <= 0x1p-8);  // the promise, of values that are 2 apart
    CHECK(std::abs(ref::centroid(coarse)) < 1e-12);
    CHECK(coarse[static_cast<std::size_t>(side)].weight > 0);
  }
}

TEST_CASE("linear pairs are the pairs of the reference where a device filters in float") {
  if (!runtime().info().images || !quirks::is_pocl(runtime().info())) {
    MESSAGE("skipped: texture units may filter in fewer bits");
    return;
  }
  for (const auto& [width, height, radius] :
       {std::tuple(45, 19, 1.0), std::tuple(45, 19, 2.0), std::tuple(97, 31, 7.5),
        std::tuple(97, 31, 20.0), std::tuple(11, 3, 33.0), std::tuple(1, 1, 4.0)}) {
    const LineBlur::Problem p{width, height, radius, kHalf, Pixel::rgba32f};
    CAPTURE(p.width);
    CAPTURE(p.radius);
    const auto in = noise_of(p);
    const cl::Buffer dst = clcook::create_buffer(runtime(), in.size() * 4);
    const cl::Event done = blur_from(LineBlur(runtime(), p, "linear_pairs"), in, dst);
    const auto got = read_buffer<float>(runtime(), dst, in.size(), {done});
    const auto taps = ref::linear_pairs(ref::taps(radius, kSigma), 256);
    const auto size = [](int value) { return static_cast<std::size_t>(value); };
    CHECK(difference(ref::blur(in.data(), size(width), size(height), taps), got) < kClose);
  }
}

TEST_CASE("what reads an image says what it cannot") {
  const auto cannot = [](const char* variant, const LineBlur::Problem& p, const char* why) {
    const Error error = error_of([&] { LineBlur(runtime(), p, variant); });
    CHECK(error.code == Errc::unsupported);
    CHECK_MESSAGE(contains(error.what(), why), error.what());
  };
  LineBlur::Problem straight{20, 10, 3, kHalf, Pixel::rgba8};
  straight.alpha = LineBlur::Alpha::straight;
  for (const char* variant : {"image_line", "image_table", "linear_pairs"}) {
    CAPTURE(variant);
    cannot(variant, straight, "straight alpha");
    cannot(variant, {20, 10, 0.5, kHalf}, "is a copy");
    cannot(variant, {20, 10, 3, kHalf, Pixel::rg8}, "four channels, got rg8");
  }
  cannot("linear_pairs", {70000, 1, 3, kHalf}, "at most 65536, got 70000 x 1");
  if (!runtime().info().images) {
    cannot("image_line", {20, 10, 3, kHalf}, "the device has no images");
    return;
  }
  const auto most = static_cast<int>(runtime().info().image_width);
  cannot("image_line", {most + 1, 1, 3, kHalf}, "exceeds the device's limit");
  cannot("image_line", {1, most + 1, 3, kHalf},
         "exceeds the device's limit");  // between the passes

  const LineBlur blur(runtime(), {20, 10, 3, kHalf});
  const LineBlur through(runtime(), {20, 10, 3, kHalf}, "image_line");
  const cl::Buffer a = clcook::create_buffer(runtime(), 20 * 10 * 16);
  const cl::Buffer b = clcook::create_buffer(runtime(), 20 * 10 * 16);
  const std::vector<float> texels(20 * 10 * 4);
  const cl::Image2D image = make_image(20, 10, {CL_RGBA, CL_FLOAT}, texels.data());
  const cl::Image2D other = make_image(10, 20, {CL_RGBA, CL_FLOAT}, texels.data());
  const cl::Image2D small = make_image(20, 5, {CL_RGBA, CL_FLOAT}, texels.data());
  const cl::Image2D bytes = make_image(20, 10, {CL_RGBA, CL_UNORM_INT8}, texels.data());
  check_refused([&] { blur(image, b); }, "got a 2-D image to read");
  check_refused([&] { through(a, b); }, "reads a 2-D image and writes a buffer");
  check_refused([&] { through(ImageView(image), ImageView(image)); }, "writes a buffer");
  check_refused([&] { through(other, b); }, "do not fit an image of 10 x 20");
  check_refused([&] { through(small, b); }, "do not fit an image of 20 x 5");
  check_refused([&] { through(bytes, b); }, "image format");
  check_refused([&] { through(cl::Image2D(), b); }, "src is null");
  check_refused([&] { through(image, {b, 8}); }, "multiples of 16");
}
