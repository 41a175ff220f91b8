// Two thousand calls of every operation with changing problems, on an implementation: its handles,
// the heap, the open files and the threads stay as many as they were. tests/stub_soak.cpp counts more
// calls, and every kind of handle.
#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <clcook/core/launch.hpp>
#include <clcook/regroup.hpp>
#include <clcook/separable_filter.hpp>

#include "bench/cookbook/recipes.hpp"
#include "support/grid.hpp"
#include "support/operations.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;

namespace {

constexpr int kCalls = 2000;
// The operations that no card makes cases of.
const std::set<std::string> kWithoutCard{"RegroupOrder", "SeparableFilter"};

std::size_t entries_in(const char* folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

// What a process and a queue hold.
struct Held {
  cl_uint context = 0;  // what keeps it: buffers, images, programs, queues
  cl_uint queue = 0;    // and what keeps this: events
  std::size_t files = 0;
  std::size_t threads = 0;
  std::size_t bytes = 0;  // of the heap, large blocks included

  // With nothing running.
  static Held of(const Runtime& runtime) {
    check(clFinish(runtime.queue()()), "clFinish");
    Held out;
    check(clGetContextInfo(runtime.context()(), CL_CONTEXT_REFERENCE_COUNT, sizeof out.context,
                           &out.context, nullptr),
          "clGetContextInfo");
    check(clGetCommandQueueInfo(runtime.queue()(), CL_QUEUE_REFERENCE_COUNT, sizeof out.queue,
                                &out.queue, nullptr),
          "clGetCommandQueueInfo");
    out.files = entries_in("/proc/self/fd");
    out.threads = entries_in("/proc/self/task");
    const struct mallinfo2 heap = mallinfo2();
    out.bytes = heap.uordblks + heap.hblkhd;
    return out;
  }
};

// What became more in so many calls; empty: nothing. What every tenth call leaves behind shows; fewer
// handles may be on their way out, since an implementation drops its own after clFinish. The smallest
// handle takes more than a hundred bytes, so one of every call shows in the heap as well.
std::string growth(const Held& before, const Held& after, int calls) {
  std::string out;
  const auto add = [&](const char* what, std::size_t was, std::size_t is, std::size_t allowed) {
    if (is > was + allowed) out += text(what, ": ", was, " became ", is, "; ");
  };
  const auto few = static_cast<std::size_t>(calls) / 10;
  add("references of the context", before.context, after.context, few);
  add("references of the queue", before.queue, after.queue, few);
  add("open files", before.files, after.files, 0);
  add("threads", before.threads, after.threads, 0);
  add("bytes of the heap", before.bytes, after.bytes, 64 * static_cast<std::size_t>(calls));
  return out;
}

// Calls call(i), of which i and i + kinds do the same, and says what grew after all kinds have run. What
// an implementation does once in a while is not done again; what calls leave behind grows each time.
std::string soak(const Runtime& runtime, const std::function<void(int)>& call, int kinds,
                 int calls) {
  int i = 0;
  for (const int warm = std::max(2 * kinds, calls / 10); i < warm; ++i) call(i);
  std::string grown;
  for (int round = 0; round < 4; ++round) {
    const Held before = Held::of(runtime);
    for (const int end = i + calls; i < end; ++i) call(i);
    grown = growth(before, Held::of(runtime), calls);
    if (grown.empty()) break;
  }
  return grown;
}

// Cases of a recipe, and the variants that are called: its baseline and what is chosen here.
struct Kind {
  Case* problem;
  std::string variant;
};
struct Kinds {
  std::vector<std::unique_ptr<Case>> problems;
  std::vector<Kind> all;

  Kinds(const Runtime& runtime, const Recipe& recipe) {
    for (const Params& shape : recipe.test_shapes) {
      if (shape.integer("tiny", 0) != 1 || problems.size() == 2) continue;
      problems.push_back(recipe.make(runtime, shape, 1));
      problems.back()->upload({});
      std::set<std::string> variants{recipe.choose(runtime, shape).variant->name};
      for (const VariantInfo& one : recipe.variants) {
        if (one.is_baseline) variants.insert(one.name);
      }
      for (const std::string& one : variants) all.push_back({problems.back().get(), one});
    }
  }
  // A new plan, and two calls of it.
  void call(int i) const {
    const Kind& one = all[static_cast<std::size_t>(i) % all.size()];
    one.problem->prepare(one.variant, {});
    one.problem->run({one.problem->run({})});
  }
};

}  // namespace

LONG_TEST_CASE("calls of every operation leave nothing behind in an implementation", 16) {
  const Runtime& on = runtime();
  const int calls = short_grid() ? kCalls / 20 : kCalls;
  for (const Recipe& recipe : cookbook::recipes()) {
    if (left_out(number_of(recipe.name), 4)) continue;
    const Kinds kinds(on, recipe);
    REQUIRE(!kinds.all.empty());
    const std::string grown = soak(
        on, [&](int i) { kinds.call(i); }, static_cast<int>(kinds.all.size()), calls);
    CHECK_MESSAGE(grown.empty(), recipe.name, ", ", calls, " calls: ", grown);
  }
  const cl::Buffer keys = create_buffer(on, 4096);
  const cl::Buffer order = create_buffer(on, 4096);
  const cl::Buffer offsets = create_buffer(on, 64);
  const std::vector<cl_uint> zeros(1024);
  check(clEnqueueWriteBuffer(on.queue()(), keys(), CL_TRUE, 0, 4096, zeros.data(), 0, nullptr,
                             nullptr),
        "clEnqueueWriteBuffer");
  std::string grown = soak(
      on,
      [&](int i) {
        const auto items = static_cast<std::size_t>(i % 7) * 100 + 1;
        RegroupOrder(on, {items, 3, 4})(keys, order, offsets);
      },
      7, calls);
  CHECK_MESSAGE(grown.empty(), "RegroupOrder, ", calls, " calls: ", grown);
  SeparableFilter::Problem problem;
  problem.height = 16;
  problem.pixel = PixelType::r8;
  grown = soak(
      on,
      [&](int i) {
        problem.width = 32 + i % 7;
        problem.taps_x = {0.5F, i % 2 == 0 ? 0.0F : 1.0F, 0.5F};
        SeparableFilter(on, problem)(keys, order);
      },
      14, calls);
  CHECK_MESSAGE(grown.empty(), "SeparableFilter, ", calls, " calls: ", grown);
}

TEST_CASE("no operation is left out") { CHECK(operations_without_card() == kWithoutCard); }

LONG_TEST_CASE("what a call would leave behind is noticed", 4) {
  const Runtime& on = runtime();
  const cl::Buffer buffer = create_buffer(on, 4);
  const cl::Program program =
      on.build(Source("one.cl", "__kernel void one(__global int* out) { *out = 1; }\n"), {}, "one");
  // A call that leaves what the given one does.
  const auto grown = [&](const std::function<void(const cl::Event&)>& leave) {
    return soak(
        on,
        [&](int) {
          Kernel kernel(on, program, "one");
          leave(kernel(Launch{}, {}, buffer));
        },
        1, kCalls / 10);  // fewer than a process may open files
  };
  CHECK(grown([](const cl::Event&) {}) == "");
  std::vector<void*> blocks;
  std::vector<int> files;
  std::vector<cl_event> events;
  std::vector<cl::Buffer> buffers;
  std::vector<cl::Kernel> kernels;
  std::vector<cl::Program> programs;
  blocks.reserve(kCalls);
  files.reserve(kCalls);
  events.reserve(kCalls);
  buffers.reserve(kCalls);
  kernels.reserve(kCalls);
  programs.reserve(kCalls);
  const std::string of_blocks =
      grown([&](const cl::Event&) { blocks.push_back(std::malloc(100)); });
  const std::string of_files =
      grown([&](const cl::Event&) { files.push_back(open("/dev/null", O_RDONLY)); });
  const std::string of_events = grown([&](const cl::Event& done) {
    clRetainEvent(done());
    events.push_back(done());
  });
  const std::string of_buffers =
      grown([&](const cl::Event&) { buffers.push_back(create_buffer(on, 4)); });
  const std::string of_kernels = grown([&](const cl::Event&) {
    kernels.push_back(cl::Kernel(clCreateKernel(program(), "one", nullptr)));
  });
  const char* source = "__kernel void two() {}";
  const std::string of_programs = grown([&](const cl::Event&) {
    programs.push_back(
        cl::Program(clCreateProgramWithSource(on.context()(), 1, &source, nullptr, nullptr)));
  });
  for (void* const one : blocks) std::free(one);
  for (const int one : files) close(one);
  for (cl_event one : events) clReleaseEvent(one);
  for (const std::string* one : {&of_blocks, &of_events, &of_buffers, &of_kernels, &of_programs})
    CHECK(contains(*one, "bytes of the heap"));
  CHECK(contains(of_files, "open files"));
  for (const std::string* one : {&of_buffers, &of_programs})
    CHECK(contains(*one, "references of the context"));
  CHECK(contains(of_events, "references of the queue"));
}
