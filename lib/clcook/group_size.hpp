// Four kernels that run best with different work-groups; you choose the number of work-items per
// group. They are brightness and contrast (streaming), prefix sums by segments (barriers), the
// picture of a distance field (divergent_loop), and random numbers, some of which take long
// (slow_wave).
//
//   clcook::GroupSize::Problem problem;
//   problem.work = clcook::GroupSize::Work::divergent_loop;
//   problem.width = 480;
//   problem.height = 270;
//   problem.spheres = 5;
//   clcook::GroupSize trace{runtime, problem};
//   const cl::Buffer spheres = clcook::create_buffer(runtime, 5 * sizeof(cl_float4));
//   const cl::Buffer hits =
//       clcook::create_buffer(runtime, 480 * 270 * sizeof(clcook::GroupSize::Hit));
//   cl::Event done = trace(spheres, hits, {uploaded});
#pragma once

#include <clcook/core/math.hpp>
#include <clcook/core/names.hpp>
#include <clcook/core/plan.hpp>
#include <clcook/core/quirks.hpp>
#include <clcook/core/view.hpp>
#include <clcook/embedded/group_size.hpp>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clcook {
namespace group_size {

enum class Work {
  streaming,       // y = factor * x + summand, for `count` floats
  barriers,        // inclusive prefix sums of `count` 32-bit unsigned integers, modulo 2^32, which
                   // begin anew every kSegment values
  divergent_loop,  // sphere tracing of the plane y = 0 and `spheres` spheres
  slow_wave,       // `count` 32-bit unsigned integers, each hashed max_steps times where it is slow
                   // and a sixteenth of that elsewhere; 64 in each 1024 are slow
};

constexpr std::size_t kSegment = 1024;
constexpr int kQuads = kSegment / 4;
constexpr int kWave = 32;
constexpr int kMaxSide = 1 << 15;
constexpr int kMaxSpheres = 64;
constexpr int kMaxSteps = 1 << 16;

// Only the members that the work names matter.
struct Problem {
  Work work = Work::streaming;
  std::size_t count = 0;  // streaming, barriers, slow_wave: at least 1
  float factor = 1;       // streaming; finite
  float summand = 0;      // streaming; finite
  // divergent_loop. The camera is parallel: it lies 12 units before the point (0, 1, 0), looks
  // along (0, -0.28, 0.96), and 8 units fit into the height of the picture.
  int width = 0;          // pixels, 1 to kMaxSide
  int height = 0;         // pixels, 1 to kMaxSide
  int spheres = 0;        // 0 to kMaxSpheres
  int max_steps = 256;    // 1 to kMaxSteps; slow_wave uses it too
  bool together = false;  // slow_wave: the slow are the first sixteenth, not 64 in each 1024
};

// How to run, for tuning; 0 is open.
struct Tune {
  int group = 0;          // work-items per work-group; single_wave: kWave
  int local_padding = 0;  // bytes of local memory that a group takes and does not use, so that
                          // fewer groups are resident at a time
};

inline constexpr Named<Work> kWorks[] = {{Work::streaming, "streaming"},
                                         {Work::barriers, "barriers"},
                                         {Work::divergent_loop, "divergent_loop"},
                                         {Work::slow_wave, "slow_wave"}};

// These throw Error(invalid_argument) for an unknown value.
inline const char* to_string(Work work) { return name_of(kWorks, work, "GroupSize", "work"); }
inline Work parse_work(std::string_view name) {
  return value_of(kWorks, name, "GroupSize", "work");
}

struct Spec : PlainSpec {
  using Problem = group_size::Problem;
  using Tune = group_size::Tune;
  struct Traits {
    std::optional<Work> only = {};  // the one work that it has a kernel for; else all
    std::size_t turns = 1;          // elements per work-item, segments per group
    int group = 0;                  // the only work-group that it has; 0: any
    std::size_t table_bytes = 0;    // of local memory for what all work-items read
    std::size_t scan_bytes = 2 * kSegment * sizeof(cl_uint);  // of local memory for a segment
    bool is_static = false;  // its padding is an array of the kernel, not an argument
    bool in_quads = false;   // an item holds quads of a segment: its size divides their number
  };
  using Row = VariantRow<Spec>;
  static constexpr const char* kName = "GroupSize";
  static constexpr const char* kRecipe = "group_size";

  // The sweep has more sizes of groups: every one is a program of its own.
  static const std::vector<Row>& variants() {
    static const std::vector<Row> all{
        Row("direct", "one element per item, one segment per group")
            .baseline()
            .tunes({{"group", {256, 64, 1024}}}),
        Row("grid_stride", "an eighth of the groups, each loops over elements")
            .set(&Traits::turns, 8)
            .against("direct", "an eighth of the groups, each loops over elements")
            .tunes({{"group", {256, 64}}}),
        Row("single_wave",
            "groups of one wave, with the barrier of a wave where the device has one",
            {Work::barriers})
            .set(&Traits::group, kWave)
            .against("direct", "groups of one wave, with the barrier of a wave"),
        Row("local_table", "the table that all items read in local memory", {Work::divergent_loop})
            .set(&Traits::table_bytes, kMaxSpheres * sizeof(cl_float4))
            .against("direct", "the table in local memory")
            .tunes({{"group", {64, 256}}}),
        Row("static_local",
            "against direct: the unused local memory is an array of the kernel, which may be "
            "larger",
            {Work::barriers})
            .with(&Traits::is_static)
            .against("direct", "the unused local memory is an array of the kernel")
            .by_name()
            .tunes({{"group", {1024}}}),
        Row("registers",
            "quads of values summed up in registers, their sums by 16 and 16: two barriers in all",
            {Work::barriers})
            .with(&Traits::in_quads)
            .set(&Traits::scan_bytes, (kQuads + 16) * sizeof(cl_uint))
            .against("direct", "quads of values in registers, two barriers instead of eleven")
            .tunes({{"group", {256, 128, 64}}})
            .preferred(),
        Row("cpu_runs", "for CPUs: an item does the work of 1024, without barriers, in vectors")
            .set(&Traits::group, 1)
            .set(&Traits::scan_bytes, 0)
            .against("direct", "an item does the work of 1024, in vectors")
            .for_cpus_only(),
    };
    return all;
  }

  static const std::vector<Axis<Tune>>& axes() {
    static const std::vector<Axis<Tune>> all{axis("group", &Tune::group),
                                             axis("local_padding", &Tune::local_padding)};
    return all;
  }

  static void check(const Problem& p) {
    to_string(p.work);  // refuses a value that is no work
    if (p.work == Work::divergent_loop) {
      check_range(kName, "width", p.width, 1, kMaxSide);
      check_range(kName, "height", p.height, 1, kMaxSide);
      check_range(kName, "spheres", p.spheres, 0, kMaxSpheres);
      check_range(kName, "max_steps", p.max_steps, 1, kMaxSteps);
      return;
    }
    if (p.work == Work::slow_wave) check_range(kName, "max_steps", p.max_steps, 1, kMaxSteps);
    // So that whole segments do not overflow either.
    constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max() / 8;
    check_range(kName, "count", p.count, 1, kMost);
    if (p.work == Work::streaming && !(math::isfinite(p.factor) && math::isfinite(p.summand))) {
      fail(Errc::invalid_argument, kName,
           text("factor and summand must be finite, got ", p.factor, " and ", p.summand));
    }
  }

  static Tune defaults(const Row& row, const Problem& p, const DeviceInfo&) {
    if (row.traits.group != 0) return {row.traits.group, 0};
    if (row.traits.is_static) return {1024, 0};
    if (row.traits.in_quads) return {64, 0};
    return {p.work == Work::divergent_loop ? 64 : 256, 0};
  }

  static double bytes(const Problem& p) {
    if (p.work != Work::divergent_loop) return 8 * static_cast<double>(p.count);
    return 8.0 * p.width * p.height + 16.0 * p.spheres;
  }

  static std::vector<std::string> tuning_names(const Problem& p) {
    return {std::string(kRecipe) + "/" + to_string(p.work)};
  }

  static bool does(const Row& row, Work work) { return row.traits.only.value_or(work) == work; }

  // Bytes of local memory that a group takes without padding.
  static std::size_t local_bytes(const Row& row, Work work) {
    return work == Work::barriers ? row.traits.scan_bytes : row.traits.table_bytes;
  }

  static Offer offer(const Runtime& runtime, const Setup<Spec>& s) {
    const Work work = s.problem.work;
    const int only = s.row.traits.group;
    if (!does(s.row, work))
      return Offer::no(Lacks::problem, text("it has no kernel for the work ", to_string(work)));
    if (only != 0 && s.tune.group != only) {
      return Offer::no(Lacks::problem,
                       text("it has groups of ", only, " work-items, got ", s.tune.group));
    }
    if (s.row.traits.in_quads && (s.tune.group < 32 || kQuads % s.tune.group != 0)) {
      return Offer::no(Lacks::problem,
                       text("it has groups of 32, 64, 128 or 256 work-items, got ", s.tune.group));
    }
    const std::size_t own = local_bytes(s.row, work);
    const std::size_t most =
        s.row.traits.is_static ? static_limit(runtime) : runtime.info().local_mem;
    if (own > most || padding(s.tune) > most - own) {
      return Offer::no(Lacks::local_memory,
                       text(own, " + ", padding(s.tune),
                            " bytes of local memory exceed the device's limit of ", most));
    }
    return {};
  }

  // Bytes that the arrays of a kernel may have: on an NVIDIA GPU of compute capability 9.0 227 KiB,
  // whatever it reports.
  static std::size_t static_limit(const Runtime& runtime) {
    const bool more = runtime.info().nvidia_capability == 90;
    return more ? 227 << 10 : static_cast<std::size_t>(runtime.info().local_mem);
  }

  // An argument or array of local memory has at least one value.
  static std::size_t padding(const Tune& tune) {
    const auto bytes = static_cast<std::size_t>(tune.local_padding);
    return bytes < sizeof(cl_uint) ? sizeof(cl_uint) : bytes;
  }

  // Whether the variant's barriers are those of a wave.
  static bool wave_barriers(const Row& row, const DeviceInfo& device) {
    return row.traits.group == kWave && quirks::is_nvidia(device);
  }

  static std::vector<CompileUnit> units(const Setup<Spec>& s) {
    const std::string work = to_string(s.problem.work);
    CompileUnit unit = kernel_unit(s, s.row.name + "_" + work, embedded::group_size);
    unit.label = work;
    if (s.row.traits.is_static) {
      unit.defines.set("CLCOOK_GROUP_SIZE_HELD",
                       static_cast<int>(padding(s.tune) / sizeof(cl_uint)));
    } else {
      unit.local_bytes = padding(s.tune);
    }
    unit.defines.set("CLCOOK_GROUP_SIZE_GROUP", s.tune.group);
    if (s.problem.work == Work::barriers)
      unit.defines.set("CLCOOK_GROUP_SIZE_SEGMENT", static_cast<int>(kSegment));
    if (s.row.traits.table_bytes > 0)
      unit.defines.set("CLCOOK_GROUP_SIZE_MAX_SPHERES", kMaxSpheres);
    if (wave_barriers(s.row, s.device)) unit.defines.flag("CLCOOK_GROUP_SIZE_WARP_SYNC");
    return {unit};
  }
};

}  // namespace group_size

// A plan: constructed once, called often. Thread-safe as Plan says. The program depends on the
// variant, the work and the group size only.
class GroupSize : public Plan<group_size::Spec> {
 public:
  using Plan::Plan;
  using Work = group_size::Work;

  // What divergent_loop writes for a pixel.
  struct Hit {
    cl_float distance;  // along the ray from the camera's plane, to within 1/1024 of a surface
    cl_int steps;       // max_steps where the ray did not get there
  };

  // Enqueues the work behind the events of `wait` and returns the event. streaming: float to float;
  // barriers, slow_wave: cl_uint to cl_uint; divergent_loop: from a cl_float4 (centre, radius) per
  // sphere to a Hit per pixel, rows from top to bottom. Offsets are multiples of an element's
  // bytes. The views must not overlap. With no spheres, `src` is not read but must hold one. Throws
  // Error(invalid_argument), with nothing enqueued, when a view breaks a rule.
  cl::Event operator()(const BufferView& src, const BufferView& dst,
                       const std::vector<cl::Event>& wait = {}) const {
    const Problem& p = problem();
    const bool traces = p.work == Work::divergent_loop;
    const std::size_t in = traces ? sizeof(cl_float4) : sizeof(cl_uint);
    const std::size_t out = traces ? sizeof(Hit) : sizeof(cl_uint);
    const std::size_t read =
        traces ? static_cast<std::size_t>(p.spheres > 0 ? p.spheres : 1) : p.count;
    const auto [from, to] = check_pair(runtime(), Spec::kName, {src, {read * in, 1, in}, "src"},
                                       {dst, {elements() * out, 1, out}, "dst"});
    const auto first = static_cast<cl_ulong>(from.offset / in);
    const auto target = static_cast<cl_ulong>(to.offset / out);
    const auto count = static_cast<cl_ulong>(elements());
    const LocalBytes padding{Spec::padding(tune())};
    Kernel run = kernel();
    switch (p.work) {
      case Work::streaming:
        return run(launch(), wait, from.buffer, first, to.buffer, target, count, p.factor,
                   p.summand, padding);
      case Work::barriers:
        if (row().traits.is_static)
          return run(launch(), wait, from.buffer, first, to.buffer, target, count);
        return run(launch(), wait, from.buffer, first, to.buffer, target, count, padding);
      case Work::slow_wave:
        return run(launch(), wait, from.buffer, first, to.buffer, target, count,
                   static_cast<cl_uint>(p.max_steps), static_cast<cl_uint>(p.together ? 1 : 0),
                   padding);
      case Work::divergent_loop:
        break;
    }
    const float scale = 8.0f / static_cast<float>(p.height);
    const float left = -0.5f * scale * static_cast<float>(p.width - 1);
    const float top = 0.5f * scale * static_cast<float>(p.height - 1);
    return run(launch(), wait, from.buffer, first, static_cast<cl_int>(p.spheres), to.buffer,
               target, static_cast<cl_uint>(count), static_cast<cl_uint>(p.width), scale, left, top,
               static_cast<cl_int>(p.max_steps), padding);
  }

  // Whether the barriers of single_wave are those of a wave.
  bool wave_barriers() const { return Spec::wave_barriers(row(), runtime().info()); }

 private:
  std::size_t elements() const {
    const Problem& p = problem();
    if (p.work != Work::divergent_loop) return p.count;
    return static_cast<std::size_t>(p.width) * static_cast<std::size_t>(p.height);
  }

  Launch launch() const {
    const auto parts = [](std::size_t all, std::size_t size) {
      return all / size + (all % size != 0 ? 1 : 0);
    };
    const auto group = static_cast<std::size_t>(tune().group);
    const bool by_segment = problem().work == Work::barriers || row().is_for_cpus;
    const std::size_t groups = parts(elements(), by_segment ? group_size::kSegment : group);
    return Launch::groups({parts(groups, row().traits.turns), 1, 1}, {group, 1, 1});
  }
};

CLCOOK_PLAN(group_size::Spec);

}  // namespace clcook
