// The Gaussian blur without any trick: rows, then columns, a channel of a pixel per work-item,
// every tap from global memory. Works for every size, sigma, pixel type and border mode.
//
// Views count channels. `mid` holds the rows `rows` of each picture of the batch, of the pixels of
// the region, without gaps.
#include <clcook/halo.clh>
#include <clcook/pixel.clh>
#include <clcook/view.clh>

// Items: channels of a row of the region x rows x pictures.
__kernel void gaussian_blur_naive_rows(__global const clcook_channel_t* src, clcook_view src_view,
                                       __global float* mid, clcook_picture picture,
                                       clcook_rows rows, __global const float* weights,
                                       int radius) {
  const int e = (int)get_global_id(0);
  const int row = (int)get_global_id(1);
  const int number = (int)get_global_id(2);
  const int line = picture.region.width * CLCOOK_CHANNELS;
  if (e >= line || row >= rows.count) return;
  const int x = picture.region.x + e / CLCOOK_CHANNELS;
  const int c = e % CLCOOK_CHANNELS;
  const float beyond = clcook_channel_of(picture.outside, c);
  src += clcook_view_row(src_view, number, picture.height, rows.first + row);
  float sum = 0.0f;
  for (int k = -radius; k <= radius; ++k) {
    const int at = clcook_border(x + k, picture.width, picture.border);
    const float value =
        at < 0 ? beyond : clcook_load_channel(src, (ulong)at * CLCOOK_CHANNELS + (ulong)c);
    sum = fma(weights[abs(k)], value, sum);
  }
  mid[((ulong)number * (ulong)rows.count + (ulong)row) * (ulong)line + (ulong)e] = sum;
}

// Items: channels of a row of the region x rows of the region x pictures.
__kernel void gaussian_blur_naive_columns(__global const float* mid, __global clcook_channel_t* dst,
                                          clcook_view dst_view, clcook_picture picture,
                                          clcook_rows rows, __global const float* weights,
                                          int radius) {
  const int e = (int)get_global_id(0);
  const int row = (int)get_global_id(1);
  const int number = (int)get_global_id(2);
  const int line = picture.region.width * CLCOOK_CHANNELS;
  if (e >= line || row >= picture.region.height) return;
  const int c = e % CLCOOK_CHANNELS;
  const float beyond = clcook_channel_of(picture.outside, c);
  mid += (ulong)number * (ulong)rows.count * (ulong)line + (ulong)e;
  float sum = 0.0f;
  for (int k = -radius; k <= radius; ++k) {
    const int at = clcook_border(picture.region.y + row + k, picture.height, picture.border);
    const float value = at < 0 ? beyond : mid[(ulong)(at - rows.first) * (ulong)line];
    sum = fma(weights[abs(k)], value, sum);
  }
  dst += clcook_view_row(dst_view, number, picture.region.height, row);
  clcook_store_channel(dst, (ulong)e, sum);
}
