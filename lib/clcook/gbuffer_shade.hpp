// Deferred shading: the colours of a packed G-buffer under up to 32 directional lights, exact in
// integers.
//
//   clcook::GbufferShade shade{runtime, {texels, lights, fog_colour}};
//   cl::Event done = shade(gbuffer, colours, {uploaded});
//
// A texel is 16 bytes: normal x, y, z as signed bytes and ambient light; albedo r, g, b and a byte
// that is not read; depth as a float, whose sign bit means unlit; a shadow word, whose bit l is set
// where light l does not reach. A colour is 4 bytes r, g, b and 255. kernels/gbuffer_shade.cl and
// reference/gbuffer_shade.hpp have the formula.
#pragma once

#include <algorithm>
#include <clcook/core/defines.hpp>
#include <clcook/core/error.hpp>
#include <clcook/core/launch.hpp>
#include <clcook/core/names.hpp>
#include <clcook/core/runtime.hpp>
#include <clcook/core/source.hpp>
#include <clcook/core/view.hpp>
#include <clcook/embedded/gbuffer_shade.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace clcook {

// A plan: constructed once, called often. All const member functions may be called from several
// threads.
class GbufferShade {
 public:
  // A light that shines from a direction, in units where 127 is 1. |x| + |y| + |z| must be at most
  // kMaxDirection, which every unit vector is: then its product with any normal fits in 16 bits.
  struct Light {
    int x = 0;
    int y = 0;
    int z = 0;
    std::uint32_t colour = 0;  // bytes r, g, b, lowest first
  };

  struct Problem {
    std::size_t texels = 0;        // 1 to kMaxTexels
    std::vector<Light> lights;     // at most kMaxLights
    std::uint32_t fog_colour = 0;  // bytes r, g, b, lowest first
  };

  enum class Variant {
    automatic,   // what was measured to be fastest; without that reloaded
    wide,        // everything unpacked early, conditions as ints
    predicates,  // wide with conditions as comparisons
    sign_bit,    // predicates with the flag left in the sign of the depth
    packed,      // all four words left packed until they are used
    parked,      // packed with what is needed last in local memory
    reloaded,    // packed with what is needed last loaded last
    short2,      // packed with 16-bit arithmetic on two texels at a time
  };

  // How to run, for tuning.
  struct Tune {
    int group = 0;  // work-items per work-group, 0 for the default
  };

  static constexpr std::size_t kMaxTexels = std::size_t{1} << 40;
  static constexpr std::size_t kMaxLights = 32;
  static constexpr int kMaxDirection = 255;
  static constexpr int kDefaultGroup = 128;

  // Throws Error: invalid_argument for a value out of range, unsupported where the device cannot
  // run the variant at this group size, build_failed, out_of_resources.
  GbufferShade(const Runtime& runtime, const Problem& problem, Variant variant, Tune tune)
      : runtime_(runtime), texels_(problem.texels), fog_colour_(problem.fog_colour) {
    check_problem(problem);
    to_string(variant);  // refuses a value that is no variant
    if (tune.group < 0)
      fail(Errc::invalid_argument, kName, text("group must not be negative, got ", tune.group));
    choose(variant, tune);
    variant_ = variant;
    group_ = static_cast<std::size_t>(tune.group);
    program_ = runtime.build(Source(embedded::gbuffer_shade), defines(variant_, tune.group),
                             std::string("gbuffer_shade/") + to_string(variant_));
    Kernel(runtime_, program_, kernel_name(variant_)).check_launch(launch());
    light_count_ = static_cast<cl_int>(problem.lights.size());
    std::vector<cl_int> table;
    for (const Light& light : problem.lights) {
      for (const int value : {light.x, light.y, light.z}) table.push_back(value);
      table.push_back(static_cast<cl_int>(light.colour & 0xFFFFFFu));
    }
    table.resize(std::max<std::size_t>(table.size(), 4));  // a buffer holds one light at least
    lights_ = create_buffer(runtime, table.size() * sizeof(cl_int), CL_MEM_READ_ONLY, table.data());
  }
  explicit GbufferShade(const Runtime& runtime, const Problem& problem,
                        Variant variant = Variant::automatic)
      : GbufferShade(runtime, problem, variant, Tune{}) {}

  // Enqueues the shading behind the events of `wait` and returns its event. Each view is one row:
  // 16 bytes per texel at an offset that is a multiple of 16, 4 bytes per colour at a multiple of
  // 4. The views must not overlap. Throws Error(invalid_argument), with nothing enqueued, when a
  // view breaks a rule.
  cl::Event operator()(const BufferView& gbuffer, const BufferView& colours,
                       const std::vector<cl::Event>& wait = {}) const {
    const CheckedView from =
        check_view(runtime_, gbuffer, {texels_ * 16, 1, 16}, Access::read, kName, "gbuffer");
    const CheckedView to =
        check_view(runtime_, colours, {texels_ * 4, 1, 4}, Access::write, kName, "colours");
    check_disjoint(from, to, kName, "gbuffer", "colours");
    Kernel kernel(runtime_, program_, kernel_name(variant_));
    return kernel(launch(), wait, from.buffer, static_cast<cl_ulong>(from.offset / 16), lights_,
                  light_count_, static_cast<cl_uint>(fog_colour_), to.buffer,
                  static_cast<cl_ulong>(to.offset / 4), static_cast<cl_ulong>(texels_));
  }

  // The variant that runs; never automatic.
  Variant variant() const { return variant_; }
  // The work-group size that runs.
  int group() const { return static_cast<int>(group_); }

  // The definitions that select a variant's program; `group` 0 means the default. For tools; plans
  // call it themselves.
  static Defines defines(Variant variant, int group = 0) {
    std::string upper = to_string(variant);
    for (char& c : upper) {
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    Defines out;
    out.flag("CLCOOK_GBUFFER_SHADE_ONLY").flag("CLCOOK_GBUFFER_SHADE_" + upper);
    out.set("CLCOOK_GBUFFER_SHADE_GROUP", group == 0 ? kDefaultGroup : group);
    return out;
  }

  static std::string kernel_name(Variant variant) {
    return std::string("gbuffer_shade_") + to_string(variant);
  }

  // Every variant that runs, in the order of the recipe.
  static constexpr Variant kVariants[] = {Variant::wide,   Variant::predicates, Variant::sign_bit,
                                          Variant::packed, Variant::parked,     Variant::reloaded,
                                          Variant::short2};

  static const char* to_string(Variant variant) {
    switch (variant) {
      case Variant::automatic:
        return "automatic";
      case Variant::wide:
        return "wide";
      case Variant::predicates:
        return "predicates";
      case Variant::sign_bit:
        return "sign_bit";
      case Variant::packed:
        return "packed";
      case Variant::parked:
        return "parked";
      case Variant::reloaded:
        return "reloaded";
      case Variant::short2:
        return "short2";
    }
    fail(Errc::invalid_argument, kName,
         text("there is no variant of the value ", static_cast<int>(variant)));
  }

  // The variant of that name, automatic included. Throws Error(invalid_argument) that lists the
  // names.
  static Variant parse_variant(std::string_view name) {
    return parse_name<Variant>(kName, "variant", name, kVariants,
                               [](Variant variant) { return to_string(variant); },
                               {Variant::automatic});
  }

 private:
  static constexpr const char* kName = "GbufferShade";
  static constexpr std::size_t kTexelsPerItem = 8;

  static void check_problem(const Problem& p) {
    if (p.texels < 1 || p.texels > kMaxTexels) {
      fail(Errc::invalid_argument, kName,
           text("texels must be 1 to ", kMaxTexels, ", got ", p.texels));
    }
    if (p.lights.size() > kMaxLights) {
      fail(Errc::invalid_argument, kName,
           text("there may be at most ", kMaxLights, " lights, got ", p.lights.size()));
    }
    for (std::size_t i = 0; i < p.lights.size(); ++i) {
      const auto part = [](int value) { return std::abs(static_cast<std::int64_t>(value)); };
      const std::int64_t sum = part(p.lights[i].x) + part(p.lights[i].y) + part(p.lights[i].z);
      if (sum > kMaxDirection) {
        fail(Errc::invalid_argument, kName,
             text("light ", i, ": |x| + |y| + |z| must be at most ", kMaxDirection, ", got ", sum));
      }
    }
  }

  // Fills in what the caller left open: from what was measured, else the built-in defaults.
  void choose(Variant& variant, Tune& tune) const {
    const bool automatic = variant == Variant::automatic;
    const TuningChoice choice = runtime_.tuning().choose(runtime_.info(), "gbuffer_shade",
                                                         20.0 * static_cast<double>(texels_),
                                                         automatic ? "" : to_string(variant));
    const bool measured = choice.match != TuningChoice::Match::none;
    if (automatic) variant = measured ? parse_variant(choice.entry.variant) : Variant::reloaded;
    if (tune.group == 0 && measured) {
      const int group = choice.entry.integer("group", 0);
      if (group > 0 && static_cast<std::size_t>(group) <= runtime_.info().max_group)
        tune.group = group;
    }
    if (tune.group == 0) tune.group = kDefaultGroup;
  }

  Launch launch() const {
    return Launch::cover({(texels_ + kTexelsPerItem - 1) / kTexelsPerItem, 1, 1}, {group_, 1, 1});
  }

  Runtime runtime_;
  std::size_t texels_;
  std::uint32_t fog_colour_;
  Variant variant_ = Variant::wide;
  std::size_t group_ = 0;
  cl::Program program_;
  cl_int light_count_ = 0;
  cl::Buffer lights_;
};

}  // namespace clcook
