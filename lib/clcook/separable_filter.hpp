// A separable filter with taps of your own: boxes, derivatives, any product of a row and a column.
//
//   clcook::SeparableFilter::Problem problem;
//   problem.width = 1920;
//   problem.height = 1080;
//   problem.taps_x = {-1, 0, 1};  // Sobel, along the rows; from left to right
//   problem.taps_y = {1, 2, 1};   // from top to bottom
//   const cl::Buffer src = clcook::create_buffer(runtime, 1920 * 1080 * 16);  // four floats each
//   const cl::Buffer dst = clcook::create_buffer(runtime, 1920 * 1080 * 16);
//   clcook::SeparableFilter sobel{runtime, problem};
//   cl::Event done = sobel(src, dst, {uploaded});
//
// A result is the sum of taps_y[j] taps_x[i] times the pixel at (x + i - radius_x, y + j - radius_y),
// as OpenCV's sepFilter2D and SciPy's correlate1d have it, for each channel by itself. Integers are
// rounded and end at 0 and at their largest value, so that the negative half of a derivative is lost in
// them: take a float type for it. The kernels are those of the Gaussian blur.
#pragma once

#include <array>
#include <clcook/core/border.hpp>
#include <clcook/core/inline.hpp>
#include <clcook/core/pixel.hpp>
#include <clcook/core/plan.hpp>
#include <clcook/core/runtime.hpp>
#include <clcook/core/view.hpp>
#include <clcook/gaussian_blur/method.hpp>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace clcook {
namespace separable_filter {

struct Problem {
  int width = 0;   // pixels, 1 to kMaxSize
  int height = 0;  // pixels, 1 to kMaxSize
  // An odd number of finite taps, at most kMaxTaps, the centre in the middle. {1}: nothing along it.
  std::vector<float> taps_x{1};
  std::vector<float> taps_y{1};
  PixelType pixel = PixelType::rgba32f;
  Border border = Border::clamp;
  // Of the border mode constant, by channel, in units of the type; of integers finite.
  std::array<float, 4> outside{};
  bool in_place = false;  // src and dst of a call may overlap: takes only methods that allow it
};

inline constexpr int kMaxSize = gaussian::kMaxSize;
inline constexpr int kMaxRadius = gaussian::kMaxFilterRadius;
inline constexpr int kMaxTaps = 2 * kMaxRadius + 1;

// A problem as the methods of the blur take it.
struct Filtered : Problem {
  Filtered(const Problem& p);  // NOLINT(google-explicit-constructor)

  gaussian::Filtered blur;
  double gain;    // the largest result of a picture whose values are within 1
  double gain_y;  // of the columns alone
};

struct Spec : PlainSpec {
  using Problem = separable_filter::Problem;
  struct Tune {};
  using Derived = Filtered;
  using Design = gaussian::Design;
  // A method of the blur.
  struct Traits {
    Offer (*offer)(const Runtime&, const gaussian::Filtered&);
    std::vector<CompileUnit> (*units)(const gaussian::Problem&, const gaussian::Axes&,
                                      const DeviceInfo&);
  };
  using Resources = gaussian::Spec::Resources;
  using Row = VariantRow<Spec>;
  static constexpr const char* kName = "SeparableFilter";
  static constexpr const char* kRecipe = "separable_filter";
  static constexpr bool kChecksMemory = true;
  static constexpr bool kByCost = true;

  static const std::vector<Row>& variants();
  static std::vector<Axis<Tune>> axes() { return {}; }
  static double bytes(const Problem& p) {
    return 2.0 * p.width * p.height * static_cast<double>(pixel_bytes(p.pixel));
  }
  static void check(const Problem& p);
  static std::shared_ptr<const Design> derive(const Setup<Spec>&) { return nullptr; }  // offer()
  static Offer offer(const Runtime& runtime, const Setup<Spec>& s);
  static std::vector<CompileUnit> units(const Setup<Spec>& s);
  static Resources allocate(const Runtime& runtime, const Setup<Spec>& s,
                            const std::vector<cl::Program>& programs);
};

}  // namespace separable_filter

// A plan: constructed once, called often. Thread-safe as Plan says. Calls enqueue and return; those of a
// plan and its copies share scratch memory and therefore run one after the other on the device.
class SeparableFilter : public Plan<separable_filter::Spec> {
 public:
  using Border = clcook::Border;
  using Region = gaussian::Region;

  static constexpr int kMaxSize = separable_filter::kMaxSize;
  static constexpr int kMaxTaps = separable_filter::kMaxTaps;

  // The taps of a mean over 2 radius + 1 pixels, for taps_x and taps_y. Throws Error(invalid_argument)
  // for a radius that is not 0 to (kMaxTaps - 1) / 2.
  static std::vector<float> box(int radius);

  // Throws Error: invalid_argument for a value out of range; unsupported if the device or the method
  // cannot serve the problem; build_failed.
  explicit SeparableFilter(const Runtime& runtime, const Problem& problem, Variant variant = {})
      : Plan(runtime, problem, variant) {}

  // Enqueues the filter of `src` into `dst` behind the events of `wait` and returns the last event.
  // Offsets and pitches are multiples of the pixel size, with 3 channels of the channel size. The views
  // may overlap if the method allows it, see in_place(). Throws Error(invalid_argument), with nothing
  // enqueued, when a view breaks a rule.
  cl::Event operator()(const BufferView& src, const BufferView& dst,
                       const std::vector<cl::Event>& wait = {}) const {
    return call()(src, dst, call().whole(), wait);
  }
  cl::Event operator()(const BufferView& src, const BufferView& dst,
                       std::initializer_list<cl::Event> wait) const {
    return call()(src, dst, call().whole(), wait);
  }
  // Filters `region` alone. `src` is the whole picture; `dst` is region.height rows of region.width
  // pixels.
  cl::Event operator()(const BufferView& src, const BufferView& dst, const Region& region,
                       const std::vector<cl::Event>& wait = {}) const {
    return call()(src, dst, region, wait);
  }
  // The same on images, as of GaussianBlur.
  cl::Event operator()(const ImageView& src, const ImageView& dst,
                       const std::vector<cl::Event>& wait = {}) const {
    return call()(src, dst, wait);
  }

  // Whether src and dst of a call may overlap.
  bool in_place() const { return offer().in_place; }
  // What the method promises, which follows from the taps, in units of the pixel type: before a value
  // is rounded to the type, it is at most max_error() from the exact filter, and after that at most
  // max_distance() from the exact result, brought between 0 and the largest value of an integer type.
  // Float types: of pictures whose values are within 1, and in proportion of others.
  double max_error() const;
  double max_distance() const;

 private:
  gaussian::PlanCall call() const;

  std::shared_ptr<gaussian::Memory> memory_ = std::make_shared<gaussian::Memory>();
};

CLCOOK_PLAN(separable_filter::Spec);

}  // namespace clcook

#if CLCOOK_DEFINITIONS
#include <clcook/gaussian_blur/impl_taps.hpp>
#endif
