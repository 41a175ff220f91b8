// Which of N sorted thresholds each value of a buffer falls below.
//
//   clcook::ThresholdCount slot{runtime, {count, clcook::ThresholdCount::sector_cosines()}};
//   cl::Event done = slot(values, slots, {uploaded});
//
// The thresholds fall: t[0] >= t[1] >= ... >= t[N-1]. The slot of x is the first k with x >= t[k],
// else N. In other words it is the number of thresholds that x does not reach. This is exact for
// every float: NaN reaches no threshold and has the slot N, +infinity has the slot 0, -0 equals +0.
#pragma once

#include <algorithm>
#include <clcook/core/defines.hpp>
#include <clcook/core/error.hpp>
#include <clcook/core/launch.hpp>
#include <clcook/core/names.hpp>
#include <clcook/core/runtime.hpp>
#include <clcook/core/source.hpp>
#include <clcook/core/view.hpp>
#include <clcook/embedded/threshold_count.hpp>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clcook {

// A plan: constructed once, called often. All const member functions may be called from several
// threads.
//
// The number of thresholds is a part of the program, their values are not: plans with other values
// share it.
class ThresholdCount {
 public:
  // The type of a slot in the result.
  enum class Slot {
    u8,   // a byte; at most 255 thresholds, because their number is a slot too
    u32,  // 4 bytes
  };

  struct Problem {
    std::size_t count = 0;          // values, at least 1; 32 bits need not hold it
    std::vector<float> thresholds;  // 1 to kMaxThresholds, none above the one before it, no NaN
    Slot slot = Slot::u8;
  };

  enum class Variant {
    automatic,        // what was measured to be fastest; without that compare_sum up to 8
                      // thresholds, binary_search up to 48, then table; on CPUs cpu_strip up to
                      // 128, then table
    else_if_chain,    // one comparison after the other
    independent_ifs,  // N comparisons, each with an assignment
    compare_sum,      // the sum of N comparisons
    vector_compare,   // a value against vectors of thresholds
    binary_search,    // log2(N) + 1 comparisons without a branch
    table,            // a guess from a table, then comparisons with its neighbours
    cpu_strip,        // for CPUs: compare_sum on explicit vectors of values
  };

  // How to run, for tuning; 0 is the default.
  struct Tune {
    int group = 0;     // work-items per work-group; cpu_strip: only 0 or 1
    int per_item = 0;  // values per work-item: 1, 4, 8, 16 or 32; cpu_strip: only 0
  };

  static constexpr std::size_t kMaxThresholds = 256;
  // Under which name tunings for so many thresholds are filed.
  static std::string tuning_name(std::size_t thresholds) {
    for (const std::size_t limit : {std::size_t{8}, std::size_t{32}, std::size_t{128}}) {
      if (thresholds <= limit) return text("threshold_count/", limit);
    }
    return "threshold_count/256";
  }

  // The cosines of 15, 30, 45, 60 and 75 degrees with six decimals: with them the slot of a
  // direction cosine is its sector of 15 degrees.
  static std::vector<float> sector_cosines() {
    return {0.965926f, 0.866025f, 0.707107f, 0.5f, 0.258819f};
  }

  // Builds the program and uploads the thresholds. Throws Error: invalid_argument for a value out
  // of range, unsupported where the device cannot run a group of this size, build_failed.
  ThresholdCount(const Runtime& runtime, Problem problem, Variant variant, Tune tune)
      : runtime_(runtime), problem_(std::move(problem)), variant_(variant), tune_(tune) {
    check_problem();
    choose();
    program_ = runtime.build(Source(embedded::threshold_count),
                             defines(variant_, thresholds(), problem_.slot, tune_.per_item),
                             std::string("threshold_count/") + to_string(variant_));
    Kernel(runtime_, program_, kernel_name(variant_)).check_launch(launch());
    upload();
  }
  explicit ThresholdCount(const Runtime& runtime, Problem problem,
                          Variant variant = Variant::automatic)
      : ThresholdCount(runtime, std::move(problem), variant, Tune{}) {}

  // Enqueues the search behind the events of `wait` and returns its event. `values` holds count
  // floats, `slots` count bytes or words; offsets are multiples of the element's size. Offsets that
  // are multiples of 4 elements are faster on GPUs. The views must not overlap. Throws
  // Error(invalid_argument), with nothing enqueued, when a view breaks a rule.
  cl::Event operator()(const BufferView& values, const BufferView& slots,
                       const std::vector<cl::Event>& wait = {}) const {
    const std::size_t size = slot_bytes(problem_.slot);
    const CheckedView from =
        check_view(runtime_, values, {problem_.count * sizeof(float), 1, sizeof(float)},
                   Access::read, kName, "values");
    const CheckedView to = check_view(runtime_, slots, {problem_.count * size, 1, size},
                                      Access::write, kName, "slots");
    check_disjoint(from, to, kName, "values", "slots");
    Kernel kernel(runtime_, program_, kernel_name(variant_));
    const auto from_offset = static_cast<cl_ulong>(from.offset / sizeof(float));
    const auto to_offset = static_cast<cl_ulong>(to.offset / size);
    const auto count = static_cast<cl_ulong>(problem_.count);
    if (variant_ == Variant::table) {
      return kernel(launch(), wait, from.buffer, from_offset, to.buffer, to_offset, count,
                    thresholds_, guesses_, low_, scale_);
    }
    return kernel(launch(), wait, from.buffer, from_offset, to.buffer, to_offset, count,
                  thresholds_);
  }

  const Problem& problem() const { return problem_; }
  // The variant that runs; never automatic.
  Variant variant() const { return variant_; }
  // What runs, with the defaults filled in; per_item is 0 for cpu_strip.
  Tune tune() const { return tune_; }

  static std::size_t slot_bytes(Slot slot) { return slot == Slot::u8 ? 1 : 4; }

  // The definitions that select a variant's program. For tools; plans call it themselves.
  static Defines defines(Variant variant, int thresholds, Slot slot, int per_item) {
    Defines out;
    std::string upper = to_string(variant);
    for (char& c : upper) {
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    out.flag("CLCOOK_THRESHOLD_COUNT_ONLY").flag("CLCOOK_THRESHOLD_COUNT_" + upper);
    out.set("CLCOOK_THRESHOLDS", thresholds);
    out.set("CLCOOK_SLOT", Token{slot == Slot::u8 ? "uchar" : "uint"});
    if (variant == Variant::table) {
      out.set("CLCOOK_THRESHOLD_COUNT_CELLS",
              static_cast<int>(cells(static_cast<std::size_t>(thresholds))));
    }
    if (variant != Variant::cpu_strip) {
      out.set("CLCOOK_THRESHOLD_COUNT_PER_ITEM", per_item == 0 ? kPerItem : per_item);
    }
    return out;
  }

  static std::string kernel_name(Variant variant) {
    return std::string("threshold_count_") + to_string(variant);
  }

  static const char* to_string(Variant variant) {
    switch (variant) {
      case Variant::automatic:
        return "automatic";
      case Variant::else_if_chain:
        return "else_if_chain";
      case Variant::independent_ifs:
        return "independent_ifs";
      case Variant::compare_sum:
        return "compare_sum";
      case Variant::vector_compare:
        return "vector_compare";
      case Variant::binary_search:
        return "binary_search";
      case Variant::table:
        return "table";
      case Variant::cpu_strip:
        return "cpu_strip";
    }
    fail(Errc::invalid_argument, kName,
         text("there is no variant of the value ", static_cast<int>(variant)));
  }

  // All variants but automatic, the baseline first.
  static const std::vector<Variant>& variants() {
    static const std::vector<Variant> all = {
        Variant::else_if_chain,  Variant::independent_ifs, Variant::compare_sum,
        Variant::vector_compare, Variant::binary_search,   Variant::table,
        Variant::cpu_strip,
    };
    return all;
  }

  // The variant of that name, automatic included. Throws Error(invalid_argument) that lists the
  // names.
  static Variant parse_variant(std::string_view name) {
    return parse_name<Variant>(kName, "variant", name, variants(),
                               [](Variant variant) { return to_string(variant); },
                               {Variant::automatic});
  }

 private:
  static constexpr const char* kName = "ThresholdCount";
  static constexpr int kGroup = 256;
  static constexpr int kPerItem = 16;
  static constexpr std::size_t kStrip = 16384;  // CLCOOK_MAP_STRIP of map_row.clh
  static constexpr std::size_t kVector = 16;    // thresholds are padded with NaN to a multiple

  int thresholds() const { return static_cast<int>(problem_.thresholds.size()); }

  // Cells of the table: at least four per threshold, a power of two.
  static std::size_t cells(std::size_t thresholds) {
    std::size_t out = 64;
    while (out < 4 * thresholds) out *= 2;
    return out;
  }

  void check_problem() const {
    const Problem& p = problem_;
    const auto refuse = [](const std::string& what) { fail(Errc::invalid_argument, kName, what); };
    if (p.count == 0) refuse("count must be at least 1, got 0");
    // Half of the range, so that padding the global size cannot overflow either.
    if (p.count > std::numeric_limits<std::size_t>::max() / 2 / sizeof(float)) {
      refuse(text("count ", p.count, " of floats overflows the address range"));
    }
    if (p.slot != Slot::u8 && p.slot != Slot::u32) {
      refuse(text("slot must be u8 or u32, got the value ", static_cast<int>(p.slot)));
    }
    const std::size_t n = p.thresholds.size();
    if (n < 1 || n > kMaxThresholds) {
      refuse(text("there must be 1 to ", kMaxThresholds, " thresholds, got ", n));
    }
    if (p.slot == Slot::u8 && n > 255) {
      refuse(text(n, " thresholds have slots up to ", n, ", which do not fit u8; use u32"));
    }
    for (std::size_t k = 0; k < n; ++k) {
      if (std::isnan(p.thresholds[k])) refuse(text("threshold ", k, " is NaN"));
      if (k > 0 && p.thresholds[k] > p.thresholds[k - 1]) {
        refuse(text("thresholds must not rise, but threshold ", k, " is ", p.thresholds[k],
                    " after ", p.thresholds[k - 1]));
      }
    }
    if (tune_.group < 0) refuse(text("group must not be negative, got ", tune_.group));
    const int values = tune_.per_item;
    if (values != 0 && values != 1 && values != 4 && values != 8 && values != 16 && values != 32) {
      refuse(text("per_item must be 1, 4, 8, 16 or 32, got ", values));
    }
  }

  // Fills in what the caller left open: from what was measured, else the built-in defaults.
  void choose() {
    const bool automatic = variant_ == Variant::automatic;
    const double bytes =
        static_cast<double>(problem_.count) * static_cast<double>(4 + slot_bytes(problem_.slot));
    const std::size_t n = problem_.thresholds.size();
    const TuningChoice choice = runtime_.tuning().choose(runtime_.info(), tuning_name(n), bytes,
                                                         automatic ? "" : to_string(variant_));
    const bool measured = choice.match != TuningChoice::Match::none;
    if (automatic) {
      const bool cpu = runtime_.info().cpu;
      variant_ = measured  ? parse_variant(choice.entry.variant)
                 : cpu     ? (n <= 128 ? Variant::cpu_strip : Variant::table)
                 : n <= 8  ? Variant::compare_sum
                 : n <= 48 ? Variant::binary_search
                           : Variant::table;
    }
    if (variant_ == Variant::cpu_strip) {
      if (tune_.group > 1 || tune_.per_item != 0) {
        fail(Errc::invalid_argument, kName,
             text("the variant cpu_strip takes a group of 1 and no per_item, got ", tune_.group,
                  " and ", tune_.per_item));
      }
      tune_ = {1, 0};
      return;
    }
    if (measured && tune_.per_item == 0) tune_.per_item = choice.entry.integer("per_item", 0);
    if (tune_.group == 0) tune_.group = kGroup;
    if (tune_.per_item == 0) tune_.per_item = kPerItem;
  }

  // Cuts the range from the lowest to the highest finite threshold into cells of equal width, and
  // takes the slot at the upper end of each cell as the guess for it. The kernel corrects guesses,
  // so what matters here is only that they are good.
  void upload() {
    std::vector<float> padded = problem_.thresholds;
    while (padded.size() % kVector != 0) padded.push_back(std::numeric_limits<float>::quiet_NaN());
    thresholds_ =
        create_buffer(runtime_, padded.size() * sizeof(float), CL_MEM_READ_ONLY, padded.data());
    if (variant_ != Variant::table) return;
    const std::vector<float>& t = problem_.thresholds;
    double low = 0;
    double high = 0;
    bool any = false;
    for (const float one : t) {
      if (!std::isfinite(one)) continue;
      if (!any) high = static_cast<double>(one);
      low = static_cast<double>(one);
      any = true;
    }
    const auto parts = static_cast<double>(cells(t.size()));
    // Scale 0 puts everything into the first cell.
    const double scale = high > low ? parts / (high - low) : 0;
    low_ = static_cast<cl_float>(low);
    scale_ = scale < static_cast<double>(std::numeric_limits<float>::max())
                 ? static_cast<cl_float>(scale)
                 : 0;
    std::vector<unsigned char> guesses(cells(t.size()));
    for (std::size_t cell = 0; cell < guesses.size(); ++cell) {
      const double end = low + static_cast<double>(cell + 1) * (high - low) / parts;
      const auto first = std::find_if(t.begin(), t.end(),
                                      [&](float one) { return end > static_cast<double>(one); });
      guesses[cell] = static_cast<unsigned char>(std::min<std::ptrdiff_t>(first - t.begin(), 255));
    }
    guesses_ = create_buffer(runtime_, guesses.size(), CL_MEM_READ_ONLY, guesses.data());
  }

  Launch launch() const {
    if (variant_ == Variant::cpu_strip) {
      return Launch::groups({problem_.count / kStrip + 2, 1, 1}, {1, 1, 1});
    }
    const auto per_item = static_cast<std::size_t>(tune_.per_item);
    const std::size_t items = (problem_.count + per_item - 1) / per_item;
    return Launch::cover({items, 1, 1}, {static_cast<std::size_t>(tune_.group), 1, 1});
  }

  Runtime runtime_;
  Problem problem_;
  Variant variant_;
  Tune tune_;
  cl::Program program_;
  cl::Buffer thresholds_;
  cl::Buffer guesses_;
  cl_float low_ = 0;
  cl_float scale_ = 0;
};

}  // namespace clcook
