// The indices of the bright pixels of a picture, in order: every variant of stream_compaction.
//
// A pixel is a uint of 4 bytes r, g, b, a, lowest first, or with CLCOOK_STREAM_COMPACTION_FLOATS one
// of pixel.clh; of 2 channels, b is 0. It is kept when WR r + WG g + WB b >= threshold, in floats
// fma(WR, r, fma(WG, g, WB b)), and of one channel when 256 r >= threshold. The weights are
// CLCOOK_STREAM_COMPACTION_WR, WG and WB, whole numbers up to 255 whose sum is at most 256; by default
// 54, 183, 19. dst receives the indices of the kept pixels, ascending.
//
// Passes: count finds how many pixels each work-group keeps, scan turns the counts into the groups'
// first positions, and the variant's kernel writes the indices. Variants that store flags, whose
// names end in words or in word_runs, have their own first pass, which also stores the flags.
// look_back and unordered are one pass. A group has CLCOOK_STREAM_COMPACTION_GROUP items, a
// multiple of 32, and 32 pixels per item. All passes have the same groups; scan is one group.
// Offsets are in pixels (of 3 channels in channels, and so is src_pitch), indices and counts; count is at
// least 1. With
// CLCOOK_STREAM_COMPACTION_ROWS the pixels lie in rows of `width`, src_pitch apart, and pixel i is
// the one at (i % width, i / width); without, in one row.
//
// The host compiles one kernel per program: -DCLCOOK_STREAM_COMPACTION_ONLY
// -DCLCOOK_STREAM_COMPACTION_<KERNEL>.

#ifndef CLCOOK_STREAM_COMPACTION_ONLY
#define CLCOOK_STREAM_COMPACTION_COUNT
#define CLCOOK_STREAM_COMPACTION_SCAN
#define CLCOOK_STREAM_COMPACTION_INT_FLAGS
#define CLCOOK_STREAM_COMPACTION_PREDICATES
#define CLCOOK_STREAM_COMPACTION_BIT_RUNS
#define CLCOOK_STREAM_COMPACTION_BIT_READS
#define CLCOOK_STREAM_COMPACTION_BIT_FLAGS
#define CLCOOK_STREAM_COMPACTION_BYTE_WORDS
#define CLCOOK_STREAM_COMPACTION_WORD_RUNS
#define CLCOOK_STREAM_COMPACTION_BIT_WORDS
#define CLCOOK_STREAM_COMPACTION_BALLOT_WORDS
#define CLCOOK_STREAM_COMPACTION_LOOK_BACK
#define CLCOOK_STREAM_COMPACTION_UNORDERED
#define CLCOOK_STREAM_COMPACTION_CPU_RUNS
#endif

#ifndef CLCOOK_STREAM_COMPACTION_GROUP
#define CLCOOK_STREAM_COMPACTION_GROUP 256
#endif
#define GROUP CLCOOK_STREAM_COMPACTION_GROUP
#define STREAM_COMPACTION_GROUP __attribute__((reqd_work_group_size(GROUP, 1, 1)))
#define PIXELS 32
#ifndef CLCOOK_STREAM_COMPACTION_WR
#define CLCOOK_STREAM_COMPACTION_WR 54
#define CLCOOK_STREAM_COMPACTION_WG 183
#define CLCOOK_STREAM_COMPACTION_WB 19
#endif
#define WR CLCOOK_STREAM_COMPACTION_WR
#define WG CLCOOK_STREAM_COMPACTION_WG
#define WB CLCOOK_STREAM_COMPACTION_WB

#ifdef CLCOOK_STREAM_COMPACTION_FLOATS
#include <clcook/pixel.clh>
typedef clcook_channel_t stream_compaction_stored_t;
typedef float4 stream_compaction_pixel_t;
typedef float stream_compaction_threshold_t;
#define LOAD(p, i) clcook_unpack(clcook_load_packed(p, i))
#define SKIP(p, pixels) ((p) + CLCOOK_CHANNELS * (pixels))
#if CLCOOK_CHANNELS == 3
#define OFFSET(p, offset) ((p) + (offset))
#endif

static inline int stream_compaction_keep(float4 pixel, float threshold) {
#if CLCOOK_CHANNELS == 1
  return 256.0f * pixel.x >= threshold;
#else
  return fma((float)WR, pixel.x, fma((float)WG, pixel.y, (float)WB * pixel.z)) >= threshold;
#endif
}
#else
typedef uint stream_compaction_stored_t;
typedef uint stream_compaction_pixel_t;
typedef uint stream_compaction_threshold_t;
#define LOAD(p, i) (p)[i]
#define SKIP(p, pixels) ((p) + (pixels))

static inline int stream_compaction_keep(uint pixel, uint threshold) {
#ifdef CLCOOK_SUB_GROUP_PTX  // the products of the four bytes and their sum are one instruction
  uint sum;
  __asm__("dp4a.u32.u32 %0, %1, %2, %3;"
          : "=r"(sum)
          : "r"(pixel), "r"(WR | WG << 8 | WB << 16), "r"(0u));
  return sum >= threshold;
#else
  const uint r = pixel & 0xFFu;
  const uint g = (pixel >> 8) & 0xFFu;
  const uint b = (pixel >> 16) & 0xFFu;
  return (uint)WR * r + (uint)WG * g + (uint)WB * b >= threshold;
#endif
}
#endif
#define THRESHOLD stream_compaction_threshold_t threshold
// A pixel of the row that begins `offset` of a view behind p.
#ifdef OFFSET
#define LOAD_AT(p, offset, i) LOAD(OFFSET(p, offset), i)
#else
#define OFFSET SKIP
#define LOAD_AT(p, offset, i) LOAD(p, (offset) + (i))
#endif

#ifdef CLCOOK_STREAM_COMPACTION_ROWS
#define SOURCE                                                                           \
  __global const stream_compaction_stored_t *restrict src, ulong src_offset, uint width, \
      ulong src_pitch
#define SOURCE_ARGUMENTS src, src_offset, width, src_pitch
#define SOURCE_NAMES SOURCE_ARGUMENTS
#define PIXEL(i) \
  LOAD_AT(src, src_offset + (ulong)((uint)(i) / width) * src_pitch, (ulong)((uint)(i) % width))
#else
#define SOURCE __global const stream_compaction_stored_t *restrict src, ulong src_offset
#define SOURCE_ARGUMENTS OFFSET(src, src_offset), 0ul
#define SOURCE_NAMES src, src_offset
#define PIXEL(i) LOAD_AT(src, src_offset, i)
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
  src = SKIP(OFFSET(src, src_offset), first);
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

// Writes the indices of the item's kept pixels, from their word of flags, as a run of its own. For
// all items of the group.
static inline void stream_compaction_write_run(uint word, __local uint* cells, uint position,
                                               __global uint* dst) {
  const uint first = (uint)get_global_id(0) * (uint)PIXELS;
  uint total = 0;
  position += stream_compaction_scan_group((uint)popcount(word), cells, &total);
#pragma unroll
  for (int k = 0; k < PIXELS; ++k) {
    const uint flag = (word >> k) & 1u;
    if (flag != 0) {
      dst[position] = first + (uint)k;
    }
    position += flag;
  }
}

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

#ifndef CLCOOK_STREAM_COMPACTION_FLOATS
static inline int stream_compaction_keep_four(uint4 pixels, uint threshold) {
  return stream_compaction_keep(pixels.x, threshold) |
         stream_compaction_keep(pixels.y, threshold) << 1 |
         stream_compaction_keep(pixels.z, threshold) << 2 |
         stream_compaction_keep(pixels.w, threshold) << 3;
}
#endif

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
  return stream_compaction_keep_four(pixels, threshold);
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
// From int_flags to bit_flags, a change at a time.
//
// bit_runs: the 32 flags are the bits of one register.
#ifdef CLCOOK_STREAM_COMPACTION_BIT_RUNS
__kernel STREAM_COMPACTION_GROUP void stream_compaction_bit_runs(
    SOURCE, __global const uint* restrict counts, __global uint* restrict dst, ulong dst_offset,
    ulong count, THRESHOLD) {
  __local uint cells[GROUP];
  const ulong first = get_global_id(0) * PIXELS;
  uint word = 0;
#pragma unroll
  for (int k = 0; k < PIXELS; ++k) {
    const ulong i = min(first + (ulong)k, count - 1);
    const int flag = stream_compaction_keep(PIXEL(i), threshold) & (first + (ulong)k < count);
    word |= (uint)flag << k;
  }
  stream_compaction_write_run(word, cells, counts[get_group_id(0)], dst + dst_offset);
}
#endif

// bit_reads: and neighbouring items read neighbouring pixels.
#ifdef CLCOOK_STREAM_COMPACTION_BIT_READS
__kernel STREAM_COMPACTION_GROUP void stream_compaction_bit_reads(
    SOURCE, __global const uint* restrict counts, __global uint* restrict dst, ulong dst_offset,
    ulong count, THRESHOLD) {
  __local uint cells[GROUP];
  __local uchar fours[GROUP * PIXELS / 4];
  const uint word = stream_compaction_word(SOURCE_ARGUMENTS, count, threshold, fours);
  stream_compaction_write_run(word, cells, counts[get_group_id(0)], dst + dst_offset);
}
#endif

// bit_flags: and neighbouring items store neighbouring indices. The number of flags and the
// position of each are popcounts.
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
// bit_words: as byte_words with a bit per flag: the last pass reads one word per item, and
// neighbouring items store neighbouring indices. word_runs has the first pass of bit_words, and in
// the last one the stores of byte_words: a run per item.
#if defined(CLCOOK_STREAM_COMPACTION_BIT_WORDS) || defined(CLCOOK_STREAM_COMPACTION_BIT_WORDS_MARK)
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

#endif

#ifdef CLCOOK_STREAM_COMPACTION_WORD_RUNS
__kernel STREAM_COMPACTION_GROUP void stream_compaction_word_runs(
    __global const uint* restrict flags, __global const uint* restrict counts,
    __global uint* restrict dst, ulong dst_offset) {
  __local uint cells[GROUP];
  stream_compaction_write_run(flags[get_global_id(0)], cells, counts[get_group_id(0)],
                              dst + dst_offset);
}
#endif

#ifdef CLCOOK_STREAM_COMPACTION_BIT_WORDS
__kernel STREAM_COMPACTION_GROUP void stream_compaction_bit_words(
    __global const uint* restrict flags, __global const uint* restrict counts,
    __global uint* restrict dst, ulong dst_offset) {
  __local uint cells[GROUP];
  __local uint words[GROUP];
  stream_compaction_write(flags[get_global_id(0)], cells, words, counts[get_group_id(0)],
                          dst + dst_offset);
}
#endif

// ------------------------------------------------------------------------------------------------
// Variants with sub-groups, of at most 32 lanes. Each takes a run of LANES * 32 consecutive pixels.
#if defined(CLCOOK_STREAM_COMPACTION_BALLOT_WORDS) || \
    defined(CLCOOK_STREAM_COMPACTION_LOOK_BACK) || defined(CLCOOK_STREAM_COMPACTION_UNORDERED)
#include <clcook/sub_group.clh>
#define LANES CLCOOK_SUB_GROUP_SIZE
#define RUN_PIXELS (LANES * PIXELS)

// The sum of `kept`, the same for all lanes of a sub-group, over the sub-groups before this one, and
// in `total` over all of them. For all items of the group; `cells` has a word per sub-group.
CLCOOK_SUB_GROUP_FN uint stream_compaction_scan_sub_groups(clcook_sub_group sg, uint kept,
                                                           __local uint* cells, uint* total) {
  if (sg.lane == 0) cells[sg.id] = kept;
  barrier(CLK_LOCAL_MEM_FENCE);
  uint before = 0;
  uint sum = 0;
  for (uint s = 0; s < GROUP / LANES; ++s) {
    const uint one = cells[s];
    before += s < sg.id ? one : 0u;
    sum += one;
  }
  *total = sum;
  return before;
}
#endif

// ------------------------------------------------------------------------------------------------
// ballot_words: as bit_words, but the flags of a word come from ballots, sums from scans of
// sub-groups, and words change hands by shuffles. Two barriers per group are left of more than 20.
//
// A run is tested LANES pixels at a time: lane l tests pixel k LANES + l of it, and the ballot of
// that is mask k, which every lane knows.
#ifdef CLCOOK_STREAM_COMPACTION_BALLOT_WORDS
// Where a ballot has barriers, 32 of them in a row take compilers minutes.
#if defined(CLCOOK_SUB_GROUP_NATIVE) || defined(CLCOOK_SUB_GROUP_PTX)
#define UNROLL_BALLOTS _Pragma("unroll")
#else
#define UNROLL_BALLOTS _Pragma("unroll 1")
#endif

// The masks of the run from pixel `first` on; pixels from `count` on are not kept. Eight loads are
// under way at a time.
static inline void stream_compaction_masks(clcook_sub_group sg, SOURCE, ulong first, ulong count,
                                           THRESHOLD, clcook_lane_mask* mask) {
  UNROLL_BALLOTS
  for (int from = 0; from < PIXELS; from += 8) {
    stream_compaction_pixel_t pixel[8];
    UNROLL_BALLOTS
    for (int k = 0; k < 8; ++k) {
      const ulong i = first + (ulong)((from + k) * LANES) + sg.lane;
      pixel[k] = PIXEL(min(i, count - 1));
    }
    UNROLL_BALLOTS
    for (int k = 0; k < 8; ++k) {
      const ulong i = first + (ulong)((from + k) * LANES) + sg.lane;
      mask[from + k] = clcook_sub_group_ballot(
          sg, stream_compaction_keep(pixel[k], threshold) & (int)(i < count));
    }
  }
}

static inline uint stream_compaction_count_masks(const clcook_lane_mask* mask) {
  uint kept = 0;
#pragma unroll
  for (int k = 0; k < PIXELS; ++k) kept += (uint)popcount(mask[k]);
  return kept;
}

// The 32 bits of the run that belong to this lane: pixels 32 lane to 32 lane + 31.
static inline uint stream_compaction_word_of_lane(clcook_sub_group sg,
                                                  const clcook_lane_mask* mask) {
  uint word = 0;
#pragma unroll
  for (int k = 0; k < PIXELS; ++k) {
    if ((uint)k / (32 / LANES) == sg.lane) word |= (uint)mask[k] << (uint)k % (32 / LANES) * LANES;
  }
  return word;
}

__kernel STREAM_COMPACTION_GROUP CLCOOK_SUB_GROUP_KERNEL void stream_compaction_ballot_words_mark(
    SOURCE, __global uint* restrict counts, __global uint* restrict flags, ulong count, THRESHOLD) {
  __local uint cells[GROUP / LANES];
  CLCOOK_SUB_GROUP(sg, GROUP);
  clcook_lane_mask mask[PIXELS];
  const ulong run = get_group_id(0) * (ulong)(GROUP / LANES) + sg.id;
  stream_compaction_masks(sg, SOURCE_ARGUMENTS, run * RUN_PIXELS, count, threshold, mask);
  flags[run * LANES + sg.lane] = stream_compaction_word_of_lane(sg, mask);
  uint total = 0;
  stream_compaction_scan_sub_groups(sg, stream_compaction_count_masks(mask), cells, &total);
  if (get_local_id(0) == 0) {
    counts[get_group_id(0)] = total;
  }
}

__kernel STREAM_COMPACTION_GROUP CLCOOK_SUB_GROUP_KERNEL void stream_compaction_ballot_words(
    __global const uint* restrict flags, __global const uint* restrict counts,
    __global uint* restrict dst, ulong dst_offset) {
  __local uint cells[GROUP / LANES];
  CLCOOK_SUB_GROUP(sg, GROUP);
  const uint run = (uint)get_group_id(0) * (GROUP / LANES) + sg.id;
  const uint word = flags[run * LANES + sg.lane];
  const uint kept = (uint)popcount(word);
  const uint before = clcook_sub_group_scan_exclusive_add_uint(sg, kept);
  uint total = 0;
  const uint run_kept = clcook_sub_group_broadcast_uint(sg, before + kept, LANES - 1);
  const uint start = counts[get_group_id(0)] +
                     stream_compaction_scan_sub_groups(sg, run_kept, cells, &total) + before;
  dst += dst_offset;
  for (uint k = 0; k < PIXELS; ++k) {
    const uint pixel = k * LANES + sg.lane;
    const uint flags_there = clcook_sub_group_shuffle_uint(sg, word, pixel / 32);
    const uint start_there = clcook_sub_group_shuffle_uint(sg, start, pixel / 32);
    const uint bit = 1u << pixel % 32;
    if ((flags_there & bit) != 0) {
      dst[start_there + (uint)popcount(flags_there & (bit - 1u))] = run * RUN_PIXELS + pixel;
    }
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// One pass. `state` outlives the calls of a plan: two words, then one per group. Word 1 counts the
// groups that are done with the call; the last of them sets it back to 0 and leaves word 0 for the
// next call.
#if defined(CLCOOK_STREAM_COMPACTION_LOOK_BACK) || defined(CLCOOK_STREAM_COMPACTION_UNORDERED)
// Whether this is the last group of the call, said by its first item. All that the group has read
// and written of `state` lies before.
static inline bool stream_compaction_is_last(__global uint* state) {
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  if (atomic_inc(state + 1) + 1u < (uint)get_num_groups(0)) return false;
  atomic_xchg(state + 1, 0u);
  return true;
}

// The flags of the item's pixels: bit 4 k + p is pixel 4 (k LANES + lane) + p of the run from pixel
// `first` on. So neighbours test neighbouring fours; pixels from `count` on are not kept.
static inline uint stream_compaction_fours(uint lane, SOURCE, ulong first, ulong count, THRESHOLD) {
  uint fours = 0;
  const bool whole = first + RUN_PIXELS <= count;
  first += 4 * lane;
#if !defined(CLCOOK_STREAM_COMPACTION_FLOATS) && !defined(CLCOOK_STREAM_COMPACTION_ROWS)
  // Loads of 16 bytes, all under way at once, where the pixels lie so that this can be.
  __global const uint* in = src + src_offset + first;
  if (whole && (size_t)in % sizeof(uint4) == 0) {
    uint4 pixels[PIXELS / 4];
#pragma unroll
    for (int k = 0; k < PIXELS / 4; ++k) pixels[k] = ((__global const uint4*)in)[k * LANES];
#pragma unroll
    for (int k = 0; k < PIXELS / 4; ++k) {
      fours |= (uint)stream_compaction_keep_four(pixels[k], threshold) << 4 * k;
    }
    return fours;
  }
#endif
  if (whole) {
#pragma unroll
    for (int k = 0; k < PIXELS / 4; ++k) {
      fours |=
          (uint)stream_compaction_four(SOURCE_ARGUMENTS, first + (ulong)(4 * k * LANES), threshold)
          << 4 * k;
    }
  } else {
    for (int b = 0; b < PIXELS; ++b) {
      const ulong i = first + (ulong)(b / 4 * 4 * LANES + b % 4);
      fours |= i < count ? (uint)stream_compaction_keep(PIXEL(i), threshold) << b : 0u;
    }
  }
  return fours;
}

// How many pixels each of four fours keeps, in bytes. The sums over a run fit, which are at most
// 4 LANES.
static inline uint stream_compaction_counts_of_fours(uint fours) {
  const uint pairs = (fours & 0x5555u) + (fours >> 1 & 0x5555u);
  const uint each = (pairs & 0x3333u) + (pairs >> 2 & 0x3333u);  // a half byte for each four
  return (each & 0xFu) | (each & 0xF0u) << 4 | (each & 0xF00u) << 8 | (each & 0xF000u) << 12;
}

// Where an item's kept pixels belong.
typedef struct {
  uint fours;    // their flags
  uint2 counts;  // of each four: four k is byte k % 4 of word k / 4
  uint2 sums;    // the same, with those of the lanes before
  uint2 all;     // of all lanes
  uint before;   // kept pixels of the group before this run
  uint total;    // of the group
} stream_compaction_places_t;

// For all items of the group.
static inline stream_compaction_places_t stream_compaction_places(clcook_sub_group sg, SOURCE,
                                                                  ulong count, THRESHOLD,
                                                                  __local uint* cells) {
  const ulong first = (get_group_id(0) * (ulong)(GROUP / LANES) + sg.id) * RUN_PIXELS;
  stream_compaction_places_t out;
  out.fours = stream_compaction_fours(sg.lane, SOURCE_ARGUMENTS, first, count, threshold);
  out.counts.x = stream_compaction_counts_of_fours(out.fours);
  out.counts.y = stream_compaction_counts_of_fours(out.fours >> 16);
  out.sums.x = clcook_sub_group_scan_inclusive_add_uint(sg, out.counts.x);
  out.sums.y = clcook_sub_group_scan_inclusive_add_uint(sg, out.counts.y);
  out.all.x = clcook_sub_group_broadcast_uint(sg, out.sums.x, LANES - 1);
  out.all.y = clcook_sub_group_broadcast_uint(sg, out.sums.y, LANES - 1);
  // Bytes, then shorts: sums of four bytes of up to 128 each.
  const uint2 pairs = (out.all & 0x00FF00FFu) + (out.all >> 8 & 0x00FF00FFu);
  const uint both = pairs.x + pairs.y;
  out.before =
      stream_compaction_scan_sub_groups(sg, (both & 0xFFFFu) + (both >> 16), cells, &out.total);
  return out;
}

// Puts the numbers of the group's kept pixels, counted from its first pixel, into `list`, ascending.
// The items wait for a barrier before they read it.
static inline void stream_compaction_list(clcook_sub_group sg, stream_compaction_places_t places,
                                          __local ushort* list) {
  uint before = places.before;
#pragma unroll
  for (int k = 0; k < PIXELS / 4; ++k) {
    const int byte = 8 * (k % 4);
    const uint here = (k < 4 ? places.counts.x : places.counts.y) >> byte & 0xFFu;
    const uint sum = (k < 4 ? places.sums.x : places.sums.y) >> byte & 0xFFu;
    uint position = before + sum - here;
    const uint pixel = sg.id * RUN_PIXELS + 4 * ((uint)k * LANES + sg.lane);
#pragma unroll
    for (int p = 0; p < 4; ++p) {
      if ((places.fours >> (4 * k + p) & 1u) != 0) list[position++] = (ushort)(pixel + p);
    }
    before += (k < 4 ? places.all.x : places.all.y) >> byte & 0xFFu;
  }
}

// Stores the list from dst[position] on, side by side. For all items of the group.
static inline void stream_compaction_store_list(const __local ushort* list, uint total,
                                                uint position, __global uint* dst) {
  const uint first = (uint)get_group_id(0) * (GROUP * PIXELS);
  for (uint j = (uint)get_local_id(0); j < total; j += GROUP) dst[position + j] = first + list[j];
}
#endif

// ------------------------------------------------------------------------------------------------
// look_back: each group publishes how many pixels it keeps, adds up what the groups before it have
// published, and publishes the sum too, at which later groups end their walk ("decoupled
// look-back", Merrill and Garland 2016).
//
// A group's word: a bit that changes from call to call, so that nothing has to be cleared; whether
// the count includes all groups before; the count, below 2^30. Number and bits are one word, and
// nothing else changes hands, so no order of memory between groups is assumed. Nor is it assumed
// that groups before this one ever run while it does: one that says nothing for a while is counted
// by the group that waits for it.
#ifdef CLCOOK_STREAM_COMPACTION_LOOK_BACK
#define CALL_BIT 0x80000000u
#define SUM_BIT 0x40000000u
#define COUNT_BITS 0x3FFFFFFFu
// Looks without news before a group is counted by one that waits for it.
#ifndef CLCOOK_STREAM_COMPACTION_PATIENCE
#define CLCOOK_STREAM_COMPACTION_PATIENCE 256
#endif

static inline uint stream_compaction_look(__global uint* word) {
#ifdef CLCOOK_SUB_GROUP_PTX
  uint out;
  __asm__ volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(out) : "l"(word) : "memory");
  return out;
#else
  return atomic_or(word, 0u);
#endif
}

// Those of a group that walk: its first sub-group; or its first item where sub-groups are made of
// barriers, to which all items would have to come. PoCL 5.0 says that it has sub-groups, makes them
// so, and ends the process.
#if (defined(CLCOOK_SUB_GROUP_NATIVE) || defined(CLCOOK_SUB_GROUP_PTX)) && \
    !defined(CLCOOK_STREAM_COMPACTION_ONE_WALKER)
#define WALKERS LANES
#define WALKERS_BALLOT(flag) clcook_sub_group_ballot(sg, flag)
#define WALKERS_SUM(x) clcook_sub_group_reduce_add_uint(sg, x)
#else
#define WALKERS 1
#define WALKERS_BALLOT(flag) ((clcook_lane_mask)((flag) ? 1 : 0))
#define WALKERS_SUM(x) (x)
#endif

// How many pixels group `number` keeps, counted by this group's walkers.
static inline uint stream_compaction_count_group(clcook_sub_group sg, SOURCE, uint number,
                                                 ulong count, THRESHOLD) {
  const ulong first = number * (ulong)(GROUP * PIXELS);
  const ulong end = min(first + GROUP * PIXELS, count);
  uint kept = 0;
  for (ulong i = first + get_local_id(0); i < end; i += WALKERS) {
    kept += (uint)stream_compaction_keep(PIXEL(i), threshold);
  }
  return WALKERS_SUM(kept);
}

// The pixels that the groups before this one keep. For the walkers.
static inline uint stream_compaction_look_back_sum(clcook_sub_group sg, SOURCE, ulong count,
                                                   THRESHOLD, __global uint* words, uint call) {
  const uint lane = (uint)get_local_id(0);
  uint before = 0;
  uint silent = 0;
  // The groups end - 1, end - 2, ... are still to be added; lane l looks at group end - 1 - l.
  for (uint end = (uint)get_group_id(0); end > 0;) {
    const uint word = lane < end ? stream_compaction_look(words + (end - 1 - lane)) : call;
    const clcook_lane_mask heard = WALKERS_BALLOT((word & CALL_BIT) == call);
    const clcook_lane_mask joined = heard & ~(heard + 1);  // those without a gap before
    const clcook_lane_mask sums = WALKERS_BALLOT((word & SUM_BIT) != 0) & joined;
    const clcook_lane_mask added = sums != 0 ? sums ^ (sums - 1) : joined;  // up to the first sum
    before += WALKERS_SUM((added >> lane & 1) != 0 ? word & COUNT_BITS : 0u);
    if (sums != 0) return before;
    end -= min((uint)popcount(added), end);
    silent = added != 0 ? 0 : silent + 1;
    if (silent == CLCOOK_STREAM_COMPACTION_PATIENCE) {
      --end;
      const uint there = stream_compaction_count_group(sg, SOURCE_ARGUMENTS, end, count, threshold);
      if (lane == 0) {
        const uint old = stream_compaction_look(words + end);
        if ((old & CALL_BIT) != call) atomic_cmpxchg(words + end, old, call | there);
      }
      before += there;
      silent = 0;
    }
  }
  return before;
}

__kernel STREAM_COMPACTION_GROUP CLCOOK_SUB_GROUP_KERNEL void stream_compaction_look_back(
    SOURCE, __global uint* restrict state, __global uint* restrict dst, ulong dst_offset,
    __global uint* restrict kept, ulong kept_offset, ulong count, THRESHOLD) {
  __local uint cells[GROUP / LANES];
  __local ushort list[GROUP * PIXELS];
  __local uint place[1];
  CLCOOK_SUB_GROUP(sg, GROUP);
  const uint lid = (uint)get_local_id(0);
  const uint group = (uint)get_group_id(0);
  const uint call = lid < WALKERS ? ~stream_compaction_look(state) & CALL_BIT : 0u;
  __global uint* words = state + 2;
  const stream_compaction_places_t places =
      stream_compaction_places(sg, SOURCE_ARGUMENTS, count, threshold, cells);
  if (lid == 0 && group > 0) atomic_xchg(words + group, call | places.total);
  stream_compaction_list(sg, places, list);
  if (lid < WALKERS) {
    const uint before =
        stream_compaction_look_back_sum(sg, SOURCE_ARGUMENTS, count, threshold, words, call);
    if (lid == 0) {
      const uint sum = before + places.total;
      atomic_xchg(words + group, call | SUM_BIT | sum);
      if (group + 1 == (uint)get_num_groups(0)) kept[kept_offset] = sum;
      if (stream_compaction_is_last(state)) atomic_xchg(state, call);
      place[0] = before;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  stream_compaction_store_list(list, places.total, place[0], dst + dst_offset);
}
#endif

// ------------------------------------------------------------------------------------------------
// unordered: as look_back, for lists in any order: a group takes the next free places.
#ifdef CLCOOK_STREAM_COMPACTION_UNORDERED
__kernel STREAM_COMPACTION_GROUP CLCOOK_SUB_GROUP_KERNEL void stream_compaction_unordered(
    SOURCE, __global uint* restrict state, __global uint* restrict dst, ulong dst_offset,
    __global uint* restrict kept, ulong kept_offset, ulong count, THRESHOLD) {
  __local uint cells[GROUP / LANES];
  __local ushort list[GROUP * PIXELS];
  __local uint place[1];
  CLCOOK_SUB_GROUP(sg, GROUP);
  const stream_compaction_places_t places =
      stream_compaction_places(sg, SOURCE_ARGUMENTS, count, threshold, cells);
  if (get_local_id(0) == 0) {
    place[0] = atomic_add(state, places.total);
    if (stream_compaction_is_last(state)) kept[kept_offset] = atomic_xchg(state, 0u);
  }
  stream_compaction_list(sg, places, list);
  barrier(CLK_LOCAL_MEM_FENCE);
  stream_compaction_store_list(list, places.total, place[0], dst + dst_offset);
}
#endif

// ------------------------------------------------------------------------------------------------
// cpu_runs: an item takes CLCOOK_STREAM_COMPACTION_RUN consecutive pixels by itself. Flags are found
// in loops without branches, which become vectors. The last pass stores four numbers at a time, the
// kept ones of four pixels first, where the next kept one belongs, and moves on by those; what is
// stored behind them the next four overwrite. Close to the end of the run's part of the result it
// stores one number at a time. An item takes few pixels alone, in one launch instead of three.
#ifdef CLCOOK_STREAM_COMPACTION_CPU_RUNS
#ifndef CLCOOK_STREAM_COMPACTION_RUN
#define CLCOOK_STREAM_COMPACTION_RUN 8192
#endif
#define RUN CLCOOK_STREAM_COMPACTION_RUN
#define BLOCK 256
// Which of four pixels are kept, first to last, a byte for each; by their flags in four bits.
__constant uint stream_compaction_kept_of_four[16] = {
    0x00, 0x00,   0x01,   0x0100,   0x02,   0x0200,   0x0201,   0x020100,
    0x03, 0x0300, 0x0301, 0x030100, 0x0302, 0x030200, 0x030201, 0x03020100};

#ifdef CLCOOK_STREAM_COMPACTION_ROWS
#define RUN_PIXEL_AT(i) PIXEL(i)
#else
#define RUN_PIXEL_AT(i) LOAD(OFFSET(src, src_offset), i)
#endif

static inline uint stream_compaction_cpu_count(SOURCE, ulong i, ulong end, THRESHOLD) {
  uint kept = 0;
  for (; i < end; ++i) kept += (uint)stream_compaction_keep(RUN_PIXEL_AT(i), threshold);
  return kept;
}

// The kept ones of the pixels i to end - 1, to dst[position] to dst[behind - 1].
static inline void stream_compaction_cpu_write(SOURCE, __global uint* restrict dst, ulong i,
                                               ulong end, uint position, uint behind, THRESHOLD) {
  for (; i + BLOCK <= end; i += BLOCK) {
    uchar flags[BLOCK];
    uint kept_here = 0;
    for (uint k = 0; k < BLOCK; ++k) {
      const uint flag = (uint)stream_compaction_keep(RUN_PIXEL_AT(i + k), threshold);
      flags[k] = (uchar)flag;
      kept_here += flag;
    }
    if (position + kept_here == behind) break;  // what follows the last one is another run's
    const int room = kept_here + 4 <= behind - position;
    for (uint k = 0; k < BLOCK; k += 8) {
      const ulong eight = as_ulong(vload8(0, flags + k));
      if (eight == 0) continue;
      if (room) {
        // Flag j of the eight becomes bit j.
        const uint bits = (uint)(eight * 0x0102040810204080UL >> 56);
#pragma unroll
        for (uint j = 0; j < 8; j += 4) {
          const uint four = bits >> j & 15;
          const uint4 places = convert_uint4(as_uchar4(stream_compaction_kept_of_four[four]));
          vstore4(places + ((uint)i + k + j), 0, dst + position);
          position += popcount(four);
        }
      } else {
        for (uint p = k; p < k + 8; ++p) {
          dst[position] = (uint)i + p;
          position += flags[p];
        }
      }
    }
  }
  for (; position < behind; ++i) {
    dst[position] = (uint)i;
    position += (uint)stream_compaction_keep(RUN_PIXEL_AT(i), threshold);
  }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void stream_compaction_cpu_runs_count(
    SOURCE, __global uint* restrict counts, ulong count, THRESHOLD) {
  const ulong first = get_group_id(0) * RUN;
  counts[get_group_id(0)] =
      stream_compaction_cpu_count(SOURCE_NAMES, first, min(first + RUN, count), threshold);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void stream_compaction_cpu_runs(
    SOURCE, __global const uint* restrict counts, __global const uint* restrict kept,
    ulong kept_offset, __global uint* restrict dst, ulong dst_offset, ulong count, THRESHOLD) {
  const size_t group = get_group_id(0);
  const uint behind = group + 1 < get_num_groups(0) ? counts[group + 1] : kept[kept_offset];
  const ulong first = group * RUN;
  stream_compaction_cpu_write(SOURCE_NAMES, dst + dst_offset, first, min(first + RUN, count),
                              counts[group], behind, threshold);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void stream_compaction_cpu_runs_alone(
    SOURCE, __global uint* restrict kept, ulong kept_offset, __global uint* restrict dst,
    ulong dst_offset, ulong count, THRESHOLD) {
  const uint all = stream_compaction_cpu_count(SOURCE_NAMES, 0, count, threshold);
  kept[kept_offset] = all;
  stream_compaction_cpu_write(SOURCE_NAMES, dst + dst_offset, 0, count, 0, all, threshold);
}
#endif
