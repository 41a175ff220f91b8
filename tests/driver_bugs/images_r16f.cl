// bug: reads wrong values from images of CL_R and CL_HALF_FLOAT, which it offers
// workaround: lib/clcook/core/quirks.hpp, misreads_r16f_images
// needs: images
// arguments: out image_r16f
// expect: 16
// fails: PoCL 3.1; PoCL 5.0; PoCL 6.0; PoCL 7.1
__constant sampler_t at = CLK_FILTER_NEAREST | CLK_ADDRESS_CLAMP_TO_EDGE;
__kernel void reproduce(__global int* out, __read_only image2d_t picture) {
  int right = 0;
  for (int i = 0; i < 16; ++i) {
    if (read_imagef(picture, at, (int2)(i % 4, i / 4)).x == (float)i) ++right;
  }
  out[0] = right;
}
