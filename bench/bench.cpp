// clcook bench: time every variant against its baseline and against what the device can do.

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <clcook/core/commit.hpp>
#include <clcook/core/source.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "measure/ceilings.hpp"
#include "measure/compare.hpp"
#include "measure/measure.hpp"
#include "measure/statistics.hpp"
#include "report/report.hpp"
#include "tool/command.hpp"
#include "tool/fingerprint.hpp"
#include "tool/growing_result.hpp"
#include "tool/interrupt.hpp"
#include "tool/progress.hpp"

namespace clcook::tool {

namespace {

// Blocks of samples, see Blocks.
constexpr int kBlocks = 5;
// Of --quick: samples of each variant, and seconds for a recipe unless --seconds says otherwise.
constexpr int kQuickSamples = 15;
constexpr double kQuickSeconds = 10;

struct BenchArguments {
  std::vector<std::string> recipes;
  std::string variant;
  std::vector<std::string> shapes;
  std::string mode = "hot";
  std::string device;
  std::string out;
  std::string resume;
  std::string compare;
  std::string with;
  int samples = 30;
  std::uint64_t seed = 1;
  bool all_tunes = false;
  bool smoke = false;
  bool quick = false;
  double seconds = 0;
};

// The limit that binds a subject, and how close it came.
struct Share {
  const char* limit = "";
  double value = 0;
};

Share share_of_ceiling(const Subject& subject, const Ceilings& ceilings, double seconds) {
  const double bytes = subject.work.bytes_read + subject.work.bytes_written;
  const double memory = bytes / (ceilings.copy_gbs * 1e9);
  const double arithmetic = subject.work.operations / (ceilings.fma_gops * 1e9);
  const double launches = static_cast<double>(subject.launches) * ceilings.launch_us * 1e-6;
  if (memory >= arithmetic && memory >= launches) return {"copy", memory / seconds};
  if (arithmetic >= launches) return {"fma", arithmetic / seconds};
  return {"launch", launches / seconds};
}

std::vector<double> microseconds(const std::vector<double>& seconds) {
  std::vector<double> out;
  for (const double one : seconds) out.push_back(std::round(one * 1e9) / 1e3);
  return out;
}

// The rows of one shape. `baseline` has the hot or cold samples that ratios are taken to.
BenchRow row_of(const Recipe& recipe, const Params& shape, const Subject& subject,
                const Subject* baseline, const Ceilings& ceilings, const DeviceInfo& device) {
  BenchRow row;
  row.recipe = recipe.name;
  row.variant = subject.variant;
  row.tune = subject.tune;
  row.shape = shape;
  row.mode = subject.cold ? "cold" : "hot";
  row.baseline = baseline == &subject;
  if (!subject.problem.empty() || subject.blocks.empty()) {
    row.status = subject.problem.empty() ? "not run" : subject.skipped ? "skipped" : "failed";
    row.reason = subject.problem;
    return row;
  }
  const double time = median(subject.samples());
  const Share share = share_of_ceiling(subject, ceilings, time);
  row.status = "measured";
  row.max_error = subject.max_error;
  row.bound = subject.bound;
  row.launches = subject.launches;
  row.median_us = time * 1e6;
  row.mad_us = median_deviation(subject.samples()) * 1e6;
  row.span_us = median(subject.spans) * 1e6;
  row.bytes = subject.work.bytes_read + subject.work.bytes_written;
  row.operations = subject.work.operations;
  row.gbs = row.bytes / time * 1e-9;
  row.gops = row.operations / time * 1e-9;
  row.limit = share.limit;
  row.share = share.value;
  if (share.value > 1.05) row.flag = "over 105 % of the ceiling: a cache hit or a wrong byte count";
  if (baseline != nullptr && !baseline->blocks.empty())
    row.ratio = RatioRow{bootstrap_ratio(baseline->blocks, subject.blocks)};
  row.ran = fingerprint_of(recipe, row.variant, row.tune, {shape}, device);
  row.blocks = subject.blocks.size();
  row.samples_us = microseconds(subject.samples());
  return row;
}

std::string render(const std::vector<BenchRow>& rows) {
  std::string out =
      fmt::format("{:<28}{:>11}{:>9}{:>10}{:>10}{:>14}   {}\n", "variant", "median us", "+-",
                  "GB/s", "Gop/s", "of ceiling", "against baseline");
  for (const BenchRow& row : rows) {
    const std::string name = row.label() + (row.mode == "cold" ? " cold" : "");
    if (!row.measured()) {
      out += fmt::format("{:<28}  {}: {}\n", name, row.status, row.reason);
      continue;
    }
    std::string ratio = row.baseline ? "baseline" : "-";
    if (!row.baseline && row.ratio) {
      const Ratio& r = row.ratio->ratio;
      ratio =
          fmt::format("{:.2f}x [{:.2f}, {:.2f}]{}", r.value, r.low, r.high, r.tie() ? " tie" : "");
    }
    out += fmt::format("{:<28}{:>11.1f}{:>9.1f}{:>10.1f}{:>10.1f}{:>7.0f} % {:<6}  {}{}\n", name,
                       row.median_us, row.mad_us, row.gbs, row.gops, 100 * row.share, row.limit,
                       ratio, row.flag ? "  (" + *row.flag + ")" : "");
  }
  return out;
}

std::vector<Params> shapes_of(const Recipe& recipe, const BenchArguments& arguments) {
  if (!arguments.shapes.empty()) {
    std::vector<Params> out;
    for (const std::string& shape : arguments.shapes) out.push_back(Params::parse(shape));
    return out;
  }
  if (arguments.quick) return {recipe.quick_shape};
  if (!arguments.smoke) return recipe.bench_shapes;
  for (const Params& shape : recipe.test_shapes) {
    if (shape.integer("tiny", 0) != 0) return {shape};
  }
  return {recipe.test_shapes.front()};
}

// "argument_swap        1.92× [1.92, 1.93]       swap_in_place over call_twice, 3 of 4 measured".
std::string summary_line(const Recipe& recipe, const std::vector<BenchRow>& rows) {
  std::vector<const BenchRow*> group;
  for (const BenchRow& row : rows) group.push_back(&row);
  const auto measured =
      std::count_if(rows.begin(), rows.end(), [](const BenchRow& one) { return one.measured(); });
  const BenchRow* best = report::best_of(recipe.name, group);
  std::string gain = "nothing to compare";
  std::string who;
  if (best != nullptr) {
    gain = report::to_string(report::ratio_of(*best));
    const report::Verdict verdict = report::verdict_of(*best);
    if (verdict != report::Verdict::faster) gain += std::string(" ") + report::to_string(verdict);
    who = best->variant + " against " + recipe.baseline().name + ", ";
  }
  return fmt::format("{:<18} {:<28} {}{} of {} variants measured\n", recipe.name, gain, who,
                     measured, rows.size());
}

// A result of the bench with the device that it is of.
struct Compared {
  Device device;
  BenchResult result;
};

Compared read_measured(const std::string& path) {
  const Json json = read_result(path, "bench");
  return {from_json<Device>(json["device"], path, "device"), from_json<BenchResult>(json, path)};
}

// What is measured together, and so resumed together: ratios are taken within it.
std::vector<Subject> subjects_of(const Recipe& recipe, const BenchArguments& arguments) {
  std::vector<Subject> subjects;
  for (const VariantInfo& variant : recipe.variants) {
    // The baseline is always there, for the ratios.
    if (!arguments.variant.empty() && variant.name != arguments.variant && !variant.is_baseline)
      continue;
    std::vector<Params> tunes = combinations(variant.axes);
    if (!arguments.all_tunes) tunes.resize(1);
    for (const Params& tune : tunes) {
      for (const bool cold : {false, true}) {
        if (arguments.mode != "both" && (arguments.mode == "cold") != cold) continue;
        Subject subject;
        subject.variant = variant.name;
        subject.tune = tune;
        subject.cold = cold;
        subjects.push_back(std::move(subject));
      }
    }
  }
  return subjects;
}

// Whether an earlier run measured all these subjects.
bool is_known(const std::vector<BenchRow>& rows, const Recipe& recipe, const Params& shape,
              const std::vector<Subject>& subjects) {
  return std::all_of(subjects.begin(), subjects.end(), [&](const Subject& subject) {
    return std::any_of(rows.begin(), rows.end(), [&](const BenchRow& row) {
      return row.recipe == recipe.name && row.variant == subject.variant &&
             row.tune.str() == subject.tune.str() && row.shape.str() == shape.str() &&
             (row.mode == "cold") == subject.cold;
    });
  });
}

int bench(const BenchArguments& arguments, const std::string& program,
          const std::vector<std::string>& passed_on) {
  if (!arguments.with.empty()) {
    const Compared before = read_measured(arguments.compare);
    const Compared after = read_measured(arguments.with);
    return compare_results(before.device, before.result.rows, after.device, after.result.rows);
  }
  std::vector<const Recipe*> chosen;
  if (arguments.recipes.empty()) {
    for (const Recipe& recipe : recipes()) chosen.push_back(&recipe);
  }
  for (const std::string& name : arguments.recipes) chosen.push_back(&find_recipe(recipes(), name));
  for (const Recipe* recipe : chosen) {
    if (!arguments.variant.empty() && chosen.size() == 1) recipe->variant(arguments.variant);
    for (const Params& shape : shapes_of(*recipe, arguments)) recipe->check_shape(shape);
  }
  std::optional<Compared> old;
  if (!arguments.compare.empty())
    old = read_measured(arguments.compare);  // before anything is measured

  std::vector<std::string> flags{program, "--benchmark_enable_random_interleaving=true"};
  for (const std::string& flag : passed_on) {
    if (flag.rfind("--benchmark_", 0) != 0) {
      fail(Errc::invalid_argument, "bench",
           "unknown argument '" + flag + "'; flags of Google Benchmark begin with --benchmark_");
    }
    if (flag.rfind("--benchmark_out", 0) == 0) {
      fail(Errc::invalid_argument, "bench",
           "use --out FILE: its JSON holds the entries that Google Benchmark's tools read");
    }
    flags.push_back(flag);
  }
  std::vector<char*> pointers;
  for (std::string& flag : flags) pointers.push_back(flag.data());
  int count = static_cast<int>(pointers.size());
  benchmark::Initialize(&count, pointers.data());

  EventTimer timer;
  PickOptions pick;
  pick.profiling = true;
  pick.runtime.on_launch = timer.observer();
  const Runtime runtime = Runtime::pick(arguments.device, pick);
  inspect_descriptions(arguments.recipes, runtime);
  const Device device = from_json<Device>(to_json(runtime.info()), "of this run", "device");
  if (old) check_same_device(old->device, device);

  const bool progress = isatty(STDERR_FILENO) != 0;
  const Interrupt interrupt("the problem that is being measured");
  Json head = result_head("bench", runtime.info());
  head["seed"] = arguments.seed;
  if (arguments.quick) head["quick"] = to_json(Quick{kQuickSamples, kBlocks, arguments.seconds});
  std::vector<BenchRow> rows;
  GrowingResult result(arguments.out, arguments.resume, std::move(head), "rows",
                       [&] { return to_json(rows); });
  std::optional<BenchResult> old_run;
  if (!result.earlier().is_null())
    old_run = from_json<BenchResult>(result.earlier(), arguments.resume);
  const Ceilings ceilings =
      old_run ? old_run->ceilings : measure_ceilings(runtime, arguments.smoke);
  result.head()["ceilings"] = to_json(ceilings);
  if (old_run) rows = old_run->rows;
  if (arguments.out != "-") {
    fmt::print(
        "{}, {}, driver {}\nceilings: copy {:.1f} GB/s (in cache {:.1f}), FMA {:.1f} Gop/s, launch "
        "{:.1f} us\n",
        runtime.info().platform, runtime.info().name, runtime.info().driver, ceilings.copy_gbs,
        ceilings.cached_copy_gbs, ceilings.fma_gops, ceilings.launch_us);
  }
  bool failed = false;
  Progress line("measuring: recipe", arguments.quick ? chosen.size() : 0, !arguments.quick);
  std::size_t ready = 0;  // recipes and shapes that are done
  for (const Recipe* recipe : chosen) {
    if (Interrupt::asked()) break;
    line.step(recipe->name);
    for (const Params& shape : shapes_of(*recipe, arguments)) {
      if (Interrupt::asked()) break;
      std::vector<Subject> subjects = subjects_of(*recipe, arguments);
      if (is_known(rows, *recipe, shape, subjects)) {
        ++ready;
        line.clear();
        if (arguments.out != "-") {
          fmt::print("{}", arguments.quick ? fmt::format("{:<18} measured before\n", recipe->name)
                                           : fmt::format("\n{}  {}\nmeasured before\n",
                                                         recipe->name, shape.str()));
        }
        continue;
      }
      rows.erase(std::remove_if(rows.begin(), rows.end(),
                                [&](const BenchRow& row) {
                                  return row.recipe == recipe->name &&
                                         row.shape.str() == shape.str();
                                }),
                 rows.end());
      MeasureOptions options;
      const int samples = arguments.quick ? kQuickSamples : arguments.samples;
      options.blocks = arguments.smoke ? 1 : std::min(kBlocks, samples);
      options.samples = arguments.smoke ? 3 : samples / options.blocks;
      options.seconds = arguments.seconds;
      options.progress = progress && !arguments.quick;
      options.prefix = recipe->name + "/" + shape.str();
      try {
        measure([&] { return recipe->make(runtime, shape, arguments.seed); }, runtime, timer,
                subjects, options);
      } catch (const Error& error) {
        if (error.code != Errc::unsupported && error.code != Errc::out_of_resources) throw;
        for (Subject& subject : subjects) {
          subject.problem = error.what();
          subject.skipped = true;
        }
      }
      std::vector<BenchRow> part;
      for (const Subject& subject : subjects) {
        const Subject* baseline = nullptr;
        for (const Subject& other : subjects) {
          // With several tunings of the baseline, its default is the one that ratios are taken to.
          if (recipe->variant(other.variant).is_baseline && other.cold == subject.cold) {
            baseline = &other;
            break;
          }
        }
        failed = failed || (!subject.problem.empty() && !subject.skipped);
        part.push_back(row_of(*recipe, shape, subject, baseline, ceilings, runtime.info()));
        rows.push_back(part.back());
      }
      line.clear();
      if (arguments.out != "-") {
        fmt::print("{}", arguments.quick ? summary_line(*recipe, part)
                                         : fmt::format("\n{}  {}\n{}", recipe->name, shape.str(),
                                                       render(part)));
      }
      std::fflush(stdout);
      ++ready;
      result.keep();
    }
  }
  line.clear();
  result.finish(Json::object());
  if (Interrupt::asked()) {
    fmt::print(stderr, "{}", result.kept(fmt::format("{} problems", ready)));
    return kInterrupted;
  }
  failed = failed || std::any_of(rows.begin(), rows.end(),
                                 [](const BenchRow& row) { return row.status == "failed"; });
  int code = failed ? 1 : 0;
  if (old) code = std::max(code, compare_results(old->device, old->result.rows, device, rows));
  return code;
}

}  // namespace

void add_bench(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "bench", "Time every variant against its baseline and the device's measured ceilings");
  auto arguments = std::make_shared<BenchArguments>();
  command->add_option("RECIPE", arguments->recipes,
                      "Only these recipes, or FILE.toml: see clcook try");
  command->add_option("--variant", arguments->variant, "Only this variant (and the baseline)");
  command
      ->add_option(
          "--shape", arguments->shapes,
          "Use this shape instead of the recipe's bench shapes; clcook list names its values")
      ->allow_extra_args(false);
  command
      ->add_option("--mode", arguments->mode,
                   "hot: repeat in warm caches; cold: caches written over before each run; both")
      ->check(CLI::IsMember({"hot", "cold", "both"}))
      ->capture_default_str();
  command->add_option("--device", arguments->device,
                      "Device specification; default CLCOOK_DEVICE, else any");
  add_result_options(*command, arguments->out, arguments->resume);
  command
      ->add_option("--samples", arguments->samples,
                   "Timed runs of each variant, in blocks with freshly allocated memory")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command->add_option("--seed", arguments->seed, "Seed of the pseudo-random data")
      ->capture_default_str();
  command->add_option("--compare", arguments->compare,
                      "Compare with this older result; exit code 1 when something became slower");
  command->add_option("--with", arguments->with,
                      "With --compare: compare with this result instead of measuring");
  command->add_flag("--all-tunes", arguments->all_tunes,
                    "Every value of every tune axis, not only the defaults");
  command->add_flag("--smoke", arguments->smoke,
                    "Tiny shapes and three runs: does everything work? Its figures mean nothing");
  command->add_flag("--quick", arguments->quick,
                    "One small shape per recipe and 15 runs of each variant; one line per recipe");
  command
      ->add_option(
          "--seconds", arguments->seconds,
          "With --quick: at most about this much processor time per recipe, compiling included; "
          "default 10")
      ->check(CLI::Range(0.001, 1e6));
  command->allow_extras();
  command->footer("Flags of Google Benchmark, such as --benchmark_filter=REGEX, are passed on.");
  command->callback([arguments, command, &exit_code] {
    if (!arguments->with.empty() && arguments->compare.empty())
      fail(Errc::invalid_argument, "bench", "--with needs --compare");
    if (arguments->quick &&
        (arguments->smoke || arguments->all_tunes || !arguments->shapes.empty()))
      fail(Errc::invalid_argument, "bench",
           "--quick chooses shapes and samples: it does not go with --smoke, --all-tunes or "
           "--shape");
    if (!arguments->quick && arguments->seconds > 0)
      fail(Errc::invalid_argument, "bench", "--seconds needs --quick");
    if (arguments->quick && arguments->seconds == 0) arguments->seconds = kQuickSeconds;
    exit_code = with_descriptions(arguments->recipes, [&] {
      return bench(*arguments, "clcook bench", command->remaining());
    });
  });
}

}  // namespace clcook::tool
