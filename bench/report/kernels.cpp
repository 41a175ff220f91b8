// Parts of kernel files, for the documents.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <clcook/core/source.hpp>
#include <sstream>

#include "report/report.hpp"

namespace clcook::tool::report {

namespace {

[[noreturn]] void refuse(const std::string& what) { fail(Errc::invalid_argument, "report", what); }

// One word, or NAME="text with spaces".
struct Argument {
  std::string name;  // of NAME="..."; empty for a word
  std::string text;
};

std::vector<Argument> parse(const std::string& in) {
  std::vector<Argument> out;
  for (std::size_t at = in.find_first_not_of(" \n"); at < in.size();
       at = in.find_first_not_of(" \n", at)) {
    const std::size_t space = std::min(in.find_first_of(" \n", at), in.size());
    const std::size_t quote = in.find("=\"", at);
    if (quote < space) {
      const std::size_t end = in.find('"', quote + 2);
      if (end == std::string::npos) refuse("no closing quote in: " + in.substr(at));
      out.push_back({in.substr(at, quote - at), in.substr(quote + 2, end - quote - 2)});
      at = end + 1;
    } else {
      out.push_back({"", in.substr(at, space - at)});
      at = space;
    }
  }
  return out;
}

bool begins(const std::string& text, std::string_view with) {
  return text.compare(0, with.size(), with) == 0;
}

bool ends(const std::string& text, char with) { return !text.empty() && text.back() == with; }

// Whether `line` has `name` as a whole word right before `after`.
bool names(const std::string& line, const std::string& name, std::string_view after) {
  const auto in_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  for (std::size_t at = line.find(name); at != std::string::npos; at = line.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if (at > 0 && in_word(line[at - 1])) continue;
    if (end < line.size() && after.find(line[end]) != std::string_view::npos) return true;
  }
  return false;
}

// The lines of a function or macro, without the backslashes of the latter, and which they are,
// counted from 1.
struct Code {
  std::vector<std::string> lines;
  std::size_t first = 0;
  std::size_t last = 0;
};

Code find_code(const std::vector<std::string>& file, const std::string& name,
               const std::string& path) {
  for (std::size_t i = 0; i < file.size(); ++i) {
    const std::string& line = file[i];
    std::vector<std::string> out;
    const auto code = [&] { return Code{out, i + 2 - out.size(), i + 1}; };
    if (begins(line, "#define ") && names(line, name, "( \\")) {
      for (; i < file.size(); ++i) {
        std::string one = file[i];
        const bool more = ends(one, '\\');
        if (more) one.pop_back();
        one.erase(one.find_last_not_of(' ') + 1);
        out.push_back(std::move(one));
        if (!more) return code();
      }
    }
    if (line.empty() || (line[0] != '_' && std::isalpha(static_cast<unsigned char>(line[0])) == 0))
      continue;
    if (!names(line, name, "(")) continue;
    if (i > 0 && (begins(file[i - 1], "__kernel") || begins(file[i - 1], "__attribute__")) &&
        !ends(file[i - 1], ';') && !ends(file[i - 1], '}'))
      out.push_back(file[i - 1]);
    for (; i < file.size(); ++i) {
      out.push_back(file[i]);
      if (file[i] == "}") return code();
      if (ends(file[i], ';') && file[i][0] != ' ') break;  // a declaration
    }
  }
  refuse(fmt::format("there is no function or macro '{}' in {}", name, path));
}

// What of a function is shown, and how.
struct Part {
  std::string name;
  std::vector<std::pair<std::string, std::string>> regions;  // from, to; "" for the end
  std::vector<std::string> marks;
};

struct CodeLine {
  std::string text;
  bool marked = false;
};

// The function's head, its arguments left out where they take lines of their own, and of its body the
// regions with "// ..." for what is left out. Without regions the whole function.
std::vector<CodeLine> cut(const std::vector<std::string>& code, const Part& part) {
  std::vector<bool> shown(code.size(), part.regions.empty());
  std::size_t head = 0;  // how many lines
  if (!part.regions.empty()) {
    const bool macro = begins(code[0], "#define ");
    while (!macro && head < code.size() && !ends(code[head], '{')) ++head;
    if (head == code.size()) refuse(fmt::format("'{}' has no line that ends with '{{'", part.name));
    shown.back() = !macro;
    std::size_t at = ++head;
    for (const auto& [from, to] : part.regions) {
      while (at < code.size() && code[at].find(from) == std::string::npos) ++at;
      if (at == code.size())
        refuse(fmt::format("'{}' has no line with from=\"{}\" after the part before", part.name,
                           from));
      std::size_t last = to.empty() ? code.size() - 1 : at;
      while (last < code.size() && code[last].find(to) == std::string::npos) ++last;
      if (last == code.size())
        refuse(
            fmt::format("'{}' has no line with to=\"{}\" after from=\"{}\"", part.name, to, from));
      while (at <= last) shown[at++] = true;
    }
  }
  std::vector<CodeLine> out;
  if (head == 1) out.push_back({code[0], false});
  if (head > 1) {
    std::string text;
    for (std::size_t i = 0; i < head && text.find(part.name) == std::string::npos; ++i)
      text += (i == 0 ? "" : " ") + code[i];
    out.push_back({text.substr(0, text.find(part.name)) + part.name + "(...) {", false});
  }
  bool gap = false;
  for (std::size_t i = head; i < code.size(); ++i) {
    if (!shown[i]) {
      const std::size_t indent = code[i].find_first_not_of(' ');
      const bool text = indent != std::string::npos && code[i][indent] != '#';
      if (text && !gap) out.push_back({std::string(indent, ' ') + "// ...", false});
      gap = gap || text;
      continue;
    }
    gap = false;
    out.push_back({code[i], false});
  }
  for (const std::string& mark : part.marks) {
    bool found = false;
    for (CodeLine& line : out) {
      if (line.text.find(mark) == std::string::npos) continue;
      line.marked = found = true;
    }
    if (!found) refuse(fmt::format("what is shown of '{}' has no mark=\"{}\"", part.name, mark));
  }
  return out;
}

}  // namespace

std::string kernel_markdown(const std::filesystem::path& root, const std::string& arguments,
                            const std::string& to_root) {
  const std::vector<Argument> words = parse(arguments);
  if (words.size() < 2 || !words[0].name.empty() || !words[1].name.empty())
    refuse(
        "expected: clcook:kernel FILE NAME [from=\"TEXT\" [to=\"TEXT\"]]... [mark=\"TEXT\"]... "
        "[NAME ...]");
  std::vector<Part> parts;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto& [name, text] = words[i];
    if (name.empty()) {
      parts.push_back({text, {}, {}});
      continue;
    }
    Part& part = parts.back();
    if (text.empty()) refuse(name + " is empty");
    if (name == "from") {
      part.regions.emplace_back(text, "");
    } else if (name == "to") {
      if (part.regions.empty() || !part.regions.back().second.empty())
        refuse("to=\"" + text + "\" has no from before it");
      part.regions.back().second = text;
    } else if (name == "mark") {
      part.marks.push_back(text);
    } else {
      refuse("'" + name + "' is neither from, to nor mark");
    }
  }
  const std::string& path = words[0].text;
  std::vector<std::string> file;
  std::istringstream in(read_text_file((root / path).string()));
  for (std::string line; std::getline(in, line);) file.push_back(line);

  std::vector<CodeLine> lines;
  std::string links;
  for (const Part& part : parts) {
    if (!lines.empty()) lines.push_back({"", false});
    const Code code = find_code(file, part.name, path);
    const std::vector<CodeLine> more = cut(code.lines, part);
    lines.insert(lines.end(), more.begin(), more.end());
    const bool one = code.first == code.last;
    links += fmt::format("{}[{}, line{} {}{}]({}{}#L{}{})", links.empty() ? "" : ", ", path,
                         one ? "" : "s", code.first, one ? "" : fmt::format(" to {}", code.last),
                         to_root, path, code.first, one ? "" : fmt::format("-L{}", code.last));
  }
  std::string marked;
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += lines[i].text;
    if (lines[i].marked) {
      marked += fmt::format("{}{}", marked.empty() ? "" : " ", i + 1);
      text += "  // <--";
    }
    text += "\n";
  }
  return fmt::format("```c{}\n{}```\n\n{}\n", marked.empty() ? "" : " hl_lines=\"" + marked + "\"",
                     text, links);
}

}  // namespace clcook::tool::report
