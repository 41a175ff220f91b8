// The Gaussian blur as products of matrices: rows and columns in one launch, on the matrix units of
// NVIDIA GPUs (mma.sync, compute capability 8.0). Pixels have 4 channels.
//
// A warp makes a strip of 16 pixels x 16 rows per step and goes down the picture. In the products D
// += A B of tensor.clh is
//   rows     A: the band of the weights, 16 results x 16 pixels; B: 16 pixels x 8 rows, one channel
//   columns  A: the band of the weights, 16 results x 16 rows; B: 16 rows x 8 pixels, one channel
// With g = lane / 4 and t = lane % 4, a lane has of a D the results g and g + 8 for 2t and 2t + 1,
// and of a B the inputs 2t, 2t + 1, 2t + 8 and 2t + 9 for g.
// So the D of the rows, rounded to halves, is the B of the columns without a shuffle. The pixels
// that the 16 places of the rows' A and B and the results' D stand for may be in any order: slot 2t
// + j + 8i is the pixel PLACE(j, t) + 8i, such that lanes with consecutive t read and write
// consecutive memory.
//
// The radius is at most PAD, a multiple of 4. CHUNKS times 8 blurred rows stay in registers: what
// 16 results of the columns need. The warps of a group share the pixels, as halves, in local
// memory. Weights are data: `weights` holds the four registers of A of each lane for each 16 pixels
// of the rows' band, then for each 16 rows of the columns' band, and with CLCOOK_TENSOR_SPLIT after
// each of the two what their halves lack. Pixels are then split into two halves as well, and three
// products made.
#include <clcook/halo.clh>
#include <clcook/tensor.clh>

#ifndef CLCOOK_TENSOR_CHUNKS
#define CLCOOK_TENSOR_CHUNKS 4
#endif
#define CHUNKS CLCOOK_TENSOR_CHUNKS
#define PAD (4 * (CHUNKS - 2))
#define PRODUCTS (CHUNKS / 2)  // of 16 pixels; and one of 8 where CHUNKS is odd
#define ODD (CHUNKS % 2)
#define PIECES (PRODUCTS + ODD)
#define SECOND(K) (2 * (K) + ((K) < PRODUCTS))  // chunk of the piece K, the first where it has one

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
#ifdef CLCOOK_TENSOR_PTX
// D += A B for the piece K; of the last one half is empty where CHUNKS is odd.
#define MULTIPLY(D, A, B0, B1, K)   \
  if ((K) < PRODUCTS) {             \
    CLCOOK_TENSOR_16(D, A, B0, B1); \
  } else {                          \
    CLCOOK_TENSOR_8(D, A, B0);      \
  }
// Where the compiler has unrolled the loop around it.
#define BARRIER_IF(CONDITION) \
  if (CONDITION) barrier(CLK_LOCAL_MEM_FENCE)
#define PREFETCH_LINE(P) __asm__ volatile("prefetch.global.L2 [%0];" ::"l"(P))
#else
#define MULTIPLY(D, A, B0, B1, K) CLCOOK_TENSOR_16(D, A, B0, (K) < PRODUCTS ? (B1) : 0)
#define BARRIER_IF(CONDITION) barrier(CLK_LOCAL_MEM_FENCE)
#define PREFETCH_LINE(P) (void)(P)
#endif

// The order of the pixels of half a piece: lane t has the pixels PLACE(0, t) and PLACE(1, t).
#define PLACE(J, T) (4 * (J) + (T))

// Groups: strips of 16 CLCOOK_TENSOR_WARPS pixels x segments of `segment` rows, a multiple of 16, x
// pictures. Offsets and pitches in pixels.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void gaussian_blur_tensor(
    __global const float4* restrict src, ulong src_offset, ulong src_pitch,
    __global float4* restrict dst, ulong dst_offset, ulong dst_pitch, int width, int height,
    int region_x, int region_y, int region_width, int region_height, int segment,
    __global const uint4* restrict weights, int border, float4 outside, float scale_in,
    float scale_mid, float scale_out) {
#ifndef CLCOOK_TENSOR_PTX
  __local uint exchange[6 * ITEMS];
#endif
  // Blurred by rows next: [buffer][part][chunk of the stage][half piece][lane], the 4 channels.
  __local uint4 stage[2 * PARTS * STAGE * TASKS * 32];
#define STAGED(BUFFER, PART, CHUNK, TASK) \
  ((((BUFFER)*PARTS + (PART)) * STAGE + (CHUNK)) * TASKS + (TASK)) * 32

  const int item = (int)get_local_id(0);
  const int warp = item / 32;
  const int lane = item % 32;
  const int g = lane / 4;
  const int t = lane % 4;
  const int group_x = (int)get_group_id(0) * CLCOOK_TENSOR_WARPS * 16;
  const int x0 = group_x + warp * 16;
  const int begin = (int)get_group_id(1) * segment;
  const int end = min(begin + segment, region_height);
  src += src_offset + (ulong)get_group_id(2) * (ulong)height * src_pitch;
  dst += dst_offset + (ulong)get_group_id(2) * (ulong)region_height * dst_pitch + (ulong)x0;

  weights += lane;
  uint4 a_rows[PARTS * PIECES];
  uint4 a_columns[PARTS * PIECES];
#pragma unroll UNROLL
  for (int k = 0; k < PARTS * PIECES; ++k) {
    a_rows[k] = weights[32 * k];
    a_columns[k] = weights[32 * (PARTS * PIECES + k)];
  }
#define A_ROWS(PART, K) a_rows[(PART)*PIECES + (K)]
#define A_COLUMNS(PART, K) a_columns[(PART)*PIECES + (K)]
  // The columns of the two pixels that this lane reads of each half piece.
  int column[ROUNDS][2];
#pragma unroll UNROLL
  for (int r = 0; r < 2 * ROUNDS; ++r) {
    const int task = warp + r / 2 * CLCOOK_TENSOR_WARPS;
    column[r / 2][r % 2] =
        clcook_border(region_x + group_x - PAD + 8 * task + PLACE(r % 2, t), width, border);
  }
  float4 in[STAGE][ROUNDS][2];
#ifdef CLCOOK_TENSOR_CONSTANT
  const float4 beyond = outside;
#endif

// The chunks of the stage whose first row is Y rows from `begin`, from global memory.
#define LOAD(Y)                                                                         \
  _Pragma("unroll UNROLL") for (int j = 0; j < STAGE; ++j) {                            \
    const int row = clcook_border(region_y + begin + (Y) + 8 * j + g, height, border);  \
    __global const float4* line = src + (ulong)max(row, 0) * src_pitch;                 \
    _Pragma("unroll UNROLL") for (int r = 0; r < ROUNDS; ++r) {                         \
      if (TASKS % CLCOOK_TENSOR_WARPS == 0 || warp + r * CLCOOK_TENSOR_WARPS < TASKS) { \
        FETCH(in[j][r], line, row, column[r]);                                          \
      }                                                                                 \
    }                                                                                   \
  }
#ifdef CLCOOK_TENSOR_CONSTANT
#define FETCH(OUT, LINE, ROW, COLUMN)                           \
  OUT[0] = ROW < 0 || COLUMN[0] < 0 ? beyond : LINE[COLUMN[0]]; \
  OUT[1] = ROW < 0 || COLUMN[1] < 0 ? beyond : LINE[COLUMN[1]]
#else
#define FETCH(OUT, LINE, ROW, COLUMN) \
  OUT[0] = LINE[COLUMN[0]];           \
  OUT[1] = LINE[COLUMN[1]]
#endif

// Asks for the chunks of the stage whose first row is Y rows from `begin`, 8 pixels per item: no
// registers wait for them.
#ifdef CLCOOK_TENSOR_PREFETCH
#define LINES (TASKS * STAGE * 8)
#define PREFETCH(Y)                                                                 \
  _Pragma("unroll UNROLL") for (int r = 0; r < (LINES + ITEMS - 1) / ITEMS; ++r) {  \
    const int k = item + r * ITEMS;                                                 \
    const int row = clamp(region_y + begin + (Y) + k / TASKS, 0, height - 1);       \
    const int at = clamp(region_x + group_x - PAD + 8 * (k % TASKS), 0, width - 1); \
    if (k < LINES) PREFETCH_LINE(src + ((ulong)row * src_pitch + (ulong)at));       \
  }
#else
#define PREFETCH(Y)
#endif

// What was loaded, as halves, into a buffer.
#define PUT(BUFFER)                                                                                \
  _Pragma("unroll UNROLL") for (int k = 0; k < STAGE * ROUNDS; ++k) {                              \
    const int j = k / ROUNDS;                                                                      \
    const int task = warp + k % ROUNDS * CLCOOK_TENSOR_WARPS;                                      \
    if (TASKS % CLCOOK_TENSOR_WARPS == 0 || task < TASKS) {                                        \
      uint4 halves[2];                                                                             \
      clcook_split(scale_in* in[j][k % ROUNDS][0], scale_in* in[j][k % ROUNDS][1], PARTS, halves); \
      for (int part = 0; part < PARTS; ++part)                                                     \
        stage[STAGED(BUFFER, part, j, task) + lane] = halves[part];                                \
    }                                                                                              \
  }

// The products of a piece, of which B gives the halves of a part, first or second, and channel: all
// channels before the next part, as the sums wait for each other.
#define MULTIPLY_PIECE(SUM, A, B, K)                                                   \
  _Pragma("unroll UNROLL") for (int n = 0; n < 4 * (2 * PARTS - 1); ++n) {             \
    MULTIPLY(SUM[n % 4], A[n / 8], B(n / 4 % 2, 0, n % 4), B(n / 4 % 2, 1, n % 4), K); \
  }

#define CHANNEL(V, C) ((C) == 0 ? (V).x : (C) == 1 ? (V).y : (C) == 2 ? (V).z : (V).w)
#ifdef CLCOOK_TENSOR_SPLIT
#define MIDDLE(V) (scale_mid * (V))
#else
#define MIDDLE(V) (V)
#endif

  // The blurred rows, 8 per chunk: for pixels g and g + 8 and each channel, rows 2t and 2t + 1.
  uint ring[PARTS][CHUNKS][2][4];
#pragma unroll UNROLL
  for (int k = 0; k < PARTS * CHUNKS * 8; ++k)
    ring[k / (CHUNKS * 8)][k / (8) % CHUNKS][k / 4 % 2][k % 4] = 0;

  // A step blurs two chunks of rows; from the step 0 on it has what 16 results need. The first
  // step's first chunk is of no use where CHUNKS is odd.
  const int first = -16 * (PIECES - 1);
  const int above =
      16 * (PIECES - 1) - PAD - 8 * ODD;  // from a step to the first row that it loads
  int now = 0;
  LOAD(first + above);
  PUT(0);
  LOAD(first + above + 8 * STAGE);
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
        PUT(1 - now);
        LOAD(y + above + 8 * (h + 2 * STAGE));
        PREFETCH(y + above + 8 * (h + 3 * STAGE));
      }
      float sum[4][4];
#pragma unroll UNROLL
      for (int k = 0; k < 16; ++k) sum[k / 4][k % 4] = 0.0f;
#pragma unroll UNROLL
      for (int k = 0; k < PIECES; ++k) {
        uint4 a[PARTS];
        uint4 b[PARTS][2];
#pragma unroll UNROLL
        for (int part = 0; part < PARTS; ++part) {
          const int at = STAGED(now, part, h % STAGE, 2 * (warp + k)) + lane;
          a[part] = A_ROWS(part, k);
          b[part][0] = b[part][1] = stage[at];
          if (k < PRODUCTS) b[part][1] = stage[at + 32];
        }
#define PIXELS(PART, I, C) CHANNEL(b[PART][I], C)
        MULTIPLY_PIECE(sum, a, PIXELS, k)
      }
      BARRIER_IF(h % STAGE == STAGE - 1);
      if (h % STAGE == STAGE - 1) now = 1 - now;
#pragma unroll UNROLL
      for (int i = 0; i < 2; ++i) {
#pragma unroll UNROLL
        for (int c = 0; c < 4; ++c) {
          const float p = MIDDLE(sum[c][2 * i]);
          const float q = MIDDLE(sum[c][2 * i + 1]);
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
      float sum[4][4];
#pragma unroll UNROLL
      for (int k = 0; k < 16; ++k) sum[k / 4][k % 4] = 0.0f;
#pragma unroll UNROLL
      for (int k = 0; k < PIECES; ++k) {
        uint4 a[PARTS];
#pragma unroll UNROLL
        for (int part = 0; part < PARTS; ++part) a[part] = A_COLUMNS(part, k);
#define ROWS(PART, I, C) ring[PART][(I) == 0 ? 2 * k : SECOND(k)][i][C]
        MULTIPLY_PIECE(sum, a, ROWS, k)
      }
#pragma unroll UNROLL
      for (int e = 0; e < 2; ++e) {
        const int at = begin + y + g + e * 8;
        __global float4* line = dst + (ulong)max(at, 0) * dst_pitch;
        const int x = 8 * i + PLACE(0, t);
        const int next = 8 * i + PLACE(1, t);
        const bool left = at >= begin && at < end && x0 + x < region_width;
        const bool right = at >= begin && at < end && x0 + next < region_width;
        if (left) {
          line[x] =
              scale_out * (float4)(sum[0][2 * e], sum[1][2 * e], sum[2][2 * e], sum[3][2 * e]);
        }
        if (right) {
          line[next] = scale_out * (float4)(sum[0][2 * e + 1], sum[1][2 * e + 1], sum[2][2 * e + 1],
                                            sum[3][2 * e + 1]);
        }
      }
    }
  }
}
