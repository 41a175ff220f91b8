// The tables of the report, for the page and for the markdown documents.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "report.hpp"

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

Table recipes_table(const std::vector<Result>& results, const std::string& prefix,
                    const std::string& suffix) {
  Table table{{{"Recipe"}, {"Technique"}, {"What it does"}}, {}};
  const std::vector<std::string> devices = devices_of(results, "bench");
  for (const std::string& device : devices)
    table.columns.push_back({"Gain on " + short_device(results, device)});
  if (devices.empty()) table.columns.push_back({"Gain"});

  std::vector<std::string> names;
  for (const Recipe& recipe : recipes()) names.push_back(recipe.name);
  for (const Result& result : results) {
    if (result.kind != "bench") continue;
    for (const Json& row : result.json["rows"]) {
      const std::string name = word(row, "recipe");
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  for (const std::string& name : names) {
    const Recipe* recipe = nullptr;
    for (const Recipe& one : recipes()) {
      if (one.name == name) recipe = &one;
    }
    std::vector<Cell> row{{name, "", prefix + name + suffix},
                          {recipe == nullptr ? "-" : recipe->technique, "", ""},
                          {recipe == nullptr ? "-" : recipe->title, "", ""}};
    for (const std::string& device : devices) {
      // The newest result of this device that has the recipe; there the headline: the first shape.
      const Result* newest = nullptr;
      for (const Result& result : results) {
        if (result.kind != "bench" || result.device != device || groups_of(result, name).empty())
          continue;
        if (newest == nullptr || word(result.json, "date") > word(newest->json, "date"))
          newest = &result;
      }
      const Json* best =
          newest == nullptr ? nullptr : best_of(name, groups_of(*newest, name).front().rows);
      if (best == nullptr) {
        row.push_back({newest == nullptr ? "not measured" : "nothing to compare", "skipped", ""});
        continue;
      }
      Cell cell = ratio_cell(verdict_of(*best), ratio_of(*best));
      if (cell.mark == "slower") cell.text = "does not pay, " + cell.text;
      cell.text += " (" + word(*best, "variant") + ")";
      row.push_back(cell);
    }
    if (devices.empty()) row.push_back({"not measured", "skipped", ""});
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
                          {word(one.json, "date").substr(0, 10), "", ""},
                          {word(one.json, "commit"), "", ""}});
  }
  return table;
}

Table ceilings_table(const Result& bench) {
  const Json& ceilings = bench.json["ceilings"];
  const auto row = [&](const char* name, const char* key, const char* unit) {
    return std::vector<Cell>{{name, "", ""}, {digits(number(ceilings, key)) + unit, "", ""}};
  };
  return {{{"Ceiling, measured in the same run"}, {"Value", true}},
          {row("copy, several times the last-level cache", "copy_gbs", " GB/s"),
           row("copy within the cache", "cached_copy_gbs", " GB/s"),
           row("float fused multiply-add", "fma_gops", " Gop/s"),
           row("empty kernel", "launch_us", " µs")}};
}

Table check_table(const Result& check, const std::string& recipe) {
  struct Total {
    double runs = 0, passed = 0, failed = 0, skipped = 0, kernels = 0, compared = 0;
    double error = 0, bound = 0, share = 0;
    std::map<std::string, int> reasons;
  };
  std::vector<std::pair<std::string, Total>> totals;
  for (const Json& row : check.json["rows"]) {
    if (!recipe.empty() && row["recipe"] != recipe) continue;
    std::string name = word(row, "variant");
    if (recipe.empty()) name = word(row, "recipe") + "/" + name;
    auto found = std::find_if(totals.begin(), totals.end(),
                              [&](const auto& one) { return one.first == name; });
    if (found == totals.end()) found = totals.insert(totals.end(), {name, Total{}});
    Total& total = found->second;
    const std::string outcome = word(row, "outcome");
    ++total.runs;
    if (outcome == "passed") ++total.passed;
    if (outcome == "failed") ++total.failed;
    if (outcome == "skipped") {
      ++total.skipped;
      ++total.reasons[word(row, "reason")];
      continue;
    }
    const auto add = [](double& sum, double value) { sum += std::isnan(value) ? 0 : value; };
    if (row.contains("kernels")) total.kernels += static_cast<double>(row["kernels"].size());
    add(total.compared, number(row, "compared"));
    // JSON writes an infinite error, such as an unexpected NaN, as null.
    double error = number(row, "max_error");
    if (std::isnan(error)) error = HUGE_VAL;
    const double bound = number(row, "bound");
    if (error > total.error) total.error = error;
    if (bound > total.bound) total.bound = bound;
    if (bound > 0) total.share = std::max(total.share, error / bound);
  }
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
  for (const auto& [name, total] : totals) {
    std::string reasons;
    for (const auto& [reason, count] : total.reasons)
      reasons += fmt::format("{}{} ({} times)", reasons.empty() ? "" : "; ", reason, count);
    const bool none = total.passed + total.failed == 0;
    const auto whole = [](double value) { return fmt::format("{:.0f}", value); };
    table.rows.push_back(
        {{name, "", ""},
         {whole(total.runs), "", ""},
         {whole(total.passed), "", ""},
         {whole(total.failed), total.failed > 0 ? "failed" : "", ""},
         {whole(total.skipped), total.skipped > 0 ? "skipped" : "", ""},
         {whole(total.kernels), "", ""},
         {whole(total.compared), "", ""},
         {none               ? "-"
          : total.error == 0 ? "exact"
                             : fmt::format("{:.3g}", total.error),
          "", ""},
         {none               ? "-"
          : total.bound == 0 ? "exact"
                             : fmt::format("{:.3g}", total.bound),
          "", ""},
         {total.bound == 0 || std::isinf(total.share) ? "-"
                                                      : fmt::format("{:.1f} %", 100 * total.share),
          total.share > 1 ? "failed" : "", ""},
         {reasons, "", ""}});
  }
  return table;
}

namespace {

Table bench_rows(const std::vector<const Json*>& rows, bool with_shape) {
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
  for (const Json* one : rows) {
    const std::string tune = params(*one, "tune");
    std::vector<Cell> row{{word(*one, "variant") + (tune.empty() ? "" : " " + tune), "", ""}};
    if (with_shape) {
      row.push_back({params(*one, "shape"), "", ""});
      row.push_back({word(*one, "mode"), "", ""});
    }
    const std::string status = word(*one, "status");
    if (status != "measured") {
      row.push_back({"-", "", ""});
      row.push_back({"-", "", ""});
      row.push_back(
          {status + ": " + word(*one, "reason"), status == "failed" ? status : "skipped", ""});
      for (int i = 0; i < 4; ++i) row.push_back({"-", "", ""});
      table.rows.push_back(std::move(row));
      continue;
    }
    const Ratio time = time_of(*one);
    const std::string warning = word(*one, "flag");
    row.push_back({digits(time.value), "", ""});
    row.push_back({fmt::format("{} to {}", digits(time.low), digits(time.high)), "", ""});
    row.push_back(ratio_cell(verdict_of(*one), ratio_of(*one)));
    row.push_back({digits(number(*one, "gbs")), "", ""});
    row.push_back({digits(number(*one, "gops")), "", ""});
    row.push_back({percent(number(*one, "share")), warning.empty() ? "" : "failed", ""});
    row.push_back({word(*one, "limit") + (warning.empty() ? "" : " (" + warning + ")"), "", ""});
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

Table bench_table(const Result& bench, const std::string& recipe) {
  const std::vector<Group> groups = groups_of(bench, recipe);
  std::vector<const Json*> rows;
  for (const Group& group : groups) rows.insert(rows.end(), group.rows.begin(), group.rows.end());
  return bench_rows(rows, groups.size() > 1);
}

Table bench_table(const Group& group) { return bench_rows(group.rows, false); }

Table stages_table(const Result& stages) {
  Table table{{{"Stage"},
               {"Median µs", true},
               {"95 % interval", true},
               {"Against the first", true},
               {"Step"},
               {"Largest error", true},
               {"Off the full sum", true}},
              {}};
  for (const Stage& stage : stages_of(stages)) {
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

Table peers_table(const Result& peers) {
  Table table{{{"Case"},
               {"Who"},
               {"Median µs", true},
               {"95 % interval", true},
               {"Time against clcook", true},
               {"PSNR, dB", true},
               {"Largest error", true}},
              {}};
  std::string last;
  Blocks ours;  // the first of a case
  for (const Json& row : peers.json["rows"]) {
    const std::string version = word(row, "version");
    const std::string who = word(row, "who") + (version.empty() ? "" : " " + version);
    const bool first = word(row, "case") != last;
    last = word(row, "case");
    if (row.contains("skipped")) {
      table.rows.push_back({{first ? last : "", "", ""},
                            {who, "", ""},
                            {"-", "", ""},
                            {"-", "", ""},
                            {"left out: " + word(row, "skipped"), "skipped", ""},
                            {"-", "", ""},
                            {"-", "", ""}});
      continue;
    }
    Blocks samples{row["seconds"].get<std::vector<double>>()};
    for (double& one : samples.front()) one *= 1e6;
    if (first) ours = samples;
    const Ratio time = interval(samples);
    const Ratio ratio = bootstrap_ratio(samples, ours);
    table.rows.push_back(
        {{first ? last : "", "", ""},
         {who, "", ""},
         {digits(time.value), "", ""},
         {fmt::format("{} to {}", digits(time.low), digits(time.high)), "", ""},
         {first ? "1" : to_string(ratio), "", ""},
         {row["psnr"].is_null() ? "exact" : fmt::format("{:.1f}", number(row, "psnr")), "", ""},
         {fmt::format("{:.2g}", number(row, "max_error")), "", ""}});
  }
  return table;
}

std::vector<std::string> targets_of(const Result& isa, const std::string& recipe) {
  std::vector<std::string> targets;
  for (const Json& one : isa.json["kernels"]) {
    const std::string target = word(one, "target");
    if (one["recipe"] == recipe &&
        std::find(targets.begin(), targets.end(), target) == targets.end())
      targets.push_back(target);
  }
  return targets;
}

namespace {

// "naive group=64"
std::string tuned(const Json& row) {
  const std::string tune = word(row, "tune");
  return word(row, "variant") + (tune.empty() ? "" : " " + tune);
}

Cell finding_cell(const Json& verdict) {
  const std::string finding = word(verdict, "finding");
  if (finding == "pays") return {"pays", "faster", ""};
  if (finding == "costs") return {"costs", "slower", ""};
  if (finding == "same") return {"compiler does it", "tie", ""};
  if (finding == "mixed") return {"mixed", "tie", ""};
  if (finding == "shape_only") return {"shape only", "", ""};
  return {"no verdict", "skipped", ""};
}

}  // namespace

Table isa_table(const Result& isa, const std::string& recipe, const std::string& target) {
  // Member, key, title.
  static constexpr std::array<std::array<const char*, 3>, 13> kFigures{
      {{"counts", "instructions", "Instructions"},
       {"counts", "vector_alu", "Vector ALU"},
       {"counts", "scalar_alu", "Scalar ALU"},
       {"counts", "branch", "Branches"},
       {"counts", "vector_memory", "Vector memory"},
       {"counts", "scalar_memory", "Scalar memory"},
       {"counts", "local_memory", "Local memory"},
       {"counts", "wait", "Waits"},
       {"resources", "registers", "Registers"},
       {"resources", "scalar_registers", "Scalar registers"},
       {"resources", "spills", "Spills"},
       {"resources", "bytes", "Code bytes"},
       {"resources", "occupancy", "Occupancy"}}};
  Table table;
  if (target.empty()) table.columns.push_back({"Target"});
  table.columns.push_back({"Kernel of"});
  table.columns.push_back({"Verdict"});
  for (const auto& figure : kFigures) table.columns.push_back({figure[2], true});
  for (const std::string& machine : targets_of(isa, recipe)) {
    if (!target.empty() && machine != target) continue;
    std::string previous;
    for (const Json& one : isa.json["kernels"]) {
      if (one["recipe"] != recipe || one["target"] != machine) continue;
      std::vector<Cell> row;
      if (target.empty()) row.push_back({machine, "", ""});
      const std::string label = word(one, "label");
      row.push_back({tuned(one) + (label.empty() ? "" : " (" + label + ")"), "", ""});
      const std::string problem = word(one, "problem");
      Cell verdict{tuned(one) == previous ? "as above" : "baseline", "", ""};
      if (!problem.empty()) {
        verdict = {"does not compile: " + problem, "failed", ""};
      } else if (tuned(one) != previous) {
        for (const Json& said : isa.json["verdicts"]) {
          if (said["recipe"] == recipe && said["target"] == machine && tuned(said) == tuned(one))
            verdict = {word(said, "text"), finding_cell(said).mark, ""};
        }
      }
      previous = tuned(one);
      row.push_back(verdict);
      for (const auto& figure : kFigures) {
        const double value =
            one.contains(figure[0]) ? number(one[figure[0]], figure[1]) : std::nan("");
        row.push_back({std::isnan(value) ? "-" : fmt::format("{:.0f}", value), "", ""});
      }
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

Table findings_table(const Result& isa, const std::string& recipe) {
  Table table{{{"Variant"}}, {}};
  const std::vector<std::string> targets = targets_of(isa, recipe);
  for (const std::string& target : targets) table.columns.push_back({target});
  std::vector<std::string> names;
  for (const Json& said : isa.json["verdicts"]) {
    if (said["recipe"] != recipe ||
        std::find(names.begin(), names.end(), tuned(said)) != names.end())
      continue;
    names.push_back(tuned(said));
    std::vector<Cell> row{{names.back(), "", ""}};
    for (const std::string& target : targets) {
      row.push_back({"-", "", ""});
      for (const Json& one : isa.json["verdicts"]) {
        if (one["recipe"] == recipe && one["target"] == target && tuned(one) == names.back())
          row.back() = finding_cell(one);
      }
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table curve_table(const Json& curve) {
  Table table{{{word(curve, "axis"), true}}, {}};
  for (const Json& point : curve["points"]) table.rows.push_back({{point.dump(), "", ""}});
  const auto add = [&](const std::string& title, const Json& times) {
    if (!times.is_array()) return;
    table.columns.push_back({title, true});
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      const bool there = i < times.size() && times[i].is_number();
      table.rows[i].push_back({there ? digits(times[i].get<double>()) : "-", "", ""});
    }
  };
  for (const Json& one : curve["variants"]) {
    add(word(one, "variant") + ", measured µs", one["measured_us"]);
    if (!one.contains("predicted_us") || !one["predicted_us"].is_object()) continue;
    for (const auto& [model, times] : one["predicted_us"].items())
      add(fmt::format("{}, predicted for {}", word(one, "variant"), model), times);
  }
  return table;
}

}  // namespace clcook::tool::report
