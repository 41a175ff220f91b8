// The Gaussian blur as one writes it first: rows, then columns, a pixel per work-item, every tap
// from global memory. Work-items whose taps all lie in the picture have no border in their loop.
// Works for every size, sigma, pixel type and border mode.
//
// Views count channels. `mid` holds the rows `rows` of each picture of the batch, of the pixels of
// the region, without gaps. weights[radius + k] is that of offset k.
#include <clcook/alpha.clh>
#include <clcook/halo.clh>
#include <clcook/pixel.clh>
#include <clcook/view.clh>

// A pixel of `mid`.
#if CLCOOK_CHANNELS == 3
#define LOAD_MID(mid, i) vload3(i, mid)
#define STORE_MID(value, mid, i) vstore3(value, i, mid)
#else
#define LOAD_MID(mid, i) ((__global const clcook_floats_t*)(mid))[i]
#define STORE_MID(value, mid, i) ((__global clcook_floats_t*)(mid))[i] = (value)
#endif

// Items: pixels of a row of the region x rows x pictures.
__kernel void gaussian_blur_per_pixel_rows(__global const clcook_channel_t* src,
                                           clcook_view src_view, __global float* mid,
                                           clcook_picture picture, clcook_rows rows,
                                           __global const float* weights, int radius) {
  const int column = (int)get_global_id(0);
  const int row = (int)get_global_id(1);
  const int number = (int)get_global_id(2);
  const int line = picture.region.width;
  if (column >= line || row >= rows.count) return;
  const int x = picture.region.x + column;
  src += clcook_view_row(src_view, number, picture.height, rows.first + row);
  clcook_floats_t sum = clcook_all(0.0f);
  if (x >= radius && x < picture.width - radius) {
    for (int k = -radius; k <= radius; ++k) {
      sum = fma(clcook_all(weights[radius + k]),
                clcook_weighted(clcook_floats(clcook_load_pixel(src, (ulong)(x + k)))), sum);
    }
  } else {
    const clcook_floats_t beyond = clcook_first(picture.outside);
    for (int k = -radius; k <= radius; ++k) {
      const int at = clcook_border(x + k, picture.width, picture.border);
      const clcook_floats_t value =
          at < 0 ? beyond : clcook_weighted(clcook_floats(clcook_load_pixel(src, (ulong)at)));
      sum = fma(clcook_all(weights[radius + k]), value, sum);
    }
  }
  STORE_MID(sum, mid,
            ((ulong)number * (ulong)rows.count + (ulong)row) * (ulong)line + (ulong)column);
}

// Items: pixels of a row of the region x rows of the region x pictures.
__kernel void gaussian_blur_per_pixel_columns(__global const float* mid,
                                              __global clcook_channel_t* dst, clcook_view dst_view,
                                              clcook_picture picture, clcook_rows rows,
                                              __global const float* weights, int radius) {
  const int column = (int)get_global_id(0);
  const int row = (int)get_global_id(1);
  const int number = (int)get_global_id(2);
  const int line = picture.region.width;
  if (column >= line || row >= picture.region.height) return;
  const int y = picture.region.y + row;
  const ulong first = (ulong)number * (ulong)rows.count * (ulong)line + (ulong)column;
  clcook_floats_t sum = clcook_all(0.0f);
  if (y >= radius && y < picture.height - radius) {
    for (int k = -radius; k <= radius; ++k) {
      const ulong at = first + (ulong)(y + k - rows.first) * (ulong)line;
      sum = fma(clcook_all(weights[radius + k]), LOAD_MID(mid, at), sum);
    }
  } else {
    const clcook_floats_t beyond = clcook_first(picture.outside);
    for (int k = -radius; k <= radius; ++k) {
      const int at = clcook_border(y + k, picture.height, picture.border);
      const clcook_floats_t value =
          at < 0 ? beyond : LOAD_MID(mid, first + (ulong)(at - rows.first) * (ulong)line);
      sum = fma(clcook_all(weights[radius + k]), value, sum);
    }
  }
  dst += clcook_view_row(dst_view, number, picture.region.height, row);
  clcook_store_pixel(dst, (ulong)column, clcook_unweighted(sum));
}
