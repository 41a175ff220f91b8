// IEEE 754 binary16 on the host.
#pragma once

#include <algorithm>
#include <clcook/core/math.hpp>
#include <cstdint>
#include <cstdlib>

namespace clcook {

// The half nearest to a value; ties to even, too large becomes infinity, NaN stays NaN.
inline std::uint16_t to_half(double value) {
  const int sign = math::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::abs(value);
  if (math::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7E00);
  if (magnitude >= 65520) return static_cast<std::uint16_t>(sign | 0x7C00);
  int exponent = 0;
  math::frexp(magnitude, &exponent);
  // The distance of halfs here is 2^unit; nearbyint() rounds to even. A mantissa that rounds up
  // to 2048 carries into the exponent by itself.
  const int unit = magnitude == 0 ? -24 : std::max(exponent - 11, -24);
  const auto mantissa = static_cast<int>(math::nearbyint(math::ldexp(magnitude, -unit)));
  const int bits = mantissa + ((unit + 24) << 10);
  return static_cast<std::uint16_t>(sign | bits);
}

// The value of a half that is finite.
inline double finite_half(std::uint16_t half) {
  const int exponent = half >> 10 & 31;
  const int fraction = half & 1023;
  const double size =
      exponent == 0 ? math::ldexp(fraction, -24) : math::ldexp(fraction + 1024, exponent - 25);
  return (half & 0x8000) != 0 ? -size : size;
}

}  // namespace clcook
