// The definitions of clcook/core/defines.hpp.
#pragma once

#include <charconv>
#include <clcook/core/defines.hpp>

namespace clcook {

CLCOOK_INLINE Defines::Defines() = default;
CLCOOK_INLINE Defines::Defines(const Defines&) = default;
CLCOOK_INLINE Defines::Defines(Defines&&) noexcept = default;
CLCOOK_INLINE Defines& Defines::operator=(const Defines&) = default;
CLCOOK_INLINE Defines& Defines::operator=(Defines&&) noexcept = default;
CLCOOK_INLINE Defines::~Defines() = default;

CLCOOK_INLINE Defines& Defines::set(const std::string& name, const Token& token) {
  bool good = !token.value.empty();
  for (const char c : token.value) {
    const auto code = static_cast<unsigned char>(c);
    good = good && code > ' ' && code != 127 && c != '"' && c != '\'' && c != '\\' && c != ';';
  }
  if (!good) {
    fail(Errc::invalid_argument, "Defines",
         "the value of " + name +
             " must be one token without blanks, quotes, semicolons or backslashes, got '" +
             token.value + "'");
  }
  return put(name, token.value);
}

CLCOOK_INLINE std::string Defines::literal(double value, const char* suffix) {
  char digits[64];
  const auto end = std::to_chars(digits, digits + sizeof digits, value, std::chars_format::hex);
  const std::string text(digits, end.ptr);
  if (text[0] == '-') return "(-0x" + text.substr(1) + suffix + ")";
  return "0x" + text + suffix;
}

CLCOOK_INLINE Defines& Defines::add(const Defines& more) {
  for (const auto& [name, value] : more.values_) values_[name] = value;
  return *this;
}

CLCOOK_INLINE std::string Defines::options() const {
  std::string out;
  for (const auto& [name, value] : values_) {
    if (!out.empty()) out += ' ';
    out += "-D" + name + (value.empty() ? "" : "=" + value);
  }
  return out;
}

CLCOOK_INLINE Defines& Defines::put(const std::string& name, const std::string& value) {
  bool good = !name.empty() && !(name[0] >= '0' && name[0] <= '9');
  for (char c : name) {
    good = good &&
           ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_');
  }
  if (!good) {
    fail(Errc::invalid_argument, "Defines",
         "a definition's name must be a C identifier, got '" + name + "'");
  }
  values_[name] = value;
  return *this;
}

}  // namespace clcook
