// What result files hold, as types: each row has one list of its fields, by which it is written and
// read. Reading is strict: a field that is missing, or of another type than written here, is an
// Error(io) that names the file, the row and the field, such as
//   result file old.json: malformed: rows[3].median_us is a string, must be a number
// The types that nlohmann's own macros define would read 2.5 as 2, true as 1, and no std::optional.
// Fields that no list names are left alone, so that files may carry notes.
#pragma once

#include <clcook/core/error.hpp>
#include <clcook/core/params.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "isa/counts.hpp"
#include "measure/statistics.hpp"

namespace clcook::tool {

using Json = nlohmann::ordered_json;

// Version of the JSON files that the tool writes and reads.
constexpr int kFormat = 1;

// ---- The rows -----------------------------------------------------------------------------------
//
// CLCOOK_ROW(Row) is the list of a row's fields in their order in a file, by their members' names.
// io(key, member), or CLCOOK_FIELDS of several, is a field that must be there; a std::optional member
// may be missing or null. OR_NULL is a number that JSON cannot write, infinity or NaN, where it is null;
// it is read as NaN, and as infinity of OR_INFINITE. OR_UNKNOWN is -1 for null. GAPS is a list of
// OR_NULL. io.rule() is what else must hold.
#define CLCOOK_ROW(Row) \
  template <class Io>   \
  void fields_of(Io& io, typename Io::template As<Row>& row)
#define CLCOOK_FIELD(member) io(#member, row.member);
#define CLCOOK_FIELD_OR_NULL(member) io.or_null(#member, row.member);
#define CLCOOK_FIELD_OR_INFINITE(member) io.or_infinite(#member, row.member);
#define CLCOOK_FIELD_OR_UNKNOWN(member) io.or_unknown(#member, row.member);
#define CLCOOK_FIELD_GAPS(member) io.gaps(#member, row.member);
#define CLCOOK_EACH(What, ...) NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(What, __VA_ARGS__))
#define CLCOOK_FIELDS(...) CLCOOK_EACH(CLCOOK_FIELD, __VA_ARGS__)
#define CLCOOK_OR_NULL(...) CLCOOK_EACH(CLCOOK_FIELD_OR_NULL, __VA_ARGS__)
#define CLCOOK_OR_INFINITE(...) CLCOOK_EACH(CLCOOK_FIELD_OR_INFINITE, __VA_ARGS__)
#define CLCOOK_OR_UNKNOWN(...) CLCOOK_EACH(CLCOOK_FIELD_OR_UNKNOWN, __VA_ARGS__)
#define CLCOOK_GAPS(...) CLCOOK_EACH(CLCOOK_FIELD_GAPS, __VA_ARGS__)

// The device of a result, as far as reports say it.
struct Device {
  std::string name;
  std::string platform;
  std::string driver;
  std::optional<std::string> version;
  std::optional<std::uint64_t> compute_units;
  std::optional<std::string> type{};  // "gpu", "cpu" or another
  std::optional<std::uint64_t> max_group{};
  std::optional<std::uint64_t> local_mem{};
  std::optional<std::string> platform_version{};
  std::optional<std::string> language{};        // what kernels are compiled as: "CL1.2"
  std::optional<unsigned> nvidia_capability{};  // ten times the compute capability

  // "NVIDIA H200, NVIDIA CUDA, driver 570.86.15"
  std::string text() const { return name + ", " + platform + ", driver " + driver; }
};
CLCOOK_ROW(Device) {
  CLCOOK_FIELDS(name, platform, driver, version, compute_units, type, max_group, local_mem,
                platform_version, language, nvidia_capability);
  io.rule(!row.name.empty(), "name", "is empty");
}

// What a measured variant compiled and enqueued, as hashes: see fingerprint_of() in measure/fingerprint.hpp.
struct Fingerprint {
  std::string kernels;    // of the text of each kernel
  std::string options;    // of what it was compiled with, its group and local memory
  std::string launches;   // of the recipe's record, the variant's
  std::size_t cases = 0;  // of that record: as many of the first

  friend bool operator==(const Fingerprint& a, const Fingerprint& b) {
    return a.kernels == b.kernels && a.options == b.options && a.launches == b.launches &&
           a.cases == b.cases;
  }
};
CLCOOK_ROW(Fingerprint) { CLCOOK_FIELDS(kernels, options, launches, cases); }

// What a device can do at best, measured on it: medians over several runs. All bandwidths count
// bytes read plus bytes written.
struct Ceilings {
  double copy_gbs = 0;         // copy kernel over buffers several times the last-level cache
  double cached_copy_gbs = 0;  // the same over 8 MiB, run again and again
  double fma_gops = 0;   // independent chains of float fused multiply-adds, two operations each
  double launch_us = 0;  // event time of an empty kernel
  std::optional<double> probe_us;  // of the clock probe, see measure()
};
CLCOOK_ROW(Ceilings) { CLCOOK_FIELDS(copy_gbs, cached_copy_gbs, fma_gops, launch_us, probe_us); }

// A ratio with its 95 % interval in a file, where `tie` says whether that contains 1.
struct RatioRow {
  Ratio ratio;
};
CLCOOK_ROW(RatioRow) {
  io.or_null("value", row.ratio.value);
  io.or_null("low", row.ratio.low);
  io.or_null("high", row.ratio.high);
  bool tie = row.ratio.tie();
  io("tie", tie);
}

// clcook bench: one variant at one tuning on one problem. The last group of fields is there where
// the status is "measured", the reason elsewhere.
struct BenchRow {
  std::string recipe;
  std::string variant;
  Params tune;
  Params shape;
  std::string mode;  // "hot" or "cold" caches
  bool baseline = false;
  std::string status;  // "measured", "skipped", "failed" or "not run"
  std::string reason;

  double max_error = 0;  // the largest error that the validation found; infinite for a stray NaN
  double bound = 0;      // what it may be
  std::size_t launches = 0;
  double median_us = 0;
  double mad_us = 0;      // median absolute deviation
  double span_us = 0;     // from the first kernel's start to the last one's end
  double bytes = 0;       // the least that the method moves
  double operations = 0;  // the least that it computes
  double gbs = 0;
  double gops = 0;
  std::string limit;                // the ceiling that binds it: "copy", "fma" or "launch"
  double share = 0;                 // how much of that it reaches
  std::optional<std::string> flag;  // what is odd about it
  std::optional<RatioRow> ratio;    // the baseline's time over this one's
  std::optional<Fingerprint> ran;
  std::size_t blocks = 1;  // in which the samples were taken, see Blocks
  std::vector<double> samples_us;
  // Of each block, the median: from the first kernel's start to the last one's end, and of the clock
  // probe, see measure().
  std::optional<std::vector<double>> spans_us;
  std::optional<std::vector<double>> probes_us;
  std::optional<std::size_t> set_aside;  // blocks that were taken again, since the clock was low

  bool measured() const { return status == "measured"; }
  // "naive group=64"
  std::string label() const;
  // "recipe/naive group=64 (width=3) hot": what is the same in two runs.
  std::string name() const;
};
CLCOOK_ROW(BenchRow) {
  CLCOOK_FIELDS(recipe, variant, tune, shape, mode, baseline, status);
  if (!row.measured()) {
    io("reason", row.reason);
    return;
  }
  CLCOOK_OR_NULL(max_error, bound);
  CLCOOK_FIELDS(launches, median_us, mad_us, span_us, bytes, operations);
  CLCOOK_OR_NULL(gbs, gops);
  CLCOOK_FIELDS(limit);
  CLCOOK_OR_NULL(share);
  CLCOOK_FIELDS(flag, ratio, ran, blocks, samples_us, spans_us, probes_us, set_aside);
  io.rule(!row.samples_us.empty(), "samples_us", "is empty");
}

// How `clcook bench --quick` measured.
struct Quick {
  int samples = 0;
  int blocks = 0;
  double seconds = 0;
};
CLCOOK_ROW(Quick) { CLCOOK_FIELDS(samples, blocks, seconds); }

struct BenchResult {
  std::uint64_t seed = 0;
  std::optional<Quick> quick;
  std::optional<std::size_t> processes;  // each took one block of every row
  Ceilings ceilings;
  std::vector<BenchRow> rows;
};
CLCOOK_ROW(BenchResult) { CLCOOK_FIELDS(seed, quick, processes, ceilings, rows); }

// clcook check: one run against the scalar reference.
struct CheckRow {
  std::string recipe;
  std::string variant;
  Params tune;
  Params shape;
  std::string queue;
  std::string outcome;  // "passed", "failed" or "skipped"
  std::string reason;
  std::optional<std::string> lacks;  // of a skipped row, what the device or the problem has not
  std::vector<std::string> kernels;  // that ran
  std::uint64_t compared = 0;        // values
  std::uint64_t mismatches = 0;
  double max_error = 0;  // infinite such as for an unexpected NaN
  double bound = 0;      // infinite where any value will do
  bool guards_ok = true;
};
CLCOOK_ROW(CheckRow) {
  CLCOOK_FIELDS(recipe, variant, tune, shape, queue, outcome, reason, lacks, kernels, compared,
                mismatches);
  CLCOOK_OR_INFINITE(max_error, bound);
  CLCOOK_FIELDS(guards_ok);
}

// How many runs of a variant were skipped for one reason.
struct CheckSkip {
  std::optional<std::string> lacks;
  std::string reason;
  std::size_t count = 0;
};
CLCOOK_ROW(CheckSkip) { CLCOOK_FIELDS(lacks, reason, count); }

// All runs of one variant, added up.
struct CheckTotalRow {
  std::string recipe;
  std::string variant;
  std::size_t runs = 0;
  std::size_t passed = 0;
  std::size_t failed = 0;
  std::size_t skipped = 0;
  std::size_t launches = 0;
  std::uint64_t compared = 0;
  double max_error = 0;
  double bound = 0;                // the largest that is finite
  double share = 0;                // the largest error as a share of its bound
  std::vector<CheckSkip> skips;    // in the order of the rows
  std::optional<Fingerprint> ran;  // of a check with all tunings and test shapes

  void add(const CheckRow& row);
  // "*" is a case that failed before a variant ran.
  bool did_run() const { return skipped < runs && variant != "*"; }
};
CLCOOK_ROW(CheckTotalRow) {
  CLCOOK_FIELDS(recipe, variant, runs, passed, failed, skipped, launches, compared);
  CLCOOK_OR_INFINITE(max_error);
  CLCOOK_FIELDS(bound);
  CLCOOK_OR_INFINITE(share);
  CLCOOK_FIELDS(skips, ran);
  io.rule(row.runs == row.passed + row.failed + row.skipped, "runs",
          "is not the sum of passed, failed and skipped");
}

// Adds a row to the total of its variant, which is appended where there is none yet.
void add_to(std::vector<CheckTotalRow>& totals, const CheckRow& row);

// A file of a finished check has totals, and beside them as rows only those that failed. Others
// have a row for each run.
struct CheckResult {
  std::optional<std::vector<CheckTotalRow>> totals;
  std::vector<CheckRow> rows;  // empty beside totals
};
CLCOOK_ROW(CheckResult) {
  CLCOOK_FIELDS(totals);
  if (row.totals) return;
  CLCOOK_FIELDS(rows);
}

CLCOOK_ROW(isa::Counts) {
  io("instructions", row.total);
  for (std::size_t i = 0; i < isa::kKinds; ++i) io(isa::kKindNames[i], row.by_kind[i]);
  CLCOOK_FIELDS(loops, calls, unknown);
}
CLCOOK_ROW(isa::Resources) {
  CLCOOK_OR_UNKNOWN(registers, scalar_registers, local_bytes, spills, scratch, occupancy, bytes);
}

// clcook isa: the machine code of one kernel. What was counted is there where it compiled.
struct IsaRow {
  std::string recipe;
  std::string variant;
  std::string tune;
  std::string kernel;
  std::string label;
  std::string target;
  std::string options;
  std::string problem;  // the compiler's first complaint; empty: it compiled
  std::optional<Fingerprint> ran;
  std::string counted;  // "amdgcn", "ptx", "sass" or "x86"
  isa::Counts counts;
  std::optional<isa::Counts> ptx;  // NVIDIA: the PTX counts, also where there are others
  isa::Resources resources;        // -1: not known

  // "naive group=64"
  std::string tuned() const { return variant + (tune.empty() ? "" : " " + tune); }
};
CLCOOK_ROW(IsaRow) {
  CLCOOK_FIELDS(recipe, variant, tune, kernel, label, target, options, problem, ran);
  if (!row.problem.empty()) return;
  CLCOOK_FIELDS(counted, counts, ptx, resources);
}

struct IsaTarget {
  std::string name;
  std::string family;
};
CLCOOK_ROW(IsaTarget) { CLCOOK_FIELDS(name, family); }

struct IsaResult {
  std::vector<IsaTarget> targets;
  std::vector<IsaRow> kernels;
};
CLCOOK_ROW(IsaResult) { CLCOOK_FIELDS(targets, kernels); }

// A stage of an example that shows an optimisation step by step: what was measured is there where
// it was not skipped.
struct StageRow {
  std::string stage;
  std::optional<int> group;
  std::optional<std::string> skipped;   // why
  std::optional<std::string> previous;  // the stage that its step is taken from
  std::optional<double> ratio_to_previous;
  std::vector<double> seconds;
  double median_us = 0;
  std::optional<double> total_ratio;
  std::optional<double> max_error;
  std::optional<double> max_error_to_full;
};
CLCOOK_ROW(StageRow) {
  CLCOOK_FIELDS(stage, group, skipped);
  if (row.skipped) return;
  CLCOOK_FIELDS(previous, ratio_to_previous, seconds, median_us, total_ratio, max_error,
                max_error_to_full);
  io.rule(!row.seconds.empty(), "seconds", "is empty");
}

struct StagesResult {
  std::string recipe;
  Params shape;
  std::vector<StageRow> rows;
};
CLCOOK_ROW(StagesResult) { CLCOOK_FIELDS(recipe, shape, rows); }

// bench/peers: the library, first in each case, and others.
struct PeerRow {
  std::string which;  // the case
  std::string who;
  std::string version;
  std::optional<std::string> skipped;  // why
  std::vector<double> seconds;
  double max_error = 0;
  double psnr = 0;  // dB; NaN for an exact result
  // Of clcook, what automatic chose.
  std::optional<std::string> variant;
  std::optional<Params> tune;
  std::optional<Params> shape;
  std::optional<Fingerprint> ran;
};
CLCOOK_ROW(PeerRow) {
  io("case", row.which);
  CLCOOK_FIELDS(who, version, skipped);
  if (row.skipped) return;
  CLCOOK_FIELDS(seconds);
  CLCOOK_OR_NULL(max_error, psnr);
  CLCOOK_FIELDS(variant, tune, shape, ran);
  io.rule(!row.seconds.empty(), "seconds", "is empty");
}

struct PeersResult {
  std::string recipe;
  std::vector<PeerRow> rows;
};
CLCOOK_ROW(PeersResult) { CLCOOK_FIELDS(recipe, rows); }

// bench/peers/run --random: a problem that nobody chose, what automatic took for it, and the others
// that computed it rightly. Microseconds on the device's clock, and from numpy to numpy.
struct GridOther {
  std::string who;
  std::optional<double> us;
  std::optional<double> caller_us;
};
CLCOOK_ROW(GridOther) { CLCOOK_FIELDS(who, us, caller_us); }

struct GridRow {
  std::string recipe;
  Params shape;
  std::optional<std::string> skipped;  // why
  std::string variant;
  Params tune;
  std::optional<Fingerprint> ran;
  double us = 0;
  std::optional<double> caller_us;
  double max_error = 0;
  double psnr = 0;  // dB; NaN for an exact result
  std::vector<GridOther> others;
  std::optional<std::vector<std::pair<std::string, double>>> variants;  // what automatic may take
};
CLCOOK_ROW(GridRow) {
  CLCOOK_FIELDS(recipe, shape, skipped);
  if (row.skipped) return;
  CLCOOK_FIELDS(variant, tune, ran, us, caller_us);
  CLCOOK_OR_NULL(max_error, psnr);
  CLCOOK_FIELDS(others, variants);
  io.rule(row.us > 0, "us", "is not above 0");
}

struct GridResult {
  std::int64_t seed = 0;
  std::vector<GridRow> rows;
};
CLCOOK_ROW(GridResult) { CLCOOK_FIELDS(seed, rows); }

// clcook counters: what the hardware counted in one call of a variant. `counters` is there where the
// status is "counted", the reason elsewhere.
struct CountersRow {
  // By the name of counters::Metric, NaN where the device does not count it.
  using Counters = std::vector<std::pair<std::string, double>>;
  std::string recipe;
  std::string variant;
  Params tune;
  Params shape;
  std::string
      status;  // "counted"; "refused": not to be believed; "skipped"; "failed": wrong result
  std::string reason;
  std::vector<std::string> kernels;  // each once, in the order of their first launches
  std::uint64_t launches = 0;
  std::uint64_t profiled = 0;  // launches that were looked into; the others equal one of them
  std::optional<Fingerprint> ran;
  Counters counters;

  bool counted() const { return status == "counted"; }
  // "naive group=64"
  std::string label() const;
};
CLCOOK_ROW(CountersRow) {
  CLCOOK_FIELDS(recipe, variant, tune, shape, status);
  if (!row.counted()) {
    io("reason", row.reason);
    return;
  }
  CLCOOK_FIELDS(kernels, launches, profiled, ran, counters);
  io.rule(!row.kernels.empty(), "kernels", "is empty");
  io.rule(!row.counters.empty(), "counters", "is empty");
}

struct CountersResult {
  std::uint64_t seed = 0;
  std::string profiler;  // "ncu 2025.3.1.0", "perf_event_open"
  std::vector<CountersRow> rows;
};
CLCOOK_ROW(CountersResult) { CLCOOK_FIELDS(seed, profiler, rows); }

// clcook explore: one variant along a sweep, a time for each point, NaN where nothing was measured.
struct CurveVariant {
  using Predictions = std::vector<std::pair<std::string, std::vector<double>>>;
  std::string variant;
  bool baseline = false;
  std::vector<double> measured_us;
  std::optional<std::string> reason;                           // why points are missing
  std::optional<Fingerprint> ran;                              // at all points
  std::optional<Predictions> predicted_us;                     // by model
  std::optional<std::vector<std::pair<double, double>>> pays;  // where it beats the baseline
};
CLCOOK_ROW(CurveVariant) {
  CLCOOK_FIELDS(variant, baseline);
  CLCOOK_GAPS(measured_us);
  CLCOOK_FIELDS(reason, ran, predicted_us, pays);
  io.rule(!row.variant.empty(), "variant", "is empty");
}

struct Curve {
  std::string recipe;
  std::string axis;   // what is swept, for people
  std::string along;  // the parameter that is swept
  Params shape;
  std::vector<Value> points;                   // numbers
  std::optional<std::vector<double>> copy_us;  // the time of a copy of the same bytes
  std::vector<CurveVariant> variants;
};
CLCOOK_ROW(Curve) {
  CLCOOK_FIELDS(recipe, axis, along, shape, points);
  CLCOOK_GAPS(copy_us);
  CLCOOK_FIELDS(variants);
  io.rule(!row.points.empty(), "points", "is empty");
  for (const Value& one : row.points)
    io.rule(!std::holds_alternative<std::string>(one), "points", "holds a text");
  for (const CurveVariant& one : row.variants) {
    io.rule(one.measured_us.size() == row.points.size(), "variants",
            "has not one measured time for each point");
    if (!one.predicted_us) continue;
    for (const auto& prediction : *one.predicted_us)
      io.rule(prediction.second.size() == row.points.size(), "variants",
              "has not one predicted time for each point");
  }
}

struct ExploreResult {
  std::vector<Curve> curves;
};
CLCOOK_ROW(ExploreResult) { CLCOOK_FIELDS(curves); }

// clcook startup: seconds on the clock of each step of one new process.
struct StartupRow {
  double pick_s = 0;
  double plan_s = 0;
  double first_blur_s = 0;
  double second_blur_s = 0;
  double processor_s = 0;      // of all of it
  std::uint64_t compiled = 0;  // programs
  std::string method;
  std::optional<Params> tune;
  std::optional<std::string> caches;  // "empty" or "filled"
  std::optional<Fingerprint> ran;
};
CLCOOK_ROW(StartupRow) {
  CLCOOK_FIELDS(pick_s, plan_s, first_blur_s, second_blur_s, processor_s, compiled, method, tune,
                caches, ran);
}

struct StartupResult {
  Params problem;  // a shape of gaussian_blur
  std::vector<StartupRow> rows;
};
CLCOOK_ROW(StartupResult) { CLCOOK_FIELDS(problem, rows); }

// ---- Writing ------------------------------------------------------------------------------------

inline Json to_json(const Value& value) {
  return std::visit([](const auto& one) { return Json(one); }, value);
}

inline Json to_json(const Params& params) {
  Json out = Json::object();
  for (const Params::Entry& entry : params.entries()) out[entry.name] = to_json(entry.value);
  return out;
}

// "width=3 sigma=0.5 pixel=rgba8" with the numbers as a result file has them.
inline std::string to_text(const Params& params) {
  std::string out;
  for (const Params::Entry& entry : params.entries()) {
    const auto* word = std::get_if<std::string>(&entry.value);
    out += (out.empty() ? "" : " ") + entry.name + "=" +
           (word != nullptr ? *word : to_json(entry.value).dump());
  }
  return out;
}

inline std::string BenchRow::label() const {
  return variant + (tune.empty() ? "" : " " + to_text(tune));
}

inline std::string CountersRow::label() const {
  return variant + (tune.empty() ? "" : " " + to_text(tune));
}

inline std::string BenchRow::name() const {
  return recipe + "/" + label() + " (" + to_text(shape) + ") " + mode;
}

// What a list of fields writes: numbers that JSON does not have are null.
class FieldWriter;
template <class Row>
auto to_json(const Row& row) -> decltype(fields_of(std::declval<FieldWriter&>(), row), Json());
template <class T>
Json to_json(const std::vector<T>& list);
template <class T>
Json to_json(const std::vector<std::pair<std::string, T>>& named);
inline Json to_json(const std::pair<double, double>& range) {
  return Json::array({range.first, range.second});
}
inline Json to_json(const std::set<std::string>& names) { return names; }

template <class T>
Json written(const T& value) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::isfinite(value) ? Json(value) : Json();
  } else if constexpr (std::is_arithmetic_v<T> || std::is_convertible_v<T, std::string>) {
    return value;
  } else {
    return to_json(value);
  }
}

template <class T>
Json to_json(const std::vector<T>& list) {
  Json out = Json::array();
  for (const T& one : list) out.push_back(written(one));
  return out;
}

template <class T>
Json to_json(const std::vector<std::pair<std::string, T>>& named) {
  Json out = Json::object();
  for (const auto& [name, one] : named) out[name] = written(one);
  return out;
}

class FieldWriter {
 public:
  template <class T>
  using As = const T;

  template <class T>
  void operator()(const char* key, const T& value) {
    json[key] = written(value);
  }
  template <class T>
  void operator()(const char* key, const std::optional<T>& value) {
    if (value) (*this)(key, *value);
  }
  void or_null(const char* key, double value) { (*this)(key, value); }
  void or_infinite(const char* key, double value) { (*this)(key, value); }
  void or_unknown(const char* key, long value) { json[key] = value < 0 ? Json() : Json(value); }
  template <class List>
  void gaps(const char* key, const List& list) {
    (*this)(key, list);
  }
  void rule(bool, const char*, const char*) {}

  Json json = Json::object();
};

template <class Row>
auto to_json(const Row& row) -> decltype(fields_of(std::declval<FieldWriter&>(), row), Json()) {
  FieldWriter io;
  fields_of(io, row);
  return io.json;
}

// ---- Reading ------------------------------------------------------------------------------------

// Reads the fields of one object, which lies in `file` at `place`: "" for the whole file,
// "rows[3]".
class FieldReader {
 public:
  template <class T>
  using As = T;

  FieldReader(const Json& object, std::string file, std::string place)
      : object_(object), file_(std::move(file)), place_(std::move(place)) {
    if (!object.is_object()) complain(place_.empty() ? "the file" : place_, object, "an object");
  }

  template <class T>
  void operator()(const char* key, T& value) const {
    read(need(key), at(key), value);
  }
  template <class T>
  void operator()(const char* key, std::optional<T>& value) const {
    if (const Json* json = find(key, value)) read(*json, at(key), value.emplace());
  }
  void or_null(const char* key, double& value) const { read_gap(need(key), at(key), value); }
  void or_infinite(const char* key, double& value) const {
    or_null(key, value);
    if (std::isnan(value)) value = HUGE_VAL;
  }
  void or_unknown(const char* key, long& value) const {
    value = -1;
    if (!need(key).is_null()) (*this)(key, value);
  }
  void gaps(const char* key, std::vector<double>& list) const {
    read_gap(need(key), at(key), list);
  }
  void gaps(const char* key, std::optional<std::vector<double>>& list) const {
    if (const Json* json = find(key, list)) read_gap(*json, at(key), list.emplace());
  }
  void rule(bool holds, const char* key, const char* what) const {
    if (!holds) malformed(at(key) + " " + what);
  }

  [[noreturn]] void malformed(const std::string& what) const {
    fail(Errc::io, "result file " + file_, "malformed: " + what);
  }

 private:
  std::string at(const std::string& key) const { return place_.empty() ? key : place_ + "." + key; }

  const Json& need(const char* key) const {
    const auto found = object_.find(key);
    if (found == object_.end())
      malformed((place_.empty() ? "the file" : place_) + " has no '" + key + "'");
    return *found;
  }
  // Null where the field is missing or null.
  template <class T>
  const Json* find(const char* key, std::optional<T>& value) const {
    const auto found = object_.find(key);
    value.reset();
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }

  [[noreturn]] void complain(const std::string& where, const Json& json, const char* wanted) const {
    malformed(where + " is " + (json.is_null() ? "null" : std::string("a ") + json.type_name()) +
              ", must be " + wanted);
  }

  void read(const Json& json, const std::string& where, std::string& value) const {
    if (!json.is_string()) complain(where, json, "a string");
    value = json.get<std::string>();
  }
  void read(const Json& json, const std::string& where, bool& value) const {
    if (!json.is_boolean()) complain(where, json, "a boolean");
    value = json.get<bool>();
  }
  void read(const Json& json, const std::string& where, double& value) const {
    if (!json.is_number()) complain(where, json, "a number");
    value = json.get<double>();
  }
  template <class T>
  std::enable_if_t<std::is_integral_v<T>> read(const Json& json, const std::string& where,
                                               T& value) const {
    if (!json.is_number_integer()) complain(where, json, "a whole number");
    // Of the two kinds of whole numbers in JSON only the unsigned one goes beyond int64_t.
    bool fits = false;
    if (json.is_number_unsigned()) {
      fits = json.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<T>::max());
    } else if constexpr (std::is_signed_v<T>) {
      fits = json.get<std::int64_t>() >= std::numeric_limits<T>::min() &&
             json.get<std::int64_t>() <= std::numeric_limits<T>::max();
    } else {
      fits = json.get<std::int64_t>() >= 0;
    }
    if (!fits) malformed(where + " is " + json.dump() + ", which is out of range");
    value = json.get<T>();
  }
  void read(const Json& json, const std::string& where, Value& value) const {
    if (json.is_string()) {
      value = json.get<std::string>();
    } else if (json.is_number_integer()) {
      std::int64_t whole = 0;
      read(json, where, whole);
      value = whole;
    } else if (json.is_number()) {
      value = json.get<double>();
    } else {
      complain(where, json, "a number or a string");
    }
  }
  void read(const Json& json, const std::string& where, Params& value) const {
    value = Params();
    each(json, where, [&](const std::string& name, const Json& one, const std::string& place) {
      Value read_value;
      read(one, place, read_value);
      value.set(name, std::move(read_value));
    });
  }
  void read(const Json& json, const std::string& where, std::pair<double, double>& value) const {
    std::vector<double> both;
    read(json, where, both);
    if (both.size() != 2) malformed(where + " must be two numbers");
    value = {both[0], both[1]};
  }
  void read(const Json& json, const std::string& where, std::set<std::string>& value) const {
    std::vector<std::string> list;
    read(json, where, list);
    value = {list.begin(), list.end()};
  }
  template <class T>
  void read(const Json& json, const std::string& where,
            std::vector<std::pair<std::string, T>>& value) const {
    value.clear();
    each(json, where, [&](const std::string& name, const Json& one, const std::string& place) {
      read_gap(one, place, value.emplace_back(name, T()).second);
    });
  }
  template <class T>
  void read(const Json& json, const std::string& where, std::vector<T>& value) const {
    value.clear();
    each(json, where, [&](const Json& one, const std::string& place) {
      read(one, place, value.emplace_back());
    });
  }
  template <class Row>
  auto read(const Json& json, const std::string& where, Row& value) const
      -> decltype(fields_of(std::declval<const FieldReader&>(), value)) {
    const FieldReader io(json, file_, where);
    fields_of(io, value);
  }

  // NaN for null.
  void read_gap(const Json& json, const std::string& where, double& value) const {
    value = std::nan("");
    if (!json.is_null()) read(json, where, value);
  }
  void read_gap(const Json& json, const std::string& where, std::vector<double>& value) const {
    value.clear();
    each(json, where, [&](const Json& one, const std::string& place) {
      read_gap(one, place, value.emplace_back());
    });
  }

  // Calls what(element, place) for a list, what(name, member, place) for an object.
  template <class What>
  void each(const Json& json, const std::string& where, const What& what) const {
    if constexpr (std::is_invocable_v<What, const Json&, const std::string&>) {
      if (!json.is_array()) complain(where, json, "a list");
      for (std::size_t i = 0; i < json.size(); ++i)
        what(json[i], where + "[" + std::to_string(i) + "]");
    } else {
      if (!json.is_object()) complain(where, json, "an object");
      for (const auto& [name, one] : json.items()) what(name, one, where + "." + name);
    }
  }

  const Json& object_;
  std::string file_;
  std::string place_;
};

// A row, or a whole result, from JSON; `place` is where it lies in `file`, for messages. Throws
// Error(io). Not called from_json: functions of that name with a Json are the JSON library's, and an
// unqualified call takes those that fit better.
template <class Row>
Row read_fields(const Json& json, const std::string& file, const std::string& place = "") {
  Row row;
  const FieldReader io(json, file, place);
  fields_of(io, row);
  return row;
}

// Reads a result file and checks its format, its kind ("" for any) and, but of an offline
// compilation (isa), that it has a device. Throws Error(io) when it is missing, truncated, of
// another kind or of another format version.
Json read_result(const std::string& path, const std::string& kind);

// The same from the content of that file.
Json parse_result(const std::string& content, const std::string& path, const std::string& kind);

}  // namespace clcook::tool
