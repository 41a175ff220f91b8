// What a kernel declares of its arguments.
#pragma once

#include <string>
#include <vector>

#include <clcook/core/runtime.hpp>

namespace clcook::tool::described {

struct Declared {
  enum class Kind { buffer, image, scalar, local };
  Kind kind = Kind::scalar;
  std::string type;  // without the star: "float4"
  std::string name;
  bool is_const = false;  // nothing is written through it
};

// "a buffer", "an image", ...
const char* to_string(Declared::Kind kind);

// The arguments of a kernel, whose program was built with -cl-kernel-arg-info. False where the
// implementation does not tell.
bool signature_of(const cl::Kernel& kernel, std::vector<Declared>& arguments);

// The number of its arguments, which every implementation tells.
cl_uint arguments_of(const cl::Kernel& kernel);

// The names of the kernels in a program.
std::vector<std::string> kernels_of(const cl::Program& program);

}  // namespace clcook::tool::described
