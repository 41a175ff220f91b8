// How much light passes a glass surface, seen from both sides, as a picture: on the left every
// direction from which light can enter the glass, on the right every direction from which it can
// leave. The middle of a disc is the direction straight at the surface, its rim the one along it.
// From inside, nothing leaves beyond the critical angle (Snell's window), which differs by colour.
//
//   argument_swap out.png --glass 1.728,0.01342
//   argument_swap                                   writes argument_swap.png
//
// Both halves are one call: the rays of a pixel, one that enters and one that leaves, are
// neighbours, so half of all work-items takes the branch, as in a path tracer after a few bounces.
// Prints the time with a call in each branch and with one call.
//
// test: {out}/argument_swap.png --size 40 --rounds 1
// test: {out}/own.png --size 24 --rounds 1 --schlick
// demo: {out}/argument_swap.png

#include <fmt/format.h>

#include <algorithm>
#include <clcook/argument_swap.hpp>
#include <cmath>
#include <cstdint>
#include <pictures/picture.hpp>
#include <string>
#include <vector>

#include "support/buffers.hpp"
#include "support/program.hpp"
#include "support/stages.hpp"
#include "support/time_table.hpp"

namespace {

using clcook::ArgumentSwap;

// The caller's own function: Schlick's approximation, for a look at the difference.
const char* const kSchlick = R"(
static inline float clcook_swap_function(float2 from, float2 to, float x, float2 band, int points) {
  const float s = 0.5f * (band.x + band.y);
  const float n1 = fma(from.y, s * s, from.x);
  const float n2 = fma(to.y, s * s, to.x);
  const float eta = n1 / n2;
  const float sin2 = eta * eta * (1.0f - x * x);
  if (sin2 >= 1.0f) return 0.0f;
  const float c = n1 > n2 ? sqrt(1.0f - sin2) : x;
  const float r = (n1 - n2) / (n1 + n2);
  return (1.0f - r * r) * (1.0f - pown(1.0f - c, 5));
}
)";

struct Arguments {
  std::string out = "argument_swap.png";
  std::string device;
  std::vector<float> glass = {1.728f, 0.01342f};
  int size = 512;
  int rounds = 5;
  bool schlick = false;
};

void run(const Arguments& arguments) {
  clcook::pictures::check_picture_path(arguments.out);
  clcook::example::DeviceTimer timer;
  const clcook::Runtime rt = clcook::Runtime::pick(arguments.device, timer.options());

  // Two rays for each pixel of a disc: x is the cosine, negative for the one that leaves.
  const int size = arguments.size;
  const auto pixels = static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
  std::vector<float> air, glass, x;
  for (std::size_t i = 0; i < pixels; ++i) {
    const double u = (static_cast<double>(i % static_cast<std::size_t>(size)) + 0.5) / size * 2 - 1;
    const double v = (static_cast<double>(i / static_cast<std::size_t>(size)) + 0.5) / size * 2 - 1;
    const auto cosine = static_cast<float>(std::sqrt(std::max(0.0, 1 - u * u - v * v)));
    for (const float one : {cosine, -cosine}) {
      air.insert(air.end(), {1, 0});
      glass.insert(glass.end(), arguments.glass.begin(), arguments.glass.end());
      x.push_back(one);
    }
  }
  const cl::Buffer outside = clcook::example::upload(rt, air);
  const cl::Buffer inside = clcook::example::upload(rt, glass);
  const cl::Buffer cosines = clcook::example::upload(rt, x);
  const cl::Buffer result = clcook::create_buffer(rt, x.size() * sizeof(float));

  // Red, green and blue are bands of wavelengths, in micrometres.
  const float bands[3][2] = {{0.60f, 0.70f}, {0.50f, 0.60f}, {0.40f, 0.50f}};
  clcook::pictures::Picture picture;
  picture.width = 2 * size;
  picture.height = size;
  picture.rgba.assign(pixels * 8, 255);
  ArgumentSwap::Problem problem;
  problem.count = x.size();
  if (arguments.schlick) problem.function = {"schlick.clh", kSchlick};
  for (std::size_t channel = 0; channel < 3; ++channel) {
    problem.parameters[0] = 1 / bands[channel][1];
    problem.parameters[1] = 1 / bands[channel][0];
    const ArgumentSwap passes{rt, problem};
    const cl::Event done = passes(outside, inside, cosines, result);
    const auto share = clcook::example::read<float>(rt, result, x.size(), done);
    for (std::size_t i = 0; i < share.size(); ++i) {
      const std::size_t pixel = i / 2;
      const auto columns = static_cast<std::size_t>(size);
      const std::size_t row = pixel / columns;
      const std::size_t column = pixel % columns + (i % 2 != 0 ? columns : 0);
      const float value = std::pow(std::clamp(share[i], 0.0f, 1.0f), 1 / 2.2f) * 255;
      picture.rgba[(row * 2 * columns + column) * 4 + channel] =
          static_cast<std::uint8_t>(value + 0.5f);
    }
  }
  clcook::pictures::write_picture(arguments.out, picture);
  fmt::print("{} on {} ({})\n", arguments.out, rt.info().name, rt.info().platform);

  fmt::print("{} rays, every other one leaves\n", x.size());
  clcook::example::TimeTable table(timer);
  const auto call_of = [&](const char* variant) {
    return [&, plan = ArgumentSwap{rt, problem, variant}] {
      return plan(outside, inside, cosines, result);
    };
  };
  table.add("a call in each branch", [&] { return call_of("two_calls"); });
  table.add("one call", [&] { return call_of("select"); });
  table.print(arguments.rounds);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  clcook::example::CommandLine line{
      "Draws how much light passes a glass surface from outside and from inside"};
  line.add("OUT", arguments.out, "The picture (PNG, JPEG)");
  line.add("--glass", arguments.glass, "Cauchy's coefficients A and B (square micrometres)",
           clcook::example::values(2, 2));
  line.add("--size", arguments.size, "Diameter of a disc in pixels",
           clcook::example::between(1, 4096));
  line.rounds(arguments.rounds);
  line.flag("--schlick", arguments.schlick, "Schlick's approximation, a function of our own");
  line.device(arguments.device);
  return line.run(argc, argv, [&] { run(arguments); });
}
