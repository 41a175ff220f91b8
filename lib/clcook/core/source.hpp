// Kernel sources: from the embedded table, from a string or from a file, with their headers
// inlined.
#pragma once

#include <clcook/core/embedded_file.hpp>
#include <clcook/core/error.hpp>
#include <clcook/embedded/headers.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clcook {

// Reads a whole file, without the byte order mark that some editors put first. Throws Error(io)
// that names the path.
inline std::string read_text_file(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    fail(Errc::io, "read " + path.string(), "is a folder, not a file");
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) fail(Errc::io, "read " + path.string(), "cannot open the file");
  std::ostringstream out;
  out << in.rdbuf();
  if (in.bad()) fail(Errc::io, "read " + path.string(), "cannot read the file");
  std::string content = out.str();
  if (content.rfind("\xEF\xBB\xBF", 0) == 0) content.erase(0, 3);
  return content;
}

// The text of an OpenCL C program and of the headers that it may include.
//
// flatten() makes one self-contained text: every `#include <NAME>` or `#include "NAME"` whose NAME
// is known is replaced by that header's text, at every place where it stands, and include guards
// remove the repetitions; #line directives keep file names and line numbers right in compiler
// messages. Known are the headers added with header(), the embedded clcook device headers
// (<clcook/...>), and, for a file loaded from disk, quoted files beside it. Other includes are left
// to the OpenCL compiler.
//
// With the environment variable CLCOOK_KERNEL_DIR set, files below that folder win over the
// embedded ones. Not synchronised: do not change a Source while another thread reads it.
class Source {
 public:
  explicit Source(const embedded::File& file) : name_(file.name) {
    auto disk = from_kernel_dir(name_);
    text_ = disk ? std::move(*disk) : file.text();
  }
  Source(std::string name, std::string text) : name_(std::move(name)), text_(std::move(text)) {}

  // Reads a kernel from a file; quoted includes are looked up beside it.
  static Source load(const std::filesystem::path& path) {
    Source source(path.string(), read_text_file(path));
    source.folder_ = path.has_parent_path() ? path.parent_path() : ".";
    return source;
  }

  // Adds a header that the text may include under this name, such as "my/function.clh".
  Source& header(const std::string& name, std::string text) {
    headers_[name] = std::move(text);
    return *this;
  }

  const std::string& name() const { return name_; }

  // Returns the self-contained text. Throws Error(build_failed) on an include cycle, Error(io) on a
  // clcook header that does not exist.
  std::string flatten() const {
    std::string out;
    std::vector<std::string> stack;
    append(name_, text_, stack, out);
    return out;
  }

 private:
  static std::optional<std::string> from_kernel_dir(const std::string& name) {
    const char* dir = std::getenv("CLCOOK_KERNEL_DIR");
    if (dir == nullptr || *dir == '\0') return std::nullopt;
    const std::filesystem::path path = std::filesystem::path(dir) / name;
    std::error_code error;
    if (!std::filesystem::is_directory(dir, error)) {
      fail(Errc::io, "CLCOOK_KERNEL_DIR", std::string("names no folder: '") + dir + "'");
    }
    if (!std::filesystem::is_regular_file(path, error)) return std::nullopt;
    return read_text_file(path);
  }

  std::optional<std::string> find(const std::string& name, bool quoted) const {
    const auto own = headers_.find(name);
    if (own != headers_.end()) return own->second;
    if (name.rfind("clcook/", 0) == 0) {
      if (auto disk = from_kernel_dir(name)) return disk;
      for (const embedded::File& file : embedded::headers) {
        if (file.name == name) return file.text();
      }
      std::string known;
      for (const embedded::File& file : embedded::headers)
        known += " <" + std::string(file.name) + ">";
      fail(Errc::io, "Source " + name_, "no device header <" + name + ">; known are" + known);
    }
    if (quoted && !folder_.empty()) {
      std::error_code error;
      if (std::filesystem::is_regular_file(folder_ / name, error))
        return read_text_file(folder_ / name);
    }
    return std::nullopt;
  }

  // The header name of an include directive, if the line is one. `quoted` tells "name" from <name>.
  static std::optional<std::string> include_of(std::string_view line, bool& quoted) {
    std::size_t i = line.find_first_not_of(" \t");
    if (i == std::string_view::npos || line[i] != '#') return std::nullopt;
    i = line.find_first_not_of(" \t", i + 1);
    if (i == std::string_view::npos || line.substr(i, 7) != "include") return std::nullopt;
    i = line.find_first_not_of(" \t", i + 7);
    if (i == std::string_view::npos || (line[i] != '<' && line[i] != '"')) return std::nullopt;
    quoted = line[i] == '"';
    const std::size_t end = line.find(quoted ? '"' : '>', i + 1);
    if (end == std::string_view::npos) return std::nullopt;
    return std::string(line.substr(i + 1, end - i - 1));
  }

  // The word behind the # of a directive, empty for another line.
  static std::string_view directive_of(std::string_view line) {
    std::size_t i = line.find_first_not_of(" \t");
    if (i == std::string_view::npos || line[i] != '#') return {};
    i = line.find_first_not_of(" \t", i + 1);
    if (i == std::string_view::npos) return {};
    std::size_t end = i;
    while (end < line.size() && line[end] >= 'a' && line[end] <= 'z') ++end;
    return line.substr(i, end - i);
  }

  // Follows block comments across lines: an include directive inside one is text.
  static void scan_comments(std::string_view line, bool& in_comment) {
    char literal = '\0';  // the quote that opened a string or character literal
    for (std::size_t i = 0; i < line.size(); ++i) {
      const char next = i + 1 < line.size() ? line[i + 1] : '\0';
      if (in_comment) {
        if (line[i] == '*' && next == '/') {
          in_comment = false;
          ++i;
        }
      } else if (literal != '\0') {
        if (line[i] == '\\') {
          ++i;
        } else if (line[i] == literal) {
          literal = '\0';
        }
      } else if (line[i] == '"' || line[i] == '\'') {
        literal = line[i];
      } else if (line[i] == '/' && next == '/') {
        return;
      } else if (line[i] == '/' && next == '*') {
        in_comment = true;
        ++i;
      }
    }
  }

  static std::string line_directive(std::size_t line, const std::string& name) {
    std::string quoted;
    for (char c : name) {
      if (c == '\\' || c == '"') quoted += '\\';
      quoted += c == '\n' || c == '\r' ? ' ' : c;
    }
    return "#line " + std::to_string(line) + " \"" + quoted + "\"\n";
  }

  void append(const std::string& name, const std::string& body, std::vector<std::string>& stack,
              std::string& out) const {
    for (const std::string& open : stack) {
      if (open != name) continue;
      std::string chain;
      for (const std::string& step : stack) chain += step + " -> ";
      fail(Errc::build_failed, "Source " + name_,
           "headers include each other in a cycle: " + chain + name);
    }
    stack.push_back(name);
    out += line_directive(1, name);
    bool in_comment = false;
    // An include in a group that the preprocessor skips has its #line skipped too, so another one
    // stands behind the end of such a group.
    int conditionals = 0;
    bool included = false;  // within the open conditionals
    std::size_t number = 0;
    for (std::size_t begin = 0; begin < body.size();) {
      const std::size_t end = body.find('\n', begin);
      std::string_view line(body.data() + begin,
                            (end == std::string::npos ? body.size() : end) - begin);
      begin = end == std::string::npos ? body.size() : end + 1;
      ++number;
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      bool quoted = false;
      std::optional<std::string> wanted;
      if (!in_comment) wanted = include_of(line, quoted);
      std::optional<std::string> found;
      if (wanted) found = find(*wanted, quoted);
      if (found) {
        append(*wanted, *found, stack, out);
        out += line_directive(number + 1, name);
        included = included || conditionals > 0;
        scan_comments(line, in_comment);
        if (in_comment) out += "/*";  // a comment that opens behind the directive goes on below
      } else {
        const std::string_view directive = in_comment ? std::string_view{} : directive_of(line);
        scan_comments(line, in_comment);
        out.append(line);
        out += '\n';
        if (directive.substr(0, 2) == "if") ++conditionals;
        if (directive == "endif") --conditionals;
        const bool ends = directive == "endif" || directive == "else" || directive == "elif";
        if (included && ends && !in_comment && line.back() != '\\')
          out += line_directive(number + 1, name);
        if (conditionals <= 0) included = false;
      }
    }
    stack.pop_back();
  }

  std::string name_;
  std::string text_;
  std::map<std::string, std::string> headers_;
  std::filesystem::path folder_;
};

}  // namespace clcook
