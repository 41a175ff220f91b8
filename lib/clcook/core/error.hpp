// Errors: one exception type with a code that callers branch on and a message that names the rule
// and the values.
#pragma once

#include <clcook/core/opencl.hpp>
#include <cstddef>
#include <locale>
#include <sstream>
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

// Thrown by everything in clcook.
struct Error : std::runtime_error {
  Error(Errc error_code, std::string error_where, const std::string& message,
        cl_int cl_status = CL_SUCCESS, std::string log = {})
      : std::runtime_error(error_where + ": " + message + (log.empty() ? "" : "\n" + log)),
        code(error_code),
        status(cl_status),
        where(std::move(error_where)),
        build_log(std::move(log)) {}

  Errc code;
  cl_int status;          // the OpenCL status, CL_SUCCESS when none was involved
  std::string where;      // the operation or function that refused
  std::string build_log;  // the compiler's text, for Errc::build_failed
};

// Concatenates strings and numbers, whatever the locale; nine significant digits tell any two
// floats apart.
template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out.precision(9);
  (out << ... << parts);
  return out.str();
}

[[noreturn]] inline void fail(Errc code, std::string where, const std::string& message,
                              cl_int status = CL_SUCCESS, std::string build_log = {}) {
  throw Error(code, std::move(where), message, status, std::move(build_log));
}

// Returns the OpenCL constant's name of a status code, or its number.
inline std::string status_name(cl_int status) {
  switch (status) {
#define CLCOOK_STATUS(name) \
  case name:                \
    return #name
    CLCOOK_STATUS(CL_SUCCESS);
    CLCOOK_STATUS(CL_DEVICE_NOT_FOUND);
    CLCOOK_STATUS(CL_DEVICE_NOT_AVAILABLE);
    CLCOOK_STATUS(CL_COMPILER_NOT_AVAILABLE);
    CLCOOK_STATUS(CL_MEM_OBJECT_ALLOCATION_FAILURE);
    CLCOOK_STATUS(CL_OUT_OF_RESOURCES);
    CLCOOK_STATUS(CL_OUT_OF_HOST_MEMORY);
    CLCOOK_STATUS(CL_PROFILING_INFO_NOT_AVAILABLE);
    CLCOOK_STATUS(CL_MEM_COPY_OVERLAP);
    CLCOOK_STATUS(CL_IMAGE_FORMAT_MISMATCH);
    CLCOOK_STATUS(CL_IMAGE_FORMAT_NOT_SUPPORTED);
    CLCOOK_STATUS(CL_BUILD_PROGRAM_FAILURE);
    CLCOOK_STATUS(CL_MAP_FAILURE);
    CLCOOK_STATUS(CL_MISALIGNED_SUB_BUFFER_OFFSET);
    CLCOOK_STATUS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    CLCOOK_STATUS(CL_COMPILE_PROGRAM_FAILURE);
    CLCOOK_STATUS(CL_LINKER_NOT_AVAILABLE);
    CLCOOK_STATUS(CL_LINK_PROGRAM_FAILURE);
    CLCOOK_STATUS(CL_INVALID_VALUE);
    CLCOOK_STATUS(CL_INVALID_DEVICE_TYPE);
    CLCOOK_STATUS(CL_INVALID_PLATFORM);
    CLCOOK_STATUS(CL_INVALID_DEVICE);
    CLCOOK_STATUS(CL_INVALID_CONTEXT);
    CLCOOK_STATUS(CL_INVALID_QUEUE_PROPERTIES);
    CLCOOK_STATUS(CL_INVALID_COMMAND_QUEUE);
    CLCOOK_STATUS(CL_INVALID_HOST_PTR);
    CLCOOK_STATUS(CL_INVALID_MEM_OBJECT);
    CLCOOK_STATUS(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
    CLCOOK_STATUS(CL_INVALID_IMAGE_SIZE);
    CLCOOK_STATUS(CL_INVALID_SAMPLER);
    CLCOOK_STATUS(CL_INVALID_BINARY);
    CLCOOK_STATUS(CL_INVALID_BUILD_OPTIONS);
    CLCOOK_STATUS(CL_INVALID_PROGRAM);
    CLCOOK_STATUS(CL_INVALID_PROGRAM_EXECUTABLE);
    CLCOOK_STATUS(CL_INVALID_KERNEL_NAME);
    CLCOOK_STATUS(CL_INVALID_KERNEL_DEFINITION);
    CLCOOK_STATUS(CL_INVALID_KERNEL);
    CLCOOK_STATUS(CL_INVALID_ARG_INDEX);
    CLCOOK_STATUS(CL_INVALID_ARG_VALUE);
    CLCOOK_STATUS(CL_INVALID_ARG_SIZE);
    CLCOOK_STATUS(CL_INVALID_KERNEL_ARGS);
    CLCOOK_STATUS(CL_INVALID_WORK_DIMENSION);
    CLCOOK_STATUS(CL_INVALID_WORK_GROUP_SIZE);
    CLCOOK_STATUS(CL_INVALID_WORK_ITEM_SIZE);
    CLCOOK_STATUS(CL_INVALID_GLOBAL_OFFSET);
    CLCOOK_STATUS(CL_INVALID_EVENT_WAIT_LIST);
    CLCOOK_STATUS(CL_INVALID_EVENT);
    CLCOOK_STATUS(CL_INVALID_OPERATION);
    CLCOOK_STATUS(CL_INVALID_BUFFER_SIZE);
    CLCOOK_STATUS(CL_INVALID_GLOBAL_WORK_SIZE);
    CLCOOK_STATUS(CL_INVALID_PROPERTY);
    CLCOOK_STATUS(CL_INVALID_COMPILER_OPTIONS);
    CLCOOK_STATUS(CL_INVALID_LINKER_OPTIONS);
#undef CLCOOK_STATUS
    case -1001:
      return "CL_PLATFORM_NOT_FOUND_KHR";
    default:
      return "status " + std::to_string(status);
  }
}

// Throws when an OpenCL call did not succeed. `where` names the call.
inline void check(cl_int status, std::string_view where) {
  if (status == CL_SUCCESS) return;
  const bool resources = status == CL_OUT_OF_RESOURCES || status == CL_OUT_OF_HOST_MEMORY ||
                         status == CL_MEM_OBJECT_ALLOCATION_FAILURE;
  fail(resources ? Errc::out_of_resources : Errc::opencl, std::string(where),
       status_name(status) + " (" + std::to_string(status) + ")", status);
}

}  // namespace clcook
