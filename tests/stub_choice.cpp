// What `automatic` takes on the GPU of the committed results, asked without that GPU: within 5 % of the
// fastest exact variant that was measured there, at every bench shape; of shapes that differ in their
// data alone, where no variant is fast for all of them, by the slowest.
#include <algorithm>
#include <clcook/core/quirks.hpp>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>
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
  out.global_memory = about["global_mem"].get<cl_ulong>();
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

// All that automatic is told of a problem.
std::string question(const Runtime& runtime, const AnyProblem& problem) {
  std::string out = text(problem.bytes());
  for (const std::string& name : problem.tuning_names()) out += " " + name;
  for (const VariantInfo* variant : problem.variants()) {
    const Offer offer =
        problem.offer(runtime, *variant, problem.close(*variant, {}, runtime.info()));
    out += text("\n", variant->name, " ", offer.why, " ", offer.work.bytes_read, " ",
                offer.work.bytes_written, " ", offer.work.operations, " ", offer.work.launches, " ",
                offer.max_error, " ", offer.psnr, " ", offer.cost);
    for (const CompileUnit& unit : offer.units) out += " " + unit.defines.options();
  }
  return out;
}

// What was measured of the shapes between which automatic cannot tell: of how the data lie a problem
// says nothing.
struct Times {
  std::string question;
  Params shape;                                                // the first of them
  std::map<std::string, std::map<std::string, double>> times;  // microseconds by shape and variant
};

// Whether a row is of a variant without axes, which runs as the problem asks, and was measured with
// another tune, when it had axes.
bool is_other_tune(const Runtime& runtime, const Recipe& recipe, const VariantInfo& variant,
                   const Json& row) {
  if (!variant.axes.empty()) return false;
  const Params today = recipe.whole_tune(variant.name, {}, params_of(row["shape"]), runtime.info());
  const Params then = params_of(row["tune"]);
  return std::any_of(today.entries().begin(), today.entries().end(), [&](const Params::Entry& one) {
    return then.find(one.name) != nullptr && *then.find(one.name) != one.value;
  });
}

std::vector<Times> times_of(const Runtime& runtime, const Recipe& recipe, const Json& result) {
  std::vector<Times> out;
  std::map<std::string, std::string>
      questions;  // by shape: some of their problems hold millions of values
  for (const Json& row : result["rows"]) {
    if (row["status"] != "measured" || row["mode"] != "hot") continue;
    const auto is_row = [&](const VariantInfo& one) { return row["variant"] == one.name; };
    const auto variant = std::find_if(recipe.variants.begin(), recipe.variants.end(), is_row);
    if (variant == recipe.variants.end()) continue;  // of old
    if (is_other_tune(runtime, recipe, *variant, row)) continue;
    const Params shape = params_of(row["shape"]);
    std::string& asked = questions[shape.str()];
    if (asked.empty()) asked = question(runtime, *recipe.problem(shape));
    auto found = std::find_if(out.begin(), out.end(),
                              [&](const Times& one) { return one.question == asked; });
    if (found == out.end()) found = out.insert(found, Times{asked, shape, {}});
    // A bench has the first of a variant's tunes; automatic may take another, which was faster.
    found->times[shape.str()][row["variant"]] = row["median_us"];
  }
  return out;
}

constexpr double kSlower = 1.05;
// Of launches that take no longer: below it two runs order the variants in two ways.
constexpr double kLaunch_us = 1;

bool is_fast(double time, double fastest) {
  return time <= kSlower * fastest || time <= fastest + kLaunch_us;
}

// The variants that may be taken: those that are fast for each of the shapes. Where none is, those
// whose slowest time is.
std::vector<std::string> fast_variants(const Recipe& recipe, const Times& of) {
  struct Sum {
    std::size_t measured = 0;  // shapes
    std::size_t fast = 0;
    double slowest = 0;
  };
  std::map<std::string, Sum> sums;
  for (const auto& [shape, times] : of.times) {
    double fastest = std::numeric_limits<double>::infinity();
    for (const auto& [name, time] : times) {
      if (!recipe.variant(name).is_approximate) fastest = std::min(fastest, time);
    }
    for (const auto& [name, time] : times) {
      Sum& sum = sums[name];
      ++sum.measured;
      sum.fast += is_fast(time, fastest) ? 1 : 0;
      sum.slowest = std::max(sum.slowest, time);
    }
  }
  const std::size_t all = of.times.size();
  bool any = false;
  double least = std::numeric_limits<double>::infinity();  // of the slowest times
  for (const auto& [name, sum] : sums) {
    any = any || sum.fast == all;
    if (sum.measured == all && !recipe.variant(name).is_approximate)
      least = std::min(least, sum.slowest);
  }
  std::vector<std::string> out;
  for (const auto& [name, sum] : sums) {
    if (any ? sum.fast == all : sum.measured == all && is_fast(sum.slowest, least))
      out.push_back(name);
  }
  return out;
}

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
    for (const Times& times : times_of(runtime, recipe, result)) {
      CAPTURE(times.shape.str());
      const Candidate choice = recipe.choose(runtime, times.shape);
      CAPTURE(choice.describe());
      const std::string& taken = choice.variant->name;
      if (times.times.begin()->second.count(taken) == 0) continue;  // it lacks the variant
      const std::vector<std::string> fast = fast_variants(recipe, times);
      CAPTURE(fast);
      ++asked;
      CHECK(std::find(fast.begin(), fast.end(), taken) != fast.end());
    }
  }
  CHECK(asked > 60);
}

// On an H200 the slots of 351,304 values among such thresholds took 86 us by the table, 10 by a search.
TEST_CASE("automatic takes no table of thresholds that crowd in one of its cells") {
  const Recipe& recipe = find_recipe(cookbook::recipes(), "threshold_count");
  const auto taken = [&](const stub::Device& device, int n, const char* spread) {
    stub::set_device(device);
    Params shape = recipe.bench_shapes.front();
    shape.set("n", n).set("spread", std::string(spread));
    return recipe.choose(stub::make_runtime(), shape).variant->name;
  };
  CHECK(taken(stub::gpu(), 169, "sectors") != "binary_search");
  CHECK(taken(stub::gpu(), 169, "uneven") == "binary_search");
  for (const int n : {64, 129, 256}) CHECK(taken(stub::cpu(), n, "uneven") == "cpu_blocks");
  CHECK(taken(stub::cpu(), 16, "uneven") == "cpu_strip");
}

// Rows of a random grid on an H200, where another variant took 1.3 to 3.3 times as long.
TEST_CASE("automatic sees that small pictures leave a large device half empty") {
  unsetenv("CLCOOK_TUNING_FILE");
  const auto taken = [](const char* name, const char* words) {
    const std::filesystem::path path = std::filesystem::path(CLCOOK_SOURCE_DIR) / "bench/results" /
                                       text("h200_bench_", name, ".json");
    stub::set_device(device_of(Json::parse(read_bytes(path))["device"]));
    const Recipe& recipe = find_recipe(cookbook::recipes(), name);
    Params shape = recipe.bench_shapes.front();
    const Params asked = Params::parse(words);
    for (const Params::Entry& one : asked.entries()) shape.set(one.name, one.value);
    const Runtime runtime = stub::make_runtime();
    return recipe.choose(runtime, shape).variant->name;
  };
  CHECK(taken("halo_tile", "filter=erosion width=513 height=193 radius=9 pixel=r16f") ==
        "local_tile_multi");
  CHECK(taken("halo_tile", "filter=dilation width=614 height=411 radius=27 pixel=rg32f") ==
        "columns_first");
  CHECK(taken("halo_tile", "filter=dilation width=28 height=183 depth=257 radius=1 pixel=r16f") ==
        "local_tile");
  CHECK(taken("halo_tile", "filter=dilation width=81 height=180 depth=379 radius=1 pixel=r16") ==
        "slices");
  // One axis after the other, 1.5 to 13 times as fast as local_tile; at radius 1 slices needs one step.
  for (const char* words : {"filter=erosion width=118 height=88 depth=102 radius=5 pixel=r16",
                            "filter=erosion width=30 height=190 depth=25 radius=4 pixel=r32f",
                            "filter=dilation width=256 height=256 depth=256 radius=2 pixel=r32f",
                            "filter=dilation width=256 height=256 depth=256 radius=8 pixel=r32f",
                            "filter=erosion width=134 height=44 depth=284 radius=3 pixel=r8",
                            "filter=dilation width=300 height=40 depth=17 radius=6 pixel=r8"}) {
    CAPTURE(std::string(words));
    CHECK(taken("halo_tile", words) == "slices_first");
  }
  CHECK(taken("halo_tile", "filter=dilation width=256 height=256 depth=256 radius=1 pixel=r32f") ==
        "slices");
  // 64 GiB three times is more than the device has.
  CHECK(
      taken("halo_tile", "filter=dilation width=4096 height=2048 depth=2048 radius=2 pixel=r32f") ==
      "local_tile");
  CHECK(taken("halo_tile", "filter=clamp width=118 height=88 depth=102 radius=5 pixel=r16") ==
        "local_tile");
  CHECK(taken("rank_filter", "width=101 height=84 radius=31 pixel=rg32f") == "local_tile");
  CHECK(taken("rank_filter", "width=78 height=3759 radius=17 pixel=r8") == "local_tile");
  CHECK(taken("rank_filter", "width=1041 height=7764 radius=24 pixel=rgba32f") ==
        "local_tile_multi");
}

TEST_CASE("a PoCL that ends the process without ld is refused there") {
  stub::Device device = stub::cpu();
  device.platform = "Portable Computing Language";
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/proc:/nowhere", 1);
  device.platform_version = "OpenCL 3.0 PoCL 3.0-rc2  Linux";
  stub::set_device(device);
  CHECK_THROWS_WITH_AS(stub::make_runtime(),
                       doctest::Contains("links kernels with ld, and PATH has none"), Error);
  device.platform_version = "OpenCL 3.0 PoCL 3.1  Linux";
  stub::set_device(device);
  stub::make_runtime();
  setenv("PATH", path.c_str(), 1);
}

TEST_CASE("no kernel for CPUs runs on a PoCL that breaks its vectors") {
  unsetenv("CLCOOK_TUNING_FILE");
  stub::Device device = stub::cpu();
  device.platform = "Portable Computing Language";
  for (const char* version : {"OpenCL 3.0 PoCL 3.0-rc2  Linux", "OpenCL 3.0 PoCL 3.1  Linux"}) {
    CAPTURE(version);
    device.platform_version = version;
    stub::set_device(device);
    const Runtime runtime = stub::make_runtime();
    const bool is_whole = std::string(version).find("3.1") != std::string::npos;
    CHECK(quirks::vector_elements(runtime.info()) == (is_whole ? 16 : 4));
    for (const char* name : {"gaussian_blur", "rank_filter", "halo_tile", "bc6h_decode"}) {
      CAPTURE(name);
      const Recipe& recipe = find_recipe(cookbook::recipes(), name);
      const Params& shape = recipe.bench_shapes.front();
      CHECK(recipe.choose(runtime, shape).variant->is_for_cpus == is_whole);
      for (const VariantInfo& variant : recipe.variants) {
        if (!variant.is_for_cpus || is_whole) continue;
        CHECK(recipe.offer(runtime, variant.name, {}, shape).lacks == Lacks::implementation);
      }
    }
  }
}
