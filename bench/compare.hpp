// Reading result files and comparing two of them.
#pragma once

#include <string>

#include "command.hpp"

namespace clcook::tool {

// Reads a result file of a kind such as "bench". Throws Error(io) when it is missing, truncated, of
// another kind or of another format version.
Json read_result(const std::string& path, const std::string& kind);

// "recipe/variant tune ... (shape) mode" of a row.
std::string row_name(const Json& row);

// Throws Error(invalid_argument) when the result is of another device.
void check_same_device(const Json& result, const Json& device);

// Prints what became slower or faster beyond the noise: where the 95 % interval of the ratio of
// medians leaves out 1. Returns 1 when something became slower, else 0. Throws
// Error(invalid_argument) when the devices differ or no row has the same recipe, variant, tuning
// and shape.
int compare_results(const Json& before, const Json& after);

}  // namespace clcook::tool
