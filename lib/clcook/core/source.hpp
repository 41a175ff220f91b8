// Kernel sources: from the embedded table, from a string or from a file, with their headers
// inlined.
//
//   const clcook::Source source("order.cl",
//                               "#include <clcook/select.clh>\n"
//                               "__kernel void order(__global float2* x) {\n"
//                               "  float2 v = x[get_global_id(0)];\n"
//                               "  x[get_global_id(0)] = v.x > v.y ? v.yx : v;\n"
//                               "}\n");
//   const std::string text = source.flatten();  // one text without clcook's #includes
//   const cl::Program program = runtime.build(source, clcook::Defines(), "order");
#pragma once

#include <clcook/core/embedded_file.hpp>
#include <clcook/core/error.hpp>
#include <clcook/core/inline.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clcook {

// Reads a whole file, without the byte order mark that some editors put first. Throws Error(io)
// that names the path.
CLCOOK_INLINE std::string read_text_file(const std::string& path);

namespace detail {

// The text without a byte order mark of UTF-8.
CLCOOK_INLINE std::string_view without_mark(std::string_view text);

}  // namespace detail

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
  explicit Source(const embedded::File& file) : name_(file.name), file_(&file) {}
  Source(std::string name, std::string text) : name_(std::move(name)), text_(std::move(text)) {}

  // Here and not in every function that has one: less to compile.
  Source(const Source&);
  Source(Source&&) noexcept;
  Source& operator=(const Source&);
  Source& operator=(Source&&) noexcept;
  ~Source();

  // Reads a kernel from a file; quoted includes are looked up beside it.
  static Source load(const std::string& path);

  // Adds a header that the text may include under this name, such as "my/function.clh".
  Source& header(const std::string& name, std::string text);

  const std::string& name() const { return name_; }

  // Returns the self-contained text. Throws Error(build_failed) on an include cycle, Error(io) on a
  // clcook header that does not exist.
  std::string flatten() const;

 private:
  static std::optional<std::string> from_kernel_dir(const std::string& name);

  std::optional<std::string> find(const std::string& name, bool quoted) const;

  // The header name of an include directive, if the line is one. `quoted` tells "name" from <name>.
  static std::optional<std::string> include_of(std::string_view line, bool& quoted);

  // The word behind the # of a directive, empty for another line.
  static std::string_view directive_of(std::string_view line);

  // Follows block comments across lines: an include directive inside one is text.
  static void scan_comments(std::string_view line, bool& in_comment);

  static std::string line_directive(std::size_t line, const std::string& name);

  void append(const std::string& name, const std::string& body, std::vector<std::string>& stack,
              std::string& out) const;

  std::string name_;
  const embedded::File* file_ = nullptr;  // read when it is flattened
  std::string text_;
  std::map<std::string, std::string> headers_;
  std::string folder_;
};

}  // namespace clcook

#if CLCOOK_DEFINITIONS
#include <clcook/core/impl/source.hpp>
#endif
