// The Gaussian blur for CPUs whose cost does not grow with sigma: the picture made small, the small
// picture blurred, and made large again. Quadratic B-splines do the first and the last step: they
// are wide enough to leave no trace of the grid, and add the same variance everywhere, which the
// blur of the small picture leaves out.
//
// A cell stands for step x step pixels; cell (0, 0) begins at pixel (0, 0). Pixel `phase` of a cell
// belongs to the cell before, to the cell, and to the next, with the weights spline[3 phase + 0],
// [3 phase + 1] and [3 phase + 2]. Cells outside of the picture are made of what the border mode
// says is there.
//
// _down makes lines of cells, blurred along the rows; _up blurs their columns and enlarges. A
// work-item does many rows, in scratch memory of its own that stays in its cache. Lines are float
// and interleaved; their pitches are multiples of 64 with 64 to spare. Views count channels.
#include <clcook/alpha.clh>
#include <clcook/halo.clh>
#include <clcook/pixel16.clh>
#include <clcook/view.clh>

#ifndef CLCOOK_GAUSSIAN_TILE
#define CLCOOK_GAUSSIAN_TILE 256
#endif

#define AHEAD 256                  // channels that are asked for ahead
#define TILE CLCOOK_GAUSSIAN_TILE  // pixels of a tile of results
#define LINE (TILE * CLCOOK_CHANNELS + 16)

// One axis of the small picture: its cells first to first + count - 1. The axis' table has the 3
// step weights of the spline, then those of the taps -radius to radius of the blur.
typedef struct {
  int first;
  int count;
  int step;
  int radius;
} cells_t;

// The pixels x to x + count - 1 of a row that cells are made of, and those that lie in the picture.
typedef struct {
  int x;
  int count;
  int inside_x;
  int inside_count;
} span_t;

// The scratch memory of a work-item, in floats.
typedef struct {
  ulong item_floats;
  int line_pitch;
  int mid_pitch;
} scratch_t;

// Four floats of which the first CLCOOK_CHANNELS count, at any float.
typedef float4 __attribute__((aligned(4))) loose_float4;
static inline float4 load_pixel(__global const float* p) {
  return *(__global const loose_float4*)p;
}
// Writes beyond the pixel where that has fewer than four channels.
static inline void store_pixel(__global float* p, float4 value) {
  *(__global loose_float4*)p = value;
}

// The three lines of sums that a row of pixels adds to.
static inline void add_row(__global float* above, __global float* here, __global float* below,
                           __global const clcook_channel_t* row, int count, float w0, float w1,
                           float w2) {
  int e = 0;
  for (; e <= count - 16; e += 16) {
    const float16 value = clcook_weighted16(clcook_load16(row + e));
    __global clcook_loose16* a = (__global clcook_loose16*)(above + e);
    __global clcook_loose16* h = (__global clcook_loose16*)(here + e);
    __global clcook_loose16* b = (__global clcook_loose16*)(below + e);
    *a = fma(value, (float16)(w0), *a);
    *h = fma(value, (float16)(w1), *h);
    *b = fma(value, (float16)(w2), *b);
  }
  for (; e < count; ++e) {
    const float value = clcook_load_weighted_channel(row, (ulong)e);
    above[e] = fma(value, w0, above[e]);
    here[e] = fma(value, w1, here[e]);
    below[e] = fma(value, w2, below[e]);
  }
}

// The same of `rows` rows with three weights each: the sums of 64 channels stay in registers.
static inline void add_rows(__global float* above, __global float* here, __global float* below,
                            __global const clcook_channel_t* row, ulong pitch, int rows, int count,
                            __global const float* weights) {
#define EACH(DO) DO(0) DO(1) DO(2) DO(3)
#define SUMS(I)                                                         \
  float16 a##I = *(__global const clcook_loose16*)(above + e + 16 * I); \
  float16 h##I = *(__global const clcook_loose16*)(here + e + 16 * I);  \
  float16 b##I = *(__global const clcook_loose16*)(below + e + 16 * I);
#define ADD(I)                                                                             \
  {                                                                                        \
    if (16 * I * sizeof(clcook_channel_t) % 64 == 0) CLCOOK_PREFETCH(at + ahead + 16 * I); \
    const float16 value = clcook_weighted16(clcook_load16(at + 16 * I));                   \
    a##I = fma(value, w0, a##I);                                                           \
    h##I = fma(value, w1, h##I);                                                           \
    b##I = fma(value, w2, b##I);                                                           \
  }
#define PUT(I)                                            \
  *(__global clcook_loose16*)(above + e + 16 * I) = a##I; \
  *(__global clcook_loose16*)(here + e + 16 * I) = h##I;  \
  *(__global clcook_loose16*)(below + e + 16 * I) = b##I;
  int e = 0;
  for (; e <= count - 64; e += 64) {
    const int ahead = min(e + AHEAD, count - 64) - e;
    __global const clcook_channel_t* at = row + e;
    EACH(SUMS)
    for (int r = 0; r < rows; ++r) {
      const float16 w0 = (float16)(weights[3 * r]);
      const float16 w1 = (float16)(weights[3 * r + 1]);
      const float16 w2 = (float16)(weights[3 * r + 2]);
      EACH(ADD)
      at += pitch;
    }
    EACH(PUT)
  }
  for (int r = 0; e < count && r < rows; ++r) {
    add_row(above + e, here + e, below + e, row + (ulong)r * pitch + e, count - e, weights[3 * r],
            weights[3 * r + 1], weights[3 * r + 2]);
  }
}

// `count` outputs, each of taps `step` floats apart, 64 at a time.
static inline void blur_cells(__global const float* from, ulong step, __global const float* weights,
                              int taps, __global float* to, int count) {
  for (int e = 0; e < count; e += 64) {
    float16 s0 = (float16)(0.0f);
    float16 s1 = (float16)(0.0f);
    float16 s2 = (float16)(0.0f);
    float16 s3 = (float16)(0.0f);
    __global const clcook_loose16* at = (__global const clcook_loose16*)(from + e);
    for (int k = 0; k < taps; ++k) {
      const float16 w = (float16)(weights[k]);
      s0 = fma(at[0], w, s0);
      s1 = fma(at[1], w, s1);
      s2 = fma(at[2], w, s2);
      s3 = fma(at[3], w, s3);
      at = (__global const clcook_loose16*)((__global const float*)at + step);
    }
    __global float16* out = (__global float16*)(to + e);
    out[0] = s0;
    out[1] = s1;
    out[2] = s2;
    out[3] = s3;
  }
}

// A row of results from three lines.
static __attribute__((noinline)) void mix_lines(__global clcook_channel_t* to,
                                                __global const float* above,
                                                __global const float* here,
                                                __global const float* below,
                                                __global const float* weights, int count,
                                                int stream, __global float* rest) {
  const float16 w0 = (float16)(weights[0]);
  const float16 w1 = (float16)(weights[1]);
  const float16 w2 = (float16)(weights[2]);
#define MIX(E)                                   \
  fma(*(__global const float16*)(below + E), w2, \
      fma(*(__global const float16*)(here + E), w1, *(__global const float16*)(above + E) * w0))
  int e = 0;
  if (stream) {
    for (; e <= count - 16; e += 16) clcook_store16(to + e, clcook_unweighted16(MIX(e)), 1);
  } else {
    for (; e <= count - 16; e += 16) clcook_store16(to + e, clcook_unweighted16(MIX(e)), 0);
  }
  if (e < count) {
    *(__global float16*)rest = clcook_unweighted16(MIX(e));
    for (int i = 0; i < count - e; ++i) clcook_store_channel(to, (ulong)(e + i), rest[i]);
  }
}

// Items: one x strips of `strip` lines of cells x pictures. mid has a line of mid_pitch for each of
// the cells y, and in it the cells x, blurred along the row. `scratch` has for each item three
// lines of line_pitch and the line of cells before it is blurred.
__kernel void gaussian_blur_cpu_pyramid_down(__global const clcook_channel_t* src,
                                             clcook_view src_view, __global float* mid,
                                             clcook_picture picture, int strip, cells_t x_cells,
                                             __global const float* spline_x, cells_t y_cells,
                                             __global const float* spline_y, span_t span,
                                             __global float* scratch, scratch_t sizes) {
  const int height = picture.height;
  const int border = picture.border;
  const float4 outside = picture.outside;
  const ulong src_pitch = src_view.pitch;
  const int step_x = x_cells.step;
  const int step_y = y_cells.step;
  const int radius = x_cells.radius;
  const int inside_x = span.inside_x;
  const int line_x = span.x;
  const int line_pitch = sizes.line_pitch;
  __global const float* weights = spline_x + 3 * step_x;
  const int number = (int)get_global_id(2);
  const int begin = (int)get_global_id(1) * strip;
  const int end = min(begin + strip, y_cells.count);
  scratch += sizes.item_floats * ((ulong)number * get_global_size(1) + get_global_id(1));
  __global float* above = scratch;
  __global float* here = above + line_pitch;
  __global float* below = here + line_pitch;
  __global float* small = below + line_pitch;
  src += clcook_view_row(src_view, number, height, 0) + (ulong)(inside_x * CLCOOK_CHANNELS);
  mid += ((ulong)number * (ulong)y_cells.count + (ulong)begin) * (ulong)sizes.mid_pitch;
  const int inside = span.inside_count * CLCOOK_CHANNELS;
  const int skip = (inside_x - line_x) * CLCOOK_CHANNELS;
  const float scale_x = 1.0f / (float)step_x;
  const float scale_y = 1.0f / (float)step_y;
  for (ulong e = 0; e < sizes.item_floats; ++e) scratch[e] = 0.0f;
  for (int line = begin - 1; line <= end; ++line) {
    // The rows of pixels of a line of cells. Equal ones, outside of the picture, are one.
    const int top = (y_cells.first + line) * step_y;
    const int whole = top >= 0 && top + step_y <= height;
    if (whole) {
      add_rows(above + skip, here + skip, below + skip, src + (ulong)top * src_pitch, src_pitch,
               step_y, inside, spline_y);
    }
    for (int r = 0; r < step_y && !whole;) {
      const int row = clcook_border(top + r, height, border);
      __global const clcook_channel_t* from = src + (ulong)max(row, 0) * src_pitch;
      float w0 = 0.0f;
      float w1 = 0.0f;
      float w2 = 0.0f;
      do {
        w0 += spline_y[3 * r];
        w1 += spline_y[3 * r + 1];
        w2 += spline_y[3 * r + 2];
        ++r;
      } while (r < step_y && clcook_border(top + r, height, border) == row);
      if (row >= 0) {
        add_row(above + skip, here + skip, below + skip, from, inside, w0, w1, w2);
      } else {
        for (int e = 0; e < inside; ++e) {
          const float value = clcook_channel_of(outside, e % CLCOOK_CHANNELS);
          above[skip + e] = fma(value, w0, above[skip + e]);
          here[skip + e] = fma(value, w1, here[skip + e]);
          below[skip + e] = fma(value, w2, below[skip + e]);
        }
      }
    }
    if (line > begin) {
      // `above` is complete: what is outside of the picture, then the cells.
      for (int x = 0; x < span.count; ++x) {
        if (x == inside_x - line_x) x += span.inside_count;
        if (x >= span.count) break;
        const int at = clcook_border(line_x + x, picture.width, border);
        for (int c = 0; c < CLCOOK_CHANNELS; ++c) {
          above[x * CLCOOK_CHANNELS + c] = at < 0 ? clcook_channel_of(outside, c) * (float)step_y
                                                  : above[(at - line_x) * CLCOOK_CHANNELS + c];
        }
      }
      float4 before = (float4)(0.0f);
      float4 both = (float4)(0.0f);
      __global const float* pixel =
          above + ((x_cells.first - radius - 1) * step_x - line_x) * CLCOOK_CHANNELS;
      for (int cell = -1; cell <= x_cells.count + 2 * radius; ++cell) {
        float4 s0 = (float4)(0.0f);
        float4 s1 = (float4)(0.0f);
        float4 s2 = (float4)(0.0f);
        for (int p = 0; p < step_x; ++p) {
          const float4 value = load_pixel(pixel);
          s0 = fma(value, (float4)(spline_x[3 * p]), s0);
          s1 = fma(value, (float4)(spline_x[3 * p + 1]), s1);
          s2 = fma(value, (float4)(spline_x[3 * p + 2]), s2);
          pixel += CLCOOK_CHANNELS;
        }
        if (cell > 0)
          store_pixel(small + (cell - 1) * CLCOOK_CHANNELS, (both + s0) * (scale_x * scale_y));
        both = before + s1;
        before = s2;
      }
      blur_cells(small, CLCOOK_CHANNELS, weights, 2 * radius + 1, mid, sizes.mid_pitch);
      mid += sizes.mid_pitch;
    }
    __global float* done = above;
    above = here;
    here = below;
    below = done;
    for (int e = 0; e < line_pitch; e += 16) *(__global float16*)(below + e) = (float16)(0.0f);
  }
}

// Items: tiles of TILE pixels of the region from left to right x strips of `strip` rows x pictures.
// `scratch` has for each item a line of cells of line_pitch, and three lines of pixels.
__kernel void gaussian_blur_cpu_pyramid_up(__global const float* mid,
                                           __global clcook_channel_t* dst, clcook_view dst_view,
                                           clcook_region region, int strip, cells_t x_cells,
                                           __global const float* spline_x, cells_t y_cells,
                                           __global const float* spline_y, __global float* scratch,
                                           scratch_t sizes) {
  const ulong dst_pitch = dst_view.pitch;
  const int step_x = x_cells.step;
  const int step_y = y_cells.step;
  const int radius = y_cells.radius;
  const int mid_pitch = sizes.mid_pitch;
  __global const float* weights = spline_y + 3 * step_y;
  const int number = (int)get_global_id(2);
  const int begin = (int)get_global_id(1) * strip;
  const int end = min(begin + strip, region.height);
  const int left = (int)get_global_id(0) * TILE;
  const int pixels = min(TILE, region.width - left);
  scratch += sizes.item_floats *
             (((ulong)number * get_global_size(1) + get_global_id(1)) * get_global_size(0) +
              get_global_id(0));
  __global float* small = scratch;
  __global float* above = small + sizes.line_pitch;
  __global float* here = above + LINE;
  __global float* below = here + LINE;
  for (ulong e = 0; e < sizes.item_floats; ++e) scratch[e] = 0.0f;
  mid += (ulong)number * (ulong)y_cells.count * (ulong)mid_pitch;
  dst += clcook_view_row(dst_view, number, region.height, 0) + (ulong)(left * CLCOOK_CHANNELS);
  const int stream = ((ulong)dst & 63) == 0 && dst_pitch % 16 == 0;
  const int x0 = region.x + left;
  const int cell = x0 / step_x;
  const int cells = (x0 + pixels - 1) / step_x - cell + 3;
  mid += (cell - 1 - x_cells.first) * CLCOOK_CHANNELS;
  const int top = (region.y + begin) / step_y;
  int made = top - 2;  // the last line of pixels
  for (int y = begin; y < end; ++y) {
    const int row = (region.y + y) / step_y;
    const int phase = region.y + y - row * step_y;
    for (; made <= row; ++made) {
      // The line made + 1.
      __global const float* from =
          mid + (ulong)(made + 1 - radius - y_cells.first) * (ulong)mid_pitch;
      blur_cells(from, (ulong)mid_pitch, weights, 2 * radius + 1, small, cells * CLCOOK_CHANNELS);
      __global float* done = above;
      above = here;
      here = below;
      below = done;
      __global const float* c = small;
      __global float* to = below;
      for (int x = x0 - cell * step_x, last = x + pixels; x < last; c += CLCOOK_CHANNELS) {
        const float4 c0 = load_pixel(c);
        const float4 c1 = load_pixel(c + CLCOOK_CHANNELS);
        const float4 c2 = load_pixel(c + 2 * CLCOOK_CHANNELS);
        for (int p = x % step_x; p < step_x && x < last; ++p, ++x) {
          store_pixel(to, fma(c2, (float4)(spline_x[3 * p + 2]),
                              fma(c1, (float4)(spline_x[3 * p + 1]), c0 * spline_x[3 * p])));
          to += CLCOOK_CHANNELS;
        }
      }
    }
    mix_lines(dst + (ulong)y * dst_pitch, above, here, below, spline_y + 3 * phase,
              pixels * CLCOOK_CHANNELS, stream, small);
  }
}
