// The stub OpenCL itself: what tests/stub_*.cpp rest on.
#include <atomic>
#include <string>
#include <vector>

#include <clcook/core/launch.hpp>

#include "stub/kernels.hpp"
#include "stub/runtime.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;

namespace {

const Source& twice() {
  static const Source source("twice.cl",
                             "__kernel void twice(__global float* x, int n) {\n"
                             "  if ((int)get_global_id(0) < n) x[get_global_id(0)] *= 2.0f;\n"
                             "}\n");
  return source;
}

void doubles(const stub::Launch& launch) {
  auto* x = launch.memory<float>(0);
  for (int i = 0; i < launch.value<cl_int>(1); ++i) x[i] *= 2;
}

void write(const Runtime& runtime, const cl::Buffer& to, const std::vector<float>& values) {
  check(clEnqueueWriteBuffer(runtime.queue()(), to(), CL_TRUE, 0, values.size() * 4, values.data(),
                             0, nullptr, nullptr),
        "clEnqueueWriteBuffer");
}

}  // namespace

TEST_CASE("an image that the device lacks is unsupported, whatever the driver would do") {
  stub::set_device(stub::gpu());
  const Runtime runtime = stub::make_runtime();
  const cl_image_format known{CL_RGBA, CL_FLOAT};
  const auto error = [&](cl_int status, std::size_t width) {
    stub::fail_call("clCreateImage", 1, status);
    return error_of([&] { create_image(runtime, width, 4, known); });
  };
  // NVIDIA makes images of formats that are not among its own.
  const Error lacking = error_of([&] { create_image(runtime, 4, 4, {CL_BGRA, CL_FLOAT}); });
  CHECK(lacking.code == Errc::unsupported);
  CHECK(lacking.lacks == Lacks::feature);
  CHECK(lacking.status == CL_IMAGE_FORMAT_NOT_SUPPORTED);
  CHECK(contains(lacking.what(), "no such image: CL_BGRA with CL_FLOAT is not among its formats"));
  CHECK(error(CL_INVALID_IMAGE_SIZE, 4).code == Errc::unsupported);
  CHECK(error(CL_INVALID_OPERATION, 4).code == Errc::opencl);
  CHECK(error(CL_OUT_OF_RESOURCES, 4).code == Errc::out_of_resources);
  // PoCL says CL_INVALID_OPERATION of one that is too large.
  const Error large = error(CL_INVALID_OPERATION, std::size_t{1} << 20);
  CHECK(large.code == Errc::unsupported);
  CHECK(contains(large.what(), "1048576 x 4 texels exceed its limit of "));
  stub::Device without = stub::gpu();
  without.images = false;
  stub::set_device(without);
  const Runtime none = stub::make_runtime();
  CHECK(error_of([&] { create_image(none, 4, 4, known); }).code == Errc::unsupported);
  stub::set_device(stub::gpu());
  CHECK(create_image(runtime, 4, 4, known)() != nullptr);
}

TEST_CASE("kernels are found behind the preprocessor, with their parameters and group sizes") {
  const std::string source =
      "#ifndef N\n#error no N\n#endif\n"
      "#define REST int n, \\\n ulong m\n"
      "#define GROUP(W, H) __attribute__((reqd_work_group_size(W, H, 1)))\n"
      "#define NAME(X) k_##X\n"
      "typedef struct { int a; } s_t;\n"
      "int helper(__global int* p) { return p[0]; }  // __kernel void no(int x)\n"
      "__kernel GROUP(2 * N, (N + 4) / 2) void NAME(one)(__global const float4* restrict p, REST,\n"
      "    __local int* l\n"
      "#if defined(MORE) && MORE >= 2\n"
      "    , float3 v\n"
      "#else\n"
      "    , s_t s\n"
      "#endif\n"
      ") {}\n"
      "__attribute__((vec_type_hint(int))) kernel void image(__read_only image2d_t i) {}\n"
      "__kernel void none(void) {}\n";
  const auto kernels = stub::find_kernels(source, "-DN=8 -D MORE=2 -cl-std=CL1.2");
  REQUIRE(kernels.size() == 3);
  const stub::KernelText& one = kernels.at("k_one");
  REQUIRE(one.parameters.size() == 5);
  using Kind = stub::Parameter::Kind;
  CHECK(one.parameters[0].kind == Kind::memory);
  CHECK(one.parameters[1].bytes == 4);
  CHECK(one.parameters[2].bytes == 8);
  CHECK(one.parameters[3].kind == Kind::local);
  CHECK(one.parameters[4].bytes == 16);
  CHECK(one.required == std::array<std::size_t, 3>{16, 6, 1});
  CHECK(kernels.at("image").parameters.at(0).kind == Kind::image);
  CHECK(kernels.at("none").parameters.empty());
  CHECK(stub::find_kernels(source, "-DN=8").at("k_one").parameters.at(4).bytes == 0);
  CHECK_THROWS_AS(stub::find_kernels(source, ""), stub::BuildError);
}

TEST_CASE("a kernel runs as the function of its name, and nothing is left over") {
  const stub::Counts before = stub::alive();
  stub::on_kernel("twice", doubles);
  {
    const Runtime runtime = stub::make_runtime();
    const cl::Program program = runtime.build(twice(), {}, "twice");
    const cl::Buffer x = create_buffer(runtime, 8);
    write(runtime, x, {3, 4});
    Kernel kernel(runtime, program, "twice");
    const cl::Event done = kernel(Launch::cover(2, 64), {}, x, cl_int{2});
    CHECK(read_buffer<float>(runtime, x, 2, {done}) == std::vector<float>{6, 8});
    CHECK(stub::alive().memories == before.memories + 1);
    CHECK(stub::alive().bytes == before.bytes + 8);
    CHECK(error_of([&] { kernel(Launch::cover(2, 64), {}, x, cl_long{2}); }).status ==
          CL_INVALID_ARG_SIZE);
    CHECK(error_of([&] { kernel(Launch::cover(2, 64), {}, x); }).code == Errc::invalid_argument);
  }
  stub::on_kernel("twice", {});
  CHECK(stub::alive() == before);
}

TEST_CASE("commands wait for their events, in-order queues keep the order, failures go on") {
  const stub::Counts before = stub::alive();
  std::vector<int> order;
  stub::on_kernel("twice",
                  [&](const stub::Launch& launch) { order.push_back(launch.value<cl_int>(1)); });
  for (const bool out_of_order : {false, true}) {
    CAPTURE(out_of_order);
    order.clear();
    const Runtime runtime = stub::make_runtime(out_of_order);
    const cl::Program program = runtime.build(twice(), {}, "twice");
    const cl::Buffer x = create_buffer(runtime, 8);
    Kernel kernel(runtime, program, "twice");
    const Launch launch = Launch::cover(1, 1);
    {
      stub::Gate gate(runtime);
      const cl::Event first = kernel(launch, {gate.event()}, x, cl_int{1});
      const cl::Event second = kernel(launch, {first}, x, cl_int{2});
      const cl::Event third = kernel(launch, {}, x, cl_int{3});
      CHECK(stub::status_of(first) > CL_COMPLETE);
      CHECK(stub::status_of(second) > CL_COMPLETE);
      CHECK((stub::status_of(third) == CL_COMPLETE) == out_of_order);
      gate.set(CL_COMPLETE);
      CHECK(stub::status_of(second) == CL_COMPLETE);
    }
    CHECK(order == (out_of_order ? std::vector<int>{3, 1, 2} : std::vector<int>{1, 2, 3}));
    stub::Gate bad(runtime);
    const cl::Event first = kernel(launch, {bad.event()}, x, cl_int{4});
    const cl::Event second = kernel(launch, {first}, x, cl_int{5});
    const cl::Event third = kernel(launch, {}, x, cl_int{6});
    bad.set(-1);
    const cl_event handle = second();
    CHECK(clWaitForEvents(1, &handle) == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    CHECK(stub::status_of(first) == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    CHECK(stub::status_of(third) == CL_COMPLETE);
    CHECK(order.back() == 6);
    CHECK(clFinish(runtime.queue()()) == CL_SUCCESS);
  }
  stub::on_kernel("twice", {});
  CHECK(stub::alive() == before);
}

TEST_CASE("callbacks come once, when the event is over, also those that set other events") {
  const Runtime runtime = stub::make_runtime(true);
  stub::Gate gate(runtime);
  stub::Gate other(runtime);
  static std::atomic<int> calls{0};
  calls = 0;
  struct Both {
    stub::Gate* other;
  } both{&other};
  check(clSetEventCallback(
            gate.event()(), CL_COMPLETE,
            [](cl_event, cl_int status, void* user) {
              CHECK(status == CL_COMPLETE);
              ++calls;
              static_cast<Both*>(user)->other->set(CL_COMPLETE);
            },
            &both),
        "clSetEventCallback");
  const cl_event wait = other.event()();
  cl_event marker = nullptr;
  check(clEnqueueMarkerWithWaitList(runtime.queue()(), 1, &wait, &marker), "marker");
  const cl::Event done(marker);
  CHECK(calls == 0);
  gate.set(CL_COMPLETE);
  CHECK(calls == 1);
  CHECK(stub::status_of(done) == CL_COMPLETE);
}

TEST_CASE("a call fails once, by its number or by its name") {
  const Runtime runtime = stub::make_runtime();
  stub::fail_call(2, CL_OUT_OF_HOST_MEMORY);
  CHECK_NOTHROW(create_buffer(runtime, 4));
  CHECK(stub::failed_call().empty());
  CHECK(error_of([&] { create_buffer(runtime, 4); }).status == CL_OUT_OF_HOST_MEMORY);
  CHECK(stub::failed_call() == "clCreateBuffer");
  CHECK_NOTHROW(create_buffer(runtime, 4));
  stub::fail_call("clBuildProgram", 1, CL_OUT_OF_RESOURCES);
  CHECK(error_of([&] { runtime.build(twice(), {}, "twice"); }).code == Errc::build_failed);
  CHECK_NOTHROW(runtime.build(twice(), {}, "twice"));
  CHECK(contains(
      error_of([&] { runtime.build(Source("x.cl", "#error so it is\n"), {}, "x"); }).build_log,
      "so it is"));
}

TEST_CASE("bad handles are errors") {
  const Runtime runtime = stub::make_runtime();
  CHECK(clFinish(nullptr) == CL_INVALID_COMMAND_QUEUE);
  stub::keep_released(true);
  cl_mem memory = create_buffer(runtime, 4)();  // released with the object
  stub::keep_released(false);
  cl_mem_flags flags = 0;
  CHECK(clGetMemObjectInfo(memory, CL_MEM_FLAGS, sizeof flags, &flags, nullptr) ==
        CL_INVALID_MEM_OBJECT);
  CHECK(clGetMemObjectInfo(reinterpret_cast<cl_mem>(runtime.queue()()), CL_MEM_FLAGS, sizeof flags,
                           &flags, nullptr) == CL_INVALID_MEM_OBJECT);
}

TEST_CASE("rectangles and images hold what was written") {
  const Runtime runtime = stub::make_runtime();
  const cl::Image2D image = stub::make_image(runtime, 3, 2, {CL_R, CL_FLOAT});
  const std::vector<float> texels{1, 2, 3, 4, 5, 6};
  const std::size_t none[3] = {0, 0, 0};
  const std::size_t all[3] = {3, 2, 1};
  check(clEnqueueWriteImage(runtime.queue()(), image(), CL_TRUE, none, all, 0, 0, texels.data(), 0,
                            nullptr, nullptr),
        "clEnqueueWriteImage");
  const cl::Buffer buffer = create_buffer(runtime, 4 * 4);
  const std::size_t corner[3] = {1, 0, 0};
  const std::size_t part[3] = {2, 2, 1};
  check(clEnqueueCopyImageToBuffer(runtime.queue()(), image(), buffer(), corner, part, 0, 0,
                                   nullptr, nullptr),
        "clEnqueueCopyImageToBuffer");
  CHECK(read_buffer<float>(runtime, buffer, 4) == std::vector<float>{2, 3, 5, 6});
  std::vector<float> column(2);
  const std::size_t second[3] = {4, 0, 0};
  const std::size_t bytes[3] = {4, 2, 1};
  check(clEnqueueReadBufferRect(runtime.queue()(), buffer(), CL_TRUE, second, none, bytes, 8, 0, 4,
                                0, column.data(), 0, nullptr, nullptr),
        "clEnqueueReadBufferRect");
  CHECK(column == std::vector<float>{3, 6});
}
