// clcook counters: what the hardware counts while a variant runs.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <clcook/registry/conformance.hpp>
#include <cmath>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "counters/ncu.hpp"
#include "counters/perf.hpp"
#include "counters/recording.hpp"
#include "counters/show.hpp"
#include "measure/fingerprint.hpp"
#include "measure/verdict.hpp"
#include "tool/command.hpp"
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

  // Counts what the rows of one recipe ask for and hands them on, filled in, some at a time and in
  // their order; only the first ones where it was asked to end. Rows of equal shapes stand together.
  void count(const Recipe& recipe, std::uint64_t seed, std::vector<CountersRow> rows,
             const std::function<void(std::vector<CountersRow>)>& ready) {
    const Clock::time_point deadline =
        Clock::now() + std::chrono::seconds(counters::kRecipeSeconds);
    const tool::ScratchFolder folder("counters");
    counters::Store store(folder.path(), kMostRecorded);
    std::unique_ptr<Case> one;
    std::string shape_of_one;
    Batch batch;
    for (CountersRow& row : rows) {
      if (Interrupt::asked()) return;
      row.status = "skipped";
      // A prefix of names is what says so.
      if (ncu_ && row.variant.rfind("cpu_", 0) == 0) {
        row.reason = "made for CPUs: not counted on a GPU";
      } else if (Clock::now() > deadline - kBatchTime) {  // the rest is the profiler's
        row.reason = counters::time_spent();
      } else {
        const StderrCapture quiet;
        try {
          if (shape_of_one != row.shape.str()) {
            one.reset();
            one = recipe.make(*runtime_, row.shape, seed);
            shape_of_one = row.shape.str();
          }
          one->prepare(row.variant, row.tune);
          one->poison();
          one->upload({}).wait();
          kernels_.clear();
          if (ncu_) {
            record(*one, store, row, batch, batch.rows.size());
          } else {
            count_here(*one, row);
          }
        } catch (const Error& error) {
          if (error.code != Errc::unsupported && error.code != Errc::out_of_resources) throw;
          if (!one) shape_of_one.clear();
          row.reason = error.what();
        }
      }
      batch.rows.push_back(std::move(row));
      if (Clock::now() - batch.begin < kBatchTime && &row != &rows.back()) continue;
      finish(recipe, folder.path(), batch, deadline);
      if (Interrupt::asked()) return;
      ready(std::move(batch.rows));
      batch = Batch();
    }
  }

 private:
  using Clock = counters::Ncu::Clock;
  // For so long calls are recorded before they are profiled, since the profiler starts slowly, and
  // their rows handed on.
  static constexpr std::chrono::seconds kBatchTime{20};

  struct Batch {
    std::vector<CountersRow> rows;
    std::vector<counters::Call> calls;  // recorded
    std::vector<std::size_t> of_calls;  // the row of each
    Clock::time_point begin = Clock::now();
  };

  // Adds the prepared call to the batch, whose row `at` it will be.
  void record(Case& one, counters::Store& store, CountersRow& row, Batch& batch, std::size_t at) {
    counters::Recording recording;
    {
      const clcook::detail::Drain drain(*runtime_);
      recording = recorder_.record(store, [&] { one.run({}).wait(); });
    }
    const std::string name = fmt::format("call{}", calls_++);
    write_recording(recording, store.folder(), name);
    for (const counters::RecordedLaunch& launch : recording.launches)
      kernels_.push_back(launch.kernel);
    if (!is_right(one, row)) return;
    batch.calls.emplace_back().name = name;
    batch.of_calls.push_back(at);
  }

  // Profiles what was recorded.
  void finish(const Recipe& recipe, const std::filesystem::path& folder, Batch& batch,
              Clock::time_point deadline) {
    if (ncu_) ncu_->profile(folder, batch.calls, deadline, [] { return Interrupt::asked(); });
    for (std::size_t i = 0; i < batch.calls.size(); ++i) {
      CountersRow& row = batch.rows[batch.of_calls[i]];
      counters::Call& call = batch.calls[i];
      row.status = call.status;
      row.reason = call.reason;
      row.profiled = call.profiled;
      row.counters = call.counters;
    }
    for (CountersRow& row : batch.rows) {
      if (row.counted())
        row.ran = fingerprint_of(recipe, row.variant, row.tune, {row.shape}, runtime_->info());
    }
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
  std::size_t calls_ = 0;             // that were recorded
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
    if (row.shape.str() != rows.front().shape.str())
      out += fmt::format("  {}\n{:<24}", row.shape.str(), "");
    if (row.counted()) {
      for (const counters::Shown& one : columns)
        out += fmt::format("{:>12}", digits(counters::value_of(row, one)));
    } else {
      out += fmt::format("  {}: {}", row.status, row.reason);
    }
    out += "\n";
  }
  return out;
}

// The first bench shape that a variant takes; where it takes none, or this device cannot run it, the
// first one.
std::size_t shape_for(const Recipe& recipe, const Runtime& runtime, const CountersRow& row) {
  for (std::size_t i = 0; i < recipe.bench_shapes.size(); ++i) {
    if (recipe.offer(runtime, row.variant, row.tune, recipe.bench_shapes[i]).can()) return i;
  }
  return 0;
}

// The rows of a recipe that are wanted, of which only the names are filled in: those of the first
// shape, then those of the next.
std::vector<CountersRow> wanted_rows(const Recipe& recipe, const Runtime& runtime,
                                     const CountersArguments& arguments) {
  std::map<std::size_t, std::vector<CountersRow>> by_shape;
  for (const VariantInfo& variant : recipe.variants) {
    if (!arguments.variant.empty() && variant.name != arguments.variant) continue;
    std::vector<Params> tunes = combinations(variant.axes);
    if (!arguments.all_tunes) tunes.resize(1);
    for (const Params& tune : tunes) {
      CountersRow row;
      row.recipe = recipe.name;
      row.variant = variant.name;
      row.tune = tune;
      const bool given = !arguments.shape.empty();
      const std::size_t at = given ? 0 : shape_for(recipe, runtime, row);
      row.shape = given ? Params::parse(arguments.shape) : recipe.bench_shapes[at];
      by_shape[at].push_back(std::move(row));
    }
  }
  std::vector<CountersRow> out;
  for (auto& [at, rows] : by_shape)
    out.insert(out.end(), std::make_move_iterator(rows.begin()),
               std::make_move_iterator(rows.end()));
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
  const Interrupt interrupt("the variant that is being counted");
  Json head = result_head("counters", runtime.info());
  head["seed"] = arguments.seed;
  head["profiler"] = profiler.name();
  std::vector<CountersRow> rows;
  GrowingResult result(arguments.out, arguments.resume, std::move(head), "rows",
                       [&] { return to_json(rows); });
  if (!result.earlier().is_null())
    rows = read_fields<CountersResult>(result.earlier(), arguments.resume).rows;
  std::size_t ready = 0;  // recipes
  Progress line("counting: recipe", chosen.size(), false, 0);
  for (const Recipe* recipe : chosen) {
    if (Interrupt::asked()) break;
    line.step(recipe->name);
    const auto begin = std::chrono::steady_clock::now();
    std::vector<CountersRow> known;  // of this recipe, those that are done
    std::vector<CountersRow> part;   // and those to count
    for (CountersRow& row : wanted_rows(*recipe, runtime, arguments)) {
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
    profiler.count(*recipe, arguments.seed, std::move(part), [&](std::vector<CountersRow> some) {
      known.insert(known.end(), some.begin(), some.end());
      rows.insert(rows.end(), some.begin(), some.end());
      result.keep();
    });
    if (!Interrupt::asked()) ++ready;
    line.clear();
    if (arguments.out != "-" && !known.empty()) {
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
      fmt::print("\n{}  {}  {:.1f} s\n{}", recipe->name, known.front().shape.str(), seconds.count(),
                 render(known));
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

const Command add_counters(6, [](CLI::App& app, int& exit_code) {
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
  command->callback([arguments, &exit_code] {
    exit_code = with_descriptions(arguments->recipes, [&] { return run_counters(*arguments); });
  });
});

}  // namespace clcook::tool
