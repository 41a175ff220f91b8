// What the scalar references make of a picture, for the examples that compare.
#pragma once

#include <clcook/reference/gaussian_blur.hpp>
#include <cstddef>
#include <vector>

namespace clcook::example {

// A picture of 4 channels blurred along its lines: with all taps, and with those that a subsampled
// filter has.
class ExactLineBlur {
 public:
  ExactLineBlur(const std::vector<float>& values, int width, int height, double radius,
                double sigma);

  // The largest difference to one of the two; NaN where one is.
  double difference(const std::vector<float>& got, bool subsampled) const;

 private:
  std::vector<double> full_;
  std::vector<double> sparse_;
};

// 64 rows of a picture of 4 channels after a Gaussian blur, or all of a lower picture.
class ExactGaussianBlur {
 public:
  ExactGaussianBlur(const std::vector<float>& values, int width, int height, double sigma_x,
                    double sigma_y, double truncate, reference::gaussian_blur::Border border,
                    bool rounded);

  // Both take all pixels.
  double difference(const std::vector<float>& got) const;
  double psnr(const std::vector<float>& got, double peak) const;

 private:
  std::vector<double> rows_of(const std::vector<float>& all) const;

  std::size_t line_;  // values of a row
  std::size_t height_;
  std::size_t rows_;
  std::vector<double> expected_;
};

}  // namespace clcook::example
