// Four kernels on which the size of a work-group is tried out: every variant of the recipe
// group_size.
//
//   streaming       y = factor * x + summand: the items of a group share nothing
//   barriers        the inclusive prefix sum of segments of 1024 values, in local memory: 11
//                   barriers and 10 rounds of additions, whatever the size of the group
//   divergent_loop  sphere tracing of a distance field: every item has a trip count of its own
//   slow_wave       64 items in each 1024, or as many at the front, go through a long loop, the
//                   others through one of a sixteenth of the trips
//
// The variant registers has two barriers for a segment, cpu_runs none for any work.
//
// The host compiles one kernel per program: -DCLCOOK_GROUP_SIZE_ONLY
// -DCLCOOK_GROUP_SIZE_<VARIANT>_<WORK> -DCLCOOK_GROUP_SIZE_GROUP=<items per group>. Offsets are in
// elements. The global size is padded to whole work-groups, so every kernel guards.
//
// `padding`, an argument of all but static_local, is local memory that no one uses: with it, fewer groups are resident at a time. No
// count is 0, which the compiler does not know, so it cannot take the argument away.

#ifndef CLCOOK_GROUP_SIZE_ONLY
#define CLCOOK_GROUP_SIZE_DIRECT_STREAMING
#define CLCOOK_GROUP_SIZE_DIRECT_BARRIERS
#define CLCOOK_GROUP_SIZE_DIRECT_DIVERGENT_LOOP
#define CLCOOK_GROUP_SIZE_DIRECT_SLOW_WAVE
#define CLCOOK_GROUP_SIZE_GRID_STRIDE_STREAMING
#define CLCOOK_GROUP_SIZE_GRID_STRIDE_BARRIERS
#define CLCOOK_GROUP_SIZE_GRID_STRIDE_DIVERGENT_LOOP
#define CLCOOK_GROUP_SIZE_GRID_STRIDE_SLOW_WAVE
#define CLCOOK_GROUP_SIZE_SINGLE_WAVE_BARRIERS
#define CLCOOK_GROUP_SIZE_LOCAL_TABLE_DIVERGENT_LOOP
#define CLCOOK_GROUP_SIZE_STATIC_LOCAL_BARRIERS
#define CLCOOK_GROUP_SIZE_REGISTERS_BARRIERS
#define CLCOOK_GROUP_SIZE_CPU_RUNS_STREAMING
#define CLCOOK_GROUP_SIZE_CPU_RUNS_BARRIERS
#define CLCOOK_GROUP_SIZE_CPU_RUNS_DIVERGENT_LOOP
#define CLCOOK_GROUP_SIZE_CPU_RUNS_SLOW_WAVE
#endif
#ifndef CLCOOK_GROUP_SIZE_GROUP
#define CLCOOK_GROUP_SIZE_GROUP 256
#endif
#ifndef CLCOOK_GROUP_SIZE_SEGMENT
#define CLCOOK_GROUP_SIZE_SEGMENT 1024
#endif
#ifndef CLCOOK_GROUP_SIZE_MAX_SPHERES
#define CLCOOK_GROUP_SIZE_MAX_SPHERES 64
#endif

#define GROUP_SIZE_ITEMS __attribute__((reqd_work_group_size(CLCOOK_GROUP_SIZE_GROUP, 1, 1)))

// Values of a segment that is summed up in local memory.
#define SEGMENT CLCOOK_GROUP_SIZE_SEGMENT
// Most spheres of a scene.
#define MAX_SPHERES CLCOOK_GROUP_SIZE_MAX_SPHERES

// ------------------------------------------------------------------------------------------------
// The prefix sum of one segment, by doubling distances between two arrays. An item has the same
// cells in every step, so a segment may follow another without a barrier between them.

static inline void group_size_load(__local uint* cells, __global const uint* in, ulong first,
                                   ulong count) {
  for (uint i = get_local_id(0); i < SEGMENT; i += CLCOOK_GROUP_SIZE_GROUP) {
    cells[i] = i < count ? in[first + i] : 0u;
  }
}

static inline void group_size_add(__local uint* to, __local const uint* from, uint distance) {
  for (uint i = get_local_id(0); i < SEGMENT; i += CLCOOK_GROUP_SIZE_GROUP) {
    to[i] = i >= distance ? from[i] + from[i - distance] : from[i];
  }
}

static inline void group_size_store(__global uint* out, ulong first, __local const uint* cells,
                                    ulong count) {
  for (uint i = get_local_id(0); i < SEGMENT; i += CLCOOK_GROUP_SIZE_GROUP) {
    if (i < count) out[first + i] = cells[i];
  }
}

// ------------------------------------------------------------------------------------------------
// Sphere tracing: a step goes as far as the nearest surface is away, until that is next to nothing.
// Every operation here is rounded to nearest by OpenCL's rules, but for sqrt(), and no product
// stands next to a sum that it could be fused with: so the result is the same to the bit
// everywhere.

// The root of x, rounded to nearest. sqrt() may be wrong by 3 ulp; each round takes one away. s is
// right where s * below < x <= s * above, and the sign of an fma is exact. For x of 0 and from
// 2^-100 on.
static inline float group_size_sqrt(float x) {
  float s = sqrt(x);
  for (int round = 0; round < 3; ++round) {
    const float below = as_float(as_int(s) - 1);
    const float above = as_float(as_int(s) + 1);
    s = fma(-s, below, x) <= 0.0f ? below : (fma(-s, above, x) > 0.0f ? above : s);
  }
  return s;
}

// The distance from p to a sphere (centre, radius).
static inline float group_size_sphere(float3 p, float4 sphere) {
  const float x = p.x - sphere.x;
  const float y = p.y - sphere.y;
  const float z = p.z - sphere.z;
  return group_size_sqrt(fma(x, x, fma(y, y, z * z))) - sphere.w;
}

// The origin of a pixel's ray. The camera is parallel and looks along (0, -0.28, 0.96) at the point
// (0, 1, 0) from 12 units before it; the picture's first pixel is at (left, top) of its plane, and
// its pixels are `scale` apart.
static inline float3 group_size_origin(uint pixel, uint width, float scale, float left, float top) {
  const float u = fma((float)(pixel % width), scale, left);
  const float v = fma((float)(pixel / width), -scale, top);
  return (float3)(u, fma(v, 0.96f, 4.36f), fma(v, 0.28f, -11.52f));
}

// The distance to the scene, the plane y = 0 and the spheres, along the ray from `origin`, and the
// number of steps to there. The same text for spheres in global and in local memory.
#define GROUP_SIZE_TRACE(name, space)                                                         \
  static inline uint2 name(space const float4* spheres, int count, float3 origin, int most) { \
    float t = 0.0f;                                                                           \
    int steps = 0;                                                                            \
    for (; steps < most; ++steps) {                                                           \
      const float3 p = (float3)(origin.x, fma(t, -0.28f, origin.y), fma(t, 0.96f, origin.z)); \
      float distance = p.y;                                                                   \
      for (int k = 0; k < count; ++k) {                                                       \
        distance = fmin(distance, group_size_sphere(p, spheres[k]));                          \
      }                                                                                       \
      if (distance < 0x1p-10f) break;                                                         \
      t += distance;                                                                          \
    }                                                                                         \
    return (uint2)(as_uint(t), (uint)steps);                                                  \
  }

// ------------------------------------------------------------------------------------------------
// A loop that no compiler makes shorter, of `trips` trips for a slow item. Slow items are 64 in each
// 1024, or with `together` a sixteenth of all in front of the others.
static inline uint group_size_slow(uint x, ulong i, ulong count, uint trips, uint together) {
  const bool slow = together != 0 ? i < count / 16 : i % 1024 < 64;
  const uint most = slow ? trips : trips / 16;
  for (uint k = 0; k < most; ++k) {
    x = (x ^ (x >> 15)) * 0x2C1B3C6Du + k;
  }
  return x;
}

// ------------------------------------------------------------------------------------------------
// direct: one element, or one segment, for each item, or group.

#ifdef CLCOOK_GROUP_SIZE_DIRECT_STREAMING
__kernel GROUP_SIZE_ITEMS void group_size_direct_streaming(
    __global const float* restrict x, ulong x_offset, __global float* restrict y, ulong y_offset,
    ulong count, float factor, float summand, __local uint* padding) {
  if (count == 0) padding[0] = 0;
  const ulong i = get_global_id(0);
  if (i < count) y[y_offset + i] = fma(factor, x[x_offset + i], summand);
}
#endif

#ifdef CLCOOK_GROUP_SIZE_DIRECT_BARRIERS
__kernel GROUP_SIZE_ITEMS void group_size_direct_barriers(__global const uint* restrict in,
                                                          ulong in_offset,
                                                          __global uint* restrict out,
                                                          ulong out_offset, ulong count,
                                                          __local uint* padding) {
  __local uint a[SEGMENT];
  __local uint b[SEGMENT];
  if (count == 0) padding[0] = 0;
  const ulong first = (ulong)get_group_id(0) * SEGMENT;
  group_size_load(a, in, in_offset + first, count - first);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint distance = 1; distance < SEGMENT; distance *= 4) {
    group_size_add(b, a, distance);
    barrier(CLK_LOCAL_MEM_FENCE);
    group_size_add(a, b, 2 * distance);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  group_size_store(out, out_offset + first, a, count - first);
}
#endif

#ifdef CLCOOK_GROUP_SIZE_DIRECT_DIVERGENT_LOOP
GROUP_SIZE_TRACE(group_size_trace_direct, __global)

__kernel GROUP_SIZE_ITEMS void group_size_direct_divergent_loop(
    __global const float4* restrict spheres, ulong spheres_offset, int sphere_count,
    __global uint2* restrict out, ulong out_offset, uint pixels, uint width, float scale,
    float left, float top, int most, __local uint* padding) {
  if (pixels == 0) padding[0] = 0;
  const uint i = (uint)get_global_id(0);
  if (i < pixels) {
    out[out_offset + i] =
        group_size_trace_direct(spheres + spheres_offset, sphere_count,
                                group_size_origin(i, width, scale, left, top), most);
  }
}
#endif

#ifdef CLCOOK_GROUP_SIZE_DIRECT_SLOW_WAVE
__kernel GROUP_SIZE_ITEMS void group_size_direct_slow_wave(
    __global const uint* restrict in, ulong in_offset, __global uint* restrict out,
    ulong out_offset, ulong count, uint trips, uint together, __local uint* padding) {
  if (count == 0) padding[0] = 0;
  const ulong i = get_global_id(0);
  if (i < count) {
    out[out_offset + i] = group_size_slow(in[in_offset + i], i, count, trips, together);
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// grid_stride: fewer groups, each goes on to its next elements or segment.

#ifdef CLCOOK_GROUP_SIZE_GRID_STRIDE_STREAMING
__kernel GROUP_SIZE_ITEMS void group_size_grid_stride_streaming(
    __global const float* restrict x, ulong x_offset, __global float* restrict y, ulong y_offset,
    ulong count, float factor, float summand, __local uint* padding) {
  if (count == 0) padding[0] = 0;
  for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {
    y[y_offset + i] = fma(factor, x[x_offset + i], summand);
  }
}
#endif

#ifdef CLCOOK_GROUP_SIZE_GRID_STRIDE_BARRIERS
__kernel GROUP_SIZE_ITEMS void group_size_grid_stride_barriers(__global const uint* restrict in,
                                                               ulong in_offset,
                                                               __global uint* restrict out,
                                                               ulong out_offset, ulong count,
                                                               __local uint* padding) {
  __local uint a[SEGMENT];
  __local uint b[SEGMENT];
  if (count == 0) padding[0] = 0;
  const ulong stride = (ulong)get_num_groups(0) * SEGMENT;
  for (ulong first = (ulong)get_group_id(0) * SEGMENT; first < count; first += stride) {
    group_size_load(a, in, in_offset + first, count - first);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint distance = 1; distance < SEGMENT; distance *= 4) {
      group_size_add(b, a, distance);
      barrier(CLK_LOCAL_MEM_FENCE);
      group_size_add(a, b, 2 * distance);
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    group_size_store(out, out_offset + first, a, count - first);
  }
}
#endif

#ifdef CLCOOK_GROUP_SIZE_GRID_STRIDE_DIVERGENT_LOOP
GROUP_SIZE_TRACE(group_size_trace_grid_stride, __global)

__kernel GROUP_SIZE_ITEMS void group_size_grid_stride_divergent_loop(
    __global const float4* restrict spheres, ulong spheres_offset, int sphere_count,
    __global uint2* restrict out, ulong out_offset, uint pixels, uint width, float scale,
    float left, float top, int most, __local uint* padding) {
  if (pixels == 0) padding[0] = 0;
  for (ulong i = get_global_id(0); i < pixels; i += get_global_size(0)) {
    out[out_offset + i] =
        group_size_trace_grid_stride(spheres + spheres_offset, sphere_count,
                                     group_size_origin((uint)i, width, scale, left, top), most);
  }
}
#endif

#ifdef CLCOOK_GROUP_SIZE_GRID_STRIDE_SLOW_WAVE
__kernel GROUP_SIZE_ITEMS void group_size_grid_stride_slow_wave(
    __global const uint* restrict in, ulong in_offset, __global uint* restrict out,
    ulong out_offset, ulong count, uint trips, uint together, __local uint* padding) {
  if (count == 0) padding[0] = 0;
  for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {
    out[out_offset + i] = group_size_slow(in[in_offset + i], i, count, trips, together);
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// single_wave: groups of 32 items. With CLCOOK_GROUP_SIZE_WARP_SYNC, which the host says for NVIDIA
// alone, the group is one warp, and the barrier is the one of a warp: PTX guarantees that it orders
// the memory accesses of the items that take part. Everywhere else the barrier stays: that items
// run in lock-step is no guarantee of OpenCL.
#ifdef CLCOOK_GROUP_SIZE_WARP_SYNC
#define SINGLE_WAVE_BARRIER() __asm__ volatile("bar.warp.sync 0xffffffff;" : : : "memory")
#else
#define SINGLE_WAVE_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#endif

#ifdef CLCOOK_GROUP_SIZE_SINGLE_WAVE_BARRIERS
__kernel GROUP_SIZE_ITEMS void group_size_single_wave_barriers(__global const uint* restrict in,
                                                               ulong in_offset,
                                                               __global uint* restrict out,
                                                               ulong out_offset, ulong count,
                                                               __local uint* padding) {
  __local uint a[SEGMENT];
  __local uint b[SEGMENT];
  if (count == 0) padding[0] = 0;
  const ulong first = (ulong)get_group_id(0) * SEGMENT;
  group_size_load(a, in, in_offset + first, count - first);
  SINGLE_WAVE_BARRIER();
  for (uint distance = 1; distance < SEGMENT; distance *= 4) {
    group_size_add(b, a, distance);
    SINGLE_WAVE_BARRIER();
    group_size_add(a, b, 2 * distance);
    SINGLE_WAVE_BARRIER();
  }
  group_size_store(out, out_offset + first, a, count - first);
}
#endif

// ------------------------------------------------------------------------------------------------
// local_table: the spheres, which every item reads in every step, are copied to local memory first.
#ifdef CLCOOK_GROUP_SIZE_LOCAL_TABLE_DIVERGENT_LOOP
GROUP_SIZE_TRACE(group_size_trace_local_table, __local)

__kernel GROUP_SIZE_ITEMS void group_size_local_table_divergent_loop(
    __global const float4* restrict spheres, ulong spheres_offset, int sphere_count,
    __global uint2* restrict out, ulong out_offset, uint pixels, uint width, float scale,
    float left, float top, int most, __local uint* padding) {
  __local float4 table[MAX_SPHERES];
  if (pixels == 0) padding[0] = 0;
  for (int k = (int)get_local_id(0); k < sphere_count; k += CLCOOK_GROUP_SIZE_GROUP) {
    table[k] = spheres[spheres_offset + k];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint i = (uint)get_global_id(0);
  if (i < pixels) {
    out[out_offset + i] = group_size_trace_local_table(
        table, sphere_count, group_size_origin(i, width, scale, left, top), most);
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// static_local: as direct, but the local memory that no one uses is an array of CLCOOK_GROUP_SIZE_HELD
// values in the kernel. NVIDIA's OpenCL lets that be larger than an argument, so large that a unit
// has room for one group alone.
#ifdef CLCOOK_GROUP_SIZE_STATIC_LOCAL_BARRIERS
#ifndef CLCOOK_GROUP_SIZE_HELD
#define CLCOOK_GROUP_SIZE_HELD 1
#endif
__kernel GROUP_SIZE_ITEMS void group_size_static_local_barriers(__global const uint* restrict in,
                                                                ulong in_offset,
                                                                __global uint* restrict out,
                                                                ulong out_offset, ulong count) {
  __local uint a[SEGMENT];
  __local uint b[SEGMENT];
  __local uint held[CLCOOK_GROUP_SIZE_HELD];
  if (count == 0) {
    held[get_local_id(0)] = in[0];
    out[0] = held[in[1]];
  }
  const ulong first = (ulong)get_group_id(0) * SEGMENT;
  group_size_load(a, in, in_offset + first, count - first);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint distance = 1; distance < SEGMENT; distance *= 4) {
    group_size_add(b, a, distance);
    barrier(CLK_LOCAL_MEM_FENCE);
    group_size_add(a, b, 2 * distance);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  group_size_store(out, out_offset + first, a, count - first);
}
#endif

// ------------------------------------------------------------------------------------------------
// registers: an item holds four consecutive values, a quad, and adds them up by itself. Sums of quads
// alone go through local memory, in blocks of 16: an item adds those before its own in its block,
// and, behind a second barrier, the sums of the blocks before.
#ifdef CLCOOK_GROUP_SIZE_REGISTERS_BARRIERS
#define QUADS (SEGMENT / 4)
// The quads of an item, a group apart.
#define TURNS (QUADS / CLCOOK_GROUP_SIZE_GROUP)
#if SEGMENT != 1024
#error "CLCOOK_GROUP_SIZE_SEGMENT must be 1024: a block has 16 quads, and there are 16 blocks"
#endif

// Values i to i + 3 of `count`; what is behind them, no sum needs. No compiler knows that an offset
// is a multiple of four.
static inline uint4 group_size_load_quad(__global const uint* in, ulong offset, ulong i,
                                         ulong count) {
  __global const uint* from = in + offset + i;
  if (i + 4 <= count) {
    return offset % 4 == 0 ? *(__global const uint4*)from : vload4(0, from);
  }
  uint4 quad = 0u;
  if (i < count) quad.x = from[0];
  if (i + 1 < count) quad.y = from[1];
  if (i + 2 < count) quad.z = from[2];
  return quad;
}

static inline void group_size_store_quad(__global uint* out, ulong offset, ulong i, ulong count,
                                         uint4 quad) {
  __global uint* to = out + offset + i;
  if (i + 4 <= count) {
    if (offset % 4 == 0) {
      *(__global uint4*)to = quad;
    } else {
      vstore4(quad, 0, to);
    }
  } else {
    if (i < count) to[0] = quad.x;
    if (i + 1 < count) to[1] = quad.y;
    if (i + 2 < count) to[2] = quad.z;
  }
}

// The sum of the first `n` of 16 sums. All items read all: a loop of n trips would differ between
// them.
static inline uint group_size_sum_before(__local const uint4* sums, uint n) {
  uint4 sum = 0u;
  for (uint k = 0; k < 4; ++k) {
    sum += select((uint4)0u, sums[k], (uint4)(4 * k) + (uint4)(0, 1, 2, 3) < (uint4)n);
  }
  return sum.x + sum.y + sum.z + sum.w;
}

__kernel GROUP_SIZE_ITEMS void group_size_registers_barriers(__global const uint* restrict in,
                                                             ulong in_offset,
                                                             __global uint* restrict out,
                                                             ulong out_offset, ulong count,
                                                             __local uint* padding) {
  __local uint4 sums[QUADS / 4];
  __local uint4 blocks[4];
  if (count == 0) padding[0] = 0;
  const ulong first = (ulong)get_group_id(0) * SEGMENT;
  const uint item = (uint)get_local_id(0);
  uint4 quads[TURNS];
#pragma unroll
  for (uint turn = 0; turn < TURNS; ++turn) {
    const uint quad = turn * CLCOOK_GROUP_SIZE_GROUP + item;
    uint4 v = group_size_load_quad(in, in_offset, first + 4 * quad, count);
    v.y += v.x;
    v.z += v.y;
    v.w += v.z;
    quads[turn] = v;
    ((__local uint*)sums)[quad] = v.w;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (uint turn = 0; turn < TURNS; ++turn) {
    const uint quad = turn * CLCOOK_GROUP_SIZE_GROUP + item;
    quads[turn] += group_size_sum_before(sums + quad / 16 * 4, quad % 16);
    if (quad % 16 == 15) ((__local uint*)blocks)[quad / 16] = quads[turn].w;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (uint turn = 0; turn < TURNS; ++turn) {
    const uint quad = turn * CLCOOK_GROUP_SIZE_GROUP + item;
    const uint4 v = quads[turn] + group_size_sum_before(blocks, quad / 16);
    group_size_store_quad(out, out_offset, first + 4 * quad, count, v);
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// cpu_runs: an item does the work of 1024 alone, in vectors where values do not depend on each other.
#define CPU_RUN 1024

#ifdef CLCOOK_GROUP_SIZE_CPU_RUNS_STREAMING
#include <clcook/streaming_store.clh>
// A result of as many values goes past the cache, in whole lines of 16.
#define CPU_PAST_CACHE (1 << 20)

// Without a guard for each value: compilers make stores under a mask of it, which take several times
// as long on some CPUs.
__kernel GROUP_SIZE_ITEMS void group_size_cpu_runs_streaming(
    __global const float* restrict x, ulong x_offset, __global float* restrict y, ulong y_offset,
    ulong count, float factor, float summand, __local uint* padding) {
  if (count == 0) padding[0] = 0;
  const ulong first = (ulong)get_global_id(0) * CPU_RUN;
  const ulong end = min(first + CPU_RUN, count);
  __global const float* from = x + x_offset;
  __global float* to = y + y_offset;
  const bool streams = count >= CPU_PAST_CACHE;
  ulong i = first;
  const ulong whole = streams ? min(first + (-((ulong)(to + first) / 4) & 15), end) : first;
  for (; i < whole; ++i) to[i] = fma(factor, from[i], summand);
  for (; i + 16 <= end; i += 16) {
    const float16 value = fma((float16)factor, vload16(0, from + i), (float16)summand);
    if (streams) {
      CLCOOK_STREAM(value, (__global float16*)(to + i));
    } else {
      vstore16(value, 0, to + i);
    }
  }
  for (; i < end; ++i) to[i] = fma(factor, from[i], summand);
}
#endif

#ifdef CLCOOK_GROUP_SIZE_CPU_RUNS_BARRIERS
__kernel GROUP_SIZE_ITEMS void group_size_cpu_runs_barriers(__global const uint* restrict in,
                                                            ulong in_offset,
                                                            __global uint* restrict out,
                                                            ulong out_offset, ulong count,
                                                            __local uint* padding) {
  if (count == 0) padding[0] = 0;
  const ulong first = (ulong)get_global_id(0) * SEGMENT;
  const ulong end = min(first + SEGMENT, count);
  uint sum = 0;
  for (ulong i = first; i < end; ++i) {
    sum += in[in_offset + i];
    out[out_offset + i] = sum;
  }
}
#endif

#ifdef CLCOOK_GROUP_SIZE_CPU_RUNS_DIVERGENT_LOOP
// Whether a lane is set. PoCL's any() looks at one lane after the other.
static inline bool group_size_any(int16 lanes) {
  const ulong2 bytes = as_ulong2(convert_char16(lanes));
  return (bytes.x | bytes.y) != 0;
}

// As group_size_sqrt(), of 16. Where no root changes in a round, none would in the next.
static inline float16 group_size_sqrt16(float16 x) {
  float16 s = sqrt(x);
  for (int round = 0; round < 3; ++round) {
    const float16 below = as_float16(as_int16(s) - 1);
    const float16 above = as_float16(as_int16(s) + 1);
    const int16 is_large = fma(-s, below, x) <= 0.0f;
    const int16 is_small = fma(-s, above, x) > 0.0f;
    if (!group_size_any(is_large | is_small)) break;
    s = is_large ? below : (is_small ? above : s);
  }
  return s;
}

__kernel GROUP_SIZE_ITEMS void group_size_cpu_runs_divergent_loop(
    __global const float4* restrict spheres, ulong spheres_offset, int sphere_count,
    __global uint2* restrict out, ulong out_offset, uint pixels, uint width, float scale,
    float left, float top, int most, __local uint* padding) {
  if (pixels == 0) padding[0] = 0;
  const ulong first = (ulong)get_global_id(0) * CPU_RUN;
  const ulong end = min(first + CPU_RUN, (ulong)pixels);
  for (ulong i = first; i < end; i += 16) {
    float origin[3][16];
    for (uint lane = 0; lane < 16; ++lane) {
      const float3 o = group_size_origin((uint)i + lane, width, scale, left, top);
      origin[0][lane] = o.x;
      origin[1][lane] = o.y;
      origin[2][lane] = o.z;
    }
    const float16 u = vload16(0, origin[0]);
    const float16 v = vload16(0, origin[1]);
    const float16 w = vload16(0, origin[2]);
    float16 t = 0.0f;
    int16 steps = 0;
    int16 active = -1;
    for (int step = 0; step < most && group_size_any(active); ++step) {
      const float16 py = fma(t, (float16)-0.28f, v);
      const float16 pz = fma(t, (float16)0.96f, w);
      float16 distance = py;
      for (int k = 0; k < sphere_count; ++k) {
        const float4 sphere = spheres[spheres_offset + k];
        const float16 x = u - sphere.x;
        const float16 y = py - sphere.y;
        const float16 z = pz - sphere.z;
        const float16 square = fma(x, x, fma(y, y, z * z));
        // A root takes longer than all else, and most spheres are farther than what was found. They
        // are where the square is larger than that of the distance to be beaten, by more than the
        // five roundings of both sides.
        const float16 reach = (distance + sphere.w) * 0x1.00001p0f;
        if (!group_size_any(active & !(square > reach * reach))) continue;
        distance = fmin(distance, group_size_sqrt16(square) - sphere.w);
      }
      active &= !(distance < 0x1p-10f);
      t = active ? t + distance : t;
      steps -= active;
    }
    uint words[2][16];
    vstore16(as_uint16(t), 0, words[0]);
    vstore16(as_uint16(steps), 0, words[1]);
    for (uint lane = 0; lane < 16 && i + lane < end; ++lane) {
      out[out_offset + i + lane] = (uint2)(words[0][lane], words[1][lane]);
    }
  }
}
#endif

#ifdef CLCOOK_GROUP_SIZE_CPU_RUNS_SLOW_WAVE
#define HASH(x) x = (x ^ (x >> 15)) * 0x2C1B3C6Du + k

// 64 at a time, which are all slow or none is, but for those in which the slow ones end.
__kernel GROUP_SIZE_ITEMS void group_size_cpu_runs_slow_wave(
    __global const uint* restrict in, ulong in_offset, __global uint* restrict out,
    ulong out_offset, ulong count, uint trips, uint together, __local uint* padding) {
  if (count == 0) padding[0] = 0;
  const ulong first = (ulong)get_global_id(0) * CPU_RUN;
  const ulong end = min(first + CPU_RUN, count);
  const ulong slow_end = together != 0 ? count / 16 : first + 64;
  for (ulong i = first; i < end; i += 64) {
    if (i + 64 > end || (i < slow_end && i + 64 > slow_end)) {
      for (ulong j = i; j < min(i + 64, end); ++j) {
        out[out_offset + j] = group_size_slow(in[in_offset + j], j, count, trips, together);
      }
      continue;
    }
    const uint most = i < slow_end ? trips : trips / 16;
    uint16 a = vload16(0, in + in_offset + i);
    uint16 b = vload16(1, in + in_offset + i);
    uint16 c = vload16(2, in + in_offset + i);
    uint16 d = vload16(3, in + in_offset + i);
    for (uint k = 0; k < most; ++k) {
      HASH(a);
      HASH(b);
      HASH(c);
      HASH(d);
    }
    vstore16(a, 0, out + out_offset + i);
    vstore16(b, 1, out + out_offset + i);
    vstore16(c, 2, out + out_offset + i);
    vstore16(d, 3, out + out_offset + i);
  }
}
#endif
