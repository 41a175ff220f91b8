// The method pyramid of gaussian_blur: its bound against the weights that pixels really get, the
// device against a scalar model with the very same coarse grid, the promise at every border, and
// what it refuses.
#include <doctest/doctest.h>

#include <clcook/cookbook/gaussian_blur.hpp>
#include <clcook/gaussian_blur/pyramid.hpp>
#include <clcook/registry/conformance.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "support/borders.hpp"
#include "support/grid.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;
namespace ref = clcook::reference::gaussian_blur;
namespace spline = clcook::gaussian::spline;

namespace {

using Problem = GaussianBlur::Problem;

// The quadratic B-spline of cells of `cell` pixels, by its definition.
double b(int n, int cell) {
  const double u = std::abs((n + 0.5) / cell - 0.5);
  return u < 0.5 ? 0.75 - u * u : u < 1.5 ? 0.5 * (1.5 - u) * (1.5 - u) : 0.0;
}

// The weights that pixel x takes of the pixels x - reach .. x + reach.
struct Weights {
  int reach;
  std::vector<double> values;
};
Weights weights_of(int x, int cell, const std::vector<double>& g) {
  const int radius = static_cast<int>(g.size()) - 1;
  Weights out{(radius + 4) * cell, {}};
  out.values.assign(static_cast<std::size_t>(2 * out.reach + 1), 0.0);
  const int middle = x / cell;
  for (int m = middle - 1; m <= middle + 1; ++m) {
    for (int k = -radius; k <= radius; ++k) {
      const double weight = b(x - m * cell, cell) * g[static_cast<std::size_t>(std::abs(k))];
      for (int n = (m + k - 1) * cell; n < (m + k + 2) * cell; ++n)
        out.values[static_cast<std::size_t>(n - x + out.reach)] +=
            weight * b(n - (m + k) * cell, cell);
    }
  }
  return out;
}

// One axis of the model: the weights of all pixels of a line for each pixel, and of the constant.
std::vector<std::vector<double>> matrix(int size, double sigma, double truncate, int log,
                                        ref::Border border) {
  const std::vector<double> g = spline::fit(gaussian::make_axis(sigma, truncate), spline::get(log));
  std::vector<std::vector<double>> out;
  for (int x = 0; x < size; ++x) {
    const Weights w = weights_of(x, 1 << log, g);
    std::vector<double> row(static_cast<std::size_t>(size), 0.0);
    for (int n = -w.reach; n <= w.reach; ++n) {
      const auto at = ref::border_index(x + n, size, border);
      if (at >= 0)
        row[static_cast<std::size_t>(at)] += w.values[static_cast<std::size_t>(n + w.reach)];
    }
    out.push_back(row);
  }
  return out;
}

}  // namespace

TEST_CASE("gaussian_blur pyramid: the bound holds for every pixel of a cell of every size") {
  for (int log = spline::kLogMin; log <= spline::kLogMax; ++log) {
    const int cell = 1 << log;
    for (const double ratio : {1.0, 1.13, 1.35, 1.88, 2.69, 5.07, 7.8}) {
      for (const double truncate : {1.5, 1.7, 2.3, 3.0, 4.0, 8.0}) {
        const gaussian::FilterAxis axis = gaussian::make_axis(ratio * cell, truncate);
        if (spline::radius(axis, cell) > spline::kRadiusMax) continue;
        const std::vector<double> g = spline::fit(axis, spline::get(log));
        const int phases = cell < 32 ? cell : cell / 2;
        double worst = 0;
        for (int phase = 0; phase < phases; phase += cell < 32 ? 1 : 3) {
          const Weights w = weights_of(phase, cell, g);
          double sum = 0;
          double total = 0;
          for (int n = -w.reach; n <= w.reach; ++n) {
            const double weight = w.values[static_cast<std::size_t>(n + w.reach)];
            const auto tap = static_cast<std::size_t>(std::abs(n));
            sum += std::abs(weight - (tap < axis.weights.size() ? axis.weights[tap] : 0));
            total += weight;
          }
          CHECK(total == doctest::Approx(1).epsilon(1e-12));
          CHECK(spline::error_of_phase(axis, spline::get(log), g, phase) ==
                doctest::Approx(sum).epsilon(1e-9));
          worst = std::max(worst, sum);
        }
        const double bound = spline::error(axis, log);
        CAPTURE(cell);
        CAPTURE(ratio);
        CAPTURE(truncate);
        CHECK(worst <= (1 + 1e-9) * bound);
        CHECK(worst >= 0.97 * bound);
      }
    }
  }
}

LONG_TEST_CASE("gaussian_blur pyramid: the device does what the model does", 16) {
  const int width = 190;
  const int height = 141;
  Random random(5);
  std::vector<float> values(static_cast<std::size_t>(width * height * 4));
  for (float& value : values) value = random.uniform();
  const cl::Buffer src =
      create_buffer(runtime(), values.size() * sizeof(float), CL_MEM_READ_WRITE, values.data());
  const cl::Buffer dst = create_buffer(runtime(), values.size() * sizeof(float));
  struct Row {
    double sigma_x;
    double sigma_y;
    double truncate;
    double quality;
  };
  for (const Row& row : {Row{20, 70, 4, 0}, Row{70, 33, 2, 32}, Row{80, 50, 3, 50}}) {
    for (const BorderRow& mode : kBorders) {
      const Border border = mode.value;
      Problem p{width, height, row.sigma_x, row.sigma_y};
      p.truncate = row.truncate;
      p.quality = row.quality;
      p.peak = 1;
      p.border = border;
      p.outside = {0.25f, 1, 0, 0.75f};
      const auto choice = gaussian::Pyramid::choose(p, gaussian::make_axes(p));
      const auto outside = reference_border(border);
      const auto x = matrix(width, p.sigma_x, p.truncate, choice.x.log, outside);
      const auto y = matrix(height, p.sigma_y, p.truncate, choice.y.log, outside);
      const GaussianBlur blur(runtime(), p, "pyramid");
      const std::vector<float> got =
          read_buffer<float>(runtime(), dst, values.size(), {blur(src, dst)});
      const GaussianBlur::Region region{37, 29, 90, 77};
      const std::vector<float> part =
          read_buffer<float>(runtime(), dst, 90 * 77 * 4, {blur(src, dst, region)});
      double worst = 0;
      double part_worst = 0;
      const auto w = static_cast<std::size_t>(width);
      const auto h = static_cast<std::size_t>(height);
      for (std::size_t c = 0; c < 4; ++c) {
        // What lies outside is 0 once it is subtracted.
        const double beyond = is_constant(border) ? static_cast<double>(p.outside[c]) : 0;
        std::vector<double> mid(w * h);
        for (std::size_t j = 0; j < h; ++j) {
          for (std::size_t i = 0; i < w; ++i) {
            for (std::size_t n = 0; n < w; ++n)
              mid[j * w + i] +=
                  x[i][n] * (static_cast<double>(values[(j * w + n) * 4 + c]) - beyond);
          }
        }
        for (std::size_t j = 0; j < h; ++j) {
          for (std::size_t i = 0; i < w; ++i) {
            double sum = beyond;
            for (std::size_t n = 0; n < h; ++n) sum += y[j][n] * mid[n * w + i];
            worst = std::max(worst, std::abs(sum - static_cast<double>(got[(j * w + i) * 4 + c])));
            if (j >= 29 && j < 106 && i >= 37 && i < 127) {
              const auto at = ((j - 29) * 90 + i - 37) * 4 + c;
              part_worst = std::max(part_worst, std::abs(sum - static_cast<double>(part[at])));
            }
          }
        }
      }
      CAPTURE(row.sigma_x);
      CAPTURE(std::string(GaussianBlur::to_string(border)));
      CHECK(worst <= 3e-6);
      CHECK(part_worst <= 3e-6);
    }
  }
}

LONG_TEST_CASE("gaussian_blur pyramid: the promise holds at every border and for every sigma", 16) {
  Random random(9);
  ref::Picture in{200, 150, 4, cookbook::gaussian_blur_card::picture(random, 200, 150, 4)};
  const std::vector<unsigned char> stored =
      cookbook::gaussian_blur_card::store(GaussianBlur::Pixel::f32, in.values);
  const cl::Buffer src = create_buffer(runtime(), stored.size(), CL_MEM_READ_ONLY, stored.data());
  const cl::Buffer dst = create_buffer(runtime(), stored.size());
  std::size_t number = 0;
  for (const double sigma : {8.0, 16.0, 34.0, 66.0}) {
    for (const BorderRow& mode : kBorders) {
      const Border border = mode.value;
      if (left_out(number++, 4)) continue;
      Problem p{200, 150, sigma, sigma};
      p.border = border;
      p.outside = {0.75f, 0.125f, 0.5f, 1};
      p.peak = 1;
      const std::vector<double> w = ref::weights(sigma, p.truncate);
      const std::vector<double> expected =
          ref::blur(in, w, w, reference_border(border), {0.75, 0.125, 0.5, 1}).values;
      for (const double quality : {0.0, 60.0, 80.0}) {
        p.quality = quality;
        const auto offer =
            GaussianBlur::Posed(p).offer(runtime(), *GaussianBlur::Variant("pyramid").row());
        CHECK(offer.can() == (quality == 0 || (sigma >= 34 && quality == 60)));
        if (!offer.can()) continue;
        const GaussianBlur blur(runtime(), p, "pyramid");
        const std::vector<float> got =
            read_buffer<float>(runtime(), dst, expected.size(), {blur(src, dst)});
        CAPTURE(sigma);
        CAPTURE(std::string(GaussianBlur::to_string(border)));
        CHECK(ref::psnr(expected, std::vector<double>(got.begin(), got.end()), 1) >= blur.psnr());
      }
    }
  }
}

// The check holds both methods to how far the reference's grid is off for the very picture, where a
// plan can but promise what no picture exceeds.
LONG_TEST_CASE("gaussian_blur: the bounds of splines are kept and near, for all sigmas and formats",
               32) {
  const Recipe recipe = cookbook::gaussian_blur();
  std::size_t number = 0;
  int near = 0;
  double least = 1e9;  // of what plans promise, in bounds
  for (const char* variant : {"pyramid", "cpu_pyramid"}) {
    for (const char* pixel : {"u8", "u16", "f16", "f32"}) {
      for (const double sigma : {8.0, 11.0, 16.0, 23.5, 31.9, 40.0, 66.0, 110.0}) {
        if (sigma < 16 && std::string(variant) == "cpu_pyramid") continue;
        Params shape = Params::parse("width=150 height=101 channels=1 peak=1");
        shape.set("pixel", std::string(pixel));
        shape.set("sigma_x", sigma);
        shape.set("sigma_y", number % 3 == 0 ? sigma * 1.3 : sigma);
        shape.set("truncate", number % 5 == 0 ? 2.0 : number % 5 == 1 ? 3.1 : 4.0);
        shape.set("border", std::string(kBorders[number % std::size(kBorders)].name));
        if (left_out(number++, 4)) continue;
        const std::string name = std::string(variant) + " " + shape.str();
        CAPTURE(name);
        const auto one = recipe.make(runtime(), shape, 1);
        one->prepare(variant, {});
        const Diff diff = run_once(*one, runtime());
        CHECK_MESSAGE(diff.ok(), diff.first());
        // Halfs and integers round by more than splines are off.
        if (std::string(pixel) != "f32") continue;
        ++near;
        CHECK(diff.bound() <= 1.3 * diff.max_error() + 1e-4);
        const double promised = recipe.offer(runtime(), variant, {}, shape).max_error;
        least = std::min(least, promised / diff.bound());
      }
    }
  }
  CHECK(near >= (short_grid() ? 1 : 12));
  CHECK(least > 2);
}

TEST_CASE("gaussian_blur pyramid: what it does not serve") {
  Problem p{64, 64, 20, 20};
  p.peak = 1;
  const auto refused = [&](const Problem& problem, const char* part) {
    const Error error = error_of([&] { GaussianBlur(runtime(), problem, "pyramid"); });
    CHECK(error.code == Errc::unsupported);
    CAPTURE(error.what());
    CHECK(contains(error.what(), part));
  };
  Problem q = p;
  q.sigma_y = 7.9;
  refused(q, "sigma must be at least 8 pixels along both axes, got 7.9");
  q = p;
  q.truncate = 1.4;
  refused(q, "truncate must be at least 1.5, got 1.4");
  q = p;
  q.peak = 0;
  refused(q, "NaN");
  q = p;
  q.quality = 200;
  refused(q, "for a floor of 200");
}
