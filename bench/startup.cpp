// clcook startup: how long a new process takes to its first blur.

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <clcook/gaussian_blur.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "measure/fingerprint.hpp"
#include "tool/command.hpp"
#include "tool/process.hpp"
#include "tool/scratch_folder.hpp"

namespace clcook::tool {

namespace {

struct StartupArguments {
  std::string device;
  std::string out;
  int width = 1920;
  int height = 1080;
  double sigma = 12;
  bool child = false;
};

double processor_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// One process: a line of JSON with the seconds of each step on the clock.
int run_child(const StartupArguments& arguments) {
  auto last = std::chrono::steady_clock::now();
  const auto lap = [&] {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - last).count();
    last = now;
    return seconds;
  };
  StartupRow row;
  const Runtime runtime = Runtime::pick(arguments.device);
  row.pick_s = lap();
  const std::size_t bytes = std::size_t{16} * static_cast<std::size_t>(arguments.width) *
                            static_cast<std::size_t>(arguments.height);
  const std::vector<float> grey(bytes / sizeof(float), 0.5F);
  const cl::Buffer src = create_buffer(runtime, bytes, CL_MEM_READ_WRITE, grey.data());
  const cl::Buffer dst = create_buffer(runtime, bytes);
  check(clFinish(runtime.queue()()), "clFinish");
  lap();
  const GaussianBlur blur{runtime,
                          {arguments.width, arguments.height, arguments.sigma, arguments.sigma}};
  row.plan_s = lap();
  for (double* seconds : {&row.first_blur_s, &row.second_blur_s}) {
    const cl::Event done = blur(src, dst);
    check(clWaitForEvents(1, &done()), "clWaitForEvents");
    *seconds = lap();
  }
  row.processor_s = processor_seconds();
  row.compiled = runtime.cache().stats().from_source;
  row.method = blur.variant().name();
  row.tune = GaussianBlur::Posed::format_tune(blur.tune());
  fmt::print("STARTUP {}\n", to_json(row).dump());
  return 0;
}

// The row of a process of its own.
StartupRow run_process(const StartupArguments& arguments) {
  if (!arguments.device.empty()) setenv("CLCOOK_DEVICE", arguments.device.c_str(), 1);
  const Finished ended =
      run_tool({std::filesystem::read_symlink("/proc/self/exe").string(), "startup", "--child",
                "--width", fmt::to_string(arguments.width), "--height",
                fmt::to_string(arguments.height), "--sigma", fmt::to_string(arguments.sigma)});
  const std::string& text = ended.out;
  const std::size_t at = text.find("STARTUP ");
  if (ended.code != 0 || at == std::string::npos) {
    const std::string how = ended.code > 128 ? fmt::format("by signal {}, {}", ended.code - 128,
                                                           strsignal(ended.code - 128))
                                             : fmt::format("with exit code {}", ended.code);
    fail(Errc::opencl, "startup",
         fmt::format("the process that should blur ended {}\n{}", how, ended.err));
  }
  return read_fields<StartupRow>(Json::parse(text.substr(at + 8, text.find('\n', at) - at - 8)),
                                 "of the process", "row");
}

int startup(const StartupArguments& arguments) {
  // Empty caches: ours, and those of the implementations.
  const ScratchFolder folder("startup");
  for (const char* variable :
       {"CLCOOK_CACHE_DIR", "POCL_CACHE_DIR", "CUDA_CACHE_PATH", "MESA_SHADER_CACHE_DIR"}) {
    const std::filesystem::path cache = folder.path() / variable;
    std::filesystem::create_directories(cache);
    setenv(variable, cache.c_str(), 1);
  }
  constexpr int kWarm = 5;
  StartupResult measured;
  measured.problem = {{"width", arguments.width},
                      {"height", arguments.height},
                      {"sigma", arguments.sigma},
                      {"quality", GaussianBlur::Problem().quality}};
  const auto add = [&](const char* caches, std::vector<StartupRow> runs) {
    std::sort(runs.begin(), runs.end(), [](const StartupRow& a, const StartupRow& b) {
      return a.plan_s + a.first_blur_s < b.plan_s + b.first_blur_s;
    });
    runs[runs.size() / 2].caches = caches;
    measured.rows.push_back(runs[runs.size() / 2]);
  };
  add("empty", {run_process(arguments)});
  std::vector<StartupRow> warm;
  for (int i = 0; i < kWarm; ++i) warm.push_back(run_process(arguments));
  add("filled", std::move(warm));

  const Runtime runtime = Runtime::pick(arguments.device);
  const Recipe& recipe = find_recipe(recipes(), "gaussian_blur");
  for (StartupRow& row : measured.rows)
    row.ran = fingerprint_of(recipe, row.method, *row.tune, {measured.problem}, runtime.info());
  Json result = result_head("startup", runtime.info());
  result.update(to_json(measured));
  if (!arguments.out.empty()) deliver(arguments.out, dump_result(result));
  fmt::print("{}, {}: {}\n{:<8} {:>9} {:>9} {:>12} {:>13} {:>12}\n", runtime.info().platform,
             runtime.info().name, measured.rows[0].method, "caches", "pick s", "plan s",
             "first blur s", "second blur s", "processor s");
  for (const StartupRow& row : measured.rows) {
    fmt::print("{:<8} {:>9.4f} {:>9.4f} {:>12.4f} {:>13.4f} {:>12.4f}\n", *row.caches, row.pick_s,
               row.plan_s, row.first_blur_s, row.second_blur_s, row.processor_s);
  }
  return 0;
}

}  // namespace

const Command add_startup(12, [](CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("startup",
                                         "Time the first blur of a new process, with empty caches "
                                         "and, medians of 5, with filled ones");
  auto arguments = std::make_shared<StartupArguments>();
  command->add_option("--width", arguments->width, "Of the picture, pixels")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--height", arguments->height, "Of the picture, pixels")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--sigma", arguments->sigma, "Of the blur, pixels")->capture_default_str();
  command->add_option("--device", arguments->device,
                      "Device specification; default CLCOOK_DEVICE, else any");
  command->add_option("--out", arguments->out, "Also write the rows to this JSON file");
  command->add_flag("--child", arguments->child)->group("");  // the process that is timed
  command->callback([arguments, &exit_code] {
    exit_code = arguments->child ? run_child(*arguments) : startup(*arguments);
  });
});

}  // namespace clcook::tool
