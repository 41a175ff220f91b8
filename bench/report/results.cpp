// Reading result files, and what the report makes of their rows.
#include "results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <clcook/core/source.hpp>
#include <set>
#include <string_view>

#include "measure/compare.hpp"
#include "report/report.hpp"

namespace clcook::tool {

namespace {

constexpr int kMaxDepth = 32;  // of our own files: 6

// Whether results of a kind are of compilers, and so name no device.
bool is_offline(const std::string& kind) { return kind == "isa" || kind == "compile"; }

}  // namespace

Json read_result(const std::string& path, const std::string& kind) {
  return parse_result(read_text_file(path), path, kind);
}

Json parse_result(const std::string& content, const std::string& path, const std::string& kind) {
  const std::string where = "result file " + path;
  // Writing and comparing JSON recurse.
  const auto shallow = [&](int depth, Json::parse_event_t, const Json&) {
    if (depth > kMaxDepth)
      fail(Errc::io, where, fmt::format("malformed: lists in lists, more than {} deep", kMaxDepth));
    return true;
  };
  Json json;
  try {
    json = Json::parse(content, shallow);
  } catch (const Json::exception& error) {
    fail(Errc::io, where, std::string("not a whole JSON file: ") + error.what());
  }
  const bool whole = json.is_object() && json.contains("format") && json.contains("kind") &&
                     json["kind"].is_string() &&
                     (is_offline(json["kind"].get<std::string>()) || json.contains("device"));
  if (!whole) {
    fail(Errc::io, where,
         "malformed: not a result of clcook: 'format', 'kind' or 'device' is missing");
  }
  if (json["format"] != kFormat) {
    fail(Errc::io, where,
         fmt::format("has format version {}, this clcook reads version {}; measure again: {}",
                     json["format"].dump(), kFormat, report::renewal_of(json, path)));
  }
  if (!kind.empty() && json["kind"] != kind) {
    fail(Errc::io, where,
         fmt::format("holds a result of kind {}, expected \"{}\"", json["kind"].dump(), kind));
  }
  return json;
}

void CheckTotalRow::add(const CheckRow& row) {
  ++runs;
  if (row.outcome != "passed" && row.outcome != "failed") {
    ++skipped;
    auto found = std::find_if(skips.begin(), skips.end(), [&](const CheckSkip& one) {
      return one.lacks == row.lacks && one.reason == row.reason;
    });
    if (found == skips.end()) found = skips.insert(skips.end(), {row.lacks, row.reason, 0});
    ++found->count;
    return;
  }
  ++(row.outcome == "passed" ? passed : failed);
  launches += row.kernels.size();
  compared += row.compared;
  max_error = std::max(max_error, row.max_error);
  if (std::isfinite(row.bound)) bound = std::max(bound, row.bound);
  if (row.bound > 0) share = std::max(share, row.max_error / row.bound);
}

void add_to(std::vector<CheckTotalRow>& totals, const CheckRow& row) {
  auto found = std::find_if(totals.begin(), totals.end(), [&](const CheckTotalRow& one) {
    return one.recipe == row.recipe && one.variant == row.variant;
  });
  if (found == totals.end()) {
    found = totals.insert(totals.end(), CheckTotalRow());
    found->recipe = row.recipe;
    found->variant = row.variant;
  }
  found->add(row);
}

}  // namespace clcook::tool

namespace clcook::tool::report {

Result parse(const std::string& content, const std::string& path) {
  Result result;
  result.path = path;
  result.stem = std::filesystem::path(path).stem().string();
  result.json = parse_result(content, path, "");
  const FieldReader io(result.json, path, "");
  std::optional<std::string> commit;
  std::optional<std::string> date;
  io("kind", result.kind);
  io("commit", commit);
  io("date", date);
  result.commit = commit.value_or("");
  result.date = date.value_or("");
  if (!is_offline(result.kind)) {
    io("device", result.about);
    result.device = result.about.text();
  }
  const auto read = [&](const char* kind, auto& member) {
    using Content = std::remove_reference_t<decltype(member)>;
    if (result.kind != kind) return;
    member = read_fields<Content>(result.json, path);
    result.has_place = true;
  };
  read("bench", result.bench);
  read("check", result.check);
  read("isa", result.isa);
  read("stages", result.stages);
  read("peers", result.peers);
  read("explore", result.explore);
  read("startup", result.startup);
  read("counters", result.counters);
  // Pages name its values one by one, or have them from a script.
  if (result.kind == "python" || result.kind == "compile") result.has_place = true;
  return result;
}

std::vector<Result> load(const std::vector<std::string>& paths) {
  std::vector<Result> results;
  for (const std::string& path : paths) {
    Result result = parse(read_text_file(path), path);
    for (const Result& other : results) {
      if (other.stem == result.stem)
        fail(Errc::invalid_argument, "report",
             fmt::format("{} and {} have the same name; results are told apart by it", other.path,
                         path));
    }
    results.push_back(std::move(result));
  }
  return results;
}

const Result& find(const std::vector<Result>& results, const std::string& stem,
                   const std::string& kind) {
  std::string known;
  for (const Result& one : results) {
    if (one.stem != stem) {
      known += " " + one.stem;
      continue;
    }
    if (!kind.empty() && one.kind != kind)
      fail(Errc::invalid_argument, "report",
           fmt::format("'{}' is a result of kind '{}', this needs '{}'", stem, one.kind, kind));
    return one;
  }
  fail(Errc::invalid_argument, "report",
       fmt::format("there is no result '{}'; known are{}", stem, known.empty() ? " none" : known));
}

std::vector<std::string> recipes_of(const Result& result) {
  std::set<std::string> names;
  for (const BenchRow& row : result.bench.rows) names.insert(row.recipe);
  for (const Curve& curve : result.explore.curves) names.insert(curve.recipe);
  for (const CountersRow& row : result.counters.rows) names.insert(row.recipe);
  for (const std::string& one : {result.stages.recipe, result.peers.recipe}) {
    if (!one.empty()) names.insert(one);
  }
  for (const CheckTotalRow& row : totals_of(result, "")) names.insert(row.recipe);
  for (const IsaRow& row : result.isa.kernels) names.insert(row.recipe);
  if (result.kind == "startup") names.insert("gaussian_blur");
  return {names.begin(), names.end()};
}

std::string renewal_of(const Json& json, const std::string& path) {
  std::vector<std::string> names;
  const auto add = [&](const Json& one) {
    if (!one.is_object() || !one.contains("recipe") || !one["recipe"].is_string()) return;
    std::string name = one["recipe"].get<std::string>();
    // That of a description, by its file.
    if (known_recipe(name) == nullptr && !std::filesystem::path(name).has_extension())
      name += ".toml";
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  add(json);
  for (const auto& list : json.items()) {
    if (!list.value().is_array()) continue;
    for (const Json& one : list.value()) add(one);
  }
  const std::string kind = json["kind"].get<std::string>();
  if (kind == "stages")
    return fmt::format("the example {} with --json {}", fmt::join(names, " "), path);
  if (kind == "peers") {
    const std::size_t end = path.rfind("_peers_");
    return fmt::format("bench/peers/run {} --out {}", fmt::join(names, " "),
                       end == std::string::npos ? "PREFIX" : path.substr(0, end));
  }
  if (kind == "python") return fmt::format("bench/python_overhead.py --out {}", path);
  if (kind == "compile") return "bench/compile_time.py --out " + path;
  // Of several: all that there are now.
  return fmt::format("clcook {}{} {} {}", kind, names.size() == 1 ? " " + names.front() : "",
                     kind == "isa" ? "--json" : "--out", path);
}

const Result* newest_of(const std::vector<Result>& results, const std::string& kind,
                        const std::string& device, const std::string& recipe) {
  const Result* newest = nullptr;
  for (const Result& one : results) {
    if (one.kind != kind || one.device != device) continue;
    const std::vector<std::string> names = recipes_of(one);
    if (std::find(names.begin(), names.end(), recipe) == names.end()) continue;
    if (newest == nullptr || one.date > newest->date) newest = &one;
  }
  return newest;
}

bool of_cookbook(const Result& result) {
  const std::vector<std::string> names = recipes_of(result);
  return std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return known_recipe(name) != nullptr && !is_described(name);
  });
}

bool has_cookbook(const std::vector<Result>& results) {
  return std::any_of(results.begin(), results.end(),
                     [](const Result& one) { return one.kind == "bench" && of_cookbook(one); });
}

namespace {

// Whether a result counts where devices are compared.
bool counts(const std::vector<Result>& results, const Result& result, const std::string& kind) {
  return kind != "bench" || of_cookbook(result) || !has_cookbook(results);
}

}  // namespace

std::vector<std::string> devices_of(const std::vector<Result>& results, const std::string& kind) {
  std::vector<std::string> devices;
  for (const Result& one : results) {
    if (one.device.empty() || (!kind.empty() && one.kind != kind)) continue;
    if (!counts(results, one, kind)) continue;
    if (std::find(devices.begin(), devices.end(), one.device) == devices.end())
      devices.push_back(one.device);
  }
  return devices;
}

namespace {

std::string usual_name(const Device& device) {
  if (device.platform != "Portable Computing Language" || !device.compute_units) return device.name;
  return fmt::format("PoCL, {} core{}", *device.compute_units,
                     *device.compute_units == 1 ? "" : "s");
}

}  // namespace

std::string short_device(const std::vector<Result>& results, const std::string& kind,
                         const std::string& device) {
  std::string name;
  for (const Result& one : results) {
    if (one.kind == kind && one.device == device) name = usual_name(one.about);
  }
  for (const Result& one : results) {
    if (one.kind == kind && one.device != device && usual_name(one.about) == name &&
        counts(results, one, kind))
      return device;
  }
  return name;
}

namespace {

// What a row ran with. Throws Error for a tune or a shape of another version.
Params whole_tune(const Recipe& recipe, const Device& device, const BenchRow& row) {
  DeviceInfo info;
  info.cpu = device.type.value_or("") == "cpu";
  info.max_group = device.max_group.value_or(1024);
  info.local_mem = device.local_mem.value_or(32768);
  return recipe.whole_tune(row.variant, row.tune, row.shape, info);
}

// Members that only one of them has are no difference.
bool equal_tunes(const Params& a, const Params& b) {
  return std::all_of(a.entries().begin(), a.entries().end(), [&](const Params::Entry& entry) {
    const Value* other = b.find(entry.name);
    return other == nullptr || *other == entry.value;
  });
}

}  // namespace

Pair pair_of(const Recipe& recipe, const Device& device, const Group& group,
             const std::string& with, const std::string& without) {
  Pair best;
  if (known_variant(&recipe, with) == nullptr || known_variant(&recipe, without) == nullptr)
    return best;
  for (const BenchRow* one : group.rows) {
    if (one->variant != with || !one->measured()) continue;
    for (const BenchRow* other : group.rows) {
      if (other->variant != without || !other->measured()) continue;
      if (best.with != nullptr && best.with->median_us <= one->median_us) continue;
      try {
        if (equal_tunes(whole_tune(recipe, device, *one), whole_tune(recipe, device, *other)))
          best.with = one, best.without = other;
      } catch (const Error&) {  // of another version: no message
      }
    }
  }
  if (best.with != nullptr) {
    best.ratio = tool::ratio_of(*best.without, *best.with);
    best.verdict = judge(best.ratio);
  }
  return best;
}

Pair step_of(const Recipe& recipe, const Device& device, const Group& group, const BenchRow& row) {
  const VariantInfo* variant = known_variant(&recipe, row.variant);
  if (variant == nullptr || variant->predecessor.empty()) return {};
  Group part{group.shape, group.mode, {&row}};
  for (const BenchRow* other : group.rows) {
    if (other->variant == variant->predecessor) part.rows.push_back(other);
  }
  return pair_of(recipe, device, part, row.variant, variant->predecessor);
}

bool has_baseline(const Recipe& recipe, const Device& device, const Group& group) {
  for (const BenchRow* row : group.rows) {
    if (!row->baseline) continue;
    if (row->variant != recipe.baseline().name) return false;
    return equal_tunes(whole_tune(recipe, device, *row),
                       combinations(recipe.baseline().axes).front());
  }
  return false;
}

std::vector<Group> groups_of(const Result& result, const std::string& recipe) {
  std::vector<Group> groups;
  for (const BenchRow& row : result.bench.rows) {
    if (row.recipe != recipe) continue;
    const std::string shape = to_text(row.shape);
    auto found = std::find_if(groups.begin(), groups.end(), [&](const Group& one) {
      return one.shape == shape && one.mode == row.mode;
    });
    if (found == groups.end()) found = groups.insert(groups.end(), Group{shape, row.mode, {}});
    found->rows.push_back(&row);
  }
  return groups;
}

std::vector<CheckTotalRow> totals_of(const Result& result, const std::string& recipe) {
  std::vector<CheckTotalRow> totals = result.check.totals.value_or(std::vector<CheckTotalRow>());
  for (const CheckRow& row : result.check.rows) add_to(totals, row);
  const auto other = [&](const CheckTotalRow& one) {
    return !recipe.empty() && one.recipe != recipe;
  };
  totals.erase(std::remove_if(totals.begin(), totals.end(), other), totals.end());
  return totals;
}

std::vector<Stage> stages_of(const Result& result) {
  std::vector<Stage> out;
  std::vector<Blocks> samples;  // each one block
  for (const StageRow& row : result.stages.rows) {
    Stage stage;
    const int group = row.group.value_or(0);
    stage.name = row.stage + (group > 0 ? fmt::format("@{}", group) : "");
    stage.skipped = row.skipped.value_or("");
    samples.emplace_back();
    if (stage.skipped.empty()) {
      samples.back().push_back(row.seconds);
      for (double& one : samples.back().front()) one *= 1e6;
      stage.time_us = interval(samples.back());
      stage.total = row.total_ratio.value_or(std::nan(""));
      stage.previous = row.previous.value_or("");
      for (std::size_t i = 0; i < out.size(); ++i) {
        if (out[i].name != stage.previous || samples[i].empty()) continue;
        // A step changes one thing: the stage, or the group size.
        const StageRow& other = result.stages.rows[i];
        if (other.stage != row.stage && other.group != row.group) continue;
        stage.step = bootstrap_ratio(samples[i], samples.back());
        stage.verdict = judge(stage.step);
      }
      stage.max_error = row.max_error.value_or(std::nan(""));
      stage.off_full = row.max_error_to_full.value_or(std::nan(""));
    }
    out.push_back(std::move(stage));
  }
  return out;
}

}  // namespace clcook::tool::report
