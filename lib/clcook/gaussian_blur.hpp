// Gaussian blur for use: any sigma, no recompilation, the best method for the device.
//
//   clcook::GaussianBlur blur{runtime, {width, height, sigma_x, sigma_y}};
//   cl::Event done = blur(src, dst, {uploaded});
//
// The exact filter has the weights exp(-k^2 / (2 sigma^2)), |k| <= floor(truncate sigma + 1/2),
// normalised to a sum of 1, along the rows and then along the columns. Every method states how far
// from it a result can be, of any picture within the peak; `automatic` takes the cheapest that
// promises Problem::quality, and describe() says which and why.
#pragma once

#include <clcook/core/border.hpp>
#include <clcook/core/error.hpp>
#include <clcook/core/inline.hpp>
#include <clcook/core/plan.hpp>
#include <clcook/core/runtime.hpp>
#include <clcook/core/view.hpp>
#include <clcook/gaussian_blur/method.hpp>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clcook {

class StripPipeline;
struct StripReport;

// A plan: constructed once, called often. Thread-safe as Plan says.
//
// Construction chooses the method, builds its programs or takes them from the runtime's cache, and
// uploads the weights. The programs depend neither on sigma nor on the size of the picture. Calls
// enqueue and return; they never block on the device. Calls of a plan and its copies share scratch
// memory and therefore run one after the other on the device. set_sigma() and build_for() may not
// run at the same time as other calls of the same object; copies keep their sigma.
//
// Each channel is blurred alone, unless Problem::alpha says that the last one is straight alpha.
// Then colours are multiplied by alpha as they are read, and divided by the blurred alpha as they
// are written; otherwise colours next to transparent pixels would come out wrong. A colour under
// alpha 0 does not count, and where the blurred alpha is 0 the colours are 0. The border constant
// is then a straight colour with its alpha: {} is transparent, so colours stay the same up to the
// rim and alpha falls. Premultiplied colours need nothing of this.
class GaussianBlur : public Plan<gaussian::Spec> {
 public:
  using Pixel = gaussian::Pixel;
  using Border = gaussian::Border;
  using Alpha = gaussian::Alpha;
  using Region = gaussian::Region;

  static constexpr int kMaxSize = gaussian::kMaxSize;
  static constexpr double kMaxSigma = gaussian::kMaxSigma;

  // Throws Error: invalid_argument for a value out of range; unsupported if the device or the
  // method cannot serve the problem, or if no method promises the quality (the message then names
  // the best possible); build_failed.
  explicit GaussianBlur(const Runtime& runtime, const Problem& problem, Variant variant = {})
      : Plan(runtime, problem, variant), wanted_(variant) {}

  // Enqueues the blur of `src` into `dst` behind the events of `wait` and returns the last event.
  // Offsets and pitches are multiples of the pixel size, with 3 channels of the channel size. The
  // pictures of a batch, and the slices of a volume, lie one below the other at one pitch; for a
  // volume, rows without gaps save copies. The views may overlap if the method allows it, see
  // in_place(). Throws Error(invalid_argument), with nothing enqueued, when a view breaks a rule.
  cl::Event operator()(const BufferView& src, const BufferView& dst,
                       const std::vector<cl::Event>& wait = {}) const;
  // So that {} is an empty wait list, as in every operation, and no region.
  cl::Event operator()(const BufferView& src, const BufferView& dst,
                       std::initializer_list<cl::Event> wait) const;

  // Blurs `region` alone. `src` is the whole picture, which is read around the region too; `dst` is
  // region.height rows of region.width pixels. In a volume a region has whole slices.
  cl::Event operator()(const BufferView& src, const BufferView& dst, const Region& region,
                       const std::vector<cl::Event>& wait = {}) const;

  // The same on images of CL_R, CL_RG or CL_RGBA with the channel type of the problem: for u8
  // CL_UNORM_INT8 or CL_UNSIGNED_INT8, for u16 CL_UNORM_INT16 or CL_UNSIGNED_INT16, CL_HALF_FLOAT,
  // CL_FLOAT. No batch. The pixels go through buffers of the plan, so src and dst may be the same.
  cl::Event operator()(const ImageView& src, const ImageView& dst,
                       const std::vector<cl::Event>& wait = {}) const;

  // Sets another sigma from the next call on. Calls that are enqueued keep theirs. Compiles
  // nothing: takes the best of the methods that this plan has built and that promise the quality.
  // Call build_for() before to have the best of all. Throws Error as the constructor does, and
  // leaves the plan as it was; unsupported if none of the built methods can.
  void set_sigma(double sigma_x, double sigma_y);

  // Builds the programs that automatic would take for this sigma, so that set_sigma() can choose
  // them. Throws Error as the constructor does.
  void build_for(double sigma_x, double sigma_y);

  // Whether src and dst of a call may overlap.
  bool in_place() const { return offer().in_place; }
  // What the method promises for any picture within the peak: 255 or 65535 for integers, otherwise
  // Problem::peak, or 1 if that is 0. Before a value is rounded to the pixel type, its distance
  // from the exact filter is at most max_error(), in units of the pixel type, and the PSNR is at
  // least psnr(). After rounding the distance is at most max_distance(): max_error() plus the
  // rounding, half a unit for integers. Do not compare with the rounded exact result: where it lies
  // near a half, even the smallest difference rounds to the other integer.
  double max_error() const { return offer().max_error * gaussian::peak_of(problem()); }
  double max_distance() const { return max_error() + gaussian::rounding_of(problem()); }
  double psnr() const { return offer().psnr; }
  // Bytes of the scratch memory that calls on buffers have taken so far. The plan and its copies
  // keep it. Not at the same time as a call.
  std::size_t scratch_bytes() const { return memory_->scratch.bytes(); }
  // The largest Problem::quality that automatic can promise for such a problem on this device;
  // `problem`'s own does not count. Throws Error(invalid_argument) as the constructor does.
  static double best_quality(const Runtime& runtime, Problem problem);

  // The method, what it does and promises, why the plan took it, and why not the others; a line
  // each.
  std::string describe() const;

  // In <clcook/gaussian_blur_strips.hpp>, which such a program includes.
  //
  // Blurs a picture in host memory, as large as that may be, strip by strip: `src` and `dst` hold the
  // rows of `width` pixels of the whole batch at these pitches in bytes (0: without gaps). Strips
  // of `strip_rows` rows (0: chosen for the bus and the devices; whole slices of volumes) go to the
  // pipeline's devices as these get ready, with the rows around them that the filter reaches.
  // Upload, computation and download run at the same time. `progress` receives the number of rows
  // that are done; `each` is StripWork's. The memories must not overlap. Blocks until dst is written.
  //
  // Each device takes the method that it would take for the whole picture. The result is that of
  // the whole picture: bit for bit with methods that compute the filter itself in float, within
  // their rounding and promise with the others. Throws Error as the constructor and
  // StripPipeline::run() do, which says what becomes of a device that fails.
  static StripReport by_strips(StripPipeline& pipeline, const Problem& problem, const void* src,
                               std::size_t src_pitch, void* dst, std::size_t dst_pitch,
                               int strip_rows = 0,
                               const std::function<void(std::size_t rows_done)>& progress = {},
                               Variant variant = {},
                               const std::function<void(std::size_t, std::size_t)>& each = {});

  // The same on one device, with a pipeline for this call alone.
  static StripReport by_strips(const Runtime& runtime, const Problem& problem, const void* src,
                               std::size_t src_pitch, void* dst, std::size_t dst_pitch,
                               int strip_rows = 0,
                               const std::function<void(int rows_done)>& progress = {});

  static const char* to_string(Pixel pixel) {
    return name_of(kChannels, pixel, kName, "pixel type");
  }
  static const char* to_string(Border border) { return border_name(border, kName); }

  // The value of that name. Throws Error(invalid_argument) that lists the names.
  static Pixel parse_pixel(std::string_view name);
  static Border parse_border(std::string_view name) { return clcook::parse_border(name, kName); }

 private:
  static constexpr const char* kName = "GaussianBlur";

  Problem with_sigma(double sigma_x, double sigma_y) const;

  gaussian::PlanCall call() const;

  // How a picture is cut into windows for strips, see by_strips().
  struct Windows {
    int rows;       // of a window; only the last ones of the picture have fewer
    int strip;      // rows of a strip
    int margin;     // rows of a window above its strip, unless the picture ends there
    int step;       // windows begin at multiples of this
    bool periodic;  // windows go on beyond the picture's rows
    // First row of the window of the strip that begins with row y.
    int begin(int y, int height) const;
  };
  static Windows make_windows(const StripPipeline& pipeline, const Problem& p, int strip_rows,
                              const std::vector<gaussian::Method::Cut>& cuts);

  Variant wanted_;
  std::shared_ptr<gaussian::Memory> memory_ = std::make_shared<gaussian::Memory>();
};

CLCOOK_PLAN(gaussian::Spec);

}  // namespace clcook

#if CLCOOK_DEFINITIONS
#include <clcook/gaussian_blur/impl.hpp>
#endif
