// Deferred shading: computes the colours of a packed G-buffer under up to 32 directional lights,
// exactly, in integers. The variants float2 and half2, which automatic never takes, compute the same
// formula in fractions, which they round down only at the end.
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
#include <clcook/core/half.hpp>
#include <clcook/core/plan.hpp>
#include <clcook/core/quirks.hpp>
#include <clcook/core/view.hpp>
#include <clcook/embedded/gbuffer_shade.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace clcook {
namespace gbuffer_shade {

constexpr std::size_t kMaxTexels = std::size_t{1} << 40;
constexpr std::size_t kMaxLights = 32;
constexpr int kMaxDirection = 255;

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
  std::vector<Light> lights{};   // at most kMaxLights
  std::uint32_t fog_colour = 0;  // bytes r, g, b, lowest first
};

// How to run, for tuning; 0 is open.
struct Tune {
  int group = 0;   // work-items per work-group; cpu_lanes: 1
  int texels = 0;  // per work-item, 2, 4, 8 or 16; cpu_lanes: a strip of 4096
};

// What a variant computes in.
enum class Numbers {
  integers,
  floats,
  halves  // of 16 bits
};

struct Spec : PlainSpec {
  struct Traits {
    Numbers numbers = Numbers::integers;
  };
  struct Resources {
    cl::Buffer lights;
  };
  using Problem = gbuffer_shade::Problem;
  using Tune = gbuffer_shade::Tune;
  using Row = VariantRow<Spec>;
  static constexpr const char* kName = "GbufferShade";
  static constexpr const char* kRecipe = "gbuffer_shade";
  static constexpr int kCpuStrip = 4096;  // texels per work-item of cpu_lanes

  static const std::vector<Row>& variants() {
    static const std::vector<Row> all{
        Row("wide", "everything unpacked to ints before the loop; conditions are ints 0 and 1")
            .baseline()
            .tunes(),
        Row("flag_once", "against wide: the int condition is multiplied once, into what all share")
            .against("wide", "the condition is multiplied once, into what all share"),
        Row("predicates", "against flag_once: conditions are comparisons that choose")
            .against("flag_once", "conditions choose instead of being multiplied by"),
        Row("sign_bit", "against predicates: the flag stays in the sign bit of the depth")
            .against("predicates", "the flag stays in the sign bit"),
        Row("sign_call", "against sign_bit: the flag is read by sign() instead of its bit")
            .against("sign_bit", "the flag is read by sign() instead of its bit"),
        Row("packed", "against sign_bit: all fields stay packed until they are used")
            .against("sign_bit", "fields stay packed until they are used"),
        Row("bit_fields",
            "against packed: two sums in one register, cut out and put back for each light")
            .against("packed", "two sums in one register, cut out and put back per light"),
        Row("added_fields", "against bit_fields: both sums grow by one addition, where they are")
            .against("bit_fields", "both sums grow by one addition, where they are"),
        Row("parked", "against packed: what is used after the loop waits in local memory")
            .against("packed", "what is used after the loop waits in local memory"),
        Row("reloaded", "against packed: what is used after the loop is loaded after the loop")
            .against("packed", "what is used after the loop is loaded after it")
            .preferred(),
        Row("short2", "against packed: 16-bit arithmetic, two texels in each register")
            .against("packed", "16-bit arithmetic, two texels in a register")
            .tunes({{"group", {128, 1024}}}),
        Row("float2", "against reloaded: floats, rounded down only at the end (an approximation)",
            {Numbers::floats})
            .against("reloaded", "floats, rounded down only at the end")
            .approximate(),
        Row("half2",
            "against float2: 16-bit floats, two texels in each register (an approximation)",
            {Numbers::halves})
            .against("float2", "16-bit floats, two texels in a register")
            .approximate()
            .need("arithmetic of 16-bit floats"),
        Row("cpu_lanes", "for CPUs: short2 on vectors of 32 texels, a strip of them per work-item")
            .against("short2", "vectors of 32 texels, a strip per work-item")
            .for_cpus_only(),
    };
    return all;
  }

  // From few registers to more than there are, and a large group, which caps them.
  static const std::vector<Axis<Tune>>& axes() {
    static const std::vector<Axis<Tune>> all{
        axis("group", &Tune::group, {128, 1024}).on_cpus(1).defined(),
        axis("texels", &Tune::texels, {8, 2, 4, 16})
            .only({2, 4, 8, 16})
            .on_cpus(kCpuStrip)
            .defined()};
    return all;
  }

  // Under few lights memory is the limit, under many instructions: tunings are filed by both.
  static std::vector<std::string> tuning_names(const Problem& p) {
    return {text(kRecipe, "/", p.lights.size() <= 8 ? 8 : 32)};
  }

  static void check(const Problem& p) {
    check_range(kName, "texels", p.texels, 1, kMaxTexels);
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

  static double bytes(const Problem& p) { return 20.0 * static_cast<double>(p.texels); }

  static Offer offer(const Runtime& runtime, const Setup<Spec>& s) {
    if (s.row.is_for_cpus && !quirks::has_long_vectors(runtime.info()))
      return Offer::no(Lacks::implementation, "vectors of 32 elements were not tried there");
    if (s.row.traits.numbers == Numbers::halves) {
      const std::string lacks = lacks_halves(runtime.info());
      if (!lacks.empty()) return Offer::no(Lacks::feature, lacks);
    }
    return {};
  }

  // What a device lacks for arithmetic of halves; empty for nothing. NVIDIA's does not list the
  // extension and has the instructions.
  static std::string lacks_halves(const DeviceInfo& info) {
    if (quirks::emulates_nvidia()) return {};
    if (!quirks::is_nvidia(info)) {
      return info.has_extension("cl_khr_fp16") ? "" : "the device has no cl_khr_fp16";
    }
    if (info.nvidia_capability >= 80) return {};
    return text("fma.rn.relu.f16x2 needs the compute capability 8.0, the device has ",
                info.nvidia_capability / 10, ".", info.nvidia_capability % 10);
  }

  static std::vector<CompileUnit> units(const Setup<Spec>& s) {
    return {variant_unit(s, embedded::gbuffer_shade)};
  }

  static Resources allocate(const Runtime& runtime, const Setup<Spec>& s,
                            const std::vector<cl::Program>&) {
    std::vector<cl_uint> table;
    for (const Light& light : s.problem.lights) {
      if (s.row.traits.numbers == Numbers::integers) {
        for (const int value : {light.x, light.y, light.z})
          table.push_back(static_cast<cl_uint>(value));
        table.push_back(light.colour & 0xFFFFFFu);
        continue;
      }
      const auto channel = [&](unsigned c) {
        return static_cast<int>(light.colour >> (8 * c) & 0xFFu);
      };
      for (const int value : {light.x, light.y, light.z, 0, channel(0), channel(1), channel(2), 0})
        table.push_back(fraction(s.row.traits.numbers, value));
    }
    table.resize(std::max<std::size_t>(table.size(), 4));  // a buffer holds one light at least
    return {create_buffer(runtime, table.size() * sizeof(cl_uint), CL_MEM_READ_ONLY, table.data())};
  }

 private:
  // The word of value / 128, which is exact: a float, or twice a half.
  static cl_uint fraction(Numbers numbers, int value) {
    if (numbers == Numbers::halves) return to_half(value / 128.0) * 0x10001u;
    const float part = static_cast<float>(value) / 128;
    cl_uint word = 0;
    std::memcpy(&word, &part, sizeof word);
    return word;
  }
};

}  // namespace gbuffer_shade

// A plan: constructed once, called often. Thread-safe as Plan says. The program depends on the
// variant and the group only.
class GbufferShade : public Plan<gbuffer_shade::Spec> {
 public:
  using Plan::Plan;
  using Light = gbuffer_shade::Light;

  // Enqueues the shading behind the events of `wait` and returns its event. Each view is one row:
  // 16 bytes per texel at an offset that is a multiple of 16, 4 bytes per colour at an offset that
  // is a multiple of 4. The views must not overlap. Throws Error(invalid_argument), with nothing
  // enqueued, when a view breaks a rule.
  cl::Event operator()(const BufferView& gbuffer, const BufferView& colours,
                       const std::vector<cl::Event>& wait = {}) const {
    constexpr const char* kName = Spec::kName;
    const std::size_t texels = problem().texels;
    const CheckedView from =
        check_view(runtime(), gbuffer, {texels * 16, 1, 16}, Access::read, kName, "gbuffer");
    const CheckedView to =
        check_view(runtime(), colours, {texels * 4, 1, 4}, Access::write, kName, "colours");
    check_disjoint(from, to, kName, "gbuffer", "colours");
    const auto per_item = static_cast<std::size_t>(tune().texels);
    const Launch launch = Launch::cover({(texels + per_item - 1) / per_item, 1, 1},
                                        {static_cast<std::size_t>(tune().group), 1, 1});
    return kernel()(launch, wait, from.buffer, static_cast<cl_ulong>(from.offset / 16),
                    resources().lights, static_cast<cl_int>(problem().lights.size()),
                    static_cast<cl_uint>(problem().fog_colour), to.buffer,
                    static_cast<cl_ulong>(to.offset / 4), static_cast<cl_ulong>(texels));
  }
};

CLCOOK_PLAN(gbuffer_shade::Spec);

}  // namespace clcook
