// The method pyramid: the blur of a coarse grid of quadratic B-splines. Reads the picture once and
// writes it once; the cost does not depend on sigma, which must be at least 8 pixels along both
// axes.
#pragma once

#include <algorithm>
#include <array>
#include <clcook/core/math.hpp>
#include <clcook/embedded/gaussian_blur.hpp>
#include <clcook/gaussian_blur/method.hpp>
#include <clcook/gaussian_blur/spline_grid.hpp>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace clcook::gaussian {

// One axis of the coarse grid: D is 8, 16, 32 or 64, and g is fitted. The splines of the way down
// and of the way up both have triple zeros at the frequencies 2 pi k / D, k not 0, that would fold
// onto the mean, so little is left to go wrong for frequencies that a blur with sigma > D lets
// through; and what the splines themselves blur, g undoes.
namespace spline {

inline constexpr int kLogMin = 3;
inline constexpr int kLogMax = 6;
inline constexpr int kRadiusMax = 72;  // of g

// A spline with what fit() needs of it.
struct Fitted : Spline {
  std::vector<double> twice;     // its autocorrelation at 0, 1, .. 3 D - 1, the weights of
                                 // pixels around the middle of a cell in a blur with g = 1
  std::array<double, 6> gram{};  // autocorrelation of `twice` at 0, D, .. 5 D

  explicit Fitted(int log) : Spline(1 << log) {
    std::vector<double> b;  // of the pixels -D .. 2 D - 1; the sum is D
    for (const int m : {2, 1, 0}) {
      for (int phase = 0; phase < cell; ++phase) b.push_back(of_phase(phase)[m]);
    }
    const auto size = b.size();
    for (std::size_t shift = 0; shift < size; ++shift) {
      double sum = 0;
      for (std::size_t n = shift; n < size; ++n) sum += b[n] * b[n - shift];
      twice.push_back(sum);
    }
    for (int k = 0; k < 6; ++k) {
      for (int n = -3 * cell; n <= 3 * cell; ++n)
        gram[static_cast<std::size_t>(k)] += at(n) * at(n - k * cell);
    }
  }

  double at(int n) const {
    const auto i = static_cast<std::size_t>(std::abs(n));
    return i < twice.size() ? twice[i] : 0.0;
  }
};

inline const Fitted& get(int log) {
  static const std::array<Fitted, 4> all{Fitted(3), Fitted(4), Fitted(5), Fitted(6)};
  return all[static_cast<std::size_t>(log - kLogMin)];
}

inline int radius(const FilterAxis& axis, int cell) { return (axis.radius + cell - 1) / cell + 2; }

// The weights 0 .. radius() of g: of all, those with which the mean over all pixels of a cell of
// what a pixel gets, sum_k g[k] twice[n - k D], is nearest to the filter in least squares, scaled
// to keep flat pictures as they are. The normal equations have the matrix gram[k - l], a band.
inline std::vector<double> fit(const FilterAxis& axis, const Fitted& s) {
  const int reach = radius(axis, s.cell);
  const int count = 2 * reach + 1;
  constexpr int kBand = 5;
  // Rows of the upper half of the band, and the right side.
  std::vector<std::array<double, kBand + 2>> rows(static_cast<std::size_t>(count));
  for (int k = 0; k <= reach; ++k) {
    double sum = 0;
    const int middle = k * s.cell;
    const int begin = std::max(-axis.radius, middle - 3 * s.cell + 1);
    const int end = std::min(axis.radius, middle + 3 * s.cell - 1);
    for (int n = begin; n <= end; ++n)
      sum += s.at(n - middle) * axis.weights[static_cast<std::size_t>(std::abs(n))];
    for (const int i : {reach - k, reach + k}) {
      auto& row = rows[static_cast<std::size_t>(i)];
      for (std::size_t j = 0; j <= kBand; ++j) row[j] = s.gram[j];
      row[kBand + 1] = sum;
    }
  }
  const auto size = rows.size();
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 1; j <= kBand && i + j < size; ++j) {
      const double factor = rows[i][j] / rows[i][0];
      for (std::size_t k = j; k <= kBand; ++k) rows[i + j][k - j] -= factor * rows[i][k];
      rows[i + j][kBand + 1] -= factor * rows[i][kBand + 1];
    }
  }
  std::vector<double> g(size);
  double total = 0;
  for (std::size_t i = size; i-- > 0;) {
    g[i] = rows[i][kBand + 1];
    for (std::size_t j = 1; j <= kBand && i + j < size; ++j) g[i] -= rows[i][j] * g[i + j];
    g[i] /= rows[i][0];
    total += g[i];
  }
  // A flat picture of 1 makes cells of D, and cells of 1 make pixels of 1.
  for (double& weight : g) weight /= total * s.cell;
  return {g.begin() + reach, g.end()};
}

// The largest error of a pixel along one axis, in units of the peak: no picture within it has a
// larger one, and one has it. That one alternates as the cells do, or, where the error comes from
// the ends of the filter, is drawn for it; in pictures of edges and noise 1/60 and 1/120 of it were
// measured.
inline double error(const FilterAxis& axis, int log) {
  const Fitted& s = get(log);
  return worst_phase(axis, s, fit(axis, s));
}

// Cells and tiles that a region needs along one axis. The kernels find cell m of the filter's
// input at clcook_border(m - first, count, border).
struct Grid {
  int first;      // cell that is stored first
  int count;      // cells stored
  Border border;  // of the cells
  int pixel;      // first one of the first tile
  int tiles;
  int out_first;  // cell of the filtered grid
  int outs;
};

inline Grid make_grid(int size, Border border, int log, int reach, int begin, int count, int tile) {
  const int cell = 1 << log;
  const int blocks = (size - 1) / cell + 1;
  Grid out;
  const Cells cells(cell, begin, count);
  out.out_first = cells.first;
  out.outs = cells.count;
  int low = out.out_first - reach;
  int high = out.out_first + out.outs - 1 + reach;
  out.border = Border::clamp;
  if (!repeats_picture(border)) {
    // The cells -2 and blocks + 1 see nothing but what lies outside, as all beyond them do.
    low = std::max(low, -2);
    high = std::min(high, blocks + 1);
  } else if (repeats_blocks(border) && (low < 0 || high >= blocks) && size % cell == 0) {
    // The cells repeat as the pixels do.
    low = 0;
    high = blocks - 1;
    out.border = border;
  }
  out.first = low;
  out.count = high - low + 1;
  out.pixel = (low - 1) * cell;  // cells take in the blocks around them
  out.tiles = ((out.count + 2) * cell - 1) / tile + 1;
  return out;
}

}  // namespace spline

class Pyramid : public Method {
 public:
  struct Choice {
    struct Along {
      int log = 0;       // of the width of a cell
      double error = 0;  // see spline::error()
      int radius = 0;    // of the small filter, see spline::radius()
    };
    Along x;
    Along y;
  };

  // The largest cells that promise the quality, or else the best, along each axis.
  static Choice choose(const Problem& p, const Axes& axes) {
    const auto along = [&](const FilterAxis& axis) {
      Choice::Along out;
      for (int log = spline::kLogMax; log >= spline::kLogMin; --log) {
        const int radius = spline::radius(axis, 1 << log);
        if (axis.sigma < (1 << log) || radius > spline::kRadiusMax) continue;
        const Choice::Along next{log, spline::error(axis, log), radius};
        if (out.log == 0 || next.error < out.error) out = next;
        if (psnr_of(max_error(p, {next, next}) + alpha_roundings(p)) >= p.quality) break;
      }
      return out;
    };
    const Choice::Along x = along(axes.x);
    return {x, axes.x.sigma == axes.y.sigma ? x : along(axes.y)};
  }

  // In units of the peak. |e_x e_y - t_x t_y| <= |e_x - t_x| |t_y| + |e_x| |e_y - t_y| for the
  // weights e that a pixel gets and the weights t of the filter, with |t| = 1 and
  // |e_x| <= 1 + |e_x - t_x|. Each pass rounds as often as it adds products, and so do the weights;
  // the filter's weights change sign: |g| sums up to less than 1.8 along each axis.
  static double max_error(const Problem& p, const Choice& choice) {
    const double x = choice.x.error;
    const double y = choice.y.error;
    const double both = x + y + x * y;
    const double roundings = 3 * ((1 << choice.x.log) + (1 << choice.y.log)) +
                             2 * (choice.x.radius + choice.y.radius) + 20;
    return (is_from_zero(p) ? both / 2 : both) + 3.3 * roundings * 0x1p-24;
  }

  using Design = Choice;

  static Offer offer(const Runtime& runtime, const Problem& p, const Axes& axes, Design& choice) {
    if (may_be_anything(p))
      return Offer::no(Lacks::problem,
                       "there may be NaN and infinities, which its grid would spread");
    const double least = std::min(axes.x.sigma, axes.y.sigma);
    if (least < 8)
      return Offer::no(Lacks::problem, text("sigma must be at least 8 pixels along both axes, got ",
                                            three_digits(least)));
    if (p.truncate < 1.5)
      return Offer::no(Lacks::problem,
                       text("truncate must be at least 1.5, got ", three_digits(p.truncate)));
    choice = choose(p, axes);
    Offer out;
    out.max_error = max_error(p, choice);
    // What lies beyond the border is read too, as far as the filter reaches where it repeats.
    const auto read = [&](const FilterAxis& axis, int log, int size, int tile) {
      const spline::Grid grid =
          spline::make_grid(size, p.border, log, spline::radius(axis, 1 << log), 0, size, tile);
      return static_cast<double>(grid.tiles) * tile / size;
    };
    const double more = read(axes.x, choice.x.log, p.width, kTileWidth) *
                        read(axes.y, choice.y.log, p.height, kTileHeight);
    // A pixel costs the same with fewer channels. Measured with RGBA of f32 and u8.
    const double pixels = values_of(p) / channels_of(p) * (1 + more) / 2;
    if (runtime.info().cpu) {
      out.work = {0, 0, 2700 * pixels, 5};
    } else {
      out.work = {0, 0,
                  (channel_bytes(p.pixel) == 4   ? 420
                   : channel_bytes(p.pixel) == 1 ? 220
                                                 : 300) *
                      pixels,
                  6};
    }
    out.in_place = true;  // src has been read when the last pass writes
    return out;
  }

  static std::vector<CompileUnit> units(const Problem& p, const Axes&, const DeviceInfo&) {
    Defines defines;
    set_pixel(defines, p);
    defines.set("CLCOOK_GAUSSIAN_LOG_TILE_W", kLogTileWidth)
        .set("CLCOOK_GAUSSIAN_TILE_H", kTileHeight)
        .set("CLCOOK_GAUSSIAN_LINE", static_cast<int>(kRows[0]))
        .set("CLCOOK_GAUSSIAN_LINES", static_cast<int>(kRows[1]))
        .set("CLCOOK_GAUSSIAN_COLUMN", static_cast<int>(kColumns[1]))
        .set("CLCOOK_GAUSSIAN_COLUMNS", static_cast<int>(kColumns[0]))
        .set("CLCOOK_GAUSSIAN_RADIUS_MAX", spline::kRadiusMax)
        .set("CLCOOK_GAUSSIAN_STRIP", kStrip);
    const embedded::File& file = embedded::gaussian_blur_pyramid;
    return {unit("gaussian_blur_pyramid_down", file, defines, kDown),
            unit("gaussian_blur_pyramid_rows", file, defines, kRows),
            unit("gaussian_blur_pyramid_columns", file, defines, kColumns),
            unit("gaussian_blur_pyramid_up", file, defines, kUp)};
  }

  Pyramid(const Runtime& runtime, const Problem& problem, const Axes& axes, const Design& choice,
          const std::vector<cl::Program>& programs)
      : runtime_(runtime), problem_(problem), choice_(choice) {
    const std::vector<double> x = spline::fit(axes.x, spline::get(choice_.x.log));
    const std::vector<double> y =
        axes.x.sigma == axes.y.sigma ? x : spline::fit(axes.y, spline::get(choice_.y.log));
    radius_x_ = static_cast<int>(x.size()) - 1;
    radius_y_ = static_cast<int>(y.size()) - 1;
    std::vector<double> values = x;
    values.insert(values.end(), y.begin(), y.end());
    weights_ = upload_floats(runtime, values);
    program_ = programs[0];
  }

  cl::Event enqueue(const Call& call, Scratch& scratch,
                    const std::vector<cl::Event>& wait) override {
    const Region& region = call.region;
    const int log_x = choice_.x.log;
    const int log_y = choice_.y.log;
    const spline::Grid x = spline::make_grid(problem_.width, problem_.border, log_x, radius_x_,
                                             region.x, region.width, kTileWidth);
    const spline::Grid y = spline::make_grid(problem_.height, problem_.border, log_y, radius_y_,
                                             region.y, region.height, kTileHeight);
    const auto size = [](int value) { return static_cast<std::size_t>(value); };
    const std::size_t batch = size(problem_.batch);
    const std::size_t cell_bytes = sizeof(cl_float4) * batch;
    const cl::Buffer pieces =
        scratch.get(runtime_, 0,
                    size(x.tiles) * size((kTileWidth >> log_x) + 2) * size(y.tiles) *
                        size(std::max(kTileHeight >> log_y, 1) + 2) * cell_bytes);
    const cl::Buffer mid = scratch.get(runtime_, 1, size(x.outs) * size(y.count) * cell_bytes);
    const cl::Buffer coarse = scratch.get(runtime_, 2, size(x.outs) * size(y.outs) * cell_bytes);
    const std::size_t bytes = channel_bytes(problem_.pixel);
    const KernelPicture picture = kernel_picture(problem_, region);
    const KernelGrid grid_x(x, log_x, radius_x_);
    const KernelGrid grid_y(y, log_y, radius_y_);

    Kernel down(call.runtime, program_, "gaussian_blur_pyramid_down");
    cl::Event done =
        down(Launch::groups({size(x.tiles), size(y.tiles), batch}, kDown), wait, call.src.buffer,
             kernel_view(call.src, bytes), pieces, picture, grid_x, grid_y);
    Kernel rows(call.runtime, program_, "gaussian_blur_pyramid_rows");
    done = rows(Launch::cover({size(x.outs), size(y.count), batch}, kRows), {done}, pieces, mid,
                grid_x, grid_y, weights_);
    Kernel columns(call.runtime, program_, "gaussian_blur_pyramid_columns");
    done = columns(Launch::cover({size(x.outs), size(y.outs), batch}, kColumns), {done}, mid,
                   coarse, grid_x, grid_y, weights_);
    Kernel up(call.runtime, program_, "gaussian_blur_pyramid_up");
    const int strips = (region.y % 8 + region.height - 1) / kStrip + 1;
    return up(Launch::cover({size(region.width), size(strips), batch}, kUp), {done}, coarse, grid_x,
              grid_y, call.dst.buffer, kernel_view(call.dst, bytes), picture);
  }

  std::string describe() const override {
    return text("cells of ", 1 << choice_.x.log, " x ", 1 << choice_.y.log, " pixels, filters of ",
                2 * radius_x_ + 1, " and ", 2 * radius_y_ + 1, " taps on them, four launches");
  }

  // Cells are made of the pixels of three blocks, and the small filter has two taps more.
  Cut cut() const override { return {1 << choice_.y.log, 6 << choice_.y.log}; }

 private:
  static constexpr int kLogTileWidth = 7;
  static constexpr int kTileWidth = 1 << kLogTileWidth;
  static constexpr Launch::Sizes kDown{kTileWidth, 1, 1};  // work-items of the groups
  static constexpr Launch::Sizes kRows{64, 2, 1};
  static constexpr Launch::Sizes kColumns{8, 16, 1};
  static constexpr Launch::Sizes kUp{128, 1, 1};
  static constexpr int kTileHeight = 32;
  static constexpr int kStrip = 32;

  // grid_t of the kernels.
  struct KernelGrid {
    KernelGrid(const spline::Grid& grid, int log_of_cell, int radius_of_filter)
        : log(log_of_cell),
          radius(radius_of_filter),
          pixel(grid.pixel),
          tiles(grid.tiles),
          first(grid.first),
          count(grid.count),
          border(static_cast<cl_int>(grid.border)),
          out_first(grid.out_first),
          outs(grid.outs) {}

    cl_int log, radius, pixel, tiles, first, count, border, out_first, outs;
  };
  static_assert(sizeof(KernelGrid) == 9 * 4);

  Runtime runtime_;
  Problem problem_;
  Choice choice_;
  int radius_x_ = 0;
  int radius_y_ = 0;
  cl::Buffer weights_;  // of the rows, then of the columns
  cl::Program program_;
};

}  // namespace clcook::gaussian
