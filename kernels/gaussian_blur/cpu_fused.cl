// The Gaussian blur for CPUs: rows and columns in one launch, a work-item per tile of the picture.
//
// A work-item takes a tile of the region, as wide as a share of the cache allows and many rows
// high, and streams down: it copies eight rows of the source, converted to float and with what lies
// outside of the picture, to lines; filters these into a ring of the last 2 radius_y + 8 lines; and
// makes eight rows of results from the ring. Lines and ring are the item's own scratch memory,
// which stays in its cache.
//
// Channels are filtered as they lie: the taps along a row are CHANNELS elements apart. Along rows,
// a vector at element 16 j + r is a tap of the outputs i <= j, each with another weight: it is
// loaded once for all outputs of a block. Every sum has exactly the taps of the filter: none with a
// weight of zero, which would spread NaN.
#include <clcook/channel16.clh>
#include <clcook/halo.clh>

#define CHANNELS CLCOOK_GAUSSIAN_CHANNELS
#define ROWS 8      // of results at a time
#define PREFETCH 8  // rows ahead
#define COLUMNS 64  // of results at a time

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
#else
#define DIRECT 1
#endif

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

// Two times eight outputs. Output i of `a`, from from_a, is the sum of the taps t = phase + phases
// m of every phase,
//   weights[t] * the 16 floats at from_a + phase shift + (i + m) step,
// and goes to out_a + i out_step; likewise `b`. A tap of phase 0 that would be at `wrap` is `back`
// floats before; wrap is a multiple of 8 steps away.
//
// Each vector is loaded once for its eight outputs, and most weights once for eight vectors.
#define PARAMETERS                                                                                 \
  __global const float *from_a, __global const float *from_b, ulong step,                          \
      __global const float *wrap, ulong back, __global const float *weights, int taps, int phases, \
      int shift, __global float *out_a, __global float *out_b, ulong out_step

// Sums and weights are variables with names, which stay in registers where arrays may not.
#define BEGIN_PHASES                                             \
  float16 a0 = 0.0f, a1 = 0.0f, a2 = 0.0f, a3 = 0.0f;            \
  float16 a4 = 0.0f, a5 = 0.0f, a6 = 0.0f, a7 = 0.0f;            \
  float16 b0 = 0.0f, b1 = 0.0f, b2 = 0.0f, b3 = 0.0f;            \
  float16 b4 = 0.0f, b5 = 0.0f, b6 = 0.0f, b7 = 0.0f;            \
  for (int phase = 0; phase < phases && phase < taps; ++phase) { \
    const int count = (taps - phase + phases - 1) / phases;      \
    __global const float* a = from_a + phase * shift;            \
    __global const float* b = from_b + phase * shift;            \
    __global const float* next = weights + phase;                \
    float16 w0 = 0.0f, w1 = 0.0f, w2 = 0.0f, w3 = 0.0f;          \
    float16 w4 = 0.0f, w5 = 0.0f, w6 = 0.0f, w7 = 0.0f;

#define OUT(I)                                                \
  {                                                           \
    *(__global float16*)(out_a + (ulong)I * out_step) = a##I; \
    *(__global float16*)(out_b + (ulong)I * out_step) = b##I; \
  }
#define END_PHASES \
  }                \
  OUT(0);          \
  OUT(1);          \
  OUT(2);          \
  OUT(3);          \
  OUT(4);          \
  OUT(5);          \
  OUT(6);          \
  OUT(7);

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
#define READ(I, J) ((float16)(next[-(I)*phases]))
#define TAP(I, J, FROM, TO, WEIGHT)      \
  if ((I) >= (FROM) && (I) < (TO)) {     \
    const float16 weight = WEIGHT(I, J); \
    a##I = fma(va, weight, a##I);        \
    b##I = fma(vb, weight, b##I);        \
  }
// The outputs FROM to TO - 1 of the next vectors.
#define TAPS(J, FROM, TO, WEIGHT)                          \
  {                                                        \
    const float16 va = *(__global const clcook_loose16*)a; \
    const float16 vb = *(__global const clcook_loose16*)b; \
    TAP(0, J, FROM, TO, WEIGHT)                            \
    TAP(1, J, FROM, TO, WEIGHT)                            \
    TAP(2, J, FROM, TO, WEIGHT)                            \
    TAP(3, J, FROM, TO, WEIGHT)                            \
    TAP(4, J, FROM, TO, WEIGHT)                            \
    TAP(5, J, FROM, TO, WEIGHT)                            \
    TAP(6, J, FROM, TO, WEIGHT)                            \
    TAP(7, J, FROM, TO, WEIGHT)                            \
    a += step;                                             \
    b += step;                                             \
  }
#define FETCH(SLOT)             \
  {                             \
    w##SLOT = (float16)(*next); \
    next += phases;             \
  }
#define WRAP       \
  if (a == wrap) { \
    a -= back;     \
    b -= back;     \
  }

// With at least 8 taps in each phase.
static __attribute__((noinline)) void filter_long(PARAMETERS) {
  BEGIN_PHASES
#define START(J)             \
  {                          \
    FETCH(J);                \
    TAPS(J, 0, J + 1, KEPT); \
  }
  START(0);
  START(1);
  START(2);
  START(3);
  START(4);
  START(5);
  START(6);
  START(7);
  WRAP;
  int left = count - 8;
  for (; left % 8 != 0; --left) {
    TAPS(0, 0, 8, READ);
    next += phases;
  }
#define AGAIN(SLOT) w##SLOT = (float16)(next[(SLOT - 8) * phases])
  AGAIN(0);
  AGAIN(1);
  AGAIN(2);
  AGAIN(3);
  AGAIN(4);
  AGAIN(5);
  AGAIN(6);
  AGAIN(7);
#define FULL(J)              \
  {                          \
    WRAP;                    \
    FETCH(J);                \
    TAPS(J + 8, 0, 8, KEPT); \
  }
  for (; left != 0; left -= 8) {
    FULL(0);
    FULL(1);
    FULL(2);
    FULL(3);
    FULL(4);
    FULL(5);
    FULL(6);
    FULL(7);
  }
#define STOP(K)              \
  {                          \
    WRAP;                    \
    TAPS(K + 7, K, 8, KEPT); \
  }
  STOP(1);
  STOP(2);
  STOP(3);
  STOP(4);
  STOP(5);
  STOP(6);
  STOP(7);
  END_PHASES
}

// With at most 8 taps in each phase.
static __attribute__((noinline)) void filter_short(PARAMETERS) {
  BEGIN_PHASES
#define FETCH_IF(M, N) \
  if (M < N) {         \
    FETCH(M);          \
  }
#define UP(J, N) TAPS(J, J - N + 1, J + 1, KEPT)
#define DOWN(J, N)               \
  if (J < N + 7) {               \
    TAPS(J, J - N + 1, 8, KEPT); \
  }
#define ALL(N)      \
  {                 \
    FETCH_IF(0, N); \
    FETCH_IF(1, N); \
    FETCH_IF(2, N); \
    FETCH_IF(3, N); \
    FETCH_IF(4, N); \
    FETCH_IF(5, N); \
    FETCH_IF(6, N); \
    FETCH_IF(7, N); \
    UP(0, N);       \
    UP(1, N);       \
    UP(2, N);       \
    UP(3, N);       \
    UP(4, N);       \
    UP(5, N);       \
    UP(6, N);       \
    UP(7, N);       \
    WRAP;           \
    DOWN(8, N);     \
    DOWN(9, N);     \
    DOWN(10, N);    \
    DOWN(11, N);    \
    DOWN(12, N);    \
    DOWN(13, N);    \
    DOWN(14, N);    \
  }
  switch (count) {
    case 1:
      ALL(1);
      break;
    case 2:
      ALL(2);
      break;
    case 3:
      ALL(3);
      break;
    case 4:
      ALL(4);
      break;
    case 5:
      ALL(5);
      break;
    case 6:
      ALL(6);
      break;
    case 7:
      ALL(7);
      break;
    case 8:
      ALL(8);
      break;
  }
  END_PHASES
}

static inline void filter8(PARAMETERS) {
  if (taps >= 8 * phases) {
    filter_long(from_a, from_b, step, wrap, back, weights, taps, phases, shift, out_a, out_b,
                out_step);
  } else {
    filter_short(from_a, from_b, step, wrap, back, weights, taps, phases, shift, out_a, out_b,
                 out_step);
  }
}

// Asks for a block of two rows, of elements up to `size`.
static inline void fetch_ahead(__global const clcook_channel_t* row, ulong pitch, int begin,
                               int size) {
  if (row == 0) return;
  const int end = min(begin + BLOCK, size);
  for (int e = begin; e < end; e += 64 / (int)sizeof(clcook_channel_t)) {
    CLCOOK_PREFETCH(row + e);
    CLCOOK_PREFETCH(row + pitch + e);
  }
}

// Items: tiles of the region from left to right x strips of `strip` rows x pictures. The tiles
// share the blocks of a row evenly. `scratch` has item_floats for each item: two lines of
// line_floats, ROWS lines of COLUMNS results, and the ring of `slots` lines of ring_pitch. Sizes of
// lines are multiples of 16, and slots of 8.
__kernel void gaussian_blur_cpu_fused(__global const clcook_channel_t* src, ulong src_offset,
                                      ulong src_pitch, __global clcook_channel_t* dst,
                                      ulong dst_offset, ulong dst_pitch, int width, int height,
                                      int region_x, int region_y, int region_width,
                                      int region_height, __global const float* weights_x,
                                      int radius_x, __global const float* weights_y, int radius_y,
                                      int border, float4 outside, __global float* scratch,
                                      ulong item_floats, int line_floats, int ring_pitch, int slots,
                                      int strip) {
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
  __global float* line0 = scratch;
  __global float* line1 = line0 + line_floats;
  __global float* results = line1 + line_floats;
  __global float* ring = results + ROWS * COLUMNS;
  const ulong ring_floats = (ulong)slots * (ulong)ring_pitch;
  __global float* ring_end = ring + ring_floats;
  src += src_offset + (ulong)picture * (ulong)height * src_pitch;
  dst += dst_offset + ((ulong)picture * (ulong)region_height + (ulong)first) * dst_pitch +
         (ulong)tile_begin;
  const int stream = ((ulong)dst & 63) == 0 && dst_pitch % 16 == 0;
  const int begin = region_x + tile_begin / CHANNELS - radius_x;  // pixels
  const int end = region_x + tile_end / CHANNELS + radius_x;
  const int top = region_y + first - radius_y;
  __global float* next = ring;        // the slot of line `filled`
  __global const float* base = ring;  // the slot of the first line of the group
#if DIRECT
  // Whether no line of the tile needs what is outside of the picture.
  const int inside = begin >= 0 && (long)begin * CHANNELS + line_floats <= (long)width * CHANNELS;
#endif
  int filled = 0;
  int last = -2;  // row of the picture in the slot before `next`
  for (int y = 0; y < rows; y += ROWS) {
    for (; filled < y + ROWS + 2 * radius_y; filled += 2) {
      // Lines behind the last row of the region are of no use, and as good as any.
      const int row0 = clcook_border(top + filled, height, border);
      const int row1 = clcook_border(top + filled + 1, height, border);
      if (row0 == last && row1 == last) {
        __global const float* same = (next == ring ? ring_end : next) - ring_pitch;
        for (int e = 0; e < whole; e += 16) {
          const float16 value = *(__global const float16*)(same + e);
          *(__global float16*)(next + e) = value;
          *(__global float16*)(next + ring_pitch + e) = value;
        }
      } else {
        __global const clcook_channel_t* ahead =
            row0 >= 0 && row1 == row0 + 1 && row1 + PREFETCH < height
                ? src + (ulong)(row0 + PREFETCH) * src_pitch
                : 0;
        __global const float* from0 = line0;
        __global const float* from1 = line1;
#if DIRECT
        if (row0 >= 0 && row1 >= 0 && inside) {
          from0 = src + (ulong)row0 * src_pitch + (ulong)(begin * CHANNELS);
          from1 = src + (ulong)row1 * src_pitch + (ulong)(begin * CHANNELS);
        } else
#endif
        {
          fill_line(line0, row0 < 0 ? 0 : src + (ulong)row0 * src_pitch, begin, end, line_floats,
                    width, border, outside);
          fill_line(line1, row1 < 0 ? 0 : src + (ulong)row1 * src_pitch, begin, end, line_floats,
                    width, border, outside);
        }
        for (int e = 0; e < count; e += BLOCK) {
          fetch_ahead(ahead, src_pitch, region_x * CHANNELS + tile_begin + e, width * CHANNELS);
          for (int u = e; u < e + STEP; u += 16) {
            filter8(from0 + u, from1 + u, STEP, 0, 0, weights_x, 2 * radius_x + 1, PHASES, CHANNELS,
                    next + u, next + ring_pitch + u, STEP);
          }
        }
      }
      last = row1;
      next += 2 * ring_pitch;
      if (next == ring_end) next = ring;
    }
    for (int e = 0; e < count; e += COLUMNS) {
      for (int u = 0; u < COLUMNS; u += 32) {
        filter8(base + e + u, base + e + u + 16, (ulong)ring_pitch, ring_end + e + u, ring_floats,
                weights_y, 2 * radius_y + 1, 1, 0, results + u, results + u + 16, COLUMNS);
      }
      for (int i = 0; i < min(ROWS, rows - y); ++i) {
        clcook_store_line(dst + (ulong)(y + i) * dst_pitch + (ulong)e, results + i * COLUMNS,
                          min(COLUMNS, count - e), stream);
      }
    }
    base += ROWS * ring_pitch;
    if (base == ring_end) base = ring;
  }
}
