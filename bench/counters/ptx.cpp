#include "counters/ptx.hpp"

#include <algorithm>
#include <clcook/core/error.hpp>
#include <sstream>
#include <string_view>

#include "tool/words.hpp"

namespace clcook::counters {

namespace {

constexpr std::size_t kMostStatic = 48 << 10;
constexpr const char* kShared = "clcook_shared";
constexpr std::size_t kLeastAlign = 16;

[[noreturn]] void refuse(const std::string& kernel, const std::string& why) {
  clcook::fail(Errc::unsupported, "PTX of " + kernel, why);
}

bool is_name(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '$' || c == '%';
}

std::size_t round_up(std::size_t value, std::size_t align) {
  return (value + align - 1) / align * align;
}

// Where `name` stands as a whole name.
std::size_t find_name(const std::string& text, const std::string& name, std::size_t from) {
  for (std::size_t at = text.find(name, from); at != std::string::npos;
       at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !is_name(text[at - 1])) && (end == text.size() || !is_name(text[end])))
      return at;
  }
  return std::string::npos;
}

// Bytes of ".u64", ".b8", ".f32", ".v2..." is none of a variable's.
std::size_t bytes_of_type(const std::string& type) {
  if (type.size() < 3 || type[0] != '.' ||
      std::string_view("busf").find(type[1]) == std::string::npos ||
      type.find_first_not_of("0123456789", 2) != std::string::npos || type.size() > 5)
    return 0;
  return std::stoul(type.substr(2)) / 8;
}

// A declaration such as ".param .u64 .ptr .global .align 4 NAME", ".param .align 16 .b8 NAME[16]" or
// ".shared .align 4 .f32 NAME[256]": without name where it is none.
struct Declared {
  std::string state;  // ".param", ".shared"
  PtxParameter parameter;
  std::size_t variable_align = 1;
};

Declared parse(const std::string& text) {
  Declared out;
  std::vector<std::string> words = tool::words_of(text);
  if (words.size() < 3) return out;
  out.state = words.front();
  bool pointer = false;
  std::size_t element = 0;
  for (std::size_t i = 1; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == ".align") {
      const std::string& number = words[++i];
      const bool valid = !number.empty() && number.size() < 6 &&
                         number.find_first_not_of("0123456789") == std::string::npos;
      if (!valid || i + 1 >= words.size()) return out;
      (pointer ? out.parameter.align : out.variable_align) = std::stoul(number);
    } else if (word == ".ptr") {
      pointer = true;
    } else if (pointer && word[0] == '.') {
      out.parameter.space = word.substr(1);
    } else if (word == ".texref" || word == ".samplerref" || word == ".surfref") {
      out.parameter.space = word.substr(1);
    } else {
      element = bytes_of_type(word);
      out.variable_align = std::max(out.variable_align, element);
    }
  }
  std::string name = words.back();
  std::size_t count = 1;
  if (const std::size_t open = name.find('['); open != std::string::npos) {
    const std::string number = name.substr(open + 1, name.find(']') - open - 1);
    if (number.empty() || number.size() > 9 ||
        number.find_first_not_of("0123456789") != std::string::npos)
      return out;
    count = std::stoul(number);
    name.erase(open);
  }
  out.parameter.bytes = element * count;
  out.parameter.name = name;
  return out;
}

// Where a kernel lies in a text.
struct Entry {
  std::size_t parameters = 0;  // behind "("
  std::size_t parameters_end = 0;
  std::size_t body = 0;  // at "{"
  std::size_t body_end = 0;
};

Entry find_entry(const std::string& ptx, const std::string& kernel) {
  Entry out;
  for (std::size_t at = ptx.find(".entry"); at != std::string::npos;
       at = ptx.find(".entry", at + 1)) {
    const std::size_t name = ptx.find_first_not_of(" \t\r\n", at + 6);
    if (name == std::string::npos || ptx.compare(name, kernel.size(), kernel) != 0) continue;
    std::size_t next = name + kernel.size();
    if (next >= ptx.size() || is_name(ptx[next])) continue;
    next = std::min(ptx.find_first_not_of(" \t\r\n", next), ptx.size());
    out.parameters = out.parameters_end = next;
    if (next < ptx.size() && ptx[next] == '(') {
      out.parameters = next + 1;
      out.parameters_end = ptx.find(')', next);
    }
    out.body = ptx.find('{', out.parameters_end);
    if (out.body == std::string::npos) break;
    int depth = 0;
    for (std::size_t i = out.body; i < ptx.size(); ++i) {
      if (ptx[i] == '{') ++depth;
      if (ptx[i] == '}' && --depth == 0) {
        out.body_end = i + 1;
        return out;
      }
    }
    break;
  }
  refuse(kernel, "the program's binary is not PTX that has this kernel");
}

// The statement `ld.param.TYPE REGISTER, [NAME];` becomes `mov.TYPE REGISTER, SYMBOL+OFFSET;`.
void replace_loads(std::string& body, const std::string& kernel, const std::string& name,
                   const std::string& symbol, std::size_t offset) {
  for (std::size_t at = find_name(body, name, 0); at != std::string::npos;
       at = find_name(body, name, at)) {
    const std::size_t before = body.find_last_of(";{}\n", at);
    const std::size_t begin = body.find_first_not_of(" \t", before + 1);
    const std::size_t end = body.find(';', at);
    const std::string statement = body.substr(begin, end - begin);
    const std::vector<std::string> words = tool::words_of(statement);
    if (words.size() != 3 || words[0].rfind("ld.param.", 0) != 0 || words[2] != "[" + name + "]")
      refuse(kernel, "reads the parameter " + name + " as no ld.param does: " + statement);
    const std::string moved =
        "mov" + words[0].substr(8) + " " + words[1] + " " + symbol + "+" + std::to_string(offset);
    body.replace(begin, end - begin, moved);
    at = begin + moved.size();
  }
}

// NAME and NAME+16 become SYMBOL+OFFSET and SYMBOL+OFFSET+16, the numbers added up.
void replace_symbol(std::string& body, const std::string& name, const std::string& symbol,
                    std::size_t offset) {
  for (std::size_t at = find_name(body, name, 0); at != std::string::npos;
       at = find_name(body, name, at)) {
    std::size_t end = at + name.size();
    std::size_t more = 0;
    if (end < body.size() && body[end] == '+') {
      const std::size_t digits = end + 1;
      end = std::min(body.find_first_not_of("0123456789", digits), body.size());
      more = std::stoul(body.substr(digits, end - digits));
    }
    const std::string replaced = symbol + "+" + std::to_string(offset + more);
    body.replace(at, end - at, replaced);
    at += replaced.size();
  }
}

// The local variables that a kernel uses: those in its body, and those of the program that it names.
struct Variable {
  std::size_t line = 0;  // begin in the text
  std::size_t end = 0;
  Declared declared;
};

std::vector<Variable> shared_variables(const std::string& ptx, const Entry& entry) {
  std::vector<Variable> out;
  const std::string body = ptx.substr(entry.body, entry.body_end - entry.body);
  for (std::size_t begin = 0; begin < ptx.size();) {
    const std::size_t end = std::min(ptx.find('\n', begin), ptx.size());
    const std::size_t word = ptx.find_first_not_of(" \t", begin);
    const std::size_t stop = ptx.find(';', begin);
    if (word < end && ptx.compare(word, 7, ".shared") == 0 && stop < end) {
      const Declared one = parse(ptx.substr(word, stop - word));
      const bool inside = begin > entry.body && begin < entry.body_end;
      if (!one.parameter.name.empty() &&
          (inside || find_name(body, one.parameter.name, 0) != std::string::npos))
        out.push_back({word, stop + 1, one});
    }
    begin = end + 1;
  }
  return out;
}

// Without the others: one with too many local variables keeps all from being loaded.
void drop_other_kernels(std::string& ptx, const std::string& kernel) {
  constexpr std::string_view kEntry = ".entry";
  for (std::size_t at = ptx.find(kEntry); at != std::string::npos; at = ptx.find(kEntry, at)) {
    const std::size_t name =
        std::min(ptx.find_first_not_of(" \t\r\n", at + kEntry.size()), ptx.size());
    std::size_t end = name;
    while (end < ptx.size() && is_name(ptx[end])) ++end;
    const std::string other = ptx.substr(name, end - name);
    at = end;
    if (other == kernel || other.empty()) continue;
    const std::size_t before = ptx.rfind('\n', name);  // ".visible" stands in front of ".entry"
    const std::size_t begin = before == std::string::npos ? 0 : before + 1;
    ptx.erase(begin, find_entry(ptx, other).body_end - begin);
    at = begin;
  }
}

// What OpenCL has in %envreg<n>: from 0 the offset of the first group, from 3 that of the first
// work-item, from 6 how many groups there are, each in three dimensions.
void replace_environment(std::string& text, const std::string& kernel) {
  constexpr std::string_view kRegister = "%envreg";
  for (std::size_t at = text.find(kRegister); at != std::string::npos;
       at = text.find(kRegister, at)) {
    const std::size_t digits = at + kRegister.size();
    const std::size_t end = std::min(text.find_first_not_of("0123456789", digits), text.size());
    const std::string number = text.substr(digits, end - digits);
    if (number.size() != 1 || number[0] > '8')
      refuse(kernel, "reads %envreg" + number + ", whose content is not known");
    const int n = number[0] - '0';
    text.replace(at, end - at, n < 6 ? "0" : std::string("%nctaid.") + "xyz"[n - 6]);
  }
}

}  // namespace

std::vector<PtxParameter> ptx_parameters(const std::string& ptx, const std::string& kernel) {
  const Entry entry = find_entry(ptx, kernel);
  std::vector<PtxParameter> out;
  std::istringstream in(ptx.substr(entry.parameters, entry.parameters_end - entry.parameters));
  for (std::string part; std::getline(in, part, ',');) {
    if (tool::words_of(part).empty()) continue;
    const Declared one = parse(part);
    const std::string& space = one.parameter.space;
    if (space == "texref" || space == "surfref" || space == "samplerref")
      refuse(kernel, "takes an image, which no CUDA launch can give it");
    if (one.state != ".param" || one.parameter.name.empty() || one.parameter.bytes == 0)
      refuse(kernel, "its parameter is not understood:" + part);
    out.push_back(one.parameter);
  }
  return out;
}

CudaKernel cuda_kernel(const std::string& ptx, const std::string& kernel,
                       const std::vector<PtxNeed>& needs) {
  CudaKernel out;
  out.text = ptx.substr(0, ptx.find('\0'));
  out.parameters = ptx_parameters(out.text, kernel);
  if (out.parameters.size() != needs.size())
    refuse(kernel,
           text("has ", out.parameters.size(), " parameters, was launched with ", needs.size()));
  std::size_t constant_bytes = 0;
  std::size_t align = kLeastAlign;

  const auto share = [&](std::size_t bytes, std::size_t own_align) {
    align = std::max(align, own_align);
    const std::size_t at = round_up(out.shared_bytes, std::max(own_align, kLeastAlign));
    out.shared_bytes = at + bytes;
    return at;
  };

  drop_other_kernels(out.text, kernel);
  // Local variables, from the last to the first, so that what was found stays where it is.
  const Entry found = find_entry(out.text, kernel);
  std::vector<Variable> variables = shared_variables(out.text, found);
  std::size_t static_bytes = 0;
  for (const Variable& one : variables) static_bytes += one.declared.parameter.bytes;
  if (static_bytes > kMostStatic) {
    for (auto one = variables.rbegin(); one != variables.rend(); ++one)
      out.text.erase(one->line, one->end - one->line);
  } else {
    variables.clear();
  }

  const Entry entry = find_entry(out.text, kernel);
  std::string body = out.text.substr(entry.body, entry.body_end - entry.body);
  for (const Variable& one : variables) {
    const std::size_t at = share(one.declared.parameter.bytes, one.declared.variable_align);
    replace_symbol(body, one.declared.parameter.name, kShared, at);
  }
  for (std::size_t i = 0; i < out.parameters.size(); ++i) {
    PtxParameter& one = out.parameters[i];
    if (needs[i].local) one.space = "shared";  // compilers need not say so
    out.constants.push_back(0);
    if (one.space == "shared") {
      replace_loads(body, kernel, one.name, kShared, share(needs[i].bytes, one.align));
    } else if (one.space == "const") {
      constexpr std::size_t kConstantAlign = 256;
      out.constants[i] = constant_bytes;
      replace_loads(body, kernel, one.name, kConstants, constant_bytes);
      constant_bytes = round_up(constant_bytes + needs[i].bytes, kConstantAlign);
    }
  }
  out.text.replace(entry.body, entry.body_end - entry.body, body);
  // The CUDA driver takes no pointers of OpenCL's to these two.
  for (const PtxParameter& one : out.parameters) {
    if (one.space != "shared" && one.space != "const") continue;
    const std::size_t name = find_name(out.text, one.name, entry.parameters);
    const std::size_t pointer = out.text.rfind(".ptr", name);
    if (pointer != std::string::npos && pointer > out.text.find_last_of(",(", name))
      out.text.erase(pointer, name - pointer);
  }

  std::string declared;
  if (out.shared_bytes > 0)
    declared += text(".extern .shared .align ", align, " .b8 ", kShared, "[];\n");
  if (constant_bytes > 0)
    declared += text(".const .align 256 .b8 ", kConstants, "[", constant_bytes, "];\n");
  const std::size_t directive = out.text.find(".address_size");
  if (directive == std::string::npos) refuse(kernel, "its PTX says no .address_size");
  out.text.insert(out.text.find('\n', directive) + 1, declared);

  replace_environment(out.text, kernel);
  return out;
}

}  // namespace clcook::counters
