// The Gaussian blur as products of matrices: rows and columns in one launch, on the matrix units of
// NVIDIA GPUs (mma.sync, compute capability 8.0). Pixels have 4 channels.
//
// A warp makes a strip of 16 pixels x 16 rows per step and goes down the picture. In the products
// D += A B of tensor.clh is
//   rows     A: the band of the weights, 16 results x 16 pixels; B: 16 pixels x 8 rows, one channel
//   columns  A: the band of the weights, 16 results x 16 rows; B: 16 rows x 8 pixels, one channel
//
// Which lane of the 32 holds what, with g = lane / 4 down and t = lane % 4 across, two elements of
// each in the halves of a register (of D: in two):
//
//      A      k = 0 1  2 3  4 5  6 7 | 8 9 ...       B      n = 0  1  2 ...  7
//   row 0      L0   L1   L2   L3     | L0            k 0,1    L0  L4  L8 ... L28
//   row 1      L4   L5   L6   L7     | L4            k 2,3    L1  L5  L9 ... L29
//    ...                x            |  z            k 4,5    L2  L6  ...             b0
//   row 7      L28  L29  L30  L31    | L28           k 6,7    L3  L7  ...
//   ---------------------------------+-----          -------------------------------------
//   row 8      L0   L1   ...  y      | L0   w        k 8,9    L0  L4  ...             b1
//
//      D      n = 0 1  2 3  4 5  6 7
//   row 0      L0   L1   L2   L3       d[0], d[1]
//   row 1      L4   L5   L6   L7
//    ...
//   row 8      L0   L1   L2   L3       d[2], d[3]
//
// A lane thus has of a D what it must have of a B that is D turned over: of the rows' D the results
// (pixels) g and g + 8 for the rows 2t and 2t + 1; of the columns' B for the pixel g the rows 2t,
// 2t + 1, and, from the next 8 rows' D, 2t + 8 and 2t + 9. The D of the rows, rounded to halves, is
// the B of the columns without a shuffle.
//
// The pixels that the 16 places of the rows' A and B and the results' D stand for may be in any
// order: slot 2t + j + 8i is the pixel slot_pixel(j, t) + 8i = 4j + t + 8i, such that lanes with
// consecutive t read and write consecutive memory:
//
//   slot    0  1  2  3  4  5  6  7
//   pixel   0  4  1  5  2  6  3  7
//
// The radius is at most PAD, a multiple of 4. CHUNKS times 8 blurred rows stay in registers: what
// 16 results of the columns need. The warps of a group share the pixels, as halves, in local
// memory. Weights are data: `weights` holds the four registers of A of each lane for each 16 pixels
// of the rows' band, then for each 16 rows of the columns' band, and with CLCOOK_TENSOR_SPLIT after
// each of the two what their halves lack. Pixels are then split into two halves as well, and three
// products made.
#include <clcook/halo.clh>
#include <clcook/tensor.clh>
#include <clcook/view.clh>

#ifndef CLCOOK_TENSOR_CHUNKS
#define CLCOOK_TENSOR_CHUNKS 4
#endif
#define CHUNKS CLCOOK_TENSOR_CHUNKS
#define PAD (4 * (CHUNKS - 2))
#define PRODUCTS (CHUNKS / 2)  // of 16 pixels; and one of 8 where CHUNKS is odd
#define ODD (CHUNKS % 2)
#define PIECES (PRODUCTS + ODD)

#ifndef CLCOOK_TENSOR_WARPS
#define CLCOOK_TENSOR_WARPS 4
#endif
#define ITEMS (32 * CLCOOK_TENSOR_WARPS)

// Chunks of rows that are loaded at once, 1 or 2.
#ifndef CLCOOK_TENSOR_STAGE
#define CLCOOK_TENSOR_STAGE 2
#endif
#define STAGE CLCOOK_TENSOR_STAGE

// Half pieces, of 8 pixels, that a group reads, and how many of them each warp.
#define TASKS (2 * CLCOOK_TENSOR_WARPS + CHUNKS - 2)
#define ROUNDS ((TASKS + CLCOOK_TENSOR_WARPS - 1) / CLCOOK_TENSOR_WARPS)

#ifdef CLCOOK_TENSOR_SPLIT
#define PARTS 2
#else
#define PARTS 1
#endif

#define UNROLL CLCOOK_TENSOR_UNROLL
#define INLINE static inline __attribute__((always_inline))
#ifdef CLCOOK_TENSOR_PTX
// Where the compiler has unrolled the loop around it.
#define TENSOR_BARRIER_IF(CONDITION) \
  if (CONDITION) barrier(CLK_LOCAL_MEM_FENCE)
#else
#define TENSOR_BARRIER_IF(CONDITION) barrier(CLK_LOCAL_MEM_FENCE)
#endif

// The pixel j (0 or 1) of the lanes t in half a piece.
INLINE int slot_pixel(int j, int t) { return 4 * j + t; }

// Where the registers of a half piece lie in the stage:
// [buffer][part][chunk of the stage][half piece][lane].
INLINE int staged(int buffer, int part, int chunk, int task) {
  return (((buffer * PARTS + part) * STAGE + chunk) * TASKS + task) * 32;
}

INLINE uint channel_of(uint4 v, int c) { return c == 0 ? v.x : c == 1 ? v.y : c == 2 ? v.z : v.w; }

// D += A B for the piece k; of the last one half is empty where CHUNKS is odd. Off NVIDIA's GPUs
// all items of the group must come here.
//   d        float[4]   16 results x 8
//   a        8 halves   16 results x 16
//   b0, b1   4 halves   16 x 8
INLINE void multiply(float* d, uint4 a, uint b0, uint b1, int k, int item, __local uint* exchange) {
#ifdef CLCOOK_TENSOR_PTX
  if (k < PRODUCTS) {
    CLCOOK_TENSOR_16(d, a, b0, b1);
  } else {
    CLCOOK_TENSOR_8(d, a, b0);
  }
#else
  CLCOOK_TENSOR_16(d, a, b0, k < PRODUCTS ? b1 : 0);
#endif
}

// The products of the piece k: all channels before the next part, as the sums wait for each other.
// With two parts: high x high, high x low, low x high.
//   sum   [channel][4]
//   a     [part]
//   b     [part][register][channel]
INLINE void multiply_piece(float (*sum)[4], const uint4* a, uint (*b)[2][4], int k, int item,
                           __local uint* exchange) {
#pragma unroll UNROLL
  for (int n = 0; n < 4 * (2 * PARTS - 1); ++n)
    multiply(sum[n % 4], a[n / 8], b[n / 4 % 2][0][n % 4], b[n / 4 % 2][1][n % 4], k, item,
             exchange);
}

// The pixels of a lane in the chunks of the stage whose first row is `top`, from global memory.
//   in       [chunk of the stage][round][pixel of the lane]: row g of the chunk
//   column   [round][pixel of the lane], -1 for `outside`
INLINE void load_stage(float4 (*in)[ROUNDS][2], __global const float4* src, ulong pitch,
                       const clcook_picture picture, int top, int (*column)[2], int warp, int g) {
#pragma unroll UNROLL
  for (int j = 0; j < STAGE; ++j) {
    const int row = clcook_border(top + 8 * j + g, picture.height, picture.border);
    __global const float4* line = src + (ulong)max(row, 0) * pitch;
#pragma unroll UNROLL
    for (int r = 0; r < ROUNDS; ++r) {
      if (TASKS % CLCOOK_TENSOR_WARPS == 0 || warp + r * CLCOOK_TENSOR_WARPS < TASKS) {
#ifdef CLCOOK_TENSOR_CONSTANT
        in[j][r][0] = row < 0 || column[r][0] < 0 ? picture.outside : line[column[r][0]];
        in[j][r][1] = row < 0 || column[r][1] < 0 ? picture.outside : line[column[r][1]];
#else
        in[j][r][0] = line[column[r][0]];
        in[j][r][1] = line[column[r][1]];
#endif
      }
    }
  }
}

#ifdef CLCOOK_TENSOR_PREFETCH
// Asks for the chunks of the stage whose first row is `top`, 8 pixels from `left` on per item: no
// registers wait for them.
INLINE void prefetch_stage(__global const float4* src, ulong pitch, const clcook_picture picture,
                           int top, int left, int item) {
  const int lines = TASKS * STAGE * 8;
#pragma unroll UNROLL
  for (int r = 0; r < (lines + ITEMS - 1) / ITEMS; ++r) {
    const int k = item + r * ITEMS;
    const int row = clamp(top + k / TASKS, 0, picture.height - 1);
    const int at = clamp(left + 8 * (k % TASKS), 0, picture.width - 1);
    __global const float4* line = src + ((ulong)row * pitch + (ulong)at);
#ifdef CLCOOK_TENSOR_PTX
    if (k < lines) __asm__ volatile("prefetch.global.L2 [%0];" ::"l"(line));
#else
    if (k < lines) prefetch((__global const float*)line, 1);
#endif
  }
}
#endif

// What was loaded, as halves, into a buffer of the stage.
INLINE void put_stage(__local uint4* stage, int buffer, float4 (*in)[ROUNDS][2], float scale,
                      int warp, int lane) {
#pragma unroll UNROLL
  for (int k = 0; k < STAGE * ROUNDS; ++k) {
    const int j = k / ROUNDS;
    const int task = warp + k % ROUNDS * CLCOOK_TENSOR_WARPS;
    if (TASKS % CLCOOK_TENSOR_WARPS == 0 || task < TASKS) {
      uint4 halves[2];
      clcook_split(scale * in[j][k % ROUNDS][0], scale * in[j][k % ROUNDS][1], PARTS, halves);
      for (int part = 0; part < PARTS; ++part)
        stage[staged(buffer, part, j, task) + lane] = halves[part];
    }
  }
}

// Groups: strips of 16 CLCOOK_TENSOR_WARPS pixels x segments of `segment` rows, a multiple of 16, x
// pictures. Views count pixels.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void gaussian_blur_tensor(
    __global const float4* restrict src, clcook_view src_view, __global float4* restrict dst,
    clcook_view dst_view, clcook_picture picture, int segment,
    __global const uint4* restrict weights, clcook_tensor_scale scale) {
#ifdef CLCOOK_TENSOR_PTX
  __local uint* exchange = 0;
#else
  __local uint exchange[6 * ITEMS];
#endif
  // Blurred by rows next, the 4 channels: see staged().
  __local uint4 stage[2 * PARTS * STAGE * TASKS * 32];
  const clcook_region region = picture.region;
  const int item = (int)get_local_id(0);
  const int warp = item / 32;
  const int lane = item % 32;
  const int g = lane / 4;
  const int t = lane % 4;
  const int group_x = (int)get_group_id(0) * CLCOOK_TENSOR_WARPS * 16;
  const int x0 = group_x + warp * 16;
  const int begin = (int)get_group_id(1) * segment;
  const int end = min(begin + segment, region.height);
  src += clcook_view_row(src_view, (int)get_group_id(2), picture.height, 0);
  dst += clcook_view_row(dst_view, (int)get_group_id(2), region.height, 0) + (ulong)x0;

  weights += lane;
  uint4 a_rows[PARTS * PIECES];
  uint4 a_columns[PARTS * PIECES];
#pragma unroll UNROLL
  for (int k = 0; k < PARTS * PIECES; ++k) {
    a_rows[k] = weights[32 * k];
    a_columns[k] = weights[32 * (PARTS * PIECES + k)];
  }
  // The columns of the two pixels that this lane reads of each half piece.
  int column[ROUNDS][2];
#pragma unroll UNROLL
  for (int r = 0; r < 2 * ROUNDS; ++r) {
    const int task = warp + r / 2 * CLCOOK_TENSOR_WARPS;
    column[r / 2][r % 2] = clcook_border(region.x + group_x - PAD + 8 * task + slot_pixel(r % 2, t),
                                         picture.width, picture.border);
  }
  float4 in[STAGE][ROUNDS][2];
  // The blurred rows, 8 per chunk: for pixels g and g + 8 and each channel, rows 2t and 2t + 1.
  uint ring[PARTS][CHUNKS][2][4];
#pragma unroll UNROLL
  for (int k = 0; k < PARTS * CHUNKS * 8; ++k)
    ring[k / (CHUNKS * 8)][k / (8) % CHUNKS][k / 4 % 2][k % 4] = 0;

  // A step blurs two chunks of rows; from the step 0 on it has what 16 results need. The first
  // step's first chunk is of no use where CHUNKS is odd.
  const int first = -16 * (PIECES - 1);
  // From a step to the first row that it loads.
  const int above = 16 * (PIECES - 1) - PAD - 8 * ODD;
  int now = 0;
  const int top = region.y + begin + above;
  load_stage(in, src, src_view.pitch, picture, top + first, column, warp, g);
  put_stage(stage, 0, in, scale.in, warp, lane);
  load_stage(in, src, src_view.pitch, picture, top + first + 8 * STAGE, column, warp, g);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int y = first; y < end - begin; y += 16) {
#pragma unroll UNROLL
    for (int k = 0; k < PARTS * (CHUNKS - 2) * 8; ++k) {
      const int part = k / ((CHUNKS - 2) * 8);
      const int chunk = k / (8) % (CHUNKS - 2);
      ring[part][chunk][k / 4 % 2][k % 4] = ring[part][chunk + 2][k / 4 % 2][k % 4];
    }
#pragma unroll UNROLL
    for (int h = 0; h < 2; ++h) {
      if (h % STAGE == 0) {
        put_stage(stage, 1 - now, in, scale.in, warp, lane);
        load_stage(in, src, src_view.pitch, picture, top + y + 8 * (h + 2 * STAGE), column, warp,
                   g);
#ifdef CLCOOK_TENSOR_PREFETCH
        prefetch_stage(src, src_view.pitch, picture, top + y + 8 * (h + 3 * STAGE),
                       region.x + group_x - PAD, item);
#endif
      }
      float sum[4][4];  // [channel]: 16 results x 8
#pragma unroll UNROLL
      for (int k = 0; k < 16; ++k) sum[k / 4][k % 4] = 0.0f;
#pragma unroll UNROLL
      for (int k = 0; k < PIECES; ++k) {
        uint4 a[PARTS];       // 16 results x 16 pixels
        uint b[PARTS][2][4];  // 16 pixels x 8 rows, by channel
#pragma unroll UNROLL
        for (int part = 0; part < PARTS; ++part) {
          const int at = staged(now, part, h % STAGE, 2 * (warp + k)) + lane;
          a[part] = a_rows[part * PIECES + k];
          const uint4 low = stage[at];
          uint4 high = low;
          if (k < PRODUCTS) high = stage[at + 32];
#pragma unroll UNROLL
          for (int c = 0; c < 4; ++c) {
            b[part][0][c] = channel_of(low, c);
            b[part][1][c] = channel_of(high, c);
          }
        }
        multiply_piece(sum, a, b, k, item, exchange);
      }
      TENSOR_BARRIER_IF(h % STAGE == STAGE - 1);
      if (h % STAGE == STAGE - 1) now = 1 - now;
#pragma unroll UNROLL
      for (int i = 0; i < 2; ++i) {
#pragma unroll UNROLL
        for (int c = 0; c < 4; ++c) {
#ifdef CLCOOK_TENSOR_SPLIT
          const float p = scale.mid * sum[c][2 * i];
          const float q = scale.mid * sum[c][2 * i + 1];
#else
          const float p = sum[c][2 * i];
          const float q = sum[c][2 * i + 1];
#endif
          const uint high = clcook_pack_halves(p, q);
          ring[0][CHUNKS - 2 + h][i][c] = high;
#ifdef CLCOOK_TENSOR_SPLIT
          ring[1][CHUNKS - 2 + h][i][c] =
              clcook_pack_halves(p - clcook_low_half(high), q - clcook_high_half(high));
#endif
        }
      }
    }
#ifdef CLCOOK_TENSOR_PTX  // no barrier may stand behind a jump
    if (y < 0) continue;
#endif
#pragma unroll UNROLL
    for (int i = 0; i < 2; ++i) {
      float sum[4][4];  // [channel]: 16 results x 8
#pragma unroll UNROLL
      for (int k = 0; k < 16; ++k) sum[k / 4][k % 4] = 0.0f;
#pragma unroll UNROLL
      for (int k = 0; k < PIECES; ++k) {
        // The chunk of the second register: the first again where the piece has one only.
        const int second = 2 * k + (k < PRODUCTS ? 1 : 0);
        uint4 a[PARTS];       // 16 results x 16 rows
        uint b[PARTS][2][4];  // 16 rows x 8 pixels, by channel
#pragma unroll UNROLL
        for (int part = 0; part < PARTS; ++part) {
          a[part] = a_columns[part * PIECES + k];
#pragma unroll UNROLL
          for (int c = 0; c < 4; ++c) {
            b[part][0][c] = ring[part][2 * k][i][c];
            b[part][1][c] = ring[part][second][i][c];
          }
        }
        multiply_piece(sum, a, b, k, item, exchange);
      }
#pragma unroll UNROLL
      for (int e = 0; e < 2; ++e) {
        const int at = begin + y + g + e * 8;
        __global float4* line = dst + (ulong)max(at, 0) * dst_view.pitch;
        const int x = 8 * i + slot_pixel(0, t);
        const int next = 8 * i + slot_pixel(1, t);
        const bool left = at >= begin && at < end && x0 + x < region.width;
        const bool right = at >= begin && at < end && x0 + next < region.width;
        if (left) {
          line[x] =
              scale.out * (float4)(sum[0][2 * e], sum[1][2 * e], sum[2][2 * e], sum[3][2 * e]);
        }
        if (right) {
          line[next] = scale.out * (float4)(sum[0][2 * e + 1], sum[1][2 * e + 1], sum[2][2 * e + 1],
                                            sum[3][2 * e + 1]);
        }
      }
    }
  }
}
