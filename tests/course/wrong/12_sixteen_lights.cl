// fails: right
// says: at result[
// clcook course, exercise 12: fewer registers
// clcook: local = 128
static int byte_of(uint word, int which) { return (int)(word >> (8 * which) & 255u); }
static int signed_byte_of(uint word, int which) { return (int)(word << (24 - 8 * which)) >> 24; }

__kernel void shade(__global const uint4* gbuffer, __global const int4* lights, int light_count,
                    uint fog_colour, __global uint* result, int count) {
  const int size = (int)get_local_size(0);
  const int first = (int)get_group_id(0) * size * TEXELS + (int)get_local_id(0);
  uint4 texel[TEXELS];
  int sum_r[TEXELS], sum_g[TEXELS], sum_b[TEXELS];
#pragma unroll
  for (int p = 0; p < TEXELS; ++p) {
    texel[p] = gbuffer[min(first + p * size, count - 1)];
    sum_r[p] = sum_g[p] = sum_b[p] = byte_of(texel[p].x, 3);
  }
#pragma unroll 1
  for (int l = 0; l < 16; ++l) {
    const int4 light = lights[l];
#pragma unroll
    for (int p = 0; p < TEXELS; ++p) {
      int d =
          max(0, signed_byte_of(texel[p].x, 0) * light.x + signed_byte_of(texel[p].x, 1) * light.y +
                     signed_byte_of(texel[p].x, 2) * light.z) >>
          7;
      d = (texel[p].w >> l & 1u) != 0 ? 0 : d;
      sum_r[p] += (d * byte_of((uint)light.w, 0)) >> 5;
      sum_g[p] += (d * byte_of((uint)light.w, 1)) >> 5;
      sum_b[p] += (d * byte_of((uint)light.w, 2)) >> 5;
    }
  }
#pragma unroll
  for (int p = 0; p < TEXELS; ++p) {
    const int at = first + p * size;
    if (at < count) {
      const int unlit = (int)texel[p].z < 0;
      const int f = (int)(fmin(fabs(as_float(texel[p].z)), 1.0f) * 256.0f);
      uint out = 0xFF000000u;
      const int sums[3] = {sum_r[p], sum_g[p], sum_b[p]};
#pragma unroll
      for (int c = 0; c < 3; ++c) {
        const int albedo = byte_of(texel[p].y, c);
        const int lit = unlit ? albedo : min(255, (albedo * sums[c]) >> 10);
        out |= (uint)((lit * (256 - f) + byte_of(fog_colour, c) * f) >> 8) << (8 * c);
      }
      result[at] = out;
    }
  }
}
