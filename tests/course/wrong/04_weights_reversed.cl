// fails: right
// says: pixel x =
// clcook course, exercise 4: the line in local memory
// clcook: local = 128 1
// clcook: outputs = 1 1
#define GROUP 128
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void blur_lines(
    __global const float4* src, __global float4* dst, int width, int height,
    __global const float* weights) {
  __local float4 line[GROUP + 2 * RADIUS];
  const int lid = (int)get_local_id(0);
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  const int first = (int)get_group_id(0) * GROUP - RADIUS;
  for (int cell = lid; cell < GROUP + 2 * RADIUS; cell += GROUP)
    line[cell] = src[y * width + clamp(first + cell, 0, width - 1)];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (x < width) {
    float4 sum = (float4)(0.0f);
    for (int k = 0; k <= 2 * RADIUS; ++k)
      sum = fma((float4)(weights[2 * RADIUS - k]), line[lid + k], sum);
    dst[x * height + y] = sum;
  }
}
