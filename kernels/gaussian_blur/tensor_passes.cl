// The Gaussian blur as products of matrices in two launches, for radii whose blurred rows do not
// fit into the registers of the one launch of tensor.cl. Pixels have 4 channels of float, or with
// CLCOOK_TENSOR_BYTES of bytes: as halves they are exact.
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
#include <clcook/view.clh>

#ifndef CLCOOK_TENSOR_TILES
#define CLCOOK_TENSOR_TILES 4
#define CLCOOK_TENSOR_WARPS 4
#endif

#ifdef CLCOOK_TENSOR_SPLIT
#define PARTS 2
#else
#define PARTS 1
#endif
#define TILES CLCOOK_TENSOR_TILES
#define WARPS CLCOOK_TENSOR_WARPS
#define ITEMS (32 * WARPS)
#define UNROLL CLCOOK_TENSOR_UNROLL

#ifdef CLCOOK_TENSOR_BYTES
typedef uchar4 pixel_t;
#define TO_FLOATS(PIXEL) convert_float4(PIXEL)
#define TO_PIXEL(FLOATS) convert_uchar4_sat_rte(FLOATS)
#else
typedef float4 pixel_t;
#define TO_FLOATS(PIXEL) (PIXEL)
#define TO_PIXEL(FLOATS) (FLOATS)
#endif

#define INLINE static inline __attribute__((always_inline))

INLINE uint channel_of(uint4 v, int c) { return c == 0 ? v.x : c == 1 ? v.y : c == 2 ? v.z : v.w; }

// D += A B where `condition` holds; which lane holds what: tensor.cl. Off NVIDIA's GPUs all items
// of the group must come here.
INLINE void multiply_if(bool condition, float* d, uint4 a, uint b0, uint b1, int item,
                        __local uint* exchange) {
#ifdef CLCOOK_TENSOR_PTX
  if (condition) CLCOOK_TENSOR_16(d, a, b0, b1);
#else
  CLCOOK_TENSOR_16(d, condition ? a : (uint4)(0), b0, b1);
#endif
}

// The products of the piece s for the tiles `first` to `last`, each tile's and channel's before the
// next part's, as the sums wait for each other. With two parts: high x high, high x low, low x
// high.
//   sum   [tile][channel][4]   16 results x 8
//   a     [part][tile]         16 results x 16 inputs; a tile takes over those of the tile before
//   b     [part][register]     16 inputs x 8, by channel
INLINE void step_piece(float (*sum)[4][4], uint4 (*a)[TILES], uint4 (*b)[2],
                       __global const uint4* weights, int pieces, int s, int first, int last,
                       const bool read, int item, __local uint* exchange) {
#pragma unroll UNROLL
  for (int k = PARTS * TILES - 1; k >= 0; --k) {
    if (k % TILES > 0) {
      a[k / TILES][k % TILES] = a[k / TILES][k % TILES - 1];
    } else if (read) {
      a[k / TILES][0] = clcook_read(weights + 32 * (k / TILES * pieces + s));
    }
  }
#pragma unroll UNROLL
  for (int n = 0; n < (2 * PARTS - 1) * TILES * 4; ++n) {
    const int tile = TILES - 1 - n / 4 % TILES;
    const int part = n / (4 * TILES) % 2;
    multiply_if(tile >= first && tile <= last, sum[tile][n % 4], a[n / (8 * TILES)][tile],
                channel_of(b[part][0], n % 4), channel_of(b[part][1], n % 4), item, exchange);
  }
}

// The step S. The next piece is loaded meanwhile.
#define TENSOR_STEP(S, FIRST, LAST, READ, AGAIN)                                  \
  {                                                                               \
    uint4 b[PARTS][2];                                                            \
    TENSOR_TAKE(b);                                                               \
    if (AGAIN) {                                                                  \
      TENSOR_LOAD((S) + 1);                                                       \
    }                                                                             \
    step_piece(sum, a, b, weights, pieces, S, FIRST, LAST, READ, item, exchange); \
  }

// All steps, of both kernels, which say what TENSOR_LOAD, TENSOR_TAKE and TENSOR_FINISH are. A tile
// is complete in the last step that it takes part in:
//
//   step     0   1   2   3  ..  pieces - 1   pieces  pieces + 1     (TILES 3)
//   tile 0   A0  A1  A2  A3 ..  A last
//   tile 1       A0  A1  A2 ..               A last
//   tile 2           A0  A1 ..                       A last
#define TENSOR_STEPS                                                 \
  _Pragma("unroll UNROLL") for (int k = 0; k < PARTS * TILES; ++k) { \
    a[k / TILES][k % TILES] = (uint4)(0);                            \
  }                                                                  \
  _Pragma("unroll UNROLL") for (int k = 0; k < 16 * TILES; ++k) {    \
    sum[k / 16][k / 4 % 4][k % 4] = 0.0f;                            \
  }                                                                  \
  TENSOR_LOAD(0);                                                    \
  _Pragma("unroll UNROLL") for (int s = 0; s < TILES - 1; ++s) {     \
    TENSOR_STEP(s, 0, s, true, true);                                \
  }                                                                  \
  for (int s = TILES - 1; s < pieces; ++s) {                         \
    TENSOR_STEP(s, 0, TILES - 1, true, true);                        \
  }                                                                  \
  TENSOR_FINISH(0);                                                  \
  _Pragma("unroll UNROLL") for (int i = 1; i < TILES; ++i) {         \
    TENSOR_STEP(pieces + i - 1, i, TILES - 1, false, i + 1 < TILES); \
    TENSOR_FINISH(i);                                                \
  }

// Groups: 16 TILES WARPS pixels x chunks x pictures. The view counts pixels. The first chunk is
// the picture's rows from `first_row` on; beyond the picture they are what the border mode says.
// `mid` has blocks for whole groups. `columns`: 16 (TILES WARPS + pieces - 1) ints.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void gaussian_blur_tensor_rows(
    __global const pixel_t* restrict src, clcook_view src_view, __global uint4* restrict mid,
    clcook_picture picture, int first_row, __global const uint4* restrict weights, int pieces,
    clcook_tensor_scale scale, __local int* columns) {
#ifdef CLCOOK_TENSOR_PTX
  __local uint* exchange = 0;
#else
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
    columns[i] = clcook_border(picture.region.x + group_x - pad + i, picture.width, picture.border);
  barrier(CLK_LOCAL_MEM_FENCE);
#ifdef CLCOOK_TENSOR_PTX  // no return before a barrier
  if (x0 >= picture.region.width) return;
#endif
  columns += 16 * warp * TILES + t;

  const int y0 = first_row + 8 * (int)get_group_id(1);
  const int row = clcook_border(y0 + g, picture.height, picture.border);
  const int left = picture.region.x + x0 - pad;
  const bool inside =
      left >= 0 && left + 16 * (pieces + TILES - 1) <= picture.width &&
      (picture.border != CLCOOK_BORDER_CONSTANT || (y0 >= 0 && y0 + 8 <= picture.height));
  __global const pixel_t* line =
      src + clcook_view_row(src_view, (int)get_group_id(2), picture.height, max(row, 0));
  __global const pixel_t* first = line + (left + t);  // read where `inside`
  mid += (((ulong)get_group_id(2) * (ulong)get_num_groups(1) + (ulong)get_group_id(1)) *
              (ulong)get_num_groups(0) * (WARPS * TILES * 2) +
          (ulong)(x0 / 8)) *
             (32 * PARTS) +
         (ulong)lane;
  weights += lane;

  const pixel_t outside = TO_PIXEL(picture.outside);
  pixel_t in[4];
  uint4 a[PARTS][TILES];
  float sum[TILES][4][4];
// The pixels t, t + 4, t + 8 and t + 12 of the piece S.
#define TENSOR_LOAD(S)                                                                        \
  if (inside) {                                                                               \
    _Pragma("unroll UNROLL") for (int q = 0; q < 4; ++q) { in[q] = first[16 * (S) + 4 * q]; } \
  } else {                                                                                    \
    _Pragma("unroll UNROLL") for (int q = 0; q < 4; ++q) {                                    \
      const int column = columns[16 * (S) + 4 * q];                                           \
      in[q] = line[max(column, 0)];                                                           \
      if (min(row, column) < 0) in[q] = outside;                                              \
    }                                                                                         \
  }
#define TENSOR_TAKE(B)                                                                      \
  _Pragma("unroll UNROLL") for (int h = 0; h < 2; ++h) {                                    \
    uint4 halves[2];                                                                        \
    clcook_split(scale.in* TO_FLOATS(in[2 * h]), scale.in* TO_FLOATS(in[2 * h + 1]), PARTS, \
                 halves);                                                                   \
    for (int part = 0; part < PARTS; ++part) B[part][h] = halves[part];                     \
  }
#define TENSOR_FINISH(I)                                                                  \
  _Pragma("unroll UNROLL") for (int h = 0; h < 2; ++h) {                                  \
    uint4 halves[2];                                                                      \
    clcook_split(scale.mid*(float4)(sum[I][0][2 * h], sum[I][1][2 * h], sum[I][2][2 * h], \
                                    sum[I][3][2 * h]),                                    \
                 scale.mid*(float4)(sum[I][0][2 * h + 1], sum[I][1][2 * h + 1],           \
                                    sum[I][2][2 * h + 1], sum[I][3][2 * h + 1]),          \
                 PARTS, halves);                                                          \
    for (int part = 0; part < PARTS; ++part)                                              \
      mid[(2 * (I) + h) * (32 * PARTS) + 32 * part] = halves[part];                       \
  }
  TENSOR_STEPS;
#undef TENSOR_LOAD
#undef TENSOR_TAKE
#undef TENSOR_FINISH
}

// What `mid` holds of a picture.
typedef struct {
  int chunks;
  int skipped;  // chunks above, for which the first one stands too; the last one for all below
  int blocks;   // of a chunk
} mid_t;

// Groups: 8 WARPS pixels x 16 TILES rows of the region x pictures. The view counts pixels.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void gaussian_blur_tensor_columns(
    __global const uint4* restrict mid, mid_t sizes, __global pixel_t* restrict dst,
    clcook_view dst_view, clcook_region region, __global const uint4* restrict weights, int pieces,
    clcook_tensor_scale scale) {
#ifdef CLCOOK_TENSOR_PTX
  __local uint* exchange = 0;
#else
  __local uint exchange[6 * ITEMS];
#endif
  const int item = (int)get_local_id(0);
  const int lane = item % 32;
  const int g = lane / 4;
  const int t = lane % 4;
  const int block = (int)get_group_id(0) * WARPS + item / 32;
  const int y0 = 16 * TILES * (int)get_group_id(1);
#ifdef CLCOOK_TENSOR_PTX
  if (8 * block >= region.width) return;
#endif
  mid += ((ulong)get_group_id(2) * (ulong)sizes.chunks * (ulong)sizes.blocks + (ulong)block) *
             (32 * PARTS) +
         (ulong)lane;
  dst += clcook_view_row(dst_view, (int)get_group_id(2), region.height, 0);
  weights += lane;

  uint4 in[PARTS][2];
  uint4 a[PARTS][TILES];
  float sum[TILES][4][4];
#define TENSOR_LOAD(S)                                                                          \
  _Pragma("unroll UNROLL") for (int k = 0; k < 2 * PARTS; ++k) {                                \
    const int chunk = clamp(y0 / 8 + 2 * (S) + k / PARTS - sizes.skipped, 0, sizes.chunks - 1); \
    in[k % PARTS][k / PARTS] =                                                                  \
        mid[((ulong)chunk * (ulong)sizes.blocks * PARTS + (ulong)(k % PARTS)) * 32];            \
  }
#define TENSOR_TAKE(B)                                           \
  _Pragma("unroll UNROLL") for (int k = 0; k < 2 * PARTS; ++k) { \
    B[k / 2][k % 2] = in[k / 2][k % 2];                          \
  }
#define TENSOR_FINISH(I)                                                                          \
  _Pragma("unroll UNROLL") for (int e = 0; e < 4; ++e) {                                          \
    const int x = 8 * block + t + 4 * (e % 2);                                                    \
    const int y = y0 + 16 * (I) + g + 8 * (e / 2);                                                \
    if (x < region.width && y < region.height) {                                                  \
      dst[(ulong)y * dst_view.pitch + (ulong)x] =                                                 \
          TO_PIXEL(scale.out * (float4)(sum[I][0][e], sum[I][1][e], sum[I][2][e], sum[I][3][e])); \
    }                                                                                             \
  }
  TENSOR_STEPS;
}
