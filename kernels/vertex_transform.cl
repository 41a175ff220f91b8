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
#define CLCOOK_VERTEX_TRANSFORM_AFFINE
#define CLCOOK_VERTEX_TRANSFORM_NO_W
#define CLCOOK_VERTEX_TRANSFORM_ROLLED
#define CLCOOK_VERTEX_TRANSFORM_EARLY
#define CLCOOK_VERTEX_TRANSFORM_HALF3
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
// half3: as rolled, vertices as six halfs.
#ifdef CLCOOK_VERTEX_TRANSFORM_HALF3
__kernel VERTEX_TRANSFORM_GROUP void vertex_transform_half3(VERTEX_TRANSFORM_ARGUMENTS(half,
                                                                                       __global,
                                                                                       float)) {
  VERTEX_TRANSFORM_NO_W_BODY(vload_half3, vertex_transform_skin3_rolled);
}
#endif
