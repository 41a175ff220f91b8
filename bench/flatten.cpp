// clcook flatten: a kernel file with its device headers inlined, for programs that build OpenCL by
// other means.

#include "tool/command.hpp"

namespace clcook::tool {

const Command add_flatten(4, [](CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("flatten", "Print a kernel file with its headers inlined");
  auto file = std::make_shared<std::string>();
  auto out = std::make_shared<std::string>();
  auto definitions = std::make_shared<std::vector<std::string>>();
  auto includes = std::make_shared<std::vector<std::string>>();
  command->add_option("FILE", *file, "The kernel file")->required();
  command->add_option("-o,--out", *out, "Write to this file instead of standard output");
  command
      ->add_option("-D", *definitions,
                   "Define NAME or NAME=VALUE, for the includes and in the text")
      ->allow_extra_args(false);
  command->add_option("-I", *includes, "A folder of headers")->allow_extra_args(false);
  command->callback([file, out, definitions, includes, &exit_code] {
    Source source = Source::load(*file);
    std::string text;
    for (const std::string& one : *definitions) {
      source.define(one);
      text += detail::definition_line(one) + "\n";
    }
    for (const std::string& one : *includes) source.folder(one);
    deliver(*out, text + source.self_contained());
    exit_code = 0;
  });
});

}  // namespace clcook::tool
