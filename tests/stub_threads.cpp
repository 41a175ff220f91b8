// Sixteen threads on one Runtime, on the stub: from cold caches, on shared plans and on copies. The
// lane `tsan` runs it under ThreadSanitizer, which sees all of the code, as it does not with a
// driver.
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include <clcook/clcook.hpp>

#include "stub/runtime.hpp"
#include "support/grid.hpp"
#include "support/testing.hpp"
#include "support/threads.hpp"

using namespace clcook;
using namespace clcook::testing;

namespace {

constexpr int kSize = 64;

struct Memory {
  explicit Memory(const Runtime& runtime)
      : src(create_buffer(runtime, kSize * kSize * 16)),
        dst(create_buffer(runtime, kSize * kSize * 16)),
        kept(create_buffer(runtime, 4)),
        image(stub::make_image(runtime, kSize, kSize, {CL_RGBA, CL_HALF_FLOAT})),
        floats(stub::make_image(runtime, kSize, kSize, {CL_RGBA, CL_FLOAT})) {}
  cl::Buffer src;
  cl::Buffer dst;
  cl::Buffer kept;
  cl::Image2D image;
  cl::Image2D floats;
};

constexpr LineBlur::RadiusFraction kSigma(0.5);

// Plans of several operations, made and called.
void plan_and_call(const Runtime& runtime, const Memory& m, int which) {
  switch (which % 8) {
    case 0: {
      const GaussianBlur blur(runtime, {kSize, kSize, 2, 2});
      blur(m.src, m.dst);
      blur(m.floats, m.floats);
      break;
    }
    case 1: {
      GaussianBlur blur(runtime, {kSize, kSize, 20, 20});
      blur(m.src, m.dst);
      blur.build_for(2, 2);
      blur.set_sigma(2, 2);
      blur(m.src, m.dst);
      break;
    }
    case 2: {
      const LineBlur blur(runtime, {kSize, kSize, 5, kSigma, LineBlur::Pixel::rgba32f});
      blur(m.src, m.dst);
      blur(m.floats, m.floats);
      break;
    }
    case 3: {
      const StreamCompaction compact(runtime, {kSize, kSize});
      compact(m.src, m.dst, m.kept, 100);
      break;
    }
    case 4: {
      const Bc6hDecode decode(runtime, {kSize, kSize});
      decode(m.src, m.dst);
      decode(m.src, m.image);
      break;
    }
    case 5: {
      HaloTile::Problem problem;
      problem.width = problem.height = kSize;
      const HaloTile halo(runtime, problem);
      halo(m.src, m.dst);
      break;
    }
    case 6: {
      const Bc6hMode mode(runtime, {kSize});
      mode(m.src, m.dst);
      break;
    }
    default: {
      const LocalMultipass solve(runtime, {4, 3, LocalMultipass::Island::cloth(4, 4, 0.1f)});
      solve(m.src, m.dst);
      break;
    }
  }
}

int rounds() { return short_grid() ? 2 : 4; }

// A device whose rates nobody knows; what measures them takes little memory.
void use_new_device() {
  stub::Device device;
  device.global_memory = 1 << 30;
  device.max_allocation = 1 << 20;
  stub::set_device(device);
}

}  // namespace

TEST_CASE("plans from cold caches, all of them on one runtime") {
  const stub::Counts before = stub::alive();
  for (int round = 0; round < rounds(); ++round) {
    for (const bool out_of_order : {false, true}) {
      use_new_device();
      const TempFolder folder;
      const DiskCache disk((folder / "cache").string());
      // The second runtime finds on disk what the first stored.
      for (int pass = 0; pass < 2; ++pass) {
        const Runtime runtime = stub::make_runtime(out_of_order, disk);
        in_threads([&](int t) {
          const Memory memory(runtime);
          for (int i = 0; i < 8; ++i) plan_and_call(runtime, memory, t % 2 == 0 ? i : 7 - i);
          runtime.cache().stats();
        });
        const ProgramCache::Stats stats = runtime.cache().stats();
        CHECK(stats.from_memory > 0);
        CHECK((stats.from_disk > 0) == (pass == 1));
        check(clFinish(runtime.queue()()), "clFinish");
      }
    }
  }
  CHECK(stub::alive() == before);
}

TEST_CASE("runtimes of their own share one folder") {
  use_new_device();
  const TempFolder folder;
  const DiskCache disk((folder / "cache").string());
  in_threads([&](int t) {
    const Runtime runtime = stub::make_runtime(t % 2 == 0, disk);
    const Memory memory(runtime);
    for (int i = 0; i < 8; ++i) plan_and_call(runtime, memory, i);
  });
}

TEST_CASE("calls on shared plans and on copies, with other sigmas and observers") {
  use_new_device();
  std::atomic<long> launches{0};
  for (const bool out_of_order : {false, true}) {
    const Runtime runtime =
        stub::make_runtime(out_of_order).with_observer([&](const std::string&, const cl::Event&) {
          ++launches;
        });
    const GaussianBlur separable(runtime, {kSize, kSize, 2, 2}, "separable");
    const GaussianBlur fused(runtime, {kSize, kSize, 2, 2}, "fused");
    GaussianBlur any(runtime, {kSize, kSize, 2, 2});
    any.build_for(3, 3);
    any.build_for(30, 30);
    const LineBlur line(runtime, {kSize, kSize, 5, kSigma, LineBlur::Pixel::rgba32f});
    const StreamCompaction compact(runtime, {kSize, kSize});
    const Bc6hDecode decode(runtime, {kSize, kSize});
    {
      stub::Gate gate(runtime);  // what is enqueued behind it waits until all threads are there
      in_threads([&](int t) {
        const Memory m(runtime);
        std::vector<cl::Event> wait;
        if (t % 4 == 0) wait.push_back(gate.event());
        GaussianBlur own = any;
        for (int i = 0; i < 4 * rounds(); ++i) {
          separable(m.src, m.dst, wait);
          fused(m.src, m.dst, wait);
          own.set_sigma(1 + (t + i) % 3, 1 + i % 3);
          own(m.src, m.dst, wait);
          const GaussianBlur copy = own;
          copy(m.floats, m.floats, wait);
          line(m.src, m.dst, wait);
          compact(m.src, m.dst, m.kept, 100 + t, wait);
          decode(m.src, m.image, wait);
          separable.describe();
          if (t == 1 && i == 2) gate.set(CL_COMPLETE);
        }
      });
    }
    check(clFinish(runtime.queue()()), "clFinish");
  }
  CHECK(launches > 0);
}

TEST_CASE("devices are looked for at the same time") {
  use_new_device();
  in_threads([&](int t) {
    if (t % 3 == 0) find_devices();
    const Runtime runtime = stub::make_runtime();
  });
}
