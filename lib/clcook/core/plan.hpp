// A plan: a variant with a tune that was offered and built. See operation.hpp for how an operation
// describes itself; it derives its class from Plan<Spec>.
#pragma once

#include <clcook/core/call_order.hpp>
#include <clcook/core/choose.hpp>
#include <clcook/core/error.hpp>
#include <clcook/core/inline.hpp>
#include <clcook/core/launch.hpp>
#include <clcook/core/operation.hpp>
#include <clcook/core/params.hpp>
#include <clcook/core/quirks.hpp>
#include <clcook/core/runtime.hpp>
#include <clcook/core/tuning.hpp>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace clcook {

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
    std::vector<std::string> own = Spec::tuning_names(problem_);
    if (own.empty()) own.emplace_back(Spec::kRecipe);
    return own;
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
    if (variant.is_for_cpus && quirks::breaks_cpu_kernels(info)) {
      return Offer::no(Lacks::implementation,
                       info.platform_version + " breaks vectors of 16 floats");
    }
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
    const Tune own = Spec::defaults(static_cast<const Row&>(variant), problem_, device);
    for (const auto& one : Spec::axes()) {
      if (one.is_open(out) && !one.is_unset(own)) one.set(out, one.get(own));
      one.close(out, variant);
    }
    return out;
  }
  // Throws Error(invalid_argument) for a closed tune that the variant does not take.
  Setup<Spec> setup(const VariantInfo& variant, const Tune& tune, const DeviceInfo& device) const {
    Setup<Spec> out{static_cast<const Row&>(variant), problem_, tune, device};
    for (const auto& one : Spec::axes()) one.check(Spec::kName, tune, variant);
    Spec::check_tune(out);
    for (const auto& one : Spec::axes()) one.check_sign(Spec::kName, tune);
    out.design = Spec::derive(out);
    return out;
  }

  // Error(invalid_argument) for an unknown name, with a list of the names, or a value of another
  // kind.
  static Tune parse_tune(const Params& params) {
    Tune out;
    for (const Params::Entry& entry : params.entries()) {
      std::string known;
      bool found = false;
      for (const auto& one : Spec::axes()) {
        if (entry.name == one.name) {
          one.set(out, entry.value);
          found = true;
        }
        known += (known.empty() ? "" : ", ") + one.name;
      }
      if (!found) {
        fail(Errc::invalid_argument, Spec::kName,
             "a tune has no '" + entry.name + "'; it has " + (known.empty() ? "nothing" : known));
      }
    }
    return out;
  }
  // What is set; the rest is open.
  static Params format_tune(const Tune& tune) {
    Params out;
    for (const auto& one : Spec::axes())
      if (!one.is_unset(tune)) out.set(one.name, one.get(tune));
    return out;
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

// Throws Error(out_of_resources) where inputs and outputs of so many bytes cannot lie on the device,
// whatever their buffers are: the half of them, which one would hold that is both, is larger than its
// memory.
CLCOOK_INLINE void check_memory(const Runtime& runtime, double bytes, const char* where);

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
  if constexpr (Spec::kChecksMemory) check_memory(runtime, Spec::bytes(problem), Spec::kName);
  take_first(runtime, posed, question_of(*posed, runtime, variant.row(), Posed::format_tune(tune)));
}

template <class Spec>
void Plan<Spec>::take_first(const Runtime& runtime, const std::shared_ptr<const Posed>& posed,
                            const Question& question) {
  choose(question, runtime.info(), runtime.tuning(), [&](Candidate one) {
    const Tune tune = Posed::parse_tune(one.tune);
    if (!runtime.cache().note().empty()) one.notes.push_back(runtime.cache().note());
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
