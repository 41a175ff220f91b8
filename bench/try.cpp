// clcook try: a description of somebody's kernels, looked at or begun.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <set>

#include <clcook/core/launch.hpp>
#include <clcook/core/source.hpp>

#include "tool/command.hpp"
#include "try/description.hpp"
#include "try/new.hpp"
#include "try/recipe.hpp"

namespace clcook::tool {

namespace {

struct TryArguments {
  std::string file;
  std::string start;
  std::string options;
  std::string out;
  std::string device;
};

std::string product_of(const std::vector<std::size_t>& sizes) {
  std::string out;
  for (const std::size_t one : sizes) out += (out.empty() ? "" : " x ") + std::to_string(one);
  return out;
}

// The largest group whose sizes divide the global ones.
std::size_t largest_group(const std::vector<std::size_t>& global, std::size_t limit) {
  if (global.empty()) return 1;
  std::size_t out = 1;
  for (std::size_t size = 1; size <= std::min(limit, global[0]); ++size) {
    if (global[0] % size == 0)
      out = std::max(out, size * largest_group({global.begin() + 1, global.end()}, limit / size));
  }
  return out;
}

// The local size of a launch, with a warning of groups that are too small for a wave.
std::string local_of(const described::Geometry& geometry, const DeviceInfo& info) {
  if (!geometry.local.empty()) return product_of(geometry.local);
  constexpr std::size_t kSmallWave = 32;
  const std::size_t most = largest_group(geometry.global, info.max_group);
  const std::size_t items = std::accumulate(geometry.global.begin(), geometry.global.end(),
                                            std::size_t{1}, std::multiplies<>());
  if (most >= std::min(kSmallWave, items)) return "chosen by the device";
  return fmt::format(
      "chosen by the device, {} at most if it divides the global size: give one, with "
      "round_up() for the global size",
      most);
}

// What the commands would run, without running it.
int show(const TryArguments& arguments) {
  const described::Description about = described::read_description(arguments.file);
  const Runtime runtime = Runtime::pick(arguments.device);
  described::inspect(runtime, about);
  std::string out =
      fmt::format("{}: {} kernels, {} problems to check, {} to measure; {}, {}\n", about.name,
                  about.kernels.size(), about.check_shapes.size(), about.bench_shapes.size(),
                  runtime.info().platform, runtime.info().name);
  const Params& shape = about.bench_shapes.front();
  out += fmt::format("with {}:\n", shape.str());
  for (const described::Argument& one : about.arguments) {
    if (one.in_memory())
      out += fmt::format("  {:<16} {:>14} bytes  {}\n", one.name,
                         one.bytes(described::names_of(shape, {})),
                         !one.is_written() ? "read"
                         : one.is_read()   ? "read and written"
                                           : "written");
  }
  for (const described::KernelEntry& kernel : about.kernels) {
    const std::vector<Params> tunes = combinations(kernel.tunes);
    const described::Geometry geometry =
        described::geometry_of(kernel, described::names_of(shape, tunes.front()));
    out += fmt::format("  {:<16} global {}, local {}; {} tunes{}\n", kernel.name,
                       product_of(geometry.global), local_of(geometry, runtime.info()),
                       tunes.size(), kernel.baseline ? "; the baseline" : "");
  }
  out += fmt::format("Next: clcook check {0}, clcook bench {0}\n", arguments.file);
  deliver("", out);
  return 0;
}

// Not write_file(): what is there stays there.
int start(const TryArguments& arguments) {
  std::filesystem::path to = arguments.out;
  if (to.empty()) to = std::filesystem::path(arguments.start).replace_extension(".toml");
  if (to.extension() != ".toml")
    fail(Errc::invalid_argument, to.string(), "the name of a description must end in .toml");
  std::error_code error;
  if (std::filesystem::exists(to, error))
    fail(Errc::io, to.string(), "is there already and is left as it is; --out gives another name");
  const std::string own = described::name_of_file(to.string());
  const bool taken = std::any_of(recipes().begin(), recipes().end(),
                                 [&](const Recipe& one) { return one.name == own; });
  const Runtime runtime = Runtime::pick(arguments.device);
  const std::string content = described::new_description(
      runtime, arguments.start, arguments.options, to.string(), taken ? "my_" + own : "");
  std::FILE* file = std::fopen(to.c_str(), "wx");
  if (file == nullptr) fail(Errc::io, to.string(), "cannot be made");
  const bool written = std::fwrite(content.data(), 1, content.size(), file) == content.size();
  if (std::fclose(file) != 0 || !written) fail(Errc::io, to.string(), "cannot be written");
  deliver("", fmt::format("made {0}: read it, put the sizes right, then clcook check {0}\n",
                          to.string()));
  return 0;
}

// Has every command take descriptions.
void add_source() {
  static std::map<std::string, std::shared_ptr<const described::Description>> read;  // by recipe
  set_recipe_source({".toml",
                     [](const std::string& file) {
                       auto about = std::make_shared<const described::Description>(
                           described::read_description(file));
                       read[about->name] = about;
                       return described::recipe_of(about);
                     },
                     [](const Runtime& runtime, const std::string& recipe) {
                       described::inspect(runtime, *read.at(recipe));
                     }});
}

}  // namespace

const Command add_try(13, [](CLI::App& app, int& exit_code) {
  add_source();
  CLI::App* command = app.add_subcommand(
      "try", "Your own kernels: read their description, FILE.toml, or begin one");
  auto arguments = std::make_shared<TryArguments>();
  CLI::Option* file = command->add_option(
      "FILE", arguments->file, "The description to read and to compare with its kernels");
  CLI::Option* fresh = command
                           ->add_option("--new", arguments->start,
                                        "MINE.cl: write MINE.toml from what its kernels declare")
                           ->excludes(file);
  command->add_option("--options", arguments->options, "Compiler options that its kernels need")
      ->needs(fresh);
  command->add_option("--out", arguments->out, "The file to write, which must not be there yet")
      ->needs(fresh);
  command->add_option("--device", arguments->device,
                      "Device specification; default CLCOOK_DEVICE, else any");
  command->footer(
      "clcook check, bench, tune and isa take FILE.toml in the place of a recipe. "
      "docs/try.md says what stands in it.");
  command->callback([arguments, &exit_code] {
    if (arguments->file.empty() && arguments->start.empty())
      fail(Errc::invalid_argument, "try", "give a description, or --new MINE.cl to begin one");
    exit_code = arguments->start.empty() ? show(*arguments) : start(*arguments);
  });
});

}  // namespace clcook::tool
