// The method straight_alpha: colours times alpha as floats, the best method for such a picture or
// volume, and the division by the blurred alpha. For methods that do not weight what they read, and
// calls in place.
#pragma once

#include <algorithm>
#include <clcook/core/plan.hpp>
#include <clcook/core/rates.hpp>
#include <clcook/embedded/gaussian_blur.hpp>
#include <clcook/gaussian_blur/method.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace clcook::gaussian {

// The pictures of colours times alpha.
inline Problem products_of(const Problem& p) {
  Problem out = p;
  out.alpha = Alpha::none;
  out.in_place = false;
  out.pixel = pixel_type(Channel::f32, channels_of(p));
  if (is_integer(p.pixel)) out.peak = peak_of(p);
  out.outside = weighted_outside(p);
  return out;
}

// Another method blurs the products.
class StraightAlpha : public Method {
 public:
  // How the products are blurred.
  struct Design {
    const VariantInfo* variant = nullptr;
    Offer offer;
  };

  static Offer offer(const Runtime& runtime, const Problem& p, const Axes& axes, Design& design) {
    if (!is_straight(p)) return Offer::no(Lacks::problem, "is for pictures with straight alpha");
    constexpr double kShare = 0.999;  // of what may be lost
    const double rest = math::exp(-p.quality * 0.11512925464970229) * kShare - alpha_roundings(p);
    Problem products = products_of(p);
    if (rest > 0) {
      products.quality = std::clamp(psnr_of(rest), 0.0, kMostQuality);
      try {
        const Candidate best = choice(ProblemOf<Spec>(products), runtime);
        design = {best.variant, *best.offer};
      } catch (const Error& error) {
        if (error.code != Errc::unsupported) throw;
        if (error.lacks != Lacks::quality) return Offer::no(error.lacks, error.what());
      }
    }
    if (design.variant == nullptr) {
      const double best = psnr_of((least_error(runtime, products) + alpha_roundings(p)) / kShare);
      Offer out = Offer::no(Lacks::quality, text("promises ", three_digits(best),
                                                 " dB for a floor of ", three_digits(p.quality)));
      out.psnr = best;
      return out;
    }
    Offer out;
    out.max_error = design.offer.max_error + alpha_roundings(p);
    const double floats = values_of(p) * sizeof(float);
    const Work own{bytes_of(p) + floats, bytes_of(p) + floats, 0, 2};
    out.work = design.offer.work;
    out.work += own;
    out.cost = design.offer.cost + microseconds(device_rates(runtime), own);
    out.units = units(p, axes, runtime.info());
    out.units.insert(out.units.end(), design.offer.units.begin(), design.offer.units.end());
    out.in_place = true;  // src has been read when the last pass writes
    return out;
  }

  static std::vector<CompileUnit> units(const Problem& p, const Axes&, const DeviceInfo&) {
    Defines defines;
    set_pixel(defines, p);
    const embedded::File& file = embedded::gaussian_blur_straight_alpha;
    return {unit(kMultiply, file, defines, {0, 0, 0}), unit(kDivide, file, defines, {0, 0, 0})};
  }

  StraightAlpha(const Runtime& runtime, const Problem& p, const Axes&, const Design& design,
                const std::vector<cl::Program>& programs)
      : runtime_(runtime), problem_(p), multiply_(programs[0]), divide_(programs[1]) {
    name_ = design.variant->name;
    blur_ = made(design.offer, runtime, {programs.begin() + 2, programs.end()});
    group_ = row_group({Kernel(runtime, multiply_, kMultiply), Kernel(runtime, divide_, kDivide)},
                       runtime.info());
  }

  cl::Event enqueue(const Call& call, Scratch& scratch,
                    const std::vector<cl::Event>& wait) override {
    const Region& region = call.region;
    const auto size = [](int value) { return static_cast<std::size_t>(value); };
    const std::size_t pixel = size(channels_of(problem_)) * sizeof(float);
    const std::size_t channel = channel_bytes(problem_.pixel);
    // Rows of floats without gaps.
    const auto floats = [&](std::size_t index, int width, std::size_t rows) {
      const std::size_t row = size(width) * pixel;
      return CheckedView{scratch.get(runtime_, index, row * rows), 0, row, row, rows};
    };
    const auto launch = [&](int width, int height, std::size_t count) {
      return Launch::cover({size(width), size(height), count}, {group_, 1, 1});
    };
    const std::size_t slices = size(problem_.depth) * size(problem_.batch);
    const CheckedView products = floats(kProducts, problem_.width, size(problem_.height) * slices);
    Kernel multiply(call.runtime, multiply_, kMultiply);
    const cl::Event made =
        multiply(launch(problem_.width, problem_.height, slices), wait, call.src.buffer,
                 kernel_view(call.src, channel), products.buffer, cl_int{problem_.width},
                 cl_int{problem_.height});
    const std::size_t out_slices = size(region.depth) * size(problem_.batch);
    const CheckedView blurred = floats(kBlurred, region.width, size(region.height) * out_slices);
    const cl::Event done =
        blur_->enqueue({call.runtime, call.scope, products, blurred, region}, scratch, {made});
    Kernel divide(call.runtime, divide_, kDivide);
    return divide(launch(region.width, region.height, out_slices), {done}, blurred.buffer,
                  call.dst.buffer, kernel_view(call.dst, channel), cl_int{region.width},
                  cl_int{region.height});
  }

  std::string describe() const override {
    return "colours times alpha as floats, " + name_ + ": " + blur_->describe() +
           ", divided by alpha";
  }

  Cut cut() const override { return blur_->cut(); }

 private:
  // That of the best method for the products, whatever quality is asked for.
  static double least_error(const Runtime& runtime, Problem products) {
    products.quality = kMostQuality;
    const ProblemOf<Spec> problem(products);
    double psnr = 0;
    for (const Spec::Row& row : Spec::variants()) {
      if (!row.may_take(runtime.info())) continue;
      const Offer one = problem.offer(runtime, row);
      if (one.can() || one.lacks == Lacks::quality) psnr = std::max(psnr, one.psnr);
    }
    return math::exp(-psnr * 0.11512925464970229);  // 10^(-psnr / 20)
  }

  static constexpr const char* kMultiply = "gaussian_blur_straight_alpha_multiply";
  static constexpr const char* kDivide = "gaussian_blur_straight_alpha_divide";
  // Of the plan's memory; the method between takes the first ones.
  static constexpr std::size_t kProducts = 8;
  static constexpr std::size_t kBlurred = 9;

  Runtime runtime_;
  Problem problem_;
  cl::Program multiply_;
  cl::Program divide_;
  std::string name_;
  std::unique_ptr<Method> blur_;
  std::size_t group_ = 0;  // see row_group()
};

}  // namespace clcook::gaussian
