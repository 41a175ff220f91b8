// Images for operations that work on buffers: the texels go through two buffers of the plan.
#pragma once

#include <clcook/core/call_order.hpp>
#include <clcook/core/error.hpp>
#include <clcook/core/launch.hpp>
#include <clcook/core/runtime.hpp>
#include <clcook/core/view.hpp>
#include <cstddef>
#include <string>
#include <vector>

namespace clcook {

// The rectangle that an operation reads of an image and writes to another.
struct ImageLayout {
  std::size_t width = 0;  // texels
  std::size_t height = 0;
  std::size_t texel_bytes = 0;
  std::vector<cl_image_format> formats;  // that it takes
};

// The two buffers, made at the first call and for one layout.
class ImageStaging {
 public:
  // Checks both rectangles, which may overlap, and `wait`. Then enqueues three steps as one call of
  // `order`: it copies src's rectangle into a buffer, calls `enqueue(scope, from, to, wait)` with
  // the call's CallScope and the CheckedViews of the two buffers, and copies the other buffer into
  // dst's rectangle. `enqueue` returns its last event, and so does this function. Throws
  // Error(invalid_argument) that names the operation `where`.
  template <class Enqueue>
  cl::Event run(const Runtime& runtime, const ImageLayout& layout, const ImageView& src,
                const ImageView& dst, const std::vector<cl::Event>& wait, CallOrder& order,
                const std::string& where, const Enqueue& enqueue) {
    check_view(runtime, src, layout.width, layout.height, layout.formats, Access::read, where,
               "src");
    check_view(runtime, dst, layout.width, layout.height, layout.formats, Access::write, where,
               "dst");
    const cl_image_format read = format_of(src.image());
    const cl_image_format written = format_of(dst.image());
    if (read.image_channel_order != written.image_channel_order) {
      fail(Errc::invalid_argument, where,
           text("src and dst must have their channels in one order, got ", image_format_name(read),
                " and ", image_format_name(written)));
    }
    check_wait(runtime, wait, where);
    CallScope scope(runtime, order);
    const std::size_t row = layout.width * layout.texel_bytes;
    if (from_() == nullptr) {
      cl::Buffer from = create_buffer(runtime, row * layout.height);
      to_ = create_buffer(runtime, row * layout.height);
      from_ = from;
    }
    const std::size_t region[3] = {layout.width, layout.height, 1};
    const std::size_t from_origin[3] = {src.x, src.y, 0};
    const std::size_t to_origin[3] = {dst.x, dst.y, 0};
    const WaitHandles waits(scope.wait_list(wait));
    cl_event copied = nullptr;
    check(clEnqueueCopyImageToBuffer(runtime.queue()(), src.image(), from_(), from_origin, region,
                                     0, waits.count(), waits.data(), &copied),
          "clEnqueueCopyImageToBuffer");
    const cl::Event loaded(copied);
    scope.enqueued(loaded);
    const cl::Event made =
        enqueue(scope, CheckedView{from_, 0, row, row, layout.height},
                CheckedView{to_, 0, row, row, layout.height}, std::vector<cl::Event>{loaded});
    const cl_event done = made();
    cl_event stored = nullptr;
    check(clEnqueueCopyBufferToImage(runtime.queue()(), to_(), dst.image(), 0, to_origin, region, 1,
                                     &done, &stored),
          "clEnqueueCopyBufferToImage");
    scope.enqueued(cl::Event(stored));
    return scope.end();
  }

 private:
  static cl_image_format format_of(cl_mem image) {
    cl_image_format out{};
    check(clGetImageInfo(image, CL_IMAGE_FORMAT, sizeof out, &out, nullptr), "clGetImageInfo");
    return out;
  }

  cl::Buffer from_;
  cl::Buffer to_;
};

}  // namespace clcook
