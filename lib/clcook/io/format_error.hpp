// The error of every reader and writer of files in this folder.
#pragma once

#include <clcook/error.hpp>
#include <string>

namespace clcook::io {

// Error with Errc::io, thrown when a file is not what it says it is, or cannot be written as asked.
// The message names the field, its value and the rule.
struct FormatError : Error {
  FormatError(const std::string& format, const std::string& message)
      : Error(Errc::io, format, message) {}
};

}  // namespace clcook::io
