// Long commands that are ended early: what they have is kept, and --resume goes on with it.
#include <doctest/doctest.h>
#include <signal.h>

#include <chrono>
#include <clcook/core/tuning.hpp>
#include <clcook/io/whole_file.hpp>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "bench/results.hpp"
#include "support/grid.hpp"
#include "support/testing.hpp"

namespace {

using clcook::Tuning;
using clcook::testing::built_program;
using clcook::testing::contains;
using clcook::testing::not_built;
using clcook::testing::Ran;
using clcook::testing::read_bytes;
using clcook::testing::run_program;
using clcook::testing::TempFolder;
using clcook::tool::Json;

Ran clcook_tool(std::vector<std::string> arguments,
                const std::function<void(pid_t)>& meanwhile = {}) {
  arguments.insert(arguments.begin(), built_program("clcook"));
  return run_program(arguments, {}, meanwhile);
}

// Waits until the file holds a result with a member `list` that is not empty, at most a minute.
void wait_for_rows(const std::string& file, const char* list) {
  for (int i = 0; i < 6000; ++i) {
    if (std::filesystem::exists(file)) {
      const Json json = Json::parse(read_bytes(file));  // whole at every moment
      if (!json[list].empty()) return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

std::multiset<std::string> names(const Json& rows) {
  std::multiset<std::string> out;
  for (const Json& row : rows) {
    out.insert(row["recipe"].dump() + row["variant"].dump() + row["tune"].dump() +
               row["shape"].dump() + row.value("queue", ""));
  }
  return out;
}

}  // namespace

LONG_TEST_CASE("check: Ctrl-C keeps the rows, --resume runs the others", 16) {
  if (not_built("clcook")) return;
  const TempFolder folder;
  const std::string file = (folder / "check.json").string();
  const Ran ended = clcook_tool({"check", "--in-order", "--resume", file}, [&](pid_t child) {
    wait_for_rows(file, "rows");
    kill(child, SIGINT);
  });
  INFO(ended.out, ended.err);
  CHECK(ended.code == 130);
  CHECK(contains(ended.err, "finishing the row"));
  CHECK(contains(ended.err, "ended early"));
  CHECK(contains(ended.err, "--resume " + file));
  const Json kept = Json::parse(read_bytes(file));
  REQUIRE(!kept["rows"].empty());
  CHECK(kept["summary"]["passed"].get<std::size_t>() +
            kept["summary"]["skipped"].get<std::size_t>() ==
        kept["rows"].size());

  // A row that was kept is not run again.
  Json marked = kept;
  marked["rows"][0]["max_error"] = 0.125;
  marked["rows"][0]["bound"] = 0.5;
  clcook::io::write_file(file, marked.dump());
  const Ran rest = clcook_tool({"check", "argument_swap", "--in-order", "--resume", file});
  INFO(rest.out, rest.err);
  CHECK(rest.code == 0);
  const Json all = Json::parse(read_bytes(file));
  CHECK(all["rows"][0] == marked["rows"][0]);
  const Ran whole = clcook_tool({"check", "argument_swap", "--in-order", "--json"});
  CHECK(names(all["rows"]) == names(Json::parse(whole.out)["rows"]));
  CHECK(!all.contains("totals"));

  // Of another seed: not taken, and not lost.
  const Ran other = clcook_tool(
      {"check", "argument_swap", "--tiny", "--in-order", "--seed", "2", "--resume", file});
  CHECK(contains(other.err, "made with another seed and is kept as " + file + ".old"));
  CHECK(Json::parse(read_bytes(file + ".old")) == all);
  CHECK(Json::parse(read_bytes(file))["seed"] == 2);
  // No result at all: an error, and the file stays.
  clcook::io::write_file(file, "nothing");
  CHECK(clcook_tool({"check", "argument_swap", "--resume", file}).code == 2);
  CHECK(read_bytes(file) == "nothing");
  // Totals alone are no result to go on with.
  CHECK(clcook_tool({"check", "argument_swap", "--tiny", "--in-order", "--out", file}).code == 0);
  const std::string totals = read_bytes(file);
  const Ran done =
      clcook_tool({"check", "argument_swap", "--tiny", "--in-order", "--resume", file});
  CHECK(done.code == 2);
  CHECK(contains(done.err, file + ": holds the totals of a finished check"));
  CHECK(read_bytes(file) == totals);
}

LONG_TEST_CASE("bench: Ctrl-C keeps the problems, --resume measures the others", 16) {
  if (not_built("clcook")) return;
  const TempFolder folder;
  const std::string file = (folder / "bench.json").string();
  const std::vector<std::string> quick{"bench", "--quick", "--seconds", "0.3", "--resume", file};
  const Ran ended = clcook_tool(quick, [&](pid_t child) {
    wait_for_rows(file, "rows");
    kill(child, SIGTERM);
  });
  INFO(ended.out, ended.err);
  CHECK(ended.code == 130);
  CHECK(contains(ended.err, "ended early"));
  const Json kept = Json::parse(read_bytes(file));
  REQUIRE(!kept["rows"].empty());
  const std::string recipe = kept["rows"][0]["recipe"];
  std::vector<std::string> one = quick;
  one.insert(one.begin() + 1, recipe);
  const Ran again = clcook_tool(one);
  INFO(again.out, again.err);
  CHECK(contains(again.out, "measured before"));
  CHECK(Json::parse(read_bytes(file))["ceilings"] == kept["ceilings"]);

  std::vector<std::string> both = one;
  both.insert(both.end(), {"--out", file});
  CHECK(clcook_tool(both).code == 2);
}

LONG_TEST_CASE("tune: what was measured is in the file when the next problem begins", 32) {
  if (not_built("clcook")) return;
  const TempFolder folder;
  const std::string file = (folder / "tuning.txt").string();
  std::vector<std::string> command{"tune", "argument_swap", "--samples", "3", "--resume", file};
  for (const char* count : {"4096", "65536", "1048576"}) {
    command.emplace_back("--shape");
    command.push_back(std::string("count=") + count + " share=50.0 run=1");
  }
  const Ran ended = clcook_tool(command, [&](pid_t child) {
    for (int i = 0; i < 6000 && !std::filesystem::exists(file); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    kill(child, SIGINT);
  });
  INFO(ended.out, ended.err);
  CHECK(ended.code == 130);
  const auto first = Tuning::parse(read_bytes(file), file);
  CHECK(first.size() > 1);
  const Ran rest = clcook_tool(command);
  INFO(rest.out, rest.err);
  CHECK(rest.code == 0);
  CHECK(contains(rest.out, "measured before"));
  CHECK(Tuning::parse(read_bytes(file), file).size() > first.size());
}

TEST_CASE("check: a run that takes too long is ended, and the device is named") {
  if (not_built("clcook")) return;
  // The second problem takes seconds.
  const Ran ended =
      clcook_tool({"check", "line_blur", "--variant", "naive", "--in-order", "--time-limit", "0.3",
                   "--shape", "width=2500 height=2000 radius=64 sigma=0.5"});
  CAPTURE(ended.err);
  CHECK(ended.code == 1);
  CHECK(contains(ended.err, clcook::testing::runtime().info().name + ", driver "));
  CHECK(contains(ended.err, ": line_blur/naive [group="));
  CHECK(contains(ended.err, "did not end within its time_limit of 0.3 s and was ended"));
  CHECK(clcook_tool({"check", "line_blur", "--time-limit", "0"}).code == 2);
}

TEST_CASE("check: SIGTERM ends it after the run") {
  if (not_built("clcook")) return;
  const TempFolder folder;
  const std::string file = (folder / "check.json").string();
  const Ran ended = clcook_tool({"check", "--in-order", "--out", file}, [&](pid_t child) {
    wait_for_rows(file, "rows");
    kill(child, SIGTERM);
  });
  CAPTURE(ended.err);
  CHECK(ended.code == 130);
  CHECK(contains(ended.err, "finishing the row"));
}

TEST_CASE("the second Ctrl-C ends at once, and the file is whole") {
  if (not_built("clcook")) return;
  const TempFolder folder;
  const std::string file = (folder / "check.json").string();
  // The second problem takes seconds.
  const Ran ended = clcook_tool({"check", "line_blur", "--variant", "naive", "--in-order", "--out",
                                 file, "--shape", "width=3 height=2 radius=1 sigma=0.5", "--shape",
                                 "width=2500 height=2000 radius=64 sigma=0.5"},
                                [&](pid_t child) {
                                  wait_for_rows(file, "rows");
                                  kill(child, SIGINT);
                                  kill(child, SIGINT);
                                  for (int i = 0; i < 1000 && kill(child, 0) == 0; ++i) {
                                    kill(child, SIGINT);
                                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
                                  }
                                });
  CHECK(ended.code == -1);
  CHECK(!Json::parse(read_bytes(file))["rows"].empty());
}
