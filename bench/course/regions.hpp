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

#include "isa/tokens.hpp"

namespace clcook::tool::course {

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

class RegionParser {
 public:
  explicit RegionParser(std::string_view preprocessed) : tokens_(isa::tokens_of(preprocessed)) {
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

  void find_functions() {
    for (const isa::Function& one : isa::functions_of(tokens_)) {
      names_[one.body] = one.name;
      out_.calls[std::string(one.name)];
    }
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
    const isa::Token& token = tokens_[at_++];
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

  std::vector<isa::Token> tokens_;
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

}  // namespace clcook::tool::course
