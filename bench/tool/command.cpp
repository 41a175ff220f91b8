#include "tool/command.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <clcook/core/commit.hpp>
#include <clcook/version.hpp>
#include <cstdio>
#include <ctime>
#include <exception>

#include "cookbook/recipes.hpp"

namespace clcook::tool {

void add_commands(CLI::App& app, int& exit_code) {
  app.require_subcommand(1);
  app.set_version_flag(
      "--version", fmt::format("clcook {}.{}.{} ({})", CLCOOK_VERSION_MAJOR, CLCOOK_VERSION_MINOR,
                               CLCOOK_VERSION_PATCH, commit));
  app.footer(
      "The device is chosen with --device or the variable CLCOOK_DEVICE: gpu, cpu, nvidia, amd, "
      "intel, pocl, pocl:0, 0:0, ...");
  add_list(app, exit_code);
  add_devices(app, exit_code);
  add_check(app, exit_code);
  add_flatten(app, exit_code);
  add_bench(app, exit_code);
  add_explore(app, exit_code);
  add_tune(app, exit_code);
  add_isa(app, exit_code);
  add_occupancy(app, exit_code);
  add_report(app, exit_code);
  add_startup(app, exit_code);
}

int run_command(int argc, const char* const* argv) {
  CLI::App app{"clcook: OpenCL kernel optimisations, checked and measured"};
  int exit_code = 0;
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

const std::vector<Recipe>& recipes() { return cookbook::recipes(); }

std::string tuning_name(const Recipe& recipe, const Params& shape) {
  return recipe.tuning_name ? recipe.tuning_name(shape) : recipe.name;
}

Json to_json(const DeviceInfo& info) {
  return {{"name", info.name},
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
}

Json result_head(const std::string& kind, const DeviceInfo& info) {
  return {{"format", kFormat},
          {"kind", kind},
          {"commit", commit},
          {"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
          {"device", to_json(info)}};
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
