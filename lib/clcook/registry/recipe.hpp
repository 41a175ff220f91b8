// What a recipe tells the tools about itself. Conformance test, benchmark, analyser, tuner and
// report iterate over these descriptions; nothing else lists recipes.
#pragma once

#include <clcook/core/defines.hpp>
#include <clcook/core/params.hpp>
#include <clcook/core/plan.hpp>
#include <clcook/core/runtime.hpp>
#include <clcook/core/source.hpp>
#include <clcook/core/view.hpp>
#include <clcook/model/lanes.hpp>
#include <clcook/registry/diff.hpp>
#include <clcook/registry/guarded_buffer.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace clcook {

// Two variants whose ratio, at equal tunes, is what a technique gains.
struct VariantPair {
  std::string with;
  std::string without;
};

// What a plan made with `automatic` would take.
struct RecipeChoice {
  std::string variant;
  Params tune;
  std::string reason;              // one clause: "measured on this device and driver"
  std::vector<std::string> notes;  // a line each: what was passed over before it, and why
};

// A buffer that an operation is called with.
struct Operand {
  const char* name;  // as the operation calls it
  GuardedBuffer* buffer;
  Access access;
};

// A problem of one shape with its data on a device: prepared once, run with every variant.
//
// The order of calls: prepare(), then any number of { poison(), upload(), run(), check() }. A
// benchmark uploads once, before or after prepare(), and then prepares and runs one variant after
// the other: upload() writes the inputs of every variant, and prepare() keeps them. Not
// thread-safe.
class Case {
 public:
  Case() = default;
  Case(const Case&) = delete;
  Case& operator=(const Case&) = delete;
  virtual ~Case() = default;

  // Chooses a variant and its tuning and builds its kernels. Throws Error(unsupported) where the
  // device or the shape does not allow it: tests count that as a visible skip.
  virtual void prepare(const std::string& variant, const Params& tune) = 0;
  // Overwrites inputs and outputs, their guard bands included, with a pattern. Blocks.
  virtual void poison() = 0;
  // Enqueues the upload of the inputs behind `wait`.
  virtual cl::Event upload(const std::vector<cl::Event>& wait) = 0;
  // Enqueues the operation behind `wait` and returns its last event.
  virtual cl::Event run(const std::vector<cl::Event>& wait) = 0;
  // What run() calls the prepared variant with, and the same call with other views in their places:
  // for tests that call operations as they should not be called. Empty: there are no such tests.
  virtual std::vector<Operand> operands() { return {}; }
  virtual cl::Event call(const std::vector<BufferView>&, const std::vector<cl::Event>&) {
    fail(Errc::invalid_argument, "Case", "has no operands");
  }
  // Moves the prepared plan away: run() and call() use what is left of it, until the next prepare().
  virtual void move_plan() {}
  // Reads the output back behind `wait` and compares it with the scalar reference; also looks at
  // the guard bands. Blocks.
  virtual Diff check(const std::vector<cl::Event>& wait) = 0;
  // The work of the prepared variant.
  virtual Work work() const = 0;
};

// What `clcook explore` sweeps: data along which the paths of the work-items part more and more, or
// another number that the time depends on. A problem of the sweep is `shape` with one value of
// `along` and one of each family set.
struct Sweep {
  Params shape;                    // the rest of the problem
  Params smoke;                    // what makes it small, for tests and interpreters
  TuneAxis along;                  // numbers in rising order: the x axis
  std::string label;               // what `along` is, with its unit
  std::vector<TuneAxis> families;  // each combination gives curves of its own
  // The segments that the work-items of a variant take: the lane-mask model's prediction. Of a shape
  // from Recipe::check_shape(), as `model`.
  std::function<model::LaneMasks(const std::string& variant, const Params& shape,
                                 std::uint64_t seed)>
      lanes;
  // Or another model: the predicted time of a variant in any unit, and the model's name.
  std::function<double(const std::string& variant, const Params& shape, std::uint64_t seed)> model;
  std::string model_name;
};

// A technique of the numbered list (`clcook list --techniques`) that a recipe covers.
struct Technique {
  int number = 0;     // 1 to 28
  std::string where;  // the place inside the recipe: variants, axis or table that shows it
};

struct Recipe {
  std::string name;
  std::string title;
  std::string question;  // what the recipe answers, in a few words
  std::string family;    // "memory locality", "branch divergence", ...
  std::string summary;   // one sentence
  std::vector<VariantInfo> variants;
  std::vector<Parameter> parameters;  // of its shapes
  std::vector<Params>
      test_shapes;  // small, awkward; entries with tiny are small enough for an interpreter
  std::vector<Params>
      bench_shapes;           // large enough to be measured; the first is the recipe's headline
  Params quick_shape;         // the first bench shape made small, for `clcook bench --quick`: some
                              // milliseconds of the baseline on a CPU
  std::vector<Sweep> sweeps;  // for `clcook explore`; may be empty
  std::vector<Technique> shows;  // of the numbered list
  VariantPair headline_pair;     // of the recipe's technique; empty where no pair shows it
  // The variants that the recipe recommends, on GPUs and on CPUs; empty: the fastest of each shape.
  std::string for_gpus;
  std::string for_cpus;
  // The functions below, but for those of sweeps, take any shape and check it: check_shape().
  // Bytes of input and output of a shape, the size that tunings are filed under.
  std::function<double(const Params& shape)> problem_bytes;
  // The name that the tunings of a shape are filed under, where one recipe has several kinds of
  // problems with winners of their own; else the recipe's name.
  std::function<std::string(const Params& shape)> tuning_name;
  std::function<std::unique_ptr<Case>(const Runtime&, const Params& shape, std::uint64_t seed)>
      make;
  // What a host compiles for a device, of which its platform and limits matter.
  std::function<std::vector<CompileUnit>(const std::string& variant, const Params& tune,
                                         const Params& shape, const DeviceInfo& device)>
      units;
  // Whether a variant with this tune can serve a shape on a device, and what it promises.
  std::function<Offer(const Runtime&, const std::string& variant, const Params& tune,
                      const Params& shape)>
      offer;
  std::function<RecipeChoice(const Runtime&, const Params& shape)> choose;
  // The operation's own check of a shape that check_shape() need not take: for tests of the ranges
  // that both know.
  std::function<void(const Params& whole_shape)> check_problem;
  // A tuning of a variant with its defaults for what is left open.
  std::function<Params(const std::string& variant, const Params& tune, const Params& shape,
                       const DeviceInfo& device)>
      whole_tune;

  // A shape of this recipe with the default values of what it leaves open. Throws
  // Error(invalid_argument), see check_parameters(). To the recipe's own parameters comes tiny,
  // the mark of a test shape for interpreters.
  Params check_shape(const Params& shape) const {
    std::vector<Parameter> all = parameters;
    all.push_back(Parameter::integer(
        "tiny", "1: small enough for an interpreter, 2: takes it a minute", 0, 2, "0"));
    return check_parameters(name, all, shape);
  }

  // The variant of that name. Throws Error(invalid_argument) that lists the names.
  const VariantInfo& variant(const std::string& wanted) const {
    std::string names;
    for (const VariantInfo& one : variants) {
      if (one.name == wanted) return one;
      names += " " + one.name;
    }
    fail(Errc::invalid_argument, name, "there is no variant '" + wanted + "'; known are" + names);
  }

  const VariantInfo& baseline() const {
    for (const VariantInfo& one : variants) {
      if (one.is_baseline) return one;
    }
    fail(Errc::invalid_argument, name, "the recipe declares no baseline");
  }
};

// Fills in what a recipe with parameters can read from the rows of its operation's table: its name,
// variants, cases, units, offers, choice, bytes, and the name of its tunings. `problem_of` makes the
// operation's problem of a shape, `tune_of` the tune of a row, the tuning's values and a shape; the
// shapes that they and the cases get are checked and whole.
template <class Operation, class CaseOf, class ProblemOf, class TuneOf>
void describe(Recipe& recipe, const ProblemOf& problem_of, const TuneOf& tune_of) {
  using Rules = typename Operation::Rules;
  using Row = typename Operation::Row;
  recipe.name = Rules::kRecipe;
  Recipe stated;  // what check_shape() needs
  stated.name = recipe.name;
  stated.parameters = recipe.parameters;
  const auto whole = [stated](const Params& shape) { return stated.check_shape(shape); };
  recipe.make = [=](const Runtime& runtime, const Params& shape,
                    std::uint64_t seed) -> std::unique_ptr<Case> {
    return std::make_unique<CaseOf>(runtime, whole(shape), seed);
  };
  recipe.check_problem = [=](const Params& shape) { Operation::Spec::check(problem_of(shape)); };
  for (const Row& row : Operation::variants()) {
    recipe.variants.push_back(row);
  }
  const auto row_of = [](const std::string& variant) -> const Row& {
    return *typename Operation::Variant(variant).row();
  };
  recipe.units = [=](const std::string& variant, const Params& tune, const Params& shape,
                     const DeviceInfo& device) {
    const Row& row = row_of(variant);
    const Params all = whole(shape);
    return Rules::units(row, problem_of(all), tune_of(row, tune, all), device);
  };
  recipe.offer = [=](const Runtime& runtime, const std::string& variant, const Params& tune,
                     const Params& shape) {
    const Row& row = row_of(variant);
    const Params all = whole(shape);
    return Rules::offer_of(runtime, row, problem_of(all), tune_of(row, tune, all));
  };
  recipe.whole_tune = [=](const std::string& variant, const Params& tune, const Params& shape,
                          const DeviceInfo& device) {
    const Row& row = row_of(variant);
    const Params all = whole(shape);
    const Params with = Rules::format_tune(tune_of(row, tune, all));
    return Rules::whole_tune(row, problem_of(all), with, device);
  };
  recipe.choose = [=](const Runtime& runtime, const Params& shape) {
    const auto chosen = Operation::choice(runtime, problem_of(whole(shape)));
    return RecipeChoice{chosen.variant->name, chosen.tune, chosen.reason, chosen.notes};
  };
  recipe.problem_bytes = [=](const Params& shape) {
    return Rules::bytes(problem_of(whole(shape)));
  };
  recipe.tuning_name = [=](const Params& shape) {
    return Rules::tuning_name(problem_of(whole(shape)));
  };
}

// The same where shapes say nothing of the tune.
template <class Operation, class CaseOf, class ProblemOf>
void describe(Recipe& recipe, const ProblemOf& problem_of) {
  describe<Operation, CaseOf>(
      recipe, problem_of, [](const typename Operation::Row&, const Params& tune, const Params&) {
        return Operation::Rules::parse_tune(tune);
      });
}

// The recipe of that name. Throws Error(invalid_argument) that lists the names.
inline const Recipe& find_recipe(const std::vector<Recipe>& recipes, const std::string& wanted) {
  std::string names;
  for (const Recipe& one : recipes) {
    if (one.name == wanted) return one;
    names += " " + one.name;
  }
  fail(Errc::invalid_argument, "recipes", "there is no recipe '" + wanted + "'; known are" + names);
}

}  // namespace clcook
