// fails: shape
// says: steps per
// clcook course, exercise 1: two calls in a branch
// clcook: local = 64
// clcook: outputs = 1
//
// out[i] is the share of light that crosses the surface of a glass. A ray whose cosine has its sign
// bit set comes from inside: the two media change places. One work-item makes one result.
#include <clcook/fresnel.clh>

__kernel void transmittance(__global const float2* outside, __global const float2* inside,
                            __global const float* cosine, __global float* out, int count,
                            float2 band, int points) {
  const int i = (int)get_global_id(0);
  if (i < count) {
    const float c = cosine[i];
    float share = clcook_fresnel_transmittance(outside[i], inside[i], fabs(c), band, points);
    if (signbit(c)) {
      share = clcook_fresnel_transmittance(inside[i], outside[i], fabs(c), band, points);
    }
    out[i] = share;
  }
}
