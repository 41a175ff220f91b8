// support/order.clh, which gives a kernel's items and groups another order for the lane `order`.
#include <array>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include <clcook/core/launch.hpp>

#include "clcook_places.hpp"
#include "support/grid.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;

namespace {

constexpr const char* kSource = R"(
// Of each item, in the order of the device: its ids, and where it runs.
__kernel void ids(__global uint* out) {
  const uint ids[9] = {get_local_id(0),  get_local_id(1),  get_local_id(2),
                       get_group_id(0),  get_group_id(1),  get_group_id(2),
                       get_global_id(0), get_global_id(1), get_global_id(2)};
  const size_t row = get_global_size(0);
  const size_t x = get_global_id(0) - get_global_offset(0);
  const size_t y = get_global_id(1) - get_global_offset(1);
  const size_t z = get_global_id(2) - get_global_offset(2);
  const size_t at = (z * get_global_size(1) + y) * row + x;
  for (int i = 0; i < 9; ++i) out[10 * at + i] = ids[i];
  out[10 * at + 9] = WHERE;
}
__kernel void orders(__global uint* out, uint n) {
  for (uint i = 0; i < n; ++i) out[i] = (uint)clcook_order(i, n);
}
// An item adds the cell before its own; where no barrier parts the two, the order decides what it
// finds there.
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void add_before(__global uint* out) {
  __local uint cells[65];
  const uint lid = (uint)get_local_id(0);
  if (lid == 0) cells[0] = 1;
  BARRIER
  cells[lid + 1] = lid + 2;
  BARRIER
  out[get_global_id(0)] = cells[lid];
}
)";

// As the lane puts it in front of a kernel.
cl::Program program(bool reversed, const std::string& barrier) {
  const std::string clh = read_bytes(CLCOOK_SOURCE_DIR "/tests/support/order.clh");
  // The real place of an item, asked for before the names mean something else.
  const std::string where =
      "static inline uint where_of(void) {\n"
      "  return (uint)((get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) "
      "+\n"
      "                get_local_id(0));\n}\n#define WHERE where_of()\n";
  const std::string text = where + (reversed ? "#define CLCOOK_ORDER_REVERSED\n" : "") + clh +
                           "#define BARRIER " + barrier + "\n" + kSource;
  return runtime().build(Source("order_user.cl", text), {}, "test/order");
}

}  // namespace

LONG_TEST_CASE("each item comes once, and its ids belong together", 16) {
  struct Grid {
    std::array<std::size_t, 3> groups;
    std::array<std::size_t, 3> group;
  };
  const Grid grids[] = {{{1, 1, 1}, {1, 1, 1}},   {{5, 1, 1}, {64, 1, 1}}, {{3, 7, 1}, {8, 4, 1}},
                        {{2, 3, 5}, {4, 2, 3}},   {{1, 9, 2}, {1, 16, 1}}, {{40, 1, 3}, {5, 3, 2}},
                        {{1031, 1, 1}, {2, 1, 1}}};
  for (const bool reversed : {true, false}) {
    const cl::Program built = program(reversed, "barrier(CLK_LOCAL_MEM_FENCE);");
    for (const Grid& grid : grids) {
      std::size_t count = 1;
      for (std::size_t d = 0; d < 3; ++d) count *= grid.groups[d] * grid.group[d];
      const std::vector<cl_uint> zeros(10 * count, 0xFFFFFFFFu);
      const cl::Buffer buffer =
          create_buffer(runtime(), 40 * count, CL_MEM_READ_WRITE, zeros.data());
      Kernel kernel(runtime(), built, "ids");
      const cl::Event done = kernel(Launch::groups(grid.groups, grid.group), {}, buffer);
      const auto got = read_buffer<cl_uint>(runtime(), buffer, 10 * count, {done});
      std::set<std::array<cl_uint, 3>> groups;
      std::size_t wrong = 0;
      std::size_t moved = 0;
      for (std::size_t i = 0; i < count; ++i) {
        const cl_uint* one = got.data() + 10 * i;
        std::size_t local = 0;
        for (std::size_t d = 3; d-- > 0;) {
          wrong += one[d] >= grid.group[d] || one[3 + d] >= grid.groups[d];
          wrong += one[6 + d] != one[3 + d] * grid.group[d] + one[d];
          local = local * grid.group[d] + one[d];
        }
        // Global ids are those of the place in the result: each came once.
        const std::size_t width = grid.groups[0] * grid.group[0];
        const std::size_t height = grid.groups[1] * grid.group[1];
        wrong += (one[8] * height + one[7]) * width + one[6] != i;
        groups.insert({one[3], one[4], one[5]});
        moved += one[9] != local;
      }
      CAPTURE(reversed);
      CAPTURE(count);
      CHECK(wrong == 0);
      CHECK(groups.size() == grid.groups[0] * grid.groups[1] * grid.groups[2]);
      const std::size_t items = grid.group[0] * grid.group[1] * grid.group[2];
      CHECK(2 * moved >= (items > 1 ? count : 0));
    }
  }
}

TEST_CASE("an order is a permutation of any number of items") {
  for (const bool reversed : {true, false}) {
    const cl::Program built = program(reversed, "");
    for (cl_uint n = 1; n < 5000; n += n < 300 ? 1 : 389) {
      const cl::Buffer buffer = create_buffer(runtime(), std::size_t{4} * n);
      Kernel kernel(runtime(), built, "orders");
      const cl::Event done = kernel(Launch{}, {}, buffer, n);
      const auto got = read_buffer<cl_uint>(runtime(), buffer, n, {done});
      const std::set<cl_uint> all(got.begin(), got.end());
      CAPTURE(n);
      CHECK(all.size() == n);
      CHECK(*all.rbegin() == n - 1);
      if (n > 1) CHECK(got[0] != 0);
      if (reversed) CHECK(got[0] == n - 1);
    }
  }
}

TEST_CASE("with its barriers a kernel computes the same in every order") {
  for (const bool reversed : {true, false}) {
    const cl::Program built = program(reversed, "barrier(CLK_LOCAL_MEM_FENCE);");
    const cl::Buffer buffer = create_buffer(runtime(), 4 * 256);
    Kernel kernel(runtime(), built, "add_before");
    const cl::Event done = kernel(Launch::groups({4, 1, 1}, {64, 1, 1}), {}, buffer);
    const auto got = read_buffer<cl_uint>(runtime(), buffer, 256, {done});
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == i % 64 + 1);
  }
}
