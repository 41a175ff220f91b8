// What a device does per microsecond, measured on it: the unit of the factors that `clcook tune` writes.
#pragma once

#include <clcook/core/rates.hpp>

namespace clcook::tool {

// Takes some 20 ms, and the time of one small build: copies in global memory, multiply-adds, empty
// kernels, each the best of three. On a queue of its own. Throws Error where the device cannot do that.
Rates measure_rates(const Runtime& runtime);

}  // namespace clcook::tool
