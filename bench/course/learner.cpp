#include "course/learner.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <sstream>

#include <clcook/core/error.hpp>

namespace clcook::tool::course {

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::vector<std::string> words_in(const std::string& line) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < line.size();) {
    if (!is_word(line[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < line.size() && is_word(line[end])) ++end;
    const std::string word = line.substr(at, end - at);
    if (std::isdigit(static_cast<unsigned char>(word[0])) == 0) out.push_back(word);
    at = end;
  }
  return out;
}

// The directive of a line, "include" and what follows; false: it is none.
bool directive_of(const std::string& line, std::string& name, std::string& rest) {
  std::string text = trimmed(line);
  if (text.rfind("%:", 0) == 0) {  // another spelling of #
    text.erase(0, 2);
  } else if (text.rfind("\?\?=", 0) == 0) {
    text.erase(0, 3);
  } else if (!text.empty() && text[0] == '#') {
    text.erase(0, 1);
  } else {
    return false;
  }
  text = trimmed(text);
  std::size_t end = 0;
  while (end < text.size() && is_word(text[end])) ++end;
  name = text.substr(0, end);
  rest = trimmed(text.substr(end));
  return true;
}

std::string at_line(std::size_t line, const std::string& what) {
  return "line " + std::to_string(line) + ": " + what;
}

// Whether a name is one of those that the grader and the cookbook's headers keep for themselves.
bool is_reserved(std::string word) {
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return word.rfind("clcook", 0) == 0;
}

// Words of OpenCL C that begin as only names of a compiler should.
bool is_qualifier(const std::string& word) {
  static const std::set<std::string> words = {
      "__kernel",     "__global",      "__local",      "__constant", "__private",  "__read_only",
      "__write_only", "__attribute__", "__read_write", "__const",    "__VA_ARGS__"};
  return words.count(word) != 0;
}

struct Macro {
  std::set<std::string> parameters;
  std::vector<std::string> body;
};

}  // namespace

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\f\v");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r\f\v") - begin + 1);
}

std::string without_comments(const std::string& text) {
  std::string out;
  enum class In { code, line, block, string, letter } in = In::code;
  std::size_t owed = 0;  // ends of lines that were taken out
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (c == '\\' &&
        (next == '\n' || (next == '\r' && i + 2 < text.size() && text[i + 2] == '\n'))) {
      ++owed;
      i += next == '\r' ? 2 : 1;
      continue;
    }
    if (c == '\n') {
      if (in != In::block) in = In::code;
      out += '\n';
      if (in == In::block) continue;
      out.append(owed, '\n');
      owed = 0;
      continue;
    }
    switch (in) {
      case In::line:
        break;
      case In::block:
        if (c == '*' && next == '/') {
          in = In::code;
          ++i;
          out += ' ';
        }
        break;
      case In::string:
      case In::letter:
        out += c;
        if (c == '\\' && next != '\0') {
          out += next;
          ++i;
        } else if (c == (in == In::string ? '"' : '\'')) {
          in = In::code;
        }
        break;
      case In::code:
        if (c == '/' && next == '/') {
          in = In::line;
        } else if (c == '/' && next == '*') {
          in = In::block;
          ++i;
        } else {
          if (c == '"') in = In::string;
          if (c == '\'') in = In::letter;
          out += c;
        }
        break;
    }
  }
  return out;
}

std::string refusal(const Exercise& exercise, const std::string& text) {
  const std::string code = without_comments(text);
  std::set<std::string> given;
  for (const auto& [name, value] : exercise.constants) given.insert(name);
  std::map<std::string, std::vector<Macro>> macros;
  std::vector<std::pair<std::size_t, std::vector<std::string>>> conditions;
  std::istringstream lines(code);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::string name;
    std::string rest;
    if (!directive_of(line, name, rest)) {
      for (const std::string& word : words_in(line)) {
        if (word == "printf")
          return at_line(number, "it prints; results are read from memory, so take printf out");
        if (word == "asm" || word == "__asm__" || word == "__asm")
          return at_line(number, "it has assembly, which only one machine understands");
        if (word == "_Pragma" && line.find("unroll") == std::string::npos)
          return at_line(number, "of _Pragma only unroll is taken");
        if (word.rfind("__", 0) == 0 && !is_qualifier(word) && word.rfind("__builtin_", 0) != 0)
          return at_line(number, "'" + word + "' is a name of compilers, not of OpenCL C");
      }
      continue;
    }
    if (name == "include") {
      const std::size_t end = rest.find('>');
      if (rest.rfind("<clcook/", 0) != 0 || rest.find("..") != std::string::npos ||
          end == std::string::npos || end < 4 || rest.substr(end - 4, 5) != ".clh>")
        return at_line(number, "it includes " + (rest.empty() ? "nothing" : rest) +
                                   "; only the cookbook's <clcook/NAME.clh> can be included");
    } else if (name == "define" || name == "undef") {
      std::size_t end = 0;
      while (end < rest.size() && is_word(rest[end])) ++end;
      const std::string macro = rest.substr(0, end);
      if (is_reserved(macro))
        return at_line(number, "it defines " + macro + ", and names with clcook are the grader's");
      if (given.count(macro) != 0)
        return at_line(number, "it defines " + macro + ", which the grader defines");
      if (macro.rfind("__", 0) == 0 || macro == exercise.kernel)
        return at_line(number, "it defines " + macro + ", which has a meaning already");
      if (name == "undef") continue;
      std::string body = rest.substr(end);
      Macro one;
      if (!body.empty() && body[0] == '(') {
        const std::size_t close = std::min(body.find(')'), body.size() - 1);
        for (const std::string& word : words_in(body.substr(0, close))) one.parameters.insert(word);
        body.erase(0, close + 1);
      }
      one.body = words_in(body);
      for (const std::string& word : one.body) {
        if (word.rfind("__", 0) == 0 && !is_qualifier(word) && word.rfind("__builtin_", 0) != 0)
          return at_line(number, "'" + word + "' is a name of compilers, not of OpenCL C");
        if (word == "printf")
          return at_line(number, "it prints; results are read from memory, so take printf out");
      }
      macros[macro].push_back(one);
    } else if (name == "if" || name == "elif" || name == "ifdef" || name == "ifndef" ||
               name == "elifdef" || name == "elifndef") {
      std::vector<std::string> words = words_in(rest);
      words.erase(std::remove(words.begin(), words.end(), "defined"), words.end());
      conditions.emplace_back(number, words);
    } else if (name == "pragma") {
      if (rest.rfind("unroll", 0) != 0 && rest.rfind("OPENCL", 0) != 0 && rest != "once")
        return at_line(number, "of pragmas only unroll and OPENCL are taken");
    } else if (!name.empty() && name != "else" && name != "endif" && name != "error") {
      return at_line(number, "it has a directive #" + name);
    }
  }
  // The file alone decides what is compiled: the same code is checked, counted and timed.
  for (const auto& [line, words] : conditions) {
    std::vector<std::string> open = words;
    std::set<std::string> seen;
    while (!open.empty()) {
      const std::string word = open.back();
      open.pop_back();
      if (!seen.insert(word).second || given.count(word) != 0) continue;
      const auto found = macros.find(word);
      if (found == macros.end())
        return at_line(line, "a condition asks for '" + word +
                                 "', which the file does not define: it must be the same code "
                                 "for every compiler");
      for (const Macro& one : found->second) {
        for (const std::string& inner : one.body) {
          if (one.parameters.count(inner) == 0) open.push_back(inner);
        }
      }
    }
  }
  return "";
}

Geometry geometry_in(const Exercise& exercise, const std::string& file, const std::string& text) {
  const std::size_t dimensions =
      exercise.grid == Grid::picture || exercise.grid == Grid::tiles ? 2 : 1;
  const bool has_outputs = exercise.grid != Grid::groups;
  Geometry out;
  std::istringstream lines(text);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::string mark = "// clcook: ";
    const std::string content = trimmed(line);
    if (content.rfind(mark, 0) != 0) continue;
    const auto bad = [&](const std::string& why) {
      fail(Errc::invalid_argument, file + ":" + std::to_string(number), why);
    };
    std::istringstream in(content.substr(mark.size()));
    std::string key;
    std::string equals;
    in >> key >> equals;
    if ((key != "local" && !(key == "outputs" && has_outputs)) || equals != "=")
      bad("'" + content + "' says nothing that is known; 'local = 64'" +
          (has_outputs ? " and 'outputs = 1' are" : " is"));
    std::vector<std::size_t> numbers;
    for (std::string word; in >> word;) {
      if (word.empty() || word.size() > 4 ||
          !std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c); }))
        bad("'" + word + "' is no number from 1 to 1024");
      numbers.push_back(std::stoul(word));
      if (numbers.back() < 1 || numbers.back() > 1024)
        bad("'" + word + "' is no number from 1 to 1024");
    }
    if (numbers.size() != dimensions)
      bad(key + " has " + std::to_string(numbers.size()) + " numbers; this exercise has " +
          std::to_string(dimensions) + (dimensions == 1 ? " dimension" : " dimensions"));
    std::vector<std::size_t>& to = key == "local" ? out.local : out.outputs;
    if (!to.empty()) bad(key + " stands there twice");
    std::size_t product = 1;
    for (const std::size_t one : numbers) product *= one;
    if (product > 1024) bad(key + " is more than 1024 in all");
    to = numbers;
  }
  if (out.local.empty())
    fail(Errc::invalid_argument, file,
         "no line says how large a group is: // clcook: local = 64" +
             std::string(dimensions == 2 ? " 1" : ""));
  if (out.outputs.empty()) out.outputs.assign(dimensions, 1);
  return out;
}

const Exercise* exercise_in(const std::string& text) {
  const std::string mark = "// clcook course, exercise ";
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) return nullptr;
  for (const Exercise& one : exercises()) {
    const std::string number = std::to_string(one.number) + ":";
    if (text.compare(at + mark.size(), number.size(), number) == 0) return &one;
  }
  return nullptr;
}

}  // namespace clcook::tool::course
