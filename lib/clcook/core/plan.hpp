// What all operations share: a variant is a row of its operation's table, a row makes offers, and a
// plan is a row with a tune that was offered and built.
//
// An operation describes itself in a struct, its spec (see PlainSpec), and derives its class from
// Plan<Spec>. Nothing but the spec's table lists variants: the class, the registry, the tools and
// the pages read the rows.
#pragma once

#include <algorithm>
#include <any>
#include <clcook/core/call_order.hpp>
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

// A kernel and the program that it is in.
struct CompileUnit {
  std::string kernel;  // the kernel's name
  std::string label;   // tells the units of one variant apart, such as "rgba32f -> rgba32f"
  Source source;
  Defines defines;
  std::string options;           // beyond the defaults of Runtime::build()
  Launch::Sizes group{0, 0, 0};  // work-items per work-group; 0: not known before the launch
  std::size_t local_bytes = 0;   // of its __local arguments
};

// What a variant says of a problem.
struct Offer {
  Lacks lacks = Lacks::nothing;  // what it cannot do without
  std::string why;               // where it cannot: the value and the rule
  Work work;                     // what it moves and computes, and in how many launches
  double max_error = 0;  // no result is further off before it is rounded to the result's type; in
                         // units of the largest value
  double psnr = std::numeric_limits<double>::infinity();  // dB that results reach; also of an offer
                                                          // that lacks nothing but quality
  bool in_place = false;                                  // source and result may overlap
  std::vector<CompileUnit> units;                         // its kernels
  std::any design;    // what the variant worked out for this, and needs again when it is made
  bool last = false;  // automatic takes it behind all others: for a size that it is slow at

  bool can() const { return lacks == Lacks::nothing; }
  static Offer no(Lacks lacks, std::string why) {
    Offer out;
    out.lacks = lacks;
    out.why = std::move(why);
    return out;
  }
};

// A variant: one row of its operation's table. Rows are made with their name, their summary and
// the traits that the operation's own functions read; the functions below set whatever else
// is not as usual, and return the row.
template <class Spec>
struct VariantRow {
  using Traits = typename Spec::Traits;

  std::string name;     // as in the kernel's name
  std::string summary;  // one line: what it changes
  Traits traits;
  std::vector<TuneAxis> axes;     // what can be tuned
  bool is_baseline = false;       // exactly one row: the kernel that the others are compared with
  bool is_approximate = false;    // another result than the baseline's, by design
  bool is_by_name = false;        // automatic never takes it
  bool is_for_cpus = false;       // automatic takes it on CPUs only, and there first
  bool is_for_cpus_only = false;  // and by name it is had there only: quirks::takes_cpu_kernels()
  bool is_preferred = false;  // automatic takes it where nothing was measured and costs are equal
  std::string needs;          // a device feature that it cannot do without
  std::string predecessor;    // the variant that it is one step from; none of the baseline
  std::string change;         // what that step changes, in a few words

  VariantRow(const char* row_name, const char* row_summary, Traits row_traits = {})
      : name(row_name), summary(row_summary), traits(std::move(row_traits)) {}

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

// The checked name of a variant: automatic, or a row of the table. It converts from text; throws
// Error(invalid_argument) with a list of the names if the operation has no such variant.
template <class Spec>
class VariantOf {
 public:
  VariantOf() = default;              // automatic
  VariantOf(std::string_view name) {  // NOLINT(google-explicit-constructor)
    if (name == "automatic") return;
    std::string known = "automatic";
    for (const VariantRow<Spec>& row : Spec::variants()) {
      if (row.name == name) {
        row_ = &row;
        return;
      }
      known += ", " + row.name;
    }
    fail(Errc::invalid_argument, Spec::kName,
         text("there is no variant '", name, "'; known are ", known));
  }
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

// A member of an operation's Tune, with its name. Its value in a default Tune means open: the plan
// fills it in.
template <class Tune>
struct TuneField {
  const char* name;
  std::function<Value(const Tune&)> get;
  std::function<void(Tune&, const Value&)> set;  // Error(invalid_argument) for another kind
};

// A field that is one int.
template <class Tune>
TuneField<Tune> tune_field(const char* name, int Tune::*member) {
  return {
      name, [member](const Tune& tune) { return Value(std::int64_t{tune.*member}); },
      [name, member](Tune& tune, const Value& value) {
        const auto* integer = std::get_if<std::int64_t>(&value);
        if (integer == nullptr || *integer < 0 || *integer > std::numeric_limits<int>::max()) {
          fail(Errc::invalid_argument, "tune",
               text(name, " must be a whole number of at least 0, got '", to_string(value), "'"));
        }
        tune.*member = static_cast<int>(*integer);
      }};
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

namespace detail {

// A function that the caller keeps alive.
template <class Result, class Parameter>
class Callback {
 public:
  template <class Function>
  Callback(const Function& function)  // NOLINT(google-explicit-constructor)
      : function_(&function), call_([](const void* called, Parameter parameter) -> Result {
          return (*static_cast<const Function*>(called))(parameter);
        }) {}
  Result operator()(Parameter parameter) const { return call_(function_, parameter); }

 private:
  const void* function_;
  Result (*call_)(const void*, Parameter);
};

}  // namespace detail

// A variant with a closed tune, and how it came to be chosen.
template <class Spec>
struct Candidate {
  const VariantRow<Spec>* row = nullptr;
  typename Spec::Tune tune{};
  Offer offer;
  std::string reason;              // one clause: "measured on this device and driver"
  std::vector<std::string> notes;  // a line each: what was passed over before it, and why
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

  static bool equal(const Tune& a, const Tune& b) {
    for (const auto& field : Spec::fields()) {
      if (!(field.get(a) == field.get(b))) return false;
    }
    return true;
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
    for (const CompileUnit& unit : out.units) {
      if (unit.group[0] == 0) continue;
      const std::size_t items = unit.group[0] * unit.group[1] * unit.group[2];
      if (items > info.max_group) {
        return Offer::no(Lacks::work_group,
                         text("a work-group of ", items,
                              " work-items exceeds the device's limit of ", info.max_group));
      }
      for (std::size_t d = 0; d < 3; ++d) {
        if (unit.group[d] > info.max_items[d]) {
          return Offer::no(Lacks::work_group,
                           text("work-group dimension ", d, " of ", unit.group[d],
                                " exceeds the device's limit of ", info.max_items[d]));
        }
      }
      if (unit.local_bytes > info.local_mem) {
        return Offer::no(
            Lacks::local_memory,
            text(unit.local_bytes, " bytes of local memory exceed the device's limit of ",
                 info.local_mem));
      }
    }
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

  // Whether automatic may take the variant on such a device.
  static bool may_take(const Row& row, const DeviceInfo& device) {
    return !row.is_by_name && (device.cpu || !row.is_for_cpus);
  }

  // Goes through the candidates for a plan of this problem until `accept` takes one. With a name
  // these are the tunes of that variant, otherwise those of all variants that automatic may take.
  // Measured winners come first, then the defaults, the cheapest variant first. Each default is
  // followed by the variant's tune axes, in case only another tune fits. If `accept` throws
  // Error(unsupported), the next candidate is tried: a kernel's limits are known only when it is
  // built. If `why_not` returns a text for a variant, the variant is left out for that reason.
  //
  // The content of a tuning file is never an error. If no candidate is left, throws the Error of
  // the first that was refused.
  using Accept = detail::Callback<void, const Candidate<Spec>&>;
  using WhyNot = detail::Callback<std::string, const Row&>;
  static void choose(const Runtime& runtime, const Problem& problem, VariantOf<Spec> wanted,
                     const Tune& tune, const Accept& accept, const WhyNot& why_not) {
    Spec::check(problem);
    std::vector<std::pair<const Row*, Tune>> tried;
    std::vector<std::string> notes = runtime.tuning().notes();
    std::vector<Ranked> ranking;
    std::optional<Error> refused;
    // What why_not() returns, called once for each row.
    std::vector<std::pair<const Row*, std::string>> asked;
    const auto excluded = [&](const Row& row) -> std::string {
      for (const auto& [known, why] : asked) {
        if (known == &row) return why;
      }
      asked.emplace_back(&row, why_not(row));
      return asked.back().second;
    };
    // Fills in what is open in the tune and tries it; returns whether it was taken.
    const auto attempt = [&](const Row& row, const Tune* with, const std::string& reason,
                             Offer* known_offer = nullptr) {
      Candidate<Spec> one{&row, tune, {}, reason, {}};
      const std::string why = excluded(row);
      const auto refuse = [&](const Error& error) {
        notes.push_back(describe(row, one.tune) + ": " + error.what());
        if (!refused) refused = error;
        return false;
      };
      if (!why.empty()) return refuse(refusal(row, Offer::no(Lacks::problem, why)));
      try {
        if (with != nullptr) fill(one.tune, *with);
        close(one.tune, row, problem, runtime.info());
        for (const auto& [known, how] : tried) {
          if (known == &row && equal(how, one.tune)) return false;
        }
        tried.emplace_back(&row, one.tune);
        one.offer = known_offer != nullptr ? std::move(*known_offer)
                                           : offer(runtime, row, problem, one.tune);
      } catch (const Error& error) {
        if (error.code != Errc::invalid_argument) throw;
        return refuse(error);  // a tune that the variant does not take
      }
      if (!one.offer.can()) return refuse(refusal(row, one.offer));
      one.notes = notes;
      for (const Ranked& other : ranking) {
        if (other.row != &row) one.notes.push_back(other.note);
      }
      try {
        accept(one);
        return true;
      } catch (const Error& error) {
        if (error.code != Errc::unsupported) throw;
        return refuse(error);
      }
    };
    // The same, followed by the row's axes.
    const auto attempt_all = [&](const Row& row, const std::string& reason,
                                 Offer* known_offer = nullptr) {
      if (attempt(row, nullptr, reason, known_offer)) return true;
      if (row.axes.empty()) return false;
      for (const Params& values : combinations(row.axes)) {
        const Tune with = parse_tune(values);
        if (attempt(row, &with, "the first of its tunes that fits the device")) return true;
      }
      return false;
    };

    if (!Spec::kByCost) {
      const TuningChoice measured =
          runtime.tuning().choose(runtime.info(), tuning_name(problem), Spec::bytes(problem),
                                  wanted.is_automatic() ? "" : wanted.name());
      const bool any = measured.match != TuningChoice::Match::none;
      const std::string reason = any ? "the built-in default" : measured.where;
      const Row* winner = nullptr;
      if (any) {
        const std::string what = "what was measured, '" + measured.entry.variant +
                                 (measured.entry.tune.empty() ? "" : " " + measured.entry.tune) +
                                 "', ";
        try {
          winner = VariantOf<Spec>(measured.entry.variant).row();
          const Tune with = parse_tune(Params::parse(measured.entry.tune));
          if (winner == nullptr || (wanted.is_automatic() && !may_take(*winner, runtime.info()))) {
            winner = nullptr;
            notes.push_back(what + "automatic does not take");
          } else if (attempt(*winner, &with, measured.where)) {
            return;
          }
        } catch (const Error& error) {
          if (error.code != Errc::invalid_argument) throw;
          notes.push_back(what + "is not of this version: " + error.what());
        }
      }
      if (wanted.is_automatic() && winner != nullptr && attempt_all(*winner, reason)) return;
      if (!wanted.is_automatic() && attempt_all(*wanted.row(), reason)) return;
    } else if (!wanted.is_automatic() && attempt_all(*wanted.row(), "as was asked for")) {
      return;
    }
    if (wanted.is_automatic()) {
      ranking = ranked(runtime, problem, tune, excluded);
      for (Ranked& one : ranking) {
        if (one.may_take && attempt_all(*one.row, one.reason, one.offer ? &*one.offer : nullptr))
          return;
      }
    }
    if (!wanted.is_automatic() || refused->code != Errc::unsupported) throw Error(*refused);
    std::string all;
    double best = 0;  // dB
    for (const Ranked& one : ranking) {
      all += "; " + one.note;
      if (one.offer && one.offer->lacks == Lacks::quality) best = std::max(best, one.offer->psnr);
    }
    if (best > 0) all = "; the best that can be had is " + three_digits(best) + " dB" + all;
    throw Error(Errc::unsupported, Spec::kName, "no variant can serve this problem" + all, 0, {},
                refused->lacks);
  }
  static void choose(const Runtime& runtime, const Problem& problem, VariantOf<Spec> wanted,
                     const Tune& tune, const Accept& accept) {
    choose(runtime, problem, wanted, tune, accept, [](const Row&) { return std::string(); });
  }

  // "coalesced group=128"
  static std::string describe(const Row& row, const Tune& tune) {
    const std::string how = format_tune(tune).str();
    return row.name + (how.empty() ? "" : " " + how);
  }

  static std::string describe(const Candidate<Spec>& one) {
    std::string out = describe(*one.row, one.tune) + ", " + one.reason + ": " + one.row->summary;
    for (const std::string& note : one.notes) out += "\n" + note;
    return out;
  }

  static Error refusal(const Row& row, const Offer& offer) {
    return Error(Errc::unsupported, Spec::kName, "the variant " + row.name + ": " + offer.why, 0,
                 {}, offer.lacks);
  }

 private:
  // Gives open members the variant's defaults.
  static void close(Tune& tune, const Row& row, const Problem& problem, const DeviceInfo& device) {
    fill(tune, Spec::defaults(row, problem, device));
  }

  // What a row offers.
  struct Ranked {
    const Row* row = nullptr;
    bool may_take = true;
    std::optional<Offer> offer;                             // none: it does not take the tune
    double cost = std::numeric_limits<double>::infinity();  // microseconds
    TuningFactor factor;                                    // of its work's time
    std::string reason;                                     // why it would be taken
    std::string note;                                       // what it offers
  };

  // All rows, the one that should take the least time first. Rows that cannot run come last, for
  // their messages.
  static std::vector<Ranked> ranked(const Runtime& runtime, const Problem& problem,
                                    const Tune& tune, const WhyNot& why_not) {
    const Rates rates = device_rates(runtime);
    std::vector<std::string> names = Spec::tuning_names(problem);
    if (names.empty()) names.push_back(tuning_name(problem));
    std::vector<Ranked> in_order;
    double largest = 0;  // of the measured factors
    for (const Row& row : Spec::variants()) {
      Ranked one;
      one.row = &row;
      one.reason = "the built-in default";
      if (!may_take(row, runtime.info())) {
        one.may_take = false;
        one.note = row.name + (row.is_by_name ? ": only where it is asked for" : ": for CPUs only");
        in_order.push_back(std::move(one));
        continue;
      }
      if (std::string why = why_not(row); !why.empty()) {
        one.note = row.name + ": " + std::move(why);
        in_order.push_back(std::move(one));
        continue;
      }
      try {
        Tune with = tune;
        close(with, row, problem, runtime.info());
        one.offer = offer(runtime, row, problem, with);
      } catch (const Error& error) {
        if (error.code != Errc::invalid_argument) throw;
        one.note = row.name + ": " + error.what();
      }
      if (one.offer && !one.offer->can()) one.note = row.name + ": " + one.offer->why;
      if (one.offer && one.offer->can()) {
        one.factor = runtime.tuning().factor(runtime.info(), names, Spec::bytes(problem), row.name);
        largest = std::max(largest, one.factor.value);
      }
      in_order.push_back(std::move(one));
    }
    std::vector<Ranked> all;
    for (Ranked& one : in_order) {
      if (one.offer && one.offer->can()) {
        // A variant that was not measured counts as the worst of the measured ones.
        if (one.factor.value == 0 && largest > 0)
          one.factor = {largest, "by its work, as badly as the worst that was measured"};
        if (one.factor.value == 0) one.factor.value = 1;
        one.cost = microseconds(rates, one.offer->work) * one.factor.value;
        const std::string about = "about " + three_digits(one.cost) + " us";
        one.note = one.row->name + ": " + about;
        if (math::isfinite(one.offer->psnr))
          one.note += " and " + three_digits(one.offer->psnr) + " dB";
        one.reason = about + ", " + one.factor.where;
      }
      // Inserts it behind its equals: less to compile than a sort of all.
      all.insert(std::upper_bound(all.begin(), all.end(), one, before), std::move(one));
    }
    return all;
  }

  static bool before(const Ranked& a, const Ranked& b) {
    if (math::isfinite(a.cost) != math::isfinite(b.cost)) return math::isfinite(a.cost);
    const auto last = [](const Ranked& one) { return one.offer && one.offer->last; };
    if (last(a) != last(b)) return last(b);
    if (!Spec::kByCost && a.row->is_for_cpus != b.row->is_for_cpus) return a.row->is_for_cpus;
    if (a.cost < b.cost || b.cost < a.cost) return a.cost < b.cost;
    return a.row->is_preferred && !b.row->is_preferred;
  }
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
  Variant variant() const { return Variant(*state().chosen.row); }
  // The tune that runs; nothing in it is open.
  const Tune& tune() const { return state().chosen.tune; }

  // What the variant promises for this problem.
  const Offer& offer() const { return state().chosen.offer; }

  // What runs and why, and what was passed over; a line each.
  std::string describe() const { return Rules::describe(state().chosen); }

  // What a plan made with `automatic` would try first. Throws Error as the constructor does.
  static Candidate<Spec> choice(const Runtime& runtime, const Problem& problem);

  // Every variant, the recipe's order; automatic is none.
  static const std::vector<Row>& variants() { return Spec::variants(); }

 private:
  class Programs;

 protected:
  struct State {
    Runtime runtime;
    Problem problem;
    Candidate<Spec> chosen;
    std::vector<cl::Program> programs;  // of the offer's units, in the same order
    std::shared_ptr<Programs> built;
    typename Spec::Resources resources;
  };

  const State& state() const {
    if (state_ == nullptr) fail(Errc::invalid_argument, Spec::kName, "the plan was moved from");
    return *state_;
  }
  const Runtime& runtime() const { return state().runtime; }
  const Row& row() const { return *state().chosen.row; }
  const typename Spec::Resources& resources() const { return state().resources; }
  Setup<Spec> setup() const {
    return {*state().chosen.row, state().problem, state().chosen.tune, state().runtime.info()};
  }

  // The kernel of a unit; one for each call, see Kernel.
  Kernel kernel(std::size_t unit = 0) const {
    const State& s = state();
    return Kernel(s.runtime, s.programs[unit], s.chosen.offer.units[unit].kernel);
  }

  // Makes this the plan of another problem, with what it has built; copies stay as they are.
  // Variants for which `why_not` returns a text are left out. Not at the same time as other
  // calls. Throws Error as the constructor does, and then leaves the plan as it was.
  void replan(const Problem& problem, Variant wanted, const typename Rules::WhyNot& why_not) {
    const std::shared_ptr<const State> before = state_;
    Rules::choose(
        before->runtime, problem, wanted, Tune{},
        [&](const Candidate<Spec>& one) {
          state_ = make(before->runtime, problem, one, before.get());
        },
        why_not);
  }
  // Whether the plan has built a unit's program.
  bool is_built(const CompileUnit& unit) const { return state().built->has(unit); }
  // Builds the programs of units for a replan().
  void build(const std::vector<CompileUnit>& units) {
    for (const CompileUnit& unit : units) state().built->get(runtime(), unit, unit.kernel);
  }

 private:
  // The programs of a plan: the runtime's cache would flatten and hash their sources each time.
  class Programs {
   public:
    // Query the limits of the unit's kernel here, once, so that no call meets them with half of its
    // commands enqueued.
    cl::Program get(const Runtime& runtime, const CompileUnit& unit, const std::string& what) {
      const std::lock_guard<std::mutex> lock(mutex_);
      const std::string wanted = key(unit);
      auto one = std::find_if(built_.begin(), built_.end(),
                              [&](const Built& other) { return other.key == wanted; });
      if (one == built_.end()) {
        cl::Program program = runtime.build(unit.source, unit.defines, what, unit.options);
        one = built_.insert(one, {wanted, std::move(program), {}});
      }
      const Asked asked{unit.kernel, unit.group, unit.local_bytes};
      if (unit.group[0] != 0 &&
          std::find(one->asked.begin(), one->asked.end(), asked) == one->asked.end()) {
        Kernel(runtime, one->program, unit.kernel)
            .check_launch(Launch::groups({1, 1, 1}, unit.group), unit.local_bytes);
        one->asked.push_back(asked);
      }
      return one->program;
    }
    bool has(const CompileUnit& unit) const {
      const std::lock_guard<std::mutex> lock(mutex_);
      const std::string wanted = key(unit);
      return std::any_of(built_.begin(), built_.end(),
                         [&](const Built& one) { return one.key == wanted; });
    }

   private:
    static std::string key(const CompileUnit& unit) {
      return unit.source.name() + "\n" + unit.defines.options() + "\n" + unit.options;
    }
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

  template <class S, class = void>
  struct TakesMade : std::false_type {};
  template <class S>
  struct TakesMade<S, std::void_t<decltype(S::allocate(
                          std::declval<const Runtime&>(), std::declval<const Setup<S>&>(),
                          std::declval<const Made<S>&>()))>> : std::true_type {};

  static std::shared_ptr<const State> make(const Runtime& runtime, const Problem& problem,
                                           const Candidate<Spec>& one, const State* before) {
    auto state = std::make_shared<State>(State{runtime, problem, one, {}, {}, {}});
    state->built = before != nullptr ? before->built : std::make_shared<Programs>();
    for (const CompileUnit& unit : one.offer.units) {
      const std::string what = std::string(Spec::kRecipe) + "/" + one.row->name +
                               (unit.label.empty() ? "" : " " + unit.label);
      state->programs.push_back(state->built->get(runtime, unit, what));
    }
    const Setup<Spec> setup{*one.row, state->problem, state->chosen.tune, runtime.info()};
    if constexpr (TakesMade<Spec>::value) {
      state->resources = Spec::allocate(
          runtime, setup,
          Made<Spec>{one.offer, state->programs, before != nullptr ? &before->resources : nullptr});
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
  Rules::choose(runtime, problem, variant, tune,
                [&](const Candidate<Spec>& one) { state_ = make(runtime, problem, one, nullptr); });
}

template <class Spec>
Candidate<Spec> Plan<Spec>::choice(const Runtime& runtime, const Problem& problem) {
  Candidate<Spec> out;
  Rules::choose(runtime, problem, Variant(), Tune{},
                [&](const Candidate<Spec>& one) { out = one; });
  return out;
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
