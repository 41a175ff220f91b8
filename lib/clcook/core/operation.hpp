// How an operation describes itself: its spec (see PlainSpec), with a table of variants, a row each,
// and the axes of its tune. Nothing but the table lists variants: the class, the registry, the tools and
// the pages read the rows.
#pragma once

#include <clcook/core/axis.hpp>
#include <clcook/core/choose.hpp>
#include <clcook/core/defines.hpp>
#include <clcook/core/embedded_file.hpp>
#include <clcook/core/error.hpp>
#include <clcook/core/inline.hpp>
#include <clcook/core/launch.hpp>
#include <clcook/core/names.hpp>
#include <clcook/core/params.hpp>
#include <clcook/core/range.hpp>
#include <clcook/core/runtime.hpp>
#include <clcook/core/source.hpp>
#include <clcook/core/variant.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace clcook {

// A variant with the traits that the operation's own functions read: one row of its table. Rows are
// made with their name, their summary and their traits. The functions below set the rest, and return
// the row.
template <class Spec>
struct VariantRow : VariantInfo {
  using Traits = typename Spec::Traits;
  using Tune = typename Spec::Tune;

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
  // Takes all axes of the operation, or those that are named, with values of its own.
  VariantRow& tunes() {
    for (const auto& one : Spec::axes()) axes.push_back(one);
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
  VariantRow& costs_like(const char* variant) { return costs_as = variant, *this; }
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
// The definitions of the tune.
template <class Spec>
void set_tune(Defines& defines, const Setup<Spec>& setup) {
  for (const auto& one : Spec::axes()) {
    if (one.is_defined) {
      defines.set("CLCOOK_" + upper_case(std::string(Spec::kRecipe) + "_" + one.name),
                  setup.tune.*one.number);
    }
  }
}
// The same where the tune's group is one number.
template <class Spec>
CompileUnit kernel_unit(const Setup<Spec>& setup, const std::string& name,
                        const embedded::File& file) {
  return kernel_unit(setup, name, file, {static_cast<std::size_t>(setup.tune.group), 1, 1});
}

// The same for a variant with one kernel, which has its name, and the tune's definitions.
template <class Spec>
CompileUnit variant_unit(const Setup<Spec>& setup, const embedded::File& file,
                         const Launch::Sizes& group) {
  CompileUnit out = kernel_unit(setup, setup.row.name, file, group);
  set_tune(out.defines, setup);
  return out;
}
template <class Spec>
CompileUnit variant_unit(const Setup<Spec>& setup, const embedded::File& file) {
  return variant_unit(setup, file, {static_cast<std::size_t>(setup.tune.group), 1, 1});
}

// What a spec must have, and defaults for what most specs need not have. All of it is static.
//
//   struct Problem, Tune                     what callers give; Tune{} leaves all open
//   kName, kRecipe                           "LineBlur" for messages, "line_blur" for files
//   variants() -> const vector<VariantRow>&  the table
//   axes() -> const vector<Axis<Tune>>&      the members of Tune
//   check(problem)                           Error(invalid_argument) for a value out of range
//   bytes(problem) -> double                 of inputs and outputs: what tunings are filed under
//   units(setup) -> vector<CompileUnit>      its kernels
struct PlainSpec {
  // See AnyProblem::by_cost().
  static constexpr bool kByCost = false;
  // Whether a plan is refused whose pictures the device's memory cannot hold: see check_memory().
  static constexpr bool kChecksMemory = false;

  // What the operation's functions ask of a row.
  struct Traits {};
  // What follows from a setup: see derive().
  using Design = clcook::Design;
  // What a plan keeps on the device, apart from its programs: see allocate().
  struct Resources {};
  // What the functions of rows get of a call, if its variants have them: see VariantRow::runs().
  struct Call {};

  // The names under which tunings are filed, if several kinds of problems have their own winners: see
  // AnyProblem::tuning_names(); empty: kRecipe.
  template <class Problem>
  static std::vector<std::string> tuning_names(const Problem&) {
    return {};
  }
  // For defaults that do not follow from axes and rows: a tune for a row, a problem and a device. What
  // is open in it has the axis' default.
  template <class Row, class Problem>
  static auto defaults(const Row&, const Problem&, const DeviceInfo&) {
    return typename Row::Tune{};
  }
  // Throws Error(invalid_argument) for a closed tune that breaks a rule of the variant, beyond what its
  // axes say.
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

}  // namespace clcook
