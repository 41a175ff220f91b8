// Separable Gaussian blur by lines: every variant of the recipe line_blur but fused, cpu_fused and cpu_bytes, whose
// kernels are in gaussian_blur/fused.cl and gaussian_blur/cpu_fused.cl.
//
// A pass blurs each line of `length` pixels and stores it transposed: pixel x of line y goes to
// row x, column y of the destination. Two passes give the blurred picture, the right way round.
// Weight of offset k: exp(-(k / R)^2 / (2 sigma^2)), |k| <= radius, divided by the sum of the
// weights. Positions outside of the line take its first or last pixel.
//
// Views count pixels, those of three channels channels. A kernel of one work-group per line is started with as many groups as there
// are lines.
//
// The host compiles one variant per program: -DCLCOOK_LINE_BLUR_ONLY -DCLCOOK_LINE_BLUR_<VARIANT>,
// with -DCLCOOK_SRC_<PIXEL> and -DCLCOOK_DST_<PIXEL> for pixels that are no float4: RG8, RGBA8, RG16,
// RGBA16, RG16F, RGBA16F, RG32F, RGB8, RGB16, RGB16F, RGB32F. Two channels are the first and the last of
// a float4.
// Pictures with straight alpha have -DCLCOOK_ALPHA_TOP=F, see alpha.clh, with
// -DCLCOOK_SRC_STRAIGHT where the source is read and -DCLCOOK_DST_STRAIGHT where the result is
// written; between the passes colours are weighted.
#include <clcook/alpha.clh>
#include <clcook/pixel.clh>
#include <clcook/view.clh>

#ifndef CLCOOK_LINE_BLUR_ONLY
#define CLCOOK_LINE_BLUR_COPY
#define CLCOOK_LINE_BLUR_NAIVE
#define CLCOOK_LINE_BLUR_LOCAL_LINE
#define CLCOOK_LINE_BLUR_SUBSAMPLED
#define CLCOOK_LINE_BLUR_SYMMETRIC
#define CLCOOK_LINE_BLUR_UNROLLED
#define CLCOOK_LINE_BLUR_PADDED
#define CLCOOK_LINE_BLUR_WEIGHTS_TABLE
#define CLCOOK_LINE_BLUR_COALESCED_STORE
#define CLCOOK_LINE_BLUR_COALESCED
#define CLCOOK_LINE_BLUR_IMAGE_LINE
#define CLCOOK_LINE_BLUR_IMAGE_TABLE
#define CLCOOK_LINE_BLUR_LINEAR_PAIRS
#endif

#ifdef CLCOOK_LINE_BLUR_GROUP
#define LINE_BLUR_GROUP __attribute__((reqd_work_group_size(CLCOOK_LINE_BLUR_GROUP, 1, 1)))
#else
#define LINE_BLUR_GROUP
#endif

// The names that pixel.clh gives the types. Of three channels the views count channels: rows begin at
// any of them.
#if defined(CLCOOK_SRC_RG8)
#define SRC rg8
#elif defined(CLCOOK_SRC_RGB8)
#define SRC rgb8
#define SRC_CHANNEL uchar
#elif defined(CLCOOK_SRC_RGBA8)
#define SRC rgba8
#elif defined(CLCOOK_SRC_RG16)
#define SRC rg16
#elif defined(CLCOOK_SRC_RGB16)
#define SRC rgb16
#define SRC_CHANNEL ushort
#elif defined(CLCOOK_SRC_RGBA16)
#define SRC rgba16
#elif defined(CLCOOK_SRC_RG16F)
#define SRC rg16f
#elif defined(CLCOOK_SRC_RGB16F)
#define SRC rgb16f
#define SRC_CHANNEL ushort
#elif defined(CLCOOK_SRC_RGBA16F)
#define SRC rgba16f
#elif defined(CLCOOK_SRC_RG32F)
#define SRC rg32f
#elif defined(CLCOOK_SRC_RGB32F)
#define SRC rgb32f
#define SRC_CHANNEL float
#else
#define SRC rgba32f
#endif
#if defined(CLCOOK_DST_RG8)
#define DST rg8
#elif defined(CLCOOK_DST_RGB8)
#define DST rgb8
#define DST_CHANNEL uchar
#elif defined(CLCOOK_DST_RGBA8)
#define DST rgba8
#elif defined(CLCOOK_DST_RG16)
#define DST rg16
#elif defined(CLCOOK_DST_RGB16)
#define DST rgb16
#define DST_CHANNEL ushort
#elif defined(CLCOOK_DST_RGBA16)
#define DST rgba16
#elif defined(CLCOOK_DST_RG16F)
#define DST rg16f
#elif defined(CLCOOK_DST_RGB16F)
#define DST rgb16f
#define DST_CHANNEL ushort
#elif defined(CLCOOK_DST_RGBA16F)
#define DST rgba16f
#elif defined(CLCOOK_DST_RG32F)
#define DST rg32f
#elif defined(CLCOOK_DST_RGB32F)
#define DST rgb32f
#define DST_CHANNEL float
#else
#define DST rgba32f
#endif
typedef CLCOOK_PIXEL_PASTE(CLCOOK_PIXEL_PASTE(clcook_, SRC), _t) source_pixel;
typedef CLCOOK_PIXEL_PASTE(CLCOOK_PIXEL_PASTE(clcook_, DST), _t) result_pixel;
#define LOAD_STORED CLCOOK_PIXEL_PASTE(clcook_load_, SRC)
#define STORE_STORED CLCOOK_PIXEL_PASTE(clcook_store_, DST)

// The pixel that lies `units` of a view behind p, and how many of these a pixel has.
#ifdef SRC_CHANNEL
#define FROM(p, units) ((__global const source_pixel*)((__global const SRC_CHANNEL*)(p) + (units)))
#else
#define FROM(p, units) ((p) + (units))
#endif
#ifdef DST_CHANNEL
#define TO(p, units) ((__global result_pixel*)((__global DST_CHANNEL*)(p) + (units)))
#define TO_UNITS 3
#else
#define TO(p, units) ((p) + (units))
#define TO_UNITS 1
#endif

// What kernels call.
#ifdef CLCOOK_SRC_STRAIGHT
#define LOAD_PIXEL(p, i) clcook_weighted(LOAD_STORED(p, i))
#else
#define LOAD_PIXEL LOAD_STORED
#endif
#ifdef CLCOOK_DST_STRAIGHT
#define STORE_PIXEL(p, i, value) STORE_STORED(p, i, clcook_unweighted(value))
#else
#define STORE_PIXEL STORE_STORED
#endif

// The lines of a pass and how they are cut; zeros where a kernel cuts nothing.
typedef struct {
  int length;      // pixels of a line
  int lines;       // how many there are
  int segment;     // outputs of a line that share a tile
  int tile_taps;   // taps of a tile; where taps are in pairs, pairs of the first tile
  int more_pairs;  // pairs of each further tile
} pass_t;

// The taps k = s step, |s| <= side, and what their weights are made of.
typedef struct {
  int side;
  int step;
  float inverse_radius;  // 1 / R
  float factor;          // 1 / (sigma sqrt(2 pi))
  float divisor;         // 2 sigma^2
} taps_t;

// ------------------------------------------------------------------------------------------------
// copy: radius below 1 or sigma 0. One work-group per row of the picture, not transposed, one
// launch.
#ifdef CLCOOK_LINE_BLUR_COPY
__kernel void line_blur_copy(__global const source_pixel* restrict src, clcook_view src_view,
                             __global result_pixel* restrict dst, clcook_view dst_view,
                             pass_t pass) {
  const ulong row = get_group_id(0);
  const int group = (int)get_local_size(0);
  src = FROM(src, src_view.offset + row * src_view.pitch);
  dst = TO(dst, dst_view.offset + row * dst_view.pitch);
  for (int x = (int)get_local_id(0); x < pass.length; x += group) {
    STORE_PIXEL(dst, (ulong)x, LOAD_PIXEL(src, (ulong)x));
  }
}
#endif

// The weight as the article computes it, for every tap of every pixel, with the factor that cancels
// and the division.
static inline float line_blur_weight(int k, taps_t taps) {
  const float d = (float)k * taps.inverse_radius;
  return taps.factor * exp(-(d * d) / taps.divisor);
}

// ------------------------------------------------------------------------------------------------
// naive: the article's first kernel, with its tap at +R. Every tap is a read of global memory and
// an exponential; neighbours store a whole column pitch apart.
#ifdef CLCOOK_LINE_BLUR_NAIVE
__kernel LINE_BLUR_GROUP void line_blur_naive(__global const source_pixel* restrict src,
                                              clcook_view src_view,
                                              __global result_pixel* restrict dst,
                                              clcook_view dst_view, pass_t pass, taps_t taps) {
  const ulong line = get_group_id(0);
  const int group = (int)get_local_size(0);
  src = FROM(src, src_view.offset + line * src_view.pitch);
  dst = TO(dst, dst_view.offset + line * TO_UNITS);

  for (int x = (int)get_local_id(0); x < pass.length; x += group) {
    float4 sum = (float4)(0.0f);
    float norm = 0.0f;
    for (int k = -taps.side; k <= taps.side; ++k) {
      const float w = line_blur_weight(k, taps);
      sum = fma((float4)(w), LOAD_PIXEL(src, (ulong)clamp(x + k, 0, pass.length - 1)), sum);
      norm += w;
    }
    STORE_PIXEL(TO(dst, (ulong)x * dst_view.pitch), 0, sum / norm);
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// The line in local memory.
//
// A line of any length is cut into segments of `segment` outputs, and the window of taps into
// tiles, so that a tile and its halo fit in the local memory that the host gives. Where one tile
// holds all taps a segment may have several outputs per item; with more tiles the host sets
// segment = group, so that the sums of the one output per item stay in registers from tile to tile.
// All trip counts of loops with a barrier depend on arguments alone.

// Pixels first .. first + cells - 1 of the line; the clamp is here, none is left in the tap loops.
#define FILL_TILE(first_position, cells)                                                     \
  for (int cell = lid; cell < (cells); cell += group) {                                      \
    tile[cell] = LOAD_PIXEL(src, (ulong)clamp((first_position) + cell, 0, pass.length - 1)); \
  }

#ifdef CLCOOK_LINE_BLUR_LOCAL_LINE
__kernel LINE_BLUR_GROUP void line_blur_local_line(__global const source_pixel* restrict src,
                                                   clcook_view src_view,
                                                   __global result_pixel* restrict dst,
                                                   clcook_view dst_view, pass_t pass, taps_t taps,
                                                   __local float4* tile) {
  const ulong line = get_group_id(0);
  const int group = (int)get_local_size(0);
  const int lid = (int)get_local_id(0);
  src = FROM(src, src_view.offset + line * src_view.pitch);
  dst = TO(dst, dst_view.offset + line * TO_UNITS);

  float4 sum = (float4)(0.0f);
  float norm = 0.0f;
  for (int first = 0; first < pass.length; first += pass.segment) {
    const int outputs = min(pass.segment, pass.length - first);
    for (int k0 = -taps.side; k0 <= taps.side; k0 += pass.tile_taps) {
      const int k1 = min(k0 + pass.tile_taps, taps.side + 1);
      FILL_TILE(first + k0, pass.segment + k1 - k0 - 1);
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int x = lid; x < outputs; x += group) {
        if (k0 == -taps.side) {
          sum = (float4)(0.0f);
          norm = 0.0f;
        }
#pragma unroll 8
        for (int k = k0; k < k1; ++k) {
          const float w = line_blur_weight(k, taps);
          sum = fma((float4)(w), tile[x + k - k0], sum);
          norm += w;
        }
        if (k1 > taps.side) {
          STORE_PIXEL(TO(dst, (ulong)(first + x) * dst_view.pitch), 0, sum / norm);
        }
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
}
#endif

// weights_table: the same with the normalised weights as data. weights[k + radius], |k| <= radius.
#ifdef CLCOOK_LINE_BLUR_WEIGHTS_TABLE
__kernel LINE_BLUR_GROUP void line_blur_weights_table(__global const source_pixel* restrict src,
                                                      clcook_view src_view,
                                                      __global result_pixel* restrict dst,
                                                      clcook_view dst_view, pass_t pass, int radius,
                                                      __global const float* restrict weights,
                                                      __local float4* tile) {
  const ulong line = get_group_id(0);
  const int group = (int)get_local_size(0);
  const int lid = (int)get_local_id(0);
  src = FROM(src, src_view.offset + line * src_view.pitch);
  dst = TO(dst, dst_view.offset + line * TO_UNITS);

  float4 sum = (float4)(0.0f);
  for (int first = 0; first < pass.length; first += pass.segment) {
    const int outputs = min(pass.segment, pass.length - first);
    for (int k0 = -radius; k0 <= radius; k0 += pass.tile_taps) {
      const int k1 = min(k0 + pass.tile_taps, radius + 1);
      FILL_TILE(first + k0, pass.segment + k1 - k0 - 1);
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int x = lid; x < outputs; x += group) {
        if (k0 == -radius) {
          sum = (float4)(0.0f);
        }
        __global const float* w = weights + (k0 + radius);
        for (int t = 0; t < k1 - k0; ++t) {
          sum = fma((float4)(w[t]), tile[x + t], sum);
        }
        if (k1 > radius) {
          STORE_PIXEL(TO(dst, (ulong)(first + x) * dst_view.pitch), 0, sum);
        }
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
}
#endif

// subsampled: taps k = s step, |s| <= side. tile_taps counts these taps.
#ifdef CLCOOK_LINE_BLUR_SUBSAMPLED
__kernel LINE_BLUR_GROUP void line_blur_subsampled(__global const source_pixel* restrict src,
                                                   clcook_view src_view,
                                                   __global result_pixel* restrict dst,
                                                   clcook_view dst_view, pass_t pass, taps_t taps,
                                                   __local float4* tile) {
  const ulong line = get_group_id(0);
  const int group = (int)get_local_size(0);
  const int lid = (int)get_local_id(0);
  src = FROM(src, src_view.offset + line * src_view.pitch);
  dst = TO(dst, dst_view.offset + line * TO_UNITS);

  float4 sum = (float4)(0.0f);
  float norm = 0.0f;
  for (int first = 0; first < pass.length; first += pass.segment) {
    const int outputs = min(pass.segment, pass.length - first);
    for (int s0 = -taps.side; s0 <= taps.side; s0 += pass.tile_taps) {
      const int s1 = min(s0 + pass.tile_taps, taps.side + 1);
      FILL_TILE(first + s0 * taps.step, pass.segment + (s1 - s0 - 1) * taps.step);
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int x = lid; x < outputs; x += group) {
        if (s0 == -taps.side) {
          sum = (float4)(0.0f);
          norm = 0.0f;
        }
        for (int s = s0; s < s1; ++s) {
          const float w = line_blur_weight(s * taps.step, taps);
          sum = fma((float4)(w), tile[x + (s - s0) * taps.step], sum);
          norm += w;
        }
        if (s1 > taps.side) {
          STORE_PIXEL(TO(dst, (ulong)(first + x) * dst_view.pitch), 0, sum / norm);
        }
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
}
#endif

// symmetric: one weight for the two taps of a pair. The first tile holds the centre and the pairs
// 1 .. first_pairs; further tiles hold more_pairs each, as a window before and a window after the
// outputs, which run together to one where they overlap.
//   unrolled  the same, with a fixed loop of 32 pairs that the compiler unrolls; weight 0 past
//             the end
//   padded    the same, with one float4 of padding after every 32
#if defined(CLCOOK_LINE_BLUR_SYMMETRIC) || defined(CLCOOK_LINE_BLUR_UNROLLED) || \
    defined(CLCOOK_LINE_BLUR_PADDED)
#define SYMMETRIC_PAIRS 32

static inline int line_blur_cell(int cell, int padded) {
  return padded ? cell + (cell >> 5) : cell;
}

// Without restrict here: inlined, it becomes an LLVM intrinsic that Oclgrind does not know.
static inline void line_blur_pairs(__global const source_pixel* src, clcook_view src_view,
                                   __global result_pixel* dst, clcook_view dst_view, pass_t pass,
                                   taps_t taps, __local float4* tile, const int padded,
                                   const int unrolled) {
  const ulong line = get_group_id(0);
  const int group = (int)get_local_size(0);
  const int lid = (int)get_local_id(0);
  src = FROM(src, src_view.offset + line * src_view.pitch);
  dst = TO(dst, dst_view.offset + line * TO_UNITS);

  float4 sum = (float4)(0.0f);
  float norm = 0.0f;
  for (int first = 0; first < pass.length; first += pass.segment) {
    const int outputs = min(pass.segment, pass.length - first);
    // The nearest and the furthest tap of a tile, in steps; 0 is the centre.
    int furthest = pass.tile_taps;
    for (int nearest = 0; nearest <= taps.side;
         nearest = furthest + 1, furthest = min(furthest + pass.more_pairs, taps.side)) {
      // Cells 0 .. width - 1: positions from first - furthest step;
      // cells after .. after + width - 1: positions from first + nearest step.
      const int width = pass.segment + (furthest - nearest) * taps.step;
      const int after = min(width, (nearest + furthest) * taps.step);
      const int jump = (nearest + furthest) * taps.step - after;
      for (int cell = lid; cell < after + width; cell += group) {
        const int position = first - furthest * taps.step + cell + (cell < after ? 0 : jump);
        tile[line_blur_cell(cell, padded)] =
            LOAD_PIXEL(src, (ulong)clamp(position, 0, pass.length - 1));
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int x = lid; x < outputs; x += group) {
        if (nearest == 0) {
          norm = line_blur_weight(0, taps);
          sum = norm * tile[line_blur_cell(x + after, padded)];
        }
        const int s0 = max(nearest, 1);
        if (unrolled) {
#pragma unroll
          for (int i = 0; i < SYMMETRIC_PAIRS; ++i) {
            // Past the end the last pair is read again, so that no foreign pixel meets the 0.
            const int s = max(min(s0 + i, furthest), nearest);
            const float w =
                s0 + i <= furthest ? line_blur_weight((s0 + i) * taps.step, taps) : 0.0f;
            const float4 pair =
                tile[x + (furthest - s) * taps.step] + tile[x + after + (s - nearest) * taps.step];
            sum = fma((float4)(w), pair, sum);
            norm += 2.0f * w;
          }
        } else {
          for (int s = s0; s <= furthest; ++s) {
            const float w = line_blur_weight(s * taps.step, taps);
            const float4 pair = tile[line_blur_cell(x + (furthest - s) * taps.step, padded)] +
                                tile[line_blur_cell(x + after + (s - nearest) * taps.step, padded)];
            sum = fma((float4)(w), pair, sum);
            norm += 2.0f * w;
          }
        }
        if (furthest == taps.side) {
          STORE_PIXEL(TO(dst, (ulong)(first + x) * dst_view.pitch), 0, sum / norm);
        }
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
}
#endif

#ifdef CLCOOK_LINE_BLUR_SYMMETRIC
__kernel LINE_BLUR_GROUP void line_blur_symmetric(__global const source_pixel* restrict src,
                                                  clcook_view src_view,
                                                  __global result_pixel* restrict dst,
                                                  clcook_view dst_view, pass_t pass, taps_t taps,
                                                  __local float4* tile) {
  line_blur_pairs(src, src_view, dst, dst_view, pass, taps, tile, 0, 0);
}
#endif

#ifdef CLCOOK_LINE_BLUR_UNROLLED
__kernel LINE_BLUR_GROUP void line_blur_unrolled(__global const source_pixel* restrict src,
                                                 clcook_view src_view,
                                                 __global result_pixel* restrict dst,
                                                 clcook_view dst_view, pass_t pass, taps_t taps,
                                                 __local float4* tile) {
  line_blur_pairs(src, src_view, dst, dst_view, pass, taps, tile, 0, 1);
}
#endif

#ifdef CLCOOK_LINE_BLUR_PADDED
__kernel LINE_BLUR_GROUP void line_blur_padded(__global const source_pixel* restrict src,
                                               clcook_view src_view,
                                               __global result_pixel* restrict dst,
                                               clcook_view dst_view, pass_t pass, taps_t taps,
                                               __local float4* tile) {
  line_blur_pairs(src, src_view, dst, dst_view, pass, taps, tile, 1, 0);
}
#endif

// ------------------------------------------------------------------------------------------------
// coalesced and coalesced_store: a group blurs 128 pixels of 8 lines. Each item makes OUTPUTS
// consecutive pixels of one line; coalesced_store one after the other, coalesced at once with their
// window in registers, so that one read of local memory feeds OUTPUTS taps.
//   load     neighbouring items read neighbouring pixels of a line
//   store    neighbouring items hold the same pixel of neighbouring lines: 8 float4 = 128 bytes of
//            the transposed row, in one piece
//   tile     [position][line] with one float4 of padding per position: free of bank conflicts in
//            both directions
// Groups: ceil(length / 128) * ceil(lines / 8), in one dimension: some devices allow no more than
// 65535 groups in the others. tile_taps is a multiple of COALESCED_UNROLL; the tiles hold
// (128 + tile_taps) * 9 float4, and tile_taps floats of weights.
#if defined(CLCOOK_LINE_BLUR_COALESCED) || defined(CLCOOK_LINE_BLUR_COALESCED_STORE)
#ifndef CLCOOK_LINE_BLUR_OUTPUTS
#define CLCOOK_LINE_BLUR_OUTPUTS 8
#define CLCOOK_LINE_BLUR_LINES 8
#define CLCOOK_LINE_BLUR_SEGMENT 128
#define CLCOOK_LINE_BLUR_UNROLL 8
#endif
#define OUTPUTS CLCOOK_LINE_BLUR_OUTPUTS
#define COALESCED_LINES CLCOOK_LINE_BLUR_LINES
#define COALESCED_PITCH (COALESCED_LINES + 1)
#define COALESCED_SEGMENT CLCOOK_LINE_BLUR_SEGMENT
#define COALESCED_GROUP (COALESCED_LINES * COALESCED_SEGMENT / OUTPUTS)
#define COALESCED_LANES (COALESCED_GROUP / COALESCED_LINES)
#define COALESCED_UNROLL CLCOOK_LINE_BLUR_UNROLL
#endif

#ifdef CLCOOK_LINE_BLUR_COALESCED
__kernel __attribute__((reqd_work_group_size(COALESCED_GROUP, 1, 1))) void line_blur_coalesced(
    __global const source_pixel* restrict src, clcook_view src_view,
    __global result_pixel* restrict dst, clcook_view dst_view, pass_t pass, int taps,
    __global const float* restrict weights, __local float4* tile) {
  __local float4* tile_weights = tile + (COALESCED_SEGMENT + pass.tile_taps) * COALESCED_PITCH;
  const int lid = (int)get_local_id(0);
  const uint segments = ((uint)pass.length + COALESCED_SEGMENT - 1) / COALESCED_SEGMENT;
  const int first = (int)(get_group_id(0) % segments) * COALESCED_SEGMENT - taps / 2;
  const int first_line = (int)(get_group_id(0) / segments) * COALESCED_LINES;

  // Measured: with masks instead of / and % NVIDIA's compiler makes code that is 7 % slower.
  const int load_lane = lid % COALESCED_LANES;
  const int load_line = lid / COALESCED_LANES;
  src = FROM(src,
             src_view.offset + (ulong)min(first_line + load_line, pass.lines - 1) * src_view.pitch);

  const int line = lid % COALESCED_LINES;
  const int column = lid / COALESCED_LINES * OUTPUTS;
  __local const float4* window = tile + column * COALESCED_PITCH + line;

  float4 sum[OUTPUTS];
#pragma unroll
  for (int j = 0; j < OUTPUTS; ++j) {
    sum[j] = (float4)(0.0f);
  }

  for (int t0 = 0; t0 < taps; t0 += pass.tile_taps) {
    const int count = min(pass.tile_taps, taps - t0);
    // Four loads at a time, so that their latencies overlap.
    for (int x0 = load_lane; x0 < COALESCED_SEGMENT + count; x0 += 4 * COALESCED_LANES) {
      float4 pixel[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int x = min(x0 + i * COALESCED_LANES, COALESCED_SEGMENT + count - 1);
        pixel[i] = LOAD_PIXEL(src, (ulong)clamp(first + t0 + x, 0, pass.length - 1));
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int x = x0 + i * COALESCED_LANES;
        if (x < COALESCED_SEGMENT + count) {
          tile[x * COALESCED_PITCH + load_line] = pixel[i];
        }
      }
    }
    for (int t = lid; t < count; t += COALESCED_GROUP) {
      ((__local float*)tile_weights)[t] = weights[t0 + t];
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    // ring[(t + j) % OUTPUTS] is the pixel of tap t for output j. The unrolled count is a multiple
    // of OUTPUTS, so that every index is a constant and nothing is moved.
    float4 ring[OUTPUTS];
#pragma unroll
    for (int j = 0; j < OUTPUTS; ++j) {
      ring[j] = window[j * COALESCED_PITCH];
    }
    int t = 0;
    for (; t + COALESCED_UNROLL <= count; t += COALESCED_UNROLL) {
      __local const float4* next = window + (t + OUTPUTS) * COALESCED_PITCH;
#pragma unroll
      for (int u4 = 0; u4 < COALESCED_UNROLL / 4; ++u4) {
        const float4 w4 = tile_weights[t / 4 + u4];
        const float w[4] = {w4.x, w4.y, w4.z, w4.w};
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int u = u4 * 4 + i;
#pragma unroll
          for (int j = 0; j < OUTPUTS; ++j) {
            sum[j] = fma((float4)(w[i]), ring[(u + j) % OUTPUTS], sum[j]);
          }
          ring[u % OUTPUTS] = next[u * COALESCED_PITCH];
        }
      }
    }
    for (; t < count; ++t) {
      const float w = ((__local const float*)tile_weights)[t];
#pragma unroll
      for (int j = 0; j < OUTPUTS; ++j) {
        sum[j] = fma((float4)(w), window[(t + j) * COALESCED_PITCH], sum[j]);
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }

  if (first_line + line < pass.lines) {
    const int x0 = first + taps / 2 + column;
    dst = TO(dst, dst_view.offset + (ulong)(first_line + line) * TO_UNITS);
#pragma unroll
    for (int j = 0; j < OUTPUTS; ++j) {
      if (x0 + j < pass.length) {
        STORE_PIXEL(TO(dst, (ulong)(x0 + j) * dst_view.pitch), 0, sum[j]);
      }
    }
  }
}
#endif

#ifdef CLCOOK_LINE_BLUR_COALESCED_STORE
__kernel __attribute__((reqd_work_group_size(COALESCED_GROUP, 1, 1))) void
line_blur_coalesced_store(__global const source_pixel* restrict src, clcook_view src_view,
                          __global result_pixel* restrict dst, clcook_view dst_view, pass_t pass,
                          int taps, __global const float* restrict weights, __local float4* tile) {
  __local float4* tile_weights = tile + (COALESCED_SEGMENT + pass.tile_taps) * COALESCED_PITCH;
  const int lid = (int)get_local_id(0);
  const uint segments = ((uint)pass.length + COALESCED_SEGMENT - 1) / COALESCED_SEGMENT;
  const int first = (int)(get_group_id(0) % segments) * COALESCED_SEGMENT - taps / 2;
  const int first_line = (int)(get_group_id(0) / segments) * COALESCED_LINES;

  const int load_lane = lid % COALESCED_LANES;
  const int load_line = lid / COALESCED_LANES;
  src = FROM(src,
             src_view.offset + (ulong)min(first_line + load_line, pass.lines - 1) * src_view.pitch);

  const int line = lid % COALESCED_LINES;
  const int column = lid / COALESCED_LINES * OUTPUTS;
  __local const float4* window = tile + column * COALESCED_PITCH + line;

  float4 sum[OUTPUTS];
#pragma unroll
  for (int j = 0; j < OUTPUTS; ++j) {
    sum[j] = (float4)(0.0f);
  }

  for (int t0 = 0; t0 < taps; t0 += pass.tile_taps) {
    const int count = min(pass.tile_taps, taps - t0);
    for (int x0 = load_lane; x0 < COALESCED_SEGMENT + count; x0 += 4 * COALESCED_LANES) {
      float4 pixel[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int x = min(x0 + i * COALESCED_LANES, COALESCED_SEGMENT + count - 1);
        pixel[i] = LOAD_PIXEL(src, (ulong)clamp(first + t0 + x, 0, pass.length - 1));
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int x = x0 + i * COALESCED_LANES;
        if (x < COALESCED_SEGMENT + count) {
          tile[x * COALESCED_PITCH + load_line] = pixel[i];
        }
      }
    }
    for (int t = lid; t < count; t += COALESCED_GROUP) {
      ((__local float*)tile_weights)[t] = weights[t0 + t];
    }
    barrier(CLK_LOCAL_MEM_FENCE);

#pragma unroll
    for (int j = 0; j < OUTPUTS; ++j) {
      for (int t = 0; t < count; ++t) {
        const float w = ((__local const float*)tile_weights)[t];
        sum[j] = fma((float4)(w), window[(t + j) * COALESCED_PITCH], sum[j]);
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }

  if (first_line + line < pass.lines) {
    const int x0 = first + taps / 2 + column;
    dst = TO(dst, dst_view.offset + (ulong)(first_line + line) * TO_UNITS);
#pragma unroll
    for (int j = 0; j < OUTPUTS; ++j) {
      if (x0 + j < pass.length) {
        STORE_PIXEL(TO(dst, (ulong)(x0 + j) * dst_view.pitch), 0, sum[j]);
      }
    }
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// On images: the source is one, and so is the picture between the passes. The sampler repeats the
// borders, so that no tap is clamped. Work-groups are naive's.
//   image_line    naive through the texture unit
//   image_table   image_line with the normalised weights as data
//   linear_pairs  image_table with two neighbouring taps per read: between two texels the texture
//                 unit gives their weighted mean
//
// With CLCOOK_DST_IMAGE the pass writes an image of float4, else a buffer. Texels of integers are
// 0 to 1; the first pass multiplies its sums by CLCOOK_LINE_BLUR_TEXEL_TOP, the largest integer.
#if defined(CLCOOK_LINE_BLUR_IMAGE_LINE) || defined(CLCOOK_LINE_BLUR_IMAGE_TABLE) || \
    defined(CLCOOK_LINE_BLUR_LINEAR_PAIRS)
#ifndef CLCOOK_LINE_BLUR_TEXEL_TOP
#define CLCOOK_LINE_BLUR_TEXEL_TOP 1.0f
#endif
#ifdef CLCOOK_DST_IMAGE
#define IMAGE_RESULT __write_only image2d_t dst
#define STORE_TRANSPOSED(x, line, sum) \
  write_imagef(dst, (int2)(line, x), (sum)*CLCOOK_LINE_BLUR_TEXEL_TOP)
#else
#define IMAGE_RESULT __global result_pixel *restrict dst, clcook_view dst_view
#define STORE_TRANSPOSED(x, line, sum) \
  STORE_PIXEL(TO(dst, dst_view.offset + (ulong)(x)*dst_view.pitch), (ulong)(line), sum)
#endif
#endif

#if defined(CLCOOK_LINE_BLUR_IMAGE_LINE) || defined(CLCOOK_LINE_BLUR_IMAGE_TABLE)
__constant sampler_t line_blur_nearest =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
#endif

#ifdef CLCOOK_LINE_BLUR_IMAGE_LINE
__kernel LINE_BLUR_GROUP void line_blur_image_line(__read_only image2d_t src, IMAGE_RESULT,
                                                   pass_t pass, taps_t taps) {
  const int line = (int)get_group_id(0);
  const int group = (int)get_local_size(0);
  for (int x = (int)get_local_id(0); x < pass.length; x += group) {
    float4 sum = (float4)(0.0f);
    float norm = 0.0f;
    for (int k = -taps.side; k <= taps.side; ++k) {
      const float w = line_blur_weight(k, taps);
      sum = fma((float4)(w), read_imagef(src, line_blur_nearest, (int2)(x + k, line)), sum);
      norm += w;
    }
    STORE_TRANSPOSED(x, line, sum / norm);
  }
}
#endif

// weights[k + radius], |k| <= radius.
#ifdef CLCOOK_LINE_BLUR_IMAGE_TABLE
__kernel LINE_BLUR_GROUP void line_blur_image_table(__read_only image2d_t src, IMAGE_RESULT,
                                                    pass_t pass, int radius,
                                                    __global const float* restrict weights) {
  const int line = (int)get_group_id(0);
  const int group = (int)get_local_size(0);
  for (int x = (int)get_local_id(0); x < pass.length; x += group) {
    float4 sum = (float4)(0.0f);
    for (int k = -radius; k <= radius; ++k) {
      const float4 texel = read_imagef(src, line_blur_nearest, (int2)(x + k, line));
      sum = fma((float4)(weights[k + radius]), texel, sum);
    }
    STORE_TRANSPOSED(x, line, sum);
  }
}
#endif

// reads: .x is the place between two taps, from the pixel's left edge, a multiple of 1/256, and .y
// their weight. There are radius + 1 of them. The filter reads the next line too, with a weight of
// 0: a NaN or an infinity there makes a NaN.
#ifdef CLCOOK_LINE_BLUR_LINEAR_PAIRS
__constant sampler_t line_blur_linear =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;

__kernel LINE_BLUR_GROUP void line_blur_linear_pairs(__read_only image2d_t src, IMAGE_RESULT,
                                                     pass_t pass, int radius,
                                                     __global const float2* restrict reads) {
  const int line = (int)get_group_id(0);
  const int group = (int)get_local_size(0);
  for (int x = (int)get_local_id(0); x < pass.length; x += group) {
    float4 sum = (float4)(0.0f);
    for (int i = 0; i <= radius; ++i) {
      const float2 at = (float2)((float)x + reads[i].x, (float)line + 0.5f);
      sum = fma((float4)(reads[i].y), read_imagef(src, line_blur_linear, at), sum);
    }
    STORE_TRANSPOSED(x, line, sum);
  }
}
#endif
