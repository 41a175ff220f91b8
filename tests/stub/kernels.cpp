#include "kernels.hpp"

#include <clcook/core/impl/preprocess.hpp>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace stub {
namespace {

namespace pp = clcook::detail;
using Tokens = std::vector<std::string>;

bool is_word(const std::string& token) { return pp::is_word(token[0]) && !pp::is_digit(token[0]); }

std::string joined(const Tokens& tokens) {
  std::string out;
  for (const std::string& token : tokens) out += (out.empty() ? "" : " ") + token;
  return out;
}

// With the macros and the conditions of clcook's own reader, and nothing left open: a compiler knows
// every macro.
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
    Tokens out;
    std::string pending;
    const auto flush = [&] {
      pp::Expansion expansion(macros_, budget_);
      for (pp::Lexeme& one : expansion.of(pending, false)) out.push_back(std::move(one.text));
      if (expansion.bad()) throw BuildError("error: a macro cannot be replaced in " + pending);
      pending.clear();
    };
    // Of each #if: whether this branch is taken, and whether one was.
    std::vector<std::pair<bool, bool>> branches;
    const auto active = [&] {
      return std::all_of(branches.begin(), branches.end(),
                         [](const auto& branch) { return branch.first; });
    };
    for (const pp::SourceLine& line : pp::SourceLines::of(source)) {
      const std::string& name = line.name;
      if (!line.is_directive) {
        if (active()) pending += line.text + " ";
      } else if (name == "if" || name == "ifdef" || name == "ifndef") {
        bool taken = false;
        if (active()) {
          flush();
          taken = holds((name == "if"      ? ""
                         : name == "ifdef" ? "defined "
                                           : "!defined ") +
                        line.rest);
        }
        branches.emplace_back(taken, taken);
      } else if (name == "elif" || name == "else" || name == "endif") {
        if (branches.empty()) throw BuildError("#" + name + " without #if");
        if (active()) flush();
        auto [here, any] = branches.back();
        branches.pop_back();
        if (name == "endif") continue;
        here = !any && active() && (name == "else" || holds(line.rest));
        branches.emplace_back(here, any || here);
      } else if (active() && !name.empty()) {
        flush();
        if (name == "define") {
          define(line.rest);
        } else if (name == "undef") {
          macros_.set(line.rest, pp::Macro::undefined());
        } else if (name == "error") {
          throw BuildError("error: " + line.rest);
        } else if (name != "pragma" && name != "line") {
          throw BuildError("error: #" + name + " " + line.rest);
        }
      }
    }
    if (!branches.empty()) throw BuildError("error: #if without #endif");
    flush();
    return out;
  }

  // The value of a constant expression.
  static std::uint64_t evaluate(const std::string& text) {
    std::size_t budget = SIZE_MAX;
    const auto value = pp::Condition::value(text, pp::Macros(true), budget);
    if (!value) throw BuildError("error: an expression: " + text);
    return *value;
  }

 private:
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

  // Names of compilers that are no macro here.
  void meet(std::string_view text) {
    for (const pp::Lexeme& one : pp::lexemes_of(text)) {
      if (one.is_name() && macros_.get(one.text).state == pp::Macro::State::unknown)
        macros_.set(one.text, pp::Macro::undefined());
    }
  }

  void define(std::string_view text) {
    meet(text);
    const std::string name(pp::take_word(text));
    if (name.empty()) throw BuildError("error: #define without a name");
    macros_.set(name, pp::Macro::of(text));
  }

  bool holds(const std::string& condition) {
    meet(condition);
    const pp::Truth truth = pp::Condition::evaluate(condition, macros_, budget_);
    if (truth == pp::Truth::unknown) throw BuildError("error: an expression: " + condition);
    return truth == pp::Truth::yes;
  }

  pp::Macros macros_{true};
  std::size_t budget_ = SIZE_MAX;
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
            kernel.required[d] = Preprocessor::evaluate(joined(sizes.at(d)));
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
