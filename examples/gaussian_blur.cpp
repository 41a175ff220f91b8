// Blurs a picture with a Gaussian of any sigma and says which method was taken and why.
//
//   gaussian_blur in.png out.png --sigma 12
//   gaussian_blur in.png out.png --sigma 12 --compare   all methods: time, PSNR, largest error
//   gaussian_blur                                       blurs a test scene to gaussian_blur.png
//
// test: scene:97x61 {out}/gaussian_blur_small.png --sigma 2.5 --compare --rounds 1
// test: scene:64x64 {out}/gaussian_blur_float.png --sigma 20 --pixel f32 --border mirror --rounds 1
// demo: scene:960x540 {out}/gaussian_blur.png --sigma 12
// demo-full: scene:960x540 {out}/gaussian_blur.png --sigma 12 --compare

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <clcook/gaussian_blur.hpp>
#include <clcook/reference/gaussian_blur.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <pictures/picture.hpp>
#include <string>
#include <vector>

#include "support/program.hpp"
#include "support/scene.hpp"
#include "support/stages.hpp"

namespace {

using clcook::GaussianBlur;
using clcook::pictures::Picture;
namespace ref = clcook::reference::gaussian_blur;

struct Arguments {
  std::vector<std::string> files;
  std::vector<double> sigma{12};
  std::string pixel = "u8";
  std::string border = "clamp";
  std::string device;
  double truncate = 4;
  double quality = 60;
  bool compare = false;
  int rounds = 5;
};

// The picture's bytes as they are, or as floats from 0 to 1.
std::vector<unsigned char> stored(const Picture& picture, GaussianBlur::Pixel pixel) {
  if (pixel == GaussianBlur::Pixel::u8) return picture.rgba;
  std::vector<unsigned char> out(picture.rgba.size() * sizeof(float));
  for (std::size_t i = 0; i < picture.rgba.size(); ++i) {
    const float value = static_cast<float>(picture.rgba[i]) / 255.0f;
    std::memcpy(out.data() + i * sizeof value, &value, sizeof value);
  }
  return out;
}

double value_at(const std::vector<unsigned char>& bytes, GaussianBlur::Pixel pixel, std::size_t i) {
  if (pixel == GaussianBlur::Pixel::u8) return bytes[i];
  float value = 0;
  std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
  return static_cast<double>(value);
}

// Time, PSNR and largest error of every method, on 64 rows of the picture.
void compare(const Arguments& arguments, const clcook::Runtime& rt,
             clcook::example::DeviceTimer& timer, GaussianBlur::Problem problem,
             const std::vector<unsigned char>& pixels) {
  ref::Picture exact{
      static_cast<std::size_t>(problem.width), static_cast<std::size_t>(problem.height), 4, {}};
  for (std::size_t i = 0; i < exact.width * exact.height * 4; ++i)
    exact.values.push_back(value_at(pixels, problem.pixel, i));
  const std::vector<double> x = ref::weights(problem.sigma_x, problem.truncate);
  const std::vector<double> y = ref::weights(problem.sigma_y, problem.truncate);
  const std::size_t rows = std::min<std::size_t>(64, exact.height);
  std::vector<double> expected;
  for (std::size_t i = 0; i < rows; ++i) {
    for (double value : ref::blur_row(exact, x, y, static_cast<ref::Border>(problem.border), {},
                                      i * exact.height / rows)) {
      expected.push_back(problem.pixel == GaussianBlur::Pixel::u8 ? std::nearbyint(value) : value);
    }
  }

  const cl::Buffer src = clcook::create_buffer(rt, pixels.size(), CL_MEM_READ_ONLY, pixels.data());
  const cl::Buffer dst = clcook::create_buffer(rt, pixels.size());
  fmt::print("\n{:<14}{:>12}{:>14}{:>16}{:>14}\n", "method", "time, us", "PSNR, dB",
             "largest error", "promised, dB");
  problem.quality = 0;
  for (const GaussianBlur::Row& method : GaussianBlur::variants()) {
    try {
      const GaussianBlur blur(rt, problem, method);
      timer.time([&] { return blur(src, dst); });
      std::vector<double> seconds;
      for (int i = 0; i < arguments.rounds; ++i)
        seconds.push_back(timer.time([&] { return blur(src, dst); }));
      std::vector<unsigned char> bytes(pixels.size());
      clcook::check(clEnqueueReadBuffer(rt.queue()(), dst(), CL_TRUE, 0, bytes.size(), bytes.data(),
                                        0, nullptr, nullptr),
                    "clEnqueueReadBuffer");
      std::vector<double> got;
      double worst = 0;
      for (std::size_t i = 0; i < rows; ++i) {
        const std::size_t first = i * exact.height / rows * exact.width * 4;
        for (std::size_t e = 0; e < exact.width * 4; ++e) {
          got.push_back(value_at(bytes, problem.pixel, first + e));
          worst = std::max(worst, std::abs(got.back() - expected[got.size() - 1]));
        }
      }
      fmt::print("{:<14}{:>12.1f}{:>14.1f}{:>16.3g}{:>14.1f}\n", method.name,
                 1e6 * clcook::example::median(seconds),
                 ref::psnr(expected, got, clcook::gaussian::peak_of(problem)), worst, blur.psnr());
    } catch (const clcook::Error& error) {
      if (error.code != clcook::Errc::unsupported) throw;
      fmt::print("{:<14} {}\n", method.name, error.what());
    }
  }
}

void run(const Arguments& arguments) {
  clcook::example::both_or_none(arguments.files);
  const std::string in = arguments.files.empty() ? "scene" : arguments.files[0];
  const std::string out = arguments.files.empty() ? "gaussian_blur.png" : arguments.files[1];
  clcook::pictures::check_picture_path(out);

  clcook::PickOptions pick;
  pick.profiling = true;
  clcook::example::DeviceTimer timer;
  pick.runtime.on_launch = timer.observer();
  const clcook::Runtime rt = clcook::Runtime::pick(arguments.device, pick);

  Picture picture = clcook::example::open_picture(in);
  GaussianBlur::Problem problem;
  problem.width = picture.width;
  problem.height = picture.height;
  problem.sigma_x = arguments.sigma.front();
  problem.sigma_y = arguments.sigma.back();
  problem.pixel = GaussianBlur::parse_pixel(arguments.pixel);
  problem.border = GaussianBlur::parse_border(arguments.border);
  problem.truncate = arguments.truncate;
  problem.quality = arguments.quality;
  problem.peak = 1;  // a PNG holds neither NaN nor infinity
  const std::vector<unsigned char> pixels = stored(picture, problem.pixel);
  std::vector<unsigned char> result(pixels.size());

  const cl::Buffer src = clcook::create_buffer(rt, pixels.size(), CL_MEM_READ_ONLY, pixels.data());
  const cl::Buffer dst = clcook::create_buffer(rt, pixels.size());
  const GaussianBlur blur(rt, problem);
  const cl::Event done = blur(src, dst);
  const cl_event wait = done();
  clcook::check(clEnqueueReadBuffer(rt.queue()(), dst(), CL_TRUE, 0, result.size(), result.data(),
                                    1, &wait, nullptr),
                "clEnqueueReadBuffer");
  for (std::size_t i = 0; i < picture.rgba.size(); ++i) {
    const double value = value_at(result, problem.pixel, i);
    picture.rgba[i] = static_cast<std::uint8_t>(problem.pixel == GaussianBlur::Pixel::u8
                                                    ? value
                                                    : std::clamp(value * 255 + 0.5, 0.0, 255.0));
  }
  clcook::pictures::write_picture(out, picture);
  fmt::print("{}: {} x {} {}, sigma {} x {}, on {}\n{}\n", out, picture.width, picture.height,
             arguments.pixel, problem.sigma_x, problem.sigma_y, rt.info().name, blur.describe());
  if (arguments.compare) compare(arguments, rt, timer, problem, pixels);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{"Blurs a picture with a Gaussian of any sigma"};
  app.add_option(
         "FILES", arguments.files,
         "Input (PNG, JPEG, 'scene' or 'scene:WIDTHxHEIGHT') and output (PNG, JPEG); both or none")
      ->expected(0, 2);
  app.add_option("--sigma", arguments.sigma,
                 "Standard deviation in pixels, 0 to 500: one, or one along rows and one along "
                 "columns")
      ->expected(1, 2)
      ->capture_default_str();
  app.add_option("--pixel", arguments.pixel, "Blur the picture as u8 or f32")
      ->check(CLI::IsMember({"u8", "f32"}))
      ->capture_default_str();
  app.add_option("--border", arguments.border, "clamp, mirror, wrap or constant (transparent)")
      ->capture_default_str();
  app.add_option("--truncate", arguments.truncate, "Where the filter ends, in sigma")
      ->capture_default_str();
  app.add_option("--quality", arguments.quality, "PSNR against the exact filter, in dB")
      ->capture_default_str();
  app.add_flag("--compare", arguments.compare, "Show all methods");
  app.add_option("--rounds", arguments.rounds, "Timed rounds of --compare; the median is printed")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  clcook::example::add_device(app, arguments.device);
  return clcook::example::run_main(app, argc, argv, [&] { run(arguments); });
}
