// y[i] = f(a[i], b[i], |x[i]|), or f(b[i], a[i], |x[i]|) where the sign of x[i] is set: every
// variant of the recipe argument_swap.
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
// one call. Whoever needs them in their old places afterwards, in a loop for one, does not have
// them.
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
