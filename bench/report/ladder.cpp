// The ladder of a recipe's page: one variant a rung, and what limits it there.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "counters/show.hpp"
#include "measure/compare.hpp"
#include "report/report.hpp"

namespace clcook::tool::report {

namespace {

// From this share of what there is on, a counter limits a kernel.
constexpr double kLimiting = 0.6;

// The variants on the way from the baseline to those in `reached`, in the card's order.
std::vector<const VariantInfo*> rungs_of(const Recipe& recipe,
                                         const std::vector<const BenchRow*>& rows,
                                         std::vector<std::string> reached) {
  std::set<std::string> wanted;
  while (!reached.empty()) {
    const std::string name = reached.back();
    reached.pop_back();
    if (name.empty() || !wanted.insert(name).second) continue;
    for (const VariantInfo& one : recipe.variants) {
      if (one.name == name) reached.push_back(one.predecessor);
    }
  }
  std::vector<const VariantInfo*> out;
  for (const VariantInfo& one : recipe.variants) {
    if (wanted.count(one.name) != 0 && row_of(rows, one.name) != nullptr) out.push_back(&one);
  }
  return out;
}

// What the step to a variant gains: at equal tunes, or else with the tune that is named.
Cell rung_step(const Recipe& recipe, const Result& result, const Group& group,
               const VariantInfo& variant) {
  if (variant.predecessor.empty()) return {"baseline", "", ""};
  Pair pair = pair_of(recipe, result.about, group, variant.name, variant.predecessor);
  std::string tune;
  if (pair.with == nullptr) {
    const std::vector<const BenchRow*> rows = fastest_rows(group);
    pair.with = row_of(rows, variant.name);
    pair.without = row_of(rows, variant.predecessor);
    if (pair.with == nullptr || pair.without == nullptr) return {"-", "", ""};
    pair.ratio = tool::ratio_of(*pair.without, *pair.with);
    tune = to_text(pair.with->tune);
    tune = tune.empty() ? " with its own tune" : " with " + tune;
  }
  const std::string figure = times(pair.ratio.value);
  if (pair.ratio.tie() || figure == "1.00") return {"tie" + tune, "tie", ""};
  return {figure + "×" + tune, pair.ratio.value >= kBold ? "strong" : "", ""};
}

// ---- What the counters say ----

// Whether two shapes differ at most in words, such as the kind of data: all sizes are equal. What
// differs goes into `other`.
bool of_one_size(const Params& shape, const Params& counted, std::string& other) {
  if (shape.entries().size() != counted.entries().size()) return false;
  for (const Params::Entry& entry : counted.entries()) {
    const Value* value = shape.find(entry.name);
    if (value == nullptr) return false;
    if (*value == entry.value) continue;
    if (!std::holds_alternative<std::string>(entry.value)) return false;
    other += (other.empty() ? "" : " ") + entry.name + "=" + std::get<std::string>(entry.value);
  }
  return true;
}

// What its warps wait for most, if that is a large part of their waiting.
std::string wait_of(const CountersRow& row) {
  struct Reason {
    const char* words;
    std::vector<const char*> keys;
  };
  static const std::vector<Reason> kReasons{
      {"global memory", {"stall_global", "stall_global_queue"}},
      {"local memory or special functions", {"stall_local"}},
      {"the queue of local memory and constants", {"stall_local_queue"}},
      {"a barrier", {"stall_barrier"}},
      {"constants", {"stall_constant"}},
      {"instructions", {"stall_fetch", "stall_branch"}},
      {"their stores", {"stall_drain"}}};
  double all = 0;
  for (const auto& [key, value] : row.counters) {
    const bool waits = key.rfind("stall_", 0) == 0 && key != "stall_not_chosen";
    if (waits && !std::isnan(value)) all += value;
  }
  std::string most;
  double share = 0.4;
  for (const Reason& reason : kReasons) {
    double sum = 0;
    for (const char* key : reason.keys) {
      const double one = value_of(row, counters::shown(key));
      if (!std::isnan(one)) sum += one;
    }
    if (sum / all > share) most = reason.words, share = sum / all;
  }
  return most.empty() ? "" : fmt::format("{:.0f} % of waits: {}", 100 * share, most);
}

}  // namespace

std::string limit_text(const CountersRow& row, double bytes, double copy_gbs) {
  if (!row.counted()) return "";
  const auto value = [&](const char* key) { return value_of(row, counters::shown(key)); };
  const double moved = (value("dram_read_bytes") + value("dram_write_bytes")) * 1e6;
  const double dram = moved / (value("time_ns") * 1e-6) / (copy_gbs * 1e9);
  const double issue = value("issue_pct") / 100;
  if (issue >= kLimiting && !(dram > issue)) {
    // Where many lanes are idle in a slot, they say more.
    if (value("lanes") < 24) return fmt::format("{:.0f} of 32 lanes active", value("lanes"));
    return fmt::format("issue slots {:.0f} %", 100 * issue);
  }
  if (dram >= kLimiting) {
    // Read again and again, since the cache did not hold it.
    if (moved > 2 * bytes) return fmt::format("L2 hit rate {:.0f} %", value("l2_hit_pct"));
    return fmt::format("DRAM {:.0f} %", 100 * dram);
  }
  const double conflicts = value("bank_conflicts") / value("local_wavefronts");
  if (conflicts >= 0.4)
    return fmt::format("bank conflicts {:.0f} % of local passes", 100 * conflicts);
  return wait_of(row);
}

Table ladder_table(const std::vector<Result>& results, const Recipe& recipe, const Result& result,
                   const Group& group, const std::vector<std::string>& also) {
  const std::vector<const BenchRow*> rows = fastest_rows(group);
  std::vector<std::string> reached = also;
  for (const std::string& name : also) {
    if (row_of(rows, name) == nullptr)
      fail(Errc::invalid_argument, "report",
           fmt::format("'{}' has no time of '{}' at {}", result.stem, name, group.shape));
  }
  reached.push_back(recipe.baseline().name);
  reached.push_back(result.about.type == "cpu" ? recipe.for_cpus : recipe.for_gpus);
  reached.push_back(recipe.headline_pair.with);
  const BenchRow* best = best_of(recipe.name, rows);
  if (best != nullptr) reached.push_back(best->variant);
  const std::vector<const VariantInfo*> rungs = rungs_of(recipe, rows, reached);
  if (rungs.size() < 2)
    fail(Errc::invalid_argument, "report",
         fmt::format("'{}' has no steps of '{}' at {}", result.stem, recipe.name, group.shape));

  // What is as fast as a copy at best is compared with one, of the least bytes that any of them moves.
  const double copy_gbs = result.bench.ceilings.copy_gbs;
  const auto measured = [&](const VariantInfo* rung) -> const BenchRow& {
    return *row_of(rows, rung->name);
  };
  double bytes = measured(rungs.front()).bytes;
  std::set<std::string> limiting;
  for (const VariantInfo* one : rungs) {
    bytes = std::min(bytes, measured(one).bytes);
    limiting.insert(measured(one).limit);
  }
  const double copied_us = bytes / copy_gbs * 1e-3;
  const bool by_copy = best == nullptr || best->limit == "copy";
  const auto ceiling = [](const std::string& limit) {
    return limit == "fma" ? "the multiply-adds" : limit == "launch" ? "the launches" : "the copy";
  };
  std::string of = by_copy ? "Of the copy" : "Of its ceiling";
  if (!by_copy && limiting.size() == 1) of = fmt::format("Of {}", ceiling(*limiting.begin()));
  const auto share = [&](const BenchRow& row) {
    if (by_copy) return fmt::format("{:.0f} %", 100 * copied_us / row.median_us);
    const std::string text = fmt::format("{:.0f} %", 100 * row.share);
    return limiting.size() == 1 ? text : text + " of " + ceiling(row.limit);
  };

  std::string counted_at;
  std::vector<std::string> limits(rungs.size());
  const Result* counted = newest_of(results, "counters", result.device, recipe.name);
  for (std::size_t i = 0; counted != nullptr && i < rungs.size(); ++i) {
    const BenchRow& row = measured(rungs[i]);
    for (const CountersRow& one : counted->counters.rows) {
      std::string other;
      if (one.recipe != recipe.name || one.variant != row.variant || one.tune != row.tune ||
          !of_one_size(row.shape, one.shape, other))
        continue;
      limits[i] = limit_text(one, bytes, copy_gbs);
      counted_at = other;
    }
  }
  const bool with_limits = std::any_of(limits.begin(), limits.end(),
                                       [](const std::string& one) { return !one.empty(); });

  Table table{
      {{"Variant"}, {"What it changes"}, {"Median µs", true}, {of, true}, {"This step alone"}}, {}};
  if (with_limits)
    table.columns.push_back(
        {"What limits it" + (counted_at.empty() ? " now" : ", with " + counted_at)});
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    const VariantInfo& rung = *rungs[i];
    const BenchRow& row = measured(&rung);
    const bool follows = i > 0 && rung.predecessor == rungs[i - 1]->name;
    const std::string change = rung.is_baseline ? rung.summary
                               : follows        ? rung.change
                                                : "after " + rung.predecessor + ": " + rung.change;
    table.rows.push_back({{rung.name + (rung.is_approximate ? " (approximate)" : ""), "", ""},
                          {change, "", ""},
                          {digits(row.median_us), "", ""},
                          {share(row), "", ""},
                          rung_step(recipe, result, group, rung)});
    if (with_limits) table.rows.back().push_back({limits[i], "", ""});
  }
  table.note = short_device(results, "bench", result.device) + ", " + group.shape;
  if (by_copy) table.note += fmt::format("; a copy takes {} µs", digits(copied_us));
  return table;
}

}  // namespace clcook::tool::report
