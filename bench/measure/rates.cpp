#include "measure/rates.hpp"

#include <algorithm>
#include <vector>

#include <clcook/core/launch.hpp>

#include "measure/measure.hpp"

namespace clcook::tool {

namespace {

// Seconds from the start of the first to the end of the last.
double span(const cl::Event& first, const cl::Event& last) {
  const cl_ulong begin = stamps_of(first).start;
  const cl_ulong end = stamps_of(last).end;
  return end > begin ? static_cast<double>(end - begin) * 1e-9 : 0;
}

}  // namespace

Rates measure_rates(const Runtime& runtime) {
  cl_int status = CL_SUCCESS;
  const cl::CommandQueue queue(clcook::detail::create_queue(runtime.context()(), runtime.device()(),
                                                            CL_QUEUE_PROFILING_ENABLE, &status));
  check(status, "clCreateCommandQueue");
  const Runtime probe = runtime.with_queue(queue).with_observer({});
  const Source source("rates.cl", R"(
__kernel void rates_nothing(__global float* p) {
  if (get_global_id(0) == 0) p[0] = 1.0f;
}
__kernel void rates_operations(__global float* p, float m, int turns) {
  float16 a = (float16)(get_global_id(0));
  float16 b = a + 1.0f, c = a + 2.0f, d = a + 3.0f;
  for (int i = 0; i < turns; ++i) {
    a = mad(a, m, 1.0f);
    b = mad(b, m, 1.0f);
    c = mad(c, m, 1.0f);
    d = mad(d, m, 1.0f);
  }
  vstore16(a + b + c + d, get_global_id(0), p);  // or a compiler leaves out what no one reads
}
)");
  const cl::Program program = runtime.build(source, {}, "rates");
  constexpr int kRounds = 3;
  Rates out;
  const auto finish = [&] { check(clFinish(queue()), "clFinish"); };

  // Larger than the caches, where the device has the memory.
  const std::size_t bytes =
      std::min<std::size_t>(runtime.info().cpu ? 32u << 20 : 256u << 20,
                            static_cast<std::size_t>(std::min<cl_ulong>(
                                runtime.info().max_allocation, runtime.info().global_mem / 8)));
  const cl::Buffer from = create_buffer(probe, bytes);
  const cl::Buffer to = create_buffer(probe, bytes);
  const float zero = 0;
  check(clEnqueueFillBuffer(queue(), from(), &zero, sizeof zero, 0, bytes / 4 * 4, 0, nullptr,
                            nullptr),
        "clEnqueueFillBuffer");
  for (int round = 0; round < kRounds; ++round) {
    cl_event event = nullptr;
    check(clEnqueueCopyBuffer(queue(), from(), to(), 0, 0, bytes, 0, nullptr, &event),
          "clEnqueueCopyBuffer");
    const cl::Event done(event);
    finish();
    const double seconds = span(done, done);
    if (seconds > 0)
      out.bytes = std::max(out.bytes, 2 * static_cast<double>(bytes) / (seconds * 1e6));
  }

  // 16 work-items per lane of a wide device; longer until it takes a millisecond.
  Kernel operations(probe, program, "rates_operations");
  const std::size_t group = std::min<std::size_t>(64, operations.max_group());
  const std::size_t most = bytes / (group * sizeof(cl_float16));  // that `to` takes
  const std::size_t groups = std::clamp<std::size_t>(
      std::size_t{runtime.info().compute_units} * (runtime.info().cpu ? 1 : 32), 1, most);
  int turns = 32;
  for (int round = 0; round < kRounds;) {
    const cl::Event done = operations(Launch::groups({groups, 1, 1}, {group, 1, 1}), {}, to,
                                      cl_float{0.5f}, cl_int{turns});
    finish();
    const double seconds = span(done, done);
    if (seconds < 1e-3 && turns < 1 << 20) {
      turns *= 4;
      continue;
    }
    ++round;
    const double count = 128.0 * turns * static_cast<double>(groups) * static_cast<double>(group);
    if (seconds > 0) out.operations = std::max(out.operations, count / (seconds * 1e6));
  }

  Kernel nothing(probe, program, "rates_nothing");
  constexpr int kKernels = 20;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<cl::Event> done;
    for (int i = 0; i < kKernels; ++i)
      done.push_back(nothing(Launch::groups({1, 1, 1}, {1, 1, 1}), {}, to));
    finish();
    const double each = 1e6 * span(done.front(), done.back()) / kKernels;
    if (round == 0 || each < out.launch) out.launch = each;
  }
  if (!(out.bytes > 0 && out.operations > 0 && out.launch > 0))
    fail(Errc::opencl, "measure_rates", "the device's event timestamps do not advance");
  return out;
}

}  // namespace clcook::tool
