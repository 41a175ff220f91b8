#include "compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <clcook/core/source.hpp>
#include <map>
#include <vector>

#include "statistics.hpp"

namespace clcook::tool {

Json read_result(const std::string& path, const std::string& kind) {
  const std::string where = "result file " + path;
  Json result;
  try {
    result = Json::parse(read_text_file(path));
  } catch (const Json::parse_error& error) {
    fail(Errc::io, where, std::string("not a whole JSON file: ") + error.what());
  }
  if (!result.is_object() || !result.contains("format") || !result.contains("kind") ||
      !result.contains("device")) {
    fail(Errc::io, where, "not a result of clcook: 'format', 'kind' and 'device' are missing");
  }
  if (result["format"] != kFormat) {
    fail(Errc::io, where,
         fmt::format("has format version {}, this clcook reads version {}; measure again",
                     result["format"].dump(), kFormat));
  }
  if (!kind.empty() && result["kind"] != kind) {
    fail(Errc::io, where,
         fmt::format("holds a result of kind {}, expected \"{}\"", result["kind"].dump(), kind));
  }
  return result;
}

std::string row_name(const Json& row) {
  std::string name = row["recipe"].get<std::string>() + "/" + row["variant"].get<std::string>();
  const auto add = [&](const Json& params) {
    std::string out;
    for (const auto& [key, value] : params.items()) {
      out += (out.empty() ? "" : " ") + key + "=" +
             (value.is_string() ? value.get<std::string>() : value.dump());
    }
    return out;
  };
  const std::string tune = add(row["tune"]);
  name += (tune.empty() ? "" : " " + tune) + " (" + add(row["shape"]) + ")";
  if (row.contains("mode")) name += " " + row["mode"].get<std::string>();
  return name;
}

namespace {

// The samples of a row as they were taken.
Blocks blocks_of(const Json& row) {
  return split(row["samples_us"].get<std::vector<double>>(), row.value("blocks", 1.0));
}

}  // namespace

void check_same_device(const Json& result, const Json& device) {
  for (const char* key : {"name", "platform"}) {
    if (result["device"].value(key, "") != device.value(key, "")) {
      fail(Errc::invalid_argument, "compare",
           fmt::format("the results are of different devices: '{}, {}' and '{}, {}'; only results "
                       "of one device can be compared",
                       result["device"].value("platform", ""), result["device"].value("name", ""),
                       device.value("platform", ""), device.value("name", "")));
    }
  }
}

int compare_results(const Json& before, const Json& after) {
  check_same_device(before, after["device"]);
  if (before["device"].value("driver", "") != after["device"].value("driver", "")) {
    fmt::print("note: another driver, {} before and {} after\n",
               before["device"].value("driver", ""), after["device"].value("driver", ""));
  }
  std::map<std::string, const Json*> old_rows;
  for (const Json& row : before["rows"]) {
    if (row.value("status", "") == "measured") old_rows[row_name(row)] = &row;
  }
  int slower = 0;
  int faster = 0;
  int compared = 0;
  int unmatched = 0;
  for (const Json& row : after["rows"]) {
    if (row.value("status", "") != "measured") continue;
    const std::string name = row_name(row);
    const auto found = old_rows.find(name);
    if (found == old_rows.end()) {
      ++unmatched;
      continue;
    }
    ++compared;
    const Ratio ratio = bootstrap_ratio(blocks_of(row), blocks_of(*found->second));
    if (ratio.tie()) continue;
    (ratio.value > 1 ? slower : faster) += 1;
    fmt::print("{} {}: {:.1f} -> {:.1f} us, {:.3f}x [{:.3f}, {:.3f}]\n",
               ratio.value > 1 ? "SLOWER" : "faster", name,
               (*found->second)["median_us"].get<double>(), row["median_us"].get<double>(),
               ratio.value, ratio.low, ratio.high);
  }
  if (compared == 0) {
    fail(Errc::invalid_argument, "compare",
         "no row of the two results has the same recipe, variant, tuning, shape and mode");
  }
  fmt::print(
      "{} rows compared: {} the same within the noise ({:.1f} %), {} slower, {} faster; {} rows "
      "only in the newer result\n",
      compared, compared - slower - faster, 100.0 * (compared - slower - faster) / compared, slower,
      faster, unmatched);
  return slower > 0 ? 1 : 0;
}

}  // namespace clcook::tool
