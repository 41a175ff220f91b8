// clcook course, exercise 9: a folded switch
// clcook: local = 64
// clcook: outputs = 1
//
// A patch has 16 vertices of a mesh, vertices[indices[16 patch]] and the next, and gets 16 control
// points of a Bezier surface, row by row. One work-item makes one of them.
__constant uchar places[16][9] = {
    {0, 1, 3, 4, 6, 2, 5, 7, 15},    {0, 1, 2, 3, 6, 7, 0, 0, 0},   {1, 0, 3, 2, 7, 6, 0, 0, 0},
    {1, 0, 2, 7, 9, 3, 6, 8, 10},    {0, 3, 2, 1, 4, 15, 0, 0, 0},  {0, 1, 2, 3, 0, 0, 0, 0, 0},
    {1, 2, 3, 0, 0, 0, 0, 0, 0},     {1, 2, 3, 0, 9, 10, 0, 0, 0},  {3, 0, 1, 2, 15, 4, 0, 0, 0},
    {3, 0, 1, 2, 0, 0, 0, 0, 0},     {2, 3, 0, 1, 0, 0, 0, 0, 0},   {2, 1, 0, 3, 10, 9, 0, 0, 0},
    {3, 0, 2, 13, 15, 1, 4, 12, 14}, {3, 2, 1, 0, 13, 12, 0, 0, 0}, {2, 3, 0, 1, 12, 13, 0, 0, 0},
    {2, 1, 3, 10, 12, 0, 9, 11, 13}};
__constant uchar kinds[16] = {0, 1, 1, 0, 1, 2, 2, 1, 1, 2, 2, 1, 0, 1, 1, 0};
#define POINT(i) vertices[p[i]]

static float4 corner(__global const float4* vertices, __global const uint* p, int v, int e0, int e1,
                     int e2, int e3, int d0, int d1, int d2, int d3) {
  return (16.0f * POINT(v) + 4.0f * (POINT(e0) + POINT(e1) + POINT(e2) + POINT(e3)) + POINT(d0) +
          POINT(d1) + POINT(d2) + POINT(d3)) /
         36.0f;
}

static float4 edge(__global const float4* vertices, __global const uint* p, int a, int b, int c,
                   int d, int e, int f) {
  return (8.0f * POINT(a) + 4.0f * POINT(b) + POINT(c) + 2.0f * POINT(d) + 2.0f * POINT(e) +
          POINT(f)) /
         18.0f;
}

static float4 interior(__global const float4* vertices, __global const uint* p, int a, int b, int c,
                       int d) {
  return (4.0f * POINT(a) + 2.0f * POINT(b) + POINT(c) + 2.0f * POINT(d)) / 9.0f;
}

__kernel void control_points(__global const float4* vertices, __global const uint* indices,
                             __global float4* result, int patches) {
  const int i = (int)get_global_id(0);
  if (i < 16 * patches) {
    __global const uint* p = indices + i / 16 * 16;
    __constant uchar* at = places[i % 16];
    const int kind = kinds[i % 16];
    if (kind == 0) {
      result[i] =
          corner(vertices, p, at[0], at[1], at[2], at[3], at[4], at[5], at[6], at[7], at[8]);
    } else if (kind == 1) {
      result[i] = edge(vertices, p, at[0], at[1], at[2], at[3], at[4], at[5]);
    } else {
      result[i] = interior(vertices, p, at[0], at[1], at[2], at[3]);
    }
  }
}
