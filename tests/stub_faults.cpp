// Every OpenCL call that the library makes fails once, in turn, on the stub: each time an Error with
// the call's code, or, where a way back is documented, success. Nothing leaks, and what was made
// before can be used afterwards.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <clcook/bc6h_decode.hpp>
#include <clcook/core/rates.hpp>
#include <clcook/core/sub_group.hpp>
#include <clcook/gaussian_blur.hpp>
#include <clcook/gaussian_blur_strips.hpp>
#include <clcook/halo_tile.hpp>
#include <clcook/line_blur.hpp>
#include "bench/cookbook/recipes.hpp"

#include "stub/runtime.hpp"
#include "support/grid.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;

namespace {

// What is tried: `work` with a call failing, then `again` without.
struct Scenario {
  std::function<void()> work;
  std::function<void()> again;
  std::function<void()> after = [] {};  // lets what waits go on
};

struct Rules {
  // Functions whose failure is no error of the work.
  std::set<std::string> ways_back{};
  // Functions whose failure is an Error of another code, which names it in its message.
  std::set<std::string> reported{};
};

int scenarios = 0;
int faults = 0;

void fail_each(const std::string& what, const std::function<Scenario()>& make,
               const Rules& rules = {}) {
  ++scenarios;
  std::vector<cl_int> codes{CL_OUT_OF_HOST_MEMORY};
  if (!short_grid()) codes.push_back(CL_OUT_OF_RESOURCES);
  for (const cl_int code : codes) {
    // The short grid takes all calls of short work, and of long work those that come again and again
    // less often.
    for (long n = 1;; n += short_grid() && n >= 60 ? 7 : 1) {
      const stub::Counts before = stub::alive();
      std::string failed;
      std::string outcome = "success";
      bool usable = false;
      {
        const Scenario one = make();
        stub::fail_call(n, code);
        std::optional<Error> error;
        try {
          one.work();
        } catch (const Error& caught) {
          error = caught;
          outcome = caught.what();
        } catch (const std::exception& caught) {
          outcome = std::string("another exception: ") + caught.what();
        }
        failed = stub::failed_call();
        stub::fail_call(0, 0);
        bool right = failed.empty() || rules.ways_back.count(failed) != 0;
        if (error) {
          right = !failed.empty() && (error->status == code || rules.reported.count(failed) != 0);
        }
        CHECK_MESSAGE(right, what, ": ", n, ", ", failed, " with ", code, ": ", outcome,
                      error ? ", status " + std::to_string(error->status) : "");
        outcome.clear();
        try {
          one.again();
          usable = true;
        } catch (const std::exception& caught) {
          outcome = caught.what();
        }
        one.after();
      }
      CHECK_MESSAGE(usable, what, ": after ", n, ", ", failed, ": ", outcome);
      CHECK_MESSAGE(stub::alive() == before, what, ": ", n, ", ", failed, ": left are ",
                    stub::alive().str(), ", there were ", before.str());
      if (failed.empty()) break;
      ++faults;
    }
  }
}

stub::Device nvidia() {
  stub::Device out;
  out.name = "Stub of NVIDIA";
  out.platform = "NVIDIA CUDA";
  out.vendor = "NVIDIA Corporation";
  out.extensions += " cl_nv_device_attribute_query";
  out.compute_capability = 80;
  out.local_memory = 96 << 10;
  return out;
}

// Its test shapes, the tiny ones first.
std::vector<Params> shapes_of(const Recipe& recipe) {
  std::vector<Params> out = recipe.test_shapes;
  std::stable_partition(out.begin(), out.end(),
                        [](const Params& shape) { return shape.integer("tiny", 0) == 1; });
  return out;
}

// A runtime and a case of a recipe on it.
struct Prepared {
  Prepared(const Recipe& recipe, const Params& shape, bool out_of_order)
      : runtime(stub::make_runtime(out_of_order)), one(recipe.make(runtime, shape, 1)) {
    one->poison();
    const cl::Event uploaded = one->upload({});
    check(clFinish(runtime.queue()()), "clFinish");
  }
  Runtime runtime;
  std::unique_ptr<Case> one;
};

// What sub_groups() and the methods for NVIDIA's matrix units ask: without an answer there are none.
const Rules kPlan{{"clGetDeviceInfo"}, {"clGetDeviceInfo"}};
const Rules kRuntime{{"clGetDeviceInfo"}, {}};  // the versions of OpenCL C

}  // namespace

LONG_TEST_CASE("plans and calls of every operation", 32) {
  const std::vector<stub::Device> devices{stub::gpu(), stub::cpu(), nvidia()};
  std::map<std::string, std::size_t> device_of;
  std::size_t number = 0;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    stub::set_device(devices[d]);
    for (const Recipe& recipe : cookbook::recipes()) {
      const std::vector<Params> shapes = shapes_of(recipe);
      std::vector<std::pair<std::string, Params>> plans{{"automatic", {}}};
      for (const VariantInfo& variant : recipe.variants)
        plans.emplace_back(variant.name, combinations(variant.axes).front());
      for (const auto& plan : plans) {
        const std::string variant = plan.first;
        const Params tune = plan.second;
        const std::string what = recipe.name + "/" + variant + " on " + devices[d].name;
        // Each variant on the first device that takes it.
        if (variant != "automatic" && device_of.count(recipe.name + variant) != 0) continue;
        std::size_t chosen = 0;
        for (; chosen < shapes.size(); ++chosen) {
          try {
            Prepared(recipe, shapes[chosen], false).one->prepare(variant, tune);
            break;
          } catch (const Error& error) {
            REQUIRE_MESSAGE(error.code == Errc::unsupported, what, ": ", std::string(error.what()));
          }
        }
        if (chosen == shapes.size()) continue;
        const Params shape = shapes[chosen];
        device_of[recipe.name + variant] = d;
        if (left_out(number++, 5)) continue;
        const auto run = [](Prepared& in) {
          in.one->run({});
          check(clFinish(in.runtime.queue()()), "clFinish");
        };
        fail_each(
            what + ", plan",
            [&] {
              auto in = std::make_shared<Prepared>(recipe, shape, false);
              return Scenario{[=] { in->one->prepare(variant, tune); },
                              [=] {
                                in->one->prepare(variant, tune);
                                run(*in);
                              }};
            },
            kPlan);
        for (const bool out_of_order : {false, true}) {
          fail_each(what + ", call", [&] {
            auto in = std::make_shared<Prepared>(recipe, shape, out_of_order);
            in->one->prepare(variant, tune);
            auto gate = std::make_shared<stub::Gate>(in->runtime);
            // Behind a call that has not run.
            in->one->run({gate->event()});
            return Scenario{[=] { in->one->run({gate->event()}); },
                            [=] {
                              const cl::Event last = in->one->run({});
                              gate->set(CL_COMPLETE);
                              check(clFinish(in->runtime.queue()()), "clFinish");
                              if (stub::status_of(last) != CL_COMPLETE)
                                fail(Errc::opencl, "test", "the call afterwards failed");
                            },
                            [=] { gate->set(CL_COMPLETE); }};
          });
        }
      }
    }
  }
  for (const Recipe& recipe : cookbook::recipes()) {
    for (const VariantInfo& variant : recipe.variants)
      CHECK_MESSAGE(device_of.count(recipe.name + variant.name) != 0, recipe.name, "/",
                    variant.name, " ran on no device");
  }
  std::printf("%d scenarios, %d faults\n", scenarios, faults);
}

TEST_CASE("choosing a device") {
  stub::set_device(stub::gpu());
  fail_each(
      "Runtime::pick",
      [] {
        return Scenario{[] { stub::make_runtime(); }, [] { stub::make_runtime(); }};
      },
      // A device that fails its probe is not taken; the message says why.
      {{"clGetDeviceInfo"},
       {"clGetDeviceIDs", "clGetPlatformInfo", "clGetDeviceInfo", "clCreateContext",
        "clCreateCommandQueue", "clCreateProgramWithSource", "clBuildProgram", "clCreateKernel",
        "clCreateBuffer", "clSetKernelArg", "clEnqueueNDRangeKernel", "clEnqueueReadBuffer"}});
  const Runtime picked = stub::make_runtime();
  fail_each(
      "Runtime of a queue",
      [&] {
        const auto work = [&] { Runtime(picked.queue()); };
        return Scenario{work, work};
      },
      kRuntime);
}

TEST_CASE("programs, from source and with a cache on disk") {
  stub::set_device(stub::gpu());
  const Source source("twice.cl", "__kernel void twice(__global float* x) { x[0] *= 2; }\n");
  const auto build = [source](const Runtime& runtime) {
    Kernel(runtime, runtime.build(source, {}, "twice"), "twice");
  };
  for (const bool warm : {false, true}) {
    const TempFolder folder;
    std::size_t number = 0;
    const DiskCache filled((folder / "filled").string());
    build(stub::make_runtime(false, filled));
    fail_each(
        warm ? "a program on disk" : "a new program",
        [&] {
          const DiskCache disk =
              warm ? filled : DiskCache((folder / std::to_string(number++)).string());
          auto runtime = std::make_shared<Runtime>(stub::make_runtime(false, disk));
          return Scenario{[=] { build(*runtime); }, [=] { build(*runtime); }};
        },
        // What cannot be stored is not; what cannot be loaded is built.
        warm ? Rules{{"clCreateProgramWithBinary", "clBuildProgram"}, {}}
             : Rules{{"clGetProgramInfo"}, {}});
  }
}

LONG_TEST_CASE("images, other sigmas, strips", 16) {
  stub::set_device(stub::gpu());
  const std::size_t size = 24;
  const auto finish = [](const Runtime& runtime, const cl::Event& done) {
    check(clFinish(runtime.queue()()), "clFinish");
    if (stub::status_of(done) != CL_COMPLETE) fail(Errc::opencl, "test", "the call failed");
  };
  struct Images {
    Images(std::size_t of, const cl_image_format& format, bool out_of_order)
        : runtime(stub::make_runtime(out_of_order)),
          src(stub::make_image(runtime, of, of, format)),
          dst(stub::make_image(runtime, of, of, format)),
          buffer(create_buffer(runtime, of * of * 16)) {}
    Runtime runtime;
    cl::Image2D src;
    cl::Image2D dst;
    cl::Buffer buffer;
  };
  // The first call makes buffers, the others do not.
  for (const bool first : {true, false}) {
    const auto images = [&](const char* what, const cl_image_format& format, const auto& plan_of,
                            const auto& call) {
      fail_each(what, [&] {
        auto in = std::make_shared<Images>(size, format, true);
        auto plan = std::make_shared<decltype(plan_of(*in))>(plan_of(*in));
        auto gate = std::make_shared<stub::Gate>(in->runtime);
        if (!first) call(*plan, *in, std::vector<cl::Event>{gate->event()});
        return Scenario{[=] { call(*plan, *in, {gate->event()}); },
                        [=] {
                          const cl::Event done = call(*plan, *in, {});
                          gate->set(CL_COMPLETE);
                          finish(in->runtime, done);
                        },
                        [=] { gate->set(CL_COMPLETE); }};
      });
    };
    using Wait = std::vector<cl::Event>;
    images(
        "GaussianBlur of an image", {CL_RGBA, CL_FLOAT},
        [](const Images& in) {
          return GaussianBlur(in.runtime, {static_cast<int>(size), static_cast<int>(size), 3, 3});
        },
        [](const GaussianBlur& blur, const Images& in, const Wait& wait) {
          return blur(in.src, in.dst, wait);
        });
    images(
        "LineBlur of an image", {CL_RGBA, CL_FLOAT},
        [](const Images& in) {
          return LineBlur(in.runtime, {static_cast<int>(size), static_cast<int>(size), 3,
                                       LineBlur::RadiusFraction(0.5), LineBlur::Pixel::rgba32f});
        },
        [](const LineBlur& blur, const Images& in, const Wait& wait) {
          return blur(in.src, in.dst, wait);
        });
    images(
        "HaloTile of an image", {CL_RGBA, CL_UNSIGNED_INT8},
        [](const Images& in) {
          HaloTile::Problem problem;
          problem.width = problem.height = static_cast<int>(size);
          problem.pixel = HaloTile::Pixel::rgba8;
          return HaloTile(in.runtime, problem, "image");
        },
        [](const HaloTile& halo, const Images& in, const Wait& wait) {
          return halo(in.src, in.buffer, wait);
        });
    images(
        "Bc6hDecode into an image", {CL_RGBA, CL_HALF_FLOAT},
        [](const Images& in) {
          return Bc6hDecode(in.runtime, {static_cast<int>(size), static_cast<int>(size)});
        },
        [](const Bc6hDecode& decode, const Images& in, const Wait& wait) {
          return decode(in.buffer, in.dst, wait);
        });
  }

  for (const bool build_for : {false, true}) {
    fail_each(build_for ? "GaussianBlur::build_for" : "GaussianBlur::set_sigma", [&] {
      auto in = std::make_shared<Images>(size, cl_image_format{CL_RGBA, CL_FLOAT}, false);
      auto other = std::make_shared<cl::Buffer>(create_buffer(in->runtime, size * size * 16));
      auto blur = std::make_shared<GaussianBlur>(
          in->runtime, GaussianBlur::Problem{static_cast<int>(size), static_cast<int>(size), 3, 3});
      const auto work = [=] {
        if (build_for) {
          blur->build_for(30, 30);
        } else {
          blur->set_sigma(4, 4);
        }
      };
      return Scenario{work, [=] {
                        const bool as_before = blur->problem().sigma_x < 3.5;
                        finish(in->runtime, (*blur)(in->buffer, *other));
                        work();
                        if (build_for) blur->set_sigma(30, 30);
                        finish(in->runtime, (*blur)(in->buffer, *other));
                        CHECK((as_before || !build_for));
                      }};
    });
  }

  std::vector<float> src(size * size * 4);
  std::vector<float> dst(src.size());
  std::vector<unsigned char> blocks(size * size);
  // Memory that cannot be pinned has a way back, and so have all failures of one device of two.
  for (const StripWay way : {StripWay::staged, StripWay::direct, StripWay::mapped}) {
    fail_each(std::string("GaussianBlur::by_strips, ") + to_string(way),
              [&] {
                auto runtime = std::make_shared<Runtime>(stub::make_runtime());
                auto pipeline = std::make_shared<StripPipeline>(std::vector<Runtime>{*runtime},
                                                                StripOptions{1, way});
                const auto work = [=, &src, &dst] {
                  GaussianBlur::by_strips(*pipeline,
                                          {static_cast<int>(size), static_cast<int>(size), 1, 1},
                                          src.data(), 0, dst.data(), 0, 10);
                };
                return Scenario{work, work};
              },
              {{"clCreateBuffer", "clEnqueueMapBuffer"}, {}});
  }
  // Of two devices the other makes what the failing one left.
  fail_each("GaussianBlur::by_strips on two devices",
            [&] {
              auto one = std::make_shared<Runtime>(stub::make_runtime());
              auto two = std::make_shared<Runtime>(stub::make_runtime());
              const auto work = [=, &src, &dst] {
                StripPipeline pipeline({*one, *two}, {1, StripWay::staged});
                GaussianBlur::by_strips(pipeline,
                                        {static_cast<int>(size), static_cast<int>(size), 1, 1},
                                        src.data(), 0, dst.data(), 0, 5);
              };
              return Scenario{work, work};
            },
            {{"clBuildProgram",
              "clCreateBuffer",
              "clCreateCommandQueue",
              "clCreateKernel",
              "clCreateProgramWithSource",
              "clEnqueueMapBuffer",
              "clEnqueueNDRangeKernel",
              "clEnqueueReadBuffer",
              "clEnqueueWriteBuffer",
              "clFlush",
              "clGetDeviceInfo",
              "clGetEventInfo",
              "clGetKernelInfo",
              "clGetKernelWorkGroupInfo",
              "clGetMemObjectInfo",
              "clGetProgramBuildInfo",
              "clGetProgramInfo",
              "clSetKernelArg",
              "clWaitForEvents",
              "clEnqueueUnmapMemObject",
              "clFinish"},
             {}});
  fail_each("Bc6hDecode::by_strips", [&] {
    auto runtime = std::make_shared<Runtime>(stub::make_runtime());
    const auto work = [=, &blocks, &dst] {
      Bc6hDecode::by_strips(*runtime, {static_cast<int>(size), static_cast<int>(size)},
                            blocks.data(), 0, dst.data(), 0, 8);
    };
    return Scenario{work, work};
  });
}
