#include "measure/measure.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <clcook/core/launch.hpp>
#include <clcook/registry/conformance.hpp>
#include <ctime>
#include <memory>
#include <optional>
#include <thread>

#include "tool/interrupt.hpp"
#include "tool/progress.hpp"
#include "tool/stderr_capture.hpp"

namespace clcook::tool {

Stamps stamps_of(const cl::Event& event) {
  const auto stamp = [&](cl_profiling_info what) {
    cl_ulong value = 0;
    check(clGetEventProfilingInfo(event(), what, sizeof value, &value, nullptr),
          "clGetEventProfilingInfo");
    return value;
  };
  return {stamp(CL_PROFILING_COMMAND_START), stamp(CL_PROFILING_COMMAND_END)};
}

EventTimer::Time EventTimer::time(const std::function<cl::Event()>& call) {
  kernels_.clear();
  events_.clear();
  const cl::Event last = call();
  clcook::wait_for(last);
  Time result;
  result.launches = events_.size();
  cl_ulong first_start = ~cl_ulong{0};
  cl_ulong last_end = 0;
  for (const cl::Event& event : events_) {
    const auto [start, end] = stamps_of(event);
    result.sum += static_cast<double>(end - start) * 1e-9;
    first_start = std::min(first_start, start);
    last_end = std::max(last_end, end);
  }
  if (!events_.empty()) result.span = static_cast<double>(last_end - first_start) * 1e-9;
  return result;
}

namespace {

// Noise of a half per cent is left alone, and noise of which two more blocks take less than a twentieth:
// it is no longer that of samples. No block but the least begins after so many seconds of a problem.
constexpr double kQuiet = 0.005;
constexpr double kFalls = 0.95;
constexpr double kMostSeconds = 60;
// For a clock that was low.
constexpr auto kRecovery = std::chrono::milliseconds(50);

// Writes over every cache: twice the size of any last-level cache in use, with other values each
// time.
class CacheSweeper {
 public:
  explicit CacheSweeper(const Runtime& runtime) : runtime_(runtime.with_observer({})) {
    constexpr std::size_t kBytes = std::size_t{256} << 20;
    bytes_ =
        std::min<std::size_t>(kBytes, static_cast<std::size_t>(runtime.info().max_allocation) / 4);
    buffer_ = create_buffer(runtime_, bytes_);
    program_ = runtime_.build(
        Source("sweep.cl",
               "__kernel void clcook_sweep(__global uint4* out, uint value) {\n"
               "  out[get_global_id(0)] = (uint4)(value) + (uint)get_global_id(0);\n}\n"),
        Defines(), "sweep");
  }

  void sweep() {
    Kernel kernel(runtime_, program_, "clcook_sweep");
    clcook::wait_for(kernel(Launch::cover({bytes_ / 16, 1, 1}, {64, 1, 1}), {}, buffer_, ++value_));
  }

 private:
  Runtime runtime_;
  std::size_t bytes_ = 0;
  cl::Buffer buffer_;
  cl::Program program_;
  cl_uint value_ = 0;
};

// Google Benchmark reports to us; the subjects keep the samples, and whoever measures its errors: a Run
// has them under other names in each version.
class SilentReporter : public benchmark::BenchmarkReporter {
 public:
  explicit SilentReporter(std::function<void(const std::string&)> progress)
      : progress_(std::move(progress)) {}
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    if (progress_ && !runs.empty()) progress_(runs.back().benchmark_name());
  }

 private:
  std::function<void(const std::string&)> progress_;
};

void validate(Case& one, const Runtime& runtime, Subject& subject) {
  try {
    one.prepare(subject.variant, subject.tune);
    const Diff diff = run_once(one, runtime);
    subject.max_error = diff.max_error();
    subject.bound = diff.bound();
    subject.work = one.work();
    if (!diff.ok()) subject.problem = "wrong result " + diff.first();
  } catch (const Error& error) {
    subject.problem = error.what();
    subject.skipped = error.code == Errc::unsupported;
  }
}

// A subject may occur cold and hot: it is validated once. When the time is spent, the rest is left
// out and says so; the first, which others are compared with, is not.
void validate_all(Case& one, const Runtime& runtime, std::vector<Subject>& subjects,
                  const std::function<bool()>& spent,
                  const std::function<void(const Subject&)>& progress) {
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    Subject& subject = subjects[i];
    const auto here = subjects.begin() + static_cast<std::ptrdiff_t>(i);
    const auto twin = std::find_if(subjects.begin(), here, [&](const Subject& other) {
      return other.variant == subject.variant && other.tune == subject.tune;
    });
    if (i > 0 && spent()) {
      subject.problem = "left out: the time for this recipe was spent";
      subject.skipped = true;
    } else if (twin == here) {
      progress(subject);
      validate(one, runtime, subject);
    } else {
      subject.problem = twin->problem;
      subject.skipped = twin->skipped;
      subject.max_error = twin->max_error;
      subject.bound = twin->bound;
      subject.work = twin->work;
    }
  }
}

}  // namespace

ClockProbe::ClockProbe(const Runtime& runtime)
    : runtime_(runtime.with_observer(timer_.observer())),
      program_(
          runtime_.build(Source("probe.cl",
                                "__kernel void clcook_probe(__global float* out, float x) {\n"
                                "  for (int i = 0; i < 100000; ++i) x = fma(x, 0.75f, 0.125f);\n"
                                "  out[0] = x;\n}\n"),
                         Defines(), "probe")),
      buffer_(create_buffer(runtime_, sizeof(float))) {}

double ClockProbe::seconds() {
  Kernel kernel(runtime_, program_, "clcook_probe");
  return timer_
      .time([&] {
        return kernel(Launch::cover({1, 1, 1}, {1, 1, 1}), {}, buffer_, 0.25f);
      })
      .sum;
}

bool wants_block(const Subject& subject, const MeasureOptions& options, bool in_time) {
  const int count = static_cast<int>(subject.blocks.size());
  if (!subject.problem.empty()) return false;
  if (count < options.blocks) return true;
  if (count >= options.most_blocks || !in_time) return false;
  std::vector<double> medians;
  for (const std::vector<double>& block : subject.blocks) medians.push_back(median(block));
  const double noise = relative_error(medians);
  const std::vector<double> before(medians.begin(), medians.end() - std::min(2, count));
  const bool falls = count < options.blocks + 2 || noise < kFalls * relative_error(before);
  return noise > kQuiet && falls;  // nor where there is none, since a filter left it out
}

bool set_aside_slow(Subject& subject, const MeasureOptions& options) {
  if (subject.probes.empty() || options.probe_s <= 0 ||
      static_cast<int>(subject.set_aside) >= options.blocks ||
      !(median(subject.probes.back()) > (1 + kDrift) * options.probe_s))
    return false;
  ++subject.set_aside;
  for (Blocks* one : {&subject.blocks, &subject.spans, &subject.probes}) one->pop_back();
  return true;
}

std::vector<Subject> subjects_of(const Recipe& recipe, const std::string& variant, bool all_tunes,
                                 const std::vector<bool>& cold) {
  std::vector<Subject> out;
  for (const VariantInfo& one : recipe.variants) {
    // The baseline is always there, for the ratios.
    if (!variant.empty() && one.name != variant && !one.is_baseline) continue;
    std::vector<Params> tunes = combinations(one.axes);
    if (!all_tunes) tunes.resize(1);
    for (const Params& tune : tunes) {
      for (const bool is_cold : cold) {
        out.emplace_back();
        out.back().variant = one.name;
        out.back().tune = tune;
        out.back().cold = is_cold;
      }
    }
  }
  return out;
}

namespace {

Runtime pick_timed(const std::string& device, EventTimer& timer) {
  PickOptions pick;
  pick.profiling = true;
  pick.runtime.on_launch = timer.observer();
  return Runtime::pick(device, pick);
}

std::vector<std::string> initialized(std::vector<std::string> flags) {
  flags.insert(flags.begin(), {"clcook", "--benchmark_enable_random_interleaving=true"});
  std::vector<char*> pointers;
  for (std::string& flag : flags) pointers.push_back(flag.data());
  int count = static_cast<int>(pointers.size());
  benchmark::Initialize(&count, pointers.data());
  return flags;
}

}  // namespace

Meter::Meter(const std::string& device, std::vector<std::string> flags)
    : flags_(initialized(std::move(flags))), runtime_(pick_timed(device, timer_)) {}

void Meter::measure(const Recipe& recipe, const Params& shape, std::uint64_t seed,
                    std::vector<Subject>& subjects, const MeasureOptions& options) {
  const std::string prefix = recipe.name + "/" + shape.str();
  const Runtime& runtime = runtime_;
  EventTimer& timer = timer_;
  Progress line("run", 0, !options.progress);
  const auto progress = [&](const std::string& what) { line.step(what); };
  SilentReporter reporter([&](const std::string& name) { progress(name); });
  std::vector<std::string> errors;
  // Processor time, so that a busy machine leaves nothing out; a device that computes elsewhere
  // takes none, hence also the clock.
  const std::clock_t cpu_begin = std::clock();
  const auto begin = std::chrono::steady_clock::now();
  const auto spent = [&] {
    const double cpu = static_cast<double>(std::clock() - cpu_begin) / CLOCKS_PER_SEC;
    const std::chrono::duration<double> clock = std::chrono::steady_clock::now() - begin;
    return options.seconds > 0 && (cpu > options.seconds || clock.count() > 4 * options.seconds);
  };
  std::optional<StderrCapture> captured(std::in_place);
  std::unique_ptr<CacheSweeper> sweeper;
  ClockProbe probe(runtime);
  std::vector<Subject*> due;
  for (Subject& subject : subjects) due.push_back(&subject);
  for (int round = 0; !due.empty() && (round < 2 || !spent()); ++round) {
    const std::unique_ptr<Case> one = recipe.make(runtime, shape, seed);
    if (round == 0 && options.validates)
      validate_all(*one, runtime, subjects, spent, [&](const Subject& subject) {
        progress("checking " + prefix + " " + subject.name());
      });
    const cl::Event uploaded = one->upload({});
    clcook::wait_for(uploaded);

    for (Subject* to_time : due) {
      Subject& subject = *to_time;
      if (!subject.problem.empty()) continue;
      if (subject.cold && !sweeper) sweeper = std::make_unique<CacheSweeper>(runtime);
      subject.blocks.emplace_back();
      subject.spans.emplace_back();
      subject.probes.emplace_back();
      const std::string name = prefix + "/" + subject.name();
      benchmark::RegisterBenchmark(
          name.c_str(),
          [&, name](benchmark::State& state) {
            std::vector<double>& samples = subject.blocks.back();
            try {
              one->prepare(subject.variant, subject.tune);
              // The warm-up at this very local size: PoCL compiles at the first launch of each. A
              // run of this length needs none beyond its validation.
              constexpr double kLong = 0.2;
              const std::vector<double> earlier = flat(subject.spans);
              const bool is_long = !earlier.empty() && earlier.back() > kLong;
              if (!is_long) timer.time([&] { return one->run({}); });
              for ([[maybe_unused]] auto _ : state) {
                if (subject.cold) sweeper->sweep();
                const EventTimer::Time time = timer.time([&] { return one->run({}); });
                state.SetIterationTime(time.sum);
                samples.push_back(time.sum);
                subject.spans.back().push_back(time.span);
                subject.launches = time.launches;
                subject.probes.back().push_back(probe.seconds());
              }
            } catch (const std::exception& error) {
              errors.push_back(name + ": " + error.what());
              state.SkipWithError(error.what());
            }
          })
          ->Iterations(1)
          ->Repetitions(options.samples)
          ->UseManualTime()
          ->Unit(benchmark::kMicrosecond);
    }
    benchmark::RunSpecifiedBenchmarks(&reporter);
    benchmark::ClearRegisteredBenchmarks();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    const bool in_time = took.count() < kMostSeconds && !Interrupt::asked();
    bool any_slow = false;
    for (Subject* timed : due) any_slow = set_aside_slow(*timed, options) || any_slow;
    const auto is_done = [&](const Subject* timed) {
      return !wants_block(*timed, options, in_time);
    };
    due.erase(std::remove_if(due.begin(), due.end(), is_done), due.end());
    if (any_slow && !due.empty()) std::this_thread::sleep_for(kRecovery);
  }
  // A filter leaves subjects without samples.
  for (Subject& subject : subjects) {
    if (!flat(subject.blocks).empty()) continue;
    subject.blocks.clear();
    subject.spans.clear();
    subject.probes.clear();
  }
  line.clear();
  const std::string heard = captured->take();
  captured.reset();
  const bool wrong = std::any_of(subjects.begin(), subjects.end(), [](const Subject& one) {
    return !one.problem.empty() && !one.skipped;
  });
  if (wrong || !errors.empty()) fmt::print(stderr, "{}", heard);
  for (const std::string& error : errors) fmt::print(stderr, "clcook: {}\n", error);
}

}  // namespace clcook::tool
