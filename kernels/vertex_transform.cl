// Skinning of a crowd of instances of one mesh: every variant of the recipe vertex_transform.
//
// Each vertex has a position, a normal, and 4 joints with weights. For instance i:
//   skin     = sum over the 4 joints j of weight_j bones[i][j]
//   position = world[i] skin (x, y, z, 1)
//   normal   = world[i] skin (x, y, z, 0)
// The result of instance i, vertex v is number i vertices + v.
//
// Matrices are rows of float4: 4 rows, or 3 where the variant is affine (the fourth is 0 0 0 1).
// skin[v] = 4 joints in the bytes of .x, 4 weights of 1/255 in the bytes of .y, lowest first. A
// joint beyond the last bone counts as the last bone.
// Formats of vertices and results, position then normal:
//   float4   two float4
//   float3   six floats, no fourth component
//   half3    six halfs, vertices only
// Offsets are in float4 for matrices, in uint2 for skin, in the format's elements (float4, float,
// half) for vertices and results.
//
// per_item is started with as many work-items as there are results, in one dimension; all others
// with `vertices` items in dimension 0 and one group per instance in dimension 1. The global size
// is padded to whole work-groups, so every kernel guards.
//
// The host compiles one variant per program: -DCLCOOK_VERTEX_TRANSFORM_ONLY
// -DCLCOOK_VERTEX_TRANSFORM_<VARIANT>.

#ifndef CLCOOK_VERTEX_TRANSFORM_ONLY
#define CLCOOK_VERTEX_TRANSFORM_PER_ITEM
#define CLCOOK_VERTEX_TRANSFORM_UNIFORM
#define CLCOOK_VERTEX_TRANSFORM_CONSTANT
#define CLCOOK_VERTEX_TRANSFORM_TYPED
#define CLCOOK_VERTEX_TRANSFORM_AFFINE
#define CLCOOK_VERTEX_TRANSFORM_NO_W
#define CLCOOK_VERTEX_TRANSFORM_ROLLED
#define CLCOOK_VERTEX_TRANSFORM_CONSTANT_TRIPS
#define CLCOOK_VERTEX_TRANSFORM_RUN_TIME_TRIPS
#define CLCOOK_VERTEX_TRANSFORM_EARLY
#define CLCOOK_VERTEX_TRANSFORM_LOCAL_PALETTE
#define CLCOOK_VERTEX_TRANSFORM_HALF3
#define CLCOOK_VERTEX_TRANSFORM_CPU_COLUMNS
#endif

#ifndef CLCOOK_VERTEX_TRANSFORM_GROUP
#define CLCOOK_VERTEX_TRANSFORM_GROUP 256
#endif
#define VERTEX_TRANSFORM_GROUP \
  __attribute__((reqd_work_group_size(CLCOOK_VERTEX_TRANSFORM_GROUP, 1, 1)))

#define JOINTS 4

static inline uint vertex_transform_byte(uint word, int which) {
  return (word >> (8 * which)) & 0xFFu;
}

static inline float vertex_transform_weight(uint weights, int which) {
  return (float)vertex_transform_byte(weights, which) * 0x1.010102p-8f;  // 1 / 255
}

static inline float vertex_transform_dot4(float4 row, float4 v) {
  return fma(row.x, v.x, fma(row.y, v.y, fma(row.z, v.z, row.w * v.w)));
}

// A row times (x, y, z, 1) and times (x, y, z, 0).
static inline float vertex_transform_point(float4 row, float3 v) {
  return fma(row.x, v.x, fma(row.y, v.y, fma(row.z, v.z, row.w)));
}

static inline float vertex_transform_direction(float4 row, float3 v) {
  return fma(row.x, v.x, fma(row.y, v.y, row.z * v.z));
}

static inline float3 vertex_transform_points(float4 r0, float4 r1, float4 r2, float3 v) {
  return (float3)(vertex_transform_point(r0, v), vertex_transform_point(r1, v),
                  vertex_transform_point(r2, v));
}

static inline float3 vertex_transform_directions(float4 r0, float4 r1, float4 r2, float3 v) {
  return (float3)(vertex_transform_direction(r0, v), vertex_transform_direction(r1, v),
                  vertex_transform_direction(r2, v));
}

// The blended matrix of a vertex, 4 rows, the 4 matrices in straight-line code.
static inline void vertex_transform_skin4(__global const float4* bones, int count, uint2 joints,
                                          float4* m) {
  m[0] = m[1] = m[2] = m[3] = (float4)(0.0f);
#pragma unroll
  for (int k = 0; k < JOINTS; ++k) {
    const int joint = min((int)vertex_transform_byte(joints.x, k), count - 1);
    const float4 weight = (float4)(vertex_transform_weight(joints.y, k));
    __global const float4* bone = bones + joint * 4;
    m[0] = fma(weight, bone[0], m[0]);
    m[1] = fma(weight, bone[1], m[1]);
    m[2] = fma(weight, bone[2], m[2]);
    m[3] = fma(weight, bone[3], m[3]);
  }
}

// The same with 3 rows.
static inline void vertex_transform_skin3(__global const float4* bones, int count, uint2 joints,
                                          float4* m) {
  m[0] = m[1] = m[2] = (float4)(0.0f);
#pragma unroll
  for (int k = 0; k < JOINTS; ++k) {
    const int joint = min((int)vertex_transform_byte(joints.x, k), count - 1);
    const float4 weight = (float4)(vertex_transform_weight(joints.y, k));
    __global const float4* bone = bones + joint * 3;
    m[0] = fma(weight, bone[0], m[0]);
    m[1] = fma(weight, bone[1], m[1]);
    m[2] = fma(weight, bone[2], m[2]);
  }
}

// The same with 3 rows, as a loop: the rows of one bone are live at a time.
static inline void vertex_transform_skin3_rolled(__global const float4* bones, int count,
                                                 uint2 joints, float4* m) {
  m[0] = m[1] = m[2] = (float4)(0.0f);
#pragma unroll 1
  for (int k = 0; k < JOINTS; ++k) {
    const int joint = min((int)vertex_transform_byte(joints.x, k), count - 1);
    const float4 weight = (float4)(vertex_transform_weight(joints.y, k));
    __global const float4* bone = bones + joint * 3;
    m[0] = fma(weight, bone[0], m[0]);
    m[1] = fma(weight, bone[1], m[1]);
    m[2] = fma(weight, bone[2], m[2]);
  }
}

// The same as a loop that is left to the compiler, `trips` joints.
static inline void vertex_transform_skin3_trips(__global const float4* bones, int count,
                                                uint2 joints, int trips, float4* m) {
  m[0] = m[1] = m[2] = (float4)(0.0f);
  for (int k = 0; k < trips; ++k) {
    const int joint = min((int)vertex_transform_byte(joints.x, k), count - 1);
    const float4 weight = (float4)(vertex_transform_weight(joints.y, k));
    __global const float4* bone = bones + joint * 3;
    m[0] = fma(weight, bone[0], m[0]);
    m[1] = fma(weight, bone[1], m[1]);
    m[2] = fma(weight, bone[2], m[2]);
  }
}

#define VERTEX_TRANSFORM_ARGUMENTS(T, S, R)                                                        \
  __global const T *restrict vertices, ulong vertices_offset, __global const uint2 *restrict skin, \
      ulong skin_offset, S const float4 *world, ulong world_offset,                                \
      __global const float4 *restrict bones, ulong bones_offset, __global R *restrict result,      \
      ulong result_offset, int vertex_count, int bone_count, ulong count

// ------------------------------------------------------------------------------------------------
// per_item: one dimension of results, so that the instance, and with it the address of the world
// matrix, differs from item to item as far as the compiler can know. 4 rows, float4 everywhere.
#ifdef CLCOOK_VERTEX_TRANSFORM_PER_ITEM
__kernel VERTEX_TRANSFORM_GROUP void vertex_transform_per_item(VERTEX_TRANSFORM_ARGUMENTS(float4,
                                                                                          __global,
                                                                                          float4)) {
  const ulong i = get_global_id(0);
  if (i >= count) {
    return;
  }
  const ulong instance = (uint)i / (uint)vertex_count;
  const ulong v = (uint)i % (uint)vertex_count;
  const float4 p = vertices[vertices_offset + 2 * v];
  const float4 n = vertices[vertices_offset + 2 * v + 1];
  float4 m[4];
  vertex_transform_skin4(bones + bones_offset + instance * (ulong)bone_count * 4, bone_count,
                         skin[skin_offset + v], m);
  const float4 sp = (float4)(vertex_transform_dot4(m[0], p), vertex_transform_dot4(m[1], p),
                             vertex_transform_dot4(m[2], p), vertex_transform_dot4(m[3], p));
  const float4 sn = (float4)(vertex_transform_dot4(m[0], n), vertex_transform_dot4(m[1], n),
                             vertex_transform_dot4(m[2], n), vertex_transform_dot4(m[3], n));
  __global const float4* w = world + world_offset + instance * 4;
  const float4 w0 = w[0];
  const float4 w1 = w[1];
  const float4 w2 = w[2];
  const float4 w3 = w[3];
  result += result_offset + 2 * i;
  result[0] = (float4)(vertex_transform_dot4(w0, sp), vertex_transform_dot4(w1, sp),
                       vertex_transform_dot4(w2, sp), vertex_transform_dot4(w3, sp));
  result[1] = (float4)(vertex_transform_dot4(w0, sn), vertex_transform_dot4(w1, sn),
                       vertex_transform_dot4(w2, sn), vertex_transform_dot4(w3, sn));
}
#endif

// ------------------------------------------------------------------------------------------------
// uniform: one instance per work-group, so that the address of its world matrix is uniform.
#ifdef CLCOOK_VERTEX_TRANSFORM_UNIFORM
__kernel VERTEX_TRANSFORM_GROUP void vertex_transform_uniform(VERTEX_TRANSFORM_ARGUMENTS(float4,
                                                                                         __global,
                                                                                         float4)) {
  const ulong v = get_global_id(0);
  const ulong instance = get_group_id(1);
  if (v >= (ulong)vertex_count || instance * (ulong)vertex_count + v >= count) {
    return;
  }
  const float4 p = vertices[vertices_offset + 2 * v];
  const float4 n = vertices[vertices_offset + 2 * v + 1];
  float4 m[4];
  vertex_transform_skin4(bones + bones_offset + instance * (ulong)bone_count * 4, bone_count,
                         skin[skin_offset + v], m);
  const float4 sp = (float4)(vertex_transform_dot4(m[0], p), vertex_transform_dot4(m[1], p),
                             vertex_transform_dot4(m[2], p), vertex_transform_dot4(m[3], p));
  const float4 sn = (float4)(vertex_transform_dot4(m[0], n), vertex_transform_dot4(m[1], n),
                             vertex_transform_dot4(m[2], n), vertex_transform_dot4(m[3], n));
  __global const float4* w = world + world_offset + instance * 4;
  result += result_offset + 2 * (instance * (ulong)vertex_count + v);
  result[0] = (float4)(vertex_transform_dot4(w[0], sp), vertex_transform_dot4(w[1], sp),
                       vertex_transform_dot4(w[2], sp), vertex_transform_dot4(w[3], sp));
  result[1] = (float4)(vertex_transform_dot4(w[0], sn), vertex_transform_dot4(w[1], sn),
                       vertex_transform_dot4(w[2], sn), vertex_transform_dot4(w[3], sn));
}
#endif

// ------------------------------------------------------------------------------------------------
// constant: as uniform, but the world matrices are in constant memory.
#ifdef CLCOOK_VERTEX_TRANSFORM_CONSTANT
__kernel VERTEX_TRANSFORM_GROUP void vertex_transform_constant(
    VERTEX_TRANSFORM_ARGUMENTS(float4, __constant, float4)) {
  const ulong v = get_global_id(0);
  const ulong instance = get_group_id(1);
  if (v >= (ulong)vertex_count || instance * (ulong)vertex_count + v >= count) {
    return;
  }
  const float4 p = vertices[vertices_offset + 2 * v];
  const float4 n = vertices[vertices_offset + 2 * v + 1];
  float4 m[4];
  vertex_transform_skin4(bones + bones_offset + instance * (ulong)bone_count * 4, bone_count,
                         skin[skin_offset + v], m);
  const float4 sp = (float4)(vertex_transform_dot4(m[0], p), vertex_transform_dot4(m[1], p),
                             vertex_transform_dot4(m[2], p), vertex_transform_dot4(m[3], p));
  const float4 sn = (float4)(vertex_transform_dot4(m[0], n), vertex_transform_dot4(m[1], n),
                             vertex_transform_dot4(m[2], n), vertex_transform_dot4(m[3], n));
  __constant const float4* w = world + world_offset + instance * 4;
  result += result_offset + 2 * (instance * (ulong)vertex_count + v);
  result[0] = (float4)(vertex_transform_dot4(w[0], sp), vertex_transform_dot4(w[1], sp),
                       vertex_transform_dot4(w[2], sp), vertex_transform_dot4(w[3], sp));
  result[1] = (float4)(vertex_transform_dot4(w[0], sn), vertex_transform_dot4(w[1], sn),
                       vertex_transform_dot4(w[2], sn), vertex_transform_dot4(w[3], sn));
}
#endif

// ------------------------------------------------------------------------------------------------
// typed: as uniform, but the world matrices are read through a typed buffer, an image of one
// dimension over the same memory. What reads images does so for every item.
#ifdef CLCOOK_VERTEX_TRANSFORM_TYPED
__kernel VERTEX_TRANSFORM_GROUP void vertex_transform_typed(
    __global const float4* restrict vertices, ulong vertices_offset,
    __global const uint2* restrict skin, ulong skin_offset, __read_only image1d_buffer_t world,
    ulong world_offset, __global const float4* restrict bones, ulong bones_offset,
    __global float4* restrict result, ulong result_offset, int vertex_count, int bone_count,
    ulong count) {
  const ulong v = get_global_id(0);
  const ulong instance = get_group_id(1);
  if (v >= (ulong)vertex_count || instance * (ulong)vertex_count + v >= count) {
    return;
  }
  const float4 p = vertices[vertices_offset + 2 * v];
  const float4 n = vertices[vertices_offset + 2 * v + 1];
  float4 m[4];
  vertex_transform_skin4(bones + bones_offset + instance * (ulong)bone_count * 4, bone_count,
                         skin[skin_offset + v], m);
  const float4 sp = (float4)(vertex_transform_dot4(m[0], p), vertex_transform_dot4(m[1], p),
                             vertex_transform_dot4(m[2], p), vertex_transform_dot4(m[3], p));
  const float4 sn = (float4)(vertex_transform_dot4(m[0], n), vertex_transform_dot4(m[1], n),
                             vertex_transform_dot4(m[2], n), vertex_transform_dot4(m[3], n));
  const int first = (int)(world_offset + instance * 4);
  const float4 w0 = read_imagef(world, first);
  const float4 w1 = read_imagef(world, first + 1);
  const float4 w2 = read_imagef(world, first + 2);
  const float4 w3 = read_imagef(world, first + 3);
  result += result_offset + 2 * (instance * (ulong)vertex_count + v);
  result[0] = (float4)(vertex_transform_dot4(w0, sp), vertex_transform_dot4(w1, sp),
                       vertex_transform_dot4(w2, sp), vertex_transform_dot4(w3, sp));
  result[1] = (float4)(vertex_transform_dot4(w0, sn), vertex_transform_dot4(w1, sn),
                       vertex_transform_dot4(w2, sn), vertex_transform_dot4(w3, sn));
}
#endif

// ------------------------------------------------------------------------------------------------
// affine: as uniform, but with 3 rows of each matrix.
#ifdef CLCOOK_VERTEX_TRANSFORM_AFFINE
__kernel VERTEX_TRANSFORM_GROUP void vertex_transform_affine(VERTEX_TRANSFORM_ARGUMENTS(float4,
                                                                                        __global,
                                                                                        float4)) {
  const ulong v = get_global_id(0);
  const ulong instance = get_group_id(1);
  if (v >= (ulong)vertex_count || instance * (ulong)vertex_count + v >= count) {
    return;
  }
  const float3 p = vertices[vertices_offset + 2 * v].xyz;
  const float3 n = vertices[vertices_offset + 2 * v + 1].xyz;
  float4 m[3];
  vertex_transform_skin3(bones + bones_offset + instance * (ulong)bone_count * 3, bone_count,
                         skin[skin_offset + v], m);
  const float3 sp = vertex_transform_points(m[0], m[1], m[2], p);
  const float3 sn = vertex_transform_directions(m[0], m[1], m[2], n);
  __global const float4* w = world + world_offset + instance * 3;
  result += result_offset + 2 * (instance * (ulong)vertex_count + v);
  result[0] = (float4)(vertex_transform_points(w[0], w[1], w[2], sp), 1.0f);
  result[1] = (float4)(vertex_transform_directions(w[0], w[1], w[2], sn), 0.0f);
}
#endif

// Without a fourth component: six floats per vertex and result, the kernel of no_w, rolled, early
// and half3.
#define VERTEX_TRANSFORM_NO_W_BODY(LOAD, SKIN)                                                     \
  const ulong v = get_global_id(0);                                                                \
  const ulong instance = get_group_id(1);                                                          \
  if (v >= (ulong)vertex_count || instance * (ulong)vertex_count + v >= count) {                   \
    return;                                                                                        \
  }                                                                                                \
  const float3 p = LOAD(2 * v, vertices + vertices_offset);                                        \
  const float3 n = LOAD(2 * v + 1, vertices + vertices_offset);                                    \
  float4 m[3];                                                                                     \
  SKIN(bones + bones_offset + instance * (ulong)bone_count * 3, bone_count, skin[skin_offset + v], \
       m);                                                                                         \
  const float3 sp = vertex_transform_points(m[0], m[1], m[2], p);                                  \
  const float3 sn = vertex_transform_directions(m[0], m[1], m[2], n);                              \
  __global const float4* w = world + world_offset + instance * 3;                                  \
  result += result_offset + 6 * (instance * (ulong)vertex_count + v);                              \
  vstore3(vertex_transform_points(w[0], w[1], w[2], sp), 0, result);                               \
  vstore3(vertex_transform_directions(w[0], w[1], w[2], sn), 1, result)

// ------------------------------------------------------------------------------------------------
// no_w: as affine, vertices and results as six floats.
#ifdef CLCOOK_VERTEX_TRANSFORM_NO_W
__kernel VERTEX_TRANSFORM_GROUP void vertex_transform_no_w(VERTEX_TRANSFORM_ARGUMENTS(float,
                                                                                      __global,
                                                                                      float)) {
  VERTEX_TRANSFORM_NO_W_BODY(vload3, vertex_transform_skin3);
}
#endif

// ------------------------------------------------------------------------------------------------
// rolled: as no_w, one joint at a time.
#ifdef CLCOOK_VERTEX_TRANSFORM_ROLLED
__kernel VERTEX_TRANSFORM_GROUP void vertex_transform_rolled(VERTEX_TRANSFORM_ARGUMENTS(float,
                                                                                        __global,
                                                                                        float)) {
  VERTEX_TRANSFORM_NO_W_BODY(vload3, vertex_transform_skin3_rolled);
}
#endif

// ------------------------------------------------------------------------------------------------
// constant_trips: as rolled, without the word to the compiler. It knows how often the loop runs.
#ifdef CLCOOK_VERTEX_TRANSFORM_CONSTANT_TRIPS
#define VERTEX_TRANSFORM_SKIN_CONSTANT(bones, count, joints, m) \
  vertex_transform_skin3_trips(bones, count, joints, JOINTS, m)
__kernel VERTEX_TRANSFORM_GROUP void vertex_transform_constant_trips(
    VERTEX_TRANSFORM_ARGUMENTS(float, __global, float)) {
  VERTEX_TRANSFORM_NO_W_BODY(vload3, VERTEX_TRANSFORM_SKIN_CONSTANT);
}
#endif

// ------------------------------------------------------------------------------------------------
// run_time_trips: as constant_trips, but the compiler cannot know how often the loop runs. Every
// skeleton has a bone, so it is JOINTS times.
#ifdef CLCOOK_VERTEX_TRANSFORM_RUN_TIME_TRIPS
#define VERTEX_TRANSFORM_SKIN_RUN_TIME(bones, count, joints, m) \
  vertex_transform_skin3_trips(bones, count, joints, min(count* JOINTS, JOINTS), m)
__kernel VERTEX_TRANSFORM_GROUP void vertex_transform_run_time_trips(
    VERTEX_TRANSFORM_ARGUMENTS(float, __global, float)) {
  VERTEX_TRANSFORM_NO_W_BODY(vload3, VERTEX_TRANSFORM_SKIN_RUN_TIME);
}
#endif

// ------------------------------------------------------------------------------------------------
// early: as rolled, and the rows of the next joint are loaded before those of this one are used.
#ifdef CLCOOK_VERTEX_TRANSFORM_EARLY
static inline void vertex_transform_skin3_early(__global const float4* bones, int count,
                                                uint2 joints, float4* m) {
  m[0] = m[1] = m[2] = (float4)(0.0f);
  __global const float4* bone = bones + min((int)vertex_transform_byte(joints.x, 0), count - 1) * 3;
  float4 next0 = bone[0];
  float4 next1 = bone[1];
  float4 next2 = bone[2];
#pragma unroll 1
  for (int k = 0; k < JOINTS; ++k) {
    const float4 r0 = next0;
    const float4 r1 = next1;
    const float4 r2 = next2;
    // The last turn loads joint 3 again.
    bone = bones + min((int)vertex_transform_byte(joints.x, min(k + 1, JOINTS - 1)), count - 1) * 3;
    next0 = bone[0];
    next1 = bone[1];
    next2 = bone[2];
    const float4 weight = (float4)(vertex_transform_weight(joints.y, k));
    m[0] = fma(weight, r0, m[0]);
    m[1] = fma(weight, r1, m[1]);
    m[2] = fma(weight, r2, m[2]);
  }
}

__kernel VERTEX_TRANSFORM_GROUP void vertex_transform_early(VERTEX_TRANSFORM_ARGUMENTS(float,
                                                                                       __global,
                                                                                       float)) {
  VERTEX_TRANSFORM_NO_W_BODY(vload3, vertex_transform_skin3_early);
}
#endif

// ------------------------------------------------------------------------------------------------
// local_palette: in the formats of no_w. A group multiplies the instance's matrix into each bone's
// first and keeps the products in local memory, a row of a bone per item, so that a vertex goes
// through one matrix in place of two. The vertex and its joints are loaded before, so that these
// loads and those of the bones are under way together.
#ifdef CLCOOK_VERTEX_TRANSFORM_LOCAL_PALETTE
__kernel VERTEX_TRANSFORM_GROUP void vertex_transform_local_palette(
    VERTEX_TRANSFORM_ARGUMENTS(float, __global, float), __local float4* palette) {
  const uint lid = (uint)get_local_id(0);
  const ulong instance = get_group_id(1);
  const bool stored = get_global_id(0) < (ulong)vertex_count;
  const ulong v = min((ulong)get_global_id(0), (ulong)(vertex_count - 1));
  const float3 p = vload3(2 * v, vertices + vertices_offset);
  const float3 n = vload3(2 * v + 1, vertices + vertices_offset);
  const uint2 joints = skin[skin_offset + v];

  world += world_offset + instance * 3;
  bones += bones_offset + instance * (ulong)bone_count * 3;
  for (uint row = lid; row < 3 * (uint)bone_count; row += CLCOOK_VERTEX_TRANSFORM_GROUP) {
    const float4 w = world[row % 3];
    __global const float4* bone = bones + row / 3 * 3;
    palette[row] = fma(
        (float4)(w.x), bone[0],
        fma((float4)(w.y), bone[1], fma((float4)(w.z), bone[2], (float4)(0.0f, 0.0f, 0.0f, w.w))));
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  float4 m[3] = {(float4)(0.0f), (float4)(0.0f), (float4)(0.0f)};
#pragma unroll
  for (int k = 0; k < JOINTS; ++k) {
    const int joint = min((int)vertex_transform_byte(joints.x, k), bone_count - 1);
    const float4 weight = (float4)(vertex_transform_weight(joints.y, k));
    __local const float4* bone = palette + joint * 3;
    m[0] = fma(weight, bone[0], m[0]);
    m[1] = fma(weight, bone[1], m[1]);
    m[2] = fma(weight, bone[2], m[2]);
  }
  if (stored) {
    result += result_offset + 6 * (instance * (ulong)vertex_count + v);
    vstore3(vertex_transform_points(m[0], m[1], m[2], p), 0, result);
    vstore3(vertex_transform_directions(m[0], m[1], m[2], n), 1, result);
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// half3: as rolled, vertices as six halfs.
#ifdef CLCOOK_VERTEX_TRANSFORM_HALF3
__kernel VERTEX_TRANSFORM_GROUP void vertex_transform_half3(VERTEX_TRANSFORM_ARGUMENTS(half,
                                                                                       __global,
                                                                                       float)) {
  VERTEX_TRANSFORM_NO_W_BODY(vload_half3, vertex_transform_skin3_rolled);
}
#endif

// ------------------------------------------------------------------------------------------------
// cpu_columns: for CPUs, in the formats of no_w. One work-item per strip of an instance's vertices.
// It multiplies the instance's matrix into each bone first and keeps the columns of the products as
// one vector, so that the blend of a vertex is 4 fma of whole matrices. Then four vertices at a
// time: a column of all four in a vector, over positions and normals.
#ifdef CLCOOK_VERTEX_TRANSFORM_CPU_COLUMNS
#include <clcook/streaming_store.clh>

#ifndef CLCOOK_VERTEX_TRANSFORM_STRIP
#define CLCOOK_VERTEX_TRANSFORM_STRIP 4096
#endif
#define STRIP CLCOOK_VERTEX_TRANSFORM_STRIP
#define BLOCK 64  // vertices whose joints and weights are unpacked at a time
#define LANES 8   // vertices whose results are whole cache lines
#define MAX_BONES 256

// Vectors are put together from numbers. From smaller vectors it would be shuffles with undefined
// lanes, on which Oclgrind 21.10 crashes; what comes from others it takes for uninitialised.
#define THREE(v, a, b, c) (v).a, (v).b, (v).c
#define FOUR(v, a, b, c, d) (v).a, (v).b, (v).c, (v).d
#define ALL4(v, a) (v).a, (v).a, (v).a, (v).a
#define LOW8(v) FOUR(v, s0, s1, s2, s3), FOUR(v, s4, s5, s6, s7)
#define HIGH8(v) FOUR(v, s8, s9, sa, sb), FOUR(v, sc, sd, se, sf)
#define EVEN_FOURS(v) FOUR(v, s0, s1, s2, s3), FOUR(v, s8, s9, sa, sb)
#define ODD_FOURS(v) FOUR(v, s4, s5, s6, s7), FOUR(v, sc, sd, se, sf)

// A column of a matrix of three rows.
#define COLUMN(rows, c) (float4)((rows)[0].c, (rows)[1].c, (rows)[2].c, 0.0f)

// Positions and normals of four vertices: x y z and a number that nobody reads for each. in0 and
// in1 are the first and the last 16 of their 24 floats.
static inline __attribute__((always_inline)) void vertex_transform_four(
    const float* matrices, const int* joints, const float* weights, float16 in0, float16 in1,
    float16* position, float16* normal) {
  float16 m[4];
#pragma unroll
  for (int v = 0; v < 4; ++v) {
    m[v] = vload16(0, matrices + joints[v]) * weights[v];
#pragma unroll
    for (int k = 1; k < JOINTS; ++k) {
      m[v] = fma(vload16(0, matrices + joints[BLOCK * k + v]), (float16)(weights[BLOCK * k + v]),
                 m[v]);
    }
  }
  const float16 xy0 = (float16)(LOW8(m[0]), LOW8(m[1]));
  const float16 xy1 = (float16)(LOW8(m[2]), LOW8(m[3]));
  const float16 zw0 = (float16)(HIGH8(m[0]), HIGH8(m[1]));
  const float16 zw1 = (float16)(HIGH8(m[2]), HIGH8(m[3]));
  const float16 x = (float16)(EVEN_FOURS(xy0), EVEN_FOURS(xy1));
  const float16 y = (float16)(ODD_FOURS(xy0), ODD_FOURS(xy1));
  const float16 z = (float16)(EVEN_FOURS(zw0), EVEN_FOURS(zw1));
  const float16 w = (float16)(ODD_FOURS(zw0), ODD_FOURS(zw1));
#define OF_ALL(a, b, c, d) (float16)(ALL4(in0, a), ALL4(in0, b), ALL4(in1, c), ALL4(in1, d))
  *position = fma(x, OF_ALL(s0, s6, s4, sa),
                  fma(y, OF_ALL(s1, s7, s5, sb), fma(z, OF_ALL(s2, s8, s6, sc), w)));
  *normal =
      fma(x, OF_ALL(s3, s9, s7, sd), fma(y, OF_ALL(s4, sa, s8, se), z * OF_ALL(s5, sb, s9, sf)));
}

__kernel VERTEX_TRANSFORM_GROUP void vertex_transform_cpu_columns(
    VERTEX_TRANSFORM_ARGUMENTS(float, __global, float)) {
  const ulong instance = get_global_id(1);
  const ulong begin = get_global_id(0) * STRIP;
  const ulong end = min(begin + STRIP, (ulong)vertex_count);
  world += world_offset + instance * 3;
  bones += bones_offset + instance * (ulong)bone_count * 3;
  vertices += vertices_offset;
  skin += skin_offset;
  result += result_offset + instance * (ulong)vertex_count * 6;
  const int aligned = ((uintptr_t)result & 63) == 0;

  float matrices[16 * MAX_BONES];
  const float4 world_x = COLUMN(world, x);
  const float4 world_y = COLUMN(world, y);
  const float4 world_z = COLUMN(world, z);
  const float4 move = COLUMN(world, w);
  for (int j = 0; j < bone_count; ++j) {
    const float4 rows[3] = {bones[3 * j], bones[3 * j + 1], bones[3 * j + 2]};
#define PRODUCT(c, last)            \
  fma(world_x, (float4)(rows[0].c), \
      fma(world_y, (float4)(rows[1].c), fma(world_z, (float4)(rows[2].c), last)))
    const float4 x = PRODUCT(x, (float4)(0.0f));
    const float4 y = PRODUCT(y, (float4)(0.0f));
    const float4 z = PRODUCT(z, (float4)(0.0f));
    const float4 w = PRODUCT(w, move);
    vstore16((float16)(FOUR(x, x, y, z, w), FOUR(y, x, y, z, w), FOUR(z, x, y, z, w),
                       FOUR(w, x, y, z, w)),
             j, matrices);
  }

  for (ulong first = begin; first < end; first += BLOCK) {
    const int block = (int)min(end - first, (ulong)BLOCK);
    // For each of the four joints: where its matrix begins, and its weight.
    int joints[JOINTS * BLOCK];
    float weights[JOINTS * BLOCK];
    for (int v = 0; v < block; v += LANES) {
      uint16 words;
      if (v + LANES <= block) {
        words = vload16(0, (__global const uint*)(skin + first + v));
      } else {
        uint2 last[LANES];
        for (int k = 0; k < LANES; ++k) last[k] = skin[first + min(v + k, block - 1)];
        words = vload16(0, (const uint*)last);
      }
      const uint8 joint_words = (uint8)(FOUR(words, s0, s2, s4, s6), FOUR(words, s8, sa, sc, se));
      const uint8 weight_words = (uint8)(FOUR(words, s1, s3, s5, s7), FOUR(words, s9, sb, sd, sf));
#pragma unroll
      for (int k = 0; k < JOINTS; ++k) {
        // Oclgrind 21.10 takes a number for the first element only, in min() of a vector.
        const int8 joint = convert_int8((joint_words >> (8 * k)) & 0xFFu);
        const float8 weight = convert_float8((weight_words >> (8 * k)) & 0xFFu);
        vstore8(min(joint, (int8)(bone_count - 1)) * 16, 0, joints + BLOCK * k + v);
        vstore8(weight * 0x1.010102p-8f, 0, weights + BLOCK * k + v);
      }
    }
#pragma unroll 1
    for (int v = 0; v < block; v += LANES) {
      const int lanes = min(block - v, LANES);
      __global const float* from = vertices + (first + v) * 6;
      __global float* to = result + (first + v) * 6;
      float16 in[4];
      if (lanes == LANES) {
#pragma unroll
        for (int k = 0; k < 4; ++k) in[k] = vload16(0, from + 8 * k + 8 * (k / 2));
      } else {
        float last[6 * LANES];
        for (int k = 0; k < 6 * LANES; ++k) last[k] = from[min(k, 6 * lanes - 1)];
        for (int k = 0; k < 4; ++k) in[k] = vload16(0, last + 8 * k + 8 * (k / 2));
      }
      float16 p[2], n[2];
      vertex_transform_four(matrices, joints + v, weights + v, in[0], in[1], &p[0], &n[0]);
      vertex_transform_four(matrices, joints + v + 4, weights + v + 4, in[2], in[3], &p[1], &n[1]);
      const float16 out[3] = {
          (float16)(THREE(p[0], s0, s1, s2), THREE(n[0], s0, s1, s2), THREE(p[0], s4, s5, s6),
                    THREE(n[0], s4, s5, s6), THREE(p[0], s8, s9, sa), n[0].s8),
          (float16)(n[0].s9, n[0].sa, THREE(p[0], sc, sd, se), THREE(n[0], sc, sd, se),
                    THREE(p[1], s0, s1, s2), THREE(n[1], s0, s1, s2), p[1].s4, p[1].s5),
          (float16)(p[1].s6, THREE(n[1], s4, s5, s6), THREE(p[1], s8, s9, sa),
                    THREE(n[1], s8, s9, sa), THREE(p[1], sc, sd, se), THREE(n[1], sc, sd, se))};
      if (lanes < LANES) {
        float last[6 * LANES];
        for (int k = 0; k < 3; ++k) vstore16(out[k], k, last);
        for (int k = 0; k < 6 * lanes; ++k) to[k] = last[k];
      } else if (aligned) {
#pragma unroll
        for (int k = 0; k < 3; ++k) CLCOOK_STREAM(out[k], (__global float16*)to + k);
      } else {
#pragma unroll
        for (int k = 0; k < 3; ++k) vstore16(out[k], k, to);
      }
    }
  }
}
#endif
