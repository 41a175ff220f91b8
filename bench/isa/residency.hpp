// What a kernel's registers and local memory allow: how many groups are resident, what limits them,
// and the next step.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include <clcook/model/occupancy.hpp>

#include "isa/tools.hpp"

namespace clcook::isa {

// The limits that more waves would need to get past: "registers and local memory".
inline std::string limits_of(const model::Occupancy& now) {
  std::string out;
  for (int i = 0; i < model::kLimiters; ++i) {
    const auto one = static_cast<model::Limiter>(i);
    if (now.waves == now.max_waves || !now.limited_by(one)) continue;
    out += (out.empty() ? "" : " and ") + std::string(to_string(one));
  }
  return out;
}

// The group size that a kernel is asked about where neither it nor the user says one.
constexpr int kAnyGroup = 256;

// A line or two for the tables of `clcook isa`; empty where the target has no model or the
// registers are not known.
inline std::string residency(const Measured& kernel) {
  const model::GpuArch* arch = nullptr;
  for (const model::GpuArch& one : model::detail::kArchs) {
    if (one.name == kernel.job.target.name) arch = &one;
  }
  if (arch == nullptr || kernel.resources.registers < 0) return "";
  model::KernelNeeds needs;
  needs.registers = static_cast<int>(kernel.resources.registers);
  needs.scalar_registers = arch->vendor == model::GpuVendor::amd
                               ? static_cast<int>(std::max(0L, kernel.resources.scalar_registers))
                               : 0;
  needs.local_bytes = std::max(0L, kernel.resources.local_bytes);
  needs.group_size = kernel.job.group > 0 ? static_cast<int>(kernel.job.group) : kAnyGroup;
  try {
    const model::Occupancy now = model::occupancy(*arch, needs);
    const std::string limits = limits_of(now);
    std::string out = fmt::format("      groups of {}: {} of {} waves per {}", needs.group_size,
                                  now.waves, now.max_waves, arch->unit);
    out += limits.empty() ? "\n" : ", limited by " + limits + "\n";
    const model::OccupancyStep step = model::next_step(*arch, needs);
    if (step.possible) out += "      next step: " + model::describe(needs, now, step) + "\n";
    return out;
  } catch (const std::invalid_argument& error) {
    return fmt::format("      groups of {}: {}\n", needs.group_size, error.what());
  }
}

}  // namespace clcook::isa
