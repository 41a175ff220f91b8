// Meshes of quads, and one for machines without a mesh at hand.
#pragma once

#include <clcook/io/quad_patches.hpp>
#include <string>

namespace clcook::example {

// Reads `source`: a Wavefront OBJ file, or "sponge" for the surface of a cube with three tunnels.
// Throws clcook::Error(io).
io::QuadMesh open_mesh(const std::string& source);

}  // namespace clcook::example
