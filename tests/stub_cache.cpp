// Processes on one cache folder, on the stub: eight at once, some that are killed while they write,
// and files with any bit changed.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <clcook/core/cache.hpp>
#include <clcook/core/launch.hpp>
#include <clcook/core/program.hpp>
#include <clcook/group_size.hpp>
#include <clcook/registry/random.hpp>

#include "stub/runtime.hpp"
#include "support/grid.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;

namespace {

constexpr std::size_t kKeys = 5;

std::string key_of(std::size_t i) { return text("key ", i); }

// Long enough that a write takes several calls and some time.
std::string content_of(std::size_t i) {
  return std::string(400000 + 1000 * i, static_cast<char>('a' + i));
}

std::size_t temporaries_in(const std::filesystem::path& folder) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    count += contains(entry.path().filename().string(), ".tmp-") ? 1U : 0U;
  return count;
}

// Starts one of this program's test cases without waiting for it.
pid_t start_self(const std::string& test_case, const std::filesystem::path& folder,
                 const std::string& out) {
  const std::string self = self_path();
  const std::string which = "--test-case=" + test_case;
  const std::string quiet = "--out=" + out;
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    setenv("CLCOOK_TEST_FOLDER", folder.c_str(), 1);
    execl(self.c_str(), self.c_str(), "--no-skip", which.c_str(), quiet.c_str(),
          static_cast<char*>(nullptr));
    _exit(127);
  }
  return child;
}

std::string folder_of_child() {
  const char* folder = std::getenv("CLCOOK_TEST_FOLDER");
  return folder == nullptr ? "" : folder;
}

Source source_of(int number) {
  return Source("numbered.cl", text("__kernel void numbered_", number, "(__global int* out) {}\n"));
}

std::string key_of(const Runtime& runtime, const Source& source) {
  return ProgramCache::make_key(runtime.info(), source.flatten(),
                                Runtime::build_options(runtime.info(), {}));
}

// Whether the program is the one of that number.
bool is_right(const Runtime& runtime, int number) {
  const cl::Program program = runtime.build(source_of(number), {}, "test/numbered");
  cl_int status = CL_SUCCESS;
  const cl::Kernel kernel(clCreateKernel(program(), text("numbered_", number).c_str(), &status));
  return status == CL_SUCCESS;
}

}  // namespace

// Run by the next test: a writer that only a signal ends.
TEST_CASE("child: write for ever" * doctest::skip()) {
  const DiskCache cache(folder_of_child());
  REQUIRE(cache.enabled());
  std::vector<std::string> contents;
  for (std::size_t i = 0; i < kKeys; ++i) contents.push_back(content_of(i));
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  write_bytes(cache.folder() + "/started", "");
  for (std::size_t i = 0; std::chrono::steady_clock::now() < end; ++i)
    cache.store(key_of(i % kKeys), contents[i % kKeys]);
}

LONG_TEST_CASE(
    "processes that are killed while they write leave whole files, and soon nothing else", 16) {
  const TempFolder folder;
  const DiskCache cache((folder / "cache").string());
  std::filesystem::create_directory(folder / "cache");
  std::vector<std::string> contents;
  for (std::size_t i = 0; i < kKeys; ++i) contents.push_back(content_of(i));
  Random random(3);
  std::size_t in_the_middle = 0;
  std::size_t most = 0;
  const int kills = short_grid() ? 40 : 200;
  for (int kill_number = 0; kill_number < kills; ++kill_number) {
    CAPTURE(kill_number);
    std::filesystem::remove(folder / "cache" / "started");
    const pid_t child =
        start_self("child: write for ever", folder / "cache", (folder / "out").string());
    for (int i = 0; i < 20000 && !std::filesystem::exists(folder / "cache" / "started"); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(4000)));
    // Every other time as soon as there is a file that it writes.
    for (int i = 0; kill_number % 2 == 0 && i < 10000 && temporaries_in(folder / "cache") == 0; ++i)
      std::this_thread::yield();
    kill(child, SIGKILL);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));  // it was still writing
    in_the_middle += temporaries_in(folder / "cache") > 0 ? 1U : 0U;
    most = std::max(most, temporaries_in(folder / "cache"));
    // What is there is whole.
    for (std::size_t i = 0; i < kKeys; ++i) {
      const auto got = cache.load(key_of(i));
      CHECK((!got || *got == contents[i]));
    }
  }
  MESSAGE(in_the_middle, " of ", kills, " were killed in the middle of a write");
  CHECK(in_the_middle > 0);
  CHECK(most <= 1);  // a writer takes away what the one before it left
  for (std::size_t i = 0; i < kKeys; ++i) {
    REQUIRE(cache.store(key_of(i), contents[i]));
    CHECK(*cache.load(key_of(i)) == contents[i]);
  }
  CHECK(temporaries_in(folder / "cache") == 0);
}

// Run by the next test, in eight processes at once.
TEST_CASE("child: build from a shared folder" * doctest::skip()) {
  for (int round = 0; round < 20; ++round) {
    const Runtime runtime = stub::make_runtime(false, DiskCache(folder_of_child()));
    for (int i = 0; i < 8; ++i) CHECK(is_right(runtime, i));
  }
}

LONG_TEST_CASE("eight processes on one folder build what they asked for", 16) {
  for (int round = 0; round < 5; ++round) {
    const TempFolder folder;
    std::vector<pid_t> children;
    for (int i = 0; i < 8; ++i) {
      children.push_back(start_self("child: build from a shared folder", folder / "cache",
                                    (folder / text("out", i)).string()));
    }
    for (std::size_t i = 0; i < children.size(); ++i) {
      int status = 0;
      REQUIRE(waitpid(children[i], &status, 0) == children[i]);
      CAPTURE(read_bytes(folder / text("out", i)));
      CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
    }
    CHECK(temporaries_in(folder / "cache") == 0);
    const Runtime runtime = stub::make_runtime(false, DiskCache((folder / "cache").string()));
    for (int i = 0; i < 8; ++i) CHECK(is_right(runtime, i));
    CHECK(runtime.cache().stats().from_disk == 8);
  }
}

LONG_TEST_CASE("a program whose file has any bit changed is built again, and the file with it",
               32) {
  const TempFolder folder;
  const DiskCache disk(folder.path().string());
  {
    const Runtime runtime = stub::make_runtime(false, disk);
    REQUIRE(is_right(runtime, 1));
  }
  const Runtime first = stub::make_runtime(false, disk);
  const std::filesystem::path file = disk.path_of(key_of(first, source_of(1)));
  const std::string whole = read_bytes(file);
  REQUIRE(whole.size() < 2000);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < 8 * whole.size(); ++i) {
    std::string broken = whole;
    broken[i / 8] = static_cast<char>(broken[i / 8] ^ (1 << i % 8));
    write_bytes(file, broken);
    {
      RuntimeOptions options;
      options.disk_cache = disk;
      const Runtime runtime(first.queue(), options);  // with no program in memory
      wrong += is_right(runtime, 1) ? 0U : 1U;
      wrong += runtime.cache().stats().from_source == 1 ? 0U : 1U;
    }
    wrong += read_bytes(file) == whole ? 0U : 1U;
  }
  CHECK(wrong == 0);
  CHECK(temporaries_in(folder.path()) == 0);
}

TEST_CASE("an implementation that keeps programs itself is never asked for binaries") {
  stub::Device device = stub::cpu();
  device.platform = "Portable Computing Language";
  device.platform_version = "OpenCL 3.0 PoCL 3.1";
  stub::set_device(device);
  const ScopedVariable on("CLCOOK_CACHE", std::nullopt);
  const auto files = [](const char* pocl, const std::optional<DiskCache>& asked,
                        const std::filesystem::path& folder) {
    const ScopedVariable cache("POCL_KERNEL_CACHE",
                               pocl == nullptr ? std::nullopt : std::optional(pocl));
    const ScopedVariable standard("CLCOOK_CACHE_DIR", folder.string());
    stub::count_functions(true);
    const long before = stub::calls("clGetProgramInfo");
    PickOptions options;
    options.runtime.disk_cache = asked;
    CHECK(is_right(Runtime::pick("any", options), 1));
    const bool was_asked = stub::calls("clGetProgramInfo") > before;
    stub::count_functions(false);
    std::size_t count = 0;
    if (std::filesystem::exists(folder))
      for (const auto& entry : std::filesystem::directory_iterator(folder)) count += entry.exists();
    CHECK(was_asked == (count > 0));
    return count;  // of the program; nothing is compiled to choose the only device
  };
  const TempFolder folder;
  CHECK(files(nullptr, {}, folder / "a") == 0);
  CHECK(files("1", {}, folder / "a") == 0);
  for (const char* off : {"0", "", "no", "true"}) {  // all of them turn its own cache off
    CAPTURE(off);
    CHECK(files(off, {}, folder / ("b" + std::string(off))) == 1);
  }
  CHECK(files(nullptr, DiskCache((folder / "c").string()), folder / "c") == 1);
  device.platform = "Another";
  stub::set_device(device);
  CHECK(files(nullptr, {}, folder / "d") == 1);
}

TEST_CASE("a plan says once that the cache's folder is not used") {
  stub::set_device(stub::gpu());
  const TempFolder folder;
  const DiskCache disk(folder.path().string());
  GroupSize::Problem problem;
  problem.count = 64;
  const auto said = [&] { return GroupSize(stub::make_runtime(false, disk), problem).describe(); };
  CHECK(count_of(said(), "cache of programs") == 0);
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0770));
  CHECK(count_of(said(), "cache of programs: " + folder.path().string() + " is not used") == 1);
  CHECK(count_of(said(), "has mode 0770: others of its group may write to it") == 1);
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0700));
}
