// What all operations share: a variant is a row of its operation's table, a row makes offers, and a
// plan is a row with a tune that was offered and built.
//
// An operation describes itself in a struct, its spec (see PlainSpec), and derives its class from
// Plan<Spec>. Nothing but the spec's table lists variants: the class, the registry, the tools and
// the pages read the rows.
#pragma once

#include <algorithm>
#include <clcook/core/call_order.hpp>
#include <clcook/core/choose.hpp>
#include <clcook/core/defines.hpp>
#include <clcook/core/error.hpp>
#include <clcook/core/inline.hpp>
#include <clcook/core/launch.hpp>
#include <clcook/core/math.hpp>
#include <clcook/core/names.hpp>
#include <clcook/core/params.hpp>
#include <clcook/core/quirks.hpp>
#include <clcook/core/range.hpp>
#include <clcook/core/rates.hpp>
#include <clcook/core/runtime.hpp>
#include <clcook/core/source.hpp>
#include <clcook/core/tuning.hpp>
#include <clcook/core/variant.hpp>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace clcook {

// A variant with the traits that the operation's own functions read: one row of its table. Rows are
// made with their name, their summary and their traits; what else is not as usual is said by the
// functions below, which return the row.
template <class Spec>
struct VariantRow : VariantInfo {
  using Traits = typename Spec::Traits;

  Traits traits;

  VariantRow(const char* row_name, const char* row_summary, Traits row_traits = {})
      : traits(std::move(row_traits)) {
    name = row_name;
    summary = row_summary;
  }

  // Sets one of its traits; with() sets flags.
  template <class Value>
  VariantRow& set(Value Traits::*member, Value value) {
    return traits.*member = value, *this;
  }
  template <class... Flags>
  VariantRow& with(bool Traits::*flag, Flags... flags) {
    for (bool Traits::*one : {flag, flags...}) traits.*one = true;
    return *this;
  }
  VariantRow& tunes(std::vector<TuneAxis> with) { return axes = std::move(with), *this; }
  VariantRow& baseline() { return is_baseline = true, *this; }
  VariantRow& against(const char* variant, const char* step_change) {
    return predecessor = variant, change = step_change, *this;
  }
  VariantRow& approximate() { return is_approximate = is_by_name = true, *this; }
  VariantRow& by_name() { return is_by_name = true, *this; }
  VariantRow& for_cpus() { return is_for_cpus = true, *this; }
  VariantRow& for_cpus_only() { return is_for_cpus = is_for_cpus_only = true, *this; }
  VariantRow& preferred() { return is_preferred = true, *this; }
  VariantRow& need(const char* feature) { return needs = feature, *this; }
};

// The rows of a table, as far as they are the same for all operations.
template <class Row>
std::vector<const VariantInfo*> infos_of(const std::vector<Row>& rows) {
  std::vector<const VariantInfo*> out;
  for (const Row& row : rows) out.push_back(&row);
  return out;
}

// The checked name of a variant: automatic, or a row of the table. It converts from text; throws
// Error(invalid_argument) with a list of the names if the operation has no such variant.
template <class Spec>
class VariantOf {
 public:
  VariantOf() = default;            // automatic
  VariantOf(std::string_view name)  // NOLINT(google-explicit-constructor)
      : row_(static_cast<const VariantRow<Spec>*>(
            find_variant(Spec::kName, infos_of(Spec::variants()), name))) {}
  VariantOf(const char* name)  // NOLINT(google-explicit-constructor)
      : VariantOf(std::string_view(name == nullptr ? "" : name)) {}
  VariantOf(const std::string& name)  // NOLINT(google-explicit-constructor)
      : VariantOf(std::string_view(name)) {}
  VariantOf(const VariantRow<Spec>& row)  // NOLINT(google-explicit-constructor)
      : VariantOf(std::string_view(row.name)) {}

  bool is_automatic() const { return row_ == nullptr; }
  std::string name() const { return row_ == nullptr ? "automatic" : row_->name; }
  // Its row; null for automatic.
  const VariantRow<Spec>* row() const { return row_; }

  friend bool operator==(const VariantOf& a, const VariantOf& b) { return a.row_ == b.row_; }
  friend bool operator!=(const VariantOf& a, const VariantOf& b) { return a.row_ != b.row_; }

 private:
  const VariantRow<Spec>* row_ = nullptr;
};

// A tune's whole number of at least 0. Throws Error(invalid_argument) that names it for another value.
CLCOOK_INLINE int tune_number(const char* name, const Value& value);

// A member of an operation's Tune under its name: a number, or what get and set make of it. The value
// that a default Tune has is open: the plan fills it in.
template <class Tune>
struct TuneField {
  using Get = Value (*)(const Tune&);
  using Set = void (*)(Tune&, const Value&);

  const char* name;
  int Tune::*number = nullptr;
  Get get_other = nullptr;
  Set set_other = nullptr;

  TuneField(const char* field, int Tune::*member) : name(field), number(member) {}
  TuneField(const char* field, Get get, Set set) : name(field), get_other(get), set_other(set) {}

  Value get(const Tune& tune) const {
    return number != nullptr ? Value(std::int64_t{tune.*number}) : get_other(tune);
  }
  // Throws Error(invalid_argument) for a negative number.
  void check(const char* where, const Tune& tune) const {
    if (number != nullptr && tune.*number < 0) {
      fail(Errc::invalid_argument, where, text(name, " must not be negative, got ", tune.*number));
    }
  }
  // Throws Error(invalid_argument) for a value of another kind.
  void set(Tune& tune, const Value& value) const {
    number != nullptr ? void(tune.*number = tune_number(name, value)) : set_other(tune, value);
  }
};
template <class Tune>
TuneField<Tune> tune_field(const char* name, int Tune::*member) {
  return {name, member};
}

// What a spec's functions know of a problem: Spec::Derived, which derives from the problem and adds
// what follows from it alone, or the problem itself.
template <class Spec, class = void>
struct DerivedOf {
  using Type = typename Spec::Problem;
};
template <class Spec>
struct DerivedOf<Spec, std::void_t<typename Spec::Derived>> {
  using Type = typename Spec::Derived;
};

// A variant with a tune, for a problem: what a spec's functions work on.
template <class Spec>
struct Setup {
  const VariantRow<Spec>& row;
  const typename DerivedOf<Spec>::Type& problem;
  const typename Spec::Tune& tune;
  const DeviceInfo& device;  // of units() for tools perhaps a device that is not there
  std::shared_ptr<const typename Spec::Design> design{};  // what derive() has made of these
};

// The kernel `<recipe>_<name>` of `file`, as kernel files are written: selected by
// `CLCOOK_<RECIPE>_ONLY` and `CLCOOK_<RECIPE>_<NAME>`.
template <class Spec>
CompileUnit kernel_unit(const Setup<Spec>&, const std::string& name, const embedded::File& file,
                        const Launch::Sizes& group) {
  const std::string kernel = std::string(Spec::kRecipe) + "_" + name;
  CompileUnit out{kernel, "", Source(file), {}, "", group, 0};
  out.defines.flag("CLCOOK_" + upper_case(Spec::kRecipe) + "_ONLY");
  out.defines.flag("CLCOOK_" + upper_case(kernel));
  return out;
}
// The same where the tune's group is one number.
template <class Spec>
CompileUnit kernel_unit(const Setup<Spec>& setup, const std::string& name,
                        const embedded::File& file) {
  return kernel_unit(setup, name, file, {static_cast<std::size_t>(setup.tune.group), 1, 1});
}

// The same for a variant with one kernel, which has its name.
template <class Spec>
CompileUnit variant_unit(const Setup<Spec>& setup, const embedded::File& file,
                         const Launch::Sizes& group) {
  return kernel_unit(setup, setup.row.name, file, group);
}
template <class Spec>
CompileUnit variant_unit(const Setup<Spec>& setup, const embedded::File& file) {
  return kernel_unit(setup, setup.row.name, file);
}

// What a spec must have, and defaults for what most specs need not have. All of it is static.
//
//   struct Problem, Tune                     what callers give; Tune{} leaves all open
//   kName, kRecipe                           "LineBlur" for messages, "line_blur" for files
//   variants() -> const vector<VariantRow>&  the table
//   fields() -> vector<TuneField<Tune>>      the members of Tune
//   check(problem)                           Error(invalid_argument) for a value out of range
//   defaults(row, problem, device) -> Tune   without an open member
//   bytes(problem) -> double                 of inputs and outputs: what tunings are filed under
//   units(setup) -> vector<CompileUnit>      its kernels
struct PlainSpec {
  // See AnyProblem::by_cost().
  static constexpr bool kByCost = false;

  // What the operation's functions ask of a row.
  struct Traits {};
  // What follows from a setup: see derive().
  using Design = clcook::Design;
  // What a plan keeps on the device, apart from its programs: see allocate().
  struct Resources {};

  // The name under which tunings are filed, if several kinds of problems have their own winners;
  // empty: kRecipe.
  template <class Problem>
  static std::string tuning_name(const Problem&) {
    return {};
  }
  // Throws Error(invalid_argument) for a closed tune that breaks a rule of the variant. All
  // variants refuse negative numbers.
  template <class Setup>
  static void check_tune(const Setup&) {}
  // What the offer, the units and the launches need, if it takes more than reading the setup.
  template <class Setup>
  static std::shared_ptr<const Design> derive(const Setup&) {
    return nullptr;
  }
  // Whether the variant can run, and what it promises. The limits of work-groups and of local
  // memory that units() names are checked for all variants.
  template <class Setup>
  static Offer offer(const Runtime&, const Setup&) {
    return {};
  }
  // Called once, when the programs of the offer's units are built.
  template <class Setup>
  static Resources allocate(const Runtime&, const Setup&, const std::vector<cl::Program>&) {
    return {};
  }
};

// A checked problem of an operation, with what follows from it alone.
template <class Spec>
class ProblemOf : public AnyProblem {
 public:
  using Row = VariantRow<Spec>;
  using Problem = typename Spec::Problem;
  using Derived = typename DerivedOf<Spec>::Type;
  using Tune = typename Spec::Tune;

  // Throws Error(invalid_argument) as Spec::check() does.
  explicit ProblemOf(const Problem& problem) : problem_((Spec::check(problem), problem)) {}

  const Derived& problem() const { return problem_; }

  const char* operation() const override { return Spec::kName; }
  std::vector<const VariantInfo*> variants() const override { return infos_of(Spec::variants()); }
  double bytes() const override { return Spec::bytes(problem_); }
  bool by_cost() const override { return Spec::kByCost; }
  std::vector<std::string> tuning_names() const override {
    if constexpr (Spec::kByCost) {
      return Spec::tuning_names(problem_);
    } else {
      const std::string own = Spec::tuning_name(problem_);
      return {own.empty() ? Spec::kRecipe : own};
    }
  }
  Params close(const VariantInfo& variant, const Params& tune,
               const DeviceInfo& device) const override {
    return format_tune(closed(variant, tune, device));
  }
  Offer offer(const Runtime& runtime, const VariantInfo& variant,
              const Params& open = {}) const override {
    const DeviceInfo& info = runtime.info();
    const Tune tune = closed(variant, open, info);
    const Setup<Spec> setup = this->setup(variant, tune, info);
    if (variant.is_for_cpus_only && !quirks::takes_cpu_kernels(info))
      return Offer::no(Lacks::feature, quirks::not_for_cpu_kernels(info));
    Offer out = Spec::offer(runtime, setup);
    if (!out.can()) return out;
    if (out.units.empty()) out.units = Spec::units(setup);
    if (out.design == nullptr) out.design = setup.design;
    return completed(std::move(out), info, bytes());
  }
  std::vector<CompileUnit> units(const VariantInfo& variant, const Params& open,
                                 const DeviceInfo& device) const override {
    const Tune tune = closed(variant, open, device);
    return Spec::units(setup(variant, tune, device));
  }

  // The tune of a variant with its defaults for what `params` leave open.
  Tune closed(const VariantInfo& variant, const Params& params, const DeviceInfo& device) const {
    Tune out = parse_tune(params);
    fill(out, Spec::defaults(static_cast<const Row&>(variant), problem_, device));
    return out;
  }
  // Throws Error(invalid_argument) for a closed tune that the variant does not take.
  Setup<Spec> setup(const VariantInfo& variant, const Tune& tune, const DeviceInfo& device) const {
    Setup<Spec> out{static_cast<const Row&>(variant), problem_, tune, device};
    Spec::check_tune(out);
    for (const auto& field : Spec::fields()) field.check(Spec::kName, tune);
    out.design = Spec::derive(out);
    return out;
  }

  // Error(invalid_argument) for an unknown name, with a list of the names, or a value of another
  // kind.
  static Tune parse_tune(const Params& params) {
    const auto fields = Spec::fields();
    Tune out;
    for (const Params::Entry& entry : params.entries()) {
      std::string known;
      bool found = false;
      for (const auto& field : fields) {
        if (entry.name == field.name) {
          field.set(out, entry.value);
          found = true;
        }
        known += std::string(known.empty() ? "" : ", ") + field.name;
      }
      if (!found) {
        fail(Errc::invalid_argument, Spec::kName,
             "a tune has no '" + entry.name + "'; it has " + (known.empty() ? "nothing" : known));
      }
    }
    return out;
  }
  // The members that are not open.
  static Params format_tune(const Tune& tune) {
    Params out;
    const Tune open{};
    for (const auto& field : Spec::fields()) {
      const Value value = field.get(tune);
      if (!(value == field.get(open))) out.set(field.name, value);
    }
    return out;
  }
  // Closes what is open in `tune` with what `with` says.
  static void fill(Tune& tune, const Tune& with) {
    const Tune open{};
    for (const auto& field : Spec::fields()) {
      if (field.get(tune) == field.get(open)) field.set(tune, field.get(with));
    }
  }
  static const Row& baseline() {
    for (const Row& row : Spec::variants()) {
      if (row.is_baseline) return row;
    }
    fail(Errc::invalid_argument, Spec::kName, "the table has no baseline");
  }

 private:
  Derived problem_;
};

// The programs of a plan's units: the runtime's cache would flatten and hash their sources each time.
// Thread-safe.
class UnitPrograms {
 public:
  // The unit's program, built where it is not there. The limits of its kernel are asked here, once, so
  // that no call finds out about them with half of its commands enqueued: Error(unsupported).
  cl::Program get(const Runtime& runtime, const CompileUnit& unit, const std::string& what);
  bool has(const CompileUnit& unit) const;

 private:
  static std::string key(const CompileUnit& unit);
  // A kernel with its group and its local memory.
  using Asked = std::tuple<std::string, Launch::Sizes, std::size_t>;
  struct Built {
    std::string key;
    cl::Program program;
    std::vector<Asked> asked;  // launches that the device can do
  };
  mutable std::mutex mutex_;
  std::vector<Built> built_;
};

// A plan: constructed once, called often.
//
// Construction chooses variant and tune, builds the programs (or takes them from the runtime's
// cache) and checks everything that does not depend on the buffers. Copies are cheap and share one
// state. All const member functions may be called from several threads.
template <class PlanSpec>
class Plan {
 public:
  using Spec = PlanSpec;
  using Problem = typename Spec::Problem;
  using Tune = typename Spec::Tune;
  using Row = VariantRow<Spec>;
  using Variant = VariantOf<Spec>;
  using Posed = ProblemOf<Spec>;

  // Throws Error: invalid_argument for a value out of range; unsupported, with what is lacking,
  // where the device cannot serve the problem in this way; out_of_resources, build_failed.
  explicit Plan(const Runtime& runtime, const Problem& problem, Variant variant = {},
                const Tune& tune = {});

  const Problem& problem() const { return state().posed->problem(); }
  // The variant that runs; never automatic.
  Variant variant() const { return Variant(row()); }
  // The tune that runs; nothing in it is open.
  const Tune& tune() const { return state().tune; }

  // What the variant promises for this problem.
  const Offer& offer() const { return *state().chosen.offer; }

  // What runs and why, and what was passed over; a line each.
  std::string describe() const { return state().chosen.describe(); }

  // What a plan made with `automatic` would try first. Throws Error as the constructor does.
  static Candidate choice(const Runtime& runtime, const Problem& problem) {
    return clcook::choice(Posed(problem), runtime);
  }

  // Every variant, the recipe's order; automatic is none.
  static const std::vector<Row>& variants() { return Spec::variants(); }

 protected:
  struct State {
    Runtime runtime;
    std::shared_ptr<const Posed> posed;
    Candidate chosen;
    Tune tune;
    std::vector<cl::Program> programs;  // of the offer's units, in the same order
    typename Spec::Resources resources;

    const Row& row() const { return static_cast<const Row&>(*chosen.variant); }
    Setup<Spec> setup() const {
      return {row(), posed->problem(), tune, runtime.info(),
              std::static_pointer_cast<const typename Spec::Design>(chosen.offer->design)};
    }
  };

  const State& state() const {
    if (state_ == nullptr) fail(Errc::invalid_argument, Spec::kName, "the plan was moved from");
    return *state_;
  }
  const Runtime& runtime() const { return state().runtime; }
  const Row& row() const { return state().row(); }
  const typename Spec::Resources& resources() const { return state().resources; }
  Setup<Spec> setup() const { return state().setup(); }
  UnitPrograms& programs() const { return *programs_; }

  // The kernel of a unit; one for each call, see Kernel.
  Kernel kernel(std::size_t unit = 0) const {
    const State& s = state();
    return Kernel(s.runtime, s.programs[unit], s.chosen.offer->units[unit].kernel);
  }

  // Makes this the plan of the first candidate that builds, with what was built before; copies stay
  // as they are. Not at the same time as other calls. Throws Error as the constructor does, and then
  // leaves the plan as it was.
  void take_first(const Runtime& runtime, const std::shared_ptr<const Posed>& posed,
                  const Question& question);

 private:
  std::shared_ptr<UnitPrograms> programs_ = std::make_shared<UnitPrograms>();
  std::shared_ptr<const State> state_;
};

// Not inline, so that an `extern template` keeps them out of files if another file has them.
template <class Spec>
Plan<Spec>::Plan(const Runtime& runtime, const Problem& problem, Variant variant,
                 const Tune& tune) {
  const auto posed = std::make_shared<const Posed>(problem);
  take_first(runtime, posed, question_of(*posed, runtime, variant.row(), Posed::format_tune(tune)));
}

template <class Spec>
void Plan<Spec>::take_first(const Runtime& runtime, const std::shared_ptr<const Posed>& posed,
                            const Question& question) {
  choose(question, runtime.info(), runtime.tuning(), [&](Candidate one) {
    const Tune tune = Posed::parse_tune(one.tune);
    const auto next = std::make_shared<State>(State{runtime, posed, std::move(one), tune, {}, {}});
    for (const CompileUnit& unit : next->chosen.offer->units) {
      const std::string what = std::string(Spec::kRecipe) + "/" + next->row().name +
                               (unit.label.empty() ? "" : " " + unit.label);
      next->programs.push_back(programs_->get(runtime, unit, what));
    }
    next->resources = Spec::allocate(runtime, next->setup(), next->programs);
    state_ = next;
  });
}

// Stands behind the class of an operation, in namespace clcook. If one file of a program has the
// definitions, the operation's plan is compiled there and nowhere else.
#if defined(CLCOOK_IMPLEMENTATION)
#define CLCOOK_PLAN(spec) template class Plan<spec>
#elif CLCOOK_SEPARATE
#define CLCOOK_PLAN(spec) extern template class Plan<spec>
#else
#define CLCOOK_PLAN(spec) static_assert(true, "the plan is compiled where it is used")
#endif

}  // namespace clcook

#if CLCOOK_DEFINITIONS
#include <clcook/core/impl/plan.hpp>
#endif
