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

#include <clcook/group_swizzle.hpp>
#include <cstdint>
#include <pictures/picture.hpp>
#include <string>
#include <vector>

#include "support/buffers.hpp"
#include "support/order_sheet.hpp"
#include "support/program.hpp"
#include "support/stages.hpp"
#include "support/time_table.hpp"

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

// The five orders of a small grid, by the model of what the kernels do.
Picture sheet() {
  using clcook::model::SwizzleOrder;
  using Kind = clcook::model::SwizzleKind;
  const clcook::model::GroupGrid grid{18, 14};
  std::vector<std::vector<clcook::example::Cell>> orders;
  for (const SwizzleOrder& order :
       {SwizzleOrder{Kind::row_major, 1, 1}, SwizzleOrder{Kind::columns, 4, 1},
        SwizzleOrder{Kind::morton, 1, 1}, SwizzleOrder{Kind::hilbert, 1, 1},
        SwizzleOrder{Kind::columns, 4, 4}}) {
    orders.emplace_back();
    for (std::uint32_t id = 0; id < grid.count(); ++id) {
      const clcook::model::GroupPlace at = clcook::model::swizzle(order, id, grid);
      orders.back().push_back({static_cast<int>(at.x), static_cast<int>(at.y)});
    }
  }
  return clcook::example::draw_orders(orders, static_cast<int>(grid.x), static_cast<int>(grid.y));
}

void run(const Arguments& arguments) {
  clcook::pictures::check_picture_path(arguments.out);
  clcook::pictures::write_picture(arguments.out, sheet());

  clcook::example::DeviceTimer timer;
  const clcook::Runtime rt = clcook::Runtime::pick(arguments.device, timer.options());
  fmt::print("{} on {} ({})\n", arguments.out, rt.info().name, rt.info().platform);

  GroupSwizzle::Problem problem;
  problem.width = arguments.width;
  problem.height = arguments.height;
  problem.radius = arguments.radius;
  const std::size_t values =
      static_cast<std::size_t>(arguments.width) * static_cast<std::size_t>(arguments.height) * 4;
  std::vector<float> pixels(values);
  for (std::size_t i = 0; i < values; ++i) pixels[i] = static_cast<float>(i * 7919 % 1021) / 1021;
  const cl::Buffer src = clcook::example::upload(rt, pixels);
  const cl::Buffer dst = clcook::create_buffer(rt, values * sizeof(float));

  for (const GroupSwizzle::Work work : {GroupSwizzle::Work::gather, GroupSwizzle::Work::filter}) {
    problem.work = work;
    clcook::example::TimeTable table(timer);
    std::vector<float> expected;
    for (const GroupSwizzle::Variant variant : GroupSwizzle::variants()) {
      table.add(variant.name(), [&] {
        GroupSwizzle::Tune tune;
        tune.strip = arguments.strip;
        const GroupSwizzle plan(rt, problem, variant, tune);
        const std::vector<float> got =
            clcook::example::read<float>(rt, dst, values, plan(src, dst));
        if (expected.empty()) expected = got;
        if (got != expected) {
          clcook::fail(clcook::Errc::invalid_argument, "group_swizzle",
                       "the order " + variant.name() + " makes another picture");
        }
        return [=] { return plan(src, dst); };
      });
    }
    fmt::print("\n{}, {} x {}: every order makes the same picture\n", to_string(work),
               arguments.width, arguments.height);
    table.print(arguments.rounds);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  clcook::example::CommandLine line{
      "Draws the orders in which work-groups cover a picture, and times them"};
  line.add("OUT", arguments.out, "The sheet of orders (PNG, JPEG)");
  line.add("--width", arguments.width, "Width of the picture that is worked on",
           clcook::example::between(1, 1 << 16));
  line.add("--height", arguments.height, "Height of the picture that is worked on",
           clcook::example::between(1, 1 << 16));
  line.add("--radius", arguments.radius, "How far the gather reaches, in pixels");
  line.add("--strip", arguments.strip, "Width of the strips in work-groups");
  line.rounds(arguments.rounds);
  line.device(arguments.device);
  return line.run(argc, argv, [&] { run(arguments); });
}
