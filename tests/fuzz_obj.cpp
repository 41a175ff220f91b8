// Random damage to OBJ files: the parser and the patch maker either give a mesh that keeps their
// promises or throw FormatError. The sanitizer lane runs it under ASan and UBSan. The same function
// serves libFuzzer:
//
//   clang++ -std=c++17 -fsanitize=fuzzer,address,undefined -DCLCOOK_LIBFUZZER -Ilib
//       tests/fuzz_obj.cpp
#include <clcook/io/obj.hpp>
#include <clcook/io/quad_patches.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

enum class Result { patches, mesh, refused };

// A broken promise ends the program, which is what a fuzzer understands.
void promise(bool kept) {
  if (!kept) std::abort();
}

Result try_obj(std::string_view text) {
  clcook::io::QuadMesh mesh;
  try {
    mesh = clcook::io::parse_obj(text);
  } catch (const clcook::io::FormatError&) {
    return Result::refused;
  }
  promise(!mesh.vertices.empty() && !mesh.quads.empty());
  for (const auto& quad : mesh.quads) {
    for (const std::uint32_t index : quad) promise(index < mesh.vertices.size());
  }
  try {
    const clcook::io::PatchList patches = clcook::io::make_patches(mesh);
    promise(patches.valences.size() + patches.border_faces == mesh.quads.size());
    promise(patches.faces.size() == patches.valences.size());
    std::size_t points = 0;
    for (const auto& valences : patches.valences) {
      for (const unsigned n : valences) {
        promise(n >= 3 && n <= 8);
        points += 2 * n - 4;
      }
    }
    promise(points == patches.indices.size());
    for (const std::uint32_t index : patches.indices) promise(index < mesh.vertices.size());
    return patches.valences.empty() ? Result::mesh : Result::patches;
  } catch (const clcook::io::FormatError&) {
    return Result::mesh;
  }
}

}  // namespace

#ifdef CLCOOK_LIBFUZZER

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try_obj({reinterpret_cast<const char*>(data), size});
  return 0;
}

#else

#include <doctest/doctest.h>

#include <clcook/registry/random.hpp>
#include <memory>
#include <vector>

namespace {

const char* const kSeeds[] = {
    // A cube.
    "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nv 0 0 1\nv 1 0 1\nv 0 1 1\nv 1 1 1\n"
    "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n",
    // The same with negative indices, texture coordinates, comments and carriage returns.
    "# cube\r\nv -0.5 .5e0 +1\r\nv 1 0 0 1\r\nv 0 1 0\r\nv 1 1 0\r\nv 0 0 1\r\nv 1 0 1\r\n"
    "v 0 1 1\r\nv 1 1 1\r\nvt 0 0\r\ng a\r\nf -8/1/1 -6/1/1 -5/1/1 -7/1/1\r\nf 5 6 8 7\r\n"
    "f 1//2 2//2 6//2 5//2\r\nf 3/4 7/4 8/4 4/4\r\nf 1 5 7 3\r\nf 2 4 8 6\r\n",
    // A strip and a fan with borders.
    "v 0 0 0\nv 1 0 0\nv 2 0 0\nv 0 1 0\nv 1 1 0\nv 2 1 0\nv 0 2 0\nv 1 2 0\nv 2 2 0\n"
    "f 1 2 5 4\nf 2 3 6 5\nf 4 5 8 7\nf 5 6 9 8\n",
};

const char* const kWords[] = {
    "v ",  "f ",   "\n",  "-1", "0",          "1e39",       "nan",
    "/",   "//",   "#",   " ",  "1e-46",      "4294967296", "-9223372036854775808",
    "vn ", "surf", "l 1", "8",  "f 1 3 4 2\n"};

std::string damaged(clcook::Random& random) {
  const auto below = [&](std::size_t count) {
    return static_cast<std::size_t>(random.below(count));
  };
  std::string text = kSeeds[below(3)];
  for (std::size_t times = 1 + below(4); times > 0 && !text.empty(); --times) {
    const std::size_t at = below(text.size());
    const std::size_t length = 1 + below(12);
    switch (below(7)) {
      case 0:
        text[at] = static_cast<char>(random.below(256));
        break;
      case 1:
        text[at] = static_cast<char>('0' + random.below(10));
        break;
      case 2:
        text.erase(at, length);
        break;
      case 3:
        text.insert(at, kWords[below(sizeof kWords / sizeof kWords[0])]);
        break;
      case 4:
        text.insert(at, text.substr(below(text.size()), length));
        break;
      case 5:
        text.resize(at);
        break;
      default: {
        // A whole line twice.
        const std::size_t begin = text.rfind('\n', at);
        const std::size_t from = begin == std::string::npos ? 0 : begin + 1;
        text.insert(from, text.substr(from, text.find('\n', at) - from) + "\n");
        break;
      }
    }
  }
  return text;
}

}  // namespace

TEST_CASE("20000 damaged OBJ files do no harm") {
  clcook::Random random(4);
  int counts[3] = {0, 0, 0};
  for (int i = 0; i < 20000; ++i) {
    const std::string text = damaged(random);
    // Memory of exactly that size: a byte read behind the end is seen.
    const auto exact = std::make_unique<char[]>(text.size());
    text.copy(exact.get(), text.size());
    ++counts[static_cast<int>(try_obj({exact.get(), text.size()}))];
  }
  // All three ends are really reached.
  for (const int count : counts) CHECK(count > 500);
  CHECK(try_obj(kSeeds[0]) == Result::patches);
  CHECK(try_obj(kSeeds[1]) == Result::patches);
  CHECK(try_obj(kSeeds[2]) == Result::mesh);  // every face lies on the border
}

#endif
