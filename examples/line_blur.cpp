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
#include <algorithm>
#include <clcook/line_blur.hpp>
#include <clcook/reference/line_blur.hpp>
#include <cmath>
#include <cstring>
#include <pictures/picture.hpp>
#include <string>
#include <vector>

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

double largest_difference(const std::vector<double>& expected, const std::vector<float>& got) {
  double largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double difference = std::abs(expected[i] - static_cast<double>(got[i]));
    if (!(difference <= largest)) largest = difference;  // a NaN counts
  }
  return largest;
}

void run(const Arguments& arguments) {
  clcook::example::both_or_none(arguments.files);
  const std::string in = arguments.files.empty() ? "scene" : arguments.files[0];
  const std::string out = arguments.files.empty() ? "line_blur.png" : arguments.files[1];
  clcook::pictures::check_picture_path(out);
  if (!arguments.input_copy.empty()) clcook::pictures::check_picture_path(arguments.input_copy);
  const bool bytes = arguments.pixel == "rgba8";

  clcook::PickOptions pick;
  pick.profiling = true;
  clcook::example::DeviceTimer timer;
  pick.runtime.on_launch = timer.observer();
  const clcook::Runtime rt = clcook::Runtime::pick(arguments.device, pick);

  const LineBlur::Variant chosen(arguments.variant);
  const Picture picture = clcook::example::open_picture(in);
  LineBlur::Problem problem;
  problem.width = picture.width;
  problem.height = picture.height;
  problem.radius = arguments.radius;
  problem.relative_sigma = LineBlur::RadiusFraction(arguments.sigma);
  problem.pixel = bytes ? LineBlur::Pixel::rgba8 : LineBlur::Pixel::rgba32f;

  // The picture as the kernels want it: bytes, or floats from 0 to 1.
  const std::size_t count = picture.rgba.size();
  std::vector<float> floats(count);
  for (std::size_t i = 0; i < count; ++i) floats[i] = static_cast<float>(picture.rgba[i]) / 255.0f;
  const std::size_t size = bytes ? count : count * sizeof(float);
  const void* source = bytes ? static_cast<const void*>(picture.rgba.data())
                             : static_cast<const void*>(floats.data());
  const cl::Buffer src = clcook::create_buffer(rt, size, CL_MEM_READ_ONLY, source);
  const cl::Buffer dst = clcook::create_buffer(rt, size);

  // Reads the result; 8-bit values become 0..255.
  const auto download = [&](const cl::Event& done) {
    std::vector<unsigned char> raw(size);
    const cl_event wait = done();
    clcook::check(
        clEnqueueReadBuffer(rt.queue()(), dst(), CL_TRUE, 0, size, raw.data(), 1, &wait, nullptr),
        "clEnqueueReadBuffer");
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) {
      if (bytes) {
        values[i] = raw[i];
      } else {
        std::memcpy(&values[i], raw.data() + i * sizeof(float), sizeof(float));
      }
    }
    return values;
  };

  // The blurred picture itself.
  const LineBlur blur(rt, problem, chosen);
  const std::vector<float> result = download(blur(src, dst));
  Picture blurred = picture;
  for (std::size_t i = 0; i < count; ++i) {
    const float value = bytes ? result[i] : result[i] * 255.0f;
    blurred.rgba[i] = static_cast<std::uint8_t>(std::clamp(value + 0.5f, 0.0f, 255.0f));
  }
  if (!arguments.input_copy.empty()) clcook::pictures::write_picture(arguments.input_copy, picture);
  clcook::pictures::write_picture(out, blurred);
  fmt::print("{} x {} {}, radius {}, sigma {} of the radius, on {} ({})\n{} by variant {}\n",
             picture.width, picture.height, arguments.pixel, arguments.radius, arguments.sigma,
             rt.info().name, rt.info().platform, out, blur.variant().name());
  if (!arguments.table) return;

  // Every stage against the scalar reference with the same taps.
  namespace reference = clcook::reference::line_blur;
  const auto expected = [&](int step) {
    const auto taps = reference::taps(arguments.radius, arguments.sigma, step);
    const auto width = static_cast<std::size_t>(picture.width);
    const auto height = static_cast<std::size_t>(picture.height);
    return bytes ? reference::blur(picture.rgba.data(), width, height, taps)
                 : reference::blur(floats.data(), width, height, taps);
  };
  const int step = reference::subsampling_step(arguments.radius);
  const std::vector<double> full = expected(1);
  const std::vector<double> sparse = step == 1 ? full : expected(step);

  using Variant = LineBlur::Variant;
  std::vector<Stage> stages;
  std::vector<Variant> variants;  // of each
  const auto add = [&](Variant variant, int group, int previous) {
    variants.push_back(variant);
    stages.push_back({variant.name(), group, previous, {}, 0, 0, {}});
    return static_cast<int>(stages.size()) - 1;
  };
  const int naive = add("naive", 1024, -1);
  const int local_line = add("local_line", 1024, naive);
  const int subsampled = add("subsampled", 1024, local_line);
  const int symmetric = add("symmetric", 1024, subsampled);
  std::vector<int> groups{symmetric};
  for (const int group : {512, 256, 128, 64})
    groups.push_back(add("symmetric", group, groups.back()));
  for (const int group : {1024, 256}) {
    add("unrolled", group, group == 1024 ? symmetric : groups[2]);
    add("padded", group, group == 1024 ? symmetric : groups[2]);
  }
  const int table = add("weights_table", 1024, local_line);
  add("weights_table", 256, table);
  for (const int group : {1024, 512, 256, 128, 64}) add("coalesced", group, table);
  add("cpu_strip", 0, naive);

  std::vector<LineBlur> plans;
  std::vector<std::size_t> rows;  // the stage of each plan
  for (std::size_t i = 0; i < stages.size(); ++i) {
    Stage& stage = stages[i];
    try {
      LineBlur::Tune tune;
      tune.group = stage.group;
      LineBlur plan(rt, problem, variants[i], tune);
      // The check is the warm-up as well.
      const std::vector<float> values = download(plan(src, dst));
      stage.error = largest_difference(variants[i].row()->is_approximate ? sparse : full, values);
      stage.off_full = largest_difference(full, values);
      plans.push_back(std::move(plan));
      rows.push_back(i);
    } catch (const clcook::Error& error) {
      if (error.code != clcook::Errc::unsupported) throw;
      stage.skipped = error.what();
    }
  }
  for (int round = 0; round < arguments.rounds; ++round) {
    for (std::size_t i = 0; i < plans.size(); ++i)
      stages[rows[i]].seconds.push_back(timer.time([&] { return plans[i](src, dst); }));
  }

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
  app.add_option(
         "FILES", arguments.files,
         "Input (PNG, JPEG, 'scene' or 'scene:WIDTHxHEIGHT') and output (PNG, JPEG); both or none")
      ->expected(0, 2);
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
  app.add_option("--rounds", arguments.rounds, "Timed rounds; the median is printed")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_option("--json", arguments.json, "Also write the table with all samples to this file");
  app.add_option("--input", arguments.input_copy, "Also write the input picture to this PNG file");
  app.add_flag("!--no-table", arguments.table, "Only write the picture");
  return clcook::example::run_main(app, argc, argv, [&] { run(arguments); });
}
