// The Gaussian blur for CPUs: rows and columns in one launch, a work-item per tile of the picture.
//
// A work-item takes a tile of the region, as wide as a share of the cache allows and many rows
// high, and streams down: it filters two rows of the source at a time into a ring of lines, and
// makes ROWS rows of results from the ring. The ring is the item's own scratch memory, which stays
// in its cache. Rows that are not float, or reach out of the picture, are copied to lines first.
//
// Where it pays, most taps are splines: a short filter makes smooth lines, of which the coarse taps
// take every second or fourth value; what the taps at both ends miss is added one by one.
//
// Channels are filtered as they lie: the taps along a row are CHANNELS elements apart. Every sum
// has exactly the taps of the filter: none with a weight of zero, which would spread NaN.
#include <clcook/channel16.clh>
#include <clcook/halo.clh>

#define CHANNELS CLCOOK_GAUSSIAN_CHANNELS
#define ROWS 32      // of results at a time: 8 for each phase of the coarse taps
#define PREFETCH 8   // rows ahead
#define COLUMNS 128  // of results at a time

// Along a row, vectors hold every PHASES-th pixel, or a channel of it, at the same place.
#if CHANNELS == 3
#define PHASES 16
#define STEP 48
#else
#define PHASES (16 / CHANNELS)
#define STEP 16
#endif
#define BLOCK (8 * STEP)  // elements that are filtered along a row at once

// Floats inside of the picture are filtered where they are.
#if defined(CLCOOK_GAUSSIAN_U8) || defined(CLCOOK_GAUSSIAN_U16) || defined(CLCOOK_GAUSSIAN_F16)
#define DIRECT 0
#define CHUNK (4 * BLOCK)  // before more is asked for
#else
#define DIRECT 1
#define CHUNK BLOCK
#endif

// The numbers that describe an axis. Its weights follow each other in this order, those of a phase
// together.
#define RADIUS s0
#define EVERY s1   // pixels that the coarse taps are apart
#define FIRST s2   // where the first spline begins
#define SPLINE s3  // taps; 0 where the coarse taps are all
#define COARSE s4  // taps
#define LEFT s5    // taps that splines leave out at the beginning
#define RIGHT s6   // and at the end

// The pixels `begin` to `end` of a row that are outside of its `width`, to line + CHANNELS x. A row
// outside of the picture is 0.
static inline void fill_outside(__global float* line, __global const clcook_channel_t* row,
                                int begin, int end, int width, int border, float4 outside) {
  for (int x = begin; x < end; ++x) {
    const int at = row == 0 ? -1 : clcook_border(x, width, border);
    for (int c = 0; c < CHANNELS; ++c) {
      line[x * CHANNELS + c] = at < 0 ? clcook_channel_of(outside, c)
                                      : clcook_load_channel(row, (ulong)(at * CHANNELS + c));
    }
  }
}

// The pixels `begin` to `end` of a row of the source as floats, and 0 up to `size` floats.
static inline void fill_line(__global float* line, __global const clcook_channel_t* row, int begin,
                             int end, int size, int width, int border, float4 outside) {
  __global float* zero = line - begin * CHANNELS;
  const int first = row == 0 ? end : clamp(0, begin, end);
  const int last = row == 0 ? end : clamp(width, begin, end);
  fill_outside(zero, row, begin, first, width, border, outside);
  int e = first * CHANNELS;
  for (; e <= last * CHANNELS - 16; e += 16)
    *(__global clcook_loose16*)(zero + e) = clcook_load16(row + e);
  for (; e < last * CHANNELS; ++e) zero[e] = clcook_load_channel(row, (ulong)e);
  fill_outside(zero, row, last, end, width, border, outside);
  for (e = (end - begin) * CHANNELS; e < size; ++e) line[e] = 0.0f;
}

// Eight outputs in each of two lanes, for `blocks` blocks. Output i of lane k, from
// `from + k lane`, is the sum of the taps of every phase,
//   the weight * the 16 floats at phase shift + (i + m) step,
// and goes to out + k out_lane + i out_step, or is added to what is there. The step from `last` is
// `back`. The next block begins `next` floats after in all.
//
// Each vector is loaded once for its eight outputs, and most weights once for 16 products: loads
// are what processors do least of.
#define PARAMETERS                                                                           \
  __global const float *from, ulong lane, ulong step, int wraps, __global const float *last, \
      ulong back, __global const float *weights, int taps, int phases, int shift,            \
      __global float *out, ulong out_lane, ulong out_step, int add, int blocks, ulong next

#define EACH(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)

// Sums and weights are variables with names, which stay in registers where arrays may not.
#define SUMS(I) float16 a##I = 0.0f, b##I = 0.0f;
#define PLACE(K, I) (*(__global float16*)(out + (K)*out_lane + (ulong)(I)*out_step))
#define GET(I)        \
  a##I = PLACE(0, I); \
  b##I = PLACE(1, I);
#define PUT(I)        \
  PLACE(0, I) = a##I; \
  PLACE(1, I) = b##I;

// The weight of output I at the tap J after the first; the last eight are kept.
#define KEPT(I, J)             \
  (((J) - (I)) % 8 == 0   ? w0 \
   : ((J) - (I)) % 8 == 1 ? w1 \
   : ((J) - (I)) % 8 == 2 ? w2 \
   : ((J) - (I)) % 8 == 3 ? w3 \
   : ((J) - (I)) % 8 == 4 ? w4 \
   : ((J) - (I)) % 8 == 5 ? w5 \
   : ((J) - (I)) % 8 == 6 ? w6 \
                          : w7)
#define READ(I, J) ((float16)(weight[-(I)]))
#define TAP(I, J, FROM, TO, WEIGHT)     \
  if ((I) >= (FROM) && (I) < (TO)) {    \
    a##I = fma(va, WEIGHT(I, J), a##I); \
    b##I = fma(vb, WEIGHT(I, J), b##I); \
  }
// The outputs FROM to TO - 1 of the next vectors.
#define TAPS(J, FROM, TO, WEIGHT)                                    \
  {                                                                  \
    const float16 va = *(__global const clcook_loose16*)at;          \
    const float16 vb = *(__global const clcook_loose16*)(at + lane); \
    TAP(0, J, FROM, TO, WEIGHT)                                      \
    TAP(1, J, FROM, TO, WEIGHT)                                      \
    TAP(2, J, FROM, TO, WEIGHT)                                      \
    TAP(3, J, FROM, TO, WEIGHT)                                      \
    TAP(4, J, FROM, TO, WEIGHT)                                      \
    TAP(5, J, FROM, TO, WEIGHT)                                      \
    TAP(6, J, FROM, TO, WEIGHT)                                      \
    TAP(7, J, FROM, TO, WEIGHT)                                      \
    at += wraps && at == last ? back : step;                         \
  }
#define FETCH(SLOT) w##SLOT = (float16)(*weight++);
#define AGAIN(SLOT) w##SLOT = (float16)(weight[(SLOT)-8]);
#define WEIGHTS(SLOT) float16 w##SLOT = 0.0f;

#define START(J) FETCH(J) TAPS(J, 0, J + 1, KEPT)
#define FULL(J) FETCH(J) TAPS(J + 8, 0, 8, KEPT)
#define STOP(J) \
  if ((J) > 0) TAPS(J + 7, J, 8, KEPT)

// N < 8 taps in a phase.
#define UP(J, N)          \
  if ((J) < (N)) FETCH(J) \
  TAPS(J, (J) - (N) + 1, (J) + 1, KEPT)
#define DOWN(J, N) \
  if ((J) + 1 < (N)) TAPS((J) + 8, (J) + 9 - (N), 8, KEPT)
#define CASE(N) \
  case N:       \
    UP(0, N);   \
    UP(1, N);   \
    UP(2, N);   \
    UP(3, N);   \
    UP(4, N);   \
    UP(5, N);   \
    UP(6, N);   \
    UP(7, N);   \
    DOWN(0, N); \
    DOWN(1, N); \
    DOWN(2, N); \
    DOWN(3, N); \
    DOWN(4, N); \
    DOWN(5, N); \
    break;

static inline __attribute__((always_inline)) void filter(PARAMETERS) {
  for (int block = 0; block < blocks; ++block) {
    EACH(SUMS)
    if (add) {
      EACH(GET)
    }
    __global const float* weight = weights;
    for (int phase = 0; phase < phases && phase < taps; ++phase) {
      const int count = (taps - phase + phases - 1) / phases;
      __global const float* at = from + phase * shift;
      EACH(WEIGHTS)
      switch (count) {
        CASE(1)
        CASE(2)
        CASE(3)
        CASE(4)
        CASE(5)
        CASE(6)
        CASE(7)
        default: {
          EACH(START)
          int left = count - 8;
          for (; left % 8 != 0; --left) {
            TAPS(0, 0, 8, READ)
            ++weight;
          }
          EACH(AGAIN)
          for (; left != 0; left -= 8) {
            EACH(FULL)
          }
          EACH(STOP)
        }
      }
    }
    EACH(PUT)
    from += next;
    last += next;
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
    filter(from + u, lane, STEP, 0, 0, 0, weights, taps, PHASES / every, CHANNELS * every, out + u,
           out_lane, STEP, add, blocks, BLOCK);
  }
}

// COLUMNS columns of eight results each, from the lines `line` and after in a ring of `slots`.
static __attribute__((noinline)) void filter_columns(__global const float* ring, int pitch,
                                                     int slots, int line, int every,
                                                     __global const float* weights, int taps,
                                                     __global float* out, ulong out_step, int add) {
  if (taps == 0) return;
  const int wrap = slots - every + line % every;
  filter(ring + (ulong)(line % slots) * (ulong)pitch, 16, (ulong)(every * pitch), 1,
         ring + (ulong)wrap * (ulong)pitch, (ulong)(every - slots) * (ulong)pitch, weights, taps, 1,
         0, out, 16, out_step, add, COLUMNS / 32, 32);
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
// share the blocks of a row evenly. `scratch` has item_floats for each item: four lines of
// line_floats, ROWS lines of COLUMNS results, the ring of `slots` lines of ring_pitch, and that of
// smooth_slots smooth lines where there are splines along columns. Sizes of lines are multiples of
// 16, slots are even, and smooth_slots a multiple of 8.
__attribute__((vec_type_hint(float16))) __kernel void gaussian_blur_cpu_fused(
    __global const clcook_channel_t* src, ulong src_offset, ulong src_pitch,
    __global clcook_channel_t* dst, ulong dst_offset, ulong dst_pitch, int width, int height,
    int region_x, int region_y, int region_width, int region_height,
    __global const float* weights_x, int8 axis_x, __global const float* weights_y, int8 axis_y,
    int border, float4 outside, __global float* scratch, ulong item_floats, int line_floats,
    int ring_pitch, int slots, int smooth_slots, int strip) {
  const int every = axis_y.EVERY;
  __global const float* coarse_x = weights_x + axis_x.SPLINE;
  __global const float* left_x = coarse_x + axis_x.COARSE;
  __global const float* right_x = left_x + axis_x.LEFT;
  __global const float* coarse_y = weights_y + axis_y.SPLINE;
  __global const float* left_y = coarse_y + axis_y.COARSE;
  __global const float* right_y = left_y + axis_y.LEFT;
  const int tile = (int)get_global_id(0);
  const int tiles = (int)get_global_size(0);
  const int picture = (int)get_global_id(2);
  const int first = (int)get_global_id(1) * strip;
  const int rows = min(strip, region_height - first);
  const int elements = region_width * CHANNELS;
  const int blocks = (elements + BLOCK - 1) / BLOCK;
  const int tile_begin = (int)((long)tile * blocks / tiles) * BLOCK;
  const int tile_end = min((int)((long)(tile + 1) * blocks / tiles) * BLOCK, elements);
  const int count = tile_end - tile_begin;
  const int whole = (count + BLOCK - 1) / BLOCK * BLOCK;
  scratch +=
      item_floats *
      (((ulong)picture * get_global_size(1) + get_global_id(1)) * (ulong)tiles + (ulong)tile);
  const ulong line_pitch = (ulong)line_floats;
  __global float* lines = scratch;
  __global float* smooth_lines = lines + 2 * line_pitch;
  __global float* results = smooth_lines + 2 * line_pitch;
  __global float* ring = results + ROWS * COLUMNS;
  __global float* smooth = axis_y.SPLINE == 0 ? ring : ring + (ulong)slots * (ulong)ring_pitch;
  src += src_offset + (ulong)picture * (ulong)height * src_pitch;
  dst += dst_offset + ((ulong)picture * (ulong)region_height + (ulong)first) * dst_pitch +
         (ulong)tile_begin;
  const int stream = ((ulong)dst & 63) == 0 && dst_pitch % (64 / sizeof(clcook_channel_t)) == 0;
  const int begin = region_x + tile_begin / CHANNELS - axis_x.RADIUS;  // pixels
  const int end = region_x + tile_end / CHANNELS + axis_x.RADIUS;
  const int top = region_y + first - axis_y.RADIUS;
  const int right_begin = 2 * axis_x.RADIUS + 1 - axis_x.RIGHT;
#if DIRECT
  // Whether no line of the tile needs what is outside of the picture.
  const int inside = begin >= 0 && (long)begin * CHANNELS + line_floats <= (long)width * CHANNELS;
#endif
  int filled = 0;   // lines of the ring
  int made = 0;     // smooth lines
  int before = -2;  // row of the picture in the last line
  for (int y = 0; y < rows; y += ROWS) {
    for (; filled < y + ROWS + 2 * axis_y.RADIUS + 7; filled += 2) {
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
        from = src + (ulong)row0 * src_pitch + (ulong)(begin * CHANNELS);
        lane = src_pitch;
      } else
#endif
      {
        fill_line(lines, row0 < 0 ? 0 : src + (ulong)row0 * src_pitch, begin, end, line_floats,
                  width, border, outside);
        fill_line(lines + line_pitch, row1 < 0 ? 0 : src + (ulong)row1 * src_pitch, begin, end,
                  line_floats, width, border, outside);
      }
      __global const float* coarse = from;
      ulong coarse_lane = lane;
      if (axis_x.SPLINE != 0) {
        coarse = smooth_lines;
        coarse_lane = line_pitch;
        const int spread = whole + (axis_x.COARSE - 1) * axis_x.EVERY * CHANNELS;
        filter_rows(from + axis_x.FIRST * CHANNELS, lane, 1, weights_x, axis_x.SPLINE, smooth_lines,
                    line_pitch, 0, (spread + BLOCK - 1) / BLOCK);
      }
      for (int e = 0; e < count; e += CHUNK) {
        fetch_ahead(ahead, src_pitch, region_x * CHANNELS + tile_begin + e, width * CHANNELS);
        __global float* out = next + e;
        const int some = min(CHUNK, whole - e) / BLOCK;
        filter_rows(coarse + e, coarse_lane, axis_x.EVERY, coarse_x, axis_x.COARSE, out,
                    (ulong)ring_pitch, 0, some);
        if (axis_x.SPLINE != 0) {
          filter_rows(from + e, lane, 1, left_x, axis_x.LEFT, out, (ulong)ring_pitch, 1, some);
          filter_rows(from + right_begin * CHANNELS + e, lane, 1, right_x, axis_x.RIGHT, out,
                      (ulong)ring_pitch, 1, some);
        }
      }
    }
    const int until = axis_y.SPLINE == 0 ? 0 : y + ROWS + (axis_y.COARSE - 1) * every;
    for (int e = 0; e < count; e += COLUMNS) {
      for (int i = made; i < until; i += 8) {
        filter_columns(ring + e, ring_pitch, slots, i + axis_y.FIRST, 1, weights_y, axis_y.SPLINE,
                       smooth + (ulong)(i % smooth_slots) * (ulong)ring_pitch + e,
                       (ulong)ring_pitch, 0);
      }
      for (int i = 0; i < ROWS; i += 8) {
        // Rows that take the same smooth lines follow each other.
        const int row = i % (ROWS / every) * every + i / (ROWS / every);
        filter_columns(smooth + e, ring_pitch, smooth_slots, y + row, every, coarse_y,
                       axis_y.COARSE, results + row * COLUMNS, (ulong)(every * COLUMNS), 0);
      }
      for (int i = 0; i < ROWS; i += 8) {
        filter_columns(ring + e, ring_pitch, slots, y + i, 1, left_y, axis_y.LEFT,
                       results + i * COLUMNS, COLUMNS, 1);
        filter_columns(ring + e, ring_pitch, slots, y + i + 2 * axis_y.RADIUS + 1 - axis_y.RIGHT, 1,
                       right_y, axis_y.RIGHT, results + i * COLUMNS, COLUMNS, 1);
      }
      for (int i = 0; i < min(ROWS, rows - y); ++i) {
        clcook_store_line(dst + (ulong)(y + i) * dst_pitch + (ulong)e, results + i * COLUMNS,
                          min(COLUMNS, count - e), stream);
      }
    }
    while (made < until) made += 8;
  }
}
