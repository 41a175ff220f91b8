// What Source needs of C's translation phases 1 to 4: lines without splices and comments, which
// macros are known, and what a condition comes to. Implementation of clcook/core/source.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <set>
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
    if (!take_hash(text)) return false;
    std::string_view rest = text;
    if (take_word(rest) == "include" && without_blanks(rest).empty()) return true;
    rest = without_blanks(text);
    if (rest.empty() || rest.back() != '(') return false;
    rest = without_blanks(rest.substr(0, rest.size() - 1));
    constexpr std::string_view asks = "__has_include";
    return rest.size() >= asks.size() && rest.substr(rest.size() - asks.size()) == asks;
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

// A token of a line.
struct Lexeme {
  std::string text;
  bool space = false;  // before it
  bool stays = false;  // the name of a macro that it is a part of

  bool is_name() const { return !text.empty() && is_word(text[0]) && !is_digit(text[0]); }
};

inline std::vector<Lexeme> lexemes_of(std::string_view text) {
  std::vector<Lexeme> out;
  for (;;) {
    const std::size_t before = text.size();
    text = without_blanks(text);
    if (text.empty()) return out;
    const bool space = !out.empty() && text.size() < before;
    std::size_t length = 1;
    const bool is_number = is_digit(text[text[0] == '.' && text.size() > 1 ? 1 : 0]);
    if (text[0] == '"' || text[0] == '\'') {
      while (length < text.size() && text[length] != text[0])
        length += text[length] == '\\' ? 2U : 1U;
      ++length;
    } else if (is_word(text[0]) || is_number) {
      for (; length < text.size(); ++length) {
        const bool is_sign = text[length] == '+' || text[length] == '-';
        const char last = static_cast<char>(text[length - 1] | ' ');
        const bool is_part =
            is_number && (text[length] == '.' || (is_sign && (last == 'e' || last == 'p')));
        if (!is_word(text[length]) && !is_part) break;
      }
    } else {
      for (const char* two : {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "##"}) {
        if (text.substr(0, 2) == two) length = 2;
      }
    }
    length = std::min(length, text.size());
    out.push_back({std::string(text.substr(0, length)), space, false});
    text.remove_prefix(length);
  }
}

inline std::string text_of(const std::vector<Lexeme>& pieces) {
  std::string out;
  for (const Lexeme& one : pieces) out += (one.space ? " " : "") + one.text;
  return out;
}

// What is known of a macro before the compiler runs, where -D and the compiler define others.
struct Macro {
  enum class State { unknown, undefined, defined };
  State state = State::unknown;
  std::optional<std::string> body;                     // where it is known
  std::optional<std::vector<std::string>> parameters;  // where it has a list of them
  bool is_variadic = false;                            // the last one takes the rest

  bool operator==(const Macro& other) const {
    return state == other.state && body == other.body && parameters == other.parameters &&
           is_variadic == other.is_variadic;
  }
  static Macro undefined() { return {State::undefined, std::nullopt, std::nullopt, false}; }
  static Macro defined() { return {State::defined, std::nullopt, std::nullopt, false}; }

  // Of what stands behind its name.
  static Macro of(std::string_view rest) {
    Macro out = defined();
    if (rest.substr(0, 1) == "(") {
      const std::size_t close = rest.find(')');
      if (close == std::string_view::npos) return out;
      out.parameters.emplace();
      std::string_view list = without_blanks(rest.substr(1, close - 1));
      while (!list.empty()) {
        const std::size_t end = std::min(list.find(','), list.size());
        std::string_view one = without_blanks(list.substr(0, end));
        list.remove_prefix(std::min(end + 1, list.size()));
        out.is_variadic = one.size() >= 3 && one.substr(one.size() - 3) == "...";
        if (out.is_variadic) one = without_blanks(one.substr(0, one.size() - 3));
        out.parameters->emplace_back(one.empty() ? "__VA_ARGS__" : one);
      }
      rest.remove_prefix(close + 1);
    }
    if (rest.find("__VA_OPT__") == std::string_view::npos) out.body = without_blanks(rest);
    return out;
  }
};

// Whether a compiler may define the macro by itself.
inline bool is_of_compilers(std::string_view name) {
  if (name.size() > 1 && name[0] == '_')
    return name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z');
  for (const char* start :
       {"cl_khr_", "cl_ext_", "cl_intel_", "cl_amd_", "cl_nv_", "cl_arm_", "cl_qcom_", "cl_img_",
        "cl_pocl_", "cl_clang_", "cles_", "CL_", "CLK_", "FP_", "ATOMIC_"}) {
    if (name.substr(0, std::string_view(start).size()) == start) return true;
  }
  return false;
}

// The macros at a place of the text. Groups whose condition is not known are gone through one after
// the other, each from what held before, and what they agree in holds behind them.
class Macros {
 public:
  // `all_said`: nobody but the text and compilers defines macros.
  explicit Macros(bool all_said) : all_said_(all_said) {}

  Macro get(const std::string& name) const {
    if (forgotten_.count(name) > 0) return {};
    const auto found = now_.find(name);
    if (found != now_.end()) return found->second;
    return all_said_ && !is_of_compilers(name) ? Macro::undefined() : Macro();
  }

  // Whether the name is an ordinary word, of which nothing was said.
  bool is_word_of_its_own(const std::string& name) const {
    return now_.count(name) == 0 && forgotten_.count(name) == 0 && !is_of_compilers(name);
  }

  // From here on nothing is known of it.
  void forget(const std::string& name) { forgotten_.insert(name); }

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

  bool all_said_;
  std::map<std::string, Macro> now_;
  std::set<std::string> forgotten_;
  std::vector<Fork> forks_;
};

// What an include names.
struct HeaderName {
  std::string name;
  bool quoted;

  // Of its tokens; no value where they are no "name" and no <name>.
  static std::optional<HeaderName> of(const std::vector<Lexeme>& pieces) {
    if (pieces.empty()) return std::nullopt;
    const std::string& first = pieces.front().text;
    const bool quoted = first[0] == '"';
    if (!quoted && first[0] != '<') return std::nullopt;
    const std::string all = quoted ? first : text_of(pieces);
    const std::size_t begin = all.find(first[0]) + 1;
    const std::size_t end = quoted ? all.rfind('"') : all.find('>', begin);
    if (end == std::string::npos || end <= begin) return std::nullopt;
    return HeaderName{all.substr(begin, end - begin), quoted};
  }
};

// Replaces macros as clang does.
class Expansion {
 public:
  // Whether there is such a header.
  using Ask = std::function<bool(const HeaderName&)>;

  // `budget` is how many tokens it may look at, and loses those that it did; without any left the
  // text is bad. `ask` answers __has_include, in conditions; null: it stays.
  Expansion(const Macros& macros, std::size_t& budget, Ask ask = nullptr)
      : macros_(macros), budget_(budget), ask_(std::move(ask)) {}

  // The tokens that the text comes to.
  std::vector<Lexeme> of(std::string_view text, bool is_condition) {
    return expand(lexemes_of(text), is_condition);
  }

  bool bad() const { return bad_; }
  // A macro of which it is not known what it stands for; empty: there was none.
  const std::string& doubt() const { return doubt_; }
  // Whether there was a question for a header, and one that names none.
  bool asked() const { return asked_; }
  bool asked_in_vain() const { return asked_in_vain_; }

 private:
  // Tokens that are being read: the text, or what stands for a macro, which stays meanwhile.
  struct Frame {
    std::string name;
    std::vector<Lexeme> pieces;
    std::size_t at = 0;
  };

  static constexpr std::size_t kDeepest = 200;

  std::vector<Lexeme> expand(std::vector<Lexeme> from, bool is_condition) {
    std::vector<Lexeme> out;
    const std::size_t floor = frames_.size();
    if (floor > kDeepest) bad_ = true;
    frames_.push_back({"", std::move(from), 0});
    for (Lexeme piece; read(piece, floor);) {
      if (is_condition && piece.text == "defined") {
        out.push_back(piece);
        if (!read(piece, floor)) break;
        out.push_back(piece);
        if (piece.text == "(" && read(piece, floor)) out.push_back(piece);
      } else if (is_condition && ask_ && is_question(piece.text)) {
        out.push_back(answer(piece, floor));
      } else if (!replace(piece, floor)) {
        out.push_back(std::move(piece));
      }
    }
    frames_.resize(floor);
    return out;
  }

  // The next token above a frame; false: there is none.
  bool read(Lexeme& to, std::size_t floor) {
    while (frames_.size() > floor && frames_.back().at == frames_.back().pieces.size())
      frames_.pop_back();
    if (frames_.size() <= floor || bad_) return false;
    bad_ = budget_ == 0;
    if (bad_) return false;
    --budget_;
    to = frames_.back().pieces[frames_.back().at++];
    to.space = to.space || space_;
    space_ = false;
    to.stays = to.stays || is_open(to.text);
    return true;
  }

  bool is_open(const std::string& name) const {
    for (const Frame& frame : frames_) {
      if (frame.name == name && !name.empty()) return true;
    }
    return false;
  }

  bool next_is(const char* wanted, std::size_t floor) const {
    for (std::size_t i = frames_.size(); i > floor; --i) {
      const Frame& frame = frames_[i - 1];
      if (frame.at < frame.pieces.size()) return frame.pieces[frame.at].text == wanted;
    }
    return false;
  }

  // Whether what stands for the token is read next.
  bool replace(const Lexeme& piece, std::size_t floor) {
    if (piece.stays || !piece.is_name()) return false;
    const Macro macro = macros_.get(piece.text);
    if (macro.state == Macro::State::undefined || macros_.is_word_of_its_own(piece.text))
      return false;
    if (!macro.body && doubt_.empty()) doubt_ = piece.text;
    if (!macro.body || (macro.parameters && !next_is("(", floor))) return false;
    std::vector<std::vector<Lexeme>> arguments;
    if (macro.parameters && !take_arguments(macro, arguments, floor)) {
      bad_ = true;
      return true;
    }
    Frame frame{piece.text, substitute(macro, arguments), 0};
    if (frame.pieces.empty()) {
      space_ = space_ || piece.space;
    } else {
      frame.pieces.front().space = piece.space;
    }
    bad_ = bad_ || frames_.size() > 16 * kDeepest;
    frames_.push_back(std::move(frame));
    return true;
  }

  bool take_arguments(const Macro& macro, std::vector<std::vector<Lexeme>>& to, std::size_t floor) {
    const std::size_t count = macro.parameters->size();
    Lexeme piece;
    read(piece, floor);
    to.emplace_back();
    for (std::size_t depth = 1; depth > 0;) {
      if (!read(piece, floor)) return false;
      if (piece.text == "(") ++depth;
      if (piece.text == ")" && --depth == 0) break;
      const bool is_rest = macro.is_variadic && to.size() == count;
      if (piece.text == "," && depth == 1 && !is_rest) {
        to.emplace_back();
      } else {
        to.back().push_back(piece);
      }
    }
    if (count == 0 && to.front().empty()) to.clear();
    if (macro.is_variadic && to.size() + 1 == count) to.emplace_back();
    return to.size() == count;
  }

  static std::string in_quotes(const std::vector<Lexeme>& argument) {
    std::string out;
    for (const Lexeme& one : argument) {
      if (one.space && !out.empty()) out += ' ';
      const bool is_literal = one.text[0] == '"' || one.text[0] == '\'';
      for (const char c : one.text) {
        if (is_literal && (c == '"' || c == '\\')) out += '\\';
        out += c;
      }
    }
    return '"' + out + '"';
  }

  std::vector<Lexeme> substitute(const Macro& macro,
                                 const std::vector<std::vector<Lexeme>>& arguments) {
    const std::vector<Lexeme> body = lexemes_of(*macro.body);
    const auto argument_of = [&](std::size_t i) -> const std::vector<Lexeme>* {
      for (std::size_t p = 0; i < body.size() && p < arguments.size(); ++p) {
        if ((*macro.parameters)[p] == body[i].text) return &arguments[p];
      }
      return nullptr;
    };
    std::vector<Lexeme> out;
    bool space = false;
    for (std::size_t i = 0; i < body.size(); ++i) {
      const bool joins = i > 0 && body[i].text == "##" && i + 1 < body.size();
      if (joins) ++i;
      const bool is_joined = i + 1 < body.size() && body[i + 1].text == "##";
      std::vector<Lexeme> next = {body[i]};
      if (macro.parameters && body[i].text == "#" && argument_of(i + 1) != nullptr) {
        next.front().text = in_quotes(*argument_of(++i));
      } else if (const auto* argument = argument_of(i)) {
        next = joins || is_joined ? *argument : expand(*argument, false);
        // GNU's: nothing behind a comma takes it away.
        bad_ = bad_ || (joins && !out.empty() && out.back().text == ",");
        if (next.empty() && (joins || is_joined)) next.emplace_back();
        if (!next.empty()) next.front().space = body[i].space;
      }
      space = space || (next.empty() && body[i].space);
      for (std::size_t n = 0; n < next.size(); ++n) {
        if (n == 0 && joins && !out.empty()) {
          out.back().text += next[n].text;
          out.back().stays = false;
          bad_ = bad_ || lexemes_of(out.back().text).size() > 1;
        } else {
          out.push_back(next[n]);
          out.back().space = out.back().space || space;
          space = false;
        }
      }
    }
    out.erase(
        std::remove_if(out.begin(), out.end(), [](const Lexeme& one) { return one.text.empty(); }),
        out.end());
    return out;
  }

  static bool is_question(const std::string& name) {
    return name == "__has_include" || name == "__has_include_next" || name == "__has_embed";
  }

  // 1 or 0, or what no compiler takes.
  Lexeme answer(const Lexeme& question, std::size_t floor) {
    Lexeme out = question;
    Lexeme piece;
    if (!next_is("(", floor)) return out;
    read(piece, floor);
    std::vector<Lexeme> inside;
    for (std::size_t depth = 1; depth > 0;) {
      if (!read(piece, floor)) return out;
      if (piece.text == "(") ++depth;
      if (piece.text == ")" && --depth == 0) break;
      inside.push_back(piece);
    }
    asked_ = true;
    std::optional<HeaderName> name = HeaderName::of(inside);
    if (!name) {
      const std::string before = std::move(doubt_);
      doubt_.clear();
      name = HeaderName::of(expand(std::move(inside), false));
      if (!doubt_.empty()) name.reset();
      if (doubt_.empty()) doubt_ = before;
    }
    if (name && question.text == "__has_include") {
      out.text = ask_(*name) ? "1" : "0";
    } else {
      asked_in_vain_ = true;
      out.text = "CLCOOK_CANNOT_FOLLOW(" + question.text + ")";
    }
    return out;
  }

  const Macros& macros_;
  std::size_t& budget_;
  Ask ask_;
  std::vector<Frame> frames_;
  std::string doubt_;
  bool space_ = false;  // before the next token
  bool bad_ = false;
  bool asked_ = false;
  bool asked_in_vain_ = false;
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
    const std::optional<std::uint64_t> bits = value(text, macros, budget);
    return !bits ? Truth::unknown : *bits != 0 ? Truth::yes : Truth::no;
  }
  static std::optional<std::uint64_t> value(std::string_view text, const Macros& macros,
                                            std::size_t& budget) {
    Condition condition(macros);
    Expansion expansion(macros, budget);
    for (Lexeme& one : expansion.of(text, true)) condition.tokens_.push_back(std::move(one.text));
    condition.bad_ = expansion.bad();
    const Value value = condition.conditional();
    if (condition.bad_ || condition.at_ < condition.tokens_.size() || !value.known)
      return std::nullopt;
    return value.bits;
  }

  // The macro of "defined X" or "!defined(X)" alone, and which of both it is.
  static std::optional<std::pair<std::string, bool>> only_defined(std::string_view text) {
    bool is_defined = true;
    std::string all;
    for (const Lexeme& one : lexemes_of(text)) {
      if (one.text != "(" && one.text != ")") all += one.text + " ";
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

  explicit Condition(const Macros& macros) : macros_(macros) {}

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
      const bool is_escaped =
          first.size() == 4 && first[1] == '\\' && (first[2] == '\\' || first[2] == '\'');
      const char c = is_escaped ? first[2] : first.size() == 3 ? first[1] : '\0';
      return c > 0 ? Value{true, false, static_cast<std::uint64_t>(c)} : Value();
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

  // The end of a branch; what next() and end() do first.
  void leave() {
    Group& group = groups_.back();
    if (group.forked && group.here != Truth::no) macros_.end_branch();
    group.here = Truth::no;
    group.is_guard = false;
  }

  // Whether the compiler comes past the group.
  Truth around() const { return groups_.back().around; }

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
