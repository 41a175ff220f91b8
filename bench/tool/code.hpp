// The text of kernels as far as what runs depends on it.
#pragma once

#include <string>

namespace clcook::tool {

// A source without comments, blank lines and the places of its lines: what its machine code depends on.
std::string code_of(const std::string& source);

// The same with blanks only where words or signs would run together, and with directives alone on their
// lines: another layout gives the same text.
std::string code_without_layout(const std::string& source);

}  // namespace clcook::tool
