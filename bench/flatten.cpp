// clcook flatten: a kernel file with its device headers inlined, for programs that build OpenCL by
// other means.

#include "tool/command.hpp"

namespace clcook::tool {

void add_flatten(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("flatten", "Print a kernel file with its <clcook/...> headers inlined");
  auto file = std::make_shared<std::string>();
  auto out = std::make_shared<std::string>();
  command->add_option("FILE", *file, "The kernel file")->required();
  command->add_option("-o,--out", *out, "Write to this file instead of standard output");
  command->callback([file, out, &exit_code] {
    deliver(*out, Source::load(*file).flatten());
    exit_code = 0;
  });
}

}  // namespace clcook::tool
