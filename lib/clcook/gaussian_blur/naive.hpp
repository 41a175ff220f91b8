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
  static Offer offer(const Runtime&, const Problem& p, const Axes& axes) {
    // naive: a load per tap, far from the rate of multiply-adds. Nobody chooses per_pixel by cost.
    const double taps = axes.x.taps() + axes.y.taps();
    const double each = kWholePixels ? 2 : 16;
    Offer out = rounding_offer(axes, {0, 0, values_of(p) * taps * each, 2});
    out.in_place = true;  // src has been read when the columns are written
    return out;
  }

  static std::vector<CompileUnit> units(const Problem& p, const Axes&, const DeviceInfo&) {
    Defines defines;
    set_pixel(defines, p);
    const embedded::File& file =
        kWholePixels ? embedded::gaussian_blur_per_pixel : embedded::gaussian_blur_naive;
    // Groups as the built kernels take them.
    return {unit(kRows, file, defines, {0, 0, 0}), unit(kColumns, file, defines, {0, 0, 0})};
  }

  Naive(const Runtime& runtime, const Problem& problem, const Axes& axes, const Offer&,
        const std::vector<cl::Program>& programs)
      : runtime_(runtime),
        problem_(problem),
        radius_x_(axes.x.radius),
        radius_y_(axes.y.radius),
        weights_x_(upload_floats(runtime, weights_of(axes.x))),
        weights_y_(upload_floats(runtime, weights_of(axes.y))) {
    program_ = programs[0];
    for (const char* kernel : {kRows, kColumns}) {
      const std::size_t most =
          std::min(Kernel(runtime, program_, kernel).max_group(), runtime.info().max_items[0]);
      while (group_ > most && group_ > 1) group_ /= 2;
    }
  }

  cl::Event enqueue(const Call& call, Scratch& scratch,
                    const std::vector<cl::Event>& wait) override {
    const Region& region = call.region;
    const RowRange range = rows_needed(problem_, region, radius_y_);
    const auto channels = static_cast<std::size_t>(problem_.channels);
    const std::size_t line = static_cast<std::size_t>(region.width) * channels;
    const auto batch = static_cast<std::size_t>(problem_.batch);
    const cl::Buffer mid = scratch.get(
        runtime_, 0, line * static_cast<std::size_t>(range.count) * batch * sizeof(float));
    const std::size_t bytes = channel_bytes(problem_.pixel);
    const KernelPicture picture = kernel_picture(problem_, region);
    const auto launch = [&](int rows) {
      const std::size_t items = kWholePixels ? line / channels : line;
      return Launch::cover({items, static_cast<std::size_t>(rows), batch}, {group_, 1, 1});
    };
    Kernel rows(runtime_, program_, kRows);
    const cl::Event first =
        rows(launch(range.count), wait, call.src.buffer, kernel_view(call.src, bytes), mid, picture,
             range, weights_x_, cl_int{radius_x_});
    Kernel columns(runtime_, program_, kColumns);
    return columns(launch(region.height), {first}, mid, call.dst.buffer,
                   kernel_view(call.dst, bytes), picture, range, weights_y_, cl_int{radius_y_});
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
  static std::vector<double> weights_of(const Axis& axis) {
    if (!kWholePixels) return axis.weights;
    std::vector<double> all(axis.weights.rbegin(), axis.weights.rend());
    all.insert(all.end(), axis.weights.begin() + 1, axis.weights.end());
    return all;
  }

  Runtime runtime_;
  Problem problem_;
  int radius_x_;
  int radius_y_;
  cl::Buffer weights_x_;
  cl::Buffer weights_y_;
  cl::Program program_;
  std::size_t group_ = 64;  // work-items, or as many as device and kernels allow
};

}  // namespace clcook::gaussian
