#include "try/description.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <set>
#include <sstream>
#include <stdexcept>

#include <clcook/core/error.hpp>
#include <clcook/core/impl/preprocess.hpp>
#include <clcook/io/whole_file.hpp>

#include "tool/words.hpp"

// A build without toml++ can do everything else.
#if __has_include(<toml++/toml.hpp>)
#define CLCOOK_TOML <toml++/toml.hpp>
#elif __has_include(<toml++/toml.h>)
#define CLCOOK_TOML <toml++/toml.h>
#endif
#ifdef CLCOOK_TOML
// What toml++ takes for granted of a text is not always so: assertions would end the program, and with
// NDEBUG it would go anywhere. TOML_ASSERT is the library's own setting, which it follows without
// NDEBUG. The lane fuzz looks; no text that ends toml++ by itself is kept here.
[[noreturn]] static void not_toml() { throw std::runtime_error("this is not TOML"); }
#undef NDEBUG
#define TOML_ASSERT(expression) ((expression) ? static_cast<void>(0) : not_toml())
#define TOML_HEADER_ONLY 1
#include CLCOOK_TOML
#endif

namespace clcook::tool::described {

[[noreturn]] void wrong(const std::string& place, const std::string& what) {
  fail(Errc::invalid_argument, place, what);
}

std::int64_t evaluate(const Located& expression, const Names& names) {
  return at_place(expression.place, [&] { return evaluate(expression.text, names); });
}

std::string fill_in(const Located& text, const Names& names) {
  return at_place(text.place, [&] { return fill_in(text.text, names); });
}

namespace {

const std::map<std::string, std::pair<Type::Kind, std::size_t>>& scalar_types() {
  static const std::map<std::string, std::pair<Type::Kind, std::size_t>> kTypes = {
      {"char", {Type::Kind::integer, 1}},  {"uchar", {Type::Kind::natural, 1}},
      {"short", {Type::Kind::integer, 2}}, {"ushort", {Type::Kind::natural, 2}},
      {"int", {Type::Kind::integer, 4}},   {"uint", {Type::Kind::natural, 4}},
      {"long", {Type::Kind::integer, 8}},  {"ulong", {Type::Kind::natural, 8}},
      {"half", {Type::Kind::real, 2}},     {"float", {Type::Kind::real, 4}},
      {"double", {Type::Kind::real, 8}}};
  return kTypes;
}

constexpr std::size_t kVectors[] = {2, 3, 4, 8, 16};

constexpr std::size_t kLongestName = 100;

}  // namespace

std::vector<std::string> type_names() {
  std::vector<std::string> out;
  for (const auto& [name, about] : scalar_types()) {
    out.push_back(name);
    for (const std::size_t components : kVectors) out.push_back(name + std::to_string(components));
  }
  return out;
}

std::string legal_name(std::string text) {
  text.resize(std::min(text.size(), kLongestName));
  for (char& c : text)
    if (!clcook::detail::is_word(c)) c = '_';
  return text;
}

std::string name_of_file(const std::string& file) {
  return legal_name(std::filesystem::path(file).stem().string());
}

bool find_type(const std::string& name, Type& type) {
  std::string word = name;
  type.components = 1;
  for (const std::size_t components : kVectors) {
    const std::string end = std::to_string(components);
    if (name.size() <= end.size() || name.substr(name.size() - end.size()) != end) continue;
    word = name.substr(0, name.size() - end.size());
    type.components = components;
  }
  const auto found = scalar_types().find(word);
  if (found == scalar_types().end()) return false;
  type.name = name;
  type.kind = found->second.first;
  type.bytes = found->second.second;
  return true;
}

namespace {

[[maybe_unused]] bool find_format(const std::string& text, Format& format) {
  static const std::map<std::string, std::pair<unsigned, std::size_t>> kOrders = {
      {"R", {CL_R, 1}}, {"RG", {CL_RG, 2}}, {"RGBA", {CL_RGBA, 4}}, {"BGRA", {CL_BGRA, 4}}};
  static const std::map<std::string, std::pair<unsigned, const char*>> kTypes = {
      {"UNORM_INT8", {CL_UNORM_INT8, "uchar"}},
      {"SNORM_INT8", {CL_SNORM_INT8, "char"}},
      {"UNORM_INT16", {CL_UNORM_INT16, "ushort"}},
      {"SNORM_INT16", {CL_SNORM_INT16, "short"}},
      {"UNSIGNED_INT8", {CL_UNSIGNED_INT8, "uchar"}},
      {"SIGNED_INT8", {CL_SIGNED_INT8, "char"}},
      {"UNSIGNED_INT16", {CL_UNSIGNED_INT16, "ushort"}},
      {"SIGNED_INT16", {CL_SIGNED_INT16, "short"}},
      {"UNSIGNED_INT32", {CL_UNSIGNED_INT32, "uint"}},
      {"SIGNED_INT32", {CL_SIGNED_INT32, "int"}},
      {"HALF_FLOAT", {CL_HALF_FLOAT, "half"}},
      {"FLOAT", {CL_FLOAT, "float"}}};
  const std::size_t blank = text.find(' ');
  if (blank == std::string::npos) return false;
  const auto order = kOrders.find(text.substr(0, blank));
  const auto type = kTypes.find(text.substr(blank + 1));
  if (order == kOrders.end() || type == kTypes.end()) return false;
  format.order = order->second.first;
  format.channels = order->second.second;
  format.type = type->second.first;
  return find_type(type->second.second, format.channel);
}

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40;

// A size of at least 1, in bytes no more than any device has.
std::uint64_t at_least_1(const Located& expression, const Names& names) {
  const std::int64_t value = evaluate(expression, names);
  if (value < 1)
    wrong(expression.place, text("'", expression.text, "' is ", value, ", must be at least 1"));
  return static_cast<std::uint64_t>(value);
}

std::uint64_t product(const std::string& place, std::uint64_t a, std::uint64_t b) {
  std::uint64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out) || out > kMostBytes)
    wrong(place, text(a, " times ", b, " bytes are more than 2^40"));
  return out;
}

}  // namespace

std::uint64_t Argument::elements(const Names& names) const {
  if (kind == Kind::scalar) return 1;
  if (kind != Kind::image) return at_least_1(count, names);
  std::uint64_t out = at_least_1(width, names);
  for (const Located* one : {&height, &depth})
    if (!one->empty()) out = product(one->place, out, at_least_1(*one, names));
  return out;
}

std::uint64_t Argument::bytes(const Names& names) const {
  return product(kind == Kind::image    ? width.place
                 : kind == Kind::scalar ? place
                                        : count.place,
                 elements(names), numbers().bytes * lanes());
}

const KernelEntry& Description::kernel(const std::string& wanted) const {
  for (const KernelEntry& one : kernels)
    if (one.name == wanted) return one;
  fail(Errc::invalid_argument, file, "there is no kernel '" + wanted + "'");
}

const KernelEntry& Description::baseline() const {
  for (const KernelEntry& one : kernels)
    if (one.baseline) return one;
  fail(Errc::invalid_argument, file, "no kernel is the baseline");
}

std::string Description::path(const Located& path) const {
  std::string whole;
  for (std::size_t at = 0; at < path.text.size(); ++at) {
    const std::size_t end =
        path.text.compare(at, 2, "${") == 0 ? path.text.find('}', at) : std::string::npos;
    if (end == std::string::npos) {
      whole += path.text[at];
      continue;
    }
    const std::string variable = path.text.substr(at + 2, end - at - 2);
    const char* value = std::getenv(variable.c_str());
    if (value == nullptr)
      wrong(path.place, "the variable " + variable + " of '" + path.text + "' is not set");
    whole += value;
    at = end;
  }
  return (std::filesystem::path(folder) / whole).string();
}

Names names_of(const Params& shape, const Params& tune) {
  Names out;
  for (const Params* params : {&shape, &tune}) {
    for (const Params::Entry& entry : params->entries()) {
      if (const auto* whole = std::get_if<std::int64_t>(&entry.value); whole != nullptr)
        out[entry.name] = *whole;
    }
  }
  out.erase("tiny");
  return out;
}

Geometry geometry_of(const KernelEntry& kernel, const Names& names) {
  Geometry out;
  for (const Located& one : kernel.global) out.global.push_back(at_least_1(one, names));
  for (const Located& one : kernel.local) out.local.push_back(at_least_1(one, names));
  for (std::size_t d = 0; d < out.local.size(); ++d) {
    if (out.global[d] % out.local[d] == 0) continue;
    wrong(kernel.global[d].place,
          text("the global size ", out.global[d], " of dimension ", d,
               " is no multiple of the local size ", out.local[d], "; write round_up(",
               kernel.global[d].text, ", ", kernel.local[d].text,
               ") if the kernel leaves out what is too many"));
  }
  return out;
}

std::size_t local_bytes(const Description& about, const KernelEntry& kernel, const Names& names) {
  std::size_t out = 0;
  for (const std::size_t index : kernel.arguments) {
    const Argument& one = about.arguments[index];
    if (one.kind == Argument::Kind::local) out += one.bytes(names);
  }
  return out;
}

#ifdef CLCOOK_TOML

namespace {

// A table of which every key must be asked for.
class Table {
 public:
  Table(const toml::table& table, const std::string& file, std::string what)
      : table_(table), file_(file), what_(std::move(what)), place_(place_of(table)) {}

  const std::string& place() const { return place_; }

  const toml::node* find(const char* key) {
    known_.insert(key);
    return table_.get(key);
  }
  const toml::node& need(const char* key) {
    const toml::node* node = find(key);
    if (node == nullptr) wrong(place_, what_ + " needs '" + key + "'");
    return *node;
  }
  std::string place_of(const toml::node& node) const {
    return text(file_, ":", node.source().begin.line);
  }

  Located placed(const char* key) {
    const toml::node* node = find(key);
    return node == nullptr ? Located{} : word(*node, key);
  }
  std::string string(const char* key, const std::string& missing = {}) {
    const Located out = placed(key);
    return find(key) == nullptr ? missing : out.text;
  }
  bool flag(const char* key) {
    const toml::node* node = find(key);
    if (node == nullptr) return false;
    if (!node->is_boolean()) complain(*node, key, "true or false");
    return *node->value<bool>();
  }
  double real(const char* key, double missing) {
    const toml::node* node = find(key);
    return node == nullptr ? missing : number(*node, key);
  }
  // An expression: a text, or a whole number.
  Located size(const char* key) {
    const toml::node* node = find(key);
    return node == nullptr ? Located{} : expression(*node, key);
  }

  Located expression(const toml::node& node, const char* key) const {
    if (node.is_integer()) return {std::to_string(*node.value<std::int64_t>()), place_of(node)};
    if (!node.is_string()) complain(node, key, "a whole number or an expression in quotes");
    return {*node.value<std::string>(), place_of(node)};
  }
  Located word(const toml::node& node, const char* key) const {
    if (!node.is_string()) complain(node, key, "a text in quotes");
    return {*node.value<std::string>(), place_of(node)};
  }
  double number(const toml::node& node, const char* key) const {
    if (!node.is_number()) complain(node, key, "a number");
    const double value = *node.value<double>();
    if (!std::isfinite(value)) complain(node, key, "a finite number");
    return value;
  }
  const toml::array& array(const toml::node& node, const char* key, const char* of) const {
    if (!node.is_array() || node.as_array()->empty())
      complain(node, key, (std::string("a list of ") + of).c_str());
    return *node.as_array();
  }
  // One text, or several.
  std::vector<Located> words(const char* key) {
    std::vector<Located> out;
    const toml::node* node = find(key);
    if (node == nullptr) return out;
    if (node->is_string()) return {word(*node, key)};
    for (const toml::node& one : array(*node, key, "texts")) out.push_back(word(one, key));
    return out;
  }

  [[noreturn]] void complain(const toml::node& node, const char* key, const char* wanted) const {
    std::string kind = "something else";
    if (node.is_string()) kind = "a text";
    if (node.is_integer()) kind = "a whole number";
    if (node.is_floating_point()) kind = "a real number";
    if (node.is_boolean()) kind = "a boolean";
    if (node.is_array()) kind = node.as_array()->empty() ? "an empty list" : "a list";
    if (node.is_table()) kind = "a table";
    wrong(place_of(node),
          "'" + std::string(key) + "' of " + what_ + " must be " + wanted + ", is " + kind);
  }

  // Throws where the table has a key that nobody asked for.
  void done() const {
    for (const auto& [key, node] : table_) {
      const std::string name(key.str());
      if (known_.count(name) != 0) continue;
      std::string known;
      for (const std::string& one : known_) known += (known.empty() ? "" : ", ") + one;
      wrong(text(file_, ":", key.source().begin.line),
            what_ + " has no '" + name + "'; it may have " + known);
    }
  }

 private:
  const toml::table& table_;
  const std::string& file_;
  std::string what_;
  std::string place_;
  std::set<std::string> known_;
};

bool is_name(const std::string& name) {
  return !name.empty() && name.size() <= kLongestName &&
         std::all_of(name.begin(), name.end(), clcook::detail::is_word);
}

void check_name(const std::string& place, const std::string& name, const std::string& what) {
  if (is_name(name)) return;
  wrong(place, what + " must consist of letters, digits and underscores, got '" + name + "'");
}

// The entries of a table in the order of the file, which toml++ does not keep.
std::vector<std::pair<std::string, const toml::node*>> in_order(const toml::table& table) {
  std::vector<std::pair<std::string, const toml::node*>> out;
  for (const auto& [key, node] : table) out.emplace_back(std::string(key.str()), &node);
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    const toml::source_position& left = a.second->source().begin;
    const toml::source_position& right = b.second->source().begin;
    return left.line != right.line ? left.line < right.line : left.column < right.column;
  });
  return out;
}

class Reader {
 public:
  Reader(const toml::table& root, std::string file) : file_(std::move(file)), table_(root) {
    out_.file = file_;
    out_.folder = std::filesystem::path(file_).parent_path().string();
  }

  Description read() {
    Table root(table_, file_, "a description");
    out_.name = root.string("name", name_of_file(file_));
    check_name(root.find("name") == nullptr ? file_ : root.place_of(*root.find("name")), out_.name,
               "the name of a description");
    out_.title = root.string("title", out_.name);
    out_.time_limit = root.real("time_limit", out_.time_limit);
    if (out_.time_limit < 0.1 || out_.time_limit > 86400)
      wrong(root.place_of(*root.find("time_limit")), "time_limit must be 0.1 to 86400 seconds");
    program_ = root.words("program");
    include_ = root.words("include");
    options_ = root.placed("options");
    operations_ = root.size("operations");
    read_sizes(root);
    for (const toml::node& node : root.array(root.need("argument"), "argument", "tables"))
      read_argument(Table(table(root, node, "argument"), file_, "an argument"));
    for (const toml::node& node : root.array(root.need("kernel"), "kernel", "tables"))
      read_kernel(Table(table(root, node, "kernel"), file_, "a kernel"));
    check_kernels(root);
    read_compare(root);
    root.done();
    check_all();
    return std::move(out_);
  }

 private:
  static const toml::table& table(Table& of, const toml::node& node, const char* key) {
    if (!node.is_table()) of.complain(node, key, "a table");
    return *node.as_table();
  }

  void read_sizes(Table& root) {
    Table sizes(table(root, root.need("sizes"), "sizes"), file_, "sizes");
    const auto read = [&](const char* key, const toml::node& list, std::vector<Params>& shapes) {
      for (const toml::node& node : sizes.array(list, key, "tables such as { n = 64 }")) {
        Params shape;
        for (const auto& [word, size] : in_order(table(sizes, node, key))) {
          const toml::node& value = *size;
          check_name(sizes.place_of(value), word, "the name of a size");
          if (word == "tiny") wrong(sizes.place_of(value), "a size cannot have the name 'tiny'");
          if (!value.is_integer()) sizes.complain(value, word.c_str(), "a whole number");
          const auto number = *value.value<std::int64_t>();
          if (number < 0 || number > (std::int64_t{1} << 53))
            wrong(sizes.place_of(value), "the size '" + word + "' must be 0 to 2^53");
          shape.set(word, number);
        }
        std::vector<std::string> names;
        for (const Params::Entry& entry : shape.entries()) names.push_back(entry.name);
        std::sort(names.begin(), names.end());
        if (out_.sizes.empty()) out_.sizes = names;
        if (names != out_.sizes || names.empty())
          wrong(sizes.place_of(node), "all sizes must have the same names, and at least one");
        shapes.push_back(std::move(shape));
      }
    };
    read("check", sizes.need("check"), out_.check_shapes);
    if (const toml::node* node = sizes.find("bench")) read("bench", *node, out_.bench_shapes);
    if (out_.bench_shapes.empty()) out_.bench_shapes = {out_.check_shapes.back()};
    out_.check_shapes.front().set("tiny", std::int64_t{1});
    sizes.done();
  }

  void read_argument(Table from) {
    Argument one;
    one.place = from.place();
    one.name = word_of(from, "name");
    check_name(one.place, one.name, "the name of an argument");
    for (const Argument& other : out_.arguments)
      if (other.name == one.name) wrong(one.place, "there are two arguments '" + one.name + "'");
    const Located buffer = from.placed("buffer");
    const Located image = from.placed("image");
    const Located scalar = from.placed("scalar");
    const Located local = from.placed("local");
    const int kinds = !buffer.empty() + !image.empty() + !scalar.empty() + !local.empty();
    if (kinds != 1)
      wrong(one.place, "the argument '" + one.name +
                           "' must be one of: buffer, image, scalar, local, with its type");
    if (!image.empty()) {
      one.kind = Argument::Kind::image;
      if (!find_format(image.text, one.format))
        wrong(image.place,
              "'" + image.text +
                  "' is no image format: R, RG, RGBA or BGRA, a blank, and a type such "
                  "as UNORM_INT8, UNSIGNED_INT16, HALF_FLOAT or FLOAT");
      one.width = need_size(from, "width");
      one.height = from.size("height");
      one.depth = from.size("depth");
      if (one.height.empty() && !one.depth.empty())
        wrong(one.place, "an image with a depth needs a height");
    } else {
      one.kind = !buffer.empty()   ? Argument::Kind::buffer
                 : !scalar.empty() ? Argument::Kind::scalar
                                   : Argument::Kind::local;
      const Located& type = !buffer.empty() ? buffer : !scalar.empty() ? scalar : local;
      if (!find_type(type.text, one.type))
        wrong(type.place, "'" + type.text +
                              "' is no type: char, uchar, short, ushort, int, uint, long, ulong, "
                              "half, float, double, or a vector of 2, 3, 4, 8 or 16 of these; a "
                              "struct is a buffer of uchar, and cannot be given by value");
    }
    if (one.kind == Argument::Kind::buffer || one.kind == Argument::Kind::local)
      one.count = need_size(from, "count");
    if (one.kind == Argument::Kind::scalar) read_value(from, one);
    if (one.in_memory()) read_fill(from, one);
    from.done();
    out_.arguments.push_back(std::move(one));
  }

  static std::string word_of(Table& from, const char* key) {
    return from.word(from.need(key), key).text;
  }
  static Located need_size(Table& from, const char* key) {
    return from.expression(from.need(key), key);
  }

  void read_value(Table& from, Argument& one) {
    const toml::node& node = from.need("value");
    std::vector<const toml::node*> all;
    if (node.is_array()) {
      for (const toml::node& part : *node.as_array()) all.push_back(&part);
    } else {
      all.push_back(&node);
    }
    if (all.size() != one.type.components)
      wrong(from.place_of(node), text("'value' has ", all.size(), " numbers, ", one.type.name,
                                      " has ", one.type.components));
    for (const toml::node* part : all) {
      if (part->is_floating_point() && one.type.kind == Type::Kind::real) {
        one.values.push_back({"", from.place_of(*part)});
        one.constants.push_back(from.number(*part, "value"));
      } else {
        one.values.push_back(from.expression(*part, "value"));
        one.constants.push_back(0);
      }
    }
  }

  void read_fill(Table& from, Argument& one) {
    const toml::node* node = from.find("fill");
    if (node != nullptr && node->is_string()) {
      const std::string word = *node->value<std::string>();
      if (word != "random" && word != "ramp")
        from.complain(*node, "fill",
                      "\"random\", \"ramp\", or a table with one of random, ramp, constant, file");
      one.fill.kind = word == "random" ? Fill::Kind::random : Fill::Kind::ramp;
      default_range(one);
    } else if (node != nullptr) {
      Table fill(table(from, *node, "fill"), file_, "a fill");
      default_range(one);
      int kinds = 0;
      const auto is = [&](const char* key, Fill::Kind kind) {
        const toml::node* found = fill.find(key);
        if (found == nullptr) return found;
        ++kinds;
        one.fill.kind = kind;
        return found;
      };
      if (const toml::node* seed = is("random", Fill::Kind::random)) {
        if (!seed->is_integer()) fill.complain(*seed, "random", "a whole number, its seed");
        one.fill.seed = static_cast<std::uint64_t>(*seed->value<std::int64_t>());
      }
      if (const toml::node* low = is("ramp", Fill::Kind::ramp))
        one.fill.low = fill.number(*low, "ramp");
      if (const toml::node* value = is("constant", Fill::Kind::constant))
        one.fill.value = fill.number(*value, "constant");
      if (const toml::node* path = is("file", Fill::Kind::file))
        one.fill.path = fill.word(*path, "file");
      if (kinds != 1) wrong(fill.place(), "a fill has one of random, ramp, constant and file");
      if (one.fill.kind == Fill::Kind::random) {
        one.fill.low = fill.real("low", one.fill.low);
        one.fill.high = fill.real("high", one.fill.high);
        if (!(one.fill.low <= one.fill.high))
          wrong(fill.place(), "'low' of a fill must not be above 'high'");
      }
      if (one.fill.kind == Fill::Kind::ramp) one.fill.step = fill.real("step", one.fill.step);
      check_range(fill.place(), one);
      fill.done();
    }
    const Located access = from.placed("access");
    const bool filled = one.fill.kind != Fill::Kind::none;
    one.access = filled ? Argument::Access::read : Argument::Access::write;
    if (access.text == "read") {
      one.access = Argument::Access::read;
    } else if (access.text == "write") {
      one.access = Argument::Access::write;
    } else if (access.text == "read_write") {
      one.access = Argument::Access::read_write;
    } else if (!access.empty()) {
      wrong(access.place, "'access' must be read, write or read_write, is '" + access.text + "'");
    }
    if (one.is_read() != filled)
      wrong(one.place, filled ? "the argument '" + one.name +
                                    "' is only written, so nothing fills it; with a fill its "
                                    "access is read or read_write"
                              : "the argument '" + one.name + "' is read and needs a fill");
  }

  // 0 to 1 for real numbers, 0 to 255 for whole ones, or what fits.
  static void default_range(Argument& one) {
    one.fill.low = 0;
    one.fill.high = one.numbers().kind == Type::Kind::real     ? 1
                    : one.numbers().name.rfind("char", 0) == 0 ? 127
                                                               : 255;
  }

  // A conversion of what does not fit is undefined.
  static void check_range(const std::string& place, const Argument& one) {
    const Type& type = one.numbers();
    if (type.kind == Type::Kind::real) return;
    const double bits = static_cast<double>(type.bytes) * 8;
    const bool is_signed = type.kind == Type::Kind::integer;
    const double most = std::min(std::exp2(is_signed ? bits - 1 : bits) - 1, 0x1p53);
    const double least = is_signed ? -most - 1 : 0;
    for (const double value : {one.fill.low, one.fill.high, one.fill.value})
      if (value < least || value > most)
        wrong(place, text("the fill's ", value, " does not fit in ", type.name));
  }

  // The file as a compiler with the kernel's options reads it, as far as they are the same for all
  // sizes and tunes.
  static Source with_definitions(const Source& file, const KernelEntry& kernel) {
    std::string same;
    std::vector<std::string> unknown;
    for (const TuneAxis& axis : kernel.tunes) unknown.push_back(axis.name);
    for (const std::string& word : words_of(kernel.options.text)) {
      if (word.find_first_of("{}") == std::string::npos) {
        same += word + " ";
        continue;
      }
      const bool apart = same.size() >= 3 && same.substr(same.size() - 3) == "-D ";
      if (apart) same.resize(same.size() - 3);
      const std::size_t begin = apart ? 0 : 2;
      if (apart || word.rfind("-D", 0) == 0)
        unknown.push_back(word.substr(begin, word.find_first_of("=({") - begin));
    }
    Source out = file.with_options(same);
    for (const std::string& one : unknown) out.define_unknown(one);
    return out;
  }

  // The kernels' files are read now, so that all runs are of one text.
  Source source_of(const std::vector<Located>& files, const KernelEntry& kernel) const {
    std::string whole;
    std::vector<std::string> texts;
    for (const Located& file : files) {
      const std::string path = out_.path(file);
      std::error_code error;
      if (!std::filesystem::is_regular_file(path, error))
        wrong(file.place, "there is no file " + path);
      Source one = at_place(file.place, [&] { return Source::load(path); });
      for (const Located& folder : include_) {
        const std::string name = out_.path(folder);
        if (!std::filesystem::is_directory(name, error))
          wrong(folder.place, "there is no folder " + name);
        one.folder(name);
      }
      one = with_definitions(one, kernel);
      texts.push_back(at_place(file.place, [&] { return one.self_contained(); }));
    }
    if (texts.size() == 1)
      return Source(std::filesystem::path(files.front().text).filename().string(), texts.front());
    for (const std::string& one : texts) whole += one + "\n";
    return Source(out_.name + ".cl", whole);
  }

  void read_kernel(Table from) {
    KernelEntry one;
    one.place = from.place();
    one.name = word_of(from, "name");
    check_name(one.place, one.name, "the name of a kernel");
    for (const KernelEntry& other : out_.kernels)
      if (other.name == one.name) wrong(one.place, "there are two kernels '" + one.name + "'");
    one.function = from.string("function", one.name);
    one.summary = from.string("summary");
    one.baseline = from.flag("baseline");
    const std::vector<Located> own = from.words("program");
    if (own.empty() && program_.empty())
      wrong(one.place, "the kernel '" + one.name + "' has no 'program', nor has the description");
    const Located options = from.placed("options");
    one.options = options.empty() ? options_ : options;
    if (!options.empty() && !options_.empty())
      one.options.text = options_.text + " " + options.text;
    for (const Located& text : {options, options_}) {
      for (const std::string& word : words_of(text.text)) {
        if (word.rfind("-I", 0) == 0)
          wrong(text.place, "give folders of headers as include = [...] instead of with -I");
      }
    }
    one.operations = from.size("operations");
    if (one.operations.empty()) one.operations = operations_;
    const auto sizes = [&](const char* key, std::vector<Located>& to) {
      const toml::node* node = from.find(key);
      if (node == nullptr) return;
      if (!node->is_array()) {
        to.push_back(from.expression(*node, key));
        return;
      }
      for (const toml::node& size : from.array(*node, key, "one to three sizes"))
        to.push_back(from.expression(size, key));
    };
    from.need("global");
    sizes("global", one.global);
    sizes("local", one.local);
    if (one.global.size() > 3) wrong(one.place, "'global' of a kernel has one to three sizes");
    if (!one.local.empty() && one.local.size() != one.global.size())
      wrong(one.place,
            text("'local' has ", one.local.size(), " sizes, 'global' has ", one.global.size()));
    read_tune(from, one);
    one.source = source_of(own.empty() ? program_ : own, one);
    const std::vector<Located> arguments = from.words("arguments");
    for (const Located& name : arguments) one.arguments.push_back(argument(name));
    if (arguments.empty())
      for (std::size_t i = 0; i < out_.arguments.size(); ++i) one.arguments.push_back(i);
    from.done();
    out_.kernels.push_back(std::move(one));
  }

  void read_tune(Table& from, KernelEntry& one) {
    const toml::node* node = from.find("tune");
    if (node == nullptr) return;
    std::size_t count = 1;
    for (const auto& [key, list] : in_order(table(from, *node, "tune"))) {
      const toml::node& values = *list;
      TuneAxis axis;
      axis.name = key;
      check_name(from.place_of(values), axis.name, "the name of a tune axis");
      if (std::find(out_.sizes.begin(), out_.sizes.end(), axis.name) != out_.sizes.end() ||
          axis.name == "tiny")
        wrong(from.place_of(values), "a size has the name '" + axis.name + "' already");
      for (const toml::node& value : from.array(values, "tune", "whole numbers or words")) {
        if (value.is_integer()) {
          axis.values.emplace_back(*value.value<std::int64_t>());
        } else {
          const Located word = from.word(value, "tune");
          check_name(word.place, word.text, "a value of a tune axis");
          axis.values.emplace_back(word.text);
        }
      }
      count *= axis.values.size();
      if (count > 10000) wrong(from.place_of(values), "there are more than 10000 tunes");
      one.tunes.push_back(std::move(axis));
    }
  }

  std::size_t argument(const Located& name) const {
    std::string known;
    for (std::size_t i = 0; i < out_.arguments.size(); ++i) {
      if (out_.arguments[i].name == name.text) return i;
      known += (known.empty() ? "" : ", ") + out_.arguments[i].name;
    }
    wrong(name.place, "there is no argument '" + name.text + "'; there are " + known);
  }

  void check_kernels(const Table& root) {
    const auto baselines = std::count_if(out_.kernels.begin(), out_.kernels.end(),
                                         [](const KernelEntry& one) { return one.baseline; });
    if (out_.kernels.size() == 1)
      out_.kernels.front().baseline = true;
    else if (baselines != 1)
      wrong(root.place(), text(baselines, " kernels have baseline = true; one must have it"));
  }

  void read_compare(Table& root) {
    Compare& compare = out_.compare;
    compare.place = root.place();
    const toml::node* node = root.find("compare");
    static const toml::table kNone;
    Table from(node == nullptr ? kNone : table(root, *node, "compare"), file_, "compare");
    if (node != nullptr) compare.place = from.place();
    for (const Located& name : from.words("outputs")) {
      compare.outputs.push_back(argument(name));
      if (!out_.arguments[compare.outputs.back()].is_written() ||
          !out_.arguments[compare.outputs.back()].in_memory())
        wrong(name.place, "the argument '" + name.text + "' is not written");
    }
    if (compare.outputs.empty()) {
      for (std::size_t i = 0; i < out_.arguments.size(); ++i)
        if (out_.arguments[i].in_memory() && out_.arguments[i].is_written())
          compare.outputs.push_back(i);
    }
    if (compare.outputs.empty())
      wrong(compare.place, "no argument is written, so that there is nothing to compare");
    for (const auto& [key, to] :
         {std::pair{"absolute", &compare.absolute}, std::pair{"relative", &compare.relative},
          std::pair{"ulp", &compare.ulp}}) {
      *to = from.real(key, 0);
      if (*to < 0) wrong(from.place_of(*from.find(key)), std::string(key) + " must be at least 0");
    }
    compare.library = from.placed("library");
    compare.function = from.string("function");
    if (compare.library.empty() != compare.function.empty())
      wrong(compare.place, "a reference in C needs both 'library' and 'function'");
    if (const toml::node* files = from.find("files")) {
      for (const auto& [key, path] : table(from, *files, "files")) {
        const std::size_t index = argument({std::string(key.str()), from.place_of(path)});
        compare.files[index] = from.word(path, "files");
      }
      for (const std::size_t index : compare.outputs)
        if (compare.files.count(index) == 0)
          wrong(from.place_of(*files),
                "there is no file for the output '" + out_.arguments[index].name + "'");
      if (!compare.library.empty())
        wrong(compare.place, "a comparison is with files or with a library, not with both");
    }
    from.done();
    for (const KernelEntry& kernel : out_.kernels) {
      for (const std::size_t index : compare.outputs) {
        const auto& list = kernel.arguments;
        if (std::find(list.begin(), list.end(), index) != list.end()) continue;
        wrong(kernel.place, "the kernel '" + kernel.name + "' has no argument '" +
                                out_.arguments[index].name + "', which is compared");
      }
    }
  }

  // Every size that will be needed.
  void check_all() const {
    for (const auto* shapes : {&out_.check_shapes, &out_.bench_shapes}) {
      for (const Params& shape : *shapes) {
        const Names sizes = names_of(shape, {});
        for (const Argument& one : out_.arguments) {
          if (!one.in_memory()) continue;
          const std::uint64_t bytes = one.bytes(sizes);
          if (one.fill.kind == Fill::Kind::file) check_file(one, one.fill.path, bytes, sizes);
        }
        for (const auto& [index, path] : out_.compare.files)
          check_file(out_.arguments[index], path, out_.arguments[index].bytes(sizes), sizes);
        for (const KernelEntry& kernel : out_.kernels) {
          for (const Params& tune : combinations(kernel.tunes)) {
            const Names names = names_of(shape, tune);
            geometry_of(kernel, names);
            local_bytes(out_, kernel, names);
            fill_in(kernel.options, names);
            if (!kernel.operations.empty()) evaluate(kernel.operations, names);
            for (const std::size_t index : kernel.arguments) {
              const Argument& one = out_.arguments[index];
              for (const Located& value : one.values)
                if (!value.empty()) check_scalar(one, value, evaluate(value, names));
            }
          }
        }
      }
    }
  }

  static void check_scalar(const Argument& one, const Located& value, std::int64_t number) {
    if (one.type.kind == Type::Kind::real || one.type.bytes == 8) return;
    const std::int64_t bits = static_cast<std::int64_t>(one.type.bytes) * 8;
    const bool is_signed = one.type.kind == Type::Kind::integer;
    const std::int64_t most = (std::int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
    if (number >= (is_signed ? -most - 1 : 0) && number <= most) return;
    wrong(value.place,
          text("'", value.text, "' is ", number, ", which does not fit in ", one.type.name));
  }

  void check_file(const Argument& one, const Located& path, std::uint64_t bytes,
                  const Names& names) const {
    const std::string whole = out_.path({fill_in(path, names), path.place});
    std::error_code error;
    const std::uintmax_t there = std::filesystem::file_size(whole, error);
    if (error) wrong(path.place, "cannot read " + whole + ": " + error.message());
    if (there != bytes)
      wrong(path.place, text(whole, " has ", there, " bytes, '", one.name, "' has ", bytes));
  }

  std::string file_;
  const toml::table& table_;
  std::vector<Located> program_;
  std::vector<Located> include_;
  Located options_;
  Located operations_;
  Description out_;
};

}  // namespace

bool can_read() { return true; }

namespace {

bool is_beyond_ascii(char c) { return static_cast<unsigned char>(c) >= 0x80; }

toml::table parse(const std::string& content, const std::string& file, const char* note = "") {
  try {
    return toml::parse(content, file);
  } catch (const toml::parse_error& error) {
    wrong(text(file, ":", error.source().begin.line), std::string(error.description()) + note);
  } catch (const std::runtime_error& error) {
    wrong(file, error.what());
  }
}

// toml++ asks of a character whether it is white space, and what it then does with most of those
// beyond ASCII is undefined. So they may only be where it does not ask: in texts and comments, where
// another character that is allowed nowhere else can take their place, and not behind the white space
// that follows a backslash.
void check_beyond_ascii(const std::string& content, const std::string& file) {
  std::string other = content;
  std::replace_if(other.begin() + (content.rfind("\xEF\xBB\xBF", 0) == 0 ? 3 : 0), other.end(),
                  is_beyond_ascii, '^');
  if (other == content) return;
  parse(other, file, " (^ stands for every character beyond ASCII)");
  for (std::size_t at = 0; (at = content.find('\\', at)) != std::string::npos; ++at) {
    const std::size_t next = content.find_first_not_of(" \t\r\n", at + 1);
    if (next == std::string::npos || next == at + 1 || !is_beyond_ascii(content[next])) continue;
    wrong(text(file, ":",
               1 + std::count(content.begin(), content.begin() + static_cast<std::ptrdiff_t>(next),
                              '\n')),
          "a line that a backslash continues must not begin with a character beyond ASCII");
  }
}

}  // namespace

std::string json_of_toml(const std::string& content, const std::string& file) {
  check_beyond_ascii(content, file);
  std::ostringstream out;
  out << toml::json_formatter(parse(content, file));
  return out.str();
}

Description parse_description(const std::string& content, const std::string& file) {
  check_beyond_ascii(content, file);
  const toml::table root = parse(content, file);
  return Reader(root, file).read();
}

#else

bool can_read() { return false; }

std::string json_of_toml(const std::string&, const std::string& file) {
  unsupported(Lacks::implementation, file,
              "this clcook was built without toml++, which it needs. On Debian: apt-get "
              "install libtomlplusplus-dev, then build again");
}

Description parse_description(const std::string& text, const std::string& file) {
  json_of_toml(text, file);
  return {};
}

#endif

Description read_description(const std::string& file) {
  return parse_description(read_text_file(file), file);
}

}  // namespace clcook::tool::described
