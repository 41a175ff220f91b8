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
#include <clcook/core/map_row.hpp>
#include <clcook/core/math.hpp>
#include <clcook/core/view.hpp>
#include <clcook/embedded/threshold_count.hpp>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace clcook {
namespace threshold_count {

constexpr std::size_t kMaxThresholds = 256;

// The type of a slot in the result.
enum class Slot {
  u8,   // a byte; at most 255 thresholds, because their number is a slot too
  u32,  // 4 bytes
};

inline std::size_t slot_bytes(Slot slot) { return slot == Slot::u8 ? 1 : 4; }

struct Problem {
  std::size_t count = 0;            // values, at least 1; may exceed 32 bits
  std::vector<float> thresholds{};  // 1 to kMaxThresholds, none above the one before it, no NaN
  Slot slot = Slot::u8;
};

struct Spec : MapRowSpec {
  struct Traits {
    double (*comparisons)(double thresholds);  // that each value goes through
    // The cost of one of them, about as the times on an H200 and on PoCL show it. On CPUs it depends
    // on whether the compiler makes vectors of it.
    double gpu_operations;
    double cpu_operations;
    bool guesses = false;  // has a table of guesses
    bool fine = false;     // its cells hold at most one threshold
  };
  struct Resources {
    cl::Buffer thresholds;
    cl::Buffer guesses;  // of a row with guesses: per cell, the slot at its upper end
    cl_float low = 0;    // in the first cell
    cl_float scale = 0;  // cells per unit
  };
  using Problem = threshold_count::Problem;
  using Row = VariantRow<Spec>;
  static constexpr const char* kName = "ThresholdCount";
  static constexpr const char* kRecipe = "threshold_count";

  static const std::vector<Row>& variants() {
    const std::vector<TuneAxis> few{{"per_item", {16, 1}}};
    const auto all_of = [](double n) { return n; };
    const auto halves = [](double n) { return 1 + std::log2(n); };
    const auto neighbours = [](double) { return 4.0; };
    const auto one = [](double) { return 1.0; };
    const auto blocks = [](double n) { return 35 + n / 16; };
    static const std::vector<Row> all{
        Row("else_if_chain", "one comparison after the other", {all_of, 8, 50})
            .baseline()
            .tunes(few),
        Row("frequent_first",
            "against else_if_chain: from the last threshold on, for values that reach none",
            {all_of, 8, 50})
            .against("else_if_chain", "from the last threshold on")
            .by_name()
            .tunes(few),
        Row("independent_ifs", "all comparisons, each with an assignment", {all_of, 8, 90})
            .against("else_if_chain", "all comparisons, none depends on another")
            .tunes(few),
        Row("compare_sum", "the sum of all comparisons", {all_of, 8, 12})
            .against("independent_ifs", "comparisons are summed, no assignment")
            .tunes(few)
            .preferred(),
        Row("first_bit",
            "against compare_sum: the comparisons are bits of a word, the slot is the first set",
            {all_of, 8, 12})
            .against("compare_sum", "comparisons are bits of a word, the slot is the first set")
            .by_name()
            .tunes(few),
        Row("vector_compare", "a value against vectors of thresholds", {all_of, 8, 15})
            .against("compare_sum", "vectors of thresholds")
            .tunes(few),
        Row("binary_search", "log2(N) + 1 comparisons without a branch", {halves, 12.75, 600})
            .against("compare_sum", "log2(N) + 1 comparisons")
            .tunes(few),
        Row("padded_search",
            "against binary_search: thresholds with gaps, so that a step reads different banks",
            {halves, 12.75, 600})
            .against("binary_search", "gaps between the thresholds, so that banks differ")
            .by_name()
            .tunes(few),
        Row("table",
            "a guess from a table of equal cells, corrected by comparisons with its neighbours",
            {neighbours, 21, 200})
            .with(&Traits::guesses)
            .against("binary_search", "a guess from a table, corrected by its neighbours")
            .tunes(few),
        Row("global_table", "against table: guesses and thresholds in global memory",
            {neighbours, 21, 200})
            .with(&Traits::guesses)
            .against("table", "guesses and thresholds in global memory")
            .by_name()
            .tunes(few),
        Row("fine_table",
            "as table, with cells that hold at most one threshold each: one comparison, no loop",
            {one, 50, 800})
            .with(&Traits::guesses, &Traits::fine)
            .against("table", "cells of at most one threshold: one comparison, no loop")
            .tunes({TuneAxis{"per_item", {16, 32, 1}}}),
        Row("cpu_strip", "for CPUs: compare_sum on vectors of 16 values, a strip per work-item",
            {all_of, 8, 7})
            .against("compare_sum", "vectors of 16 values, a strip per work-item")
            .for_cpus(),
        Row("cpu_blocks",
            "for CPUs: the block of 16 thresholds by vectors of values, then a place in it by a "
            "vector of thresholds",
            {blocks, 8, 7})
            .against("cpu_strip", "blocks of thresholds by vectors of values, then one vector each")
            .for_cpus(),
    };
    return all;
  }

  // Each number of thresholds has its fastest variant: tunings are filed by classes of it.
  static std::vector<std::string> tuning_names(const Problem& p) {
    const std::size_t n = p.thresholds.size();
    const int limit = n <= 8 ? 8 : n <= 32 ? 32 : n <= 128 ? 128 : 256;
    return {text(kRecipe, "/", limit)};
  }

  static void check(const Problem& p) {
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
      if (math::isnan(p.thresholds[k])) refuse(text("threshold ", k, " is NaN"));
      if (k > 0 && p.thresholds[k] > p.thresholds[k - 1]) {
        refuse(text("thresholds must not rise, but threshold ", k, " is ", p.thresholds[k],
                    " after ", p.thresholds[k - 1]));
      }
    }
  }

  static double bytes(const Problem& p) {
    return static_cast<double>(p.count) * static_cast<double>(sizeof(float) + slot_bytes(p.slot));
  }

  static Offer offer(const Runtime& runtime, const Setup<Spec>& s) {
    const Traits& traits = s.row.traits;
    const std::size_t n = s.problem.thresholds.size();
    if (traits.fine && fine_cells(s.problem.thresholds) == 0) {
      return Offer::no(Lacks::problem,
                       text("it takes finite thresholds of which no two lie in one of ", kMostCells,
                            " equal cells, within a range of 1e-30 to 1e37"));
    }
    // Beside its neighbours a guess passes the other thresholds of its cell.
    const double passed =
        traits.guesses && !traits.fine ? Table(s.problem.thresholds, cells(s)).mates() - 1 : 0;
    Offer out;
    out.work.operations = static_cast<double>(s.problem.count) *
                          (traits.comparisons(static_cast<double>(n)) + passed) *
                          (runtime.info().cpu ? traits.cpu_operations : traits.gpu_operations);
    return out;
  }

  static std::vector<CompileUnit> units(const Setup<Spec>& s) {
    const std::size_t n = s.problem.thresholds.size();
    CompileUnit unit = variant_unit(s, embedded::threshold_count);
    unit.defines.set("CLCOOK_THRESHOLDS", static_cast<int>(n));
    unit.defines.set("CLCOOK_SLOT", Token{s.problem.slot == Slot::u8 ? "uchar" : "uint"});
    if (s.row.traits.guesses)
      unit.defines.set("CLCOOK_THRESHOLD_COUNT_CELLS", static_cast<int>(cells(s)));
    set_per_item(unit.defines, s, "CLCOOK_THRESHOLD_COUNT_PER_ITEM");
    return {unit};
  }

  // Uploads the thresholds, and what guesses.
  static Resources allocate(const Runtime& runtime, const Setup<Spec>& s,
                            const std::vector<cl::Program>&) {
    constexpr std::size_t kVector = 16;  // thresholds are padded with NaN to a multiple
    const std::vector<float>& t = s.problem.thresholds;
    Resources out;
    std::vector<float> padded = t;
    while (padded.size() % kVector != 0) padded.push_back(std::numeric_limits<float>::quiet_NaN());
    out.thresholds =
        create_buffer(runtime, padded.size() * sizeof(float), CL_MEM_READ_ONLY, padded.data());
    if (!s.row.traits.guesses) return out;
    if (s.row.traits.fine) {
      out.low = t.back();
      out.scale = fine_scale(t);
      const std::vector<unsigned char> first = first_of_cells(t, cells(s));
      out.guesses = create_buffer(runtime, first.size(), CL_MEM_READ_ONLY, first.data());
      return out;
    }
    const Table table(t, cells(s));
    out.low = static_cast<cl_float>(table.low);
    // Scale 0 puts everything into the first cell.
    out.scale = table.scale < static_cast<double>(std::numeric_limits<float>::max())
                    ? static_cast<cl_float>(table.scale)
                    : 0;
    const std::vector<unsigned char> guesses = table.guesses();
    out.guesses = create_buffer(runtime, guesses.size(), CL_MEM_READ_ONLY, guesses.data());
    return out;
  }

 private:
  static constexpr std::size_t kMostCells = 1 << 14;

  // The range from the lowest to the highest finite threshold in cells of equal width. The kernel
  // corrects guesses, so here they only have to be good.
  struct Table {
    Table(const std::vector<float>& of, std::size_t cells) : t(of), parts(cells) {
      const auto is_finite = [](float one) { return math::isfinite(one); };
      const auto first = std::find_if(t.begin(), t.end(), is_finite);
      if (first == t.end()) return;
      low = static_cast<double>(*std::find_if(t.rbegin(), t.rend(), is_finite));
      range = static_cast<double>(*first) - low;
      if (range > 0) scale = static_cast<double>(parts) / range;
    }

    std::vector<unsigned char> guesses() const {
      std::vector<unsigned char> out(parts);
      for (std::size_t cell = 0; cell < parts; ++cell) {
        const double end = low + static_cast<double>(cell + 1) * range / static_cast<double>(parts);
        const auto first = std::find_if(t.begin(), t.end(),
                                        [&](float one) { return end > static_cast<double>(one); });
        out[cell] = static_cast<unsigned char>(std::min<std::ptrdiff_t>(first - t.begin(), 255));
      }
      return out;
    }

    // The thresholds in the cell of one of them, itself included, on average.
    double mates() const {
      const auto cell = [&](float one) {
        return std::floor(std::min(std::max((static_cast<double>(one) - low) * scale, 0.0),
                                   static_cast<double>(parts - 1)));
      };
      double sum = 0;
      for (std::size_t k = 0, end = 0; k < t.size(); k = end) {
        while (end < t.size() && !(cell(t[end]) < cell(t[k]))) ++end;
        sum += static_cast<double>(end - k) * static_cast<double>(end - k);
      }
      return sum / static_cast<double>(t.size());
    }

    const std::vector<float>& t;
    std::size_t parts;
    double low = 0;
    double range = 0;
    double scale = 0;  // cells per unit
  };

  // Cells of the table, a power of two: at least four per threshold, or as many as fine_table needs.
  static std::size_t cells(const Setup<Spec>& s) {
    if (s.row.traits.fine) return fine_cells(s.problem.thresholds);
    std::size_t out = 64;
    while (out < 4 * s.problem.thresholds.size()) out *= 2;
    return out;
  }

  // The cell of fine_table that x lies in, 0 to cells - 1. The kernel takes the same steps with the
  // same rounding. None of them reverses the order of two values: a value in another cell than
  // a threshold lies on the side of it that the cell says.
  static std::size_t cell_of(float x, float low, float scale, std::size_t cells) {
    const float part = std::min(std::max((x - low) * scale, 0.0f), 1.0f);
    constexpr float kMagic = 8388608.0f;  // from there on floats are integers
    return static_cast<std::size_t>(std::fma(part, static_cast<float>(cells - 1), kMagic) - kMagic);
  }

  // 0 for a single threshold.
  static float fine_scale(const std::vector<float>& t) {
    return t.front() > t.back() ? 1.0f / (t.front() - t.back()) : 0.0f;
  }

  // The fewest cells such that no cell holds two thresholds; 0 where no number of cells will do.
  // Within the range neither the scale nor anything that it makes of a value beyond the first cell
  // is denormal, since a device may round denormals to 0.
  static std::size_t fine_cells(const std::vector<float>& t) {
    if (!math::isfinite(t.front()) || !math::isfinite(t.back())) return 0;
    const double range = static_cast<double>(t.front()) - static_cast<double>(t.back());
    if (t.size() > 1 && !(range >= 1e-30 && range <= 1e37)) return 0;
    for (std::size_t cells = 64; cells <= kMostCells; cells *= 2) {
      bool apart = true;
      for (std::size_t k = 1; k < t.size() && apart; ++k) {
        apart = cell_of(t[k], t.back(), fine_scale(t), cells) !=
                cell_of(t[k - 1], t.back(), fine_scale(t), cells);
      }
      if (apart) return cells;
    }
    return 0;
  }

  // By cell, the first threshold in it or below it. The last threshold is in cell 0.
  static std::vector<unsigned char> first_of_cells(const std::vector<float>& t, std::size_t cells) {
    std::vector<unsigned char> out(cells);
    std::size_t k = t.size() - 1;
    for (std::size_t cell = 0; cell < cells; ++cell) {
      while (k > 0 && cell_of(t[k - 1], t.back(), fine_scale(t), cells) <= cell) --k;
      out[cell] = static_cast<unsigned char>(k);
    }
    return out;
  }
};

}  // namespace threshold_count

// A plan: constructed once, called often. Thread-safe as Plan says.
//
// The program depends on the number of thresholds, not on their values: plans with other values
// share it.
class ThresholdCount : public Plan<threshold_count::Spec> {
 public:
  using Plan::Plan;
  using Slot = threshold_count::Slot;

  // The cosines of 15, 30, 45, 60 and 75 degrees with six decimals: with them the slot of a
  // direction cosine is its sector of 15 degrees.
  static std::vector<float> sector_cosines() {
    return {0.965926f, 0.866025f, 0.707107f, 0.5f, 0.258819f};
  }

  // Enqueues the search behind the events of `wait` and returns its event. `values` holds count
  // floats, `dst` count bytes or words; offsets are multiples of the element's size. Offsets that
  // are multiples of 4 elements are faster on GPUs. The views must not overlap. Throws
  // Error(invalid_argument), with nothing enqueued, when a view breaks a rule.
  cl::Event operator()(const BufferView& values, const BufferView& dst,
                       const std::vector<cl::Event>& wait = {}) const {
    const Problem& p = problem();
    const std::size_t size = threshold_count::slot_bytes(p.slot);
    const CheckedView from =
        check_view(runtime(), values, {p.count * sizeof(float), 1, sizeof(float)}, Access::read,
                   Spec::kName, "values");
    const CheckedView to =
        check_view(runtime(), dst, {p.count * size, 1, size}, Access::write, Spec::kName, "slots");
    check_disjoint(from, to, Spec::kName, "values", "slots");
    const auto from_offset = static_cast<cl_ulong>(from.offset / sizeof(float));
    const auto to_offset = static_cast<cl_ulong>(to.offset / size);
    const auto count = static_cast<cl_ulong>(p.count);
    const Spec::Resources& r = resources();
    const Launch launch = Spec::launch(setup(), p.count);
    const auto run = [&](const auto&... more) {
      return kernel()(launch, wait, from.buffer, from_offset, to.buffer, to_offset, count,
                      r.thresholds, more...);
    };
    return row().traits.guesses ? run(r.guesses, r.low, r.scale) : run();
  }
};

CLCOOK_PLAN(threshold_count::Spec);

}  // namespace clcook
