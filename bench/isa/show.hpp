// Annotated assembly of one kernel, and two kernels side by side.
#pragma once

#include <string>

#include "isa/tools.hpp"

namespace clcook::isa {

// The assembly with the class of each instruction, and the source lines that it comes from where
// the compiler says so.
std::string show(const Job& job, const Toolchain& tools, const DiskCache& cache);

// Two kernels, aligned by their instructions' mnemonics, `width` columns wide.
std::string diff(const Job& left, const Job& right, const Toolchain& tools, const DiskCache& cache,
                 std::size_t width);

}  // namespace clcook::isa
