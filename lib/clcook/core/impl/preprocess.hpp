// What Source needs of C's translation phases 1 to 4: lines without splices and comments, which
// macros are known, and what a condition comes to. Implementation of clcook/core/source.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clcook::detail {

inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
}

inline std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Takes the word that the text begins with; empty: it begins with none.
inline std::string_view take_word(std::string_view& text) {
  std::size_t end = 0;
  while (end < text.size() && is_word(text[end])) ++end;
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

// A line as a preprocessor sees it. Splices and comments make it several lines of the file.
struct SourceLine {
  std::string raw;        // as it stands in the file; ends in one '\n' that is no splice
  std::string text;       // without trigraphs and splices, a blank for each comment
  std::size_t first = 1;  // number in the file
  std::size_t count = 1;  // of lines in the file
  bool is_directive = false;
  std::string name;           // of the directive; empty: none, as in "#" and "# 1"
  std::string rest;           // of the directive, without blanks around it
  bool open_comment = false;  // the file ends within a comment
};

// Cuts a text into lines: C's translation phases 1 to 3.
class SourceLines {
 public:
  static std::vector<SourceLine> of(std::string_view text) {
    SourceLines lines(text);
    std::vector<SourceLine> out;
    while (lines.at_ < text.size()) out.push_back(lines.next());
    return out;
  }

 private:
  explicit SourceLines(std::string_view in) : in_(in) {}

  SourceLine next() {
    line_ = SourceLine();
    line_.first = number_;
    begin_ = at_;
    for (;;) {
      line_.text += run("\n\r\\?/\"'<");
      char c = peek();
      if (c == '\0' || c == '\n') break;
      if (c == '/') {
        take();
        c = peek();
        if (c == '/') {
          to_line_end();
        } else if (c == '*') {
          block_comment();
        } else {
          line_.text += '/';
        }
      } else if ((c == '"' || c == '<') && names_header()) {
        header_name(c == '<' ? '>' : '"');
      } else if (c == '"' || c == '\'') {
        literal(c);
      } else {
        line_.text += take();
      }
    }
    end_line();
    return std::move(line_);
  }

  // The length of the line end at a place; 0: there is none.
  std::size_t newline(std::size_t at) const {
    if (at >= in_.size()) return 0;
    if (in_[at] == '\n') return 1;
    if (in_[at] != '\r') return 0;
    return at + 1 < in_.size() && in_[at + 1] == '\n' ? 2 : 1;
  }

  // The length of a backslash, or its trigraph, with the blanks that compilers allow behind it.
  std::size_t backslash(std::size_t at) const {
    std::size_t end = at;
    if (end >= in_.size()) return 0;
    if (in_[end] == '\\') {
      end += 1;
    } else if (in_[end] == '?' && in_.substr(end, 3) == "?\?/") {
      end += 3;
    } else {
      return 0;
    }
    while (end < in_.size() && is_blank(in_[end])) ++end;
    return end - at;
  }

  void skip_splices() {
    for (;;) {
      const std::size_t length = backslash(at_);
      const std::size_t end = length == 0 ? 0 : newline(at_ + length);
      if (end == 0) return;
      at_ += length + end;
      ++number_;
    }
  }

  // The character behind splices, with '\n' for every line end; '\0' at the end of the text.
  char peek() {
    skip_splices();
    width_ = 1;
    if (at_ >= in_.size()) return '\0';
    if (const std::size_t end = newline(at_)) {
      width_ = end;
      return '\n';
    }
    if (in_[at_] == '?' && in_.substr(at_, 2) == "??" && at_ + 2 < in_.size()) {
      constexpr std::string_view from = "=/'()!<>-";
      constexpr std::string_view to = "#\\^[]|{}~";
      const std::size_t which = from.find(in_[at_ + 2]);
      if (which != std::string_view::npos) {
        width_ = 3;
        return to[which];
      }
    }
    return in_[at_] == '\0' ? ' ' : in_[at_];
  }

  char take() {
    const char c = peek();
    if (c == '\n') ++number_;
    at_ += width_;
    return c;
  }

  // Takes what comes before one of these, or before the end.
  std::string_view run(const char* stops) {
    const std::size_t begin = at_;
    at_ = std::min(in_.find_first_of(stops, at_), in_.size());
    return in_.substr(begin, at_ - begin);
  }

  void to_line_end() {
    for (char c = peek(); c != '\0' && c != '\n'; c = peek()) {
      take();
      run("\n\r\\?");
    }
    line_.text += ' ';
  }

  void block_comment() {
    take();
    line_.text += ' ';
    while (peek() != '\0') {
      if (take() == '*' && peek() == '/') {
        take();
        return;
      }
      run("*\n\r\\?");
    }
    line_.open_comment = true;
  }

  // Up to its quote or the end of the line, as compilers read one that does not end.
  void literal(char quote) {
    line_.text += take();
    for (char c = peek(); c != '\0' && c != '\n'; c = peek()) {
      line_.text += take();
      if (c == quote) return;
      const char next = c == '\\' ? peek() : '\0';
      if (next != '\0' && next != '\n') line_.text += take();
    }
  }

  // In the name of a header a backslash is one, and // no comment.
  void header_name(char end) {
    line_.text += take();
    for (char c = peek(); c != '\0' && c != '\n'; c = peek()) {
      line_.text += take();
      if (c == end) return;
    }
  }

  bool names_header() const {
    std::string_view text = line_.text;
    return take_hash(text) && take_word(text) == "include" && without_blanks(text).empty();
  }

  static bool take_hash(std::string_view& text) {
    text = without_blanks(text);
    const std::size_t length = text.substr(0, 1) == "#" ? 1 : text.substr(0, 2) == "%:" ? 2 : 0;
    text = without_blanks(text.substr(length));
    return length > 0;
  }

  void end_line() {
    const std::string_view raw = in_.substr(begin_, at_ - begin_);
    for (std::size_t i = 0; i < raw.size(); ++i) {
      const bool pair = raw[i] == '\r' && i + 1 < raw.size() && raw[i + 1] == '\n';
      if (!pair) line_.raw += raw[i] == '\r' ? '\n' : raw[i];
    }
    if (at_ < in_.size()) {
      take();
    } else {
      ++number_;
      // A splice at the end of a file has nothing to join.
      if (ends_in_backslash(raw)) line_.raw += '\n';
    }
    line_.raw += '\n';
    line_.count = number_ - line_.first;
    std::string_view text = line_.text;
    line_.is_directive = take_hash(text);
    if (!line_.is_directive) return;
    line_.name = take_word(text);
    if (!line_.name.empty() && is_digit(line_.name[0])) {  // # 3 "file"
      text = std::string_view(line_.text).substr(line_.text.find(line_.name));
      line_.name.clear();
    }
    line_.rest = without_blanks(text);
  }

  bool ends_in_backslash(std::string_view raw) const {
    std::size_t last = raw.size();
    while (last > 0 && is_blank(raw[last - 1])) --last;
    return last > 0 && (raw[last - 1] == '\\' || (last > 2 && raw.substr(last - 3, 3) == "?\?/"));
  }

  std::string_view in_;
  std::size_t at_ = 0;
  std::size_t number_ = 1;
  std::size_t width_ = 1;  // of what peek() saw
  std::size_t begin_ = 0;
  SourceLine line_;
};

// What is known of a macro before the compiler runs, where -D and the compiler define others.
struct Macro {
  enum class State { unknown, undefined, defined };
  State state = State::unknown;
  std::optional<std::string> body;  // where it is known, of a macro without parameters

  bool operator==(const Macro& other) const { return state == other.state && body == other.body; }
  static Macro undefined() { return {State::undefined, std::nullopt}; }
  static Macro defined() { return {State::defined, std::nullopt}; }
};

// The macros at a place of the text. Groups whose condition is not known are gone through one after
// the other, each from what held before, and what they agree in holds behind them.
class Macros {
 public:
  Macro get(const std::string& name) const {
    const auto found = now_.find(name);
    return found == now_.end() ? Macro() : found->second;
  }

  void set(const std::string& name, Macro macro) {
    if (!forks_.empty()) forks_.back().before.try_emplace(name, get(name));
    now_[name] = std::move(macro);
  }

  void begin_fork() { forks_.emplace_back(); }

  void end_branch() {
    Fork& fork = forks_.back();
    for (const auto& change : fork.before) {
      const Macro now = get(change.first);
      const auto [other, is_new] = fork.after.try_emplace(change.first, After{now, 0});
      if (!is_new) other->second.macro = joined(other->second.macro, now);
      ++other->second.branches;
    }
    drop_branch();
    ++fork.branches;
  }

  // Back to what held before the branch.
  void drop_branch() {
    for (auto& [name, before] : forks_.back().before) now_[name] = before;
    forks_.back().before.clear();
  }

  void end_fork() {
    const Fork fork = std::move(forks_.back());
    forks_.pop_back();
    for (const auto& [name, after] : fork.after) {
      const bool everywhere = after.branches == fork.branches;
      set(name, everywhere ? after.macro : joined(after.macro, get(name)));
    }
  }

 private:
  struct After {
    Macro macro;
    std::size_t branches;  // that changed it
  };
  struct Fork {
    std::map<std::string, Macro> before;  // of what the open branch has changed
    std::map<std::string, After> after;   // of what the closed branches have changed
    std::size_t branches = 0;
  };

  static Macro joined(const Macro& a, const Macro& b) {
    if (a == b) return a;
    return a.state == Macro::State::defined && b.state == a.state ? Macro::defined() : Macro();
  }

  std::map<std::string, Macro> now_;
  std::vector<Fork> forks_;
};

enum class Truth { no, yes, unknown };

inline Truth negated(Truth truth) {
  if (truth == Truth::unknown) return truth;
  return truth == Truth::yes ? Truth::no : Truth::yes;
}

// The value of the expression behind #if, as far as it is known.
class Condition {
 public:
  // `budget` is how many tokens it may look at, and loses those that it did; without any left
  // nothing is known.
  static Truth evaluate(std::string_view text, const Macros& macros, std::size_t& budget) {
    Condition condition(macros, budget);
    condition.expand(text, {});
    const Value value = condition.conditional();
    if (condition.bad_ || condition.at_ < condition.tokens_.size() || !value.known)
      return Truth::unknown;
    return value.bits != 0 ? Truth::yes : Truth::no;
  }

  // The macro of "defined X" or "!defined(X)" alone, and which of both it is.
  static std::optional<std::pair<std::string, bool>> only_defined(std::string_view text) {
    bool is_defined = true;
    std::string all;
    for (const std::string& token : tokens_of(text)) {
      if (token != "(" && token != ")") all += token + " ";
    }
    std::string_view rest = all;
    while (rest.substr(0, 2) == "! ") {
      is_defined = !is_defined;
      rest.remove_prefix(2);
    }
    if (rest.substr(0, 8) != "defined ") return std::nullopt;
    rest.remove_prefix(8);
    const std::string name(take_word(rest));
    if (name.empty() || is_digit(name[0]) || rest != " ") return std::nullopt;
    return std::make_pair(name, is_defined);
  }

 private:
  struct Value {
    bool known = false;
    bool is_unsigned = false;
    std::uint64_t bits = 0;
  };

  static constexpr int kDeepest = 200;

  Condition(const Macros& macros, std::size_t& budget) : macros_(macros), budget_(budget) {}

  static std::vector<std::string> tokens_of(std::string_view text) {
    std::vector<std::string> out;
    while (!(text = without_blanks(text)).empty()) {
      std::size_t length = 1;
      if (text[0] == '"' || text[0] == '\'') {
        while (length < text.size() && text[length] != text[0])
          length += text[length] == '\\' ? 2U : 1U;
        ++length;
      } else if (is_word(text[0])) {
        while (length < text.size() &&
               (is_word(text[length]) || (is_digit(text[0]) && text[length] == '.')))
          ++length;
      } else {
        for (const char* two : {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"}) {
          if (text.substr(0, 2) == two) length = 2;
        }
      }
      length = length < text.size() ? length : text.size();
      out.emplace_back(text.substr(0, length));
      text.remove_prefix(length);
    }
    return out;
  }

  // Puts the text's tokens behind the others, with known macros replaced; `within` are those whose
  // replacement the text is.
  void expand(std::string_view text, const std::vector<std::string>& within) {
    const std::vector<std::string> from = tokens_of(text);
    for (std::size_t i = 0; i < from.size() && !bad_; ++i) {
      const std::string& token = from[i];
      if (budget_ == 0 || within.size() > static_cast<std::size_t>(kDeepest)) {
        bad_ = true;
        return;
      }
      --budget_;
      if (token == "defined") {
        tokens_.push_back(token);
        if (i + 1 < from.size() && from[i + 1] == "(") tokens_.push_back(from[++i]);
        if (i + 1 < from.size()) tokens_.push_back(from[++i]);
        continue;
      }
      bool inside = false;
      for (const std::string& one : within) inside = inside || one == token;
      const Macro macro = macros_.get(token);
      if (inside || !macro.body) {
        tokens_.push_back(token);
        continue;
      }
      std::vector<std::string> deeper = within;
      deeper.push_back(token);
      expand(*macro.body, deeper);
    }
  }

  std::string token() const { return at_ < tokens_.size() ? tokens_[at_] : std::string(); }

  bool accept(const char* wanted) {
    if (token() != wanted) return false;
    ++at_;
    return true;
  }

  void expect(const char* wanted) { bad_ = !accept(wanted) || bad_; }

  Value wrong() {
    bad_ = true;
    return {};
  }

  static Value of(bool truth) { return {true, false, truth ? 1U : 0U}; }

  Value conditional() {
    if (++depth_ > kDeepest) return wrong();
    const Value test = binary(0);
    Value out = test;
    if (!bad_ && accept("?")) {
      const Value yes = conditional();
      expect(":");
      const Value no = conditional();
      out = !test.known ? Value() : test.bits != 0 ? yes : no;
      out.is_unsigned = yes.is_unsigned || no.is_unsigned;
    }
    --depth_;
    return out;
  }

  // How tightly an operator binds; -1: it is none of two operands.
  static int binding(const std::string& op) {
    static const std::map<std::string, int> all = {
        {"||", 0}, {"&&", 1}, {"|", 2}, {"^", 3},  {"&", 4},  {"==", 5},
        {"!=", 5}, {"<", 6},  {">", 6}, {"<=", 6}, {">=", 6}, {"<<", 7},
        {">>", 7}, {"+", 8},  {"-", 8}, {"*", 9},  {"/", 9},  {"%", 9}};
    const auto found = all.find(op);
    return found == all.end() ? -1 : found->second;
  }

  Value binary(int least) {
    Value left = unary();
    for (int binds = binding(token()); !bad_ && binds >= least; binds = binding(token())) {
      const std::string op = token();
      ++at_;
      const Value right = binary(binds + 1);
      left = combine(op, left, right);
    }
    return left;
  }

  static Value combine(const std::string& op, Value a, Value b) {
    if (op == "&&" || op == "||") {
      const std::uint64_t decides = op == "||" ? 1 : 0;
      for (const Value& one : {a, b}) {
        if (one.known && (one.bits != 0 ? 1U : 0U) == decides) return of(decides != 0);
      }
      return a.known && b.known ? of(decides == 0) : Value();
    }
    if (!a.known || !b.known) return {};
    const bool is_shift = op == "<<" || op == ">>";
    const bool is_unsigned = a.is_unsigned || (b.is_unsigned && !is_shift);
    const auto less = [&](const Value& x, const Value& y) {
      return is_unsigned ? x.bits < y.bits : signed_of(x) < signed_of(y);
    };
    if (op == "==") return of(a.bits == b.bits);
    if (op == "!=") return of(a.bits != b.bits);
    if (op == "<") return of(less(a, b));
    if (op == ">") return of(less(b, a));
    if (op == "<=") return of(!less(b, a));
    if (op == ">=") return of(!less(a, b));
    const std::optional<std::uint64_t> bits = arithmetic(op, a, b, is_unsigned);
    return bits ? Value{true, is_unsigned, *bits} : Value();
  }

  static std::optional<std::uint64_t> arithmetic(const std::string& op, const Value& a,
                                                 const Value& b, bool is_unsigned) {
    if (op == "+") return a.bits + b.bits;
    if (op == "-") return a.bits - b.bits;
    if (op == "*") return a.bits * b.bits;
    if (op == "&") return a.bits & b.bits;
    if (op == "|") return a.bits | b.bits;
    if (op == "^") return a.bits ^ b.bits;
    if (op == "<<" || op == ">>") {
      if (b.bits > 63) return std::nullopt;
      if (op == "<<") return a.bits << b.bits;
      const bool fills = !is_unsigned && signed_of(a) < 0;
      return fills ? ~(~a.bits >> b.bits) : a.bits >> b.bits;
    }
    // Of the signed ones, the least by -1 has no result.
    if (b.bits == 0 || (!is_unsigned && ~b.bits == 0)) return std::nullopt;
    if (is_unsigned) return op == "/" ? a.bits / b.bits : a.bits % b.bits;
    return static_cast<std::uint64_t>(op == "/" ? signed_of(a) / signed_of(b)
                                                : signed_of(a) % signed_of(b));
  }

  static std::int64_t signed_of(const Value& value) {
    return static_cast<std::int64_t>(value.bits);
  }

  Value unary() {
    if (++depth_ > kDeepest) return wrong();
    const std::string op = token();
    Value out;
    if (op == "!" || op == "-" || op == "+" || op == "~") {
      ++at_;
      out = unary();
      if (op == "!" && out.known) out = of(out.bits == 0);
      if (op == "-") out.bits = 0 - out.bits;
      if (op == "~") out.bits = ~out.bits;
    } else {
      out = primary();
    }
    --depth_;
    return out;
  }

  Value primary() {
    if (bad_ || at_ >= tokens_.size()) return wrong();
    if (accept("(")) {
      const Value inside = conditional();
      expect(")");
      return inside;
    }
    const std::string first = tokens_[at_++];
    if (first == "defined") return defined();
    if (is_digit(first[0])) return number(first);
    if (first[0] == '\'') {
      const bool is_plain = first.size() == 3 && first[1] > 0;
      return is_plain ? Value{true, false, static_cast<std::uint64_t>(first[1])} : Value();
    }
    if (!is_word(first[0])) return wrong();
    const bool is_undefined = macros_.get(first).state == Macro::State::undefined;
    if (token() != "(") return is_undefined ? of(false) : Value();
    // Something like __has_extension(x).
    int open = 0;
    do {
      if (at_ >= tokens_.size()) return wrong();
      open += token() == "(" ? 1 : token() == ")" ? -1 : 0;
      ++at_;
    } while (open > 0);
    return {};
  }

  Value defined() {
    const bool parenthesis = accept("(");
    const std::string name = token();
    if (name.empty() || !is_word(name[0])) return wrong();
    ++at_;
    if (parenthesis) expect(")");
    const Macro::State state = macros_.get(name).state;
    return state == Macro::State::unknown ? Value() : of(state == Macro::State::defined);
  }

  Value number(const std::string& token) {
    char* end = nullptr;
    const std::uint64_t bits = std::strtoull(token.c_str(), &end, 0);
    bool is_unsigned = bits > static_cast<std::uint64_t>(INT64_MAX);
    for (; *end != '\0'; ++end) {
      if (*end == 'u' || *end == 'U') {
        is_unsigned = true;
      } else if (*end != 'l' && *end != 'L') {
        return wrong();  // 1.5
      }
    }
    return {true, is_unsigned, bits};
  }

  const Macros& macros_;
  std::size_t& budget_;
  std::vector<std::string> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool bad_ = false;
};

// The groups of #if, #elif and #else that a place lies in.
class Conditionals {
 public:
  explicit Conditionals(Macros& macros) : macros_(macros) {}

  std::size_t depth() const { return groups_.size(); }

  // Whether the compiler comes past here.
  Truth live() const { return groups_.empty() ? Truth::yes : groups_.back().here; }

  // The same with the guards of headers taken as open.
  Truth likely() const {
    if (live() == Truth::no) return Truth::no;
    for (const Group& group : groups_) {
      if (group.forked && !group.is_guard) return Truth::unknown;
    }
    return Truth::yes;
  }

  void begin(std::string_view condition) {
    Group group;
    group.around = live();
    groups_.push_back(group);
    branch(condition);
  }

  // #elif; #else has the condition "1".
  void next(std::string_view condition) {
    leave();
    branch(condition);
  }

  void end() {
    leave();
    if (groups_.back().forked) {
      if (!groups_.back().settled) {  // none of the branches may be taken
        assume_failed();
        macros_.end_branch();
      }
      macros_.end_fork();
    }
    groups_.pop_back();
  }

  void defines(const std::string& name) {
    if (groups_.empty() || groups_.back().failed.size() != 1) return;
    Group& group = groups_.back();
    group.is_guard = group.is_guard || group.failed.front() == std::make_pair(name, true);
  }

 private:
  struct Group {
    Truth around = Truth::yes;
    Truth here = Truth::no;
    bool is_guard = false;  // "#ifndef X" with "#define X" in it
    bool forked = false;    // of some branch so far it was not known whether it is taken
    bool settled = false;   // one of the branches so far is taken
    std::vector<std::pair<std::string, bool>> failed;  // what is defined or not if none is taken
  };

  void leave() {
    Group& group = groups_.back();
    if (group.forked && group.here != Truth::no) macros_.end_branch();
    group.here = Truth::no;
    group.is_guard = false;
  }

  void branch(std::string_view condition) {
    Group& group = groups_.back();
    if (group.around == Truth::no || group.settled) return;
    if (group.forked) assume_failed();
    const Truth truth = Condition::evaluate(condition, macros_, budget_);
    if (truth == Truth::no) {
      if (group.forked) macros_.drop_branch();
      return;
    }
    group.settled = truth == Truth::yes;
    if (truth == Truth::unknown && !group.forked) {
      macros_.begin_fork();
      group.forked = true;
    }
    group.here = group.forked ? Truth::unknown : group.around;
    const auto only = Condition::only_defined(condition);
    if (truth != Truth::unknown || !only) return;
    assume(only->first, only->second);
    if (group.failed.size() < 64) group.failed.emplace_back(only->first, !only->second);
  }

  void assume(const std::string& name, bool is_defined) {
    if (macros_.get(name).state == Macro::State::unknown)
      macros_.set(name, is_defined ? Macro::defined() : Macro::undefined());
  }

  void assume_failed() {
    for (const auto& [name, is_defined] : groups_.back().failed) assume(name, is_defined);
  }

  Macros& macros_;
  std::vector<Group> groups_;
  std::size_t budget_ = std::size_t{1} << 22;
};

}  // namespace clcook::detail
