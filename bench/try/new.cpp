#include "try/new.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
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
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string argument_text(const Declared& one, bool plane) {
  const std::string count = plane ? "width * height" : "n";
  std::string out = fmt::format("[[argument]]\nname = {}\n", quoted(one.name));
  Type type;
  const bool known = find_type(one.type, type);
  const std::string name = known ? one.type : "uchar";
  const std::string note = known ? "" : "  # " + one.type + ": give the number of its bytes\n";
  const char* write = "# It is written. If it is read too: access = \"read_write\", and a fill.\n";
  switch (one.kind) {
    case Declared::Kind::buffer:
      out += fmt::format("buffer = \"{}\"\n{}count = {}\n", name, note, quoted(count));
      out += one.is_const ? "fill = { random = 1 }\n" : write;
      break;
    case Declared::Kind::image:
      out += fmt::format("image = \"RGBA UNORM_INT8\"  # {}\nwidth = \"width\"\n", one.type);
      if (one.type.rfind("image1d", 0) != 0) out += "height = \"height\"\n";
      if (one.type.rfind("image3d", 0) == 0) out += "depth = 4\n";
      out += one.is_const ? "fill = { random = 1 }\n" : write;
      break;
    case Declared::Kind::local:
      out += fmt::format("local = \"{}\"\n{}count = 256\n", name, note);
      break;
    case Declared::Kind::scalar: {
      std::string value = type.kind == Type::Kind::real ? "1.0" : "1";
      if (plane && is_width(one.name)) value = "\"width\"";
      if (plane && is_height(one.name)) value = "\"height\"";
      if (!plane && is_one_of(one.name, {"n", "N", "size", "count", "length", "len", "num"}))
        value = "\"n\"";
      std::string list = value;
      for (std::size_t i = 1; i < type.components; ++i) list += ", " + value;
      out += fmt::format("scalar = \"{}\"\n{}value = {}\n", name, note,
                         type.components > 1 ? "[" + list + "]" : list);
      break;
    }
  }
  return out + "\n";
}

}  // namespace

std::string new_description(const Runtime& runtime, const std::string& file,
                            const std::string& options, const std::string& to) {
  const cl::Program program =
      runtime.build(Source::load(file), Defines(), file,
                    options + (options.empty() ? "" : " ") + "-cl-kernel-arg-info");
  std::vector<Found> kernels;
  for (const std::string& name : kernels_of(program)) {
    const Kernel kernel(runtime, program, name);
    Found one{name, {}, {0, 0, 0}};
    if (!signature_of(kernel.handle(), one.arguments))
      fail(Errc::unsupported, file,
           runtime.info().name + " does not say what kernels declare (clGetKernelArgInfo)");
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
  for (const Declared& one : first.arguments) {
    if (one.type == "sampler_t")
      fail(Errc::unsupported, file,
           "an argument of " + first.name + "() is a sampler, which a description cannot give");
    plane = plane || one.kind == Declared::Kind::image ||
            (one.kind == Declared::Kind::scalar && (is_width(one.name) || is_height(one.name)));
  }

  const std::filesystem::path folder = std::filesystem::absolute(to).parent_path();
  std::string out = fmt::format(
      "# Begun by clcook try --new. Sizes, fills and what is compared are guesses: read them.\n"
      "# docs/try.md says what else may stand here.\nprogram = {}\n",
      quoted(std::filesystem::absolute(file).lexically_proximate(folder).string()));
  if (!options.empty()) out += fmt::format("options = {}\n", quoted(options));
  out += plane
             ? "\n[sizes]\ncheck = [\n  { width = 1, height = 1 },\n  { width = 17, height = 5 },\n"
               "  { width = 64, height = 64 },\n  { width = 101, height = 67 },\n]\n"
               "bench = [{ width = 2048, height = 2048 }]\n\n"
             : "\n[sizes]\ncheck = [{ n = 1 }, { n = 63 }, { n = 64 }, { n = 65 }, { n = 1009 }]\n"
               "bench = [{ n = 4194304 }]\n\n";
  for (const Declared& one : first.arguments) out += argument_text(one, plane);
  for (const Found& kernel : kernels) {
    if (!kernel.like(first)) {
      out += fmt::format("# {}() has other arguments than {}().\n\n", kernel.name, first.name);
      continue;
    }
    out += fmt::format("[[kernel]]\nname = {}\n", quoted(kernel.name));
    if (&kernel == &first) out += "baseline = true\n";
    if (kernel.group[0] == 0) {
      out += plane ? "global = [\"width\", \"height\"]\n" : "global = \"n\"\n";
      out +=
          "# local = 64, with global = \"round_up(n, 64)\" where the kernel leaves out the rest; "
          "without it the device chooses.\n\n";
      continue;
    }
    out += plane ? fmt::format(
                       "global = [\"round_up(width, {0})\", \"round_up(height, {1})\"]\n"
                       "local = [{0}, {1}]\n\n",
                       kernel.group[0], kernel.group[1])
                 : fmt::format("global = \"round_up(n, {0})\"\nlocal = {0}\n\n", kernel.group[0]);
  }
  out += "[compare]\nabsolute = 0.0\nrelative = 1e-5\n";
  return out;
}

}  // namespace clcook::tool::described
