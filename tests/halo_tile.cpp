// The neighbourhood filters: what the generic conformance test cannot know. And clcook/halo.clh,
// used by kernels that are not ours.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <clcook/halo_tile.hpp>
#include <clcook/reference/halo_tile.hpp>
#include <clcook/registry/guarded_buffer.hpp>
#include <clcook/registry/pixels.hpp>
#include <clcook/registry/random.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "support/borders.hpp"
#include "support/grid.hpp"
#include "support/images.hpp"
#include "support/testing.hpp"

namespace {

namespace ref = clcook::reference::halo_tile;
using namespace clcook;
using namespace clcook::testing;
using Border = HaloTile::Border;
using Filter = HaloTile::Filter;
using Pixel = HaloTile::Pixel;
using Problem = HaloTile::Problem;
using Tune = HaloTile::Tune;
using Variant = HaloTile::Variant;

constexpr Filter kFilters[] = {Filter::dilation, Filter::erosion, Filter::median, Filter::clamp};
const float kNan = std::numeric_limits<float>::quiet_NaN();
const float kInf = std::numeric_limits<float>::infinity();

Problem picture(Filter filter, int width, int height, int radius = 1, Pixel pixel = Pixel::r32f) {
  Problem p;
  p.filter = filter;
  p.width = width;
  p.height = height;
  p.radius = radius;
  p.pixel = pixel;
  return p;
}

std::size_t values_of(const Problem& p) {
  return static_cast<std::size_t>(p.width) * static_cast<std::size_t>(p.height) *
         static_cast<std::size_t>(p.depth) * (p.pixel == Pixel::rgba32f ? 4 : 1);
}

// The result of a variant, nothing where the device or the problem does not allow it.
std::optional<std::vector<float>> filtered(const Problem& p, Variant variant,
                                           const std::vector<float>& in,
                                           const std::vector<float>& history = {}) {
  std::optional<HaloTile> plan;
  try {
    plan.emplace(runtime(), p, variant);
  } catch (const Error& error) {
    if (error.code != Errc::unsupported) throw;
    return std::nullopt;
  }
  const cl::Buffer dst = clcook::create_buffer(runtime(), in.size() * sizeof(float));
  cl::Event done;
  cl::Buffer past;
  cl::Buffer src;
  cl::Image2D image;
  if (!history.empty()) past = upload(history);
  if (plan->variant().row()->traits.is_image) {
    image = make_image(static_cast<std::size_t>(p.width), static_cast<std::size_t>(p.height),
                       clcook::image_format(p.pixel), in.data());
    done = history.empty() ? (*plan)(image, dst) : (*plan)(image, past, dst);
  } else {
    src = upload(in);
    done = history.empty() ? (*plan)(src, dst) : (*plan)(src, past, dst);
  }
  return read_buffer<float>(runtime(), dst, in.size(), {done});
}

// Equal by value, NaN where NaN is expected.
std::size_t differences(const std::vector<float>& expected, const std::vector<float>& got) {
  REQUIRE(expected.size() == got.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const bool same = std::isnan(expected[i])
                          ? std::isnan(got[i])
                          : !(expected[i] < got[i] || got[i] < expected[i]) && !std::isnan(got[i]);
    if (!same) ++count;
  }
  return count;
}

Tune tile(int width, int height, int depth = 1, int outputs = 0) {
  Tune out;
  out.tile_width = width;
  out.tile_height = height;
  out.tile_depth = depth;
  out.outputs = outputs;
  return out;
}

constexpr PlanRefused<HaloTile> refused;

// Whether no plan is made here, since this device's compiler ends the process over its kernels.
bool refused_here(const Problem& p, Variant v, const Tune& tune = {}) {
  if (v.row() == nullptr || !HaloTile::Spec::ends_compiler({*v.row(), p, tune, runtime().info()}))
    return false;
  refused(p, v, tune, "ends the process", Errc::unsupported);
  return true;
}

}  // namespace

// ---- The reference ------------------------------------------------------------------------------

TEST_CASE("border modes continue a row of three as they say") {
  const auto row = [](ref::Border border) {
    std::string out;
    for (int i = -7; i < 10; ++i) {
      const int at = ref::border_index(i, 3, border);
      out += at < 0 ? '.' : static_cast<char>('a' + at);
    }
    return out;
  };
  CHECK(row(ref::Border::clamp) == "aaaaaaaabcccccccc");
  CHECK(row(ref::Border::wrap) == "cabcabcabcabcabca");
  CHECK(row(ref::Border::mirror) == "aabccbaabccbaabcc");
  CHECK(row(ref::Border::reflect_101) == "bcbabcbabcbabcbab");
  CHECK(row(ref::Border::constant) == ".......abc.......");
  for (const auto& mode : clcook::reference::kBorders) {
    const ref::Border border = mode.value;
    if (border == ref::Border::constant) continue;
    for (int i = -5; i < 6; ++i) CHECK(ref::border_index(i, 1, border) == 0);
  }
}

TEST_CASE("the reference's filters by hand") {
  CHECK(ref::largest({1, kNan, 3, 2}) == 3);
  CHECK(ref::largest({kNan, kNan}) == -kInf);
  CHECK(ref::smallest({kNan}) == kInf);
  CHECK(ref::middle({9, 1, 8, 2, 7, 3, 6, 4, 5}) == 5);
  CHECK(ref::middle({1, 1, 1, 1, kNan, kNan, kNan, kNan, 0}) == 1);
  CHECK(ref::middle({1, 1, 1, 1, kNan, kNan, kNan, kNan, kNan}) == kInf);
  CHECK(ref::clamped(5, {1, 2, 3}) == 3);
  CHECK(ref::clamped(0, {1, 2, 3}) == 1);
  CHECK(ref::clamped(2.5f, {1, 2, 3}) == 2.5f);
  CHECK(ref::clamped(kNan, {1, 2, 3}) == 1);
  CHECK(ref::clamped(5, {kNan, kNan}) == 5);
  CHECK(std::isnan(ref::clamped(kNan, {kNan})));
}

TEST_CASE("the reference's neighbourhoods are the window, and its filters what theory says") {
  const auto in = noise(9 * 7 * 2, 4);
  const ref::Volume picture{9, 7, 1, 2, in};
  const ref::Volume volume{9, 1, 7, 2, in};
  for (const auto& mode : clcook::reference::kBorders) {
    const ref::Border border = mode.value;
    if (border == ref::Border::constant) continue;
    CAPTURE(mode.name);
    // The largest within 2 is the largest within 1 of the largest within 1.
    ref::Volume once = picture;
    once.values = ref::dilation(picture, 1, border, {});
    // An erosion is the dilation of what is dark.
    ref::Volume dark = picture;
    for (float& value : dark.values) value = -value;
    auto grown = ref::dilation(dark, 2, border, {});
    for (float& value : grown) value = -value;
    CHECK(ref::erosion(picture, 2, border, {}) == grown);
    CHECK(ref::dilation(once, 1, border, {}) == ref::dilation(picture, 2, border, {}));
    // Over all pixels it is the largest of all; so is the middle, of all, counted by hand.
    float most[2] = {-kInf, -kInf};
    for (std::size_t i = 0; i < in.size(); ++i) most[i % 2] = std::max(most[i % 2], in[i]);
    const auto all = ref::dilation(picture, 9, border, {});
    for (std::size_t i = 0; i < all.size(); ++i) CHECK(all[i] == most[i % 2]);
    // A picture that stands on its edge is the same: y became z.
    CHECK(ref::dilation(volume, 1, border, {}) == ref::dilation(picture, 1, border, {}));
    // The median of what was turned upside down is the median, upside down.
    ref::Volume minus = picture;
    for (float& value : minus.values) value = -value;
    auto median = ref::median(minus, 1, border, {});
    for (float& value : median) value = -value;
    CHECK(median == ref::median(picture, 1, border, {}));
    // A history clamped twice is clamped once, and one above everything becomes the dilation.
    const auto past = noise(in.size(), 9);
    const auto clamped = ref::clamp(picture, past, 1, border, {});
    CHECK(ref::clamp(picture, clamped, 1, border, {}) == clamped);
    CHECK(ref::clamp(picture, std::vector<float>(in.size(), 9e9f), 1, border, {}) ==
          ref::dilation(picture, 1, border, {}));
  }
  // By hand: the middle of 3 x 3, and a corner that sees five times the constant.
  const ref::Volume nine{3, 3, 1, 1, {9, 1, 8, 2, 7, 3, 6, 4, 5}};
  CHECK(ref::median(nine, 1, ref::Border::clamp, {})[4] == 5);
  CHECK(ref::median(nine, 1, ref::Border::constant, {100, 0, 0, 0})[0] == 100);
  CHECK(ref::median(nine, 1, ref::Border::constant, {0, 0, 0, 0})[0] == 0);
}

// ---- Values -------------------------------------------------------------------------------------

LONG_TEST_CASE("the median network sorts every pattern of zeros and ones", 16) {
  // A network of compare-exchanges that is right for all 512 patterns of 0 and 1 is right for all
  // values. Pattern n lies in a 3 x 3 cell of its own; its median is the middle pixel of the cell.
  const Problem p = picture(Filter::median, 3 * 512, 3);
  std::vector<float> in(values_of(p));
  for (std::size_t n = 0; n < 512; ++n) {
    for (std::size_t k = 0; k < 9; ++k) {
      in[k / 3 * 1536 + 3 * n + k % 3] = (n >> k & 1) != 0 ? 1.0f : 0.0f;
    }
  }
  for (const Variant v : HaloTile::variants()) {
    CAPTURE(v.name());
    const auto got = filtered(p, v, in);
    if (!got) continue;
    for (std::size_t n = 0; n < 512; ++n) {
      int ones = 0;
      for (std::size_t bits = n; bits != 0; bits >>= 1) ones += static_cast<int>(bits & 1);
      REQUIRE((*got)[1536 + 3 * n + 1] == (ones >= 5 ? 1.0f : 0.0f));
    }
  }
}

LONG_TEST_CASE("one bright pixel grows to a square of 2 radius + 1", 16) {
  std::size_t number = 0;
  for (const int radius : {1, 2, 3, 7}) {
    if (left_out(number++, 4)) continue;
    const Problem p = picture(Filter::dilation, 41, 39, radius);
    std::vector<float> in(values_of(p));
    in[19 * 41 + 20] = 1;
    for (const Variant v : HaloTile::variants()) {
      CAPTURE(v.name());
      CAPTURE(radius);
      const auto got = filtered(p, v, in);
      if (!got) continue;
      for (int y = 0; y < 39; ++y) {
        for (int x = 0; x < 41; ++x) {
          const bool near = std::abs(x - 20) <= radius && std::abs(y - 19) <= radius;
          REQUIRE((*got)[static_cast<std::size_t>(y * 41 + x)] == (near ? 1.0f : 0.0f));
        }
      }
    }
  }
}

LONG_TEST_CASE("NaN and infinities by the rules", 32) {
  const std::size_t n = 40 * 9;
  std::vector<float> all_nan(n, kNan);
  std::vector<float> one(n, kNan);
  one[4 * 40 + 20] = -3;
  std::vector<float> low(n, -kInf);
  std::vector<float> history(n, 7);
  history[4 * 40 + 19] = kNan;
  history[0] = kNan;
  history[1] = -kInf;
  for (const Variant v : HaloTile::variants()) {
    CAPTURE(v.name());
    const Problem grow = picture(Filter::dilation, 40, 9);
    if (!filtered(grow, v, low)) continue;
    CHECK(differences(*filtered(grow, v, all_nan), std::vector<float>(n, -kInf)) == 0);
    CHECK(differences(*filtered(grow, v, low), std::vector<float>(n, -kInf)) == 0);
    const auto grown = *filtered(grow, v, one);
    CHECK(grown[3 * 40 + 19] == -3);
    CHECK(grown[5 * 40 + 21] == -3);
    CHECK(grown[4 * 40 + 22] == -kInf);
    const Problem middle = picture(Filter::median, 40, 9);
    const auto median = filtered(middle, v, all_nan);
    CHECK(median.has_value() == (v != "columns_first"));
    if (median) CHECK(differences(*median, std::vector<float>(n, kInf)) == 0);
    const Problem clamp = picture(Filter::clamp, 40, 9);
    CHECK(differences(*filtered(clamp, v, all_nan, history), history) == 0);
    const auto held = *filtered(clamp, v, one, history);
    CHECK(held[4 * 40 + 19] == -3);  // a history of NaN becomes the minimum
    CHECK(held[4 * 40 + 20] == -3);
    CHECK(held[4 * 40 + 22] == 7);
    CHECK(std::isnan(held[0]));
  }
}

LONG_TEST_CASE("minus zero and zero are equal", 16) {
  const Problem p = picture(Filter::dilation, 33, 5);
  std::vector<float> in(values_of(p), -0.0f);
  for (std::size_t i = 0; i < in.size(); i += 2) in[i] = 0.0f;
  for (const Variant v : HaloTile::variants()) {
    const auto got = filtered(p, v, in);
    if (got) CHECK(differences(std::vector<float>(in.size(), 0.0f), *got) == 0);
  }
}

LONG_TEST_CASE("a constant border of NaN leaves the border pixels alone", 16) {
  Problem p = picture(Filter::dilation, 50, 20, 3, Pixel::rgba32f);
  p.border = Border::constant;
  p.outside = {kNan, kNan, kNan, kNan};
  const auto in = noise(values_of(p));
  Problem clamped = p;
  clamped.border = Border::clamp;
  for (const Variant v : HaloTile::variants()) {
    CAPTURE(v.name());
    const auto got = filtered(p, v, in);
    // For a maximum, repeating the nearest pixel adds nothing either.
    if (got) CHECK(differences(*filtered(clamped, v, in), *got) == 0);
  }
}

LONG_TEST_CASE("a history within the neighbourhood's range is not touched, one outside is cut",
               16) {
  const Problem p = picture(Filter::clamp, 70, 40, 2, Pixel::rgba32f);
  const auto in = noise(values_of(p), 3);
  const std::vector<float> high(in.size(), 5.0f);
  const std::vector<float> low(in.size(), -5.0f);
  ref::Volume volume{70, 40, 1, 4, in};
  const auto most = ref::dilation(volume, 2, ref::Border::clamp, {});
  for (float& value : volume.values) value = -value;
  auto least = ref::dilation(volume, 2, ref::Border::clamp, {});
  for (float& value : least) value = -value;
  for (const Variant v : HaloTile::variants()) {
    CAPTURE(v.name());
    const auto same = filtered(p, v, in, in);
    if (!same) continue;
    CHECK(differences(in, *same) == 0);
    CHECK(differences(most, *filtered(p, v, in, high)) == 0);
    CHECK(differences(least, *filtered(p, v, in, low)) == 0);
  }
}

LONG_TEST_CASE("radii and pixel types that the conformance test leaves out", 16) {
  struct Row {
    Filter filter;
    int radius;
    Pixel pixel;
    Border border;
    int depth;
  };
  std::size_t number = 0;
  for (const Row& row : {Row{Filter::clamp, 2, Pixel::r32f, Border::mirror, 1},
                         Row{Filter::clamp, 3, Pixel::rgba32f, Border::constant, 1},
                         Row{Filter::median, 1, Pixel::rgba32f, Border::wrap, 1},
                         Row{Filter::dilation, 9, Pixel::r32f, Border::constant, 1},
                         Row{Filter::clamp, 2, Pixel::r32f, Border::wrap, 7},
                         Row{Filter::dilation, 2, Pixel::rgba32f, Border::constant, 5}}) {
    if (left_out(number++, 3)) continue;
    Problem p = picture(row.filter, 61, 29, row.radius, row.pixel);
    p.border = row.border;
    p.depth = row.depth;
    p.outside = {0.5f, kNan, -2, 2};
    const auto in = noise(values_of(p), 21);
    const auto history = noise(values_of(p), 22);
    const ref::Volume volume{61, 29, row.depth, row.pixel == Pixel::rgba32f ? 4 : 1, in};
    const auto border = reference_border(row.border);
    const bool clamp = row.filter == Filter::clamp;
    const auto expected = clamp ? ref::clamp(volume, history, row.radius, border, p.outside)
                          : row.filter == Filter::median
                              ? ref::median(volume, 1, border, p.outside)
                              : ref::dilation(volume, row.radius, border, p.outside);
    for (const Variant v : HaloTile::variants()) {
      CAPTURE(v.name());
      CAPTURE(row.radius);
      CAPTURE(row.depth);
      const auto got = filtered(p, v, in, clamp ? history : std::vector<float>());
      if (got) CHECK(differences(expected, *got) == 0);
    }
  }
}

LONG_TEST_CASE("every pixel type with every border, at odd sizes and pitches", 32) {
  using clcook::GuardedBuffer;
  std::size_t number = 0;
  for (const auto& type : clcook::kPixelTypes) {
    const clcook::Channel channel = clcook::channel_of(type.value);
    const int channels = clcook::channels_of(type.value);
    const double most =
        clcook::is_integer(channel) ? static_cast<double>(clcook::top_of(channel)) : 60000;
    // What the type holds of values: many at both ends of its range, and beyond.
    const auto held = [&](std::vector<float> values) {
      const auto bytes = clcook::store_channels(channel, values);
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<float>(clcook::load_channel(channel, bytes.data(), i));
      }
      return values;
    };
    const auto data = [&](std::size_t count, std::uint64_t seed) {
      std::vector<float> out = noise(count, seed);
      for (float& value : out) value = (0.5f + 0.7f * value) * static_cast<float>(most);
      return held(out);
    };
    for (const auto& border : clcook::kBorders) {
      for (const Filter filter : kFilters) {
        if (left_out(number++, 20)) continue;
        const int radius = filter == Filter::dilation || filter == Filter::erosion ? 2 : 1;
        Problem p = picture(filter, 43, 11, radius, type.value);
        p.border = border.value;
        // Half of the unit: integers round it to the even one.
        p.outside = {2.5f, 3.5f, -7.0f, 1e6f};
        const std::size_t count = static_cast<std::size_t>(43 * 11 * channels);
        const ref::Volume volume{43, 11, 1, channels, data(count, 31)};
        const std::vector<float> past = data(count, 32);
        const auto edge = reference_border(border.value);
        const auto outer = held({2.5f, 3.5f, -7.0f, 1e6f});
        if (channel == clcook::Channel::u8) CHECK(outer == std::vector<float>{2, 4, 0, 255});
        const std::array<float, 4> outside{outer[0], outer[1], outer[2], outer[3]};
        const auto expected =
            filter == Filter::clamp     ? ref::clamp(volume, past, radius, edge, outside)
            : filter == Filter::median  ? ref::median(volume, radius, edge, outside)
            : filter == Filter::erosion ? ref::erosion(volume, radius, edge, outside)
                                        : ref::dilation(volume, radius, edge, outside);
        const std::size_t bytes = clcook::pixel_bytes(type.value);
        const auto rows = [&](std::size_t pad, unsigned char fill) {
          return GuardedBuffer(runtime(), 43 * bytes, 11, 3 * bytes, (43 + pad) * bytes, fill);
        };
        for (const Variant v :
             {"automatic", "direct", "local_tile_multi", "block", "columns_first", "cpu_rows"}) {
          if (v == "block" && radius != 1) continue;
          if (v == "columns_first" && filter == Filter::median) continue;
          CAPTURE(type.name);
          CAPTURE(border.name);
          CAPTURE(static_cast<int>(filter));
          CAPTURE(v.name());
          if (refused_here(p, v)) continue;
          const HaloTile plan(runtime(), p, v);
          GuardedBuffer src = rows(2, 0xFF);
          GuardedBuffer history = rows(5, 0x7B);
          GuardedBuffer dst = rows(1, 0xCD);
          for (GuardedBuffer* one : {&src, &history, &dst}) one->poison();
          const auto stored = clcook::store_channels(channel, volume.values);
          const auto stored_past = clcook::store_channels(channel, past);
          const cl::Event ready =
              history.upload(stored_past.data(), {src.upload(stored.data(), {})});
          const cl::Event done = filter == Filter::clamp
                                     ? plan(src.view(), history.view(), dst.view(), {ready})
                                     : plan(src.view(), dst.view(), {ready});
          clcook::Diff diff;
          const auto got = dst.read({done}, diff, "dst");
          for (std::size_t i = 0; i < count; ++i) {
            diff.compare(i, static_cast<double>(expected[i]),
                         clcook::load_channel(channel, got.data(), i), 0);
          }
          INFO(diff.first());
          CHECK(diff.ok());
        }
      }
    }
  }
}

LONG_TEST_CASE(
    "slices over several tiles in each direction, at rows that are aligned and that are not", 32) {
  std::size_t number = 0;
  for (const int width : {132, 133}) {
    for (const auto& border : clcook::kBorders) {
      if (left_out(number++, 3)) continue;
      Problem p = picture(Filter::dilation, width, 31);
      p.depth = 19;
      p.border = border.value;
      p.outside = {0.5f, 0, 0, 0};
      const auto in = noise(values_of(p), 41);
      const ref::Volume volume{width, 31, 19, 1, in};
      const auto expected = ref::dilation(volume, 1, reference_border(border.value), p.outside);
      for (const int depth : {1, 4, 7, 64}) {
        CAPTURE(width);
        CAPTURE(depth);
        if (refused_here(p, "slices", tile(64, 6, depth))) continue;
        const HaloTile plan(runtime(), p, "slices", tile(64, 6, depth));
        const cl::Buffer dst = clcook::create_buffer(runtime(), in.size() * sizeof(float));
        const cl::Event done = plan(upload(in), dst);
        const auto got = read_buffer<float>(runtime(), dst, in.size(), {done});
        CHECK(differences(expected, got) == 0);
      }
    }
  }
}

TEST_CASE("the largest radius, beyond the picture on all sides") {
  Problem p = picture(Filter::dilation, 19, 6, HaloTile::kMaxRadius);
  const auto in = noise(values_of(p));
  const float most = *std::max_element(in.begin(), in.end());
  for (const auto& border : clcook::kBorders) {
    if (clcook::is_constant(border.value)) continue;
    p.border = border.value;
    for (const Variant v : {"automatic", "columns_first"}) {
      CAPTURE(v.name());
      if (refused_here(p, v)) continue;
      const auto got = filtered(p, v, in);
      REQUIRE(got.has_value());
      CHECK(differences(std::vector<float>(in.size(), most), *got) == 0);
    }
  }
}

// ---- Plans --------------------------------------------------------------------------------------

TEST_CASE("automatic names a variant that runs and reads buffers") {
  for (const Filter filter : kFilters) {
    const HaloTile plan(runtime(), picture(filter, 100, 50));
    CHECK_FALSE(plan.variant().is_automatic());
    CHECK(plan.variant() != "image");
  }
  Problem volume = picture(Filter::dilation, 20, 20);
  volume.depth = 20;
  const HaloTile plan(runtime(), volume);
  CHECK((plan.variant() == "direct" || plan.variant() == "local_tile" ||
         plan.variant() == "slices" || plan.variant() == "cpu_rows"));
}

LONG_TEST_CASE("automatic follows the tunings as far as they can run", 16) {
  const auto& info = runtime().info();
  const auto with = [&](const std::string& name, const std::string& variant,
                        const std::string& tune, const Problem& p) {
    clcook::TuningEntry entry;
    entry.recipe = name;
    entry.device = info.name;
    entry.platform = info.platform;
    entry.vendor = info.vendor;
    entry.driver = info.driver;
    entry.type = info.gpu ? "gpu" : info.accelerator ? "accelerator" : "cpu";
    entry.compute_units = info.compute_units;
    entry.size_class = clcook::size_class(HaloTile::Posed(p).bytes());
    entry.best = true;
    entry.variant = variant;
    entry.tune = tune;
    const TempFolder folder;
    const auto file = folder / "tuning.txt";
    write_bytes(file, clcook::Tuning::format({entry}));
    const ScopedVariable variable("CLCOOK_TUNING_FILE", file.string());
    return HaloTile(Runtime(runtime().queue()), p);
  };
  const Problem p = picture(Filter::dilation, 64, 64);
  const HaloTile tuned = with("halo_tile/dilation", "local_tile_multi", "tile=64x16 outputs=8", p);
  CHECK(tuned.variant() == "local_tile_multi");
  CHECK(tuned.tune().tile_width == 64);
  CHECK(tuned.tune().tile_height == 16);
  CHECK(tuned.tune().outputs == 8);
  CHECK(with("halo_tile/dilation", "image", "tile=16x16", p).variant() != "image");
  CHECK(HaloTile::Posed(p).tuning_names().front() == "halo_tile/dilation");
  Problem wide = picture(Filter::dilation, 64, 64, HaloTile::kMaxRadius, Pixel::rgba32f);
  CHECK(HaloTile::Posed(wide).tuning_names().front() == "halo_tile/dilation wide");
  // The tile of a tuning may be too large for another radius: never an error of automatic.
  const HaloTile large =
      with("halo_tile/dilation wide", "local_tile_multi", "tile=1024x1024 outputs=8", wide);
  CHECK(contains(large.describe(), "local_tile_multi tile=1024x1024 outputs=8: "));
  CHECK(large.tune().tile_width < 1024);
  // No tile of local_tile_multi fits: the smallest is 161 + 33 columns of 144 rows of float4.
  if (info.local_mem < 194 * 144 * 16)
    CHECK(large.variant() == (info.cpu ? "cpu_rows" : "direct_multi"));
}

TEST_CASE("an offer counts what groups read, halo included") {
  const auto read = [](const Problem& p, const char* variant) {
    const clcook::Offer offer = HaloTile::Posed(p).offer(runtime(), *Variant(variant).row());
    CAPTURE(variant);
    CHECK(offer.work.bytes_written == 4.0 * static_cast<double>(values_of(p)));
    return offer.work.bytes_read / offer.work.bytes_written;
  };
  const Problem p = picture(Filter::dilation, 64, 64);
  CHECK(read(p, "cpu_rows") == 1);
  CHECK(read(p, "direct") == doctest::Approx(18.0 * 18 / 256));
  CHECK(read(p, "local_tile") == read(p, "direct"));
  CHECK(read(p, "local_tile_multi") == doctest::Approx(34.0 * 18 / 512));
  CHECK(read(picture(Filter::clamp, 64, 64), "direct") == doctest::Approx(1 + 18.0 * 18 / 256));
  Problem volume = p;
  volume.depth = 9;
  CHECK(read(volume, "direct") == doctest::Approx(1000.0 / 512));
  CHECK(read(volume, "local_tile") == read(volume, "direct"));
}

TEST_CASE("the lines of cpu_rows fit 32 KiB, at every radius and type") {
  for (const Filter filter : kFilters) {
    for (int radius = 1; radius <= (filter == Filter::median ? 1 : HaloTile::kMaxRadius);
         ++radius) {
      for (const auto& type : clcook::kPixelTypes) {
        const Problem p = picture(filter, 999, 99, radius, type.value);
        const auto tile = HaloTile::Spec::cpu_tile(p, clcook::DeviceInfo());
        CAPTURE(radius);
        CAPTURE(type.name);
        CHECK(tile.bytes <= 32768);
        CHECK(tile.channels >= 256);
        CHECK(tile.lanes == (clcook::channel_of(type.value) == clcook::Channel::u8 ? 32 : 16));
        CHECK(tile.channels % tile.lanes == 0);
      }
    }
  }
}

TEST_CASE("bytes have long vectors where the compiler has them and a row holds one") {
  const auto lanes = [](int width, const clcook::DeviceInfo& device) {
    return HaloTile::Spec::cpu_tile(picture(Filter::dilation, width, 9, 2, clcook::PixelType::rgb8),
                                    device)
        .lanes;
  };
  clcook::DeviceInfo intel;
  intel.platform = "Intel(R) OpenCL";
  intel.cpu = true;
  CHECK(lanes(11, {}) == 32);
  CHECK(lanes(10, {}) == 16);
  CHECK(lanes(11, intel) == 16);
}

TEST_CASE("names") {
  CHECK(HaloTile::parse_border("mirror") == Border::mirror);
  CHECK(HaloTile::parse_filter("clamp") == Filter::clamp);
  for (const auto& one : clcook::kPixelTypes) CHECK(HaloTile::parse_pixel(one.name) == one.value);
  CHECK(clcook::pixel_bytes(HaloTile::parse_pixel("rgba16f")) == 8);
  CHECK(clcook::pixel_bytes(HaloTile::parse_pixel("r8")) == 1);
  CHECK(contains(error_of([] { HaloTile::parse_border("repeat"); }).what(), "'repeat'"));
  CHECK(contains(error_of([] { HaloTile::parse_filter("opening"); }).what(), "dilation, erosion"));
  CHECK(contains(error_of([] { HaloTile::parse_pixel("rgb"); }).what(),
                 "r32f, rg32f, rgb32f, rgba32f"));
}

TEST_CASE("the tile of a tune is a word, and sides that are open take the default's") {
  using Posed = HaloTile::Posed;
  const auto parsed = [](const std::string& word) {
    return Posed::parse_tune(clcook::Params{{"tile", word}});
  };
  CHECK(parsed("8x4x2").tile_depth == 2);
  CHECK(parsed("256x1").tile_depth == 1);
  for (const char* word : {"8x4x2", "256x1", "1024x1024x64"}) {
    CHECK(Posed::format_tune(parsed(word)).word("tile") == word);
  }
  for (const char* bad : {"16", "x", "16x", "16x16x", "1x2x3x4", "16*16", "-1x4", "99999x1"}) {
    CHECK(contains(error_of([&] { parsed(bad); }).what(), "WIDTHxHEIGHT"));
  }
  CHECK(error_of([] { Posed::parse_tune(clcook::Params::parse("tile=16")); }).code ==
        Errc::invalid_argument);
  Problem p = picture(Filter::dilation, 50, 50);
  const HaloTile plan(runtime(), p, "direct", {64, 0, 0, 0});
  CHECK(contains(Posed::format_tune(plan.tune()).str(), "tile=64x"));
  CHECK(plan.tune().tile_height > 0);  // as it was measured here, else the default
  CHECK(plan.tune().outputs == 1);
  CHECK(Posed::format_tune(HaloTile(runtime(), p, "cpu_rows").tune()).empty());
  p.depth = 3;
  const HaloTile deep(runtime(), p, "direct", {0, 5, 0, 0});
  CHECK(deep.tune().tile_width > 0);
  CHECK(deep.tune().tile_height == 5);
  CHECK(deep.tune().tile_depth > 0);
}

TEST_CASE("a problem out of range is refused with its value") {
  const int most = HaloTile::kMaxSize;
  refused(picture(Filter::median, 5, 5, 2), "median takes radius 1");
  Problem p = picture(Filter::dilation, most, most);
  p.depth = most;
  refused(p, "overflows");
  p = picture(Filter::median, 5, 5);
  p.depth = 2;
  refused(p, "volume of depth 2");
  p = picture(Filter::dilation, 5, 5);
  p.border = static_cast<Border>(99);
  refused(p, "no border mode of the value 99");
  p.border = Border::clamp;
  p.filter = static_cast<Filter>(-1);
  refused(p, "no filter of the value -1");
  p.filter = Filter::dilation;
  p.pixel = static_cast<Pixel>(99);
  refused(p, "no pixel type of the value 99");
  p.pixel = static_cast<Pixel>(-1);
  refused(p, "no pixel type of the value -1");
}

TEST_CASE("tiles that cannot run are refused with limit and value") {
  const Problem p = picture(Filter::dilation, 50, 50);
  const auto limit = std::to_string(runtime().info().local_mem);
  const Problem wide = picture(Filter::dilation, 50, 50, HaloTile::kMaxRadius, Pixel::rgba32f);
  Problem deep = wide;
  deep.depth = 9;
  // 136^3 float4.
  refused(deep, "local_tile", tile(8, 8, 8), "40247296 bytes of local memory", Errc::unsupported);
  refused(deep, "local_tile", tile(8, 8, 8), limit, Errc::unsupported);
  refused(p, "direct", tile(1024, 1024), "1048576 work-items", Errc::unsupported);
  refused(p, "direct", tile(2048, 1), "tile_width must be 1 to 1024, got 2048");
  refused(p, "direct", tile(-4, 4), "got '-4x4'");
  refused(p, "direct", tile(8, 8, 2), "needs a volume", Errc::unsupported);
  refused(p, "direct", tile(8, 8, 1, 4), "1 output per item, got 4");
  refused(p, "direct_multi", tile(8, 6, 1, 4), "multiple of outputs, got 6 and 4");
  refused(p, "local_tile_multi", tile(6, 8, 1, 4), "multiple of 4, got 6");
  refused(p, "direct_multi", tile(8, 34, 1, 17), "outputs must be 1 to 16, got 17");
  refused(p, "block", tile(64, 9, 1, 3), "outputs that is a multiple of 2, got 3");
  refused(p, "block", tile(6, 8, 1, 2), "tile_width that is a multiple of 4, got 6");
  refused(picture(Filter::dilation, 50, 50, 2), "block", {}, "radius 1 only, got 2",
          Errc::unsupported);
  refused(p, "slices", {}, "volumes only, got a picture", Errc::unsupported);
  refused(p, "slices", tile(6, 8, 8), "tile_width that is a multiple of 4, got 6");
  refused(p, "columns_first", tile(20, 8, 1, 8), "multiple of 8, got 20");
  refused(picture(Filter::median, 50, 50), "columns_first", {}, "does not separate",
          Errc::unsupported);
  refused(p, "cpu_rows", tile(8, 8), "no tile to choose");
  refused(picture(Filter::dilation, 15, 50), "cpu_rows", {}, "16 channels or more, got 15",
          Errc::unsupported);
  Problem volume = p;
  volume.depth = 5;
  for (const Variant v : {"direct_multi", "image", "local_tile_multi", "block", "columns_first"}) {
    refused(volume, v, {}, "volume of depth 5", Errc::unsupported);
  }
  if (runtime().info().images) {
    const auto most = runtime().info().image_width;
    Problem line = p;
    line.width = static_cast<int>(most) + 1;
    refused(line, "image", {}, "exceeds the device's limit of " + std::to_string(most),
            Errc::unsupported);
  }
}

TEST_CASE("what ends the compiler of PoCL 6 is refused, and no more") {
  clcook::DeviceInfo pocl6;
  pocl6.platform = "Portable Computing Language";
  pocl6.platform_version = "OpenCL 3.0 PoCL 6.0+debian  Linux, None+Asserts, LLVM 18.1.8";
  const auto ends = [](const clcook::DeviceInfo& info, Filter filter, Pixel pixel, Variant variant,
                       int outputs) {
    const Problem p = picture(filter, 50, 50, 1, pixel);
    const Tune tune = tile(32, 16, 1, outputs);
    return HaloTile::Spec::ends_compiler({*variant.row(), p, tune, info});
  };
  CHECK(ends(pocl6, Filter::median, Pixel::r32f, "direct_multi", 2));
  CHECK(!ends(pocl6, Filter::median, Pixel::r32f, "direct_multi", 4));
  CHECK(!ends(pocl6, Filter::median, Pixel::r32f, "local_tile_multi", 2));
  CHECK(!ends(pocl6, Filter::median, Pixel::rgba32f, "direct_multi", 2));
  CHECK(ends(pocl6, Filter::median, Pixel::r16f, "direct_multi", 2));  // a float in registers
  CHECK(ends(pocl6, Filter::median, Pixel::r8, "direct_multi", 2));
  CHECK(ends(pocl6, Filter::median, Pixel::rgba16, "direct_multi", 2));
  CHECK(!ends(pocl6, Filter::median, Pixel::rgba16f, "direct_multi", 2));
  CHECK(!ends(pocl6, Filter::dilation, Pixel::r32f, "direct_multi", 2));
  for (const char* version : {"OpenCL 3.0 PoCL 5.0+debian", "OpenCL 3.0 PoCL 7.1+debian"}) {
    clcook::DeviceInfo other = pocl6;
    other.platform_version = version;
    CHECK(!ends(other, Filter::median, Pixel::r32f, "direct_multi", 2));
  }
  clcook::DeviceInfo foreign = pocl6;
  foreign.platform = "rusticl";
  CHECK(!ends(foreign, Filter::median, Pixel::r32f, "direct_multi", 2));

  // The plan asks.
  const Problem median = picture(Filter::median, 50, 50, 1, Pixel::r32f);
  if (ends(runtime().info(), Filter::median, Pixel::r32f, "direct_multi", 2)) {
    refused(median, "direct_multi", tile(32, 16, 1, 2), "ends the process", Errc::unsupported);
  } else {
    CHECK(HaloTile(runtime(), median, "direct_multi", tile(32, 16, 1, 2)).tune().outputs == 2);
  }
}

TEST_CASE("histories and images that do not fit are refused before anything is enqueued") {
  std::size_t launches = 0;
  const Runtime observed =
      runtime().with_observer([&](const std::string&, const cl::Event&) { ++launches; });
  const Problem p = picture(Filter::dilation, 16, 8, 1, Pixel::rgba32f);
  const std::size_t bytes = 16 * 8 * 16;
  const HaloTile grow(observed, p, "direct");
  const HaloTile clamp(observed, picture(Filter::clamp, 16, 8, 1, Pixel::rgba32f), "direct");
  const cl::Buffer a = clcook::create_buffer(runtime(), bytes);
  const cl::Buffer b = clcook::create_buffer(runtime(), bytes);
  const cl::Buffer c = clcook::create_buffer(runtime(), bytes);
  const cl::Buffer small = clcook::create_buffer(runtime(), bytes - 1);
  const cl::Buffer large = clcook::create_buffer(runtime(), 4 * bytes);
  check_refused([&] { grow(BufferView{large, 8}, b); }, "multiples of 16");
  check_refused([&] { grow(a, BufferView{large, 0, 15 * 16}); }, "pitch of 240");
  check_refused([&] { grow(a, b, c); }, "takes no history");
  check_refused([&] { clamp(a, b); }, "takes a history");
  check_refused([&] { clamp(a, small, c); }, "history has 2047 bytes");
  check_refused([&] { clamp(a, b, b); }, "overlap");
  check_refused([&] { clamp(a, b, a); }, "overlap");
  if (runtime().info().images) {
    const std::vector<float> data(16 * 8 * 4);
    const cl::Image2D image = make_image(16, 8, {CL_RGBA, CL_FLOAT}, data.data());
    const cl::Image2D wider = make_image(17, 4, {CL_RGBA, CL_FLOAT}, data.data());
    const cl::Image2D bytes_image = make_image(16, 8, {CL_RGBA, CL_UNORM_INT8}, data.data());
    const HaloTile through(observed, p, "image");
    check_refused([&] { grow(image, b); }, "reads a buffer, got an image");
    check_refused([&] { through(a, b); }, "reads a 2-D image, got a buffer");
    check_refused([&] { through(wider, b); }, "do not fit an image of 17 x 4");
    check_refused([&] { through(bytes_image, b); }, "image format");
    const cl::Image2D larger =
        make_image(16, 16, {CL_RGBA, CL_FLOAT}, std::vector<float>(16 * 16 * 4).data());
    check_refused([&] { through(larger, b); }, "they must be equal");
    check_refused([&] { through(ImageView(image), ImageView(image)); }, "writes to a buffer");
    check_refused([&] { clamp(ImageView(image), ImageView(image)); }, "takes a history");
    check_refused([&] { grow(ImageView(image, 1, 0), ImageView(image)); }, "do not fit");
    Problem volume = p;
    volume.depth = 2;
    const HaloTile deep(observed, volume);
    check_refused([&] { deep(ImageView(image), ImageView(image)); }, "depth of 2");
  }
  CHECK(launches == 0);
  grow(a, b).wait();
  clamp(a, a, b).wait();  // a picture may be its own history
  CHECK(launches == 2);
}

TEST_CASE("from image to image, a rectangle of each, and in place") {
  if (!runtime().info().images) return;
  const Problem p = picture(Filter::median, 30, 12);
  std::vector<float> in(30 * 12);
  clcook::Random random(3);
  for (float& value : in) value = random.uniform();
  const auto want = filtered(p, "direct", in);
  REQUIRE(want);
  std::vector<float> canvas(40 * 20, -1.0f);
  const auto put = [&](std::size_t x0, std::size_t y0, const std::vector<float>& values) {
    for (std::size_t y = 0; y < 12; ++y)
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(30 * y), 30,
                  canvas.begin() + static_cast<std::ptrdiff_t>(40 * (y0 + y) + x0));
  };
  put(7, 5, in);
  const cl::Image2D src = make_image(40, 20, {CL_R, CL_FLOAT}, canvas.data());
  const cl::Image2D dst = make_image(40, 20, {CL_R, CL_FLOAT}, canvas.data());
  const auto read = [&](const cl::Image2D& image, const cl::Event& done) {
    std::vector<float> out(canvas.size());
    read_image(image, 0, 0, 40, 20, out.data(), done);
    return out;
  };
  const HaloTile filter(runtime(), p);
  const cl::Event done = filter(ImageView(src, 7, 5), ImageView(dst, 1, 8));
  const cl::Event in_place = filter(ImageView(src, 7, 5), ImageView(src, 7, 5), {done});
  put(7, 5, *want);
  CHECK(differences(canvas, read(src, in_place)) == 0);
  put(7, 5, in);
  put(1, 8, *want);
  CHECK(differences(canvas, read(dst, done)) == 0);
}

// ---- clcook/halo.clh in kernels of others -------------------------------------------------------

TEST_CASE("the cooperative load in a foreign kernel: any type, size, pitch and border") {
  // A blur of somebody's own would be longer; this one copies its tile out, halo and all.
  const clcook::Source source("foreign.cl", R"cl(
#include <clcook/halo.clh>
CLCOOK_HALO_2D(load_shorts, ushort)
__kernel void foreign_tiles(__global const ushort* src, ulong pitch, int width, int height,
                            int w, int h, int tile_pitch, int dx, int dy, int step_x, int step_y,
                            int border, __global ushort* out, __local ushort* tile) {
  const int items = (int)(get_local_size(0) * get_local_size(1));
  const int lid = (int)(get_local_id(1) * get_local_size(0) + get_local_id(0));
  load_shorts(tile, tile_pitch, w, h, lid, items, src, pitch, width, height,
              (int)get_group_id(0) * step_x - dx, (int)get_group_id(1) * step_y - dy, border, 999);
  barrier(CLK_LOCAL_MEM_FENCE);
  out += (get_group_id(1) * get_num_groups(0) + get_group_id(0)) * (size_t)(w * h);
  for (int cell = lid; cell < w * h; cell += items) {
    out[cell] = tile[cell / w * tile_pitch + cell % w];
  }
}
)cl");
  const cl::Program program = runtime().build(source, {}, "foreign");
  const int width = 21;
  const int height = 13;
  const int pitch = 25;
  std::vector<std::uint16_t> in(static_cast<std::size_t>(pitch * height), 60000);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      in[static_cast<std::size_t>(y * pitch + x)] = static_cast<std::uint16_t>(100 * y + x);
    }
  }
  const cl::Buffer src =
      clcook::create_buffer(runtime(), in.size() * 2, CL_MEM_READ_ONLY, in.data());
  struct Halo {
    int x, y;
  };
  for (const Halo halo : {Halo{1, 1}, Halo{0, 3}, Halo{30, 2}}) {
    for (const auto& row : clcook::kBorders) {
      const auto border = static_cast<cl_int>(row.value);
      const int w = 8 + 2 * halo.x;
      const int h = 4 + 2 * halo.y;
      const int tile_pitch = w | 1;
      const std::size_t groups_x = 3;
      const std::size_t groups_y = 4;
      const std::size_t cells = static_cast<std::size_t>(w * h);
      const cl::Buffer out = clcook::create_buffer(runtime(), groups_x * groups_y * cells * 2);
      clcook::Kernel kernel(runtime(), program, "foreign_tiles");
      const cl::Event done =
          kernel(clcook::Launch::groups({groups_x, groups_y, 1}, {8, 4, 1}), {}, src,
                 static_cast<cl_ulong>(pitch), width, height, w, h, tile_pitch, halo.x, halo.y, 8,
                 4, border, out, clcook::LocalBytes{static_cast<std::size_t>(tile_pitch * h) * 2});
      const auto got =
          read_buffer<std::uint16_t>(runtime(), out, groups_x * groups_y * cells, {done});
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < got.size(); ++i) {
        const int group = static_cast<int>(i / cells);
        const int cell = static_cast<int>(i % cells);
        const auto mode = reference_border(row.value);
        const int x = ref::border_index(group % 3 * 8 - halo.x + cell % w, width, mode);
        const int y = ref::border_index(group / 3 * 4 - halo.y + cell / w, height, mode);
        const int expected = x < 0 || y < 0 ? 999 : 100 * y + x;
        if (got[i] != expected) ++wrong;
      }
      CAPTURE(row.name);
      CAPTURE(halo.x);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("the cooperative load of volumes in a foreign kernel") {
  const clcook::Source source("foreign.cl", R"cl(
#include <clcook/halo.clh>
CLCOOK_HALO_3D(load_pairs, int2)
#define SIDE 6
__kernel void foreign_blocks(__global const int2* src, int width, int height, int depth, int border,
                             __global int2* out) {
  __local int2 tile[SIDE * SIDE * SIDE];
  const int lid =
      (int)((get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) +
            get_local_id(0));
  load_pairs(tile, SIDE, SIDE * SIDE, SIDE, SIDE, SIDE, lid, 64, src, (ulong)width,
             (ulong)width * (ulong)height, width, height, depth, (int)get_group_id(0) * 4 - 1,
             (int)get_group_id(1) * 4 - 1, (int)get_group_id(2) * 4 - 1, border, (int2)(-5, -6));
  barrier(CLK_LOCAL_MEM_FENCE);
  const size_t group = (get_group_id(2) * get_num_groups(1) + get_group_id(1)) * get_num_groups(0) +
                       get_group_id(0);
  for (int cell = lid; cell < SIDE * SIDE * SIDE; cell += 64) {
    out[group * (SIDE * SIDE * SIDE) + cell] = tile[cell];
  }
}
)cl");
  const cl::Program program = runtime().build(source, {}, "foreign");
  const int width = 7;
  const int height = 5;
  const int depth = 3;
  std::vector<cl_int2> in(static_cast<std::size_t>(width * height * depth));
  for (std::size_t i = 0; i < in.size(); ++i) {
    in[i].s[0] = static_cast<cl_int>(i);
    in[i].s[1] = -static_cast<cl_int>(2 * i);
  }
  const cl::Buffer src =
      clcook::create_buffer(runtime(), in.size() * 8, CL_MEM_READ_ONLY, in.data());
  const std::size_t count = 2 * 2 * 1 * 216;
  const cl::Buffer out = clcook::create_buffer(runtime(), count * 8);
  for (const auto& row : clcook::kBorders) {
    const auto border = static_cast<cl_int>(row.value);
    clcook::Kernel kernel(runtime(), program, "foreign_blocks");
    const cl::Event done = kernel(clcook::Launch::groups({2, 2, 1}, {4, 4, 4}), {}, src, width,
                                  height, depth, border, out);
    const auto got = read_buffer<cl_int2>(runtime(), out, count, {done});
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const int group = static_cast<int>(i / 216);
      const int cell = static_cast<int>(i % 216);
      const auto mode = reference_border(row.value);
      const int x = ref::border_index(group % 2 * 4 - 1 + cell % 6, width, mode);
      const int y = ref::border_index(group / 2 * 4 - 1 + cell / 6 % 6, height, mode);
      const int z = ref::border_index(cell / 36 - 1, depth, mode);
      const bool outside = x < 0 || y < 0 || z < 0;
      const int at = (z * height + y) * width + x;
      if (got[i].s[0] != (outside ? -5 : at) || got[i].s[1] != (outside ? -6 : -2 * at)) ++wrong;
    }
    CAPTURE(row.name);
    CHECK(wrong == 0);
  }
}

TEST_CASE("the pitch against bank conflicts puts items of a group on different banks") {
  // CLCOOK_HALO_PITCH evaluated by the device compiler, checked with 32 banks of 4 bytes.
  const cl::Program program = runtime().build(clcook::Source("pitch.cl", R"cl(
#include <clcook/halo.clh>
__kernel void foreign_pitch(__global int* out) {
  out[0] = CLCOOK_HALO_PITCH(8, 1, 4);
  out[1] = CLCOOK_HALO_PITCH(16, 1, 4);
  out[2] = CLCOOK_HALO_PITCH(16, 4, 4);
  out[3] = CLCOOK_HALO_PITCH(32, 1, 4);
  out[4] = CLCOOK_HALO_PITCH(16, 1, 16);
}
)cl"),
                                              {}, "pitch");
  const cl::Buffer out = clcook::create_buffer(runtime(), 5 * sizeof(cl_int));
  clcook::Kernel kernel(runtime(), program, "foreign_pitch");
  const cl::Event done = kernel(clcook::Launch::groups({1, 1, 1}, {1, 1, 1}), {}, out);
  const auto pitch = read_buffer<cl_int>(runtime(), out, 5, {done});
  const int widths[] = {8, 16, 16, 32};
  const int radii[] = {1, 1, 4, 1};
  for (int k = 0; k < 4; ++k) {
    CHECK(pitch[static_cast<std::size_t>(k)] >= widths[k] + 2 * radii[k]);
    std::uint32_t banks = 0;
    for (int lane = 0; lane < 32; ++lane) {
      const int cell = lane / widths[k] * pitch[static_cast<std::size_t>(k)] + lane % widths[k];
      banks |= std::uint32_t{1} << (cell % 32);
    }
    CHECK(banks == 0xFFFFFFFFu);
  }
  CHECK(pitch[4] == 18);
}

TEST_CASE("where a variant stands behind the others, as on an H200") {
  DeviceInfo device;
  device.gpu = true;
  device.compute_units = 132;
  device.local_mem = 49148;
  device.max_group = 1024;
  const auto is_slow = [&](const char* name, const Problem& p) {
    const HaloTile::Row& row = *HaloTile::Variant(name).row();
    return HaloTile::Spec::is_slow({row, p, HaloTile::Spec::defaults(row, p, device), device});
  };
  const Problem small = picture(Filter::clamp, 119, 155, 2, Pixel::rgba16);
  const Problem large = picture(Filter::clamp, 3081, 5422, 12, Pixel::rg16);
  // Few groups, and four outputs per item; reads of global memory, at whatever size.
  CHECK(is_slow("local_tile_multi", small));
  CHECK_FALSE(is_slow("local_tile", small));
  CHECK(is_slow("direct", small));
  CHECK_FALSE(is_slow("local_tile_multi", large));
  CHECK(is_slow("direct_multi", large));
  CHECK_FALSE(is_slow("direct_multi", picture(Filter::clamp, 3081, 5422, 1, Pixel::rg16)));
  // The order of columns and lines: from radius 4 on where there are groups enough, with few from 10
  // on, or where no tile of local_tile_multi fits.
  CHECK_FALSE(is_slow("columns_first", large));
  CHECK(is_slow("columns_first", picture(Filter::clamp, 3081, 5422, 3, Pixel::rg16)));
  CHECK(is_slow("columns_first", picture(Filter::clamp, 838, 176, 7, Pixel::r8)));
  CHECK_FALSE(is_slow("columns_first", picture(Filter::clamp, 838, 176, 10, Pixel::r8)));
  CHECK_FALSE(is_slow("columns_first", picture(Filter::clamp, 838, 176, 7, Pixel::rgba16f)));
  // Blocks of pixels with several channels; a winner of single ones does not count for these.
  const Problem pairs = picture(Filter::median, 1551, 6183, 1, Pixel::rg16);
  const Problem single = picture(Filter::median, 1551, 6183, 1, Pixel::r16);
  CHECK(is_slow("block", pairs));
  CHECK_FALSE(is_slow("block", single));
  CHECK(HaloTile::Spec::tuning_names(pairs) != HaloTile::Spec::tuning_names(single));
  Problem volume = picture(Filter::dilation, 202, 144, 1, Pixel::r16);
  volume.depth = 60;
  CHECK(is_slow("slices", volume));
  volume.depth = 360;
  CHECK_FALSE(is_slow("slices", volume));
  device.cpu = true;
  CHECK_FALSE(is_slow("direct", small));
}
