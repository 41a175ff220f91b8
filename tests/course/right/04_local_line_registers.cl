// clcook course, exercise 4: the line in local memory
// clcook: local = 32 2
// clcook: outputs = 4 1
// No local memory: four neighbouring results share a window in registers.
__kernel void blur_lines(__global const float4* src, __global float4* dst, int width, int height,
                         __global const float* weights) {
  const int x0 = (int)get_global_id(0) * 4;
  const int y = (int)get_global_id(1);
  if (x0 >= width || y >= height) return;
  float4 sum[4];
  float4 window[4];
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    sum[j] = (float4)(0.0f);
    window[j] = src[y * width + clamp(x0 - RADIUS + j, 0, width - 1)];
  }
  for (int k = 0; k <= 2 * RADIUS; ++k) {
    const float w = weights[k];
#pragma unroll
    for (int j = 0; j < 4; ++j) sum[j] = fma((float4)(w), window[j], sum[j]);
#pragma unroll
    for (int j = 0; j < 3; ++j) window[j] = window[j + 1];
    window[3] = src[y * width + clamp(x0 - RADIUS + k + 4, 0, width - 1)];
  }
  for (int j = 0; j < min(4, width - x0); ++j) dst[(x0 + j) * height + y] = sum[j];
}
