// The words of a preprocessed OpenCL C text, and the functions in it. std only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "isa/listing.hpp"

namespace clcook::isa {

struct Token {
  std::string_view text;
  bool glued = false;      // no blank before it
  bool directive = false;  // a whole line that begins with '#'
};

inline std::vector<Token> tokens_of(std::string_view in) {
  using detail::is_digit;
  using detail::is_space;
  using detail::is_word;
  std::vector<Token> out;
  bool line_start = true;
  bool glued = false;
  for (std::size_t at = 0; at < in.size();) {
    const char c = in[at];
    if (c == '\n' || is_space(c)) {
      line_start = line_start || c == '\n';
      glued = false;
      ++at;
      continue;
    }
    std::size_t end = at + 1;
    if (c == '#' && line_start) {
      end = std::min(in.find('\n', at), in.size());
    } else if (c == '"' || c == '\'') {
      while (end < in.size() && in[end] != c) end += in[end] == '\\' ? 2U : 1U;
      end = std::min(end + 1, in.size());
    } else if (is_word(c)) {
      // 1.5e-3f is one token.
      const bool is_number = is_digit(c) || c == '.';
      while (end < in.size() &&
             (is_word(in[end]) ||
              (is_number && (in[end] == '-' || in[end] == '+') &&
               std::string_view("eEpP").find(in[end - 1]) != std::string_view::npos))) {
        // A member behind a vector is a token of its own, which changes nothing.
        if (!is_number && in[end] == '.') break;
        ++end;
      }
    }
    out.push_back({in.substr(at, end - at), glued, c == '#' && line_start});
    line_start = false;
    glued = true;
    at = end;
  }
  return out;
}

struct Function {
  std::string_view name;
  std::size_t body = 0;  // the token that opens it
  bool is_kernel = false;
  unsigned group = 0;  // the group's size that it requires; 0: any
};

// The functions that have a body, in their order: names that stand before '(' ... ') {' outside of all
// braces.
inline std::vector<Function> functions_of(const std::vector<Token>& tokens) {
  std::vector<Function> out;
  int braces = 0;
  int parens = 0;
  Function next;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].directive) continue;
    const std::string_view text = tokens[i].text;
    if (text == "{" && braces++ == 0 && i > 0 && tokens[i - 1].text == ")") {
      out.push_back(next);
      out.back().body = i;
    }
    if (text == "}") --braces;
    if (braces > 0) continue;
    if (text == "}" || text == ";") next = {};
    if (parens == 0 && (text == "kernel" || text == "__kernel")) next.is_kernel = true;
    if (text == "reqd_work_group_size") {
      next.group = 1;
      for (std::size_t k = i + 1; k < tokens.size() && tokens[k].text != ")"; ++k) {
        if (detail::is_digit(tokens[k].text[0])) next.group *= detail::to_unsigned(tokens[k].text);
      }
    }
    if (text == "(" && parens++ == 0 && i > 0) next.name = tokens[i - 1].text;
    if (text == ")") --parens;
  }
  return out;
}

}  // namespace clcook::isa
