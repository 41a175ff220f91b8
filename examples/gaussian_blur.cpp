// Blurs a picture with a Gaussian of any sigma and says which method was taken and why. The alpha of a
// PNG is straight: the colours of clear pixels stay where they are.
//
//   gaussian_blur in.png out.png --sigma 12
//   gaussian_blur in.png out.png --sigma 12 --compare   all methods: time, PSNR, largest error
//   gaussian_blur                                       blurs a test scene to gaussian_blur.png
//
// test: scene:97x61 {out}/gaussian_blur_small.png --sigma 2.5 --compare --rounds 1
// test: scene:61x43 {out}/gaussian_blur_rim.png --sigma 1.5 --border constant --compare --rounds 1
// test: scene:64x64 {out}/gaussian_blur_float.png --sigma 20 --pixel f32 --border mirror --rounds 1
// demo: scene:960x540 {out}/gaussian_blur.png --sigma 12
// demo-full: scene:960x540 {out}/gaussian_blur.png --sigma 12 --compare

#include <fmt/format.h>

#include <clcook/gaussian_blur.hpp>
#include <clcook/reference/gaussian_blur.hpp>
#include <pictures/picture.hpp>
#include <string>
#include <vector>

#include "support/buffers.hpp"
#include "support/exact_blur.hpp"
#include "support/pixels.hpp"
#include "support/program.hpp"
#include "support/scene.hpp"
#include "support/stages.hpp"

namespace {

using clcook::GaussianBlur;
using clcook::pictures::Picture;

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

// Time, PSNR and largest error of every method, on 64 rows of the picture.
void compare(const clcook::Runtime& rt, clcook::example::DeviceTimer& timer, int rounds,
             GaussianBlur::Problem problem, const std::vector<unsigned char>& pixels,
             const cl::Buffer& src, const cl::Buffer& dst) {
  const bool floats = problem.pixel == GaussianBlur::Pixel::f32;
  const auto values = [&](const std::vector<unsigned char>& of) {
    return clcook::example::values_of(of, floats, problem.alpha);
  };
  const clcook::example::ExactGaussianBlur exact(
      values(pixels), problem.width, problem.height, problem.sigma_x, problem.sigma_y,
      problem.truncate, static_cast<clcook::reference::gaussian_blur::Border>(problem.border),
      !floats && problem.alpha == GaussianBlur::Alpha::none);
  fmt::print("\n{:<14}{:>12}{:>14}{:>16}{:>14}\n", "method", "time, us", "PSNR, dB",
             "largest error", "promised, dB");
  problem.quality = 0;
  for (const GaussianBlur::Row& method : GaussianBlur::variants()) {
    try {
      const GaussianBlur blur(rt, problem, method);
      const std::vector<float> got =
          values(clcook::example::read<unsigned char>(rt, dst, pixels.size(), blur(src, dst)));
      fmt::print("{:<14}{:>12.1f}{:>14.1f}{:>16.3g}{:>14.1f}\n", method.name,
                 1e6 * timer.median([&] { return blur(src, dst); }, rounds),
                 exact.psnr(got, clcook::gaussian::peak_of(problem)), exact.difference(got),
                 blur.psnr());
    } catch (const clcook::Error& error) {
      if (error.code != clcook::Errc::unsupported) throw;
      fmt::print("{:<14} {}\n", method.name, error.what());
    }
  }
}

void run(const Arguments& arguments) {
  const auto [in, out] = clcook::example::picture_files(arguments.files, "gaussian_blur.png");
  clcook::example::DeviceTimer timer;
  const clcook::Runtime rt = clcook::Runtime::pick(arguments.device, timer.options());

  const Picture picture = clcook::example::open_picture(in);
  GaussianBlur::Problem problem;
  problem.width = picture.width;
  problem.height = picture.height;
  problem.sigma_x = arguments.sigma.front();
  problem.sigma_y = arguments.sigma.back();
  problem.pixel = clcook::pixel_type(GaussianBlur::parse_pixel(arguments.pixel), 4);
  problem.border = GaussianBlur::parse_border(arguments.border);
  problem.truncate = arguments.truncate;
  problem.quality = arguments.quality;
  // A transparent border makes every picture transparent at the rim.
  problem.alpha = problem.border == GaussianBlur::Border::constant
                      ? GaussianBlur::Alpha::straight
                      : clcook::example::alpha_of(picture);
  problem.peak = 1;  // a PNG holds neither NaN nor infinity
  const bool floats = problem.pixel == GaussianBlur::Pixel::f32;
  const std::vector<unsigned char> pixels = clcook::example::stored(picture, floats);

  const cl::Buffer src = clcook::example::upload(rt, pixels);
  const cl::Buffer dst = clcook::create_buffer(rt, pixels.size());
  const GaussianBlur blur(rt, problem);
  const cl::Event done = blur(src, dst);
  const auto result = clcook::example::read<unsigned char>(rt, dst, pixels.size(), done);
  clcook::pictures::write_picture(
      out, clcook::example::picture_of(result, floats, picture.width, picture.height));
  fmt::print("{}: {} x {} {}, sigma {} x {}, on {}\n{}\n", out, picture.width, picture.height,
             arguments.pixel, problem.sigma_x, problem.sigma_y, rt.info().name, blur.describe());
  if (arguments.compare) compare(rt, timer, arguments.rounds, problem, pixels, src, dst);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  clcook::example::CommandLine line{"Blurs a picture with a Gaussian of any sigma"};
  line.picture_files(arguments.files);
  line.add("--sigma", arguments.sigma,
           "Standard deviation in pixels, 0 to 500: one, or one along rows and one along "
           "columns",
           clcook::example::values(1, 2));
  line.add("--pixel", arguments.pixel, "Blur the picture as u8 or f32",
           clcook::example::one_of({"u8", "f32"}));
  line.add("--border", arguments.border, "What lies outside; constant is transparent",
           clcook::example::one_of(clcook::names_of(clcook::kBorders)));
  line.add("--truncate", arguments.truncate, "Where the filter ends, in sigma");
  line.add("--quality", arguments.quality, "PSNR against the exact filter, in dB");
  line.flag("--compare", arguments.compare, "Show all methods");
  line.rounds(arguments.rounds, " of --compare");
  line.device(arguments.device);
  return line.run(argc, argv, [&] { run(arguments); });
}
