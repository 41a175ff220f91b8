// Neighbourhood filters of pictures and volumes: every variant of the recipe halo_tile.
//
// A filter looks at the (2 radius + 1)^2 neighbours of each pixel, itself included; in a volume at
// (2 radius + 1)^3. CLCOOK_HALO_TILE_DILATION: their maximum. CLCOOK_HALO_TILE_EROSION: their minimum.
// CLCOOK_HALO_TILE_MEDIAN: their median, radius 1 only. CLCOOK_HALO_TILE_CLAMP: the pixel of a second picture, the history,
// brought between their minimum and maximum. A NaN among the neighbours counts as -infinity in a
// maximum, as +infinity in a minimum and in the median; without any number among the neighbours the
// history stays what it is. Channels are filtered independently, in their own type, halfs as
// floats: that is exact, the filters only compare. Extremes of rank_filter are the same of keys, of which
// none is a NaN: CLCOOK_CHANNEL_KEY16 and CLCOOK_CHANNEL_KEY32. Their constant is one of keys.
//
// The host compiles one variant per program: -DCLCOOK_HALO_TILE_ONLY -DCLCOOK_HALO_TILE_<VARIANT>,
// the filter, the pixels' type as pixel.clh says (CLCOOK_CHANNEL_*, and CLCOOK_CHANNELS: 1 to 4),
// CLCOOK_HALO_TILE_VOLUME, RADIUS, and the outputs of a group: TILE_W x TILE_H x TILE_D.
//
// Views count pixels, those of three channels channels. The constant outside of a volume has values of the pixels' type. history is
// read by the clamp alone.
#include <clcook/pixel16.clh>
// Pixels of three channels are structs, and rows of them begin at any channel.
#if CLCOOK_CHANNELS == 3
#define CLCOOK_HALO_ROW(src, n) \
  ((__global const clcook_stored_t*)((__global const clcook_channel_t*)(src) + (n)))
#endif
#include <clcook/halo.clh>
#include <clcook/view.clh>

#ifndef CLCOOK_HALO_TILE_ONLY
#define CLCOOK_HALO_TILE_DIRECT
#define CLCOOK_HALO_TILE_DIRECT_MULTI
#define CLCOOK_HALO_TILE_IMAGE
#define CLCOOK_HALO_TILE_IMAGE_NO_SAMPLER
#define CLCOOK_HALO_TILE_LOCAL_TILE
#define CLCOOK_HALO_TILE_LOCAL_TILE_MULTI
#define CLCOOK_HALO_TILE_BLOCK
#define CLCOOK_HALO_TILE_SLICES
#define CLCOOK_HALO_TILE_SLICES_FIRST
#define CLCOOK_HALO_TILE_COLUMNS_FIRST
#define CLCOOK_HALO_TILE_CPU_ROWS
#endif
#ifndef CLCOOK_HALO_TILE_RADIUS
#define CLCOOK_HALO_TILE_RADIUS 1
#endif
#ifndef CLCOOK_HALO_TILE_TILE_W
#define CLCOOK_HALO_TILE_TILE_W 16
#define CLCOOK_HALO_TILE_TILE_H 16
#define CLCOOK_HALO_TILE_TILE_D 1
#endif
#ifndef CLCOOK_HALO_TILE_OUTPUTS
#define CLCOOK_HALO_TILE_OUTPUTS 4
#endif

#define RADIUS CLCOOK_HALO_TILE_RADIUS
#define TILE_W CLCOOK_HALO_TILE_TILE_W
#define TILE_H CLCOOK_HALO_TILE_TILE_H
#define TILE_D CLCOOK_HALO_TILE_TILE_D
#define OUTPUTS CLCOOK_HALO_TILE_OUTPUTS
#ifdef CLCOOK_HALO_TILE_VOLUME
#define RADIUS_Z RADIUS
#else
#define RADIUS_Z 0
#endif

typedef clcook_pixel_t pixel;
typedef clcook_stored_t stored;
#define CHANNELS CLCOOK_CHANNELS
// The pixel n units of a view behind p, to be read or written, and channels of a unit.
#define FROM(p, n) CLCOOK_HALO_ROW(p, n)
#if CHANNELS == 3
#define TO(p, n) ((__global stored*)((__global clcook_channel_t*)(p) + (n)))
#define UNIT 1
#else
#define TO(p, n) ((p) + (n))
#define UNIT CHANNELS
#endif
// The constant. Of integers the host has made it a whole number of their range, so it is not rounded
// here; it also must not be: PoCL 6 makes zeros of rounded pairs, see docs/driver_bugs.md.
#ifdef CLCOOK_CHANNEL_KEY
#define CONSTANT as_uint4(volume.outside)
#define OUTSIDE HALO_TILE_CHANNELS(HALO_TILE_TO_QUAD(CONSTANT))
#else
#define CONSTANT volume.outside
#define OUTSIDE CLCOOK_PIXEL_TO(CLCOOK_PIXEL_N(CLCOOK_CHANNEL_VALUE))(clcook_first(volume.outside))
#endif

// No channel is less, none more; MAX and MIN of pixels.
#if defined(CLCOOK_CHANNEL_TOP)
#define LEAST 0
#define MOST CLCOOK_CHANNEL_TOP
#define PIXEL_MAX(v, a) max((pixel)(v), (pixel)(a))
#define PIXEL_MIN(v, a) min((pixel)(v), (pixel)(a))
#else
#define LEAST -INFINITY
#define MOST INFINITY
#define PIXEL_MAX fmax
#define PIXEL_MIN fmin
#endif
typedef CLCOOK_CHANNEL_VALUE channel;
typedef CLCOOK_PIXEL_PASTE(CLCOOK_CHANNEL_VALUE, 4) halo_tile_quad;
// The channels of a texel.
#if CHANNELS == 4
#define HALO_TILE_CHANNELS(texel) texel
#elif CHANNELS == 3
#define HALO_TILE_CHANNELS(texel) texel.xyz
#elif CHANNELS == 2
#define HALO_TILE_CHANNELS(texel) texel.xy
#else
#define HALO_TILE_CHANNELS(texel) texel.x
#endif
#define HALO_TILE_TO_QUAD CLCOOK_PIXEL_TO(CLCOOK_PIXEL_PASTE(CLCOOK_CHANNEL_VALUE, 4))

#define HALO_TILE_GROUP(w, h, d) __attribute__((reqd_work_group_size(w, h, d)))

CLCOOK_HALO_2D_FROM(halo_tile_load, pixel, stored, clcook_read_pixel)
CLCOOK_HALO_3D_FROM(halo_tile_load_3d, pixel, stored, clcook_read_pixel)

// ------------------------------------------------------------------------------------------------
// The filters, in two steps that every variant shares: the pixels 0, 1, ... of a row of neighbours
// go into a row value, the rows 0, 1, ... into a sum. MAX(v, a) and MIN(v, a) ignore a NaN in v.
// With constant positions nothing is left of the `if`s.
#if defined(CLCOOK_HALO_TILE_MEDIAN)
// A row is sorted: 3 compare-exchanges. The median of 9 is the median of three: the largest of the
// smallest, the middle of the middle ones, the smallest of the largest.
#define HALO_TILE_FILTER(NAME, V, MAX, MIN)                                        \
  typedef struct {                                                                 \
    V low, mid, high;                                                              \
  } NAME##_row;                                                                    \
  typedef struct {                                                                 \
    V low, mid, other, high;                                                       \
  } NAME##_sum;                                                                    \
  static inline void NAME##_pixel(NAME##_row* row, V v, int i) {                   \
    const V number = MIN(v, (V)(MOST));                                            \
    if (i == 0) {                                                                  \
      row->low = number;                                                           \
    } else if (i == 1) {                                                           \
      row->mid = MAX(number, row->low);                                            \
      row->low = MIN(number, row->low);                                            \
    } else {                                                                       \
      row->high = MAX(number, row->mid);                                           \
      const V lower = MIN(number, row->mid);                                       \
      row->mid = MAX(lower, row->low);                                             \
      row->low = MIN(lower, row->low);                                             \
    }                                                                              \
  }                                                                                \
  static inline void NAME##_merge(NAME##_sum* sum, const NAME##_row* row, int i) { \
    if (i == 0) {                                                                  \
      sum->low = row->low;                                                         \
      sum->mid = row->mid;                                                         \
      sum->high = row->high;                                                       \
    } else {                                                                       \
      sum->low = MAX(row->low, sum->low);                                          \
      sum->high = MIN(row->high, sum->high);                                       \
      if (i == 1) {                                                                \
        sum->other = MAX(row->mid, sum->mid);                                      \
        sum->mid = MIN(row->mid, sum->mid);                                        \
      } else {                                                                     \
        sum->mid = MAX(MIN(row->mid, sum->other), sum->mid);                       \
      }                                                                            \
    }                                                                              \
  }                                                                                \
  static inline V NAME##_result(const NAME##_sum* sum, V history) {                \
    const V above = MAX(sum->low, sum->high);                                      \
    const V below = MIN(sum->low, sum->high);                                      \
    return MAX(below, MIN(above, sum->mid));                                       \
  }
#define HALO_TILE_HISTORY(x, y, z) (pixel)(0)
#elif defined(CLCOOK_HALO_TILE_CLAMP)
#define HALO_TILE_FILTER(NAME, V, MAX, MIN)                                        \
  typedef struct {                                                                 \
    V low, high;                                                                   \
  } NAME##_row;                                                                    \
  typedef NAME##_row NAME##_sum;                                                   \
  static inline void NAME##_pixel(NAME##_row* row, V v, int i) {                   \
    row->low = MIN(v, i == 0 ? (V)(MOST) : row->low);                              \
    row->high = MAX(v, i == 0 ? (V)(LEAST) : row->high);                           \
  }                                                                                \
  static inline void NAME##_merge(NAME##_sum* sum, const NAME##_row* row, int i) { \
    sum->low = i == 0 ? row->low : MIN(row->low, sum->low);                        \
    sum->high = i == 0 ? row->high : MAX(row->high, sum->high);                    \
  }                                                                                \
  static inline V NAME##_result(const NAME##_sum* sum, V history) {                \
    const V raised = MAX(history, sum->low);                                       \
    return sum->low > sum->high ? history : MIN(raised, sum->high);                \
  }
#define HALO_TILE_HISTORY(x, y, z) \
  clcook_read_pixel(FROM(history, halo_tile_index(history_view, volume, x, y, z)))
#else
#ifdef CLCOOK_HALO_TILE_EROSION
#define EXTREME(MAX, MIN) MIN
#define FARTHEST MOST
#else
#define EXTREME(MAX, MIN) MAX
#define FARTHEST LEAST
#endif
#define HALO_TILE_FILTER(NAME, V, MAX, MIN)                                        \
  typedef struct {                                                                 \
    V of;                                                                          \
  } NAME##_row;                                                                    \
  typedef NAME##_row NAME##_sum;                                                   \
  static inline void NAME##_pixel(NAME##_row* row, V v, int i) {                   \
    row->of = EXTREME(MAX, MIN)(v, i == 0 ? (V)(FARTHEST) : row->of);              \
  }                                                                                \
  static inline void NAME##_merge(NAME##_sum* sum, const NAME##_row* row, int i) { \
    sum->of = i == 0 ? row->of : EXTREME(MAX, MIN)(row->of, sum->of);              \
  }                                                                                \
  static inline V NAME##_result(const NAME##_sum* sum, V history) { return sum->of; }
#define HALO_TILE_HISTORY(x, y, z) (pixel)(0)
#endif

HALO_TILE_FILTER(halo_tile, pixel, PIXEL_MAX, PIXEL_MIN)

static inline ulong halo_tile_index(clcook_view view, clcook_volume volume, int x, int y, int z) {
  return clcook_view_row(view, z, volume.height, y) + (ulong)x * (CHANNELS / UNIT);
}

// ------------------------------------------------------------------------------------------------
// direct: every neighbour from global memory. Where the whole neighbourhood lies inside, no index
// is mapped.
#ifdef CLCOOK_HALO_TILE_DIRECT
__kernel HALO_TILE_GROUP(TILE_W, TILE_H, TILE_D) void halo_tile_direct(
    __global const stored* restrict src, clcook_view src_view,
    __global const stored* restrict history, clcook_view history_view,
    __global stored* restrict dst, clcook_view dst_view, clcook_volume volume) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  const int z = (int)get_global_id(2);
  if (x >= volume.width || y >= volume.height || z >= volume.depth) return;
  const ulong slice = (ulong)volume.height * src_view.pitch;
  halo_tile_sum sum;
  if (x >= RADIUS && y >= RADIUS && z >= RADIUS_Z && x + RADIUS < volume.width &&
      y + RADIUS < volume.height && z + RADIUS_Z < volume.depth) {
    src = FROM(src, halo_tile_index(src_view, volume, x - RADIUS, y - RADIUS, z - RADIUS_Z));
    for (int dz = 0; dz <= 2 * RADIUS_Z; ++dz) {
      for (int dy = 0; dy <= 2 * RADIUS; ++dy) {
        __global const stored* in = FROM(src, (ulong)dz * slice + (ulong)dy * src_view.pitch);
        halo_tile_row row;
        for (int dx = 0; dx <= 2 * RADIUS; ++dx)
          halo_tile_pixel(&row, clcook_read_pixel(in + dx), dx);
        halo_tile_merge(&sum, &row, dz + dy);
      }
    }
  } else {
    // Few work-items come here. In rolled loops they need no more registers than the others.
    int columns[2 * RADIUS + 1];
    for (int dx = 0; dx <= 2 * RADIUS; ++dx)
      columns[dx] = clcook_border(x + dx - RADIUS, volume.width, volume.border);
    src = FROM(src, src_view.offset);
#pragma unroll 1
    for (int dz = 0; dz <= 2 * RADIUS_Z; ++dz) {
      const int layer =
          RADIUS_Z == 0 ? z : clcook_border(z + dz - RADIUS_Z, volume.depth, volume.border);
#pragma unroll 1
      for (int dy = 0; dy <= 2 * RADIUS; ++dy) {
        const int line = clcook_border(y + dy - RADIUS, volume.height, volume.border);
        const int outside = layer < 0 || line < 0;
        __global const stored* in =
            FROM(src, outside ? 0 : (ulong)layer * slice + (ulong)line * src_view.pitch);
        halo_tile_row row;
        for (int dx = 0; dx <= 2 * RADIUS; ++dx) {
          const int column = columns[dx];
          halo_tile_pixel(&row, outside || column < 0 ? OUTSIDE : clcook_read_pixel(in + column),
                          dx);
        }
        halo_tile_merge(&sum, &row, dz + dy);
      }
    }
  }
  clcook_write_pixel(TO(dst, halo_tile_index(dst_view, volume, x, y, z)),
                     halo_tile_result(&sum, HALO_TILE_HISTORY(x, y, z)));
}
#endif

// ------------------------------------------------------------------------------------------------
// direct_multi: OUTPUTS pixels of a column per item. A row of neighbours is read once, and its
// value is merged into the sums of all outputs that see it:
// (OUTPUTS + 2 radius) (2 radius + 1) / OUTPUTS reads per output, no local memory.
// Group: TILE_W x TILE_H / OUTPUTS.
#ifdef CLCOOK_HALO_TILE_DIRECT_MULTI
__kernel HALO_TILE_GROUP(TILE_W, TILE_H / OUTPUTS, 1) void halo_tile_direct_multi(
    __global const stored* restrict src, clcook_view src_view,
    __global const stored* restrict history, clcook_view history_view,
    __global stored* restrict dst, clcook_view dst_view, clcook_volume volume) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1) * OUTPUTS;
  if (x >= volume.width || y >= volume.height) return;
  halo_tile_sum sum[OUTPUTS];
  if (x >= RADIUS && y >= RADIUS && x + RADIUS < volume.width &&
      y + OUTPUTS - 1 + RADIUS < volume.height) {
    src = FROM(src, halo_tile_index(src_view, volume, x - RADIUS, y - RADIUS, 0));
#if RADIUS <= 4
#pragma unroll
#endif
    for (int t = 0; t < OUTPUTS + 2 * RADIUS; ++t) {
      __global const stored* in = FROM(src, (ulong)t * src_view.pitch);
      halo_tile_row row;
      for (int dx = 0; dx <= 2 * RADIUS; ++dx)
        halo_tile_pixel(&row, clcook_read_pixel(in + dx), dx);
#pragma unroll
      for (int j = 0; j < OUTPUTS; ++j) {
        if (t >= j && t <= j + 2 * RADIUS) halo_tile_merge(&sum[j], &row, t - j);
      }
    }
  } else {
#if RADIUS <= 4
#pragma unroll
#endif
    for (int t = 0; t < OUTPUTS + 2 * RADIUS; ++t) {
      halo_tile_row row;
      for (int dx = 0; dx <= 2 * RADIUS; ++dx) {
        const pixel v = halo_tile_load_at(FROM(src, src_view.offset), src_view.pitch, volume.width,
                                          volume.height, x + dx - RADIUS, y + t - RADIUS,
                                          volume.border, OUTSIDE);
        halo_tile_pixel(&row, v, dx);
      }
#pragma unroll
      for (int j = 0; j < OUTPUTS; ++j) {
        if (t >= j && t <= j + 2 * RADIUS) halo_tile_merge(&sum[j], &row, t - j);
      }
    }
  }
#pragma unroll
  for (int j = 0; j < OUTPUTS; ++j) {
    if (y + j < volume.height) {
      clcook_write_pixel(TO(dst, halo_tile_index(dst_view, volume, x, y + j, 0)),
                         halo_tile_result(&sum[j], HALO_TILE_HISTORY(x, y + j, 0)));
    }
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// image: every neighbour through the texture unit. The sampler does the border mode clamp; the
// others are mapped where the neighbourhood crosses the border.
#ifdef CLCOOK_HALO_TILE_IMAGE
#if defined(CLCOOK_CHANNEL_TOP)
#define HALO_TILE_TEXEL4(at) HALO_TILE_TO_QUAD(read_imageui(src, halo_tile_sampler, at))
#else
#define HALO_TILE_TEXEL4(at) read_imagef(src, halo_tile_sampler, at)
#endif
#define HALO_TILE_TEXEL(column, row) HALO_TILE_CHANNELS(HALO_TILE_TEXEL4((int2)(column, row)))

__constant sampler_t halo_tile_sampler =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

__kernel HALO_TILE_GROUP(TILE_W, TILE_H, 1) void halo_tile_image(
    __read_only image2d_t src, __global const stored* restrict history, clcook_view history_view,
    __global stored* restrict dst, clcook_view dst_view, clcook_volume volume) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= volume.width || y >= volume.height) return;
  halo_tile_sum sum;
  if (volume.border == CLCOOK_BORDER_CLAMP ||
      (x >= RADIUS && y >= RADIUS && x + RADIUS < volume.width && y + RADIUS < volume.height)) {
    for (int dy = 0; dy <= 2 * RADIUS; ++dy) {
      halo_tile_row row;
      for (int dx = 0; dx <= 2 * RADIUS; ++dx) {
        halo_tile_pixel(&row, HALO_TILE_TEXEL(x + dx - RADIUS, y + dy - RADIUS), dx);
      }
      halo_tile_merge(&sum, &row, dy);
    }
  } else {
    for (int dy = 0; dy <= 2 * RADIUS; ++dy) {
      const int v = clcook_border(y + dy - RADIUS, volume.height, volume.border);
      halo_tile_row row;
      for (int dx = 0; dx <= 2 * RADIUS; ++dx) {
        const int u = clcook_border(x + dx - RADIUS, volume.width, volume.border);
        const pixel texel = HALO_TILE_TEXEL(u, v);
        halo_tile_pixel(&row, u < 0 || v < 0 ? OUTSIDE : texel, dx);
      }
      halo_tile_merge(&sum, &row, dy);
    }
  }
  clcook_write_pixel(TO(dst, halo_tile_index(dst_view, volume, x, y, 0)),
                     halo_tile_result(&sum, HALO_TILE_HISTORY(x, y, 0)));
}
#endif

// ------------------------------------------------------------------------------------------------
// image_no_sampler: as image, but reads take no sampler, so that pixels outside are found by hand,
// in the groups at the border alone.
#ifdef CLCOOK_HALO_TILE_IMAGE_NO_SAMPLER
#if defined(CLCOOK_CHANNEL_TOP)
#define HALO_TILE_FETCH4(at) HALO_TILE_TO_QUAD(read_imageui(src, at))
#else
#define HALO_TILE_FETCH4(at) read_imagef(src, at)
#endif
#define HALO_TILE_FETCH(column, row) HALO_TILE_CHANNELS(HALO_TILE_FETCH4((int2)(column, row)))

__kernel HALO_TILE_GROUP(TILE_W, TILE_H, 1) void halo_tile_image_no_sampler(
    __read_only image2d_t src, __global const stored* restrict history, clcook_view history_view,
    __global stored* restrict dst, clcook_view dst_view, clcook_volume volume) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= volume.width || y >= volume.height) return;
  halo_tile_sum sum;
  if (x >= RADIUS && y >= RADIUS && x + RADIUS < volume.width && y + RADIUS < volume.height) {
    for (int dy = 0; dy <= 2 * RADIUS; ++dy) {
      halo_tile_row row;
      for (int dx = 0; dx <= 2 * RADIUS; ++dx) {
        halo_tile_pixel(&row, HALO_TILE_FETCH(x + dx - RADIUS, y + dy - RADIUS), dx);
      }
      halo_tile_merge(&sum, &row, dy);
    }
  } else {
    for (int dy = 0; dy <= 2 * RADIUS; ++dy) {
      const int v = clcook_border(y + dy - RADIUS, volume.height, volume.border);
      halo_tile_row row;
      for (int dx = 0; dx <= 2 * RADIUS; ++dx) {
        const int u = clcook_border(x + dx - RADIUS, volume.width, volume.border);
        const pixel texel = HALO_TILE_FETCH(max(u, 0), max(v, 0));
        halo_tile_pixel(&row, u < 0 || v < 0 ? OUTSIDE : texel, dx);
      }
      halo_tile_merge(&sum, &row, dy);
    }
  }
  clcook_write_pixel(TO(dst, halo_tile_index(dst_view, volume, x, y, 0)),
                     halo_tile_result(&sum, HALO_TILE_HISTORY(x, y, 0)));
}
#endif

// ------------------------------------------------------------------------------------------------
// local_tile: the group loads its tile and the halo once; every neighbour comes from local memory.
// One output per item. Local memory: TILE_PITCH x SPAN_H x SPAN_D pixels.
#define SPAN_W (TILE_W + 2 * RADIUS)
#define SPAN_H (TILE_H + 2 * RADIUS)
#define SPAN_D (TILE_D + 2 * RADIUS_Z)
#define TILE_PITCH CLCOOK_HALO_PITCH(TILE_W, RADIUS, (int)sizeof(pixel))

#ifdef CLCOOK_HALO_TILE_LOCAL_TILE
__kernel HALO_TILE_GROUP(TILE_W, TILE_H, TILE_D) void halo_tile_local_tile(
    __global const stored* restrict src, clcook_view src_view,
    __global const stored* restrict history, clcook_view history_view,
    __global stored* restrict dst, clcook_view dst_view, clcook_volume volume,
    __local pixel* restrict tile) {
  const int i = (int)get_local_id(0);
  const int j = (int)get_local_id(1);
  const int k = (int)get_local_id(2);
  const int x0 = (int)get_group_id(0) * TILE_W;
  const int y0 = (int)get_group_id(1) * TILE_H;
  const int z0 = (int)get_group_id(2) * TILE_D;
  const int lid = (k * TILE_H + j) * TILE_W + i;
#ifdef CLCOOK_HALO_TILE_VOLUME
  halo_tile_load_3d(tile, TILE_PITCH, TILE_PITCH * SPAN_H, SPAN_W, SPAN_H, SPAN_D, lid,
                    TILE_W * TILE_H * TILE_D, FROM(src, src_view.offset), src_view.pitch,
                    (ulong)volume.height * src_view.pitch, volume.width, volume.height,
                    volume.depth, x0 - RADIUS, y0 - RADIUS, z0 - RADIUS_Z, volume.border, OUTSIDE);
#else
  halo_tile_load(tile, TILE_PITCH, SPAN_W, SPAN_H, lid, TILE_W * TILE_H, FROM(src, src_view.offset),
                 src_view.pitch, volume.width, volume.height, x0 - RADIUS, y0 - RADIUS,
                 volume.border, OUTSIDE);
#endif
  barrier(CLK_LOCAL_MEM_FENCE);

  const int x = x0 + i;
  const int y = y0 + j;
  const int z = z0 + k;
  if (x < volume.width && y < volume.height && z < volume.depth) {
    halo_tile_sum sum;
    for (int dz = 0; dz <= 2 * RADIUS_Z; ++dz) {
      for (int dy = 0; dy <= 2 * RADIUS; ++dy) {
        __local const pixel* in = tile + ((k + dz) * SPAN_H + j + dy) * TILE_PITCH + i;
        halo_tile_row row;
        for (int dx = 0; dx <= 2 * RADIUS; ++dx) halo_tile_pixel(&row, in[dx], dx);
        halo_tile_merge(&sum, &row, dz + dy);
      }
    }
    clcook_write_pixel(TO(dst, halo_tile_index(dst_view, volume, x, y, z)),
                       halo_tile_result(&sum, HALO_TILE_HISTORY(x, y, z)));
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// local_tile_multi: OUTPUTS pixels of a column per item, from a tile in local memory.
// Group: TILE_W x TILE_H / OUTPUTS.
//   radius 1           as direct_multi, with the rows read from the tile
//   radius 2 and more  the filters separate: the row values are made first, 4 in a row per step
//                      from 2 radius + 4 reads, and stored in local memory; then each item merges
//                      OUTPUTS + 2 radius of them. The steps of a group run down the rows, and both
//                      pitches are odd: no bank conflicts.
#ifdef CLCOOK_HALO_TILE_LOCAL_TILE_MULTI
#define MULTI_ITEMS (TILE_W * (TILE_H / OUTPUTS))
#define MULTI_STEP 4
#if RADIUS >= 2
#define MULTI_PITCH (SPAN_W | 1)
#define MULTI_ROWS_PITCH (TILE_W | 1)
#else
#define MULTI_PITCH SPAN_W
#endif

__kernel HALO_TILE_GROUP(TILE_W, TILE_H / OUTPUTS, 1) void halo_tile_local_tile_multi(
    __global const stored* restrict src, clcook_view src_view,
    __global const stored* restrict history, clcook_view history_view,
    __global stored* restrict dst, clcook_view dst_view, clcook_volume volume,
    __local pixel* restrict tile) {
  const int i = (int)get_local_id(0);
  const int j0 = (int)get_local_id(1) * OUTPUTS;
  const int lid = (int)get_local_id(1) * TILE_W + i;
  const int x0 = (int)get_group_id(0) * TILE_W;
  const int y0 = (int)get_group_id(1) * TILE_H;
  halo_tile_load(tile, MULTI_PITCH, SPAN_W, SPAN_H, lid, MULTI_ITEMS, FROM(src, src_view.offset),
                 src_view.pitch, volume.width, volume.height, x0 - RADIUS, y0 - RADIUS,
                 volume.border, OUTSIDE);
  barrier(CLK_LOCAL_MEM_FENCE);

#if RADIUS >= 2
  __local halo_tile_row* rows = (__local halo_tile_row*)(tile + SPAN_H * MULTI_PITCH);
  for (int task = lid; task < SPAN_H * (TILE_W / MULTI_STEP); task += MULTI_ITEMS) {
    const int block = task / SPAN_H;
    const int line = task - block * SPAN_H;
    __local const pixel* in = tile + line * MULTI_PITCH + block * MULTI_STEP;
    halo_tile_row row[MULTI_STEP];
#if RADIUS <= 8
#pragma unroll
#endif
    for (int t = 0; t < MULTI_STEP + 2 * RADIUS; ++t) {
      const pixel v = in[t];
#pragma unroll
      for (int s = 0; s < MULTI_STEP; ++s) {
        if (t >= s && t <= s + 2 * RADIUS) halo_tile_pixel(&row[s], v, t - s);
      }
    }
#pragma unroll
    for (int s = 0; s < MULTI_STEP; ++s) {
      rows[line * MULTI_ROWS_PITCH + block * MULTI_STEP + s] = row[s];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#endif

  halo_tile_sum sum[OUTPUTS];
#if RADIUS <= 8
#pragma unroll
#endif
  for (int t = 0; t < OUTPUTS + 2 * RADIUS; ++t) {
#if RADIUS >= 2
    const halo_tile_row row = rows[(j0 + t) * MULTI_ROWS_PITCH + i];
#else
    __local const pixel* in = tile + (j0 + t) * MULTI_PITCH + i;
    halo_tile_row row;
    for (int dx = 0; dx <= 2 * RADIUS; ++dx) halo_tile_pixel(&row, in[dx], dx);
#endif
#pragma unroll
    for (int j = 0; j < OUTPUTS; ++j) {
      if (t >= j && t <= j + 2 * RADIUS) halo_tile_merge(&sum[j], &row, t - j);
    }
  }
  const int x = x0 + i;
  if (x < volume.width) {
#pragma unroll
    for (int j = 0; j < OUTPUTS; ++j) {
      const int y = y0 + j0 + j;
      if (y < volume.height) {
        clcook_write_pixel(TO(dst, halo_tile_index(dst_view, volume, x, y, 0)),
                           halo_tile_result(&sum[j], HALO_TILE_HISTORY(x, y, 0)));
      }
    }
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// What block and slices share: WIDE pixels of a row per item, four pixels of one channel in one read,
// where rows begin at multiples of four.
#if defined(CLCOOK_HALO_TILE_BLOCK) || defined(CLCOOK_HALO_TILE_SLICES)
#if CHANNELS == 1
#define WIDE 4
#else
#define WIDE 1
#endif

#define HALO_TILE_INLINE static inline __attribute__((always_inline, unused))

// Whether all rows of a view begin at a multiple of WIDE pixels.
HALO_TILE_INLINE int halo_tile_is_aligned(clcook_view view) {
  return (view.offset | view.pitch) % WIDE == 0;
}

// The WIDE pixels at p, and one more on both sides.
HALO_TILE_INLINE void halo_tile_read_wide(pixel in[WIDE + 2], __global const stored* p,
                                          int aligned) {
#if CHANNELS == 1
  if (aligned) {
    in[0] = clcook_read_pixel(p - 1);
#if defined(CLCOOK_CHANNEL_HALF)
    const halo_tile_quad v = vload_half4(0, (__global const half*)p);
#else
    const halo_tile_quad v = *(__global const halo_tile_quad*)p;
#endif
    in[1] = v.x;
    in[2] = v.y;
    in[3] = v.z;
    in[4] = v.w;
    in[5] = clcook_read_pixel(p + 4);
    return;
  }
#endif
#pragma unroll
  for (int c = 0; c < WIDE + 2; ++c) in[c] = clcook_read_pixel(p + c - 1);
}

// The columns of the pixels from x - 1 on, -1 for the constant.
HALO_TILE_INLINE void halo_tile_columns_of(int columns[WIDE + 2], clcook_volume volume, int x) {
#pragma unroll
  for (int c = 0; c < WIDE + 2; ++c)
    columns[c] = clcook_border(x + c - 1, volume.width, volume.border);
}

// The same at the border: pixels of a row of the source, which is the constant where y is -1.
HALO_TILE_INLINE void halo_tile_read_mapped(pixel in[WIDE + 2], const int columns[WIDE + 2],
                                            __global const stored* row, int y,
                                            clcook_volume volume) {
#pragma unroll
  for (int c = 0; c < WIDE + 2; ++c)
    in[c] = y < 0 || columns[c] < 0 ? OUTSIDE : clcook_read_pixel(row + columns[c]);
}

// Results of the pixels from x on, as far as the picture goes.
HALO_TILE_INLINE void halo_tile_write_wide(const halo_tile_sum sum[WIDE],
                                           __global const stored* history, clcook_view history_view,
                                           __global stored* dst, clcook_view dst_view,
                                           clcook_volume volume, int x, int y, int z) {
  __global stored* to = TO(dst, halo_tile_index(dst_view, volume, x, y, z));
  pixel out[WIDE];
#pragma unroll
  for (int c = 0; c < WIDE; ++c) {
    out[c] = halo_tile_result(&sum[c], HALO_TILE_HISTORY(min(x + c, volume.width - 1), y, z));
  }
#if CHANNELS == 1
  if (halo_tile_is_aligned(dst_view) && x + 4 <= volume.width) {
    const halo_tile_quad v = (halo_tile_quad)(out[0], out[1], out[2], out[3]);
#if defined(CLCOOK_CHANNEL_HALF)
    vstore_half4_rte(v, 0, (__global half*)to);
#else
    *(__global halo_tile_quad*)to = v;
#endif
    return;
  }
#endif
#pragma unroll
  for (int c = 0; c < WIDE; ++c) {
    if (x + c < volume.width) clcook_write_pixel(to + c, out[c]);
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// block: radius 1, pictures. A block of WIDE x OUTPUTS pixels per item, in registers.
// The neighbours of a column come first, and two results share the order of the two pixels between
// them: in a column, and again across columns.
// Group: TILE_W / WIDE x TILE_H / OUTPUTS. OUTPUTS is even.
#ifdef CLCOOK_HALO_TILE_BLOCK
// A row of results from the row values of its columns and of those beside it.
HALO_TILE_INLINE void halo_tile_across(const halo_tile_row columns[WIDE + 2],
                                       halo_tile_sum out[WIDE]) {
#pragma unroll
  for (int c = 0; c < WIDE; c += 2) {
    halo_tile_merge(&out[c], &columns[c + 1], 0);
    halo_tile_merge(&out[c], &columns[c + 2], 1);
#if WIDE > 1
    out[c + 1] = out[c];
    halo_tile_merge(&out[c + 1], &columns[c + 3], 2);
#endif
    halo_tile_merge(&out[c], &columns[c], 2);
  }
}

__kernel HALO_TILE_GROUP(TILE_W / WIDE, TILE_H / OUTPUTS, 1) void halo_tile_block(
    __global const stored* restrict src, clcook_view src_view,
    __global const stored* restrict history, clcook_view history_view,
    __global stored* restrict dst, clcook_view dst_view, clcook_volume volume) {
  const int x = (int)get_global_id(0) * WIDE;
  const int y = (int)get_global_id(1) * OUTPUTS;
  if (x >= volume.width || y >= volume.height) return;
  pixel in[OUTPUTS + 2][WIDE + 2];
  if (x >= 1 && y >= 1 && x + WIDE < volume.width && y + OUTPUTS < volume.height) {
    const int aligned = halo_tile_is_aligned(src_view);
    src = FROM(src, halo_tile_index(src_view, volume, x, y - 1, 0));
#pragma unroll
    for (int t = 0; t < OUTPUTS + 2; ++t)
      halo_tile_read_wide(in[t], FROM(src, (ulong)t * src_view.pitch), aligned);
  } else {
    int columns[WIDE + 2];
    halo_tile_columns_of(columns, volume, x);
#pragma unroll
    for (int t = 0; t < OUTPUTS + 2; ++t) {
      const int row = clcook_border(y + t - 1, volume.height, volume.border);
      halo_tile_read_mapped(in[t], columns,
                            FROM(src, halo_tile_index(src_view, volume, 0, max(row, 0), 0)), row,
                            volume);
    }
  }
#pragma unroll
  for (int q = 0; q < OUTPUTS; q += 2) {
    halo_tile_row upper[WIDE + 2], lower[WIDE + 2];
#pragma unroll
    for (int c = 0; c < WIDE + 2; ++c) {
      halo_tile_pixel(&upper[c], in[q + 1][c], 0);
      halo_tile_pixel(&upper[c], in[q + 2][c], 1);
      lower[c] = upper[c];
      halo_tile_pixel(&upper[c], in[q][c], 2);
      halo_tile_pixel(&lower[c], in[q + 3][c], 2);
    }
    halo_tile_sum sum[WIDE];
    halo_tile_across(upper, sum);
    if (y + q < volume.height)
      halo_tile_write_wide(sum, history, history_view, dst, dst_view, volume, x, y + q, 0);
    halo_tile_across(lower, sum);
    if (y + q + 1 < volume.height)
      halo_tile_write_wide(sum, history, history_view, dst, dst_view, volume, x, y + q + 1, 0);
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// slices: radius 1, volumes. A group goes down TILE_D slices and reads each pixel of its tile once.
// An item has WIDE pixels of a row: the neighbours in x come with them, those in y through local
// memory, those in z are in registers from slice to slice. Two slices are on their way while the
// one before is worked on, and lie in local memory in turns: one barrier per slice.
// Group: TILE_W / WIDE x TILE_H + 2, with a row of items above and below the outputs. Local memory:
// two slices of (TILE_H + 2) TILE_W row values.
#ifdef CLCOOK_HALO_TILE_SLICES
#define SLICES_ROW (TILE_W / WIDE)
#define SLICES_SIZE (TILE_W * (TILE_H + 2))

// The pixels of the slice z of an item; `row` is -1 for the constant.
HALO_TILE_INLINE void halo_tile_read_slice(pixel in[WIDE + 2], __global const stored* src,
                                           clcook_view view, clcook_volume volume, int x, int row,
                                           int z) {
  const int layer = clcook_border(z, volume.depth, volume.border);
  if (x >= 1 && x + WIDE < volume.width && row >= 0 && layer >= 0) {
    halo_tile_read_wide(in, FROM(src, halo_tile_index(view, volume, x, row, layer)),
                        halo_tile_is_aligned(view));
  } else {
    int columns[WIDE + 2];
    halo_tile_columns_of(columns, volume, x);
    halo_tile_read_mapped(in, columns,
                          FROM(src, halo_tile_index(view, volume, 0, max(row, 0), max(layer, 0))),
                          min(row, layer), volume);
  }
}

// The sums of an item's neighbours within a slice, from a row of it. `at` is the item's place in
// local memory, and may be that of a row of items beside the outputs: then the sums are none.
HALO_TILE_INLINE void halo_tile_slice(halo_tile_sum out[WIDE], const pixel in[WIDE + 2],
                                      __local halo_tile_row* slice, int at, int above, int below) {
  halo_tile_row row[WIDE];
#pragma unroll
  for (int c = 0; c < WIDE; c += 2) {
    halo_tile_pixel(&row[c], in[c + 1], 0);
    halo_tile_pixel(&row[c], in[c + 2], 1);
#if WIDE > 1
    row[c + 1] = row[c];
    halo_tile_pixel(&row[c + 1], in[c + 3], 2);
#endif
    halo_tile_pixel(&row[c], in[c], 2);
  }
#pragma unroll
  for (int c = 0; c < WIDE; ++c) slice[at + c * SLICES_ROW] = row[c];
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (int c = 0; c < WIDE; ++c) {
    const halo_tile_row up = slice[above + c * SLICES_ROW];
    const halo_tile_row down = slice[below + c * SLICES_ROW];
    halo_tile_merge(&out[c], &row[c], 0);
    halo_tile_merge(&out[c], &up, 1);
    halo_tile_merge(&out[c], &down, 2);
  }
}

__kernel HALO_TILE_GROUP(TILE_W / WIDE, TILE_H + 2, 1) void halo_tile_slices(
    __global const stored* restrict src, clcook_view src_view,
    __global const stored* restrict history, clcook_view history_view,
    __global stored* restrict dst, clcook_view dst_view, clcook_volume volume,
    __local halo_tile_row* slices) {
  const int i = (int)get_local_id(0);
  const int j = (int)get_local_id(1);
  const int x = (int)get_group_id(0) * TILE_W + i * WIDE;
  const int y = (int)get_group_id(1) * TILE_H + j - 1;
  const int z0 = (int)get_group_id(2) * TILE_D;
  const int z1 = min(z0 + TILE_D, volume.depth);
  const int row = clcook_border(y, volume.height, volume.border);
  const int writes = x < volume.width && y < volume.height && j >= 1 && j <= TILE_H;
  const int at = j * TILE_W + i;
  const int above = max(j - 1, 0) * TILE_W + i;
  const int below = min(j + 1, TILE_H + 1) * TILE_W + i;

  // The slices z and z + 1: `both` is of the two before z, `last` of the one before.
  pixel in[WIDE + 2], next[WIDE + 2];
  halo_tile_read_slice(in, src, src_view, volume, x, row, z0 - 1);
  halo_tile_read_slice(next, src, src_view, volume, x, row, z0);
  halo_tile_sum both[WIDE], last[WIDE];  // before the first two slices nothing
#pragma unroll
  for (int c = 0; c < WIDE; ++c) {
    halo_tile_pixel(&both[c], in[c], 0);
    last[c] = both[c];
  }
  for (int z = z0 - 1; z <= z1; z += 2) {
    halo_tile_sum here[WIDE], after[WIDE];
    halo_tile_slice(here, in, slices, at, above, below);
    if (z + 2 <= z1) halo_tile_read_slice(in, src, src_view, volume, x, row, z + 2);
    halo_tile_slice(after, next, slices + SLICES_SIZE, at, above, below);
    if (z + 2 <= z1) halo_tile_read_slice(next, src, src_view, volume, x, row, z + 3);
      // Two slices of results share the two between them.
#pragma unroll
    for (int c = 0; c < WIDE; ++c) {
      halo_tile_merge(&both[c], &here[c], 1);
      halo_tile_merge(&here[c], &after[c], 1);
      halo_tile_merge(&last[c], &here[c], 1);
    }
    if (writes && z > z0)
      halo_tile_write_wide(both, history, history_view, dst, dst_view, volume, x, y, z - 1);
    if (writes && z > z0 && z < z1)
      halo_tile_write_wide(last, history, history_view, dst, dst_view, volume, x, y, z);
#pragma unroll
    for (int c = 0; c < WIDE; ++c) {
      both[c] = here[c];
      last[c] = after[c];
    }
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// The row values of OUTPUTS windows of 2 radius + 1 pixels, for columns_first and slices_first: value t
// is READ(t), of type V, and is added to a row value of i others by ADD(row, value, i). That takes about
// three comparisons per window whatever the radius: `kept` has what lies between a pixel and the end
// of a block of 2 radius pixels, `after` what lies between there and the last pixel (van Herk 1992; Gil
// and Werman 1993).
#define WINDOWS_SPAN (2 * RADIUS)
#define WINDOWS_KEPT (WINDOWS_SPAN < OUTPUTS ? WINDOWS_SPAN : OUTPUTS)
#define HALO_TILE_WINDOWS(out, V, READ, ADD)                          \
  do {                                                                \
    halo_tile_row kept[WINDOWS_KEPT], before, after;                  \
    for (int t = WINDOWS_SPAN - 1; t >= WINDOWS_KEPT; --t) {          \
      const V v = READ(t);                                            \
      ADD(&before, v, WINDOWS_SPAN - 1 - t);                          \
    }                                                                 \
    _Pragma("unroll") for (int t = WINDOWS_KEPT - 1; t >= 0; --t) {   \
      const V v = READ(t);                                            \
      ADD(&before, v, WINDOWS_SPAN - 1 - t);                          \
      kept[t] = before;                                               \
    }                                                                 \
    _Pragma("unroll") for (int q = 0; q < OUTPUTS; ++q) {             \
      const int j = q % WINDOWS_SPAN;                                 \
      const V v = READ(WINDOWS_SPAN + q);                             \
      ADD(&after, v, j);                                              \
      out[q] = kept[j];                                               \
      halo_tile_merge(&out[q], &after, 1);                            \
      ADD(&kept[j], v, 0);                                            \
      if (j == WINDOWS_SPAN - 1) {                                    \
        _Pragma("unroll") for (int k = WINDOWS_KEPT - 2; k >= 0; --k) \
            halo_tile_merge(&kept[k], &kept[k + 1], 1);               \
      }                                                               \
    }                                                                 \
  } while (0)

// ------------------------------------------------------------------------------------------------
// slices_first: the first of two steps of a dilation or erosion of a volume, in which an item makes the
// extremes of 2 radius + 1 slices for OUTPUTS slices of one pixel. The second step is columns_first, of
// each slice. `dst` is memory of the plan.
// Group: FIRST_W x FIRST_H pixels of OUTPUTS slices.
#if defined(CLCOOK_HALO_TILE_SLICES_FIRST) && defined(EXTREME)
#define FIRST_W 64
#define FIRST_H 4

// The pixel of the slice `layer`, -1 for the constant; `column` is that of the first slice.
static inline pixel halo_tile_of_slice(__global const stored* column, ulong slice, int layer,
                                       clcook_volume volume) {
  return layer < 0 ? OUTSIDE : clcook_read_pixel(FROM(column, (ulong)layer * slice));
}

__kernel HALO_TILE_GROUP(FIRST_W, FIRST_H, 1) void halo_tile_slices_first(
    __global const stored* restrict src, clcook_view src_view, __global stored* restrict dst,
    clcook_view dst_view, clcook_volume volume) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  const int z0 = (int)get_group_id(2) * OUTPUTS;
  if (x >= volume.width || y >= volume.height) return;
  const ulong slice = (ulong)volume.height * src_view.pitch;
  src = FROM(src, halo_tile_index(src_view, volume, x, y, 0));
  halo_tile_row out[OUTPUTS];
  if (z0 >= RADIUS && z0 + OUTPUTS + RADIUS <= volume.depth) {
    __global const stored* from = FROM(src, (ulong)(z0 - RADIUS) * slice);
#define SLICES_READ(t) clcook_read_pixel(FROM(from, (ulong)(t)*slice))
    HALO_TILE_WINDOWS(out, pixel, SLICES_READ, halo_tile_pixel);
  } else {
#define SLICES_READ_MAPPED(t)                                                                   \
  halo_tile_of_slice(src, slice, clcook_border(z0 - RADIUS + (t), volume.depth, volume.border), \
                     volume)
    HALO_TILE_WINDOWS(out, pixel, SLICES_READ_MAPPED, halo_tile_pixel);
  }
#pragma unroll
  for (int q = 0; q < OUTPUTS; ++q) {
    if (z0 + q < volume.depth)
      clcook_write_pixel(TO(dst, halo_tile_index(dst_view, volume, x, y, z0 + q)), out[q].of);
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// columns_first: dilation, erosion and clamp of pictures, with as few reads of local memory as possible. An
// item makes the row values of OUTPUTS pixels in a column, from global memory, and puts them into
// local memory; then it makes OUTPUTS results in a line from these; then the results go through
// local memory once more, so that neighbouring items write neighbouring pixels. Of a volume it is the
// second step of slices_first: a group makes a tile of one slice.
// The steps of a group along lines run down the lines, and the pitch is odd: no bank conflicts.
// Group: SPAN_W x TILE_H / OUTPUTS items, so that none has two columns. Local memory: TILE_H lines of
// SPAN_W | 1 row values.
#ifdef CLCOOK_HALO_TILE_COLUMNS_FIRST
#define COLUMNS_PITCH (SPAN_W | 1)
#define COLUMNS_ITEMS (SPAN_W * (TILE_H / OUTPUTS))

__kernel HALO_TILE_GROUP(COLUMNS_ITEMS, 1, 1) void halo_tile_columns_first(
    __global const stored* restrict src, clcook_view src_view,
    __global const stored* restrict history, clcook_view history_view,
    __global stored* restrict dst, clcook_view dst_view, clcook_volume volume,
    __local halo_tile_row* rows) {
  const int lid = (int)get_local_id(0);
  const int x0 = (int)get_group_id(0) * TILE_W;
  const int y0 = (int)get_group_id(1) * TILE_H;
  const int z = (int)get_group_id(2);
  halo_tile_row out[OUTPUTS];

  const int i = lid % SPAN_W;
  const int j0 = lid / SPAN_W * OUTPUTS;
  if (x0 >= RADIUS && y0 >= RADIUS && x0 + TILE_W + RADIUS <= volume.width &&
      y0 + TILE_H + RADIUS <= volume.height) {
    __global const stored* from =
        FROM(src, halo_tile_index(src_view, volume, x0 - RADIUS + i, y0 - RADIUS + j0, z));
#define COLUMNS_READ(t) clcook_read_pixel(FROM(from, (ulong)(t)*src_view.pitch))
    HALO_TILE_WINDOWS(out, pixel, COLUMNS_READ, halo_tile_pixel);
  } else {
    __global const stored* picture = FROM(src, halo_tile_index(src_view, volume, 0, 0, z));
#define COLUMNS_READ_MAPPED(t)                                                             \
  halo_tile_load_at(picture, src_view.pitch, volume.width, volume.height, x0 - RADIUS + i, \
                    y0 - RADIUS + j0 + (t), volume.border, OUTSIDE)
    HALO_TILE_WINDOWS(out, pixel, COLUMNS_READ_MAPPED, halo_tile_pixel);
  }
#pragma unroll
  for (int q = 0; q < OUTPUTS; ++q) rows[(j0 + q) * COLUMNS_PITCH + i] = out[q];
  barrier(CLK_LOCAL_MEM_FENCE);

  __local halo_tile_row* line =
      rows + lid % TILE_H * COLUMNS_PITCH + min(lid / TILE_H * OUTPUTS, TILE_W - OUTPUTS);
#define COLUMNS_READ_LINE(t) line[t]
#define COLUMNS_ADD(row, v, n) halo_tile_merge(row, &(v), n)
  HALO_TILE_WINDOWS(out, halo_tile_row, COLUMNS_READ_LINE, COLUMNS_ADD);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lid < TILE_W / OUTPUTS * TILE_H) {
#pragma unroll
    for (int q = 0; q < OUTPUTS; ++q) line[q] = out[q];
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  for (int cell = lid; cell < TILE_W * TILE_H; cell += COLUMNS_ITEMS) {
    const int j = cell / TILE_W;
    const int x = x0 + cell - j * TILE_W;
    const int y = y0 + j;
    if (x < volume.width && y < volume.height) {
      const halo_tile_row sum = rows[j * COLUMNS_PITCH + x - x0];
      clcook_write_pixel(TO(dst, halo_tile_index(dst_view, volume, x, y, z)),
                         halo_tile_result(&sum, HALO_TILE_HISTORY(x, y, z)));
    }
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// cpu_rows: for a CPU. One work-item is a tile of TILE_W channels x TILE_H rows of a picture,
// OUTPUTS rows at a time. Pixels are channels in a row, the neighbour in x is CHANNELS channels away,
// and LANES channels are one explicit vector. Comparisons instead of fmax(): one instruction instead of
// three.
//
// The neighbours of a column come first, from the source, and make the lines: a row value for each
// pixel of a row of results and for RADIUS pixels beside it. Maxima and minima separate, so each row
// of the source is read once for all results in the column: `kept` has what lies between a row and
// the end of a block of 2 radius rows, `after` what lies between there and the last row (van Herk
// 1992; Gil and Werman 1993). In a volume a row is that of the neighbours in z.
//
// Then the neighbours along a line: windows of 3, 9, 27, 81 pixels in place, as far as they are
// shorter than the neighbourhood, and three of the last ones.
//
// Group: one item. Local memory: OUTPUTS lines of LINE channels per value.
#ifdef CLCOOK_HALO_TILE_CPU_ROWS
#define CPU_MAX(v, a) ((v) > (a) ? (v) : (a))
#define CPU_MIN(v, a) ((v) < (a) ? (v) : (a))

HALO_TILE_FILTER(halo_tile_wide, clcook_wide_t, CPU_MAX, CPU_MIN)

#define SPAN (2 * RADIUS)
#define KEPT (SPAN < OUTPUTS ? SPAN : OUTPUTS)
#define WINDOW (RADIUS <= 1 ? 1 : RADIUS <= 4 ? 3 : RADIUS <= 13 ? 9 : RADIUS <= 40 ? 27 : 81)
#define VALUES ((int)(sizeof(halo_tile_wide_row) / sizeof(clcook_wide_t)))
#define LANES CLCOOK_LANES
// A line: LEFT channels, the tile, LEFT channels, and a vector to spare.
#define LEFT ((RADIUS * CHANNELS + LANES - 1) / LANES * LANES)
#define SPARE (TILE_W + 2 * LEFT)
#define LINE (SPARE + LANES)

#ifdef CLCOOK_CHANNEL_KEY
#define HALO_TILE_PUT(p, i, v) ((p)[i] = CLCOOK_PIXEL_PASTE(clcook_bits_, CLCOOK_CHANNEL_TYPE)(v))
#else
#define HALO_TILE_PUT(p, i, v) clcook_store_channel(p, (ulong)(i), (float)(v))
#endif

// Vectors of a line: those of vload16() and vstore16() would be parts of vectors on PoCL.
typedef clcook_loose_wide_t halo_tile_loose;

// The rows that OUTPUTS rows of results see: where they and the pictures of the volume begin, -1
// for the constant. LANES channels of the constant begin with the first one; of three with any.
typedef struct {
  __global const clcook_channel_t* src;
  long layers[2 * RADIUS_Z + 1];
  long rows[SPAN + OUTPUTS];
  clcook_wide_t outside[CHANNELS == 3 ? 3 : 1];
} halo_tile_source;

static inline clcook_wide_t halo_tile_take(const halo_tile_source* from, int inside, int layer,
                                           int row, int column) {
  const long z = RADIUS_Z == 0 ? 0 : from->layers[layer];
  const long y = from->rows[row];
  return inside || (z >= 0 && y >= 0) ? clcook_read_wide(from->src + (z + y + column))
                                      : from->outside[CHANNELS == 3 ? column % 3 : 0];
}

static inline void halo_tile_put(__local channel* to, const halo_tile_wide_row* row) {
  const clcook_wide_t* values = (const clcook_wide_t*)row;
#pragma unroll
  for (int k = 0; k < VALUES; ++k) {
    *(__local halo_tile_loose*)(to + k * (OUTPUTS * LINE)) = values[k];
  }
}

static inline halo_tile_wide_row halo_tile_get(__local const channel* from) {
  halo_tile_wide_row row;
  clcook_wide_t* values = (clcook_wide_t*)&row;
#pragma unroll
  for (int k = 0; k < VALUES; ++k) {
    values[k] = *(__local const halo_tile_loose*)(from + k * (OUTPUTS * LINE));
  }
  return row;
}

// The row values of the LANES columns from `column` on, to the same place in all lines. `inside` is a
// constant: most vectors need no test of their rows.
static inline __attribute__((always_inline)) void halo_tile_columns(const halo_tile_source* from,
                                                                    int inside, int column,
                                                                    __local channel* to) {
#ifdef CLCOOK_HALO_TILE_MEDIAN
  clcook_wide_t rows[SPAN + OUTPUTS];
#pragma unroll
  for (int t = 0; t < SPAN + OUTPUTS; ++t) rows[t] = halo_tile_take(from, inside, 0, t, column);
    // Two results share the order of two rows.
#pragma unroll
  for (int q = 0; q < OUTPUTS; q += 2) {
    halo_tile_wide_row upper, lower;
    halo_tile_wide_pixel(&upper, rows[q + 1], 0);
    halo_tile_wide_pixel(&upper, rows[q + 2], 1);
    lower = upper;
    halo_tile_wide_pixel(&upper, rows[q], 2);
    halo_tile_wide_pixel(&lower, rows[q + 3], 2);
    halo_tile_put(to + q * LINE, &upper);
    halo_tile_put(to + (q + 1) * LINE, &lower);
  }
#else
  halo_tile_wide_row kept[KEPT];
  halo_tile_wide_row before;
#if RADIUS <= 4
#pragma unroll
#endif
  for (int t = SPAN - 1; t >= 0; --t) {
#if RADIUS == 1
#pragma unroll
#endif
    for (int z = 0; z <= 2 * RADIUS_Z; ++z) {
      const clcook_wide_t v = halo_tile_take(from, inside, z, t, column);
      halo_tile_wide_pixel(&before, v, SPAN - 1 - t + z);
    }
    if (t < KEPT) kept[t] = before;
  }
  halo_tile_wide_row after;
#pragma unroll
  for (int q = 0; q < OUTPUTS; ++q) {
    const int j = q % SPAN;
    halo_tile_wide_row row;
#if RADIUS == 1
#pragma unroll
#endif
    for (int z = 0; z <= 2 * RADIUS_Z; ++z)
      halo_tile_wide_pixel(&row, halo_tile_take(from, inside, z, SPAN + q, column), z);
    halo_tile_wide_merge(&after, &row, j);
    halo_tile_wide_merge(&kept[j], &after, 1);
    halo_tile_put(to + q * LINE, &kept[j]);
    kept[j] = row;
    if (j == SPAN - 1) {
#pragma unroll
      for (int k = KEPT - 2; k >= 0; --k) halo_tile_wide_merge(&kept[k], &kept[k + 1], 1);
    }
  }
#endif
}

__kernel HALO_TILE_GROUP(1, 1, 1) void halo_tile_cpu_rows(
    __global const stored* restrict src, clcook_view src_view,
    __global const stored* restrict history, clcook_view history_view,
    __global stored* restrict dst, clcook_view dst_view, clcook_volume volume,
    __local channel* restrict lines) {
  const int values = volume.width * CHANNELS;
  const int begin = (int)get_group_id(0) * TILE_W;
  const int count = min(TILE_W, values - begin);
  const int y0 = (int)get_group_id(1) * TILE_H;
  const int y1 = min(y0 + TILE_H, volume.height);
  const int z = (int)get_group_id(2);
  const ulong pitch = src_view.pitch * UNIT;

  halo_tile_source from;
  from.src = (__global const clcook_channel_t*)FROM(src, src_view.offset);
  const halo_tile_quad beyond = HALO_TILE_TO_QUAD(CONSTANT);
  for (int i = 0; i < (CHANNELS == 3 ? 3 : 1); ++i) {
    channel of[LANES];
    for (int c = 0; c < LANES; ++c) {
      const int at = (i + c) % CHANNELS;
      of[c] = at == 0 ? beyond.x : at == 1 ? beyond.y : at == 2 ? beyond.z : beyond.w;
    }
    from.outside[i] = *(const halo_tile_loose*)of;
  }
  const int inside_z = z >= RADIUS_Z && z + RADIUS_Z < volume.depth;
  for (int k = 0; k <= 2 * RADIUS_Z; ++k) {
    const int layer = clcook_border(z + k - RADIUS_Z, volume.depth, volume.border);
    from.layers[k] = layer < 0 ? -1 : (long)((ulong)layer * (ulong)volume.height * pitch);
  }
  halo_tile_wide_row outer;
  for (int t = 0; t <= SPAN; ++t) halo_tile_wide_pixel(&outer, from.outside[0], t);

  // What the lines hold of the picture, and how many pixels to the left and right of it.
  const int first = max(begin - LEFT, 0);
  const int last = min(begin + count + RADIUS * CHANNELS, values);
  const int left = max(RADIUS - begin / CHANNELS, 0);
  const int right = max((begin + count - values) / CHANNELS + RADIUS, 0);

#if WINDOW > 1
  // The last vectors of windows take in what lies behind the line. No result sees it.
  for (int q = 0; q < VALUES * OUTPUTS; ++q) {
    for (int f = LEFT + count / LANES * LANES; f < LINE; f += LANES)
      *(__local halo_tile_loose*)(lines + q * LINE + f) = (clcook_wide_t)(0);
  }
#endif

  for (int y = y0; y < y1; y += OUTPUTS) {
    for (int t = 0; t < SPAN + OUTPUTS; ++t) {
      const int row = clcook_border(y + t - RADIUS, volume.height, volume.border);
      from.rows[t] = row < 0 ? -1 : (long)((ulong)row * pitch);
    }
    const int inside = volume.border != CLCOOK_BORDER_CONSTANT ||
                       (inside_z && y >= RADIUS && y + OUTPUTS + RADIUS <= volume.height);
    // The last vector ends with the row.
    const int vectors = (last - first + LANES - 1) / LANES;
    for (int k = 0; inside && k < vectors; ++k) {
      const int at = min(first + LANES * k, values - LANES);
#if RADIUS_Z == 0
      // The rows that the next OUTPUTS rows of results see and these do not.
      if (y + 2 * OUTPUTS + RADIUS <= volume.height && at % (64 / (int)sizeof(*from.src)) < LANES) {
#pragma unroll
        for (int t = 0; t < OUTPUTS; ++t)
          CLCOOK_PREFETCH(from.src + from.rows[SPAN + t] + (long)(OUTPUTS * pitch) + at);
      }
#endif
      halo_tile_columns(&from, 1, at, lines + (at - begin + LEFT));
    }
    // The same with tests of their rows, then the pixels beside the picture.
    for (int k = inside ? vectors : 0; k < vectors + left + right; ++k) {
      const int beside = k - vectors;
      const int x =
          beside < left ? begin / CHANNELS - RADIUS + beside : volume.width + beside - left;
      const int column = clcook_border(x, volume.width, volume.border) * CHANNELS;
      __local channel* to = lines + (x * CHANNELS - begin + LEFT);
      __local const channel* same = lines + SPARE;
      int at = -1;
      int at_line = SPARE;
      if (beside < 0) {
        at = min(first + LANES * k, values - LANES);
        at_line = at - begin + LEFT;
      } else if (column < 0) {
        for (int q = 0; q < OUTPUTS; ++q) halo_tile_put(lines + SPARE + q * LINE, &outer);
      } else if (column >= first && column < last) {
        same = lines + (column - begin + LEFT);
      } else {
        at = min(column, values - LANES);
        same += column - at;
      }
      if (at >= 0) halo_tile_columns(&from, 0, at, lines + at_line);
      if (beside < 0) continue;
      for (int q = 0; q < VALUES * OUTPUTS; ++q) {
        for (int c = 0; c < CHANNELS; ++c) to[q * LINE + c] = same[q * LINE + c];
      }
    }

    for (int q = 0; q < OUTPUTS && y + q < y1; ++q) {
      __local channel* line = lines + (q * LINE + LEFT - RADIUS * CHANNELS);
#if WINDOW > 1
#pragma unroll
      for (int window = 1; window < WINDOW; window *= 3) {
        for (int f = 0; f < count + (SPAN + 1 - 3 * window) * CHANNELS; f += LANES) {
          halo_tile_wide_row row = halo_tile_get(line + f);
          const halo_tile_wide_row next = halo_tile_get(line + f + window * CHANNELS);
          const halo_tile_wide_row third = halo_tile_get(line + f + 2 * window * CHANNELS);
          halo_tile_wide_merge(&row, &next, 1);
          halo_tile_wide_merge(&row, &third, 1);
          halo_tile_put(line + f, &row);
        }
      }
#endif
#ifdef CLCOOK_HALO_TILE_CLAMP
      __global const clcook_channel_t* past =
          (__global const clcook_channel_t*)history +
          (halo_tile_index(history_view, volume, 0, y + q, z) * UNIT + (ulong)begin);
#endif
      __global clcook_channel_t* out =
          (__global clcook_channel_t*)dst +
          (halo_tile_index(dst_view, volume, 0, y + q, z) * UNIT + (ulong)begin);
      const int stream = ((ulong)out & (sizeof(clcook_wide_t) - 1)) == 0;
      for (int f = 0; f < count; f += LANES) {
        const halo_tile_wide_row a = halo_tile_get(line + f);
        const halo_tile_wide_row b = halo_tile_get(line + f + (SPAN + 1 - WINDOW) / 2 * CHANNELS);
        const halo_tile_wide_row c = halo_tile_get(line + f + (SPAN + 1 - WINDOW) * CHANNELS);
        halo_tile_wide_sum sum;
        halo_tile_wide_merge(&sum, &a, 0);
        halo_tile_wide_merge(&sum, &b, 1);
        halo_tile_wide_merge(&sum, &c, 2);
        if (f + LANES <= count) {
#ifdef CLCOOK_HALO_TILE_CLAMP
          const clcook_wide_t old = clcook_read_wide(past + f);
#else
          const clcook_wide_t old = (clcook_wide_t)(0);
#endif
          clcook_write_wide(out + f, halo_tile_wide_result(&sum, old), stream);
        } else {
          channel rest[LANES] = {0};
#ifdef CLCOOK_HALO_TILE_CLAMP
          for (int i = 0; i < LANES; ++i)
            rest[i] = (channel)clcook_load_channel(past + f, (ulong)min(i, count - f - 1));
#endif
          *(halo_tile_loose*)rest = halo_tile_wide_result(&sum, *(const halo_tile_loose*)rest);
          for (int i = 0; i < count - f; ++i) HALO_TILE_PUT(out + f, i, rest[i]);
        }
      }
    }
  }
}
#endif
