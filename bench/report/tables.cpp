// The tables of the report, for the page and for the markdown documents.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

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

std::string percent(double share) {
  return std::isnan(share) ? "-" : fmt::format("{:.{}f} %", 100 * share, share < 0.095 ? 1 : 0);
}

}  // namespace

Cell ratio_cell(Verdict verdict, const Ratio& ratio) {
  switch (verdict) {
    case Verdict::baseline:
      return {"baseline", "", ""};
    case Verdict::faster:
      return {to_string(ratio), "faster", ""};
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
  return out + "</tbody></table></div>\n";
}

namespace {

// A recipe's best measured gain at its first shape, a cell per device.
struct Gains {
  std::string name;
  const Recipe* recipe = nullptr;  // null for a name that the registry does not know
  std::vector<Cell> cells;
};

std::vector<Column> gain_columns(const std::vector<Result>& results) {
  std::vector<Column> columns;
  for (const std::string& device : devices_of(results, "bench"))
    columns.push_back({"Gain on " + short_device(results, device)});
  if (columns.empty()) columns.push_back({"Gain"});
  return columns;
}

std::vector<Gains> gains_of(const std::vector<Result>& results) {
  std::vector<Gains> out;
  for (const Recipe& recipe : recipes()) out.push_back({recipe.name, &recipe, {}});
  for (const Result& result : results) {
    for (const BenchRow& row : result.bench.rows) {
      if (std::none_of(out.begin(), out.end(),
                       [&](const Gains& one) { return one.name == row.recipe; }))
        out.push_back({row.recipe, nullptr, {}});
    }
  }
  const std::vector<std::string> devices = devices_of(results, "bench");
  for (Gains& one : out) {
    for (const std::string& device : devices) {
      // The newest result of this device that has the recipe; there the headline: the first shape.
      const Result* newest = nullptr;
      for (const Result& result : results) {
        if (result.device != device || groups_of(result, one.name).empty()) continue;
        if (newest == nullptr || result.date > newest->date) newest = &result;
      }
      const BenchRow* best = newest == nullptr
                                 ? nullptr
                                 : best_of(one.name, groups_of(*newest, one.name).front().rows);
      if (best == nullptr) {
        one.cells.push_back(
            {newest == nullptr ? "not measured" : "nothing to compare", "skipped", ""});
        continue;
      }
      Cell cell = ratio_cell(verdict_of(*best), ratio_of(*best));
      if (cell.mark == "slower") cell.text = "does not pay, " + cell.text;
      cell.text += " (" + best->variant + ")";
      one.cells.push_back(cell);
    }
    if (devices.empty()) one.cells.push_back({"not measured", "skipped", ""});
  }
  return out;
}

// Columns, and a row of gains behind what `begin` makes of a recipe.
template <class Begin>
Table gains_with(const std::vector<Result>& results, std::vector<Column> columns,
                 const Begin& begin) {
  Table table{std::move(columns), {}};
  for (const Column& column : gain_columns(results)) table.columns.push_back(column);
  for (const Gains& one : gains_of(results)) {
    std::vector<Cell> row = begin(one);
    row.insert(row.end(), one.cells.begin(), one.cells.end());
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

Table recipes_table(const std::vector<Result>& results, const std::string& prefix,
                    const std::string& suffix) {
  return gains_with(results, {{"Recipe"}, {"Technique"}, {"What it does"}}, [&](const Gains& one) {
    return std::vector<Cell>{{one.name, "", prefix + one.name + suffix},
                             {one.recipe == nullptr ? "-" : one.recipe->technique, "", ""},
                             {one.recipe == nullptr ? "-" : one.recipe->title, "", ""}};
  });
}

Table gains_table(const std::vector<Result>& results, const std::vector<std::string>& linked) {
  return gains_with(results, {{"Recipe"}}, [&](const Gains& one) {
    const bool link = std::find(linked.begin(), linked.end(), one.name) != linked.end();
    return std::vector<Cell>{{one.name, "", link ? "#" + one.name : ""}};
  });
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

Table check_table(const std::vector<CheckTotal>& totals) {
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
  for (const CheckTotal& total : totals) {
    std::string reasons;
    for (const auto& [reason, count] : total.reasons)
      reasons += fmt::format("{}{} ({} times)", reasons.empty() ? "" : "; ", reason, count);
    const bool none = total.passed + total.failed == 0;
    const auto largest = [&](double value) {
      return none ? "-" : value == 0 ? "exact" : fmt::format("{:.3g}", value);
    };
    table.rows.push_back(
        {{total.name, "", ""},
         {std::to_string(total.runs), "", ""},
         {std::to_string(total.passed), "", ""},
         {std::to_string(total.failed), total.failed > 0 ? "failed" : "", ""},
         {std::to_string(total.skipped), total.skipped > 0 ? "skipped" : "", ""},
         {std::to_string(total.kernels), "", ""},
         {std::to_string(total.compared), "", ""},
         {largest(total.error), "", ""},
         {largest(total.bound), "", ""},
         {total.bound == 0 || std::isinf(total.share) ? "-"
                                                      : fmt::format("{:.1f} %", 100 * total.share),
          total.share > 1 ? "failed" : "", ""},
         {reasons, "", ""}});
  }
  return table;
}

namespace {

Table bench_rows(const std::vector<const BenchRow*>& rows, bool with_shape) {
  Table table{{{"Variant"}}, {}};
  if (with_shape) {
    table.columns.push_back({"Shape"});
    table.columns.push_back({"Caches"});
  }
  for (const Column& column :
       {Column{"Median µs", true}, Column{"95 % interval", true}, Column{"Against the baseline"},
        Column{"GB/s", true}, Column{"Gop/s", true}, Column{"Of its ceiling", true},
        Column{"Ceiling"}})
    table.columns.push_back(column);
  for (const BenchRow* one : rows) {
    std::vector<Cell> row{{one->label(), "", ""}};
    if (with_shape) {
      row.push_back({to_text(one->shape), "", ""});
      row.push_back({one->mode, "", ""});
    }
    if (!one->measured()) {
      row.push_back({"-", "", ""});
      row.push_back({"-", "", ""});
      row.push_back(
          {one->status + ": " + one->reason, one->status == "failed" ? "failed" : "skipped", ""});
      for (int i = 0; i < 4; ++i) row.push_back({"-", "", ""});
      table.rows.push_back(std::move(row));
      continue;
    }
    const Ratio time = time_of(*one);
    const std::string warning = one->flag.value_or("");
    row.push_back({digits(time.value), "", ""});
    row.push_back({fmt::format("{} to {}", digits(time.low), digits(time.high)), "", ""});
    row.push_back(ratio_cell(verdict_of(*one), ratio_of(*one)));
    row.push_back({digits(one->gbs), "", ""});
    row.push_back({digits(one->gops), "", ""});
    row.push_back({percent(one->share), warning.empty() ? "" : "failed", ""});
    row.push_back({one->limit + (warning.empty() ? "" : " (" + warning + ")"), "", ""});
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

Table bench_table(const Result& result, const std::string& recipe) {
  const std::vector<Group> groups = groups_of(result, recipe);
  std::vector<const BenchRow*> rows;
  for (const Group& group : groups) rows.insert(rows.end(), group.rows.begin(), group.rows.end());
  return bench_rows(rows, groups.size() > 1);
}

Table bench_table(const Group& group) { return bench_rows(group.rows, false); }

Table stages_table(const Result& result) {
  Table table{{{"Stage"},
               {"Median µs", true},
               {"95 % interval", true},
               {"Against the first", true},
               {"Step"},
               {"Largest error", true},
               {"Off the full sum", true}},
              {}};
  for (const Stage& stage : stages_of(result)) {
    if (!stage.skipped.empty()) {
      table.rows.push_back({{stage.name, "", ""},
                            {"-", "", ""},
                            {"-", "", ""},
                            {"-", "", ""},
                            {"skipped: " + stage.skipped, "skipped", ""},
                            {"-", "", ""},
                            {"-", "", ""}});
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
  std::string last;
  Blocks ours;  // the first of a case
  for (const PeerRow& row : rows) {
    const std::string who = row.who + (row.version.empty() ? "" : " " + row.version);
    const bool first = row.which != last;
    last = row.which;
    std::vector<Cell> cells{{first ? last : "", "", ""}, {who, "", ""}};
    const auto add = [&](const std::string& text, const char* mark = "") {
      cells.push_back({text, mark, ""});
    };
    if (row.skipped) {
      add("-");
      add("-");
      add("left out: " + *row.skipped, "skipped");
      if (psnr) add("-");
      add("-");
    } else {
      Blocks samples{row.seconds};
      for (double& one : samples.front()) one *= 1e6;
      if (first) ours = samples;
      const Ratio time = interval(samples);
      add(digits(time.value));
      add(fmt::format("{} to {}", digits(time.low), digits(time.high)));
      add(first ? "1" : to_string(bootstrap_ratio(samples, ours)));
      if (psnr) add(!std::isnan(row.psnr) ? fmt::format("{:.1f}", row.psnr) : "exact");
      add(row.max_error == 0 && !psnr ? "exact" : fmt::format("{:.2g}", row.max_error));
    }
    table.rows.push_back(std::move(cells));
  }
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

Cell finding_cell(const IsaVerdict& verdict) {
  const std::string& finding = verdict.finding;
  if (finding == "pays") return {"pays", "faster", ""};
  if (finding == "costs") return {"costs", "slower", ""};
  if (finding == "same") return {"compiler does it", "tie", ""};
  if (finding == "mixed") return {"mixed", "tie", ""};
  if (finding == "shape_only") return {"shape only", "", ""};
  return {"no verdict", "skipped", ""};
}

// The figures of a kernel that compiled, -1 where one is not known.
struct IsaFigure {
  const char* title;
  long (*of)(const IsaRow&);
};
template <isa::Kind kind>
long count(const IsaRow& row) {
  return static_cast<long>(row.counts.of(kind));
}
constexpr IsaFigure kFigures[] = {
    {"Instructions", [](const IsaRow& row) { return static_cast<long>(row.counts.total); }},
    {"Vector ALU", count<isa::Kind::vector_alu>},
    {"Scalar ALU", count<isa::Kind::scalar_alu>},
    {"Branches", count<isa::Kind::branch>},
    {"Vector memory", count<isa::Kind::vector_memory>},
    {"Scalar memory", count<isa::Kind::scalar_memory>},
    {"Local memory", count<isa::Kind::local_memory>},
    {"Waits", count<isa::Kind::wait>},
    {"Registers", [](const IsaRow& row) { return row.resources.registers; }},
    {"Scalar registers", [](const IsaRow& row) { return row.resources.scalar_registers; }},
    {"Spills", [](const IsaRow& row) { return row.resources.spills; }},
    {"Code bytes", [](const IsaRow& row) { return row.resources.bytes; }},
    {"Occupancy", [](const IsaRow& row) { return row.resources.occupancy; }}};

}  // namespace

Table isa_table(const Result& result, const std::string& recipe, const std::string& target) {
  Table table;
  if (target.empty()) table.columns.push_back({"Target"});
  table.columns.push_back({"Kernel of"});
  table.columns.push_back({"Verdict"});
  for (const IsaFigure& figure : kFigures) table.columns.push_back({figure.title, true});
  for (const std::string& machine : targets_of(result, recipe)) {
    if (!target.empty() && machine != target) continue;
    std::string previous;
    for (const IsaRow& one : result.isa.kernels) {
      if (one.recipe != recipe || one.target != machine) continue;
      std::vector<Cell> row;
      if (target.empty()) row.push_back({machine, "", ""});
      row.push_back({one.tuned() + (one.label.empty() ? "" : " (" + one.label + ")"), "", ""});
      Cell verdict{one.tuned() == previous ? "as above" : "baseline", "", ""};
      if (!one.problem.empty()) {
        verdict = {"does not compile: " + one.problem, "failed", ""};
      } else if (one.tuned() != previous) {
        for (const IsaVerdict& said : result.isa.verdicts) {
          if (said.recipe == recipe && said.target == machine && said.tuned() == one.tuned())
            verdict = {said.text, finding_cell(said).mark, ""};
        }
      }
      previous = one.tuned();
      row.push_back(verdict);
      for (const IsaFigure& figure : kFigures) {
        const long value = one.problem.empty() ? figure.of(one) : -1;
        row.push_back({value < 0 ? "-" : std::to_string(value), "", ""});
      }
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

Table findings_table(const Result& result, const std::string& recipe) {
  Table table{{{"Variant"}}, {}};
  const std::vector<std::string> targets = targets_of(result, recipe);
  for (const std::string& target : targets) table.columns.push_back({target});
  std::vector<std::string> names;
  for (const IsaVerdict& said : result.isa.verdicts) {
    if (said.recipe != recipe || std::find(names.begin(), names.end(), said.tuned()) != names.end())
      continue;
    names.push_back(said.tuned());
    std::vector<Cell> row{{names.back(), "", ""}};
    for (const std::string& target : targets) {
      row.push_back({"-", "", ""});
      for (const IsaVerdict& one : result.isa.verdicts) {
        if (one.recipe == recipe && one.target == target && one.tuned() == names.back())
          row.back() = finding_cell(one);
      }
    }
    table.rows.push_back(std::move(row));
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
