// fails: right
// says: pixel x =
// clcook course, exercise 6: symmetric taps
// clcook: local = 64 1
// clcook: outputs = 1 1
__kernel void blur_lines(__global const float4* src, __global float4* dst, int width, int height,
                         float inverse, float divisor) {
  __local float4 line[64 + 2 * RADIUS];
  const int lid = (int)get_local_id(0);
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  const int first = (int)get_group_id(0) * 64 - RADIUS;
  for (int cell = lid; cell < 64 + 2 * RADIUS; cell += 64)
    line[cell] = src[y * width + clamp(first + cell, 0, width - 1)];
  barrier(CLK_LOCAL_MEM_FENCE);
  float4 sum = line[lid + RADIUS];
  float norm = 1.0f;
  for (int k = 0; k <= RADIUS; ++k) {
    const float d = (float)k * inverse;
    const float w = exp(-(d * d) / divisor);
    sum += w * (line[lid + RADIUS - k] + line[lid + RADIUS + k]);
    norm += 2.0f * w;
  }
  if (x < width) dst[x * height + y] = sum / norm;
}
