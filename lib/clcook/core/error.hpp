// Messages of errors, and the codes of OpenCL.
#pragma once

#include <clcook/core/inline.hpp>
#include <clcook/core/opencl.hpp>
#include <clcook/error.hpp>
#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>
#include <type_traits>

namespace clcook {

static_assert(std::is_same_v<cl_int, decltype(Error::status)>);

namespace detail {

// A piece of a text: a string, or a number, which is written when the pieces are put together.
struct Piece {
  enum class Kind { chars, character, whole, natural, real };

  // NOLINTBEGIN(google-explicit-constructor)
  Piece(const char* value) : Piece(std::string_view(value)) {}
  Piece(const std::string& value) : Piece(std::string_view(value)) {}
  Piece(std::string_view value) : kind(Kind::chars), size(value.size()), chars(value.data()) {}
  Piece(char value) : kind(Kind::character), character(value) {}
  Piece(double value) : kind(Kind::real), real(value) {}
  Piece(float value) : Piece(static_cast<double>(value)) {}
  // Integers, bool and the numbers of enums.
  template <class T, std::enable_if_t<std::is_integral_v<T> || std::is_enum_v<T>, int> = 0>
  Piece(T value) {
    if constexpr (std::is_signed_v<T>) {
      kind = Kind::whole;
      whole = static_cast<long long>(value);
    } else {
      kind = Kind::natural;
      natural = static_cast<unsigned long long>(value);
    }
  }
  // NOLINTEND(google-explicit-constructor)

  Kind kind = Kind::chars;
  std::size_t size = 0;
  union {
    const char* chars;
    char character;
    long long whole;
    unsigned long long natural;
    double real;
  };
};

CLCOOK_INLINE std::string join(const Piece* pieces, std::size_t count);

// Anything else that has an operator<<, written by it; needs <sstream>.
template <class Part>
decltype(auto) printable(const Part& part) {
  if constexpr (std::is_convertible_v<const Part&, Piece>) {
    return (part);
  } else {
    std::conditional_t<sizeof(Part) != 0, std::ostringstream, Part> out;
    out.imbue(decltype(out.getloc())::classic());
    out << part;
    return out.str();
  }
}

}  // namespace detail

// Concatenates strings and numbers, whatever the locale; nine significant digits tell any two
// floats apart.
template <class... Parts>
std::string text(const Parts&... parts) {
  if constexpr ((std::is_convertible_v<const Parts&, detail::Piece> && ...)) {
    const detail::Piece pieces[] = {parts...};
    return detail::join(pieces, sizeof...(Parts));
  } else {
    return text(detail::printable(parts)...);
  }
}

// The text of a number with three significant digits.
CLCOOK_INLINE std::string three_digits(double value);

// Returns the OpenCL constant's name of a status code, or its number.
CLCOOK_INLINE std::string status_name(cl_int status);

// The names of an image format's constants, such as "CL_RGBA with CL_UNORM_INT8", or their numbers.
CLCOOK_INLINE std::string image_format_name(const cl_image_format& format);

// Throws when an OpenCL call did not succeed. `where` names the call.
CLCOOK_INLINE void check(cl_int status, std::string_view where);

}  // namespace clcook

#if CLCOOK_DEFINITIONS
#include <clcook/core/impl/error.hpp>
#endif
