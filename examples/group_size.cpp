// Draws spheres on a plane by sphere tracing, and beside it how many steps every pixel took: blue
// for few, red for many, on a logarithmic scale. Then times three kernels at every size of a
// work-group, beside the occupancy that the model gives for an NVIDIA sm_90.
//
//   group_size out.png --width 1920 --height 1080
//   group_size                                       writes group_size.png
//
// test: {out}/group_size.png --width 40 --height 24 --rounds 1 --group 32,64
// demo: {out}/group_size.png --width 240 --height 136 --rounds 2
// demo-full: {out}/group_size.png

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <clcook/group_size.hpp>
#include <clcook/model/occupancy.hpp>
#include <cmath>
#include <cstdint>
#include <pictures/picture.hpp>
#include <string>
#include <vector>

#include "support/program.hpp"
#include "support/stages.hpp"

namespace {

using clcook::GroupSize;
using clcook::pictures::Picture;

// Centre and radius.
constexpr float kSpheres[][4] = {{0, 1, 0, 1},
                                 {-2.4f, 0.7f, 1.5f, 0.7f},
                                 {2.3f, 1.4f, 2, 1.4f},
                                 {1.4f, 0.4f, -1.6f, 0.4f},
                                 {-1.2f, 0.3f, -2, 0.3f},
                                 {-5, 2, 5, 2},
                                 {5.6f, 0.9f, 0.5f, 0.9f},
                                 {-4.6f, 0.5f, -0.8f, 0.5f}};
constexpr int kCount = static_cast<int>(std::size(kSpheres));

struct Arguments {
  std::string out = "group_size.png";
  std::string device;
  std::vector<int> groups = {32, 64, 128, 256, 512, 1024};
  int width = 960;
  int height = 540;
  int registers = 32;
  int rounds = 5;
};

// The light on a pixel: from the point that the ray hits to the surface's normal there.
float shade(float u, float v, float t) {
  const float p[3] = {u, 4.36f + 0.96f * v - 0.28f * t, -11.52f + 0.28f * v + 0.96f * t};
  float nearest = p[1];
  float normal[3] = {0, 1, 0};
  for (const auto& s : kSpheres) {
    const float q[3] = {p[0] - s[0], p[1] - s[1], p[2] - s[2]};
    const float length = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
    if (length - s[3] >= nearest) continue;
    nearest = length - s[3];
    for (int k = 0; k < 3; ++k) normal[k] = q[k] / length;
  }
  const float light = 0.36f * normal[0] + 0.8f * normal[1] - 0.48f * normal[2];
  const bool odd =
      (static_cast<int>(std::floor(p[0])) + static_cast<int>(std::floor(p[2]))) % 2 != 0;
  const float colour = normal[1] == 1.0f ? (odd ? 0.35f : 0.55f) : 0.9f;
  return colour * (0.15f + 0.85f * std::max(0.0f, light));
}

Picture draw(const std::vector<GroupSize::Hit>& hits, int width, int height) {
  Picture out;
  out.width = 2 * width;
  out.height = height;
  out.rgba.assign(hits.size() * 8, 255);
  int most = 1;
  for (const GroupSize::Hit& hit : hits) most = std::max(most, hit.steps);
  const float scale = 8.0f / static_cast<float>(height);
  const auto byte = [](float value) {
    return static_cast<std::uint8_t>(std::clamp(value, 0.0f, 1.0f) * 255 + 0.5f);
  };
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const GroupSize::Hit& hit = hits[static_cast<std::size_t>(y * width + x)];
      const float u = (static_cast<float>(x) - 0.5f * static_cast<float>(width - 1)) * scale;
      const float v = (0.5f * static_cast<float>(height - 1) - static_cast<float>(y)) * scale;
      std::uint8_t* left = &out.rgba[static_cast<std::size_t>(y * 2 * width + x) * 4];
      std::uint8_t* right = left + 4 * width;
      const float light = std::pow(shade(u, v, hit.distance), 1 / 2.2f);
      for (int k = 0; k < 3; ++k) left[k] = byte(light);
      const float share =
          std::log(1 + static_cast<float>(hit.steps)) / std::log(1 + static_cast<float>(most));
      right[0] = byte(2 * share);
      right[1] = byte(2 - 2 * std::max(share, 1 - share));
      right[2] = byte(2 - 2 * share);
    }
  }
  return out;
}

void run(const Arguments& arguments) {
  clcook::pictures::check_picture_path(arguments.out);
  clcook::PickOptions pick;
  pick.profiling = true;
  clcook::example::DeviceTimer timer;
  pick.runtime.on_launch = timer.observer();
  const clcook::Runtime rt = clcook::Runtime::pick(arguments.device, pick);

  // The picture.
  GroupSize::Problem tracing;
  tracing.work = GroupSize::Work::divergent_loop;
  tracing.width = arguments.width;
  tracing.height = arguments.height;
  tracing.spheres = kCount;
  const auto pixels =
      static_cast<std::size_t>(arguments.width) * static_cast<std::size_t>(arguments.height);
  const cl::Buffer spheres = clcook::create_buffer(rt, sizeof kSpheres, CL_MEM_READ_ONLY, kSpheres);
  const cl::Buffer result = clcook::create_buffer(rt, pixels * sizeof(GroupSize::Hit));
  const cl::Event done = GroupSize{rt, tracing}(spheres, result);
  std::vector<GroupSize::Hit> hits(pixels);
  const cl_event wait = done();
  clcook::check(
      clEnqueueReadBuffer(rt.queue()(), result(), CL_TRUE, 0, pixels * sizeof(GroupSize::Hit),
                          hits.data(), 1, &wait, nullptr),
      "clEnqueueReadBuffer");
  clcook::pictures::write_picture(arguments.out, draw(hits, arguments.width, arguments.height));
  fmt::print("{} on {} ({})\n", arguments.out, rt.info().name, rt.info().platform);

  // As many values as pixels for the other two kernels; their values do not matter.
  GroupSize::Problem line;
  line.count = pixels;
  GroupSize::Problem sums = line;
  sums.work = GroupSize::Work::barriers;
  const std::vector<std::uint32_t> zeros(pixels);
  const cl::Buffer in = clcook::create_buffer(rt, pixels * 4, CL_MEM_READ_ONLY, zeros.data());
  fmt::print("\n{:>6}", "group");
  for (const auto& work : clcook::group_size::kWorks)
    fmt::print("{:>18} us {:>9}", work.name, "modelled");
  fmt::print("\n");
  for (const int group : arguments.groups) {
    fmt::print("{:>6}", group);
    for (const GroupSize::Problem& problem : {line, sums, tracing}) {
      const GroupSize plan{rt, problem, "direct", {group, 0}};
      const cl::Buffer& from = problem.work == GroupSize::Work::divergent_loop ? spheres : in;
      std::vector<double> seconds;
      for (int round = 0; round <= arguments.rounds; ++round) {
        const double time = timer.time([&] { return plan(from, result); });
        if (round > 0) seconds.push_back(time);  // the first is the warm-up
      }
      clcook::model::KernelNeeds needs;
      needs.registers = arguments.registers;
      needs.group_size = group;
      needs.local_bytes = static_cast<std::int64_t>(
          GroupSize::Spec::local_bytes(*plan.variant().row(), problem.work));
      const double occupancy = clcook::model::occupancy("sm_90", needs).occupancy();
      fmt::print("{:>21.1f} {:>8.0f}%", clcook::example::median(seconds) * 1e6, occupancy * 100);
    }
    fmt::print("\n");
  }
  fmt::print("modelled: occupancy of an sm_90 at {} registers per item\n", arguments.registers);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{"Draws spheres by sphere tracing, and times kernels at every size of a work-group"};
  app.add_option("OUT", arguments.out, "The picture (PNG, JPEG)")->capture_default_str();
  app.add_option("--width", arguments.width, "Pixels of each half of the picture")
      ->check(CLI::Range(1, 8192))
      ->capture_default_str();
  app.add_option("--height", arguments.height, "Pixels")
      ->check(CLI::Range(1, 8192))
      ->capture_default_str();
  app.add_option("--group", arguments.groups, "Work-items per group")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--registers", arguments.registers, "Registers per item, for the model")
      ->check(CLI::Range(0, 255))
      ->capture_default_str();
  app.add_option("--rounds", arguments.rounds, "Timed rounds; the median is printed")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  clcook::example::add_device(app, arguments.device);
  return clcook::example::run_main(app, argc, argv, [&] { run(arguments); });
}
