// The definitions of clcook/core/plan.hpp.
#pragma once

#include <algorithm>
#include <clcook/core/plan.hpp>
#include <cstdint>
#include <string>
#include <utility>

namespace clcook {

CLCOOK_INLINE void check_memory(const Runtime& runtime, double bytes, const char* where) {
  const DeviceInfo& info = runtime.info();
  const cl_ulong most = std::max(info.global_mem, info.max_allocation);
  if (most == 0 || bytes / 2 <= static_cast<double>(most)) return;
  fail(Errc::out_of_resources, where,
       text("inputs and outputs of ", static_cast<std::uint64_t>(bytes),
            " bytes exceed the device's memory of ", most, " bytes"));
}

CLCOOK_INLINE cl::Program UnitPrograms::get(const Runtime& runtime, const CompileUnit& unit,
                                            const std::string& what) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::string wanted = key(unit);
  auto one = std::find_if(built_.begin(), built_.end(),
                          [&](const Built& other) { return other.key == wanted; });
  if (one == built_.end()) {
    cl::Program program = runtime.build(unit.source, unit.defines, what, unit.options);
    one = built_.insert(one, {wanted, std::move(program), {}});
  }
  const Asked asked{unit.kernel, unit.group, unit.local_bytes};
  if (unit.group[0] != 0 &&
      std::find(one->asked.begin(), one->asked.end(), asked) == one->asked.end()) {
    Kernel(runtime, one->program, unit.kernel)
        .check_launch(Launch::groups({1, 1, 1}, unit.group), unit.local_bytes);
    one->asked.push_back(asked);
  }
  return one->program;
}

CLCOOK_INLINE bool UnitPrograms::has(const CompileUnit& unit) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::string wanted = key(unit);
  return std::any_of(built_.begin(), built_.end(),
                     [&](const Built& one) { return one.key == wanted; });
}

CLCOOK_INLINE std::string UnitPrograms::key(const CompileUnit& unit) {
  return unit.source.name() + "\n" + unit.defines.options() + "\n" + unit.options;
}

}  // namespace clcook
