// Structs that kernels take by value: <clcook/view.clh> beside core/kernel_types.hpp, and those of
// the kernel files, as the device lays them out.
#include <doctest/doctest.h>

#include <clcook/core/kernel_types.hpp>
#include <clcook/core/launch.hpp>
#include <clcook/core/runtime.hpp>
#include <clcook/core/source.hpp>
#include <clcook/embedded/gaussian_blur.hpp>
#include <clcook/line_blur.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "support/grid.hpp"
#include "support/testing.hpp"

namespace {

using namespace clcook;
using clcook::testing::read_buffer;
using clcook::testing::runtime;

// A struct of a kernel: its name there, its size, and its members with their places.
struct Layout {
  struct Member {
    const char* name;
    std::size_t offset;
  };
  const char* name;
  std::size_t size;
  std::vector<Member> members;
};

const std::vector<Layout>& shared() {
  static const std::vector<Layout> all{
      {"clcook_view",
       sizeof(KernelView),
       {{"offset", offsetof(KernelView, offset)}, {"pitch", offsetof(KernelView, pitch)}}},
      {"clcook_region",
       sizeof(KernelRegion),
       {{"x", offsetof(KernelRegion, x)},
        {"y", offsetof(KernelRegion, y)},
        {"width", offsetof(KernelRegion, width)},
        {"height", offsetof(KernelRegion, height)}}},
      {"clcook_rows",
       sizeof(KernelRows),
       {{"first", offsetof(KernelRows, first)}, {"count", offsetof(KernelRows, count)}}},
      {"clcook_picture",
       sizeof(KernelPicture),
       {{"outside", offsetof(KernelPicture, outside)},
        {"region", offsetof(KernelPicture, region)},
        {"region.height", offsetof(KernelPicture, region.height)},
        {"width", offsetof(KernelPicture, width)},
        {"height", offsetof(KernelPicture, height)},
        {"border", offsetof(KernelPicture, border)},
        {"reserved", offsetof(KernelPicture, reserved)}}},
      {"clcook_volume",
       sizeof(KernelVolume),
       {{"outside", offsetof(KernelVolume, outside)},
        {"width", offsetof(KernelVolume, width)},
        {"height", offsetof(KernelVolume, height)},
        {"depth", offsetof(KernelVolume, depth)},
        {"border", offsetof(KernelVolume, border)}}}};
  return all;
}

// Compares the layouts with those in a program that has this text before our kernel.
void compare(const std::string& name, const std::string& text, const std::vector<Layout>& layouts) {
  std::string kernel = text + "\n__kernel void layout_of_structs(__global uint* out) {\n";
  std::vector<std::string> what;
  std::vector<cl_uint> expected;
  for (const Layout& layout : layouts) {
    const std::string type = layout.name;
    kernel += "  " + type + " one_" + type + ";\n";
    const auto add = [&](const std::string& expression, std::size_t value, std::string label) {
      kernel += "  out[" + std::to_string(expected.size()) + "] = (uint)(" + expression + ");\n";
      expected.push_back(static_cast<cl_uint>(value));
      what.push_back(std::move(label));
    };
    add("sizeof(" + type + ")", layout.size, "sizeof " + type);
    for (const Layout::Member& member : layout.members) {
      add("(__private char*)&one_" + type + "." + member.name + " - (__private char*)&one_" + type,
          member.offset, type + "." + member.name);
    }
  }
  kernel += "}\n";
  const cl::Program program = runtime().build(Source(name, kernel), {}, "layout of " + name);
  const std::vector<cl_uint> blank(expected.size(), 0xCDCDCDCDu);
  const cl::Buffer out =
      create_buffer(runtime(), blank.size() * sizeof(cl_uint), CL_MEM_READ_WRITE, blank.data());
  Kernel run(runtime(), program, "layout_of_structs");
  const cl::Event done = run(Launch::groups({1, 1, 1}, {1, 1, 1}), {}, out);
  const auto got = read_buffer<cl_uint>(runtime(), out, expected.size(), {done});
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO(name, ": ", what[i]);
    CHECK(got[i] == expected[i]);
  }
}

const char* const kEcho = R"(
#include <clcook/view.clh>

// Every member as it arrives, behind arguments that leave the place unaligned.
__kernel void echo(int first, clcook_view view, char second, clcook_picture picture, short third,
                   clcook_rows rows, int fourth, clcook_region region, clcook_volume volume,
                   __global long* out) {
  out[0] = first;
  out[1] = (long)view.offset;
  out[2] = (long)view.pitch;
  out[3] = second;
  out[4] = (long)picture.outside.x;
  out[5] = (long)picture.outside.y;
  out[6] = (long)picture.outside.z;
  out[7] = (long)picture.outside.w;
  out[8] = picture.region.x;
  out[9] = picture.region.y;
  out[10] = picture.region.width;
  out[11] = picture.region.height;
  out[12] = picture.width;
  out[13] = picture.height;
  out[14] = picture.border;
  out[15] = third;
  out[16] = rows.first;
  out[17] = rows.count;
  out[18] = fourth;
  out[19] = region.x;
  out[20] = region.y;
  out[21] = region.width;
  out[22] = region.height;
  out[23] = (long)clcook_view_row(view, 24, 1 << 28, 7);
  out[24] = (long)volume.outside.x;
  out[25] = (long)volume.outside.w;
  out[26] = volume.width;
  out[27] = volume.height;
  out[28] = volume.depth;
  out[29] = volume.border;
}
)";

}  // namespace

TEST_CASE("the structs of view.clh lie on the device as in kernel_types.hpp") {
  compare("view.clh", "#include <clcook/view.clh>\n", shared());
}

TEST_CASE("every member of a struct by value arrives") {
  const cl::Program program = runtime().build(Source("echo.cl", kEcho), {}, "echo");
  const KernelView view{cl_ulong{1} << 40, (cl_ulong{1} << 30) + 5};
  KernelPicture picture;
  picture.outside = {{-1, 2, -3, 4}};
  picture.region = {11, -12, 13, 14};
  picture.width = 15;
  picture.height = 1 << 28;
  picture.border = 3;
  KernelVolume volume{{}, 43, 44, -45, 46};
  volume.outside = {{41, 2, -3, -42}};
  const std::vector<cl_long> blank(30, -77);
  const cl::Buffer out =
      create_buffer(runtime(), blank.size() * sizeof(cl_long), CL_MEM_READ_WRITE, blank.data());
  Kernel echo(runtime(), program, "echo");
  const cl::Event done = echo(Launch::groups({1, 1, 1}, {1, 1, 1}), {}, cl_int{-5}, view,
                              cl_char{-6}, picture, cl_short{-7}, KernelRows{-21, 22}, cl_int{-8},
                              KernelRegion{31, 32, -33, 34}, volume, out);
  // 24 pictures of 2^28 rows: the product needs 64 bits.
  const auto offset = static_cast<cl_long>(view.offset);
  const auto pitch = static_cast<cl_long>(view.pitch);
  const std::vector<cl_long> expected{
      -5,  offset, pitch, -6, -1,  2,       -3, 4,
      11,  -12,    13,    14, 15,  1 << 28, 3,  -7,
      -21, 22,     -8,    31, 32,  -33,     34, offset + ((cl_long{24} << 28) + 7) * pitch,
      41,  -42,    43,    44, -45, 46};
  const auto got = read_buffer<cl_long>(runtime(), out, expected.size(), {done});
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("value ", i);
    CHECK(got[i] == expected[i]);
  }
}

TEST_CASE("the structs of the kernels of line_blur lie as those of the host") {
  using line_blur::KernelPass;
  using line_blur::KernelTaps;
  compare("line_blur", embedded::line_blur.text(),
          {{"pass_t",
            sizeof(KernelPass),
            {{"length", offsetof(KernelPass, length)},
             {"lines", offsetof(KernelPass, lines)},
             {"segment", offsetof(KernelPass, segment)},
             {"tile_taps", offsetof(KernelPass, tile_taps)},
             {"more_pairs", offsetof(KernelPass, more_pairs)}}},
           {"taps_t",
            sizeof(KernelTaps),
            {{"side", offsetof(KernelTaps, side)},
             {"step", offsetof(KernelTaps, step)},
             {"inverse_radius", offsetof(KernelTaps, inverse_radius)},
             {"factor", offsetof(KernelTaps, factor)},
             {"divisor", offsetof(KernelTaps, divisor)}}}});
}

// Beside the host's structs stands static_assert of their size; all members have 4 bytes but the
// first of scratch_t.
LONG_TEST_CASE("the structs of the kernels of gaussian_blur have no gaps", 16) {
  const auto ints = [](const char* name, const std::vector<const char*>& members,
                       std::size_t first = 4) {
    Layout out{name, first + 4 * (members.size() - 1), {}};
    for (std::size_t i = 0; i < members.size(); ++i)
      out.members.push_back({members[i], i == 0 ? 0 : first + 4 * (i - 1)});
    return out;
  };
  const auto with_shared = [](std::vector<Layout> own) {
    own.insert(own.end(), shared().begin(), shared().end());
    return own;
  };
  const std::pair<const embedded::File*, std::vector<Layout>> files[] = {
      {&embedded::gaussian_blur_naive, {}},
      {&embedded::gaussian_blur_fused,
       {{"weights_t", 128, {{"x", 0}, {"x[15]", 60}, {"y", 64}, {"y[15]", 124}}}}},
      {&embedded::gaussian_blur_separable,
       {{"taps_t", 536, {{"w", 0}, {"w[131]", 524}, {"count", 528}, {"reach", 532}}}}},
      {&embedded::gaussian_blur_separable_splines,
       {{"taps_t", 536, {{"w", 0}, {"w[131]", 524}, {"count", 528}, {"reach", 532}}}}},
      {&embedded::gaussian_blur_pyramid,
       {ints("grid_t", {"log", "radius", "pixel", "tiles", "first", "count", "border", "out_first",
                        "outs"})}},
      {&embedded::gaussian_blur_cpu_fused,
       {ints("axis_t", {"radius", "every", "spline", "coarse", "left", "right"}),
        ints("scratch_t", {"item_floats", "line_floats", "ring_pitch", "slots", "smooth_slots"},
             8)}},
      {&embedded::gaussian_blur_cpu_pyramid,
       {ints("cells_t", {"first", "count", "step", "radius"}),
        ints("span_t", {"x", "count", "inside_x", "inside_count"}),
        ints("scratch_t", {"item_floats", "line_pitch", "mid_pitch"}, 8)}},
      {&embedded::gaussian_blur_tensor, {ints("clcook_tensor_scale", {"in", "mid", "out"})}},
      {&embedded::gaussian_blur_tensor_passes,
       {ints("clcook_tensor_scale", {"in", "mid", "out"}),
        ints("mid_t", {"chunks", "skipped", "blocks"})}},
      {&embedded::gaussian_blur_tensor_bytes,
       {ints("rounding_t", {"unit", "middle", "shift", "order"})}},
  };
  for (const auto& [file, layouts] : files)
    compare(std::string(file->name), file->text(), with_shared(layouts));
}
