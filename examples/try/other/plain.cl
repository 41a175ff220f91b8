// What the kernels of other people are compared with: each computes its definition, plainly.

__kernel void gaussian_row(__write_only image2d_t dst, __read_only image2d_t src, int dim, int n,
                           float sigma) {
  const sampler_t clamped =
      CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
  const int2 at = (int2)((int)get_global_id(0), (int)get_global_id(1));
  const int radius = (n - 1) / 2;
  float sum = 0.0f, weights = 0.0f;
  for (int k = -radius; k <= radius; ++k) {
    const float weight = exp(-(float)(k * k) / (2.0f * sigma * sigma));
    sum += weight * read_imagef(src, clamped, at + (int2)(dim == 0 ? k : 0, dim == 1 ? k : 0)).x;
    weights += weight;
  }
  write_imagef(dst, at, (float4)(sum / weights, 0.0f, 0.0f, 1.0f));
}

// The median is the value that half of the others are below; equal ones count by their order.
float median_at(__global const float* src, int x, int y, int radius_x, int radius_y, int width,
                int height) {
  const int columns = 2 * radius_x + 1, count = columns * (2 * radius_y + 1);
  for (int i = 0; i < count; ++i) {
    const float value = src[clamp(y + i / columns - radius_y, 0, height - 1) * width +
                            clamp(x + i % columns - radius_x, 0, width - 1)];
    int below = 0;
    for (int k = 0; k < count; ++k) {
      const float other = src[clamp(y + k / columns - radius_y, 0, height - 1) * width +
                              clamp(x + k % columns - radius_x, 0, width - 1)];
      below += other < value || (other == value && k < i);
    }
    if (below == count / 2) return value;
  }
  return NAN;
}

__kernel void median(__global const float* src, __global float* dst, int radius_y, int radius_x,
                     int height, int width) {
  const int x = (int)get_global_id(0), y = (int)get_global_id(1);
  dst[y * width + x] = median_at(src, x, y, radius_x, radius_y, width, height);
}

// A convolution along rows; beyond the ends there is nothing.
__kernel void convolve_rows(__global const float* src, __constant float* weights,
                            __global float* dst, int taps, int width, int stride) {
  const int x = (int)get_global_id(0), y = (int)get_global_id(1);
  float sum = 0.0f;
  for (int k = 0; k < taps; ++k) {
    const int from = x * stride + taps / 2 - k;
    if (from >= 0 && from < width) sum += weights[k] * src[from + y * width];
  }
  dst[x + y * (int)get_global_size(0)] = sum;
}
