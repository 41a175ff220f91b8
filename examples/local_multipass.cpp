// Doubles a few numbers on the default device.
//
//   local_multipass
//
// test:

#include <clcook/local_multipass.hpp>
#include <cstdio>
#include <exception>
#include <vector>

int main() {
  try {
    const clcook::Runtime runtime = clcook::Runtime::pick();
    std::vector<float> numbers{1, 2, 3, 4, 5};
    const std::size_t bytes = numbers.size() * sizeof(float);
    const cl::Buffer x = clcook::create_buffer(runtime, bytes, CL_MEM_READ_ONLY, numbers.data());
    const cl::Buffer y = clcook::create_buffer(runtime, bytes);

    const clcook::LocalMultipass scale{runtime, {numbers.size()}};
    const cl::Event done = scale(x, y, 2.0f);

    const cl_event wait = done();
    clcook::check(clEnqueueReadBuffer(runtime.queue()(), y(), CL_TRUE, 0, bytes, numbers.data(), 1,
                                      &wait, nullptr),
                  "clEnqueueReadBuffer");
    for (const float number : numbers) std::printf("%g\n", static_cast<double>(number));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
