// Runs a recorded call through NVIDIA's CUDA driver, which its profiler can look into.
#pragma once

#include <filesystem>
#include <string>

namespace clcook::counters {

// Runs the launches recorded in the folder one after the other, each from the contents that OpenCL
// had before it, and compares what they leave, bit for bit, with what OpenCL had after it. Returns
// what went wrong: empty where nothing did. Needs libcuda.so.1, which comes with NVIDIA's driver.
std::string replay(const std::filesystem::path& folder);

// Whether the CUDA driver is there; else why not.
std::string lack_of_cuda();

}  // namespace clcook::counters
