// clcook counters: what the hardware counts while a variant runs.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <clcook/registry/conformance.hpp>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "counters/cuda.hpp"
#include "counters/ncu.hpp"
#include "counters/perf.hpp"
#include "counters/recording.hpp"
#include "counters/show.hpp"
#include "report/report.hpp"
#include "tool/command.hpp"
#include "tool/fingerprint.hpp"
#include "tool/growing_result.hpp"
#include "tool/interrupt.hpp"
#include "tool/progress.hpp"
#include "tool/scratch_folder.hpp"
#include "tool/stderr_capture.hpp"

namespace clcook::tool {

namespace {

// Of all that the calls of a recipe read and write: it lies in files meanwhile.
constexpr std::uint64_t kMostRecorded = std::uint64_t{8} << 30;

struct CountersArguments {
  std::vector<std::string> recipes;
  std::string variant;
  std::string shape;
  std::string device;
  std::string out;
  std::string resume;
  std::vector<std::string> replay;
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
      runtime_ = runtime_->with_hook(recorder_);
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

  // Fills in the rows of one recipe and shape, but for what says which they are.
  void count(const Recipe& recipe, std::uint64_t seed, std::vector<CountersRow>& rows) {
    tool::ScratchFolder folder("counters");
    counters::Store store(folder.path(), kMostRecorded);
    std::vector<counters::Call> calls;
    std::vector<CountersRow*> of_calls;
    {
      const StderrCapture quiet;
      std::unique_ptr<Case> one;
      for (CountersRow& row : rows) {
        row.status = "skipped";
        // A prefix of names is what says so.
        if (ncu_ && row.variant.rfind("cpu_", 0) == 0) {
          row.reason = "made for CPUs: not counted on a GPU";
          continue;
        }
        try {
          if (!one) one = recipe.make(*runtime_, row.shape, seed);
          one->prepare(row.variant, row.tune);
          row.status = "refused";
          one->poison();
          one->upload({}).wait();
          kernels_.clear();
          if (!ncu_) {
            count_here(*one, row);
            if (row.counted())
              row.ran =
                  fingerprint_of(recipe, row.variant, row.tune, {row.shape}, runtime_->info());
            continue;
          }
          const std::string name = fmt::format("call{}", calls.size());
          const counters::Recording recording = record(*one, store);
          write_recording(recording, folder.path(), name);
          for (const counters::RecordedLaunch& launch : recording.launches)
            kernels_.push_back(launch.kernel);
          if (!is_right(*one, row)) continue;
          calls.push_back({name, worth_profiling(recording), {}, {}});
          of_calls.push_back(&row);
        } catch (const Error& error) {
          if (error.code != Errc::unsupported && error.code != Errc::out_of_resources) throw;
          row.reason = error.what();
        }
      }
    }
    if (ncu_) ncu_->profile(folder.path(), calls);
    for (std::size_t i = 0; i < calls.size(); ++i) {
      CountersRow& row = *of_calls[i];
      row.reason = calls[i].reason;
      if (!row.reason.empty()) continue;
      row.status = "counted";
      row.profiled = calls[i].launches.size();
      row.ran = fingerprint_of(recipe, row.variant, row.tune, {row.shape}, runtime_->info());
      row.counters = counters::combine(calls[i].launches);
    }
  }

 private:
  counters::Recording record(Case& one, counters::Store& store) {
    const clcook::detail::Drain drain(*runtime_);
    return recorder_.record(store, [&] { one.run({}).wait(); });
  }

  // Whether the call was right, and which kernels it launched.
  bool is_right(Case& one, CountersRow& row) {
    row.launches = kernels_.size();
    for (const std::string& kernel : kernels_) {
      if (std::find(row.kernels.begin(), row.kernels.end(), kernel) == row.kernels.end())
        row.kernels.push_back(kernel);
    }
    const Diff diff = one.check({});
    if (diff.ok()) return true;
    row.status = "failed";
    row.reason = "wrong result " + diff.first();
    return false;
  }

  void count_here(Case& one, CountersRow& row) {
    const clcook::detail::Drain drain(*runtime_);
    one.run({}).wait();  // PoCL compiles at the first launch
    if (!is_right(one, row)) return;
    row.counters = counters::count_threads([&] { one.run({}).wait(); });
    row.profiled = row.launches;
    row.status = "counted";
  }

  std::vector<std::string> kernels_;  // launched, as the runtime's observer is told or as recorded
  counters::Recorder recorder_;       // the runtime's hook where there is ncu
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
    std::vector<Params> tunes = combinations(variant.axes);
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
    // What is quick comes first.
    std::stable_sort(chosen.begin(), chosen.end(), [](const Recipe* a, const Recipe* b) {
      return a->problem_bytes(a->bench_shapes.front()) < b->problem_bytes(b->bench_shapes.front());
    });
  }
  for (const std::string& name : arguments.recipes) chosen.push_back(&find_recipe(recipes(), name));
  for (const Recipe* recipe : chosen) {
    if (!arguments.variant.empty() && chosen.size() == 1) recipe->variant(arguments.variant);
    if (!arguments.shape.empty()) recipe->check_shape(Params::parse(arguments.shape));
  }
  Profiler profiler(arguments.device);
  const Runtime& runtime = profiler.runtime();
  inspect_descriptions(arguments.recipes, runtime);
  const Interrupt interrupt("the recipe that is being counted");
  Json head = result_head("counters", runtime.info());
  head["seed"] = arguments.seed;
  head["profiler"] = profiler.name();
  std::vector<CountersRow> rows;
  GrowingResult result(arguments.out, arguments.resume, std::move(head), "rows",
                       [&] { return to_json(rows); });
  if (!result.earlier().is_null())
    rows = from_json<CountersResult>(result.earlier(), arguments.resume).rows;
  std::size_t ready = 0;  // recipes
  Progress line("counting: recipe", chosen.size());
  for (const Recipe* recipe : chosen) {
    if (Interrupt::asked()) break;
    line.step(recipe->name);
    const auto begin = std::chrono::steady_clock::now();
    std::vector<CountersRow> known;
    std::vector<CountersRow> part;
    for (CountersRow& row : wanted_rows(*recipe, arguments)) {
      const auto same = std::find_if(rows.begin(), rows.end(), [&](const CountersRow& other) {
        return other.recipe == row.recipe && other.variant == row.variant &&
               other.tune.str() == row.tune.str() && other.shape.str() == row.shape.str();
      });
      if (same != rows.end()) {
        known.push_back(*same);
      } else {
        part.push_back(std::move(row));
      }
    }
    profiler.count(*recipe, arguments.seed, part);
    rows.insert(rows.end(), part.begin(), part.end());
    result.keep();
    ++ready;
    part.insert(part.begin(), known.begin(), known.end());
    line.clear();
    if (arguments.out != "-" && !part.empty()) {
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
      fmt::print("\n{}  {}  {:.1f} s\n{}", recipe->name, part.front().shape.str(), seconds.count(),
                 render(part));
    }
    std::fflush(stdout);
  }
  line.clear();
  result.finish();
  if (Interrupt::asked()) {
    fmt::print(stderr, "{}", result.kept(fmt::format("{} recipes", ready)));
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
      counters::replay(arguments->replay.front(),
                       {arguments->replay.begin() + 1, arguments->replay.end()});
      return;
    }
    exit_code = with_descriptions(arguments->recipes, [&] { return run_counters(*arguments); });
  });
}

}  // namespace clcook::tool
