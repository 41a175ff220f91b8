// Which of N sorted thresholds a value falls below: every variant of the recipe threshold_count.
//
// Thresholds fall from t[0] to t[N-1]. The slot of x is the first k with x >= t[k], else N, which
// is also the slot of NaN.
//
// The host compiles one variant per program: -DCLCOOK_THRESHOLD_COUNT_ONLY
// -DCLCOOK_THRESHOLD_COUNT_<VARIANT>, with -DCLCOOK_THRESHOLDS=N, -DCLCOOK_SLOT=uchar or uint, and
// -DCLCOOK_THRESHOLD_COUNT_PER_ITEM values per work-item. The thresholds are data. Offsets are in
// floats and results. The global size is padded to whole work-groups; the loops of map_row.clh
// guard.

#ifndef CLCOOK_THRESHOLD_COUNT_ONLY
#define CLCOOK_THRESHOLD_COUNT_ELSE_IF_CHAIN
#define CLCOOK_THRESHOLD_COUNT_FREQUENT_FIRST
#define CLCOOK_THRESHOLD_COUNT_INDEPENDENT_IFS
#define CLCOOK_THRESHOLD_COUNT_COMPARE_SUM
#define CLCOOK_THRESHOLD_COUNT_FIRST_BIT
#define CLCOOK_THRESHOLD_COUNT_VECTOR_COMPARE
#define CLCOOK_THRESHOLD_COUNT_BINARY_SEARCH
#define CLCOOK_THRESHOLD_COUNT_PADDED_SEARCH
#define CLCOOK_THRESHOLD_COUNT_TABLE
#define CLCOOK_THRESHOLD_COUNT_GLOBAL_TABLE
#define CLCOOK_THRESHOLD_COUNT_FINE_TABLE
#define CLCOOK_THRESHOLD_COUNT_CPU_STRIP
#define CLCOOK_THRESHOLD_COUNT_CPU_BLOCKS
#endif
#ifndef CLCOOK_THRESHOLDS
#define CLCOOK_THRESHOLDS 5
#endif
#ifndef CLCOOK_SLOT
#define CLCOOK_SLOT uchar
#endif
#ifndef CLCOOK_THRESHOLD_COUNT_PER_ITEM
#define CLCOOK_THRESHOLD_COUNT_PER_ITEM 16
#endif

#include <clcook/map_row.clh>
#include <clcook/threshold.clh>

#define N CLCOOK_THRESHOLDS
#define SLOT CLCOOK_SLOT
#define PER_ITEM CLCOOK_THRESHOLD_COUNT_PER_ITEM

// A loop over a few thresholds is unrolled, so that the chain is one of `else if`; over many it
// stays a loop.
#if N <= 16
#define THRESHOLD_COUNT_UNROLL _Pragma("unroll")
#else
#define THRESHOLD_COUNT_UNROLL
#endif

// ------------------------------------------------------------------------------------------------
// else_if_chain: one comparison after the other, until x reaches a threshold.
#ifdef CLCOOK_THRESHOLD_COUNT_ELSE_IF_CHAIN
static inline int threshold_count_chain(float x, __constant const float* t) {
  THRESHOLD_COUNT_UNROLL
  for (int k = 0; k < N; ++k) {
    if (x >= t[k]) {
      return k;
    }
  }
  return N;
}

#define THRESHOLD_COUNT_CHAIN(x) threshold_count_chain(x, thresholds)
__kernel void threshold_count_else_if_chain(__global const float* restrict values,
                                            ulong values_offset, __global SLOT* restrict slots,
                                            ulong slots_offset, ulong count,
                                            __constant const float* thresholds) {
  CLCOOK_MAP_ROW(float, SLOT, THRESHOLD_COUNT_CHAIN, values, values_offset, 1, slots, slots_offset,
                 count, PER_ITEM);
}
#endif

// ------------------------------------------------------------------------------------------------
// frequent_first: the chain from its other end, for data of which most values reach no threshold:
// the most frequent case is asked for first.
#ifdef CLCOOK_THRESHOLD_COUNT_FREQUENT_FIRST
static inline int threshold_count_from_last(float x, __constant const float* t) {
  THRESHOLD_COUNT_UNROLL
  for (int k = N; k > 0; --k) {
    if (!(x >= t[k - 1])) {
      return k;
    }
  }
  return 0;
}

#define THRESHOLD_COUNT_FROM_LAST(x) threshold_count_from_last(x, thresholds)
__kernel void threshold_count_frequent_first(__global const float* restrict values,
                                             ulong values_offset, __global SLOT* restrict slots,
                                             ulong slots_offset, ulong count,
                                             __constant const float* thresholds) {
  CLCOOK_MAP_ROW(float, SLOT, THRESHOLD_COUNT_FROM_LAST, values, values_offset, 1, slots,
                 slots_offset, count, PER_ITEM);
}
#endif

// ------------------------------------------------------------------------------------------------
// independent_ifs: every threshold that x does not reach raises the slot; the last one counts.
#ifdef CLCOOK_THRESHOLD_COUNT_INDEPENDENT_IFS
static inline int threshold_count_ifs(float x, __constant const float* t) {
  int slot = 0;
  THRESHOLD_COUNT_UNROLL
  for (int k = 0; k < N; ++k) {
    if (!(x >= t[k])) {
      slot = k + 1;
    }
  }
  return slot;
}

#define THRESHOLD_COUNT_IFS(x) threshold_count_ifs(x, thresholds)
__kernel void threshold_count_independent_ifs(__global const float* restrict values,
                                              ulong values_offset, __global SLOT* restrict slots,
                                              ulong slots_offset, ulong count,
                                              __constant const float* thresholds) {
  CLCOOK_MAP_ROW(float, SLOT, THRESHOLD_COUNT_IFS, values, values_offset, 1, slots, slots_offset,
                 count, PER_ITEM);
}
#endif

// ------------------------------------------------------------------------------------------------
// compare_sum: the sum of the comparisons, which are 1 where they hold.
#ifdef CLCOOK_THRESHOLD_COUNT_COMPARE_SUM
#define THRESHOLD_COUNT_SUM(x) clcook_slot_sum_constant(x, thresholds, N)
__kernel void threshold_count_compare_sum(__global const float* restrict values,
                                          ulong values_offset, __global SLOT* restrict slots,
                                          ulong slots_offset, ulong count,
                                          __constant const float* thresholds) {
  CLCOOK_MAP_ROW(float, SLOT, THRESHOLD_COUNT_SUM, values, values_offset, 1, slots, slots_offset,
                 count, PER_ITEM);
}
#endif

// ------------------------------------------------------------------------------------------------
// first_bit: the comparisons are the bits of words, the first threshold's the highest. The slot is
// the number of zeros before the first that is set; words behind it have none.
#ifdef CLCOOK_THRESHOLD_COUNT_FIRST_BIT
static inline int threshold_count_bits(float x, __constant const float* t) {
  int slot = 0;
  for (int first = 0; first < N; first += 32) {
    const int bits = min(N - first, 32);
    uint reached = 0;
    THRESHOLD_COUNT_UNROLL
    for (int k = 0; k < bits; ++k) {
      reached |= (x >= t[first + k] ? 0x80000000u : 0u) >> k;
    }
    slot += min((int)clz(reached), bits);
  }
  return slot;
}

#define THRESHOLD_COUNT_FIRST_BIT(x) threshold_count_bits(x, thresholds)
__kernel void threshold_count_first_bit(__global const float* restrict values, ulong values_offset,
                                        __global SLOT* restrict slots, ulong slots_offset,
                                        ulong count, __constant const float* thresholds) {
  CLCOOK_MAP_ROW(float, SLOT, THRESHOLD_COUNT_FIRST_BIT, values, values_offset, 1, slots,
                 slots_offset, count, PER_ITEM);
}
#endif

// ------------------------------------------------------------------------------------------------
// vector_compare: a value against a vector of thresholds, which are padded with NaN.
#ifdef CLCOOK_THRESHOLD_COUNT_VECTOR_COMPARE
static inline int threshold_count_vector(float x, __constant const float* t) {
#if N <= 4
  return N - clcook_reached4(x, *(__constant const float4*)t);
#elif N <= 8
  return N - clcook_reached8(x, *(__constant const float8*)t);
#else
  int slot = N;
  for (int k = 0; k < (N + 15) / 16; ++k) {
    slot -= clcook_reached16(x, ((__constant const float16*)t)[k]);
  }
  return slot;
#endif
}

#define THRESHOLD_COUNT_VECTOR(x) threshold_count_vector(x, thresholds)
__kernel void threshold_count_vector_compare(__global const float* restrict values,
                                             ulong values_offset, __global SLOT* restrict slots,
                                             ulong slots_offset, ulong count,
                                             __constant const float* thresholds) {
  CLCOOK_MAP_ROW(float, SLOT, THRESHOLD_COUNT_VECTOR, values, values_offset, 1, slots, slots_offset,
                 count, PER_ITEM);
}
#endif

// ------------------------------------------------------------------------------------------------
// binary_search: log2(N) + 1 comparisons, no branch. Work-items read different thresholds, which
// constant memory would serialise, so they are copied to local memory.
#ifdef CLCOOK_THRESHOLD_COUNT_BINARY_SEARCH
#define THRESHOLD_COUNT_SEARCH(x) clcook_slot_search_local(x, t, N)
__kernel void threshold_count_binary_search(__global const float* restrict values,
                                            ulong values_offset, __global SLOT* restrict slots,
                                            ulong slots_offset, ulong count,
                                            __constant const float* thresholds) {
  __local float t[N];
  for (int i = (int)get_local_id(0); i < N; i += (int)get_local_size(0)) {
    t[i] = thresholds[i];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  CLCOOK_MAP_ROW(float, SLOT, THRESHOLD_COUNT_SEARCH, values, values_offset, 1, slots, slots_offset,
                 count, PER_ITEM);
}
#endif

// ------------------------------------------------------------------------------------------------
// padded_search: as binary_search, with a gap behind each 32 thresholds. The places that a step of
// the search looks at lie a power of two apart, without the gaps in one bank of local memory; with
// them in neighbouring banks.
#ifdef CLCOOK_THRESHOLD_COUNT_PADDED_SEARCH
#define THRESHOLD_COUNT_PLACE(k) ((k) + (k) / 32)
static inline int threshold_count_padded(float x, __local const float* t) {
  int first = 0;
  for (int left = N; left > 1; left -= left / 2) {
    first += x >= t[THRESHOLD_COUNT_PLACE(first + left / 2 - 1)] ? 0 : left / 2;
  }
  return first + (x >= t[THRESHOLD_COUNT_PLACE(first)] ? 0 : 1);
}

#define THRESHOLD_COUNT_PADDED(x) threshold_count_padded(x, t)
__kernel void threshold_count_padded_search(__global const float* restrict values,
                                            ulong values_offset, __global SLOT* restrict slots,
                                            ulong slots_offset, ulong count,
                                            __constant const float* thresholds) {
  __local float t[THRESHOLD_COUNT_PLACE(N)];
  for (int i = (int)get_local_id(0); i < N; i += (int)get_local_size(0)) {
    t[THRESHOLD_COUNT_PLACE(i)] = thresholds[i];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  CLCOOK_MAP_ROW(float, SLOT, THRESHOLD_COUNT_PADDED, values, values_offset, 1, slots, slots_offset,
                 count, PER_ITEM);
}
#endif

// ------------------------------------------------------------------------------------------------
// table: the range of the thresholds is cut into CELLS equal cells, and a table has a guess of the
// slot for each. From the guess, comparisons with the neighbouring thresholds lead to the slot: it
// is exact however good or bad the guess is, and whatever the rounding of the cell. The loops end
// at once where the thresholds are spread evenly; at worst they are the chain. In local memory a
// NaN stands before the first threshold and another behind the last: there both loops end.
#ifdef CLCOOK_THRESHOLD_COUNT_TABLE
#ifndef CLCOOK_THRESHOLD_COUNT_CELLS
#define CLCOOK_THRESHOLD_COUNT_CELLS 64
#endif
#define CELLS CLCOOK_THRESHOLD_COUNT_CELLS
// t[k + 1] is threshold k.
static inline int threshold_count_guess(float x, __local const float* t, __local const uchar* guess,
                                        float low, float scale) {
  // fmax() of NaN and 0 is 0.
  const int cell = (int)fmin(fmax((x - low) * scale, 0.0f), (float)(CELLS - 1));
  int slot = guess[cell];
  while (x < t[slot + 1]) {
    ++slot;
  }
  while (x >= t[slot]) {
    --slot;
  }
  return isnan(x) ? N : slot;
}

#define THRESHOLD_COUNT_TABLE(x) threshold_count_guess(x, t, guess, low, scale)
__kernel void threshold_count_table(__global const float* restrict values, ulong values_offset,
                                    __global SLOT* restrict slots, ulong slots_offset, ulong count,
                                    __constant const float* thresholds,
                                    __global const uchar* restrict guesses, float low,
                                    float scale) {
  __local float t[N + 2];
  __local uchar guess[CELLS];
  for (int i = (int)get_local_id(0); i < N + 2; i += (int)get_local_size(0)) {
    t[i] = i == 0 || i > N ? nan(0u) : thresholds[i - 1];
  }
  for (int i = (int)get_local_id(0); i < CELLS; i += (int)get_local_size(0)) {
    guess[i] = guesses[i];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  CLCOOK_MAP_ROW(float, SLOT, THRESHOLD_COUNT_TABLE, values, values_offset, 1, slots, slots_offset,
                 count, PER_ITEM);
}
#endif

// ------------------------------------------------------------------------------------------------
// global_table: as table, but guesses and thresholds are read where they lie, in global memory.
// There are no NaN around the thresholds.
#ifdef CLCOOK_THRESHOLD_COUNT_GLOBAL_TABLE
#ifndef CLCOOK_THRESHOLD_COUNT_CELLS
#define CLCOOK_THRESHOLD_COUNT_CELLS 64
#endif
static inline int threshold_count_global_guess(float x, __global const float* t,
                                               __global const uchar* guess, float low,
                                               float scale) {
  const float last = (float)(CLCOOK_THRESHOLD_COUNT_CELLS - 1);
  int slot = guess[(int)fmin(fmax((x - low) * scale, 0.0f), last)];
  while (slot < N && x < t[slot]) {
    ++slot;
  }
  while (slot > 0 && x >= t[slot - 1]) {
    --slot;
  }
  return isnan(x) ? N : slot;
}

#define THRESHOLD_COUNT_GLOBAL_TABLE(x) \
  threshold_count_global_guess(x, thresholds, guesses, low, scale)
__kernel void threshold_count_global_table(__global const float* restrict values,
                                           ulong values_offset, __global SLOT* restrict slots,
                                           ulong slots_offset, ulong count,
                                           __global const float* restrict thresholds,
                                           __global const uchar* restrict guesses, float low,
                                           float scale) {
  CLCOOK_MAP_ROW(float, SLOT, THRESHOLD_COUNT_GLOBAL_TABLE, values, values_offset, 1, slots,
                 slots_offset, count, PER_ITEM);
}
#endif

// ------------------------------------------------------------------------------------------------
// fine_table: as table, but no cell holds two thresholds. A cell names the first threshold in it or
// below it, and one comparison decides: no loop, two reads of local memory. The host finds the cells
// of the thresholds in the same steps, each of which is rounded once; a NaN lies in cell 0, as the
// last threshold does. The cell is the last bits of 2^23 + cell.
#ifdef CLCOOK_THRESHOLD_COUNT_FINE_TABLE
#ifndef CLCOOK_THRESHOLD_COUNT_CELLS
#define CLCOOK_THRESHOLD_COUNT_CELLS 64
#endif
static inline int threshold_count_fine(float x, __local const float* t, __local const uchar* first,
                                       float low, float scale) {
  const float part = fmin(fmax((x - low) * scale, 0.0f), 1.0f);
  const float magic = fma(part, (float)(CLCOOK_THRESHOLD_COUNT_CELLS - 1), 8388608.0f);
  const int slot = first[as_uint(magic) - as_uint(8388608.0f)];
  return slot + (x >= t[slot] ? 0 : 1);
}

#define THRESHOLD_COUNT_FINE(x) threshold_count_fine(x, t, (__local const uchar*)first, low, scale)
__kernel void threshold_count_fine_table(__global const float* restrict values, ulong values_offset,
                                         __global SLOT* restrict slots, ulong slots_offset,
                                         ulong count, __constant const float* thresholds,
                                         __global const uint* restrict firsts, float low,
                                         float scale) {
  __local float t[N];
  __local uint first[CLCOOK_THRESHOLD_COUNT_CELLS / 4];
  for (int i = (int)get_local_id(0); i < N; i += (int)get_local_size(0)) {
    t[i] = thresholds[i];
  }
  for (int i = (int)get_local_id(0); i < CLCOOK_THRESHOLD_COUNT_CELLS / 4;
       i += (int)get_local_size(0)) {
    first[i] = firsts[i];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  CLCOOK_MAP_ROW(float, SLOT, THRESHOLD_COUNT_FINE, values, values_offset, 1, slots, slots_offset,
                 count, PER_ITEM);
}
#endif

// ------------------------------------------------------------------------------------------------
// cpu_strip: compare_sum for a CPU: 16 values against one threshold at a time, a work-item
// per strip.
#define THRESHOLD_COUNT_CONVERT(OUT) THRESHOLD_COUNT_CONVERT_TO(OUT)
#define THRESHOLD_COUNT_CONVERT_TO(OUT) convert_##OUT##16
#ifdef CLCOOK_THRESHOLD_COUNT_CPU_STRIP
#define THRESHOLD_COUNT_ONE(x) clcook_slot_sum_constant(x, thresholds, N)
#define THRESHOLD_COUNT_SIXTEEN(x) \
  THRESHOLD_COUNT_CONVERT(SLOT)(clcook_slot_sum16_constant(x, thresholds, N))
__kernel void threshold_count_cpu_strip(__global const float* restrict values, ulong values_offset,
                                        __global SLOT* restrict slots, ulong slots_offset,
                                        ulong count, __constant const float* thresholds) {
  CLCOOK_MAP_ROW_STRIP(float, SLOT, THRESHOLD_COUNT_ONE, THRESHOLD_COUNT_SIXTEEN, values,
                       values_offset, 1, slots, slots_offset, count);
}
#endif

// ------------------------------------------------------------------------------------------------
// cpu_blocks: for many thresholds on a CPU, in blocks of 16. As many vectors of 16 values as there are
// blocks are compared with the last threshold of each, which finds every value's block; then each value is
// compared with the vector of its block. There is no table, so it doesn't matter how the thresholds lie.
#ifdef CLCOOK_THRESHOLD_COUNT_CPU_BLOCKS
// How many of 16 lanes are set. They become bytes, of which two words keep a bit each in other places.
static inline int threshold_count_set(int16 lanes) {
  const ulong2 bytes = as_ulong2(convert_char16(lanes));
  return (int)popcount((bytes.x & 0x0101010101010101UL) | (bytes.y & 0x0202020202020202UL));
}

// The last block may be shorter; it is padded with NaN, which nothing reaches.
static inline int16 threshold_count_blocks(float16 x, __constant const float* t) {
  int16 block = (N - 1) / 16;
#pragma unroll
  for (int last = 15; last < N - 1; last += 16) {
    block += x >= (float16)(t[last]);
  }
  int slots[16];
  float values[16];
  vstore16(block, 0, slots);
  vstore16(x, 0, values);
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    const float16 of_block = ((__constant const float16*)t)[slots[k]];
    slots[k] = min(16 * slots[k] + 16, N) - threshold_count_set((float16)(values[k]) >= of_block);
  }
  return vload16(0, slots);
}

#define THRESHOLD_COUNT_FOUND(x) clcook_slot_search_constant(x, thresholds, N)
#define THRESHOLD_COUNT_BLOCKS(x) \
  THRESHOLD_COUNT_CONVERT(SLOT)(threshold_count_blocks(x, thresholds))
__kernel void threshold_count_cpu_blocks(__global const float* restrict values, ulong values_offset,
                                         __global SLOT* restrict slots, ulong slots_offset,
                                         ulong count, __constant const float* thresholds) {
  CLCOOK_MAP_ROW_STRIP(float, SLOT, THRESHOLD_COUNT_FOUND, THRESHOLD_COUNT_BLOCKS, values,
                       values_offset, 1, slots, slots_offset, count);
}
#endif
