// Rows of the host on the stub: every way up and down, pieces that split rows, what fails, and what
// is worked on in place.
#include <atomic>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <clcook/core/staging.hpp>

#include "stub/runtime.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;

namespace {

constexpr StripWay kWays[] = {StripWay::automatic, StripWay::staged, StripWay::direct,
                              StripWay::mapped};

// Rows that may lie apart, and what must stay between them.
struct Picture {
  Picture(std::size_t of_row_bytes, std::size_t of_rows, std::size_t gap, unsigned char filled)
      : row_bytes(of_row_bytes),
        rows(of_rows),
        pitch(of_row_bytes + gap),
        memory(pitch * rows + 16, filled) {}

  unsigned char* begin() {
    const std::size_t over = reinterpret_cast<std::uintptr_t>(memory.data()) % 16;
    return memory.data() + (16 - over) % 16;
  }
  HostRows read() { return {begin(), pitch, row_bytes, rows}; }
  HostRowsToWrite write() { return {begin(), pitch, row_bytes, rows}; }

  std::size_t row_bytes;
  std::size_t rows;
  std::size_t pitch;
  std::vector<unsigned char> memory;
};

// That each byte is seen once, in pieces that split no pixel.
class Seen {
 public:
  explicit Seen(std::size_t bytes) : seen_(bytes) {}
  StagedBytes function() {
    return [this](std::size_t begin, std::size_t end) {
      const std::lock_guard<std::mutex> lock(mutex_);
      aligned_ = aligned_ && begin % 12288 == 0;
      for (std::size_t i = begin; i < end; ++i) ++seen_[i];
    };
  }
  bool all_once() const { return aligned_ && seen_ == std::vector<int>(seen_.size(), 1); }

 private:
  std::mutex mutex_;
  std::vector<int> seen_;
  bool aligned_ = true;
};

cl::Event copy(const Runtime& runtime, const Staged& from, const Staged& to, std::size_t row_bytes,
               std::size_t rows) {
  const auto pitch = [&](const Staged& one) {
    return one.view.pitch == 0 ? row_bytes : one.view.pitch;
  };
  const std::size_t none[3] = {0, 0, 0};
  const std::size_t all[3] = {row_bytes, rows, 1};
  const WaitHandles waits(from.wait);
  cl_event done = nullptr;
  check(clEnqueueCopyBufferRect(runtime.queue()(), from.view.buffer(), to.view.buffer(), none, none,
                                all, pitch(from), 0, pitch(to), 0, waits.count(), waits.data(),
                                &done),
        "clEnqueueCopyBufferRect");
  return cl::Event(done);
}

struct Kept {
  cl::Buffer from;
  cl::Buffer to;
};

// src to dst over the device.
void pass(const Runtime& runtime, Staging& staging, Kept& kept, Picture& src, Picture& dst,
          const StagedBytes& seen = {}, const StagedBytes& made = {}) {
  const HostRows rows = src.read();
  const Staged from = staging.up(rows, kept.from, seen);
  const Staged to = staging.place(dst.write(), kept.to, &rows);
  staging.down(to, dst.write(), copy(runtime, from, to, src.row_bytes, src.rows), made);
}

void number(Picture& picture) {
  for (std::size_t i = 0; i < picture.memory.size(); ++i)
    picture.memory[i] = static_cast<unsigned char>(i * 31 / 7 + i / 4096);
}

bool same_rows(Picture& a, Picture& b) {
  for (std::size_t y = 0; y < a.rows; ++y) {
    if (std::memcmp(a.begin() + y * a.pitch, b.begin() + y * b.pitch, a.row_bytes) != 0)
      return false;
  }
  return true;
}

// That nothing was written between the rows.
bool gaps_hold(Picture& picture, unsigned char filled) {
  for (std::size_t y = 0; y < picture.rows; ++y) {
    for (std::size_t x = picture.row_bytes; x < picture.pitch; ++x) {
      if (picture.begin()[y * picture.pitch + x] != filled) return false;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("every way brings rows up and down, whole or in pieces that split them") {
  struct Size {
    std::size_t row_bytes, rows;
  };
  for (const bool cpu : {false, true}) {
    stub::set_device(cpu ? stub::cpu() : stub::gpu());
    for (const bool out_of_order : {false, true}) {
      const Runtime runtime = stub::make_runtime(out_of_order);
      const stub::Counts before = stub::alive();
      for (const StripWay way : kWays) {
        for (const int threads : {1, 3}) {
          Staging staging(runtime, {threads, way});
          Kept kept;  // grows
          for (const Size size :
               {Size{1, 1}, {100, 7}, {70001, 1}, {4097, 300}, {4097, 400}, {1, 300000}}) {
            for (const std::size_t gap : {0U, 16U, 5U}) {
              if (size.rows > 1000 && gap > 0) continue;
              Picture src(size.row_bytes, size.rows, gap, 0);
              Picture dst(size.row_bytes, size.rows, gap == 16 ? 0 : gap, 9);
              number(src);
              Seen seen(size.row_bytes * size.rows);
              Seen made(size.row_bytes * size.rows);
              pass(runtime, staging, kept, src, dst, seen.function(), made.function());
              CHECK(same_rows(src, dst));
              CHECK(gaps_hold(dst, 9));
              CHECK(seen.all_once());
              CHECK(made.all_once());
            }
          }
        }
      }
      CHECK(stub::alive() == before);
    }
  }
}

TEST_CASE("results that no cache holds, whether somebody looks at them or not") {
  auto device = stub::gpu();
  device.global_memory = 512 << 20;
  device.max_allocation = 64 << 20;
  stub::set_device(device);
  const Runtime runtime = stub::make_runtime();
  for (const StripWay way : {StripWay::staged, StripWay::mapped}) {
    Staging staging(runtime, {3, way});
    Kept kept;
    Picture src(65536, 512, 0, 0);
    number(src);
    for (const bool looks : {false, true}) {
      Picture dst(65536, 512, 5, 9);  // rows of all alignments
      std::atomic<std::size_t> seen{0};
      const StagedBytes look = [&](std::size_t begin, std::size_t end) { seen += end - begin; };
      pass(runtime, staging, kept, src, dst, {}, looks ? look : StagedBytes());
      CHECK(same_rows(src, dst));
      CHECK(gaps_hold(dst, 9));
      CHECK(seen == (looks ? std::size_t{65536} * 512 : 0));
    }
  }
}

TEST_CASE("pictures that grow bit by bit have memory pinned a few times") {
  stub::set_device(stub::gpu());
  const Runtime runtime = stub::make_runtime();
  Staging staging(runtime, {2, StripWay::staged});
  Kept kept;
  stub::count_functions(true);
  const long before = stub::calls("clEnqueueMapBuffer");
  for (std::size_t rows = 1; rows < 1000; rows += 11) {
    Picture src(4096, rows, 0, 1);
    Picture dst(4096, rows, 0, 2);
    pass(runtime, staging, kept, src, dst);
    CHECK(same_rows(src, dst));
  }
  CHECK(stub::calls("clEnqueueMapBuffer") - before <= 6);
  stub::count_functions(false);
}

TEST_CASE("CPUs work in place where alignment and overlap allow it") {
  stub::set_device(stub::cpu());
  const Runtime runtime = stub::make_runtime();
  Staging staging(runtime);
  CHECK(staging.describe() == "in place");
  Picture src(4096, 40, 0, 1);
  Picture dst(4096, 40, 0, 2);
  const HostRows rows = src.read();
  cl::Buffer none;
  CHECK(staging.up(rows, none).in_place);
  CHECK(staging.place(dst.write(), none, &rows).in_place);
  CHECK(none() == nullptr);
  // A row further, as far as memory is shared.
  const HostRowsToWrite overlaps{src.begin() + 4096 * 39, 4096, 4096, 40};
  const HostRowsToWrite behind{src.begin() + 4096 * 20, 4096, 4096, 20};
  const HostRows half{src.begin(), 4096, 4096, 20};
  cl::Buffer kept;
  CHECK(!staging.place(overlaps, kept, &rows).in_place);
  CHECK(!staging.place(src.write(), kept, &rows).in_place);
  CHECK(staging.place(behind, kept, &half).in_place);
  // What is not aligned, and results with gaps.
  const HostRows odd{src.begin() + 1, 4096, 4096, 39};
  CHECK(!staging.up(odd, kept).in_place);
  const HostRows apart{src.begin(), 4096, 4000, 40};
  const HostRows oddly_apart{src.begin(), 4090, 4000, 40};
  CHECK(staging.up(apart, kept).in_place);
  CHECK(!staging.up(oddly_apart, kept).in_place);
  CHECK(!staging.place({dst.begin(), 4096, 4000, 40}, kept, &rows).in_place);
  CHECK(staging.up({src.begin(), 64, 64, 2}, kept).in_place);  // small ones, too
  CHECK(staging.up(apart, kept).view.pitch == 4096);
  const Staged one_row = staging.up({src.begin(), 160000, 160000, 1}, kept);
  CHECK(one_row.in_place);
  CHECK(one_row.view.pitch == 0);  // as of a buffer: bytes that the operation has rows of
  stub::set_device(stub::gpu());
  Staging of_gpu(stub::make_runtime());
  CHECK(of_gpu.describe() == "staged");
}

TEST_CASE("memory that cannot be pinned: the slower way, and why") {
  stub::set_device(stub::gpu());
  const Runtime runtime = stub::make_runtime();
  Staging staging(runtime, {2, StripWay::staged});
  Picture src(4097, 300, 3, 0);
  Picture dst(4097, 300, 0, 0);
  number(src);
  Kept kept{create_buffer(runtime, 4097 * 300), create_buffer(runtime, 4097 * 300)};
  stub::fail_call("clCreateBuffer", 1, CL_MEM_OBJECT_ALLOCATION_FAILURE);
  pass(runtime, staging, kept, src, dst);
  stub::fail_call("clCreateBuffer", 0, 0);
  CHECK(same_rows(src, dst));
  CHECK(staging.describe().find("direct (no pinned memory: ") == 0);
  CHECK(staging.describe().find("CL_MEM_OBJECT_ALLOCATION_FAILURE") != std::string::npos);
}

TEST_CASE("each call that fails is an error, and the staging goes on") {
  for (const bool cpu : {false, true}) {
    stub::set_device(cpu ? stub::cpu() : stub::gpu());
    const Runtime runtime = stub::make_runtime();
    const stub::Counts before = stub::alive();
    for (const StripWay way : kWays) {
      for (const std::size_t rows : {20U, 300U}) {
        Picture src(4097, rows, 0, 0);
        Picture dst(4097, rows, 0, 0);
        number(src);
        bool failed = true;
        for (long n = 1; failed && n < 200; ++n) {
          Staging staging(runtime, {2, way});
          Kept kept;
          stub::fail_call(n, CL_OUT_OF_HOST_MEMORY);
          try {
            pass(runtime, staging, kept, src, dst);
            failed = !stub::failed_call().empty();
          } catch (const Error& error) {
            CHECK(error.code == Errc::out_of_resources);
          }
          stub::fail_call(0, 0);
          std::memset(dst.begin(), 0, 4097 * rows);
          pass(runtime, staging, kept, src, dst);
          CHECK(same_rows(src, dst));
        }
        CHECK(!failed);
      }
    }
    CHECK(stub::alive() == before);
  }
}

TEST_CASE("an upload that fails is an error where the result needs larger pieces, too") {
  stub::set_device(stub::gpu());
  const Runtime runtime = stub::make_runtime();
  Picture src(4096, 20, 0, 0);
  number(src);
  for (const std::size_t rows : {20U, 60U, 300U}) {
    for (long n = 2; n < 9; ++n) {
      CAPTURE(n);
      Staging staging(runtime, {2, StripWay::staged});
      Kept kept;
      Picture dst(4096, rows, 0, 0);
      bool failed = false;
      stub::fail_command(n, -77);
      try {
        const HostRows from_rows = src.read();
        const Staged from = staging.up(from_rows, kept.from);
        const Staged to = staging.place(dst.write(), kept.to, &from_rows);
        staging.down(to, dst.write(), copy(runtime, from, to, src.row_bytes, src.rows));
      } catch (const Error&) {
        failed = true;
      }
      stub::fail_command(0, 0);
      CHECK((failed || std::memcmp(src.begin(), dst.begin(), std::size_t{4096} * 20) == 0));
      CHECK((failed || n > 2));  // the second command is the upload
    }
  }
}

TEST_CASE("commands that fail on the device are errors with their code") {
  for (const bool cpu : {false, true}) {
    stub::set_device(cpu ? stub::cpu() : stub::gpu());
    const Runtime runtime = stub::make_runtime();
    const stub::Counts before = stub::alive();
    for (const StripWay way : kWays) {
      for (const std::size_t width : {4096U, 4097U}) {  // of whole vectors: in place on a CPU
        for (const std::size_t rows : {2U, 300U}) {     // the first are copied by OpenCL itself
          const long first = cpu ? 1 : 2;  // it may map the pinned memory, which has a way back
          for (long n = first; n < 12; ++n) {
            CAPTURE(n);
            Staging staging(runtime, {2, way});
            Kept kept;
            Picture src(width, rows, 0, 0);
            Picture dst(width, rows, 0, 0);
            number(src);
            stub::fail_command(n, -77);
            bool failed = false;
            try {
              pass(runtime, staging, kept, src, dst);
            } catch (const Error& error) {
              failed = true;
              CHECK_MESSAGE((error.status == -77 ||
                             error.status == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
                            error.what());
            }
            CHECK((failed || same_rows(src, dst)));
            stub::fail_command(0, 0);
            pass(runtime, staging, kept, src, dst);
            CHECK(same_rows(src, dst));
          }
        }
      }
    }
    CHECK(stub::alive() == before);
  }
}

TEST_CASE("rows that are none, and options out of range, are refused") {
  stub::set_device(stub::gpu());
  const Runtime runtime = stub::make_runtime();
  Staging staging(runtime);
  cl::Buffer kept;
  unsigned char memory[64] = {};
  const long before = stub::calls();
  const auto refused = [&](const auto& call, const std::string& message) {
    const Error error = error_of(call);
    CHECK(error.code == Errc::invalid_argument);
    CHECK_MESSAGE(error.what() == "Staging: " + message, error.what());
  };
  refused([&] { staging.up({nullptr, 8, 8, 8}, kept); }, "src is null");
  refused(
      [&] {
        staging.up({memory, 8, 8, 0}, kept);
      },
      "src has 0 rows of 8 bytes; both must be at least 1");
  refused(
      [&] {
        staging.place({memory, 7, 8, 8}, kept, nullptr);
      },
      "dst: the pitch of 7 bytes is less than a row of 8 bytes");
  refused([&] { staging.down({kept, {}, false}, {nullptr, 8, 8, 8}, {}); }, "dst is null");
  CHECK(stub::calls() == before);
  CHECK(error_of([&] {
          Staging staging(runtime, {-1, StripWay::automatic});
        }).code == Errc::invalid_argument);
  CHECK(error_of([&] {
          Staging staging(runtime, {1025, StripWay::automatic});
        }).where == "Staging");
}
