// The index of techniques: who shows each, and what the results say of it.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <regex>

#include "report/report.hpp"
#include "tool/techniques.hpp"

namespace clcook::tool::report {

namespace {

// The two variants of which a card says that their difference is the technique: "direct against
// local_tile", "local_table beside constant_table", "variant local_table" against the baseline.
std::optional<VariantPair> gain_of(const Recipe& recipe, const std::string& where) {
  static const std::regex pattern("(variant )?(\\w+)(?: (against|beside) (\\w+))?.*");
  std::smatch found;
  if (!std::regex_match(where, found, pattern)) return std::nullopt;
  const auto known = [&](const std::string& name) {
    return std::any_of(recipe.variants.begin(), recipe.variants.end(),
                       [&](const VariantInfo& one) { return one.name == name; });
  };
  VariantPair names{found[4], found[2]};
  if (found[3] == "beside") {
    std::swap(names.with, names.without);
  } else if (found[1].matched && !found[3].matched) {
    names = {found[2], recipe.baseline().name};
  }
  if (names.with == names.without || !known(names.with) || !known(names.without))
    return std::nullopt;
  return names;
}

// "packed to parked: tie: 1.00× [0.99, 1.01]" at the first shape that has both; empty without one.
Cell gain(const Result& result, const Recipe& recipe, const VariantPair& names) {
  for (const Group& group : groups_of(result, recipe.name)) {
    const Pair pair = pair_of(recipe, result.about, group, names.with, names.without);
    if (pair.with == nullptr) continue;
    Cell cell = ratio_cell(pair.verdict, pair.ratio);
    cell.text = fmt::format("{} to {}: {}", names.without, names.with, cell.text);
    return cell;
  }
  return {};
}

}  // namespace

Table techniques_table(const std::vector<Result>& results, const std::string& device,
                       const std::string& prefix) {
  Table table{{{"", true},
               {"Technique"},
               {"Shown by"},
               {"Where"},
               {"Result on " + short_device(results, "bench", device)}},
              {}};
  for (const TechniqueTitle& title : kTechniques) {
    const std::size_t begin = table.rows.size();
    for (const Recipe& recipe : recipes()) {
      for (const Technique& one : recipe.shows) {
        if (one.number != title.number) continue;
        Cell cell;
        const std::optional<VariantPair> names = gain_of(recipe, one.where);
        for (const Result& result : results) {
          if (names && cell.text.empty() && result.device == device)
            cell = gain(result, recipe, *names);
        }
        table.rows.push_back({{"", "", ""},
                              {"", "", ""},
                              {recipe.name, "", prefix + recipe.name + ".md"},
                              {one.where, "", ""},
                              cell.text.empty() ? Cell{"see the page", "", ""} : cell});
      }
    }
    if (table.rows.size() == begin)
      table.rows.push_back(
          {{"", "", ""}, {"", "", ""}, {"nobody yet", "", ""}, {"", "", ""}, {"", "", ""}});
    table.rows[begin][0].text = std::to_string(title.number);
    table.rows[begin][1].text = title.title;
  }
  return table;
}

}  // namespace clcook::tool::report
