// Whether results are those of the recipes as they are now.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "report/report.hpp"
#include "tool/fingerprint.hpp"

namespace clcook::tool::report {

namespace {

// A row with times of a variant, as far as its fingerprint goes.
struct Timed {
  std::string variant;
  Params tune;
  std::vector<Params> shapes;
  std::optional<Fingerprint> ran;
};

std::vector<Timed> timed_of(const Result& result, const std::string& recipe) {
  std::vector<Timed> out;
  for (const BenchRow& row : result.bench.rows) {
    if (row.recipe == recipe && row.measured())
      out.push_back({row.variant, row.tune, {row.shape}, row.ran});
  }
  for (const CountersRow& row : result.counters.rows) {
    if (row.recipe == recipe && row.counted())
      out.push_back({row.variant, row.tune, {row.shape}, row.ran});
  }
  for (const Curve& curve : result.explore.curves) {
    if (curve.recipe != recipe) continue;
    std::vector<Params> shapes;
    for (const Value& point : curve.points) {
      // A file has whole numbers as 8.0 too, which parameters that count do not take.
      const auto* real = std::get_if<double>(&point);
      const bool whole = real != nullptr && *real == std::floor(*real) && std::fabs(*real) < 1e15;
      shapes.push_back(curve.shape);
      shapes.back().set(curve.along, whole ? Value(static_cast<std::int64_t>(*real)) : point);
    }
    for (const CurveVariant& one : curve.variants) {
      if (std::all_of(one.measured_us.begin(), one.measured_us.end(),
                      [](double time) { return std::isnan(time); }))
        continue;
      const Recipe* known = known_recipe(recipe);
      Params tune;
      for (const VariantInfo& variant :
           known == nullptr ? std::vector<VariantInfo>() : known->variants)
        if (variant.name == one.variant) tune = combinations(variant.axes).front();
      out.push_back({one.variant, tune, shapes, one.ran});
    }
  }
  if (result.stages.recipe == recipe) {
    for (const StageRow& row : result.stages.rows) {
      if (!row.skipped) out.push_back({row.stage, {}, {result.stages.shape}, std::nullopt});
    }
  }
  if (result.peers.recipe == recipe) {
    // Times of others are no matter of the recipe.
    for (const PeerRow& row : result.peers.rows) {
      if (row.skipped || row.who.rfind("clcook (", 0) != 0) continue;
      const std::string variant = row.who.substr(8, row.who.find(')') - 8);
      std::vector<Params> shapes;
      if (row.shape) shapes.push_back(*row.shape);
      out.push_back({row.variant.value_or(variant), row.tune.value_or(Params()), shapes, row.ran});
    }
  }
  return out;
}

// What a row would run now. Throws Error where it could not be measured any more.
Fingerprint now_of(const Recipe& recipe, const Timed& row, const Device& device) {
  return fingerprint_of(recipe, row.variant, row.tune, row.shapes, info_of(device),
                        record_of(recipe.name), row.ran ? row.ran->cases : 1);
}

// "tiled (the text of its kernels, its options), naive (it is no longer a variant)"; empty: nothing.
std::string changes_of(const Recipe& recipe, const Result& result) {
  std::vector<std::pair<std::string, std::string>> changed;  // variant, how
  const auto note = [&](const std::string& variant, const std::string& how) {
    const auto same = [&](const auto& one) { return one.first == variant; };
    if (!how.empty() && std::none_of(changed.begin(), changed.end(), same))
      changed.emplace_back(variant, how);
  };
  for (const Timed& row : timed_of(result, recipe.name)) {
    if (!row.ran) continue;
    try {
      note(row.variant, difference(*row.ran, now_of(recipe, row, result.about)));
    } catch (const Error& error) {
      note(row.variant, error.what());
    }
  }
  std::string out;
  for (const auto& [variant, how] : changed)
    out += fmt::format("{}{} ({})", out.empty() ? "" : ", ", variant, how);
  return out;
}

// A hash of what all rows of results would run now.
std::string present(const Recipe& recipe, const std::vector<const Result*>& results) {
  std::string all;
  for (const Result* result : results) {
    for (const Timed& row : timed_of(*result, recipe.name)) {
      try {
        const Fingerprint now = now_of(recipe, row, result->about);
        all += fmt::format("{} {} {} {}\n", row.variant, now.kernels, now.options, now.launches);
      } catch (const Error&) {  // of a variant or a tuning that is gone, there is nothing to change
      }
    }
  }
  return short_hash(all);
}

}  // namespace

std::string doubt_about(const Result& result, const std::string& recipe) {
  constexpr std::string_view kDirty = "-dirty";
  const std::string& commit = result.commit;
  const bool dirty = commit.size() >= kDirty.size() &&
                     commit.compare(commit.size() - kDirty.size(), kDirty.size(), kDirty) == 0;
  if (commit.empty() || commit == "unknown") return "it does not say of which commit it is";
  if (dirty) return "it is of a tree that was never committed, " + commit;
  const Recipe* known = known_recipe(recipe);
  if (known == nullptr) return "";
  std::set<std::string> silent;
  for (const Timed& row : timed_of(result, recipe)) {
    if (!row.ran) silent.insert(row.variant);
  }
  if (!silent.empty())
    return fmt::format("it does not say what {} of {} ran at {}", fmt::join(silent, ", "), recipe,
                       commit);
  const std::string changes = changes_of(*known, result);
  return changes.empty() ? "" : fmt::format("{} has changed since {}: {}", recipe, commit, changes);
}

std::vector<std::string> doubts_about(const std::vector<Result>& results,
                                      const std::vector<Vouch>& vouches) {
  std::vector<std::string> out;
  std::map<std::pair<std::string, std::string>, std::string> doubts;  // by result and recipe
  for (const Result& result : results) {
    for (const std::string& recipe : recipes_of(result)) {
      const std::string doubt = doubt_about(result, recipe);
      if (!doubt.empty()) doubts[{result.stem, recipe}] = doubt;
    }
  }
  std::set<std::pair<std::string, std::string>> vouched;
  for (const Vouch& vouch : vouches) {
    std::vector<const Result*> named;
    for (const std::string& stem : vouch.results) {
      const Result& result = find(results, stem, "");
      const std::vector<std::string> has = recipes_of(result);
      if (std::find(has.begin(), has.end(), vouch.recipe) == has.end())
        out.push_back(fmt::format("{}: '{}' has no times of {}", vouch.where, stem, vouch.recipe));
      else if (doubts.count({stem, vouch.recipe}) == 0)
        out.push_back(fmt::format("{}: '{}' needs nobody to vouch for it", vouch.where, stem));
      named.push_back(&result);
      vouched.emplace(stem, vouch.recipe);
    }
    const Recipe* recipe = known_recipe(vouch.recipe);
    if (recipe == nullptr) continue;
    const std::string now = present(*recipe, named);
    if (now != vouch.hash) {
      out.push_back(
          fmt::format("{0}: vouches for what these results ran as {1} was at {2}; it is {3} now: "
                      "measure again, or see that what has changed does not matter, say so here, "
                      "and put {1}@{3}",
                      vouch.where, vouch.recipe, vouch.hash, now));
    }
  }
  for (const Result& result : results) {
    for (const std::string& recipe : recipes_of(result)) {
      const auto doubt = doubts.find({result.stem, recipe});
      if (doubt == doubts.end() || vouched.count(doubt->first) != 0) continue;
      out.push_back(
          fmt::format("{}: {}: measure again, or say in docs/{}.md why it holds, "
                      "in a block clcook:older",
                      result.path, doubt->second, recipe));
    }
  }
  return out;
}

}  // namespace clcook::tool::report
