// clcook: the command line of the cookbook.

#include <fmt/format.h>

#include <clcook/core/commit.hpp>
#include <clcook/version.hpp>
#include <cstdio>
#include <exception>

#include "tool/command.hpp"

int main(int argc, char** argv) {
  CLI::App app{"clcook: OpenCL kernel optimisations, checked and measured"};
  app.require_subcommand(1);
  app.set_version_flag(
      "--version", fmt::format("clcook {}.{}.{} ({})", CLCOOK_VERSION_MAJOR, CLCOOK_VERSION_MINOR,
                               CLCOOK_VERSION_PATCH, clcook::commit));
  app.footer(
      "The device is chosen with --device or the variable CLCOOK_DEVICE: gpu, cpu, nvidia, amd, "
      "intel, pocl, pocl:0, 0:0, ...");
  int exit_code = 0;
  clcook::tool::add_list(app, exit_code);
  clcook::tool::add_devices(app, exit_code);
  clcook::tool::add_check(app, exit_code);
  clcook::tool::add_flatten(app, exit_code);
  clcook::tool::add_bench(app, exit_code);
  clcook::tool::add_explore(app, exit_code);
  clcook::tool::add_tune(app, exit_code);
  clcook::tool::add_isa(app, exit_code);
  clcook::tool::add_occupancy(app, exit_code);
  clcook::tool::add_report(app, exit_code);
  clcook::tool::add_startup(app, exit_code);
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
