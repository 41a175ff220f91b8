// The methods of the Gaussian blur: one line each.
#pragma once

#include <clcook/gaussian_blur/cpu_fused.hpp>
#include <clcook/gaussian_blur/cpu_pyramid.hpp>
#include <clcook/gaussian_blur/fused.hpp>
#include <clcook/gaussian_blur/method.hpp>
#include <clcook/gaussian_blur/naive.hpp>
#include <clcook/gaussian_blur/pyramid.hpp>
#include <clcook/gaussian_blur/separable.hpp>
#include <clcook/gaussian_blur/tensor.hpp>
#include <clcook/gaussian_blur/tensor_bytes.hpp>
#include <memory>
#include <vector>

namespace clcook::gaussian {

enum class Variant {
  automatic,     // the cheapest method that promises the quality
  naive,         // two passes, every tap from global memory
  separable,     // two passes through local memory
  fused,         // both passes in one launch, radii up to 10
  pyramid,       // on a coarse grid, for large sigma
  cpu_fused,     // for CPUs: one pass, a work-item per tile
  cpu_pyramid,   // for CPUs and large sigma: made small, blurred, made large
  tensor,        // products of halves on NVIDIA's matrix units
  tensor_split,  // the same with values and weights in two halves each
  tensor_bytes,  // byte pictures as products of bytes on NVIDIA's matrix units
};

struct MethodInfo {
  Variant variant;
  const char* name;
  const char* summary;
  const char* needs;  // beyond OpenCL C 1.2; empty for nothing
  Offer (*offer)(const Runtime&, const Problem&, const Axes&);
  std::unique_ptr<Method> (*make)(const Runtime&, const Problem&, const Axes&, const Offer&,
                                  Programs&);
  std::vector<Unit> (*units)(const Problem&, const Axes&);
};

template <class M>
MethodInfo method_info(Variant variant, const char* name, const char* summary,
                       const char* needs = "") {
  return {variant,
          name,
          summary,
          needs,
          M::offer,
          [](const Runtime& runtime, const Problem& problem, const Axes& axes, const Offer& offer,
             Programs& programs) {
            return std::unique_ptr<Method>(new M(runtime, problem, axes, offer, programs));
          },
          M::units};
}

// The baseline first.
inline const std::vector<MethodInfo>& methods() {
  static const std::vector<MethodInfo> all{
      method_info<Naive>(Variant::naive, "naive", "two passes, every tap from global memory"),
      method_info<Separable>(Variant::separable, "separable", "two passes through local memory"),
      method_info<Fused>(Variant::fused, "fused", "both passes in one launch, radii up to 10"),
      method_info<Pyramid>(Variant::pyramid, "pyramid",
                           "a blur of a coarse grid of splines; any large sigma at one cost"),
      method_info<CpuFused>(Variant::cpu_fused, "cpu_fused",
                            "for CPUs: one pass, a work-item per tile, a ring of lines"),
      method_info<CpuPyramid>(Variant::cpu_pyramid, "cpu_pyramid",
                              "for CPUs and large sigma: made small, blurred, made large"),
      method_info<Tensor<false>>(Variant::tensor, "tensor",
                                 "products of halves on NVIDIA's matrix units",
                                 "mma.sync of NVIDIA GPUs"),
      method_info<Tensor<true>>(Variant::tensor_split, "tensor_split",
                                "the same with values and weights in two halves each",
                                "mma.sync of NVIDIA GPUs"),
      method_info<TensorBytes>(Variant::tensor_bytes, "tensor_bytes",
                               "byte pictures as products of bytes on NVIDIA's matrix units",
                               "mma.sync of NVIDIA GPUs"),
  };
  return all;
}

}  // namespace clcook::gaussian
