// Reading assembly: the lines of one kernel, their classes and their counts. std only.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "isa/classes.hpp"

namespace clcook::isa {

struct Line {
  std::string text;      // without the compiler's comment
  std::string label;     // the name when the line is a label
  std::string mnemonic;  // empty when the line is no instruction
  std::string operands;
  bool guarded = false;  // executed under a predicate (PTX, SASS)
  Kind kind = Kind::other;
  std::string file;  // where the instruction comes from, when the compiler says so
  unsigned line = 0;
};

struct Listing {
  std::vector<Line> lines;
  Counts counts;
};

namespace detail {

inline bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' ||
         c == '$';
}

inline std::string_view trim(std::string_view in) {
  while (!in.empty() && is_space(in.front())) in.remove_prefix(1);
  while (!in.empty() && is_space(in.back())) in.remove_suffix(1);
  return in;
}

// Takes the next line off `rest`.
inline std::string_view take_line(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return line;
}

inline unsigned to_unsigned(std::string_view digits) {
  unsigned value = 0;
  for (const char c : digits) {
    if (!is_digit(c)) break;
    value = value * 10 + static_cast<unsigned>(c - '0');
  }
  return value;
}

inline std::string_view comment_mark(Dialect dialect) {
  return dialect == Dialect::amdgcn ? ";" : dialect == Dialect::x86 ? "#" : "//";
}

// Where the body of a kernel begins and ends in the text. Empty when it is not there.
inline std::string_view kernel_body(Dialect dialect, std::string_view text,
                                    const std::string& kernel) {
  std::size_t begin = std::string_view::npos;
  if (dialect == Dialect::ptx) {
    begin = text.find(".entry " + kernel + "(");
    if (begin != std::string_view::npos) begin = text.find("\n{", begin);
    if (begin != std::string_view::npos) begin = text.find('\n', begin + 1);
  } else {
    const std::string label = (dialect == Dialect::sass ? "\n.text." : "\n") + kernel + ":";
    begin = text.find(label);
    if (begin != std::string_view::npos) begin = text.find('\n', begin + 1);
  }
  if (begin == std::string_view::npos) return {};
  std::string_view body = text.substr(begin + 1);
  const std::string_view end_mark = dialect == Dialect::ptx    ? "\n}"
                                    : dialect == Dialect::sass ? "\n//-----"
                                                               : "\n.Lfunc_end";
  std::size_t end = body.find(end_mark);
  if (dialect == Dialect::sass) end = std::min(end, body.find("\n\t.section"));
  return body.substr(0, end);
}

// .file numbers and names. DWARF 5 has folder and name, older forms only a name.
inline void read_file_directive(std::string_view line, std::map<unsigned, std::string>& files) {
  const unsigned number = to_unsigned(trim(line.substr(5)));
  std::vector<std::string> strings;
  for (std::size_t at = line.find('"'); at != std::string_view::npos;) {
    const std::size_t end = line.find('"', at + 1);
    if (end == std::string_view::npos) break;
    strings.emplace_back(line.substr(at + 1, end - at - 1));
    at = line.find('"', end + 1);
  }
  if (!strings.empty()) files[number] = strings.size() > 1 ? strings[1] : strings[0];
}

inline std::string_view first_word(std::string_view in) {
  std::size_t end = 0;
  while (end < in.size() && !is_space(in[end]) && in[end] != ';' && in[end] != '(') ++end;
  return in.substr(0, end);
}

// Labels that only debug information refers to.
inline bool is_debug_label(std::string_view name) {
  return starts_with_any(name, {".Ltmp", ".Lfunc_", "$L__tmp", "$L__func_"}) ||
         name.find("$local") != std::string_view::npos;
}

// Labels that the operands of a branch name.
inline std::vector<std::string> branch_targets(Dialect dialect, std::string_view operands) {
  const std::string_view start = dialect == Dialect::ptx ? "$L" : ".L";
  std::vector<std::string> out;
  for (std::size_t at = operands.find(start); at != std::string_view::npos;
       at = operands.find(start, at + 1)) {
    std::size_t end = at;
    while (end < operands.size() && is_word(operands[end])) ++end;
    out.emplace_back(operands.substr(at, end - at));
    at = end;
  }
  return out;
}

// Whether control never reaches the next line.
inline bool ends_block(Dialect dialect, const Line& line) {
  if (line.guarded) return false;
  const std::string_view m = line.mnemonic;
  switch (dialect) {
    case Dialect::amdgcn:
      return m == "s_branch" || m == "s_endpgm" || starts_with_any(m, {"s_setpc"});
    case Dialect::ptx:
      return starts_with_any(m, {"bra", "brx", "ret", "exit", "trap"});
    case Dialect::sass:
      return m.substr(0, 4) == "EXIT" || m.substr(0, 3) == "RET" || m.substr(0, 3) == "BRX" ||
             m.substr(0, 3) == "JMP" ||
             (m.substr(0, 3) == "BRA" && !line.operands.empty() && line.operands[0] == '`');
    case Dialect::x86:
      return starts_with_any(m, {"jmp", "ret", "ud2"});
  }
  return false;
}

// Of each basic block of a kernel those that control goes to from it.
using FlowGraph = std::vector<std::vector<std::size_t>>;

inline FlowGraph graph_of(Dialect dialect, const std::vector<Line>& lines) {
  std::map<std::string, std::size_t> at_label;
  FlowGraph blocks(1);
  std::vector<std::pair<std::size_t, std::string>> jumps;
  bool fresh = true;  // the current block holds no instruction yet
  bool falls_through = true;
  const auto new_block = [&] {
    if (!fresh || !falls_through) {
      blocks.emplace_back();
      if (falls_through) blocks[blocks.size() - 2].push_back(blocks.size() - 1);
      fresh = true;
      falls_through = true;
    }
  };
  for (const Line& line : lines) {
    if (!line.label.empty()) {
      new_block();
      at_label[line.label] = blocks.size() - 1;
    }
    if (line.mnemonic.empty()) continue;
    if (!falls_through) new_block();
    fresh = false;
    const bool call = starts_with_any(line.mnemonic, {"call", "CALL", "s_swappc", "s_call"});
    if (line.kind == Kind::branch && !call) {
      for (std::string& target : branch_targets(dialect, line.operands))
        jumps.emplace_back(blocks.size() - 1, std::move(target));
      falls_through = !ends_block(dialect, line);
      if (falls_through) new_block();
    } else if (ends_block(dialect, line)) {
      falls_through = false;
    }
  }
  for (const auto& [from, label] : jumps) {
    const auto found = at_label.find(label);
    if (found != at_label.end()) blocks[from].push_back(found->second);
  }
  return blocks;
}

// The number of loops: blocks that edges go back to in a depth-first walk.
inline std::size_t loops_in(const FlowGraph& blocks) {
  enum : char { unseen, open, done };
  std::vector<char> state(blocks.size(), unseen);
  std::set<std::size_t> headers;
  for (std::size_t root = 0; root < blocks.size(); ++root) {
    if (state[root] != unseen) continue;
    std::vector<std::pair<std::size_t, std::size_t>> stack{{root, 0}};
    state[root] = open;
    while (!stack.empty()) {
      auto& [block, edge] = stack.back();
      if (edge == blocks[block].size()) {
        state[block] = done;
        stack.pop_back();
        continue;
      }
      const std::size_t to = blocks[block][edge++];
      if (state[to] == open) headers.insert(to);
      if (state[to] == unseen) {
        state[to] = open;
        stack.emplace_back(to, 0);
      }
    }
  }
  return headers.size();
}

// Functions that are called: built-ins that were not linked in, or helpers that were not inlined.
inline void find_calls(Dialect dialect, const std::vector<Line>& lines,
                       std::set<std::string>& calls) {
  bool amd_call = false;
  for (const Line& line : lines) {
    const std::string_view operands = line.operands;
    if (dialect == Dialect::amdgcn) {
      amd_call = amd_call || starts_with_any(line.mnemonic, {"s_swappc", "s_call"});
    } else if (dialect == Dialect::ptx && line.mnemonic.substr(0, 4) == "call") {
      // call.uni (retval0), _Z3foof, (param0);   call.uni _Z3barv, ();
      std::size_t at = 0;
      if (!operands.empty() && operands[0] == '(')
        at = operands.find(',') == std::string_view::npos ? 0 : operands.find(',') + 1;
      std::string_view name = trim(operands.substr(at));
      std::size_t end = 0;
      while (end < name.size() && is_word(name[end])) ++end;
      calls.insert(end == 0 ? "(indirect)" : std::string(name.substr(0, end)));
    } else if (dialect == Dialect::x86 &&
               (line.mnemonic.substr(0, 4) == "call" ||
                (line.mnemonic.substr(0, 3) == "jmp" && operands.substr(0, 2) != ".L" &&
                 operands.find('*') == std::string_view::npos))) {
      std::string_view name = operands.substr(0, operands.find('@'));
      // The C library's copies are the compiler's own doing.
      if (name == "memcpy" || name == "memset" || name == "memmove") continue;
      calls.insert(operands.substr(0, 1) == "*" ? "(indirect)" : std::string(name));
    }
  }
  if (!amd_call) return;
  // The address of the called function is made of s_getpc_b64 and a relocation.
  for (const Line& line : lines) {
    const std::size_t at = line.operands.find("@");
    if (at == std::string::npos || starts_with_any(line.mnemonic, {"v_"})) continue;
    std::size_t begin = at;
    while (begin > 0 && is_word(line.operands[begin - 1])) --begin;
    const std::string name = line.operands.substr(begin, at - begin);
    if (name.substr(0, 2) == "_Z") calls.insert(name);
  }
  if (calls.empty()) calls.insert("(indirect)");
}

inline void note_x86_registers(std::string_view operands, std::set<unsigned>& seen) {
  for (std::size_t at = operands.find("mm"); at != std::string_view::npos;
       at = operands.find("mm", at + 2)) {
    if (at < 2 || operands[at - 2] != '%') continue;
    const char width = operands[at - 1];
    if (width == 'x' || width == 'y' || width == 'z')
      seen.insert(to_unsigned(operands.substr(at + 2)));
  }
}

// Reads the lines of a kernel and counts them.
class ListingReader {
 public:
  // `text` is all of the assembly, which names the files.
  ListingReader(Dialect dialect, std::string_view text) : dialect_(dialect) {
    for (std::size_t at = text.find("\t.file\t"); at != std::string_view::npos;
         at = text.find("\t.file\t", at + 1)) {
      std::string_view rest = text.substr(at + 1);
      read_file_directive(take_line(rest), files_);
    }
  }

  Listing read(std::string_view body) {
    rest_ = body;
    while (!rest_.empty()) {
      const std::string_view code = trim(code_of(take_line(rest_)));
      if (code.empty() || code == "{" || code == "}") continue;
      if (code.back() == ':') {
        label(code.substr(0, code.size() - 1), code);
      } else if (code[0] == '.') {
        if (code.substr(0, 4) == ".loc") location(trim(code.substr(4)));
      } else {
        instruction(whole(code));
      }
    }
    if (dialect_ == Dialect::sass) drop_padding();
    Counts& counts = out_.counts;
    for (const Line& line : out_.lines) {
      if (line.mnemonic.empty()) continue;
      ++counts.total;
      ++counts.by_kind[static_cast<std::size_t>(line.kind)];
    }
    counts.loops = static_cast<unsigned>(loops_in(graph_of(dialect_, out_.lines)));
    counts.vector_registers = static_cast<unsigned>(x86_registers_.size());
    find_calls(dialect_, out_.lines, counts.calls);
    return std::move(out_);
  }

 private:
  // A line without its comment, which is kept.
  std::string_view code_of(std::string_view code) {
    comment_ = {};
    const std::string_view mark = comment_mark(dialect_);
    if (dialect_ == Dialect::sass) {
      // "  /*0040*/   @!P0 EXIT ;  /* 0x... */"
      const std::size_t open = code.find("/*");
      if (open != std::string_view::npos && trim(code.substr(0, open)).empty()) {
        const std::size_t close = code.find("*/", open);
        code = close == std::string_view::npos ? std::string_view() : code.substr(close + 2);
      }
      return code.substr(0, code.find("/*"));
    }
    const std::size_t at = code.find(mark);
    if (at == std::string_view::npos) return code;
    // In x86 text a '#' begins a comment; immediates are written with '$'.
    comment_ = code.substr(at + mark.size());
    return code.substr(0, at);
  }

  void label(std::string_view name, std::string_view code) {
    if (is_debug_label(name)) return;
    out_.lines.emplace_back();
    out_.lines.back().text = std::string(code);
    out_.lines.back().label = std::string(name);
  }

  // .loc FILE LINE
  void location(std::string_view numbers) {
    const unsigned number = to_unsigned(numbers);
    numbers = trim(numbers.substr(std::min(numbers.find_first_of(" \t"), numbers.size())));
    const unsigned at = to_unsigned(numbers);
    if (at == 0) return;  // the compiler does not know
    const auto found = files_.find(number);
    file_ = found == files_.end() ? std::string() : found->second;
    source_line_ = at;
  }

  // A PTX statement may run over several lines.
  std::string whole(std::string_view code) {
    std::string joined(code);
    if (dialect_ != Dialect::ptx || joined[0] == '{') return joined;
    while (joined.back() != ';' && !rest_.empty()) {
      std::string_view more = take_line(rest_);
      more = trim(more.substr(0, more.find("//")));
      if (more.empty() || more.front() == '.' || more.back() == ':') continue;
      joined += " " + std::string(more);
    }
    return joined;
  }

  void instruction(const std::string& joined) {
    Line line;
    std::string_view text = joined;
    if (dialect_ != Dialect::amdgcn && text[0] == '{') {
      // x86 encodings "{evex}", PTX blocks "{ // callseq"
      const std::size_t close = text.find('}');
      if (close == std::string_view::npos) return;
      text = trim(text.substr(close + 1));
    }
    if (!text.empty() && text[0] == '@') {
      line.guarded = true;
      text = trim(text.substr(std::min(text.find_first_of(" \t"), text.size())));
    }
    while (!text.empty() && (text.back() == ';' || is_space(text.back()))) text.remove_suffix(1);
    if (text.empty()) return;
    line.text = joined;
    line.mnemonic = std::string(first_word(text));
    line.operands = std::string(trim(text.substr(line.mnemonic.size())));
    if (line.mnemonic.empty()) return;
    const Classified kind = classified(line);
    line.kind = kind.kind;
    if (!kind.known) {
      out_.counts.unknown.insert(line.mnemonic);
      ++out_.counts.unclassified[line.mnemonic];
    }
    line.file = file_;
    line.line = source_line_;
    if (dialect_ == Dialect::x86) note_x86(line);
    out_.lines.push_back(std::move(line));
  }

  // Classifying is slower than remembering.
  Classified classified(const Line& line) {
    const bool has_address = line.operands.find('(') != std::string::npos;
    const auto [found, is_new] = known_.try_emplace(line.mnemonic + (has_address ? "(" : ""));
    if (is_new) found->second = classify(dialect_, line.mnemonic, line.operands);
    return found->second;
  }

  void note_x86(const Line& line) {
    Counts& counts = out_.counts;
    note_x86_registers(line.operands, x86_registers_);
    if (comment_.find("-byte Spill") != std::string_view::npos ||
        comment_.find("-byte Folded Spill") != std::string_view::npos)
      counts.spill_bytes += to_unsigned(trim(comment_));
    const std::string_view operands = line.operands;
    if (counts.frame_bytes == 0 && line.mnemonic == "subq" && operands.size() > 6 &&
        operands[0] == '$' && operands.substr(operands.size() - 6) == ", %rsp")
      counts.frame_bytes = to_unsigned(operands.substr(1));
  }

  // A jump to itself, then no-operations up to the next multiple of 128 bytes.
  void drop_padding() {
    std::vector<Line>& lines = out_.lines;
    while (!lines.empty() && (lines.back().mnemonic.empty() || lines.back().mnemonic == "NOP"))
      lines.pop_back();
    if (lines.size() > 1 && lines.back().mnemonic == "BRA" &&
        lines.back().operands == "`(" + lines[lines.size() - 2].label + ")")
      lines.resize(lines.size() - 2);
  }

  Dialect dialect_;
  std::map<unsigned, std::string> files_;
  Listing out_;
  std::unordered_map<std::string, Classified> known_;
  std::set<unsigned> x86_registers_;
  std::string file_;
  unsigned source_line_ = 0;
  std::string_view rest_;
  std::string_view comment_;  // of the line
};

}  // namespace detail

// Reads the kernel of that name. Throws std::runtime_error when the text does not hold it.
inline Listing read_listing(Dialect dialect, std::string_view text, const std::string& kernel) {
  const std::string_view body = detail::kernel_body(dialect, text, kernel);
  if (body.empty())
    throw std::runtime_error("the assembly does not hold a kernel '" + kernel + "'");
  return detail::ListingReader(dialect, text).read(body);
}

}  // namespace clcook::isa
