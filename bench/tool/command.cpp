#include "tool/command.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <clcook/core/commit.hpp>
#include <ctime>

#include "cookbook/recipes.hpp"

namespace clcook::tool {

const std::vector<Recipe>& recipes() { return cookbook::recipes(); }

std::string tuning_name(const Recipe& recipe, const Params& shape) {
  return recipe.tuning_name ? recipe.tuning_name(shape) : recipe.name;
}

Json to_json(const DeviceInfo& info) {
  return {{"name", info.name},
          {"vendor", info.vendor},
          {"platform", info.platform},
          {"platform_version", info.platform_version},
          {"version", info.version},
          {"driver", info.driver},
          {"language", info.language},
          {"type", info.gpu           ? "gpu"
                   : info.accelerator ? "accelerator"
                                      : "cpu"},
          {"compute_units", info.compute_units},
          {"clock_mhz", info.clock_mhz},
          {"max_group", info.max_group},
          {"local_mem", info.local_mem},
          {"global_mem", info.global_mem}};
}

Json result_head(const std::string& kind, const DeviceInfo& info) {
  return {{"format", kFormat},
          {"kind", kind},
          {"commit", commit},
          {"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
          {"device", to_json(info)}};
}

std::string dump_result(const Json& result) {
  std::string out = "{";
  const char* separator = "\n";
  for (const auto& [key, value] : result.items()) {
    out += separator + Json(key).dump() + ": ";
    separator = ",\n";
    if (!value.is_array()) {
      out += value.dump();
      continue;
    }
    const char* comma = "\n  ";
    out += "[";
    for (const Json& row : value) {
      out += comma + row.dump();
      comma = ",\n  ";
    }
    out += "\n]";
  }
  return out + "\n}\n";
}

void deliver(const std::string& path, const std::string& content) {
  if (!path.empty()) return write_file(path, content);
  if (std::fwrite(content.data(), 1, content.size(), stdout) != content.size() ||
      std::fflush(stdout) != 0) {
    fail(Errc::io, "standard output", "cannot write");
  }
}

}  // namespace clcook::tool
