// fails: right
// says: particle
// clcook course, exercise 11: many passes in local memory
// clcook: local = 32
static void project(float4* a, float4* b, float pull, float stiffness) {
  const float3 d = (*a).xyz - (*b).xyz;
  const float w = (*a).w + (*b).w;
  const float dd = fma(d.z, d.z, fma(d.y, d.y, d.x * d.x));
  const float x = dd * (w * w);
  float q = as_float(0x5F3759DF - (as_int(x) >> 1));
  q = q * fma(x * -0.5f, q * q, 1.5f);
  const float e = fma(x * -q, q, 1.0f);
  q = fma(q * e, fma(e, 0.375f, 0.5f), q);
  const float c = q * fma(dd * (stiffness * w), q, -pull);
  (*a).xyz = fma((float3)(-((*a).w * c)), d, (*a).xyz);
  (*b).xyz = fma((float3)((*b).w * c), d, (*b).xyz);
}

__kernel void solve(__global const float4* src, __global float4* dst,
                    __global const uint4* constraints, __global const uint* first, int colours,
                    int iterations, int particles) {
  __local float4 island[PARTICLES];
  const int lid = (int)get_local_id(0);
  const int size = (int)get_local_size(0);
  src += get_group_id(0) * particles;
  dst += get_group_id(0) * particles;
  for (int i = lid; i < particles; i += size) island[i] = src[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int iteration = 0; iteration < iterations; ++iteration) {
    for (int colour = 0; colour < colours; ++colour) {
      for (int c = (int)first[colour] + lid; c < (int)first[colour + 1]; c += size) {
        const uint4 one = constraints[c];
        float4 a = island[one.x];
        float4 b = island[one.y];
        project(&a, &b, as_float(one.z), as_float(one.w));
        island[one.x] = a;
        island[one.y] = b;
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
  if (lid < particles) dst[lid] = island[lid];
}
