// OBJ meshes, the patches that are made of them, and what is written again.
#include <clcook/io/obj.hpp>
#include <clcook/io/quad_patches.hpp>
#include <sstream>

#include "fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace clcook::io;
  QuadMesh mesh;
  try {
    mesh = parse_obj(clcook::fuzz::view(data, size));
  } catch (const FormatError&) {
    return 0;
  }
  CLCOOK_FUZZ_CHECK(!mesh.vertices.empty() && !mesh.quads.empty());
  for (const auto& quad : mesh.quads) {
    for (const std::uint32_t index : quad) CLCOOK_FUZZ_CHECK(index < mesh.vertices.size());
  }
  std::ostringstream written;
  write_obj(written, mesh);
  const QuadMesh again = parse_obj(written.str());
  CLCOOK_FUZZ_CHECK(again.vertices == mesh.vertices && again.quads == mesh.quads);
  try {
    const PatchList patches = make_patches(mesh);
    CLCOOK_FUZZ_CHECK(patches.valences.size() + patches.border_faces == mesh.quads.size());
    CLCOOK_FUZZ_CHECK(patches.faces.size() == patches.valences.size());
    std::size_t points = 0;
    for (const auto& valences : patches.valences) {
      for (const unsigned n : valences) {
        CLCOOK_FUZZ_CHECK(n >= PatchList::kMinValence && n <= PatchList::kMaxValence);
        points += 2 * n - 4;
      }
    }
    CLCOOK_FUZZ_CHECK(points == patches.indices.size());
    for (const std::uint32_t index : patches.indices)
      CLCOOK_FUZZ_CHECK(index < mesh.vertices.size());
  } catch (const FormatError&) {
  }
  return 0;
}
