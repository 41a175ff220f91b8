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
  // How its calls run, in operations whose variants differ in that; else null.
  cl::Event (*run)(typename Spec::Call&) = nullptr;

  VariantRow(const char* row_name, const char* row_summary, Traits row_traits = {})
      : traits(std::move(row_traits)) {
    name = row_name;
    summary = row_summary;
  }

  // Sets one of its traits; with() sets flags.
  template <class Value>
  VariantRow& set(Value Traits::*member, const std::common_type_t<Value>& value) {
    return traits.*member = value, *this;
  }
  template <class... Flags>
  VariantRow& with(bool Traits::*flag, Flags... flags) {
    for (bool Traits::*one : {flag, flags...}) traits.*one = true;
    return *this;
  }
  VariantRow& runs(cl::Event (*how)(typename Spec::Call&)) { return run = how, *this; }
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
  // Throws Error(invalid_argument) for a value of another kind.
  void set(Tune& tune, const Value& value) const {
    number != nullptr ? void(tune.*number = tune_number(name, value)) : set_other(tune, value);
  }
};
template <class Tune>
TuneField<Tune> tune_field(const char* name, int Tune::*member) {
  return {name, member};
}

// A variant with a tune, for a problem: what a spec's functions work on.
template <class Spec>
struct Setup {
  const VariantRow<Spec>& row;
  const typename Spec::Problem& problem;
  const typename Spec::Tune& tune;
  const DeviceInfo& device;  // of units() for tools perhaps a device that is not there
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

// Throws Error(invalid_argument) that names the value and the range. NaN lies in none.
template <class T>
void check_range(const char* where, const char* name, T value, std::common_type_t<T> least,
                 std::common_type_t<T> most) {
  if (value >= least && value <= most) return;
  fail(Errc::invalid_argument, where,
       text(name, " must be ", least, " to ", most, ", got ", value));
}

// Throws Error(invalid_argument) that names the value and the list.
inline void check_one_of(const char* where, const char* name, int value,
                         std::initializer_list<int> values) {
  std::string list;
  for (const int& one : values) {
    if (value == one) return;
    const bool last = &one == values.end() - 1;
    list += (list.empty() ? "" : last ? " or " : ", ") + std::to_string(one);
  }
  fail(Errc::invalid_argument, where, text(name, " must be ", list, ", got ", value));
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
  // Whether automatic goes by cost even where a winner was measured, because the winner depends on
  // more than the number of bytes. The measured times then count as each variant's factor.
  static constexpr bool kByCost = false;

  // What the operation's functions ask of a row.
  struct Traits {};
  // What a plan keeps on the device, apart from its programs: see allocate().
  struct Resources {};
  // What the functions of rows get of a call, if its variants have them: see VariantRow::runs().
  struct Call {};

  // The name under which tunings are filed, if several kinds of problems have their own winners;
  // empty: kRecipe.
  template <class Problem>
  static std::string tuning_name(const Problem&) {
    return {};
  }
  // Where to look for the factor of a variant, the nearest kind of problem first; empty:
  // tuning_name().
  template <class Problem>
  static std::vector<std::string> tuning_names(const Problem&) {
    return {};
  }
  // Throws Error(invalid_argument) for a closed tune that breaks a rule of the variant. All
  // variants refuse negative numbers.
  template <class Setup>
  static void check_tune(const Setup&) {}
  // Whether the variant can run, and what it promises. The limits of work-groups and of local
  // memory that units() names are checked for all variants.
  template <class Setup>
  static Offer offer(const Runtime&, const Setup&) {
    return {};
  }
  // Called once, when the programs are built; with a third parameter `const Made<Spec>&` for specs
  // that need more.
  template <class Setup>
  static Resources allocate(const Runtime&, const Setup&) {
    return {};
  }
};

// What else allocate() may look at.
template <class Spec>
struct Made {
  const Offer& offer;
  const std::vector<cl::Program>& programs;  // of the offer's units, in the same order
  const typename Spec::Resources* before;    // of the plan that this one replaces, or null
};

// What is the same for the plans of all problems: names and tunes. Needs no device.
template <class Spec>
struct PlanRules {
  using Row = VariantRow<Spec>;
  using Problem = typename Spec::Problem;
  using Tune = typename Spec::Tune;
  static constexpr const char* kRecipe = Spec::kRecipe;

  static double bytes(const Problem& problem) { return Spec::bytes(problem); }

  static const Row& baseline() {
    for (const Row& row : Spec::variants()) {
      if (row.is_baseline) return row;
    }
    fail(Errc::invalid_argument, Spec::kName, "the table has no baseline");
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

  static std::string tuning_name(const Problem& problem) {
    const std::string own = Spec::tuning_name(problem);
    return own.empty() ? Spec::kRecipe : own;
  }

  // `tune` with the variant's defaults for what is open. For tools.
  static Params whole_tune(const Row& row, const Problem& problem, const Params& tune,
                           const DeviceInfo& device) {
    Tune out = parse_tune(tune);
    close(out, row, problem, device);
    return format_tune(out);
  }

  // The kernels of a variant for a device, `tune` with its defaults filled in. For tools. Throws
  // Error as a plan does.
  static std::vector<CompileUnit> units(const Row& row, const Problem& problem, Tune tune,
                                        const DeviceInfo& device = {}) {
    Spec::check(problem);
    close(tune, row, problem, device);
    const Setup<Spec> setup{row, problem, tune, device};
    Spec::check_tune(setup);
    return Spec::units(setup);
  }

  // The offer of a variant with a closed tune, the device's limits included. Throws
  // Error(invalid_argument) for a tune that the variant does not take.
  static Offer offer(const Runtime& runtime, const Row& row, const Problem& problem,
                     const Tune& tune) {
    const Setup<Spec> setup{row, problem, tune, runtime.info()};
    Spec::check_tune(setup);
    for (const auto& field : Spec::fields()) {
      const Value value = field.get(tune);
      if (const auto* integer = std::get_if<std::int64_t>(&value); integer && *integer < 0) {
        fail(Errc::invalid_argument, Spec::kName,
             text(field.name, " must not be negative, got ", *integer));
      }
    }
    const DeviceInfo& info = runtime.info();
    if (row.is_for_cpus_only && !quirks::takes_cpu_kernels(info))
      return Offer::no(Lacks::feature, quirks::not_for_cpu_kernels(info));
    Offer out = Spec::offer(runtime, setup);
    if (!out.can()) return out;
    if (out.units.empty()) out.units = Spec::units(setup);
    out = within_limits(std::move(out), info);
    if (!out.can()) return out;
    Work& work = out.work;
    if (work.bytes_read + work.bytes_written + work.operations == 0)
      work.bytes_read = Spec::bytes(problem);
    if (work.launches == 0) work.launches = static_cast<double>(out.units.size());
    return out;
  }

  // The same for a checked problem and a tune with open members: they take the variant's defaults.
  static Offer offer_of(const Runtime& runtime, const Row& row, const Problem& problem, Tune tune) {
    Spec::check(problem);
    close(tune, row, problem, runtime.info());
    return offer(runtime, row, problem, tune);
  }

  // What choose() asks of a problem; it holds references to all arguments.
  static Question question(const Runtime& runtime, const Problem& problem, VariantOf<Spec> wanted,
                           const Tune& tune) {
    Spec::check(problem);
    Question out;
    out.operation = Spec::kName;
    out.variants = infos_of(Spec::variants());
    out.wanted = wanted.row();
    out.tune = format_tune(tune);
    out.bytes = Spec::bytes(problem);
    out.tuning_name = tuning_name(problem);
    out.factor_names = Spec::tuning_names(problem);
    if (out.factor_names.empty()) out.factor_names.push_back(out.tuning_name);
    out.by_cost = Spec::kByCost;
    out.close = [&](const VariantInfo& variant, const Params& open) {
      return whole_tune(static_cast<const Row&>(variant), problem, open, runtime.info());
    };
    out.offer = [&](const VariantInfo& variant, const Params& closed) {
      return offer(runtime, static_cast<const Row&>(variant), problem, parse_tune(closed));
    };
    return out;
  }

  // What a plan would try first. Throws Error as a plan does.
  static Candidate choice(const Runtime& runtime, const Problem& problem,
                          VariantOf<Spec> wanted = {}, const Tune& tune = {}) {
    Candidate out;
    choose(question(runtime, problem, wanted, tune), runtime.info(), runtime.tuning(),
           [&](Candidate one) { out = std::move(one); });
    return out;
  }

 private:
  // Gives open members the variant's defaults.
  static void close(Tune& tune, const Row& row, const Problem& problem, const DeviceInfo& device) {
    fill(tune, Spec::defaults(row, problem, device));
  }
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
  using Rules = PlanRules<Spec>;

  // Throws Error: invalid_argument for a value out of range; unsupported, with what is lacking,
  // where the device cannot serve the problem in this way; out_of_resources, build_failed.
  explicit Plan(const Runtime& runtime, const Problem& problem, Variant variant = {},
                const Tune& tune = {});

  const Problem& problem() const { return state().problem; }
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
    return Rules::choice(runtime, problem);
  }

  // Every variant, the recipe's order; automatic is none.
  static const std::vector<Row>& variants() { return Spec::variants(); }

 protected:
  struct State {
    Runtime runtime;
    Problem problem;
    Candidate chosen;
    Tune tune;
    std::vector<cl::Program> programs;  // of the offer's units, in the same order
    std::shared_ptr<UnitPrograms> built;
    typename Spec::Resources resources;
  };

  const State& state() const {
    if (state_ == nullptr) fail(Errc::invalid_argument, Spec::kName, "the plan was moved from");
    return *state_;
  }
  const Runtime& runtime() const { return state().runtime; }
  const Row& row() const { return static_cast<const Row&>(*state().chosen.variant); }
  const typename Spec::Resources& resources() const { return state().resources; }
  Setup<Spec> setup() const {
    return {row(), state().problem, state().tune, state().runtime.info()};
  }

  // The kernel of a unit; one for each call, see Kernel. `on` is the runtime of the call's
  // CallScope, if it has one.
  Kernel kernel(const Runtime& on, std::size_t unit = 0) const {
    const State& s = state();
    return Kernel(on, s.programs[unit], s.chosen.offer->units[unit].kernel);
  }
  Kernel kernel() const { return kernel(runtime()); }
  // Those of all units.
  std::vector<Kernel> kernels(const Runtime& on) const {
    std::vector<Kernel> all;
    all.reserve(state().programs.size());
    for (std::size_t unit = 0; unit < state().programs.size(); ++unit)
      all.push_back(kernel(on, unit));
    return all;
  }

  // Makes this the plan of another problem, with what it has built; copies stay as they are.
  // Variants for which `why_not` returns a text are left out. Not at the same time as other
  // calls. Throws Error as the constructor does, and then leaves the plan as it was.
  void replan(const Problem& problem, Variant wanted,
              const std::function<std::string(const Row&)>& why_not) {
    const std::shared_ptr<const State> before = state_;
    Question question = Rules::question(before->runtime, problem, wanted, Tune{});
    question.offer = [&, offer = question.offer](const VariantInfo& variant, const Params& tune) {
      std::string why = why_not(static_cast<const Row&>(variant));
      return why.empty() ? offer(variant, tune) : Offer::no(Lacks::problem, std::move(why));
    };
    choose(question, before->runtime.info(), before->runtime.tuning(), [&](Candidate one) {
      state_ = make(before->runtime, problem, std::move(one), before.get());
    });
  }
  // Whether the plan has built a unit's program.
  bool is_built(const CompileUnit& unit) const { return state().built->has(unit); }
  // Builds the programs of units for a replan().
  void build(const std::vector<CompileUnit>& units) {
    for (const CompileUnit& unit : units) state().built->get(runtime(), unit, unit.kernel);
  }

 private:
  template <class S, class = void>
  struct TakesMade : std::false_type {};
  template <class S>
  struct TakesMade<S, std::void_t<decltype(S::allocate(
                          std::declval<const Runtime&>(), std::declval<const Setup<S>&>(),
                          std::declval<const Made<S>&>()))>> : std::true_type {};

  static std::shared_ptr<const State> make(const Runtime& runtime, const Problem& problem,
                                           Candidate one, const State* before) {
    const Row& row = static_cast<const Row&>(*one.variant);
    const Tune tune = Rules::parse_tune(one.tune);
    auto state = std::make_shared<State>(State{runtime, problem, std::move(one), tune, {}, {}, {}});
    const Offer& offer = *state->chosen.offer;
    state->built = before != nullptr ? before->built : std::make_shared<UnitPrograms>();
    for (const CompileUnit& unit : offer.units) {
      const std::string what = std::string(Spec::kRecipe) + "/" + row.name +
                               (unit.label.empty() ? "" : " " + unit.label);
      state->programs.push_back(state->built->get(runtime, unit, what));
    }
    const Setup<Spec> setup{row, state->problem, state->tune, runtime.info()};
    if constexpr (TakesMade<Spec>::value) {
      state->resources = Spec::allocate(
          runtime, setup,
          Made<Spec>{offer, state->programs, before != nullptr ? &before->resources : nullptr});
    } else {
      state->resources = Spec::allocate(runtime, setup);
    }
    return state;
  }

  std::shared_ptr<const State> state_;
};

// Not inline, so that an `extern template` keeps them out of files if another file has them.
template <class Spec>
Plan<Spec>::Plan(const Runtime& runtime, const Problem& problem, Variant variant,
                 const Tune& tune) {
  choose(Rules::question(runtime, problem, variant, tune), runtime.info(), runtime.tuning(),
         [&](Candidate one) { state_ = make(runtime, problem, std::move(one), nullptr); });
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
