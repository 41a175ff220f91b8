// What the stub's compiler knows of a program: its kernels and their parameters.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace stub {

struct Parameter {
  enum class Kind { memory, local, image, buffer_image, value };
  Kind kind = Kind::value;
  std::size_t bytes = 0;  // of a value; 0: a struct, or another type that is not known
  std::string text;       // as it was declared
};

struct KernelText {
  std::vector<Parameter> parameters;
  std::array<std::size_t, 3> required{0, 0, 0};  // reqd_work_group_size; 0: none
};

// Why a program does not build.
struct BuildError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Runs the preprocessor over an OpenCL C text with the -D options, and finds the kernels. Bodies are
// not looked at. Throws BuildError for an #error, an #include and what is no directive.
std::map<std::string, KernelText> find_kernels(const std::string& source,
                                               const std::string& options);

}  // namespace stub
