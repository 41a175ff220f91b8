#include "kernels.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <set>
#include <utility>

namespace stub {
namespace {

using Tokens = std::vector<std::string>;

bool is_word(const std::string& token) {
  return std::isalpha(static_cast<unsigned char>(token[0])) != 0 || token[0] == '_';
}

// Words, numbers, strings, ## and single characters. White space only separates, but for a space
// that is kept as a token with `spaces`: "NAME (" defines another macro than "NAME(".
Tokens split(const std::string& text, bool spaces = false) {
  Tokens out;
  const auto is_part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    std::size_t end = i + 1;
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      while (end < text.size() && std::isspace(static_cast<unsigned char>(text[end])) != 0) ++end;
      if (spaces) out.emplace_back(" ");
      i = end;
      continue;
    }
    if (is_part(c)) {
      const bool number = std::isdigit(static_cast<unsigned char>(c)) != 0;
      while (end < text.size() &&
             (is_part(text[end]) ||
              (number && (text[end] == '.' ||
                          ((text[end] == '+' || text[end] == '-') &&
                           std::string("eEpP").find(text[end - 1]) != std::string::npos)))))
        ++end;
    } else if (c == '"' || c == '\'') {
      while (end < text.size() && text[end] != c) end += text[end] == '\\' ? 2U : 1U;
      end = std::min(end + 1, text.size());
    } else if (end < text.size()) {
      static const std::set<std::string> pairs{
          "##", "&&", "||", "==", "!=", "<=", ">=", "<<", ">>"};
      if (pairs.count(text.substr(i, 2)) != 0) ++end;
    }
    out.push_back(text.substr(i, end - i));
    i = end;
  }
  return out;
}

std::string joined(const Tokens& tokens) {
  std::string out;
  for (const std::string& token : tokens) out += (out.empty() ? "" : " ") + token;
  return out;
}

// Without comments, and with continued lines made one.
std::string without_comments(const std::string& in) {
  std::string out;
  for (std::size_t i = 0; i < in.size();) {
    if (in.compare(i, 2, "\\\n") == 0) {
      i += 2;
    } else if (in.compare(i, 2, "//") == 0) {
      while (i < in.size() && in[i] != '\n') ++i;
    } else if (in.compare(i, 2, "/*") == 0) {
      i = std::min(in.find("*/", i + 2), in.size() - 2) + 2;
      out += ' ';
    } else if (in[i] == '"') {
      const std::size_t begin = i++;
      while (i < in.size() && in[i] != '"') i += in[i] == '\\' ? 2U : 1U;
      i = std::min(i + 1, in.size());
      out += in.substr(begin, i - begin);
    } else {
      out += in[i++];
    }
  }
  return out;
}

class Preprocessor {
 public:
  explicit Preprocessor(const std::string& options) {
    define("__OPENCL_VERSION__ 300");
    define("__OPENCL_C_VERSION__ 120");
    define("__has_builtin(x) 0");
    const Tokens words = split_options(options);
    for (std::size_t i = 0; i < words.size(); ++i) {
      std::string word = words[i];
      if (word == "-D" && i + 1 < words.size()) word += words[++i];
      if (word.compare(0, 2, "-D") != 0) continue;
      const std::size_t equal = word.find('=');
      define(word.substr(2, equal - 2) + " " +
             (equal == std::string::npos ? "1" : word.substr(equal + 1)));
    }
  }

  Tokens run(const std::string& source) {
    const std::string text = without_comments(source);
    Tokens out;
    std::string pending;
    const auto flush = [&] {
      const Tokens more = expand(split(pending), {});
      out.insert(out.end(), more.begin(), more.end());
      pending.clear();
    };
    // Of each #if: whether this branch is taken, and whether one was.
    std::vector<std::pair<bool, bool>> branches;
    const auto active = [&] {
      return std::all_of(branches.begin(), branches.end(),
                         [](const auto& branch) { return branch.first; });
    };
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const std::string line = text.substr(at, end - at);
      at = end + 1;
      const std::size_t first = line.find_first_not_of(" \t\r");
      if (first == std::string::npos || line[first] != '#') {
        if (active()) pending += line + "\n";
        continue;
      }
      const std::size_t word = line.find_first_not_of(" \t", first + 1);
      if (word == std::string::npos) continue;
      std::size_t word_end = word;
      while (word_end < line.size() &&
             std::isalpha(static_cast<unsigned char>(line[word_end])) != 0)
        ++word_end;
      const std::string name = line.substr(word, word_end - word);
      const std::string rest = line.substr(word_end);
      if (name == "if" || name == "ifdef" || name == "ifndef") {
        bool taken = false;
        if (active()) {
          flush();
          taken = name == "if" ? value_of(rest) != 0
                               : (macros_.count(split(rest).at(0)) != 0) == (name == "ifdef");
        }
        branches.emplace_back(taken, taken);
      } else if (name == "elif" || name == "else" || name == "endif") {
        if (branches.empty()) throw BuildError("#" + name + " without #if");
        if (active()) flush();
        auto [here, any] = branches.back();
        branches.pop_back();
        if (name == "endif") continue;
        here = !any && active() && (name == "else" || value_of(rest) != 0);
        branches.emplace_back(here, any || here);
      } else if (active()) {
        flush();
        if (name == "define") {
          define(rest);
        } else if (name == "undef") {
          macros_.erase(split(rest).at(0));
        } else if (name == "error") {
          throw BuildError("error:" + rest);
        } else if (name != "pragma" && name != "line") {
          throw BuildError("error: #" + name + rest);
        }
      }
    }
    if (!branches.empty()) throw BuildError("error: #if without #endif");
    flush();
    return out;
  }

 private:
  struct Macro {
    bool is_function = false;
    Tokens parameters;
    Tokens body;
  };

  // Options at spaces that are not within quotes.
  static Tokens split_options(const std::string& options) {
    Tokens out(1);
    bool quoted = false;
    for (const char c : options) {
      if (c == '"') {
        quoted = !quoted;
      } else if (c == ' ' && !quoted) {
        out.emplace_back();
      } else {
        out.back() += c;
      }
    }
    return out;
  }

  void define(const std::string& text) {
    const Tokens tokens = split(text, true);
    std::size_t i = 0;
    while (i < tokens.size() && tokens[i] == " ") ++i;
    if (i == tokens.size()) throw BuildError("error: #define without a name");
    const std::string name = tokens[i++];
    Macro macro;
    if (i < tokens.size() && tokens[i] == "(") {
      macro.is_function = true;
      for (++i; i < tokens.size() && tokens[i] != ")"; ++i) {
        if (is_word(tokens[i])) macro.parameters.push_back(tokens[i]);
      }
      ++i;
    }
    for (; i < tokens.size(); ++i) {
      if (tokens[i] != " ") macro.body.push_back(tokens[i]);
    }
    macros_[name] = macro;
  }

  // `hidden` are the macros that are being expanded.
  Tokens expand(const Tokens& in, const std::set<std::string>& hidden) const {
    Tokens out;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const auto found = macros_.find(in[i]);
      if (found == macros_.end() || hidden.count(in[i]) != 0) {
        out.push_back(in[i]);
        continue;
      }
      const Macro& macro = found->second;
      std::vector<Tokens> arguments;
      if (macro.is_function) {
        if (i + 1 >= in.size() || in[i + 1] != "(") {
          out.push_back(in[i]);
          continue;
        }
        std::size_t end = i + 2;
        arguments.emplace_back();
        for (int depth = 1; end < in.size(); ++end) {
          if (in[end] == "(") ++depth;
          if (in[end] == ")" && --depth == 0) break;
          if (in[end] == "," && depth == 1) {
            arguments.emplace_back();
          } else {
            arguments.back().push_back(in[end]);
          }
        }
        if (end == in.size()) throw BuildError("error: the arguments of " + in[i] + " do not end");
        i = end;
        arguments.resize(std::max(arguments.size(), macro.parameters.size()));
      }
      std::set<std::string> inner = hidden;
      inner.insert(found->first);
      const Tokens more = expand(substitute(macro, arguments, hidden), inner);
      // A name of a function-like macro may stand at the end, with its arguments behind.
      out.insert(out.end(), more.begin(), more.end());
    }
    return out;
  }

  Tokens substitute(const Macro& macro, const std::vector<Tokens>& arguments,
                    const std::set<std::string>& hidden) const {
    Tokens out;
    const Tokens& body = macro.body;
    for (std::size_t i = 0; i < body.size(); ++i) {
      if (body[i] == "##") continue;
      const bool paste = i > 0 && body[i - 1] == "##" && !out.empty();
      const auto at = std::find(macro.parameters.begin(), macro.parameters.end(), body[i]);
      Tokens more{body[i]};
      if (at != macro.parameters.end()) {
        const Tokens& given = arguments[static_cast<std::size_t>(at - macro.parameters.begin())];
        const bool raw = paste || (i + 1 < body.size() && body[i + 1] == "##");
        more = raw ? given : expand(given, hidden);
      }
      if (paste && !more.empty()) {
        out.back() += more.front();
        more.erase(more.begin());
      }
      out.insert(out.end(), more.begin(), more.end());
    }
    return out;
  }

  long value_of(const std::string& text) const {
    Tokens tokens;
    const Tokens in = split(text);
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (in[i] != "defined") {
        tokens.push_back(in[i]);
        continue;
      }
      const bool braces = i + 1 < in.size() && in[i + 1] == "(";
      i += braces ? 2 : 1;
      if (i >= in.size()) throw BuildError("error: #if" + text);
      tokens.emplace_back(macros_.count(in[i]) != 0 ? "1" : "0");
      if (braces) ++i;
    }
    return evaluate(expand(tokens, {}));
  }

  std::map<std::string, Macro> macros_;

 public:
  // A constant expression; words count 0.
  static long evaluate(const Tokens& tokens) {
    std::size_t at = 0;
    const long out = sum(tokens, at, 0);
    if (at != tokens.size()) throw BuildError("error: an expression: " + joined(tokens));
    return out;
  }

 private:
  static long unary(const Tokens& t, std::size_t& at) {
    if (at >= t.size()) throw BuildError("error: an expression ends: " + joined(t));
    const std::string& token = t[at++];
    if (token == "!") return unary(t, at) == 0 ? 1 : 0;
    if (token == "-") return -unary(t, at);
    if (token == "+") return unary(t, at);
    if (token == "(") {
      const long out = sum(t, at, 0);
      if (at >= t.size() || t[at] != ")") throw BuildError("error: no ) in " + joined(t));
      ++at;
      return out;
    }
    if (std::isdigit(static_cast<unsigned char>(token[0])) != 0)
      return std::strtol(token.c_str(), nullptr, 0);
    if (is_word(token)) return 0;
    throw BuildError("error: '" + token + "' in the expression " + joined(t));
  }

  static int priority(const std::string& op) {
    static const std::vector<Tokens> all{{"||"},
                                         {"&&"},
                                         {"|"},
                                         {"^"},
                                         {"&"},
                                         {"==", "!="},
                                         {"<", ">", "<=", ">="},
                                         {"<<", ">>"},
                                         {"+", "-"},
                                         {"*", "/", "%"}};
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (std::find(all[i].begin(), all[i].end(), op) != all[i].end()) return static_cast<int>(i);
    }
    return -1;
  }

  static long apply(const std::string& op, long a, long b) {
    if (op == "||") return a != 0 || b != 0 ? 1 : 0;
    if (op == "&&") return a != 0 && b != 0 ? 1 : 0;
    if (op == "|") return a | b;
    if (op == "^") return a ^ b;
    if (op == "&") return a & b;
    if (op == "==") return a == b ? 1 : 0;
    if (op == "!=") return a != b ? 1 : 0;
    if (op == "<") return a < b ? 1 : 0;
    if (op == ">") return a > b ? 1 : 0;
    if (op == "<=") return a <= b ? 1 : 0;
    if (op == ">=") return a >= b ? 1 : 0;
    if (op == "<<") return a << b;
    if (op == ">>") return a >> b;
    if (op == "+") return a + b;
    if (op == "-") return a - b;
    if (op == "*") return a * b;
    if (b == 0) throw BuildError("error: a division by zero");
    return op == "/" ? a / b : a % b;
  }

  static long sum(const Tokens& t, std::size_t& at, int least) {
    long out = unary(t, at);
    while (at < t.size() && priority(t[at]) >= least) {
      const std::string op = t[at++];
      const long right = sum(t, at, priority(op) + 1);
      out = apply(op, out, right);
    }
    if (least == 0 && at < t.size() && t[at] == "?") {
      const long yes = sum(t, ++at, 0);
      if (at >= t.size() || t[at] != ":") throw BuildError("error: no : in " + joined(t));
      const long no = sum(t, ++at, 0);
      out = out != 0 ? yes : no;
    }
    return out;
  }
};

// The index behind the bracket that belongs to the one at `open`.
std::size_t behind_brackets(const Tokens& tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    if (tokens[i] == "(") ++depth;
    if (tokens[i] == ")" && --depth == 0) return i + 1;
  }
  throw BuildError("error: a bracket is not closed behind " + tokens[open]);
}

// The parts between commas at the outer level.
std::vector<Tokens> parts(const Tokens& tokens, std::size_t begin, std::size_t end) {
  std::vector<Tokens> out(1);
  int depth = 0;
  for (std::size_t i = begin; i < end; ++i) {
    if (tokens[i] == "(") ++depth;
    if (tokens[i] == ")") --depth;
    if (tokens[i] == "," && depth == 0) {
      out.emplace_back();
    } else {
      out.back().push_back(tokens[i]);
    }
  }
  return out;
}

std::size_t bytes_of(const std::string& type) {
  static const std::map<std::string, std::size_t> scalars{
      {"char", 1}, {"uchar", 1}, {"short", 2}, {"ushort", 2}, {"half", 2},  {"int", 4},
      {"uint", 4}, {"float", 4}, {"long", 8},  {"ulong", 8},  {"double", 8}};
  std::size_t digits = type.size();
  while (digits > 0 && std::isdigit(static_cast<unsigned char>(type[digits - 1])) != 0) --digits;
  const auto found = scalars.find(type.substr(0, digits));
  if (found == scalars.end()) return 0;
  const std::string lanes = type.substr(digits);
  const std::size_t count =
      lanes.empty() ? 1 : static_cast<std::size_t>(std::strtol(lanes.c_str(), nullptr, 10));
  return found->second * (count == 3 ? 4 : count);
}

Parameter parameter(const Tokens& tokens) {
  Parameter out;
  out.text = joined(tokens);
  const auto has = [&](const char* word) {
    return std::find(tokens.begin(), tokens.end(), word) != tokens.end();
  };
  for (const std::string& token : tokens) {
    if (token.compare(0, 5, "image") == 0 && token.size() > 7 &&
        token.compare(token.size() - 2, 2, "_t") == 0) {
      out.kind =
          token == "image1d_buffer_t" ? Parameter::Kind::buffer_image : Parameter::Kind::image;
      return out;
    }
  }
  if (has("*")) {
    out.kind = has("__local") || has("local") ? Parameter::Kind::local : Parameter::Kind::memory;
    return out;
  }
  for (const std::string& token : tokens) {
    if (token == "const" || token == "__private") continue;
    out.bytes = bytes_of(token);
    break;
  }
  return out;
}

}  // namespace

std::map<std::string, KernelText> find_kernels(const std::string& source,
                                               const std::string& options) {
  const Tokens tokens = Preprocessor(options).run(source);
  std::map<std::string, KernelText> out;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] != "__kernel" && tokens[i] != "kernel") continue;
    KernelText kernel;
    // Attributes stand on both sides of the word; behind are the type, the name and the parameters.
    std::size_t at = i + 1;
    if (i > 0 && tokens[i - 1] == ")") {
      std::size_t open = i;
      for (int depth = 0; open > 0;) {
        --open;
        if (tokens[open] == ")") ++depth;
        if (tokens[open] == "(" && --depth == 0) break;
      }
      if (open > 0 && tokens[open - 1] == "__attribute__") at = open - 1;
    }
    std::string name;
    for (; at < tokens.size() && (tokens[at] != "(" || name.empty()); ++at) {
      if (tokens[at] == "__attribute__") {
        const std::size_t end = behind_brackets(tokens, at + 1);
        for (std::size_t k = at; k + 1 < end; ++k) {
          if (tokens[k] != "reqd_work_group_size" && tokens[k] != "__reqd_work_group_size__")
            continue;
          const auto sizes = parts(tokens, k + 2, behind_brackets(tokens, k + 1) - 1);
          for (std::size_t d = 0; d < 3; ++d)
            kernel.required[d] = static_cast<std::size_t>(Preprocessor::evaluate(sizes.at(d)));
        }
        at = end - 1;
      } else if (is_word(tokens[at]) && tokens[at] != "__kernel" && tokens[at] != "kernel") {
        name = tokens[at];
      }
    }
    if (at == tokens.size()) throw BuildError("error: a kernel without parameters");
    const std::size_t end = behind_brackets(tokens, at);
    for (const Tokens& one : parts(tokens, at + 1, end - 1)) {
      if (one.empty() || (one.size() == 1 && one[0] == "void")) continue;
      kernel.parameters.push_back(parameter(one));
    }
    out[name] = kernel;
    i = end;
  }
  return out;
}

}  // namespace stub
