// The Gaussian blur of bytes for CPUs: columns and rows in one launch, in vectors of 16 bits.
//
// A work-item takes a tile of the region and makes a row of results at a time: the columns, from the
// source as it lies, to a line in local memory; then the rows, along that line. There is no ring of
// lines: the rows that a column takes are bytes that stay in the cache, and reading them again costs
// less than floats that are read once.
//
// Two values that have the same weight are added first, at most 510. A product is the upper half of
// 32 bits: (values 2^7) times (weight 2^16) gives the result in steps of 2^-7, rounded down. `bias` is
// the half step that each product loses in the mean. The weights of an axis, the first of them half
// of what it is, come to 2^15, so that white stays white, and no sum exceeds 16 bits.
#define CLCOOK_CHANNEL_U8
#include <clcook/halo.clh>
#include <clcook/pixel16.clh>
#include <clcook/view.clh>

#ifndef CLCOOK_GAUSSIAN_MOST
#define CLCOOK_GAUSSIAN_MOST 24  // pixels that a filter reaches
#endif

#define INLINE static inline __attribute__((always_inline))

// Vectors of a line, which lie anywhere.
typedef ushort16 __attribute__((aligned(2))) loose_t;

// 16 columns, four times: as many sums as registers hold with what they read.
#define AT_ONCE 4

INLINE ushort16 times(ushort16 value, ushort16 weight) {
  return convert_ushort16((convert_uint16(value) * convert_uint16(weight)) >> 16);
}

// The rows that a row of results sees, the taps of which are `radius` each way: where they begin, -1
// for what is outside of the picture.
typedef struct {
  __global const uchar* src;
  long rows[2 * CLCOOK_GAUSSIAN_MOST + 1];
  ushort16 outside[3];  // 16 channels that begin with the first one; of three with any
} source_t;

INLINE ushort16 take(const source_t* from, int inside, int row, int column) {
  const long begin = from->rows[row];
  return inside || begin >= 0 ? convert_ushort16(clcook_read_wide(from->src + (begin + column)))
                              : from->outside[CLCOOK_CHANNELS == 3 ? column % 3 : 0];
}

// Sums of columns, of `count` vectors from `column` on, to the same place in the line.
INLINE void filter_columns(const source_t* from, int inside, int column, int count, int radius,
                           __global const ushort* weights, __local ushort* to) {
  const ushort16 bias = (ushort16)((ushort)((radius + 1) / 2));
  const ushort16 middle = (ushort16)(weights[0]);
  ushort16 sums[AT_ONCE];
#pragma unroll
  for (int v = 0; v < AT_ONCE; ++v) {
    if (v < count)
      sums[v] = bias + times(take(from, inside, radius, column + 16 * v) << (ushort)8, middle);
  }
  for (int k = 1; k <= radius; ++k) {
    const ushort16 weight = (ushort16)(weights[k]);
#pragma unroll
    for (int v = 0; v < AT_ONCE; ++v) {
      if (v < count) {
        const ushort16 two = take(from, inside, radius - k, column + 16 * v) +
                             take(from, inside, radius + k, column + 16 * v);
        sums[v] += times(two << (ushort)7, weight);
      }
    }
  }
#pragma unroll
  for (int v = 0; v < AT_ONCE; ++v) {
    if (v < count) *(__local loose_t*)(to + 16 * v) = sums[v];
  }
}

// Sums along a line, of `count` vectors from `line` on.
INLINE void filter_row(__local const ushort* line, int count, int radius,
                       __global const ushort* weights, uchar16* results) {
  const ushort16 bias = (ushort16)((ushort)((radius + 1) / 2 + 64));  // 64: to the nearest
  const ushort16 middle = (ushort16)(weights[0]);
  ushort16 sums[AT_ONCE];
#pragma unroll
  for (int v = 0; v < AT_ONCE; ++v) {
    if (v < count)
      sums[v] = bias + times(*(__local const loose_t*)(line + 16 * v) << (ushort)1, middle);
  }
  for (int k = 1; k <= radius; ++k) {
    const ushort16 weight = (ushort16)(weights[k]);
    __local const ushort* before = line - k * CLCOOK_CHANNELS;
    __local const ushort* behind = line + k * CLCOOK_CHANNELS;
#pragma unroll
    for (int v = 0; v < AT_ONCE; ++v) {
      if (v < count) {
        sums[v] += times(
            *(__local const loose_t*)(before + 16 * v) + *(__local const loose_t*)(behind + 16 * v),
            weight);
      }
    }
  }
#pragma unroll
  for (int v = 0; v < AT_ONCE; ++v) {
    if (v < count) results[v] = convert_uchar16(sums[v] >> (ushort)7);
  }
}

// Items: tiles of `tile` channels of the region x strips of `strip` rows x pictures. Local memory: a
// line of a tile with the pixels beside it, a vector before and two behind. Views count channels.
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void gaussian_blur_cpu_bytes(
    __global const uchar* src, clcook_view src_view, __global uchar* dst, clcook_view dst_view,
    clcook_picture picture, int tile, int strip, __global const ushort* weights_x, int radius_x,
    __global const ushort* weights_y, int radius_y, __local ushort* lines) {
  const clcook_region region = picture.region;
  const int values = picture.width * CLCOOK_CHANNELS;
  const int number = (int)get_group_id(2);
  const int halo = radius_x * CLCOOK_CHANNELS;
  const int tile_begin = (int)get_group_id(0) * tile;
  const int count = min(tile, region.width * CLCOOK_CHANNELS - tile_begin);
  const int begin = region.x * CLCOOK_CHANNELS + tile_begin;  // channels of the picture
  const int y0 = (int)get_group_id(1) * strip;
  const int y1 = min(y0 + strip, region.height);
  // What the line holds of the picture, and how many pixels before and behind it.
  const int first = max(begin - halo, 0);
  const int last = min(begin + count + halo, values);
  const int left = max(halo - begin, 0) / CLCOOK_CHANNELS;
  const int right = max(begin + count + halo - values, 0) / CLCOOK_CHANNELS;
  const int vectors = (last - first + 15) / 16;
  __local ushort* line = lines + 16 + halo;  // of the tile's first channel
  __local ushort* spare = line + tile + halo + 16;
  source_t from;
  from.src = src + clcook_view_row(src_view, number, picture.height, 0);
  for (int i = 0; i < 3; ++i) {
    ushort outside[16];
    for (int c = 0; c < 16; ++c)
      outside[c] = (ushort)clcook_channel_of(picture.outside, (i + c) % CLCOOK_CHANNELS);
    from.outside[i] = vload16(0, outside);
  }
  dst += clcook_view_row(dst_view, number, region.height, 0) + (ulong)tile_begin;
  for (int y = y0; y < y1; ++y) {
    int inside = 1;
    for (int t = 0; t <= 2 * radius_y; ++t) {
      const int row = clcook_border(region.y + y + t - radius_y, picture.height, picture.border);
      from.rows[t] = row < 0 ? -1 : (long)((ulong)row * src_view.pitch);
      inside = inside && row >= 0;
    }
    int k = 0;
    for (; inside && k + AT_ONCE <= vectors && first + 16 * (k + AT_ONCE) <= values; k += AT_ONCE)
      filter_columns(&from, 1, first + 16 * k, AT_ONCE, radius_y, weights_y,
                     line + (first - begin + 16 * k));
    // The last vector ends with the row.
    for (; k < vectors; ++k) {
      const int at = min(first + 16 * k, values - 16);
      filter_columns(&from, 0, at, 1, radius_y, weights_y, line + (at - begin));
    }
    for (int beside = 0; beside < left + right; ++beside) {
      const int x = beside < left ? begin / CLCOOK_CHANNELS - radius_x + beside
                                  : picture.width + beside - left;
      const int column = clcook_border(x, picture.width, picture.border) * CLCOOK_CHANNELS;
      __local ushort* to = line + (x * CLCOOK_CHANNELS - begin);
      __local const ushort* same = spare;
      if (column >= first && column < last) {
        same = line + (column - begin);
      } else if (column >= 0) {
        const int at = min(column, values - 16);
        filter_columns(&from, 0, at, 1, radius_y, weights_y, spare);
        same = spare + (column - at);
      }
      for (int c = 0; c < CLCOOK_CHANNELS; ++c)
        to[c] = column < 0 ? (ushort)((ushort)clcook_channel_of(picture.outside, c) << 7) : same[c];
    }
    __global uchar* out = dst + (ulong)y * dst_view.pitch;
    uchar16 results[AT_ONCE];
    int f = 0;
    for (; f + 16 * AT_ONCE <= count; f += 16 * AT_ONCE) {
      filter_row(line + f, AT_ONCE, radius_x, weights_x, results);
#pragma unroll
      for (int v = 0; v < AT_ONCE; ++v) clcook_write_wide(out + f + 16 * v, results[v], 0);
    }
    for (; f < count; f += 16) {
      filter_row(line + f, 1, radius_x, weights_x, results);
      if (f + 16 <= count) {
        clcook_write_wide(out + f, results[0], 0);
      } else {
        for (int i = 0; i < count - f; ++i) out[f + i] = ((const uchar*)results)[i];
      }
    }
  }
}
