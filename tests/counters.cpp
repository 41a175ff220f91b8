// clcook counters: recorded calls, and what the scripts say of them. tests/counters/counters_test.py
// looks at the scripts.
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include <clcook/core/launch.hpp>
#include <clcook/registry/recipe.hpp>
#include "bench/cookbook/recipes.hpp"

#include "bench/counters/ncu.hpp"
#include "bench/counters/recording.hpp"
#include "bench/try/description.hpp"
#include "bench/try/recipe.hpp"
#include "clcook_places.hpp"
#include "support/grid.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;
using tool::Json;

namespace fs = std::filesystem;

namespace {

// Runs a recorded call through OpenCL and compares what it leaves. The arguments are those of the
// file, not those of the recorder.
void replay_here(const fs::path& folder, const std::string& name) {
  const Json all = Json::parse(read_bytes(folder / (name + ".json")));
  const Runtime& here = runtime();
  const auto content = [&](const Json& buffer, const char* when) {
    const auto bytes = buffer.at("bytes").get<std::size_t>();
    const auto file = buffer.at(when).get<std::string>();
    std::string out = file.rfind("fill ", 0) != 0
                          ? read_bytes(folder / file)
                          : std::string(bytes, static_cast<char>(std::stoi(file.substr(5))));
    REQUIRE(out.size() == bytes);
    return out;
  };
  std::vector<cl::Buffer> buffers;
  for (const Json& one : all.at("buffers")) {
    std::string before = content(one, "before");
    buffers.push_back(create_buffer(here, before.size(), CL_MEM_READ_WRITE, before.data()));
  }
  REQUIRE(!all.at("launches").empty());
  cl_int status = CL_SUCCESS;
  for (const Json& one : all.at("launches")) {
    const std::string binary = read_bytes(folder / one.at("program").get<std::string>());
    const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
    const std::size_t size = binary.size();
    const cl_device_id device = here.device()();
    const cl::Program program(
        clCreateProgramWithBinary(here.context()(), 1, &device, &size, &bytes, nullptr, &status));
    check(status, "clCreateProgramWithBinary");
    check(clBuildProgram(program(), 1, &device, "", nullptr, nullptr), "clBuildProgram");
    const cl::Kernel kernel(
        clCreateKernel(program(), one.at("kernel").get<std::string>().c_str(), &status));
    check(status, "clCreateKernel");
    std::vector<cl::Buffer> parts;
    cl_uint at = 0;
    for (const Json& argument : one.at("arguments")) {
      if (argument.contains("value")) {
        const auto hex = argument.at("value").get<std::string>();
        std::vector<unsigned char> value;
        for (std::size_t i = 0; i < hex.size(); i += 2)
          value.push_back(static_cast<unsigned char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
        check(clSetKernelArg(kernel(), at, value.size(), value.data()), "value");
      } else if (argument.contains("local")) {
        check(clSetKernelArg(kernel(), at, argument.at("local").get<std::size_t>(), nullptr),
              "local");
      } else {
        const cl_buffer_region region{argument.at("offset").get<std::size_t>(),
                                      argument.at("bytes").get<std::size_t>()};
        parts.emplace_back(clCreateSubBuffer(buffers.at(argument.at("buffer"))(), CL_MEM_READ_WRITE,
                                             CL_BUFFER_CREATE_TYPE_REGION, &region, &status));
        check(status, "clCreateSubBuffer");
        check(clSetKernelArg(kernel(), at, sizeof(cl_mem), &parts.back()()), "buffer");
      }
      ++at;
    }
    const auto global = one.at("global").get<Launch::Sizes>();
    const auto local = one.at("local").get<Launch::Sizes>();
    check(clEnqueueNDRangeKernel(here.queue()(), kernel(), one.at("dims").get<cl_uint>(), nullptr,
                                 global.data(), local.data(), 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
    check(clFinish(here.queue()()), "clFinish");
  }
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const std::string wanted = content(all.at("buffers").at(i), "after");
    std::string found(wanted.size(), '\0');
    check(clEnqueueReadBuffer(here.queue()(), buffers[i](), CL_TRUE, 0, found.size(), found.data(),
                              0, nullptr, nullptr),
          "clEnqueueReadBuffer");
    CHECK((found == wanted));
  }
}

const cl::Program& program() {
  static const cl::Program* one = new cl::Program(runtime().build(Source("recorded.cl", R"(
__kernel void all_kinds(__global float* out, __global const float* in, __local float* tile,
                        float4 four, uint one, uchar byte) {
  const uint i = get_local_id(0);
  tile[i] = in[get_global_id(0)] + four.z;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = tile[get_local_size(0) - 1 - i] + one + byte;
}
)"),
                                                                  {}, "test/recorded"));
  return *one;
}

}  // namespace

LONG_TEST_CASE("what a launch is made of is recorded, and nothing else", 16) {
  const TempFolder folder;
  std::vector<float> numbers(256);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  const cl::Buffer in =
      create_buffer(runtime(), numbers.size() * 4, CL_MEM_READ_WRITE, numbers.data());
  const cl::Buffer parent =
      create_buffer(runtime(), numbers.size() * 4, CL_MEM_READ_WRITE, numbers.data());
  // Half of the parent: the second one.
  cl_int status = CL_SUCCESS;
  const cl_buffer_region region{512, 512};
  const cl::Buffer half(clCreateSubBuffer(parent(), CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION,
                                          &region, &status));
  REQUIRE(status == CL_SUCCESS);
  counters::Recorder recorder;
  Kernel kernel(runtime().with_hook(recorder), program(), "all_kinds");
  const cl_float4 four = {{1, 2, 3, 4}};
  const Launch launch = Launch::cover({128, 1, 1}, {32, 1, 1});
  counters::Store store(folder.path(), 1 << 20);
  const counters::Recording all = recorder.record(store, [&] {
    kernel(launch, {}, half, in, LocalBytes{128}, four, cl_uint{5}, cl_uchar{7});
    kernel(launch, {}, half, half, LocalBytes{128}, four, cl_uint{6}, cl_uchar{7});
  });
  write_recording(all, folder.path(), "call0");
  // Not recorded any more.
  kernel(launch, {}, half, in, LocalBytes{128}, four, cl_uint{9}, cl_uchar{7}).wait();

  REQUIRE(all.buffers.size() == 2);
  CHECK(all.buffers[0].bytes == 1024);
  CHECK(all.buffers[1].bytes == 1024);
  CHECK(all.buffers[0].before == all.buffers[1].before);  // equal contents are one file
  CHECK(all.buffers[1].after == all.buffers[1].before);   // was only read
  CHECK(all.buffers[0].after != all.buffers[0].before);
  REQUIRE(all.launches.size() == 2);
  const counters::RecordedLaunch& first = all.launches[0];
  CHECK(first.kernel == "all_kinds");
  CHECK(first.launch.dims == 1);
  CHECK(first.launch.global == launch.global);
  CHECK(first.launch.local == launch.local);
  REQUIRE(first.arguments.size() == 6);
  using Kind = counters::Argument::Kind;
  CHECK(first.arguments[0].kind == Kind::buffer);
  CHECK(first.arguments[0].buffer == 0);
  CHECK(first.arguments[0].offset == 512);
  CHECK(first.arguments[0].bytes == 512);
  CHECK(first.arguments[1].buffer == 1);
  CHECK(first.arguments[1].offset == 0);
  CHECK(first.arguments[1].bytes == 1024);
  CHECK(first.arguments[2].kind == Kind::local);
  CHECK(first.arguments[2].local == 128);
  CHECK(first.arguments[3].kind == Kind::value);
  CHECK(first.arguments[3].value.size() == 16);
  CHECK(std::memcmp(first.arguments[3].value.data(), &four, 16) == 0);
  CHECK(first.arguments[4].value == std::vector<unsigned char>{5, 0, 0, 0});
  CHECK(first.arguments[5].value == std::vector<unsigned char>{7});
  CHECK(all.launches[1].program == first.program);
  CHECK(all.launches[1].arguments[1].buffer == 0);
  const std::string before = read_bytes(folder / all.buffers[0].before);
  REQUIRE(before.size() == 1024);
  CHECK(std::memcmp(before.data(), numbers.data(), 1024) == 0);
  replay_here(folder.path(), "call0");

  // A byte all over needs no file.
  const cl::Buffer grey =
      create_buffer(runtime(), 512, CL_MEM_READ_WRITE, std::string(512, '\x05').data());
  const counters::Recording second = recorder.record(store, [&] {
    kernel(launch, {}, half, grey, LocalBytes{128}, four, cl_uint{5}, cl_uchar{7});
    kernel(launch, {}, half, in, LocalBytes{128}, four, cl_uint{5}, cl_uchar{7});
  });
  REQUIRE(second.buffers.size() == 3);
  CHECK(second.buffers[1].before == "fill 5");
  CHECK(second.buffers[2].before == all.buffers[1].before);  // the store knows it
}

TEST_CASE("what cannot be recorded is refused") {
  const TempFolder folder;
  const cl::Buffer out = create_buffer(runtime(), 512);
  const cl::Buffer in = create_buffer(runtime(), 512);
  counters::Recorder recorder;
  Kernel kernel(runtime().with_hook(recorder), program(), "all_kinds");
  const auto call = [&] {
    kernel(Launch::cover(128, 32), {}, out, in, LocalBytes{128}, cl_float4{}, cl_uint{5},
           cl_uchar{7});
  };
  counters::Store store(folder.path(), 500);
  const Error error = error_of([&] { recorder.record(store, call); });
  CHECK(error.code == Errc::unsupported);
  CHECK(contains(error.what(), "--shape names a smaller problem"));
  // Nothing of that call is left.
  CHECK_NOTHROW(call());
  counters::Store large(folder.path(), 1 << 20);
  CHECK(recorder.record(large, call).launches.size() == 1);
  CHECK(recorder.record(large, [] {}).launches.empty());
}

LONG_TEST_CASE("recorded calls of recipes give the same again", 32) {
  std::vector<Recipe> all = cookbook::recipes();
  if (tool::described::can_read()) {
    all.push_back(tool::described::recipe_of(std::make_shared<tool::described::Description>(
        tool::described::read_description(CLCOOK_SOURCE_DIR "/examples/try/smooth.toml"))));
  } else {
    MESSAGE("SKIPPED: a description, without toml++");
  }
  std::size_t replayed = 0;
  for (const Recipe& recipe : all) {
    Params shape;
    for (const Params& one : recipe.test_shapes) {
      if (one.integer("tiny", 0) != 0 && shape.empty()) shape = one;
    }
    if (recipe.name == "smooth") shape = recipe.test_shapes.front();
    if (shape.empty()) continue;
    counters::Recorder recorder;
    const std::unique_ptr<Case> one = recipe.make(runtime().with_hook(recorder), shape, 1);
    for (const VariantInfo& variant : recipe.variants) {
      if (!variant.is_baseline && variant.name != recipe.headline_pair.with) continue;
      CAPTURE(recipe.name);
      CAPTURE(variant.name);
      const TempFolder folder;
      try {
        one->prepare(variant.name, combinations(variant.axes).front());
      } catch (const Error& error) {
        CHECK(error.code == Errc::unsupported);
        continue;
      }
      one->poison();
      one->upload({}).wait();
      try {
        counters::Store store(folder.path(), std::uint64_t{1} << 30);
        const counters::Recording recording = recorder.record(store, [&] { one->run({}).wait(); });
        CHECK(!recording.launches.empty());
        write_recording(recording, folder.path(), "call0");
      } catch (const Error& error) {
        CHECK(contains(error.what(), "takes buffers and values, no images"));
        continue;
      }
      CHECK(one->check({}).ok());
      replay_here(folder.path(), "call0");
      ++replayed;
    }
  }
  CHECK(replayed >= all.size());
}

TEST_CASE("the scripts say what the profiler counted, or why not") {
  const TempFolder folder;
  const Ran ran = run_program({"/bin/sh", "-c",
                               "cc -shared -fPIC -Wl,-soname,libcuda.so.1 '" CLCOOK_SOURCE_DIR
                               "/tests/support/fake_cuda.c' -o '" +
                                   (folder / "libcuda.so.1").string() + "'"});
  INFO(ran.err);
  REQUIRE(ran.code == 0);
  // Stands in for ncu: the second call's replay differs.
  write_bytes(folder / "ncu", R"(#!/bin/sh
if [ "$1" = --version ]; then echo 'Version 2025.3.1.0 (build 1)'; exit 0; fi
while [ "$1" != --log-file ]; do shift; done
log=$2
while [ "$1" != replay ]; do shift; done
folder=$2 calls=${*#*replay}
if [ -e "$folder/closed" ]; then echo '==ERROR== ERR_NVGPUCTRPERM' > "$log"; exit 1; fi
: > "$folder/call0.verdict"
case $calls in *call1*) printf 'another result' > "$folder/call1.verdict" ;; esac
printf '"ID","Kernel Name","smsp__inst_executed.sum"\n"0","sum","1,100.5"\n' > "$log"
)");
  fs::permissions(folder / "ncu", fs::perms::owner_all);
  const ScopedVariable profiler("CLCOOK_NCU", (folder / "ncu").string());
  CHECK(contains(error_of([] { counters::Ncu(); }).what(),
                 "clcook counters: needs NVIDIA's CUDA driver: CUDA: libcuda.so.1"));
  const ScopedVariable cuda("LD_LIBRARY_PATH", folder.path().string());
  {
    const ScopedVariable none("CLCOOK_NCU", "/no_such_program");
    const Error error = error_of([] { counters::Ncu(); });
    CHECK(error.code == Errc::unsupported);
    CHECK(contains(error.what(), "CLCOOK_NCU names '/no_such_program', which is no program"));
    const ScopedVariable bare("PATH", folder.path().string());
    CHECK(contains(error_of([] { counters::Ncu(); }).what(), "needs python3"));
  }
  counters::Ncu ncu;
  CHECK(ncu.version() == "ncu 2025.3.1.0");
  counters::Recording recording;
  recording.launches.resize(1);
  std::vector<counters::Call> calls;
  for (const char* name : {"call0", "call1"}) {
    write_recording(recording, folder.path(), name);
    calls.emplace_back().name = name;
  }
  const auto profile = [&](int seconds, bool stop) {
    ncu.profile(folder.path(), calls, counters::Ncu::Clock::now() + std::chrono::seconds(seconds),
                [&] { return stop; });
  };
  profile(60, true);
  CHECK(calls[0].status.empty());
  profile(60, false);
  CHECK(calls[0].status == "counted");
  CHECK(calls[0].profiled == 1);
  REQUIRE(calls[0].counters.size() > 30);
  CHECK(calls[0].counters[0].first == "time_ns");
  CHECK(std::isnan(calls[0].counters[0].second));
  CHECK(calls[0].counters[1] == std::pair<std::string, double>("instructions", 1100.5));
  CHECK(calls[1].status == "refused");
  CHECK(calls[1].reason == "another result");
  profile(0, false);
  CHECK(calls[0].status == "skipped");
  CHECK(calls[0].reason == "the time of a recipe, 120 s, was spent");
  // Counters that are kept from this user are no variant's matter.
  write_bytes(folder / "closed", "");
  const Error error = error_of([&] { profile(60, false); });
  CHECK(error.code == Errc::unsupported);
  CHECK(contains(error.what(), "run it as root"));
}
