// What both translation units do; UNIT is the name of the function.
#include <clcook/line_blur.hpp>
#include <string>
#include <vector>

#include "report.hpp"

namespace {

// The error that a wrong call ends with, as text that must be the same in both units.
template <class Body>
std::string outcome(const Body& body) {
  try {
    body();
    return "no error";
  } catch (const clcook::Error& error) {
    return std::string(clcook::to_string(error.code)) + " " + std::to_string(error.status) + " " +
           error.what();
  }
}

}  // namespace

Report UNIT() {
  Report report;
  const clcook::Runtime runtime = clcook::Runtime::pick();
  const clcook::LineBlur blur{runtime, {7, 3, 2.5, clcook::LineBlur::RadiusFraction(0.5)}};
  std::vector<float> picture(7 * 3 * 4);
  for (std::size_t i = 0; i < picture.size(); ++i) picture[i] = static_cast<float>(i * i % 31);
  const std::size_t bytes = picture.size() * sizeof(float);
  const cl::Buffer src = clcook::create_buffer(runtime, bytes, CL_MEM_READ_WRITE, picture.data());
  const cl::Buffer dst = clcook::create_buffer(runtime, bytes);
  const cl::Event done = blur(src, dst);
  const cl_event wait = done();
  report.pixels.resize(picture.size());
  clcook::check(clEnqueueReadBuffer(runtime.queue()(), dst(), CL_TRUE, 0, bytes,
                                    report.pixels.data(), 1, &wait, nullptr),
                "clEnqueueReadBuffer");

  const cl::Buffer small = clcook::create_buffer(runtime, 16);
  report.errors.push_back(outcome([&] { blur(src, small); }));
  report.errors.push_back(outcome([&] { blur(src, src); }));
  report.errors.push_back(outcome([&] { blur(cl::Buffer(), dst); }));
  report.errors.push_back(outcome([&] { clcook::Runtime{cl::CommandQueue()}; }));
  report.errors.push_back(outcome([&] { clcook::Runtime::pick("no such device"); }));
  report.errors.push_back(outcome([&] {
    runtime.build(clcook::Source("broken.cl", "__kernel void broken() { return nothing; }\n"),
                  clcook::Defines(), "consumer/broken");
  }));
  report.errors.push_back(outcome([&] { clcook::check(CL_INVALID_VALUE, "here"); }));
  return report;
}
