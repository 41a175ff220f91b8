// The calls of plans whose methods are those of the Gaussian blur: the definitions of PlanCall.
#pragma once

#include <clcook/core/image_staging.hpp>
#include <clcook/gaussian_blur/method.hpp>
#include <vector>

namespace clcook::gaussian {

inline cl::Event PlanCall::operator()(const BufferView& src, const BufferView& dst,
                                      const Region& region,
                                      const std::vector<cl::Event>& wait) const {
  check_region(region);
  const CheckedView from = check_view(runtime, src, layout(whole()), Access::read, where, "src");
  const CheckedView to = check_view(runtime, dst, layout(region), Access::write, where, "dst");
  if (!in_place && overlap(from, to)) {
    fail(Errc::invalid_argument, where,
         text("src (bytes ", from.offset, " to ", from.end(), ") and dst (bytes ", to.offset,
              " to ", to.end(), ") overlap in one buffer; the method ", variant,
              " does not work in place: set Problem::in_place for one that does"));
  }
  check_wait(runtime, wait, where);
  if (!method.uses_scratch())
    return method.enqueue({runtime, nullptr, from, to, region}, memory.scratch, wait);
  CallScope scope(runtime, memory.call_order);
  method.enqueue({scope.runtime(), &scope, from, to, region}, memory.scratch,
                 scope.wait_list(wait));
  return scope.end();
}

inline cl::Event PlanCall::operator()(const ImageView& src, const ImageView& dst,
                                      const std::vector<cl::Event>& wait) const {
  const Problem& p = problem;
  if (channels_of(p) == 3 || p.batch != 1 || is_volume(p)) {
    fail(Errc::invalid_argument, where,
         text("images have 1, 2 or 4 channels, no batch and no depth; the problem has ",
              channels_of(p), " channels, a batch of ", p.batch, ", a depth of ", p.depth,
              " and a sigma_z of ", p.sigma_z));
  }
  const ImageLayout images{static_cast<std::size_t>(p.width), static_cast<std::size_t>(p.height),
                           pixel_bytes(p), stored_formats(type_of(p))};
  return memory.staging.run(
      runtime, images, src, dst, wait, memory.call_order, where,
      [&](CallScope& scope, const auto& from, const auto& to, const auto& before) {
        return method.enqueue({scope.runtime(), &scope, from, to, whole()}, memory.scratch, before);
      });
}

inline RowLayout PlanCall::layout(const Region& region) const {
  const Problem& p = problem;
  const std::size_t bytes = pixel_bytes(p);
  return {static_cast<std::size_t>(region.width) * bytes,
          static_cast<std::size_t>(region.height) * static_cast<std::size_t>(region.depth) *
              static_cast<std::size_t>(p.batch),
          channels_of(p) == 3 ? channel_bytes(p.pixel) : bytes};
}

inline void PlanCall::check_region(const Region& r) const {
  const Problem& p = problem;
  if (r.x < 0 || r.y < 0 || r.width < 1 || r.height < 1 || r.width > p.width ||
      r.height > p.height || r.x > p.width - r.width || r.y > p.height - r.height) {
    fail(Errc::invalid_argument, where,
         text("the region of ", r.width, " x ", r.height, " pixels at ", r.x, ", ", r.y,
              " must lie within the picture of ", p.width, " x ", p.height));
  }
  if (r.z < 0 || r.depth < 1 || r.depth > p.depth || r.z > p.depth - r.depth) {
    fail(Errc::invalid_argument, where,
         text("the region of ", r.depth, " slices from ", r.z, " on must lie within the ", p.depth,
              " of the volume"));
  }
  if (is_volume(p) && (r.width != p.width || r.height != p.height)) {
    fail(Errc::invalid_argument, where,
         text("a region of a volume has whole slices of ", p.width, " x ", p.height,
              " pixels, got ", r.width, " x ", r.height));
  }
}

}  // namespace clcook::gaussian
