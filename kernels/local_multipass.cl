// Position-based dynamics of many independent islands: every variant of the recipe
// local_multipass.
//
// An island is `particles` float4: x, y, z and the inverse mass w, 0 for a particle that is held.
// All islands have the same distance constraints (a, b, and as bits stiffness times rest length,
// and stiffness), sorted by colour: no two constraints of one colour share a particle, so a colour
// may be solved in parallel. Constraints colour_begin[c] to colour_begin[c + 1] have colour c. An
// iteration solves colour after colour; a call makes `iterations` of them.
//
// Offsets and pitches (from one island to the next) are in float4. dst may be src. The host
// compiles one variant per program: -DCLCOOK_LOCAL_MULTIPASS_ONLY
// -DCLCOOK_LOCAL_MULTIPASS_<VARIANT>.

#ifndef CLCOOK_LOCAL_MULTIPASS_ONLY
#define CLCOOK_LOCAL_MULTIPASS_COPY
#define CLCOOK_LOCAL_MULTIPASS_PER_COLOUR
#define CLCOOK_LOCAL_MULTIPASS_PER_ITERATION
#define CLCOOK_LOCAL_MULTIPASS_ALL_LOCAL
#define CLCOOK_LOCAL_MULTIPASS_PACKED_ISLANDS
#define CLCOOK_LOCAL_MULTIPASS_RESIDENT
#define CLCOOK_LOCAL_MULTIPASS_CPU_LANES
#endif

#ifdef CLCOOK_LOCAL_MULTIPASS_GROUP
#define LOCAL_MULTIPASS_GROUP \
  __attribute__((reqd_work_group_size(CLCOOK_LOCAL_MULTIPASS_GROUP, 1, 1)))
#else
#define LOCAL_MULTIPASS_GROUP
#endif

// Solves one constraint between the particles a and b, for scalars and for vectors whose elements
// are islands.
//
// With d = a - b, w = wa + wb and q = 1 / (|d| w), a moves by -wa c d and b by wb c d, where
// c = stiffness (|d| - rest) / (|d| w) = q (|d|^2 stiffness w q - stiffness rest). q is a guess
// from the bits of its x, a Newton step, and one of third order. All of it are additions,
// multiplications and fma(), which every device rounds alike, and no product goes into an addition
// that a compiler could fuse: all variants on all devices give the same bits. Where both particles
// are held, or at one place, q is large and finite and nothing moves.
//
// NAME_move takes what depends on the masses: ww = w w, kw = stiffness w, pull = stiffness rest.
#define LOCAL_MULTIPASS_PROJECT(NAME, REAL, INT)                                               \
  static inline void NAME##_move(REAL* ax, REAL* ay, REAL* az, REAL wa, REAL* bx, REAL* by,    \
                                 REAL* bz, REAL wb, REAL ww, REAL kw, REAL pull) {             \
    const REAL dx = *ax - *bx;                                                                 \
    const REAL dy = *ay - *by;                                                                 \
    const REAL dz = *az - *bz;                                                                 \
    const REAL dd = fma(dz, dz, fma(dy, dy, dx * dx));                                         \
    const REAL x = dd * ww;                                                                    \
    REAL q = as_##REAL(0x5F3759DF - (as_##INT(x) >> 1));                                       \
    q = q * fma(x * -0.5f, q * q, (REAL)(1.5f));                                               \
    const REAL e = fma(x * -q, q, (REAL)(1.0f));                                               \
    q = fma(q * e, fma(e, (REAL)(0.375f), (REAL)(0.5f)), q);                                   \
    const REAL c = q * fma(dd * kw, q, -pull);                                                 \
    const REAL ca = -(wa * c);                                                                 \
    const REAL cb = wb * c;                                                                    \
    *ax = fma(ca, dx, *ax);                                                                    \
    *ay = fma(ca, dy, *ay);                                                                    \
    *az = fma(ca, dz, *az);                                                                    \
    *bx = fma(cb, dx, *bx);                                                                    \
    *by = fma(cb, dy, *by);                                                                    \
    *bz = fma(cb, dz, *bz);                                                                    \
  }                                                                                            \
  static inline void NAME(REAL* ax, REAL* ay, REAL* az, REAL wa, REAL* bx, REAL* by, REAL* bz, \
                          REAL wb, REAL pull, REAL stiffness) {                                \
    const REAL w = wa + wb;                                                                    \
    NAME##_move(ax, ay, az, wa, bx, by, bz, wb, w* w, stiffness* w, pull);                     \
  }

LOCAL_MULTIPASS_PROJECT(local_multipass_project, float, int)

// One constraint on an island in global or local memory.
#define LOCAL_MULTIPASS_APPLY(ISLAND, CONSTRAINT)                                           \
  {                                                                                         \
    const uint4 constraint = CONSTRAINT;                                                    \
    float4 a = (ISLAND)[constraint.x];                                                      \
    float4 b = (ISLAND)[constraint.y];                                                      \
    float ax = a.x, ay = a.y, az = a.z;                                                     \
    float bx = b.x, by = b.y, bz = b.z;                                                     \
    local_multipass_project(&ax, &ay, &az, a.w, &bx, &by, &bz, b.w, as_float(constraint.z), \
                            as_float(constraint.w));                                        \
    (ISLAND)[constraint.x] = (float4)(ax, ay, az, a.w);                                     \
    (ISLAND)[constraint.y] = (float4)(bx, by, bz, b.w);                                     \
  }

// ------------------------------------------------------------------------------------------------
// copy: src to dst, before the launches of per_colour.
#ifdef CLCOOK_LOCAL_MULTIPASS_COPY
__kernel void local_multipass_copy(__global const float4* restrict src, ulong src_offset,
                                   ulong src_pitch, __global float4* restrict dst, ulong dst_offset,
                                   ulong dst_pitch, uint particles, uint islands) {
  const uint i = (uint)get_global_id(0);
  if (i < particles * islands) {
    const uint island = i / particles;
    const uint particle = i - island * particles;
    dst[dst_offset + island * dst_pitch + particle] =
        src[src_offset + island * src_pitch + particle];
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// per_colour: one launch for the `count` constraints of one colour on all islands.
#ifdef CLCOOK_LOCAL_MULTIPASS_PER_COLOUR
__kernel void local_multipass_per_colour(__global float4* dst, ulong dst_offset, ulong dst_pitch,
                                         __global const uint4* restrict constraints, uint begin,
                                         uint count, uint islands) {
  const uint i = (uint)get_global_id(0);
  if (i < count * islands) {
    const uint island = i / count;
    const uint c = begin + (i - island * count);
    __global float4* p = dst + dst_offset + island * dst_pitch;
    LOCAL_MULTIPASS_APPLY(p, constraints[c]);
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// per_iteration: one launch per iteration, a work-group per island. The positions stay in global
// memory, which a barrier makes visible within the group. The first launch reads src.
#ifdef CLCOOK_LOCAL_MULTIPASS_PER_ITERATION
__kernel LOCAL_MULTIPASS_GROUP void local_multipass_per_iteration(
    __global const float4* src, ulong src_offset, ulong src_pitch, __global float4* dst,
    ulong dst_offset, ulong dst_pitch, __global const uint4* restrict constraints,
    __global const uint* restrict colour_begin, uint colours, uint particles, uint copy) {
  const uint lid = (uint)get_local_id(0);
  const uint size = (uint)get_local_size(0);
  const ulong island = get_group_id(0);
  __global const float4* from = src + src_offset + island * src_pitch;
  __global float4* p = dst + dst_offset + island * dst_pitch;
  const uint copied = copy != 0 ? particles : 0;
  for (uint i = lid; i < copied; i += size) p[i] = from[i];
  barrier(CLK_GLOBAL_MEM_FENCE);
  for (uint colour = 0; colour < colours; ++colour) {
    const uint end = colour_begin[colour + 1];
    for (uint c = colour_begin[colour] + lid; c < end; c += size) {
      LOCAL_MULTIPASS_APPLY(p, constraints[c]);
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// all_local: one launch. A work-group loads its island into local memory, makes all iterations
// there, and stores it.
#ifdef CLCOOK_LOCAL_MULTIPASS_ALL_LOCAL
__kernel LOCAL_MULTIPASS_GROUP void local_multipass_all_local(
    __global const float4* src, ulong src_offset, ulong src_pitch, __global float4* dst,
    ulong dst_offset, ulong dst_pitch, __global const uint4* restrict constraints,
    __global const uint* restrict colour_begin, uint colours, uint iterations, uint particles,
    __local float4* p) {
  const uint lid = (uint)get_local_id(0);
  const uint size = (uint)get_local_size(0);
  const ulong island = get_group_id(0);
  src += src_offset + island * src_pitch;
  dst += dst_offset + island * dst_pitch;
  for (uint i = lid; i < particles; i += size) p[i] = src[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint iteration = 0; iteration < iterations; ++iteration) {
    for (uint colour = 0; colour < colours; ++colour) {
      const uint end = colour_begin[colour + 1];
      for (uint c = colour_begin[colour] + lid; c < end; c += size) {
        LOCAL_MULTIPASS_APPLY(p, constraints[c]);
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
  for (uint i = lid; i < particles; i += size) dst[i] = p[i];
}
#endif

// ------------------------------------------------------------------------------------------------
// packed_islands: as all_local, with `packed` islands in a group and `lanes` work-items for each.
// Work-items left over, and the last group's empty places, do nothing.
#ifdef CLCOOK_LOCAL_MULTIPASS_PACKED_ISLANDS
__kernel LOCAL_MULTIPASS_GROUP void local_multipass_packed_islands(
    __global const float4* src, ulong src_offset, ulong src_pitch, __global float4* dst,
    ulong dst_offset, ulong dst_pitch, __global const uint4* restrict constraints,
    __global const uint* restrict colour_begin, uint colours, uint iterations, uint particles,
    uint islands, uint packed, uint lanes, __local float4* cells) {
  const uint lid = (uint)get_local_id(0);
  const uint place = lid / lanes;
  const uint lane = lid - place * lanes;
  const uint island = (uint)get_group_id(0) * packed + place;
  const uint used = place < packed && island < islands ? particles : 0;
  __local float4* p = cells + place * particles;
  src += src_offset + island * src_pitch;
  dst += dst_offset + island * dst_pitch;
  for (uint i = lane; i < used; i += lanes) p[i] = src[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint iteration = 0; iteration < iterations; ++iteration) {
    for (uint colour = 0; colour < colours; ++colour) {
      const uint end = used != 0 ? colour_begin[colour + 1] : 0;
      for (uint c = colour_begin[colour] + lane; c < end; c += lanes) {
        LOCAL_MULTIPASS_APPLY(p, constraints[c]);
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
  for (uint i = lane; i < used; i += lanes) dst[i] = p[i];
}
#endif

// ------------------------------------------------------------------------------------------------
// resident: as packed_islands, and what does not change between the iterations stays in registers:
// each item's constraints with the inverse masses of their particles. Local memory holds x, y and z
// alone, an odd number of floats per island: places that differ by less than 32 are in different
// banks, and so are equal places of neighbouring islands.
//
// CLCOOK_LOCAL_MULTIPASS_COLOURS colours; an item has CLCOOK_LOCAL_MULTIPASS_EACH constraints of
// each, so lanes * EACH is at least the size of the largest colour. Constraints are uint4 as above,
// in an order with few bank conflicts.
#ifdef CLCOOK_LOCAL_MULTIPASS_RESIDENT
#ifndef CLCOOK_LOCAL_MULTIPASS_COLOURS
#define CLCOOK_LOCAL_MULTIPASS_COLOURS 2
#define CLCOOK_LOCAL_MULTIPASS_EACH 1
#endif
#define LOCAL_MULTIPASS_HELD (CLCOOK_LOCAL_MULTIPASS_COLOURS * CLCOOK_LOCAL_MULTIPASS_EACH)
__kernel LOCAL_MULTIPASS_GROUP void local_multipass_resident(
    __global const float4* src, ulong src_offset, ulong src_pitch, __global float4* dst,
    ulong dst_offset, ulong dst_pitch, __global const uint4* restrict constraints,
    __global const uint* restrict colour_begin, uint iterations, uint particles, uint islands,
    uint packed, uint lanes, __local float* cells) {
  const uint lid = (uint)get_local_id(0);
  const uint place = lid / lanes;
  const uint lane = lid - place * lanes;
  const uint island = (uint)get_group_id(0) * packed + place;
  const uint used = place < packed && island < islands ? particles : 0;
  const uint base = place * (particles * 3 | 1);
  src += src_offset + island * src_pitch;
  dst += dst_offset + island * dst_pitch;

  // The cells of both ends, equal where there is no constraint; wa, wb, ww, kw; pull.
  uint a[LOCAL_MULTIPASS_HELD];
  uint b[LOCAL_MULTIPASS_HELD];
  float4 masses[LOCAL_MULTIPASS_HELD];
  float pull[LOCAL_MULTIPASS_HELD];
#pragma unroll
  for (uint k = 0; k < LOCAL_MULTIPASS_HELD; ++k) {
    const uint colour = k / CLCOOK_LOCAL_MULTIPASS_EACH;
    const uint c = colour_begin[colour] + lane + k % CLCOOK_LOCAL_MULTIPASS_EACH * lanes;
    a[k] = b[k] = 0;
    masses[k] = (float4)(0.0f, 0.0f, 0.0f, 0.0f);
    pull[k] = 0.0f;
    if (used != 0 && c < colour_begin[colour + 1]) {
      const uint4 constraint = constraints[c];
      const float wa = src[constraint.x].w;
      const float wb = src[constraint.y].w;
      const float w = wa + wb;
      a[k] = base + constraint.x * 3;
      b[k] = base + constraint.y * 3;
      masses[k] = (float4)(wa, wb, w * w, as_float(constraint.w) * w);
      pull[k] = as_float(constraint.z);
    }
  }
  for (uint i = lane; i < used; i += lanes) {
    const float4 particle = src[i];
    cells[base + i * 3] = particle.x;
    cells[base + i * 3 + 1] = particle.y;
    cells[base + i * 3 + 2] = particle.z;
  }
  // Global, too: dst may be src, whose masses other items have read.
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (uint iteration = 0; iteration < iterations; ++iteration) {
#pragma unroll
    for (uint colour = 0; colour < CLCOOK_LOCAL_MULTIPASS_COLOURS; ++colour) {
#pragma unroll
      for (uint j = 0; j < CLCOOK_LOCAL_MULTIPASS_EACH; ++j) {
        const uint k = colour * CLCOOK_LOCAL_MULTIPASS_EACH + j;
        if (a[k] != b[k]) {
          __local float* p = cells + a[k];
          __local float* o = cells + b[k];
          float px = p[0], py = p[1], pz = p[2];
          float ox = o[0], oy = o[1], oz = o[2];
          local_multipass_project_move(&px, &py, &pz, masses[k].x, &ox, &oy, &oz, masses[k].y,
                                       masses[k].z, masses[k].w, pull[k]);
          p[0] = px;
          p[1] = py;
          p[2] = pz;
          o[0] = ox;
          o[1] = oy;
          o[2] = oz;
        }
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
  for (uint i = lane; i < used; i += lanes) {
    const uint at = base + i * 3;
    dst[i] = (float4)(cells[at], cells[at + 1], cells[at + 2], src[i].w);
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// cpu_lanes: for CPUs. One work-item per group solves 16 islands at once, one per vector element,
// without barriers; what the colours are for is not needed. The particles of the 16 islands lie in
// local memory, which is ordinary memory there and stays in the cache. The last group's missing
// islands repeat its last one.
#ifdef CLCOOK_LOCAL_MULTIPASS_CPU_LANES
#define LANES 16
LOCAL_MULTIPASS_PROJECT(local_multipass_project16, float16, int16)

__kernel void local_multipass_cpu_lanes(__global const float4* src, ulong src_offset,
                                        ulong src_pitch, __global float4* dst, ulong dst_offset,
                                        ulong dst_pitch, __global const uint4* restrict constraints,
                                        uint count, uint iterations, uint particles, uint islands,
                                        __local float16* cells) {
  const uint first = (uint)get_group_id(0) * LANES;
  const uint filled = min(islands - first, (uint)LANES);
  __local float* values = (__local float*)cells;  // cell 4 i + e: element e of particle i
  for (uint lane = 0; lane < LANES; ++lane) {
    __global const float4* from = src + src_offset + (first + min(lane, filled - 1)) * src_pitch;
    for (uint i = 0; i < particles; ++i) {
      const float4 particle = from[i];
      __local float* to = values + i * (4 * LANES) + lane;
      to[0] = particle.x;
      to[LANES] = particle.y;
      to[2 * LANES] = particle.z;
      to[3 * LANES] = particle.w;
    }
  }
  for (uint iteration = 0; iteration < iterations; ++iteration) {
    for (uint c = 0; c < count; ++c) {
      const uint4 constraint = constraints[c];
      __local float16* a = cells + constraint.x * 4;
      __local float16* b = cells + constraint.y * 4;
      float16 ax = a[0], ay = a[1], az = a[2];
      float16 bx = b[0], by = b[1], bz = b[2];
      local_multipass_project16(&ax, &ay, &az, a[3], &bx, &by, &bz, b[3],
                                (float16)as_float(constraint.z), (float16)as_float(constraint.w));
      a[0] = ax;
      a[1] = ay;
      a[2] = az;
      b[0] = bx;
      b[1] = by;
      b[2] = bz;
    }
  }
  for (uint lane = 0; lane < filled; ++lane) {
    __global float4* to = dst + dst_offset + (first + lane) * dst_pitch;
    for (uint i = 0; i < particles; ++i) {
      __local const float* from = values + i * (4 * LANES) + lane;
      to[i] = (float4)(from[0], from[LANES], from[2 * LANES], from[3 * LANES]);
    }
  }
}
#endif
