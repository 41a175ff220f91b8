// clcook explore: the sweeps that recipes declare, and what the command makes of them.
#include <nlohmann/json.hpp>

#include "bench/cookbook/recipes.hpp"

#include "support/grid.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;
using Json = nlohmann::ordered_json;

namespace {

Ran explore(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {built_program("clcook"), "explore"});
  return run_program(arguments, {});
}

}  // namespace

TEST_CASE("a sweep has numbers in rising order and a model that knows every variant") {
  for (const Recipe& recipe : cookbook::recipes()) {
    for (const Sweep& sweep : recipe.sweeps) {
      CAPTURE(recipe.name);
      CHECK(!sweep.label.empty());
      REQUIRE(sweep.along.values.size() >= 2);
      double last = -1e300;
      for (const Value& value : sweep.along.values) {
        const double x = Params{{"x", value}}.real("x");
        CHECK(x > last);
        last = x;
      }
      if (!sweep.lanes) continue;
      for (const Params& family : combinations(sweep.families)) {
        Params shape = sweep.shape;
        for (const Params* more : {&family, &sweep.smoke}) {
          for (const Params::Entry& entry : more->entries()) shape.set(entry.name, entry.value);
        }
        for (const Value& value : {sweep.along.values.front(), sweep.along.values.back()}) {
          shape.set(sweep.along.name, value);
          for (const VariantInfo& variant : recipe.variants) {
            CAPTURE(variant.name);
            const model::LaneMasks masks = sweep.lanes(variant.name, recipe.check_shape(shape), 1);
            CHECK(!masks.taken.empty());
            CHECK(model::lane_mask_cost(masks, 32) >= model::lane_mask_cost(masks, 1));
            CHECK(model::lane_mask_cost(masks, 1) > 0);
          }
        }
      }
    }
  }
}

TEST_CASE("every sweep runs, and the result holds measured and predicted times") {
  if (not_built("clcook")) return;
  std::size_t number = 0;
  for (const Recipe& recipe : cookbook::recipes()) {
    if (recipe.sweeps.empty() || left_out(number++, 16)) continue;
    CAPTURE(recipe.name);
    TempFolder folder;
    const std::string file = (folder / "explore.json").string();
    const Ran ran = explore({recipe.name, "--smoke", "--out", file});
    CHECK_MESSAGE(ran.code == 0, ran.err);
    const Json result = Json::parse(read_bytes(file));
    CHECK(result["kind"] == "explore");
    REQUIRE(result["curves"].size() == recipe.sweeps.size());
    for (std::size_t i = 0; i < result["curves"].size(); ++i) {
      const Json& curve = result["curves"][i];
      const Sweep& sweep = recipe.sweeps[i];
      CHECK(curve["recipe"] == recipe.name);
      CHECK(curve["points"].size() == 2);
      for (const Params::Entry& entry : sweep.smoke.entries())
        CHECK(curve["shape"].contains(entry.name));
      int baselines = 0;
      Json baseline;
      for (const Json& one : curve["variants"]) {
        if (one["baseline"].get<bool>() && !one["measured_us"][0].is_null()) baseline = one;
      }
      CHECK(curve["variants"].size() == recipe.variants.size());
      for (const Json& one : curve["variants"]) {
        baselines += one["baseline"].get<bool>() ? 1 : 0;
        CHECK(one["measured_us"].size() == 2);
        CHECK(one.contains("pays") != one["baseline"].get<bool>());
        if (!one.contains("predicted_us") || one["measured_us"][0].is_null()) continue;
        std::vector<std::string> models;
        if (sweep.lanes) models = {"1 lane", "32 lanes", "64 lanes"};
        if (sweep.model) models.push_back(sweep.model_name);
        CHECK(one["predicted_us"].size() == models.size());
        // One unit of cost for all variants: that of the baseline where it costs most.
        if (!sweep.lanes || baseline.is_null()) continue;
        const auto cost_of = [&](const Json& line, std::size_t k) {
          Params shape;
          for (const auto& [name, value] : curve["shape"].items()) {
            if (value.is_string())
              shape.set(name, value.get<std::string>());
            else if (value.is_number_integer())
              shape.set(name, value.get<std::int64_t>());
            else
              shape.set(name, value.get<double>());
          }
          shape.set(sweep.along.name,
                    sweep.along.values[k == 0 ? 0 : sweep.along.values.size() - 1]);
          return model::lane_mask_cost(sweep.lanes(line["variant"], recipe.check_shape(shape), 1),
                                       32);
        };
        const std::size_t dearest = cost_of(baseline, 0) < cost_of(baseline, 1) ? 1 : 0;
        const double unit =
            baseline["measured_us"][dearest].get<double>() / cost_of(baseline, dearest);
        const double launch = result["ceilings"]["launch_us"].get<double>();
        for (std::size_t k = 0; k < 2; ++k) {
          const double predicted = one["predicted_us"]["32 lanes"][k].get<double>();
          CHECK(predicted >= std::max(unit * cost_of(one, k), launch) * 0.99 - 2e-3);
        }
      }
      CHECK(baselines == 1);
    }
  }
}

TEST_CASE("what cannot be explored is refused with a reason") {
  if (not_built("clcook")) return;
  const Ran none = explore({"line_blur"});
  CHECK(none.code == 2);
  CHECK(none.err.find("line_blur declares no sweep; those that do:") != std::string::npos);
  const Ran unknown = explore({"no_such_recipe"});
  CHECK(unknown.code == 2);
  CHECK(unknown.err.find("there is no recipe 'no_such_recipe'") != std::string::npos);
  CHECK(explore({}).code == 2);
  CHECK(explore({"line_blur", "--samples", "0"}).code == 2);
}
