// Blurs a picture with every variant of the line blur and prints what each step of the optimisation
// brings on this device.
//
//   line_blur in.png out.png --radius 64 --sigma 0.5
//   line_blur                                      renders a test scene and blurs it to
//                                                  line_blur.png
//
// test: scene:96x80 {out}/line_blur.png --radius 9.5 --rounds 1 --json {out}/line_blur.json
// demo: scene:480x270 {out}/line_blur.png --input {out}/scene.png --rounds 1
// demo-full: scene {out}/line_blur.png --input {out}/scene.png --json {out}/line_blur.json

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <clcook/line_blur.hpp>
#include <clcook/reference/line_blur.hpp>
#include <cmath>
#include <pictures/picture.hpp>
#include <string>
#include <vector>

#include "support/buffers.hpp"
#include "support/pixels.hpp"
#include "support/program.hpp"
#include "support/scene.hpp"
#include "support/stage_table.hpp"
#include "support/stages.hpp"

namespace {

using clcook::LineBlur;
using clcook::example::Stage;
using clcook::pictures::Picture;

struct Arguments {
  std::vector<std::string> files;
  std::string device;
  std::string pixel = "rgba32f";
  std::string variant = "automatic";
  std::string input_copy;
  std::string json;
  double radius = 64;
  double sigma = 0.5;
  int rounds = 5;
  bool table = true;
};

// The steps of the optimisation: variant, size of the work-group, and the step before.
std::vector<Stage> chain() {
  std::vector<Stage> out{{"naive", 1024, ""},
                         {"local_line", 1024, "naive@1024"},
                         {"subsampled", 1024, "local_line@1024"},
                         {"symmetric", 1024, "subsampled@1024"},
                         {"symmetric", 512, "symmetric@1024"},
                         {"symmetric", 256, "symmetric@512"},
                         {"symmetric", 128, "symmetric@256"},
                         {"symmetric", 64, "symmetric@128"},
                         {"unrolled", 1024, "symmetric@1024"},
                         {"padded", 1024, "symmetric@1024"},
                         {"unrolled", 256, "symmetric@256"},
                         {"padded", 256, "symmetric@256"},
                         {"weights_table", 1024, "local_line@1024"},
                         {"weights_table", 256, "weights_table@1024"}};
  for (const int group : {1024, 512, 256, 128, 64})
    out.push_back({"coalesced", group, "weights_table@1024"});
  out.push_back({"cpu_strip", 0, "naive@1024"});
  return out;
}

double largest_difference(const std::vector<double>& expected, const std::vector<float>& got) {
  double largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double difference = std::abs(expected[i] - static_cast<double>(got[i]));
    if (!(difference <= largest)) largest = difference;  // a NaN counts
  }
  return largest;
}

void run(const Arguments& arguments) {
  const auto [in, out] = clcook::example::picture_files(arguments.files, "line_blur.png");
  if (!arguments.input_copy.empty()) clcook::pictures::check_picture_path(arguments.input_copy);
  clcook::example::DeviceTimer timer;
  const clcook::Runtime rt = clcook::Runtime::pick(arguments.device, timer.options());

  const LineBlur::Variant chosen(arguments.variant);
  const Picture picture = clcook::example::open_picture(in);
  const bool floats = arguments.pixel == "rgba32f";
  LineBlur::Problem problem;
  problem.width = picture.width;
  problem.height = picture.height;
  problem.radius = arguments.radius;
  problem.relative_sigma = LineBlur::RadiusFraction(arguments.sigma);
  problem.pixel = floats ? LineBlur::Pixel::rgba32f : LineBlur::Pixel::rgba8;
  const std::vector<unsigned char> pixels = clcook::example::stored(picture, floats);
  const cl::Buffer src = clcook::example::upload(rt, pixels);
  const cl::Buffer dst = clcook::create_buffer(rt, pixels.size());
  const auto result = [&](const cl::Event& done) {
    return clcook::example::read<unsigned char>(rt, dst, pixels.size(), done);
  };

  // The blurred picture itself.
  const LineBlur blur(rt, problem, chosen);
  const cl::Event done = blur(src, dst);
  if (!arguments.input_copy.empty()) clcook::pictures::write_picture(arguments.input_copy, picture);
  clcook::pictures::write_picture(
      out, clcook::example::picture_of(result(done), floats, picture.width, picture.height));
  fmt::print("{} x {} {}, radius {}, sigma {} of the radius, on {} ({})\n{} by variant {}\n",
             picture.width, picture.height, arguments.pixel, arguments.radius, arguments.sigma,
             rt.info().name, rt.info().platform, out, blur.variant().name());
  if (!arguments.table) return;

  // Every stage against the scalar reference with the same taps.
  namespace reference = clcook::reference::line_blur;
  const std::vector<float> values = clcook::example::values_of(pixels, floats);
  const auto expected = [&](int step) {
    return reference::blur(values.data(), static_cast<std::size_t>(picture.width),
                           static_cast<std::size_t>(picture.height),
                           reference::taps(arguments.radius, arguments.sigma, step));
  };
  const int step = reference::subsampling_step(arguments.radius);
  const std::vector<double> full = expected(1);
  const std::vector<double> sparse = step == 1 ? full : expected(step);

  std::vector<Stage> stages = chain();
  for (Stage& stage : stages) {
    try {
      LineBlur::Tune tune;
      tune.group = stage.group;
      const LineBlur plan(rt, problem, stage.variant, tune);
      // The check is the warm-up as well.
      const std::vector<float> got = clcook::example::values_of(result(plan(src, dst)), floats);
      const bool approximate = plan.variant().row()->is_approximate;
      stage.error = largest_difference(approximate ? sparse : full, got);
      stage.off_full = largest_difference(full, got);
      stage.call = [=] { return plan(src, dst); };
    } catch (const clcook::Error& error) {
      if (error.code != clcook::Errc::unsupported) throw;
      stage.skipped = error.what();
    }
  }
  clcook::example::time_stages(stages, timer, arguments.rounds);
  clcook::example::print_stages(stages);
  if (arguments.json.empty()) return;
  clcook::example::write_stages(arguments.json, "line_blur", rt.info(),
                                {{"width", problem.width},
                                 {"height", problem.height},
                                 {"radius", problem.radius},
                                 {"sigma", arguments.sigma},
                                 {"pixel", arguments.pixel}},
                                arguments.rounds, stages);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{
      "Blurs a picture along its lines with every variant and prints the time of each step"};
  clcook::example::add_picture_files(app, arguments.files);
  app.add_option("--radius", arguments.radius, "Radius in pixels, may be fractional")
      ->capture_default_str();
  app.add_option("--sigma", arguments.sigma, "Standard deviation in units of the radius")
      ->capture_default_str();
  app.add_option("--pixel", arguments.pixel, "rgba32f or rgba8")
      ->capture_default_str()
      ->check(CLI::IsMember({"rgba32f", "rgba8"}));
  app.add_option("--variant", arguments.variant, "The variant that makes the output picture")
      ->capture_default_str();
  clcook::example::add_device(app, arguments.device);
  clcook::example::add_rounds(app, arguments.rounds);
  app.add_option("--json", arguments.json, "Also write the table with all samples to this file");
  app.add_option("--input", arguments.input_copy, "Also write the input picture to this PNG file");
  app.add_flag("!--no-table", arguments.table, "Only write the picture");
  return clcook::example::run_main(app, argc, argv, [&] { run(arguments); });
}
