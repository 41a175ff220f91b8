// The two passes of the Gaussian blur through tiles in local memory.
//
// A work-item makes the sums of RUN neighbours of one channel: a value that it has loaded serves
// RUN of them, from registers. In the rows these are pixels of a row, in the columns rows of a
// column of channels. Tiles are stored so that neighbours along the filter are neighbours in
// memory, four to a load, in both passes.
//
// CLCOOK_GAUSSIAN_TAPS, 33, 65 or 129, is how many taps one launch adds; their weights are
// an argument by value, which makes them uniform operands that take no register. A longer filter
// takes several launches that add to what is there. CLCOOK_GAUSSIAN_ROLLED keeps the loop over the
// taps, for compilers that take long.
//
// Views count channels. `mid` and `partial` hold floats, the pixels of the region without gaps;
// `mid` as in naive.cl.
#include <clcook/alpha.clh>
#include <clcook/halo.clh>
#include <clcook/pixel.clh>
#include <clcook/view.clh>

#ifndef CLCOOK_GAUSSIAN_TAPS
#define CLCOOK_GAUSSIAN_TAPS 33
#endif
#ifndef CLCOOK_GAUSSIAN_RUN
#define CLCOOK_GAUSSIAN_RUN 12
#define CLCOOK_GAUSSIAN_RUNS_X 40
#define CLCOOK_GAUSSIAN_RUNS_Y 8
#define CLCOOK_GAUSSIAN_ROWS 1
#define CLCOOK_GAUSSIAN_LINES 32
#endif

#define TAPS CLCOOK_GAUSSIAN_TAPS
#define RUN CLCOOK_GAUSSIAN_RUN

// Rows: a group takes ROWS rows of TILE_X pixels, a line of the tile is a channel of a row.
#define RUNS_X CLCOOK_GAUSSIAN_RUNS_X
#define TILE_X (RUNS_X * RUN)
#define COUNT_X (TILE_X + TAPS - 1)
#define ROWS CLCOOK_GAUSSIAN_ROWS
#define ITEMS_X (RUNS_X * CLCOOK_CHANNELS * ROWS)
#define LOADS_X ((COUNT_X + ITEMS_X - 1) / ITEMS_X)

// Columns: a group goes down LINES channels, TILE_Y rows at a time. The pitch is an odd number of
// quads, so that quads of neighbouring lines lie in different banks.
#define LINES CLCOOK_GAUSSIAN_LINES
#define RUNS_Y CLCOOK_GAUSSIAN_RUNS_Y
#define TILE_Y (RUNS_Y * RUN)
#define COUNT_Y (TILE_Y + TAPS - 1)
#define PITCH_Y (COUNT_Y / 4 % 2 == 1 ? COUNT_Y : COUNT_Y + 4)
#define ITEMS_Y (LINES * RUNS_Y)
#define QUADS_Y (RUN / 4)                          // that a work-item loads of a tile
#define KEPT_Y ((TAPS / 4 + RUNS_Y - 1) / RUNS_Y)  // that it moves to the next tile

// Of straight pictures the sums of the launches before are added before colours are divided.
#ifdef CLCOOK_ALPHA_TOP
#define ADD_LAST 0
#else
#define ADD_LAST add
#endif

#ifdef CLCOOK_GAUSSIAN_ROLLED
#define UNROLL_BLOCKS _Pragma("unroll 1")
#else
#define UNROLL_BLOCKS _Pragma("unroll")
#endif

// The taps of one launch. The first is `reach` pixels from the result.
typedef struct {
  float w[132];
  int count;
  int reach;
} taps_t;

// Four taps from `tap` on, which is `u` in its block of RUN; then their values make room for those
// that the run needs next.
#define FOUR_TAPS(tap, u)                                               \
  {                                                                     \
    const float4 next = *(__local const float4*)(line + (tap) + RUN);   \
    const float new_values[4] = {next.x, next.y, next.z, next.w};       \
    _Pragma("unroll") for (int v = 0; v < 4; ++v) {                     \
      _Pragma("unroll") for (int j = 0; j < RUN; ++j) sums[j] =         \
          fma(taps.w[(tap) + v], window[((u) + v + j) % RUN], sums[j]); \
      window[(u) + v] = new_values[v];                                  \
    }                                                                   \
  }

// sums[j] = the sum over the taps of w[tap] line[j + tap]. Taps that are not there are skipped, not
// multiplied by zero: a NaN reaches as far as the filter. Blocks are skipped whole, since a test for
// each tap takes compilers twice as long.
static inline void run_sums(__local const float* line, const taps_t taps, float* sums) {
  float window[RUN];
#pragma unroll
  for (int j = 0; j < RUN; ++j) {
    window[j] = line[j];
    sums[j] = 0.0f;
  }
  const int whole = taps.count / RUN * RUN;
  UNROLL_BLOCKS
  for (int block = 0; block < TAPS / RUN; ++block) {
    if (block * RUN < whole) {
#pragma unroll
      for (int u = 0; u < RUN; u += 4) FOUR_TAPS(block * RUN + u, u)
    }
  }
  // The rest, less than a block.
#pragma unroll
  for (int u = 0; u < RUN - 1; ++u) {
    if (whole + u < taps.count) {
      if (u > 0) window[u - 1] = line[whole + RUN + u - 1];
#pragma unroll
      for (int j = 0; j < RUN; ++j)
        sums[j] = fma(taps.w[whole + u], window[(u + j) % RUN], sums[j]);
    }
  }
}

static inline void put_pixel(__local float* tile, int i, clcook_floats_t pixel) {
#if CLCOOK_CHANNELS == 1
  tile[i] = pixel;
#else
  tile[i] = pixel.x;
  tile[COUNT_X + i] = pixel.y;
#if CLCOOK_CHANNELS > 2
  tile[2 * COUNT_X + i] = pixel.z;
#endif
#if CLCOOK_CHANNELS > 3
  tile[3 * COUNT_X + i] = pixel.w;
#endif
#endif
}

// Items: ITEMS_X x 1 x 1, groups: tiles x ROWS rows x pictures.
__kernel __attribute__((reqd_work_group_size(ITEMS_X, 1, 1))) void gaussian_blur_separable_rows(
    __global const clcook_channel_t* src, clcook_view src_view, __global float* mid,
    clcook_picture picture, clcook_rows rows, taps_t taps, int add) {
  __local float4 memory[CLCOOK_CHANNELS * ROWS * COUNT_X / 4];
  __local float* const tile = (__local float*)memory;
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
    __local float* const to = tile + r * CLCOOK_CHANNELS * COUNT_X;
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
          put_pixel(to, lid + n * ITEMS_X, clcook_weighted(clcook_floats(loaded[n])));
      }
    } else {
#pragma unroll 1
      for (int i = lid; i < COUNT_X; i += ITEMS_X) {
        const int at = clcook_border(x0 + i, width, picture.border);
        clcook_floats_t pixel = clcook_first(picture.outside);
        if (at >= 0) pixel = clcook_weighted(clcook_floats(clcook_load_pixel(from, (ulong)at)));
        put_pixel(to, i, pixel);
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  __local float* const run = tile + lid / RUNS_X * COUNT_X + lid % RUNS_X * RUN;
  float sums[RUN];
  run_sums(run, taps, sums);
  barrier(CLK_LOCAL_MEM_FENCE);
  // Through the tile, so that stores are in order.
#pragma unroll
  for (int j = 0; j < RUN; ++j) run[j] = sums[j];
  barrier(CLK_LOCAL_MEM_FENCE);
  const int count = min(TILE_X, picture.region.width - begin);
  for (int r = 0; r < min(ROWS, rows.count - row); ++r) {
    __local const float* const from = tile + r * CLCOOK_CHANNELS * COUNT_X;
    __global float* const to = mid + (((ulong)number * (ulong)rows.count + (ulong)(row + r)) *
                                          (ulong)picture.region.width +
                                      (ulong)begin) *
                                         CLCOOK_CHANNELS;
    for (int i = lid; i < count; i += ITEMS_X) {
#if CLCOOK_CHANNELS == 4
      float4 sum =
          (float4)(from[i], from[COUNT_X + i], from[2 * COUNT_X + i], from[3 * COUNT_X + i]);
      if (add) sum += ((__global const float4*)to)[i];
      ((__global float4*)to)[i] = sum;
#else
      for (int c = 0; c < CLCOOK_CHANNELS; ++c) {
        const float sum = from[c * COUNT_X + i];
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

// Quads of rows from row `y` of the picture on, RUNS_Y quads apart, of a column of channels.
static inline void load_quads(__global const float* mid, ulong pitch, int y, int height,
                              clcook_rows rows, int border, float beyond, int count,
                              float4* quads) {
  const bool inside = y >= rows.first && y + 4 * RUNS_Y * count <= rows.first + rows.count;
#pragma unroll
  for (int n = 0; n < count; ++n) {
    const int top = y + 4 * RUNS_Y * n;
    if (inside) {
      __global const float* const v = mid + (ulong)(top - rows.first) * pitch;
      quads[n] = (float4)(v[0], v[pitch], v[2 * pitch], v[3 * pitch]);
    } else {
      float values[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int at = clcook_border(top + i, height, border);
        // Rows that no output of the region needs may not be there.
        values[i] = at < 0 ? beyond : mid[(ulong)clamp(at - rows.first, 0, rows.count - 1) * pitch];
      }
      quads[n] = (float4)(values[0], values[1], values[2], values[3]);
    }
  }
}

// Items: ITEMS_Y x 1 x 1, groups: LINES channels x `segment` rows, a multiple of TILE_Y, x
// pictures. Sums go to `partial` unless they are the last, and start from there with `add`.
__kernel __attribute__((reqd_work_group_size(ITEMS_Y, 1, 1))) void gaussian_blur_separable_columns(
    __global const float* mid, __global float* partial, __global clcook_channel_t* dst,
    clcook_view dst_view, clcook_picture picture, clcook_rows rows, int segment, taps_t taps,
    int add, int last) {
  __local float4 memory[LINES * PITCH_Y / 4];
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
  __local float4* const column = memory + line * (PITCH_Y / 4);
  const int top = region.y + taps.reach + 4 * part;

  // The first TAPS - 1 rows, and the first tile's.
  for (int i = part; i < TAPS / 4; i += RUNS_Y) {
    float4 quad;
    load_quads(mid, pitch, top + begin + 4 * (i - part), height, rows, border, beyond, 1, &quad);
    column[i] = quad;
  }
  float4 loaded[QUADS_Y];
  load_quads(mid, pitch, top + begin + TAPS - 1, height, rows, border, beyond, QUADS_Y, loaded);
  for (int y = begin; y < end; y += TILE_Y) {
#pragma unroll
    for (int n = 0; n < QUADS_Y; ++n) column[TAPS / 4 + part + n * RUNS_Y] = loaded[n];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (y + TILE_Y < end)
      load_quads(mid, pitch, top + y + TILE_Y + TAPS - 1, height, rows, border, beyond, QUADS_Y,
                 loaded);
    float sums[RUN];
    run_sums((__local float*)column + part * RUN, taps, sums);
#ifdef CLCOOK_ALPHA_TOP
    // The sums of alpha go to the rows of the tile that the next one does not need, for the colours.
    if (add && e < region.width * CLCOOK_CHANNELS) {
#pragma unroll
      for (int j = 0; j < RUN; ++j) {
        if (y + part * RUN + j < end) sums[j] += partial[(ulong)(y + part * RUN + j) * pitch];
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    __local float* const alphas =
        (__local float*)(memory + (line | (CLCOOK_CHANNELS - 1)) * (PITCH_Y / 4)) + part * RUN;
    const bool is_alpha = (line & (CLCOOK_CHANNELS - 1)) == CLCOOK_CHANNELS - 1;
    if (is_alpha) {
#pragma unroll
      for (int j = 0; j < RUN; ++j) alphas[j] = sums[j];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (last && !is_alpha) {
#pragma unroll
      for (int j = 0; j < RUN; ++j) sums[j] = clcook_unweighted_channel(sums[j], alphas[j]);
    }
#endif
    if (e < region.width * CLCOOK_CHANNELS) {
#pragma unroll
      for (int j = 0; j < RUN; ++j) {
        const int row = y + part * RUN + j;
        if (row < end) {
          float sum = sums[j];
          if (ADD_LAST) sum += partial[(ulong)row * pitch];
          if (last)
            clcook_store_channel(dst + (ulong)row * dst_view.pitch, (ulong)e, sum);
          else
            partial[(ulong)row * pitch] = sum;
        }
      }
    }
    // What the next tile needs of this one moves to the front.
    float4 kept[KEPT_Y];
#pragma unroll
    for (int n = 0; n < KEPT_Y; ++n) {
      if (part + n * RUNS_Y < TAPS / 4) kept[n] = column[TILE_Y / 4 + part + n * RUNS_Y];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int n = 0; n < KEPT_Y; ++n) {
      if (part + n * RUNS_Y < TAPS / 4) column[part + n * RUNS_Y] = kept[n];
    }
  }
}
