// A picture in an image, for the cases of variants that read one.
#pragma once

#include <clcook/core/launch.hpp>
#include <clcook/core/runtime.hpp>
#include <clcook/core/view.hpp>
#include <cstddef>
#include <optional>
#include <vector>

namespace clcook {

class SourceImage {
 public:
  SourceImage() = default;
  // Null where the device has no such image: prepare() of a variant that reads one throws then.
  SourceImage(const Runtime& runtime, const cl_image_format& format, int width, int height)
      : runtime_(runtime),
        region_{static_cast<std::size_t>(width), static_cast<std::size_t>(height), 1} {
    if (!why_no_image(runtime, region_[0], region_[1], format, CL_MEM_READ_ONLY, "").empty())
      return;
    cl_image_desc desc{};
    desc.image_type = CL_MEM_OBJECT_IMAGE2D;
    desc.image_width = region_[0];
    desc.image_height = region_[1];
    cl_int status = CL_SUCCESS;
    image_ = cl::Image2D(
        clCreateImage(runtime.context()(), CL_MEM_READ_ONLY, &format, &desc, nullptr, &status));
  }

  bool is_null() const { return image_() == nullptr; }
  const cl::Image2D& image() const { return image_; }

  // Enqueues a write of rows without gaps, which stay where they are.
  cl::Event upload(const void* rows, const std::vector<cl::Event>& wait) const {
    return write(rows, wait, CL_FALSE);
  }

  // Fills it with a byte.
  void poison(std::size_t bytes, unsigned char byte) const {
    const std::vector<unsigned char> pattern(bytes, byte);
    write(pattern.data(), {}, CL_TRUE);
  }

 private:
  cl::Event write(const void* rows, const std::vector<cl::Event>& wait, cl_bool blocking) const {
    const std::size_t origin[3] = {0, 0, 0};
    const WaitHandles waits(wait);
    cl_event done = nullptr;
    check(clEnqueueWriteImage(runtime_->queue()(), image_(), blocking, origin, region_, 0, 0, rows,
                              waits.count(), waits.data(), &done),
          "clEnqueueWriteImage");
    return cl::Event(done);
  }

  std::optional<Runtime> runtime_;
  std::size_t region_[3] = {0, 0, 1};
  cl::Image2D image_;
};

}  // namespace clcook
