// Calls of a plan and what they share, on the stub: failed predecessors, calls that end half way,
// observers, strips.
#include <stdexcept>
#include <string>
#include <vector>

#include <clcook/bc6h_decode.hpp>
#include <clcook/core/rates.hpp>
#include <clcook/core/sub_group.hpp>
#include <clcook/gaussian_blur.hpp>
#include <clcook/gaussian_blur_strips.hpp>
#include <clcook/halo_tile.hpp>
#include <clcook/line_blur.hpp>
#include <clcook/rank_filter.hpp>
#include <clcook/stream_compaction.hpp>

#include "stub/runtime.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;

namespace {

constexpr int kSize = 64;

struct Blur {
  explicit Blur(const Runtime& runtime, GaussianBlur::Variant variant = "separable")
      : plan(runtime, {kSize, kSize, 2, 2}, variant),
        src(create_buffer(runtime, kSize * kSize * 16)),
        dst(create_buffer(runtime, kSize * kSize * 16)) {}
  cl::Event operator()(const std::vector<cl::Event>& wait = {}) const {
    return plan(src, dst, wait);
  }
  GaussianBlur plan;
  cl::Buffer src;
  cl::Buffer dst;
};

bool is_over(const cl::Event& event) { return stub::status_of(event) <= CL_COMPLETE; }
bool is_done(const cl::Event& event) { return stub::status_of(event) == CL_COMPLETE; }

}  // namespace

TEST_CASE("making a plan on a device that nobody tuned launches nothing") {
  stub::Device device = stub::gpu();
  device.name = "A GPU that no tuning file knows";
  stub::set_device(device);
  const Runtime runtime = stub::make_runtime();
  stub::count_functions(true);
  const GaussianBlur blur{runtime, {1920, 1080, 12.0, 12.0}};
  for (const char* function :
       {"clCreateCommandQueue", "clEnqueueNDRangeKernel", "clEnqueueCopyBuffer",
        "clEnqueueFillBuffer", "clEnqueueReadBuffer", "clFinish"}) {
    CAPTURE(function);
    CHECK(stub::calls(function) == 0);
  }
  // The weights alone.
  CHECK(stub::calls("clCreateBuffer") <= 8);
  stub::count_functions(false);
  stub::set_device(stub::gpu());
}

TEST_CASE("a call whose wait events fail takes no other with it") {
  for (const bool out_of_order : {false, true}) {
    CAPTURE(out_of_order);
    const Runtime runtime = stub::make_runtime(out_of_order);
    // With scratch memory in an out-of-order queue the call behind is chained to it; not without.
    const Blur blur(runtime, out_of_order ? "fused" : "separable");
    stub::Gate gate(runtime);
    const cl::Event first = blur({gate.event()});
    const cl::Event second = blur();
    gate.set(-1);
    CHECK(stub::status_of(first) == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    CHECK(is_done(second));
    CHECK(is_done(blur()));
  }
}

TEST_CASE("a call waits for the last of more events than 16 bits count") {
  const Runtime runtime = stub::make_runtime(true);
  const Blur blur(runtime);
  std::vector<cl::Event> wait((1 << 16) + 1, blur());
  stub::Gate gate(runtime);
  wait.push_back(gate.event());
  const cl::Event done = blur(wait);
  CHECK_FALSE(is_over(done));
  gate.set(CL_COMPLETE);
  CHECK(is_done(done));
}

TEST_CASE("a plan asks for the limits of its kernels before it enqueues anything") {
  const Runtime runtime = stub::make_runtime();
  GaussianBlur::Problem problem{kSize, kSize, 2, 2};
  problem.peak = 1;
  problem.quality = 0;
  const cl::Buffer src = create_buffer(runtime, kSize * kSize * 16);
  const cl::Buffer dst = create_buffer(runtime, kSize * kSize * 16);
  stub::count_functions(true);
  struct Row {
    const char* variant;
    const char* kernel;
    std::size_t max_group;    // 0: no limit of the kernel's own
    std::size_t local_bytes;  // more than the device has
  };
  const std::size_t too_much = 1 << 20;
  for (const Row& one : {Row{"separable", "gaussian_blur_separable_rows", 0, too_much},
                         Row{"separable", "gaussian_blur_separable_columns", 0, too_much},
                         Row{"pyramid", "gaussian_blur_pyramid_down", 0, too_much},
                         Row{"pyramid", "gaussian_blur_pyramid_rows", 0, too_much},
                         Row{"pyramid", "gaussian_blur_pyramid_columns", 0, too_much},
                         Row{"pyramid", "gaussian_blur_pyramid_up", 64, 0}}) {
    const std::string kernel = one.kernel;
    CAPTURE(kernel);
    const bool pyramid = std::string(one.variant) == "pyramid";
    problem.sigma_x = problem.sigma_y = pyramid ? 20 : 2;
    const long before = stub::calls("clEnqueueNDRangeKernel");
    const auto refused = [](const auto& use) {
      const Error error = error_of(use);
      CHECK(error.code == Errc::unsupported);
      CHECK(error.lacks == Lacks::kernel_limit);
    };
    stub::limit_kernel(kernel, one.max_group, one.local_bytes);
    refused([&] { GaussianBlur(runtime, problem, one.variant)(src, dst); });
    CHECK(stub::calls("clEnqueueNDRangeKernel") == before);
    stub::limit_kernel(kernel, 0);
    GaussianBlur blur(runtime, problem, one.variant);
    if (!pyramid) {
      // The way of a plan to a program that it has built for another sigma.
      stub::limit_kernel(kernel, one.max_group, one.local_bytes);
      refused([&] {
        blur.build_for(10, 10);
        blur.set_sigma(10, 10);
        blur(src, dst);
      });
      CHECK(stub::calls("clEnqueueNDRangeKernel") == before);
      stub::limit_kernel(kernel, 0);
    }
    CHECK(is_done(blur(src, dst)));
  }
  stub::count_functions(false);
}

TEST_CASE("another sigma compiles nothing, whatever the one before was") {
  stub::count_functions(true);
  for (const double first : {0.5, 2.0, 9.0, 30.0, 90.0}) {
    const Runtime runtime = stub::make_runtime();
    GaussianBlur::Problem problem{kSize, kSize, first, first};
    problem.peak = 1;
    GaussianBlur blur(runtime, problem);
    const long builds = stub::calls("clBuildProgram");
    CHECK(builds > 0);
    for (const double next : {90.0, 30.0, 9.0, 2.0, 0.5, 0.0}) {
      CAPTURE(first);
      CAPTURE(next);
      try {
        blur.set_sigma(next, next);
        CHECK(blur.problem().sigma_x == next);
      } catch (const Error& error) {
        CHECK(error.code == Errc::unsupported);
        CHECK(contains(error.what(), "build_for()"));
      }
      CHECK(stub::calls("clBuildProgram") == builds);
    }
  }
  stub::count_functions(false);
}

TEST_CASE("codes of OpenCL become the errors that a program can act upon") {
  const Runtime runtime = stub::make_runtime();
  const auto failing = [&](const char* function, cl_int code, const auto& use) {
    stub::fail_call(function, 1, code);
    const Error error = error_of(use);
    CHECK(stub::failed_call() == function);
    stub::fail_call(0, 0);
    CHECK(error.status == code);
    return error.code;
  };
  const auto allocated = [&](cl_int code) {
    return failing("clCreateBuffer", code, [&] { create_buffer(runtime, 256); });
  };
  CHECK(allocated(CL_INVALID_BUFFER_SIZE) == Errc::out_of_resources);
  CHECK(allocated(CL_MEM_OBJECT_ALLOCATION_FAILURE) == Errc::out_of_resources);
  CHECK(allocated(CL_OUT_OF_RESOURCES) == Errc::out_of_resources);
  CHECK(allocated(CL_INVALID_VALUE) == Errc::opencl);
  const Blur blur(runtime);
  const auto launched = [&](cl_int code) {
    return failing("clEnqueueNDRangeKernel", code, [&] { blur(); });
  };
  CHECK(launched(CL_INVALID_WORK_GROUP_SIZE) == Errc::unsupported);
  CHECK(launched(CL_OUT_OF_RESOURCES) == Errc::unsupported);
  CHECK(launched(CL_INVALID_KERNEL_ARGS) == Errc::opencl);
}

TEST_CASE("a runtime knows its device as the device says") {
  stub::Device device;
  device.compute_units = 13;
  device.max_group = 384;
  device.local_memory = 40961;
  stub::set_device(device);
  const DeviceInfo info = stub::make_runtime().info();
  CHECK(info.platform == device.platform);
  CHECK(info.name == device.name);
  CHECK(info.vendor == device.vendor);
  CHECK(info.version == device.version);
  CHECK(info.driver == device.driver);
  CHECK(info.language == "CL3.0");
  CHECK(info.gpu);
  CHECK(info.compute_units == 13);
  CHECK(info.clock_mhz == device.clock_mhz);
  CHECK(info.max_group == 384);
  CHECK(info.local_mem == 40961);
  CHECK(info.global_mem == device.global_memory);
  CHECK(info.max_allocation == device.max_allocation);
  device.version = "OpenCL 1.2 stub";
  device.type = CL_DEVICE_TYPE_CPU;
  stub::set_device(device);
  const DeviceInfo old = stub::make_runtime().info();
  CHECK(old.language == "CL1.2");
  CHECK_FALSE(old.gpu);
  stub::set_device({});
}

TEST_CASE("naive serves devices and kernels with work-groups of any size") {
  for (const std::size_t most : {1u, 7u, 16u, 64u, 1024u}) {
    CAPTURE(most);
    stub::Device small;
    small.max_group = most;
    small.max_items = {most, most, most};
    for (const bool of_the_kernel : {false, true}) {
      stub::set_device(of_the_kernel ? stub::Device() : small);
      stub::limit_kernel("gaussian_blur_naive_columns", of_the_kernel ? most : 0);
      const Runtime runtime = stub::make_runtime();
      CHECK(is_done(Blur(runtime, "naive")()));
    }
  }
  stub::limit_kernel("gaussian_blur_naive_columns", 0);
  stub::set_device(stub::Device());
}

TEST_CASE("methods without scratch memory do not wait for each other") {
  const Runtime runtime = stub::make_runtime(true);
  const Blur fused(runtime, "fused");
  stub::Gate gate(runtime);
  const cl::Event first = fused({gate.event()});
  CHECK(is_done(fused()));
  CHECK(!is_over(first));
}

TEST_CASE("in an out-of-order queue calls that share scratch memory recover from one that failed") {
  const Runtime runtime = stub::make_runtime(true);
  const Blur blur(runtime);
  stub::Gate running(runtime);
  stub::Gate failing(runtime);
  const cl::Event first = blur({running.event()});
  const cl::Event second = blur({failing.event()});
  failing.set(-1);
  CHECK(is_over(second));
  CHECK(!is_done(second));
  // The call before the one that failed still uses the memory.
  const cl::Event third = blur();
  CHECK(!is_over(third));
  running.set(CL_COMPLETE);
  CHECK(is_done(first));
  CHECK(is_done(third));
}

TEST_CASE("the next call waits for what a call enqueued before it failed") {
  const auto check_next = [](const char* what, const Runtime& runtime, const auto& call,
                             long launches) {
    CAPTURE(what);
    check(clFinish(runtime.queue()()), "clFinish");
    for (long n = 2; n <= launches; ++n) {
      CAPTURE(n);
      stub::Gate gate(runtime);
      stub::fail_call("clEnqueueNDRangeKernel", n, CL_OUT_OF_HOST_MEMORY);
      CHECK(error_of([&] { call({gate.event()}); }).status == CL_OUT_OF_HOST_MEMORY);
      const cl::Event next = call({});
      CHECK(!is_over(next));
      gate.set(CL_COMPLETE);
      CHECK(is_done(next));
    }
  };
  using Wait = std::vector<cl::Event>;
  const Runtime runtime = stub::make_runtime(true);
  const Blur separable(runtime);
  check_next(
      "separable", runtime, [&](const Wait& wait) { return separable(wait); }, 2);
  const Blur naive(runtime, "naive");
  check_next(
      "naive", runtime, [&](const Wait& wait) { return naive(wait); }, 2);
  const cl::Buffer src = create_buffer(runtime, kSize * kSize * 16);
  const cl::Buffer dst = create_buffer(runtime, kSize * kSize * 16);
  const LineBlur line(
      runtime, {kSize, kSize, 5, LineBlur::RadiusFraction(0.5), LineBlur::Pixel::rgba32f}, "naive");
  check_next(
      "LineBlur", runtime, [&](const Wait& wait) { return line(src, dst, wait); }, 2);
  const cl::Buffer kept = create_buffer(runtime, 4);
  const StreamCompaction compact(runtime, {kSize, kSize}, "bit_words");
  check_next(
      "StreamCompaction", runtime,
      [&](const Wait& wait) { return compact(src, dst, kept, 100, wait); }, 3);
  const Bc6hDecode decode(runtime, {kSize, kSize});
  const cl::Image2D image = stub::make_image(runtime, kSize, kSize, {CL_RGBA, CL_HALF_FLOAT});
  {
    stub::Gate gate(runtime);
    stub::fail_call("clEnqueueCopyBufferToImage", 1, CL_OUT_OF_HOST_MEMORY);
    CHECK_THROWS_AS(decode(src, image, {gate.event()}), Error);
    CHECK(!is_over(decode(src, image)));
  }
  check(clFinish(runtime.queue()()), "clFinish");
}

TEST_CASE("an observer may call the plan, and sees every launch in order") {
  for (const bool out_of_order : {false, true}) {
    std::vector<std::string> seen;
    const Blur* inner = nullptr;
    const Runtime runtime = stub::make_runtime(out_of_order)
                                .with_observer([&](const std::string& kernel, const cl::Event&) {
                                  seen.push_back(kernel);
                                  if (inner != nullptr) {
                                    const Blur* once = inner;
                                    inner = nullptr;
                                    (*once)();
                                    seen.emplace_back("inner done");
                                  }
                                });
    const Blur blur(runtime);
    inner = &blur;
    blur();
    CHECK(seen == std::vector<std::string>{"gaussian_blur_separable_rows",
                                           "gaussian_blur_separable_rows",
                                           "gaussian_blur_separable_columns", "inner done",
                                           "gaussian_blur_separable_columns"});
  }
}

TEST_CASE("what an observer throws goes to the caller, and the plan knows what is enqueued") {
  bool throws = true;
  const Runtime runtime =
      stub::make_runtime(true).with_observer([&](const std::string&, const cl::Event&) {
        if (throws) throw std::runtime_error("from the observer");
      });
  const Blur blur(runtime);
  stub::Gate gate(runtime);
  CHECK_THROWS_WITH(blur({gate.event()}), "from the observer");
  throws = false;
  const cl::Event next = blur();
  CHECK(!is_over(next));
  gate.set(CL_COMPLETE);
  CHECK(is_done(next));
}

TEST_CASE("strips need two places in memory") {
  const Runtime runtime = stub::make_runtime();
  std::vector<float> memory(kSize * kSize * 2);
  const GaussianBlur::Problem problem{kSize / 4, kSize, 1, 1};
  const auto strips = [&](std::size_t to, std::size_t pitch) {
    GaussianBlur::by_strips(runtime, problem, memory.data(), pitch, memory.data() + to, pitch, 16);
  };
  CHECK(error_of([&] { strips(0, 0); }).code == Errc::invalid_argument);
  CHECK(error_of([&] { strips(1, 0); }).code == Errc::invalid_argument);
  CHECK_NOTHROW(strips(kSize * kSize, 0));
  // Side by side.
  CHECK_NOTHROW(strips(kSize, 2 * kSize * 4));
  CHECK(error_of([&] { strips(kSize - 1, 2 * kSize * 4); }).code == Errc::invalid_argument);
  CHECK(error_of([&] {
          Bc6hDecode::by_strips(runtime, {16, 16}, memory.data(), 0, memory.data() + 10, 0);
        }).code == Errc::invalid_argument);
}

TEST_CASE("scratch memory stays when sigma changes with every call") {
  const Runtime runtime = stub::make_runtime();
  Blur blur(runtime);
  blur();
  stub::count_functions(true);
  const long before = stub::calls("clCreateBuffer");
  for (int frame = 0; frame < 100; ++frame) {
    const double sigma = 1 + frame % 30 * 0.1;
    blur.plan.set_sigma(sigma, sigma);
    blur();
  }
  const long made = stub::calls("clCreateBuffer") - before;
  stub::count_functions(false);
  CHECK(made == 0);
}

TEST_CASE("cpu_fused says what is too large for it, and automatic takes another variant") {
  using Pixel = LineBlur::Pixel;
  stub::Device device = stub::cpu();
  device.global_memory = cl_ulong{1} << 40;
  device.max_allocation = cl_ulong{1} << 38;
  const LineBlur::RadiusFraction half(0.5);
  const auto blurs = [](const Runtime& runtime, const LineBlur::Problem& p, Lacks lacks,
                        const char* why) {
    const Error error = error_of([&] { LineBlur(runtime, p, "cpu_fused"); });
    CHECK(error.code == Errc::unsupported);
    CHECK(error.lacks == lacks);
    CHECK_MESSAGE(contains(error.what(), why), error.what());
    CHECK(LineBlur(runtime, p).variant().name() != "cpu_fused");
  };
  stub::set_device(device);
  const Runtime large = stub::make_runtime();
  CHECK(LineBlur(large, {64, 4, 4000.9, half}).variant().name() == "cpu_fused");
  blurs(large, {64, 4, 4001, half}, Lacks::problem, "a radius of at most 4000, got 4001");
  blurs(large, {64, 4, LineBlur::kMaxRadius, half}, Lacks::problem, "at most 4000, got 1048576");
  const int most = 1 << 28;
  CHECK(LineBlur(large, {most, 1, 2, half, Pixel::rg8}).variant().name() == "cpu_bytes");
  blurs(large, {most + 1, 1, 2, half, Pixel::rg8}, Lacks::problem,
        "at most 268435456 pixels in a line, got 268435457 x 1");
  blurs(large, {1, most + 1, 2, half, Pixel::rg8}, Lacks::problem, "got 1 x 268435457");

  // The ring of lines: where it is offered it can be had, and where not, no byte is missing for it.
  const LineBlur::Problem p{200, 100, 60, half};
  cl_ulong least = 0;  // the smallest allocation with which it is offered
  for (cl_ulong step = cl_ulong{1} << 22; step > 0; step /= 2) {
    device.max_allocation = least + step - 1;
    stub::set_device(device);
    const Runtime runtime = stub::make_runtime();
    if (LineBlur::Posed(p).offer(runtime, *LineBlur::Variant("cpu_fused").row()).can()) continue;
    least += step;
  }
  for (const bool fits : {true, false}) {
    device.max_allocation = fits ? least : least - 1;
    stub::set_device(device);
    const Runtime runtime = stub::make_runtime();
    if (!fits) {
      blurs(runtime, p, Lacks::memory, "exceeds the device's largest allocation of");
      continue;
    }
    const LineBlur blur(runtime, p);
    CHECK(blur.variant().name() == "cpu_fused");
    const std::size_t bytes = 200 * 100 * 16;
    const cl::Buffer src = create_buffer(runtime, bytes);
    const long before = stub::alive().bytes;
    CHECK_NOTHROW(blur(src, create_buffer(runtime, bytes)));
    CHECK(stub::alive().bytes - before == static_cast<long>(least));
  }
  stub::set_device(stub::gpu());
}

TEST_CASE("what ends or hangs an implementation is refused on a device that is one of it") {
  const auto on = [](stub::Device device, const char* platform,
                     const char* version = "OpenCL 3.0") {
    device.platform = platform;
    device.platform_version = version;
    stub::set_device(device);
    return stub::make_runtime();
  };
  const auto cannot = [](const std::function<void()>& make) {
    const Error error = error_of(make);
    CHECK(error.code == Errc::unsupported);
    return error.lacks;
  };
  for (const bool breaks : {true, false}) {
    const Runtime intel = on(stub::cpu(), breaks ? "Intel(R) OpenCL" : "Another");
    for (const int radius : {1, 2, 3}) {
      const RankFilter::Problem p{40, 40, radius, 0.5, RankFilter::Pixel::r8};
      const auto make = [&] { RankFilter(intel, p, "network"); };
      if (breaks && radius > 1) {
        CHECK(cannot(make) == Lacks::implementation);
      } else {
        CHECK_NOTHROW(make());
      }
      CHECK_NOTHROW(RankFilter(intel, p, "network_packed"));
    }
  }
  for (const char* platform : {"Portable Computing Language", "Another"}) {
    const Runtime runtime = on(stub::cpu(), platform, "OpenCL 3.0 PoCL 7.1");
    HaloTile::Problem p{HaloTile::Filter::dilation, 40, 40, 1, 1, HaloTile::Pixel::r16f};
    const auto make = [&] { HaloTile(runtime, p, "image"); };
    if (contains(platform, "Portable")) {
      CHECK(cannot(make) == Lacks::implementation);
      p.pixel = HaloTile::Pixel::rgba16f;
    }
    CHECK_NOTHROW(make());
  }
  const GaussianBlur::Problem p{kSize, kSize, 2, 2};
  CHECK_NOTHROW(GaussianBlur(on(stub::cpu(), "Another"), p, "cpu_fused"));
  CHECK(cannot([&] { GaussianBlur(on(stub::cpu(), "rusticl"), p, "cpu_fused"); }) ==
        Lacks::feature);
  const Runtime rusticl = on(stub::cpu(), "rusticl");
  const RankFilter::Problem median{kSize, kSize, 2, 0.5, RankFilter::Pixel::r8};
  RankFilter::Problem most = median;
  most.rank = 1;
  const HaloTile::Problem tile{HaloTile::Filter::dilation, kSize, kSize, 1, 1, HaloTile::Pixel::r8};
  CHECK(cannot([&] { RankFilter(rusticl, median, "cpu_rows"); }) == Lacks::feature);
  CHECK(cannot([&] { RankFilter(rusticl, most, "cpu_windows"); }) == Lacks::feature);
  CHECK(cannot([&] { HaloTile(rusticl, tile, "cpu_rows"); }) == Lacks::feature);
  CHECK(!contains(RankFilter(rusticl, median).variant().name(), "cpu"));
  CHECK(!contains(HaloTile(rusticl, tile).variant().name(), "cpu"));
  const Runtime nvidia = on(stub::gpu(), "NVIDIA CUDA");
  CHECK(cannot([&] { GaussianBlur(nvidia, p, "cpu_fused"); }) == Lacks::feature);
  CHECK(cannot([&] {
          LineBlur(nvidia, {kSize, kSize, 2, LineBlur::RadiusFraction(0.5)}, "cpu_fused");
        }) == Lacks::feature);
  stub::Device small = stub::cpu();
  small.extensions = "cl_khr_subgroup_shuffle cl_intel_required_subgroup_size";
  small.sub_group_sizes = {1, 2, 4, 8};
  CHECK(sub_groups(on(small, "Portable Computing Language")).sizes ==
        std::vector<std::size_t>{4, 8});
  stub::set_device(stub::gpu());
}

TEST_CASE("rectangles of sub-buffers are copied from the whole buffer") {
  stub::set_device(stub::gpu());
  const Runtime runtime = stub::make_runtime();
  const cl::Buffer whole = create_buffer(runtime, 1 << 16);
  const auto part = [&](std::size_t origin) {
    const cl_buffer_region region = {origin, 1 << 14};
    cl_int status = CL_SUCCESS;
    cl::Buffer out(clCreateSubBuffer(whole(), CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION,
                                     &region, &status));
    check(status, "clCreateSubBuffer");
    return out;
  };
  // 4 slices of 8 x 8 floats with gaps between rows, along z: copies into rows without gaps and back.
  GaussianBlur::Problem p{8, 8, 0, 0};
  p.pixel = PixelType::r32f;
  p.depth = 4;
  p.sigma_z = 1;
  const GaussianBlur blur(runtime, p, "volume");
  stub::count_functions(true);
  const long before = stub::calls("clEnqueueCopyBufferRect");
  CHECK(is_done(blur({part(0), 0, 48}, {part(1 << 15), 0, 64})));
  CHECK(stub::calls("clEnqueueCopyBufferRect") == before + 2);
  stub::count_functions(false);
}

TEST_CASE("a variant that reads images names what the device lacks") {
  const LineBlur::Problem p{20, 10, 3, LineBlur::RadiusFraction(0.5), LineBlur::Pixel::rgba8};
  const auto why = [&](const stub::Device& device, const char* variant) {
    stub::set_device(device);
    const Runtime runtime = stub::make_runtime();
    try {
      const LineBlur blur(runtime, p, variant);
    } catch (const Error& error) {
      CHECK(error.code == Errc::unsupported);
      return std::string(error.what());
    }
    return std::string();
  };
  stub::Device device = stub::gpu();
  CHECK(why(device, "linear_pairs").empty());
  device.profile = "EMBEDDED_PROFILE";
  CHECK(why(device, "image_table").empty());
  CHECK(contains(why(device, "linear_pairs"), "embedded profile"));
  device.image_size = 15;
  CHECK(contains(why(device, "image_line"), "an image of 20 x 10 exceeds"));
  device.images = false;
  CHECK(contains(why(device, "image_line"), "the device has no images"));
  CHECK(contains(why(device, "linear_pairs"), "the device has no images"));
  stub::set_device(stub::gpu());
}
