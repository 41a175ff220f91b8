// Colours a picture by the direction of its gradients, in sectors of 15 degrees.
//
//   threshold_count in.png out.png    PNG or JPEG in
//   threshold_count                   renders a test scene, to threshold_count.png
//
// The gradient (gx, gy) of a pixel has the quadrant of its signs, and within the quadrant the
// sector of its direction cosine |gx| / length: the number of cosines that it does not reach. No
// arc tangent is needed. Pixels without a gradient have no direction; their cosine is 0 / 0, NaN.
//
// test: scene:96x80 {out}/threshold_count.png --rounds 1
// demo: scene {out}/threshold_count.png

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <clcook/threshold_count.hpp>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <pictures/picture.hpp>
#include <string>
#include <vector>

#include "support/program.hpp"
#include "support/scene.hpp"
#include "support/stages.hpp"

namespace {

using clcook::ThresholdCount;
using clcook::pictures::Picture;

struct Arguments {
  std::vector<std::string> files;
  std::string device;
  int rounds = 5;
  double least = 8;  // of the gradient's length, in grey levels per pixel
};

struct Gradient {
  float x = 0;
  float y = 0;
};

// Sobel's gradients of the luma, in grey levels per pixel; border pixels repeat.
std::vector<Gradient> gradients_of(const Picture& picture) {
  std::vector<float> luma(picture.pixels());
  for (std::size_t i = 0; i < luma.size(); ++i) {
    const std::uint8_t* p = &picture.rgba[4 * i];
    luma[i] = 0.2126f * static_cast<float>(p[0]) + 0.7152f * static_cast<float>(p[1]) +
              0.0722f * static_cast<float>(p[2]);
  }
  const auto at = [&](int x, int y) {
    x = std::clamp(x, 0, picture.width - 1);
    y = std::clamp(y, 0, picture.height - 1);
    return luma[static_cast<std::size_t>(y) * static_cast<std::size_t>(picture.width) +
                static_cast<std::size_t>(x)];
  };
  std::vector<Gradient> out;
  out.reserve(picture.pixels());
  for (int y = 0; y < picture.height; ++y) {
    for (int x = 0; x < picture.width; ++x) {
      const float right = at(x + 1, y - 1) + 2 * at(x + 1, y) + at(x + 1, y + 1);
      const float left = at(x - 1, y - 1) + 2 * at(x - 1, y) + at(x - 1, y + 1);
      const float below = at(x - 1, y + 1) + 2 * at(x, y + 1) + at(x + 1, y + 1);
      const float above = at(x - 1, y - 1) + 2 * at(x, y - 1) + at(x + 1, y - 1);
      out.push_back({(right - left) / 8, (below - above) / 8});
    }
  }
  return out;
}

// The colour wheel at `turn` of 0 to 1.
std::array<std::uint8_t, 3> colour(double turn) {
  std::array<std::uint8_t, 3> out{};
  for (std::size_t c = 0; c < 3; ++c) {
    const double wave =
        std::cos(2 * 3.14159265358979 * (turn - static_cast<double>(c) / 3.0)) * 0.5 + 0.5;
    out[c] = static_cast<std::uint8_t>(std::lround(40 + 215 * wave));
  }
  return out;
}

void run(const Arguments& arguments) {
  clcook::example::both_or_none(arguments.files);
  const std::string out_path = arguments.files.empty() ? "threshold_count.png" : arguments.files[1];
  clcook::pictures::check_picture_path(out_path);
  const Picture picture =
      clcook::example::open_picture(arguments.files.empty() ? "scene" : arguments.files[0]);
  const std::vector<Gradient> gradients = gradients_of(picture);
  std::vector<float> cosines;
  cosines.reserve(gradients.size());
  for (const Gradient& g : gradients) cosines.push_back(std::abs(g.x) / std::hypot(g.x, g.y));

  clcook::PickOptions pick;
  pick.profiling = true;
  clcook::example::DeviceTimer timer;
  pick.runtime.on_launch = timer.observer();
  const clcook::Runtime rt = clcook::Runtime::pick(arguments.device, pick);
  const std::size_t count = cosines.size();
  const cl::Buffer values =
      clcook::create_buffer(rt, count * sizeof(float), CL_MEM_READ_ONLY, cosines.data());
  const cl::Buffer slots = clcook::create_buffer(rt, count);

  const ThresholdCount sector{rt, {count, ThresholdCount::sector_cosines()}};
  const cl::Event done = sector(values, slots);

  std::vector<std::uint8_t> found(count);
  const cl_event wait = done();
  clcook::check(clEnqueueReadBuffer(rt.queue()(), slots(), CL_TRUE, 0, count, found.data(), 1,
                                    &wait, nullptr),
                "clEnqueueReadBuffer");

  // Six sectors in each of four quadrants, counted on from the direction of +x over +y.
  std::array<std::size_t, 24> histogram{};
  Picture out = picture;
  for (std::size_t i = 0; i < count; ++i) {
    const Gradient& g = gradients[i];
    const double length = std::hypot(g.x, g.y);
    std::array<std::uint8_t, 3> rgb{};
    if (length >= arguments.least) {
      const std::size_t within = found[i];
      const std::size_t bin =
          g.x >= 0 ? (g.y >= 0 ? within : 23 - within) : (g.y >= 0 ? 11 - within : 12 + within);
      ++histogram[bin];
      rgb = colour(static_cast<double>(bin) / 24);
    }
    std::copy(rgb.begin(), rgb.end(), &out.rgba[4 * i]);
    out.rgba[4 * i + 3] = 255;
  }
  clcook::pictures::write_picture(out_path, out);

  std::size_t total = 0;
  for (const std::size_t one : histogram) total += one;
  const std::size_t most =
      std::max<std::size_t>(1, *std::max_element(histogram.begin(), histogram.end()));
  fmt::print("{} of {} pixels have a gradient of {} grey levels or more\n", total, count,
             arguments.least);
  for (std::size_t bin = 0; bin < histogram.size(); ++bin) {
    fmt::print("{:>3} to {:>3} degrees {:>9}  {:#<{}}\n", 15 * bin, 15 * (bin + 1), histogram[bin],
               "", 40 * histogram[bin] / most);
  }

  fmt::print("\n{}\n", rt.info().name);
  for (const ThresholdCount::Variant variant : ThresholdCount::variants()) {
    const ThresholdCount one{rt, {count, ThresholdCount::sector_cosines()}, variant};
    timer.time([&] { return one(values, slots); });  // the first launch is not timed
    std::vector<double> seconds;
    for (int i = 0; i < arguments.rounds; ++i) {
      seconds.push_back(timer.time([&] { return one(values, slots); }));
    }
    fmt::print("{:<16}{:>10.2f} us\n", variant.name(), clcook::example::median(seconds) * 1e6);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{"Colours a picture by the direction of its gradients and times every variant"};
  app.add_option(
         "FILES", arguments.files,
         "Input (PNG, JPEG, 'scene' or 'scene:WIDTHxHEIGHT') and output (PNG, JPEG); both or none")
      ->expected(0, 2);
  app.add_option("--least", arguments.least, "Weaker gradients are black; grey levels per pixel")
      ->capture_default_str();
  clcook::example::add_device(app, arguments.device);
  app.add_option("--rounds", arguments.rounds, "Timed rounds; the median is printed")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  return clcook::example::run_main(app, argc, argv, [&] { run(arguments); });
}
