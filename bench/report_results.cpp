// Reading result files for the report.
#include <fmt/format.h>

#include <algorithm>
#include <clcook/core/source.hpp>

#include "report.hpp"

namespace clcook::tool::report {

namespace {

[[noreturn]] void malformed(const std::string& path, const std::string& what) {
  fail(Errc::io, "result file " + path, "malformed: " + what);
}

// As read_result(), but what was compiled offline has no device.
Json read_json(const std::string& path) {
  Json json;
  try {
    json = Json::parse(read_text_file(path));
  } catch (const Json::parse_error& error) {
    fail(Errc::io, "result file " + path, std::string("not a whole JSON file: ") + error.what());
  }
  const bool whole = json.is_object() && json.contains("format") && json.contains("kind") &&
                     json["kind"].is_string() && (json["kind"] == "isa" || json.contains("device"));
  if (!whole) malformed(path, "not a result of clcook: 'format', 'kind' or 'device' is missing");
  if (json["format"] != kFormat) {
    fail(Errc::io, "result file " + path,
         fmt::format("has format version {}, this clcook reads version {}; measure again",
                     json["format"].dump(), kFormat));
  }
  return json;
}

// Every row is an object with these members as strings.
void need_rows(const Result& result, const char* list, const std::vector<const char*>& strings) {
  if (!result.json.contains(list) || !result.json[list].is_array())
    malformed(result.path, fmt::format("'{}' is no list", list));
  std::size_t index = 0;
  for (const Json& row : result.json[list]) {
    for (const char* key : strings) {
      if (!row.is_object() || !row.contains(key) || !row[key].is_string())
        malformed(result.path, fmt::format("{}[{}] has no '{}'", list, index, key));
    }
    ++index;
  }
}

// With `gaps` an element may be null: nothing was measured there.
void need_numbers(const Result& result, const Json& object, const char* list, bool gaps = false) {
  const bool good = object.contains(list) && object[list].is_array() && !object[list].empty() &&
                    std::all_of(object[list].begin(), object[list].end(), [gaps](const Json& one) {
                      return one.is_number() || (gaps && one.is_null());
                    });
  if (!good) malformed(result.path, fmt::format("'{}' is no list of numbers", list));
}

void check_content(const Result& result) {
  const Json& json = result.json;
  if (result.kind == "check") need_rows(result, "rows", {"recipe", "variant", "outcome"});
  if (result.kind == "bench") {
    need_rows(result, "rows", {"recipe", "variant", "status", "mode"});
    if (!json.contains("ceilings") || !json["ceilings"].is_object())
      malformed(result.path, "'ceilings' is missing");
    for (const Json& row : json["rows"]) {
      if (word(row, "status") == "measured") need_numbers(result, row, "samples_us");
    }
  }
  if (result.kind == "stages") {
    need_rows(result, "rows", {"stage"});
    if (word(json, "recipe").empty()) malformed(result.path, "'recipe' is missing");
    for (const Json& row : json["rows"]) {
      if (!row.contains("skipped")) need_numbers(result, row, "seconds");
    }
  }
  if (result.kind == "peers") {
    need_rows(result, "rows", {"case", "who", "version"});
    for (const Json& row : json["rows"]) {
      if (!row.contains("skipped")) need_numbers(result, row, "seconds");
    }
  }
  if (result.kind == "isa") {
    need_rows(result, "kernels", {"recipe", "variant", "target", "kernel"});
    need_rows(result, "verdicts", {"recipe", "variant", "target", "finding", "text"});
  }
  if (result.kind == "explore") {
    need_rows(result, "curves", {"recipe", "axis"});
    for (const Json& curve : json["curves"]) {
      need_numbers(result, curve, "points");
      if (!curve.contains("variants") || !curve["variants"].is_array())
        malformed(result.path, "a curve has no 'variants'");
      for (const Json& one : curve["variants"]) {
        need_numbers(result, one, "measured_us", true);
        if (one["measured_us"].size() != curve["points"].size() || word(one, "variant").empty())
          malformed(result.path, "a curve's variant has no name or not one time per point");
        if (!one.contains("predicted_us") || one["predicted_us"].is_null()) continue;
        if (!one["predicted_us"].is_object())
          malformed(result.path, "'predicted_us' is no object of one list per model");
        for (const auto& [model, times] : one["predicted_us"].items()) {
          if (!times.is_array() || times.size() != curve["points"].size())
            malformed(result.path, "the prediction '" + model + "' has not one time per point");
        }
      }
    }
  }
}

}  // namespace

std::vector<Result> load(const std::vector<std::string>& paths) {
  std::vector<Result> results;
  for (const std::string& path : paths) {
    Result result;
    result.path = path;
    result.stem = std::filesystem::path(path).stem().string();
    result.json = read_json(path);
    result.kind = word(result.json, "kind");
    if (result.kind != "isa") {
      const Json& device = result.json["device"];
      if (!device.is_object() || word(device, "name").empty())
        malformed(path, "the device has no name");
      result.device = fmt::format("{}, {}, driver {}", word(device, "name"),
                                  word(device, "platform"), word(device, "driver"));
    }
    check_content(result);
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

std::vector<std::string> devices_of(const std::vector<Result>& results, const std::string& kind) {
  std::vector<std::string> devices;
  for (const Result& one : results) {
    if (one.device.empty() || (!kind.empty() && one.kind != kind)) continue;
    if (std::find(devices.begin(), devices.end(), one.device) == devices.end())
      devices.push_back(one.device);
  }
  return devices;
}

std::string short_device(const std::vector<Result>& results, const std::string& device) {
  std::string name;
  for (const Result& one : results) {
    if (one.device == device) name = word(one.json["device"], "name");
  }
  for (const Result& one : results) {
    if (!one.device.empty() && one.device != device && word(one.json["device"], "name") == name)
      return device;
  }
  return name;
}

double number(const Json& object, const char* key) {
  return object.contains(key) && object[key].is_number() ? object[key].get<double>() : std::nan("");
}

std::string word(const Json& object, const char* key) {
  return object.contains(key) && object[key].is_string() ? object[key].get<std::string>() : "";
}

bool flag(const Json& object, const char* key) {
  return object.contains(key) && object[key].is_boolean() && object[key].get<bool>();
}

std::string params(const Json& object, const char* key) {
  std::string out;
  if (!object.contains(key) || !object[key].is_object()) return out;
  for (const auto& [name, value] : object[key].items()) {
    out += (out.empty() ? "" : " ") + name + "=" +
           (value.is_string() ? value.get<std::string>() : value.dump());
  }
  return out;
}

const char* to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::baseline:
      return "baseline";
    case Verdict::faster:
      return "faster";
    case Verdict::tie:
      return "tie";
    case Verdict::slower:
      return "slower";
    case Verdict::none:
      break;
  }
  return "";
}

namespace {

Verdict judge(const Ratio& ratio) {
  return ratio.tie() ? Verdict::tie : ratio.low > 1 ? Verdict::faster : Verdict::slower;
}

}  // namespace

Ratio ratio_of(const Json& row) {
  if (!row.contains("ratio") || !row["ratio"].is_object()) return {};
  return {number(row["ratio"], "value"), number(row["ratio"], "low"), number(row["ratio"], "high")};
}

Verdict verdict_of(const Json& row) {
  if (flag(row, "baseline")) return Verdict::baseline;
  if (!row.contains("ratio") || !row["ratio"].is_object()) return Verdict::none;
  const Ratio ratio{number(row["ratio"], "value"), number(row["ratio"], "low"),
                    number(row["ratio"], "high")};
  return std::isnan(ratio.low) || std::isnan(ratio.high) ? Verdict::none : judge(ratio);
}

const Json* best_of(const std::string& recipe, const std::vector<const Json*>& rows) {
  const auto approximate = [&](const std::string& variant) {
    for (const Recipe& one : recipes()) {
      if (one.name != recipe) continue;
      return std::any_of(one.variants.begin(), one.variants.end(), [&](const VariantInfo& info) {
        return info.name == variant && info.approximate;
      });
    }
    return false;
  };
  const Json* best = nullptr;
  for (const Json* one : rows) {
    const Verdict verdict = verdict_of(*one);
    if (verdict == Verdict::none || verdict == Verdict::baseline) continue;
    if (approximate(word(*one, "variant"))) continue;
    if (best == nullptr || ratio_of(*one).value > ratio_of(*best).value) best = one;
  }
  return best;
}

std::vector<Group> groups_of(const Result& bench, const std::string& recipe) {
  std::vector<Group> groups;
  for (const Json& row : bench.json["rows"]) {
    if (row["recipe"] != recipe) continue;
    const std::string shape = params(row, "shape");
    const std::string mode = word(row, "mode");
    auto found = std::find_if(groups.begin(), groups.end(), [&](const Group& one) {
      return one.shape == shape && one.mode == mode;
    });
    if (found == groups.end()) found = groups.insert(groups.end(), Group{shape, mode, {}});
    found->rows.push_back(&row);
  }
  return groups;
}

std::vector<Stage> stages_of(const Result& stages) {
  std::vector<Stage> out;
  std::vector<Blocks> samples;  // each one block
  for (const Json& row : stages.json["rows"]) {
    Stage stage;
    const double group = number(row, "group");
    stage.name = word(row, "stage") + (group > 0 ? fmt::format("@{:.0f}", group) : "");
    stage.skipped = word(row, "skipped");
    samples.emplace_back();
    if (stage.skipped.empty()) {
      samples.back().push_back(row["seconds"].get<std::vector<double>>());
      for (double& one : samples.back().front()) one *= 1e6;
      stage.time_us = interval(samples.back());
      stage.total = number(row, "total_ratio");
      stage.previous = word(row, "previous");
      for (std::size_t i = 0; i < out.size(); ++i) {
        if (out[i].name != stage.previous || samples[i].empty()) continue;
        stage.step = bootstrap_ratio(samples[i], samples.back());
        stage.verdict = judge(stage.step);
      }
      stage.max_error = number(row, "max_error");
      stage.off_full = number(row, "max_error_to_full");
    }
    out.push_back(std::move(stage));
  }
  return out;
}

Ratio interval(const Blocks& blocks) { return bootstrap_ratio(blocks, {{1.0}}); }

Ratio time_of(const Json& row) {
  // Results of older versions have no blocks: they are one.
  return interval(split(row["samples_us"].get<std::vector<double>>(), number(row, "blocks")));
}

std::string digits(double value) {
  if (std::isnan(value)) return "-";
  if (value == 0) return "0";
  const double size = std::abs(value);
  if (size >= 1e7 || size < 1e-3) return fmt::format("{:.2e}", value);
  if (size >= 100) return fmt::format("{:.0f}", value);
  if (size >= 10) return fmt::format("{:.1f}", value);
  return size >= 1 ? fmt::format("{:.2f}", value) : fmt::format("{:.3f}", value);
}

std::string times(double ratio) {
  return std::isnan(ratio) ? "-" : fmt::format("{:.{}f}", ratio, std::abs(ratio) < 0.1 ? 4 : 2);
}

std::string to_string(const Ratio& ratio) {
  return fmt::format("{}× [{}, {}]", times(ratio.value), times(ratio.low), times(ratio.high));
}

}  // namespace clcook::tool::report
