// The Gaussian blur without any trick: rows, then columns, a channel of a pixel per work-item,
// every tap from global memory. Works for every size, sigma, pixel type and border mode.
//
// Sizes: `pitch` and offsets count channels. A row of the picture has width pixels, a row of `mid`
// (region width) pixels. `mid` holds `rows` rows of each picture of the batch, of which the first
// is row `first` of the picture.
#include <clcook/channel.clh>
#include <clcook/halo.clh>

#define CHANNELS CLCOOK_GAUSSIAN_CHANNELS

// Items: channels of a row of the region x rows x pictures.
__kernel void gaussian_blur_naive_rows(__global const clcook_channel_t* src, ulong src_offset,
                                       ulong src_pitch, __global float* mid, int width, int height,
                                       int region_x, int region_width, int first, int rows,
                                       __global const float* weights, int radius, int border,
                                       float4 outside) {
  const int e = (int)get_global_id(0);
  const int row = (int)get_global_id(1);
  const int picture = (int)get_global_id(2);
  if (e >= region_width * CHANNELS || row >= rows) return;
  const int x = region_x + e / CHANNELS;
  const int c = e % CHANNELS;
  const float beyond = clcook_channel_of(outside, c);
  src += src_offset + ((ulong)picture * (ulong)height + (ulong)(first + row)) * src_pitch;
  float sum = 0.0f;
  for (int k = -radius; k <= radius; ++k) {
    const int at = clcook_border(x + k, width, border);
    const float value = at < 0 ? beyond : clcook_load_channel(src, (ulong)at * CHANNELS + (ulong)c);
    sum = fma(weights[abs(k)], value, sum);
  }
  mid[((ulong)picture * (ulong)rows + (ulong)row) * ((ulong)region_width * CHANNELS) + (ulong)e] =
      sum;
}

// Items: channels of a row of the region x rows of the region x pictures.
__kernel void gaussian_blur_naive_columns(__global const float* mid, __global clcook_channel_t* dst,
                                          ulong dst_offset, ulong dst_pitch, int height,
                                          int region_y, int region_width, int region_height,
                                          int first, int rows, __global const float* weights,
                                          int radius, int border, float4 outside) {
  const int e = (int)get_global_id(0);
  const int row = (int)get_global_id(1);
  const int picture = (int)get_global_id(2);
  if (e >= region_width * CHANNELS || row >= region_height) return;
  const int c = e % CHANNELS;
  const float beyond = clcook_channel_of(outside, c);
  const ulong pitch = (ulong)region_width * CHANNELS;
  mid += (ulong)picture * (ulong)rows * pitch + (ulong)e;
  float sum = 0.0f;
  for (int k = -radius; k <= radius; ++k) {
    const int at = clcook_border(region_y + row + k, height, border);
    const float value = at < 0 ? beyond : mid[(ulong)(at - first) * pitch];
    sum = fma(weights[abs(k)], value, sum);
  }
  dst += dst_offset + ((ulong)picture * (ulong)region_height + (ulong)row) * dst_pitch;
  clcook_store_channel(dst, (ulong)e, sum);
}
