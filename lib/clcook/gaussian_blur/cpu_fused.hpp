// The method cpu_fused: rows and columns in one launch for CPUs, a work-item per tile of the
// picture with a ring of filtered lines that stays in its cache. Exact as naive is, and serves the
// same problems.
#pragma once

#include <algorithm>
#include <clcook/embedded/gaussian_blur.hpp>
#include <clcook/gaussian_blur/method.hpp>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace clcook::gaussian {

class CpuFused : public Method {
 public:
  static Offer offer(const Runtime& runtime, const Problem& p, const Axes& axes) {
    if (!runtime.info().cpu) return Offer::no("a work-item per tile: for CPUs only");
    // Whole blocks of a row; the rows around the picture, of which equal ones are filtered once.
    const auto block = static_cast<double>(block_of(p.channels));
    const double columns = std::ceil(p.width * p.channels / block) * block * p.batch;
    const double lines = p.height + (p.border == Border::clamp ? 0.0 : 2.0 * axes.y.radius);
    // Beside each pass: loads, stores and conversions.
    const double beside = p.pixel == Pixel::f32 ? 6 : 14;
    const double macs =
        columns * (lines * (axes.x.taps() + beside) + p.height * (axes.y.taps() + beside));
    const double bytes = 2 * values_of(p) * static_cast<double>(channel_bytes(p.pixel));
    const Rates rate = rates(runtime);
    return rounding_offer(p, axes, rate.launch + bytes / rate.bytes + macs / (1.4 * rate.macs));
  }

  static std::vector<Unit> units(const Problem& p, const Axes&) {
    Defines defines;
    set_pixel(defines, p);
    return {{"gaussian_blur_cpu_fused", Source(embedded::gaussian_blur_cpu_fused), defines}};
  }

  CpuFused(const Runtime& runtime, const Problem& problem, const Axes& axes, Programs& programs)
      : runtime_(runtime),
        problem_(problem),
        radius_x_(axes.x.radius),
        radius_y_(axes.y.radius),
        weights_x_(upload_filter(runtime, axes.x)),
        weights_y_(upload_filter(runtime, axes.y)) {
    const std::vector<Unit> parts = units(problem, axes);
    program_ = programs.build(runtime, parts[0], "gaussian_blur/cpu_fused");
  }

  cl::Event enqueue(const Call& call, Scratch& scratch,
                    const std::vector<cl::Event>& wait) override {
    const Region& region = call.region;
    const auto up = [](std::size_t a, std::size_t b) { return (a + b - 1) / b; };
    const auto channels = static_cast<std::size_t>(problem_.channels);
    const auto batch = static_cast<std::size_t>(problem_.batch);
    const auto rows = static_cast<std::size_t>(region.height);
    const std::size_t block = block_of(problem_.channels);
    const std::size_t blocks = up(static_cast<std::size_t>(region.width) * channels, block);
    const std::size_t slots = up(2 * static_cast<std::size_t>(radius_y_) + kRows, kRows) * kRows;
    // Tiles whose rings fit the cache, and some for each core; strips where these are too few. An
    // even number is dealt out evenly.
    const std::size_t widest = std::clamp<std::size_t>(kRingFloats / (slots * block), 1, kWidest);
    const std::size_t wanted = 4 * static_cast<std::size_t>(runtime_.info().compute_units);
    std::size_t tiles = std::max(up(blocks, widest), std::min(up(blocks, 2), up(wanted, batch)));
    const std::size_t most = std::max<std::size_t>(1, rows / (2 * slots));
    const std::size_t strips = std::min(most, up(wanted, tiles * batch));
    if (tiles * strips * batch % 2 != 0 && tiles < blocks) ++tiles;
    const std::size_t strip = up(up(rows, strips), kRows) * kRows;
    const std::size_t count = up(rows, strip);
    const std::size_t tile = up(blocks, tiles) * block;
    const std::size_t line = up(tile + 2 * static_cast<std::size_t>(radius_x_) * channels, 16) * 16;
    const std::size_t pitch = tile + 16;  // no power of two
    const std::size_t item = 2 * line + kRows * kColumns + slots * pitch;
    // Few pictures at a time, so that a batch does not multiply the scratch memory.
    const std::size_t floats = item * tiles * count;
    const std::size_t pictures = std::clamp<std::size_t>(kMostFloats / floats, 1, batch);
    const cl::Buffer memory = scratch.get(runtime_, 0, floats * pictures * sizeof(float));
    const std::size_t bytes = channel_bytes(problem_.pixel);
    const std::size_t src_pitch = call.src.pitch / bytes;
    const std::size_t dst_pitch = call.dst.pitch / bytes;
    const auto height = static_cast<std::size_t>(problem_.height);
    const cl_float4 outside = outside_of(problem_);
    Kernel kernel(runtime_, program_, "gaussian_blur_cpu_fused");
    std::vector<cl::Event> after = wait;
    for (std::size_t i = 0; i < batch; i += pictures) {
      after = {kernel(
          Launch::groups({tiles, count, std::min(pictures, batch - i)}, {1, 1, 1}), after,
          call.src.buffer, cl_ulong{call.src.offset / bytes + i * height * src_pitch},
          cl_ulong{src_pitch}, call.dst.buffer,
          cl_ulong{call.dst.offset / bytes + i * rows * dst_pitch}, cl_ulong{dst_pitch},
          cl_int{problem_.width}, cl_int{problem_.height}, cl_int{region.x}, cl_int{region.y},
          cl_int{region.width}, cl_int{region.height}, weights_x_, cl_int{radius_x_}, weights_y_,
          cl_int{radius_y_}, static_cast<cl_int>(problem_.border), outside, memory, cl_ulong{item},
          static_cast<cl_int>(line), static_cast<cl_int>(pitch), static_cast<cl_int>(slots),
          static_cast<cl_int>(strip))};
    }
    return after[0];
  }

  std::string describe() const override {
    return text("rows of ", 2 * radius_x_ + 1, " and columns of ", 2 * radius_y_ + 1,
                " taps in one launch, a work-item per tile");
  }

 private:
  // Elements of a row that the kernel filters at once.
  static std::size_t block_of(int channels) { return channels == 3 ? 384 : 128; }

  static constexpr std::size_t kRows = 8;               // ROWS of the kernel
  static constexpr std::size_t kColumns = 64;           // COLUMNS
  static constexpr std::size_t kRingFloats = 640 << 8;  // 640 KiB
  static constexpr std::size_t kMostFloats = 64 << 18;  // 64 MiB
  static constexpr std::size_t kWidest = 16;            // blocks

  // Weights -radius .. radius as floats on the device.
  static cl::Buffer upload_filter(const Runtime& runtime, const Axis& axis) {
    std::vector<double> values;
    for (int k = -axis.radius; k <= axis.radius; ++k)
      values.push_back(axis.weights[static_cast<std::size_t>(std::abs(k))]);
    return upload_floats(runtime, values);
  }

  Runtime runtime_;
  Problem problem_;
  int radius_x_;
  int radius_y_;
  cl::Buffer weights_x_;
  cl::Buffer weights_y_;
  cl::Program program_;
};

}  // namespace clcook::gaussian
