// clcook list: the recipes, their variants and what can be tuned.

#include <fmt/format.h>

#include "command.hpp"

namespace clcook::tool {

namespace {

Json describe(const Recipe& recipe) {
  Json variants = Json::array();
  for (const VariantInfo& variant : recipe.variants) {
    Json tunes = Json::array();
    for (const Axis& axis : variant.tunes) {
      Json values = Json::array();
      for (const Value& value : axis.values) values.push_back(to_json(value));
      tunes.push_back({{"name", axis.name}, {"values", values}});
    }
    variants.push_back({{"name", variant.name},
                        {"summary", variant.summary},
                        {"baseline", variant.baseline},
                        {"approximate", variant.approximate},
                        {"needs", variant.needs},
                        {"tunes", tunes}});
  }
  return {{"name", recipe.name},
          {"title", recipe.title},
          {"technique", recipe.technique},
          {"summary", recipe.summary},
          {"baseline", recipe.baseline().name},
          {"variants", variants}};
}

std::string render() {
  std::string out;
  for (const Recipe& recipe : recipes()) {
    out += fmt::format("{}{}: {}\n    {}\n", out.empty() ? "" : "\n", recipe.name, recipe.title,
                       recipe.summary);
    for (const VariantInfo& variant : recipe.variants) {
      out += fmt::format("  {:<16} {}{}\n", variant.name, variant.summary,
                         variant.baseline ? " (baseline)" : "");
      if (!variant.needs.empty()) out += fmt::format("  {:<16} needs {}\n", "", variant.needs);
      for (const Axis& axis : variant.tunes) {
        std::string values;
        for (const Value& value : axis.values) values += " " + to_string(value);
        out += fmt::format("  {:<16} tune {}:{}\n", "", axis.name, values);
      }
    }
  }
  return out;
}

}  // namespace

void add_list(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("list", "List the recipes with their variants and tune axes");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Write JSON");
  command->callback([json, &exit_code] {
    if (*json) {
      Json all = Json::array();
      for (const Recipe& recipe : recipes()) all.push_back(describe(recipe));
      deliver("", Json{{"format", kFormat}, {"recipes", all}}.dump(2) + "\n");
    } else {
      deliver("", render());
    }
    exit_code = 0;
  });
}

}  // namespace clcook::tool
