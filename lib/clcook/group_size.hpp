// Three kernels that want different work-groups, with the number of work-items per group to choose:
// brightness and contrast (streaming), prefix sums by segments (barriers), and the picture of a
// distance field (divergent_loop).
//
//   clcook::GroupSize::Problem problem;
//   problem.work = clcook::GroupSize::Work::divergent_loop;
//   problem.width = 1920; problem.height = 1080; problem.spheres = 5;
//   clcook::GroupSize trace{runtime, problem};
//   cl::Event done = trace(spheres, distances_and_steps, {uploaded});
#pragma once

#include <clcook/core/defines.hpp>
#include <clcook/core/error.hpp>
#include <clcook/core/launch.hpp>
#include <clcook/core/names.hpp>
#include <clcook/core/quirks.hpp>
#include <clcook/core/runtime.hpp>
#include <clcook/core/source.hpp>
#include <clcook/core/view.hpp>
#include <clcook/embedded/group_size.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clcook {

// A plan: constructed once, called often. The program depends on the variant, the work and the
// group size only. All const member functions may be called from several threads.
class GroupSize {
 public:
  enum class Work {
    streaming,  // y = factor * x + summand, for `count` floats
    barriers,   // inclusive prefix sums of `count` 32-bit unsigned integers, modulo 2^32, which
                // begin anew every kSegment values
    divergent_loop,  // sphere tracing of the plane y = 0 and `spheres` spheres
  };

  // Only the members that the work names matter.
  struct Problem {
    Work work = Work::streaming;
    std::size_t count = 0;  // streaming, barriers: at least 1
    float factor = 1;       // streaming; finite
    float summand = 0;      // streaming; finite
    // divergent_loop. The camera is parallel: it lies 12 units before the point (0, 1, 0), looks
    // along (0, -0.28, 0.96), and 8 units fit into the height of the picture.
    int width = 0;        // pixels, 1 to kMaxSide
    int height = 0;       // pixels, 1 to kMaxSide
    int spheres = 0;      // 0 to kMaxSpheres
    int max_steps = 256;  // 1 to kMaxSteps
  };

  enum class Variant {
    automatic,    // what was measured to be fastest for the work, else direct
    direct,       // one element for each item, or one segment for each group
    grid_stride,  // an eighth of the groups: each goes on to its next elements or segment
    single_wave,  // barriers only: groups of 32, where possible with the barrier of a single wave
    local_table,  // divergent_loop only: the spheres in local memory
  };

  // How to run, for tuning.
  struct Tune {
    std::optional<std::size_t> group = {};  // work-items per work-group, at least 1; else the
                                            // default. single_wave: only kWave
    std::size_t local_padding = 0;  // bytes of local memory that a group takes and does not use, so
                                    // that fewer groups are resident at a time
  };

  static constexpr std::size_t kSegment = 1024;
  static constexpr std::size_t kWave = 32;
  static constexpr std::size_t kPerItem = 8;  // of grid_stride
  static constexpr int kMaxSide = 1 << 15;
  static constexpr int kMaxSpheres = 64;
  static constexpr int kMaxSteps = 1 << 16;

  // Throws Error: invalid_argument for a value out of range, unsupported where the device cannot
  // run a group of this size or has too little local memory, or the variant has no meaning for the
  // work.
  GroupSize(const Runtime& runtime, const Problem& problem, Variant variant, Tune tune)
      : runtime_(runtime), problem_(problem), variant_(variant) {
    check_problem(problem);
    to_string(variant);  // refuses a value that is no variant
    choose(tune);
    if (!has_kernel(variant_, problem.work)) {
      fail(Errc::unsupported, kName,
           text("the variant ", to_string(variant_), " has no kernel for the work ",
                to_string(problem.work)));
    }
    group_ = tune.group.value_or(default_group(variant_, problem.work));
    if (group_ == 0) {
      fail(Errc::invalid_argument, kName, "group must be at least 1 work-item, got 0");
    }
    if (variant_ == Variant::single_wave && group_ != kWave) {
      fail(Errc::unsupported, kName,
           text("single_wave has groups of ", kWave, " work-items, got ", group_));
    }
    // Before the build: the size is a part of the program.
    if (group_ > runtime.info().max_group) {
      fail(Errc::unsupported, kName,
           text("a work-group of ", group_, " work-items exceeds the device's limit of ",
                runtime.info().max_group, " on ", runtime.info().name));
    }
    // An argument of local memory has at least one value.
    padding_ = tune.local_padding < sizeof(cl_uint) ? sizeof(cl_uint) : tune.local_padding;
    program_ =
        runtime.build(Source(embedded::group_size),
                      defines(variant_, problem.work, group_, quirks::is_nvidia(runtime.info())),
                      std::string("group_size/") + to_string(variant_));
    Kernel(runtime_, program_, kernel_name(variant_, problem.work))
        .check_launch(launch(), padding_);
  }
  explicit GroupSize(const Runtime& runtime, const Problem& problem,
                     Variant variant = Variant::automatic)
      : GroupSize(runtime, problem, variant, Tune{}) {}

  // Enqueues the work behind the events of `wait` and returns the event. streaming: float to float;
  // barriers: cl_uint to cl_uint; divergent_loop: from a cl_float4 (centre, radius) per sphere to a
  // Hit per pixel, rows from top to bottom. Offsets are multiples of an element's bytes. The views
  // must not overlap. With no spheres, `src` is not read but must hold one. Throws
  // Error(invalid_argument), with nothing enqueued, when a view breaks a rule.
  cl::Event operator()(const BufferView& src, const BufferView& dst,
                       const std::vector<cl::Event>& wait = {}) const {
    const bool traces = problem_.work == Work::divergent_loop;
    const std::size_t in = traces ? sizeof(cl_float4) : sizeof(cl_uint);
    const std::size_t out = traces ? sizeof(Hit) : sizeof(cl_uint);
    const std::size_t read =
        traces ? static_cast<std::size_t>(problem_.spheres > 0 ? problem_.spheres : 1)
               : problem_.count;
    const CheckedView from =
        check_view(runtime_, src, {read * in, 1, in}, Access::read, kName, "src");
    const CheckedView to =
        check_view(runtime_, dst, {elements() * out, 1, out}, Access::write, kName, "dst");
    check_disjoint(from, to, kName, "src", "dst");
    const auto first = static_cast<cl_ulong>(from.offset / in);
    const auto target = static_cast<cl_ulong>(to.offset / out);
    const auto count = static_cast<cl_ulong>(elements());
    const LocalBytes padding{padding_};
    Kernel kernel(runtime_, program_, kernel_name(variant_, problem_.work));
    switch (problem_.work) {
      case Work::streaming:
        return kernel(launch(), wait, from.buffer, first, to.buffer, target, count, problem_.factor,
                      problem_.summand, padding);
      case Work::barriers:
        return kernel(launch(), wait, from.buffer, first, to.buffer, target, count, padding);
      case Work::divergent_loop:
        break;
    }
    const float scale = 8.0f / static_cast<float>(problem_.height);
    const float left = -0.5f * scale * static_cast<float>(problem_.width - 1);
    const float top = 0.5f * scale * static_cast<float>(problem_.height - 1);
    return kernel(launch(), wait, from.buffer, first, static_cast<cl_int>(problem_.spheres),
                  to.buffer, target, static_cast<cl_uint>(count),
                  static_cast<cl_uint>(problem_.width), scale, left, top,
                  static_cast<cl_int>(problem_.max_steps), padding);
  }

  // What divergent_loop writes for a pixel.
  struct Hit {
    cl_float distance;  // along the ray from the camera's plane, to within 1/1024 of a surface
    cl_int steps;       // max_steps where the ray did not get there
  };

  const Problem& problem() const { return problem_; }
  // The variant that runs; never automatic.
  Variant variant() const { return variant_; }
  // The work-group size that runs.
  std::size_t group() const { return group_; }
  // Whether the barriers of single_wave are those of a wave.
  bool wave_barriers() const {
    return variant_ == Variant::single_wave && quirks::is_nvidia(runtime_.info());
  }

  // Bytes of local memory that a group takes without padding.
  static std::size_t local_bytes(Variant variant, Work work) {
    if (work == Work::barriers) return 2 * kSegment * sizeof(cl_uint);
    return variant == Variant::local_table ? kMaxSpheres * sizeof(cl_float4) : 0;
  }

  // Bytes that a problem reads and writes, and the name of its work; tunings are filed under them.
  static double bytes(const Problem& p) {
    if (p.work != Work::divergent_loop) return 8 * static_cast<double>(p.count);
    return 8.0 * p.width * p.height + 16.0 * p.spheres;
  }
  static std::string tuning_name(Work work) { return std::string("group_size/") + to_string(work); }

  static std::size_t default_group(Variant variant, Work work) {
    if (variant == Variant::single_wave) return kWave;
    return work == Work::divergent_loop ? 64 : 256;
  }

  // Whether the variant can do that work.
  static bool has_kernel(Variant variant, Work work) {
    if (variant == Variant::single_wave) return work == Work::barriers;
    return variant != Variant::local_table || work == Work::divergent_loop;
  }

  // The definitions that select a variant's program. For tools; plans call it themselves.
  static Defines defines(Variant variant, Work work, std::size_t group, bool nvidia = false) {
    Defines out;
    std::string flag = "CLCOOK_" + kernel_name(variant, work);
    for (char& c : flag) {
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    out.flag("CLCOOK_GROUP_SIZE_ONLY").flag(flag);
    out.set("CLCOOK_GROUP_SIZE_GROUP", static_cast<std::int64_t>(group));
    if (nvidia && variant == Variant::single_wave) out.flag("CLCOOK_GROUP_SIZE_WARP_SYNC");
    return out;
  }

  static std::string kernel_name(Variant variant, Work work) {
    return std::string("group_size_") + to_string(variant) + "_" + to_string(work);
  }

  // Every variant that runs, in the order of the recipe.
  static constexpr Variant kVariants[] = {Variant::direct, Variant::grid_stride,
                                          Variant::single_wave, Variant::local_table};
  static constexpr Work kWorks[] = {Work::streaming, Work::barriers, Work::divergent_loop};

  static const char* to_string(Variant variant) {
    switch (variant) {
      case Variant::automatic:
        return "automatic";
      case Variant::direct:
        return "direct";
      case Variant::grid_stride:
        return "grid_stride";
      case Variant::single_wave:
        return "single_wave";
      case Variant::local_table:
        return "local_table";
    }
    fail(Errc::invalid_argument, kName,
         text("there is no variant of the value ", static_cast<int>(variant)));
  }

  static const char* to_string(Work work) {
    switch (work) {
      case Work::streaming:
        return "streaming";
      case Work::barriers:
        return "barriers";
      case Work::divergent_loop:
        return "divergent_loop";
    }
    fail(Errc::invalid_argument, kName,
         text("there is no work of the value ", static_cast<int>(work)));
  }

  // The variant of that name, automatic included. Throws Error(invalid_argument) that lists the
  // names.
  static Variant parse_variant(std::string_view name) {
    return parse_name<Variant>(kName, "variant", name, kVariants,
                               [](Variant variant) { return to_string(variant); },
                               {Variant::automatic});
  }

  // The work of that name. Throws Error(invalid_argument) that lists the names.
  static Work parse_work(std::string_view name) {
    return parse_name<Work>(kName, "work", name, kWorks, [](Work work) { return to_string(work); });
  }

 private:
  static constexpr const char* kName = "GroupSize";

  static void check_problem(const Problem& p) {
    const auto range = [](const char* name, int value, int low, int high) {
      if (value >= low && value <= high) return;
      fail(Errc::invalid_argument, kName,
           text(name, " must be ", low, " to ", high, ", got ", value));
    };
    to_string(p.work);  // refuses a value that is no work
    if (p.work == Work::divergent_loop) {
      range("width", p.width, 1, kMaxSide);
      range("height", p.height, 1, kMaxSide);
      range("spheres", p.spheres, 0, kMaxSpheres);
      range("max_steps", p.max_steps, 1, kMaxSteps);
      return;
    }
    // So that whole segments do not overflow either.
    constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max() / 8;
    if (p.count == 0 || p.count > kMost) {
      fail(Errc::invalid_argument, kName, text("count must be 1 to ", kMost, ", got ", p.count));
    }
    if (p.work == Work::streaming && !(std::isfinite(p.factor) && std::isfinite(p.summand))) {
      fail(Errc::invalid_argument, kName,
           text("factor and summand must be finite, got ", p.factor, " and ", p.summand));
    }
  }

  // Fills in what was left to be chosen.
  void choose(Tune& tune) {
    const bool automatic = variant_ == Variant::automatic;
    const Work work = problem_.work;
    const TuningChoice choice = runtime_.tuning().choose(
        runtime_.info(), tuning_name(work), bytes(problem_), automatic ? "" : to_string(variant_));
    const bool measured = choice.match != TuningChoice::Match::none;
    if (automatic) variant_ = measured ? parse_variant(choice.entry.variant) : Variant::direct;
    // The caller's group goes before the winner's.
    if (automatic && variant_ == Variant::single_wave && tune.group.value_or(kWave) != kWave) {
      variant_ = Variant::direct;
    }
    if (tune.group || !measured) return;
    const int group = choice.entry.integer("group", 0);
    if (group > 0 && static_cast<std::size_t>(group) <= runtime_.info().max_group) {
      tune.group = static_cast<std::size_t>(group);
    }
  }

  std::size_t elements() const {
    return problem_.work == Work::divergent_loop ? static_cast<std::size_t>(problem_.width) *
                                                       static_cast<std::size_t>(problem_.height)
                                                 : problem_.count;
  }

  Launch launch() const {
    const auto parts = [](std::size_t all, std::size_t size) {
      return all / size + (all % size != 0 ? 1 : 0);
    };
    std::size_t groups = parts(elements(), problem_.work == Work::barriers ? kSegment : group_);
    if (variant_ == Variant::grid_stride) groups = parts(groups, kPerItem);
    return Launch::groups({groups, 1, 1}, {group_, 1, 1});
  }

  Runtime runtime_;
  Problem problem_;
  Variant variant_;
  std::size_t group_ = 0;
  std::size_t padding_ = 0;
  cl::Program program_;
};

}  // namespace clcook
