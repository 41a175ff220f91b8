// The definitions of clcook/gaussian_blur.hpp.
#pragma once

#include <algorithm>
#include <clcook/core/math.hpp>
#include <clcook/core/names.hpp>
#include <clcook/gaussian_blur.hpp>
#include <clcook/gaussian_blur/calls.hpp>
#include <clcook/gaussian_blur/methods.hpp>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace clcook {

CLCOOK_INLINE cl::Event GaussianBlur::operator()(const BufferView& src, const BufferView& dst,
                                                 const std::vector<cl::Event>& wait) const {
  return call()(src, dst, call().whole(), wait);
}

CLCOOK_INLINE cl::Event GaussianBlur::operator()(const BufferView& src, const BufferView& dst,
                                                 std::initializer_list<cl::Event> wait) const {
  return call()(src, dst, call().whole(), wait);
}

CLCOOK_INLINE cl::Event GaussianBlur::operator()(const BufferView& src, const BufferView& dst,
                                                 const Region& region,
                                                 const std::vector<cl::Event>& wait) const {
  return call()(src, dst, region, wait);
}

CLCOOK_INLINE cl::Event GaussianBlur::operator()(const ImageView& src, const ImageView& dst,
                                                 const std::vector<cl::Event>& wait) const {
  return call()(src, dst, wait);
}

CLCOOK_INLINE gaussian::PlanCall GaussianBlur::call() const {
  return {runtime(),          problem(), *resources().method, *memory_, in_place(),
          row().name.c_str(), kName};
}

CLCOOK_INLINE void GaussianBlur::set_sigma(double sigma_x, double sigma_y) {
  const auto next = std::make_shared<const Posed>(with_sigma(sigma_x, sigma_y));
  const Runtime device = runtime();
  Question question = question_of(*next, device, wanted_.row());
  question.offer = [&](const VariantInfo& variant, const Params& tune) {
    // The kernels of a method that is put together are known with its offer alone.
    const bool composed = static_cast<const Row&>(variant).traits.is_composed;
    Offer offer;
    if (composed) offer = next->offer(device, variant, tune);
    for (const CompileUnit& unit :
         composed ? offer.units : next->units(variant, tune, device.info())) {
      if (!programs().has(unit))
        return Offer::no(Lacks::problem, "its program is not built; build_for() does that");
    }
    return composed ? offer : next->offer(device, variant, tune);
  };
  take_first(device, next, question);
}

CLCOOK_INLINE void GaussianBlur::build_for(double sigma_x, double sigma_y) {
  const Candidate best =
      clcook::choice(Posed(with_sigma(sigma_x, sigma_y)), runtime(), wanted_.row());
  for (const CompileUnit& unit : best.offer->units) programs().get(runtime(), unit, unit.kernel);
}

CLCOOK_INLINE double GaussianBlur::best_quality(const Runtime& runtime, Problem problem) {
  problem.quality = gaussian::kMostQuality;
  const Posed posed(problem);
  double best = 0;
  for (const Row& row : variants()) {
    if (!row.may_take(runtime.info())) continue;
    const Offer one = posed.offer(runtime, row);
    if (one.can() || one.lacks == Lacks::quality) best = std::max(best, one.psnr);
  }
  return best;
}

CLCOOK_INLINE std::string GaussianBlur::describe() const {
  const Candidate& chosen = state().chosen;
  std::string out =
      text(row().name, ": ", resources().method->describe(), "; ", three_digits(psnr()),
           " dB for a floor of ", three_digits(problem().quality), "; ", chosen.reason);
  for (const std::string& note : chosen.notes) out += "\n" + note;
  return out;
}

CLCOOK_INLINE GaussianBlur::Pixel GaussianBlur::parse_pixel(std::string_view name) {
  return value_of(kChannels, name, kName, "pixel type");
}

CLCOOK_INLINE gaussian::Problem GaussianBlur::with_sigma(double sigma_x, double sigma_y) const {
  Problem out = problem();
  out.sigma_x = sigma_x;
  out.sigma_y = sigma_y;
  Spec::check(out);
  return out;
}

}  // namespace clcook

namespace clcook::gaussian {

CLCOOK_INLINE void Spec::check(const Problem& p) {
  const auto refuse = [](const std::string& what) { fail(Errc::invalid_argument, kName, what); };
  if (p.width < 1 || p.width > kMaxSize || p.height < 1 || p.height > kMaxSize) {
    refuse(text("width and height must be 1 to ", kMaxSize, " pixels, got ", p.width, " x ",
                p.height));
  }
  const auto check_sigma = [&](double sigma, const char* name) {
    if (!math::is_within(sigma, 0, kMaxSigma))
      refuse(text(name, " must be 0 to ", kMaxSigma, " pixels, got ", sigma));
  };
  check_sigma(p.sigma_x, "sigma_x");
  check_sigma(p.sigma_y, "sigma_y");
  check_sigma(p.sigma_z, "sigma_z");
  if (p.depth < 1 || p.depth > kMaxSize)
    refuse(text("depth must be 1 to ", kMaxSize, " slices, got ", p.depth));
  if (is_volume(p) && static_cast<double>(p.width) * p.height > kMaxSize) {
    refuse(text("a slice of a volume has at most ", kMaxSize, " pixels, got ", p.width, " x ",
                p.height));
  }
  if (!math::is_within(p.truncate, 0.5, 8))
    refuse(text("truncate must be 0.5 to 8 sigma, got ", p.truncate));
  if (!math::is_within(p.quality, 0, kMostQuality))
    refuse(text("quality must be 0 to ", kMostQuality, " dB, got ", p.quality));
  if (!math::is_within(p.peak, 0, static_cast<double>(std::numeric_limits<float>::max())))
    refuse(text("peak must be 0 or a positive float, got ", p.peak));
  if (p.pixel.is_type()) {
    const char* name = pixel_type_name(p.pixel.type(), kName);
    if (p.channels != Problem().channels && p.channels != channels_of(p))
      refuse(text("pixel says the number of channels: leave channels alone, got ", name, " and ",
                  p.channels));
  }
  check_range(kName, "channels", channels_of(p), 1, 4);
  if (p.batch < 1) refuse(text("batch must be at least 1, got ", p.batch));
  check_alpha(p.alpha, channels_of(p), kName);
  GaussianBlur::to_string(p.pixel);  // refuses an unknown type
  GaussianBlur::to_string(p.border);
  const double bytes =
      static_cast<double>(p.width) * p.height * p.depth * p.batch * channels_of(p) * 4;
  if (bytes > 0x1p62 || static_cast<double>(p.depth) * p.batch > 0x1p31 - 1)
    refuse(text(p.batch, " pictures of ", p.width, " x ", p.height, " x ", p.depth,
                " overflow the addresses"));
}

}  // namespace clcook::gaussian
