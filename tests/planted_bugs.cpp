// Planted bugs: kernels broken on purpose must fail the conformance check. An oracle that passes
// them is decoration. The bugs are in planted/<recipe>.txt, with the format explained there.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <clcook/registry/conformance.hpp>
#include "bench/cookbook/recipes.hpp"

#include "clcook_places.hpp"
#include "support/grid.hpp"
#include "support/planted.hpp"
#include "support/testing.hpp"

#ifndef CLCOOK_TEST_DIR
#define CLCOOK_TEST_DIR CLCOOK_SOURCE_DIR "/tests"
#endif

using namespace clcook;
using namespace clcook::testing;

namespace {

struct Bug : PlantedBug {
  std::string recipe;
  std::vector<std::string> variants;
  std::string shape;
  std::set<std::string> catchers;  // check, oclgrind, order
};

std::vector<Bug> read_bugs(const std::string& recipe, const std::string& content) {
  const std::string source = recipe + ".txt";
  std::vector<Bug> out;
  for (PlantedBug& one : read_planted(source, content, {"variant", "shape", "caught-by"})) {
    Bug bug;
    static_cast<PlantedBug&>(bug) = std::move(one);
    bug.recipe = recipe;
    if (bug.file.empty()) bug.file = recipe + ".cl";
    for (const auto& [key, value] : bug.more) {
      std::istringstream words(value);
      if (key == "shape") bug.shape = value;
      for (std::string word; key != "shape" && words >> word;) {
        if (key == "variant") {
          bug.variants.push_back(word);
        } else if (word == "check" || word == "oclgrind" || word == "order") {
          bug.catchers.insert(word);
        } else {
          throw std::runtime_error(source + ": an unknown catcher '" + word + "' of " + bug.name);
        }
      }
    }
    if (bug.variants.empty() || bug.catchers.empty())
      throw std::runtime_error(source + ": " + bug.name + " has no variant or no catcher");
    out.push_back(std::move(bug));
  }
  return out;
}

// All, or those of the recipe $CLCOOK_TEST_RECIPE: the lanes run one recipe at a time.
std::vector<Bug> all_bugs() {
  std::vector<std::filesystem::path> files;
  const char* only = std::getenv("CLCOOK_TEST_RECIPE");
  for (const auto& entry : std::filesystem::directory_iterator(CLCOOK_TEST_DIR "/planted")) {
    if (entry.path().extension() != ".txt") continue;
    if (only == nullptr || entry.path().stem() == only) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<Bug> out;
  for (const auto& file : files) {
    for (Bug& bug : read_bugs(file.stem().string(), read_bytes(file)))
      out.push_back(std::move(bug));
  }
  return out;
}

// A folder with the recipe's kernels, one of them changed.
void write_kernels(const std::filesystem::path& folder, const Bug* bug) {
  const std::filesystem::path kernels = CLCOOK_SOURCE_DIR "/kernels";
  std::filesystem::copy(
      kernels, folder,
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
  if (bug == nullptr) return;
  const std::string changed = plant(read_bytes(kernels / bug->file), *bug);
  CHECK(changed != read_bytes(kernels / bug->file));
  write_bytes(folder / bug->file, changed);
}

struct Result {
  bool crashed = false;  // a store out of bounds may end the process before the check sees it
  bool built = true;
  unsigned long passed = 0;
  unsigned long failed = 0;
  unsigned long refused = 0;  // since the implementation fails over the variant
  std::string output;
};

// Runs the variant with the kernels of a folder in a process of its own.
Result run_variant(const Bug& bug, const std::string& variant,
                   const std::filesystem::path& kernels) {
  const Ran ran = run_self("child: check one variant", {{"CLCOOK_KERNEL_DIR", kernels.string()},
                                                        {"CLCOOK_PLANTED_RECIPE", bug.recipe},
                                                        {"CLCOOK_PLANTED_VARIANT", variant},
                                                        {"CLCOOK_PLANTED_SHAPE", bug.shape},
                                                        {"CLCOOK_TENSOR_EMULATE", "1"}});
  Result result;
  result.output = ran.out + ran.err;
  result.built = !contains(ran.out, "does not build");
  const std::size_t at = ran.out.find("SUMMARY ");
  if (ran.code == -1) {
    result.crashed = true;
  } else if (at != std::string::npos) {
    std::istringstream numbers(ran.out.substr(at + 8));
    numbers >> result.passed >> result.failed >> result.refused;
  }
  return result;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

TEST_CASE("a change is made exactly where and as often as stated") {
  Bug bug;
  bug.name = "test";
  bug.replace = "a + b";
  bug.with = "X";
  CHECK(plant("1 a+b 2", bug) == "1 X 2");
  CHECK(plant("a\n  +\tb", bug) == "X");
  CHECK_THROWS(plant("nothing", bug));
  CHECK_THROWS(plant("a + b, a + b", bug));
  bug.times = 2;
  CHECK(plant("a + b, a+b;", bug) == "X, X;");
  CHECK_THROWS(plant("a + b", bug));
  bug.times = 1;
  bug.after = "here(";
  CHECK(plant("a+b here( a+b __kernel a+b", bug) == "a+b here( X __kernel a+b");
  CHECK_THROWS(plant("a+b elsewhere[ a+b", bug));
  CHECK_THROWS(read_bugs("x", "bug a\nbug b\n"));
  CHECK_THROWS(read_bugs("x", "bug a\nvariant v\nreplace t\n"));
  CHECK_THROWS(read_bugs("x", "bug a\nvariant v\nreplace t\nend\n"));
  CHECK_THROWS(read_bugs("x", "bug a\nvarient v\nend\n"));
}

// The text of all kernels of a recipe.
std::string kernels_of(const std::string& recipe) {
  const std::filesystem::path kernels = CLCOOK_SOURCE_DIR "/kernels";
  const std::filesystem::path file = kernels / (recipe + ".cl");
  if (std::filesystem::exists(file)) return read_bytes(file);
  std::string out;
  for (const auto& entry : std::filesystem::directory_iterator(kernels / recipe))
    out += read_bytes(entry.path());
  return out;
}

TEST_CASE(
    "every recipe has planted bugs, one with a barrier has some for Oclgrind or other orders") {
  std::map<std::string, int> bugs;
  std::map<std::string, int> of_barriers;
  for (const Bug& bug : all_bugs()) {
    ++bugs[bug.recipe];
    of_barriers[bug.recipe] += bug.catchers.count("oclgrind") + bug.catchers.count("order") > 0;
  }
  const char* only = std::getenv("CLCOOK_TEST_RECIPE");
  for (const Recipe& recipe : cookbook::recipes()) {
    if (only != nullptr && recipe.name != only) continue;
    CAPTURE(recipe.name);
    CHECK(bugs[recipe.name] > 0);
    if (contains(kernels_of(recipe.name), "barrier(CLK")) CHECK(of_barriers[recipe.name] > 0);
  }
}

// A shape without the mark of those for interpreters, in an order of its own.
std::string plain(const Params& shape) {
  std::set<std::string> entries;
  for (const Params::Entry& one : shape.entries()) {
    if (one.name != "tiny") entries.insert(one.name + "=" + to_string(one.value));
  }
  std::string out;
  for (const std::string& one : entries) out += (out.empty() ? "" : " ") + one;
  return out;
}

// A bug that another shape than the card's would show proves nothing of the lane.
TEST_CASE("every planted bug is looked for on a shape that its lane runs") {
  for (const Bug& bug : all_bugs()) {
    if (bug.shape.empty()) continue;
    const std::string name = bug.recipe + ": " + bug.name;
    CAPTURE(name);
    CAPTURE(bug.shape);
    bool known = false;
    bool tiny = false;
    for (const Params& shape : find_recipe(cookbook::recipes(), bug.recipe).test_shapes) {
      if (plain(shape) != plain(Params::parse(bug.shape))) continue;
      known = true;
      tiny = tiny || shape.integer("tiny", 0) != 0;
    }
    CHECK_MESSAGE(known, "no test shape of the recipe");
    if (bug.catchers.count("oclgrind") != 0) CHECK_MESSAGE(tiny, "not a shape that Oclgrind runs");
  }
}

// Ends the process: a damaged heap must not hide the result.
[[noreturn]] void report_and_exit(std::uint64_t passed, std::uint64_t failed,
                                  std::uint64_t refused) {
  std::printf("SUMMARY %lu %lu %lu\n", static_cast<unsigned long>(passed),
              static_cast<unsigned long>(failed), static_cast<unsigned long>(refused));
  std::fflush(stdout);
  std::_Exit(0);
}

// Run by the next test, in a process of its own.
TEST_CASE("child: check one variant" * doctest::skip()) {
  // A bug may damage memory: die at once, without a handler that might wait for a lock for ever.
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, SIG_DFL);
  alarm(120);
  ConformanceOptions options;
  options.recipes = {variable("CLCOOK_PLANTED_RECIPE")};
  options.variant = variable("CLCOOK_PLANTED_VARIANT");
  options.tiny = true;  // and the first tuning only
  options.out_of_order = false;
  const std::string shape = variable("CLCOOK_PLANTED_SHAPE");
  if (!shape.empty()) options.shapes = {Params::parse(shape)};
  std::uint64_t refused = 0;
  const ConformanceSummary summary =
      run_conformance(cookbook::recipes(), runtime(), options, [&](const ConformanceRow& row) {
        if (row.outcome != Outcome::passed) std::printf("%s\n", row.reason.c_str());
        // One failure is enough, and every shape costs PoCL a compilation.
        if (row.outcome == Outcome::failed) report_and_exit(0, 1, 0);
        if (row.lacks == Lacks::implementation) ++refused;
      });
  report_and_exit(summary.passed, summary.failed, refused);
}

TEST_CASE("unchanged copies pass, planted bugs fail") {
  int caught = 0;
  int crashed = 0;
  int not_run = 0;
  int refused = 0;
  std::map<std::string, bool> runs;  // variants with a shape that were seen to pass, or are refused
  const TempFolder unchanged;
  write_kernels(unchanged.path(), nullptr);
  for (const Bug& bug : all_bugs()) {
    const TempFolder changed;
    try {
      write_kernels(changed.path(), &bug);
    } catch (const std::exception& error) {  // the kernel was rewritten: so must the bug be
      FAIL_CHECK(bug.recipe, ".txt: ", std::string(error.what()));
      continue;
    }
    if (bug.catchers.count("check") == 0) continue;
    for (const std::string& variant : bug.variants) {
      const std::string name = bug.recipe + "/" + variant + ": " + bug.name;
      CAPTURE(name);
      if (left_out(number_of(name), 32)) {
        ++not_run;
        continue;
      }
      const auto [known, is_new] = runs.emplace(bug.recipe + "/" + variant + " " + bug.shape, true);
      if (is_new) {
        const Result good = run_variant(bug, variant, unchanged.path());
        CAPTURE(good.output);
        known->second = good.passed > 0 || good.refused == 0;
        CHECK((good.passed > 0 || good.refused > 0));
        CHECK(good.failed == 0);
        CHECK(!good.crashed);
      }
      if (!known->second) {
        std::printf("SKIPPED: %s, the variant is refused here\n", name.c_str());
        ++refused;
        continue;
      }
      const Result broken = run_variant(bug, variant, changed.path());
      CAPTURE(broken.output);
      CHECK(broken.built);  // a kernel that does not build would prove nothing
      CHECK_MESSAGE((broken.failed > 0 || broken.crashed), "the planted bug was not found");
      caught += broken.failed > 0 ? 1 : 0;
      crashed += broken.crashed ? 1 : 0;
    }
  }
  std::printf(
      "%d planted bugs caught by the check, %d crashed the process, %d are of variants that are "
      "refused here, %d are not in this grid\n",
      caught, crashed, refused, not_run);
  // A crash says less than a value that differs.
  CHECK((short_grid() || caught > 0));
}

// For planted/oclgrind.sh and the lane `order`: writes the kernels of each bug that the catcher
// $CLCOOK_PLANTED_CATCHER must find below $CLCOOK_PLANTED_DIR, and a line "BUG FOLDER RECIPE VARIANT
// SHAPE" for each on standard output.
TEST_CASE("child: write the kernels for another lane" * doctest::skip()) {
  const std::string folder = variable("CLCOOK_PLANTED_DIR");
  const std::string catcher = variable("CLCOOK_PLANTED_CATCHER");
  REQUIRE_FALSE(folder.empty());
  for (const Bug& bug : all_bugs()) {
    if (bug.catchers.count(catcher) == 0) continue;
    const std::filesystem::path kernels = std::filesystem::path(folder) / bug.name;
    std::filesystem::create_directories(kernels);
    write_kernels(kernels, &bug);
    std::printf("BUG %s %s %s %s\n", bug.name.c_str(), bug.recipe.c_str(),
                bug.variants.front().c_str(), bug.shape.c_str());
  }
}
