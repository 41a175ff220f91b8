// Border modes: the table of the host, the numbers and indices of halo.clh, and the references,
// which know nothing of either but the names.
#include <clcook/core/border.hpp>

#include <cstddef>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include <clcook/core/launch.hpp>

#include "support/borders.hpp"
#include "support/grid.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;

TEST_CASE("the references know the modes of the library, and no other") {
  CHECK(std::size(kBorders) == std::size(reference::kBorders));
  for (const BorderRow& row : kBorders) {
    CHECK(parse_border(row.name, "test") == row.value);
    CHECK_NOTHROW(reference_border(row.value));
  }
  CHECK_THROWS_AS(reference::border_named("replicate"), std::invalid_argument);
  check_refused([] { parse_border("replicate", "test"); }, "clamp, mirror");
}

// Of every mode, what the library derives from it is held against where its indices lie.
TEST_CASE("what the library says of a mode is what its indices do") {
  for (const BorderRow& row : kBorders) {
    CAPTURE(row.name);
    const Border border = row.value;
    const auto at = [&](int i, int count) {
      return reference::border_index(i, count, reference_border(border));
    };
    bool is_value = true;
    bool is_edge = true;
    bool is_flat = true;
    bool is_far = true;
    bool in_blocks = true;
    for (const int count : {2, 4, 6, 12}) {
      for (int i = -30; i < 30; ++i) {
        if (i >= 0 && i < count) continue;
        is_value &= at(i, count) == -1;
        is_edge &= at(i, count) == (i < 0 ? 0 : count - 1);
        is_flat &= at(i, count) == at(i < 0 ? -1 : count, count);
        if (i == -1 || i == count) is_far &= at(i, count) == count - 1 - (i < 0 ? 0 : count - 1);
        // The block of two that i is in holds two pixels of one block of the picture.
        const int first = i & ~1;
        const int low = at(first, count);
        const int high = at(first + 1, count);
        in_blocks &= low >= 0 && low / 2 == high / 2 && low != high;
      }
    }
    CHECK(is_constant(border) == is_value);
    CHECK(repeats_edge(border) == is_edge);
    CHECK(repeats_picture(border) != is_flat);
    CHECK(repeats_far_side(border) == is_far);
    CHECK(repeats_blocks(border) == in_blocks);
  }
}

TEST_CASE("halo.clh has the numbers of the modes, and the indices of the references") {
  // CLCOOK_BORDER_ and the name in capitals.
  std::string body;
  for (std::size_t i = 0; i < std::size(kBorders); ++i)
    body += text("  out[", i, "] = CLCOOK_BORDER_", upper_case(kBorders[i].name), ";\n");
  const cl::Program numbers = runtime().build(
      Source("numbers.cl",
             "#include <clcook/halo.clh>\n__kernel void k(__global int* out) {\n" + body + "}\n"),
      {}, "test/numbers");
  const cl::Buffer out = create_buffer(runtime(), 4096 * sizeof(cl_int));
  Kernel number(runtime(), numbers, "k");
  const auto got =
      read_buffer<cl_int>(runtime(), out, std::size(kBorders), {number(Launch{}, {}, out)});
  for (std::size_t i = 0; i < std::size(kBorders); ++i)
    CHECK(got[i] == static_cast<cl_int>(kBorders[i].value));

  const cl::Program indices = runtime().build(
      Source("indices.cl",
             "#include <clcook/halo.clh>\n"
             "__kernel void k(__global int* out, int first, int items, int count, int border) {\n"
             "  for (int k = 0; k < items; ++k) out[k] = clcook_border(first + k, count, border);\n"
             "}\n"),
      {}, "test/indices");
  Kernel index(runtime(), indices, "k");
  // From one pixel on, and far beyond the picture; and sizes close to the largest.
  struct Line {
    int first, items, count;
  };
  std::vector<Line> lines;
  for (int count = 1; count <= 9; ++count) lines.push_back({-100, 200 + count, count});
  lines.push_back({-2000, 4000, 511});
  for (const int count : {(1 << 28) - 1, 1 << 28}) {
    lines.push_back({-70, 140, count});
    lines.push_back({count - 70, 140, count});
  }
  for (const BorderRow& row : kBorders) {
    for (const Line& line : lines) {
      CAPTURE(row.name);
      CAPTURE(line.count);
      const cl::Event done = index(Launch{}, {}, out, line.first, line.items, line.count,
                                   static_cast<cl_int>(row.value));
      const auto all =
          read_buffer<cl_int>(runtime(), out, static_cast<std::size_t>(line.items), {done});
      std::size_t wrong = 0;
      for (int k = 0; k < line.items; ++k) {
        const std::ptrdiff_t expected = reference::border_index<std::ptrdiff_t>(
            line.first + k, line.count, reference_border(row.value));
        wrong += all[static_cast<std::size_t>(k)] != expected ? 1 : 0;
      }
      CHECK(wrong == 0);
    }
  }
}
