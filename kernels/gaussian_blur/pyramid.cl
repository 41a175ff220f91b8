// The Gaussian blur on a coarse grid: two passes over the picture and two over little data, at a
// cost that does not depend on sigma.
//
// Along each axis, a cell of the coarse grid is D = 8, 16, 32 or 64 pixels wide. Cell m sums the
// pixels under a quadratic B-spline of 3 D pixels (down), the cells are filtered with the weights
// that the host has fitted (rows, columns), and a pixel is the value at its place of the quadratic
// spline with these coefficients (up). Pixel n lies in block n / D and has to do with the cells
// n / D - 1 .. n / D + 1, with the weights
//
//   (1/2 - u)^2 / 2,   3/4 - u^2,   (1/2 + u)^2 / 2      u = (n % D + 1/2) / D - 1/2.
//
// The sums of a block over p, u p and u^2 p give its part of all three cells, and the three cells
// give the coefficients of u^0, u^1 and u^2 of a block; so neither pass needs a table.
//
// D and sigma are arguments. All coarse values are float4, whatever the channels of a pixel. Views
// count channels.
#include <clcook/alpha.clh>
#include <clcook/halo.clh>
#include <clcook/pixel.clh>
#include <clcook/view.clh>

#ifndef CLCOOK_GAUSSIAN_LOG_TILE_W
#define CLCOOK_GAUSSIAN_LOG_TILE_W 7
#define CLCOOK_GAUSSIAN_TILE_H 32
#define CLCOOK_GAUSSIAN_LINE 64
#define CLCOOK_GAUSSIAN_LINES 2
#define CLCOOK_GAUSSIAN_COLUMN 16
#define CLCOOK_GAUSSIAN_COLUMNS 8
#define CLCOOK_GAUSSIAN_RADIUS_MAX 72
#define CLCOOK_GAUSSIAN_STRIP 32
#endif

#define LOG_TILE_W CLCOOK_GAUSSIAN_LOG_TILE_W
#define TILE_W (1 << LOG_TILE_W)  // pixels of a tile of the pass down, and work-items
#define TILE_H CLCOOK_GAUSSIAN_TILE_H
#define READ_ROWS 8                    // that an item of the pass down reads at once
#define LINE CLCOOK_GAUSSIAN_LINE      // cells that a group of the pass rows makes of each line
#define LINES CLCOOK_GAUSSIAN_LINES    // lines of such a group
#define COLUMN CLCOOK_GAUSSIAN_COLUMN  // the same of the pass columns
#define COLUMNS CLCOOK_GAUSSIAN_COLUMNS
#define RADIUS_MAX CLCOOK_GAUSSIAN_RADIUS_MAX  // of the filter on the coarse grid
#define STRIP CLCOOK_GAUSSIAN_STRIP            // rows of an item of the pass up

// A pixel as it waits. `outside` is weighted by the host.
#ifdef CLCOOK_ALPHA_TOP
typedef float4 waiting_t;
#define LOAD(p) clcook_weighted_float4(clcook_unpack(clcook_load_packed(p, 0)))
#define PACK(f4) (f4)
#define UNPACK(waiting) (waiting)
#else
typedef clcook_packed_t waiting_t;
#define LOAD(p) clcook_load_packed(p, 0)
#define PACK(f4) clcook_pack(f4)
#define UNPACK(waiting) clcook_unpack(waiting)
#endif

// One axis of the coarse grid. Cell m of the filter's input is where clcook_border() puts m -
// first.
typedef struct {
  int log;     // a cell is 1 << log pixels wide
  int radius;  // of the filter, in cells
  int pixel;   // where the first tile begins
  int tiles;
  int first;      // cell that is stored first: a block after the first block of the first tile
  int count;      // cells stored
  int border;     // of the cells
  int out_first;  // first cell of the filtered grid
  int outs;       // cells of the filtered grid
} grid_t;

// Pixels of a column in READ_ROWS rows.
static inline void load_rows(waiting_t* pixels, __global const clcook_channel_t* src, ulong pitch,
                             int inside, int y, int column, const clcook_picture* picture) {
  if (inside) {
    src += (ulong)y * pitch;
#pragma unroll
    for (int i = 0; i < READ_ROWS; ++i) pixels[i] = LOAD(src + (ulong)i * pitch);
  } else {
#pragma unroll
    for (int i = 0; i < READ_ROWS; ++i) {
      const int at = clcook_border(y + i, picture->height, picture->border);
      pixels[i] = LOAD(src + (ulong)max(at, 0) * pitch);
      if (at < 0 || column < 0) pixels[i] = PACK(picture->outside);
    }
  }
}

// Column x of the tile in local memory, with gaps against bank conflicts between blocks.
#define TILE_CELL(x) ((x) + ((x) >> 3))
#define TILE_PITCH TILE_CELL(TILE_W)
#define TILE_ROWS (TILE_H / 8 + 2)

// Groups: tiles of TILE_W x TILE_H pixels; an item walks down a column. A
// tile stores what it adds to the cells of its blocks and to the ones around them; the pass rows
// adds that up, so every pixel is read once.
__kernel __attribute__((reqd_work_group_size(TILE_W, 1, 1))) void gaussian_blur_pyramid_down(
    __global const clcook_channel_t* src, clcook_view src_view, __global float* pieces,
    clcook_picture picture, grid_t grid_x, grid_t grid_y) {
  __local float4 tile[TILE_ROWS * TILE_PITCH];
  const int lid = (int)get_local_id(0);
  const int log_x = grid_x.log;
  const int log_y = grid_y.log;
  const int left = grid_x.pixel + (int)get_group_id(0) * TILE_W;
  const int top = grid_y.pixel + (int)get_group_id(1) * TILE_H;
  const int column = clcook_border(left + lid, picture.width, picture.border);
  src += clcook_view_row(src_view, (int)get_group_id(2), picture.height, 0) +
         (ulong)max(column, 0) * CLCOOK_CHANNELS;
  const int inside =
      top >= 0 && top + TILE_H <= picture.height &&
      (picture.border != CLCOOK_BORDER_CONSTANT || (left >= 0 && left + TILE_W <= picture.width));

  const float step = 1.0f / (float)(1 << log_y);
  const int in_block = (int)get_group_id(1) * TILE_H & ((1 << log_y) - 1);
  float u = ((float)in_block + 0.5f) * step - 0.5f;
  float4 m0 = (float4)(0.0f);  // of the block
  float4 m1 = (float4)(0.0f);
  float4 m2 = (float4)(0.0f);
  float4 above = (float4)(0.0f);  // what earlier blocks add to the cells around
  float4 here = (float4)(0.0f);
  int out = TILE_CELL(lid);
#pragma unroll 1
  for (int row = 0; row < TILE_H; row += READ_ROWS) {
    waiting_t pixels[READ_ROWS];
    load_rows(pixels, src, src_view.pitch, inside, top + row, column, &picture);
#pragma unroll
    for (int i = 0; i < READ_ROWS; ++i) {
      const float4 pixel = UNPACK(pixels[i]);
      const float v = u + (float)i * step;
      m0 += pixel;
      m1 = fma((float4)(v), pixel, m1);
      m2 = fma((float4)(v * v), pixel, m2);
    }
    u += (float)READ_ROWS * step;
    // The end of a block, or of the tile in the midst of one.
    if (((row + READ_ROWS) & ((1 << log_y) - 1)) == 0 || row + READ_ROWS == TILE_H) {
      const float4 even = 0.125f * m0 + 0.5f * m2;
      tile[out] = above + (even - 0.5f * m1);
      out += TILE_PITCH;
      above = here + (0.75f * m0 - m2);
      here = even + 0.5f * m1;
      m0 = m1 = m2 = (float4)(0.0f);
      u -= 1.0f;
    }
  }
  tile[out] = above;
  tile[out + TILE_PITCH] = here;
  barrier(CLK_LOCAL_MEM_FENCE);

  // The same along the rows. First 8 columns at a time, a channel of them per item.
  const int rows = max(TILE_H >> log_y, 1) + 2;
  __local float* values = (__local float*)tile;
  const int part = (lid >> 2) & (TILE_W / 8 - 1);
  const float step_x = 1.0f / (float)(1 << log_x);
  const float from = ((float)((8 * part) & ((1 << log_x) - 1)) + 0.5f) * step_x - 0.5f;
  float sums[TILE_ROWS / 2][3];
#pragma unroll
  for (int k = 0; k < TILE_ROWS / 2; ++k) {
    const int row = min(2 * k + lid / (TILE_W / 2), rows - 1);
    __local const float* at = values + 4 * (row * TILE_PITCH + TILE_CELL(8 * part)) + (lid & 3);
    float n0 = 0.0f;
    float n1 = 0.0f;
    float n2 = 0.0f;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      n0 += at[4 * i];
      n1 = fma((float)i, at[4 * i], n1);
      n2 = fma((float)(i * i), at[4 * i], n2);
    }
    n2 = fma(from * from, n0, step_x * fma(2.0f * from, n1, step_x * n2));
    n1 = fma(from, n0, step_x * n1);
    sums[k][0] = 0.125f * n0 + 0.5f * (n2 - n1);
    sums[k][1] = 0.75f * n0 - n2;
    sums[k][2] = 0.125f * n0 + 0.5f * (n2 + n1);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (int k = 0; k < TILE_ROWS / 2; ++k) {
#pragma unroll
    for (int i = 0; i < 3; ++i) values[(k * TILE_W + lid) * 3 + i] = sums[k][i];
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  // Then a channel of a cell per item.
  const int blocks = TILE_W >> log_x;
  const int cells = blocks + 2;
  const int reciprocal = 65536 / cells + 1;
  const int parts = 1 << (log_x - 3);
  pieces +=
      ((get_group_id(2) * get_num_groups(1) + get_group_id(1)) * (ulong)rows * get_num_groups(0) +
       get_group_id(0)) *
      (ulong)cells * 4;
  for (int k = lid; k < rows * cells * 4; k += TILE_W) {
    const int row = ((k >> 2) * reciprocal) >> 16;
    const int cell = (k >> 2) - row * cells;
    __local const float* line = values + row * (TILE_W / 2 * 3) + (k & 3) * 3;
    float sum = 0.0f;
    // Cell 1 is in the middle of block 0.
    for (int block = max(cell - 2, 0); block < min(cell + 1, blocks); ++block) {
      for (int i = 0; i < parts; ++i) sum += line[(block * parts + i) * 12 + cell - block];
    }
    pieces[(ulong)row * (ulong)(get_num_groups(0) * (size_t)cells * 4) +
           (ulong)(cell * 4 + (k & 3))] = sum;
  }
}

// Groups: LINES rows of cells x LINE cells of the result. `weights` are those of the distances 0 to
// radius along rows, then along columns.
__kernel __attribute__((reqd_work_group_size(LINE, LINES, 1))) void gaussian_blur_pyramid_rows(
    __global const float4* pieces, __global float4* mid, grid_t grid_x, grid_t grid_y,
    __global const float* weights) {
  __local float4 lines[LINES][LINE + 2 * RADIUS_MAX];
  const int lid = (int)get_local_id(0);
  const int line = (int)get_local_id(1);
  const int row = (int)get_global_id(1);
  const int out = (int)get_global_id(0);
  const int radius = grid_x.radius;
  const int from = (int)get_group_id(0) * LINE + grid_x.out_first - radius;
  const int number = (int)get_global_id(2);
  const int log_y = grid_y.log;
  const int rows = grid_y.count;

  const int log_blocks = LOG_TILE_W - grid_x.log;  // of a tile
  const int cells_x = (1 << log_blocks) + 2;
  const int cells_y = max(TILE_H >> log_y, 1) + 2;
  const ulong pitch = (ulong)grid_x.tiles * (ulong)cells_x;
  pieces += (ulong)number * (ulong)grid_y.tiles * (ulong)cells_y * pitch;
  // The tiles with the blocks y .. y + 2, which cell y sums up, and likewise x.
  const int y = min(row, rows - 1);
  const int begin_y = (y << log_y) / TILE_H;
  const int end_y = (((y + 3) << log_y) - 1) / TILE_H;
  for (int i = lid; i < LINE + 2 * radius; i += LINE) {
    const int x = clcook_border(from + i - grid_x.first, grid_x.count, grid_x.border);
    const int begin_x = x >> log_blocks;
    const int at = begin_x * cells_x + x + 2 - (begin_x << log_blocks);
    const int two = (x + 2) >> log_blocks != begin_x;
    float4 sum = (float4)(0.0f);
#pragma unroll 1
    for (int ty = begin_y; ty <= end_y; ++ty) {
      const int piece = ty * cells_y + y + 2 - ((ty * TILE_H) >> log_y);
      __global const float4* p = pieces + (ulong)piece * pitch + (ulong)at;
      sum += p[0];
      if (two) sum += p[2];
    }
    lines[line][i] = sum;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (out >= grid_x.outs || row >= rows) return;
  __local const float4* middle = lines[line] + lid + radius;
  float4 sum = weights[0] * middle[0];
  for (int k = 1; k <= radius; ++k) sum = fma((float4)(weights[k]), middle[-k] + middle[k], sum);
  mid[((ulong)number * (ulong)rows + (ulong)row) * (ulong)grid_x.outs + (ulong)out] = sum;
}

// Groups: COLUMN rows x COLUMNS cells of the result. `weights` as of the rows.
__kernel __attribute__((reqd_work_group_size(COLUMNS, COLUMN, 1))) void
gaussian_blur_pyramid_columns(__global const float4* mid, __global float4* coarse, grid_t grid_x,
                              grid_t grid_y, __global const float* weights) {
  __local float4 columns[COLUMN + 2 * RADIUS_MAX][COLUMNS];
  const int column = (int)get_local_id(0);
  const int lid = (int)get_local_id(1);
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  const int number = (int)get_global_id(2);
  const int width = grid_x.outs;
  const int radius = grid_y.radius;
  const int from = (int)get_group_id(1) * COLUMN + grid_y.out_first - radius - grid_y.first;
  mid += (ulong)number * (ulong)grid_y.count * (ulong)width + (ulong)min(x, width - 1);
  for (int i = lid; i < COLUMN + 2 * radius; i += COLUMN)
    columns[i][column] =
        mid[(ulong)clcook_border(from + i, grid_y.count, grid_y.border) * (ulong)width];
  barrier(CLK_LOCAL_MEM_FENCE);
  weights += grid_x.radius + 1;
  if (x >= width || y >= grid_y.outs) return;
  __local const float4* middle = &columns[lid + radius][column];
  float4 sum = weights[0] * middle[0];
  for (int k = 1; k <= radius; ++k) {
    sum = fma((float4)(weights[k]), middle[-k * COLUMNS] + middle[k * COLUMNS], sum);
  }
  coarse[((ulong)number * (ulong)grid_y.outs + (ulong)y) * (ulong)width + (ulong)x] = sum;
}

// The spline along a row at u, from the cell before the pixel's block on.
static inline float4 across(__global const float4* cell, float u) {
  const float4 a = cell[0];
  const float4 b = cell[1];
  const float4 c = cell[2];
  const float4 slope = 0.5f * (c - a);
  const float4 bend = 0.5f * (a + c) - b;
  return fma((float4)(u), fma((float4)(u), bend, slope), b + 0.25f * bend);
}

// Items: columns of the region x strips of rows. Row 0 of `coarse` is the cell before the first
// row's block, likewise the columns.
__kernel void gaussian_blur_pyramid_up(__global const float4* coarse, grid_t grid_x, grid_t grid_y,
                                       __global clcook_channel_t* dst, clcook_view dst_view,
                                       clcook_picture picture) {
  const int column = (int)get_global_id(0);
  const int number = (int)get_global_id(2);
  const clcook_region region = picture.region;
  if (column >= region.width) return;
  const int log_x = grid_x.log;
  const int log_y = grid_y.log;
  const ulong coarse_width = (ulong)grid_x.outs;
  const ulong dst_pitch = dst_view.pitch;
  const int x = region.x + column;
  const float u_x = ((float)(x & ((1 << log_x) - 1)) + 0.5f) / (float)(1 << log_x) - 0.5f;
  // Rows of the picture, from a multiple of 8 on.
  const int top = (region.y & ~7) + (int)get_global_id(1) * STRIP;
  const int end = region.y + region.height;
  const int stop = min(top + STRIP, end);
  coarse += ((ulong)number * (ulong)grid_y.outs + (ulong)((top >> log_y) - (region.y >> log_y))) *
                coarse_width +
            (ulong)((x >> log_x) - (region.x >> log_x));
  dst += clcook_view_row(dst_view, number, region.height, 0) + (ulong)column * CLCOOK_CHANNELS;
  const float step = 1.0f / (float)(1 << log_y);
  float u = ((float)(top & ((1 << log_y) - 1)) + 0.5f) * step - 0.5f;
  float4 above = across(coarse, u_x);
  float4 here = across(coarse + coarse_width, u_x);
  float4 below = across(coarse + 2 * coarse_width, u_x);
  coarse += 3 * coarse_width;
  __global clcook_channel_t* out = dst + (long)(top - region.y) * (long)dst_pitch;
#pragma unroll 1
  for (int row = top; row < stop; row += 8) {
    const float4 slope = 0.5f * (below - above);
    const float4 bend = 0.5f * (above + below) - here;
    const float4 middle = here + 0.25f * bend;
    // The next cells are on their way while these rows are stored.
    const int last = ((row + 8) & ((1 << log_y) - 1)) == 0 && row + 8 < stop;
    if (last) {
      above = here;
      here = below;
      below = across(coarse, u_x);
      coarse += coarse_width;
    }
    if (row >= region.y && row + 8 <= end) {
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const float v = u + (float)i * step;
        clcook_store_float4(
            out, 0,
            clcook_unweighted_float4(fma((float4)(v), fma((float4)(v), bend, slope), middle)));
        out += dst_pitch;
      }
    } else {
#pragma unroll 1
      for (int i = 0; i < 8; ++i) {
        const float v = u + (float)i * step;
        if (row + i >= region.y && row + i < end)
          clcook_store_float4(
              out, 0,
              clcook_unweighted_float4(fma((float4)(v), fma((float4)(v), bend, slope), middle)));
        out += dst_pitch;
      }
    }
    u += 8.0f * step;
    if (last) u -= 1.0f;
  }
}
