// CUB's DeviceSelect. 0: Flagged, the flags by a transform of the pixels; 1: If, which tests the
// pixel of each index.
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "peer.cuh"

struct Bright {
  const unsigned* pixels;
  unsigned threshold;
  __host__ __device__ bool operator()(unsigned i) const {
#ifdef __CUDA_ARCH__
    const unsigned p = __ldg(pixels + i);
#else
    const unsigned p = pixels[i];
#endif
    return 54 * (p & 0xFF) + 183 * (p >> 8 & 0xFF) + 19 * (p >> 16 & 0xFF) >= threshold;
  }
};

struct BrightPixel {
  unsigned threshold;
  __host__ __device__ bool operator()(unsigned p) const {
    return 54 * (p & 0xFF) + 183 * (p >> 8 & 0xFF) + 19 * (p >> 16 & 0xFF) >= threshold;
  }
};

static void* scratch;
static std::size_t scratch_bytes;

static cudaError_t select() {
  const auto* pixels = static_cast<const unsigned*>(in[0]);
  const auto threshold = static_cast<unsigned>(shape[0]);
  const int count = static_cast<int>(in_bytes[0] / 4);
  auto* indices = static_cast<unsigned*>(out[0]);
  auto* kept = static_cast<unsigned*>(out[1]);
  const thrust::counting_iterator<unsigned> all(0);
  if (which == 0) {
    const auto flags = thrust::make_transform_iterator(pixels, BrightPixel{threshold});
    return cub::DeviceSelect::Flagged(scratch, scratch_bytes, all, flags, indices, kept, count);
  }
  return cub::DeviceSelect::If(scratch, scratch_bytes, all, indices, kept, count,
                               Bright{pixels, threshold});
}

static void prepare() {
  scratch = nullptr;
  check(select());
  scratch = allocate(scratch_bytes);
}

static void call() { check(select()); }
