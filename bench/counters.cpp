// clcook counters: what the hardware counts while a variant runs.

#include <fmt/format.h>

#include <algorithm>
#include <clcook/registry/conformance.hpp>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "counters/ncu.hpp"
#include "counters/perf.hpp"
#include "counters/recording.hpp"
#include "counters/show.hpp"
#include "report/report.hpp"
#include "tool/chatter.hpp"
#include "tool/command.hpp"
#include "tool/growing_result.hpp"
#include "tool/interrupt.hpp"
#include "tool/progress.hpp"

namespace clcook::tool {

namespace {

// What an error is of that keeps everything from being counted.
constexpr const char* kCommand = "clcook counters";
// All that a call of a variant may read and write: it lies in files meanwhile.
constexpr std::uint64_t kMostRecorded = std::uint64_t{4} << 30;

struct CountersArguments {
  std::vector<std::string> recipes;
  std::string variant;
  std::string shape;
  std::string device;
  std::string out;
  std::string resume;
  std::string replay;
  std::uint64_t seed = 1;
  bool all_tunes = false;
};

// Where counters come from: NVIDIA's profiler, which sees a replay, or the cores of this machine.
class Profiler {
 public:
  // Throws Error(unsupported) where the device's counters cannot be had.
  explicit Profiler(const std::string& device) {
    PickOptions pick;
    pick.runtime.on_launch = [this](const std::string& kernel, const cl::Event&) {
      kernels_.push_back(kernel);
    };
    runtime_.emplace(Runtime::pick(device, pick));
    const DeviceInfo& info = runtime_->info();
    if (info.platform.find("NVIDIA") != std::string::npos) {
      ncu_.emplace();
    } else if (info.gpu || info.accelerator) {
      fail(Errc::unsupported, "clcook counters",
           "counts on NVIDIA GPUs and on CPUs; the device is " + info.name);
    } else {
      counters::count_threads([] {});
    }
  }
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  const Runtime& runtime() const { return *runtime_; }
  std::string name() const { return ncu_ ? ncu_->version() : "perf_event_open"; }

  // Fills in the row of a variant, but for what says which one it is.
  void count(Case& one, CountersRow& row) {
    try {
      row.status = "skipped";
      one.prepare(row.variant, row.tune);
      row.status = "refused";
      one.poison();
      one.upload({}).wait();
      run(one, row);
    } catch (const Error& error) {
      if (error.code != Errc::unsupported && error.code != Errc::out_of_resources) throw;
      if (error.where == kCommand) throw;  // of everything, not of this variant
      row.reason = error.what();
    }
  }

 private:
  void run(Case& one, CountersRow& row) {
    const clcook::detail::Drain drain(*runtime_);
    kernels_.clear();
    std::optional<counters::Folder> folder;
    if (ncu_) {
      folder.emplace();
      counters::Recorder recorder(folder->path(), kMostRecorded);
      one.run({}).wait();
      counters::write_recording(recorder.recording(), folder->path());
    } else {
      one.run({}).wait();  // PoCL compiles at the first launch
    }
    row.kernels = kernels_;
    const Diff diff = one.check({});
    if (!diff.ok()) {
      row.status = "failed";
      row.reason = "wrong result " + diff.first();
      return;
    }
    if (ncu_) {
      const std::vector<counters::Profiled> launches = ncu_->profile(folder->path(), row.reason);
      if (row.reason.empty() && launches.size() != row.kernels.size())
        row.reason = fmt::format("ncu saw {} launches of {}", launches.size(), row.kernels.size());
      if (!row.reason.empty()) return;
      row.counters = counters::combine(launches);
    } else {
      row.counters = counters::count_threads([&] { one.run({}).wait(); });
    }
    row.status = "counted";
  }

  std::vector<std::string> kernels_;  // launched, as the runtime's observer is told
  std::optional<Runtime> runtime_;
  std::optional<counters::Ncu> ncu_;
};

// Counters that are printed; those that no row has are left out.
constexpr const char* kPrinted[] = {
    "time_ns",          "lanes",         "instructions", "cycles",
    "branches",         "branch_misses", "cache_misses", "divergent",
    "bank_conflicts",   "l1_hit_pct",    "l2_hit_pct",   "dram_read_bytes",
    "dram_write_bytes", "issue_pct",     "warps_pct",    "registers"};

std::string render(const std::vector<CountersRow>& rows) {
  std::vector<counters::Shown> columns;
  for (const char* key : kPrinted) {
    const counters::Shown& one = counters::shown(key);
    const bool any = std::any_of(rows.begin(), rows.end(), [&](const CountersRow& row) {
      return !std::isnan(counters::value_of(row, one));
    });
    if (any) columns.push_back(one);
  }
  std::string out = fmt::format("{:<24}", "variant");
  for (const counters::Shown& one : columns) out += fmt::format("{:>12}", one.brief);
  out += "\n";
  for (const CountersRow& row : rows) {
    out += fmt::format("{:<24}", row.label());
    if (row.counted()) {
      for (const counters::Shown& one : columns)
        out += fmt::format("{:>12}", report::digits(counters::value_of(row, one)));
    } else {
      out += fmt::format("  {}: {}", row.status, row.reason);
    }
    out += "\n";
  }
  return out;
}

// The rows of a recipe that are wanted, of which only the names are filled in.
std::vector<CountersRow> wanted_rows(const Recipe& recipe, const CountersArguments& arguments) {
  std::vector<CountersRow> out;
  for (const VariantInfo& variant : recipe.variants) {
    if (!arguments.variant.empty() && variant.name != arguments.variant) continue;
    std::vector<Params> tunes = combinations(variant.tunes);
    if (!arguments.all_tunes) tunes.resize(1);
    for (const Params& tune : tunes) {
      CountersRow& row = out.emplace_back();
      row.recipe = recipe.name;
      row.variant = variant.name;
      row.tune = tune;
      row.shape =
          arguments.shape.empty() ? recipe.bench_shapes.front() : Params::parse(arguments.shape);
    }
  }
  return out;
}

int run_counters(const CountersArguments& arguments) {
  std::vector<const Recipe*> chosen;
  if (arguments.recipes.empty()) {
    for (const Recipe& recipe : recipes()) chosen.push_back(&recipe);
  }
  for (const std::string& name : arguments.recipes) chosen.push_back(&find_recipe(recipes(), name));
  for (const Recipe* recipe : chosen) {
    if (!arguments.variant.empty() && chosen.size() == 1) recipe->variant(arguments.variant);
    if (!arguments.shape.empty()) recipe->check_shape(Params::parse(arguments.shape));
  }
  Profiler profiler(arguments.device);
  const Runtime& runtime = profiler.runtime();
  inspect_descriptions(arguments.recipes, runtime);
  const Interrupt interrupt("the variant that is being counted");
  Json head = result_head("counters", runtime.info());
  head["seed"] = arguments.seed;
  head["profiler"] = profiler.name();
  std::vector<CountersRow> rows;
  GrowingResult result(arguments.out, arguments.resume, std::move(head), "rows",
                       [&] { return to_json(rows); });
  if (!result.earlier().is_null())
    rows = from_json<CountersResult>(result.earlier(), arguments.resume).rows;
  std::size_t ready = 0;
  Progress line("counting: variant", 0);
  for (const Recipe* recipe : chosen) {
    std::unique_ptr<Case> one;
    std::vector<CountersRow> part;
    for (CountersRow& row : wanted_rows(*recipe, arguments)) {
      if (Interrupt::asked()) break;
      const auto same = std::find_if(rows.begin(), rows.end(), [&](const CountersRow& other) {
        return other.recipe == row.recipe && other.variant == row.variant &&
               other.tune.str() == row.tune.str() && other.shape.str() == row.shape.str();
      });
      ++ready;
      if (same != rows.end()) {
        part.push_back(*same);
        continue;
      }
      line.step(recipe->name + "/" + row.label());
      try {
        const Chatter quiet;
        if (!one) one = recipe->make(runtime, row.shape, arguments.seed);
        profiler.count(*one, row);
      } catch (const Error& error) {
        if (error.code != Errc::unsupported && error.code != Errc::out_of_resources) throw;
        if (error.where == kCommand) throw;
        row.status = "skipped";
        row.reason = error.what();
      }
      rows.push_back(row);
      part.push_back(std::move(row));
      result.keep();
    }
    line.clear();
    if (part.empty()) continue;
    if (arguments.out != "-")
      fmt::print("\n{}  {}\n{}", recipe->name, part.front().shape.str(), render(part));
    std::fflush(stdout);
  }
  result.finish();
  if (Interrupt::asked()) {
    fmt::print(stderr, "{}", result.kept(fmt::format("{} variants", ready)));
    return kInterrupted;
  }
  const bool failed = std::any_of(rows.begin(), rows.end(),
                                  [](const CountersRow& row) { return row.status == "failed"; });
  return failed ? 1 : 0;
}

}  // namespace

void add_counters(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "counters",
      "What the hardware counts while each variant runs: NVIDIA GPUs with ncu, CPUs with perf");
  auto arguments = std::make_shared<CountersArguments>();
  command->add_option("RECIPE", arguments->recipes,
                      "Only these recipes, or FILE.toml: see clcook try");
  command->add_option("--variant", arguments->variant, "Only this variant");
  command->add_option(
      "--shape", arguments->shape,
      "Use this shape instead of the recipe's first bench shape; clcook list names its values");
  command->add_option("--device", arguments->device,
                      "Device specification; default CLCOOK_DEVICE, else any");
  add_result_options(*command, arguments->out, arguments->resume);
  command->add_option("--seed", arguments->seed, "Seed of the pseudo-random data")
      ->capture_default_str();
  command->add_flag("--all-tunes", arguments->all_tunes,
                    "Every value of every tune axis, not only the defaults");
  command->add_option("--replay", arguments->replay)->group("");  // the process that is profiled
  command->callback([arguments, &exit_code] {
    if (!arguments->replay.empty()) {
      exit_code = counters::replay_child(arguments->replay);
      return;
    }
    exit_code = with_descriptions(arguments->recipes, [&] { return run_counters(*arguments); });
  });
}

}  // namespace clcook::tool
