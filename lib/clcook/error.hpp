// The one exception type of clcook: a code that callers branch on and a message that names the rule
// and the values. The standard library only, so that every room can throw it.
//
//   try {
//     clcook::fail(clcook::Errc::unsupported, "MyOperation", "the device has no images");
//   } catch (const clcook::Error& error) {
//     if (error.code != clcook::Errc::unsupported) throw;
//     std::puts(error.what());  // MyOperation: the device has no images
//   }
#pragma once

#include <clcook/version.hpp>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
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

// What an unsupported request would need, for programs.
enum class Lacks {
  nothing,         // of every error that is not Errc::unsupported
  feature,         // the device is of another kind, or has no such images, sub-groups, queues
  implementation,  // the feature is there and does not work: docs/driver_bugs.md
  work_group,      // the device's work-groups are smaller
  local_memory,    // the device's local memory is smaller
  memory,          // the device's memory or its largest allocation is smaller
  kernel_limit,    // the built kernel's own limit is lower than the device's
  problem,         // the variant does not do problems of this kind
  quality,         // the variant promises less than was asked for
};

// Return the names as written above.
inline const char* to_string(Lacks lacks) {
  constexpr const char* kNames[] = {"nothing",      "feature",      "implementation",
                                    "work_group",   "local_memory", "memory",
                                    "kernel_limit", "problem",      "quality"};
  const auto at = static_cast<std::size_t>(lacks);
  return at < std::size(kNames) ? kNames[at] : "unknown";
}
inline const char* to_string(Errc code) {
  constexpr const char* kNames[] = {"invalid_argument",
                                    "unsupported",
                                    "out_of_resources",
                                    "build_failed",
                                    "no_device",
                                    "io",
                                    "opencl"};
  const auto at = static_cast<std::size_t>(code);
  return at < std::size(kNames) ? kNames[at] : "unknown";
}

// Thrown by every operation, the core, the recipes' cards and io/. The models and the scalar
// references are plain mathematics and throw std::invalid_argument.
struct Error : std::runtime_error {
  Error(Errc error_code, std::string error_where, const std::string& message,
        std::int32_t cl_status = 0, std::string log = {}, Lacks error_lacks = Lacks::nothing)
      : std::runtime_error(error_where + ": " + message + (log.empty() ? "" : "\n" + log)),
        code(error_code),
        lacks(error_lacks),
        status(cl_status),
        where(std::move(error_where)),
        build_log(std::move(log)) {}

  Errc code;
  Lacks lacks;            // for Errc::unsupported
  std::int32_t status;    // the OpenCL status, a cl_int; CL_SUCCESS when none was involved
  std::string where;      // the operation or function that refused
  std::string build_log;  // the compiler's text, for Errc::build_failed
};

// Not inlined: a call of these stands behind every check.
#if defined(__GNUC__)
#define CLCOOK_COLD __attribute__((cold, noinline))
#else
#define CLCOOK_COLD
#endif

[[noreturn]] CLCOOK_COLD inline void fail(Errc code, std::string_view where,
                                          std::string_view message, std::int32_t status = 0,
                                          std::string_view build_log = {}) {
  throw Error(code, std::string(where), std::string(message), status, std::string(build_log));
}

// Throws Error(unsupported).
[[noreturn]] CLCOOK_COLD inline void unsupported(Lacks lacks, std::string_view where,
                                                 std::string_view message,
                                                 std::int32_t status = 0) {
  throw Error(Errc::unsupported, std::string(where), std::string(message), status, {}, lacks);
}

}  // namespace clcook
