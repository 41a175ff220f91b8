// clcook course, exercise 12: fewer registers
// clcook: local = 64
//
// A work-item shades TEXELS texels of a G-buffer, a group apart. A texel is four words:
//   .x   normal x, y, z as signed bytes, ambient light as a byte
//   .y   albedo r, g, b
//   .z   depth, a float; its sign bit says that the albedo is the colour
//   .w   bit l: light l does not reach the texel
// A light is its direction x, y, z and its colour r, g, b in bytes. The grader defines TEXELS.
static int byte_of(uint word, int which) { return (int)(word >> (8 * which) & 255u); }
static int signed_byte_of(uint word, int which) { return (int)(word << (24 - 8 * which)) >> 24; }

__kernel void shade(__global const uint4* gbuffer, __global const int4* lights, int light_count,
                    uint fog_colour, __global uint* result, int count) {
  const int size = (int)get_local_size(0);
  const int first = (int)get_group_id(0) * size * TEXELS + (int)get_local_id(0);
  int nx[TEXELS], ny[TEXELS], nz[TEXELS];
  int red[TEXELS], green[TEXELS], blue[TEXELS];
  int sum_r[TEXELS], sum_g[TEXELS], sum_b[TEXELS];
  int unlit[TEXELS], fog[TEXELS];
  uint shadow[TEXELS];
#pragma unroll
  for (int p = 0; p < TEXELS; ++p) {
    const uint4 texel = gbuffer[min(first + p * size, count - 1)];
    nx[p] = signed_byte_of(texel.x, 0);
    ny[p] = signed_byte_of(texel.x, 1);
    nz[p] = signed_byte_of(texel.x, 2);
    sum_r[p] = sum_g[p] = sum_b[p] = byte_of(texel.x, 3);
    red[p] = byte_of(texel.y, 0);
    green[p] = byte_of(texel.y, 1);
    blue[p] = byte_of(texel.y, 2);
    unlit[p] = (int)(texel.z >> 31);
    fog[p] = (int)(fmin(fabs(as_float(texel.z)), 1.0f) * 256.0f);
    shadow[p] = texel.w;
  }
#pragma unroll 1
  for (int l = 0; l < light_count; ++l) {
    const int4 light = lights[l];
#pragma unroll
    for (int p = 0; p < TEXELS; ++p) {
      const int reached = 1 - (int)(shadow[p] >> l & 1u);
      const int d = max(0, nx[p] * light.x + ny[p] * light.y + nz[p] * light.z) >> 7;
      sum_r[p] += ((d * byte_of((uint)light.w, 0)) >> 5) * reached;
      sum_g[p] += ((d * byte_of((uint)light.w, 1)) >> 5) * reached;
      sum_b[p] += ((d * byte_of((uint)light.w, 2)) >> 5) * reached;
    }
  }
#pragma unroll
  for (int p = 0; p < TEXELS; ++p) {
    const int lit = 1 - unlit[p];
    const int r = min(255, (red[p] * sum_r[p]) >> 10) * lit + red[p] * unlit[p];
    const int g = min(255, (green[p] * sum_g[p]) >> 10) * lit + green[p] * unlit[p];
    const int b = min(255, (blue[p] * sum_b[p]) >> 10) * lit + blue[p] * unlit[p];
    const int at = first + p * size;
    if (at < count) {
      const int f = fog[p];
      result[at] = (uint)((r * (256 - f) + byte_of(fog_colour, 0) * f) >> 8) |
                   (uint)((g * (256 - f) + byte_of(fog_colour, 1) * f) >> 8) << 8 |
                   (uint)((b * (256 - f) + byte_of(fog_colour, 2) * f) >> 8) << 16 | 0xFF000000u;
    }
  }
}
