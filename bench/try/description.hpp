// A description of somebody's kernels, FILE.toml: docs/try.md says what may stand in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <clcook/core/error.hpp>
#include <clcook/core/params.hpp>
#include <clcook/core/source.hpp>

#include "try/expression.hpp"

namespace clcook::tool::described {

// A text of the file and where it stands there: FILE:LINE.
struct Located {
  std::string text;
  std::string place;

  bool empty() const { return text.empty(); }
};

// Throws Error(invalid_argument) with the place first.
[[noreturn]] void wrong(const std::string& place, const std::string& what);
// What `body` returns; the place comes first in what it throws.
template <class Body>
auto at_place(const std::string& place, const Body& body) {
  try {
    return body();
  } catch (const Error& error) {
    if (error.where.rfind(place, 0) == 0) throw;
    std::string what = error.what();
    // Which Error puts there again.
    if (!error.build_log.empty()) what.resize(what.size() - error.build_log.size() - 1);
    throw Error(error.code, place, what, error.status, error.build_log, error.lacks);
  }
}
// evaluate() and fill_in() with the place in their errors.
std::int64_t evaluate(const Located& expression, const Names& names);
std::string fill_in(const Located& text, const Names& names);

// A number type of OpenCL C, or a vector of it.
struct Type {
  enum class Kind { integer, natural, real };
  std::string name;  // "float4"
  Kind kind = Kind::real;
  std::size_t bytes = 0;       // of one component
  std::size_t components = 1;  // 3 takes the room of 4

  std::size_t lanes() const { return components == 3 ? 4 : components; }  // in memory
  std::size_t size() const { return bytes * lanes(); }
};

// The type of that name; false: there is none.
bool find_type(const std::string& name, Type& type);
// The names of all of them.
std::vector<std::string> type_names();

// What an image holds, in OpenCL's own words: "RGBA UNORM_INT8".
struct Format {
  unsigned order = 0;  // CL_RGBA
  unsigned type = 0;   // CL_UNORM_INT8
  Type channel;        // as bytes are compared: UNORM_INT8 is uchar
  std::size_t channels = 0;
};

struct Fill {
  enum class Kind { none, random, ramp, constant, file, made };
  Kind kind = Kind::none;
  std::uint64_t seed = 0;
  double low = 0;  // of random numbers, and the first of a ramp
  double high = 1;
  double step = 1;   // of a ramp
  double value = 0;  // the constant
  Located path;      // of a file of raw bytes
  // Of a description that a program makes: writes all bytes of a problem's data.
  std::function<void(std::vector<unsigned char>& bytes, const Names& names, std::uint64_t seed)>
      make;
};

struct Argument {
  enum class Kind { buffer, image, scalar, local };
  enum class Access { read, write, read_write };
  Kind kind = Kind::buffer;
  std::string name;
  std::string place;
  Type type;
  Format format;
  Located count;                  // of elements, of a buffer or of local memory
  Located width, height, depth;   // of an image; height and depth may be empty
  std::vector<Located> values;    // of a scalar: one for each component
  std::vector<double> constants;  // the same where they are numbers
  Access access = Access::read;
  Fill fill;

  bool in_memory() const { return kind == Kind::buffer || kind == Kind::image; }
  bool is_read() const { return access != Access::write; }
  bool is_written() const { return access != Access::read; }
  // The type of the numbers in a buffer or an image, and how many there are in an element.
  const Type& numbers() const { return kind == Kind::image ? format.channel : type; }
  std::size_t lanes() const { return kind == Kind::image ? format.channels : type.lanes(); }
  std::uint64_t elements(const Names& names) const;  // throws as evaluate()
  std::uint64_t bytes(const Names& names) const;
};

struct KernelEntry {
  std::string name;
  std::string place;
  std::string summary;
  std::string function;
  bool baseline = false;
  Source source{"", ""};
  Located options;
  std::vector<Located> global;
  std::vector<Located> local;  // empty: the implementation chooses
  std::vector<TuneAxis> tunes;
  std::vector<std::size_t> arguments;  // indices, in the kernel's order
  Located operations;
};

struct Compare {
  std::string place;
  std::vector<std::size_t> outputs;
  double absolute = 0;
  double relative = 0;
  double ulp = 0;
  std::map<std::size_t, Located> files;  // expected bytes by argument
  Located library;                       // a path
  std::string function;
  // Of a description that a program makes, in the place of a library: the contents of all arguments
  // in their order, as the kernel gets them; outputs become what is expected.
  std::function<void(std::vector<std::vector<unsigned char>>& contents, const Names& names)>
      reference;
  // And how it calls the element of an output in messages; none: "y[17]".
  std::function<std::string(const std::string& argument, const Names& names, std::size_t element)>
      where;
  // Is shown what the outputs hold before they are compared; may be none.
  std::function<void(const std::vector<std::vector<unsigned char>>& contents)> look;

  bool with_baseline() const { return files.empty() && library.empty() && !reference; }
};

struct Description {
  std::string file;
  std::string folder;  // that relative paths begin at
  std::string name;
  std::string title;
  double time_limit = 20;  // seconds for a launch, or for a call of the reference
  std::vector<std::string> sizes;
  std::vector<Params> check_shapes;  // the first is marked tiny=1
  std::vector<Params> bench_shapes;
  std::vector<Argument> arguments;
  std::vector<KernelEntry> kernels;  // one of them the baseline
  Compare compare;

  const KernelEntry& kernel(const std::string& name) const;
  const KernelEntry& baseline() const;
  // A path as the file means it: relative to it, with the value of NAME for each ${NAME}. Throws
  // Error(invalid_argument) with the place where there is no such variable.
  std::string path(const Located& path) const;
};

// The text with an underscore for every byte that no name may contain, cut where names end.
std::string legal_name(std::string text);
// The name of a description that does not say it.
std::string name_of_file(const std::string& file);

// Whether this program can read descriptions.
bool can_read();

// Reads a description with all of its kernels' files, and computes every size of every shape and
// tune once. Needs no device. Throws Error: invalid_argument that begins with FILE:LINE, io where
// the file cannot be read, unsupported where this program was built without toml++.
Description read_description(const std::string& file);
// The same of a text; `file` is its name in errors and the place of its relative paths.
Description parse_description(const std::string& text, const std::string& file);

// A TOML text as JSON. Throws Error as parse_description().
std::string json_of_toml(const std::string& text, const std::string& file);

// The names of a shape and of a tune as expressions know them: those that are whole numbers.
Names names_of(const Params& shape, const Params& tune);

// The work-items of a launch: dims() is global.size(). Throws where a size is below 1 or `global`
// is no multiple of `local`.
struct Geometry {
  std::vector<std::size_t> global;
  std::vector<std::size_t> local;
};
Geometry geometry_of(const KernelEntry& kernel, const Names& names);

// Bytes of the __local arguments of a kernel.
std::size_t local_bytes(const Description& about, const KernelEntry& kernel, const Names& names);

}  // namespace clcook::tool::described
