// bench/record: what every variant compiles and enqueues in a few cases on devices of the tests, as text.
// tests/stub_launches.cpp holds it; the tool takes it into the fingerprints of results, see measure/fingerprint.hpp.
#pragma once

#include <algorithm>
#include <clcook/core/params.hpp>
#include <clcook/core/runtime.hpp>
#include <clcook/core/variant.hpp>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace clcook::tool {

struct RecordedCase {
  std::string variant;
  std::string device;  // "gpu" or "cpu"
  Params tune;
  Params shape;
  std::vector<std::string> compiled;  // options_of() each compile unit
  std::vector<std::string>
      enqueued;  // each launch: kernel, sizes, and the arguments that are no buffers

  // "tiled gpu {group=64} {width=3}"
  std::string head() const {
    return variant + " " + device + " {" + tune.str() + "} {" + shape.str() + "}";
  }
};

inline constexpr std::string_view kCompiled = "  compiled ";
inline constexpr std::string_view kEnqueued = "  enqueued ";

// Throws Error(io) for a line that is none of such a file, Error(invalid_argument) for parameters that
// are none.
inline std::vector<RecordedCase> read_record(const std::string& text) {
  std::vector<RecordedCase> out;
  const auto rest_of = [](const std::string& line, std::string_view begin) {
    return line.compare(0, begin.size(), begin) == 0 ? line.substr(begin.size()) : "";
  };
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() == '#') continue;
    if (const std::string rest = rest_of(line, kCompiled); !rest.empty() && !out.empty()) {
      out.back().compiled.push_back(rest);
      continue;
    }
    if (const std::string rest = rest_of(line, kEnqueued); !rest.empty() && !out.empty()) {
      out.back().enqueued.push_back(rest);
      continue;
    }
    const std::size_t device = line.find(' ') + 1;
    const std::size_t tune = line.find(" {") + 2;
    const std::size_t shape = line.find("} {") + 3;
    if (device < 2 || tune == 1 || shape == 2 || tune < device || shape < tune ||
        line.back() != '}')
      fail(Errc::io, "bench/record", "malformed: '" + line + "'");
    out.push_back({line.substr(0, device - 1),
                   line.substr(device, tune - 2 - device),
                   Params::parse(line.substr(tune, shape - 3 - tune)),
                   Params::parse(line.substr(shape, line.size() - 1 - shape)),
                   {},
                   {}});
  }
  return out;
}

inline std::string write_record(const std::string& recipe, const std::vector<RecordedCase>& cases) {
  std::string out = "# What the variants of " + recipe +
                    " compile and enqueue on devices of the tests: a case, the compile units, the "
                    "launches.\n# Renewed by ./cook record; see tests/stub_launches.cpp.\n";
  for (const RecordedCase& one : cases) {
    out += one.head() + "\n";
    for (const std::string& line : one.compiled) out += std::string(kCompiled) + line + "\n";
    for (const std::string& line : one.enqueued) out += std::string(kEnqueued) + line + "\n";
  }
  return out;
}

// What the compiler and the launch of a unit are given beside its text: kernel, options of a device,
// group and bytes of local memory. Floating-point numbers have four digits, as many as C libraries agree
// in.
inline std::string options_of(const CompileUnit& unit, const DeviceInfo& device) {
  const std::string options = Runtime::build_options(device, unit.defines, unit.options);
  std::string out = unit.kernel + " " + text(unit.group[0], "x", unit.group[1], "x", unit.group[2]);
  if (unit.local_bytes != 0) out += text(" local:", unit.local_bytes);
  out += " ";
  for (std::size_t at = 0; at < options.size();) {
    const std::size_t number = std::min(options.find("0x", at), options.size());
    out += options.substr(at, number - at);
    at = number;
    if (at == options.size()) break;
    char* end = nullptr;
    const double value = std::strtod(&options[at], &end);
    const std::size_t next = static_cast<std::size_t>(end - options.data());
    const bool real = options.substr(at, next - at).find('p') != std::string::npos;
    if (real) {
      char digits[32];
      std::snprintf(digits, sizeof digits, "%.4g", value);
      out += digits;
    } else {
      out += options.substr(at, next - at);
    }
    at = next;
  }
  return out;
}

}  // namespace clcook::tool
