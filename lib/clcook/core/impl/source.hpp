// The definitions of clcook/core/source.hpp.
#pragma once

#include <algorithm>
#include <clcook/core/cache.hpp>
#include <clcook/core/file.hpp>
#include <clcook/core/impl/preprocess.hpp>
#include <clcook/core/source.hpp>
#include <clcook/embedded/headers.hpp>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>

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
  source.path_ = path;
  return source;
}

CLCOOK_INLINE Source& Source::header(const std::string& name, std::string text) {
  headers_[name] = std::move(text);
  return *this;
}

CLCOOK_INLINE Source& Source::folder(const std::string& path) {
  if (!detail::is_folder(path))
    fail(Errc::io, "Source " + name_, "there is no folder of headers '" + path + "'");
  folders_.push_back(path);
  return *this;
}

// One of the texts that a program is made of.
struct Source::File {
  std::string name;    // in messages
  std::string id;      // of equal ids there is one text
  std::string folder;  // on disk, for "NAME"; empty: it is not from disk
  bool is_added = false;
  std::shared_ptr<const std::vector<detail::SourceLine>> lines;
};

class Source::Flattening {
 public:
  explicit Flattening(const Source& source) : source_(source), conditionals_(macros_) {}

  std::string flat(const std::string& text, const std::string& path) {
    File main{source_.name_, "", "", false, lines_of(source_.name_, text)};
    if (!path.empty()) {
      main.id = detail::file_identity(path);
      main.folder = detail::folder_of(path);
      main_folder_ = main.folder;
      known_[main.id] = main.lines;
    }
    append(main);
    return std::move(out_);
  }

  // The path of a file below CLCOOK_KERNEL_DIR; empty: there is none.
  static std::string in_kernel_dir(const std::string& name) {
    const char* dir = std::getenv("CLCOOK_KERNEL_DIR");
    if (dir == nullptr || *dir == '\0') return "";
    if (!detail::is_folder(dir))
      fail(Errc::io, "CLCOOK_KERNEL_DIR", std::string("names no folder: '") + dir + "'");
    const std::string path = detail::joined(dir, name);
    return detail::is_file(path) ? path : "";
  }

 private:
  using Line = detail::SourceLine;
  using Macro = detail::Macro;
  using Truth = detail::Truth;

  static constexpr std::size_t kDeepest = 200;  // as in compilers
  static constexpr std::size_t kMostBytes = std::size_t{16} << 20;

  // A file that is being appended.
  struct Place {
    const File* file = nullptr;
    std::size_t begin = 0;     // in out_
    std::size_t outside = 0;   // conditionals around the file
    bool once = false;         // the text began with a guard for #pragma once
    bool once_group = false;   // which is one of the conditionals around
    bool included = false;     // within the file's open conditionals
    std::string said_name;     // that #line gave
    std::ptrdiff_t shift = 0;  // from lines of the file to those that #line counts
  };

  struct Include {
    std::string name;
    bool quoted;
  };

  [[noreturn]] void refuse(const std::string& what) const {
    fail(Errc::build_failed, "Source " + source_.name_, what);
  }

  [[noreturn]] void refuse(const Place& at, std::size_t line, const std::string& what) const {
    refuse(at.file->name + ":" + std::to_string(line) + ": " + what);
  }

  static std::shared_ptr<const std::vector<Line>> lines_of(const std::string& name,
                                                           std::string_view text) {
    if (text.substr(0, 2) == "\xFF\xFE" || text.substr(0, 2) == "\xFE\xFF")
      fail(Errc::io, "Source " + name, "the text is UTF-16; save it as UTF-8");
    return std::make_shared<const std::vector<Line>>(
        detail::SourceLines::of(detail::without_mark(text)));
  }

  // The files that are open, up to where they begin to repeat themselves.
  std::string chain() const {
    std::string out;
    for (std::size_t i = 0; i < open_.size(); ++i) {
      out += (i == 0 ? "" : " -> ") + open_[i].file->name;
      for (std::size_t before = 0; before < i; ++before) {
        if (open_[before].file->id == open_[i].file->id) return "in a cycle: " + out;
      }
    }
    return (open_.size() > 6 ? "too deeply: " : ": ") + out;
  }

  void append(const File& file) {
    const bool is_main = open_.empty();
    open_.emplace_back();
    open_.back().file = &file;
    if (open_.size() > kDeepest) refuse("headers include each other " + chain());
    if (!is_main) {
      for (const Line& line : *file.lines) header_bytes_ += line.raw.size();
      header_bytes_ += file.name.size() + 16;  // its #line
      if (header_bytes_ > kMostBytes)
        refuse("the headers come to more than 16 MiB of text, included " + chain());
    }
    Place& at = open_.back();
    at.begin = out_.size();
    if (const auto guard = guards_.find(file.id); !is_main && guard != guards_.end()) {
      out_ += "#ifndef " + guard->second + "\n";
      conditionals_.begin("!defined " + guard->second);
      at.once = at.once_group = true;
    }
    at.outside = conditionals_.depth();
    out_ += line_directive(1, file.name);
    for (const Line& line : *file.lines) append_line(line);
    end_file();
  }

  void end_file() {
    Place& at = open_.back();
    if (open_.size() > 1) {
      if (conditionals_.depth() > at.outside)
        refuse(at.file->name + ": the header ends within an #if");
      if (!at.file->lines->empty() && at.file->lines->back().open_comment)
        refuse(at, at.file->lines->back().first, "the header ends within a comment");
    }
    while (conditionals_.depth() > at.outside) conditionals_.end();
    if (at.once) out_ += "#endif\n";
    if (at.once_group) conditionals_.end();
    open_.pop_back();
  }

  void append_line(const Line& line) {
    const Truth live = conditionals_.live();
    if (!line.is_directive) {
      if (live != Truth::no && has_once_operator(line.text)) define_guard(line, false);
      out_ += line.raw;
      return;
    }
    if (line.name == "include" && append_include(line)) return;
    std::string_view rest = line.rest;
    const bool once = line.name == "pragma" && detail::take_word(rest) == "once";
    if (once && live != Truth::no && define_guard(line, true)) return;
    const bool ends = follow_conditional(line);
    if (live != Truth::no) follow_definition(line);
    out_ += line.raw;
    // An include in a group that the preprocessor skips has its #line skipped too.
    Place& at = open_.back();
    if (at.included && ends) out_ += line_directive_behind(line);
    if (conditionals_.depth() <= at.outside) at.included = false;
  }

  // Whether the directive ends a branch.
  bool follow_conditional(const Line& line) {
    const std::string& name = line.name;
    std::string_view rest = line.rest;
    const std::string word(detail::take_word(rest));
    if (name == "if") conditionals_.begin(line.rest);
    if (name == "ifdef") conditionals_.begin("defined " + word);
    if (name == "ifndef") conditionals_.begin("!defined " + word);
    const bool ends = name == "endif" || name == "else" || name.substr(0, 4) == "elif";
    if (!ends) return false;
    const Place& at = open_.back();
    if (conditionals_.depth() <= at.outside) {
      if (open_.size() > 1) refuse(at, line.first, "#" + name + " without an #if in this header");
      return true;
    }
    if (name == "endif") conditionals_.end();
    if (name == "else") conditionals_.next("1");
    if (name == "elif") conditionals_.next(line.rest);
    if (name == "elifdef") conditionals_.next("defined " + word);
    if (name == "elifndef") conditionals_.next("!defined " + word);
    return true;
  }

  void follow_definition(const Line& line) {
    std::string_view rest = line.rest;
    if (line.name == "line" || line.name.empty()) return follow_line(line);
    if (line.name == "pragma" && detail::take_word(rest) == "pop_macro") {
      const std::size_t open = rest.find('"');
      rest.remove_prefix(open == std::string_view::npos ? rest.size() : open + 1);
      return macros_.set(std::string(detail::take_word(rest)), Macro());
    }
    if (line.name != "define" && line.name != "undef") return;
    const std::string name(detail::take_word(rest));
    if (name.empty()) return;
    if (line.name == "undef") return macros_.set(name, Macro::undefined());
    conditionals_.defines(name);
    Macro macro = Macro::defined();
    if (rest.substr(0, 1) != "(") macro.body = detail::without_blanks(rest);
    macros_.set(name, std::move(macro));
  }

  // #line 3 "name", # 3 "name"
  void follow_line(const Line& line) {
    std::string_view rest = line.rest;
    const std::string number(detail::take_word(rest));
    if (number.empty() || number.size() > 9 ||
        number.find_first_not_of("0123456789") != std::string::npos)
      return;
    Place& at = open_.back();
    at.shift = std::stol(number) - static_cast<std::ptrdiff_t>(line.first + line.count);
    rest = detail::without_blanks(rest);
    if (rest.substr(0, 1) != "\"") return;
    at.said_name.clear();
    for (std::size_t i = 1; i < rest.size() && rest[i] != '"'; ++i) {
      if (rest[i] == '\\' && i + 1 < rest.size()) ++i;
      at.said_name += rest[i];
    }
  }

  // Whether the directive was replaced.
  bool append_include(const Line& line) {
    const std::optional<Include> include = include_of(line.rest);
    if (!include) return false;
    const std::optional<File> found = find(*include);
    if (!found) return false;
    if (conditionals_.live() == Truth::no || is_done(*found)) {
      out_.append(line.count, '\n');
      return true;
    }
    append(*found);
    out_ += line_directive_behind(line);
    Place& at = open_.back();
    at.included = at.included || conditionals_.depth() > at.outside;
    return true;
  }

  // Whether a header with #pragma once has certainly been there.
  bool is_done(const File& file) const {
    const auto guard = guards_.find(file.id);
    return guard != guards_.end() && macros_.get(guard->second).state == Macro::State::defined;
  }

  // <name>, "name", or a macro that stands for one of them.
  std::optional<Include> include_of(std::string text) const {
    for (int step = 0; step < 20; ++step) {
      const char open = text.empty() ? '\0' : text[0];
      if (open == '<' || open == '"') {
        const std::size_t end = text.find(open == '<' ? '>' : '"', 1);
        if (end == std::string::npos || end == 1) return std::nullopt;
        return Include{text.substr(1, end - 1), open == '"'};
      }
      const Macro macro = macros_.get(text);
      if (!macro.body) return std::nullopt;
      text = *macro.body;
    }
    return std::nullopt;
  }

  // Where the text is to say that the file has been there, for #pragma once. Whether it was: in the
  // file of the program itself the pragma does nothing.
  bool define_guard(const Line& line, bool replaces) {
    if (open_.size() == 1) return false;
    Place& at = open_.back();
    const std::string guard = guard_of(*at.file);
    if (!at.once) {
      out_.insert(at.begin, "#ifndef " + guard + "\n");
      at.once = true;
    }
    out_ += "#define " + guard + "\n";
    macros_.set(guard, Macro::defined());
    if (!replaces) out_ += line_directive(said_line(line.first), said_name());
    if (replaces && line.count > 1) out_ += line_directive_behind(line);
    return true;
  }

  const std::string& guard_of(const File& file) {
    std::string& guard = guards_[file.id];
    if (!guard.empty()) return guard;
    std::uint64_t hash = fnv1a("");
    for (const Line& line : *file.lines) hash = fnv1a(line.raw, hash);
    const std::string first = text("CLCOOK_ONCE_", hash);
    std::string name = first;
    for (int i = 2; !guard_names_.insert(name).second; ++i) name = text(first, "_", i);
    return guard = name;
  }

  // _Pragma("once")
  static bool has_once_operator(const std::string& text) {
    std::size_t at = text.find("_Pragma");
    if (at == std::string::npos) return false;
    std::string packed;
    for (const char c : text.substr(at)) {
      if (!detail::is_blank(c)) packed += c;
    }
    return packed.find("_Pragma(\"once\")") != std::string::npos;
  }

  std::optional<File> find(const Include& include) {
    const File& from = *open_.back().file;
    const std::string& name = include.name;
    const std::string beside = detail::joined(detail::folder_of(from.name), name);
    if (include.quoted && from.is_added) {
      if (auto added = added_header(normal(beside))) return added;
    }
    if (auto added = added_header(name)) return added;
    if (name.rfind("clcook/", 0) == 0) return device_header(name);
    const std::string& folder = from.folder.empty() ? main_folder_ : from.folder;
    if (include.quoted && !folder.empty()) {
      const bool is_below = open_.size() > 1 && !from.folder.empty();
      if (auto file = on_disk(is_below ? shown(beside) : name, detail::joined(folder, name)))
        return file;
    }
    for (const std::string& one : source_.folders_) {
      if (auto file = on_disk(name, detail::joined(one, name))) return file;
    }
    return std::nullopt;
  }

  static std::string shown(const std::string& name) {
    return name.rfind("./", 0) == 0 ? name.substr(2) : name;
  }

  // "a/b/../c" is "a/c".
  static std::string normal(const std::string& path) {
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin <= path.size();) {
      const std::size_t end = std::min(path.find('/', begin), path.size());
      const std::string part = path.substr(begin, end - begin);
      begin = end + 1;
      const bool goes_up = part == ".." && !parts.empty() && parts.back() != "..";
      if (goes_up) parts.pop_back();
      if (!goes_up && part != "." && !part.empty()) parts.push_back(part);
    }
    std::string out;
    for (const std::string& part : parts) out += (out.empty() ? "" : "/") + part;
    return out;
  }

  std::optional<File> added_header(const std::string& name) {
    const auto found = source_.headers_.find(name);
    if (found == source_.headers_.end()) return std::nullopt;
    return file(name, "added " + name, "", true, [&] { return found->second; });
  }

  std::optional<File> on_disk(const std::string& name, const std::string& path) {
    if (!detail::is_file(path)) return std::nullopt;
    return file(name, detail::file_identity(path), detail::folder_of(path), false,
                [&] { return read_text_file(path); });
  }

  std::optional<File> device_header(const std::string& name) {
    const std::string path = in_kernel_dir(name);
    if (!path.empty()) return on_disk(name, path);
    for (const embedded::File& one : embedded::headers) {
      if (one.name == name)
        return file(name, "embedded " + name, "", false, [&] { return one.text(); });
    }
    if (conditionals_.likely() != Truth::yes) return std::nullopt;
    std::string known;
    for (const embedded::File& one : embedded::headers) known += " <" + std::string(one.name) + ">";
    fail(Errc::io, "Source " + source_.name_, "no device header <" + name + ">; known are" + known);
  }

  template <class Read>
  File file(const std::string& name, const std::string& id, const std::string& folder,
            bool is_added, const Read& read) {
    auto& lines = known_[id];
    if (!lines) lines = lines_of(name, read());
    return {name, id, folder, is_added, lines};
  }

  const std::string& said_name() const {
    const Place& at = open_.back();
    return at.said_name.empty() ? at.file->name : at.said_name;
  }

  std::size_t said_line(std::size_t line) const {
    return static_cast<std::size_t>(static_cast<std::ptrdiff_t>(line) + open_.back().shift);
  }

  std::string line_directive_behind(const Line& line) const {
    return line_directive(said_line(line.first + line.count), said_name());
  }

  static std::string line_directive(std::size_t line, const std::string& name) {
    std::string quoted;
    for (char c : name) {
      if (c == '\\' || c == '"') quoted += '\\';
      quoted += c == '\n' || c == '\r' ? ' ' : c;
    }
    return "#line " + std::to_string(line) + " \"" + quoted + "\"\n";
  }

  const Source& source_;
  std::string main_folder_;
  std::map<std::string, std::shared_ptr<const std::vector<Line>>> known_;  // by id
  std::map<std::string, std::string> guards_;  // for #pragma once, by id
  std::set<std::string> guard_names_;
  detail::Macros macros_;
  detail::Conditionals conditionals_;
  std::vector<Place> open_;
  std::size_t header_bytes_ = 0;
  std::string out_;
};

CLCOOK_INLINE std::string Source::flatten() const {
  if (file_ == nullptr) return Flattening(*this).flat(text_, path_);
  const char* dir = std::getenv("CLCOOK_KERNEL_DIR");
  if (!headers_.empty() || !folders_.empty() || (dir != nullptr && *dir != '\0')) {
    const std::string path = Flattening::in_kernel_dir(name_);
    return Flattening(*this).flat(path.empty() ? file_->text() : read_text_file(path), path);
  }
  // Every plan asks for the texts of its programs.
  static std::mutex mutex;
  static std::map<std::pair<std::string, std::string>, std::string> known;
  std::pair<std::string, std::string> key(name_, file_->text());
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  std::string out = Flattening(*this).flat(key.second, "");
  return known.emplace(std::move(key), std::move(out)).first->second;
}

}  // namespace clcook
