// The page of `./cook demo`: what pays on this device, the pictures, other devices.
#include <fmt/format.h>

#include <algorithm>
#include <clcook/core/source.hpp>

#include "report/report.hpp"
#include "report/style.hpp"

namespace clcook::tool::report {

namespace {

// A recipe as it was measured here.
struct Measured {
  std::string recipe;
  Group group;
  const BenchRow* baseline = nullptr;
  const BenchRow* best = nullptr;

  double gain() const { return best == nullptr ? 0 : ratio_of(*best).value; }
};

// The largest gain first.
std::vector<Measured> measured_of(const Result& result) {
  std::vector<Measured> out;
  for (const BenchRow& row : result.bench.rows) {
    if (std::any_of(out.begin(), out.end(),
                    [&](const Measured& one) { return one.recipe == row.recipe; }))
      continue;
    Measured one;
    one.recipe = row.recipe;
    one.group = groups_of(result, row.recipe).front();
    for (const BenchRow* candidate : one.group.rows) {
      if (candidate->baseline && candidate->measured()) one.baseline = candidate;
    }
    one.best = best_of(row.recipe, one.group.rows);
    out.push_back(std::move(one));
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Measured& a, const Measured& b) { return a.gain() > b.gain(); });
  return out;
}

std::string time_text(double microseconds) {
  return microseconds < 1000 ? digits(microseconds) + " µs" : digits(microseconds / 1000) + " ms";
}

// "41 % of copy", "in the cache" where the small problem is faster than the memory.
std::string share_text(const BenchRow& row) {
  if (std::isnan(row.share)) return "-";
  if (row.share > 1.05) return "in the cache";
  return fmt::format("{:.{}f} % of {}", 100 * row.share, row.share < 0.095 ? 1 : 0, row.limit);
}

Table pays_table(const std::vector<Measured>& all, const std::vector<std::string>& examples) {
  Table table{
      {{"Recipe"}, {"Gain"}, {"Best variant"}, {"Of its ceiling", true}, {"Baseline"}, {"Problem"}},
      {}};
  for (const Measured& one : all) {
    const auto with_time = [](const BenchRow* row) {
      return Cell{row == nullptr ? "-" : row->variant + ", " + time_text(row->median_us), "", ""};
    };
    const bool shown = std::find(examples.begin(), examples.end(), one.recipe) != examples.end();
    std::vector<Cell> row{{one.recipe, "", shown ? "#" + one.recipe : ""}};
    if (one.best == nullptr) {
      row.push_back({"nothing to compare", "skipped", ""});
      for (int i = 0; i < 2; ++i) row.push_back({"-", "", ""});
    } else {
      row.push_back(ratio_cell(verdict_of(*one.best), ratio_of(*one.best)));
      row.push_back(with_time(one.best));
      row.push_back({share_text(*one.best), "", ""});
    }
    row.push_back(with_time(one.baseline));
    row.push_back({one.group.shape, "", ""});
    table.rows.push_back(std::move(row));
  }
  return table;
}

// The variants that are slower than their baseline, a tie or wrong, recipe by recipe.
std::string does_not_pay(const std::vector<Measured>& all) {
  std::string out;
  for (const Measured& one : all) {
    std::string items;
    for (const BenchRow* row : one.group.rows) {
      const Verdict verdict = verdict_of(*row);
      const bool wrong = row->status == "failed";
      if (!wrong && verdict != Verdict::tie && verdict != Verdict::slower) continue;
      items += fmt::format(
          "{}{} <span class=\"{}\">{}</span>", items.empty() ? "" : "; ", escape(row->variant),
          wrong ? "failed" : "",
          escape(wrong ? "wrong: " + row->reason
                       : std::string(to_string(verdict)) + " " + to_string(ratio_of(*row))));
    }
    if (!items.empty())
      out += fmt::format("<li><strong>{}</strong>: {}</li>\n", escape(one.recipe), items);
  }
  return out.empty() ? "<p>Every variant that was measured is faster than its baseline.</p>\n"
                     : "<ul>\n" + out + "</ul>\n";
}

// What was run before its time was taken: variants right, wrong and left out, with the reasons.
std::string checks_text(const Result& result) {
  std::size_t right = 0;
  std::size_t wrong = 0;
  std::vector<std::pair<std::string, std::string>> reasons;  // reason, variants
  for (const BenchRow& row : result.bench.rows) {
    if (row.measured()) ++right;
    if (row.status == "failed") ++wrong;
    if (row.measured()) continue;
    const std::string name = row.recipe + "/" + row.variant;
    const std::string reason = row.status + ": " + row.reason;
    auto found = std::find_if(reasons.begin(), reasons.end(),
                              [&](const auto& one) { return one.first == reason; });
    if (found == reasons.end()) found = reasons.insert(reasons.end(), {reason, ""});
    found->second += (found->second.empty() ? "" : ", ") + name;
  }
  std::string out = fmt::format(
      "<p>Before it was timed, every variant was compared with the scalar reference, guard bands "
      "around its buffers included: {} right, <span class=\"{}\">{} wrong</span>.</p>\n",
      right, wrong > 0 ? "failed" : "", wrong);
  if (reasons.empty()) return out;
  out += "<details><summary>Variants that were not timed</summary>\n<ul>\n";
  for (const auto& [reason, names] : reasons)
    out += fmt::format("<li><strong>{}</strong>: {}</li>\n", escape(names), escape(reason));
  return out + "</ul>\n</details>\n";
}

// What an example printed, its command in the first line, with the pictures that this line names.
std::string example_html(const std::filesystem::path& folder, const std::string& name) {
  const std::string text = read_text_file((folder / (name + ".txt")).string());
  const std::string command = text.substr(0, text.find('\n'));
  std::string pictures;
  for (std::size_t begin = 0; begin < command.size();) {
    const std::size_t end = std::min(command.find(' ', begin), command.size());
    const std::filesystem::path word = command.substr(begin, end - begin);
    begin = end + 1;
    const std::string file = word.filename().string();
    if (word.extension() != ".png" || !std::filesystem::is_regular_file(folder / file)) continue;
    pictures += fmt::format(
        "<figure><a href=\"{0}\"><img src=\"{0}\" alt=\"{0}\" loading=\"lazy\"/></a>"
        "<figcaption>{0}</figcaption></figure>\n",
        escape(file));
  }
  std::string out =
      fmt::format("<section class=\"card\" id=\"{0}\">\n<h3>{0}</h3>\n", escape(name));
  for (const Recipe& recipe : recipes()) {
    if (recipe.name == name)
      out += fmt::format("<p><strong>{}.</strong> {}</p>\n", escape(recipe.title),
                         escape(recipe.summary));
  }
  if (!pictures.empty()) out += "<div class=\"pictures\">\n" + pictures + "</div>\n";
  return out + fmt::format("<pre tabindex=\"0\">{}</pre>\n</section>\n", escape(text));
}

}  // namespace

std::string demo_page(const std::filesystem::path& folder, const std::vector<Result>& others) {
  const auto load_here = [&](const char* name) {
    const std::string path = (folder / name).string();
    return std::filesystem::exists(path) ? load({path}) : std::vector<Result>();
  };
  const std::vector<Result> bench = load_here("bench.json");
  const std::vector<Result> check = load_here("check.json");
  for (const Result* one :
       {bench.empty() ? nullptr : &bench[0], check.empty() ? nullptr : &check[0]}) {
    if (one != nullptr && one->kind != one->stem)
      fail(Errc::io, "result file " + one->path,
           fmt::format("holds a result of kind '{}', expected '{}'", one->kind, one->stem));
  }

  std::vector<std::string> examples;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().stem().string();
    const bool known = std::any_of(recipes().begin(), recipes().end(),
                                   [&](const Recipe& one) { return one.name == name; });
    if (known && entry.path().extension() == ".txt") examples.push_back(name);
  }
  std::sort(examples.begin(), examples.end());
  if (bench.empty() && examples.empty())
    fail(Errc::invalid_argument, "report",
         "there is neither a bench.json nor what an example printed in " + folder.string() +
             "; ./cook demo leaves them there");

  std::string out = page_head("clcook demo");
  out += "<h1>clcook on this machine</h1>\n";
  out += "<h2>What pays on your device</h2>\n";
  if (bench.empty()) {
    out +=
        "<p>Not measured yet: run <code>./cook demo</code> again, it goes on where it was.</p>\n";
  } else {
    const Result& here = bench[0];
    const std::optional<Quick>& quick = here.bench.quick;
    const std::vector<Measured> all = measured_of(here);
    out += fmt::format("<p><strong>{}</strong></p>\n", escape(here.device));
    out +=
        "<p>The fastest variant of each recipe against the recipe's own starting point. A gain "
        "above "
        "1 is faster; it is a tie where its 95 % interval contains 1.";
    if (quick)
      out += fmt::format(
          " This was a short look: one small problem per recipe, {} runs of each variant in {} "
          "blocks, all variants in turn, at most about {} s of processor time per recipe. On large "
          "problems gains "
          "differ: <code>clcook bench RECIPE</code>.",
          quick->samples, quick->blocks, quick->seconds);
    out += "</p>\n" + to_html(pays_table(all, examples));
    out += "<div class=\"negative\">\n<h3>What does not pay here</h3>\n" + does_not_pay(all) +
           "</div>\n";
  }
  if (!examples.empty()) out += "<h2>Pictures, and what was printed</h2>\n";
  for (const std::string& name : examples) out += example_html(folder, name);

  if (!others.empty()) {
    out +=
        "<h2>Other devices</h2>\n<p>From the results in <code>bench/results</code>, at large "
        "problems.";
    if (std::filesystem::exists(folder / "report.html"))
      out +=
          " <a href=\"report.html\">The evidence cards</a> have everything: right, better "
          "shape, faster.";
    out += "</p>\n" + to_html(gains_table(others, {}));
  }
  out += "<h2>Checks, and the device</h2>\n";
  if (!bench.empty()) out += checks_text(bench[0]);
  for (const Result& one : check) out += to_html(check_table(one, ""));
  if (!bench.empty()) {
    out += to_html(ceilings_table(bench[0]));
    out += fmt::format("<p class=\"note\">{}, {} compute units, {}. Measured {}, commit {}.</p>\n",
                       escape(bench[0].device), bench[0].about.compute_units.value_or(0),
                       escape(bench[0].about.version.value_or("")), escape(bench[0].date),
                       escape(bench[0].commit));
  }
  return out + "</body>\n</html>\n";
}

}  // namespace clcook::tool::report
