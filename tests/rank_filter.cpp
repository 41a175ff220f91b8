// The rank filters: what the generic conformance test cannot know.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <clcook/rank_filter.hpp>
#include <clcook/reference/rank_filter.hpp>
#include <clcook/registry/pixels.hpp>
#include <clcook/registry/random.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "support/grid.hpp"
#include "support/images.hpp"
#include "support/testing.hpp"

namespace {

namespace ref = clcook::reference::rank_filter;
using namespace clcook;
using namespace clcook::testing;
using Border = RankFilter::Border;
using Pixel = RankFilter::Pixel;
using Problem = RankFilter::Problem;
using Tune = RankFilter::Tune;
using Variant = RankFilter::Variant;
using Bytes = std::vector<unsigned char>;

const float kNan = std::numeric_limits<float>::quiet_NaN();
const float kInf = std::numeric_limits<float>::infinity();

Problem picture(int width, int height, int radius, double rank, Pixel pixel = Pixel::r8) {
  Problem p;
  p.width = width;
  p.height = height;
  p.radius = radius;
  p.rank = rank;
  p.pixel = pixel;
  return p;
}

TEST_CASE("the fraction k / (n - 1) is number k of n neighbours") {
  for (int radius = 1; radius <= RankFilter::kMaxRadius; ++radius) {
    const int last = (2 * radius + 1) * (2 * radius + 1) - 1;
    int right = 0;
    for (int k = 0; k <= last; ++k) {
      const double rank = static_cast<double>(k) / last;
      right += rank_filter::rank_number(picture(1, 1, radius, rank)) == static_cast<unsigned>(k);
    }
    CHECK(right == last + 1);
  }
}

std::size_t values_of(const Problem& p) {
  return static_cast<std::size_t>(p.width) * static_cast<std::size_t>(p.height) *
         static_cast<std::size_t>(clcook::channels_of(p.pixel));
}

// The result of a variant, nothing where the device or the problem does not allow it.
std::optional<Bytes> filtered(const Problem& p, Variant variant, const Bytes& in) {
  REQUIRE(in.size() == values_of(p) * clcook::channel_bytes(clcook::channel_of(p.pixel)));
  std::optional<RankFilter> plan;
  try {
    plan.emplace(runtime(), p, variant);
  } catch (const Error& error) {
    if (error.code != Errc::unsupported) throw;
    return std::nullopt;
  }
  Bytes copy = in;
  const cl::Buffer src =
      clcook::create_buffer(runtime(), copy.size(), CL_MEM_READ_WRITE, copy.data());
  const cl::Buffer dst = clcook::create_buffer(runtime(), in.size());
  return read_buffer<unsigned char>(runtime(), dst, in.size(), {(*plan)(src, dst)});
}

Bytes random_bytes(std::size_t bytes, std::uint64_t seed = 1) {
  clcook::Random random(seed);
  Bytes out(bytes);
  for (unsigned char& byte : out) byte = static_cast<unsigned char>(random.below(256));
  return out;
}

Bytes bytes_of(const std::vector<float>& values) {
  Bytes out(values.size() * sizeof(float));
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}

std::vector<float> floats_of(const Bytes& bytes) {
  std::vector<float> out(bytes.size() / sizeof(float));
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

// The rank that stands for number k of the neighbours within a radius.
double rank_of(int k, int radius) {
  const double side = 2 * radius + 1;
  return k / (side * side - 1);
}

int neighbours_of(int radius) { return (2 * radius + 1) * (2 * radius + 1); }

constexpr PlanRefused<RankFilter> refused;

}  // namespace

// ---- The reference ------------------------------------------------------------------------------

TEST_CASE("the reference by hand") {
  CHECK(ref::number(0, 9) == 0);
  CHECK(ref::number(1, 9) == 8);
  CHECK(ref::number(0.5, 25) == 12);
  CHECK(ref::number(0.0625, 9) == 1);  // 0.5, rounded away from zero
  CHECK(ref::number(0.0624, 9) == 0);
  CHECK(ref::number(0.3125, 9) == 3);  // 2.5
  const std::vector<float> values{9, 1, 8, 2, 7, 3, 6, 4, 5};
  for (int k = 0; k < 9; ++k) CHECK(ref::of_rank(values, k / 8.0) == k + 1);
  const std::vector<float> special{kNan, kInf, 0.0f, -0.0f, -kInf, 1e-45f, -1e-45f, 3, -kNan};
  const float order[] = {-kInf, -1e-45f, -0.0f, 0.0f, 1e-45f, 3, kInf};
  for (int k = 0; k < 7; ++k) {
    const float got = ref::of_rank(special, k / 8.0);
    CHECK(std::memcmp(&got, &order[k], sizeof got) == 0);
  }
  CHECK(std::isnan(ref::of_rank(special, 7 / 8.0)));
  CHECK(std::isnan(ref::of_rank(special, 1)));
  // The corner sees five times the constant.
  const ref::Picture nine{3, 3, 1, values};
  CHECK(ref::filtered(nine, 1, 0.5, ref::Border::clamp, {})[4] == 5);
  CHECK(ref::filtered(nine, 1, 0.5, ref::Border::constant, {100, 0, 0, 0})[0] == 100);
  CHECK(ref::filtered(nine, 1, 0.5, ref::Border::constant, {})[0] == 0);
  CHECK(ref::filtered(nine, 1, 0, ref::Border::clamp, {})[8] == 3);
  CHECK(ref::filtered(nine, 1, 1, ref::Border::wrap, {})[8] == 9);
}

TEST_CASE("the number of a rank is the reference's") {
  for (int radius = 1; radius <= RankFilter::kMaxRadius; ++radius) {
    const auto n = static_cast<std::size_t>(neighbours_of(radius));
    for (int i = 0; i <= 1000; ++i) {
      const Problem p = picture(1, 1, radius, i / 1000.0);
      CHECK(clcook::rank_filter::rank_number(p) == ref::number(p.rank, n));
    }
    CHECK(clcook::rank_filter::rank_number(picture(1, 1, radius, 0.5)) == (n - 1) / 2);
    CHECK(clcook::rank_filter::rank_number(picture(1, 1, radius, 1)) == n - 1);
  }
}

// ---- Networks -----------------------------------------------------------------------------------

LONG_TEST_CASE("radius 1: every rank of every pattern of zeros and ones", 32) {
  // A network that is right for all patterns of 0 and 1 is right for all values. Pattern n lies in a
  // 3 x 3 cell of its own, and its result is the middle pixel of the cell. A second row of cells, one
  // row further down, asks every output that an item makes.
  const Problem p = picture(3 * 512, 13, 1, 0);
  Bytes in(values_of(p));
  for (std::size_t n = 0; n < 512; ++n) {
    for (std::size_t k = 0; k < 9; ++k) {
      for (const std::size_t top : {0u, 4u, 9u})
        in[(top + k / 3) * 1536 + 3 * n + k % 3] = (n >> k & 1) != 0 ? 1 : 0;
    }
  }
  for (int number = 0; number < 9; ++number) {
    Problem q = p;
    q.rank = rank_of(number, 1);
    for (const Variant v : RankFilter::variants()) {
      if (number % 4 != 0 && v != "network" && v != "network_packed" && v != "cpu_rows") continue;
      CAPTURE(v.name());
      CAPTURE(number);
      const auto got = filtered(q, v, in);
      if (!got) continue;
      for (std::size_t n = 0; n < 512; ++n) {
        int ones = 0;
        for (std::size_t bits = n; bits != 0; bits >>= 1) ones += static_cast<int>(bits & 1);
        for (const std::size_t top : {0u, 4u, 9u})
          REQUIRE((*got)[(top + 1) * 1536 + 3 * n + 1] == (ones >= 9 - number ? 1 : 0));
      }
    }
  }
}

LONG_TEST_CASE("radius 2 and 3: patterns that are one short of a rank, and just there", 16) {
  std::size_t row = 0;
  for (const int radius : {2, 3}) {
    const int n = neighbours_of(radius);
    const int side = 2 * radius + 1;
    const int cells = 300;
    for (int number = 0; number < n; number += radius == 2 ? 6 : 12) {
      if (left_out(row++, 8)) continue;
      Problem p = picture(side * cells, side + 3, radius, rank_of(number, radius));
      clcook::Random random(static_cast<std::uint64_t>(number + 1));
      for (const int down : {0, 1, 2, 3}) {
        Bytes in(values_of(p));
        // With `ones` ones among n the value number k is 1 where k >= n - ones.
        std::vector<int> ones(static_cast<std::size_t>(cells));
        for (int cell = 0; cell < cells; ++cell) {
          ones[static_cast<std::size_t>(cell)] = n - number - static_cast<int>(random.below(2));
          std::vector<unsigned char> bits(static_cast<std::size_t>(n));
          std::fill_n(bits.begin(), ones[static_cast<std::size_t>(cell)], 1);
          for (std::size_t i = bits.size() - 1; i > 0; --i)
            std::swap(bits[i], bits[random.below(static_cast<std::uint32_t>(i + 1))]);
          for (int k = 0; k < n; ++k)
            in[static_cast<std::size_t>((down + k / side) * p.width + cell * side + k % side)] =
                bits[static_cast<std::size_t>(k)];
        }
        for (const char* v : {"network", "network_packed", "cpu_rows"}) {
          CAPTURE(v);
          CAPTURE(radius);
          CAPTURE(number);
          const auto got = filtered(p, v, in);
          if (!got) continue;
          for (int cell = 0; cell < cells; ++cell) {
            const auto at =
                static_cast<std::size_t>((down + radius) * p.width + cell * side + radius);
            REQUIRE((*got)[at] == (number >= n - ones[static_cast<std::size_t>(cell)] ? 1 : 0));
          }
        }
      }
    }
  }
}

// ---- Values -------------------------------------------------------------------------------------

LONG_TEST_CASE("every 16-bit value, integer and half, goes through unchanged", 32) {
  // A cell of 3 x 3 equal pixels for each of them.
  for (const Pixel pixel : {Pixel::r16, Pixel::r16f}) {
    const Problem p = picture(3 * 256, 3 * 256, 1, 0.5, pixel);
    std::vector<std::uint16_t> in(values_of(p));
    for (std::size_t i = 0; i < in.size(); ++i)
      in[i] = static_cast<std::uint16_t>(i / 768 / 3 * 256 + i % 768 / 3);
    Bytes bytes(in.size() * 2);
    std::memcpy(bytes.data(), in.data(), bytes.size());
    for (const Variant v : RankFilter::variants()) {
      CAPTURE(v.name());
      const auto got = filtered(p, v, bytes);
      if (!got) continue;
      std::size_t wrong = 0;
      for (std::size_t n = 0; n < 65536; ++n) {
        std::uint16_t value = 0;
        std::memcpy(&value, got->data() + 2 * ((3 * (n / 256) + 1) * 768 + 3 * (n % 256) + 1), 2);
        const bool nan = pixel == Pixel::r16f && (n & 0x7FFF) > 0x7C00;
        if (nan ? (value & 0x7FFF) <= 0x7C00 : value != n) ++wrong;
      }
      CHECK(wrong == 0);
    }
  }
}

LONG_TEST_CASE("ranks of floats: NaN last, -0 before 0, denormals and infinities in their places",
               32) {
  const std::vector<float> order{-kInf, -3, -1e-45f, -0.0f, 0.0f, 1e-45f, 3, kInf, kNan};
  const int width = 19;
  for (int number = 0; number < 9; ++number) {
    const Problem p = picture(width, 3, 1, rank_of(number, 1), Pixel::r32f);
    clcook::Random random(static_cast<std::uint64_t>(number + 3));
    std::vector<float> in(values_of(p), 0.5f);
    // Three times the nine values, in any order, the NaN with any sign.
    for (std::size_t cell = 0; cell < 6; ++cell) {
      std::vector<float> nine = order;
      if (cell % 2 == 1) nine[8] = -kNan;
      for (std::size_t i = 8; i > 0; --i)
        std::swap(nine[i], nine[random.below(static_cast<std::uint32_t>(i + 1))]);
      for (std::size_t k = 0; k < 9; ++k) in[k / 3 * width + 3 * cell + k % 3] = nine[k];
    }
    for (const Variant v : RankFilter::variants()) {
      CAPTURE(v.name());
      CAPTURE(number);
      const auto got = filtered(p, v, bytes_of(in));
      if (!got) continue;
      const std::vector<float> values = floats_of(*got);
      for (std::size_t cell = 0; cell < 6; ++cell) {
        const float value = values[static_cast<std::size_t>(width) + 3 * cell + 1];
        const float expected = order[static_cast<std::size_t>(number)];
        if (number == 8) {
          REQUIRE(std::isnan(value));
        } else {
          REQUIRE(std::memcmp(&value, &expected, sizeof value) == 0);
        }
      }
    }
  }
}

// ---- Properties ---------------------------------------------------------------------------------

LONG_TEST_CASE("rank 0 is the erosion and rank 1 the dilation", 32) {
  std::size_t row = 0;
  for (const int radius : {1, 2, 3, 6, 32}) {
    if (left_out(row++, 3)) continue;
    Problem p = picture(45, 37, radius, 0, Pixel::rgba8);
    const Bytes in = random_bytes(values_of(p), 5);
    // Along rows, then along columns.
    const auto extreme = [&](bool most) {
      const auto pick = [&](unsigned char a, unsigned char b) {
        return most ? std::max(a, b) : std::min(a, b);
      };
      const auto at = [&](int x, int y, int c) {
        return static_cast<std::size_t>((std::clamp(y, 0, 36) * 45 + std::clamp(x, 0, 44)) * 4 + c);
      };
      Bytes rows = in;
      Bytes out = in;
      for (int pass = 0; pass < 2; ++pass) {
        const Bytes& from = pass == 0 ? in : rows;
        Bytes& to = pass == 0 ? rows : out;
        for (int y = 0; y < 37; ++y)
          for (int x = 0; x < 45; ++x)
            for (int c = 0; c < 4; ++c) {
              unsigned char value = from[at(x, y, c)];
              for (int d = -radius; d <= radius; ++d)
                value = pick(value, from[pass == 0 ? at(x + d, y, c) : at(x, y + d, c)]);
              to[at(x, y, c)] = value;
            }
      }
      return out;
    };
    const Bytes low = extreme(false);
    const Bytes high = extreme(true);
    for (const Variant v : RankFilter::variants()) {
      CAPTURE(v.name());
      CAPTURE(radius);
      p.rank = 0;
      const auto eroded = filtered(p, v, in);
      if (eroded) CHECK(*eroded == low);
      p.rank = 1;
      const auto dilated = filtered(p, v, in);
      if (dilated) CHECK(*dilated == high);
    }
  }
}

LONG_TEST_CASE("results rise with the rank", 32) {
  for (const int radius : {2, 5}) {
    for (const Variant v : RankFilter::variants()) {
      CAPTURE(v.name());
      Problem p = picture(53, 29, radius, 0, Pixel::r16);
      Bytes last(2 * values_of(p));
      const Bytes in = random_bytes(last.size(), 7);
      for (const double rank : {0.0, 0.04, 0.3, 0.5, 0.51, 0.9, 1.0}) {
        p.rank = rank;
        const auto got = filtered(p, v, in);
        if (!got) break;
        for (std::size_t i = 0; i < got->size(); i += 2) {
          std::uint16_t before = 0;
          std::uint16_t now = 0;
          std::memcpy(&before, last.data() + i, 2);
          std::memcpy(&now, got->data() + i, 2);
          REQUIRE(before <= now);
        }
        last = *got;
      }
    }
  }
}

LONG_TEST_CASE("what keeps the order commutes with a filter, what reverses it mirrors the rank",
               32) {
  for (const int radius : {1, 3, 4}) {
    Problem p = picture(61, 23, radius, rank_of(2, radius));
    const Bytes in = random_bytes(values_of(p), 9);
    Bytes squared = in;
    Bytes turned = in;
    for (unsigned char& value : squared) value = static_cast<unsigned char>(value * value / 255);
    for (unsigned char& value : turned) value = static_cast<unsigned char>(255 - value);
    for (const Variant v : RankFilter::variants()) {
      CAPTURE(v.name());
      CAPTURE(radius);
      auto expected = filtered(p, v, in);
      if (!expected) continue;
      Bytes other = *expected;
      for (unsigned char& value : other) value = static_cast<unsigned char>(value * value / 255);
      CHECK(*filtered(p, v, squared) == other);
      Problem q = p;
      q.rank = 1 - p.rank;
      other = *expected;
      for (unsigned char& value : other) value = static_cast<unsigned char>(255 - value);
      CHECK(*filtered(q, v, turned) == other);
    }
  }
}

LONG_TEST_CASE("a picture that is turned on its side or mirrored has the same results, turned",
               32) {
  for (const int radius : {2, 7}) {
    const Problem p = picture(41, 33, radius, 0.35);
    const Problem side = picture(33, 41, radius, 0.35);
    const Bytes in = random_bytes(values_of(p), 11);
    const auto turned = [](const Bytes& from, std::size_t width, std::size_t height) {
      Bytes out(from.size());
      for (std::size_t y = 0; y < height; ++y)
        for (std::size_t x = 0; x < width; ++x) out[x * height + y] = from[y * width + x];
      return out;
    };
    for (const Variant v : RankFilter::variants()) {
      CAPTURE(v.name());
      const auto got = filtered(p, v, in);
      if (!got) continue;
      CHECK(*filtered(side, v, turned(in, 41, 33)) == turned(*got, 41, 33));
      Bytes mirrored(in.rbegin(), in.rend());
      CHECK(*filtered(p, v, mirrored) == Bytes(got->rbegin(), got->rend()));
    }
  }
}

LONG_TEST_CASE("a constant stays, and the median removes single pixels that a larger rank keeps",
               32) {
  for (const int radius : {1, 4, 9}) {
    Problem p = picture(50, 40, radius, 0.5, Pixel::rgba16);
    Bytes flat(2 * values_of(p), 0x5A);
    Bytes dotted = flat;
    dotted[2 * (20 * 50 + 25) * 4] = 0xFF;
    for (const Variant v : RankFilter::variants()) {
      CAPTURE(v.name());
      const auto got = filtered(p, v, flat);
      if (!got) continue;
      CHECK(*got == flat);
      CHECK(*filtered(p, v, dotted) == flat);
      Problem most = p;
      most.rank = 1;
      const auto grown = *filtered(most, v, dotted);
      std::size_t bright = 0;
      for (std::size_t i = 0; i < grown.size(); i += 8) bright += grown[i] == 0xFF ? 1u : 0u;
      CHECK(bright == static_cast<std::size_t>(neighbours_of(radius)));
    }
  }
}

// ---- The operation ------------------------------------------------------------------------------

TEST_CASE("another rank is another program for networks alone") {
  for (const RankFilter::Row& row : RankFilter::variants()) {
    for (const int radius : {3, 4}) {
      const auto options = [&](double rank) {
        return RankFilter::Posed(picture(640, 480, radius, rank))
            .units(row, {}, runtime().info())[0]
            .defines.options();
      };
      const bool network = row.name == "network" || row.name == "network_packed" ||
                           (row.name == "cpu_rows" && radius == 3);
      CAPTURE(row.name);
      CHECK((options(0.5) != options(0.25)) == network);
    }
  }
}

LONG_TEST_CASE("a picture wider than a group, at every radius, by the variant that is chosen", 16) {
  for (int radius = 1; radius <= RankFilter::kMaxRadius; ++radius) {
    if (left_out(static_cast<std::size_t>(radius), 8)) continue;
    const Problem p = picture(70, 5, radius, 0.4, Pixel::r32f);
    clcook::Random random(static_cast<std::uint64_t>(radius));
    std::vector<float> in(values_of(p));
    for (float& value : in) value = random.uniform(-2.0f, 2.0f);
    CAPTURE(radius);
    const auto got = filtered(p, "automatic", bytes_of(in));
    REQUIRE(got);
    CHECK(floats_of(*got) == ref::filtered(ref::Picture{p.width, p.height, 1, in}, radius, p.rank,
                                           ref::Border::clamp, {}));
  }
}

TEST_CASE("from image to image") {
  const Problem p = picture(37, 21, 2, 0.5, Pixel::rgba8);
  Bytes in = random_bytes(values_of(p), 3);
  const cl::Image2D src = make_image(37, 21, {CL_RGBA, CL_UNSIGNED_INT8}, in.data());
  const cl::Event done = RankFilter(runtime(), p)(ImageView(src), ImageView(src));
  Bytes got(in.size());
  read_image(src, 0, 0, 37, 21, got.data(), done);
  CHECK(got == *filtered(p, "select", in));
}

TEST_CASE(
    "an image whose blue comes first is one like others, but not beside one of another order") {
  const cl_image_format bgra{CL_BGRA, CL_UNORM_INT8};
  if (!has_image_format(runtime(), CL_MEM_OBJECT_IMAGE2D, bgra, CL_MEM_READ_WRITE)) return;
  const Problem p = picture(37, 21, 2, 0.5, Pixel::rgba8);
  Bytes in = random_bytes(values_of(p), 3);
  const cl::Image2D src = make_image(37, 21, bgra, in.data());
  const RankFilter filter(runtime(), p);
  const cl::Event done = filter(ImageView(src), ImageView(src));
  Bytes got(in.size());
  read_image(src, 0, 0, 37, 21, got.data(), done);
  CHECK(got == *filtered(p, "select", in));
  const cl::Image2D other = make_image(37, 21, {CL_RGBA, CL_UNORM_INT8}, in.data());
  check_refused([&] { filter(ImageView(src), ImageView(other)); },
                "in one order, got CL_BGRA with CL_UNORM_INT8 and CL_RGBA with CL_UNORM_INT8");
}

TEST_CASE("a picture that no device holds is refused with its size and the device's") {
  const Error error =
      error_of([] { RankFilter(runtime(), picture(1 << 28, 1 << 28, 1, 0.5, Pixel::r8)); });
  CHECK(error.code == Errc::out_of_resources);
  CHECK(contains(error.what(),
                 "inputs and outputs of 144115188075855872 bytes exceed the device's "
                 "memory of " +
                     std::to_string(runtime().info().global_mem)));
}

TEST_CASE("values out of range are errors that name value and rule") {
  const Problem good = picture(64, 64, 2, 0.5);
  const auto with = [&](auto change) {
    Problem p = good;
    change(p);
    return p;
  };
  refused(with([](Problem& p) { p.rank = std::nan(""); }), "rank must be 0 to 1, got nan");
  refused(with([](Problem& p) { p.pixel = static_cast<Pixel>(99); }), "pixel type");
  refused(with([](Problem& p) { p.border = static_cast<Border>(99); }), "border mode");
  refused(picture(64, 64, 4, 0.5), "network", {}, "a radius of 1 to 3, got 4", Errc::unsupported);
  const auto tune = [](int width, int height, int outputs) {
    Tune out;
    out.tile_width = width;
    out.tile_height = height;
    out.outputs = outputs;
    return out;
  };
  refused(good, "select", tune(0, 0, 2), "makes 1 output per item, got 2");
  refused(good, "network", tune(32, 15, 3), "an even number of outputs, got 3");
  refused(good, "network", tune(32, 15, 2), "a multiple of outputs, got 15 and 2");
  refused(good, "select", tune(1025, 1, 1), "tile_width must be 1 to 1024, got 1025");
  refused(good, "cpu_rows", tune(16, 0, 0), "no tile to choose");
  check_refused([] { RankFilter::parse_pixel("rgb9"); }, "rgb9");
  check_refused([] { RankFilter::parse_border("zero"); }, "zero");
}

TEST_CASE("extremes of small windows in small pictures go by networks, as on an H200") {
  DeviceInfo device;
  device.gpu = true;
  device.compute_units = 132;
  device.local_mem = 49148;
  device.max_group = 1024;
  const RankFilter::Row& row = *Variant("columns_first").row();
  const auto is_behind = [&](int width, int height, int radius) {
    const Problem p = picture(width, height, radius, 0);
    return RankFilter::Spec::is_behind_networks(
        {row, p, RankFilter::Spec::defaults(row, p, device), device});
  };
  CHECK(is_behind(1488, 484, 1));
  CHECK_FALSE(is_behind(2311, 2215, 1));
  CHECK(is_behind(300, 82, 2));
  CHECK_FALSE(is_behind(943, 1286, 2));
  CHECK(is_behind(94, 159, 3));
  CHECK_FALSE(is_behind(94, 159, 4));  // there is no network
  device.cpu = true;
  device.platform = "Intel(R) OpenCL";
  CHECK_FALSE(is_behind(272, 487, 1));
}
