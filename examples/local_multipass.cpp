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

#include <CLI/CLI.hpp>
#include <algorithm>
#include <clcook/local_multipass.hpp>
#include <cmath>
#include <cstdio>
#include <pictures/picture.hpp>
#include <string>
#include <vector>

#include "support/program.hpp"
#include "support/scene3d.hpp"
#include "support/stages.hpp"

namespace {

using clcook::LocalMultipass;
using clcook::example::Vec3;

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

constexpr float kCloth = 1.7f;   // metres
constexpr float kRadius = 0.5f;  // of the spheres
constexpr float kThick = 0.02f;  // distance that a cloth keeps from what it lies on
constexpr int kStepsPerSecond = 240;
constexpr float kStep = 1.0f / kStepsPerSecond;

// Where the sphere of a cloth stands.
Vec3 place(std::uint32_t cloth, std::uint32_t cloths) {
  const std::uint32_t columns = (cloths + 1) / 2;
  const auto column = static_cast<float>(cloth % columns);
  const auto row = static_cast<float>(cloth / columns);
  return {1.95f * (column - 0.5f * static_cast<float>(columns - 1)) + 0.35f * row, kRadius,
          -1.95f * row};
}

struct Cloths {
  std::vector<float> now;     // float4 per particle: position and inverse mass
  std::vector<float> before;  // the same at the step before

  Vec3 velocity(std::size_t i) const { return (at(now, i) - at(before, i)) * (1 / kStep); }
  static Vec3 at(const std::vector<float>& from, std::size_t i) {
    return {from[4 * i], from[4 * i + 1], from[4 * i + 2]};
  }
  static void put(std::vector<float>& to, std::size_t i, Vec3 p) {
    to[4 * i] = p.x;
    to[4 * i + 1] = p.y;
    to[4 * i + 2] = p.z;
  }
};

// Square cloths above their spheres, each turned and tilted differently.
Cloths hang(const Arguments& arguments) {
  Cloths out;
  const float spacing = kCloth / static_cast<float>(arguments.side - 1);
  for (std::uint32_t c = 0; c < arguments.cloths; ++c) {
    const Vec3 centre =
        place(c, arguments.cloths) + Vec3{0.08f * std::sin(2.1f * static_cast<float>(c)), 0.75f,
                                          0.08f * std::cos(1.3f * static_cast<float>(c))};
    const float turn = 0.7f * static_cast<float>(c) + 0.3f;
    const float tilt = 0.25f * std::sin(1.7f * static_cast<float>(c));
    for (std::uint32_t y = 0; y < arguments.side; ++y) {
      for (std::uint32_t x = 0; x < arguments.side; ++x) {
        const float u = static_cast<float>(x) * spacing - kCloth / 2;
        const float v = static_cast<float>(y) * spacing - kCloth / 2;
        const Vec3 p = centre + Vec3{u * std::cos(turn) - v * std::sin(turn),
                                     u * tilt + 0.01f * std::sin(9 * u + 7 * v),
                                     u * std::sin(turn) + v * std::cos(turn)};
        out.now.insert(out.now.end(), {p.x, p.y, p.z, 1.0f});
      }
    }
  }
  out.before = out.now;
  return out;
}

// Gravity and air: where the particles would go without constraints.
void predict(Cloths& cloths) {
  for (std::size_t i = 0; i < cloths.now.size() / 4; ++i) {
    const Vec3 p = Cloths::at(cloths.now, i);
    const Vec3 v = cloths.velocity(i) * (1 - 0.8f * kStep) + Vec3{0, -9.81f, 0} * kStep;
    Cloths::put(cloths.before, i, p);
    Cloths::put(cloths.now, i, p + v * kStep);
  }
}

// Pushes particles out of spheres and floor; what touches them loses most of its sliding.
void collide(Cloths& cloths, std::uint32_t count) {
  const std::size_t each = cloths.now.size() / 4 / count;
  for (std::size_t i = 0; i < cloths.now.size() / 4; ++i) {
    Vec3 p = Cloths::at(cloths.now, i);
    Vec3 normal;
    const Vec3 centre = place(static_cast<std::uint32_t>(i / each), count);
    const Vec3 off = p - centre;
    const float distance = std::sqrt(clcook::example::dot(off, off));
    if (distance < kRadius + kThick && distance > 0) {
      normal = off * (1 / distance);
      p = centre + normal * (kRadius + kThick);
    } else if (p.y < kThick) {
      normal = {0, 1, 0};
      p.y = kThick;
    } else {
      continue;
    }
    const Vec3 before = Cloths::at(cloths.before, i);
    const Vec3 moved = p - before;
    const Vec3 slide = moved - normal * clcook::example::dot(moved, normal);
    Cloths::put(cloths.now, i, p - slide * 0.35f);
  }
}

clcook::pictures::Picture picture(const Arguments& arguments, const Cloths& cloths) {
  const Vec3 colours[] = {{0.80f, 0.10f, 0.12f}, {0.90f, 0.52f, 0.06f}, {0.10f, 0.45f, 0.22f},
                          {0.09f, 0.26f, 0.65f}, {0.46f, 0.13f, 0.52f}, {0.06f, 0.50f, 0.55f}};
  clcook::example::Scene3d scene({{0.3f, 2.9f, 4.6f}, {0.17f, 0.38f, -0.75f}, 3.0f});
  const std::size_t each = std::size_t{arguments.side} * arguments.side;
  for (std::uint32_t c = 0; c < arguments.cloths; ++c) {
    scene.add(clcook::example::sphere(place(c, arguments.cloths), kRadius, {0.75f, 0.75f, 0.72f}));
    const Vec3 colour = colours[c % 6];
    clcook::example::Grid grid{arguments.side, arguments.side, {}, colour, colour * 0.8f, 0.08f, 4};
    for (std::size_t i = 0; i < each; ++i)
      grid.vertices.push_back(Cloths::at(cloths.now, c * each + i));
    scene.add(std::move(grid));
  }
  int width = 0;
  int height = 0;
  if (std::sscanf(arguments.size.c_str(), "%dx%d", &width, &height) != 2 || width < 1 ||
      height < 1 || width > 8192 || height > 8192) {
    clcook::fail(clcook::Errc::invalid_argument, "--size",
                 "WIDTHxHEIGHT of 1 to 8192 is wanted, got '" + arguments.size + "'");
  }
  return scene.render(width, height);
}

void run(const Arguments& arguments) {
  const std::vector<std::string> files =
      arguments.files.empty() ? std::vector<std::string>{"local_multipass.png"} : arguments.files;
  for (const std::string& file : files) clcook::pictures::check_picture_path(file);
  clcook::PickOptions pick;
  pick.profiling = true;
  clcook::example::DeviceTimer timer;
  pick.runtime.on_launch = timer.observer();
  const clcook::Runtime rt = clcook::Runtime::pick(arguments.device, pick);

  LocalMultipass::Problem problem;
  problem.islands = arguments.cloths;
  problem.iterations = arguments.iterations;
  problem.island = LocalMultipass::Island::cloth(
      arguments.side, arguments.side, kCloth / static_cast<float>(arguments.side - 1), 1, 0.02f);
  const LocalMultipass solve(rt, problem, arguments.variant);
  fmt::print(
      "{} cloths of {} x {} particles, {} constraints of {} colours, {} iterations a step, "
      "on {} ({}), by variant {}\n",
      arguments.cloths, arguments.side, arguments.side, problem.island.constraints.size(),
      problem.island.colours(), arguments.iterations, rt.info().name, rt.info().platform,
      solve.variant().name());

  Cloths cloths = hang(arguments);
  const std::size_t bytes = cloths.now.size() * sizeof(float);
  const cl::Buffer buffer = clcook::create_buffer(rt, bytes);
  const auto transfer = [&](bool to_device) {
    clcook::check(to_device ? clEnqueueWriteBuffer(rt.queue()(), buffer(), CL_TRUE, 0, bytes,
                                                   cloths.now.data(), 0, nullptr, nullptr)
                            : clEnqueueReadBuffer(rt.queue()(), buffer(), CL_TRUE, 0, bytes,
                                                  cloths.now.data(), 0, nullptr, nullptr),
                  to_device ? "clEnqueueWriteBuffer" : "clEnqueueReadBuffer");
  };
  const auto steps = static_cast<std::size_t>(std::lround(arguments.seconds * kStepsPerSecond));
  std::vector<double> times;
  std::size_t written = 0;
  for (std::size_t step = 1; step <= steps; ++step) {
    predict(cloths);
    transfer(true);
    times.push_back(timer.time([&] { return solve(buffer, buffer); }));
    transfer(false);
    collide(cloths, arguments.cloths);
    if (step * files.size() >= (written + 1) * steps) {
      clcook::pictures::write_picture(files[written], picture(arguments, cloths));
      fmt::print("{} after {:.2f} s\n", files[written],
                 static_cast<double>(step) / kStepsPerSecond);
      ++written;
    }
  }
  clcook::local_multipass::check_particles(cloths.now.data(), cloths.now.size() / 4);
  fmt::print("{} steps, {:.1f} us of device time each (median)\n\n", steps,
             clcook::example::median(times) * 1e6);

  // The same step with every variant, interleaved.
  struct Row {
    LocalMultipass::Variant variant;
    std::string skipped;
    std::vector<LocalMultipass> plan;
    std::vector<double> seconds;
  };
  std::vector<Row> rows;
  for (const LocalMultipass::Variant variant : LocalMultipass::variants()) {
    Row row{variant, {}, {}, {}};
    try {
      row.plan.emplace_back(rt, problem, variant);
      timer.time([&] { return row.plan[0](buffer, buffer); });  // warm-up
    } catch (const clcook::Error& error) {
      if (error.code != clcook::Errc::unsupported) throw;
      row.skipped = error.what();
      row.plan.clear();
    }
    rows.push_back(std::move(row));
  }
  for (int round = 0; round < arguments.rounds; ++round) {
    for (Row& row : rows) {
      if (row.plan.empty()) continue;
      transfer(true);
      row.seconds.push_back(timer.time([&] { return row.plan[0](buffer, buffer); }));
    }
  }
  fmt::print("{:<16}{:>14}{:>10}\n", "variant", "us per step", "ratio");
  for (const Row& row : rows) {
    const std::string name = row.variant.name();
    if (row.seconds.empty()) {
      fmt::print("{:<16}  skipped: {}\n", name, row.skipped);
    } else {
      fmt::print("{:<16}{:>14.1f}{:>9.2f}x\n", name, clcook::example::median(row.seconds) * 1e6,
                 clcook::example::median(rows[0].seconds) / clcook::example::median(row.seconds));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{"Drops cloths onto spheres, solved in local memory"};
  app.add_option("FILES", arguments.files, "Pictures to write (PNG, JPEG), evenly over the time");
  app.add_option("--cloths", arguments.cloths, "Number of cloths, each an island")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
  app.add_option("--side", arguments.side, "Particles along the side of a cloth")
      ->capture_default_str()
      ->check(CLI::Range(2, 200));
  app.add_option("--iterations", arguments.iterations, "Iterations of the solver per step")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_option("--seconds", arguments.seconds, "Simulated time")
      ->capture_default_str()
      ->check(CLI::Range(0.01, 60.0));
  app.add_option("--size", arguments.size, "Size of the pictures")->capture_default_str();
  app.add_option("--variant", arguments.variant, "The variant that solves")->capture_default_str();
  clcook::example::add_device(app, arguments.device);
  app.add_option("--rounds", arguments.rounds, "Timed rounds of the table; the median is printed")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  return clcook::example::run_main(app, argc, argv, [&] { run(arguments); });
}
