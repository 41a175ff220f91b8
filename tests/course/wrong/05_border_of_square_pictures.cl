// fails: right
// says: with width=
// clcook course, exercise 5: the transposed store
// clcook: local = 16 16
// clcook: outputs = 1 1
#define WIDE (16 + 2 * RADIUS)
__kernel void blur_lines(__global const float4* src, __global float4* dst, int width, int height,
                         __global const float* weights) {
  __local float4 tile[16][WIDE + 1];
  const int i = (int)get_local_id(0);
  const int j = (int)get_local_id(1);
  const int x0 = (int)get_group_id(0) * 16;
  const int y0 = (int)get_group_id(1) * 16;
  const int row = min(y0 + j, height - 1) * width;
  for (int cell = i; cell < WIDE; cell += 16)
    tile[j][cell] = src[row + clamp(x0 - RADIUS + cell, 0, width - 1)];
  barrier(CLK_LOCAL_MEM_FENCE);
  // From here i runs along y.
  float4 sum = (float4)(0.0f);
  for (int k = 0; k <= 2 * RADIUS; ++k) sum += weights[k] * tile[i][j + k];
  if (x0 + i < width && y0 + j < height) dst[(x0 + j) * height + y0 + i] = sum;
}
