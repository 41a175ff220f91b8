#include "measure/ceilings.hpp"

#include <algorithm>
#include <clcook/core/launch.hpp>
#include <vector>

#include "measure/measure.hpp"
#include "measure/statistics.hpp"

namespace clcook::tool {

namespace {

// On a GPU neighbouring work-items should access neighbouring addresses; PoCL is fastest with few
// work-items and long vectors.
constexpr const char* kSource = R"(
__kernel void clcook_fill(__global float4* out, uint seed) {
  const uint i = (uint)get_global_id(0);
  const uint4 h = ((uint4)(4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3) + seed) * 2654435761u;
  out[i] = convert_float4(h >> 8) * 0x1p-24f;
}
__kernel void clcook_copy_items(__global const float4* restrict in, __global float4* restrict out) {
  const size_t i = get_global_id(0);
  out[i] = in[i];
}
__kernel void clcook_copy_strips(__global const float16* restrict in, __global float16* restrict out, uint count) {
  const size_t begin = get_global_id(0) * (size_t)count;
  for (size_t i = begin; i < begin + count; ++i) {
#if defined(__has_builtin)
#if __has_builtin(__builtin_nontemporal_store)
#define CLCOOK_STREAM
#endif
#endif
#ifdef CLCOOK_STREAM
    __builtin_nontemporal_store(in[i], out + i);
#else
    out[i] = in[i];
#endif
  }
}
#if VECTOR == 16
typedef float16 number;
#else
typedef float number;
#endif
__kernel void clcook_fma(__global number* out, float a, float b, int rounds) {
  number s0 = (number)(a), s1 = s0 + 1.0f, s2 = s0 + 2.0f, s3 = s0 + 3.0f, s4 = s0 + 4.0f, s5 = s0 + 5.0f, s6 = s0 + 6.0f,
         s7 = s0 + 7.0f;
  const number m = (number)(b), c = (number)(a);
  for (int i = 0; i < rounds; ++i) {
#define STEP s0 = fma(s0, m, c); s1 = fma(s1, m, c); s2 = fma(s2, m, c); s3 = fma(s3, m, c); \
             s4 = fma(s4, m, c); s5 = fma(s5, m, c); s6 = fma(s6, m, c); s7 = fma(s7, m, c);
    STEP STEP STEP STEP STEP STEP STEP STEP
  }
  out[get_global_id(0)] = s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7;
}
__kernel void clcook_empty(__global int* out) {
  if (out == 0) out[0] = 1;
}
)";

}  // namespace

Ceilings measure_ceilings(const Runtime& base, bool quick) {
  EventTimer timer;
  const Runtime runtime = base.with_observer(timer.observer());
  const bool cpu = runtime.info().cpu;
  Defines defines;
  defines.set("VECTOR", cpu ? 16 : 1);
  const cl::Program program = runtime.build(Source("ceilings.cl", kSource), defines, "ceilings");
  const int runs = quick ? 3 : 11;
  const auto best_of = [&](const auto& call) {
    std::vector<double> seconds;
    for (int i = 0; i < runs + 2; ++i) {
      const double time = timer.time(call).sum;
      if (i >= 2) seconds.push_back(time);  // the first two warm up
    }
    return median(std::move(seconds));
  };

  Ceilings result;
  Kernel copy(runtime, program, cpu ? "clcook_copy_strips" : "clcook_copy_items");
  const auto copy_gbs = [&](std::size_t bytes) {
    const std::size_t items = bytes / 16;
    const cl::Buffer in = create_buffer(runtime, bytes);
    const cl::Buffer out = create_buffer(runtime, bytes);
    Kernel fill(runtime, program, "clcook_fill");
    fill(Launch::cover({items, 1, 1}, {64, 1, 1}), {}, in, cl_uint{1});
    fill(Launch::cover({items, 1, 1}, {64, 1, 1}), {}, out, cl_uint{2});
    check(clFinish(runtime.queue()()), "clFinish");
    const double seconds = best_of([&] {
      if (!cpu) return copy(Launch::cover({items, 1, 1}, {256, 1, 1}), {}, in, out);
      const cl_uint count = 1024;  // float16 per work-item: 64 KiB
      return copy(Launch::cover({bytes / 64 / count, 1, 1}, {1, 1, 1}), {}, in, out, count);
    });
    return 2.0 * static_cast<double>(bytes) / seconds * 1e-9;
  };
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  const std::size_t large = cpu ? 256 * kMiB : 1024 * kMiB;
  const std::size_t fits = static_cast<std::size_t>(runtime.info().max_allocation) / 2;
  result.copy_gbs =
      copy_gbs(quick ? 8 * kMiB : std::max(8 * kMiB, std::min(large, fits / kMiB * kMiB)));
  result.cached_copy_gbs = copy_gbs(cpu ? kMiB / 2 : 4 * kMiB);

  {
    // Enough work-items to fill any device; eight chains each hide the latency.
    const std::size_t items = cpu ? 64 : std::size_t{runtime.info().compute_units} * 2048;
    const int rounds = quick ? 64 : cpu ? 200000 : 4096;
    const cl::Buffer out = create_buffer(runtime, items * (cpu ? 64 : 4));
    Kernel fma(runtime, program, "clcook_fma");
    const double seconds = best_of([&] {
      return fma(Launch::cover({items, 1, 1}, {cpu ? std::size_t{1} : 256, 1, 1}), {}, out, 0.25f,
                 0.5f, cl_int{rounds});
    });
    result.fma_gops =
        2.0 * 64 * rounds * static_cast<double>(items) * (cpu ? 16 : 1) / seconds * 1e-9;
  }
  {
    const cl::Buffer out = create_buffer(runtime, 64);
    Kernel empty(runtime, program, "clcook_empty");
    result.launch_us = 1e6 * best_of([&] {
                         return empty(Launch::cover({64, 1, 1}, {64, 1, 1}), {}, out);
                       });
  }
  ClockProbe probe(base);
  std::vector<double> seconds;
  for (int i = 0; i < runs; ++i) seconds.push_back(probe.seconds());
  result.probe_us = 1e6 * median(std::move(seconds));
  return result;
}

}  // namespace clcook::tool
