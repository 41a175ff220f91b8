// What to compile for `clcook isa` and `clcook occupancy`, and asking a live driver.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <clcook/core/cache.hpp>
#include <clcook/core/runtime.hpp>
#include <clcook/registry/recipe.hpp>

#include "isa/tools.hpp"

namespace clcook::isa {

// Where compilations are remembered.
DiskCache isa_cache();

// The kernels of one variant with one tuning, for the recipe's first bench shape, without a target.
std::vector<Job> jobs_of(const Recipe& recipe, const VariantInfo& variant, const Params& tune,
                         bool name_tune);

// What the driver's compiler says about a kernel.
struct Live {
  std::string name;
  std::string problem;
  Resources resources;
};

struct LiveDevice {
  DeviceInfo info;
  std::string arch;  // "sm_90"
  std::vector<Live> rows;
};

// The kernels as the driver of an NVIDIA GPU builds them: of the device `spec`, or of the one that
// CLCOOK_DEVICE names. No value when that is no such GPU; where it is `required`, an Error on
// behalf of `who`.
std::optional<LiveDevice> ask_driver(const std::string& spec, bool required, const std::string& who,
                                     const std::vector<Job>& jobs);

}  // namespace clcook::isa
