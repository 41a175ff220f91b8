// The definitions of clcook/line_blur.hpp: its variants that are methods of the Gaussian blur.
#pragma once

#include <clcook/gaussian_blur/cpu_fused.hpp>
#include <clcook/gaussian_blur/fused.hpp>
#include <clcook/line_blur.hpp>
#include <cstddef>
#include <memory>
#include <string>
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

CLCOOK_INLINE Offer Spec::method_offer(const Runtime& runtime, const Setup<Spec>& s) {
  const gaussian::Filtered blur = filtered(s.problem, exact_weights(s.problem));
  Offer out = s.row.is_for_cpus ? gaussian::offer_of<gaussian::CpuFused>(runtime, blur)
                                : gaussian::offer_of<gaussian::Fused>(runtime, blur);
  const auto cut = std::make_shared<Cut>(*s.design);
  cut->method = std::static_pointer_cast<const gaussian::Design>(out.design);
  out.design = cut;
  return out;
}

CLCOOK_INLINE std::vector<CompileUnit> Spec::method_units(const Setup<Spec>& s) {
  const gaussian::Filtered blur = filtered(s.problem, exact_weights(s.problem));
  return s.row.is_for_cpus ? gaussian::CpuFused::units(blur, *blur.axes, s.device)
                           : gaussian::Fused::units(blur, *blur.axes, s.device);
}

}  // namespace clcook::line_blur
