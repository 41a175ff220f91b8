// gbuffer_shade: what the generic conformance test cannot know.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <clcook/cookbook/gbuffer_shade.hpp>
#include <clcook/gbuffer_shade.hpp>
#include <clcook/reference/gbuffer_shade.hpp>
#include <clcook/registry/random.hpp>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/testing.hpp"

namespace {

namespace ref = clcook::reference::gbuffer_shade;
using clcook::BufferView;
using clcook::Errc;
using clcook::Error;
using clcook::GbufferShade;
using clcook::Runtime;
using namespace clcook::testing;
using Variant = GbufferShade::Variant;

std::vector<std::uint32_t> shade(const std::vector<ref::Texel>& texels,
                                 const std::vector<GbufferShade::Light>& lights, Variant variant) {
  std::vector<std::uint32_t> words;
  for (const ref::Texel& texel : texels) {
    for (const std::uint32_t word : ref::pack(texel)) words.push_back(word);
  }
  const GbufferShade plan(runtime(), {texels.size(), lights, 0x00FFFFFFu}, variant);
  const cl::Buffer gbuffer =
      clcook::create_buffer(runtime(), words.size() * 4, CL_MEM_READ_WRITE, words.data());
  const cl::Buffer colours = clcook::create_buffer(runtime(), texels.size() * 4);
  const cl::Event done = plan(gbuffer, colours);
  return clcook::testing::read_buffer<std::uint32_t>(runtime(), colours, texels.size(), {done});
}

// The variants that the device can run.
std::vector<Variant> variants() {
  std::vector<Variant> out;
  for (const GbufferShade::Row& row : GbufferShade::variants()) {
    if (GbufferShade::Posed({1, {}, 0}).offer(runtime(), row).can()) out.emplace_back(row);
  }
  return out;
}

}  // namespace

TEST_CASE("gbuffer_shade: colours that can be worked out by hand") {
  // One light of full strength along z: d = 127 * 127 / 128 = 126, a sum of 126 * 255 / 32 = 1004,
  // and 255 * 1004 / 1024 = 250.
  const ref::Texel lit{{0, 0, 127}, 0, {255, 128, 0}, 0.0f, 0};
  ref::Texel shadowed = lit;
  shadowed.shadow = 1;
  ref::Texel ambient = shadowed;
  ambient.ambient = 255;
  ref::Texel unlit = shadowed;
  unlit.depth = -0.0f;
  ref::Texel half_fog = lit;
  half_fog.depth = 0.5f;
  ref::Texel fog = unlit;
  fog.depth = -7.0f;
  const std::vector<ref::Texel> texels{lit, shadowed, ambient, unlit, half_fog, fog};
  const std::vector<std::uint32_t> expected{0xFF007DFAu, 0xFF000000u, 0xFF001F3Fu,
                                            0xFF0080FFu, 0xFF7FBEFCu, 0xFFFFFFFFu};
  for (std::size_t i = 0; i < texels.size(); ++i) {
    CHECK(ref::shade(texels[i], {{{0, 0, 127}, {255, 255, 255}}}, {255, 255, 255}) == expected[i]);
  }
  for (const Variant& variant : variants()) {
    CAPTURE(variant.name());
    CHECK(shade(texels, {{0, 0, 127, 0xFFFFFFu}}, variant) == expected);
  }
}

TEST_CASE("gbuffer_shade: what must hold of light, of the reference") {
  clcook::Random random(4);
  const auto below = [&](int most) {
    return static_cast<int>(random.below(static_cast<std::uint64_t>(most)));
  };
  const auto channel = [](std::uint32_t colour, std::size_t c) {
    return static_cast<int>(colour >> (8 * c) & 0xFFu);
  };
  for (int round = 0; round < 2000; ++round) {
    ref::Texel texel{{below(256) - 128, below(256) - 128, below(256) - 128},
                     below(256),
                     {below(256), below(256), below(256)},
                     static_cast<float>(below(1024)) / 512,
                     random.bits32() & 0xFu};
    std::vector<ref::Light> lights;
    for (int l = 0; l < 4; ++l) {
      lights.push_back({{below(255) - 127, below(255) - 127, below(255) - 127},
                        {below(256), below(256), below(256)}});
    }
    const std::array<int, 3> fog{below(256), below(256), below(256)};
    const std::uint32_t colour = ref::shade(texel, lights, fog);
    CHECK((colour >> 24) == 255);

    // A light that does not reach the texel is none, and the order of lights is nothing.
    std::vector<ref::Light> reaching;
    for (std::size_t l = 4; l-- > 0;) {
      if ((texel.shadow >> l & 1u) == 0) reaching.push_back(lights[l]);
    }
    ref::Texel open = texel;
    open.shadow = 0;
    CHECK(ref::shade(open, reaching, fog) == colour);

    // Channels do not mix: exchanged everywhere, they are exchanged in the result.
    ref::Texel turned = texel;
    std::vector<ref::Light> other = lights;
    std::swap(turned.albedo[0], turned.albedo[2]);
    for (ref::Light& light : other) std::swap(light.colour[0], light.colour[2]);
    const std::uint32_t swapped = ref::shade(turned, other, {fog[2], fog[1], fog[0]});
    CHECK(channel(swapped, 0) == channel(colour, 2));
    CHECK(channel(swapped, 1) == channel(colour, 1));
    CHECK(channel(swapped, 2) == channel(colour, 0));

    // More light never makes it darker; nearer than the fog's end it lies between the two.
    const std::uint32_t brighter = ref::shade(open, lights, fog);
    texel.depth = 0;
    const std::uint32_t clear = ref::shade(texel, lights, fog);
    texel.depth = 1;
    for (std::size_t c = 0; c < 3; ++c) {
      CHECK(channel(brighter, c) >= channel(colour, c));
      CHECK(channel(colour, c) >= std::min(channel(clear, c), fog[c]));
      CHECK(channel(colour, c) <= std::max(channel(clear, c), fog[c]));
      CHECK(channel(ref::shade(texel, lights, fog), c) == fog[c]);
    }
  }
}

TEST_CASE("gbuffer_shade: the reference against the same formula in fractions") {
  // One light, no fog: albedo (ambient + d colour / 32) / 1024, each division cut off. In double,
  // with the remainders taken away by hand instead of by integer division.
  const auto cut = [](double value) { return value - std::fmod(value, 1.0); };
  clcook::Random random(5);
  for (int round = 0; round < 2000; ++round) {
    const auto byte = [&] { return static_cast<int>(random.below(256)); };
    const ref::Texel texel{
        {byte() - 128, byte() - 128, byte() - 128}, byte(), {byte(), byte(), byte()}, 0.0f, 0};
    const ref::Light light{{byte() / 2, -byte() / 2, byte() / 2}, {byte(), byte(), byte()}};
    double dot = 0;
    for (std::size_t c = 0; c < 3; ++c)
      dot += static_cast<double>(texel.normal[c]) * static_cast<double>(light.direction[c]);
    const std::uint32_t colour = ref::shade(texel, {light}, {9, 9, 9});
    for (std::size_t c = 0; c < 3; ++c) {
      const double sum = texel.ambient + cut(cut(std::max(dot, 0.0) / 128) * light.colour[c] / 32);
      const double lit = std::min(255.0, cut(texel.albedo[c] * sum / 1024));
      CHECK(static_cast<double>(colour >> (8 * c) & 0xFFu) == lit);
    }
  }
}

TEST_CASE("gbuffer_shade: the largest values still fit in 16 bits") {
  // 32 lights, each as strong as the limit allows, against the most negative normals.
  std::vector<GbufferShade::Light> lights;
  std::vector<ref::Light> same;
  for (int l = 0; l < 32; ++l) {
    const int x = l % 2 == 0 ? -255 : -100;
    const int y = l % 2 == 0 ? 0 : -155;
    lights.push_back({x, y, 0, 0xFFFFFFu});
    same.push_back({{x, y, 0}, {255, 255, 255}});
  }
  std::vector<ref::Texel> texels;
  for (int i = 0; i < 40; ++i) {
    texels.push_back({{i % 2 == 0 ? -128 : 127, -128, 127}, 255, {i, 1, 255}, 0.0f, 0});
  }
  for (const Variant& variant : variants()) {
    CAPTURE(variant.name());
    const std::vector<std::uint32_t> got = shade(texels, lights, variant);
    for (std::size_t i = 0; i < texels.size(); ++i)
      CHECK(got[i] == ref::shade(texels[i], same, {255, 255, 255}));
  }
}

TEST_CASE("gbuffer_shade: automatic names a variant that runs") {
  const GbufferShade plan(runtime(), {5, {}, 0});
  CHECK_FALSE(plan.variant().is_automatic());
  CHECK(plan.tune().group >= 1);
  if (Variant("cpu_lanes") == variants().back()) CHECK(plan.variant() == "cpu_lanes");
}

TEST_CASE("gbuffer_shade: cpu_lanes is for CPUs, a work-item per group") {
  const GbufferShade::Problem p{1, {}, 0};
  const GbufferShade::Row& row = *Variant("cpu_lanes").row();
  const Error error = error_of([&] { GbufferShade(runtime(), p, row, {128}); });
  INFO(error.what());
  CHECK(error.code == Errc::invalid_argument);
  CHECK(contains(error.what(), "group of cpu_lanes must be 1, got 128"));
}

TEST_CASE("gbuffer_shade: other lights and sizes build no program") {
  const GbufferShade first(runtime(), {100, {{0, 0, 127, 0}}, 0}, "packed");
  const auto before = runtime().cache().stats();
  const GbufferShade second(runtime(), {5000, {{1, 2, 3, 4}, {5, 6, 7, 8}}, 9}, "packed");
  CHECK(runtime().cache().stats().from_source == before.from_source);
}

TEST_CASE("gbuffer_shade: a problem out of range is refused with its value") {
  constexpr PlanRefused<GbufferShade> refused;
  refused({(std::size_t{1} << 40) + 1, {}, 0}, "got 1099511627777");
  refused({1, {{0, 0, 127, 0}, {128, -127, 1, 0}}, 0},
          "light 1: |x| + |y| + |z| must be at most 255, got 256");
  refused({1, {{-2147483647 - 1, 0, 0, 0}}, 0}, "got 2147483648");
  GbufferShade::Tune tune;
  tune.group = -1;
  refused({1, {}, 0}, "packed", tune, "got -1");
}

TEST_CASE("gbuffer_shade: a view that does not fit is refused with value and rule") {
  const GbufferShade plan(runtime(), {10, {}, 0}, "packed");
  const cl::Buffer colours = clcook::create_buffer(runtime(), 40);
  const cl::Buffer large = clcook::create_buffer(runtime(), 4096);
  check_refused([&] { plan(colours, large); }, "gbuffer has 40 bytes, needs 160");
  check_refused([&] { plan({large, 8}, colours); }, "multiples of 16");
  check_refused([&] { plan(large, {large, 2050}); }, "multiples of 4");
  plan({large, 0}, {large, 160}).wait();
}
