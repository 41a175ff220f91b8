// Images of tests.
#pragma once

#include <cstddef>

#include "support/testing.hpp"

namespace clcook::testing {

inline cl::Image2D make_image(std::size_t width, std::size_t height, const cl_image_format& format,
                              const void* texels) {
  cl_image_desc desc{};
  desc.image_type = CL_MEM_OBJECT_IMAGE2D;
  desc.image_width = width;
  desc.image_height = height;
  cl_int status = CL_SUCCESS;
  cl::Image2D image(clCreateImage(runtime().context()(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                  &format, &desc, const_cast<void*>(texels), &status));
  check(status, "clCreateImage");
  return image;
}

// Reads a rectangle behind `wait`.
inline void read_image(const cl::Image2D& image, std::size_t x, std::size_t y, std::size_t width,
                       std::size_t height, void* to, const cl::Event& wait) {
  const std::size_t origin[3] = {x, y, 0};
  const std::size_t region[3] = {width, height, 1};
  const cl_event handle = wait();
  check(clEnqueueReadImage(runtime().queue()(), image(), CL_TRUE, origin, region, 0, 0, to, 1,
                           &handle, nullptr),
        "clEnqueueReadImage");
}

}  // namespace clcook::testing
