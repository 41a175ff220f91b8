// The tangent patches of the patches of ../folded_switch.cl, after Loop and Schaefer 2008: the
// kernel `tangents`, which follows any variant, and the variant fused_tangents, one kernel for both.
//
// Where a valence is not 4, the derivatives of neighbouring Bezier patches do not agree at their
// border, and light breaks there. Two more patches per patch have normals that do agree: U, in place
// of the derivative along the rows, with 4 rows of 3 vectors, and V, along the columns, with 3 rows of
// 4. With all valences 4 they are the derivatives.
//
// From corner k to the next one, counter-clockwise, c = cos(2 pi / n), ' for that next corner:
//
//   along the edge   T0(k)   3 (P' - N)                                   -T1(k')
//   into the patch   T1(k)   3 (I - N) + (2 c (3 (P' - N)) - c' T0) / 3
//                            3 (I' - P') + (-c T1' - 2 c' (3 (P' - N))) / 3   T0(k')
//   one row further          3 (I' - I)
//
// C, N, P and I are the control points at corner k: its own, those to the next and to the previous
// corner, the inner one. T0 and T1 are the tangents of the surface towards these corners,
//
//   T_m = sum over j of s_j cos(pi (j - 2 m) / n) r_j,   s_j = 1 / n + cos(pi / n) / S for even j and
//   1 / S for odd j,   S = n sqrt(4 + cos(pi / n)^2),
//
// over the ring of the corner, counter-clockwise from the next corner: r_0, r_2, ... are neighbours
// along edges, r_1, r_3, ... across faces. So a corner makes six of the 24 vectors, without a case.
//
// Arguments as in ../folded_switch.cl. The result has 16 control points for each of the patches, and
// behind these 24 vectors for each: U, then V, row by row.

#ifndef CLCOOK_FOLDED_SWITCH_ONLY
#define CLCOOK_FOLDED_SWITCH_TANGENTS
#define CLCOOK_FOLDED_SWITCH_FUSED_TANGENTS
#endif

// cos(pi j / n) for n = 3 to 8 and j = 0 to 2 n - 1.
__constant float folded_switch_cos[6][16] = {
    {1.0f, 0.5f, -0.5f, -1.0f, -0.5f, 0.5f},
    {1.0f, 0.707106781f, 0.0f, -0.707106781f, -1.0f, -0.707106781f, 0.0f, 0.707106781f},
    {1.0f, 0.809016994f, 0.309016994f, -0.309016994f, -0.809016994f, -1.0f, -0.809016994f,
     -0.309016994f, 0.309016994f, 0.809016994f},
    {1.0f, 0.866025404f, 0.5f, 0.0f, -0.5f, -0.866025404f, -1.0f, -0.866025404f, -0.5f, 0.0f, 0.5f,
     0.866025404f},
    {1.0f, 0.900968868f, 0.623489802f, 0.222520934f, -0.222520934f, -0.623489802f, -0.900968868f,
     -1.0f, -0.900968868f, -0.623489802f, -0.222520934f, 0.222520934f, 0.623489802f, 0.900968868f},
    {1.0f, 0.923879533f, 0.707106781f, 0.382683432f, 0.0f, -0.382683432f, -0.707106781f,
     -0.923879533f, -1.0f, -0.923879533f, -0.707106781f, -0.382683432f, 0.0f, 0.382683432f,
     0.707106781f, 0.923879533f},
};

// A corner of a patch, with what it takes to find its ring. `before` and `behind`: of the ring points
// that belong to the corner, see ../folded_switch.cl.
typedef struct {
  __global const float4* vertices;
  __global const uint* indices;
  int k;
  int n;  // its valence
  int before;
  int behind;
  int total;
} folded_switch_corner;

static inline int folded_switch_valence(uint valences, int k) {
  return (int)(valences >> (8 * k) & 255u);
}

static inline folded_switch_corner folded_switch_corner_of(__global const float4* vertices,
                                                           __global const uint* indices, uint2 head,
                                                           int k) {
  const uint sums = head.y * 0x01010101u;
  folded_switch_corner corner;
  corner.vertices = vertices;
  corner.indices = indices + head.x;
  corner.k = k;
  corner.n = folded_switch_valence(head.y, k);
  corner.behind = 4 + 2 * folded_switch_valence(sums, k) - 5 * (k + 1);
  corner.before = corner.behind - (2 * corner.n - 5);
  corner.total = 4 + 2 * folded_switch_valence(sums, 3) - 20;
  return corner;
}

// r_j, for j = 0 to 2 n - 1.
static inline float4 folded_switch_ring(folded_switch_corner corner, int j) {
  int i = corner.before + j - 4;
  i = i < 4 ? i + corner.total - 4 : i;
  i = i >= corner.total ? i - corner.total + 4 : i;
  return corner.vertices[corner.indices[j < 3 ? (corner.k + 1 + j) & 3 : i]];
}

typedef struct {
  float4 t0, t1;
} folded_switch_pair;

static inline folded_switch_pair folded_switch_corner_tangents(folded_switch_corner corner) {
  __constant const float* cosine = folded_switch_cos[corner.n - 3];
  const float4 zero = (float4)(0.0f);
  float4 e0 = zero, e1 = zero, d0 = zero, d1 = zero;
  int back = 2 * corner.n - 2;  // j - 2, modulo 2 n
  for (int j = 0; j < 2 * corner.n; j += 2) {
    const float4 edge = folded_switch_ring(corner, j);
    const float4 diagonal = folded_switch_ring(corner, j + 1);
    e0 = fma((float4)(cosine[j]), edge, e0);
    e1 = fma((float4)(cosine[back]), edge, e1);
    d0 = fma((float4)(cosine[j + 1]), diagonal, d0);
    d1 = fma((float4)(cosine[back + 1]), diagonal, d1);
    back = j;
  }
  const float n = (float)corner.n;
  const float s = 1.0f / (n * sqrt(fma(cosine[1], cosine[1], 4.0f)));
  const float s_edge = fma(cosine[1], s, 1.0f / n);
  folded_switch_pair tangents;
  tangents.t0 = fma((float4)(s), d0, s_edge * e0);
  tangents.t1 = fma((float4)(s), d1, s_edge * e1);
  return tangents;
}

// What a corner makes its six vectors from; `next_` is of the next corner.
typedef struct {
  float4 to_next, interior, t0, t1;
  float4 next_to_previous, next_interior, next_t1;
  float c, next_c;
} folded_switch_side;

// The six vectors of a corner, see above: three along its edge, three into the patch.
typedef struct {
  float4 t0, middle, further;
  float4 t1, into, next_into;
} folded_switch_six;

// Every second pair of edges runs against u or v.
static inline folded_switch_six folded_switch_tangents_of(folded_switch_side side, int k) {
  const float along = k < 2 ? 1.0f : -1.0f;
  const float across = (k + 1 & 2) == 0 ? 1.0f : -1.0f;
  const float4 middle = 3.0f * (side.next_to_previous - side.to_next);
  const float4 first = fma((float4)(2.0f * side.c), middle, -side.next_c * side.t0);
  const float4 second = fma((float4)(2.0f * side.next_c), middle, side.c * side.next_t1);
  folded_switch_six six;
  six.t0 = along * side.t0;
  six.middle = along * middle;
  six.further = along * 3.0f * (side.next_interior - side.interior);
  six.t1 = across * side.t1;
  six.into = across * fma((float4)(1.0f / 3.0f), first, 3.0f * (side.interior - side.to_next));
  six.next_into = across * fma((float4)(-1.0f / 3.0f), second,
                               3.0f * (side.next_interior - side.next_to_previous));
  return six;
}

// The six of corner k to where they belong in the 24: OUT(i) is vector i, in any memory.
#define FOLDED_SWITCH_PLACE(six, k, OUT)                    \
  do {                                                      \
    OUT(0x140B0F00u >> (8 * (k)) & 255u) = (six).t0;        \
    OUT(0x100A1301u >> (8 * (k)) & 255u) = (six).middle;    \
    OUT(0x11071204u >> (8 * (k)) & 255u) = (six).further;   \
    OUT(0x0917020Cu >> (8 * (k)) & 255u) = (six).t1;        \
    OUT(0x0616050Du >> (8 * (k)) & 255u) = (six).into;      \
    OUT(0x0315080Eu >> (8 * (k)) & 255u) = (six).next_into; \
  } while (0)

// Where the control points at a corner lie, as in ../folded_switch.cl.
#define FOLDED_SWITCH_CORNER_AT(k) (0xCF30u >> (4 * (k)) & 15)
#define FOLDED_SWITCH_NEXT_AT(k) (0x8E71u >> (4 * (k)) & 15)
#define FOLDED_SWITCH_PREVIOUS_AT(k) (0xDB24u >> (4 * (k)) & 15)
#define FOLDED_SWITCH_INTERIOR_AT(k) (0x9A65u >> (4 * (k)) & 15)

// ------------------------------------------------------------------------------------------------
// tangents: after a kernel of ../folded_switch.cl, from the control points that it has written. A
// work-item makes the vectors of `each` corners, one on GPUs. It gathers the ring of the next corner
// too, for T1'. Patches with valences 4 need no ring: there tangents are differences.
#ifdef CLCOOK_FOLDED_SWITCH_TANGENTS
__kernel void folded_switch_tangents(__global const float4* restrict vertices,
                                     ulong vertices_offset, __global const uint* restrict indices,
                                     __global const uint2* restrict heads, __global float4* result,
                                     ulong result_offset, ulong patches, ulong each) {
  result += result_offset;
  const ulong end = min((get_global_id(0) + 1) * each, 4 * patches);
  for (ulong i = get_global_id(0) * each; i < end; ++i) {
    const ulong index = i >> 2;
    const int k = (int)(i & 3);
    const int next = (k + 1) & 3;
    const uint2 head = heads[index];
    __global const float4* points = result + index * 16;
    folded_switch_side side;
    side.to_next = points[FOLDED_SWITCH_NEXT_AT(k)];
    side.interior = points[FOLDED_SWITCH_INTERIOR_AT(k)];
    side.next_to_previous = points[FOLDED_SWITCH_PREVIOUS_AT(next)];
    side.next_interior = points[FOLDED_SWITCH_INTERIOR_AT(next)];
    if (head.y == 0x04040404u) {
      const float4 corner = points[FOLDED_SWITCH_CORNER_AT(k)];
      side.t0 = 3.0f * (side.to_next - corner);
      side.t1 = 3.0f * (points[FOLDED_SWITCH_PREVIOUS_AT(k)] - corner);
      side.next_t1 = (float4)(0.0f);  // c is 0
      side.c = side.next_c = 0.0f;
    } else {
      const folded_switch_corner here =
          folded_switch_corner_of(vertices + vertices_offset, indices, head, k);
      const folded_switch_corner there =
          folded_switch_corner_of(vertices + vertices_offset, indices, head, next);
      const folded_switch_pair tangents = folded_switch_corner_tangents(here);
      side.t0 = tangents.t0;
      side.t1 = tangents.t1;
      side.next_t1 = folded_switch_corner_tangents(there).t1;
      side.c = folded_switch_cos[here.n - 3][2];
      side.next_c = folded_switch_cos[there.n - 3][2];
    }
    __global float4* out = result + 16 * patches + index * 24;
#define OUT(at) out[at]
    const folded_switch_six six = folded_switch_tangents_of(side, k);
    FOLDED_SWITCH_PLACE(six, k, OUT);
#undef OUT
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// fused_tangents: shared_gather with its lists, and the vectors in the same launch. Each point of the
// ring is loaded once for all ten results of a corner. Local memory: 24 float4 per patch. They hold in
// turn what the corners share, the 16 control points and four T1, and the 24 vectors.
#ifdef CLCOOK_FOLDED_SWITCH_FUSED_TANGENTS
#ifndef CLCOOK_FOLDED_SWITCH_GROUP
#define CLCOOK_FOLDED_SWITCH_GROUP 64
#endif
#define GROUP CLCOOK_FOLDED_SWITCH_GROUP
#define CELLS 24

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void folded_switch_fused_tangents(
    __global const float4* restrict vertices, ulong vertices_offset,
    __global const uint4* restrict corners, __global const uint2* restrict heads,
    __global const uint* restrict more, __global float4* restrict result, ulong result_offset,
    ulong patches, __local float4* tile) {
  const int item = (int)get_local_id(0);
  const ulong index = get_global_id(0) >> 2;
  const ulong first_index = get_group_id(0) * (GROUP / 4);
  const int k = item & 3;
  const int next = (k + 1) & 3;
  const int previous = (k + 3) & 3;
  // In every second patch what the corners share lies four apart, results two: no bank conflicts.
  const int odd = item >> 2 & 1;
  __local float4* cells = tile + (item >> 2) * CELLS;
#define SHARED(at) cells[(at) ^ odd << 2]
#define RESULT(at) cells[(at) ^ odd << 1]
  vertices += vertices_offset;
  result += result_offset;
  folded_switch_side side;
  float4 own, first, last, sum;
  int n = 4;
  int next_n = 4;
  float s = 0.0f;
  float s_edge = 0.0f;
  __constant const float* cosine = folded_switch_cos[1];
  if (index < patches) {
    const uint4 at = corners[get_global_id(0)];
    const uint2 head = heads[index];
    own = vertices[at.x];
    first = vertices[at.y];
    const float4 second = vertices[at.z];
    last = vertices[at.w];
    n = (int)(head.y >> (4 * k) & 15);
    next_n = (int)(head.y >> (4 * next) & 15);
    cosine = folded_switch_cos[n - 3];
    s = 1.0f / ((float)n * sqrt(fma(cosine[1], cosine[1], 4.0f)));
    s_edge = fma(cosine[1], s, 1.0f / (float)n);
    // r_4, r_5, r_(2n-2), and then those between.
    sum = 4.0f * first;
    side.t0 = s_edge * cosine[4] * first;
    side.t1 = s_edge * cosine[2] * first;
    if (n > 3) {
      sum = fma((float4)(4.0f), last, sum + second);
      side.t0 += s * cosine[5] * second + s_edge * cosine[2 * n - 2] * last;
      side.t1 += s * cosine[3] * second + s_edge * cosine[2 * n - 4] * last;
    }
    __global const uint2* pairs = (__global const uint2*)(more + head.x);
    pairs += head.y >> (16 + 4 * k) & 15;
    for (int j = 6; j < 2 * n - 2; j += 2, ++pairs) {
      const uint2 pair = *pairs;
      const float4 edge = vertices[pair.x];
      const float4 face = vertices[pair.y];
      sum = fma((float4)(4.0f), edge, sum + face);
      side.t0 += s_edge * cosine[j] * edge + s * cosine[j + 1] * face;
      side.t1 += s_edge * cosine[j - 2] * edge + s * cosine[j - 1] * face;
    }
    SHARED(k) = own;
    SHARED(4 + k) = first;
    SHARED(8 + k) = last;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  float4 corner, to_previous;
  if (index < patches) {
    const float4 r0 = SHARED(next);
    const float4 r1 = SHARED(k ^ 2);
    const float4 r2 = SHARED(previous);
    const float4 r3 = SHARED(8 + previous);
    const float4 r_end = SHARED(4 + next);  // r_(2n-1)
    const float valence = (float)n;
    const float scale = 1.0f / (valence * (valence + 5.0f));
    const float4 sides = r0 + r2;
    const float4 inside = fma((float4)(valence), own, r1);
    const float4 outside = fma((float4)(valence), own, inside);
    corner = fma((float4)(valence * valence), own, r1) + (sum + r3 + r_end);
    corner = fma((float4)(4.0f), sides, corner) * scale;
    side.interior = fma((float4)(2.0f), sides, inside) * (valence * scale);
    side.to_next = fma((float4)(4.0f), r0, fma((float4)(2.0f), r2 + last, outside));
    side.to_next = (side.to_next + r_end) * (0.5f * valence * scale);
    to_previous = fma((float4)(4.0f), r2, fma((float4)(2.0f), r0 + first, outside));
    to_previous = (to_previous + r3) * (0.5f * valence * scale);
    side.t0 += s_edge * (r0 + cosine[2] * r2) + s * (cosine[1] * (r1 + r_end) + cosine[3] * r3);
    side.t1 += s_edge * (cosine[2] * r0 + r2) + s * (cosine[1] * (r1 + r3) + cosine[3] * r_end);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (index < patches) {
    RESULT(FOLDED_SWITCH_CORNER_AT(k)) = corner;
    RESULT(FOLDED_SWITCH_NEXT_AT(k)) = side.to_next;
    RESULT(FOLDED_SWITCH_PREVIOUS_AT(k)) = to_previous;
    RESULT(FOLDED_SWITCH_INTERIOR_AT(k)) = side.interior;
    RESULT(16 + k) = side.t1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  // Neighbouring work-items store neighbouring results, whole patches one after the other.
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int to = i * GROUP + item;
    const int patch = to >> 4;
    if (first_index + (ulong)patch < patches) {
      result[first_index * 16 + (ulong)to] = tile[patch * CELLS + ((to & 15) ^ (patch & 1) << 1)];
    }
  }
  if (index < patches) {
    side.next_to_previous = RESULT(FOLDED_SWITCH_PREVIOUS_AT(next));
    side.next_interior = RESULT(FOLDED_SWITCH_INTERIOR_AT(next));
    side.next_t1 = RESULT(16 + next);
    side.c = cosine[2];
    side.next_c = folded_switch_cos[next_n - 3][2];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (index < patches) {
    const folded_switch_six six = folded_switch_tangents_of(side, k);
    FOLDED_SWITCH_PLACE(six, k, RESULT);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  result += 16 * patches;
#pragma unroll
  for (int i = 0; i < 6; ++i) {
    const int to = i * GROUP + item;
    const int patch = to / CELLS;
    if (first_index + (ulong)patch < patches)
      result[first_index * CELLS + (ulong)to] = tile[to ^ (patch & 1) << 1];
  }
#undef SHARED
#undef RESULT
}
#endif
