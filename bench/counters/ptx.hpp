// NVIDIA's OpenCL programs are PTX, and so are CUDA's: what has to be changed in the one to be the
// other.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace clcook::counters {

// A parameter of a kernel as PTX declares it.
struct PtxParameter {
  std::string name;
  std::size_t bytes = 0;
  std::string space;      // of a pointer: "global", "const" or "shared"; of a value empty
  std::size_t align = 1;  // of what a pointer points to
};

// What a parameter is set to, where the rewritten text depends on it.
struct PtxNeed {
  std::size_t bytes = 0;  // of the local memory, or of the buffer from its argument's first byte on
  bool local = false;     // local memory
};

// A kernel that the CUDA driver runs as OpenCL would.
struct CudaKernel {
  std::string text;
  std::vector<PtxParameter> parameters;
  // Dynamic shared memory of the launch.
  std::size_t shared_bytes = 0;
  // Where the content of a parameter in constant memory goes: bytes from the symbol kConstants;
  // for the other parameters 0.
  std::vector<std::size_t> constants;
};

inline constexpr const char* kConstants = "clcook_constants";

// The parameters of a kernel. Throws Error(unsupported) where there is no such kernel in the text
// or where it takes images.
std::vector<PtxParameter> ptx_parameters(const std::string& ptx, const std::string& kernel);

// Changes the text of a program:
// - the trailing zero byte goes;
// - its other kernels go;
// - %envreg<n>, in which OpenCL has the offsets of a launch, becomes 0, or, where it is the number of
//   groups, %nctaid;
// - a pointer to local memory becomes an address in dynamic shared memory, one to constant memory an
//   address in an array of ours, each where the kernel loads the parameter, which is declared as a
//   plain number;
// - local variables of more than 48 KiB, which CUDA does not allow, move to dynamic shared memory.
// Throws Error(unsupported) that names what it cannot change.
CudaKernel cuda_kernel(const std::string& ptx, const std::string& kernel,
                       const std::vector<PtxNeed>& needs);

}  // namespace clcook::counters
