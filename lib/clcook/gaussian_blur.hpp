// Gaussian blur for use: any sigma, no recompilation, the best method for the device.
//
//   clcook::GaussianBlur blur{runtime, {1920, 1080, 12.0, 12.0}};
//   cl::Event done = blur(src, dst, {uploaded});
//
// The exact filter has the weights exp(-k^2 / (2 sigma^2)), |k| <= floor(truncate sigma + 1/2),
// normalised to a sum of 1, along the rows and then along the columns. Every method states how far
// from it a result can be; `automatic` takes the cheapest that promises Problem::quality, and
// describe() says which and why.
#pragma once

#include <algorithm>
#include <clcook/core/border.hpp>
#include <clcook/core/error.hpp>
#include <clcook/core/names.hpp>
#include <clcook/core/runtime.hpp>
#include <clcook/core/view.hpp>
#include <clcook/gaussian_blur/method.hpp>
#include <clcook/gaussian_blur/methods.hpp>
#include <cstddef>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace clcook {

// A plan: constructed once, called often.
//
// Construction chooses the method, builds its programs (or takes them from the runtime's cache:
// sigma and the size of the picture are no part of them) and uploads the weights. Calls enqueue and
// return; they never block on the device. Calls may come from several threads; they share the
// plan's scratch memory and therefore run one after the other on the device. set_sigma() and
// build_for() may not run beside anything else. A plan can be moved, not copied.
class GaussianBlur {
 public:
  using Pixel = gaussian::Pixel;
  using Border = gaussian::Border;
  using Problem = gaussian::Problem;
  using Region = gaussian::Region;
  using Variant = gaussian::Variant;

  static constexpr int kMaxSize = gaussian::kMaxSize;
  static constexpr double kMaxSigma = gaussian::kMaxSigma;

  // Throws Error: invalid_argument for a value out of range; unsupported where the device or the
  // method cannot serve the problem, or no method reaches the quality; build_failed.
  explicit GaussianBlur(const Runtime& runtime, const Problem& problem,
                        Variant variant = Variant::automatic)
      : state_(std::make_unique<State>(runtime, problem, variant)) {
    check_problem(problem);
    to_string(variant);  // refuses a value that is no variant
    const gaussian::Axes axes = axes_of(problem);
    choose(*state_, axes, false);
  }

  // Enqueues the blur of `src` into `dst` behind the events of `wait` and returns the last event.
  // Offsets and pitches are multiples of the pixel size, with 3 channels of the channel size. A
  // batch is one picture below the other at one pitch. The views may overlap where the method
  // allows it, see in_place(). Throws Error(invalid_argument), with nothing enqueued, when a view
  // breaks a rule.
  cl::Event operator()(const BufferView& src, const BufferView& dst,
                       const std::vector<cl::Event>& wait = {}) const {
    return (*this)(src, dst, whole(), wait);
  }
  // So that {} is an empty wait list, as in every operation, and no region.
  cl::Event operator()(const BufferView& src, const BufferView& dst,
                       std::initializer_list<cl::Event> wait) const {
    return (*this)(src, dst, whole(), wait);
  }

  // Of `region` alone: the views are the whole picture, which is read around the region too, and
  // region.height rows of region.width pixels.
  cl::Event operator()(const BufferView& src, const BufferView& dst, const Region& region,
                       const std::vector<cl::Event>& wait = {}) const {
    State& state = *state_;
    check_region(state.problem, region);
    gaussian::Call call;
    call.region = region;
    call.src =
        check_view(state.runtime, src, layout(state.problem, whole()), Access::read, kName, "src");
    call.dst =
        check_view(state.runtime, dst, layout(state.problem, region), Access::write, kName, "dst");
    if (!state.offer.in_place && overlap(call.src, call.dst)) {
      fail(Errc::invalid_argument, kName,
           text("src (bytes ", call.src.offset, " to ", call.src.end(), ") and dst (bytes ",
                call.dst.offset, " to ", call.dst.end(), ") overlap in one buffer; the method ",
                state.info->name,
                " does not work in place: set Problem::in_place for one that does"));
    }
    check_wait(wait, kName);
    const std::lock_guard<std::mutex> lock(state.mutex);
    state.last = state.method->enqueue(call, state.scratch, chained(wait, state.last));
    return state.last;
  }

  // The same on images of CL_R, CL_RG or CL_RGBA with the channel type of the problem: for u8
  // CL_UNORM_INT8 or CL_UNSIGNED_INT8, for u16 CL_UNORM_INT16 or CL_UNSIGNED_INT16, CL_HALF_FLOAT,
  // CL_FLOAT. No batch. The pixels go through buffers of the plan, so src and dst may be the same.
  cl::Event operator()(const ImageView& src, const ImageView& dst,
                       const std::vector<cl::Event>& wait = {}) const {
    State& state = *state_;
    const gaussian::Problem& p = state.problem;
    const auto width = static_cast<std::size_t>(p.width);
    const auto height = static_cast<std::size_t>(p.height);
    if (p.channels == 3 || p.batch != 1) {
      fail(Errc::invalid_argument, kName,
           text("images have 1, 2 or 4 channels and no batch; the problem has ", p.channels,
                " channels and a batch of ", p.batch));
    }
    const cl_channel_order order = p.channels == 1 ? CL_R : p.channels == 2 ? CL_RG : CL_RGBA;
    for (const auto& [view, access, name] :
         {std::tuple(&src, Access::read, "src"), std::tuple(&dst, Access::write, "dst")}) {
      if (p.pixel == Pixel::u8) {
        check_view(state.runtime, *view, width, height,
                   {{order, CL_UNORM_INT8}, {order, CL_UNSIGNED_INT8}}, access, kName, name);
      } else if (p.pixel == Pixel::u16) {
        check_view(state.runtime, *view, width, height,
                   {{order, CL_UNORM_INT16}, {order, CL_UNSIGNED_INT16}}, access, kName, name);
      } else {
        check_view(state.runtime, *view, width, height,
                   {{order, static_cast<cl_channel_type>(p.pixel == Pixel::f16 ? CL_HALF_FLOAT
                                                                               : CL_FLOAT)}},
                   access, kName, name);
      }
    }
    check_wait(wait, kName);
    const std::lock_guard<std::mutex> lock(state.mutex);
    const RowLayout rows = layout(p, whole());
    const std::size_t bytes = rows.row_bytes * rows.rows;
    gaussian::Call call;
    call.region = whole();
    const auto staging = [&](std::size_t index) {
      return check_view(state.runtime, state.staging.get(state.runtime, index, bytes), rows,
                        Access::read, kName, "staging");
    };
    call.src = staging(0);
    call.dst = staging(1);
    const std::size_t size[3] = {width, height, 1};
    const std::size_t from[3] = {src.x, src.y, 0};
    const std::size_t to[3] = {dst.x, dst.y, 0};
    std::vector<cl_event> waits;
    for (const cl::Event& event : chained(wait, state.last)) waits.push_back(event());
    cl_event copied = nullptr;
    check(clEnqueueCopyImageToBuffer(state.runtime.queue()(), src.image(), call.src.buffer(), from,
                                     size, 0, static_cast<cl_uint>(waits.size()),
                                     waits.empty() ? nullptr : waits.data(), &copied),
          "clEnqueueCopyImageToBuffer");
    state.last = cl::Event(copied);
    state.last = state.method->enqueue(call, state.scratch, {state.last});
    const cl_event blurred = state.last();
    cl_event stored = nullptr;
    check(clEnqueueCopyBufferToImage(state.runtime.queue()(), call.dst.buffer(), dst.image(), 0, to,
                                     size, 1, &blurred, &stored),
          "clEnqueueCopyBufferToImage");
    state.last = cl::Event(stored);
    return state.last;
  }

  // Another sigma from the next call on. Calls that are enqueued keep theirs. Nothing is compiled:
  // of the methods whose programs this plan has built, the best one that promises the quality is
  // taken; build_for() makes it the best of all. Throws Error as the constructor does, and leaves
  // the plan as it was; unsupported where none of the built methods can.
  void set_sigma(double sigma_x, double sigma_y) {
    Problem next = state_->problem;
    next.sigma_x = sigma_x;
    next.sigma_y = sigma_y;
    check_problem(next);
    const std::lock_guard<std::mutex> lock(state_->mutex);
    const Problem old = state_->problem;
    state_->problem = next;
    try {
      choose(*state_, axes_of(next), true);
    } catch (...) {
      state_->problem = old;
      throw;
    }
  }

  // Builds the programs that automatic would take for this sigma, so that set_sigma() can choose
  // them. Throws Error as the constructor does.
  void build_for(double sigma_x, double sigma_y) {
    Problem next = state_->problem;
    next.sigma_x = sigma_x;
    next.sigma_y = sigma_y;
    check_problem(next);
    const gaussian::Axes axes = axes_of(next);
    const Choice choice = best(*state_, next, axes, false);
    const std::lock_guard<std::mutex> lock(state_->mutex);
    choice.info->make(state_->runtime, next, axes, choice.offer, state_->programs);
  }

  const Problem& problem() const { return state_->problem; }
  // The method that runs; never automatic.
  Variant variant() const { return state_->info->variant; }
  // Whether src and dst of a call may overlap.
  bool in_place() const { return state_->offer.in_place; }
  // What the method promises: no value of a picture within the peak is further from the exact
  // filter before it is rounded to the pixel type, in units of the pixel type; and the PSNR.
  double max_error() const { return state_->offer.max_error * gaussian::peak_of(state_->problem); }
  double psnr() const { return state_->offer.psnr; }

  // The method, what it does and promises, and what became of the others; a line each.
  std::string describe() const {
    const State& state = *state_;
    const Problem& p = state.problem;
    std::string out =
        text(state.info->name, ": ", state.method->describe(), "; ",
             gaussian::brief(state.offer.psnr), " dB for a floor of ", gaussian::brief(p.quality),
             ", about ", gaussian::brief(state.offer.cost), " us where it was measured");
    const gaussian::Axes axes = axes_of(p);
    for (const gaussian::MethodInfo& info : gaussian::methods()) {
      if (&info == state.info) continue;
      const gaussian::Offer offer = info.offer(state.runtime, p, axes);
      out += text("\n", info.name, ": ");
      if (!offer.can) {
        out += offer.why_not;
      } else if (offer.psnr < p.quality) {
        out += text("promises only ", gaussian::brief(offer.psnr), " dB");
      } else {
        out += text(gaussian::brief(offer.psnr), " dB, about ", gaussian::brief(offer.cost), " us");
        if (state.wanted == Variant::automatic && offer.cost < state.offer.cost)
          out += p.in_place && !offer.in_place ? "; does not work in place"
                                               : "; its program is not built";
      }
    }
    return out;
  }

  // Blurs a picture in host memory that is larger than the device's, or any other, strip by strip:
  // `src` and `dst` hold height rows of width pixels at these pitches in bytes (0: without gaps).
  // A strip of `strip_rows` rows, with the rows around it that the filter reaches, is uploaded,
  // blurred and read back. They must not overlap. Blocks until dst is written. Throws Error as the
  // constructor and calls do; what is finished by then has been written to dst.
  static void by_strips(const Runtime& runtime, const Problem& problem, const void* src,
                        std::size_t src_pitch, void* dst, std::size_t dst_pitch, int strip_rows,
                        const std::function<void(int rows_done)>& progress = {}) {
    check_problem(problem);
    if (problem.batch != 1)
      fail(Errc::invalid_argument, kName, text("strips have no batch, got ", problem.batch));
    if (strip_rows < 1)
      fail(Errc::invalid_argument, kName, text("strip_rows must be at least 1, got ", strip_rows));
    const std::size_t row_bytes =
        gaussian::pixel_bytes(problem) * static_cast<std::size_t>(problem.width);
    if (src_pitch == 0) src_pitch = row_bytes;
    if (dst_pitch == 0) dst_pitch = row_bytes;
    if (src == nullptr || dst == nullptr || src_pitch < row_bytes || dst_pitch < row_bytes) {
      fail(Errc::invalid_argument, kName,
           text("strips need src, dst and pitches of at least a row of ", row_bytes,
                " bytes, got pitches of ", src_pitch, " and ", dst_pitch));
    }
    const int radius = axes_of(problem).y.radius;
    const auto* from_rows = static_cast<const unsigned char*>(src);
    std::vector<unsigned char> rows;
    std::unique_ptr<GaussianBlur> blur;
    cl::Buffer from;
    cl::Buffer to;
    for (int y = 0; y < problem.height; y += strip_rows) {
      const int count = std::min(strip_rows, problem.height - y);
      // The rows that the strip reads, as a picture of its own: its upper and lower borders are the
      // picture's or out of reach. A periodic picture goes on beyond its own.
      const bool wraps =
          problem.border == Border::wrap && (y < radius || count > problem.height - radius - y);
      const gaussian::RowRange range =
          wraps ? gaussian::RowRange{y - radius, count + 2 * radius}
                : gaussian::rows_needed(problem, {0, y, problem.width, count}, radius);
      if (!blur || blur->problem().height != range.count) {
        Problem strip = problem;
        strip.height = range.count;
        blur = std::make_unique<GaussianBlur>(runtime, strip);
        rows.resize(row_bytes * static_cast<std::size_t>(range.count));
        from = create_buffer(runtime, rows.size());
        to = create_buffer(runtime, row_bytes * static_cast<std::size_t>(count));
      }
      for (int i = 0; i < range.count; ++i) {
        const int row = wraps
                            ? ((range.first + i) % problem.height + problem.height) % problem.height
                            : range.first + i;
        std::memcpy(rows.data() + static_cast<std::size_t>(i) * row_bytes,
                    from_rows + static_cast<std::size_t>(row) * src_pitch, row_bytes);
      }
      const cl_command_queue queue = runtime.queue()();
      check(clEnqueueWriteBuffer(queue, from(), CL_TRUE, 0, rows.size(), rows.data(), 0, nullptr,
                                 nullptr),
            "clEnqueueWriteBuffer");
      const cl::Event done = (*blur)(from, to, Region{0, y - range.first, problem.width, count});
      const cl_event handle = done();
      const std::size_t origin[3] = {0, 0, 0};
      const std::size_t host_origin[3] = {0, static_cast<std::size_t>(y), 0};
      const std::size_t size[3] = {row_bytes, static_cast<std::size_t>(count), 1};
      check(clEnqueueReadBufferRect(queue, to(), CL_TRUE, origin, host_origin, size, row_bytes, 0,
                                    dst_pitch, 0, dst, 1, &handle, nullptr),
            "clEnqueueReadBufferRect");
      if (progress) progress(y + count);
    }
  }

  static const char* to_string(Variant variant) {
    if (variant == Variant::automatic) return "automatic";
    for (const gaussian::MethodInfo& info : gaussian::methods()) {
      if (info.variant == variant) return info.name;
    }
    fail(Errc::invalid_argument, kName,
         text("there is no variant of the value ", static_cast<int>(variant)));
  }
  static const char* to_string(Pixel pixel) {
    switch (pixel) {
      case Pixel::u8:
        return "u8";
      case Pixel::u16:
        return "u16";
      case Pixel::f16:
        return "f16";
      case Pixel::f32:
        return "f32";
    }
    fail(Errc::invalid_argument, kName,
         text("there is no pixel type of the value ", static_cast<int>(pixel)));
  }
  static const char* to_string(Border border) { return border_name(border, kName); }

  // The value of that name. Throws Error(invalid_argument) that lists the names.
  static Variant parse_variant(std::string_view name) {
    std::vector<Variant> all{Variant::automatic};
    for (const gaussian::MethodInfo& info : gaussian::methods()) all.push_back(info.variant);
    return parse_name<Variant>(kName, "variant", name, all,
                               [](Variant variant) { return to_string(variant); });
  }
  static Pixel parse_pixel(std::string_view name) {
    constexpr Pixel kPixels[] = {Pixel::u8, Pixel::u16, Pixel::f16, Pixel::f32};
    return parse_name<Pixel>(kName, "pixel type", name, kPixels,
                             [](Pixel pixel) { return to_string(pixel); });
  }
  static Border parse_border(std::string_view name) { return clcook::parse_border(name, kName); }

  // The filter of a problem, without a device.
  static gaussian::Axes axes_of(const Problem& p) {
    const gaussian::Axis x = gaussian::make_axis(p.sigma_x, p.truncate);
    return {x, p.sigma_x == p.sigma_y ? x : gaussian::make_axis(p.sigma_y, p.truncate)};
  }

  // Throws Error(invalid_argument) that names the value and the rule.
  static void check_problem(const Problem& p) {
    const auto refuse = [](const std::string& what) { fail(Errc::invalid_argument, kName, what); };
    if (p.width < 1 || p.width > kMaxSize || p.height < 1 || p.height > kMaxSize) {
      refuse(text("width and height must be 1 to ", kMaxSize, " pixels, got ", p.width, " x ",
                  p.height));
    }
    const auto check_sigma = [&](double sigma, const char* name) {
      if (!(sigma >= 0 && sigma <= kMaxSigma))  // NaN fails both
        refuse(text(name, " must be 0 to ", kMaxSigma, " pixels, got ", sigma));
    };
    check_sigma(p.sigma_x, "sigma_x");
    check_sigma(p.sigma_y, "sigma_y");
    if (!(p.truncate >= 0.5 && p.truncate <= 8))
      refuse(text("truncate must be 0.5 to 8 sigma, got ", p.truncate));
    if (!(p.quality >= 0 && p.quality <= 1000))
      refuse(text("quality must be 0 to 1000 dB, got ", p.quality));
    if (!(p.peak >= 0 && p.peak <= static_cast<double>(std::numeric_limits<float>::max())))
      refuse(text("peak must be 0 or a positive float, got ", p.peak));
    if (p.channels < 1 || p.channels > 4) refuse(text("channels must be 1 to 4, got ", p.channels));
    if (p.batch < 1) refuse(text("batch must be at least 1, got ", p.batch));
    to_string(p.pixel);
    to_string(p.border);
    const double bytes =
        static_cast<double>(p.width) * p.height * p.batch * static_cast<double>(p.channels) * 4;
    if (bytes > 0x1p62)
      refuse(text(p.batch, " pictures of ", p.width, " x ", p.height, " overflow the addresses"));
  }

 private:
  static constexpr const char* kName = "GaussianBlur";

  struct State {
    Runtime runtime;
    Problem problem;
    Variant wanted;
    const gaussian::MethodInfo* info = nullptr;
    gaussian::Offer offer;
    std::unique_ptr<gaussian::Method> method;
    gaussian::Programs programs;
    // Guarded by the mutex: the last command that uses the memory.
    std::mutex mutex;
    cl::Event last;
    gaussian::Scratch scratch;
    gaussian::Scratch staging;

    State(Runtime rt, const Problem& p, Variant v)
        : runtime(std::move(rt)), problem(p), wanted(v) {}
  };

  struct Choice {
    const gaussian::MethodInfo* info = nullptr;
    gaussian::Offer offer;
  };

  Region whole() const { return {0, 0, state_->problem.width, state_->problem.height}; }

  static RowLayout layout(const Problem& p, const Region& region) {
    const std::size_t bytes = gaussian::pixel_bytes(p);
    return {static_cast<std::size_t>(region.width) * bytes,
            static_cast<std::size_t>(region.height) * static_cast<std::size_t>(p.batch),
            p.channels == 3 ? gaussian::channel_bytes(p.pixel) : bytes};
  }

  static void check_region(const Problem& p, const Region& r) {
    if (r.x < 0 || r.y < 0 || r.width < 1 || r.height < 1 || r.width > p.width ||
        r.height > p.height || r.x > p.width - r.width || r.y > p.height - r.height) {
      fail(Errc::invalid_argument, kName,
           text("the region of ", r.width, " x ", r.height, " pixels at ", r.x, ", ", r.y,
                " must lie within the picture of ", p.width, " x ", p.height));
    }
  }

  static bool is_built(const State& state, const Problem& p, const gaussian::Axes& axes,
                       const gaussian::MethodInfo& info) {
    for (const gaussian::Unit& unit : info.units(p, axes)) {
      if (!state.programs.has(unit)) return false;
    }
    return true;
  }

  // The cheapest method that promises the quality, of all or of those that are built.
  static Choice best(const State& state, const Problem& p, const gaussian::Axes& axes,
                     bool built_only) {
    Choice out;
    for (const gaussian::MethodInfo& info : gaussian::methods()) {
      if (state.wanted != Variant::automatic && state.wanted != info.variant) continue;
      if (built_only && !is_built(state, p, axes, info)) continue;
      gaussian::Offer offer = info.offer(state.runtime, p, axes);
      const bool suits = offer.can && offer.psnr >= p.quality && (offer.in_place || !p.in_place);
      if (suits && (out.info == nullptr || offer.cost < out.offer.cost))
        out = {&info, std::move(offer)};
    }
    if (out.info == nullptr) refuse(state, p, axes);
    return out;
  }

  // Where best() finds none: why each of them cannot.
  [[noreturn]] static void refuse(const State& state, const Problem& p,
                                  const gaussian::Axes& axes) {
    std::string all;
    for (const gaussian::MethodInfo& info : gaussian::methods()) {
      const bool wanted = state.wanted == info.variant;
      if (state.wanted != Variant::automatic && !wanted) continue;
      const gaussian::Offer offer = info.offer(state.runtime, p, axes);
      if (wanted && !offer.can)
        fail(Errc::unsupported, kName, text("the variant ", info.name, ": ", offer.why_not));
      all += text("; ", info.name, ": ");
      if (!offer.can) {
        all += offer.why_not;
      } else if (offer.psnr < p.quality) {
        all += text("promises ", gaussian::brief(offer.psnr), " dB");
      } else if (p.in_place && !offer.in_place) {
        all += "does not work in place";
      } else {
        all += "its program is not built; build_for() does that";
      }
    }
    fail(Errc::unsupported, kName,
         text("no method reaches ", gaussian::brief(p.quality), " dB for ", to_string(p.pixel),
              " and sigma ", p.sigma_x, " x ", p.sigma_y, all));
  }

  static void choose(State& state, const gaussian::Axes& axes, bool built_only) {
    Choice choice = best(state, state.problem, axes, built_only);
    std::unique_ptr<gaussian::Method> method =
        choice.info->make(state.runtime, state.problem, axes, choice.offer, state.programs);
    state.info = choice.info;
    state.offer = std::move(choice.offer);
    state.method = std::move(method);
  }

  std::unique_ptr<State> state_;
};

}  // namespace clcook
