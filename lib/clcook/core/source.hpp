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

// The line that defines a macro as -D of "NAME=VALUE" does; empty: the text is no such thing.
CLCOOK_INLINE std::string definition_line(std::string_view text);

}  // namespace detail

// The text of an OpenCL C program and of the headers that it may include.
//
// flatten() makes one text: every `#include <NAME>` or `#include "NAME"` whose
// header is found is replaced by that header's text, at every place where it stands, and include
// guards remove the repetitions. #line directives keep file names and line numbers right in
// compiler messages. Macros may stand for all or a part of it, `#include FILE(inc, v)`, as long as
// the text or define() says what they are. Headers are looked for
//
//   1. among those added with header(). "NAME" in an added header may also be beside that header:
//      "b.clh" in "my/a.clh" is "my/b.clh", where that was added;
//   2. among the embedded device headers, for <clcook/...>;
//   3. for "NAME", in the folder of the file that includes it, as C has it;
//   4. in the folders added with folder(), in that order.
//
// `__has_include(...)` becomes the answer that these places give. Includes that are not found are
// left to the OpenCL compiler; Runtime::build() does not cache what needs them, and refuses them in
// a file of load(). What cannot be followed is an error: #include_next, #import, #embed, and macros
// that depend on the compiler's. Where only the compiler knows whether it comes past, an `#error`
// stands in its place.
//
// Comments, spliced lines, literals and trigraphs are read as C reads them. What stands in a group
// that is certainly skipped (#if 0, or a guard that the text has defined) is not inlined. Macros
// that neither the text nor define() defines may be the compiler's: in groups that depend on them
// headers are inlined where they stand. A header with `#pragma once` or `_Pragma("once")` gets a
// guard, and appears once.
//
// If the environment variable CLCOOK_KERNEL_DIR is set, files below that folder replace the
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

  // Reads a kernel from a file. Its headers are read by flatten().
  static Source load(const std::string& path);

  // Adds a header that the text may include under this name, such as "my/function.clh".
  Source& header(const std::string& name, std::string text);

  // Adds a folder of headers, like the option -I. Throws Error(io) where there is none.
  Source& folder(const std::string& path);

  // Says that the program is built with -D of this, "NAME" or "NAME=VALUE". Runtime::build() says
  // so of its own definitions. It adds nothing to the text. Throws Error(invalid_argument) where
  // it begins with no name.
  Source& define(const std::string& definition);

  // Says that it is built with -D of this name, and of a value that nobody knows yet.
  Source& define_unknown(const std::string& name);

  // This source as a compiler with these options reads it: their -D, -U and -I, and no others.
  Source with_options(const std::string& options) const;

  const std::string& name() const { return name_; }

  // Returns the text. Throws Error(build_failed) on what cannot be followed, on includes that do
  // not end, on more than 16 MiB of headers, and on a header that ends within a comment or an #if;
  // Error(io) on a clcook header that does not exist, on a header that cannot be read and on UTF-16.
  std::string flatten() const;

  // The same where the compiler gets no folders: throws Error(build_failed) on an include that is
  // not found too, or writes an #error. So the text alone decides what the program is.
  std::string self_contained() const;

  // The text of an embedded file to which nothing was added, for the life of the program; null: this
  // is another source, or CLCOOK_KERNEL_DIR is set. Every plan asks for the texts of its programs, so
  // they are made once, for all definitions: what one build skips another needs.
  const std::string* known_text() const;

 private:
  struct File;
  class Flattening;

  std::string name_;
  const embedded::File* file_ = nullptr;  // read when it is flattened
  std::string text_;
  std::string path_;  // of the file that the text is from
  std::map<std::string, std::string> headers_;
  std::vector<std::string> folders_;
  std::vector<std::string> definitions_;  // as lines: "#define A 1", "#undef A"
  bool all_said_ = false;                 // nothing but these and compilers defines macros

  std::string flat(bool leaves) const;
};

}  // namespace clcook

#if CLCOOK_DEFINITIONS
#include <clcook/core/impl/source.hpp>
#endif
