// Catmull-Clark patches to bicubic Bezier patches: every variant of the recipe folded_switch.
// folded_switch/tangents.cl adds the tangent patches.
//
// A patch is a quad of a mesh with the ring of vertices around it. Its points: 0 to 3 the quad, in
// counter-clockwise order, then the ring, counter-clockwise, from the neighbour of vertex 0 beyond
// the edge 0-3. Corner k has valence n_k; 2 n_k - 5 ring points belong to it, and
// Pref_k = 4 + sum of (2 n_i - 5) for i <= k is the index behind them. All valences 4 give this
// grid:
//
//   14 13 12 11        The 16 control points of the result       12 13 14 15
//   15  3  2 10        lie row by row; those at the corners       8  9 10 11
//    4  0  1  9        0, 3, 15 and 12 belong to the vertices      4  5  6  7
//    5  6  7  8        0, 1, 2 and 3.                              0  1  2  3
//
// Three functions make them (n = valence of the corner, all weights positive, their sum 1):
//   corner   (n^2 v_k + 4 sum of edge neighbours + sum of diagonals) / (n (n + 5))
//   edge     (2 n v_a + 4 v_b + v_c + 2 v_d + 2 p + q) / (2 n + 10), p and q beyond the edge a-b
//   interior (n v_k + 2 v_(k+1) + v_(k+2) + 2 v_(k+3)) / (n + 5)
//
// Common arguments: vertices (float4, all four components are treated alike) and their offset,
// indices of the points of all patches, one after the other, heads (per patch: where its indices
// begin, and its four valences, one byte each; not where all valences are 4), the result and its
// offset, the number of patches. Offsets are in points. weight_matrix and shared_gather have the
// indices in another order.
//
// The host compiles one variant per program: -DCLCOOK_FOLDED_SWITCH_ONLY
// -DCLCOOK_FOLDED_SWITCH_<VARIANT>, and for shared_gather -DCLCOOK_FOLDED_SWITCH_GROUP work-items per
// work-group. The global size is padded to whole work-groups.

#ifndef CLCOOK_FOLDED_SWITCH_ONLY
#define CLCOOK_FOLDED_SWITCH_SWITCH16
#define CLCOOK_FOLDED_SWITCH_SWITCH4444
#define CLCOOK_FOLDED_SWITCH_FOLDED3
#define CLCOOK_FOLDED_SWITCH_FOLDED4444
#define CLCOOK_FOLDED_SWITCH_INDEX_TABLES
#define CLCOOK_FOLDED_SWITCH_WEIGHT_MATRIX
#define CLCOOK_FOLDED_SWITCH_PER_CORNER
#define CLCOOK_FOLDED_SWITCH_SHARED_GATHER
#define CLCOOK_FOLDED_SWITCH_CPU_PATCH
#endif
#ifndef CLCOOK_FOLDED_SWITCH_GROUP
#define CLCOOK_FOLDED_SWITCH_GROUP 64
#endif

// A patch as the functions take it. sums: byte k is the sum of the valences 0 to k.
typedef struct {
  __global const float4* vertices;
  __global const uint* indices;
  uint valences;
  uint sums;
} folded_switch_patch;

static inline folded_switch_patch folded_switch_open(__global const float4* vertices,
                                                     __global const uint* indices, uint2 head) {
  folded_switch_patch patch;
  patch.vertices = vertices;
  patch.indices = indices + head.x;
  patch.valences = head.y;
  patch.sums = head.y * 0x01010101u;
  return patch;
}

static inline float4 folded_switch_point(folded_switch_patch patch, int i) {
  return patch.vertices[patch.indices[i]];
}

static inline int folded_switch_valence(uint valences, int k) {
  return (int)(valences >> (8 * k) & 255u);
}

// Pref_k of the comment above, for k = -1 to 3.
static inline int folded_switch_prefix(uint sums, int k) {
  return k < 0 ? 4 : 4 + 2 * (int)(sums >> (8 * k) & 255u) - 5 * (k + 1);
}

// The ring is closed: before its first point comes its last one.
static inline int folded_switch_wrap(int i, int points) {
  return i < 4 ? i + points - 4 : (i >= points ? i - points + 4 : i);
}

// ------------------------------------------------------------------------------------------------
// The three functions as the article and its source have them: each edge and each vertex is a case
// of its own.
#if defined(CLCOOK_FOLDED_SWITCH_SWITCH16) || defined(CLCOOK_FOLDED_SWITCH_SWITCH4444) || \
    defined(CLCOOK_FOLDED_SWITCH_FOLDED3) || defined(CLCOOK_FOLDED_SWITCH_FOLDED4444)

static inline float4 folded_switch_interior_of(folded_switch_patch patch, int v0, int v1, int v2,
                                               int v3) {
  const float n = (float)folded_switch_valence(patch.valences, v0);
  float4 sum = n * folded_switch_point(patch, v0);
  sum = fma((float4)(2.0f), folded_switch_point(patch, v1), sum);
  sum += folded_switch_point(patch, v2);
  sum = fma((float4)(2.0f), folded_switch_point(patch, v3), sum);
  return sum * (1.0f / (n + 5.0f));
}

static inline float4 folded_switch_interior(folded_switch_patch patch, int k) {
  switch (k) {
    case 0:
      return folded_switch_interior_of(patch, 0, 1, 2, 3);
    case 1:
      return folded_switch_interior_of(patch, 1, 2, 3, 0);
    case 2:
      return folded_switch_interior_of(patch, 2, 3, 0, 1);
    default:
      return folded_switch_interior_of(patch, 3, 0, 1, 2);
  }
}

static inline float4 folded_switch_corner(folded_switch_patch patch, int k) {
  const int count = folded_switch_valence(patch.valences, k);
  const int points = folded_switch_prefix(patch.sums, 3);
  const int first = folded_switch_prefix(patch.sums, k - 1);
  const float n = (float)count;
  float4 edges = folded_switch_point(patch, (k + 1) & 3) + folded_switch_point(patch, (k + 3) & 3);
  float4 diagonals = folded_switch_point(patch, (k + 2) & 3) +
                     folded_switch_point(patch, folded_switch_wrap(first - 1, points));
  for (int j = 0; j < count - 2; ++j) {
    edges += folded_switch_point(patch, first + 2 * j);
    diagonals += folded_switch_point(patch, folded_switch_wrap(first + 2 * j + 1, points));
  }
  float4 sum = fma((float4)(n * n), folded_switch_point(patch, k), diagonals);
  sum = fma((float4)(4.0f), edges, sum);
  return sum * (1.0f / (n * (n + 5.0f)));
}

static inline float4 folded_switch_edge_of(folded_switch_patch patch, int a, int b, int c, int d,
                                           int p, int q) {
  const float n = (float)folded_switch_valence(patch.valences, a);
  float4 sum = (2.0f * n) * folded_switch_point(patch, a);
  sum = fma((float4)(4.0f), folded_switch_point(patch, b), sum);
  sum += folded_switch_point(patch, c);
  sum = fma((float4)(2.0f), folded_switch_point(patch, d), sum);
  sum = fma((float4)(2.0f), folded_switch_point(patch, p), sum);
  sum += folded_switch_point(patch, q);
  return sum * (1.0f / (2.0f * n + 10.0f));
}

static inline float4 folded_switch_edge(folded_switch_patch patch, int j) {
  const int end0 = folded_switch_prefix(patch.sums, 0);
  const int end1 = folded_switch_prefix(patch.sums, 1);
  const int end2 = folded_switch_prefix(patch.sums, 2);
  const int end3 = folded_switch_prefix(patch.sums, 3);
  switch (j) {
    case 0:
      return folded_switch_edge_of(patch, 0, 1, 2, 3, end0 - 1, end0);
    case 1:
      return folded_switch_edge_of(patch, 1, 0, 3, 2, end0, end0 - 1);
    case 2:
      return folded_switch_edge_of(patch, 3, 2, 1, 0, end2, end2 - 1);
    case 3:
      return folded_switch_edge_of(patch, 2, 3, 0, 1, end2 - 1, end2);
    case 4:
      return folded_switch_edge_of(patch, 0, 3, 2, 1, 4, end3 - 1);
    case 5:
      return folded_switch_edge_of(patch, 3, 0, 1, 2, end3 - 1, 4);
    case 6:
      return folded_switch_edge_of(patch, 1, 2, 3, 0, end1 - 1, end1);
    default:
      return folded_switch_edge_of(patch, 2, 1, 0, 3, end1, end1 - 1);
  }
}
#endif

// The head of a patch whose valences are all 4, and whose 16 indices are where they are.
#define FOLDED_SWITCH_4444 (uint2)(0, 0x04040404u)

// One work-item per control point. 2^run neighbouring work-items make the same control point of
// as many patches: run 0 is the natural order, in which 16 neighbours have 16 cases.
#define FOLDED_SWITCH_ITEM(patch_index, cp)                                           \
  const ulong item = get_global_id(0);                                                \
  const ulong patch_index = (item >> (4 + run) << run) + (item & ((1ul << run) - 1)); \
  const int cp = (int)(item >> run & 15)

// ------------------------------------------------------------------------------------------------
// switch16: one arm per control point. switch4444 is the article's: the same where all valences are
// 4. They are constants of the code, and with them the points that each arm takes.
#if defined(CLCOOK_FOLDED_SWITCH_SWITCH16) || defined(CLCOOK_FOLDED_SWITCH_SWITCH4444)
static inline float4 folded_switch_by_arms(folded_switch_patch patch, int cp) {
  float4 result;
  switch (cp) {
    case 0:
      result = folded_switch_corner(patch, 0);
      break;
    case 1:
      result = folded_switch_edge(patch, 0);
      break;
    case 2:
      result = folded_switch_edge(patch, 1);
      break;
    case 3:
      result = folded_switch_corner(patch, 1);
      break;
    case 4:
      result = folded_switch_edge(patch, 4);
      break;
    case 5:
      result = folded_switch_interior(patch, 0);
      break;
    case 6:
      result = folded_switch_interior(patch, 1);
      break;
    case 7:
      result = folded_switch_edge(patch, 6);
      break;
    case 8:
      result = folded_switch_edge(patch, 5);
      break;
    case 9:
      result = folded_switch_interior(patch, 3);
      break;
    case 10:
      result = folded_switch_interior(patch, 2);
      break;
    case 11:
      result = folded_switch_edge(patch, 7);
      break;
    case 12:
      result = folded_switch_corner(patch, 3);
      break;
    case 13:
      result = folded_switch_edge(patch, 2);
      break;
    case 14:
      result = folded_switch_edge(patch, 3);
      break;
    default:
      result = folded_switch_corner(patch, 2);
      break;
  }
  return result;
}
#endif

#ifdef CLCOOK_FOLDED_SWITCH_SWITCH16
__kernel void folded_switch_switch16(__global const float4* restrict vertices,
                                     ulong vertices_offset, __global const uint* restrict indices,
                                     __global const uint2* restrict heads,
                                     __global float4* restrict bezier, ulong bezier_offset,
                                     ulong patches, int run) {
  FOLDED_SWITCH_ITEM(index, cp);
  if (index >= patches) return;
  const folded_switch_patch patch =
      folded_switch_open(vertices + vertices_offset, indices, heads[index]);
  const float4 result = folded_switch_by_arms(patch, cp);
  bezier[bezier_offset + index * 16 + (ulong)cp] = result;
}
#endif

#ifdef CLCOOK_FOLDED_SWITCH_SWITCH4444
__kernel void folded_switch_switch4444(__global const float4* restrict vertices,
                                       ulong vertices_offset, __global const uint* restrict indices,
                                       __global float4* restrict bezier, ulong bezier_offset,
                                       ulong patches, int run) {
  FOLDED_SWITCH_ITEM(index, cp);
  if (index >= patches) return;
  const folded_switch_patch patch =
      folded_switch_open(vertices + vertices_offset, indices + index * 16, FOLDED_SWITCH_4444);
  const float4 result = folded_switch_by_arms(patch, cp);
  bezier[bezier_offset + index * 16 + (ulong)cp] = result;
}
#endif

// ------------------------------------------------------------------------------------------------
// folded3: the article's. The switch chooses a function and its argument; then there are three
// calls instead of sixteen. Two of the functions still switch over their argument. folded4444: the
// same for valences of 4, which is what the article measures.
#if defined(CLCOOK_FOLDED_SWITCH_FOLDED3) || defined(CLCOOK_FOLDED_SWITCH_FOLDED4444)
static inline float4 folded_switch_by_functions(folded_switch_patch patch, int cp) {
  enum { kInterior, kCorner, kEdge };
  int function = kCorner;
  int argument = 2;
#define FOLDED_CASE(number, f, a) \
  case number:                    \
    function = f;                 \
    argument = a;                 \
    break
  switch (cp) {
    FOLDED_CASE(0, kCorner, 0);
    FOLDED_CASE(1, kEdge, 0);
    FOLDED_CASE(2, kEdge, 1);
    FOLDED_CASE(3, kCorner, 1);
    FOLDED_CASE(4, kEdge, 4);
    FOLDED_CASE(5, kInterior, 0);
    FOLDED_CASE(6, kInterior, 1);
    FOLDED_CASE(7, kEdge, 6);
    FOLDED_CASE(8, kEdge, 5);
    FOLDED_CASE(9, kInterior, 3);
    FOLDED_CASE(10, kInterior, 2);
    FOLDED_CASE(11, kEdge, 7);
    FOLDED_CASE(12, kCorner, 3);
    FOLDED_CASE(13, kEdge, 2);
    FOLDED_CASE(14, kEdge, 3);
    default:
      break;
  }
#undef FOLDED_CASE
  float4 result;
  if (function == kInterior) {
    result = folded_switch_interior(patch, argument);
  } else if (function == kCorner) {
    result = folded_switch_corner(patch, argument);
  } else {
    result = folded_switch_edge(patch, argument);
  }
  return result;
}
#endif

#ifdef CLCOOK_FOLDED_SWITCH_FOLDED3
__kernel void folded_switch_folded3(__global const float4* restrict vertices, ulong vertices_offset,
                                    __global const uint* restrict indices,
                                    __global const uint2* restrict heads,
                                    __global float4* restrict bezier, ulong bezier_offset,
                                    ulong patches, int run) {
  FOLDED_SWITCH_ITEM(index, cp);
  if (index >= patches) return;
  const folded_switch_patch patch =
      folded_switch_open(vertices + vertices_offset, indices, heads[index]);
  const float4 result = folded_switch_by_functions(patch, cp);
  bezier[bezier_offset + index * 16 + (ulong)cp] = result;
}
#endif

#ifdef CLCOOK_FOLDED_SWITCH_FOLDED4444
__kernel void folded_switch_folded4444(__global const float4* restrict vertices,
                                       ulong vertices_offset, __global const uint* restrict indices,
                                       __global float4* restrict bezier, ulong bezier_offset,
                                       ulong patches, int run) {
  FOLDED_SWITCH_ITEM(index, cp);
  if (index >= patches) return;
  const folded_switch_patch patch =
      folded_switch_open(vertices + vertices_offset, indices + index * 16, FOLDED_SWITCH_4444);
  const float4 result = folded_switch_by_functions(patch, cp);
  bezier[bezier_offset + index * 16 + (ulong)cp] = result;
}
#endif

// ------------------------------------------------------------------------------------------------
// index_tables: the three functions are one formula,
//
//   f n v_k + next v_(k+1) + v_(k+2) + previous v_(k+3)
//     + w0 r_0 + w1 r_1 + w0 r_2 + w1 r_3 + ...,   divided by f (n + 5),
//
// over a stretch r of the ring, with f = n, 2, 1 for corner, edge, interior. What differs is data.
#ifdef CLCOOK_FOLDED_SWITCH_INDEX_TABLES
// Bits: owner k 0-1, next 2-4, previous 5-7, w0 8-9, w1 10-12, f 13-14 (0 stands for n), whether
// the stretch lies at the end of the corner's ring points instead of before them 15, its length
// 16-17 (3 stands for 2 n - 3).
#define ENTRY(owner, next, previous, w0, w1, f, at_end, length)                                    \
  ((owner) | (next) << 2 | (previous) << 5 | (w0) << 8 | (w1) << 10 | (f) << 13 | (at_end) << 15 | \
   (length) << 16)
#define CORNER(k) ENTRY(k, 4, 4, 1, 4, 0, 0, 3)
#define TO_NEXT(k) ENTRY(k, 4, 2, 2, 1, 2, 1, 2)
#define TO_PREVIOUS(k) ENTRY(k, 2, 4, 1, 2, 2, 0, 2)
#define INTERIOR(k) ENTRY(k, 2, 2, 0, 0, 1, 0, 0)
__constant int folded_switch_table[16] = {
    CORNER(0),      TO_NEXT(0),     TO_PREVIOUS(1), CORNER(1),   //
    TO_PREVIOUS(0), INTERIOR(0),    INTERIOR(1),    TO_NEXT(1),  //
    TO_NEXT(3),     INTERIOR(3),    INTERIOR(2),    TO_PREVIOUS(2),
    CORNER(3),      TO_PREVIOUS(3), TO_NEXT(2),     CORNER(2),
};

__kernel void folded_switch_index_tables(__global const float4* restrict vertices,
                                         ulong vertices_offset,
                                         __global const uint* restrict indices,
                                         __global const uint2* restrict heads,
                                         __global float4* restrict bezier, ulong bezier_offset,
                                         ulong patches, int run) {
  FOLDED_SWITCH_ITEM(index, cp);
  if (index >= patches) return;
  const folded_switch_patch patch =
      folded_switch_open(vertices + vertices_offset, indices, heads[index]);
  const int entry = folded_switch_table[cp];
  const int k = entry & 3;
  const int valence = folded_switch_valence(patch.valences, k);
  const int points = folded_switch_prefix(patch.sums, 3);
  const int f_or_0 = entry >> 13 & 3;
  const int f = f_or_0 == 0 ? valence : f_or_0;
  const int first = folded_switch_prefix(patch.sums, (entry >> 15 & 1) ? k : k - 1) - 1;
  const int length_or_3 = entry >> 16 & 3;
  const int length = length_or_3 == 3 ? 2 * valence - 3 : length_or_3;
  const float w0 = (float)(entry >> 8 & 3);
  const float w1 = (float)(entry >> 10 & 7);

  float4 sum = fma((float4)((float)(f * valence)), folded_switch_point(patch, k),
                   folded_switch_point(patch, (k + 2) & 3));
  sum = fma((float4)((float)(entry >> 2 & 7)), folded_switch_point(patch, (k + 1) & 3), sum);
  sum = fma((float4)((float)(entry >> 5 & 7)), folded_switch_point(patch, (k + 3) & 3), sum);
  for (int j = 0; j < length; ++j) {
    sum = fma((float4)((j & 1) ? w1 : w0),
              folded_switch_point(patch, folded_switch_wrap(first + j, points)), sum);
  }
  bezier[bezier_offset + index * 16 + (ulong)cp] = sum * (1.0f / (float)(f * (valence + 5)));
}
#undef ENTRY
#undef CORNER
#undef TO_NEXT
#undef TO_PREVIOUS
#undef INTERIOR
#endif

// ------------------------------------------------------------------------------------------------
// One dimension of the change from B-spline to Bezier, times 6.
#if defined(CLCOOK_FOLDED_SWITCH_WEIGHT_MATRIX) || defined(CLCOOK_FOLDED_SWITCH_CPU_PATCH)
#define FOLDED_SWITCH_ROW0(a0, a1, a2) fma(4.0f, a1, (a0) + (a2))
#define FOLDED_SWITCH_ROW1(a1, a2) fma(4.0f, a1, 2.0f * (a2))
#define FOLDED_SWITCH_ROW2(a1, a2) fma(4.0f, a2, 2.0f * (a1))
#define FOLDED_SWITCH_ROW3(a1, a2, a3) fma(4.0f, a2, (a1) + (a3))
#endif

// ------------------------------------------------------------------------------------------------
// Seen from each of its corners a patch looks alike: the four control points next to corner k, all
// from the quad and the ring points around the corner.
#if defined(CLCOOK_FOLDED_SWITCH_PER_CORNER) || defined(CLCOOK_FOLDED_SWITCH_SHARED_GATHER) || \
    defined(CLCOOK_FOLDED_SWITCH_CPU_PATCH)
typedef struct {
  float4 corner;
  float4 to_next;
  float4 to_previous;
  float4 interior;
} folded_switch_four;

// Where they lie in the patch: 0 1 4 5, 3 7 2 6, 15 14 11 10 and 12 8 13 9 for the corners 0 to 3.
#define FOLDED_SWITCH_CORNER_AT(k) (0xCF30u >> (4 * (k)) & 15)
#define FOLDED_SWITCH_NEXT_AT(k) (0x8E71u >> (4 * (k)) & 15)
#define FOLDED_SWITCH_PREVIOUS_AT(k) (0xDB24u >> (4 * (k)) & 15)
#define FOLDED_SWITCH_INTERIOR_AT(k) (0x9A65u >> (4 * (k)) & 15)

static inline folded_switch_four folded_switch_at_corner(folded_switch_patch patch, int k) {
  const int total = folded_switch_prefix(patch.sums, 3);
  const int before = folded_switch_prefix(patch.sums, k - 1);
  const int behind = folded_switch_prefix(patch.sums, k);  // of the corner's own ring points
  const float n = (float)folded_switch_valence(patch.valences, k);
  const float4 own = folded_switch_point(patch, k);
  const float4 next = folded_switch_point(patch, (k + 1) & 3);
  const float4 previous = folded_switch_point(patch, (k + 3) & 3);
  const float4 opposite = folded_switch_point(patch, (k + 2) & 3);
  // The ring from the diagonal beyond the edge to `previous` to that beyond the edge to `next`.
  const float4 first_diagonal = folded_switch_point(patch, folded_switch_wrap(before - 1, total));
  const float4 first_edge = folded_switch_point(patch, before);
  const float4 last_diagonal = folded_switch_point(patch, folded_switch_wrap(behind, total));
  float4 last_edge = first_edge;
  float4 edges = next + previous + first_edge;
  float4 diagonals = opposite + first_diagonal + last_diagonal;
  for (int i = before + 1; i < behind; i += 2) {
    diagonals += folded_switch_point(patch, i);
    last_edge = folded_switch_point(patch, i + 1);
    edges += last_edge;
  }
  const float scale = 1.0f / (n * (n + 5.0f));
  const float4 inside = fma((float4)(n), own, opposite);
  const float4 outside = fma((float4)(2.0f * n), own, opposite);
  folded_switch_four four;
  four.corner = fma((float4)(4.0f), edges, fma((float4)(n * n), own, diagonals)) * scale;
  four.interior = fma((float4)(2.0f), next + previous, inside) * (n * scale);
  four.to_next = fma((float4)(4.0f), next, fma((float4)(2.0f), previous + last_edge, outside));
  four.to_next = (four.to_next + last_diagonal) * (0.5f * n * scale);
  four.to_previous = fma((float4)(4.0f), previous, fma((float4)(2.0f), next + first_edge, outside));
  four.to_previous = (four.to_previous + first_diagonal) * (0.5f * n * scale);
  return four;
}
#endif

// ------------------------------------------------------------------------------------------------
// Four work-items per patch, in two kernels. Local memory: 20 float4 per patch, 5 per row of the
// patch: no bank conflicts in the matrix. Both steps of both keep to the lanes of a patch; the last
// stores 64 contiguous bytes per row.
#define FOLDED_SWITCH_CELLS 20
#define FOLDED_SWITCH_CELL(at) ((at) + ((at) >> 2))

#ifdef CLCOOK_FOLDED_SWITCH_WEIGHT_MATRIX
// The rows of M P: at holds the indices of a row of the grid.
static inline void folded_switch_rows(__global const float4* vertices, uint4 at,
                                      __local float4* row) {
  const float4 a0 = vertices[at.x];
  const float4 a1 = vertices[at.y];
  const float4 a2 = vertices[at.z];
  const float4 a3 = vertices[at.w];
  row[0] = FOLDED_SWITCH_ROW0(a0, a1, a2);
  row[1] = FOLDED_SWITCH_ROW1(a1, a2);
  row[2] = FOLDED_SWITCH_ROW2(a1, a2);
  row[3] = FOLDED_SWITCH_ROW3(a1, a2, a3);
}

static inline void folded_switch_columns(const __local float4* column, __global float4* out) {
  const float4 a0 = column[0];
  const float4 a1 = column[5];
  const float4 a2 = column[10];
  const float4 a3 = column[15];
  out[0] = FOLDED_SWITCH_ROW0(a0, a1, a2) * (1.0f / 36.0f);
  out[4] = FOLDED_SWITCH_ROW1(a1, a2) * (1.0f / 36.0f);
  out[8] = FOLDED_SWITCH_ROW2(a1, a2) * (1.0f / 36.0f);
  out[12] = FOLDED_SWITCH_ROW3(a1, a2, a3) * (1.0f / 36.0f);
}
#endif

#ifdef CLCOOK_FOLDED_SWITCH_PER_CORNER
static inline void folded_switch_put(folded_switch_four four, int k, __local float4* cells) {
  cells[FOLDED_SWITCH_CELL(FOLDED_SWITCH_CORNER_AT(k))] = four.corner;
  cells[FOLDED_SWITCH_CELL(FOLDED_SWITCH_NEXT_AT(k))] = four.to_next;
  cells[FOLDED_SWITCH_CELL(FOLDED_SWITCH_PREVIOUS_AT(k))] = four.to_previous;
  cells[FOLDED_SWITCH_CELL(FOLDED_SWITCH_INTERIOR_AT(k))] = four.interior;
}

static inline void folded_switch_copy(const __local float4* column, __global float4* out) {
  out[0] = column[0];
  out[4] = column[5];
  out[8] = column[10];
  out[12] = column[15];
}
#endif

// ------------------------------------------------------------------------------------------------
// weight_matrix: regular patches alone, as M P M^T: a work-item transforms a row of the grid, and
// then a column. `grid` holds 16 indices per patch in the order of the grid, from the row y = 0.
#ifdef CLCOOK_FOLDED_SWITCH_WEIGHT_MATRIX
__kernel void folded_switch_weight_matrix(__global const float4* restrict vertices,
                                          ulong vertices_offset,
                                          __global const uint4* restrict grid,
                                          __global float4* restrict bezier, ulong bezier_offset,
                                          ulong patches, __local float4* tile) {
  const ulong index = get_global_id(0) >> 2;
  const int lane = (int)get_local_id(0) & 3;
  __local float4* cells = tile + ((int)get_local_id(0) >> 2) * FOLDED_SWITCH_CELLS;
  if (index < patches) {
    folded_switch_rows(vertices + vertices_offset, grid[get_global_id(0)], cells + 5 * lane);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (index < patches) {
    folded_switch_columns(cells + lane, bezier + bezier_offset + index * 16 + (ulong)lane);
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// per_corner: a work-item makes the four control points of a corner. No case is left.
#ifdef CLCOOK_FOLDED_SWITCH_PER_CORNER
__kernel void folded_switch_per_corner(__global const float4* restrict vertices,
                                       ulong vertices_offset, __global const uint* restrict indices,
                                       __global const uint2* restrict heads,
                                       __global float4* restrict bezier, ulong bezier_offset,
                                       ulong patches, __local float4* tile) {
  const ulong index = get_global_id(0) >> 2;
  const int lane = (int)get_local_id(0) & 3;
  __local float4* cells = tile + ((int)get_local_id(0) >> 2) * FOLDED_SWITCH_CELLS;
  if (index < patches) {
    const folded_switch_patch patch =
        folded_switch_open(vertices + vertices_offset, indices, heads[index]);
    folded_switch_put(folded_switch_at_corner(patch, lane), lane, cells);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (index < patches) {
    folded_switch_copy(cells + lane, bezier + bezier_offset + index * 16 + (ulong)lane);
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// shared_gather: per_corner, but each point is loaded once, by the corner that owns it. A corner owns
// its vertex and its ring points. From the other corners of the patch it gets through local memory
// what its sums lack: their vertices, and the ring points next to its own.
//
// `corners` has four indices per corner: its vertex, and its first, second and last ring point; where
// n = 3 the only one is all three. `more` has those between the second and the last, n - 4 pairs of an
// edge neighbour and a diagonal one. heads: where the pairs of the patch begin; four bits for the
// valence of each corner, then four for the pairs of the corners before it.
//
// Local memory: 16 float4 per patch, first for what the corners share, then for the results. In every
// second patch they lie two or four apart from those in the first: no bank conflicts. Neighbouring
// work-items store neighbouring control points, whole patches one after the other.
#ifdef CLCOOK_FOLDED_SWITCH_SHARED_GATHER
#define GROUP CLCOOK_FOLDED_SWITCH_GROUP

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void folded_switch_shared_gather(
    __global const float4* restrict vertices, ulong vertices_offset,
    __global const uint4* restrict corners, __global const uint2* restrict heads,
    __global const uint* restrict more, __global float4* restrict bezier, ulong bezier_offset,
    ulong patches, __local float4* tile) {
  const int item = (int)get_local_id(0);
  const uint first_index = (uint)get_group_id(0) * (GROUP / 4);
  const uint index = first_index + (uint)(item >> 2);
  const int k = item & 3;
  const int next = (k + 1) & 3;
  const int previous = (k + 3) & 3;
  const int odd = item >> 2 & 1;
  __local float4* cells = tile + (item >> 2) * 16;
#define SHARED(at) cells[(at) ^ odd << 2]
#define RESULT(at) cells[(at) ^ odd << 1]
  vertices += vertices_offset;
  bezier += bezier_offset;
  folded_switch_four four;
  four.corner = (float4)(0.0f);
  float n = 4.0f;
  if (index < patches) {
    const uint4 at = corners[get_global_id(0)];
    const uint2 head = heads[index];
    const float4 own = vertices[at.x];
    const float4 first = vertices[at.y];
    const float4 second = vertices[at.z];
    const float4 last = vertices[at.w];
    const int valence = (int)(head.y >> (4 * k) & 15);
    __global const uint2* pairs = (__global const uint2*)(more + head.x);
    pairs += head.y >> (16 + 4 * k) & 15;
    // Unrolled, the loop would take registers for pairs that hardly any corner has.
#pragma unroll 1
    for (int i = 4; i < valence; ++i, ++pairs) {
      const uint2 pair = *pairs;
      four.corner = fma((float4)(4.0f), vertices[pair.x], four.corner + vertices[pair.y]);
    }
    n = (float)valence;
    four.corner = fma((float4)(4.0f), first, four.corner);
    if (valence > 3) four.corner = fma((float4)(4.0f), last, four.corner + second);
    four.corner = fma((float4)(n * n), own, four.corner);
    four.interior = n * own;
    four.to_next = 2.0f * (four.interior + last);
    four.to_previous = 2.0f * (four.interior + first);
    SHARED(k) = own;
    SHARED(4 + k) = first;
    SHARED(8 + k) = last;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (index < patches) {
    float4 point = SHARED(next);
    four.corner = fma((float4)(4.0f), point, four.corner);
    four.interior = fma((float4)(2.0f), point, four.interior);
    four.to_next = fma((float4)(4.0f), point, four.to_next);
    four.to_previous = fma((float4)(2.0f), point, four.to_previous);
    point = SHARED(previous);
    four.corner = fma((float4)(4.0f), point, four.corner);
    four.interior = fma((float4)(2.0f), point, four.interior);
    four.to_next = fma((float4)(2.0f), point, four.to_next);
    four.to_previous = fma((float4)(4.0f), point, four.to_previous);
    point = SHARED(k ^ 2);
    four.corner += point;
    four.interior += point;
    four.to_next += point;
    four.to_previous += point;
    // The diagonals beyond the edges to the next corner and to the previous one.
    point = SHARED(4 + next);
    four.corner += point;
    four.to_next += point;
    point = SHARED(8 + previous);
    four.corner += point;
    four.to_previous += point;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (index < patches) {
    const float scale = 1.0f / (n * (n + 5.0f));
    RESULT(FOLDED_SWITCH_CORNER_AT(k)) = four.corner * scale;
    RESULT(FOLDED_SWITCH_NEXT_AT(k)) = four.to_next * (0.5f * n * scale);
    RESULT(FOLDED_SWITCH_PREVIOUS_AT(k)) = four.to_previous * (0.5f * n * scale);
    RESULT(FOLDED_SWITCH_INTERIOR_AT(k)) = four.interior * (n * scale);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#undef SHARED
#undef RESULT
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int to = i * GROUP + item;
    if (first_index + (uint)(to >> 4) < patches) {
      bezier[(ulong)first_index * 16 + (ulong)to] = tile[to ^ (to >> 3 & 2)];
    }
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// cpu_patch: for CPUs. A work-item is a whole task of `task` patches: regular ones go through the
// matrix in registers, the others corner by corner.
#ifdef CLCOOK_FOLDED_SWITCH_CPU_PATCH
#define AT(i) folded_switch_point(patch, i)

static inline void folded_switch_regular(folded_switch_patch patch, __global float4* out) {
  float4 h[4][4];
#define GRID_ROW(y, i0, i1, i2, i3)           \
  {                                           \
    const float4 a0 = AT(i0);                 \
    const float4 a1 = AT(i1);                 \
    const float4 a2 = AT(i2);                 \
    const float4 a3 = AT(i3);                 \
    h[y][0] = FOLDED_SWITCH_ROW0(a0, a1, a2); \
    h[y][1] = FOLDED_SWITCH_ROW1(a1, a2);     \
    h[y][2] = FOLDED_SWITCH_ROW2(a1, a2);     \
    h[y][3] = FOLDED_SWITCH_ROW3(a1, a2, a3); \
  }
  GRID_ROW(0, 5, 6, 7, 8)
  GRID_ROW(1, 4, 0, 1, 9)
  GRID_ROW(2, 15, 3, 2, 10)
  GRID_ROW(3, 14, 13, 12, 11)
#undef GRID_ROW
#pragma unroll
  for (int x = 0; x < 4; ++x) {
    out[x] = FOLDED_SWITCH_ROW0(h[0][x], h[1][x], h[2][x]) * (1.0f / 36.0f);
    out[4 + x] = FOLDED_SWITCH_ROW1(h[1][x], h[2][x]) * (1.0f / 36.0f);
    out[8 + x] = FOLDED_SWITCH_ROW2(h[1][x], h[2][x]) * (1.0f / 36.0f);
    out[12 + x] = FOLDED_SWITCH_ROW3(h[1][x], h[2][x], h[3][x]) * (1.0f / 36.0f);
  }
}

static inline void folded_switch_general(folded_switch_patch patch, __global float4* out) {
  for (int k = 0; k < 4; ++k) {
    const folded_switch_four four = folded_switch_at_corner(patch, k);
    out[FOLDED_SWITCH_CORNER_AT(k)] = four.corner;
    out[FOLDED_SWITCH_NEXT_AT(k)] = four.to_next;
    out[FOLDED_SWITCH_PREVIOUS_AT(k)] = four.to_previous;
    out[FOLDED_SWITCH_INTERIOR_AT(k)] = four.interior;
  }
}
#undef AT

__kernel void folded_switch_cpu_patch(__global const float4* restrict vertices,
                                      ulong vertices_offset, __global const uint* restrict indices,
                                      __global const uint2* restrict heads,
                                      __global float4* restrict bezier, ulong bezier_offset,
                                      ulong patches, ulong task) {
  const ulong begin = get_global_id(0) * task;
  const ulong end = min(begin + task, patches);
  for (ulong i = begin; i < end; ++i) {
    const folded_switch_patch patch =
        folded_switch_open(vertices + vertices_offset, indices, heads[i]);
    __global float4* out = bezier + bezier_offset + i * 16;
    if (patch.valences == 0x04040404u) {
      folded_switch_regular(patch, out);
    } else {
      folded_switch_general(patch, out);
    }
  }
}
#endif
