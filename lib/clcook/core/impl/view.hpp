// The definitions of clcook/core/view.hpp.
#pragma once

#include <clcook/core/impl/runtime.hpp>
#include <clcook/core/view.hpp>
#include <cstdint>

namespace clcook::detail {

CLCOOK_INLINE void check_memory(const Runtime& runtime, cl_mem memory, cl_mem_object_type type,
                                const char* kind, Access access, const std::string& where,
                                const std::string& name) {
  if (memory == nullptr) fail(Errc::invalid_argument, where, name + " is null");
  if (mem_value<cl_mem_object_type>(memory, CL_MEM_TYPE) != type) {
    fail(Errc::invalid_argument, where, name + " is not a " + kind);
  }
  if (mem_value<cl_context>(memory, CL_MEM_CONTEXT) != runtime.context()()) {
    fail(Errc::invalid_argument, where,
         name + " belongs to another context than the runtime's queue");
  }
  const auto flags = mem_value<cl_mem_flags>(memory, CL_MEM_FLAGS);
  if (access == Access::write && (flags & CL_MEM_READ_ONLY) != 0) {
    fail(Errc::invalid_argument, where,
         name + " was created with CL_MEM_READ_ONLY and would be written");
  }
  if (access == Access::read && (flags & CL_MEM_WRITE_ONLY) != 0) {
    fail(Errc::invalid_argument, where,
         name + " was created with CL_MEM_WRITE_ONLY and would be read");
  }
}

// Of rows that begin at these bytes of one memory.
CLCOOK_INLINE bool rows_overlap(const CheckedView& a, std::size_t a_begin, const CheckedView& b,
                                std::size_t b_begin) {
  const std::size_t a_end = a_begin + (a.rows - 1) * a.pitch + a.row_bytes;
  const std::size_t b_end = b_begin + (b.rows - 1) * b.pitch + b.row_bytes;
  if (a_end <= b_begin || b_end <= a_begin) return false;
  if (a.pitch == b.pitch) {
    // b's first column, seen from a's.
    const std::size_t shift = (b_begin % a.pitch + a.pitch - a_begin % a.pitch) % a.pitch;
    return !(shift >= a.row_bytes && shift + b.row_bytes <= a.pitch);
  }
  // Each row of the view with fewer rows against the first row of the other that ends behind its
  // begin.
  const bool a_is_few = a.rows < b.rows;
  const CheckedView& few = a_is_few ? a : b;
  const CheckedView& many = a_is_few ? b : a;
  const std::size_t few_begin = a_is_few ? a_begin : b_begin;
  const std::size_t many_begin = a_is_few ? b_begin : a_begin;
  for (std::size_t row = 0; row < few.rows; ++row) {
    const std::size_t begin = few_begin + row * few.pitch;
    const std::size_t first_end = many_begin + many.row_bytes;
    const std::size_t other = begin < first_end ? 0 : (begin - first_end) / many.pitch + 1;
    if (other < many.rows && many_begin + other * many.pitch < begin + few.row_bytes) return true;
  }
  return false;
}

}  // namespace clcook::detail

namespace clcook {

CLCOOK_INLINE CheckedView check_view(const Runtime& runtime, const BufferView& view,
                                     const RowLayout& layout, Access access,
                                     const std::string& where, const std::string& name) {
  detail::check_memory(runtime, view.buffer(), CL_MEM_OBJECT_BUFFER, "buffer", access, where, name);
  CheckedView checked;
  checked.buffer = view.buffer;
  checked.offset = view.offset;
  checked.pitch = view.pitch == 0 ? layout.row_bytes : view.pitch;
  checked.row_bytes = layout.row_bytes;
  checked.rows = layout.rows;
  if (layout.row_bytes == 0 || layout.rows == 0) {
    fail(Errc::invalid_argument, where,
         text(name, " has ", layout.rows, " rows of ", layout.row_bytes,
              " bytes; both must be at least 1"));
  }
  if (checked.pitch < layout.row_bytes) {
    fail(Errc::invalid_argument, where,
         text(name, ": the pitch of ", checked.pitch, " bytes is less than a row of ",
              layout.row_bytes, " bytes"));
  }
  if (checked.offset % layout.alignment != 0 || checked.pitch % layout.alignment != 0) {
    fail(Errc::invalid_argument, where,
         text(name, ": offset ", checked.offset, " and pitch ", checked.pitch,
              " must be multiples of ", layout.alignment, " bytes"));
  }
  constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max();
  if (checked.pitch > (kMax - layout.row_bytes) / layout.rows ||
      checked.offset > kMax - layout.row_bytes - checked.pitch * (layout.rows - 1)) {
    fail(Errc::invalid_argument, where,
         text(name, ": offset ", checked.offset, " and ", layout.rows, " rows of pitch ",
              checked.pitch, " overflow the address range"));
  }
  const auto size = detail::mem_value<std::size_t>(view.buffer(), CL_MEM_SIZE);
  if (checked.end() > size) {
    fail(Errc::invalid_argument, where,
         text(name, " has ", size, " bytes, needs ", checked.end(), " (offset ", checked.offset,
              ", ", layout.rows, " rows of ", layout.row_bytes, " bytes at a pitch of ",
              checked.pitch, ")"));
  }
  return checked;
}

CLCOOK_INLINE bool overlap(const CheckedView& a, const CheckedView& b) {
  std::size_t a_begin = a.offset;
  std::size_t b_begin = b.offset;
  const auto root = [](const cl::Buffer& buffer, std::size_t& offset) {
    const auto parent = detail::mem_value<cl_mem>(buffer(), CL_MEM_ASSOCIATED_MEMOBJECT);
    if (parent == nullptr) return buffer();
    offset += detail::mem_value<std::size_t>(buffer(), CL_MEM_OFFSET);
    return parent;
  };
  return root(a.buffer, a_begin) == root(b.buffer, b_begin) &&
         detail::rows_overlap(a, a_begin, b, b_begin);
}

CLCOOK_INLINE void check_disjoint(const CheckedView& a, const CheckedView& b,
                                  const std::string& where, const std::string& a_name,
                                  const std::string& b_name) {
  if (!overlap(a, b)) return;
  fail(Errc::invalid_argument, where,
       text(a_name, " (bytes ", a.offset, " to ", a.end(), ") and ", b_name, " (bytes ", b.offset,
            " to ", b.end(), ") overlap in one buffer; the operation does not work in place"));
}

CLCOOK_INLINE void check_disjoint(const HostRows& a, const HostRows& b, const std::string& where,
                                  const std::string& a_name, const std::string& b_name) {
  const auto view = [](const HostRows& rows) {
    return CheckedView{{}, 0, rows.pitch, rows.row_bytes, rows.rows};
  };
  if (!detail::rows_overlap(view(a), reinterpret_cast<std::uintptr_t>(a.begin), view(b),
                            reinterpret_cast<std::uintptr_t>(b.begin)))
    return;
  fail(Errc::invalid_argument, where, a_name + " and " + b_name + " overlap in the host's memory");
}

CLCOOK_INLINE CheckedPair check_pair(const Runtime& runtime, const std::string& where,
                                     const NeededView& from, const NeededView& to) {
  CheckedPair out{check_view(runtime, from.view, from.layout, Access::read, where, from.name),
                  check_view(runtime, to.view, to.layout, Access::write, where, to.name)};
  check_disjoint(out.from, out.to, where, from.name, to.name);
  return out;
}

CLCOOK_INLINE void check_view(const Runtime& runtime, const ImageView& view, std::size_t width,
                              std::size_t height, const std::vector<cl_image_format>& formats,
                              Access access, const std::string& where, const std::string& name) {
  detail::check_memory(runtime, view.image(), CL_MEM_OBJECT_IMAGE2D, "2-D image", access, where,
                       name);
  const auto value = [&](cl_image_info what, auto out) {
    check(clGetImageInfo(view.image(), what, sizeof out, &out, nullptr), "clGetImageInfo");
    return out;
  };
  const cl_image_format format = value(CL_IMAGE_FORMAT, cl_image_format{});
  if (formats.empty()) {
    fail(Errc::invalid_argument, where,
         name +
             " is an image, and OpenCL has none of three channels; buffers have pixels of three, "
             "images of four");
  }
  if (!detail::has_format(formats, format)) {
    std::string wanted;
    for (const cl_image_format& one : formats)
      wanted += (wanted.empty() ? "" : ", ") + image_format_name(one);
    fail(Errc::invalid_argument, where,
         text(name, " has the image format ", image_format_name(format), "; accepted are ") +
             wanted);
  }
  const std::size_t image_width = value(CL_IMAGE_WIDTH, std::size_t{0});
  const std::size_t image_height = value(CL_IMAGE_HEIGHT, std::size_t{0});
  if (view.x > image_width || width > image_width - view.x || view.y > image_height ||
      height > image_height - view.y) {
    fail(Errc::invalid_argument, where,
         text(name, ": ", width, " x ", height, " texels at (", view.x, ", ", view.y,
              ") do not fit an image of ", image_width, " x ", image_height));
  }
}

CLCOOK_INLINE void check_image(const Runtime& runtime, const cl::Image2D& image, std::size_t width,
                               std::size_t height, const cl_image_format& format,
                               const std::string& where, const std::string& name) {
  check_view(runtime, ImageView(image), width, height, {format}, Access::read, where, name);
  const auto size = [&](cl_image_info what) {
    std::size_t value = 0;
    check(clGetImageInfo(image(), what, sizeof value, &value, nullptr), "clGetImageInfo");
    return value;
  };
  if (size(CL_IMAGE_WIDTH) != width || size(CL_IMAGE_HEIGHT) != height) {
    fail(Errc::invalid_argument, where,
         text(name, " is an image of ", size(CL_IMAGE_WIDTH), " x ", size(CL_IMAGE_HEIGHT),
              ", the problem has ", width, " x ", height, "; they must be equal"));
  }
}

CLCOOK_INLINE std::string why_no_image(const Runtime& runtime, std::size_t width,
                                       std::size_t height, const cl_image_format& format,
                                       cl_mem_flags flags, const std::string& pixel) {
  const DeviceInfo& info = runtime.info();
  if (!info.images) return "the device has no images";
  if (!has_image_format(runtime, CL_MEM_OBJECT_IMAGE2D, format, flags))
    return "the device has no 2-D images of pixels " + pixel;
  if (width > info.image_width || height > info.image_height) {
    return text("an image of ", width, " x ", height, " exceeds the device's limit of ",
                info.image_width, " x ", info.image_height);
  }
  return "";
}

}  // namespace clcook
