// Fills a G-buffer with a hall of spheres, shades it on the device under a ring of coloured lights
// whose shadows are bits, and writes the picture.
//
//   gbuffer_shade out.png --width 1280 --height 720
//
// test: {out}/gbuffer_shade.png --width 96 --height 54 --lights 7
// demo: {out}/gbuffer_shade.png

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <clcook/gbuffer_shade.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <pictures/picture.hpp>
#include <string>
#include <vector>

#include "support/buffers.hpp"
#include "support/hall.hpp"
#include "support/program.hpp"

namespace {

using clcook::GbufferShade;
using clcook::example::Hit;
using clcook::example::Vector;

struct Sun {
  Vector direction;  // towards the light
  GbufferShade::Light light;
};

std::vector<Sun> ring_of_lights(int count) {
  std::vector<Sun> suns;
  for (int l = 0; l < count; ++l) {
    const double angle = 6.28318530717958648 * l / count;
    const Vector d = clcook::example::unit({std::cos(angle), 0.9, std::sin(angle) - 0.3});
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
    const Vector start = clcook::example::along(at, hit.normal, 1e-3);
    if (clcook::example::trace(start, suns[l].direction).distance < 1e8) words[3] |= 1u << l;
  }
  return words;
}

void run(const std::string& out, int width, int height, int lights, const std::string& device) {
  clcook::pictures::check_picture_path(out);
  const clcook::Runtime runtime = clcook::Runtime::pick(device);
  const std::vector<Sun> suns = ring_of_lights(lights);
  std::vector<std::uint32_t> words;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const Vector eye{0, 3, -3};
      const Vector ray = clcook::example::unit(
          {(x + 0.5 - width / 2.0) / height, (height * 0.3 - y - 0.5) / height, 1.5});
      const Hit hit = clcook::example::trace(eye, ray);
      for (const std::uint32_t word :
           texel(hit, clcook::example::along(eye, ray, std::min(hit.distance, 1e3)), suns))
        words.push_back(word);
    }
  }

  GbufferShade::Problem problem;
  problem.texels = words.size() / 4;
  problem.fog_colour = 120u | 140u << 8 | 170u << 16;
  for (const Sun& sun : suns) problem.lights.push_back(sun.light);

  const cl::Buffer gbuffer = clcook::example::upload(runtime, words);
  const cl::Buffer colours = clcook::create_buffer(runtime, words.size());
  const GbufferShade shade{runtime, problem};
  const cl::Event done = shade(gbuffer, colours);

  const clcook::pictures::Picture picture{
      width, height, clcook::example::read<std::uint8_t>(runtime, colours, words.size(), done)};
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
  clcook::example::CommandLine line{"Shades a G-buffer of spheres under many lights"};
  line.add("FILE", out, "Output (PNG, JPEG)");
  line.add("--width", width, "Pixels", clcook::example::between(1, 8192));
  line.add("--height", height, "Pixels", clcook::example::between(1, 8192));
  line.add("--lights", lights, "Lights in the ring",
           clcook::example::between(1, static_cast<int>(clcook::gbuffer_shade::kMaxLights)));
  line.device(device);
  return line.run(argc, argv, [&] { run(out, width, height, lights, device); });
}
