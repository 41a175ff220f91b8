// clcook course, exercise 4: the line in local memory
// clcook: local = 16 4
// clcook: outputs = 4 1
// Four results per work-item; loads and stores by vload4 and vstore4.
__kernel void blur_lines(__global const float4* src, __global float4* dst, int width, int height,
                         __global const float* weights) {
  __global const float* from = (__global const float*)src;
  const int x0 = (int)get_global_id(0) * 4;
  const int y = (int)get_global_id(1);
  if (x0 < width && y < height) {
    float4 a = (float4)(0.0f), b = a, c = a, d = a;
    float4 p = vload4(y * width + clamp(x0 - RADIUS, 0, width - 1), from);
    float4 q = vload4(y * width + clamp(x0 - RADIUS + 1, 0, width - 1), from);
    float4 r = vload4(y * width + clamp(x0 - RADIUS + 2, 0, width - 1), from);
    for (int k = 0; k <= 2 * RADIUS; ++k) {
      const float4 s = vload4(y * width + clamp(x0 - RADIUS + k + 3, 0, width - 1), from);
      const float w = weights[k];
      a += w * p;
      b += w * q;
      c += w * r;
      d += w * s;
      p = q;
      q = r;
      r = s;
    }
    const float4 all[4] = {a, b, c, d};
    for (int j = 0; j < 4; ++j)
      if (x0 + j < width) vstore4(all[j], (x0 + j) * height + y, (__global float*)dst);
  }
}
