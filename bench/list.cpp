// clcook list: the recipes, their variants and what can be tuned.

#include <fmt/format.h>

#include <iterator>

#include "command.hpp"
#include "techniques.hpp"

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
  Json techniques = Json::array();
  for (const Technique& one : recipe.techniques)
    techniques.push_back({{"number", one.number}, {"where", one.where}});
  return {{"name", recipe.name},
          {"title", recipe.title},
          {"technique", recipe.technique},
          {"summary", recipe.summary},
          {"baseline", recipe.baseline().name},
          {"variants", variants},
          {"techniques", techniques}};
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

// Each technique with the places that show it.
Json techniques_json() {
  Json out = Json::array();
  for (const TechniqueTitle& title : kTechniques) {
    Json places = Json::array();
    for (const Recipe& recipe : recipes()) {
      for (const Technique& one : recipe.techniques) {
        if (one.number == title.number)
          places.push_back({{"recipe", recipe.name}, {"where", one.where}});
      }
    }
    out.push_back({{"number", title.number}, {"title", title.title}, {"covered", places}});
  }
  return out;
}

std::string render_techniques() {
  std::string out;
  int covered = 0;
  for (const Json& one : techniques_json()) {
    out += fmt::format("{:>2}  {}\n", one["number"].get<int>(), one["title"].get<std::string>());
    for (const Json& place : one["covered"]) {
      out += fmt::format("      {}: {}\n", place["recipe"].get<std::string>(),
                         place["where"].get<std::string>());
    }
    if (one["covered"].empty()) {
      out += "      not covered yet\n";
    } else {
      ++covered;
    }
  }
  return out + fmt::format("{} of {} techniques are covered\n", covered, std::size(kTechniques));
}

}  // namespace

void add_list(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("list", "List the recipes with their variants and tune axes");
  auto json = std::make_shared<bool>(false);
  auto techniques = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Write JSON");
  command->add_flag("--techniques", *techniques,
                    "List the numbered techniques with the recipes that show them instead");
  command->callback([json, techniques, &exit_code] {
    if (*techniques && *json) {
      deliver("", Json{{"format", kFormat}, {"techniques", techniques_json()}}.dump(2) + "\n");
    } else if (*techniques) {
      deliver("", render_techniques());
    } else if (*json) {
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
