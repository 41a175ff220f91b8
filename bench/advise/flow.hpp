// How the values of a kernel's PTX spread over neighbouring work-items, and how they move from trip
// to trip of a loop. std only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "isa/listing.hpp"

namespace clcook::advise {

// What a value is for two neighbours: for work-items whose get_local_id(0) differs by one, or for
// one work-item in two consecutive trips of a loop.
enum class Spread {
  none,       // nothing known yet
  uniform,    // the same for both
  linear,     // apart by a number that the code says: Value::stride
  scaled,     // apart by the same unknown number for every two neighbours, such as a pitch
  irregular,  // anything
};

// What a value is computed from.
enum From : unsigned {
  from_item_x = 1,  // get_local_id(0)
  from_item_y = 2,
  from_item_z = 4,
  from_group_x = 8,
  from_group_y = 16,
  from_group_z = 32,
  from_size = 64,     // the size of a group or of the grid
  from_memory = 128,  // what a load brought
};

struct Value {
  Spread spread = Spread::none;
  long stride = 0;         // of linear
  bool bends = false;      // linear, but for where a row ends or a border is
  bool is_number = false;  // the code says which
  long number = 0;
  unsigned from = 0;  // bits of From
  // What it is the sum of, as a hash, and the number on top: two values with equal terms are a known
  // number apart. 0: a number alone.
  std::size_t terms = 0;
  long shift = 0;
  std::set<int> params;  // the kernel's arguments that it is computed from, by position
  bool is_border =
      false;  // of a predicate: it compares positions by order, or such predicates make it

  bool is_uniform() const { return spread == Spread::uniform || spread == Spread::none; }
  // The same for all but a few neighbours, such as a row's number.
  bool is_mostly_uniform() const {
    return is_uniform() || (spread == Spread::linear && stride == 0);
  }
  bool is_position() const { return spread == Spread::linear || spread == Spread::scaled; }
  bool operator==(const Value& other) const {
    return spread == other.spread && stride == other.stride && is_number == other.is_number &&
           number == other.number && from == other.from && params == other.params &&
           bends == other.bends && is_border == other.is_border && terms == other.terms &&
           shift == other.shift;
  }
};

namespace detail {

using isa::Line;
using isa::detail::FlowGraph;
using isa::detail::NaturalLoop;

// An instruction with its operands apart.
struct Operation {
  std::size_t line = 0;           // position in the listing
  std::size_t block = 0;          // of the graph
  std::string name;               // "ld"
  std::string modifiers;          // ".global.nc.v4.f32"
  std::vector<std::string> to;    // registers that it writes
  std::vector<std::string> from;  // registers, numbers, names of what it reads
  std::string guard;              // the predicate that it runs under; empty: always
  std::string address;            // of a memory instruction: register or name
  long offset = 0;                // behind the address
};

inline std::vector<std::string> split_operands(std::string_view text) {
  std::vector<std::string> out;
  std::string one;
  int depth = 0;
  for (const char c : text) {
    depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
    if (c == ',' && depth == 0) {
      out.emplace_back(isa::detail::trim(one));
      one.clear();
    } else {
      one += c;
    }
  }
  if (!isa::detail::trim(one).empty()) out.emplace_back(isa::detail::trim(one));
  return out;
}

inline void add_registers(std::string_view operand, std::vector<std::string>& out) {
  while (!operand.empty() && (operand.front() == '{' || operand.front() == '!'))
    operand.remove_prefix(1);
  while (!operand.empty() && operand.back() == '}') operand.remove_suffix(1);
  std::string one;
  for (const char c : operand) {
    if (c == ',' || c == '|' || isa::detail::is_space(c)) {
      if (!one.empty()) out.push_back(one);
      one.clear();
    } else {
      one += c;
    }
  }
  if (!one.empty()) out.push_back(one);
}

inline Operation operation_of(const Line& line) {
  Operation out;
  const std::string& mnemonic = line.mnemonic;
  out.name = mnemonic.substr(0, mnemonic.find('.'));
  out.modifiers = mnemonic.substr(out.name.size());
  if (line.guarded) {
    // "@%p1 bra $L__BB0_2;", "@!%p1 ..."
    std::string_view text = isa::detail::trim(line.text);
    text.remove_prefix(1);
    if (!text.empty() && text.front() == '!') text.remove_prefix(1);
    out.guard = std::string(isa::detail::first_word(text));
  }
  const std::vector<std::string> operands = split_operands(line.operands);
  const bool writes_none = out.name == "st" || out.name == "red" || out.name == "bra" ||
                           out.name == "bar" || out.name == "ret" || out.name == "exit" ||
                           out.name == "brx" || out.name == "membar" || out.name == "fence";
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const std::string& operand = operands[i];
    if (operand.front() == '[') {
      std::string_view inside(operand);
      inside.remove_prefix(1);
      inside = inside.substr(0, inside.find(']'));
      const std::size_t plus = inside.find('+');
      out.address = std::string(isa::detail::trim(inside.substr(0, plus)));
      if (plus != std::string_view::npos) {
        std::string_view digits = isa::detail::trim(inside.substr(plus + 1));
        const bool minus = !digits.empty() && digits.front() == '-';
        if (minus) digits.remove_prefix(1);
        out.offset = static_cast<long>(isa::detail::to_unsigned(digits)) * (minus ? -1 : 1);
      }
    } else if (i == 0 && !writes_none) {
      add_registers(operand, out.to);
    } else {
      add_registers(operand, out.from);
    }
  }
  if (!out.guard.empty()) out.from.push_back(out.guard);
  return out;
}

// As registers do: without overflow.
inline long plus(long a, long b) {
  return static_cast<long>(static_cast<unsigned long>(a) + static_cast<unsigned long>(b));
}
inline long times(long a, long b) {
  return static_cast<long>(static_cast<unsigned long>(a) * static_cast<unsigned long>(b));
}

inline long magnitude(long a) { return a < 0 ? times(-1, a) : a; }

inline Spread worse(Spread a, Spread b) { return a > b ? a : b; }

// What a register holds that is written in two places.
inline Value join(const Value& a, const Value& b) {
  if (a.spread == Spread::none) return b;
  if (b.spread == Spread::none) return a;
  Value out = a;
  out.from |= b.from;
  out.params.insert(b.params.begin(), b.params.end());
  if (!(a.is_number && b.is_number && a.number == b.number)) out.is_number = false;
  out.bends = a.bends || b.bends;
  out.is_border = a.is_border && b.is_border;
  // Of an index that is held within a border, the index counts.
  const Value& sum = a.is_uniform() ? b : a;
  const bool held = a.is_uniform() != b.is_uniform();
  const bool same = a.terms == b.terms && a.shift == b.shift;
  out.terms = held || same ? sum.terms : 0;
  out.shift = held || same ? sum.shift : 0;
  if (a.spread == b.spread) {
    if (a.spread == Spread::linear && a.stride != b.stride) {
      // A picture that is continued by its mirror image; or a row's last item.
      const bool mirrored = plus(a.stride, b.stride) == 0 || a.stride == 0 || b.stride == 0;
      out.spread = mirrored ? Spread::linear : Spread::irregular;
      out.stride = std::max(a.stride, b.stride);
      out.bends = true;
    }
  } else if (a.spread == Spread::uniform || b.spread == Spread::uniform) {
    // An index that is held within a border.
    out.spread = worse(a.spread, b.spread);
    out.stride = a.spread == Spread::uniform ? b.stride : a.stride;
    out.bends = true;
  } else {
    out.spread = Spread::irregular;
  }
  if (out.spread == Spread::irregular) out.stride = 0;
  return out;
}

inline Value added(const Value& a, const Value& b, long sign) {
  Value out;
  out.from = a.from | b.from;
  out.params = a.params;
  out.params.insert(b.params.begin(), b.params.end());
  out.spread = worse(a.spread, b.spread);
  out.bends = a.bends || b.bends;
  out.stride = out.spread == Spread::linear ? plus(a.stride, times(sign, b.stride)) : 0;
  if (out.spread == Spread::linear && out.stride == 0 && !out.bends) out.spread = Spread::uniform;
  out.is_number = a.is_number && b.is_number;
  if (out.is_number) out.number = plus(a.number, times(sign, b.number));
  out.terms = sign > 0 ? a.terms + b.terms : a.terms - b.terms;
  out.shift = plus(a.shift, times(sign, b.shift));
  return out;
}

inline Value multiplied(const Value& a, const Value& b) {
  Value out;
  out.from = a.from | b.from;
  // The first item of a group: its number times its size.
  constexpr unsigned groups = from_group_x | from_group_y | from_group_z;
  if (((a.from & groups) != 0 && b.from == from_size) ||
      ((b.from & groups) != 0 && a.from == from_size))
    out.from &= ~static_cast<unsigned>(from_size);
  out.params = a.params;
  out.params.insert(b.params.begin(), b.params.end());
  const Value& moving = a.is_uniform() ? b : a;
  const Value& still = a.is_uniform() ? a : b;
  out.bends = moving.bends;
  if (!still.is_uniform()) {
    out.spread = Spread::irregular;
  } else if (moving.is_uniform()) {
    out.spread = Spread::uniform;
  } else if (still.is_number) {
    out.spread = moving.spread;
    out.stride = times(moving.stride, still.number);
    if (out.spread == Spread::linear && still.number == 0) out.spread = Spread::uniform;
  } else {
    // A row's number times its pitch: neighbours are in the same row.
    const bool same = moving.spread == Spread::linear && moving.stride == 0;
    out.spread = moving.spread == Spread::irregular || same ? moving.spread : Spread::scaled;
  }
  out.is_number = a.is_number && b.is_number;
  if (out.is_number) out.number = times(a.number, b.number);
  if (a.is_number || b.is_number) {
    const Value& sum = a.is_number ? b : a;
    const long factor = a.is_number ? a.number : b.number;
    out.terms = sum.terms * static_cast<std::size_t>(factor);
    out.shift = times(sum.shift, factor);
  }
  return out;
}

// Of operations that keep nothing of a stride.
inline Value mixed(const std::vector<Value>& all) {
  Value out;
  out.spread = Spread::uniform;
  for (const Value& one : all) {
    if (!one.is_uniform() && one.is_mostly_uniform() && out.spread == Spread::uniform) {
      out.spread = Spread::linear;
      out.bends = true;
    } else if (!one.is_mostly_uniform()) {
      out.spread = Spread::irregular;
      out.bends = false;
    }
    out.from |= one.from;
    out.params.insert(one.params.begin(), one.params.end());
  }
  return out;
}

}  // namespace detail

// A kernel's operations, blocks and loops.
struct Flow {
  std::vector<detail::Operation> operations;
  isa::detail::FlowGraph graph;
  std::vector<isa::detail::NaturalLoop> loops;
  std::map<std::string, std::vector<std::size_t>> writers;  // operations, by register
  std::vector<unsigned> depths;                             // loops around each block

  // The loop with the fewest blocks that holds this one; null: none does.
  const isa::detail::NaturalLoop* innermost(std::size_t block) const {
    const isa::detail::NaturalLoop* out = nullptr;
    for (const isa::detail::NaturalLoop& one : loops) {
      if (one.blocks.count(block) > 0 && (out == nullptr || one.blocks.size() < out->blocks.size()))
        out = &one;
    }
    return out;
  }
};

inline Flow flow_of(const isa::Listing& listing) {
  Flow out;
  out.graph = isa::detail::graph_of(isa::Dialect::ptx, listing.lines);
  out.loops = isa::detail::natural_loops(out.graph);
  out.depths.assign(out.graph.blocks.size(), 0);
  for (const isa::detail::NaturalLoop& loop : out.loops) {
    for (const std::size_t block : loop.blocks) ++out.depths[block];
  }
  for (std::size_t b = 0; b < out.graph.blocks.size(); ++b) {
    for (const std::size_t line : out.graph.blocks[b].lines) {
      detail::Operation one = detail::operation_of(listing.lines[line]);
      one.line = line;
      one.block = b;
      for (const std::string& to : one.to) out.writers[to].push_back(out.operations.size());
      out.operations.push_back(std::move(one));
    }
  }
  return out;
}

// The values of all registers.
using Values = std::map<std::string, Value>;

namespace detail {

inline Value special(std::string_view name) {
  Value out;
  out.spread = Spread::uniform;
  const std::pair<std::string_view, unsigned> known[] = {
      {"%tid.x", from_item_x},    {"%tid.y", from_item_y},    {"%tid.z", from_item_z},
      {"%ctaid.x", from_group_x}, {"%ctaid.y", from_group_y}, {"%ctaid.z", from_group_z}};
  for (const auto& [text, bit] : known) {
    if (name == text) out.from = bit;
  }
  out.terms = std::hash<std::string_view>()(name);
  if (name.substr(0, 5) == "%ntid" || name.substr(0, 7) == "%nctaid") out.from = from_size;
  if (name == "%tid.x" || name == "%laneid") {
    out.from = from_item_x;
    out.spread = Spread::linear;
    out.stride = 1;
  }
  return out;
}

// The position of the argument in "kernel_param_3"; -1: it is none.
inline int param_of(std::string_view name) {
  const std::size_t at = name.rfind("_param_");
  return at == std::string_view::npos
             ? -1
             : static_cast<int>(isa::detail::to_unsigned(name.substr(at + 7)));
}

inline bool is_number(std::string_view text) {
  if (!text.empty() && text.front() == '-') text.remove_prefix(1);
  return !text.empty() && isa::detail::is_digit(text.front()) &&
         std::all_of(text.begin(), text.end(), isa::detail::is_digit);
}

inline Value value_of(const std::string& operand, const Values& values) {
  if (const auto found = values.find(operand); found != values.end()) return found->second;
  if (operand.rfind("%tid", 0) == 0 || operand.rfind("%ctaid", 0) == 0 ||
      operand.rfind("%ntid", 0) == 0 || operand.rfind("%nctaid", 0) == 0 ||
      operand.rfind("%laneid", 0) == 0)
    return special(operand);
  Value out;
  if (operand.front() == '%') return out;  // not yet
  out.spread = Spread::uniform;
  if (is_number(operand) && operand.size() < 18) {
    out.is_number = true;
    out.number = std::stol(operand);
    out.shift = out.number;
  }
  if (const int param = param_of(operand); param >= 0) out.params.insert(param);
  return out;
}

inline Value transfer(const Operation& what, const Values& values) {
  std::vector<Value> in;
  for (const std::string& one : what.from) in.push_back(value_of(one, values));
  const bool starved = std::any_of(in.begin(), in.end(),
                                   [](const Value& one) { return one.spread == Spread::none; });
  if (what.name == "ld" || what.name == "ldu") {
    if (what.modifiers.find(".param") != std::string::npos) {
      Value out = value_of(what.address, values);
      if (out.spread == Spread::none) return out;
      out.is_number = false;
      out.terms = std::hash<std::string>()(what.address + "+" + std::to_string(what.offset));
      out.shift = 0;
      return out;
    }
    Value out = value_of(what.address, values);
    if (out.spread == Spread::none) return out;
    out.spread = out.is_uniform() ? Spread::uniform : Spread::irregular;
    out.stride = 0;
    out.bends = false;
    out.is_number = false;
    out.terms = 0;
    out.shift = 0;
    out.from |= from_memory;
    out.params.clear();
    return out;
  }
  if (starved) {
    // A loop's counter begins with what is known.
    return {};
  }
  if (what.name == "atom" || what.name == "tex" || what.name == "suld" || what.name == "shfl" ||
      what.name == "call") {
    Value out = mixed(in);
    out.spread = Spread::irregular;
    out.from |= from_memory;
    return out;
  }
  const bool real = what.modifiers.find(".f32") != std::string::npos ||
                    what.modifiers.find(".f64") != std::string::npos ||
                    what.modifiers.find(".f16") != std::string::npos;
  const auto is = [&](std::string_view name) { return what.name == name; };
  if (is("mov") || is("cvta")) {
    if (in.size() == 1) return in[0];
    return mixed(in);
  }
  if (!real && what.guard.empty()) {
    if (is("cvt") && in.size() == 1) return in[0];
    if (is("add") && in.size() == 2) return added(in[0], in[1], 1);
    if (is("sub") && in.size() == 2) return added(in[0], in[1], -1);
    if ((is("neg") || is("not")) && in.size() == 1 &&
        what.modifiers.find(".pred") == std::string::npos) {
      Value zero;
      zero.spread = Spread::uniform;
      zero.is_number = true;
      return added(zero, in[0], -1);
    }
    if (is("mul") && in.size() == 2 && what.modifiers.find(".hi") == std::string::npos)
      return multiplied(in[0], in[1]);
    if (is("mad") && in.size() == 3 && what.modifiers.find(".hi") == std::string::npos)
      return added(multiplied(in[0], in[1]), in[2], 1);
    if (is("shl") && in.size() == 2 && in[1].is_number && in[1].number >= 0 && in[1].number < 48) {
      Value factor;
      factor.spread = Spread::uniform;
      factor.is_number = true;
      factor.number = factor.shift = 1L << in[1].number;
      return multiplied(in[0], factor);
    }
    // Sign extension, by a shift up and one down again.
    if (is("shr") && in.size() == 2 && in[0].spread == Spread::linear && in[1].is_number &&
        in[1].number >= 0 && in[1].number < 48 && in[0].stride != 0 &&
        in[0].stride % (1L << in[1].number) == 0) {
      Value out = in[0];
      out.is_number = false;
      out.stride >>= in[1].number;
      out.terms = 0;
      return out;
    }
    // Quotient and remainder of a position: the same for most neighbours, or one apart.
    constexpr long kShort = 64;  // such a period shows within a wave
    const bool position = !in.empty() && in[0].spread == Spread::linear;
    if (in.size() == 2 && position && in[1].is_uniform()) {
      const long number = in[1].is_number ? in[1].number : kShort;
      Value out = in[0];
      out.is_number = false;
      out.from |= in[1].from;
      out.bends = true;
      out.terms = 0;
      if (is("rem") && number >= kShort) return out;
      if (is("and") && in[1].is_number && (number >= kShort - 1 || number < 0)) return out;
      if ((is("div") && number >= kShort) || (is("shr") && in[1].is_number && number >= 6)) {
        out.stride = 0;
        return out;
      }
    }
    // Bits that the other summand has not: what a compiler makes of x * 4 + 1.
    if (is("or") && in.size() == 2 && (in[0].is_uniform() || in[1].is_uniform()) &&
        (in[0].is_number || in[1].is_number)) {
      const Value& number = in[0].is_number ? in[0] : in[1];
      const Value& other = in[0].is_number ? in[1] : in[0];
      if (other.spread == Spread::linear && number.number >= 0 &&
          number.number < magnitude(other.stride))
        return added(other, number, 1);
    }
  }
  if ((is("min") || is("max")) && in.size() == 2 && !real) return join(in[0], in[1]);
  if (is("selp") && in.size() == 3) {
    Value out = join(in[0], in[1]);
    out.from |= in[2].from;
    if (in[2].is_uniform()) return out;
    if (!in[2].is_border) return mixed(in);
    if (out.is_uniform()) out.spread = Spread::linear;
    out.bends = true;
    out.is_number = false;
    return out;
  }
  Value out = mixed(in);
  if (is("setp") && in.size() >= 2) {
    const bool equal = what.modifiers.find(".eq") == 0 || what.modifiers.find(".ne") == 0;
    const bool mostly = in[0].is_mostly_uniform() && in[1].is_mostly_uniform();
    out.is_border = !real && (!equal || mostly) && (in[0].is_position() || in[0].is_uniform()) &&
                    (in[1].is_position() || in[1].is_uniform()) &&
                    (in.size() == 2 || in[2].is_uniform() || in[2].is_border);
  }
  if ((is("and") || is("or") || is("xor") || is("not")) &&
      what.modifiers.find(".pred") != std::string::npos) {
    out.is_border = std::all_of(in.begin(), in.end(),
                                [](const Value& one) { return one.is_uniform() || one.is_border; });
  }
  return out;
}

}  // namespace detail

// All registers as the operations leave them. `fixed` values are taken as they are.
inline Values evaluate(const Flow& flow, const Values& fixed,
                       const std::function<void(Values&)>& correct = {}) {
  Values values = fixed;
  constexpr int kRounds = 40;  // values only get worse, so that this is far more than it takes
  for (int round = 0; round < kRounds; ++round) {
    bool changed = false;
    for (const auto& [name, writers] : flow.writers) {
      if (fixed.count(name) > 0) continue;
      Value all;
      for (const std::size_t one : writers)
        all = detail::join(all, detail::transfer(flow.operations[one], values));
      if (all.spread != Spread::none && all.terms == 0 && !all.is_number) {
        all.terms = std::hash<std::string>()(name);
        all.shift = 0;
      }
      Value& now = values[name];
      if (round > kRounds / 2 && !(all == now)) all.spread = Spread::irregular;
      if (!(all == now)) {
        now = all;
        changed = true;
      }
    }
    if (correct) correct(values);
    if (!changed) break;
  }
  return values;
}

namespace detail {

// For each block, the blocks that every way from it to the end comes by, itself among them.
inline std::vector<std::vector<bool>> post_dominators(const FlowGraph& graph) {
  const std::size_t n = graph.blocks.size();
  std::vector<std::vector<bool>> out(n, std::vector<bool>(n, true));
  for (std::size_t b = 0; b < n; ++b) {
    if (graph.blocks[b].next.empty()) {
      out[b].assign(n, false);
      out[b][b] = true;
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = n; b-- > 0;) {
      if (graph.blocks[b].next.empty()) continue;
      std::vector<bool> meet(n, true);
      for (const std::size_t to : graph.blocks[b].next) {
        for (std::size_t i = 0; i < n; ++i) meet[i] = meet[i] && out[to][i];
      }
      meet[b] = true;
      if (meet != out[b]) {
        out[b] = std::move(meet);
        changed = true;
      }
    }
  }
  return out;
}

// The blocks that are reached from one before those that `stop` names, itself among them.
inline std::vector<bool> reached(const FlowGraph& graph, std::size_t from,
                                 const std::vector<bool>& stop) {
  std::vector<bool> out(graph.blocks.size(), false);
  if (stop[from]) return out;
  std::vector<std::size_t> todo{from};
  out[from] = true;
  while (!todo.empty()) {
    const std::size_t b = todo.back();
    todo.pop_back();
    for (const std::size_t to : graph.blocks[b].next) {
      if (out[to] || stop[to]) continue;
      out[to] = true;
      todo.push_back(to);
    }
  }
  return out;
}

}  // namespace detail

// Where control parts: the blocks that run on one side alone.
struct Fork {
  std::size_t operation = 0;  // the branch
  std::size_t block = 0;
  std::vector<bool> sides[2];  // by block
  bool leaves_loop = false;    // a side goes out of a loop that holds the branch
};

inline std::vector<Fork> forks_of(const Flow& flow) {
  std::vector<Fork> out;
  const auto dominators = detail::post_dominators(flow.graph);
  for (std::size_t i = 0; i < flow.operations.size(); ++i) {
    const detail::Operation& branch = flow.operations[i];
    const std::vector<std::size_t>& next = flow.graph.blocks[branch.block].next;
    if (branch.name != "bra" || branch.guard.empty() || next.size() != 2 || next[0] == next[1])
      continue;
    Fork fork;
    fork.operation = i;
    fork.block = branch.block;
    std::vector<bool> stop = dominators[branch.block];
    const isa::detail::NaturalLoop* loop = flow.innermost(branch.block);
    if (loop != nullptr) {
      stop[loop->header] = true;  // the next trip
      for (const std::size_t to : next)
        fork.leaves_loop = fork.leaves_loop || loop->blocks.count(to) == 0 || to == loop->header;
    }
    stop[branch.block] = true;
    const std::vector<bool> a = detail::reached(flow.graph, next[0], stop);
    const std::vector<bool> b = detail::reached(flow.graph, next[1], stop);
    fork.sides[0].resize(a.size());
    fork.sides[1].resize(a.size());
    for (std::size_t k = 0; k < a.size(); ++k) {
      fork.sides[0][k] = a[k] && !b[k];
      fork.sides[1][k] = b[k] && !a[k];
    }
    out.push_back(std::move(fork));
  }
  return out;
}

// The registers of neighbouring work-items. What is written on both sides of a branch that parts
// them differs too.
inline Values over_items(const Flow& flow, const std::vector<Fork>& forks) {
  std::map<std::string, std::set<std::size_t>> readers;  // blocks
  for (const detail::Operation& one : flow.operations) {
    for (const std::string& name : one.from) readers[name].insert(one.block);
    if (!one.address.empty()) readers[one.address].insert(one.block);
  }
  const auto part = [&](Values& values) {
    for (const Fork& fork : forks) {
      if (fork.leaves_loop) continue;
      const Value predicate = detail::value_of(flow.operations[fork.operation].guard, values);
      if (predicate.is_uniform()) continue;
      for (const auto& entry : flow.writers) {
        const std::string& name = entry.first;
        const std::vector<std::size_t>& writers = entry.second;
        if (writers.size() < 2) continue;
        Value& value = values[name];
        if (value.spread == Spread::none || value.spread == Spread::irregular) continue;
        if (value.is_position() && predicate.is_border) continue;
        const auto same = [&](std::size_t operation) {
          const detail::Operation& a = flow.operations[operation];
          const detail::Operation& b = flow.operations[writers.front()];
          return a.name == b.name && a.modifiers == b.modifiers && a.from == b.from &&
                 a.address == b.address && a.offset == b.offset && a.name != "ld";
        };
        if (std::all_of(writers.begin(), writers.end(), same)) continue;
        for (const std::vector<bool>& side : fork.sides) {
          const auto inside = [&](std::size_t operation) {
            return side[flow.operations[operation].block];
          };
          const auto count = std::count_if(writers.begin(), writers.end(), inside);
          if (count == 0 || count == static_cast<long>(writers.size())) continue;
          const std::set<std::size_t>& blocks = readers[name];
          if (std::all_of(blocks.begin(), blocks.end(), [&](std::size_t b) { return side[b]; }))
            continue;
          value.spread = predicate.is_border ? Spread::linear : Spread::irregular;
          value.stride = 0;
          value.bends = predicate.is_border;
          value.is_number = false;
          value.from |= predicate.from;
        }
      }
    }
  };
  // Once, and again with what the branches part held fixed, until they part nothing more.
  Values fixed;
  for (;;) {
    Values values = evaluate(flow, fixed);
    const Values before = values;
    part(values);
    const std::size_t known = fixed.size();
    for (const auto& [name, value] : values) {
      if (!(before.at(name) == value)) fixed[name] = value;
    }
    if (fixed.size() == known) return values;
  }
}

// The registers from one trip of a loop to the next: what the loop does not write is uniform.
inline Values over_trips(const Flow& flow, const isa::detail::NaturalLoop& loop,
                         const Values& items) {
  Values fixed;
  const auto inside = [&](std::size_t operation) {
    return loop.blocks.count(flow.operations[operation].block) > 0;
  };
  // The number that an operation of the loop adds to the register, through copies.
  const auto step = [&](const std::string& name, std::size_t writer, Value& by) {
    const detail::Operation* one = &flow.operations[writer];
    for (int hops = 0; hops < 4 && one->name == "mov" && one->from.size() == 1; ++hops) {
      const auto found = flow.writers.find(one->from[0]);
      if (found == flow.writers.end() || found->second.size() != 1) return false;
      one = &flow.operations[found->second[0]];
    }
    if ((one->name != "add" && one->name != "sub") || one->from.size() != 2) return false;
    const bool first = one->from[0] == name;
    if (!first && (one->from[1] != name || one->name == "sub")) return false;
    by = detail::value_of(one->from[first ? 1 : 0], items);
    if (one->name == "sub") by.number = detail::times(-1, by.number);
    return true;
  };
  for (const auto& [name, writers] : flow.writers) {
    const auto within = std::count_if(writers.begin(), writers.end(), inside);
    Value value;
    value.spread = Spread::uniform;
    if (within == 0) {
      const auto found = items.find(name);
      if (found != items.end()) value = found->second;
      value.spread = Spread::uniform;
      value.stride = 0;
      fixed[name] = value;
      continue;
    }
    const bool carried = within < static_cast<long>(writers.size());
    if (!carried) continue;  // computed anew in each trip
    value.spread = Spread::irregular;
    Value by;
    for (const std::size_t writer : writers) {
      if (!inside(writer) || !step(name, writer, by)) continue;
      value.spread = by.is_number ? Spread::linear : Spread::scaled;
      value.stride = by.is_number ? by.number : 0;
      value.from = by.from;
    }
    if (within > 1) value.spread = Spread::irregular;
    fixed[name] = value;
  }
  return evaluate(flow, fixed);
}

}  // namespace clcook::advise
