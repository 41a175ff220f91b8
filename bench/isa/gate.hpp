// The committed counts, and what changed against them.
#pragma once

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <clcook/core/error.hpp>

namespace clcook::isa {

// One kernel on one target. -1: not known there.
struct GateRow {
  long instructions = -1;
  long branches = -1;
  long registers = -1;
  long scalar_registers = -1;
  long spills = -1;
  long scratch = -1;
  long bytes = -1;
  std::string key = "";  // job_key of what was compiled; empty: not recorded
};

struct GateField {
  const char* name;
  long GateRow::*value;
  bool fails;      // more of it fails the gate
  bool assembler;  // on NVIDIA it comes from ptxas
};
inline constexpr std::array<GateField, 7> kGateFields = {
    {{"instructions", &GateRow::instructions, false, false},
     {"branches", &GateRow::branches, true, false},
     {"registers", &GateRow::registers, true, true},
     {"scalar_registers", &GateRow::scalar_registers, true, true},
     {"spills", &GateRow::spills, true, true},
     {"scratch", &GateRow::scratch, true, true},
     {"bytes", &GateRow::bytes, true, true}}};

struct Gate {
  std::string clang;  // version number
  std::string ptxas;  // version number, empty: recorded without
  // Hash of libclc's bitcode by target, as keys have it: each distribution builds its own from the same
  // version, and keys of kernels that did not change must not change with it.
  std::map<std::string, std::string> libraries;
  std::map<std::string, std::map<std::string, GateRow>> rows;  // by kernel, by target
};

constexpr int kGateFormat = 1;

// One line per kernel and target, so that a change reads well in a diff.
inline std::string write_gate(const Gate& gate) {
  using nlohmann::json;
  std::string out = "{\n \"format\": " + std::to_string(kGateFormat) +
                    ",\n \"clang\": " + json(gate.clang).dump() +
                    ",\n \"ptxas\": " + json(gate.ptxas).dump() +
                    ",\n \"libraries\": " + json(gate.libraries).dump() + ",\n \"kernels\": {";
  bool first_kernel = true;
  for (const auto& [kernel, targets] : gate.rows) {
    out += std::string(first_kernel ? "" : ",") + "\n  " + json(kernel).dump() + ": {";
    first_kernel = false;
    bool first_target = true;
    for (const auto& [target, row] : targets) {
      out += std::string(first_target ? "" : ",") + "\n   " + json(target).dump() + ": {";
      first_target = false;
      bool first_field = true;
      for (const GateField& field : kGateFields) {
        if (row.*field.value < 0) continue;
        out += std::string(first_field ? "" : ", ") + "\"" + field.name +
               "\": " + std::to_string(row.*field.value);
        first_field = false;
      }
      if (!row.key.empty()) out += ", \"key\": " + json(row.key).dump();
      out += "}";
    }
    out += "\n  }";
  }
  return out + "\n }\n}\n";
}

// Throws Error(io) that names the file for anything that is not a gate.
inline Gate read_gate(const std::string& content, const std::string& path) {
  using nlohmann::json;
  const std::string advice = "; restore it, or record it again with: clcook isa --update-gate";
  try {
    const json all = json::parse(content);
    if (all.at("format").get<int>() != kGateFormat) {
      fail(Errc::io, path,
           "the gate has format " + all.at("format").dump() + ", this program reads " +
               std::to_string(kGateFormat) + advice);
    }
    Gate gate;
    gate.clang = all.at("clang").get<std::string>();
    gate.ptxas = all.at("ptxas").get<std::string>();
    gate.libraries = all.value("libraries", gate.libraries);
    for (const auto& [kernel, targets] : all.at("kernels").items()) {
      for (const auto& [target, fields] : targets.items()) {
        GateRow row;
        for (const GateField& field : kGateFields) row.*field.value = fields.value(field.name, -1L);
        row.key = fields.value("key", "");
        gate.rows[kernel][target] = row;
      }
    }
    return gate;
  } catch (const json::exception& error) {
    fail(Errc::io, path, std::string("not a gate file (") + error.what() + ")" + advice);
  }
}

struct GateResult {
  std::vector<std::string> failures;
  std::vector<std::string> notes;
};

// Compares what was measured now with the gate. `whole`: everything was measured, so what the gate
// has beyond it is gone.
inline GateResult compare_gate(const Gate& gate, const Gate& now, bool whole) {
  GateResult out;
  const bool assembler = gate.ptxas == now.ptxas;
  bool skipped = false;
  for (const auto& [kernel, targets] : now.rows) {
    for (const auto& [target, row] : targets) {
      const std::string name = kernel + " " + target;
      const auto known_kernel = gate.rows.find(kernel);
      const bool known = known_kernel != gate.rows.end() && known_kernel->second.count(target) > 0;
      if (!known) {
        out.failures.push_back(name + ": not in the gate");
        continue;
      }
      const GateRow& old = known_kernel->second.at(target);
      std::string more;
      std::string less;
      for (const GateField& field : kGateFields) {
        if (field.assembler && !assembler && target.substr(0, 3) == "sm_") {
          skipped = true;
          continue;
        }
        const long before = old.*field.value;
        const long after = row.*field.value;
        if (before == after) continue;
        const bool worse = field.fails && after > before;
        std::string& list = worse ? more : less;
        list += std::string(list.empty() ? "" : ", ") + field.name + " " +
                (before < 0 ? "unknown" : std::to_string(before)) + " -> " +
                (after < 0 ? "unknown" : std::to_string(after));
      }
      if (!more.empty())
        out.failures.push_back(name + ": " + more + (less.empty() ? "" : " (also " + less + ")"));
      if (more.empty() && !less.empty()) out.notes.push_back(name + ": " + less);
    }
  }
  if (skipped) {
    out.notes.push_back(
        "registers, spills and bytes of sm_* were not compared: the gate was recorded with ptxas " +
        (gate.ptxas.empty() ? std::string("absent") : gate.ptxas) + ", here it is " +
        (now.ptxas.empty() ? std::string("absent") : now.ptxas));
  }
  if (whole) {
    for (const auto& [kernel, targets] : gate.rows) {
      for (const auto& [target, row] : targets) {
        const auto found = now.rows.find(kernel);
        if (found == now.rows.end() || found->second.count(target) == 0) {
          out.notes.push_back(kernel + " " + target +
                              ": in the gate, but there is no such kernel any more");
        }
      }
    }
  }
  return out;
}

}  // namespace clcook::isa
