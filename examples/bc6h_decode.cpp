// Decodes a BC6H texture of a DDS file on the device and writes it as a picture.
//
//   bc6h_decode in.dds out.exr|out.pfm|out.png|out.jpg [--exposure E] [--slice N] [--mip N]
//   bc6h_decode                  makes a texture of its own, a sunset, and decodes it to
//                                bc6h_decode.png
//
// EXR files hold the halfs that the texture decodes to, PFM files the same as floats, PNG files
// 8-bit values: times 2^E, cut at 1, with the sRGB curve.
//
// test: scene:93x61 {out}/bc6h_decode.exr
// test: scene:40x37 {out}/bc6h_decode.pfm --strip 8 --signed
// test: scene:64x16 {out}/bc6h_decode.png --exposure -2 --variant branchy
// demo: scene {out}/bc6h_decode.png --exposure -1

#include <fmt/format.h>

#include <clcook/bc6h_decode.hpp>
#include <clcook/io/exr.hpp>
#include <clcook/io/pfm.hpp>
#include <clcook/io/whole_file.hpp>
#include <cstdint>
#include <filesystem>
#include <pictures/picture.hpp>
#include <string>
#include <vector>

#include "support/program.hpp"
#include "support/stages.hpp"
#include "support/texture.hpp"

namespace {

using clcook::Bc6hDecode;

struct Arguments {
  std::vector<std::string> files;
  std::string device;
  std::string variant = "automatic";
  double exposure = 0;
  std::uint64_t slice = 0;
  std::size_t mip = 0;
  int strip = 0;  // rows of a strip, 0 for as many as fit
  bool is_signed = false;
};

void run(const Arguments& arguments) {
  clcook::example::both_or_none(arguments.files);
  const std::string in = arguments.files.empty() ? "scene" : arguments.files[0];
  const std::string out = arguments.files.empty() ? "bc6h_decode.png" : arguments.files[1];
  const std::string kind = std::filesystem::path(out).extension().string();
  if (kind != ".exr" && kind != ".pfm") clcook::pictures::check_picture_path(out, ".exr, .pfm, ");

  // The blocks of the texture, as they are in the file.
  const clcook::example::Texture texture =
      clcook::example::open_texture(in, arguments.slice, arguments.mip, arguments.is_signed);
  const std::uint32_t width = texture.level.width;
  const std::uint32_t height = texture.level.height;
  if (kind != ".exr" && kind != ".pfm") clcook::pictures::check_size(out, width, height);

  // The device, with a timer for its kernels.
  clcook::example::DeviceTimer timer;
  clcook::PickOptions pick;
  pick.profiling = true;
  pick.runtime.on_launch = timer.observer();
  const clcook::Runtime runtime = clcook::Runtime::pick(arguments.device, pick);

  // What to decode: EXR files take halfs, the others are made of floats.
  Bc6hDecode::Problem problem;
  problem.width = static_cast<int>(width);
  problem.height = static_cast<int>(height);
  problem.format =
      texture.is_signed() ? Bc6hDecode::Format::signed_float : Bc6hDecode::Format::unsigned_float;
  problem.texel = kind == ".exr" ? Bc6hDecode::Texel::rgba16f : Bc6hDecode::Texel::rgba32f;
  std::vector<unsigned char> texels(std::size_t{width} * height *
                                    Bc6hDecode::texel_bytes(problem.texel));

  int strips = 0;
  clcook::example::ProgressBar bar(height);
  const Bc6hDecode::Variant variant = Bc6hDecode::by_strips(
      runtime, problem, texture.blocks.data(), 0, texels.data(), 0, arguments.strip,
      [&](int rows) {
        ++strips;
        bar.at(static_cast<std::uint64_t>(rows));
      },
      arguments.variant);
  const double seconds = timer.seconds();

  const auto* floats = reinterpret_cast<const float*>(texels.data());
  if (kind == ".exr" || kind == ".pfm") {
    clcook::io::WholeFile file(out);
    if (kind == ".exr") {
      clcook::io::write_exr(file.stream(), texels.data(), width, height,
                            clcook::io::ExrTexel::rgba16f);
    } else {
      clcook::io::write_pfm(file.stream(), floats, width, height, 4);
    }
    file.finish();
  } else {
    clcook::pictures::write_picture(
        out, clcook::example::tone_map(floats, problem.width, problem.height, arguments.exposure));
  }
  fmt::print("{}: {} x {} texels, BC6H {}, slice {} of {}, mip {} of {}\n", in, width, height,
             texture.is_signed() ? "signed" : "unsigned", arguments.slice, texture.dds.slices,
             arguments.mip, texture.dds.mips.size());
  fmt::print("{} by variant {} on {} ({}): {:.3f} ms on the device in {} {}, {:.2f} Gtexel/s\n",
             out, variant.name(), runtime.info().name, runtime.info().platform, seconds * 1e3,
             strips, strips == 1 ? "strip" : "strips", 1e-9 * width * height / seconds);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  clcook::example::CommandLine line{
      "Decodes a BC6H texture of a DDS file to an EXR, PFM or PNG picture"};
  line.add("FILES", arguments.files,
           "Input (DDS, 'scene' or 'scene:WIDTHxHEIGHT') and output (EXR, PFM, PNG or JPEG); "
           "both or none",
           clcook::example::values(0, 2));
  line.add("--exposure", arguments.exposure, "Stops that a PNG picture is made brighter",
           clcook::example::between(-64.0, 64.0));
  line.add("--slice", arguments.slice,
           "Element of an array; of cube maps six times the cube plus the face");
  line.add("--mip", arguments.mip, "Level of the mip chain, 0 the largest");
  line.variant(arguments.variant, "decodes");
  line.add("--strip", arguments.strip,
           "Rows to decode at a time, a multiple of 4; default as many as fit");
  line.flag("--signed", arguments.is_signed, "Make the scene's texture a signed one");
  line.device(arguments.device);
  return line.run(argc, argv, [&] { run(arguments); });
}
