// Views of buffers and images: every rule, and overlap() against a set of bytes.
#include <clcook/core/view.hpp>

#include <limits>
#include <string>
#include <vector>

#include <clcook/registry/random.hpp>

#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;

namespace {

constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max();

cl::Buffer sub_buffer(const cl::Buffer& parent, std::size_t origin, std::size_t size,
                      cl_mem_flags flags = 0) {
  const cl_buffer_region region{origin, size};
  cl_int status = CL_SUCCESS;
  cl::Buffer out(
      clCreateSubBuffer(parent(), flags, CL_BUFFER_CREATE_TYPE_REGION, &region, &status));
  check(status, "clCreateSubBuffer");
  return out;
}

// The error of a view that must be refused; the message names operation and argument.
Error refused(const BufferView& view, const RowLayout& layout, Access access = Access::read) {
  const Error error =
      error_of([&] { check_view(runtime(), view, layout, access, "operation", "argument"); });
  CHECK(error.code == Errc::invalid_argument);
  CHECK(error.where == "operation");
  CHECK(contains(error.what(), "argument"));
  return error;
}

bool fits(const BufferView& view, const RowLayout& layout) {
  try {
    check_view(runtime(), view, layout, Access::read, "operation", "argument");
    return true;
  } catch (const Error&) {
    return false;
  }
}

cl_uint references(cl_mem memory) {
  return detail::mem_value<cl_uint>(memory, CL_MEM_REFERENCE_COUNT);
}

cl_uint references(cl_command_queue queue) {
  cl_uint count = 0;
  check(clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof count, &count, nullptr),
        "clGetCommandQueueInfo");
  return count;
}

}  // namespace

TEST_CASE("handles of the C API stay the caller's: each view and runtime holds its own reference") {
  const cl::Buffer buffer = create_buffer(runtime(), 64);
  const cl_mem memory = buffer();
  CHECK(references(memory) == 1);
  {
    const BufferView view(memory, 8, 16);
    CHECK(references(memory) == 2);
    CHECK(view.buffer() == memory);
    CHECK(view.offset == 8);
    CHECK(view.pitch == 16);
    const BufferView copy = view;
    CHECK(references(memory) == 3);
    CHECK(check_view(runtime(), memory, {64, 1}, Access::read, "operation", "argument").end() ==
          64);
  }
  CHECK(references(memory) == 1);

  const cl::Image2D image = create_image(runtime(), 4, 4, {CL_RGBA, CL_FLOAT});
  {
    const ImageView view(image(), 1, 2);
    CHECK(references(image()) == 2);
    CHECK(view.image() == image());
    CHECK(view.x == 1);
    CHECK(view.y == 2);
  }
  CHECK(references(image()) == 1);

  cl_int status = CL_SUCCESS;
  const cl_command_queue queue =
      detail::create_queue(runtime().context()(), runtime().device()(), 0, &status);
  check(status, "clCreateCommandQueue");
  CHECK(references(queue) == 1);
  {
    const Runtime mine(queue);
    CHECK(references(queue) == 2);
    CHECK(mine.queue()() == queue);
    const Runtime other = runtime().with_queue(queue);
    CHECK(references(queue) == 3);
  }
  CHECK(references(queue) == 1);
  clReleaseCommandQueue(queue);

  // Null is refused where it is used, as ever.
  CHECK(contains(refused(cl_mem{nullptr}, {1, 1}).what(), "argument is null"));
  CHECK(error_of([] { Runtime{cl_command_queue{nullptr}}; }).code == Errc::invalid_argument);
}

TEST_CASE("a view resolves its pitch and ends at its last byte") {
  const cl::Buffer buffer = create_buffer(runtime(), 1000);
  CheckedView view =
      check_view(runtime(), buffer, {100, 10}, Access::read, "operation", "argument");
  CHECK(view.pitch == 100);
  CHECK(view.offset == 0);
  CHECK(view.row_bytes == 100);
  CHECK(view.rows == 10);
  CHECK(view.end() == 1000);
  view =
      check_view(runtime(), {buffer, 8, 120}, {16, 3, 8}, Access::write, "operation", "argument");
  CHECK(view.pitch == 120);
  CHECK(view.offset == 8);
  CHECK(view.end() == 8 + 2 * 120 + 16);
}

TEST_CASE("the last byte decides, not the last pitch") {
  const cl::Buffer buffer = create_buffer(runtime(), 100);
  CHECK(fits({buffer, 0, 30}, {10, 4}));  // 3 * 30 + 10 = 100
  CHECK_FALSE(fits({buffer, 0, 31}, {10, 4}));
  CHECK_FALSE(fits({buffer, 1, 30}, {10, 4}));
  CHECK_FALSE(fits({buffer, 0, 30}, {11, 4}));
  CHECK_FALSE(fits({buffer, 0, 30}, {10, 5}));
  CHECK(fits({buffer, 99}, {1, 1}));
  CHECK_FALSE(fits({buffer, 100}, {1, 1}));
  const Error error = refused({buffer, 1, 30}, {10, 4});
  CHECK(contains(error.what(), "has 100 bytes, needs 101"));
  CHECK(contains(error.what(), "offset 1"));
  CHECK(contains(error.what(), "pitch of 30"));
}

TEST_CASE("sizes of zero, small pitches and misalignment are refused") {
  const cl::Buffer buffer = create_buffer(runtime(), 1000);
  CHECK(contains(refused(buffer, {0, 10}).what(), "10 rows of 0 bytes"));
  CHECK(contains(refused(buffer, {10, 0}).what(), "0 rows of 10 bytes"));
  CHECK(contains(refused({buffer, 0, 9}, {10, 1}).what(), "pitch of 9"));
  CHECK(fits({buffer, 0, 10}, {10, 1}));
  CHECK(contains(refused({buffer, 8, 32}, {16, 2, 16}).what(), "multiples of 16"));
  CHECK(contains(refused({buffer, 16, 40}, {16, 2, 16}).what(), "pitch 40"));
  CHECK(fits({buffer, 16, 48}, {16, 2, 16}));
}

TEST_CASE("arithmetic that overflows is refused") {
  const cl::Buffer buffer = create_buffer(runtime(), 64);
  const std::size_t values[] = {0, 1, 2, 16, kMax / 2, kMax / 2 + 1, kMax - 16, kMax - 1, kMax};
  for (const std::size_t offset : values) {
    for (const std::size_t pitch : values) {
      for (const std::size_t row : values) {
        for (const std::size_t rows : values) {
          const bool small = offset <= 16 && pitch <= 16 && row <= 16 && rows <= 16;
          if (small) continue;
          if (rows == 1 && row <= 16 && offset <= 16) continue;  // one row: the pitch is not used
          CAPTURE(offset);
          CAPTURE(pitch);
          CAPTURE(row);
          CAPTURE(rows);
          CHECK_FALSE(fits({buffer, offset, pitch}, {row, rows}));
        }
      }
    }
  }
}

TEST_CASE("null, foreign and wrong objects are refused") {
  CHECK(contains(refused(cl::Buffer(), {1, 1}).what(), "null"));
  const Runtime other = Runtime::pick();
  CHECK(contains(refused(create_buffer(other, 16), {1, 1}).what(), "another context"));
  if (runtime().info().images) {
    const cl::Image2D image = create_image(runtime(), 4, 4, {CL_RGBA, CL_FLOAT});
    clRetainMemObject(image());
    const cl::Buffer wrong(image());  // an image in a buffer's clothes
    CHECK(contains(refused(wrong, {1, 1}).what(), "not a buffer"));
  }
}

TEST_CASE("access flags are respected") {
  const cl::Buffer read_only = create_buffer(runtime(), 16, CL_MEM_READ_ONLY);
  const cl::Buffer write_only = create_buffer(runtime(), 16, CL_MEM_WRITE_ONLY);
  CHECK(contains(refused(read_only, {1, 1}, Access::write).what(), "CL_MEM_READ_ONLY"));
  CHECK(contains(refused(write_only, {1, 1}, Access::read).what(), "CL_MEM_WRITE_ONLY"));
  CHECK_NOTHROW(check_view(runtime(), read_only, {1, 1}, Access::read, "operation", "argument"));
  CHECK_NOTHROW(check_view(runtime(), write_only, {1, 1}, Access::write, "operation", "argument"));
}

TEST_CASE("a sub-buffer has its own size") {
  const cl::Buffer parent = create_buffer(runtime(), 4096);
  const cl::Buffer sub = sub_buffer(parent, 1024, 100);
  CHECK(fits(sub, {10, 10}));
  CHECK_FALSE(fits(sub, {101, 1}));
  CHECK_FALSE(fits({sub, 1}, {100, 1}));
}

TEST_CASE("sub-buffers of one buffer are compared where they lie") {
  const cl::Buffer parent = create_buffer(runtime(), 4096);
  const cl::Buffer low = sub_buffer(parent, 0, 1024);
  const cl::Buffer high = sub_buffer(parent, 1024, 1024);
  const cl::Buffer both = sub_buffer(parent, 0, 2048);
  const auto view = [](const cl::Buffer& buffer, std::size_t offset, std::size_t bytes) {
    return check_view(runtime(), {buffer, offset}, {bytes, 1}, Access::read, "operation",
                      "argument");
  };
  CHECK_FALSE(overlap(view(low, 0, 1024), view(high, 0, 1024)));
  CHECK(overlap(view(low, 0, 1024), view(both, 1023, 1)));
  CHECK_FALSE(overlap(view(low, 0, 1024), view(both, 1024, 1024)));
  CHECK(overlap(view(high, 0, 1), view(both, 1024, 1)));
  CHECK(overlap(view(high, 0, 1), view(parent, 1024, 1)));
  CHECK_FALSE(overlap(view(high, 0, 1), view(parent, 1023, 1)));
  CHECK(overlap(view(parent, 0, 10), view(parent, 9, 10)));
  CHECK_FALSE(overlap(view(parent, 0, 10), view(create_buffer(runtime(), 16), 0, 10)));
  const Error error = error_of(
      [&] { check_disjoint(view(low, 0, 8), view(parent, 4, 8), "operation", "src", "dst"); });
  CHECK(error.code == Errc::invalid_argument);
  CHECK(contains(error.what(), "src"));
  CHECK(contains(error.what(), "dst"));
  CHECK(contains(error.what(), "overlap"));
  CHECK_NOTHROW(check_disjoint(view(low, 0, 8), view(parent, 8, 8), "operation", "src", "dst"));
}

TEST_CASE("a pair of views is checked one by one and together") {
  const cl::Buffer in = create_buffer(runtime(), 64);
  const cl::Buffer out = create_buffer(runtime(), 64, CL_MEM_READ_ONLY);
  const auto pair = [&](const BufferView& from, const BufferView& to) {
    return check_pair(runtime(), "test", {from, {16, 2, 4}, "here"}, {to, {8, 1, 8}, "there"});
  };
  const CheckedPair good = pair({in, 4}, {in, 40});
  CHECK(good.from.offset == 4);
  CHECK(good.from.end() == 36);
  CHECK(good.to.offset == 40);
  const auto refused = [&](const BufferView& from, const BufferView& to, const char* part) {
    const Error error = error_of([&] { pair(from, to); });
    CHECK(error.code == Errc::invalid_argument);
    CHECK_MESSAGE(contains(error.what(), part), error.what());
  };
  refused({in, 2}, {in, 40}, "here");
  refused({in, 0}, {in, 36}, "there");
  refused({in, 0}, {in, 24}, "here (bytes 0 to 32) and there (bytes 24 to 32) overlap");
  refused({in, 0}, out, "CL_MEM_READ_ONLY");
  CHECK_NOTHROW(pair(out, in));  // what is read may be read-only
}

TEST_CASE("overlap agrees with a set of bytes") {
  constexpr std::size_t kBytes = 160;
  const cl::Buffer buffer = create_buffer(runtime(), kBytes);
  Random random(7);
  int overlapping = 0;
  int disjoint = 0;
  int wrong = 0;
  const auto make = [&](std::size_t pitch) {
    for (;;) {
      CheckedView view;
      view.buffer = buffer;
      view.row_bytes = 1 + random.below(pitch);
      view.pitch = pitch;
      view.rows = 1 + random.below(6);
      view.offset = random.below(60);
      if (view.end() <= kBytes) return view;
    }
  };
  for (int round = 0; round < 40000; ++round) {
    const std::size_t a_pitch = 1 + random.below(20);
    const bool same = random.below(2) == 0;
    const CheckedView a = make(a_pitch);
    const CheckedView b = make(same ? a_pitch : 1 + random.below(20));
    std::vector<char> used(kBytes, 0);
    bool truth = false;
    for (std::size_t row = 0; row < a.rows; ++row) {
      for (std::size_t i = 0; i < a.row_bytes; ++i) used[a.offset + row * a.pitch + i] = 1;
    }
    for (std::size_t row = 0; row < b.rows; ++row) {
      for (std::size_t i = 0; i < b.row_bytes; ++i) {
        truth = truth || used[b.offset + row * b.pitch + i] == 1;
      }
    }
    ++(truth ? overlapping : disjoint);
    if (overlap(a, b) == truth && overlap(b, a) == truth) continue;
    if (++wrong == 1) {
      MESSAGE("a: offset ", a.offset, " pitch ", a.pitch, " row ", a.row_bytes, " rows ", a.rows,
              "; b: offset ", b.offset, " pitch ", b.pitch, " row ", b.row_bytes, " rows ", b.rows,
              "; share a byte: ", truth);
    }
  }
  CHECK(wrong == 0);
  CHECK(overlapping > 1000);
  CHECK(disjoint > 1000);
}

TEST_CASE("image views: format, size, context and access") {
  if (!runtime().info().images) {
    MESSAGE("SKIPPED: the device has no images");
    return;
  }
  const cl_image_format rgba32f{CL_RGBA, CL_FLOAT};
  const cl_image_format rgba8{CL_RGBA, CL_UNORM_INT8};
  const cl::Image2D image = create_image(runtime(), 8, 5, rgba32f);
  const auto attempt = [&](const ImageView& view, std::size_t width, std::size_t height,
                           std::initializer_list<cl_image_format> formats, Access access) {
    check_view(runtime(), view, width, height, formats, access, "operation", "argument");
  };
  CHECK_NOTHROW(attempt(image, 8, 5, {rgba32f}, Access::read));
  CHECK_NOTHROW(attempt(image, 8, 5, {rgba8, rgba32f}, Access::write));
  CHECK_NOTHROW(attempt({image, 7, 4}, 1, 1, {rgba32f}, Access::read));
  const auto image_refused = [&](const ImageView& view, std::size_t width, std::size_t height,
                                 std::initializer_list<cl_image_format> formats, Access access) {
    const Error error = error_of([&] { attempt(view, width, height, formats, access); });
    CHECK(error.code == Errc::invalid_argument);
    CHECK(error.where == "operation");
    CHECK(contains(error.what(), "argument"));
    return error;
  };
  CHECK(contains(image_refused(image, 9, 5, {rgba32f}, Access::read).what(), "9 x 5"));
  CHECK(contains(image_refused(image, 8, 6, {rgba32f}, Access::read).what(), "8 x 5"));
  image_refused({image, 1, 0}, 8, 5, {rgba32f}, Access::read);
  image_refused({image, 0, 1}, 8, 5, {rgba32f}, Access::read);
  image_refused({image, 9, 0}, 1, 1, {rgba32f}, Access::read);
  image_refused({image, kMax, 0}, 2, 1, {rgba32f}, Access::read);
  image_refused({image, 0, kMax}, 1, 2, {rgba32f}, Access::read);
  image_refused(image, kMax, 1, {rgba32f}, Access::read);
  const Error format = image_refused(image, 8, 5, {rgba8}, Access::read);
  CHECK(contains(format.what(),
                 "the image format CL_RGBA with CL_FLOAT; accepted are CL_RGBA with "
                 "CL_UNORM_INT8"));
  CHECK(contains(image_refused(image, 8, 5, {}, Access::read).what(), "none of three channels"));
  image_refused(cl::Image2D(), 1, 1, {rgba32f}, Access::read);
  const Runtime other = Runtime::pick();
  CHECK(contains(
      image_refused(create_image(other, 8, 5, rgba32f), 8, 5, {rgba32f}, Access::read).what(),
      "another context"));
  const cl::Image2D read_only = create_image(runtime(), 8, 5, rgba32f, CL_MEM_READ_ONLY);
  CHECK(contains(image_refused(read_only, 8, 5, {rgba32f}, Access::write).what(),
                 "CL_MEM_READ_ONLY"));
  const cl::Image2D write_only = create_image(runtime(), 8, 5, rgba32f, CL_MEM_WRITE_ONLY);
  CHECK(contains(image_refused(write_only, 8, 5, {rgba32f}, Access::read).what(),
                 "CL_MEM_WRITE_ONLY"));
  const cl::Buffer buffer = create_buffer(runtime(), 64);
  clRetainMemObject(buffer());
  CHECK(contains(image_refused(cl::Image2D(buffer()), 1, 1, {rgba32f}, Access::read).what(),
                 "2-D image"));
}
