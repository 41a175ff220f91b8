// The definitions of clcook/core/rates.hpp.
#pragma once

#include <algorithm>
#include <clcook/core/math.hpp>
#include <clcook/core/rates.hpp>
#include <mutex>
#include <utility>
#include <vector>

namespace clcook {

CLCOOK_INLINE double microseconds(const Rates& rates, const Work& work) {
  return (work.bytes_read + work.bytes_written) / rates.bytes + work.operations / rates.operations +
         work.launches * rates.launch;
}

CLCOOK_INLINE Params to_params(const Rates& rates) {
  return Params{{"bytes", rates.bytes}, {"operations", rates.operations}, {"launch", rates.launch}};
}

CLCOOK_INLINE std::optional<Rates> rates_of(const std::string& tune) {
  try {
    const Params params = Params::parse(tune);
    const Rates out{params.real("bytes"), params.real("operations"), params.real("launch")};
    const auto good = [](double value) { return math::isfinite(value) && value > 0; };
    if (good(out.bytes) && good(out.operations) && good(out.launch)) return out;
  } catch (const Error&) {
  }
  return std::nullopt;
}

}  // namespace clcook

namespace clcook::detail {

CLCOOK_INLINE double span(const cl::Event& first, const cl::Event& last) {
  const auto stamp = [](const cl::Event& event, cl_profiling_info what) {
    cl_ulong value = 0;
    check(clGetEventProfilingInfo(event(), what, sizeof value, &value, nullptr),
          "clGetEventProfilingInfo");
    return value;
  };
  const cl_ulong begin = stamp(first, CL_PROFILING_COMMAND_START);
  const cl_ulong end = stamp(last, CL_PROFILING_COMMAND_END);
  return end > begin ? static_cast<double>(end - begin) * 1e-9 : 0;
}

}  // namespace clcook::detail

namespace clcook {

CLCOOK_INLINE Rates measure_rates(const Runtime& runtime) {
  cl_int status = CL_SUCCESS;
  const cl::CommandQueue queue(detail::create_queue(runtime.context()(), runtime.device()(),
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
    const double seconds = detail::span(done, done);
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
    const double seconds = detail::span(done, done);
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
    const double each = 1e6 * detail::span(done.front(), done.back()) / kKernels;
    if (round == 0 || each < out.launch) out.launch = each;
  }
  if (!(out.bytes > 0 && out.operations > 0 && out.launch > 0))
    fail(Errc::opencl, "measure_rates", "the device's event timestamps do not advance");
  return out;
}

CLCOOK_INLINE Rates device_rates(const Runtime& runtime) {
  static std::mutex mutex;
  static std::vector<std::pair<cl_device_id, Rates>> known;
  const std::lock_guard<std::mutex> lock(mutex);
  for (const auto& [device, rates] : known) {
    if (device == runtime.device()()) return rates;
  }

  const TuningChoice measured = runtime.tuning().choose(runtime.info(), kRatesRecipe, 1);
  std::optional<Rates> rates;
  if (measured.match == TuningChoice::Match::exact) rates = rates_of(measured.entry.tune);
  const DiskCache& disk = runtime.cache().disk();
  const std::string key =
      ProgramCache::make_key(runtime.info(), "what the device does per microsecond", "");
  if (!rates) {
    if (const auto stored = disk.load(key)) rates = rates_of(*stored);
  }
  if (!rates) {
    try {
      rates = measure_rates(runtime);
      disk.store(key, to_params(*rates).str());
    } catch (const std::exception&) {  // a device that cannot is compared by another's rates
    }
  }
  if (!rates) rates = rates_of(measured.entry.tune);
  if (!rates) rates = Rates{1, 1, 1};
  known.emplace_back(runtime.device()(), *rates);
  return *rates;
}

}  // namespace clcook
