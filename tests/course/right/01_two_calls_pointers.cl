// clcook course, exercise 1: two calls in a branch
// clcook: local = 32
// Other pointers instead of other values, and two results per work-item.
// clcook: outputs = 2
#include <clcook/fresnel.clh>

__kernel void transmittance(__global const float2* outside, __global const float2* inside,
                            __global const float* cosine, __global float* out, int count,
                            float2 band, int points) {
  for (int k = 0; k < 2; ++k) {
    const int i = (int)get_global_id(0) + k * (int)get_global_size(0);
    if (i < count) {
      const float c = cosine[i];
      __global const float2* from = signbit(c) ? inside : outside;
      __global const float2* to = signbit(c) ? outside : inside;
      out[i] = clcook_fresnel_transmittance(from[i], to[i], fabs(c), band, points);
    }
  }
}
