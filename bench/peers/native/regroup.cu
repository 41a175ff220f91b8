// A G-buffer shaded by a switch over the material. 0: items in their order; 1: in the order of their
// keys by CUB's DeviceRadixSort. in: keys, items; shape: paths. Keys are bytes; the light is that of
// the problem's defaults.
#include <cub/device/device_radix_sort.cuh>

#include "peer.cuh"

static __constant__ int kOctaves[32] = {2, 6,  3, 9, 4, 2, 1, 5, 12, 3, 7,  2, 10, 4, 6, 1,
                                        5, 14, 1, 6, 8, 3, 2, 4, 3,  8, 16, 4, 1,  7, 5, 2};

static __device__ float corner(unsigned x, unsigned y) {
  unsigned h = (x * 0x9E3779B1u) ^ (y * 0x85EBCA77u);
  h ^= h >> 15;
  h *= 0x2C1B3C6Du;
  h ^= h >> 13;
  return static_cast<float>(h >> 8) * 0x1p-24f;
}

static __device__ float noise(unsigned u, unsigned v, unsigned seed) {
  const unsigned x = (u >> 12) + seed, y = (v >> 12) + (seed >> 16);
  const float s = static_cast<float>(u & 4095) * 0x1p-12f;
  const float t = static_cast<float>(v & 4095) * 0x1p-12f;
  const float smooth_s = s * s * (3 - 2 * s), smooth_t = t * t * (3 - 2 * t);
  const float a = corner(x, y), b = corner(x + 1, y);
  const float c = corner(x, y + 1), d = corner(x + 1, y + 1);
  const float top = a + smooth_s * (b - a), bottom = c + smooth_s * (d - c);
  return top + smooth_t * (bottom - top);
}

// The patterns of materials kind, kind + 8, ...
template <int Kind>
static __device__ float pattern(unsigned material, unsigned u, unsigned v, unsigned seed) {
  float sum = 0, amplitude = 0.5f;
  for (int octave = 0; octave < kOctaves[material]; ++octave) {
    float n = noise(u, v, seed + material);
    const float m = Kind < 5 ? 0 : noise(v, u, seed + material + 32);
    if (Kind == 0) sum += amplitude * n;
    if (Kind == 1) sum += amplitude * fabsf(2 * n - 1);
    if (Kind == 2) {
      n = 1 - fabsf(2 * n - 1);
      sum += amplitude * n * n;
    }
    if (Kind == 3) sum += amplitude * fabsf(4 * n - rintf(4 * n));
    if (Kind == 4) sum = fmaxf(sum + amplitude * n * n, n / 2);
    if (Kind == 5) sum += amplitude * n * m;
    if (Kind == 6) sum += amplitude * fminf(n, m);
    if (Kind == 7) sum += amplitude * fabsf(n - m);
    u <<= 1;
    v <<= 1;
    amplitude /= 2;
  }
  return sum;
}

static __device__ float material_pattern(unsigned material, unsigned u, unsigned v, unsigned seed) {
  switch (material % 8) {
    case 0:
      return pattern<0>(material, u, v, seed);
    case 1:
      return pattern<1>(material, u, v, seed);
    case 2:
      return pattern<2>(material, u, v, seed);
    case 3:
      return pattern<3>(material, u, v, seed);
    case 4:
      return pattern<4>(material, u, v, seed);
    case 5:
      return pattern<5>(material, u, v, seed);
    case 6:
      return pattern<6>(material, u, v, seed);
    default:
      return pattern<7>(material, u, v, seed);
  }
}

static __device__ float byte(unsigned word, int shift) {
  return static_cast<float>(word >> shift & 255) * 0x1p-8f;
}

static __device__ float normal(unsigned word, int shift) {
  return static_cast<float>(static_cast<signed char>(word >> shift & 255)) * 0x1p-7f;
}

// The items of a list, or all in their order.
static __global__ void shade(const unsigned char* keys, const unsigned* list, const uint4* items,
                             float4* results, unsigned count, unsigned paths) {
  const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= count) return;
  const unsigned i = list == nullptr ? at : list[at], material = keys[at];
  if (material >= paths) return;
  const uint4 item = items[i];
  const float p = material_pattern(material, item.z & 0xFFFF, item.z >> 16, item.w);
  const float cosine =
      normal(item.x, 0) * 0.48f + normal(item.x, 8) * 0.6f + normal(item.x, 16) * 0.64f;
  const float lit = p * (fmaxf(cosine, 0) * 0.75f + byte(item.x, 24));
  results[i] = make_float4(byte(item.y, 0) * lit, byte(item.y, 8) * lit, byte(item.y, 16) * lit, 1);
}

static __global__ void count_up(unsigned* list, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) list[i] = i;
}

static void* scratch;
static std::size_t scratch_bytes;
static unsigned char* sorted;
static unsigned *order, *list;

static unsigned count() { return static_cast<unsigned>(in_bytes[0]); }
static unsigned groups() { return (count() + 255) / 256; }

static cudaError_t sort() {
  return cub::DeviceRadixSort::SortPairs(scratch, scratch_bytes,
                                         static_cast<const unsigned char*>(in[0]), sorted, order,
                                         list, static_cast<int>(count()));
}

static void prepare() {
  scratch = nullptr;
  if (which == 0) return;
  sorted = static_cast<unsigned char*>(allocate(count()));
  order = static_cast<unsigned*>(allocate(4 * std::size_t{count()}));
  list = static_cast<unsigned*>(allocate(4 * std::size_t{count()}));
  count_up<<<groups(), 256>>>(order, count());
  check(sort());
  scratch = allocate(scratch_bytes);
}

static void call() {
  const auto* keys = static_cast<const unsigned char*>(in[0]);
  if (which == 1) check(sort());
  shade<<<groups(), 256>>>(which == 1 ? sorted : keys, which == 1 ? list : nullptr,
                           static_cast<const uint4*>(in[1]), static_cast<float4*>(out[0]), count(),
                           static_cast<unsigned>(shape[0]));
  check(cudaGetLastError());
}
