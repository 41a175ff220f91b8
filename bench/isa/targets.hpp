// The machines that `clcook isa` compiles for. std only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clcook::isa {

enum class Vendor { amd, nvidia, x86 };

struct Target {
  std::string name;  // as given with --target
  Vendor vendor = Vendor::amd;
  std::string label;  // the family's name for people
};

inline Vendor vendor_of(std::string_view target) {
  if (target.substr(0, 3) == "sm_") return Vendor::nvidia;
  return target.substr(0, 3) == "gfx" ? Vendor::amd : Vendor::x86;
}

inline const std::vector<std::string>& default_targets() {
  static const std::vector<std::string> names = {"gfx900",  "gfx942", "gfx1030", "gfx1100",
                                                 "gfx1201", "sm_80",  "sm_90",   "x86-64"};
  return names;
}

// The NVIDIA architectures that clang-19 writes PTX for and that still run OpenCL.
inline const std::vector<std::string>& nvidia_targets() {
  static const std::vector<std::string> names = {"sm_50", "sm_52", "sm_60", "sm_61",
                                                 "sm_70", "sm_75", "sm_80", "sm_86",
                                                 "sm_87", "sm_89", "sm_90"};
  return names;
}

// x86-64 is x86-64-v4 (AVX-512); v3 has AVX2.
inline const std::vector<std::string>& x86_targets() {
  static const std::vector<std::string> names = {"x86-64", "x86-64-v3", "x86-64-v4"};
  return names;
}

inline std::string family(std::string_view name) {
  struct Row {
    std::string_view prefix;
    const char* label;
  };
  static const Row rows[] = {
      {"gfx90a", "AMD CDNA 2"},  {"gfx90c", "AMD GCN 5 (Vega)"}, {"gfx908", "AMD CDNA"},
      {"gfx94", "AMD CDNA 3"},   {"gfx90", "AMD GCN 5 (Vega)"},  {"gfx101", "AMD RDNA"},
      {"gfx103", "AMD RDNA 2"},  {"gfx110", "AMD RDNA 3"},       {"gfx115", "AMD RDNA 3.5"},
      {"gfx12", "AMD RDNA 4"},   {"gfx6", "AMD GCN 1"},          {"gfx7", "AMD GCN 2"},
      {"gfx8", "AMD GCN 3"},     {"sm_5", "NVIDIA Maxwell"},     {"sm_6", "NVIDIA Pascal"},
      {"sm_70", "NVIDIA Volta"}, {"sm_75", "NVIDIA Turing"},     {"sm_89", "NVIDIA Ada"},
      {"sm_8", "NVIDIA Ampere"}, {"sm_9", "NVIDIA Hopper"},      {"x86-64-v3", "AVX2"},
      {"x86-64", "AVX-512"},
  };
  for (const Row& row : rows) {
    if (name.substr(0, row.prefix.size()) == row.prefix) return row.label;
  }
  return {};
}

// Work-items of a wave in lock-step: 64 on AMD before RDNA, else 32. Not for x86.
inline unsigned wave_size(const Target& target) {
  return target.vendor == Vendor::amd && target.name.size() == 6 ? 64 : 32;
}

}  // namespace clcook::isa
