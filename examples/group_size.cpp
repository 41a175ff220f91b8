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

#include <clcook/group_size.hpp>
#include <clcook/model/occupancy.hpp>
#include <cstdint>
#include <iterator>
#include <pictures/picture.hpp>
#include <string>
#include <vector>

#include "support/buffers.hpp"
#include "support/program.hpp"
#include "support/spheres.hpp"
#include "support/stages.hpp"

namespace {

using clcook::GroupSize;
using clcook::example::kSpheres;

struct Arguments {
  std::string out = "group_size.png";
  std::string device;
  std::vector<int> groups = {32, 64, 128, 256, 512, 1024};
  int width = 960;
  int height = 540;
  int registers = 32;
  int rounds = 5;
};

void run(const Arguments& arguments) {
  clcook::pictures::check_picture_path(arguments.out);
  clcook::example::DeviceTimer timer;
  const clcook::Runtime rt = clcook::Runtime::pick(arguments.device, timer.options());

  // The picture.
  GroupSize::Problem tracing;
  tracing.work = GroupSize::Work::divergent_loop;
  tracing.width = arguments.width;
  tracing.height = arguments.height;
  tracing.spheres = static_cast<int>(std::size(kSpheres));
  const auto pixels =
      static_cast<std::size_t>(arguments.width) * static_cast<std::size_t>(arguments.height);
  const cl::Buffer spheres = clcook::create_buffer(rt, sizeof kSpheres, CL_MEM_READ_ONLY, kSpheres);
  const cl::Buffer result = clcook::create_buffer(rt, pixels * sizeof(GroupSize::Hit));
  const cl::Event done = GroupSize{rt, tracing}(spheres, result);
  const auto hits = clcook::example::read<GroupSize::Hit>(rt, result, pixels, done);
  std::vector<clcook::example::Traced> seen;
  for (const GroupSize::Hit& hit : hits) seen.push_back({hit.distance, hit.steps});
  clcook::pictures::write_picture(
      arguments.out, clcook::example::draw_spheres(seen, arguments.width, arguments.height));
  fmt::print("{} on {} ({})\n", arguments.out, rt.info().name, rt.info().platform);

  // As many values as pixels for the other two kernels; their values do not matter.
  GroupSize::Problem line;
  line.count = pixels;
  GroupSize::Problem sums = line;
  sums.work = GroupSize::Work::barriers;
  const cl::Buffer in = clcook::example::upload(rt, std::vector<std::uint32_t>(pixels));
  fmt::print("\n{:>6}", "group");
  for (const GroupSize::Problem& problem : {line, sums, tracing})
    fmt::print("{:>18} us {:>9}", clcook::group_size::to_string(problem.work), "modelled");
  fmt::print("\n");
  for (const int group : arguments.groups) {
    fmt::print("{:>6}", group);
    for (const GroupSize::Problem& problem : {line, sums, tracing}) {
      const GroupSize plan{rt, problem, "direct", {group, 0}};
      const cl::Buffer& from = problem.work == GroupSize::Work::divergent_loop ? spheres : in;
      const double seconds = timer.median([&] { return plan(from, result); }, arguments.rounds);
      clcook::model::KernelNeeds needs;
      needs.registers = arguments.registers;
      needs.group_size = group;
      needs.local_bytes = static_cast<std::int64_t>(
          GroupSize::Spec::local_bytes(*plan.variant().row(), problem.work));
      const double occupancy = clcook::model::occupancy("sm_90", needs).occupancy();
      fmt::print("{:>21.1f} {:>8.0f}%", seconds * 1e6, occupancy * 100);
    }
    fmt::print("\n");
  }
  fmt::print("modelled: occupancy of an sm_90 at {} registers per item\n", arguments.registers);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  clcook::example::CommandLine line{
      "Draws spheres by sphere tracing, and times kernels at every size of a work-group"};
  line.add("OUT", arguments.out, "The picture (PNG, JPEG)");
  line.add("--width", arguments.width, "Pixels of each half of the picture",
           clcook::example::between(1, 8192));
  line.add("--height", arguments.height, "Pixels", clcook::example::between(1, 8192));
  line.add("--group", arguments.groups, "Work-items per group", clcook::example::between(1, 1024));
  line.add("--registers", arguments.registers, "Registers per item, for the model",
           clcook::example::between(0, 255));
  line.rounds(arguments.rounds);
  line.device(arguments.device);
  return line.run(argc, argv, [&] { run(arguments); });
}
