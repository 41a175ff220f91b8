// Scalar reference of argument_swap: how much light passes the boundary of two transparent media.
#pragma once

#include <cmath>
#include <vector>

namespace clcook::reference::argument_swap {

// A medium's dispersion after Cauchy: n(s) = a + b s^2, s = 1 / wavelength in 1/micrometre.
struct Medium {
  double a = 1;
  double b = 0;

  double index(double wavenumber) const { return a + b * wavenumber * wavenumber; }
};

// Share of unpolarised light that goes on from index n1 to index n2 at `cosine` (0 to 1) to the
// normal. Fresnel's equations in their usual form, Born and Wolf, Principles of Optics, 1.5.2
// (21a): the transmittance is what is not reflected; 0 where Snell's law has no solution.
inline double transmittance(double n1, double n2, double cosine) {
  // (n2 cos theta_2)^2 after Snell's law, n1 sin theta_1 = n2 sin theta_2. As a difference of
  // products, because 1 - cosine^2 loses a small cosine.
  const double square = (n2 - n1) * (n2 + n1) + n1 * n1 * cosine * cosine;
  if (square < 0) return 0;  // total internal reflection
  const double cosine2 = std::sqrt(square) / n2;
  const double s = (n1 * cosine - n2 * cosine2) / (n1 * cosine + n2 * cosine2);
  const double p = (n2 * cosine - n1 * cosine2) / (n2 * cosine + n1 * cosine2);
  return 1 - (s * s + p * p) / 2;
}

// The mean over the wavenumbers first to last, at `points` midpoints. Cosines below 2^-60 count as
// 2^-60: at grazing incidence, in the very plane of the boundary, there is no equation.
inline double transmittance(Medium from, Medium to, double cosine, double first, double last,
                            int points) {
  if (std::isnan(cosine)) return cosine;
  if (cosine < 0x1p-60) cosine = 0x1p-60;
  double sum = 0;
  for (int k = 0; k < points; ++k) {
    const double s = first + (k + 0.5) * (last - first) / points;
    sum += transmittance(from.index(s), to.index(s), cosine);
  }
  return sum / points;
}

// A ray: from `outside` to `inside` where the sign of x is clear, back where it is set.
inline double ray(Medium outside, Medium inside, double x, double first, double last, int points) {
  return std::signbit(x) ? transmittance(inside, outside, -x, first, last, points)
                         : transmittance(outside, inside, x, first, last, points);
}

// The sum over an item's rays, each of which decides for itself.
inline double rays(Medium outside, Medium inside, const std::vector<double>& x, double first,
                   double last, int points) {
  double sum = 0;
  for (const double one : x) sum += ray(outside, inside, one, first, last, points);
  return sum;
}

}  // namespace clcook::reference::argument_swap
