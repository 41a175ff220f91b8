// What a recipe tells the tools about itself. Conformance test, benchmark, analyser, tuner and
// report iterate over these descriptions; nothing else lists recipes.
#pragma once

#include <clcook/core/defines.hpp>
#include <clcook/core/runtime.hpp>
#include <clcook/core/source.hpp>
#include <clcook/model/lanes.hpp>
#include <clcook/registry/diff.hpp>
#include <clcook/registry/params.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace clcook {

// One thing that can be tuned, with the values worth trying, the default first.
struct Axis {
  std::string name;
  std::vector<Value> values;
};

// One way of doing the recipe's work.
struct VariantInfo {
  std::string name;
  std::string summary;  // one line: what it changes
  bool baseline =
      false;  // exactly one variant per recipe: the kernel that the others are compared with
  bool approximate =
      false;          // another result than the baseline's, by design: never chosen automatically
  std::string needs;  // a device feature that it cannot do without, empty for plain OpenCL C 1.2
  std::vector<Axis> tunes;  // its tune axes
};

// What one run moves and computes at least: each input byte read once, each output byte written
// once.
struct Work {
  double bytes_read = 0;
  double bytes_written = 0;
  double operations = 0;  // floating-point or integer operations that the method needs; a fused
                          // multiply-add counts two
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
  // Reads the output back behind `wait` and compares it with the scalar reference; also looks at
  // the guard bands. Blocks.
  virtual Diff check(const std::vector<cl::Event>& wait) = 0;
  // The work of the prepared variant.
  virtual Work work() const = 0;
};

// A program as the host would build it, for the offline analyser.
struct CompileUnit {
  std::string kernel;  // the kernel's name
  std::string label;   // tells the units of one variant apart, such as "rgba32f -> rgba32f"
  Source source;
  Defines defines;
  std::string options;  // beyond the defaults of Runtime::build()
};

// What `clcook explore` sweeps: data along which the paths of the work-items part more and more, or
// another number that the time hangs on. A problem of the sweep is `shape` with one value of
// `along` and one of each family set.
struct Sweep {
  Params shape;                // the rest of the problem
  Params smoke;                // what makes it small, for tests and interpreters
  Axis along;                  // numbers in rising order: the x axis
  std::string label;           // what `along` is, with its unit
  std::vector<Axis> families;  // each combination gives curves of its own
  // The segments that the work-items of a variant take: the lane-mask model's prediction.
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
  std::string technique;  // the family: "memory locality", "branch divergence", ...
  std::string summary;    // one sentence
  std::vector<VariantInfo> variants;
  std::vector<Parameter> parameters;  // of its shapes
  std::vector<Params>
      test_shapes;  // small, awkward; entries with tiny=1 are small enough for an interpreter
  std::vector<Params>
      bench_shapes;           // large enough to be measured; the first is the recipe's headline
  Params quick_shape;         // the first bench shape made small, for `clcook bench --quick`: some
                              // milliseconds of the baseline on a CPU
  std::vector<Sweep> sweeps;  // for `clcook explore`; may be empty
  std::vector<Technique> techniques;  // of the numbered list
  // Bytes of input and output of a shape, the size that tunings are filed under.
  std::function<double(const Params& shape)> problem_bytes;
  // The name that the tunings of a shape are filed under, where one recipe has several kinds of
  // problems with winners of their own; else the recipe's name.
  std::function<std::string(const Params& shape)> tuning_name;
  std::function<std::unique_ptr<Case>(const Runtime&, const Params& shape, std::uint64_t seed)>
      make;
  std::function<std::vector<CompileUnit>(const std::string& variant, const Params& tune,
                                         const Params& shape)>
      units;

  // The shape is one of this recipe. Throws Error(invalid_argument), see check_parameters(). To
  // the recipe's own parameters comes tiny=1, the mark of a test shape for interpreters.
  void check_shape(const Params& shape) const {
    std::vector<Parameter> all = parameters;
    all.push_back(Parameter::integer("tiny", "1: small enough for an interpreter", 0, 1, "0"));
    check_parameters(name, all, shape);
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
      if (one.baseline) return one;
    }
    fail(Errc::invalid_argument, name, "the recipe declares no baseline");
  }
};

// Every combination of the axes' values, the defaults first. No axes give one empty combination.
inline std::vector<Params> combinations(const std::vector<Axis>& axes) {
  std::vector<Params> out{Params{}};
  for (const Axis& axis : axes) {
    std::vector<Params> next;
    for (const Params& partial : out) {
      for (const Value& value : axis.values) {
        Params one = partial;
        one.set(axis.name, value);
        next.push_back(std::move(one));
      }
    }
    out = std::move(next);
  }
  return out;
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
