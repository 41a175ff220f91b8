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

namespace detail {

CLCOOK_INLINE std::string definition_line(std::string_view text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  std::string_view name = text.substr(0, equals);
  const bool is_line = text.find_first_of("\r\n") == std::string_view::npos;
  if (!is_line || name.empty() || is_digit(name[0])) return {};
  const std::string_view word = take_word(name);
  if (word.empty() || (!name.empty() && name[0] != '(')) return {};
  const std::string_view value = equals == text.size() ? "1" : text.substr(equals + 1);
  return "#define " + std::string(word) + std::string(name) + " " + std::string(value);
}

// Compiler options, cut at the blanks that are not in double quotes. Quotes around a folder are
// left out, backslashes before quotes too.
inline std::vector<std::string> option_words(const std::string& options) {
  std::vector<std::string> out;
  std::string word;
  bool inside = false;
  for (std::size_t i = 0; i <= options.size(); ++i) {
    const char c = i < options.size() ? options[i] : ' ';
    const bool is_end = i == options.size() || (!inside && (is_blank(c) || c == '\n'));
    if (is_end) {
      if (!word.empty()) out.push_back(word);
      word.clear();
      continue;
    }
    if (c == '\\' && i + 1 < options.size() && options[i + 1] == '"') continue;
    const bool is_escaped = i > 0 && options[i - 1] == '\\';
    if (c == '"' && !is_escaped) inside = !inside;
    const bool is_folder = word.substr(0, 2) == "-I" || (!out.empty() && out.back() == "-I");
    if (c != '"' || !is_folder) word += c;
  }
  return out;
}

}  // namespace detail

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

CLCOOK_INLINE Source& Source::define(const std::string& definition) {
  const std::string line = detail::definition_line(definition);
  if (line.empty())
    fail(Errc::invalid_argument, "Source " + name_,
         "a definition is NAME or NAME=VALUE, got '" + definition + "'");
  definitions_.push_back(line);
  return *this;
}

CLCOOK_INLINE Source& Source::define_unknown(const std::string& name) {
  definitions_.push_back("#pragma pop_macro(\"" + name + "\")");
  return *this;
}

CLCOOK_INLINE Source Source::with_options(const std::string& options) const {
  Source out = *this;
  out.all_said_ = true;
  std::string kind;  // of the option whose value comes next
  for (const std::string& word : detail::option_words(options)) {
    std::string value = word;
    if (kind.empty()) {
      kind = word.substr(0, 2);
      value = word.substr(std::min<std::size_t>(2, word.size()));
      if (kind != "-D" && kind != "-U" && kind != "-I") kind.clear();
      if (kind.empty() || value.empty()) continue;
    }
    // Compilers do not mind folders that are not there.
    if (kind == "-I" && detail::is_folder(value)) out.folders_.push_back(value);
    if (kind == "-U") out.definitions_.push_back("#undef " + value);
    if (kind == "-D") out.definitions_.push_back(detail::definition_line(value));
    kind.clear();
  }
  return out;
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
  // `leaves`: includes that are not found are left to the compiler.
  Flattening(const Source& source, bool leaves) : source_(source), leaves_(leaves) {
    if (source.all_said_) worlds_.push_back(&probable_);
  }

  std::string flat(const std::string& text, const std::string& path) {
    for (World* one : worlds_) one->macros.set("__has_include", Macro::defined());
    for (const std::string& text_of_line : source_.definitions_) {
      forget_popped(text_of_line);
      for (const Line& line : detail::SourceLines::of(text_of_line)) follow_definition(line);
    }
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
  using Include = detail::HeaderName;
  using Macro = detail::Macro;
  using Macros = detail::Macros;
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

  // What is known at a place of the text.
  struct World {
    explicit World(bool all_said) : macros(all_said), conditionals(macros) {}
    Macros macros;
    detail::Conditionals conditionals;
  };

  template <class Do>
  void in_both(const Do& act) {
    for (World* one : worlds_) act(*one);
  }

  [[noreturn]] void refuse(const std::string& what) const {
    fail(Errc::build_failed, "Source " + source_.name_, what);
  }

  [[noreturn]] void refuse(const Place& at, std::size_t line, const std::string& what) const {
    refuse(at.file->name + ":" + std::to_string(line) + ": " + what);
  }

  // In the place of a directive that cannot be followed: an error, now or when the compiler comes
  // past.
  bool give_up(const Line& line, const std::string& what) {
    const Place& at = open_.back();
    if (likely() == Truth::yes) refuse(at, line.first, what);
    std::string message = at.file->name + ":" + std::to_string(line.first) + ": " + what;
    for (char& c : message) c = c == '\n' || c == '\r' ? ' ' : c;
    out_ += "#error " + message + "\n" + std::string(line.count - 1, '\n');
    return true;
  }

  Truth live() const { return certain_.conditionals.live(); }
  Truth likely() const {
    const bool is_dead = probable_.conditionals.live() == Truth::no;
    return is_dead ? Truth::unknown : certain_.conditionals.likely();
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
      in_both([&](World& w) { w.conditionals.begin("!defined " + guard->second); });
      at.once = at.once_group = true;
    }
    at.outside = depth();
    out_ += line_directive(1, file.name);
    for (const Line& line : *file.lines) append_line(line);
    end_file();
  }

  void end_file() {
    Place& at = open_.back();
    if (open_.size() > 1) {
      if (depth() > at.outside) refuse(at.file->name + ": the header ends within an #if");
      if (!at.file->lines->empty() && at.file->lines->back().open_comment)
        refuse(at, at.file->lines->back().first, "the header ends within a comment");
    }
    const auto end_group = [](World& w) { w.conditionals.end(); };
    while (depth() > at.outside) in_both(end_group);
    if (at.once) out_ += "#endif\n";
    if (at.once_group) in_both(end_group);
    open_.pop_back();
  }

  std::size_t depth() const { return certain_.conditionals.depth(); }

  void append_line(const Line& line) {
    const bool is_live = live() != Truth::no;
    if (is_live) forget_popped(line.text);
    if (!line.is_directive) {
      if (is_live && has_once_operator(line.text)) define_guard(line, false);
      out_ += line.raw;
      return;
    }
    if (line.name == "include" && append_include(line)) return;
    for (const char* name : {"include_next", "import", "embed"}) {
      if (line.name == name && is_live && give_up(line, text("#", name, " is not followed here")))
        return;
    }
    std::string_view rest = line.rest;
    const bool once = line.name == "pragma" && detail::take_word(rest) == "once";
    if (once && is_live && define_guard(line, true)) return;
    std::string instead;
    const bool ends = follow_conditional(line, instead);
    if (is_live) follow_line(line);
    follow_definition(line);
    out_ += instead.empty() ? line.raw : instead;
    // An include in a group that the preprocessor skips has its #line skipped too.
    Place& at = open_.back();
    if (at.included && ends) out_ += line_directive_behind(line);
    if (depth() <= at.outside) at.included = false;
  }

  // Whether the directive ends a branch; `instead` is what is to stand in its place, if anything.
  bool follow_conditional(const Line& line, std::string& instead) {
    const std::string& name = line.name;
    std::string_view rest = line.rest;
    const std::string word(detail::take_word(rest));
    const bool ends = name == "endif" || name == "else" || name.substr(0, 4) == "elif";
    const Place& at = open_.back();
    if (ends && depth() <= at.outside) {
      if (open_.size() > 1) refuse(at, line.first, "#" + name + " without an #if in this header");
      return true;
    }
    if (name == "endif") in_both([](World& w) { w.conditionals.end(); });
    std::string condition = line.rest;
    if (name == "else") condition = "1";
    if (name == "ifdef" || name == "elifdef") condition = "defined " + word;
    if (name == "ifndef" || name == "elifndef") condition = "!defined " + word;
    const bool begins = name == "if" || name == "ifdef" || name == "ifndef";
    if (!begins && (!ends || name == "endif")) return ends;
    if (ends) in_both([](World& w) { w.conditionals.leave(); });
    if ((name == "if" || name == "elif") && answer(line, condition))
      instead = "#" + name + " " + condition + std::string(line.count, '\n');
    in_both([&](World& w) {
      if (begins) w.conditionals.begin(condition);
      if (ends) w.conditionals.next(condition);
    });
    return ends;
  }

  // Puts the answers into a condition that asks for headers, as their places are known to us alone.
  bool answer(const Line& line, std::string& condition) {
    const bool begins = line.name == "if";
    if (!asks_ && !has_question(condition)) return false;
    if ((begins ? live() : certain_.conditionals.around()) == Truth::no) return false;
    for (const World* one : worlds_) {
      const auto ask = [&](const Include& header) { return find(header, true).has_value(); };
      detail::Expansion expansion(one->macros, budget_, ask);
      const std::string answered = detail::text_of(expansion.of(condition, true));
      if (!expansion.asked() || expansion.bad()) return false;
      const bool is_last = one == worlds_.back();
      if (expansion.asked_in_vain() && !is_last) continue;
      if (expansion.asked_in_vain() && begins && likely() == Truth::yes)
        refuse(open_.back(), line.first,
               "which headers #if " + condition + " asks for is not known here");
      condition = answered;
      return true;
    }
    return false;
  }

  static bool has_question(const std::string& text) {
    return text.find("__has_include") != std::string::npos ||
           text.find("__has_embed") != std::string::npos;
  }

  // pop_macro("A"), in a pragma or its operator: what A was before is not kept here.
  void forget_popped(const std::string& text) {
    constexpr const char* pop = "pop_macro";
    for (std::size_t at = text.find(pop); at != std::string::npos; at = text.find(pop, at + 1)) {
      std::string_view rest = std::string_view(text).substr(at + 9);
      while (!rest.empty() && !detail::is_word(rest[0])) rest.remove_prefix(1);
      const std::string name(detail::take_word(rest));
      in_both([&](World& w) { w.macros.forget(name); });
    }
  }

  void follow_definition(const Line& line) {
    if (line.name != "define" && line.name != "undef") return;
    std::string_view rest = line.rest;
    const std::string name(detail::take_word(rest));
    if (name.empty()) return;
    asks_ = asks_ || has_question(line.rest);
    in_both([&](World& w) {
      if (w.conditionals.live() == Truth::no) return;
      if (line.name == "define") w.conditionals.defines(name);
      w.macros.set(name, line.name == "undef" ? Macro::undefined() : Macro::of(rest));
    });
  }

  // #line 3 "name", # 3 "name"
  void follow_line(const Line& line) {
    if (line.name != "line" && !line.name.empty()) return;
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
    const bool is_live = live() != Truth::no;
    std::string why;
    const std::optional<Include> include = include_of(line.rest, why);
    if (!include) return is_live && !why.empty() && give_up(line, "#include " + line.rest + why);
    const std::optional<File> found = find(*include);
    if (!found && leaves_) return false;
    if (!found) return is_live && give_up(line, not_found(*include));
    if (!is_live || is_done(*found)) {
      out_.append(line.count, '\n');
      return true;
    }
    append(*found);
    out_ += line_directive_behind(line);
    Place& at = open_.back();
    at.included = at.included || depth() > at.outside;
    return true;
  }

  std::string not_found(const Include& include) const {
    std::string places = include.quoted ? "beside the file" : "";
    for (const std::string& one : source_.folders_) places += (places.empty() ? "" : ", ") + one;
    return "header '" + include.name +
           "' file not found; looked in: " + (places.empty() ? "no folder" : places) +
           "; -I or include = [...] gives others";
  }

  // Whether a header with #pragma once has certainly been there.
  bool is_done(const File& file) const {
    const auto guard = guards_.find(file.id);
    return guard != guards_.end() &&
           certain_.macros.get(guard->second).state == Macro::State::defined;
  }

  // <name>, "name", or what macros make of the text. `why`: what is wrong with these.
  std::optional<Include> include_of(const std::string& text, std::string& why) {
    if (text.empty()) return std::nullopt;
    if (text[0] == '<' || text[0] == '"') {
      const std::size_t end = text.find(text[0] == '<' ? '>' : '"', 1);
      if (end == std::string::npos || end == 1) return std::nullopt;
      return Include{text.substr(1, end - 1), text[0] == '"'};
    }
    for (const World* one : worlds_) {
      if (!why.empty() && one->conditionals.live() == Truth::no) break;
      detail::Expansion expansion(one->macros, budget_);
      const std::vector<detail::Lexeme> all = expansion.of(text, false);
      const std::optional<Include> out = Include::of(all);
      if (out && expansion.doubt().empty() && !expansion.bad()) return out;
      why = !expansion.doubt().empty()
                ? ": what the macro " + expansion.doubt() +
                      " stands for depends on the compiler, or on definitions that are not known"
            : expansion.bad() ? std::string(": its macros cannot be replaced")
                              : ": it comes to " + detail::text_of(all) +
                                    ", which is neither \"NAME\" nor <NAME>";
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
    in_both([&](World& w) {
      if (w.conditionals.live() != Truth::no) w.macros.set(guard, Macro::defined());
    });
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

  // `asks`: whether it is there is all that is asked.
  std::optional<File> find(const Include& include, bool asks = false) {
    asks_only_ = asks;
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
    if (asks_only_ || likely() != Truth::yes) return std::nullopt;
    std::string known;
    for (const embedded::File& one : embedded::headers) known += " <" + std::string(one.name) + ">";
    fail(Errc::io, "Source " + source_.name_, "no device header <" + name + ">; known are" + known);
  }

  template <class Read>
  File file(const std::string& name, const std::string& id, const std::string& folder,
            bool is_added, const Read& read) {
    if (asks_only_) return {name, id, folder, is_added, nullptr};
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
  bool leaves_;
  // What is certain; and what is so unless compilers define macros that do not look like theirs,
  // which decides what includes name where that is not certain.
  World certain_{false};
  World probable_{true};
  std::vector<World*> worlds_ = {&certain_};
  std::size_t budget_ = std::size_t{1} << 20;
  bool asks_ = false;  // some macro has a __has_include
  bool asks_only_ = false;
  std::string main_folder_;
  std::map<std::string, std::shared_ptr<const std::vector<Line>>> known_;  // by id
  std::map<std::string, std::string> guards_;  // for #pragma once, by id
  std::set<std::string> guard_names_;
  std::vector<Place> open_;
  std::size_t header_bytes_ = 0;
  std::string out_;
};

CLCOOK_INLINE std::string Source::flatten() const { return flat(true); }

CLCOOK_INLINE std::string Source::self_contained() const {
  return all_said_ ? flat(false) : with_options("").flat(false);
}

CLCOOK_INLINE std::string Source::flat(bool leaves) const {
  // Of a file whose compiler's folders are known, a header that is in none is in none: left to the
  // compiler, one of the current folder might take its place.
  leaves = leaves && !(all_said_ && !path_.empty());
  if (file_ == nullptr) return Flattening(*this, leaves).flat(text_, path_);
  if (const std::string* known = known_text()) return *known;
  const std::string path = Flattening::in_kernel_dir(name_);
  return Flattening(*this, leaves).flat(path.empty() ? file_->text() : read_text_file(path), path);
}

CLCOOK_INLINE const std::string* Source::known_text() const {
  const char* dir = std::getenv("CLCOOK_KERNEL_DIR");
  if (file_ == nullptr || !headers_.empty() || !folders_.empty() ||
      (dir != nullptr && *dir != '\0'))
    return nullptr;
  static std::mutex mutex;
  static std::multimap<std::string, std::pair<std::string, std::string>> known;  // by name
  const std::lock_guard<std::mutex> lock(mutex);
  const auto [begin, end] = known.equal_range(name_);
  auto one = std::find_if(begin, end, [&](const auto& row) { return file_->is(row.second.first); });
  if (one == end) {
    std::string text = file_->text();
    std::string flat = Flattening(Source(*file_), true).flat(text, "");
    one = known.emplace(name_, std::pair(std::move(text), std::move(flat)));
  }
  return &one->second.second;
}

}  // namespace clcook
