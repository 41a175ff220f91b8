// Bars of a recipe's variants, as a file of its own for its page.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "report/report.hpp"
#include "tool/words.hpp"

namespace clcook::tool::report {

namespace {

constexpr int kBarsAt = 200;      // pixels: where the bars begin
constexpr int kLongestBar = 320;  // how long the longest is
constexpr int kChartWidth = 720;
constexpr int kBarRow = 24;
constexpr int kMargin = 16;
constexpr double kLetter = 6.6;  // of small text, on average
// A bar this many times shorter than another can still be seen.
constexpr double kSpread = 70;
// An interval may end this many times as far right as the longest bar.
constexpr double kPastBars = 1.2;

// The colours of cmake/site/drawings.py.
constexpr const char* kChartStyle = R"(
  .bg { fill: #ffffff } .ink { fill: #1f2933 } .dim { fill: #5f6b7a }
  .baseline { fill: #7b8794 } .faster { fill: #2f6fb3 } .tie { fill: #b39136 } .slower { fill: #d98324 }
  .whisker { stroke: #1f2933; stroke-width: 1.3; fill: none }
  .copy { stroke: #1f2933; stroke-width: 1.6; stroke-dasharray: 4 4; fill: none }
  text { font: 14px system-ui, sans-serif } .small { font-size: 12px } .strong { font-weight: 600 }
  @media (prefers-color-scheme: dark) {
    .bg { fill: #1b1f27 } .ink { fill: #e4e9ef } .dim { fill: #a3afbd }
    .baseline { fill: #8b95a1 } .faster { fill: #5b9bdc } .tie { fill: #d3b257 } .slower { fill: #e8a04c }
    .whisker, .copy { stroke: #ffffff }
  })";

std::string text_at(double x, int y, const char* kind, const std::string& words) {
  return fmt::format("<text class=\"{}\" x=\"{:.4g}\" y=\"{}\">{}</text>\n", kind, x, y,
                     escape(words));
}

bool is_approximate(const BenchRow& row) {
  const Recipe* recipe = known_recipe(row.recipe);
  return recipe != nullptr &&
         std::any_of(recipe->variants.begin(), recipe->variants.end(), [&](const VariantInfo& one) {
           return one.name == row.variant && one.is_approximate;
         });
}

std::string label_of(const BenchRow& row) {
  return row.variant + (is_approximate(row) ? " (approximate)" : "");
}

// "82.5 µs", "26.7 ms"; in milliseconds what stands next to a time of so many.
std::string duration(double us, double next_to = 0) {
  return std::max(us, next_to) < 10000 ? digits(us) + " µs" : digits(us / 1000) + " ms";
}

const char* colour_of(const BenchRow& row) {
  if (is_tie(row)) return "tie";
  const Verdict verdict = verdict_of(row);
  return verdict == Verdict::none ? "baseline" : to_string(verdict);
}

std::string break_at(double x, int y) {
  return fmt::format(
      "<path class=\"bg\" d=\"M{0:g} {2}l6 -20h5l-6 20zM{1:g} {2}l6 -20h5l-6 20z\"/>\n", x, x + 10,
      y + 21);
}

std::string whisker_at(double low, double high, int y) {
  return fmt::format("<path class=\"whisker\" d=\"M{0:.1f} {2}v8m0 -4H{1:.1f}m0 -4v8\"/>\n", low,
                     high, y + 7);
}

// What signs a chart uses.
struct Signs {
  std::vector<std::string> colours;
  bool bold = false;
  bool approximate = false;
  bool whisker = false;
  bool copy = false;
  bool cut = false;

  void add(const std::string& colour) {
    if (std::find(colours.begin(), colours.end(), colour) == colours.end())
      colours.push_back(colour);
  }
};

// What they mean, below the bars; moves `y` below itself.
std::string legend_of(const Signs& signs, int& y) {
  struct Entry {
    std::string sign;  // where {0} is its left and {1} its top
    int width;
    std::string words;
  };
  std::vector<Entry> entries;
  for (const char* colour : {"baseline", "faster", "tie", "slower"}) {
    if (std::find(signs.colours.begin(), signs.colours.end(), colour) == signs.colours.end())
      continue;
    const std::string words = std::string(colour) == "tie" ? "a tie" : colour;
    entries.push_back({"<rect class=\"" + std::string(colour) +
                           "\" x=\"{0}\" y=\"{1}\" width=\"14\" height=\"12\" rx=\"2\"/>\n",
                       14, words});
  }
  if (signs.bold)
    entries.push_back(
        {"<text class=\"ink small strong\" x=\"{0}\" y=\"{2}\">bold</text>\n", 28,
         signs.approximate ? "the fastest exact, from 1.05× on" : "the fastest, from 1.05× on"});
  if (signs.whisker)
    entries.push_back(
        {"<path class=\"whisker\" d=\"M{0} {1}m0 2v8m0 -4h14m0 -4v8\"/>\n", 14, "95 % interval"});
  if (signs.copy)
    entries.push_back(
        {"<path class=\"copy\" d=\"M{0} {1}m4 -4v20\"/>\n", 8, "a copy of the same bytes"});
  if (signs.cut)
    entries.push_back(
        {"<rect class=\"slower\" x=\"{0}\" y=\"{1}\" width=\"24\" height=\"12\" rx=\"2\"/>\n"
         "<path class=\"bg\" d=\"M{0} {1}m6 14l4 -16h4l-4 16zm8 0l4 -16h4l-4 16z\"/>\n",
         24, "cut, too long to draw"});
  std::string out;
  double x = kMargin;
  y += 4;
  for (const Entry& entry : entries) {
    std::size_t letters = 0;
    for (const char c : entry.words) letters += (static_cast<unsigned char>(c) & 0xc0U) != 0x80;
    const double width = entry.width + 6 + kLetter * static_cast<double>(letters);
    if (x > kMargin && x + width > kChartWidth - kMargin) {
      x = kMargin;
      y += 22;
    }
    out += fmt::format(fmt::runtime(entry.sign), x, y, y + 11);
    out += text_at(x + entry.width + 6, y + 11, "dim small", entry.words);
    x += width + 16;
  }
  y += 20;
  return out;
}

std::vector<std::string> words_of(const Group& group) {
  return tool::words_of(group.shape + " " + group.mode);
}

bool has(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
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

bool stands_out(const BenchRow& row, const BenchRow* best) {
  return !row.baseline && !is_tie(row) && wins(row, best) && ratio_of(row).value >= kBold;
}

std::optional<double> copy_us(const BenchRow& row) {
  if (row.limit != "copy" || !(row.share > 0)) return std::nullopt;
  return row.share * row.median_us;
}

const BenchRow* row_of(const std::vector<const BenchRow*>& rows, const std::string& variant) {
  const auto found = std::find_if(rows.begin(), rows.end(),
                                  [&](const BenchRow* one) { return one->variant == variant; });
  return found == rows.end() ? nullptr : *found;
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

std::optional<Group> group_with(const Result& result, const Recipe& recipe,
                                const std::string& words) {
  try {
    return group_of(result, recipe.name, tool::words_of(words));
  } catch (const Error&) {  // this result has no such shape
    return std::nullopt;
  }
}

std::string gain_text(const std::vector<Result>& results, const std::vector<std::string>& words) {
  if (words.size() < 3)
    fail(Errc::invalid_argument, "report",
         "expected: clcook:gain RESULT RECIPE VARIANT[/OTHER] [NAME=VALUE]... [short], or "
         "RESULT RECIPE others [short]");
  const bool is_short = words.back() == "short";
  const auto figure_of = [](double value) {
    return fmt::format("{:.{}f}", value, value >= 9.95 ? 0 : value >= 1.095 ? 1 : 2);
  };
  const char* unit = is_short ? "×" : " times as fast as";
  if (words[2] == "others") {
    const std::optional<Range> range = against_others(find(results, words[0], "peers"));
    if (!range || words.size() != (is_short ? 4 : 3))
      fail(Errc::invalid_argument, "report",
           fmt::format("'{}' has nothing that clcook was compared with", words[0]));
    const std::string least = figure_of(range->least), most = figure_of(range->most);
    return (least == most ? "" : least + (is_short ? "× to " : " to ")) + most + unit;
  }
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
  const std::string figure = figure_of(value);
  if (verdict == Verdict::tie || (verdict != Verdict::none && figure == "1.00"))
    return is_short ? "a tie" : "as fast as";
  if (verdict == Verdict::faster || verdict == Verdict::slower) return figure + unit;
  fail(
      Errc::invalid_argument, "report",
      fmt::format("'{}' has no ratio of '{}' in {}/{}", words[0], words[2], words[1], group.shape));
}

Table speed_table(const Result& result, const std::string& recipe) {
  const std::vector<Group> groups = groups_of(result, recipe);
  if (groups.empty()) return {};
  std::vector<std::vector<std::string>> shapes;
  for (const Group& group : groups) shapes.push_back(words_of(group));
  const auto common = [&](const std::string& word) {
    return std::all_of(shapes.begin(), shapes.end(),
                       [&](const std::vector<std::string>& shape) { return has(shape, word); });
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
          cell = {duration(row->median_us), "", ""};
        else if (is_tie(*row))
          cell = {"tie", "", ""};
        else if (verdict != Verdict::none)
          cell = {times(ratio.value) + "×", stands_out(*row, best) ? "strong" : "", ""};
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
  struct Panel {
    const Result* result;
    Group group;
  };
  std::vector<Panel> panels;
  for (std::size_t at = 1; at < words.size();) {
    const Result& result = find(results, words[at++], "bench");
    std::vector<std::string> wanted;
    while (at < words.size() && words[at].find('=') != std::string::npos)
      wanted.push_back(words[at++]);
    panels.push_back({&result, group_of(result, recipe, wanted)});
  }
  std::string parts;
  Signs signs;
  int y = 0;
  for (const Panel& panel : panels) {
    const Group& group = panel.group;
    const std::vector<const BenchRow*> rows = fastest_rows(group);
    const BenchRow* best = best_of(recipe, rows);
    double longest = 0;
    double shortest = HUGE_VAL;
    double baseline = 0;
    for (const BenchRow* row : rows) {
      longest = std::max(longest, row->median_us);
      shortest = std::min(shortest, row->median_us);
      if (row->baseline) baseline = row->median_us;
    }
    // A slow bar must not press the others together.
    double limit = baseline > 0 ? std::min(longest, 1.6 * baseline) : longest;
    limit = std::min(limit, kSpread * shortest);
    // Nor may an interval leave the picture.
    for (const BenchRow* row : rows) {
      if (row->median_us <= limit) limit = std::max(limit, time_of(*row).high / kPastBars);
    }
    std::string title = short_device({*panel.result}, "bench", panel.result->device);
    // Panels of different shapes say so in their titles.
    std::string own;
    for (const std::string& word : words_of(group)) {
      if (!std::all_of(panels.begin(), panels.end(),
                       [&](const Panel& other) { return has(words_of(other.group), word); }))
        own += " " + word;
    }
    if (!own.empty()) title += ":" + own;
    parts += text_at(kMargin, y + 28, "ink strong", title);
    parts += text_at(kMargin, y + 46, "dim small", group.shape + ", " + group.mode + " caches");
    y += 58;
    for (const BenchRow* row : rows) {
      const Verdict verdict = verdict_of(*row);
      const bool cut = row->median_us > limit * 1.0001;
      const auto place = [&](double us) { return kBarsAt + kLongestBar * us / limit; };
      const double end = std::max(kBarsAt + 1.0, place(std::min(row->median_us, limit)));
      const std::string ratio = verdict == Verdict::baseline ? "baseline"
                                : is_tie(*row)               ? "a tie"
                                : verdict == Verdict::none   ? "without a ratio"
                                                             : times(ratio_of(*row).value) + "×";
      const bool bold = stands_out(*row, best);
      const char* kind = bold ? "ink small strong" : "ink small";
      parts += text_at(kMargin, y + 15, kind, label_of(*row));
      parts += fmt::format(
          "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{:.1f}\" height=\"16\" rx=\"2\"/>\n",
          colour_of(*row), kBarsAt, y + 3, end - kBarsAt);
      double text = end;
      if (cut) {
        parts += break_at(end - 30, y);
      } else {
        const Ratio time = time_of(*row);
        if (time.high > time.low) {
          parts += whisker_at(place(time.low), place(time.high), y);
          text = std::max(text, place(time.high));
          signs.whisker = true;
        }
      }
      if (const std::optional<double> copy = copy_us(*row); copy && *copy <= limit) {
        parts += fmt::format("<path class=\"copy\" d=\"M{:.1f} {}v{}\"/>\n", place(*copy), y - 1,
                             kBarRow);
        text = std::max(text, place(*copy));
        signs.copy = true;
      }
      parts += text_at(text + 8, y + 15, kind, duration(row->median_us, baseline) + ", " + ratio);
      signs.add(colour_of(*row));
      signs.bold |= bold;
      signs.approximate |= is_approximate(*row);
      signs.cut |= cut;
      y += kBarRow;
    }
    y += 8;
  }
  parts += legend_of(signs, y);
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
