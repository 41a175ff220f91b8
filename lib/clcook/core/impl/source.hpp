// The definitions of clcook/core/source.hpp.
#pragma once

#include <clcook/core/file.hpp>
#include <clcook/core/source.hpp>
#include <clcook/embedded/headers.hpp>
#include <cstdlib>
#include <mutex>

namespace clcook {

CLCOOK_INLINE std::string_view detail::without_mark(std::string_view text) {
  return text.substr(0, 3) == "\xEF\xBB\xBF" ? text.substr(3) : text;
}

CLCOOK_INLINE std::string read_text_file(const std::string& path) {
  if (detail::is_folder(path)) fail(Errc::io, "read " + path, "is a folder, not a file");
  const detail::OpenFile in(path, "rb");
  if (in.get() == nullptr) fail(Errc::io, "read " + path, "cannot open the file");
  std::string content;
  if (!detail::read_rest(in.get(), content)) fail(Errc::io, "read " + path, "cannot read the file");
  content.erase(0, content.size() - detail::without_mark(content).size());
  return content;
}

CLCOOK_INLINE Source::Source(const Source&) = default;
CLCOOK_INLINE Source::Source(Source&&) noexcept = default;
CLCOOK_INLINE Source& Source::operator=(const Source&) = default;
CLCOOK_INLINE Source& Source::operator=(Source&&) noexcept = default;
CLCOOK_INLINE Source::~Source() = default;

CLCOOK_INLINE Source Source::load(const std::string& path) {
  Source source(path, read_text_file(path));
  source.folder_ = detail::folder_of(path);
  return source;
}

CLCOOK_INLINE Source& Source::header(const std::string& name, std::string text) {
  headers_[name] = std::move(text);
  return *this;
}

CLCOOK_INLINE std::string Source::flatten() const {
  const auto flat = [&](const std::string& body) {
    std::string out;
    std::vector<std::string> stack;
    append(name_, body, stack, out);
    return out;
  };
  if (file_ == nullptr) return flat(text_);
  const char* dir = std::getenv("CLCOOK_KERNEL_DIR");
  if (!headers_.empty() || (dir != nullptr && *dir != '\0')) {
    const auto disk = from_kernel_dir(name_);
    return flat(disk ? *disk : file_->text());
  }
  // Every plan asks for the texts of its programs.
  static std::mutex mutex;
  static std::map<std::pair<std::string, std::string>, std::string> known;
  std::pair<std::string, std::string> key(name_, file_->text());
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  std::string out = flat(key.second);
  return known.emplace(std::move(key), std::move(out)).first->second;
}

CLCOOK_INLINE std::optional<std::string> Source::from_kernel_dir(const std::string& name) {
  const char* dir = std::getenv("CLCOOK_KERNEL_DIR");
  if (dir == nullptr || *dir == '\0') return std::nullopt;
  if (!detail::is_folder(dir))
    fail(Errc::io, "CLCOOK_KERNEL_DIR", std::string("names no folder: '") + dir + "'");
  const std::string path = detail::joined(dir, name);
  if (!detail::is_file(path)) return std::nullopt;
  return read_text_file(path);
}

CLCOOK_INLINE std::optional<std::string> Source::find(const std::string& name, bool quoted) const {
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
    const std::string path = detail::joined(folder_, name);
    if (detail::is_file(path)) return read_text_file(path);
  }
  return std::nullopt;
}

CLCOOK_INLINE std::optional<std::string> Source::include_of(std::string_view line, bool& quoted) {
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

CLCOOK_INLINE std::string_view Source::directive_of(std::string_view line) {
  std::size_t i = line.find_first_not_of(" \t");
  if (i == std::string_view::npos || line[i] != '#') return {};
  i = line.find_first_not_of(" \t", i + 1);
  if (i == std::string_view::npos) return {};
  std::size_t end = i;
  while (end < line.size() && line[end] >= 'a' && line[end] <= 'z') ++end;
  return line.substr(i, end - i);
}

CLCOOK_INLINE void Source::scan_comments(std::string_view line, bool& in_comment) {
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

CLCOOK_INLINE std::string Source::line_directive(std::size_t line, const std::string& name) {
  std::string quoted;
  for (char c : name) {
    if (c == '\\' || c == '"') quoted += '\\';
    quoted += c == '\n' || c == '\r' ? ' ' : c;
  }
  return "#line " + std::to_string(line) + " \"" + quoted + "\"\n";
}

CLCOOK_INLINE void Source::append(const std::string& name, const std::string& body,
                                  std::vector<std::string>& stack, std::string& out) const {
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
  for (std::size_t begin = body.size() - detail::without_mark(body).size(); begin < body.size();) {
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

}  // namespace clcook
