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

// Runs the recipes and hands each row to `sink` as soon as it is known. `runtime` has an in-order
// queue. Throws Error(invalid_argument) for an unknown recipe or variant and for a shape that a
// recipe does not have; what goes wrong in a run becomes a failed row. So does a variant of which
// nothing ran though its offer said that it can: the first of its skipped rows comes once more, as a
// failed one.
inline ConformanceSummary run_conformance(const std::vector<Recipe>& recipes,
                                          const Runtime& runtime, const ConformanceOptions& options,
                                          const std::function<void(const ConformanceRow&)>& sink) {
  for (const std::string& wanted : options.recipes) find_recipe(recipes, wanted);
  const auto wanted = [&](const Recipe& recipe) {
    if (options.recipes.empty()) return true;
    return std::find(options.recipes.begin(), options.recipes.end(), recipe.name) !=
           options.recipes.end();
  };
  for (const Recipe& recipe : recipes) {
    if (!wanted(recipe)) continue;
    for (const Params& shape : options.shapes) recipe.check_shape(shape);
  }
  if (!options.variant.empty()) {
    bool found = false;
    std::string known;
    for (const Recipe& recipe : recipes) {
      if (!wanted(recipe)) continue;
      for (const VariantInfo& variant : recipe.variants) {
        found = found || variant.name == options.variant;
        known += " " + recipe.name + "/" + variant.name;
      }
    }
    if (!found)
      fail(Errc::invalid_argument, "check",
           "there is no variant '" + options.variant + "'; known are" + known);
  }

  ConformanceSummary summary;
  const auto finish = [&](const ConformanceRow& row) {
    summary.launches += row.kernels.size();
    (row.outcome == Outcome::passed   ? summary.passed
     : row.outcome == Outcome::failed ? summary.failed
                                      : summary.skipped) += 1;
    sink(row);
  };

  std::vector<std::pair<std::string, Runtime>> queues{{"in-order", runtime}};
  bool no_out_of_order = false;
  if (options.out_of_order) {
    if (auto second = out_of_order_runtime(runtime)) {
      queues.emplace_back("out-of-order", *second);
    } else {
      no_out_of_order = true;
    }
  }

  for (const Recipe& recipe : recipes) {
    if (!wanted(recipe)) continue;
    if (no_out_of_order) {
      ConformanceRow row;
      row.recipe = recipe.name;
      row.variant = "*";
      row.queue = "out-of-order";
      row.outcome = Outcome::skipped;
      row.reason = "the device has no out-of-order queue";
      row.lacks = Lacks::feature;
      finish(row);
    }
    // What became of each variant.
    struct Ran {
      bool any = false;                       // a row passed or failed
      std::uint64_t unnamed = 0;              // rows that were skipped though the offer said yes
      std::optional<ConformanceRow> skipped;  // the first of them
    };
    std::vector<Ran> ran(recipe.variants.size());
    std::vector<Params> shapes = options.shapes.empty() ? recipe.test_shapes : options.shapes;
    for (const Params& shape : shapes) {
      if (options.tiny && options.shapes.empty() && shape.integer("tiny", 0) == 0) continue;
      for (const auto& [queue_name, queue_runtime] : queues) {
        std::vector<std::string> kernels;
        const Runtime observed = queue_runtime.with_observer(
            [&](const std::string& kernel, const cl::Event&) { kernels.push_back(kernel); });
        ConformanceRow row;
        row.recipe = recipe.name;
        row.shape = shape;
        row.queue = queue_name;
        bool named = false;  // the offer says why the row is skipped
        const auto attempt = [&](const auto& body) {
          kernels.clear();
          named = false;
          row.reason.clear();
          row.diff = Diff();
          row.lacks = Lacks::nothing;
          try {
            // A skip is expected exactly where the variant's offer says what is lacking.
            Offer offer;
            if (recipe.pose) offer = recipe.offer(observed, row.variant, row.tune, row.shape);
            try {
              body();
              row.outcome = row.diff.ok() ? Outcome::passed : Outcome::failed;
              row.reason = row.diff.first();
              if (!offer.can()) {
                row.outcome = Outcome::failed;
                row.reason = "it ran, though its offer says: " + offer.why;
              }
            } catch (const Error& error) {
              // Only a built kernel knows its own limit.
              const bool expected = error.lacks == offer.lacks || !recipe.pose ||
                                    (offer.can() && error.lacks == Lacks::kernel_limit);
              row.outcome =
                  error.code == Errc::unsupported && expected ? Outcome::skipped : Outcome::failed;
              row.lacks = error.lacks;
              row.reason = error.what();
              named = !recipe.pose || !offer.can();
              if (!expected) {
                row.reason += offer.can() ? std::string("; its offer says that it can")
                                          : "; its offer says: " + offer.why;
              }
            }
          } catch (const std::exception& error) {
            row.outcome = Outcome::failed;
            row.reason = error.what();
          }
          row.kernels = kernels;
        };
        std::unique_ptr<Case> one;
        bool made = true;
        // Made when the first of its rows is wanted: it computes the reference.
        const auto make = [&] {
          if (one != nullptr) return true;
          try {
            one = recipe.make(observed, shape, options.seed);
          } catch (const std::exception& error) {
            row.variant = "*";
            row.tune = Params();
            row.reason = std::string("the case could not be made: ") + error.what();
            const auto* known = dynamic_cast<const Error*>(&error);
            row.outcome = known != nullptr && known->code == Errc::unsupported ? Outcome::skipped
                                                                               : Outcome::failed;
            row.lacks = known != nullptr ? known->lacks : Lacks::nothing;
            row.diff = Diff();
            row.kernels.clear();
            finish(row);
          }
          return one != nullptr;
        };
        const auto offer_says_no = [&] {
          try {
            return recipe.pose && !recipe.offer(observed, row.variant, row.tune, row.shape).can();
          } catch (const Error&) {
            return false;
          }
        };
        for (std::size_t v = 0; v < recipe.variants.size(); ++v) {
          const VariantInfo& variant = recipe.variants[v];
          if (!options.variant.empty() && variant.name != options.variant) continue;
          row.variant = variant.name;
          for (const Params& tune : combinations(variant.axes)) {
            row.tune = tune;
            if (!options.selects || options.selects(row)) {
              if (made) made = make();
              row.variant = variant.name;
              row.tune = tune;
              if (made) {
                attempt([&] {
                  one->prepare(variant.name, tune);
                  row.diff = run_once(*one, observed);
                });
                finish(row);
              } else {
                named = offer_says_no();
              }
              if (row.outcome != Outcome::skipped) {
                ran[v].any = true;
              } else if (!named) {
                ++ran[v].unnamed;
                if (!ran[v].skipped) ran[v].skipped = row;
              }
            }
            if (options.tiny) break;
          }
        }
      }
    }
    for (Ran& one : ran) {
      if (one.any || !one.skipped) continue;
      one.skipped->outcome = Outcome::failed;
      one.skipped->reason =
          text("nothing of this variant ran, and of ", one.unnamed,
               " skipped rows its offer names no reason; the first: ", one.skipped->reason);
      finish(*one.skipped);
    }
  }
  return summary;
}

}  // namespace clcook
