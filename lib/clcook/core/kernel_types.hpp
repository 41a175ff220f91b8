// The host's side of kernels/clcook/view.clh: structs that kernels take by value. Members stand at
// the same bytes on both sides; the test view_header asks the device.
#pragma once

#include <clcook/core/opencl.hpp>
#include <clcook/core/view.hpp>
#include <cstddef>
#include <type_traits>

namespace clcook {

// Rows of a buffer; offset and pitch in elements of what the kernel's pointer points to.
struct KernelView {
  cl_ulong offset = 0;
  cl_ulong pitch = 0;
};

// Pixels of a picture.
struct KernelRegion {
  cl_int x = 0;
  cl_int y = 0;
  cl_int width = 0;
  cl_int height = 0;
};

// Consecutive rows of a picture.
struct KernelRows {
  cl_int first = 0;
  cl_int count = 0;
};

// A picture and the region whose results are computed.
struct KernelPicture {
  cl_float4 outside{};  // by channel
  KernelRegion region;
  cl_int width = 0;   // pixels
  cl_int height = 0;  // pixels
  cl_int border = 0;  // the value of a Border
  cl_int reserved = 0;
};

// A volume, or a picture of depth 1.
struct KernelVolume {
  cl_float4 outside{};  // by channel
  cl_int width = 0;     // pixels
  cl_int height = 0;
  cl_int depth = 0;
  cl_int border = 0;  // the value of a Border
};

static_assert(sizeof(KernelView) == 16 && offsetof(KernelView, pitch) == 8);
static_assert(sizeof(KernelRegion) == 16 && offsetof(KernelRegion, y) == 4 &&
              offsetof(KernelRegion, width) == 8 && offsetof(KernelRegion, height) == 12);
static_assert(sizeof(KernelRows) == 8 && offsetof(KernelRows, count) == 4);
static_assert(sizeof(KernelPicture) == 48 && alignof(KernelPicture) == 16 &&
              offsetof(KernelPicture, region) == 16 && offsetof(KernelPicture, width) == 32 &&
              offsetof(KernelPicture, height) == 36 && offsetof(KernelPicture, border) == 40);
static_assert(sizeof(KernelVolume) == 32 && alignof(KernelVolume) == 16 &&
              offsetof(KernelVolume, width) == 16 && offsetof(KernelVolume, height) == 20 &&
              offsetof(KernelVolume, depth) == 24 && offsetof(KernelVolume, border) == 28);
static_assert(std::is_trivially_copyable_v<KernelPicture> &&
              std::is_trivially_copyable_v<KernelVolume>);

// A checked view of rows whose elements have this many bytes. Offset and pitch are multiples of it.
inline KernelView kernel_view(const CheckedView& view, std::size_t element_bytes) {
  return {view.offset / element_bytes, view.pitch / element_bytes};
}

}  // namespace clcook
