// The indices of the bright pixels of a picture, in order: every variant of stream_compaction.
//
// A pixel is a uint of 4 bytes r, g, b, a, lowest first, or with CLCOOK_STREAM_COMPACTION_FLOATS one
// of pixel.clh with 4 channels. It is kept when 54 r + 183 g + 19 b >= threshold, in floats
// fma(54, r, fma(183, g, 19 b)). dst receives the indices of the kept pixels, ascending.
//
// Passes: count finds how many pixels each work-group keeps (byte_words and bit_words have passes
// of their own, which also store the flags), scan turns the counts into the groups' first
// positions, and the variant's kernel writes the indices. A group has
// CLCOOK_STREAM_COMPACTION_GROUP items, a multiple of 32, and 32 pixels per item. All passes have
// the same groups; scan is one group. Offsets are in pixels, indices and counts; count is at
// least 1. With CLCOOK_STREAM_COMPACTION_ROWS the pixels lie in rows of `width`, src_pitch apart,
// and pixel i is the one at (i % width, i / width); without, in one row.
//
// The host compiles one kernel per program: -DCLCOOK_STREAM_COMPACTION_ONLY
// -DCLCOOK_STREAM_COMPACTION_<KERNEL>.

#ifndef CLCOOK_STREAM_COMPACTION_ONLY
#define CLCOOK_STREAM_COMPACTION_COUNT
#define CLCOOK_STREAM_COMPACTION_SCAN
#define CLCOOK_STREAM_COMPACTION_INT_FLAGS
#define CLCOOK_STREAM_COMPACTION_PREDICATES
#define CLCOOK_STREAM_COMPACTION_BIT_FLAGS
#define CLCOOK_STREAM_COMPACTION_BYTE_WORDS
#define CLCOOK_STREAM_COMPACTION_BIT_WORDS
#endif

#ifndef CLCOOK_STREAM_COMPACTION_GROUP
#define CLCOOK_STREAM_COMPACTION_GROUP 256
#endif
#define GROUP CLCOOK_STREAM_COMPACTION_GROUP
#define STREAM_COMPACTION_GROUP __attribute__((reqd_work_group_size(GROUP, 1, 1)))
#define PIXELS 32

#ifdef CLCOOK_STREAM_COMPACTION_FLOATS
#include <clcook/pixel.clh>
typedef clcook_channel_t stream_compaction_stored_t;
typedef float4 stream_compaction_pixel_t;
typedef float stream_compaction_threshold_t;
#define LOAD(p, i) clcook_floats(clcook_load_pixel(p, i))
#define SKIP(p, pixels) ((p) + 4 * (pixels))

static inline int stream_compaction_keep(float4 pixel, float threshold) {
  return fma(54.0f, pixel.x, fma(183.0f, pixel.y, 19.0f * pixel.z)) >= threshold;
}
#else
typedef uint stream_compaction_stored_t;
typedef uint stream_compaction_pixel_t;
typedef uint stream_compaction_threshold_t;
#define LOAD(p, i) (p)[i]
#define SKIP(p, pixels) ((p) + (pixels))

static inline int stream_compaction_keep(uint pixel, uint threshold) {
  const uint r = pixel & 0xFFu;
  const uint g = (pixel >> 8) & 0xFFu;
  const uint b = (pixel >> 16) & 0xFFu;
  return 54u * r + 183u * g + 19u * b >= threshold;
}
#endif
#define THRESHOLD stream_compaction_threshold_t threshold

#ifdef CLCOOK_STREAM_COMPACTION_ROWS
#define SOURCE                                                                           \
  __global const stream_compaction_stored_t *restrict src, ulong src_offset, uint width, \
      ulong src_pitch
#define SOURCE_ARGUMENTS src, src_offset, width, src_pitch
#define PIXEL(i) \
  LOAD(src, src_offset + (ulong)((uint)(i) / width) * src_pitch + (ulong)((uint)(i) % width))
#else
#define SOURCE __global const stream_compaction_stored_t *restrict src, ulong src_offset
#define SOURCE_ARGUMENTS SKIP(src, src_offset), 0ul
#define PIXEL(i) LOAD(src, src_offset + (i))
#endif

// The sum of `value` over the items before this one; the sum over all of them in `total`. For all
// items of the group.
static inline uint stream_compaction_scan_group(uint value, __local uint* cells, uint* total) {
  const int lid = (int)get_local_id(0);
  cells[lid] = value;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int distance = 1; distance < GROUP; distance *= 2) {
    const uint before = lid >= distance ? cells[lid - distance] : 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    cells[lid] += before;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  *total = cells[GROUP - 1];
  return cells[lid] - value;
}

// ------------------------------------------------------------------------------------------------
// count: counts[group] = how many of its pixels are kept. Neighbouring items read neighbouring
// pixels: the order does not matter here.
#ifdef CLCOOK_STREAM_COMPACTION_COUNT
__kernel STREAM_COMPACTION_GROUP void stream_compaction_count(SOURCE,
                                                              __global uint* restrict counts,
                                                              ulong count, THRESHOLD) {
  __local uint cells[GROUP];
  const ulong first = get_group_id(0) * (ulong)(GROUP * PIXELS);
  uint kept = 0;
  for (int k = 0; k < PIXELS; ++k) {
    const ulong i = first + (ulong)(k * GROUP) + get_local_id(0);
    kept += i < count ? (uint)stream_compaction_keep(PIXEL(i), threshold) : 0u;
  }
  uint total = 0;
  stream_compaction_scan_group(kept, cells, &total);
  if (get_local_id(0) == 0) {
    counts[get_group_id(0)] = total;
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// scan: counts[i] becomes the sum of the counts before i; kept[kept_offset] the sum of all. One
// group, CLCOOK_STREAM_COMPACTION_COUNTS counts per item and turn.
#ifdef CLCOOK_STREAM_COMPACTION_SCAN
#ifndef CLCOOK_STREAM_COMPACTION_COUNTS
#define CLCOOK_STREAM_COMPACTION_COUNTS 16
#endif
#define SCAN_COUNTS CLCOOK_STREAM_COMPACTION_COUNTS
__kernel STREAM_COMPACTION_GROUP void stream_compaction_scan(__global uint* restrict counts,
                                                             uint groups,
                                                             __global uint* restrict kept,
                                                             ulong kept_offset) {
  __local uint cells[GROUP];
  uint before = 0;
  for (uint first = 0; first < groups; first += GROUP * SCAN_COUNTS) {
    const uint begin = first + (uint)get_local_id(0) * SCAN_COUNTS;
    uint sum = 0;
    for (uint i = begin; i < min(begin + SCAN_COUNTS, groups); ++i) {
      sum += counts[i];
    }
    uint total = 0;
    uint position = before + stream_compaction_scan_group(sum, cells, &total);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = begin; i < min(begin + SCAN_COUNTS, groups); ++i) {
      const uint one = counts[i];
      counts[i] = position;
      position += one;
    }
    before += total;
  }
  if (get_local_id(0) == 0) {
    kept[kept_offset] = before;
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// int_flags: an item finds the flags of 32 consecutive pixels, keeps them as 32 ints across the
// scan, and counts its way through them.
#ifdef CLCOOK_STREAM_COMPACTION_INT_FLAGS
__kernel STREAM_COMPACTION_GROUP void stream_compaction_int_flags(
    SOURCE, __global const uint* restrict counts, __global uint* restrict dst, ulong dst_offset,
    ulong count, THRESHOLD) {
  __local uint cells[GROUP];
  const ulong first = get_global_id(0) * PIXELS;
  int flag[PIXELS];
  int kept = 0;
#pragma unroll
  for (int k = 0; k < PIXELS; ++k) {
    const ulong i = min(first + (ulong)k, count - 1);
    flag[k] = stream_compaction_keep(PIXEL(i), threshold) & (first + (ulong)k < count);
    kept += flag[k];
  }
  uint total = 0;
  uint position = counts[get_group_id(0)] + stream_compaction_scan_group((uint)kept, cells, &total);
  dst += dst_offset;
#pragma unroll
  for (int k = 0; k < PIXELS; ++k) {
    if (flag[k] != 0) {
      dst[position] = (uint)first + (uint)k;
    }
    position += (uint)flag[k];
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// predicates: as int_flags, but nothing is kept across the scan: the pixels are read and compared
// again, and each comparison is used at once.
#ifdef CLCOOK_STREAM_COMPACTION_PREDICATES
__kernel STREAM_COMPACTION_GROUP void stream_compaction_predicates(
    SOURCE, __global const uint* restrict counts, __global uint* restrict dst, ulong dst_offset,
    ulong count, THRESHOLD) {
  __local uint cells[GROUP];
  const ulong first = get_global_id(0) * PIXELS;
  const int pixels = (int)min((ulong)PIXELS, count - min(first, count));
#ifdef CLCOOK_STREAM_COMPACTION_ROWS
#define RUN_PIXEL(k) PIXEL(first + (ulong)(k))
#else
  src = SKIP(src, src_offset + first);
#define RUN_PIXEL(k) LOAD(src, k)
#endif
  uint kept = 0;
  for (int k = 0; k < pixels; ++k) {
    kept += (uint)stream_compaction_keep(RUN_PIXEL(k), threshold);
  }
  uint total = 0;
  uint position = counts[get_group_id(0)] + stream_compaction_scan_group(kept, cells, &total);
  dst += dst_offset;
  for (int k = 0; k < pixels; ++k) {
    if (stream_compaction_keep(RUN_PIXEL(k), threshold)) {
      dst[position++] = (uint)first + (uint)k;
    }
  }
}
#endif

// Writes the indices of the group's kept pixels, from one word of flags per item: pixel e of the
// group is bit e % 32 of word e / 32, and its position the number of ones below. Neighbouring items
// take neighbouring pixels, so that their stores are neighbours too.
static inline void stream_compaction_write(uint word, __local uint* cells, __local uint* words,
                                           uint position, __global uint* dst) {
  const int lid = (int)get_local_id(0);
  uint total = 0;
  const uint before = stream_compaction_scan_group((uint)popcount(word), cells, &total);
  barrier(CLK_LOCAL_MEM_FENCE);
  cells[lid] = position + before;
  words[lid] = word;
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint first = (uint)get_group_id(0) * (uint)(GROUP * PIXELS);
  const uint bit = 1u << (lid % 32);
  for (int k = 0; k < PIXELS; ++k) {
    const int at = k * (GROUP / 32) + lid / 32;
    const uint flags = words[at];
    if ((flags & bit) != 0) {
      dst[cells[at] + (uint)popcount(flags & (bit - 1u))] = first + (uint)(k * GROUP + lid);
    }
  }
}

// The flags of the pixels i to i + 3 in the lowest bits.
static inline int stream_compaction_four(SOURCE, ulong i, THRESHOLD) {
#ifdef CLCOOK_STREAM_COMPACTION_FLOATS
  int four = 0;
  for (int p = 0; p < 4; ++p) {
    four |= stream_compaction_keep(PIXEL(i + (ulong)p), threshold) << p;
  }
  return four;
#else
#ifdef CLCOOK_STREAM_COMPACTION_ROWS
  const bool joined = (uint)i % width + 4u <= width;
#else
  const bool joined = true;
#endif
  const uint4 pixels =
      joined ? vload4(0, &PIXEL(i)) : (uint4)(PIXEL(i), PIXEL(i + 1), PIXEL(i + 2), PIXEL(i + 3));
  return stream_compaction_keep(pixels.x, threshold) |
         stream_compaction_keep(pixels.y, threshold) << 1 |
         stream_compaction_keep(pixels.z, threshold) << 2 |
         stream_compaction_keep(pixels.w, threshold) << 3;
#endif
}

// The flags of the item's 32 consecutive pixels in one word; pixels from `count` on are not kept.
// Neighbouring items test neighbouring runs of 4 pixels; the fours of flags change hands in local
// memory, 8 of them per item. For all items of the group.
static inline uint stream_compaction_word(SOURCE, ulong count, THRESHOLD, __local uchar* fours) {
  const int lid = (int)get_local_id(0);
  for (int k = 0; k < PIXELS / 4; ++k) {
    const ulong i = get_group_id(0) * (ulong)(GROUP * PIXELS) + (ulong)(4 * (k * GROUP + lid));
    int four = 0;
    if (i + 4 <= count) {
      four = stream_compaction_four(SOURCE_ARGUMENTS, i, threshold);
    } else {
      for (int p = 0; p < 3; ++p) {
        four |=
            i + (ulong)p < count ? stream_compaction_keep(PIXEL(i + (ulong)p), threshold) << p : 0;
      }
    }
    fours[k * GROUP + lid] = (uchar)four;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  uint word = 0;
  for (int k = 0; k < PIXELS / 4; ++k) {
    word |= (uint)fours[lid * (PIXELS / 4) + k] << (4 * k);
  }
  return word;
}

// ------------------------------------------------------------------------------------------------
// bit_flags: as int_flags with the 32 flags in one register. Their number and the position of each
// are popcounts.
#ifdef CLCOOK_STREAM_COMPACTION_BIT_FLAGS
__kernel STREAM_COMPACTION_GROUP void stream_compaction_bit_flags(
    SOURCE, __global const uint* restrict counts, __global uint* restrict dst, ulong dst_offset,
    ulong count, THRESHOLD) {
  __local uint cells[GROUP];
  __local uint words[GROUP];
  __local uchar fours[GROUP * PIXELS / 4];
  const uint word = stream_compaction_word(SOURCE_ARGUMENTS, count, threshold, fours);
  stream_compaction_write(word, cells, words, counts[get_group_id(0)], dst + dst_offset);
}
#endif

// ------------------------------------------------------------------------------------------------
// byte_words: the first pass stores the flags, a byte each; the last one reads 32 bytes per item.
// The flags of the padding up to whole groups are stored as 0.
#ifdef CLCOOK_STREAM_COMPACTION_BYTE_WORDS
__kernel STREAM_COMPACTION_GROUP void stream_compaction_byte_words_mark(
    SOURCE, __global uint* restrict counts, __global uchar* restrict flags, ulong count,
    THRESHOLD) {
  __local uint cells[GROUP];
  const ulong first = get_group_id(0) * (ulong)(GROUP * PIXELS);
  uint kept = 0;
  for (int k = 0; k < PIXELS; ++k) {
    const ulong i = first + (ulong)(k * GROUP) + get_local_id(0);
    const uint flag = i < count ? (uint)stream_compaction_keep(PIXEL(i), threshold) : 0u;
    flags[i] = (uchar)flag;
    kept += flag;
  }
  uint total = 0;
  stream_compaction_scan_group(kept, cells, &total);
  if (get_local_id(0) == 0) {
    counts[get_group_id(0)] = total;
  }
}

__kernel STREAM_COMPACTION_GROUP void stream_compaction_byte_words(
    __global const uchar* restrict flags, __global const uint* restrict counts,
    __global uint* restrict dst, ulong dst_offset) {
  __local uint cells[GROUP];
  const ulong first = get_global_id(0) * PIXELS;
  uchar flag[PIXELS];
  uint kept = 0;
#pragma unroll
  for (int k = 0; k < PIXELS; ++k) {
    flag[k] = flags[first + (ulong)k];
    kept += flag[k];
  }
  uint total = 0;
  uint position = counts[get_group_id(0)] + stream_compaction_scan_group(kept, cells, &total);
  dst += dst_offset;
#pragma unroll
  for (int k = 0; k < PIXELS; ++k) {
    if (flag[k] != 0) {
      dst[position] = (uint)first + (uint)k;
    }
    position += flag[k];
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// bit_words: as byte_words with a bit per flag: the last pass reads one word per item.
#ifdef CLCOOK_STREAM_COMPACTION_BIT_WORDS
__kernel STREAM_COMPACTION_GROUP void stream_compaction_bit_words_mark(
    SOURCE, __global uint* restrict counts, __global uint* restrict flags, ulong count, THRESHOLD) {
  __local uint cells[GROUP];
  __local uchar fours[GROUP * PIXELS / 4];
  const uint word = stream_compaction_word(SOURCE_ARGUMENTS, count, threshold, fours);
  flags[get_global_id(0)] = word;
  uint total = 0;
  stream_compaction_scan_group((uint)popcount(word), cells, &total);
  if (get_local_id(0) == 0) {
    counts[get_group_id(0)] = total;
  }
}

__kernel STREAM_COMPACTION_GROUP void stream_compaction_bit_words(
    __global const uint* restrict flags, __global const uint* restrict counts,
    __global uint* restrict dst, ulong dst_offset) {
  __local uint cells[GROUP];
  __local uint words[GROUP];
  stream_compaction_write(flags[get_global_id(0)], cells, words, counts[get_group_id(0)],
                          dst + dst_offset);
}
#endif
