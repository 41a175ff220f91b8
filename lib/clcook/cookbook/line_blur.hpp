// The card of the recipe line_blur.
//
// Problem: a Gaussian blur of a picture, separable, as two passes over lines. The article that this
// recipe goes back to optimises a Unity compute shader step by step. Why naive is slow: every tap
// costs a read of global memory and an exponential, 2R + 1 of each per pixel and pass, although a
// pixel is needed once and the weights are the same for all; and the transposed store writes one
// pixel per memory transaction. What each variant changes: see its summary, and docs/line_blur.md.
// When it does not help: on a CPU local memory is ordinary memory and barriers cut loops, so the
// line in local memory gains nothing there; the table of weights gains most, and cpu_fused is
// a kernel of gaussian_blur, as fused is for small radii on any device.
#pragma once

#include <algorithm>
#include <clcook/line_blur.hpp>
#include <clcook/reference/alpha.hpp>
#include <clcook/reference/line_blur.hpp>
#include <clcook/registry/guarded_buffer.hpp>
#include <clcook/registry/in_parallel.hpp>
#include <clcook/registry/pixels.hpp>
#include <clcook/registry/plan_case.hpp>
#include <clcook/registry/random.hpp>
#include <clcook/registry/recipe.hpp>
#include <clcook/registry/source_image.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace clcook::cookbook {
namespace line_blur_card {

// The problem of a shape; recipe.parameters names its values.
inline LineBlur::Problem problem(const Params& shape) {
  LineBlur::Problem out;
  out.width = shape.as<int>("width");
  out.height = shape.as<int>("height");
  out.radius = shape.real("radius");
  out.relative_sigma = LineBlur::RadiusFraction(shape.real("sigma"));
  out.pixel = LineBlur::parse_pixel(shape.word("pixel"));
  out.alpha = parse_alpha(shape.word("alpha"), "line_blur");
  return out;
}

class BlurCase : public PlanCase<LineBlur> {
 public:
  BlurCase(const Runtime& runtime, const Params& shape, std::uint64_t seed)
      : PlanCase(runtime, problem(shape)),
        image_(runtime, float_image_format(problem_.pixel), problem_.width, problem_.height) {
    const auto rows = static_cast<std::size_t>(problem_.height);
    // 0xFF in the poison makes every float a NaN. The result's is another, so that poison which is
    // copied past the end of a row shows.
    make_rows(src_, shape, rows, 1, 0xFF);
    make_rows(dst_, shape, rows, 0, 0xCD);
    Random random(seed);
    values_.resize(static_cast<std::size_t>(problem_.width) * rows * channels_);
    for (double& value : values_) {
      value = is_integer(channel_)
                  ? static_cast<double>(random.below(static_cast<std::uint64_t>(top()) + 1))
                  : static_cast<double>(random.uniform(-1.0f, 1.0f));
    }
    if (is_straight()) {  // alpha from 0 to 1: a quarter is transparent, a quarter opaque
      for (std::size_t i = channels_ - 1; i < values_.size(); i += channels_) {
        const double share = is_integer(channel_) ? values_[i] / top() : values_[i] / 2 + 0.5;
        values_[i] = std::clamp(2 * share - 0.5, 0.0, 1.0) * top();
      }
    }
    stored_ = store_channels(channel_, values_);
    for (std::size_t i = 0; i < values_.size(); ++i)
      values_[i] = load_channel(channel_, stored_.data(), i);
    if (is_straight()) reference::weight_by_alpha(values_, channels_, top());
  }

  void poison() override {
    src_->poison();
    dst_->poison();
    if (!image_.is_null()) image_.poison(stored_.size(), 0xFF);
  }

  cl::Event upload(const std::vector<cl::Event>& wait) override {
    const cl::Event done = PlanCase::upload(wait);
    return image_.is_null() ? done : image_.upload(stored_.data(), {done});
  }

  // If the variant reads an image, that is not among them.
  std::vector<Operand> operands() override {
    std::vector<Operand> out = PlanCase::operands();
    if (of_image()) out.erase(out.begin());
    return out;
  }

  cl::Event call(const std::vector<BufferView>& views,
                 const std::vector<cl::Event>& wait) override {
    return of_image() ? plan()(image_.image(), views[0], wait) : PlanCase::call(views, wait);
  }

  Diff check(const std::vector<cl::Event>& wait) override {
    Diff diff;
    const std::vector<unsigned char> got = dst_->read(wait, diff, "dst");
    const std::vector<double>& expected = reference();
    // What the plan promises of values up to 1, 0 for a copy.
    const double promise = plan().offer().max_error;
    compare_in_parallel(diff, expected.size(), [&](Diff& part, std::size_t i) {
      double limit = top() * promise + rounding(expected[i], top() * promise);
      double value = load_channel(channel_, got.data(), i);
      if (is_straight()) {  // colours times alpha, each of which is rounded
        const std::size_t alpha = i / channels_ * channels_ + channels_ - 1;
        if (i != alpha) value *= load_channel(channel_, got.data(), alpha) / top();
        limit = top() * promise + 2 * rounding(top(), top() * promise);
      }
      if (promise == 0) limit = 0;
      part.compare([&] { return place_of(i, problem_.width, channels_of(problem_.pixel)); },
                   expected[i], value, limit);
    });
    return diff;
  }

 protected:
  const void* input() override { return stored_.data(); }

 private:
  bool of_image() const { return plan().variant().row()->traits.is_image; }
  // Whether colours are compared times alpha. Copies are compared as they are.
  bool is_straight() const {
    return LineBlur::Spec::is_straight(problem_) && !LineBlur::is_copy(problem_);
  }
  // The largest value; alpha where nothing is transparent.
  double top() const { return static_cast<double>(top_of(channel_)); }

  // How far a result that is `error` off moves when it is stored; the promise has it for floats.
  double rounding(double value, double error) const {
    if (is_integer(channel_)) return 0.5;
    if (channel_ == Channel::f16) return std::max((std::abs(value) + error) * 0x1p-11, 0x1p-25);
    return 0;
  }

  const std::vector<double>& reference() {
    const int distance = LineBlur::Spec::step(*plan().variant().row(), problem_.radius);
    const auto found = reference_.find(distance);
    if (found != reference_.end()) return found->second;
    const auto taps =
        reference::line_blur::taps(problem_.radius, problem_.relative_sigma.value, distance);
    const auto width = static_cast<std::size_t>(problem_.width);
    const auto height = static_cast<std::size_t>(problem_.height);
    return reference_[distance] =
               reference::line_blur::blur(values_.data(), width, height, taps, channels_);
  }

  const Channel channel_ = channel_of(problem_.pixel);
  const std::size_t channels_ = static_cast<std::size_t>(channels_of(problem_.pixel));
  const SourceImage image_;
  std::vector<unsigned char> stored_;
  std::vector<double> values_;                    // what it holds
  std::map<int, std::vector<double>> reference_;  // by the distance of the taps
};

inline Params shape(int width, int height, double radius, double sigma, const char* pixel,
                    int offset = 0, int pad = 0, std::int64_t tiny = 0,
                    const char* alpha = nullptr) {
  Params out{{"width", std::int64_t{width}},
             {"height", std::int64_t{height}},
             {"radius", radius},
             {"sigma", sigma},
             {"pixel", std::string(pixel)}};
  if (offset != 0) out.set("offset", std::int64_t{offset});
  if (pad != 0) out.set("pad", std::int64_t{pad});
  if (tiny != 0) out.set("tiny", tiny);
  if (alpha != nullptr) out.set("alpha", std::string(alpha));
  return out;
}

}  // namespace line_blur_card

inline Recipe line_blur() {
  using line_blur_card::shape;
  Recipe recipe;
  recipe.title = "Gaussian blur by lines";
  recipe.question = "Tables, local memory, or registers?";
  recipe.for_gpus = "coalesced";
  recipe.for_cpus = "cpu_fused";
  recipe.written_first = {"weights_table"};
  recipe.family = "memory locality";
  recipe.headline_pair = {"local_line", "naive"};
  recipe.summary =
      "A separable blur with two transposing passes, from a global read and an exponential per tap "
      "to register-blocked "
      "sums with contiguous stores.";
  recipe.parameters = {
      Parameter::integer("width", "pixels", 1, LineBlur::kMaxSize),
      Parameter::integer("height", "pixels", 1, LineBlur::kMaxSize),
      Parameter::real("radius", "pixels", 0, LineBlur::kMaxRadius),
      Parameter::real("sigma", "of the weights, in radii", 0, std::numeric_limits<double>::max()),
      Parameter::word("pixel", "type of a pixel", pixel_type_names(LineBlur::Spec::pixel_types()),
                      "rgba32f"),
      Parameter::word("alpha", "what the last channel is", names_of(kAlphas), "none"),
      Parameter::integer("offset", "pixels, of 3 channels channels, before the first row", 0,
                         1 << 20, "0"),
      Parameter::integer("pad", "the same behind each row", 0, 1 << 20, "0"),
  };
  describe<LineBlur, line_blur_card::BlurCase>(recipe, line_blur_card::problem);
  recipe.test_shapes = {
      shape(1, 1, 3, 0.5, "rgba32f", 0, 0, 1),
      shape(7, 3, 2.5, 0.5, "rgba32f", 3, 2, 1),
      shape(3, 5, 4, 0.7, "rgba8", 1, 5, 1),
      shape(3, 2, 0, 0.5, "rgba32f", 2, 3, 1),
      shape(4, 1, 1100, 0.5, "rgba32f", 0, 0, 2),  // the taps take two turns
      shape(5, 9, 2, 0.6, "rgba16f"),
      shape(21, 9, 3, 0.5, "rgba16", 0, 2),
      shape(67, 33, 20, 0.5, "rgba16", 3, 2),
      shape(101, 26, 7.5, 0.5, "rgba16f", 2, 5),
      shape(18, 11, 0.5, 0.5, "rgba16", 1, 2),
      shape(1, 97, 5, 0.5, "rgba32f"),
      shape(97, 1, 5, 0.5, "rgba8"),
      shape(63, 5, 4, 0.5, "rgba32f"),
      shape(64, 7, 9.5, 0.4, "rgba8", 5, 3),
      shape(65, 9, 16, 0.7, "rgba32f", 7, 9),
      shape(64, 24, 9, 0.5, "rgba32f"),
      shape(127, 3, 33, 0.5, "rgba32f"),
      shape(131, 37, 40.25, 0.5, "rgba8"),
      shape(255, 2, 6, 1, "rgba32f"),
      shape(257, 3, 31, 0.5, "rgba8"),
      shape(2, 1025, 10, 0.5, "rgba32f"),
      shape(2307, 3, 64, 0.5, "rgba32f", 1, 1),
      shape(300, 1, 1100, 0.5, "rgba8"),
      shape(37, 29, 100, 0.5, "rgba32f"),
      shape(53, 41, 0, 0.5, "rgba8", 3, 4),
      shape(41, 23, 0.75, 0.5, "rgba32f", 0, 3),
      shape(23, 17, 5, 0, "rgba32f"),
      shape(31, 19, 6, 1e-12, "rgba32f"),
      shape(31, 19, 6, 1e12, "rgba8"),
      shape(6, 5, 2.5, 0.5, "rgba8", 1, 2, 1, "straight"),
      shape(67, 21, 9, 0.5, "rgba32f", 2, 3, false, "straight"),
      shape(41, 33, 70, 0.5, "rgba16", 1, 2, false, "straight"),
      shape(29, 37, 5, 0.6, "rgba16f", 0, 1, false, "straight"),
      shape(13, 7, 0.5, 0.5, "rgba8", 0, 0, false, "straight"),
      shape(13, 7, 3, 0.5, "rgba8", 0, 0, false, "premultiplied"),
      shape(5, 3, 2.5, 0.5, "rg8", 1, 5, 1),
      shape(131, 37, 20, 0.5, "rg8", 3, 2),
      shape(67, 33, 7.5, 0.5, "rg16", 1, 3),
      shape(41, 23, 40, 0.6, "rg16f", 3, 1),
      shape(97, 21, 9, 0.5, "rg32f", 5, 2),
      shape(18, 11, 0.5, 0.5, "rg16f", 1, 2),
      shape(5, 3, 2.5, 0.5, "rgb8", 1, 5, 1),
      shape(131, 37, 20, 0.5, "rgb8", 2, 1),
      shape(67, 33, 7.5, 0.5, "rgb16", 1, 2),
      shape(41, 23, 40, 0.6, "rgb16f", 2, 1),
      shape(97, 21, 9, 0.5, "rgb32f", 1, 2),
      shape(18, 11, 0.5, 0.5, "rgb16f", 1, 2),
      shape(67, 21, 9, 0.5, "rg8", 2, 3, false, "straight"),
      shape(29, 37, 5, 0.6, "rg32f", 0, 1, false, "straight"),
  };
  recipe.bench_shapes = {
      shape(1920, 1080, 64, 0.5, "rgba32f"),
      shape(1920, 1080, 64, 0.5, "rgba8"),
      shape(3840, 2160, 64, 0.5, "rgba32f"),
      shape(3840, 2160, 64, 0.5, "rgba8"),
      shape(512, 512, 64, 0.5, "rgba32f"),
      shape(3840, 2160, 64, 0.5, "rgba8", 0, 0, false, "straight"),
      shape(1920, 1080, 5, 0.5, "rgba32f"),
      shape(3840, 2160, 5, 0.5, "rgba8"),
  };
  recipe.quick_shape = shape(256, 144, 64, 0.5, "rgba32f");
  return recipe;
}

}  // namespace clcook::cookbook
