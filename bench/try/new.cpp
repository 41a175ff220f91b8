#include "try/new.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include <clcook/core/error.hpp>
#include <clcook/core/launch.hpp>
#include <clcook/core/source.hpp>

#include "try/description.hpp"
#include "try/signature.hpp"

namespace clcook::tool::described {

namespace {

struct Found {
  std::string name;
  std::vector<Declared> arguments;
  Launch::Sizes group;  // that it was compiled for; 0: any

  bool like(const Found& other) const {
    return std::equal(arguments.begin(), arguments.end(), other.arguments.begin(),
                      other.arguments.end(), [](const Declared& a, const Declared& b) {
                        return a.kind == b.kind && a.type == b.type && a.name == b.name &&
                               a.is_const == b.is_const;
                      });
  }
};

bool is_one_of(const std::string& name, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(), [&](const char* one) { return name == one; });
}

bool is_width(const std::string& name) {
  return is_one_of(name, {"width", "w", "cols", "columns", "nx", "sx", "image_width"});
}
bool is_height(const std::string& name) {
  return is_one_of(name, {"height", "h", "rows", "ny", "sy", "image_height"});
}

// A text in quotes, as TOML has them.
std::string toml_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < ' ' ? fmt::format("\\u{:04x}", static_cast<int>(c))
                                               : std::string(1, c);
  }
  return out + '"';
}

// A text in which {expression} would stand for its value.
std::string with_braces(const std::string& text) {
  std::string out;
  for (const char c : text) out += std::string(c == '{' || c == '}' ? 2 : 1, c);
  return out;
}

// Legal names, every one once.
class UniqueNames {
 public:
  std::string make(const std::string& from) {
    const std::string name = legal_name(from.empty() ? "unnamed" : from);
    std::string out = name;
    for (int i = 2; !used_.insert(out).second; ++i)
      out = fmt::format("{}_{}", name.substr(0, 90), i);
    return out;
  }

 private:
  std::set<std::string> used_;
};

// How a description says what an argument holds.
struct Elements {
  std::string type;
  std::size_t each = 1;  // of that type in an element of the kernel's
  std::string note;      // behind it
};

Elements elements_of(const std::string& declared, const Meaning& meaning) {
  if (meaning.number)
    return {meaning.number->name, 1, meaning.number->name == declared ? "" : "  # " + declared};
  if (meaning.bytes > 0)
    return {"uchar", meaning.bytes, fmt::format("  # {}: {} bytes each", declared, meaning.bytes)};
  return {declared, 1, "  # not known: give a type of numbers, or uchar and the number of bytes"};
}

std::string times(std::size_t each, const std::string& count) {
  return each == 1 ? count : fmt::format("{} * {}", each, count);
}

std::string scalar_text(const Declared& one, const Meaning& meaning, bool plane) {
  if (!meaning.number)
    return fmt::format("scalar = {}  # no number, which a description cannot give\nvalue = 0\n",
                       toml_text(one.type));
  const Type& type = *meaning.number;
  std::string value = type.kind == Type::Kind::real ? "1.0" : "1";
  // The sizes below fit in these.
  const bool fits = type.bytes >= (plane ? 2 : 4);
  if (fits && plane && is_width(one.name)) value = "\"width\"";
  if (fits && plane && is_height(one.name)) value = "\"height\"";
  if (fits && !plane && is_one_of(one.name, {"n", "N", "size", "count", "length", "len", "num"}))
    value = "\"n\"";
  std::string list = value;
  for (std::size_t i = 1; i < type.components; ++i) list += ", " + value;
  return fmt::format("scalar = \"{}\"{}\nvalue = {}\n", type.name,
                     elements_of(one.type, meaning).note,
                     type.components > 1 ? "[" + list + "]" : list);
}

std::string image_text(const Declared& one) {
  const bool known = is_one_of(one.type, {"image1d_t", "image2d_t", "image3d_t"});
  std::string out =
      known ? fmt::format("image = \"RGBA UNORM_INT8\"  # {}\n", one.type)
            : fmt::format("image = {}  # which a description cannot give\n", toml_text(one.type));
  out += "width = \"width\"\n";
  if (one.type.rfind("image1d", 0) != 0) out += "height = \"height\"\n";
  if (one.type.rfind("image3d", 0) == 0) out += "depth = 4\n";
  return out;
}

std::string argument_text(const Declared& one, const Meaning& meaning, const std::string& name,
                          bool plane) {
  const Elements elements = elements_of(one.type, meaning);
  std::string out = fmt::format("[[argument]]\nname = {}\n", toml_text(name));
  const char* fill =
      one.is_const ? "fill = { random = 1 }\n"
                   : "# It is written. If it is read too: access = \"read_write\", and a fill.\n";
  switch (one.kind) {
    case Declared::Kind::buffer:
      out += fmt::format("buffer = {}{}\ncount = {}\n{}", toml_text(elements.type), elements.note,
                         toml_text(times(elements.each, plane ? "width * height" : "n")), fill);
      break;
    case Declared::Kind::image:
      out += image_text(one) + fill;
      break;
    case Declared::Kind::local:
      out += fmt::format("local = {}{}\ncount = {}\n", toml_text(elements.type), elements.note,
                         256 * elements.each);
      break;
    case Declared::Kind::scalar:
      out += scalar_text(one, meaning, plane);
      break;
  }
  return out + "\n";
}

// Where the kernel asks for a size of its groups, or has local memory for that many work-items.
std::string groups_text(const Launch::Sizes& group, bool plane) {
  const std::vector<std::string> sizes =
      plane ? std::vector<std::string>{"width", "height"} : std::vector<std::string>{"n"};
  std::size_t dimensions = sizes.size();
  for (std::size_t d = dimensions; d < 3; ++d)
    if (group[d] > 1) dimensions = d + 1;
  std::string global;
  std::string local;
  for (std::size_t d = 0; d < dimensions; ++d) {
    const char* comma = d == 0 ? "" : ", ";
    global += comma + (d < sizes.size() ? fmt::format("\"round_up({}, {})\"", sizes[d], group[d])
                                        : std::to_string(group[d]));
    local += comma + std::to_string(group[d]);
  }
  return dimensions == 1 ? fmt::format("global = {}\nlocal = {}\n\n", global, local)
                         : fmt::format("global = [{}]\nlocal = [{}]\n\n", global, local);
}

// The folders of -I in compiler options, which are taken out of these.
std::vector<std::string> take_folders(std::string& options) {
  std::vector<std::string> out;
  std::istringstream in(options);
  std::string rest;
  for (std::string word; in >> word;) {
    if (word.rfind("-I", 0) != 0) {
      rest += (rest.empty() ? "" : " ") + word;
    } else if (word.size() > 2) {
      out.push_back(word.substr(2));
    } else if (in >> word) {
      out.push_back(word);
    }
  }
  if (!out.empty()) options = rest;
  return out;
}

}  // namespace

std::string new_description(const Runtime& runtime, const std::string& file,
                            const std::string& options, const std::string& to,
                            const std::string& name) {
  const CompileUnit unit{"", "", Source::load(file), {}, options, {0, 0, 0}, 0};
  const cl::Program program = build_to_look(runtime, unit, file);
  std::vector<Found> kernels;
  for (const std::string& function : kernels_of(program)) {
    const Kernel kernel(runtime, program, function);
    CompileUnit its = unit;
    its.kernel = function;
    Found one{function, signature_of(runtime, its, kernel.handle()), {0, 0, 0}};
    check(clGetKernelWorkGroupInfo(kernel.handle()(), runtime.device()(),
                                   CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof one.group,
                                   one.group.data(), nullptr),
          "clGetKernelWorkGroupInfo");
    kernels.push_back(std::move(one));
  }
  if (kernels.empty()) fail(Errc::invalid_argument, file, "there is no kernel in it");
  const std::string source = read_text_file(file);
  // Implementations have orders of their own.
  std::sort(kernels.begin(), kernels.end(), [&](const Found& a, const Found& b) {
    return source.find(a.name) < source.find(b.name);
  });
  const Found& first = kernels.front();
  bool plane = false;
  bool local = false;
  for (const Declared& one : first.arguments) {
    if (one.type == "sampler_t")
      fail(Errc::unsupported, file,
           "an argument of " + first.name + "() is a sampler, which a description cannot give");
    plane = plane || one.kind == Declared::Kind::image ||
            (one.kind == Declared::Kind::scalar && (is_width(one.name) || is_height(one.name)));
    local = local || one.kind == Declared::Kind::local;
  }

  const std::filesystem::path folder = std::filesystem::absolute(to).parent_path();
  const auto from_there = [&](const std::string& path) {
    std::string out = std::filesystem::absolute(path).lexically_proximate(folder).string();
    if (out.find("${") != std::string::npos)
      fail(Errc::invalid_argument, path, "a description takes the ${ in its path for a variable");
    return toml_text(out);
  };
  std::string out = fmt::format(
      "# Begun by clcook try --new. Sizes, fills and what is compared are guesses: read them.\n"
      "# docs/try.md says what else may stand here.\n{}program = {}\n",
      name.empty() ? "" : fmt::format("name = {}\n", toml_text(name)), from_there(file));
  std::string others = options;
  std::string folders;
  for (const std::string& one : take_folders(others))
    folders += (folders.empty() ? "" : ", ") + from_there(one);
  if (!folders.empty()) out += fmt::format("include = [{}]\n", folders);
  if (!others.empty()) out += fmt::format("options = {}\n", toml_text(with_braces(others)));
  out += plane
             ? "\n[sizes]\ncheck = [\n  { width = 1, height = 1 },\n  { width = 17, height = 5 },\n"
               "  { width = 64, height = 64 },\n  { width = 101, height = 67 },\n]\n"
               "bench = [{ width = 2048, height = 2048 }]\n\n"
             : "\n[sizes]\ncheck = [{ n = 1 }, { n = 63 }, { n = 64 }, { n = 65 }, { n = 1009 }]\n"
               "bench = [{ n = 4194304 }]\n\n";
  UniqueNames arguments;
  for (const Declared& one : first.arguments) {
    const Meaning meaning =
        one.kind == Declared::Kind::image ? Meaning() : meaning_of(runtime, unit, one.type);
    out += argument_text(one, meaning, arguments.make(one.name), plane);
  }
  UniqueNames names;
  for (const Found& kernel : kernels) {
    if (!kernel.like(first)) {
      out += fmt::format("# {}() has other arguments than {}().\n\n", kernel.name, first.name);
      continue;
    }
    const std::string its = names.make(kernel.name);
    out += fmt::format("[[kernel]]\nname = {}\n", toml_text(its));
    if (its != kernel.name) out += fmt::format("function = {}\n", toml_text(kernel.name));
    if (&kernel == &first) out += "baseline = true\n";
    if (kernel.group[0] != 0) {
      out += groups_text(kernel.group, plane);
    } else if (local) {
      out += "# A guess: its local memory is for so many work-items.\n";
      out += groups_text(plane ? Launch::Sizes{8, 8, 1} : Launch::Sizes{64, 1, 1}, plane);
    } else {
      out += plane ? "global = [\"width\", \"height\"]\n" : "global = \"n\"\n";
      out +=
          "# local = 64, with global = \"round_up(n, 64)\" where the kernel leaves out the rest; "
          "without it the device chooses.\n\n";
    }
  }
  out += "[compare]\nabsolute = 0.0\nrelative = 1e-5\n";
  return out;
}

}  // namespace clcook::tool::described
