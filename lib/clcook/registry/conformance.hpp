// Conformance: every recipe x variant x tune x shape x kind of queue against the scalar reference.
#pragma once

#include <algorithm>
#include <chrono>
#include <clcook/core/error.hpp>
#include <clcook/core/params.hpp>
#include <clcook/core/runtime.hpp>
#include <clcook/registry/diff.hpp>
#include <clcook/registry/recipe.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace clcook {

// What to run. Empty lists and strings mean everything.
struct ConformanceOptions {
  std::vector<std::string> recipes;
  std::string variant;
  std::vector<Params> shapes;  // instead of each recipe's test shapes
  std::uint64_t seed = 1;
  bool tiny = false;  // only shapes marked tiny=1, one tuning: for slow devices and interpreters
  bool out_of_order = true;  // also on an out-of-order queue
  // Which of the rows that are left to run, asked with everything but the outcome set; empty: all.
  std::function<bool(const struct ConformanceRow&)> selects;
};

enum class Outcome { passed, failed, skipped };

inline const char* to_string(Outcome outcome) {
  return outcome == Outcome::passed ? "passed" : outcome == Outcome::failed ? "failed" : "skipped";
}

// One run of one variant.
struct ConformanceRow {
  std::string recipe;
  std::string variant;
  Params tune;
  Params shape;
  std::string queue;  // "in-order" or "out-of-order"
  Outcome outcome = Outcome::failed;
  std::string reason;                // why it failed or was skipped
  Lacks lacks = Lacks::nothing;      // of a skipped row
  std::vector<std::string> kernels;  // the kernels that were launched, in order
  Diff diff;

  std::string name() const {
    return recipe + "/" + variant + (tune.empty() ? "" : " [" + tune.str() + "]") + " (" +
           shape.str() + ") " + queue;
  }
};

struct ConformanceSummary {
  std::uint64_t passed = 0;
  std::uint64_t failed = 0;
  std::uint64_t skipped = 0;
  std::uint64_t launches = 0;  // kernels that really ran

  bool ok() const { return failed == 0 && passed > 0; }
};

namespace detail {

// A gate that holds commands back until the whole chain is enqueued. Opens itself when it goes out
// of scope, so that an error cannot leave a command waiting for ever.
class Gate {
 public:
  explicit Gate(const Runtime& runtime) {
    cl_int status = CL_SUCCESS;
    event_ = cl::Event(clCreateUserEvent(runtime.context()(), &status));
    check(status, "clCreateUserEvent");
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  ~Gate() { open(); }

  const cl::Event& event() const { return event_; }
  void open() {
    if (!open_) clSetUserEventStatus(event_(), CL_COMPLETE);
    open_ = true;
  }

 private:
  cl::Event event_;
  bool open_ = false;
};

// Waits for all commands of the queue when it goes out of scope.
class Drain {
 public:
  explicit Drain(const Runtime& runtime) : queue_(runtime.queue()) {}
  Drain(const Drain&) = delete;
  Drain& operator=(const Drain&) = delete;
  ~Drain() { clFinish(queue_()); }

 private:
  cl::CommandQueue queue_;
};

}  // namespace detail

// Runs one prepared case once: inputs and outputs are poisoned first, and the upload is held back
// until everything is enqueued, so that an operation that ignores its wait list reads poison.
inline Diff run_once(Case& one, const Runtime& runtime) {
  one.poison();
  std::vector<cl::Event> done;
  // Whatever happens, an operation that throws or ignores its wait list included: no upload is
  // under way any more when the case, and with it the host memory, goes.
  const detail::Drain drain(runtime);
  {
    detail::Gate gate(runtime);
    const cl::Event uploaded = one.upload({gate.event()});
    done = {one.run({uploaded})};
    // Oclgrind's clFlush waits for all commands, for ever while the gate is closed.
    if (runtime.info().platform != "Oclgrind") check(clFlush(runtime.queue()()), "clFlush");
    // Time for a command that ignores its wait list to overtake the upload.
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return one.check(done);
}

// An out-of-order queue beside the runtime's own, nothing where the device has none.
inline std::optional<Runtime> out_of_order_runtime(const Runtime& runtime) {
  cl_int status = CL_SUCCESS;
  cl::CommandQueue queue(detail::create_queue(runtime.context()(), runtime.device()(),
                                              CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &status));
  if (status != CL_SUCCESS) return std::nullopt;
  return runtime.with_queue(std::move(queue));
}

namespace detail {

// One shape of a recipe on one queue. The case is made when the first of its rows is wanted: it
// computes the reference.
class OneCase {
 public:
  using Sink = std::function<void(const ConformanceRow&)>;

  OneCase(const Recipe& recipe, const Params& shape, const std::string& queue,
          const Runtime& runtime, std::uint64_t seed, const Sink& sink)
      : recipe_(recipe),
        runtime_(runtime.with_observer([this](const std::string& kernel, const cl::Event&) {
          row_.kernels.push_back(kernel);
        })),
        seed_(seed),
        sink_(sink) {
    row_.recipe = recipe.name;
    row_.shape = shape;
    row_.queue = queue;
  }
  OneCase(const OneCase&) = delete;
  OneCase& operator=(const OneCase&) = delete;

  // The row of a variant, before it ran, and after.
  const ConformanceRow& row(const std::string& variant, const Params& tune) {
    row_.variant = variant;
    row_.tune = tune;
    return row_;
  }
  const ConformanceRow& row() const { return row_; }
  // Whether the offer says why the row is skipped.
  bool is_explained() const { return is_explained_; }

  // Runs the row. Without a case there is one row for all.
  void run() {
    const std::string variant = row_.variant;
    const Params tune = row_.tune;
    if (!was_tried_) make();
    row(variant, tune);
    row_.kernels.clear();
    if (case_ == nullptr) {
      is_explained_ = offer_says_no();
    } else {
      attempt();
      sink_(row_);
    }
  }

 private:
  void make() {
    was_tried_ = true;
    try {
      case_ = recipe_.make(runtime_, row_.shape, seed_);
    } catch (const std::exception& error) {
      row("*", Params());
      row_.reason = std::string("the case could not be made: ") + error.what();
      const auto* known = dynamic_cast<const Error*>(&error);
      const bool is_skip = known != nullptr && known->code == Errc::unsupported;
      row_.outcome = is_skip ? Outcome::skipped : Outcome::failed;
      row_.lacks = known != nullptr ? known->lacks : Lacks::nothing;
      row_.kernels.clear();
      sink_(row_);
    }
  }

  Offer offer() const {
    return recipe_.pose ? recipe_.offer(runtime_, row_.variant, row_.tune, row_.shape) : Offer();
  }

  bool offer_says_no() const {
    try {
      return !offer().can();
    } catch (const Error&) {
      return false;
    }
  }

  void attempt() {
    is_explained_ = false;
    row_.reason.clear();
    row_.diff = Diff();
    row_.lacks = Lacks::nothing;
    try {
      const Offer said = offer();
      try {
        case_->prepare(row_.variant, row_.tune);
        row_.diff = run_once(*case_, runtime_);
        row_.outcome = row_.diff.ok() ? Outcome::passed : Outcome::failed;
        row_.reason = row_.diff.first();
        if (!said.can()) {
          row_.outcome = Outcome::failed;
          row_.reason = "it ran, though its offer says: " + said.why;
        }
      } catch (const Error& error) {
        refused(error, said);
      }
    } catch (const std::exception& error) {
      row_.outcome = Outcome::failed;
      row_.reason = error.what();
    }
  }

  // A skip is expected exactly where the variant's offer says what is lacking.
  void refused(const Error& error, const Offer& said) {
    // Only a built kernel knows its own limit.
    const bool is_expected = error.lacks == said.lacks || !recipe_.pose ||
                             (said.can() && error.lacks == Lacks::kernel_limit);
    const bool is_skip = error.code == Errc::unsupported && is_expected;
    row_.outcome = is_skip ? Outcome::skipped : Outcome::failed;
    row_.lacks = error.lacks;
    row_.reason = error.what();
    is_explained_ = !recipe_.pose || !said.can();
    if (is_expected) return;
    row_.reason +=
        said.can() ? std::string("; its offer says that it can") : "; its offer says: " + said.why;
  }

  const Recipe& recipe_;
  ConformanceRow row_;
  Runtime runtime_;
  std::uint64_t seed_;
  const Sink& sink_;
  std::unique_ptr<Case> case_;
  bool was_tried_ = false;
  bool is_explained_ = false;
};

// What became of a variant.
struct VariantRan {
  bool any = false;                       // a row passed or failed
  std::uint64_t unexplained = 0;          // rows that were skipped though the offer said yes
  std::optional<ConformanceRow> skipped;  // the first of them

  void add(const OneCase& one) {
    if (one.row().outcome != Outcome::skipped) {
      any = true;
    } else if (!one.is_explained()) {
      ++unexplained;
      if (!skipped) skipped = one.row();
    }
  }
};

inline bool is_wanted(const ConformanceOptions& options, const Recipe& recipe) {
  return options.recipes.empty() || std::find(options.recipes.begin(), options.recipes.end(),
                                              recipe.name) != options.recipes.end();
}

inline void check_options(const std::vector<Recipe>& recipes, const ConformanceOptions& options) {
  for (const std::string& wanted : options.recipes) find_recipe(recipes, wanted);
  bool found = options.variant.empty();
  std::string known;
  for (const Recipe& recipe : recipes) {
    if (!is_wanted(options, recipe)) continue;
    for (const Params& shape : options.shapes) recipe.check_shape(shape);
    for (const VariantInfo& variant : recipe.variants) {
      found = found || variant.name == options.variant;
      known += " " + recipe.name + "/" + variant.name;
    }
  }
  if (!found)
    fail(Errc::invalid_argument, "check",
         "there is no variant '" + options.variant + "'; known are" + known);
}

using Queues = std::vector<std::pair<std::string, Runtime>>;

inline void run_recipe(const Recipe& recipe, const Queues& queues,
                       const ConformanceOptions& options, const OneCase::Sink& sink) {
  std::vector<VariantRan> ran(recipe.variants.size());
  for (const Params& shape : options.shapes.empty() ? recipe.test_shapes : options.shapes) {
    if (options.tiny && options.shapes.empty() && shape.integer("tiny", 0) == 0) continue;
    for (const auto& [queue, runtime] : queues) {
      OneCase one(recipe, shape, queue, runtime, options.seed, sink);
      for (std::size_t v = 0; v < recipe.variants.size(); ++v) {
        const VariantInfo& variant = recipe.variants[v];
        if (!options.variant.empty() && variant.name != options.variant) continue;
        for (const Params& tune : combinations(variant.axes)) {
          const ConformanceRow& row = one.row(variant.name, tune);
          if (!options.selects || options.selects(row)) {
            one.run();
            ran[v].add(one);
          }
          if (options.tiny) break;
        }
      }
    }
  }
  for (VariantRan& one : ran) {
    if (one.any || !one.skipped) continue;
    one.skipped->outcome = Outcome::failed;
    one.skipped->reason =
        text("nothing of this variant ran, and of ", one.unexplained,
             " skipped rows its offer names no reason; the first: ", one.skipped->reason);
    sink(*one.skipped);
  }
}

}  // namespace detail

// Runs the recipes and hands each row to `sink` as soon as it is known. `runtime` has an in-order
// queue. Throws Error(invalid_argument) for an unknown recipe or variant and for a shape that a
// recipe does not have; what goes wrong in a run becomes a failed row. So does a variant of which
// nothing ran though its offer said that it can: the first of its skipped rows comes once more, as a
// failed one.
inline ConformanceSummary run_conformance(const std::vector<Recipe>& recipes,
                                          const Runtime& runtime, const ConformanceOptions& options,
                                          const std::function<void(const ConformanceRow&)>& sink) {
  detail::check_options(recipes, options);
  ConformanceSummary summary;
  const detail::OneCase::Sink finish = [&](const ConformanceRow& row) {
    summary.launches += row.kernels.size();
    (row.outcome == Outcome::passed   ? summary.passed
     : row.outcome == Outcome::failed ? summary.failed
                                      : summary.skipped) += 1;
    sink(row);
  };
  detail::Queues queues{{"in-order", runtime}};
  const auto second = options.out_of_order ? out_of_order_runtime(runtime) : std::nullopt;
  if (second) queues.emplace_back("out-of-order", *second);
  for (const Recipe& recipe : recipes) {
    if (!detail::is_wanted(options, recipe)) continue;
    if (options.out_of_order && !second) {
      ConformanceRow row;
      row.recipe = recipe.name;
      row.variant = "*";
      row.queue = "out-of-order";
      row.outcome = Outcome::skipped;
      row.reason = "the device has no out-of-order queue";
      row.lacks = Lacks::feature;
      finish(row);
    }
    detail::run_recipe(recipe, queues, options, finish);
  }
  return summary;
}

}  // namespace clcook
