// The chip's own decoder: the blocks in a CUDA array, texels read by point and stored as RGBA halfs
// or floats. 0: a texel per thread, 1: two.
#include <cuda_fp16.h>

#include "peer.cuh"

static cudaArray_t array = nullptr;
static cudaTextureObject_t texture = 0;

static __device__ uint2 packed(float4 v) {
  const __half2 low = __floats2half2_rn(v.x, v.y), high = __floats2half2_rn(v.z, v.w);
  return make_uint2(*reinterpret_cast<const unsigned*>(&low),
                    *reinterpret_cast<const unsigned*>(&high));
}

static __global__ void halfs(cudaTextureObject_t from, uint2* to, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  to[static_cast<std::size_t>(y) * width + x] = packed(tex2D<float4>(from, x + 0.5f, y + 0.5f));
}

static __global__ void two_halfs(cudaTextureObject_t from, uint4* to, int width, int height) {
  const int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const uint2 a = packed(tex2D<float4>(from, x + 0.5f, y + 0.5f));
  const uint2 b = packed(tex2D<float4>(from, x + 1.5f, y + 0.5f));
  to[(static_cast<std::size_t>(y) * width + x) / 2] = make_uint4(a.x, a.y, b.x, b.y);
}

static __global__ void floats(cudaTextureObject_t from, float4* to, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  to[static_cast<std::size_t>(y) * width + x] = tex2D<float4>(from, x + 0.5f, y + 0.5f);
}

static int width() { return static_cast<int>(shape[0]); }
static int height() { return static_cast<int>(shape[1]); }

static void prepare() {
  if (texture != 0) cudaDestroyTextureObject(texture);
  if (array != nullptr) cudaFreeArray(array);
  texture = 0;
  array = nullptr;
  if (width() % 4 != 0 || height() % 4 != 0 || (which == 1 && shape[3] != 0)) {
    wrong = "not this case";
    return;
  }
  const cudaChannelFormatDesc format =
      shape[2] != 0 ? cudaCreateChannelDesc<cudaChannelFormatKindSignedBlockCompressed6H>()
                    : cudaCreateChannelDesc<cudaChannelFormatKindUnsignedBlockCompressed6H>();
  check(cudaMallocArray(&array, &format, width(), height()));
  const std::size_t row = static_cast<std::size_t>(width()) / 4 * 16;
  check(cudaMemcpy2DToArray(array, 0, 0, in_host[0], row, row, height() / 4,
                            cudaMemcpyHostToDevice));
  cudaResourceDesc from{};
  from.resType = cudaResourceTypeArray;
  from.res.array.array = array;
  cudaTextureDesc how{};
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  how.filterMode = cudaFilterModePoint;
  how.readMode = cudaReadModeElementType;
  check(cudaCreateTextureObject(&texture, &from, &how, nullptr));
}

static void call() {
  const dim3 group(32, 8);
  const unsigned wide = which == 1 ? (width() / 2 + 31) / 32 : (width() + 31) / 32;
  const dim3 grid(wide, (height() + 7) / 8);
  if (shape[3] != 0) {
    floats<<<grid, group>>>(texture, static_cast<float4*>(out[0]), width(), height());
  } else if (which == 1) {
    two_halfs<<<grid, group>>>(texture, static_cast<uint4*>(out[0]), width(), height());
  } else {
    halfs<<<grid, group>>>(texture, static_cast<uint2*>(out[0]), width(), height());
  }
  check(cudaGetLastError());
}
