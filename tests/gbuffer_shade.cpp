// gbuffer_shade: what the generic conformance test cannot know.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <clcook/cookbook/gbuffer_shade.hpp>
#include <clcook/gbuffer_shade.hpp>
#include <clcook/reference/gbuffer_shade.hpp>
#include <clcook/registry/conformance.hpp>
#include <clcook/registry/random.hpp>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/grid.hpp"
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

// The exact variants that the device can run.
std::vector<Variant> variants() {
  std::vector<Variant> out;
  for (const GbufferShade::Row& row : GbufferShade::variants()) {
    if (!row.is_approximate && GbufferShade::Posed({1, {}, 0}).offer(runtime(), row).can())
      out.emplace_back(row);
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

TEST_CASE("gbuffer_shade: float2 and half2 round down only at the end") {
  const ScopedVariable emulation("CLCOOK_TENSOR_EMULATE", "1");
  // Of each light d is 0.75 and adds 0.75 * 255 / 32 = 5.98 to a sum: all are 191.25, and
  // 255 * 191.25 / 1024 = 47.6. In integers each d is 0.
  const std::vector<GbufferShade::Light> dim(32, {96, 0, 0, 0xFFFFFFu});
  const ref::Texel lit{{1, 0, 0}, 0, {255, 255, 255}, 0.0f, 0};
  ref::Texel upper_lights = lit;  // half of the sum
  upper_lights.shadow = 0xFFFFu;
  ref::Texel one_light = lit;  // a sum of 5.98: 1.5
  one_light.shadow = 0x7FFFFFFFu;
  ref::Texel away = lit;
  away.normal[0] = -1;
  ref::Texel unlit = lit;
  unlit.depth = -0.25f;  // a quarter of white fog over white
  const std::vector<ref::Texel> texels{lit, upper_lights, one_light, away, unlit};
  for (const char* variant : {"float2", "half2"}) {
    CAPTURE(variant);
    CHECK(shade(texels, dim, variant) == std::vector<std::uint32_t>{0xFF2F2F2Fu, 0xFF171717u,
                                                                    0xFF010101u, 0xFF000000u,
                                                                    0xFFFFFFFFu});
  }
  CHECK(shade(texels, dim, "packed")[0] == 0xFF000000u);
}

TEST_CASE("gbuffer_shade: float2 and half2 at the largest values") {
  const ScopedVariable emulation("CLCOOK_TENSOR_EMULATE", "1");
  // The largest sums, and products that cancel.
  std::vector<GbufferShade::Light> lights;
  std::vector<ref::Light> same;
  for (int l = 0; l < 32; ++l) {
    const std::array<int, 3> direction{l % 2 == 0 ? -255 : -100, l % 2 == 0 ? 0 : -155 + l,
                                       l % 2 == 0 ? 0 : l};
    lights.push_back({direction[0], direction[1], direction[2], 0xFF01FFu});
    same.push_back({direction, {255, 1, 255}});
  }
  std::vector<ref::Texel> texels;
  for (int i = 0; i < 64; ++i) {
    texels.push_back({{i % 4 == 0 ? 127 : -128, i % 2 == 0 ? -128 : 127, 4 * i - 128},
                      255,
                      {i % 5, 255, i % 3},
                      0.0f,
                      0});
  }
  for (const std::string variant : {"float2", "half2"}) {
    CAPTURE(variant);
    const double unit = variant == "half2" ? 0x1p-11 : 0x1p-24;
    const std::vector<std::uint32_t> got = shade(texels, lights, variant);
    for (std::size_t i = 0; i < texels.size(); ++i) {
      CAPTURE(i);
      const ref::Fractions expected =
          ref::shade_in_fractions(texels[i], same, {255, 255, 255}, unit);
      for (std::size_t c = 0; c < 3; ++c) {
        CHECK(std::abs(static_cast<double>(got[i] >> (8 * c) & 0xFFu) - expected.colour[c]) <=
              expected.error[c]);
      }
    }
  }
}

TEST_CASE("gbuffer_shade: fractions against integers, of the reference") {
  // Integers round down, so they are never above; with one light by less than 9 of a sum, and by
  // less than 1 of lit and 1 of the colour.
  clcook::Random random(6);
  const auto byte = [&] { return static_cast<int>(random.below(256)); };
  for (int round = 0; round < 2000; ++round) {
    const ref::Texel texel{{byte() - 128, byte() - 128, byte() - 128},
                           byte(),
                           {byte(), byte(), byte()},
                           static_cast<float>(byte()) / 200 * (round % 8 == 0 ? -1.0f : 1.0f),
                           random.bits32() & 1u};
    const ref::Light light{{byte() / 2, -byte() / 2, byte() / 2}, {byte(), byte(), byte()}};
    const std::array<int, 3> fog{byte(), byte(), byte()};
    const std::uint32_t integers = ref::shade(texel, {light}, fog);
    const ref::Fractions fractions = ref::shade_in_fractions(texel, {light}, fog);
    for (std::size_t c = 0; c < 3; ++c) {
      const double less = fractions.colour[c] - static_cast<double>(integers >> (8 * c) & 0xFFu);
      CHECK(less >= 0);
      CHECK(less < 9.0 * texel.albedo[c] / 1024 + 2);
    }
  }
}

TEST_CASE("gbuffer_shade: under many lights half2 is closer to fractions than integers are") {
  const ScopedVariable emulation("CLCOOK_TENSOR_EMULATE", "1");
  clcook::Random random(7);
  const auto byte = [&] { return static_cast<int>(random.below(256)); };
  std::vector<GbufferShade::Light> lights;
  std::vector<ref::Light> same;
  for (int l = 0; l < 32; ++l) {
    const std::array<int, 3> direction{byte() / 2 - 64, byte() / 2 - 64, byte() / 2 - 64};
    const std::array<int, 3> colour{byte(), byte(), byte()};
    lights.push_back({direction[0], direction[1], direction[2],
                      static_cast<std::uint32_t>(colour[0] | colour[1] << 8 | colour[2] << 16)});
    same.push_back({direction, colour});
  }
  std::vector<ref::Texel> texels(2000);
  for (ref::Texel& texel : texels) {
    texel = {{byte() - 128, byte() - 128, byte() - 128},
             byte(),
             {byte(), byte(), byte()},
             static_cast<float>(byte()) / 200,
             random.bits32()};
  }
  const auto largest = [&](Variant variant) {
    const std::vector<std::uint32_t> got = shade(texels, lights, variant);
    double out = 0;
    for (std::size_t i = 0; i < texels.size(); ++i) {
      const ref::Fractions exact = ref::shade_in_fractions(texels[i], same, {255, 255, 255});
      for (std::size_t c = 0; c < 3; ++c)
        out = std::max(out,
                       std::abs(static_cast<double>(got[i] >> (8 * c) & 0xFFu) - exact.colour[c]));
    }
    return out;
  };
  const double integers = largest("reloaded");
  const double halves = largest("half2");
  CAPTURE(integers);
  CAPTURE(halves);
  CHECK(2 * halves < integers);
}

TEST_CASE("gbuffer_shade: half2 is offered where there is arithmetic of halves") {
  const auto lacks = &GbufferShade::Spec::lacks_halves;
  clcook::DeviceInfo info;
  info.platform = "Some OpenCL";
  CHECK(lacks(info) == "the device has no cl_khr_fp16");
  info.extensions = "cl_khr_fp64 cl_khr_fp16";
  CHECK(lacks(info).empty());
  // NVIDIA's does not list the extension.
  info = {};
  info.platform = "NVIDIA CUDA";
  info.nvidia_capability = 75;
  CHECK(contains(lacks(info), "needs the compute capability 8.0, the device has 7.5"));
  info.nvidia_capability = 80;
  CHECK(lacks(info).empty());

  if (const std::string why = lacks(runtime().info()); !why.empty()) {
    const Error error = error_of([] { GbufferShade(runtime(), {1, {}, 0}, "half2"); });
    CHECK(error.code == Errc::unsupported);
    CHECK(error.lacks == clcook::Lacks::feature);
    CHECK(contains(error.what(), why));
  }
}

LONG_TEST_CASE("gbuffer_shade: half2 on devices without halves", 16) {
  const ScopedVariable emulation("CLCOOK_TENSOR_EMULATE", "1");
  clcook::ConformanceOptions options;
  options.variant = "half2";
  const clcook::ConformanceSummary summary =
      run_conformance({clcook::cookbook::gbuffer_shade()}, runtime(), options,
                      [](const clcook::ConformanceRow& row) {
                        INFO(row.name(), " ", row.reason);
                        CHECK(row.outcome == clcook::Outcome::passed);
                      });
  CHECK(summary.passed > 0);
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
