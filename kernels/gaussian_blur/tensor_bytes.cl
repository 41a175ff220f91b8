// The Gaussian blur of byte pictures as products of matrices of bytes: rows and columns in one
// launch, on the matrix units of NVIDIA GPUs (mma.sync, compute capability 8.0). Pixels have 4
// channels.
//
// A warp makes a strip of 16 pixels x 16 rows per step and goes down the picture. With D = A B + C,
// where A is 16 x 16 or 16 x 32 bytes, B is 16 x 8 or 32 x 8 bytes and D 16 x 8 integers:
//   rows     A: the band of the weights, 16 results x 16 pixels; B: 16 pixels x 8 rows, one channel
//   columns  A: the band of the weights, 16 results x 16 rows; B: 16 rows x 8 pixels, one channel
// Lane l of a warp has, with g = l / 4 and t = l % 4, these elements in the bytes of its registers:
//   A  (g, 4t + j), (g + 8, 4t + j); in two more (g, 16 + 4t + j), (g + 8, 16 + 4t + j)
//   B  (4t + j, g); in one more (16 + 4t + j, g)
//   D  (g, 2t + j), (g + 8, 2t + j), one integer each
// The D of the rows of two chunks of 8, rounded to bytes, are the B of the columns without a
// shuffle: slot 4t + j is the row 2t + j of the first chunk, slot 4t + 2 + j that of the second.
// And where the result 2t + j + 8i of the rows is the pixel 4t + j + 2i, a lane has 4 pixels next
// to each other in the end. The weights on the host are in that order.
//
// Weights are whole numbers with the sum 2^shift. With CLCOOK_BYTES_FINE weights and blurred rows
// have 16 bits in two bytes each, and the weights' sum is 2^16; of the columns' four products that
// of the two low bytes is left out, `round_y` has its mean.
//
// The radius is at most PAD, a multiple of 8. PIECES times 16 blurred rows stay in registers: what
// 16 results of the columns need. With CLCOOK_BYTES_SHARE the warps of a group share the pixels, a
// register per channel, in local memory; else each loads what it needs.
//
// Compilers for other devices than NVIDIA's make a product of ordinary arithmetic through local
// memory, for tests of everything else.
#include <clcook/halo.clh>

#ifndef CLCOOK_BYTES_PIECES
#define CLCOOK_BYTES_PIECES 2
#endif
#define PIECES CLCOOK_BYTES_PIECES
#define PAD (8 * (PIECES - 1))

#ifndef CLCOOK_BYTES_WARPS
#define CLCOOK_BYTES_WARPS 4
#endif
#define WARPS CLCOOK_BYTES_WARPS
#define ITEMS (32 * WARPS)
#define TASKS (WARPS + PIECES - 1)  // pieces of 16 pixels that a group reads

// Of them warp w loads those from TASK(0) on, ROUNDS of them STRIDE pixels apart. Shared pieces
// are a multiple of WARPS.
#ifdef CLCOOK_BYTES_SHARE
#if TASKS % WARPS != 0
#error "the warps of a group cannot share the pieces evenly"
#endif
#define ROUNDS (TASKS / WARPS)
#define TASK(R) (warp + (R)*WARPS)
#define STRIDE (16 * WARPS)
#else
#define ROUNDS PIECES
#define TASK(R) (warp + (R))
#define STRIDE 16
#endif

#ifdef CLCOOK_BYTES_FINE
#define PARTS 2
#else
#define PARTS 1
#endif
#define CHANNELS (4 / PARTS)  // that are in work at once

#if defined(__NV_CL_C_VERSION) || defined(__NVPTX__)
#define CLCOOK_BYTES_PTX 1
#endif
#define SECOND(K) ((K) + 1 < PIECES ? (K) + 1 : (K))
#ifdef CLCOOK_BYTES_PTX
#define UNROLL 1024
// D = A B + C for the pieces K and K + 1, or for K alone where it is the last.
#define MULTIPLY(D, A, B, B2, C, K)                                                           \
  if ((K) + 1 < PIECES) {                                                                     \
    __asm__ volatile(                                                                         \
        "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}," \
        " {%8, %9}, {%10, %11, %12, %13};"                                                    \
        : "=r"((D)[0]), "=r"((D)[1]), "=r"((D)[2]), "=r"((D)[3])                              \
        : "r"((A)[K].x), "r"((A)[K].y), "r"((A)[SECOND(K)].x), "r"((A)[SECOND(K)].y), "r"(B), \
          "r"(B2), "r"((C)[0]), "r"((C)[1]), "r"((C)[2]), "r"((C)[3]));                       \
  } else {                                                                                    \
    __asm__ volatile(                                                                         \
        "mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6},"   \
        " {%7, %8, %9, %10};"                                                                 \
        : "=r"((D)[0]), "=r"((D)[1]), "=r"((D)[2]), "=r"((D)[3])                              \
        : "r"((A)[K].x), "r"((A)[K].y), "r"(B), "r"((C)[0]), "r"((C)[1]), "r"((C)[2]),        \
          "r"((C)[3]));                                                                       \
  }
// Bytes of A (0 to 3) and B (4 to 7), by the digits of ORDER from the lowest byte on.
#define PICK_BYTES(OUT, A, B, ORDER) \
  __asm__("prmt.b32 %0, %1, %2, %3;" : "=r"(OUT) : "r"(A), "r"(B), "r"(ORDER))
#define IF_FREE(CONDITION) if (CONDITION)
#else
#define UNROLL 1
static inline __attribute__((always_inline)) void multiply(int* d, const int* c, uint2 a, uint2 a2,
                                                           uint b, uint b2, int item,
                                                           __local uint* exchange) {
  const uint mine[6] = {a.x, a.y, a2.x, a2.y, b, b2};
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int r = 0; r < 6; ++r) exchange[6 * item + r] = mine[r];
  barrier(CLK_LOCAL_MEM_FENCE);
  const int warp = item & ~31;
  const int g = item / 4 % 8;
  const int t = item % 4;
  for (int e = 0; e < 4; ++e) {
    d[e] = c[e];
    for (int k = 0; k < 32; ++k) {
      const uint of_a = exchange[6 * (warp + 4 * g + k % 16 / 4) + e / 2 + k / 16 * 2];
      const uint of_b = exchange[6 * (warp + 4 * (2 * t + e % 2) + k % 16 / 4) + 4 + k / 16];
      d[e] += (int)((of_a >> (k % 4 * 8) & 255u) * (of_b >> (k % 4 * 8) & 255u));
    }
  }
}
#define MULTIPLY(D, A, B, B2, C, K)                                            \
  multiply(D, C, (A)[K], (K) + 1 < PIECES ? (A)[SECOND(K)] : (uint2)(0, 0), B, \
           (K) + 1 < PIECES ? (B2) : 0, item, exchange)
#define PICK_BYTES(OUT, A, B, ORDER)                                       \
  OUT = 0;                                                                 \
  for (int n = 0; n < 4; ++n) {                                            \
    const uint from = (uint)(ORDER) >> (4 * n) & 7u;                       \
    OUT |= ((from < 4 ? (A) : (B)) >> (8 * (from % 4)) & 255u) << (8 * n); \
  }
#define IF_FREE(CONDITION)
#endif

// 4 pixels as a register per channel.
static inline void turn(uint4 v, uint* channel) {
  uint a, b, c, d;
  PICK_BYTES(a, v.x, v.y, 0x5140);
  PICK_BYTES(b, v.z, v.w, 0x5140);
  PICK_BYTES(c, v.x, v.y, 0x7362);
  PICK_BYTES(d, v.z, v.w, 0x7362);
  PICK_BYTES(channel[0], a, b, 0x5410);
  PICK_BYTES(channel[1], a, b, 0x7632);
  PICK_BYTES(channel[2], c, d, 0x5410);
  PICK_BYTES(channel[3], c, d, 0x7632);
}

// Where a row of the source begins; pixels of what lies outside are at `beyond`.
#ifdef CLCOOK_BYTES_CONSTANT
#define PLACE(INSIDE, FROM) ((INSIDE) ? (FROM) : beyond)
#else
#define PLACE(INSIDE, FROM) (FROM)
#endif
// The chunk of 8 rows from Y rows behind `begin` on. Loads do not stand behind jumps: the compiler
// would wait for them.
#define LOAD(CHUNK, Y)                                                                    \
  {                                                                                       \
    const int row = clcook_border(region_y + begin + (Y) + g, height, border);            \
    __global const uint* line = src + (ulong)max(row, 0) * src_pitch;                     \
    _Pragma("unroll UNROLL") for (int r = 0; r < ROUNDS; ++r) {                           \
      if (direct) {                                                                       \
        in[CHUNK][r] = *(__global const uint4*)PLACE(                                     \
            row >= 0,                                                                     \
            line + (long)(region_x + group_x - PAD + 16 * TASK(0) + 4 * t) + STRIDE * r); \
      } else {                                                                            \
        const int4 c = columns[4 * TASK(r) + t];                                          \
        in[CHUNK][r].x = *PLACE(row >= 0 && c.x >= 0, line + c.x);                        \
        in[CHUNK][r].y = *PLACE(row >= 0 && c.y >= 0, line + c.y);                        \
        in[CHUNK][r].z = *PLACE(row >= 0 && c.z >= 0, line + c.z);                        \
        in[CHUNK][r].w = *PLACE(row >= 0 && c.w >= 0, line + c.w);                        \
      }                                                                                   \
    }                                                                                     \
  }

// The warps of a group go down the rows from `begin` to `end`. `direct`: what they read are 4
// pixels of the source next to each other, aligned.
static inline __attribute__((always_inline)) void go_down(
    const int direct, __global const uint* src, ulong src_pitch, __global uint* dst,
    ulong dst_pitch, int whole, int height, int region_x, int region_y, int region_width,
    int group_x, int begin, int end, __global const uint2* weights, int border, int unit_x,
    int spread, int shift_x, uint order_x, int round_y, int shift_y, uint order_y,
    __local const int4* columns, __local uint4* stage, __local uint* exchange) {
  const int item = (int)get_local_id(0);
  const int warp = item / 32;
  const int lane = item % 32;
  const int g = lane / 4;
  const int t = lane % 4;
  const int x0 = group_x + warp * 16 + 4 * t;

  // [axis][part][piece]
  uint2 a[2][PARTS][PIECES];
#pragma unroll UNROLL
  for (int k = 0; k < 2 * PARTS * PIECES; ++k)
    a[k / (PARTS * PIECES)][k / PIECES % PARTS][k % PIECES] = weights[32 * k + lane];
#ifdef CLCOOK_BYTES_CONSTANT
  __global const uint* beyond = (__global const uint*)(weights + 64 * PARTS * PIECES);
#endif

  const int zero[4] = {0, 0, 0, 0};
  const int start_y[4] = {round_y, round_y, round_y, round_y};
#ifdef CLCOOK_BYTES_FINE
  const int start_x[2][4] = {{128, 128, 128, 128}, {128, 128, 128, 128}};
#else
  // Rows next to each other are rounded at different places, so that where a picture is smooth the
  // errors of 16 rows cancel out.
  int start_x[2][4];
#pragma unroll UNROLL
  for (int k = 0; k < 8; ++k) {
    const int row = (region_y - PAD + k / 4 * 8 + 2 * t + k % 2) & 15;
    const int order = (row & 1) * 8 + (row & 2) * 2 + (row & 4) / 2 + (row & 8) / 8;
    start_x[k / 4][k % 4] = unit_x * (spread != 0 ? 2 * order + 1 : 16) >> 5;
  }
#endif

  // The blurred rows, 16 per piece: for pixels g and g + 8 and each channel.
  uint ring[PARTS][PIECES][2][4];
#pragma unroll UNROLL
  for (int k = 0; k < PARTS * PIECES * 8; ++k)
    ring[k / (PIECES * 8)][k / 8 % PIECES][k / 4 % 2][k % 4] = 0;

  // A step blurs 16 rows by rows; from the step 0 on there is what 16 results need.
  const int first = -2 * PAD;
  uint4 in[2][ROUNDS];
  LOAD(0, first + PAD);
  LOAD(1, first + PAD + 8);
#ifdef CLCOOK_BYTES_SHARE
#define STAGED(BUFFER, CHUNK, TASK) ((((BUFFER)*2 + (CHUNK)) * TASKS + (TASK)) * 32 + lane)
#define PUT(BUFFER)                                                                        \
  _Pragma("unroll UNROLL") for (int k = 0; k < 2 * ROUNDS; ++k) {                          \
    uint c[4];                                                                             \
    turn(in[k / ROUNDS][k % ROUNDS], c);                                                   \
    stage[STAGED(BUFFER, k / ROUNDS, TASK(k % ROUNDS))] = (uint4)(c[0], c[1], c[2], c[3]); \
  }
  int now = 0;
  PUT(0);
  LOAD(0, first + PAD + 16);
  LOAD(1, first + PAD + 24);
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  for (int y = first; y < end - begin; y += 16) {
#pragma unroll UNROLL
    for (int k = 0; k < PARTS * (PIECES - 1) * 8; ++k) {
      const int part = k / ((PIECES - 1) * 8);
      const int piece = k / 8 % (PIECES - 1);
      ring[part][piece][k / 4 % 2][k % 4] = ring[part][piece + 1][k / 4 % 2][k % 4];
    }
#ifdef CLCOOK_BYTES_SHARE
    PUT(1 - now);
    LOAD(0, y + PAD + 32);
    LOAD(1, y + PAD + 40);
#endif
    uint pair[2][2][4];  // [chunk][pixel][channel]
#pragma unroll UNROLL
    for (int h = 0; h < 2; ++h) {
      uint b[PIECES][4];
#pragma unroll UNROLL
      for (int k = 0; k < PIECES; ++k) {
#ifdef CLCOOK_BYTES_SHARE
        const uint4 v = stage[STAGED(now, h, warp + k)];
        b[k][0] = v.x;
        b[k][1] = v.y;
        b[k][2] = v.z;
        b[k][3] = v.w;
#else
        turn(in[h][k], b[k]);
#endif
      }
#ifndef CLCOOK_BYTES_SHARE
      LOAD(h, y + PAD + 16 + 8 * h);
#endif
#pragma unroll UNROLL
      for (int c0 = 0; c0 < 4; c0 += CHANNELS) {
        int sum[PARTS][CHANNELS][4];
#pragma unroll UNROLL
        for (int k = 0; k < PIECES; k += 2) {
#pragma unroll UNROLL
          for (int n = 0; n < 4; ++n) {
            const int part = n / CHANNELS;
            const int c = n % CHANNELS;
            const int* begins = k > 0 ? sum[part][c] : part < PARTS - 1 ? zero : start_x[h];
            MULTIPLY(sum[part][c], a[0][part], b[k][c0 + c], b[SECOND(k)][c0 + c], begins, k);
          }
        }
#pragma unroll UNROLL
        for (int n = 0; n < 2 * CHANNELS; ++n) {
          const int c = n / 2;
          const int i = n % 2;
          int p = sum[PARTS - 1][c][2 * i];
          int q = sum[PARTS - 1][c][2 * i + 1];
#ifdef CLCOOK_BYTES_FINE
          p += 256 * sum[0][c][2 * i];
          q += 256 * sum[0][c][2 * i + 1];
#endif
          PICK_BYTES(pair[h][i][c0 + c], (uint)p, (uint)q, order_x);
          if (PARTS == 1) pair[h][i][c0 + c] >>= shift_x;
        }
      }
    }
#ifdef CLCOOK_BYTES_SHARE
    barrier(CLK_LOCAL_MEM_FENCE);
    now = 1 - now;
#endif
#pragma unroll UNROLL
    for (int k = 0; k < 8; ++k) {
      const int i = k / 4;
      const int c = k % 4;
      PICK_BYTES(ring[PARTS - 1][PIECES - 1][i][c], pair[0][i][c], pair[1][i][c], 0x6420);
#ifdef CLCOOK_BYTES_FINE
      PICK_BYTES(ring[0][PIECES - 1][i][c], pair[0][i][c], pair[1][i][c], 0x7531);
#endif
    }
    IF_FREE(y >= 0) {
      uint word[2][4];  // [row][pixel]
#pragma unroll UNROLL
      for (int i = 0; i < 2; ++i) {
        uint half_word[2][4];  // [channels][element]
#pragma unroll UNROLL
        for (int c0 = 0; c0 < 4; c0 += CHANNELS) {
          int sum[PARTS][CHANNELS][4];
#pragma unroll UNROLL
          for (int k = 0; k < PIECES; k += 2) {
#pragma unroll UNROLL
            for (int n = 0; n < 4; ++n) {
              const int part = n / CHANNELS;
              const int c = n % CHANNELS;
              const int* begins = k > 0 ? sum[part][c] : part < PARTS - 1 ? zero : start_y;
              MULTIPLY(sum[part][c], a[1][part], ring[0][k][i][c0 + c],
                       ring[0][SECOND(k)][i][c0 + c], begins, k);
            }
#ifdef CLCOOK_BYTES_FINE
#pragma unroll UNROLL
            for (int c = 0; c < CHANNELS; ++c)
              MULTIPLY(sum[1][c], a[1][0], ring[1][k][i][c0 + c], ring[1][SECOND(k)][i][c0 + c],
                       sum[1][c], k);
#endif
          }
#pragma unroll UNROLL
          for (int n = 0; n < 2 * CHANNELS; ++n) {
            const int c = n / 4 * 2;
            const int e = n % 4;
            int p = sum[PARTS - 1][c][e];
            int q = sum[PARTS - 1][c + 1][e];
#ifdef CLCOOK_BYTES_FINE
            p += 256 * sum[0][c][e];
            q += 256 * sum[0][c + 1][e];
#endif
            PICK_BYTES(half_word[(c0 + c) / 2][e], (uint)p, (uint)q, order_y);
            if (PARTS == 1) half_word[(c0 + c) / 2][e] >>= shift_y;
          }
        }
#pragma unroll UNROLL
        for (int e = 0; e < 4; ++e) {
          PICK_BYTES(word[e / 2][2 * i + e % 2], half_word[0][e], half_word[1][e],
                     PARTS == 1 ? 0x6420 : 0x7531);
        }
      }
#pragma unroll UNROLL
      for (int e = 0; e < 2; ++e) {
        const int at = begin + y + g + 8 * e;
        __global uint* out = dst + (ulong)max(at, 0) * dst_pitch + (ulong)x0;
        if (at >= begin && at < end) {
          if ((whole & 2) != 0 && x0 + 3 < region_width) {
            *(__global uint4*)out = (uint4)(word[e][0], word[e][1], word[e][2], word[e][3]);
          } else {
#pragma unroll UNROLL
            for (int j = 0; j < 4; ++j) {
              if (x0 + j < region_width) out[j] = word[e][j];
            }
          }
        }
      }
    }
  }
}

// Groups: strips of 16 WARPS pixels x segments of `segment` rows, a multiple of 16, x pictures.
// Offsets and pitches in pixels. `whole`: whether the fours of pixels of src (1) and dst (2) that a
// lane reads and writes are aligned. `unit_x`: what 1 is in the rows' sums, or 256 for fine
// weights.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void gaussian_blur_tensor_bytes(
    __global const uint* restrict src, ulong src_offset, ulong src_pitch,
    __global uint* restrict dst, ulong dst_offset, ulong dst_pitch, int whole, int width,
    int height, int region_x, int region_y, int region_width, int region_height, int segment,
    __global const uint2* restrict weights, int border, int unit_x, int spread, int shift_x,
    uint order_x, int round_y, int shift_y, uint order_y) {
#ifdef CLCOOK_BYTES_PTX
  __local uint* exchange = 0;
#else
  __local uint exchange[6 * ITEMS];
#endif
#ifdef CLCOOK_BYTES_SHARE
  // Blurred by rows next: [buffer][chunk][piece][lane], the 4 channels.
  __local uint4 stage[4 * TASKS * 32];
#else
  __local uint4* stage = 0;
#endif
  // The columns of the source that the group's pixels are.
  __local int4 columns[4 * TASKS];
  const int group_x = (int)get_group_id(0) * WARPS * 16;
  const int left = region_x + group_x - PAD;
  for (int k = (int)get_local_id(0); k < 16 * TASKS; k += ITEMS)
    ((__local int*)columns)[k] = clcook_border(left + k, width, border);
  barrier(CLK_LOCAL_MEM_FENCE);

  const int begin = (int)get_group_id(1) * segment;
  const int end = min(begin + segment, region_height);
  src += src_offset + (ulong)get_group_id(2) * (ulong)height * src_pitch;
  dst += dst_offset + (ulong)get_group_id(2) * (ulong)region_height * dst_pitch;
  const int direct = (whole & 1) != 0 && left >= 0 && left + 16 * TASKS <= width;
#define GO_DOWN(DIRECT)                                                                            \
  go_down(DIRECT, src, src_pitch, dst, dst_pitch, whole, height, region_x, region_y, region_width, \
          group_x, begin, end, weights, border, unit_x, spread, shift_x, order_x, round_y,         \
          shift_y, order_y, columns, stage, exchange)
#ifdef CLCOOK_BYTES_PTX
  if (direct) {
    GO_DOWN(1);
  } else {
    GO_DOWN(0);
  }
#else
  GO_DOWN(direct);
#endif
}
