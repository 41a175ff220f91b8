// The beginning of a description, from what kernels declare.
#pragma once

#include <string>

#include <clcook/core/runtime.hpp>

namespace clcook::tool::described {

// The text of a description of the kernels in a file that have the same arguments as its first; the
// others are named in it. Its sizes and fills are guesses: `n` elements, or width x height where the
// kernels speak of these. `to` is where it will lie, `name` what it is called, where that is not
// name_of_file(to). What a description cannot give, such as a struct by value, is written as it is
// declared, which is refused with the line. Throws Error where the file does not build, has no
// kernel, or the implementation does not say what kernels declare.
std::string new_description(const Runtime& runtime, const std::string& file,
                            const std::string& options, const std::string& to,
                            const std::string& name = {});

}  // namespace clcook::tool::described
