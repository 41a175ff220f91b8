// The tables of the report, for the page and for the markdown documents.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "counters/show.hpp"
#include "report/report.hpp"

namespace clcook::tool::report {

namespace {

std::string markdown_escape(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '\n' || c == '\r') {
      out += ' ';
    } else {
      // "](" would end the text of a link.
      if (std::string_view("|`*\\").find(c) != std::string_view::npos ||
          (c == '(' && !out.empty() && out.back() == ']'))
        out += '\\';
      out += c;
    }
  }
  return out;
}

// What is left out of a table and why, in groups.
class Reasons {
 public:
  void add(std::string reason, const std::string& who) {
    // "LineBlur: the variant padded: " says what stands beside it.
    const std::string names_it = ": the variant " + who + ": ";
    const std::size_t at = reason.find(names_it);
    if (at != std::string::npos) reason.erase(0, at + names_it.size());
    auto group = std::find_if(groups_.begin(), groups_.end(),
                              [&](const Left& one) { return one.reason == reason; });
    if (group == groups_.end()) group = groups_.insert(groups_.end(), {reason, {}, 0});
    if (std::find(group->who.begin(), group->who.end(), who) == group->who.end())
      group->who.push_back(who);
    ++group->count;
  }

  // "Left out: a, b (no images); c (it failed; 3 times)"; empty without any.
  std::string text(const std::string& title) const {
    std::string out;
    for (const Left& one : groups_) {
      out += fmt::format("{}{} ({}", out.empty() ? title + ": " : "; ", fmt::join(one.who, ", "),
                         one.reason);
      out += one.count > one.who.size() ? fmt::format("; {} times)", one.count) : ")";
    }
    return out;
  }

 private:
  struct Left {
    std::string reason;
    std::vector<std::string> who;
    std::size_t count = 0;
  };
  std::vector<Left> groups_;
};

std::string percent(double share) {
  return std::isnan(share) ? "-" : fmt::format("{:.{}f} %", 100 * share, share < 0.095 ? 1 : 0);
}

// The colour of a figure; "faster" is bold as well, so a gain below 1.05 has none.
std::string mark_of(Verdict verdict, const Ratio& ratio) {
  return verdict == Verdict::faster && ratio.value < kBold ? "" : to_string(verdict);
}

}  // namespace

Cell ratio_cell(Verdict verdict, const Ratio& ratio) {
  switch (verdict) {
    case Verdict::baseline:
      return {"baseline", "", ""};
    case Verdict::faster:
      return {to_string(ratio), mark_of(verdict, ratio), ""};
    case Verdict::tie:
      return {"tie: " + to_string(ratio), "tie", ""};
    case Verdict::slower:
      return {"slower: " + to_string(ratio), "slower", ""};
    case Verdict::none:
      break;
  }
  return {"-", "", ""};
}

std::string to_markdown(const Table& table) {
  std::string out = "|";
  for (const Column& column : table.columns) out += " " + markdown_escape(column.title) + " |";
  out += "\n|";
  for (const Column& column : table.columns) out += column.figures ? "---:|" : "---|";
  out += "\n";
  for (const auto& row : table.rows) {
    out += "|";
    for (const Cell& cell : row) {
      std::string text = markdown_escape(cell.text);
      if (!cell.link.empty()) text = fmt::format("[{}]({})", text, cell.link);
      if (cell.mark == "strong" || cell.mark == "faster") text = "**" + text + "**";
      out += " " + text + " |";
    }
    out += "\n";
  }
  if (!table.note.empty()) out += "\n*" + markdown_escape(table.note) + ".*\n";
  return out;
}

std::string to_html(const Table& table) {
  std::string out = "<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr>";
  for (const Column& column : table.columns) {
    out += fmt::format("<th scope=\"col\"{}>{}</th>", column.figures ? " class=\"figure\"" : "",
                       escape(column.title));
  }
  out += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    out += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::string text = escape(row[i].text);
      if (!row[i].link.empty())
        text = fmt::format("<a href=\"{}\">{}</a>", escape(row[i].link), text);
      std::string classes = table.columns[i].figures ? "figure" : "";
      if (!table.columns[i].figures && row[i].text.size() > 18)
        classes = row[i].text.size() > 34 ? "longer" : "long";
      if (!row[i].mark.empty()) classes += (classes.empty() ? "" : " ") + row[i].mark;
      out += classes.empty() ? "<td>" : fmt::format("<td class=\"{}\">", classes);
      out += text + "</td>";
    }
    out += "</tr>\n";
  }
  out += "</tbody></table></div>\n";
  if (!table.note.empty()) out += "<p>" + escape(table.note) + ".</p>\n";
  return out;
}

namespace {

struct Named {
  std::string name;
  const Recipe* recipe = nullptr;  // null for a name that the registry does not know
};

// "1.80×", "0.89× to 1.80×".
std::string span_text(double least, double most) {
  const std::string from = times(least), to = times(most);
  return from == to ? from + "×" : from + "× to " + to + "×";
}

std::vector<Column> gain_columns(const std::vector<Result>& results) {
  std::vector<Column> columns;
  for (const std::string& device : devices_of(results, "bench")) {
    const std::string name = short_device(results, "bench", device);
    columns.push_back({name + ": the technique alone"});
    columns.push_back({name + ": the fastest variant"});
  }
  if (columns.empty()) columns.push_back({"Gain"});
  return columns;
}

const Cell kNotMeasured{"not measured yet", "skipped", ""};

// One figure, or the word "tie": the pages have the intervals. `who` may be empty.
Cell gain_cell(Verdict verdict, const Ratio& ratio, const std::string& who) {
  if (verdict == Verdict::baseline || verdict == Verdict::none) return ratio_cell(verdict, ratio);
  const std::string figure = times(ratio.value);
  if (verdict == Verdict::tie || figure == "1.00") return {"tie", "tie", ""};
  const char* before = verdict == Verdict::slower ? "slower: " : "";
  return {before + figure + "×" + (who.empty() ? "" : " " + who), mark_of(verdict, ratio), ""};
}

// What the recipe's technique gains at the shape that its card names.
Cell technique_cell(const Recipe* recipe, const Result* result) {
  if (recipe == nullptr || recipe->headline_pair.with.empty()) return {"-", "", ""};
  if (result == nullptr) return kNotMeasured;
  const VariantPair& headline = recipe->headline_pair;
  const std::optional<Group> group = group_with(*result, *recipe, headline.words);
  if (!group) return kNotMeasured;
  const Pair pair = pair_of(*recipe, result->about, *group, headline.with, headline.without);
  if (pair.with == nullptr) return kNotMeasured;
  return gain_cell(pair.verdict, pair.ratio, "");
}

// What the fastest exact variant gains over the baseline there.
Cell together_cell(const std::string& name, const Recipe* recipe, const Result* result) {
  if (result == nullptr) return kNotMeasured;
  const Group group = groups_of(*result, name).front();
  if (recipe != nullptr && !has_baseline(*recipe, result->about, group)) return kNotMeasured;
  const BenchRow* best = best_of(name, group.rows);
  if (best == nullptr) return {"nothing to compare", "skipped", ""};
  const std::vector<const BenchRow*> rows = fastest_rows(group);
  const auto others = std::count_if(rows.begin(), rows.end(), [&](const BenchRow* row) {
    return row->variant != best->variant && wins(*row, best);
  });
  std::string who = best->variant;
  if (others > 0) who += others == 1 ? " or another" : fmt::format(" or {} others", others);
  return gain_cell(verdict_of(*best), ratio_of(*best), who);
}

// The cookbook's recipes, then what else is in the results.
std::vector<Named> named_of(const std::vector<Result>& results) {
  std::vector<Named> out;
  for (const Recipe& recipe : recipes()) out.push_back({recipe.name, &recipe});
  for (const Result& result : results) {
    for (const BenchRow& row : result.bench.rows) {
      if (std::none_of(out.begin(), out.end(),
                       [&](const Named& one) { return one.name == row.recipe; }))
        out.push_back({row.recipe, nullptr});
    }
  }
  return out;
}

}  // namespace

Table gains_table(const std::vector<Result>& results, const std::vector<std::string>& linked) {
  Table table{{{"Recipe"}}, {}};
  for (const Column& column : gain_columns(results)) table.columns.push_back(column);
  const std::vector<std::string> devices = devices_of(results, "bench");
  for (const Named& one : named_of(results)) {
    const bool link = std::find(linked.begin(), linked.end(), one.name) != linked.end();
    std::vector<Cell> row{{one.name, "", link ? "#" + one.name : ""}};
    for (const std::string& device : devices) {
      const Result* newest = newest_of(results, "bench", device, one.name);
      row.push_back(technique_cell(one.recipe, newest));
      row.push_back(together_cell(one.name, one.recipe, newest));
    }
    if (devices.empty()) row.push_back(kNotMeasured);
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table results_table(const std::vector<Result>& results) {
  Table table{{{"Result"}, {"Kind"}, {"Device"}, {"Date"}, {"Commit"}}, {}};
  for (const Result& one : results) {
    table.rows.push_back({{one.stem, "", ""},
                          {one.kind, "", ""},
                          {one.device.empty() ? "none: offline compilation" : one.device, "", ""},
                          {one.date.substr(0, 10), "", ""},
                          {one.commit, "", ""}});
  }
  return table;
}

Table ceilings_table(const Result& result) {
  const Ceilings& ceilings = result.bench.ceilings;
  const auto row = [](const char* name, double value, const char* unit) {
    return std::vector<Cell>{{name, "", ""}, {digits(value) + unit, "", ""}};
  };
  return {{{"Ceiling, measured in the same run"}, {"Value", true}},
          {row("copy, several times the last-level cache", ceilings.copy_gbs, " GB/s"),
           row("copy within the cache", ceilings.cached_copy_gbs, " GB/s"),
           row("float fused multiply-add", ceilings.fma_gops, " Gop/s"),
           row("empty kernel", ceilings.launch_us, " µs")}};
}

Table check_table(const Result& result, const std::string& recipe) {
  Table table{{{"Variant"},
               {"Runs", true},
               {"Passed", true},
               {"Failed", true},
               {"Skipped", true},
               {"Kernels run", true},
               {"Values compared", true},
               {"Largest error", true},
               {"Largest bound", true},
               {"Error of its bound", true},
               {"Skipped because"}},
              {}};
  for (const CheckTotalRow& total : totals_of(result, recipe)) {
    std::map<std::string, std::size_t> counts;
    for (const CheckSkip& skip : total.skips) counts[skip.reason] += skip.count;
    std::string reasons;
    for (const auto& [reason, count] : counts)
      reasons += fmt::format("{}{} ({} times)", reasons.empty() ? "" : "; ", reason, count);
    const bool none = total.passed + total.failed == 0;
    const auto largest = [&](double value) {
      return none ? "-" : value == 0 ? "exact" : fmt::format("{:.3g}", value);
    };
    table.rows.push_back(
        {{(recipe.empty() ? total.recipe + "/" : "") + total.variant, "", ""},
         {std::to_string(total.runs), "", ""},
         {std::to_string(total.passed), "", ""},
         {std::to_string(total.failed), total.failed > 0 ? "failed" : "", ""},
         {std::to_string(total.skipped), total.skipped > 0 ? "skipped" : "", ""},
         {std::to_string(total.launches), "", ""},
         {std::to_string(total.compared), "", ""},
         {largest(total.max_error), "", ""},
         {largest(total.bound), "", ""},
         {total.bound == 0 || std::isinf(total.share) ? "-"
                                                      : fmt::format("{:.1f} %", 100 * total.share),
          total.share > 1 ? "failed" : "", ""},
         {reasons, "", ""}});
  }
  return table;
}

namespace {

Cell step_cell(const Pair& pair) {
  Cell cell = ratio_cell(pair.verdict, pair.ratio);
  if (pair.with != nullptr) cell.text += " after " + pair.without->variant;
  return cell;
}

// "Against naive": the baseline of these rows, which a recipe may have changed since.
std::string against_title(const std::vector<Group>& groups) {
  for (const Group& group : groups) {
    for (const BenchRow* row : group.rows) {
      if (row->baseline) return "Against " + row->variant;
    }
  }
  return "Against the baseline";
}

// Columns that say nothing are left out: one mode of the caches, no operations.
Table bench_rows(const Result& result, const std::string& name, const std::vector<Group>& groups,
                 bool with_skipped) {
  const bool with_shape = groups.size() > 1;
  const bool with_mode = std::any_of(groups.begin(), groups.end(),
                                     [&](const Group& one) { return one.mode != groups[0].mode; });
  const bool with_gops = std::any_of(groups.begin(), groups.end(), [](const Group& group) {
    return std::any_of(group.rows.begin(), group.rows.end(),
                       [](const BenchRow* one) { return one->measured() && one->gops > 0; });
  });
  const Recipe* recipe = known_recipe(name);
  Table table{{{"Variant"}}, {}};
  if (with_shape) table.columns.push_back({"Shape"});
  if (with_mode) table.columns.push_back({"Caches"});
  for (const Column& column :
       {Column{"Median µs", true}, Column{"95 % interval", true}, Column{against_title(groups)}})
    table.columns.push_back(column);
  if (recipe != nullptr) table.columns.push_back({"This step alone"});
  table.columns.push_back({"GB/s", true});
  if (with_gops) table.columns.push_back({"Gop/s", true});
  table.columns.push_back({"Of its ceiling", true});
  table.columns.push_back({"Ceiling"});
  std::vector<std::pair<const Group*, const BenchRow*>> rows;
  for (const Group& group : groups) {
    for (const BenchRow* one : group.rows) rows.emplace_back(&group, one);
  }
  for (const auto& [group, one] : rows) {
    if (!with_skipped && one->status == "skipped") continue;
    std::vector<Cell> row{{one->label(), "", ""}};
    if (with_shape) row.push_back({to_text(one->shape), "", ""});
    if (with_mode) row.push_back({one->mode, "", ""});
    if (!one->measured()) {
      row.push_back({"-", "", ""});
      row.push_back({"-", "", ""});
      row.push_back(
          {one->status + ": " + one->reason, one->status == "failed" ? "failed" : "skipped", ""});
      row.resize(table.columns.size(), {"-", "", ""});
      table.rows.push_back(std::move(row));
      continue;
    }
    const Ratio time = time_of(*one);
    const std::string warning = one->flag.value_or("");
    row.push_back({digits(time.value), "", ""});
    row.push_back({fmt::format("{} to {}", digits(time.low), digits(time.high)), "", ""});
    row.push_back(ratio_cell(verdict_of(*one), ratio_of(*one)));
    if (recipe != nullptr) row.push_back(step_cell(step_of(*recipe, result.about, *group, *one)));
    row.push_back({digits(one->gbs), "", ""});
    if (with_gops) row.push_back({digits(one->gops), "", ""});
    row.push_back({percent(one->share), warning.empty() ? "" : "failed", ""});
    row.push_back({one->limit + (warning.empty() ? "" : " (" + warning + ")"), "", ""});
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

Table bench_table(const Result& result, const std::string& recipe) {
  return bench_rows(result, recipe, groups_of(result, recipe), false);
}

Table bench_table(const Result& result, const std::string& recipe, const Group& group) {
  return bench_rows(result, recipe, {group}, true);
}

Table steps_table(const std::vector<Result>& results, const Recipe& recipe) {
  Table table{{{"Variant"}, {"After"}, {"What this step changes"}}, {}};
  const std::vector<std::string> devices = devices_of(results, "bench");
  for (const std::string& device : devices)
    table.columns.push_back({"This step alone on " + short_device(results, "bench", device)});
  for (const VariantInfo& variant : recipe.variants) {
    std::vector<Cell> row{{variant.name, "", ""},
                          {variant.predecessor.empty() ? "-" : variant.predecessor, "", ""},
                          {variant.is_baseline ? "the baseline" : variant.change, "", ""}};
    for (const std::string& device : devices) {
      const Result* newest = newest_of(results, "bench", device, recipe.name);
      const Pair pair = newest == nullptr ? Pair()
                                          : pair_of(recipe, newest->about,
                                                    groups_of(*newest, recipe.name).front(),
                                                    variant.name, variant.predecessor);
      row.push_back(ratio_cell(pair.verdict, pair.ratio));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table stages_table(const Result& result) {
  Table table{{{"Stage"},
               {"Median µs", true},
               {"95 % interval", true},
               {"Against the first", true},
               {"Step"},
               {"Largest error", true},
               {"Off the full sum", true}},
              {}};
  Reasons skipped;
  for (const Stage& stage : stages_of(result)) {
    if (!stage.skipped.empty()) {
      skipped.add(stage.skipped, stage.name);
      continue;
    }
    Cell step = ratio_cell(stage.verdict, stage.step);
    if (stage.verdict != Verdict::none) step.text += " after " + stage.previous;
    const auto error = [](double value) {
      return std::isnan(value) ? std::string("-") : fmt::format("{:.3g}", value);
    };
    table.rows.push_back(
        {{stage.name, "", ""},
         {digits(stage.time_us.value), "", ""},
         {fmt::format("{} to {}", digits(stage.time_us.low), digits(stage.time_us.high)), "", ""},
         {std::isnan(stage.total) ? "-" : times(stage.total) + "×", "", ""},
         step,
         {error(stage.max_error), "", ""},
         {error(stage.off_full), "", ""}});
  }
  table.note = skipped.text("Skipped");
  return table;
}

namespace {

// "CUB" of "CUB, DeviceSelect::If".
std::string library_of(const PeerRow& row) { return row.who.substr(0, row.who.find(", ")); }

bool is_ours(const PeerRow& row) { return row.who.rfind("clcook", 0) == 0; }

// Whether a row is as exact as another, but for 3 dB.
bool is_as_exact(const PeerRow& row, const PeerRow& other) {
  if (std::isnan(row.psnr)) return true;
  return !std::isnan(other.psnr) && row.psnr >= other.psnr - 3;
}

// The fastest of the rows that `wanted` takes; null without any.
template <class Wanted>
const PeerRow* fastest_peer(const std::vector<const PeerRow*>& rows, const Wanted& wanted) {
  const PeerRow* best = nullptr;
  for (const PeerRow* row : rows) {
    if (!wanted(*row)) continue;
    if (best == nullptr || median(row->seconds) < median(best->seconds)) best = row;
  }
  return best;
}

// The rows of each case that were measured, in order.
std::vector<std::vector<const PeerRow*>> cases_of(const PeersResult& peers) {
  std::vector<std::vector<const PeerRow*>> out;
  for (const PeerRow& row : peers.rows) {
    if (row.skipped) continue;
    if (out.empty() || out.back().front()->which != row.which) out.emplace_back();
    out.back().push_back(&row);
  }
  return out;
}

// The libraries beside clcook in a case, each once.
std::vector<std::string> libraries_of(const std::vector<const PeerRow*>& rows) {
  std::vector<std::string> out;
  for (const PeerRow* row : rows) {
    if (!is_ours(*row) && std::find(out.begin(), out.end(), library_of(*row)) == out.end())
      out.push_back(library_of(*row));
  }
  return out;
}

// How many times as fast as a library clcook is in a case; none where nothing of it is as exact.
std::optional<double> against_library(const std::vector<const PeerRow*>& rows,
                                      const std::string& library) {
  const PeerRow* theirs =
      fastest_peer(rows, [&](const PeerRow& row) { return library_of(row) == library; });
  const PeerRow* ours = fastest_peer(
      rows, [&](const PeerRow& row) { return is_ours(row) && is_as_exact(row, *theirs); });
  if (ours == nullptr) return std::nullopt;
  return median(theirs->seconds) / median(ours->seconds);
}

// A library's least and most over the cases.
struct Span {
  std::string library;
  double least = 0, most = 0;
  int cases = 0;
};

void add_case(std::vector<Span>& spans, const std::string& library, double ratio) {
  auto found = std::find_if(spans.begin(), spans.end(),
                            [&](const Span& one) { return one.library == library; });
  if (found == spans.end()) found = spans.insert(spans.end(), {library, ratio, ratio, 0});
  found->least = std::min(found->least, ratio);
  found->most = std::max(found->most, ratio);
  ++found->cases;
}

std::vector<Span> spans_of(const std::vector<Result>& results, const std::string& device,
                           const std::string& recipe) {
  std::vector<Span> spans;
  for (const Result& result : results) {
    if (result.device != device || result.peers.recipe != recipe) continue;
    for (const std::vector<const PeerRow*>& rows : cases_of(result.peers)) {
      for (const std::string& library : libraries_of(rows)) {
        if (const auto ratio = against_library(rows, library)) add_case(spans, library, *ratio);
      }
    }
  }
  return spans;
}

}  // namespace

Table libraries_table(const std::vector<Result>& results, const std::string& device,
                      const std::string& prefix) {
  Table table{{{"Recipe"}, {"Library"}, {"clcook is"}, {"Cases", true}}, {}};
  for (const Recipe& recipe : recipes()) {
    for (const Span& span : spans_of(results, device, recipe.name)) {
      table.rows.push_back(
          {{recipe.name, "", prefix + recipe.name + ".md"},
           {span.library, "", ""},
           {span_text(span.least, span.most), span.least >= kBold ? "strong" : "", ""},
           {fmt::format("{}", span.cases), "", ""}});
    }
  }
  return table;
}

std::optional<Range> against_others(const Result& peers) {
  std::optional<Range> out;
  for (const std::vector<const PeerRow*>& rows : cases_of(peers.peers)) {
    std::optional<double> hardest;
    for (const std::string& library : libraries_of(rows)) {
      const std::optional<double> ratio = against_library(rows, library);
      if (ratio) hardest = std::min(*ratio, hardest.value_or(*ratio));
    }
    if (!hardest) continue;
    out = out ? Range{std::min(out->least, *hardest), std::max(out->most, *hardest)}
              : Range{*hardest, *hardest};
  }
  return out;
}

namespace {

bool is_written_first(const Recipe& recipe, const std::string& variant) {
  const std::vector<std::string>& names = recipe.written_first;
  return std::find(names.begin(), names.end(), variant) != names.end();
}

// How many times as fast as the baseline the fastest is of what is written first.
double written_first(const Recipe& recipe, const Group& group) {
  double most = 1;
  for (const BenchRow* row : group.rows) {
    if (is_written_first(recipe, row->variant) && verdict_of(*row) != Verdict::none)
      most = std::max(most, ratio_of(*row).value);
  }
  return most;
}

// "0.89× to 1.80× column_tiles": over the shapes the least and the most of what a recipe recommends for
// the device, or else of the fastest exact variant of each, with its name where it is the same for all.
Cell span_cell(const std::string& name, const Recipe* recipe, const Result* result) {
  if (result == nullptr) return kNotMeasured;
  std::string wanted;
  if (recipe != nullptr) wanted = result->about.type == "cpu" ? recipe->for_cpus : recipe->for_gpus;
  std::string who = wanted;
  double least = 0, most = 0;
  for (const Group& group : groups_of(*result, name)) {
    if (recipe != nullptr && !has_baseline(*recipe, result->about, group)) continue;
    const BenchRow* best = nullptr;
    if (wanted.empty()) {
      best = best_of(name, group.rows);
    } else {
      for (const BenchRow* row : group.rows) {
        if (row->variant == wanted && verdict_of(*row) != Verdict::none &&
            (best == nullptr || ratio_of(*row).value > ratio_of(*best).value))
          best = row;
      }
    }
    if (best == nullptr) continue;
    double ratio = ratio_of(*best).value;
    if (recipe != nullptr) ratio /= written_first(*recipe, group);
    // Where nothing is faster than what is written first, that is the fastest.
    if (wanted.empty()) {
      ratio = std::max(1.0, ratio);
      who = most == 0 || who == best->variant ? best->variant : "";
    }
    least = most == 0 ? ratio : std::min(least, ratio);
    most = std::max(most, ratio);
  }
  if (most == 0) return kNotMeasured;
  return {span_text(least, most) + (who.empty() ? "" : " " + who), most >= kBold ? "strong" : "",
          ""};
}

// Whether peers were compared on such a device. Two machines with PoCL and as many cores are.
bool is_of_kind(const std::vector<Result>& results, const Result& peers,
                const std::string& device) {
  return short_device(results, "peers", peers.device) == short_device(results, "bench", device);
}

// "1.20× to 8.09×": of all results of such a device.
Cell others_cell(const std::vector<Result>& results, const std::string& device,
                 const std::string& recipe) {
  std::optional<Range> all;
  for (const Result& result : results) {
    if (result.peers.recipe != recipe || !is_of_kind(results, result, device)) continue;
    if (const std::optional<Range> one = against_others(result))
      all = all ? Range{std::min(all->least, one->least), std::max(all->most, one->most)} : *one;
  }
  if (!all) return {"-", "", ""};
  return {span_text(all->least, all->most), all->most >= kBold ? "strong" : "", ""};
}

}  // namespace

Table recipes_table(const std::vector<Result>& results, const std::string& prefix,
                    const std::string& suffix) {
  const bool ours = has_cookbook(results);
  // On a CPU a kernel written for GPUs is no yardstick where there is a better one.
  const auto by_others = [&](const std::string& device) {
    return std::any_of(results.begin(), results.end(), [&](const Result& one) {
      return one.kind == "peers" && one.about.type == "cpu" && is_of_kind(results, one, device);
    });
  };
  const std::vector<std::string> devices = devices_of(results, "bench");
  Table table{{{"Recipe"}, {"The question"}}, {}};
  for (const std::string& device : devices)
    table.columns.push_back({short_device(results, "bench", device) +
                             (by_others(device) ? ": against C++ and libraries" : "")});
  for (const Named& one : named_of(results)) {
    // Somebody's kernels have no page.
    if (one.recipe == nullptr && ours) continue;
    std::vector<Cell> row{{one.name, "", prefix + one.name + suffix},
                          {one.recipe == nullptr ? "-" : one.recipe->question, "", ""}};
    for (const std::string& device : devices)
      row.push_back(by_others(device) ? others_cell(results, device, one.name)
                                      : span_cell(one.name, one.recipe,
                                                  newest_of(results, "bench", device, one.name)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table peers_table(const Result& result) {
  Table table{{{"Case"},
               {"Who"},
               {"Median µs", true},
               {"95 % interval", true},
               {"Time against clcook", true}},
              {}};
  // Exact results have none, and recipes that do not ask for it.
  const std::vector<PeerRow>& rows = result.peers.rows;
  const bool psnr = std::any_of(rows.begin(), rows.end(), [](const PeerRow& row) {
    return !row.skipped && !std::isnan(row.psnr);
  });
  if (psnr) table.columns.push_back({"PSNR, dB", true});
  table.columns.push_back({"Largest error", true});
  std::optional<std::string> last;
  Blocks ours;  // the first of a case that is clcook's and was not left out
  Reasons left_out;
  for (const PeerRow& row : rows) {
    if (row.skipped) {
      left_out.add(*row.skipped, row.who);
      continue;
    }
    const std::string who = row.who + (row.version.empty() ? "" : " " + row.version);
    const bool first = row.which != last;
    last = row.which;
    if (first) ours.clear();
    std::vector<Cell> cells{{first ? row.which : "", "", ""}, {who, "", ""}};
    const auto add = [&](const std::string& text) { cells.push_back({text, "", ""}); };
    Blocks samples{row.seconds};
    for (double& one : samples.front()) one *= 1e6;
    const bool reference = ours.empty() && is_ours(row);
    if (reference) ours = samples;
    const Ratio time = interval(samples);
    add(digits(time.value));
    add(fmt::format("{} to {}", digits(time.low), digits(time.high)));
    add(reference ? "1" : ours.empty() ? "-" : to_string(bootstrap_ratio(samples, ours)));
    if (psnr) add(!std::isnan(row.psnr) ? fmt::format("{:.1f}", row.psnr) : "exact");
    add(row.max_error == 0 && !psnr ? "exact" : fmt::format("{:.2g}", row.max_error));
    table.rows.push_back(std::move(cells));
  }
  table.note = left_out.text("Left out");
  return table;
}

Table startup_table(const Result& result) {
  Table table{{{"Caches"},
               {"Device and queue, s", true},
               {"Plan, s", true},
               {"First blur, s", true},
               {"Second blur, s", true},
               {"Processor time, s", true},
               {"Programs compiled", true},
               {"Variant"}},
              {}};
  for (const StartupRow& row : result.startup.rows)
    table.rows.push_back({{row.caches.value_or("-"), "", ""},
                          {digits(row.pick_s), "", ""},
                          {digits(row.plan_s), "", ""},
                          {digits(row.first_blur_s), "", ""},
                          {digits(row.second_blur_s), "", ""},
                          {digits(row.processor_s), "", ""},
                          {std::to_string(row.compiled), "", ""},
                          {row.method, "", ""}});
  return table;
}

Table counters_table(const Result& result, const std::string& recipe,
                     const std::vector<std::string>& counters) {
  Table table{{{"Variant"}}, {}};
  std::vector<counters::Shown> columns;
  for (const std::string& key : counters) {
    columns.push_back(counters::shown(key));
    table.columns.push_back({columns.back().title, true});
  }
  const auto of_recipe = [&](const CountersRow& row) { return row.recipe == recipe; };
  const std::vector<CountersRow>& rows = result.counters.rows;
  const auto first = std::find_if(rows.begin(), rows.end(), of_recipe);
  // Where a shape differs from the first one: "sigma=8".
  const auto differs = [&](const Params& shape) {
    Params out;
    for (const Params::Entry& one : shape.entries()) {
      const Value* const usual = first->shape.find(one.name);
      if (usual == nullptr || *usual != one.value) out.set(one.name, one.value);
    }
    return out;
  };
  std::set<std::string> named;
  for (const CountersRow& row : rows) {
    if (!of_recipe(row) || !row.counted()) continue;
    named.insert(row.variant);
    std::vector<Cell>& cells = table.rows.emplace_back();
    const Params other = differs(row.shape);
    cells.push_back({row.label() + (other.empty() ? "" : " (" + to_text(other) + ")"), "", ""});
    for (const counters::Shown& one : columns)
      cells.push_back({digits(counters::value_of(row, one)), "", ""});
  }
  // Once each, and only variants that no shape counted.
  Reasons uncounted;
  for (const CountersRow& row : rows) {
    if (!of_recipe(row) || !named.insert(row.variant).second) continue;
    uncounted.add((row.status == "skipped" ? "" : row.status + ": ") + row.reason, row.variant);
  }
  table.note = uncounted.text("Not counted");
  return table;
}

Table counters_table(const Result& result, const std::string& recipe) {
  std::vector<std::string> present;
  for (const char* key :
       {"lanes", "instructions", "divergent", "bank_conflicts", "l2_hit_pct", "dram_read_bytes",
        "dram_write_bytes", "issue_pct", "branches", "branch_misses", "cache_misses"}) {
    const bool any = std::any_of(
        result.counters.rows.begin(), result.counters.rows.end(), [&](const CountersRow& row) {
          return row.recipe == recipe && !std::isnan(value_of(row, counters::shown(key)));
        });
    if (any) present.emplace_back(key);
  }
  return counters_table(result, recipe, present);
}

std::vector<std::string> targets_of(const Result& result, const std::string& recipe) {
  std::vector<std::string> targets;
  for (const IsaRow& one : result.isa.kernels) {
    if (one.recipe == recipe &&
        std::find(targets.begin(), targets.end(), one.target) == targets.end())
      targets.push_back(one.target);
  }
  return targets;
}

namespace {

// The figures of a kernel that compiled, -1 where one is not known.
struct IsaFigure {
  const char* key;
  const char* title;
  long (*of)(const IsaRow&);
};
template <isa::Kind kind>
long count(const IsaRow& row) {
  return static_cast<long>(row.counts.of(kind));
}
constexpr IsaFigure kFigures[] = {
    {"instructions", "Instructions",
     [](const IsaRow& row) { return static_cast<long>(row.counts.total); }},
    {"vector_alu", "Vector ALU", count<isa::Kind::vector_alu>},
    {"scalar_alu", "Scalar ALU", count<isa::Kind::scalar_alu>},
    {"branches", "Branches", count<isa::Kind::branch>},
    {"vector_memory", "Vector memory", count<isa::Kind::vector_memory>},
    {"scalar_memory", "Scalar memory", count<isa::Kind::scalar_memory>},
    {"local_memory", "Local memory", count<isa::Kind::local_memory>},
    {"waits", "Waits", count<isa::Kind::wait>},
    {"registers", "Registers", [](const IsaRow& row) { return row.resources.registers; }},
    {"scalar_registers", "Scalar registers",
     [](const IsaRow& row) { return row.resources.scalar_registers; }},
    {"spills", "Spills", [](const IsaRow& row) { return row.resources.spills; }},
    {"code_bytes", "Code bytes", [](const IsaRow& row) { return row.resources.bytes; }},
    {"occupancy", "Occupancy", [](const IsaRow& row) { return row.resources.occupancy; }}};

}  // namespace

Table isa_table(const Result& result, const std::string& recipe, const std::string& target,
                const std::vector<std::string>& figures) {
  std::vector<const IsaFigure*> shown;
  for (const IsaFigure& one : kFigures) {
    if (figures.empty() || std::find(figures.begin(), figures.end(), one.key) != figures.end())
      shown.push_back(&one);
  }
  if (!figures.empty() && shown.size() != figures.size()) {
    std::string known;
    for (const IsaFigure& one : kFigures) known += std::string(" ") + one.key;
    fail(Errc::invalid_argument, "report",
         fmt::format("'{}' are not all counts of machine code; known are{}",
                     fmt::join(figures, " "), known));
  }
  Table table;
  if (target.empty()) table.columns.push_back({"Target"});
  table.columns.push_back({"Kernel of"});
  for (const IsaFigure* figure : shown) table.columns.push_back({figure->title, true});
  for (const std::string& machine : targets_of(result, recipe)) {
    if (!target.empty() && machine != target) continue;
    for (const IsaRow& one : result.isa.kernels) {
      if (one.recipe != recipe || one.target != machine) continue;
      std::vector<Cell> row;
      if (target.empty()) row.push_back({machine, "", ""});
      row.push_back({one.tuned() + (one.label.empty() ? "" : " (" + one.label + ")"), "", ""});
      if (!one.problem.empty())
        row.back() = {one.tuned() + " does not compile: " + one.problem, "failed", ""};
      for (const IsaFigure* figure : shown) {
        const long value = one.problem.empty() ? figure->of(one) : -1;
        row.push_back({value < 0 ? "-" : std::to_string(value), "", ""});
      }
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

Table curve_table(const Curve& curve) {
  Table table{{{curve.axis, true}}, {}};
  for (const Value& point : curve.points) table.rows.push_back({{to_json(point).dump(), "", ""}});
  const auto add = [&](const std::string& title, const std::vector<double>& times) {
    table.columns.push_back({title, true});
    for (std::size_t i = 0; i < table.rows.size(); ++i)
      table.rows[i].push_back({digits(times[i]), "", ""});
  };
  for (const CurveVariant& one : curve.variants) {
    add(one.variant + ", measured µs", one.measured_us);
    if (!one.predicted_us) continue;
    for (const auto& [model, times] : *one.predicted_us)
      add(fmt::format("{}, predicted for {}", one.variant, model), times);
  }
  return table;
}

}  // namespace clcook::tool::report
