// The methods per_pixel and naive: two passes, every tap from global memory, a pixel per work-item or
// a channel of one. They serve every problem on every device; per_pixel is the baseline that the
// others are measured against.
#pragma once

#include <algorithm>
#include <clcook/embedded/gaussian_blur.hpp>
#include <clcook/gaussian_blur/method.hpp>
#include <memory>
#include <string>
#include <vector>

namespace clcook::gaussian {

template <bool kWholePixels>
class Naive : public Method {
 public:
  using Design = NoDesign;

  static Offer offer(const Runtime&, const Problem& p, const Axes& axes, NoDesign&) {
    // naive: a load per tap, far from the rate of multiply-adds. Nobody chooses per_pixel by cost.
    const double taps = axes.x.taps() + axes.y.taps();
    const double each = kWholePixels ? 2 : 16;
    Offer out = rounding_offer(axes, {0, 0, values_of(p) * taps * each, 2});
    out.in_place = true;  // src has been read when the columns are written
    return out;
  }

  static std::vector<CompileUnit> units(const Problem& p, const Axes& axes,
                                        const DeviceInfo& device) {
    return units_between(p, axes, device, stored_of(p), stored_of(p));
  }
  // For pictures that are read and written as these types.
  static std::vector<CompileUnit> units_between(const Problem& p, const Axes&, const DeviceInfo&,
                                                const Stored& from, const Stored& to) {
    Defines reading;
    set_pixel(reading, p, from);
    Defines writing;
    set_pixel(writing, p, to);
    const embedded::File& file =
        kWholePixels ? embedded::gaussian_blur_per_pixel : embedded::gaussian_blur_naive;
    // Groups as the built kernels take them.
    return {unit(kRows, file, reading, {0, 0, 0}), unit(kColumns, file, writing, {0, 0, 0})};
  }

  Naive(const Runtime& runtime, const Problem& problem, const Axes& axes, const NoDesign&,
        const std::vector<cl::Program>& programs)
      : Naive(runtime, problem, axes, programs, stored_of(problem), stored_of(problem)) {}
  Naive(const Runtime& runtime, const Problem& problem, const Axes& axes,
        const std::vector<cl::Program>& programs, const Stored& from, const Stored& to)
      : runtime_(runtime),
        problem_(problem),
        from_(from),
        to_(to),
        radius_x_(axes.x.radius),
        radius_y_(axes.y.radius),
        sum_x_(axes.x.sum),
        weights_x_(upload_floats(runtime, weights_of(axes.x))),
        weights_y_(upload_floats(runtime, weights_of(axes.y))) {
    rows_ = programs[0];
    columns_ = programs[1];
    group_ = row_group({Kernel(runtime, rows_, kRows), Kernel(runtime, columns_, kColumns)},
                       runtime.info());
  }

  cl::Event enqueue(const Call& call, Scratch& scratch,
                    const std::vector<cl::Event>& wait) override {
    const Region& region = call.region;
    const bool there = rows_are_there(problem_, call, from_, radius_x_);
    const RowRange range =
        there ? RowRange{0, problem_.height} : rows_needed(problem_, region, radius_y_);
    const auto channels = static_cast<std::size_t>(channels_of(problem_));
    const std::size_t line = static_cast<std::size_t>(region.width) * channels;
    const auto batch = static_cast<std::size_t>(problem_.batch);
    const cl::Buffer mid =
        there ? call.src.buffer
              : scratch.get(runtime_, 0,
                            line * static_cast<std::size_t>(range.count) * batch * sizeof(float));
    const KernelPicture picture = kernel_picture(problem_, region);
    const auto launch = [&](int rows) {
      const std::size_t items = kWholePixels ? line / channels : line;
      return Launch::cover({items, static_cast<std::size_t>(rows), batch}, {group_, 1, 1});
    };
    std::vector<cl::Event> after = wait;
    if (!there) {
      Kernel rows(call.runtime, rows_, kRows);
      after = {rows(launch(range.count), wait, call.src.buffer,
                    kernel_view(call.src, channel_bytes(from_.pixel)), mid, picture, range,
                    weights_x_, cl_int{radius_x_})};
    }
    Kernel columns(call.runtime, columns_, kColumns);
    return columns(launch(region.height), after, mid, call.dst.buffer,
                   kernel_view(call.dst, channel_bytes(to_.pixel)),
                   kernel_picture(problem_, region, sum_x_), range, weights_y_, cl_int{radius_y_});
  }

  std::string describe() const override {
    return text("rows of ", 2 * radius_x_ + 1, " and columns of ", 2 * radius_y_ + 1,
                " taps, two launches");
  }

 private:
  static constexpr const char* kRows =
      kWholePixels ? "gaussian_blur_per_pixel_rows" : "gaussian_blur_naive_rows";
  static constexpr const char* kColumns =
      kWholePixels ? "gaussian_blur_per_pixel_columns" : "gaussian_blur_naive_columns";

  // As the kernels take them: from the first tap to the last, or from the centre on.
  static std::vector<double> weights_of(const FilterAxis& axis) {
    if (!kWholePixels) return axis.weights;
    std::vector<double> all;
    for (int k = -axis.radius; k <= axis.radius; ++k) all.push_back(axis.at(k));
    return all;
  }

  Runtime runtime_;
  Problem problem_;
  Stored from_;
  Stored to_;
  int radius_x_;
  int radius_y_;
  double sum_x_;
  cl::Buffer weights_x_;
  cl::Buffer weights_y_;
  cl::Program rows_;
  cl::Program columns_;
  std::size_t group_ = 0;  // see row_group()
};

}  // namespace clcook::gaussian
