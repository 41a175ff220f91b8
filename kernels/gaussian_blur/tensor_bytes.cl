// The Gaussian blur of byte pictures as products of matrices of bytes: rows and columns in one
// launch, on the matrix units of NVIDIA GPUs (mma.sync, compute capability 8.0). Pixels have 4
// channels.
//
// A warp makes a strip of 16 pixels x 16 rows per step and goes down the picture. With D = A B + C,
// where A is 16 x 16 or 16 x 32 bytes, B is 16 x 8 or 32 x 8 bytes and D 16 x 8 integers:
//   rows     A: the band of the weights, 16 results x 16 pixels; B: 16 pixels x 8 rows, one channel
//   columns  A: the band of the weights, 16 results x 16 rows; B: 16 rows x 8 pixels, one channel
// Which lane of the 32 holds what, with g = lane / 4 down and t = lane % 4 across, four elements of
// A and B in the bytes of a register, two of D in two:
//
//      A       k = 0..3  4..7  8..11 12..15 | 16..19        B       n = 0  1  ...  7
//   row 0       L0    L1    L2    L3        | L0            k 0..3    L0  L4 ... L28
//   row 1       L4    L5    L6    L7        | L4            k 4..7    L1  L5 ... L29
//    ...                 a.x                | a2.x          k 8..11   L2  L6            b
//   row 7       L28   L29   L30   L31       | L28           k 12..15  L3  L7
//   ----------------------------------------+-------        -------------------------------
//   row 8       L0    ...   a.y             | L0  a2.y      k 16..19  L0  L4            b2
//
//      D       n = 0 1  2 3  4 5  6 7
//   row 0       L0   L1   L2   L3      d[0], d[1]
//   row 8       L0   L1   L2   L3      d[2], d[3]
//
// The D of the rows of two chunks of 8, rounded to bytes, are the B of the columns without a
// shuffle: slot 4t + j is the row 2t + j of the first chunk, slot 4t + 2 + j that of the second.
// And where the result 2t + j + 8i of the rows is the pixel 4t + j + 2i, a lane has 4 pixels next
// to each other in the end. The weights on the host are in that order.
//
// Weights are whole numbers with the sum 2^shift. With CLCOOK_BYTES_FINE weights and blurred rows
// have 16 bits in two bytes each, and the weights' sum is 2^16; of the columns' four products that
// of the two low bytes is left out, `of_columns` has its mean. With CLCOOK_BYTES_CARRY weights have
// 16 bits and blurred rows one byte. What the rounding of a row leaves is added to the next row
// that the lane has: 2t to 2t + 1, that to 2t of the next chunk. So the errors of a lane's rows add
// up to less than one of them, and where the weights of the columns hardly change from row to row,
// next to nothing is left.
//
// The radius is at most PAD, a multiple of 8. PIECES times 16 blurred rows stay in registers: what
// 16 results of the columns need. With CLCOOK_BYTES_SHARE the warps of a group share the pixels, a
// register per channel, in local memory; else each loads what it needs.
//
// Compilers for other devices than NVIDIA's make a product of ordinary arithmetic through local
// memory, for tests of everything else.
#include <clcook/halo.clh>
#include <clcook/view.clh>

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

// Of them a warp loads those from task_of(warp, 0) on, ROUNDS of them STRIDE pixels apart. Shared
// pieces are a multiple of WARPS.
#ifdef CLCOOK_BYTES_SHARE
#if TASKS % WARPS != 0
#error "the warps of a group cannot share the pieces evenly"
#endif
#define ROUNDS (TASKS / WARPS)
#define STRIDE (16 * WARPS)
#else
#define ROUNDS PIECES
#define STRIDE 16
#endif

// Bytes of a weight and of a blurred row.
#if defined(CLCOOK_BYTES_FINE)
#define PARTS 2
#define ROW_PARTS 2
#elif defined(CLCOOK_BYTES_CARRY)
#define PARTS 2
#define ROW_PARTS 1
#else
#define PARTS 1
#define ROW_PARTS 1
#endif
#define AT_ONCE (4 / PARTS)  // channels that are in work

#if defined(__NV_CL_C_VERSION) || defined(__NVPTX__)
#define CLCOOK_BYTES_PTX 1
#endif
#define INLINE static inline __attribute__((always_inline))

// The piece of the group that a warp loads in a round.
INLINE int task_of(int warp, int round) { return warp + round * (STRIDE / 16); }

// The piece whose products are made together with those of the piece k; k itself where it is last.
INLINE int second_piece(int k) { return k + 1 < PIECES ? k + 1 : k; }

#ifdef CLCOOK_BYTES_PTX
#define UNROLL 1024
#define TENSOR_IF_FREE(CONDITION) if (CONDITION)
#else
#define UNROLL 1
#define TENSOR_IF_FREE(CONDITION)
#endif

// D = A B + C for the pieces k and k + 1, or for k alone where it is the last. Off NVIDIA's GPUs
// all items of the group must come here.
//   d, c    int[4]           16 results x 8
//   a, a2   8 bytes each     16 results x 16 inputs of a piece
//   b, b2   4 bytes each     16 inputs x 8
INLINE void multiply(int* d, const int* c, uint2 a, uint2 a2, uint b, uint b2, int k, int item,
                     __local uint* exchange) {
#ifdef CLCOOK_BYTES_PTX
  if (k + 1 < PIECES) {
    __asm__ volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7},"
        " {%8, %9}, {%10, %11, %12, %13};"
        : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
        : "r"(a.x), "r"(a.y), "r"(a2.x), "r"(a2.y), "r"(b), "r"(b2), "r"(c[0]), "r"(c[1]),
          "r"(c[2]), "r"(c[3]));
  } else {
    __asm__ volatile(
        "mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6},"
        " {%7, %8, %9, %10};"
        : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
        : "r"(a.x), "r"(a.y), "r"(b), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
  }
#else
  const bool both = k + 1 < PIECES;
  const uint mine[6] = {a.x, a.y, both ? a2.x : 0, both ? a2.y : 0, b, both ? b2 : 0};
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int r = 0; r < 6; ++r) exchange[6 * item + r] = mine[r];
  barrier(CLK_LOCAL_MEM_FENCE);
  const int warp = item & ~31;
  const int g = item / 4 % 8;
  const int t = item % 4;
  for (int e = 0; e < 4; ++e) {
    d[e] = c[e];
    for (int n = 0; n < 32; ++n) {
      const uint of_a = exchange[6 * (warp + 4 * g + n % 16 / 4) + e / 2 + n / 16 * 2];
      const uint of_b = exchange[6 * (warp + 4 * (2 * t + e % 2) + n % 16 / 4) + 4 + n / 16];
      d[e] += (int)((of_a >> (n % 4 * 8) & 255u) * (of_b >> (n % 4 * 8) & 255u));
    }
  }
#endif
}

// Bytes of a (0 to 3) and b (4 to 7), by the digits of `order` from the lowest byte on.
INLINE uint pick_bytes(uint a, uint b, uint order) {
#ifdef CLCOOK_BYTES_PTX
  uint out;
  __asm__("prmt.b32 %0, %1, %2, %3;" : "=r"(out) : "r"(a), "r"(b), "r"(order));
  return out;
#else
  uint out = 0;
  for (int n = 0; n < 4; ++n) {
    const uint from = order >> (4 * n) & 7u;
    out |= ((from < 4 ? a : b) >> (8 * (from % 4)) & 255u) << (8 * n);
  }
  return out;
#endif
}

// How the sums of an axis become bytes.
typedef struct {
  int unit;    // what 1 is in the sums; of fine weights, what it is in those of the high bytes
  int middle;  // half of a unit, and of fine weights the mean of what is left out
  int shift;   // the result is from this bit on
  uint order;  // in the bytes that this picks of two sums
} rounding_t;

// 4 pixels as a register per channel.
INLINE void turn(uint4 v, uint* channel) {
  const uint a = pick_bytes(v.x, v.y, 0x5140);
  const uint b = pick_bytes(v.z, v.w, 0x5140);
  const uint c = pick_bytes(v.x, v.y, 0x7362);
  const uint d = pick_bytes(v.z, v.w, 0x7362);
  channel[0] = pick_bytes(a, b, 0x5410);
  channel[1] = pick_bytes(a, b, 0x7632);
  channel[2] = pick_bytes(c, d, 0x5410);
  channel[3] = pick_bytes(c, d, 0x7632);
}

// Where to read a pixel of the source: pixels of what lies outside are at `beyond`.
INLINE __global const uint* source_pixel(bool inside, __global const uint* from,
                                         __global const uint* beyond) {
#ifdef CLCOOK_BYTES_CONSTANT
  return inside ? from : beyond;
#else
  return from;
#endif
}

// What a group reads.
typedef struct {
  __global const uint* src;
  ulong pitch;
  int height;
  int border;
  int left;    // column of the group's first pixel
  int direct;  // whether what lanes read are 4 pixels of the source next to each other, aligned
  __local const int4* columns;  // else the columns of the group's pixels, -1 outside
  __global const uint* beyond;  // 4 pixels of what lies outside
} source_t;

// The fours of pixels of a lane, of each round, in row g of the chunk of 8 rows from row `top` of
// the picture on. Loads do not stand behind jumps: the compiler would wait for them.
INLINE void load_chunk(uint4* in, const source_t* from, int top, int warp, int g, int t) {
  const int row = clcook_border(top + g, from->height, from->border);
  __global const uint* line = from->src + (ulong)max(row, 0) * from->pitch;
  const long left = (long)(from->left + 16 * task_of(warp, 0) + 4 * t);
#pragma unroll UNROLL
  for (int r = 0; r < ROUNDS; ++r) {
    if (from->direct) {
      in[r] =
          *(__global const uint4*)source_pixel(row >= 0, line + left + STRIDE * r, from->beyond);
    } else {
      const int4 c = from->columns[4 * task_of(warp, r) + t];
      in[r].x = *source_pixel(row >= 0 && c.x >= 0, line + c.x, from->beyond);
      in[r].y = *source_pixel(row >= 0 && c.y >= 0, line + c.y, from->beyond);
      in[r].z = *source_pixel(row >= 0 && c.z >= 0, line + c.z, from->beyond);
      in[r].w = *source_pixel(row >= 0 && c.w >= 0, line + c.w, from->beyond);
    }
  }
}

#ifdef CLCOOK_BYTES_SHARE
// Where the registers of a piece lie in the stage: [buffer][chunk][piece][lane].
INLINE int staged(int buffer, int chunk, int task) {
  return ((buffer * 2 + chunk) * TASKS + task) * 32;
}

// What was loaded, as a register per channel, into a buffer of the stage.
INLINE void put_stage(__local uint4* stage, int buffer, uint4 (*in)[ROUNDS], int warp, int lane) {
#pragma unroll UNROLL
  for (int k = 0; k < 2 * ROUNDS; ++k) {
    uint c[4];
    turn(in[k / ROUNDS][k % ROUNDS], c);
    stage[staged(buffer, k / ROUNDS, task_of(warp, k % ROUNDS)) + lane] =
        (uint4)(c[0], c[1], c[2], c[3]);
  }
}
#endif

// The warps of a group go down the rows from `begin` to `end`.
INLINE void go_down(const source_t from, __global uint* dst, ulong dst_pitch, int whole,
                    const clcook_region region, int group_x, int begin, int end,
                    __global const uint2* weights, const rounding_t of_rows, int spread,
                    const rounding_t of_columns, __local uint4* stage, __local uint* exchange) {
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

  const int zero[4] = {0, 0, 0, 0};
  const int start_y[4] = {of_columns.middle, of_columns.middle, of_columns.middle,
                          of_columns.middle};
#if defined(CLCOOK_BYTES_FINE)
  const int start_x[2][4] = {{128, 128, 128, 128}, {128, 128, 128, 128}};
#elif defined(CLCOOK_BYTES_CARRY)
  const int start_x[2][4] = {{0, 0, 0, 0}, {0, 0, 0, 0}};
  int carry[2][4];  // for pixels g and g + 8 and each channel: what is left, and half a unit
#pragma unroll UNROLL
  for (int k = 0; k < 8; ++k) carry[k / 4][k % 4] = of_rows.middle;
#else
  // Rows next to each other are rounded at different places, so that where a picture is smooth the
  // errors of 16 rows cancel out.
  int start_x[2][4];
#pragma unroll UNROLL
  for (int k = 0; k < 8; ++k) {
    const int row = (region.y - PAD + k / 4 * 8 + 2 * t + k % 2) & 15;
    const int order = (row & 1) * 8 + (row & 2) * 2 + (row & 4) / 2 + (row & 8) / 8;
    start_x[k / 4][k % 4] = of_rows.unit * (spread != 0 ? 2 * order + 1 : 16) >> 5;
  }
#endif

  // The blurred rows, 16 per piece: for pixels g and g + 8 and each channel.
  uint ring[ROW_PARTS][PIECES][2][4];
#pragma unroll UNROLL
  for (int k = 0; k < ROW_PARTS * PIECES * 8; ++k)
    ring[k / (PIECES * 8)][k / 8 % PIECES][k / 4 % 2][k % 4] = 0;

  // A step blurs 16 rows by rows; from the step 0 on there is what 16 results need.
  const int first = -2 * PAD;
  uint4 in[2][ROUNDS];
  const int top = region.y + begin + PAD;
  load_chunk(in[0], &from, top + first, warp, g, t);
  load_chunk(in[1], &from, top + first + 8, warp, g, t);
#ifdef CLCOOK_BYTES_SHARE
  int now = 0;
  put_stage(stage, 0, in, warp, lane);
  load_chunk(in[0], &from, top + first + 16, warp, g, t);
  load_chunk(in[1], &from, top + first + 24, warp, g, t);
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  for (int y = first; y < end - begin; y += 16) {
#pragma unroll UNROLL
    for (int k = 0; k < ROW_PARTS * (PIECES - 1) * 8; ++k) {
      const int part = k / ((PIECES - 1) * 8);
      const int piece = k / 8 % (PIECES - 1);
      ring[part][piece][k / 4 % 2][k % 4] = ring[part][piece + 1][k / 4 % 2][k % 4];
    }
#ifdef CLCOOK_BYTES_SHARE
    put_stage(stage, 1 - now, in, warp, lane);
    load_chunk(in[0], &from, top + y + 32, warp, g, t);
    load_chunk(in[1], &from, top + y + 40, warp, g, t);
#endif
    uint pair[2][2][4];  // [chunk][pixel][channel]
#pragma unroll UNROLL
    for (int h = 0; h < 2; ++h) {
      uint b[PIECES][4];
#pragma unroll UNROLL
      for (int k = 0; k < PIECES; ++k) {
#ifdef CLCOOK_BYTES_SHARE
        const uint4 v = stage[staged(now, h, warp + k) + lane];
        b[k][0] = v.x;
        b[k][1] = v.y;
        b[k][2] = v.z;
        b[k][3] = v.w;
#else
        turn(in[h][k], b[k]);
#endif
      }
#ifndef CLCOOK_BYTES_SHARE
      load_chunk(in[h], &from, top + y + 16 + 8 * h, warp, g, t);
#endif
#pragma unroll UNROLL
      for (int c0 = 0; c0 < 4; c0 += AT_ONCE) {
        int sum[PARTS][AT_ONCE][4];  // 16 results x 8
#pragma unroll UNROLL
        for (int k = 0; k < PIECES; k += 2) {
          const int l = second_piece(k);
#pragma unroll UNROLL
          for (int n = 0; n < 4; ++n) {
            const int part = n / AT_ONCE;
            const int c = n % AT_ONCE;
            const int* begins = k > 0 ? sum[part][c] : part < PARTS - 1 ? zero : start_x[h];
            multiply(sum[part][c], begins, a[0][part][k], a[0][part][l], b[k][c0 + c], b[l][c0 + c],
                     k, item, exchange);
          }
        }
#pragma unroll UNROLL
        for (int n = 0; n < 2 * AT_ONCE; ++n) {
          const int c = n / 2;
          const int i = n % 2;
          int p = sum[PARTS - 1][c][2 * i];
          int q = sum[PARTS - 1][c][2 * i + 1];
          if (PARTS == 2) {
            p += 256 * sum[0][c][2 * i];
            q += 256 * sum[0][c][2 * i + 1];
          }
#ifdef CLCOOK_BYTES_CARRY
          const int fraction = of_rows.unit - 1;
          p += carry[i][c0 + c];
          q += spread != 0 ? p & fraction : of_rows.middle;
          carry[i][c0 + c] = spread != 0 ? q & fraction : of_rows.middle;
#endif
          pair[h][i][c0 + c] = pick_bytes((uint)p, (uint)q, of_rows.order);
          if (ROW_PARTS == 1) pair[h][i][c0 + c] >>= of_rows.shift;
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
      ring[ROW_PARTS - 1][PIECES - 1][i][c] = pick_bytes(pair[0][i][c], pair[1][i][c], 0x6420);
#ifdef CLCOOK_BYTES_FINE
      ring[0][PIECES - 1][i][c] = pick_bytes(pair[0][i][c], pair[1][i][c], 0x7531);
#endif
    }
    TENSOR_IF_FREE(y >= 0) {
      uint word[2][4];  // [row][pixel]
#pragma unroll UNROLL
      for (int i = 0; i < 2; ++i) {
        uint half_word[2][4];  // [channels][element]
#pragma unroll UNROLL
        for (int c0 = 0; c0 < 4; c0 += AT_ONCE) {
          int sum[PARTS][AT_ONCE][4];  // 16 results x 8
#pragma unroll UNROLL
          for (int k = 0; k < PIECES; k += 2) {
            const int l = second_piece(k);
#pragma unroll UNROLL
            for (int n = 0; n < 4; ++n) {
              const int part = n / AT_ONCE;
              const int c = n % AT_ONCE;
              const int* begins = k > 0 ? sum[part][c] : part < PARTS - 1 ? zero : start_y;
              multiply(sum[part][c], begins, a[1][part][k], a[1][part][l], ring[0][k][i][c0 + c],
                       ring[0][l][i][c0 + c], k, item, exchange);
            }
#ifdef CLCOOK_BYTES_FINE
#pragma unroll UNROLL
            for (int c = 0; c < AT_ONCE; ++c)
              multiply(sum[1][c], sum[1][c], a[1][0][k], a[1][0][l], ring[1][k][i][c0 + c],
                       ring[1][l][i][c0 + c], k, item, exchange);
#endif
          }
#pragma unroll UNROLL
          for (int n = 0; n < 2 * AT_ONCE; ++n) {
            const int c = n / 4 * 2;
            const int e = n % 4;
            int p = sum[PARTS - 1][c][e];
            int q = sum[PARTS - 1][c + 1][e];
            if (PARTS == 2) {
              p += 256 * sum[0][c][e];
              q += 256 * sum[0][c + 1][e];
            }
            half_word[(c0 + c) / 2][e] = pick_bytes((uint)p, (uint)q, of_columns.order);
            if (ROW_PARTS == 1) half_word[(c0 + c) / 2][e] >>= of_columns.shift;
          }
        }
#pragma unroll UNROLL
        for (int e = 0; e < 4; ++e) {
          word[e / 2][2 * i + e % 2] =
              pick_bytes(half_word[0][e], half_word[1][e], ROW_PARTS == 1 ? 0x6420 : 0x7531);
        }
      }
#pragma unroll UNROLL
      for (int e = 0; e < 2; ++e) {
        const int at = begin + y + g + 8 * e;
        __global uint* out = dst + (ulong)max(at, 0) * dst_pitch + (ulong)x0;
        if (at >= begin && at < end) {
          if ((whole & 2) != 0 && x0 + 3 < region.width) {
            *(__global uint4*)out = (uint4)(word[e][0], word[e][1], word[e][2], word[e][3]);
          } else {
#pragma unroll UNROLL
            for (int j = 0; j < 4; ++j) {
              if (x0 + j < region.width) out[j] = word[e][j];
            }
          }
        }
      }
    }
  }
}

// The columns of the source that the group's pixels are. All items come here. Groups of one warp do
// so at an edge alone; with 9 taps, in groups of four, that took 7 % longer than a table in each.
INLINE void fill_columns(__local int4* columns, int left, int width, int border) {
  for (int k = (int)get_local_id(0); k < 16 * TASKS; k += ITEMS)
    ((__local int*)columns)[k] = clcook_border(left + k, width, border);
  barrier(CLK_LOCAL_MEM_FENCE);
}

// Groups: strips of 16 WARPS pixels x segments of `segment` rows, a multiple of 16, x pictures.
// Views count pixels. `whole`: whether the fours of pixels of src (1) and dst (2) that a lane reads
// and writes are aligned. `spread`: rows are rounded at different places, or what their rounding
// leaves is carried on; not where they are the result.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void gaussian_blur_tensor_bytes(
    __global const uint* restrict src, clcook_view src_view, __global uint* restrict dst,
    clcook_view dst_view, int whole, clcook_picture picture, int segment,
    __global const uint2* restrict weights, rounding_t of_rows, int spread, rounding_t of_columns) {
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
  __local int4 columns[4 * TASKS];
  const int group_x = (int)get_group_id(0) * WARPS * 16;
  const int left = picture.region.x + group_x - PAD;
#if WARPS > 1
  fill_columns(columns, left, picture.width, picture.border);
#endif

  const int begin = (int)get_group_id(1) * segment;
  const int end = min(begin + segment, picture.region.height);
  src += clcook_view_row(src_view, (int)get_group_id(2), picture.height, 0);
  dst += clcook_view_row(dst_view, (int)get_group_id(2), picture.region.height, 0);
  source_t from = {src,
                   src_view.pitch,
                   picture.height,
                   picture.border,
                   left,
                   (whole & 1) != 0 && left >= 0 && left + 16 * TASKS <= picture.width,
                   columns,
                   (__global const uint*)(weights + 64 * PARTS * PIECES)};
#ifdef CLCOOK_BYTES_PTX
  if (from.direct) {
    from.direct = 1;  // for the compiler
    go_down(from, dst, dst_view.pitch, whole, picture.region, group_x, begin, end, weights, of_rows,
            spread, of_columns, stage, exchange);
    return;
  }
  from.direct = 0;
#endif
#if WARPS == 1
  fill_columns(columns, left, picture.width, picture.border);
#endif
  go_down(from, dst, dst_view.pitch, whole, picture.region, group_x, begin, end, weights, of_rows,
          spread, of_columns, stage, exchange);
}
