// The method cpu_pyramid, for CPUs and large sigma: the picture is made small with quadratic
// B-splines, blurred, and made large again. Its cost does not grow with sigma.
#pragma once

#include <algorithm>
#include <clcook/core/math.hpp>
#include <clcook/embedded/gaussian_blur.hpp>
#include <clcook/gaussian_blur/method.hpp>
#include <clcook/gaussian_blur/spline_grid.hpp>
#include <cstddef>
#include <string>
#include <vector>

namespace clcook::gaussian {

class CpuPyramid : public Method {
 public:
  // One axis of the small picture.
  struct Level {
    int step = 4;  // pixels of a cell, a multiple of 4
    spline::Spline spline{4};
    int radius = 0;               // cells
    std::vector<double> weights;  // of the taps 0 .. radius
    double error = 0;             // the largest sum of absolute differences to the exact weights

    Level() = default;
    explicit Level(const FilterAxis& axis)
        : step(static_cast<int>(axis.sigma / 16) * 4), spline(step) {
      const int around = static_cast<int>(math::lround(static_cast<double>(axis.radius) / step));
      error = 3;
      for (const int cells : {around - 1, around}) {
        const std::vector<double> taps = make_taps(axis, std::max(cells, 1));
        std::vector<double> g = taps;
        for (double& weight : g) weight /= step;
        const double worst = spline::worst_phase(axis, spline, g);
        if (worst >= error) continue;
        error = worst;
        weights = taps;
        radius = std::max(cells, 1);
      }
    }

    // A sampled Gaussian that gives the whole the variance of the exact filter: both splines
    // have a quarter of a cell's at every pixel.
    std::vector<double> make_taps(const FilterAxis& axis, int cells) const {
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
        for (int k = 0; k <= cells; ++k) {
          out.push_back(math::exp(-k * k / (2 * variance)));
          sum += (k == 0 ? 1 : 2) * out.back();
          spread += 2 * out.back() * k * k;
        }
        for (double& weight : out) weight /= sum;
        // The flatter, the less the ends let it spread.
        variance = std::min(variance * wanted * sum / spread, 1e6);
      }
      return out;
    }
  };

  struct Design {
    Level x;
    Level y;
  };

  static Offer offer(const Runtime&, const Problem& p, const Axes& axes, Design& design) {
    if (may_be_anything(p)) {
      return Offer::no(
          Lacks::problem,
          "NaN and infinity would spread further than the filter reaches; a peak above 0 "
          "promises that there are none");
    }
    if (axes.x.sigma < kLeastSigma || axes.y.sigma < kLeastSigma) {
      return Offer::no(Lacks::problem,
                       text("needs a sigma of at least ", kLeastSigma, " along both axes, got ",
                            axes.x.sigma, " x ", axes.y.sigma));
    }
    Level& x = design.x;
    Level& y = design.y;
    x = Level(axes.x);
    y = axes.x.sigma == axes.y.sigma ? x : Level(axes.y);
    // As in pyramid.hpp, and a rounding for each term of a sum.
    const double error = x.error + y.error + x.error * y.error;
    const double rounding = 0x1p-23 * (3 * x.step + 2 * x.radius + 3 * y.step + 2 * y.radius + 16);
    Offer out;
    out.max_error = (is_from_zero(p) ? error / 2 : error) + rounding;
    // As a copy does, and the rows that are read again where the border is no repeated edge.
    const double again = repeats_edge(p.border) ? 0 : 2.0 * axes.y.radius / p.height;
    out.work = {(1 + again) * bytes_of(p), bytes_of(p), 14 * (2 + again) * values_of(p), 2};
    out.in_place = true;  // src has been read when the result is written
    return out;
  }

  static std::vector<CompileUnit> units(const Problem& p, const Axes&, const DeviceInfo&) {
    Defines defines;
    set_pixel(defines, p);
    defines.set("CLCOOK_GAUSSIAN_TILE", kTile);
    const embedded::File& file = embedded::gaussian_blur_cpu_pyramid;
    return {unit("gaussian_blur_cpu_pyramid_down", file, defines, {1, 1, 1}),
            unit("gaussian_blur_cpu_pyramid_up", file, defines, {1, 1, 1})};
  }

  CpuPyramid(const Runtime& runtime, const Problem& problem, const Axes&, const Design& design,
             const std::vector<cl::Program>& programs)
      : runtime_(runtime), problem_(problem), x_(runtime, design.x), y_(runtime, design.y) {
    program_ = programs[0];
  }

  cl::Event enqueue(const Call& call, Scratch& scratch,
                    const std::vector<cl::Event>& wait) override {
    const Region& region = call.region;
    const int channels = channels_of(problem_);
    const auto batch = static_cast<std::size_t>(problem_.batch);
    const auto units = static_cast<std::size_t>(runtime_.info().compute_units);
    const spline::Cells columns(x_.level.step, region.x, region.width);
    spline::Cells lines(y_.level.step, region.y, region.height);
    lines.first -= y_.level.radius;
    lines.count += 2 * y_.level.radius;
    // Pixels of a row that make cells, and those of them that are read.
    int begin = (columns.first - x_.level.radius - 1) * x_.level.step;
    int end = begin + (columns.count + 2 * x_.level.radius + 2) * x_.level.step;
    const bool everywhere = repeats_picture(problem_.border) && (begin < 0 || end > problem_.width);
    const int inside_begin = everywhere ? 0 : std::clamp(begin, 0, region.x);
    const int inside_end =
        everywhere ? problem_.width : std::clamp(end, region.x + region.width, problem_.width);
    const int first_pixel = std::min(begin, inside_begin);
    const int pixels = std::max(end, inside_end) - first_pixel;
    const std::size_t mid_pitch = padded(columns.count * channels);
    const auto line_count = static_cast<std::size_t>(lines.count);
    const cl::Buffer mid = scratch.get(runtime_, 0, mid_pitch * line_count * batch * sizeof(float));
    const std::size_t bytes = channel_bytes(problem_.pixel);
    const KernelCells x{columns.first, columns.count, x_.level.step, x_.level.radius};
    const KernelCells y{lines.first, lines.count, y_.level.step, y_.level.radius};
    const KernelSpan span{first_pixel, pixels, inside_begin, inside_end - inside_begin};

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

    Kernel down(call.runtime, program_, "gaussian_blur_cpu_pyramid_down");
    const cl::Event first =
        down(Launch::groups({1, down_items, batch}, {1, 1, 1}), wait, call.src.buffer,
             kernel_view(call.src, bytes), mid, kernel_picture(problem_, region),
             static_cast<cl_int>(strip), x, x_.table, y, y_.table, span, memory,
             KernelScratch{down_floats, static_cast<cl_int>(line_pitch),
                           static_cast<cl_int>(mid_pitch)});
    Kernel up(call.runtime, program_, "gaussian_blur_cpu_pyramid_up");
    return up(
        Launch::groups({tiles, up_strips, batch}, {1, 1, 1}), {first}, mid, call.dst.buffer,
        kernel_view(call.dst, bytes), kernel_region(region), static_cast<cl_int>(high), x, x_.table,
        y, y_.table, memory,
        KernelScratch{up_floats, static_cast<cl_int>(small_pitch), static_cast<cl_int>(mid_pitch)});
  }

  std::string describe() const override {
    return text("cells of ", x_.level.step, " x ", y_.level.step, " pixels, rows of ",
                2 * x_.level.radius + 1, " and columns of ", 2 * y_.level.radius + 1,
                " cells, two launches");
  }

  // Cells are made of the pixels of three blocks.
  Cut cut() const override { return {y_.level.step, 5 * y_.level.step}; }

 private:
  static constexpr double kLeastSigma = 16;
  static constexpr int kTile = 256;  // pixels of a tile of results

  // cells_t, span_t and scratch_t of the kernels.
  struct KernelCells {
    cl_int first, count, step, radius;
  };
  struct KernelSpan {
    cl_int x, count, inside_x, inside_count;
  };
  struct KernelScratch {
    cl_ulong item_floats;
    cl_int line_pitch, mid_pitch;
  };
  static_assert(sizeof(KernelCells) == 16 && sizeof(KernelSpan) == 16 &&
                sizeof(KernelScratch) == 16);

  struct Side {
    Level level;
    cl::Buffer table;  // the spline, then the weights of the taps -radius .. radius

    Side(const Runtime& runtime, const Level& one) : level(one) {
      std::vector<double> values = level.spline.weights;
      values.insert(values.end(), level.weights.rbegin(), level.weights.rend());
      values.insert(values.end(), level.weights.begin() + 1, level.weights.end());
      table = upload_floats(runtime, values);
    }
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
