// The regions of a kernel's source: bodies of functions, loops and branches, each on lines of its
// own. Machine code that is compiled from such a text says by its line numbers which region it
// belongs to, and a copy of the text with a counter at the head of each region says how often the
// region runs. std only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "isa/listing.hpp"

namespace clcook::isa {

struct Region {
  enum class Kind {
    function,  // the body of a function or kernel
    loop,      // the body of a loop; its header's lines belong to it too
    branch,    // a side of an 'if', or what follows a 'case'
    rest,      // what follows an 'if' or a loop that may have left the region
  };
  Kind kind = Kind::function;
  int parent = -1;   // -1: a function
  std::string name;  // of a function
};

struct Regions {
  std::vector<Region> all;
  std::string plain;         // the text, a region's parts on lines of their own
  std::string counted;       // the same with CLCOOK_COUNT(region); at the head of each region
  std::vector<int> of_line;  // of plain: [0] is the first line; -1: outside functions
  std::vector<bool> header;  // of plain: the line is the header of the loop that of_line names
  std::vector<std::pair<std::string, unsigned>> kernels;  // and the group's size; 0: any
  std::map<std::string, std::vector<int>> calls;  // regions that name a function of the text

  // The body of a function; -1: there is none.
  int function(const std::string& name) const {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].kind == Region::Kind::function && all[i].name == name) return static_cast<int>(i);
    }
    return -1;
  }
  int at_line(unsigned line) const {
    return line == 0 || line > of_line.size() ? -1 : of_line[line - 1];
  }
  // Two texts with the same signature have the same regions in the same order.
  std::string signature() const {
    std::string out;
    for (const Region& one : all) {
      out += "flbr"[static_cast<int>(one.kind)] + std::to_string(one.parent) + one.name + ";";
    }
    return out;
  }
};

namespace detail {

struct Token {
  std::string_view text;
  bool glued = false;      // no blank before it
  bool directive = false;  // a whole line that begins with '#'
};

inline std::vector<Token> tokens_of(std::string_view in) {
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

class RegionParser {
 public:
  explicit RegionParser(std::string_view preprocessed) : tokens_(tokens_of(preprocessed)) {
    find_functions();
  }

  Regions parse() {
    while (at_ < tokens_.size()) {
      if (!is("{")) {
        last_ = tokens_[at_].text;
        take(-1);
      } else if (last_ == ")") {
        function();
      } else {
        balanced(-1);  // a structure or the values of a table
      }
    }
    end_line();
    return std::move(out_);
  }

 private:
  bool is(std::string_view text) const { return at_ < tokens_.size() && tokens_[at_].text == text; }

  // Names that stand before '(' ... ') {' outside of all braces.
  void find_functions() {
    int braces = 0;
    int parens = 0;
    std::string_view candidate;
    bool kernel = false;
    unsigned group = 0;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].directive) continue;
      const std::string_view text = tokens_[i].text;
      if (text == "{") {
        if (braces++ == 0 && i > 0 && tokens_[i - 1].text == ")") {
          names_[i] = candidate;
          if (kernel) out_.kernels.emplace_back(std::string(candidate), group);
        }
      }
      if (text == "}") --braces;
      if (braces > 0) continue;
      if (text == "}" || text == ";") {
        kernel = false;
        group = 0;
      }
      kernel = kernel || (parens == 0 && (text == "kernel" || text == "__kernel"));
      if (text == "reqd_work_group_size") {
        group = 1;
        for (std::size_t k = i + 1; k < tokens_.size() && tokens_[k].text != ")"; ++k) {
          if (is_digit(tokens_[k].text[0])) group *= to_unsigned(tokens_[k].text);
        }
      }
      if (text == "(" && parens++ == 0 && i > 0) candidate = tokens_[i - 1].text;
      if (text == ")") --parens;
    }
    for (const auto& [position, name] : names_) out_.calls[std::string(name)];
  }

  void end_line() {
    if (line_.empty()) return;
    out_.plain += line_ + "\n";
    out_.of_line.push_back(line_region_);
    out_.header.push_back(line_header_);
    line_.clear();
  }

  // Writes the next token as a part of a region.
  void take(int region, bool header = false) {
    if (at_ >= tokens_.size()) throw std::runtime_error("the source ends inside a function");
    const Token& token = tokens_[at_++];
    if (token.directive || region != line_region_ || header != line_header_) end_line();
    if (line_.empty()) {
      line_region_ = region;
      line_header_ = header;
    } else if (!token.glued) {
      line_ += ' ';
    }
    line_ += token.text;
    if (token.directive) {
      end_line();
      out_.counted += "\n" + std::string(token.text) + "\n";
    } else {
      out_.counted += (token.glued ? "" : " ") + std::string(token.text);
    }
    if (region >= 0 && is("(")) {
      const auto known = out_.calls.find(std::string(token.text));
      if (known != out_.calls.end()) known->second.push_back(region);
    }
  }

  // From an opening bracket to the one that closes it.
  void balanced(int region, bool header = false) {
    int depth = 0;
    do {
      depth += is("(") || is("{") || is("[") ? 1 : is(")") || is("}") || is("]") ? -1 : 0;
      take(region, header);
    } while (depth > 0);
  }

  int open(Region::Kind kind, int parent, const std::string& name = "") {
    out_.all.push_back({kind, parent, name});
    return static_cast<int>(out_.all.size()) - 1;
  }

  void count(int region) { out_.counted += " CLCOOK_COUNT(" + std::to_string(region) + ");"; }

  void function() {
    const int region = open(Region::Kind::function, -1, std::string(names_.at(at_)));
    block(region);
    last_ = "}";
  }

  // What a statement may do to the rest of the region that holds it.
  struct Leaves {
    bool region = false;    // break, continue
    bool function = false;  // return, goto
    void operator|=(const Leaves& other) {
      region = region || other.region;
      function = function || other.function;
    }
  };

  // "{ ... }"; the counter stands behind the brace.
  Leaves block(int region) {
    take(region);
    count(region);
    const Leaves leaves = statements(region);
    take(region);  // }
    return leaves;
  }

  Leaves statements(int region) {
    Leaves all;
    const int whole = region;
    while (!is("}")) {
      if (is("case") || is("default")) {
        int depth = 0;
        while (!(is(":") && depth == 0)) {
          depth += is("?") || is("(") ? 1 : is(":") || is(")") ? -1 : 0;
          take(whole);
        }
        take(whole);
        region = open(Region::Kind::branch, whole);
        count(region);
        continue;
      }
      const Leaves one = statement(region);
      all |= one;
      if ((one.region || one.function) && !is("}") && !is("case") && !is("default")) {
        region = open(Region::Kind::rest, region);
        count(region);
      }
    }
    return all;
  }

  // A statement as a region of its own, in braces.
  Leaves nested(Region::Kind kind, int parent) { return body(open(kind, parent)); }
  Leaves body(int region) {
    if (is("{")) return block(region);
    out_.counted += " {";
    count(region);
    const Leaves leaves = statement(region);
    out_.counted += " }";
    return leaves;
  }

  Leaves statement(int region) {
    if (tokens_[std::min(at_, tokens_.size() - 1)].directive) {
      take(region);
      return {};
    }
    if (is("__attribute__")) {
      take(region);
      balanced(region);
      return statement(region);
    }
    if (is("{")) {
      take(region);
      const Leaves leaves = statements(region);
      take(region);
      return leaves;
    }
    if (is("if")) {
      take(region);
      balanced(region);
      Leaves leaves = nested(Region::Kind::branch, region);
      if (is("else")) {
        take(region);
        leaves |= nested(Region::Kind::branch, region);
      }
      return leaves;
    }
    if (is("for") || is("while")) {
      const int inner = open(Region::Kind::loop, region);
      end_line();
      take(inner, true);
      balanced(inner, true);
      return {false, body(inner).function};
    }
    if (is("do")) {
      const int inner = open(Region::Kind::loop, region);
      end_line();
      take(inner, true);
      const Leaves leaves = body(inner);
      take(inner, true);  // while
      balanced(inner, true);
      take(region);  // ;
      return {false, leaves.function};
    }
    if (is("switch")) {
      take(region);
      balanced(region);
      // Nothing is reached before the first label, so that the body has no counter of its own.
      take(region);
      const Leaves leaves = statements(region);
      take(region);
      return {false, leaves.function};
    }
    Leaves leaves;
    leaves.region = is("break") || is("continue");
    leaves.function = is("return") || is("goto");
    while (!is(";")) {
      if (is("(") || is("{") || is("[")) {
        balanced(region);
      } else {
        take(region);
      }
    }
    take(region);
    return leaves;
  }

  std::vector<Token> tokens_;
  std::map<std::size_t, std::string_view> names_;  // by the position of the opening brace
  std::size_t at_ = 0;
  std::string_view last_;
  Regions out_;
  std::string line_;
  int line_region_ = -1;
  bool line_header_ = false;
};

}  // namespace detail

// The regions of a preprocessed text that compiles. Throws std::runtime_error where the text ends
// inside a function.
inline Regions regions_of(std::string_view preprocessed) {
  return detail::RegionParser(preprocessed).parse();
}

}  // namespace clcook::isa
