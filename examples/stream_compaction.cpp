// Keeps the bright pixels of a picture: their list is made on the device, and a picture of them
// alone, with a small star on each, is written.
//
//   stream_compaction in.png out.png --brightness 200
//   stream_compaction                                  the test scene, to stream_compaction.png
//
// test: scene:96x80 {out}/stream_compaction.png --brightness 150
// demo: scene {out}/stream_compaction.png

#include <fmt/format.h>

#include <clcook/stream_compaction.hpp>
#include <cstdint>
#include <pictures/picture.hpp>
#include <string>
#include <vector>

#include "support/buffers.hpp"
#include "support/program.hpp"
#include "support/scene.hpp"

namespace {

using clcook::StreamCompaction;
using clcook::pictures::Picture;

// Adds a fading cross to the picture.
void draw_star(Picture& picture, int x, int y, const std::uint8_t* colour) {
  const auto add = [&](int px, int py, int strength) {
    if (px < 0 || py < 0 || px >= picture.width || py >= picture.height) return;
    std::uint8_t* pixel = &picture.rgba[static_cast<std::size_t>(py * picture.width + px) * 4];
    for (int c = 0; c < 3; ++c) {
      const int sum = pixel[c] + colour[c] * strength / 256;
      pixel[c] = static_cast<std::uint8_t>(sum < 255 ? sum : 255);
    }
  };
  add(x, y, 256);
  for (int d = 1; d <= 3; ++d) {
    for (const int sign : {-1, 1}) {
      add(x + sign * d, y, 32 / d);
      add(x, y + sign * d, 32 / d);
    }
  }
}

void run(const std::string& in, const std::string& out, unsigned brightness,
         const std::string& device) {
  clcook::pictures::check_picture_path(out);
  const Picture picture = clcook::example::open_picture(in);
  const std::size_t bytes = picture.rgba.size();

  const clcook::Runtime runtime = clcook::Runtime::pick(device);
  const cl::Buffer src =
      clcook::create_buffer(runtime, bytes, CL_MEM_READ_ONLY, picture.rgba.data());
  const cl::Buffer dst = clcook::create_buffer(runtime, bytes);  // room for every index
  const cl::Buffer kept = clcook::create_buffer(runtime, sizeof(cl_uint));

  const StreamCompaction compact{runtime, {picture.pixels()}};
  const cl::Event done = compact(src, dst, kept, brightness * 256);

  const cl_uint count = clcook::example::read<cl_uint>(runtime, kept, 1, done)[0];
  const auto bright = clcook::example::read<cl_uint>(runtime, dst, count, done);

  Picture stars = picture;
  for (std::size_t i = 0; i < bytes; ++i) stars.rgba[i] = i % 4 == 3 ? 255 : 0;
  for (const cl_uint index : bright) {
    const int at = static_cast<int>(index);
    draw_star(stars, at % picture.width, at / picture.width, &picture.rgba[std::size_t{index} * 4]);
  }
  clcook::pictures::write_picture(out, stars);
  fmt::print("{} of {} pixels are at least {} bright; {} by variant {} on {}\n", count,
             picture.pixels(), brightness, out, compact.variant().name(), runtime.info().name);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> files;
  unsigned brightness = 200;
  std::string device;
  clcook::example::CommandLine line{"Writes the bright pixels of a picture alone"};
  line.add("FILES", files, "Input (PNG, JPEG, 'scene' or 'scene:WIDTHxHEIGHT') and output",
           clcook::example::values(0, 2));
  line.add("--brightness", brightness, "The least brightness that is kept",
           clcook::example::between(0, 256));
  line.device(device);
  return line.run(argc, argv, [&] {
    clcook::example::both_or_none(files);
    run(files.empty() ? "scene" : files[0], files.empty() ? "stream_compaction.png" : files[1],
        brightness, device);
  });
}
