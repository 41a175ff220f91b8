// Pictures with straight alpha, for methods that have none: the colours times alpha as floats
// before the blur, and the division by alpha after it.
//
// Views count channels. `products` and `blurred` hold pixels of floats without gaps.
#include <clcook/alpha.clh>
#include <clcook/pixel.clh>
#include <clcook/view.clh>

// Items: pixels of a row x rows of a picture x pictures.
__kernel void gaussian_blur_straight_alpha_multiply(__global const clcook_channel_t* src,
                                                    clcook_view src_view,
                                                    __global clcook_floats_t* products, int width,
                                                    int height) {
  const int x = (int)get_global_id(0);
  const int row = (int)get_global_id(1);
  const int number = (int)get_global_id(2);
  if (x >= width || row >= height) return;
  src += clcook_view_row(src_view, number, height, row);
  products[((ulong)number * (ulong)height + (ulong)row) * (ulong)width + (ulong)x] =
      clcook_weighted(clcook_floats(clcook_load_pixel(src, (ulong)x)));
}

// Items: pixels of a row of the region x rows of the region x pictures.
__kernel void gaussian_blur_straight_alpha_divide(__global const clcook_floats_t* blurred,
                                                  __global clcook_channel_t* dst,
                                                  clcook_view dst_view, int width, int height) {
  const int x = (int)get_global_id(0);
  const int row = (int)get_global_id(1);
  const int number = (int)get_global_id(2);
  if (x >= width || row >= height) return;
  const clcook_floats_t value =
      blurred[((ulong)number * (ulong)height + (ulong)row) * (ulong)width + (ulong)x];
  dst += clcook_view_row(dst_view, number, height, row);
  clcook_store_pixel(dst, (ulong)x, clcook_unweighted(value));
}
