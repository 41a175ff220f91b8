// The one exception type of clcook: a code that callers branch on and a message that names the rule
// and the values. The standard library only, so that every room can throw it.
#pragma once

#include <clcook/version.hpp>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace clcook {

// What went wrong, for programs. The message of an Error is for people; nobody should match on it.
enum class Errc {
  invalid_argument,  // the caller broke a documented rule; nothing was enqueued
  unsupported,       // a correct request that this device, driver or variant cannot serve
  out_of_resources,  // the device or host ran out of memory or of another resource
  build_failed,      // a kernel did not compile; Error::build_log holds the compiler's text
  no_device,         // no OpenCL device matches the request
  io,                // a file could not be read or written, or its content is broken
  opencl,            // any other OpenCL error code; see Error::status
};

// Returns the name of the code as written above.
inline const char* to_string(Errc code) {
  switch (code) {
    case Errc::invalid_argument:
      return "invalid_argument";
    case Errc::unsupported:
      return "unsupported";
    case Errc::out_of_resources:
      return "out_of_resources";
    case Errc::build_failed:
      return "build_failed";
    case Errc::no_device:
      return "no_device";
    case Errc::io:
      return "io";
    case Errc::opencl:
      return "opencl";
  }
  return "unknown";
}

// Thrown by every operation, the core, the recipes' cards and io/. The models and the scalar
// references are plain mathematics and throw std::invalid_argument.
struct Error : std::runtime_error {
  Error(Errc error_code, std::string error_where, const std::string& message,
        std::int32_t cl_status = 0, std::string log = {})
      : std::runtime_error(error_where + ": " + message + (log.empty() ? "" : "\n" + log)),
        code(error_code),
        status(cl_status),
        where(std::move(error_where)),
        build_log(std::move(log)) {}

  Errc code;
  std::int32_t status;    // the OpenCL status, a cl_int; CL_SUCCESS when none was involved
  std::string where;      // the operation or function that refused
  std::string build_log;  // the compiler's text, for Errc::build_failed
};

[[noreturn]] inline void fail(Errc code, std::string where, const std::string& message,
                              std::int32_t status = 0, std::string build_log = {}) {
  throw Error(code, std::move(where), message, status, std::move(build_log));
}

}  // namespace clcook
