// Pictures with straight alpha: what comes before the blur of the colours times alpha, and after it.
// The last of 2 or 4 channels is alpha; CLCOOK_ALPHA_TOP is its value where nothing is transparent.
//
// Views count channels. `products` and `blurred` hold pixels of floats without gaps.
#include <clcook/pixel.clh>
#include <clcook/view.clh>

#ifndef CLCOOK_ALPHA_TOP
#define CLCOOK_ALPHA_TOP 1.0f
#endif

// The alpha of a pixel; a pixel whose colours are all f, and alpha g.
#if CLCOOK_CHANNELS == 4
#define ALPHA(pixel) (pixel).w
#define PIXEL(f, g) (float4)(f, f, f, g)
#else
#define ALPHA(pixel) (pixel).y
#define PIXEL(f, g) (float2)(f, g)
#endif

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
  const clcook_floats_t value = clcook_floats(clcook_load_pixel(src, (ulong)x));
  const float alpha = ALPHA(value) * (1.0f / CLCOOK_ALPHA_TOP);
  products[((ulong)number * (ulong)height + (ulong)row) * (ulong)width + (ulong)x] =
      value * PIXEL(alpha, 1.0f);
}

// Items: pixels of a row of the region x rows of the region x pictures. Where no colour is left,
// it is 0.
__kernel void gaussian_blur_straight_alpha_divide(__global const clcook_floats_t* blurred,
                                                  __global clcook_channel_t* dst,
                                                  clcook_view dst_view, int width, int height) {
  const int x = (int)get_global_id(0);
  const int row = (int)get_global_id(1);
  const int number = (int)get_global_id(2);
  if (x >= width || row >= height) return;
  const clcook_floats_t value =
      blurred[((ulong)number * (ulong)height + (ulong)row) * (ulong)width + (ulong)x];
  const float alpha = ALPHA(value);
  const clcook_floats_t straight = value / PIXEL(alpha, 1.0f) * PIXEL(CLCOOK_ALPHA_TOP, 1.0f);
  dst += clcook_view_row(dst_view, number, height, row);
  clcook_store_pixel(dst, (ulong)x, alpha == 0.0f ? PIXEL(0.0f, 0.0f) : straight);
}
