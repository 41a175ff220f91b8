// Prefix sums that begin anew every 1024 values. 0: CUB's DeviceScan by key, the key a value's
// segment; 1: CUB's BlockScan, a segment for each block of 256 threads.
#include <cub/block/block_load.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/device/device_scan.cuh>
#include <cuda/std/functional>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "peer.cuh"

struct Segment {
  __host__ __device__ unsigned operator()(unsigned i) const { return i / 1024; }
};

static __global__ void segments(const unsigned* from, unsigned* to, unsigned count) {
  constexpr int kThreads = 256, kItems = 4;
  using Load = cub::BlockLoad<unsigned, kThreads, kItems, cub::BLOCK_LOAD_VECTORIZE>;
  using Store = cub::BlockStore<unsigned, kThreads, kItems, cub::BLOCK_STORE_VECTORIZE>;
  using Scan = cub::BlockScan<unsigned, kThreads>;
  __shared__ typename Scan::TempStorage scan;
  __shared__ typename Load::TempStorage load;
  __shared__ typename Store::TempStorage store;
  const unsigned first = blockIdx.x * kThreads * kItems;
  const int size = static_cast<int>(min(count - first, 1024u));
  unsigned values[kItems];
  if (size == 1024)
    Load(load).Load(from + first, values);
  else
    Load(load).Load(from + first, values, size, 0u);
  Scan(scan).InclusiveSum(values, values);
  if (size == 1024)
    Store(store).Store(to + first, values);
  else
    Store(store).Store(to + first, values, size);
}

static void* scratch;
static std::size_t scratch_bytes;

static unsigned count() { return static_cast<unsigned>(in_bytes[0] / 4); }

static cudaError_t by_key() {
  const auto keys =
      thrust::make_transform_iterator(thrust::counting_iterator<unsigned>(0), Segment{});
  return cub::DeviceScan::InclusiveSumByKey(scratch, scratch_bytes, keys,
                                            static_cast<const unsigned*>(in[0]),
                                            static_cast<unsigned*>(out[0]), count());
}

static void prepare() {
  scratch = nullptr;
  if (which != 0) return;
  check(by_key());
  scratch = allocate(scratch_bytes);
}

static void call() {
  if (which == 0) {
    check(by_key());
    return;
  }
  segments<<<(count() + 1023) / 1024, 256>>>(static_cast<const unsigned*>(in[0]),
                                             static_cast<unsigned*>(out[0]), count());
  check(cudaGetLastError());
}
