// What result files hold, as types: each row has one list of its fields, by which it is written and
// read. Reading is strict: a field that is missing, or of another type than written here, is an
// Error(io) that names the file, the row and the field, such as
//   result file old.json: malformed: rows[3].median_us is a string, must be a number
// Fields that no list names are left alone, so that files may carry notes.
#pragma once

#include <clcook/core/error.hpp>
#include <clcook/core/params.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
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
// fields(io, row) is the list of a row's fields in their order in a file. io(key, member) is a
// field that must be there; a std::optional member may be missing or null. io.or_null() is a number
// that JSON cannot write, infinity or NaN, where it is null; it is read as NaN, and as infinity of
// io.or_infinite(). io.gaps() is a list of the former. io.rule() is what else must hold.

// The device of a result, as far as reports say it.
struct Device {
  using IsRow = void;
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

  template <class Io, class Self>
  static void fields(Io& io, Self& row) {
    io("name", row.name);
    io("platform", row.platform);
    io("driver", row.driver);
    io("version", row.version);
    io("compute_units", row.compute_units);
    io("type", row.type);
    io("max_group", row.max_group);
    io("local_mem", row.local_mem);
    io("platform_version", row.platform_version);
    io("language", row.language);
    io("nvidia_capability", row.nvidia_capability);
    io.rule(!row.name.empty(), "name", "is empty");
  }
};

// What a measured variant compiled and enqueued, as hashes: see fingerprint_of() in measure/fingerprint.hpp.
struct Fingerprint {
  using IsRow = void;
  std::string kernels;    // of the text of each kernel
  std::string options;    // of what it was compiled with, its group and local memory
  std::string launches;   // of the recipe's record, the variant's
  std::size_t cases = 0;  // of that record: as many of the first

  friend bool operator==(const Fingerprint& a, const Fingerprint& b) {
    return a.kernels == b.kernels && a.options == b.options && a.launches == b.launches &&
           a.cases == b.cases;
  }

  template <class Io, class Self>
  static void fields(Io& io, Self& row) {
    io("kernels", row.kernels);
    io("options", row.options);
    io("launches", row.launches);
    io("cases", row.cases);
  }
};

// What a device can do at best, measured on it: medians over several runs. All bandwidths count
// bytes read plus bytes written.
struct Ceilings {
  using IsRow = void;
  double copy_gbs = 0;         // copy kernel over buffers several times the last-level cache
  double cached_copy_gbs = 0;  // the same over 8 MiB, run again and again
  double fma_gops = 0;   // independent chains of float fused multiply-adds, two operations each
  double launch_us = 0;  // event time of an empty kernel
  std::optional<double> probe_us;  // of the clock probe, see measure()

  template <class Io, class Self>
  static void fields(Io& io, Self& row) {
    io("copy_gbs", row.copy_gbs);
    io("cached_copy_gbs", row.cached_copy_gbs);
    io("fma_gops", row.fma_gops);
    io("launch_us", row.launch_us);
    io("probe_us", row.probe_us);
  }
};

// A ratio with its 95 % interval in a file, where `tie` says whether that contains 1.
struct RatioRow {
  using IsRow = void;
  Ratio ratio;

  template <class Io, class Self>
  static void fields(Io& io, Self& row) {
    io.or_null("value", row.ratio.value);
    io.or_null("low", row.ratio.low);
    io.or_null("high", row.ratio.high);
    bool tie = row.ratio.tie();
    io("tie", tie);
  }
};

// clcook bench: one variant at one tuning on one problem. The last group of fields is there where
// the status is "measured", the reason elsewhere.
struct BenchRow {
  using IsRow = void;
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

  template <class Io, class Self>
  static void fields(Io& io, Self& row) {
    io("recipe", row.recipe);
    io("variant", row.variant);
    io("tune", row.tune);
    io("shape", row.shape);
    io("mode", row.mode);
    io("baseline", row.baseline);
    io("status", row.status);
    if (!row.measured()) {
      io("reason", row.reason);
      return;
    }
    io.or_null("max_error", row.max_error);
    io.or_null("bound", row.bound);
    io("launches", row.launches);
    io("median_us", row.median_us);
    io("mad_us", row.mad_us);
    io("span_us", row.span_us);
    io("bytes", row.bytes);
    io("operations", row.operations);
    io.or_null("gbs", row.gbs);
    io.or_null("gops", row.gops);
    io("limit", row.limit);
    io.or_null("share", row.share);
    io("flag", row.flag);
    io("ratio", row.ratio);
    io("ran", row.ran);
    io("blocks", row.blocks);
    io("samples_us", row.samples_us);
    io("spans_us", row.spans_us);
    io("probes_us", row.probes_us);
    io("set_aside", row.set_aside);
    io.rule(!row.samples_us.empty(), "samples_us", "is empty");
  }
};

// How `clcook bench --quick` measured.
struct Quick {
  using IsRow = void;
  int samples = 0;
  int blocks = 0;
  double seconds = 0;

  template <class Io, class Self>
  static void fields(Io& io, Self& row) {
    io("samples", row.samples);
    io("blocks", row.blocks);
    io("seconds", row.seconds);
  }
};

struct BenchResult {
  using IsRow = void;
  std::uint64_t seed = 0;
  std::optional<Quick> quick;
  std::optional<std::size_t> processes;  // each took one block of every row
  Ceilings ceilings;
  std::vector<BenchRow> rows;

  template <class Io, class Self>
  static void fields(Io& io, Self& row) {
    io("seed", row.seed);
    io("quick", row.quick);
    io("processes", row.processes);
    io("ceilings", row.ceilings);
    io("rows", row.rows);
  }
};

// clcook check: one run against the scalar reference.
struct CheckRow {
  using IsRow = void;
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

  template <class Io, class Self>
  static void fields(Io& io, Self& row) {
    io("recipe", row.recipe);
    io("variant", row.variant);
    io("tune", row.tune);
    io("shape", row.shape);
    io("queue", row.queue);
    io("outcome", row.outcome);
    io("reason", row.reason);
    io("lacks", row.lacks);
    io("kernels", row.kernels);
    io("compared", row.compared);
    io("mismatches", row.mismatches);
    io.or_infinite("max_error", row.max_error);
    io.or_infinite("bound", row.bound);
    io("guards_ok", row.guards_ok);
  }
};

// How many runs of a variant were skipped for one reason.
struct CheckSkip {
  using IsRow = void;
  std::optional<std::string> lacks;
  std::string reason;
  std::size_t count = 0;

  template <class Io, class Self>
  static void fields(Io& io, Self& row) {
    io("lacks", row.lacks);
    io("reason", row.reason);
    io("count", row.count);
  }
};

// All runs of one variant, added up.
struct CheckTotalRow {
  using IsRow = void;
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

  template <class Io, class Self>
  static void fields(Io& io, Self& row) {
    io("recipe", row.recipe);
    io("variant", row.variant);
    io("runs", row.runs);
    io("passed", row.passed);
    io("failed", row.failed);
    io("skipped", row.skipped);
    io("launches", row.launches);
    io("compared", row.compared);
    io.or_infinite("max_error", row.max_error);
    io("bound", row.bound);
    io.or_infinite("share", row.share);
    io("skips", row.skips);
    io("ran", row.ran);
    io.rule(row.runs == row.passed + row.failed + row.skipped, "runs",
            "is not the sum of passed, failed and skipped");
  }
};

// Adds a row to the total of its variant, which is appended where there is none yet.
void add_to(std::vector<CheckTotalRow>& totals, const CheckRow& row);

// A file of a finished check has totals, and beside them as rows only those that failed. Others
// have a row for each run.
struct CheckResult {
  using IsRow = void;
  std::optional<std::vector<CheckTotalRow>> totals;
  std::vector<CheckRow> rows;  // empty beside totals

  template <class Io, class Self>
  static void fields(Io& io, Self& row) {
    io("totals", row.totals);
    if (row.totals) return;
    io("rows", row.rows);
  }
};

// clcook isa: the machine code of one kernel. What was counted is there where it compiled.
struct IsaRow {
  using IsRow = void;
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

  template <class Io, class Self>
  static void fields(Io& io, Self& row) {
    io("recipe", row.recipe);
    io("variant", row.variant);
    io("tune", row.tune);
    io("kernel", row.kernel);
    io("label", row.label);
    io("target", row.target);
    io("options", row.options);
    io("problem", row.problem);
    io("ran", row.ran);
    if (!row.problem.empty()) return;
    io("counted", row.counted);
    io("counts", row.counts);
    io("ptx", row.ptx);
    io("resources", row.resources);
  }
};

struct IsaTarget {
  using IsRow = void;
  std::string name;
  std::string family;

  template <class Io, class Self>
  static void fields(Io& io, Self& row) {
    io("name", row.name);
    io("family", row.family);
  }
};

struct IsaResult {
  using IsRow = void;
  std::vector<IsaTarget> targets;
  std::vector<IsaRow> kernels;

  template <class Io, class Self>
  static void fields(Io& io, Self& row) {
    io("targets", row.targets);
    io("kernels", row.kernels);
  }
};

// A stage of an example that shows an optimisation step by step: what was measured is there where
// it was not skipped.
struct StageRow {
  using IsRow = void;
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

  template <class Io, class Self>
  static void fields(Io& io, Self& row) {
    io("stage", row.stage);
    io("group", row.group);
    io("skipped", row.skipped);
    if (row.skipped) return;
    io("previous", row.previous);
    io("ratio_to_previous", row.ratio_to_previous);
    io("seconds", row.seconds);
    io("median_us", row.median_us);
    io("total_ratio", row.total_ratio);
    io("max_error", row.max_error);
    io("max_error_to_full", row.max_error_to_full);
    io.rule(!row.seconds.empty(), "seconds", "is empty");
  }
};

struct StagesResult {
  using IsRow = void;
  std::string recipe;
  Params shape;
  std::vector<StageRow> rows;

  template <class Io, class Self>
  static void fields(Io& io, Self& row) {
    io("recipe", row.recipe);
    io("shape", row.shape);
    io("rows", row.rows);
  }
};

// bench/peers: the library, first in each case, and others.
struct PeerRow {
  using IsRow = void;
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

  template <class Io, class Self>
  static void fields(Io& io, Self& row) {
    io("case", row.which);
    io("who", row.who);
    io("version", row.version);
    io("skipped", row.skipped);
    if (row.skipped) return;
    io("seconds", row.seconds);
    io.or_null("max_error", row.max_error);
    io.or_null("psnr", row.psnr);
    io("variant", row.variant);
    io("tune", row.tune);
    io("shape", row.shape);
    io("ran", row.ran);
    io.rule(!row.seconds.empty(), "seconds", "is empty");
  }
};

struct PeersResult {
  using IsRow = void;
  std::string recipe;
  std::vector<PeerRow> rows;

  template <class Io, class Self>
  static void fields(Io& io, Self& row) {
    io("recipe", row.recipe);
    io("rows", row.rows);
  }
};

// clcook counters: what the hardware counted in one call of a variant. `counters` is there where the
// status is "counted", the reason elsewhere.
struct CountersRow {
  using IsRow = void;
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

  template <class Io, class Self>
  static void fields(Io& io, Self& row) {
    io("recipe", row.recipe);
    io("variant", row.variant);
    io("tune", row.tune);
    io("shape", row.shape);
    io("status", row.status);
    if (!row.counted()) {
      io("reason", row.reason);
      return;
    }
    io("kernels", row.kernels);
    io("launches", row.launches);
    io("profiled", row.profiled);
    io("ran", row.ran);
    io("counters", row.counters);
    io.rule(!row.kernels.empty(), "kernels", "is empty");
    io.rule(!row.counters.empty(), "counters", "is empty");
  }
};

struct CountersResult {
  using IsRow = void;
  std::uint64_t seed = 0;
  std::string profiler;  // "ncu 2025.3.1.0", "perf_event_open"
  std::vector<CountersRow> rows;

  template <class Io, class Self>
  static void fields(Io& io, Self& row) {
    io("seed", row.seed);
    io("profiler", row.profiler);
    io("rows", row.rows);
  }
};

// clcook explore: one variant along a sweep, a time for each point, NaN where nothing was measured.
struct CurveVariant {
  using IsRow = void;
  using Predictions = std::vector<std::pair<std::string, std::vector<double>>>;
  std::string variant;
  bool baseline = false;
  std::vector<double> measured_us;
  std::optional<std::string> reason;                           // why points are missing
  std::optional<Fingerprint> ran;                              // at all points
  std::optional<Predictions> predicted_us;                     // by model
  std::optional<std::vector<std::pair<double, double>>> pays;  // where it beats the baseline

  template <class Io, class Self>
  static void fields(Io& io, Self& row) {
    io("variant", row.variant);
    io("baseline", row.baseline);
    io.gaps("measured_us", row.measured_us);
    io("reason", row.reason);
    io("ran", row.ran);
    io("predicted_us", row.predicted_us);
    io("pays", row.pays);
    io.rule(!row.variant.empty(), "variant", "is empty");
  }
};

struct Curve {
  using IsRow = void;
  std::string recipe;
  std::string axis;   // what is swept, for people
  std::string along;  // the parameter that is swept
  Params shape;
  std::vector<Value> points;                   // numbers
  std::optional<std::vector<double>> copy_us;  // the time of a copy of the same bytes
  std::vector<CurveVariant> variants;

  template <class Io, class Self>
  static void fields(Io& io, Self& row) {
    io("recipe", row.recipe);
    io("axis", row.axis);
    io("along", row.along);
    io("shape", row.shape);
    io("points", row.points);
    io.gaps("copy_us", row.copy_us);
    io("variants", row.variants);
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
};

struct ExploreResult {
  using IsRow = void;
  std::vector<Curve> curves;

  template <class Io, class Self>
  static void fields(Io& io, Self& row) {
    io("curves", row.curves);
  }
};

// clcook startup: seconds on the clock of each step of one new process.
struct StartupRow {
  using IsRow = void;
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

  template <class Io, class Self>
  static void fields(Io& io, Self& row) {
    io("pick_s", row.pick_s);
    io("plan_s", row.plan_s);
    io("first_blur_s", row.first_blur_s);
    io("second_blur_s", row.second_blur_s);
    io("processor_s", row.processor_s);
    io("compiled", row.compiled);
    io("method", row.method);
    io("tune", row.tune);
    io("caches", row.caches);
    io("ran", row.ran);
  }
};

struct StartupResult {
  using IsRow = void;
  Params problem;  // a shape of gaussian_blur
  std::vector<StartupRow> rows;

  template <class Io, class Self>
  static void fields(Io& io, Self& row) {
    io("problem", row.problem);
    io("rows", row.rows);
  }
};

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

inline Json to_json(const isa::Counts& counts) {
  Json out = {{"instructions", counts.total}};
  for (std::size_t i = 0; i < isa::kKinds; ++i) out[isa::kKindNames[i]] = counts.by_kind[i];
  out["loops"] = counts.loops;
  out["calls"] = counts.calls;
  out["unknown"] = counts.unknown;
  return out;
}

// The members of isa::Resources by their names in a file.
inline constexpr std::pair<const char*, long isa::Resources::*> kResources[] = {
    {"registers", &isa::Resources::registers},
    {"scalar_registers", &isa::Resources::scalar_registers},
    {"local_bytes", &isa::Resources::local_bytes},
    {"spills", &isa::Resources::spills},
    {"scratch", &isa::Resources::scratch},
    {"occupancy", &isa::Resources::occupancy},
    {"bytes", &isa::Resources::bytes}};

inline Json to_json(const isa::Resources& resources) {
  Json out = Json::object();
  for (const auto& [name, member] : kResources) {
    const long value = resources.*member;
    out[name] = value < 0 ? Json(nullptr) : Json(value);
  }
  return out;
}

template <class Row, class = typename Row::IsRow>
Json to_json(const Row& row);

// A list of numbers, null for NaN.
inline Json to_json(const std::vector<double>& numbers) {
  Json out = Json::array();
  for (const double one : numbers) out.push_back(std::isfinite(one) ? Json(one) : Json());
  return out;
}

inline Json to_json(const CurveVariant::Predictions& predictions) {
  Json out = Json::object();
  for (const auto& [model, times] : predictions) out[model] = to_json(times);
  return out;
}

// Null for NaN.
inline Json to_json(const CountersRow::Counters& counters) {
  Json out = Json::object();
  for (const auto& [name, value] : counters)
    out[name] = std::isfinite(value) ? Json(value) : Json();
  return out;
}

inline Json to_json(const std::vector<std::pair<double, double>>& ranges) {
  Json out = Json::array();
  for (const auto& [from, to] : ranges) out.push_back(Json::array({from, to}));
  return out;
}

template <class T>
Json to_json(const std::vector<T>& list) {
  Json out = Json::array();
  for (const T& one : list) {
    if constexpr (std::is_convertible_v<T, std::string>) {
      out.push_back(one);
    } else {
      out.push_back(to_json(one));
    }
  }
  return out;
}

class FieldWriter {
 public:
  template <class T>
  void operator()(const char* key, const T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_convertible_v<T, std::string>) {
      json[key] = value;
    } else {
      json[key] = to_json(value);
    }
  }
  template <class T>
  void operator()(const char* key, const std::optional<T>& value) {
    if (value) (*this)(key, *value);
  }
  void or_null(const char* key, double value) {
    json[key] = std::isfinite(value) ? Json(value) : Json();
  }
  void or_infinite(const char* key, double value) { or_null(key, value); }
  void gaps(const char* key, const std::vector<double>& list) { json[key] = to_json(list); }
  void gaps(const char* key, const std::optional<std::vector<double>>& list) {
    if (list) gaps(key, *list);
  }
  void rule(bool, const char*, const char*) {}

  Json json = Json::object();
};

template <class Row, class>
Json to_json(const Row& row) {
  FieldWriter io;
  Row::fields(io, row);
  return io.json;
}

// ---- Reading ------------------------------------------------------------------------------------

// Reads the fields of one object, which lies in `file` at `place`: "" for the whole file,
// "rows[3]".
class FieldReader {
 public:
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
    const auto found = object_.find(key);
    value.reset();
    if (found != object_.end() && !found->is_null()) read(*found, at(key), value.emplace());
  }
  void or_null(const char* key, double& value) const {
    const Json& json = need(key);
    value = std::nan("");
    if (!json.is_null()) read(json, at(key), value);
  }
  void or_infinite(const char* key, double& value) const {
    or_null(key, value);
    if (std::isnan(value)) value = HUGE_VAL;
  }
  void gaps(const char* key, std::vector<double>& list) const {
    read_gaps(need(key), at(key), list);
  }
  void gaps(const char* key, std::optional<std::vector<double>>& list) const {
    const auto found = object_.find(key);
    list.reset();
    if (found != object_.end() && !found->is_null()) read_gaps(*found, at(key), list.emplace());
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
    if (!json.is_object()) complain(where, json, "an object");
    value = Params();
    for (const auto& [name, one] : json.items()) {
      Value read_value;
      read(one, where + "." + name, read_value);
      value.set(name, std::move(read_value));
    }
  }
  void read(const Json& json, const std::string& where,
            std::map<std::string, std::string>& value) const {
    if (!json.is_object()) complain(where, json, "an object");
    value.clear();
    for (const auto& [name, one] : json.items()) read(one, where + "." + name, value[name]);
  }
  void read(const Json& json, const std::string& where, std::pair<double, double>& value) const {
    std::vector<double> both;
    read(json, where, both);
    if (both.size() != 2) malformed(where + " must be two numbers");
    value = {both[0], both[1]};
  }
  void read(const Json& json, const std::string& where, CurveVariant::Predictions& value) const {
    if (!json.is_object()) complain(where, json, "an object");
    for (const auto& [model, times] : json.items())
      read_gaps(times, where + "." + model,
                value.emplace_back(model, std::vector<double>()).second);
  }
  void read(const Json& json, const std::string& where, CountersRow::Counters& value) const {
    if (!json.is_object()) complain(where, json, "an object");
    value.clear();
    for (const auto& [name, one] : json.items()) {
      value.emplace_back(name, std::nan(""));
      if (!one.is_null()) read(one, where + "." + name, value.back().second);
    }
  }
  void read(const Json& json, const std::string& where, std::set<std::string>& value) const {
    std::vector<std::string> list;
    read(json, where, list);
    value = {list.begin(), list.end()};
  }
  void read(const Json& json, const std::string& where, isa::Counts& value) const {
    const FieldReader io(json, file_, where);
    io("instructions", value.total);
    for (std::size_t i = 0; i < isa::kKinds; ++i) io(isa::kKindNames[i], value.by_kind[i]);
    io("loops", value.loops);
    io("calls", value.calls);
    io("unknown", value.unknown);
  }
  void read(const Json& json, const std::string& where, isa::Resources& value) const {
    const FieldReader io(json, file_, where);
    for (const auto& [name, member] : kResources) {
      value.*member = -1;
      if (!io.need(name).is_null()) io(name, value.*member);
    }
  }
  template <class T>
  void read(const Json& json, const std::string& where, std::vector<T>& value) const {
    if (!json.is_array()) complain(where, json, "a list");
    value.clear();
    for (const Json& one : json) {
      const std::string place = where + "[" + std::to_string(value.size()) + "]";
      read(one, place, value.emplace_back());
    }
  }
  template <class Row, class = typename Row::IsRow>
  void read(const Json& json, const std::string& where, Row& value) const {
    const FieldReader io(json, file_, where);
    Row::fields(io, value);
  }
  void read_gaps(const Json& json, const std::string& where, std::vector<double>& value) const {
    if (!json.is_array()) complain(where, json, "a list");
    value.clear();
    for (const Json& one : json) {
      value.push_back(std::nan(""));
      if (!one.is_null())
        read(one, where + "[" + std::to_string(value.size() - 1) + "]", value.back());
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
  Row::fields(io, row);
  return row;
}

// Reads a result file and checks its format, its kind ("" for any) and, but of an offline
// compilation (isa), that it has a device. Throws Error(io) when it is missing, truncated, of
// another kind or of another format version.
Json read_result(const std::string& path, const std::string& kind);

// The same from the content of that file.
Json parse_result(const std::string& content, const std::string& path, const std::string& kind);

}  // namespace clcook::tool
