// What a kernel's registers and local memory allow: how many groups are resident, what limits them,
// and the next step.
#pragma once

#include <algorithm>
#include <optional>
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

// How much of a machine a kernel gets.
struct Held {
  const model::GpuArch* arch = nullptr;
  model::KernelNeeds needs;
  model::Occupancy now;
  model::OccupancyStep step;
};

// What a compiled kernel asks for; no value where the target has no model, the registers are not
// known, or calls remain, without whose functions they mean nothing.
inline std::optional<Held> needs_of(const Measured& kernel) {
  Held out;
  for (const model::GpuArch& one : model::detail::kArchs) {
    if (one.name == kernel.job.target.name) out.arch = &one;
  }
  if (out.arch == nullptr || kernel.resources.registers < 0 || !kernel.counts.calls.empty())
    return std::nullopt;
  out.needs.registers = static_cast<int>(kernel.resources.registers);
  out.needs.scalar_registers =
      out.arch->vendor == model::GpuVendor::amd
          ? static_cast<int>(std::max(0L, kernel.resources.scalar_registers))
          : 0;
  out.needs.local_bytes = std::max(0L, kernel.resources.local_bytes);
  out.needs.group_size = kernel.job.group > 0 ? static_cast<int>(kernel.job.group) : kAnyGroup;
  return out;
}

// The same with what it gets. Throws std::invalid_argument where no group fits.
inline std::optional<Held> held(const Measured& kernel) {
  std::optional<Held> out = needs_of(kernel);
  if (!out) return out;
  out->now = model::occupancy(*out->arch, out->needs);
  out->step = model::next_step(*out->arch, out->needs);
  return out;
}

// A line or two for the tables of `clcook isa`; empty where held() has no value.
inline std::string residency(const Measured& kernel) {
  try {
    const std::optional<Held> all = held(kernel);
    if (!all) return "";
    const std::string limits = limits_of(all->now);
    std::string out =
        fmt::format("      groups of {}: {} of {} waves per {}", all->needs.group_size,
                    all->now.waves, all->now.max_waves, all->arch->unit);
    out += limits.empty() ? "\n" : ", limited by " + limits + "\n";
    if (all->step.possible) {
      out += "      next step: " + model::describe(all->needs, all->now, all->step) + "\n";
    }
    return out;
  } catch (const std::invalid_argument& error) {
    return fmt::format("      groups of {}: {}\n", needs_of(kernel)->needs.group_size,
                       error.what());
  }
}

}  // namespace clcook::isa
