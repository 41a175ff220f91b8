// What the report says of steps: pairs of rows at equal tunes, and baselines at their best ones.
#include "bench/report/report.hpp"
#include "support/testing.hpp"
#include "support/toy_problem.hpp"

using namespace clcook;
using namespace clcook::testing;
using namespace clcook::tool;
using namespace clcook::tool::report;

namespace {

// A tune has a group, 64 where it is open, and faster has a run too.
class TunedProblem : public ToyProblem {
 public:
  using ToyProblem::ToyProblem;

  Params close(const VariantInfo& variant, const Params& tune,
               const DeviceInfo& device) const override {
    Params out = tune;
    if (out.find("group") == nullptr) out.set("group", std::int64_t{device.cpu ? 1 : 64});
    if (variant.name == "faster") out.set("run", std::int64_t{8});
    return out;
  }
};

void let_pose(Recipe& recipe) {
  recipe.pose = [variants = recipe.variants](const Params&) {
    return std::make_unique<const TunedProblem>("r", variants);
  };
}

// slow <- fast <- faster.
Recipe a_recipe() {
  Recipe recipe;
  recipe.name = "r";
  recipe.parameters = {Parameter::integer("width", "pixels", 1, 64, "8")};
  const TuneAxis groups{"group", {std::int64_t{128}, std::int64_t{64}}};
  recipe.variants.resize(3);
  recipe.variants[0].name = "slow";
  recipe.variants[0].is_baseline = true;
  recipe.variants[0].axes = {groups};
  recipe.variants[1].name = "fast";
  recipe.variants[1].predecessor = "slow";
  recipe.variants[2].name = "faster";
  recipe.variants[2].predecessor = "fast";
  let_pose(recipe);
  return recipe;
}

BenchRow row_of(const std::string& variant, const char* tune, double us) {
  BenchRow row;
  row.recipe = "r";
  row.variant = variant;
  row.tune = Params::parse(tune);
  row.baseline = variant == "slow";
  row.status = "measured";
  row.median_us = us;
  row.samples_us = {us, us, us};
  return row;
}

Group group_of(const std::vector<BenchRow>& rows) {
  Group out;
  for (const BenchRow& row : rows) out.rows.push_back(&row);
  return out;
}

Device device_of(const char* type) {
  Device out;
  out.name = "a device";
  out.type = type;
  return out;
}

const Device kGpu = device_of("gpu");
const Device kCpu = device_of("cpu");

}  // namespace

TEST_CASE("a step is the ratio of two rows at equal tunes") {
  const Recipe recipe = a_recipe();
  const std::vector<BenchRow> rows{row_of("slow", "group=128", 100), row_of("slow", "group=64", 90),
                                   row_of("fast", "", 30), row_of("faster", "", 10)};
  const Group group = group_of(rows);
  // What is left open counts: fast ran with 64.
  const Pair pair = step_of(recipe, kGpu, group, rows[2]);
  REQUIRE(pair.with == &rows[2]);
  CHECK(pair.without == &rows[1]);
  CHECK(pair.ratio.value == doctest::Approx(3));
  CHECK(pair.verdict == Verdict::faster);
  // On a CPU it ran with 1, and slow with neither.
  CHECK(step_of(recipe, kCpu, group, rows[2]).with == nullptr);
  // What only one of them has is no difference.
  CHECK(step_of(recipe, kGpu, group, rows[3]).ratio.value == doctest::Approx(3));
  // The way to the baseline may be longer than a step.
  CHECK(pair_of(recipe, kGpu, group, "faster", "slow").ratio.value == doctest::Approx(9));
  CHECK(step_of(recipe, kGpu, group, rows[0]).with == nullptr);
}

TEST_CASE("of several equal tunes the one counts in which the variant is fastest") {
  const Recipe recipe = a_recipe();
  const std::vector<BenchRow> rows{row_of("slow", "group=128", 100), row_of("slow", "group=64", 60),
                                   row_of("fast", "group=128", 50), row_of("fast", "group=64", 55)};
  const Pair pair = pair_of(recipe, kGpu, group_of(rows), "fast", "slow");
  CHECK(pair.with == &rows[2]);
  CHECK(pair.without == &rows[0]);
}

TEST_CASE("rows that were not measured, or of another version, are left out") {
  const Recipe recipe = a_recipe();
  std::vector<BenchRow> rows{row_of("slow", "group=64", 60), row_of("fast", "", 50),
                             row_of("gone", "", 40)};
  CHECK(step_of(recipe, kGpu, group_of(rows), rows[2]).with == nullptr);
  CHECK(pair_of(recipe, kGpu, group_of(rows), "fast", "gone").with == nullptr);
  CHECK(pair_of(recipe, kGpu, group_of(rows), "faster", "fast").with == nullptr);
  rows[0].status = "skipped";
  CHECK(step_of(recipe, kGpu, group_of(rows), rows[1]).with == nullptr);
}

TEST_CASE("a baseline is the recipe's at the first of its tunes, or none") {
  const Recipe recipe = a_recipe();
  const auto has = [&](std::vector<BenchRow> rows) {
    return has_baseline(recipe, kGpu, group_of(rows));
  };
  CHECK(has({row_of("slow", "group=128", 100), row_of("fast", "", 30)}));
  CHECK_FALSE(has({row_of("slow", "group=64", 100), row_of("fast", "", 30)}));
  CHECK_FALSE(has({row_of("slow", "", 100), row_of("fast", "", 30)}));
  CHECK_FALSE(has({row_of("fast", "", 30)}));
  BenchRow other = row_of("fast", "", 30);  // was the baseline when it was measured
  other.baseline = true;
  CHECK_FALSE(has({other}));
  // A shape that says how to run shows what a tune gains.
  Recipe fixed = recipe;
  fixed.tune_of = [](const VariantInfo&, const Params& tune, const Params& shape) {
    return shape.integer("width", 8) == 1 ? Params(tune).set("group", std::int64_t{32}) : tune;
  };
  std::vector<BenchRow> rows{row_of("slow", "group=128", 100)};
  CHECK(has_baseline(fixed, kGpu, group_of(rows)));
  rows[0].shape = Params::parse("width=1");
  CHECK(has_baseline(recipe, kGpu, group_of(rows)));
  CHECK_FALSE(has_baseline(fixed, kGpu, group_of(rows)));
}

namespace {

// A bench of the recipe's rows, each limited by the copy of its bytes, on a GPU that copies 1 GB/s.
Result bench_of(std::vector<BenchRow> rows) {
  Result out;
  out.stem = "a";
  out.kind = "bench";
  out.about = kGpu;
  out.device = kGpu.text();
  out.bench.ceilings.copy_gbs = 1;
  for (BenchRow& row : rows) {
    row.bytes = 30000;
    row.limit = "copy";
    row.shape = Params::parse("width=8");
  }
  out.bench.rows = std::move(rows);
  return out;
}

std::vector<std::string> lines_of(const Table& table) {
  std::vector<std::string> out;
  for (const auto& cells : table.rows) {
    out.emplace_back();
    for (const Cell& cell : cells)
      out.back() += (cell.mark == "strong" ? "*" : "") + cell.text + "|";
  }
  return out;
}

CountersRow counted(const std::string& variant,
                    std::vector<std::pair<std::string, double>> counters) {
  CountersRow out;
  out.recipe = "r";
  out.variant = variant;
  out.shape = Params::parse("width=8");
  out.status = "counted";
  out.counters = std::move(counters);
  return out;
}

}  // namespace

TEST_CASE(
    "a ladder goes from the baseline to what is recommended, and names the tune that changes") {
  Recipe recipe = a_recipe();
  recipe.variants[0].summary = "as it was";
  recipe.variants[1].change = "one thing";
  recipe.variants[2].change = "another";
  recipe.variants.push_back(recipe.variants[1]);
  recipe.variants[3].name = "aside";
  let_pose(recipe);
  recipe.for_gpus = "faster";
  std::vector<BenchRow> rows{row_of("slow", "group=64", 100), row_of("fast", "", 99.8),
                             row_of("faster", "group=128", 50), row_of("aside", "", 96)};
  const Result result = bench_of(rows);
  const auto ladder = [&](const std::vector<std::string>& also) {
    const Group group = groups_of(result, "r").front();
    return ladder_table({result}, recipe, result, group, also);
  };
  const Table table = ladder({});
  CHECK(lines_of(table) == std::vector<std::string>{
                               "slow|as it was|100|30 %|baseline|", "fast|one thing|99.8|30 %|tie|",
                               "faster|another|50.0|60 %|*2.00× with group=128|"});
  CHECK(table.columns[3].title == "Of the copy");
  CHECK(table.note == "a device, width=8; a copy takes 30.0 µs");
  // Bold only from 1.05.
  CHECK(lines_of(ladder({"aside"})).back() == "aside|after slow: one thing|96.0|31 %|1.04×|");
  CHECK_THROWS_WITH_AS(ladder({"gone"}), doctest::Contains("'a' has no time of 'gone' at width=8"),
                       Error);
  recipe.for_gpus.clear();
  CHECK_THROWS_WITH_AS(ladder({}), doctest::Contains("has no steps of 'r' at width=8"), Error);
}

TEST_CASE("a rung has a counter of its device, variant, tune and size") {
  Recipe recipe = a_recipe();
  recipe.for_gpus = "fast";
  const Result result = bench_of({row_of("slow", "group=64", 100), row_of("fast", "", 30)});
  Result counters;
  counters.kind = "counters";
  counters.device = result.device;
  counters.counters.rows = {counted("slow", {{"issue_pct", 90}, {"lanes", 8}}),
                            counted("fast", {{"issue_pct", 90}, {"lanes", 32}})};
  counters.counters.rows[0].tune = Params::parse("group=64");
  const auto limits = [&] {
    const Group group = groups_of(result, "r").front();
    const Table table = ladder_table({result, counters}, recipe, result, group, {});
    std::string out = table.columns.back().title;
    for (const auto& cells : table.rows) out += "|" + cells.back().text;
    return out;
  };
  CHECK(limits() == "What limits it now|8 of 32 lanes active|issue slots 90 %");
  counters.counters.rows[1].tune = Params::parse("group=128");
  CHECK(limits() == "What limits it now|8 of 32 lanes active|");
  counters.counters.rows[0].shape = Params::parse("width=9");
  CHECK(limits().rfind("This step alone|baseline|", 0) == 0);
  counters.device = "another";
  counters.counters.rows[0].shape = Params::parse("width=8");
  CHECK(limits().rfind("This step alone", 0) == 0);
}

TEST_CASE("counters of a variant that takes another shape only say what differs") {
  Result counters;
  counters.counters.rows = {counted("slow", {{"lanes", 8}}), counted("fast", {{"lanes", 32}}),
                            counted("pyramid", {{"lanes", 31}})};
  counters.counters.rows[2].shape = Params::parse("width=8 sigma=8");
  CHECK(lines_of(counters_table(counters, "r", {"lanes"})) ==
        std::vector<std::string>{"slow|8.00|", "fast|32.0|", "pyramid (sigma=8)|31.0|"});
}

TEST_CASE("what limits a kernel is one counter in words") {
  // A copy of 1000 GB/s, and a kernel that has to move 1 MB.
  const auto words = [](std::vector<std::pair<std::string, double>> counters) {
    counters.insert(counters.begin(), {"time_ns", 10000});
    return limit_text(counted("slow", std::move(counters)), 1e6, 1000);
  };
  const std::pair<std::string, double> all{"lanes", 32};
  CHECK(words({{"issue_pct", 94}, {"lanes", 16.2}, {"dram_read_bytes", 1e5}}) ==
        "16 of 32 lanes active");
  CHECK(words({{"issue_pct", 94}, all}) == "issue slots 94 %");
  // Whichever is nearer to its limit.
  CHECK(limit_text(counted("slow", {{"time_ns", 1000},
                                    {"issue_pct", 70},
                                    {"dram_read_bytes", 4e5},
                                    {"dram_write_bytes", 4e5}}),
                   1e6, 1000) == "DRAM 80 %");
  // Read several times, since the cache did not hold it.
  CHECK(words({{"issue_pct", 20},
               {"l2_hit_pct", 21},
               {"dram_read_bytes", 4e6},
               {"dram_write_bytes", 4e6}}) == "L2 hit rate 21 %");
  CHECK(words({{"issue_pct", 20},
               {"stall_global", 30},
               {"stall_math", 10},
               {"stall_not_chosen", 99}}) == "75 % of waits: global memory");
  CHECK(words({{"issue_pct", 20}, {"bank_conflicts", 5}, {"local_wavefronts", 10}}) ==
        "bank conflicts 50 % of local passes");
  CHECK(words({{"issue_pct", 20}, {"stall_math", 10}}).empty());
  CountersRow skipped;
  skipped.status = "skipped";
  CHECK(limit_text(skipped, 1e6, 1000).empty());
}

TEST_CASE("devices have the names that people use") {
  const auto result = [](const char* kind, const char* name, const char* platform, int units,
                         const char* driver) {
    Result out;
    out.kind = kind;
    out.about.name = name;
    out.about.platform = platform;
    out.about.driver = driver;
    out.about.compute_units = static_cast<std::uint64_t>(units);
    out.device = out.about.text();
    return out;
  };
  const char* pocl = "Portable Computing Language";
  std::vector<Result> results{result("bench", "NVIDIA H200", "NVIDIA CUDA", 132, "580"),
                              result("bench", "pthread-a-long-name", pocl, 2, "3.1"),
                              result("check", "pthread-a-long-name", pocl, 2, "7.1")};
  CHECK(short_device(results, "bench", results[0].device) == "NVIDIA H200");
  CHECK(short_device(results, "bench", results[1].device) == "PoCL, 2 cores");
  results.push_back(results[1]);  // another tool's, which does not say the cores
  results[3].kind = "peers";
  results[3].about.compute_units.reset();
  CHECK(short_device(results, "bench", results[1].device) == "PoCL, 2 cores");
  results[2].kind = "bench";  // now the name would be that of two devices
  CHECK(short_device(results, "bench", results[1].device) == results[1].device);
  results[2].about.compute_units = 1;
  CHECK(short_device(results, "bench", results[1].device) == "PoCL, 2 cores");
  CHECK(short_device(results, "bench", results[2].device) == "PoCL, 1 core");
}

namespace {

// The cells of a recipe in the table of recipes, behind the question.
std::vector<std::string> recipe_cells(const std::vector<Result>& results, const char* recipe) {
  for (const auto& cells : recipes_table(results, "", "").rows) {
    if (cells[0].text != recipe) continue;
    std::vector<std::string> out;
    for (std::size_t i = 2; i < cells.size(); ++i)
      out.push_back((cells[i].mark == "strong" ? "*" : "") + cells[i].text);
    return out;
  }
  return {};
}

}  // namespace

TEST_CASE("the table of recipes compares with the fastest of what is written first") {
  const Recipe& recipe = find_recipe(recipes(), "threshold_count");
  REQUIRE(recipe.written_first == std::vector<std::string>{"binary_search"});
  Result result = bench_of({});
  const auto add = [&](const char* shape, const char* variant, double ratio) {
    BenchRow row = row_of(variant, "", 100 / ratio);
    row.recipe = recipe.name;
    row.shape = Params::parse(shape);
    row.tune = combinations(recipe.variant(variant).axes).front();
    row.baseline = recipe.variant(variant).is_baseline;
    row.ratio = RatioRow{{ratio, ratio * 0.99, ratio * 1.01}};
    result.bench.rows.push_back(row);
  };
  const char* few = "count=64 n=5 values=cosine";
  add(few, "else_if_chain", 1);
  add(few, "binary_search", 0.5);
  add(few, "table", 0.4);
  const char* many = "count=64 n=64 values=cosine";
  add(many, "else_if_chain", 1);
  add(many, "binary_search", 4);
  add(many, "table", 8);
  CHECK(recipe_cells({result}, "threshold_count") == std::vector<std::string>{"*1.00× to 2.00×"});
  CHECK(recipe_cells({result}, "halo_tile") == std::vector<std::string>{"not measured yet"});
}

TEST_CASE("on a CPU the table of recipes compares with the fastest other program") {
  Result bench = bench_of({row_of("direct", "", 100)});
  bench.bench.rows[0].recipe = "halo_tile";
  bench.about = kCpu;
  bench.device = kCpu.text();
  Result peers;
  peers.stem = "p";
  peers.kind = "peers";
  peers.about = kCpu;
  peers.device = bench.device;
  peers.peers.recipe = "halo_tile";
  const auto add = [&](const char* which, const char* who, double us, double psnr) {
    PeerRow row;
    row.which = which;
    row.who = who;
    row.seconds = {us * 1e-6, us * 1e-6, us * 1e-6};
    row.psnr = psnr;
    peers.peers.rows.push_back(row);
  };
  const double exact = std::nan("");
  add("small", "clcook (a)", 10, exact);
  add("small", "C++ loop", 30, exact);
  add("small", "Lib", 8, exact);
  add("large", "clcook (a)", 10, exact);
  add("large", "C++ loop", 30, exact);
  add("large", "Lib", 90, exact);
  CHECK(recipe_cells({bench, peers}, "halo_tile") == std::vector<std::string>{"*0.80× to 3.00×"});
  CHECK(recipe_cells({bench, peers}, "line_blur") == std::vector<std::string>{"-"});
  CHECK(recipes_table({bench, peers}, "", "").columns[2].title ==
        "a device: against C++ and libraries");
  CHECK(gain_text({bench, peers}, {"p", "halo_tile", "others"}) == "0.80 to 3.0 times as fast as");
  CHECK(gain_text({bench, peers}, {"p", "halo_tile", "others", "short"}) == "0.80× to 3.0×");
  CHECK_THROWS_WITH_AS(gain_text({bench, peers}, {"p", "halo_tile", "others", "width=1"}),
                       doctest::Contains("'p' has nothing that clcook was compared with"), Error);
}

TEST_CASE(
    "beside a library stands the fastest variant that is as exact, from the least case to the "
    "most") {
  const auto row = [](const char* which, const char* who, double us, double psnr) {
    PeerRow out;
    out.which = which;
    out.who = who;
    out.seconds = {us * 1e-6, us * 1e-6, us * 1e-6};
    out.psnr = psnr;
    return out;
  };
  const double exact = std::nan("");
  Result result;
  result.kind = "peers";
  result.device = "a GPU";
  result.peers.recipe = "halo_tile";
  result.peers.rows = {
      row("small", "clcook (a)", 10, exact),   row("small", "Lib, one way", 30, exact),
      row("small", "Lib, another", 20, exact), row("small", "Rough", 5, 40),
      row("large", "clcook (rough)", 1, 60),   row("large", "clcook (b)", 10, 100),
      row("large", "Lib, one way", 50, 102),   row("large", "Rough", 2, 61),
      row("large", "Exact", 40, exact)};
  result.peers.rows.push_back(row("large", "Left out", 1, exact));
  result.peers.rows.back().skipped = "not there";
  const Table table = libraries_table({result}, "a GPU", "");
  std::vector<std::string> lines;
  for (const auto& cells : table.rows)
    lines.push_back(cells[0].text + " " + cells[1].text + " " + cells[2].text + " " +
                    cells[2].mark + " " + cells[3].text);
  // Exact has no row as exact beside it in its only case.
  CHECK(lines == std::vector<std::string>{"halo_tile Lib 2.00× to 5.00× strong 2",
                                          "halo_tile Rough 0.50× to 2.00×  2"});
  CHECK(libraries_table({result}, "another GPU", "").rows.empty());
}
