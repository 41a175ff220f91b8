// clcook bench: time every variant against its baseline and against what the device can do.

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
#include "measure/fingerprint.hpp"
#include "measure/measure.hpp"
#include "measure/statistics.hpp"
#include "measure/verdict.hpp"
#include "tool/command.hpp"
#include "tool/growing_result.hpp"
#include "tool/interrupt.hpp"
#include "tool/process.hpp"
#include "tool/progress.hpp"
#include "tool/scratch_folder.hpp"

namespace clcook::tool {

namespace {

// Blocks of samples, see Blocks.
constexpr int kBlocks = 5;
// As many times more blocks may be taken until their noise is low.
constexpr int kMostTimes = 3;
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
  if (row.share > 1.05) {
    return std::string("over 105 % of the ceiling") +
           (row.limit == "copy"  ? ": a cache hit or a wrong byte count"
            : row.limit == "fma" ? ": fewer operations than the card's formula counts"
                                 : "");
  }
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
  if (subject.set_aside > 0) row.set_aside = row.set_aside.value_or(0) + subject.set_aside;
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
    const std::string again =
        row.set_aside ? fmt::format("  (blocks taken again: {})", *row.set_aside) : "";
    std::string ratio = row.baseline ? "baseline" : "-";
    if (!row.baseline && row.ratio) {
      const Ratio& r = row.ratio->ratio;
      ratio =
          fmt::format("{:.2f}x [{:.2f}, {:.2f}]{}", r.value, r.low, r.high, r.tie() ? " tie" : "");
    }
    out += fmt::format("{:<28}{:>11.1f}{:>9.1f}{:>10.1f}{:>10.1f}{:>7.0f} % {:<6}  {}{}\n", name,
                       row.median_us, row.mad_us, row.gbs, row.gops, 100 * row.share, row.limit,
                       ratio, (row.flag ? "  (" + *row.flag + ")" : "") + again);
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

bool is_of(const BenchRow& row, const Recipe& recipe, const Params& shape) {
  return row.recipe == recipe.name && row.shape.str() == shape.str();
}

// The rows of one problem.
std::vector<BenchRow*> rows_of(std::vector<BenchRow>& rows, const Recipe& recipe,
                               const Params& shape) {
  std::vector<BenchRow*> out;
  for (BenchRow& row : rows) {
    if (is_of(row, recipe, shape)) out.push_back(&row);
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

// The recipes to measure. Throws Error(invalid_argument) for a variant or a shape that there is none of.
std::vector<const Recipe*> chosen_recipes(const BenchArguments& arguments) {
  std::vector<const Recipe*> chosen;
  if (arguments.recipes.empty()) {
    for (const Recipe& recipe : recipes()) chosen.push_back(&recipe);
  }
  for (const std::string& name : arguments.recipes) chosen.push_back(&find_recipe(recipes(), name));
  for (const Recipe* recipe : chosen) {
    if (!arguments.variant.empty() && chosen.size() == 1) recipe->variant(arguments.variant);
    for (const Params& shape : shapes_of(*recipe, arguments)) recipe->check_shape(shape);
  }
  return chosen;
}

void check_flags(const std::vector<std::string>& passed_on) {
  for (const std::string& flag : passed_on) {
    if (flag.rfind("--benchmark_", 0) != 0) {
      fail(Errc::invalid_argument, "bench",
           "unknown argument '" + flag + "'; flags of Google Benchmark begin with --benchmark_");
    }
    if (flag.rfind("--benchmark_out", 0) == 0) {
      fail(Errc::invalid_argument, "bench",
           "use --out FILE: its JSON holds the entries that Google Benchmark's tools read");
    }
  }
}

// One process of the measurement, or all of it: rows, of which earlier ones may be there already.
class BenchRun {
 public:
  BenchRun(const BenchArguments& arguments, Meter& meter)
      : arguments_(arguments),
        meter_(meter),
        result_(arguments.out, arguments.resume, head(), "rows", [this] { return to_json(rows_); }),
        ceilings_(take_over()) {
    result_.head()["ceilings"] = to_json(ceilings_);
  }
  BenchRun(const BenchRun&) = delete;
  BenchRun& operator=(const BenchRun&) = delete;

  GrowingResult& result() { return result_; }
  const Ceilings& ceilings() const { return ceilings_; }
  const std::vector<BenchRow>& rows() const { return rows_; }

  // Measures what this process has to of a problem; false: it was there.
  bool measure(const Recipe& recipe, const Params& shape) {
    std::vector<Subject> subjects =
        subjects_of(recipe, arguments_.variant, arguments_.all_tunes,
                    arguments_.mode == "both" ? std::vector<bool>{false, true}
                                              : std::vector<bool>{arguments_.mode == "cold"});
    const std::vector<BenchRow*> known = rows_of(rows_, recipe, shape);
    const auto is_done = [&](const Subject& one) { return this->is_done(row_of(known, one)); };
    if (std::all_of(subjects.begin(), subjects.end(), is_done)) return false;
    if (is_first()) {
      const auto is_its = [&](const BenchRow& row) { return is_of(row, recipe, shape); };
      rows_.erase(std::remove_if(rows_.begin(), rows_.end(), is_its), rows_.end());
    } else {
      subjects.erase(std::remove_if(subjects.begin(), subjects.end(), is_done), subjects.end());
    }
    time(recipe, shape, subjects);
    add(recipe, shape, subjects);
    result_.keep();
    return true;
  }

 private:
  bool is_first() const { return arguments_.process == 1; }

  // The first process takes what there is, another one adds its block to it.
  bool is_done(const BenchRow* row) const {
    if (row == nullptr) return !is_first();  // what the first process left out
    return is_first() || !row->measured() ||
           row->blocks >= static_cast<std::size_t>(arguments_.process);
  }

  Json head() const {
    Json out = result_head("bench", meter_.runtime().info());
    out["seed"] = arguments_.seed;
    if (arguments_.quick) out["quick"] = to_json(Quick{kQuickSamples, kBlocks, arguments_.seconds});
    if (arguments_.processes > 1) out["processes"] = arguments_.processes;
    return out;
  }

  // The rows of an earlier run, and its ceilings; without one they are measured.
  Ceilings take_over() {
    if (result_.earlier().is_null()) return measure_ceilings(meter_.runtime(), arguments_.smoke);
    BenchResult earlier = read_fields<BenchResult>(result_.earlier(), arguments_.resume);
    rows_ = std::move(earlier.rows);
    return earlier.ceilings;
  }

  void time(const Recipe& recipe, const Params& shape, std::vector<Subject>& subjects) {
    MeasureOptions options;
    const int samples = arguments_.quick ? kQuickSamples : arguments_.samples;
    const int blocks = arguments_.processes > 1 ? arguments_.processes : std::min(kBlocks, samples);
    options.blocks = arguments_.smoke || arguments_.processes > 1 ? 1 : blocks;
    options.samples = arguments_.smoke ? 3 : std::max(1, samples / blocks);
    // Of one process, and of a first look, so many as are asked for.
    if (!arguments_.smoke && !arguments_.quick && arguments_.processes == 1)
      options.most_blocks = kMostTimes * blocks;
    if (!arguments_.smoke) options.probe_s = 1e-6 * ceilings_.probe_us.value_or(0);
    options.validates = is_first();
    options.seconds = arguments_.seconds;
    options.progress = isatty(STDERR_FILENO) != 0 && !arguments_.quick;
    try {
      meter_.measure(recipe, shape, arguments_.seed, subjects, options);
    } catch (const Error& error) {
      if (error.code != Errc::unsupported && error.code != Errc::out_of_resources) throw;
      for (Subject& subject : subjects) {
        subject.problem = error.what();
        subject.skipped = true;
      }
    }
  }

  void add(const Recipe& recipe, const Params& shape, const std::vector<Subject>& subjects) {
    if (is_first()) {
      for (const Subject& subject : subjects)
        rows_.push_back(row_of(recipe, shape, subject, meter_.runtime().info()));
    }
    const std::vector<BenchRow*> known = rows_of(rows_, recipe, shape);
    for (const Subject& subject : subjects) {
      BenchRow* row = row_of(known, subject);
      if (row->measured()) add_times(*row, subject);
    }
    evaluate(recipe, known, ceilings_);
  }

  const BenchArguments& arguments_;
  Meter& meter_;
  std::vector<BenchRow> rows_;
  GrowingResult result_;
  Ceilings ceilings_;
};

// What is printed of a problem.
std::string shown(const Recipe& recipe, const Params& shape, const std::vector<BenchRow>& rows,
                  bool is_old, bool quick) {
  if (quick)
    return is_old ? fmt::format("{:<18} measured before\n", recipe.name)
                  : summary_line(recipe, rows);
  return fmt::format("\n{}  {}\n{}", recipe.name, shape.str(),
                     is_old ? "measured before\n" : render(rows));
}

int bench_here(const BenchArguments& arguments, const std::vector<std::string>& passed_on) {
  const std::vector<const Recipe*> chosen = chosen_recipes(arguments);
  std::optional<Compared> old;
  if (!arguments.compare.empty())
    old = read_measured(arguments.compare);  // before anything is measured
  check_flags(passed_on);
  Meter meter(arguments.device, passed_on);
  const DeviceInfo& info = meter.runtime().info();
  inspect_descriptions(arguments.recipes, meter.runtime());
  const Device device = read_fields<Device>(to_json(info), "of this run", "device");
  if (old) check_same_device(old->device, device);

  const Interrupt interrupt("the problem that is being measured");
  BenchRun run(arguments, meter);
  // Of several processes the last one prints what all have measured.
  const bool is_one = arguments.processes == 1;
  const bool is_last = arguments.process == arguments.processes;
  const bool prints = arguments.out != "-" && is_last;
  if (prints) {
    const Ceilings& ceilings = run.ceilings();
    fmt::print(
        "{}, {}, driver {}\nceilings: copy {:.1f} GB/s (in cache {:.1f}), FMA {:.1f} Gop/s, launch "
        "{:.1f} us\n",
        info.platform, info.name, info.driver, ceilings.copy_gbs, ceilings.cached_copy_gbs,
        ceilings.fma_gops, ceilings.launch_us);
  }
  bool failed = false;
  Progress line(
      is_one ? "measuring: recipe"
             : fmt::format("process {} of {}: recipe", arguments.process, arguments.processes),
      arguments.quick ? chosen.size() : 0, !arguments.quick && is_one);
  std::size_t ready = 0;  // recipes and shapes that are done
  for (const Recipe* recipe : chosen) {
    if (Interrupt::asked()) break;
    line.step(recipe->name);
    for (const Params& shape : shapes_of(*recipe, arguments)) {
      if (Interrupt::asked()) break;
      const bool is_old = !run.measure(*recipe, shape) && is_one;
      std::vector<BenchRow> rows;
      for (const BenchRow& row : run.rows()) {
        if (is_of(row, *recipe, shape)) rows.push_back(row);
      }
      failed = failed || std::any_of(rows.begin(), rows.end(),
                                     [](const BenchRow& row) { return row.status == "failed"; });
      ++ready;
      line.clear();
      if (!prints) continue;
      fmt::print("{}", shown(*recipe, shape, rows, is_old, arguments.quick));
      std::fflush(stdout);
    }
  }
  line.clear();
  run.result().finish(Json::object());
  if (Interrupt::asked()) {
    fmt::print(stderr, "{}", run.result().kept(fmt::format("{} problems", ready)));
    return kInterrupted;
  }
  int code = failed ? 1 : 0;
  if (old && is_last)
    code = std::max(code, compare_results(old->device, old->result.rows, device, run.rows()));
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
    const int now = in_child([&] { return bench_here(one, passed_on); });
    code = std::max(code, now);
    if (now > 1) return now;
    if (one.resume.empty()) std::swap(one.resume, one.out);
  }
  if (to_stdout) deliver("", read_text_file(one.resume));
  return code;
}

}  // namespace

const Command add_bench(5, [](CLI::App& app, int& exit_code) {
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
      ->add_option(
          "--samples", arguments->samples,
          "Timed runs of each variant, in blocks with freshly allocated memory; more while "
          "they are noisy")
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
});

}  // namespace clcook::tool
