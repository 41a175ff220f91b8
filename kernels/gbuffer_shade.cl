// Deferred shading of a packed G-buffer under directional lights: every variant of the recipe
// gbuffer_shade. All but float2 and half2 compute in integers.
//
// A texel is a uint4; bytes are counted from the lowest:
//   .x   normal x, y, z as signed bytes, ambient light as a byte
//   .y   albedo r, g, b, and a byte that nobody reads
//   .z   depth as a float; its sign bit means unlit: the albedo is the colour
//   .w   shadow: bit l is set where light l does not reach the texel
// A light is an int4: direction x, y, z and a packed colour r, g, b. The host makes sure that
// |x| + |y| + |z| <= 255, so that a product with a normal fits in 16 bits. For float2 and half2 a
// light is two int4: x, y, z and r, g, b, each over 128, as the bits of a float or of a half twice.
//
//   sum_c = ambient + sum over the lights l that reach the texel of ((d_l colour_l,c) >> 5),
//           d_l = max(0, normal . direction_l) >> 7
//   lit_c = unlit ? albedo_c : min(255, (albedo_c sum_c) >> 10)
//   fog   = whole part of 256 min(|depth|, 1); a depth that is not a number counts as 1
//   result_c = (lit_c (256 - fog) + fog_colour_c fog) >> 8, alpha = 255
// At most 32 lights: sum_c <= 255 + 32 ((255 * 255) >> 5) = 65247 fits in 16 bits.
//
// Each item shades several texels, a group apart, so that one light serves them all. Items behind
// the end repeat the last texel and store nothing. Offsets are in texels; count is at least 1.
//
// The host compiles one variant per program: -DCLCOOK_GBUFFER_SHADE_ONLY
// -DCLCOOK_GBUFFER_SHADE_<VARIANT>, with -DCLCOOK_GBUFFER_SHADE_GROUP work-items per work-group and
// -DCLCOOK_GBUFFER_SHADE_TEXELS per work-item, an even number.

#ifndef CLCOOK_GBUFFER_SHADE_ONLY
#define CLCOOK_GBUFFER_SHADE_WIDE
#define CLCOOK_GBUFFER_SHADE_FLAG_ONCE
#define CLCOOK_GBUFFER_SHADE_PREDICATES
#define CLCOOK_GBUFFER_SHADE_SIGN_BIT
#define CLCOOK_GBUFFER_SHADE_SIGN_CALL
#define CLCOOK_GBUFFER_SHADE_PACKED
#define CLCOOK_GBUFFER_SHADE_BIT_FIELDS
#define CLCOOK_GBUFFER_SHADE_ADDED_FIELDS
#define CLCOOK_GBUFFER_SHADE_PARKED
#define CLCOOK_GBUFFER_SHADE_RELOADED
#define CLCOOK_GBUFFER_SHADE_SHORT2
#define CLCOOK_GBUFFER_SHADE_FLOAT2
#define CLCOOK_GBUFFER_SHADE_HALF2
#define CLCOOK_GBUFFER_SHADE_CPU_LANES
#endif

#ifndef CLCOOK_GBUFFER_SHADE_GROUP
#define CLCOOK_GBUFFER_SHADE_GROUP 128
#endif
#ifndef CLCOOK_GBUFFER_SHADE_TEXELS
#define CLCOOK_GBUFFER_SHADE_TEXELS 8
#endif
#define GROUP CLCOOK_GBUFFER_SHADE_GROUP
#define TEXELS CLCOOK_GBUFFER_SHADE_TEXELS
#define GBUFFER_SHADE_GROUP __attribute__((reqd_work_group_size(GROUP, 1, 1)))

#define GBUFFER_SHADE_ARGUMENTS                                        \
  __global const uint4 *restrict gbuffer, ulong gbuffer_offset,        \
      __global const int4 *restrict lights, int light_count, uint fog, \
      __global uint *restrict result, ulong result_offset, ulong count

static inline int gbuffer_shade_byte(uint word, int which) {
  return (int)((word >> (8 * which)) & 0xFFu);
}

static inline int gbuffer_shade_signed_byte(uint word, int which) {
  return (int)(word << (24 - 8 * which)) >> 24;
}

static inline int gbuffer_shade_fog(float depth) { return (int)(fmin(depth, 1.0f) * 256.0f); }

// The item's first texel, and texel p of the item, which may lie behind the end.
#define FIRST_TEXEL (get_group_id(0) * (ulong)(GROUP * TEXELS) + get_local_id(0))
#define TEXEL(p) (first + (ulong)((p)*GROUP))
#define LOAD_TEXEL(p) gbuffer[gbuffer_offset + min(TEXEL(p), count - 1)]

static inline uint gbuffer_shade_fogged(int r, int g, int b, int fog, uint fog_colour) {
  r = (r * (256 - fog) + gbuffer_shade_byte(fog_colour, 0) * fog) >> 8;
  g = (g * (256 - fog) + gbuffer_shade_byte(fog_colour, 1) * fog) >> 8;
  b = (b * (256 - fog) + gbuffer_shade_byte(fog_colour, 2) * fog) >> 8;
  return (uint)r | (uint)g << 8 | (uint)b << 16 | 0xFF000000u;
}

// The colour of a texel, from its words as they are stored and its sums of light.
static inline uint gbuffer_shade_finish(uint albedo, uint depth, int r, int g, int b,
                                        uint fog_colour) {
  const int unlit = (int)depth < 0;
  r = unlit ? gbuffer_shade_byte(albedo, 0) : min(255, (gbuffer_shade_byte(albedo, 0) * r) >> 10);
  g = unlit ? gbuffer_shade_byte(albedo, 1) : min(255, (gbuffer_shade_byte(albedo, 1) * g) >> 10);
  b = unlit ? gbuffer_shade_byte(albedo, 2) : min(255, (gbuffer_shade_byte(albedo, 2) * b) >> 10);
  return gbuffer_shade_fogged(r, g, b, gbuffer_shade_fog(fabs(as_float(depth))), fog_colour);
}

// ------------------------------------------------------------------------------------------------
// wide: everything unpacked into ints before the loop over the lights; conditions are ints of 0 and
// 1 that are multiplied.
#ifdef CLCOOK_GBUFFER_SHADE_WIDE
__kernel GBUFFER_SHADE_GROUP void gbuffer_shade_wide(GBUFFER_SHADE_ARGUMENTS) {
  const ulong first = FIRST_TEXEL;
  int nx[TEXELS], ny[TEXELS], nz[TEXELS];
  int red[TEXELS], green[TEXELS], blue[TEXELS];
  int sum_r[TEXELS], sum_g[TEXELS], sum_b[TEXELS];
  int unlit[TEXELS], far[TEXELS];
  uint shadow[TEXELS];
#pragma unroll
  for (int p = 0; p < TEXELS; ++p) {
    const uint4 texel = LOAD_TEXEL(p);
    nx[p] = gbuffer_shade_signed_byte(texel.x, 0);
    ny[p] = gbuffer_shade_signed_byte(texel.x, 1);
    nz[p] = gbuffer_shade_signed_byte(texel.x, 2);
    sum_r[p] = sum_g[p] = sum_b[p] = gbuffer_shade_byte(texel.x, 3);
    red[p] = gbuffer_shade_byte(texel.y, 0);
    green[p] = gbuffer_shade_byte(texel.y, 1);
    blue[p] = gbuffer_shade_byte(texel.y, 2);
    unlit[p] = (int)(texel.z >> 31);
    far[p] = gbuffer_shade_fog(fabs(as_float(texel.z)));
    shadow[p] = texel.w;
  }
#pragma unroll 1
  for (int l = 0; l < light_count; ++l) {
    const int4 light = lights[l];
#pragma unroll
    for (int p = 0; p < TEXELS; ++p) {
      const int reached = 1 - (int)((shadow[p] >> l) & 1u);
      const int d = max(0, nx[p] * light.x + ny[p] * light.y + nz[p] * light.z) >> 7;
      sum_r[p] += ((d * gbuffer_shade_byte((uint)light.w, 0)) >> 5) * reached;
      sum_g[p] += ((d * gbuffer_shade_byte((uint)light.w, 1)) >> 5) * reached;
      sum_b[p] += ((d * gbuffer_shade_byte((uint)light.w, 2)) >> 5) * reached;
    }
  }
  result += result_offset;
#pragma unroll
  for (int p = 0; p < TEXELS; ++p) {
    const int lit = 1 - unlit[p];
    const int r = min(255, (red[p] * sum_r[p]) >> 10) * lit + red[p] * unlit[p];
    const int g = min(255, (green[p] * sum_g[p]) >> 10) * lit + green[p] * unlit[p];
    const int b = min(255, (blue[p] * sum_b[p]) >> 10) * lit + blue[p] * unlit[p];
    if (TEXEL(p) < count) {
      result[TEXEL(p)] = gbuffer_shade_fogged(r, g, b, far[p], fog);
    }
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// flag_once: as wide, but whether the light reaches the texel is multiplied into d, once for the
// three channels: the int form that a programmer would write.
#ifdef CLCOOK_GBUFFER_SHADE_FLAG_ONCE
__kernel GBUFFER_SHADE_GROUP void gbuffer_shade_flag_once(GBUFFER_SHADE_ARGUMENTS) {
  const ulong first = FIRST_TEXEL;
  int nx[TEXELS], ny[TEXELS], nz[TEXELS];
  int red[TEXELS], green[TEXELS], blue[TEXELS];
  int sum_r[TEXELS], sum_g[TEXELS], sum_b[TEXELS];
  int unlit[TEXELS], far[TEXELS];
  uint shadow[TEXELS];
#pragma unroll
  for (int p = 0; p < TEXELS; ++p) {
    const uint4 texel = LOAD_TEXEL(p);
    nx[p] = gbuffer_shade_signed_byte(texel.x, 0);
    ny[p] = gbuffer_shade_signed_byte(texel.x, 1);
    nz[p] = gbuffer_shade_signed_byte(texel.x, 2);
    sum_r[p] = sum_g[p] = sum_b[p] = gbuffer_shade_byte(texel.x, 3);
    red[p] = gbuffer_shade_byte(texel.y, 0);
    green[p] = gbuffer_shade_byte(texel.y, 1);
    blue[p] = gbuffer_shade_byte(texel.y, 2);
    unlit[p] = (int)(texel.z >> 31);
    far[p] = gbuffer_shade_fog(fabs(as_float(texel.z)));
    shadow[p] = texel.w;
  }
#pragma unroll 1
  for (int l = 0; l < light_count; ++l) {
    const int4 light = lights[l];
#pragma unroll
    for (int p = 0; p < TEXELS; ++p) {
      const int reached = 1 - (int)((shadow[p] >> l) & 1u);
      int d = max(0, nx[p] * light.x + ny[p] * light.y + nz[p] * light.z) >> 7;
      d *= reached;
      sum_r[p] += (d * gbuffer_shade_byte((uint)light.w, 0)) >> 5;
      sum_g[p] += (d * gbuffer_shade_byte((uint)light.w, 1)) >> 5;
      sum_b[p] += (d * gbuffer_shade_byte((uint)light.w, 2)) >> 5;
    }
  }
  result += result_offset;
#pragma unroll
  for (int p = 0; p < TEXELS; ++p) {
    const int lit = 1 - unlit[p];
    const int r = min(255, (red[p] * sum_r[p]) >> 10) * lit + red[p] * unlit[p];
    const int g = min(255, (green[p] * sum_g[p]) >> 10) * lit + green[p] * unlit[p];
    const int b = min(255, (blue[p] * sum_b[p]) >> 10) * lit + blue[p] * unlit[p];
    if (TEXEL(p) < count) {
      result[TEXEL(p)] = gbuffer_shade_fogged(r, g, b, far[p], fog);
    }
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// predicates: as wide, but conditions are comparisons that choose.
#ifdef CLCOOK_GBUFFER_SHADE_PREDICATES
__kernel GBUFFER_SHADE_GROUP void gbuffer_shade_predicates(GBUFFER_SHADE_ARGUMENTS) {
  const ulong first = FIRST_TEXEL;
  int nx[TEXELS], ny[TEXELS], nz[TEXELS];
  int red[TEXELS], green[TEXELS], blue[TEXELS];
  int sum_r[TEXELS], sum_g[TEXELS], sum_b[TEXELS];
  int far[TEXELS];
  bool unlit[TEXELS];
  uint shadow[TEXELS];
#pragma unroll
  for (int p = 0; p < TEXELS; ++p) {
    const uint4 texel = LOAD_TEXEL(p);
    nx[p] = gbuffer_shade_signed_byte(texel.x, 0);
    ny[p] = gbuffer_shade_signed_byte(texel.x, 1);
    nz[p] = gbuffer_shade_signed_byte(texel.x, 2);
    sum_r[p] = sum_g[p] = sum_b[p] = gbuffer_shade_byte(texel.x, 3);
    red[p] = gbuffer_shade_byte(texel.y, 0);
    green[p] = gbuffer_shade_byte(texel.y, 1);
    blue[p] = gbuffer_shade_byte(texel.y, 2);
    unlit[p] = (int)texel.z < 0;
    far[p] = gbuffer_shade_fog(fabs(as_float(texel.z)));
    shadow[p] = texel.w;
  }
#pragma unroll 1
  for (int l = 0; l < light_count; ++l) {
    const int4 light = lights[l];
    const uint bit = 1u << l;
#pragma unroll
    for (int p = 0; p < TEXELS; ++p) {
      int d = max(0, nx[p] * light.x + ny[p] * light.y + nz[p] * light.z) >> 7;
      d = (shadow[p] & bit) == 0 ? d : 0;
      sum_r[p] += (d * gbuffer_shade_byte((uint)light.w, 0)) >> 5;
      sum_g[p] += (d * gbuffer_shade_byte((uint)light.w, 1)) >> 5;
      sum_b[p] += (d * gbuffer_shade_byte((uint)light.w, 2)) >> 5;
    }
  }
  result += result_offset;
#pragma unroll
  for (int p = 0; p < TEXELS; ++p) {
    const int r = unlit[p] ? red[p] : min(255, (red[p] * sum_r[p]) >> 10);
    const int g = unlit[p] ? green[p] : min(255, (green[p] * sum_g[p]) >> 10);
    const int b = unlit[p] ? blue[p] : min(255, (blue[p] * sum_b[p]) >> 10);
    if (TEXEL(p) < count) {
      result[TEXEL(p)] = gbuffer_shade_fogged(r, g, b, far[p], fog);
    }
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// sign_bit: as predicates, but flag and depth stay in the one float that they came in: the flag is
// its sign, tested after the loop, and fabs() comes with the use.
#ifdef CLCOOK_GBUFFER_SHADE_SIGN_BIT
__kernel GBUFFER_SHADE_GROUP void gbuffer_shade_sign_bit(GBUFFER_SHADE_ARGUMENTS) {
  const ulong first = FIRST_TEXEL;
  int nx[TEXELS], ny[TEXELS], nz[TEXELS];
  int red[TEXELS], green[TEXELS], blue[TEXELS];
  int sum_r[TEXELS], sum_g[TEXELS], sum_b[TEXELS];
  float depth[TEXELS];
  uint shadow[TEXELS];
#pragma unroll
  for (int p = 0; p < TEXELS; ++p) {
    const uint4 texel = LOAD_TEXEL(p);
    nx[p] = gbuffer_shade_signed_byte(texel.x, 0);
    ny[p] = gbuffer_shade_signed_byte(texel.x, 1);
    nz[p] = gbuffer_shade_signed_byte(texel.x, 2);
    sum_r[p] = sum_g[p] = sum_b[p] = gbuffer_shade_byte(texel.x, 3);
    red[p] = gbuffer_shade_byte(texel.y, 0);
    green[p] = gbuffer_shade_byte(texel.y, 1);
    blue[p] = gbuffer_shade_byte(texel.y, 2);
    depth[p] = as_float(texel.z);
    shadow[p] = texel.w;
  }
#pragma unroll 1
  for (int l = 0; l < light_count; ++l) {
    const int4 light = lights[l];
    const uint bit = 1u << l;
#pragma unroll
    for (int p = 0; p < TEXELS; ++p) {
      int d = max(0, nx[p] * light.x + ny[p] * light.y + nz[p] * light.z) >> 7;
      d = (shadow[p] & bit) == 0 ? d : 0;
      sum_r[p] += (d * gbuffer_shade_byte((uint)light.w, 0)) >> 5;
      sum_g[p] += (d * gbuffer_shade_byte((uint)light.w, 1)) >> 5;
      sum_b[p] += (d * gbuffer_shade_byte((uint)light.w, 2)) >> 5;
    }
  }
  result += result_offset;
#pragma unroll
  for (int p = 0; p < TEXELS; ++p) {
    const int unlit = as_int(depth[p]) < 0;
    const int r = unlit ? red[p] : min(255, (red[p] * sum_r[p]) >> 10);
    const int g = unlit ? green[p] : min(255, (green[p] * sum_g[p]) >> 10);
    const int b = unlit ? blue[p] : min(255, (blue[p] * sum_b[p]) >> 10);
    if (TEXEL(p) < count) {
      result[TEXEL(p)] = gbuffer_shade_fogged(r, g, b, gbuffer_shade_fog(fabs(depth[p])), fog);
    }
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// sign_call: as sign_bit, but the flag is what sign() says. That is 0 for -0 and for what is no
// number, so it gets the sign alone, on a 1.
#ifdef CLCOOK_GBUFFER_SHADE_SIGN_CALL
__kernel GBUFFER_SHADE_GROUP void gbuffer_shade_sign_call(GBUFFER_SHADE_ARGUMENTS) {
  const ulong first = FIRST_TEXEL;
  int nx[TEXELS], ny[TEXELS], nz[TEXELS];
  int red[TEXELS], green[TEXELS], blue[TEXELS];
  int sum_r[TEXELS], sum_g[TEXELS], sum_b[TEXELS];
  float depth[TEXELS];
  uint shadow[TEXELS];
#pragma unroll
  for (int p = 0; p < TEXELS; ++p) {
    const uint4 texel = LOAD_TEXEL(p);
    nx[p] = gbuffer_shade_signed_byte(texel.x, 0);
    ny[p] = gbuffer_shade_signed_byte(texel.x, 1);
    nz[p] = gbuffer_shade_signed_byte(texel.x, 2);
    sum_r[p] = sum_g[p] = sum_b[p] = gbuffer_shade_byte(texel.x, 3);
    red[p] = gbuffer_shade_byte(texel.y, 0);
    green[p] = gbuffer_shade_byte(texel.y, 1);
    blue[p] = gbuffer_shade_byte(texel.y, 2);
    depth[p] = as_float(texel.z);
    shadow[p] = texel.w;
  }
#pragma unroll 1
  for (int l = 0; l < light_count; ++l) {
    const int4 light = lights[l];
    const uint bit = 1u << l;
#pragma unroll
    for (int p = 0; p < TEXELS; ++p) {
      int d = max(0, nx[p] * light.x + ny[p] * light.y + nz[p] * light.z) >> 7;
      d = (shadow[p] & bit) == 0 ? d : 0;
      sum_r[p] += (d * gbuffer_shade_byte((uint)light.w, 0)) >> 5;
      sum_g[p] += (d * gbuffer_shade_byte((uint)light.w, 1)) >> 5;
      sum_b[p] += (d * gbuffer_shade_byte((uint)light.w, 2)) >> 5;
    }
  }
  result += result_offset;
#pragma unroll
  for (int p = 0; p < TEXELS; ++p) {
    const int unlit = sign(copysign(1.0f, depth[p])) < 0.0f;
    const int r = unlit ? red[p] : min(255, (red[p] * sum_r[p]) >> 10);
    const int g = unlit ? green[p] : min(255, (green[p] * sum_g[p]) >> 10);
    const int b = unlit ? blue[p] : min(255, (blue[p] * sum_b[p]) >> 10);
    if (TEXEL(p) < count) {
      result[TEXEL(p)] = gbuffer_shade_fogged(r, g, b, gbuffer_shade_fog(fabs(depth[p])), fog);
    }
  }
}
#endif

// The loop over the lights with normals that stay packed: bytes are cut out where they are used.
#define GBUFFER_SHADE_LIGHTS(NORMAL, SHADOW)                                   \
  _Pragma("unroll 1") for (int l = 0; l < light_count; ++l) {                  \
    const int4 light = lights[l];                                              \
    const uint bit = 1u << l;                                                  \
    _Pragma("unroll") for (int p = 0; p < TEXELS; ++p) {                       \
      int d = max(0, gbuffer_shade_signed_byte(NORMAL[p], 0) * light.x +       \
                         gbuffer_shade_signed_byte(NORMAL[p], 1) * light.y +   \
                         gbuffer_shade_signed_byte(NORMAL[p], 2) * light.z) >> \
              7;                                                               \
      d = (SHADOW[p] & bit) == 0 ? d : 0;                                      \
      sum_r[p] += (d * gbuffer_shade_byte((uint)light.w, 0)) >> 5;             \
      sum_g[p] += (d * gbuffer_shade_byte((uint)light.w, 1)) >> 5;             \
      sum_b[p] += (d * gbuffer_shade_byte((uint)light.w, 2)) >> 5;             \
    }                                                                          \
  }

// ------------------------------------------------------------------------------------------------
// packed: a texel stays the four words that it came in; everything is unpacked where it is used.
#ifdef CLCOOK_GBUFFER_SHADE_PACKED
__kernel GBUFFER_SHADE_GROUP void gbuffer_shade_packed(GBUFFER_SHADE_ARGUMENTS) {
  const ulong first = FIRST_TEXEL;
  uint normal[TEXELS], albedo[TEXELS], depth[TEXELS], shadow[TEXELS];
  int sum_r[TEXELS], sum_g[TEXELS], sum_b[TEXELS];
#pragma unroll
  for (int p = 0; p < TEXELS; ++p) {
    const uint4 texel = LOAD_TEXEL(p);
    normal[p] = texel.x;
    albedo[p] = texel.y;
    depth[p] = texel.z;
    shadow[p] = texel.w;
    sum_r[p] = sum_g[p] = sum_b[p] = gbuffer_shade_byte(texel.x, 3);
  }
  GBUFFER_SHADE_LIGHTS(normal, shadow)
  result += result_offset;
#pragma unroll
  for (int p = 0; p < TEXELS; ++p) {
    if (TEXEL(p) < count) {
      result[TEXEL(p)] =
          gbuffer_shade_finish(albedo[p], depth[p], sum_r[p], sum_g[p], sum_b[p], fog);
    }
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// bit_fields: as packed, with the sums of red and green in the halves of one register. For each
// light they are cut out, and the new ones put back in their places: the bits that the mask has come
// from the sum, the others stay.
#ifdef CLCOOK_GBUFFER_SHADE_BIT_FIELDS
__kernel GBUFFER_SHADE_GROUP void gbuffer_shade_bit_fields(GBUFFER_SHADE_ARGUMENTS) {
  const ulong first = FIRST_TEXEL;
  uint normal[TEXELS], albedo[TEXELS], depth[TEXELS], shadow[TEXELS];
  uint sum_rg[TEXELS];
  int sum_b[TEXELS];
#pragma unroll
  for (int p = 0; p < TEXELS; ++p) {
    const uint4 texel = LOAD_TEXEL(p);
    normal[p] = texel.x;
    albedo[p] = texel.y;
    depth[p] = texel.z;
    shadow[p] = texel.w;
    sum_b[p] = gbuffer_shade_byte(texel.x, 3);
    sum_rg[p] = (uint)sum_b[p] * 0x10001u;
  }
#pragma unroll 1
  for (int l = 0; l < light_count; ++l) {
    const int4 light = lights[l];
    const uint bit = 1u << l;
#pragma unroll
    for (int p = 0; p < TEXELS; ++p) {
      int d = max(0, gbuffer_shade_signed_byte(normal[p], 0) * light.x +
                         gbuffer_shade_signed_byte(normal[p], 1) * light.y +
                         gbuffer_shade_signed_byte(normal[p], 2) * light.z) >>
              7;
      d = (shadow[p] & bit) == 0 ? d : 0;
      const uint r = (uint)(d * gbuffer_shade_byte((uint)light.w, 0)) >> 5;
      const uint g = (uint)(d * gbuffer_shade_byte((uint)light.w, 1)) >> 5;
      sum_rg[p] = bitselect(sum_rg[p], (sum_rg[p] & 0xFFFFu) + r, 0xFFFFu);
      sum_rg[p] = bitselect(sum_rg[p], ((sum_rg[p] >> 16) + g) << 16, 0xFFFF0000u);
      sum_b[p] += (d * gbuffer_shade_byte((uint)light.w, 2)) >> 5;
    }
  }
  result += result_offset;
#pragma unroll
  for (int p = 0; p < TEXELS; ++p) {
    if (TEXEL(p) < count) {
      result[TEXEL(p)] = gbuffer_shade_finish(albedo[p], depth[p], (int)(sum_rg[p] & 0xFFFFu),
                                              (int)(sum_rg[p] >> 16), sum_b[p], fog);
    }
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// added_fields: as bit_fields, but what comes to both is put together and added at once. No sum
// exceeds 65247, so nothing is carried from one half to the other.
#ifdef CLCOOK_GBUFFER_SHADE_ADDED_FIELDS
__kernel GBUFFER_SHADE_GROUP void gbuffer_shade_added_fields(GBUFFER_SHADE_ARGUMENTS) {
  const ulong first = FIRST_TEXEL;
  uint normal[TEXELS], albedo[TEXELS], depth[TEXELS], shadow[TEXELS];
  uint sum_rg[TEXELS];
  int sum_b[TEXELS];
#pragma unroll
  for (int p = 0; p < TEXELS; ++p) {
    const uint4 texel = LOAD_TEXEL(p);
    normal[p] = texel.x;
    albedo[p] = texel.y;
    depth[p] = texel.z;
    shadow[p] = texel.w;
    sum_b[p] = gbuffer_shade_byte(texel.x, 3);
    sum_rg[p] = (uint)sum_b[p] * 0x10001u;
  }
#pragma unroll 1
  for (int l = 0; l < light_count; ++l) {
    const int4 light = lights[l];
    const uint bit = 1u << l;
#pragma unroll
    for (int p = 0; p < TEXELS; ++p) {
      int d = max(0, gbuffer_shade_signed_byte(normal[p], 0) * light.x +
                         gbuffer_shade_signed_byte(normal[p], 1) * light.y +
                         gbuffer_shade_signed_byte(normal[p], 2) * light.z) >>
              7;
      d = (shadow[p] & bit) == 0 ? d : 0;
      const uint r = (uint)(d * gbuffer_shade_byte((uint)light.w, 0)) >> 5;
      const uint g = (uint)(d * gbuffer_shade_byte((uint)light.w, 1)) >> 5;
      sum_rg[p] += r | g << 16;
      sum_b[p] += (d * gbuffer_shade_byte((uint)light.w, 2)) >> 5;
    }
  }
  result += result_offset;
#pragma unroll
  for (int p = 0; p < TEXELS; ++p) {
    if (TEXEL(p) < count) {
      result[TEXEL(p)] = gbuffer_shade_finish(albedo[p], depth[p], (int)(sum_rg[p] & 0xFFFFu),
                                              (int)(sum_rg[p] >> 16), sum_b[p], fog);
    }
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// parked: as packed, but what is used after the loop waits in local memory. Each item reads what it
// wrote itself, so no barrier is needed.
#ifdef CLCOOK_GBUFFER_SHADE_PARKED
__kernel GBUFFER_SHADE_GROUP void gbuffer_shade_parked(GBUFFER_SHADE_ARGUMENTS) {
  __local uint parked_albedo[TEXELS * GROUP];
  __local uint parked_depth[TEXELS * GROUP];
  const int lid = (int)get_local_id(0);
  const ulong first = FIRST_TEXEL;
  uint normal[TEXELS], shadow[TEXELS];
  int sum_r[TEXELS], sum_g[TEXELS], sum_b[TEXELS];
#pragma unroll
  for (int p = 0; p < TEXELS; ++p) {
    const uint4 texel = LOAD_TEXEL(p);
    normal[p] = texel.x;
    parked_albedo[p * GROUP + lid] = texel.y;
    parked_depth[p * GROUP + lid] = texel.z;
    shadow[p] = texel.w;
    sum_r[p] = sum_g[p] = sum_b[p] = gbuffer_shade_byte(texel.x, 3);
  }
  GBUFFER_SHADE_LIGHTS(normal, shadow)
  result += result_offset;
#pragma unroll
  for (int p = 0; p < TEXELS; ++p) {
    if (TEXEL(p) < count) {
      result[TEXEL(p)] =
          gbuffer_shade_finish(parked_albedo[p * GROUP + lid], parked_depth[p * GROUP + lid],
                               sum_r[p], sum_g[p], sum_b[p], fog);
    }
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// reloaded: as packed, but what is used after the loop is loaded after the loop.
#ifdef CLCOOK_GBUFFER_SHADE_RELOADED
__kernel GBUFFER_SHADE_GROUP void gbuffer_shade_reloaded(GBUFFER_SHADE_ARGUMENTS) {
  const ulong first = FIRST_TEXEL;
  uint normal[TEXELS], shadow[TEXELS];
  int sum_r[TEXELS], sum_g[TEXELS], sum_b[TEXELS];
#pragma unroll
  for (int p = 0; p < TEXELS; ++p) {
    normal[p] = LOAD_TEXEL(p).x;
    shadow[p] = LOAD_TEXEL(p).w;
    sum_r[p] = sum_g[p] = sum_b[p] = gbuffer_shade_byte(normal[p], 3);
  }
  GBUFFER_SHADE_LIGHTS(normal, shadow)
  result += result_offset;
#pragma unroll
  for (int p = 0; p < TEXELS; ++p) {
    if (TEXEL(p) < count) {
      result[TEXEL(p)] =
          gbuffer_shade_finish(LOAD_TEXEL(p).y, LOAD_TEXEL(p).z, sum_r[p], sum_g[p], sum_b[p], fog);
    }
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// short2: as packed, with 16-bit arithmetic: two texels in the halves of each register.
#ifdef CLCOOK_GBUFFER_SHADE_SHORT2
__kernel GBUFFER_SHADE_GROUP void gbuffer_shade_short2(GBUFFER_SHADE_ARGUMENTS) {
  const ulong first = FIRST_TEXEL;
  uint albedo[TEXELS], depth[TEXELS], shadow[TEXELS];
  short2 nx[TEXELS / 2], ny[TEXELS / 2], nz[TEXELS / 2];
  ushort2 sum_r[TEXELS / 2], sum_g[TEXELS / 2], sum_b[TEXELS / 2];
#pragma unroll
  for (int q = 0; q < TEXELS / 2; ++q) {
    const uint4 even = LOAD_TEXEL(2 * q);
    const uint4 odd = LOAD_TEXEL(2 * q + 1);
    nx[q] = (short2)((short)gbuffer_shade_signed_byte(even.x, 0),
                     (short)gbuffer_shade_signed_byte(odd.x, 0));
    ny[q] = (short2)((short)gbuffer_shade_signed_byte(even.x, 1),
                     (short)gbuffer_shade_signed_byte(odd.x, 1));
    nz[q] = (short2)((short)gbuffer_shade_signed_byte(even.x, 2),
                     (short)gbuffer_shade_signed_byte(odd.x, 2));
    sum_r[q] = sum_g[q] = sum_b[q] =
        (ushort2)((ushort)gbuffer_shade_byte(even.x, 3), (ushort)gbuffer_shade_byte(odd.x, 3));
    albedo[2 * q] = even.y;
    albedo[2 * q + 1] = odd.y;
    depth[2 * q] = even.z;
    depth[2 * q + 1] = odd.z;
    shadow[2 * q] = even.w;
    shadow[2 * q + 1] = odd.w;
  }
#pragma unroll 1
  for (int l = 0; l < light_count; ++l) {
    const int4 light = lights[l];
    const uint bit = 1u << l;
    const ushort2 r = (ushort2)((ushort)gbuffer_shade_byte((uint)light.w, 0));
    const ushort2 g = (ushort2)((ushort)gbuffer_shade_byte((uint)light.w, 1));
    const ushort2 b = (ushort2)((ushort)gbuffer_shade_byte((uint)light.w, 2));
#pragma unroll
    for (int q = 0; q < TEXELS / 2; ++q) {
      const short2 dot = nx[q] * (short2)((short)light.x) + ny[q] * (short2)((short)light.y) +
                         nz[q] * (short2)((short)light.z);
      ushort2 d = as_ushort2(max(dot, (short2)(0))) >> (ushort2)(7);
      d.x = (shadow[2 * q] & bit) == 0 ? d.x : (ushort)0;
      d.y = (shadow[2 * q + 1] & bit) == 0 ? d.y : (ushort)0;
      sum_r[q] += (d * r) >> (ushort2)(5);
      sum_g[q] += (d * g) >> (ushort2)(5);
      sum_b[q] += (d * b) >> (ushort2)(5);
    }
  }
  result += result_offset;
#pragma unroll
  for (int q = 0; q < TEXELS / 2; ++q) {
    if (TEXEL(2 * q) < count) {
      result[TEXEL(2 * q)] = gbuffer_shade_finish(albedo[2 * q], depth[2 * q], sum_r[q].x,
                                                  sum_g[q].x, sum_b[q].x, fog);
    }
    if (TEXEL(2 * q + 1) < count) {
      result[TEXEL(2 * q + 1)] = gbuffer_shade_finish(albedo[2 * q + 1], depth[2 * q + 1],
                                                      sum_r[q].y, sum_g[q].y, sum_b[q].y, fog);
    }
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// float2: as reloaded, in floats, two texels in a vector. A product enters a sum by one fma, and
// nothing is rounded down before the sum is complete. A light that does not reach starts at -1024,
// further below 0 than its d can rise, and fmax() makes it 0. Sums are kept over 4.
#ifdef CLCOOK_GBUFFER_SHADE_FLOAT2
__kernel GBUFFER_SHADE_GROUP void gbuffer_shade_float2(GBUFFER_SHADE_ARGUMENTS) {
  const ulong first = FIRST_TEXEL;
  uint shadow[TEXELS];
  float2 nx[TEXELS / 2], ny[TEXELS / 2], nz[TEXELS / 2];
  float2 sum_r[TEXELS / 2], sum_g[TEXELS / 2], sum_b[TEXELS / 2];
#pragma unroll
  for (int q = 0; q < TEXELS / 2; ++q) {
    const uint even = LOAD_TEXEL(2 * q).x;
    const uint odd = LOAD_TEXEL(2 * q + 1).x;
    nx[q] = (float2)(gbuffer_shade_signed_byte(even, 0), gbuffer_shade_signed_byte(odd, 0));
    ny[q] = (float2)(gbuffer_shade_signed_byte(even, 1), gbuffer_shade_signed_byte(odd, 1));
    nz[q] = (float2)(gbuffer_shade_signed_byte(even, 2), gbuffer_shade_signed_byte(odd, 2));
    sum_r[q] = sum_g[q] = sum_b[q] =
        0.25f * (float2)(gbuffer_shade_byte(even, 3), gbuffer_shade_byte(odd, 3));
    shadow[2 * q] = LOAD_TEXEL(2 * q).w;
    shadow[2 * q + 1] = LOAD_TEXEL(2 * q + 1).w;
  }
#pragma unroll 1
  for (int l = 0; l < light_count; ++l) {
    const float4 light = as_float4(lights[2 * l]);
    const float4 colour = as_float4(lights[2 * l + 1]);
    const uint bit = 1u << l;
#pragma unroll
    for (int q = 0; q < TEXELS / 2; ++q) {
      const float2 start = (float2)((shadow[2 * q] & bit) == 0 ? 0.0f : -1024.0f,
                                    (shadow[2 * q + 1] & bit) == 0 ? 0.0f : -1024.0f);
      const float2 d =
          fmax(fma(nx[q], light.x, fma(ny[q], light.y, fma(nz[q], light.z, start))), 0.0f);
      sum_r[q] = fma(d, colour.x, sum_r[q]);
      sum_g[q] = fma(d, colour.y, sum_g[q]);
      sum_b[q] = fma(d, colour.z, sum_b[q]);
    }
  }
  result += result_offset;
#pragma unroll
  for (int q = 0; q < TEXELS / 2; ++q) {
    const int2 r = convert_int2(4.0f * sum_r[q]);
    const int2 g = convert_int2(4.0f * sum_g[q]);
    const int2 b = convert_int2(4.0f * sum_b[q]);
    if (TEXEL(2 * q) < count) {
      result[TEXEL(2 * q)] =
          gbuffer_shade_finish(LOAD_TEXEL(2 * q).y, LOAD_TEXEL(2 * q).z, r.x, g.x, b.x, fog);
    }
    if (TEXEL(2 * q + 1) < count) {
      result[TEXEL(2 * q + 1)] = gbuffer_shade_finish(LOAD_TEXEL(2 * q + 1).y,
                                                      LOAD_TEXEL(2 * q + 1).z, r.y, g.y, b.y, fog);
    }
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// half2: as float2, in halves: both texels of a pair in one register and one instruction. Nothing is
// rounded on the way in; no sum over 4 exceeds 65504, and no product that is not 0 is below 2^-14.
#ifdef CLCOOK_GBUFFER_SHADE_HALF2

#include <clcook/tensor.clh>  // clcook_pack_halves(), clcook_low_half(), clcook_high_half()

// Two halves are the bits of a uint. These are a b + c, and that or 0 where it is negative. NVIDIA's
// OpenCL C has the operators of half2 but neither fma() nor fmax(), and takes vectors of halves that
// live throughout a loop apart and puts them together again.
#ifdef CLCOOK_TENSOR_PTX
static inline uint gbuffer_shade_fma(uint a, uint b, uint c) {
  uint sum;
  __asm__("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(c));
  return sum;
}
static inline uint gbuffer_shade_fma_or_0(uint a, uint b, uint c) {
  uint sum;
  __asm__("fma.rn.relu.f16x2 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(c));
  return sum;
}
#elif defined(cl_khr_fp16)
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
static inline uint gbuffer_shade_fma(uint a, uint b, uint c) {
  return as_uint(fma(as_half2(a), as_half2(b), as_half2(c)));
}
static inline uint gbuffer_shade_fma_or_0(uint a, uint b, uint c) {
  return as_uint(fmax(fma(as_half2(a), as_half2(b), as_half2(c)), (half2)(0)));
}
#else
// For tests on devices without such arithmetic.
static inline float2 gbuffer_shade_floats(uint a) {
  return (float2)(clcook_low_half(a), clcook_high_half(a));
}
static inline uint gbuffer_shade_fma(uint a, uint b, uint c) {
  const float2 sum = fma(gbuffer_shade_floats(a), gbuffer_shade_floats(b), gbuffer_shade_floats(c));
  return clcook_pack_halves(sum.x, sum.y);
}
static inline uint gbuffer_shade_fma_or_0(uint a, uint b, uint c) {
  const float2 sum = fma(gbuffer_shade_floats(a), gbuffer_shade_floats(b), gbuffer_shade_floats(c));
  return clcook_pack_halves(fmax(sum.x, 0.0f), fmax(sum.y, 0.0f));
}
#endif

__kernel GBUFFER_SHADE_GROUP void gbuffer_shade_half2(GBUFFER_SHADE_ARGUMENTS) {
  const ulong first = FIRST_TEXEL;
  uint shadow_low[TEXELS / 2], shadow_high[TEXELS / 2];
  uint nx[TEXELS / 2], ny[TEXELS / 2], nz[TEXELS / 2];
  uint sum_r[TEXELS / 2], sum_g[TEXELS / 2], sum_b[TEXELS / 2];
#pragma unroll
  for (int q = 0; q < TEXELS / 2; ++q) {
    const uint even = LOAD_TEXEL(2 * q).x;
    const uint odd = LOAD_TEXEL(2 * q + 1).x;
    nx[q] =
        clcook_pack_halves(gbuffer_shade_signed_byte(even, 0), gbuffer_shade_signed_byte(odd, 0));
    ny[q] =
        clcook_pack_halves(gbuffer_shade_signed_byte(even, 1), gbuffer_shade_signed_byte(odd, 1));
    nz[q] =
        clcook_pack_halves(gbuffer_shade_signed_byte(even, 2), gbuffer_shade_signed_byte(odd, 2));
    sum_r[q] = sum_g[q] = sum_b[q] =
        clcook_pack_halves(0.25f * gbuffer_shade_byte(even, 3), 0.25f * gbuffer_shade_byte(odd, 3));
    // Those of the lights 0 to 15 and of the others, of both texels in the halves of a word.
    const uint shadow_even = LOAD_TEXEL(2 * q).w;
    const uint shadow_odd = LOAD_TEXEL(2 * q + 1).w;
    shadow_low[q] = (shadow_even & 0xFFFFu) | shadow_odd << 16;
    shadow_high[q] = shadow_even >> 16 | (shadow_odd & 0xFFFF0000u);
  }
#pragma unroll 1
  for (int l = 0; l < light_count; ++l) {
    const uint4 light = as_uint4(lights[2 * l]);
    const uint4 colour = as_uint4(lights[2 * l + 1]);
#pragma unroll
    for (int q = 0; q < TEXELS / 2; ++q) {
      // 0xE400 is -1024.
      const uint shadow = (l < 16 ? shadow_low[q] : shadow_high[q]) >> (l & 15);
      const uint start = (shadow & 0x00010001u) * 0xE400u;
      const uint yz = gbuffer_shade_fma(ny[q], light.y, gbuffer_shade_fma(nz[q], light.z, start));
      const uint d = gbuffer_shade_fma_or_0(nx[q], light.x, yz);
      sum_r[q] = gbuffer_shade_fma(d, colour.x, sum_r[q]);
      sum_g[q] = gbuffer_shade_fma(d, colour.y, sum_g[q]);
      sum_b[q] = gbuffer_shade_fma(d, colour.z, sum_b[q]);
    }
  }
  result += result_offset;
#pragma unroll
  for (int q = 0; q < TEXELS / 2; ++q) {
    if (TEXEL(2 * q) < count) {
      result[TEXEL(2 * q)] = gbuffer_shade_finish(
          LOAD_TEXEL(2 * q).y, LOAD_TEXEL(2 * q).z, (int)(4.0f * clcook_low_half(sum_r[q])),
          (int)(4.0f * clcook_low_half(sum_g[q])), (int)(4.0f * clcook_low_half(sum_b[q])), fog);
    }
    if (TEXEL(2 * q + 1) < count) {
      result[TEXEL(2 * q + 1)] = gbuffer_shade_finish(
          LOAD_TEXEL(2 * q + 1).y, LOAD_TEXEL(2 * q + 1).z,
          (int)(4.0f * clcook_high_half(sum_r[q])), (int)(4.0f * clcook_high_half(sum_g[q])),
          (int)(4.0f * clcook_high_half(sum_b[q])), fog);
    }
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// cpu_lanes: for CPUs, after short2. One work-item per strip, 32 texels at a time: all arithmetic
// is on vectors of 32 elements of 16 bits, the halves of the texels' words.
#ifdef CLCOOK_GBUFFER_SHADE_CPU_LANES
#include <clcook/streaming_store.clh>

#define LANES 32

// OpenCL C has vectors of at most 16; the compilers for CPUs, which are clang, have these too.
typedef short short32 __attribute__((ext_vector_type(LANES)));
typedef ushort ushort32 __attribute__((ext_vector_type(LANES)));
typedef uint uint32 __attribute__((ext_vector_type(LANES)));
#define AS_SHORT32(v) __builtin_astype(v, short32)
#define AS_USHORT32(v) __builtin_astype(v, ushort32)
#define AS_UINT16(v) __builtin_astype(v, uint16)
#define AS_ULONG8(v) __builtin_astype(v, ulong8)

// Elements of a and b in turn, of the lower and of the upper half of each 128 bits: one instruction
// of x86. Elements of 16, of 32 and of 64 bits. They are named one by one, since Oclgrind 21.10
// takes what comes from a shuffle for uninitialised.
#define BOTH(a, b, i) (a)[i], (b)[i]
#define TURN2(a, b, i) BOTH(a, b, i), BOTH(a, b, i + 1)
#define TURN4(a, b, i) TURN2(a, b, i), TURN2(a, b, i + 2)
#define LOW_16(a, b) (ushort32)(TURN4(a, b, 0), TURN4(a, b, 8), TURN4(a, b, 16), TURN4(a, b, 24))
#define HIGH_16(a, b) (ushort32)(TURN4(a, b, 4), TURN4(a, b, 12), TURN4(a, b, 20), TURN4(a, b, 28))
#define LOW_32(a, b) (uint16)(TURN2(a, b, 0), TURN2(a, b, 4), TURN2(a, b, 8), TURN2(a, b, 12))
#define HIGH_32(a, b) (uint16)(TURN2(a, b, 2), TURN2(a, b, 6), TURN2(a, b, 10), TURN2(a, b, 14))
#define LOW_64(a, b) (ulong8)(BOTH(a, b, 0), BOTH(a, b, 2), BOTH(a, b, 4), BOTH(a, b, 6))
#define HIGH_64(a, b) (ulong8)(BOTH(a, b, 1), BOTH(a, b, 3), BOTH(a, b, 5), BOTH(a, b, 7))
// The lower halves of words of which LOW_16 and HIGH_16 made two vectors: the way back.
#define EVEN4(a, i) (a)[i], (a)[i + 2], (a)[i + 4], (a)[i + 6]
#define FIRST_16(a, b)                                                                       \
  (ushort32)(EVEN4(a, 0), EVEN4(b, 0), EVEN4(a, 8), EVEN4(b, 8), EVEN4(a, 16), EVEN4(b, 16), \
             EVEN4(a, 24), EVEN4(b, 24))

// From 32 texels of 8 halves of words to the 8 halves of 32 texels. A texel has 128 bits, which
// nothing leaves: texel 4 m + j becomes element 8 j + m.
static inline void gbuffer_shade_transpose(const ushort32* texels, ushort32* halves) {
  ulong8 quarters[2][4];
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    const ushort32* t = texels + 4 * k;
    const uint16 low01 = AS_UINT16(LOW_16(t[0], t[1]));
    const uint16 high01 = AS_UINT16(HIGH_16(t[0], t[1]));
    const uint16 low23 = AS_UINT16(LOW_16(t[2], t[3]));
    const uint16 high23 = AS_UINT16(HIGH_16(t[2], t[3]));
    quarters[k][0] = AS_ULONG8(LOW_32(low01, low23));
    quarters[k][1] = AS_ULONG8(HIGH_32(low01, low23));
    quarters[k][2] = AS_ULONG8(LOW_32(high01, high23));
    quarters[k][3] = AS_ULONG8(HIGH_32(high01, high23));
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    halves[2 * k] = AS_USHORT32(LOW_64(quarters[0][k], quarters[1][k]));
    halves[2 * k + 1] = AS_USHORT32(HIGH_64(quarters[0][k], quarters[1][k]));
  }
}

// 16 bits in both halves of a word, and a word in all lanes.
static inline uint gbuffer_shade_twice(int value) { return ((uint)value & 0xFFFFu) * 0x10001u; }

static inline ushort32 gbuffer_shade_all(uint word) { return AS_USHORT32((uint16)(word)); }

// (a b) >> 16: one instruction.
static inline ushort32 gbuffer_shade_mul_hi(ushort32 a, ushort32 b) {
  return __builtin_convertvector(
      (__builtin_convertvector(a, uint32) * __builtin_convertvector(b, uint32)) >> 16, ushort32);
}

static inline uint16 gbuffer_shade_fog16(uint16 depth) {
  const float16 z = as_float16(depth & 0x7FFFFFFFu);
  return convert_uint16((z < 1.0f ? z : 1.0f) * 256.0f);
}

static inline ushort32 gbuffer_shade_channel(ushort32 albedo, ushort32 sum, short32 unlit,
                                             ushort32 fog, uint fog_channel) {
  const ushort32 most = (ushort32)(255);
  const ushort32 lit = gbuffer_shade_mul_hi(albedo << 6, sum);
  const ushort32 colour = unlit ? albedo : lit < most ? lit : most;
  return (colour * ((ushort32)(256) - fog) + gbuffer_shade_all(fog_channel) * fog) >> 8;
}

// Back into the order of memory.
static inline uint16 gbuffer_shade_in_order(uint16 v) {
  return (uint16)(v.s0, v.s4, v.s8, v.sc, v.s1, v.s5, v.s9, v.sd, v.s2, v.s6, v.sa, v.se, v.s3,
                  v.s7, v.sb, v.sf);
}

__kernel GBUFFER_SHADE_GROUP void gbuffer_shade_cpu_lanes(GBUFFER_SHADE_ARGUMENTS) {
  uint x[32], y[32], z[32], red[32], green[32], blue[32];
  for (int l = 0; l < light_count; ++l) {
    const int4 light = lights[l];
    x[l] = gbuffer_shade_twice(light.x);
    y[l] = gbuffer_shade_twice(light.y);
    z[l] = gbuffer_shade_twice(light.z);
    red[l] = gbuffer_shade_twice(gbuffer_shade_byte((uint)light.w, 0) << 3);
    green[l] = gbuffer_shade_twice(gbuffer_shade_byte((uint)light.w, 1) << 3);
    blue[l] = gbuffer_shade_twice(gbuffer_shade_byte((uint)light.w, 2) << 3);
  }
  const uint fog_red = gbuffer_shade_twice(gbuffer_shade_byte(fog, 0));
  const uint fog_green = gbuffer_shade_twice(gbuffer_shade_byte(fog, 1));
  const uint fog_blue = gbuffer_shade_twice(gbuffer_shade_byte(fog, 2));
  const ushort32 zero = (ushort32)(0);
  const ulong end = min((get_global_id(0) + 1) * TEXELS, count);
  gbuffer += gbuffer_offset;
  result += result_offset;
  const int aligned = ((uintptr_t)result & 63) == 0;

  for (ulong i = get_global_id(0) * TEXELS; i < end; i += LANES) {
    const ulong texels = min(end - i, (ulong)LANES);
    ushort32 q[8];
    if (texels == LANES) {
#pragma unroll
      for (int k = 0; k < 8; ++k)
        q[k] = AS_USHORT32(vload16(k, (__global const uint*)(gbuffer + i)));
    } else {
      uint4 last[LANES];
      for (ulong k = 0; k < LANES; ++k) last[k] = gbuffer[i + min(k, texels - 1)];
      for (int k = 0; k < 8; ++k) q[k] = AS_USHORT32(vload16(k, (const uint*)last));
    }
    ushort32 halves[8];
    gbuffer_shade_transpose(q, halves);

    const short32 nx = AS_SHORT32(halves[0] << 8) >> 8;
    const short32 ny = AS_SHORT32(halves[0]) >> 8;
    const short32 nz = AS_SHORT32(halves[1] << 8) >> 8;
    ushort32 sum_r = halves[1] >> 8;
    ushort32 sum_g = sum_r;
    ushort32 sum_b = sum_r;
    for (int part = 0; part < 2; ++part) {
      const ushort32 shadow = part == 0 ? halves[6] : halves[7];
      uint bit = gbuffer_shade_twice(1);
#pragma unroll 1
      for (int l = 16 * part; l < min(light_count, 16 * part + 16); ++l) {
        const short32 dot = nx * AS_SHORT32(gbuffer_shade_all(x[l])) +
                            ny * AS_SHORT32(gbuffer_shade_all(y[l])) +
                            nz * AS_SHORT32(gbuffer_shade_all(z[l]));
        // 256 d; the colour is there 8 times as large, and the product's upper half is wanted.
        ushort32 d = AS_USHORT32(dot > (short32)(0) ? dot : (short32)(0));
        d = (d << 1) & (ushort32)(0xFF00);
        d = (shadow & gbuffer_shade_all(bit)) == zero ? d : zero;
        sum_r += gbuffer_shade_mul_hi(d, gbuffer_shade_all(red[l]));
        sum_g += gbuffer_shade_mul_hi(d, gbuffer_shade_all(green[l]));
        sum_b += gbuffer_shade_mul_hi(d, gbuffer_shade_all(blue[l]));
        bit <<= 1;
      }
    }

    // The whole parts of the fog, 0 to 256, are words: both vectors of them make one of halves.
    const uint16 far0 = gbuffer_shade_fog16(AS_UINT16(LOW_16(halves[4], halves[5])));
    const uint16 far1 = gbuffer_shade_fog16(AS_UINT16(HIGH_16(halves[4], halves[5])));
    const ushort32 far = FIRST_16(AS_USHORT32(far0), AS_USHORT32(far1));
    const short32 unlit = AS_SHORT32(halves[5]) < (short32)(0);
    const ushort32 byte = (ushort32)(0xFF);
    const ushort32 r = gbuffer_shade_channel(halves[2] & byte, sum_r, unlit, far, fog_red);
    const ushort32 g = gbuffer_shade_channel(halves[2] >> 8, sum_g, unlit, far, fog_green);
    const ushort32 b = gbuffer_shade_channel(halves[3] & byte, sum_b, unlit, far, fog_blue);
    const ushort32 rg = r | g << 8;
    const ushort32 ba = b | (ushort32)(0xFF00);
    const uint16 first = gbuffer_shade_in_order(AS_UINT16(LOW_16(rg, ba)));
    const uint16 second = gbuffer_shade_in_order(AS_UINT16(HIGH_16(rg, ba)));
    if (texels < LANES) {
      uint last[LANES];
      vstore16(first, 0, last);
      vstore16(second, 1, last);
      for (ulong k = 0; k < texels; ++k) result[i + k] = last[k];
    } else if (aligned) {
      CLCOOK_STREAM(first, (__global uint16*)(result + i));
      CLCOOK_STREAM(second, (__global uint16*)(result + i + 16));
    } else {
      vstore16(first, 0, result + i);
      vstore16(second, 1, result + i);
    }
  }
}
#endif
