// Bars of a recipe's variants, as a file of its own for its page.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/report.hpp"

namespace clcook::tool::report {

namespace {

constexpr int kBarsAt = 180;      // pixels: where the bars begin
constexpr int kLongestBar = 330;  // how long the longest is
constexpr int kChartWidth = 720;
constexpr int kBarRow = 24;

// The colours of cmake/site/drawings.py.
constexpr const char* kChartStyle = R"(
  .bg { fill: #ffffff } .ink { fill: #1f2933 } .dim { fill: #5f6b7a }
  .baseline { fill: #7b8794 } .faster { fill: #2f6fb3 } .tie { fill: #b39136 } .slower { fill: #d98324 }
  text { font: 14px system-ui, sans-serif } .small { font-size: 12px } .strong { font-weight: 600 }
  @media (prefers-color-scheme: dark) {
    .bg { fill: #1b1f27 } .ink { fill: #e4e9ef } .dim { fill: #a3afbd }
    .baseline { fill: #8b95a1 } .faster { fill: #5b9bdc } .tie { fill: #d3b257 } .slower { fill: #e8a04c }
  })";

std::string text_at(double x, int y, const char* kind, const std::string& words) {
  return fmt::format("<text class=\"{}\" x=\"{:g}\" y=\"{}\">{}</text>\n", kind, x, y,
                     escape(words));
}

bool is_approximate(const BenchRow& row) {
  const Recipe* recipe = known_recipe(row.recipe);
  return recipe != nullptr &&
         std::any_of(recipe->variants.begin(), recipe->variants.end(), [&](const VariantInfo& one) {
           return one.name == row.variant && one.approximate;
         });
}

std::string label_of(const BenchRow& row) {
  return row.variant + (is_approximate(row) ? " (approximate)" : "");
}

// "82.5 µs", "26.7 ms".
std::string duration(double us) {
  return us < 10000 ? digits(us) + " µs" : digits(us / 1000) + " ms";
}

}  // namespace

bool is_tie(const BenchRow& row) {
  const Verdict verdict = verdict_of(row);
  return verdict == Verdict::tie ||
         (verdict != Verdict::baseline && times(ratio_of(row).value) == "1.00");
}

bool wins(const BenchRow& row, const BenchRow* best) {
  if (best == nullptr || verdict_of(*best) != Verdict::faster || is_tie(*best)) return row.baseline;
  return !row.baseline && !is_approximate(row) && ratio_of(row).high >= ratio_of(*best).low;
}

std::vector<const BenchRow*> fastest_rows(const Group& group) {
  std::vector<const BenchRow*> out;
  for (const BenchRow* row : group.rows) {
    if (!row->measured()) continue;
    const auto same = std::find_if(out.begin(), out.end(), [&](const BenchRow* other) {
      return other->variant == row->variant;
    });
    if (same == out.end())
      out.push_back(row);
    else if (!(*same)->baseline && (row->baseline || row->median_us < (*same)->median_us))
      *same = row;
  }
  return out;
}

Group group_of(const Result& result, const std::string& recipe,
               const std::vector<std::string>& wanted) {
  std::vector<Group> groups = groups_of(result, recipe);
  if (groups.empty())
    fail(Errc::invalid_argument, "report",
         fmt::format("'{}' has no times of '{}'", result.stem, recipe));
  for (const Group& group : groups) {
    const std::string shape = " " + group.shape + " mode=" + group.mode + " ";
    if (std::all_of(wanted.begin(), wanted.end(), [&](const std::string& one) {
          return shape.find(" " + one + " ") != std::string::npos ||
                 shape.find(" " + one + ".0 ") != std::string::npos;
        }))
      return group;
  }
  std::string text;
  for (const std::string& one : wanted) text += " " + one;
  fail(Errc::invalid_argument, "report",
       fmt::format("'{}' has no times of '{}' with{}", result.stem, recipe, text));
}

std::string gain_text(const std::vector<Result>& results, const std::vector<std::string>& words) {
  if (words.size() < 3)
    fail(Errc::invalid_argument, "report",
         "expected: clcook:gain RESULT RECIPE VARIANT[/OTHER] [NAME=VALUE]... [short]");
  const bool is_short = words.back() == "short";
  const std::vector<std::string> wanted(words.begin() + 3, words.end() - (is_short ? 1 : 0));
  const Result& result = find(results, words[0], "bench");
  const Group group = group_of(result, words[1], wanted);
  const std::size_t slash = words[2].find('/');
  const std::string variant = words[2].substr(0, slash);
  Ratio ratio;
  Verdict verdict = Verdict::none;
  if (slash == std::string::npos) {
    for (const BenchRow* row : fastest_rows(group)) {
      if (row->variant == variant) ratio = ratio_of(*row), verdict = verdict_of(*row);
    }
  } else if (const Recipe* recipe = known_recipe(words[1])) {
    const Pair pair = pair_of(*recipe, result.about, group, variant, words[2].substr(slash + 1));
    ratio = pair.ratio, verdict = pair.verdict;
  }
  const double value = ratio.value;
  const std::string figure = fmt::format("{:.{}f}", value,
                                         value >= 9.95    ? 0
                                         : value >= 1.095 ? 1
                                                          : 2);
  if (verdict == Verdict::tie || (verdict != Verdict::none && figure == "1.00"))
    return is_short ? "a tie" : "as fast as";
  if (verdict == Verdict::faster || verdict == Verdict::slower)
    return figure + (is_short ? "×" : " times as fast as");
  fail(
      Errc::invalid_argument, "report",
      fmt::format("'{}' has no ratio of '{}' in {}/{}", words[0], words[2], words[1], group.shape));
}

Table speed_table(const Result& result, const std::string& recipe) {
  const std::vector<Group> groups = groups_of(result, recipe);
  if (groups.empty()) return {};
  std::vector<std::vector<std::string>> shapes;
  for (const Group& group : groups) {
    shapes.emplace_back();
    std::string text = group.shape + " " + group.mode;
    for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
      end = std::min(text.find(' ', at), text.size());
      shapes.back().push_back(text.substr(at, end - at));
    }
  }
  const auto common = [&](const std::string& word) {
    return std::all_of(shapes.begin(), shapes.end(), [&](const std::vector<std::string>& shape) {
      return std::find(shape.begin(), shape.end(), word) != shape.end();
    });
  };
  std::string title = short_device({result}, "bench", result.device);
  for (const std::string& word : shapes.front()) {
    if (common(word) && word != "hot") title += ", " + word;
  }
  Table table{{{title}}, {}};
  std::vector<std::string> variants;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    std::string own;
    for (const std::string& word : shapes[i]) {
      if (!common(word)) own += (own.empty() ? "" : " ") + word;
    }
    table.columns.push_back({own.empty() ? "against the first" : own, true});
    for (const BenchRow* row : fastest_rows(groups[i])) {
      if (std::find(variants.begin(), variants.end(), row->variant) != variants.end()) continue;
      variants.push_back(row->variant);
      table.rows.push_back({{label_of(*row), "", ""}});
    }
  }
  for (const Group& group : groups) {
    const std::vector<const BenchRow*> rows = fastest_rows(group);
    const BenchRow* best = best_of(recipe, rows);
    for (std::size_t i = 0; i < variants.size(); ++i) {
      Cell cell{"–", "", ""};
      for (const BenchRow* row : rows) {
        if (row->variant != variants[i]) continue;
        const Verdict verdict = verdict_of(*row);
        const Ratio ratio = ratio_of(*row);
        if (verdict == Verdict::baseline)
          cell = {duration(row->median_us), wins(*row, best) ? "strong" : "", ""};
        else if (is_tie(*row))
          cell = {"tie", "", ""};
        else if (verdict != Verdict::none)
          cell = {times(ratio.value) + "×", wins(*row, best) ? "strong" : "", ""};
      }
      table.rows[i].push_back(cell);
    }
  }
  return table;
}

std::string chart_file(const std::vector<Result>& results, const std::vector<std::string>& words) {
  if (words.size() < 2)
    fail(Errc::invalid_argument, "report",
         "expected: clcook:chart RECIPE RESULT [NAME=VALUE]... [RESULT ...]");
  const std::string& recipe = words[0];
  std::string parts;
  int y = 0;
  for (std::size_t at = 1; at < words.size();) {
    const Result& result = find(results, words[at++], "bench");
    std::vector<std::string> wanted;
    while (at < words.size() && words[at].find('=') != std::string::npos)
      wanted.push_back(words[at++]);
    const Group group = group_of(result, recipe, wanted);
    const std::vector<const BenchRow*> rows = fastest_rows(group);
    const BenchRow* best = best_of(recipe, rows);
    double longest = 0;
    double baseline = 0;
    for (const BenchRow* row : rows) {
      longest = std::max(longest, row->median_us);
      if (row->baseline) baseline = row->median_us;
    }
    // A slow bar must not press the others together.
    const double limit = baseline > 0 ? std::min(longest, 1.6 * baseline) : longest;
    parts += text_at(16, y + 28, "ink strong", short_device({result}, "bench", result.device));
    parts += text_at(16, y + 46, "dim small", group.shape + ", " + group.mode + " caches");
    y += 58;
    for (const BenchRow* row : rows) {
      const Verdict verdict = verdict_of(*row);
      const bool cut = row->median_us > limit * 1.0001;
      const double width = std::max(1.0, kLongestBar * std::min(row->median_us, limit) / limit);
      const std::string ratio = verdict == Verdict::baseline ? "baseline"
                                : is_tie(*row)               ? "a tie"
                                : verdict == Verdict::none   ? "without a ratio"
                                                             : times(ratio_of(*row).value) + "×";
      const char* kind = wins(*row, best) ? "ink small strong" : "ink small";
      parts += text_at(16, y + 15, kind, label_of(*row));
      parts += fmt::format(
          "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{:.1f}\" height=\"16\" rx=\"2\"/>\n",
          is_tie(*row)               ? "tie"
          : verdict == Verdict::none ? "baseline"
                                     : to_string(verdict),
          kBarsAt, y + 3, width);
      if (cut)
        parts += fmt::format(
            "<path class=\"bg\" d=\"M{0:g} {2}l6 -20h5l-6 20zM{1:g} {2}l6 -20h5l-6 20z\"/>\n",
            kBarsAt + width - 30, kBarsAt + width - 20, y + 21);
      parts += text_at(kBarsAt + width + 8, y + 15, kind, duration(row->median_us) + ", " + ratio);
      y += kBarRow;
    }
    y += 8;
  }
  const std::string title =
      fmt::format("{}: time of each variant, a bar each; shorter is faster", recipe);
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" "
      "role=\"img\" aria-label=\"{2}\">\n<title>{2}</title>\n<style>{3}\n</style>\n"
      "<rect class=\"bg\" width=\"{0}\" height=\"{1}\" rx=\"6\"/>\n{4}</svg>\n",
      kChartWidth, y + 6, escape(title), kChartStyle, parts);
}

}  // namespace clcook::tool::report
