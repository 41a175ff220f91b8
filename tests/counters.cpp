// clcook counters: programs of OpenCL as CUDA's, recorded calls, and what the profiler writes.
#include <chrono>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <clcook/core/launch.hpp>
#include <clcook/registry/recipe.hpp>
#include "bench/cookbook/recipes.hpp"

#include "bench/counters/cuda.hpp"
#include "bench/counters/ncu.hpp"
#include "bench/counters/ptx.hpp"
#include "bench/counters/recording.hpp"
#include "bench/isa/tools.hpp"
#include "bench/tool/process.hpp"
#include "bench/try/description.hpp"
#include "bench/try/recipe.hpp"
#include "clcook_places.hpp"
#include "support/grid.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;
using counters::CudaKernel;
using counters::PtxParameter;

namespace fs = std::filesystem;

namespace {

std::string nvidia_ptx() {
  // As the driver gives it.
  return read_bytes(fs::path(CLCOOK_SOURCE_DIR) / "tests" / "data" / "counters" / "nvidia.ptx") +
         std::string(1, '\0');
}

// The text with one part replaced, which must be there.
std::string with(std::string text, const std::string& part, const std::string& other) {
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, part.size(), other);
}

std::string refusal(const std::string& ptx, const std::string& kernel, std::size_t parameters) {
  const Error error = error_of(
      [&] { counters::cuda_kernel(ptx, kernel, std::vector<counters::PtxNeed>(parameters)); });
  CHECK(error.code == Errc::unsupported);
  return error.what();
}

// What ptxas says of a program; empty: it takes it, or is not installed.
std::string assembled(const std::string& ptx) {
  const std::string ptxas = tool::find_program("ptxas", {"/usr/local/cuda/bin"});
  if (ptxas.empty()) return "";
  const TempFolder folder;
  write_bytes(folder / "kernel.ptx", ptx);
  const tool::Finished done =
      tool::run_tool({ptxas, "-arch=sm_90", (folder / "kernel.ptx").string(), "-o",
                      (folder / "kernel.cubin").string()});
  return done.code == 0 ? "" : done.out + done.err;
}

}  // namespace

TEST_CASE("parameters are read from PTX") {
  const std::vector<PtxParameter> all = counters::ptx_parameters(nvidia_ptx(), "blend");
  REQUIRE(all.size() == 6);
  const std::vector<std::string> spaces = {"global", "const", "shared", "shared", "", ""};
  const std::vector<std::size_t> bytes = {8, 8, 8, 8, 16, 4};
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(i);
    CHECK(all[i].name == text("blend_param_", i));
    CHECK(all[i].space == spaces[i]);
    CHECK(all[i].bytes == bytes[i]);
  }
  CHECK(all[0].align == 4);
  CHECK(all[3].align == 32);
  CHECK(counters::ptx_parameters(nvidia_ptx(), "other").size() == 1);
}

TEST_CASE("a program of OpenCL becomes one of CUDA") {
  const CudaKernel kernel =
      counters::cuda_kernel(nvidia_ptx(), "blend", {{}, {24}, {100, true}, {64, true}, {}, {}});
  CHECK(kernel.shared_bytes == 128 + 64);  // 100 rounded up to the alignment of the second
  CHECK(kernel.constants == std::vector<std::size_t>(6, 0));
  CHECK(!contains(kernel.text, "%envreg"));
  // The other kernel goes: alone it would keep the program from being loaded.
  CHECK(!contains(kernel.text, "other_param_0"));
  CHECK(!contains(kernel.text, "65536"));
  CHECK(kernel.text.find('\0') == std::string::npos);
  CHECK(contains(kernel.text,
                 ".address_size 64\n"
                 ".extern .shared .align 32 .b8 clcook_shared[];\n"
                 ".const .align 256 .b8 clcook_constants[256];\n"));
  for (const char* line :
       {"mov.b32 \t%r2, 0;", "mov.u64 %rd2, clcook_constants+0;", "mov.u64 %rd3, clcook_shared+0;",
        "mov.u64 %rd4, clcook_shared+128;", "ld.param.u64 \t%rd1, [blend_param_0];",
        ".shared .align 4 .b8 blend_$_tile[256];", "ld.const.f32 \t%f7, [weights+4];",
        ".param .u64 .ptr .global .align 4 blend_param_0", ".param .u64 blend_param_1",
        ".param .u64 blend_param_2", ".param .u64 blend_param_3"}) {
    CAPTURE(line);
    CHECK(contains(kernel.text, line));
  }
  CHECK(assembled(kernel.text) == "");
}

TEST_CASE("the number of groups is OpenCL's in the one and a register in the other") {
  const std::vector<counters::PtxNeed> needs = {{}, {24}, {100, true}, {64, true}, {}, {}};
  const auto first = [&](const char* other) {
    return counters::cuda_kernel(with(nvidia_ptx(), "%envreg3", other), "blend", needs).text;
  };
  for (const char* none : {"%envreg0", "%envreg2", "%envreg5"})
    CHECK(contains(first(none), "mov.b32 \t%r2, 0;"));
  CHECK(contains(first("%envreg6"), "mov.b32 \t%r2, %nctaid.x;"));
  CHECK(contains(first("%envreg8"), "mov.b32 \t%r2, %nctaid.z;"));
  CHECK(assembled(first("%envreg7")) == "");
}

TEST_CASE("a pointer to local memory need not be declared as one") {
  const std::string plain =
      with(nvidia_ptx(), ".param .u64 .ptr .shared .align 4 blend", ".param .u64 blend");
  const CudaKernel kernel =
      counters::cuda_kernel(plain, "blend", {{}, {24}, {100, true}, {64, true}, {}, {}});
  CHECK(kernel.shared_bytes == 128 + 64);
  CHECK(contains(kernel.text, "mov.u64 %rd3, clcook_shared+0;"));
  CHECK(assembled(kernel.text) == "");
}

TEST_CASE("more local variables than CUDA allows move to dynamic shared memory") {
  const CudaKernel kernel = counters::cuda_kernel(nvidia_ptx(), "other", {{}});
  CHECK(kernel.shared_bytes == 65536);
  CHECK(!contains(kernel.text, "other_$_tile["));
  CHECK(contains(kernel.text, "st.shared.u32 \t[clcook_shared+8], %r1;"));
  CHECK(contains(kernel.text, "ld.shared.u32 \t%r2, [clcook_shared+12];"));
  CHECK(assembled(kernel.text) == "");
  // 48 KiB are allowed.
  const std::string less = with(nvidia_ptx(), "other_$_tile[65536]", "other_$_tile[49152]");
  const CudaKernel as_it_is = counters::cuda_kernel(less, "other", {{}});
  CHECK(as_it_is.shared_bytes == 0);
  CHECK(contains(as_it_is.text, "other_$_tile[49152]"));
  CHECK(!contains(as_it_is.text, "clcook_shared"));
}

TEST_CASE("PTX that cannot be changed is refused with the reason") {
  CHECK(contains(refusal(nvidia_ptx(), "blen", 6), "not PTX that has this kernel"));
  CHECK(contains(refusal("\x7f"
                         "ELF",
                         "blend", 6),
                 "not PTX that has this kernel"));
  CHECK(contains(refusal(nvidia_ptx(), "blend", 5), "has 6 parameters, was launched with 5"));
  CHECK(contains(refusal(with(nvidia_ptx(), ".param .u64 .ptr .global .align 4 blend_param_0",
                              ".param .texref blend_param_0"),
                         "blend", 6),
                 "takes an image"));
  CHECK(contains(
      refusal(with(nvidia_ptx(), ".param .u32 blend_param_5", ".param .what blend_param_5"),
              "blend", 6),
      "is not understood"));
  CHECK(contains(refusal(with(nvidia_ptx(), "ld.param.u64 \t%rd3, [blend_param_2]",
                              "add.s64 \t%rd3, blend_param_2, 4"),
                         "blend", 6),
                 "blend_param_2 as no ld.param does: add.s64"));
  CHECK(contains(refusal(with(nvidia_ptx(), ".address_size 64", ""), "blend", 6), ".address_size"));
  for (const char* unknown : {"%envreg9", "%envreg31"}) {
    CHECK(contains(refusal(with(nvidia_ptx(), "%envreg3", unknown), "blend", 6),
                   std::string("reads ") + unknown));
  }
}

namespace {

// What ncu 2025.3 writes with --csv --page raw, but for the number of its columns.
const std::string kHead = R"csv(==PROF== Connected to process 4711 (/tmp/clcook)
==PROF== Profiling "blend" - 0: 0%....50%....100% - 7 passes
==PROF== Disconnected from process 4711
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","gpu__time_duration.sum","launch__registers_per_thread","smsp__inst_executed.sum","smsp__thread_inst_executed_per_inst_executed.ratio","l1tex__t_sectors.sum","l1tex__t_sector_hit_rate.pct","idc__requests.sum"
"","","","","","","","","","","","ns","register/thread","inst","","sector","%",""
)csv";
const std::string kFirst =
    R"csv("0","4711","clcook","127.0.0.1","blend(float *, ""const"" int)","1","7","(64, 1, 1)","(1024, 1, 1)","0","9.0","1,120","32","1,000,000","32","0","0","n/a"
)csv";
const std::string kSecond =
    R"csv("1","4711","clcook","127.0.0.1","sum","1","7","(64, 1, 1)","(16, 1, 1)","0","9.0","880.5","40","3000000","8.5","200","25.5","12"
)csv";

double counter(const counters::Counters& all, const std::string& key) {
  for (const auto& [name, value] : all) {
    if (name == key) return value;
  }
  FAIL("there is no counter " << key);
  return 0;
}

std::string broken(const std::string& log) {
  const Error error = error_of([&] { counters::read_profile(log); });
  CHECK(error.code == Errc::io);
  return error.what();
}

}  // namespace

TEST_CASE("every metric has a name of its own, and every mean a weight that is a sum") {
  std::set<std::string> keys;
  std::set<std::string> names;
  for (const counters::Metric& one : counters::metrics()) {
    CAPTURE(one.key);
    CHECK(keys.insert(one.key).second);
    CHECK(names.insert(one.name).second);
    const bool mean = one.combine == counters::Metric::Combine::mean;
    CHECK(mean != std::string(one.weight).empty());
    bool sum = false;
    for (const counters::Metric& other : counters::metrics()) {
      if (std::string(other.key) == one.weight)
        sum = other.combine == counters::Metric::Combine::sum;
    }
    CHECK(sum == mean);
  }
}

TEST_CASE("comma-separated values: quotes, commas and ends of lines in fields") {
  using Rows = std::vector<std::vector<std::string>>;
  CHECK(counters::parse_csv("").empty());
  CHECK(counters::parse_csv("a,b\n1,2\n") == Rows{{"a", "b"}, {"1", "2"}});
  CHECK(counters::parse_csv("a,b\r\n1,2") == Rows{{"a", "b"}, {"1", "2"}});
  CHECK(counters::parse_csv("\"a,\"\"b\"\"\",\"\"\n\n,x\n") == Rows{{"a,\"b\"", ""}, {"", "x"}});
  CHECK(counters::parse_csv("\"a\nb\",c\n") == Rows{{"a\nb", "c"}});
}

TEST_CASE("a profile: names, units, launches, and what is not there") {
  const std::vector<counters::Profiled> all = counters::read_profile(kHead + kFirst + kSecond);
  REQUIRE(all.size() == 2);
  CHECK(all[0].kernel == "blend(float *, \"const\" int)");
  CHECK(all[1].kernel == "sum");
  CHECK(counter(all[0].counters, "time_ns") == 1120);
  CHECK(counter(all[0].counters, "instructions") == 1e6);
  CHECK(counter(all[1].counters, "lanes") == 8.5);
  CHECK(std::isnan(counter(all[0].counters, "constant_requests")));  // n/a
  CHECK(counter(all[1].counters, "constant_requests") == 12);
  CHECK(std::isnan(counter(all[0].counters, "divergent")));  // no such column
  CHECK(counters::read_profile(kHead).empty());
}

TEST_CASE("what is not a profile is refused") {
  CHECK(contains(broken(""), "has no table"));
  CHECK(contains(broken("==WARNING== No kernels were profiled.\n"), "has no table"));
  CHECK(contains(broken("hello\n"), "no columns 'ID' and 'Kernel Name'"));
  CHECK(contains(broken(kHead + "\"0\",\"4711\"\n"), "has 2 fields, its header 18"));
}

TEST_CASE("the profiler's complaint") {
  CHECK(counters::complaint_of(kHead) == "");
  CHECK(counters::complaint_of("==PROF== Connected\n==ERROR== ERR_NVGPUCTRPERM - The user does not "
                               "have permission.\n==ERROR== more\n") ==
        "ERR_NVGPUCTRPERM - The user does not have permission.");
  CHECK(counters::complaint_of("==ERROR==") == "");
}

TEST_CASE("counters of several launches become one") {
  const std::vector<counters::Profiled> all = counters::read_profile(kHead + kFirst + kSecond);
  const counters::Counters both = counters::combine(all);
  CHECK(counter(both, "time_ns") == 2000.5);
  CHECK(counter(both, "instructions") == 4e6);
  CHECK(counter(both, "registers") == 40);
  CHECK(counter(both, "lanes") == doctest::Approx((32 * 1e6 + 8.5 * 3e6) / 4e6));
  CHECK(counter(both, "l1_hit_pct") == 25.5);  // the first launch has no sectors: it weighs nothing
  CHECK(std::isnan(counter(both, "constant_requests")));
  CHECK(std::isnan(counter(both, "divergent")));
  // One that stands for three.
  std::vector<counters::Profiled> more = all;
  more[0].times = 3;
  CHECK(counter(counters::combine(more), "instructions") == 6e6);
  CHECK(counter(counters::combine(more), "lanes") == doctest::Approx((32 * 3e6 + 8.5 * 3e6) / 6e6));
  CHECK(counter(counters::combine(more), "registers") == 40);
  // One launch is what it is.
  const counters::Counters alone = counters::combine({all[1]});
  for (const char* key : {"time_ns", "lanes", "l1_hit_pct", "registers"})
    CHECK(counter(alone, key) == counter(all[1].counters, key));
  CHECK(std::isnan(counter(counters::combine({all[0]}), "l1_hit_pct")));
}

namespace {

// Runs a recorded call through OpenCL and compares what it leaves. The arguments are those of the
// file, not those of the recorder.
void replay_here(const fs::path& folder, const std::string& name) {
  const counters::Recording all = counters::read_recording(folder, name);
  const Runtime& here = runtime();
  const auto content = [&](const std::string& file, std::size_t bytes) {
    const int fill = counters::fill_of(file);
    std::string out =
        fill < 0 ? read_bytes(folder / file) : std::string(bytes, static_cast<char>(fill));
    REQUIRE(out.size() == bytes);
    return out;
  };
  std::vector<cl::Buffer> buffers;
  for (const counters::RecordedBuffer& one : all.buffers)
    buffers.push_back(
        create_buffer(here, one.bytes, CL_MEM_READ_WRITE, content(one.before, one.bytes).data()));
  REQUIRE(!all.launches.empty());
  cl_int status = CL_SUCCESS;
  for (const counters::RecordedLaunch& one : all.launches) {
    const std::string binary = read_bytes(folder / one.program);
    const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
    const std::size_t size = binary.size();
    const cl_device_id device = here.device()();
    const cl::Program program(
        clCreateProgramWithBinary(here.context()(), 1, &device, &size, &bytes, nullptr, &status));
    check(status, "clCreateProgramWithBinary");
    check(clBuildProgram(program(), 1, &device, "", nullptr, nullptr), "clBuildProgram");
    const cl::Kernel kernel(clCreateKernel(program(), one.kernel.c_str(), &status));
    check(status, "clCreateKernel");
    std::vector<cl::Buffer> parts;
    for (std::size_t i = 0; i < one.arguments.size(); ++i) {
      const counters::Argument& argument = one.arguments[i];
      const auto at = static_cast<cl_uint>(i);
      if (argument.kind == counters::Argument::Kind::value) {
        check(clSetKernelArg(kernel(), at, argument.value.size(), argument.value.data()), "value");
      } else if (argument.kind == counters::Argument::Kind::local) {
        check(clSetKernelArg(kernel(), at, argument.local, nullptr), "local");
      } else {
        const cl_buffer_region region{argument.offset, argument.bytes};
        parts.emplace_back(clCreateSubBuffer(buffers[argument.buffer](), CL_MEM_READ_WRITE,
                                             CL_BUFFER_CREATE_TYPE_REGION, &region, &status));
        check(status, "clCreateSubBuffer");
        check(clSetKernelArg(kernel(), at, sizeof(cl_mem), &parts.back()()), "buffer");
      }
    }
    check(clEnqueueNDRangeKernel(here.queue()(), kernel(), one.launch.dims, nullptr,
                                 one.launch.global.data(), one.launch.local.data(), 0, nullptr,
                                 nullptr),
          "clEnqueueNDRangeKernel");
    check(clFinish(here.queue()()), "clFinish");
  }
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const std::string wanted = content(all.buffers[i].after, all.buffers[i].bytes);
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
  const counters::Recording recorded = recorder.record(store, [&] {
    kernel(launch, {}, half, in, LocalBytes{128}, four, cl_uint{5}, cl_uchar{7});
    kernel(launch, {}, half, half, LocalBytes{128}, four, cl_uint{6}, cl_uchar{7});
  });
  write_recording(recorded, folder.path(), "call0");
  // Not recorded any more.
  kernel(launch, {}, half, in, LocalBytes{128}, four, cl_uint{9}, cl_uchar{7}).wait();

  const counters::Recording all = counters::read_recording(folder.path(), "call0");
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
  CHECK(counters::fill_of("fill 5") == 5);
  CHECK(counters::fill_of("content5") == -1);
  CHECK(second.buffers[2].before == all.buffers[1].before);  // the store knows it
}

TEST_CASE("of equal launches the first and the last are profiled, for all") {
  counters::Recording all;
  const auto add = [&](const char* kernel, unsigned char value) {
    counters::RecordedLaunch& one = all.launches.emplace_back();
    one.kernel = kernel;
    one.arguments.emplace_back().value = {value};
  };
  CHECK(counters::worth_profiling(all).empty());
  for (const int colour : {0, 1, 0, 1, 0}) add("sweep", static_cast<unsigned char>(colour));
  add("sum", 0);
  std::string chosen;
  double launches = 0;
  for (const counters::Chosen& one : counters::worth_profiling(all)) {
    chosen += text(one.launch, "*", one.times, " ");
    launches += one.times;
  }
  CHECK(chosen == "0*1.5 1*1 3*1 4*1.5 5*1 ");
  CHECK(launches == 6);
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

// ---- The replay, through a library that stands in for CUDA's ------------------------------------

namespace {

const char* const kAddPtx = R"(
.version 9.0
.target sm_90, texmode_independent
.address_size 64
.entry add(
	.param .u64 .ptr .global .align 4 add_param_0,
	.param .u64 .ptr .global .align 4 add_param_1,
	.param .u64 .ptr .const .align 4 add_param_2,
	.param .u64 .ptr .shared .align 4 add_param_3,
	.param .align 16 .b8 add_param_4[16],
	.param .u8 add_param_5
)
{
	ld.param.u64 %rd1, [add_param_2];
	ld.param.u64 %rd2, [add_param_3];
	mov.b32 %r2, %envreg3;
}
.entry crash()
{
}
)";

std::string bytes_of(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

counters::Argument buffer_argument(std::size_t buffer, std::size_t offset, std::size_t bytes) {
  counters::Argument out;
  out.kind = counters::Argument::Kind::buffer;
  out.buffer = buffer;
  out.offset = offset;
  out.bytes = bytes;
  return out;
}

// Two launches of add: 64 items, the second half of the output's buffer, 10 + 3 + 7 added.
counters::Recording add_twice(const fs::path& folder) {
  std::vector<float> in(64);
  std::vector<float> out(128, 0.0F);
  for (std::size_t i = 0; i < 64; ++i) {
    in[i] = static_cast<float>(i);
    out[64 + i] = in[i] + 20;
  }
  write_bytes(folder / "in", bytes_of(in));
  write_bytes(folder / "table", bytes_of({10, 11}));
  write_bytes(folder / "out", bytes_of(out));
  write_bytes(folder / "ptx", kAddPtx + std::string(1, '\0'));
  counters::Recording all;
  all.device = "0000:1b:00.0";
  all.buffers = {{512, "fill 0", "out"}, {256, "in", "in"}, {8, "table", "table"}};
  counters::RecordedLaunch one;
  one.kernel = "add";
  one.program = "ptx";
  one.launch = Launch::groups({2, 1, 1}, {32, 1, 1});
  counters::Argument local;
  local.kind = counters::Argument::Kind::local;
  local.local = 128;
  counters::Argument four;
  const std::string values = bytes_of({1, 2, 3, 4});
  four.value.assign(values.begin(), values.end());
  counters::Argument byte;
  byte.value = {7};
  one.arguments = {buffer_argument(0, 256, 256),
                   buffer_argument(1, 0, 256),
                   buffer_argument(2, 0, 8),
                   local,
                   four,
                   byte};
  all.launches = {one, one};
  return all;
}

// The fake library as libcuda.so.1 in a folder of its own.
class FakeCuda {
 public:
  FakeCuda() {
    const Ran ran = run_program({"/bin/sh", "-c",
                                 "cc -shared -fPIC -Wl,-soname,libcuda.so.1 '" CLCOOK_SOURCE_DIR
                                 "/tests/support/fake_cuda.c' -o '" +
                                     (folder_ / "libcuda.so.1").string() + "'"});
    INFO(ran.err);
    REQUIRE(ran.code == 0);
  }
  // Runs a case of this program with it.
  void run(const std::string& test_case) const {
    const Ran ran = run_self(test_case, {{"LD_LIBRARY_PATH", folder_.path().string()}});
    INFO(ran.out);
    INFO(ran.err);
    CHECK(ran.code == 0);
    CHECK(contains(ran.out, "1 passed"));
  }

 private:
  TempFolder folder_;
};

}  // namespace

TEST_CASE("recorded calls run through CUDA's driver and are compared") {
  FakeCuda().run("inside: replay");
}

TEST_CASE("inside: replay" * doctest::skip()) {
  REQUIRE(counters::lack_of_cuda() == "");
  const TempFolder folder;
  const auto verdict = [&](const std::string& name) {
    return fs::exists(folder / (name + ".verdict")) ? read_bytes(folder / (name + ".verdict"))
                                                    : std::string("none");
  };
  const counters::Recording good = add_twice(folder.path());
  write_recording(good, folder.path(), "good");
  write_recording(good, folder.path(), "again");

  counters::Recording other = good;  // something else in one float and in another's byte
  std::string content = read_bytes(folder / "out");
  content[256] = static_cast<char>(content[256] ^ 1);
  content[511] = static_cast<char>(content[511] ^ 64);
  write_bytes(folder / "other_out", content);
  other.buffers[0].after = "other_out";
  write_recording(other, folder.path(), "other");

  counters::Recording filled = good;
  filled.buffers[1].after = "fill 1";
  write_recording(filled, folder.path(), "filled");

  counters::Recording missing = good;
  missing.launches[0].kernel = "subtract";
  write_recording(missing, folder.path(), "missing");

  counters::Recording typed = good;
  typed.launches[0].arguments[5].value = {1, 2};
  write_recording(typed, folder.path(), "typed");

  counters::Recording wide = good;
  wide.launches[0].launch = Launch::groups({1, 65536, 1}, {32, 1, 1});
  write_recording(wide, folder.path(), "wide");

  write_bytes(folder / "plain", "no PTX");
  counters::Recording no_ptx = good;
  no_ptx.launches[0].program = "plain";
  write_recording(no_ptx, folder.path(), "no_ptx");

  write_bytes(folder / "old", with(kAddPtx, ".version 9.0", ""));
  counters::Recording old = good;
  old.launches[0].program = "old";
  write_recording(old, folder.path(), "old_ptx");

  counters::Recording crash = good;
  crash.launches[1] = {"crash", "ptx", Launch::groups({1, 1, 1}, {1, 1, 1}), {}};
  write_recording(crash, folder.path(), "crash");

  counters::replay(folder.path(), {"good", "again", "other", "filled", "missing", "typed", "wide",
                                   "no_ptx", "old_ptx", "absent", "good", "crash", "after"});
  CHECK(verdict("good") == "");
  CHECK(verdict("again") == "");
  CHECK(contains(verdict("other"), "2 of 512 bytes of buffer 0, the first is byte 256"));
  CHECK(
      contains(verdict("filled"), "of 256 bytes of buffer 1, the first is byte 0, 0 instead of 1"));
  CHECK(contains(verdict("missing"), "not PTX that has this kernel"));
  CHECK(contains(verdict("typed"), "argument 5 is a value, its parameter is one of 1 bytes"));
  CHECK(contains(verdict("wide"), "at most 65535 groups in dimension 1, not 65536"));
  CHECK(contains(verdict("no_ptx"), "not PTX that has this kernel"));
  CHECK(contains(verdict("old_ptx"), "its PTX does not load: ptxas fatal"));
  CHECK(contains(verdict("old_ptx"), "CUDA_ERROR_INVALID_PTX (218)"));
  CHECK(contains(verdict("absent"), "absent.json"));
  CHECK(contains(verdict("crash"), "the driver ended crash: CUDA_ERROR_ILLEGAL_ADDRESS (700)"));
  CHECK(verdict("after") == "none");  // nothing runs in a context that is broken
}

TEST_CASE("the profiler is run once for all calls, and for each where that goes wrong") {
  FakeCuda().run("inside: profiler");
}

namespace {

// A shell script that stands in for ncu. `body` knows $log, $metrics and $calls, the names of the
// recordings, in $folder.
void write_profiler(const fs::path& path, const std::string& body) {
  write_bytes(path, R"(#!/bin/sh
if [ "$1" = --version ]; then echo 'Version 2025.3.1.0 (build 1) (public-release)'; exit 0; fi
while [ $# -gt 0 ]; do
  case $1 in
    --log-file) log=$2; shift ;;
    --metrics) metrics=$2; shift ;;
    --replay) folder=$2; shift 2; calls=$*; break ;;
  esac
  shift
done
echo "$calls" >> "$folder/asked"
row() { echo "\"$1\",\"1\",\"$2\",\"100\""; }
head() { printf '"ID","Process ID","Kernel Name","smsp__inst_executed.sum"\n"","","","inst"\n' >> "$log"; }
)" + body);
  fs::permissions(path, fs::perms::owner_all);
}

}  // namespace

TEST_CASE("inside: profiler" * doctest::skip()) {
  const TempFolder folder;
  const fs::path script = folder / "ncu";
  const auto calls = [] {
    return std::vector<counters::Call>{{"call0", {{0, 1.5}, {2, 1.5}}, {}, {}},
                                       {"call1", {{0, 1}}, {}, {}}};
  };
  bool is_asked_to_end = false;
  const auto profile = [&](counters::Ncu& ncu, std::vector<counters::Call>& some,
                           double seconds = 60) {
    const auto time = std::chrono::duration_cast<counters::Ncu::Clock::duration>(
        std::chrono::duration<double>(seconds));
    ncu.profile(folder.path(), some, counters::Ncu::Clock::now() + time,
                [&] { return is_asked_to_end; });
  };
  const auto asked = [&] {
    const std::string out = read_bytes(folder / "asked");
    fs::remove(folder / "asked");
    return out;
  };
  {
    const ScopedVariable none("CLCOOK_NCU", (folder / "no_such_program").string());
    CHECK(contains(error_of([] { counters::Ncu(); }).what(),
                   "no_such_program', which is no program"));
    const ScopedVariable other("CLCOOK_NCU", "/bin/true");
    CHECK(contains(error_of([] { counters::Ncu(); }).what(), "does not answer like ncu"));
  }
  const ScopedVariable wanted("CLCOOK_NCU", script.string());

  write_profiler(script, R"(head
for call in $calls; do : > "$folder/$call.verdict"; done
{ row 0 a; row 1 b; row 2 c; } >> "$log"
)");
  counters::Ncu good;
  CHECK(good.version() == "ncu 2025.3.1.0");
  std::vector<counters::Call> all = calls();
  profile(good, all);
  CHECK(asked() == "call0 call1\n");
  CHECK(all[0].reason == "");
  REQUIRE(all[0].launches.size() == 2);
  REQUIRE(all[1].launches.size() == 1);
  CHECK(all[0].launches[1].kernel == "b");
  CHECK(all[0].launches[1].times == 1.5);
  CHECK(all[1].launches[0].kernel == "c");
  CHECK(counter(counters::combine(all[0].launches), "instructions") == 300);

  // One call's replay differs: it is refused, the other is counted without it.
  write_profiler(script, R"(head
for call in $calls; do
  : > "$folder/$call.verdict"
  [ $call = call0 ] && echo -n 'another result' > "$folder/$call.verdict"
  [ $call = call1 ] && row 0 c >> "$log"
done
)");
  all = calls();
  profile(good, all);
  CHECK(asked() == "call0 call1\ncall1\n");
  CHECK(all[0].reason == "another result");
  CHECK(all[0].launches.empty());
  CHECK(all[1].reason == "");
  CHECK(all[1].launches.size() == 1);

  // A launch that the profiler did not see.
  write_profiler(script, R"(head
for call in $calls; do : > "$folder/$call.verdict"; done
row 0 a >> "$log"
)");
  all = calls();
  profile(good, all);
  CHECK(all[0].reason == "ncu saw 1 launches of 2");
  CHECK(all[1].reason == "");
  asked();

  // The process ended.
  write_profiler(script, "exit 9\n");
  all = calls();
  profile(good, all);
  CHECK(all[0].reason == "the replay ended early, ncu with code 9");
  CHECK(all[1].reason == "the replay ended early, ncu with code 9");
  CHECK(asked() == "call0 call1\ncall1\n");

  // Behind a kernel that the driver ended nothing runs: it is the one to blame.
  write_profiler(script, R"(head
for call in $calls; do
  : > "$folder/$call.verdict"
  [ $call = call0 ] && echo -n 'the driver ended it' > "$folder/$call.verdict" && exit 1
  row 0 c >> "$log"
done
)");
  all = calls();
  profile(good, all);
  CHECK(asked() == "call0 call1\ncall1\n");
  CHECK(all[0].reason == "the driver ended it");
  CHECK(all[1].reason == "");

  // One that does not end is ended, and the other has its turn.
  write_profiler(script, R"(head
for call in $calls; do
  [ $call = call0 ] && exec sleep 60
  : > "$folder/$call.verdict"
  row 0 c >> "$log"
done
)");
  all = calls();
  profile(good, all, 4);
  CHECK(asked() == "call0 call1\ncall1\n");
  CHECK(all[0].reason == "took longer than 2 s under ncu");
  CHECK(all[1].reason == "");

  // Without time nothing is begun.
  all = calls();
  profile(good, all, 0.5);
  CHECK(all[0].reason == "the time of a recipe, 120 s, was spent");
  CHECK(all[1].reason == "the time of a recipe, 120 s, was spent");
  is_asked_to_end = true;
  profile(good, all);
  CHECK(all[1].reason == "ended early");
  is_asked_to_end = false;
  CHECK(!fs::exists(folder / "asked"));

  // What it writes is no profile.
  write_profiler(script, R"(echo hello >> "$log"
for call in $calls; do : > "$folder/$call.verdict"; done
)");
  all = calls();
  profile(good, all);
  CHECK(asked() == "call0 call1\ncall0\ncall1\n");
  CHECK(contains(all[0].reason, "no columns 'ID' and 'Kernel Name'"));
  write_profiler(script, "echo '==ERROR== The application crashed' > \"$log\"\n");
  all = calls();
  profile(good, all);
  CHECK(all[1].reason == "ncu: The application crashed");
  asked();

  // A metric that this GPU has not is left out from then on.
  write_profiler(script, R"(case $metrics in
  *idc__requests.sum*) echo '==ERROR== Failed to find metric idc__requests.sum' > "$log"; exit 1 ;;
esac
head
for call in $calls; do : > "$folder/$call.verdict"; done
row 0 c >> "$log"
)");
  all = calls();
  all.erase(all.begin());
  profile(good, all);
  CHECK(asked() == "call1\ncall1\n");
  CHECK(all[0].reason == "");

  // Counters that are kept from this user are no variant's matter.
  write_profiler(script, "echo '==ERROR== ERR_NVGPUCTRPERM - no permission' > \"$log\"\n");
  all = calls();
  const Error error = error_of([&] { profile(good, all); });
  CHECK(error.code == Errc::unsupported);
  CHECK(contains(error.what(), "run it as root"));
}
