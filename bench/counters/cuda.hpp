// Runs recorded calls through NVIDIA's CUDA driver, which its profiler can look into.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace clcook::counters {

// Runs calls that were recorded in a folder, one after the other, each from the contents that OpenCL
// had before it, and compares what it leaves, bit for bit, with what OpenCL had after it. Leaves
// FOLDER/NAME.verdict for each: empty where all is alike, else what is not. After a kernel that the
// driver ended there are no more verdicts. Of the launches, those of worth_profiling() are shown to
// the profiler. Needs libcuda.so.1, which comes with NVIDIA's driver.
void replay(const std::filesystem::path& folder, const std::vector<std::string>& names);

// Why the CUDA driver cannot be used: empty where it is there.
std::string lack_of_cuda();

}  // namespace clcook::counters
