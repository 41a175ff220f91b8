// clcook course, exercise 4: the line in local memory
// clcook: local = 32 1
// clcook: outputs = 8 1
// Eight results per work-item, by pointer.
__kernel void blur_lines(__global const float4* src, __global float4* dst, int width, int height,
                         __global const float* weights) {
  const int x0 = (int)get_global_id(0) * 8;
  const int y = (int)get_global_id(1);
  if (x0 >= width || y >= height) return;
  float4 window[8];
  float4 sum[8];
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    sum[j] = (float4)(0.0f);
    window[j] = *(src + y * width + clamp(x0 - RADIUS + j, 0, width - 1));
  }
  for (int k = 0; k <= 2 * RADIUS; ++k) {
#pragma unroll
    for (int j = 0; j < 8; ++j) sum[j] += weights[k] * window[(j + k) % 8];
    window[k % 8] = *(src + y * width + clamp(x0 - RADIUS + k + 8, 0, width - 1));
  }
  for (int j = 0; j < min(8, width - x0); ++j) *(dst + (x0 + j) * height + y) = sum[j];
}
