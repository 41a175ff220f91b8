// A meadow of blades of grass in the wind, as skinned instances of one mesh.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <pictures/picture.hpp>
#include <string>
#include <vector>

namespace clcook::example {

struct Meadow {
  static constexpr int kBones = 8;  // of a blade, one above the other

  // The mesh of a blade, a tapering tube of height 1.
  std::vector<float> mesh;         // per vertex position and normal
  std::vector<std::uint8_t> skin;  // per vertex four bones and their weights, of 255
  std::vector<std::array<int, 3>> triangles;

  // Matrices of 4 x 4, row by row.
  std::vector<float> world;  // per blade where it stands
  std::vector<float> bones;  // per bone of each blade how the wind turns it

  explicit Meadow(int blades);

  int vertices() const { return static_cast<int>(mesh.size() / 6); }  // of a blade

  // Both take the vertices of all blades, `step` floats each: position first, normal from step / 2.
  pictures::Picture picture(const std::vector<float>& posed, std::size_t step, int width,
                            int height) const;
  // Writes a Wavefront OBJ file. Throws clcook::Error(io).
  void write_obj(const std::string& path, const std::vector<float>& posed, std::size_t step) const;

 private:
  void grow(int blades);
};

}  // namespace clcook::example
