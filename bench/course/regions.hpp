// The places of a kernel's source that a run is told by: bodies of functions, loops and branches, calls
// of functions, and accesses of global memory. A copy of the text with a counter at each says in which
// order a work-item comes by. std only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
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
    loop,      // the body of a loop; its header belongs to it too
    branch,    // a side of an 'if', or what follows a 'case'
    rest,      // what follows an 'if' or a loop that may have left the region
    call,      // of a function of the text
    load,      // of global memory
    store,
  };
  Kind kind = Kind::function;
  int parent = -1;    // -1: a function
  std::string name;   // of a function, of what a call calls
  double steps = 0;   // operations of its own
  unsigned line = 0;  // of the file; 0: it is none of the file
};

struct Regions {
  std::vector<Region> all;
  // The text with CLCOOK_COUNT(region) at the head of each, and CLCOOK_AT(region, pointer, index) as the
  // index of each access.
  std::string counted;
  bool waits = false;  // it has a barrier

  // The body of a function; -1: there is none.
  int function(const std::string& name) const {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].kind == Region::Kind::function && all[i].name == name) return static_cast<int>(i);
    }
    return -1;
  }
};

namespace detail {

inline bool is_word_token(std::string_view text) {
  return isa::detail::is_word(text[0]) && !isa::detail::is_digit(text[0]) && text[0] != '.';
}

// A word of the text, and the line of the file that it stands in.
struct PlacedToken : isa::Token {
  unsigned line = 0;
};

// The words without the lines that say where the next one comes from, # LINE "FILE": those of `file` are
// the file's.
inline std::vector<PlacedToken> placed_tokens(std::string_view text, const std::string& file) {
  std::vector<PlacedToken> out;
  const char* at = text.data();
  unsigned line = 1;
  bool is_own = true;
  for (const isa::Token& token : isa::tokens_of(text)) {
    line += static_cast<unsigned>(std::count(at, token.text.data(), '\n'));
    at = token.text.data();
    const bool is_place = token.directive && token.text.size() > 2 && token.text[1] == ' ' &&
                          isa::detail::is_digit(token.text[2]);
    if (!is_place) {
      out.push_back({token, is_own ? line : 0});
      continue;
    }
    line = isa::detail::to_unsigned(token.text.substr(2)) - 1;
    is_own = token.text.find(file + "\"") != std::string_view::npos;
  }
  return out;
}

class RegionParser {
 public:
  RegionParser(std::string_view preprocessed, const std::string& file)
      : tokens_(placed_tokens(preprocessed, file)) {
    const std::vector<isa::Token> plain(tokens_.begin(), tokens_.end());
    for (const isa::Function& one : isa::functions_of(plain)) {
      names_[one.body] = one.name;
      functions_.insert(one.name);
    }
    find_pointers();
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
    return std::move(out_);
  }

 private:
  bool is_at(std::size_t i, std::string_view text) const {
    return i < tokens_.size() && tokens_[i].text == text;
  }
  bool is(std::string_view text) const { return is_at(at_, text); }

  // Names of pointers to global memory, each from its declaration to the next of that name: OpenCL C
  // 1.2 says '__global' in every one.
  void find_pointers() {
    std::set<std::string_view> types;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].text == "__global" || tokens_[i].text == "global") {
        std::size_t star = i + 1;
        while (star < tokens_.size() && (is_word_token(tokens_[star].text))) ++star;
        std::size_t name = star;
        while (is_at(name, "*") || is_at(name, "const") || is_at(name, "restrict") ||
               is_at(name, "volatile"))
          ++name;
        if (is_at(star, "*") && name < tokens_.size() && is_word_token(tokens_[name].text)) {
          if (i > 0 && is_at(i - 1, "typedef")) {
            types.insert(tokens_[name].text);
          } else {
            pointers_[tokens_[name].text][name] = true;
          }
        }
      } else if (types.count(tokens_[i].text) > 0 && i + 1 < tokens_.size() &&
                 is_word_token(tokens_[i + 1].text)) {
        pointers_[tokens_[i + 1].text][i + 1] = true;
      } else if (i > 1 && (tokens_[i - 1].text == "*" || is_word_token(tokens_[i - 1].text)) &&
                 (is_at(i + 1, "[") || is_at(i + 1, "=") || is_at(i + 1, ",") ||
                  is_at(i + 1, ")") || is_at(i + 1, ";")) &&
                 is_word_token(tokens_[i].text) && tokens_[i - 1].text != "return" &&
                 is_of_a_declaration(i)) {
        pointers_[tokens_[i].text].emplace(i, false);
      }
    }
  }

  // Whether the name is declared there: words and stars before it that begin with a type of OpenCL C.
  bool is_of_a_declaration(std::size_t name) const {
    std::size_t i = name;
    while (i > 0 && (is_at(i - 1, "*") || is_word_token(tokens_[i - 1].text))) --i;
    static const std::set<std::string_view> types = {
        "void",   "bool",    "char",      "uchar",    "short",      "ushort", "int",   "uint",
        "long",   "ulong",   "half",      "float",    "double",     "size_t", "const", "volatile",
        "struct", "__local", "__private", "unsigned", "__constant", "signed"};
    std::string_view type = tokens_[i].text;
    while (!type.empty() && isa::detail::is_digit(type.back())) type.remove_suffix(1);
    return i < name && types.count(type) > 0;
  }

  bool is_global(std::size_t i) const {
    const auto known = pointers_.find(tokens_[i].text);
    if (known == pointers_.end()) return false;
    auto last = known->second.upper_bound(i);
    if (last == known->second.begin()) return false;
    --last;
    return last->second && last->first != i;
  }

  // The token behind the bracket that closes that one.
  std::size_t behind(std::size_t open) const {
    int depth = 0;
    for (std::size_t i = open; i < tokens_.size(); ++i) {
      const std::string_view text = tokens_[i].text;
      depth += text == "(" || text == "{" || text == "["   ? 1
               : text == ")" || text == "}" || text == "]" ? -1
                                                           : 0;
      if (depth == 0) return i + 1;
    }
    throw std::runtime_error("the source ends inside a function");
  }

  std::string text_of(std::size_t begin, std::size_t end) const {
    std::string out;
    for (std::size_t i = begin; i < end; ++i)
      out += (i > begin && tokens_[i].glued ? "" : " ") + std::string(tokens_[i].text);
    return out;
  }

  static bool is_operator(std::string_view text) {
    return std::string_view("+-*/%&|^~!<>?=").find(text[0]) != std::string_view::npos;
  }

  // Operators, indices and calls are a step each; assignments are none. What takes a series takes many.
  static constexpr double kSlowSteps = 32;
  double steps_of(std::size_t i) const {
    std::string_view text = tokens_[i].text;
    if (tokens_[i].directive) return 0;
    if (text == "[") return 1;
    if (is_operator(text)) {
      if (i > 0 && tokens_[i].glued && is_operator(tokens_[i - 1].text)) return 0;  // ++, <=
      const bool is_alone =
          i + 1 >= tokens_.size() || !tokens_[i + 1].glued || !is_operator(tokens_[i + 1].text);
      if (is_alone) return text == "=" ? 0 : 1;
      return text == "-" && tokens_[i + 1].text == ">" ? 0 : 1;
    }
    if (!is_word_token(text) || !is_at(i + 1, "(")) return 0;
    static const std::set<std::string_view> none = {"if",     "for",    "while",         "switch",
                                                    "return", "sizeof", "__attribute__", "case"};
    if (none.count(text) > 0 || text.substr(0, 4) == "get_" || functions_.count(text) > 0) return 0;
    static const std::set<std::string_view> slow = {"exp",  "exp2", "exp10", "log", "log2", "pow",
                                                    "powr", "sin",  "cos",   "tan", "tanh", "erf"};
    if (text.rfind("native_", 0) == 0) text.remove_prefix(7);
    return slow.count(text) > 0 ? kSlowSteps : 1;
  }

  void write(std::size_t i) {
    const PlacedToken& token = tokens_[i];
    if (token.directive) {
      out_.counted += "\n" + std::string(token.text) + "\n";
    } else {
      out_.counted += (token.glued ? "" : " ") + std::string(token.text);
    }
  }

  // Writes the next token as a part of a region, with the counter of what it begins.
  void take(int region) {
    if (at_ >= tokens_.size()) throw std::runtime_error("the source ends inside a function");
    const std::size_t i = at_;
    const std::string_view text = tokens_[i].text;
    if (region >= 0) {
      out_.all[static_cast<std::size_t>(header_of_ < 0 ? region : header_of_)].steps += steps_of(i);
      out_.waits = out_.waits || text == "barrier" || text == "work_group_barrier";
      if (functions_.count(text) > 0 && is_at(i + 1, "(")) return call(region);
      if (is_vector_access(i)) return vector_access(region);
      if (text == "(" && is_accessed(i)) return group(region);
      if (is_member(i)) return indexed(region, "(__global uchar*)0");
      if (is_word_token(text) && is_global(i)) return pointer(region);
    }
    ++at_;
    write(i);
  }

  // What stands up to a token, as a part of the region.
  void take_to(std::size_t end, int region) {
    while (at_ < end) take(region);
  }

  void call(int region) {
    const std::size_t end = behind(at_ + 1);
    const int id = open(Region::Kind::call, region, std::string(tokens_[at_].text));
    out_.counted += " (CLCOOK_COUNT(" + std::to_string(id) + "),";
    write(at_++);
    take_to(end, region);
    out_.counted += ")";
  }

  // vload4(index, pointer) and its like, of a pointer to global memory.
  bool is_vector_access(std::size_t i) const {
    const std::string_view text = tokens_[i].text;
    if ((text.rfind("vload", 0) != 0 && text.rfind("vstore", 0) != 0) || !is_at(i + 1, "("))
      return false;
    for (std::size_t k = i + 2; k + 1 < behind(i + 1); ++k) {
      if (is_word_token(tokens_[k].text) && is_global(k)) return true;
    }
    return false;
  }

  void vector_access(int region) {
    const std::string_view name = tokens_[at_].text;
    const bool stores = name[1] == 's';
    const std::size_t end = behind(at_ + 1) - 1;
    std::vector<std::size_t> commas;
    for (std::size_t k = at_ + 2; k < end; ++k) {
      if (is_at(k, ",")) commas.push_back(k);
      if (is_at(k, "(") || is_at(k, "[") || is_at(k, "{")) k = behind(k) - 1;
    }
    if (commas.size() != (stores ? 2U : 1U))
      throw std::runtime_error("a vload with other arguments");
    const std::size_t first = stores ? commas[0] + 1 : at_ + 2;  // of the index
    const int id = open(stores ? Region::Kind::store : Region::Kind::load, region);
    const std::string width = std::string(1, name.back() >= '2' && name.back() <= '8' ? name.back()
                                             : name.substr(name.size() - 2) == "16"   ? 'G'
                                                                                      : '1');
    const std::string elements = width == "G" ? "16" : width;
    out_.counted += " (CLCOOK_AT(" + std::to_string(id) + "," + text_of(commas.back() + 1, end) +
                    ", (" + text_of(first, commas.back()) + ") * " + elements + "), ";
    write(at_++);
    take_to(commas.back() + 1, region);
    for (; at_ < end; ++at_) write(at_);
    take(region);
    out_.counted += ")";
  }

  // Whether what stands there is a pointer to global memory, such as p + index.
  bool is_pointer(std::size_t begin, std::size_t end) const {
    for (std::size_t k = begin; k < end; ++k) {
      const bool is_cast = is_at(k, "(") && is_at(k + 1, "__global");
      if ((is_at(k, "(") || is_at(k, "[")) && !is_cast) {
        if (is_at(k, "(") && (k == begin || !is_word_token(tokens_[k - 1].text)) &&
            is_pointer(k + 1, behind(k) - 1))
          return true;
        k = behind(k) - 1;
      } else if (is_word_token(tokens_[k].text) && is_global(k) && !is_at(k + 1, "[") &&
                 !is_at(k - 1, "*")) {
        return true;
      }
    }
    return false;
  }

  // Whether brackets have a pointer in them that is followed: *(p + index), (p + index)[0], and the
  // first argument of an atomic.
  bool is_accessed(std::size_t open) const {
    const std::size_t end = behind(open);
    const bool arrow = is_at(end, "-") && is_at(end + 1, ">");
    return (is_at(end, "[") || arrow || is_at(open - 1, "*")) &&
           !(open > 0 && is_word_token(tokens_[open - 1].text)) && is_pointer(open + 1, end - 1);
  }

  void group(int region) {
    const std::size_t begin = at_;
    const std::size_t end = behind(begin);
    const std::string text = text_of(begin, end);
    if (is_at(end, "[")) {
      while (at_ < end) write(at_++);
      return index(region, text);
    }
    const int id = open(stores(end) ? Region::Kind::store : Region::Kind::load, region);
    out_.counted += " (CLCOOK_AT(" + std::to_string(id) + "," + text + ", 0),";
    write(at_++);
    take_to(end, region);
    out_.counted += ")";
  }

  // "[index]" behind a pointer.
  void index(int region, const std::string& pointer) {
    const std::size_t end = behind(at_);
    const int id = open(stores(end) ? Region::Kind::store : Region::Kind::load, region);
    take(region);
    out_.counted += "CLCOOK_AT(" + std::to_string(id) + ", " + pointer + ",";
    take_to(end - 1, region);
    out_.counted += ")";
    take(region);
  }
  void indexed(int region, const std::string& pointer) {
    write(at_++);
    index(region, pointer);
  }

  // A pointer to global memory in a structure, with an index.
  bool is_member(std::size_t i) const {
    std::string_view name = tokens_[i].text;
    const bool behind_arrow = i > 1 && is_at(i - 1, ">") && is_at(i - 2, "-");
    if (name[0] != '.' && !behind_arrow) return false;
    if (name[0] == '.') name.remove_prefix(1);
    return is_at(i + 1, "[") && pointers_.count(name) > 0;
  }

  // A pointer to global memory: p[index], *p and p->member are accesses.
  void pointer(int region) {
    const std::size_t i = at_;
    const std::string name(tokens_[i].text);
    if (is_at(i + 1, "[")) return indexed(region, name);
    const bool arrow = is_at(i + 1, "-") && is_at(i + 2, ">");
    const bool star = i > 0 && is_at(i - 1, "*");
    const bool atomic = i > 1 && is_at(i - 1, "(") && tokens_[i - 2].text.rfind("atom", 0) == 0;
    if (!arrow && !star && !atomic) {
      write(at_++);
      return;
    }
    // *p++, or an atomic's argument.
    std::size_t end = i + 1;
    if (star && (is_at(end, "+") || is_at(end, "-")) && is_at(end + 1, tokens_[end].text) &&
        tokens_[end + 1].glued)
      end += 2;
    while (atomic && !is_at(end, ",") && !is_at(end, ")"))
      end = is_at(end, "(") || is_at(end, "[") ? behind(end) : end + 1;
    const int id = open(stores(end) ? Region::Kind::store : Region::Kind::load, region);
    out_.counted += " (CLCOOK_AT(" + std::to_string(id) + ", " +
                    (atomic ? "(" + text_of(i, end) + ")" : name) + ", 0), ";
    while (at_ < end) write(at_++);
    out_.counted += ")";
  }

  // Whether what ends there is assigned to.
  bool stores(std::size_t end) const {
    while (is_at(end, ".") || is_at(end, ")") || is_at(end, "]") ||
           (end < tokens_.size() && tokens_[end].text[0] == '.'))
      end += is_at(end, ".") ? 2 : 1;
    if (is_at(end, "=")) return !(is_at(end + 1, "=") && tokens_[end + 1].glued);
    std::size_t k = end;
    while (k < end + 2 && k < tokens_.size() && is_operator(tokens_[k].text) && !is_at(k, "=")) ++k;
    const bool is_compare = k == end + 1 && (is_at(end, "<") || is_at(end, ">") || is_at(end, "!"));
    return k > end && !is_compare && is_at(k, "=") && tokens_[k].glued;
  }

  // From an opening bracket to the one that closes it.
  void balanced(int region) { take_to(behind(at_), region); }

  // The brackets behind 'for' and 'while': steps of each turn, yet before its first one.
  void header(int region, int loop) {
    header_of_ = loop;
    balanced(region);
    header_of_ = -1;
  }

  int open(Region::Kind kind, int parent, const std::string& name = "") {
    out_.all.push_back({kind, parent, name, 0, at_ < tokens_.size() ? tokens_[at_].line : 0});
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
      if (is_word_token(tokens_[at_].text) && is_at(at_ + 1, ":")) {  // where a goto goes
        take(region);
        take(region);
        region = open(Region::Kind::rest, region);
        count(region);
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
      take(inner);
      header(region, inner);
      return {false, body(inner).function};
    }
    if (is("do")) {
      const int inner = open(Region::Kind::loop, region);
      take(inner);
      const Leaves leaves = body(inner);
      take(inner);  // while
      header(region, inner);
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

  std::vector<PlacedToken> tokens_;
  std::map<std::size_t, std::string_view> names_;  // by the position of the opening brace
  std::set<std::string_view> functions_;
  // By name and the place of a declaration: whether it is of a pointer to global memory.
  std::map<std::string_view, std::map<std::size_t, bool>> pointers_;
  std::size_t at_ = 0;
  int header_of_ = -1;  // the loop whose header is read
  std::string_view last_;
  Regions out_;
};

}  // namespace detail

// The regions of a preprocessed text that compiles; `file` is what its places call the learner's. Throws
// std::runtime_error where the text ends inside a function.
inline Regions regions_of(std::string_view preprocessed, const std::string& file) {
  return detail::RegionParser(preprocessed, file).parse();
}

}  // namespace clcook::tool::course
