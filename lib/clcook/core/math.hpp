// The functions of <cmath> that headers use. They save compile time: g++ takes a third as long for
// <cmath>, with the special functions of C++17, as for CL/opencl.hpp.
//
// Whether a number is one is read from its bits. Under -ffast-math compilers take every number for
// finite: they answer std::isnan() with false and turn !(x >= 0) into x < 0.
#pragma once

#include <cstdint>
#include <cstring>

#if !defined(__GNUC__)
#include <cmath>
#endif

namespace clcook::math {

#if defined(__GNUC__)
inline double ceil(double x) { return __builtin_ceil(x); }
inline double exp(double x) { return __builtin_exp(x); }
inline double floor(double x) { return __builtin_floor(x); }
inline float floor(float x) { return __builtin_floorf(x); }
inline double frexp(double x, int* exponent) { return __builtin_frexp(x, exponent); }
inline double ldexp(double x, int exponent) { return __builtin_ldexp(x, exponent); }
inline double log10(double x) { return __builtin_log10(x); }
inline double log2(double x) { return __builtin_log2(x); }
inline double nearbyint(double x) { return __builtin_nearbyint(x); }
inline double sqrt(double x) { return __builtin_sqrt(x); }
inline long lround(double x) { return __builtin_lround(x); }
inline bool signbit(double x) { return __builtin_signbit(x) != 0; }
#else
using std::ceil;
using std::exp;
using std::floor;
using std::frexp;
using std::ldexp;
using std::log10;
using std::log2;
using std::lround;
using std::nearbyint;
using std::signbit;
using std::sqrt;
#endif

// Infinity, of bits as well. Under that flag compilers warn of it, and clang of any function of its name.
inline double unbounded() {
  const std::uint64_t bits = std::uint64_t{0x7FF} << 52;
  double out = 0;
  std::memcpy(&out, &bits, sizeof out);
  return out;
}

// The magnitude's bits: in the order of the magnitudes, infinity behind all numbers, NaN behind it.
inline std::uint64_t magnitude_bits(double x) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
#if defined(__GNUC__) && defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
  __asm__("" : "+r"(bits));  // hides where they come from
#endif
  return bits & ~(std::uint64_t{1} << 63);
}
inline std::uint32_t magnitude_bits(float x) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
#if defined(__GNUC__) && defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
  __asm__("" : "+r"(bits));
#endif
  return bits & 0x7FFFFFFFU;
}
inline bool isfinite(double x) { return magnitude_bits(x) < std::uint64_t{0x7FF} << 52; }
inline bool isfinite(float x) { return magnitude_bits(x) < 0x7F800000U; }
inline bool isnan(double x) { return magnitude_bits(x) > std::uint64_t{0x7FF} << 52; }
inline bool isnan(float x) { return magnitude_bits(x) > 0x7F800000U; }
// Whether least <= x <= most, two finite numbers.
inline bool is_within(double x, double least, double most) {
  return isfinite(x) && x >= least && x <= most;
}

}  // namespace clcook::math
