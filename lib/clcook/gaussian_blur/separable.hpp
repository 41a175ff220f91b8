// The method separable: rows and columns through tiles in local memory, with sums of neighbours in
// registers. Serves every problem; plain OpenCL C.
#pragma once

#include <algorithm>
#include <array>
#include <clcook/core/math.hpp>
#include <clcook/embedded/gaussian_blur.hpp>
#include <clcook/gaussian_blur/method.hpp>
#include <cstdlib>
#include <string>
#include <vector>

namespace clcook::gaussian {

class Separable : public Method {
 public:
  using Design = NoDesign;

  static Offer offer(const Runtime& runtime, const Problem& p, const Axes& axes, NoDesign&) {
    const bool anything = needs_exact_reach(p);
    Work work;
    int pieces = 0;
    for (const FilterAxis* axis : {&axes.x, &axes.y}) {
      const Pieces cut = cut_taps(*axis);
      pieces += cut.count;
      const double each =
          runtime.info().cpu ? 130.0 * cut.taps : 56 + (anything ? 2.06 : 1.72) * cut.taps;
      work.operations += cut.count * values_of(p) * each;
      work.launches += cut.count;
    }
    // Each launch adds its sum to that of the ones before.
    Offer out = rounding_offer(axes, work);
    out.max_error += pieces * 0x1p-24;
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
    const std::size_t channels = static_cast<std::size_t>(p.channels);
    return {kernel_unit(p, axes.x, "gaussian_blur_separable_rows", device,
                        kRunsX * channels * rows_each(channels), from),
            kernel_unit(p, axes.y, "gaussian_blur_separable_columns", device, kLines * kRunsY, to)};
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
        rows_(axes.x, programs[0]),
        columns_(axes.y, programs[1]) {}

  cl::Event enqueue(const Call& call, Scratch& scratch,
                    const std::vector<cl::Event>& wait) override {
    const Region& region = call.region;
    const bool there = rows_are_there(problem_, call, from_, rows_.radius);
    const RowRange range =
        there ? RowRange{0, problem_.height} : rows_needed(problem_, region, columns_.radius);
    const auto channels = static_cast<std::size_t>(problem_.channels);
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
    const auto groups = [](std::size_t count, std::size_t each) {
      return (count + each - 1) / each;
    };
    const Launch launch_rows =
        Launch::groups({groups(width, kRunsX * kRun),
                        groups(static_cast<std::size_t>(range.count), rows_each(channels)), batch},
                       {kRunsX * channels * rows_each(channels), 1, 1});
    // A dozen groups of columns per compute unit, where the region has so many tiles.
    const std::size_t strips = groups(width * channels, kLines);
    const std::size_t tiles = groups(static_cast<std::size_t>(region.height), kRunsY * kRun);
    const std::size_t segments = groups(12 * runtime_.info().compute_units, strips * batch);
    const std::size_t segment = groups(tiles, std::min(segments, tiles)) * kRunsY * kRun;
    const Launch launch_columns =
        Launch::groups({strips, groups(static_cast<std::size_t>(region.height), segment), batch},
                       {kLines * kRunsY, 1, 1});
    std::vector<cl::Event> after = wait;
    for (const Piece& piece : rows_.pieces) {
      if (there) break;
      Kernel kernel(call.runtime, rows_.program, "gaussian_blur_separable_rows");
      after = {kernel(launch_rows, after, call.src.buffer,
                      kernel_view(call.src, channel_bytes(from_.pixel)), mid, picture, range, piece,
                      cl_int{&piece != &rows_.pieces.front()})};
    }
    for (const Piece& piece : columns_.pieces) {
      Kernel kernel(call.runtime, columns_.program, "gaussian_blur_separable_columns");
      after = {kernel(launch_columns, after, mid, partial, call.dst.buffer,
                      kernel_view(call.dst, channel_bytes(to_.pixel)), picture, range,
                      static_cast<cl_int>(segment), piece,
                      cl_int{&piece != &columns_.pieces.front()},
                      cl_int{&piece == &columns_.pieces.back()})};
    }
    return after.front();
  }

  std::string describe() const override {
    return text("rows of ", 2 * rows_.radius + 1, " and columns of ", 2 * columns_.radius + 1,
                " taps through local memory, ", rows_.pieces.size(), " and ",
                columns_.pieces.size(), " launches");
  }

 private:
  static constexpr std::size_t kRun = 12;  // neighbours that a work-item makes
  static constexpr std::size_t kRunsX = 40;
  static constexpr std::size_t kRunsY = 8;
  static constexpr std::size_t kLines = 32;
  static constexpr int kMostTaps = 129;

  // The taps of one launch: taps_t of the kernels.
  struct Piece {
    std::array<cl_float, 132> weights{};
    cl_int taps = 0;
    cl_int reach = 0;  // of the first one
  };
  static_assert(sizeof(Piece) == 134 * 4);

  // How a filter is cut: into so many launches of a program for so many taps.
  struct Pieces {
    int count;
    int taps;
  };
  static Pieces cut_taps(const FilterAxis& axis) {
    const int count = (axis.taps() + kMostTaps - 1) / kMostTaps;
    const int each = (axis.taps() + count - 1) / count;
    return {count, each <= 33 ? 33 : each <= 65 ? 65 : kMostTaps};
  }

  // Zero times NaN or infinity is NaN.
  static bool needs_exact_reach(const Problem& p) {
    bool finite = !may_be_anything(p);
    for (const float value : p.outside) finite = finite && math::isfinite(value);
    return !finite;
  }

  static CompileUnit kernel_unit(const Problem& p, const FilterAxis& axis, const char* kernel,
                                 const DeviceInfo& device, std::size_t group,
                                 const Stored& stored) {
    Defines defines;
    set_pixel(defines, p, stored);
    const std::size_t rows = rows_each(static_cast<std::size_t>(p.channels));
    defines.set("CLCOOK_GAUSSIAN_TAPS", cut_taps(axis).taps)
        .set("CLCOOK_GAUSSIAN_RUN", static_cast<int>(kRun))
        .set("CLCOOK_GAUSSIAN_RUNS_X", static_cast<int>(kRunsX))
        .set("CLCOOK_GAUSSIAN_RUNS_Y", static_cast<int>(kRunsY))
        .set("CLCOOK_GAUSSIAN_ROWS", static_cast<int>(rows))
        .set("CLCOOK_GAUSSIAN_LINES", static_cast<int>(kLines));
    if (needs_exact_reach(p)) defines.flag("CLCOOK_GAUSSIAN_EXACT_REACH");
    // CPUs gain nothing from the unrolled code, which takes them seconds to compile.
    return unit(kernel, embedded::gaussian_blur_separable, defines, {group, 1, 1},
                device.cpu ? "-DCLCOOK_GAUSSIAN_ROLLED=1" : "");
  }

  static std::size_t rows_each(std::size_t channels) {
    return channels == 1 ? 4 : channels == 2 ? 2 : 1;
  }

  struct Pass {
    Pass(const FilterAxis& axis, cl::Program built)
        : radius(axis.radius), program(std::move(built)) {
      const int each = cut_taps(axis).taps;
      for (int first = 0; first < axis.taps(); first += each) {
        Piece piece;
        piece.reach = first - radius;
        piece.taps = std::min(each, axis.taps() - first);
        for (int k = 0; k < piece.taps; ++k) {
          const auto at = static_cast<std::size_t>(std::abs(piece.reach + k));
          piece.weights[static_cast<std::size_t>(k)] = static_cast<float>(axis.weights[at]);
        }
        pieces.push_back(piece);
      }
    }

    int radius;
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
