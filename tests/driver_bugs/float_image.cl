// bug: takes values of an image of floats for uninitialised
// workaround: cmake/lanes/oclgrind.sh: the variants that read images are left out of that lane
// needs: images
// oclgrind: --uninitialized --build-options -cl-opt-disable
// image: 4 x 4 pixels of four floats, each 7
// expect: 7
// fails: Oclgrind 21.10
__constant sampler_t at = CLK_FILTER_NEAREST | CLK_ADDRESS_CLAMP_TO_EDGE;
__kernel void reproduce(__global int* out, __read_only image2d_t picture) {
  const float4 pixel = read_imagef(picture, at, (int2)(1, 2));
  if (pixel.y > 1.0f) out[0] = (int)pixel.x;
}
