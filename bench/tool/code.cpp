#include "tool/code.hpp"

#include <clcook/core/impl/preprocess.hpp>
#include <string_view>

namespace clcook::tool {

namespace {

// Whether a blank between two characters tells tokens apart.
bool run_together(char a, char b) {
  using clcook::detail::is_word;
  constexpr std::string_view kTwo = "++ -- && || << >> <= >= == != += -= *= /= %= &= |= ^= -> ##";
  const char two[] = {a, b};
  return (is_word(a) && is_word(b)) || kTwo.find({two, 2}) != std::string_view::npos;
}

}  // namespace

std::string code_of(const std::string& source) {
  std::string out;
  for (const clcook::detail::SourceLine& line : clcook::detail::SourceLines::of(source)) {
    const std::string_view text = clcook::detail::without_blanks(line.text);
    if (!text.empty() && line.name != "line") out += std::string(text) + '\n';
  }
  return out;
}

std::string code_without_layout(const std::string& source) {
  std::string out;
  bool blank = false;
  const auto add = [&](std::string_view text) {
    for (const char c : text) {
      if (clcook::detail::is_blank(c)) {
        blank = true;
        continue;
      }
      if (blank && !out.empty() && run_together(out.back(), c)) out += ' ';
      out += c;
      blank = false;
    }
  };
  for (const clcook::detail::SourceLine& line : clcook::detail::SourceLines::of(source)) {
    const std::string_view text = clcook::detail::without_blanks(line.text);
    if (text.empty() || line.name == "line") continue;
    if (line.is_directive && !out.empty() && out.back() != '\n') out += '\n';
    // In a definition the blank before a parenthesis says whether it has arguments.
    if (line.is_directive)
      out += std::string(text) + '\n';
    else
      add(text);
    blank = true;
  }
  return out;
}

}  // namespace clcook::tool
