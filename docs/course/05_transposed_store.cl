// clcook course, exercise 5: the transposed store
// clcook: local = 64 1
// clcook: outputs = 1 1
//
// The blur of exercise 4 with a short line of taps. Neighbouring work-items read neighbouring pixels,
// and store them `height` pixels apart.
__kernel void blur_lines(__global const float4* src, __global float4* dst, int width, int height,
                         __global const float* weights) {
  __local float4 line[64 + 2 * RADIUS];
  const int lid = (int)get_local_id(0);
  const int x = (int)get_global_id(0);
  const int y = min((int)get_global_id(1), height - 1);
  const int first = (int)get_group_id(0) * 64 - RADIUS;
  for (int cell = lid; cell < 64 + 2 * RADIUS; cell += 64) {
    line[cell] = src[y * width + clamp(first + cell, 0, width - 1)];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  float4 sum = (float4)(0.0f);
  for (int k = 0; k <= 2 * RADIUS; ++k) {
    sum += weights[k] * line[lid + k];
  }
  if (x < width && (int)get_global_id(1) < height) {
    dst[x * height + y] = sum;
  }
}
