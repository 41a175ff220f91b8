// A program of somebody else: blurs one bright pixel on a queue of its own and checks the weights.
#ifdef CLCOOK_SINGLE_HEADER
#include "clcook.hpp"
#else
#include <clcook/line_blur.hpp>
#endif

#include <cmath>
#include <cstdio>
#include <exception>
#include <vector>

// The name of main() where it is a part of a larger program.
#ifndef CONSUMER_MAIN
#define CONSUMER_MAIN main
#endif
int CONSUMER_MAIN();

int CONSUMER_MAIN() {
  try {
    const clcook::Runtime runtime = clcook::Runtime::pick();
    const std::size_t width = 5;
    std::vector<cl_float4> picture(width, cl_float4{{0, 0, 0, 1}});
    picture[2] = cl_float4{{1, 2, 4, 1}};
    const std::size_t bytes = width * sizeof(cl_float4);
    const cl::Buffer src = clcook::create_buffer(runtime, bytes, CL_MEM_READ_WRITE, picture.data());
    const cl::Buffer dst = clcook::create_buffer(runtime, bytes);

    const clcook::LineBlur blur{runtime, {5, 1, 1.0, clcook::LineBlur::RadiusFraction(0.5)}};
    const cl::Event done = blur(src, dst);
    const cl_event wait = done();
    clcook::check(clEnqueueReadBuffer(runtime.queue()(), dst(), CL_TRUE, 0, bytes, picture.data(),
                                      1, &wait, nullptr),
                  "clEnqueueReadBuffer");

    const double side = std::exp(-2.0);  // exp(-(1 / 1)^2 / (2 * 0.5^2))
    const double sum = 1 + 2 * side;
    const double expected[] = {0, side / sum, 1 / sum, side / sum, 0};
    for (std::size_t x = 0; x < width; ++x) {
      for (int c = 0; c < 3; ++c) {
        const double want = expected[x] * (1 << c);
        const double got = static_cast<double>(picture[x].s[c]);
        if (!(std::abs(got - want) < 1e-5)) {
          std::printf("pixel %zu, channel %d: expected %g, got %g\n", x, c, want, got);
          return 1;
        }
      }
    }
    std::printf("blurred on %s\n", runtime.info().name.c_str());
    return 0;
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}
