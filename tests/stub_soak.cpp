// A hundred thousand calls of every operation with changing problems, on the stub: handles and memory
// stay flat, nothing is built again, and no call does more than it did in the beginning. It looks at
// no clock, so that no result depends on the load. tests/soak.cpp does the same on an implementation.
#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <clcook/bc6h_decode.hpp>
#include <clcook/core/rates.hpp>
#include <clcook/gaussian_blur.hpp>
#include <clcook/halo_tile.hpp>
#include <clcook/regroup.hpp>
#include <clcook/separable_filter.hpp>
#include <clcook/stream_compaction.hpp>

#include "bench/cookbook/recipes.hpp"
#include "stub/runtime.hpp"
#include "support/grid.hpp"
#include "support/operations.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;

namespace {

constexpr int kMaxSize = 64;
// The operations that no card makes cases of.
const std::set<std::string> kWithoutCard{"RegroupOrder", "SeparableFilter"};

std::size_t heap() { return mallinfo2().uordblks; }

// Calls call(i) many times. After a tenth of them everything that is made once is there; from then
// on nothing may grow, in any call. Calls i and i + kinds do the same.
void soak(const std::string& what, const Runtime& runtime, const std::function<void(int)>& call,
          std::size_t kinds = 1) {
  // Whole rounds of all kinds, since what is alive depends on the last ones.
  const auto round_up = [&](std::size_t n) {
    return static_cast<int>((n + kinds - 1) / kinds * kinds);
  };
  const int calls = round_up(short_grid() ? 5000 : 100000);
  const int warm = round_up(static_cast<std::size_t>(calls) / 10);
  std::vector<long> opencl_calls(kinds, -1);  // of each kind, once it is warm
  std::size_t slower = 0;
  stub::Counts handles;
  std::size_t bytes = 0;
  ProgramCache::Stats built;
  for (int i = 0; i < calls; ++i) {
    if (i == warm) {
      check(clFinish(runtime.queue()()), "clFinish");
      handles = stub::alive();
      bytes = heap();
      built = runtime.cache().stats();
    }
    const long calls_before = stub::calls();
    call(i);
    if (i < warm) continue;
    long& usual = opencl_calls[static_cast<std::size_t>(i) % kinds];
    const long made = stub::calls() - calls_before;
    if (usual < 0) usual = made;
    slower += made > usual ? 1U : 0U;
  }
  check(clFinish(runtime.queue()()), "clFinish");
  const stub::Counts after = stub::alive();
  CHECK_MESSAGE(slower == 0, what, ": ", slower,
                " calls of OpenCL made more than in the beginning");
  CHECK_MESSAGE(after.memories <= handles.memories, what, ": ", handles.str(), " became ",
                after.str());
  CHECK_MESSAGE(after.events <= handles.events + 1, what, ": ", handles.str(), " became ",
                after.str());
  CHECK(after.kernels == handles.kernels);
  CHECK(after.programs == handles.programs);
  CHECK(after.queues == handles.queues);
  CHECK(after.contexts == handles.contexts);
  CHECK(runtime.cache().stats().from_source == built.from_source);
  // Buffers grow to the largest problem, a few of which come late.
  const std::size_t allowed = bytes + (256 << 10);
  CHECK_MESSAGE(heap() <= allowed, what, ": ", bytes, " bytes of the heap became ", heap());
  std::printf("%s: %d calls of %zu kinds, %s\n", what.c_str(), calls, kinds, after.str().c_str());
}

struct Memory {
  explicit Memory(const Runtime& runtime)
      : src(create_buffer(runtime, kMaxSize * kMaxSize * 16)),
        dst(create_buffer(runtime, kMaxSize * kMaxSize * 16)),
        kept(create_buffer(runtime, 4)),
        offsets(create_buffer(runtime, 64)),
        image(stub::make_image(runtime, kMaxSize, kMaxSize, {CL_RGBA, CL_HALF_FLOAT})) {}
  cl::Buffer src;
  cl::Buffer dst;
  cl::Buffer kept;
  cl::Buffer offsets;
  cl::Image2D image;
};

int size_of(int i) { return 4 + i % (kMaxSize - 3); }
constexpr std::size_t kSizes = 7 * (kMaxSize - 3);  // pairs of size_of(i) and size_of(i / 7)

}  // namespace

LONG_TEST_CASE("calls with changing problems leave nothing behind", 16) {
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
        soak(
            method, runtime,
            [&](int i) {
              blur.set_sigma(0.5 + i % 37 * 0.5, 0.5 + i % 23 * 0.5);
              last = blur(m.src, m.dst, wait());
            },
            37 * 23);
      }
      const StreamCompaction compact(runtime, {kMaxSize, kMaxSize});
      soak("StreamCompaction", runtime,
           [&](int i) { last = compact(m.src, m.dst, m.kept, i % 60000, wait()); });
      // Each call of these is a plan of its own size, from programs that are built.
      soak(
          "HaloTile", runtime,
          [&](int i) {
            HaloTile::Problem problem;
            problem.width = size_of(i);
            problem.height = size_of(i / 7);
            last = HaloTile(runtime, problem)(m.src, m.dst, wait());
          },
          kSizes);
      soak(
          "Bc6hDecode into an image", runtime,
          [&](int i) {
            last = Bc6hDecode(runtime, {size_of(i), size_of(i / 7)})(m.src, m.image, wait());
          },
          kSizes);
      soak(
          "SeparableFilter", runtime,
          [&](int i) {
            SeparableFilter::Problem problem;
            problem.width = size_of(i);
            problem.height = size_of(i / 7);
            problem.taps_x = {1, 0, -1};
            last = SeparableFilter(runtime, problem)(m.src, m.dst, wait());
          },
          kSizes);
      soak(
          "RegroupOrder", runtime,
          [&](int i) {
            const auto items = static_cast<std::size_t>(size_of(i));
            last =
                RegroupOrder(runtime, {items, 2 + i / 7 % 3, 4})(m.src, m.dst, m.offsets, wait());
          },
          kSizes * 3);
    }
    CHECK(stub::alive() == before);
  }
}

LONG_TEST_CASE("calls of every operation, with a new plan of another problem each time", 32) {
  const stub::Counts before = stub::alive();
  for (const Recipe& recipe : cookbook::recipes()) {
    CAPTURE(recipe.name);
    struct Kind {
      Case* problem;
      std::string variant;
    };
    std::vector<std::unique_ptr<Case>> problems;
    std::vector<Kind> kinds;
    stub::set_device(stub::gpu());
    const Runtime gpu = stub::make_runtime(true);
    stub::set_device(stub::cpu());
    const Runtime cpu = stub::make_runtime(true);
    std::vector<Params> shapes;
    for (const Params& shape : recipe.test_shapes) {
      if (shape.integer("tiny", 0) == 1 && shapes.size() < 2) shapes.push_back(shape);
    }
    if (shapes.empty()) shapes.push_back(recipe.test_shapes.front());
    for (const Runtime* runtime : {&gpu, &cpu}) {
      for (const Params& shape : shapes) {
        problems.push_back(recipe.make(*runtime, shape, 1));
        problems.back()->poison();
        problems.back()->upload({});
        check(clFinish(runtime->queue()()), "clFinish");
        for (const VariantInfo& variant : recipe.variants) {
          try {
            problems.back()->prepare(variant.name, {});
            kinds.push_back({problems.back().get(), variant.name});
          } catch (const Error& error) {
            CHECK(error.code == Errc::unsupported);
          }
        }
      }
    }
    REQUIRE(!kinds.empty());
    soak(
        recipe.name, gpu,
        [&](int i) {
          const Kind& one = kinds[static_cast<std::size_t>(i) % kinds.size()];
          one.problem->prepare(one.variant, {});
          one.problem->run({one.problem->run({})});
        },
        kinds.size());
    check(clFinish(cpu.queue()()), "clFinish");
  }
  CHECK(stub::alive() == before);
}

TEST_CASE("no operation is left out") { CHECK(operations_without_card() == kWithoutCard); }

TEST_CASE("a call that does more than it did is noticed" * doctest::should_fail()) {
  const Runtime runtime = stub::make_runtime();
  soak("planted", runtime, [&](int i) {
    if (i % 4999 == 4998) check(clFinish(runtime.queue()()), "clFinish");
  });
}

TEST_CASE("a handle that a late call leaves behind is noticed" * doctest::should_fail()) {
  const Runtime runtime = stub::make_runtime();
  std::vector<cl::Buffer> left;
  soak("planted", runtime, [&](int i) {
    const cl::Buffer one = create_buffer(runtime, 4);
    if (i % 4999 == 4998) left.push_back(one);
  });
}
