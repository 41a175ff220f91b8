// clcook course, exercise 7: a tile with its halo
// clcook: local = 16 16
// clcook: outputs = 1 1
// Rows first, then columns, both in local memory.
#define SPAN (16 + 2 * RADIUS)
__kernel void dilate(__global const float* src, __global float* dst, int width, int height) {
  __local float tile[SPAN][SPAN];
  __local float rows[SPAN][16];
  const int i = (int)get_local_id(0);
  const int j = (int)get_local_id(1);
  const int x0 = (int)get_group_id(0) * 16 - RADIUS;
  const int y0 = (int)get_group_id(1) * 16 - RADIUS;
  for (int v = j; v < SPAN; v += 16)
    for (int u = i; u < SPAN; u += 16)
      tile[v][u] = src[clamp(y0 + v, 0, height - 1) * width + clamp(x0 + u, 0, width - 1)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int v = j; v < SPAN; v += 16) {
    float most = tile[v][i];
    for (int u = 1; u <= 2 * RADIUS; ++u) most = fmax(most, tile[v][i + u]);
    rows[v][i] = most;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x < width && y < height) {
    float most = rows[j][i];
    for (int v = 1; v <= 2 * RADIUS; ++v) most = fmax(most, rows[j + v][i]);
    dst[y * width + x] = most;
  }
}
