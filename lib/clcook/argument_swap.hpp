// Computes y[i] = f(a[i], b[i], |x[i]|) for an expensive function f, ours or the caller's. Where
// the sign of x[i] is set, it exchanges the first two arguments. With `steps` an item has several
// values of x, and y[i] is the sum over them.
//
//   clcook::ArgumentSwap transmittance{runtime, {count}};
//   cl::Event done = transmittance(outside, inside, cosines, result, {uploaded});
//
// Ours is the share of unpolarised light that passes the smooth boundary of two transparent media:
// Fresnel's equations, averaged over a band of wavenumbers. a is the medium on the side that the
// normal points to, b the one behind. x is the cosine between the normal and the direction back
// along the ray: a ray with x > 0 goes from a to b, one with x < 0 from b to a. See
// <clcook/fresnel.clh>.
#pragma once

#include <clcook/core/math.hpp>
#include <clcook/core/own_function.hpp>
#include <clcook/core/plan.hpp>
#include <clcook/core/view.hpp>
#include <clcook/embedded/argument_swap.hpp>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace clcook {
namespace argument_swap {

constexpr int kMaxCost = 1 << 20;
constexpr int kMaxSteps = 1 << 20;

// A function to call instead of ours: text that defines
//
//   static inline float clcook_swap_function(float2 a, float2 b, float x, float2 parameters,
//                                            int cost)
//
// a, b   the item's two arguments, exchanged where the sign bit of its x is set
// x      the item's own value without its sign
// parameters, cost   those of the problem
//
// It must not contain a barrier: work-items call the function in different branches.
using Function = OwnFunction;

struct Problem {
  std::size_t count = 0;  // items, at least 1
  int cost = 40;          // 1 to kMaxCost: ours takes it as the number of quadrature points
  // Handed to the function. Ours: the ends of the band, 1 / wavelength in 1/micrometre, positive
  // and in rising order; equal for a single wavelength.
  float parameters[2] = {1 / 0.7f, 1 / 0.4f};
  Function function = {};
  // Calls per item, in a loop, 1 to kMaxSteps. Each has a value of x, which decides whether it
  // exchanges the arguments; y is their sum.
  int steps = 1;
};

// How to run, for tuning; 0 is open.
struct Tune {
  int group = 0;  // work-items per work-group; cpu_lanes: 1
};

struct Spec : PlainSpec {
  using Problem = argument_swap::Problem;
  using Tune = argument_swap::Tune;
  using Row = VariantRow<Spec>;
  static constexpr const char* kName = "ArgumentSwap";
  static constexpr const char* kRecipe = "argument_swap";
  static constexpr std::size_t kPairBytes = 2 * sizeof(float);
  static constexpr int kCpuStrip = 1024;  // items per work-item of cpu_lanes

  static const std::vector<Row>& variants() {
    static const std::vector<Row> all{
        Row("two_calls", "one call in each branch").baseline().tunes(),
        Row("swap_in_place", "the arguments exchanged in a branch, one call")
            .against("two_calls", "the branch exchanges arguments, then one call")
            .tunes(),
        Row("select", "the arguments chosen into fresh variables, one call")
            .against("swap_in_place", "the arguments are chosen without a branch")
            .tunes()
            .preferred(),
        Row("cpu_lanes", "for CPUs: select on vectors of 16 items, a strip of them per work-item")
            .against("select", "vectors of 16 items, a strip per work-item")
            .for_cpus_only(),
    };
    return all;
  }

  static const std::vector<Axis<Tune>>& axes() {
    static const std::vector<Axis<Tune>> all{axis("group", &Tune::group, {128, 256}).on_cpus(1)};
    return all;
  }

  static Offer offer(const Runtime&, const Setup<Spec>& s) {
    if (s.row.is_for_cpus && !s.problem.function.text.empty())
      return Offer::no(Lacks::problem, "it computes our function alone, the problem has another");
    return {};
  }

  static void check(const Problem& p) {
    constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max() / kPairBytes;
    check_range(kName, "steps", p.steps, 1, kMaxSteps);
    check_range(kName, "count", p.count, 1, kMost / static_cast<std::size_t>(p.steps));
    check_range(kName, "cost", p.cost, 1, kMaxCost);
    const float first = p.parameters[0];
    const float last = p.parameters[1];
    check_own_function(p.function, file_of(p), kName);
    if (p.function.text.empty() &&
        !(math::isfinite(first) && math::isfinite(last) && first > 0 && last >= first)) {
      fail(Errc::invalid_argument, kName,
           text("the band must be finite, positive and in rising order, got ", first, " to ", last,
                " per micrometre"));
    }
  }

  static double bytes(const Problem& p) {
    return static_cast<double>(p.count) *
           (2 * kPairBytes + (static_cast<double>(p.steps) + 1) * sizeof(float));
  }

  static std::vector<CompileUnit> units(const Setup<Spec>& s) {
    const Function& function = s.problem.function;
    const embedded::File& file = file_of(s.problem);
    CompileUnit unit =
        s.problem.steps == 1 ? variant_unit(s, file) : kernel_unit(s, s.row.name + "_steps", file);
    if (s.row.is_for_cpus) unit.defines.set("CLCOOK_ARGUMENT_SWAP_STRIP", kCpuStrip);
    if (!function.text.empty()) {
      unit.defines.flag("CLCOOK_ARGUMENT_SWAP_OWN_FUNCTION");
      unit.source = with_own_function(function, file);
    }
    return {unit};
  }

  // One call needs no loop, and has kernels without one.
  static const embedded::File& file_of(const Problem& p) {
    return p.steps == 1 ? embedded::argument_swap : embedded::argument_swap_steps;
  }
};

}  // namespace argument_swap

// A plan: constructed once, called often. Thread-safe as Plan says. The program depends on the
// variant and the function only. If the function does not compile, the constructor throws
// Error(build_failed).
class ArgumentSwap : public Plan<argument_swap::Spec> {
 public:
  using Plan::Plan;
  using Function = argument_swap::Function;

  // Enqueues the calls behind the events of `wait` and returns the event. a and b hold two floats
  // per item (ours: the Cauchy coefficients A and B of a medium, B in square micrometres), y one, x
  // one per step: those of all items for the first step, then those for the next. Offsets are
  // multiples of an item's bytes. y must not overlap the others. Ours is
  // meaningful for |x| <= 1 and positive indices of refraction; an x of NaN gives NaN. Throws
  // Error(invalid_argument), with nothing enqueued, when a view breaks a rule.
  cl::Event operator()(const BufferView& a, const BufferView& b, const BufferView& x,
                       const BufferView& y, const std::vector<cl::Event>& wait = {}) const {
    constexpr const char* kName = Spec::kName;
    constexpr std::size_t kPairBytes = Spec::kPairBytes;
    const Problem& p = problem();
    const RowLayout pairs{p.count * kPairBytes, 1, kPairBytes};
    const RowLayout singles{p.count * sizeof(float), 1, sizeof(float)};
    const RowLayout all_steps{singles.row_bytes * static_cast<std::size_t>(p.steps), 1,
                              sizeof(float)};
    const CheckedView from_a = check_view(runtime(), a, pairs, Access::read, kName, "a");
    const CheckedView from_b = check_view(runtime(), b, pairs, Access::read, kName, "b");
    const CheckedView from_x = check_view(runtime(), x, all_steps, Access::read, kName, "x");
    const CheckedView to = check_view(runtime(), y, singles, Access::write, kName, "y");
    check_disjoint(from_a, to, kName, "a", "y");
    check_disjoint(from_b, to, kName, "b", "y");
    check_disjoint(from_x, to, kName, "x", "y");
    cl_float2 parameters{};
    parameters.s[0] = p.parameters[0];
    parameters.s[1] = p.parameters[1];
    const std::size_t per_item = row().is_for_cpus ? Spec::kCpuStrip : 1;
    const Launch launch = Launch::cover({(p.count + per_item - 1) / per_item, 1, 1},
                                        {static_cast<std::size_t>(tune().group), 1, 1});
    const auto call = [&](const auto&... more) {
      return kernel()(
          launch, wait, from_a.buffer, static_cast<cl_ulong>(from_a.offset / kPairBytes),
          from_b.buffer, static_cast<cl_ulong>(from_b.offset / kPairBytes), from_x.buffer,
          static_cast<cl_ulong>(from_x.offset / sizeof(float)), to.buffer,
          static_cast<cl_ulong>(to.offset / sizeof(float)), static_cast<cl_ulong>(p.count),
          parameters, static_cast<cl_int>(p.cost), more...);
    };
    return p.steps == 1 ? call() : call(static_cast<cl_int>(p.steps));
  }
};

CLCOOK_PLAN(argument_swap::Spec);

}  // namespace clcook
