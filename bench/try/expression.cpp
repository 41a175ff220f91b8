#include "try/expression.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <limits>

#include <clcook/core/error.hpp>
#include <clcook/core/impl/preprocess.hpp>

namespace clcook::tool::described {

namespace {

class Parser {
 public:
  Parser(const std::string& expression, const Names& names) : text_(expression), names_(names) {}

  std::int64_t whole() {
    const std::int64_t value = sum(0);
    blanks();
    if (at_ < text_.size()) wrong("'" + text_.substr(at_) + "' is left over");
    return value;
  }

 private:
  static constexpr int kDeepest = 100;  // parentheses

  [[noreturn]] void wrong(const std::string& what) const {
    fail(Errc::invalid_argument, "expression", "'" + text_ + "': " + what);
  }

  void blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  bool take(char wanted) {
    blanks();
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  void need(char wanted) {
    if (!take(wanted)) wrong(std::string("a '") + wanted + "' is missing");
  }

  void check_overflow(bool overflow) const {
    if (overflow) wrong("a value does not fit in 64 bits");
  }

  std::int64_t add(std::int64_t a, std::int64_t b) const {
    std::int64_t out = 0;
    check_overflow(__builtin_add_overflow(a, b, &out));
    return out;
  }
  std::int64_t subtract(std::int64_t a, std::int64_t b) const {
    std::int64_t out = 0;
    check_overflow(__builtin_sub_overflow(a, b, &out));
    return out;
  }
  std::int64_t multiply(std::int64_t a, std::int64_t b) const {
    std::int64_t out = 0;
    check_overflow(__builtin_mul_overflow(a, b, &out));
    return out;
  }
  void check_division(std::int64_t a, std::int64_t b) const {
    if (b == 0) wrong("a division by zero");
    check_overflow(a == std::numeric_limits<std::int64_t>::min() && b == -1);
  }

  std::int64_t sum(int depth) {
    std::int64_t value = product(depth);
    for (;;) {
      if (take('+')) {
        value = add(value, product(depth));
      } else if (take('-')) {
        value = subtract(value, product(depth));
      } else {
        return value;
      }
    }
  }

  std::int64_t product(int depth) {
    std::int64_t value = factor(depth);
    for (;;) {
      if (take('*')) {
        value = multiply(value, factor(depth));
      } else if (take('/')) {
        const std::int64_t by = factor(depth);
        check_division(value, by);
        value /= by;
      } else if (take('%')) {
        const std::int64_t by = factor(depth);
        check_division(value, by);
        value %= by;
      } else {
        return value;
      }
    }
  }

  std::int64_t factor(int depth) {
    if (depth > kDeepest) wrong("it is nested too deeply");
    if (take('-')) return subtract(0, factor(depth + 1));
    if (take('(')) {
      const std::int64_t value = sum(depth + 1);
      need(')');
      return value;
    }
    blanks();
    const std::size_t begin = at_;
    while (at_ < text_.size() && clcook::detail::is_word(text_[at_])) ++at_;
    const std::string word = text_.substr(begin, at_ - begin);
    if (word.empty())
      wrong(begin < text_.size() ? std::string("'") + text_[begin] + "' is not understood"
                                 : "it ends too early");
    if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) return number(word);
    if (take('(')) return function(word, depth);
    const auto found = names_.find(word);
    if (found != names_.end()) return found->second;
    std::string known;
    for (const auto& [name, value] : names_) known += (known.empty() ? "" : ", ") + name;
    wrong("'" + word + "' is not known here; known are " + (known.empty() ? "no names" : known));
  }

  std::int64_t number(const std::string& word) const {
    std::int64_t value = 0;
    for (const char c : word) {
      if (std::isdigit(static_cast<unsigned char>(c)) == 0) wrong("'" + word + "' is no number");
      value = add(multiply(value, 10), c - '0');
    }
    return value;
  }

  std::int64_t function(const std::string& name, int depth) {
    const std::int64_t a = sum(depth + 1);
    need(',');
    const std::int64_t b = sum(depth + 1);
    need(')');
    if (name == "min") return std::min(a, b);
    if (name == "max") return std::max(a, b);
    if (name != "ceil_div" && name != "round_up")
      wrong("there is no function '" + name + "'; there are min, max, ceil_div and round_up");
    if (a < 0 || b < 0) wrong(name + "() is for numbers of at least 0");
    check_division(a, b);
    const std::int64_t parts = a / b + (a % b != 0 ? 1 : 0);
    return name == "ceil_div" ? parts : multiply(parts, b);
  }

  const std::string& text_;
  const Names& names_;
  std::size_t at_ = 0;
};

}  // namespace

std::int64_t evaluate(const std::string& expression, const Names& names) {
  return Parser(expression, names).whole();
}

std::string fill_in(const std::string& text, const Names& names) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    // ${NAME} is for paths, see Description::path().
    const bool is_variable = at > 0 && text[at - 1] == '$';
    const bool is_brace = !is_variable && (text[at] == '{' || text[at] == '}');
    const bool is_doubled = is_brace && at + 1 < text.size() && text[at + 1] == text[at];
    if (is_doubled || !is_brace || text[at] == '}') {
      out += text[at];
      if (is_doubled) ++at;
      continue;
    }
    const std::size_t end = text.find('}', at);
    if (end == std::string::npos)
      fail(Errc::invalid_argument, "expression", "'" + text + "': a '}' is missing");
    try {
      out += std::to_string(evaluate(text.substr(at + 1, end - at - 1), names));
    } catch (const Error& error) {
      fail(error.code, error.where,
           error.what() + error.where.size() + 2 +
               std::string("; braces themselves are written {{ and }}"));
    }
    at = end;
  }
  return out;
}

}  // namespace clcook::tool::described
