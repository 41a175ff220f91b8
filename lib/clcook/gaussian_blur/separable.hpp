// The method separable: rows and columns through tiles in local memory, with sums of neighbours in
// registers. Serves every problem; plain OpenCL C. Long filters are computed as sums of splines,
// with half the taps, by a program of their own.
#pragma once

#include <algorithm>
#include <array>
#include <clcook/core/math.hpp>
#include <clcook/embedded/gaussian_blur.hpp>
#include <clcook/gaussian_blur/method.hpp>
#include <clcook/gaussian_blur/spline_taps.hpp>
#include <string>
#include <vector>

namespace clcook::gaussian {

class Separable : public Method {
 public:
  using Design = NoDesign;

  static Offer offer(const Runtime& runtime, const Problem& p, const Axes& axes, NoDesign&) {
    Offer out = rounding_offer(axes, {});
    for (const Way way : {Way::rows, Way::columns}) {
      const Split split(p, way == Way::rows ? axes.x : axes.y, way);
      const double products = split.products();
      const double each = runtime.info().cpu  ? 130 * (split.is_spline() ? products : split.each)
                          : split.is_spline() ? 80 + 1.9 * products
                                              : 80 + 0.3 * split.each + 1.4 * products;
      out.work.operations += split.count * values_of(p) * each;
      out.work.launches += split.count;
      // Each launch adds its sum to that of the ones before. Splines take no more roundings than all
      // taps do.
      out.max_error += split.count * 0x1p-24 + split.taps.error;
    }
    out.in_place = true;  // src has been read when the columns are written
    return out;
  }

  static std::vector<CompileUnit> units(const Problem& p, const Axes& axes,
                                        const DeviceInfo& device) {
    return units_between(p, axes, device, stored_of(p), stored_of(p));
  }
  // For pictures that are read and written as these types.
  static std::vector<CompileUnit> units_between(const Problem& p, const Axes& axes,
                                                const DeviceInfo& device, const Stored& from,
                                                const Stored& to) {
    return {kernel_unit(p, Split(p, axes.x, Way::rows), device, from),
            kernel_unit(p, Split(p, axes.y, Way::columns), device, to)};
  }

  Separable(const Runtime& runtime, const Problem& problem, const Axes& axes, const NoDesign&,
            const std::vector<cl::Program>& programs)
      : Separable(runtime, problem, axes, programs, stored_of(problem), stored_of(problem)) {}
  Separable(const Runtime& runtime, const Problem& problem, const Axes& axes,
            const std::vector<cl::Program>& programs, const Stored& from, const Stored& to)
      : runtime_(runtime),
        problem_(problem),
        from_(from),
        to_(to),
        rows_(problem, Split(problem, axes.x, Way::rows), programs[0]),
        columns_(problem, Split(problem, axes.y, Way::columns), programs[1]) {}

  cl::Event enqueue(const Call& call, Scratch& scratch,
                    const std::vector<cl::Event>& wait) override {
    const Region& region = call.region;
    const bool there = rows_are_there(problem_, call, from_, rows_.split.radius);
    const RowRange range =
        there ? RowRange{0, problem_.height} : rows_needed(problem_, region, columns_.split.radius);
    const auto channels = static_cast<std::size_t>(channels_of(problem_));
    const auto width = static_cast<std::size_t>(region.width);
    const auto batch = static_cast<std::size_t>(problem_.batch);
    const std::size_t line = width * channels * batch * sizeof(float);
    const cl::Buffer mid =
        there ? call.src.buffer
              : scratch.get(runtime_, 0, line * static_cast<std::size_t>(range.count));
    const cl::Buffer partial =
        columns_.pieces.size() == 1
            ? mid  // not touched
            : scratch.get(runtime_, 1, line * static_cast<std::size_t>(region.height));
    const KernelPicture picture = kernel_picture(problem_, region);
    const KernelPicture filtered = kernel_picture(problem_, region, rows_.split.sum);
    const auto groups = [](std::size_t count, std::size_t each) {
      return (count + each - 1) / each;
    };
    const Launch launch_rows =
        Launch::groups({groups(width, rows_.split.tile()),
                        groups(static_cast<std::size_t>(range.count), rows_each(channels)), batch},
                       {rows_.group, 1, 1});
    // A dozen groups of columns per compute unit, where the region has so many tiles.
    const std::size_t strips = groups(width * channels, kLines);
    const std::size_t tiles =
        groups(static_cast<std::size_t>(region.height), columns_.split.tile());
    const std::size_t segments = groups(12 * runtime_.info().compute_units, strips * batch);
    const std::size_t segment = groups(tiles, std::min(segments, tiles)) * columns_.split.tile();
    const Launch launch_columns =
        Launch::groups({strips, groups(static_cast<std::size_t>(region.height), segment), batch},
                       {columns_.group, 1, 1});
    std::vector<cl::Event> after = wait;
    for (const Piece& piece : rows_.pieces) {
      if (there) break;
      Kernel kernel(call.runtime, rows_.program, rows_.split.kernel());
      after = {kernel(launch_rows, after, call.src.buffer,
                      kernel_view(call.src, channel_bytes(from_.pixel)), mid, picture, range, piece,
                      cl_int{&piece != &rows_.pieces.front()})};
    }
    for (const Piece& piece : columns_.pieces) {
      Kernel kernel(call.runtime, columns_.program, columns_.split.kernel());
      after = {kernel(launch_columns, after, mid, partial, call.dst.buffer,
                      kernel_view(call.dst, channel_bytes(to_.pixel)), filtered, range,
                      static_cast<cl_int>(segment), piece,
                      cl_int{&piece != &columns_.pieces.front()},
                      cl_int{&piece == &columns_.pieces.back()})};
    }
    return after.front();
  }

  std::string describe() const override {
    std::string taps = text("rows of ", 2 * rows_.split.radius + 1, " and columns of ",
                            2 * columns_.split.radius + 1, " taps");
    if (rows_.split.is_spline() || columns_.split.is_spline()) {
      taps +=
          text(", computed as ", rows_.split.taps.taps(), " and ", columns_.split.taps.taps(), ",");
    }
    return text(taps, " through local memory, ", rows_.pieces.size(), " and ",
                columns_.pieces.size(), " launches");
  }

 private:
  static constexpr std::size_t kRun = 12;  // neighbours that a work-item makes
  static constexpr std::size_t kRunsX = 40;
  static constexpr std::size_t kSplineRunsX = 56;  // one more than of results
  static constexpr std::size_t kRunsY = 8;
  static constexpr std::size_t kSplineRunsY = 4;
  static constexpr std::size_t kLines = 32;
  static constexpr int kMostTaps = 129;
  static constexpr int kMostCoarse = 64;  // as many as there is room for weights
  static constexpr int kMostHalo = 128;   // rows of the coarse taps: tiles of 31.5 KiB
  static constexpr int kFewestTaps = 67;  // for which splines pay
  // Where the weights of separable_splines.cl begin: those of coarse taps are the first.
  static constexpr std::size_t kSplineAt = 64;
  static constexpr std::size_t kLeftAt = 80;
  static constexpr std::size_t kRightAt = 92;

  enum class Way { rows, columns };

  // The taps of one launch: taps_t of the kernels.
  struct Piece {
    std::array<cl_float, 132> weights{};
    cl_int taps = 0;   // of splines the coarse ones
    cl_int reach = 0;  // of the first one
  };
  static_assert(sizeof(Piece) == 134 * 4);

  // How a filter is split: into `count` launches of a program for `each` taps. Of splines these are
  // the coarse taps, the others are constants of the program.
  struct Split {
    Split(const Problem& p, const FilterAxis& axis, Way along)
        : way(along), radius(axis.radius), sum(axis.sum), taps(axis) {
      if (!needs_exact_reach(p)) taps = SplineTaps::best(p, axis, kFewestTaps);
      const auto size = static_cast<int>(taps.coarse.size());
      const int most = !is_spline()       ? kMostTaps
                       : way == Way::rows ? kMostCoarse
                                          : kMostHalo / taps.every;
      count = (size + most - 1) / most;
      share = (size + count - 1) / count;
      each = is_spline() ? (share + 7) / 8 * 8 : share <= 33 ? 33 : share <= 65 ? 65 : kMostTaps;
      if (!is_spline()) share = each;
    }

    bool is_spline() const { return !taps.spline.empty(); }
    // What a launch multiplies a value by.
    double products() const {
      if (!is_spline()) return static_cast<double>(taps.coarse.size()) / count;
      return each + static_cast<int>(taps.spline.size()) + 7 * taps.every - 8;
    }
    // Runs along the filter in a group, and the pixels of its tile.
    std::size_t runs() const {
      if (way == Way::rows) return is_spline() ? kSplineRunsX : kRunsX;
      return is_spline() ? kSplineRunsY : kRunsY;
    }
    std::size_t tile() const {
      return kRun * (is_spline() && way == Way::rows ? runs() - 1 : runs());
    }
    std::size_t group(const Problem& p) const {
      const auto channels = static_cast<std::size_t>(channels_of(p));
      return runs() * (way == Way::rows ? channels * rows_each(channels) : kLines);
    }
    const char* kernel() const {
      if (way == Way::rows)
        return is_spline() ? "gaussian_blur_separable_spline_rows" : "gaussian_blur_separable_rows";
      return is_spline() ? "gaussian_blur_separable_spline_columns"
                         : "gaussian_blur_separable_columns";
    }

    Way way;
    int radius;
    double sum;  // of the filter
    SplineTaps taps;
    int count;  // launches
    int share;  // taps of each but the last
    int each;   // taps of the program
  };

  // Zero times NaN or infinity is NaN.
  static bool needs_exact_reach(const Problem& p) {
    bool finite = !may_be_anything(p);
    for (const float value : p.outside) finite = finite && math::isfinite(value);
    return !finite;
  }

  static CompileUnit kernel_unit(const Problem& p, const Split& split, const DeviceInfo& device,
                                 const Stored& stored) {
    Defines defines;
    set_pixel(defines, p, stored);
    const std::size_t rows = rows_each(static_cast<std::size_t>(channels_of(p)));
    defines.set("CLCOOK_GAUSSIAN_RUN", static_cast<int>(kRun))
        .set("CLCOOK_GAUSSIAN_RUNS_X", static_cast<int>(split.is_spline() ? kSplineRunsX : kRunsX))
        .set("CLCOOK_GAUSSIAN_RUNS_Y", static_cast<int>(split.is_spline() ? kSplineRunsY : kRunsY))
        .set("CLCOOK_GAUSSIAN_ROWS", static_cast<int>(rows))
        .set("CLCOOK_GAUSSIAN_LINES", static_cast<int>(kLines));
    if (split.is_spline()) {
      defines.set("CLCOOK_GAUSSIAN_EVERY", split.taps.every)
          .set("CLCOOK_GAUSSIAN_COARSE", split.each);
    } else {
      defines.set("CLCOOK_GAUSSIAN_TAPS", split.each);
    }
    // CPUs gain nothing from the unrolled code of all taps, which takes them seconds to compile.
    const bool is_rolled = device.cpu && !split.is_spline();
    return unit(split.kernel(),
                split.is_spline() ? embedded::gaussian_blur_separable_splines
                                  : embedded::gaussian_blur_separable,
                defines, {split.group(p), 1, 1}, is_rolled ? "-DCLCOOK_GAUSSIAN_ROLLED=1" : "");
  }

  static std::size_t rows_each(std::size_t channels) {
    return channels == 1 ? 4 : channels == 2 ? 2 : 1;
  }

  struct Pass {
    Pass(const Problem& p, Split one, cl::Program built)
        : split(std::move(one)), group(split.group(p)), program(std::move(built)) {
      const auto size = static_cast<int>(split.taps.coarse.size());
      for (int first = 0; first < size; first += split.share) {
        Piece piece;
        piece.reach = first * split.taps.every - split.radius;
        piece.taps = std::min(split.share, size - first);
        const auto put = [&](const std::vector<double>& values, std::size_t at) {
          for (const double value : values) piece.weights[at++] = static_cast<float>(value);
        };
        const auto begin = split.taps.coarse.begin() + first;
        put({begin, begin + piece.taps}, 0);
        if (split.is_spline()) put(split.taps.spline, kSplineAt);
        if (split.is_spline() && first == 0) put(split.taps.left, kLeftAt);
        if (split.is_spline() && first + split.share >= size) put(split.taps.right, kRightAt);
        pieces.push_back(piece);
      }
    }

    Split split;
    std::size_t group;
    cl::Program program;
    std::vector<Piece> pieces;
  };

  Runtime runtime_;
  Problem problem_;
  Stored from_;
  Stored to_;
  Pass rows_;
  Pass columns_;
};

}  // namespace clcook::gaussian
