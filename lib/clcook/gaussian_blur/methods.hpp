// The methods of the Gaussian blur: one line each.
#pragma once

#include <clcook/gaussian_blur/method.hpp>
#include <clcook/gaussian_blur/naive.hpp>
#include <clcook/gaussian_blur/pyramid.hpp>
#include <memory>
#include <vector>

namespace clcook::gaussian {

enum class Variant {
  automatic,  // the cheapest method that promises the quality
  naive,      // two passes, every tap from global memory
  pyramid,    // on a coarse grid, for large sigma
};

struct MethodInfo {
  Variant variant;
  const char* name;
  const char* summary;
  Offer (*offer)(const Runtime&, const Problem&, const Axes&);
  std::unique_ptr<Method> (*make)(const Runtime&, const Problem&, const Axes&);
  std::vector<Unit> (*units)(const Problem&, const Axes&);
};

template <class M>
MethodInfo method_info(Variant variant, const char* name, const char* summary) {
  return {variant,
          name,
          summary,
          M::offer,
          [](const Runtime& runtime, const Problem& problem, const Axes& axes) {
            return std::unique_ptr<Method>(new M(runtime, problem, axes));
          },
          M::units};
}

// The baseline first.
inline const std::vector<MethodInfo>& methods() {
  static const std::vector<MethodInfo> all{
      method_info<Naive>(Variant::naive, "naive", "two passes, every tap from global memory"),
      method_info<Pyramid>(Variant::pyramid, "pyramid",
                           "a blur of a coarse grid of splines; any large sigma at one cost"),
  };
  return all;
}

}  // namespace clcook::gaussian
