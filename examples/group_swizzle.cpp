// Draws in which order the work-groups of a launch cover a picture, and what the order costs or
// brings: a wide scattered gather, and a pixel filter that reads nothing twice.
//
//   group_swizzle orders.png --width 16384 --height 2048
//   group_swizzle                                   writes group_swizzle.png
//
// The sheet shows a grid of work-groups under five orders, from left to right: row by row, vertical
// strips, Z order, a Hilbert curve, and strips in contiguous runs for four chiplets. Groups run
// from dark blue to yellow; the line joins each group to the next where they touch. The gather
// gains where a picture does not fit in the device's last cache.
//
// test: {out}/group_swizzle.png --width 150 --height 70 --radius 20 --rounds 1
// demo: {out}/group_swizzle.png --width 640 --height 360 --rounds 1
// demo-full: {out}/group_swizzle.png

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <clcook/group_swizzle.hpp>
#include <cmath>
#include <cstdint>
#include <pictures/picture.hpp>
#include <string>
#include <vector>

#include "support/program.hpp"
#include "support/stages.hpp"

namespace {

using clcook::GroupSwizzle;
using clcook::pictures::Picture;

struct Arguments {
  std::string out = "group_swizzle.png";
  std::string device;
  int width = 2048;
  int height = 1024;
  int radius = 256;
  int strip = 16;
  int rounds = 5;
};

using Colour = std::array<double, 3>;

void put(Picture& picture, int x, int y, const Colour& colour) {
  const std::size_t at = (static_cast<std::size_t>(y) * static_cast<std::size_t>(picture.width) +
                          static_cast<std::size_t>(x)) *
                         4;
  for (std::size_t c = 0; c < 3; ++c)
    picture.rgba[at + c] = static_cast<std::uint8_t>(colour[c] * 255 + 0.5);
}

// From dark blue over green to yellow.
Colour ramp(double t) {
  return {std::pow(t, 1.5), 0.1 + 0.8 * t, 0.45 + 0.25 * std::sin(3.1416 * t) - 0.3 * t};
}

// One order of a grid, with its upper left corner at (left, top).
void draw(Picture& picture, int left, int top, const clcook::model::SwizzleOrder& order,
          const clcook::model::GroupGrid& grid, int cell) {
  int from_x = 0;
  int from_y = 0;
  const auto last = static_cast<double>(std::max(1U, grid.count() - 1));
  for (std::uint32_t id = 0; id < grid.count(); ++id) {
    const clcook::model::GroupPlace at = clcook::model::swizzle(order, id, grid);
    const int x0 = left + static_cast<int>(at.x) * cell;
    const int y0 = top + static_cast<int>(at.y) * cell;
    for (int y = 0; y < cell - 1; ++y) {
      for (int x = 0; x < cell - 1; ++x) put(picture, x0 + x, y0 + y, ramp(id / last));
    }
  }
  for (std::uint32_t id = 0; id < grid.count(); ++id) {
    const clcook::model::GroupPlace at = clcook::model::swizzle(order, id, grid);
    const int x = left + static_cast<int>(at.x) * cell + cell / 2 - 1;
    const int y = top + static_cast<int>(at.y) * cell + cell / 2 - 1;
    const int away = std::max(std::abs(x - from_x), std::abs(y - from_y));
    const int steps = id == 0 || away > cell ? 0 : away;
    for (int i = 0; i < steps; ++i)
      put(picture, from_x + (x - from_x) * i / steps, from_y + (y - from_y) * i / steps, {1, 1, 1});
    from_x = x;
    from_y = y;
  }
}

Picture sheet() {
  const clcook::model::GroupGrid grid{18, 14};
  constexpr int kCell = 10;
  constexpr int kMargin = 10;
  using Kind = clcook::model::SwizzleKind;
  const clcook::model::SwizzleOrder orders[] = {{Kind::row_major, 1, 1},
                                                {Kind::columns, 4, 1},
                                                {Kind::morton, 1, 1},
                                                {Kind::hilbert, 1, 1},
                                                {Kind::columns, 4, 4}};
  constexpr int kOrders = 5;
  const int panel = static_cast<int>(grid.x) * kCell + kMargin;
  Picture picture;
  picture.width = kOrders * panel + kMargin;
  picture.height = static_cast<int>(grid.y) * kCell + 2 * kMargin;
  picture.rgba.assign(picture.pixels() * 4, 255);
  int left = kMargin;
  for (const clcook::model::SwizzleOrder& order : orders) {
    draw(picture, left, kMargin, order, grid, kCell);
    left += panel;
  }
  return picture;
}

void run(const Arguments& arguments) {
  clcook::pictures::check_picture_path(arguments.out);
  clcook::pictures::write_picture(arguments.out, sheet());

  clcook::PickOptions pick;
  pick.profiling = true;
  clcook::example::DeviceTimer timer;
  pick.runtime.on_launch = timer.observer();
  const clcook::Runtime rt = clcook::Runtime::pick(arguments.device, pick);
  fmt::print("{} on {} ({})\n", arguments.out, rt.info().name, rt.info().platform);

  GroupSwizzle::Problem problem;
  problem.width = arguments.width;
  problem.height = arguments.height;
  problem.radius = arguments.radius;
  const std::size_t values =
      static_cast<std::size_t>(arguments.width) * static_cast<std::size_t>(arguments.height) * 4;
  std::vector<float> pixels(values);
  for (std::size_t i = 0; i < values; ++i) pixels[i] = static_cast<float>(i * 7919 % 1021) / 1021;
  const std::size_t bytes = values * sizeof(float);
  const cl::Buffer src = clcook::create_buffer(rt, bytes, CL_MEM_READ_ONLY, pixels.data());
  const cl::Buffer dst = clcook::create_buffer(rt, bytes);
  const auto download = [&](const cl::Event& done) {
    std::vector<float> out(values);
    const cl_event wait = done();
    clcook::check(
        clEnqueueReadBuffer(rt.queue()(), dst(), CL_TRUE, 0, bytes, out.data(), 1, &wait, nullptr),
        "clEnqueueReadBuffer");
    return out;
  };

  for (const GroupSwizzle::Work work : {GroupSwizzle::Work::gather, GroupSwizzle::Work::filter}) {
    problem.work = work;
    std::vector<GroupSwizzle> plans;
    std::vector<std::vector<double>> seconds;
    std::vector<float> expected;
    for (const GroupSwizzle::Variant variant : GroupSwizzle::variants()) {
      GroupSwizzle::Tune tune;
      tune.strip = arguments.strip;
      plans.emplace_back(rt, problem, variant, tune);
      const std::vector<float> got = download(plans.back()(src, dst));  // the warm-up as well
      if (expected.empty()) expected = got;
      if (got != expected) {
        clcook::fail(clcook::Errc::invalid_argument, "group_swizzle",
                     "the order " + variant.name() + " makes another picture");
      }
    }
    seconds.resize(plans.size());
    for (int round = 0; round < arguments.rounds; ++round) {
      for (std::size_t i = 0; i < plans.size(); ++i)
        seconds[i].push_back(timer.time([&] { return plans[i](src, dst); }));
    }
    fmt::print("\n{}, {} x {}: every order makes the same picture\n", to_string(work),
               arguments.width, arguments.height);
    const double first = clcook::example::median(seconds[0]);
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const double one = clcook::example::median(seconds[i]);
      fmt::print("{:<16}{:>12.1f} us{:>8.2f}x\n", plans[i].variant().name(), one * 1e6,
                 first / one);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{"Draws the orders in which work-groups cover a picture, and times them"};
  app.add_option("OUT", arguments.out, "The sheet of orders (PNG, JPEG)")->capture_default_str();
  app.add_option("--width", arguments.width, "Width of the picture that is worked on")
      ->check(CLI::Range(1, 1 << 16))
      ->capture_default_str();
  app.add_option("--height", arguments.height, "Height of the picture that is worked on")
      ->check(CLI::Range(1, 1 << 16))
      ->capture_default_str();
  app.add_option("--radius", arguments.radius, "How far the gather reaches, in pixels")
      ->capture_default_str();
  app.add_option("--strip", arguments.strip, "Width of the strips in work-groups")
      ->capture_default_str();
  app.add_option("--rounds", arguments.rounds, "Timed rounds; the median is printed")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  clcook::example::add_device(app, arguments.device);
  return clcook::example::run_main(app, argc, argv, [&] { run(arguments); });
}
