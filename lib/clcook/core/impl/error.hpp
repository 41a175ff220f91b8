// The definitions of clcook/core/error.hpp.
#pragma once

#include <charconv>
#include <clcook/core/error.hpp>
#include <cstddef>
#include <iterator>

namespace clcook::detail {

CLCOOK_INLINE std::string join(const Piece* pieces, std::size_t count) {
  std::string out;
  char digits[32];
  for (const Piece* piece = pieces; piece != pieces + count; ++piece) {
    std::to_chars_result end{digits, {}};
    switch (piece->kind) {
      case Piece::Kind::chars:
        out.append(piece->chars, piece->size);
        continue;
      case Piece::Kind::character:
        out += piece->character;
        continue;
      case Piece::Kind::whole:
        end = std::to_chars(digits, digits + sizeof digits, piece->whole);
        break;
      case Piece::Kind::natural:
        end = std::to_chars(digits, digits + sizeof digits, piece->natural);
        break;
      case Piece::Kind::real:
        end = std::to_chars(digits, digits + sizeof digits, piece->real, std::chars_format::general,
                            9);
        break;
    }
    out.append(digits, end.ptr);
  }
  return out;
}

}  // namespace clcook::detail

namespace clcook {

CLCOOK_INLINE std::string three_digits(double value) {
  char out[32];
  const auto end = std::to_chars(out, out + sizeof out, value, std::chars_format::general, 3);
  return std::string(out, end.ptr);
}

CLCOOK_INLINE std::string status_name(cl_int status) {
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

CLCOOK_INLINE std::string image_format_name(const cl_image_format& format) {
  // Both enumerations count up without gaps.
  constexpr const char* kOrders[] = {
      "CL_R",    "CL_A",     "CL_RG",    "CL_RA",        "CL_RGB",
      "CL_RGBA", "CL_BGRA",  "CL_ARGB",  "CL_INTENSITY", "CL_LUMINANCE",
      "CL_Rx",   "CL_RGx",   "CL_RGBx",  "CL_DEPTH",     "CL_DEPTH_STENCIL",
      "CL_sRGB", "CL_sRGBx", "CL_sRGBA", "CL_sBGRA",     "CL_ABGR"};
  constexpr const char* kTypes[] = {
      "CL_SNORM_INT8",       "CL_SNORM_INT16",       "CL_UNORM_INT8",
      "CL_UNORM_INT16",      "CL_UNORM_SHORT_565",   "CL_UNORM_SHORT_555",
      "CL_UNORM_INT_101010", "CL_SIGNED_INT8",       "CL_SIGNED_INT16",
      "CL_SIGNED_INT32",     "CL_UNSIGNED_INT8",     "CL_UNSIGNED_INT16",
      "CL_UNSIGNED_INT32",   "CL_HALF_FLOAT",        "CL_FLOAT",
      "CL_UNORM_INT24",      "CL_UNORM_INT_101010_2"};
  const auto name = [](const auto& names, cl_uint value, cl_uint first) -> std::string {
    const std::size_t at = value - first;  // of a lower value it is large
    if (value >= first && at < std::size(names)) return names[at];
    char digits[16];
    const auto end = std::to_chars(digits, digits + sizeof digits, value, 16);
    return "0x" + std::string(digits, end.ptr);
  };
  return name(kOrders, format.image_channel_order, CL_R) + " with " +
         name(kTypes, format.image_channel_data_type, CL_SNORM_INT8);
}

CLCOOK_INLINE void check(cl_int status, std::string_view where) {
  if (status == CL_SUCCESS) return;
  const bool resources = status == CL_OUT_OF_RESOURCES || status == CL_OUT_OF_HOST_MEMORY ||
                         status == CL_MEM_OBJECT_ALLOCATION_FAILURE;
  fail(resources ? Errc::out_of_resources : Errc::opencl, std::string(where),
       status_name(status) + " (" + std::to_string(status) + ")", status);
}

}  // namespace clcook
