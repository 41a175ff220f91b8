// A reference in C: a function of a shared library, called in a child process.
//
//   int NAME(void* const* arguments, const size_t* bytes);
//
// has the description's arguments in their order: memory of buffers and images, the value of a
// scalar, null for local memory. It reads what is filled, writes what is compared, and returns 0.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "try/description.hpp"

namespace clcook::tool::described {

using Bytes = std::vector<unsigned char>;

// Calls the reference with these contents and returns them as it left them. Throws
// Error(invalid_argument) with the place of the library where it cannot be loaded, has no such
// function, crashes, does not return in time, returns another number than 0, or writes outside its
// arguments.
std::vector<Bytes> call_reference(const Description& about, std::vector<Bytes> contents);

}  // namespace clcook::tool::described
