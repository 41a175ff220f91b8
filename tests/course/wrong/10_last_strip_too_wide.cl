// fails: right
// says: pixel x =
// clcook course, exercise 10: the order of groups
// clcook: local = 32 4
// clcook: outputs = 1 1
static int offset(uint* state, int radius) {
  *state = *state * 1664525U + 1013904223U;
  return (int)(((*state >> 16) * (2U * (uint)radius + 1U)) >> 16) - radius;
}

__kernel void gather(__global const float4* src, __global float4* dst, int width, int height,
                     int taps, int radius) {
  const int across = (width + 31) / 32;
  const int down = (height + 3) / 4;
  const int strip = (int)get_group_id(0) / (2 * down);
  const int rest = (int)get_group_id(0) % (2 * down);
  const int wide = 2;
  const int tile_x = 2 * strip + rest % wide;
  const int tile_y = rest / wide;
  const int x = tile_x * 32 + (int)get_local_id(0);
  const int y = tile_y * 4 + (int)get_local_id(1);
  if (x < width && y < height) {
    uint state = (uint)x * 0x9E3779B1U + (uint)y * 0x85EBCA77U;
    state = (state ^ (state >> 15)) * 0x2C1B3C6DU;
    state ^= state >> 12;
    float4 sum = (float4)(0.0f);
    for (int k = 0; k < taps; ++k) {
      const int column = clamp(x + offset(&state, radius), 0, width - 1);
      const int row = clamp(y + offset(&state, radius), 0, height - 1);
      sum += src[row * width + column];
    }
    dst[y * width + x] = sum / (float)taps;
  }
}
