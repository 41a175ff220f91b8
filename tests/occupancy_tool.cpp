// clcook occupancy and clcook list --techniques.
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <clcook/model/occupancy.hpp>
#include "bench/cookbook/recipes.hpp"

#include "bench/tool/techniques.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;
using Json = nlohmann::json;

namespace {

using Variables = std::vector<std::pair<std::string, std::optional<std::string>>>;

Ran clcook_tool(std::vector<std::string> arguments, Variables variables = {}) {
  arguments.insert(arguments.begin(), built_program("clcook"));
  variables.insert(variables.begin(), {"CLCOOK_DEVICE", std::nullopt});
  return run_program(arguments, variables);
}

Ran ask(std::vector<std::string> arguments, const Variables& variables = {}) {
  arguments.insert(arguments.begin(), "occupancy");
  return clcook_tool(arguments, variables);
}

void refused(const std::vector<std::string>& arguments, const std::string& part,
             const Variables& variables = {}) {
  const Ran ran = ask(arguments, variables);
  CAPTURE(part);
  CAPTURE(ran.out);
  CAPTURE(ran.err);
  CHECK(ran.code == 2);
  CHECK(contains(ran.err, part));
  CHECK(ran.out.empty());
}

const std::vector<std::string> kArticle = {"--arch", "gfx900", "--vgpr",  "40",
                                           "--lds",  "32768",  "--group", "1024"};

std::vector<std::string> article_with(const std::vector<std::string>& more) {
  std::vector<std::string> out = kArticle;
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

bool has_clang() {
  if (std::filesystem::exists("/usr/bin/clang-19") && std::filesystem::exists("/usr/lib/clc"))
    return true;
  MESSAGE("SKIPPED: clang-19 or libclc-19 is not installed");
  return false;
}

}  // namespace

TEST_CASE("the answer with limiter, next step and chart") {
  if (not_built("clcook")) return;
  const Ran ran = ask(kArticle, {{"OCL_ICD_VENDORS", "/nonexistent"}});  // needs no device
  CAPTURE(ran.out);
  CHECK(ran.code == 0);
  CHECK(ran.err.empty());
  CHECK(contains(ran.out, "1 group of 16 waves per compute unit: 16 of 40 waves, 40 % occupancy"));
  CHECK(contains(ran.out, "limited by registers"));
  CHECK(contains(ran.out, "next step: 8 registers fewer (32): 2 groups instead of 1"));
  CHECK(contains(ran.out, "[1024]"));
  CHECK(contains(ran.out, "[40]"));
  CHECK(contains(ran.out, "####"));
  CHECK(contains(ran.out, "\n    64  "));
  CHECK(contains(ran.out, "\n   512  "));

  const Ran full = ask({"--arch", "gfx900", "--vgpr", "24", "--group", "256"});
  CHECK(contains(full.out, "10 groups of 4 waves"));
  CHECK(contains(full.out, "100 % occupancy"));
  CHECK(contains(full.out, "all places for waves are taken"));
  CHECK_FALSE(contains(full.out, "next step"));

  const Ran none = ask({"--arch", "sm_90", "--registers", "255", "--group", "1024"});
  CHECK(none.code == 0);
  CHECK(contains(none.out, "no group fits into a multiprocessor"));
  CHECK(contains(none.out, "191 registers fewer (64): 1 group instead of 0"));

  const Ran wide =
      ask({"--arch", "gfx1030", "--vgpr", "40", "--group", "256", "--wave", "64", "--cu-mode"});
  CHECK(contains(wide.out, "waves of 64"));
  CHECK(contains(wide.out, "CU mode"));
  CHECK(ask({"--arch", "xe_hpg", "--registers", "128", "--group", "128", "--wave", "8"}).code == 0);
}

TEST_CASE("JSON holds what the text says, for every architecture") {
  if (not_built("clcook")) return;
  for (const model::GpuArch* arch = model::gpu_archs_begin(); arch != model::gpu_archs_end();
       ++arch) {
    CAPTURE(arch->name);
    const Ran ran = ask({"--arch", std::string(arch->name), "--vgpr", "41", "--local", "9000",
                         "--group", "96", "--json"});
    REQUIRE(ran.code == 0);
    const Json json = Json::parse(ran.out);
    CHECK(json.at("kind") == "occupancy");
    REQUIRE(json.at("kernels").size() == 1);
    const Json& one = json.at("kernels")[0];
    model::KernelNeeds needs;
    needs.registers = 41;
    needs.local_bytes = 9000;
    needs.group_size = 96;
    const model::Occupancy now = model::occupancy(*arch, needs);
    CHECK(one.at("arch") == std::string(arch->name));
    CHECK(one.at("groups") == now.groups);
    CHECK(one.at("waves") == now.waves);
    CHECK(one.at("max_waves") == now.max_waves);
    CHECK(one.at("occupancy") == now.occupancy());
    CHECK(one.at("limiter") == std::string(to_string(now.limiter)));
    CHECK(one.at("limits").at("local memory") ==
          now.by[static_cast<int>(model::Limiter::local_memory)]);
    CHECK(one.at("next_step").is_null() == !next_step(*arch, needs).possible);
    const Json& chart = one.at("chart");
    CHECK(chart.at("registers").back() == arch->max_registers);
    REQUIRE(chart.at("rows").size() >= 5);
    for (const Json& row : chart.at("rows"))
      CHECK(row.at("occupancy").size() == chart.at("registers").size());
  }
}

TEST_CASE("figures from a compiled kernel") {
  if (not_built("clcook") || !has_clang()) return;
  const Ran ran = ask({"--recipe", "line_blur", "--variant", "local_line", "--json"});
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  const Json json = Json::parse(ran.out);
  REQUIRE(json.at("kernels").size() >= 1);
  for (const Json& one : json.at("kernels")) {
    CHECK(contains(one.at("kernel").get<std::string>(), "line_blur/local_line"));
    CHECK(contains(one.at("source").get<std::string>(), "clang"));
    CHECK(one.at("arch") == "gfx1030");
    CHECK(one.at("needs").at("registers").get<int>() > 0);
    CHECK(one.at("needs").at("group_size").get<int>() >= 64);
    CHECK(one.at("groups").get<int>() > 0);
    CHECK(contains(one.at("notes").dump(), "argument"));
  }
  const Ran given = ask({"--recipe", "line_blur", "--variant", "local_line", "--arch", "gfx900",
                         "--group", "1024", "--lds", "32768"});
  CHECK(given.code == 0);
  CHECK(contains(given.out, "32768 bytes of local memory, groups of 1024"));
  CHECK(contains(given.out, "gfx900"));
  // The variant's figures are those of clcook isa, and its count of waves agrees where whole groups
  // do not matter.
  const Ran isa = clcook_tool(
      {"isa", "line_blur", "--variant", "local_line", "--target", "gfx900", "--json", "-"});
  REQUIRE(isa.code == 0);
  const Json shown = Json::parse(isa.out);
  for (const Json& row : shown.at("kernels")) {
    if (row.at("variant") != "local_line") continue;
    const Json& said = row.at("resources");
    model::KernelNeeds needs;
    needs.registers = said.at("registers").get<int>();
    needs.scalar_registers = said.at("scalar_registers").get<int>();
    needs.local_bytes = said.at("local_bytes").get<int>();
    needs.group_size = 256;
    const model::Occupancy now = model::occupancy("gfx900", needs);
    CHECK((now.waves + 3) / 4 == said.at("occupancy").get<int>());
  }
}

TEST_CASE("bad input") {
  if (not_built("clcook")) return;
  refused({}, "known architectures are gfx801");
  refused({"--arch", "gfx000", "--vgpr", "1", "--group", "64"},
          "there is no architecture 'gfx000'");
  refused({"--arch", "gfx000", "--vgpr", "1", "--group", "64"}, "sm_90");
  refused({"--arch", "gfx900", "--group", "64"}, "--vgpr");
  refused({"--arch", "gfx900", "--vgpr", "1"}, "--group is needed");
  refused({"--arch", "gfx900", "--vgpr", "1", "--group", "0"}, "must be 1 to 1024, got 0");
  refused({"--arch", "gfx900", "--vgpr", "1", "--group", "1025"}, "got 1025");
  refused({"--arch", "gfx900", "--vgpr", "257", "--group", "64"}, "must be 0 to 256, got 257");
  refused({"--arch", "gfx900", "--vgpr", "-1", "--group", "64"}, "got -1");
  refused({"--arch", "gfx900", "--vgpr", "many", "--group", "64"}, "many");
  refused({"--arch", "gfx900", "--vgpr", "99999999999", "--group", "64"}, "99999999999");
  refused({"--arch", "gfx900", "--vgpr", "1", "--group", "64", "--lds", "65537"},
          "must be 0 to 65536, got 65537");
  refused({"--arch", "sm_90", "--vgpr", "1", "--group", "64", "--sgpr", "1"}, "got 1");
  refused(article_with({"--wave", "32"}), "the wave size of gfx900 is 64, got 32");
  refused(article_with({"--cu-mode"}), "no CU mode");
  refused(article_with({"--variant", "naive"}), "--recipe");
  refused({"--recipe", "nothing"}, "known are");
  refused({"--recipe", "line_blur", "--variant", "nothing"}, "known are");
  refused({"--recipe", "line_blur", "--device", "no such device"}, "no such device");
  refused({"--recipe", "line_blur"}, "clang-19 libclc-19", {{"PATH", "/nowhere"}});
  if (!has_clang()) return;
  refused({"--recipe", "line_blur", "--arch", "gfx000"}, "there is no architecture 'gfx000'");
  refused({"--recipe", "line_blur", "--arch", "xe_hpg"}, "there is no target 'xe_hpg'");
  refused({"--recipe", "line_blur", "--arch", "sm_90"}, "ptxas", {{"CLCOOK_PTXAS", "0"}});
  refused({"--recipe", "line_blur", "--group", "2000"}, "must be 1 to 1024, got 2000");
}

TEST_CASE("the techniques: numbers, titles, places") {
  int expected = 1;
  std::set<std::string> titles;
  for (const tool::TechniqueTitle& one : tool::kTechniques) {
    CHECK(one.number == expected++);
    CHECK(titles.insert(one.title).second);
  }
  CHECK(expected == 29);
  for (const Recipe& recipe : cookbook::recipes()) {
    CAPTURE(recipe.name);
    std::set<int> numbers;
    for (const Technique& one : recipe.shows) {
      CAPTURE(one.number);
      CHECK(one.number >= 1);
      CHECK(one.number <= 28);
      CHECK(numbers.insert(one.number).second);  // once per recipe
      CHECK_FALSE(one.where.empty());
      CHECK_FALSE(one.experiments.empty());
      for (const Experiment& experiment : one.experiments) {
        using Kind = Experiment::Kind;
        CAPTURE(experiment.with);
        const bool sweeps = experiment.kind == Kind::sweep;
        const auto is_of = [&](const std::string& variant) {
          const std::size_t at = variant.find('@');
          CHECK((at != std::string::npos) == sweeps);
          CHECK_NOTHROW(recipe.variant(variant.substr(0, at)));
        };
        if (experiment.kind == Kind::not_tested) {
          CHECK_FALSE(experiment.what.empty());
          continue;
        }
        is_of(experiment.with);
        if (experiment.kind == Kind::baseline)
          CHECK(experiment.without == recipe.baseline().name);
        else if (experiment.kind != Kind::shapes)
          is_of(experiment.without);
      }
    }
  }
}

TEST_CASE("list --techniques") {
  if (not_built("clcook")) return;
  const Variables no_device = {{"OCL_ICD_VENDORS", "/nonexistent"}};
  const Ran ran = clcook_tool({"list", "--techniques"}, no_device);
  CHECK(ran.code == 0);
  std::set<int> covered;
  for (const Recipe& recipe : cookbook::recipes()) {
    for (const Technique& one : recipe.shows) {
      covered.insert(one.number);
      CHECK(contains(ran.out, recipe.name + ": " + one.where + "\n"));
    }
  }
  for (const tool::TechniqueTitle& one : tool::kTechniques) CHECK(contains(ran.out, one.title));
  CHECK(count_of(ran.out, "not covered yet") == 28 - covered.size());
  CHECK(contains(ran.out, std::to_string(covered.size()) + " of 28 techniques are covered"));

  const Ran as_json = clcook_tool({"list", "--techniques", "--json"}, no_device);
  REQUIRE(as_json.code == 0);
  const Json json = Json::parse(as_json.out);
  REQUIRE(json.at("techniques").size() == 28);
  for (std::size_t i = 0; i < 28; ++i) {
    const Json& one = json.at("techniques")[i];
    CHECK(one.at("number") == i + 1);
    CHECK(one.at("title") == tool::kTechniques[i].title);
    CHECK(one.at("covered").empty() == (covered.count(static_cast<int>(i + 1)) == 0));
  }

  const Json all = Json::parse(clcook_tool({"list", "--json"}, no_device).out);
  std::size_t index = 0;
  for (const Recipe& recipe : cookbook::recipes()) {
    const Json& techniques = all.at("recipes")[index++].at("techniques");
    REQUIRE(techniques.size() == recipe.shows.size());
    for (std::size_t i = 0; i < techniques.size(); ++i) {
      CHECK(techniques[i].at("number") == recipe.shows[i].number);
      CHECK(techniques[i].at("where") == recipe.shows[i].where);
    }
  }
}
