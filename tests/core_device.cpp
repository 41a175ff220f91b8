// Devices: specifications, the reasons for a choice, and machines without any.
#include <algorithm>
#include <clcook/core/device.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <clcook/core/runtime.hpp>

#include "clcook_places.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;

namespace {

std::vector<DeviceCandidate> all_devices() { return find_devices("", false); }

// The specification that names the first device of this machine exactly.
std::string first_spec() {
  const std::vector<DeviceCandidate> all = all_devices();
  REQUIRE(!all.empty());
  return all.front().spec;
}

DeviceInfo named(const std::string& platform, const std::string& name, const std::string& vendor,
                 bool gpu) {
  DeviceInfo info;
  info.platform = platform;
  info.name = name;
  info.vendor = vendor;
  info.gpu = gpu;
  info.cpu = !gpu;
  return info;
}

}  // namespace

TEST_CASE("the device tells what it is") {
  const DeviceInfo& info = runtime().info();
  CHECK_FALSE(info.platform.empty());
  CHECK_FALSE(info.name.empty());
  CHECK_FALSE(info.driver.empty());
  CHECK(info.version.rfind("OpenCL ", 0) == 0);
  CHECK(info.c_version.rfind("OpenCL C ", 0) == 0);
  CHECK(info.name.find('\0') == std::string::npos);
  CHECK(info.compiler);
  CHECK(info.compute_units >= 1);
  CHECK(info.max_group >= 1);
  CHECK(info.max_items[0] >= 1);
  CHECK(info.local_mem >= 16 * 1024);
  CHECK(info.global_mem >= info.max_allocation);
  CHECK(info.base_alignment >= 1);
  CHECK((info.cpu || info.gpu || info.accelerator));
  CHECK_FALSE(info.has_extension("cl_khr_not_there"));
  DeviceInfo fake;
  fake.extensions = "cl_khr_fp64 cl_khr_fp16_more";
  CHECK(fake.has_extension("cl_khr_fp64"));
  CHECK_FALSE(fake.has_extension("cl_khr_fp16"));  // a prefix is another extension
  CHECK_FALSE(fake.has_extension("khr_fp64"));
}

TEST_CASE("names match what people call devices") {
  using clcook::detail::matches_name;
  const DeviceInfo pocl =
      named("Portable Computing Language", "pthread-AMD EPYC", "AuthenticAMD", false);
  const DeviceInfo nvidia = named("NVIDIA CUDA", "NVIDIA H200", "NVIDIA Corporation", true);
  const DeviceInfo amd =
      named("AMD Accelerated Parallel Processing", "gfx1030", "Advanced Micro Devices, Inc.", true);
  for (const DeviceInfo* one : {&pocl, &nvidia, &amd}) {
    CHECK(matches_name(*one, ""));
    CHECK(matches_name(*one, "any"));
    CHECK(matches_name(*one, "gpu") == one->gpu);
    CHECK(matches_name(*one, "cpu") == one->cpu);
    CHECK_FALSE(matches_name(*one, "accelerator"));
    CHECK(matches_name(*one, "pocl") == (one == &pocl));
    CHECK(matches_name(*one, "nvidia") == (one == &nvidia));
    CHECK(matches_name(*one, "h200") == (one == &nvidia));
    CHECK(matches_name(*one, "amd") == (one == &amd));  // not the CPU of that vendor
  }
}

TEST_CASE("every device is found under its own specification, in any case of letters") {
  for (const DeviceCandidate& one : all_devices()) {
    CAPTURE(one.spec);
    for (const bool probe : {false, true}) {
      int chosen = 0;
      for (const DeviceCandidate& seen : find_devices(one.spec, probe)) {
        if (seen.verdict != "chosen") {
          CHECK(contains(seen.verdict, "does not match '" + one.spec + "'"));
          continue;
        }
        ++chosen;
        CHECK(seen.spec == one.spec);
        CHECK(seen.usable);
      }
      CHECK(chosen == 1);
    }
    std::string shout = one.info.platform;
    for (char& c : shout) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    CHECK(pick_device(shout)() != nullptr);
    CHECK(pick_device(one.info.name)() != nullptr);  // may hold blanks and signs
  }
}

TEST_CASE("types, any and indices choose what they say") {
  const std::vector<DeviceCandidate> all = all_devices();
  bool cpu = false;
  bool gpu = false;
  for (const DeviceCandidate& one : all) {
    cpu = cpu || one.info.cpu;
    gpu = gpu || one.info.gpu;
  }
  CHECK(pick_device("any")() == pick_device("ANY")());
  CHECK(pick_device("0:0")() == all.front().device());
  CHECK(pick_device(":0")() == all.front().device());
  CHECK(pick_device("any:0")() == all.front().device());
  if (cpu) {
    CHECK(device_info(pick_device("cpu")).cpu);
    CHECK(device_info(pick_device("CPU:0")).cpu);
  } else {
    CHECK(error_of([] { pick_device("cpu"); }).code == Errc::no_device);
  }
  if (gpu) {
    CHECK(device_info(pick_device("gpu")).gpu);
    CHECK(device_info(pick_device("any")).gpu);  // goes before a CPU
  } else {
    CHECK(error_of([] { pick_device("gpu"); }).code == Errc::no_device);
  }
  bool pocl = false;
  for (const DeviceCandidate& one : all) {
    pocl = pocl || one.info.platform == "Portable Computing Language";
  }
  if (pocl) {
    CHECK(device_info(pick_device("pocl")).platform == "Portable Computing Language");
    CHECK(device_info(pick_device("PoCL:0")).platform == "Portable Computing Language");
  } else {
    MESSAGE("SKIPPED: PoCL is not installed");
  }
}

TEST_CASE("a device that is not there: the error lists all devices with their reasons") {
  for (const char* spec : {"no such device", "no such device:0", "pocl:999999", "0:999999", "999:0",
                           "accelerator:77"}) {
    CAPTURE(spec);
    const Error error = error_of([&] { pick_device(spec); });
    CHECK(error.code == Errc::no_device);
    CHECK(contains(error.what(), spec));
    for (const DeviceCandidate& one : all_devices()) {
      CHECK(contains(error.what(), one.info.name));
      CHECK(contains(error.what(), one.spec + " "));
    }
    CHECK(contains(error.what(), text("does not match '", spec, "'")));
    CHECK(error_of([&] { Runtime::pick(spec); }).code == Errc::no_device);
  }
}

TEST_CASE("a malformed index is refused and shown") {
  for (const char* spec : {"pocl:", "pocl:x", "pocl:-1", "pocl:+1", "pocl: 0", "0:", ":", "gpu:1.5",
                           "0:0:x", "pocl:12345678901234567890", "12345678:0", "pocl:0x1"}) {
    CAPTURE(spec);
    const Error error = error_of([&] { pick_device(spec); });
    CHECK(error.code == Errc::invalid_argument);
    CHECK(contains(error.what(), spec));
    CHECK(contains(error.what(), "index"));
  }
}

TEST_CASE("CLCOOK_DEVICE is the specification when none is given") {
  {
    const ScopedVariable set("CLCOOK_DEVICE", "no such device");
    CHECK(contains(error_of([] { pick_device(); }).what(), "no such device"));
    CHECK(contains(error_of([] { Runtime::pick(); }).what(), "no such device"));
    CHECK(pick_device(first_spec())() != nullptr);  // an explicit one wins
  }
  const ScopedVariable set("CLCOOK_DEVICE", first_spec());
  CHECK(pick_device()() == all_devices().front().device());
  const ScopedVariable empty("CLCOOK_DEVICE", "");
  CHECK(pick_device()() != nullptr);
}

TEST_CASE("only usable devices are chosen") {
  for (const DeviceCandidate& one : find_devices("any")) {
    CHECK((one.verdict == "chosen" || one.verdict == "usable" ||
           one.verdict.rfind("rejected: ", 0) == 0));
    CHECK(one.usable == (one.verdict.rfind("rejected: ", 0) != 0));
  }
  CHECK(clcook::detail::probe(runtime().device(), runtime().info(), DiskCache()).empty());
}

TEST_CASE("a kernel is compiled to choose a device only where there is a choice") {
  const TempFolder folder;
  const DiskCache disk(folder.path().string());
  CHECK(pick_device(first_spec(), disk)() != nullptr);
  CHECK(std::filesystem::is_empty(folder.path()));
  std::size_t usable = 0;
  for (const DeviceCandidate& one : all_devices()) usable += one.usable ? 1 : 0;
  pick_device("any", disk);
  CHECK(std::filesystem::is_empty(folder.path()) == (usable == 1));
}

TEST_CASE("a picked runtime has the queue that was asked for") {
  PickOptions options;
  options.profiling = true;
  options.out_of_order = true;
  try {
    const Runtime on = Runtime::pick({}, options);
    cl_command_queue_properties properties = 0;
    check(clGetCommandQueueInfo(on.queue()(), CL_QUEUE_PROPERTIES, sizeof properties, &properties,
                                nullptr),
          "clGetCommandQueueInfo");
    CHECK((properties & CL_QUEUE_PROFILING_ENABLE) != 0);
    CHECK((properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0);
  } catch (const Error& error) {
    CHECK(error.code == Errc::unsupported);
    MESSAGE("SKIPPED: ", std::string(error.what()));
  }
}

TEST_CASE("a runtime and one for every other device of its platform and kind") {
  const Runtime first = Runtime::pick();
  const std::vector<Runtime> all = first.with_others();
  CHECK(all.front().queue()() == first.queue()());
  std::size_t count = 0;
  for (const DeviceCandidate& one : find_devices()) {
    if (!one.usable || one.info.platform != first.info().platform ||
        one.info.gpu != first.info().gpu || one.info.cpu != first.info().cpu)
      continue;
    ++count;
    CHECK(std::count_if(all.begin(), all.end(), [&](const Runtime& runtime) {
            return runtime.device()() == one.device();
          }) == 1);
  }
  CHECK(all.size() == count);
}

TEST_CASE("a null queue and a queue of another context are refused") {
  CHECK(error_of([] { Runtime{cl::CommandQueue()}; }).code == Errc::invalid_argument);
  const Runtime other = Runtime::pick();
  CHECK(error_of([&] { runtime().with_queue(other.queue()); }).code == Errc::invalid_argument);
  CHECK(error_of([&] { runtime().with_queue(cl::CommandQueue()); }).code == Errc::invalid_argument);
}

TEST_CASE("a buffer that is too large is refused with its size") {
  const cl_ulong most = runtime().info().max_allocation;
  const Error error =
      error_of([&] { create_buffer(runtime(), static_cast<std::size_t>(most) + 1); });
  CHECK(error.code == Errc::out_of_resources);
  CHECK(contains(error.what(), text(most + 1)));
  CHECK(contains(error.what(), text(most)));
}

// Run by the next test in a process that sees no platform.
TEST_CASE("child: without any platform" * doctest::skip()) {
  CHECK(find_devices().empty());
  const Error error = error_of([] { Runtime::pick(); });
  std::printf("code=%s\n%s\n", to_string(error.code), error.what());
  const Error named_error = error_of([] { Runtime::pick("gpu"); });
  std::printf("code=%s\n%s\n", to_string(named_error.code), named_error.what());
}

TEST_CASE("without any platform the error says what to install") {
  const Ran ran = run_self("child: without any platform", {{"OCL_ICD_VENDORS", "/nonexistent"},
                                                           {"OPENCL_VENDOR_PATH", "/nonexistent"},
                                                           {"OCL_ICD_FILENAMES", std::nullopt},
                                                           {"CLCOOK_DEVICE", std::nullopt}});
  CAPTURE(ran.out);
  CHECK(ran.code == 0);
  CHECK(count_of(ran.out, "code=no_device") == 2);
  CHECK(contains(ran.out, "pocl-opencl-icd"));
  CHECK(contains(ran.out, "'gpu'"));
}

TEST_CASE("PoCL without a cache folder that it can write: the error names POCL_CACHE_DIR") {
  if (!quirks::is_pocl(runtime().info(), "3.")) {
    MESSAGE("SKIPPED: only PoCL 3 offers no device then");
    return;
  }
  const char* vendors = std::getenv("OCL_ICD_VENDORS");
  const std::string file = vendors != nullptr ? vendors : "/etc/OpenCL/vendors/pocl.icd";
  const Ran ran = run_self("child: without any platform", {{"OCL_ICD_VENDORS", file},
                                                           {"POCL_CACHE_DIR", "/proc/clcook"},
                                                           {"CLCOOK_DEVICE", std::nullopt}});
  CAPTURE(ran.out);
  CHECK(ran.code == 0);
  CHECK(count_of(ran.out, "Portable Computing Language is there and offers no device") == 2);
  CHECK(count_of(ran.out, "set POCL_CACHE_DIR to a folder that you may write to") == 2);
  CHECK_FALSE(contains(ran.out, "install a driver"));
}

namespace {

// A folder of vendor files: those of this machine, and `broken`, one of support/broken_icd.c.
class Vendors {
 public:
  Vendors() {
    namespace fs = std::filesystem;
    const fs::path library = folder_.path() / "libbroken.so";
    const Ran ran =
        run_program({"/bin/sh", "-c",
                     "cc -shared -fPIC '" CLCOOK_SOURCE_DIR "/tests/support/broken_icd.c' -o '" +
                         library.string() + "'"});
    INFO(ran.err);
    REQUIRE(ran.code == 0);
    fs::create_directories(both());
    fs::create_directories(alone());
    write_bytes(both() / "a_broken.icd", library.string() + "\n");  // loaded first
    write_bytes(alone() / "broken.icd", library.string() + "\n");
    const char* given = std::getenv("OCL_ICD_VENDORS");
    const fs::path real = given != nullptr && *given != '\0' ? given : "/etc/OpenCL/vendors";
    if (!fs::is_directory(real)) {
      fs::copy_file(real, both() / "good.icd");
      return;
    }
    for (const auto& entry : fs::directory_iterator(real)) {
      if (entry.path().extension() == ".icd")
        fs::copy_file(entry.path(), both() / entry.path().filename());
    }
  }

  std::filesystem::path both() const { return folder_.path() / "both"; }
  std::filesystem::path alone() const { return folder_.path() / "alone"; }
  // Picks a device in a process that sees these vendors, with the driver broken in this way.
  Ran pick(const std::filesystem::path& vendors, const std::string& broken,
           const std::optional<std::string>& device = {}) const {
    return run_self(
        "child: picks a device",
        {{"OCL_ICD_VENDORS", vendors.string()}, {"CLCOOK_DEVICE", device}, {"BROKEN_ICD", broken}});
  }

 private:
  TempFolder folder_;
};

}  // namespace

// Run by the next tests.
TEST_CASE("child: picks a device" * doctest::skip()) {
  try {
    const cl::Device device = pick_device();
    std::printf("picked=%s\n", device_info(device).platform.c_str());
    const Runtime on = Runtime::pick();
    std::printf("on=%s\n", on.info().platform.c_str());
  } catch (const Error& error) {
    std::printf("code=%s\n%s\n", to_string(error.code), error.what());
  }
}

TEST_CASE("a driver that ends the process is left out by CLCOOK_DEVICE, one that fails by itself") {
  const Vendors vendors;
  for (const char* way : {"crash", "exit"}) {
    CAPTURE(way);
    CHECK(vendors.pick(vendors.both(), way).code != 0);
    const Ran ran = vendors.pick(vendors.both(), way, "cpu");
    CAPTURE(ran.out);
    CHECK(ran.code == 0);
    CHECK(contains(ran.out, "picked="));
    CHECK_FALSE(contains(ran.out, "picked=Broken"));
  }
  Ran ran = vendors.pick(vendors.both(), "");
  CHECK(ran.code == 0);
  CHECK(contains(ran.out, "picked="));
  CHECK_FALSE(contains(ran.out, "picked=Broken"));
  ran = vendors.pick(vendors.alone(), "");
  CHECK(ran.code == 0);
  CAPTURE(ran.out);
  CHECK(contains(ran.out, "picked=Broken"));  // an only one is not probed: it fails when it is used
  CHECK(contains(ran.out, "code=out_of_resources"));
  CHECK(contains(ran.out, "clCreateContext for Broken, "));
}

TEST_CASE("a vendor file whose library is not there: the error names both, others go on") {
  const TempFolder folder;
  const auto file = folder.path() / "gone.icd";
  write_bytes(file, "libclcook_is_not_there.so\n");
  write_bytes(folder.path() / ".icd", "libclcook_without_a_name.so\n");
  for (const auto& place : {file, folder.path()}) {
    const Ran ran = run_self("child: without any platform", {{"OCL_ICD_VENDORS", place.string()},
                                                             {"CLCOOK_DEVICE", std::nullopt}});
    CAPTURE(ran.out);
    CHECK(ran.code == 0);
    CHECK(count_of(ran.out, file.string() + " names 'libclcook_is_not_there.so'") == 2);
    CHECK_FALSE(contains(ran.out, "without_a_name"));
    CHECK(contains(ran.out, "ldd"));
  }
}
