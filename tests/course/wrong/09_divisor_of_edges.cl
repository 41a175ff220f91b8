// fails: right
// says: control point
// clcook course, exercise 9: a folded switch
// clcook: local = 64
// All three as a sum of nine weighted points, from tables.
__constant uchar places[16][9] = {
    {0, 1, 3, 4, 6, 2, 5, 7, 15},    {0, 1, 2, 3, 6, 7, 0, 0, 0},   {1, 0, 3, 2, 7, 6, 0, 0, 0},
    {1, 0, 2, 7, 9, 3, 6, 8, 10},    {0, 3, 2, 1, 4, 15, 0, 0, 0},  {0, 1, 2, 3, 0, 0, 0, 0, 0},
    {1, 2, 3, 0, 0, 0, 0, 0, 0},     {1, 2, 3, 0, 9, 10, 0, 0, 0},  {3, 0, 1, 2, 15, 4, 0, 0, 0},
    {3, 0, 1, 2, 0, 0, 0, 0, 0},     {2, 3, 0, 1, 0, 0, 0, 0, 0},   {2, 1, 0, 3, 10, 9, 0, 0, 0},
    {3, 0, 2, 13, 15, 1, 4, 12, 14}, {3, 2, 1, 0, 13, 12, 0, 0, 0}, {2, 3, 0, 1, 12, 13, 0, 0, 0},
    {2, 1, 3, 10, 12, 0, 9, 11, 13}};
__constant uchar kinds[16] = {0, 1, 1, 0, 1, 2, 2, 1, 1, 2, 2, 1, 0, 1, 1, 0};
__constant float weights[3][9] = {
    {16, 4, 4, 4, 4, 1, 1, 1, 1}, {8, 4, 1, 2, 2, 1, 0, 0, 0}, {4, 2, 1, 2, 0, 0, 0, 0, 0}};
__constant float divisors[3] = {36, 16, 9};

__kernel void control_points(__global const float4* vertices, __global const uint* indices,
                             __global float4* result, int patches) {
  const int i = (int)get_global_id(0);
  if (i >= 16 * patches) return;
  __global const uint* p = indices + i / 16 * 16;
  const int kind = kinds[i % 16];
  float4 sum = (float4)(0.0f);
  for (int k = 0; k < 9; ++k) sum += weights[kind][k] * vertices[p[places[i % 16][k]]];
  result[i] = sum / divisors[kind];
}
