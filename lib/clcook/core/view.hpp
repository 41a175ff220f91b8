// Views of the user's buffers and images, and the checks that every operation makes before it
// enqueues.
//
//   const cl::Buffer memory = clcook::create_buffer(runtime, 4096);
//   const clcook::BufferView rows(memory, 256, 128);  // from byte 256 on, rows 128 bytes apart
//   const clcook::RowLayout layout{100, 30, 4};       // 30 rows of 100 bytes, aligned to 4
//   const clcook::CheckedView checked = clcook::check_view(
//       runtime, rows, layout, clcook::Access::read, "MyOperation", "rows");  // throws Error
#pragma once

#include <clcook/core/error.hpp>
#include <clcook/core/inline.hpp>
#include <clcook/core/runtime.hpp>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace clcook {

namespace detail {

// A handle of the C API as an object that retains its own reference. Null stays null; throws Error
// for an invalid handle.
template <class Object>
Object retained(cl_mem memory) {
  if (memory != nullptr) check(clRetainMemObject(memory), "clRetainMemObject");
  return Object(memory);
}

}  // namespace detail

// Rows in a buffer: row y begins at byte offset + y * pitch. A pitch of 0 means rows without gaps.
// A cl_mem stays the caller's: the view retains its own reference.
struct BufferView {
  BufferView(cl::Buffer memory, std::size_t byte_offset = 0, std::size_t byte_pitch = 0)
      : buffer(std::move(memory)), offset(byte_offset), pitch(byte_pitch) {}
  BufferView(cl_mem memory, std::size_t byte_offset = 0, std::size_t byte_pitch = 0)
      : BufferView(detail::retained<cl::Buffer>(memory), byte_offset, byte_pitch) {}

  cl::Buffer buffer;
  std::size_t offset;
  std::size_t pitch;
};

// A rectangle in a 2-D image that begins at texel (x, y). A cl_mem stays the caller's here too.
// Operations take both buffers and images, so say which it is: ImageView(memory).
struct ImageView {
  ImageView(cl::Image2D memory, std::size_t origin_x = 0, std::size_t origin_y = 0)
      : image(std::move(memory)), x(origin_x), y(origin_y) {}
  ImageView(cl_mem memory, std::size_t origin_x = 0, std::size_t origin_y = 0)
      : ImageView(detail::retained<cl::Image2D>(memory), origin_x, origin_y) {}

  cl::Image2D image;
  std::size_t x;
  std::size_t y;
};

enum class Access { read, write };

// What an operation needs of a view: `rows` rows of `row_bytes` bytes, with offset and pitch
// multiples of `alignment`.
struct RowLayout {
  std::size_t row_bytes;
  std::size_t rows;
  std::size_t alignment = 1;
};

// A checked buffer view: the same with its pitch resolved. Offsets are relative to `buffer`.
struct CheckedView {
  cl::Buffer buffer;
  std::size_t offset = 0;
  std::size_t pitch = 0;
  std::size_t row_bytes = 0;
  std::size_t rows = 0;

  // One past the last byte used.
  std::size_t end() const { return offset + (rows - 1) * pitch + row_bytes; }
};

namespace detail {

template <class T>
T mem_value(cl_mem memory, cl_mem_info name) {
  T value{};
  check(clGetMemObjectInfo(memory, name, sizeof value, &value, nullptr), "clGetMemObjectInfo");
  return value;
}

CLCOOK_INLINE void check_memory(const Runtime& runtime, cl_mem memory, cl_mem_object_type type,
                                const char* kind, Access access, const std::string& where,
                                const std::string& name);

}  // namespace detail

// Checks a buffer view against the layout that an operation needs. `where` names the operation,
// `name` the argument. Throws Error(invalid_argument) that names the rule and the values.
CLCOOK_INLINE CheckedView check_view(const Runtime& runtime, const BufferView& view,
                                     const RowLayout& layout, Access access,
                                     const std::string& where, const std::string& name);

// Whether two checked views share a byte. Sub-buffers of one buffer are compared where they really
// lie; rectangles side by side at the same pitch do not overlap.
CLCOOK_INLINE bool overlap(const CheckedView& a, const CheckedView& b);

// Throws Error(invalid_argument) when two views share a byte.
CLCOOK_INLINE void check_disjoint(const CheckedView& a, const CheckedView& b,
                                  const std::string& where, const std::string& a_name,
                                  const std::string& b_name);

// Rows in the memory of the host.
struct HostRows {
  const void* begin;
  std::size_t pitch;
  std::size_t row_bytes;
  std::size_t rows;
};

// The same for rows in host memory.
CLCOOK_INLINE void check_disjoint(const HostRows& a, const HostRows& b, const std::string& where,
                                  const std::string& a_name, const std::string& b_name);

// A view with the layout that an operation needs and the name that it has there.
struct NeededView {
  const BufferView& view;
  RowLayout layout;
  const char* name;
};

struct CheckedPair {
  CheckedView from;
  CheckedView to;
};

// Checks a view to read and a view to write, which must not share a byte.
CLCOOK_INLINE CheckedPair check_pair(const Runtime& runtime, const std::string& where,
                                     const NeededView& from, const NeededView& to);

// Checks an image view: context, access, format, and that width x height texels fit.
CLCOOK_INLINE void check_view(const Runtime& runtime, const ImageView& view, std::size_t width,
                              std::size_t height, const std::vector<cl_image_format>& formats,
                              Access access, const std::string& where, const std::string& name);

// The same of an image to read that has this size and format: its border is that of the picture.
CLCOOK_INLINE void check_image(const Runtime& runtime, const cl::Image2D& image, std::size_t width,
                               std::size_t height, const cl_image_format& format,
                               const std::string& where, const std::string& name);

// Why the device has no 2-D image of that size and format with those flags; empty where it has.
// `pixel` is the format's name.
CLCOOK_INLINE std::string why_no_image(const Runtime& runtime, std::size_t width,
                                       std::size_t height, const cl_image_format& format,
                                       cl_mem_flags flags, const std::string& pixel);

}  // namespace clcook

#if CLCOOK_DEFINITIONS
#include <clcook/core/impl/view.hpp>
#endif
