// A hundred thousand calls with changing problems, on the stub: handles and memory stay flat, and no
// call is slow without a reason.
#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include <clcook/bc6h_decode.hpp>
#include <clcook/core/rates.hpp>
#include <clcook/gaussian_blur.hpp>
#include <clcook/halo_tile.hpp>
#include <clcook/stream_compaction.hpp>

#include "stub/runtime.hpp"
#include "support/grid.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;

namespace {

constexpr int kMaxSize = 64;

std::size_t heap() { return mallinfo2().uordblks; }

// Processor time of this thread: what other programs take does not count.
double microseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e6 * static_cast<double>(now.tv_sec) + 1e-3 * static_cast<double>(now.tv_nsec);
}

// Calls call(i) many times. After a tenth of them everything that is made once is there; from then
// on nothing may grow.
void soak(const char* what, const Runtime& runtime, const std::function<void(int)>& call) {
  const int calls = short_grid() ? 5000 : 100000;
  const int warm = calls / 10;
  stub::Counts handles;
  std::size_t bytes = 0;
  std::vector<double> times;
  times.reserve(static_cast<std::size_t>(calls));
  for (int i = 0; i < calls; ++i) {
    if (i == warm) {
      check(clFinish(runtime.queue()()), "clFinish");
      handles = stub::alive();
      bytes = heap();
    }
    const double begin = microseconds();
    call(i);
    times.push_back(microseconds() - begin);
  }
  check(clFinish(runtime.queue()()), "clFinish");
  const stub::Counts after = stub::alive();
  CHECK_MESSAGE(after.memories <= handles.memories, what, ": ", handles.str(), " became ",
                after.str());
  CHECK(after.events <= handles.events + 1);
  CHECK(after.kernels == handles.kernels);
  CHECK(after.programs == handles.programs);
  CHECK(after.queues == handles.queues);
  CHECK(after.contexts == handles.contexts);
  // Buffers grow to the largest problem, a few of which come late.
  const std::size_t allowed = bytes + (256 << 10);
  CHECK_MESSAGE(heap() <= allowed, what, ": ", bytes, " bytes of the heap became ", heap());
  std::sort(times.begin(), times.end());
  const double median = times[times.size() / 2];
  // Of a thousand; the rest built a program, made a buffer larger, or met an interrupt.
  const double slow = times[times.size() - times.size() / 1000 - 1];
  const double usual = times[times.size() - times.size() / 100 - 1];
  CHECK_MESSAGE(usual <= 10 * median, what, ": one call in a hundred takes ", usual,
                " us, the median is ", median, " us");
  std::printf("%s: %d calls, median %.1f us, 99.9 %% below %.1f us, longest %.0f us, %s\n", what,
              calls, median, slow, times.back(), after.str().c_str());
}

struct Memory {
  explicit Memory(const Runtime& runtime)
      : src(create_buffer(runtime, kMaxSize * kMaxSize * 16)),
        dst(create_buffer(runtime, kMaxSize * kMaxSize * 16)),
        kept(create_buffer(runtime, 4)),
        image(stub::make_image(runtime, kMaxSize, kMaxSize, {CL_RGBA, CL_HALF_FLOAT})) {}
  cl::Buffer src;
  cl::Buffer dst;
  cl::Buffer kept;
  cl::Image2D image;
};

int size_of(int i) { return 4 + i % (kMaxSize - 3); }

}  // namespace

TEST_CASE("calls with changing problems leave nothing behind") {
  for (const bool out_of_order : {false, true}) {
    const stub::Counts before = stub::alive();
    {
      const Runtime runtime = stub::make_runtime(out_of_order);
      const Memory m(runtime);
      cl::Event last;
      const auto wait = [&] {
        return last() == nullptr ? std::vector<cl::Event>{} : std::vector<cl::Event>{last};
      };
      // naive has its weights in buffers, separable in arguments.
      for (const char* method : {"naive", "separable"}) {
        GaussianBlur blur(runtime, {kMaxSize, kMaxSize, 2, 2}, method);
        blur.build_for(5, 5);
        blur.build_for(12, 12);
        soak(method, runtime, [&](int i) {
          blur.set_sigma(0.5 + i % 37 * 0.5, 0.5 + i % 23 * 0.5);
          last = blur(m.src, m.dst, wait());
        });
      }
      const StreamCompaction compact(runtime, {kMaxSize, kMaxSize});
      soak("StreamCompaction", runtime,
           [&](int i) { last = compact(m.src, m.dst, m.kept, i % 60000, wait()); });
      // Each call of these is a plan of its own size, from programs that are built.
      soak("HaloTile", runtime, [&](int i) {
        HaloTile::Problem problem;
        problem.width = size_of(i);
        problem.height = size_of(i / 7);
        last = HaloTile(runtime, problem)(m.src, m.dst, wait());
      });
      soak("Bc6hDecode into an image", runtime, [&](int i) {
        last = Bc6hDecode(runtime, {size_of(i), size_of(i / 7)})(m.src, m.image, wait());
      });
    }
    CHECK(stub::alive() == before);
  }
}
