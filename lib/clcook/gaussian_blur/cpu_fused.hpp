// The method cpu_fused: rows and columns in one launch for CPUs, a work-item per tile of the
// picture with a ring of filtered lines that stays in its cache. As exact as naive, and serves the
// same problems. Long filters are computed as sums of splines, with half the taps.
#pragma once

#include <algorithm>
#include <clcook/core/math.hpp>
#include <clcook/embedded/gaussian_blur.hpp>
#include <clcook/gaussian_blur/method.hpp>
#include <clcook/gaussian_blur/spline_taps.hpp>
#include <cstddef>
#include <string>
#include <vector>

namespace clcook::gaussian {

class CpuFused : public Method {
 public:
  struct Design {
    SplineTaps x;
    SplineTaps y;
  };

  static Offer offer(const Runtime& runtime, const Problem& p, const Axes& axes, Design& design) {
    // Whole blocks of a row; the rows around the picture, of which equal ones are filtered once.
    const auto block = static_cast<double>(block_of(channels_of(p)));
    const double columns = math::ceil(p.width * channels_of(p) / block) * block * p.batch;
    const double lines = p.height + (repeats_edge(p.border) ? 0.0 : 2.0 * axes.y.radius);
    // Beside each pass: loads, stores and conversions.
    const double beside = p.pixel == Pixel::f32 ? 6 : 14;
    SplineTaps& x = design.x;
    SplineTaps& y = design.y;
    x = SplineTaps::best(p, axes.x, kFewest);
    y = axes.x.sigma == axes.y.sigma && axes.x.sigma > 0 ? x : SplineTaps::best(p, axes.y, kFewest);
    const double macs = columns * (lines * (x.taps() + beside) + p.height * (y.taps() + beside));
    const Tiles tiles(p, {0, 0, p.width, p.height}, axes.x.radius, x, axes.y.radius, y,
                      runtime.info().compute_units);
    const double scratch = sizeof(float) * tiles.floats();
    if (scratch > static_cast<double>(runtime.info().max_allocation)) {
      return Offer::no(Lacks::memory, text("its scratch memory of ", three_digits(scratch),
                                           " bytes exceeds the device's largest allocation of ",
                                           runtime.info().max_allocation));
    }
    // Splines take no more roundings than all taps do.
    Offer out = rounding_offer(axes, {bytes_of(p), bytes_of(p), macs / 0.7, 1});
    out.max_error += x.error + y.error;
    return out;
  }

  static std::vector<CompileUnit> units(const Problem& p, const Axes&, const DeviceInfo&) {
    Defines defines;
    set_pixel(defines, p);
    return {unit_of("gaussian_blur_cpu_fused", defines)};
  }

  // A kernel of the program, for these pixels.
  static CompileUnit unit_of(const char* kernel, Defines& pixel) {
    pixel.set("CLCOOK_GAUSSIAN_RESULT_ROWS", static_cast<int>(kRows))
        .set("CLCOOK_GAUSSIAN_RESULT_COLUMNS", static_cast<int>(kColumns));
    return unit(kernel, embedded::gaussian_blur_cpu_fused, pixel, {1, 1, 1});
  }

  CpuFused(const Runtime& runtime, const Problem& problem, const Axes& axes, const Design& design,
           const std::vector<cl::Program>& programs)
      : runtime_(runtime),
        problem_(problem),
        x_(runtime, axes.x, design.x, phases_of(channels_of(problem))),
        y_(runtime, axes.y, design.y, 1) {
    program_ = programs[0];
  }

  cl::Event enqueue(const Call& call, Scratch& scratch,
                    const std::vector<cl::Event>& wait) override {
    const Region& region = call.region;
    const auto batch = static_cast<std::size_t>(problem_.batch);
    const auto rows = static_cast<std::size_t>(region.height);
    const Tiles cut(problem_, region, x_.radius, x_.taps, y_.radius, y_.taps,
                    runtime_.info().compute_units);
    // Few pictures at a time, so that a batch does not multiply the scratch memory.
    const std::size_t floats = cut.sizes.item_floats * cut.tiles * cut.count;
    const std::size_t pictures = std::clamp<std::size_t>(kMostFloats / floats, 1, batch);
    const cl::Buffer memory = scratch.get(runtime_, 0, floats * pictures * sizeof(float));
    const std::size_t bytes = channel_bytes(problem_.pixel);
    const auto height = static_cast<std::size_t>(problem_.height);
    KernelView src = kernel_view(call.src, bytes);
    KernelView dst = kernel_view(call.dst, bytes);
    Kernel kernel(call.runtime, program_, "gaussian_blur_cpu_fused");
    std::vector<cl::Event> after = wait;
    for (std::size_t i = 0; i < batch; i += pictures) {
      after = {
          kernel(Launch::groups({cut.tiles, cut.count, std::min(pictures, batch - i)}, {1, 1, 1}),
                 after, call.src.buffer, src, call.dst.buffer, dst,
                 kernel_picture(problem_, region), static_cast<cl_int>(cut.strip), x_.weights,
                 x_.parts, y_.weights, y_.parts, memory, cut.sizes)};
      src.offset += pictures * height * src.pitch;
      dst.offset += pictures * rows * dst.pitch;
    }
    return after[0];
  }

  std::string describe() const override {
    return text("rows of ", 2 * x_.radius + 1, " and columns of ", 2 * y_.radius + 1,
                " taps, computed as ", x_.taps.taps(), " and ", y_.taps.taps(),
                ", in one launch, a work-item per tile");
  }

 private:
  // PHASES and BLOCK of the kernel, which come of its vectors of 16.
  static int phases_of(int channels) { return channels == 3 ? 16 : 16 / channels; }
  static std::size_t block_of(int channels) { return channels == 3 ? 384 : 128; }

  static constexpr int kFewest = 96;                    // taps for which splines pay
  static constexpr std::size_t kRows = 32;              // of results at a time
  static constexpr std::size_t kColumns = 128;          // of results at a time
  static constexpr std::size_t kRingFloats = 960 << 8;  // 960 KiB
  static constexpr std::size_t kMostFloats = 64 << 18;  // 64 MiB
  static constexpr std::size_t kWidest = 16;            // blocks

  // axis_t of the kernel.
  struct KernelAxis {
    cl_int radius, every, spline, coarse, left, right;
  };
  static_assert(sizeof(KernelAxis) == 6 * 4);

  // scratch_t of the kernel.
  struct KernelScratch {
    cl_ulong item_floats;
    cl_int line_floats, ring_pitch, ring_slots, smooth_slots;
  };
  static_assert(sizeof(KernelScratch) == 24);

  // How a region is cut: tiles from left to right times `count` strips, an item each.
  struct Tiles {
    std::size_t tiles;
    std::size_t strip;  // rows
    std::size_t count;
    KernelScratch sizes;

    Tiles(const Problem& p, const Region& region, int radius_x, const SplineTaps& x, int radius_y,
          const SplineTaps& y, cl_uint compute_units) {
      const auto up = [](std::size_t a, std::size_t b) { return (a + b - 1) / b; };
      const auto channels = static_cast<std::size_t>(channels_of(p));
      const auto batch = static_cast<std::size_t>(p.batch);
      const auto rows = static_cast<std::size_t>(region.height);
      const std::size_t block = block_of(channels_of(p));
      const std::size_t blocks = up(static_cast<std::size_t>(region.width) * channels, block);
      const auto every = static_cast<std::size_t>(y.every);
      const auto around = [](int radius) { return 2 * static_cast<std::size_t>(radius); };
      const bool smooth = !y.spline.empty();
      const std::size_t ring_slots = up(around(radius_y) + kRows + 8, 8) * 8;
      const std::size_t smooth_slots =
          smooth ? up((y.coarse.size() - 1) * every + kRows + 7, 8) * 8 : ring_slots;
      const std::size_t all_slots = smooth ? ring_slots + smooth_slots : ring_slots;
      // Tiles whose rings fit the cache, and some for each core; strips where these are too few. An
      // even number is dealt out evenly.
      const std::size_t widest =
          std::clamp<std::size_t>(kRingFloats / (all_slots * block), 1, kWidest);
      const std::size_t wanted = 4 * static_cast<std::size_t>(compute_units);
      tiles = std::max(up(blocks, widest), std::min(up(blocks, 2), up(wanted, batch)));
      const std::size_t most = std::max<std::size_t>(1, rows / (2 * ring_slots));
      const std::size_t strips = std::min(most, up(wanted, tiles * batch));
      if (tiles * strips * batch % 2 != 0 && tiles < blocks) ++tiles;
      strip = up(up(rows, strips), kRows) * kRows;
      count = up(rows, strip);
      const std::size_t tile = up(blocks, tiles) * block;
      const std::size_t line =
          up(tile + around(radius_x) * channels + (x.spline.empty() ? 0 : block), 16) * 16;
      const std::size_t pitch = tile + 16;  // no power of two
      sizes = {4 * line + kRows * kColumns + all_slots * pitch, static_cast<cl_int>(line),
               static_cast<cl_int>(pitch), static_cast<cl_int>(ring_slots),
               static_cast<cl_int>(smooth_slots)};
    }

    // Scratch memory of one picture.
    double floats() const {
      return static_cast<double>(sizes.item_floats) * static_cast<double>(tiles) *
             static_cast<double>(count);
    }
  };

  struct Side {
    int radius;
    SplineTaps taps;
    cl::Buffer weights;
    KernelAxis parts;

    // Weights are ordered by phase.
    Side(const Runtime& runtime, const FilterAxis& axis, const SplineTaps& one, int phases)
        : radius(axis.radius), taps(one) {
      std::vector<double> values;
      const auto append = [&](const std::vector<double>& part, int step) {
        for (int phase = 0; phase < step; ++phase) {
          for (auto t = static_cast<std::size_t>(phase); t < part.size();
               t += static_cast<std::size_t>(step))
            values.push_back(part[t]);
        }
      };
      append(taps.spline, phases);
      append(taps.coarse, std::max(1, phases / taps.every));
      append(taps.left, phases);
      append(taps.right, phases);
      weights = upload_floats(runtime, values);
      const auto size = [](const std::vector<double>& part) {
        return static_cast<cl_int>(part.size());
      };
      parts = {axis.radius,       taps.every,      size(taps.spline),
               size(taps.coarse), size(taps.left), size(taps.right)};
    }
  };

  Runtime runtime_;
  Problem problem_;
  Side x_;
  Side y_;
  cl::Program program_;
};

}  // namespace clcook::gaussian
