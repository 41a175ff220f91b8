// The definitions of clcook/line_blur.hpp: its variants that are methods of the Gaussian blur.
#pragma once

#include <clcook/gaussian_blur/cpu_bytes.hpp>
#include <clcook/gaussian_blur/cpu_fused.hpp>
#include <clcook/gaussian_blur/fused.hpp>
#include <clcook/line_blur.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace clcook::line_blur {

inline gaussian::Problem blur_problem(const Problem& p) {
  gaussian::Problem out;
  out.width = p.width;
  out.height = p.height;
  out.pixel = p.pixel;
  out.alpha = p.alpha;
  return out;
}

// The blur as the Gaussian's methods take it: the same weights for rows and columns.
inline gaussian::Filtered filtered(const Problem& p, const std::vector<double>& weights) {
  gaussian::Axes axes;
  axes.x.sigma = p.radius * p.relative_sigma.value;
  axes.x.radius = static_cast<int>(p.radius);
  axes.x.weights.assign(weights.begin() + axes.x.radius, weights.end());
  axes.y = axes.x;
  axes.z = gaussian::make_axis(0, 1);
  return {blur_problem(p), axes};
}

// What `use` makes of a row's method.
template <class Use>
auto with_method(const Spec::Row& row, const Use& use) {
  if (row.traits.is_bytes) return use(static_cast<gaussian::CpuBytes*>(nullptr));
  if (row.is_for_cpus) return use(static_cast<gaussian::CpuFused*>(nullptr));
  return use(static_cast<gaussian::Fused*>(nullptr));
}

CLCOOK_INLINE Offer Spec::method_offer(const Runtime& runtime, const Setup<Spec>& s) {
  if (s.row.traits.is_bytes && is_straight(s.problem))
    return Offer::no(Lacks::problem, "it multiplies bytes, and colours times alpha are none");
  const gaussian::Filtered blur = filtered(s.problem, exact_weights(s.problem));
  Offer out = with_method(s.row, [&](auto* method) {
    return gaussian::offer_of<std::remove_pointer_t<decltype(method)>>(runtime, blur);
  });
  const auto cut = std::make_shared<Cut>(*s.design);
  cut->method = std::static_pointer_cast<const gaussian::Design>(out.design);
  out.design = cut;
  return out;
}

CLCOOK_INLINE std::vector<CompileUnit> Spec::method_units(const Setup<Spec>& s) {
  const gaussian::Filtered blur = filtered(s.problem, exact_weights(s.problem));
  return with_method(s.row,
                     [&](auto* method) { return method->units(blur, *blur.axes, s.device); });
}

}  // namespace clcook::line_blur
