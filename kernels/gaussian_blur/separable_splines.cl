// The two passes of separable.cl with half the taps: most of a long filter is a sum of splines.
//
// To within rounding a Gaussian is a sum of cubic B-splines EVERY pixels apart. So a work-item first
// makes sums of every EVERYth value, the coarse ones,
//
//   coarse[i] = the sum over the coarse taps of w[m] line[i + EVERY m],
//
// and then filters these with the spline, which is 4 EVERY - 3 taps long. The few taps at both ends
// of the filter, where it is cut off, get what the splines miss, one by one. As in separable.cl an
// item makes RUN sums at a time, and each value that it has loaded serves as many of them as it can:
// the coarse sums of an item are EVERY apart, all others are neighbours.
//
// CLCOOK_GAUSSIAN_COARSE is how many coarse taps one launch adds; a longer filter takes several.
// Weights are an argument by value, those beyond the real ones are 0: all values must be finite.
//
// Views, `mid` and `partial` are as in separable.cl.
#include <clcook/alpha.clh>
#include <clcook/halo.clh>
#include <clcook/pixel.clh>
#include <clcook/view.clh>

#ifndef CLCOOK_GAUSSIAN_EVERY
#define CLCOOK_GAUSSIAN_EVERY 4
#define CLCOOK_GAUSSIAN_COARSE 32
#endif
#ifndef CLCOOK_GAUSSIAN_RUN
#define CLCOOK_GAUSSIAN_RUN 12
#define CLCOOK_GAUSSIAN_RUNS_X 56
#define CLCOOK_GAUSSIAN_RUNS_Y 4
#define CLCOOK_GAUSSIAN_ROWS 1
#define CLCOOK_GAUSSIAN_LINES 32
#endif

#define EVERY CLCOOK_GAUSSIAN_EVERY  // 2 or 4
#define COARSE CLCOOK_GAUSSIAN_COARSE
#define RUN CLCOOK_GAUSSIAN_RUN  // 12

// Taps of the spline, and of the ends.
#define SPLINE (4 * EVERY - 3)
#define LEFT (3 * EVERY - 3)
#define RIGHT (4 * EVERY - 5)
#define HALO (EVERY * COARSE + RIGHT - 1)  // how far the last tap is from the first

// Rows: a group takes ROWS rows of TILE_X pixels, a line of the tile is a channel of a row. The last
// run of coarse sums is only for the splines. A line is stored as EVERY phases of every EVERYth
// value. Neighbouring runs and neighbouring phases lie in different banks.
#define RUNS_X CLCOOK_GAUSSIAN_RUNS_X
#define TILE_X ((RUNS_X - 1) * RUN)
#define ROWS CLCOOK_GAUSSIAN_ROWS
#define LINES_X (CLCOOK_CHANNELS * ROWS)
#define ITEMS_X (RUNS_X * LINES_X)
#define SUMS_X (RUNS_X * RUN / EVERY)               // coarse sums of a phase
#define PHASE_X (SUMS_X + (COARSE + 31) / 32 * 32)  // values of a phase
#define COUNT_X (EVERY * PHASE_X)
#define LOADS_X ((COUNT_X + ITEMS_X - 1) / ITEMS_X)
#define LINE_X (COUNT_X + SUMS_X % 32)
#define SUMS_LINE_X (EVERY * SUMS_X + SUMS_X % 32)

// Columns: a group goes down LINES channels, TILE_Y rows at a time. The rows are a ring in local
// memory, and so are the coarse sums, of which the next tile needs the last RUN.
#define LINES CLCOOK_GAUSSIAN_LINES
#define RUNS_Y CLCOOK_GAUSSIAN_RUNS_Y  // a multiple of EVERY
#define TILE_Y (RUNS_Y * RUN)
#define HALO_Y ((HALO + RUN - 1) / RUN * RUN)
#define STRIDE (EVERY * RUN)  // rows that coarse sums of EVERY items are of
#define RING ((HALO_Y + TILE_Y + STRIDE - 1) / STRIDE * STRIDE)
#define SUMS_RING (TILE_Y + RUN)
#define ITEMS_Y (LINES * RUNS_Y)

// Of straight pictures the sums of the launches before are added before colours are divided.
#ifdef CLCOOK_ALPHA_TOP
#define ADD_LAST 0
#else
#define ADD_LAST add
#endif

// The taps of one launch. Weights of coarse taps from w[0] on, of the spline from w[AT_SPLINE] on, of
// the first taps of the filter from w[AT_LEFT] on, and of the last ones from w[AT_RIGHT] on.
typedef struct {
  float w[132];
  int count;  // of coarse taps
  int reach;  // the first tap is `reach` pixels from the result
} taps_t;
#define AT_SPLINE 64
#define AT_LEFT 80
#define AT_RIGHT 92

// SUMS[j] += the sum over k of taps.w[AT + k] value[j + k]. FOUR(i) is value[i .. i + 3], where i is
// a multiple of four.
#define ADD_TAPS(SUMS, AT, TAPS, FOUR)                                 \
  _Pragma("unroll") for (int i = 0; i < RUN + (TAPS)-1; i += 4) {      \
    const float4 four = FOUR(i);                                       \
    const float values[4] = {four.x, four.y, four.z, four.w};          \
    _Pragma("unroll") for (int v = 0; v < 4; ++v) {                    \
      _Pragma("unroll") for (int j = 0; j < RUN; ++j) {                \
        if (i + v >= j && i + v - j < (TAPS))                          \
          SUMS[j] = fma(taps.w[(AT) + i + v - j], values[v], SUMS[j]); \
      }                                                                \
    }                                                                  \
  }

// Where pixel `i` of a line is.
static inline int in_phases(uint i) { return (int)(i % EVERY * PHASE_X + i / EVERY); }

static inline void put_pixel(__local float* tile, clcook_floats_t pixel) {
#if CLCOOK_CHANNELS == 1
  *tile = pixel;
#else
  *tile = pixel.x;
  tile[LINE_X] = pixel.y;
#if CLCOOK_CHANNELS > 2
  tile[2 * LINE_X] = pixel.z;
#endif
#if CLCOOK_CHANNELS > 3
  tile[3 * LINE_X] = pixel.w;
#endif
#endif
}

// Values i .. i + 3 of a line from `at` on, which is in the first of its phases.
static inline float4 of_phases(__local const float* at, int phase, int i) {
#if EVERY == 4
  return (float4)(at[i / 4], at[phase + i / 4], at[2 * phase + i / 4], at[3 * phase + i / 4]);
#else
  return (float4)(at[i / 2], at[phase + i / 2], at[i / 2 + 1], at[phase + i / 2 + 1]);
#endif
}

// Items: ITEMS_X x 1 x 1, groups: tiles x ROWS rows x pictures.
__kernel __attribute__((reqd_work_group_size(ITEMS_X, 1, 1))) void
gaussian_blur_separable_spline_rows(__global const clcook_channel_t* src, clcook_view src_view,
                                    __global float* mid, clcook_picture picture, clcook_rows rows,
                                    taps_t taps, int add) {
  __local float4 memory[LINES_X * LINE_X / 4];
  __local float4 sums_memory[LINES_X * SUMS_LINE_X / 4];
  __local float* const tile = (__local float*)memory;
  __local float* const coarse = (__local float*)sums_memory;
  const int lid = (int)get_local_id(0);
  const int number = (int)get_global_id(2);
  const int width = picture.width;
  const int begin = (int)get_group_id(0) * TILE_X;
  const int row = (int)get_group_id(1) * ROWS;
  const int x0 = picture.region.x + begin + taps.reach;
  src += clcook_view_row(src_view, number, picture.height, rows.first);
#pragma unroll 1
  for (int r = 0; r < ROWS; ++r) {
    __global const clcook_channel_t* const from =
        src + (ulong)min(row + r, rows.count - 1) * src_view.pitch;
    __local float* const to = tile + r * CLCOOK_CHANNELS * LINE_X;
    if (x0 >= 0 && x0 + COUNT_X <= width) {
      clcook_pixel_t loaded[LOADS_X];  // all under way before the first is waited for
#pragma unroll
      for (int n = 0; n < LOADS_X; ++n) {
        if (lid + n * ITEMS_X < COUNT_X)
          loaded[n] = clcook_load_pixel(from, (ulong)(x0 + lid + n * ITEMS_X));
      }
#pragma unroll
      for (int n = 0; n < LOADS_X; ++n) {
        if (lid + n * ITEMS_X < COUNT_X)
          put_pixel(to + in_phases((uint)lid) + n * (ITEMS_X / EVERY),
                    clcook_weighted(clcook_floats(loaded[n])));
      }
    } else {
#pragma unroll 1
      for (int i = lid; i < COUNT_X; i += ITEMS_X) {
        const int at = clcook_border(x0 + i, width, picture.border);
        clcook_floats_t pixel = clcook_first(picture.outside);
        if (at >= 0) pixel = clcook_weighted(clcook_floats(clcook_load_pixel(from, (ulong)at)));
        put_pixel(to + in_phases((uint)i), pixel);
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const int line = lid / RUNS_X;
  const int run = lid % RUNS_X;
  float sums[RUN];
#pragma unroll
  for (int j = 0; j < RUN; ++j) sums[j] = 0.0f;
  {
    const int phase = run / (RUNS_X / EVERY);
    const int first = run % (RUNS_X / EVERY) * RUN;
    __local const float* const values = tile + line * LINE_X + phase * PHASE_X + first;
#define FOUR_VALUES(i) (*(__local const float4*)(values + (i)))
    ADD_TAPS(sums, 0, COARSE, FOUR_VALUES)
    __local float4* const to =
        (__local float4*)(coarse + line * SUMS_LINE_X + phase * SUMS_X + first);
#pragma unroll
    for (int j = 0; j < RUN; j += 4)
      to[j / 4] = (float4)(sums[j], sums[j + 1], sums[j + 2], sums[j + 3]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (int j = 0; j < RUN; ++j) sums[j] = 0.0f;
  if (run < RUNS_X - 1) {
    __local const float* const left = tile + line * LINE_X + run * (RUN / EVERY);
    __local const float* const right = left + taps.count;
    __local const float* const splines = coarse + line * SUMS_LINE_X + run * (RUN / EVERY);
#define FOUR_LEFT(i) of_phases(left, PHASE_X, i)
#define FOUR_RIGHT(i) of_phases(right, PHASE_X, i)
#define FOUR_COARSE(i) of_phases(splines, SUMS_X, i)
    ADD_TAPS(sums, AT_LEFT, LEFT, FOUR_LEFT)
    ADD_TAPS(sums, AT_RIGHT, RIGHT, FOUR_RIGHT)
    ADD_TAPS(sums, AT_SPLINE, SPLINE, FOUR_COARSE)
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  // Through the tile, so that stores are in order.
  {
    __local float4* const to = (__local float4*)(tile + line * LINE_X + run * RUN);
#pragma unroll
    for (int j = 0; j < RUN; j += 4)
      to[j / 4] = (float4)(sums[j], sums[j + 1], sums[j + 2], sums[j + 3]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const int count = min(TILE_X, picture.region.width - begin);
  for (int r = 0; r < min(ROWS, rows.count - row); ++r) {
    __local const float* const from = tile + r * CLCOOK_CHANNELS * LINE_X;
    __global float* const to = mid + (((ulong)number * (ulong)rows.count + (ulong)(row + r)) *
                                          (ulong)picture.region.width +
                                      (ulong)begin) *
                                         CLCOOK_CHANNELS;
    for (int i = lid; i < count; i += ITEMS_X) {
#if CLCOOK_CHANNELS == 4
      float4 sum = (float4)(from[i], from[LINE_X + i], from[2 * LINE_X + i], from[3 * LINE_X + i]);
      if (add) sum += ((__global const float4*)to)[i];
      ((__global float4*)to)[i] = sum;
#else
      for (int c = 0; c < CLCOOK_CHANNELS; ++c) {
        const float sum = from[c * LINE_X + i];
        to[i * CLCOOK_CHANNELS + c] = add ? to[i * CLCOOK_CHANNELS + c] + sum : sum;
      }
#endif
    }
  }
}

// Clang warns of a loop that it unrolls only later, once the count is known.
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

// Whether the rows `y` to y + RUN - 1 of the picture are there.
static inline bool are_there(int y, clcook_rows rows) {
  return y >= rows.first && y + RUN <= rows.first + rows.count;
}

// RUN rows that are there, from row `y` of the picture on, of a column of channels.
static inline void load_rows(__global const float* mid, ulong pitch, int y, clcook_rows rows,
                             float* values) {
  mid += (ulong)(y - rows.first) * pitch;
#pragma unroll
  for (int n = 0; n < RUN; ++n) values[n] = mid[(ulong)n * pitch];
}

static inline void put_rows(__local float* to, const float* values) {
#pragma unroll
  for (int n = 0; n < RUN; ++n) to[n * LINES] = values[n];
}

// RUN rows of which some are outside. A loop: its code is long.
static inline void put_border_rows(__local float* to, __global const float* mid, ulong pitch, int y,
                                   int height, clcook_rows rows, int border, float beyond) {
#pragma unroll 1
  for (int n = 0; n < RUN; ++n) {
    const int at = clcook_border(y + n, height, border);
    // Rows that no output of the region needs may not be there.
    to[n * LINES] = at < 0 ? beyond : mid[(ulong)clamp(at - rows.first, 0, rows.count - 1) * pitch];
  }
}

// Where a line of the ring of `size` lines is, which may be in the next round.
static inline int in_ring(int line, int size) { return (line < size ? line : line - size) * LINES; }

// Items: ITEMS_Y x 1 x 1, groups: LINES channels x `segment` rows, a multiple of TILE_Y, x
// pictures. Sums go to `partial` unless they are the last, and start from there with `add`.
__kernel __attribute__((reqd_work_group_size(ITEMS_Y, 1, 1))) void
gaussian_blur_separable_spline_columns(__global const float* mid, __global float* partial,
                                       __global clcook_channel_t* dst, clcook_view dst_view,
                                       clcook_picture picture, clcook_rows rows, int segment,
                                       taps_t taps, int add, int last) {
  __local float memory[(RING + SUMS_RING) * LINES];
  const int lid = (int)get_local_id(0);
  const int line = lid % LINES;
  const int part = lid / LINES;
  const int number = (int)get_global_id(2);
  const clcook_region region = picture.region;
  const int height = picture.height;
  const int border = picture.border;
  const int e = (int)get_group_id(0) * LINES + line;
  const int begin = (int)get_group_id(1) * segment;
  const int end = min(begin + segment, region.height);
  const ulong pitch = (ulong)region.width * CLCOOK_CHANNELS;
  const int near = min(e, region.width * CLCOOK_CHANNELS - 1);  // one that there is
  const float beyond = clcook_channel_of(picture.outside, near % CLCOOK_CHANNELS);
  mid += (ulong)number * (ulong)rows.count * pitch + (ulong)near;
  partial += (ulong)number * (ulong)region.height * pitch + (ulong)e;
  dst += clcook_view_row(dst_view, number, region.height, 0);
  __local float* const column = memory + line;
  __local float* const sums_column = column + RING * LINES;
  const int top = region.y + taps.reach;
  // The item makes the results of RUN rows of the tile from `own` on. The tile begins at the line
  // `base` of the rows' ring, and at the line `sums_base` of that of the sums.
  const int own = part * RUN;
  int base = 0;
  int sums_base = 0;

  float loaded[RUN];
#pragma unroll 1
  for (int i = own; i < HALO_Y; i += TILE_Y) {
    if (are_there(top + begin + i, rows)) {
      load_rows(mid, pitch, top + begin + i, rows, loaded);
      put_rows(column + i * LINES, loaded);
    } else {
      put_border_rows(column + i * LINES, mid, pitch, top + begin + i, height, rows, border,
                      beyond);
    }
  }
  // The rows of a tile are under way while the sums of the one before are made.
  const int ahead = top + HALO_Y + own;
  bool is_loaded = are_there(ahead + begin, rows);
  if (is_loaded) load_rows(mid, pitch, ahead + begin, rows, loaded);
  for (int y = begin; y < end; y += TILE_Y) {
    __local float* const to = column + in_ring(base + HALO_Y + own, RING);
    if (is_loaded)
      put_rows(to, loaded);
    else
      put_border_rows(to, mid, pitch, ahead + y, height, rows, border, beyond);
    barrier(CLK_LOCAL_MEM_FENCE);
    is_loaded = y + TILE_Y < end && are_there(ahead + y + TILE_Y, rows);
    if (is_loaded) load_rows(mid, pitch, ahead + y + TILE_Y, rows, loaded);
    if (y == begin) {
      // The coarse sums before those of the first tile.
#pragma unroll 1
      for (int i = part; i < SPLINE - 1; i += RUNS_Y) {
        float sum = 0.0f;
#pragma unroll
        for (int m = 0; m < COARSE; ++m) sum = fma(taps.w[m], column[(i + m * EVERY) * LINES], sum);
        sums_column[(RUN - (SPLINE - 1) + i) * LINES] = sum;
      }
    }
    float sums[RUN];
    float coarse[RUN];
#pragma unroll
    for (int j = 0; j < RUN; ++j) sums[j] = coarse[j] = 0.0f;
#define FOUR_ROWS(AT) (float4)((AT)[0], (AT)[LINES], (AT)[2 * LINES], (AT)[3 * LINES])
#define FOUR_LEFT_Y(i) \
  FOUR_ROWS(column + in_ring(base + own + (i) / RUN * RUN, RING) + (i) % RUN * LINES)
// `right` is a multiple of EVERY, and the ring may end after any of its multiples.
#define RIGHT_ROW(i) (column + in_ring(base + own + right + (i), RING))
#if EVERY == 4
#define FOUR_RIGHT_Y(i) FOUR_ROWS(RIGHT_ROW(i))
#else
#define FOUR_RIGHT_Y(i) \
  (float4)(RIGHT_ROW(i)[0], RIGHT_ROW(i)[LINES], RIGHT_ROW((i) + 2)[0], RIGHT_ROW((i) + 2)[LINES])
#endif
    const int right = taps.count * EVERY;
    ADD_TAPS(sums, AT_LEFT, LEFT, FOUR_LEFT_Y)
    ADD_TAPS(sums, AT_RIGHT, RIGHT, FOUR_RIGHT_Y)
    // Coarse sums follow those of the tile before.
#define SPREAD(i) (SPLINE - 1 + (i)*EVERY)
#define SPREAD_ROW(i)                                                                \
  column[in_ring(base + part / EVERY * STRIDE + SPREAD(i) / STRIDE * STRIDE, RING) + \
         (part % EVERY + SPREAD(i) % STRIDE) * LINES]
#define FOUR_SPREAD(i) \
  (float4)(SPREAD_ROW(i), SPREAD_ROW((i) + 1), SPREAD_ROW((i) + 2), SPREAD_ROW((i) + 3))
    ADD_TAPS(coarse, 0, COARSE, FOUR_SPREAD)
#pragma unroll
    for (int j = 0; j < RUN; ++j) {
      const int at =
          in_ring(sums_base + RUN + part / EVERY * STRIDE + j * EVERY / RUN * RUN, SUMS_RING);
      sums_column[at + (part % EVERY + j * EVERY % RUN) * LINES] = coarse[j];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#define SUMS_AT(i) ((i) + RUN - (SPLINE - 1))
#define FOUR_SUMS_Y(i)                                                                   \
  FOUR_ROWS(sums_column + in_ring(sums_base + own + SUMS_AT(i) / RUN * RUN, SUMS_RING) + \
            SUMS_AT(i) % RUN * LINES)
    ADD_TAPS(sums, AT_SPLINE, SPLINE, FOUR_SUMS_Y)
#ifdef CLCOOK_ALPHA_TOP
    // The sums of alpha go to rows that are no longer needed, for the colours.
    if (add && e < region.width * CLCOOK_CHANNELS) {
#pragma unroll
      for (int j = 0; j < RUN; ++j) {
        if (y + own + j < end) sums[j] += partial[(ulong)(y + own + j) * pitch];
      }
    }
    __local float* const alphas =
        memory + (line | (CLCOOK_CHANNELS - 1)) + in_ring(base + own, RING);
    const bool is_alpha = (line & (CLCOOK_CHANNELS - 1)) == CLCOOK_CHANNELS - 1;
    if (is_alpha) {
#pragma unroll
      for (int j = 0; j < RUN; ++j) alphas[j * LINES] = sums[j];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (last && !is_alpha) {
#pragma unroll
      for (int j = 0; j < RUN; ++j) sums[j] = clcook_unweighted_channel(sums[j], alphas[j * LINES]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    if (e < region.width * CLCOOK_CHANNELS) {
      const int there = end - y - own;
      __global float* const sum_at = partial + (ulong)(y + own) * pitch;
      __global clcook_channel_t* const out = dst + (ulong)(y + own) * dst_view.pitch;
#pragma unroll
      for (int j = 0; j < RUN; ++j) {
        if (j < there) {
          float sum = sums[j];
          if (ADD_LAST) sum += sum_at[(ulong)j * pitch];
          if (last)
            clcook_store_channel(out + (ulong)j * dst_view.pitch, (ulong)e, sum);
          else
            sum_at[(ulong)j * pitch] = sum;
        }
      }
    }
    base = base + TILE_Y < RING ? base + TILE_Y : base + TILE_Y - RING;
    sums_base = sums_base + TILE_Y < SUMS_RING ? sums_base + TILE_Y : sums_base - RUN;
  }
}
