// Drops cloths onto spheres: position-based dynamics with the constraints solved on the device, all
// cloths as islands of one call. Writes pictures of it and prints what each variant takes for a
// step.
//
//   local_multipass early.png late.png   pictures at even times, the last at the end
//   local_multipass                      writes local_multipass.png
//
// test: {out}/cloth.png --cloths 2 --side 10 --seconds 0.05 --size 96x54 --rounds 1
// demo: {out}/cloth_falling.png {out}/cloth.png

#include <fmt/format.h>

#include <clcook/local_multipass.hpp>
#include <cmath>
#include <cstdint>
#include <pictures/picture.hpp>
#include <string>
#include <vector>

#include "support/buffers.hpp"
#include "support/cloths.hpp"
#include "support/program.hpp"
#include "support/stages.hpp"
#include "support/time_table.hpp"

namespace {

using clcook::LocalMultipass;
using clcook::example::Cloths;

struct Arguments {
  std::vector<std::string> files;
  std::string device;
  std::string variant = "automatic";
  std::string size = "1280x720";
  std::uint32_t cloths = 6;
  std::uint32_t side = 40;
  std::uint32_t iterations = 20;
  double seconds = 1;
  int rounds = 9;
};

void run(const Arguments& arguments) {
  const std::vector<std::string> files =
      arguments.files.empty() ? std::vector<std::string>{"local_multipass.png"} : arguments.files;
  for (const std::string& file : files) clcook::pictures::check_picture_path(file);
  const auto [width, height] = clcook::example::parse_size(arguments.size);
  clcook::example::DeviceTimer timer;
  const clcook::Runtime rt = clcook::Runtime::pick(arguments.device, timer.options());

  LocalMultipass::Problem problem;
  problem.islands = arguments.cloths;
  problem.iterations = arguments.iterations;
  problem.island = LocalMultipass::Island::cloth(arguments.side, arguments.side,
                                                 Cloths::spacing(arguments.side), 1, 0.02f);
  const LocalMultipass solve(rt, problem, arguments.variant);
  fmt::print(
      "{} cloths of {} x {} particles, {} constraints of {} colours, {} iterations a step, "
      "on {} ({}), by variant {}\n",
      arguments.cloths, arguments.side, arguments.side, problem.island.constraints.size(),
      problem.island.colours(), arguments.iterations, rt.info().name, rt.info().platform,
      solve.variant().name());

  Cloths cloths(arguments.cloths, arguments.side);
  std::vector<float>& particles = cloths.particles;
  const std::size_t bytes = particles.size() * sizeof(float);
  const cl::Buffer buffer = clcook::create_buffer(rt, bytes);
  const auto upload = [&] {
    clcook::check(rt.queue().enqueueWriteBuffer(buffer, CL_TRUE, 0, bytes, particles.data()),
                  "clEnqueueWriteBuffer");
  };
  const auto steps =
      static_cast<std::size_t>(std::lround(arguments.seconds * Cloths::kStepsPerSecond));
  std::vector<double> times;
  std::size_t written = 0;
  for (std::size_t step = 1; step <= steps; ++step) {
    cloths.predict();
    upload();
    cl::Event done;
    times.push_back(timer.time([&] { return done = solve(buffer, buffer); }));
    particles = clcook::example::read<float>(rt, buffer, particles.size(), done);
    cloths.collide();
    if (step * files.size() >= (written + 1) * steps) {
      clcook::pictures::write_picture(files[written], cloths.picture(width, height));
      fmt::print("{} after {:.2f} s\n", files[written],
                 static_cast<double>(step) / Cloths::kStepsPerSecond);
      ++written;
    }
  }
  clcook::local_multipass::check_particles(particles.data(), particles.size() / 4);
  fmt::print("{} steps, {:.1f} us of device time each (median)\n\nA step by each variant:\n", steps,
             clcook::example::median(times) * 1e6);

  clcook::example::TimeTable table(timer);
  for (const LocalMultipass::Variant variant : LocalMultipass::variants()) {
    table.add(variant.name(), [&] {
      return [&, plan = LocalMultipass(rt, problem, variant)] {
        upload();  // each starts from the same particles
        return plan(buffer, buffer);
      };
    });
  }
  table.print(arguments.rounds);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  clcook::example::CommandLine line{"Drops cloths onto spheres, solved in local memory"};
  line.add("FILES", arguments.files, "Pictures to write (PNG, JPEG), evenly over the time");
  line.add("--cloths", arguments.cloths, "Number of cloths, each an island",
           clcook::example::between(1, 64));
  line.add("--side", arguments.side, "Particles along the side of a cloth",
           clcook::example::between(2, 200));
  line.add("--iterations", arguments.iterations, "Iterations of the solver per step",
           clcook::example::between(1, 1000));
  line.add("--seconds", arguments.seconds, "Simulated time", clcook::example::between(0.01, 60.0));
  line.add("--size", arguments.size, "Size of the pictures");
  line.variant(arguments.variant, "solves");
  line.device(arguments.device);
  line.rounds(arguments.rounds, " of the table");
  return line.run(argc, argv, [&] { run(arguments); });
}
