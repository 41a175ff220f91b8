// Blurs a picture with every variant of the line blur and prints what each step of the optimisation
// brings on this device.
//
//   line_blur in.png out.png --radius 64 --sigma 0.5
//   line_blur                                          renders a test scene and blurs it to
//   line_blur.png
//
// test: scene:96x80 {out}/line_blur.png --radius 9.5 --rounds 1 --json {out}/line_blur.json
// demo: scene:480x270 {out}/line_blur.png --input {out}/scene.png --rounds 1
// demo-full: scene {out}/line_blur.png --input {out}/scene.png --json {out}/line_blur.json

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <clcook/core/commit.hpp>
#include <clcook/line_blur.hpp>
#include <clcook/reference/line_blur.hpp>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/picture.hpp"
#include "support/stages.hpp"

namespace {

using clcook::LineBlur;
using clcook::example::Picture;

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

// One row of the table: a variant at one work-group size.
struct Stage {
  LineBlur::Variant variant;
  int group;     // 0 for variants without that choice
  int previous;  // the row that its ratio is taken to, -1 for the first
  std::vector<double> seconds;
  double error = 0;     // largest difference to the scalar reference of the same taps
  double off_full = 0;  // largest difference to the blur with all taps
  std::string skipped;
};

double largest_difference(const std::vector<double>& expected, const std::vector<float>& got) {
  double largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double difference = std::abs(expected[i] - static_cast<double>(got[i]));
    if (!(difference <= largest)) largest = difference;  // a NaN counts
  }
  return largest;
}

int run(const Arguments& arguments) {
  const std::string in = arguments.files.empty() ? "scene" : arguments.files[0];
  const std::string out = arguments.files.empty() ? "line_blur.png" : arguments.files[1];
  clcook::example::check_picture_path(out);
  if (!arguments.input_copy.empty()) clcook::example::check_picture_path(arguments.input_copy);
  const bool bytes = arguments.pixel == "rgba8";

  clcook::PickOptions pick;
  pick.profiling = true;
  clcook::example::DeviceTimer timer;
  pick.runtime.on_launch = timer.observer();
  const clcook::Runtime rt = clcook::Runtime::pick(arguments.device, pick);

  const LineBlur::Variant chosen = LineBlur::parse_variant(arguments.variant);
  const Picture picture = clcook::example::open_picture(in);
  LineBlur::Problem problem;
  problem.width = picture.width;
  problem.height = picture.height;
  problem.radius = arguments.radius;
  problem.sigma = arguments.sigma;
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
  if (!arguments.input_copy.empty()) clcook::example::write_picture(arguments.input_copy, picture);
  clcook::example::write_picture(out, blurred);
  fmt::print("{} x {} {}, radius {}, sigma {} of the radius, on {} ({})\n{} by variant {}\n",
             picture.width, picture.height, arguments.pixel, arguments.radius, arguments.sigma,
             rt.info().name, rt.info().platform, out, LineBlur::to_string(blur.variant()));
  if (!arguments.table) return 0;

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
  const auto add = [&](Variant variant, int group, int previous) {
    stages.push_back({variant, group, previous, {}, 0, 0, {}});
    return static_cast<int>(stages.size()) - 1;
  };
  const int naive = add(Variant::naive, 1024, -1);
  const int local_line = add(Variant::local_line, 1024, naive);
  const int subsampled = add(Variant::subsampled, 1024, local_line);
  const int symmetric = add(Variant::symmetric, 1024, subsampled);
  std::vector<int> groups{symmetric};
  for (const int group : {512, 256, 128, 64})
    groups.push_back(add(Variant::symmetric, group, groups.back()));
  for (const int group : {1024, 256}) {
    add(Variant::unrolled, group, group == 1024 ? symmetric : groups[2]);
    add(Variant::padded, group, group == 1024 ? symmetric : groups[2]);
  }
  const int table = add(Variant::weights_table, 1024, local_line);
  add(Variant::weights_table, 256, table);
  for (const int group : {1024, 512, 256, 128, 64}) add(Variant::coalesced, group, table);
  add(Variant::cpu_strip, 0, naive);

  std::vector<LineBlur> plans;
  std::vector<std::size_t> rows;  // the stage of each plan
  for (std::size_t i = 0; i < stages.size(); ++i) {
    Stage& stage = stages[i];
    try {
      LineBlur::Tune tune;
      tune.group = stage.group;
      LineBlur plan(rt, problem, stage.variant, tune);
      // The check is the warm-up as well.
      const std::vector<float> values = download(plan(src, dst));
      const bool few = stage.variant == Variant::subsampled ||
                       stage.variant == Variant::symmetric || stage.variant == Variant::unrolled ||
                       stage.variant == Variant::padded;
      stage.error = largest_difference(few ? sparse : full, values);
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

  fmt::print("\n{:<16}{:>6}{:>13}{:>10}{:>10}  {:<22}{:>10}{:>12}\n", "stage", "group", "time, us",
             "+-", "total", "step", "error", "off full");
  nlohmann::ordered_json table_rows = nlohmann::ordered_json::array();
  const auto label = [](const Stage& stage) {
    return std::string(LineBlur::to_string(stage.variant)) +
           (stage.group == 0 ? "" : "@" + std::to_string(stage.group));
  };
  for (const Stage& stage : stages) {
    nlohmann::ordered_json row{{"stage", LineBlur::to_string(stage.variant)},
                               {"group", stage.group}};
    if (!stage.skipped.empty()) {
      fmt::print("{:<16}{:>6}  skipped: {}\n", LineBlur::to_string(stage.variant), stage.group,
                 stage.skipped);
      row["skipped"] = stage.skipped;
      table_rows.push_back(row);
      continue;
    }
    const double time = clcook::example::median(stage.seconds);
    const auto [low, high] = std::minmax_element(stage.seconds.begin(), stage.seconds.end());
    const double total =
        stages[0].seconds.empty() ? 0 : clcook::example::median(stages[0].seconds) / time;
    std::string step_text = "-";
    if (stage.previous >= 0 && !stages[static_cast<std::size_t>(stage.previous)].seconds.empty()) {
      const Stage& previous = stages[static_cast<std::size_t>(stage.previous)];
      const double ratio = clcook::example::median(previous.seconds) / time;
      step_text = fmt::format("{:.2f}x {}", ratio, label(previous));
      row["previous"] = label(previous);
      row["ratio_to_previous"] = ratio;
    }
    fmt::print("{:<16}{:>6}{:>13.1f}{:>10.1f}{:>9.2f}x  {:<22}{:>10.2g}{:>12.2g}\n",
               LineBlur::to_string(stage.variant), stage.group, time * 1e6, (*high - *low) * 5e5,
               total, step_text, stage.error, stage.off_full);
    row["seconds"] = stage.seconds;
    row["median_us"] = time * 1e6;
    row["total_ratio"] = total;
    row["max_error"] = stage.error;
    row["max_error_to_full"] = stage.off_full;
    table_rows.push_back(row);
  }
  if (!arguments.json.empty()) {
    const auto& info = rt.info();
    const nlohmann::ordered_json document{
        {"format", 1},
        {"kind", "stages"},
        {"recipe", "line_blur"},
        {"commit", clcook::commit},
        {"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
        {"device",
         {{"name", info.name},
          {"platform", info.platform},
          {"version", info.version},
          {"driver", info.driver},
          {"compute_units", info.compute_units}}},
        {"shape",
         {{"width", problem.width},
          {"height", problem.height},
          {"radius", problem.radius},
          {"sigma", problem.sigma},
          {"pixel", arguments.pixel}}},
        {"rounds", arguments.rounds},
        {"rows", table_rows}};
    std::ofstream file(arguments.json + ".tmp");
    file << document.dump(1) << "\n";
    file.close();
    if (!file || std::rename((arguments.json + ".tmp").c_str(), arguments.json.c_str()) != 0) {
      clcook::fail(clcook::Errc::io, "write " + arguments.json, "cannot write the file");
    }
  }
  return 0;
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
  app.add_option("--device", arguments.device,
                 "Device specification; default CLCOOK_DEVICE, else any");
  app.add_option("--rounds", arguments.rounds, "Timed rounds; the median is printed")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_option("--json", arguments.json, "Also write the table with all samples to this file");
  app.add_option("--input", arguments.input_copy, "Also write the input picture to this PNG file");
  app.add_flag("!--no-table", arguments.table, "Only write the picture");
  CLI11_PARSE(app, argc, argv);
  if (arguments.files.size() == 1) {
    fmt::print(stderr, "line_blur: give both or none of input and output; got only '{}'\n",
               arguments.files[0]);
    return 2;
  }
  try {
    return run(arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "line_blur: {}\n", error.what());
    return 2;
  }
}
