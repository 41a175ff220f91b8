// Blurs one bright pixel; the sum stays, the pixel does not.
#include <clcook/gaussian_blur.hpp>
#include <cmath>
#include <cstdio>
#include <exception>
#include <vector>

#if defined(EXPECT_COMPILED) && (!defined(CLCOOK_COMPILED) || CLCOOK_DEFINITIONS)
#error "clcook::clcook does not say that the definitions are elsewhere"
#endif

// The name of main() where it is a part of a larger program.
#ifndef CONSUMER_MAIN
#define CONSUMER_MAIN main
#endif
int CONSUMER_MAIN();

int CONSUMER_MAIN() {
  try {
    const clcook::Runtime runtime = clcook::Runtime::pick();
    const int size = 33;
    std::vector<float> picture(4 * size * size, 0.0f);
    picture[4 * (16 * size + 16)] = 1;
    const std::size_t bytes = picture.size() * sizeof(float);
    const cl::Buffer src = clcook::create_buffer(runtime, bytes, CL_MEM_READ_WRITE, picture.data());
    const cl::Buffer dst = clcook::create_buffer(runtime, bytes);
    const clcook::GaussianBlur blur{runtime, {size, size, 2.0, 2.0}};
    const cl::Event done = blur(src, dst);
    const cl_event wait = done();
    clcook::check(clEnqueueReadBuffer(runtime.queue()(), dst(), CL_TRUE, 0, bytes, picture.data(),
                                      1, &wait, nullptr),
                  "clEnqueueReadBuffer");
    double sum = 0;
    for (const float value : picture) sum += static_cast<double>(value);
    const double middle = static_cast<double>(picture[4 * (16 * size + 16)]);
    // The middle weight is about 1 / (2 pi sigma^2) = 0.0398.
    const bool good = std::abs(sum - 1) < 1e-5 && std::abs(middle - 0.0398) < 1e-3;
    std::printf("%s: sum %g, middle %g\n", blur.describe().c_str(), sum, middle);
    return good ? 0 : 1;
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}
