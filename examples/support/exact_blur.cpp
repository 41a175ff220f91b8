#include "exact_blur.hpp"

#include <algorithm>
#include <clcook/reference/line_blur.hpp>
#include <cmath>

namespace clcook::example {

namespace {

double largest_difference(const std::vector<double>& expected, const std::vector<double>& got) {
  double largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double difference = std::abs(expected[i] - got[i]);
    if (!(difference <= largest)) largest = difference;  // a NaN counts
  }
  return largest;
}

}  // namespace

ExactLineBlur::ExactLineBlur(const std::vector<float>& values, int width, int height, double radius,
                             double sigma) {
  namespace ref = reference::line_blur;
  const auto blurred = [&](int step) {
    return ref::blur(values.data(), static_cast<std::size_t>(width),
                     static_cast<std::size_t>(height), ref::taps(radius, sigma, step));
  };
  const int step = ref::subsampling_step(radius);
  full_ = blurred(1);
  sparse_ = step == 1 ? full_ : blurred(step);
}

double ExactLineBlur::difference(const std::vector<float>& got, bool subsampled) const {
  return largest_difference(subsampled ? sparse_ : full_, {got.begin(), got.end()});
}

ExactGaussianBlur::ExactGaussianBlur(const std::vector<float>& values, int width, int height,
                                     double sigma_x, double sigma_y, double truncate,
                                     reference::gaussian_blur::Border border, bool rounded)
    : line_(static_cast<std::size_t>(width) * 4),
      height_(static_cast<std::size_t>(height)),
      rows_(std::min<std::size_t>(64, height_)) {
  namespace ref = reference::gaussian_blur;
  const ref::Picture exact{
      static_cast<std::size_t>(width), height_, 4, {values.begin(), values.end()}};
  const std::vector<double> x = ref::weights(sigma_x, truncate);
  const std::vector<double> y = ref::weights(sigma_y, truncate);
  for (std::size_t i = 0; i < rows_; ++i) {
    for (const double value : ref::blur_row(exact, x, y, border, {}, i * height_ / rows_))
      expected_.push_back(rounded ? std::nearbyint(value) : value);
  }
}

double ExactGaussianBlur::difference(const std::vector<float>& got) const {
  return largest_difference(expected_, rows_of(got));
}

double ExactGaussianBlur::psnr(const std::vector<float>& got, double peak) const {
  return reference::gaussian_blur::psnr(expected_, rows_of(got), peak);
}

std::vector<double> ExactGaussianBlur::rows_of(const std::vector<float>& all) const {
  std::vector<double> out;
  for (std::size_t i = 0; i < rows_; ++i) {
    const auto row = all.begin() + static_cast<std::ptrdiff_t>(i * height_ / rows_ * line_);
    out.insert(out.end(), row, row + static_cast<std::ptrdiff_t>(line_));
  }
  return out;
}

}  // namespace clcook::example
