// y[i] = f(a[i], b[i], |x[i]|), with the two arguments exchanged where the sign of x[i] is set, for
// an expensive function f: ours, or the caller's.
//
//   clcook::ArgumentSwap transmittance{runtime, {count}};
//   cl::Event done = transmittance(outside, inside, cosines, result, {uploaded});
//
// Ours is the share of unpolarised light that passes the smooth boundary of two transparent media:
// Fresnel's equations, averaged over a band of wavenumbers. a is the medium on the side that the
// normal points to, b the one behind; x is the cosine between the normal and the direction back
// along the ray, so a ray with x > 0 goes from a to b and one with x < 0 from b to a. See
// <clcook/fresnel.clh>.
#pragma once

#include <clcook/core/defines.hpp>
#include <clcook/core/error.hpp>
#include <clcook/core/launch.hpp>
#include <clcook/core/names.hpp>
#include <clcook/core/runtime.hpp>
#include <clcook/core/source.hpp>
#include <clcook/core/view.hpp>
#include <clcook/embedded/argument_swap.hpp>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace clcook {

// A plan: constructed once, called often. The program depends on the variant and the function only.
// All const member functions may be called from several threads.
class ArgumentSwap {
 public:
  // A function to call instead of ours: OpenCL C 1.2 text that defines
  //
  //   static inline float clcook_swap_function(float2 a, float2 b, float x, float2 parameters,
  //                                            int cost)
  //
  // a, b   the item's two arguments, exchanged where the sign bit of its x is set
  // x      the item's own value without its sign
  // parameters, cost   those of the problem
  //
  // The text may include <clcook/...> device headers. It must not contain a barrier: work-items
  // call the function in different branches. Messages of the compiler show `name` and the lines
  // of the text where it follows #line; NVIDIA's says <kernel> and a line number that is 2 too
  // large.
  struct Function {
    std::string name;  // such as the text's file name; not empty, no quotes or line ends
    std::string text;  // empty for our function
  };

  struct Problem {
    std::size_t count = 0;  // items, at least 1
    int cost = 40;          // 1 to kMaxCost: ours takes it as the number of quadrature points
    // Handed to the function. Ours: the ends of the band, 1 / wavelength in 1/micrometre, positive
    // and in rising order; equal for a single wavelength.
    float parameters[2] = {1 / 0.7f, 1 / 0.4f};
    Function function = {};
  };

  enum class Variant {
    automatic,      // what was measured to be fastest, else select
    two_calls,      // one call in each branch
    swap_in_place,  // the arguments are exchanged in a branch, then there is one call
    select,         // the arguments are chosen into fresh variables, then there is one call
  };

  // How to run, for tuning.
  struct Tune {
    std::size_t group = 0;  // work-items per work-group, 0 for the default
  };

  static constexpr int kMaxCost = 1 << 20;
  static constexpr std::size_t kDefaultGroup = 128;

  // Throws Error: invalid_argument for a value out of range, unsupported where the device cannot
  // run a group of this size, build_failed, for example by the caller's function.
  ArgumentSwap(const Runtime& runtime, const Problem& problem, Variant variant, Tune tune)
      : runtime_(runtime), problem_(problem), variant_(variant), group_(tune.group) {
    check_problem(problem);
    to_string(variant);  // refuses a value that is no variant
    choose();
    program_ = runtime.build(source(problem.function), defines(variant_, problem.function),
                             std::string("argument_swap/") + to_string(variant_));
    Kernel(runtime_, program_, kernel_name(variant_)).check_launch(launch());
  }
  explicit ArgumentSwap(const Runtime& runtime, const Problem& problem,
                        Variant variant = Variant::automatic)
      : ArgumentSwap(runtime, problem, variant, Tune{}) {}

  // Enqueues the calls behind the events of `wait` and returns the event. a and b hold two floats
  // per item (ours: the Cauchy coefficients A and B of a medium, B in square micrometres), x and y
  // one. Offsets are multiples of an item's bytes. y must not overlap the others. Ours is
  // meaningful for |x| <= 1 and positive indices of refraction; an x of NaN gives NaN. Throws
  // Error(invalid_argument), with nothing enqueued, when a view breaks a rule.
  cl::Event operator()(const BufferView& a, const BufferView& b, const BufferView& x,
                       const BufferView& y, const std::vector<cl::Event>& wait = {}) const {
    const RowLayout pairs{problem_.count * kPairBytes, 1, kPairBytes};
    const RowLayout singles{problem_.count * sizeof(float), 1, sizeof(float)};
    const CheckedView from_a = check_view(runtime_, a, pairs, Access::read, kName, "a");
    const CheckedView from_b = check_view(runtime_, b, pairs, Access::read, kName, "b");
    const CheckedView from_x = check_view(runtime_, x, singles, Access::read, kName, "x");
    const CheckedView to = check_view(runtime_, y, singles, Access::write, kName, "y");
    check_disjoint(from_a, to, kName, "a", "y");
    check_disjoint(from_b, to, kName, "b", "y");
    check_disjoint(from_x, to, kName, "x", "y");
    cl_float2 parameters{};
    parameters.s[0] = problem_.parameters[0];
    parameters.s[1] = problem_.parameters[1];
    Kernel kernel(runtime_, program_, kernel_name(variant_));
    return kernel(launch(), wait, from_a.buffer, static_cast<cl_ulong>(from_a.offset / kPairBytes),
                  from_b.buffer, static_cast<cl_ulong>(from_b.offset / kPairBytes), from_x.buffer,
                  static_cast<cl_ulong>(from_x.offset / sizeof(float)), to.buffer,
                  static_cast<cl_ulong>(to.offset / sizeof(float)),
                  static_cast<cl_ulong>(problem_.count), parameters,
                  static_cast<cl_int>(problem_.cost));
  }

  const Problem& problem() const { return problem_; }
  // The variant that runs; never automatic.
  Variant variant() const { return variant_; }
  // The work-group size that runs.
  std::size_t group() const { return group_; }

  // Bytes that a problem of this many items reads and writes; tunings are filed under it.
  static double bytes(double count) { return count * (2 * 8 + 4 + 4); }

  // The program's text with the function. For tools; plans call it themselves.
  static Source source(const Function& function) {
    const Source ours(embedded::argument_swap);
    if (function.text.empty()) return ours;
    Source both("argument_swap with " + function.name,
                "#include \"" + function.name + "\"\n#include \"" + ours.name() + "\"\n");
    both.header(function.name, function.text).header(ours.name(), ours.flatten());
    return both;
  }

  // The definitions that select a variant's program. For tools; plans call it themselves.
  static Defines defines(Variant variant, const Function& function = {}) {
    Defines out;
    out.flag("CLCOOK_ARGUMENT_SWAP_ONLY");
    if (!function.text.empty()) out.flag("CLCOOK_ARGUMENT_SWAP_OWN_FUNCTION");
    switch (variant) {
      case Variant::two_calls:
        return out.flag("CLCOOK_ARGUMENT_SWAP_TWO_CALLS");
      case Variant::swap_in_place:
        return out.flag("CLCOOK_ARGUMENT_SWAP_SWAP_IN_PLACE");
      case Variant::select:
      case Variant::automatic:
        break;
    }
    return out.flag("CLCOOK_ARGUMENT_SWAP_SELECT");
  }

  static std::string kernel_name(Variant variant) {
    return std::string("argument_swap_") + to_string(variant);
  }

  // Every variant that runs, in the order of the recipe.
  static constexpr Variant kVariants[] = {Variant::two_calls, Variant::swap_in_place,
                                          Variant::select};

  static const char* to_string(Variant variant) {
    switch (variant) {
      case Variant::automatic:
        return "automatic";
      case Variant::two_calls:
        return "two_calls";
      case Variant::swap_in_place:
        return "swap_in_place";
      case Variant::select:
        return "select";
    }
    fail(Errc::invalid_argument, kName,
         text("there is no variant of the value ", static_cast<int>(variant)));
  }

  // The variant of that name, automatic included. Throws Error(invalid_argument) that lists the
  // names.
  static Variant parse_variant(std::string_view name) {
    return parse_name<Variant>(kName, "variant", name, kVariants,
                               [](Variant variant) { return to_string(variant); },
                               {Variant::automatic});
  }

 private:
  static constexpr const char* kName = "ArgumentSwap";
  static constexpr std::size_t kPairBytes = 2 * sizeof(float);

  static void check_problem(const Problem& p) {
    constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max() / kPairBytes;
    if (p.count == 0 || p.count > kMost) {
      fail(Errc::invalid_argument, kName, text("count must be 1 to ", kMost, ", got ", p.count));
    }
    if (p.cost < 1 || p.cost > kMaxCost) {
      fail(Errc::invalid_argument, kName, text("cost must be 1 to ", kMaxCost, ", got ", p.cost));
    }
    const float first = p.parameters[0];
    const float last = p.parameters[1];
    if (p.function.text.empty()) {
      if (!p.function.name.empty()) {
        fail(Errc::invalid_argument, kName,
             "the function '" + p.function.name + "' has no text; leave its name empty for ours");
      }
      if (!(first > 0 && last >= first && std::isfinite(last))) {
        fail(Errc::invalid_argument, kName,
             text("the band must be finite, positive and in rising order, got ", first, " to ",
                  last, " per micrometre"));
      }
      return;
    }
    const std::string& name = p.function.name;
    bool good = !name.empty();
    for (const char c : name) good = good && c != '"' && static_cast<unsigned char>(c) >= ' ';
    // These would take the place of the texts that the program is made of.
    good = good && name.rfind("clcook/", 0) != 0 && name != embedded::argument_swap.name;
    if (!good) {
      fail(Errc::invalid_argument, kName,
           "the function's name must be a file name without quotes and line ends that is none of "
           "clcook's, got '" +
               name + "'");
    }
  }

  // Fills in what was left to be chosen.
  void choose() {
    const bool automatic = variant_ == Variant::automatic;
    const TuningChoice choice = runtime_.tuning().choose(runtime_.info(), "argument_swap",
                                                         bytes(static_cast<double>(problem_.count)),
                                                         automatic ? "" : to_string(variant_));
    const bool measured = choice.match != TuningChoice::Match::none;
    if (automatic) variant_ = measured ? parse_variant(choice.entry.variant) : Variant::select;
    if (group_ != 0) return;
    group_ = kDefaultGroup;
    if (!measured) return;
    const int group = choice.entry.integer("group", 0);
    if (group > 0 && static_cast<std::size_t>(group) <= runtime_.info().max_group) {
      group_ = static_cast<std::size_t>(group);
    }
  }

  Launch launch() const { return Launch::cover({problem_.count, 1, 1}, {group_, 1, 1}); }

  Runtime runtime_;
  Problem problem_;
  Variant variant_;
  std::size_t group_;
  cl::Program program_;
};

}  // namespace clcook
