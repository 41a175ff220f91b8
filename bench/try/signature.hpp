// What a kernel declares of its arguments.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <clcook/core/plan.hpp>
#include <clcook/core/runtime.hpp>

#include "try/description.hpp"

namespace clcook::tool::described {

struct Declared {
  enum class Kind { buffer, image, scalar, local };
  Kind kind = Kind::scalar;
  std::string type;       // without the star: "float4"
  std::string name;       // may be empty
  bool is_const = false;  // nothing is written through it
};

// "a buffer", "an image", ...
const char* to_string(Declared::Kind kind);

// A program as it is built for a look at its kernels, with -cl-kernel-arg-info.
cl::Program build_to_look(const Runtime& runtime, const CompileUnit& unit, const std::string& what);

// The arguments of `kernel`, of a program of build_to_look(). Where a binary of the cache no longer
// tells, the program is compiled anew. Throws Error(unsupported) where the implementation does not
// tell at all.
std::vector<Declared> signature_of(const Runtime& runtime, const CompileUnit& unit,
                                   const cl::Kernel& kernel);

// What a name of a type stands for in a program.
struct Meaning {
  std::size_t bytes = 0;       // sizeof; 0: not known
  std::optional<Type> number;  // none: a struct, or something else that is no number
};

// Asks the compiler where find_type() does not know the name: a kernel behind the program's text
// says what it is. Waits for that kernel. Throws nothing for a type that cannot be asked for.
Meaning meaning_of(const Runtime& runtime, const CompileUnit& unit, const std::string& type);

// The number of its arguments, which every implementation tells.
cl_uint arguments_of(const cl::Kernel& kernel);

// The names of the kernels in a program.
std::vector<std::string> kernels_of(const cl::Program& program);

}  // namespace clcook::tool::described
