// clcook course, exercise 4: the line in local memory
// clcook: local = 64 1
// clcook: outputs = 1 1
//
// dst(y, x) is the sum of 2 RADIUS + 1 pixels of row y of src around x, times their weights. A place
// beside the row takes its first or last pixel. Rows of src are columns of dst: a second pass blurs
// the columns with this same kernel. The grader defines RADIUS.
__kernel void blur_lines(__global const float4* src, __global float4* dst, int width, int height,
                         __global const float* weights) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x < width && y < height) {
    float4 sum = (float4)(0.0f);
    for (int k = -RADIUS; k <= RADIUS; ++k) {
      sum += weights[k + RADIUS] * src[y * width + clamp(x + k, 0, width - 1)];
    }
    dst[x * height + y] = sum;
  }
}
