// fails: right
// says: at out[
// clcook course, exercise 1: two calls in a branch
// clcook: local = 128
#include <clcook/fresnel.clh>
#include <clcook/select.clh>

__kernel void transmittance(__global const float2* outside, __global const float2* inside,
                            __global const float* cosine, __global float* out, int count,
                            float2 band, int points) {
  const int i = (int)get_global_id(0);
  if (i < count) {
    const float c = cosine[i];
    const int leaves = signbit(c);
    const float2 a = outside[i];
    const float2 b = inside[i];
    const float2 from = a;
    const float2 to = b;
    out[i] = clcook_fresnel_transmittance(from, to, fabs(c), band, points);
  }
}
