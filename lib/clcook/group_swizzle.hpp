// Two operations on RGBA float pictures whose work-groups cover the picture in an order of your
// choice.
//
//   clcook::GroupSwizzle blur{runtime, {width, height, clcook::GroupSwizzle::Work::gather}};
//   cl::Event done = blur(src, dst, {uploaded});
//
// The order changes no result, only what the caches hold when a group reads. Use the device header
// clcook/swizzle.clh and the model clcook/model/swizzle.hpp for your own kernels.
#pragma once

#include <array>
#include <clcook/core/math.hpp>
#include <clcook/core/names.hpp>
#include <clcook/core/plan.hpp>
#include <clcook/core/view.hpp>
#include <clcook/embedded/group_swizzle.hpp>
#include <clcook/model/swizzle.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace clcook {
namespace group_swizzle {

enum class Work {
  filter,  // dst = matrix * src, pixel by pixel: nothing is read twice
  gather,  // the mean of `taps` pixels at pseudo-random places in a wide window around the pixel
};

constexpr int kMaxSize = 1 << 30;
constexpr int kMaxTaps = 4096;
constexpr int kMaxRadius = 32767;
constexpr int kMaxStrip = 65536;
constexpr int kMaxChiplets = 1024;

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

// How to run, for tuning; 0 is open.
struct Tune {
  int group = 0;     // side of the square work-group: 8 or 16; cpu_tiles: 1
  int strip = 0;     // column_tiles, xcd: width of a strip in work-groups, 1 to kMaxStrip;
                     // cpu_tiles: in tiles
  int chiplets = 0;  // xcd: 1 to kMaxChiplets
};

inline constexpr Named<Work> kWorks[] = {{Work::filter, "filter"}, {Work::gather, "gather"}};

// These throw Error(invalid_argument) for an unknown value.
inline const char* to_string(Work work) { return name_of(kWorks, work, "GroupSwizzle", "work"); }
inline Work parse_work(std::string_view name) {
  return value_of(kWorks, name, "GroupSwizzle", "work");
}

struct Spec : PlainSpec {
  using Problem = group_swizzle::Problem;
  using Tune = group_swizzle::Tune;
  struct Traits {
    model::SwizzleKind kind = model::SwizzleKind::row_major;
    bool chiplets = false;  // runs for Tune::chiplets
  };
  using Row = VariantRow<Spec>;
  using Kind = model::SwizzleKind;
  static constexpr const char* kName = "GroupSwizzle";
  static constexpr const char* kRecipe = "group_swizzle";
  static constexpr std::size_t kPixelBytes = 16;
  // Pixels of a tile of cpu_tiles. What a gather reads stays compact; a filter reads long rows, which
  // a CPU fetches ahead.
  static constexpr int cpu_tile_width(Work work) { return work == Work::gather ? 256 : 4096; }
  static constexpr int kCpuTileHeight = 16;

  static const std::vector<Row>& variants() {
    const TuneAxis group{"group", {16, 8}};
    static const std::vector<Row> all{
        Row("row_major", "row by row: what a device does by itself").baseline().tunes({group}),
        Row("column_tiles", "vertical strips, row by row inside a strip", {Kind::columns})
            .against("row_major", "groups in strips")
            .tunes({group, {"strip", {16, 2, 4, 8, 32}}}),
        Row("morton", "Z order, for any grid", {Kind::morton})
            .against("row_major", "groups in Z order")
            .tunes({group}),
        Row("hilbert", "a Hilbert curve, for any grid", {Kind::hilbert})
            .against("morton", "groups along a Hilbert curve")
            .tunes({group}),
        Row("xcd", "a contiguous run of the strips' order for each chiplet", {Kind::columns})
            .with(&Traits::chiplets)
            .against("column_tiles", "a run of the strips for each chiplet")
            .tunes({group, {"chiplets", {8, 4}}}),
        Row("cpu_tiles",
            "for CPUs: a tile of pixels per work-item, 256 x 16 of a gather, whose places are "
            "found "
            "in vectors, or 4096 x 16 of a filter",
            {Kind::columns})
            .against("column_tiles", "a tile of pixels per work-item, in vectors")
            .for_cpus_only(),
    };
    return all;
  }

  static const std::vector<Axis<Tune>>& axes() {
    static const std::vector<Axis<Tune>> all{
        axis("group", &Tune::group, {16, 8}).only({8, 16}).on_cpus(1),
        axis("strip", &Tune::strip, {16, 2, 4, 8, 32}), axis("chiplets", &Tune::chiplets, {8, 4})};
    return all;
  }

  static void check(const Problem& p) {
    check_range(kName, "width", p.width, 1, kMaxSize);
    check_range(kName, "height", p.height, 1, kMaxSize);
    to_string(p.work);  // refuses a value that is no work
    if (p.work == Work::gather) {
      check_range(kName, "taps", p.taps, 1, kMaxTaps);
      check_range(kName, "radius", p.radius, 0, kMaxRadius);
      return;
    }
    for (std::size_t i = 0; i < p.matrix.size(); ++i) {
      if (!math::isfinite(p.matrix[i])) {
        fail(Errc::invalid_argument, kName,
             text("the matrix must be finite, got ", p.matrix[i], " in row ", i / 4, ", column ",
                  i % 4));
      }
    }
  }

  static Tune defaults(const Row& row, const Problem&, const DeviceInfo&) {
    return {0, row.is_for_cpus ? 4 : 0, 0};
  }

  static void check_tune(const Setup<Spec>& s) {
    check_range(kName, "strip", s.tune.strip, 1, kMaxStrip);
    check_range(kName, "chiplets", s.tune.chiplets, 1, kMaxChiplets);
    grid(s);
  }

  static double bytes(const Problem& p) {
    return 2.0 * kPixelBytes * static_cast<double>(p.width) * static_cast<double>(p.height);
  }

  static std::vector<std::string> tuning_names(const Problem& p) {
    return {std::string(kRecipe) + "/" + to_string(p.work)};
  }

  // Where a GPU starts groups row by row, the caches are taken to hold nothing of a gather's window
  // when the next rows come; a CPU runs few groups at a time.
  static Offer offer(const Runtime& runtime, const Setup<Spec>& s) {
    const bool rows = s.row.traits.kind == Kind::row_major;
    const bool again = rows && s.problem.work == Work::gather && !runtime.info().cpu;
    Offer out;
    out.work.bytes_written = bytes(s.problem) / 2;
    out.work.bytes_read = out.work.bytes_written * (again ? s.problem.taps : 1);
    return out;
  }

  static std::vector<CompileUnit> units(const Setup<Spec>& s) {
    CompileUnit unit = variant_unit(s, embedded::group_swizzle);
    unit.label = to_string(s.problem.work);
    unit.group[1] = unit.group[0];
    if (s.problem.work == Work::gather) unit.defines.flag("CLCOOK_GROUP_SWIZZLE_GATHER");
    if (s.row.is_for_cpus) {
      unit.defines.set("CLCOOK_GROUP_SWIZZLE_TILE_W", cpu_tile_width(s.problem.work))
          .set("CLCOOK_GROUP_SWIZZLE_TILE_H", kCpuTileHeight);
    }
    return {unit};
  }

  // The grid of work-groups, or tiles, of that size. Throws Error(invalid_argument) when their ids
  // would need more than 32 bits.
  static model::GroupGrid grid(const Problem& problem, int wide, int high) {
    const auto parts = [](int pixels, int part) {
      return static_cast<std::uint32_t>(pixels / part + (pixels % part != 0 ? 1 : 0));
    };
    const model::GroupGrid out{parts(problem.width, wide), parts(problem.height, high)};
    const std::uint64_t count = std::uint64_t{out.x} * out.y;
    if (count > std::numeric_limits<std::uint32_t>::max()) {
      fail(Errc::invalid_argument, kName,
           text(problem.width, " x ", problem.height, " pixels in work-groups of ", wide, " x ",
                high, " are ", count, " work-groups; at most 4294967295 have an id"));
    }
    return out;
  }
  static model::GroupGrid grid(const Problem& problem, int group) {
    return grid(problem, group, group);
  }
  static model::GroupGrid grid(const Setup<Spec>& s) {
    return s.row.is_for_cpus ? grid(s.problem, cpu_tile_width(s.problem.work), kCpuTileHeight)
                             : grid(s.problem, s.tune.group);
  }

  // The model's name of the order in which a variant covers the grid.
  static model::SwizzleOrder order(const Row& row, const Tune& tune) {
    return {row.traits.kind, static_cast<std::uint32_t>(tune.strip),
            row.traits.chiplets ? static_cast<std::uint32_t>(tune.chiplets) : 1};
  }
};

}  // namespace group_swizzle

// A plan: constructed once, called often. Thread-safe as Plan says. Throws
// Error(invalid_argument) for a grid of more than 2^32 - 1 work-groups. The program does not depend
// on size, matrix, window and strips.
class GroupSwizzle : public Plan<group_swizzle::Spec> {
 public:
  using Plan::Plan;
  using Work = group_swizzle::Work;

  // Enqueues the work from `src` to `dst` behind the events of `wait` and returns the event. Pixels
  // are 4 floats; offsets and pitches of the views are multiples of 16 bytes. The views must not
  // overlap. Throws Error(invalid_argument), with nothing enqueued, when a view breaks a rule.
  cl::Event operator()(const BufferView& src, const BufferView& dst,
                       const std::vector<cl::Event>& wait = {}) const {
    const Problem& p = problem();
    const RowLayout layout{static_cast<std::size_t>(p.width) * Spec::kPixelBytes,
                           static_cast<std::size_t>(p.height), Spec::kPixelBytes};
    const auto [from, to] =
        check_pair(runtime(), Spec::kName, {src, layout, "src"}, {dst, layout, "dst"});
    cl_float4 columns[4];
    for (std::size_t i = 0; i < 16; ++i) columns[i % 4].s[i / 4] = p.matrix[i];
    const auto pixels = [](std::size_t bytes) {
      return static_cast<cl_ulong>(bytes / Spec::kPixelBytes);
    };
    const model::GroupGrid groups = grid();
    const auto side = static_cast<std::size_t>(tune().group);
    return kernel()(Launch::groups({groups.count(), 1, 1}, {side, side, 1}), wait, from.buffer,
                    pixels(from.offset), pixels(from.pitch), to.buffer, pixels(to.offset),
                    pixels(to.pitch), static_cast<cl_int>(p.width), static_cast<cl_int>(p.height),
                    static_cast<cl_uint>(groups.x), static_cast<cl_uint>(groups.y),
                    static_cast<cl_uint>(tune().strip), static_cast<cl_uint>(tune().chiplets),
                    columns[0], columns[1], columns[2], columns[3], static_cast<cl_int>(p.taps),
                    static_cast<cl_int>(p.radius));
  }

  // The grid of work-groups, of cpu_tiles tiles, that covers the picture.
  model::GroupGrid grid() const { return Spec::grid(setup()); }
};

CLCOOK_PLAN(group_swizzle::Spec);

}  // namespace clcook
