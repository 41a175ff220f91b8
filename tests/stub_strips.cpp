// Strips over several devices on the stub: a device that fails, memory that cannot be pinned, and
// what progress reports of the rows that are done. That each call fails in turn is in stub_faults.cpp.
#include <cstring>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include <clcook/core/strips.hpp>

#include "stub/runtime.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;

namespace {

constexpr std::size_t kRow = 64;  // bytes

// Copies strips of a picture; the function of a device can be made to fail at a strip.
struct Copying {
  explicit Copying(std::size_t rows, std::size_t each, std::size_t around = 0)
      : src(rows * kRow), dst(rows * kRow, 7) {
    for (std::size_t i = 0; i < src.size(); ++i) src[i] = static_cast<unsigned char>(i * 31 / 7);
    work.src = {src.data(), kRow, kRow, rows};
    work.dst = {dst.data(), kRow, kRow, rows};
    work.where = "Copying";
    for (std::size_t y = 0; y < rows; y += each) {
      const std::size_t count = std::min(each, rows - y);
      work.strips.push_back({static_cast<std::int64_t>(y) - static_cast<std::int64_t>(around),
                             count + 2 * around, y, count});
    }
    work.make = [this, around](const Runtime& runtime) -> StripFunction {
      const bool fails = runtime.queue()() == failing;
      return
          [this, runtime, fails, around](const Strip& strip, const cl::Buffer& from,
                                         const cl::Buffer& to, const std::vector<cl::Event>& wait) {
            if (fails && strip.to >= fails_from) fail(Errc::opencl, "device", "lost", -9999);
            std::vector<cl_event> waits;
            for (const cl::Event& one : wait) waits.push_back(one());
            cl_event done = nullptr;
            check(clEnqueueCopyBuffer(runtime.queue()(), from(), to(), around * kRow, 0,
                                      strip.to_rows * kRow, static_cast<cl_uint>(waits.size()),
                                      waits.data(), &done),
                  "clEnqueueCopyBuffer");
            return cl::Event(done);
          };
    };
  }
  Copying(const Copying&) = delete;

  std::vector<unsigned char> src;
  std::vector<unsigned char> dst;
  StripWork work;
  cl_command_queue failing = nullptr;
  std::size_t fails_from = 0;
};

bool says(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a device that fails leaves its strips to the others, and describe() says so") {
  stub::set_device(stub::gpu());
  for (const StripWay way : {StripWay::staged, StripWay::direct, StripWay::mapped}) {
    for (const std::size_t from : {0U, 40U}) {
      const Runtime good = stub::make_runtime();
      const Runtime bad = stub::make_runtime();
      const stub::Counts before = stub::alive();
      for (const bool first : {false, true}) {  // the calling thread's device, or the other
        Copying copying(400, 4, 3);
        copying.failing = bad.queue()();
        copying.fails_from = from;
        StripPipeline pipeline(
            first ? std::vector<Runtime>{bad, good} : std::vector<Runtime>{good, bad}, {2, way});
        std::size_t told = 0;
        const StripReport report =
            pipeline.run(copying.work, [&](std::size_t rows) { told = rows; });
        CHECK(told == 400);
        CHECK(copying.dst == copying.src);
        const StripReport::Device& one = report.devices[first ? 0 : 1];
        // Whether the other made them all before this one began is chance.
        if (first && from == 0) CHECK(!one.failure.empty());
        if (!one.failure.empty()) {
          CHECK(says(report.describe(), "it failed, and the others made the rest: device: lost"));
        }
        CHECK(report.devices[0].strips + report.devices[1].strips == 100);
      }
      CHECK(stub::alive() == before);
    }
  }
}

TEST_CASE("each byte of the result is reported once, when it is there") {
  stub::set_device(stub::gpu());
  for (const StripWay way : {StripWay::staged, StripWay::direct, StripWay::mapped}) {
    for (const std::size_t count : {1U, 2U}) {
      const std::vector<Runtime> runtimes(count, stub::make_runtime());
      Copying copying(401, 7, 3);
      std::mutex mutex;
      std::vector<int> told(copying.dst.size());
      bool there = true;
      copying.work.each = [&](std::size_t begin, std::size_t end) {
        const std::lock_guard<std::mutex> lock(mutex);
        for (std::size_t i = begin; i < end; ++i) {
          ++told[i];
          there = there && copying.dst[i] == copying.src[i];
        }
      };
      StripPipeline(runtimes, {3, way}).run(copying.work);
      CHECK(told == std::vector<int>(told.size(), 1));
      CHECK(there);
    }
  }
}

TEST_CASE("where all devices fail, the first error is thrown and says which rows are done") {
  stub::set_device(stub::gpu());
  const Runtime runtime = stub::make_runtime();
  Copying copying(40, 4);
  copying.failing = runtime.queue()();
  copying.fails_from = 20;
  for (const std::size_t count : {1U, 3U}) {
    StripPipeline pipeline(std::vector<Runtime>(count, runtime));
    const Error error = error_of([&] { pipeline.run(copying.work); });
    CHECK(error.code == Errc::opencl);
    CHECK(error.status == -9999);
    CHECK(error.where == "device");
    CHECK(says(error.what(), "device: lost; of 40 rows the first "));
    CHECK(says(error.what(), " are written"));
    // Nothing of it is left: the same pipeline works.
    copying.failing = nullptr;
    pipeline.run(copying.work);
    CHECK(copying.dst == copying.src);
    copying.failing = runtime.queue()();
  }
}

TEST_CASE("a command that fails on the device is an error with its code") {
  stub::set_device(stub::gpu());
  for (const StripWay way : {StripWay::staged, StripWay::direct, StripWay::mapped}) {
    for (long n = 2; n < 12; ++n) {  // the first maps the pinned memory, which has a way back
      const Runtime runtime = stub::make_runtime();
      const stub::Counts before = stub::alive();
      {
        Copying copying(40, 4);
        StripPipeline pipeline({runtime}, {1, way});
        stub::fail_command(n, -77);
        bool thrown = false;
        try {
          pipeline.run(copying.work);
        } catch (const Error& error) {
          thrown = true;
          CHECK_MESSAGE(
              (error.status == -77 || error.status == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
              error.what());
        }
        stub::fail_command(0, 0);
        if (way != StripWay::staged || n > 2) CHECK(thrown);
        if (!thrown) CHECK(copying.dst == copying.src);
        pipeline.run(copying.work);
        CHECK(copying.dst == copying.src);
      }
      CHECK(stub::alive() == before);
    }
  }
}

// A strip goes in many pieces, by several threads; no command but one may fail, whichever it is.
TEST_CASE("a command that fails among the pieces of several threads is an error") {
  stub::set_device(stub::gpu());
  const Runtime runtime = stub::make_runtime();
  constexpr std::size_t kRows = 12 * (std::size_t{1} << 20) / kRow;
  Copying copying(kRows, kRows / 3);
  StripPipeline pipeline({runtime}, {8, StripWay::staged});
  pipeline.run(copying.work);
  CHECK(copying.dst == copying.src);
  int thrown = 0;
  for (long n = 1; n < 40; ++n) {
    CAPTURE(n);
    std::fill(copying.dst.begin(), copying.dst.end(), static_cast<unsigned char>(7));
    stub::fail_command(n, -77);
    try {
      pipeline.run(copying.work);
      CHECK(copying.dst == copying.src);
    } catch (const Error& error) {
      ++thrown;
      CHECK_MESSAGE(
          (error.status == -77 || error.status == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
          error.what());
    }
    stub::fail_command(0, 0);
  }
  CHECK(thrown > 8);
}

TEST_CASE("memory that cannot be pinned: the slower way, and why") {
  stub::set_device(stub::gpu());
  for (const StripWay way : {StripWay::staged, StripWay::mapped}) {
    const Runtime runtime = stub::make_runtime();
    Copying copying(40, 4);
    StripPipeline pipeline({runtime}, {1, way});
    stub::fail_call("clCreateBuffer", 1, CL_MEM_OBJECT_ALLOCATION_FAILURE);
    const StripReport report = pipeline.run(copying.work);
    stub::fail_call("clCreateBuffer", 0, 0);
    CHECK(copying.dst == copying.src);
    CHECK(says(report.describe(), "direct (no "));
    CHECK(says(report.describe(), "CL_MEM_OBJECT_ALLOCATION_FAILURE"));
  }
}

TEST_CASE("an exception of the progress callback waits for what is enqueued") {
  stub::set_device(stub::gpu());
  const Runtime one = stub::make_runtime();
  const Runtime two = stub::make_runtime();
  const stub::Counts before = stub::alive();
  for (const int throws_at : {1, 2, 7}) {
    Copying copying(80, 2);
    StripPipeline pipeline({one, two}, {2, StripWay::staged});
    int calls = 0;
    std::size_t last = 0;
    bool thrown = false;
    try {
      pipeline.run(copying.work, [&](std::size_t rows) {
        last = rows;
        if (++calls == throws_at) throw std::runtime_error("no");
      });
    } catch (const std::runtime_error& error) {
      thrown = true;
      CHECK(std::string(error.what()) == "no");
    }
    // A call speaks of all rows that are done by then, so that there may be fewer than seven.
    CHECK(thrown == (calls >= throws_at));
    CHECK(calls >= 1);
    CHECK(calls <= throws_at);
    // The rows that were said to be done are.
    CHECK(std::memcmp(copying.dst.data(), copying.src.data(), last * kRow) == 0);
  }
  CHECK(stub::alive() == before);
}

TEST_CASE("bad work is refused before anything is enqueued") {
  stub::set_device(stub::gpu());
  const Runtime runtime = stub::make_runtime();
  StripPipeline pipeline({runtime});
  const auto refused = [&](const std::function<void(Copying&)>& change, const char* part) {
    Copying copying(40, 4);
    change(copying);
    const long before = stub::calls();
    const Error error = error_of([&] { pipeline.run(copying.work); });
    CHECK(error.code == Errc::invalid_argument);
    CHECK(error.where == "Copying");
    CHECK_MESSAGE(says(error.what(), part), error.what());
    CHECK(stub::calls() == before);
  };
  refused([](Copying& c) { c.work.src.begin = nullptr; }, "src is null");
  refused([](Copying& c) { c.work.dst.begin = c.src.data() + 1; }, "overlap");
  refused([](Copying& c) { c.work.dst.pitch = 63; }, "pitch of 63");
  refused([](Copying& c) { c.work.src.rows = 0; }, "0 rows");
  refused([](Copying& c) { c.work.src.pitch = ~std::size_t{0} / 4; }, "overflow");
  refused([](Copying& c) { c.work.strips[3].from_rows = 0; }, "strip 3");
  refused([](Copying& c) { c.work.strips[9].to_rows = 5; }, "strip 9");
  refused([](Copying& c) { c.work.strips[5].to = 19; }, "strip 5");
  refused([](Copying& c) { c.work.make = nullptr; }, "no function");
}

TEST_CASE("work without strips is done at once") {
  stub::set_device(stub::gpu());
  const Runtime runtime = stub::make_runtime();
  Copying copying(4, 4);
  copying.work.strips.clear();
  StripPipeline pipeline({runtime, runtime});
  CHECK(pipeline.run(copying.work).strips == 0);
}
