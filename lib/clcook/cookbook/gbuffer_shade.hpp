// The card of the recipe gbuffer_shade.
//
// Problem: many lights on a packed G-buffer. To use each light for several texels, a work-item
// shades 8 of them; their normals, colours, flags and sums all live through the loop over the
// lights. Why wide is slow: it multiplies by conditions three times per light and texel. It also
// unpacks 4 words of a texel into 10 ints before the loop, 80 registers and 24 of sums, so few
// work-groups fit on a compute unit, and in a large group the registers spill. What each variant
// changes, and against which other: see its summary. As 16-bit floats two texels share registers and
// instructions, at the price of exact results. When it does not help: the compiler moves
// unpacking by itself, docs/gbuffer_shade.md says where. It does not move loads over a loop or
// change the width of arithmetic. NVIDIA's driver gives most of the variants as many registers.
#pragma once

#include <array>
#include <clcook/gbuffer_shade.hpp>
#include <clcook/reference/gbuffer_shade.hpp>
#include <clcook/registry/guarded_buffer.hpp>
#include <clcook/registry/in_parallel.hpp>
#include <clcook/registry/plan_case.hpp>
#include <clcook/registry/random.hpp>
#include <clcook/registry/recipe.hpp>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace clcook::cookbook {
namespace gbuffer_shade_card {

// The problem of a shape; recipe.parameters names its values. The lights are still dark. The G-buffer
// starts one texel later than the colours, so that an exchange shows.
inline GbufferShade::Problem problem(const Params& shape) {
  GbufferShade::Problem out;
  out.texels = shape.as<std::size_t>("texels");
  out.lights.resize(shape.as<std::size_t>("lights"));
  return out;
}

// What a variant runs with: the tuning, changed by what the shape says. Variants for CPUs have one.
inline GbufferShade::Tune tune_of(const GbufferShade::Row& row, const Params& tune,
                                  const Params& shape) {
  GbufferShade::Tune out = GbufferShade::Posed::parse_tune(tune);
  if (row.is_for_cpus) return out;
  if (const auto group = shape.as<int>("group"); group != 0) out.group = group;
  if (const auto each = shape.as<int>("each"); each != 0) out.texels = each;
  return out;
}

class ShadeCase : public PlanCase<GbufferShade> {
 public:
  ShadeCase(const Runtime& runtime, const Params& shape, std::uint64_t seed)
      : PlanCase(runtime, problem(shape), "gbuffer", "colours") {
    namespace ref = reference::gbuffer_shade;
    const auto offset = shape.as<std::size_t>("offset");
    Random random(seed);
    const auto range = [&](int low, int high) {
      return low + static_cast<int>(random.below(static_cast<std::uint64_t>(high - low + 1)));
    };
    for (std::size_t l = 0; l < problem_.lights.size(); ++l) {
      // Up to the limit, with both signs; some lights point along an axis.
      const int x = l % 5 == 3 ? (l % 2 == 0 ? 255 : -255) : range(-127, 127);
      const int left = clcook::gbuffer_shade::kMaxDirection - std::abs(x);
      const int y = range(-std::min(left, 127), std::min(left, 127));
      const int z = range(-(left - std::abs(y)), left - std::abs(y));
      const std::array<int, 3> colour{range(0, 255), range(0, 255), range(0, 255)};
      lights_.push_back({{x, y, z}, colour});
      problem_.lights[l] = {x, y, z, pack(colour)};
    }
    fog_ = {range(0, 255), range(0, 255), range(0, 255)};
    problem_.fog_colour = pack(fog_);
    constexpr float kSpecial[] = {0.0f,
                                  -0.0f,
                                  1.0f,
                                  0x1.fffffep-1f,
                                  std::numeric_limits<float>::infinity(),
                                  -std::numeric_limits<float>::infinity(),
                                  std::numeric_limits<float>::quiet_NaN(),
                                  0x1p-149f};
    texels_.resize(problem_.texels);
    words_.reserve(problem_.texels * 4);
    for (ref::Texel& t : texels_) {
      t.normal = {range(-128, 127), range(-128, 127), range(-128, 127)};
      t.ambient = range(0, 255);
      t.albedo = {range(0, 255), range(0, 255), range(0, 255)};
      const std::uint64_t choice = random.below(64);
      t.depth = choice < 8 ? kSpecial[choice] : random.uniform(0.0f, 1.25f);
      if (choice >= 48) t.depth = -t.depth;
      // Half of the lights reach half of the texels, and all or none the others.
      t.shadow = choice % 4 == 0 ? 0u : choice % 4 == 1 ? 0xFFFFFFFFu : random.bits32();
      for (std::uint32_t word : ref::pack(t)) words_.push_back(word);
      words_[words_.size() - 3] |= random.bits32() & 0xFF000000u;  // the byte that nobody reads
    }
    dst_.emplace(runtime, problem_.texels * 4, 1, offset * 4, 0, static_cast<unsigned char>(0xCD));
    src_.emplace(runtime, problem_.texels * 16, 1, offset == 0 ? 0 : (offset + 1) * 16, 0,
                 static_cast<unsigned char>(0x5A));
  }

  // Integers are exact. float2 and half2 do not round down at each light, so they are compared with
  // the formula in fractions; shade_in_fractions() derives their bound.
  Diff check(const std::vector<cl::Event>& wait) override {
    using clcook::gbuffer_shade::Numbers;
    Diff diff;
    const std::vector<unsigned char> got = dst_->read(wait, diff, "colours");
    const Numbers numbers = plan().variant().row()->traits.numbers;
    if (numbers != Numbers::integers) {
      const double unit = numbers == Numbers::halves ? 0x1p-11 : 0x1p-24;
      compare_in_parallel(diff, texels_.size(), [&](Diff& part, std::size_t i) {
        const auto expected =
            reference::gbuffer_shade::shade_in_fractions(texels_[i], lights_, fog_, unit);
        for (std::size_t c = 0; c < 3; ++c)
          part.compare(4 * i + c, expected.colour[c], got[4 * i + c], expected.error[c]);
        part.match(4 * i + 3, 255, static_cast<int>(got[4 * i + 3]));
      });
      return diff;
    }
    if (expected_.empty()) {
      for (const auto& texel : texels_)
        expected_.push_back(reference::gbuffer_shade::shade(texel, lights_, fog_));
    }
    for (std::size_t i = 0; i < expected_.size(); ++i) {
      std::uint32_t value = 0;
      std::memcpy(&value, got.data() + i * sizeof value, sizeof value);
      diff.match(i, expected_[i], value);
    }
    return diff;
  }

  Work work() const override {
    Work work;
    const auto texels = static_cast<double>(problem_.texels);
    work.bytes_read = texels * 16;
    work.bytes_written = texels * 4;
    // Per light: 3 products and 2 sums of the dot product, its limit and shift, the shadow, and for
    // each channel a product, a shift and a sum.
    work.operations = texels * (static_cast<double>(lights_.size()) * 17 + 30);
    return work;
  }

 private:
  const void* input() override { return words_.data(); }
  static std::uint32_t pack(const std::array<int, 3>& rgb) {
    return static_cast<std::uint32_t>(rgb[0]) | static_cast<std::uint32_t>(rgb[1]) << 8 |
           static_cast<std::uint32_t>(rgb[2]) << 16;
  }

  std::vector<reference::gbuffer_shade::Light> lights_;
  std::array<int, 3> fog_{};
  std::vector<reference::gbuffer_shade::Texel> texels_;
  std::vector<std::uint32_t> words_;
  std::vector<std::uint32_t> expected_;
};

inline Params shape(std::int64_t texels, std::int64_t lights, std::int64_t offset = 0,
                    bool tiny = false) {
  Params out{{"texels", texels}, {"lights", lights}};
  if (offset != 0) out.set("offset", offset);
  if (tiny) out.set("tiny", std::int64_t{1});
  return out;
}

}  // namespace gbuffer_shade_card

inline Recipe gbuffer_shade() {
  using gbuffer_shade_card::shape;
  Recipe recipe;
  recipe.title = "Shading a packed G-buffer";
  recipe.question = "Fewer instructions, fewer registers, or 16 bits?";
  recipe.for_gpus = "predicates";
  recipe.for_cpus = "cpu_lanes";
  recipe.written_first = {"flag_once"};
  recipe.family = "instructions";
  recipe.headline_pair = {"predicates", "flag_once"};
  recipe.summary =
      "Eight texels per item under many lights: predicates, a flag in the sign bit, late "
      "unpacking, "
      "values parked in local memory or loaded late, 16-bit integers and floats.";
  recipe.shows = {
      {6,
       "predicates against reloaded: registers and waves in the table of the page",
       {Experiment::fewer_registers("predicates", "reloaded")}},
      {7,
       "sweep along each, groups of 1024: the registers of a work-item up to the cap and beyond it",
       {Experiment::sweep("wide@8", "wide@4", "along=each group=1024",
                          "groups of 1024, 64 registers per work-item, 8 texels each to 4"),
        Experiment::sweep("sign_bit@16", "packed@16", "along=each group=1024",
                          "16 texels each there, fields unpacked before the loop to packed ones")}},
      {18, "sign_bit against packed", {Experiment::pair("sign_bit", "packed").with_registers()}},
      {19,
       "packed against bit_fields, and bit_fields against added_fields",
       {Experiment::pair("packed", "bit_fields")}},
      {20, "flag_once against predicates", {Experiment::pair("flag_once", "predicates")}},
      {22,
       "predicates against sign_bit, and sign_bit against sign_call",
       {Experiment::pair("predicates", "sign_bit")}},
      {24,
       "packed against short2 in integers, float2 against half2 in floats",
       {Experiment::pair("float2", "half2"), Experiment::pair("packed", "short2")}},
      {26, "packed against parked", {Experiment::fewer_registers("packed", "parked")}},
      {28, "packed against reloaded", {Experiment::pair("packed", "reloaded").with_registers()}},
  };
  recipe.parameters = {
      Parameter::integer("texels", "of the G-buffer", 1, 0x1p32),
      Parameter::integer("lights", "directional lights", 0, clcook::gbuffer_shade::kMaxLights),
      Parameter::integer("offset", "texels before the first colour", 0, 1 << 20, "0"),
      Parameter::integer("group", "work-items per group; 0: the tuning's", 0, 1024, "0"),
      Parameter::integer("each", "texels per work-item, 2, 4, 8 or 16; 0: the tuning's", 0, 16,
                         "0"),
  };
  describe<GbufferShade, gbuffer_shade_card::ShadeCase>(recipe, gbuffer_shade_card::problem,
                                                        gbuffer_shade_card::tune_of);
  recipe.test_shapes = {
      shape(1, 1, 0, true),
      shape(9, 3, 2, true),
      shape(127, 32, 1),
      shape(128, 0),
      shape(1023, 5, 3),
      shape(1024, 32),
      shape(1025, 7, 5),
      shape(8191, 2, 7),
      shape(8193, 31, 1),
      // Of cpu_lanes: a whole strip, and one that is whole vectors and a rest, in aligned memory.
      shape(4096 + 73, 17),
      shape(5003, 3).set("group", std::int64_t{512}).set("each", std::int64_t{16}),
      shape(2049, 4, 1).set("group", std::int64_t{1024}).set("each", std::int64_t{2}),
  };
  recipe.bench_shapes = {shape(3840 * 2160, 32), shape(3840 * 2160, 4), shape(512 * 512, 32)};
  recipe.quick_shape = shape(480 * 270, 32);
  // More and more registers per work-item, and groups whose size leaves fewer and fewer for each: on
  // sm_90 255, 128 and 64.
  Sweep registers;
  registers.shape = shape(1920 * 1080, 32);
  registers.smoke = {{"texels", std::int64_t{3000}}, {"lights", std::int64_t{2}}};
  registers.families = {{"group", {std::int64_t{128}, std::int64_t{512}, std::int64_t{1024}}}};
  registers.along = {"each", {2, 4, 8, 16}};
  registers.label = "texels per work-item";
  recipe.sweeps = {registers};
  return recipe;
}

}  // namespace clcook::cookbook
