// What `automatic` takes on the GPU of the committed results, asked without that GPU: within 5 % of the
// fastest exact variant that was measured there, at every bench shape.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/cookbook/recipes.hpp"
#include "clcook_places.hpp"

#include "stub/runtime.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;
using Json = nlohmann::json;

namespace {

// A device that says of itself what that of a result said.
stub::Device device_of(const Json& about) {
  stub::Device out = stub::gpu();
  out.platform = about["platform"];
  out.platform_version = about["platform_version"];
  out.name = about["name"];
  out.vendor = about["vendor"];
  out.version = about["version"];
  out.driver = about["driver"];
  out.compute_units = about["compute_units"];
  out.clock_mhz = about["clock_mhz"];
  out.max_group = about["max_group"];
  // NVIDIA's driver keeps some of a group's for itself: see quirks.hpp.
  out.local_memory = about["local_mem"].get<cl_ulong>() + 4;
  out.compute_capability = about["nvidia_capability"];
  return out;
}

Params params_of(const Json& object) {
  Params out;
  for (const auto& [name, value] : object.items()) {
    if (value.is_number_integer())
      out.set(name, value.get<std::int64_t>());
    else if (value.is_number())
      out.set(name, value.get<double>());
    else
      out.set(name, value.get<std::string>());
  }
  return out;
}

// The rows of one shape.
struct Times {
  Params shape;
  std::vector<const Json*> rows;
};

std::vector<Times> times_of(const Json& result) {
  std::vector<Times> out;
  for (const Json& row : result["rows"]) {
    if (row["status"] != "measured" || row["mode"] != "hot") continue;
    const Params shape = params_of(row["shape"]);
    const auto found = std::find_if(
        out.begin(), out.end(), [&](const Times& one) { return one.shape.str() == shape.str(); });
    (found == out.end() ? out.emplace_back(Times{shape, {}}) : *found).rows.push_back(&row);
  }
  return out;
}

constexpr double kSlower = 1.05;
// Of launches that take no longer: below it two runs order the variants in two ways.
constexpr double kLaunch_us = 1;

}  // namespace

TEST_CASE("automatic takes a variant within 5 % of the fastest that was measured") {
  unsetenv("CLCOOK_TUNING_FILE");
  std::size_t asked = 0;
  for (const Recipe& recipe : cookbook::recipes()) {
    const std::filesystem::path path = std::filesystem::path(CLCOOK_SOURCE_DIR) / "bench/results" /
                                       ("h200_bench_" + recipe.name + ".json");
    if (!std::filesystem::exists(path)) continue;
    CAPTURE(path.string());
    const Json result = Json::parse(read_bytes(path));
    stub::set_device(device_of(result["device"]));
    const Runtime runtime = stub::make_runtime();
    for (const Times& times : times_of(result)) {
      CAPTURE(times.shape.str());
      const Candidate choice = recipe.choose(runtime, times.shape);
      CAPTURE(choice.describe());
      double fastest = 0;
      double taken = 0;
      for (const Json* row : times.rows) {
        const double time = (*row)["median_us"];
        const std::string name = (*row)["variant"];
        // A bench has the first of a variant's tunes; automatic may take another, which was faster.
        if (name == choice.variant->name) taken = time;
        if (recipe.variant(name).is_approximate) continue;
        if (fastest == 0 || time < fastest) fastest = time;
      }
      if (taken == 0) continue;  // it lacks the variant
      CAPTURE(fastest);
      CAPTURE(taken);
      ++asked;
      CHECK((taken <= kSlower * fastest || taken <= fastest + kLaunch_us));
    }
  }
  CHECK(asked > 60);
}
