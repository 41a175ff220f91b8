// Rank filters of pictures, such as the median: every variant of the recipe rank_filter.
//
// A result is the value number `rank`, counted from 0, of the (2 RADIUS + 1)^2 values of its channel
// around a pixel, in ascending order. Channels are filtered independently.
//
// Values are compared as keys: unsigned integers in the order of the values. Those of halfs and floats
// are their bits, all turned over where the sign is set, the sign alone turned over elsewhere: -0 comes
// before +0. Every NaN has the largest key, which stands for a NaN. So nothing is rounded, and a key
// can be found one bit after the other.
//
// The host compiles one variant per program: -DCLCOOK_RANK_FILTER_ONLY -DCLCOOK_RANK_FILTER_<VARIANT>,
// the values' type as pixel.clh says (CLCOOK_CHANNEL_*, and CLCOOK_CHANNELS: 1 to 4), RADIUS, and the
// outputs of a group: TILE_W x TILE_H. The networks also have the rank in their code: RANK.
//
// Views count channels. picture.outside holds the bits of the constant as the channels are stored.
#include <clcook/halo.clh>
#include <clcook/pixel.clh>
#include <clcook/view.clh>

#ifndef CLCOOK_RANK_FILTER_ONLY
#define CLCOOK_RANK_FILTER_SELECT
#define CLCOOK_RANK_FILTER_LOCAL_TILE
#define CLCOOK_RANK_FILTER_LOCAL_TILE_MULTI
#define CLCOOK_RANK_FILTER_NETWORK
#define CLCOOK_RANK_FILTER_NETWORK_PACKED
#define CLCOOK_RANK_FILTER_SLIDING_HISTOGRAM
#define CLCOOK_RANK_FILTER_CPU_ROWS
#define CLCOOK_RANK_FILTER_CPU_COLUMNS
#endif
#ifndef CLCOOK_RANK_FILTER_RADIUS
#define CLCOOK_RANK_FILTER_RADIUS 1
#endif
#ifndef CLCOOK_RANK_FILTER_RANK
#define CLCOOK_RANK_FILTER_RANK 4
#endif
#ifndef CLCOOK_RANK_FILTER_TILE_W
#define CLCOOK_RANK_FILTER_TILE_W 32
#define CLCOOK_RANK_FILTER_TILE_H 8
#endif
#ifndef CLCOOK_RANK_FILTER_OUTPUTS
#define CLCOOK_RANK_FILTER_OUTPUTS 4
#endif

#define CHANNELS CLCOOK_CHANNELS
#define RADIUS CLCOOK_RANK_FILTER_RADIUS
#define RANK CLCOOK_RANK_FILTER_RANK
#define TILE_W CLCOOK_RANK_FILTER_TILE_W
#define TILE_H CLCOOK_RANK_FILTER_TILE_H
#define OUTPUTS CLCOOK_RANK_FILTER_OUTPUTS
#define SIDE (2 * RADIUS + 1)

// Channels of a vector of cpu_rows: 16, of bytes in a network 32 where the compiler has such vectors.
#ifndef CLCOOK_RANK_FILTER_LANES
#define CLCOOK_RANK_FILTER_LANES 16
#endif
#define LANES CLCOOK_RANK_FILTER_LANES

#define KEY_BITS CLCOOK_CHANNEL_BITS
#if KEY_BITS == 8
typedef uchar stored;
#if LANES > 16
typedef uchar wide __attribute__((ext_vector_type(LANES)));
#else
typedef uchar16 wide;
#endif
typedef ushort16 wide_count;
#define WIDE_BITS as_uchar16
#define WIDE_COUNT convert_ushort16
#define WIDE_IS(v) convert_char16(v)
#elif KEY_BITS == 16
typedef ushort stored;
typedef ushort16 wide;
typedef ushort16 wide_count;
#define WIDE_BITS as_ushort16
#define WIDE_COUNT(v) (v)
#define WIDE_IS(v) (v)
#else
typedef uint stored;
typedef uint16 wide;
typedef uint16 wide_count;
#define WIDE_BITS as_uint16
#define WIDE_COUNT(v) (v)
#define WIDE_IS(v) (v)
#endif

#define RANK_FILTER_GROUP(w, h, d) __attribute__((reqd_work_group_size(w, h, d)))
#define RANK_FILTER_INLINE static inline __attribute__((always_inline, unused))

// ------------------------------------------------------------------------------------------------
// Keys, and values anywhere.
RANK_FILTER_INLINE uint rank_filter_key(stored bits) {
#if defined(CLCOOK_CHANNEL_TOP)
  return bits;
#elif defined(CLCOOK_CHANNEL_HALF)
  const uint key = (uint)bits ^ ((bits & 0x8000u) != 0 ? 0xFFFFu : 0x8000u);
  return (bits & 0x7FFFu) > 0x7C00u ? 0xFFFFu : key;
#else
  const uint key = bits ^ ((bits & 0x80000000u) != 0 ? 0xFFFFFFFFu : 0x80000000u);
  return (bits & 0x7FFFFFFFu) > 0x7F800000u ? 0xFFFFFFFFu : key;
#endif
}

RANK_FILTER_INLINE stored rank_filter_value(uint key) {
#if defined(CLCOOK_CHANNEL_TOP)
  return (stored)key;
#elif defined(CLCOOK_CHANNEL_HALF)
  return (stored)(key ^ ((key & 0x8000u) != 0 ? 0x8000u : 0xFFFFu));
#else
  return key ^ ((key & 0x80000000u) != 0 ? 0x80000000u : 0xFFFFFFFFu);
#endif
}

RANK_FILTER_INLINE uint rank_filter_outside(clcook_volume picture, int c) {
  const uint4 bits = as_uint4(picture.outside);
  return rank_filter_key((stored)(c == 0 ? bits.x : c == 1 ? bits.y : c == 2 ? bits.z : bits.w));
}

// The key of a channel of a pixel that may lie outside.
RANK_FILTER_INLINE uint rank_filter_at(__global const stored* src, clcook_view view,
                                       clcook_volume picture, int x, int y, int c) {
  const int column = clcook_border(x, picture.width, picture.border);
  const int row = clcook_border(y, picture.height, picture.border);
  if (column < 0 || row < 0) return rank_filter_outside(picture, c);
  return rank_filter_key(
      src[clcook_view_row(view, 0, 0, row) + (ulong)column * CHANNELS + (ulong)c]);
}

RANK_FILTER_INLINE void rank_filter_put(__global stored* dst, clcook_view view, int x, int y, int c,
                                        uint key) {
  dst[clcook_view_row(view, 0, 0, y) + (ulong)x * CHANNELS + (ulong)c] = rank_filter_value(key);
}

// ------------------------------------------------------------------------------------------------
// select: the result's key is the largest one that at most `rank` neighbours are below. Its bits are
// found from the top: KEY_BITS times all neighbours are read and counted. Items in a row take the
// channels of a row.
#ifdef CLCOOK_RANK_FILTER_SELECT
__kernel RANK_FILTER_GROUP(TILE_W, TILE_H, 1) void rank_filter_select(
    __global const stored* restrict src, clcook_view src_view, __global stored* restrict dst,
    clcook_view dst_view, clcook_volume picture, uint rank) {
  const int x = (int)get_global_id(0) / CHANNELS;
  const int c = (int)get_global_id(0) % CHANNELS;
  const int y = (int)get_global_id(1);
  if (x >= picture.width || y >= picture.height) return;
  const int inside =
      x >= RADIUS && y >= RADIUS && x + RADIUS < picture.width && y + RADIUS < picture.height;
  uint found = 0;
  for (int bit = KEY_BITS - 1; bit >= 0; --bit) {
    const uint next = found | 1u << bit;
    uint below = 0;
    for (int dy = -RADIUS; dy <= RADIUS; ++dy) {
      if (inside) {
        __global const stored* in = src + clcook_view_row(src_view, 0, 0, y + dy) +
                                    (ulong)(x - RADIUS) * CHANNELS + (ulong)c;
        for (int dx = 0; dx < SIDE; ++dx) below += rank_filter_key(in[dx * CHANNELS]) < next;
      } else {
        for (int dx = -RADIUS; dx <= RADIUS; ++dx)
          below += rank_filter_at(src, src_view, picture, x + dx, y + dy, c) < next;
      }
    }
    if (below <= rank) found = next;
  }
  rank_filter_put(dst, dst_view, x, y, c, found);
}
#endif

// ------------------------------------------------------------------------------------------------
// local_tile: a group loads the keys of its tile and the halo once, of one channel: the third
// dimension. Local memory: SPAN_W x SPAN_H keys.
#define SPAN_W (TILE_W + 2 * RADIUS)
#define SPAN_H (TILE_H + 2 * RADIUS)

RANK_FILTER_INLINE void rank_filter_load(__local stored* tile, int lid, int items,
                                         __global const stored* src, clcook_view view,
                                         clcook_volume picture, int x0, int y0, int c) {
  const int inside =
      x0 >= 0 && y0 >= 0 && x0 + SPAN_W <= picture.width && y0 + SPAN_H <= picture.height;
  for (int cell = lid; cell < SPAN_W * SPAN_H; cell += items) {
    const int j = cell / SPAN_W;
    const int i = cell - j * SPAN_W;
    tile[cell] = (stored)(inside ? rank_filter_key(src[clcook_view_row(view, 0, 0, y0 + j) +
                                                       (ulong)(x0 + i) * CHANNELS + (ulong)c])
                                 : rank_filter_at(src, view, picture, x0 + i, y0 + j, c));
  }
}

#ifdef CLCOOK_RANK_FILTER_LOCAL_TILE
__kernel RANK_FILTER_GROUP(TILE_W, TILE_H, 1) void rank_filter_local_tile(
    __global const stored* restrict src, clcook_view src_view, __global stored* restrict dst,
    clcook_view dst_view, clcook_volume picture, uint rank, __local stored* restrict tile) {
  const int i = (int)get_local_id(0);
  const int j = (int)get_local_id(1);
  const int x = (int)get_group_id(0) * TILE_W + i;
  const int y = (int)get_group_id(1) * TILE_H + j;
  const int c = (int)get_group_id(2);
  rank_filter_load(tile, j * TILE_W + i, TILE_W * TILE_H, src, src_view, picture, x - i - RADIUS,
                   y - j - RADIUS, c);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (x < picture.width && y < picture.height) {
    uint found = 0;
    for (int bit = KEY_BITS - 1; bit >= 0; --bit) {
      const uint next = found | 1u << bit;
      uint below = 0;
      for (int dy = 0; dy < SIDE; ++dy) {
        __local const stored* in = tile + (j + dy) * SPAN_W + i;
        for (int dx = 0; dx < SIDE; ++dx) below += in[dx] < next;
      }
      if (below <= rank) found = next;
    }
    rank_filter_put(dst, dst_view, x, y, c, found);
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// local_tile_multi: OUTPUTS results of a column per item. A neighbour is read once for all of them;
// nothing is below the bound 0 of those that do not see it.
#ifdef CLCOOK_RANK_FILTER_LOCAL_TILE_MULTI
__kernel RANK_FILTER_GROUP(TILE_W, TILE_H / OUTPUTS, 1) void rank_filter_local_tile_multi(
    __global const stored* restrict src, clcook_view src_view, __global stored* restrict dst,
    clcook_view dst_view, clcook_volume picture, uint rank, __local stored* restrict tile) {
  const int i = (int)get_local_id(0);
  const int j = (int)get_local_id(1) * OUTPUTS;
  const int x = (int)get_group_id(0) * TILE_W + i;
  const int y = (int)get_group_id(1) * TILE_H + j;
  const int c = (int)get_group_id(2);
  rank_filter_load(tile, (int)get_local_id(1) * TILE_W + i, TILE_W * (TILE_H / OUTPUTS), src,
                   src_view, picture, x - i - RADIUS, y - j - RADIUS, c);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (x < picture.width && y < picture.height) {
    uint found[OUTPUTS];
#pragma unroll
    for (int q = 0; q < OUTPUTS; ++q) found[q] = 0;
    for (int bit = KEY_BITS - 1; bit >= 0; --bit) {
      uint below[OUTPUTS];
#pragma unroll
      for (int q = 0; q < OUTPUTS; ++q) below[q] = 0;
      for (int t = 0; t < SIDE + OUTPUTS - 1; ++t) {
        __local const stored* in = tile + (j + t) * SPAN_W + i;
        uint next[OUTPUTS];
#pragma unroll
        for (int q = 0; q < OUTPUTS; ++q)
          next[q] = t >= q && t - q < SIDE ? found[q] | 1u << bit : 0;
        for (int dx = 0; dx < SIDE; ++dx) {
          const uint key = in[dx];
#pragma unroll
          for (int q = 0; q < OUTPUTS; ++q) below[q] += key < next[q];
        }
      }
#pragma unroll
      for (int q = 0; q < OUTPUTS; ++q) {
        if (below[q] <= rank) found[q] |= 1u << bit;
      }
    }
#pragma unroll
    for (int q = 0; q < OUTPUTS; ++q) {
      if (y + q < picture.height) rank_filter_put(dst, dst_view, x, y + q, c, found[q]);
    }
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// Networks of comparisons, for radius 1 to 3. Each row of the neighbourhood is sorted. Two results,
// one below the other, share all rows but one each: the shared ones are merged (Batcher's odd-even
// merge), and each result is chosen from them and its own row. What no result needs is not in the
// program: the compiler drops comparisons whose result is not used, and RANK decides which are.
//
// In ascending order number k of two sorted sequences together is the smallest of the largest of i
// values of one and k + 1 - i of the other, over all i.
#if LANES > 16  // no built-in function takes them
#define RANK_FILTER_MIN(a, b) ((a) < (b) ? (a) : (b))
#define RANK_FILTER_MAX(a, b) ((a) < (b) ? (b) : (a))
#else
#define RANK_FILTER_MIN min
#define RANK_FILTER_MAX max
#endif

#define RANK_FILTER_SORT(V, a, i, j)               \
  do {                                             \
    const V low = RANK_FILTER_MIN((a)[i], (a)[j]); \
    (a)[j] = RANK_FILTER_MAX((a)[i], (a)[j]);      \
    (a)[i] = low;                                  \
  } while (0)

#if RADIUS == 1
#define RANK_FILTER_SORT_ROW(V, a) \
  do {                             \
    RANK_FILTER_SORT(V, a, 0, 2);  \
    RANK_FILTER_SORT(V, a, 0, 1);  \
    RANK_FILTER_SORT(V, a, 1, 2);  \
  } while (0)
#elif RADIUS == 2
#define RANK_FILTER_SORT_ROW(V, a) \
  do {                             \
    RANK_FILTER_SORT(V, a, 0, 3);  \
    RANK_FILTER_SORT(V, a, 1, 4);  \
    RANK_FILTER_SORT(V, a, 0, 2);  \
    RANK_FILTER_SORT(V, a, 1, 3);  \
    RANK_FILTER_SORT(V, a, 0, 1);  \
    RANK_FILTER_SORT(V, a, 2, 4);  \
    RANK_FILTER_SORT(V, a, 1, 2);  \
    RANK_FILTER_SORT(V, a, 3, 4);  \
    RANK_FILTER_SORT(V, a, 2, 3);  \
  } while (0)
#else
#define RANK_FILTER_SORT_ROW(V, a) \
  do {                             \
    RANK_FILTER_SORT(V, a, 0, 6);  \
    RANK_FILTER_SORT(V, a, 2, 3);  \
    RANK_FILTER_SORT(V, a, 4, 5);  \
    RANK_FILTER_SORT(V, a, 0, 2);  \
    RANK_FILTER_SORT(V, a, 1, 4);  \
    RANK_FILTER_SORT(V, a, 3, 6);  \
    RANK_FILTER_SORT(V, a, 0, 1);  \
    RANK_FILTER_SORT(V, a, 2, 5);  \
    RANK_FILTER_SORT(V, a, 3, 4);  \
    RANK_FILTER_SORT(V, a, 1, 2);  \
    RANK_FILTER_SORT(V, a, 4, 6);  \
    RANK_FILTER_SORT(V, a, 2, 3);  \
    RANK_FILTER_SORT(V, a, 4, 5);  \
    RANK_FILTER_SORT(V, a, 1, 2);  \
    RANK_FILTER_SORT(V, a, 3, 4);  \
    RANK_FILTER_SORT(V, a, 5, 6);  \
  } while (0)
#endif

// One step of the merge of two halves of H values: comparisons of values that are K apart.
#define RANK_FILTER_MERGE_STEP(V, all, H, K)                    \
  _Pragma("unroll") for (int e = 0; e + (K) < 2 * (H); ++e) {   \
    if ((K) == (H) ? e < (H) : (K) < (H) && (e / (K)) % 2 == 1) \
      RANK_FILTER_SORT(V, all, e, e + (K));                     \
  }

// to[0 .. na + nb - 1]: the sorted a and b as one. H is a power of two, 32 at most, and at least na and
// nb; both are filled up with the largest key.
#define RANK_FILTER_MERGE(V, H, a, na, b, nb, to)                            \
  do {                                                                       \
    V all[2 * (H)];                                                          \
    _Pragma("unroll") for (int e = 0; e < (H); ++e) {                        \
      all[e] = e < (na) ? (a)[e < (na) ? e : 0] : ~(V)(0);                   \
      all[(H) + e] = e < (nb) ? (b)[e < (nb) ? e : 0] : ~(V)(0);             \
    }                                                                        \
    RANK_FILTER_MERGE_STEP(V, all, H, 32)                                    \
    RANK_FILTER_MERGE_STEP(V, all, H, 16)                                    \
    RANK_FILTER_MERGE_STEP(V, all, H, 8)                                     \
    RANK_FILTER_MERGE_STEP(V, all, H, 4)                                     \
    RANK_FILTER_MERGE_STEP(V, all, H, 2)                                     \
    RANK_FILTER_MERGE_STEP(V, all, H, 1)                                     \
    _Pragma("unroll") for (int e = 0; e < (na) + (nb); ++e)(to)[e] = all[e]; \
  } while (0)

#if RADIUS == 1
#define RANK_FILTER_COMMON(V, rows, common) \
  RANK_FILTER_MERGE(V, 4, (rows)[0], 3, (rows)[1], 3, common)
#elif RADIUS == 2
#define RANK_FILTER_COMMON(V, rows, common)                     \
  do {                                                          \
    V upper[10], lower[10];                                     \
    RANK_FILTER_MERGE(V, 8, (rows)[0], 5, (rows)[1], 5, upper); \
    RANK_FILTER_MERGE(V, 8, (rows)[2], 5, (rows)[3], 5, lower); \
    RANK_FILTER_MERGE(V, 16, upper, 10, lower, 10, common);     \
  } while (0)
#else
#define RANK_FILTER_COMMON(V, rows, common)                      \
  do {                                                           \
    V upper[14], middle[14], lower[14], both[28];                \
    RANK_FILTER_MERGE(V, 8, (rows)[0], 7, (rows)[1], 7, upper);  \
    RANK_FILTER_MERGE(V, 8, (rows)[2], 7, (rows)[3], 7, middle); \
    RANK_FILTER_MERGE(V, 8, (rows)[4], 7, (rows)[5], 7, lower);  \
    RANK_FILTER_MERGE(V, 16, upper, 14, middle, 14, both);       \
    RANK_FILTER_MERGE(V, 32, both, 28, lower, 14, common);       \
  } while (0)
#endif

// Two results of SIDE + 1 sorted rows.
#define RANK_FILTER_PAIR(NAME, V)                                       \
  RANK_FILTER_INLINE V NAME##_choose(const V* common, const V* own) {   \
    V best = ~(V)(0);                                                   \
    _Pragma("unroll") for (int e = 0; e <= SIDE; ++e) {                 \
      const int rest = RANK + 1 - e;                                    \
      if (rest >= 0 && rest <= (SIDE - 1) * SIDE) {                     \
        const V last = e == 0 ? (V)(0) : own[e == 0 ? 0 : e - 1];       \
        const V other = common[rest == 0 ? 0 : rest - 1];               \
        const V most = rest == 0 ? last : RANK_FILTER_MAX(last, other); \
        best = RANK_FILTER_MIN(best, most);                             \
      }                                                                 \
    }                                                                   \
    return best;                                                        \
  }                                                                     \
  RANK_FILTER_INLINE void NAME(V(*rows)[SIDE], V* upper, V* lower) {    \
    V common[(SIDE - 1) * SIDE];                                        \
    RANK_FILTER_COMMON(V, rows + 1, common);                            \
    *upper = NAME##_choose(common, rows[0]);                            \
    *lower = NAME##_choose(common, rows[SIDE]);                         \
  }

#if RADIUS <= 3
// network: OUTPUTS results of a column per item, an even number, all in registers. Items in a row take
// the channels of a row.
#ifdef CLCOOK_RANK_FILTER_NETWORK
RANK_FILTER_PAIR(rank_filter_pair, uint)

__kernel RANK_FILTER_GROUP(TILE_W, TILE_H / OUTPUTS, 1) void rank_filter_network(
    __global const stored* restrict src, clcook_view src_view, __global stored* restrict dst,
    clcook_view dst_view, clcook_volume picture, uint rank) {
  const int x = (int)get_global_id(0) / CHANNELS;
  const int c = (int)get_global_id(0) % CHANNELS;
  const int y = (int)get_global_id(1) * OUTPUTS;
  if (x >= picture.width || y >= picture.height) return;
  uint rows[SIDE + OUTPUTS - 1][SIDE];
  if (x >= RADIUS && y >= RADIUS && x + RADIUS < picture.width &&
      y + OUTPUTS - 1 + RADIUS < picture.height) {
    src += clcook_view_row(src_view, 0, 0, y - RADIUS) + (ulong)(x - RADIUS) * CHANNELS + (ulong)c;
#pragma unroll
    for (int t = 0; t < SIDE + OUTPUTS - 1; ++t) {
#pragma unroll
      for (int dx = 0; dx < SIDE; ++dx) rows[t][dx] = rank_filter_key(src[dx * CHANNELS]);
      src += src_view.pitch;
    }
  } else {
    const uint outside = rank_filter_outside(picture, c);
    int columns[SIDE];
#pragma unroll
    for (int dx = 0; dx < SIDE; ++dx)
      columns[dx] = clcook_border(x + dx - RADIUS, picture.width, picture.border);
#pragma unroll
    for (int t = 0; t < SIDE + OUTPUTS - 1; ++t) {
      const int row = clcook_border(y + t - RADIUS, picture.height, picture.border);
      __global const stored* in = src + clcook_view_row(src_view, 0, 0, max(row, 0)) + (ulong)c;
#pragma unroll
      for (int dx = 0; dx < SIDE; ++dx) {
        const uint key = rank_filter_key(in[(ulong)max(columns[dx], 0) * CHANNELS]);
        rows[t][dx] = row < 0 || columns[dx] < 0 ? outside : key;
      }
    }
  }
#pragma unroll
  for (int t = 0; t < SIDE + OUTPUTS - 1; ++t) RANK_FILTER_SORT_ROW(uint, rows[t]);
#pragma unroll
  for (int q = 0; q < OUTPUTS; q += 2) {
    uint upper, lower;
    rank_filter_pair(rows + q, &upper, &lower);
    if (y + q < picture.height) rank_filter_put(dst, dst_view, x, y + q, c, upper);
    if (y + q + 1 < picture.height) rank_filter_put(dst, dst_view, x, y + q + 1, c, lower);
  }
}
#endif
// network_packed: two results side by side in a word, of up to 16 bits each: those of an item and of
// the column TILE_W further on. One comparison is for both, where the device has such instructions.
#if defined(CLCOOK_RANK_FILTER_NETWORK_PACKED) && KEY_BITS <= 16
RANK_FILTER_PAIR(rank_filter_packed_pair, ushort2)

__kernel RANK_FILTER_GROUP(TILE_W, TILE_H / OUTPUTS, 1) void rank_filter_network_packed(
    __global const stored* restrict src, clcook_view src_view, __global stored* restrict dst,
    clcook_view dst_view, clcook_volume picture, uint rank) {
  const int first = (int)get_group_id(0) * (2 * TILE_W) + (int)get_local_id(0);
  const int second = first + TILE_W;
  const int2 x = (int2)(first / CHANNELS, second / CHANNELS);
  const int2 c = (int2)(first % CHANNELS, second % CHANNELS);
  const int y = (int)get_global_id(1) * OUTPUTS;
  if (x.x >= picture.width || y >= picture.height) return;
  ushort2 rows[SIDE + OUTPUTS - 1][SIDE];
  if (x.x >= RADIUS && y >= RADIUS && x.y + RADIUS < picture.width &&
      y + OUTPUTS - 1 + RADIUS < picture.height) {
    src += clcook_view_row(src_view, 0, 0, y - RADIUS) + (ulong)(first - RADIUS * CHANNELS);
#pragma unroll
    for (int t = 0; t < SIDE + OUTPUTS - 1; ++t) {
#pragma unroll
      for (int dx = 0; dx < SIDE; ++dx)
        rows[t][dx] = (ushort2)((ushort)rank_filter_key(src[dx * CHANNELS]),
                                (ushort)rank_filter_key(src[dx * CHANNELS + TILE_W]));
      src += src_view.pitch;
    }
  } else {
    const ushort2 outside = (ushort2)((ushort)rank_filter_outside(picture, c.x),
                                      (ushort)rank_filter_outside(picture, c.y));
    int2 columns[SIDE];
#pragma unroll
    for (int dx = 0; dx < SIDE; ++dx)
      columns[dx] = (int2)(clcook_border(x.x + dx - RADIUS, picture.width, picture.border),
                           clcook_border(x.y + dx - RADIUS, picture.width, picture.border));
#pragma unroll
    for (int t = 0; t < SIDE + OUTPUTS - 1; ++t) {
      const int row = clcook_border(y + t - RADIUS, picture.height, picture.border);
      __global const stored* in = src + clcook_view_row(src_view, 0, 0, max(row, 0));
#pragma unroll
      for (int dx = 0; dx < SIDE; ++dx) {
        const ushort a =
            (ushort)rank_filter_key(in[(ulong)max(columns[dx].x, 0) * CHANNELS + (ulong)c.x]);
        const ushort b =
            (ushort)rank_filter_key(in[(ulong)max(columns[dx].y, 0) * CHANNELS + (ulong)c.y]);
        rows[t][dx] = (ushort2)(row < 0 || columns[dx].x < 0 ? outside.x : a,
                                row < 0 || columns[dx].y < 0 ? outside.y : b);
      }
    }
  }
#pragma unroll
  for (int t = 0; t < SIDE + OUTPUTS - 1; ++t) RANK_FILTER_SORT_ROW(ushort2, rows[t]);
#pragma unroll
  for (int q = 0; q < OUTPUTS; q += 2) {
    ushort2 upper, lower;
    rank_filter_packed_pair(rows + q, &upper, &lower);
    if (y + q < picture.height) {
      rank_filter_put(dst, dst_view, x.x, y + q, c.x, upper.x);
      if (x.y < picture.width) rank_filter_put(dst, dst_view, x.y, y + q, c.y, upper.y);
    }
    if (y + q + 1 < picture.height) {
      rank_filter_put(dst, dst_view, x.x, y + q + 1, c.x, lower.x);
      if (x.y < picture.width) rank_filter_put(dst, dst_view, x.y, y + q + 1, c.y, lower.y);
    }
  }
}
#endif
#endif

// ------------------------------------------------------------------------------------------------
// sliding_histogram: an item goes down TILE_H rows of a channel of a column, with a histogram of the
// neighbours' upper 8 bits. From one result to the next a row of neighbours comes in and another goes
// out, and the bin that holds the result is near the last one (Huang 1979). Of wider keys the other
// bits follow, DIGIT at a time, each from a histogram of those neighbours that agree so far.
//
// Local memory: two counts of 16 bits in a word, 128 words per item and for wider keys 2^(DIGIT - 1)
// more, those of neighbouring items side by side: items never meet in a bank, and share nothing, so
// that there is no barrier. Work-group: TILE_W x 1.
#ifdef CLCOOK_RANK_FILTER_SLIDING_HISTOGRAM
#ifndef CLCOOK_RANK_FILTER_DIGIT
#define CLCOOK_RANK_FILTER_DIGIT 4
#endif
#define DIGIT CLCOOK_RANK_FILTER_DIGIT

RANK_FILTER_INLINE void rank_filter_add(__local uint* bins, uint bin, uint count) {
  bins[(bin >> 1) * TILE_W] += count << ((bin & 1u) << 4);
}
RANK_FILTER_INLINE uint rank_filter_count(__local const uint* bins, uint bin) {
  return bins[(bin >> 1) * TILE_W] >> ((bin & 1u) << 4) & 0xFFFFu;
}

__kernel RANK_FILTER_GROUP(TILE_W, 1, 1) void rank_filter_sliding_histogram(
    __global const stored* restrict src, clcook_view src_view, __global stored* restrict dst,
    clcook_view dst_view, clcook_volume picture, uint rank, __local uint* restrict all_bins) {
  const int x = (int)get_global_id(0) / CHANNELS;
  const int c = (int)get_global_id(0) % CHANNELS;
  const int y0 = (int)get_group_id(1) * TILE_H;
  const int y1 = min(y0 + TILE_H, picture.height);
  if (x >= picture.width) return;
  __local uint* bins = all_bins + get_local_id(0);
  for (int k = 0; k < 128; ++k) bins[k * TILE_W] = 0;
  const int inside_x = x >= RADIUS && x + RADIUS < picture.width;
  const ulong left = (ulong)(inside_x ? x - RADIUS : 0) * CHANNELS + (ulong)c;

  for (int y = y0 - RADIUS; y < y0 + RADIUS; ++y) {
    if (inside_x && y >= 0 && y < picture.height) {
      __global const stored* in = src + clcook_view_row(src_view, 0, 0, y) + left;
      for (int dx = 0; dx < SIDE; ++dx)
        rank_filter_add(bins, rank_filter_key(in[dx * CHANNELS]) >> (KEY_BITS - 8), 1u);
    } else {
      for (int dx = -RADIUS; dx <= RADIUS; ++dx)
        rank_filter_add(bins,
                        rank_filter_at(src, src_view, picture, x + dx, y, c) >> (KEY_BITS - 8), 1u);
    }
  }
  uint bin = 0;    // of the last result
  uint below = 0;  // neighbours in the bins before it
  for (int y = y0; y < y1; ++y) {
    const int first = y - RADIUS - 1;  // the row that goes, behind the first result
    const int last = y + RADIUS;
    if (inside_x && y > y0 && first >= 0 && last < picture.height) {
      __global const stored* in = src + clcook_view_row(src_view, 0, 0, last) + left;
      __global const stored* out = src + clcook_view_row(src_view, 0, 0, first) + left;
      for (int dx = 0; dx < SIDE; ++dx) {
        const uint more = rank_filter_key(in[dx * CHANNELS]) >> (KEY_BITS - 8);
        const uint less = rank_filter_key(out[dx * CHANNELS]) >> (KEY_BITS - 8);
        rank_filter_add(bins, more, 1u);
        rank_filter_add(bins, less, -1u);
        below += (uint)(more < bin) - (uint)(less < bin);
      }
    } else {
      for (int dx = -RADIUS; dx <= RADIUS; ++dx) {
        const uint more = rank_filter_at(src, src_view, picture, x + dx, last, c) >> (KEY_BITS - 8);
        rank_filter_add(bins, more, 1u);
        below += more < bin;
        if (y > y0) {
          const uint less =
              rank_filter_at(src, src_view, picture, x + dx, first, c) >> (KEY_BITS - 8);
          rank_filter_add(bins, less, -1u);
          below -= less < bin;
        }
      }
    }
    while (below > rank) {
      --bin;
      below -= rank_filter_count(bins, bin);
    }
    for (; bin < 255; ++bin) {
      const uint here = rank_filter_count(bins, bin);
      if (below + here > rank) break;
      below += here;
    }
    uint found = bin;
#if KEY_BITS > 8
    __local uint* digits = bins + 128 * TILE_W;
    uint rest = rank - below;
    const int inside = inside_x && y >= RADIUS && last < picture.height;
    for (int shift = KEY_BITS - 8 - DIGIT; shift >= 0; shift -= DIGIT) {
      for (int k = 0; k < (1 << DIGIT) / 2; ++k) digits[k * TILE_W] = 0;
      for (int dy = -RADIUS; dy <= RADIUS; ++dy) {
        if (inside) {
          __global const stored* in = src + clcook_view_row(src_view, 0, 0, y + dy) + left;
          for (int dx = 0; dx < SIDE; ++dx) {
            const uint key = rank_filter_key(in[dx * CHANNELS]) >> shift;
            if (key >> DIGIT == found) rank_filter_add(digits, key & ((1u << DIGIT) - 1), 1u);
          }
        } else {
          for (int dx = -RADIUS; dx <= RADIUS; ++dx) {
            const uint key = rank_filter_at(src, src_view, picture, x + dx, y + dy, c) >> shift;
            if (key >> DIGIT == found) rank_filter_add(digits, key & ((1u << DIGIT) - 1), 1u);
          }
        }
      }
      uint digit = 0;
      for (; digit < (1u << DIGIT) - 1; ++digit) {
        const uint here = rank_filter_count(digits, digit);
        if (rest < here) break;
        rest -= here;
      }
      found = found << DIGIT | digit;
    }
#endif
    rank_filter_put(dst, dst_view, x, y, c, found);
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// cpu_rows: for a CPU. One work-item is a tile of TILE_W channels x TILE_H rows, whose keys
// and halo lie in local memory, the neighbour in x CHANNELS further on; LANES channels are one explicit
// vector. Up to radius 3 the vectors go through the networks, OUTPUTS rows at a time; else the bits are
// found one after the other as in select, with counts in vectors.
//
// Group: one item. Local memory: LINE x (TILE_H + 2 RADIUS) keys.
#ifdef CLCOOK_RANK_FILTER_CPU_ROWS
#define LINE (TILE_W + 2 * RADIUS * CHANNELS)

typedef wide __attribute__((aligned(sizeof(stored)))) rank_filter_loose;

RANK_FILTER_INLINE wide rank_filter_take(__local const stored* from) {
  return *(__local const rank_filter_loose*)from;
}

#if RADIUS <= 3
RANK_FILTER_PAIR(rank_filter_wide_pair, wide)
#else
RANK_FILTER_INLINE wide rank_filter_wide_select(__local const stored* from, uint rank) {
  wide found = (wide)(0);
  for (int bit = KEY_BITS - 1; bit >= 0; --bit) {
    const wide next = found | (wide)(stored)(1u << bit);
    wide_count below = (wide_count)(0);
    for (int dy = 0; dy < SIDE; ++dy) {
      __local const stored* in = from + dy * LINE;
      wide of_row = (wide)(0);  // at most SIDE: it fits
      for (int dx = 0; dx < SIDE; ++dx)
        of_row -= WIDE_BITS(rank_filter_take(in + dx * CHANNELS) < next);
      below += WIDE_COUNT(of_row);
    }
    found = WIDE_IS(below <= (wide_count)(rank)) ? next : found;
  }
  return found;
}
#endif

RANK_FILTER_INLINE wide rank_filter_wide_values(wide keys) {
#if defined(CLCOOK_CHANNEL_TOP)
  return keys;
#else
  const wide sign = (wide)(stored)(1u << (KEY_BITS - 1));
  return keys ^ ((keys & sign) != (wide)(0) ? sign : ~(wide)(0));
#endif
}

// A whole vector by one store: PoCL takes vstore16() apart.
RANK_FILTER_INLINE void rank_filter_put_wide(__global stored* to, int count, wide keys) {
  const wide values = rank_filter_wide_values(keys);
  if (count >= LANES) {
    *(__global rank_filter_loose*)to = values;
  } else {
    stored rest[LANES];
    *(__private rank_filter_loose*)rest = values;
    for (int k = 0; k < count; ++k) to[k] = rest[k];
  }
}

__kernel RANK_FILTER_GROUP(1, 1, 1) void rank_filter_cpu_rows(
    __global const stored* restrict src, clcook_view src_view, __global stored* restrict dst,
    clcook_view dst_view, clcook_volume picture, uint rank, __local stored* restrict tile) {
  const int values = picture.width * CHANNELS;
  const int begin = (int)get_group_id(0) * TILE_W;
  const int y0 = (int)get_group_id(1) * TILE_H;
  const int count = min(TILE_W, values - begin);
  const int rows = min(TILE_H, picture.height - y0);
  // Of a line: what lies inside of the picture, and what results see. The rest, of which the last
  // vector reads some, is 0.
  const int from = begin - RADIUS * CHANNELS;
  const int left = max(-from, 0);
  const int right = min(values - from, LINE);
  const int seen = count + 2 * RADIUS * CHANNELS;

  for (int j = 0; j < TILE_H + 2 * RADIUS; ++j) {
    __local stored* line = tile + j * LINE;
    const int row = clcook_border(y0 + j - RADIUS, picture.height, picture.border);
    if (row >= 0) {
      __global const stored* in = src + clcook_view_row(src_view, 0, 0, row);
      for (int i = left; i < right; ++i) line[i] = (stored)rank_filter_key(in[from + i]);
    } else {
      for (int i = left; i < right; ++i)
        line[i] = (stored)rank_filter_outside(picture, (from + i) % CHANNELS);
    }
    for (int i = 0; i < left; ++i)
      line[i] = (stored)rank_filter_at(src, src_view, picture, (begin + i) / CHANNELS - RADIUS,
                                       y0 + j - RADIUS, (begin + i) % CHANNELS);
    for (int i = right; i < seen; ++i)
      line[i] = (stored)rank_filter_at(src, src_view, picture, (begin + i) / CHANNELS - RADIUS,
                                       y0 + j - RADIUS, (begin + i) % CHANNELS);
    for (int i = seen; i < LINE; ++i) line[i] = 0;
  }

#if RADIUS <= 3
  for (int j = 0; j < rows; j += OUTPUTS) {
    for (int f = 0; f < count; f += LANES) {
      wide sorted[SIDE + OUTPUTS - 1][SIDE];
#pragma unroll
      for (int t = 0; t < SIDE + OUTPUTS - 1; ++t) {
#pragma unroll
        for (int dx = 0; dx < SIDE; ++dx)
          sorted[t][dx] = rank_filter_take(tile + (j + t) * LINE + f + dx * CHANNELS);
        RANK_FILTER_SORT_ROW(wide, sorted[t]);
      }
#pragma unroll
      for (int q = 0; q < OUTPUTS; q += 2) {
        wide upper, lower;
        rank_filter_wide_pair(sorted + q, &upper, &lower);
        __global stored* to = dst + clcook_view_row(dst_view, 0, 0, y0 + j + q) + begin + f;
        if (j + q < rows) rank_filter_put_wide(to, count - f, upper);
        if (j + q + 1 < rows) rank_filter_put_wide(to + dst_view.pitch, count - f, lower);
      }
    }
  }
#else
  for (int j = 0; j < rows; ++j) {
    __global stored* to = dst + clcook_view_row(dst_view, 0, 0, y0 + j) + begin;
    for (int f = 0; f < count; f += LANES)
      rank_filter_put_wide(to + f, count - f, rank_filter_wide_select(tile + j * LINE + f, rank));
  }
#endif
}
#endif

// ------------------------------------------------------------------------------------------------
// cpu_columns: 8 bits, on a CPU. One work-item is a tile of one channel, which each column of the
// picture enters with a histogram of its own: 256 counts, and 16 of the upper 4 bits alone, each with
// those of the smaller values of its vector. From row to row a value comes in and one goes out; from
// result to result a column does, all of its counts as vectors (Perreault and Hebert 2007). Of the fine
// counts only those of the result's upper value are summed: anew up to radius 7, where a byte holds the
// sum; else kept for each upper value, and brought up to date when a result lies there.
//
// Group: one item. Local memory: 272 bytes for each of TILE_W + 2 RADIUS columns.
#if defined(CLCOOK_RANK_FILTER_CPU_COLUMNS) && KEY_BITS == 8
#define COLUMNS (TILE_W + 2 * RADIUS)
#define COLUMN 17  // vectors of its counts

// Counts of a neighbourhood: of up to 225 values in bytes.
#define IS_SMALL (RADIUS <= 7)
#if IS_SMALL
typedef uchar rank_filter_sum;
typedef uchar16 rank_filter_sums;
#define TO_SUMS(counts) (counts)
#else
typedef ushort rank_filter_sum;
typedef ushort16 rank_filter_sums;
#define TO_SUMS(counts) convert_ushort16(counts)
#endif

// What a value adds to the counts of its bins: 1 to its own and all later ones.
RANK_FILTER_INLINE uchar16 rank_filter_step(uint bin) {
  const uchar16 bins = (uchar16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  return as_uchar16(bins >= (uchar16)((uchar)bin)) & (uchar16)(1);
}

// The bin of 16 that holds number *rest, which becomes its number in the bin. Each count is that of its
// bin and of all before it.
RANK_FILTER_INLINE uint rank_filter_bin(rank_filter_sums counts, uint* rest) {
  const ulong2 below =
      as_ulong2(convert_char16(counts <= (rank_filter_sums)((rank_filter_sum)*rest)));
  const uint bin = (uint)(popcount(below.x) + popcount(below.y)) / 8;
  rank_filter_sum count[17];
  count[0] = 0;
  vstore16(counts, 0, count + 1);
  *rest -= count[bin];
  return bin;
}

__kernel RANK_FILTER_GROUP(1, 1, 1) void rank_filter_cpu_columns(
    __global const stored* restrict src, clcook_view src_view, __global stored* restrict dst,
    clcook_view dst_view, clcook_volume picture, uint rank, __local uchar16* restrict memory) {
  const int x0 = (int)get_group_id(0) * TILE_W;
  const int y0 = (int)get_group_id(1) * TILE_H;
  const int c = (int)get_group_id(2);
  const int count = min(TILE_W, picture.width - x0);
  const int y1 = min(y0 + TILE_H, picture.height);
  const uchar outside = (uchar)rank_filter_outside(picture, c);
  long at[COLUMNS];  // in a row; -1 for the constant
  for (int i = 0; i < count + 2 * RADIUS; ++i) {
    const int column = clcook_border(x0 + i - RADIUS, picture.width, picture.border);
    at[i] = column < 0 ? -1 : (long)column * CHANNELS + c;
    for (int k = 0; k < COLUMN; ++k) memory[i * COLUMN + k] = (uchar16)(0);
  }

  for (int y = y0 - 2 * RADIUS; y < y1; ++y) {
    const int last = clcook_border(y + RADIUS, picture.height, picture.border);
    const int first = clcook_border(y - RADIUS - 1, picture.height, picture.border);
    __global const stored* in = src + clcook_view_row(src_view, 0, 0, max(last, 0));
    __global const stored* out = src + clcook_view_row(src_view, 0, 0, max(first, 0));
    for (int i = 0; i < count + 2 * RADIUS; ++i) {
      __local uchar16* column = memory + i * COLUMN;
      const uchar more = last < 0 || at[i] < 0 ? outside : in[at[i]];
      column[more / 16] += rank_filter_step(more % 16);
      column[16] += rank_filter_step(more / 16);
      if (y <= y0) continue;
      const uchar less = first < 0 || at[i] < 0 ? outside : out[at[i]];
      column[less / 16] -= rank_filter_step(less % 16);
      column[16] -= rank_filter_step(less / 16);
    }
    if (y < y0) continue;

    rank_filter_sums upper = (rank_filter_sums)(0);
    for (int i = 0; i < 2 * RADIUS; ++i) upper += TO_SUMS(memory[i * COLUMN + 16]);
#if !IS_SMALL
    rank_filter_sums lower[16];
    int seen[16];  // columns seen[k] - SIDE to seen[k] - 1 are in lower[k]
    for (int k = 0; k < 16; ++k) {
      lower[k] = (rank_filter_sums)(0);
      seen[k] = -SIDE;
    }
#endif
    __global stored* to =
        dst + clcook_view_row(dst_view, 0, 0, y) + (ulong)x0 * CHANNELS + (ulong)c;
    for (int x = 0; x < count; ++x) {
      __local const uchar16* begin = memory + x * COLUMN;
      upper += TO_SUMS(begin[2 * RADIUS * COLUMN + 16]);
      uint rest = rank;
      const uint k = rank_filter_bin(upper, &rest);
#if IS_SMALL
      rank_filter_sums counts = begin[k];
      for (int i = 1; i < SIDE; ++i) counts += begin[i * COLUMN + k];
#else
      __local const uchar16* fine = memory + k;
      rank_filter_sums counts = lower[k];
      int next = seen[k];
      if (2 * (x + SIDE - next) > SIDE) {  // fewer columns than to bring it up to date
        counts = (rank_filter_sums)(0);
        for (next = x; next < x + SIDE; ++next) counts += TO_SUMS(fine[next * COLUMN]);
      } else {
        for (; next < x + SIDE; ++next)
          counts += TO_SUMS(fine[next * COLUMN]) - TO_SUMS(fine[(next - SIDE) * COLUMN]);
      }
      lower[k] = counts;
      seen[k] = next;
#endif
      to[x * CHANNELS] = (stored)(16 * k + rank_filter_bin(counts, &rest));
      upper -= TO_SUMS(begin[16]);
    }
  }
}
#endif
