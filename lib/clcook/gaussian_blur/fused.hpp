// The method fused: both passes in one launch, for radii up to 10. The picture is read once and
// written once; what lies between the passes stays in registers and local memory.
#pragma once

#include <algorithm>
#include <array>
#include <clcook/embedded/gaussian_blur.hpp>
#include <clcook/gaussian_blur/method.hpp>
#include <string>
#include <vector>

namespace clcook::gaussian {

class Fused : public Method {
 public:
  using Design = NoDesign;

  static Offer offer(const Runtime& runtime, const Problem& p, const Axes& axes, NoDesign&) {
    const int radius = std::max(axes.x.radius, axes.y.radius);
    if (radius > kMaxRadius) {
      return Offer::no(Lacks::problem,
                       text("the filter reaches ", radius, " pixels; one launch serves at most ",
                            static_cast<int>(kMaxRadius)));
    }
    if (is_integer(p.pixel) && may_be_anything(p)) {
      return Offer::no(Lacks::problem,
                       "what lies outside is not finite; in integers it has taps of 0 for that");
    }
    const double pixels = static_cast<double>(p.width) * p.height * p.batch;
    const int most = radius_class(axes);
    const double slower = most == 4 ? 1 : most == 8 ? 1.6 : 2.05;
    const double each = runtime.info().cpu    ? 1700
                        : is_integer(p.pixel) ? 100 + 55 * channels_of(p)
                                              : 250 + 47.5 * channels_of(p);
    return rounding_offer(axes, {0, 0, pixels * each * slower, 1.5});
  }

  static std::vector<CompileUnit> units(const Problem& p, const Axes& axes, const DeviceInfo&) {
    Defines defines;
    set_pixel(defines, p);
    defines.set("CLCOOK_GAUSSIAN_RADIUS", radius_class(axes))
        .set("CLCOOK_GAUSSIAN_ITEMS", kItems)
        .set("CLCOOK_GAUSSIAN_ROWS", kRows);
    return {unit("gaussian_blur_fused", embedded::gaussian_blur_fused, defines, {kItems, 1, 1})};
  }

  Fused(const Runtime& runtime, const Problem& problem, const Axes& axes, const NoDesign&,
        const std::vector<cl::Program>& programs)
      : runtime_(runtime),
        problem_(problem),
        radius_x_(axes.x.radius),
        radius_y_(axes.y.radius),
        class_(radius_class(axes)) {
    for (std::size_t k = 0; k < axes.x.weights.size(); ++k)
      weights_.x[k] = static_cast<float>(axes.x.weights[k]);
    for (std::size_t k = 0; k < axes.y.weights.size(); ++k)
      weights_.y[k] = static_cast<float>(axes.y.weights[k]);
    program_ = programs[0];
  }

  cl::Event enqueue(const Call& call, Scratch&, const std::vector<cl::Event>& wait) override {
    const Region& region = call.region;
    const std::size_t bytes = channel_bytes(problem_.pixel);
    const int strip = (kItems - 2 * class_) / kRows * kRows;
    const int strips = (region.width + strip - 1) / strip;
    // As many segments as the device runs groups at once: a few groups more would be a second
    // round of all, and each segment reads the rows around it again. How many fit is a matter of
    // registers; where it is three, two rounds of shorter segments are faster.
    const bool integers = is_integer(problem_.pixel);
    const int fit = class_ == 4 ? (integers ? 5 : 4) : class_ == 8 && integers ? 4 : 6;
    const long groups = static_cast<long>(runtime_.info().compute_units) * fit;
    const long most = (region.height + 2 * kMaxRadius - 1) / (2 * kMaxRadius);
    const long segments =
        std::clamp(groups / (static_cast<long>(strips) * problem_.batch), 1L, most);
    const long rows = (region.height + segments - 1) / segments;
    const int segment = static_cast<int>((rows + kRows - 1) / kRows * kRows);
    const bool words = call.dst.offset % 16 == 0 && call.dst.pitch % 16 == 0;
    Kernel kernel(call.runtime, program_, "gaussian_blur_fused");
    return kernel(Launch::groups({static_cast<std::size_t>(strips),
                                  static_cast<std::size_t>((region.height + segment - 1) / segment),
                                  static_cast<std::size_t>(problem_.batch)},
                                 {kItems, 1, 1}),
                  wait, call.src.buffer, kernel_view(call.src, bytes), call.dst.buffer,
                  kernel_view(call.dst, bytes), kernel_picture(problem_, region), cl_int{segment},
                  weights_, cl_int{radius_x_}, cl_int{radius_y_}, cl_int{words ? 1 : 0});
  }

  bool uses_scratch() const override { return false; }

  std::string describe() const override {
    return text("rows of ", 2 * radius_x_ + 1, " and columns of ", 2 * radius_y_ + 1,
                " taps, one launch for radii up to ", class_);
  }

 private:
  static constexpr int kMaxRadius = kMaxFusedRadius;
  static constexpr int kItems = kFusedGroup;
  static constexpr int kRows = 4;  // of a stage

  struct Weights {
    std::array<cl_float, 16> x{};
    std::array<cl_float, 16> y{};
  };

  // Programs are made for these radii.
  static int radius_class(const Axes& axes) {
    const int radius = std::max(axes.x.radius, axes.y.radius);
    return radius <= 4 ? 4 : radius <= 8 ? 8 : kMaxRadius;
  }

  Runtime runtime_;
  Problem problem_;
  int radius_x_;
  int radius_y_;
  int class_;
  Weights weights_;
  cl::Program program_;
};

}  // namespace clcook::gaussian
