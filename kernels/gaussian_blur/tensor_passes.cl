// The Gaussian blur as products of matrices in two launches, for radii whose blurred rows do not
// fit into the registers of the one launch of tensor.cl. Pixels have 4 channels of float.
//
// As there, the band of the weights is the matrix A, and the blurred rows are, register for
// register, the matrix B of the columns. Between the launches they lie in `mid` as these registers:
// [picture][chunk of 8 rows][block of 8 pixels][part][lane], the 4 channels; so the columns read
// whole lines and convert nothing.
//
// A warp makes TILES times 16 results of 8 neighbours (rows: pixels of 8 rows; columns: rows of 8
// pixels) from pieces of 16 inputs. A piece counts for all tiles whose band it is in; the weights
// that it has for one tile are those of the next tile a step later. So `pieces` steps of each tile
// take pieces + TILES - 1 steps together. The inputs of neighbouring warps overlap: they come from
// the cache.
//
// The radius is at most 8 (pieces - 1), and there are at least 3 pieces. Weights are data:
// `weights` holds the four registers of A of each lane for each 16 inputs of the band, and with
// CLCOOK_TENSOR_SPLIT then what their halves lack. Values are then split into two halves as well,
// and three products made.
#include <clcook/halo.clh>
#include <clcook/tensor.clh>

#ifdef CLCOOK_TENSOR_SPLIT
#define PARTS 2
#define TILES 3
#else
#define PARTS 1
#define TILES 4
#endif
#define WARPS 4
#define ITEMS (32 * WARPS)
#define UNROLL CLCOOK_TENSOR_UNROLL

#define CHANNEL(V, C) ((C) == 0 ? (V).x : (C) == 1 ? (V).y : (C) == 2 ? (V).z : (V).w)

// D += A B where CONDITION holds.
#ifdef CLCOOK_TENSOR_PTX
#define MULTIPLY_IF(CONDITION, D, A, B0, B1) \
  if (CONDITION) CLCOOK_TENSOR_16(D, A, B0, B1)
#else
#define MULTIPLY_IF(CONDITION, D, A, B0, B1) \
  CLCOOK_TENSOR_16(D, (CONDITION) ? (A) : (uint4)(0), B0, B1)
#endif

// The step S: the products of the piece S for the tiles FIRST to LAST, each tile's and channel's
// before the next part's, as the sums wait for each other. The next piece is loaded meanwhile.
#define STEP(S, FIRST, LAST, READ, AGAIN)                                                        \
  {                                                                                              \
    uint4 b[PARTS][2];                                                                           \
    TAKE(b);                                                                                     \
    if (AGAIN) {                                                                                 \
      LOAD((S) + 1);                                                                             \
    }                                                                                            \
    _Pragma("unroll UNROLL") for (int k = PARTS * TILES - 1; k >= 0; --k) {                      \
      if (k % TILES > 0) {                                                                       \
        a[k / TILES][k % TILES] = a[k / TILES][k % TILES - 1];                                   \
      } else if (READ) {                                                                         \
        a[k / TILES][0] = clcook_read(weights + 32 * (k / TILES * pieces + (S)));                \
      }                                                                                          \
    }                                                                                            \
    _Pragma("unroll UNROLL") for (int n = 0; n < (2 * PARTS - 1) * TILES * 4; ++n) {             \
      const int tile = TILES - 1 - n / 4 % TILES;                                                \
      MULTIPLY_IF(tile >= (FIRST) && tile <= (LAST), sum[tile][n % 4], a[n / (8 * TILES)][tile], \
                  CHANNEL(b[n / (4 * TILES) % 2][0], n % 4),                                     \
                  CHANNEL(b[n / (4 * TILES) % 2][1], n % 4));                                    \
    }                                                                                            \
  }

// All steps. A tile is complete in the last one that it takes part in.
#define STEPS                                                                                 \
  _Pragma("unroll UNROLL") for (int k = 0; k < PARTS * TILES; ++k) {                          \
    a[k / TILES][k % TILES] = (uint4)(0);                                                     \
  }                                                                                           \
  _Pragma("unroll UNROLL") for (int k = 0; k < 16 * TILES; ++k) {                             \
    sum[k / 16][k / 4 % 4][k % 4] = 0.0f;                                                     \
  }                                                                                           \
  LOAD(0);                                                                                    \
  _Pragma("unroll UNROLL") for (int s = 0; s < TILES - 1; ++s) { STEP(s, 0, s, true, true); } \
  for (int s = TILES - 1; s < pieces; ++s) {                                                  \
    STEP(s, 0, TILES - 1, true, true);                                                        \
  }                                                                                           \
  FINISH(0);                                                                                  \
  _Pragma("unroll UNROLL") for (int i = 1; i < TILES; ++i) {                                  \
    STEP(pieces + i - 1, i, TILES - 1, false, i + 1 < TILES);                                 \
    FINISH(i);                                                                                \
  }

// Groups: 16 TILES WARPS pixels x chunks x pictures. Offsets and pitches in pixels. The first chunk
// is the picture's rows from `first_row` on; beyond the picture they are what the border mode says.
// `mid` has blocks for whole groups. `columns`: 16 (TILES WARPS + pieces - 1) ints.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void gaussian_blur_tensor_rows(
    __global const float4* restrict src, ulong src_offset, ulong src_pitch,
    __global uint4* restrict mid, int width, int height, int region_x, int region_width,
    int first_row, __global const uint4* restrict weights, int pieces, int border, float4 outside,
    float scale_in, float scale_mid, __local int* columns) {
#ifndef CLCOOK_TENSOR_PTX
  __local uint exchange[6 * ITEMS];
#endif
  const int item = (int)get_local_id(0);
  const int warp = item / 32;
  const int lane = item % 32;
  const int g = lane / 4;
  const int t = lane % 4;
  const int group_x = (int)get_group_id(0) * WARPS * TILES * 16;
  const int x0 = group_x + warp * TILES * 16;
  const int pad = 8 * (pieces - 1);
  // The columns of the source that the group reads.
  for (int i = item; i < 16 * (TILES * WARPS + pieces - 1); i += ITEMS)
    columns[i] = clcook_border(region_x + group_x - pad + i, width, border);
  barrier(CLK_LOCAL_MEM_FENCE);
#ifdef CLCOOK_TENSOR_PTX  // no return before a barrier
  if (x0 >= region_width) return;
#endif
  columns += 16 * warp * TILES + t;

  const int y0 = first_row + 8 * (int)get_group_id(1);
  const int row = clcook_border(y0 + g, height, border);
  const int left = region_x + x0 - pad;
  const bool inside = left >= 0 && left + 16 * (pieces + TILES - 1) <= width &&
                      (border != CLCOOK_BORDER_CONSTANT || (y0 >= 0 && y0 + 8 <= height));
  __global const float4* line =
      src + src_offset + ((ulong)get_group_id(2) * (ulong)height + (ulong)max(row, 0)) * src_pitch;
  __global const float4* first = line + (left + t);  // read where `inside`
  mid += (((ulong)get_group_id(2) * (ulong)get_num_groups(1) + (ulong)get_group_id(1)) *
              (ulong)get_num_groups(0) * (WARPS * TILES * 2) +
          (ulong)(x0 / 8)) *
             (32 * PARTS) +
         (ulong)lane;
  weights += lane;

  float4 in[4];
  uint4 a[PARTS][TILES];
  float sum[TILES][4][4];
// The pixels t, t + 4, t + 8 and t + 12 of the piece S.
#define LOAD(S)                                                                               \
  if (inside) {                                                                               \
    _Pragma("unroll UNROLL") for (int q = 0; q < 4; ++q) { in[q] = first[16 * (S) + 4 * q]; } \
  } else {                                                                                    \
    _Pragma("unroll UNROLL") for (int q = 0; q < 4; ++q) {                                    \
      const int column = columns[16 * (S) + 4 * q];                                           \
      in[q] = line[max(column, 0)];                                                           \
      if (min(row, column) < 0) in[q] = outside;                                              \
    }                                                                                         \
  }
#define TAKE(B)                                                                \
  _Pragma("unroll UNROLL") for (int h = 0; h < 2; ++h) {                       \
    uint4 halves[2];                                                           \
    clcook_split(scale_in* in[2 * h], scale_in* in[2 * h + 1], PARTS, halves); \
    for (int part = 0; part < PARTS; ++part) B[part][h] = halves[part];        \
  }
#define FINISH(I)                                                                         \
  _Pragma("unroll UNROLL") for (int h = 0; h < 2; ++h) {                                  \
    uint4 halves[2];                                                                      \
    clcook_split(scale_mid*(float4)(sum[I][0][2 * h], sum[I][1][2 * h], sum[I][2][2 * h], \
                                    sum[I][3][2 * h]),                                    \
                 scale_mid*(float4)(sum[I][0][2 * h + 1], sum[I][1][2 * h + 1],           \
                                    sum[I][2][2 * h + 1], sum[I][3][2 * h + 1]),          \
                 PARTS, halves);                                                          \
    for (int part = 0; part < PARTS; ++part)                                              \
      mid[(2 * (I) + h) * (32 * PARTS) + 32 * part] = halves[part];                       \
  }
  STEPS;
#undef LOAD
#undef TAKE
#undef FINISH
}

// Groups: 8 WARPS pixels x 16 TILES rows of the region x pictures. `mid` has `chunks` chunks of
// `blocks` blocks; the first one stands for the `skipped` ones above it too, the last one for all
// below. Offset and pitch in pixels.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void gaussian_blur_tensor_columns(
    __global const uint4* restrict mid, int blocks, int skipped, int chunks,
    __global float4* restrict dst, ulong dst_offset, ulong dst_pitch, int region_width,
    int region_height, __global const uint4* restrict weights, int pieces, float scale_out) {
#ifndef CLCOOK_TENSOR_PTX
  __local uint exchange[6 * ITEMS];
#endif
  const int item = (int)get_local_id(0);
  const int lane = item % 32;
  const int g = lane / 4;
  const int t = lane % 4;
  const int block = (int)get_group_id(0) * WARPS + item / 32;
  const int y0 = 16 * TILES * (int)get_group_id(1);
#ifdef CLCOOK_TENSOR_PTX
  if (8 * block >= region_width) return;
#endif
  mid += ((ulong)get_group_id(2) * (ulong)chunks * (ulong)blocks + (ulong)block) * (32 * PARTS) +
         (ulong)lane;
  dst += dst_offset + (ulong)get_group_id(2) * (ulong)region_height * dst_pitch;
  weights += lane;

  uint4 in[PARTS][2];
  uint4 a[PARTS][TILES];
  float sum[TILES][4][4];
#define LOAD(S)                                                                     \
  _Pragma("unroll UNROLL") for (int k = 0; k < 2 * PARTS; ++k) {                    \
    const int chunk = clamp(y0 / 8 + 2 * (S) + k / PARTS - skipped, 0, chunks - 1); \
    in[k % PARTS][k / PARTS] =                                                      \
        mid[((ulong)chunk * (ulong)blocks * PARTS + (ulong)(k % PARTS)) * 32];      \
  }
#define TAKE(B)                                                  \
  _Pragma("unroll UNROLL") for (int k = 0; k < 2 * PARTS; ++k) { \
    B[k / 2][k % 2] = in[k / 2][k % 2];                          \
  }
#define FINISH(I)                                                                       \
  _Pragma("unroll UNROLL") for (int e = 0; e < 4; ++e) {                                \
    const int x = 8 * block + t + 4 * (e % 2);                                          \
    const int y = y0 + 16 * (I) + g + 8 * (e / 2);                                      \
    if (x < region_width && y < region_height) {                                        \
      dst[(ulong)y * dst_pitch + (ulong)x] =                                            \
          scale_out * (float4)(sum[I][0][e], sum[I][1][e], sum[I][2][e], sum[I][3][e]); \
    }                                                                                   \
  }
  STEPS;
}
