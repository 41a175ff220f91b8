// GuardedBuffer: a kernel that writes one byte where it must not is caught, and at the right place.
#include <clcook/registry/guarded_buffer.hpp>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <clcook/core/launch.hpp>

#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;

namespace {

// Writes `value` at byte `at` of the view's first row, which may be negative.
void plant(const GuardedBuffer& buffer, std::int64_t at, cl_uchar value) {
  static const cl::Program* program = new cl::Program(runtime().build(
      Source(
          "plant.cl",
          "__kernel void plant(__global uchar* out, long at, uchar value) { out[at] = value; }\n"),
      {}, "test/plant"));
  const BufferView view = buffer.view();
  Kernel kernel(runtime(), *program, "plant");
  const cl::Event done =
      kernel(Launch{}, {}, view.buffer,
             static_cast<cl_long>(at + static_cast<std::int64_t>(view.offset)), value);
  const cl_event handle = done();
  check(clWaitForEvents(1, &handle), "clWaitForEvents");
}

struct Layout {
  std::size_t row_bytes, rows, offset, pitch;
};
const Layout kLayouts[] = {
    {8, 3, 0, 0}, {8, 3, 16, 12}, {1, 1, 0, 0}, {5, 2, 3, 7}, {64, 1, 0, 100}};

bool inside(const Layout& layout, std::int64_t at) {
  const auto pitch = static_cast<std::int64_t>(layout.pitch == 0 ? layout.row_bytes : layout.pitch);
  return at >= 0 && at / pitch < static_cast<std::int64_t>(layout.rows) &&
         at % pitch < static_cast<std::int64_t>(layout.row_bytes);
}

}  // namespace

TEST_CASE("what is uploaded is read back, and the guards are whole") {
  for (const Layout& layout : kLayouts) {
    GuardedBuffer buffer(runtime(), layout.row_bytes, layout.rows, layout.offset, layout.pitch);
    buffer.poison();
    std::vector<unsigned char> data(layout.row_bytes * layout.rows);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<unsigned char>(i + 1);
    const cl::Event uploaded = buffer.upload(data.data(), {});
    Diff diff;
    CHECK(buffer.read({uploaded}, diff, "dst") == data);
    const auto pairs = buffer.read_as<std::uint16_t>({}, diff, "dst");
    REQUIRE(pairs.size() == data.size() / 2);
    if (!pairs.empty()) CHECK(std::memcmp(pairs.data(), data.data(), pairs.size() * 2) == 0);
    CHECK(diff.guards_ok());
    const BufferView view = buffer.view();
    CHECK(view.offset == layout.offset);
    CHECK(view.pitch == (layout.pitch == 0 ? layout.row_bytes : layout.pitch));
    // The view is exactly as large as its rows: one row more is refused.
    CHECK_NOTHROW(
        check_view(runtime(), view, {layout.row_bytes, layout.rows}, Access::write, "t", "dst"));
    CHECK_THROWS_AS(
        check_view(runtime(), view, {layout.row_bytes, layout.rows + 1}, Access::write, "t", "dst"),
        Error);
  }
}

TEST_CASE("without guard bands the buffer ends with its last row") {
  const ScopedVariable none("CLCOOK_GUARD_BANDS", "0");
  for (const Layout& layout : kLayouts) {
    GuardedBuffer buffer(runtime(), layout.row_bytes, layout.rows, layout.offset, layout.pitch);
    const BufferView view = buffer.view();
    CHECK(view.offset == layout.offset);
    std::size_t bytes = 0;
    check(clGetMemObjectInfo(view.buffer(), CL_MEM_SIZE, sizeof bytes, &bytes, nullptr), "size");
    CHECK(bytes == layout.offset + (layout.rows - 1) * view.pitch + layout.row_bytes);
    cl_mem parent = nullptr;
    check(clGetMemObjectInfo(view.buffer(), CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent,
                             nullptr),
          "parent");
    CHECK(parent == nullptr);  // else what lies behind it would still be memory
    buffer.poison();
    const std::vector<unsigned char> data(layout.row_bytes * layout.rows, 0x22);
    const cl::Event uploaded = buffer.upload(data.data(), {});
    Diff diff;
    CHECK(buffer.read({uploaded}, diff, "dst") == data);
    CHECK(diff.guards_ok());
  }
}

TEST_CASE("poison covers everything") {
  for (const int byte : {0xCD, 0xFF}) {
    const auto fill = static_cast<unsigned char>(byte);
    GuardedBuffer buffer(runtime(), 8, 3, 4, 10, fill);
    buffer.poison();
    Diff diff;
    CHECK(buffer.read({}, diff, "dst") == std::vector<unsigned char>(24, fill));
    CHECK(diff.guards_ok());
  }
}

TEST_CASE("one byte outside the rows is caught at its place, one inside is not") {
  for (const Layout& layout : kLayouts) {
    GuardedBuffer buffer(runtime(), layout.row_bytes, layout.rows, layout.offset, layout.pitch);
    const std::size_t pitch = layout.pitch == 0 ? layout.row_bytes : layout.pitch;
    const auto end = static_cast<std::int64_t>((layout.rows - 1) * pitch + layout.row_bytes);
    std::vector<std::int64_t> places{-4096 - static_cast<std::int64_t>(layout.offset),
                                     -1,
                                     -2,
                                     -100,
                                     end,
                                     end + 1,
                                     end + 100,
                                     end + 4095};
    for (std::int64_t at = 0; at < end; ++at) places.push_back(at);
    for (const std::int64_t at : places) {
      CAPTURE(layout.row_bytes);
      CAPTURE(layout.pitch);
      CAPTURE(at);
      buffer.poison();
      plant(buffer, at, 0x11);
      Diff diff;
      const std::vector<unsigned char> rows = buffer.read({}, diff, "dst");
      CHECK(diff.guards_ok() == inside(layout, at));
      std::size_t changed = 0;
      for (const unsigned char one : rows) changed += one != 0xCD ? 1 : 0;
      CHECK(changed == (inside(layout, at) ? 1 : 0));
      if (!inside(layout, at)) {
        CHECK(contains(diff.first(), text("dst: the byte at ", at, " ")));
        CHECK_FALSE(diff.ok());
      }
    }
  }
}

TEST_CASE("the rows are whole also when a guard is damaged") {
  GuardedBuffer buffer(runtime(), 4, 3, 0, 8);
  buffer.poison();
  const std::vector<unsigned char> data{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const cl::Event uploaded = buffer.upload(data.data(), {});
  Diff first;
  buffer.read({uploaded}, first, "dst");
  for (const std::int64_t at : {-1, 5, 20}) plant(buffer, at, 0);
  Diff diff;
  CHECK(buffer.read({}, diff, "dst") == data);
  CHECK(contains(diff.first(), "at -1 "));
}

TEST_CASE("an upload waits for its events") {
  GuardedBuffer buffer(runtime(), 16, 1);
  buffer.poison();
  const std::vector<unsigned char> data(16, 0x22);
  cl_int status = CL_SUCCESS;
  const cl::Event gate(clCreateUserEvent(runtime().context()(), &status));
  REQUIRE(status == CL_SUCCESS);
  const cl::Event uploaded = buffer.upload(data.data(), {gate});
  clFlush(runtime().queue()());
  cl_int state = CL_COMPLETE;
  clGetEventInfo(uploaded(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, nullptr);
  CHECK(state != CL_COMPLETE);
  clSetUserEventStatus(gate(), CL_COMPLETE);
  Diff diff;
  CHECK(buffer.read({uploaded}, diff, "dst") == data);
}

TEST_CASE("impossible layouts are refused") {
  CHECK(error_of([] { GuardedBuffer(runtime(), 0, 1); }).code == Errc::invalid_argument);
  CHECK(error_of([] { GuardedBuffer(runtime(), 1, 0); }).code == Errc::invalid_argument);
  CHECK(error_of([] { GuardedBuffer(runtime(), 8, 2, 0, 7); }).code == Errc::invalid_argument);
}
