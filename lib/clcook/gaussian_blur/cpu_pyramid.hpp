// The method cpu_pyramid, for CPUs and large sigma: the picture is made small with quadratic
// B-splines, blurred, and made large again. Its cost does not grow with sigma.
#pragma once

#include <algorithm>
#include <clcook/embedded/gaussian_blur.hpp>
#include <clcook/gaussian_blur/method.hpp>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace clcook::gaussian {

class CpuPyramid : public Method {
 public:
  static Offer offer(const Runtime& runtime, const Problem& p, const Axes& axes) {
    if (!quirks::takes_cpu_kernels(runtime.info())) return Offer::no(not_for_cpu_kernels(runtime));
    if (may_be_anything(p)) {
      return Offer::no(
          "NaN and infinity would spread further than the filter reaches; a peak above 0 "
          "promises that there are none");
    }
    if (axes.x.sigma < kLeastSigma || axes.y.sigma < kLeastSigma) {
      return Offer::no(text("needs a sigma of at least ", kLeastSigma, " along both axes, got ",
                            axes.x.sigma, " x ", axes.y.sigma));
    }
    Level x(axes.x);
    Level y = axes.x.sigma == axes.y.sigma ? x : Level(axes.y);
    const double error = x.error + y.error;
    Offer out;
    out.can = true;
    // The sum of the absolute differences of the weights of both filters, for values of both signs;
    // they have the same sum, so that a picture without negative values sees half of it. And a
    // rounding for each term of a sum.
    const double rounding = 0x1p-23 * (3 * x.step + 2 * x.radius + 3 * y.step + 2 * y.radius + 16);
    out.max_error =
        (is_integer(p.pixel) && p.border != Border::constant ? error / 2 : error) + rounding;
    // The picture that is worst for one pixel. Blocks and noise come 25 dB and more closer to the
    // exact filter, of which 12 dB are promised.
    const double rms = error / 8 + rounding;
    out.psnr = psnr_of(p, rms);
    // As a copy does, and the rows that border modes other than clamp read again.
    const Rates rate = rates(runtime);
    const double values = values_of(p);
    const double again = p.border == Border::clamp ? 0 : 2.0 * axes.y.radius / p.height;
    const double bytes = static_cast<double>(channel_bytes(p.pixel));
    out.cost = 2 * rate.launch + values * (2 + again) * (bytes / rate.bytes + 7 / rate.macs);
    out.in_place = true;  // src has been read when the result is written
    out.design = Design{std::move(x), std::move(y)};
    return out;
  }

  static std::vector<Unit> units(const Problem& p, const Axes&) {
    Defines defines;
    set_pixel(defines, p);
    const embedded::File* const file = &embedded::gaussian_blur_cpu_pyramid;
    return {{"gaussian_blur_cpu_pyramid_down", file, defines},
            {"gaussian_blur_cpu_pyramid_up", file, defines}};
  }

  CpuPyramid(const Runtime& runtime, const Problem& problem, const Axes& axes, const Offer& offer,
             Programs& programs)
      : runtime_(runtime),
        problem_(problem),
        x_(runtime, std::any_cast<const Design&>(offer.design).x),
        y_(runtime, std::any_cast<const Design&>(offer.design).y) {
    const std::vector<Unit> parts = units(problem, axes);
    program_ = programs.build(runtime, parts[0], "gaussian_blur/cpu_pyramid");
  }

  cl::Event enqueue(const Call& call, Scratch& scratch,
                    const std::vector<cl::Event>& wait) override {
    const Region& region = call.region;
    const int channels = problem_.channels;
    const auto batch = static_cast<std::size_t>(problem_.batch);
    const auto units = static_cast<std::size_t>(runtime_.info().compute_units);
    const Cells columns(x_.level, region.x, region.width);
    Cells lines(y_.level, region.y, region.height);
    lines.first -= y_.level.radius;
    lines.count += 2 * y_.level.radius;
    // Pixels of a row that make cells, and those of them that are read.
    int begin = (columns.first - x_.level.radius - 1) * x_.level.step;
    int end = begin + (columns.count + 2 * x_.level.radius + 2) * x_.level.step;
    const bool everywhere =
        (problem_.border == Border::mirror || problem_.border == Border::wrap) &&
        (begin < 0 || end > problem_.width);
    const int inside_begin = everywhere ? 0 : std::clamp(begin, 0, region.x);
    const int inside_end =
        everywhere ? problem_.width : std::clamp(end, region.x + region.width, problem_.width);
    const int first_pixel = std::min(begin, inside_begin);
    const int pixels = std::max(end, inside_end) - first_pixel;
    const std::size_t mid_pitch = padded(columns.count * channels);
    const auto line_count = static_cast<std::size_t>(lines.count);
    const cl::Buffer mid = scratch.get(runtime_, 0, mid_pitch * line_count * batch * sizeof(float));
    const std::size_t bytes = channel_bytes(problem_.pixel);
    const cl_float4 outside = outside_of(problem_);

    // Strips read a line of cells above and below again. An even number is dealt out evenly.
    const std::size_t most = std::clamp<std::size_t>(line_count / 20, 1, 4 * units);
    const std::size_t strips = most - most % 2 + (most == 1 ? 1 : 0);
    const std::size_t strip = (line_count + strips - 1) / strips;
    const std::size_t down_items = (line_count + strip - 1) / strip;
    const std::size_t line_pitch = padded(pixels * channels);
    const std::size_t down_floats =
        3 * line_pitch + mid_pitch + padded(2 * x_.level.radius * channels);
    // Tiles of results.
    const auto tiles = static_cast<std::size_t>((region.width + kTile - 1) / kTile);
    const auto rows = static_cast<std::size_t>(region.height);
    const std::size_t wanted = (8 * units + tiles * batch - 1) / (tiles * batch);
    const std::size_t least = 8 * static_cast<std::size_t>(y_.level.step);
    const std::size_t high = std::max((rows + wanted - 1) / wanted, std::min(least, rows));
    const std::size_t up_strips = (rows + high - 1) / high;
    const std::size_t small_pitch = padded((kTile / x_.level.step + 4) * channels);
    const std::size_t up_floats =
        small_pitch + 3 * (static_cast<std::size_t>(kTile * channels) + 16);
    const cl::Buffer memory = scratch.get(
        runtime_, 1,
        std::max(down_floats * down_items, up_floats * tiles * up_strips) * batch * sizeof(float));

    Kernel down(runtime_, program_, "gaussian_blur_cpu_pyramid_down");
    const cl::Event first = down(
        Launch::groups({1, down_items, batch}, {1, 1, 1}), wait, call.src.buffer,
        cl_ulong{call.src.offset / bytes}, cl_ulong{call.src.pitch / bytes}, mid,
        static_cast<cl_int>(mid_pitch), cl_int{problem_.width}, cl_int{problem_.height},
        cl_int{columns.first}, cl_int{columns.count}, cl_int{x_.level.step}, cl_int{lines.first},
        cl_int{lines.count}, cl_int{y_.level.step}, x_.spline, y_.spline, x_.weights,
        cl_int{x_.level.radius}, static_cast<cl_int>(problem_.border), outside, cl_int{first_pixel},
        cl_int{pixels}, cl_int{inside_begin}, cl_int{inside_end - inside_begin}, memory,
        cl_ulong{down_floats}, static_cast<cl_int>(line_pitch), static_cast<cl_int>(strip));
    Kernel up(runtime_, program_, "gaussian_blur_cpu_pyramid_up");
    return up(Launch::groups({tiles, up_strips, batch}, {1, 1, 1}), {first}, mid,
              static_cast<cl_int>(mid_pitch), call.dst.buffer, cl_ulong{call.dst.offset / bytes},
              cl_ulong{call.dst.pitch / bytes}, cl_int{region.x}, cl_int{region.y},
              cl_int{region.width}, cl_int{region.height}, cl_int{columns.first},
              cl_int{x_.level.step}, cl_int{lines.first}, cl_int{lines.count},
              cl_int{y_.level.step}, x_.spline, y_.spline, y_.weights, cl_int{y_.level.radius},
              memory, cl_ulong{up_floats}, static_cast<cl_int>(small_pitch),
              static_cast<cl_int>(high));
  }

  std::string describe() const override {
    return text("cells of ", x_.level.step, " x ", y_.level.step, " pixels, rows of ",
                2 * x_.level.radius + 1, " and columns of ", 2 * y_.level.radius + 1,
                " cells, two launches");
  }

 private:
  static constexpr double kLeastSigma = 16;
  static constexpr int kTile = 256;  // TILE of the kernel

  // One axis of the small picture.
  struct Level {
    int step = 4;                 // pixels of a cell, a multiple of 4
    int radius = 0;               // cells
    std::vector<double> weights;  // of the taps -radius .. radius
    std::vector<double> spline;   // of each pixel of a cell: of the cell before, its own, the next
    double error = 0;             // the largest sum of absolute differences to the exact weights

    explicit Level(const Axis& axis) : step(static_cast<int>(axis.sigma / 16) * 4) {
      for (int p = 0; p < step; ++p) {
        const double u = (p + 0.5) / step - 0.5;
        spline.push_back((0.5 - u) * (0.5 - u) / 2);
        spline.push_back(0.75 - u * u);
        spline.push_back((0.5 + u) * (0.5 + u) / 2);
      }
      const int around = static_cast<int>(std::lround(static_cast<double>(axis.radius) / step));
      error = 3;
      for (const int cells : {around - 1, around}) {
        const std::vector<double> taps = make_taps(axis, std::max(cells, 1));
        const double worst = worst_error(axis, taps);
        if (worst >= error) continue;
        error = worst;
        weights = taps;
        radius = std::max(cells, 1);
      }
    }

    // A sampled Gaussian that gives the whole the variance of the exact filter: both splines
    // have a quarter of a cell's at every pixel.
    std::vector<double> make_taps(const Axis& axis, int cells) const {
      double exact = 0;
      for (int k = 1; k <= axis.radius; ++k)
        exact += 2 * axis.weights[static_cast<std::size_t>(k)] * k * k;
      const double wanted = exact / (static_cast<double>(step) * step) - 0.5;
      double variance = wanted;
      std::vector<double> out;
      for (int round = 0; round < 20; ++round) {
        out.clear();
        double sum = 0;
        double spread = 0;
        for (int k = -cells; k <= cells; ++k) {
          out.push_back(std::exp(-k * k / (2 * variance)));
          sum += out.back();
          spread += out.back() * k * k;
        }
        for (double& weight : out) weight /= sum;
        // The flatter, the less the ends let it spread.
        variance = std::min(variance * wanted * sum / spread, 1e6);
      }
      return out;
    }

    // What an output sees of a picture is the sum of its weights in each cell, spread by the spline
    // over the cell's pixels: for each phase of the output against the exact weights. The phases
    // mirror each other. Of large cells 8 phases or a few more are looked at: all sigmas tried lose
    // less than 1 % by that, for which 3 % are added.
    double worst_error(const Axis& axis, const std::vector<double>& taps) const {
      const int cells = static_cast<int>(taps.size() / 2);
      const int stride = std::max(1, step / 16);
      double worst = 0;
      std::vector<double> large(taps.size() + 6);  // of the cells -cells - 3 .. cells + 3
      for (int p = 0; p < step / 2; p += stride) {
        std::fill(large.begin(), large.end(), 0.0);
        for (std::size_t i = 0; i < taps.size(); ++i) {
          for (std::size_t j = 0; j < 3; ++j)
            large[i + j + 2] += taps[i] * spline[static_cast<std::size_t>(3 * p) + j] / step;
        }
        double sum = 0;
        double seen = 0;  // of the exact weights
        for (int cell = -cells - 2; cell <= cells + 2; ++cell) {
          const double* at = large.data() + cell + cells + 2;
          const double* s = spline.data();
          for (int q = 0; q < step; ++q, s += 3) {
            const int k = std::abs(cell * step + q - p);
            const double exact = k <= axis.radius ? axis.weights[static_cast<std::size_t>(k)] : 0;
            seen += exact;
            sum += std::abs(at[0] * s[0] + at[1] * s[1] + at[2] * s[2] - exact);
          }
        }
        worst = std::max(worst, sum + std::max(0.0, 1 - seen));
      }
      return stride == 1 ? worst : 1.03 * worst;
    }
  };

  struct Design {
    Level x;
    Level y;
  };

  // The cells that pixels are made of.
  struct Cells {
    int first;
    int count;
    Cells(const Level& level, int begin, int size)
        : first(begin / level.step - 1),
          count((begin + size - 1) / level.step - begin / level.step + 3) {}
  };

  struct Side {
    Level level;
    cl::Buffer spline;
    cl::Buffer weights;

    Side(const Runtime& runtime, const Level& one)
        : level(one),
          spline(upload_floats(runtime, level.spline)),
          weights(upload_floats(runtime, level.weights)) {}
  };

  // Floats of a line, with room for the 64 that begin inside.
  static std::size_t padded(int floats) { return static_cast<std::size_t>(floats + 127) / 64 * 64; }

  Runtime runtime_;
  Problem problem_;
  Side x_;
  Side y_;
  cl::Program program_;
};

}  // namespace clcook::gaussian
