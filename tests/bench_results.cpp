// Result files as types: what is written is read back, and what is missing, mistyped or out of
// range is refused with its file, row and field.
#include "bench/results.hpp"

#include "bench/any_result.hpp"
#include "bench/measure/compare.hpp"
#include "bench/measure/verdict.hpp"
#include "clcook_places.hpp"
#include "support/grid.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;
using namespace clcook::tool;
namespace fs = std::filesystem;

namespace {

const fs::path kFixtures = fs::path(CLCOOK_SOURCE_DIR) / "tests" / "data" / "report" / "bench";

// The results of this project, and the fixtures.
std::vector<fs::path> all_results() {
  std::vector<fs::path> out;
  for (const fs::path& folder :
       {fs::path(CLCOOK_SOURCE_DIR) / "bench" / "results", kFixtures / "results"}) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".json") out.push_back(entry.path());
    }
  }
  return out;
}

template <class Row>
std::string refusal(const Json& json) {
  const Error error = error_of([&] { read_fields<Row>(json, "the/file.json", "rows[7]"); });
  CHECK(error.code == Errc::io);
  CHECK(contains(error.what(), "the/file.json"));
  CHECK(contains(error.what(), "rows[7]"));
  return error.what();
}

// Every field of a good row: without it, and with values of every other type, reading must fail and
// name it. `optional` ones may be missing or null, `nullable` ones null.
template <class Row>
void check_fields(const Json& good, const std::set<std::string>& optional,
                  const std::set<std::string>& nullable) {
  CHECK(to_json(read_fields<Row>(good, "f", "")) == good);
  for (const auto& item : good.items()) {
    const std::string key = item.key();
    const Json& value = item.value();
    CAPTURE(key);
    Json without = good;
    without.erase(key);
    if (optional.count(key) > 0) {
      CHECK_NOTHROW(read_fields<Row>(without, "f", ""));
    } else {
      CHECK(contains(refusal<Row>(without), "'" + key + "'"));
    }
    const Json others[] = {Json(nullptr),         Json(true),
                           Json("text"),          Json(1.5),
                           Json::array({Json()}), Json::object({{"x", Json::array()}})};
    for (const Json& other : others) {
      if (other.type() == value.type() && !value.is_structured()) continue;
      if (other.is_null() && (optional.count(key) > 0 || nullable.count(key) > 0)) continue;
      if (other.is_number() && value.is_number_float()) continue;
      CAPTURE(other.dump());
      Json changed = good;
      changed[key] = other;
      CHECK(contains(refusal<Row>(changed), "." + key));
    }
  }
  CHECK(contains(refusal<Row>(Json::array()), "must be an object"));
}

BenchRow bench_row() {
  BenchRow row;
  row.recipe = "toy";
  row.variant = "fast";
  row.tune = {{"group", 64}};
  row.shape = {{"width", 3}, {"sigma", 64.0}, {"pixel", "rgba8"}};
  row.mode = "cold";
  row.status = "measured";
  row.max_error = 0.5;
  row.bound = 1.5;
  row.launches = 2;
  row.median_us = 2.5;
  row.mad_us = 0.5;
  row.span_us = 3.5;
  row.bytes = 0.5;
  row.operations = 1.5;
  row.gbs = 1.25;
  row.gops = 0.75;
  row.limit = "copy";
  row.share = 0.5;
  row.flag = "odd";
  row.ratio = RatioRow{{2.5, 2.25, 2.75}};
  row.samples_us = {2.5, 2.25};
  row.spans_us = {3.5};
  row.probes_us = {150.5};
  row.set_aside = 2;
  return row;
}

}  // namespace

TEST_CASE("every committed result is read, and its rows are written as they are") {
  std::set<std::string> kinds;
  std::map<std::string, std::size_t> met;  // a twentieth of each kind on the short grid
  for (const fs::path& path : all_results()) {
    CAPTURE(path.string());
    // "h200_bench_line_blur.json": what is after the device's name begins with the kind.
    const std::string name = path.filename().string();
    const std::string stem = name.substr(name.find('_') + 1);
    const std::size_t number = met[stem.substr(0, stem.find_first_of("_."))]++;
    if (number != 0 && left_out(number, 20)) continue;
    const std::vector<AnyResult> results = load({path.string()});
    const AnyResult& one = results.front();
    kinds.insert(one.kind);
    const auto same = [&](const char* list, const Json& written) {
      const Json& rows = one.json[list];
      REQUIRE(written.size() == rows.size());
      CHECK(rows.size() > 0);
      // `tie` is not read but worked out; an optional that is missing is not written.
      std::string differ;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        for (const auto& [key, value] : written[i].items()) {
          if (!rows[i].contains(key) || rows[i][key] != value)
            differ += std::to_string(i) + "." + key + " ";
        }
      }
      CHECK(differ == "");
    };
    if (one.kind == "bench") same("rows", to_json(one.bench.rows));
    if (one.check.totals) {
      same("totals", to_json(*one.check.totals));
    } else if (one.kind == "check") {
      same("rows", to_json(one.check.rows));
    }
    if (one.kind == "isa") same("kernels", to_json(one.isa.kernels));
    if (one.kind == "stages") same("rows", to_json(one.stages.rows));
    if (one.kind == "peers") same("rows", to_json(one.peers.rows));
    if (one.kind == "grid") same("rows", to_json(one.grid.rows));
    if (one.kind == "startup") same("rows", to_json(one.startup.rows));
    if (one.kind == "counters") same("rows", to_json(one.counters.rows));
    if (one.kind == "explore") CHECK(one.explore.curves.size() == one.json["curves"].size());
  }
  CHECK(kinds == std::set<std::string>{"bench", "check", "compile", "conventions", "counters",
                                       "explore", "grid", "isa", "ndimage", "peers", "python",
                                       "stages", "startup"});
}

TEST_CASE("a field that is missing or of another type is named with its file and row") {
  const Json measured = to_json(bench_row());
  check_fields<BenchRow>(measured, {"flag", "ratio", "spans_us", "probes_us", "set_aside"},
                         {"max_error", "bound", "gbs", "gops", "share"});
  CHECK(
      refusal<BenchRow>([&] {
        Json row = measured;
        row["samples_us"][1] = "2";
        return row;
      }()) ==
      "result file the/file.json: malformed: rows[7].samples_us[1] is a string, must be a number");
  Json empty = measured;
  empty["samples_us"] = Json::array();
  refusal<BenchRow>(empty);

  BenchRow skipped = bench_row();
  skipped.status = "skipped";
  skipped.reason = "no image support";
  CHECK(to_json(skipped).size() == 8);
  check_fields<BenchRow>(to_json(skipped), {}, {});

  CountersRow counted;
  counted.recipe = "toy";
  counted.variant = "fast";
  counted.tune = {{"group", 64}};
  counted.shape = {{"width", 3}};
  counted.status = "counted";
  counted.kernels = {"k"};
  counted.launches = 3;
  counted.profiled = 2;
  counted.counters = {{"lanes", 9.25}, {"constant_requests", std::nan("")}};
  const Json counters = to_json(counted);
  check_fields<CountersRow>(counters, {}, {});
  CHECK(counters["counters"]["constant_requests"].is_null());
  CHECK(refusal<CountersRow>([&] {
          Json row = counters;
          row["counters"]["lanes"] = "many";
          return row;
        }()) ==
        "result file the/file.json: malformed: rows[7].counters.lanes is a string, must be "
        "a number");
  for (const char* list : {"kernels", "counters"}) {
    Json none = counters;
    none[list].clear();
    CHECK(contains(refusal<CountersRow>(none), std::string(list) + " is empty"));
  }
  counted.status = "refused";
  counted.reason = "another result";
  CHECK(to_json(counted).size() == 6);
  check_fields<CountersRow>(to_json(counted), {}, {});

  CheckRow check{"toy",
                 "fast",
                 {{"group", 64}},
                 {{"width", 3}},
                 "in order",
                 "passed",
                 "none",
                 "a feature",
                 {"k"},
                 12,
                 0,
                 0.5,
                 1.5,
                 true};
  check_fields<CheckRow>(to_json(check), {"lacks"}, {"max_error", "bound"});
  check.max_error = HUGE_VAL;  // JSON has no infinity
  CHECK(to_json(check)["max_error"].is_null());
  CHECK(std::isinf(read_fields<CheckRow>(to_json(check), "f").max_error));

  const CheckTotalRow total{"toy",
                            "fast",
                            6,
                            1,
                            2,
                            3,
                            4,
                            12,
                            0.5,
                            0.25,
                            2.0,
                            {{"a feature", "no images", 3}},
                            Fingerprint{"0123", "4567", "89ab", 2}};
  const Json sums = to_json(total);
  check_fields<CheckTotalRow>(sums, {"ran"}, {"max_error", "share"});
  check_fields<CheckSkip>(sums["skips"][0], {"lacks"}, {});
  const auto refused_sums = [&](const auto& change) {
    Json json = sums;
    change(json);
    return refusal<CheckTotalRow>(json);
  };
  CHECK(refused_sums([](Json& json) { json["runs"] = 7; }) ==
        "result file the/file.json: malformed: rows[7].runs is not the sum of passed, failed and "
        "skipped");
  CHECK(contains(refused_sums([](Json& json) { json["skips"][0].erase("count"); }),
                 "rows[7].skips[0] has no 'count'"));
  // Totals or a row for each run.
  CHECK(read_fields<CheckResult>({{"totals", {sums}}, {"rows", "not read"}}, "f").rows.empty());
  CHECK(contains(refusal<CheckResult>(Json::object()), "has no 'rows'"));
  CHECK(contains(refusal<CheckResult>({{"totals", {1}}}), "rows[7].totals[0] is a number"));

  const StartupRow startup{0.5,     1.5,
                           2.5,     3.5,
                           4.5,     3,
                           "fused", Params{{"group", 64}},
                           "empty", Fingerprint{"0123", "4567", "89ab", 2}};
  check_fields<StartupRow>(to_json(startup), {"tune", "caches", "ran"}, {});
  PeerRow peer;
  peer.seconds = {0.5};
  peer.max_error = 0.5;
  peer.psnr = 99.5;
  check_fields<PeerRow>(to_json(peer), {}, {"max_error", "psnr"});
  GridRow grid;
  grid.recipe = "rank_filter";
  grid.shape = Params{{"width", 64}};
  grid.variant = "network";
  grid.us = 2.5;
  grid.caller_us = 3.5;
  grid.max_error = 0.5;
  grid.psnr = 99.5;
  grid.others = {{"OpenCV", 1.5, 2.5}};
  grid.ran = Fingerprint{"0123", "4567", "89ab", 2};
  grid.variants = {{"network", 2.5}};
  check_fields<GridRow>(to_json(grid), {"ran", "caller_us", "variants"}, {"max_error", "psnr"});
  StageRow stage;
  stage.stage = "naive";
  stage.seconds = {0.5};
  stage.median_us = 0.5;
  check_fields<StageRow>(to_json(stage), {}, {});
}

TEST_CASE("the machine code of a kernel: counts must be there where it compiled") {
  IsaRow row;
  row.counted = "ptx";
  row.counts.total = 12;
  row.counts.by_kind[2] = 3;
  row.counts.calls = {"sin"};
  row.resources.registers = 32;
  check_fields<IsaRow>(to_json(row), {}, {});
  const IsaRow back = read_fields<IsaRow>(to_json(row), "f");
  CHECK(back.counts.branches() == 3);
  CHECK(back.resources.registers == 32);
  CHECK(back.resources.spills == -1);
  Json broken = to_json(row);
  broken["counts"].erase("wait");
  CHECK(contains(refusal<IsaRow>(broken), "rows[7].counts has no 'wait'"));
  broken = to_json(row);
  broken["resources"]["spills"] = "none";
  CHECK(contains(refusal<IsaRow>(broken), "rows[7].resources.spills"));
  row.problem = "error: no images";
  CHECK(!to_json(row).contains("counts"));
  CHECK(read_fields<IsaRow>(to_json(row), "f").problem == row.problem);
}

TEST_CASE("numbers too large for their field") {
  Json row = to_json(bench_row());
  const auto with = [&](const char* key, const std::string& number) {
    Json changed = row;
    changed[key] = Json::parse(number);
    return changed;
  };
  CHECK(contains(refusal<BenchRow>(with("launches", "-1")), "rows[7].launches is -1"));
  CHECK(contains(refusal<BenchRow>(with("launches", "18446744073709551616")), "rows[7].launches"));
  CHECK(contains(refusal<BenchRow>(with("launches", "2.0")), "a whole number"));
  CHECK(contains(refusal<BenchRow>(with("blocks", "1e3")), "a whole number"));
  CHECK(read_fields<BenchRow>(with("launches", "18446744073709551615"), "f").launches ==
        18446744073709551615U);
  CHECK(read_fields<BenchRow>(with("bytes", "18446744073709551615"), "f").bytes == 0x1p64);
  CHECK(read_fields<BenchRow>(with("bytes", "1e308"), "f").bytes == 1e308);
  Json quick{{"samples", 2147483648}, {"blocks", 1}, {"seconds", 1}};
  CHECK(contains(refusal<Quick>(quick), "rows[7].samples is 2147483648"));
  quick["samples"] = -2147483649;
  refusal<Quick>(quick);
  Json shape = row;
  shape["shape"]["width"] = 9223372036854775808U;
  CHECK(contains(refusal<BenchRow>(shape), "rows[7].shape.width"));

  // A number that no double holds makes no file of this kind, however it is wrapped.
  const TempFolder folder;
  const std::string file = (folder / "file.json").string();
  for (const std::string content :
       {"", "1e999", "{\"format\": 1e999}", "[]", "{}", "null", "{\"format\": 1, \"kind\": 3}",
        "{\"format\": 1, \"kind\": \"bench\"}", "\xff",
        "{\"format\": 1, \"kind\": \"bench\", "
        "\"device\": {\"name\": \"\", \"platform\": \"P\", \"driver\": \"1\"}}"}) {
    CAPTURE(content);
    write_bytes(file, content);
    const Error error = error_of([&] { load({file}); });
    CHECK(error.code == Errc::io);
    CHECK(contains(error.what(), file));
  }
}

TEST_CASE("lists in lists end somewhere") {
  const auto nested = [](std::size_t depth) {
    return "{\"format\": 1, \"kind\": \"x\", \"more\": " + std::string(depth, '[') +
           std::string(depth, ']') +
           ", \"device\": {\"name\": \"N\", \"platform\": \"P\", \"driver\": \"1\"}}";
  };
  CHECK(parse_any(nested(20), "f.json").kind == "x");
  const Error error = error_of([&] { parse_any(nested(1000000), "f.json"); });
  CHECK(error.code == Errc::io);
  CHECK(contains(error.what(), "f.json"));
}

TEST_CASE("samples without a ratio are neither faster nor slower") {
  BenchRow row = bench_row();
  row.blocks = ~std::size_t{0};
  row.samples_us = {0, 1, 0, 1e308, 0, 1e308};
  const Ratio ratio = bootstrap_ratio(split(row.samples_us, row.blocks), {row.samples_us});
  CHECK(std::isnan(ratio.value));
  CHECK_FALSE(ratio.tie());
  const Device device{"N", "P", "1", {}, {}};
  CHECK(compare_results(device, {row}, device, {row}) == 0);
  row.ratio = RatioRow{ratio};
  CHECK(verdict_of(row) == Verdict::none);
  CHECK(bootstrap_ratio(blocks_of(row), {{1.0}}).high > 0);
  CHECK(split({1, 2, 3}, 0).size() == 1);
  CHECK(split({1, 2, 3}, ~std::size_t{0}).size() == 3);
  CHECK(split({}, 5).size() == 1);
}

TEST_CASE("curves have a time or a gap for every point, measured and predicted") {
  Curve curve{"toy", "divergence", "run", {{"count", 64}}, {Value(0.5), Value(2.0)}, {}, {}};
  CurveVariant variant;
  variant.variant = "fast";
  variant.measured_us = {1.5, std::nan("")};
  variant.predicted_us = CurveVariant::Predictions{{"32 lanes", {1.5, 2.5}}};
  variant.pays = {{{0.5, 1.5}}};
  curve.variants.push_back(variant);
  const Json good = to_json(curve);
  CHECK(to_json(read_fields<Curve>(good, "f")) == good);
  CHECK(good["variants"][0]["measured_us"][1].is_null());
  const auto broken = [&](const auto& change) {
    Json json = good;
    change(json);
    return refusal<Curve>(json);
  };
  broken([](Json& json) { json["points"].push_back(3); });
  broken([](Json& json) { json["points"] = Json::array(); });
  broken([](Json& json) { json["points"][0] = "half"; });
  broken([](Json& json) { json["variants"][0]["measured_us"].push_back(3); });
  broken([](Json& json) { json["variants"][0]["predicted_us"]["32 lanes"].push_back(3); });
  broken([](Json& json) { json["variants"][0]["predicted_us"] = Json::array(); });
  broken([](Json& json) { json["variants"][0]["pays"][0].push_back(3); });
  CHECK(contains(broken([](Json& json) { json["variants"][0]["measured_us"][1] = "none"; }),
                 "rows[7].variants[0].measured_us[1]"));
}

TEST_CASE("totals are sums of the rows") {
  CheckResult result;
  CheckRow row{"toy",        "fast",     {},         {}, "in order", "passed", "",
               std::nullopt, {"a", "b"}, 1ULL << 60, 0,  0.5,        1,        true};
  result.rows = {row, row, row, row};
  result.rows[1].outcome = "failed";
  result.rows[1].max_error = HUGE_VAL;
  result.rows[2].outcome = "skipped";
  result.rows[2].reason = "no images";
  result.rows[3].variant = "other";
  const auto totals = totals_of(result);
  REQUIRE(totals.size() == 2);
  CHECK(totals[0].recipe == "toy");
  CHECK(totals[0].variant == "fast");
  CHECK(totals[0].runs == 3);
  CHECK(totals[0].passed == 1);
  CHECK(totals[0].failed == 1);
  CHECK(totals[0].skipped == 1);
  CHECK(totals[0].launches == 4);
  CHECK(totals[0].compared == 1ULL << 61);  // a double would do here, its text would not
  CHECK(std::isinf(totals[0].max_error));
  CHECK(std::isinf(totals[0].share));
  REQUIRE(totals[0].skips.size() == 1);
  CHECK(totals[0].skips[0].reason == "no images");
  CHECK(totals[0].skips[0].count == 1);
}

TEST_CASE("a file of totals holds what one of their rows does") {
  const std::string path = (kFixtures / "results" / "gpu-check.json").string();
  Json json = load({path}).front().json;
  // One reason for two lacks, and a bound that is infinite.
  Json more = json["rows"][0];
  more["bound"] = nullptr;
  json["rows"].push_back(more);
  more["outcome"] = "skipped";
  more["kernels"] = Json::array();
  more["reason"] = "no images";
  for (const char* lacks : {"feature", "implementation", "feature"}) {
    more["lacks"] = lacks;
    json["rows"].push_back(more);
  }
  const AnyResult rows = parse_any(json.dump(), path);
  json["totals"] = to_json(totals_of(rows.check));
  json["rows"] = Json::array();
  const AnyResult totals = parse_any(json.dump(), path);
  CHECK(to_json(totals_of(totals.check)) == json["totals"]);
  CHECK(contains(json["totals"].dump(), "\"reason\":\"no images\",\"count\":2"));
}
