// Filters the neighbourhoods of a picture: removes salt-and-pepper noise with a 3 x 3 median, grows
// bright things with a dilation, or pulls a stale frame into the range of the current one, as
// temporal anti-aliasing does. Prints the time of every variant.
//
//   halo_tile in.png out.png --filter median
//   halo_tile                          renders a test scene, adds noise, and cleans it to
//                                      halo_tile.png
//
// test: scene:96x80 {out}/halo_tile_median.png --filter median --input {out}/halo_tile_noise.png
// test: scene:70x33 {out}/halo_tile_dilation.png --filter dilation --radius 3 --rounds 1
// test: scene:70x33 {out}/halo_tile_clamp.png --filter clamp --rounds 1
// demo: scene {out}/halo_tile.png --filter median --input {out}/halo_tile_noise.png

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <clcook/halo_tile.hpp>
#include <cstdint>
#include <cstdio>
#include <pictures/picture.hpp>
#include <string>
#include <utility>
#include <vector>

#include "support/program.hpp"
#include "support/scene.hpp"
#include "support/stages.hpp"

namespace {

using clcook::HaloTile;
using clcook::pictures::Picture;

struct Arguments {
  std::vector<std::string> files;
  std::string filter = "median";
  std::string border = "clamp";
  std::string input_copy;
  std::string device;
  int radius = 1;
  int rounds = 5;
};

// Every 20th pixel becomes black or white, the same ones on every machine.
void add_noise(Picture& picture) {
  std::uint32_t state = 1;
  for (std::size_t i = 0; i < picture.pixels(); ++i) {
    state = state * 1664525 + 1013904223;
    if (state >> 16 & 1 || (state >> 17) % 10 != 0) continue;
    std::fill_n(picture.rgba.begin() + static_cast<std::ptrdiff_t>(4 * i), 3,
                static_cast<std::uint8_t>(state >> 31 != 0 ? 255 : 0));
  }
}

// What the camera saw a few pixels to the left: a history that leaves ghosts.
Picture moved(const Picture& picture) {
  Picture out = picture;
  const int step = std::min(8, picture.width - 1);
  for (int y = 0; y < picture.height; ++y) {
    const auto row = picture.rgba.begin() + static_cast<std::ptrdiff_t>(4) * y * picture.width;
    std::copy(row, row + 4 * (picture.width - step),
              out.rgba.begin() + static_cast<std::ptrdiff_t>(4) * (y * picture.width + step));
  }
  return out;
}

std::vector<float> floats(const Picture& picture) {
  std::vector<float> out(picture.rgba.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<float>(picture.rgba[i]) / 255.0f;
  }
  return out;
}

void run(const Arguments& arguments) {
  clcook::example::both_or_none(arguments.files);
  const std::string in = arguments.files.empty() ? "scene" : arguments.files[0];
  const std::string out = arguments.files.empty() ? "halo_tile.png" : arguments.files[1];
  clcook::pictures::check_picture_path(out);
  if (!arguments.input_copy.empty()) clcook::pictures::check_picture_path(arguments.input_copy);

  clcook::PickOptions pick;
  pick.profiling = true;
  clcook::example::DeviceTimer timer;
  pick.runtime.on_launch = timer.observer();
  const clcook::Runtime rt = clcook::Runtime::pick(arguments.device, pick);

  Picture picture = clcook::example::open_picture(in);
  HaloTile::Problem problem;
  problem.filter = HaloTile::parse_filter(arguments.filter);
  problem.width = picture.width;
  problem.height = picture.height;
  problem.radius = arguments.radius;
  problem.border = HaloTile::parse_border(arguments.border);
  const bool clamp = problem.filter == HaloTile::Filter::clamp;
  const Picture old = moved(picture);
  if (problem.filter == HaloTile::Filter::median) add_noise(picture);
  if (!arguments.input_copy.empty()) {
    clcook::pictures::write_picture(arguments.input_copy, clamp ? old : picture);
  }

  const std::vector<float> pixels = floats(picture);
  const std::vector<float> past = floats(old);
  const std::size_t bytes = pixels.size() * sizeof(float);
  const cl::Buffer src = clcook::create_buffer(rt, bytes, CL_MEM_READ_ONLY, pixels.data());
  const cl::Buffer history = clcook::create_buffer(rt, bytes, CL_MEM_READ_ONLY, past.data());
  const cl::Buffer dst = clcook::create_buffer(rt, bytes);
  const auto call = [&](const HaloTile& plan) {
    return clamp ? plan(src, history, dst) : plan(src, dst);
  };

  const HaloTile chosen(rt, problem);
  const cl::Event done = call(chosen);
  std::vector<float> result(pixels.size());
  const cl_event wait = done();
  clcook::check(
      clEnqueueReadBuffer(rt.queue()(), dst(), CL_TRUE, 0, bytes, result.data(), 1, &wait, nullptr),
      "clEnqueueReadBuffer");
  for (std::size_t i = 0; i < result.size(); ++i) {
    picture.rgba[i] =
        static_cast<std::uint8_t>(std::clamp(result[i] * 255.0f + 0.5f, 0.0f, 255.0f));
  }
  clcook::pictures::write_picture(out, picture);
  fmt::print("{} of {} x {}, radius {}, border {}, on {}\n{} by variant {}\n\n", arguments.filter,
             picture.width, picture.height, arguments.radius, arguments.border, rt.info().name, out,
             chosen.variant().name());

  double first = 0;
  for (const HaloTile::Row& variant : HaloTile::variants()) {
    if (variant.traits.is_image) continue;  // it wants the picture as an image
    try {
      const HaloTile plan(rt, problem, variant);
      timer.time([&] { return call(plan); });
      std::vector<double> seconds;
      for (int i = 0; i < arguments.rounds; ++i) {
        seconds.push_back(timer.time([&] { return call(plan); }));
      }
      const double time = clcook::example::median(seconds);
      if (first <= 0) first = time;
      fmt::print("{:<18}{:>10.1f} us{:>8.2f}x\n", variant.name, time * 1e6, first / time);
    } catch (const clcook::Error& error) {
      if (error.code != clcook::Errc::unsupported) throw;
      fmt::print("{:<18} skipped: {}\n", variant.name, error.what());
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{"Filters the neighbourhoods of a picture and prints the time of every variant"};
  app.add_option(
         "FILES", arguments.files,
         "Input (PNG, JPEG, 'scene' or 'scene:WIDTHxHEIGHT') and output (PNG, JPEG); both or none")
      ->expected(0, 2);
  app.add_option("--filter", arguments.filter, "dilation, median or clamp")->capture_default_str();
  app.add_option("--radius", arguments.radius, "Radius in pixels; 1 for the median")
      ->capture_default_str();
  app.add_option("--border", arguments.border, "clamp, mirror, wrap or constant (black)")
      ->capture_default_str();
  clcook::example::add_device(app, arguments.device);
  app.add_option("--rounds", arguments.rounds, "Timed rounds; the median is printed")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_option("--input", arguments.input_copy,
                 "Also write the filter's input (clamp: the history) to this PNG file");
  return clcook::example::run_main(app, argc, argv, [&] { run(arguments); });
}
