// Vectors to the device and back.
#pragma once

#include <clcook/core/runtime.hpp>
#include <cstddef>
#include <vector>

namespace clcook::example {

// A buffer for reading with the values of a vector.
template <class T>
cl::Buffer upload(const Runtime& runtime, const std::vector<T>& values) {
  return create_buffer(runtime, values.size() * sizeof(T), CL_MEM_READ_ONLY, values.data());
}

// Waits for `done` and returns the first `count` values of a buffer.
template <class T>
std::vector<T> read(const Runtime& runtime, const cl::Buffer& from, std::size_t count,
                    const cl::Event& done) {
  std::vector<T> out(count);
  if (count == 0) return out;
  const cl_event wait = done();
  check(clEnqueueReadBuffer(runtime.queue()(), from(), CL_TRUE, 0, count * sizeof(T), out.data(), 1,
                            &wait, nullptr),
        "clEnqueueReadBuffer");
  return out;
}

}  // namespace clcook::example
