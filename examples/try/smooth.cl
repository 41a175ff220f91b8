// Each value becomes the weighted sum of itself and its `radius` neighbours on either side; beyond
// the ends the first and the last value go on.

__kernel void smooth_plain(__global const float* in, __global float* out,
                           __global const float* weights, int radius, int n) {
  const int at = (int)get_global_id(0);
  if (at >= n) return;
  float sum = 0.0f;
  for (int k = -radius; k <= radius; ++k)
    sum = fma(weights[k + radius], in[clamp(at + k, 0, n - 1)], sum);
  out[at] = sum;
}

// The values that a work-group needs are loaded once, into local memory.
__kernel void smooth_tiled(__global const float* in, __global float* out,
                           __global const float* weights, int radius, int n, __local float* tile) {
  const int at = (int)get_global_id(0);
  const int lane = (int)get_local_id(0);
  const int group = (int)get_local_size(0);
  const int first = (int)get_group_id(0) * group - radius;
  for (int k = lane; k < group + 2 * radius; k += group) tile[k] = in[clamp(first + k, 0, n - 1)];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (at >= n) return;
  float sum = 0.0f;
  for (int k = 0; k <= 2 * radius; ++k) sum = fma(weights[k], tile[lane + k], sum);
  out[at] = sum;
}
