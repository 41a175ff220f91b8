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
#include <utility>
#include <vector>

namespace clcook {

// Two variants whose ratio, at equal tunes, is what a technique gains.
struct VariantPair {
  std::string with;
  std::string without;
  std::string words{};  // "run=1": at the first shape with these; empty: at the first
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
  // From now on check() compares some rows alone where the reference of all takes seconds: for
  // comparisons of hundreds of problems.
  void sample() { is_sampled_ = true; }
  // The work of the prepared variant.
  virtual Work work() const = 0;

 protected:
  bool is_sampled_ = false;
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

// A measurement of a technique: what is slower without it, in a result of a device.
struct Experiment {
  enum class Kind {
    pair,             // two variants, at equal tunes
    baseline,         // `with` is a variant, `without` the baseline, each at its best tune
    shapes,           // one variant, `with`, at the shapes with the words `words` and `without`
    sweep,            // points of the curve with the words `words`: "direct@1024", "direct@128"
    fewer_registers,  // a pair; untested where the device counts no fewer registers
    not_tested        // `what` says why
  };
  Kind kind = Kind::not_tested;
  std::string without;
  std::string with;
  std::string words;  // "work=barriers along=group"; empty: the first shape
  std::string what;   // to say beside the ratio or the times
  bool shows_registers = false;

  static Experiment pair(std::string without, std::string with, std::string words = "",
                         std::string what = "") {
    return {Kind::pair, std::move(without), std::move(with), std::move(words), std::move(what)};
  }
  static Experiment baseline(std::string without, std::string with, std::string words,
                             std::string what = "") {
    return {Kind::baseline, std::move(without), std::move(with), std::move(words), std::move(what)};
  }
  static Experiment shapes(std::string variant, std::string without, std::string words,
                           std::string what) {
    return {Kind::shapes, std::move(without), std::move(variant), std::move(words),
            std::move(what)};
  }
  static Experiment sweep(std::string without, std::string with, std::string words,
                          std::string what) {
    return {Kind::sweep, std::move(without), std::move(with), std::move(words), std::move(what)};
  }
  static Experiment fewer_registers(std::string without, std::string with) {
    return {Kind::fewer_registers, std::move(without), std::move(with), "", "", true};
  }
  static Experiment not_tested(std::string why) {
    return {Kind::not_tested, "", "", "", std::move(why)};
  }
  // With the registers of both that the device counts.
  Experiment with_registers() && {
    shows_registers = true;
    return std::move(*this);
  }
};

// A technique of the numbered list (`clcook list --techniques`) that a recipe covers.
struct Technique {
  int number = 0;     // 1 to 28
  std::string where;  // the place inside the recipe: variants, axis or table that shows it
  std::vector<Experiment> experiments;  // those of one result are one row of the list on the pages
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
  // What a good programmer may write first, beside the baseline. The table of recipes compares with
  // the fastest of them.
  std::vector<std::string> written_first;
  // Bench shapes for which one writes a kernel first that the recipe does not have: the table leaves
  // them out.
  std::vector<Params> without_first;
  // The case of a checked shape; may throw Error(unsupported).
  std::function<std::unique_ptr<Case>(const Runtime&, const Params& shape, std::uint64_t seed)>
      make_case;
  // The operation's problem of a checked shape. Throws Error(invalid_argument) as the operation does.
  std::function<std::unique_ptr<const AnyProblem>(const Params& shape)> pose;
  // The tune that the tuning's values and a checked shape stand for; empty: the tuning's values.
  std::function<Params(const VariantInfo&, const Params& tune, const Params& shape)> tune_of;
  // Those of a variant's kernels that tools show; empty: all.
  std::function<std::vector<CompileUnit>(const VariantInfo&, std::vector<CompileUnit>)> shown;

  // The functions below take any shape and check it: check_shape().
  std::unique_ptr<Case> make(const Runtime& runtime, const Params& shape,
                             std::uint64_t seed) const {
    return make_case(runtime, check_shape(shape), seed);
  }
  // Bytes of input and output of a shape, the size that tunings are filed under, and the name that
  // they are filed under.
  double problem_bytes(const Params& shape) const { return problem(shape)->bytes(); }
  std::string tuning_name(const Params& shape) const {
    return problem(shape)->tuning_names().front();
  }
  // What a host compiles for a device, of which its platform and limits matter.
  std::vector<CompileUnit> units(const std::string& variant, const Params& tune,
                                 const Params& shape, const DeviceInfo& device) const {
    const Asked asked(*this, variant, tune, shape);
    std::vector<CompileUnit> all = asked.problem->units(*asked.variant, asked.tune, device);
    return shown ? shown(*asked.variant, std::move(all)) : all;
  }
  // Whether a variant with this tune can serve a shape on a device, and what it promises.
  Offer offer(const Runtime& runtime, const std::string& variant, const Params& tune,
              const Params& shape) const {
    const Asked asked(*this, variant, tune, shape);
    return asked.problem->offer(runtime, *asked.variant, asked.tune);
  }
  // A tuning of a variant with its defaults for what is left open.
  Params whole_tune(const std::string& variant, const Params& tune, const Params& shape,
                    const DeviceInfo& device) const {
    const Asked asked(*this, variant, tune, shape);
    return asked.problem->close(*asked.variant, asked.tune, device);
  }
  // What a plan made with `automatic` would take first.
  Candidate choose(const Runtime& runtime, const Params& shape) const {
    return choice(*problem(shape), runtime);
  }
  std::unique_ptr<const AnyProblem> problem(const Params& shape) const {
    return pose(check_shape(shape));
  }

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

 private:
  // A variant of a shape's problem, with the tune that both stand for.
  struct Asked {
    Asked(const Recipe& recipe, const std::string& wanted, const Params& tuning,
          const Params& any_shape) {
      (void)recipe.variant(wanted);
      const Params shape = recipe.check_shape(any_shape);
      problem = recipe.pose(shape);
      variant = find_variant(problem->operation(), problem->variants(), wanted);
      tune = recipe.tune_of ? recipe.tune_of(*variant, tuning, shape) : tuning;
    }
    std::unique_ptr<const AnyProblem> problem;
    const VariantInfo* variant;
    Params tune;
  };
};

// A test shape with special values among its data, its rows elsewhere in the buffer, or marked tiny.
namespace card_shapes {
inline Params test(Params shape, int offset = 0, int pad = 0, bool tiny = false) {
  shape.set("specials", std::int64_t{1});
  if (offset != 0) shape.set("offset", std::int64_t{offset});
  if (pad != 0) shape.set("pad", std::int64_t{pad});
  if (tiny) shape.set("tiny", std::int64_t{1});
  return shape;
}
}  // namespace card_shapes

// Fills in what a recipe can read from its operation: its name, variants, cases and problems.
// `problem_of` makes the operation's problem of a shape; its class is Posed, or one that derives from
// it.
template <class Operation, class CaseOf, class Posed = typename Operation::Posed, class ProblemOf>
void describe(Recipe& recipe, const ProblemOf& problem_of) {
  recipe.name = Operation::Spec::kRecipe;
  recipe.variants.assign(Operation::variants().begin(), Operation::variants().end());
  recipe.make_case = [](const Runtime& runtime, const Params& shape,
                        std::uint64_t seed) -> std::unique_ptr<Case> {
    return std::make_unique<CaseOf>(runtime, shape, seed);
  };
  recipe.pose = [=](const Params& shape) -> std::unique_ptr<const AnyProblem> {
    return std::make_unique<const Posed>(problem_of(shape));
  };
}

// The same where shapes say something of the tune: `tune_of` makes it of a row, the tuning's values
// and a shape.
template <class Operation, class CaseOf, class Posed = typename Operation::Posed, class ProblemOf,
          class TuneOf>
void describe(Recipe& recipe, const ProblemOf& problem_of, TuneOf tune_of) {
  describe<Operation, CaseOf, Posed>(recipe, problem_of);
  recipe.tune_of = [=](const VariantInfo& variant, const Params& tune, const Params& shape) {
    const auto& row = static_cast<const typename Operation::Row&>(variant);
    return Operation::Posed::format_tune(tune_of(row, tune, shape));
  };
  recipe.make_case = [=](const Runtime& runtime, const Params& shape,
                         std::uint64_t seed) -> std::unique_ptr<Case> {
    auto out = std::make_unique<CaseOf>(runtime, shape, seed);
    out->set_tune_of([=](const typename Operation::Row& row, const Params& tune) {
      return tune_of(row, tune, shape);
    });
    return out;
  };
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
