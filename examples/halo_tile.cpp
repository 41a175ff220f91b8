// Filters the neighbourhoods of a picture: removes salt-and-pepper noise with a 3 x 3 median, grows
// bright things with a dilation, or pulls a stale frame into the range of the current one, as
// temporal anti-aliasing does. Prints the time of every variant.
//
//   halo_tile in.png out.png --filter median
//   halo_tile in.png out.png --filter clamp --history old.png
//   halo_tile                          renders a test scene, adds noise, and cleans it to
//                                      halo_tile.png
//
// The test scene alone is given noise, and for the clamp a history: the scene a few pixels to the
// left.
//
// test: scene:96x80 {out}/halo_tile_median.png --filter median --input {out}/halo_tile_noise.png
// test: scene:70x33 {out}/halo_tile_dilation.png --filter dilation --radius 3 --rounds 1
// test: scene:70x33 {out}/halo_tile_clamp.png --filter clamp --rounds 1
// demo: scene {out}/halo_tile.png --filter median --input {out}/halo_tile_noise.png

#include <fmt/format.h>

#include <clcook/halo_tile.hpp>
#include <pictures/picture.hpp>
#include <string>
#include <vector>

#include "support/buffers.hpp"
#include "support/pixels.hpp"
#include "support/program.hpp"
#include "support/scene.hpp"
#include "support/stages.hpp"
#include "support/time_table.hpp"

namespace {

using clcook::HaloTile;
using clcook::pictures::Picture;

struct Arguments {
  std::vector<std::string> files;
  std::string filter = "median";
  std::string border = "clamp";
  std::string history;
  std::string input_copy;
  std::string device;
  int radius = 1;
  int rounds = 5;
};

// The older frame for the clamp.
Picture history_of(const Arguments& arguments, const Picture& picture, bool is_scene) {
  if (arguments.history.empty()) {
    if (is_scene) return clcook::example::moved(picture);
    clcook::fail(clcook::Errc::invalid_argument, "--history",
                 "the clamp of a picture of yours needs its older frame");
  }
  Picture old = clcook::example::open_picture(arguments.history);
  if (old.width != picture.width || old.height != picture.height) {
    clcook::fail(clcook::Errc::invalid_argument, "--history",
                 fmt::format("{} is {} x {}, the picture {} x {}", arguments.history, old.width,
                             old.height, picture.width, picture.height));
  }
  return old;
}

void run(const Arguments& arguments) {
  const auto [in, out] = clcook::example::picture_files(arguments.files, "halo_tile.png");
  if (!arguments.input_copy.empty()) clcook::pictures::check_picture_path(arguments.input_copy);

  clcook::example::DeviceTimer timer;
  const clcook::Runtime rt = clcook::Runtime::pick(arguments.device, timer.options());

  Picture picture = clcook::example::open_picture(in);
  HaloTile::Problem problem;
  problem.filter = HaloTile::parse_filter(arguments.filter);
  problem.width = picture.width;
  problem.height = picture.height;
  problem.radius = arguments.radius;
  problem.border = HaloTile::parse_border(arguments.border);
  const bool clamp = problem.filter == HaloTile::Filter::clamp;
  if (!clamp && !arguments.history.empty()) {
    clcook::fail(clcook::Errc::invalid_argument, "--history",
                 "only the clamp has one, not " + arguments.filter);
  }
  const bool is_scene = clcook::example::is_scene(in);
  const Picture old = clamp ? history_of(arguments, picture, is_scene) : picture;
  if (is_scene && problem.filter == HaloTile::Filter::median) clcook::example::add_noise(picture);
  if (!arguments.input_copy.empty()) {
    clcook::pictures::write_picture(arguments.input_copy, clamp ? old : picture);
  }

  const std::vector<unsigned char> pixels = clcook::example::stored(picture, true);
  const cl::Buffer src = clcook::example::upload(rt, pixels);
  const cl::Buffer history = clcook::example::upload(rt, clcook::example::stored(old, true));
  const cl::Buffer dst = clcook::create_buffer(rt, pixels.size());
  const auto call = [&](const HaloTile& plan) {
    return clamp ? plan(src, history, dst) : plan(src, dst);
  };

  const HaloTile chosen(rt, problem);
  const cl::Event done = call(chosen);
  const auto result = clcook::example::read<unsigned char>(rt, dst, pixels.size(), done);
  clcook::pictures::write_picture(
      out, clcook::example::picture_of(result, true, picture.width, picture.height));
  fmt::print("{} of {} x {}, radius {}, border {}, on {}\n{} by variant {}\n\n", arguments.filter,
             picture.width, picture.height, arguments.radius, arguments.border, rt.info().name, out,
             chosen.variant().name());

  clcook::example::TimeTable table(timer);
  for (const HaloTile::Row& variant : HaloTile::variants()) {
    if (variant.traits.is_image) continue;  // it wants the picture as an image
    table.add(variant.name, [&] {
      return [&call, plan = HaloTile(rt, problem, variant)] { return call(plan); };
    });
  }
  table.print(arguments.rounds);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  clcook::example::CommandLine line{
      "Filters the neighbourhoods of a picture and prints the time of every variant"};
  line.picture_files(arguments.files);
  line.add("--filter", arguments.filter, "dilation, median or clamp");
  line.add("--radius", arguments.radius, "Radius in pixels; 1 for the median");
  line.add("--border", arguments.border, "What lies outside; constant is black",
           clcook::example::one_of(clcook::names_of(clcook::kBorders)));
  line.add("--history", arguments.history, "Of the clamp: the older frame, PNG or JPEG");
  line.device(arguments.device);
  line.rounds(arguments.rounds);
  line.add("--input", arguments.input_copy,
           "Also write the filter's input (clamp: the history) to this PNG file");
  return line.run(argc, argv, [&] { run(arguments); });
}
