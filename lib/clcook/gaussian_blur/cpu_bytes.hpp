// The method cpu_bytes: bytes in vectors of 16 bits for CPUs, columns and rows in one launch, a
// work-item per tile of the picture. For filters that reach few pixels, where what cpu_fused does
// beside its sums of floats takes most of its time.
#pragma once

#include <algorithm>
#include <clcook/core/math.hpp>
#include <clcook/gaussian_blur/cpu_fused.hpp>
#include <clcook/gaussian_blur/method.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace clcook::gaussian {

class CpuBytes : public Method {
 public:
  static constexpr int kMost = 24;  // pixels that a filter reaches: MOST of the kernel

  // Weights 0 .. radius in units of 2^-16, that of 0 as half of what it is, with the sum 2^15.
  struct Weights {
    std::vector<std::uint16_t> values;
    double error = 0;  // the sum of the errors' sizes, over the whole filter

    Weights() = default;
    explicit Weights(const FilterAxis& axis) {
      long left = 1L << 15;
      for (int k = axis.radius; k > 0; --k) {
        const double exact = math::ldexp(axis.at(k), 16);
        const long value = static_cast<long>(math::floor(exact + 0.5));
        left -= value;
        error += 2 * std::abs(static_cast<double>(value) - exact);
        values.insert(values.begin(), static_cast<std::uint16_t>(value));
      }
      values.insert(values.begin(), static_cast<std::uint16_t>(left));
      error += std::abs(2 * static_cast<double>(left) - math::ldexp(axis.at(0), 16));
      error = math::ldexp(error, -16);
    }
  };

  struct Design {
    Weights x;
    Weights y;
  };

  static Offer offer(const Runtime&, const Problem& p, const Axes& axes, Design& design) {
    if (p.pixel != Pixel::u8) return Offer::no(Lacks::problem, "is for bytes");
    const int radius = std::max(axes.x.radius, axes.y.radius);
    if (radius > kMost) {
      return Offer::no(Lacks::problem,
                       text("the filter reaches ", radius,
                            " pixels; sums of 16 bits serve at most ", static_cast<int>(kMost)));
    }
    if (p.width * channels_of(p) < kVector) {
      return Offer::no(Lacks::problem, text("it takes rows of ", static_cast<int>(kVector),
                                            " channels or more, got ", p.width * channels_of(p)));
    }
    if (is_constant(p.border)) {
      for (const float value : p.outside) {
        const auto v = static_cast<double>(value);
        if (!math::is_within(v, 0, 255) || math::floor(v) < v)
          return Offer::no(
              Lacks::problem,
              text("takes whole numbers from 0 to 255 outside of the picture, got ", value));
      }
    }
    design = {Weights(axes.x), Weights(axes.y)};
    Offer out;
    // The errors of weights come to 0, so half of the range counts. A product is within half a step
    // of what `bias` makes of it.
    out.max_error = (design.x.error + design.y.error) / 2 +
                    ((axes.x.radius + axes.y.radius + 2) / 2.0 + 1) / 128 / 255;
    // In the units of cpu_fused, as measured on PoCL 3.1: half of its time at 7 taps, all of it at 55.
    out.work = {bytes_of(p), bytes_of(p),
                values_of(p) * (1.5 * (axes.x.taps() + axes.y.taps()) + 12), 1};
    return out;
  }

  // In the program of cpu_fused, so that a plan with one of them has the other for another sigma.
  static std::vector<CompileUnit> units(const Problem& p, const Axes&, const DeviceInfo&) {
    Defines defines;
    clcook::set_pixel(defines, Pixel::u8, channels_of(p));
    return {CpuFused::unit_of(kKernel, defines)};
  }

  CpuBytes(const Runtime& runtime, const Problem& problem, const Axes& axes, const Design& design,
           const std::vector<cl::Program>& programs)
      : problem_(problem),
        radius_x_(axes.x.radius),
        radius_y_(axes.y.radius),
        weights_x_(upload(runtime, design.x)),
        weights_y_(upload(runtime, design.y)) {
    program_ = programs[0];
  }

  bool uses_scratch() const override { return false; }

  cl::Event enqueue(const Call& call, Scratch&, const std::vector<cl::Event>& wait) override {
    const Region& region = call.region;
    const auto up = [](int a, int b) { return (a + b - 1) / b; };
    const int channels = channels_of(problem_);
    const int values = region.width * channels;
    // Tiles of whole vectors and pixels and strips of rows, of which a few are there for each core: wide
    // tiles where there are rows enough, since a core fetches ahead along a row.
    const int wanted = 4 * static_cast<int>(call.runtime.info().compute_units);
    const int strips = std::max(up(region.height, kFewestRows), problem_.batch);
    const int whole = channels == 3 ? 3 * kVector : kVector;
    const int widest = std::max(kTile / 4, std::min(kTile, up(values, up(wanted, strips))));
    const int tile = up(up(values, up(values, widest)), whole) * whole;
    const int tiles = up(values, tile) * problem_.batch;
    const int strip =
        std::max(up(region.height, up(wanted, tiles)), std::min(region.height, kFewestRows));
    const int line = tile + 2 * radius_x_ * channels + 3 * kVector;
    Kernel kernel(call.runtime, program_, kKernel);
    return kernel(Launch::groups({static_cast<std::size_t>(up(values, tile)),
                                  static_cast<std::size_t>(up(region.height, strip)),
                                  static_cast<std::size_t>(problem_.batch)},
                                 {1, 1, 1}),
                  wait, call.src.buffer, kernel_view(call.src, 1), call.dst.buffer,
                  kernel_view(call.dst, 1), kernel_picture(problem_, region), cl_int{tile},
                  cl_int{strip}, weights_x_, cl_int{radius_x_}, weights_y_, cl_int{radius_y_},
                  LocalBytes{static_cast<std::size_t>(line) * sizeof(cl_ushort)});
  }

  std::string describe() const override {
    return text("columns of ", 2 * radius_y_ + 1, " and rows of ", 2 * radius_x_ + 1,
                " taps in sums of 16 bits, in one launch, a work-item per tile");
  }

 private:
  static constexpr int kVector = 16;
  static constexpr const char* kKernel = "gaussian_blur_cpu_bytes";
  static constexpr int kTile = 4096;     // channels of a tile
  static constexpr int kFewestRows = 8;  // of a strip

  static cl::Buffer upload(const Runtime& runtime, const Weights& weights) {
    return create_buffer(runtime, weights.values.size() * sizeof(cl_ushort), CL_MEM_READ_ONLY,
                         weights.values.data());
  }

  Problem problem_;
  int radius_x_;
  int radius_y_;
  cl::Buffer weights_x_;
  cl::Buffer weights_y_;
  cl::Program program_;
};

}  // namespace clcook::gaussian
