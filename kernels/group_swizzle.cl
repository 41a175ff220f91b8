// The order in which the work-groups of a launch cover a picture: every variant of the recipe
// group_swizzle, with one of two uses of it.
//
//   filter  dst(x, y) = matrix * src(x, y). Every pixel is read once, by one item.
//   gather  dst(x, y) = the mean of `taps` pixels at pseudo-random places at most `radius` away in
//           x and y. Places outside of the picture take the nearest border pixel. A pixel is read
//           by items that are up to twice the radius apart.
//
// The launch has one dimension of groups: global (groups * S, S), local (S, S), so that
// get_group_id(0) is the number of the group in the device's own order. grid_x * grid_y = groups is
// the grid of groups that covers the picture. `strip` is the width of the strips of column_tiles
// and xcd in groups, `chiplets` the number of chiplets of xcd; the others ignore both. cpu_tiles
// has tiles of its own, one work-item each, and strips of them. Pixels are float4; offsets and
// pitches are in pixels. red, green, blue and alpha are the matrix's columns: what a unit of that
// channel becomes.
//
// The host compiles one variant and use per program: -DCLCOOK_GROUP_SWIZZLE_ONLY
// -DCLCOOK_GROUP_SWIZZLE_<VARIANT>, and -DCLCOOK_GROUP_SWIZZLE_GATHER for the gather.
#include <clcook/streaming_store.clh>
#include <clcook/swizzle.clh>

#ifndef CLCOOK_GROUP_SWIZZLE_ONLY
#define CLCOOK_GROUP_SWIZZLE_ROW_MAJOR
#define CLCOOK_GROUP_SWIZZLE_COLUMN_TILES
#define CLCOOK_GROUP_SWIZZLE_MORTON
#define CLCOOK_GROUP_SWIZZLE_HILBERT
#define CLCOOK_GROUP_SWIZZLE_XCD
#define CLCOOK_GROUP_SWIZZLE_CPU_TILES
#endif

#define GROUP_SWIZZLE_PARAMETERS                                                                  \
  __global const float4 *restrict src, ulong src_offset, ulong src_pitch,                         \
      __global float4 *restrict dst, ulong dst_offset, ulong dst_pitch, int width, int height,    \
      uint grid_x, uint grid_y, uint strip, uint chiplets, float4 red, float4 green, float4 blue, \
      float4 alpha, int taps, int radius

#ifdef CLCOOK_GROUP_SWIZZLE_GATHER
// Where the pseudo-random numbers of a pixel begin.
static inline uint group_swizzle_seed(uint x, uint y) {
  uint seed = x * 0x9E3779B1U + y * 0x85EBCA77U;
  seed = (seed ^ (seed >> 15)) * 0x2C1B3C6DU;
  return seed ^ (seed >> 12);
}

// Clang warns of a loop that it unrolls only later, once it stands in its kernel.
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

// From -radius to radius; takes a step of a linear congruential sequence, whose high bits are good.
static inline int group_swizzle_offset(uint* state, int radius) {
  *state = *state * 1664525U + 1013904223U;
  return (int)(((*state >> 16) * (2U * (uint)radius + 1U)) >> 16) - radius;
}

static inline float4 group_swizzle_work(__global const float4* src, ulong pitch, int width,
                                        int height, int x, int y, float4 red, float4 green,
                                        float4 blue, float4 alpha, int taps, int radius) {
  uint state = group_swizzle_seed((uint)x, (uint)y);
  float4 sum = (float4)(0.0f);
#pragma unroll 4
  for (int k = 0; k < taps; ++k) {
    const int column = clamp(x + group_swizzle_offset(&state, radius), 0, width - 1);
    const int row = clamp(y + group_swizzle_offset(&state, radius), 0, height - 1);
    sum += src[(ulong)row * pitch + (ulong)column];
  }
  return sum / (float)taps;
}
#else
static inline float4 group_swizzle_work(__global const float4* src, ulong pitch, int width,
                                        int height, int x, int y, float4 red, float4 green,
                                        float4 blue, float4 alpha, int taps, int radius) {
  const float4 p = src[(ulong)y * pitch + (ulong)x];
  float4 out = red * p.x;
  out = fma(green, (float4)(p.y), out);
  out = fma(blue, (float4)(p.z), out);
  return fma(alpha, (float4)(p.w), out);
}
#endif

// The pixel of this item, when its group stands at that place of the grid.
static inline void group_swizzle_item(uint2 group, __global const float4* src, ulong src_pitch,
                                      __global float4* dst, ulong dst_pitch, int width, int height,
                                      float4 red, float4 green, float4 blue, float4 alpha, int taps,
                                      int radius) {
  const int x = (int)(group.x * (uint)get_local_size(0) + (uint)get_local_id(0));
  const int y = (int)(group.y * (uint)get_local_size(1) + (uint)get_local_id(1));
  if (x < width && y < height) {
    dst[(ulong)y * dst_pitch + (ulong)x] = group_swizzle_work(
        src, src_pitch, width, height, x, y, red, green, blue, alpha, taps, radius);
  }
}

// ------------------------------------------------------------------------------------------------
// row_major: row by row, what a device does by itself.
#ifdef CLCOOK_GROUP_SWIZZLE_ROW_MAJOR
__kernel void group_swizzle_row_major(GROUP_SWIZZLE_PARAMETERS) {
  const uint2 group = clcook_swizzle_row_major((uint)get_group_id(0), grid_x, grid_y);
  group_swizzle_item(group, src + src_offset, src_pitch, dst + dst_offset, dst_pitch, width, height,
                     red, green, blue, alpha, taps, radius);
}
#endif

// ------------------------------------------------------------------------------------------------
// column_tiles: vertical strips, row by row inside a strip.
#ifdef CLCOOK_GROUP_SWIZZLE_COLUMN_TILES
__kernel void group_swizzle_column_tiles(GROUP_SWIZZLE_PARAMETERS) {
  const uint2 group = clcook_swizzle_columns((uint)get_group_id(0), grid_x, grid_y, strip);
  group_swizzle_item(group, src + src_offset, src_pitch, dst + dst_offset, dst_pitch, width, height,
                     red, green, blue, alpha, taps, radius);
}
#endif

// ------------------------------------------------------------------------------------------------
// morton: Z order.
#ifdef CLCOOK_GROUP_SWIZZLE_MORTON
__kernel void group_swizzle_morton(GROUP_SWIZZLE_PARAMETERS) {
  const uint2 group = clcook_swizzle_morton((uint)get_group_id(0), grid_x, grid_y);
  group_swizzle_item(group, src + src_offset, src_pitch, dst + dst_offset, dst_pitch, width, height,
                     red, green, blue, alpha, taps, radius);
}
#endif

// ------------------------------------------------------------------------------------------------
// hilbert: a Hilbert curve; consecutive groups are neighbours.
#ifdef CLCOOK_GROUP_SWIZZLE_HILBERT
__kernel void group_swizzle_hilbert(GROUP_SWIZZLE_PARAMETERS) {
  const uint2 group = clcook_swizzle_hilbert((uint)get_group_id(0), grid_x, grid_y);
  group_swizzle_item(group, src + src_offset, src_pitch, dst + dst_offset, dst_pitch, width, height,
                     red, green, blue, alpha, taps, radius);
}
#endif

// ------------------------------------------------------------------------------------------------
// xcd: a contiguous run of the order for each chiplet, in strips. For devices whose chiplets have a
// cache each and get the groups in turn.
#ifdef CLCOOK_GROUP_SWIZZLE_XCD
__kernel void group_swizzle_xcd(GROUP_SWIZZLE_PARAMETERS) {
  const uint id = clcook_swizzle_chiplets((uint)get_group_id(0), grid_x * grid_y, chiplets);
  const uint2 group = clcook_swizzle_columns(id, grid_x, grid_y, strip);
  group_swizzle_item(group, src + src_offset, src_pitch, dst + dst_offset, dst_pitch, width, height,
                     red, green, blue, alpha, taps, radius);
}
#endif

// ------------------------------------------------------------------------------------------------
// cpu_tiles: for CPUs. One work-item per tile of TILE_W x TILE_H pixels, in the order of
// column_tiles. The places that 16 neighbours gather from are worked out in vectors, many at a
// time, and asked for at once, so that the cache's misses overlap. The host defines
// CLCOOK_BUILTIN_PREFETCH where the compiler has that.
#ifdef CLCOOK_GROUP_SWIZZLE_CPU_TILES
#ifndef CLCOOK_GROUP_SWIZZLE_TILE_W
#define CLCOOK_GROUP_SWIZZLE_TILE_W 256
#define CLCOOK_GROUP_SWIZZLE_TILE_H 16
#endif
#define TILE_W CLCOOK_GROUP_SWIZZLE_TILE_W
#define TILE_H CLCOOK_GROUP_SWIZZLE_TILE_H
#define LANES 16

#ifdef CLCOOK_GROUP_SWIZZLE_GATHER
#define TAPS 16  // whose places wait in the cache

// The same steps as group_swizzle_offset()'s in each element.
static inline int16 group_swizzle_offset16(uint16* state, int radius) {
  *state = *state * 1664525U + 1013904223U;
  return as_int16(((*state >> 16) * (2U * (uint)radius + 1U)) >> 16) - radius;
}

static inline void group_swizzle_work16(__global const float4* src, ulong pitch, int width,
                                        int height, int x, int y, int taps, int radius,
                                        float4* out) {
  const int16 lane = (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const int16 xs = x + lane;
  const int16 zero = (int16)(0);
  uint16 state = as_uint16(xs) * 0x9E3779B1U + (uint)y * 0x85EBCA77U;
  state = (state ^ (state >> 15)) * 0x2C1B3C6DU;
  state ^= state >> 12;
#pragma unroll
  for (int i = 0; i < LANES; ++i) out[i] = (float4)(0.0f);
  for (int first = 0; first < taps; first += TAPS) {
    ulong places[TAPS * LANES];  // in bytes
    const int count = min(taps - first, TAPS);
    for (int k = 0; k < count; ++k) {
      const int16 columns = xs + group_swizzle_offset16(&state, radius);
      const int16 rows = y + group_swizzle_offset16(&state, radius);
      const ulong16 column = convert_ulong16(clamp(columns, zero, (int16)(width - 1)));
      const ulong16 row = convert_ulong16(clamp(rows, zero, (int16)(height - 1)));
      vstore16((row * pitch + column) * sizeof(float4), k, places);
#ifdef CLCOOK_BUILTIN_PREFETCH
#pragma unroll
      for (int i = 0; i < LANES; ++i)
        __builtin_prefetch((__global const char*)src + places[k * LANES + i]);
#endif
    }
#pragma unroll 1
    for (int k = 0; k < count; ++k) {
#pragma unroll
      for (int i = 0; i < LANES; ++i)
        out[i] += *(__global const float4*)((__global const char*)src + places[k * LANES + i]);
    }
  }
#pragma unroll
  for (int i = 0; i < LANES; ++i) out[i] /= (float)taps;
}
#else
// Four pixels as one vector, at the address of any pixel; times the matrix, whose columns stand in
// each of four quarters.
typedef float16 __attribute__((aligned(16))) group_swizzle_pixels;
static inline float16 group_swizzle_work4(float16 p, float16 red, float16 green, float16 blue,
                                          float16 alpha) {
  float16 out = red * p.s000044448888cccc;
  out = fma(green, p.s111155559999dddd, out);
  out = fma(blue, p.s22226666aaaaeeee, out);
  return fma(alpha, p.s33337777bbbbffff, out);
}
#endif

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void group_swizzle_cpu_tiles(
    GROUP_SWIZZLE_PARAMETERS) {
  const uint2 tile = clcook_swizzle_columns((uint)get_group_id(0), grid_x, grid_y, strip);
  const int x1 = min((int)(tile.x + 1) * TILE_W, width);
  const int y1 = min((int)(tile.y + 1) * TILE_H, height);
  src += src_offset;
  dst += dst_offset;
#ifdef CLCOOK_GROUP_SWIZZLE_GATHER
  for (int y = (int)tile.y * TILE_H; y < y1; ++y) {
    for (int x = (int)tile.x * TILE_W; x < x1; x += LANES) {
      float4 out[LANES];
      group_swizzle_work16(src, src_pitch, width, height, x, y, taps, radius, out);
      __global float4* to = dst + (ulong)y * dst_pitch + (ulong)x;
      if (x1 - x >= LANES) {
#pragma unroll
        for (int i = 0; i < LANES; ++i) CLCOOK_STREAM(out[i], to + i);
      } else {
        for (int i = 0; i < x1 - x; ++i) to[i] = out[i];
      }
    }
  }
#else
  // Whole lines of the cache are stored past it, but for a picture that it holds.
  const bool stays = (ulong)width * (ulong)height < 1 << 18;
  const float16 red16 = (float16)(red, red, red, red);
  const float16 green16 = (float16)(green, green, green, green);
  const float16 blue16 = (float16)(blue, blue, blue, blue);
  const float16 alpha16 = (float16)(alpha, alpha, alpha, alpha);
  for (int y = (int)tile.y * TILE_H; y < y1; ++y) {
    __global const float4* from = src + (ulong)y * src_pitch;
    __global float4* to = dst + (ulong)y * dst_pitch;
    int x = (int)tile.x * TILE_W;
    for (; x < x1 && (ulong)(to + x) % sizeof(float16) != 0; ++x) {
      to[x] = group_swizzle_work(src, src_pitch, width, height, x, y, red, green, blue, alpha, taps,
                                 radius);
    }
#pragma unroll 4
    for (; stays && x + 4 <= x1; x += 4) {
      const float16 p = *(__global const group_swizzle_pixels*)(from + x);
      *(__global float16*)(to + x) = group_swizzle_work4(p, red16, green16, blue16, alpha16);
    }
#pragma unroll 4
    for (; x + 4 <= x1; x += 4) {
      const float16 p = *(__global const group_swizzle_pixels*)(from + x);
      CLCOOK_STREAM(group_swizzle_work4(p, red16, green16, blue16, alpha16),
                    (__global float16*)(to + x));
    }
    for (; x < x1; ++x) {
      to[x] = group_swizzle_work(src, src_pitch, width, height, x, y, red, green, blue, alpha, taps,
                                 radius);
    }
  }
#endif
}
#endif
