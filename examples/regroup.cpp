// Shades a hall of spheres, each of another material, and writes the picture. Prints what it takes
// when a branch chooses the material, and with the texels regrouped by material in several ways.
//
//   regroup out.png --materials 32 --random 20
//   regroup                                     writes regroup.png
//
// --random: so many percent of the texels have a material at random, as after a bounce of a path
// tracer. The sky has no material: its key is no path, and its colours stay as they were.
//
// test: {out}/regroup.png --width 96 --height 54 --materials 7 --random 10 --rounds 1
// demo: {out}/regroup.png --width 640 --height 360 --random 30 --rounds 3

#include <fmt/format.h>

#include <algorithm>
#include <clcook/regroup.hpp>
#include <cmath>
#include <cstdint>
#include <pictures/picture.hpp>
#include <string>
#include <vector>

#include "support/buffers.hpp"
#include "support/hall.hpp"
#include "support/program.hpp"
#include "support/stages.hpp"
#include "support/time_table.hpp"

namespace {

using clcook::Regroup;
using clcook::example::Hit;
using clcook::example::Vector;

struct Arguments {
  std::string out = "regroup.png";
  std::string device;
  int width = 960;
  int height = 540;
  int materials = 16;
  int random = 0;
  int rounds = 5;
};

struct Scene {
  std::vector<std::uint8_t> keys;
  std::vector<std::uint32_t> texels;  // four words each
};

constexpr std::uint8_t kSky = 255;  // no path

Scene look(const Arguments& a) {
  Scene scene;
  std::uint32_t state = 1;
  const auto draw = [&] { return (state = state * 1664525u + 1013904223u) >> 16; };
  for (int y = 0; y < a.height; ++y) {
    for (int x = 0; x < a.width; ++x) {
      const Vector eye{0, 3, -3};
      const Vector ray = clcook::example::unit(
          {(x + 0.5 - a.width / 2.0) / a.height, (a.height * 0.3 - y - 0.5) / a.height, 1.5});
      const Hit hit = clcook::example::trace(eye, ray);
      std::uint32_t words[4] = {110u << 24, 0, 0, static_cast<std::uint32_t>(hit.object) * 7919u};
      std::uint8_t key = kSky;
      if (hit.distance < 1e8) {
        const auto object = static_cast<std::uint32_t>(hit.object);
        const bool other = static_cast<int>(draw() % 100) < a.random;
        key = static_cast<std::uint8_t>((other ? draw() : object) %
                                        static_cast<std::uint32_t>(a.materials));
        for (std::size_t c = 0; c < 3; ++c) {
          const auto normal = static_cast<int>(std::lround(hit.normal[c] * 127));
          words[0] |= (static_cast<std::uint32_t>(normal) & 0xFFu) << (8 * c);
          words[1] |= static_cast<std::uint32_t>(hit.albedo[c]) << (8 * c);
        }
        const Vector at = clcook::example::along(eye, ray, hit.distance);
        const auto place = [&](double v) {
          return static_cast<std::uint32_t>(std::lround((v + 64) * 8192)) & 0xFFFFu;
        };
        words[2] = place(at[0] + 0.3 * at[1]) | place(at[2] - 0.7 * at[1]) << 16;
      }
      scene.keys.push_back(key);
      scene.texels.insert(scene.texels.end(), words, words + 4);
    }
  }
  return scene;
}

void run(const Arguments& a) {
  clcook::pictures::check_picture_path(a.out);
  clcook::example::DeviceTimer timer;
  const clcook::Runtime rt = clcook::Runtime::pick(a.device, timer.options());
  const Scene scene = look(a);
  const std::size_t count = scene.keys.size();

  const cl::Buffer keys = clcook::example::upload(rt, scene.keys);
  const cl::Buffer texels = clcook::example::upload(rt, scene.texels);
  const std::vector<float> sky(4 * count, 0.7f);
  const cl::Buffer colours =
      clcook::create_buffer(rt, sky.size() * sizeof(float), CL_MEM_READ_WRITE, sky.data());
  Regroup::Problem problem;
  problem.items = count;
  problem.paths = a.materials;
  problem.parameters[3] = 1.2f;  // brightness
  const Regroup shade{rt, problem};
  const cl::Event done = shade(keys, texels, colours);

  clcook::pictures::Picture picture;
  picture.width = a.width;
  picture.height = a.height;
  for (const float value : clcook::example::read<float>(rt, colours, 4 * count, done)) {
    const double bright = std::sqrt(std::clamp(static_cast<double>(value), 0.0, 1.0)) * 255;
    picture.rgba.push_back(static_cast<std::uint8_t>(std::lround(bright)));
  }
  for (std::size_t i = 3; i < picture.rgba.size(); i += 4) picture.rgba[i] = 255;
  clcook::pictures::write_picture(a.out, picture);
  fmt::print("{} by variant {} on {} ({})\n", a.out, shade.variant().name(), rt.info().name,
             rt.info().platform);

  fmt::print("{} texels, {} materials, {} % of them at random\n", count, a.materials, a.random);
  clcook::example::TimeTable table(timer);
  for (const Regroup::Row& row : Regroup::variants()) {
    table.add(row.name, [&] {
      return [&, plan = Regroup{rt, problem, row.name}] { return plan(keys, texels, colours); };
    });
  }
  table.print(a.rounds);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  clcook::example::CommandLine line{"Shades spheres of many materials, regrouped by material"};
  line.add("OUT", arguments.out, "The picture (PNG, JPEG)");
  line.add("--width", arguments.width, "Pixels", clcook::example::between(1, 8192));
  line.add("--height", arguments.height, "Pixels", clcook::example::between(1, 8192));
  line.add("--materials", arguments.materials, "How many materials there are",
           clcook::example::between(clcook::regroup::kMinPaths, clcook::regroup::kMaxPaths));
  line.add("--random", arguments.random, "Texels with a material at random, %",
           clcook::example::between(0, 100));
  line.rounds(arguments.rounds);
  line.device(arguments.device);
  return line.run(argc, argv, [&] { run(arguments); });
}
