// clcook list: the recipes, their variants and what can be tuned.

#include <fmt/format.h>

#include <iterator>

#include "tool/command.hpp"
#include "tool/techniques.hpp"

namespace clcook::tool {

namespace {

// The recipes of these names, all when there are none.
std::vector<const Recipe*> chosen(const std::vector<std::string>& names) {
  std::vector<const Recipe*> out;
  for (const std::string& name : names) out.push_back(&find_recipe(recipes(), name));
  if (names.empty()) {
    for (const Recipe& recipe : recipes()) out.push_back(&recipe);
  }
  return out;
}

Json describe(const Recipe& recipe) {
  Json parameters = Json::array();
  for (const Parameter& one : recipe.parameters) {
    Json row{{"name", one.name}, {"meaning", one.meaning}, {"range", one.range()}};
    if (!one.missing.empty()) row["default"] = one.missing;
    parameters.push_back(std::move(row));
  }
  Json variants = Json::array();
  for (const VariantInfo& variant : recipe.variants) {
    Json tunes = Json::array();
    for (const TuneAxis& axis : variant.axes) {
      Json values = Json::array();
      for (const Value& value : axis.values) values.push_back(tool::to_json(value));
      tunes.push_back({{"name", axis.name}, {"values", values}});
    }
    variants.push_back({{"name", variant.name},
                        {"summary", variant.summary},
                        {"baseline", variant.is_baseline},
                        {"approximate", variant.is_approximate},
                        {"needs", variant.needs},
                        {"tunes", tunes}});
  }
  Json techniques = Json::array();
  for (const Technique& one : recipe.shows)
    techniques.push_back({{"number", one.number}, {"where", one.where}});
  return {{"name", recipe.name},
          {"title", recipe.title},
          {"technique", recipe.family},
          {"summary", recipe.summary},
          {"baseline", recipe.baseline().name},
          {"parameters", parameters},
          {"variants", variants},
          {"techniques", techniques}};
}

std::string render(const std::vector<const Recipe*>& wanted) {
  std::string out;
  for (const Recipe* one : wanted) {
    const Recipe& recipe = *one;
    out += fmt::format("{}{}: {}\n    {}\n", out.empty() ? "" : "\n", recipe.name, recipe.title,
                       recipe.summary);
    for (const Parameter& parameter : recipe.parameters) {
      out += fmt::format(
          "  shape {:<10} {}: {}{}\n", parameter.name, parameter.meaning, parameter.range(),
          parameter.missing.empty() ? "" : fmt::format("; when not given: {}", parameter.missing));
    }
    for (const VariantInfo& variant : recipe.variants) {
      out += fmt::format("  {:<16} {}{}\n", variant.name, variant.summary,
                         variant.is_baseline ? " (baseline)" : "");
      if (!variant.needs.empty()) out += fmt::format("  {:<16} needs {}\n", "", variant.needs);
      for (const TuneAxis& axis : variant.axes) {
        std::string values;
        for (const Value& value : axis.values) values += " " + clcook::to_string(value);
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
      for (const Technique& one : recipe.shows) {
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

const Command add_list(1, [](CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "list", "List the recipes with the names of their shapes, variants and tune axes");
  auto names = std::make_shared<std::vector<std::string>>();
  command->add_option("RECIPE", *names, "Only these recipes");
  auto json = std::make_shared<bool>(false);
  auto techniques = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Write JSON");
  command->add_flag("--techniques", *techniques,
                    "List the numbered techniques with the recipes that show them instead");
  command->callback([names, json, techniques, &exit_code] {
    if (*techniques && *json) {
      deliver("", Json{{"format", kFormat}, {"techniques", techniques_json()}}.dump(2) + "\n");
    } else if (*techniques) {
      deliver("", render_techniques());
    } else if (*json) {
      Json all = Json::array();
      for (const Recipe* recipe : chosen(*names)) all.push_back(describe(*recipe));
      deliver("", Json{{"format", kFormat}, {"recipes", all}}.dump(2) + "\n");
    } else {
      deliver("", render(chosen(*names)));
    }
    exit_code = 0;
  });
});

}  // namespace clcook::tool
