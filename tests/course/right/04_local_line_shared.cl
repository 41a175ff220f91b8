// clcook course, exercise 4: the line in local memory
// clcook: local = 64 1
// clcook: outputs = 4 1
// Each pixel of 28 goes to those of four results that it belongs to.
__kernel void blur_lines(__global const float4* src, __global float4* dst, int width, int height,
                         __global const float* weights) {
  const int x0 = (int)get_global_id(0) * 4;
  const int y = (int)get_global_id(1);
  if (x0 >= width || y >= height) return;
  __global const float4* row = src + y * width;
  float4 sum[4] = {(float4)(0.0f), (float4)(0.0f), (float4)(0.0f), (float4)(0.0f)};
  for (int k = -RADIUS; k < RADIUS + 4; ++k) {
    const float4 pixel = row[clamp(x0 + k, 0, width - 1)];
    for (int j = 0; j < 4; ++j) {
      const int tap = k - j + RADIUS;
      if (tap >= 0 && tap <= 2 * RADIUS) sum[j] += weights[tap] * pixel;
    }
  }
  for (int j = 0; j < 4; ++j)
    if (x0 + j < width) dst[(x0 + j) * height + y] = sum[j];
}
