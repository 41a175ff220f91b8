// Whether results are those of the recipes as they are now.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "measure/fingerprint.hpp"
#include "report/report.hpp"

namespace clcook::tool::report {

namespace {

// The clock probe may take so many times as long beside half of a row's blocks.
constexpr double kBusy = 1.5;

// A row of a result, as far as its fingerprint goes.
struct Row {
  std::string variant;
  std::optional<Fingerprint> ran;
  // What it would run now, with as many cases of the record. Throws Error where the recipe no longer
  // has it.
  std::function<Fingerprint(std::size_t cases)> run;

  Fingerprint now() const { return run(ran ? ran->cases : 1); }
};

// The points of a curve as shapes.
std::vector<Params> shapes_of(const Curve& curve) {
  std::vector<Params> out;
  for (const Value& point : curve.points) {
    // A file has whole numbers as 8.0 too, which parameters that count do not take.
    const auto* real = std::get_if<double>(&point);
    const bool whole = real != nullptr && *real == std::floor(*real) && std::fabs(*real) < 1e15;
    out.push_back(curve.shape);
    out.back().set(curve.along, whole ? Value(static_cast<std::int64_t>(*real)) : point);
  }
  return out;
}

// Throws Error(invalid_argument) for a variant that the recipe does not have.
Params default_tune(const Recipe& recipe, const std::string& variant) {
  return combinations(recipe.variant(variant).axes).front();
}

// Those that ran.
std::vector<Row> rows_of(const Result& result, const Recipe& recipe) {
  std::vector<Row> out;
  const DeviceInfo device = info_of(result.about);
  using Tuned = std::function<Params()>;
  const auto add_tuned = [&](const std::string& variant, const std::optional<Fingerprint>& ran,
                             const Tuned& tune, const std::vector<Params>& shapes) {
    out.push_back({variant, ran, [=, &recipe](std::size_t cases) {
                     return fingerprint_of(recipe, variant, tune(), shapes, device,
                                           record_of(recipe.name), cases);
                   }});
  };
  const auto add = [&](const std::string& variant, const std::optional<Fingerprint>& ran,
                       const Params& tune, const std::vector<Params>& shapes) {
    add_tuned(
        variant, ran, [=] { return tune; }, shapes);
  };
  for (const BenchRow& row : result.bench.rows) {
    if (row.recipe == recipe.name && row.measured())
      add(row.variant, row.ran, row.tune, {row.shape});
  }
  for (const CountersRow& row : result.counters.rows) {
    if (row.recipe == recipe.name && row.counted())
      add(row.variant, row.ran, row.tune, {row.shape});
  }
  for (const Curve& curve : result.explore.curves) {
    if (curve.recipe != recipe.name) continue;
    for (const CurveVariant& one : curve.variants) {
      if (std::all_of(one.measured_us.begin(), one.measured_us.end(),
                      [](double time) { return std::isnan(time); }))
        continue;
      add_tuned(
          one.variant, one.ran,
          [&recipe, name = one.variant] { return default_tune(recipe, name); }, shapes_of(curve));
    }
  }
  if (result.stages.recipe == recipe.name) {
    for (const StageRow& row : result.stages.rows)
      if (!row.skipped) add(row.stage, std::nullopt, {}, {result.stages.shape});
  }
  if (result.peers.recipe == recipe.name) {
    // Times of others are no matter of the recipe.
    for (const PeerRow& row : result.peers.rows) {
      if (row.skipped || row.who.rfind("clcook (", 0) != 0) continue;
      const std::string variant = row.who.substr(8, row.who.find(')') - 8);
      std::vector<Params> shapes;
      if (row.shape) shapes.push_back(*row.shape);
      add(row.variant.value_or(variant), row.ran, row.tune.value_or(Params()), shapes);
    }
  }
  if (recipe.name == "gaussian_blur") {
    for (const StartupRow& row : result.startup.rows)
      add(row.method, row.ran, row.tune.value_or(Params()), {result.startup.problem});
  }
  for (const CheckTotalRow& row : totals_of(result, recipe.name)) {
    if (!row.did_run()) continue;
    out.push_back({row.variant, row.ran, [=, &recipe](std::size_t cases) {
                     return fingerprint_of_check(recipe, row.variant, device, cases);
                   }});
  }
  std::set<std::string> compiled;  // by kernels of which a variant may have several
  for (const IsaRow& row : result.isa.kernels) {
    if (row.recipe != recipe.name) continue;
    if (!compiled.insert(row.tuned() + " " + row.target).second) continue;
    out.push_back({row.variant, row.ran,
                   [&recipe, variant = row.variant, tune = row.tune, target = row.target](
                       std::size_t) { return fingerprint_of_isa(recipe, variant, tune, target); }});
  }
  return out;
}

// Whether a change of a variant's text left its machine code alone, as far as the counts of `clcook
// isa` say, on all targets. Also where nobody can be asked what they were.
bool same_code(const Recipe& recipe, const std::string& variant, const std::string& commit,
               History& history) {
  if (history.has(commit) == History::Has::unknown) return true;
  const isa::Gate* then = history.gate_at(commit);
  const isa::Gate* now = history.gate();
  if (then == nullptr || now == nullptr || then->clang != now->clang) return false;
  const std::string own = recipe.name + "/" + variant;
  bool any = false;
  const auto same = [&](const std::string& begin) {
    for (const auto& [kernel, targets] : then->rows) {
      // "halo_tile/direct", "halo_tile/direct#2"
      if (kernel.rfind(begin, 0) != 0 ||
          (begin == own && kernel.size() > own.size() && kernel[own.size()] != '#'))
        continue;
      any = true;
      const auto found = now->rows.find(kernel);
      if (found == now->rows.end()) return false;
      for (const auto& [target, row] : targets) {
        const auto other = found->second.find(target);
        if (other == found->second.end()) return false;
        for (const isa::GateField& field : isa::kGateFields)
          if (row.*field.value != other->second.*field.value) return false;
      }
    }
    return true;
  };
  if (!same(own)) return false;
  // It hands its work to others.
  return any || (same(recipe.name + "/") && any);
}

bool has_variant(const Recipe& recipe, const std::string& name) {
  return std::any_of(recipe.variants.begin(), recipe.variants.end(),
                     [&](const VariantInfo& one) { return one.name == name; });
}

struct Doubt {
  std::string what;
  std::vector<std::string> recipes;
  std::vector<std::string> named{};  // variants that a page must name that says why it holds
};

// "tiled, naive (the text of its kernels); direct (it is no longer a variant)"
std::optional<Doubt> change_of(const Recipe& recipe, const Result& result,
                               const std::vector<Row>& rows, History& history) {
  std::vector<std::pair<std::string, std::vector<std::string>>> changed;  // how, variants
  Doubt out{"", {recipe.name}};
  // That an implementation was right, and how long it took to start, does not depend on one kernel.
  const bool is_timed = result.kind != "check" && result.kind != "startup";
  const auto must_name = [&](const std::string& variant) {
    if (is_timed && std::find(out.named.begin(), out.named.end(), variant) == out.named.end())
      out.named.push_back(variant);
  };
  for (const Row& row : rows) {
    if (!row.ran) continue;
    std::string how;
    try {
      const Fingerprint now = row.now();
      how = difference(*row.ran, now);
      if (row.ran->kernels != now.kernels &&
          !same_code(recipe, row.variant, result.commit, history))
        must_name(row.variant);
    } catch (const Error& error) {
      how = has_variant(recipe, row.variant) ? error.what() : "it is no longer a variant";
      must_name(row.variant);
    }
    if (how.empty()) continue;
    auto found = std::find_if(changed.begin(), changed.end(),
                              [&](const auto& one) { return one.first == how; });
    if (found == changed.end()) found = changed.insert(found, {how, {}});
    std::vector<std::string>& variants = found->second;
    if (std::find(variants.begin(), variants.end(), row.variant) == variants.end())
      variants.push_back(row.variant);
  }
  if (changed.empty()) return std::nullopt;
  for (const auto& [how, variants] : changed)
    out.what +=
        fmt::format("{}{} ({})", out.what.empty() ? "" : "; ", fmt::join(variants, ", "), how);
  out.what = fmt::format("{} has changed since {}: {}", recipe.name, result.commit, out.what);
  return out;
}

// A hash of what all rows of results would run now.
std::string present(const Recipe& recipe, const std::vector<const Result*>& results) {
  std::string all;
  for (const Result* result : results) {
    for (const Row& row : rows_of(*result, recipe)) {
      try {
        const Fingerprint now = row.now();
        all += fmt::format("{} {} {} {}\n", row.variant, now.kernels, now.options, now.launches);
      } catch (const Error&) {  // of a variant or a tuning that is gone, there is nothing to change
      }
    }
  }
  return short_hash(all);
}

// Why a file cannot be what one command wrote; "": it can.
std::string joined_by(const Json& json) {
  const auto command = json.find("command");
  if (command != json.end()) {
    const std::string text = command->is_string() ? command->get<std::string>() : command->dump();
    bool quoted = false;
    for (const char c : text) {
      if (c == '\'') quoted = !quoted;
      if (!quoted && std::string_view(";&|()\n").find(c) != std::string_view::npos)
        return fmt::format("its command is not one: '{}'", text);
    }
  }
  for (const auto& [list, rows] : json.items()) {
    for (std::size_t i = 0; rows.is_array() && i < rows.size(); ++i) {
      for (const char* key : {"commit", "device", "date"}) {
        if (rows[i].is_object() && rows[i].contains(key))
          return fmt::format("{}[{}] has a {} of its own", list, i, key);
      }
    }
  }
  return "";
}

std::string doubt_about_commit(const std::string& commit, History& history) {
  constexpr std::string_view kDirty = "-dirty";
  const bool dirty = commit.size() >= kDirty.size() &&
                     commit.compare(commit.size() - kDirty.size(), kDirty.size(), kDirty) == 0;
  if (commit.empty() || commit == "unknown") return "it does not say of which commit it is";
  if (dirty) return "it is of a tree that was never committed, " + commit;
  if (history.has(commit) == History::Has::no)
    return fmt::format("its commit {} is not in the history of HEAD", commit);
  return "";
}

// Of a bench: whether its intervals cover what differs between processes, and whether the device was
// its own.
std::string doubt_about_conditions(const Result& result) {
  if (result.kind != "bench") return "";
  constexpr std::size_t kProcesses = 3;
  if (result.bench.processes.value_or(1) < kProcesses)
    return fmt::format("its times are of {} process, and intervals take at least {}",
                       result.bench.processes.value_or(1), kProcesses);
  for (const BenchRow& row : result.bench.rows) {
    if (!row.measured()) continue;
    if (row.blocks < kProcesses)
      return fmt::format("{} has times of {} processes, and intervals take at least {}", row.name(),
                         row.blocks, kProcesses);
    const double probe = result.bench.ceilings.probe_us.value_or(0);
    if (!row.probes_us || row.probes_us->empty() || probe == 0) continue;
    const double usual = median(*row.probes_us);
    if (usual > kBusy * probe)
      return fmt::format(
          "the device did something else as well: beside {} the clock probe took "
          "{:.0f} us in place of {:.0f}",
          row.name(), usual, probe);
  }
  return "";
}

std::vector<Doubt> doubts_about(const Result& result, History& history) {
  std::vector<Doubt> out;
  const std::vector<std::string> names = recipes_of(result);
  const std::string joined = joined_by(result.json);
  if (!joined.empty()) out.push_back({"it was joined by hand: " + joined, names});
  const std::string commit = doubt_about_commit(result.commit, history);
  if (!commit.empty()) out.push_back({commit, names});
  const std::string conditions = doubt_about_conditions(result);
  if (!conditions.empty()) out.push_back({conditions, names});
  Doubt silence;
  for (const std::string& name : names) {
    const Recipe* recipe = known_recipe(name);
    if (recipe == nullptr) continue;
    const std::vector<Row> rows = rows_of(result, *recipe);
    std::set<std::string> silent;
    for (const Row& row : rows)
      if (!row.ran) silent.insert(row.variant);
    if (!silent.empty()) {
      silence.what += fmt::format("{}{} of {}", silence.what.empty() ? "" : "; ",
                                  fmt::join(silent, ", "), name);
      silence.recipes.push_back(name);
    }
    if (std::optional<Doubt> change = change_of(*recipe, result, rows, history))
      out.push_back(std::move(*change));
  }
  if (!silence.recipes.empty()) {
    silence.what =
        silence.recipes.size() > 1
            ? fmt::format("it does not say what it ran of {}", fmt::join(silence.recipes, ", "))
            : fmt::format("it does not say what {} ran", silence.what);
    out.push_back(std::move(silence));
  }
  return out;
}

}  // namespace

std::vector<std::string> doubts_about(const std::vector<Result>& results,
                                      const std::vector<Vouch>& vouches, History& history) {
  std::vector<std::string> out;
  std::map<std::string, std::vector<Doubt>> doubts;  // by result
  for (const Result& result : results) doubts[result.stem] = doubts_about(result, history);
  // The reasons, by result and recipe.
  std::map<std::pair<std::string, std::string>, std::string> vouched;
  for (const Vouch& vouch : vouches) {
    std::set<std::string> names{vouch.recipe};
    if (vouch.recipe == "*") {
      names.clear();
      for (const std::string& stem : vouch.results) {
        for (std::string& name : recipes_of(find(results, stem, ""))) names.insert(std::move(name));
      }
    }
    std::string all;
    for (const std::string& name : names) {
      std::vector<const Result*> named;
      for (const std::string& stem : vouch.results) {
        const Result& result = find(results, stem, "");
        const std::vector<std::string> has = recipes_of(result);
        const bool has_it = std::find(has.begin(), has.end(), name) != has.end();
        if (!has_it && vouch.recipe == "*") continue;
        if (!has_it)
          out.push_back(fmt::format("{}: '{}' has nothing of {}", vouch.where, stem, name));
        named.push_back(&result);
        vouched[{stem, name}] += vouch.text;
      }
      if (const Recipe* recipe = known_recipe(name)) all += present(*recipe, named);
    }
    for (const std::string& stem : vouch.results) {
      const std::vector<Doubt>& its = doubts[stem];
      const auto is_of = [&](const Doubt& doubt) {
        return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
          return std::find(doubt.recipes.begin(), doubt.recipes.end(), name) != doubt.recipes.end();
        });
      };
      if (std::none_of(its.begin(), its.end(), is_of))
        out.push_back(fmt::format("{}: '{}' needs nobody to vouch for it", vouch.where, stem));
    }
    const std::string now = names.size() == 1 || all.empty() ? all : short_hash(all);
    if (!now.empty() && now != vouch.hash) {
      out.push_back(
          fmt::format("{0}: vouches for what these results ran as {1} was at {2}; it is {3} now: "
                      "measure again, or see that what has changed does not matter, say so here, "
                      "and put {1}@{3}",
                      vouch.where, vouch.recipe, vouch.hash, now));
    }
  }
  for (const Result& result : results) {
    const std::string again =
        fmt::format("measure again: {}", renewal_of(result.json, result.path));
    for (const Doubt& doubt : doubts[result.stem]) {
      const auto said = [&](const std::string& recipe) {
        const auto found = vouched.find({result.stem, recipe});
        return found == vouched.end() ? std::string() : found->second;
      };
      const auto has_reason = [&](const std::string& recipe) { return !said(recipe).empty(); };
      const auto& all = doubt.recipes;
      std::vector<std::string> unnamed;
      for (const std::string& variant : doubt.named) {
        if (said(all.front()).find("`" + variant + "`") == std::string::npos)
          unnamed.push_back("`" + variant + "`");
      }
      if (!all.empty() && unnamed.empty() && std::all_of(all.begin(), all.end(), has_reason))
        continue;
      out.push_back(fmt::format("{}: {}; {}", result.path, doubt.what, again));
      if (all.empty()) continue;
      out.back() += all.size() == 1 && known_recipe(all.front()) != nullptr
                        ? fmt::format("; or say in docs/{}.md", all.front())
                        : fmt::format("; or say on a page, for each of {},", fmt::join(all, ", "));
      out.back() += " why it holds, in a block clcook:older";
      if (!unnamed.empty())
        out.back() += fmt::format(" that names {}, whose machine code is another now",
                                  fmt::join(unnamed, ", "));
    }
  }
  return out;
}

}  // namespace clcook::tool::report
