// What the plans of the Gaussian blur share. Its rows are in methods.hpp.
#pragma once

#include <clcook/core/image_staging.hpp>
#include <clcook/core/inline.hpp>
#include <clcook/core/plan.hpp>
#include <clcook/gaussian_blur/method.hpp>
#include <memory>
#include <vector>

namespace clcook::gaussian {

// What calls share: one after the other on the device, also those before set_sigma().
struct Memory {
  CallOrder call_order;
  Scratch scratch;
  ImageStaging staging;
};

struct Spec : PlainSpec {
  using Problem = gaussian::Problem;
  struct Tune {};
  using Derived = Filtered;
  using Design = gaussian::Design;
  // A method: what it offers, and its kernels.
  struct Traits {
    Offer (*offer)(const Runtime&, const Filtered&);
    std::vector<CompileUnit> (*units)(const Problem&, const Axes&, const DeviceInfo&);
    bool is_composed = false;        // has the kernels of others too, which its offer lists
    const char* no_alpha = nullptr;  // why it has no straight alpha
  };
  struct Resources {
    std::unique_ptr<Method> method;
  };
  using Row = VariantRow<Spec>;
  static constexpr const char* kName = "GaussianBlur";
  static constexpr const char* kRecipe = "gaussian_blur";
  static constexpr bool kByCost = true;  // the best method depends on sigma

  // The baseline first.
  static const std::vector<Row>& variants();

  static std::vector<TuneField<Tune>> fields() { return {}; }
  static Tune defaults(const Row&, const Problem&, const DeviceInfo&) { return {}; }
  static void check_tune(const Setup<Spec>&) {}
  static double bytes(const Problem& p) { return 2 * bytes_of(p); }

  // Throws Error(invalid_argument) that names the value and the rule.
  static void check(const Problem& p);

  // By the type of the channels, and by radius. Halves count as floats, shorts as bytes.
  static std::vector<std::string> tuning_names(const Problem& p);

  static std::shared_ptr<const Design> derive(const Setup<Spec>&) { return nullptr; }  // offer()
  static Offer offer(const Runtime& runtime, const Setup<Spec>& s);
  static std::vector<CompileUnit> units(const Setup<Spec>& s);
  static Resources allocate(const Runtime& runtime, const Setup<Spec>& s,
                            const std::vector<cl::Program>& programs);
};

}  // namespace clcook::gaussian

#if CLCOOK_DEFINITIONS
#include <clcook/gaussian_blur/methods.hpp>
#endif
