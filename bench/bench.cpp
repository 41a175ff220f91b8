// clcook bench: time every variant against its baseline and against what the device can do.

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <clcook/core/commit.hpp>
#include <clcook/core/source.hpp>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "measure/ceilings.hpp"
#include "measure/compare.hpp"
#include "measure/measure.hpp"
#include "measure/statistics.hpp"
#include "measure/verdict.hpp"
#include "tool/command.hpp"
#include "tool/fingerprint.hpp"
#include "tool/growing_result.hpp"
#include "tool/interrupt.hpp"
#include "tool/progress.hpp"
#include "tool/scratch_folder.hpp"
#include "try/watch.hpp"

namespace clcook::tool {

namespace {

// Blocks of samples, see Blocks.
constexpr int kBlocks = 5;
// The clock probe may take so much longer than beside the ceilings, as a share.
constexpr double kDrift = 0.05;
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
  int processes = 1;
  int process = 1;  // of these: the first validates, the others add a block to its rows
  std::uint64_t seed = 1;
  bool all_tunes = false;
  bool smoke = false;
  bool quick = false;
  double seconds = 0;
};

// The limit that binds a row, and how close it came.
struct Share {
  const char* limit = "";
  double value = 0;
};

Share share_of_ceiling(const BenchRow& row, const Ceilings& ceilings) {
  const double seconds = row.median_us * 1e-6;
  const double memory = row.bytes / (ceilings.copy_gbs * 1e9);
  const double arithmetic = row.operations / (ceilings.fma_gops * 1e9);
  const double launches = static_cast<double>(row.launches) * ceilings.launch_us * 1e-6;
  if (memory >= arithmetic && memory >= launches) return {"copy", memory / seconds};
  if (arithmetic >= launches) return {"fma", arithmetic / seconds};
  return {"launch", launches / seconds};
}

// What is odd about a row's times.
std::optional<std::string> flag_of(const BenchRow& row, const Ceilings& ceilings) {
  if (row.share > 1.05) return "over 105 % of the ceiling: a cache hit or a wrong byte count";
  const double slowest = *std::max_element(row.probes_us->begin(), row.probes_us->end());
  const double slower = slowest / ceilings.probe_us.value_or(slowest) - 1;
  if (slower > kDrift)
    return fmt::format("the clock probe took up to {:.0f} % longer", 100 * slower);
  return std::nullopt;
}

double microseconds(double seconds) { return std::round(seconds * 1e9) / 1e3; }

// What a row is before its times: all of it where it has none.
BenchRow row_of(const Recipe& recipe, const Params& shape, const Subject& subject,
                const DeviceInfo& device) {
  BenchRow row;
  row.recipe = recipe.name;
  row.variant = subject.variant;
  row.tune = subject.tune;
  row.shape = shape;
  row.mode = subject.cold ? "cold" : "hot";
  if (!subject.problem.empty() || subject.blocks.empty()) {
    row.status = subject.problem.empty() ? "not run" : subject.skipped ? "skipped" : "failed";
    row.reason = subject.problem;
    return row;
  }
  row.status = "measured";
  row.max_error = subject.max_error;
  row.bound = subject.bound;
  row.launches = subject.launches;
  row.bytes = subject.work.bytes_read + subject.work.bytes_written;
  row.operations = subject.work.operations;
  row.ran = fingerprint_of(recipe, row.variant, row.tune, {shape}, device);
  row.blocks = 0;
  row.spans_us.emplace();
  row.probes_us.emplace();
  return row;
}

// Adds the blocks of a subject to its row.
void add_times(BenchRow& row, const Subject& subject) {
  for (const double one : flat(subject.blocks)) row.samples_us.push_back(microseconds(one));
  for (const auto& spans : subject.spans) row.spans_us->push_back(microseconds(median(spans)));
  for (const auto& probes : subject.probes) row.probes_us->push_back(microseconds(median(probes)));
  row.blocks += subject.blocks.size();
}

// What follows from the samples of the rows of one problem.
void evaluate(const Recipe& recipe, const std::vector<BenchRow*>& rows, const Ceilings& ceilings) {
  std::map<std::string, const BenchRow*> baselines;  // by mode
  for (BenchRow* row : rows) {
    // With several tunings of the baseline, its default is the one that ratios are taken to.
    if (recipe.variant(row->variant).is_baseline && baselines.try_emplace(row->mode, row).second)
      row->baseline = true;
    if (!row->measured()) continue;
    row->median_us = median(row->samples_us);
    row->mad_us = median_deviation(row->samples_us);
    row->span_us = median(*row->spans_us);
    row->gbs = row->bytes / row->median_us * 1e-3;
    row->gops = row->operations / row->median_us * 1e-3;
    const Share share = share_of_ceiling(*row, ceilings);
    row->limit = share.limit;
    row->share = share.value;
    row->flag = flag_of(*row, ceilings);
  }
  for (BenchRow* row : rows) {
    const auto found = baselines.find(row->mode);
    if (!row->measured() || found == baselines.end() || !found->second->measured()) continue;
    row->ratio = RatioRow{ratio_of(*found->second, *row)};
  }
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
  const BenchRow* best = best_of(recipe.name, group);
  std::string gain = "nothing to compare";
  std::string who;
  if (best != nullptr) {
    gain = to_string(ratio_of(*best));
    const Verdict verdict = verdict_of(*best);
    if (verdict != Verdict::faster) gain += std::string(" ") + to_string(verdict);
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
  return {read_fields<Device>(json["device"], path, "device"),
          read_fields<BenchResult>(json, path)};
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

// The rows of one problem.
std::vector<BenchRow*> rows_of(std::vector<BenchRow>& rows, const Recipe& recipe,
                               const Params& shape) {
  std::vector<BenchRow*> out;
  for (BenchRow& row : rows) {
    if (row.recipe == recipe.name && row.shape.str() == shape.str()) out.push_back(&row);
  }
  return out;
}

BenchRow* row_of(const std::vector<BenchRow*>& rows, const Subject& subject) {
  for (BenchRow* row : rows) {
    if (row->variant == subject.variant && row->tune.str() == subject.tune.str() &&
        (row->mode == "cold") == subject.cold)
      return row;
  }
  return nullptr;
}

// One process of the measurement, or all of it.
int bench_here(const BenchArguments& arguments, const std::vector<std::string>& passed_on) {
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

  std::vector<std::string> flags{"clcook bench", "--benchmark_enable_random_interleaving=true"};
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
  const Device device = read_fields<Device>(to_json(runtime.info()), "of this run", "device");
  if (old) check_same_device(old->device, device);

  const bool progress = isatty(STDERR_FILENO) != 0;
  const Interrupt interrupt("the problem that is being measured");
  Json head = result_head("bench", runtime.info());
  head["seed"] = arguments.seed;
  if (arguments.quick) head["quick"] = to_json(Quick{kQuickSamples, kBlocks, arguments.seconds});
  if (arguments.processes > 1) head["processes"] = arguments.processes;
  std::vector<BenchRow> rows;
  GrowingResult result(arguments.out, arguments.resume, std::move(head), "rows",
                       [&] { return to_json(rows); });
  std::optional<BenchResult> old_run;
  if (!result.earlier().is_null())
    old_run = read_fields<BenchResult>(result.earlier(), arguments.resume);
  const Ceilings ceilings =
      old_run ? old_run->ceilings : measure_ceilings(runtime, arguments.smoke);
  result.head()["ceilings"] = to_json(ceilings);
  if (old_run) rows = old_run->rows;
  // Of several processes the last one prints what all have measured.
  const bool is_last = arguments.process == arguments.processes;
  const bool prints = arguments.out != "-" && is_last;
  if (prints) {
    fmt::print(
        "{}, {}, driver {}\nceilings: copy {:.1f} GB/s (in cache {:.1f}), FMA {:.1f} Gop/s, launch "
        "{:.1f} us\n",
        runtime.info().platform, runtime.info().name, runtime.info().driver, ceilings.copy_gbs,
        ceilings.cached_copy_gbs, ceilings.fma_gops, ceilings.launch_us);
  }
  bool failed = false;
  Progress line(arguments.processes == 1 ? "measuring: recipe"
                                         : fmt::format("process {} of {}: recipe",
                                                       arguments.process, arguments.processes),
                arguments.quick ? chosen.size() : 0, !arguments.quick && arguments.processes == 1);
  std::size_t ready = 0;  // recipes and shapes that are done
  for (const Recipe* recipe : chosen) {
    if (Interrupt::asked()) break;
    line.step(recipe->name);
    for (const Params& shape : shapes_of(*recipe, arguments)) {
      if (Interrupt::asked()) break;
      std::vector<Subject> subjects = subjects_of(*recipe, arguments);
      std::vector<BenchRow*> known = rows_of(rows, *recipe, shape);
      const bool is_first = arguments.process == 1;
      const auto is_done = [&](const Subject& subject) {
        const BenchRow* row = row_of(known, subject);
        if (row == nullptr) return !is_first;  // what the first process left out
        return is_first || !row->measured() ||
               row->blocks >= static_cast<std::size_t>(arguments.process);
      };
      const bool was_measured = std::all_of(subjects.begin(), subjects.end(), is_done);
      if (!was_measured) {
        if (is_first) {
          rows.erase(std::remove_if(rows.begin(), rows.end(),
                                    [&](const BenchRow& row) {
                                      return row.recipe == recipe->name &&
                                             row.shape.str() == shape.str();
                                    }),
                     rows.end());
        } else {
          subjects.erase(std::remove_if(subjects.begin(), subjects.end(), is_done), subjects.end());
        }
        MeasureOptions options;
        const int samples = arguments.quick ? kQuickSamples : arguments.samples;
        const int blocks =
            arguments.processes > 1 ? arguments.processes : std::min(kBlocks, samples);
        options.blocks = arguments.smoke || arguments.processes > 1 ? 1 : blocks;
        options.samples = arguments.smoke ? 3 : std::max(1, samples / blocks);
        options.validates = is_first;
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
        if (is_first) {
          for (const Subject& subject : subjects)
            rows.push_back(row_of(*recipe, shape, subject, runtime.info()));
        }
        known = rows_of(rows, *recipe, shape);
        for (const Subject& subject : subjects) {
          BenchRow* row = row_of(known, subject);
          if (row->measured()) add_times(*row, subject);
        }
        evaluate(*recipe, known, ceilings);
        result.keep();
      }
      failed = failed || std::any_of(known.begin(), known.end(),
                                     [](const BenchRow* row) { return row->status == "failed"; });
      ++ready;
      line.clear();
      if (!prints) continue;
      std::vector<BenchRow> part;
      for (const BenchRow* row : known) part.push_back(*row);
      const bool is_old = was_measured && arguments.processes == 1;
      if (arguments.quick) {
        fmt::print("{}", is_old ? fmt::format("{:<18} measured before\n", recipe->name)
                                : summary_line(*recipe, part));
      } else {
        fmt::print("\n{}  {}\n{}", recipe->name, shape.str(),
                   is_old ? "measured before\n" : render(part));
      }
      std::fflush(stdout);
    }
  }
  line.clear();
  result.finish(Json::object());
  if (Interrupt::asked()) {
    fmt::print(stderr, "{}", result.kept(fmt::format("{} problems", ready)));
    return kInterrupted;
  }
  int code = failed ? 1 : 0;
  if (old && is_last)
    code = std::max(code, compare_results(old->device, old->result.rows, device, rows));
  return code;
}

int bench(const BenchArguments& arguments, const std::vector<std::string>& passed_on) {
  if (!arguments.with.empty()) {
    const Compared before = read_measured(arguments.compare);
    const Compared after = read_measured(arguments.with);
    return compare_results(before.device, before.result.rows, after.device, after.result.rows);
  }
  if (arguments.processes == 1) return bench_here(arguments, passed_on);
  const ScratchFolder folder("bench");
  BenchArguments one = arguments;
  const bool to_stdout = one.out == "-";
  if (one.resume.empty() && (one.out.empty() || to_stdout)) one.out = folder / "result.json";
  int code = 0;
  for (one.process = 1; one.process <= one.processes; ++one.process) {
    const int now = described::in_child([&] { return bench_here(one, passed_on); });
    code = std::max(code, now);
    if (now > 1) return now;
    if (one.resume.empty()) std::swap(one.resume, one.out);
  }
  if (to_stdout) deliver("", read_text_file(one.resume));
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
  command
      ->add_option("--processes", arguments->processes,
                   "Share the timed runs among so many processes, one block each, so that the "
                   "intervals cover what differs between runs of the program")
      ->check(CLI::Range(1, 100))
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
    if (arguments->quick && arguments->processes > 1)
      fail(Errc::invalid_argument, "bench",
           "--quick is a first look in one process: it does not go with --processes");
    const auto run = [&] { return bench(*arguments, command->remaining()); };
    if (arguments->processes > 1) {
      add_descriptions(arguments->recipes);  // each process is a child already
      exit_code = run();
    } else {
      exit_code = with_descriptions(arguments->recipes, run);
    }
  });
}

}  // namespace clcook::tool
