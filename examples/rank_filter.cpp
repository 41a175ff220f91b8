// Takes the median, or another rank, of the neighbours of each pixel: removes salt-and-pepper noise,
// grows bright or dark things, or flattens texture between edges. Says which variant was taken and why.
//
//   rank_filter in.png out.png --radius 7 --rank 0.5
//   rank_filter in.png out.png --radius 7 --compare   all variants: time
//   rank_filter                                       renders a test scene, adds noise, and cleans it
//                                                     to rank_filter.png
//
// Red, green, blue and alpha are filtered each for itself.
//
// test: scene:96x80 {out}/rank_filter_small.png --radius 7 --rank 0.5
// test: scene:70x33 {out}/rank_filter_grown.png --radius 2 --rank 0.9 --border mirror --compare --rounds 1
// demo: scene {out}/rank_filter.png --radius 3 --noise {out}/rank_filter_noise.png

#include <fmt/format.h>

#include <clcook/rank_filter.hpp>
#include <pictures/picture.hpp>
#include <string>
#include <vector>

#include "support/buffers.hpp"
#include "support/program.hpp"
#include "support/scene.hpp"
#include "support/stages.hpp"
#include "support/time_table.hpp"

namespace {

using clcook::RankFilter;
using clcook::pictures::Picture;

struct Arguments {
  std::vector<std::string> files;
  int radius = 2;
  double rank = 0.5;
  std::string border = "clamp";
  std::string noise_copy;
  std::string device;
  bool compare = false;
  int rounds = 5;
};

void run(const Arguments& arguments) {
  const auto [in, out] = clcook::example::picture_files(arguments.files, "rank_filter.png");
  if (!arguments.noise_copy.empty()) clcook::pictures::check_picture_path(arguments.noise_copy);

  clcook::example::DeviceTimer timer;
  const clcook::Runtime rt = clcook::Runtime::pick(arguments.device, timer.options());

  Picture picture = clcook::example::open_picture(in);
  if (arguments.files.empty() || !arguments.noise_copy.empty()) clcook::example::add_noise(picture);
  if (!arguments.noise_copy.empty()) clcook::pictures::write_picture(arguments.noise_copy, picture);

  RankFilter::Problem problem;
  problem.width = picture.width;
  problem.height = picture.height;
  problem.radius = arguments.radius;
  problem.rank = arguments.rank;
  problem.pixel = RankFilter::Pixel::rgba8;
  problem.border = RankFilter::parse_border(arguments.border);

  const cl::Buffer src = clcook::example::upload(rt, picture.rgba);
  const cl::Buffer dst = clcook::create_buffer(rt, picture.rgba.size());
  const RankFilter filter(rt, problem);
  const cl::Event done = filter(src, dst);
  const auto result = clcook::example::read<unsigned char>(rt, dst, picture.rgba.size(), done);
  clcook::pictures::write_picture(out, {picture.width, picture.height, result});
  fmt::print(
      "{}: {} x {}, radius {}, rank {}: number {} of {}, on {}\n{}\n", out, picture.width,
      picture.height, problem.radius, problem.rank, clcook::rank_filter::rank_number(problem),
      (2 * problem.radius + 1) * (2 * problem.radius + 1), rt.info().name, filter.describe());
  if (!arguments.compare) return;

  clcook::example::TimeTable table(timer);
  for (const RankFilter::Row& variant : RankFilter::variants()) {
    table.add(variant.name, [&] {
      return [&, plan = RankFilter(rt, problem, variant)] { return plan(src, dst); };
    });
  }
  table.print(arguments.rounds);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  clcook::example::CommandLine line{"Takes the median, or another rank, of the neighbours"};
  line.picture_files(arguments.files);
  line.add("--radius", arguments.radius, "Radius in pixels, 1 to 32");
  line.add("--rank", arguments.rank, "0 the minimum, 0.5 the median, 1 the maximum");
  line.add("--border", arguments.border, "What lies outside; constant is 0",
           clcook::example::one_of(clcook::names_of(clcook::kBorders)));
  line.add("--noise", arguments.noise_copy,
           "Add noise first, and write what is filtered to this PNG file");
  line.flag("--compare", arguments.compare, "Show the time of every variant");
  line.device(arguments.device);
  line.rounds(arguments.rounds, " of --compare");
  return line.run(argc, argv, [&] { run(arguments); });
}
