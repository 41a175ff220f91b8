// The definitions of clcook/gaussian_blur_strips.hpp.
#pragma once

#include <algorithm>
#include <clcook/gaussian_blur_strips.hpp>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

namespace clcook {

CLCOOK_INLINE StripReport GaussianBlur::by_strips(const Runtime& runtime, const Problem& problem,
                                                  const void* src, std::size_t src_pitch, void* dst,
                                                  std::size_t dst_pitch, int strip_rows,
                                                  const std::function<void(int)>& progress) {
  StripPipeline pipeline({runtime});
  StripProgress told;
  if (progress) told = [&](std::size_t rows) { progress(static_cast<int>(rows)); };
  return by_strips(pipeline, problem, src, src_pitch, dst, dst_pitch, strip_rows, told);
}

CLCOOK_INLINE StripReport GaussianBlur::by_strips(
    StripPipeline& pipeline, const Problem& problem, const void* src, std::size_t src_pitch,
    void* dst, std::size_t dst_pitch, int strip_rows, const StripProgress& progress,
    Variant variant, const std::function<void(std::size_t, std::size_t)>& each_bytes) {
  Spec::check(problem);
  if (strip_rows < 0) {
    fail(Errc::invalid_argument, kName,
         text("strip_rows must be 0, which chooses them, or more, got ", strip_rows));
  }
  const std::size_t row_bytes =
      gaussian::pixel_bytes(problem) * static_cast<std::size_t>(problem.width);
  if (src_pitch == 0) src_pitch = row_bytes;
  if (dst_pitch == 0) dst_pitch = row_bytes;
  if (src == nullptr || dst == nullptr || src_pitch < row_bytes || dst_pitch < row_bytes) {
    fail(Errc::invalid_argument, kName,
         text("strips need src, dst and pitches of at least a row of ", row_bytes,
              " bytes, got pitches of ", src_pitch, " and ", dst_pitch));
  }
  // Volumes are cut along z, at whole slices.
  const bool volume = gaussian::is_volume(problem);
  const int count = volume ? problem.depth : problem.height;
  const std::size_t each = volume ? static_cast<std::size_t>(problem.height) : 1;
  const auto height = static_cast<std::size_t>(count) * each;
  const std::size_t rows = height * static_cast<std::size_t>(problem.batch);
  StripWork work;
  work.where = kName;
  work.each = each_bytes;
  work.src = {src, src_pitch, row_bytes, rows};
  work.dst = {dst, dst_pitch, row_bytes, rows};
  check_disjoint(work.src, HostRows{dst, dst_pitch, row_bytes, rows}, kName, "src", "dst");

  // The method that each device would take for the whole picture. One that can take none is left to
  // the pipeline, unless all are such.
  std::vector<std::pair<cl_command_queue, Variant>> methods;
  std::vector<gaussian::Method::Cut> cuts;
  std::exception_ptr refused;
  for (const Runtime& runtime : pipeline.runtimes()) {
    try {
      const GaussianBlur whole(runtime, problem, variant);
      methods.emplace_back(runtime.queue()(), whole.variant());
      cuts.push_back(whole.resources().method->cut());
    } catch (const Error&) {
      if (!refused) refused = std::current_exception();
    }
  }
  if (methods.empty()) std::rethrow_exception(refused);
  const Windows windows = make_windows(pipeline, problem, strip_rows, cuts);
  for (int picture = 0; picture < problem.batch; ++picture) {
    for (int at = 0; at < count; at += windows.strip) {
      const std::size_t first = static_cast<std::size_t>(picture) * height;
      const auto length = static_cast<std::size_t>(std::min(windows.strip, count - at));
      work.strips.push_back({static_cast<std::int64_t>(first) +
                                 windows.begin(at, count) * static_cast<std::int64_t>(each),
                             static_cast<std::size_t>(windows.rows) * each,
                             first + static_cast<std::size_t>(at) * each, length * each});
    }
  }
  Problem window = problem;
  (volume ? window.depth : window.height) = windows.rows;
  window.batch = 1;
  work.make = [&](const Runtime& runtime) -> StripFunction {
    Variant own = variant;
    for (const auto& one : methods) {
      if (one.first == runtime.queue()()) own = one.second;
    }
    const GaussianBlur blur(runtime, window, own);
    return [blur, windows, height, each, count, volume](const Strip& strip, const cl::Buffer& from,
                                                        const cl::Buffer& to,
                                                        const std::vector<cl::Event>& wait) {
      const Problem& p = blur.problem();
      const int at = static_cast<int>(strip.to % height / each);
      const int first = at - windows.begin(at, count);
      const int length = static_cast<int>(strip.to_rows / each);
      return blur(from, to,
                  volume ? Region{0, 0, p.width, p.height, first, length}
                         : Region{0, first, p.width, length},
                  wait);
    };
  };
  return pipeline.run(work, progress);
}

CLCOOK_INLINE int GaussianBlur::Windows::begin(int y, int height) const {
  if (rows == height) return 0;
  int first = y - margin;
  first -= (first % step + step) % step;
  return periodic ? first : std::clamp(first, 0, height - rows);
}

CLCOOK_INLINE GaussianBlur::Windows GaussianBlur::make_windows(
    const StripPipeline& pipeline, const Problem& p, int strip_rows,
    const std::vector<gaussian::Method::Cut>& cuts) {
  const bool volume = gaussian::is_volume(p);
  const int count = volume ? p.depth : p.height;
  const auto each = static_cast<std::size_t>(volume ? p.height : 1);
  Windows out{count, count, 0, 1, repeats_far_side(p.border)};
  int beyond = 0;
  for (const gaussian::Method::Cut& cut : cuts) {
    // A multiple of all; where that is too large, of the first.
    const std::int64_t both = std::lcm<std::int64_t>(out.step, cut.step);
    if (both <= 4096) out.step = static_cast<int>(both);
    beyond = std::max(beyond, cut.beyond);
  }
  const int radius = gaussian::filter_radius(volume ? p.sigma_z : p.sigma_y, p.truncate);
  const std::int64_t margin = std::int64_t{radius} + beyond;
  if (strip_rows == 0) {
    const std::size_t width = each * static_cast<std::size_t>(p.width);
    // Two rows of floats are more than most methods need.
    out.strip = static_cast<int>(strip_rows_for(
        pipeline.runtimes(), static_cast<std::size_t>(count), static_cast<std::size_t>(margin),
        2 * gaussian::pixel_bytes(p) * width,
        2 * sizeof(float) * static_cast<std::size_t>(channels_of(p)) * width, volume ? 1 : 64));
  } else {
    const auto slices = static_cast<int>((static_cast<std::size_t>(strip_rows) + each - 1) / each);
    out.strip = std::min(slices, count);
  }
  std::int64_t rows = out.strip + 2 * margin + (out.step - 1);
  if (volume) rows = std::max(rows, std::int64_t{2});  // one slice without a sigma_z is no volume
  // The last window ends with the picture and begins at a multiple too.
  rows += ((count - rows) % out.step + out.step) % out.step;
  // Pictures of a batch do not go on in each other.
  if (rows >= count || (out.periodic && p.batch > 1)) return out;
  out.rows = static_cast<int>(rows);
  out.margin = static_cast<int>(margin);
  return out;
}

}  // namespace clcook
