// The definitions of clcook/gaussian_blur.hpp.
#pragma once

#include <algorithm>
#include <clcook/core/image_staging.hpp>
#include <clcook/core/names.hpp>
#include <clcook/gaussian_blur.hpp>
#include <clcook/gaussian_blur/methods.hpp>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace clcook {

CLCOOK_INLINE cl::Event GaussianBlur::operator()(const BufferView& src, const BufferView& dst,
                                                 const std::vector<cl::Event>& wait) const {
  return (*this)(src, dst, whole(), wait);
}

CLCOOK_INLINE cl::Event GaussianBlur::operator()(const BufferView& src, const BufferView& dst,
                                                 std::initializer_list<cl::Event> wait) const {
  return (*this)(src, dst, whole(), wait);
}

CLCOOK_INLINE cl::Event GaussianBlur::operator()(const BufferView& src, const BufferView& dst,
                                                 const Region& region,
                                                 const std::vector<cl::Event>& wait) const {
  const Problem& p = problem();
  check_region(p, region);
  gaussian::Call call;
  call.region = region;
  call.src = check_view(runtime(), src, layout(p, whole()), Access::read, kName, "src");
  call.dst = check_view(runtime(), dst, layout(p, region), Access::write, kName, "dst");
  if (!in_place() && overlap(call.src, call.dst)) {
    fail(Errc::invalid_argument, kName,
         text("src (bytes ", call.src.offset, " to ", call.src.end(), ") and dst (bytes ",
              call.dst.offset, " to ", call.dst.end(), ") overlap in one buffer; the method ",
              row().name, " does not work in place: set Problem::in_place for one that does"));
  }
  check_wait(runtime(), wait, kName);
  gaussian::Spec::Memory& memory = *resources().memory;
  gaussian::Method& method = *resources().method;
  if (!method.uses_scratch()) return method.enqueue(call, memory.scratch, wait);
  Turn turn(runtime(), memory.turns);
  method.enqueue(call, memory.scratch, turn.behind(wait));
  return turn.end();
}

CLCOOK_INLINE cl::Event GaussianBlur::operator()(const ImageView& src, const ImageView& dst,
                                                 const std::vector<cl::Event>& wait) const {
  const Problem& p = problem();
  if (p.channels == 3 || p.batch != 1) {
    fail(Errc::invalid_argument, kName,
         text("images have 1, 2 or 4 channels and no batch; the problem has ", p.channels,
              " channels and a batch of ", p.batch));
  }
  const cl_channel_order order = p.channels == 1 ? CL_R : p.channels == 2 ? CL_RG : CL_RGBA;
  ImageLayout images{static_cast<std::size_t>(p.width),
                     static_cast<std::size_t>(p.height),
                     gaussian::pixel_bytes(p),
                     {}};
  if (p.pixel == Pixel::u8) {
    images.formats = {{order, CL_UNORM_INT8}, {order, CL_UNSIGNED_INT8}};
  } else if (p.pixel == Pixel::u16) {
    images.formats = {{order, CL_UNORM_INT16}, {order, CL_UNSIGNED_INT16}};
  } else {
    images.formats.push_back({order, p.pixel == Pixel::f16 ? cl_channel_type{CL_HALF_FLOAT}
                                                           : cl_channel_type{CL_FLOAT}});
  }
  check_images(runtime(), images, src, dst, kName);
  check_wait(runtime(), wait, kName);
  gaussian::Spec::Memory& memory = *resources().memory;
  Turn turn(runtime(), memory.turns);
  memory.staging.run(
      runtime(), images, src, dst, wait, turn,
      [&](const auto& from, const auto& to, const auto& before) {
        return resources().method->enqueue({from, to, whole()}, memory.scratch, before);
      });
  return turn.end();
}

CLCOOK_INLINE void GaussianBlur::set_sigma(double sigma_x, double sigma_y) {
  const Problem next = with_sigma(sigma_x, sigma_y);
  const auto why_not = [&](const Row& row) -> std::string {
    for (const CompileUnit& unit : Rules::units(row, next, {}, runtime().info())) {
      if (!is_built(unit)) return "its program is not built; build_for() does that";
    }
    return {};
  };
  replan(next, wanted_, why_not);
}

CLCOOK_INLINE void GaussianBlur::build_for(double sigma_x, double sigma_y) {
  Rules::choose(runtime(), with_sigma(sigma_x, sigma_y), wanted_, {},
                [&](const Candidate<Spec>& one) { build(one.offer.units); });
}

CLCOOK_INLINE double GaussianBlur::best_quality(const Runtime& runtime, Problem problem) {
  problem.quality = gaussian::kMostQuality;
  Spec::check(problem);
  double best = 0;
  for (const Row& row : variants()) {
    if (!Rules::may_take(row, runtime.info())) continue;
    const Offer one = Rules::offer_of(runtime, row, problem, {});
    if (one.can() || one.lacks == Lacks::quality) best = std::max(best, one.psnr);
  }
  return best;
}

CLCOOK_INLINE std::string GaussianBlur::describe() const {
  const Candidate<Spec>& chosen = state().chosen;
  std::string out =
      text(row().name, ": ", resources().method->describe(), "; ", three_digits(psnr()),
           " dB for a floor of ", three_digits(problem().quality), "; ", chosen.reason);
  for (const std::string& note : chosen.notes) out += "\n" + note;
  return out;
}

CLCOOK_INLINE void GaussianBlur::by_strips(const Runtime& runtime, const Problem& problem,
                                           const void* src, std::size_t src_pitch, void* dst,
                                           std::size_t dst_pitch, int strip_rows,
                                           const std::function<void(int rows_done)>& progress) {
  Spec::check(problem);
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
  const auto height = static_cast<std::size_t>(problem.height);
  check_disjoint(HostRows{src, src_pitch, row_bytes, height},
                 HostRows{dst, dst_pitch, row_bytes, height}, kName, "src", "dst");
  const int radius = gaussian::axes_of(problem)->y.radius;
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
      const int row = wraps ? ((range.first + i) % problem.height + problem.height) % problem.height
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

CLCOOK_INLINE GaussianBlur::Pixel GaussianBlur::parse_pixel(std::string_view name) {
  return value_of(kChannels, name, kName, "pixel type");
}

CLCOOK_INLINE gaussian::Problem GaussianBlur::with_sigma(double sigma_x, double sigma_y) const {
  Problem out = problem();
  out.sigma_x = sigma_x;
  out.sigma_y = sigma_y;
  Spec::check(out);
  return out;
}

CLCOOK_INLINE RowLayout GaussianBlur::layout(const Problem& p, const Region& region) {
  const std::size_t bytes = gaussian::pixel_bytes(p);
  return {static_cast<std::size_t>(region.width) * bytes,
          static_cast<std::size_t>(region.height) * static_cast<std::size_t>(p.batch),
          p.channels == 3 ? gaussian::channel_bytes(p.pixel) : bytes};
}

CLCOOK_INLINE void GaussianBlur::check_region(const Problem& p, const Region& r) {
  if (r.x < 0 || r.y < 0 || r.width < 1 || r.height < 1 || r.width > p.width ||
      r.height > p.height || r.x > p.width - r.width || r.y > p.height - r.height) {
    fail(Errc::invalid_argument, kName,
         text("the region of ", r.width, " x ", r.height, " pixels at ", r.x, ", ", r.y,
              " must lie within the picture of ", p.width, " x ", p.height));
  }
}

}  // namespace clcook

namespace clcook::gaussian {

CLCOOK_INLINE void Spec::check(const Problem& p) {
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
  if (!(p.quality >= 0 && p.quality <= kMostQuality))
    refuse(text("quality must be 0 to ", kMostQuality, " dB, got ", p.quality));
  if (!(p.peak >= 0 && p.peak <= static_cast<double>(std::numeric_limits<float>::max())))
    refuse(text("peak must be 0 or a positive float, got ", p.peak));
  if (p.channels < 1 || p.channels > 4) refuse(text("channels must be 1 to 4, got ", p.channels));
  if (p.batch < 1) refuse(text("batch must be at least 1, got ", p.batch));
  GaussianBlur::to_string(p.pixel);  // refuses what is none
  GaussianBlur::to_string(p.border);
  const double bytes =
      static_cast<double>(p.width) * p.height * p.batch * static_cast<double>(p.channels) * 4;
  if (bytes > 0x1p62)
    refuse(text(p.batch, " pictures of ", p.width, " x ", p.height, " overflow the addresses"));
}

}  // namespace clcook::gaussian

#ifdef CLCOOK_IMPLEMENTATION
template class clcook::Plan<clcook::gaussian::Spec>;
#endif
