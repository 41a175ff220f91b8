// clcook check: every recipe against its scalar reference on one device.

#include <fmt/format.h>

#include <algorithm>
#include <clcook/registry/conformance.hpp>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "measure/fingerprint.hpp"
#include "tool/command.hpp"
#include "tool/growing_result.hpp"
#include "tool/interrupt.hpp"
#include "tool/process.hpp"
#include "tool/progress.hpp"
#include "tool/stderr_capture.hpp"

namespace clcook::tool {

namespace {

struct CheckArguments {
  std::vector<std::string> recipes;
  std::string variant;
  std::vector<std::string> shapes;
  std::string device;
  std::string out;
  std::string resume;
  std::uint64_t seed = 1;
  double time_limit = 600;  // seconds
  bool json = false;
  bool tiny = false;
  bool in_order_only = false;
  bool plan = false;
  bool verbose = false;
};

CheckRow row_of(const ConformanceRow& row) {
  return {row.recipe,
          row.variant,
          row.tune,
          row.shape,
          row.queue,
          to_string(row.outcome),
          row.reason,
          row.outcome == Outcome::skipped ? std::optional<std::string>(to_string(row.lacks))
                                          : std::nullopt,
          row.kernels,
          row.diff.compared(),
          row.diff.mismatches(),
          row.diff.max_error(),
          row.diff.bound(),
          row.diff.guards_ok()};
}

// The rows so far and what they come to.
struct Checked {
  std::vector<CheckRow> rows;
  std::vector<CheckTotalRow> totals;
  std::set<std::string> names;
  CheckTotalRow all;

  // Not twice: --resume runs some rows again that stand for several.
  void add(const CheckRow& row) {
    if (!names.insert(name_of(row)).second) return;
    rows.push_back(row);
    add_to(totals, row);
    all.add(row);
  }

  std::vector<CheckRow> failures() const {
    std::vector<CheckRow> out;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(out),
                 [](const CheckRow& row) { return row.outcome == "failed"; });
    return out;
  }

  static std::string name_of(const CheckRow& row) {
    return row.recipe + "/" + row.variant + " " + row.tune.str() + " (" + row.shape.str() + ") " +
           row.queue;
  }
};

// One line for each thing that was lacking.
std::string skips_in_short(const std::vector<CheckSkip>& skips) {
  struct Lack {
    std::size_t runs = 0;
    std::size_t reasons = 0;
    std::string first;
  };
  std::map<std::string, Lack> lacks;
  for (const CheckSkip& skip : skips) {
    Lack& lack = lacks[skip.lacks.value_or("?")];
    lack.runs += skip.count;
    if (lack.reasons++ == 0) lack.first = skip.reason;
  }
  std::string out;
  for (const auto& [name, lack] : lacks) {
    out += fmt::format("    skipped {} times for lack of {}: {}", lack.runs, name, lack.first);
    if (lack.reasons > 1) out += fmt::format(" (and {} more like it)", lack.reasons - 1);
    out += "\n";
  }
  return out;
}

// One line per recipe, variant and shape that would run, separated by tabs.
int print_plan(const CheckArguments& arguments) {
  std::string out;
  for (const Recipe& recipe : recipes()) {
    const auto& wanted = arguments.recipes;
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), recipe.name) == wanted.end())
      continue;
    for (const VariantInfo& variant : recipe.variants) {
      if (!arguments.variant.empty() && variant.name != arguments.variant) continue;
      for (const Params& shape : recipe.test_shapes) {
        if (arguments.tiny && shape.integer("tiny", 0) == 0) continue;
        out += recipe.name + "\t" + variant.name + "\t" + shape.str() + "\n";
      }
    }
  }
  deliver("", out);
  return 0;
}

// How many rows run_conformance() will give, as far as that is known before.
std::size_t rows_of(const ConformanceOptions& options, const Runtime& runtime) {
  const std::size_t queues = options.out_of_order && out_of_order_runtime(runtime) ? 2 : 1;
  std::size_t rows = 0;
  for (const Recipe& recipe : recipes()) {
    const auto& wanted = options.recipes;
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), recipe.name) == wanted.end())
      continue;
    std::size_t shapes = options.shapes.size();
    if (shapes == 0) {
      for (const Params& shape : recipe.test_shapes)
        if (!options.tiny || shape.integer("tiny", 0) != 0) ++shapes;
    }
    for (const VariantInfo& variant : recipe.variants) {
      if (!options.variant.empty() && variant.name != options.variant) continue;
      rows += shapes * queues * (options.tiny ? 1 : combinations(variant.axes).size());
    }
  }
  return rows;
}

// Of the variants that ran.
void add_fingerprints(Checked& checked, const DeviceInfo& device) {
  for (CheckTotalRow& sum : checked.totals) {
    if (sum.did_run())
      sum.ran = fingerprint_of_check(find_recipe(recipes(), sum.recipe), sum.variant, device);
  }
}

// What the compiler said of the kernels of a row. The programs come from the runtime's memory.
std::string build_logs(const Runtime& runtime, const ConformanceRow& row) {
  std::string out;
  const Recipe& recipe = find_recipe(recipes(), row.recipe);
  if (row.variant == "*" || !recipe.pose) return out;
  for (const CompileUnit& unit : recipe.units(row.variant, row.tune, row.shape, runtime.info())) {
    try {
      const cl::Program program =
          runtime.build(unit.source, unit.defines, unit.kernel, unit.options);
      const std::string log = build_log(program, runtime.device());
      if (!log.empty()) out += fmt::format("  {}:\n{}\n", unit.kernel, log);
    } catch (const Error& error) {
      out += fmt::format("  {}: {}\n", unit.kernel, error.what());
    }
  }
  return out;
}

// Has the parent process end a row that takes too long, and name the device: our kernels end. Those of
// a description have limits of their own.
class RowWatch {
 public:
  RowWatch(const DeviceInfo& device, double seconds)
      : device_(device.platform + ", " + device.name + ", driver " + device.driver),
        seconds_(seconds) {}
  RowWatch(const RowWatch&) = delete;
  RowWatch& operator=(const RowWatch&) = delete;
  ~RowWatch() { end(); }

  void begin(const ConformanceRow& row) {
    end();
    if (is_described(row.recipe)) return;
    began(device_, row.name(), seconds_);
    runs_ = true;
  }
  void end() {
    if (runs_) ended();
    runs_ = false;
  }

 private:
  std::string device_;
  double seconds_;
  bool runs_ = false;
};

// A line for each variant, and what all come to.
std::string table_of(const Checked& checked, const DeviceInfo& device) {
  std::string out =
      fmt::format("{}, {}\n{:<34} {:>7} {:>7} {:>8}  {:>10}  {:>9}\n", device.platform, device.name,
                  "variant", "passed", "failed", "skipped", "max error", "of bound");
  for (const CheckTotalRow& sum : checked.totals) {
    out += fmt::format("{:<34} {:>7} {:>7} {:>8}  {:>10.3g}  {:>8.1f}%\n",
                       sum.recipe + "/" + sum.variant, sum.passed, sum.failed, sum.skipped,
                       sum.max_error, 100 * sum.share);
    out += skips_in_short(sum.skips);
  }
  out += fmt::format("{} passed, {} failed, {} skipped; {} kernels ran\n", checked.all.passed,
                     checked.all.failed, checked.all.skipped, checked.all.launches);
  return out;
}

int run_check(const CheckArguments& arguments) {
  // Programs that come from a cache have no log: with --verbose all are compiled.
  if (arguments.verbose) {
    setenv("CLCOOK_CACHE", "0", 1);
    setenv("POCL_KERNEL_CACHE", "0", 1);
  }
  ConformanceOptions options;
  options.recipes = arguments.recipes;
  options.variant = arguments.variant;
  options.seed = arguments.seed;
  options.tiny = arguments.tiny;
  options.out_of_order = !arguments.in_order_only;
  for (const std::string& shape : arguments.shapes) options.shapes.push_back(Params::parse(shape));
  const Runtime runtime = Runtime::pick(arguments.device);
  inspect_descriptions(arguments.recipes, runtime);

  const Interrupt interrupt("the row that is being checked");
  Json head = result_head("check", runtime.info());
  head["seed"] = arguments.seed;
  Checked checked;
  bool only_failures = false;
  GrowingResult result(arguments.out, arguments.resume, std::move(head), "rows", [&] {
    return only_failures ? to_json(checked.failures()) : to_json(checked.rows);
  });
  const auto summarise = [&] {
    result.head()["summary"] = {{"passed", checked.all.passed},
                                {"failed", checked.all.failed},
                                {"skipped", checked.all.skipped},
                                {"launches", checked.all.launches}};
  };
  if (!result.earlier().is_null()) {
    const CheckResult earlier = read_fields<CheckResult>(result.earlier(), arguments.resume);
    if (earlier.totals)
      fail(Errc::io, "result file " + arguments.resume,
           "holds the totals of a finished check; --resume needs a row for each run");
    for (const CheckRow& row : earlier.rows) checked.add(row);
  }
  RowWatch watch(runtime.info(), arguments.time_limit);
  options.selects = [&](const ConformanceRow& row) {
    if (Interrupt::asked() || checked.names.count(Checked::name_of(row_of(row))) != 0) return false;
    watch.begin(row);
    return true;
  };
  std::string said;  // the last log, which many rows share
  const std::size_t before = checked.rows.size();
  const std::size_t total = rows_of(options, runtime);
  Progress progress("checking", total > before ? total - before : 0);
  std::optional<StderrCapture> captured(std::in_place);
  run_conformance(recipes(), runtime, options, [&](const ConformanceRow& row) {
    watch.end();
    const std::string heard = captured->take();
    if (arguments.verbose) {
      const std::string log = build_logs(runtime, row) + heard + captured->take();
      if (!log.empty() && log != said) {
        progress.clear();
        fmt::print(captured->terminal(), "{}\n{}", row.name(), log);
        said = log;
      }
    }
    progress.step(row.recipe + "/" + row.variant);
    checked.add(row_of(row));
    if (row.outcome == Outcome::failed) {
      progress.clear();
      fmt::print(captured->terminal(), "FAILED {}: {}\n{}", row.name(), row.reason,
                 arguments.verbose ? "" : heard);
    }
    std::fflush(captured->terminal());
    summarise();
    result.keep();
  });
  captured.reset();
  progress.clear();

  summarise();
  // A file for --resume needs every row; that of a finished check says what they come to.
  const bool ended_early = Interrupt::asked();
  const bool is_whole = arguments.recipes.empty() && arguments.variant.empty() &&
                        arguments.shapes.empty() && !arguments.tiny && !arguments.in_order_only;
  const bool is_finished =
      arguments.resume.empty() ? !arguments.out.empty() && arguments.out != "-" : is_whole;
  only_failures = is_finished && !ended_early;
  Json more = Json::object();
  if (only_failures) {
    if (!arguments.tiny && arguments.shapes.empty()) add_fingerprints(checked, runtime.info());
    more["totals"] = to_json(checked.totals);
  }
  result.finish(more);
  if (!arguments.json) {
    deliver("", table_of(checked, runtime.info()));
  }
  if (ended_early) {
    fmt::print(stderr, "{}", result.kept(fmt::format("{} rows", checked.rows.size())));
    return kInterrupted;
  }
  if (checked.all.passed == 0 && checked.all.failed == 0)
    fmt::print(stderr, "clcook check: nothing was checked\n");
  return checked.all.failed == 0 && checked.all.passed > 0 ? 0 : 1;
}

}  // namespace

const Command add_check(3, [](CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "check", "Compare every variant with its scalar reference; exit code 1 on any mismatch");
  auto arguments = std::make_shared<CheckArguments>();
  command->add_option("RECIPE", arguments->recipes,
                      "Only these recipes, or FILE.toml: see clcook try");
  command->add_option("--variant", arguments->variant, "Only this variant");
  command
      ->add_option("--shape", arguments->shapes,
                   "Use this shape, such as \"width=65 height=3 ...\", instead of the test shapes; "
                   "clcook list names its values")
      ->allow_extra_args(false);
  command->add_option("--device", arguments->device,
                      "Device specification; default CLCOOK_DEVICE, else any");
  command->add_option("--seed", arguments->seed, "Seed of the pseudo-random data")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  add_result_options(*command, arguments->out, arguments->resume);
  command
      ->add_option("--time-limit", arguments->time_limit,
                   "Seconds that one run may take; an implementation that hangs is named then")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_flag("--json", arguments->json, "Print JSON, one row per run, instead of a table");
  command->add_flag("--tiny", arguments->tiny,
                    "Only the smallest shapes and the first tuning, for slow devices and Oclgrind");
  command->add_flag("--plan", arguments->plan,
                    "Only print what would run: recipe, variant, shape, separated by tabs");
  command->add_flag("--verbose", arguments->verbose,
                    "Also print what the implementation says while it compiles, to standard error; "
                    "compiles every kernel anew");
  command->add_flag("--in-order", arguments->in_order_only, "Leave out the out-of-order queue");
  command->callback([arguments, &exit_code] {
    if (arguments->json && arguments->out.empty() && arguments->resume.empty())
      arguments->out = "-";
    if (arguments->out == "-") arguments->json = true;
    add_descriptions(arguments->recipes);
    exit_code =
        arguments->plan ? print_plan(*arguments) : in_child([&] { return run_check(*arguments); });
  });
});

}  // namespace clcook::tool
