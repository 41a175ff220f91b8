// y[i] = the sum over k of f(a[i], b[i], |x|) with x = x[k * count + i], 0 <= k < steps, or of
// f(b[i], a[i], |x|) where the sign of that x is set: ../argument_swap.cl with the call inside a
// loop, each variant under its name there. Work-items decide anew in each step, so a wave whose
// lanes disagree pays in each step.
//
// f, the definitions and the arguments are those of ../argument_swap.cl; steps is the number of
// values of x per item, at least 1. The host compiles one variant per program:
// -DCLCOOK_ARGUMENT_SWAP_ONLY -DCLCOOK_ARGUMENT_SWAP_<VARIANT>_STEPS. The global size is padded to
// whole work-groups, so every kernel guards.

#ifndef CLCOOK_ARGUMENT_SWAP_ONLY
#define CLCOOK_ARGUMENT_SWAP_TWO_CALLS_STEPS
#define CLCOOK_ARGUMENT_SWAP_SWAP_IN_PLACE_STEPS
#define CLCOOK_ARGUMENT_SWAP_SELECT_STEPS
#define CLCOOK_ARGUMENT_SWAP_CPU_LANES_STEPS
#endif

#include <clcook/fresnel.clh>
#include <clcook/select.clh>

#ifndef CLCOOK_ARGUMENT_SWAP_OWN_FUNCTION
static inline float clcook_swap_function(float2 a, float2 b, float x, float2 parameters, int cost) {
  return clcook_fresnel_transmittance(a, b, x, parameters, cost);
}
#endif

// ------------------------------------------------------------------------------------------------
// two_calls: a call in each branch.
#ifdef CLCOOK_ARGUMENT_SWAP_TWO_CALLS_STEPS
__kernel void argument_swap_two_calls_steps(__global const float2* restrict a, ulong a_offset,
                                            __global const float2* restrict b, ulong b_offset,
                                            __global const float* restrict x, ulong x_offset,
                                            __global float* restrict y, ulong y_offset, ulong count,
                                            float2 parameters, int cost, int steps) {
  const ulong i = get_global_id(0);
  if (i < count) {
    const float2 outside = a[a_offset + i];
    const float2 inside = b[b_offset + i];
    float sum = 0.0f;
    for (int step = 0; step < steps; ++step) {
      const float signed_x = x[x_offset + step * count + i];
      if (signbit(signed_x)) {
        sum += clcook_swap_function(inside, outside, fabs(signed_x), parameters, cost);
      } else {
        sum += clcook_swap_function(outside, inside, fabs(signed_x), parameters, cost);
      }
    }
    y[y_offset + i] = sum;
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// swap_in_place: the operands lie as the step before has left them. So it exchanges them where this
// step wants them otherwise, and not wherever the sign is set.
#ifdef CLCOOK_ARGUMENT_SWAP_SWAP_IN_PLACE_STEPS
__kernel void argument_swap_swap_in_place_steps(__global const float2* restrict a, ulong a_offset,
                                                __global const float2* restrict b, ulong b_offset,
                                                __global const float* restrict x, ulong x_offset,
                                                __global float* restrict y, ulong y_offset,
                                                ulong count, float2 parameters, int cost,
                                                int steps) {
  const ulong i = get_global_id(0);
  if (i < count) {
    float2 from = a[a_offset + i];
    float2 to = b[b_offset + i];
    int exchanged = 0;
    float sum = 0.0f;
    for (int step = 0; step < steps; ++step) {
      const float signed_x = x[x_offset + step * count + i];
      const int leaves = signbit(signed_x);
      if (leaves != exchanged) {
        const float2 t = from;
        from = to;
        to = t;
        exchanged = leaves;
      }
      sum += clcook_swap_function(from, to, fabs(signed_x), parameters, cost);
    }
    y[y_offset + i] = sum;
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// select: each step chooses from operands that stay where they are.
#ifdef CLCOOK_ARGUMENT_SWAP_SELECT_STEPS
__kernel void argument_swap_select_steps(__global const float2* restrict a, ulong a_offset,
                                         __global const float2* restrict b, ulong b_offset,
                                         __global const float* restrict x, ulong x_offset,
                                         __global float* restrict y, ulong y_offset, ulong count,
                                         float2 parameters, int cost, int steps) {
  const ulong i = get_global_id(0);
  if (i < count) {
    const float2 outside = a[a_offset + i];
    const float2 inside = b[b_offset + i];
    float sum = 0.0f;
    for (int step = 0; step < steps; ++step) {
      const float signed_x = x[x_offset + step * count + i];
      const int leaves = signbit(signed_x);
      const float2 from = clcook_select_float2(leaves, inside, outside);
      const float2 to = clcook_select_float2(leaves, outside, inside);
      sum += clcook_swap_function(from, to, fabs(signed_x), parameters, cost);
    }
    y[y_offset + i] = sum;
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// cpu_lanes: for CPUs, select on 16 items at a time; see ../argument_swap.cl.
#ifdef CLCOOK_ARGUMENT_SWAP_CPU_LANES_STEPS
#ifndef CLCOOK_ARGUMENT_SWAP_STRIP
#define CLCOOK_ARGUMENT_SWAP_STRIP 1024
#endif
#define STRIP CLCOOK_ARGUMENT_SWAP_STRIP
#define LANES 16

CLCOOK_FRESNEL_OF(argument_swap_fresnel16, float16)

// 16 values, `stride` apart. Only `items` of them are there; the last one stands for the rest.
static inline float16 argument_swap_lanes(__global const float* from, ulong stride, ulong items) {
  if (stride == 1 && items == LANES) return vload16(0, from);
  float values[LANES];
  for (ulong k = 0; k < LANES; ++k) values[k] = from[min(k, items - 1) * stride];
  return vload16(0, values);
}

__kernel void argument_swap_cpu_lanes_steps(__global const float2* restrict a, ulong a_offset,
                                            __global const float2* restrict b, ulong b_offset,
                                            __global const float* restrict x, ulong x_offset,
                                            __global float* restrict y, ulong y_offset, ulong count,
                                            float2 parameters, int cost, int steps) {
  const ulong end = min((get_global_id(0) + 1) * STRIP, count);
  for (ulong i = get_global_id(0) * STRIP; i < end; i += LANES) {
    const ulong items = min(end - i, (ulong)LANES);
    __global const float* const outside = (__global const float*)(a + a_offset + i);
    __global const float* const inside = (__global const float*)(b + b_offset + i);
    const float16 outside_a = argument_swap_lanes(outside, 2, items);
    const float16 outside_b = argument_swap_lanes(outside + 1, 2, items);
    const float16 inside_a = argument_swap_lanes(inside, 2, items);
    const float16 inside_b = argument_swap_lanes(inside + 1, 2, items);
    float16 sum = (float16)(0.0f);
    for (int step = 0; step < steps; ++step) {
      const float16 signed_x = argument_swap_lanes(x + x_offset + step * count + i, 1, items);
      const int16 leaves = as_int16(signed_x) < 0;
      sum += argument_swap_fresnel16(leaves ? inside_a : outside_a, leaves ? inside_b : outside_b,
                                     leaves ? outside_a : inside_a, leaves ? outside_b : inside_b,
                                     fabs(signed_x), parameters, cost);
    }
    if (items == LANES) {
      vstore16(sum, 0, y + y_offset + i);
    } else {
      float result[LANES];
      vstore16(sum, 0, result);
      for (ulong k = 0; k < items; ++k) y[y_offset + i + k] = result[k];
    }
  }
}
#endif
