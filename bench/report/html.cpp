// The page: one evidence card per recipe, its proofs apart, devices apart.
#include <fmt/format.h>

#include <algorithm>

#include "report/report.hpp"
#include "report/style.hpp"

namespace clcook::tool::report {

std::string escape(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        // Other control characters may stand in no document.
        if (static_cast<unsigned char>(c) >= ' ' || c == '\n' || c == '\t') out += c;
    }
  }
  return out;
}

namespace {

// Results of one kind and device, the newest first.
std::vector<const Result*> select(const std::vector<Result>& results, const std::string& kind,
                                  const std::string& device) {
  std::vector<const Result*> out;
  for (const Result& one : results) {
    if (one.kind == kind && one.device == device) out.push_back(&one);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Result* a, const Result* b) { return a->date > b->date; });
  return out;
}

std::string source_of(const Result& result) {
  return fmt::format("<p class=\"note\">From {}.json, {}{}.</p>\n", escape(result.stem),
                     escape(result.date.substr(0, 10)),
                     result.commit.empty() ? "" : ", commit " + escape(result.commit));
}

std::string where_of(const Group& group) { return group.shape + ", caches " + group.mode; }

// One device's part of "Does not pay here": what is wrong, slower or a tie, shape by shape.
std::string negatives(const std::vector<Result>& results, const std::string& recipe,
                      const std::string& device) {
  std::string out;
  std::string items;
  const auto add = [&](const std::string& name, const std::string& what, const char* mark = "") {
    items += fmt::format("<li><strong>{}</strong>: <span class=\"{}\">{}</span></li>\n",
                         escape(name), mark, escape(what));
  };
  const auto close = [&](const std::string& where) {
    if (!items.empty()) out += fmt::format("<p>{}</p>\n<ul>\n{}</ul>\n", escape(where), items);
    items.clear();
  };
  const auto pays = [](Verdict verdict) {
    return verdict != Verdict::slower && verdict != Verdict::tie;
  };
  for (const Result* result : select(results, "check", device)) {
    for (const CheckTotalRow& one : totals_of(*result, recipe)) {
      if (one.failed > 0)
        add(one.variant, fmt::format("{} of {} runs are wrong", one.failed, one.runs), "failed");
    }
    close("Checked with " + result->stem);
  }
  for (const Result* result : select(results, "bench", device)) {
    for (const Group& group : groups_of(*result, recipe)) {
      for (const BenchRow* row : group.rows) {
        const Verdict verdict = verdict_of(*row);
        if (row->status == "failed") add(row->label(), "wrong result, not timed", "failed");
        if (!pays(verdict))
          add(row->label(), std::string(to_string(verdict)) + " " + to_string(ratio_of(*row)));
      }
      close(where_of(group));
    }
  }
  for (const Result* result : select(results, "stages", device)) {
    if (result->stages.recipe != recipe) continue;
    for (const Stage& stage : stages_of(*result)) {
      if (!pays(stage.verdict))
        add(stage.name, fmt::format("{} {} after {}", to_string(stage.verdict),
                                    to_string(stage.step), stage.previous));
    }
    close("Step by step, " + to_text(result->stages.shape));
  }
  return out;
}

std::string negative_box(const std::vector<Result>& results, const std::string& recipe,
                         bool measured) {
  std::string inside;
  for (const std::string& device : devices_of(results, "")) {
    const std::string items = negatives(results, recipe, device);
    if (!items.empty()) inside += fmt::format("<h4>On {}</h4>\n{}", escape(device), items);
  }
  const bool none = inside.empty();
  if (none) {
    inside = measured ? "<p>Nothing in these results: every variant that was timed is faster than "
                        "its baseline.</p>\n"
                      : "<p>Unknown: there is no time measurement here.</p>\n";
  }
  return fmt::format("<div class=\"negative{}\">\n<h3>Does not pay here</h3>\n{}</div>\n",
                     none ? " none" : "", inside);
}

std::string proof_right(const std::vector<Result>& results, const std::string& recipe) {
  std::string out;
  for (const std::string& device : devices_of(results, "check")) {
    for (const Result* result : select(results, "check", device)) {
      const std::vector<CheckTotalRow> totals = totals_of(*result, recipe);
      if (totals.empty()) continue;
      CheckTotalRow all;
      for (const CheckTotalRow& one : totals) {
        all.runs += one.runs;
        all.failed += one.failed;
        all.skipped += one.skipped;
        all.launches += one.launches;
        all.compared += one.compared;
      }
      out += fmt::format(
          "<h4>{}</h4>\n<p>{} runs, {} kernels ran, {} values compared with the scalar "
          "reference: {}; {}.</p>\n",
          escape(device), all.runs, all.launches, all.compared,
          all.failed > 0 ? fmt::format("<span class=\"failed\">{} wrong</span>", all.failed)
                         : "none wrong",
          all.skipped > 0 ? fmt::format("{} runs skipped", all.skipped) : "none skipped");
      out += to_html(check_table(*result, recipe)) + source_of(*result);
    }
  }
  return out.empty() ? "<p>No check result was given for this recipe.</p>\n" : out;
}

std::string proof_shape(const std::vector<Result>& results, const std::string& recipe) {
  std::string out;
  for (const Result& result : results) {
    if (targets_of(result, recipe).empty()) continue;
    for (const std::string& target : targets_of(result, recipe)) {
      std::string family;
      for (const IsaTarget& one : result.isa.targets) {
        if (one.name == target) family = one.family;
      }
      out += fmt::format("<details><summary>{}{}</summary>\n{}</details>\n", escape(target),
                         family.empty() ? "" : ", " + escape(family),
                         to_html(isa_table(result, recipe, target)));
    }
    out += source_of(result);
  }
  return out.empty() ? "<p>No offline compilation was given for this recipe.</p>\n" : out;
}

std::string figure(const std::string& plot, const std::string& caption) {
  return fmt::format("<figure>\n{}<figcaption>{}</figcaption>\n</figure>\n", plot, escape(caption));
}

// Rows for the plots: with several tunings the fastest of each variant, else all would not fit.
std::vector<const BenchRow*> plotted(const Group& group, bool& fewer) {
  std::vector<const BenchRow*> out;
  for (const BenchRow* row : group.rows) {
    if (!row->measured()) continue;
    auto same = std::find_if(out.begin(), out.end(),
                             [&](const BenchRow* one) { return one->variant == row->variant; });
    if (same == out.end()) {
      out.push_back(row);
      continue;
    }
    fewer = true;
    if ((*same)->median_us > row->median_us) *same = row;
  }
  return out;
}

std::string group_html(const Result& result, const std::string& recipe, const Group& group) {
  bool fewer = false;
  std::vector<Bar> bars;
  std::vector<Dot> dots;
  for (const BenchRow* row : plotted(group, fewer)) {
    Bar bar;
    bar.label = row->label();
    bar.value = time_of(*row);
    bar.copy = copy_us(*row);
    bar.verdict = verdict_of(*row);
    bar.note = digits(bar.value.value) + " µs";
    if (bar.verdict == Verdict::baseline) bar.note += ", baseline";
    if (bar.verdict == Verdict::tie) bar.note += ", tie";
    if (bar.verdict == Verdict::faster || bar.verdict == Verdict::slower)
      bar.note += fmt::format(", {}×", times(ratio_of(*row).value));
    const double intensity = row->operations / row->bytes;
    const double rate = row->gops;
    if (intensity > 0 && std::isfinite(intensity) && rate > 0)
      dots.push_back({bar.label, intensity, rate, bar.verdict});
    bars.push_back(std::move(bar));
  }
  std::string out;
  if (!bars.empty()) {
    out += "<div class=\"plots\">\n";
    const bool log = needs_log(bars);
    const bool copied =
        std::any_of(bars.begin(), bars.end(), [](const Bar& bar) { return bar.copy.has_value(); });
    out += figure(bar_plot(bars, "µs",
                           (log ? "Dots: " : "Bars: ") +
                               ("median time of each variant at " + where_of(group))),
                  fmt::format("Median time with its 95 % interval; {}. Grey is the baseline, blue "
                              "faster, gold a tie, red "
                              "slower.{}{}",
                              log ? "the further left, the faster; the axis is logarithmic"
                                  : "shorter is faster",
                              copied ? " Dashed: a copy of the same bytes." : "",
                              fewer ? " Only the fastest tuning of each variant." : ""));
    const Ceilings& ceilings = result.bench.ceilings;
    const double copy = ceilings.copy_gbs;
    const double fma = ceilings.fma_gops;
    if (!dots.empty() && copy > 0 && fma > 0) {
      const double cached = ceilings.cached_copy_gbs;
      out += figure(
          roofline_plot(dots, ceilings, "Roofline of the variants at " + where_of(group)),
          fmt::format(
              "Roofline of measured ceilings: copy {} GB/s{}, FMA {} Gop/s. Operations and "
              "bytes are the least that the method needs.",
              digits(copy),
              cached > copy ? fmt::format(" (dashed: {} within the cache)", digits(cached)) : "",
              digits(fma)));
    }
    out += "</div>\n";
    if (dots.empty())
      out +=
          "<p class=\"note\">No roofline: this recipe counts no operations; its share of the "
          "copy ceiling is in the table.</p>\n";
  }
  return out + to_html(bench_table(result, recipe, group));
}

std::string curves_html(const Result& result, const std::string& recipe) {
  std::string out;
  for (const Figure& figure : figures_of(result, recipe)) {
    const std::string svg = figure_svg(figure);
    if (svg.empty()) continue;
    out += fmt::format("<h4>Divergence{}</h4>\n",
                       figure.title.empty() ? "" : ", " + escape(figure.title));
    out +=
        "<div class=\"plots\"><figure>\n" + svg +
        "<figcaption>Coloured with dots: the baseline, measured; dashed: predicted by the model. "
        "Grey: the other variants, measured. Large dots: break-even.</figcaption>"
        "</figure></div>\n<details><summary>The figures</summary>\n";
    for (const Curve* curve : figure.curves) {
      const std::string shape = to_text(curve->shape);
      if (!shape.empty()) out += "<p class=\"note\">" + escape(shape) + "</p>\n";
      out += to_html(curve_table(*curve));
    }
    out += "</details>\n";
  }
  return out.empty() ? out : out + source_of(result);
}

std::string proof_time(const std::vector<Result>& results, const std::string& recipe) {
  std::string out;
  for (const std::string& device : devices_of(results, "")) {
    std::string part;
    for (const Result* result : select(results, "bench", device)) {
      const std::vector<Group> groups = groups_of(*result, recipe);
      if (groups.empty()) continue;
      // The first shape is the headline; the others are a click away.
      for (std::size_t i = 0; i < groups.size(); ++i) {
        const std::string inside = group_html(*result, recipe, groups[i]);
        part += i == 0 ? fmt::format("<p>{}</p>\n{}", escape(where_of(groups[i])), inside)
                       : fmt::format("<details><summary>{}</summary>\n{}</details>\n",
                                     escape(where_of(groups[i])), inside);
      }
      part += fmt::format("<details><summary>Measured ceilings</summary>\n{}</details>\n",
                          to_html(ceilings_table(*result)));
      part += source_of(*result);
    }
    for (const Result* result : select(results, "stages", device)) {
      if (result->stages.recipe != recipe) continue;
      part += fmt::format("<p>Step by step, {}</p>\n", escape(to_text(result->stages.shape)));
      part += to_html(stages_table(*result)) + source_of(*result);
    }
    for (const Result* result : select(results, "peers", device)) {
      if (result->peers.recipe != recipe) continue;
      part += fmt::format("<details><summary>Beside other libraries</summary>\n{}{}</details>\n",
                          to_html(peers_table(*result)), source_of(*result));
    }
    for (const Result* result : select(results, "explore", device))
      part += curves_html(*result, recipe);
    if (!part.empty()) out += fmt::format("<h4>{}</h4>\n{}", escape(device), part);
  }
  return out.empty() ? "<p>Not measured on any device yet.</p>\n" : out;
}

// The recipes that the results speak of, in the registry's order, then those it does not know.
std::vector<std::string> mentioned(const std::vector<Result>& results,
                                   const std::vector<Pictures>& pictures) {
  std::vector<std::string> found;
  const auto add = [&](const std::string& name) {
    if (std::find(found.begin(), found.end(), name) == found.end()) found.push_back(name);
  };
  for (const Result& result : results) {
    if (result.kind == "stages") add(result.stages.recipe);
    for (const BenchRow& row : result.bench.rows) add(row.recipe);
    for (const CheckTotalRow& row : totals_of(result, "")) add(row.recipe);
    for (const CountersRow& row : result.counters.rows) add(row.recipe);
    for (const IsaRow& row : result.isa.kernels) add(row.recipe);
    for (const Curve& curve : result.explore.curves) add(curve.recipe);
  }
  for (const Pictures& one : pictures) add(one.recipe);
  const auto place = [](const std::string& name) {
    std::size_t at = 0;
    while (at < recipes().size() && recipes()[at].name != name) ++at;
    return at;
  };
  std::stable_sort(found.begin(), found.end(),
                   [&](const std::string& a, const std::string& b) { return place(a) < place(b); });
  return found;
}

std::string card(const std::vector<Result>& results, const std::vector<Pictures>& pictures,
                 const std::string& name) {
  std::string out =
      fmt::format("<section class=\"card\" id=\"{0}\">\n<h2>{0}</h2>\n", escape(name));
  for (const Recipe& recipe : recipes()) {
    if (recipe.name != name) continue;
    out += fmt::format("<p><strong>{}.</strong> {}</p>\n<p class=\"technique\">Technique: {}</p>\n",
                       escape(recipe.title), escape(recipe.summary), escape(recipe.family));
  }
  const bool measured = std::any_of(results.begin(), results.end(), [&](const Result& one) {
    return !groups_of(one, name).empty() || one.stages.recipe == name;
  });
  out += negative_box(results, name, measured);
  for (const Pictures& one : pictures) {
    if (one.recipe == name) out += pictures_html(one);
  }
  out += "<h3>Is it right?</h3>\n" + proof_right(results, name);
  out += "<h3>What does the compiler make of it?</h3>\n" + proof_shape(results, name);
  out += "<h3>Is it faster?</h3>\n" + proof_time(results, name);
  for (const Result& one : results) {
    const Table table = counters_table(one, name);
    if (!table.rows.empty())
      out +=
          "<h3>Why?</h3>\n<h4>" + escape(one.device) + "</h4>\n" + to_html(table) + source_of(one);
  }
  return out + "</section>\n";
}

// The first blur of a new process, device by device.
std::string startups(const std::vector<Result>& results) {
  std::string out;
  for (const Result& result : results) {
    if (result.kind != "startup") continue;
    out += fmt::format("<h4>{}</h4>\n<p>A blur of {}</p>\n", escape(result.device),
                       escape(to_text(result.startup.problem)));
    out += to_html(startup_table(result)) + source_of(result);
  }
  return out.empty() ? out : "<h3>The first blur of a new process</h3>\n" + out;
}

}  // namespace

std::string page_head(const std::string& title) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n",
      escape(title), kStyle);
}

std::string html_page(const std::vector<Result>& results, const std::vector<Pictures>& pictures) {
  std::string out = page_head("clcook report") + "<h1>clcook report</h1>\n";
  out +=
      "<p>Up to four proofs for each recipe, never mixed up:</p>\n<ul class=\"proofs\">\n"
      "<li><strong>It is right</strong>: every variant against a scalar reference, on a "
      "device.</li>\n"
      "<li><strong>The machine code</strong>: what the compilers make of each kernel, in counts, "
      "which are no times.</li>\n"
      "<li><strong>It is faster</strong>: event times on a device, interleaved with the baseline. "
      "A "
      "ratio above 1 is faster; it is a tie where its 95 % interval contains 1.</li>\n"
      "<li><strong>Why</strong>: what the hardware counted while it ran, where that is "
      "known.</li>\n</ul>\n";
  // Here the names lead to the cards, which say what a recipe does; without results there is none.
  const std::vector<std::string> names = mentioned(results, pictures);
  out += "<h3>What pays</h3>\n" + to_html(gains_table(results, names));
  for (const std::string& name : names) out += card(results, pictures, name);
  out += startups(results);
  out += "<h3>The results shown here</h3>\n" + to_html(results_table(results));
  return out + "</body>\n</html>\n";
}

}  // namespace clcook::tool::report
