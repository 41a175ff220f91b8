// y[i] = f(a[i], b[i], |x[i]|), or f(b[i], a[i], |x[i]|) where the sign of x[i] is set: every
// variant of the recipe argument_swap. argument_swap/steps.cl has them with the call in a loop.
//
// f is expensive. Ours is the transmittance of a boundary, a and b the media outside and inside, x
// the cosine between ray and normal, negative where the ray leaves. With
// CLCOOK_ARGUMENT_SWAP_OWN_FUNCTION the text before this one has defined
//   float clcook_swap_function(float2 a, float2 b, float x, float2 parameters, int cost)
// (static inline or not), and that is f.
//
// The host compiles one variant per program: -DCLCOOK_ARGUMENT_SWAP_ONLY
// -DCLCOOK_ARGUMENT_SWAP_<VARIANT>. Offsets are in items. The global size is padded to whole
// work-groups, so every kernel guards.

#ifndef CLCOOK_ARGUMENT_SWAP_ONLY
#define CLCOOK_ARGUMENT_SWAP_TWO_CALLS
#define CLCOOK_ARGUMENT_SWAP_SWAP_IN_PLACE
#define CLCOOK_ARGUMENT_SWAP_SELECT
#define CLCOOK_ARGUMENT_SWAP_CPU_LANES
#endif

#include <clcook/fresnel.clh>
#include <clcook/select.clh>

#ifndef CLCOOK_ARGUMENT_SWAP_OWN_FUNCTION
static inline float clcook_swap_function(float2 a, float2 b, float x, float2 parameters, int cost) {
  return clcook_fresnel_transmittance(a, b, x, parameters, cost);
}
#endif

// ------------------------------------------------------------------------------------------------
// two_calls: a call in each branch. Work-items in lock-step that disagree run both, one after the
// other.
#ifdef CLCOOK_ARGUMENT_SWAP_TWO_CALLS
__kernel void argument_swap_two_calls(__global const float2* restrict a, ulong a_offset,
                                      __global const float2* restrict b, ulong b_offset,
                                      __global const float* restrict x, ulong x_offset,
                                      __global float* restrict y, ulong y_offset, ulong count,
                                      float2 parameters, int cost) {
  const ulong i = get_global_id(0);
  if (i < count) {
    const float2 outside = a[a_offset + i];
    const float2 inside = b[b_offset + i];
    const float signed_x = x[x_offset + i];
    float value;
    if (signbit(signed_x)) {
      value = clcook_swap_function(inside, outside, fabs(signed_x), parameters, cost);
    } else {
      value = clcook_swap_function(outside, inside, fabs(signed_x), parameters, cost);
    }
    y[y_offset + i] = value;
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// swap_in_place: the article's fix. The operands are exchanged under the condition, then there is
// one call. Whoever needs them in their old places afterwards does not have them.
#ifdef CLCOOK_ARGUMENT_SWAP_SWAP_IN_PLACE
__kernel void argument_swap_swap_in_place(__global const float2* restrict a, ulong a_offset,
                                          __global const float2* restrict b, ulong b_offset,
                                          __global const float* restrict x, ulong x_offset,
                                          __global float* restrict y, ulong y_offset, ulong count,
                                          float2 parameters, int cost) {
  const ulong i = get_global_id(0);
  if (i < count) {
    float2 from = a[a_offset + i];
    float2 to = b[b_offset + i];
    const float signed_x = x[x_offset + i];
    if (signbit(signed_x)) {
      const float2 t = from;
      from = to;
      to = t;
    }
    y[y_offset + i] = clcook_swap_function(from, to, fabs(signed_x), parameters, cost);
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// select: the operands are chosen into fresh variables; nothing is changed.
#ifdef CLCOOK_ARGUMENT_SWAP_SELECT
__kernel void argument_swap_select(__global const float2* restrict a, ulong a_offset,
                                   __global const float2* restrict b, ulong b_offset,
                                   __global const float* restrict x, ulong x_offset,
                                   __global float* restrict y, ulong y_offset, ulong count,
                                   float2 parameters, int cost) {
  const ulong i = get_global_id(0);
  if (i < count) {
    const float2 outside = a[a_offset + i];
    const float2 inside = b[b_offset + i];
    const float signed_x = x[x_offset + i];
    const int leaves = signbit(signed_x);
    const float2 from = clcook_select_float2(leaves, inside, outside);
    const float2 to = clcook_select_float2(leaves, outside, inside);
    y[y_offset + i] = clcook_swap_function(from, to, fabs(signed_x), parameters, cost);
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// cpu_lanes: for CPUs, after select, with our function alone. One work-item is a strip of items, 16
// at a time in the elements of vectors: compilers for CPUs make no vectors of work-items whose
// function has a loop.
#ifdef CLCOOK_ARGUMENT_SWAP_CPU_LANES
#ifndef CLCOOK_ARGUMENT_SWAP_STRIP
#define CLCOOK_ARGUMENT_SWAP_STRIP 1024
#endif
#define STRIP CLCOOK_ARGUMENT_SWAP_STRIP
#define LANES 16

CLCOOK_FRESNEL_OF(argument_swap_fresnel16, float16)

// The first and the second float of 16 pairs. The elements are named one by one, since Oclgrind
// 21.10 takes what comes from a shuffle for uninitialised.
#define FIRST(p, q)                                                                             \
  (float16)(p.s0, p.s2, p.s4, p.s6, p.s8, p.sa, p.sc, p.se, q.s0, q.s2, q.s4, q.s6, q.s8, q.sa, \
            q.sc, q.se)
#define SECOND(p, q)                                                                            \
  (float16)(p.s1, p.s3, p.s5, p.s7, p.s9, p.sb, p.sd, p.sf, q.s1, q.s3, q.s5, q.s7, q.s9, q.sb, \
            q.sd, q.sf)

__kernel void argument_swap_cpu_lanes(__global const float2* restrict a, ulong a_offset,
                                      __global const float2* restrict b, ulong b_offset,
                                      __global const float* restrict x, ulong x_offset,
                                      __global float* restrict y, ulong y_offset, ulong count,
                                      float2 parameters, int cost) {
  const ulong end = min((get_global_id(0) + 1) * STRIP, count);
  a += a_offset;
  b += b_offset;
  x += x_offset;
  y += y_offset;
  for (ulong i = get_global_id(0) * STRIP; i < end; i += LANES) {
    const ulong items = min(end - i, (ulong)LANES);
    float16 outside[2], inside[2], signed_x;
    if (items == LANES) {
      for (int k = 0; k < 2; ++k) {
        outside[k] = vload16(k, (__global const float*)(a + i));
        inside[k] = vload16(k, (__global const float*)(b + i));
      }
      signed_x = vload16(0, x + i);
    } else {
      // The last item again and again.
      float2 last_a[LANES], last_b[LANES];
      float last_x[LANES];
      for (ulong k = 0; k < LANES; ++k) {
        const ulong from = i + min(k, items - 1);
        last_a[k] = a[from];
        last_b[k] = b[from];
        last_x[k] = x[from];
      }
      for (int k = 0; k < 2; ++k) {
        outside[k] = vload16(k, (const float*)last_a);
        inside[k] = vload16(k, (const float*)last_b);
      }
      signed_x = vload16(0, last_x);
    }
    const int16 leaves = as_int16(signed_x) < 0;
    const float16 outside_a = FIRST(outside[0], outside[1]);
    const float16 outside_b = SECOND(outside[0], outside[1]);
    const float16 inside_a = FIRST(inside[0], inside[1]);
    const float16 inside_b = SECOND(inside[0], inside[1]);
    const float16 value = argument_swap_fresnel16(
        leaves ? inside_a : outside_a, leaves ? inside_b : outside_b, leaves ? outside_a : inside_a,
        leaves ? outside_b : inside_b, fabs(signed_x), parameters, cost);
    if (items == LANES) {
      vstore16(value, 0, y + i);
    } else {
      float result[LANES];
      vstore16(value, 0, result);
      for (ulong k = 0; k < items; ++k) y[i + k] = result[k];
    }
  }
}
#endif
