// What compilers say about a kernel beside its instructions: registers, memory, spills, size. std
// only.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>

#include "isa/listing.hpp"

namespace clcook::isa {

namespace detail {

// The number behind `key` in the text, -1 without one.
inline long number_after(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return -1;
  std::string_view rest = text.substr(at + key.size());
  while (!rest.empty() && is_space(rest.front())) rest.remove_prefix(1);
  if (rest.empty() || !is_digit(rest.front())) return -1;
  return static_cast<long>(to_unsigned(rest));
}

// The number that stands before `key`, -1 without one.
inline long number_before(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return -1;
  std::size_t end = at;
  while (end > 0 && is_space(text[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && is_digit(text[begin - 1])) --begin;
  return begin == end ? -1 : static_cast<long>(to_unsigned(text.substr(begin, end - begin)));
}

}  // namespace detail

// The comments behind a kernel in AMD assembly.
inline void read_amd_comments(std::string_view assembly, const std::string& kernel,
                              Resources& out) {
  std::size_t at = assembly.find("\n" + kernel + ":");
  if (at == std::string_view::npos) return;
  at = assembly.find("; Kernel info:", at);
  if (at == std::string_view::npos) return;
  std::string_view block = assembly.substr(at);
  block = block.substr(0, block.find("; -- Begin function"));
  out.bytes = detail::number_after(block, "codeLenInByte =");
  out.scalar_registers = detail::number_after(block, "; NumSgprs:");
  out.registers = detail::number_after(block, "; TotalNumVgprs:");
  if (out.registers < 0) out.registers = detail::number_after(block, "; NumVgprs:");
  out.scratch = detail::number_after(block, "; ScratchSize:");
  out.local_bytes = detail::number_after(block, "; LDSByteSize:");
  out.occupancy = detail::number_after(block, "; Occupancy:");
}

// The remarks of -Rpass-analysis=kernel-resource-usage.
inline void read_amd_remarks(std::string_view remarks, const std::string& kernel, Resources& out) {
  const std::size_t at = remarks.find("remark: Function Name: " + kernel + " ");
  if (at == std::string_view::npos) return;
  std::string_view block = remarks.substr(at);
  const std::size_t next = block.find("remark: Function Name: ", 1);
  block = block.substr(0, next);
  const long scalar = detail::number_after(block, "SGPRs Spill:");
  const long vector = detail::number_after(block, "VGPRs Spill:");
  if (scalar >= 0 && vector >= 0) out.spills = scalar + vector;
  if (out.local_bytes < 0) out.local_bytes = detail::number_after(block, "LDS Size [bytes/block]:");
  if (out.occupancy < 0) out.occupancy = detail::number_after(block, "Occupancy [waves/SIMD]:");
}

// What `ptxas -v` and the build log of NVIDIA's OpenCL compiler under -cl-nv-verbose say, by
// kernel.
inline std::map<std::string, Resources> read_ptxas_log(std::string_view log) {
  std::map<std::string, Resources> out;
  std::string kernel;
  while (!log.empty()) {
    const std::string_view line = detail::take_line(log);
    for (const std::string_view key : {"Compiling entry function '", "Function properties for "}) {
      const std::size_t at = line.find(key);
      if (at == std::string_view::npos) continue;
      std::string_view name = line.substr(at + key.size());
      if (!name.empty() && name.front() == '\'') name.remove_prefix(1);
      std::size_t end = 0;
      while (end < name.size() && detail::is_word(name[end])) ++end;
      const std::string found(name.substr(0, end));
      // Properties of called functions are no kernel's.
      if (key[0] == 'C') {
        kernel = found;
        out[kernel];
      } else if (found != kernel) {
        kernel.clear();
      }
    }
    if (kernel.empty()) continue;
    Resources& one = out[kernel];
    if (line.find("bytes stack frame") != std::string_view::npos) {
      one.scratch = detail::number_before(line, "bytes stack frame");
      one.spills = detail::number_before(line, "bytes spill stores");
    }
    if (line.find("Used ") != std::string_view::npos &&
        line.find(" registers") != std::string_view::npos) {
      one.registers = detail::number_before(line, "registers");
      const long shared = detail::number_before(line, "bytes smem");
      one.local_bytes = shared < 0 ? 0 : shared;
    }
  }
  return out;
}

// The size of a function in a little-endian 64-bit ELF file, -1 when it is not there. The size of
// an NVIDIA kernel includes its padding to 128 bytes.
inline long elf_function_size(std::string_view file, const std::string& function) {
  const auto read = [&](std::uint64_t at, unsigned bytes) -> std::uint64_t {
    if (at > file.size() || file.size() - at < bytes) return 0;
    std::uint64_t value = 0;
    for (unsigned i = 0; i < bytes; ++i) {
      value |= static_cast<std::uint64_t>(
                   static_cast<unsigned char>(file[static_cast<std::size_t>(at) + i]))
               << (8 * i);
    }
    return value;
  };
  if (file.size() < 64 || file.substr(0, 6) != std::string_view("\177ELF\2\1", 6)) return -1;
  const std::uint64_t sections = read(40, 8);
  const std::uint64_t entry = read(58, 2);
  const std::uint64_t count = read(60, 2);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t header = sections + i * entry;
    if (read(header + 4, 4) != 2) continue;  // SHT_SYMTAB
    const std::uint64_t offset = read(header + 24, 8);
    const std::uint64_t size = read(header + 32, 8);
    const std::uint64_t names = read(sections + read(header + 40, 4) * entry + 24, 8);
    for (std::uint64_t symbol = offset; symbol + 24 <= offset + size && symbol + 24 <= file.size();
         symbol += 24) {
      if ((read(symbol + 4, 1) & 15) != 2) continue;  // STT_FUNC
      const std::uint64_t name = names + read(symbol, 4);
      if (name >= file.size()) continue;
      const std::string_view rest = file.substr(static_cast<std::size_t>(name));
      if (rest.substr(0, rest.find('\0')) == function)
        return static_cast<long>(read(symbol + 16, 8));
    }
  }
  return -1;
}

}  // namespace clcook::isa
