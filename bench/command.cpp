#include "command.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <clcook/core/commit.hpp>
#include <ctime>
#include <fstream>
#include <system_error>

#include "cookbook/recipes.hpp"

namespace clcook::tool {

const std::vector<Recipe>& recipes() { return cookbook::recipes(); }

std::string tuning_name(const Recipe& recipe, const Params& shape) {
  return recipe.tuning_name ? recipe.tuning_name(shape) : recipe.name;
}

Json to_json(const Value& value) {
  return std::visit([](const auto& one) { return Json(one); }, value);
}

Json to_json(const Params& params) {
  Json out = Json::object();
  for (const Params::Entry& entry : params.entries()) out[entry.name] = to_json(entry.value);
  return out;
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

void write_file(const std::filesystem::path& path, std::string_view content) {
  const std::string where = "write " + path.string();
  std::error_code error;
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error)) {
    fail(Errc::io, where, "exists and is not a regular file");
  }
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  std::filesystem::path temporary = path;
  temporary += fmt::format(".tmp-{}", std::chrono::steady_clock::now().time_since_epoch().count());
  {
    std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
    if (!out) fail(Errc::io, where, "cannot create a file in that folder");
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    out.close();
    if (!out) {
      std::filesystem::remove(temporary, error);
      fail(Errc::io, where, "cannot write the file (is the disk full?)");
    }
  }
  std::filesystem::rename(temporary, path, error);
  if (error) {
    const std::string reason = error.message();
    std::filesystem::remove(temporary, error);
    fail(Errc::io, where, reason);
  }
}

void deliver(const std::string& path, const std::string& content) {
  if (!path.empty()) return write_file(path, content);
  if (std::fwrite(content.data(), 1, content.size(), stdout) != content.size() ||
      std::fflush(stdout) != 0) {
    fail(Errc::io, "standard output", "cannot write");
  }
}

}  // namespace clcook::tool
