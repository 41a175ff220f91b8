// What the Gaussian blur and its methods share: the problem, what a method promises, what it does.
//
// A method is a way to blur: a variant. It lives in one header of this folder and one kernel file
// of kernels/gaussian_blur/, and has one row in methods.hpp. Applications include
// <clcook/gaussian_blur.hpp>.
#pragma once

#include <algorithm>
#include <array>
#include <clcook/core/border.hpp>
#include <clcook/core/defines.hpp>
#include <clcook/core/embedded_file.hpp>
#include <clcook/core/error.hpp>
#include <clcook/core/image_staging.hpp>
#include <clcook/core/inline.hpp>
#include <clcook/core/kernel_types.hpp>
#include <clcook/core/launch.hpp>
#include <clcook/core/math.hpp>
#include <clcook/core/pixel.hpp>
#include <clcook/core/plan.hpp>
#include <clcook/core/quirks.hpp>
#include <clcook/core/runtime.hpp>
#include <clcook/core/source.hpp>
#include <clcook/core/view.hpp>
#include <cstddef>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace clcook::gaussian {

// What a channel of a pixel is stored as. Arithmetic is in float, unless a method says otherwise.
using Pixel = Channel;
using clcook::channel_bytes;
using clcook::is_integer;

using clcook::Alpha;
using clcook::Border;  // Border::constant is Problem::outside

// Problem::pixel: a PixelType. For a version more it may be a Channel, with Problem::channels beside it.
class ProblemPixel {
 public:
  constexpr ProblemPixel() = default;
  constexpr ProblemPixel(PixelType type)  // NOLINT(google-explicit-constructor)
      : channel_(channel_of(type)), type_(type), is_type_(true) {}
  [[deprecated("say PixelType::rgb8 in the place of Channel::u8 and channels = 3")]]  //
  constexpr ProblemPixel(Channel channel)  // NOLINT(google-explicit-constructor)
      : channel_(channel) {}

  constexpr operator Channel() const { return channel_; }  // NOLINT(google-explicit-constructor)
  // Whether it is a PixelType, and which; else Problem::channels counts.
  constexpr bool is_type() const { return is_type_; }
  constexpr PixelType type() const { return type_; }

 private:
  Channel channel_ = Channel::f32;
  PixelType type_ = PixelType::rgba32f;
  bool is_type_ = false;
};

struct Problem {
  int width = 0;         // pixels, 1 to kMaxSize
  int height = 0;        // pixels, 1 to kMaxSize
  double sigma_x = 0;    // standard deviation along rows, pixels, 0 to kMaxSigma; 0: no blur
  double sigma_y = 0;    // along columns
  ProblemPixel pixel{};  // a PixelType; rgba32f
  int channels = 4;      // of the old way of `pixel` alone, 1 to 4
  Border border = Border::clamp;
  std::array<float, 4> outside{};  // of the border mode constant, by channel, in units of the type
  double truncate = 4;  // the filter ends at floor(truncate sigma + 1/2) pixels; 0.5 to 8
  double quality = 60;  // dB of PSNR that a method must promise, see psnr_of()
  // Float and half pictures: the largest absolute value, to which the PSNR refers, and a promise
  // that all values are finite. 0 promises nothing: the plan then takes only methods with which NaN
  // and infinity spread no further than the filter reaches, and the PSNR refers to 1.
  double peak = 0;
  int batch = 1;          // equal pictures, one below the other at one pitch
  bool in_place = false;  // src and dst of a call may overlap: takes only methods that allow it
  // For a volume: the number of its slices of `height` rows, one below the other, 1 to kMaxSize. A
  // slice has at most kMaxSize pixels. The volumes of a batch lie one below the other.
  int depth = 1;
  double sigma_z = 0;  // along z, from slice to slice
  // What the last of 2 or 4 channels is. Straight alpha goes from 0 to 1, or to the largest
  // integer. A pixel then has the weight of its alpha in the colours, and so has `outside`. The
  // promises and the peak refer to colours times alpha. Premultiplied colours are blurred like any
  // channel.
  Alpha alpha = Alpha::none;
};

inline constexpr int kMaxSize = 1 << 28;
// Pixels from the centre of the longest filter.
inline constexpr int kMaxFilterRadius = 4000;
// Of the method fused: pixels from the centre of the longest filter, work-items of a group.
inline constexpr int kMaxFusedRadius = 10;
inline constexpr int kFusedGroup = 128;
inline constexpr double kMaxSigma = 500;
inline constexpr double kMostQuality = 1000;

using clcook::channels_of;
inline int channels_of(const Problem& p) {
  return p.pixel.is_type() ? channels_of(p.pixel.type()) : p.channels;
}
inline PixelType type_of(const Problem& p) { return pixel_type(p.pixel, channels_of(p)); }

inline bool is_volume(const Problem& p) { return p.depth > 1 || p.sigma_z > 0; }

// Pixels of a picture, or whole slices of a volume.
struct Region {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
  int z = 0;
  int depth = 1;
};

// One axis of the filter.
struct FilterAxis {
  double sigma = 0;  // of taps that are no Gaussian 0
  int radius = 0;
  std::vector<double> weights;  // of the taps 0 .. radius
  std::vector<double> before;   // of the taps -1 .. -radius; empty: those of 1 .. radius
  double sum = 1;               // of the whole filter

  int taps() const { return 2 * radius + 1; }
  double at(int k) const {
    return k < 0 && !before.empty() ? before[static_cast<std::size_t>(-k - 1)]
                                    : weights[static_cast<std::size_t>(std::abs(k))];
  }
};

inline int filter_radius(double sigma, double truncate) {
  return static_cast<int>(math::floor(truncate * sigma + 0.5));
}

inline FilterAxis make_axis(double sigma, double truncate) {
  FilterAxis out;
  out.sigma = sigma;
  out.radius = filter_radius(sigma, truncate);
  double sum = 0;
  for (int k = 0; k <= out.radius; ++k) {
    const double d = k == 0 ? 0 : k / sigma;
    out.weights.push_back(math::exp(-d * d / 2));
    sum += (k == 0 ? 1 : 2) * out.weights.back();
  }
  for (double& weight : out.weights) weight /= sum;
  return out;
}

struct Axes {
  FilterAxis x;
  FilterAxis y;
  FilterAxis z;
};

inline Axes make_axes(const Problem& p) {
  const FilterAxis x = make_axis(p.sigma_x, p.truncate);
  const bool round = !(p.sigma_x < p.sigma_y || p.sigma_x > p.sigma_y);
  return {x, round ? x : make_axis(p.sigma_y, p.truncate), make_axis(p.sigma_z, p.truncate)};
}

// A problem with its filter, which is made once.
struct Filtered : Problem {
  Filtered(const Problem& p)  // NOLINT(google-explicit-constructor)
      : Filtered(p, make_axes(p)) {}
  Filtered(const Problem& p, Axes filter)
      : Problem(p), axes(std::make_shared<const Axes>(std::move(filter))) {
    channels = channels_of(p);
  }

  std::shared_ptr<const Axes> axes;
};

inline std::size_t pixel_bytes(const Problem& p) {
  return channel_bytes(p.pixel) * static_cast<std::size_t>(channels_of(p));
}
// The value that counts as 1 in a PSNR.
inline double peak_of(const Problem& p) {
  return p.peak > 0 && !is_integer(p.pixel) ? p.peak : static_cast<double>(top_of(p.pixel));
}
inline bool is_straight(const Problem& p) { return p.alpha == Alpha::straight; }
// What is outside of the picture, as kernels add it up.
inline std::array<float, 4> weighted_outside(const Problem& p) {
  return is_straight(p) ? weighted_by_alpha(p.outside, p.pixel, channels_of(p)) : p.outside;
}

// Whether values may be NaN, infinite or of any size, those outside of the picture too. What a colour
// is under alpha 0 does not matter.
inline bool may_be_anything(const Problem& p) {
  if (!is_integer(p.pixel) && p.peak <= 0) return true;
  const std::array<float, 4> outside = weighted_outside(p);
  for (int c = 0; is_constant(p.border) && c < channels_of(p); ++c)
    if (!math::isfinite(outside[static_cast<std::size_t>(c)])) return true;
  return false;
}

// Whether all values are from 0 to the peak, those outside of the picture too. If the sum of the
// weights is right, their errors then count half: the positive and the negative ones have the same
// sum, and no value is negative.
inline bool is_from_zero(const Problem& p) {
  if (!is_integer(p.pixel)) return false;
  if (!is_constant(p.border)) return true;
  for (const float value : p.outside) {
    if (!math::is_within(static_cast<double>(value), 0, peak_of(p))) return false;
  }
  return true;
}

// Whether the pixel type has all weighted means of the picture's values and of those outside, but for
// rounding. Infinities that half has from the start aside.
inline bool holds_outside(const Problem& p) {
  constexpr double kMostHalf = 65504;
  if (is_integer(p.pixel)) return is_from_zero(p);
  if (p.pixel != Pixel::f16 || !is_constant(p.border)) return true;
  const std::array<float, 4> outside = weighted_outside(p);
  for (int c = 0; c < channels_of(p); ++c) {
    const auto value = std::abs(static_cast<double>(outside[static_cast<std::size_t>(c)]));
    if (math::isfinite(value) && value > kMostHalf) return false;
  }
  return true;
}

// The PSNR of results whose largest error is `max_error`, in units of the peak, before they are
// rounded to the pixel type. Some pictures have nearly this error in every pixel, so no more is
// promised.
inline double psnr_of(double max_error) { return -20 * math::log10(std::max(max_error, 1e-12)); }

// The largest rounding of a result to the pixel type, in units of the type; of colours times alpha
// that of both.
inline double rounding_of(const Problem& p) {
  const double stored = is_integer(p.pixel)     ? 0.5
                        : p.pixel == Pixel::f16 ? std::max(peak_of(p) * 0x1p-11, 0x1p-25)
                                                : peak_of(p) * 0x1p-24;
  return is_straight(p) ? 2 * stored : stored;
}

// What straight alpha adds to an error, in units of the peak.
inline double alpha_roundings(const Problem& p) { return is_straight(p) ? kAlphaRoundings : 0; }

// The offer of a method whose only error is the rounding of its float sums. Each pass adds as many
// products as taps, with weights rounded to float, and the rows are rounded once more between the
// passes: at most as many roundings of 2^-24 as taps, and 8.
inline Offer rounding_offer(const Axes& axes, const Work& work) {
  Offer out;
  out.max_error = (axes.x.taps() + axes.y.taps() + 8) * 0x1p-24;
  out.work = work;
  return out;
}

// One checked call. Its kernels are made with `runtime`. Offsets and pitches are in bytes. `src` is where pixel (0, 0) of the first
// picture lies, `dst` where the region's first pixel goes. The pictures of a batch follow each
// other: height rows each in src, region.height rows each in dst.
struct Call {
  const Runtime& runtime;
  CallScope* scope;  // null: the method uses no scratch memory
  CheckedView src;
  CheckedView dst;
  Region region;
};

// Memory of a plan that its methods share. It grows, and stays when sigma changes. The calls of a
// plan use it one after the other.
class Scratch {
 public:
  cl::Buffer get(const Runtime& runtime, std::size_t index, std::size_t bytes) {
    if (buffers_.size() <= index) buffers_.resize(index + 1);
    Entry& entry = buffers_[index];
    if (entry.bytes < bytes) {
      entry.buffer = create_buffer(runtime, bytes);
      entry.bytes = bytes;
    }
    return entry.buffer;
  }

  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const Entry& entry : buffers_) sum += entry.bytes;
    return sum;
  }

 private:
  struct Entry {
    cl::Buffer buffer;
    std::size_t bytes = 0;
  };
  std::vector<Entry> buffers_;
};

// A method made for a problem: programs built, weights on the device.
class Method {
 public:
  Method() = default;
  Method(const Method&) = delete;
  Method& operator=(const Method&) = delete;
  virtual ~Method() = default;

  // Enqueues the blur behind `wait` and returns the last event; commands may use `scratch`. Called
  // by one thread at a time, unless uses_scratch() is false.
  virtual cl::Event enqueue(const Call& call, Scratch& scratch,
                            const std::vector<cl::Event>& wait) = 0;
  // Whether commands use `scratch`; if so, the calls of a plan run one after the other.
  virtual bool uses_scratch() const { return true; }
  // The passes, such as "rows and columns, 129 and 65 taps".
  virtual std::string describe() const = 0;

  // Where a picture may be cut into windows of rows whose results are those of the whole picture:
  // at multiples of `step`. A window must extend `beyond` rows further than the filter reaches.
  struct Cut {
    int step = 1;
    int beyond = 0;
  };
  virtual Cut cut() const { return {}; }
};

// What a method works out for a problem when it makes its offer, and needs again when it is made.
struct Design : clcook::Design {
  // `programs` are those of the offer's units.
  virtual std::unique_ptr<Method> make(const Runtime& runtime,
                                       const std::vector<cl::Program>& programs) const = 0;
};

// Of methods that need nothing again.
struct NoDesign {};

// The design of the method M, with the problem and its filter.
template <class M>
struct DesignOf : Design {
  explicit DesignOf(const Filtered& p) : problem(p) {}

  std::unique_ptr<Method> make(const Runtime& runtime,
                               const std::vector<cl::Program>& programs) const override {
    return std::make_unique<M>(runtime, problem, *problem.axes, own, programs);
  }

  Filtered problem;
  typename M::Design own;
};

// The method behind an offer.
inline std::unique_ptr<Method> made(const Offer& offer, const Runtime& runtime,
                                    const std::vector<cl::Program>& programs) {
  return static_cast<const Design&>(*offer.design).make(runtime, programs);
}

// What the method M offers, with its design.
template <class M>
Offer offer_of(const Runtime& runtime, const Filtered& p) {
  const auto design = std::make_shared<DesignOf<M>>(p);
  Offer out = M::offer(runtime, p, *p.axes, design->own);
  out.design = design;
  return out;
}

// The rows of the source that the rows of a region need. All of them where the border repeats the
// far side.
using RowRange = KernelRows;
inline RowRange rows_needed(const Problem& p, const Region& region, int radius) {
  const long begin = static_cast<long>(region.y) - radius;
  const long end = static_cast<long>(region.y) + region.height + radius;
  if (repeats_far_side(p.border) && (begin < 0 || end > p.height)) return {0, p.height};
  const long first = std::max(begin, 0L);
  return {static_cast<int>(first), static_cast<int>(std::min<long>(end, p.height) - first)};
}

// What kernels read or write: the problem's pixels, or what lies between passes, whose colours are
// weighted by alpha already.
struct Stored {
  Pixel pixel;
  bool is_straight;
};
inline Stored stored_of(const Problem& p) { return {p.pixel, is_straight(p)}; }
inline constexpr Stored kBetweenPasses{Pixel::f32, false};

// Definitions for pixel.clh and alpha.clh.
inline void set_pixel(Defines& defines, const Problem& p, const Stored& stored) {
  clcook::set_pixel(defines, stored.pixel, channels_of(p));
  if (stored.is_straight) set_straight_alpha(defines, stored.pixel);
}
inline void set_pixel(Defines& defines, const Problem& p) { set_pixel(defines, p, stored_of(p)); }

// Whether a pass along rows with one tap can be left out, because the source is what it would
// write: a picture of floats without gaps, which no later pass changes before it has been read.
inline bool rows_are_there(const Problem& p, const Call& call, const Stored& stored, int radius) {
  return radius == 0 && stored.pixel == Pixel::f32 && !stored.is_straight && call.src.offset == 0 &&
         call.src.pitch == call.src.row_bytes && call.region.x == 0 &&
         call.region.width == p.width && !overlap(call.src, call.dst);
}

// Values as floats on the device, such as the weights 0 .. radius of an axis.
inline cl::Buffer upload_floats(const Runtime& runtime, const std::vector<double>& values) {
  const std::vector<float> floats(values.begin(), values.end());
  return create_buffer(runtime, floats.size() * sizeof(float), CL_MEM_READ_ONLY, floats.data());
}

// The picture and the region of a call, as the kernels take them.
inline KernelRegion kernel_region(const Region& region) {
  return {region.x, region.y, region.width, region.height};
}
// `outside_times`: the sum of the axes that the pixels went through before.
inline KernelPicture kernel_picture(const Problem& p, const Region& region,
                                    double outside_times = 1) {
  KernelPicture out;
  std::array<float, 4> outside = weighted_outside(p);
  for (float& value : outside)
    value = static_cast<float>(static_cast<double>(value) * outside_times);
  out.outside = {{outside[0], outside[1], outside[2], outside[3]}};
  out.region = kernel_region(region);
  out.width = p.width;
  out.height = p.height;
  out.border = static_cast<cl_int>(p.border);
  return out;
}

// Channels of all pictures of a problem.
inline double values_of(const Problem& p) {
  return static_cast<double>(p.width) * p.height * p.depth * channels_of(p) * p.batch;
}
// Bytes of all pictures, read or written once.
inline double bytes_of(const Problem& p) {
  return values_of(p) * static_cast<double>(channel_bytes(p.pixel));
}

// How many work-items in a row the groups of all these kernels can have: 64, or as many as device
// and kernels allow.
inline std::size_t row_group(std::initializer_list<Kernel> kernels, const DeviceInfo& device) {
  std::size_t out = 64;
  for (const Kernel& kernel : kernels) {
    const std::size_t most = std::min(kernel.max_group(), device.max_items[0]);
    while (out > most && out > 1) out /= 2;
  }
  return out;
}

// A kernel of a method with the work-items of its groups.
inline CompileUnit unit(const std::string& kernel, const embedded::File& file,
                        const Defines& defines, Launch::Sizes group,
                        const std::string& options = {}) {
  return {kernel, "", Source(file), defines, options, group, 0};
}

// What calls share: one after the other on the device, also those before set_sigma().
struct Memory {
  CallOrder call_order;
  Scratch scratch;
  ImageStaging staging;
};

// What a call needs of its plan.
struct PlanCall {
  const Runtime& runtime;
  const Problem& problem;
  Method& method;
  Memory& memory;
  bool in_place;        // see Offer
  const char* variant;  // for messages
  const char* where;

  Region whole() const { return {0, 0, problem.width, problem.height, 0, problem.depth}; }

  // As the plans' operator() say.
  cl::Event operator()(const BufferView& src, const BufferView& dst, const Region& region,
                       const std::vector<cl::Event>& wait) const;
  cl::Event operator()(const ImageView& src, const ImageView& dst,
                       const std::vector<cl::Event>& wait) const;

 private:
  RowLayout layout(const Region& region) const;
  void check_region(const Region& r) const;
};

// What the plans share; its rows are in methods.hpp.
struct Spec : PlainSpec {
  using Problem = gaussian::Problem;
  struct Tune {};
  using Derived = Filtered;
  using Design = gaussian::Design;
  // A method: what it offers, and its kernels.
  struct Traits {
    Offer (*offer)(const Runtime&, const Filtered&);
    std::vector<CompileUnit> (*units)(const Problem&, const Axes&, const DeviceInfo&);
    bool is_composed = false;        // has the kernels of others too, which its offer lists
    const char* no_alpha = nullptr;  // why it has no straight alpha
  };
  struct Resources {
    std::unique_ptr<Method> method;
  };
  using Row = VariantRow<Spec>;
  static constexpr const char* kName = "GaussianBlur";
  static constexpr const char* kRecipe = "gaussian_blur";
  static constexpr bool kChecksMemory = true;
  static constexpr bool kByCost = true;  // the best method depends on sigma

  // The baseline first.
  static const std::vector<Row>& variants();

  static std::vector<Axis<Tune>> axes() { return {}; }
  static double bytes(const Problem& p) { return 2 * bytes_of(p); }

  // Throws Error(invalid_argument) that names the value and the rule.
  static void check(const Problem& p);

  // By the type of the channels, and by radius. Halves count as floats, shorts as bytes.
  static std::vector<std::string> tuning_names(const Problem& p);

  static std::shared_ptr<const Design> derive(const Setup<Spec>&) { return nullptr; }  // offer()
  static Offer offer(const Runtime& runtime, const Setup<Spec>& s);
  static std::vector<CompileUnit> units(const Setup<Spec>& s);
  static Resources allocate(const Runtime& runtime, const Setup<Spec>& s,
                            const std::vector<cl::Program>& programs);
};

}  // namespace clcook::gaussian
