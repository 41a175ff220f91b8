// Typed preprocessor definitions for kernels.
//
//   clcook::Defines defines;
//   defines.set("RADIUS", 3).set("SCALE", 0.5f).set("TYPE", clcook::Token{"float4"}).flag("WRAP");
//   const std::string options = defines.options();  // -DRADIUS=3 -DSCALE=0x1p-1f -DTYPE=float4 -DWRAP
#pragma once

#include <clcook/core/error.hpp>
#include <clcook/core/inline.hpp>
#include <clcook/core/math.hpp>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <type_traits>

namespace clcook {

// A piece of OpenCL C for a definition, such as a type name: Token{"float4"}. No blanks, quotes or
// line ends.
struct Token {
  std::string value;
};

// Definitions that change the shape of a kernel's code. Ordered by name, so that equal sets give
// equal options. Floating-point values become hexadecimal literals: exact, and independent of the
// locale.
class Defines {
 public:
  // Here and not in every function that has one: less to compile.
  Defines();
  Defines(const Defines&);
  Defines(Defines&&) noexcept;
  Defines& operator=(const Defines&);
  Defines& operator=(Defines&&) noexcept;
  ~Defines();

  // -Dname=value for any integer type. Unsigned values get the suffix u, 64-bit values ul or l.
  template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  Defines& set(const std::string& name, T value) {
    if constexpr (std::is_same_v<T, bool>) return put(name, value ? "1" : "0");
    std::string digits = std::to_string(value);
    if constexpr (std::is_signed_v<T>) {
      const auto wide = static_cast<std::int64_t>(value);
      // The literal of the smallest value would overflow before its minus sign applies.
      if (wide == std::numeric_limits<std::int64_t>::min()) {
        return put(name, "(-9223372036854775807l-1)");
      }
      if (wide > 2147483647LL || wide < -2147483647LL) digits += "l";
      if (wide < 0) digits = "(" + digits + ")";
    } else {
      digits += static_cast<std::uint64_t>(value) > 4294967295ULL ? "ul" : "u";
    }
    return put(name, digits);
  }

  // -Dname=value as a float (suffix f) or double literal. NaN and infinity are refused.
  template <class T, std::enable_if_t<std::is_floating_point_v<T>, int> = 0>
  Defines& set(const std::string& name, T value) {
    if (!math::isfinite(static_cast<double>(value))) {
      fail(Errc::invalid_argument, "Defines",
           text("the value of ", name, " must be finite, got ", value));
    }
    return put(name, literal(static_cast<double>(value), std::is_same_v<T, float> ? "f" : ""));
  }

  Defines& set(const std::string& name, const Token& token);

  // -Dname, for #ifdef.
  Defines& flag(const std::string& name) { return put(name, ""); }

  // Adds the definitions of `more`, whose value counts where both have a name.
  Defines& add(const Defines& more);

  // The definitions as compiler options: "-DA=1 -DB".
  std::string options() const;

  const std::map<std::string, std::string>& values() const { return values_; }

 private:
  Defines& put(const std::string& name, const std::string& value);

  // The hexadecimal literal of a finite number.
  static std::string literal(double value, const char* suffix);

  std::map<std::string, std::string> values_;
};

}  // namespace clcook

#if CLCOOK_DEFINITIONS
#include <clcook/core/impl/defines.hpp>
#endif
