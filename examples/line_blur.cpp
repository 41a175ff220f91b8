// Blurs a picture with every variant of the line blur and prints what each step of the optimisation
// brings on this device. The alpha of a PNG is straight: the colours of clear pixels stay where they are.
//
//   line_blur in.png out.png --radius 64 --sigma 0.5
//   line_blur                                      renders a test scene and blurs it to
//                                                  line_blur.png
//   line_blur scene:480x270 out.png --no-table --artefact stripes.png
//                                                  also shows what naive and subsampled make of it
//
// test: scene:96x80 {out}/line_blur.png --radius 9.5 --rounds 1 --json {out}/line_blur.json
// test: scene:210x120 {out}/line_blur.png --no-table --artefact {out}/artefact.png
// demo: scene:480x270 {out}/line_blur.png --input {out}/scene.png --artefact {out}/subsampled.png --rounds 1
// demo-full: scene {out}/line_blur.png --input {out}/scene.png --artefact {out}/subsampled.png --json {out}/line_blur.json

#include <fmt/format.h>

#include <clcook/line_blur.hpp>
#include <pictures/picture.hpp>
#include <string>
#include <vector>

#include "support/buffers.hpp"
#include "support/difference_sheet.hpp"
#include "support/exact_blur.hpp"
#include "support/pixels.hpp"
#include "support/program.hpp"
#include "support/scene.hpp"
#include "support/stage_table.hpp"
#include "support/stages.hpp"

namespace {

using clcook::LineBlur;
using clcook::example::Stage;

struct Arguments {
  std::vector<std::string> files;
  std::string device;
  std::string pixel = "rgba32f";
  std::string variant = "automatic";
  std::string input_copy;
  std::string artefact;
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
  out.push_back({"cpu_fused", 0, "naive@1024"});
  return out;
}

void run(const Arguments& arguments) {
  const auto [in, out] = clcook::example::picture_files(arguments.files, "line_blur.png");
  if (!arguments.input_copy.empty()) clcook::pictures::check_picture_path(arguments.input_copy);
  if (!arguments.artefact.empty()) clcook::pictures::check_picture_path(arguments.artefact);
  clcook::example::DeviceTimer timer;
  const clcook::Runtime rt = clcook::Runtime::pick(arguments.device, timer.options());

  const clcook::pictures::Picture picture = clcook::example::open_picture(in);
  const bool floats = arguments.pixel == "rgba32f";
  const LineBlur::Problem problem{picture.width,
                                  picture.height,
                                  arguments.radius,
                                  LineBlur::RadiusFraction(arguments.sigma),
                                  floats ? LineBlur::Pixel::rgba32f : LineBlur::Pixel::rgba8,
                                  clcook::example::alpha_of(picture)};
  const std::vector<unsigned char> pixels = clcook::example::stored(picture, floats);
  const cl::Buffer src = clcook::example::upload(rt, pixels);
  const cl::Buffer dst = clcook::create_buffer(rt, pixels.size());
  const auto result = [&](const cl::Event& done) {
    return clcook::example::read<unsigned char>(rt, dst, pixels.size(), done);
  };

  // The blurred picture itself.
  const LineBlur blur(rt, problem, arguments.variant);
  const cl::Event done = blur(src, dst);
  if (!arguments.input_copy.empty()) clcook::pictures::write_picture(arguments.input_copy, picture);
  clcook::pictures::write_picture(
      out, clcook::example::picture_of(result(done), floats, picture.width, picture.height));
  fmt::print("{} x {} {}, radius {}, sigma {} of the radius, on {} ({})\n{} by variant {}\n",
             picture.width, picture.height, arguments.pixel, arguments.radius, arguments.sigma,
             rt.info().name, rt.info().platform, out, blur.variant().name());
  if (!arguments.artefact.empty()) {
    const auto blurred = [&](const char* variant) {
      const cl::Event finished = LineBlur(rt, problem, variant)(src, dst);
      return clcook::example::picture_of(result(finished), floats, picture.width, picture.height);
    };
    clcook::pictures::write_picture(
        arguments.artefact,
        clcook::example::difference_sheet(blurred("naive"), blurred("subsampled")));
  }
  if (!arguments.table) return;

  // Every stage against the scalar reference with the same taps.
  const auto values = [&](const std::vector<unsigned char>& of) {
    return clcook::example::values_of(of, floats, problem.alpha);
  };
  const clcook::example::ExactLineBlur exact(values(pixels), picture.width, picture.height,
                                             arguments.radius, arguments.sigma);
  std::vector<Stage> stages = chain();
  for (Stage& stage : stages) {
    try {
      const LineBlur plan(rt, problem, stage.variant, {stage.group});
      // The check is the warm-up as well.
      const std::vector<float> got = values(result(plan(src, dst)));
      const bool approximate = plan.variant().row()->is_approximate;
      stage.error = exact.difference(got, approximate);
      stage.off_full = exact.difference(got, false);
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
  clcook::example::CommandLine line{
      "Blurs a picture along its lines and prints the time of each step"};
  line.picture_files(arguments.files);
  line.add("--radius", arguments.radius, "Radius in pixels, may be fractional");
  line.add("--sigma", arguments.sigma, "Standard deviation in units of the radius");
  line.add("--pixel", arguments.pixel, "rgba32f or rgba8",
           clcook::example::one_of({"rgba32f", "rgba8"}));
  line.variant(arguments.variant, "makes the output picture");
  line.device(arguments.device);
  line.rounds(arguments.rounds);
  line.add("--json", arguments.json, "Also write the table with all samples to this file");
  line.add("--input", arguments.input_copy, "Also write the input picture to this PNG file");
  line.add("--artefact", arguments.artefact,
           "Also write a part of naive's result, of subsampled's, and their difference to this PNG "
           "file");
  line.flag("!--no-table", arguments.table, "Only write the picture");
  return line.run(argc, argv, [&] { run(arguments); });
}
