// Fills a G-buffer with a hall of spheres, shades it on the device under a ring of coloured lights
// whose shadows are bits, and writes the picture.
//
//   gbuffer_shade out.png --width 1280 --height 720
//
// test: {out}/gbuffer_shade.png --width 96 --height 54 --lights 7
// demo: {out}/gbuffer_shade.png

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <clcook/gbuffer_shade.hpp>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <pictures/picture.hpp>
#include <string>
#include <vector>

#include "support/program.hpp"

namespace {

using clcook::GbufferShade;
using Vector = std::array<double, 3>;

double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

Vector along(const Vector& from, const Vector& direction, double distance) {
  return {from[0] + distance * direction[0], from[1] + distance * direction[1],
          from[2] + distance * direction[2]};
}

Vector unit(const Vector& v) {
  const double length = std::sqrt(dot(v, v));
  return {v[0] / length, v[1] / length, v[2] / length};
}

struct Hit {
  double distance = 1e9;
  Vector normal{0, 0, 0};
  std::array<unsigned, 3> albedo{};
  bool unlit = false;
};

// Spheres in rows on a chequered floor; every ninth one glows and is not lit.
Hit trace(const Vector& from, const Vector& direction) {
  Hit hit;
  if (direction[1] < 0) {
    hit.distance = -from[1] / direction[1];
    hit.normal = {0, 1, 0};
    const Vector at = along(from, direction, hit.distance);
    const bool dark =
        (static_cast<long>(std::floor(at[0])) + static_cast<long>(std::floor(at[2]))) % 2 != 0;
    hit.albedo =
        dark ? std::array<unsigned, 3>{90, 90, 100} : std::array<unsigned, 3>{190, 185, 175};
  }
  for (int i = 0; i < 36; ++i) {
    const Vector centre{(i % 6 - 2.5) * 2.2, 0.8, 3.0 + i / 6 * 2.2};
    const Vector to{from[0] - centre[0], from[1] - centre[1], from[2] - centre[2]};
    const double b = dot(to, direction);
    const double root = b * b - dot(to, to) + 0.64;
    if (root < 0) continue;
    const double distance = -b - std::sqrt(root);
    if (distance < 1e-4 || distance >= hit.distance) continue;
    hit.distance = distance;
    const Vector at = along(from, direction, distance);
    hit.normal = unit({at[0] - centre[0], at[1] - centre[1], at[2] - centre[2]});
    hit.unlit = i % 9 == 4;
    hit.albedo = {static_cast<unsigned>(120 + i * 67 % 136),
                  static_cast<unsigned>(120 + i * 31 % 136),
                  static_cast<unsigned>(120 + i * 101 % 136)};
  }
  return hit;
}

struct Sun {
  Vector direction;  // towards the light
  GbufferShade::Light light;
};

std::vector<Sun> ring_of_lights(int count) {
  std::vector<Sun> suns;
  for (int l = 0; l < count; ++l) {
    const double angle = 6.28318530717958648 * l / count;
    const Vector d = unit({std::cos(angle), 0.9, std::sin(angle) - 0.3});
    const auto part = [](double value) { return static_cast<int>(std::lround(value * 127)); };
    const auto level = [&](double phase) {
      const double share = std::min(1.0, 4.0 / count);
      return static_cast<std::uint32_t>((0.5 + 0.5 * std::cos(angle + phase)) * 255 * share);
    };
    suns.push_back(
        {d, {part(d[0]), part(d[1]), part(d[2]), level(0) | level(2.1) << 8 | level(4.2) << 16}});
  }
  return suns;
}

// The four words of the texel that a ray sees.
std::array<std::uint32_t, 4> texel(const Hit& hit, const Vector& at, const std::vector<Sun>& suns) {
  std::array<std::uint32_t, 4> words{};
  for (std::size_t c = 0; c < 3; ++c) {
    const auto normal = static_cast<int>(std::lround(hit.normal[c] * 127));
    words[0] |= (static_cast<std::uint32_t>(normal) & 0xFFu) << (8 * c);
    words[1] |= static_cast<std::uint32_t>(hit.albedo[c]) << (8 * c);
  }
  words[0] |= 110u << 24;  // ambient light
  auto depth = static_cast<float>(hit.distance / 24);
  if (hit.unlit) depth = -depth;
  std::memcpy(&words[2], &depth, sizeof depth);
  for (std::size_t l = 0; l < suns.size(); ++l) {
    const Vector start = along(at, hit.normal, 1e-3);
    if (trace(start, suns[l].direction).distance < 1e8) words[3] |= 1u << l;
  }
  return words;
}

void run(const std::string& out, int width, int height, int lights, const std::string& device) {
  clcook::pictures::check_picture_path(out);
  const std::vector<Sun> suns = ring_of_lights(lights);
  std::vector<std::uint32_t> words;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const Vector eye{0, 3, -3};
      const Vector ray =
          unit({(x + 0.5 - width / 2.0) / height, (height * 0.3 - y - 0.5) / height, 1.5});
      const Hit hit = trace(eye, ray);
      for (const std::uint32_t word :
           texel(hit, along(eye, ray, std::min(hit.distance, 1e3)), suns))
        words.push_back(word);
    }
  }

  GbufferShade::Problem problem;
  problem.texels = words.size() / 4;
  problem.fog_colour = 120u | 140u << 8 | 170u << 16;
  for (const Sun& sun : suns) problem.lights.push_back(sun.light);

  const clcook::Runtime runtime = clcook::Runtime::pick(device);
  const cl::Buffer gbuffer =
      clcook::create_buffer(runtime, words.size() * 4, CL_MEM_READ_ONLY, words.data());
  const cl::Buffer colours = clcook::create_buffer(runtime, words.size());
  const GbufferShade shade{runtime, problem};
  const cl::Event done = shade(gbuffer, colours);

  clcook::pictures::Picture picture;
  picture.width = width;
  picture.height = height;
  picture.rgba.resize(words.size());
  const cl_event wait = done();
  clcook::check(clEnqueueReadBuffer(runtime.queue()(), colours(), CL_TRUE, 0, picture.rgba.size(),
                                    picture.rgba.data(), 1, &wait, nullptr),
                "clEnqueueReadBuffer");
  clcook::pictures::write_picture(out, picture);
  fmt::print("{} x {} texels under {} lights; {} by variant {} on {}\n", width, height, lights, out,
             shade.variant().name(), runtime.info().name);
}

}  // namespace

int main(int argc, char** argv) {
  std::string out = "gbuffer_shade.png";
  int width = 960;
  int height = 540;
  int lights = 12;
  std::string device;
  CLI::App app{"Shades a G-buffer of spheres under many lights"};
  app.add_option("FILE", out, "Output (PNG, JPEG)")->capture_default_str();
  app.add_option("--width", width, "Pixels")->capture_default_str()->check(CLI::Range(1, 8192));
  app.add_option("--height", height, "Pixels")->capture_default_str()->check(CLI::Range(1, 8192));
  app.add_option("--lights", lights, "Lights in the ring")
      ->capture_default_str()
      ->check(CLI::Range(1, static_cast<int>(clcook::gbuffer_shade::kMaxLights)));
  clcook::example::add_device(app, device);
  return clcook::example::run_main(app, argc, argv,
                                   [&] { run(out, width, height, lights, device); });
}
