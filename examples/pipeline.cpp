// Four operations in one queue, tied together by events alone: decodes a BC6H texture, blurs it,
// lets its bright places grow, and lists them. Nothing waits before the end, and the user has no
// kernel of their own. The picture keeps the listed pixels and dims the others.
//
//   pipeline in.dds out.png [--sigma S] [--radius R] [--brightness B] [--exposure E]
//   pipeline                 a texture of its own, a sunset, to pipeline.png
//
// test: scene:93x61 {out}/pipeline.png
// demo: scene {out}/pipeline.png

#include <fmt/format.h>

#include <clcook/bc6h_decode.hpp>
#include <clcook/core/half.hpp>
#include <clcook/gaussian_blur.hpp>
#include <clcook/halo_tile.hpp>
#include <clcook/stream_compaction.hpp>
#include <cstdint>
#include <pictures/picture.hpp>
#include <string>
#include <vector>

#include "support/program.hpp"
#include "support/texture.hpp"

namespace {

using clcook::Bc6hDecode;
using clcook::PixelType;

struct Arguments {
  std::vector<std::string> files;
  std::string device;
  double sigma = 3;
  int radius = 4;
  double brightness = 4;
  double exposure = -2;
};

// A queue whose commands wait for nothing but their events, where the device has one.
clcook::Runtime pick(const std::string& device) {
  clcook::PickOptions options;
  options.out_of_order = true;
  try {
    return clcook::Runtime::pick(device, options);
  } catch (const clcook::Error& error) {
    if (error.code != clcook::Errc::unsupported) throw;
    return clcook::Runtime::pick(device);
  }
}

void run(const Arguments& arguments) {
  clcook::example::both_or_none(arguments.files);
  const std::string in = arguments.files.empty() ? "scene" : arguments.files[0];
  const std::string out = arguments.files.empty() ? "pipeline.png" : arguments.files[1];
  clcook::pictures::check_picture_path(out);
  const auto texture = clcook::example::open_texture(in, 0, 0, false);
  clcook::pictures::check_size(out, texture.level.width, texture.level.height);
  const auto width = static_cast<int>(texture.level.width);
  const auto height = static_cast<int>(texture.level.height);
  const std::size_t pixels = std::size_t{texture.level.width} * texture.level.height;

  // The plans: all on pixels of four halfs.
  const clcook::Runtime runtime = pick(arguments.device);
  const Bc6hDecode decode{
      runtime,
      {width, height,
       texture.is_signed() ? Bc6hDecode::Format::signed_float : Bc6hDecode::Format::unsigned_float,
       PixelType::rgba16f}};
  const clcook::GaussianBlur blur{
      runtime, {width, height, arguments.sigma, arguments.sigma, PixelType::rgba16f}};
  clcook::HaloTile::Problem growth;
  growth.width = width;
  growth.height = height;
  growth.radius = arguments.radius;
  growth.pixel = PixelType::rgba16f;
  const clcook::HaloTile dilate{runtime, growth};
  const clcook::StreamCompaction compact{runtime, {width, height, PixelType::rgba16f}};

  const auto& blocks = texture.blocks;
  const cl::Buffer coded =
      clcook::create_buffer(runtime, blocks.size(), CL_MEM_READ_ONLY, blocks.data());
  const cl::Buffer decoded = clcook::create_buffer(runtime, pixels * 8);
  const cl::Buffer blurred = clcook::create_buffer(runtime, pixels * 8);
  const cl::Buffer grown = clcook::create_buffer(runtime, pixels * 8);
  const cl::Buffer list = clcook::create_buffer(runtime, pixels * 4);
  const cl::Buffer kept = clcook::create_buffer(runtime, 4);

  // The calls: each waits for the event of the one before.
  const cl::Event after_decode = decode(coded, decoded);
  const cl::Event after_blur = blur(decoded, blurred, {after_decode});
  const cl::Event after_dilate = dilate(blurred, grown, {after_blur});
  const cl::Event done = compact(grown, list, kept, 256 * arguments.brightness, {after_dilate});

  // Back to the host.
  const auto read = [&](const cl::Buffer& from, std::size_t bytes, void* to) {
    const cl_event wait = done();
    if (bytes == 0) return;
    clcook::check(
        clEnqueueReadBuffer(runtime.queue()(), from(), CL_TRUE, 0, bytes, to, 1, &wait, nullptr),
        "clEnqueueReadBuffer");
  };
  cl_uint count = 0;
  read(kept, sizeof count, &count);
  std::vector<cl_uint> indices(count);
  read(list, indices.size() * sizeof(cl_uint), indices.data());
  std::vector<std::uint16_t> halfs(pixels * 4);
  read(grown, halfs.size() * sizeof(std::uint16_t), halfs.data());

  std::vector<float> floats;
  for (const std::uint16_t half : halfs)
    floats.push_back(static_cast<float>(clcook::finite_half(half)) * 0.25f);
  for (const cl_uint index : indices) {
    for (std::size_t c = 0; c < 3; ++c) floats[index * std::size_t{4} + c] *= 4;
  }
  clcook::pictures::write_picture(
      out, clcook::example::tone_map(floats.data(), width, height, arguments.exposure));
  fmt::print("{}: {} x {} texels decoded by {}, blurred by {}, grown by {}, listed by {} on {}\n",
             in, width, height, decode.variant().name(), blur.variant().name(),
             dilate.variant().name(), compact.variant().name(), runtime.info().name);
  fmt::print("{}: {} of {} pixels are at least {} bright\n", out, count, pixels,
             arguments.brightness);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  clcook::example::CommandLine line{
      "Decodes, blurs, dilates and lists the bright pixels of a BC6H texture"};
  line.add("FILES", arguments.files,
           "Input (DDS, 'scene' or 'scene:WIDTHxHEIGHT') and output (PNG or JPEG); both or "
           "none",
           clcook::example::values(0, 2));
  line.add("--sigma", arguments.sigma, "Of the blur, in pixels");
  line.add("--radius", arguments.radius, "Of the dilation, in pixels");
  line.add("--brightness", arguments.brightness, "The least that is listed; 1 is white");
  line.add("--exposure", arguments.exposure, "Stops that the picture is made brighter",
           clcook::example::between(-64.0, 64.0));
  line.device(arguments.device);
  return line.run(argc, argv, [&] { run(arguments); });
}
