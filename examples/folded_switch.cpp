// Makes a smooth surface of a mesh of quads: converts its Catmull-Clark patches to Bezier patches,
// writes them, and draws a shaded picture of the surface.
//
//   folded_switch mesh.obj patches.bv surface.png
//   folded_switch                          the same with a mesh of its own: a cube with three
//                                          tunnels, to folded_switch.bv and folded_switch.png
//
// The patches are text as BezierView reads it: `5 3 3`, then 16 lines `x y z` each. In the picture
// regular patches, which are exactly the Catmull-Clark surface, are blue; patches with a vertex of
// another valence than 4 are orange.
//
// test: sponge {out}/folded_switch.bv {out}/folded_switch.png --size 96x80
// demo: sponge {out}/folded_switch.bv {out}/folded_switch.png --mesh {out}/folded_switch.obj

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <clcook/embedded/meshes.hpp>
#include <clcook/folded_switch.hpp>
#include <clcook/io/obj.hpp>
#include <clcook/io/quad_patches.hpp>
#include <clcook/io/whole_file.hpp>
#include <cstdint>
#include <fstream>
#include <pictures/picture.hpp>
#include <string>
#include <vector>

#include "support/buffers.hpp"
#include "support/patch_picture.hpp"
#include "support/program.hpp"

namespace {

using clcook::FoldedSwitch;
using clcook::io::PatchList;
using clcook::io::QuadMesh;

struct Arguments {
  std::vector<std::string> files;
  std::string device;
  std::string variant = "automatic";
  std::string mesh_copy;
  std::string size = "960x800";
};

// A Wavefront OBJ file, or "sponge": the surface of a cube with three tunnels, examples/support/sponge.obj.
QuadMesh open_mesh(const std::string& source) {
  if (source == "sponge") return clcook::io::parse_obj(clcook::embedded::meshes[0].text());
  std::ifstream file(source, std::ios::binary);
  if (!file) clcook::fail(clcook::Errc::io, "read " + source, "cannot open the file");
  return clcook::io::read_obj(file);
}

void run(const Arguments& arguments) {
  if (!arguments.files.empty() && arguments.files.size() != 3) {
    clcook::fail(clcook::Errc::invalid_argument, "files",
                 clcook::text("give all three files or none, got ", arguments.files.size()));
  }
  const bool own = arguments.files.empty();
  const std::string in = own ? "sponge" : arguments.files[0];
  const std::string patches_out = own ? "folded_switch.bv" : arguments.files[1];
  const std::string picture_out = own ? "folded_switch.png" : arguments.files[2];
  clcook::pictures::check_picture_path(picture_out);
  const auto [width, height] = clcook::example::parse_size(arguments.size);

  const QuadMesh mesh = open_mesh(in);
  const PatchList patches = clcook::io::make_patches(mesh);
  if (patches.valences.empty()) {
    clcook::fail(clcook::Errc::invalid_argument, in,
                 clcook::text("all ", patches.border_faces,
                              " faces lie on the border of the mesh; none makes a patch"));
  }

  const clcook::Runtime runtime = clcook::Runtime::pick(arguments.device);
  std::vector<float> positions;
  for (const auto& vertex : mesh.vertices) {
    positions.insert(positions.end(), {vertex[0], vertex[1], vertex[2], 1.0f});
  }
  const std::size_t count = patches.valences.size() * 64;
  const cl::Buffer from = clcook::example::upload(runtime, positions);
  const cl::Buffer to = clcook::create_buffer(runtime, count * sizeof(float));

  const FoldedSwitch convert(runtime, {mesh.vertices.size(), patches.valences, patches.indices},
                             arguments.variant);
  const cl::Event done = convert(from, to);
  const std::vector<float> control = clcook::example::read<float>(runtime, to, count, done);

  if (!arguments.mesh_copy.empty()) {
    clcook::io::WholeFile file(arguments.mesh_copy);
    clcook::io::write_obj(file.stream(), mesh);
    file.finish();
  }
  clcook::io::WholeFile file(patches_out);
  clcook::io::write_bv(file.stream(), control.data(), patches.valences.size());
  file.finish();
  clcook::pictures::write_picture(picture_out,
                                  clcook::example::draw_patches(control, patches, width, height));

  const std::array<std::uint8_t, 4> four{4, 4, 4, 4};
  fmt::print(
      "{} vertices, {} quads: {} patches ({} regular), {} faces on the border left out\n"
      "{} and {} by variant {} on {} ({})\n",
      mesh.vertices.size(), mesh.quads.size(), patches.valences.size(),
      std::count(patches.valences.begin(), patches.valences.end(), four), patches.border_faces,
      patches_out, picture_out, convert.variant().name(), runtime.info().name,
      runtime.info().platform);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  clcook::example::CommandLine line{
      "Converts a mesh of quads to bicubic Bezier patches and draws the surface"};
  line.add("FILES", arguments.files,
           "A Wavefront OBJ file or 'sponge', the patches to write (.bv), and the picture to "
           "write (PNG, JPEG); all or none",
           clcook::example::values(0, 3));
  line.add("--size", arguments.size, "Of the picture, WIDTHxHEIGHT");
  line.add("--mesh", arguments.mesh_copy, "Also write the mesh to this OBJ file");
  line.variant(arguments.variant, "converts");
  line.device(arguments.device);
  return line.run(argc, argv, [&] { run(arguments); });
}
