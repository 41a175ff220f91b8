// Reading result files.
#include "results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <clcook/core/source.hpp>

#include "any_result.hpp"
#include "measure/verdict.hpp"

namespace clcook::tool {

namespace {

constexpr int kMaxDepth = 32;  // of our own files: 6

// Whether results of a kind are of compilers or of other libraries, and so name no device.
bool is_offline(const std::string& kind) {
  return kind == "isa" || kind == "compile" || kind == "conventions";
}

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
                     json["format"].dump(), kFormat, renewal_of(json, path)));
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

AnyResult parse_any(const std::string& content, const std::string& path) {
  AnyResult result;
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
  if (!is_offline(result.kind)) io("device", result.about);
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
  read("grid", result.grid);
  read("explore", result.explore);
  read("startup", result.startup);
  read("counters", result.counters);
  // Pages name its values one by one, or have them from a script.
  for (const char* kind : {"python", "compile", "conventions", "ndimage"})
    result.has_place = result.has_place || result.kind == kind;
  return result;
}

std::vector<AnyResult> load(const std::vector<std::string>& paths) {
  std::vector<AnyResult> results;
  for (const std::string& path : paths) {
    AnyResult result = parse_any(read_text_file(path), path);
    for (const AnyResult& other : results) {
      if (other.stem == result.stem)
        fail(Errc::invalid_argument, "report",
             fmt::format("{} and {} have the same name; results are told apart by it", other.path,
                         path));
    }
    results.push_back(std::move(result));
  }
  return results;
}

std::vector<CheckTotalRow> totals_of(const CheckResult& check) {
  std::vector<CheckTotalRow> totals = check.totals.value_or(std::vector<CheckTotalRow>());
  for (const CheckRow& row : check.rows) add_to(totals, row);
  return totals;
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
  if (kind == "grid") {  // not the same rows again
    const std::size_t end = path.rfind("_grid.json");
    return fmt::format("bench/peers/run --random SEED --rows N {} --out {}", fmt::join(names, " "),
                       end == std::string::npos ? "PREFIX" : path.substr(0, end));
  }
  if (kind == "python") return fmt::format("bench/python_overhead.py --out {}", path);
  if (kind == "ndimage")  // not the same calls again
    return "bench/ndimage.py --random SEED --rows N --out " + path;
  if (kind == "compile") return "bench/compile_time.py --out " + path;
  if (kind == "conventions") return "bench/peers/conventions.py --out " + path;
  // Of several: all that there are now.
  return fmt::format("clcook {}{} {} {}", kind, names.size() == 1 ? " " + names.front() : "",
                     kind == "isa" ? "--json" : "--out", path);
}

}  // namespace clcook::tool
