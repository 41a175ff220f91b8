// kernels/clcook/swizzle.clh in a kernel that is not ours, against the model, on every grid up to
// 64 x 64 and some others.
#include <clcook/core/launch.hpp>
#include <clcook/model/swizzle.hpp>

#include <string>
#include <vector>

#include "support/grid.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::model;
using namespace clcook::testing;

namespace {

// One work-item per grid: the place of every id, with the top bit set where the inverse is wrong.
std::string source() {
  std::string choice;
  for (const SwizzleRow& row : kSwizzles) {
    const std::string width = row.has_width ? ", width" : "";
    choice += text("if (order == ", static_cast<int>(row.kind), ") {\n  at = clcook_swizzle_",
                   row.name, "(run, x, y", width, ");\n  back = clcook_unswizzle_", row.name,
                   "(at, x, y", width, ");\n}\n");
  }
  return R"(
#include <clcook/swizzle.clh>
__kernel void places(__global const uint4* grids, uint count, uint order, uint width,
                     uint chiplets, __global uint* out) {
  const uint i = (uint)get_global_id(0);
  if (i >= count) return;
  const uint x = grids[i].x, y = grids[i].y, first = grids[i].z;
  for (uint id = 0; id < x * y; ++id) {
    const uint run = clcook_swizzle_chiplets(id, x * y, chiplets);
    uint2 at = (uint2)(0, 0);
    uint back = 0;
)" + choice +
         R"(
    back = clcook_unswizzle_chiplets(back, x * y, chiplets);
    out[first + id] = at.x | at.y << 15 | (back == id ? 0u : 0x80000000u);
  }
}
__kernel void flat(__global uint* out) {
  out[get_group_id(1) * get_num_groups(0) + get_group_id(0)] = clcook_group_id();
}
)";
}

const cl::Program& program() {
  static const cl::Program* one =
      new cl::Program(runtime().build(Source("swizzle_user.cl", source()), {}, "test/swizzle"));
  return *one;
}

}  // namespace

LONG_TEST_CASE("the device's places are the model's", 16) {
  std::vector<GroupGrid> grids = {{1, 4093}, {4093, 1},  {2, 2039},
                                  {1021, 3}, {127, 131}, {320, 180}};
  for (std::uint32_t x = 1; x <= 64; ++x) {
    for (std::uint32_t y = 1; y <= 64; ++y) grids.push_back({x, y});
  }
  std::vector<cl_uint> table;
  std::size_t total = 0;
  for (const GroupGrid& grid : grids) {
    table.insert(table.end(), {grid.x, grid.y, static_cast<cl_uint>(total), 0});
    total += grid.count();
  }
  cl_int status = CL_SUCCESS;
  const cl::Buffer in(clCreateBuffer(runtime().context()(), CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                                     table.size() * sizeof(cl_uint), table.data(), &status));
  REQUIRE(status == CL_SUCCESS);
  const cl::Buffer out(clCreateBuffer(runtime().context()(), CL_MEM_READ_WRITE,
                                      total * sizeof(cl_uint), nullptr, &status));
  REQUIRE(status == CL_SUCCESS);

  std::vector<SwizzleOrder> orders = {{SwizzleKind::row_major, 1, 8}, {SwizzleKind::columns, 8, 3}};
  for (const SwizzleRow& row : kSwizzles) {
    if (!row.has_width) orders.push_back({row.kind, 1, 1});
  }
  for (const std::uint32_t width : {1U, 2U, 4U, 8U, 16U, 32U})
    orders.push_back({SwizzleKind::columns, width, 1});
  for (const SwizzleOrder& order : orders) {
    CAPTURE(to_string(order));
    Kernel kernel(runtime(), program(), "places");
    const cl::Event done = kernel(
        Launch::cover({grids.size(), 1, 1}, {32, 1, 1}), {}, in, static_cast<cl_uint>(grids.size()),
        static_cast<cl_uint>(order.kind), cl_uint{order.width}, cl_uint{order.chiplets}, out);
    const std::vector<cl_uint> got = read_buffer<cl_uint>(runtime(), out, total, {done});
    long wrong = 0;
    std::size_t at = 0;
    for (const GroupGrid& grid : grids) {
      for (std::uint32_t id = 0; id < grid.count(); ++id, ++at) {
        const GroupPlace place = swizzle(order, id, grid);
        if (got[at] == (place.x | place.y << 15)) continue;
        if (++wrong > 3) continue;
        CAPTURE(grid.x);
        CAPTURE(grid.y);
        CAPTURE(id);
        CHECK(got[at] == (place.x | place.y << 15));
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("the flat id of a group") {
  cl_int status = CL_SUCCESS;
  const cl::Buffer out(clCreateBuffer(runtime().context()(), CL_MEM_READ_WRITE,
                                      35 * sizeof(cl_uint), nullptr, &status));
  REQUIRE(status == CL_SUCCESS);
  Kernel kernel(runtime(), program(), "flat");
  const cl::Event done = kernel(Launch::groups({7, 5, 1}, {2, 3, 1}), {}, out);
  const std::vector<cl_uint> got = read_buffer<cl_uint>(runtime(), out, 35, {done});
  for (cl_uint i = 0; i < 35; ++i) CHECK(got[i] == i);
}
