// bug: loses sums in registers between two loops of a kernel with barriers
// workaround: lib/clcook/line_blur.hpp: the variant coalesced is refused
// items: 64
// expect: 378 378 378 378
// fails: PoCL 5.
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void reproduce(__global int* out) {
  __local float4 tile[128];
  const int lid = (int)get_local_id(0);
  float4 sum[4] = {(float4)(0.0f), (float4)(0.0f), (float4)(0.0f), (float4)(0.0f)};
  for (int first = 0; first < 28; first += 14) {
    for (int x = lid; x < 128; x += 64) tile[x] = (float4)(1.0f);
    barrier(CLK_LOCAL_MEM_FENCE);
    const int count = min(14, 28 - first + (int)get_group_id(0));
    int t = 0;
    for (; t + 8 <= count; t += 8) {
#pragma unroll
      for (int u = 0; u < 8; ++u)
#pragma unroll
        for (int j = 0; j < 4; ++j)
          sum[j] = fma((float4)(first + t + u), tile[lid + j + u], sum[j]);
    }
    for (; t < count; ++t)
#pragma unroll
      for (int j = 0; j < 4; ++j) sum[j] = fma((float4)(first + t), tile[lid + j], sum[j]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int j = 0; j < 4; ++j) out[lid * 4 + j] = (int)sum[j].w;
}
