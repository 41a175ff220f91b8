// The definitions of clcook/line_blur.hpp: its variant that is a method of the Gaussian blur.
#pragma once

#include <clcook/gaussian_blur/cpu_fused.hpp>
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

CLCOOK_INLINE Offer Spec::fused_offer(const Runtime& runtime, const Setup<Spec>& s) {
  const Problem& p = s.problem;
  const std::vector<double> weights = exact_weights(p);
  gaussian::Axes axes;
  axes.x.sigma = p.radius * p.relative_sigma.value;
  axes.x.radius = static_cast<int>(p.radius);
  axes.x.weights.assign(weights.begin() + axes.x.radius, weights.end());
  axes.y = axes.x;
  axes.z = gaussian::make_axis(0, 1);
  Offer out = gaussian::offer_of<gaussian::CpuFused>(runtime, {blur_problem(p), axes});
  const auto cut = std::make_shared<Cut>(*s.design);
  cut->fused = std::static_pointer_cast<const gaussian::Design>(out.design);
  out.design = cut;
  return out;
}

CLCOOK_INLINE std::vector<CompileUnit> Spec::fused_units(const Setup<Spec>& s) {
  return gaussian::CpuFused::units(blur_problem(s.problem), {}, s.device);
}

}  // namespace clcook::line_blur
