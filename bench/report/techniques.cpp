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

// One measurement of a technique: what is slower without it, in a result of the device.
struct Experiment {
  enum Kind {
    pair,      // `without` and `with` are variants, at equal tunes
    baseline,  // `with` is a variant, against the baseline; `without` is that one's name
    shapes,    // one variant, `with`, at the shapes `words` and `without`
    sweep,     // one variant at two points: "direct@1024" and "direct@128", of the curve of `words`
    no_fewer,  // a pair, but of a technique that saves registers: untested where none is saved
    not_tested  // `what` says why
  };
  int number = 0;
  Kind kind = pair;
  const char* recipe = "";
  const char* without = "";
  const char* with = "";
  const char* words = "";  // "work=barriers along=group", the first shape where there is none
  const char* what = "";
  bool registers = false;  // with the registers that the device counts of both
};

// Of one technique in one recipe, those of one word make one row.
constexpr Experiment kExperiments[] = {
    {1, Experiment::sweep, "group_size", "direct@32", "direct@256", "work=streaming along=group",
     "streaming, one element per work-item, groups of 32 to groups of 256"},
    {2, Experiment::sweep, "group_size", "direct@256", "direct@32",
     "work=divergent_loop along=group", "sphere tracing, groups of 256 to groups of 32"},
    {3, Experiment::sweep, "group_size", "direct@32", "single_wave@32", "work=barriers along=group",
     "groups of 32, the group's barrier to that of a wave"},
    {4, Experiment::sweep, "group_size", "direct@1024", "direct@256", "work=streaming along=group",
     "streaming, which shares nothing, groups of 1024 to groups of 256"},
    {5, Experiment::not_tested, "group_size", "", "", "",
     "clcook explore group_size holds back the second group; not run on this device yet"},
    {6, Experiment::no_fewer, "stream_compaction", "int_flags", "bit_runs", "", "", true},
    {6, Experiment::no_fewer, "gbuffer_shade", "predicates", "reloaded", "", "", true},
    {7, Experiment::not_tested, "gbuffer_shade", "", "", "",
     "the page has machine code that spills on gfx900; no time of such a kernel"},
    {8, Experiment::sweep, "group_size", "direct@1024", "direct@128", "work=barriers along=group",
     "prefix sums, as many waves resident, groups of 1024 to groups of 128"},
    {9, Experiment::shapes, "group_size", "work=slow_wave together=1", "direct", "work=slow_wave",
     "slow work-items in each 1024 to all of them together"},
    {10, Experiment::pair, "halo_tile", "direct", "local_tile", "filter=dilation depth=256",
     "volume, radius 1"},
    {10, Experiment::pair, "halo_tile", "direct", "local_tile", "filter=dilation radius=4",
     "radius 4"},
    {10, Experiment::pair, "halo_tile", "direct", "local_tile",
     "filter=dilation width=3840 radius=1", "radius 1"},
    {11, Experiment::not_tested, "halo_tile", "", "", "",
     "clcook explore halo_tile sweeps tile_width; not run on this device yet"},
    {12, Experiment::baseline, "local_multipass", "per_colour", "all_local",
     "width=16 iterations=100", "one launch for all passes"},
    {13, Experiment::pair, "vertex_transform", "per_item", "uniform"},
    {14, Experiment::pair, "vertex_transform", "typed", "uniform"},
    {15, Experiment::pair, "vertex_transform", "uniform", "affine"},
    {16, Experiment::pair, "halo_tile", "image", "image_no_sampler", "filter=dilation radius=1",
     "four floats"},
    {16, Experiment::pair, "halo_tile", "image", "image_no_sampler", "filter=median", "one float"},
    {17, Experiment::pair, "vertex_transform", "affine", "no_w"},
    {18, Experiment::pair, "vertex_transform", "rolled", "half3"},
    {18, Experiment::pair, "gbuffer_shade", "sign_bit", "packed", "", "", true},
    {19, Experiment::pair, "gbuffer_shade", "packed", "bit_fields"},
    {20, Experiment::pair, "gbuffer_shade", "flag_once", "predicates"},
    {20, Experiment::pair, "stream_compaction", "int_flags", "predicates", "",
     "which reads each pixel again"},
    {21, Experiment::pair, "stream_compaction", "byte_words", "word_runs"},
    {21, Experiment::pair, "threshold_count", "compare_sum", "first_bit"},
    {22, Experiment::pair, "gbuffer_shade", "predicates", "sign_bit"},
    {23, Experiment::pair, "vertex_transform", "no_w", "rolled", "", "", true},
    {24, Experiment::pair, "gbuffer_shade", "packed", "short2"},
    {24, Experiment::pair, "rank_filter", "network", "network_packed"},
    {25, Experiment::pair, "threshold_count", "global_table", "table"},
    {25, Experiment::baseline, "group_size", "direct", "local_table", "work=divergent_loop"},
    {25, Experiment::pair, "bc6h_mode", "constant_table", "local_table", "",
     "lanes read different entries"},
    {25, Experiment::pair, "rank_filter", "select", "local_tile"},
    {26, Experiment::no_fewer, "gbuffer_shade", "packed", "parked", "", "", true},
    {27, Experiment::sweep, "group_size", "grid_stride@12.5", "grid_stride@100",
     "work=streaming along=occupancy group=64", "streaming, an eighth of the waves to all"},
    {28, Experiment::pair, "vertex_transform", "rolled", "early", "", "", true},
};

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

// The group of the first shape with these words; nothing where none has them.
std::optional<Group> group_with(const Result& result, const Experiment& one, const char* words) {
  try {
    return group_of(result, one.recipe, words_of(words));
  } catch (const Error&) {  // this result has no such shape
    return std::nullopt;
  }
}

double median_of(const Group& group, const std::string& variant) {
  const BenchRow* row = row_of(fastest_rows(group), variant);
  return row == nullptr ? 0 : row->median_us;
}

Found in_bench(const Result& result, const Recipe& recipe, const Experiment& one) {
  const std::optional<Group> group = group_with(result, one, one.words);
  if (!group) return {};
  const std::string names = fmt::format("{} to {}", one.without, one.with);
  if (one.kind == Experiment::shapes) {
    const std::optional<Group> other = group_with(result, one, one.without);
    return other ? of_times(median_of(*group, one.with), median_of(*other, one.with)) : Found{};
  }
  if (one.kind == Experiment::baseline) {
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

Found in_curves(const Result& result, const Experiment& one) {
  for (const Curve& curve : result.explore.curves) {
    const std::string text = " " + curve.shape.str() + " along=" + curve.along + " ";
    const std::vector<std::string> words = words_of(one.words);
    if (curve.recipe == one.recipe &&
        std::all_of(words.begin(), words.end(), [&](const std::string& word) {
          return text.find(" " + word + " ") != std::string::npos;
        }))
      return of_times(at_point(curve, one.without), at_point(curve, one.with));
  }
  return {};
}

// The registers of a variant, as the device counts them; NaN where nothing was counted.
double registers_of(const Result* counters, const std::string& recipe, const std::string& variant) {
  if (counters == nullptr) return std::nan("");
  for (const CountersRow& row : counters->counters.rows) {
    if (row.recipe == recipe && row.variant == variant && row.counted())
      return value_of(row, counters::shown("registers"));
  }
  return std::nan("");
}

// What the results of a device say.
Found look(const std::vector<Result>& results, const std::string& device, const Recipe& recipe,
           const Experiment& one) {
  Found found;
  if (one.kind != Experiment::not_tested) {
    for (const Result& result : results) {
      if (result.device != device || !found.evidence.empty()) continue;
      if (one.kind == Experiment::sweep)
        found = in_curves(result, one);
      else if (result.kind == "bench")
        found = in_bench(result, recipe, one);
    }
    if (found.evidence.empty()) found.evidence = "no time of this device yet";
  }
  const std::string what = one.what;
  if (!what.empty()) {
    const bool first = one.kind == Experiment::sweep || one.kind == Experiment::shapes;
    if (found.evidence.empty())
      found.evidence = what;
    else
      found.evidence = first ? what + ": " + found.evidence : found.evidence + ", " + what;
  }
  if (!one.registers) return found;
  const Result* counters = newest_of(results, "counters", device, one.recipe);
  const double before = registers_of(counters, one.recipe, one.without);
  const double after = registers_of(counters, one.recipe, one.with);
  if (std::isnan(before) || std::isnan(after)) return found;
  found.evidence += before == after ? fmt::format("; {:.0f} registers both", before)
                                    : fmt::format("; {:.0f} registers to {:.0f}", before, after);
  if (one.kind == Experiment::no_fewer && after >= before) {
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
    for (const Experiment& one : kExperiments) {
      const Recipe* recipe = known_recipe(one.recipe);
      if (one.number != title.number || recipe == nullptr) continue;
      Found found = look(results, device, *recipe, one);
      const auto same = std::find_if(
          rows.begin() + static_cast<std::ptrdiff_t>(begin), rows.end(),
          [&](const Row& row) { return row.recipe == one.recipe && row.found.word == found.word; });
      if (same == rows.end())
        rows.push_back({title.number, title.title, one.recipe, std::move(found)});
      else
        same->found.evidence += "; " + found.evidence;
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
