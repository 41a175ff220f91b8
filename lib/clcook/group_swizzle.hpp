// Two operations on RGBA float pictures whose work-groups cover the picture in an order of your
// choice.
//
//   clcook::GroupSwizzle blur{runtime, {width, height, clcook::GroupSwizzle::Work::gather}};
//   cl::Event done = blur(src, dst, {uploaded});
//
// The order changes no result, only what the caches hold when a group reads: see the device header
// clcook/swizzle.clh and the model clcook/model/swizzle.hpp, which serve kernels of your own.
#pragma once

#include <array>
#include <clcook/core/defines.hpp>
#include <clcook/core/error.hpp>
#include <clcook/core/launch.hpp>
#include <clcook/core/names.hpp>
#include <clcook/core/runtime.hpp>
#include <clcook/core/source.hpp>
#include <clcook/core/view.hpp>
#include <clcook/embedded/group_swizzle.hpp>
#include <clcook/model/swizzle.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace clcook {

// A plan: constructed once, called often. All const member functions may be called from several
// threads.
class GroupSwizzle {
 public:
  enum class Work {
    filter,  // dst = matrix * src, pixel by pixel: nothing is read twice
    gather,  // the mean of `taps` pixels at pseudo-random places in a wide window round the pixel
  };

  struct Problem {
    int width = 0;   // pixels, 1 to kMaxSize
    int height = 0;  // pixels, 1 to kMaxSize
    Work work = Work::gather;
    // filter: 4 rows of 4, finite. Sepia, alpha kept.
    std::array<float, 16> matrix = {0.393f, 0.769f, 0.189f, 0, 0.349f, 0.686f, 0.168f, 0,
                                    0.272f, 0.534f, 0.131f, 0, 0,      0,      0,      1};
    int taps = 16;     // gather: samples per pixel, 1 to kMaxTaps
    int radius = 256;  // gather: how far away in x and y a sample may lie, 0 to kMaxRadius pixels
  };

  enum class Variant {
    automatic,     // what was measured to be fastest; without that column_tiles for the gather on
                   // GPUs, else row_major
    row_major,     // row by row: what a device does by itself
    column_tiles,  // vertical strips, row by row inside a strip
    morton,        // Z order
    hilbert,       // a Hilbert curve
    xcd,           // a contiguous run of the strips' order for each chiplet
  };

  // How to run, for tuning. 0 takes the measured or built-in choice.
  struct Tune {
    int group = 0;     // side of the square work-group: 8 or 16
    int strip = 0;     // column_tiles, xcd: width of a strip in work-groups, 1 to kMaxStrip
    int chiplets = 0;  // xcd: 1 to kMaxChiplets
  };

  static constexpr int kMaxSize = 1 << 30;
  static constexpr int kMaxTaps = 4096;
  static constexpr int kMaxRadius = 32767;
  static constexpr int kMaxStrip = 65536;
  static constexpr int kMaxChiplets = 1024;
  static constexpr int kDefaultGroup = 16;
  static constexpr int kDefaultStrip = 16;
  static constexpr int kDefaultChiplets = 8;

  // Throws Error: invalid_argument for a value out of range or a grid of more than 2^32 - 1
  // work-groups, unsupported where the device cannot run a group of this size, build_failed.
  GroupSwizzle(const Runtime& runtime, const Problem& problem, Variant variant, Tune tune)
      : runtime_(runtime), problem_(problem), variant_(variant), tune_(tune) {
    check_problem(problem);
    to_string(variant);  // refuses a value that is no variant
    check_tune(tune);
    choose();
    grid_ = grid(problem, tune_.group);
    program_ = runtime.build(
        Source(embedded::group_swizzle), defines(variant_, problem.work),
        std::string("group_swizzle/") + to_string(variant_) + " " + to_string(problem.work));
    Kernel(runtime_, program_, kernel_name(variant_)).check_launch(launch());
  }
  explicit GroupSwizzle(const Runtime& runtime, const Problem& problem,
                        Variant variant = Variant::automatic)
      : GroupSwizzle(runtime, problem, variant, Tune{}) {}

  // Enqueues the work from `src` to `dst` behind the events of `wait` and returns the event. Pixels
  // are 4 floats; offsets and pitches of the views are multiples of 16 bytes. The views must not
  // overlap. Throws Error(invalid_argument), with nothing enqueued, when a view breaks a rule.
  cl::Event operator()(const BufferView& src, const BufferView& dst,
                       const std::vector<cl::Event>& wait = {}) const {
    const RowLayout layout{static_cast<std::size_t>(problem_.width) * kPixelBytes,
                           static_cast<std::size_t>(problem_.height), kPixelBytes};
    const CheckedView from = check_view(runtime_, src, layout, Access::read, kName, "src");
    const CheckedView to = check_view(runtime_, dst, layout, Access::write, kName, "dst");
    check_disjoint(from, to, kName, "src", "dst");
    cl_float4 columns[4];
    for (std::size_t i = 0; i < 16; ++i) columns[i % 4].s[i / 4] = problem_.matrix[i];
    const auto pixels = [](std::size_t bytes) {
      return static_cast<cl_ulong>(bytes / kPixelBytes);
    };
    Kernel kernel(runtime_, program_, kernel_name(variant_));
    return kernel(launch(), wait, from.buffer, pixels(from.offset), pixels(from.pitch), to.buffer,
                  pixels(to.offset), pixels(to.pitch), static_cast<cl_int>(problem_.width),
                  static_cast<cl_int>(problem_.height), static_cast<cl_uint>(grid_.x),
                  static_cast<cl_uint>(grid_.y), static_cast<cl_uint>(tune_.strip),
                  static_cast<cl_uint>(tune_.chiplets), columns[0], columns[1], columns[2],
                  columns[3], static_cast<cl_int>(problem_.taps),
                  static_cast<cl_int>(problem_.radius));
  }

  const Problem& problem() const { return problem_; }
  // The variant that runs; never automatic.
  Variant variant() const { return variant_; }
  // What runs: no field is 0.
  Tune tune() const { return tune_; }
  // The grid of work-groups that covers the picture.
  model::GroupGrid grid() const { return grid_; }

  // The grid of square work-groups of that side. Throws Error(invalid_argument) when the ids of the
  // groups would need more than 32 bits.
  static model::GroupGrid grid(const Problem& problem, int group) {
    const auto groups = [group](int pixels) {
      return static_cast<std::uint32_t>(pixels / group + (pixels % group != 0 ? 1 : 0));
    };
    const model::GroupGrid out{groups(problem.width), groups(problem.height)};
    const std::uint64_t count = std::uint64_t{out.x} * out.y;
    if (count > std::numeric_limits<std::uint32_t>::max()) {
      fail(Errc::invalid_argument, kName,
           text(problem.width, " x ", problem.height, " pixels in work-groups of ", group, " x ",
                group, " are ", count, " work-groups; at most 4294967295 have an id"));
    }
    return out;
  }

  // The model's name of the order in which a variant covers the grid.
  static model::SwizzleOrder order(Variant variant, int strip, int chiplets) {
    model::SwizzleOrder out;
    out.width = static_cast<std::uint32_t>(strip);
    if (variant == Variant::column_tiles || variant == Variant::xcd)
      out.kind = model::SwizzleKind::columns;
    if (variant == Variant::morton) out.kind = model::SwizzleKind::morton;
    if (variant == Variant::hilbert) out.kind = model::SwizzleKind::hilbert;
    if (variant == Variant::xcd) out.chiplets = static_cast<std::uint32_t>(chiplets);
    return out;
  }

  // Bytes that a problem of this size reads and writes at least; tunings are filed under it.
  static double bytes(double width, double height) { return 2 * kPixelBytes * width * height; }

  // The definitions that select a program. For tools; plans call it themselves.
  static Defines defines(Variant variant, Work work) {
    std::string name = to_string(variant);
    for (char& c : name) {
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    Defines out;
    out.flag("CLCOOK_GROUP_SWIZZLE_ONLY").flag("CLCOOK_GROUP_SWIZZLE_" + name);
    if (work == Work::gather) out.flag("CLCOOK_GROUP_SWIZZLE_GATHER");
    return out;
  }

  static std::string kernel_name(Variant variant) {
    return std::string("group_swizzle_") + to_string(variant);
  }

  // Every variant that runs, in the order of the recipe.
  static constexpr Variant kVariants[] = {Variant::row_major, Variant::column_tiles,
                                          Variant::morton, Variant::hilbert, Variant::xcd};

  static const char* to_string(Variant variant) {
    switch (variant) {
      case Variant::automatic:
        return "automatic";
      case Variant::row_major:
        return "row_major";
      case Variant::column_tiles:
        return "column_tiles";
      case Variant::morton:
        return "morton";
      case Variant::hilbert:
        return "hilbert";
      case Variant::xcd:
        return "xcd";
    }
    fail(Errc::invalid_argument, kName,
         text("there is no variant of the value ", static_cast<int>(variant)));
  }

  // The name that tunings of this use are filed under.
  static std::string tuning_name(Work work) {
    return std::string("group_swizzle/") + to_string(work);
  }

  static const char* to_string(Work work) {
    switch (work) {
      case Work::filter:
        return "filter";
      case Work::gather:
        return "gather";
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
    constexpr Work kWorks[] = {Work::filter, Work::gather};
    return parse_name<Work>(kName, "work", name, kWorks, [](Work work) { return to_string(work); });
  }

 private:
  static constexpr const char* kName = "GroupSwizzle";
  static constexpr std::size_t kPixelBytes = 16;

  static void check_range(const char* name, int value, int least, int most) {
    if (value >= least && value <= most) return;
    fail(Errc::invalid_argument, kName,
         text(name, " must be ", least, " to ", most, ", got ", value));
  }

  static void check_problem(const Problem& p) {
    check_range("width", p.width, 1, kMaxSize);
    check_range("height", p.height, 1, kMaxSize);
    to_string(p.work);  // refuses a value that is no work
    if (p.work == Work::gather) {
      check_range("taps", p.taps, 1, kMaxTaps);
      check_range("radius", p.radius, 0, kMaxRadius);
      return;
    }
    for (std::size_t i = 0; i < p.matrix.size(); ++i) {
      if (!std::isfinite(p.matrix[i])) {
        fail(Errc::invalid_argument, kName,
             text("the matrix must be finite, got ", p.matrix[i], " in row ", i / 4, ", column ",
                  i % 4));
      }
    }
  }

  // 0 stands for the default.
  static void check_tune(const Tune& tune) {
    if (tune.group != 0 && tune.group != 8 && tune.group != 16) {
      fail(Errc::invalid_argument, kName,
           text("group, the side of a work-group, must be 8 or 16, got ", tune.group));
    }
    if (tune.strip != 0) check_range("strip", tune.strip, 1, kMaxStrip);
    if (tune.chiplets != 0) check_range("chiplets", tune.chiplets, 1, kMaxChiplets);
  }

  // Fills in what was left to be chosen.
  void choose() {
    const bool automatic = variant_ == Variant::automatic;
    const TuningChoice choice = runtime_.tuning().choose(
        runtime_.info(), tuning_name(problem_.work), bytes(problem_.width, problem_.height),
        automatic ? "" : to_string(variant_));
    const bool measured = choice.match != TuningChoice::Match::none;
    if (automatic) {
      variant_ = problem_.work == Work::gather && !runtime_.info().cpu ? Variant::column_tiles
                                                                       : Variant::row_major;
      if (measured) variant_ = parse_variant(choice.entry.variant);
    }
    const auto fill = [&](int& value, const char* name, int otherwise, int most) {
      if (value != 0) return;
      const int one = measured ? choice.entry.integer(name, 0) : 0;
      value = one >= 1 && one <= most ? one : otherwise;
    };
    fill(tune_.group, "group", kDefaultGroup, 16);
    if (tune_.group != 8) tune_.group = kDefaultGroup;
    fill(tune_.strip, "strip", kDefaultStrip, kMaxStrip);
    fill(tune_.chiplets, "chiplets", kDefaultChiplets, kMaxChiplets);
  }

  Launch launch() const {
    const auto side = static_cast<std::size_t>(tune_.group);
    return Launch::groups({grid_.count(), 1, 1}, {side, side, 1});
  }

  Runtime runtime_;
  Problem problem_;
  Variant variant_;
  Tune tune_;
  model::GroupGrid grid_;
  cl::Program program_;
};

}  // namespace clcook
