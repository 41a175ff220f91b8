// The error of every reader and writer of files in this folder.
#pragma once

#include <stdexcept>
#include <string>

namespace clcook::io {

// Thrown when a file is not what it says it is, or cannot be written as asked. The message names
// the field, its value and the rule.
struct FormatError : std::runtime_error {
  FormatError(const std::string& format, const std::string& message)
      : std::runtime_error(format + ": " + message) {}
};

}  // namespace clcook::io
