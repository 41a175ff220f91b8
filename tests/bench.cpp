// Measuring: the statistics, comparing results, and the bench and tune commands end to end.
#include "bench/measure/measure.hpp"
#include "bench/measure/statistics.hpp"
#include "bench/results.hpp"
#include "bench/tool/progress.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <clcook/core/tuning.hpp>
#include <clcook/registry/random.hpp>
#include "bench/cookbook/recipes.hpp"

#include "support/grid.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;
using namespace clcook::tool;

namespace {

Ran clcook_command(
    std::vector<std::string> arguments,
    const std::vector<std::pair<std::string, std::optional<std::string>>>& variables = {},
    const std::function<void(pid_t)>& meanwhile = {}) {
  arguments.insert(arguments.begin(), built_program("clcook"));
  return run_program(arguments, variables, meanwhile);
}

// A bench result of one row with these samples.
Json result(const std::vector<double>& samples, const std::string& device = "toy device") {
  BenchRow row;
  row.recipe = "toy";
  row.variant = "fast";
  row.tune = {{"group", 64}};
  row.shape = {{"width", 3}};
  row.mode = "hot";
  row.baseline = true;
  row.status = "measured";
  row.median_us = median(samples);
  row.samples_us = samples;
  Json out{{"format", 1},
           {"kind", "bench"},
           {"device", {{"name", device}, {"platform", "P"}, {"driver", "1"}}}};
  BenchResult content;
  content.rows.push_back(row);
  out.update(to_json(content));
  return out;
}

Blocks around(double centre, double spread, std::size_t blocks, std::uint64_t seed) {
  Random random(seed);
  Blocks out(blocks);
  for (auto& block : out) {
    for (int i = 0; i < 6; ++i)
      block.push_back(centre + spread * (static_cast<double>(random.uniform()) - 0.5));
  }
  return out;
}

}  // namespace

TEST_CASE("median and median deviation") {
  CHECK(std::isnan(median({})));
  CHECK(median({3}) == 3);
  CHECK(median({5, 1}) == 3);
  CHECK(median({9, 1, 5}) == 5);
  CHECK(median({4, 1, 3, 2}) == 2.5);
  CHECK(median_deviation({1, 2, 3, 4, 100}) == 1);
}

TEST_CASE("a bootstrap interval holds the ratio, ties where nothing differs, and is reproducible") {
  const Blocks slow = around(200, 4, 5, 1);
  const Blocks fast = around(100, 4, 5, 2);
  const Ratio ratio = bootstrap_ratio(slow, fast);
  CHECK(ratio.low <= ratio.value);
  CHECK(ratio.value <= ratio.high);
  CHECK(ratio.value == doctest::Approx(2).epsilon(0.02));
  CHECK_FALSE(ratio.tie());
  CHECK(bootstrap_ratio(around(100, 4, 5, 3), fast).tie());
  const Ratio again = bootstrap_ratio(slow, fast);
  CHECK(again.low == ratio.low);
  CHECK(again.high == ratio.high);
  const Ratio inverse = bootstrap_ratio(fast, slow);
  CHECK(inverse.value == doctest::Approx(1 / ratio.value));
  // Those of the report's scripts, in tests/report/report_test.py.
  const Ratio known =
      bootstrap_ratio({{31, 33, 30, 36}, {35, 34}, {32, 31, 33}}, {{38, 40, 39, 43}, {38, 42}});
  CHECK(known.low == doctest::Approx(0.3946923268930648).epsilon(1e-14));
  CHECK(known.high == doctest::Approx(1.4323908842724613).epsilon(1e-14));
  CHECK(bootstrap_ratio({{31, 33, 30}, {35, 36, 34}, {32, 31, 33}}, {{1.0}}).low == 30.5);
}

TEST_CASE("of few blocks an interval holds the ratio as often as it says") {
  Random random(7);
  for (const std::size_t blocks : std::vector<std::size_t>{3, 5, 10}) {
    // Blocks whose centres spread by 1 %, as processes do.
    const auto drifting = [&] {
      Blocks out(blocks);
      for (auto& block : out) {
        double centre = 100;
        for (int i = 0; i < 12; ++i) centre += static_cast<double>(random.uniform()) - 0.5;
        for (int i = 0; i < 6; ++i)
          block.push_back(centre + 0.2 * (static_cast<double>(random.uniform()) - 0.5));
      }
      return out;
    };
    int held = 0;
    constexpr int kRuns = 200;
    for (int run = 0; run < kRuns; ++run)
      held += bootstrap_ratio(drifting(), drifting()).tie() ? 1 : 0;
    CAPTURE(blocks);
    CAPTURE(held);
    CHECK(held >= 0.93 * kRuns);
  }
}

TEST_CASE("drift between blocks widens the interval") {
  Blocks drifting;
  for (const double centre : {96.0, 98.0, 100.0, 102.0, 104.0}) {
    drifting.push_back(std::vector<double>(6, centre));
  }
  const Blocks steady(5, std::vector<double>(6, 100.0));
  const Ratio ratio = bootstrap_ratio(drifting, steady);
  CHECK(ratio.low <= 0.98);
  CHECK(ratio.high >= 1.02);
  CHECK(ratio.tie());
  CHECK(bootstrap_ratio(steady, steady).low == 1);
}

TEST_CASE(
    "noise decides how many blocks a variant gets, and a clock that was low takes one again") {
  MeasureOptions options;
  options.blocks = 3;
  options.most_blocks = 9;
  // How many blocks there are in the end, of these medians in their order.
  const auto taken = [&](const std::vector<double>& medians, bool in_time = true) {
    Subject subject;
    while (wants_block(subject, options, in_time) && subject.blocks.size() < medians.size()) {
      const double next = medians[subject.blocks.size()];
      subject.blocks.push_back({0.9 * next, next, 1.3 * next});
    }
    return subject.blocks.size();
  };
  CHECK(relative_error({1, 3}) == doctest::Approx(0.5));
  CHECK(std::isnan(relative_error({1})));
  CHECK(taken({100, 100.5, 99.8, 1, 1, 1, 1, 1, 1, 1}) == 3);
  CHECK(taken({100, 104, 97, 100, 100, 100, 100, 100, 100, 100}) ==
        9);  // still above, still falling
  CHECK(taken({100, 102, 99, 100.5, 100.4, 100.5, 100.5, 100.5, 100}) == 5);
  CHECK(taken({100, 102, 99, 106, 94, 108, 91, 109, 100, 100}) == 5);  // more do not help
  CHECK(taken({100, 103, 98, 100, 100, 100}, false) == 3);
  options.most_blocks = 0;
  CHECK(taken({100, 103, 98, 100, 100, 100}) == 3);
  Subject wrong;
  wrong.problem = "wrong result";
  CHECK_FALSE(wants_block(wrong, options, true));

  Subject subject;
  const auto add = [&](const std::vector<double>& probes) {
    subject.blocks.push_back({1, 1, 1});
    subject.spans.push_back({1, 1, 1});
    subject.probes.push_back(probes);
    return set_aside_slow(subject, options);
  };
  CHECK_FALSE(add({20, 20, 20}));  // nobody knows what it should be
  options.probe_s = 10;
  CHECK_FALSE(add({10.4, 30, 10}));  // one late probe is no lower clock
  for (std::size_t i = 1; i <= 3; ++i) {
    CHECK(add({10.6, 10.6, 10}));
    CHECK(subject.set_aside == i);
    CHECK(subject.blocks.size() == 2);
    CHECK(subject.spans.size() == 2);
    CHECK(subject.probes.size() == 2);
  }
  CHECK_FALSE(add({11, 11, 11}));  // the clock stays low: then that is what there is
  CHECK(subject.blocks.size() == 3);
}

TEST_CASE("compare finds what became slower and refuses what cannot be compared") {
  if (not_built("clcook")) return;
  const TempFolder folder;
  const auto write = [&](const char* name, const Json& content) {
    const std::filesystem::path path = folder.path() / name;
    write_bytes(path, content.dump());
    return path.string();
  };
  const std::string old = write("old.json", result({100, 101, 99, 100}));
  const std::string same = write("same.json", result({101, 99, 100, 100}));
  const std::string slow = write("slow.json", result({120, 121, 119, 120}));
  const std::string other = write("other.json", result({100, 101}, "another device"));
  const auto compare = [&](const std::string& a, const std::string& b) {
    return clcook_command({"bench", "--compare", a, "--with", b});
  };
  CHECK(compare(old, same).code == 0);
  const Ran slower = compare(old, slow);
  CHECK(slower.code == 1);
  CHECK(contains(slower.out, "SLOWER toy/fast group=64"));
  CHECK(compare(slow, old).code == 0);
  CHECK(contains(compare(slow, old).out, "faster toy/fast"));
  CHECK(compare(old, other).code == 2);
  CHECK(contains(compare(old, other).err, "another device"));

  Json moved = result({100, 101});
  moved["rows"][0]["shape"]["width"] = 4;
  CHECK(contains(compare(old, write("moved.json", moved)).err, "no row"));
  Json version = result({100});
  version["format"] = 99;
  CHECK(contains(compare(write("version.json", version), old).err, "99"));
  Json kind = result({100});
  kind["kind"] = "check";
  CHECK(contains(compare(write("kind.json", kind), old).err, "check"));
  const std::string whole = result({100, 101}).dump();
  for (std::size_t length = 0; length < whole.size(); length += 37) {
    write_bytes(folder.path() / "cut.json", whole.substr(0, length));
    CHECK(compare((folder.path() / "cut.json").string(), old).code == 2);
  }
  CHECK(compare((folder.path() / "absent.json").string(), old).code == 2);
}

TEST_CASE("the smoke run measures every variant of every recipe and writes a result") {
  if (not_built("clcook")) return;
  const TempFolder folder;
  const std::string out = (folder.path() / "bench.json").string();
  std::vector<std::string> command{"bench", "--smoke", "--out", out};
  std::size_t number = 0;
  std::size_t variants = 0;
  for (const Recipe& recipe : cookbook::recipes()) {
    if (left_out(number++, 16)) continue;
    command.push_back(recipe.name);
    variants += recipe.variants.size();
  }
  const Ran ran = clcook_command(command);
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  CHECK_FALSE(contains(ran.err, "\r"));  // no progress line in a pipe
  const Json result = Json::parse(read_bytes(out));
  CHECK(result["kind"] == "bench");
  CHECK(result["ceilings"]["copy_gbs"].get<double>() > 0);
  CHECK(result["rows"].size() >= variants);
  std::size_t measured = 0;
  for (const Json& row : result["rows"]) {
    CAPTURE(row.dump());
    CHECK((row["status"] == "measured" || row["status"] == "skipped"));
    if (row["status"] != "measured") continue;
    ++measured;
    CHECK(row["samples_us"].size() == 3);
    CHECK(row["median_us"].get<double>() > 0);
  }
  CHECK(measured > 0);
}

TEST_CASE("bench refuses what it does not know") {
  if (not_built("clcook")) return;
  const auto refused = [](const std::vector<std::string>& arguments, const std::string& part) {
    const Ran ran = clcook_command(arguments);
    CAPTURE(arguments.back());
    CAPTURE(ran.err);
    CHECK(ran.code == 2);
    CHECK(contains(ran.err, part));
  };
  const std::string recipe = cookbook::recipes().front().name;
  refused({"bench", "no_such_recipe"}, "no_such_recipe");
  refused({"bench", recipe, "--variant", "no_such_variant"}, "no_such_variant");
  refused({"bench", "--device", "no_such_device"}, "no_such_device");
  refused({"bench", "--frobnicate"}, "--frobnicate");
  refused({"bench", "--smoke", recipe, "--out", "/proc/no/such/place.json"},
          "/proc/no/such/place.json");
  refused({"bench", "--with", "x.json"}, "--compare");
  refused({"tune", "no_such_recipe"}, "no_such_recipe");
}

TEST_CASE("tune writes winners that the library reads, and keeps the entries of others") {
  if (not_built("clcook")) return;
  const TempFolder folder;
  const std::filesystem::path file = folder.path() / "tuning.txt";
  TuningEntry foreign;
  foreign.recipe = "another";
  foreign.device = "elsewhere";
  foreign.type = "gpu";
  foreign.variant = "kept";
  write_bytes(file, Tuning::format({foreign}));
  const Recipe recipe = cookbook::recipes().front();
  const Ran ran = clcook_command({"tune", recipe.name, "--samples", "3", "--out", file.string(),
                                  "--shape", recipe.test_shapes[1].str()});
  CAPTURE(ran.out);
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  const std::vector<TuningEntry> entries = Tuning::parse(read_bytes(file), file.string());
  CHECK(entries.front().variant == "kept");
  const DeviceInfo& info = runtime().info();
  const TuningChoice choice =
      Tuning(entries).choose(info, recipe.name, recipe.problem_bytes(recipe.test_shapes[1]));
  CHECK(choice.match == TuningChoice::Match::exact);
  CHECK_FALSE(recipe.variant(choice.entry.variant).is_approximate);
}

TEST_CASE("what another tune writes meanwhile is kept") {
  if (not_built("clcook")) return;
  const TempFolder folder;
  const std::string file = (folder / "tuning.txt").string();
  const std::string lock = file + ".lock";
  // As another tune that holds the file while this one measures.
  const int handle = open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(flock(handle, LOCK_EX) == 0);
  const auto waits = [&](pid_t child) {
    std::error_code error;
    for (const auto& one :
         std::filesystem::directory_iterator("/proc/" + std::to_string(child) + "/fd", error)) {
      if (std::filesystem::read_symlink(one.path(), error) == lock) return true;
    }
    return false;
  };
  const Recipe recipe = cookbook::recipes().front();
  const Ran ran = clcook_command({"tune", recipe.name, "--samples", "3", "--out", file, "--shape",
                                  recipe.test_shapes[1].str()},
                                 {}, [&](pid_t child) {
                                   for (int i = 0; i < 6000 && !waits(child); ++i)
                                     std::this_thread::sleep_for(std::chrono::milliseconds(10));
                                   CHECK_FALSE(std::filesystem::exists(file));
                                   TuningEntry other;
                                   other.recipe = "another";
                                   other.type = "gpu";
                                   other.variant = "kept";
                                   write_bytes(file, Tuning::format({other}));
                                   close(handle);
                                 });
  CAPTURE(ran.err);
  CHECK(ran.code == 0);
  const std::vector<TuningEntry> entries = Tuning::parse(read_bytes(file), file);
  CHECK(entries.size() > 1);
  CHECK(entries.front().variant == "kept");
  CHECK_FALSE(std::filesystem::exists(lock));
}

TEST_CASE("tune says that it has no place for its result before it measures") {
  if (not_built("clcook")) return;
  const TempFolder folder;
  const std::filesystem::path shared = folder / "shared";
  std::filesystem::create_directory(shared);
  std::filesystem::permissions(shared, std::filesystem::perms(02775));
  write_bytes(folder / "file", "");
  const std::string recipe = cookbook::recipes().front().name;
  const auto refused = [&](const std::optional<std::string>& cache, std::vector<std::string> more,
                           const std::string& why) {
    more.insert(more.begin(), {"tune", recipe});
    const Ran ran = clcook_command(more, {{"CLCOOK_CACHE", std::nullopt},
                                          {"CLCOOK_CACHE_DIR", cache},
                                          {"XDG_CACHE_HOME", std::nullopt},
                                          {"HOME", std::nullopt},
                                          {"CLCOOK_TUNING_FILE", std::nullopt}});
    CAPTURE(ran.out);
    CAPTURE(ran.err);
    CHECK(ran.code == 2);
    CHECK(ran.out.empty());
    CHECK(contains(ran.err, "there is no place for the result: "));
    CHECK(contains(ran.err, why));
    CHECK(contains(ran.err, "set CLCOOK_TUNING_FILE or give --out FILE"));
  };
  refused(std::nullopt, {}, "");
  refused((shared / "cache").string(), {},
          shared.string() + " has mode 2775: others of its group may write to it");
  refused((folder / "file" / "cache").string(), {}, "is no folder");
  refused("/proc/clcook", {}, "/proc/clcook cannot be made");
  refused(std::nullopt, {"--out", (folder / "missing" / "tuning.txt").string()},
          "there is no folder");
  refused(std::nullopt, {"--out", folder.path().string()}, "is a folder");
  CHECK(std::filesystem::is_empty(shared));
}

TEST_CASE("progress tells count and time left") {
  CHECK(progress_text("checking", 3, 0, 5) == "checking 3");
  CHECK(progress_text("checking", 0, 8, 5) == "checking 0 of 8");
  CHECK(progress_text("checking", 2, 8, 10) == "checking 2 of 8, about 30 s left");
  CHECK(progress_text("checking", 1, 41, 9) == "checking 1 of 41, about 6 min left");
  CHECK(progress_text("checking", 8, 8, 10) == "checking 8 of 8");
}

TEST_CASE("several processes add a block each to every row, and --resume adds those that lack") {
  if (not_built("clcook")) return;
  const TempFolder folder;
  const std::string out = (folder.path() / "bench.json").string();
  const Recipe recipe = cookbook::recipes().front();
  const std::vector<std::string> command{
      "bench",     recipe.name, "--shape",     recipe.test_shapes[1].str(),
      "--samples", "7",         "--processes", "3"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), command.begin(), command.end());
    return clcook_command(more);
  };
  const Ran first = with({"--out", out});
  CAPTURE(first.err);
  REQUIRE(first.code == 0);
  const Json result = Json::parse(read_bytes(out));
  CHECK(result["processes"] == 3);
  CHECK(result["ceilings"]["probe_us"].get<double>() > 0);
  CHECK(result["rows"].size() == recipe.variants.size());
  const auto is_whole = [](const Json& row) {
    return row["blocks"] == 3 && row["samples_us"].size() == 6 && row["spans_us"].size() == 3 &&
           row["probes_us"].size() == 3;
  };
  for (const Json& row : result["rows"]) {
    CAPTURE(row.dump());
    if (row["status"] != "measured") continue;
    CHECK(is_whole(row));
    CHECK(contains(first.out, row["variant"]));
    CHECK(row["ratio"]["value"].get<double>() > 0);
  }
  // As if the second process had been stopped before its last row.
  Json part = result;
  for (Json& row : part["rows"]) {
    if (row["status"] != "measured") continue;
    const bool is_late = &row == &part["rows"].back();
    row["blocks"] = is_late ? 1 : 2;
    row["samples_us"] = is_late ? Json({1000, 1000}) : Json({1000, 1000, 1000, 1000});
    for (const char* name : {"spans_us", "probes_us"})
      row[name] = is_late ? Json({1000}) : Json({1000, 1000});
  }
  write_bytes(out, part.dump());
  const Ran rest = with({"--resume", out});
  CAPTURE(rest.err);
  REQUIRE(rest.code == 0);
  const Json whole = Json::parse(read_bytes(out));
  for (const Json& row : whole["rows"]) {
    CAPTURE(row.dump());
    if (row["status"] != "measured") continue;
    CHECK(is_whole(row));
    CHECK(row["samples_us"][0] == 1000);
    CHECK(row["samples_us"][5] != 1000);
  }
  CHECK_FALSE(std::filesystem::exists(out + ".old"));
  // Of other processes, another measurement.
  CHECK(contains(
      clcook_command({"bench", recipe.name, "--smoke", "--processes", "2", "--resume", out}).err,
      "made with another processes"));
  CHECK(clcook_command({"bench", "--quick", "--processes", "2"}).code == 2);
  CHECK(clcook_command({"bench", "--processes", "0"}).code == 2);
}

LONG_TEST_CASE("bench --quick writes one small shape, and --resume goes on", 32) {
  if (not_built("clcook")) return;
  const TempFolder folder;
  const std::string out = (folder.path() / "bench.json").string();
  const auto quick = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"bench", "--quick", "--resume", out});
    return clcook_command(more);
  };
  const Ran first = quick({"bc6h_mode"});
  REQUIRE_MESSAGE(first.code == 0, first.err);
  CHECK(contains(first.out, "against cascade"));
  const Json before = Json::parse(read_bytes(out));
  CHECK(before["quick"]["samples"] == 15);
  for (const Json& row : before["rows"]) {
    CHECK(row["shape"] == before["rows"][0]["shape"]);
    if (row["status"] == "measured") CHECK(row["samples_us"].size() == 15);
  }
  // What a device says of its clock and its memory may change from one start to the next.
  Json other_clock = before;
  other_clock["device"]["clock_mhz"] = 1;
  other_clock["device"]["global_mem"] = 1;
  write_bytes(out, other_clock.dump());
  const Ran second = quick({"bc6h_mode", "threshold_count"});
  REQUIRE_MESSAGE(second.code == 0, second.err);
  CHECK(contains(second.out, "bc6h_mode          measured before"));
  const std::string after_bytes = read_bytes(out);
  const Json after = Json::parse(after_bytes);
  CHECK(after["rows"].size() > before["rows"].size());
  CHECK(after["rows"][0] == before["rows"][0]);
  CHECK(after["ceilings"] == before["ceilings"]);
  // Another limit is another measurement.
  const Ran third = quick({"bc6h_mode", "--seconds", "0.001"});
  CHECK(!contains(third.out, "measured before"));
  CHECK(contains(read_bytes(out), "left out: the time for this recipe was spent"));

  CHECK(read_bytes(out + ".old") == after_bytes);
  CHECK(contains(third.err, "made with another quick and is kept as"));
  CHECK(clcook_command({"bench", "--resume", out, "--out", out}).code == 2);
  CHECK(quick({"--smoke"}).code == 2);
  CHECK(quick({"--shape", "count=3"}).code == 2);
}
