// Both passes of the Gaussian blur in one launch, for small radii: the picture is read once and
// written once.
//
// A group streams down a strip of the picture, ROWS rows a stage. Each work-item owns a column of
// pixels: it keeps the rows that the filter still needs in registers, loads those of the next stage
// while it works, and writes the sums of its column to local memory. There each item takes a run of
// ROWS pixels of one row for the sums along the row, so that a load from local memory serves ROWS
// sums. The strip is 2 RADIUS pixels narrower than the group.
//
// CLCOOK_GAUSSIAN_RADIUS is the largest radius that the program can serve; the real ones and the
// weights are arguments. Taps beyond them are skipped, not multiplied by zero, where a NaN would
// show it. Weights by value are uniform operands: they take no register and no load of the
// work-items'.
#include <clcook/alpha.clh>
#include <clcook/halo.clh>
#include <clcook/pixel.clh>
#include <clcook/view.clh>

#ifndef CLCOOK_GAUSSIAN_RADIUS
#define CLCOOK_GAUSSIAN_RADIUS 4
#endif
#ifndef CLCOOK_GAUSSIAN_ITEMS
#define CLCOOK_GAUSSIAN_ITEMS 128
#define CLCOOK_GAUSSIAN_ROWS 4
#endif

#define RADIUS CLCOOK_GAUSSIAN_RADIUS
#define ITEMS CLCOOK_GAUSSIAN_ITEMS
#define ROWS CLCOOK_GAUSSIAN_ROWS
#define RUNS ((ITEMS - 2 * RADIUS) / ROWS)  // of a row
#define WIDTH (RUNS * ROWS)                 // of the strip
// One pixel is left free behind ROWS ones: the starts of runs lie in different banks.
#define AT(x) ((x) + (x) / ROWS)
#define PITCH AT(ITEMS)

#if CLCOOK_CHANNEL_BITS == 8 && CLCOOK_CHANNELS == 4
#define WORDS 1  // a run of pixels can be stored as 16 bytes
#else
#define WORDS 0
#endif

// Integers are finite: a weight of zero does as well.
#if defined(CLCOOK_CHANNEL_TOP)
#define IF_WITHIN(k, radius) if (abs(k) <= RADIUS)
#else
#define IF_WITHIN(k, radius) if (abs(k) <= RADIUS && abs(k) <= (uint)(radius))
#endif

typedef struct {
  float x[16];
  float y[16];
} weights_t;

// Items: ITEMS x 1 x 1, groups: strips x segments of rows x pictures. `segment` is a multiple of
// ROWS. Views count channels. `words` says that rows of the region begin at multiples
// of 16 bytes.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void gaussian_blur_fused(
    __global const clcook_channel_t* src, clcook_view src_view, __global clcook_channel_t* dst,
    clcook_view dst_view, clcook_picture picture, int segment, weights_t weights, int radius_x,
    int radius_y, int words) {
  __local clcook_floats_t columns[ROWS * PITCH];
  __local clcook_floats_t result[ROWS * PITCH];
  const int lid = (int)get_local_id(0);
  const int number = (int)get_global_id(2);
  const clcook_region region = picture.region;
  const int height = picture.height;
  const int border = picture.border;
  const int begin = (int)get_group_id(0) * WIDTH;
  const int y_begin = (int)get_group_id(1) * segment;
  const int y_end = min(y_begin + segment, region.height);
  const int x = clcook_border(region.x + begin - RADIUS + lid, picture.width, border);
  src += clcook_view_row(src_view, number, height, 0) + (ulong)max(x, 0) * CLCOOK_CHANNELS;
  dst += clcook_view_row(dst_view, number, region.height, 0) + (ulong)begin * CLCOOK_CHANNELS;
  // The item's run.
  const int run_row = lid / RUNS;
  const int run_x = lid % RUNS * ROWS;
  // The rows that reach the outputs of a stage; the last ROWS of them are new.
  clcook_floats_t column[2 * RADIUS + ROWS];
#pragma unroll
  for (int n = 0; n < 2 * RADIUS + ROWS; ++n) column[n] = clcook_all(0.0f);
  // The first stages only fill it.
  int y = y_begin - (2 * RADIUS + ROWS - 1) / ROWS * ROWS;
  int from = region.y + y + RADIUS;
  clcook_pixel_t next[ROWS];
#define LOAD_NEXT                                                                          \
  if (from >= 0 && from + ROWS <= height) {                                                \
    _Pragma("unroll") for (int n = 0; n < ROWS; ++n) next[n] =                             \
        clcook_load_pixel(src + (ulong)(from + n) * src_view.pitch, 0);                    \
  } else {                                                                                 \
    _Pragma("unroll") for (int n = 0; n < ROWS; ++n) next[n] = clcook_load_pixel(          \
        src + (ulong)max(clcook_border(from + n, height, border), 0) * src_view.pitch, 0); \
  }
  LOAD_NEXT
#pragma unroll 1
  for (; y < y_end; y += ROWS) {
#pragma unroll
    for (int n = 0; n < ROWS; ++n) column[2 * RADIUS + n] = clcook_weighted(clcook_floats(next[n]));
    if (border == CLCOOK_BORDER_CONSTANT) {
#pragma unroll
      for (int n = 0; n < ROWS; ++n) {
        if (x < 0 || from + n < 0 || from + n >= height)
          column[2 * RADIUS + n] = clcook_first(picture.outside);
      }
    }
    from += ROWS;
    if (y + ROWS < y_end) {
      LOAD_NEXT
    }
#pragma unroll
    for (int n = 0; n < ROWS; ++n) {
      clcook_floats_t sum = clcook_all(0.0f);
#pragma unroll
      for (int k = -RADIUS; k <= RADIUS; ++k) {
        IF_WITHIN(k, radius_y)
        sum = fma(clcook_all(weights.y[abs(k)]), column[n + RADIUS + k], sum);
      }
      columns[n * PITCH + AT(lid)] = sum;
    }
#pragma unroll
    for (int n = 0; n < 2 * RADIUS; ++n) column[n] = column[n + ROWS];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (run_row < ROWS && y >= y_begin) {
      __local const clcook_floats_t* const line = columns + run_row * PITCH + AT(run_x);
      clcook_floats_t sums[ROWS];
#pragma unroll
      for (int j = 0; j < ROWS; ++j) sums[j] = clcook_all(0.0f);
#pragma unroll
      for (int p = 0; p < ROWS + 2 * RADIUS; ++p) {
        const clcook_floats_t value = line[AT(p)];
#pragma unroll
        for (int j = 0; j < ROWS; ++j) {
          const int k = p - j - RADIUS;
          IF_WITHIN(k, radius_x)
          sums[j] = fma(clcook_all(weights.x[abs(k)]), value, sums[j]);
        }
      }
#if WORDS
      if (words && begin + run_x + ROWS <= region.width) {
        if (y + run_row < y_end) {
          *(__global uint4*)(dst + (ulong)(y + run_row) * dst_view.pitch + run_x * 4) =
              (uint4)(as_uint(clcook_round_pixel(clcook_unweighted(sums[0]))),
                      as_uint(clcook_round_pixel(clcook_unweighted(sums[1]))),
                      as_uint(clcook_round_pixel(clcook_unweighted(sums[2]))),
                      as_uint(clcook_round_pixel(clcook_unweighted(sums[3]))));
        }
      } else
#endif
      {
#pragma unroll
        for (int j = 0; j < ROWS; ++j) result[run_row * PITCH + AT(run_x) + j] = sums[j];
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    // Whole rows in order; of the words, the run that the region cuts.
    const int first = WORDS && words ? (region.width - begin) / ROWS * ROWS : 0;
    if (y >= y_begin && lid >= first && lid < WIDTH && begin + lid < region.width) {
#pragma unroll
      for (int n = 0; n < ROWS; ++n) {
        if (y + n < y_end) {
          clcook_store_pixel(dst + (ulong)(y + n) * dst_view.pitch, (ulong)lid,
                             clcook_unweighted(result[n * PITCH + AT(lid)]));
        }
      }
    }
  }
}
