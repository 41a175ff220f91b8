#include "tool/command.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <clcook/core/commit.hpp>
#include <clcook/version.hpp>
#include <cstdio>
#include <ctime>
#include <exception>
#include <map>
#include <memory>
#include <string_view>

#include "cookbook/recipes.hpp"
#include "tool/process.hpp"
#include "tool/stderr_capture.hpp"

namespace clcook::tool {
namespace {

std::string command_line;  // of run_command(), for the results

// Words of a command line as a shell takes them.
std::string quoted(std::string_view word) {
  const auto plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("-_=./,:+%@").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return std::string(word);
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// By their places. Made by the first of them, whichever file that is in.
std::multimap<int, Command::Add>& commands() {
  static std::multimap<int, Command::Add> all;
  return all;
}

}  // namespace

Command::Command(int place, Add add) { commands().emplace(place, add); }

void add_commands(CLI::App& app, int& exit_code) {
  app.require_subcommand(1);
  app.set_version_flag(
      "--version", fmt::format("clcook {}.{}.{} ({})", CLCOOK_VERSION_MAJOR, CLCOOK_VERSION_MINOR,
                               CLCOOK_VERSION_PATCH, commit));
  app.footer(
      "The device is chosen with --device or the variable CLCOOK_DEVICE: gpu, cpu, nvidia, amd, "
      "intel, pocl, pocl:0, 0:0, ...");
  for (const auto& [place, add] : commands()) add(app, exit_code);
}

int run_command(int argc, const char* const* argv) {
  CLI::App app{"clcook: OpenCL kernel optimisations, checked and measured"};
  int exit_code = 0;
  command_line = "clcook";
  for (int i = 1; i < argc; ++i) command_line += " " + quoted(argv[i]);
  add_commands(app, exit_code);
  // CLI11 would only say that a subcommand is required.
  const auto named = [&](const CLI::App* one) { return one->get_name() == argv[1]; };
  if (argc > 1 && argv[1][0] != '-' && app.get_subcommands(named).empty()) {
    fmt::print(stderr, "clcook: there is no command '{}'; see clcook --help\n", argv[1]);
    return 2;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "clcook: {}\n", error.what());
    return 2;
  }
  return exit_code;
}

namespace {

std::vector<Recipe>& every_recipe() {
  static std::vector<Recipe> every = cookbook::recipes();
  return every;
}

RecipeSource& recipe_source() {
  static RecipeSource one;
  return one;
}

// The files that were read, by the name of their recipe.
std::map<std::string, std::string>& descriptions() {
  static std::map<std::string, std::string> all;
  return all;
}

}  // namespace

void set_recipe_source(RecipeSource source) { recipe_source() = std::move(source); }

bool is_description(const std::string& name) {
  return recipe_source().read &&
         std::filesystem::path(name).extension() == recipe_source().extension;
}

bool is_described(const std::string& recipe) { return descriptions().count(recipe) > 0; }

const std::vector<Recipe>& recipes() { return every_recipe(); }

std::string add_description(const std::string& file) {
  for (const auto& [recipe, known] : descriptions()) {
    if (known == file) return recipe;
  }
  Recipe added = recipe_source().read(file);
  for (const Recipe& other : recipes()) {
    if (other.name == added.name)
      fail(Errc::invalid_argument, file,
           "there is a recipe '" + added.name + "' already; give the description another name");
  }
  descriptions()[added.name] = file;
  every_recipe().push_back(std::move(added));
  return every_recipe().back().name;
}

bool add_descriptions(std::vector<std::string>& names) {
  bool any = false;
  for (std::string& name : names) {
    if (!is_description(name)) continue;
    any = true;
    name = add_description(name);
  }
  return any;
}

int with_descriptions(std::vector<std::string>& names, const std::function<int()>& command) {
  return add_descriptions(names) ? in_child(command) : command();
}

int with_descriptions(std::string& name, const std::function<int()>& command) {
  if (!is_description(name)) return command();
  name = add_description(name);
  return in_child(command);
}

void inspect_descriptions(const std::vector<std::string>& names, const Runtime& runtime) {
  const StderrCapture quiet;  // compilers warn again when the rows are run
  for (const std::string& name : names) {
    if (is_described(name)) recipe_source().inspect(runtime, name);
  }
}

Json to_json(const DeviceInfo& info) {
  Json out{{"name", info.name},
           {"vendor", info.vendor},
           {"platform", info.platform},
           {"platform_version", info.platform_version},
           {"version", info.version},
           {"driver", info.driver},
           {"language", info.language},
           {"type", info.gpu           ? "gpu"
                    : info.accelerator ? "accelerator"
                                       : "cpu"},
           {"compute_units", info.compute_units},
           {"clock_mhz", info.clock_mhz},
           {"max_group", info.max_group},
           {"local_mem", info.local_mem},
           {"global_mem", info.global_mem}};
  if (info.nvidia_capability != 0) out["nvidia_capability"] = info.nvidia_capability;
  return out;
}

Json result_head(const std::string& kind, const DeviceInfo& info) {
  Json head = {{"format", kFormat},
               {"kind", kind},
               {"commit", commit},
               {"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
               {"command", command_line},
               {"device", to_json(info)}};
  return head;
}

std::string dump_result(const Json& result) {
  std::string out = "{";
  const char* separator = "\n";
  for (const auto& [key, value] : result.items()) {
    out += separator + Json(key).dump() + ": ";
    separator = ",\n";
    if (!value.is_array()) {
      out += value.dump();
      continue;
    }
    const char* comma = "\n  ";
    out += "[";
    for (const Json& row : value) {
      out += comma + row.dump();
      comma = ",\n  ";
    }
    out += "\n]";
  }
  return out + "\n}\n";
}

void deliver(const std::string& path, const std::string& content) {
  if (!path.empty()) return write_file(path, content);
  if (std::fwrite(content.data(), 1, content.size(), stdout) != content.size() ||
      std::fflush(stdout) != 0) {
    fail(Errc::io, "standard output", "cannot write");
  }
}

}  // namespace clcook::tool
