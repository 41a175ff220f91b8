#include "course/learner.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <sstream>

#include <clcook/core/error.hpp>
#include <clcook/core/impl/preprocess.hpp>

namespace clcook::tool::course {

namespace {

using clcook::detail::SourceLine;

std::vector<std::string> words_in(std::string_view text) {
  std::vector<std::string> out;
  for (clcook::detail::Lexeme& one : clcook::detail::lexemes_of(text)) {
    if (one.is_name()) out.push_back(std::move(one.text));
  }
  return out;
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

std::string refusal(const Exercise& exercise, const std::string& text) {
  std::set<std::string> given;
  for (const auto& [name, value] : exercise.constants) given.insert(name);
  std::map<std::string, std::vector<Macro>> macros;
  std::vector<std::pair<std::size_t, std::vector<std::string>>> conditions;
  for (const SourceLine& line : clcook::detail::SourceLines::of(text)) {
    const std::size_t number = line.first;
    const std::string& name = line.name;
    const std::string& rest = line.rest;
    if (!line.is_directive) {
      for (const std::string& word : words_in(line.text)) {
        if (word == "printf")
          return at_line(number, "it prints; results are read from memory, so take printf out");
        if (word == "asm" || word == "__asm__" || word == "__asm")
          return at_line(number, "it has assembly, which only one machine understands");
        if (word == "_Pragma" && line.text.find("unroll") == std::string::npos)
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
      std::string_view behind = rest;
      const std::string macro(clcook::detail::take_word(behind));
      if (is_reserved(macro))
        return at_line(number, "it defines " + macro + ", and names with clcook are the grader's");
      if (given.count(macro) != 0)
        return at_line(number, "it defines " + macro + ", which the grader defines");
      if (macro.rfind("__", 0) == 0 || macro == exercise.kernel)
        return at_line(number, "it defines " + macro + ", which has a meaning already");
      if (name == "undef") continue;
      Macro one;
      if (!behind.empty() && behind[0] == '(') {
        const std::size_t close = std::min(behind.find(')'), behind.size() - 1);
        for (const std::string& word : words_in(behind.substr(0, close)))
          one.parameters.insert(word);
        behind.remove_prefix(close + 1);
      }
      one.body = words_in(behind);
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
    } else if (name.empty() ? !rest.empty()
                            : name != "else" && name != "endif" && name != "error") {
      return at_line(number, "it has a directive #" + (name.empty() ? rest : name));
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
