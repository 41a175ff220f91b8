// The methods of the Gaussian blur, a row each: the definitions of clcook/gaussian_blur/method.hpp.
#pragma once

#include <algorithm>
#include <clcook/gaussian_blur/cpu_bytes.hpp>
#include <clcook/gaussian_blur/cpu_fused.hpp>
#include <clcook/gaussian_blur/cpu_pyramid.hpp>
#include <clcook/gaussian_blur/fused.hpp>
#include <clcook/gaussian_blur/method.hpp>
#include <clcook/gaussian_blur/naive.hpp>
#include <clcook/gaussian_blur/pyramid.hpp>
#include <clcook/gaussian_blur/separable.hpp>
#include <clcook/gaussian_blur/straight_alpha.hpp>
#include <clcook/gaussian_blur/tensor.hpp>
#include <clcook/gaussian_blur/tensor_bytes.hpp>
#include <clcook/gaussian_blur/volume.hpp>
#include <memory>
#include <string>
#include <vector>

namespace clcook::gaussian {

inline constexpr const char* kMma = "mma.sync of NVIDIA GPUs";

// Why a method has no straight alpha.
inline constexpr const char* kOneChannel =
    "a work-item has one channel, and dividing it takes its pixel's alpha too";
inline constexpr const char* kAsStored =
    "multiplies values as they are stored; `straight_alpha` takes it for colours times alpha";
inline constexpr const char* kBytes = "multiplies bytes, and colours times alpha are none";

// A method of pictures; volumes get it through `volume`.
template <class M>
Spec::Row method_row(const char* name, const char* summary, const char* no_alpha = nullptr) {
  return Spec::Row(name, summary,
                   {[](const Runtime& runtime, const Filtered& p) {
                      if (is_volume(p))
                        return Offer::no(Lacks::problem,
                                         "is for pictures; `volume` takes it for slices");
                      return offer_of<M>(runtime, p);
                    },
                    M::units, false, no_alpha});
}

// A method of pictures that has a method of volumes.
template <class M, class V>
Spec::Row method_row(const char* name, const char* summary, const char* no_alpha = nullptr) {
  return Spec::Row(name, summary,
                   {[](const Runtime& runtime, const Filtered& p) {
                      return is_volume(p) ? offer_of<V>(runtime, p) : offer_of<M>(runtime, p);
                    },
                    [](const Problem& problem, const Axes& axes, const DeviceInfo& device) {
                      return is_volume(problem) ? V::units(problem, axes, device)
                                                : M::units(problem, axes, device);
                    },
                    false, no_alpha});
}

// A method that is put together from others.
template <class M>
Spec::Row composed_row(const char* name, const char* summary) {
  return Spec::Row(name, summary, {offer_of<M>, M::units, true});
}

CLCOOK_INLINE const std::vector<Spec::Row>& Spec::variants() {
  static const std::vector<Row> all{
      method_row<Naive<true>, FloatVolume<Naive<true>>>(
          "per_pixel", "two passes, every tap from global memory, a pixel per work-item")
          .baseline()
          .by_name(),
      method_row<Naive<false>, FloatVolume<Naive<false>>>(
          "naive", "two passes, every tap from global memory, a channel per work-item", kOneChannel)
          .against("per_pixel", "a channel per work-item, each tap's border and weight looked up"),
      method_row<Separable, FloatVolume<Separable>>("separable", "two passes through local memory")
          .against("per_pixel", "tiles in local memory, 12 sums of an item in registers"),
      method_row<Fused>("fused", "both passes in one launch, radii up to 10")
          .against("separable", "both passes in one launch"),
      method_row<Pyramid>("pyramid",
                          "a blur of a coarse grid of splines; any large sigma at one cost")
          .against("separable", "a coarse grid of splines is blurred"),
      method_row<CpuFused>("cpu_fused", "for CPUs: one pass, a work-item per tile, a ring of lines")
          .against("fused", "a tile per work-item, a ring of lines in its cache")
          .for_cpus_only(),
      method_row<CpuBytes>("cpu_bytes", "for CPUs and bytes, small sigma: sums of 16 bits, no ring",
                           kBytes)
          .against("cpu_fused", "bytes in vectors of 16 bits, columns from the source as it lies")
          .costs_like("cpu_fused")
          .for_cpus_only(),
      method_row<CpuPyramid>("cpu_pyramid",
                             "for CPUs and large sigma: made small, blurred, made large")
          .against("cpu_fused", "the picture is made small, blurred, made large")
          .for_cpus_only(),
      method_row<Tensor<false>>("tensor", "products of halves on NVIDIA's matrix units", kAsStored)
          .against("separable", "products of halves on matrix units")
          .need(kMma),
      method_row<Tensor<true>>(
          "tensor_split", "the same with each value and weight as the sum of two halves", kAsStored)
          .against("tensor", "each value and weight as the sum of two halves")
          .need(kMma),
      method_row<TensorBytes>("tensor_bytes",
                              "byte pictures as products of bytes on NVIDIA's matrix units", kBytes)
          .against("tensor", "products of bytes")
          .need(kMma),
      composed_row<BestOfVolume>(
          "volume", "for volumes: slices, then along z, each by the best method for it")
          .against("separable", "a method for each part, pixels between them"),
      composed_row<StraightAlpha>(
          "straight_alpha",
          "straight alpha for methods without: colours times alpha, the best method, divided again")
          .against("separable", "a multiplication by alpha before, a division by it after"),
  };
  return all;
}

CLCOOK_INLINE std::vector<std::string> Spec::tuning_names(const Problem& p) {
  static constexpr int kRadii[] = {4, 10, 32, 128, 512, 4000};
  static constexpr int kCount = 6;
  const int radius = filter_radius(std::max({p.sigma_x, p.sigma_y, p.sigma_z}), p.truncate);
  int own = 0;
  while (own < kCount - 1 && radius > kRadii[own]) ++own;
  std::vector<std::string> out;
  const auto add = [&](int i) {
    if (i >= 0 && i < kCount)
      out.push_back(text(kRecipe, is_integer(p.pixel) ? "/u8/" : "/f32/", kRadii[i]));
  };
  add(own);
  for (int away = 1; away < kCount; ++away) {
    add(own - away);
    add(own + away);
  }
  return out;
}

CLCOOK_INLINE Offer Spec::offer(const Runtime& runtime, const Setup<Spec>& s) {
  const Filtered& p = s.problem;
  const Traits& traits = s.row.traits;
  if (is_straight(p) && traits.no_alpha != nullptr)
    return Offer::no(Lacks::problem, traits.no_alpha);
  Offer out = traits.offer(runtime, p);
  if (!out.can()) return out;
  // Of those that are put together the parts have counted it.
  if (!traits.is_composed) out.max_error += alpha_roundings(p);
  if (p.in_place && !out.in_place) return Offer::no(Lacks::problem, "does not work in place");
  out.psnr = psnr_of(out.max_error);
  if (out.psnr >= p.quality) return out;
  Offer refused = Offer::no(Lacks::quality, text("promises ", three_digits(out.psnr),
                                                 " dB for a floor of ", three_digits(p.quality)));
  refused.psnr = out.psnr;
  return refused;
}

CLCOOK_INLINE std::vector<CompileUnit> Spec::units(const Setup<Spec>& s) {
  return s.row.traits.units(s.problem, *s.problem.axes, s.device);
}

CLCOOK_INLINE Spec::Resources Spec::allocate(const Runtime& runtime, const Setup<Spec>& s,
                                             const std::vector<cl::Program>& programs) {
  return {s.design->make(runtime, programs)};
}

}  // namespace clcook::gaussian
