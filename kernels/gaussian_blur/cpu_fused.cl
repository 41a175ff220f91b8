// The Gaussian blur for CPUs: rows and columns in one launch, a work-item per tile of the picture.
//
// A work-item takes a tile of the region, as wide as a share of the cache allows and many rows
// high, and streams down: it filters two rows of the source at a time into a ring of lines, and
// makes RESULT_ROWS rows of results from the ring. The ring is the item's own scratch memory, which
// stays in its cache. Rows that are not float, or reach out of the picture, are copied to lines
// first.
//
// Where it pays, most taps are splines: a short filter makes smooth lines, of which the coarse taps
// take every second or fourth value; what the taps at both ends miss is added one by one.
//
// Channels are filtered as they lie: the taps along a row are CLCOOK_CHANNELS elements apart. Every
// sum has exactly the taps of the filter: none with a weight of zero, which would spread NaN.
#include <clcook/alpha.clh>
#include <clcook/halo.clh>
#include <clcook/pixel16.clh>
#include <clcook/view.clh>

#ifndef CLCOOK_GAUSSIAN_RESULT_ROWS
#define CLCOOK_GAUSSIAN_RESULT_ROWS 32
#define CLCOOK_GAUSSIAN_RESULT_COLUMNS 128
#endif

// Results that are made at a time; of the rows 8 for each phase of the coarse taps.
#define RESULT_ROWS CLCOOK_GAUSSIAN_RESULT_ROWS
#define RESULT_COLUMNS CLCOOK_GAUSSIAN_RESULT_COLUMNS
#define PREFETCH 8  // rows ahead

// Along a row, vectors hold every PHASES-th pixel, or a channel of it, at the same place.
#if CLCOOK_CHANNELS == 3
#define PHASES 16
#define STEP 48
#else
#define PHASES (16 / CLCOOK_CHANNELS)
#define STEP 16
#endif
#define BLOCK (8 * STEP)  // elements that are filtered along a row at once

// Floats inside of the picture are filtered where they are, unless they are weighted first.
#if CLCOOK_CHANNEL_BITS != 32 || defined(CLCOOK_ALPHA_TOP)
#define DIRECT 0
#define CHUNK (4 * BLOCK)  // before more is asked for
#else
#define DIRECT 1
#define CHUNK BLOCK
#endif

// The filter of an axis. Its weights follow each other in this order, those of a phase together.
typedef struct {
  int radius;
  int every;   // pixels that the coarse taps are apart
  int spline;  // taps; 0 where the coarse taps are all
  int coarse;  // taps
  int left;    // taps that splines leave out at the beginning
  int right;   // and at the end
} axis_t;

// The scratch memory of a work-item, in floats: four lines of line_floats, RESULT_ROWS lines of
// RESULT_COLUMNS results, the ring of `slots` lines of ring_pitch, and that of smooth_slots smooth
// lines where there are splines along columns. Sizes of lines are multiples of 16, slots are even,
// and smooth_slots a multiple of 8.
typedef struct {
  ulong item_floats;
  int line_floats;
  int ring_pitch;
  int slots;
  int smooth_slots;
} scratch_t;

// The pixels `begin` to `end` of a row that are outside of its width, to line + CLCOOK_CHANNELS x.
// A row outside of the picture is 0.
static inline void fill_outside(__global float* line, __global const clcook_channel_t* row,
                                int begin, int end, const clcook_picture* picture) {
  for (int x = begin; x < end; ++x) {
    const int at = row == 0 ? -1 : clcook_border(x, picture->width, picture->border);
    for (int c = 0; c < CLCOOK_CHANNELS; ++c) {
      line[x * CLCOOK_CHANNELS + c] =
          at < 0 ? clcook_channel_of(picture->outside, c)
                 : clcook_load_weighted_channel(row, (ulong)(at * CLCOOK_CHANNELS + c));
    }
  }
}

// The pixels `begin` to `end` of a row of the source as floats, and 0 up to `size` floats.
static inline void fill_line(__global float* line, __global const clcook_channel_t* row, int begin,
                             int end, int size, const clcook_picture* picture) {
  __global float* zero = line - begin * CLCOOK_CHANNELS;
  const int first = row == 0 ? end : clamp(0, begin, end);
  const int last = row == 0 ? end : clamp(picture->width, begin, end);
  fill_outside(zero, row, begin, first, picture);
  int e = first * CLCOOK_CHANNELS;
  for (; e <= last * CLCOOK_CHANNELS - 16; e += 16)
    *(__global clcook_loose16*)(zero + e) = clcook_weighted16(clcook_load16(row + e));
  for (; e < last * CLCOOK_CHANNELS; ++e) zero[e] = clcook_load_weighted_channel(row, (ulong)e);
  fill_outside(zero, row, last, end, picture);
  for (e = (end - begin) * CLCOOK_CHANNELS; e < size; ++e) line[e] = 0.0f;
}

#define INLINE static inline __attribute__((always_inline))

// What the registers of a processor hold: vectors of WIDTH floats, sums of KEPT outputs in two lanes
// and their last KEPT weights. With AVX-512 these are 32 vectors of 16 floats; AVX2 has 16 of 8.
#ifdef __AVX512F__
#define WIDTH 16
#define KEPT 8
typedef float16 vector_t;
typedef clcook_loose16 loose_t;
#else
#define WIDTH 8
#define KEPT 4
typedef float8 vector_t;
typedef float8 __attribute__((aligned(4))) loose_t;
#endif

// What filter() reads: vectors of two lanes, one after the other.
typedef struct {
  __global const float* at;  // the next vector of lane 0
  ulong lane;                // from there to the vector of lane 1
  ulong step;                // to the next vector of a lane
  int wraps;                 // whether the step from `last` is `back` instead: in a ring of lines
  __global const float* last;
  ulong back;
} input_t;

// Adds the next vector of each lane, the `j`th, to the outputs `begin` to `end` - 1. `kept` has the
// last weights, the mth of all in kept[m % KEPT].
INLINE void add_vectors(vector_t (*sums)[KEPT], const vector_t* kept, int j, int begin, int end,
                        input_t* in) {
  const vector_t v0 = *(__global const loose_t*)in->at;
  const vector_t v1 = *(__global const loose_t*)(in->at + in->lane);
#pragma unroll
  for (int i = 0; i < KEPT; ++i) {
    if (i >= begin && i < end) {
      sums[0][i] = fma(v0, kept[(j - i) & (KEPT - 1)], sums[0][i]);
      sums[1][i] = fma(v1, kept[(j - i) & (KEPT - 1)], sums[1][i]);
    }
  }
  in->at += in->wraps && in->at == in->last ? in->back : in->step;
}

// All vectors of less than KEPT taps.
INLINE void add_few(vector_t (*sums)[KEPT], __global const float* weights, int taps, input_t* in) {
  vector_t kept[KEPT];
#pragma unroll
  for (int j = 0; j < KEPT; ++j) {
    kept[j] = (vector_t)(j < taps ? weights[j] : 0.0f);
    add_vectors(sums, kept, j, j - taps + 1, j + 1, in);
  }
#pragma unroll
  for (int j = KEPT; j < 2 * KEPT - 2; ++j) {
    if (j - KEPT + 1 < taps) add_vectors(sums, kept, j, j - taps + 1, KEPT, in);
  }
}

// All vectors of KEPT taps or more.
INLINE void add_many(vector_t (*sums)[KEPT], __global const float* weights, int taps, input_t* in) {
  vector_t kept[KEPT];
#pragma unroll
  for (int j = 0; j < KEPT; ++j) {
    kept[j] = (vector_t)(*weights++);
    add_vectors(sums, kept, j, 0, j + 1, in);
  }
  int left = taps - KEPT;
  for (; left % KEPT != 0; --left) {
    vector_t read[KEPT];
#pragma unroll
    for (int i = 0; i < KEPT; ++i) read[i] = (vector_t)(weights[-((KEPT - i) & (KEPT - 1))]);
    add_vectors(sums, read, 0, 0, KEPT, in);
    ++weights;
  }
#pragma unroll
  for (int j = 0; j < KEPT; ++j) kept[j] = (vector_t)(weights[j - KEPT]);
  for (; left != 0; left -= KEPT) {
#pragma unroll
    for (int j = 0; j < KEPT; ++j) {
      kept[j] = (vector_t)(*weights++);
      add_vectors(sums, kept, j, 0, KEPT, in);
    }
  }
#pragma unroll
  for (int j = 1; j < KEPT; ++j) add_vectors(sums, kept, j + KEPT - 1, j, KEPT, in);
}

INLINE void add_taps(vector_t (*sums)[KEPT], __global const float* weights, int taps, input_t* in) {
  switch (taps) {
    case 1:
      add_few(sums, weights, 1, in);
      break;
    case 2:
      add_few(sums, weights, 2, in);
      break;
    case 3:
      add_few(sums, weights, 3, in);
      break;
#if KEPT == 8
    case 4:
      add_few(sums, weights, 4, in);
      break;
    case 5:
      add_few(sums, weights, 5, in);
      break;
    case 6:
      add_few(sums, weights, 6, in);
      break;
    case 7:
      add_few(sums, weights, 7, in);
      break;
#endif
    default:
      add_many(sums, weights, taps, in);
  }
}

// Eight outputs in each of two lanes, KEPT of them at a time, for `blocks` blocks. Output i of lane k
// goes to out + k out_lane + i out_step, or is added to what is there. It is the sum of the taps of
// every phase, the weights of which follow each other: those of the mth times the vector i + m of
// lane k, where the vectors of a phase begin `shift` floats after those of the phase before. The next
// block begins `next` floats after in all. For KEPT = 8:
//
//   vector     0     1     2    ...   7     8    ...   of lane 0 in v0, of lane 1 in v1
//   output 0   w[0]  w[1]  w[2]       w[7]  w[8]       sums[0][0] and sums[1][0]
//   output 1         w[0]  w[1]       w[6]  w[7]       sums[0][1] and sums[1][1]
//     ...
//   output 7                          w[0]  w[1]       sums[0][7] and sums[1][7]
//
// Each vector is loaded once for its KEPT outputs, and most weights once for 2 KEPT products: loads
// are what processors do least of. Sums that do not fit the registers would be loads and stores.
INLINE void filter(input_t in, __global const float* weights, int taps, int phases, int shift,
                   __global float* out, ulong out_lane, ulong out_step, int add, int blocks,
                   ulong next) {
  __global const float* from = in.at;
  for (int block = 0; block < blocks; ++block) {
    for (int first = 0; first < 8; first += KEPT) {
      __global float* to = out + (ulong)first * out_step;
      vector_t sums[2][KEPT];
#pragma unroll
      for (int i = 0; i < 2 * KEPT; ++i) sums[i / KEPT][i % KEPT] = 0.0f;
      if (add) {
#pragma unroll
        for (int i = 0; i < 2 * KEPT; ++i) {
          sums[i / KEPT][i % KEPT] = *(__global const vector_t*)(to + (ulong)(i / KEPT) * out_lane +
                                                                 (ulong)(i % KEPT) * out_step);
        }
      }
      __global const float* of_phase = weights;
      for (int phase = 0; phase < phases && phase < taps; ++phase) {
        const int count = (taps - phase + phases - 1) / phases;
        in.at = from + (ulong)first * in.step + phase * shift;
        if (first != 0 && in.wraps && in.at > in.last) in.at += in.back - in.step;
        add_taps(sums, of_phase, count, &in);
        of_phase += count;
      }
#pragma unroll
      for (int i = 0; i < 2 * KEPT; ++i) {
        *(__global vector_t*)(to + (ulong)(i / KEPT) * out_lane + (ulong)(i % KEPT) * out_step) =
            sums[i / KEPT][i % KEPT];
      }
    }
    from += next;
    in.last += next;
    out += next;
  }
}

// Blocks of two lines, of `taps` pixels `every` apart.
static __attribute__((noinline)) void filter_rows(__global const float* from, ulong lane, int every,
                                                  __global const float* weights, int taps,
                                                  __global float* out, ulong out_lane, int add,
                                                  int blocks) {
  if (taps == 0) return;
  for (int u = 0; u < STEP; u += 16) {
    // The two lanes are both lines, or in one line after the other the halves of 16 floats.
    for (int k = 0; k < 16 / WIDTH; ++k) {
      const input_t in = {from + (ulong)k * lane + u, WIDTH == 16 ? lane : WIDTH, STEP, 0, 0, 0};
      filter(in, weights, taps, PHASES / every, CLCOOK_CHANNELS * every,
             out + (ulong)k * out_lane + u, WIDTH == 16 ? out_lane : WIDTH, STEP, add, blocks,
             BLOCK);
    }
  }
}

// RESULT_COLUMNS columns of eight results each, from the lines `line` and after in a ring of
// `slots`.
static __attribute__((noinline)) void filter_columns(__global const float* ring, int pitch,
                                                     int slots, int line, int every,
                                                     __global const float* weights, int taps,
                                                     __global float* out, ulong out_step, int add) {
  if (taps == 0) return;
  const int wrap = slots - every + line % every;
  const input_t in = {ring + (ulong)(line % slots) * (ulong)pitch,
                      WIDTH,
                      (ulong)(every * pitch),
                      1,
                      ring + (ulong)wrap * (ulong)pitch,
                      (ulong)(every - slots) * (ulong)pitch};
  filter(in, weights, taps, 1, 0, out, WIDTH, out_step, add, RESULT_COLUMNS / (2 * WIDTH),
         2 * WIDTH);
}

// Asks for a few blocks of two rows, of elements up to `size`.
static inline void fetch_ahead(__global const clcook_channel_t* row, ulong pitch, int begin,
                               int size) {
  if (row == 0) return;
  const int end = min(begin + CHUNK, size);
  for (int e = begin; e < end; e += 64 / (int)sizeof(clcook_channel_t)) {
    CLCOOK_PREFETCH(row + e);
    CLCOOK_PREFETCH(row + pitch + e);
  }
}

// Items: tiles of the region from left to right x strips of `strip` rows x pictures. The tiles
// share the blocks of a row evenly. Views count channels.
__attribute__((vec_type_hint(float16))) __kernel void gaussian_blur_cpu_fused(
    __global const clcook_channel_t* src, clcook_view src_view, __global clcook_channel_t* dst,
    clcook_view dst_view, clcook_picture picture, int strip, __global const float* weights_x,
    axis_t axis_x, __global const float* weights_y, axis_t axis_y, __global float* scratch,
    scratch_t sizes) {
  const clcook_region region = picture.region;
  const int height = picture.height;
  const int border = picture.border;
  const ulong src_pitch = src_view.pitch;
  const ulong dst_pitch = dst_view.pitch;
  const int ring_pitch = sizes.ring_pitch;
  const int slots = sizes.slots;
  const int smooth_slots = sizes.smooth_slots;
  const int every = axis_y.every;
  __global const float* coarse_x = weights_x + axis_x.spline;
  __global const float* left_x = coarse_x + axis_x.coarse;
  __global const float* right_x = left_x + axis_x.left;
  __global const float* coarse_y = weights_y + axis_y.spline;
  __global const float* left_y = coarse_y + axis_y.coarse;
  __global const float* right_y = left_y + axis_y.left;
  const int tile = (int)get_global_id(0);
  const int tiles = (int)get_global_size(0);
  const int number = (int)get_global_id(2);
  const int first = (int)get_global_id(1) * strip;
  const int rows = min(strip, region.height - first);
  const int elements = region.width * CLCOOK_CHANNELS;
  const int blocks = (elements + BLOCK - 1) / BLOCK;
  const int tile_begin = (int)((long)tile * blocks / tiles) * BLOCK;
  const int tile_end = min((int)((long)(tile + 1) * blocks / tiles) * BLOCK, elements);
  const int count = tile_end - tile_begin;
  const int whole = (count + BLOCK - 1) / BLOCK * BLOCK;
  scratch += sizes.item_floats *
             (((ulong)number * get_global_size(1) + get_global_id(1)) * (ulong)tiles + (ulong)tile);
  const ulong line_pitch = (ulong)sizes.line_floats;
  __global float* lines = scratch;
  __global float* smooth_lines = lines + 2 * line_pitch;
  __global float* results = smooth_lines + 2 * line_pitch;
  __global float* ring = results + RESULT_ROWS * RESULT_COLUMNS;
  __global float* smooth = axis_y.spline == 0 ? ring : ring + (ulong)slots * (ulong)ring_pitch;
  src += clcook_view_row(src_view, number, height, 0);
  dst += clcook_view_row(dst_view, number, region.height, first) + (ulong)tile_begin;
  const int stream = ((ulong)dst & 63) == 0 && dst_pitch % (64 / sizeof(clcook_channel_t)) == 0;
  const int begin = region.x + tile_begin / CLCOOK_CHANNELS - axis_x.radius;  // pixels
  const int end = region.x + tile_end / CLCOOK_CHANNELS + axis_x.radius;
  const int top = region.y + first - axis_y.radius;
  const int right_begin = 2 * axis_x.radius + 1 - axis_x.right;
#if DIRECT
  // Whether no line of the tile needs what is outside of the picture.
  const int inside = begin >= 0 && (long)begin * CLCOOK_CHANNELS + sizes.line_floats <=
                                       (long)picture.width * CLCOOK_CHANNELS;
#endif
  int filled = 0;   // lines of the ring
  int made = 0;     // smooth lines
  int before = -2;  // row of the picture in the last line
  for (int y = 0; y < rows; y += RESULT_ROWS) {
    for (; filled < y + RESULT_ROWS + 2 * axis_y.radius + 7; filled += 2) {
      __global float* next = ring + (ulong)(filled % slots) * (ulong)ring_pitch;
      // Lines behind the last row of the region are of no use, and as good as any.
      const int row0 = clcook_border(top + filled, height, border);
      const int row1 = clcook_border(top + filled + 1, height, border);
      if (row0 == before && row1 == before) {
        __global const float* same =
            ring + (ulong)((filled + slots - 1) % slots) * (ulong)ring_pitch;
        for (int e = 0; e < whole; e += 16) {
          const float16 value = *(__global const float16*)(same + e);
          *(__global float16*)(next + e) = value;
          *(__global float16*)(next + ring_pitch + e) = value;
        }
        continue;
      }
      before = row1;
      const int together = top + filled >= 0 && top + filled + 2 <= height;
      __global const clcook_channel_t* ahead =
          together && row1 + PREFETCH < height ? src + (ulong)(row0 + PREFETCH) * src_pitch : 0;
      __global const float* from = lines;
      ulong lane = line_pitch;
#if DIRECT
      if (together && inside) {
        from = src + (ulong)row0 * src_pitch + (ulong)(begin * CLCOOK_CHANNELS);
        lane = src_pitch;
      } else
#endif
      {
        fill_line(lines, row0 < 0 ? 0 : src + (ulong)row0 * src_pitch, begin, end,
                  sizes.line_floats, &picture);
        fill_line(lines + line_pitch, row1 < 0 ? 0 : src + (ulong)row1 * src_pitch, begin, end,
                  sizes.line_floats, &picture);
      }
      __global const float* coarse = from;
      ulong coarse_lane = lane;
      if (axis_x.spline != 0) {
        coarse = smooth_lines;
        coarse_lane = line_pitch;
        const int spread = whole + (axis_x.coarse - 1) * axis_x.every * CLCOOK_CHANNELS;
        filter_rows(from, lane, 1, weights_x, axis_x.spline, smooth_lines, line_pitch, 0,
                    (spread + BLOCK - 1) / BLOCK);
      }
      for (int e = 0; e < count; e += CHUNK) {
        fetch_ahead(ahead, src_pitch, region.x * CLCOOK_CHANNELS + tile_begin + e,
                    picture.width * CLCOOK_CHANNELS);
        __global float* out = next + e;
        const int some = min(CHUNK, whole - e) / BLOCK;
        filter_rows(coarse + e, coarse_lane, axis_x.every, coarse_x, axis_x.coarse, out,
                    (ulong)ring_pitch, 0, some);
        if (axis_x.spline != 0) {
          filter_rows(from + e, lane, 1, left_x, axis_x.left, out, (ulong)ring_pitch, 1, some);
          filter_rows(from + right_begin * CLCOOK_CHANNELS + e, lane, 1, right_x, axis_x.right, out,
                      (ulong)ring_pitch, 1, some);
        }
      }
    }
    const int until = axis_y.spline == 0 ? 0 : y + RESULT_ROWS + (axis_y.coarse - 1) * every;
    for (int e = 0; e < count; e += RESULT_COLUMNS) {
      for (int i = made; i < until; i += 8) {
        filter_columns(ring + e, ring_pitch, slots, i, 1, weights_y, axis_y.spline,
                       smooth + (ulong)(i % smooth_slots) * (ulong)ring_pitch + e,
                       (ulong)ring_pitch, 0);
      }
      for (int i = 0; i < RESULT_ROWS; i += 8) {
        // Rows that take the same smooth lines follow each other.
        const int row = i % (RESULT_ROWS / every) * every + i / (RESULT_ROWS / every);
        filter_columns(smooth + e, ring_pitch, smooth_slots, y + row, every, coarse_y,
                       axis_y.coarse, results + row * RESULT_COLUMNS,
                       (ulong)(every * RESULT_COLUMNS), 0);
      }
      for (int i = 0; i < RESULT_ROWS; i += 8) {
        filter_columns(ring + e, ring_pitch, slots, y + i, 1, left_y, axis_y.left,
                       results + i * RESULT_COLUMNS, RESULT_COLUMNS, 1);
        filter_columns(ring + e, ring_pitch, slots, y + i + 2 * axis_y.radius + 1 - axis_y.right, 1,
                       right_y, axis_y.right, results + i * RESULT_COLUMNS, RESULT_COLUMNS, 1);
      }
      for (int i = 0; i < min(RESULT_ROWS, rows - y); ++i) {
#ifdef CLCOOK_ALPHA_TOP
        for (int k = 0; k < RESULT_COLUMNS; k += 16) {
          __global float16* at = (__global float16*)(results + i * RESULT_COLUMNS + k);
          *at = clcook_unweighted16(*at);
        }
#endif
        clcook_store_line(dst + (ulong)(y + i) * dst_pitch + (ulong)e, results + i * RESULT_COLUMNS,
                          min(RESULT_COLUMNS, count - e), stream);
      }
    }
    while (made < until) made += 8;
  }
}

#if CLCOOK_CHANNEL_BITS == 8 && !defined(CLCOOK_ALPHA_TOP)
// cpu_bytes: columns and rows of bytes in one launch, in vectors of 16 bits. In this file, so that a plan
// has the programs of both for any sigma.
//
// A work-item takes a tile of the region and makes a row of results at a time: the columns, from the
// source as it lies, to a line in local memory; then the rows, along that line. There is no ring of
// lines: the rows that a column takes are bytes that stay in the cache, and reading them again costs
// less than floats that are read once.
//
// Two values that have the same weight are added first, at most 510. A product is the upper half of
// 32 bits: (values 2^7) times (weight 2^16) gives the result in steps of 2^-7, rounded down. `bias` is
// the half step that each product loses in the mean. The weights of an axis, the first of them half
// of what it is, come to 2^15, so that white stays white, and no sum exceeds 16 bits.

#define MOST 24  // pixels that a filter reaches

// Vectors of a line, which lie anywhere.
typedef ushort16 __attribute__((aligned(2))) loose_sums_t;

// 16 columns, four times: as many sums as registers hold with what they read.
#define AT_ONCE 4

INLINE ushort16 upper_half(ushort16 value, ushort16 weight) {
  return convert_ushort16((convert_uint16(value) * convert_uint16(weight)) >> 16);
}

// The rows that a row of results sees, the taps of which are `radius` each way: where they begin, -1
// for what is outside of the picture.
typedef struct {
  __global const uchar* src;
  long rows[2 * MOST + 1];
  ushort16 outside[3];  // 16 channels that begin with the first one; of three with any
} byte_rows_t;

INLINE ushort16 take_bytes(const byte_rows_t* from, int inside, int row, int column) {
  const long begin = from->rows[row];
  return inside || begin >= 0 ? convert_ushort16(clcook_read_wide(from->src + (begin + column)))
                              : from->outside[CLCOOK_CHANNELS == 3 ? column % 3 : 0];
}

// Sums of columns, of `count` vectors from `column` on, to the same place in the line.
INLINE void byte_columns(const byte_rows_t* from, int inside, int column, int count, int radius,
                         __global const ushort* weights, __local ushort* to) {
  const ushort16 bias = (ushort16)((ushort)((radius + 1) / 2));
  const ushort16 middle = (ushort16)(weights[0]);
  ushort16 sums[AT_ONCE];
#pragma unroll
  for (int v = 0; v < AT_ONCE; ++v) {
    if (v < count)
      sums[v] =
          bias + upper_half(take_bytes(from, inside, radius, column + 16 * v) << (ushort)8, middle);
  }
  for (int k = 1; k <= radius; ++k) {
    const ushort16 weight = (ushort16)(weights[k]);
#pragma unroll
    for (int v = 0; v < AT_ONCE; ++v) {
      if (v < count) {
        const ushort16 two = take_bytes(from, inside, radius - k, column + 16 * v) +
                             take_bytes(from, inside, radius + k, column + 16 * v);
        sums[v] += upper_half(two << (ushort)7, weight);
      }
    }
  }
#pragma unroll
  for (int v = 0; v < AT_ONCE; ++v) {
    if (v < count) *(__local loose_sums_t*)(to + 16 * v) = sums[v];
  }
}

// Sums along a line, of `count` vectors from `line` on.
INLINE void byte_row(__local const ushort* line, int count, int radius,
                     __global const ushort* weights, uchar16* results) {
  const ushort16 bias = (ushort16)((ushort)((radius + 1) / 2 + 64));  // 64: to the nearest
  const ushort16 middle = (ushort16)(weights[0]);
  ushort16 sums[AT_ONCE];
#pragma unroll
  for (int v = 0; v < AT_ONCE; ++v) {
    if (v < count)
      sums[v] =
          bias + upper_half(*(__local const loose_sums_t*)(line + 16 * v) << (ushort)1, middle);
  }
  for (int k = 1; k <= radius; ++k) {
    const ushort16 weight = (ushort16)(weights[k]);
    __local const ushort* before = line - k * CLCOOK_CHANNELS;
    __local const ushort* behind = line + k * CLCOOK_CHANNELS;
#pragma unroll
    for (int v = 0; v < AT_ONCE; ++v) {
      if (v < count) {
        sums[v] += upper_half(*(__local const loose_sums_t*)(before + 16 * v) +
                                  *(__local const loose_sums_t*)(behind + 16 * v),
                              weight);
      }
    }
  }
#pragma unroll
  for (int v = 0; v < AT_ONCE; ++v) {
    if (v < count) results[v] = convert_uchar16(sums[v] >> (ushort)7);
  }
}

// Items: tiles of `tile` channels of the region x strips of `strip` rows x pictures. Local memory: a
// line of a tile with the pixels beside it, a vector before and two behind. Views count channels.
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void gaussian_blur_cpu_bytes(
    __global const uchar* src, clcook_view src_view, __global uchar* dst, clcook_view dst_view,
    clcook_picture picture, int tile, int strip, __global const ushort* weights_x, int radius_x,
    __global const ushort* weights_y, int radius_y, __local ushort* lines) {
  const clcook_region region = picture.region;
  const int values = picture.width * CLCOOK_CHANNELS;
  const int number = (int)get_group_id(2);
  const int halo = radius_x * CLCOOK_CHANNELS;
  const int tile_begin = (int)get_group_id(0) * tile;
  const int count = min(tile, region.width * CLCOOK_CHANNELS - tile_begin);
  const int begin = region.x * CLCOOK_CHANNELS + tile_begin;  // channels of the picture
  const int y0 = (int)get_group_id(1) * strip;
  const int y1 = min(y0 + strip, region.height);
  // What the line holds of the picture, and how many pixels before and behind it.
  const int first = max(begin - halo, 0);
  const int last = min(begin + count + halo, values);
  const int left = max(halo - begin, 0) / CLCOOK_CHANNELS;
  const int right = max(begin + count + halo - values, 0) / CLCOOK_CHANNELS;
  const int vectors = (last - first + 15) / 16;
  __local ushort* line = lines + 16 + halo;  // of the tile's first channel
  __local ushort* spare = line + tile + halo + 16;
  byte_rows_t from;
  from.src = src + clcook_view_row(src_view, number, picture.height, 0);
  for (int i = 0; i < 3; ++i) {
    ushort outside[16];
    for (int c = 0; c < 16; ++c)
      outside[c] = (ushort)clcook_channel_of(picture.outside, (i + c) % CLCOOK_CHANNELS);
    from.outside[i] = vload16(0, outside);
  }
  dst += clcook_view_row(dst_view, number, region.height, 0) + (ulong)tile_begin;
  for (int y = y0; y < y1; ++y) {
    int inside = 1;
    for (int t = 0; t <= 2 * radius_y; ++t) {
      const int row = clcook_border(region.y + y + t - radius_y, picture.height, picture.border);
      from.rows[t] = row < 0 ? -1 : (long)((ulong)row * src_view.pitch);
      inside = inside && row >= 0;
    }
    int k = 0;
    for (; inside && k + AT_ONCE <= vectors && first + 16 * (k + AT_ONCE) <= values; k += AT_ONCE)
      byte_columns(&from, 1, first + 16 * k, AT_ONCE, radius_y, weights_y,
                   line + (first - begin + 16 * k));
    // The last vector ends with the row.
    for (; k < vectors; ++k) {
      const int at = min(first + 16 * k, values - 16);
      byte_columns(&from, 0, at, 1, radius_y, weights_y, line + (at - begin));
    }
    for (int beside = 0; beside < left + right; ++beside) {
      const int x = beside < left ? begin / CLCOOK_CHANNELS - radius_x + beside
                                  : picture.width + beside - left;
      const int column = clcook_border(x, picture.width, picture.border) * CLCOOK_CHANNELS;
      __local ushort* to = line + (x * CLCOOK_CHANNELS - begin);
      __local const ushort* same = spare;
      if (column >= first && column < last) {
        same = line + (column - begin);
      } else if (column >= 0) {
        const int at = min(column, values - 16);
        byte_columns(&from, 0, at, 1, radius_y, weights_y, spare);
        same = spare + (column - at);
      }
      for (int c = 0; c < CLCOOK_CHANNELS; ++c)
        to[c] = column < 0 ? (ushort)((ushort)clcook_channel_of(picture.outside, c) << 7) : same[c];
    }
    __global uchar* out = dst + (ulong)y * dst_view.pitch;
    uchar16 results[AT_ONCE];
    int f = 0;
    for (; f + 16 * AT_ONCE <= count; f += 16 * AT_ONCE) {
      byte_row(line + f, AT_ONCE, radius_x, weights_x, results);
#pragma unroll
      for (int v = 0; v < AT_ONCE; ++v) clcook_write_wide(out + f + 16 * v, results[v], 0);
    }
    for (; f < count; f += 16) {
      byte_row(line + f, 1, radius_x, weights_x, results);
      if (f + 16 <= count) {
        clcook_write_wide(out + f, results[0], 0);
      } else {
        for (int i = 0; i < count - f; ++i) out[f + i] = ((const uchar*)results)[i];
      }
    }
  }
}
#endif
