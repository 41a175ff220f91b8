// clcook course, exercise 7: a tile with its halo
// clcook: local = 32 8
// clcook: outputs = 1 1
#define W 32
#define H 8
#define SPAN_W (W + 2 * RADIUS)
#define SPAN_H (H + 2 * RADIUS)
__kernel void dilate(__global const float* src, __global float* dst, int width, int height) {
  __local float tile[SPAN_W * SPAN_H];
  const int i = (int)get_local_id(0);
  const int j = (int)get_local_id(1);
  const int x0 = (int)get_group_id(0) * W - RADIUS;
  const int y0 = (int)get_group_id(1) * H - RADIUS;
  for (int cell = j * W + i; cell < SPAN_W * SPAN_H; cell += W * H) {
    const int x = clamp(x0 + cell % SPAN_W, 0, width - 1);
    const int y = clamp(y0 + cell / SPAN_W, 0, height - 1);
    tile[cell] = src[y * width + x];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x < width && y < height) {
    float most = -INFINITY;
    for (int v = 0; v <= 2 * RADIUS; ++v)
      for (int u = 0; u <= 2 * RADIUS; ++u) most = fmax(most, tile[(j + v) * SPAN_W + i + u]);
    dst[y * width + x] = most;
  }
}
