// GaussianBlur::by_strips(): pictures and volumes in host memory, as large as they may be, on one or
// several devices.
//
//   const std::vector<float> src(64 * 48 * 4, 0.5f);
//   std::vector<float> dst(src.size());
//   clcook::StripPipeline pipeline({clcook::Runtime::pick()});  // kept for the next picture
//   const clcook::StripReport report = clcook::GaussianBlur::by_strips(
//       pipeline, {64, 48, 2.0, 2.0}, src.data(), 0, dst.data(), 0);
//
// A header of its own, since it needs threads and most programs do not need it.
#pragma once

#include <clcook/core/inline.hpp>
#include <clcook/core/strips.hpp>
#include <clcook/gaussian_blur.hpp>

#if CLCOOK_DEFINITIONS
#include <clcook/gaussian_blur/impl_strips.hpp>
#endif
