// clcook warm: fills the caches of programs, clcook's and the implementation's, for what applications name.

#include <fmt/format.h>

#include <clcook/core/cache.hpp>
#include <clcook/core/launch.hpp>
#include <clcook/core/quirks.hpp>
#include <memory>

#include "tool/command.hpp"

namespace clcook::tool {

namespace {

struct WarmArguments {
  std::vector<std::string> recipes;
  std::vector<std::string> shapes;
  std::string device;
};

// Throws Error(io) where programs would not be kept.
std::string cache_folder() {
  const DiskCache cache = DiskCache::standard();
  if (!cache.enabled())
    fail(Errc::io, "warm", "the cache is off: set CLCOOK_CACHE_DIR, and not CLCOOK_CACHE=0");
  if (!cache.refusal().empty()) fail(Errc::io, "warm", cache.note());
  return cache.folder();
}

// Makes the plan that an application gets, and calls it once: some implementations compile then.
void warm(const Runtime& runtime, const Recipe& recipe, const Params& shape) {
  const ProgramCache::Stats before = runtime.cache().stats();
  const std::unique_ptr<Case> one = recipe.make(runtime, shape, 1);
  one->prepare("automatic", {});
  one->poison();
  clcook::wait_for(one->run({one->upload({})}));
  const ProgramCache::Stats after = runtime.cache().stats();
  fmt::print("{} {}: {}, {} compiled, {} from the cache\n", recipe.name, shape.str(),
             recipe.choose(runtime, shape).text(), after.from_source - before.from_source,
             after.from_disk + after.from_memory - before.from_disk - before.from_memory);
}

}  // namespace

const Command add_warm(15, [](CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "warm",
      "Fill the caches of programs for what an application names, as in a container's image");
  auto arguments = std::make_shared<WarmArguments>();
  command->add_option("recipes", arguments->recipes, "Recipes")->required();
  command->add_option("--shape", arguments->shapes,
                      "A problem of each recipe, \"width=1920 height=1080\", may be repeated; "
                      "default: those that bench measures");
  command->add_option("--device", arguments->device,
                      "Device specification; default CLCOOK_DEVICE, else any");
  command->callback([arguments, &exit_code] {
    std::vector<std::pair<const Recipe*, Params>> all;
    for (const std::string& name : arguments->recipes) {
      const Recipe& recipe = find_recipe(recipes(), name);
      std::vector<Params> shapes;
      for (const std::string& shape : arguments->shapes) shapes.push_back(Params::parse(shape));
      for (const Params& shape : shapes.empty() ? recipe.bench_shapes : shapes) {
        recipe.check_shape(shape);
        all.emplace_back(&recipe, shape);
      }
    }
    const Runtime runtime = Runtime::pick(arguments->device);
    const bool are_theirs = quirks::keeps_programs(runtime.info());
    const std::string folder = are_theirs ? std::string() : cache_folder();
    for (const auto& [recipe, shape] : all) warm(runtime, *recipe, shape);
    if (are_theirs) {
      exit_code = 0;
      fmt::print("{} keeps them itself\n", runtime.info().platform);
      return;
    }
    // What could not be written, a plan of another runtime compiles.
    const Runtime again = Runtime::pick(arguments->device);
    for (const auto& [recipe, shape] : all) {
      recipe->make(again, shape, 1)->prepare("automatic", {});
      if (again.cache().stats().from_source > 0)
        fail(Errc::io, "warm",
             fmt::format("{} could not be filled: it lacks the program of {} {}", folder,
                         recipe->name, shape.str()));
    }
    fmt::print("{} has them\n", folder);
    exit_code = 0;
  });
});

}  // namespace clcook::tool
