// Prints how often each mode occurs in a BC6H texture, and how long each variant takes to find out.
//
//   bc6h_mode in.dds          a DDS file with BC6H data, all its mips, array elements and faces
//   bc6h_mode                 a texture of a test scene, made with the scalar encoder
//
// test: --rounds 1 --size 64x32
// demo: --rounds 5

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <clcook/bc6h_mode.hpp>
#include <clcook/core/source.hpp>
#include <clcook/io/dds.hpp>
#include <clcook/reference/bc6h_encode.hpp>
#include <cmath>
#include <cstdint>
#include <pictures/picture.hpp>
#include <string>
#include <vector>

#include "support/buffers.hpp"
#include "support/program.hpp"
#include "support/scene.hpp"
#include "support/stages.hpp"
#include "support/time_table.hpp"

namespace {

using clcook::Bc6hMode;

struct Arguments {
  std::string file;
  std::string size = "256x128";
  std::string device;
  int rounds = 5;
};

// The blocks of a file, or of the test scene with its sky a hundred times as bright.
std::vector<unsigned char> blocks_of(const Arguments& arguments) {
  if (!arguments.file.empty()) {
    const std::string file = clcook::read_text_file(arguments.file);
    const clcook::io::Dds dds = clcook::io::parse_dds(file);
    for (const std::string& one : dds.warnings)
      fmt::print(stderr, "warning: {}: DDS: {}\n", arguments.file, one);
    const auto* data = reinterpret_cast<const unsigned char*>(file.data()) + dds.data_offset;
    return {data, data + dds.data_bytes};
  }
  namespace bc6h = clcook::reference::bc6h;
  const auto scene = clcook::example::open_picture("scene:" + arguments.size);
  std::vector<std::uint16_t> halfs;
  for (std::size_t i = 0; i < scene.pixels(); ++i) {
    for (std::size_t c = 0; c < 3; ++c) {
      const double level = scene.rgba[4 * i + c] / 255.0;
      halfs.push_back(bc6h::half_from_float(static_cast<float>(100 * std::pow(level, 6))));
    }
  }
  return bc6h::encode_image(halfs, static_cast<std::size_t>(scene.width),
                            static_cast<std::size_t>(scene.height), bc6h::Format::uf16);
}

void run(const Arguments& arguments) {
  clcook::example::DeviceTimer timer;
  const clcook::Runtime rt = clcook::Runtime::pick(arguments.device, timer.options());

  const std::vector<unsigned char> blocks = blocks_of(arguments);
  const std::size_t count = blocks.size() / 16;
  const cl::Buffer texture = clcook::example::upload(rt, blocks);
  const cl::Buffer modes = clcook::create_buffer(rt, count);

  const Bc6hMode mode{rt, {count, 4}};
  const cl::Event done = mode(texture, modes);

  const auto found = clcook::example::read<unsigned char>(rt, modes, count, done);
  std::array<std::size_t, 16> histogram{};
  for (const unsigned char one : found) ++histogram[one];
  fmt::print("{} blocks\n", count);
  const std::size_t most = *std::max_element(histogram.begin(), histogram.end());
  for (std::size_t i = 0; i < histogram.size(); ++i) {
    if (i >= 14 && histogram[i] == 0) continue;
    const std::string name = i == Bc6hMode::kReserved ? "reserved" : fmt::format("mode {}", i);
    fmt::print("{:<10}{:>10}{:>8.2f} %  {:#<{}}\n", name, histogram[i],
               100.0 * static_cast<double>(histogram[i]) / static_cast<double>(count), "",
               40 * histogram[i] / most);
  }

  fmt::print("\n{}\n", rt.info().name);
  clcook::example::TimeTable table(timer);
  for (const Bc6hMode::Variant variant : Bc6hMode::variants()) {
    table.add(variant.name(), [&] {
      return [&, plan = Bc6hMode{rt, {count, 4}, variant}] { return plan(texture, modes); };
    });
  }
  table.print(arguments.rounds);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  clcook::example::CommandLine line{
      "Counts the modes of a BC6H texture and times every variant of finding them"};
  line.add("FILE", arguments.file, "DDS file with BC6H data; without it a test scene");
  line.add("--size", arguments.size, "Size of the test scene");
  line.device(arguments.device);
  line.rounds(arguments.rounds);
  return line.run(argc, argv, [&] { run(arguments); });
}
