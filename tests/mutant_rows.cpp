// The rows of the conformance check for tests/mutants/mutants.py: what each of them compiles, and a
// run of some of them with the kernels of $CLCOOK_KERNEL_DIR, which ends at the first failure.
#include <clcook/registry/conformance.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "bench/cookbook/recipes.hpp"

#include "clcook_places.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;

namespace {

// A file of kernels/ and the options that it is compiled with.
using Program = std::pair<std::string, std::string>;

// The programs of a row; nothing where the variant does not take the shape.
std::optional<std::vector<Program>> programs_of(const Recipe& recipe, const std::string& variant,
                                                const Params& tune, const Params& shape) {
  try {
    const Offer offer = recipe.offer(runtime(), variant, tune, shape);
    if (!offer.can()) return std::nullopt;
    std::vector<Program> out;
    for (const CompileUnit& unit : offer.units) {
      out.emplace_back(unit.source.name(),
                       Runtime::build_options(runtime().info(), unit.defines, unit.options));
    }
    return out;
  } catch (const Error&) {
    return std::nullopt;
  }
}

void for_each_row(
    const Recipe& recipe,
    const std::function<void(const std::string&, const Params&, const Params&)>& call) {
  for (const VariantInfo& variant : recipe.variants) {
    for (const Params& shape : recipe.test_shapes) {
      for (const Params& tune : combinations(variant.axes)) call(variant.name, tune, shape);
    }
  }
}

std::string name_of(const std::string& recipe, const std::string& variant, const Params& tune,
                    const Params& shape) {
  return recipe + "\t" + variant + "\t" + tune.str() + "\t" + shape.str();
}

}  // namespace

TEST_CASE("what a row compiles are files of kernels/") {
  for (const Recipe& recipe : cookbook::recipes()) {
    CAPTURE(recipe.name);
    const std::string variant = recipe.baseline().name;
    const auto programs = programs_of(recipe, variant, {}, recipe.test_shapes.front());
    REQUIRE(programs.has_value());
    CHECK_FALSE(programs->empty());
    for (const auto& program : *programs) {
      CAPTURE(program.first);
      CHECK(std::filesystem::exists(std::filesystem::path(CLCOOK_SOURCE_DIR "/kernels") /
                                    program.first));
    }
  }
}

// Lines "program NUMBER FILE OPTIONS" and "row RECIPE VARIANT TUNE SHAPE TINY NUMBER...", separated
// by tabs, the numbers by blanks.
TEST_CASE("child: list the rows" * doctest::skip()) {
  std::map<Program, std::size_t> known;
  for (const Recipe& recipe : cookbook::recipes()) {
    for_each_row(recipe, [&](const std::string& variant, const Params& tune, const Params& shape) {
      const auto programs = programs_of(recipe, variant, tune, shape);
      if (!programs) return;
      std::string numbers;
      for (const Program& program : *programs) {
        const auto [at, is_new] = known.try_emplace(program, known.size());
        if (is_new)
          std::printf("program\t%zu\t%s\t%s\n", at->second, program.first.c_str(),
                      program.second.c_str());
        numbers += (numbers.empty() ? "" : " ") + std::to_string(at->second);
      }
      // The short check of `clcook check --tiny` takes the first tune alone.
      const bool tiny = shape.integer("tiny", 0) != 0 &&
                        tune == combinations(recipe.variant(variant).axes).front();
      std::printf("row\t%s\t%s\t%s\n", name_of(recipe.name, variant, tune, shape).c_str(),
                  tiny ? "tiny" : "full", numbers.c_str());
    });
  }
}

// The rows that the file $CLCOOK_MUTANT_ROWS names: lines "RECIPE VARIANT TUNE SHAPE" as above.
TEST_CASE("child: check rows" * doctest::skip()) {
  // A mutant may damage memory: die at once, without a handler that might wait for a lock for ever.
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, SIG_DFL);
  const char* file = std::getenv("CLCOOK_MUTANT_ROWS");
  REQUIRE(file != nullptr);
  std::set<std::string> wanted;
  std::set<std::string> recipes;
  std::istringstream lines(read_bytes(file));
  for (std::string line; std::getline(lines, line);) {
    wanted.insert(line);
    recipes.insert(line.substr(0, line.find('\t')));
  }
  ConformanceOptions options;
  options.recipes.assign(recipes.begin(), recipes.end());
  options.out_of_order = false;
  options.selects = [&](const ConformanceRow& row) {
    return wanted.count(name_of(row.recipe, row.variant, row.tune, row.shape)) != 0;
  };
  const ConformanceSummary summary =
      run_conformance(cookbook::recipes(), runtime(), options, [](const ConformanceRow& row) {
        if (row.outcome != Outcome::failed) return;
        std::printf("FAILED %s: %s\n", row.name().c_str(), row.reason.c_str());
        std::fflush(stdout);
        std::_Exit(1);  // a damaged heap must not hide the result
      });
  std::printf("PASSED %lu of %zu\n", static_cast<unsigned long>(summary.passed), wanted.size());
  std::fflush(stdout);
  std::_Exit(0);
}
