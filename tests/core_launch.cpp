// Launch geometry, and the checks that stand before every enqueue.
#include <clcook/core/launch.hpp>

#include <chrono>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;

namespace {

constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max();

const cl::Program& program() {
  static const cl::Program* one = new cl::Program(runtime().build(Source("launch.cl", R"(
__kernel void store(__global int* out, int value) { out[get_global_id(0)] = value; }
__kernel void none(void) {}
__kernel void local_sum(__global int* out, __local int* a, __local int* b) {
  const int i = (int)get_local_id(0);
  a[i] = i;
  b[i] = 2 * i;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = a[get_local_size(0) - 1 - i] + b[i];
}
__kernel void own_local(__global int* out) {
  __local int a[64];
  a[get_local_id(0)] = (int)get_local_id(0) + 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = a[63 - get_local_id(0)];
}
__kernel __attribute__((reqd_work_group_size(16, 1, 1))) void needs_16(__global int* out) {
  out[get_global_id(0)] = 1;
}
__kernel void shape(__global ulong* out) {
  if (get_global_id(0) + get_global_id(1) + get_global_id(2) != 0) return;
  out[0] = get_work_dim();
  for (uint d = 0; d < 3; ++d) {
    out[1 + d] = get_global_size(d);
    out[4 + d] = get_local_size(d);
  }
}
)"),
                                                                  {}, "test/launch"));
  return *one;
}

// A runtime that counts what was enqueued.
struct Counted {
  int launches = 0;
  Runtime on =
      runtime().with_observer([this](const std::string&, const cl::Event&) { ++launches; });
};

}  // namespace

TEST_CASE("a launch without sizes is one work-item") {
  const Launch one;
  CHECK(one.dims == 1);
  CHECK(one.global == Launch::Sizes{1, 1, 1});
  CHECK(one.local == Launch::Sizes{1, 1, 1});
  CHECK(one.group_size() == 1);
}

TEST_CASE("groups multiply, cover rounds up") {
  const Launch a = Launch::groups({3, 1, 1}, {64, 1, 1});
  CHECK(a.dims == 1);
  CHECK(a.global == Launch::Sizes{192, 1, 1});
  CHECK(a.local == Launch::Sizes{64, 1, 1});
  CHECK(a.group_size() == 64);
  const Launch b = Launch::cover({100, 7, 1}, {64, 2, 1});
  CHECK(b.dims == 2);
  CHECK(b.global == Launch::Sizes{128, 8, 1});
  CHECK(Launch::cover({1, 1, 5}, {1, 1, 1}).dims == 3);
  const Launch line = Launch::cover(65, 64);
  CHECK(line.dims == 1);
  CHECK(line.global == Launch::Sizes{128, 1, 1});
  CHECK(line.local == Launch::Sizes{64, 1, 1});
  CHECK(Launch::cover({1, 1, 1}, {1, 1, 1}).dims == 1);
  CHECK(Launch::cover({1, 1, 1}, {1, 8, 1}).dims == 2);  // the group alone makes a dimension
  for (const std::size_t local : Launch::Sizes{1, 7, 64}) {
    for (std::size_t items = 1; items < 200; ++items) {
      const Launch one = Launch::cover({items, 1, 1}, {local, 1, 1});
      CHECK(one.global[0] >= items);
      CHECK(one.global[0] < items + local);
      CHECK(one.global[0] % local == 0);
    }
  }
}

TEST_CASE("sizes of zero and overflows are refused") {
  for (std::size_t d = 0; d < 3; ++d) {
    Launch::Sizes zero{4, 4, 4};
    zero[d] = 0;
    for (const bool items : {true, false}) {
      for (const bool cover : {true, false}) {
        const Launch::Sizes first = items ? zero : Launch::Sizes{4, 4, 4};
        const Launch::Sizes second = items ? Launch::Sizes{4, 4, 4} : zero;
        const Error error = error_of([&] {
          if (cover) {
            Launch::cover(first, second);
          } else {
            Launch::groups(first, second);
          }
        });
        CHECK(error.code == Errc::invalid_argument);
        CHECK(contains(error.what(), text("dimension ", d)));
      }
    }
    Launch::Sizes huge{1, 1, 1};
    Launch::Sizes two{1, 1, 1};
    two[d] = 2;
    huge[d] = kMax / 2 + 1;
    const Error error = error_of([&] { Launch::groups(huge, two); });
    CHECK(error.code == Errc::invalid_argument);
    CHECK(contains(error.what(), "overflow"));
    huge[d] = kMax / 2;
    CHECK_NOTHROW(Launch::groups(huge, two));
    huge[d] = kMax;  // rounding up to a multiple of 2 passes the end
    CHECK(error_of([&] { Launch::cover(huge, two); }).code == Errc::invalid_argument);
    huge[d] = kMax - 1;
    CHECK(Launch::cover(huge, two).global[d] == kMax - 1);
  }
}

TEST_CASE("the device sees the geometry that was given") {
  for (const Launch& launch :
       {Launch::groups({3, 1, 1}, {4, 1, 1}), Launch::groups({3, 2, 1}, {4, 2, 1}),
        Launch::cover({5, 3, 2}, {2, 2, 2}), Launch::cover({1, 9, 1}, {1, 4, 1})}) {
    const cl::Buffer out = create_buffer(runtime(), 7 * 8);
    Kernel kernel(runtime(), program(), "shape");
    const std::vector<cl_ulong> got =
        read_buffer<cl_ulong>(runtime(), out, 7, {kernel(launch, {}, out)});
    CHECK(got[0] == launch.dims);
    for (std::size_t d = 0; d < 3; ++d) {
      CHECK(got[1 + d] == launch.global[d]);
      CHECK(got[4 + d] == launch.local[d]);
    }
  }
}

TEST_CASE("a kernel runs, and its observer sees its name and event") {
  std::vector<std::string> names;
  std::vector<cl_event> events;
  const Runtime on = runtime().with_observer([&](const std::string& name, const cl::Event& event) {
    names.push_back(name);
    events.push_back(event());
  });
  const cl::Buffer out = create_buffer(on, 64 * 4);
  Kernel kernel(on, program(), "store");
  const cl::Event first = kernel(Launch::cover({64, 1, 1}, {16, 1, 1}), {}, out, cl_int{3});
  const cl::Event second = kernel(Launch::cover({32, 1, 1}, {16, 1, 1}), {first}, out, cl_int{4});
  const std::vector<cl_int> got = read_buffer<cl_int>(on, out, 64, {second});
  CHECK(got[0] == 4);
  CHECK(got[31] == 4);
  CHECK(got[32] == 3);
  CHECK(got[63] == 3);
  CHECK(names == std::vector<std::string>{"store", "store"});
  CHECK(events == std::vector<cl_event>{first(), second()});
}

TEST_CASE("a hook sees sizes and arguments before a launch, and its event after it") {
  struct Hook : LaunchHook {
    std::vector<std::string> seen;
    std::vector<unsigned char> last;
    void before(const Kernel& kernel, const Launch& launch, const LaunchArgument* arguments,
                std::size_t count) override {
      seen.push_back(
          text("before ", kernel.name(), " ", launch.global[0], "/", launch.local[0], " ", count));
      const auto* const bytes = static_cast<const unsigned char*>(arguments[count - 1].value);
      last.assign(bytes, bytes + arguments[count - 1].bytes);
    }
    void after(const std::string& kernel, const cl::Event& event) override {
      seen.push_back(text("after ", kernel, event() == nullptr ? " without an event" : ""));
    }
  };
  Hook hook;
  std::size_t observed = 0;
  const Runtime on =
      runtime().with_observer([&](const std::string&, const cl::Event&) { ++observed; });
  const Runtime watched = on.with_hook(hook);
  const Runtime again = watched.with_observer([&](const std::string&, const cl::Event&) {});
  const cl::Buffer out = create_buffer(on, 64 * 4);
  const auto run = [&](const Runtime& one) {
    Kernel(one, program(), "store")(Launch::cover(64, 16), {}, out, cl_int{3}).wait();
  };
  run(watched);
  const std::vector<std::string> once{"before store 64/16 2", "after store"};
  CHECK(hook.seen == once);
  CHECK(hook.last == std::vector<unsigned char>{3, 0, 0, 0});
  CHECK(observed == 0);
  // The others have their own; a queue of its own keeps it.
  run(on);
  run(again);
  CHECK(observed == 1);
  CHECK(hook.seen == once);
  run(watched.with_queue(watched.queue()));
  CHECK(hook.seen.size() == 4);
}

TEST_CASE("a kernel that the program does not have is named") {
  const Error error = error_of([] { Kernel(runtime(), program(), "stoer"); });
  CHECK(error.code == Errc::invalid_argument);
  CHECK(contains(error.what(), "'stoer'"));
}

TEST_CASE("the number of arguments must be right") {
  Counted counted;
  const cl::Buffer out = create_buffer(counted.on, 64);
  Kernel store(counted.on, program(), "store");
  for (int got = 0; got <= 3; ++got) {
    if (got == 2) continue;
    const Error error = error_of([&] {
      if (got == 0) store(Launch{}, {});
      if (got == 1) store(Launch{}, {}, out);
      if (got == 3) store(Launch{}, {}, out, cl_int{1}, cl_int{2});
    });
    CHECK(error.code == Errc::invalid_argument);
    CHECK(contains(error.what(), "store"));
    CHECK(contains(error.what(), text("takes 2 arguments, got ", got)));
  }
  Kernel none(counted.on, program(), "none");
  CHECK(error_of([&] { none(Launch{}, {}, cl_int{1}); }).code == Errc::invalid_argument);
  CHECK(counted.launches == 0);
  CHECK(clFinish(counted.on.queue()()) == CL_SUCCESS);
  none(Launch{}, {});
  CHECK(counted.launches == 1);
}

TEST_CASE("an argument of the wrong size is refused and numbered") {
  Counted counted;
  const cl::Buffer out = create_buffer(counted.on, 64);
  Kernel store(counted.on, program(), "store");
  const auto refused = [&](const auto& value, int index) {
    const Error error = error_of([&] {
      if (index == 1) {
        store(Launch{}, {}, out, value);
      } else {
        store(Launch{}, {}, value, cl_int{1});
      }
    });
    CHECK(error.status != CL_SUCCESS);
    CHECK(contains(error.what(), "store"));
    CHECK(contains(error.what(), text("argument ", index)));
  };
  refused(cl_long{1}, 1);
  refused(cl_char{1}, 1);
  refused(cl_float4{}, 1);
  refused(cl_int{1}, 0);
  CHECK(counted.launches == 0);
}

TEST_CASE("groups larger than a limit are unsupported, with limit and value") {
  Counted counted;
  const DeviceInfo& info = counted.on.info();
  const cl::Buffer out = create_buffer(counted.on, 64);
  Kernel store(counted.on, program(), "store");
  const auto refused = [&](const Launch::Sizes& local, std::size_t value, std::size_t limit) {
    const Error error = error_of([&] {
      store(Launch::groups({1, 1, 1}, local), {}, out, cl_int{1});
    });
    CHECK(error.code == Errc::unsupported);
    CHECK(contains(error.what(), text(value)));
    CHECK(contains(error.what(), text(limit)));
  };
  for (std::size_t d = 0; d < 3; ++d) {
    Launch::Sizes local{1, 1, 1};
    local[d] = info.max_items[d] + 1;
    refused(local, local[d], info.max_items[d]);
    local[d] = kMax;
    refused(local, kMax, info.max_items[d]);
  }
  const std::size_t limit = store.max_group();
  CHECK(limit <= info.max_group);
  if (info.max_items[1] >= 2) refused({limit, 2, 1}, 2 * limit, limit);
  CHECK(counted.launches == 0);
  const cl::Buffer large = create_buffer(counted.on, limit * 4);
  CHECK_NOTHROW(
      store(Launch::groups({1, 1, 1}, {limit, 1, 1}), {}, large, cl_int{1}));  // the limit itself
}

TEST_CASE("local memory over the limit is unsupported, also when the sum overflows") {
  Counted counted;
  const auto limit = static_cast<std::size_t>(counted.on.info().local_mem);
  const cl::Buffer out = create_buffer(counted.on, 64 * 4);
  Kernel kernel(counted.on, program(), "local_sum");
  const std::pair<std::size_t, std::size_t> sizes[] = {
      {limit, 4},   {limit + 1, 4}, {limit / 2 + 1, limit / 2 + 1},
      {kMax, 1},    {kMax, kMax},   {kMax / 2 + 1, kMax / 2 + 1},
      {4, kMax - 3}};
  for (const auto& [a, b] : sizes) {
    const std::size_t first = a;
    const std::size_t second = b;
    CAPTURE(first);
    CAPTURE(second);
    const Error error =
        error_of([&] { kernel(Launch{}, {}, out, LocalBytes{first}, LocalBytes{second}); });
    CHECK(error.code == Errc::unsupported);
    CHECK(contains(error.what(), text(limit)));
    CHECK(contains(error.what(), "local memory"));
  }
  CHECK(counted.launches == 0);
  // 0 bytes are no size for a __local argument.
  CHECK_THROWS_AS(kernel(Launch{}, {}, out, LocalBytes{0}, LocalBytes{64}), Error);
  CHECK(counted.launches == 0);
  const std::vector<cl_int> got = read_buffer<cl_int>(
      counted.on, out, 16,
      {kernel(Launch::groups({1, 1, 1}, {16, 1, 1}), {}, out, LocalBytes{64}, LocalBytes{64})});
  for (int i = 0; i < 16; ++i) CHECK(got[static_cast<std::size_t>(i)] == 15 - i + 2 * i);
}

TEST_CASE("a kernel's own local variables count") {
  Kernel own(runtime(), program(), "own_local");
  const auto limit = static_cast<std::size_t>(runtime().info().local_mem);
  if (quirks::hides_arrays(runtime().info())) {
    MESSAGE("SKIPPED: this implementation does not say what a kernel's own arrays take");
    CHECK(own.static_local() == 0);
    CHECK_NOTHROW(own.check_launch(Launch{}, limit));
    CHECK(error_of([&] { own.check_launch(Launch{}, limit + 1); }).code == Errc::unsupported);
    return;
  }
  CHECK(own.static_local() >= 256);
  CHECK_NOTHROW(own.check_launch(Launch{}, limit - own.static_local()));
  CHECK(error_of([&] { own.check_launch(Launch{}, limit - own.static_local() + 1); }).code ==
        Errc::unsupported);
  CHECK(error_of([&] { own.check_launch(Launch{}, kMax); }).code == Errc::unsupported);
  CHECK(error_of([&] { own.check_launch(Launch{}, kMax - own.static_local() + 1); }).code ==
        Errc::unsupported);
  Kernel none(runtime(), program(), "none");
  CHECK(none.static_local() == 0);
  CHECK_NOTHROW(none.check_launch(Launch{}, limit));
}

TEST_CASE("a work-group size that the kernel does not allow is an error with the sizes") {
  Counted counted;
  const cl::Buffer out = create_buffer(counted.on, 64 * 4);
  Kernel kernel(counted.on, program(), "needs_16");
  const Error error = error_of([&] { kernel(Launch::groups({1, 1, 1}, {8, 1, 1}), {}, out); });
  CHECK(contains(error.what(), "needs_16"));
  CHECK(contains(error.what(), "16 x 1 x 1"));
  CHECK(contains(error.what(), "8 x 1 x 1"));
  CHECK(counted.launches == 0);
  CHECK_NOTHROW(kernel(Launch::groups({1, 1, 1}, {16, 1, 1}), {}, out));
}

TEST_CASE("a null event in the wait list is refused with its position") {
  Counted counted;
  const cl::Buffer out = create_buffer(counted.on, 64);
  Kernel store(counted.on, program(), "store");
  const cl::Event good = store(Launch{}, {}, out, cl_int{1});
  for (const auto& [wait, position] : std::vector<std::pair<std::vector<cl::Event>, int>>{
           {{cl::Event()}, 0}, {{good, cl::Event()}, 1}, {{good, good, cl::Event(), good}, 2}}) {
    const Error error = error_of([&, list = wait] { store(Launch{}, list, out, cl_int{2}); });
    CHECK(error.code == Errc::invalid_argument);
    CHECK(contains(error.what(), text("entry ", position)));
  }
  CHECK(counted.launches == 1);
  CHECK(read_buffer<cl_int>(counted.on, out, 1)[0] == 1);  // nothing was enqueued
}

TEST_CASE("waiting ends with the command, also where it takes longer than a thread stays awake") {
  for (const int ms : {0, 2}) {
    CAPTURE(ms);
    const cl::Buffer out = create_buffer(runtime(), 64);
    Kernel store(runtime(), program(), "store");
    cl_int status = CL_SUCCESS;
    const cl::Event gate(clCreateUserEvent(runtime().context()(), &status));
    check(status, "clCreateUserEvent");
    const cl::Event done = store(Launch{}, {gate}, out, cl_int{7});
    std::thread opens([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(ms));
      clSetUserEventStatus(gate(), CL_COMPLETE);
    });
    wait_for(done);
    cl_int state = CL_QUEUED;
    check(clGetEventInfo(done(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, nullptr),
          "clGetEventInfo");
    CHECK(state == CL_COMPLETE);
    wait_for(done);
    wait_for(gate);
    opens.join();
    CHECK(read_buffer<cl_int>(runtime(), out, 1)[0] == 7);
  }
}

TEST_CASE("waiting for what failed gives its own code, and a null event is refused") {
  cl_int status = CL_SUCCESS;
  const cl::Event failed(clCreateUserEvent(runtime().context()(), &status));
  check(status, "clCreateUserEvent");
  clSetUserEventStatus(failed(), CL_INVALID_OPERATION);
  const Error error = error_of([&] { wait_for(failed); });
  CHECK(error.code == Errc::opencl);
  CHECK(error.status == CL_INVALID_OPERATION);
  CHECK(contains(error.what(), "CL_INVALID_OPERATION"));
  CHECK(error_of([] { wait_for(cl::Event()); }).code == Errc::invalid_argument);
}

TEST_CASE("after an error the same kernel works") {
  const cl::Buffer out = create_buffer(runtime(), 64);
  Kernel store(runtime(), program(), "store");
  CHECK_THROWS_AS(store(Launch{}, {}, out, cl_long{1}), Error);
  CHECK_THROWS_AS(store(Launch{}, {cl::Event()}, out, cl_int{1}), Error);
  CHECK(read_buffer<cl_int>(runtime(), out, 1, {store(Launch{}, {}, out, cl_int{9})})[0] == 9);
}
