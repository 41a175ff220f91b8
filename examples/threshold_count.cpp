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

#include <algorithm>
#include <array>
#include <clcook/threshold_count.hpp>
#include <cmath>
#include <cstdint>
#include <pictures/picture.hpp>
#include <string>
#include <vector>

#include "support/buffers.hpp"
#include "support/gradients.hpp"
#include "support/program.hpp"
#include "support/scene.hpp"
#include "support/stages.hpp"
#include "support/time_table.hpp"

namespace {

using clcook::ThresholdCount;
using clcook::example::Gradient;
using clcook::pictures::Picture;

struct Arguments {
  std::vector<std::string> files;
  std::string device;
  int rounds = 5;
  double least = 8;  // of the gradient's length, in grey levels per pixel
};

void run(const Arguments& arguments) {
  const auto [in, out_path] =
      clcook::example::picture_files(arguments.files, "threshold_count.png");
  const Picture picture = clcook::example::open_picture(in);
  const std::vector<Gradient> gradients = clcook::example::gradients_of(picture);
  std::vector<float> cosines;
  cosines.reserve(gradients.size());
  for (const Gradient& g : gradients) cosines.push_back(std::abs(g.x) / std::hypot(g.x, g.y));

  clcook::example::DeviceTimer timer;
  const clcook::Runtime rt = clcook::Runtime::pick(arguments.device, timer.options());
  const std::size_t count = cosines.size();
  const cl::Buffer values = clcook::example::upload(rt, cosines);
  const cl::Buffer slots = clcook::create_buffer(rt, count);

  const ThresholdCount sector{rt, {count, ThresholdCount::sector_cosines()}};
  const cl::Event done = sector(values, slots);
  const auto found = clcook::example::read<std::uint8_t>(rt, slots, count, done);

  // Six sectors in each of four quadrants, counted on from the direction of +x over +y.
  std::array<std::size_t, 24> histogram{};
  Picture out = picture;
  for (std::size_t i = 0; i < count; ++i) {
    const Gradient& g = gradients[i];
    const auto length = static_cast<double>(std::hypot(g.x, g.y));
    std::array<std::uint8_t, 3> rgb{};
    if (length >= arguments.least) {
      const std::size_t within = found[i];
      const std::size_t bin =
          g.x >= 0 ? (g.y >= 0 ? within : 23 - within) : (g.y >= 0 ? 11 - within : 12 + within);
      ++histogram[bin];
      rgb = clcook::example::wheel_colour(static_cast<double>(bin) / 24);
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
  clcook::example::TimeTable table(timer);
  for (const ThresholdCount::Variant variant : ThresholdCount::variants()) {
    table.add(variant.name(), [&] {
      const ThresholdCount one{rt, {count, ThresholdCount::sector_cosines()}, variant};
      return [=] { return one(values, slots); };
    });
  }
  table.print(arguments.rounds);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  clcook::example::CommandLine line{
      "Colours a picture by the direction of its gradients and times every variant"};
  line.picture_files(arguments.files);
  line.add("--least", arguments.least, "Weaker gradients are black; grey levels per pixel");
  line.device(arguments.device);
  line.rounds(arguments.rounds);
  return line.run(argc, argv, [&] { run(arguments); });
}
