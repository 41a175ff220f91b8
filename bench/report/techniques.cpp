// The index of techniques: one word for each, and the measurements that it rests on.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "counters/show.hpp"
#include "report/report.hpp"
#include "tool/techniques.hpp"
#include "tool/words.hpp"

namespace clcook::tool::report {

namespace {

using Kind = Experiment::Kind;

enum class Word { pays, ties, costs, not_tested };

const char* to_text(Word word) {
  switch (word) {
    case Word::pays:
      return "pays";
    case Word::ties:
      return "ties";
    case Word::costs:
      return "costs";
    case Word::not_tested:
      break;
  }
  return "not tested";
}

struct Found {
  Word word = Word::not_tested;
  double ratio = 0;
  std::string evidence;
};

// Two runs of one program differ by a per cent or two: what differs by less is a tie.
Word word_of(double ratio, bool tie) {
  if (tie || std::abs(ratio - 1) < 0.02) return Word::ties;
  return ratio > 1 ? Word::pays : Word::costs;
}

Found of_ratio(Verdict verdict, const Ratio& ratio, const std::string& names) {
  if (verdict == Verdict::none || verdict == Verdict::baseline) return {};
  return {word_of(ratio.value, verdict == Verdict::tie), ratio.value,
          names + " " + to_string(ratio)};
}

Found of_times(double without, double with) {
  if (!(without > 0) || !(with > 0)) return {};
  return {word_of(without / with, false), without / with,
          fmt::format("{:.0f} µs to {:.0f} µs", without, with)};
}

double median_of(const Group& group, const std::string& variant) {
  const BenchRow* row = row_of(fastest_rows(group), variant);
  return row == nullptr ? 0 : row->median_us;
}

Found in_bench(const Result& result, const Recipe& recipe, const Experiment& one) {
  const std::optional<Group> group = group_with(result, recipe, one.words);
  if (!group) return {};
  const std::string names = fmt::format("{} to {}", one.without, one.with);
  if (one.kind == Kind::shapes) {
    const std::optional<Group> other = group_with(result, recipe, one.without);
    return other ? of_times(median_of(*group, one.with), median_of(*other, one.with)) : Found{};
  }
  if (one.kind == Kind::baseline) {
    const BenchRow* row = row_of(fastest_rows(*group), one.with);
    if (row == nullptr || recipe.baseline().name != one.without) return {};
    return of_ratio(verdict_of(*row), ratio_of(*row), names);
  }
  const Pair pair = pair_of(recipe, result.about, *group, one.with, one.without);
  return of_ratio(pair.verdict, pair.ratio, names);
}

// The time at "direct@128" on a curve.
double at_point(const Curve& curve, const std::string& place) {
  const std::size_t at = place.find('@');
  for (const CurveVariant& variant : curve.variants) {
    for (std::size_t i = 0; i < curve.points.size(); ++i) {
      if (variant.variant == place.substr(0, at) &&
          to_json(curve.points[i]).get<double>() == std::stod(place.substr(at + 1)))
        return variant.measured_us[i];
    }
  }
  return 0;
}

Found in_curves(const Result& result, const Recipe& recipe, const Experiment& one) {
  for (const Curve& curve : result.explore.curves) {
    const std::string text = " " + curve.shape.str() + " along=" + curve.along + " ";
    const std::vector<std::string> words = words_of(one.words);
    if (curve.recipe == recipe.name &&
        std::all_of(words.begin(), words.end(), [&](const std::string& word) {
          return text.find(" " + word + " ") != std::string::npos;
        }))
      return of_times(at_point(curve, one.without), at_point(curve, one.with));
  }
  return {};
}

// The registers of a variant, as the device counts them for the recipe's first shape; NaN where
// nothing was counted.
double registers_of(const Result* counters, const Recipe& recipe, const std::string& variant) {
  if (counters == nullptr) return std::nan("");
  for (const CountersRow& row : counters->counters.rows) {
    if (row.recipe == recipe.name && row.variant == variant && row.counted() &&
        row.shape == recipe.bench_shapes.front())
      return value_of(row, counters::shown("registers"));
  }
  return std::nan("");
}

// What the results of a device say.
Found look(const std::vector<Result>& results, const std::string& device, const Recipe& recipe,
           const Experiment& one) {
  Found found;
  if (one.kind != Kind::not_tested) {
    for (const Result& result : results) {
      if (result.device != device || !found.evidence.empty()) continue;
      if (one.kind == Kind::sweep)
        found = in_curves(result, recipe, one);
      else if (result.kind == "bench")
        found = in_bench(result, recipe, one);
    }
    if (found.evidence.empty()) found.evidence = "no time of this device yet";
  }
  if (!one.what.empty()) {
    const bool first = one.kind == Kind::sweep || one.kind == Kind::shapes;
    if (found.evidence.empty())
      found.evidence = one.what;
    else
      found.evidence = first ? one.what + ": " + found.evidence : found.evidence + ", " + one.what;
  }
  if (!one.shows_registers) return found;
  const Result* counters = newest_of(results, "counters", device, recipe.name);
  const double before = registers_of(counters, recipe, one.without);
  const double after = registers_of(counters, recipe, one.with);
  if (std::isnan(before) || std::isnan(after)) return found;
  found.evidence += before == after ? fmt::format("; {:.0f} registers both", before)
                                    : fmt::format("; {:.0f} registers to {:.0f}", before, after);
  if (one.kind == Kind::fewer_registers && after >= before) {
    found.word = Word::not_tested;
    found.evidence += ": the driver saves none";
  }
  return found;
}

struct Row {
  int number = 0;
  const char* title = "";
  std::string recipe;
  Found found;
};

}  // namespace

Table techniques_table(const std::vector<Result>& results, const std::string& device,
                       const std::string& prefix) {
  Table table{{{"", true},
               {"Technique"},
               {"It"},
               {"Evidence on " + short_device(results, "bench", device)},
               {"Page"}},
              {}};
  std::vector<Row> rows;
  for (const TechniqueTitle& title : kTechniques) {
    const std::size_t begin = rows.size();
    for (const Recipe& recipe : recipes()) {
      const std::size_t first = rows.size();
      for (const Technique& technique : recipe.shows) {
        if (technique.number != title.number) continue;
        for (const Experiment& one : technique.experiments) {
          Found found = look(results, device, recipe, one);
          const auto same =
              std::find_if(rows.begin() + static_cast<std::ptrdiff_t>(first), rows.end(),
                           [&](const Row& row) { return row.found.word == found.word; });
          if (same == rows.end())
            rows.push_back({title.number, title.title, recipe.name, std::move(found)});
          else
            same->found.evidence += "; " + found.evidence;
        }
      }
    }
    if (rows.size() == begin) rows.push_back({title.number, title.title, "", {}});
  }
  // What to try first: what pays, and of that what pays most.
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    if (a.found.word != b.found.word) return a.found.word < b.found.word;
    return a.found.word == Word::pays && a.found.ratio > b.found.ratio;
  });
  for (const Row& row : rows) {
    const bool pays = row.found.word == Word::pays;
    table.rows.push_back(
        {{std::to_string(row.number), "", ""},
         {row.title, "", ""},
         {to_text(row.found.word), pays ? "strong" : "", ""},
         {row.found.evidence, "", ""},
         row.recipe.empty() ? Cell{} : Cell{row.recipe, "", prefix + row.recipe + ".md"}});
  }
  return table;
}

}  // namespace clcook::tool::report
