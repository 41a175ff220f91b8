// Poses a meadow of blades of grass on the device, each bent by the wind through its own skeleton,
// and writes a picture of it, and the posed mesh as a Wavefront OBJ file when asked.
//
//   vertex_transform out.png --blades 400 --obj out.obj
//
// test: {out}/vertex_transform.png --blades 30 --width 120 --height 80 --obj {out}/meadow.obj
// demo: {out}/vertex_transform.png

#include <fmt/format.h>

#include <clcook/vertex_transform.hpp>
#include <pictures/picture.hpp>
#include <string>
#include <vector>

#include "support/buffers.hpp"
#include "support/meadow.hpp"
#include "support/program.hpp"

namespace {

using clcook::VertexTransform;
using clcook::example::Meadow;

void run(const std::string& out, const std::string& obj, int blades, int width, int height,
         const std::string& device) {
  clcook::pictures::check_picture_path(out);
  const Meadow meadow(blades);
  const int vertices = meadow.vertices();

  const clcook::Runtime runtime = clcook::Runtime::pick(device);
  const VertexTransform transform{runtime, {vertices, blades, Meadow::kBones}};

  // Each variant has its own formats of vertices, matrices and results.
  using clcook::example::upload;
  const cl::Buffer mesh =
      upload(runtime, VertexTransform::pack_vertices(transform.vertex_format(), meadow.mesh));
  const cl::Buffer skin = upload(runtime, meadow.skin);
  const cl::Buffer world =
      upload(runtime, VertexTransform::pack_matrices(transform.matrix_rows(), meadow.world));
  const cl::Buffer bones =
      upload(runtime, VertexTransform::pack_matrices(transform.matrix_rows(), meadow.bones));

  const std::size_t each =
      VertexTransform::bytes_per_vertex(transform.result_format()) / sizeof(float);
  const std::size_t floats =
      static_cast<std::size_t>(vertices) * static_cast<std::size_t>(blades) * each;
  const cl::Buffer result = clcook::create_buffer(runtime, floats * sizeof(float));

  const cl::Event done = transform({mesh, skin, world, bones}, result);

  const std::vector<float> posed = clcook::example::read<float>(runtime, result, floats, done);
  clcook::pictures::write_picture(out, meadow.picture(posed, each, width, height));
  if (!obj.empty()) meadow.write_obj(obj, posed, each);
  fmt::print("{} blades of {} vertices and {} bones; {} by variant {} on {}\n", blades, vertices,
             Meadow::kBones, out, transform.variant().name(), runtime.info().name);
}

}  // namespace

int main(int argc, char** argv) {
  std::string out = "vertex_transform.png";
  std::string obj;
  int blades = 400;
  int width = 960;
  int height = 540;
  std::string device;
  clcook::example::CommandLine line{"Poses a meadow in the wind and writes a picture of it"};
  line.add("FILE", out, "Output (PNG, JPEG)");
  line.add("--obj", obj, "Also write the posed mesh to this OBJ file");
  line.add("--blades", blades, "Instances", clcook::example::between(1, 60000));
  line.add("--width", width, "Pixels", clcook::example::between(1, 8192));
  line.add("--height", height, "Pixels", clcook::example::between(1, 8192));
  line.device(device);
  return line.run(argc, argv, [&] { run(out, obj, blades, width, height, device); });
}
